"""Manifests: one row per board, whose columns mean what the options of ``sota`` mean.

A row is made into the arguments of ``bayes-sota sota`` and read by that command, so that no column
has a meaning, a default or a check of its own (``tests/cli/test_batch.py``).
"""

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from bayes_sota.core.command import OutputFile
from bayes_sota.core.errors import InputError, located
from bayes_sota.core.text import shown
from bayes_sota.data.files.opening import open_table
from bayes_sota.data.files.tables import Table
from bayes_sota.data.frames import is_frame
from bayes_sota.leaderboard.command import sota

_OF_THE_RUN = {"text", "json", "quiet", "cores", "no_sensitivity"}  # and all files that are written
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")  # on Windows no files
_LARGEST_WHOLE = 2**53  # up to which every whole number is a float of its own
_YES, _NO = ("true", "yes", "1"), ("", "false", "no", "0")

OPTIONS = {
    name: option
    for option in sota.params
    if isinstance(option, click.Option) and not option.hidden
    if not isinstance(option.type, OutputFile)
    if (name := option.opts[0].lstrip("-").replace("-", "_")) not in _OF_THE_RUN
}
"""Options that a column can have, by its name."""


@dataclass(frozen=True)
class Row:
    """One board of a manifest.

    Attributes
    ----------
    identifier : str
        Name of its files.
    arguments : tuple of str
        What ``bayes-sota sota`` gets.
    inputs : tuple of str
        Files that the arguments name, and that may be there or not.
    problem : str
        Why there are no such arguments; empty where there are.
    """

    identifier: str
    arguments: tuple[str, ...]
    inputs: tuple[str, ...] = ()
    problem: str = ""


def read_manifest(source: Any) -> tuple[Row, ...]:
    """Rows of a manifest.

    Parameters
    ----------
    source : path or data frame
        Columns ``identifier``, ``file`` (relative to the manifest) and options of ``sota``.

    Raises
    ------
    InputError
        No rows, an unknown column, or an identifier that is missing, there twice or no safe name of
        a file.
    """
    table = open_table(source)
    columns = _checked_columns(table)
    folder = Path() if is_frame(source) else Path(source).parent
    seen: dict[str, str] = {}
    rows = []
    for number, place in enumerate(table.places):
        where = f"{table.where}: {place}"
        with located(where):
            cells = {name: _text(values[number], name) for name, values in columns.items()}
        identifier = cells.pop("identifier")
        _check_identifier(identifier, where)
        if identifier.lower() in seen:
            raise InputError(
                f"{where}: the identifier {shown(identifier)} is that of {seen[identifier.lower()]}"
                " (names of files may differ in more than capitals)"
            )
        seen[identifier.lower()] = place
        rows.append(_row(identifier, cells, folder.absolute()))
    return tuple(rows)


def _checked_columns(table: Table) -> dict[str, Any]:
    known = {"identifier", "file", *OPTIONS}
    for place, name in enumerate(table.header):
        if name not in known or name in table.header[:place]:
            problem = "occurs twice" if name in known else "is unknown"
            raise InputError(
                f"{table.where}: the column {shown(name)} {problem}: a manifest has identifier, "
                "file, and options of bayes-sota sota written like n_test (not those of output, "
                "cores or sensitivity)"
            )
    if "identifier" not in table.header:
        raise InputError(f"{table.where}: the column identifier is missing")
    return dict(zip(table.header, table.columns, strict=True))


def _text(cell: Any, name: str) -> str:
    """Cell as it would be typed; a whole number is one though its column has gaps."""
    if cell is None or (isinstance(cell, float | np.floating) and math.isnan(cell)):
        return ""
    number = float(cell) if isinstance(cell, float | np.floating) else math.nan
    if name == "maximum" or not number.is_integer():
        return str(cell).strip()
    if abs(number) >= _LARGEST_WHOLE:
        raise InputError(
            f"{name} is {number:g}, a float, which holds no whole number above 2**53 exactly: give "
            "the column as text or as Int64"
        )
    return str(int(number))


def _check_identifier(identifier: str, where: str) -> None:
    bad = not _IDENTIFIER.fullmatch(identifier) or identifier.endswith(".")
    if bad or _DEVICES.fullmatch(identifier):
        raise InputError(
            f"{where}: the identifier {shown(identifier)} is no name for a file: up to 100 "
            "letters (a-z), digits, points, hyphens and underscores, a letter or digit first"
        )


def _row(identifier: str, cells: dict[str, str], folder: Path) -> Row:
    """Arguments of a row, its files with the folder of the manifest."""
    file, model = cells.pop("file", ""), cells.get("model", "")
    if model and (folder / model).is_file():
        cells["model"] = str(folder / model)
    paths = ([str(folder / file)] if file else []) + ([cells["model"]] if model else [])
    try:
        words = [word for name, cell in cells.items() for word in _argument(name, cell)]
    except InputError as error:
        return Row(identifier, (), (), str(error))
    return Row(identifier, (*words, *(["--", paths[0]] if file else [])), tuple(paths))


def _argument(name: str, cell: str) -> list[str]:
    """Option with its value; nothing for an empty cell, or a flag that is not set."""
    option = OPTIONS[name]
    if not option.is_flag:
        return [f"{option.opts[0]}={cell}"] if cell else []
    if cell.lower() not in (*_YES, *_NO):
        raise InputError(f"{name} is true or false, got {shown(cell)}")
    return [option.opts[0]] if cell.lower() in _YES else []
