"""JSON to a table: a list of records, names with scores, or either one level down."""

from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.files import limits
from bayes_sota.data.files.json_text import parse_json
from bayes_sota.data.files.tables import Nested, Table

__all__ = ["parse_json_table"]

_LISTS = ("entries", "results", "leaderboard", "submissions", "data")
_SHAPES = (
    'a list of records, an object of names and scores, or an object with a list of records in "'
    + '", "'.join(_LISTS)
    + '"'
)


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
        limits.check_shape(0, len(header), where)
    limits.check_shape(len(content), len(header), where)
    columns = tuple([_cell(record.get(name)) for record in content] for name in header)
    places = [f"record {index + 1}" for index in range(len(content))]
    return Table(tuple(header), columns, places, where, stem)


def _cell(value: Any) -> Any:
    return Nested(str(value)) if isinstance(value, dict | list) else value
