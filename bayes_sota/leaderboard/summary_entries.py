"""The table that a leaderboard can print below itself: what its scores say about each entry.

``board_table`` takes a leaderboard or a response matrix and gives every entry its skill, the set of
its ranks, the probability to be the best, and its tier: the first are all that may be the best.
Names come from strangers: they are shown as plain text in every format
(``tests/leaderboard/test_summary_entries.py``).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, cast

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
    as_score,
    as_scores,
    as_sentences,
    chance,
    counted,
    decimals_for,
    estimate,
    listed,
    plain_text,
    shown_name,
    span,
)
from bayes_sota.core.types import FloatArray
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import GIVEN, INFERRED, BestScore, Leaderboard, Metric
from bayes_sota.data.outcomes import ABOUT, New, Outcomes
from bayes_sota.leaderboard.entries import EntryDraws
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.ranks import (
    MOST_JOINT,
    Ranks,
    RankSets,
    rank_sets,
    separating_times,
)
from bayes_sota.leaderboard.specification import (
    Model,
    ModelSpecification,
    chosen_model,
    notes_on_field,
    source_of_rho,
)
from bayes_sota.leaderboard.summary_newcomers import (
    Newcomer,
    Questions,
    note_on_newcomer,
    reasons_of_answers,
    sentences_of,
)

CITED = "theta_sota after Møllersen and Holsbø 2023, arXiv 2303.07272"
_OWN = {"n_effective": ("worth items", ",.0f"), "standard_error": ("error", ".2g")}
"""Columns of entries with errors of their own, what tables call them, and how they show them."""
_DRAWS = 4000  # of theta_sota
_FEW = 100  # draws of the entries
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
    said, p_best = said_decimals(shown, d), chance(first["p_best"], first["p_best_mcse"])
    leads, about = _leads(content, data.name, shown), content.get("new", "items")
    compared = [
        *sentences_of(content),
        _may_be_best(content),
        *_among_best(content["surely_among_best"]),
        *_apart(content["separating_first_two"], metric, about, content["prob"]),
    ]
    legend = [skill_is_about(_SKILL, about), _RANKS[content["ranks"]].format(prob), _TIERS]
    who = shown_name(first["name"], 60)
    return Report(
        content=content,
        make_frame=lambda: frame,
        tables=[
            Table.of(
                [_cells(row, shown, d, sure) for row in content["entries"]],
                f"{data.name}: {m:,} entries",
            )
        ],
        sentences=[
            expectation(who, first["skill"], first["score"], (shown, said), metric, content),
            f"The best of all {m:,} entries, whichever it is (theta_sota), would score "
            f"{as_scores(content['theta_sota'], said, metric)}; ranges are {sure}s.",
            f"{leads}; it is the best of all with probability {p_best}.",
            *compared,
        ],
        paragraph=[
            f"{leads}. Its skill is estimated at {estimate(first['skill'], prob, d)}, and it is "
            f"the best of all with probability {p_best}.",
            "The skill of the best of all, whichever it is (theta_sota), is estimated at "
            f"{estimate(content['theta_sota'], prob, d)}.",
            *compared,
            *legend,
            *as_sentences(content["notes"]),
        ],
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


def _leads(content: dict[str, Any], board: str, decimals: int) -> str:
    """Which entry has the best score, of how many, and how many others have it."""
    first, where = content["entries"][0], "" if board == "board" else f' of "{board}"'
    others = sum(row["rank"] == 1 for row in content["entries"]) - 1
    shared = f", shared with {counted(others, 'other')}" if others else ""
    return (
        f"Of {content['n_entries']:,} entries{where} {plain_text(first['name'], 200)} has the "
        f"best score, {first['score']:z.{decimals}f}"
        f"{on_items(content['n_test'], content['n_test_source'])}{shared}"
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
    pairs = counted(m - 1, "pair") if m > 2 else "pair"
    told = f"{apart:,} of the {pairs} of neighbours {'is' if apart == 1 else 'are'} told apart"
    if m == 2:
        told = f"the two are {'' if apart else 'not '}told apart"
    each = " each" * (content["ranks"] == "each")
    return f"{may}, and {told}, at {content['prob']:.0%}{each}."


def _surely_among(frame: pd.DataFrame) -> dict[str, Any]:
    """Entries that are surely among the best k, for the least such k of at most half of them."""
    least = int(frame["set_upper"].min())
    if least > len(frame) / 2:
        return {}
    return {"k": least, "names": frame.loc[frame["set_upper"] == least, "name"].tolist()}


def _among_best(content: dict[str, Any]) -> list[str]:
    if not content or content["k"] == 1:
        return []
    names = listed([plain_text(name, 60) for name in content["names"]], _NAMED)
    one = len(content["names"]) == 1
    return [f"Surely among the best {content['k']:,} {'is' if one else 'are'} {names}."]


def _apart(needed: dict[str, Any] | None, metric: Metric, about: New, prob: float) -> list[str]:
    """How many items, or tasks, would tell the first two apart."""
    if needed is None:
        return []
    d = decimals_for(needed["difference"])
    gap = f"{needed['difference']:.{d}f}"
    if metric == "accuracy":
        gap = f"{100 * needed['difference']:.{max(d - 2, 0)}f} points"
    times = needed["times"]
    size = f"{times:.2g}" if times < 100 else f"{_two_digits(times):,}"
    size += f" times as many {about}"
    if needed["n_test"] is not None:
        size = f"about {needed['n_test']:,} items in all, {needed['n_more']:,} more"
    first, second = (plain_text(name, 60) for name in needed["names"])
    return [
        f"To tell {first} from {second} at {prob:.0%}, two-sided, with a power of {_POWER:.0%}, if "
        f"they differ by as much as is expected ({gap}), takes {size}."
    ]


def board_table(
    board_or_responses: Any,
    *,
    n_test: Any = None,
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
    board_or_responses : Leaderboard, Outcomes, path or data frame
        A path or frame is read as a leaderboard with ``n_test`` items.
    n_test : int or "infer", optional
        Number of test items, for a path or frame.
    priors : Priors, optional
        Not together with ``model``.
    model : ModelSpecification, name or path, optional
        Whole boards', whose priors count; sizes of samples are those of ``draws``.
    domain : {"image-classifiers", "language-models", "tabular"}, optional
        Domain whose prior of rho counts; its default serves any domain. Not together with
        ``priors`` or ``model``.
    field : {"single", "ensembles"}, optional
        Whether entries are single classifiers, or ensembles that share members, notebooks or
        parents and so more luck, which raises the prior of rho. Default: ensembles for a download
        of a competition, else single. Not together with ``priors`` or ``model``.
    ci_prob : float
        Probability of the equal-tailed intervals, and that all ranks lie in their sets.
    ranks : {"auto", "joint", "stepwise", "each"}
        Sets of ranks: joint ones of the posterior; stepwise ones, which are wider and hold also
        where entries are equal; intervals that hold each by itself. ``auto`` is joint up to 100
        entries and else stepwise, where the errors of the scores are known.
    draws : int
        Posterior draws of all entries; fewer where there are more than 40,000 entries, at least
        4,000 from responses where they fit.
    random_seed : int, Generator or None
    above, new_score, new_n_test : optional
        What is asked of theta_sota and of a newcomer (``summary_newcomers.Questions``).

    Returns
    -------
    Report

    Raises
    ------
    InputError
        Only the maximum is known, fewer than two entries, ``n_test`` beside what has its own,
        several tries per entry, or stepwise ranks where the errors of scores are not known.

    Examples
    --------
    >>> board = Leaderboard([0.93, 0.90, 0.91, 0.915, 0.88], n_test=1000, names=list("abcde"))
    >>> table = board_table(board, random_seed=0)
    >>> table.frame[["rank", "name", "tied_with_best"]].values.tolist()[:2]
    [[1, 'a', True], [2, 'd', True]]
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    DRAWS.check(draws, "draws")
    questions = Questions(above, new_score, new_n_test)
    board = board_of(data := _read(board_or_responses, n_test))
    spec = chosen_model(model, "leaderboard", priors, domain=domain, field=field, data=board)
    check_luck(priors, data)
    rng, seed = resolve_seed(random_seed)
    m = len(board.names)
    count = min(max(draws, _DRAWS if m <= _LARGE else draws), max(100, _MOST_NUMBERS // m))
    posterior = board_posterior(data, spec.priors, draws=count, random_seed=rng)
    entries, learnt = posterior.entries, posterior.learns_rho
    rho = summarize_draws(posterior.draws["rho"], ci_prob) | {"learnt": learnt}
    sets = rank_sets(data, entries, posterior.draws["rho"], ci_prob, ranks, rng)
    winner = _summary_of(posterior, "winner_skill", ci_prob)
    told = _asked(questions, posterior)
    evidence = posterior.fit.evidence
    alike = evidence.shares_scores and not evidence.has_luck
    leads = (evidence.leads, winner) if alike else None
    frame = _frame(board, entries, leads, sets, ci_prob).assign(**_own_errors(board))
    rows = [_entry(row) for row in rows_of(frame)]
    separating = _separating(data, frame, entries, posterior.draws["rho"], sets, ci_prob)
    reasons = [*posterior.reasons, *reasons_of_answers(told)]
    content = {
        "entries": rows,
        "theta_sota": _summary_of(posterior, "theta_sota", ci_prob),
        **told,
        "rho": rho,
        **items_of(data),
        "n_entries": len(rows),
        "n_tied_with_best": int(frame["tied_with_best"].sum()),
        "ranks": sets.how,
        "n_tiers": int(sets.tier.max()),
        "n_separated_neighbours": separated_neighbours(sets.sets),
        "surely_among_best": _surely_among(frame),
        "separating_first_two": separating,
        "prob": ci_prob,
        "notes": [
            *posterior.notes,
            *notes_on_field(board, spec.name, model),
            *_hidden(board),
            _on_rho(data, rho, spec),
            *note_on_newcomer(told, learnt),
            *[_MANY] * (sets.how == "joint" and len(rows) > MOST_JOINT),
            *(_moved(frame, board) if evidence.has_luck else []),
            *_rough(len(entries.skill)),
        ],
        "diagnostics": {"ok": not reasons, "reasons": reasons},
        "seed": int(seed) if seed.isdigit() else None,
    }
    d = decimals_for(winner["sd"], winner["mcse"])
    return _report(data, content, frame, d, len(entries.skill))


def _summary_of(posterior: BoardPosterior, name: str, ci_prob: float) -> dict[str, Any]:
    """Mean, interval and errors of one quantity, in the units of the scores."""
    values = posterior.fit.evidence.board.sign * posterior.draws[name]
    return summarize_draws(values, ci_prob, posterior.parameters.behind)


def _read(data: Any, n_test: Any) -> Leaderboard | Outcomes:
    """Data with entries, read where they are in a file or a frame."""
    if not isinstance(data, BestScore | Outcomes):
        from bayes_sota.data.boards import read_leaderboard

        return read_leaderboard(data, n_test=n_test)
    if n_test is not None:
        raise InputError(
            "{name} is for files and data frames; this has its own number", parameter="n_test"
        )
    if type(data) is BestScore:
        raise InputError("of this board only the best score is known, not its entries")
    return cast("Leaderboard | Outcomes", data)


def board_of(data: Leaderboard | Outcomes) -> Leaderboard:
    """All scores."""
    return data if isinstance(data, Leaderboard) else data.leaderboard()


def _separating(
    data: Leaderboard | Outcomes,
    frame: pd.DataFrame,
    entries: EntryDraws,
    rho: FloatArray,
    ranks: RankSets,
    ci_prob: float,
) -> dict[str, Any] | None:
    """How many more items would tell the first two apart, where the ranks do not and they differ.

    None where there are enough for the two by themselves, but not for all ranks at once.
    """
    first, second = np.argsort(-data.scores, kind="stable")[:2]
    apart = entries.skill[:, first].astype(float) - entries.skill[:, second]
    gap = float(apart.mean())
    if ranks.sets[0, 1] < ranks.sets[1, 0] or gap <= 2 * apart.std() / np.sqrt(apart.size):
        return None
    times = separating_times(data, gap, rho, ci_prob, _POWER)
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


def _on_rho(data: Leaderboard | Outcomes, rho: dict[str, Any], spec: ModelSpecification) -> str:
    """How far classifiers share the luck of the items, a note."""
    what = "tasks" if data.new == "tasks" else "items"
    if isinstance(data, Leaderboard) and not rho["learnt"]:
        known = spec.priors.correlation.is_fixed
        source = "" if known else f", from {source_of_rho(spec.name)}"
        return (
            f"how far entries share the luck of the {what} is assumed, not learnt: rho is "
            f"{rho_in_words(rho)}{source}; the larger, the fewer may be best"
        )
    if not rho["learnt"]:
        return "classifiers do not share the luck of runs: rho is 0"
    source = "answers" if not isinstance(data, Leaderboard) and data.is_answers else what
    if what == "tasks":
        source += " and from a prior"
    return (
        f"how far classifiers share the luck of the {what} is learnt from the {source}: rho is "
        f"{rho_in_words(rho)}"
    )


def rho_in_words(rho: dict[str, Any]) -> str:
    """Value of a known rho, else its mean and interval."""
    low, high = rho["interval"]
    return f"{low:.2f}" if low == high else f"{rho['mean']:.2f} ({span((low, high), 2)})"


def _asked(questions: Questions, posterior: BoardPosterior) -> dict[str, Any]:
    """What is asked of theta_sota and of a newcomer."""
    if not questions:
        return {}
    newcomer = Newcomer.of_fit(posterior.fit, posterior.parameters, posterior.draws)
    return questions.answers(newcomer)


def _two_digits(number: float) -> int:
    """The next larger number with two digits that are not 0."""
    unit = int(10 ** max(0, np.floor(np.log10(number)) - 1))
    return int(np.ceil(number / unit)) * unit


def _frame(
    board: Leaderboard,
    entries: EntryDraws,
    winner: tuple[Any, dict[str, Any]] | None,
    ranks: RankSets,
    ci_prob: float,
) -> pd.DataFrame:
    """One row per entry; those that lead have the winner's skill where both are given."""
    order, sign = board.order, board.sign
    scores = board.scores[order]
    rank = 1 + np.searchsorted(-scores, -scores, side="left")
    mean, skill = sign * entries.mean()[order], sign * entries.interval(ci_prob)[order]
    places = entries.rank_interval(ci_prob)[order]
    skill.sort(axis=1)
    if winner is not None:
        leads, winner_skill = winner[0][order], winner[1]
        mean[leads], skill[leads] = winner_skill["mean"], winner_skill["interval"]
    return pd.DataFrame(
        {
            "rank": rank,
            "name": [board.names[j] for j in order],
            "score": sign * scores,
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
    )


def _own_errors(board: Leaderboard) -> dict[str, Any]:
    """Items that each score is worth, or its standard error, where entries have their own."""
    ratios, order = board.error_ratios, board.order
    if ratios is None:
        return {}
    if board.metric == "accuracy":
        return {"n_effective": board.sizes[order]}
    return {"standard_error": (board.standard_error or 0.0) * ratios[order]}


def _moved(frame: pd.DataFrame, board: Leaderboard) -> list[str]:
    """That the order by skill is another than by score, where entries had several submissions."""
    skill = board.sign * frame["skill"].to_numpy()
    best = int(np.argmax(skill))
    if frame["rank"].iloc[best] == 1:
        return []
    name = frame["name"].iloc[best]
    return [
        f"rows are in the order of the scores; with the luck of its submissions taken off {name} "
        "has the highest mean skill"
    ]


def _rough(draws: int) -> list[str]:
    """That few draws of the entries tell little."""
    if draws >= _FEW:
        return []
    few = counted(draws, "draw")
    return [f"intervals, ranks and P(best) of {few} are rough: ask for {_FEW} at least"]


def _hidden(board: Leaderboard) -> list[str]:
    if not board.is_partial:
        return []
    return [
        f"of about {board.typical_tries:,.0f} classifiers "
        f"{board.n_entries:,} are listed: ranks and P(best) are among these, "
        "theta_sota is the best of all"
    ]


def measured_of(data: BestScore | Outcomes) -> str:
    """What was measured of results from such data, a key of the words of a page."""
    if isinstance(data, Outcomes):
        return "answers" if data.is_answers else "auc"
    if data.metric == "auc":
        return "auc"
    if data.metric == "score":
        return ""
    if not isinstance(data, Leaderboard):
        return "maximum"
    return "leaderboard" if data.submissions is None else "submissions"


def score_decimals(data: Leaderboard | Outcomes) -> int:
    """Digits of the scores as printed; of exact ones as many as tell counts apart."""
    if isinstance(data, Outcomes) and data.is_answers:
        return int(np.ceil(np.log10(data.n_items * data.n_runs)))
    board = board_of(data)
    if board.decimals is not None and board.decimals < 12:
        return board.decimals
    if board.metric == "accuracy":
        return max(int(np.ceil(np.log10(board.n_test))), 3 if board.has_own_errors else 1)
    return max(len(f"{score:.6f}".rstrip("0").partition(".")[2]) for score in board.scores)


def said_decimals(shown: int, supported: int) -> int:
    """Decimals of a skill in a sentence: those of the score, at least three; no unsupported ones.

    Examples
    --------
    >>> said_decimals(3, 4), said_decimals(2, 4), said_decimals(4, 2)
    (3, 3, 2)
    """
    return min(supported, max(shown, 3))


def skill_is_about(text: str, new: New) -> str:
    """A text about skill with what it is about in it."""
    return text.format(ABOUT[new] + " of the same kind" * (new == "items"))


def expectation(
    who: str,
    skill: dict[str, Any],
    score: float,
    decimals: tuple[int, int],
    metric: Metric,
    facts: Mapping[str, Any] = MappingProxyType({}),
) -> str:
    """What to expect of a classifier beside its score: its skill, the mean over all new items.

    One fresh test set has luck of its own: its score varies more (``winner_new_score``).

    Parameters
    ----------
    who : str
    skill : dict
        Mean and interval.
    score : float
        What it has now.
    decimals : (int, int)
        Of the score and of the skill.
    metric : {"accuracy", "auc", "score"}
    facts : mapping
        ``new`` items, runs or tasks, and the ``metric`` of answers, where they are known.

    Examples
    --------
    >>> skill = {"mean": 0.9784, "interval": [0.957, 0.9935]}
    >>> expectation("the winner", skill, 0.988, (3, 3), "accuracy")
    'Expect the winner to score 97.8 % (95.7 to 99.4) on many new items, not the 98.8 % it shows.'
    """
    shown, d = decimals
    same = as_score(score, d, metric) == as_score(skill["mean"], d, metric)
    passes = str(facts.get("metric", ""))
    verb = f"have a {passes} of" if passes.startswith("pass") else "score"
    return (
        f"Expect {who} to {verb} {as_scores(skill, d, metric)} on many "
        f"{ABOUT[facts.get('new', 'items')]}, "
        f"{'as it does here' if same else f'not the {as_score(score, shown, metric)} it shows'}."
    )


def on_items(n_test: int | None, source: str) -> str:
    """Size of the test set in a sentence, and where it comes from; nothing where it has none."""
    if n_test is None:
        return ""
    how = f"number {source}" if source in (GIVEN, INFERRED) else source
    return f" on {counted(n_test, 'test item')} ({how})"


def metric_of(data: BestScore | Outcomes) -> Metric:
    """What scores are: averages of answers are accuracies as well."""
    if isinstance(data, Outcomes) and data.is_answers:
        return "accuracy"
    return data.metric if isinstance(data, BestScore) else data.leaderboard().metric


def items_of(data: Leaderboard | Outcomes) -> dict[str, Any]:
    """What JSON says of the items behind scores: how many, where from, and in which groups.

    Examples
    --------
    >>> exam = Outcomes([[1, 0], [1, 1], [0, 1]], tasks=["law", "law", "art"])
    >>> items_of(exam)["n_test_source"]
    '2 tasks that count the same'
    """
    if isinstance(data, Leaderboard):
        items: dict[str, Any] = {"n_test": data.n_test, "n_test_source": data.n_test_source}
        if not data.tasks:
            return items
        known = {"average": data.averaging, "n_tasks": len(data.tasks), "n_items": data.n_items}
        return items | {"n_test": data.n_items} | known | {"new": data.new}
    n_tasks, average = len(data.task_weights), data.averaging
    words = [tasks_in_words(n_tasks, average)] * (n_tasks > 0)
    words += [] if data.n_clusters is None else [f"{data.n_clusters:,} clusters"]
    facts: dict[str, Any] = {
        "n_items": data.n_items,
        "n_clusters": data.n_clusters,
        "new": data.new,
        "average": average,
        "n_tasks": n_tasks or None,
    }
    words += [data.runs_in_words] * bool(data.runs_in_words)
    if data.is_answers:
        metric = "accuracy" if data.passes is None else data.measured
        facts |= {"n_runs": data.n_runs, "metric": metric}
    rows = "rows of the matrix" if data.unit == "item" else f"each is a {data.unit}"
    return {"n_test": data.n_items, "n_test_source": ", ".join(words) or rows, **facts}


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    """What JSON has of an entry."""
    plain = ("name", "rank", "score", *_OWN, "p_best", "p_best_mcse", "tied_with_best", "tier")
    return {key: row[key] for key in plain if key in row} | {
        "skill": {"mean": row["skill"], "interval": [row["skill_lower"], row["skill_upper"]]},
        "rank_interval": [row["rank_lower"], row["rank_upper"]],
        "rank_set": [row["set_lower"], row["set_upper"]],
    }
