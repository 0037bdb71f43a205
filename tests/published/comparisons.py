"""Published numbers beside computed ones, and how each pair is judged.

- ``reproduced``: the computed value rounds to the printed digits. A number that the source
  simulated may in addition be off by three of its standard errors, and those come from the numbers
  of repetitions that the source states, never from what is observed here.
- ``differs``: the source prints something else than its own formula gives. The computed value is
  pinned, and a row "as run" of the same item shows the explanation to be true.
- ``what if``: of another setting than the printed one.
- ``ours``: printed nowhere, but computed and pinned.
- ``not verifiable``: nothing to compare with, or nothing that explains the difference; the note
  says why.
- ``off``: none of these, or a pinned value that left its digits: a defect of the package.

Findings in words, of the study of cross-validation, hold, do not hold, or cannot be told from the
new runs; none of that is a defect.

Places, printed digits, pins and notes are the rows of ``published.json``; a function of
``numbers_*`` computes the numbers of an item by the names of its rows.
"""

import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from published import numbers_epp, numbers_maximum

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.summary import list_report
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import counted, listed

if TYPE_CHECKING:
    import pandas as pd
    from published.findings import Finding

State = Literal[
    "reproduced", "differs", "what if", "ours", "not verifiable", "off",
    "holds", "does not hold", "cannot tell",
]  # fmt: skip
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
    numbers_maximum.melanoma: "melanoma figure-11",
    numbers_epp.vtab: "vtab",
    numbers_epp.openml_study: "epp-openml",
    numbers_epp.tables_4_5: "epp-tables-4-5",
    numbers_epp.figure_3: "epp-figure-3",
    numbers_epp.tables_6_8: "epp-tables-6-8",
    numbers_epp.openml: "epp-figure-4 epp-figure-5",
    numbers_epp.figure_6: "epp-figure-6",
}
_NUMBERS = {name: compute for compute, names in _ITEMS.items() for name in names.split()}
_READERS: dict[str, Callable[[dict[str, Any], Path], Any]] = {
    "obesity": numbers_maximum.read_board,
    "cassava": numbers_maximum.read_board,
    "vtab": numbers_epp.fit_vtab,
    "openml_study": numbers_epp.read_openml_study,
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
        errors of the source's simulation where it simulated. Of pinned values, half a unit of the
        last pinned digit.
    state : {"reproduced", "differs", "what if", "ours", "not verifiable", "off"}
        Of a finding in words {"holds", "does not hold", "cannot tell"}; ``published`` is the
        finding, and ``computed`` the number that the verdict turns on.
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
    text = Path(__file__).with_name("published.json").read_text(encoding="utf-8")
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

    Names that begin with ``cv-`` are of the study of cross-validation by Raeder, Hoens & Chawla.
    Fig. 1 and 7 of Møllersen & Holsbø are diagrams of a sampling procedure, with nothing to
    compute; what their first version prints alone is left out. ``vtab`` and those
    that begin with ``epp-`` are of the EPP paper.

    Examples
    --------
    >>> item_names()[:2]
    ['coin-flip', 'table-1']
    """
    return list(load_published()["items"])


def reproduce(
    items: Iterable[str] | None = None,
    data: str | Path | None = None,
    *,
    random_seed: int | None = None,
) -> list[Comparison]:
    """Compute published numbers again and judge each.

    Parameters
    ----------
    items : iterable of str, optional
        Some of ``item_names()``. Default: all but those of the study of cross-validation
        (``cv-``), which takes a minute.
    data : path, optional
        Directory of the Kaggle leaderboards that Tables 2 and 4, the cassava example and Fig. 8
        and 9 need, of the VTAB scores that ``vtab``, ``epp-figure-3`` and ``epp-figure-6`` need,
        and of the skills and deviances of ``epp-openml``; without them these are not verifiable.
    random_seed : int, optional
        Of the judgement of the study's findings. Default 0.

    Returns
    -------
    list of Comparison
        In the order of ``items``; a state of ``off`` is a defect of the package.

    Raises
    ------
    InputError
        A name that does not exist, a leaderboard that is not in ``data``, an argument that changes
        nothing.

    Examples
    --------
    >>> [one.state for one in reproduce(["mania"])]
    ['differs', 'differs', 'reproduced', 'reproduced', 'reproduced']
    """
    published = load_published()
    known = published["items"]
    quick = [name for name, item in known.items() if "study" not in item]
    names = quick if items is None else list(items)
    for name in names:
        if name not in known:
            raise InputError(f"nothing to reproduce is named {name!r}: {', '.join(known)}")
    of_study = [name for name in dict.fromkeys(names) if "study" in known[name]]
    if not any("data" in known[name] for name in names):
        refuse_unused("items that read no data", {"data": data})
    folder = None if data is None else Path(data)
    numbers_of = _numbers(published, folder)
    if not of_study:
        refuse_unused("items other than cv-...", {"random_seed": random_seed})
    judged = _findings(of_study, random_seed or 0) if of_study else {}
    found: list[Comparison] = []
    with shown_progress(len(names), "published items") as advance:
        for name in names:
            item = known[name]
            if name in judged:
                rows = item["rows"].items()
                found += [_as_comparison(name, q, row, judged[name][q]) for q, row in rows]
            elif (numbers := numbers_of(name)) is None:
                found.append(judge(name, item["without_data"]["quantity"], item["without_data"]))
            else:
                rows = item["rows"].items()
                found += [
                    judge(name, quantity, row, numbers.get(quantity)) for quantity, row in rows
                ]
            advance()
    return found


def _findings(items: list[str], random_seed: int) -> "dict[str, dict[str, Finding]]":
    """Findings of the study, judged by the runs that are kept."""
    from published.findings import judge_findings
    from published.study import load_runs

    return judge_findings(load_runs(), items, random_seed)


def _as_comparison(item: str, quantity: str, row: dict[str, Any], finding: "Finding") -> Comparison:
    note = f"{row['note']}; {finding.said}"
    return Comparison(item, quantity, row["finding"], finding.number, 0.0, finding.state, note)


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
        none are printed; ``state`` of a value that holds its pin, where it is not one that differs
        or is ours; ``standard_error`` of the source's simulation.
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
    usual: State = "reproduced" if pinned is None else "differs" if printed else "ours"
    right: State = row.get("state", usual)
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


def report_comparisons(comparisons: Iterable[Comparison], random_seed: int | None = None) -> Report:
    """Report comparisons: all that ``reproduce.py`` prints and writes.

    ``random_seed`` is that of the study of cross-validation, where it is among them; default 0.

    Examples
    --------
    >>> print(report_comparisons(reproduce(["mania"])).text.partition(" (")[0])
    Of 5 published numbers 3 are reproduced and 2 differ for known reasons.
    """
    found = list(comparisons)
    states = {state: [one for one in found if one.state == state] for state in _SAID}
    published = load_published()
    used = dict.fromkeys(published["items"][one.item]["source"] for one in found)
    lacking: dict[str, list[str]] = {}
    for one in states["not verifiable"]:
        if "--data" in one.note:  # an address, which a column would cut
            lacking.setdefault(one.note, []).append(one.item)
    off = [f"{one.item}, {one.quantity}" for one in states["off"]]
    drawn = any(one.item.startswith("cv-") for one in found)
    seed = {"seed": random_seed or 0} if drawn else {}
    names = ("item", "quantity", "published", "computed", "state", "note")
    counts = {state: len(ones) for state, ones in states.items()}
    said = [
        _tally(counts, _OF_NUMBERS, "published number"),
        _tally(counts, _OF_FINDINGS, "finding"),
    ]
    return list_report(
        "items",
        [asdict(one) for one in found],
        dict(zip(names, names, strict=True)),
        sentences=list(filter(None, said)),
        basis=(
            "computed again by their own formulas",
            *(f"seed {number}" for number in seed.values()),
            SOFTWARE,
            *(published["sources"][name] for name in used),
        ),
        content={"n_numbers": len(found), "n_by_state": counts, **seed},
        legend=tuple(f"{', '.join(items)}: {note}" for note, items in lacking.items()),
        reasons=(f"{counted(len(off), 'number')} off: {listed(off)}",) if off else (),
    )


def _tally(counts: dict[str, int], words: dict[str, tuple[str, str]], what: str) -> str:
    """How many things of a kind there are in each state; empty where there are none."""
    said = [f"{counts[s]} {one if counts[s] == 1 else many}" for s, (one, many) in words.items()
            if counts[s]]  # fmt: skip
    total = sum(counts[state] for state in words)
    return f"Of {counted(total, what)} {listed(said)}." if said else ""


_OF_NUMBERS = {
    "reproduced": ("is reproduced", "are reproduced"),
    "differs": ("differs for a known reason", "differ for known reasons"),
    "what if": ("is of another setting", "are of other settings"),
    "ours": ("is printed nowhere", "are printed nowhere"),
    "not verifiable": ("is not verifiable", "are not verifiable"),
    "off": ("is off", "are off"),
}
_OF_FINDINGS = {
    "holds": ("holds", "hold"),
    "does not hold": ("does not hold", "do not hold"),
    "cannot tell": ("cannot be told from these runs", "cannot be told from these runs"),
}
_SAID = {**_OF_NUMBERS, **_OF_FINDINGS}
