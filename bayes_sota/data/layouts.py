"""Which column has which role, by its name, and how a table holds its scores.

The only thing that is asked of cells is whether a column holds numbers, and whether names repeat.
A *board* has an entry and a score in every row; a *long* table repeats the entries over units;
*tasks* are columns beside an entry; a *wide* table has a unit in every row and a column for each
entry; a *pair* has a public and a private score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayes_sota.core.errors import listed, quoted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tables import Table
from bayes_sota.data.words import (
    LABELS,
    NAMELESS,
    NUMBERS,
    ROLES,
    UNITS,
    is_attribute,
    is_average,
    is_loss,
    is_role_word,
    is_spread,
    key,
    measure,
    place_in,
    split_words,
)

_SCORE_WORDS = frozenset(("accuracy", "acc", "score"))
_FLAGS = frozenset(("true", "false", "yes", "no", "none", ""))


class Header:
    """Columns of a table and their roles; those that a user named win over every name."""

    def __init__(self, table: Table, asked: Mapping[str, str], use: Sequence[str]) -> None:
        self.table = table
        self.use = [table.find(name, "use") for name in use]
        self.roles = {role: table.find(name, role) for role, name in asked.items()}
        self.numeric = {name for name in table.columns if table.parsed(name).is_numeric}
        if "score" not in self.roles and not self.use:
            found = {role: self.named(role, True) for role in ("public", "private")}
            pair = {role: names[0] for role, names in found.items() if names} | self.roles
            self.roles = pair if {"public", "private"} <= pair.keys() else self.roles
        self._name_roles()
        if not (self.use or self.roles.keys() & {"score", "public"}):
            self._find_score()
        if "entry" not in self.roles and self.roles.keys() & {"score", "public"}:
            self._find_entry()
        for role in ("se", "n"):
            if "score" in self.roles:
                self.name(role, self.beside([self.roles["score"]], role))

    def name(self, role: str, columns: Sequence[str]) -> None:
        """Give the first of some columns a role that no other has."""
        if columns:
            self.roles.setdefault(role, columns[0])

    def free(self, numeric: bool | None = None) -> list[str]:
        """Columns without a role, in order; those of numbers, or of text, where one is asked."""
        taken = {*self.roles.values(), *self.use}
        names = [name for name in self.table.columns if name not in taken]
        return [name for name in names if numeric in (None, name in self.numeric)]

    def named(self, role: str, numeric: bool | None = None) -> list[str]:
        """Free columns that are called so, the best name first."""
        found = {name: place_in(role, name) for name in self.free(numeric)}
        known = {name: place for name, place in found.items() if place is not None}
        return sorted(known, key=lambda name: (known[name], split_words(name)[-1:] != ["id"]))

    def scores(self) -> list[str]:
        """Free columns of numbers that no name rules out; yes and no only beside 0 and 1."""
        units = [role for role in UNITS if role in self.roles]
        found = [
            name
            for name in self.free(numeric=True)
            if not is_attribute(name, "entry" in self.roles)
            and not is_spread(name, self.table.columns)
            and not (units and is_role_word(name, *units))
        ]
        rest = [
            name
            for name in found
            if any(str(cell).strip().lower() not in _FLAGS for cell in self.table.columns[name])
        ]
        are_answers = all(np.isin(self.table.parsed(name).value, (0, 1)).all() for name in rest)
        return found if are_answers else rest

    def beside(self, columns: Sequence[str], role: str) -> list[str]:
        """For each column the one of the same name and a word for a role, if all have one."""
        of_stem: dict[tuple[str, ...], str] = {}
        for name in self.free(numeric=True):
            words = split_words(name)
            for i in range(len(words)):
                if "".join(words[i:]) in ROLES[role]:
                    of_stem.setdefault(tuple(words[:i]), name)
        stems = [tuple(split_words(column)) for column in columns]
        return [of_stem[stem] for stem in stems] if of_stem.keys() >= set(stems) else []

    def n_names(self, column: str) -> int:
        """Number of different cells."""
        return len(set(map(str, self.table.columns[column])))

    def texts(self) -> list[str]:
        """Free columns of text that no name rules out; the nameless one counts."""
        free = self.free(numeric=False)
        return [name for name in free if key(name) in NAMELESS or not is_attribute(name)]

    def refuse(self, names: Sequence[str], problem: str, parameter: str, fix: str = "") -> None:
        """Raise ``InputError`` if there are names of which something is wrong."""
        if names:
            raise self.table.error(problem.format(listed(names)), parameter, fix)

    def check_some(self, columns: Sequence[str]) -> None:
        """Raise ``InputError`` with what could be meant, unless there are columns of scores."""
        if not columns:
            names = self.free(numeric=True) or list(self.table.columns)
            self.refuse(names, "no column holds scores by its name; there are {}", "score")

    def _name_roles(self) -> None:
        kinds: dict[str, bool | None] = dict.fromkeys(LABELS) | dict.fromkeys(NUMBERS, True)
        if not (self.roles.keys() & {"score", "public"} or self.named("score")):
            kinds["entry"] = False  # numbers below "system" are scores of a competitor
        ids = [name for name in self.free() if split_words(name)[-1:] == ["id"]]
        count = {name: self.n_names(name) for name in ids}
        for role, numeric in kinds.items():
            names = self.named(role, numeric)
            entry = self.roles.get("entry")
            if role == "unit" and entry and 1 < self.n_names(entry) < len(self.table):
                # an id that is never the same only numbers the rows
                count = {name: n for name, n in count.items() if n < len(self.table)}
                names = [name for name in names if name not in ids or name in count]
            self.name(role, names)
        several = [name for name in self.free() if count.get(name, 0) > 1]
        self.name("unit", sorted(several, key=lambda name: (-count[name], name)))

    def _find_score(self) -> None:
        """Column of scores by its name, if there is one; of several metrics a user chooses."""
        general, metrics = self.named("score", True), self.named("metric_score", True)
        scores = self.scores()
        if metrics and measure(metrics[0]) != "accuracy":  # beside top1 stands its error, top1_err
            metrics += [name for name in scores if is_loss(name) and name not in metrics]
        if not general and len(metrics) > 1:
            self.refuse(metrics, "{} are several metrics", "score")
        partly = [name for name in scores if not _SCORE_WORDS.isdisjoint(split_words(name))]
        alone = partly if len(partly) == 1 and "entry" in self.roles else []
        found = [*general, *metrics, *alone, *self.named("probability", True), *self.named("score")]
        self.name("score", found)

    def _find_entry(self) -> None:
        """Without a known name, the only text beside a score names the entries."""
        found = [name for name in self.texts() if key(name) in NAMELESS] or self.texts()
        texts = {role: name for role, name in self.roles.items() if name not in self.numeric}
        if "unit" in texts and ("public" in self.roles or key(texts["unit"]) in NAMELESS):
            found = [self.roles.pop("unit")]
        elif not found and "run" in texts:
            found = [self.roles.pop("run")]  # a run of a retrieval system is a system
        self.refuse(found[1:] and found, "{} could name the entries", "entry")
        self.name("entry", found)


@dataclass(frozen=True)
class Layout:
    """Columns that hold scores; their names are labels of the role ``across``, if there is one."""

    kind: str
    roles: dict[str, str]
    columns: list[str]
    across: str = ""
    beside: dict[str, list[str]] = field(default_factory=dict)  # errors and sizes of each column
    score: str = ""


def find_layout(table: Table, asked: Mapping[str, str], use: Sequence[str]) -> Layout:
    """Layout of a table, from the names of its columns and what a user asked for.

    Raises
    ------
    InputError
        A column that is not there, or names that may mean several things.
    """
    header = Header(table, asked, use)
    roles = header.roles
    if {"public", "private"} <= roles.keys():
        return Layout("pair", roles, [roles["public"], roles["private"]], "board")
    return _rows_of_entries(header) if "entry" in roles else _rows_of_units(header)


def _rows_of_entries(header: Header) -> Layout:
    table, roles = header.table, header.roles
    averages = [name for name in header.free(numeric=True) if is_average(name)]
    averages = [name for name in averages if not {"rank", "win"} & set(split_words(name))]
    named = [roles["score"]] if "score" in roles else header.scores()
    columns = header.use or named or averages[: len(averages) == 1]
    header.check_some(columns)
    repeat = header.n_names(roles["entry"]) < len(table)
    if len(columns) > 1:
        return _columns_of_tasks(header, columns, repeat)
    roles["score"] = columns[0]
    if repeat:
        if not roles.keys() & set(UNITS):
            problem = (
                "names in column {} repeat, so every row needs a unit (an item, round or seed)"
            )
            header.refuse([roles["entry"]], problem, "unit")
        if is_role_word(columns[0], "probability"):
            header.name("label", header.named("label"))
        return Layout("long", roles, columns)
    several = [roles[role] for role in ("task", "metric") if role in roles]
    several = [column for column in several if header.n_names(column) > 1]
    fix = "if it does not matter, leave the column out with {option}"
    problem = "entries differ in {}, so their scores cannot be compared"
    header.refuse(several, problem, "leave_out", fix)
    if "n" in roles:
        scores, n = (table.numbers(roles[role]) for role in ("score", "n"))
        if np.nanmax(scores) > 1 and np.all(scores % 1 == 0) and np.all(scores <= n):
            fix = "write accuracies between 0 and 1 or with a percent sign"
            problem = "beside numbers of items, {} holds numbers of right answers, or percent"
            header.refuse(columns, problem, "score", fix)
    kept = {role: name for role, name in roles.items() if role not in (*UNITS, "label")}
    return Layout("board", kept, columns)


def scale_of(values: FloatArray) -> tuple[bool, bool]:
    """Whether some numbers are above 1, and above 100: others are not compared with them."""
    largest = np.nan_to_num(np.abs(values)).max()
    return bool(largest > 1), bool(largest > 100)


def _columns_of_tasks(header: Header, columns: list[str], repeat: bool) -> Layout:
    """Columns of tasks beside the entries, which may stand in several rows as runs."""
    roles = header.roles
    roles.pop("score", None)
    units = roles.keys() & {"unit", "task", "metric"}
    if units and repeat:
        header.refuse(columns, "every row has several numbers: {}", "score")
    if not header.use and len({scale_of(header.table.numbers(name)) for name in columns}) > 1:
        fix = "choose those that hold scores with {option}"
        header.refuse(columns, "columns of numbers are on different scales: {}", "use", fix)
    kept = {role: name for role, name in roles.items() if role not in units}
    beside = {role: header.beside(columns, role) for role in ("se", "n") if role not in roles}
    return Layout("tasks", kept, columns, "task", {role: of for role, of in beside.items() if of})


def _check_one_scale(header: Header, columns: list[str]) -> None:
    """Raise ``InputError`` where all of some columns is above 1, and all of the others below."""
    numbers = [header.table.parsed(column).value for column in columns]
    above = [name for name, of in zip(columns, numbers, strict=True) if np.nanmin(of) > 1]
    below = [name for name, of in zip(columns, numbers, strict=True) if np.nanmax(of) < 1]
    if len(above) + len(below) == len(columns):
        fix = "choose those that hold scores with {option}"
        both = [*above, *below] if above and below else []
        header.refuse(both, "columns of numbers are on different scales: {}", "use", fix)


def _rows_of_units(header: Header) -> Layout:
    table, roles = header.table, header.roles
    score = roles.pop("score", None)
    header.name("label", header.named("label"))
    texts, units = header.texts(), roles.keys() & set(UNITS)
    others = [name for name in header.scores() if name != score]
    if score is not None and not (texts or others or units or "label" in roles):
        return Layout("board", roles | {"score": score}, [score])
    has_classes = "label" in roles and roles["label"] not in header.numeric
    columns = header.use or (texts if has_classes else others)
    if score is not None:
        problem = f"{quoted(score)} looks like a metric, and beside it stand {{}}"
        header.refuse(others, problem, "use", "choose the columns that hold scores with {option}")
        columns = [score]
    header.check_some(columns)
    if len(columns) > 2 and not (header.use or "label" in roles):
        _check_one_scale(header, columns)
    steps = {name: np.diff(np.sort(table.parsed(name).value)) for name in columns}
    counters = [name for name, of in steps.items() if len(of) > 4 and (of == 1).all()]
    if not header.use and len(counters) < len(columns):
        fix = "if so, leave it out with {option}"
        header.refuse(counters, "{} numbers the rows, so it holds no scores", "leave_out", fix)
    stems = {column.rstrip("0123456789") for column in columns}
    if not header.use and len(columns) > len(stems) == 1 and is_role_word(stems.pop(), *UNITS):
        problem = "columns {} look like numbered units, and nothing names entries"
        header.refuse(columns, problem, "entry")
    if not units:
        problem = "rows may be entries or units: nothing says what column {} names"
        header.refuse(texts[:1], problem, "rows")
        trained = [name for name in table.columns if key(name) in ("step", "globalstep")]
        fix = "keep the scores of the final models"
        header.refuse(trained, "rows are steps of training (column {}), not units", "", fix)
    if len(columns) == 1 and units == {"run"}:
        problem = "rows are runs (column {}), and nothing names the entries"
        header.refuse([roles["run"]], problem, "entry")
    return Layout("wide", roles, columns, "entry")
