"""Rows of a review of claims: what each says, and why it cannot be used where it cannot.

A wrong cell is a problem of its row, named with row and column; a wrong file (no column of items,
two columns of one name) is an error. Accuracies keep their printed digits, so that those which no
whole number of items gives are found (the GRIM check of Brown & Heathers 2017, doi
10.1177/1948550616673876). ``tests/claims/test_summary_review.py`` compares with one claim at a
time.

Probability that each of many reported claims is false, with its range over what is unreported.

Rows are computed together, by what is known of them. A row that the exact functions refuse is found
by halving and gets their message as its problem; the others are not affected.
``tests/claims/test_summary_review.py`` compares with one claim at a time.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import congruence_bounds
from bayes_sota.claims.means import false_claim_probability_of_means, imputed_sd
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import BoolArray, FloatArray
from bayes_sota.data.columns import find_column
from bayes_sota.data.files.tables import Table
from bayes_sota.data.printed_scores import (
    EXACT_DECIMALS,
    LARGEST_NUMBER,
    digits_of,
    exact_ends,
    lattice_ends,
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

_EMPTY = frozenset(("", "na", "n/a", "nan", "<na>", "null", "none", "-", "–", "—"))
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
    n_test : (k,) array
        Number of items or cases.
    sd_a, sd_b, sd_difference, correlation, congruence : (k,) array
    problems : list of str
        Why a row cannot be used, empty where it can.
    """

    metric: NDArray[np.str_]
    a: FloatArray
    b: FloatArray
    n_test: FloatArray
    sd_a: FloatArray
    sd_b: FloatArray
    sd_difference: FloatArray
    correlation: FloatArray
    congruence: FloatArray
    problems: list[str]

    @property
    def usable(self) -> BoolArray:
        """Rows without a problem."""
        return np.array([not problem for problem in self.problems], bool)


class _Number(NamedTuple):
    """A cell: its value (NaN if empty), its digits after the point, what is wrong with it."""

    value: float
    digits: int
    problem: str


class _Column(NamedTuple):
    values: FloatArray
    digits: NDArray[np.int64]
    problems: dict[int, str]


def check_columns(table: Table) -> None:
    """Raise ``InputError`` unless a table has the columns of a review, each name once."""
    twice = [name for name, count in Counter(table.header).items() if count > 1]
    if twice:
        raise InputError(f"{table.where}: more than one column is called {shown(twice[0])}")
    find_column(table, "n_test", "number of test items")
    pairs = (_ACCURACIES, _MEANS)
    begun = [pair for pair in pairs if any(table.find_all(name) for name in pair)]
    for name in [name for pair in begun or [_ACCURACIES] for name in pair]:
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
    columns = {name: _read_column(table, name) for name in _NUMBERS}
    size = len(table.places)
    problems = [""] * size
    for column in columns.values():
        for row, problem in column.problems.items():
            problems[row] = problems[row] or problem
    metric = _metrics(table, columns, problems)
    _note_sizes(columns["n_test"].values, problems)
    if check_counts:
        _note_impossible(columns, metric, problems)
    return ClaimRows(
        metric=metric,
        a=_of_metric(metric, columns, 0),
        b=_of_metric(metric, columns, 1),
        n_test=columns["n_test"].values,
        sd_a=columns["sd_a"].values,
        sd_b=columns["sd_b"].values,
        sd_difference=columns["sd_difference"].values,
        correlation=columns["pairwise_correlation"].values,
        congruence=columns["congruence"].values,
        problems=[f"row {row + 1}: {text}" if text else "" for row, text in enumerate(problems)],
    )


def _note_sizes(n_test: FloatArray, problems: list[str]) -> None:
    """Sizes that are empty or no whole number in range."""
    possible = (n_test >= 2) & (n_test <= _LARGEST) & (n_test == np.floor(n_test))
    for row in np.flatnonzero(~possible).tolist():
        text = f"n_test must be a whole number between 2 and {_LARGEST:,}, got {n_test[row]:g}"
        problems[row] = problems[row] or ("n_test is empty" if np.isnan(n_test[row]) else text)


