"""One published number beside the computed one, and how the pair is judged.

- ``reproduced``: the computed value rounds to the printed digits. A number that the source
  simulated may in addition be off by three of its standard errors, and those come from the numbers
  of repetitions that the source states, never from what is observed here.
- ``differs``: the source prints something else than its own formula gives. The computed value is
  pinned; should it ever leave its pinned digits, the state is ``off``.
- ``not verifiable``: nothing is printed to compare with; the note says why.
- ``off``: none of these, a defect of the package.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import pandas as pd


State = Literal["reproduced", "differs", "not verifiable", "off"]
_STANDARD_ERRORS = 3.0
_ROUNDING = 1e-12  # a computed value in the middle of two printed ones rounds either way


@dataclass(frozen=True)
class Comparison:
    """A published number, the computed one and the verdict.

    Attributes
    ----------
    item : str
        Name of the table, figure or section, as ``reproduce`` takes it.
    quantity : str
        What the number is.
    published : str
        The digits as printed; empty where nothing is printed.
    computed : float or None
        The value computed here.
    tolerance : float
        Largest accepted distance: half a unit of the last printed digit, plus three standard
        errors of the source's simulation where it simulated. For ``differs``, half a unit of the
        last pinned digit.
    state : {"reproduced", "differs", "not verifiable", "off"}
    note : str
        Where the number is printed, and what explains a difference.
    """

    item: str
    quantity: str
    published: str
    computed: float | None
    tolerance: float
    state: State
    note: str


def _half_unit(printed: str) -> float:
    exponent = Decimal(printed).as_tuple().exponent
    return 0.5 * 10.0 ** (exponent if isinstance(exponent, int) else 0)


def _agrees(printed: str, computed: float, tolerance: float) -> bool:
    distance = abs(computed - float(printed))
    return math.isfinite(computed) and distance <= tolerance + _ROUNDING


def compare(
    item: str,
    quantity: str,
    published: str,
    computed: float,
    note: str,
    standard_error: float = 0.0,
) -> Comparison:
    """Judge a number that should come out as printed.

    Parameters
    ----------
    item, quantity, published, computed, note
        As in ``Comparison``.
    standard_error : float
        Monte Carlo standard error of the printed number, from the source's repetitions.

    Examples
    --------
    >>> compare("table-1", "sd", "0.0035", 0.00348, "Table 1").state
    'reproduced'
    >>> compare("table-1", "sd", "0.0035", 0.00361, "Table 1").state
    'off'
    """
    half_unit = _half_unit(published)
    tolerance = half_unit + _STANDARD_ERRORS * standard_error
    if not _agrees(published, computed, tolerance):
        return Comparison(item, quantity, published, computed, tolerance, "off", note)
    if not _agrees(published, computed, half_unit):
        note = f"{note}; other last digit, within the source's Monte Carlo error"
    return Comparison(item, quantity, published, computed, tolerance, "reproduced", note)


def differ(
    item: str, quantity: str, published: str, computed: float, pinned: str, note: str
) -> Comparison:
    """Judge a number that the source does not print as its formula gives it.

    Examples
    --------
    >>> differ("mania", "rho", "0.6", 0.7703, "0.77", "the formula gives 0.77").state
    'differs'
    """
    tolerance = _half_unit(pinned)
    known = _agrees(pinned, computed, tolerance)
    state: State = "differs" if known else "off"
    note = f"{note}; pinned at {pinned}"
    return Comparison(item, quantity, published, computed, tolerance, state, note)


def not_verifiable(item: str, quantity: str, note: str) -> Comparison:
    """State that there is nothing to compare with, and why."""
    return Comparison(item, quantity, "", None, 0.0, "not verifiable", note)


def comparisons_to_frame(comparisons: Iterable[Comparison]) -> "pd.DataFrame":
    """Comparisons as a table, one row each.

    Examples
    --------
    >>> frame = comparisons_to_frame([not_verifiable("figure-4", "curves", "no numbers")])
    >>> list(frame.columns)
    ['item', 'quantity', 'published', 'computed', 'tolerance', 'state', 'note']
    """
    import pandas as pd

    names = list(Comparison.__dataclass_fields__)
    return pd.DataFrame([asdict(one) for one in comparisons], columns=names)
