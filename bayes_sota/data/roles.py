"""Which column has which role, by its name.

The only thing that is asked of cells is whether a column holds numbers, and whether names repeat.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from bayes_sota.core.errors import InputError, listed
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
        others = [name for name in self.free() if split_words(name)[-1:] == ["id"]]
        others = [name for name in others if len(set(map(str, self.table.columns[name]))) > 1]
        if others:
            self.roles.setdefault("unit", others[0])
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
        if unit is not None and key(unit) in NAMELESS and unit not in self.numeric:
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
