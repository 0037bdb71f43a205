"""The calls by name, and the files that they read."""

import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from golden.results import Numbers

import bayes_sota as bs


class MissingDataError(LookupError):
    """A call needs a file that is no part of the repository."""


@dataclass(frozen=True)
class Call:
    """A call; one that takes a seed has Monte Carlo error."""

    run: Callable[..., Numbers]
    room: str
    relative: float

    @property
    def seeded(self) -> bool:
        return "seed" in inspect.signature(self.run).parameters


    def numbers(self, seed: int = 1) -> Numbers:
        return self.run(seed=seed) if self.seeded else self.run()


CALLS: dict[str, Call] = {}


def add(name: str, run: Callable[..., Numbers], relative: float = 1e-7) -> None:
    """Register a call; ``relative`` is what numbers without Monte Carlo error may differ by."""
    assert name not in CALLS, name
    CALLS[name] = Call(run, run.__module__.rpartition("calls_")[2], relative)


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
