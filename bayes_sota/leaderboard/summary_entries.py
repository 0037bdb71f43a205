"""Skill, ranks, P(best) and tier of every entry of a leaderboard, as a table.

An entry may be the best, is tied with the best and belongs to tier 1 where its set of ranks holds
rank 1. Names come from untrusted files: every format shows them as plain text
(``tests/leaderboard/test_summary_entries.py``).
"""

from collections.abc import Iterator
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from scipy.special import ndtri

from bayes_sota.core import text
from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import more_items
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.ranks import separated_neighbours, tiers
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.summary import error_of_mean, frame_of, summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.types import IntArray
from bayes_sota.data.known import KnownSkills, with_known
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import ABOUT, Outcomes
from bayes_sota.leaderboard import summary_words as words
from bayes_sota.leaderboard.posterior import (
    MOST_JOINT,
    BoardPosterior,
    Ranks,
    board_posterior,
    rank_sets,
)
from bayes_sota.leaderboard.specification import Model, chosen_model, notes_on_field

_DRAWS = 4000  # of theta_sota
_MOST_NUMBERS = 40_000_000  # draws times entries
_LARGE = 2000  # entries above which only the requested draws are made
_SKILL = "Skill is the expected score on {}, drawn as these were. Its interval includes {}."
_SHARED = {
    "equally": "the error that all entries share; ranks and P(best) do not depend on it",
    "unequally": "the error that all entries share; ranks and P(best) depend on it as far as "
    "entries share it unequally",
    "partly known": "what known skills leave of the error that all entries share; they may also "
    "change ranks and P(best)",
}
_RANKS = {
    "joint": "Ranks are by skill: with probability {:.0%} all lie in their sets at once.",
    "confidence": "Ranks are by skill: in {:.0%} of such boards all lie in their sets at once, "
    "even if entries are equal.",
    "each": "Ranks are by skill: each lies in its own interval with probability {:.0%}.",
}
_TIERS = (
    "Tier 1 holds the entries that may be the best, each next tier those that may be the best of "
    "the rest. P(best) is small where many entries are about equal."
)


