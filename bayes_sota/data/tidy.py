"""One row per score, whatever the table looked like.

A score belongs to an *entry* (model, method, team) and, except on a leaderboard, to a *unit* (item,
round, fold); it may have a *task*, a *cluster* and a *run*. Containers are pivots of this.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.layouts import Layout
from bayes_sota.data.tables import MISSING, Numbers, Table, describe_parts
from bayes_sota.data.words import LABELS, NUMBERS, UNITS, is_role_word

type Labels = NDArray[np.object_]

_LARGEST = 100_000_000  # places of a grid
_PLURALS = {
    "entry": "entries",
    "se": "standard errors",
    "n": "numbers of items",
    "submissions": "submissions",
    "runs": "numbers of runs",
}


@dataclass(frozen=True, eq=False)
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
    value: NDArray[np.float64]
    texts: list[str]
    labels: dict[str, Labels]
    numbers: dict[str, NDArray[np.float64]]
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
        groups = [self.labels[role] for role in ("task", "cluster") if role in self.labels]
        number = numbered(self.labels["entry"])
        if len(set(zip(*groups, strict=True))) * 2 > max(number):
            return self  # rows are tasks
        return replace(
            self, labels=self.labels | {"unit": np.array(list(map(str, number)), object)}
        )

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
        shape = [len(names) for names in axes]
        if np.prod(shape, dtype=float) > _LARGEST:
            problem = f"scores of {' x '.join(map(str, shape))} {', '.join(roles)} are too many"
            raise InputError(problem, where=self.where)
        grid = np.full(shape, np.nan)
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
        order = np.argsort(place, kind="stable")
        repeated = np.flatnonzero(np.diff(place[order]) == 0)
        if not repeated.size:
            return place, axes
        at = repeated[np.argmin(order[repeated + 1])]
        first, second = order[at], order[at + 1]
        what = ", ".join(f"{role} {quoted(self.labels[role][second])}" for role in roles)
        problem = f"{what} has a score already on {self.lines[first]}"
        fix = "if rows are repeated runs, name their column with {option}"
        line = self.lines[second]
        raise InputError(problem, where=self.where, line=line, parameter="run", fix=fix)


def joined(tables: Sequence[Tidy], where: str) -> Tidy:
    """Scores of several tables, with the labels that all of them have, and without numbers."""
    roles = [role for role in tables[0].labels if all(role in of.labels for of in tables)]
    return replace(
        tables[0],
        where=where,
        value=np.concatenate([of.value for of in tables]),
        texts=[text for of in tables for text in of.texts],
        labels={role: np.concatenate([of.labels[role] for of in tables]) for role in roles},
        numbers={},
        lines=[f"{of.where}, {line}" for of in tables for line in of.lines],
        sentence=" ".join(dict.fromkeys(of.sentence for of in tables)),
        notes=tuple(dict.fromkeys(note for of in tables for note in of.notes)),
        n_files=len(tables),
    )


def numbered(names: Iterable[Any]) -> list[int]:
    """How often each name has occurred so far.

    Examples
    --------
    >>> numbered(["a", "b", "a"])
    [1, 1, 2]
    """
    seen: dict[Any, count[int]] = defaultdict(lambda: count(1))
    return [next(seen[name]) for name in names]


def melt(table: Table, layout: Layout) -> Tidy:
    """Row for each cell of the columns that hold scores, NaN where it is empty.

    On a leaderboard, empty rows are dropped with a note.

    Raises
    ------
    InputError
        Cells that hold no number or no name; up to ten are named at once.
    """
    columns, roles = layout.columns, layout.roles
    scores, are_classes = _scores(table, layout)
    value = np.concatenate([numbers.value for numbers in scores]) + 0.0  # which is never -0.0
    errors = np.concatenate([numbers.error for numbers in scores])
    if np.isnan(value).all():
        raise table.error(f"no scores in {listed(columns)}")
    labels, notes = _row_labels(table, layout)
    if are_classes:
        del labels["label"]
        notes.append(f"predictions are right where they equal {quoted(roles['label'])}")
    labels = {role: np.tile(names, len(columns)) for role, names in labels.items()}
    if layout.across:
        labels[layout.across] = np.repeat(_names_across(table, layout), len(table))
    known = [role for role in NUMBERS if role in roles]
    numbers = {role: np.tile(table.numbers(roles[role]), len(columns)) for role in known}
    for role, beside in layout.beside.items():
        numbers[role] = np.concatenate([table.numbers(column) for column in beside])
    if not np.isnan(errors).all():
        numbers["se"] = errors
        notes.append("numbers after ± or in parentheses are taken as standard errors")
    tidy = Tidy(
        where=table.where,
        name=table.name,
        layout=layout.kind,
        value=value,
        texts=[text for of in scores for text in of.texts],
        labels=labels,
        numbers=numbers,
        lines=table.lines * len(columns),
        titles=columns,
        score=layout.score or roles.get("score", ""),
        sentence=_describe(table, layout),
        notes=(*table.notes, *notes),
        origin=table.origin,
        n_files=table.n_files,
    )
    empty = np.isnan(tidy.value)
    if layout.kind != "board" or not empty.any():
        return tidy
    note = f"dropped {empty.sum()} row{'s' if empty.sum() > 1 else ''} without a score"
    return tidy.take(np.flatnonzero(~empty), note)


def _names_across(table: Table, layout: Layout) -> Labels:
    """Labels of the columns that hold scores; a single metric belongs to the file's model."""
    names = layout.columns
    if layout.kind == "pair":
        names = ["public", "private"]
    elif len(names) == 1 and is_role_word(names[0], "score", "metric_score", "probability"):
        names = [table.name]
    return np.array(names, object)


