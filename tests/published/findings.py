r"""What Raeder, Hoens and Chawla found on repeated cross-validation, judged on new runs.

Our copy of their text has no tables, so that its findings in words are what can be compared. Each
is judged by a criterion that is fixed here and told beside it:

- ``holds``: the criterion is met;
- ``does not hold``: its opposite is, with evidence of the same strength; or a finding that counts
  significant learners is not met with as many data sets as theirs, 20 (for steady states, of 50
  iterations or more);
- ``cannot tell``: neither, or there are too few iterations or data sets.

A direction over data sets is judged by Wilcoxon's signed rank test at 5 %, two-sided, of one number
per data set, and told with an interval of their median; other intervals of 95 % are over data sets
(Student's t) or of counts (Clopper and Pearson). Many findings are judged at once, without a
correction. The six learners of the source are judged, of C4.5 the tree with the leaves of the
Hellinger tree: not pruned, Laplace's shares.
``tests/published/test_findings.py`` makes up runs in which each holds, does not hold, or is open.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from published.agreement import SeparateRuns, separate_runs
from published.study import ADAPTIVE_RULES, FOLDS, StudyRuns

from bayes_sota.core.text import counted
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.crossval.estimates import (
    canonical_iterations,
    difference_tests,
    fold_bias,
    seed_verdicts,
    signed_ranks,
    steady_state,
)

Verdict = Literal["holds", "does not hold", "cannot tell"]
_LEVEL = 0.05
_TASKS = 20  # data sets of the source
_LONG = 50  # iterations from which an absence is believed
_TEST_SETS = 3  # data sets with a true test set; the source has seven
_IN_TIME = "volatile-"  # how names of tasks begin whose test set is later
SIX = ("nb-kernel", "mlp", "5nn", "c45-laplace", "hellinger", "svm")
_TREES, _STABLE = ("c45-laplace", "hellinger"), ("nb-kernel", "svm")
_OTHER_TREES = (("c45", "hellinger-pruned"), ("c45", "hellinger"))
_LEADERS = ("c45-laplace", "mlp", "5nn")


@dataclass(frozen=True)
class Finding:
    """A finding, judged.

    Attributes
    ----------
    state : {"holds", "does not hold", "cannot tell"}
    number : float or None
        What it turns on.
    said : str
        The numbers, in words.
    """

    state: Verdict
    number: float | None
    said: str


@dataclass(frozen=True, eq=False)
class Study:
    """Runs of the study, and what several findings need of them.

    Attributes
    ----------
    every : StudyRuns
        Runs of all learners.
    random_seed : int
    """

    every: StudyRuns
    random_seed: int = 0

    @cached_property
    def runs(self) -> StudyRuns:
        """Runs of the six learners."""
        return self.every.of(SIX)

    @property
    def learners(self) -> tuple[str, ...]:
        """Names of the learners."""
        return self.runs.scores[FOLDS[0]].learners

    def places(self, names: Sequence[str]) -> list[int]:
        """Places of learners."""
        return [self.learners.index(name) for name in names]

    @cached_property
    def states(self) -> dict[int, SimpleNamespace]:
        """Scores of the iterations, described, by the number of folds."""
        return {k: steady_state(self.runs.scores[k]) for k in FOLDS}

    @cached_property
    def fold_bias(self) -> dict[str, dict[str, SimpleNamespace]]:
        """Ranks of the numbers of folds over data sets, by learner and kind of estimate."""
        return fold_bias([self.runs.scores[k] for k in FOLDS])

    @cached_property
    def _separate(self) -> dict[str, list[SeparateRuns]]:
        """Runs of every rule, by its name, for each number of folds."""
        return {
            name: [self._ruled(k, name) for k in FOLDS]
            for name in ("canonical", "fixed 10", "fixed 50", *ADAPTIVE_RULES)
        }

    def _ruled(self, k: int, name: str) -> SeparateRuns:
        stops = self.runs.stops[k]
        if name in ADAPTIVE_RULES:
            found = stops[list(ADAPTIVE_RULES).index(name)]
        else:
            size = {"fixed 10": 10, "fixed 50": 50}.get(name, canonical_iterations(k))
            found = np.full(stops.shape[1:], size if size <= self.runs.n_iterations else 0)
        return separate_runs(self.runs.scores[k], self.runs.orders, found)

    def _runs_of(self, rule: str, folds: Sequence[int] = FOLDS) -> list[SeparateRuns]:
        return [self._separate[rule][FOLDS.index(k)] for k in folds]

    def costs(self, rule: str, learners: Sequence[str]) -> FloatArray:
        """Mean iterations that a rule takes, (n_tasks,)."""
        return np.asarray(np.mean([one.costs(learners) for one in self._runs_of(rule)], axis=0))

    def ran_out(self, rule: str, learners: Sequence[str]) -> FloatArray:
        """Share of the runs in which the iterations end before a rule holds, (n_tasks,)."""
        return np.asarray(np.mean([one.ran_out(learners) for one in self._runs_of(rule)], axis=0))

    def agreement(self, rule: str, pair: Sequence[str], folds: Sequence[int] = FOLDS) -> FloatArray:
        """How far two runs agree on the order of a pair, (n_tasks,), NaN where they overlap."""
        found = [one.agreement(pair) for one in self._runs_of(rule, folds)]
        return np.asarray(np.mean(found, axis=0))


def _direction(values: ArrayLike) -> tuple[int, float]:
    """1 or -1 where one number per data set tends to be positive or negative, else 0; p-value."""
    found = np.round(np.asarray(values, np.float64), 12)
    p, sign = signed_ranks(found[np.isfinite(found)])
    return (0, 1.0) if p is None else (sign if p <= _LEVEL else 0, p)


def _by_direction(values: ArrayLike, said: str, number: float | None = None) -> Finding:
    """A claim that numbers of data sets are positive."""
    sign, p = _direction(values)
    found = np.asarray(values, np.float64)
    found = found[np.isfinite(found)]
    median = float(np.median(found)) if found.size else None
    value = median if number is None else number
    sets = counted(len(found), "data set")
    tested = f"{sets} can be judged"
    if len(found) >= 6:
        low, high = _of_median(found)
        tested = f"median {median:.2g} ({low:.2g} to {high:.2g}), p = {p:.2g} over {sets}"
    return Finding(_verdict(sign), value, f"{said}; {tested}")


def _of_median(values: FloatArray) -> tuple[float, float]:
    """95 % interval of a median, of order statistics; at least six values."""
    from scipy.stats import binom

    below = int(binom.ppf(0.025, len(values), 0.5)) - 1
    ordered = np.sort(values)
    return float(ordered[max(below, 0)]), float(ordered[min(-1 - below, -1)])


def _over_sets(values: ArrayLike) -> str:
    """95 % interval of a mean over data sets, as shares."""
    _, low, high = _within(np.asarray(values, np.float64), np.inf)
    return f"95% interval over data sets {max(low, 0):.0%} to {min(high, 1):.0%}"


def _of_count(hits: int, of: int) -> str:
    """95 % interval of a share of independent cases, after Clopper and Pearson."""
    from scipy.stats import binomtest

    low, high = binomtest(hits, of).proportion_ci()
    return f"{low:.1%} to {high:.1%}"


def _verdict(sign: int) -> Verdict:
    return "holds" if sign > 0 else "does not hold" if sign < 0 else "cannot tell"


def _share(hits: int, of: int, claimed: float) -> int:
    """1 or -1 where significantly more or fewer than a share are hits, else 0."""
    from scipy.stats import binomtest

    if not of or binomtest(hits, of, claimed).pvalue > _LEVEL:
        return 0
    return 1 if hits > claimed * of else -1


# Section III and Table I: the number of folds


def folds(study: Study) -> dict[str, Finding]:
    """Whether 2, 5 or 10 folds give higher estimates."""
    n = len(study.runs.tasks)
    found = {}
    for quantity, kind, low, high, needed in (
        ("canonical, 2 below 5 folds", "canonical", 2, 5, 6),
        ("canonical, 2 below 10 folds", "canonical", 2, 10, 3),
        ("steady state, 2 below 10 folds", "steady", 2, 10, 6),
        ("steady state, 5 below 10 folds", "steady", 5, 10, 6),
    ):
        gaps, least = _gaps(study, kind, low, high)
        below, above = int((gaps > least).sum()), int((gaps < -least).sum())
        state: Verdict = "cannot tell"
        if below >= needed:
            state = "holds"
        elif above > 0 or (_enough(study, kind) and _improbable(below, needed)):
            state = "does not hold"
        found[quantity] = Finding(state, below, _of_gaps(gaps, least, below, above, n))
    for quantity, kind, low, high in (
        ("canonical, 5 and 10 folds alike", "canonical", 5, 10),
        ("steady state, 2 and 5 folds alike", "steady", 2, 5),
    ):
        gaps, least = _gaps(study, kind, low, high)
        below, above = int((gaps > least).sum()), int((gaps < -least).sum())
        # One of six tests at 5 % is not much: two learners make a difference.
        differ = below + above
        state = "does not hold" if differ > 1 else "cannot tell"
        state = "holds" if differ == 0 and _enough(study, kind) else state
        found[quantity] = Finding(state, differ, _of_gaps(gaps, least, below, above, n))
    return found | {"steady state, 2 folds highest somewhere": _exceptions(study)}


def _improbable(below: int, needed: int) -> bool:
    """Whether so few significant learners are improbable at a power of 80%, if all differ."""
    from scipy.stats import binom

    return bool(binom.cdf(below, needed, 0.8) <= _LEVEL)


def _enough(study: Study, kind: str) -> bool:
    """Whether an absence is believed: data sets as in the source, and means that are steady."""
    steady = kind == "canonical" or study.runs.n_iterations >= _LONG
    return steady and len(study.runs.tasks) >= _TASKS


def _gaps(study: Study, kind: str, low: int, high: int) -> tuple[FloatArray, float]:
    """By how many ranks one number of folds is above another, for every learner."""
    found = [kinds[kind] for kinds in study.fold_bias.values()]
    first, second = FOLDS.index(low), FOLDS.index(high)
    gaps = np.array([one.ranks[first] - one.ranks[second] for one in found])
    return gaps, found[0].bonferroni_dunn


def _of_gaps(gaps: FloatArray, least: float, below: int, above: int, n: int) -> str:
    """Bonferroni and Dunn's difference, as the source; it is for all against one, not all pairs."""
    return (
        f"significantly lower for {below} of {len(gaps)} learners and higher for {above}; mean "
        f"ranks differ by {gaps.min():.2f} to {gaps.max():.2f}, critical {least:.2f} (Bonferroni "
        f"and Dunn) over {n} data sets"
    )


