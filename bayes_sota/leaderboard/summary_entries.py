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
from bayes_sota.core.tables import Report, rows_of
from bayes_sota.core.text import decimals_of
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.entries import MOST_JOINT, Ranks, RankSets, rank_sets, separating_times
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.specification import Model, chosen_model, notes_on_field
from bayes_sota.leaderboard.summary_entries_words import OWN, report_entries, two_digits
from bayes_sota.leaderboard.summary_words import about_rho, board_of, items_of, source_of

_DRAWS = 4000  # of theta_sota
_MOST_NUMBERS = 40_000_000  # draws times entries
_LARGE = 2000  # entries, of which no more are drawn than is asked
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
    skills: dict[str, Any] = {
        name: summarize_draws(board.sign * found.draws[name], ci_prob, found.parameters.behind)
        for name in ("theta_sota", "winner_skill")
    }
    frame = _frame(board, found, sets, skills["winner_skill"], ci_prob)
    rho = summarize_draws(found.draws["rho"], ci_prob) | {"learnt": found.learns_rho}
    least = int(frame["set_upper"].min())  # entries surely among so many, of at most half of all
    sure = frame.loc[frame["set_upper"] == least, "name"].tolist()
    content = {
        "entries": [_entry(row) for row in rows_of(frame)],
        "theta_sota": skills["theta_sota"],
        "rho": rho,
        **items_of(data),
        "n_entries": m,
        "n_tied_with_best": int(frame["tied_with_best"].sum()),
        "ranks": sets.how,
        "n_tiers": int(sets.tier.max()),
        "n_separated_neighbours": separated_neighbours(sets.sets),
        "surely_among_best": {"k": least, "names": sure} if least <= m / 2 else {},
        "separating_first_two": _separating(data, found, sets, ci_prob),
        "prob": ci_prob,
        "notes": [
            *found.notes,
            *notes_on_field(board, spec.name, model),
            *_notes(board, frame, found, sets),
            about_rho(rho, spec.name, source_of(data)),
        ],
        "diagnostics": {"ok": not found.reasons, "reasons": list(found.reasons)},
        "seed": int(seed) if seed.isdigit() else None,
    }
    return report_entries(data, content, frame, decimals_of(skills["winner_skill"]), count)


def _frame(
    board: Leaderboard,
    found: BoardPosterior,
    ranks: RankSets,
    winner: dict[str, Any],
    ci_prob: float,
) -> pd.DataFrame:
    """One row per entry; those that lead alike have the skill of the winner."""
    entries, evidence = found.entries, found.fit.evidence
    order, scores = board.order, board.scores[board.order]
    mean, skill = board.sign * entries.mean()[order], board.sign * entries.interval(ci_prob)[order]
    skill.sort(axis=1)
    if evidence.shares_scores and not evidence.has_luck:
        leads = evidence.leads[order]
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
    plain = ("name", "rank", "score", *OWN, "p_best", "p_best_mcse", "tied_with_best", "tier")
    return {key: row[key] for key in plain if key in row} | {
        "skill": {"mean": row["skill"], "interval": [row["skill_lower"], row["skill_upper"]]},
        "rank_interval": [row["rank_lower"], row["rank_upper"]],
        "rank_set": [row["set_lower"], row["set_upper"]],
    }


def _separating(
    data: Leaderboard | Outcomes, found: BoardPosterior, ranks: RankSets, ci_prob: float
) -> dict[str, Any] | None:
    """How many items in all would tell the first two apart, where the ranks do not.

    None where they do not differ, or where there are enough for the two by themselves, but not for
    all ranks at once.
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
    now, names = items_of(data)["n_test"], [data.names[first], data.names[second]]
    total = None if now is None else two_digits(times * now)
    more = None if now is None or total is None else two_digits(total - now)
    known = {"names": names, "difference": gap, "power": _POWER, "times": times}
    return known | {"n_test": total, "n_more": more}


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
        yield (
            "joint sets of ranks were seen to hold less often than said above "
            f"{MOST_JOINT} entries: stepwise ones are wider and hold; they are --ranks stepwise, "
            "with --submissions 1 where entries had several"
        )
    best = int(np.argmax(board.sign * frame["skill"].to_numpy()))
    if found.fit.evidence.has_luck and frame["rank"].iloc[best] > 1:
        yield (
            "rows are in the order of the scores; with the luck of its submissions taken off "
            f"{frame['name'].iloc[best]} has the highest mean skill"
        )
