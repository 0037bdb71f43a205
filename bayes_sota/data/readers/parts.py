"""What one method got in one run of one task, and the parts of an evaluation joined on the item.

What a join leaves out stands in its notes. ``tests/data/test_read_evaluations.py`` compares with
joins made by hand.
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import nearest, several, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.outcomes import Runs, runs_at, runs_behind
from bayes_sota.data.responses import Responses

_LARGEST_LOSS = 0.5  # of the items of a file; more is another test set
_ENDINGS = (
    ".gz",
    ".zip",
    ".csv",
    ".tsv",
    ".txt",
    ".jsonl",
    ".json",
    ".parquet",
    ".xlsx",
    ".xlsm",
)


@dataclass(frozen=True)
class Choices:
    """What the user chose; None where nothing was said."""

    metric: str | None = None
    task_column: str | None = None
    cluster_column: str | None = None
    run_column: str | None = None
    item_column: str | None = None
    leave_out: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """Outcomes of one method in one run of one task.

    Attributes
    ----------
    where : str
        The file, for messages.
    method : str
    items : tuple of str
    values : ndarray, shape (n_items,)
        Outcome of each item; NaN where the method has none.
    metric : str
        What the outcomes are; runs and methods of one task need the same.
    metrics : tuple of str
        What else they could have been, and this.
    task : str
    run : tuple
        Sorts the runs of one method: when, which epoch.
    hashes : dict
        Fingerprint of the document of each item, where the file has one.
    clusters : dict
        What each item belongs to, where that was asked for.
    left_out : tuple of str
        Items of the file without an outcome.
    reason : str
        Why they have none.
    notes : tuple of str
        What else a user should know.
    """

    where: str
    method: str
    items: tuple[str, ...]
    values: FloatArray
    metric: str = ""
    metrics: tuple[str, ...] = ()
    task: str = ""
    run: tuple[Any, ...] = ()
    hashes: Mapping[str, str] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, where: str, method: str, outcomes: Mapping[str, float | None], **more: Any
    ) -> "Part":
        """Part of the outcome of each item; items whose outcome is None are left out."""
        known = {item: outcome for item, outcome in outcomes.items() if outcome is not None}
        lost = tuple(item for item in outcomes if item not in known)
        values = np.array(list(known.values()), np.float64)
        return cls(where, method, tuple(known), values, left_out=lost, **more)


def file_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Name of each file that no other has: without its endings, else its folder.

    Examples
    --------
    >>> list(file_names([Path("runs/tree.csv"), Path("runs/forest.csv.gz")]).values())
    ['tree', 'forest']
    >>> list(file_names([Path("tree/out.csv"), Path("forest/out.csv")]).values())
    ['tree', 'forest']
    """
    stems = {}
    for path in paths:
        name = path.name
        for ending in _ENDINGS:
            name = name.removesuffix(ending)
        stems[path] = name
    if len(set(stems.values())) == len(stems):
        return stems
    return {path: path.resolve().parent.name for path in paths}


