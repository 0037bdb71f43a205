"""Published numbers beside computed ones, and how each pair is judged.

- ``reproduced``: the computed value rounds to the printed digits. A number that the source
  simulated may in addition be off by three of its standard errors, and those come from the numbers
  of repetitions that the source states, never from what is observed here.
- ``differs``: the source prints something else than its own formula gives. The computed value is
  pinned; should it ever leave its pinned digits, the state is ``off``.
- ``not verifiable``: nothing is printed to compare with; the note says why.
- ``off``: none of these, a defect of the package.

Places, printed digits, pins and notes are the rows of ``published.json``; a function of
``numbers_*`` computes the numbers of an item by the names of its rows.
"""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.published import numbers_epp, numbers_maximum

if TYPE_CHECKING:
    import pandas as pd


State = Literal["reproduced", "differs", "not verifiable", "off"]
_STANDARD_ERRORS = 3.0
_ROUNDING = 1e-12  # a computed value in the middle of two printed ones rounds either way

_ITEMS: dict[Callable[..., dict[str, Any]], str] = {
    numbers_maximum.coin_flip: "coin-flip",
    numbers_maximum.table_1: "table-1 figure-5 figure-6",
    numbers_maximum.table_3: "table-3 figure-2 figure-4",
    numbers_maximum.mania: "mania",
    numbers_maximum.fixed_reference: "fixed-reference",
    numbers_maximum.figure_3: "figure-3",
    numbers_maximum.table_2: "table-2 figure-8",
    numbers_maximum.table_4: "table-4",
    numbers_maximum.cassava: "cassava figure-9",
    numbers_maximum.best_auc: "auc figure-10",
    numbers_maximum.highest_best_auc: "melanoma figure-11",
    numbers_epp.vtab: "vtab",
    numbers_epp.tables_6_8: "epp-tables-6-8",
    numbers_epp.openml: "epp-figure-4 epp-figure-5",
    numbers_epp.figure_6: "epp-figure-6",
}
_NUMBERS = {name: compute for compute, names in _ITEMS.items() for name in names.split()}
_READERS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "obesity": numbers_maximum.read_board,
    "cassava": numbers_maximum.read_board,
    "vtab": numbers_epp.fit_vtab,
}


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


def load_published() -> dict[str, Any]:
    """Load what papers print, a fresh copy of ``published.json``: ``settings``, and ``items``.

    ``rows`` of an item holds by quantity what is printed, its pin, its place or note; rows that
    stand under another item are filled in.

    Examples
    --------
    >>> load_published()["items"]["table-1"]["rows"]["Sec. 4.3: expected maximum"]["printed"]
    '0.9101'
    """
    text = files("bayes_sota.published").joinpath("published.json").read_text(encoding="utf-8")
    published: dict[str, Any] = json.loads(text)
    items = published["items"]
    for item in items.values():
        for quantity, row in item["rows"].items():
            source = items[row["from"]] if "from" in row else item
            found = source["rows"][quantity]
            item["rows"][quantity] = {"note": source.get("where"), **found}
    return published


def item_names() -> list[str]:
    """Names that ``reproduce`` takes: the sample maximum, then the challenges and AUC, then EPP.

    Fig. 1 and 7 of Møllersen & Holsbø are diagrams of a sampling procedure, with nothing to
    compute; what their first version prints alone is left out. ``vtab``,
    ``epp-tables-6-8`` and ``epp-figure-4`` to ``epp-figure-6`` are of the EPP paper.

    Examples
    --------
    >>> item_names()[:2]
    ['coin-flip', 'table-1']
    """
    return list(load_published()["items"])


