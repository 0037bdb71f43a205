"""All calls; importing a file of calls registers what it holds."""

import golden.calls_board
import golden.calls_claims
import golden.calls_crossval
import golden.calls_epp
import golden.calls_maximum  # noqa: F401
from golden.registry import CALLS, Call

__all__ = ["CALLS", "Call"]