def item_name(value: object, place: str) -> str:
    """Name of an item: 1, 1.0 and "1" are the same.

    Examples
    --------
    >>> item_name(1, "line 1"), item_name(1.0, "line 1"), item_name(" a ", "line 1")
    ('1', '1', 'a')
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or not str(value).strip():
        raise InputError(f"{place}: an item's name is a text or a whole number, got {shown(value)}")
    return str(value).strip()


def add_once(answers: dict[str, Any], name: str, value: Any, place: str) -> None:
    """Add what may be there once; ``place`` says where and what, for the message."""
    if name in answers:
        raise InputError(f"{place} {shown(name)} occurs more than once")
    answers[name] = value


def outcome_of(value: object, place: str, what: str) -> float:
    """Finite number that an outcome is."""
    if isinstance(value, bool | int | float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise InputError(f"{place}: {what} must be a number, true or false, got {shown(value)}")


def choose(
    names: Sequence[str], wanted: str | None, preferred: Sequence[str], where: str, option: str
) -> str:
    """The name asked for, else the first that is preferred, else the only one."""
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"{where}: there is no {option} {shown(wanted)}; it holds {several(names)}"
                f"{nearest(wanted, names)}"
            )
        return wanted
    usual = [name for name in preferred if name in names]
    if usual or len(names) == 1:
        return (usual or names)[0]
    if not names:
        raise InputError(f"{where}: there is no {option} in it")
    raise InputError(f"{where}: choose one {option} of {several(names)}: {option}=...")


class ItemLabels:
    """Tasks and clusters of the items of a log, by keys of what it says of each."""

    def __init__(self, choices: Choices) -> None:
        keys = {"task": choices.task_column, "cluster": choices.cluster_column}
        self._keys = {what: key for what, key in keys.items() if key is not None}
        self._found: dict[str, dict[str, str]] = {"task": {}, "cluster": {}}

    def add(self, item: str, about: object, place: str) -> None:
        """Keep what a log says about an item.

        Raises
        ------
        InputError
            It does not say what was asked for, or something else than before.
        """
        for what, key in self._keys.items():
            known = about if isinstance(about, Mapping) else {}
            if known.get(key) is None:
                there = f"it has {several(map(str, known))}" if known else "there is nothing of it"
                raise InputError(
                    f"{place}: nothing says {shown(key)} ({what}_column) of the item; {there}"
                    f"{nearest(key, list(map(str, known)))}"
                )
            name = item_name(known[key], f"{place}, {shown(key)}")
            first = self._found[what].setdefault(item, name)
            if first != name:
                raise InputError(
                    f"{place}: item {shown(item)} has {what} {shown(name)}, but {shown(first)} "
                    f"before; every item has one {what}"
                )

    def parts(
        self,
        where: str,
        method: str,
        runs: Mapping[tuple[Any, ...], Mapping[str, float | None]],
        *,
        task: str,
        hashes: Mapping[str, str] | None = None,
        **more: Any,
    ) -> list[Part]:
        """Parts of the outcomes of every run, one for each task of which the items say that.

        ``task`` is that of items that say none; ``more`` are fields of every ``Part``.
        """
        parts: list[Part] = []
        more["clusters"] = self._found["cluster"]
        for run in sorted(runs):
            of_task: dict[str, dict[str, float | None]] = {}
            for item, outcome in sorted(runs[run].items(), key=lambda pair: pair[1] is None):
                of_task.setdefault(self._found["task"].get(item, task), {})[item] = outcome
            for name, outcomes in of_task.items():
                marks = {item: mark for item, mark in (hashes or {}).items() if item in outcomes}
                parts.append(
                    Part.of(where, method, outcomes, task=name, run=run, hashes=marks, **more)
                )
        return parts


@dataclass(frozen=True, eq=False)
class Joined:
    """Outcomes of every method, for the items that all of them have.

    Attributes
    ----------
    names : tuple of str
        Method of each column.
    items : tuple of str
    values : (n_items, n_columns) array of float
        Outcomes, the mean over runs; NaN where there is none.
    n_runs : int, ndarray of int, shape (n_items, n_columns), or None
        Runs behind each outcome, of each where they differ; None where there is only one.
    are_answers : bool
        Whether every outcome of every run is right (1) or wrong (0).
    notes : tuple of str
    tasks, clusters : tuple of str or None
        Task and cluster of each item, where there are several.
    """

    names: tuple[str, ...]
    items: tuple[str, ...]
    values: FloatArray
    n_runs: Runs
    are_answers: bool
    notes: tuple[str, ...]
    tasks: tuple[str, ...] | None
    clusters: tuple[str, ...] | None

    @property
    def labels(self) -> dict[str, Any]:
        """What the rows and columns are, as ``Responses`` and ``ItemScores`` take it."""
        return {key: getattr(self, key) for key in ("names", "items", "clusters", "tasks")}

    def responses(self, **options: Any) -> Responses:
        """Right and wrong answers; ``options`` are those of ``Responses``."""
        return Responses(
            self.values, n_runs=self.n_runs, notes=self.notes, **self.labels, **options
        )

    def item_scores(self, **options: Any) -> ItemScores:
        """Numbers, whose items are data sets where each row has its own; options of ``ItemScores``.

        Tasks of one item each are no parts of a test, but the sample.
        """
        are_parts = self.tasks is None or len(set(self.tasks)) < len(self.items)
        if are_parts or options.get("labels") is not None:
            return ItemScores(self.values, **self.labels, **options)
        labels = self.labels | {"items": self.tasks, "tasks": None}
        return ItemScores(self.values, **labels, **options).of_tasks("data set")

    def without(self, leave_out: Collection[str]) -> "Joined":
        """The same without some methods and tasks, by their names.

        Raises
        ------
        InputError
            A name that is unknown.
        """
        check_left_out(leave_out, self.names, self.tasks or ())
        if not leave_out:
            return self
        columns = [j for j, name in enumerate(self.names) if name not in leave_out]
        of_rows = self.tasks or ("",) * len(self.items)
        return self._only([i for i, of in enumerate(of_rows) if of not in leave_out], columns)

    def _only(self, rows: list[int], columns: list[int]) -> "Joined":
        def of(labels: tuple[str, ...] | None) -> Any:
            return None if labels is None else tuple(labels[i] for i in rows)

        return replace(
            self,
            names=tuple(self.names[j] for j in columns),
            items=of(self.items),
            values=self.values[np.ix_(rows, columns)],
            n_runs=runs_at(self.n_runs, rows, columns),
            tasks=of(self.tasks),
            clusters=of(self.clusters),
        )


def join_parts(parts: Sequence[Part]) -> Joined:
    """A column of each method, a row of each item that every method has; runs are averaged.

    Raises
    ------
    InputError
        The same run twice, metrics that do not match, documents that differ, a method without a
        task that others have, fewer than two common items, or more than half of a file's items
        lost.

    Examples
    --------
    >>> tree = Part.of("a.csv", "tree", {"1": 1.0, "2": 0.0, "3": 1.0})
    >>> forest = Part.of("b.csv", "forest", {"3": 1.0, "2": 1.0, "1": 0.0, "4": 1.0})
    >>> joined = join_parts([tree, forest])
    >>> joined.items, joined.values.tolist()
    (('1', '2', '3'), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> joined.notes
    ("b.csv: 1 of 4 items left out (not in every file), the first is '4'",)
    """
    tasks = {part.task for part in parts} - {""}
    if len(tasks) == 1:  # it is that of the files that do not name theirs
        parts = [replace(part, task=next(iter(tasks))) for part in parts]
    notes = [note for part in parts for note in part.notes]
    _check_comparable(parts)
    _check_given_once(parts)
    several_tasks = len({part.task for part in parts}) > 1
    if several_tasks:
        _refuse_lacking(parts)
    columns: dict[str, list[Part]] = {}
    for part in parts:
        columns.setdefault(part.method, []).append(part)
    places = _Places(chain(*columns.values()), several_tasks)
    values = np.zeros((len(columns), len(places.names)))
    counts = np.zeros(values.shape, np.int32)
    for total, count, of in zip(values, counts, columns.values(), strict=True):
        for part in of:
            total[places.of(part)] += part.values
            count[places.of(part)] += 1
    common = counts.all(axis=0)
    notes += _losses(parts, common, places)
    values, counts = (numbers.compress(common, axis=1) for numbers in (values, counts))
    n_runs, told = runs_behind(counts.T)
    clusters = _clusters(parts, places)
    return Joined(
        names=tuple(columns),
        items=tuple(compress(places.names, common)),
        values=(values / counts).T,
        n_runs=n_runs,
        are_answers=all(np.isin(part.values, (0, 1)).all() for part in parts),
        notes=tuple(dict.fromkeys((*notes, *told))),
        tasks=tuple(compress(places.tasks, common)) if several_tasks else None,
        clusters=tuple(clusters[i] for i in np.flatnonzero(common).tolist()) if clusters else None,
    )


def _refuse_lacking(parts: Sequence[Part]) -> None:
    """Raise ``InputError`` where a method lacks a task that another has."""
    has = {(part.method, part.task) for part in parts}
    for method in dict.fromkeys(part.method for part in parts):
        lacked = [t for t in dict.fromkeys(p.task for p in parts) if (method, t) not in has]
        if lacked:
            raise InputError(
                f"{shown(method)} has no answers to {several(lacked)}; add them, or leave such "
                "classifiers or tasks out by their names (leave_out)"
            )


def check_left_out(names: Collection[str], methods: Iterable[str], tasks: Iterable[str]) -> None:
    """Raise ``InputError`` unless every name is that of a method or a task."""
    known = list(dict.fromkeys([*methods, *tasks]))
    for name in names:
        if name not in known:
            raise InputError(
                f"there is no classifier or task {shown(name)} (leave_out); there are "
                f"{several(known)}{nearest(name, known)}"
            )


class _Places:
    """Every item of some parts with its place and task; those of a table are looked up once."""

    def __init__(self, parts: Iterable[Part], prefixed: bool) -> None:
        self.names: dict[str, int] = {}
        self.tasks: list[str] = []
        self._rows: dict[tuple[int, str], IntArray] = {}
        for part in parts:
            own = (id(part.items), part.task)
            if own not in self._rows:
                start = f"{part.task}/" if prefixed else ""
                places = [self.names.setdefault(start + i, len(self.names)) for i in part.items]
                self._rows[own] = np.array(places, np.intp)
                self.tasks += [part.task] * (len(self.names) - len(self.tasks))

    def of(self, part: Part) -> IntArray:
        """Places of the items of a part."""
        return self._rows[id(part.items), part.task]


def _clusters(parts: Sequence[Part], places: _Places) -> dict[int, str]:
    """Cluster of each item, by its place, as far as there are any."""
    clusters: dict[int, str] = {}
    for part in filter(lambda part: part.clusters, parts):
        for place, item in zip(places.of(part).tolist(), part.items, strict=True):
            name = part.clusters.get(item)
            if name is not None and clusters.setdefault(place, name) != name:
                raise InputError(
                    f"{part.where}: item {shown(list(places.names)[place])} is in cluster "
                    f"{shown(name)}, elsewhere in {shown(clusters[place])}; every item has one "
                    "cluster"
                )
    return clusters


def _check_given_once(parts: Sequence[Part]) -> None:
    """Refuse the same run of a task twice."""
    seen: dict[tuple[object, ...], Part] = {}
    for part in parts:
        first = seen.setdefault((part.method, part.task, part.run), part)
        if first is part:
            continue
        files = part.where if part.where == first.where else f"{first.where} and {part.where}"
        task = f" for task {shown(part.task)}" if part.task else ""
        raise InputError(
            f"{files}: the outcomes of {shown(part.method)}{task} are given twice; runs of one "
            "method differ in time or epoch"
        )


def _check_comparable(parts: Sequence[Part]) -> None:
    """Refuse several metrics of a task, and several documents under one number."""
    first: dict[str, Part] = {}
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for part in parts:
        other = first.setdefault(part.task, part)
        if other.metric != part.metric and other.metric and part.metric:
            raise InputError(
                f"{other.where} gives {shown(other.metric)} and {part.where} {shown(part.metric)}; "
                "choose one for all"
            )
        for item, mark in part.hashes.items():
            known, where = seen.setdefault((part.task, item), (mark, part.where))
            if known != mark:
                raise InputError(
                    f"{part.where} and {where} hold different documents under the same number, by "
                    f"their hashes, the first is {shown(item)}; evaluate the models on the same "
                    "ones"
                )


def _losses(parts: Sequence[Part], common: NDArray[np.bool_], places: _Places) -> list[str]:
    """What is left out of each file; an error where it is most."""
    notes = []
    for part in parts:
        lost = [part.items[row] for row in np.flatnonzero(~common[places.of(part)])]
        total = len(part.items) + len(part.left_out)
        if common.sum() < 2 or len(lost) + len(part.left_out) > _LARGEST_LOSS * total:
            raise InputError(_mismatch(parts, int(common.sum()), (*part.left_out, *lost)))
        for items, reason in ((part.left_out, part.reason), (lost, "not in every file")):
            if items:
                notes.append(
                    f"{part.where}: {len(items)} of {total} items left out ({reason}), the first "
                    f"is {shown(items[0])}"
                )
    return notes


def _mismatch(parts: Sequence[Part], n_common: int, lost: Sequence[str]) -> str:
    first = f"; the first without a match is {shown(lost[0])}" if lost else ""
    files = several(dict.fromkeys(part.where for part in parts), 4)
    return f"the items do not match: {n_common} of them in all of {files}{first}"