def reproduce(
    items: Iterable[str] | None = None, data: str | Path | None = None
) -> list[Comparison]:
    """Compute published numbers again and judge each.

    Parameters
    ----------
    items : iterable of str, optional
        Some of ``item_names()``. Default: all.
    data : path, optional
        Directory of the Kaggle leaderboards that Tables 2 and 4, the cassava example and Fig. 8
        and 9 need, and of the VTAB scores that ``vtab`` and ``epp-figure-6`` need; without them
        these are not verifiable.

    Returns
    -------
    list of Comparison
        In the order of ``items``; a state of ``off`` is a defect of the package.

    Raises
    ------
    InputError
        A name that does not exist, or a leaderboard that is not in ``data``.

    Examples
    --------
    >>> [one.state for one in reproduce(["mania"])]
    ['differs', 'differs', 'reproduced']
    """
    published = load_published()
    known = published["items"]
    names = list(known) if items is None else list(items)
    for name in names:
        if name not in known:
            raise InputError(f"nothing to reproduce is named {name!r}: {', '.join(known)}")
    if not any("data" in known[name] for name in names):
        refuse_unused("items that read no data", {"data": data})
    numbers_of = _numbers(published, None if data is None else Path(data))
    found: list[Comparison] = []
    for name in names:
        item, numbers = known[name], numbers_of(name)
        if numbers is None:
            found.append(judge(name, item["without_data"]["quantity"], item["without_data"]))
        else:
            rows = item["rows"].items()
            found += [judge(name, quantity, row, numbers.get(quantity)) for quantity, row in rows]
    return found


def _numbers(
    published: dict[str, Any], data: Path | None
) -> Callable[[str], dict[str, Any] | None]:
    """Numbers of an item by its name, None where its file is not there; nothing is done twice."""
    settings = published["settings"]
    if data is not None and not data.is_dir():
        raise InputError(f"{data}: no such directory")

    @cache
    def read(source: str) -> Any:
        return None if data is None else _READERS[source](settings[source], data)

    @cache
    def compute(function: Callable[..., dict[str, Any]], source: str | None) -> Any:
        if source is None:
            return function(settings)
        given = read(source)
        return None if given is None else function(settings, given)

    return lambda name: compute(_NUMBERS[name], published["items"][name].get("data"))


def judge(item: str, quantity: str, row: dict[str, Any], computed: Any = None) -> Comparison:
    """Hold a computed number against a row of ``published.json``.

    Parameters
    ----------
    item, quantity
        As in ``Comparison``.
    row : dict
        ``note``; ``printed`` digits; ``pinned``, the digits that the formula gives where others or
        none are printed; ``standard_error`` of the source's simulation.
    computed : float, (float, float) or None
        The number, or number and standard error of the source's simulation.

    Examples
    --------
    >>> judge("table-1", "sd", {"printed": "0.0035", "note": "Table 1"}, 0.00348).state
    'reproduced'
    >>> judge("table-1", "sd", {"printed": "0.0035", "note": "Table 1"}, 0.00361).state
    'off'
    """
    printed, pinned, note = row.get("printed", ""), row.get("pinned"), row["note"]
    expected = printed if pinned is None else pinned
    if not expected:
        return Comparison(item, quantity, "", None, 0.0, "not verifiable", note)
    alone = (computed, row.get("standard_error", 0.0))
    value, error = computed if isinstance(computed, tuple) else alone
    half_unit = 0.5 * 10.0 ** -len(expected.partition(".")[2])
    tolerance = half_unit + _STANDARD_ERRORS * error
    right: State = "reproduced" if pinned is None else "differs" if printed else "not verifiable"
    state = right if _agrees(expected, value, tolerance) else "off"
    if pinned is not None:
        note = f"{note}; pinned at {pinned}"
    elif state == "reproduced" and not _agrees(printed, value, half_unit):
        note = f"{note}; other last digit, within the source's Monte Carlo error"
    return Comparison(item, quantity, printed, value, tolerance, state, note)


def _agrees(expected: str, value: float | None, tolerance: float) -> bool:
    if value is None or not math.isfinite(value):
        return False
    return abs(value - float(expected)) <= tolerance + _ROUNDING


def comparisons_to_frame(comparisons: Iterable[Comparison]) -> "pd.DataFrame":
    """Comparisons as a table, one row each.

    Examples
    --------
    >>> frame = comparisons_to_frame(reproduce(["mania"]))
    >>> list(frame.columns)
    ['item', 'quantity', 'published', 'computed', 'tolerance', 'state', 'note']
    """
    import pandas as pd

    names = list(Comparison.__dataclass_fields__)
    return pd.DataFrame([asdict(one) for one in comparisons], columns=names)
