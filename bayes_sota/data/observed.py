"""What all containers have in common: checked once, never changed, equal where all is alike.

``tests/data/test_observed.py`` compares what is alike and what is not.
"""

from functools import cached_property
from typing import Any, Self

import numpy as np

from bayes_sota.core.priors import TriesPrior
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import FloatArray, IntArray

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

    def _copy(self, **changes: Any) -> Self:
        """The same with other fields, which nobody checks again."""
        return object.__new__(type(self))._set(**vars(self) | changes)


class Chosen(Observed):
    """Scores of entries, each of which may be the best of several submissions."""

    submissions: IntArray | None
    submissions_prior: TriesPrior | None
    notes: tuple[str, ...]
    is_competition: bool = False
    """Whether the scores were downloaded from a competition."""

    @property
    def n_entries(self) -> int | None:
        """Number of entries, where they are known."""
        return None

    @property
    def has_submissions(self) -> bool:
        """Whether some score is, or may be, the best of several submissions."""
        return self.submissions is not None and bool(np.any(self.submissions != 1))

    @property
    def submission_numbers(self) -> FloatArray:
        """Equally likely numbers of submissions of each entry, (m, k): k is 1 if all are known."""
        assert self.submissions is not None
        known = self.submissions[:, None].astype(np.float64)
        prior = self.submissions_prior
        return known if prior is None else np.where(known > 0, known, prior.nodes()[0])
