"""Probability that each of many reported claims is false, with its range over what is unreported.

Rows are computed together, by what is known of them. A row that the exact functions refuse is found
by halving and gets their message as its problem; the others are not affected.
``tests/claims/test_summary_review.py`` compares with one claim at a time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.claim_rows import ClaimRows
from bayes_sota.claims.congruence import congruence_bounds
from bayes_sota.claims.means import false_claim_probability_of_means, imputed_sd
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

__all__ = ["CORRELATIONS", "ReviewProbabilities", "review_probabilities", "share_interval"]

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
    >>> from bayes_sota.claims.claim_rows import claim_rows
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
