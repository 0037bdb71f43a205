"""Names of everything that can be computed again, and the call that does it."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.published import auc_numbers, challenges, epp_numbers
from bayes_sota.published import maximum_numbers as sample_maximum
from bayes_sota.published.comparison import Comparison
from bayes_sota.published.published_numbers import load_published

Published = dict[str, Any]

_SAMPLE_MAXIMUM: dict[str, Callable[[Published], list[Comparison]]] = {
    "coin-flip": sample_maximum.compare_coin_flip,
    "table-1": sample_maximum.compare_table_1,
    "table-3": sample_maximum.compare_table_3,
    "mania": sample_maximum.compare_mania,
    "fixed-reference": sample_maximum.compare_fixed_reference,
    "figure-2": sample_maximum.compare_figure_2,
    "figure-3": sample_maximum.compare_figure_3,
    "figure-4": sample_maximum.compare_figure_4,
    "figure-5": sample_maximum.compare_figure_5,
    "figure-6": sample_maximum.compare_figure_6,
}
_CHALLENGES: dict[str, Callable[[Published, Path | None], list[Comparison]]] = {
    "table-2": challenges.compare_table_2,
    "table-4": challenges.compare_table_4,
    "cassava": challenges.compare_cassava,
    "figure-8": challenges.compare_figure_8,
    "figure-9": challenges.compare_figure_9,
    "auc": auc_numbers.compare_auc,
    "figure-10": auc_numbers.compare_figure_10,
    "melanoma": auc_numbers.compare_melanoma,
    "figure-11": auc_numbers.compare_figure_11,
}
_EPP: dict[str, Callable[[Published, Path | None], list[Comparison]]] = {
    "vtab": epp_numbers.compare_vtab,
    "epp-tables-6-8": epp_numbers.compare_tables_6_8,
    "epp-figure-4": epp_numbers.compare_fig_4,
    "epp-figure-5": epp_numbers.compare_fig_5,
    "epp-figure-6": epp_numbers.compare_fig_6,
}

_READING = {"table-2", "table-4", "cassava", "figure-8", "figure-9", "vtab", "epp-figure-6"}


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
    return [*_SAMPLE_MAXIMUM, *_CHALLENGES, *_EPP]


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
    names = item_names() if items is None else list(items)
    for name in names:
        if name not in item_names():
            raise InputError(f"nothing to reproduce is named {name!r}: {', '.join(item_names())}")
    if _READING.isdisjoint(names):
        refuse_unused("items that read no data", {"data": data})
    directory = None if data is None else Path(data)
    maxima, others = load_published("sample_maximum"), load_published("challenges")
    epp = load_published("epp")
    found: list[Comparison] = []
    for name in names:
        if name in _SAMPLE_MAXIMUM:
            found += _SAMPLE_MAXIMUM[name](maxima)
        elif name in _CHALLENGES:
            found += _CHALLENGES[name](others, directory)
        else:
            found += _EPP[name](epp, directory)
    return found
