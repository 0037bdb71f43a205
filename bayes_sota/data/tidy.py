"""One row per score, whatever the table looked like; containers are pivots of this.

A score belongs to an *entry* (model, method, team) and, except on a leaderboard, to a *unit* (item,
round, fold); it may have a *task*, a *cluster* and a *run*.
"""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray
from bayes_sota.data import words
from bayes_sota.data.layouts import Layout
from bayes_sota.data.tables import Source, Table, describe_parts, first_seen, of_several
from bayes_sota.data.words import BATTLES, ROLES, key

type Labels = NDArray[np.object_]

_WITHOUT_UNITS = {
    "board": "is a leaderboard, which bayes-sota board reads",
    "pair": "holds two boards, which bayes-sota paired reads; --use NAME takes one of them",
    "battles": "holds battles, which bayes-sota epp reads",
}
_BESIDE = ("cluster", "tournament")
_OF_BATTLES = ("winner", "loser", "tie", "count", *_BESIDE)
_RESULTS = ("first", "second", "tie", "unfinished")  # of a battle, by their places
_OF_SCORES = ("score", "metric_score", "probability", "public", "private")


@dataclass(frozen=True, eq=False, kw_only=True)
class Tidy(Source):
    """S scores with their labels.

    Attributes
    ----------
    layout : str
        board, long, tasks, wide, pair or battles.
    value, texts : (S,)
        Scores, with the digits that were typed; of battles, the share won.
    labels, numbers : dict of str to ndarray, (S,)
        Names by role (entry, unit, task, ...); n, se, submissions and count.
    titles : list of str
        Columns that hold the scores; ``score`` is their one name, if any.
    asked : frozenset of str
        Roles whose columns a user named.
    are_losses : bool or None
        Whether lower is better; None if it is in some rounds only.
    """

    layout: str
    value: NDArray[np.float64]
    texts: list[str]
    labels: dict[str, Labels]
    numbers: dict[str, NDArray[np.float64]]
    lines: list[str]
    titles: list[str] = field(default_factory=list)
    asked: frozenset[str] = frozenset()
    score: str = ""
    are_losses: bool | None = False
    is_competition: bool = False
    sentence: str = ""

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def lower_is_better(self) -> bool:
        """Whether all scores are losses."""
        if self.are_losses is None:
            problem = "lower is better in some tasks, higher in others"
            raise self.error(problem, "leave_out", "leave out one kind with {option}")
        return self.are_losses

    @property
    def units(self) -> list[str]:
        """Roles that may distinguish scores of an entry."""
        there = [role for role in words.UNITS if role in self.labels]
        if self.layout in _WITHOUT_UNITS or not there:
            what = "its rows are not scores of items, tasks or rounds"
            raise self.error(_WITHOUT_UNITS.get(self.layout, what))
        return there

    @property
    def unit(self) -> str:
        """Role that distinguishes scores of an entry: the first with several names."""
        there = self.units
        return next((role for role in there if self.count(role) > 1), there[0])

    def count(self, *roles: str) -> int:
        """Number of different combinations of names in some roles."""
        return len(set(zip(*(self.labels[role] for role in roles), strict=True)))

    def names(self, role: str) -> tuple[list[str], NDArray[np.intp]]:
        """Different names of a role in order of appearance, and the place of each row's."""
        return first_seen(self.labels[role].tolist())

    def take(self, rows: Sequence[int] | NDArray[np.intp], *notes: str) -> "Tidy":
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
        """Grid of the scores, or of ``of`` (S,), by some roles, NaN where none is; its names."""
        place, axes = self.places(*roles)
        shape = [len(names) for names in axes]
        grid = np.full(shape, np.nan)
        grid.ravel()[place] = self.value if of is None else of
        return grid, axes

    def places(self, *roles: str) -> tuple[NDArray[np.intp], list[list[str]]]:
        """Place of each score in the flat grid of some roles, and the names of its axes."""
        named = [self.names(role) for role in roles]
        shape = [len(names) for names, _ in named]
        place = np.ravel_multi_index([codes for _, codes in named], shape)
        order = np.argsort(place, kind="stable")
        repeated = np.flatnonzero(np.diff(place[order]) == 0)
        if repeated.size:
            first, second = order[repeated[0] : repeated[0] + 2]
            what = ", ".join(f"{role} {quoted(self.labels[role][second])}" for role in roles)
            rows = f" ({counted(repeated.size, 'row')} in all)" * (repeated.size > 1)
            problem = f"{what} has a score already on {self.lines[first]}{rows}"
            ways = "name the column of runs with {option}, or of documents cluster=NAME, or "
            fix = ways * (not self.origin) + "remove duplicate rows"
            raise self.error(problem, "run", fix, self.lines[second])
        return place, [names for names, _ in named]


