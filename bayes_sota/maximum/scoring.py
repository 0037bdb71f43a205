"""How the best score of a board comes about, for each metric: tables for its likelihood."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.field_draws import FreshTestSet, TestSet
from bayes_sota.maximum.normal_fields import NormalTestSet
from bayes_sota.maximum.normal_scores import GaussianScores, NormalScores
from bayes_sota.maximum.score_laws import auc_scores_of
from bayes_sota.maximum.survival_table import (
    SurvivalTable,
    normal_skill_nodes,
    normal_survival_table,
    skill_nodes,
    survival_table,
)

__all__ = [
    "MaximumScoring",
    "default_reference_skill",
    "maximum_scoring",
    "normal_scores_of",
    "score_bounds",
]

_MOST_PARTS = 12  # a coarse score is split into at most this many runs
_PART = 0.1  # standard errors of a run of scores
_EXACT = 1e-3  # a score in full precision stands for this share of its standard error


def default_reference_skill(board: Leaderboard) -> float:
    """The observed maximum, kept half an item away from 0 and 1: a fixed number."""
    half = 0.5 / (board.n_test or 10**6)
    return float(np.clip(board.maximum, half, 1 - half))


def normal_scores_of(board: Leaderboard, new_n_test: int | None = None) -> NormalScores:
    """Normal scores of AUCs, or of scores with a standard error; on another test set if given."""
    if board.metric == "auc":
        return auc_scores_of(board, new_n_test)
    assert board.standard_error is not None
    if new_n_test is None:
        return GaussianScores(board.standard_error)
    if not board.n_test:
        raise InputError("new_n_test needs n_test, the number of items behind standard_error")
    return GaussianScores(board.standard_error * float(np.sqrt(board.n_test / new_n_test)))


def score_bounds(board: Leaderboard) -> tuple[float, float]:
    """Lowest and highest score that prints as the best one."""
    if board.metric == "accuracy":
        low, high = board.counts
        return low / board.n_test, high / board.n_test
    least = 2 * _EXACT * float(normal_scores_of(board).standard_error(board.maximum))
    if board.n_negative is not None:
        assert board.n_positive is not None
        least = 1 / (board.n_positive * board.n_negative)
    return board.printed_interval(board.maximum, least)


class MaximumScoring(Protocol):
    """What ``BoardLikelihood`` needs to know of a metric."""

    @property
    def edges(self) -> NDArray[Any]:
        """Edges of the runs of counts or scores that print as the best one."""

    @property
    def log_odds_error(self) -> float:
        """Standard error of the best score on the scale of log odds."""

    def skills(self, correlations: FloatArray, refinement: float) -> FloatArray:
        """Skills between which the survival functions go from 0 to 1, (N,)."""

    def table(
        self, skills: FloatArray, correlation: float, tries: float, refinement: float
    ) -> SurvivalTable:
        """Survival functions at the edges."""

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """A fresh test set per draw."""


def maximum_scoring(board: Leaderboard, reference_skill: float | None = None) -> MaximumScoring:
    """By the board's metric."""
    if board.metric == "accuracy":
        given = default_reference_skill(board) if reference_skill is None else reference_skill
        return CountScoring(board, given)
    return NormalScoring(board)


@dataclass(frozen=True, eq=False)
class CountScoring:
    """Right answers out of n, classifiers tied together by a reference classifier."""

    board: Leaderboard
    reference_skill: float

    @cached_property
    def edges(self) -> NDArray[np.int64]:
        """Edges of the runs of counts, the first one below the lowest count."""
        low, high = self.board.counts
        parts = min(high - low + 1, _MOST_PARTS)
        return np.round(np.linspace(low - 1, high, parts + 1)).astype(np.int64)

    @property
    def log_odds_error(self) -> float:
        """Binomial."""
        p = self.reference_skill
        return float(1 / np.sqrt(self.board.n_test * p * (1 - p)))

    def skills(self, correlations: FloatArray, refinement: float) -> FloatArray:
        """Equally spaced on the variance-stabilised scale."""
        return skill_nodes(self.board.counts, self.board.n_test, correlations, refinement)

    def table(
        self, skills: FloatArray, correlation: float, tries: float, refinement: float
    ) -> SurvivalTable:
        """By characteristic functions."""
        return survival_table(
            self.edges, self.board.n_test, skills, correlation, self.reference_skill, tries,
            refinement,
        )  # fmt: skip

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """With what the reference classifier gets right."""
        size = new_n_test or self.board.n_test
        return TestSet.draw(rng, size, correlation, self.reference_skill)


@dataclass(frozen=True, eq=False)
class NormalScoring:
    """Scores whose normal scores share one factor: AUCs, and scores with a standard error."""

    board: Leaderboard

    @cached_property
    def scores(self) -> NormalScores:
        """On this test set."""
        return normal_scores_of(self.board)

    @cached_property
    def edges(self) -> FloatArray:
        """Edges of runs of scores that print as the best one."""
        low, high = score_bounds(self.board)
        error = float(self.scores.standard_error(self.board.maximum))
        parts = int(np.clip(np.ceil((high - low) / (_PART * error)), 1, _MOST_PARTS))
        return np.linspace(low, high, parts + 1)

    @property
    def log_odds_error(self) -> float:
        """From the standard error of the best score."""
        p = min(default_reference_skill(self.board), self.scores.largest)
        return float(self.scores.standard_error(p) / (p * (1 - p)))

    def skills(self, correlations: FloatArray, refinement: float) -> FloatArray:
        """Equally spaced on the scale of standard errors."""
        bounds = float(self.edges[0]), float(self.edges[-1])
        return normal_skill_nodes(bounds, self.scores, correlations, refinement)

    def table(
        self, skills: FloatArray, correlation: float, tries: float, refinement: float
    ) -> SurvivalTable:
        """By normal scores."""
        return normal_survival_table(
            self.edges, self.scores, skills, correlation, tries, refinement
        )

    def fresh(
        self, rng: np.random.Generator, correlation: FloatArray, new_n_test: int | None = None
    ) -> FreshTestSet:
        """With the share of positives, or the standard error per item, of this board."""
        return NormalTestSet.draw(rng, normal_scores_of(self.board, new_n_test), correlation)
