"""Numbers of Møllersen & Holsbø (arXiv 2303.07272): exact laws, and two Kaggle challenges.

Rows 2 to 4 of Table 1 were simulated, and a number comes with the standard error of that
simulation, from the repetitions that Sec. 3.1 states. With fixed skills, 100,000 repetitions give a
mean the standard error ``sd / sqrt(100,000)``. Where skills are drawn, it states 1,000 draws of the
skills and not how the repetitions are shared among them: the cautious reading, 1,000 independent
maxima, gives ``sd / sqrt(1,000)``. A standard deviation has the error of a mean over ``sqrt(2)``,
and of an upper limit nothing is forgiven: a quantile on a lattice moves by whole counts. All else
has a closed form and must round to the printed digits, that of AUCs (Sec. 5.2) too.

The leaderboard of the melanoma challenge is not available. What its numbers imply can still be
held against the exact law of AUC estimates: no field whose best AUC is A has a higher expected best
estimate than one in which every classifier has AUC A.

Quantities "as run" take what the authors' public code takes where the text says something else.

Tables 2 and 4, Sec. 5.1.2 and Fig. 8 and 9 need the challenges' private leaderboards, which come
from a directory. The standard errors of these tables are between 1e-5 and 1e-4 by the source; the
cautious end is taken.
"""

from dataclasses import dataclass, field
from math import inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import brentq

from bayes_sota.auc.laws import AucLaw, auc_maximum_law
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Uniform
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.dependence import correlation_of_similarity, feasible_skills
from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.shrinkage import (
    FieldEstimate,
    binomial_interval,
    crop_scores,
    field_law,
    shrink_scores,
)

Settings = dict[str, Any]
Numbers = dict[str, Any]  # a quantity's value, or its value and the source's standard error
_CRITERIA: tuple[Any, ...] = ("expected", "upper")


def _law(settings: Settings, **changes: Any) -> MaximumLaw:
    """Law at the paper's default parameters, some of them changed."""
    return maximum_law(**(settings["defaults"] | changes))


def coin_flip(settings: Settings) -> Numbers:
    """Sec. 3.2: how easily a coin-flip classifier is "invented"."""
    part = settings["coin_flip"]
    field = {"n_test": part["n_test"], "skill": part["skill"]}
    one = maximum_law(n_classifiers=1, **field)
    many = maximum_law(n_classifiers=part["n_classifiers"], **field)
    return {
        "P(one classifier reaches 0.90)": float(one.sf(part["successes"] - 1)),
        "P(best of 1,000 reaches 0.90)": float(many.sf(part["successes"] - 1)),
        "P(one classifier has 15 or more of 20)": float(one.sf(part["successes_v1"] - 1)),
    }


def table_1(settings: Settings) -> Numbers:
    """Table 1: upper limit, expectation and standard deviation of four fields."""
    found: Numbers = {}
    for row in settings["table_1"]["rows"]:
        law, section = _table_1_law(settings, row), row["section"]
        error = law.std() / sqrt(row.get("repetitions", inf))
        found |= {
            f"Sec. {section}: upper 95% limit": law.interval()[1],
            f"Sec. {section}: expected maximum": (law.mean(), error),
            f"Sec. {section}: standard deviation": (law.std(), error / sqrt(2)),
        }
    return found


def _table_1_law(settings: Settings, row: Settings) -> MaximumLaw:
    """Law of a row; uniform skills have the expected maximum ``theta_sota`` (Sec. 4).

    ``E max = (m b + a) / (m + 1)`` with ``a = b - width`` gives ``b``.
    """
    part, m = settings["table_1"], settings["defaults"]["n_classifiers"]
    high = part["theta_sota"] + part["uniform_width"] / (m + 1)
    field = Uniform(high - part["uniform_width"], high)
    return _law(
        settings,
        skill=part["theta_sota"] if row["identical"] else field,
        correlation=0.0 if row["independent"] else part["correlation"],
        reference_skill=part["reference_skill"],
    )


def table_3(settings: Settings) -> Numbers:
    """Table 3: expectation and standard deviation for other sizes, numbers and skills."""
    found: Numbers = {}
    for row in settings["table_3"]:
        law = maximum_law(**row)
        label = f"m={row['n_classifiers']}, n={row['n_test']}, theta={row['skill']:g}"
        found[f"{label}: expected maximum"] = law.mean()
        found[f"{label}: standard deviation"] = law.std()
    return found