def _row_labels(table: Table, layout: Layout) -> tuple[dict[str, Labels], list[str]]:
    """Names that each row has in its roles, and a note where clusters were empty."""
    labels: dict[str, Any] = {}
    notes = []
    for role, column in layout.roles.items():
        if role in (*LABELS, "label") and role != layout.across:
            labels[role] = table.names(column, may_miss=role in ("cluster", "direction"))
    empty = np.flatnonzero(labels.get("cluster", np.array([])) == "")
    if empty.size:
        labels["cluster"][empty] = [f"(alone, {table.lines[row]})" for row in empty]
        notes.append(f"{empty.size} rows without a cluster are clusters of their own")
    _tell_units_apart(labels)
    rows = np.arange(1, len(table) + 1).astype(str).astype(object)
    if layout.kind == "wide" and not labels.keys() & set(UNITS):
        labels["unit"] = rows
    if "entry" not in labels and layout.across != "entry":
        labels["entry"] = "entry " + rows
    return labels, notes


def _tell_units_apart(labels: dict[str, Labels]) -> None:
    """Units that are numbered anew in each task or cluster are called task/unit."""
    if "unit" not in labels and len(set(labels.get("fold", ()))) > 1 and "task" in labels:
        labels["unit"] = labels["task"] + "/" + labels["fold"]
    for role in [of for of in ("task", "cluster") if {of, "unit"} <= labels.keys()]:
        beside = [names for other, names in labels.items() if other in ("entry", "unit", "run")]
        repeat = len(set(zip(*beside, strict=True))) < len(labels["unit"])
        pairs = set(zip(labels[role], labels["unit"], strict=True))
        if repeat or (role == "task" and len(pairs) > len(set(labels["unit"]))):
            labels["unit"] = labels[role] + "/" + labels["unit"]


def _scores(table: Table, layout: Layout) -> tuple[list[Numbers], bool]:
    """Numbers of each column that holds scores, and whether these say which classes are right.

    Beside labels 0 and 1 may stand probabilities.
    """
    label = layout.roles.get("label") if layout.kind == "wide" else None
    if label is None:
        return [table.printed(column) for column in layout.columns], False
    truth = _classes(table, label)
    if set(truth) <= {"0.0", "1.0"}:
        found = [table.printed(column) for column in layout.columns]
        if not all(np.isin(np.nan_to_num(of.value), (0, 1)).all() for of in found):
            return found, False
    return [_compared(table, column, truth) for column in layout.columns], True


def _classes(table: Table, column: str, may_miss: bool = False) -> Labels:
    """Classes in a column, of which numbers are alike however they are written."""
    names, values = table.names(column, may_miss), table.parsed(column).value
    return np.where(np.isnan(values), names, np.array(list(map(str, values)), object))


def _compared(table: Table, column: str, truth: Labels) -> Numbers:
    """1 where the predicted class is the true one, NaN where there is none."""
    guess = _classes(table, column, may_miss=True)
    known = np.isin(guess, truth)
    missing = ~known & [name.lower() in MISSING for name in guess]
    if np.mean(known | missing) <= 0.5:
        problem = f"column {quoted(column)} seldom names one of the true classes"
        fix = "if it holds no predictions, leave it out with {option}"
        raise table.error(problem, "leave_out", fix)
    right = np.where(missing, np.nan, guess == truth)
    return Numbers(right, np.full(len(right), np.nan), guess.tolist(), [])


def _describe(table: Table, layout: Layout) -> str:
    """Sentence that says which columns were read, and which were not."""
    parts = [
        f"{_PLURALS.get(role, role + 's')} from {quoted(column)}"
        for role, column in layout.roles.items()
        if role not in ("score", "public", "private", layout.across)
    ]
    number = len(layout.columns)
    across = _PLURALS.get(layout.across, layout.across + "s")
    of = f" of {number} {across}" if number > 1 and layout.across != "board" else ""
    parts.append(f"scores{of} from {listed(layout.columns)}")
    beside = [name for names in layout.beside.values() for name in names]
    parts += [f"{_PLURALS[role]} from {listed(names)}" for role, names in layout.beside.items()]
    return describe_parts(table, parts, [*layout.roles.values(), *layout.columns, *beside])