def _read_column(table: Table, name: str) -> _Column:
    """Numbers of a column; all empty if there is none."""
    size, found = len(table.places), table.find_all(name)
    if not found:
        return _Column(np.full(size, np.nan), np.zeros(size, np.int64), {})
    known: dict[tuple[type, str], _Number] = {}
    numbers = []
    for cell in table.columns[found[0]]:
        key = (type(cell), str(cell))
        if key not in known:
            known[key] = _read_cell(cell, name)
        numbers.append(known[key])
    values, digits, problems = zip(*numbers, strict=True)
    wrong = {row: problem for row, problem in enumerate(problems) if problem}
    return _Column(np.array(values), np.array(digits, np.int64), wrong)


def _read_cell(cell: Any, name: str) -> _Number:
    text = "" if cell is None else str(cell).strip()
    if text.lower() in _EMPTY:
        return _Number(np.nan, 0, "")
    in_percent = isinstance(cell, str) and text.endswith("%")
    grouped = name == "n_test" and _GROUPED.fullmatch(text) is not None  # 1,500
    number = parse_number(text.removesuffix("%") if in_percent else cell)
    number = parse_number(text.replace(",", "")) if grouped else number
    if number is not None and abs(number) > LARGEST_NUMBER:
        return _Number(np.nan, 0, f"{name} is too large: {text}, the limit is {LARGEST_NUMBER:g}")
    if number is None:
        dotted = parse_number(text.removesuffix("%").replace(",", ".", 1))
        is_size = name == "n_test" or dotted is None
        hint = "" if is_size else f"; write {dotted}{'%' if in_percent else ''}"
        return _Number(np.nan, 0, f"{name} must be a number, got {shown(text)}{hint}")
    number = number / Decimal(100) if in_percent else number
    return _Number(float(number), digits_of(number), "")


def _metrics(table: Table, columns: dict[str, _Column], problems: list[str]) -> NDArray[np.str_]:
    """Metric of each row, as its column says or by the cells that are filled."""
    filled = {
        "accuracy": ~np.isnan([columns[name].values for name in _ACCURACIES]).all(axis=0),
        "dice": ~np.isnan([columns[name].values for name in _MEANS]).all(axis=0),
    }
    column = table.find_all("metric")
    cells: Sequence[Any] = table.columns[column[0]] if column else [None] * len(problems)
    words = ["" if cell is None else str(cell).strip() for cell in cells]
    known = [_METRICS.get(word.lower(), "") for word in words]
    named = [word for word in words if word.lower() not in _EMPTY]
    if named and not any(known):
        raise InputError(
            f"{table.where}: no metric is one of {', '.join(_METRICS)}; the first is "
            f"{shown(named[0])}"
        )
    metric = np.array(known, dtype="U8")
    for row, (word, kind) in enumerate(zip(words, known, strict=True)):
        accuracy, mean = bool(filled["accuracy"][row]), bool(filled["dice"][row])
        if kind:
            continue
        if word.lower() not in _EMPTY:
            text = f"metric is one of {', '.join(_METRICS)}, got {shown(word)}"
        elif accuracy and mean:
            text = "accuracies and means are both filled: say which with metric"
        else:
            text, metric[row] = "", "dice" if mean else "accuracy"
        problems[row] = problems[row] or text
    _note_empty(metric, columns, problems)
    return metric


def _note_empty(metric: NDArray[np.str_], columns: dict[str, _Column], problems: list[str]) -> None:
    for pair, kinds in ((_ACCURACIES, ("accuracy",)), (_MEANS, ("dice", "mean"))):
        for name in pair:
            for row in np.flatnonzero(np.isin(metric, kinds) & np.isnan(columns[name].values)):
                problems[row] = problems[row] or f"{name} is empty"


def _of_metric(metric: NDArray[np.str_], columns: dict[str, _Column], side: int) -> FloatArray:
    """Accuracy or mean of one method."""
    accuracy, mean = columns[_ACCURACIES[side]].values, columns[_MEANS[side]].values
    return np.where(metric == "accuracy", accuracy, mean)


def _note_impossible(
    columns: dict[str, _Column], metric: NDArray[np.str_], problems: list[str]
) -> None:
    usable = np.array([not problem for problem in problems], bool) & (metric == "accuracy")
    for name in _ACCURACIES:
        values, digits, _ = columns[name]
        rows = np.flatnonzero(usable & (values >= 0) & (values <= 1))
        n_test = columns["n_test"].values[rows].astype(np.int64)
        for place in np.flatnonzero(_impossible(values[rows], digits[rows], n_test)):
            row = rows[place]
            problems[row] = problems[row] or (
                f"no whole number of {n_test[place]:,} items gives {name} as printed, "
                f"{values[row]:.{digits[row] or 1}f}"
            )


