"""Skills estimated again from resampled clusters of rounds: another route to their errors.

A resample that no finite skills explain gets half a round of ties, and how many did is counted.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import Compared
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp

_PENALTY = 0.5


@dataclass(frozen=True, eq=False)
class EppBootstrap:
    """Skills of resampled tournaments.

    Attributes
    ----------
    epp : ndarray, shape (B, m)
        Mean zero; NaN where a player is in no drawn round. Overlapping splits
        (``fit.test_fraction``) widen their deviations from the estimate.
    n_infinite : int
        Resamples that needed a penalty, or were ties only.
    """

    epp: FloatArray
    n_infinite: int

    @property
    def se(self) -> FloatArray:
        """Standard deviation over the resamples, (m,)."""
        return np.nanstd(self.epp, axis=0, ddof=1)

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        """Percentile interval, (m, 2)."""
        return np.nanquantile(self.epp, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T


def bootstrap_epp(
    fit: BradleyTerryFit, repetitions: int = 1000, *, random_seed: int = 0
) -> EppBootstrap:
    """Estimate the skills again from resampled clusters of rounds."""
    rng, number = np.random.default_rng(random_seed), fit.data.n_clusters
    skills = np.full((repetitions, len(fit.players)), np.nan)
    infinite = 0
    kind: Compared = "same-round" if fit.kind == "listed" else fit.kind
    for row in skills:
        data, players = _chosen(fit.data, rng.integers(number, size=number))
        again = partial(fit_epp, data, kind, test_fraction=fit.test_fraction)
        try:
            row[players] = again(penalty=fit.penalty).epp
        except InfiniteEstimateError:
            row[players], infinite = again(penalty=_PENALTY).epp, infinite + 1
        except InputError:  # ties only
            row[players], infinite = 0.0, infinite + 1
    skills = fit.epp + np.sqrt(fit.overlap) * (skills - fit.epp)
    return EppBootstrap(skills, infinite)


def _chosen(
    data: ScoreTable | Matches, drawn: NDArray[np.intp]
) -> tuple[ScoreTable | Matches, NDArray[np.intp]]:
    """Clusters, and the players who are in one."""
    order = np.argsort(data.clusters, kind="stable")
    starts = np.searchsorted(data.clusters[order], np.arange(data.n_clusters + 1))
    chosen = np.concatenate([order[starts[k] : starts[k + 1]] for k in drawn])
    if isinstance(data, ScoreTable):
        scores = data.oriented[chosen]
        players = np.flatnonzero(~np.isnan(scores).all(axis=0))
        groups = None if data.groups is None else [data.groups[r] for r in chosen]
        return ScoreTable(scores[:, players], groups=groups), players
    first, second = data.first[chosen], data.second[chosen]
    players = np.unique(np.concatenate([first, second]))
    matches = Matches(
        np.searchsorted(players, first),
        np.searchsorted(players, second),
        data.outcomes[chosen],
        players=[data.players[i] for i in players],
        groups=[data.groups[k] for k in chosen] if data.groups else None,
    )
    return matches, players
