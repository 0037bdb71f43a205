"""Models of every room say which data they are of, and so do their traces.

A trace of other data is refused where it is completed (``core.sample_trace.model_of``).
"""

import hashlib
from collections.abc import Iterable
from typing import Protocol

DIGEST = "data_digest"
"""Data of a model, and so of its traces: what was observed, as one whole number."""


class Observed(Protocol):
    """Anything with a fingerprint: a leaderboard, a response matrix."""

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""


def add_digest(*data: Observed) -> None:
    """Let the model of the ``with`` block and its traces say which data they are of."""
    import pymc as pm  # results that are not sampled never need it

    if DIGEST not in pm.modelcontext(None).named_vars:
        pm.Data(DIGEST, digest_of_data(data))


def digest_of_data(data: Iterable[Observed]) -> int:
    """Six bytes of a hash, which any kind of number holds exactly."""
    text = "".join(one.data_hash() for one in data)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
