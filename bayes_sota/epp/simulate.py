r"""Tournaments drawn at random: from given skills, and from the rounds of a fit.

Simulated scores are :math:`\beta_i + e_{ir}`; with standard Gumbel e each round is one
Plackett–Luce ranking, whose pairs follow the Bradley–Terry model exactly. The bootstrap of
Properties 3.3 and 3.6 draws whole clusters of rounds (or of listed matches) with replacement and
estimates everything again; a resample that no finite skills explain gets half a round of ties, and
how many did is reported. ``tests/epp/test_simulate.py`` compares with win probabilities and with
the sandwich.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp

_PENALTY = 0.5
ScoreLaw = Literal["gumbel", "normal", "student", "reversed-gumbel"]
_LOGISTIC_SD = np.pi / np.sqrt(3)  # of a difference of two Gumbel scores


def simulate_tournament(
    skills: ArrayLike,
    n_rounds: int,
    *,
    law: ScoreLaw = "gumbel",
    overlap: float = 0.0,
    step: float | None = None,
    missing: float = 0.0,
    players: Sequence[str] | None = None,
    tournament: str = "simulated",
    random_seed: Seed = None,
) -> ScoreTable:
    r"""Draw the scores of a tournament.

    Parameters
    ----------
    skills : array-like, shape (m,) or (n_rounds, m)
        On the logit scale: differences are log odds of winning a round.
    n_rounds : int
    law : {"gumbel", "normal", "student", "reversed-gumbel"}
        Of the scores about the skills; the others have the spread of a Gumbel law (Student: 4
        degrees of freedom).
    overlap : float
        Correlation of a player's deviations in different rounds, as overlapping training sets make.
    step : float, optional
        Scores are rounded to multiples of it, which makes ties.
    missing : float
        Share of scores left out at random; every player and round keeps at least one.
    players, tournament
        As in ``ScoreTable``.
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> table = simulate_tournament([1.0, 0.0, -1.0], 2000, random_seed=0)
    >>> wins = (table.scores[:, 0] > table.scores[:, 2]).mean()
    >>> abs(float(wins) - 0.881) < 0.02  # 1 / (1 + exp(-2))
    True
    """
    if law not in get_args(ScoreLaw):
        raise InputError(f"law must be one of {', '.join(get_args(ScoreLaw))}, got {law!r}")
    if not (0 <= overlap < 1 and 0 <= missing < 1):
        raise InputError(f"overlap and missing are shares below 1, got {overlap!r}, {missing!r}")
    rng = generator_of(random_seed)
    mean = np.broadcast_to(np.asarray(skills, np.float64), (n_rounds, np.shape(skills)[-1]))
    own = _deviations(rng, law, mean.shape)
    if overlap:
        shared = _deviations(rng, law, mean.shape[1:])
        own = np.sqrt(1 - overlap) * own + np.sqrt(overlap) * shared
    scores = mean + own
    if step is not None:
        scores = np.round(scores / step) * step
    if missing:
        scores = _with_gaps(rng, scores, missing)
    return ScoreTable(scores, players=players, tournament=tournament, scheme="model/cv")


def _deviations(rng: np.random.Generator, law: ScoreLaw, shape: tuple[int, ...]) -> FloatArray:
    if law == "normal":
        return np.asarray(rng.standard_normal(shape) * _LOGISTIC_SD / np.sqrt(2))
    if law == "student":
        return np.asarray(rng.standard_t(4, shape) * _LOGISTIC_SD / 2)
    return rng.gumbel(size=shape) * (-1 if law == "reversed-gumbel" else 1)


def _with_gaps(rng: np.random.Generator, scores: FloatArray, missing: float) -> FloatArray:
    gaps = rng.random(scores.shape) < missing
    rounds, players = scores.shape
    gaps[rng.integers(rounds, size=players), np.arange(players)] = False
    gaps[np.arange(rounds), rng.integers(players, size=rounds)] = False
    return np.where(gaps, np.nan, scores)


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

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        """Percentile interval, (m, 2)."""
        return np.nanquantile(self.epp, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T


@one_thread()
def bootstrap_epp(
    fit: BradleyTerryFit, repetitions: int = 1000, *, random_seed: Seed = 0
) -> EppBootstrap:
    """Estimate the skills again from resampled clusters of rounds.

    Parameters
    ----------
    fit : BradleyTerryFit
    repetitions : int
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> fit = fit_epp(simulate_tournament([0.5, 0.0, -0.5], 40, random_seed=0))
    >>> found = bootstrap_epp(fit, 200)
    >>> found.se.round(2).tolist(), fit.se.round(2).tolist()
    ([0.18, 0.16, 0.2], [0.18, 0.16, 0.2])
    """
    if repetitions < 2:
        raise InputError(f"the bootstrap needs at least 2 repetitions, got {repetitions}")
    rng = generator_of(random_seed)
    kind = "same-round" if fit.kind == "listed" else fit.kind
    found = np.full((repetitions, len(fit.players)), np.nan)
    infinite = 0
    for row in found:
        data, players = _resampled(fit.data, rng)
        try:
            again = fit_epp(data, kind, penalty=fit.penalty)
        except InfiniteEstimateError:
            infinite += 1
            again = fit_epp(data, kind, penalty=_PENALTY)
        except InputError:  # a resample of ties only
            infinite += 1
            row[players] = 0.0
            continue
        row[players] = again.epp
    found = fit.epp + np.sqrt(fit.overlap) * (found - fit.epp)
    return EppBootstrap(fit.players, found, infinite)


def _resampled(
    data: ScoreTable | Matches, rng: np.random.Generator
) -> tuple[ScoreTable | Matches, np.ndarray]:
    """Clusters drawn with replacement, and the players who are in one."""
    number = data.n_clusters
    order = np.argsort(data.clusters, kind="stable")
    starts = np.searchsorted(data.clusters[order], np.arange(number + 1))
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
