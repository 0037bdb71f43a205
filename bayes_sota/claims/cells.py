r"""Posterior of the four cells (both right, A alone, B alone, none) behind two accuracies.

A table x of counts has the likelihood :math:`\prod_c p_c^{x_c}` and the posterior
:math:`Dir(x + 1)`. Where the congruence is unknown the likelihood is the sum over all tables with
these margins: a noncentral hypergeometric sum, of which only terms near the mode count.
``tests/claims/test_cells.py`` compares with sums over all tables, with the density of the mixture
and with PyMC.
"""

import numpy as np
from scipy.special import gammaln, logsumexp

from bayes_sota.claims.accuracies import checked_claim, possible_tables, tables_of
from bayes_sota.claims.congruence import Congruence, congruence_of_odds_ratio
from bayes_sota.core.types import FloatArray

OUTCOMES = ("both", "only_a", "only_b", "none")
_LEAST = 1e-300  # of a cell: below it a draw is 0
_LARGEST_LOG_RATIO = 276.0
_STEPS = 130  # on either side of the mode
_PER_SD = 6  # steps in a standard deviation, where there are more tables than that


def draw_cells(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: Congruence = None,
    *,
    draws: int = 4000,
    rng: np.random.Generator,
) -> FloatArray:
    """Posterior draws of the four cells: both right, A alone, B alone, none; shape (draws, 4).

    Parameters are those of ``false_claim_probability``, with numbers only.

    Examples
    --------
    >>> cells = draw_cells(0.9, 0.88, 500, 0.85, draws=10_000, rng=np.random.default_rng(0))
    >>> cells.mean(axis=0).round(3).tolist()
    [0.845, 0.052, 0.032, 0.071]
    """
    a, b, n = checked_claim(accuracy_a, accuracy_b, n_test)
    both = tables_of(a, b, n, congruence)
    x11 = both[rng.choice(len(both), size=draws, p=np.full(len(both), 1 / len(both)))]
    counts = np.column_stack([x11, a * n - x11, b * n - x11, n - a * n - b * n + x11])
    gammas = rng.standard_gamma(np.maximum(counts, 0.0) + 1)
    return gammas / gammas.sum(axis=1, keepdims=True)


def log_likelihood_of_cells(
    cells: FloatArray,
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: Congruence = None,
) -> FloatArray:
    """Log probability of two reported accuracies given the four cells, (draws,).

    Parameters
    ----------
    cells : ndarray, shape (draws, 4)
    accuracy_a, accuracy_b, n_test, congruence
        As in ``false_claim_probability``, one claim. With a known congruence it is the probability
        of the table.

    Examples
    --------
    >>> log_likelihood_of_cells(np.array([[0.4, 0.3, 0.2, 0.1]]), 0.5, 0.5, 2).round(3).tolist()
    [-1.609]
    """
    a, b, n = checked_claim(accuracy_a, accuracy_b, n_test)
    log_p = np.log(np.maximum(cells, _LEAST))
    x_a, x_b, size = float(a * n), float(b * n), float(n)
    if congruence is None:
        return _log_sum_of_tables(log_p, x_a, x_b, size)
    both = float(tables_of(a, b, n, congruence)[0])
    table = np.maximum([both, x_a - both, x_b - both, size - x_a - x_b + both], 0.0)
    return log_p @ table + gammaln(size + 1) - gammaln(table + 1).sum()


def _log_sum_of_tables(log_p: FloatArray, x_a: float, x_b: float, n: float) -> FloatArray:
    """Log of the sum over all tables with these margins, (draws,)."""
    both = possible_tables(x_a, x_b, n)
    tables = np.maximum([both, x_a - both, x_b - both, n - x_a - x_b + both], 0.0)
    log_ways = gammaln(n + 1) - gammaln(tables + 1).sum(axis=0)
    psi = log_p @ [1.0, -1.0, -1.0, 1.0]
    ratio = np.exp(np.clip(psi, -_LARGEST_LOG_RATIO, _LARGEST_LOG_RATIO))
    mode = n * np.asarray(congruence_of_odds_ratio(x_a / n, x_b / n, ratio))
    near = np.maximum([mode, x_a - mode, x_b - mode, n - x_a - x_b + mode], _LEAST)
    stride = np.maximum(np.floor((1 / near).sum(axis=0) ** -0.5 / _PER_SD), 1)
    index = np.rint(both[0] - mode)[:, None] + stride[:, None] * np.arange(-_STEPS, _STEPS + 1)
    inside = (index >= 0) & (index < len(both))
    index = np.clip(index, 0, len(both) - 1).astype(np.int64)
    terms = np.where(inside, log_ways[index] + psi[:, None] * both[index], -np.inf)
    alone = log_p @ [0.0, x_a, x_b, n - x_a - x_b]
    return alone + np.log(stride) + logsumexp(terms, axis=1)