def _impossible(
    values: FloatArray, digits: NDArray[np.int64], n_test: NDArray[np.int64]
) -> BoolArray:
    """Whether no number of right answers prints as each accuracy."""
    found = np.zeros(values.size, bool)
    exact = (digits == 0) | (digits >= EXACT_DECIMALS)
    for decimals in np.unique(digits[~exact]).tolist():
        here = np.flatnonzero(digits == decimals)
        scaled = np.rint(values[here] * 10.0**decimals).astype(np.int64)
        low, high = lattice_ends(scaled, n_test[here], 10**decimals, "nearest")
        found[here] = np.maximum(low, 0) > np.minimum(high, n_test[here])
    fewest, most = exact_ends(values[exact], n_test[exact])
    found[exact] = fewest > most
    return found


CORRELATIONS = (0.0, 0.95)  # of the highest and lowest probability; at 1 nothing is left to chance
_NO_SPREAD = "sd_a and sd_b, or sd_difference, must be given for means"
Indices = NDArray[np.int64]
Compute = Callable[[Any], tuple[Any, Any, Any]]


@dataclass(frozen=True, eq=False)
class ReviewProbabilities:
    """P(false) of claims; NaN and an empty assumption where a row has a problem.

    Attributes
    ----------
    averaged, lowest, highest : (k,) array
        Averaged over the unknown congruence or correlation, and at its ends.
    assumption : (k,) array of str
    problems : list of str
        Why a row cannot be used, empty where it can.
    """

    averaged: FloatArray
    lowest: FloatArray
    highest: FloatArray
    assumption: NDArray[np.object_]
    problems: list[str]


def review_probabilities(rows: ClaimRows, sd: Any = None) -> ReviewProbabilities:
    r"""Probability that each claim is false, and its range.

    P(false) falls with the congruence and with the correlation, so that its range lies between the
    values at their ends: :math:`[\max(0, p_A + p_B - 1), \min(p_A, p_B)]` and [0, 0.95]. What is
    given has no range.

    Parameters
    ----------
    rows : ClaimRows
    sd : float, callable or three coefficients, optional
        Standard deviation of cases from their mean where none is given (``imputed_sd``).

    Examples
    --------
    >>> from bayes_sota.claims.review import claim_rows
    >>> from bayes_sota.data.files.tables import Table
    >>> cells = (("0.90", "0.80"), ("0.88", "0.81"), ("500", "500"))
    >>> table = Table(("accuracy_a", "accuracy_b", "n_test"), cells, ("1", "2"), "review")
    >>> found = review_probabilities(claim_rows(table))
    >>> [round(float(p[0]), 4) for p in (found.lowest, found.averaged, found.highest)]
    [0.0005, 0.093, 0.1713]
    >>> found.problems[1][:30]
    'row 2: A is the reported winne'
    """
    size, problems = len(rows.problems), list(rows.problems)
    found, assumption = np.full((size, 3), np.nan), np.full(size, "", object)
    for where, text, compute in _cases(rows, sd):
        here = np.flatnonzero(where & rows.usable)
        assumption[here] = text
        for block in _blocks(rows, here):
            _evaluate(compute, block, found, problems)
    assumption[np.array([bool(problem) for problem in problems], bool)] = ""
    averaged, lowest, highest = found.T
    return ReviewProbabilities(averaged, lowest, highest, assumption, problems)


def share_interval(count: int, size: int, prob: float = 0.95) -> tuple[float, float]:
    r"""Jeffreys interval of a share, :math:`\mathrm{Beta}(k + 1/2, m - k + 1/2)`, equal-tailed.

    It reaches 0 or 1 where the share does (Brown, Cai & DasGupta 2001, doi
    10.1214/ss/1009213286). NaN of nothing.

    Examples
    --------
    >>> [round(end, 3) for end in share_interval(41, 347)]
    [0.087, 0.155]
    """
    from scipy.special import betaincinv

    if not size:
        return np.nan, np.nan
    ends = betaincinv(count + 0.5, size - count + 0.5, [(1 - prob) / 2, (1 + prob) / 2])
    return 0.0 if count == 0 else float(ends[0]), 1.0 if count == size else float(ends[1])


