r"""Posterior of the true state of the art from what classifiers got for every item.

The model of ``leaderboard.posterior``, with the dependence taken from the items:

.. math:: \psi_j \sim P(\psi \mid \phi), \quad x_j \mid \psi_j \sim \text{variance }
          (1-\lambda_j^2)\, sd_j^2, \quad \theta_j = \psi_j - \lambda_j\, sd_j\, z, \quad
          z \sim N(0, 1)

``lambda_j`` is learnt (``items.correlation``), the shift ``z`` is not: no number of classifiers
can tell whether the items were easy, so an interval keeps rho times the width of a single score's.
Each score that is not an accuracy has the law of its metric (``score_laws``), widened or narrowed
to the standard error that its own items show.

What is left of the errors has the correlation matrix R. Classifiers are taken to be as alike in
skill as they are in what is left of their mistakes: two that never disagree have one skill. With
normal skills and errors, both of covariances in proportion to R, the posterior is normal, shrinks
each classifier as if it were alone, and has the correlation R. So it is drawn for every P(psi): the
posterior of each classifier alone, and R between them. Where P(psi) says nothing, differences have
the law of the paired comparison, because ``lambda lambda' + R`` is the correlation of the answers.
Were the skills of relatives taken for independent instead, the best of many near-clones would
hardly be shrunk, and be too good.

``tests/leaderboard/test_from_items.py`` compares with linear algebra, with the exact paired
comparison, and with the truth of real response matrices and of simulated scores; what was measured
is in docs/measured/responses.md and docs/measured/calibration.md.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, student_factors
from bayes_sota.core.priors import (
    BetaCorrelation,
    BoardPriors,
    FixedCorrelation,
    Priors,
    board_priors,
)
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.averages import korn_graubard, summed_by_cluster
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import ABOUT, MISSING, New, Outcomes
from bayes_sota.items.comparison import notes_on_average
from bayes_sota.items.correlation import (
    ResponseCorrelation,
    influence_correlation,
    learn_correlation,
    no_correlation,
    response_correlation,
)
from bayes_sota.leaderboard.entries import EntryDraws
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel, fit_field
from bayes_sota.leaderboard.posterior import (
    BLOCK,
    REPEATS,
    LeaderboardPosterior,
    count_above,
    expected_best,
    few_points,
)
from bayes_sota.maximum.score_laws import AucScoreLaw, ScoreLaw

_JOINT = 200  # classifiers drawn together; the others are too far below to be the best
_TINY = 1e-300
_TYPICAL = 0.25  # of the logarithm of a ratio: medians of nine real tasks lay in .67 to 1.17
_LEAST_CLUSTERS = 10
_LEAST_CARRYING = 5.0  # items that carry the variance of the typical leader
_LEAST_MISTAKES = 5
OF_TASKS = BetaCorrelation(8, 1.2)
"""Prior of the correlation of scores on new tasks, where no other is asked for.

