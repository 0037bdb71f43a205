"""Rows of a review of claims: what each says, how probable it is false, why it cannot be used.

A wrong cell is a problem of its row, named with row and column; a wrong file (no column of items,
two columns of one name) is an error. Accuracies keep their printed digits, so that those which no
whole number of items gives are found (the GRIM check of Brown & Heathers 2017, doi
10.1177/1948550616673876). Rows are computed together, by what is known of them; a row that the
exact functions refuse is found by halving and gets their message as its problem.
``tests/claims/test_summary_review.py`` compares with one claim at a time.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache, partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from bayes_sota.claims.accuracies import ReportedAccuracies
from bayes_sota.claims.congruence import congruence_bounds
from bayes_sota.claims.means import CORRELATIONS, ReportedMeans
from bayes_sota.claims.printed_accuracies import counts_printed_so
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import BoolArray, FloatArray, IntArray
from bayes_sota.data.columns import find_column, is_missing
from bayes_sota.data.files.tables import Table
from bayes_sota.data.printed_scores import (
    EXACT_DECIMALS,
    LARGEST_NUMBER,
    PrintedScores,
    digits_of,
    has_percent_sign,
    parse_number,
)

_ACCURACIES, _MEANS = ("accuracy_a", "accuracy_b"), ("mean_a", "mean_b")
_NUMBERS = (
    *_ACCURACIES, *_MEANS, "sd_a", "sd_b", "sd_difference", "pairwise_correlation", "congruence",
    "n_test",
)  # fmt: skip
_METRICS = {
    "classification": "accuracy", "accuracy": "accuracy",
    "segmentation": "dice", "dice": "dice", "dsc": "dice",
    "mean": "mean",
}  # fmt: skip
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+")
_LARGEST = 10_000_000  # items; the average over the congruence sums over up to half of them


@dataclass(frozen=True, eq=False)
class ClaimRows:
    """Claims as numbers, one row each; NaN where a cell is empty.

    Attributes
    ----------
    metric : (k,) array of str
        "accuracy", "dice" (mean of cases in [0, 1]), "mean" (of unbounded cases), or "".
    a, b : (k,) array
        Accuracies or means of the reported winner and of the other.
    numbers : dict of (k,) arrays
        By column: n_test, sd_a, sd_b, sd_difference, pairwise_correlation, congruence, ...
    problems : list of str
        Why a row cannot be used, empty where it can.
    """

    metric: NDArray[np.str_]
    a: FloatArray
    b: FloatArray
    numbers: dict[str, FloatArray]
    problems: list[str]

    @property
    def usable(self) -> BoolArray:
        """Rows without a problem."""
        return ~np.array(self.problems, bool)

    @property
    def needs_spread(self) -> BoolArray:
        """Means without standard deviations of any kind."""
        known = ~np.isnan(self.numbers["sd_a"] + self.numbers["sd_b"])
        unknown = ~known & np.isnan(self.numbers["sd_difference"])
        return np.asarray(unknown & (self.metric != "accuracy"))


def check_columns(table: Table) -> None:
    """Raise ``InputError`` unless a table has the columns of a review, each name once."""
    twice = [name for name, count in Counter(table.header).items() if count > 1]
    if twice:
        raise InputError(f"{table.where}: more than one column is called {shown(twice[0])}")
    find_column(table, "n_test", "number of test items")
    begun = [pair for pair in (_ACCURACIES, _MEANS) if any(map(table.find_all, pair))]
    for name in chain(*begun or [_ACCURACIES]):
        find_column(table, name, "accuracy_a and accuracy_b, or mean_a and mean_b")
    for name in (*_NUMBERS, "metric"):
        if table.find_all(name):
            find_column(table, name, "twice")


def claim_rows(table: Table, *, check_counts: bool = True) -> ClaimRows:
    """Claims of a table, with the problems of its rows.

    Parameters
    ----------
    table : Table
        Columns ``n_test``, and ``accuracy_a``, ``accuracy_b`` or ``mean_a``, ``mean_b`` or all
        four; optionally ``congruence``, ``sd_a``, ``sd_b``, ``sd_difference``,
        ``pairwise_correlation`` and ``metric``. "90.1%" is 0.901.
    check_counts : bool
        Whether accuracies that no whole number of items gives are a problem; they are none where
        accuracies are averages over runs or classes.

    Raises
    ------
    InputError
        Columns that are missing or occur twice, or a column ``metric`` without a known metric.

    Examples
    --------
    >>> header = ("accuracy_a", "accuracy_b", "n_test")
    >>> cells = (("0.90", "0.913"), ("88%", "0.9"), ("500", "100"))
    >>> rows = claim_rows(Table(header, cells, ("1", "2"), "review"))
    >>> rows.b.tolist(), rows.problems[1]
    ([0.88, 0.9], 'row 2: no whole number of 100 items gives accuracy_a as printed, 0.913')
    """
    check_columns(table)
    problems = [""] * len(table.places)
    numbers, digits = {}, {}
    for name in _NUMBERS:
        numbers[name], digits[name] = _read_column(table, name, problems)
    metric = _metrics(table, numbers, problems)
    n_test = numbers["n_test"]
    possible = (n_test >= 2) & (n_test <= _LARGEST) & (n_test == np.floor(n_test))
    for row in np.flatnonzero(~possible).tolist():
        text = f"n_test must be a whole number between 2 and {_LARGEST:,}, got {n_test[row]:g}"
        problems[row] = problems[row] or ("n_test is empty" if np.isnan(n_test[row]) else text)
    for name in _ACCURACIES if check_counts else ():
        _note_impossible(name, numbers[name], digits[name], n_test, metric, problems)
    a, b = (
        np.where(metric == "accuracy", numbers[accuracy], numbers[mean])
        for accuracy, mean in zip(_ACCURACIES, _MEANS, strict=True)
    )
    told = [f"row {row + 1}: {text}" if text else "" for row, text in enumerate(problems)]
    return ClaimRows(metric, a, b, numbers, told)


def _read_column(table: Table, name: str, problems: list[str]) -> tuple[FloatArray, IntArray]:
    """Numbers of a column and their digits after the point; all empty if there is none."""
    size, found = len(table.places), table.find_all(name)
    read = lru_cache(None, typed=True)(partial(_read_cell, name=name))
    values, digits, told = zip(
        *map(read, table.columns[found[0]] if found else [None] * size), strict=True
    )
    problems[:] = [problem or own for problem, own in zip(problems, told, strict=True)]
    return np.array(values, np.float64), np.array(digits, np.int64)


def _read_cell(cell: Any, *, name: str) -> tuple[float, int, str]:
    """Value of a cell (NaN if empty), its digits after the point, and what is wrong with it."""
    text = "" if cell is None else str(cell).strip()
    if is_missing(text):
        return np.nan, 0, ""
    in_percent = has_percent_sign(cell)
    grouped = name == "n_test" and _GROUPED.fullmatch(text) is not None  # 1,500
    number = parse_number(text.removesuffix("%") if in_percent else cell)
    number = parse_number(text.replace(",", "")) if grouped else number
    if number is not None and abs(number) > LARGEST_NUMBER:
        return np.nan, 0, f"{name} is too large: {text}, the limit is {LARGEST_NUMBER:g}"
    if number is None:
        dotted = parse_number(text.removesuffix("%").replace(",", ".", 1))
        is_size = name == "n_test" or dotted is None
        hint = "" if is_size else f"; write {dotted}{'%' if in_percent else ''}"
        return np.nan, 0, f"{name} must be a number, got {shown(text)}{hint}"
    number = number / Decimal(100) if in_percent else number
    return float(number), digits_of(number), ""


def _metrics(table: Table, numbers: dict[str, FloatArray], problems: list[str]) -> NDArray[np.str_]:
    """Metric of each row, as its column says or by the cells that are filled."""
    accuracy, mean = (
        ~np.isnan([numbers[name] for name in pair]).all(axis=0) for pair in (_ACCURACIES, _MEANS)
    )
    cells = next((table.columns[j] for j in table.find_all("metric")), [None] * len(problems))
    words = ["" if cell is None else str(cell).strip() for cell in cells]
    named = [word for word in words if not is_missing(word)]
    if named and not any(word.lower() in _METRICS for word in words):
        raise InputError(
            f"{table.where}: no metric is one of {', '.join(_METRICS)}; the first is "
            f"{shown(named[0])}"
        )
    metric = np.array([_METRICS.get(word.lower(), "") for word in words], dtype="U8")
    for row in np.flatnonzero(metric == "").tolist():
        text = ""
        if not is_missing(words[row]):
            text = f"metric is one of {', '.join(_METRICS)}, got {shown(words[row])}"
        elif accuracy[row] and mean[row]:
            text = "accuracies and means are both filled: say which with metric"
        else:
            metric[row] = "dice" if mean[row] else "accuracy"
        problems[row] = problems[row] or text
    for name in (*_ACCURACIES, *_MEANS):
        kind = (metric == "accuracy") == (name in _ACCURACIES)
        for row in np.flatnonzero(kind & (metric != "") & np.isnan(numbers[name])).tolist():
            problems[row] = problems[row] or f"{name} is empty"
    return metric


def _note_impossible(
    name: str, values: FloatArray, digits: IntArray, n_test: FloatArray, metric: Any, problems: Any
) -> None:
    """Accuracies that no whole number of items prints."""
    usable = ~np.array(problems, bool) & (metric == "accuracy")
    rows = np.flatnonzero(usable & (values >= 0) & (values <= 1))
    values, digits, sizes = values[rows], digits[rows], n_test[rows].astype(np.int64)
    wrong = np.zeros(rows.size, bool)
    for decimals in np.unique(digits).tolist():
        here = np.flatnonzero(digits == decimals)
        scaled = None
        if 0 < decimals < EXACT_DECIMALS:
            scaled = np.rint(values[here] * 10.0**decimals).astype(np.int64)
        scores = PrintedScores(values[here], scaled, decimals)
        low, high = counts_printed_so(scores, sizes[here], "nearest")
        wrong[here] = low > high
    for place in np.flatnonzero(wrong).tolist():
        printed = f"{values[place]:.{digits[place] or 1}f}"
        problems[rows[place]] = (
            f"no whole number of {sizes[place]:,} items gives {name} as printed, {printed}"
        )


def review_probabilities(
    rows: ClaimRows, sd: Any = None
) -> tuple[FloatArray, NDArray[np.object_], list[str]]:
    r"""Probability that each claim is false, and its range.

    P(false) falls with the congruence and with the correlation, so that its range lies between the
    values at their ends: :math:`[\max(0, p_A + p_B - 1), \min(p_A, p_B)]` and [0, 0.95]. What is
    given has no range.

    Parameters
    ----------
    rows : ClaimRows
    sd : float, callable or three coefficients, optional
        Standard deviation of cases from their mean where none is given (``imputed_sd``).

    Returns
    -------
    probabilities : ndarray, shape (k, 3)
        Averaged over the unknown congruence or correlation, lowest and highest; NaN where a row has
        a problem.
    assumption : ndarray of str, shape (k,)
    problems : list of str
        Why a row cannot be used, empty where it can.

    Examples
    --------
    >>> cells = (("0.90", "0.80"), ("0.88", "0.81"), ("500", "500"))
    >>> table = Table(("accuracy_a", "accuracy_b", "n_test"), cells, ("1", "2"), "review")
    >>> found, _, problems = review_probabilities(claim_rows(table))
    >>> found[0].round(4).tolist()
    [0.093, 0.0005, 0.1713]
    >>> problems[1][:30]
    'row 2: A is the reported winne'
    """
    problems, assumption = list(rows.problems), _assumptions(rows)
    found = np.full((len(problems), 3), np.nan)
    kinds = np.char.add(rows.metric, assumption.astype(str))
    for kind in np.unique(kinds[rows.usable]):
        for block in _blocks(rows, np.flatnonzero((kinds == kind) & rows.usable)):
            _evaluate(rows, block, sd, found, problems)
    assumption[np.array(problems, bool)] = ""
    return found, assumption, problems


def share_interval(count: int, size: int, ci_prob: float = 0.95) -> tuple[float, float]:
    r"""Jeffreys interval of a share, :math:`\mathrm{Beta}(k + 1/2, m - k + 1/2)`, equal-tailed.

    It reaches 0 or 1 where the share does (Brown, Cai & DasGupta 2001, doi
    10.1214/ss/1009213286). NaN of nothing.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval(41, 347)]
    [0.087, 0.155]
    """
    if not size:
        return np.nan, np.nan
    ends = betaincinv(count + 0.5, size - count + 0.5, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    return 0.0 if count == 0 else float(ends[0]), 1.0 if count == size else float(ends[1])


def _assumptions(rows: ClaimRows) -> NDArray[np.object_]:
    """What is assumed of each claim."""
    known = {name: ~np.isnan(values) for name, values in rows.numbers.items()}
    averaged = "congruence averaged over what the accuracies allow"
    accuracy = np.where(known["congruence"], "congruence given", averaged)
    given = known["pairwise_correlation"]
    means = np.where(given, "correlation given", "correlation averaged from 0 to 1").astype(object)
    means = means + np.where(rows.needs_spread, ", standard deviations from the means", "")
    means[known["sd_difference"]] = "standard deviation of the differences given"
    return np.where(rows.metric == "accuracy", accuracy, means).astype(object)


def _blocks(rows: ClaimRows, here: IntArray) -> Iterator[IntArray]:
    """Rows whose averages have about equally many terms: the longest one sets the pace of all."""
    low, high = congruence_bounds(rows.a[here], rows.b[here])
    terms = np.log2(1 + np.maximum(0, (high - low) * rows.numbers["n_test"][here])).astype(int)
    yield from (here[terms == level] for level in np.unique(terms))


def _evaluate(
    rows: ClaimRows, block: IntArray, sd: Any, found: FloatArray, problems: list[str]
) -> None:
    """Fill in the rows of a block; halve it until the rows that are refused stand alone."""
    try:
        values = _probabilities(rows, block if block.size > 1 else int(block[0]), sd)
    except InputError as error:
        if block.size == 1:
            problems[int(block[0])] = f"row {int(block[0]) + 1}: {error}"
            return
        for half in np.array_split(block, 2):
            _evaluate(rows, half, sd, found, problems)
        return
    found[block] = np.column_stack([np.broadcast_to(value, block.shape) for value in values])


def _probabilities(rows: ClaimRows, at: Any, sd: Any) -> list[Any]:
    """Averaged, lowest and highest of rows of one kind, or one for all three."""

    def of(values: Any) -> Any:
        return values[at] if np.ndim(at) else float(values[at])

    numbers = {name: of(values) for name, values in rows.numbers.items()}
    given = {name: None if np.isnan(np.ravel(x)[0]) else x for name, x in numbers.items()}
    pair: Any = of(rows.a), of(rows.b), given["n_test"]
    metric = str(np.ravel(rows.metric[at])[0])
    claim: ReportedAccuracies | ReportedMeans
    if metric == "accuracy":
        claim, known = ReportedAccuracies(*pair), given["congruence"]
        ends: tuple[Any, ...] = (None, "max", "min")
    else:
        spreads: Any = numbers["sd_a"], numbers["sd_b"]
        if np.any(of(rows.needs_spread)):
            if sd is None:
                raise InputError("sd_a and sd_b, or sd_difference, must be given for means")
            spreads = sd, sd
        bounds = None if metric == "mean" else (0.0, 1.0)
        difference = given["sd_difference"]
        claim = ReportedMeans(*pair, sd=spreads, sd_difference=difference, bounds=bounds)
        known, ends = given["pairwise_correlation"], (None, *CORRELATIONS[::-1])
        if difference is not None:
            ends = (None,)
    ends = ends if known is None or len(ends) == 1 else (known,)
    return [claim.p_false(**{claim.unknown: end}) for end in ends]
