r"""Claims about a method of which the best of K tries is reported.

Tries (variants, seeds, settings) of equal skill, of which the best score is reported: what all
share is the luck of the items, to the extent that A and B share it: the correlation r of their
outcomes on one item. The own luck of the best of K is the largest of K, so that with a flat prior

- two accuracies have, given the common luck, board-conditional skills :math:`\psi` with

  .. math:: P(\psi_A \le \psi_B) \propto \int\!\!\int_{\psi_A \le \psi_B}
            \big[F(x_A \mid \psi_A)^K - F(x_A - 1 \mid \psi_A)^K\big]\, p(x_B \mid \psi_B)

  with the law of ``score_laws`` at the dispersion 1 - r, and r the phi coefficient that belongs to
  the congruence. What K tries add to the log odds of this law is added to those of the exact
  ``false_claim_probability``, which the law follows closely for one try, but for few items that
  tell A and B apart;
- two means of n cases have, given their standard deviations,

  .. math:: P(\mu_A \le \mu_B) = E_t\, \Phi\!\Big(\frac{t\, \sigma_A - (\hat\mu_A - \hat\mu_B)}
            {\sqrt{\sigma^2 - \sigma_A^2}}\Big), \quad
            \sigma_A^2 = \frac{(1 - r^+) s_A^2}{n}, \quad
            \sigma^2 = \frac{s_A^2 + s_B^2 - 2 r s_A s_B}{n}

  with t the largest of K standard normal variables, and both standard deviations a posteriori
  uncertain as in the t law.

Tries of one method are often more alike than A and B are, and then the correction is smaller; where
items differ in difficulty as a normal variable does, it is .21 instead of .25 for ten tries with
.95 against .90 on 100 items, .28 instead of .30 for five with .80 against .76 on 200. K = 1 is the
uncorrected claim. ``tests/claims/test_selection.py`` compares with simulated tries.
"""

import numpy as np
from scipy.special import chdtri, ndtr, ndtri

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.congruence import Congruence, congruence_at, congruence_bounds
from bayes_sota.claims.means import ReportedMeans, correlation_nodes
from bayes_sota.core.arguments import TRIES
from bayes_sota.core.priors import board_priors
from bayes_sota.core.skills import expit, logit
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.evidence import Evidence
from bayes_sota.leaderboard.from_scores import board_evidence

_LEAST_DISPERSION = 1e-3
_NODES = 64
_CONGRUENCES = 48  # nodes between the bounds of an unknown congruence


def best_try_probability(
    accuracy_a: float, accuracy_b: float, n_test: int, tries: float, congruence: Congruence = None
) -> float:
    """Probability that B is at least as good as A, the best of several equal tries.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence
        As in ``false_claim_probability``, one claim.
    tries : float
        Tries of A of which the best is reported, at least 1.

    Examples
    --------
    >>> [round(best_try_probability(0.90, 0.88, 500, k), 3) for k in (1, 10)]
    [0.093, 0.352]
    """
    TRIES.check(tries, "tries")
    single = float(false_claim_probability(accuracy_a, accuracy_b, n_test, congruence))
    counts = [round(x * n_test) / n_test for x in (accuracy_a, accuracy_b)]
    board = Leaderboard(counts, n_test=n_test, rounding="exact", percent=False)
    evidence = board_evidence(board, board_priors(None))
    a, b = np.asarray(accuracy_a, np.float64), np.asarray(accuracy_b, np.float64)
    dispersions = [(1 - _phi(a, b, p11), w) for p11, w in _congruences(a, b, congruence)]
    one, best = (
        float(logit(sum(w * not_below(evidence, d, k) for d, w in dispersions)))
        for k in (1.0, tries)
    )
    return float(expit(logit(single) + best - one)) if 0 < single < 1 else single