def mania(settings: Settings) -> Numbers:
    """Sec. 4.2: correlation from the similarity of ImageNet models."""
    part = settings["mania"]
    rho = correlation_of_similarity(part["similarity"], part["accuracy"])
    pairwise, other = rho**2, part["independent_skill"]
    return {
        "pairwise correlation": pairwise,
        "correlation": rho,
        "as run: 0.6 squared": settings["table_1"]["correlation"] ** 2,
        "as run: the pairwise correlation taken for rho": pairwise,
        "similarity if independent": (1 - other) ** 2 + other**2,
    }


def fixed_reference(settings: Settings) -> Numbers:
    """Sec. 4.2: the reference classifier right on exactly 90 % of the items, or on random ones."""
    part, table = settings["fixed_reference"], settings["table_1"]
    independent, random = (
        _table_1_law(settings, {"identical": True, "independent": free}) for free in (True, False)
    )
    names = ("correlation", "reference_skill")
    count = part["reference_count"]
    fixed = _law(settings, reference_count=count, **{name: table[name] for name in names})
    n, error = fixed.n_test, 1 / sqrt(part["repetitions"])
    upper, upper_independent = fixed.interval()[1], independent.interval()[1]
    return {
        "sd, fixed reference": (fixed.std(), fixed.std() * error / sqrt(2)),
        "sd, random reference": (random.std(), random.std() * error / sqrt(2)),
        "expected maximum, fixed reference": (fixed.mean(), fixed.std() * error),
        "upper 95% limit, fixed reference": upper,
        "failures at the upper limit, fixed reference": n - round(upper * n),
        "failures at the upper limit, independent": n - round(upper_independent * n),
    }


def figure_3(settings: Settings) -> Numbers:
    """Fig. 3: how rarely a significantly better classifier beats the best of many worse ones."""
    many = _law(settings)
    n, skill = many.n_test, settings["defaults"]["skill"]
    better = binomial_interval(round(skill * n), n, 0.95)[1]
    one = maximum_law(n_test=n, n_classifiers=1, skill=better)
    upper = round(many.interval()[1] * n)
    beats = float(one.sf(int(many.mean() * n)))
    return {
        "expected maximum": many.mean(),
        "P(new one beats the expected maximum)": beats,
        "the same, by version 1": beats,
        "P(new one reaches the upper 95% limit)": float(one.sf(upper - 1)),
        "as run: P(new one beats the upper 95% limit)": float(one.sf(upper)),
    }


def _auc_law(
    auc: float, test_set: dict[str, Any], n_classifiers: int, n_positive: int | None = None
) -> AucLaw:
    """Best AUC estimate on a test set, by default with the printed share of positives."""
    positives = _positives(test_set) if n_positive is None else n_positive
    negatives = test_set["n_test"] - positives
    return auc_maximum_law(
        auc, n_positive=positives, n_negative=negatives, n_classifiers=n_classifiers
    )


def _positives(test_set: dict[str, Any]) -> int:
    return round(float(test_set["positive_rate"]) * int(test_set["n_test"]))


def best_auc(settings: Settings) -> Numbers:
    """Sec. 5.2.2: the best of 1,000 AUC estimates, with the printed positives and those as run."""
    part = settings["auc"]
    auc, m, size = part["auc"], part["n_classifiers"], part["repetitions"]
    law, as_run = _auc_law(auc, part, m), _auc_law(auc, part, m, part["positives_as_run"])
    low, high = law.interval()
    density = float(law.cdf(high + 1e-4) - law.cdf(high - 1e-4)) / 2e-4
    quantile_error = sqrt(0.025 * 0.975 / size) / density
    return {
        "as run, 52 positives: expected": (as_run.mean(), as_run.std() / sqrt(size)),
        "as run, 52 positives: lower limit": (as_run.interval()[0], quantile_error),
        "expected": law.mean(),
        "sd": (law.std(), law.std() / sqrt(2 * size)),
        "lower limit": low,
        "upper limit": (high, quantile_error),
        "positives": _positives(part),
        "best AUC of (b)": (law.mean(), law.std()),
    }


