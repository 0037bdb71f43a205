"""Models and traces record their data; ``sample.model_of`` refuses others."""

from collections.abc import Iterable
from typing import Protocol

from bayes_sota.core.text import digest_of

DIGEST = "data_digest"  # variable that identifies the data of a model, and of its traces


class Observed(Protocol):
    """Data with a fingerprint."""

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""


def add_digest(*data: Observed) -> None:
    """Record the data in the model of the ``with`` block, and so in its traces."""
    import pymc as pm  # results that are not sampled never need it

    if DIGEST not in pm.modelcontext(None).named_vars:
        pm.Data(DIGEST, digest_of_data(data))


def digest_of_data(data: Iterable[Observed]) -> int:
    """Six bytes of a hash: a whole number that every dtype represents exactly."""
    return int(digest_of(*(one.data_hash() for one in data))[:12], 16)