Leaders of three tables of data sets have .84 (UCR), .93 and .95 (VTAB): tasks that are hard for one
are hard for all, more so than items.
"""
_FARTHEST = 6.5  # normal quantiles: beyond, a cumulative sum and its end are the same number
_MANY_TASKS = 9  # of all that were there when skills on new tasks were measured
MOST_CLASSIFIERS = 5_000  # whose correlations fit into 3 GiB


@dataclass(frozen=True, eq=False)
class JointPosterior(LeaderboardPosterior):
    """Draws from the posterior of classifiers that were compared item by item.

    Attributes
    ----------
    skill : ndarray, shape (D, m)
        Skill of each classifier, jointly; negative where a lower score is better.
    psi : ndarray, shape (D, modelled classifiers)
        Board-conditional skills, in the order of ``JointKernel.entries``.
    correlation : ResponseCorrelation
    """

    skill: FloatArray
    psi: FloatArray
    correlation: ResponseCorrelation

    @property
    def learns_rho(self) -> bool:
        """Whether the items told rho; errors of new runs have none to tell, scores alone do not."""
        return self.correlation.is_learnt

    @cached_property
    def p_best(self) -> FloatArray:
        """Probability that each classifier is truly the best, shape (m,); sums to 1."""
        return np.bincount(self._best, minlength=self.skill.shape[1]) / self._best.size

    @cached_property
    def _best(self) -> IntArray:
        """The best classifier of each draw, (D,)."""
        candidates = np.flatnonzero(self.fit.kernel.modelled)
        return candidates[np.argmax(self.skill[:, candidates], axis=1)]

    @cached_property
    def entries(self) -> EntryDraws:
        """Draws of all classifiers with their ranks and P(best)."""
        classifiers = np.arange(self.skill.shape[1])
        return EntryDraws(
            self.skill.astype(np.float32),
            self.p_best,
            self.parameters.share_mcse(self._best[:, None] == classifiers),
            (classifiers[:, None],),
        )


def items_posterior(
    data: Outcomes,
    priors: Priors | BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    new_n_test: int | None = None,
) -> JointPosterior:
    """Posterior of theta_sota, and of every classifier, from what each got for every item.

    Parameters
    ----------
    data : Outcomes
        Missing answers are taken to be missing at random; each score is out of what was answered.
        Answers in clusters widen every interval by the design effect of the leaders' scores.
    priors : Priors, optional
        Its prior of rho is combined with what the items say of rho. On new tasks ``OF_TASKS`` takes
        the place of the default.
    draws : int
    random_seed : int, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the number of items.

    Returns
    -------
    JointPosterior

    Raises
    ------
    InputError
        Fewer than one draw, scores without any error, answers of more than 5,000 classifiers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Outcomes(rng.random((400, 1)) ** 0.5 + 0.2 * rng.random((400, 12)) > 0.4)
    >>> posterior = items_posterior(answers, random_seed=0, draws=500)
    >>> bool(posterior.draws["theta_sota"].mean() < answers.scores.max())
    True
    >>> labels = np.arange(400) < 60
    >>> noise = rng.standard_normal((400, 1)) + rng.standard_normal((400, 12))
    >>> correlation = Outcomes(2 * labels[:, None] + noise, labels=labels)
    >>> posterior = items_posterior(correlation, random_seed=0, draws=500)
    >>> bool(posterior.draws["theta_sota"].mean() < correlation.scores.max())
    True
    """
    DRAWS.check(draws, "draws")
    data.check_several()
    rng = generator_of(random_seed)
    priors = board_priors(priors)
    if data.is_answers:
        if data.n_classifiers > MOST_CLASSIFIERS:
            raise InputError(
                f"answers of {data.n_classifiers:,} classifiers to {data.n_items:,} items: at most "
                f"{MOST_CLASSIFIERS:,} are compared, every one with every other. Leave out the "
                "weakest, or rank any number by their scores alone, a leaderboard of "
                f"{data.n_items} items; rows are items and columns classifiers"
            )
        if data.new != "items" and new_n_test is not None:
            raise InputError(
                f"a fresh test set has new items, and skill is about {ABOUT[data.new]}: leave out "
                "{name}",
                parameter="new_n_test",
            )
        correlation = _correlation(data)
        kernel = JointKernel.of_answers(data, correlation)
        if data.new == "runs":
            priors = replace(priors, correlation=FixedCorrelation(0.0))
    else:
        of_tasks = data.new == "tasks"
        correlation = influence_correlation(
            data.influence, data.scores, data.clusters, of_tasks=of_tasks
        )
        kernel = JointKernel.of_items(data, correlation)
    fit = fit_field(kernel, learnt_from(correlation, priors, data.new), rng, merge_spikes=False)
    reasons = (*few_points(fit), *_reasons(data, correlation))
    notes, sampler = tuple(_notes(data, kernel, correlation)), JointSampler(fit, correlation)
    return sampler.posterior(draws, new_n_test or data.n_items, rng, reasons, notes)


def learnt_from(correlation: ResponseCorrelation, priors: BoardPriors, new: New) -> BoardPriors:
    """Priors with what answers, items or tasks say of rho; tasks have a prior of their own."""
    prior = priors.correlation
    if new == "tasks" and prior == board_priors(None).correlation:
        prior = OF_TASKS
    return replace(priors, correlation=learn_correlation(correlation, prior))


def _correlation(data: Outcomes) -> ResponseCorrelation:
    """How far the classifiers of answers share their luck; with new runs each has its own."""
    if data.new == "runs":
        return no_correlation(data.scores)
    if data.is_average:
        influence = data.average.influence
        of_tasks = data.new == "tasks"
        return influence_correlation(influence * len(influence), data.scores, of_tasks=of_tasks)
    return response_correlation(data)


@dataclass(frozen=True, eq=False)
class JointKernel(ScoreKernel):
    """One score per classifier, each with its own standard error and loading.

    Attributes
    ----------
    entries : ndarray of int, shape (U,)
        Modelled classifiers, worst first.
    relative : ndarray, shape (U,)
        Loading of each, relative to rho.
    given : ndarray, shape (m,)
        Observed scores of all classifiers.
    ratio, new_ratio : ndarray, shape (m,)
        Standard errors over those of the law: of these scores, and of scores on as many fresh items
        that every classifier answers.
    answers : ndarray, shape (U,), or None
        Numbers of answers behind the scores, which are multiples of one over them.
    freedom : float
        Degrees of freedom of the errors: of few tasks or items what all scores share, and what each
        has alone, are Student's t, though scores are shrunk by the variance that is seen.
    """

    entries: IntArray
    relative: FloatArray
    given: FloatArray
    ratio: FloatArray
    new_ratio: FloatArray
    answers: FloatArray | None
    freedom: float

    @classmethod
    def of_answers(cls, data: Outcomes, correlation: ResponseCorrelation) -> "JointKernel":
        """Kernel of the modelled classifiers; the law has as many items as answers are worth."""
        freedom = np.inf
        if data.new == "tasks":
            freedom = data.average.freedom
            between = data.average.effective / korn_graubard(freedom)
            effective = np.minimum(
                between, data.about("items", passes=data.passes).average.effective
            )
        elif data.is_average:
            effective = data.average.effective
        else:
            effective = data.totals / _design_effect(data, correlation)
        typical = effective[correlation.leaders] if data.is_average else effective
        n = max(2, round(float(np.median(typical))))
        rounded = np.round(data.scores * n) / n
        board = Leaderboard(rounded, n_test=n, rounding="exact", percent=False)
        base = ScoreKernel.of(board.copy_with(scores=data.scores))
        ratio, new_ratio = np.sqrt(n / effective), np.sqrt(data.totals / effective)
        values, answers = data.scores * base.law.unit, data.totals.astype(float)
        return cls.of_scores(
            base, data.scores, values, correlation, ratio, new_ratio, freedom, answers
        )

    @classmethod
    def of_items(cls, data: Outcomes, correlation: ResponseCorrelation) -> "JointKernel":
        """Kernel of the modelled classifiers, whose items show their standard errors."""
        base = ScoreKernel.of(data.leaderboard())
        ratio = _ratios(data, base.law)
        values = data.scores * base.law.unit
        freedom = np.inf if data.metric == "auc" else data.average.freedom
        return cls.of_scores(base, data.scores, values, correlation, ratio, ratio, freedom)

    @classmethod
    def of_scores(
        cls,
        base: ScoreKernel,
        scores: FloatArray,
        values: FloatArray,
        loadings: ResponseCorrelation,
        ratio: FloatArray,
        new_ratio: FloatArray,
        freedom: float,
        answers: FloatArray | None = None,
    ) -> "JointKernel":
        """Kernel of scores (m,), in the law's unit ``values``, on the grid of another kernel."""
        entries = loadings.order[base.modelled[loadings.order]][-_JOINT:]
        kinds = np.zeros(scores.size, np.int64)
        kinds[entries] = np.arange(entries.size)
        return cls(
            board=base.board,
            modelled=np.isin(np.arange(scores.size), entries),
            values=values[entries],
            copies=loadings.weights[entries],
            value_of_entry=np.argsort(entries),
            y=base.y,
            law=base.law,
            kind=np.arange(entries.size),
            kinds=kinds,
            entries=entries,
            relative=loadings.relative[entries],
            given=scores,
            ratio=ratio,
            new_ratio=new_ratio,
            answers=None if answers is None else answers[entries],
            freedom=freedom,
        )

    def wider(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray | float:
        """Factors that make Student's t of normal numbers, with the freedom of the errors."""
        if not np.isfinite(self.freedom):
            return 1.0
        return student_factors(self.freedom, shape, rng)

    def variances(self, rho: float) -> FloatArray:
        """Variance of errors that the leaders do not share, in units of the law's, (U,)."""
        own = 1 - np.clip(self.relative * rho, 0, 0.99) ** 2
        return own * self.ratio[self.entries] ** 2

    @property
    def scores(self) -> FloatArray:
        """Observed scores of all classifiers, (m,)."""
        return self.given

    @property
    def error_ratio(self) -> float:
        """Root mean square of the ratios of the modelled classifiers."""
        return float(np.sqrt(np.mean(self.ratio[self.entries] ** 2)))

    def shown(self, scores: FloatArray) -> FloatArray:
        """Right answers over answers, or as the board shows them."""
        if self.answers is None:
            return super().shown(scores)
        return np.clip(np.round(scores * self.answers) / self.answers, 0, 1)

    def new_scores(
        self, skill: FloatArray, normal: FloatArray, entries: IntArray, n_test: int
    ) -> FloatArray:
        """Scores of classifiers on fresh items, given skills and normal errors, (D, k)."""
        return self.law.with_error(skill, normal * self.new_ratio[entries], n_test)


def _ratios(data: Outcomes, law: ScoreLaw) -> FloatArray:
    """Standard errors that the items show over those of the law, drawn together, (m,).

    An error comes from the same items as its score: a lucky classifier near an AUC of 1 shows a
    small one, at 1 none. So the logarithm of each ratio is shrunk towards their mean by the share
    of its own noise, ``1 / 4k`` with k items that carry its variance. Of AUCs, whose law says what
    an error should be, the mean, whose noise the classifiers share, is shrunk towards 0 with a
    prior standard deviation of a quarter. Its error is taken as ``1 / k``: near 1 DeLong's error is
    also too small on average (median ratio .64 for 15 of 300 positive and an AUC of .97). Of other
    scores the law has the error of the best, which says nothing of the others'.
    """
    scores, carrying = data.scores, _carrying(data)
    if isinstance(law, AucScoreLaw):
        scores = np.clip(scores, 1 - law.table.largest, law.table.largest)
    shown = data.standard_errors / law.errors_at(scores)
    known = (shown > 0) & (carrying > 1)
    if not known.any():
        return np.ones(scores.size)
    logs, weight = np.log(shown[known]), carrying[known]
    centre = float(np.average(logs, weights=weight))
    noise = 1 / (4 * weight)
    middle = centre
    if isinstance(law, AucScoreLaw):
        shared = 1 / float(np.median(weight))
        middle = centre * _TYPICAL**2 / (_TYPICAL**2 + shared)
    true = max(0.0, float(np.average((logs - centre) ** 2 - noise, weights=weight)))
    ratio = np.full(scores.size, np.exp(middle))
    ratio[known] = np.exp(middle + true / (true + noise) * (logs - centre))
    return ratio


def _carrying(data: Outcomes) -> FloatArray:
    """Number of items (or clusters) that carry the variance of each score, (m,)."""
    influence = summed_by_cluster(data.influence, data.clusters)
    squares, fourths = np.sum(influence**2, axis=0), np.sum(influence**4, axis=0)
    return squares**2 / np.maximum(fourths, 1e-300)


def _design_effect(data: Outcomes, correlation: ResponseCorrelation) -> float:
    """Variance of the leaders' scores over clusters, relative to independent items; at least 1."""
    if data.clusters is None:
        return 1.0
    answers = data.correct[:, correlation.leaders].astype(float)
    answered = answers != MISSING
    scores = data.scores[correlation.leaders]
    sums = summed_by_cluster(np.where(answered, answers - scores, 0.0), data.clusters)
    expected = np.maximum(answered.sum(axis=0) * scores * (1 - scores), 0.5)
    squares = np.sum(np.ascontiguousarray(sums.T) ** 2, axis=1)
    return float(max(1.0, np.mean(squares / expected)))


class JointSampler:
    """Joint draws of all modelled classifiers' skills, given the parameters of P(psi)."""

    def __init__(self, fit: FieldFit, loadings: ResponseCorrelation) -> None:
        """Sampler of a fit to answers, item scores, or scores with errors of their own."""
        assert isinstance(fit.kernel, JointKernel)
        self.kernel, self.fit, self.learnt = fit.kernel, fit, loadings
        self.factor = loadings.factor(self.kernel.entries)

    def posterior(
        self,
        draws: int,
        n_test: int,
        rng: np.random.Generator,
        reasons: tuple[str, ...],
        notes: tuple[str, ...],
    ) -> JointPosterior:
        """So many draws, with scores on ``n_test`` fresh items, and what is said of them."""
        values, skill, psi, parameters = self.draw(draws, rng)
        leader = self.kernel.board.order[:1]
        normal = rng.standard_normal(draws) * self.kernel.wider((draws,), rng)
        winner = self.kernel.new_scores(values["winner_skill"], normal, leader, n_test)
        best = self.best_new_score(skill, n_test, rng)
        values |= {"winner_new_score": winner, "best_new_score": best}
        return JointPosterior(values, self.fit, reasons, notes, parameters, skill, psi, self.learnt)

    def draw(
        self, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, FloatArray], FloatArray, FloatArray, Parameters]:
        """All shared quantities but the new scores, and of each draw what is behind it.

        That is the skills of all classifiers, the board-conditional skills of the modelled ones,
        and the parameters of the field.
        """
        sets, kernel = -(-draws // REPEATS), self.kernel
        psi, rho, expected = [], [], []
        chosen = self.fit.choose(sets, rng)
        for r, f, points in chosen:
            rho_node = float(self.fit.rho[r])
            table, reach = kernel.table(rho_node), kernel.reach_or_one(rho_node)
            for start in range(0, len(points), BLOCK):
                block, family = points[start : start + BLOCK], self.fit.families[f]
                shape = self.fit.density(family, block, strangers=False)  # of a fresh field
                density = self.fit.strangers.join(shape)
                psi.append(self.draw_conditional(density, table, rng))
                best = expected_best(shape * reach, kernel.copies.sum(), kernel.psi)
                expected.append(np.repeat(best, REPEATS))
                rho.append(self.fit.nodes.draw_rho(np.full(len(psi[-1]), r), rng))
        order = rng.permutation(sets * REPEATS)[:draws]
        rhos = np.concatenate(rho)[order]
        shift = rng.standard_normal(draws) * kernel.wider((draws,), rng)
        best = kernel.law.remove_shift(np.concatenate(expected)[order], rhos * shift)
        conditional = np.concatenate(psi)[order]
        skill = self._all_skills(conditional, rhos, shift, rng)
        values = {"rho": rhos, "shift": shift, "expected_sota": best} | self._leading(skill, rng)
        parameters = Parameters.of(self.fit, chosen, REPEATS)[order]
        return values, skill, conditional, parameters

    def draw_conditional(
        self, density: FloatArray, table: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Board-conditional skills, four per row of densities, (4 N, U)."""
        (sets, nodes), classifiers = density.shape, len(table)
        normal = rng.standard_normal((sets, REPEATS, classifiers)) @ self.factor.T
        normal *= self.kernel.wider((sets, REPEATS, 1), rng)
        normal = np.clip(normal, -_FARTHEST, _FARTHEST)
        level = ndtr(normal).transpose(0, 2, 1).reshape(-1, REPEATS)
        cdf = np.cumsum(density[:, None, :] * table, axis=2).reshape(-1, nodes)
        y = invert_rows(cdf, level, self.kernel.y).reshape(sets, classifiers, REPEATS)
        return self.kernel.law.skill_at(y.transpose(0, 2, 1).reshape(-1, classifiers))

    def _all_skills(
        self, psi: FloatArray, rho: FloatArray, shift: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Skills without the shift; those that are not modelled from their scores alone."""
        alone = self.learnt.order[~self.kernel.modelled[self.learnt.order]]
        if not alone.size:
            return self.remove_shift(psi, np.empty((len(psi), 0)), rho, shift)
        # flat and not shrunk: P(psi) is not fitted to them
        kernel, own = self.kernel, 1 - self.loadings(rho)[:, alone] ** 2
        variance = own * kernel.ratio[alone] ** 2
        others = kernel.law.draw_psi(kernel.given[alone], variance, rng)
        return self.remove_shift(psi, others[:, np.argsort(alone)], rho, shift)

    def loadings(self, rho: FloatArray) -> FloatArray:
        """Loading of every classifier at each rho, (D, m)."""
        return np.clip(self.learnt.relative * rho[:, None], 0, 0.99)

    def remove_shift(
        self, psi: FloatArray, alone: FloatArray, rho: FloatArray, shift: FloatArray
    ) -> FloatArray:
        """Skills of all from psi of the modelled classifiers, (D, U), and of the others."""
        kernel = self.kernel
        skill = np.empty((len(psi), kernel.modelled.size))
        skill[:, kernel.entries] = psi
        skill[:, ~kernel.modelled] = alone
        moved = self.loadings(rho) * shift[:, None] * kernel.ratio
        return kernel.law.remove_shift(skill, moved)

    def _leading(self, skill: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
        """theta_sota and what else follows from the skills."""
        kernel = self.kernel
        theta = skill[:, kernel.entries].max(axis=1)
        tied = kernel.entries[kernel.values >= kernel.values[-1]]
        winner = skill[np.arange(len(skill)), rng.choice(tied, len(skill))]
        return {
            "theta_sota": theta,
            "winner_skill": winner,
            "n_above_sota": count_above(kernel.given, theta),
            "n_classifiers": np.full(len(skill), float(kernel.modelled.size)),
        }

    def best_new_score(
        self, skill: FloatArray, n_test: int, rng: np.random.Generator
    ) -> FloatArray:
        """Best score of the modelled classifiers on fresh items that all of them answer, (D,)."""
        loadings, skill = self.learnt.loadings[self.kernel.entries], skill[:, self.kernel.entries]
        error = np.sqrt(1 - loadings**2) * (rng.standard_normal(skill.shape) @ self.factor.T)
        error += loadings * rng.standard_normal((len(skill), 1))
        error *= self.kernel.wider((len(skill), 1), rng)
        return self.kernel.new_scores(skill, error, self.kernel.entries, n_test).max(axis=1)


def _reasons(data: Outcomes, correlation: ResponseCorrelation) -> Iterator[str]:
    if data.is_answers:
        few = data.is_average and data.average.freedom < _LEAST_CLUSTERS - 1
        if few and data.new == "items":
            yield (
                f"clusters within tasks leave {data.average.freedom:.0f} degrees of freedom: too "
                "few for errors"
            )
        right = np.rint(data.scores * data.totals)
        mistakes = (data.totals - right)[correlation.leaders]
        rare = int(np.median(np.minimum(mistakes, right[correlation.leaders])))
        if rare < _LEAST_MISTAKES:
            yield (
                f"the typical leader has {counted(rare, 'mistake')} (or right answers): too few to "
                "tell how much the classifiers' mistakes coincide"
            )
        return
    if data.n_clusters is not None and data.n_clusters < _LEAST_CLUSTERS:
        yield f"items come in only {data.n_clusters} clusters: too few for standard errors"
    carrying = float(np.median(_carrying(data)[correlation.leaders]))
    if carrying < _LEAST_CARRYING:
        yield (
            f"{carrying:.0f} of {counted(data.n_items, data.unit)} make up the error of the "
            "typical leader: too few to tell how much the classifiers share their luck"
        )


def _notes(data: Outcomes, kernel: JointKernel, correlation: ResponseCorrelation) -> Iterator[str]:
    """What was left out of the fit, clusters, and near-clones."""
    if data.has_missing:
        yield "answers are missing; taken to be missing at random"
    effect = float(np.mean(kernel.new_ratio[correlation.leaders] ** 2))
    yield from data.notes
    if not data.is_plain:
        yield from notes_on_average(data)
    elif data.clusters is not None:
        yield f"items come in clusters; every variance is {effect:.2f} times that of single items"
    if data.clusters is not None and not data.is_answers:
        yield (
            f"items come in {data.n_clusters} clusters; standard errors are those of whole clusters"
        )
    if kernel.entries.size < kernel.modelled.size:
        yield (
            f"P(theta) is fitted to the best {kernel.entries.size} of {kernel.modelled.size} "
            "classifiers; the others are too far below to be the best"
        )
    count = 0 if data.new != "tasks" or data.tasks is None else len(data.task_weights)
    if 0 < count < _MANY_TASKS:
        yield (
            f"with {count} tasks the estimate for the best tends to be too low, and is hardly more "
            "accurate than its score (docs/measured/responses.md)"
        )
    modelled = ([data.names[j] for j in one if kernel.modelled[j]] for one in correlation.families)
    if families := [", ".join(members) for members in modelled if len(members) > 1]:
        yield (
            "some classifiers are near-clones, which share their mistakes and count as fewer: "
            f"{'; '.join(families)}"
        )
