r"""Skills of resampled rounds: the non-parametric bootstrap of Properties 3.3 and 3.6.

Whole clusters of rounds (or of listed matches) are drawn with replacement and everything is
estimated again. A resample that no finite skills explain gets half a round of ties; how many did
is reported. ``tests/epp/test_bootstrap.py`` compares with the sandwich.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp

_PENALTY = 0.5


@dataclass(frozen=True, eq=False)
class EppBootstrap:
    """Skills of resampled tournaments.

    Attributes
    ----------
    players : tuple of str
    epp : ndarray, shape (B, m)
        Mean zero; NaN where a player is in no drawn round. Overlapping splits
        (``fit.test_fraction``) widen their deviations from the estimate.
    n_infinite : int
        Resamples that needed a penalty, or were ties only.
    """

    players: tuple[str, ...]
    epp: FloatArray
    n_infinite: int

    @property
    def se(self) -> FloatArray:
        """Standard deviation over the resamples, (m,)."""
        return np.asarray(np.nanstd(self.epp, axis=0, ddof=1))

    def interval(self, prob: float = 0.95) -> FloatArray:
        """Percentile interval, (m, 2)."""
        return np.nanquantile(self.epp, [(1 - prob) / 2, (1 + prob) / 2], axis=0).T


@one_thread()
def bootstrap_epp(
    fit: BradleyTerryFit,
    repetitions: int = 1000,
    *,
    random_seed: Seed = 0,
) -> EppBootstrap:
    """Estimate the skills again from resampled clusters of rounds.

    Parameters
    ----------
    fit : BradleyTerryFit
    repetitions : int
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([0.5, 0.0, -0.5], 40, random_seed=0))
    >>> found = bootstrap_epp(fit, 200)
    >>> found.se.round(2).tolist(), fit.se.round(2).tolist()
    ([0.18, 0.16, 0.2], [0.18, 0.16, 0.2])
    """
    if repetitions < 2:
        raise InputError(f"the bootstrap needs at least 2 repetitions, got {repetitions}")
    rng = generator_of(random_seed)
    found = np.full((repetitions, len(fit.players)), np.nan)
    infinite = 0
    for row in found:
        data, players = _resampled(fit.data, rng)
        try:
            again = fit_epp(data, _kind(fit), penalty=fit.penalty)
        except InfiniteEstimateError:
            infinite += 1
            again = fit_epp(data, _kind(fit), penalty=_PENALTY)
        except InputError:  # a resample of ties only
            infinite += 1
            row[players] = 0.0
            continue
        row[players] = again.epp
    found = fit.epp + np.sqrt(fit.overlap) * (found - fit.epp)
    return EppBootstrap(fit.players, found, infinite)


def _kind(fit: BradleyTerryFit):  # type: ignore[no-untyped-def]
    return "same-round" if fit.kind == "listed" else fit.kind


def _resampled(
    data: ScoreTable | Matches, rng: np.random.Generator
) -> tuple[ScoreTable | Matches, np.ndarray]:
    """Clusters drawn with replacement, and the players who are in one."""
    clusters = data.clusters
    number = data.n_clusters
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(number + 1))
    drawn = rng.integers(number, size=number)
    chosen = np.concatenate([order[starts[k] : starts[k + 1]] for k in drawn])
    if isinstance(data, ScoreTable):
        scores = data.oriented[chosen]
        players = np.flatnonzero(~np.isnan(scores).all(axis=0))
        return ScoreTable(scores[:, players]), players
    first, second = data.first[chosen], data.second[chosen]
    players = np.unique(np.concatenate([first, second]))
    matches = Matches(
        np.searchsorted(players, first),
        np.searchsorted(players, second),
        data.outcomes[chosen],
        players=[data.players[i] for i in players],
    )
    return matches, players
