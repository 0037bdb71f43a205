"""Which column has which role, by its name, and how a table holds its scores.

A *board* has an entry and a score in every row; a *long* table repeats the entries over units;
*tasks* are columns beside an entry; a *wide* table has a unit in every row and a column for each
entry; a *pair* has a public and a private score.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from bayes_sota.core.errors import listed, quoted
from bayes_sota.data import words
from bayes_sota.data.tables import Table, leaving_out
from bayes_sota.data.words import NAMELESS, SETS, UNITS, key, split_words

_SCORES = {"score", "public"}
_NO_SCORES = "no column name looks like scores; the columns are {}"
_FLAGS = {"true", "false", "yes", "no", "none", ""}


@dataclass(frozen=True)
class Layout:
    """Columns of scores, whose names are labels of the role ``across``."""

    kind: str
    roles: dict[str, str]
    columns: list[str]
    across: str = ""
    beside: dict[str, list[str]] = field(default_factory=dict)  # errors and sizes of each column


def find_layout(table: Table, asked: Mapping[str, str], use: Sequence[str]) -> Layout:
    """Layout of a table, from the names of its columns and what a user asked for."""
    header = Header(table, asked, use)
    roles = header.roles
    if {"public", "private"} <= roles.keys():
        return Layout("pair", roles, [roles["public"], roles["private"]], "board")
    return _rows_of_entries(header) if "entry" in roles else _rows_of_units(header)


class Header:
    """Columns of a table and their roles."""

    def __init__(self, table: Table, asked: Mapping[str, str], use: Sequence[str]) -> None:
        self.table = table
        self.use = [table.find(name, "use") for name in use]
        self.roles = {role: table.find(name, role) for role, name in asked.items()}
        self.numeric = {name for name in table.columns if table.parsed(name).is_numeric}
        pair = [self.named(role, True)[:1] for role in ("public", "private")]
        if all(pair) and "score" not in self.roles and not self.use:
            self.roles = {"public": pair[0][0], "private": pair[1][0]} | self.roles
        self._name_roles()
        if not (self.use or self.roles.keys() & _SCORES):
            self._find_score()
        if "entry" not in self.roles and self.roles.keys() & _SCORES:
            self._find_entry()

    def name(self, role: str, columns: Sequence[str]) -> None:
        """Give the first of some columns a role that no other has."""
        if columns:
            self.roles.setdefault(role, columns[0])

    def free(self, numeric: bool | None = None) -> list[str]:
        """Columns without a role, in order."""
        taken = {*self.roles.values(), *self.use}
        names = [name for name in self.table.columns if name not in taken]
        return [name for name in names if numeric in (None, name in self.numeric)]

    def named(self, role: str, numeric: bool | None = None) -> list[str]:
        """Free columns whose names fit a role, the best name first."""
        found = {name: words.place_in(role, name) for name in self.free(numeric)}
        known = {name: place for name, place in found.items() if place is not None}
        return sorted(known, key=lambda name: (known[name], not key(name).endswith("id")))

    def scores(self) -> list[str]:
        """Free numeric columns that no name rules out."""
        ends = [*SETS["spreads"], *SETS["bounds"], *words.ROLES["n"]]
        averages = "", *SETS["averages"]  # the SD of net_mean may be called net_sd
        stems = {key(name).removesuffix(of) for name in self.table.columns for of in averages}
        beside = {stem + end for stem in stems for end in ends}
        found = [
            name
            for name in self.free(numeric=True)
            if not words.is_attribute(name, "entry" in self.roles)
            and key(name) not in beside
            and not words.is_role_word(name, *UNITS)
        ]
        cells = [map(str.lower, map(str, self.table.columns[name])) for name in found]
        flags = [name for name, of in zip(found, cells, strict=True) if _FLAGS.issuperset(of)]
        values = (np.nan_to_num(self.table.parsed(name).value) for name in found)
        are_answers = all(np.isin(value, (0, 1)).all() for value in values)
        return [name for name in found if are_answers or name not in flags]

    def beside(self, columns: Sequence[str], role: str) -> list[str]:
        """For each column the one with a word for a role in addition, if all have one."""
        names = {key(name): name for name in self.free(numeric=True)}
        ends = words.ROLES[role]
        found = [[key(name) + end for end in ends if key(name) + end in names] for name in columns]
        return [names[of[0]] for of in found] if all(found) else []

    def n_names(self, column: str) -> int:
        return len(set(map(str, self.table.columns[column])))

    def texts(self) -> list[str]:
        """Free columns of text that no name rules out."""
        free = self.free(numeric=False)
        return [of for of in free if key(of) in NAMELESS or not words.is_attribute(of)]

    def refuse(self, names: Sequence[str], problem: str, parameter: str, fix: str = "") -> None:
        """Raise ``InputError`` if a problem applies to some names."""
        if names:
            raise self.table.error(problem.format(listed(names)), parameter, fix)

    def _name_roles(self) -> None:
        entry, *others = words.LABELS
        has_score = self.roles.keys() & _SCORES or self.named("score")
        # numbers below "system" are scores of a competitor
        self.name(entry, self.named(entry, None if has_score else False))
        n_entries = self.n_names(self.roles[entry]) if entry in self.roles else 1
        ids = {
            name: self.n_names(name) for name in self.free() if split_words(name)[-1:] == ("id",)
        }
        repeat = 1 < n_entries < len(self.table)  # what never does only numbers the rows
        counters = {name for name, n in ids.items() if repeat and n == len(self.table)}
        if repeat:
            repeating = (of for of in self.named("unit") if self.n_names(of) < len(self.table))
            self.name("unit", list(repeating))
        for role in (*others, *words.NUMBERS):
            names = self.named(role, True if role in words.NUMBERS else None)
            self.name(role, [name for name in names if name not in counters])
        rest = [name for name in self.free() if ids.get(name, 0) > 1 and name not in counters]
        self.name("unit", sorted(rest, key=lambda name: (-ids[name], name)))

    def _find_score(self) -> None:
        general, metrics = self.named("score", True), self.named("metric_score", True)
        for name in self.texts() if general or metrics else self.free(numeric=False):
            if words.is_of_scores(name) and self.table.holds_more(name):
                self.table.printed(name)  # which refuses it
        scores = self.scores()
        if metrics and words.measure(metrics[0]) != "accuracy":  # whose error may stand beside it
            metrics += [name for name in scores if words.is_loss(name) and name not in metrics]
        self.refuse([] if general else metrics[1:] and metrics, "{} are several metrics", "score")
        partly = [name for name in scores if not SETS["of_scores"].isdisjoint(split_words(name))]
        alone = partly if len(partly) == 1 and "entry" in self.roles else []
        found = [*general, *metrics, *alone, *self.named("probability", True), *self.named("score")]
        self.name("score", found)

    def _find_entry(self) -> None:
        found = self.texts()
        texts = {role: name for role, name in self.roles.items() if name not in self.numeric}
        if "unit" in texts and ("public" in self.roles or key(texts["unit"]) in NAMELESS):
            found = [self.roles.pop("unit")]
        elif not found and "run" in texts:
            found = [self.roles.pop("run")]  # a run of a retrieval system is a system
        elif not found and key(texts.get("cluster", "")) == "article" and "unit" not in self.roles:
            found = [self.roles.pop("cluster")]  # a paper has its method
        self.refuse(found[1:] and found, "{} could name the entries", "entry")
        self.name("entry", found)


def _rows_of_entries(header: Header) -> Layout:
    table, roles = header.table, header.roles
    averages = [name for name in header.free(numeric=True) if words.is_average(name)]
    averages = [name for name in averages if not {"rank", "win"} & {*split_words(name)}]
    named = [roles["score"]] if "score" in roles else header.scores()
    columns = header.use or named or averages[: len(averages) == 1]
    sides = [name for name in columns if key(name) in SETS["claims"]]
    problem = "{} are both sides of claims, which bayes-sota claim batch reads"
    header.refuse([] if header.use else sides, problem, "use")
    header.refuse([] if columns else list(table.columns), _NO_SCORES, "score")
    beside = {role: header.beside(columns, role) for role in ("se", "n") if role not in roles}
    beside = {role: names for role, names in beside.items() if names}
    if len(columns) > 1:
        splits = [name for name in columns if key(name) in SETS["splits"]]
        problem, fix = "{} look like parts of one benchmark, not tasks", "choose one with {option}"
        header.refuse(splits if splits[1:] and not header.use else [], problem, "use", fix)
        kept = {role: roles[role] for role in roles if role not in ("unit", "task", "metric")}
        return Layout("tasks", kept, columns, _numbered(columns) or "task", beside)
    roles["score"] = columns[0]
    if header.n_names(roles["entry"]) < len(table):
        problem = "names in {} repeat, so every row needs a unit (an item, round or seed)"
        fix = "say which with {option}, or remove duplicate rows"
        header.refuse([] if roles.keys() & {*UNITS} else [roles["entry"]], problem, "unit", fix)
        if words.is_role_word(columns[0], "probability"):
            header.name("label", header.named("label"))
        return Layout("long", roles, columns, beside=beside)
    several = [roles[role] for role in ("task", "metric") if role in roles]
    several = [column for column in several if header.n_names(column) > 1]
    fix = f"if it does not matter, leave it out with {leaving_out(several)}"
    problem = "entries differ in {}, so their scores cannot be compared"
    header.refuse(several, problem, "leave_out", fix)
    if "n" in roles:
        scores, n = (table.numbers(roles[role]) for role in ("score", "n"))
        if np.nanmax(scores) > 1 and np.all((scores % 1 == 0) & (scores <= n)):
            problem = "beside numbers of items, {} holds numbers of correct answers, or percent"
            fix = "write accuracies between 0 and 1 or with a percent sign"
            header.refuse(columns, problem, "score", fix)
    kept = {role: roles[role] for role in roles if role not in (*UNITS, "label")}
    return Layout("board", kept, columns, beside=beside)


def _rows_of_units(header: Header) -> Layout:
    roles = header.roles
    score = roles.pop("score", "")
    header.name("label", header.named("label"))
    if "unit" in roles and header.n_names(roles["unit"]) == len(header.table):
        numbers = {name: header.n_names(name) for name in header.named("unit")}
        header.name("cluster", [of for of, n in numbers.items() if 1 < n < len(header.table)])
    texts, units = header.texts(), roles.keys() & {*UNITS}
    others = [name for name in header.scores() if name != score]
    if score and not (texts or others or units or "label" in roles):
        return Layout("board", roles | {"score": score}, [score])
    columns = header.use or ([score] if score else others)
    if "label" in roles:
        _check_labels(header.table, roles["label"], columns)
    header.refuse([] if columns else list(header.table.columns), _NO_SCORES, "score")
    problem = "the first of {} looks like a metric, the others like entries or metrics"
    header.refuse([score, *others] if score and others else [], problem, "use")
    problem = "columns {} look like numbered units, and no column names the entries"
    header.refuse(columns if _numbered(columns) and not header.use else [], problem, "entry")
    steps = [name for name in header.table.columns if key(name) in SETS["steps"]]
    runs = [roles["run"]] if units == {"run"} and len(columns) == 1 else []
    problem = "rows may be entries or units; the name of column {} does not show which"
    unclear = runs if units else (texts or steps)[:1]
    header.refuse(unclear, problem + " (its NAME is empty)" * (unclear == [""]), "rows")
    return Layout("wide", roles, columns, "entry")


def _check_labels(table: Table, label: str, columns: Sequence[str]) -> None:
    """Refuse anything but probabilities beside labels 0 and 1."""
    classes, *outputs = (table.parsed(name).value for name in (label, *columns))
    are_answers = all(np.isin(np.nan_to_num(cells), (0, 1)).all() for cells in outputs)
    if are_answers or not np.isin(classes, (0, 1)).all():
        problem = f"beside classes in {quoted(label)}, columns need probabilities of class 1"
        fix = "instead of predicted classes write 1 (right) or 0"
        drop = f"; if 1 is right already, leave the classes out with {leaving_out([label])}"
        raise table.error(problem, fix=fix + drop * are_answers)


def _numbered(columns: Sequence[str]) -> str:
    """Role of columns such as seed1 and seed2; else ""."""
    stems = {column.rstrip("0123456789") for column in columns}
    if len(stems) > 1 or len(columns) < 2:
        return ""
    return next((role for role in UNITS if words.is_role_word(*stems, role)), "")
