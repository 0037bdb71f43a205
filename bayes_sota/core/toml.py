"""Strict reading of TOML: every value by the type that it must have, every error with its place.

A value of another type is never converted silently, and an unknown key is never passed over.
``tests/test_specifications.py`` holds the messages.
"""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bayes_sota.core.errors import InputError, SpecificationError

_LARGEST = 2**53  # the last whole number that a float counts to


def is_whole(value: object) -> bool:
    """Whether a value is a whole number; True and False are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def parse_toml(text: str, where: str) -> "TomlTable":
    """Top-level table of a TOML text; ``where`` names the file in messages."""
    try:
        return TomlTable(tomllib.loads(text), where)
    except ValueError as error:  # TOMLDecodeError, or a number of thousands of digits
        raise SpecificationError(f"{where}: not valid TOML: {error}") from None
    except RecursionError:
        raise SpecificationError(f"{where}: not valid TOML: nested too deeply") from None


@contextmanager
def located(place: str) -> Iterator[None]:
    """Put the place before the message of a constructor, which cannot know it."""
    try:
        yield
    except InputError as error:
        raise SpecificationError(f"{place}: {error}") from None


@dataclass(frozen=True)
class TomlTable:
    """One table of a file.

    Attributes
    ----------
    content : mapping
        What TOML holds.
    where : str
        Name of the file, for messages.
    title : str
        Name of the table, for messages; empty at the top.
    """

    content: Mapping[str, Any]
    where: str
    title: str = ""

    def __contains__(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self.content

    @property
    def place(self) -> str:
        """File and table, as messages name them."""
        return f"{self.where}: [{self.title}]" if self.title else self.where

    def error(self, message: str) -> SpecificationError:
        """Error that says where."""
        return SpecificationError(f"{self.place}: {message}")

    def require_known(self, allowed: Collection[str]) -> None:
        """Refuse a key that means nothing here."""
        for key in self.content:
            if key not in allowed:
                raise self.error(f"unknown key {key!r}; allowed: {', '.join(allowed)}")

    def value(self, key: str) -> Any:
        """Value of a key that must be there."""
        if key not in self.content:
            raise self.error(f"the key {key!r} is missing")
        return self.content[key]

    def part(self, key: str, *, required: bool = False) -> "TomlTable":
        """Sub-table; an absent one is empty unless required."""
        content = self.value(key) if required else self.content.get(key, {})
        if not isinstance(content, dict):
            raise self.error(f"{key} must be a table, [{key}], got {content!r:.40}")
        return TomlTable(content, self.where, f"{self.title}.{key}".lstrip("."))

    def text(self, key: str, *, required: bool = False) -> str:
        """One line of printable text; a line break in the file is a blank."""
        value = self.value(key) if required else self.content.get(key, "")
        if not isinstance(value, str):
            raise self.error(f"{key} must be text in quotes, got {value!r:.40}")
        line = " ".join(value.split())
        if not line.isprintable():
            raise self.error(f"{key} must be printable text, got {value!r:.40}")
        return line

    def texts(self, key: str) -> tuple[str, ...]:
        """List of texts."""
        value = self.value(key)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(f"{key} must be a list of texts in quotes, got {value!r:.40}")
        return tuple(value)

    def whole(self, key: str) -> int:
        """Whole number."""
        value = self.value(key)
        if not is_whole(value) or abs(value) > _LARGEST:
            raise self.error(f"{key} must be a whole number, got {value!r:.40}")
        return int(value)

    def number(self, key: str) -> float:
        """Finite number."""
        return self._finite(key, self.value(key))

    def number_or_pair(self, key: str) -> float | tuple[float, float]:
        """Finite number, or a pair of them."""
        value = self.value(key)
        if not isinstance(value, list):
            return self._finite(key, value)
        if len(value) != 2:
            raise self.error(f"{key} must be a number or a pair of numbers, got {value!r:.40}")
        return self._finite(key, value[0]), self._finite(key, value[1])

    def whole_or_pair(self, key: str) -> int | tuple[int, int]:
        """Whole number, or a pair of them."""
        value = self.value(key)
        pair = value if isinstance(value, list) and len(value) == 2 else [value]
        if not all(is_whole(v) and abs(v) <= _LARGEST for v in pair):
            raise self.error(
                f"{key} must be a whole number or a pair of whole numbers, got {value!r:.40}"
            )
        return (pair[0], pair[1]) if len(pair) == 2 else int(pair[0])

    def _finite(self, key: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self.error(f"{key} must be a number, got {value!r:.40}")
        if not abs(value) <= _LARGEST:  # not-a-number as well
            raise self.error(f"{key} must be a finite number, got {value!r:.40}")
        return float(value)
