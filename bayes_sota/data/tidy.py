"""One row per score, whatever the table looked like.

A score belongs to an *entry* (model, method, team) and, except on a leaderboard, to a *unit* (item,
round, fold); it may have a *task*, a *cluster* and a *run*. Containers are pivots of this.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.data.words import UNITS

type Labels = NDArray[np.object_]
type Numbers = NDArray[np.float64]

_LARGEST = 100_000_000  # places of a grid


@dataclass(frozen=True)
class Tidy:
    """Scores with their labels.

    Attributes
    ----------
    layout : str
        board, long, tasks, wide, pair or battles.
    value : ndarray, shape (S,)
        Scores; of battles, the share that the entry won against its opponent.
    texts : list of str
        Scores with the digits that were typed.
    labels : dict of str to ndarray, shape (S,)
        Names by role: entry, unit, task, cluster, run, fold, iteration, opponent, board, label.
    numbers : dict of str to ndarray, shape (S,)
        n, se, submissions and count, where the table has them.
    lines : list of str
        Where each score stands.
    titles : list of str
        Columns that hold the scores.
    asked : frozenset of str
        Roles whose columns a user named.
    lower_is_better, is_competition : bool
        Whether scores are losses; whether the table is a download of a competition.
    score : str
        Name of the column or metric that the scores come from, where there is one.
    sentence : str
        Which columns were read, and which were not.
    notes : tuple of str
    origin : str
        Tool that wrote a log, else empty.
    n_files : int
        Files that the scores stand in.
    """

    where: str
    name: str
    layout: str
    value: Numbers
    texts: list[str]
    labels: dict[str, Labels]
    numbers: dict[str, Numbers]
    lines: list[str]
    titles: list[str] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    score: str = ""
    lower_is_better: bool = False
    is_competition: bool = False
    sentence: str = ""
    notes: tuple[str, ...] = ()
    origin: str = ""
    n_files: int = 1

    def __len__(self) -> int:
        return len(self.lines)

    def __str__(self) -> str:
        return "\n".join([self.sentence, *self.notes])

    @property
    def unit(self) -> str:
        """Role that tells scores of an entry apart: the first of ``UNITS`` with several names."""
        there = [role for role in UNITS if role in self.labels]
        return next((role for role in there if len(set(self.labels[role])) > 1), there[0])

    def with_items(self) -> "Tidy":
        """The same, with numbers for items that nothing but their task or cluster names."""
        if self.layout != "wide" or not self.labels.keys() & set(UNITS) <= {"task", "cluster"}:
            return self
        entries, codes = self.names("entry")
        number = np.empty(len(self), np.intp)
        for code in range(len(entries)):
            number[codes == code] = np.arange(1, np.sum(codes == code) + 1)
        groups = zip(
            *(self.labels[role] for role in ("task", "cluster") if role in self.labels), strict=True
        )
        if len(set(groups)) * 2 > number.max():
            return self  # rows are tasks
        return replace(self, labels=self.labels | {"unit": number.astype(str).astype(object)})

    def names(self, role: str) -> tuple[list[str], NDArray[np.intp]]:
        """Different names of a role in order of appearance, and the one of each row."""
        codes: dict[str, int] = defaultdict(count().__next__)
        labels = self.labels[role].tolist()
        numbers = np.fromiter(map(codes.__getitem__, labels), np.intp, len(labels))
        return list(codes), numbers

    def take(self, rows: Sequence[int] | NDArray[np.intp], *notes: str) -> "Tidy":
        """Some of the rows."""
        return replace(
            self,
            value=self.value[rows],
            texts=[self.texts[i] for i in rows],
            labels={role: names[rows] for role, names in self.labels.items()},
            numbers={role: values[rows] for role, values in self.numbers.items()},
            lines=[self.lines[i] for i in rows],
            notes=(*self.notes, *notes),
        )

    def pivot(self, *roles: str, of: Any = None) -> tuple[Any, list[list[str]]]:
        """Scores by the names of some roles, NaN where there is none.

        Parameters
        ----------
        *roles : str
            Role of each axis.
        of : ndarray, shape (S,), optional
            What is placed instead of the scores.

        Raises
        ------
        InputError
            Two scores for one place; both lines are named.
        """
        place, axes = self.places(*roles)
        if np.prod([len(names) for names in axes], dtype=float) > _LARGEST:
            sizes = ", ".join(f"{len(names):,} {r}s" for names, r in zip(axes, roles, strict=True))
            problem = f"{len(self):,} scores of {sizes}: are these the columns that were meant?"
            raise InputError(problem, where=self.where)
        grid = np.full([len(names) for names in axes], np.nan)
        grid.ravel()[place] = self.value if of is None else of
        return grid, axes

    def places(self, *roles: str) -> tuple[NDArray[np.int64], list[list[str]]]:
        """Place of each score in the flat grid of some roles, and the names of its axes.

        Raises
        ------
        InputError
            As of ``pivot``.
        """
        place, axes = np.zeros(len(self), np.int64), []
        for role in roles:
            names, codes = self.names(role)
            place = place * len(names) + codes
            axes.append(names)
        self._check_once(place, roles)
        return place, axes

    def _check_once(self, place: NDArray[np.int64], roles: Sequence[str]) -> None:
        if (np.diff(np.sort(place)) > 0).all():
            return
        order = np.argsort(place, kind="stable")
        repeated = np.flatnonzero(np.diff(place[order]) == 0)
        at = repeated[np.argmin(order[repeated + 1])]
        first, second = order[at], order[at + 1]
        what = ", ".join(f"{role} {quoted(self.labels[role][second])}" for role in roles)
        raise InputError(
            f"{what} has a score already on {self.lines[first]}",
            where=self.where,
            line=self.lines[second],
            parameter="run",
            fix="if rows are repeated runs, name their column with {option}",
        )
