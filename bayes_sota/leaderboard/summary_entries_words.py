"""The table of a leaderboard in words, given what is known of every entry."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.text import (
    as_scores,
    as_sentences,
    chance,
    counted,
    decimals_for,
    listed,
    plain_text,
    shown_name,
    span,
)
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.summary_words import (
    CITED,
    expectation,
    measured_of,
    metric_of,
    on_items,
    said_decimals,
    score_decimals,
    skill_is_about,
)

OWN = {"n_effective": ("worth items", ",.0f"), "standard_error": ("error", ".2g")}
"""Columns of entries with errors of their own, what tables call them, and how they show them."""
_SKILL = (
    "Skill is the expected score on {}. Its interval includes the luck that all entries share; "
    "what compares entries does not."
)
_RANKS = {
    "joint": "Ranks are by skill: all lie in their sets at once with a probability of {:.0%}.",
    "stepwise": "Ranks are by skill: all lie in their sets at once in {:.0%} of such boards, also "
    "where entries are equal.",
    "each": "Ranks are by skill: each by itself lies in its interval with a probability of {:.0%}.",
}
_TIERS = (
    "Tier 1 are the entries that may be the best, each further tier those that may be the best of "
    "the rest. P(best) is the probability that no other entry is better, and small where many are "
    "about equal."
)
_NAMED = 5  # entries in a sentence


def report_entries(
    data: Leaderboard | Outcomes,
    content: dict[str, Any],
    frame: pd.DataFrame,
    d: int,
    draws: int,
) -> Report:
    """Report of what is known of every entry, skills with ``d`` decimals."""
    first, m, prob = content["entries"][0], content["n_entries"], content["prob"]
    shown, metric, sure = score_decimals(data), metric_of(data), f"{prob:.0%} interval"
    said, about = said_decimals(shown, d), content.get("new", "items")
    who = shown_name(first["name"], 60)
    sentences = [
        expectation(who, first["skill"], first["score"], (shown, said), metric, content),
        f"The best of all {m:,} entries, whichever it is (theta_sota), would score "
        f"{as_scores(content['theta_sota'], said, metric)}; ranges are {sure}s.",
        _leads(content, data.name, shown),
        _may_be_best(content),
        *_among_best(content["surely_among_best"]),
        *_apart(content, metric),
    ]
    legend = [skill_is_about(_SKILL, about), _RANKS[content["ranks"]].format(prob), _TIERS]
    columns: dict[str, Any] = {
        "rank": "rank",
        "name": "name",
        "score": lambda row: f"{row['score']:z.{shown}f}",
        **{
            head: lambda row, key=key, form=form: format(row[key], form) if key in row else None
            for key, (head, form) in OWN.items()
        },
        "skill": lambda row: f"{row['skill']['mean']:z.{d}f}",
        sure: lambda row: span(row["skill"]["interval"], d),
        "ranks": lambda row: " to ".join(f"{end:,}" for end in dict.fromkeys(row["rank_set"])),
        "P(best)": lambda row: chance(row["p_best"], row["p_best_mcse"]),
        "may be best": lambda row: "yes" * row["tied_with_best"],
        "tier": "tier",
    }
    seed = content["seed"]
    return Report(
        content=content,
        make_frame=lambda: frame,
        tables=[table_of(content["entries"], columns, f"{data.name}: {m:,} entries")],
        sentences=sentences,
        paragraph=[*sentences, *legend, *as_sentences(content["notes"])],
        legend=legend,
        footer=["method exact"],
        notes=content["notes"],
        reasons=content["diagnostics"]["reasons"],
        basis=[
            f"{counted(draws, 'draw')} of the exact posterior of all skills, seed {seed}",
            SOFTWARE,
            CITED,
        ],
        measured=measured_of(data),
    )


def _leads(content: dict[str, Any], board: str, decimals: int) -> str:
    """Which entry has the best score, of how many, and how many others have it."""
    first, where = content["entries"][0], "" if board == "board" else f' of "{board}"'
    others = sum(row["rank"] == 1 for row in content["entries"]) - 1
    shared = f", shared with {counted(others, 'other')}" if others else ""
    return (
        f"Of {content['n_entries']:,} entries{where} {plain_text(first['name'], 200)} has the "
        f"best score, {first['score']:z.{decimals}f}"
        f"{on_items(content['n_test'], content['n_test_source'])}{shared}; it is the best of all "
        f"with probability {chance(first['p_best'], first['p_best_mcse'])}."
    )


def _may_be_best(content: dict[str, Any]) -> str:
    """How many entries may be the best, and how many neighbours are told apart."""
    m, tied, apart = (
        content[key] for key in ("n_entries", "n_tied_with_best", "n_separated_neighbours")
    )
    may = f"{tied:,} of {m:,} entries may be the best"
    if tied == 1:
        name = next(row["name"] for row in content["entries"] if row["tied_with_best"])
        may = f"Only {plain_text(name, 100)} of {m:,} entries may be the best"
    elif tied == m:
        may = f"All {m:,} entries may be the best"
    told = f"{apart:,} of the {m - 1:,} pairs of neighbours {'is' if apart == 1 else 'are'}"
    if m == 2:
        told = "the two are" + " not" * (not apart)
    each = " each" * (content["ranks"] == "each")
    return f"{may}, and {told} told apart, at {content['prob']:.0%}{each}."


def _among_best(sure: dict[str, Any]) -> Iterator[str]:
    if sure and sure["k"] > 1:
        verb = "is" if len(sure["names"]) == 1 else "are"
        names = listed([plain_text(name, 60) for name in sure["names"]], _NAMED)
        yield f"Surely among the best {sure['k']:,} {verb} {names}."


def _apart(content: dict[str, Any], metric: str) -> Iterator[str]:
    """How many items, or tasks, would tell the first two apart."""
    needed = content["separating_first_two"]
    if needed is None:
        return
    d, times = decimals_for(needed["difference"]), needed["times"]
    gap = f"{needed['difference']:.{d}f}"
    if metric == "accuracy":
        gap = f"{100 * needed['difference']:.{max(d - 2, 0)}f} points"
    size = f"{times:.2g}" if times < 100 else f"{two_digits(times):,}"
    size += f" times as many {content.get('new', 'items')}"
    if total := needed["n_test"]:
        size = f"about {total:,} items in all, {needed['n_more']:,} more"
    first, second = (plain_text(name, 60) for name in needed["names"])
    yield (
        f"To tell {first} from {second} at {content['prob']:.0%}, two-sided, with a power of "
        f"{needed['power']:.0%}, if they differ by as much as is expected ({gap}), takes {size}."
    )


def two_digits(number: float) -> int:
    """The next larger number with two digits that are not 0."""
    unit = int(10 ** max(0, np.floor(np.log10(number)) - 1))
    return int(np.ceil(number / unit)) * unit
