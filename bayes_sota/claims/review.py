"""Rows of a review of claims: what each says, how probable it is false, why it cannot be used.

A wrong cell is a problem of its row, named with row and column; a wrong file (no column of items,
two columns of one name) is an error. Accuracies keep their printed digits, so that those which no
whole number of items gives are found (the GRIM check of Brown & Heathers 2017, doi
10.1177/1948550616673876). A row that the exact functions refuse has their message as its problem.
``tests/claims/test_summary_review.py`` compares with one claim at a time.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import Any

import numpy as np
from scipy.special import betaincinv

from bayes_sota.claims.accuracies import ReportedAccuracies
from bayes_sota.claims.means import ReportedMeans
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.printed_scores import (
    LARGEST_NUMBER,
    digits_of,
    has_percent_sign,
    parse_number,
    parse_scores,
)
from bayes_sota.data.tables import MISSING, Table
from bayes_sota.data.words import key

_ACCURACIES, _MEANS = ("accuracy_a", "accuracy_b"), ("mean_a", "mean_b")
_NUMBERS = (
    *_ACCURACIES,
    *_MEANS,
    "sd_a",
    "sd_b",
    "sd_difference",
    "pairwise_correlation",
    "congruence",
    "n_test",
)
_METRICS = {
    "classification": "accuracy",
    "accuracy": "accuracy",
    "segmentation": "dice",
    "dice": "dice",
    "dsc": "dice",
    "mean": "mean",
}
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+")
_LARGEST = 10_000_000  # items; the average over the congruence sums over up to half of them


@dataclass(frozen=True)
class ClaimRow:
    """A claim as its row says it.

    Attributes
    ----------
    metric : str
        "accuracy", "dice" (mean of cases in [0, 1]) or "mean" (of unbounded cases).
    numbers : mapping
        Column -> number, None where its cell is empty.
    """

    metric: str
    numbers: Mapping[str, Any]

    @property
    def needs_spread(self) -> bool:
        """Whether these are means without standard deviations of any kind."""
        known = self.numbers["sd_difference"] is not None
        both_known = None not in (self.numbers["sd_a"], self.numbers["sd_b"])
        return self.metric != "accuracy" and not (known or both_known)

    @property
    def assumption(self) -> str:
        """What is assumed of what is hardly ever reported."""
        if self.metric == "accuracy":
            known = self.numbers["congruence"] is not None
            return f"congruence {'given' if known else 'averaged over what the accuracies allow'}"
        if self.numbers["sd_difference"] is not None:
            return "standard deviation of the differences given"
        known = self.numbers["pairwise_correlation"] is not None
        imputed = ", standard deviations imputed from the means" * self.needs_spread
        return f"correlation {'given' if known else 'averaged from 0 to 1'}{imputed}"

    def p_false(self) -> list[float]:
        """Probability that the claim is false: averaged, lowest and highest.

        It falls with the congruence and with the correlation. What is given has no range.
        Standard deviations that are not reported are imputed from the means (``imputed_sd``).
        """
        of, claim = self.numbers, self._claim()
        if of["sd_difference"] is not None:
            return [claim.p_false()] * 3
        ends: tuple[Any, ...] = (None, 1.0, 0.0)
        known = of["pairwise_correlation"]
        if self.metric == "accuracy":
            ends, known = (None, "max", "min"), of["congruence"]
        if known is not None:
            return [claim.p_false(**{claim.unknown: known})] * 3
        return [claim.p_false(**{claim.unknown: end}) for end in ends]

    def _claim(self) -> ReportedAccuracies | ReportedMeans:
        of = self.numbers
        if self.metric == "accuracy":
            return ReportedAccuracies(of["accuracy_a"], of["accuracy_b"], of["n_test"])
        return ReportedMeans(
            of["mean_a"],
            of["mean_b"],
            of["n_test"],
            sd_difference=of["sd_difference"],
            sd=None if self.needs_spread else (of["sd_a"], of["sd_b"]),
            bounds=None if self.metric == "mean" else (0.0, 1.0),
        )


def columns_of_review(table: Table, asked: Mapping[str, str]) -> dict[str, str]:
    """Columns of a review by their roles, such as ``n_test``.

    Raises
    ------
    InputError
        A column that is missing, or that two are called, but for case and punctuation.
    """
    found = {name: table.find(column, name) for name, column in asked.items()}
    for name in (*_NUMBERS, "metric", "group"):
        if name not in found and any(key(name) == key(other) for other in table.columns):
            found[name] = table.find(name, name)
    begun = [pair for pair in (_ACCURACIES, _MEANS) if found.keys() & set(pair)]
    for name in ("n_test", *chain(*begun or [_ACCURACIES])):
        found[name] = table.find(found.get(name, name), name)
    return found


def claim_rows(
    table: Table, asked: Mapping[str, str], *, check_counts: bool = True
) -> Iterator[ClaimRow | InputError]:
    """Claims of a table, or why a row is none.

    Parameters
    ----------
    table : Table
        Columns ``n_test``, and ``accuracy_a``, ``accuracy_b`` or ``mean_a``, ``mean_b`` or all
        four; optionally ``congruence``, ``sd_a``, ``sd_b``, ``sd_difference``,
        ``pairwise_correlation`` and ``metric``. "90.1%" is 0.901.
    asked : mapping
        Columns that have other names.
    check_counts : bool
        Whether accuracies that no whole number of items gives are a problem; they are none where
        accuracies are averages over runs or classes.

    Raises
    ------
    InputError
        Columns that are missing or occur twice, or a column ``metric`` without a known metric.

    Examples
    --------
    >>> columns = {"accuracy_a": ["0.90", "0.913"], "accuracy_b": ["88%", "0.9"]}
    >>> cells, lines = columns | {"n": ["500", "100"]}, ["row 1", "row 2"]
    >>> table = Table(columns=cells, lines=lines, where="review", name="review")
    >>> claim, problem = claim_rows(table, {"n_test": "n"})
    >>> claim.numbers["accuracy_b"], str(problem)
    (0.88, 'no whole number of 100 items gives accuracy_a as printed, 0.913')
    """
    found = columns_of_review(table, asked)
    if "metric" in found:
        _check_metrics(table, found["metric"])
    for row in range(len(table)):
        cells = {name: table.columns[column][row] for name, column in found.items()}
        try:
            yield _claim_of_row(cells, check_counts)
        except InputError as error:
            yield error


def _check_metrics(table: Table, column: str) -> None:
    words = [str(cell).strip() for cell in table.columns[column] if not _is_missing(cell)]
    if words and not any(word.lower() in _METRICS for word in words):
        problem = f"no metric is one of {', '.join(_METRICS)}; the first is {shown(words[0])}"
        raise InputError(problem, where=table.where, column=column)


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or str(cell).strip().lower() in MISSING


def _claim_of_row(cells: Mapping[str, Any], check_counts: bool) -> ClaimRow:
    printed = {name: _read_cell(cells.get(name), name) for name in _NUMBERS}
    numbers: Any = {name: None if x is None else float(x) for name, x in printed.items()}
    metric, n_test = _metric_of(cells.get("metric"), printed), numbers["n_test"]
    for name in (*(_ACCURACIES if metric == "accuracy" else _MEANS), "n_test"):
        if numbers[name] is None:
            raise InputError(f"{name} is empty")
    if not 2 <= n_test <= _LARGEST or n_test % 1:
        raise InputError(
            f"{{name}} must be a whole number between 2 and {_LARGEST:,}, got {n_test:g}",
            parameter="n_test",
        )
    for name in _ACCURACIES if check_counts and metric == "accuracy" else ():
        _check_possible(name, printed[name], int(n_test))
    return ClaimRow(metric, numbers)


def _read_cell(cell: Any, name: str) -> Decimal | None:
    """Number of a cell, None if it is empty."""
    if _is_missing(cell):
        return None
    text = str(cell).strip()
    in_percent = has_percent_sign(cell)
    grouped = name == "n_test" and _GROUPED.fullmatch(text) is not None  # 1,500
    number = parse_number(text.removesuffix("%") if in_percent else cell)
    number = parse_number(text.replace(",", "")) if grouped else number
    if number is None:
        dotted = parse_number(text.removesuffix("%").replace(",", ".", 1))
        is_size = name == "n_test" or dotted is None
        hint = "" if is_size else f"; write {dotted}{'%' if in_percent else ''}"
        raise InputError(f"{name} must be a number, got {shown(text)}{hint}")
    if abs(number) > LARGEST_NUMBER:
        raise InputError(f"{name} is too large: {text}, the limit is {LARGEST_NUMBER:g}")
    return number / Decimal(100) if in_percent else number


def _metric_of(cell: Any, printed: Mapping[str, Decimal | None]) -> str:
    """Metric of a row, as its column says or by the cells that are filled."""
    if not _is_missing(cell):
        word = str(cell).strip()
        if word.lower() not in _METRICS:
            raise InputError(f"metric is one of {', '.join(_METRICS)}, got {shown(word)}")
        return _METRICS[word.lower()]
    accuracies, means = (
        any(printed[name] is not None for name in pair) for pair in (_ACCURACIES, _MEANS)
    )
    if accuracies and means:
        raise InputError("accuracies and means are both filled: say which with metric")
    return "dice" if means else "accuracy"


def _check_possible(name: str, printed: Any, n_test: int) -> None:
    """Refuse an accuracy that no whole number of items prints."""
    if not 0 <= printed <= 1:
        return
    scores = parse_scores([printed], percent=False)
    low, high = scores.count_bounds(np.array([n_test]), "nearest")
    if low > high:
        raise InputError(
            f"no whole number of {n_test:,} items gives {name} as printed, "
            f"{printed:.{digits_of(printed) or 1}f}"
        )


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
