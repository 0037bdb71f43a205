"""What further tuning of each family promises, in words: ``bayes-sota epp --family-separator``.

``tests/epp/test_tuning.py`` reads it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import chance, counted, listed
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.further_fits import TournamentLeaderboard
from bayes_sota.epp.tuning import FEWEST, families_of, tuning_promise

_HELD = (
    "in as many rounds, if all configurations are random draws, those that there are too; a search "
    "that learns is faster. Where families are about equal, that of the leading one is too high "
    "(docs/measured/epp.md)"
)


def add_families(
    report: Report,
    boards: Sequence[BradleyTerryFit | TournamentLeaderboard],
    separator: str,
    more: int = 20,
) -> Report:
    """Add what further tuning promises to the report of one or more tournaments.

    Parameters
    ----------
    report : Report
        Of ``report_fit`` or ``report_tournaments``.
    boards : sequence of BradleyTerryFit or TournamentLeaderboard
        What it is of.
    separator : str
        What stands after the family in the names of players (``families_of``).
    more : int
        New configurations of a family (``tuning_promise``).

    Examples
    --------
    >>> import numpy as np
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> from bayes_sota.epp.summary_report import report_fit
    >>> players = [f"svm_{n}" for n in range(12)]
    >>> table = simulate_tournament(np.linspace(1, -1, 12), 30, players=players, random_seed=0)
    >>> fit = fit_epp(table)
    >>> report = add_families(report_fit(fit, repetitions=0), [fit], "_")
    >>> report.tables[1].title
    'what 20 more configurations of a family promise'
    """
    records: list[dict[str, Any]] = []
    few, shared = list[str](), list[str]()
    for board in boards:
        families = families_of(board.players, separator)
        promises = tuning_promise(board.epp, families, more)
        known = {one.family for one in promises}
        for name, size in Counter(families).items():
            if name not in known:
                (few if size < FEWEST else shared).append(name)
        place = {"tournament": board.tournament} if len(boards) > 1 else {}
        records += [{**place, **asdict(one)} for one in promises]
    beaten = (
        f"P(best beaten): that one of {more:,} new configurations comes out above all now there"
    )
    said = _said(records, more)
    return replace(
        report,
        content=report.content | {"tuning": {"more": more, "families": records}},
        tables=[*report.tables, _table(records, more)],
        sentences=[*report.sentences, said],
        paragraph=[*report.paragraph, said],
        legend=[*report.legend, f"{beaten}; {_HELD}"],
        notes=[*report.notes, *_remarks(few, shared, records, more)],
    )


def _remarks(
    few: Sequence[str], shared: Sequence[str], records: Sequence[dict[str, Any]], more: int
) -> Iterator[str]:
    """Families of which nothing is said, and why; what is said of tails that are far out."""
    if few:
        names = listed(list(dict.fromkeys(few)))
        yield f"families of fewer than {FEWEST} configurations are left out: {names}"
    if shared:
        names = listed(list(dict.fromkeys(shared)))
        yield (
            "families whose best skill several configurations share are left out, as it may be the "
            f"highest there is: {names}"
        )
    if more > 5 * min(one["n"] for one in records):
        yield (
            f"{more:,} are more than five times as many as some family has now: tails are hardly "
            "known so far out"
        )


def _table(records: Sequence[dict[str, Any]], more: int) -> Table:
    first = ["tournament"] if "tournament" in records[0] else []
    return Table.of(
        [
            {
                **{name: one[name] for name in first},
                "family": one["family"],
                "configurations": f"{one['n']:,}",
                "best EPP": f"{one['best']:.2f}",
                "P(best beaten)": chance(one["p_beats_best"]),
            }
            for one in records
        ],
        f"what {more:,} more configurations of a family promise",
    )


def _said(records: Sequence[dict[str, Any]], more: int) -> str:
    """The most promising family, of one tournament; how many are, of several."""
    if "tournament" not in records[0]:
        one = records[0]
        return (
            f"{counted(more, 'more configuration')} of {one['family']}, the most promising family, "
            "would bring one that comes out above all there are with probability "
            f"{chance(one['p_beats_best'])}."
        )
    boards: dict[str, dict[str, Any]] = {}
    for one in records:
        boards.setdefault(one["tournament"], one)
    likely = sum(one["p_beats_best"] >= 0.5 for one in boards.values())
    return (
        f"In {likely:,} of {counted(len(boards), 'tournament')} "
        f"{counted(more, 'more configuration')} of the most promising family would bring a new "
        "best one with probability 1/2 or more."
    )
