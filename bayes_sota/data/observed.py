"""What all containers have in common: checked once, never changed, equal where all is alike.

``tests/data/test_observed.py`` compares what is alike and what is not.
"""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from bayes_sota.core.arguments import COUNT, Range
from bayes_sota.core.priors import TriesPrior, UniformTries
from bayes_sota.core.text import checked_labels, digest_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import checked_number, checked_numbers

type Tries = int | tuple[int, int] | TriesPrior

_SAID = ("notes", "n_test_source")
"""Fields that say where numbers come from; they are not data."""


class Observed:
    """What was observed; a frozen dataclass whose constructor checks everything."""

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        derived = {name for name, of in vars(type(self)).items() if isinstance(of, cached_property)}
        known = {name: value for name, value in vars(self).items() if value is not False}
        names = sorted(known.keys() - derived - set(_SAID))
        return digest_of(*(part for name in names for part in (name, known[name])))

    def __eq__(self, other: object) -> bool:
        """Equal where everything that was observed is equal."""
        return type(other) is type(self) and self.data_hash() == other.data_hash()

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(self.data_hash())

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field once, arrays read-only."""
        if name in vars(self):
            raise AttributeError(f"{type(self).__name__} does not change: {name} is set")
        self._set(**{name: value})

    def _set(self, **fields: Any) -> Self:
        """Set fields, arrays read-only."""
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value = value.view()
                value.flags.writeable = False
            vars(self)[name] = value
        return self

    def copy_with(self, **changes: Any) -> Self:
        """The same with other fields, which nobody checks again."""
        return object.__new__(type(self))._set(**vars(self) | changes)


class Chosen(Observed):
    """Scores of entries, each of which may be the best of several submissions."""

    name: str
    names: Any
    n_test: Any
    submissions: Any
    is_competition: bool

    @property
    def n_entries(self) -> Any:
        """Number of entries, None where they are not known."""
        return len(self.names) or None

    @property
    def has_submissions(self) -> bool:
        """Whether some score is, or may be, the best of several submissions."""
        return self.submissions is not None and bool(np.any(self.submissions != 1))

    def __repr__(self) -> str:
        """One line, however many entries there are."""
        size = f"n_entries={self.n_entries}, n_test={self.n_test}"
        return f"<{type(self).__name__} {self.name!r}: {size}>"


def entry_names(names: Iterable[Any] | None, m: int) -> tuple[str, ...]:
    """Names of m entries, all different; "entry 1", "entry 2", ... where there are none."""
    default = [f"entry {place}" for place in range(1, m + 1)]
    return checked_labels(default if names is None else names, m, "entry")


def number_or_prior(value: Tries, name: str, least: int = 1) -> int | TriesPrior:
    """A number of at least ``least``, the log-uniform prior of a range, or a prior."""
    allowed = Range(least, COUNT.high, whole=True)
    if isinstance(value, TriesPrior):
        Range(least, np.inf).check(float(value.quantile(0.5)), f"the median of {name}")
        return value
    if isinstance(value, tuple) and len(value) == 2:
        low, high = (checked_number(end, name, allowed) for end in value)
        return UniformTries(low, high) if low != high else int(low)
    return int(checked_number(value, name, allowed))


def submission_numbers(submissions: Any, names: Sequence[str]) -> FloatArray | None:
    """Equally likely numbers of submissions behind each entry, (m, k): one where it is known.

    A number is that of all, a pair (a tuple) a range, anything else one number for each entry.
    """
    if submissions is None:
        return None
    is_range = isinstance(submissions, tuple) and len(submissions) == 2
    if is_range or isinstance(submissions, TriesPrior):
        submissions = number_or_prior(submissions, "submissions")
    if isinstance(submissions, TriesPrior):
        return np.tile(submissions.nodes()[0], (len(names), 1))
    counts = checked_numbers(submissions, names, "submissions")
    return counts[:, None].astype(np.float64)
