r"""Deviances of many tournaments drawn as if estimated skills were true, solved together.

Tournaments of one shape differ by who won only. Newton's steps of all of them are one batch: with
win probabilities P of tournament b and the matches N of each pair, every step solves

.. math:: L^b \, \delta^b = w^b - \sum_j N_{ij} P_{ij}^b, \qquad
   L_{ij}^b = -N_{ij} P_{ij}^b P_{ji}^b

for all b at once, where ``solver.solve`` does so for one. Tournaments of many players, which fill
the memory one by one, and those that leave some skills infinite are solved one after another.
``tests/epp/test_replicates.py`` compares with fits of every tournament.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp import solver
from bayes_sota.epp.counts import (
    MatchCounts,
    count_matches,
    count_scores,
    penalised_totals,
    strongly_connected,
    win_graph,
    wins_of_rounds,
)
from bayes_sota.epp.fit import BradleyTerryFit

_BLOCK = 2**18  # numbers of a batch, which stay near the processor
_TOGETHER = 100  # players up to which tournaments are solved together


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
) -> Callable[[int], NDArray[np.signedinteger]]:
    """Doubled wins of so many tournaments of the same shape, (B, m, m).

    What is drawn follows the names of the players and what was observed, so that the order of a
    file's rows and columns does not matter.
    """
    data, names = fit.data, np.array(fit.players)
    assert isinstance(data, Matches)
    first, second = fit.skills.odds[data.first], fit.skills.odds[data.second]
    wins = first / (first + second)
    order = np.lexsort((data.outcomes, names[data.second], names[data.first]))

    def one() -> NDArray[np.signedinteger]:
        drawn = np.empty(data.n_matches)
        drawn[order] = rng.random(data.n_matches) < wins[order]
        outcomes = np.where((data.outcomes == 0.5) & keep_ties, 0.5, drawn)
        matches = Matches(data.first, data.second, outcomes, players=data.players)
        return count_matches(matches).doubled_wins

    return lambda size: np.stack([one() for _ in range(size)])


def _of_scores(
    fit: BradleyTerryFit, rng: np.random.Generator, keep_ties: bool
) -> Callable[[int], NDArray[np.signedinteger]]:
    """The same of rounds; tied as they were observed: in each round, or of all scores together."""
    data = fit.data
    assert isinstance(data, ScoreTable)
    columns = np.argsort(np.array(fit.players))
    rows, columns = np.ix_(np.lexsort(data.oriented[:, columns].T), columns)
    shape = (1, -1) if fit.kind == "all-rounds" else data.scores.shape
    observed = np.sort(data.oriented.reshape(shape), axis=1)
    tied = keep_ties and fit.counts.n_ties > 0
    together = fit.kind == "same-round" and len(fit.players) <= _TOGETHER

    def several(size: int) -> NDArray[np.signedinteger]:
        noise = np.empty((size, *data.scores.shape))
        noise[:, rows, columns] = rng.gumbel(size=noise.shape)
        scores = np.where(data.present, fit.epp + noise, np.nan)
        if tied:
            drawn = scores.reshape(size, *shape)
            np.put_along_axis(drawn, np.argsort(drawn, axis=2), observed[None], axis=2)
        if not together:
            return np.stack([count_scores(one, fit.kind).doubled_wins for one in scores])
        wins = wins_of_rounds(scores)
        return wins - wins.swapaxes(1, 2) + _matches_of_pairs(fit).astype(wins.dtype)

    return several


def _matches_of_pairs(fit: BradleyTerryFit) -> FloatArray:
    """Matches of each pair of players, (m, m)."""
    found = np.array(np.broadcast_to(fit.counts.n_matches, (len(fit.players),) * 2), np.float64)
    np.fill_diagonal(found, 0)
    return found


def _deviances(doubled_wins: NDArray[np.signedinteger], fit: BradleyTerryFit) -> FloatArray:
    """Deviances of tournaments, (B,)."""
    n_matches = fit.counts.n_matches
    few = len(fit.players) <= _TOGETHER
    together = np.full(len(doubled_wins), few)
    if few and not fit.penalty:
        together = strongly_connected(doubled_wins > 0)
    found = np.empty(len(doubled_wins))
    for place in np.flatnonzero(~together):
        found[place] = _deviance(MatchCounts(doubled_wins[place], n_matches, 0), fit)
    found[together] = _deviances_together(doubled_wins[together], fit)
    return found


def _deviances_together(
    doubled_wins: NDArray[np.signedinteger], fit: BradleyTerryFit
) -> FloatArray:
    """The same of those whose skills are finite, in one batch."""
    n_matches = _matches_of_pairs(fit)
    counts = MatchCounts(doubled_wins, n_matches, 0)
    totals, solved = penalised_totals(counts, fit.kind, fit.penalty)
    skills = solver.solve_together(totals, np.asarray(solved), fit.epp)
    odds = np.exp(skills)
    wins = doubled_wins / 2
    logs = n_matches * np.log(odds[:, :, None] + odds[:, None, :])
    fitted = np.sum(counts.totals * skills, axis=1) - logs.sum(axis=(1, 2)) / 2
    share = wins / np.maximum(n_matches, 1)
    saturated = np.sum(wins * np.log(share, out=np.zeros_like(share), where=share > 0), axis=(1, 2))
    return np.asarray(2 * (saturated - fitted))


def _deviance(counts: MatchCounts, fit: BradleyTerryFit) -> float:
    """Deviance of one tournament, each strongly connected part on its own."""
    if fit.penalty:
        skills = solver.solve(*penalised_totals(counts, fit.kind, fit.penalty), start=fit.epp)
        return 2 * (solver.saturated_log_likelihood(counts) - solver.log_likelihood(skills, counts))
    found = 0.0
    for part in win_graph(counts).components:
        if part.size < 2:
            continue
        inner = counts if part.size == counts.n_players else _part(counts, part)
        totals, n_matches = penalised_totals(inner, fit.kind, 0.0)
        skills = solver.solve(totals, n_matches, start=fit.epp[part])
        found += solver.saturated_log_likelihood(inner) - solver.log_likelihood(skills, inner)
    return 2 * found


def _part(counts: MatchCounts, players: NDArray[np.intp]) -> MatchCounts:
    inner = np.ix_(players, players)
    n = counts.n_matches if isinstance(counts.n_matches, int) else counts.n_matches[inner]
    return MatchCounts(counts.doubled_wins[inner], n, 0)
