"""Draws of the skill of every entry of a board, with its rank and P(best).

Skill increases with psi whatever the shift: ranks, P(best) and who is tied with the leader do not
depend on it, while every interval of skill does. Entries that nothing tells apart have equal
numbers: their draws are pooled. ``tests/leaderboard/test_entry_skills.py`` compares with
quadrature.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.skills import Skills

_CELLS = 4_000_000  # numbers held beside the draws while they are summarised


@dataclass(frozen=True, eq=False)
class EntryDraws:
    """Draws of the skills of all entries, and what follows from them.

    Attributes
    ----------
    skill : ndarray of float32, shape (D, m)
        Skill (true accuracy) of each entry, in the order of ``board.scores``.
    p_best : ndarray, shape (m,)
        Probability to have the highest skill of all entries; sums to 1. Entries below the
        modelled part have 0.
    p_best_mcse : ndarray, shape (m,)
        Its Monte Carlo standard error; 0 of entries below the modelled part.
    alike : tuple of ndarray, each of shape (groups, s)
        Entries with the same posterior, s to a group: their draws are pooled in every summary.
        From scores alone these are the entries with equal scores; from answers every entry is on
        its own.
    """

    skill: NDArray[np.float32]
    p_best: FloatArray
    p_best_mcse: FloatArray
    alike: tuple[IntArray, ...]

    @cached_property
    def rank(self) -> NDArray[np.int32]:
        """Rank by skill in each draw, 1 for the highest, shape (D, m).

        Identical submissions have the same skill; they take their ranks in arbitrary order, which
        pooling makes a random one.
        """
        draws, m = self.skill.shape
        rank = np.empty((draws, m), np.int32)
        places = np.arange(1, m + 1, dtype=np.int32)[None, :]
        rows = max(1, _CELLS // m)
        for start in range(0, draws, rows):
            order = np.argsort(-self.skill[start : start + rows], axis=1)
            np.put_along_axis(rank[start : start + rows], order, places, axis=1)
        return rank

    def mean(self) -> FloatArray:
        """Posterior mean of each skill, shape (m,)."""
        pooled = self._pooled(self.skill, lambda x: x.mean(axis=0, dtype=float)[:, None])
        return pooled[0]

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        """Equal-tailed interval of each skill, shape (m, 2)."""
        tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
        return self._pooled(self.skill, lambda pooled: np.quantile(pooled, tails, axis=0).T).T

    def rank_interval(self, ci_prob: float = 0.95) -> IntArray:
        """Interval of each rank with at least this probability, shape (m, 2)."""
        tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]

        def quantiles(pooled: NDArray[Any]) -> Any:
            return np.quantile(pooled, tails, axis=0, method="inverted_cdf").T

        return self._pooled(self.rank, quantiles).T.astype(np.int64)

    def _pooled(self, draws: NDArray[Any], summary: Callable[[NDArray[Any]], Any]) -> FloatArray:
        """Summary of the draws of all entries that are alike, shape (numbers, m)."""
        columns = []
        for entries in self.alike:
            step = max(1, _CELLS // (len(draws) * entries.shape[1]))
            for start in range(0, len(entries), step):
                block = entries[start : start + step]
                pooled = np.swapaxes(draws[:, block], 1, 2).reshape(-1, len(block))
                columns.append((block, summary(pooled)))
        result = np.empty((columns[0][1].shape[1], draws.shape[1]))
        for block, values in columns:
            result[:, block] = values.T[:, :, None]
        return result


def entries_of(skills: Skills, rng: np.random.Generator) -> EntryDraws:
    """Draws of all entries from those of the classifiers behind them.

    Where more entries share a score than the field explains they are divided among as many
    classifiers as it does explain, and identical submissions share their draws. With several tries
    behind an entry its skill is that of the variant shown. Classifiers that are not listed have no
    part in it.
    """
    alike = skills.fit.evidence.alike
    best = alike[skills.entry_of[np.argmax(skills.theta, axis=1)]]  # what holds the best skill
    group, size = np.unique(alike[skills.entry_of]), np.bincount(alike)
    p_best, mcse = np.zeros((2, size.size))
    p_best[group] = np.bincount(best, minlength=size.size)[group] / best.size
    mcse[group] = skills.parameters.share_mcse(best[:, None] == group)
    each = (p_best / size)[alike], (mcse / size)[alike]
    return EntryDraws(skills.of_all(rng), *each, tuple(_groups(alike)))


def _groups(alike: IntArray) -> Iterator[IntArray]:
    """Entries with equal numbers: for each size s of a group an array (groups, s)."""
    _, index, copies = np.unique(alike, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable")
    first = np.concatenate([[0], np.cumsum(copies)])[:-1]
    for s in np.unique(copies):
        yield order[first[copies == s][:, None] + np.arange(s)]
