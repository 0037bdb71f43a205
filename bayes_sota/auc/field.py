r"""Law of the best AUC estimate of any field, by normal scores (``auc_scores``), in milliseconds.

Classifiers of fixed AUCs, or with AUCs drawn from a distribution, independent or correlated:

.. math:: P(\max_j \hat A_j \le x) = \int \prod_j \Phi\Big(
          \frac{g(x; A_j) - \rho_j z}{\sqrt{1 - \rho_j^2}}\Big) \varphi(z)\, dz,
          \quad \text{or } \int \Big(\int \Phi(\cdot)\, dP(A)\Big)^m \varphi(z)\, dz

``rho_j`` is the correlation of estimates that follows from that of the scores
(``auc_estimate_correlation``). Exact for independent classifiers.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.auc.moments import Correlation, auc_std
from bayes_sota.auc.nodes import condensed
from bayes_sota.auc.scores import AucScores, auc_estimate_correlation
from bayes_sota.core.skills import SkillDistribution
from bayes_sota.core.types import FloatArray

__all__ = ["AucField", "distribution_nodes"]

_LEVELS = 800
_REACH = 9.0  # standard errors around the best AUC where laws are tabulated
_BELOW = 18.0  # standard errors below the best from where nobody becomes the maximum
_SHIFTS = np.linspace(-6.0, 6.0, 49)
_PANEL, _PER_PANEL = 1.5, 8  # standard errors, and Gauss-Legendre nodes


@dataclass(frozen=True, eq=False)
class AucField:
    """Test set and correlation, from which the best of any field follows.

    Attributes
    ----------
    scores : AucScores
    correlation : float or (float, float)
        rho of each classifier's scores with a reference score; of both classes, or of each.
    """

    scores: AucScores
    correlation: Correlation

    @classmethod
    def of(
        cls,
        highest: float,
        n_positive: int,
        n_negative: int,
        correlation: Correlation,
        ratio: float,
    ) -> "AucField":
        """For fields whose best AUC is at most ``highest``."""
        lowest = max(highest - _BELOW * float(auc_std(highest, n_positive, n_negative, ratio)), 0.1)
        scores = AucScores.of(n_positive, n_negative, lowest, highest, ratio)
        return cls(scores, correlation)

    def fixed(self, aucs: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Levels and distribution function for classifiers with these AUCs, (L,) each."""
        error = float(self.scores.standard_error(aucs[-1]))
        nodes, weights = condensed(aucs, counts, error)
        levels = self._levels(float(aucs[-1]))
        given, shift_weights = self._given(levels, nodes)
        log_below = np.log(np.maximum(given, 1e-300)) @ weights
        return levels, np.exp(np.minimum(log_below, 0.0)).T @ shift_weights

    def random(
        self, nodes: FloatArray, weights: FloatArray, n_classifiers: int
    ) -> tuple[FloatArray, FloatArray]:
        """The same for classifiers whose AUC is ``nodes[i]`` with probability ``weights[i]``."""
        levels = self._levels(float(nodes[-1]))
        given, shift_weights = self._given(levels, nodes)
        missed = np.clip((1 - given) @ weights, 0.0, 1 - 2.0**-53)
        return levels, np.exp(n_classifiers * np.log1p(-missed)).T @ shift_weights

    def _levels(self, best: float) -> FloatArray:
        middle = float(self.scores.stabilized(best))
        low, high = self.scores.from_stabilized([middle - _REACH, middle + _REACH])
        return np.linspace(low, high, _LEVELS)

    def _given(self, levels: FloatArray, nodes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability of at most each level given the shift, (S, L, N), and weights (S,)."""
        from scipy.special import ndtr

        g = self.scores.normal_score(levels[:, None], nodes)
        if self.correlation in (0, (0, 0)):
            return np.asarray(ndtr(g)[None]), np.ones(1)
        sizes = (self.scores.n_positive, self.scores.n_negative)
        rho = auc_estimate_correlation(nodes, *sizes, self.correlation, self.scores.spread_ratio)
        own = np.sqrt(np.maximum(1 - rho**2, 1e-12))
        weights = np.exp(-0.5 * _SHIFTS**2)
        given = ndtr((g - rho * _SHIFTS[:, None, None]) / own)
        return np.asarray(given), weights / weights.sum()


def distribution_nodes(
    distribution: SkillDistribution, scores: AucScores
) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre nodes and probabilities of a distribution of AUCs, increasing."""
    low, high = distribution.axis_support()
    ends = scores.stabilized(distribution.axis_skill(np.array([low, high])))
    wide = (high - low) / distribution.axis_resolution()
    panels = int(np.ceil(max(wide, float(ends[1] - ends[0]) / _PANEL, 1.0)))
    x, w = np.polynomial.legendre.leggauss(_PER_PANEL)
    edges = np.linspace(low, high, panels + 1)
    half = np.diff(edges)[:, None] / 2
    u = (edges[:-1, None] + half * (x + 1)).ravel()
    weights = (half * w).ravel() * distribution.axis_density(u)
    return np.asarray(distribution.axis_skill(u)), np.asarray(weights / weights.sum())
