"""JSON and JSON lines from strangers: strict, bounded in depth, every error with its place."""

import json
from collections.abc import Iterator
from typing import Any

from bayes_sota.errors import InputError
from bayes_sota.shown_text import shown

__all__ = ["json_lines", "parse_value", "try_parse"]


def parse_value(text: str, where: str, line: int | None = None) -> Any:
    """Value of a JSON text; NaN and Infinity are read, and are no outcome anywhere.

    Examples
    --------
    >>> parse_value('{"acc": 1.0}', "a.json")
    {'acc': 1.0}
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        number = error.lineno if line is None else line
        raise InputError(
            f"{where}: is not JSON (line {number}, column {error.colno}: {error.msg})"
        ) from None
    except RecursionError:
        raise InputError(f"{_at(where, line)}: is not JSON: nested too deeply") from None
    except InputError as error:
        raise InputError(f"{_at(where, line)}: {error}") from None
    except ValueError:
        raise InputError(f"{_at(where, line)}: a number with too many digits") from None


def try_parse(text: str) -> Any:
    """Value of a JSON text, None where it is none."""
    try:
        return parse_value(text, "")
    except InputError:
        return None


def json_lines(text: str, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and object of every line that is not blank."""
    start, line = 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line += 1
        row = text[start:end].strip()
        start = end + 1
        if not row:
            continue
        value = parse_value(row, where, line)
        if not isinstance(value, dict):
            raise InputError(f"{where}, line {line}: must be an object, got {shown(value)}")
        yield f"{where}, line {line}", value


def _at(where: str, line: int | None) -> str:
    return where if line is None else f"{where}, line {line}"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for i, key in enumerate(keys) if key in keys[:i])
        raise InputError(f"the key {shown(twice)} occurs twice in one object")
    return content
