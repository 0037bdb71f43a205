"""What one method got in one run of one task, before anything is joined.

``tests/data/test_read_evaluations.py`` compares with outcomes written by hand.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown

__all__ = [
    "Choices",
    "Part",
    "choose",
    "file_names",
    "item_name",
    "outcome_of",
    "several",
]


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
