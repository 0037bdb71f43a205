"""What one method got in one run of one task, before anything is joined.

``tests/data/test_read_evaluations.py`` compares with outcomes written by hand.

Parts of an evaluation joined on the item: what all of them hold, and what that leaves out.

``tests/data/test_read_evaluations.py`` compares with joins made by hand.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown


@dataclass(frozen=True)
class Choices:
    """What the user chose; None where nothing was said."""

    metric: str | None = None
    cluster_column: str | None = None
    item_column: str | None = None
    run_separator: str | None = None
    scorer: str | None = None


@dataclass(frozen=True)
class Part:
    """Outcomes of one method in one run of one task.

    Attributes
    ----------
    where : str
        The file, for messages.
    method : str
    outcomes : dict
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
    outcomes: Mapping[str, float]
    metric: str = ""
    task: str = ""
    run: tuple[Any, ...] = ()
    label: str = ""
    hashes: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


def file_names(paths: Sequence[Path]) -> dict[Path, str]:
    """Name of each file that no other has: without its endings, else its folder.

    Examples
    --------
    >>> list(file_names([Path("runs/tree.csv"), Path("runs/forest.csv.gz")]).values())
    ['tree', 'forest']
    >>> list(file_names([Path("tree/out.csv"), Path("forest/out.csv")]).values())
    ['tree', 'forest']
    """
    stems = {path: _without_endings(path.name) for path in paths}
    if len(set(stems.values())) == len(stems):
        return stems
    return {path: path.resolve().parent.name for path in paths}


def _without_endings(name: str) -> str:
    for ending in (".gz", ".zip", ".csv", ".tsv", ".txt", ".jsonl", ".json", ".parquet"):
        name = name.removesuffix(ending)
    return name


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


def several(names: Sequence[str]) -> str:
    """Some names, for messages.

    Examples
    --------
    >>> several(["a", "b"])
    "'a', 'b'"
    """
    rest = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(shown(name) for name in names[:8]) + rest


def choose(
    names: Sequence[str], wanted: str | None, preferred: Sequence[str], where: str, option: str
) -> str:
    """The name asked for, else the first that is preferred, else the only one."""
    if wanted is not None:
        if wanted not in names:
            raise InputError(
                f"{where}: there is no {option} {shown(wanted)}; it holds {several(names)}"
            )
        return wanted
    for name in preferred:
        if name in names:
            return name
    if len(names) == 1:
        return names[0]
    if not names:
        raise InputError(f"{where}: there is no {option} in it")
    raise InputError(f"{where}: choose one {option} of {several(names)}: {option}=...")


_LARGEST_LOSS = 0.5  # of the items of a file; more is another test set


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
    """

    names: tuple[str, ...]
    methods: tuple[str, ...]
    items: tuple[str, ...]
    values: NDArray[np.float64]
    notes: tuple[str, ...]


def join_parts(parts: Sequence[Part]) -> Joined:
    """Columns of all runs, rows of all items that every run has.

    Raises
    ------
    InputError
        One method only, the same run twice, runs or metrics that do not match, documents that
        differ, fewer than two common items, or more than half of a file's items lost.

    Examples
    --------
    >>> tree = Part("a.csv", "tree", {"1": 1.0, "2": 0.0, "3": 1.0})
    >>> forest = Part("b.csv", "forest", {"3": 1.0, "2": 1.0, "1": 0.0, "4": 1.0})
    >>> joined = join_parts([tree, forest])
    >>> joined.items, joined.values.tolist()
    (('1', '2', '3'), [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> joined.notes
    ("b.csv: 1 of 4 items left out (not in every file), the first is '4'",)
    """
    parts = _with_task(parts)
    _check_same_metric(parts)
    _check_same_documents(parts)
    prefixed = len({part.task for part in parts}) > 1
    columns = _columns(parts)
    if len({method for method, _ in columns}) < 2:
        raise InputError(
            f"all outcomes are of one method, {shown(parts[0].method)}; a comparison needs two"
        )
    merged = [_merged(run, prefixed) for run in columns.values()]
    common = set(merged[0]).intersection(*merged[1:])
    notes = _losses(parts, common, prefixed)
    items = tuple(item for item in merged[0] if item in common)
    return Joined(
        names=_names(columns),
        methods=tuple(method for method, _ in columns),
        items=items,
        values=np.array([[column[item] for item in items] for column in merged]).T,
        notes=tuple(dict.fromkeys([*(note for part in parts for note in part.notes), *notes])),
    )


def _merged(run: Sequence[Part], prefixed: bool) -> Mapping[str, float]:
    """Outcomes of one run, of all tasks."""
    if not prefixed:
        return run[0].outcomes
    return {_key(part, item, True): value for part in run for item, value in part.outcomes.items()}


def _with_task(parts: Sequence[Part]) -> list[Part]:
    """Where one task is known, it is that of the files that do not name theirs."""
    tasks = {part.task for part in parts} - {""}
    only = tasks.pop() if len(tasks) == 1 else ""
    return [replace(part, task=part.task or only) for part in parts]


def _key(part: Part, item: str, prefixed: bool) -> str:
    return f"{part.task}/{item}" if prefixed else item


def _columns(parts: Sequence[Part]) -> dict[tuple[str, str], list[Part]]:
    """Parts of each run of each method, one part per task."""
    columns: dict[tuple[str, str], list[Part]] = {}
    for method in dict.fromkeys(part.method for part in parts):
        tasks: dict[str, list[Part]] = {}
        for part in parts:
            if part.method == method:
                tasks.setdefault(part.task, []).append(part)
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


def _check_same_metric(parts: Sequence[Part]) -> None:
    first: dict[str, Part] = {}
    for part in parts:
        other = first.setdefault(part.task, part)
        if other.metric != part.metric:
            raise InputError(
                f"{other.where} gives {shown(other.metric)} and {part.where} {shown(part.metric)}; "
                "choose one for all"
            )


def _check_same_documents(parts: Sequence[Part]) -> None:
    seen: dict[tuple[str, str], tuple[str, str]] = {}
    for part in parts:
        differing: list[str] = []
        for item, fingerprint in part.hashes.items():
            if seen.setdefault((part.task, item), (fingerprint, part.where))[0] != fingerprint:
                differing.append(item)
        if differing:
            other = seen[part.task, differing[0]][1]
            raise InputError(
                f"{part.where} and {other} hold different documents (doc_hash) under the same "
                f"number: {len(differing)} of {len(part.hashes)}, the first is doc_id "
                f"{shown(differing[0])}"
            )


def _names(columns: Mapping[tuple[str, str], object]) -> tuple[str, ...]:
    methods = [method for method, _ in columns]
    return tuple(
        f"{method}@{label}" if methods.count(method) > 1 else method for method, label in columns
    )


def _losses(parts: Sequence[Part], common: set[str], prefixed: bool) -> list[str]:
    """What is left out of each file; an error where it is most."""
    notes = []
    for part in parts:
        lost = [item for item in part.outcomes if _key(part, item, prefixed) not in common]
        total = len(part.outcomes) + len(part.left_out)
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
        size = len(part.outcomes) + len(part.left_out)
        sizes[part.where] = max(size, sizes.get(part.where, 0))
    listed = [f"{where} has {size}" for where, size in sizes.items()]
    rest = f" and {len(listed) - 4} more files" if len(listed) > 4 else ""
    first = f"; the first without a match is {shown(lost[0])}" if lost else ""
    return (
        f"the items do not match: {', '.join(listed[:4])}{rest}, and {len(common)} "
        f"{'is' if len(common) == 1 else 'are'} in all{first}"
    )