def board_table(
    data: Leaderboard | Outcomes,
    *,
    known: KnownSkills | None = None,
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

    From all scores, or from the answers, which also inform the correlation of classifiers
    (``board_posterior``). The sets of ranks hold for all entries at once (``core.ranks``).

    Parameters
    ----------
    data : Leaderboard or Outcomes
    known : mapping of str to Known, float or str, or path, optional
        As in ``estimate_sota``.
    priors : Priors, optional
        Not together with ``model``.
    model : ModelSpecification or name, optional
        A model of whole boards, of which only the priors are used.
    domain, field : str, optional
        As in ``estimate_sota``.
    ci_prob : float
        Probability of the equal-tailed intervals, and that all ranks lie in their sets.
    ranks : {"auto", "joint", "confidence", "each"}
        Joint sets of the posterior; confidence sets, which are wider and also cover equal entries;
        or an interval for each entry. ``auto`` takes joint sets up to 100 entries, and above that
        confidence sets where the errors of the scores are known.
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
        Only the maximum is known, fewer than two entries, or confidence sets where the errors of
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
    data = with_known(data, known)
    board = words.board_of(data)
    spec = chosen_model(model, "leaderboard", priors, domain=domain, field=field, data=board)

    rng, seed = resolve_seed(random_seed)
    m = len(board.names)
    count = min(max(draws, _DRAWS if m <= _LARGE else draws), max(100, _MOST_NUMBERS // m))
    found = board_posterior(data, spec.priors, draws=count, random_seed=rng)
    how, sets = rank_sets(data, found.entries, found.draws["rho"], ci_prob, ranks, rng)
    error_of = partial(error_of_mean, points=found.skills.parameters.behind)
    best, winner = (
        summarize_draws(board.sign * found.draws[name], ci_prob, error_of)
        for name in ("theta_sota", "winner_skill")
    )
    rho = summarize_draws(found.draws["rho"], ci_prob) | {"learnt": found.learns_rho}
    entries = _rows(board, found, sets, ci_prob)
    content = {
        "entries": entries,
        "theta_sota": best,
        "rho": rho,
        **words.items_of(data),
        "n_entries": m,
        "n_tied_with_best": sum(row["tied_with_best"] for row in entries),
        "ranks": how,
        "n_separated_neighbours": separated_neighbours(sets),
        "separating_first_two": _separating(data, found, sets, ci_prob),
        "prob": ci_prob,
        "notes": [
            *found.notes,
            *notes_on_field(board, spec.name, model),
            *_notes(board, how),
            words.about_rho(rho, words.source_of(data)),
        ],
        "diagnostics": {"ok": not found.reasons, "reasons": list(found.reasons)},
        "seed": int(seed) if seed.isdigit() else None,
    }
    how_shared = "equally" if found.skills.fit.evidence.shares_scores else "unequally"
    shared = _SHARED[how_shared if data.anchors is None else "partly known"]
    skills = [row["skill"] for row in entries if np.ptp(row["skill"]["interval"])]  # unknown ones
    d = text.decimals_of(skills[0] if skills else winner)
    how_drawn = f"{text.counted(count, 'draw')} of the exact posterior of all skills, seed {seed}"
    return words.report_of(
        content,
        make_frame=lambda: frame_of([words.flat(row) for row in entries]),
        sentences=[*_sentences(data, content, winner)],
        tables=[table_of(entries, _columns(data, d, ci_prob), f"{data.name}: {m:,} entries")],
        legend=[_SKILL.format(ABOUT[data.new], shared), _RANKS[how].format(ci_prob), _TIERS],
        footer=[f"method exact, model {spec.name}"],
        basis=[how_drawn, SOFTWARE, words.CITED],
        measured=words.measured_of(data),
    )


def _rows(
    board: Leaderboard, found: BoardPosterior, sets: IntArray, prob: float
) -> list[dict[str, Any]]:
    """Rows of the JSON, best score first."""
    entries, evidence, order = found.entries, found.skills.fit.evidence, board.order
    scores, mean = board.scores[order], board.sign * entries.mean()[order]
    ends = np.sort(board.sign * entries.interval(prob)[order], axis=1).tolist()
    columns: dict[str, Any] = {
        "rank": 1 + np.searchsorted(-scores, -scores, side="left"),
        "name": [board.names[j] for j in order],
        "score": board.sign * scores,
        "skill": [{"mean": m, "interval": e} for m, e in zip(mean.tolist(), ends, strict=True)],
        "rank_interval": entries.rank_interval(prob)[order],
        "p_best": entries.p_best[order],
        "p_best_mcse": entries.p_best_mcse[order],
        "tied_with_best": sets[:, 0] == 1,
        "rank_set": sets,
        "tier": tiers(sets),
    }
    if board.anchors is not None:
        columns["skill_is_known"] = np.isin(order, evidence.known_entries)
    if board.error_ratios is not None and board.metric == "accuracy":
        columns["n_effective"] = board.sizes[order]
    elif board.error_ratios is not None:
        columns["standard_error"] = (board.standard_error or 0.0) * board.error_ratios[order]
    cells = [c.tolist() if isinstance(c, np.ndarray) else c for c in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*cells, strict=True)]


def _separating(
    data: Leaderboard | Outcomes, found: BoardPosterior, sets: IntArray, prob: float
) -> dict[str, Any] | None:
    """How many more items would distinguish the first two if their difference stays.

    None where the ranks do so, the two do not differ, or there are enough items for the two alone.
    """
    pair = np.argsort(-data.scores, kind="stable")[:2]
    apart = found.entries.skill[:, pair].astype(float) @ [1, -1]
    gap, sd = float(apart.mean()), float(apart.std())
    reach = gap - float(np.quantile(apart, (1 - prob) / 2))
    if sets[0, 1] < sets[1, 0] or gap <= 2 * sd / np.sqrt(apart.size) or reach < gap:
        return None
    share = more_items(gap, reach, 1)
    if share is None:
        return None
    # items narrow the errors of scores; the prior, which narrows the interval too, stays as it is
    share *= max(1.0, (_reach_of_scores(found, pair, prob) / reach) ** 2)
    now = words.items_of(data)["n_test"] if data.new == "items" else None
    many = {"times": 1 + share, "n_more": now and ceil(share * now)}
    return {"names": [data.names[j] for j in pair], "difference": gap, **many}


def _reach_of_scores(found: BoardPosterior, pair: IntArray, prob: float) -> float:
    """Half-width of the interval of a difference by its scores alone, without a prior."""
    evidence, rho = found.skills.fit.evidence, found.draws["rho"][:, None]
    own = evidence.own_as_printed(rho, pair)
    shared = 0.0 if evidence.loadings.residual is None else evidence.loadings.residual[*pair]
    variance = np.mean(own.sum(axis=1) - 2 * shared * np.sqrt(own.prod(axis=1)))
    return float(ndtri((1 + prob) / 2) * evidence.law.standard_error * np.sqrt(variance))


def _notes(board: Leaderboard, how: Ranks) -> Iterator[str]:
    """Notes on an unusual board, or on ranks whose sets may be too narrow."""
    if board.is_partial:
        listed = f"{board.n_entries:,} of about {board.typical_tries:,.0f} classifiers are listed"
        yield f"{listed}: ranks and P(best) are among these, theta_sota is the best of all"
    if how == "joint" and len(board.names) > MOST_JOINT:
        wider = 'ranks="confidence" gives wider ones, without known skills and with submissions=1'
        yield f"joint sets of ranks are too narrow above {MOST_JOINT} entries; in Python {wider}"


def _sentences(
    data: Leaderboard | Outcomes, content: dict[str, Any], winner: dict[str, Any]
) -> Iterator[str]:
    """The leader, the best of all, who may be it, and what would distinguish the first two."""
    first, prob, pairs = content["entries"][0], content["prob"], content["n_entries"] - 1
    who, skill = text.shown_name(first["name"], 60), winner | first["skill"]
    ranges = f"ranges are {prob:.0%} intervals"
    yield from words.answer_of(data, who, skill, content["theta_sota"], first["score"], ranges)
    p_best = text.in_prose(first["p_best"])
    best = f"{text.plain_text(first['name'], 200)} is the best of all with probability {p_best}"
    yield f"{best}{words.cautious_on(data)}."
    yield (
        f"{content['n_tied_with_best']:,} of {pairs + 1:,} entries may be the best; "
        f"{content['n_separated_neighbours']:,} of {text.counted(pairs, 'pair')} of neighbours have "
        f"no rank in common, at {prob:.0%}{' each' * (content['ranks'] == 'each')}."
    )
    if needed := content["separating_first_two"]:
        by = text.in_points(float(f"{needed['difference']:.2g}"), data.metric == "accuracy")
        many = f"{float(f'{needed["times"]:.2g}'):,g} times as many {data.new}"
        if needed["n_more"]:
            many = f"{text.about(needed['n_more']).capitalize()} more items"
        one, other = (text.plain_text(name, 60) for name in needed["names"])
        yield (
            f"{many} would distinguish {one} from {other} at {prob:.0%} if the expected difference "
            f"({by}) stays."
        )


def _columns(data: Leaderboard | Outcomes, d: int, prob: float) -> dict[str, Any]:
    """Columns of the printed table, with skills of ``d`` decimals."""
    shown = words.score_decimals(data)
    return {
        "rank": "rank",
        "name": "name",
        "score": lambda row: f"{row['score']:z.{shown}f}",
        "worth items": lambda row: f"{row['n_effective']:,.0f}" if "n_effective" in row else None,
        "error": lambda row: f"{row['standard_error']:.2g}" if "standard_error" in row else None,
        "skill": lambda row: f"{row['skill']['mean']:z.{d}f}",
        f"{prob:.0%} interval": lambda row: text.span(row["skill"]["interval"], d),
        "ranks": lambda row: " to ".join(f"{end:,}" for end in dict.fromkeys(row["rank_set"])),
        "P(best)": lambda row: text.chance(row["p_best"], row["p_best_mcse"]),
        "may be best": lambda row: "yes" * row["tied_with_best"],
        "tier": "tier",
    }