def melanoma(settings: Settings) -> Numbers:
    """Sec. 5.2.3 and Fig. 11: the printed estimate, and what it can explain.

    The best estimate if all teams were as good as the best is said to be bounds that of every field
    with that best AUC from above.
    """
    part, other = settings["melanoma"], settings["auc"]
    field, as_run = (float(part["estimate"]), part["n_classifiers"]), part["as_run"]
    highest, weight = as_run["highest"], as_run["weight"]
    law = _auc_law(field[0], part, field[1])
    bound = _auc_law(field[0], other, field[1], other["positives_as_run"]).mean()
    items = "as run, 3,000 items and 52 positives"
    return {
        "highest expected best AUC": law.mean(),
        f"{items}: highest expected best AUC": bound,
        f"{items}: 0.9490 can be expected (1: yes)": float(bound >= float(part["maximum"])),
        f"as run, weight {weight}: estimate": weight * highest + (1 - weight) / 2,
    }


@dataclass(frozen=True, eq=False)
class Board:
    """A private leaderboard.

    Attributes
    ----------
    path : Path
    scores : ndarray, shape (m,)
    """

    path: Path
    scores: FloatArray = field(repr=False)

    def above(self, chance: float) -> FloatArray:
        """Scores above chance, the best first."""
        return -np.sort(-self.scores[self.scores > chance])

    def n_above(self, score: float) -> int:
        """Number of teams above a score."""
        return int(np.sum(self.scores > score))

    def lattice_size(self) -> int:
        """Smallest test set that can give all scores as they are printed."""
        from bayes_sota.data.printed_scores import infer_n_test
        from bayes_sota.data.reading import read_tidy

        return infer_n_test(read_tidy(self.path).texts).n_test


def read_board(part: Settings, data: Path) -> Board:
    """Private leaderboard of a challenge.

    Raises
    ------
    InputError
        No such directory, or not exactly one file that could be the board.
    """
    from bayes_sota.data.boards import read_leaderboard

    slug = part["slug"]
    files = sorted(path for path in data.rglob(f"*{slug}*") if path.is_file())
    private = [path for path in files if "private" in path.name] or [
        path for path in files if "public" not in path.name
    ]
    if len(private) != 1:
        raise InputError(
            f"{data}: one file named after {slug} is needed, its private leaderboard; found "
            f"{len(private)}"
        )
    board = read_leaderboard(private[0], metric="score", standard_error=1.0)
    assert board.scores is not None
    return Board(private[0], board.scores)


def above_single(estimate: FieldEstimate) -> int:
    """Number of entries, the best among them, above the lower end of its interval alone."""
    return int(np.sum(estimate.scores > estimate.single[0]))


def _settings(part: Settings) -> Settings:
    chance = 1 / part["n_classes"]
    return {"n_test": part["n_test"], "correlation": part["correlation"], "chance": chance}


def _as_observed(part: Settings, board: Board) -> MaximumLaw:
    """Law of the best score were the scores the skills."""
    settings = _settings(part)
    return field_law(board.above(settings.pop("chance")), **settings)


def table_2(settings: Settings, board: Board) -> Numbers:
    """Table 2 and Fig. 8: obesity risk shrunk (Eq. 9), also with other n and other correlation."""
    part = settings["obesity"]
    found, best = _shrunk(part, board), float(board.scores.max())
    for changes in part["other_assumptions"]:
        before = f"n = {changes['n_test']:,}, rho = {changes['correlation']:g}"
        changed = _shrunk(part | changes, board)
        found |= {f"{before}: {quantity}": value for quantity, value in changed.items()}
    teams, size = board.above(1 / part["n_classes"]).size, board.lattice_size()
    above = found["shrinking, expected: teams above"]
    as_run, given = _shrunk_as_run(part, board), f"as run, weight {part['weights_as_run'][0]}"
    gap, share = best - as_run[f"{given}: estimate"], as_run[f"{given}: teams above"] / teams
    return (
        found
        | as_run
        | {
            "teams above chance": teams,
            "size of the test set": size,
            "as run: size of public and private part": size / part["private_share"],
            "highest score": best,
            "highest score minus estimate": best - found["shrinking, expected: estimate"],
            "share of teams above the estimate, %": 100 * above / teams,
            f"{given}: highest score minus estimate": gap,
            f"{given}: teams above, in quarters of all": 4 * share,
        }
    )


def _shrunk_as_run(part: Settings, board: Board) -> Numbers:
    """Estimates and teams above them by the weights of the authors' code."""
    best, found = float(board.scores.max()), {}
    for weight in part["weights_as_run"]:
        estimate = weight * best + (1 - weight) / part["n_classes"]
        found[f"as run, weight {weight}: estimate"] = estimate
        found[f"as run, weight {weight}: teams above"] = board.n_above(estimate)
    return found


