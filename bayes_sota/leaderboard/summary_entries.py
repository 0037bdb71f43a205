"""Skill, ranks, P(best) and tier of entries: of a whole board, in each task, or each by itself.

An entry may be the best, is tied with the best and belongs to tier 1 where its set of ranks holds
rank 1. Names come from untrusted files: every format shows them as plain text
(``tests/leaderboard/test_summary_entries.py``).
"""

from collections.abc import Iterator, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from scipy.special import ndtri

from bayes_sota.core import text
from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import more_items, share_mcse
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.ranks import separated_neighbours, tiers
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.summary import error_of_mean, frame_of, summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report, table_of
from bayes_sota.core.types import IntArray, Seed
from bayes_sota.data.known import KnownSkills, with_known
from bayes_sota.data.leaderboard import Averaged, Leaderboard
from bayes_sota.data.outcomes import ABOUT, New, Outcomes
from bayes_sota.items.by_task import TaskComparison, compare_by_task
from bayes_sota.items.score import Skill
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

_ALONE = "each classifier is judged alone; bayes-sota board allows for having picked the best"
_WORTH = "worth: the number of single answers, right or wrong, with the same standard error."
_SIDE_BY_SIDE = 5  # entries in a table of 120 characters
_TASKS = (
    "Differences between entries are shrunk towards their mean over all tasks, more so in a task "
    "with few items. P: the probability that best is the best of its task. For verdicts that hold "
    "together: bayes-sota claim responses --by task."
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

    From all scores, or from the answers, which also inform the correlation of classifiers. The sets
    of ranks hold for all entries at once (``core.ranks``).

    Parameters
    ----------
    data : Leaderboard or Outcomes
    known, priors, domain, field
        As in ``estimate_sota``.
    model : ModelSpecification or name, optional
        A model of whole boards, of which only the priors are used.
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
    pair = np.argsort(-data.scores, kind="stable")[:2]
    apart = found.entries.skill[:, pair].astype(float) @ [1, -1]
    gap, sd = float(apart.mean()), float(apart.std())
    reach = gap - float(np.quantile(apart, (1 - prob) / 2))
    share = more_items(gap, reach, 1)
    if share is None or sets[0, 1] < sets[1, 0] or gap <= 2 * sd / np.sqrt(apart.size):
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
    if board.is_partial:
        listed = f"{board.n_entries:,} of about {board.typical_tries:,.0f} classifiers are listed"
        yield f"{listed}: ranks and P(best) are among these, theta_sota is the best of all"
    if how == "joint" and len(board.names) > MOST_JOINT:
        wider = 'ranks="confidence" gives wider ones, without known skills and with submissions=1'
        yield f"joint sets of ranks are too narrow above {MOST_JOINT} entries; in Python {wider}"


def _sentences(
    data: Leaderboard | Outcomes, content: dict[str, Any], winner: dict[str, Any]
) -> Iterator[str]:
    first, prob, pairs = content["entries"][0], content["prob"], content["n_entries"] - 1
    who, skill = text.shown_name(first["name"], 60), winner | first["skill"]
    ranges = f"ranges are {prob:.0%} intervals"
    yield from words.answer_of(data, who, skill, content["theta_sota"], first["score"], ranges)
    p_best = text.in_prose(first["p_best"])
    best = f"{text.plain_text(first['name'], 200)} is the best of all with probability {p_best}"
    yield f"{best}{words.cautious_on(data)}."
    apart, level = content["n_separated_neighbours"], f"at {prob:.0%}"
    level += " each" * (content["ranks"] == "each")
    neighbours = "any two neighbours have a rank in common"
    if apart:
        of = f"{apart:,} of {text.counted(pairs, 'pair')} of neighbours"
        neighbours = f"{of} {'has' if apart == 1 else 'have'} no rank in common"
    tied = f"{content['n_tied_with_best']:,} of {pairs + 1:,} entries may be the best"
    yield f"{tied}; {neighbours}, {level}."
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


def describe_skills(
    skills: Sequence[Skill],
    *,
    new: New = "items",
    average: Averaged = "items",
    ci_prob: float = 0.95,
    notes: Sequence[str] = (),
    reasons: Sequence[str] = (),
    metric: str = "",
) -> Report:
    """Describe the skills of classifiers, each by itself."""
    skills = sorted(skills, key=lambda skill: -skill.score)
    records = [_record(skill, ci_prob) for skill in skills]
    first, (d, kind) = skills[0], _digits(skills[0])
    scores = f"have a {metric} of" if metric.startswith("pass") else "score"
    clusters = None if first.n_clusters == first.n_items else first.n_clusters
    runs = f"{first.n_runs:,} runs" * (first.n_runs > 1)
    within = words.groups_in_words(first.n_tasks * (first.n_tasks > 1), average, clusters, runs)
    items = text.counted(first.n_items, "item") + f" ({within})" * bool(within)
    sentences = [
        f"Expect {text.shown_name(first.name, 60)} to {scores} "
        f"{text.as_scores(records[0]['skill'], d, kind)} on many {ABOUT[new]}; here it has "
        f"{text.as_score(first.score, d, kind)}.",
        f"Based on {items}; ranges are {ci_prob:.0%} intervals.",
    ]
    columns: dict[str, Any] = {
        "classifier": "name",
        "score": lambda row: text.as_score(row["score"], *row["digits"]),
        f"skill ({ci_prob:.0%} interval)": lambda row: text.as_scores(row["skill"], *row["digits"]),
        "items": lambda row: f"{row['n_items']:,}",
        "worth": lambda row: row["n_effective"] and f"{row['n_effective']:,.0f}",
    }
    rows = [row | {"digits": _digits(skill)} for row, skill in zip(records, skills, strict=True)]
    facts: Any = {"average": average, "new": new, "prob": ci_prob, "metric": metric or "accuracy"}
    facts["diagnostics"] = {"ok": not reasons, "reasons": [*reasons]}
    return words.report_of(
        {"classifiers": records, **facts, "notes": [*notes, *[_ALONE] * (len(skills) > 1)]},
        make_frame=lambda: frame_of([words.flat(record) for record in records]),
        sentences=sentences,
        tables=[table_of(rows, columns)],
        legend=[_WORTH] * any(abs(skill.n_effective - skill.n_items) > 0 for skill in skills),
        basis=["Each classifier by itself, from its own answers", SOFTWARE],
        measured="alone",
        about=tuple(skills),
    )


def _record(skill: Skill, ci_prob: float) -> dict[str, Any]:
    sd, worth, share = (
        value if np.isfinite(value) else None
        for value in (skill.sd, skill.n_effective, skill.share_of_runs)
    )
    return {
        "name": skill.name,
        "score": skill.score,
        "skill": {"mean": skill.mean, "sd": sd, "interval": list(skill.interval(ci_prob))},
        **{key: getattr(skill, key) for key in ("n_items", "n_clusters", "n_tasks", "n_runs")},
        "n_effective": worth,
        "share_of_runs": share,
    }


def _digits(skill: Skill) -> tuple[int, str]:
    if np.isnan(skill.n_effective):
        return text.decimals_for(skill.error), "score"
    return max(text.decimals_for(skill.sd), 3), "accuracy"


def board_by_task(
    outcomes: Outcomes,
    *,
    ci_prob: float = 0.95,
    draws: int = 10_000,
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Skill of every entry in every task, and who is the best of each.

    Parameters
    ----------
    outcomes : Outcomes
        Answers or numbers with tasks.
    ci_prob : float
    draws : int
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    Report
        ``frame`` has a row for each task and entry, ``about`` is the ``TaskComparison``.

    Raises
    ------
    InputError
        No tasks, one task, or no task with two items.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> exam = Outcomes(rng.random((300, 2)) < [0.9, 0.6], tasks=["law", "art", "math"] * 100)
    >>> board_by_task(exam).frame.groupby("name")["p_best"].mean().round(2).to_dict()
    {'1': 1.0, '2': 0.0}
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    DRAWS.check(draws, "draws")
    rng, seed = resolve_seed(random_seed)
    found = compare_by_task(outcomes, draws=draws, random_seed=rng)
    tasks = [_rows_of_task(found, t, ci_prob) for t in range(len(found.tasks))]
    order = np.argsort(-found.average.mean(axis=0), kind="stable").tolist()

    def shown(row: dict[str, Any]) -> str:
        percent, sd = outcomes.is_answers, row["skill"]["sd"]
        d = text.decimals_for((2 if percent else 4) * sd) - percent
        return text.as_scores(row["skill"], d, outcomes.metric)

    own = sorted((rows[order[0]] for rows in tasks), key=lambda row: row["skill"]["mean"])
    low, high = (f"{shown(e)} on {text.shown_name(e['task'], 60)}" for e in (own[0], own[-1]))
    who = text.shown_name(own[0]["name"], 60)
    said = (
        f"On many new items expect {who}, the best over all tasks, to score from {low} to {high}; "
        f"ranges are {ci_prob:.0%} intervals."
    )
    lines = []
    for rows in tasks:
        best = max(rows, key=lambda row: float(row["p_best"]))
        line = {"task": best["task"], "items": f"{best['n_items']:,}"}
        line |= {rows[j]["name"]: shown(rows[j]) for j in order[:_SIDE_BY_SIDE]}
        p = text.chance(best["p_best"], share_mcse(best["p_best"], draws))
        lines.append(line | {"best": best["name"], "P": p})
    entries = [row for rows in tasks for row in rows]
    title = f"skills in each task ({ci_prob:.0%} interval), and the best"
    notes = [*outcomes.notes, *found.notes]
    facts = {"n_tasks": len(tasks), "prob": ci_prob, "notes": notes, "seed": seed_number(seed)}
    return words.report_of(
        {"entries": entries, **facts},
        make_frame=lambda: frame_of([words.flat(entry) for entry in entries]),
        sentences=[said],
        tables=[table_of(lines, {head: head for head in lines[0]}, title)],
        legend=[_TASKS],
        basis=[f"Normal model of tasks, {text.counted(draws, 'draw')}, seed {seed}", SOFTWARE],
        measured="tasks",
        about=found,
    )


def _rows_of_task(found: TaskComparison, t: int, ci_prob: float) -> list[dict[str, Any]]:
    skills = [summarize_draws(drawn, ci_prob) for drawn in found.skills_in(t).T]
    scores, p_best = found.sign * found.errors.scores[t], found.best_in(t)[1]
    each = zip(found.methods, scores.tolist(), skills, p_best.tolist(), strict=True)
    return [
        {
            "task": found.tasks[t],
            "n_items": int(found.errors.n_items[t]),
            "name": name,
            "score": score,
            "skill": {key: skill[key] for key in ("mean", "sd", "interval")},
            "p_best": p,
        }
        for name, score, skill, p in each
    ]
