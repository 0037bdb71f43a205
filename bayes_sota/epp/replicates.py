"""Deviances of many tournaments drawn as if estimated skills were true.

Tournaments of one shape differ by who won only, so that ``solver.solve`` fits a block of them at
once. Those that leave some skills infinite are fitted one after another.
``tests/epp/test_replicates.py`` compares with fits of every tournament.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp import solver
from bayes_sota.epp.counts import MatchCounts, count_matches, count_scores, strong_parts
from bayes_sota.epp.fit import BradleyTerryFit

_BLOCK = 2**18  # numbers of a batch, which stay near the processor
Wins = NDArray[np.signedinteger]


def deviances_of_replicates(
    fit: BradleyTerryFit, rng: np.random.Generator, repetitions: int, *, keep_ties: bool = True
) -> Iterator[FloatArray]:
    """Deviances of simulated tournaments, some of them at a time.

    Each is fitted as the tournament was; in the limit of infinite skills, matches between strongly
    connected parts are explained perfectly.

    Parameters
    ----------
    fit : BradleyTerryFit
    rng : numpy.random.Generator
    repetitions : int
        Tournaments in all.
    keep_ties : bool
        Places that were tied are tied.
    """
    replicate = _of_scores if isinstance(fit.data, ScoreTable) else _of_matches
    draw = replicate(fit, rng, keep_ties)
    size = max(_BLOCK // (len(fit.players) * max(len(fit.players), fit.data.n_clusters)), 1)
    for begin in range(0, repetitions, size):
        yield _deviances(draw(min(size, repetitions - begin)), fit)


def _of_matches(
    fit: BradleyTerryFit, rng: np.random.Generator, keep_ties: bool
) -> Callable[[int], Wins]:
    """Doubled wins of so many tournaments of the same shape, (B, m, m).

    What is drawn follows the names of the players and what was observed, so that the order of a
    file's rows and columns does not matter.
    """
    data, names = fit.data, np.array(fit.players)
    assert isinstance(data, Matches)
    wins = fit.win_probabilities()[data.first, data.second]
    order = np.lexsort((data.outcomes, names[data.second], names[data.first]))

    def one() -> Wins:
        drawn = np.empty(data.n_matches)
        drawn[order] = rng.random(data.n_matches) < wins[order]
        outcomes = np.where((data.outcomes == 0.5) & keep_ties, 0.5, drawn)
        matches = Matches(data.first, data.second, outcomes, players=data.players)
        return count_matches(matches).doubled_wins

    return lambda size: np.stack([one() for _ in range(size)])


def _of_scores(
    fit: BradleyTerryFit, rng: np.random.Generator, keep_ties: bool
) -> Callable[[int], Wins]:
    """The same of rounds; tied as they were observed: in each round, or of all scores together."""
    data = fit.data
    assert isinstance(data, ScoreTable)
    columns = np.argsort(np.array(fit.players))
    rows, columns = np.ix_(np.lexsort(data.oriented[:, columns].T), columns)
    shape = (1, -1) if fit.kind == "all-rounds" else data.scores.shape
    observed = np.sort(data.oriented.reshape(shape), axis=1)
    tied = keep_ties and fit.counts.n_ties > 0

    def several(size: int) -> Wins:
        noise = np.empty((size, *data.scores.shape))
        noise[:, rows, columns] = rng.gumbel(size=noise.shape)
        scores = np.where(data.present, fit.epp + noise, np.nan)
        if tied:
            drawn = scores.reshape(size, *shape)
            np.put_along_axis(drawn, np.argsort(drawn, axis=2), observed[None], axis=2)
        return count_scores(scores, fit.kind).doubled_wins

    return several


def _deviances(doubled_wins: Wins, fit: BradleyTerryFit) -> FloatArray:
    """Deviances of tournaments, (B,)."""
    deviances = np.empty(len(doubled_wins))
    together = np.full(len(doubled_wins), len(doubled_wins) > 1)
    everybody = np.zeros(len(fit.players), np.intp)
    for place, wins in enumerate(doubled_wins):
        part = everybody if fit.penalty else strong_parts(wins)
        together[place] &= not part.any()
        if not together[place]:
            inner = (np.flatnonzero(part == k) for k in range(part.max() + 1))
            deviances[place] = sum(float(_deviance(wins, players, fit)) for players in inner)
    if together.any():
        deviances[together] = _deviance(doubled_wins[together], np.arange(len(everybody)), fit)
    return deviances


def _deviance(doubled_wins: Wins, players: NDArray[np.intp], fit: BradleyTerryFit) -> FloatArray:
    """Deviance of one tournament, or of each of many, among some of the players."""
    inner = np.ix_(players, players)
    counts = MatchCounts(doubled_wins[(..., *inner)], fit.counts.n_matches[inner], 0)
    totals, n_matches = counts.with_ties(fit.kind, fit.penalty)
    return solver.deviance(solver.solve(totals, n_matches, start=fit.epp[players]), counts)
