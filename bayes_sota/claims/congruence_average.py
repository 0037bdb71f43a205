r"""P(p1 <= p2) from the counts of a 2 x 2 table, and its average over tables with the same margins.

Given the margins alone the prior :math:`Dir(\alpha)` of the cells gives the number of items that
both got right the weights

.. math:: P(x_{11}) \propto \prod_c \frac{\Gamma(x_c + \alpha_c)}{x_c!}

which are equal for the flat prior. Neighbouring tables then differ by one term,

.. math:: I_{1/2}(a + 1, b + 1) = I_{1/2}(a, b) + \frac{2^{-(a+b)}}{B(a, b)} \frac{a - b}{2ab}

and thousands of tables are an integral. ``tests/claims/test_accuracies.py`` compares with sums over
all tables.
"""

import numpy as np

from bayes_sota.core.types import FloatArray

__all__ = ["at_most_half", "averaged", "possible_tables", "table_weights"]

_FEW = 64  # claims fewer than this are summed one by one, whatever their range
_SLACK = 1e-9  # of counts: reported accuracies are not whole
_MANY = 60_000  # claims from which on all cores share them
_LONG = 4096  # tables from which on their sum is an integral
_NODES = 128  # of a Gauss-Legendre rule for it


def at_most_half(x1: FloatArray, x2: FloatArray, cells: FloatArray) -> FloatArray:
    """P(p1 <= p2) of tables with ``x1`` and ``x2`` items that one alone got right."""
    from concurrent.futures import ThreadPoolExecutor
    from itertools import repeat

    from scipy.special import betainc

    first, second = np.broadcast_arrays(np.maximum(x1, 0) + cells[1], np.maximum(x2, 0) + cells[2])
    if first.size < _MANY:
        return np.asarray(betainc(first, second, 0.5))
    cuts = range(_MANY // 2, first.size, _MANY // 2)
    parts = np.split(first.ravel(), cuts), np.split(second.ravel(), cuts)
    with ThreadPoolExecutor() as threads:  # betainc runs without the interpreter's lock
        found = list(threads.map(betainc, *parts, repeat(0.5)))
    return np.concatenate(found).reshape(first.shape)


def averaged(x_a: FloatArray, x_b: FloatArray, n: FloatArray, cells: FloatArray) -> FloatArray:
    """Mean of P(p1 <= p2) over all tables with these margins, ``x_a >= x_b``."""
    shape = np.broadcast_shapes(x_a.shape, x_b.shape, n.shape)
    own, other, size = (np.broadcast_to(x, shape).ravel() for x in (x_a, x_b, n))
    if not np.all(cells == 1):
        rows = zip(own.tolist(), other.tolist(), size.tolist(), strict=True)
        return np.array([_summed(a, b, n, cells) for a, b, n in rows]).reshape(shape)
    count = _numbers(own, other, size)
    found = np.empty(count.shape)
    long = count >= _LONG
    if long.any():
        found[long] = _integrated(own[long], other[long], count[long])
    rest = np.flatnonzero(~long)
    if rest.size < _FEW:
        found[rest] = [_summed(own[i], other[i], size[i], cells) for i in rest]
    else:
        found[rest] = _stepped(own[rest], other[rest], count[rest])
    return found.reshape(shape)


def possible_tables(
    x_a: float, x_b: float, n: float, cells: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both may have right, and their probabilities."""
    both, log_weight = table_weights(x_a, x_b, n, cells)
    weights = np.exp(log_weight - log_weight.max())
    return both, np.asarray(weights / weights.sum())


def table_weights(
    x_a: float, x_b: float, n: float, cells: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Numbers of items that both may have right, and the logarithms of their weights."""
    from scipy.special import gammaln

    both = min(x_a, x_b) - np.arange(int(_numbers(*(np.asarray(x) for x in (x_a, x_b, n)))))
    table = np.maximum([both, x_a - both, x_b - both, n - x_a - x_b + both], 0.0)
    return np.asarray(both), np.asarray(
        np.sum(gammaln(table + cells[:, None]) - gammaln(table + 1), axis=0)
    )


def _numbers(x_a: FloatArray, x_b: FloatArray, n: FloatArray) -> FloatArray:
    """How many tables have these margins."""
    return np.floor(np.minimum(x_a, x_b) - np.maximum(0.0, x_a + x_b - n) + _SLACK) + 1


def _summed(x_a: float, x_b: float, n: float, cells: FloatArray) -> float:
    both, weights = possible_tables(x_a, x_b, n, cells)
    return float(weights @ at_most_half(x_a - both, x_b - both, cells))


def _stepped(x_a: FloatArray, x_b: FloatArray, count: FloatArray) -> FloatArray:
    """Flat prior, many claims: up from the largest congruence, one term per step."""
    from scipy.special import betainc, betaln

    a, b = x_a - x_b + 1, np.ones_like(x_b)
    value = betainc(a, b, 0.5)
    density = np.exp(-(a + b) * np.log(2) - betaln(a, b))
    total = value.copy()
    for step in range(1, int(count.max())):
        value = value + density * (a - b) / (2 * a * b)
        density = density * (a + b) * (a + b + 1) / (4 * a * b)
        a, b = a + 1, b + 1
        total += np.where(step < count, value, 0.0)
    return np.asarray(total / count)


def _integrated(x_a: FloatArray, x_b: FloatArray, count: FloatArray) -> FloatArray:
    """Flat prior, thousands of tables: the sum by the midpoint rule backwards, an integral.

    Over the root of the items that B alone got right, where the integrand is smooth.
    """
    x, w = np.polynomial.legendre.leggauss(_NODES)
    root = (x + 1) / 2
    total, none = np.zeros(count.shape), np.zeros(4)
    for node, weight in zip(root, w * root, strict=True):
        only_b = count * node**2 - 0.5
        # only_b may lie below 0: the prior's items are added here, and none there
        total += weight * at_most_half(x_a - x_b + only_b + 1, only_b + 1, none)
    return total
