"""Two boards as the model sees them: the coordinate of the scores, and the teams it is about.

The model is about the teams that reach a threshold on either board, in a coordinate where the noise
of a score has one size. ``tests/paired/test_posterior.py`` checks the selection,
``tests/paired/test_likelihood.py`` the coordinate.
"""

from dataclasses import dataclass

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import FEWEST_TEAMS, PairedBoards
from bayes_sota.paired.submissions import Choice, choice_of

_FEWEST_KEPT = 30  # all teams of a board with fewer are kept
_TOP, _MOST_KEPT = 0.5, 1_500  # unless another share is asked for


@dataclass(frozen=True)
class Coordinate:
    """Where the noise of a score has one size: arcsine for accuracies, else the score itself.

    Attributes
    ----------
    n_test : tuple of int, or None
        Items of the two test sets, for accuracies.

    Examples
    --------
    >>> Coordinate((100, 400)).standard_errors(None)
    (0.05, 0.025)
    """

    n_test: tuple[int, int] | None

    def of_scores(self, scores: FloatArray, board: int) -> FloatArray:
        """Coordinate of observed scores; a quarter of a count keeps 0 and 1 finite."""
        if self.n_test is None:
            return np.asarray(scores, dtype=np.float64)
        n = self.n_test[board]
        return np.arcsin(np.sqrt((np.asarray(scores) * n + 0.25) / (n + 0.5)))

    def to_score(self, u: FloatArray) -> FloatArray:
        """Score of a coordinate."""
        return np.asarray(u) if self.n_test is None else np.sin(np.clip(u, 0, np.pi / 2)) ** 2

    def printed(self, u: FloatArray) -> FloatArray:
        """Scores that have the coordinates ``u``, (..., 2 boards): accuracies are whole counts."""
        if self.n_test is None:
            return np.asarray(u)
        n = np.array(self.n_test)
        count = np.sin(np.clip(u, 0, np.pi / 2)) ** 2 * (n + 0.5) - 0.25
        return np.clip(np.round(count), 0, n) / n

    def standard_errors(self, errors: tuple[float, float] | None) -> tuple[float, float] | None:
        """Standard errors in this coordinate, None where they are unknown."""
        if self.n_test is None:
            return errors
        return 0.5 / float(np.sqrt(self.n_test[0])), 0.5 / float(np.sqrt(self.n_test[1]))

    @property
    def bounds(self) -> tuple[float, float]:
        """Range of the coordinate."""
        return (-np.inf, np.inf) if self.n_test is None else (0.0, np.pi / 2)


@dataclass(frozen=True, eq=False)
class Teams:
    """The teams that the model is about, in its coordinate.

    Attributes
    ----------
    x, y : (k,) array
        Public and private scores; ``y`` is None where only the public board is used.
    threshold : (float, float) or None
        Teams are here because x or y (x alone without y) reaches its threshold.
    choice : Choice or None
        Submissions that public scores were chosen from; None where there was nothing to choose.
    """

    x: FloatArray
    y: FloatArray | None
    threshold: tuple[float, float] | None
    choice: Choice | None = None

    @property
    def difference_sd(self) -> float:
        """Robust standard deviation of the differences."""
        if self.y is None:
            raise InputError("there is no private board to take differences with")
        d = self.y - self.x
        robust = 1.4826 * float(np.median(np.abs(d - np.median(d))))
        spread = float(d.std()) or float(self.x.std())
        return float(np.clip(robust, 0.05 * spread, spread))


@dataclass(frozen=True, eq=False)
class Selection:
    """Which teams the model is about, and which of them are one.

    Attributes
    ----------
    kept : (k,) array of int
        Teams that reach the threshold on either board.
    group : (k,) array of int
        Which distinct pair of scores each has; equal pairs count once.
    teams : Teams
        The distinct pairs.
    """

    kept: IntArray
    group: IntArray
    teams: Teams

    @classmethod
    def of_boards(
        cls, boards: PairedBoards, top: float | None = None, merge: bool | None = None
    ) -> "Selection":
        """Teams in the upper part of either board.

        Parameters
        ----------
        boards : PairedBoards
        top : float, optional
            A team is kept if its public or its private score is among the best ``top`` of that
            board; never fewer than 30 places. Default: one half, at most 1,500 places.
        merge : bool, optional
            Whether teams with the same two scores count once: copies of one submission. Default:
            for scores that are not accuracies; few counts make equal accuracies by chance.
        """
        coordinate = Coordinate(boards.n_test)
        x, y = coordinate.of_scores(boards.public, 0), coordinate.of_scores(boards.private, 1)
        m = boards.n_entries
        places, threshold, kept = top_places(m, top), None, np.arange(m)
        if places < m:
            threshold = (float(np.sort(x)[-places]), float(np.sort(y)[-places]))
            kept = np.flatnonzero((x >= threshold[0]) | (y >= threshold[1]))
        pairs = np.stack([x[kept], y[kept]], axis=1)
        group = np.arange(kept.size)
        if boards.n_test is None if merge is None else merge:
            pairs, group = np.unique(pairs, axis=0, return_inverse=True)
        if len(pairs) < FEWEST_TEAMS:
            raise InputError(
                f"only {len(pairs)} different pairs of scores are left of {m} teams, at least "
                f"{FEWEST_TEAMS} are needed; keep more teams (top), or do not merge equal pairs"
            )
        group = group.reshape(-1)
        choice = choice_of(boards, kept, group)
        return cls(kept, group, Teams(pairs[:, 0], pairs[:, 1], threshold, choice))

    def place_of(self, entry: int) -> int:
        """Which distinct pair a kept team of the boards has."""
        return int(self.group[np.searchsorted(self.kept, entry)])

    @property
    def first(self) -> IntArray:
        """Place among the kept teams of the first team with each distinct pair."""
        return np.unique(self.group, return_index=True)[1]

    @property
    def copies(self) -> IntArray:
        """How many kept teams have the same two scores as each of them."""
        return np.bincount(self.group)[self.group]


def top_places(m: int, top: float | None) -> int:
    """How many places of a board count as its top."""
    if top is None:
        top = min(_TOP, _MOST_KEPT / m)
    if not 0 < top <= 1:
        raise InputError(f"top is a share of the teams in (0, 1], got {top:g}")
    return max(int(np.ceil(top * m)), min(m, _FEWEST_KEPT))
