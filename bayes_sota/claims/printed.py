r"""Claims whose numbers are printed, and therefore rounded.

Accuracies: the flat prior makes all tables of n items equally probable, so that the printed numbers
leave

.. math:: P(x_A, x_B \mid \text{printed}) \propto T(x_A, x_B), \quad x_A \ge x_B

with T the number of tables with these margins. An accuracy that no count gives is impossible (the
GRIM check of Brown & Heathers 2017, doi 10.1177/1948550616673876).
``tests/claims/test_accuracies.py`` compares with all tables.

Means: both are uniform within half a unit of their last digit and the bounds of a case, with A's
not below B's. The density of their difference is linear between its corners.
``tests/claims/test_means.py`` compares with simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_sota.claims.accuracies import Accuracies, false_claim_probability
from bayes_sota.claims.claim import gauss
from bayes_sota.claims.means import Means
from bayes_sota.core.arguments import Points
from bayes_sota.core.errors import ImpossibleAccuracyError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import LEAST_PERCENT, count_bounds, parse_number, parse_scores

_WHOLE = 64  # counts that print alike, each of which is looked at
_NODES = 12  # that stand for more
_GAPS = 32  # nodes between two corners of the density of a difference of means


def as_shares(typed: Sequence[Any]) -> tuple[tuple[str, str], list[str]]:
    """Two shares with their digits, and a note where they are taken as percent.

    Examples
    --------
    >>> as_shares(["91.2%", "0.90"]), as_shares(["90.0", "90.5"])
    ((('0.912', '0.90'), []), (('0.900', '0.905'), ['90.0 and 90.5 are read as percent']))
    """
    texts = [str(text).strip() for text in typed]
    numbers = [parse_number(text.removesuffix("%")) for text in texts]
    if None in numbers:
        wrong = texts[numbers.index(None)]
        raise InputError(f"scores are numbers in [0, 1] or in percent, got {wrong!r}")
    signed = [text.endswith("%") for text in texts]
    values: Any = numbers
    bare = not any(signed) and all(LEAST_PERCENT <= value <= 100 for value in values)
    a, b = (
        str(value.scaleb(-2)) if bare or sign else text  # with the digits that were typed
        for value, sign, text in zip(values, signed, texts, strict=True)
    )
    return (a, b), [f"{' and '.join(texts)} are read as percent"] * bare


def sds_as_shares(sds: Sequence[float], in_percent: bool | None) -> tuple[list[float], list[str]]:
    """Standard deviations as shares, and a note where they are taken as percent.

    They are where the means are, or where one exceeds 1. Beside means in another unit
    (``in_percent`` is None) they stay as they are.

    Examples
    --------
    >>> sds_as_shares([12.0, 10.0], True), sds_as_shares([0.12, 0.1], False)
    (([0.12, 0.1], ['standard deviations are read as percent']), ([0.12, 0.1], []))
    """
    bare = [sd for sd in sds if not isinstance(sd, Points)]
    largest = max(bare, default=0.0)
    if in_percent is False and largest > 1 and 0 < min(bare) < 1:
        raise InputError(
            f"the standard deviations {min(bare):g} and {largest:g} look like a share and percent: "
            "write % behind those in percent"
        )
    if in_percent and 0 < largest < 1:
        raise InputError(
            f"the means are in percent, and a standard deviation of {largest:g} may be a share or "
            f"in percent: write {100 * largest:g}% or {largest:g}%"
        )
    if not sds or in_percent is None or (not in_percent and max(sds) <= 1):
        return [*sds], []
    shares = [sd if isinstance(sd, Points) else sd / 100 for sd in sds]
    return shares, ["standard deviations are read as percent"]


@dataclass(frozen=True)
class Printed:
    """P(false) averaged over all numbers that print alike, and its range over them."""

    p_false: float
    lowest: float
    highest: float


def reported_claim(
    accuracy_a: str | float, accuracy_b: str | float, n_test: int, congruence: float | None = None
) -> Printed:
    """Probability that the claim is false, over all that prints as the two accuracies.

    Parameters
    ----------
    accuracy_a, accuracy_b : str or float
        As printed ("0.90" has two digits); both have the digits of the longer one.
    n_test : int
    congruence : float, optional
        Share of items that both got right, clipped to the bounds of each pair of counts.

    Raises
    ------
    ImpossibleAccuracyError
        No number of correct answers gives these accuracies.
    InputError
        A below B, fewer than two items.

    Examples
    --------
    >>> round(reported_claim("0.90", "0.88", 500).p_false, 3)
    0.1
    """
    printed = parse_scores([accuracy_a, accuracy_b], percent=False, subjects=["A", "B"])
    a, b = printed.values.tolist()
    n = Accuracies(a=a, b=b, n=n_test).n
    ends = count_bounds(printed.scaled, np.array([n]), printed.unit, "nearest")
    counts_a, counts_b = np.transpose(ends).tolist()
    for value, (fewest, most) in ((a, counts_a), (b, counts_b)):
        if fewest > most:
            near = (int(value * n) / n, min(int(value * n) + 1, n) / n)
            raise ImpossibleAccuracyError(
                f"no whole number of {n:,} items gives the accuracy {value:g} as printed: the "
                f"nearest ones are {near[0]:.8g} and {near[1]:.8g}"
            )
    least, most = max(counts_a[0], counts_b[0]), counts_a[1]
    pairs = list[FloatArray]()
    for x_b, of_b in zip(*_counts(counts_b[0], min(counts_b[1], most)), strict=True):
        x_b = min(x_b, n)
        x_a, of_a = _counts(max(least, x_b), most)
        x_a = np.clip(x_a, x_b, n)
        pairs.append(np.stack([x_a, np.full_like(x_a, x_b), of_b * of_a]))
    corners = [(x, min(y, x), 0.0) for x in (least, most) for y in counts_b]
    x_a, x_b, weights = np.concatenate([*pairs, np.array(corners).T], axis=1)
    weights = weights * (np.minimum(x_b, n - x_a) + 1)
    shared: Any = congruence
    if congruence is not None:
        shared = np.clip(congruence, np.maximum(0, x_a + x_b - n) / n, x_b / n)
    p = false_claim_probability(x_a / n, x_b / n, n, shared)
    mean, low, high = (float(x) for x in (weights @ p / weights.sum(), p.min(), p.max()))
    return Printed(mean, low, high)


def _counts(low: float, high: int) -> tuple[FloatArray, FloatArray]:
    """Counts between two ends, or nodes for them, and how many each stands for."""
    size = high - low + 1
    if size <= _WHOLE:
        whole = np.arange(np.ceil(low), high + 1, dtype=np.float64)
        return whole, np.ones(whole.size)
    x, weights = gauss(_NODES, max(low - 0.5, 0.0), high + 0.5)
    return x, weights * size


def reported_means(
    claim: Means, printed: tuple[str, str], correlation: float | None = None
) -> Printed:
    """Probability that the claim is false, over all that prints as the two means.

    Parameters
    ----------
    claim : Means
    printed : (str, str)
        As printed; both have the digits of the longer one.
    correlation : float, optional
        Correlation of the cases; default as the claim assumes.

    Examples
    --------
    >>> claim = Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1))
    >>> round(claim.p_false(), 4), round(reported_means(claim, ("0.81", "0.80")).p_false, 4)
    (0.141, 0.1612)
    """
    half = 0.5 * 10.0 ** -parse_scores(printed, bounded=False).decimals
    low, high = claim.bounds or (-np.inf, np.inf)
    means_a, means_b = (
        (max(mean - half, low), min(mean + half, high)) for mean in (claim.a, claim.b)
    )
    unknown, weights = claim.assumed() if correlation is None else ([correlation], [1.0])
    corners = np.clip(np.sort(np.subtract.outer(means_a, means_b), axis=None), 0.0, None)
    x, of_x = gauss(_GAPS)
    # cubes put nodes where the difference is small and P(false) falls
    gaps = np.ravel(corners[:-1, None] + np.diff(corners)[:, None] * x**3)
    shared = np.minimum(means_a[1], means_b[1] + gaps) - np.maximum(means_a[0], means_b[0] + gaps)
    density = np.maximum(shared, 0.0) * np.outer(np.diff(corners), x**2 * of_x).ravel()
    density += np.finfo(float).tiny  # where no digit is left open
    p = claim.at(unknown, gap=np.append(gaps, corners[[0, -1]])[:, None]) @ weights
    mean = float(density @ p[:-2] / density.sum())
    return Printed(mean, float(p[-1]), float(p[-2]))
