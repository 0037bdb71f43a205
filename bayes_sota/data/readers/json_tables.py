"""JSON to a table: a list of records, names with scores, or either one level down."""

import json
from decimal import Decimal
from typing import Any

from bayes_sota.data.readers.tables import Table
from bayes_sota.errors import InputError
from bayes_sota.shown_text import shown

__all__ = ["parse_json"]

_LISTS = ("entries", "results", "leaderboard", "submissions", "data")
_SHAPES = (
    'a list of records, an object of names and scores, or an object with a list of records in "'
    + '", "'.join(_LISTS)
    + '"'
)


def parse_json(text: str, where: str, stem: str = "") -> Table:
    """Table of a JSON text; numbers keep their digits.

    Examples
    --------
    >>> table = parse_json('{"A": 0.910, "B": 0.9}', "board.json")
    >>> table.header, [str(score) for score in table.columns[1]]
    (('name', 'score'), ['0.910', '0.9'])
    """
    if not text.strip():
        raise InputError(f"{where}: the file is empty")
    content = _loaded(text, where)
    if isinstance(content, dict):
        found = [key for key in _LISTS if isinstance(content.get(key), list)]
        if len(found) > 1:
            raise InputError(f"{where}: lists in {' and '.join(map(shown, found))}: keep only one")
        content = content[found[0]] if found else content
    if isinstance(content, dict):
        return _of_names(content, where, stem)
    if isinstance(content, list):
        return _of_records(content, where, stem)
    raise InputError(f"{where}: JSON of a leaderboard is {_SHAPES}, got {shown(content)}")


def _loaded(text: str, where: str) -> Any:
    def refuse(constant: str) -> Any:
        raise InputError(f"{where}: {constant} is not a JSON number")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for i, key in enumerate(keys) if key in keys[:i])
            raise InputError(f"{where}: {shown(twice)} occurs twice")
        return content

    try:
        return json.loads(
            text, parse_float=Decimal, parse_constant=refuse, object_pairs_hook=unique
        )
    except InputError:
        raise
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(f"{where}: not valid JSON ({place}): {error.msg}") from None
    except RecursionError:
        raise InputError(f"{where}: not valid JSON: nested too deeply") from None
    except (ValueError, ArithmeticError):
        raise InputError(f"{where}: a number with too many digits") from None


def _of_names(content: dict[str, Any], where: str, stem: str) -> Table:
    for name, value in content.items():
        if isinstance(value, dict | list):
            kind = "an object" if isinstance(value, dict) else "a list"
            raise InputError(
                f"{where}: JSON of a leaderboard is {_SHAPES}; here {shown(name)} is {kind}"
            )
    places = [f"name {shown(name)}" for name in content]
    columns = (tuple(content), tuple(content.values()))
    return Table(("name", "score"), columns, places, where, stem)


def _of_records(content: list[Any], where: str, stem: str) -> Table:
    header: dict[str, None] = {}
    for index, record in enumerate(content):
        if not isinstance(record, dict):
            raise InputError(f"{where}: record {index + 1} is not an object: {shown(record)}")
        header |= dict.fromkeys(record)
    columns = tuple(tuple(record.get(name) for record in content) for name in header)
    places = [f"record {index + 1}" for index in range(len(content))]
    return Table(tuple(header), columns, places, where, stem)
