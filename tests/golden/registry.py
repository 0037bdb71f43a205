"""The calls by name, and the files that they read."""

import inspect
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from golden.results import Numbers

import bayes_sota as bs


class MissingDataError(LookupError):
    """A call needs a file that is no part of the repository."""


@dataclass(frozen=True)
class Call:
    """A function and its options, of which ``data`` is made now; a seed means Monte Carlo error."""

    run: Callable[..., Numbers]
    options: Mapping[str, Any]

    @property
    def seeded(self) -> bool:
        return "seed" in inspect.signature(self.run).parameters

    def numbers(self, seed: int = 1) -> Numbers:
        options = dict(self.options) | ({"seed": seed} if self.seeded else {})
        if "data" in options:
            options["data"] = options["data"]()
        return self.run(**options)


CALLS: dict[str, Call] = {}


def add(name: str, run: Callable[..., Numbers], **options: Any) -> None:
    """Register a call; it is told a seed if it takes one."""
    assert name not in CALLS, name
    CALLS[name] = Call(run, options)


def add_all(start: str, run: Callable[..., Numbers], cases: Mapping[str, Any]) -> None:
    """Register a call for each case: the options of ``run``, or a function that makes its data."""
    for name, case in cases.items():
        add(f"{start}/{name}", run, **(case if isinstance(case, dict) else {"data": case}))


@cache
def _examples() -> Path:
    folder = Path(mkdtemp(prefix="golden-"))
    bs.data.write_examples(folder)
    return folder


def example(name: str) -> Path:
    """One of the package's example files."""
    return _examples() / name


def real(path: str) -> Path:
    """A file of real data, which are not part of the repository."""
    folder = os.environ.get("BAYES_SOTA_DATA")
    if not folder:
        raise MissingDataError("BAYES_SOTA_DATA is not set: it names the folder of real data")
    return Path(folder) / path
