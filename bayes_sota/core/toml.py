"""One strict reader of TOML for dataclasses: every value has the type that its field names.

A value of another type is never converted silently, and an unknown key is never passed over.
``tests/test_specifications.py`` holds the messages.
"""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from bayes_sota.core.errors import InputError, SpecificationError
from bayes_sota.core.text import nearest

_LARGEST = 2**53  # the last whole number that a float counts to


def parse_toml(text: str, where: str) -> dict[str, Any]:
    """Top-level table of a TOML text; ``where`` names the file in messages."""
    try:
        return tomllib.loads(text)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise SpecificationError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise SpecificationError(f"{where}: not valid TOML: nested too deeply") from None


def from_dict[T](
    cls: type[T],
    table: Mapping[str, Any],
    place: str,
    *,
    elsewhere: Collection[str] = (),
    complete: bool = False,
    **given: Any,
) -> T:
    """Dataclass of a table; a field that is a dataclass is a table of its own.

    Parameters
    ----------
    cls : dataclass
    table : mapping
    place : str
        File and table, as messages name them.
    elsewhere : collection of str
        Keys that are allowed, and are read by the caller.
    complete : bool
        Whether fields with a default must be there too.
    **given
        Fields that the caller has read.

    Raises
    ------
    SpecificationError
        One line: the file, the table, the key, the value, and what would be right.
    """
    known = {f.name: f for f in fields(cls) if f.name not in given}  # type: ignore[arg-type]
    require_known(table, [*elsewhere, *known], place)
    for key, field in known.items():
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if key not in table and (complete or not optional):
            raise SpecificationError(f"{place}: the key {key!r} is missing")
    hints = get_type_hints(cls)
    values = {key: read_value(table, key, hints[key], place) for key in known if key in table}
    try:
        return cls(**values, **given)
    except InputError as error:
        raise SpecificationError(f"{place}: {error}") from None


def require_known(table: Mapping[str, Any], allowed: Collection[str], place: str) -> None:
    """Refuse a key that means nothing here."""
    for key in table:
        if key not in allowed:
            known = f"{', '.join(allowed)}{nearest(key, allowed)}"
            raise SpecificationError(f"{place}: unknown key {key!r}; allowed: {known}")


def read_value(table: Mapping[str, Any], key: str, hint: Any, place: str) -> Any:
    """Value of a key that must be there, of the type of a field."""
    if key not in table:
        raise SpecificationError(f"{place}: the key {key!r} is missing")
    value, types = table[key], (hint, *get_args(hint))
    inner = next((t for t in types if is_dataclass(t)), None)
    if inner is not None or hint is dict:
        if not isinstance(value, dict):
            raise _wrong(place, key, f"a table, [{key}]", value)
        return value if inner is None else from_dict(inner, value, f"{place}: [{key}]")  # type: ignore[arg-type]
    if hint is str or get_origin(hint) is Literal:
        return _text(value, key, place)
    if str in types:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise _wrong(place, key, "a list of texts in quotes", value)
        return tuple(value)
    kind = int if int in types else float
    if Ellipsis in types:
        if not isinstance(value, list):
            raise _wrong(place, key, "a list of numbers", value)
        return tuple(_number(item, key, place, kind) for item in value)
    pair = any(get_origin(t) is tuple for t in types)
    return _number(value, key, place, kind, pair, single=get_origin(hint) is not tuple)


def _wrong(place: str, key: str, wanted: str, value: Any) -> SpecificationError:
    return SpecificationError(f"{place}: {key} must be {wanted}, got {value!r:.40}")


def _text(value: Any, key: str, place: str) -> str:
    """One line of printable text; a line break in the file is a blank."""
    if not isinstance(value, str):
        raise _wrong(place, key, "text in quotes", value)
    line = " ".join(value.split())
    if not line.isprintable():
        raise _wrong(place, key, "printable text", value)
    return line


def _number(
    value: Any,
    key: str,
    place: str,
    kind: type[int] | type[float],
    pair: bool = False,
    single: bool = True,
) -> Any:
    """Finite number, or a pair of them where one is allowed."""
    one = "a whole number" if kind is int else "a number"
    two = f"a pair of {one[2:]}s"
    wanted = f"{one} or {two}" if pair and single else two if pair else one
    parts = value if pair and isinstance(value, list) and len(value) == 2 else [value]
    allowed = int if kind is int else int | float
    few = len(parts) == 1 and not single
    if few or any(isinstance(part, bool) or not isinstance(part, allowed) for part in parts):
        raise _wrong(place, key, wanted, value)
    if not all(abs(part) <= _LARGEST for part in parts):  # not-a-number as well
        raise _wrong(place, key, wanted if kind is int else "a finite number", value)
    numbers = tuple(kind(part) for part in parts)
    return numbers if len(numbers) == 2 else numbers[0]
