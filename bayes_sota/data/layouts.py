"""Which column has which role, by its name, and how a table holds its scores.

The only thing that is asked of cells is whether a column holds numbers, and whether names repeat.
A *board* has an entry and a score in every row; a *long* table repeats the entries over units;
*tasks* are columns beside an entry; a *wide* table has a unit in every row and a column for each
entry; a *pair* has a public and a private score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
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
    is_spread,
    key,
    measure,
    place_in,
    split_words,
)

_OF_ROWS = frozenset((*UNITS, "label"))
_SCORE_WORDS = frozenset(("accuracy", "acc", "score"))
_FLAGS = frozenset(("true", "false", "yes", "no", "none", ""))


class Header:
    """Columns of a table and their roles; those that a user named win over every name."""

    def __init__(self, table: Table, asked: Mapping[str, str], use: Sequence[str]) -> None:
        self.table = table
        self.use = [table.find(name, "use") for name in use]
        self.roles = {role: table.find(name, role) for role, name in asked.items()}
        self.numeric = {name for name in table.columns if table.parsed(name).is_numeric}
        self._find_pair()
        self._name_roles(asked)
        if "score" not in self.roles and not self.use and not self.is_pair:
            self._find_score()
        if "entry" not in self.roles and {"score", "public"} & self.roles.keys():
            self._find_entry()
        for role in ("se", "n"):
            if "score" in self.roles and role not in self.roles:
                for name in self.beside([self.roles["score"]], role):
                    self.roles[role] = name

    @property
    def is_pair(self) -> bool:
        """Whether there are a public and a private score."""
        return {"public", "private"} <= self.roles.keys()

    def free(self) -> list[str]:
        """Columns without a role, in order."""
        taken = {*self.roles.values(), *self.use}
        return [name for name in self.table.columns if name not in taken]

    def numbers(self) -> list[str]:
        """Free columns of numbers."""
        return [name for name in self.free() if name in self.numeric]

    def named(self, role: str, numeric: bool = False) -> list[str]:
        """Free columns that are called so, the best name first."""
        names = self.numbers() if numeric else self.free()
        found = {name: place for name in names if (place := place_in(role, name)) is not None}
        return sorted(found, key=lambda name: (found[name], split_words(name)[-1:] != ["id"]))

    def scores(self) -> list[str]:
        """Free columns of numbers that no name rules out."""
        of_entry = "entry" in self.roles
        found = [
            name
            for name in self.numbers()
            if not is_attribute(name, of_entry)
            and not is_spread(name, self.table.columns)
            and not any(role in self.roles and place_in(role, name) is not None for role in UNITS)
        ]
        rest = [name for name in found if not self._is_flag(name)]
        if len(rest) == len(found):
            return found
        are_answers = all(np.isin(self.table.parsed(name).value, (0, 1)).all() for name in rest)
        return found if are_answers else rest

    def _is_flag(self, name: str) -> bool:
        return all(str(cell).strip().lower() in _FLAGS for cell in self.table.columns[name])

    def beside(self, columns: Sequence[str], role: str) -> list[str]:
        """For each column the one of the same name and a word for a role, if all have one."""
        of_stem: dict[tuple[str, ...], str] = {}
        for name in self.numbers():
            words = split_words(name)
            for i in range(len(words)):
                if "".join(words[i:]) in ROLES[role]:
                    of_stem.setdefault(tuple(words[:i]), name)
        stems = [tuple(split_words(column)) for column in columns]
        return [of_stem[stem] for stem in stems] if of_stem.keys() >= set(stems) else []

    def lone_average(self) -> list[str]:
        """The only average, which is the score where there is no other."""
        found = [name for name in self.numbers() if is_average(name)]
        found = [name for name in found if not {"rank", "win"} & set(split_words(name))]
        return found if len(found) == 1 else []

    def texts(self) -> list[str]:
        """Free columns of text that no name rules out; the nameless one counts."""
        free = [name for name in self.free() if name not in self.numeric]
        return [name for name in free if key(name) in NAMELESS or not is_attribute(name)]

    def repeats(self, role: str) -> bool:
        """Whether a name stands in several rows."""
        cells = list(map(str, self.table.columns[self.roles[role]]))
        return len(set(cells)) < len(cells)

    def _name_roles(self, asked: Mapping[str, str]) -> None:
        for role in (*LABELS, *NUMBERS):
            if role in self.roles:
                continue
            for name in self.named(role, numeric=role in NUMBERS):
                self.roles[role] = name
                if role != "unit" or not self._counts_rows():
                    break
        others = sorted(name for name in self.free() if split_words(name)[-1:] == ["id"])
        distinct = {name: len(set(map(str, self.table.columns[name]))) for name in others}
        if others and max(distinct.values()) > 1:
            self.roles.setdefault("unit", max(others, key=distinct.__getitem__))
        entry = self.roles.get("entry")
        if (
            entry in self.numeric
            and "entry" not in asked
            and not ("score" in self.roles or self.named("score") or self.is_pair)
        ):
            del self.roles["entry"]  # in a wide table, a competitor that is called "system"

    def _counts_rows(self) -> bool:
        """Whether the unit only numbers the rows of a long table."""
        return "entry" in self.roles and self.repeats("entry") and not self.repeats("unit")

    def _find_pair(self) -> None:
        """Columns of a public and a private score."""
        lacking = [role for role in ("public", "private") if role not in self.roles]
        found = {role: name for role in lacking for name in self.named(role, numeric=True)[:1]}
        if len(found) == len(lacking) and "score" not in self.roles and not self.use:
            self.roles |= found

    def _find_score(self) -> None:
        """Column of scores by its name, if there is one; of several metrics a user chooses."""
        general = self.named("score", numeric=True)
        metrics = self.named("metric_score", numeric=True)
        scores = self.scores()
        if metrics and measure(metrics[0]) != "accuracy":  # beside top1 stands its error, top1_err
            metrics += [name for name in scores if is_loss(name) and name not in metrics]
        if len(metrics) > 1 and not general:
            problem = f"{listed(metrics)} are several metrics"
            raise self.table.error(problem, "score", "choose one with {option}")
        partly = [name for name in scores if not _SCORE_WORDS.isdisjoint(split_words(name))]
        alone = partly if len(partly) == 1 and "entry" in self.roles else []
        likely = self.named("probability", numeric=True)
        found = [*general, *metrics, *alone, *likely, *self.named("score")]
        if found:
            self.roles["score"] = found[0]

    def _find_entry(self) -> None:
        """Without a known name, the only text beside a score names the entries."""
        texts = self.texts()
        found = [name for name in texts if key(name) in NAMELESS] or texts
        unit = self.roles.get("unit")
        if (
            unit is not None
            and unit not in self.numeric
            and (self.is_pair or key(unit) in NAMELESS)
        ):
            found = [self.roles.pop("unit")]
        run = self.roles.get("run")
        if not found and run is not None and run not in self.numeric:
            found = [self.roles.pop("run")]  # a run of a retrieval system is a system
        if len(found) > 1:
            problem = f"{listed(found)} could name the entries"
            raise self.table.error(problem, "entry", "choose one with {option}")
        if found:
            self.roles["entry"] = found[0]

    def find_label(self) -> None:
        """Column of true labels, where there may be one; fractions are no labels."""
        for name in self.named("label")[:1]:
            if name not in self.numeric or not np.any(np.nan_to_num(self.table.numbers(name)) % 1):
                self.roles.setdefault("label", name)

    def nothing_to_score(self) -> InputError:
        """Error that names what could be meant."""
        names = listed(self.numbers() or self.table.columns)
        problem = f"no column holds scores by its name; there are {names}"
        return self.table.error(problem, "score", "if one of them does, say so with {option}")


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
    """Layout of a table, from the names of its columns and what a user asked for."""
    header = Header(table, asked, use)
    roles = header.roles
    if header.is_pair:
        return Layout("pair", roles, [roles["public"], roles["private"]], "board")
    return _rows_of_entries(header) if "entry" in roles else _rows_of_units(header)


def _rows_of_entries(header: Header) -> Layout:
    roles = header.roles
    named = [roles["score"]] if "score" in roles else header.scores()
    columns = header.use or named or header.lone_average()
    if not columns:
        raise header.nothing_to_score()
    if len(columns) > 1:
        return _columns_of_tasks(header, columns)
    roles["score"] = columns[0]
    if not header.repeats("entry"):
        _check_one_task(header)
        _check_shares(header)
        kept = {role: name for role, name in roles.items() if role not in _OF_ROWS}
        return Layout("board", kept, columns)
    if not roles.keys() & set(UNITS):
        raise header.table.error(
            f"names in column {quoted(roles['entry'])} repeat, so every row needs a unit "
            "(an item, data set, round or seed)",
            "unit",
            "name its column with {option}",
        )
    if place_in("probability", roles["score"]) is not None:
        header.find_label()
    return Layout("long", roles, columns)


def _columns_of_tasks(header: Header, columns: list[str]) -> Layout:
    """Columns of tasks beside the entries, which may stand in several rows as runs."""
    roles = header.roles
    roles.pop("score", None)
    units = roles.keys() & {"unit", "task", "metric"}
    if units and header.repeats("entry"):
        problem = f"every row has several numbers: {listed(columns)}"
        raise header.table.error(problem, "score", "choose one with {option}")
    if not header.use:
        _check_one_scale(header, columns)
    kept = {role: name for role, name in roles.items() if role not in units}
    beside = {role: header.beside(columns, role) for role in ("se", "n") if role not in roles}
    return Layout("tasks", kept, columns, "task", {role: of for role, of in beside.items() if of})


def _check_one_scale(header: Header, columns: Sequence[str]) -> None:
    """Scores that compete are all shares, all percent, or all something else."""
    scales: dict[int, list[str]] = {}
    for column in columns:
        largest = float(np.nanmax(np.abs(header.table.numbers(column)), initial=0))
        scales.setdefault(int(largest > 1) + int(largest > 100), []).append(column)
    if len(scales) > 1:
        parts = " and ".join(listed(names) for names in scales.values())
        problem = f"columns of numbers are on different scales: {parts}"
        raise header.table.error(problem, "use", "choose those that hold scores with {option}")


def _check_one_task(header: Header) -> None:
    """Entries of a leaderboard were scored on the same task."""
    for role in ("task", "metric"):
        column = header.roles.get(role)
        if column is not None and len(set(header.table.columns[column])) > 1:
            problem = f"entries differ in {quoted(column)}, so their scores cannot be compared"
            fix = "if it does not matter, leave the column out with {option}"
            raise header.table.error(problem, "leave_out", fix)


def _check_shares(header: Header) -> None:
    """Beside the numbers of items stand scores, not numbers of right answers."""
    if "n" not in header.roles:
        return
    scores, n = (header.table.numbers(header.roles[role]) for role in ("score", "n"))
    if np.nanmax(scores) > 1 and np.all(scores % 1 == 0) and np.all(scores <= n):
        problem = "numbers of right answers, or percent, beside numbers of items"
        fix = "write accuracies between 0 and 1 or with a percent sign"
        raise InputError(problem, where=header.table.where, column=header.roles["score"], fix=fix)


def _rows_of_units(header: Header) -> Layout:
    table, roles = header.table, header.roles
    score = roles.pop("score", None)
    header.find_label()
    texts, others = header.texts(), header.scores()
    others = [name for name in others if name != score]
    if score is not None and not (texts or others or roles.keys() & _OF_ROWS):
        return Layout("board", roles | {"score": score}, [score])
    columns = header.use or others
    if "label" in roles and roles["label"] not in header.numeric and not header.use:
        columns = texts  # predicted classes
    if score is not None:
        _check_alone(table, score, others)
        columns = [score]
    if not columns:
        raise header.nothing_to_score()
    if not header.use:
        _check_no_counter(table, columns)
        _check_numbered(table, columns)
    if not roles.keys() & set(UNITS):
        _check_rows(table, texts)
    if len(columns) == 1 and roles.keys() & set(UNITS) == {"run"}:
        problem = f"rows are runs (column {quoted(roles['run'])}), and nothing names the entries"
        raise table.error(problem, "entry", "name their column with {option}")
    return Layout("wide", roles, columns, "entry")


def _check_alone(table: Table, score: str, others: Sequence[str]) -> None:
    """A column that is called like a metric is no competitor of the columns beside it."""
    if others:
        problem = f"{quoted(score)} looks like a metric, and beside it stand {listed(others)}"
        raise table.error(problem, "use", "choose the columns that hold scores with {option}")


def _check_no_counter(table: Table, columns: Sequence[str]) -> None:
    """A column that numbers the rows is no competitor of columns that do not."""
    if len(table) < 6:
        return
    numbers = {name: np.sort(table.parsed(name).value) for name in columns}
    counters = [name for name, of in numbers.items() if (np.diff(of) == 1).all()]
    if counters and len(counters) < len(columns):
        problem = f"column {quoted(counters[0])} numbers the rows, so it holds no scores"
        raise table.error(problem, "leave_out", "if so, leave it out with {option}")


def _check_numbered(table: Table, columns: Sequence[str]) -> None:
    """Columns that are numbered seeds, folds or questions are no entries."""
    stems = {column.rstrip("0123456789") for column in columns}
    stem = stems.pop()
    if len(columns) > 1 and not stems and any(place_in(role, stem) is not None for role in UNITS):
        problem = f"columns {listed(columns)} look like numbered units, and nothing names entries"
        raise table.error(problem, "entry", "name their column with {option}")


def _check_rows(table: Table, texts: Sequence[str]) -> None:
    """Rows that no column names are units if nothing else names them."""
    if texts:
        column = quoted(texts[0])
        problem = f"rows may be entries or units: nothing says what column {column} names"
        raise table.error(problem, "rows", "say which with {option}")
    steps = [name for name in table.columns if key(name) in ("step", "globalstep")]
    if steps:
        problem = f"rows are steps of training (column {quoted(steps[0])}), not independent units"
        raise table.error(problem, fix="keep the scores of the final models")