def _shrunk(part: Settings, board: Board) -> Numbers:
    """Quantities of Table 2 under one set of assumptions."""
    law = _as_observed(part, board)
    estimates = [shrink_scores(board.scores, criterion=c, **_settings(part)) for c in _CRITERIA]
    found = {
        **_limits("no multiplicity", estimates[0].single),
        "no multiplicity: teams above the lower limit": above_single(estimates[0]),
        **_limits("as observed", law.interval()),
        "as observed: expected": law.mean(),
    }
    for criterion, estimate in zip(_CRITERIA, estimates, strict=True):
        found |= _row(f"shrinking, {criterion}", estimate)
    return found


def _limits(name: str, interval: tuple[float, float]) -> Numbers:
    return {f"{name}: lower limit": interval[0], f"{name}: upper limit": interval[1]}


def _row(name: str, estimate: FieldEstimate) -> Numbers:
    """Quantities of one row of Table 2 or 4."""
    return {
        f"{name}: estimate": estimate.estimate,
        **_limits(name, estimate.interval),
        f"{name}: expected": estimate.expected_maximum,
        f"{name}: teams above": estimate.n_above(),
    }


def table_4(settings: Settings, board: Board) -> Numbers:
    """Table 4: obesity risk, cropped."""
    part = settings["obesity"]
    found: Numbers = {}
    for criterion in _CRITERIA:
        estimate = crop_scores(board.scores, criterion=criterion, **_settings(part))
        found |= _row(f"cropping, {criterion}", estimate)
    return found | _cropped_as_run(part, board)


def _cropped_as_run(part: Settings, board: Board) -> Numbers:
    """What follows from the thresholds of the authors' code."""
    crops, (low, high, steps) = part["crops_as_run"], part["breaks"]
    breaks = np.linspace(low, high, steps + 1)
    found: Numbers = {
        f"as run, up to {crop}: teams above": board.n_above(crop) for crop in crops.values()
    }
    crop, settings = crops["expected"], _settings(part)
    field = board.above(settings.pop("chance"))
    field = field[field >= feasible_skills(settings["correlation"], crop)[0]]
    settings |= {"n_classifiers": field.size, "reference_skill": crop, "cap_correlation": True}
    law = maximum_law(skill=field[field <= crop], resampled=True, **settings)
    return found | {
        f"as run, up to {crop}: next break of the histogram": float(breaks[breaks > crop][0]),
        f"as run, up to {crop}: expected": law.mean(),
        f"teams above the printed {part['upper_crop']}": board.n_above(part["upper_crop"]),
    }


def cassava(settings: Settings, board: Board) -> Numbers:
    """Sec. 5.1.2 and Fig. 9: cassava leaf disease, which has no multiplicity to correct."""
    part = settings["cassava"]
    teams, lattice = board.above(1 / part["n_classes"]), part["n_test_lattice"]
    estimate = shrink_scores(board.scores, **_settings(part))
    as_lattice = _as_observed(part | {"n_test": lattice}, board)
    expected = _as_observed(part, board)
    scores = zip(("1st", "2nd", "3rd"), teams, strict=False)
    return {
        **_limits("no multiplicity", estimate.single),
        **{f"{place} score": score for place, score in scores},
        "teams above chance": teams.size,
        "other teams in that interval": above_single(estimate) - 1,
        "expected best score, were the scores the skills": expected.mean(),
        "it is below the highest score: no weight solves Eq. 9 (1: yes)": float(
            expected.mean() < teams[0] and estimate.weight == 1
        ),
        "teams that pass Eq. 8": expected.n_classifiers,
        "size of the test set": board.lattice_size(),
        f"n = {lattice:,}: expected best score, were the scores the skills": as_lattice.mean(),
        "fixed field: shrinking: estimate": _shrunk_fixed_field(part, board),
    }


def _shrunk_fixed_field(part: Settings, board: Board) -> float:
    """Best skill where every entry takes part once, instead of as many drawn with replacement.

    By Jensen's inequality the expected maximum is then never below the observed one at a weight of
    one, so that there is always a root.
    """
    settings = _settings(part)
    chance = settings.pop("chance")
    scores = board.above(chance)

    def skills_at(weight: float) -> FloatArray:
        skills = weight * scores + (1 - weight) * chance
        return skills[skills >= feasible_skills(settings["correlation"], skills[0])[0]]

    def excess(weight: float) -> float:
        return maximum_law(skill=skills_at(weight), **settings).mean() - float(scores[0])

    return float(skills_at(float(brentq(excess, 0.99, 1.0, xtol=1e-8)))[0])
