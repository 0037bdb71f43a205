"""Numbers of Møllersen & Holsbø (arXiv 2303.07272) on three Kaggle challenges, and on AUC.

Tables 2 and 4 need the challenges' private leaderboards, which come from a directory. The standard
errors of these tables are between 1e-5 and 1e-4 by the source; the cautious end is taken.
"""

from collections.abc import Callable
from math import sqrt
from pathlib import Path
from typing import Any

from bayes_sota.errors import InputError
from bayes_sota.exact.auc import auc_maximum_law
from bayes_sota.exact.field_estimate import FieldEstimate
from bayes_sota.exact.maximum import maximum_law
from bayes_sota.exact.shrinkage import crop_scores, shrink_scores
from bayes_sota.reproduce.comparison import Comparison, compare, differ, not_verifiable
from bayes_sota.skill_distributions import FloatArray

__all__ = [
    "compare_auc",
    "compare_cassava",
    "compare_melanoma",
    "compare_table_2",
    "compare_table_4",
]

Published = dict[str, Any]
_CRITERIA: tuple[Any, ...] = ("expected", "upper")


def compare_table_2(published: Published, data: Path | None) -> list[Comparison]:
    """Table 2: obesity risk, as it is and shrunk."""
    item, part = "table-2", published["obesity"]
    scores = _scores(part["slug"], data)
    if scores is None:
        return [_needs_data(item, part["slug"])]
    where, n, error = part["where"], part["n_test"], published["monte_carlo_error"]
    chance, rho = 1 / part["n_classes"], part["correlation"]
    found = []
    shrunk = {c: _estimate(shrink_scores, part, scores, criterion=c) for c in _CRITERIA}
    first = shrunk["expected"]
    single = zip(part["single"], first.single, ("lower", "upper"), strict=True)
    for printed, value, end in single:
        found.append(compare(item, f"no multiplicity: {end} limit", printed, value, where))
    above = first.n_above_single
    found.append(compare(item, "teams above its lower limit", part["in_single"], above, where))
    law = maximum_law(
        n_test=n, skill=scores[scores > chance], correlation=rho, cap_correlation=True
    )
    as_is = part["as_is"]
    for printed, value, end in zip(
        as_is["interval"], law.interval(), ("lower", "upper"), strict=True
    ):
        found.append(compare(item, f"as observed: {end} limit", printed, value, where, error))
    found.append(
        compare(item, "as observed: expected", as_is["expected"], law.mean(), where, error)
    )
    for criterion, estimate in shrunk.items():
        found += _rows(item, part["shrink"][criterion], estimate, where, error)
    return found + _other_assumptions(item, part, scores)


def compare_table_4(published: Published, data: Path | None) -> list[Comparison]:
    """Table 4: obesity risk, cropped."""
    item, part = "table-4", published["obesity"]
    scores = _scores(part["slug"], data)
    if scores is None:
        return [_needs_data(item, part["slug"])]
    found = []
    for criterion in _CRITERIA:
        estimate = _estimate(crop_scores, part, scores, criterion=criterion)
        row = part["crop"][criterion]
        found += _rows(item, row, estimate, part["crop_where"], published["monte_carlo_error"])
    return found


