"""Parts of an evaluation joined on the item: what all of them hold, and what that leaves out.

``tests/data/test_read_evaluations.py`` compares with joins made by hand.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.parts import Part

__all__ = ["Joined", "join_parts"]

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