def best_try_probability_of_means(claim: ReportedMeans, tries: float) -> float:
    """Probability that B is at least as good as A, the best of several equal tries, for means.

    Parameters
    ----------
    claim : ReportedMeans
        Where only the standard deviation of the differences is known, half of their variance is
        taken to be A's own.
    tries : float
        Tries of A of which the best is reported, at least 1.

    Examples
    --------
    >>> claim = ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7)
    >>> [round(best_try_probability_of_means(claim, k), 3) for k in (1, 10)]
    [0.1, 0.401]
    """
    TRIES.check(tries, "tries")
    claim.p_false()  # refuses what no claim can be
    gap, n, known = claim.mean_a - claim.mean_b, claim.n_test, claim.sd_difference
    if known is not None:
        return _best_mean(gap, n, known**2 / 2, known**2, tries)
    first, second = claim.spreads
    p = 0.0
    for r, weight in correlation_nodes(claim.correlation, claim.correlation_range):
        own, both = max(float(r), 0.0), 2 * float(r) * first * second
        p += weight * _best_mean(gap, n, (1 - own) * first**2, first**2 + second**2 - both, tries)
    return p


def _congruences(
    a: FloatArray, b: FloatArray, congruence: Congruence
) -> list[tuple[FloatArray, float]]:
    """The known congruence, or nodes and weights of all that are possible."""
    if congruence is not None:
        return [(congruence_at(a, b, congruence), 1.0)]
    x, w = np.polynomial.legendre.leggauss(_CONGRUENCES)
    low, high = congruence_bounds(a, b)
    return list(zip(low + (high - low) * (1 + x) / 2, (w / 2).tolist(), strict=True))


def not_below(evidence: Evidence, dispersion: float, tries: float) -> float:
    """P(psi of the best score <= psi of the lowest) on a grid, flat prior.

    ``evidence`` is of two scores, ``dispersion`` the variance of a score given psi, relative to
    that of one score, and ``tries`` are of the best score.
    """
    dispersion = max(dispersion, _LEAST_DISPERSION)
    log_kernel = evidence.law.log_kernel(evidence.prepared, dispersion)
    rival, own = (np.exp(log_kernel[row] - log_kernel[row].max()) for row in (0, -1))
    if tries > 1:
        own = _of_largest(own, evidence, dispersion, tries)
    flat = np.gradient(evidence.psi)  # equal weight to equal lengths of skill
    p_own, p_rival = (x * flat / np.sum(x * flat) for x in (own, rival))
    return float(p_rival @ (np.cumsum(p_own) - p_own / 2))


def _of_largest(
    likelihood: FloatArray, evidence: Evidence, dispersion: float, tries: float
) -> FloatArray:
    """Likelihood of the largest of several scores with one skill, the best of two."""
    law, psi, value = evidence.law, evidence.psi, float(evidence.values[-1])
    below = 1 - law.reach(psi, value, dispersion)
    if law.spacing == 0:
        return likelihood * below ** (tries - 1)
    above = np.zeros_like(psi)  # nothing is above a perfect accuracy
    if value < law.unit:
        above = law.reach(psi, value + law.spacing, dispersion)
    return (1 - above) ** tries - below**tries


def _phi(a: FloatArray, b: FloatArray, p11: FloatArray) -> float:
    """Correlation of two methods' answers."""
    spread = float(np.sqrt(a * (1 - a) * b * (1 - b)))
    return float(p11 - a * b) / spread if spread > 0 else 0.0


def _best_mean(gap: float, n: int, own: float, total: float, tries: float) -> float:
    """P(A <= B) from variances of one case: A's own, and of the difference."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    levels, weights = (x + 1) / 2, w / 2
    scale = np.sqrt((n - 1) / chdtri(n - 1, levels))[:, None] / np.sqrt(n)
    largest = ndtri(levels ** (1 / tries))[None, :]
    rest = max(total - own, 0.0)
    if rest <= 1e-12 * total:
        made = (gap <= scale * np.sqrt(own) * largest).astype(float)
    else:
        made = ndtr((scale * np.sqrt(own) * largest - gap) / (scale * np.sqrt(rest)))
    return float(weights @ made @ weights)