def compare_cassava(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 5.1.2: cassava leaf disease, which has no multiplicity to correct."""
    item, part = "cassava", published["cassava"]
    scores = _scores(part["slug"], data)
    if scores is None:
        return [_needs_data(item, part["slug"])]
    estimate = _estimate(shrink_scores, part, scores)
    found = [
        compare(item, f"no multiplicity: {end} limit", printed, value, part["where"])
        for printed, value, end in zip(
            part["single"], estimate.single, ("lower", "upper"), strict=True
        )
    ]
    note = f"{part['where']} finds no solution; by Jensen there is one: {estimate.reason}"
    return [
        *found,
        differ(item, "shrinking: estimate", "none", estimate.estimate, part["pinned_root"], note),
    ]


def compare_melanoma(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 5.2.3: melanoma, whose leaderboard is not to be had."""
    del data
    part = published["melanoma"]
    note = (
        f"{part['where']}: estimate {part['estimate']} and {part['above']} teams above it, from a "
        f"best AUC of {part['maximum']}; the leaderboard is not available"
    )
    return [not_verifiable("melanoma", "shrinking of AUCs towards 0.5", note)]


def compare_auc(published: Published, data: Path | None) -> list[Comparison]:
    """Sec. 5.2.2: the best of 1,000 AUC estimates."""
    del data
    item, part = "auc", published["auc"]
    law = auc_maximum_law(
        part["auc"],
        n_positive=part["n_positive"],
        n_negative=part["n_negative"],
        n_classifiers=part["n_classifiers"],
    )
    low, high = law.interval()
    where, size = part["where"], part["repetitions"]
    density = (law.cdf(high + 1e-4) - law.cdf(high - 1e-4)) / 2e-4
    quantile_error = sqrt(0.025 * 0.975 / size) / float(density)
    simulated = f"{where}, simulated"
    shifted = f"{where}; the mean of {size:,} repetitions has a standard error of 4e-5"
    return [
        differ(item, "expected", part["expected"], law.mean(), part["pinned_expected"], shifted),
        compare(item, "sd", part["sd"], law.std(), simulated, law.std() / sqrt(2 * size)),
        differ(item, "lower limit", part["interval"][0], low, part["pinned_lower"], shifted),
        compare(item, "upper limit", part["interval"][1], high, simulated, quantile_error),
    ]


def _estimate(
    method: Callable[..., FieldEstimate], part: Published, scores: FloatArray, **changes: Any
) -> FieldEstimate:
    settings = {
        "n_test": part["n_test"],
        "chance": 1 / part["n_classes"],
        "correlation": part["correlation"],
    }
    return method(scores, **(settings | changes))


def _rows(
    item: str, row: Published, estimate: FieldEstimate, where: str, error: float
) -> list[Comparison]:
    """Estimate, interval, expectation and number of teams of one row of Table 2 or 4."""
    name = f"{'shrinking' if estimate.method == 'shrink' else 'cropping'}, {estimate.criterion}"
    found = []
    if "pinned_estimate" in row:
        note = f"{where}; by the exact law, the highest score that meets the criterion"
        found.append(
            differ(item, f"{name}: estimate", row["estimate"], estimate.estimate,
                   row["pinned_estimate"], note)
        )  # fmt: skip
    else:
        found.append(
            compare(item, f"{name}: estimate", row["estimate"], estimate.estimate, where, error)
        )
    for printed, value, end in zip(
        row["interval"], estimate.interval, ("lower", "upper"), strict=True
    ):
        if printed:
            found.append(compare(item, f"{name}: {end} limit", printed, value, where, error))
    if "expected" in row:
        value = estimate.expected_maximum
        found.append(compare(item, f"{name}: expected", row["expected"], value, where, error))
    if "pinned_above" in row:
        note = f"{where}; above the estimate as computed here"
        found.append(
            differ(item, f"{name}: teams above", row["above"], estimate.n_above(),
                   row["pinned_above"], note)
        )  # fmt: skip
        level = float(row["estimate"])
        above = int((estimate.scores > level).sum())
        if estimate.method == "shrink":
            quantity = f"{name}: teams above the printed {row['estimate']}"
            found.append(compare(item, quantity, row["above"], above, where))
    else:
        found.append(compare(item, f"{name}: teams above", row["above"], estimate.n_above(), where))
    return found


def _other_assumptions(item: str, part: Published, scores: FloatArray) -> list[Comparison]:
    """The same with the test set that the scores show, and with the rho of the paper's formula."""
    printed = part["shrink"]["expected"]
    lattice = {"n_test": part["n_test_lattice"]}
    formula = {"correlation": part["correlation_by_the_formula"]}
    cases = (
        ("lattice", lattice, f"n = {part['n_test_lattice']:,}, which the scores' digits show"),
        ("by_the_formula", formula, "rho = 0.77, which the paper's formula gives (item mania)"),
    )
    found = []
    for name, changes, text in cases:
        estimate = _estimate(shrink_scores, part, scores, **changes)
        for quantity, value, key in (
            ("estimate", estimate.estimate, "estimate"),
            ("teams above", float(estimate.n_above()), "above"),
        ):
            pinned = part[name][f"pinned_{key}"]
            found.append(
                differ(item, f"shrinking, expected: {quantity} ({name.replace('_', ' ')})",
                       printed[key], value, pinned, f"with {text}")
            )  # fmt: skip
    return found


def _scores(slug: str, data: Path | None) -> FloatArray | None:
    """Scores of the private leaderboard of a challenge, None where no directory is given."""
    from bayes_sota.data.readers.leaderboard_files import read_leaderboard

    if data is None:
        return None
    if not data.is_dir():
        raise InputError(f"{data}: no such directory")
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
    return board.scores


def _needs_data(item: str, slug: str) -> Comparison:
    note = (
        f"needs the private leaderboard of kaggle.com/competitions/{slug} (Leaderboard, Raw Data): "
        "give its directory, --data DIRECTORY"
    )
    return not_verifiable(item, "all numbers", note)