def _exceptions(study: Study) -> Finding:
    """Learners and data sets for which 2 folds give the highest steady state."""
    from scipy.stats import norm

    two, *others = (study.states[k] for k in FOLDS)
    gaps = np.array([two.mean - one.mean for one in others])
    errors = np.array([np.hypot(two.standard_error, one.standard_error) for one in others])
    least = norm.isf(_LEVEL / gaps[0].size / 2)
    seen, clear = ((gaps > z * errors).all(axis=0) & (gaps > 1e-12).all(axis=0) for z in (0, least))
    state: Verdict = "holds" if clear.any() else "cannot tell" if seen.any() else "does not hold"
    return Finding(
        state, int(seen.sum()),
        f"in {int(seen.sum())} of {seen.size} pairs of learner and data set, beyond the noise of "
        f"the partitions in {int(clear.sum())} ({_over_sets(seen.mean(axis=1))} of the pairs)",
    )  # fmt: skip


# Section IV-A and Figure 1: running means


def running_means(study: Study) -> dict[str, Finding]:
    """How estimates move over the iterations."""
    changed, moved = [], []
    rng = np.random.default_rng(study.random_seed)
    for k in FOLDS:
        means, size = study.runs.scores[k].iteration_means(), canonical_iterations(k)
        for i, j in combinations(range(means.shape[1]), 2):
            of_pair = [
                _reversals(one, size, rng) for one in np.round(means[:, i] - means[:, j], 12)
            ]
            changed.append([share for share, _ in of_pair])
            moved.append([late for _, late in of_pair])
    reversed_often = np.array(changed) > _LEVEL  # pairs and folds, data sets
    often, late = float(reversed_often.mean()), float(np.mean(moved))
    few: Verdict = "holds" if often >= 0.1 else "does not hold" if often < 0.01 else "cannot tell"
    calm: Verdict = "holds" if late <= 0.05 else "cannot tell"
    if late > 0.25 and study.runs.n_iterations >= _LONG:
        calm = "does not hold"
    return {
        "few iterations": Finding(
            few, often,
            f"{often:.0%} of {reversed_often.size:,} orders (pairs of learners, data sets, folds) "
            "are reversed in over 5% of canonical runs, "
            f"{_over_sets(reversed_often.mean(axis=0))}; the mean is {np.mean(changed):.1%} (holds "
            "from 10% of the orders on, not below 1%)",
        ),
        "many iterations": Finding(
            calm, late,
            f"{late:.0%} of the orders change once more in the second half of "
            f"{study.runs.n_iterations} iterations, {_over_sets(np.mean(moved, axis=0))} (holds up "
            "to 5%, not above 25%)",
        ),
        "three learners lead on vote": _leaders(study, rng),
    }  # fmt: skip


