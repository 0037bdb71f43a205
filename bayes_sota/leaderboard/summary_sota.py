"""Report of theta_sota, in numbers and words."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core import summary
from bayes_sota.core.arguments import DEFAULT_SEED, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import shown_progress
from bayes_sota.core.priors import Priors
from bayes_sota.core.tables import SOFTWARE, Report, Table, table_of
from bayes_sota.core.text import as_score, decimals_of, shown_name, span, steady_decimals
from bayes_sota.data.known import with_known
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import ABOUT, Outcomes
from bayes_sota.leaderboard import summary_words as words
from bayes_sota.leaderboard.posterior import BoardPosterior
from bayes_sota.leaderboard.sample_estimate import Data, Row, estimate, rows_of
from bayes_sota.leaderboard.specification import notes_on_field
from bayes_sota.leaderboard.summary_newcomers import newcomer, reasons_of_answer, sentence_of

_ROW_DRAWS = 1000  # of a row of the sensitivity
_HARDLY, _LEAST_LEFT = 0.97, 0.02  # of a width: too little help for a note; the most help
_WHAT_TO_REPORT = (
    "Skill is the expected score on {}, drawn as these were. Report winner_skill for how good the "
    "winner is, and theta_sota for how good the best is."
)
MEANING = {
    "theta_sota": "skill of the best of these, whichever it is",
    "expected_sota": "best skill of another field as large",
    "winner_skill": "skill of the one with the best score",
    "winner_new_score": "its score on {}",
    "best_new_score": "best score of all on {}",
    "multiplicity_bias": "best score minus theta_sota",
}
_FRESH = {
    "items": "one fresh test set",
    "runs": "another set of as many runs",
    "tasks": "another set of as many tasks",
}
_NEWCOMER = "whether a newcomer is better depends strongly on rho: compare it item by item"


def report_sota(
    data: Data | tuple[BestScore, ...],
    *,
    new_score: float | None = None,
    sensitivity: bool = True,
    ci_prob: float = 0.95,
    **settings: Any,
) -> Report:
    """Estimate theta_sota, its sensitivity to the assumptions, and describe both.

    Parameters
    ----------
    data : Leaderboard, BestScore, Outcomes or tuple of BestScore
    new_score : float, optional
        Score of a new classifier on the same items: is it truly better?
    sensitivity : bool
        Whether other assumptions are tried; answers and item scores have none.
    ci_prob : float
        Probability of the intervals.
    **settings
        Options of ``estimate_sota``.

    Returns
    -------
    Report
        ``about`` is the result of ``estimate_sota``.

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> report = report_sota(board, random_seed=1, sensitivity=False)
    >>> report.tables[0].rows[0][:4]
    ['theta_sota', '0.969', '0.012', '0.941 to 0.988']
    """
    known, given = settings.pop("known", None), data if isinstance(data, tuple) else (data,)
    boards: tuple[Any, ...] = tuple(with_known(board, known) for board in given)
    tree, found, priors = estimate(boards, **settings)
    rows: list[dict[str, Any]] = []
    if sensitivity and isinstance(boards[0], BestScore):
        theta0 = settings.get("reference_skill")
        others = rows_of(boards, found, priors, theta0, _ROW_DRAWS, DEFAULT_SEED)
        rows = _tried(others, ci_prob, settings.get("progressbar"))
    each = [_content_of(tree, board, k, ci_prob) for k, board in enumerate(boards)]
    diagnosed = summary.diagnose(tree)
    notes = [note for note in str(tree.attrs.get("notes", "")).split("; ") if note]
    notes += notes_on_field(boards[0], tree.attrs["model_name"], settings.get("model"))
    if found is not None and boards[0].anchors is None and boards[0].new == "items":
        notes += _worth_of_an_anchor(found, summary.estimand_summary(tree, "theta_sota", ci_prob))
    if new_score is not None:
        for k, one in enumerate(each):
            answer = newcomer(found or tree, score=new_score, board=k)
            one["p_new_truly_better"] = answer
            diagnosed["reasons"] += reasons_of_answer(answer)
        notes += [] if isinstance(boards[0], Outcomes) else [_NEWCOMER]
    rho = summary.estimand_summary(tree, "rho", ci_prob)
    content = {
        "method": tree.attrs["method"],
        **each[0],
        **({"boards": each} if len(each) > 1 else {}),
        "rho": rho | {"learnt": bool(tree.attrs.get("rho_learnt", 0))},
        "sensitivity": _by_assumption(rows),
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "diagnostics": diagnosed | {"ok": not diagnosed["reasons"]},
        "seed": summary.seed_of(tree),
        "notes": notes,
    }
    legend = [words.about_rho(content["rho"], words.source_of(boards[0]))]
    if above := content["n_above_sota"]:
        many = "{:,.0f} ({:,.0f} to {:,.0f})".format(above["median"], *above["interval"])
        legend.append(f"Entries with an observed score better than theta_sota: {many}.")
    return words.report_of(
        content,
        make_frame=lambda: summary.summarize(tree, ci_prob).rename_axis("quantity").reset_index(),
        sentences=[*_sentences(boards, each, ci_prob)],
        tables=_tables(boards, each, rows, ci_prob),
        legend=legend,
        footer=[f"method {content['method']}, model {content['model']}"],
        basis=[f"model {content['model']}", summary.how_drawn(tree), SOFTWARE, words.CITED],
        measured=words.measured_of(boards[0]),
        about=tree,
    )


def sota_sensitivity(
    board: BestScore | Sequence[BestScore],
    *,
    priors: Priors | None = None,
    reference_skill: float | None = None,
    ci_prob: float = 0.95,
    draws: int = 4000,
    random_seed: int | None = DEFAULT_SEED,
    progressbar: bool | None = None,
) -> pd.DataFrame:
    """How theta_sota moves with assumptions that the data do not determine.

    For best scores: half, twice and ten times as many classifiers; theta0 at half and twice its
    odds; rho fixed at the 2.5 %, 50 % and 97.5 % quantiles of its prior (at 0, 0.6 and 0.9 where it
    is fixed); the spread of skills at the ends of its prior range (at half and twice); the spread
    ratio behind AUCs at half and two; the other kind of field. For a board with scores: rho fixed
    on a grid, and learnt; each family of P(theta) alone; the luck of submissions; more entries than
    are listed; the spread ratio; the other kind of field.

    Returns
    -------
    pandas.DataFrame
        Columns assumption, value, mean, lower, upper, mcse (of the mean); the first row is the
        result itself, as in ``estimate_sota`` with as many draws and the same seed. With several
        boards, theta_sota is the first board's.
    """
    if isinstance(board, Outcomes):
        raise InputError("answers determine what a leaderboard assumes: give a leaderboard")
    OPEN_SHARE.check(ci_prob, "ci_prob")
    boards = (board,) if isinstance(board, BestScore) else tuple(board)
    settings = {"priors": priors, "draws": draws, "chains": 1, "groups": "estimands"}
    asked: Any = {"reference_skill": reference_skill, "random_seed": random_seed}
    tree, found, known = estimate(board, **settings, **asked)
    given = [("as given", np.nan, summary.draws_of(tree, "theta_sota"))]
    others = rows_of(boards, found, known, reference_skill, draws, random_seed)
    frame = pd.DataFrame(_tried(chain(given, others), ci_prob, progressbar))
    frame[["lower", "upper"]] = frame["interval"].tolist()
    return frame[["assumption", "value", "mean", "lower", "upper", "mcse"]]


def _tried(rows: Iterable[Row], ci_prob: float, progressbar: bool | None) -> list[dict[str, Any]]:
    """Summaries of theta_sota under each assumption."""
    found = []
    with shown_progress(None, "assumptions", show=progressbar) as advance:
        for assumption, value, draws in rows:
            row = {"assumption": assumption, "value": value}
            found.append(row | summary.summarize_draws(draws, ci_prob))
            advance()
    return found


def _content_of(tree: xr.DataTree, data: Any, index: int, ci_prob: float) -> dict[str, Any]:
    """Keys of JSON on one board."""
    found = partial(summary.estimand_summary, tree, ci_prob=ci_prob, board=index)
    tries: Any = data.n_classifiers
    whole = isinstance(data, Leaderboard | Outcomes)
    if whole:
        facts: dict[str, Any] = {"winner": words.winner_of(data)} | words.items_of(data)
        tries = tries if isinstance(tries, int) else words.board_of(data).typical_tries
    else:
        right = list(data.counts) if data.metric == "accuracy" else None
        facts = {"n_test": data.n_test, "n_test_source": "given", "n_right": right}
        tries = tries if isinstance(tries, int) else found("n_classifiers")
    return {
        **facts,
        "n_classifiers": tries,
        "observed_maximum": float(summary.observed_maximum_of(tree).values.ravel()[index]),
        **{name: found(name) for name in MEANING},
        "n_above_sota": found("n_above_sota") if whole else None,
    }


def _worth_of_an_anchor(found: BoardPosterior, now: dict[str, Any]) -> Iterator[str]:
    r"""Note on how much one similar anchor would narrow the interval of theta_sota.

    .. math:: \sqrt{1 - c\, E \rho^4\, se^2 / \mathrm{sd}(\theta_{sota})^2}

    times its width, with c = 1 for an anchor that resembles the leaders as they resemble each
    other; boards of real classifiers showed .9 from answers and .6 from scores.
    """
    evidence, worth = found.skills.fit.evidence, 0.9 if found.learns_rho else 0.6
    error = evidence.law.standard_error * evidence.error_ratio
    share = worth * np.mean(found.draws["rho"] ** 4) * error**2 / max(now["sd"], 1e-150) ** 2
    times, board = float(np.sqrt(np.clip(1 - share, _LEAST_LEFT, 1))), evidence.board
    if times > _HARDLY:
        return
    low, high = (now["mean"] + times * (end - now["mean"]) for end in now["interval"])
    digits = words.said_decimals(board, decimals_of(now))
    ends = " to ".join(as_score(x, digits, board.metric) for x in (low, high))
    one = "one similar model whose skill is known (--known NAME=SKILL)"
    yield f"{one} would narrow the range of theta_sota to about {ends}"


def _by_assumption(rows: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Rows of the sensitivity as JSON has them."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        entry = {name: row[name] for name in ("value", "mean", "mcse", "interval")}
        found.setdefault(row["assumption"].replace(" ", "_"), []).append(entry)
    return found


def _sentences(
    boards: tuple[Data, ...], each: list[dict[str, Any]], ci_prob: float
) -> Iterator[str]:
    """Expected scores of the winner and of the best on new items, beside the best score."""
    for data, content in zip(boards, each, strict=True):
        of_board = f' of "{shown_name(data.name, 60)}"' * (len(boards) > 1)
        who, new = content.get("winner") or "the winner", content["winner_new_score"]
        d = words.said_decimals(data, decimals_of(new))
        low, high = (as_score(end, d, data.metric) for end in new["interval"])
        more = f"on {_FRESH[data.new]} the winner would score {low} to {high}"
        winner, best = content["winner_skill"], content["theta_sota"]
        who, score = shown_name(who, 60) + of_board, content["observed_maximum"]
        yield from words.answer_of(data, who, winner, best, score, more)
        if answer := content.get("p_new_truly_better"):
            yield sentence_of(answer, of_board)
    yield _WHAT_TO_REPORT.format(ABOUT[boards[0].new])
    yield f"Ranges are {ci_prob:.0%} intervals."


def _tables(
    boards: tuple[Data, ...],
    each: list[dict[str, Any]],
    sensitivity: Sequence[dict[str, Any]],
    ci_prob: float,
) -> list[Table]:
    """The estimands of each board, and the sensitivity."""
    meanings = {name: text.format(_FRESH[boards[0].new]) for name, text in MEANING.items()}
    pairs = zip(boards, each, strict=True)
    tables = [words.quantity_table(one, meanings, ci_prob, data.name) for data, one in pairs]

    def steady(row: dict[str, Any]) -> int:
        return steady_decimals(row["sd"], row["mcse"])

    columns: dict[str, Any] = {
        "assumption": lambda row: row["assumption"].replace("_", " "),
        "set to": lambda row: setting_of(row["assumption"], row["value"]),
        "theta_sota": lambda row: f"{row['mean']:z.{steady(row)}f}",
        f"{ci_prob:.0%} interval": lambda row: span(row["interval"], steady(row)),
    }
    title = "Sensitivity to what is assumed, not observed"
    return [*tables, table_of(sensitivity, columns, title)] if sensitivity else tables


def setting_of(assumption: str, value: float | str) -> str:
    """Setting of an assumption, in words.

    Examples
    --------
    >>> setting_of("n_classifiers", 10.0), setting_of("family", "normal")
    ('times 10', 'normal')
    """
    if isinstance(value, str):
        return value
    return f"{'times ' * (assumption == 'n_classifiers')}{value:.2g}"
