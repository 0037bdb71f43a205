"""The table that a leaderboard can print below itself: what its scores say about each entry.

``board_table`` takes a leaderboard or a response matrix and gives every entry its skill, the set of
its ranks, the probability to be the best, and its tier: the first are all that may be the best.
Names come from strangers: they are shown as plain text in every format
(``tests/leaderboard/test_summary_entries.py``).
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.ranks import separated_neighbours
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.summary import summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report, Table, rows_of
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
from bayes_sota.leaderboard.evidence import check_luck
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.ranks import MOST_JOINT, Ranks, RankSets, rank_sets, separating_times
from bayes_sota.leaderboard.specification import (
    Model,
    ModelSpecification,
    chosen_model,
    notes_on_field,
    source_of_rho,
)
from bayes_sota.leaderboard.summary_newcomers import (
    answers_of,
    note_on_newcomer,
    reasons_of_answers,
    sentences_of,
)
from bayes_sota.leaderboard.summary_words import CITED as CITED
from bayes_sota.leaderboard.summary_words import (
    board_of,
    expectation,
    items_of,
    measured_of,
    metric_of,
    on_items,
    rho_in_words,
    said_decimals,
    score_decimals,
    skill_is_about,
)

_OWN = {"n_effective": ("worth items", ",.0f"), "standard_error": ("error", ".2g")}
"""Columns of entries with errors of their own, what tables call them, and how they show them."""
_DRAWS = 4000  # of theta_sota
_MOST_NUMBERS = 40_000_000  # draws times entries
_LARGE = 2000  # entries, of which no more are drawn than is asked
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
_MANY = (
    "joint sets of ranks were seen to hold less often than said above "
    f"{MOST_JOINT} entries: stepwise ones are wider and hold; they are --ranks stepwise, with "
    "--submissions 1 where entries had several"
)
_NAMED = 5  # entries in a sentence
_POWER = 0.8  # to tell the first two apart


def board_table(
    data: Leaderboard | Outcomes,
    *,
    priors: Priors | BoardPriors | None = None,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    ci_prob: float = 0.95,
    ranks: Ranks = "auto",
    draws: int = 1000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    above: float | None = None,
    new_score: float | None = None,
    new_n_test: int | None = None,
) -> Report:
    """Skill, ranks, P(best) and tier of every entry of a leaderboard.

    They come from all scores, or from the answers, which also tell the correlation of classifiers
    (``board_posterior``). The sets of ranks
    hold for all entries at once (``bayes_sota.core.ranks``); an entry may be the best, is tied
    with the best and belongs to tier 1 where its set holds rank 1.

    Parameters
    ----------
    data : Leaderboard or Outcomes
    priors : Priors, optional
        Not together with ``model``.
    model : ModelSpecification, name or path, optional
        Whole boards', whose priors count; sizes of samples are those of ``draws``.
    domain, field : str, optional
        As in ``estimate_sota``.
    ci_prob : float
        Probability of the equal-tailed intervals, and that all ranks lie in their sets.
    ranks : {"auto", "joint", "stepwise", "each"}
        Sets of ranks: joint ones of the posterior; stepwise ones, which are wider and hold also
        where entries are equal; intervals that hold each by itself. ``auto`` is joint up to 100
        entries and else stepwise, where the errors of the scores are known.
    draws : int
        Posterior draws of all entries; fewer where there are more than 40,000 entries, at least
        4,000 of up to 2,000 entries.
    random_seed : int, Generator or None
    above, new_score : float, optional
        How probably theta_sota exceeds ``above``, and a new classifier with ``new_score`` is truly
        better than the best.
    new_n_test : int, optional
        Number of other items that the new classifier was scored on; default the same items.

    Returns
    -------
    Report

    Raises
    ------
    InputError
        Only the maximum is known, fewer than two entries, or stepwise ranks where the errors of
        scores are not known.

    Examples
    --------
    >>> board = Leaderboard([0.93, 0.90, 0.91, 0.915, 0.88], n_test=1000, names=list("abcde"))
    >>> table = board_table(board, random_seed=0)
    >>> table.frame[["rank", "name", "tied_with_best"]].values.tolist()[:2]
    [[1, 'a', True], [2, 'd', True]]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    DRAWS.check(draws, "draws")
    if not isinstance(data, Leaderboard | Outcomes):
        raise InputError("the scores of all entries, or their answers, are needed")
    board = board_of(data)
    spec = chosen_model(model, "leaderboard", priors, domain=domain, field=field, data=board)
    check_luck(priors, data)
    rng, seed = resolve_seed(random_seed)
    m = len(board.names)
    count = min(max(draws, _DRAWS if m <= _LARGE else draws), max(100, _MOST_NUMBERS // m))
    found = board_posterior(data, spec.priors, draws=count, random_seed=rng)
    sets = rank_sets(data, found.entries, found.draws["rho"], ci_prob, ranks, rng)
    frame = _frame(board, found, sets, ci_prob)
    told = answers_of(found, above, new_score, new_n_test)
    rho = summarize_draws(found.draws["rho"], ci_prob) | {"learnt": found.learns_rho}
    reasons = [*found.reasons, *reasons_of_answers(told)]
    content = {
        "entries": [_entry(row) for row in rows_of(frame)],
        "theta_sota": _summary_of(found, "theta_sota", ci_prob),
        **told,
        "rho": rho,
        **items_of(data),
        "n_entries": m,
        "n_tied_with_best": int(frame["tied_with_best"].sum()),
        "ranks": sets.how,
        "n_tiers": int(sets.tier.max()),
        "n_separated_neighbours": separated_neighbours(sets.sets),
        "surely_among_best": _surely_among(frame),
        "separating_first_two": _separating(data, frame, found, sets, ci_prob),
        "prob": ci_prob,
        "notes": [
            *found.notes,
            *notes_on_field(board, spec.name, model),
            *_notes(board, frame, found, sets),
            _on_rho(data, rho, spec),
            *note_on_newcomer(told, found.learns_rho),
        ],
        "diagnostics": {"ok": not reasons, "reasons": reasons},
        "seed": int(seed) if seed.isdigit() else None,
    }
    winner = _summary_of(found, "winner_skill", ci_prob)
    d = decimals_for(winner["sd"], winner["mcse"])
    return _report(data, content, frame, d, count)


def _summary_of(found: BoardPosterior, name: str, ci_prob: float) -> dict[str, Any]:
    """Mean, interval and errors of one quantity, in the units of the scores."""
    values = found.fit.evidence.board.sign * found.draws[name]
    return summarize_draws(values, ci_prob, found.parameters.behind)


def _frame(
    board: Leaderboard, found: BoardPosterior, ranks: RankSets, ci_prob: float
) -> pd.DataFrame:
    """One row per entry; those that lead alike have the skill of the winner."""
    entries, evidence = found.entries, found.fit.evidence
    order, scores = board.order, board.scores[board.order]
    mean, skill = board.sign * entries.mean()[order], board.sign * entries.interval(ci_prob)[order]
    skill.sort(axis=1)
    if evidence.shares_scores and not evidence.has_luck:
        leads, winner = evidence.leads[order], _summary_of(found, "winner_skill", ci_prob)
        mean[leads], skill[leads] = winner["mean"], winner["interval"]
    places = entries.rank_interval(ci_prob)[order]
    columns = {
        "rank": 1 + np.searchsorted(-scores, -scores, side="left"),
        "name": [board.names[j] for j in order],
        "score": board.sign * scores,
        "skill": mean,
        "skill_lower": skill[:, 0],
        "skill_upper": skill[:, 1],
        "rank_lower": places[:, 0],
        "rank_upper": places[:, 1],
        "p_best": entries.p_best[order],
        "p_best_mcse": entries.p_best_mcse[order],
        "tied_with_best": ranks.sets[:, 0] == 1,
        "set_lower": ranks.sets[:, 0],
        "set_upper": ranks.sets[:, 1],
        "tier": ranks.tier,
    }
    if board.error_ratios is not None and board.metric == "accuracy":
        columns["n_effective"] = board.sizes[order]
    elif board.error_ratios is not None:
        columns["standard_error"] = (board.standard_error or 0.0) * board.error_ratios[order]
    return pd.DataFrame(columns)


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON has of an entry."""
    plain = ("name", "rank", "score", *_OWN, "p_best", "p_best_mcse", "tied_with_best", "tier")
    return {key: row[key] for key in plain if key in row} | {
        "skill": {"mean": row["skill"], "interval": [row["skill_lower"], row["skill_upper"]]},
        "rank_interval": [row["rank_lower"], row["rank_upper"]],
        "rank_set": [row["set_lower"], row["set_upper"]],
    }


def _surely_among(frame: pd.DataFrame) -> dict[str, Any]:
    """Entries that are surely among the best k, for the least such k of at most half of them."""
    least = int(frame["set_upper"].min())
    if least > len(frame) / 2:
        return {}
    return {"k": least, "names": frame.loc[frame["set_upper"] == least, "name"].tolist()}


def _separating(
    data: Leaderboard | Outcomes,
    frame: pd.DataFrame,
    found: BoardPosterior,
    ranks: RankSets,
    ci_prob: float,
) -> dict[str, Any] | None:
    """How many more items would tell the first two apart, where the ranks do not and they differ.

    None where there are enough for the two by themselves, but not for all ranks at once.
    """
    first, second = np.argsort(-data.scores, kind="stable")[:2]
    skill = found.entries.skill
    apart = skill[:, first].astype(float) - skill[:, second]
    gap = float(apart.mean())
    if ranks.sets[0, 1] < ranks.sets[1, 0] or gap <= 2 * apart.std() / np.sqrt(apart.size):
        return None
    times = separating_times(data, gap, found.draws["rho"], ci_prob, _POWER)
    if times is None or times <= 1:
        return None
    now = items_of(data)["n_test"]
    n_test = None if now is None else _two_digits(times * now)
    return {
        "names": frame["name"].tolist()[:2],
        "difference": gap,
        "power": _POWER,
        "times": times,
        "n_test": n_test,
        "n_test_now": now,
        "n_more": n_test and _two_digits(n_test - now),
    }


def _two_digits(number: float) -> int:
    """The next larger number with two digits that are not 0."""
    unit = int(10 ** max(0, np.floor(np.log10(number)) - 1))
    return int(np.ceil(number / unit)) * unit


def _notes(
    board: Leaderboard, frame: pd.DataFrame, found: BoardPosterior, sets: RankSets
) -> Iterator[str]:
    """What is unusual about the board, its ranks and its draws."""
    if board.is_partial:
        yield (
            f"of about {board.typical_tries:,.0f} classifiers {board.n_entries:,} are listed: "
            "ranks and P(best) are among these, theta_sota is the best of all"
        )
    if sets.how == "joint" and len(frame) > MOST_JOINT:
        yield _MANY
    best = int(np.argmax(board.sign * frame["skill"].to_numpy()))
    if found.fit.evidence.has_luck and frame["rank"].iloc[best] > 1:
        yield (
            "rows are in the order of the scores; with the luck of its submissions taken off "
            f"{frame['name'].iloc[best]} has the highest mean skill"
        )


def _on_rho(data: Leaderboard | Outcomes, rho: dict[str, Any], spec: ModelSpecification) -> str:
    """How far classifiers share the luck of the items, a note."""
    what, value = "tasks" if data.new == "tasks" else "items", rho_in_words(rho)
    who = "entries" if isinstance(data, Leaderboard) else "classifiers"
    how = f"how far {who} share the luck of the {what} is"
    if isinstance(data, Leaderboard) and not rho["learnt"]:
        known = spec.priors.correlation.is_fixed
        source = "" if known else f", from {source_of_rho(spec.name)}"
        return (
            f"{how} assumed, not learnt: rho is {value}{source}; the larger, the fewer may be best"
        )
    if not rho["learnt"]:
        return "classifiers do not share the luck of runs: rho is 0"
    source = "answers" if isinstance(data, Outcomes) and data.is_answers else what
    source += " and from a prior" * (what == "tasks")
    return f"{how} learnt from the {source}: rho is {value}"


def _report(
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
        *sentences_of(content),
        _may_be_best(content),
        *_among_best(content["surely_among_best"]),
        *_apart(content, metric),
    ]
    legend = [skill_is_about(_SKILL, about), _RANKS[content["ranks"]].format(prob), _TIERS]
    rows = [_cells(row, shown, d, sure) for row in content["entries"]]
    return Report(
        content=content,
        make_frame=lambda: frame,
        tables=[Table.of(rows, f"{data.name}: {m:,} entries")],
        sentences=sentences,
        paragraph=[*sentences, *legend, *as_sentences(content["notes"])],
        legend=legend,
        footer=["method exact"],
        notes=content["notes"],
        reasons=content["diagnostics"]["reasons"],
        basis=[
            f"{counted(draws, 'draw')} of the exact posterior of all skills, seed "
            f"{content['seed']}",
            SOFTWARE,
            CITED,
        ],
        measured=measured_of(data),
    )


def _cells(row: dict[str, Any], shown: int, d: int, sure: str) -> dict[str, str]:
    """What people read of an entry, by the headings of its columns."""
    low, high = row["rank_set"]
    return {
        "rank": str(row["rank"]),
        "name": row["name"],
        "score": f"{row['score']:z.{shown}f}",
        **{name: format(row[key], form) for key, (name, form) in _OWN.items() if key in row},
        "skill": f"{row['skill']['mean']:z.{d}f}",
        sure: span(row["skill"]["interval"], d),
        "ranks": f"{low:,}" if low == high else f"{low:,} to {high:,}",
        "P(best)": chance(row["p_best"], row["p_best_mcse"]),
        "may be best": "yes" * row["tied_with_best"],
        "tier": str(row["tier"]),
    }


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
    size = f"{times:.2g}" if times < 100 else f"{_two_digits(times):,}"
    size += f" times as many {content.get('new', 'items')}"
    if needed["n_test"] is not None:
        size = f"about {needed['n_test']:,} items in all, {needed['n_more']:,} more"
    first, second = (plain_text(name, 60) for name in needed["names"])
    yield (
        f"To tell {first} from {second} at {content['prob']:.0%}, two-sided, with a power of "
        f"{_POWER:.0%}, if they differ by as much as is expected ({gap}), takes {size}."
    )
