r"""Posterior of the four cells (both right, A alone, B alone, none) behind two accuracies.

A table x of counts has the likelihood :math:`\prod_c p_c^{x_c}` and the posterior
:math:`Dir(x + \alpha)`. Where the table is one of several with weights w, as under a prior of the
congruence, the posterior is the mixture of these, that is the prior :math:`Dir(\alpha)` times

.. math:: L(p) = P(x_A, x_B) \sum_x \frac{w_x}{P(x)} P(x \mid p)

with P(x) the probability of a table beforehand. Under the Dirichlet prior alone
:math:`w_x \propto P(x)`, and L is the sum of :math:`P(x \mid p)` over all tables with these
margins: a noncentral hypergeometric sum, of which only terms near the mode count.
``tests/claims/test_cells.py`` compares with sums over all tables, with the density of the mixture
and with PyMC.
"""

import numpy as np
from scipy.special import gammaln, logsumexp

from bayes_sota.claims.accuracies import Alpha, checked_claim, table_weights, tables_of
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
    alpha: Alpha = 1.0,
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
    a, b, n, cells = checked_claim(accuracy_a, accuracy_b, n_test, alpha)
    both, weights = tables_of(a, b, n, cells, congruence)
    x11 = both[rng.choice(len(both), size=draws, p=weights)]
    counts = np.column_stack([x11, a * n - x11, b * n - x11, n - a * n - b * n + x11])
    gammas = rng.standard_gamma(np.maximum(counts, 0.0) + cells)
    return gammas / gammas.sum(axis=1, keepdims=True)


def log_likelihood_of_cells(
    cells: FloatArray,
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: Congruence = None,
    *,
    alpha: Alpha = 1.0,
) -> FloatArray:
    """Log probability of two reported accuracies given the four cells, (draws,).

    Parameters
    ----------
    cells : ndarray, shape (draws, 4)
    accuracy_a, accuracy_b, n_test, congruence, alpha
        As in ``false_claim_probability``, one claim. With a known congruence it is the probability
        of the table, with a prior of it the likelihood L at the top of this file.

    Examples
    --------
    >>> log_likelihood_of_cells(np.array([[0.4, 0.3, 0.2, 0.1]]), 0.5, 0.5, 2).round(3).tolist()
    [-1.609]
    """
    a, b, n, prior = checked_claim(accuracy_a, accuracy_b, n_test, alpha)
    log_p = np.log(np.maximum(cells, _LEAST))
    x_a, x_b, size = float(a * n), float(b * n), float(n)
    if congruence is None:
        return _log_sum_of_tables(log_p, x_a, x_b, size)
    both, weights = tables_of(a, b, n, prior, congruence)
    both, weights = both[weights > 0], weights[weights > 0]
    tables = np.maximum([both, x_a - both, x_b - both, size - x_a - x_b + both], 0.0)
    log_ways = gammaln(size + 1) - gammaln(tables + 1).sum(axis=0)
    log_probability = log_p @ tables + log_ways
    if len(both) == 1:
        return log_probability[:, 0]
    log_beforehand = log_ways + gammaln(tables + prior[:, None]).sum(axis=0)
    log_evidence = gammaln(size + 1) + logsumexp(table_weights(x_a, x_b, size, prior)[1])
    return log_evidence + logsumexp(log_probability + np.log(weights) - log_beforehand, axis=1)


def _log_sum_of_tables(log_p: FloatArray, x_a: float, x_b: float, n: float) -> FloatArray:
    """Log of the sum over all tables with these margins, (draws,)."""
    both = table_weights(x_a, x_b, n, np.ones(4))[0]  # from the largest down
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


def log_prior_of_cells(cells: FloatArray, alpha: Alpha = 1.0) -> FloatArray:
    """Log density of the Dirichlet prior, (draws,).

    Examples
    --------
    >>> log_prior_of_cells(np.full((1, 4), 0.25)).round(3).tolist()
    [1.792]
    """
    prior = np.broadcast_to(np.asarray(alpha, np.float64), (4,))
    log_p = np.log(np.maximum(cells, _LEAST))
    return gammaln(prior.sum()) - gammaln(prior).sum() + log_p @ (prior - 1)
