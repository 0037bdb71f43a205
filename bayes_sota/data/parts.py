"""What one method got in one run of one task, and the parts of an evaluation joined on the item.

What a join leaves out stands in its notes. ``tests/data/test_read_evaluations.py`` compares with
joins made by hand.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import nearest, shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.columns import several

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
    run_separator: str | None = None
    scorer: str | None = None


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
    task : str
    run : tuple
        Sorts the runs of one method: when, which epoch.
    label : str
        Name of the run. Default: its number.
    hashes : dict
        Fingerprint of each item, where the file has one.
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
    task: str = ""
    run: tuple[Any, ...] = ()
    label: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)
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

    def keys(self, prefixed: bool) -> tuple[str, ...]:
        """Names of the items, with their task where there are several."""
        return tuple(f"{self.task}/{item}" for item in self.items) if prefixed else self.items


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


def add_once(found: dict[str, Any], name: str, value: Any, place: str) -> None:
    """Add what may be there once; ``place`` says where and what, for the message."""
    if name in found:
        raise InputError(f"{place} {shown(name)} occurs more than once")
    found[name] = value


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


@dataclass(frozen=True, eq=False)
class Joined:
    """Outcomes of every run of every method, for the items that all of them have.

    Attributes
    ----------
    names, methods : tuple of str
        Name and method of each column.
    items : tuple of str
    values : (n_items, n_columns) array of float
        Outcomes; NaN where there is none.
    notes : tuple of str
    tasks : tuple of str or None
        Task of each item, where there are several.
    """

    names: tuple[str, ...]
    methods: tuple[str, ...]
    items: tuple[str, ...]
    values: FloatArray
    notes: tuple[str, ...]
    tasks: tuple[str, ...] | None


def join_parts(parts: Sequence[Part]) -> Joined:
    """Columns of all runs, rows of all items that every run has.

    Raises
    ------
    InputError
        The same run twice, runs or metrics that do not match, documents that
        differ, fewer than two common items, or more than half of a file's items lost.

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
    _check_comparable(parts)
    prefixed = len({part.task for part in parts}) > 1
    columns = _columns(parts)
    runs_of = Counter(method for method, _ in columns)
    keys = [
        run[0].items if not prefixed else tuple(key for part in run for key in part.keys(True))
        for run in columns.values()
    ]
    common = set(keys[0]).intersection(*(other for other in keys[1:] if other is not keys[0]))
    notes = _losses(parts, common, prefixed)
    items = keys[0] if len(common) == len(keys[0]) else tuple(k for k in keys[0] if k in common)
    task_of = {key: part.task for part in parts if prefixed for key in part.keys(True)}
    rows = []
    for known, run in zip(keys, columns.values(), strict=True):
        values = np.concatenate([part.values for part in run])
        place = {} if known is items else {key: i for i, key in enumerate(known)}
        rows.append(values if known is items else values[[place[item] for item in items]])
    return Joined(
        names=tuple(
            f"{method}@{run}" if runs_of[method] > 1 else method for method, run in columns
        ),
        methods=tuple(method for method, _ in columns),
        items=items,
        values=np.array(rows).T,
        notes=tuple(dict.fromkeys([*(note for part in parts for note in part.notes), *notes])),
        tasks=tuple(task_of[item] for item in items) if prefixed else None,
    )


def _columns(parts: Sequence[Part]) -> dict[tuple[str, str], list[Part]]:
    """Parts of each run of each method, one part per task."""
    methods: dict[str, dict[str, list[Part]]] = {}
    for part in parts:
        methods.setdefault(part.method, {}).setdefault(part.task, []).append(part)
    columns: dict[tuple[str, str], list[Part]] = {}
    for method, tasks in methods.items():
        _check_runs(method, tasks)
        for runs in tasks.values():
            for number, part in enumerate(sorted(runs, key=lambda part: part.run), start=1):
                columns.setdefault((method, part.label or str(number)), []).append(part)
    return columns


def _check_runs(method: str, tasks: Mapping[str, list[Part]]) -> None:
    for runs in tasks.values():
        seen: dict[object, Part] = {}
        for part in runs:
            first = seen.setdefault(part.label or part.run, part)
            if first is part:
                continue
            files = part.where if part.where == first.where else f"{first.where} and {part.where}"
            task = f" for task {shown(part.task)}" if part.task else ""
            raise InputError(
                f"{files}: the outcomes of {shown(method)}{task} are given twice; runs of one "
                "method differ in time, epoch, trial or what follows run_separator"
            )
    counts = {task: len(runs) for task, runs in tasks.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} of {shown(task)}" for task, count in counts.items())
        raise InputError(f"{shown(method)} has not as many runs of every task: {listed}")


def _check_comparable(parts: Sequence[Part]) -> None:
    """Refuse several metrics of a task, and several documents under one number."""
    first: dict[str, Part] = {}
    for part in parts:
        other = first.setdefault(part.task, part)
        if other.metric != part.metric:
            raise InputError(
                f"{other.where} gives {shown(other.metric)} and {part.where} {shown(part.metric)}; "
                "choose one for all"
            )
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for part in parts:
        differing = [
            item
            for item, fingerprint in part.hashes.items()
            if seen.setdefault((part.task, item), (fingerprint, part.where))[0] != fingerprint
        ]
        if differing:
            where = seen[part.task, differing[0]][1]
            raise InputError(
                f"{part.where} and {where} hold different documents (doc_hash) under the same "
                f"number: {len(differing)} of {len(part.hashes)}, the first is doc_id "
                f"{shown(differing[0])}"
            )


def _losses(parts: Sequence[Part], common: set[str], prefixed: bool) -> list[str]:
    """What is left out of each file; an error where it is most."""
    notes = []
    for part in parts:
        whole = not prefixed and len(common) == len(part.items)
        pairs = () if whole else zip(part.items, part.keys(prefixed), strict=True)
        lost = [item for item, key in pairs if key not in common]
        total = len(part.items) + len(part.left_out)
        if len(common) < 2 or len(lost) + len(part.left_out) > _LARGEST_LOSS * total:
            raise InputError(_mismatch(parts, common, (*part.left_out, *lost)))
        for items, reason in ((part.left_out, part.reason), (lost, "not in every file")):
            if items:
                notes.append(
                    f"{part.where}: {len(items)} of {total} items left out ({reason}), the first "
                    f"is {shown(items[0])}"
                )
    return notes


def _mismatch(parts: Sequence[Part], common: set[str], lost: Sequence[str]) -> str:
    sizes: dict[str, int] = {}
    for part in parts:
        size = len(part.items) + len(part.left_out)
        sizes[part.where] = max(size, sizes.get(part.where, 0))
    listed = [f"{where} has {size}" for where, size in sizes.items()]
    rest = f" and {len(listed) - 4} more files" if len(listed) > 4 else ""
    first = f"; the first without a match is {shown(lost[0])}" if lost else ""
    return (
        f"the items do not match: {', '.join(listed[:4])}{rest}, and {len(common)} "
        f"{'is' if len(common) == 1 else 'are'} in all{first}"
    )