def joined(parts: Sequence[Tidy]) -> Tidy:
    """Scores of several files, with labels and numbers that all have."""
    if len(parts) == 1:
        return parts[0]
    kinds = sorted({of.layout for of in parts})
    if len(kinds) > 1 and {"board", "pair", "battles"} & set(kinds):
        raise InputError(f"only files of one kind can be joined; these hold {listed(kinds)}")
    return replace(
        parts[0],
        value=np.concatenate([of.value for of in parts]),
        texts=[text for of in parts for text in of.texts],
        labels=_common([of.labels for of in parts]),
        numbers=_common([of.numbers for of in parts]),
        titles=list(dict.fromkeys(title for of in parts for title in of.titles)),
        sentence=" ".join(dict.fromkeys(of.sentence for of in parts)),
        **of_several(parts),
    )


def _common(every: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    roles = [role for role in every[0] if all(role in of for of in every)]
    return {role: np.concatenate([of[role] for of in every]) for role in roles}


def numbered(names: Iterable[Any]) -> list[int]:
    """How often each name has occurred so far."""
    seen: dict[Any, count[int]] = defaultdict(lambda: count(1))
    return [next(seen[name]) for name in names]


def melt(table: Table, layout: Layout) -> Tidy:
    """Row for each cell of the columns that hold scores."""
    columns, roles = layout.columns, layout.roles
    scores = [table.printed(column) for column in columns]
    value = np.concatenate([numbers.value for numbers in scores]) + 0.0  # which is never -0.0
    errors = np.concatenate([numbers.error for numbers in scores])
    for column in (of for of in columns if {"perplexity", "ppl"} & {*words.split_words(of)}):
        if negative := np.flatnonzero(table.numbers(column) < 0).tolist():
            raise table.bad_cells(column, negative, "a perplexity, not a log-likelihood, is needed")
    empty = np.isnan(value)
    if empty.all():
        raise table.error(f"no scores in {listed(columns)}")
    labels, notes = _row_labels(table, layout)
    labels = {role: np.tile(names, len(columns)) for role, names in labels.items()}
    if layout.across:
        are_one = len(columns) == 1 and words.is_role_word(columns[0], *_OF_SCORES)
        across = [table.name] if are_one else columns  # a single metric is of the file's model
        labels[layout.across] = np.repeat(np.array(across, object), len(table))
    beside = {role: [roles[role]] * len(columns) for role in words.NUMBERS if role in roles}
    beside |= layout.beside
    numbers = {role: np.concatenate(list(map(table.numbers, of))) for role, of in beside.items()}
    headings = [*columns, *(note for note in table.notes if note.startswith("dropped line"))]
    spreads = [name for name in headings if words.is_spread(name)]
    if words.is_spread(roles.get("se", "")):
        notes.append(f"{quoted(roles['se'])} is named like SDs, but taken as standard errors")
    what, has_errors = "numbers after ± or in parentheses", not np.isnan(errors).all()
    if has_errors and "se" in numbers:
        notes.append(f"{what} are not used, as standard errors have a column")
    elif has_errors and spreads:
        notes.append(f"{quoted(spreads[0])} mentions SDs (not used); se would be SD / sqrt(n)")
    elif has_errors:
        numbers["se"] = errors
        notes.append(f"{what} are taken as standard errors, not as SDs over cases or seeds")
        if layout.kind == "board" and (cases := [c for c in columns if words.is_of_cases(c)]):
            what = f"{quoted(cases[0])} has ± numbers that may be SDs over cases or standard errors"
            fix = "write standard errors (SD / sqrt(n) of n cases) in a column se, or compare two "
            fix += "by SDs: bayes-sota claim segmentation --mean A B --sd SD SD --n-test N"
            raise table.error(what, fix=fix)
    tidy = Tidy(
        layout=layout.kind,
        value=value,
        texts=[text for of in scores for text in of.texts],
        labels=labels,
        numbers=numbers,
        lines=table.lines * len(columns),
        titles=columns,
        score=roles.get("score", ""),
        sentence=_describe(table, layout),
        **table.about | {"notes": (*table.notes, *notes)},
    )
    if layout.kind != "board" or not empty.any():
        return tidy
    note = f"dropped {counted(empty.sum(), 'row')} without a score"
    return tidy.take(np.flatnonzero(~empty), note)


def _row_labels(table: Table, layout: Layout) -> tuple[dict[str, Labels], list[str]]:
    """Names of each row by role, and notes."""
    labels: dict[str, Any] = {
        role: table.names(column, may_miss=role in ("cluster", "direction"))
        for role, column in layout.roles.items()
        if role in (*words.LABELS, "label")
    }
    notes = []
    empty = np.flatnonzero(labels.get("cluster", np.array([])) == "")
    if empty.size:
        items = [labels[role] for role in ("task", "unit") if role in labels] or [table.lines]
        alone = list(zip(*items, strict=True))
        labels["cluster"][empty] = [f"(alone, {', '.join(alone[row])})" for row in empty]
        notes.append(f"{empty.size} rows without a cluster each count as their own cluster")
    known = labels.keys() & set(words.UNITS)
    if layout.kind == "wide" and known <= {"task", "cluster"}:
        groups = list(zip(*map(labels.get, known), strict=True)) or [()] * len(table)
        if not known or 2 * len(set(groups)) <= len(table):  # else rows are tasks
            labels["unit"] = np.array(list(map(str, numbered(groups))), object)
    if "cluster" in labels and words.is_role_word(layout.roles["cluster"], "unit"):
        labels.setdefault("unit", labels["cluster"])
    for role in ["task"] if table.origin else ["task", "cluster"]:  # that number units anew
        beside = [labels[other] for other in ("entry", "unit", "run") if other in labels]
        if {role, "unit"} <= labels.keys() and len(set(zip(*beside, strict=True))) < len(table):
            if "unit" in layout.roles and not table.origin and "cluster" not in labels:
                same = "is read as the task: the same name in two tasks is two items"
                case = layout.roles[max((role, "unit"), key=lambda one: len(set(labels[one])))]
                fix = f"if each {quoted(case)} is one person or case, use --column cluster="
                notes.append(f"{quoted(layout.roles[role])} {same}; {fix}{shlex.quote(case)}")
            labels["unit"] = labels[role] + "/" + labels["unit"]
    if "entry" not in labels and layout.across != "entry":
        labels["entry"] = np.array([f"entry {i}" for i in range(1, len(table) + 1)], object)
    return labels, notes


def _describe(table: Table, layout: Layout) -> str:
    across, number = layout.across, len(layout.columns)
    of = f" of {number} {_plural(across)}" if number > 1 and across != "board" else ""
    read = {_plural(role): [name] for role, name in layout.roles.items() if role not in _OF_SCORES}
    read[f"scores{of}"] = layout.columns
    read |= {_plural(role): names for role, names in layout.beside.items()}
    parts = [f"{what} from {listed(names)}" for what, names in read.items()]
    return describe_parts(table, parts, [name for names in read.values() for name in names])


def _plural(role: str) -> str:
    return words.PLURALS.get(role, role + "s")


def battles_of(table: Table, asked: Mapping[str, str]) -> Tidy | None:
    """Battles, with the share that the entry won; None if the table holds scores."""
    if asked.keys() & {"entry", "unit", "score", "task", "public", "private"}:
        return None
    roles = {role: _column_named(table, ROLES[role]) for role in _OF_BATTLES}
    roles |= {role: table.find(asked[role], role) for role in _OF_BATTLES if role in asked}
    found = _count_results(table, roles)
    if found is None:
        _refuse_matrix(table)
        return None
    counts, used = found
    if roles["count"]:
        counts, used = counts * table.numbers(roles["count"])[:, None], [*used, roles["count"]]
    labels = dict(zip(("entry", "opponent"), map(table.names, used), strict=False))
    same = np.flatnonzero(labels["entry"] == labels["opponent"]).tolist()
    if same:
        raise table.bad_cells(used[1], same, "a player cannot play against itself")
    beside = {role: roles[role] for role in _BESIDE if roles[role] not in ("", *used)}
    labels |= {role: table.names(column) for role, column in beside.items()}
    parts = [f"battles from {listed(used)}"]
    parts += [f"{role}s from {quoted(column)}" for role, column in beside.items()]
    rows, results = np.nonzero(counts)
    value = np.array([1.0, 0.0, 0.5])[results]
    return Tidy(
        layout="battles",
        value=value,
        texts=list(map(str, value)),
        labels={role: names[rows] for role, names in labels.items()},
        numbers={"count": counts[rows, results]},
        lines=[table.lines[row] for row in rows],
        sentence=describe_parts(table, parts, [*used, *beside.values()]),
        **table.about,
    )


def _column_named(table: Table, known: Iterable[str]) -> str:
    return next((name for name in table.columns if key(name) in known), "")


def _numbers(table: Table, columns: Iterable[str]) -> FloatArray:
    every = [table.numbers(name) if name else np.zeros(len(table)) for name in columns]
    return np.nan_to_num(np.column_stack(every))


def _count_results(table: Table, roles: dict[str, str]) -> tuple[FloatArray, list[str]] | None:
    """Numbers of battles won by the first, by the second, and tied, (n_rows, 3), and columns."""
    pair = [roles["winner"], roles["loser"]]
    if all(pair):
        ties = _numbers(table, [roles["tie"]])
        used = [name for name in (*pair, roles["tie"]) if name]
        return np.hstack([1 - ties, 0 * ties, ties]), used
    texts = {key(name): name for name in table.columns if not table.parsed(name).is_numeric}
    stems = [stem.strip("'") for stem in (*BATTLES["stems"], *ROLES["entry"])]
    both = ((stem, sides.split(":")) for stem in stems for sides in BATTLES["sides"])
    found = [(stem, sides) for stem, sides in both if texts.keys() >= {stem + of for of in sides}]
    if not found:
        return None
    stem, sides = found[0]
    pair = [texts[stem + side] for side in sides]
    wins = [name for name in table.columns if key(name).startswith("win")]
    ends = (*sides, "tie")
    first, second, tie = (next((x for x in wins if key(x).endswith(of)), "") for of in ends)
    if first and second:
        roles["count"] = ""  # of battles in all
        wins = [first, second, tie or roles["tie"]]
        return _numbers(table, wins), [*pair, *filter(None, wins)]
    verdict = roles["winner"] or _column_named(table, BATTLES["verdict"])
    if verdict:
        return np.eye(4)[_results(table, pair, sides, verdict), :3], [*pair, verdict]
    if stem or sides[0] != "a":  # models may be called a and b
        raise table.error(f"{listed(pair)} look like pairs, and no column says who won", "winner")
    return None


def _results(table: Table, pair: list[str], sides: list[str], verdict: str) -> Any:
    names = table.names(verdict)
    plain = [key(of) if any(map(str.isalpha, of)) else of.removesuffix(".0") for of in names]
    words = {word: place for place, of in enumerate(_RESULTS) for word in BATTLES[of]}
    words |= {word: place for place in (0, 1) for word in (key(pair[place]), sides[place])}
    if key(verdict) in BATTLES["numbered"]:  # 0 may be a tie, or one of the two
        words |= {"2": 1, "0": 2 if "2" in plain else -1}
    first, second = (table.names(column) == names for column in pair)
    results = np.select([first, second], [0, 1], [words.get(word, -1) for word in plain])
    bad = np.flatnonzero(results < 0).tolist()
    if bad:
        problem = f"{', '.join(pair)}, tie or the name of one of them is needed"
        raise table.bad_cells(verdict, bad, problem)
    return results


def _refuse_matrix(table: Table) -> None:
    first = table.first_text()
    entries = sorted(str(cell).strip() for cell in table.columns[first])
    if entries == sorted(table.columns.keys() - {first}) and len(entries) > 1:
        fix = "write a row for each pair, with the columns winner, loser and count"
        raise table.error("is a square matrix whose rows and columns have the same names", fix=fix)
