r"""Estimated skills of one tournament and their covariance, clustered by round.

.. math:: C \Big[\frac{G}{G-1} \sum_r u_r u_r^T\Big] C, \qquad t_{G-1},

with C the inverse information of independent matches and u_r what round r contributes to the
estimating equations. The matrix allows for players with few rounds and for rounds that agree by
chance. ``tests/epp/test_fit.py`` compares with another route.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp import solver
from bayes_sota.epp.counts import MatchCounts, MatchKind
from bayes_sota.epp.rounds import cluster_scores, clustered_covariance

_ENOUGH_CLUSTERS = 3  # of two, a variance may be zero by chance


@dataclass(frozen=True, eq=False, repr=False)
class ClusteredEstimate:
    """Estimated skills of the players of one tournament.

    Attributes
    ----------
    data : ScoreTable or Matches
    kind : {"same-round", "all-rounds", "listed"}
        What was compared.
    counts : MatchCounts
        As observed.
    epp : ndarray, shape (m,)
        Skills on the logit scale, mean zero; a difference is a log odds (Property 3.1).
    connected : bool
        Whether the estimates would be finite without a penalty.
    penalty : float
        Rounds of ties added.
    test_fraction : float or None
    """

    data: ScoreTable | Matches
    kind: MatchKind
    counts: MatchCounts
    epp: FloatArray
    connected: bool
    penalty: float
    test_fraction: float | None

    @property
    def players(self) -> Sequence[str]:
        """Names."""
        return self.data.players

    @cached_property
    def covariance_model(self) -> FloatArray:
        """Covariance if all matches were independent, (m, m): far too small for rounds."""
        matches = self.counts.with_ties(self.kind, self.penalty)[1]
        return solver.model_covariance(self.epp, matches)

    @cached_property
    def cluster_scores(self) -> FloatArray | None:
        """Contribution of each cluster to the estimating equations, (G, m); None if independent."""
        if isinstance(self.data, Matches) and self.data.groups is None:
            return None
        return cluster_scores(self.data, self.kind, self.win_probabilities())

    @cached_property
    def influence(self) -> FloatArray | None:
        """Influence of each cluster of rounds on each skill, (G, m); None if independent."""
        return None if self.cluster_scores is None else self.cluster_scores @ self.covariance_model

    @cached_property
    def matches_by_cluster(self) -> FloatArray:
        """Matches of each player in each cluster, up to a factor, (G, m)."""
        data = self.data
        matches = np.zeros((data.n_clusters, len(self.players)))
        if isinstance(data, Matches):
            for players in (data.first, data.second):
                np.add.at(matches, (data.clusters, players), 1)
            return matches
        played = data.present.astype(np.float64)
        if self.kind == "same-round":  # a player alone in a round has no match
            played *= np.maximum(data.present.sum(axis=1, keepdims=True) - 1, 0)
        np.add.at(matches, data.clusters, played)
        return matches

    @cached_property
    def clusters_of_players(self) -> NDArray[np.intp]:
        """Clusters of rounds in which each player has matches, (m,)."""
        return np.asarray(np.sum(self.matches_by_cluster > 0, axis=0), np.intp)

    @property
    def overlap(self) -> float:
        r"""Factor by which overlapping training sets increase variances.

        :math:`1 + R q / (1 - q)` for R splits that test a share q of the data (Nadeau & Bengio
        2003, doi 10.1023/A:1024068626366); 1 for separate data.
        """
        return float(self.overlap_of(self.data.n_clusters))

    def overlap_of(self, rounds: Any) -> FloatArray:
        """The same for a player with this many rounds."""
        q = self.test_fraction or 0.0
        return 1 + np.asarray(rounds) * q / (1 - q)

    @cached_property
    def covariance(self) -> FloatArray:
        r"""Covariance of the skills, clustered by round, (m, m).

        The scores of a player with n clusters, which add up to zero, are divided by
        :math:`\sqrt{1 - 1/n}`; rounds that agree by chance leave no combination of skills less
        variance than a share of that of independent matches (``clustered_covariance``): half of 3
        / (m + 1), which independent matches have against the clustered ones of equal players; all
        of it with two clusters, or where only a penalty makes estimates finite. A player of one
        cluster has an infinite variance.
        """
        if self.cluster_scores is None:
            return self.covariance_model
        clusters = self.clusters_of_players
        few = self.overlap_of(clusters) * clusters / np.maximum(clusters - 1, 1)
        scores = self.cluster_scores * np.sqrt(few)
        may_not_vary = len(scores) < _ENOUGH_CLUSTERS or not self.connected
        least = 1.0 if may_not_vary else 1.5 / (len(self.players) + 1)
        covariance = clustered_covariance(scores, self.covariance_model, least)
        np.fill_diagonal(covariance, np.where(clusters > 1, np.diagonal(covariance), np.inf))
        return covariance

    @cached_property
    def inflation(self) -> float:
        r"""Factor by which clusters increase the variance of independent matches, at least 1.

        .. math:: c = \frac{1}{m - 1} \frac{G}{G - 1} \sum_g u_g^T C u_g

        the mean over all contrasts, times ``overlap``; about (m + 1) / 3 for the same-round matches
        of equal players.
        """
        if self.cluster_scores is None or self.influence is None:
            return self.overlap
        clusters, m = self.cluster_scores.shape
        trace = float(np.sum(self.cluster_scores * self.influence))
        return self.overlap * max(clusters / (clusters - 1) * trace / (m - 1), 1.0)

    @cached_property
    def se(self) -> FloatArray:
        """Standard error of each skill, clustered by round, (m,): root of the variance."""
        return np.sqrt(np.diagonal(self.covariance))

    @cached_property
    def se_model(self) -> FloatArray:
        """The same if all matches were independent, (m,)."""
        return np.sqrt(np.diagonal(self.covariance_model))

    @property
    def df(self) -> NDArray[np.float64]:
        r"""Degrees of freedom of each skill's t law, (m,).

        One less than the effective number of clusters :math:`(\sum_g n_g)^2 / \sum_g n_g^2`, n_g
        being the player's matches in each: all G where they have the same size.
        """
        if self.influence is None:
            return np.full(len(self.players), np.inf)
        played = self.matches_by_cluster
        squares = np.maximum(np.sum(played**2, axis=0), 1.0)
        return np.maximum(played.sum(axis=0) ** 2 / squares - 1, 0.0)

    def win_probabilities(self) -> FloatArray:
        """P(row beats column), 1/2 on the diagonal, (m, m)."""
        return solver.win_probabilities(self.epp)
