"""Which data a model of PyMC is of: a number that the model holds, and so every trace of it.

``core.sample.model_of`` compares it with the data that a result is asked for
(``tests/core/test_other_data.py``).
"""

import hashlib
from collections.abc import Iterable
from typing import Protocol

DIGEST = "data_digest"
"""Name of the number, a ``pm.Data``."""


class Observed(Protocol):
    """Anything with a fingerprint: a leaderboard, a response matrix."""

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""


def add_digest(*data: Observed) -> None:
    """Let the model of the ``with`` block and its traces say which data they are of."""
    import pymc as pm

    if DIGEST not in pm.modelcontext(None).named_vars:
        pm.Data(DIGEST, digest_of(data))


def digest_of(data: Iterable[Observed]) -> int:
    """Six bytes of a hash, which any kind of number holds exactly."""
    text = "".join(one.data_hash() for one in data)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
