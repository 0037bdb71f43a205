r"""What each round contributes to the estimating equations of the Bradley–Terry model.

Matches of one round share its scores, so the likelihood of independent matches is wrong about its
own precision. Round r adds

.. math:: u_{ri} = \sum_{j \in r} (y_{ij}^r - P_{ij})

(wins in the round beyond the expected ones) for same-round matches. All-rounds matches are a
U-statistic of the rounds, whose projection on round r is

.. math:: \psi_{ri} = \sum_{j, s} (y_{ir, js} - P_{ij}) + \sum_{j \in r, s} (y_{is, jr} - P_{ij})

(what the round's score of i wins against everybody, and what all scores of i win against the
round). ``tests/epp/test_round_scores.py`` adds up the matches one by one.
"""

import numpy as np

from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.match_counts import MatchKind, ranks_of_rounds

__all__ = ["cluster_scores"]


def cluster_scores(
    data: ScoreTable | Matches, kind: MatchKind, win_probabilities: FloatArray
) -> FloatArray:
    """Contribution of each cluster of rounds or matches, (n_clusters, n_players).

    Parameters
    ----------
    data : ScoreTable or Matches
        Rounds of one group, or matches of one cluster, are added up.
    kind : {"same-round", "all-rounds", "listed"}
    win_probabilities : ndarray, shape (m, m)
        P(row beats column) at the estimate, 1/2 on the diagonal.
    """
    if isinstance(data, Matches):
        return _of_matches(data, win_probabilities)
    rounds = _of_same_round if kind == "same-round" else _of_all_rounds
    values = rounds(data, win_probabilities)
    summed = np.zeros((data.n_clusters, data.n_players))
    np.add.at(summed, data.clusters, values)
    return summed


def _of_same_round(table: ScoreTable, probabilities: FloatArray) -> FloatArray:
    present = table.present
    wins = np.stack([_wins_of_ranks(ranks) for ranks in ranks_of_rounds(table)])
    if present.all():
        return np.asarray(wins - (probabilities.sum(axis=1) - 0.5))
    expected = present.astype(np.float64) @ probabilities.T - 0.5
    return np.where(present, wins - expected, 0.0)


def _wins_of_ranks(ranks: np.ndarray) -> FloatArray:
    """Others of the round below, ties as half; 0 for who is absent."""
    here = ranks >= 0
    level = np.bincount(ranks[here])
    below = np.cumsum(level) - level
    return np.where(here, (below + (level - 1) / 2)[ranks], 0.0)


def _of_all_rounds(table: ScoreTable, probabilities: FloatArray) -> FloatArray:
    present, scores = table.present, table.oriented
    players = [np.sort(column[here]) for column, here in zip(scores.T, present.T, strict=True)]
    own = np.column_stack([_below(*pair) for pair in zip(scores.T, players, strict=True)])
    everybody = _below(scores, np.sort(scores[present])) - own
    few_rounds = table.n_rounds < table.n_players
    against = _against_rounds(scores) if few_rounds else _against_scores(scores)
    counts = present.sum(axis=0).astype(np.float64)
    between = probabilities - np.diag(np.diagonal(probabilities))
    expected_first = between @ counts
    expected_second = counts * (present.astype(np.float64) @ between.T)
    return np.asarray(
        np.where(present, everybody - expected_first, 0.0) + against - expected_second
    )


def _against_rounds(scores: FloatArray) -> FloatArray:
    """Wins of all scores of each player against the others' of each round, (R, m), by rounds."""
    present, against = ~np.isnan(scores), np.zeros(scores.shape)
    for row, here, found in zip(scores, present, against, strict=True):
        below = _below(scores, np.sort(row[here])) - ((scores > row) + 0.5 * (scores == row))
        found[:] = np.where(present, below, 0.0).sum(axis=0)
    return against


def _against_scores(scores: FloatArray) -> FloatArray:
    """The same by players, along the pooled order: what is above each score of the others."""
    rounds, owners = np.nonzero(~np.isnan(scores))
    values = scores[rounds, owners]
    order = np.argsort(values)
    rounds, owners = rounds[order], owners[order]
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    ends = np.append(starts[1:], values.size)
    against = np.empty(scores.shape)
    for j in range(scores.shape[1]):
        own = owners == j
        passed = np.concatenate([[0], np.cumsum(own)])
        below = np.repeat((passed[starts] + passed[ends]) / 2, ends - starts)
        above = np.where(own, 0.0, passed[-1] - below)
        against[:, j] = np.bincount(rounds, weights=above, minlength=len(scores))
    return against


def _below(scores: FloatArray, ordered: FloatArray) -> FloatArray:
    """Scores of a round below each score, ties as half."""
    left = np.searchsorted(ordered, scores, side="left")
    right = np.searchsorted(ordered, scores, side="right")
    return np.asarray((left + right) / 2)


def _of_matches(matches: Matches, probabilities: FloatArray) -> FloatArray:
    surprise = matches.outcomes - probabilities[matches.first, matches.second]
    summed = np.zeros((matches.n_clusters, matches.n_players))
    np.add.at(summed, (matches.clusters, matches.first), surprise)
    np.add.at(summed, (matches.clusters, matches.second), -surprise)
    return summed