def _reversals(d: FloatArray, size: int, rng: np.random.Generator) -> tuple[float, bool]:
    """How often a canonical run reverses an order, and whether the second half still does."""
    kept = d[np.isfinite(d)]
    draws = rng.permuted(np.tile(kept, (400, 1)), axis=1)[:, :size].mean(axis=1)
    half = kept.cumsum()[len(kept) // 2 - 1 :] * kept.mean()
    return float(np.mean(draws * kept.mean() < 0)), bool((half < 0).any())


def _leaders(study: Study, rng: np.random.Generator) -> Finding:
    """Whether each of three learners has the highest mean at some time of 15 iterations."""
    if "vote" not in study.runs.tasks:
        return Finding("cannot tell", None, "the task vote is not there (--data)")
    t, most = study.runs.tasks.index("vote"), min(15, study.runs.n_iterations)
    shares = []
    for k in FOLDS:
        means = study.runs.scores[k].iteration_means()[t, study.places(_LEADERS)]
        means = means[:, np.isfinite(means).all(axis=0)]
        times = 0
        for _ in range(400):
            order = rng.permutation(means.shape[1])[:most]
            times += len(set(means[:, order].cumsum(axis=1).argmax(axis=0))) == len(_LEADERS)
        shares.append(times / 400)
    best = max(shares)
    state: Verdict = "holds" if best >= _LEVEL else "cannot tell"
    if best < 0.01 and most == 15:
        state = "does not hold"
    each = ", ".join(f"{s:.0%} with {k}" for s, k in zip(shares, FOLDS, strict=True))
    return Finding(
        state, best,
        f"each of {', '.join(_LEADERS)} leads once within {most} iterations in {each} folds, of "
        "400 random orders (holds from 5% on, not below 1%)",
    )  # fmt: skip


# Table II: contradictory verdicts, and tests over folds


def verdicts(study: Study) -> dict[str, Finding]:
    """Whether two seeds say the opposite of two learners, over all data sets."""
    scores = study.runs.scores[5]
    pairs = {
        pair: seed_verdicts(scores, *study.places(pair))
        for pair in combinations(study.learners, 2)
    }  # fmt: skip
    fair = pairs.pop(_TREES)
    others = study.every.scores[5]
    trees = {_TREES: fair} | {
        pair: seed_verdicts(others, *(others.learners.index(name) for name in pair))
        for pair in _OTHER_TREES
    }
    n = len(fair["p_values"])
    either = [
        f"{' and '.join(p)} {v['contradiction']:.2g}"
        for p, v in pairs.items()
        if v["contradiction"]
    ]
    return {
        "two trees": _contradiction(
            max(fair["contradiction"], trees[_OTHER_TREES[0]]["contradiction"]), n,
            "; ".join(_of_seeds(pair, found) for pair, found in trees.items()),
        ),
        "any two learners": _contradiction(
            len(either), n,
            f"for {len(either)} of {len(pairs)} other pairs ({', '.join(either) or 'none'}), {n} "
            "seeds",
        ),
    }  # fmt: skip


def _of_seeds(pair: tuple[str, str], found: dict[str, Any]) -> str:
    """How many seeds say what of a pair, and how far it differs."""
    n = len(found["p_values"])
    wins = [round(share * n) for share in (found["a_wins"], found["b_wins"])]
    said = ", ".join(
        f"{count} of {n} say {name} ({_of_count(count, n)})"
        for count, name in zip(wins, pair, strict=True)
    )
    chance = f"two seeds contradict each other with probability {found['contradiction']:.2g}"
    return f"{' and '.join(pair)}: {said}; {chance}"


def _contradiction(number: float, seeds: int, said: str) -> Finding:
    state: Verdict = "does not hold" if seeds >= _LONG else "cannot tell"
    return Finding("holds" if number > 0 else state, float(number), said)


def tests(study: Study) -> dict[str, Finding]:
    """How often tests over folds call learners different; which are equal nobody knows here."""
    scores = study.runs.first.scores
    p_values = np.array([
        [test["p_value"] for test in difference_tests(one[i], one[j], 10)]
        for one in scores
        for i, j in combinations(range(scores.shape[1]), 2)
    ])  # fmt: skip
    naive, corrected = (p_values <= _LEVEL).mean(axis=0)
    said = (
        f"of {len(p_values)} pairs the naive test calls {naive:.0%} different, the corrected "
        f"{corrected:.0%}; which are equal is not known here (rejection rates of equal learners: "
        "docs/measured/calibration.md; that no unbiased variance exists is a theorem)"
    )
    return {"rejection of equal learners": Finding("cannot tell", float(naive - corrected), said)}


# Section IV-B and Figure 2: the shape of the scores


def shape(study: Study) -> dict[str, Finding]:
    """Skewness of the scores of iterations, and what it does."""
    state = study.states[10]
    each = np.stack([one.p_normal for one in study.states.values()])  # folds, data sets, learners
    p_values = each[np.isfinite(each)]
    abnormal = int((p_values < _LEVEL).sum())
    of_sets = np.nanmean(np.where(np.isfinite(each), each < _LEVEL, np.nan), axis=(0, 2))
    more = _share(abnormal, len(p_values), _LEVEL) > 0
    absent: Verdict = "does not hold" if study.runs.n_iterations >= _LONG else "cannot tell"
    signs = -np.sign(np.nan_to_num(state.skewness[:, study.places(_TREES)]))
    to_left, skewed = int((signs > 0).sum()), int((signs != 0).sum())
    return {
        "not normal": Finding(
            "holds" if more else absent, abnormal / max(len(p_values), 1),
            f"Shapiro and Wilk's test rejects {abnormal} of {len(p_values)} at 5%, "
            f"{_over_sets(of_sets)}",
        ),
        "trees are skewed to the left": _by_direction(
            signs.mean(axis=1),
            f"{to_left} of {skewed} distributions of two trees, 10 folds",
            to_left / max(skewed, 1),
        ),
        "left skew, single runs optimistic": _optimistic(state),
        "left skew marks the better learner": _suited(state),
    }  # fmt: skip


def _optimistic(state: SimpleNamespace) -> Finding:
    left = state.skewed & (state.skewness < 0)
    above = np.where(left, state.p_canonical_above, np.nan)[left.any(axis=1)]
    hits = int((above > 0.5).sum())
    return _by_direction(
        np.nanmean(above - 0.5, axis=1) if above.size else [],
        f"of {int(left.sum())} significantly left-skewed distributions (10 folds) {hits} have more "
        "than half of the single runs above the mean; both are of the same scores, so that this is "
        "nearly arithmetic",
        hits / max(int(left.sum()), 1),
    )


def _suited(state: SimpleNamespace) -> Finding:
    from scipy.stats import spearmanr

    found = [
        -float(spearmanr(skewness, mean).statistic)
        for skewness, mean in zip(state.skewness, np.round(state.mean, 12), strict=True)
        if np.ptp(skewness) > 0 and np.ptp(mean) > 0
    ]
    middle = np.median(found) if found else np.nan
    return _by_direction(
        found,
        f"rank correlation of left skew and mean AUROC over the learners, median {middle:.2f}; "
        "a mean near 1 is skewed to the left whatever the reason",
    )


# Section V and Table III: when to stop


def rules(study: Study) -> dict[str, Finding]:
    """What stopping rules cost, and how reproducible their results are."""
    return {
        "trees take at least twice the iterations": _costs_of_trees(study),
        "Spearman 1e-3 stops too early": _less_reproducible(study, "Spearman 1e-3"),
        "Spearman 1e-5 may never stop": _never_stops(study),
        "KS .2 costs like Spearman": _like(study, "KS .2"),
        "KS .2 less reproducible": _less_reproducible(study, "KS .2"),
        "KS .1 costs more": _many_more(study),
        "fixed 50 like adaptive rules": _fixed_50(study),
    }


def _costs_of_trees(study: Study) -> Finding:
    trees, stable = (study.costs("Spearman 1e-4", pair) for pair in (_TREES, _STABLE))
    said = (
        f"trees take {trees.mean():.1f} iterations, naive Bayes and the SVM {stable.mean():.1f} "
        f"(median ratio {np.median(trees / stable):.1f}, many more: 2)"
    )
    ended = (study.ran_out("Spearman 1e-4", pair).mean() for pair in (_TREES, _STABLE))
    return _at_least(trees / stable, 2.0, said, *ended)


def _many_more(study: Study) -> Finding:
    late, soon = (study.costs(rule, _TREES) for rule in ("KS .1", "Spearman 1e-4"))
    said = (
        f"trees take {late.mean():.1f} iterations, by Spearman 1e-4 {soon.mean():.1f} (median "
        f"ratio {np.median(late / soon):.1f}, many more: 1.5)"
    )
    ended = (study.ran_out(rule, _TREES).mean() for rule in ("KS .1", "Spearman 1e-4"))
    return _at_least(late / soon, 1.5, said, *ended)


def _at_least(
    ratios: FloatArray, least: float, said: str, ended: float, ended_other: float
) -> Finding:
    """A claim that ratios of iterations exceed a number; runs that end are lower bounds."""
    found = _by_direction(np.log(ratios / least), said, float(np.median(ratios)))
    unclear = ended if found.state == "does not hold" else ended_other
    state: Verdict = "cannot tell" if unclear > _LEVEL else found.state
    said = f"{found.said}; {ended:.0%} and {ended_other:.0%} of the runs end before"
    return Finding(state, found.number, said)


def _less_reproducible(study: Study, rule: str) -> Finding:
    """Whether two trees keep their order less often than by Spearman's rule."""
    two, one = (study.agreement(name, _TREES) for name in (rule, "Spearman 1e-4"))
    both = np.isfinite(one) & np.isfinite(two)
    said = _means("two runs agree on two trees", {"Spearman 1e-4": one[both], rule: two[both]})
    return _by_direction((one - two)[both], said)


def _means(what: str, found: dict[str, FloatArray]) -> str:
    values = [f"{name} {v.mean():.2f}" if v.size else f"{name} none" for name, v in found.items()]
    return (
        f"{what}: {', '.join(values)} (same orders less opposite, of runs that share no iteration)"
    )


def _never_stops(study: Study) -> Finding:
    unstable = (*_TREES, "5nn")
    of_sets, n = study.ran_out("Spearman 1e-5", unstable), study.runs.n_iterations
    ended = float(of_sets.mean())
    state: Verdict = "cannot tell" if ended else "does not hold"
    if ended >= _LEVEL and n >= 500:
        state = "holds"
    elif n >= 500:
        state = "does not hold"
    said = f"{ended:.1%} of the runs of trees and 5-NN need more than {n}, {_over_sets(of_sets)}"
    return Finding(state, ended, said)


def _like(study: Study, rule: str) -> Finding:
    """Whether a rule takes between half and twice the iterations of Spearman's."""
    log = np.log2(study.costs(rule, _TREES) / study.costs("Spearman 1e-4", _TREES))
    state, low, high = _within(log, 1.0)
    ended = max(study.ran_out(name, _TREES).mean() for name in (rule, "Spearman 1e-4"))
    if ended > (_LEVEL if state == "holds" else 0.5):  # runs that end pull the ratio to 1
        state = "cannot tell"
    return Finding(
        state, float(2 ** log.mean()),
        f"trees take {2 ** log.mean():.2f} times the iterations of Spearman 1e-4, 95% interval "
        f"{2**low:.2f} to {2**high:.2f} (alike: .5 to 2); up to {ended:.0%} of the runs end before",
    )  # fmt: skip


def _within(values: FloatArray, most: float) -> tuple[Verdict, float, float]:
    """Whether a mean over data sets is between -most and most, with its 95% interval."""
    from scipy.stats import t

    half = float(t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    low, high = float(values.mean()) - half, float(values.mean()) + half
    state: Verdict = "holds" if max(-low, high) <= most else "cannot tell"
    return ("does not hold" if low > most or high < -most else state), low, high


def _fixed_50(study: Study) -> Finding:
    one, two = (study.agreement(name, _TREES) for name in ("fixed 50", "Spearman 1e-4"))
    gap = (one - two)[np.isfinite(one - two)]
    if len(gap) < 6:
        sets = counted(len(gap), "data set")
        return Finding("cannot tell", None, f"{sets} can be judged: it takes 100 iterations")
    state, low, high = _within(gap, 0.05)
    return Finding(
        state, float(gap.mean()),
        f"how far two runs agree on two trees differs by {gap.mean():.3f}, 95% interval {low:.3f} "
        f"to {high:.3f} over {len(gap)} data sets (alike: up to .05)",
    )  # fmt: skip


def orders(study: Study) -> dict[str, Finding]:
    """How reproducible the orders of an unstable and of a stable pair are."""
    canonical = [study.agreement("canonical", pair) for pair in (_STABLE, _TREES)]
    both = np.isfinite(canonical).all(axis=0)
    gains = {
        (pair, k): study.agreement("Spearman 1e-4", pair, [k])
        - study.agreement("fixed 10", pair, [k])
        for pair in (_TREES, _STABLE)
        for k in (2, 10)
    }
    return {
        "canonical runs, two trees less reproducible": _by_direction(
            (canonical[0] - canonical[1])[both],
            _means(
                "two runs agree",
                {"NB and SVM": canonical[0][both], "two trees": canonical[1][both]},
            ),
        ),
        "gain of Spearman over fixed 10, larger for trees": _by_direction(
            gains[_TREES, 2] - gains[_STABLE, 2],
            "difference of the gains in agreement of two runs, 2 folds",
        ),
        "gain of Spearman over fixed 10, larger with 2 folds": _by_direction(
            gains[_TREES, 2] - gains[_TREES, 10],
            "difference of the gains in agreement of two runs, two trees",
        ),
    }


# Section VI: true test sets


def test_sets(study: Study) -> dict[str, Finding]:
    """Steady-state estimates against scores on true test sets."""
    truth = study.runs.truth
    if not truth:
        none = Finding("cannot tell", None, "no data set has a true test set (--data)")
        return dict.fromkeys(("too low", "10 folds closest", "the best learner stays"), none)
    at = [study.runs.tasks.index(name) for name in truth]
    known, errors = (np.array(list(d.values())) for d in (truth, study.runs.truth_error))
    gaps = np.array([study.states[k].mean[at] - known for k in FOLDS])
    same = study.states[10].mean[at].argmax(axis=1) == known.argmax(axis=1)
    later = np.array([name.startswith(_IN_TIME) for name in truth])
    where = f"{counted(len(truth), 'data set')} ({', '.join(truth)})"
    return {
        "too low": _too_low(gaps / errors, gaps.mean(axis=(0, 2)), where),
        "10 folds closest": _closest(gaps, np.abs(gaps / errors) > 2, where),
        "the best learner stays": Finding(
            "cannot tell", float(same.mean()),
            f"the best by 10 folds is the best on the test set in {same[later].sum()} of "
            f"{later.sum()} data sets with a later test set and in {same[~later].sum()} of "
            f"{(~later).sum()} whose items were drawn from the same",
        ),
    }  # fmt: skip


def _too_low(z: FloatArray, of_sets: FloatArray, where: str) -> Finding:
    low, high = int((z < -2).sum()), int((z > 2).sum())
    sign = (low >= z.size / 2 and low > 4 * high) - (high >= z.size / 2 and high > 4 * low)
    return Finding(
        _verdict(sign if z.shape[1] >= _TEST_SETS else 0), float(of_sets.mean()),
        f"{low} of {z.size} estimates (learners, folds) are more than 2 standard errors below the "
        f"AUROC on the test set, {high} above; mean difference {_signed(of_sets)}; {where}",
    )  # fmt: skip


def _signed(of_sets: FloatArray) -> str:
    """A mean over data sets, with its interval where there are several."""
    if len(of_sets) < 2:
        return f"{of_sets.mean():+.4f}"
    _, low, high = _within(of_sets, np.inf)
    return f"{of_sets.mean():+.4f}, 95% interval {low:+.4f} to {high:+.4f} over data sets"


def _closest(gaps: FloatArray, clear: BoolArray, where: str) -> Finding:
    """Which folds are closest, where the noise of the items does not decide it."""
    best = np.abs(gaps).argmin(axis=0) == FOLDS.index(10)
    sure = clear.all(axis=0) & (np.abs(np.sign(gaps).sum(axis=0)) == len(FOLDS))
    hits, n = int(best[sure].sum()), int(sure.sum())
    enough = len(best) >= _TEST_SETS and n >= best.size / 2
    sign = (hits == n) - (hits < n / 2) if enough else 0
    mse = ", ".join(
        f"{m:.2g} with {k}" for m, k in zip((gaps**2).mean(axis=(1, 2)), FOLDS, strict=True)
    )
    return Finding(
        _verdict(sign), hits / n if n else None,
        f"10 folds are closest for {int(best.sum())} of {best.size} learners, {n} of which are "
        f"beyond the noise of the items; mean squared error {mse} folds; {where}",
    )  # fmt: skip


FINDINGS: dict[str, Callable[[Study], dict[str, Finding]]] = {
    "cv-folds": folds,
    "cv-running-means": running_means,
    "cv-verdicts": verdicts,
    "cv-tests": tests,
    "cv-shape": shape,
    "cv-rules": rules,
    "cv-orders": orders,
    "cv-test-sets": test_sets,
}
"""Findings by the item of ``reproduce``."""


def judge_findings(
    runs: StudyRuns, items: Sequence[str], random_seed: int = 0
) -> dict[str, dict[str, Finding]]:
    """Findings of some items, by item and quantity.

    Parameters
    ----------
    runs : StudyRuns
    items : sequence of str
        Of ``FINDINGS``.
    random_seed : int
    """
    study = Study(runs, random_seed)
    return {item: FINDINGS[item](study) for item in items}