def _cases(rows: ClaimRows, sd: Any) -> Iterator[tuple[Any, str, Compute]]:
    """Which rows, what is assumed of them, and what computes their three probabilities."""
    accuracy, known = rows.metric == "accuracy", ~np.isnan(rows.congruence)
    yield accuracy & known, "congruence given", _of_accuracies(rows, rows.congruence)
    unknown = "congruence averaged over what the accuracies allow"
    yield accuracy & ~known, unknown, _of_accuracies(rows, None)
    differences = ~np.isnan(rows.sd_difference)
    spread = ~np.isnan(rows.sd_a) & ~np.isnan(rows.sd_b) & ~differences
    correlated = ~np.isnan(rows.correlation)
    for bounds, is_metric in (((0.0, 1.0), rows.metric == "dice"), (None, rows.metric == "mean")):
        text = "standard deviation of the differences given"
        yield is_metric & differences, text, _of_differences(rows, bounds)
        for part, ending, given in (
            (is_metric & spread, "", None),
            (is_metric & ~spread & ~differences, ", standard deviations from the means", sd),
        ):
            is_imputed = bool(ending)
            fixed = _of_means(rows, rows.correlation, bounds, is_imputed, given)
            yield part & correlated, f"correlation given{ending}", fixed
            averaged = _of_means(rows, None, bounds, is_imputed, given)
            yield part & ~correlated, f"correlation averaged from 0 to 1{ending}", averaged


def _at(values: FloatArray, at: Any) -> Any:
    """Some rows, or the number of one."""
    return values[at] if np.ndim(at) else float(values[at])


def _of_accuracies(rows: ClaimRows, congruence: FloatArray | None) -> Compute:
    def compute(at: Any) -> tuple[Any, Any, Any]:
        def probability(shared: Any) -> Any:
            a, b, n_test = (_at(x, at) for x in (rows.a, rows.b, rows.n_test))
            return false_claim_probability(a, b, n_test, shared)

        if congruence is not None:
            return (probability(_at(congruence, at)),) * 3
        return probability(None), probability("max"), probability("min")

    return compute


def _of_means(
    rows: ClaimRows, correlation: FloatArray | None, bounds: Any, is_imputed: bool, sd: Any
) -> Compute:
    def compute(at: Any) -> tuple[Any, Any, Any]:
        a, b, n_test = (_at(x, at) for x in (rows.a, rows.b, rows.n_test))
        if is_imputed and sd is None:
            raise InputError(_NO_SPREAD)
        if is_imputed:
            spreads = imputed_sd(a, sd), imputed_sd(b, sd)
        else:
            spreads = _at(rows.sd_a, at), _at(rows.sd_b, at)

        def probability(r: Any) -> Any:
            return false_claim_probability_of_means(
                a, b, n_test, sd=spreads, correlation=r, bounds=bounds
            )

        if correlation is not None:
            return (probability(_at(correlation, at)),) * 3
        least, most = CORRELATIONS
        return probability(None), probability(most), probability(least)

    return compute


def _of_differences(rows: ClaimRows, bounds: Any) -> Compute:
    def compute(at: Any) -> tuple[Any, Any, Any]:
        a, b, n, spread = (_at(x, at) for x in (rows.a, rows.b, rows.n_test, rows.sd_difference))
        found = false_claim_probability_of_means(a, b, n, sd_difference=spread, bounds=bounds)
        return (found,) * 3

    return compute


def _blocks(rows: ClaimRows, here: Indices) -> Iterator[Indices]:
    """Rows whose averages have about equally many terms: the longest one sets the pace of all."""
    low, high = congruence_bounds(rows.a[here], rows.b[here])
    terms = np.log2(1 + np.maximum(0, (high - low) * rows.n_test[here])).astype(np.int64)
    for level in np.unique(terms):
        yield here[terms == level]


def _evaluate(compute: Compute, block: Indices, found: FloatArray, problems: list[str]) -> None:
    """Fill in the rows of a block; halve it until the rows that are refused stand alone."""
    try:
        values = compute(block if block.size > 1 else int(block[0]))
    except InputError as error:
        if block.size == 1:
            problems[int(block[0])] = f"row {int(block[0]) + 1}: {error}"
            return
        for half in np.array_split(block, 2):
            _evaluate(compute, half, found, problems)
        return
    found[block] = np.column_stack([np.broadcast_to(value, block.shape) for value in values])
