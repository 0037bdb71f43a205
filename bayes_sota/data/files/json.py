"""JSON and JSON lines: no key twice, every error with its place.

A table is a list of records, names with scores, or either one level down.
"""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.files.tables import Table, plain_cell

_ESCAPE = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a pair is one character
    r"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)

_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, where: str, *, line: int | None = None, exact: bool = False) -> Any:
    """Value of a JSON text.

    Half of a character (a lone surrogate, as cut-off text has) becomes U+FFFD, which every output
    can hold.

    Parameters
    ----------
    text, where : str
    line : int, optional
        Line of the file that the text is, for messages.
    exact : bool
        Whether numbers keep their digits, as ``Decimal``, and NaN and Infinity are refused.

    Examples
    --------
    >>> parse_json('{"acc": 1.0}', "a.json"), parse_json('{"acc": 1.10}', "a.json", exact=True)
    ({'acc': 1.0}, {'acc': Decimal('1.10')})
    """
    place = where if line is None else f"{where}, line {line}"
    if _HALF.search(text):
        text = _ESCAPE.sub(lambda match: r"\ufffd" if match["half"] else match[0], text)
    options: dict[str, Any] = {"object_pairs_hook": _unique}
    if exact:
        options |= {"parse_float": Decimal, "parse_constant": _refused}
    try:
        return json.loads(text, **options)
    except json.JSONDecodeError as error:
        number = error.lineno if line is None else line
        raise InputError(
            f"{where}: is not JSON (line {number}, column {error.colno}: {error.msg})"
        ) from None
    except RecursionError:
        raise InputError(f"{place}: is not JSON: nested too deeply") from None
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    except (ValueError, ArithmeticError):
        raise InputError(f"{place}: a number with too many digits") from None


def try_json(text: str) -> Any:
    """Value of a JSON text, None where it is none."""
    try:
        return parse_json(text, "")
    except InputError:
        return None


def json_lines(text: str, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and object of every line that is not blank."""
    start, line = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        row, start, line = text[start:end].strip(), end + 1, line + 1
        if row:
            value = parse_json(row, where, line=line)
            if not isinstance(value, dict):
                raise InputError(f"{where}, line {line}: must be an object, got {shown(value)}")
            yield f"{where}, line {line}", value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise InputError(f"the key {shown(key)} occurs twice in one object")
            seen.add(key)
    return content


def _refused(constant: str) -> Any:
    raise InputError(f"{constant} is not a JSON number")


_SHAPE = "JSON of a table is a list of records, or an object of names and scores"


def parse_json_table(text: str, where: str, stem: str = "") -> Table:
    """Table of a JSON text; numbers keep their digits.

    Examples
    --------
    >>> table = parse_json_table('{"A": 0.910, "B": 0.9}', "board.json")
    >>> table.header, [str(score) for score in table.columns[1]]
    (('name', 'score'), ['0.910', '0.9'])
    """
    if not text.strip():
        raise InputError(f"{where}: the file is empty")
    content = parse_json(text, where, exact=True)
    if isinstance(content, list):
        return _of_records(content, where, stem)
    if not isinstance(content, dict):
        raise InputError(f"{where}: {_SHAPE}, got {shown(content)}")
    for name, value in content.items():
        if isinstance(value, dict | list):
            raise InputError(f"{where}: {_SHAPE}; here {shown(name)} is neither")
    places = [f"name {shown(name)}" for name in content]
    return Table(("name", "score"), (tuple(content), tuple(content.values())), places, where, stem)


def _of_records(content: list[Any], where: str, stem: str) -> Table:
    header: dict[str, None] = {}
    for index, record in enumerate(content):
        if not isinstance(record, dict):
            raise InputError(f"{where}: record {index + 1} is not an object: {shown(record)}")
        header |= dict.fromkeys(record)
    columns = tuple([plain_cell(record.get(name)) for record in content] for name in header)
    places = [f"record {index + 1}" for index in range(len(content))]
    return Table(tuple(header), columns, places, where, stem)
