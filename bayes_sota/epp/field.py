r"""Tournaments with all their players, as a model observes them, and matches counted by pairs.

A tournament is rounds of ranks or listed matches. A *unit* is what leaving one out leaves out: a
round, a cluster of matches, or a match; a *setting* is a round or tournament with skills of its
own. The deviance of counts of matches against probabilities p of the outcomes o is

.. math:: D = 2 \sum_{\text{pairs}} \sum_o k_o (\log \hat p_o - \log p_o)

with :math:`\hat p` the shares of each pair in a tournament. ``tests/epp/test_sample.py``
compares with counting and with sums match by match.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import xlogy

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import ABSENT, ranks_of_rounds
from bayes_sota.epp.likelihoods import (
    MatchRows,
    count_cells,
    rows_of_matches,
    rows_of_rounds,
)


@dataclass(frozen=True, eq=False)
class Field:
    """Tournaments with all their players, as a model observes them.

    Attributes
    ----------
    players, tournaments : tuple of str
    rounds : tuple of str or None
    ranks : ndarray of int or None, shape (n_rounds, n_players)
        Of scores; None for listed matches.
    listed : MatchRows or None
    tournament : ndarray of int
        Of each round, or of each cluster of listed matches.
    ranked : bool
        Whether rounds are rankings.
    by_round : bool
        Whether skills differ from round to round.
    """

    players: tuple[str, ...]
    tournaments: tuple[str, ...]
    rounds: tuple[str, ...] | None
    ranks: NDArray[np.signedinteger] | None
    listed: MatchRows | None
    tournament: NDArray[np.intp]
    ranked: bool
    by_round: bool

    @cached_property
    def rows(self) -> MatchRows:
        """Matches one by one."""
        if self.ranks is None:
            assert self.listed is not None
            return self.listed
        return rows_of_rounds(self.ranks)

    @property
    def unit(self) -> str:
        """Dimension of what leaving one out leaves out."""
        if self.rounds is not None:
            return "round"
        return "cluster" if self.tournament.size < self.rows.unit.size else "match"

    @property
    def setting(self) -> NDArray[np.intp]:
        """Setting of each round or cluster: those of one setting have the same skills."""
        if self.by_round:
            return np.arange(len(self.tournament))
        return self.tournament  # all zero where there is one only

    @property
    def tournament_of_setting(self) -> NDArray[np.intp]:
        """Tournament of each setting."""
        tournament = np.zeros(int(self.setting.max()) + 1, np.intp)
        tournament[self.setting] = self.tournament
        return tournament

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Pairs of players in settings, and the cell of each match (``MatchRows.pairs``)."""
        return self.rows.pairs(self.setting[self.rows.unit])

    @cached_property
    def cells_of_units(self) -> csr_array:
        """Matches of each unit that ended in each cell, (units, 3 pairs)."""
        pairs, cells = self.pairs
        shape = (self.tournament.size, 3 * len(pairs))
        return csr_array((np.ones(cells.size), (self.rows.unit, cells)), shape=shape)

    def counts(self, ranks: NDArray[np.signedinteger] | None = None) -> FloatArray:
        """Matches won, tied and lost of each pair, (pairs, 3): observed, or of other ranks."""
        pairs, cells = self.pairs
        if ranks is not None:
            rows = self.rows  # of rounds: first players are listed before the second ones
            gap = ranks[rows.unit, rows.first] - ranks[rows.unit, rows.second]
            cells = cells - cells % 3 + 1 - np.sign(gap)
        return count_cells(cells, len(pairs))

    def deviance(self, counts: FloatArray, logs: FloatArray) -> float:
        """Twice what the log probabilities of the outcomes, (pairs, 3), miss of the counts."""
        groups, size = self._groups
        summed = np.stack([np.bincount(groups, column, size) for column in counts.T], axis=1)
        summed = summed @ [[1, 0], [0.5, 0.5], [0, 1]]
        terms = xlogy(summed, summed / summed.sum(axis=1, keepdims=True))
        return 2 * float(terms.sum() - np.sum(counts * logs))

    @cached_property
    def _groups(self) -> tuple[NDArray[np.intp], int]:
        """Pair of players in a tournament of each pair in a setting."""
        pairs = self.pairs[0]
        keys = np.column_stack([self.tournament_of_setting[pairs[:, 0]], pairs[:, 1:]])
        distinct, groups = np.unique(keys, axis=0, return_inverse=True)
        return groups.ravel(), len(distinct)

    def observes(self, other: "Field") -> bool:
        """Whether the other has the same players, tournaments and outcomes."""
        mine, others = (
            [one.players, one.tournaments, one.tournament, *vars(one.rows).values()]
            for one in (self, other)
        )
        return all(map(np.array_equal, mine, others))


def checked_tables(data: Any) -> list[Any]:
    """Tournaments of data: ScoreTables or Matches under different names."""
    single = isinstance(data, (ScoreTable, Matches)) or not isinstance(data, Iterable)
    tables = [data] if single else list(data)
    kinds = {type(table) for table in tables}
    if kinds not in ({ScoreTable}, {Matches}):
        names = ", ".join(sorted(kind.__name__ for kind in kinds)) or "nothing"
        raise InputError(f"data are ScoreTables or Matches, one per tournament; got {names}")
    checked_labels([table.tournament for table in tables], len(tables), "tournament")
    return tables


def join_tournaments(tables: list[Any], *, ranked: bool, by_round: bool = False) -> Field:
    """Field of the players of all tournaments, those of one name as one."""
    players = tuple(dict.fromkeys(name for table in tables for name in table.players))
    names = tuple(table.tournament for table in tables)
    if isinstance(tables[0], Matches):
        rows = rows_of_matches(tables, players)
        tournament = np.repeat(np.arange(len(tables)), [table.n_clusters for table in tables])
        return Field(players, names, None, None, rows, tournament, ranked, by_round)
    tournament = np.repeat(np.arange(len(tables)), [table.n_rounds for table in tables])
    ranks = np.full((tournament.size, len(players)), ABSENT, np.int64)
    for place, table in enumerate(tables):
        own = [players.index(name) for name in table.players]
        ranks[np.ix_(tournament == place, own)] = ranks_of_rounds(table.oriented)
    rounds = tuple(
        f"{table.tournament}: {label}" if len(tables) > 1 else label
        for table in tables
        for label in table.rounds
    )
    return Field(players, names, rounds, ranks, None, tournament, ranked, by_round)
