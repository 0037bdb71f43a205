"""What a result says of theta_sota, in numbers and words, for the shell and for Python."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import (
    diagnose,
    estimand_summary,
    how_drawn,
    observed_maximum_of,
    seed_of,
    summarize,
)
from bayes_sota.core.tables import SOFTWARE, Report, rows_of, table_of
from bayes_sota.core.text import (
    as_score,
    as_scores,
    as_sentences,
    counted,
    decimals_of,
    plain_text,
    shown_name,
    span,
    steady_decimals,
)
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.sample_estimate import Data, estimate, is_whole
from bayes_sota.leaderboard.sample_sensitivity import board_sensitivity, sota_sensitivity
from bayes_sota.leaderboard.specification import Model, chosen_model, notes_on_field
from bayes_sota.leaderboard.summary_newcomers import (
    answers_of,
    note_on_newcomer,
    reasons_of_answers,
    sentences_of,
)
from bayes_sota.leaderboard.summary_words import (
    CITED,
    about_rho,
    board_of,
    expectation,
    items_of,
    measured_of,
    metric_of,
    on_items,
    quantity_columns,
    said_decimals,
    score_decimals,
    skill_is_about,
    source_of,
)

_ROW_DRAWS = 4000  # of a row of the sensitivity analysis
_WHAT_TO_REPORT = (
    "Skill is the expected score on {}. Report winner_skill for how good the winner is, and "
    "theta_sota for how good the best is."
)
_ABOVE = (
    "theta_sota is above the best score: the winner need not be the best, and all may have been "
    "unlucky with these items."
)
MEANING = {
    "theta_sota": "skill of the best of these, whichever it is",
    "expected_sota": "best skill of another field as large",
    "winner_skill": "skill of the one with the best score",
    "winner_new_score": "its score on one fresh test set",
    "best_new_score": "best score of all on one fresh test set",
    "multiplicity_bias": "best score minus theta_sota",
}
_FRESH = {"runs": "another set of as many runs", "tasks": "another set of as many tasks"}
"""What has luck of its own again, where skill is about it."""


def rho_of(summary: dict[str, Any], tree: xr.DataTree) -> dict[str, Any]:
    """What a report says of rho, from its summary."""
    kept = {name: summary[name] for name in ("mean", "interval")}
    return kept | {"learnt": bool(tree.attrs.get("rho_learnt", 0))}


def report_sota(
    data: Data | tuple[BestScore, ...],
    *,
    model: Model = None,
    correlation: float | None = None,
    domain: str | None = None,
    field: str | None = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    above: float | None = None,
    new_score: float | None = None,
    sensitivity: bool = True,
    ci_prob: float = 0.95,
    **settings: Any,
) -> Report:
    """Estimate theta_sota, see how it moves with the assumptions, and describe both.

    Parameters
    ----------
    data : Leaderboard, BestScore, Outcomes or tuple of BestScore
    model : ModelSpecification, name or path, optional
    correlation : float, optional
        A known rho instead of the model's prior.
    domain, field : str, optional
        As in ``estimate_sota``.
    reference_skill, new_n_test
        As in ``estimate_sota``.
    above, new_score : float, optional
        How probably theta_sota exceeds ``above``, and a new classifier with ``new_score`` is truly
        better. A new classifier is scored on ``new_n_test`` other items, or else on the same ones.
    sensitivity : bool
        Whether other assumptions are tried; answers and item scores have none.
    ci_prob : float
        Probability of the intervals.
    **settings
        Of ``estimate_sota``.

    Examples
    --------
    >>> board = BestScore("0.98", n_test=200, n_classifiers=50)
    >>> report = report_sota(board, random_seed=1, sensitivity=False)
    >>> report.tables[0].rows[0][:4]
    ['theta_sota', '0.969', '0.012', '0.942 to 0.988']
    """
    boards: tuple[Any, ...] = data if isinstance(data, tuple) else (data,)
    builder = "leaderboard" if is_whole(boards[0]) else "observed_maximum"
    of_rho: Any = {"correlation": correlation, "domain": domain, "field": field}
    spec = chosen_model(model, builder, data=boards[0], **of_rho)
    tree, found = estimate(
        data, model=spec, reference_skill=reference_skill, new_n_test=new_n_test, **settings
    )
    rows: list[dict[str, Any]] = []
    if sensitivity and isinstance(boards[0], BestScore):
        known: Any = {"ci_prob": ci_prob, "progressbar": bool(settings.get("progressbar"))}
        if found is None:
            known |= {"reference_skill": reference_skill, "draws": 1000}
            frame = sota_sensitivity(boards, priors=spec.priors, **known)
        else:
            frame = board_sensitivity(found, _ROW_DRAWS, generator_of(DEFAULT_SEED), **known)
        rows = rows_of(frame.iloc[1:])
    told = [
        answers_of(tree if found is None else found, above, new_score, new_n_test, k)
        for k in range(len(boards))
    ]
    return describe_sota(
        tree, boards, rows, ci_prob, told, notes_on_field(boards[0], spec.name, model)
    )


def describe_sota(
    tree: xr.DataTree,
    boards: tuple[Data, ...],
    sensitivity: Sequence[dict[str, Any]] = (),
    ci_prob: float = 0.95,
    told: Sequence[dict[str, Any]] = (),
    remarks: Sequence[str] = (),
) -> Report:
    """Describe a result of ``estimate_sota``, given what it was estimated from and is asked."""
    answers = told or [{} for _ in boards]
    each = [_board_content(tree, board, k, ci_prob) | answers[k] for k, board in enumerate(boards)]
    first, whole, alone = each[0], is_whole(boards[0]), len(each) == 1
    notes = [note for note in str(tree.attrs.get("notes", "")).split("; ") if note and whole]
    notes += [*remarks, *note_on_newcomer(first, isinstance(boards[0], Outcomes))]
    diagnosed = diagnose(tree)
    diagnosed["reasons"] += [reason for one in each for reason in reasons_of_answers(one)]
    rho = rho_of(estimand_summary(tree, "rho", ci_prob), tree)
    by_assumption: dict[str, list[dict[str, Any]]] = {}
    for row in sensitivity:
        entry = {name: row[name] for name in ("value", "mean", "mcse")}
        entry["interval"] = [row["lower"], row["upper"]]
        by_assumption.setdefault(row["assumption"].replace(" ", "_"), []).append(entry)
    content = {
        "method": tree.attrs["method"],
        **first,
        **({} if alone else {"boards": each}),
        "rho": rho,
        "sensitivity": by_assumption,
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "diagnostics": diagnosed | {"ok": not diagnosed["reasons"]},
        "seed": seed_of(tree),
        **(_checks_of_scores(tree) if whole else {}),
        **({"notes": notes} if notes or whole else {}),
    }
    pairs = list(zip(boards, each, strict=True))
    sentences = [
        *(line for board, one in pairs for line in _expected(board, one, alone)),
        *(_subject(board, one, alone) for board, one in pairs),
        *(line for one in each for line in sentences_of(one)),
        *[_ABOVE] * (min(one["bias"] for one in each) < 0),
        skill_is_about(_WHAT_TO_REPORT, first.get("new", "items")),
        f"Ranges are {ci_prob:.0%} intervals.",
    ]
    legend = [about_rho(rho, content["model"], source_of(boards[0]))]
    if above := first["n_above_sota"]:
        low, high = above["interval"]
        legend.insert(
            0,
            "The number of entries with an observed score better than theta_sota is "
            f"{above['median']:,.0f} ({low:,.0f} to {high:,.0f}).",
        )
    columns = quantity_columns(ci_prob)
    tables = [table_of(_estimands(one), columns, board.name) for board, one in pairs]
    if sensitivity:
        title = "Sensitivity to what is assumed, not observed"
        tables.append(table_of(sensitivity, _assumed(ci_prob), title))
    return Report(
        content=content,
        make_frame=lambda: summarize(tree, ci_prob).rename_axis("quantity").reset_index(),
        tables=tables,
        sentences=sentences,
        paragraph=[*sentences, *legend, *as_sentences(notes)],
        legend=legend,
        footer=[f"method {content['method']}, model {content['model']}"],
        notes=notes,
        reasons=content["diagnostics"]["reasons"],
        basis=[f"model {content['model']}", how_drawn(tree), SOFTWARE, CITED],
        measured=measured_of(boards[0]),
        about=tree,
    )


def _estimands(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of the table of one board."""
    fresh = _fresh(content)
    return [
        {"name": name, "meaning": meaning.replace("one fresh test set", fresh), **content[name]}
        for name, meaning in MEANING.items()
    ]


def _assumed(ci_prob: float) -> dict[str, Any]:
    def digits(row: dict[str, Any]) -> int:
        return steady_decimals((row["upper"] - row["lower"]) / 4, row["mcse"])

    def setting(row: dict[str, Any]) -> str:
        value = row["value"] if isinstance(row["value"], str) else f"{row['value']:.2g}"
        return "times " * (row["assumption"] == "n_classifiers") + value

    return {
        "assumption": "assumption",
        "set to": setting,
        "theta_sota": lambda row: f"{row['mean']:z.{digits(row)}f}",
        f"{ci_prob:.0%} interval": lambda row: span((row["lower"], row["upper"]), digits(row)),
    }


def _board_content(tree: xr.DataTree, data: Any, index: int, ci_prob: float) -> dict[str, Any]:
    """What is said of one board."""
    estimands = {name: estimand_summary(tree, name, ci_prob, index) for name in MEANING}
    tries: Any = data.n_classifiers if isinstance(data.n_classifiers, int) else None
    if is_whole(data):
        tries = tries or board_of(data).typical_tries
        facts = {"winner": _winner(data)} | items_of(data)
        above = estimand_summary(tree, "n_above_sota", ci_prob)
    else:
        tries = tries or estimand_summary(tree, "n_classifiers", ci_prob, index)
        facts = {"n_test": data.n_test, "n_test_source": "given"}
        facts["n_right"] = list(data.counts) if data.metric == "accuracy" else None
        above = None
    return {
        **facts,
        "n_classifiers": tries,
        "observed_maximum": float(observed_maximum_of(tree).values.ravel()[index]),
        **estimands,
        "bias": estimands["multiplicity_bias"]["mean"],
        "n_above_sota": above,
    }


def _checks_of_scores(tree: xr.DataTree) -> dict[str, Any]:
    """Weights of the families, and replicated statistics."""
    families = tree["sample_stats/families"].to_dataset()["probability"]
    check = dataset_of(tree, "predictive_check")[["observed", "p_value"]]
    return {
        "families": families.to_series().to_dict(),
        "model_check": check.to_dataframe().to_dict("index"),
    }


def _expected(data: Data, content: dict[str, Any], alone: bool) -> Iterator[str]:
    """What the winner and the best would score on new items, beside what the winner shows."""
    metric, winner = metric_of(data), content.get("winner")
    who = "the winner" if winner is None else shown_name(winner, 60)
    if not alone:
        who += f' of "{shown_name(data.name, 60)}"'
    shown = len(_best_score(data, content).partition(".")[2])
    d, best_d, new_d = (
        said_decimals(shown, decimals_of(content[name]))
        for name in ("winner_skill", "theta_sota", "winner_new_score")
    )
    low, high = (as_score(end, new_d, metric) for end in content["winner_new_score"]["interval"])
    best, skill = content["observed_maximum"], content["winner_skill"]
    yield expectation(who, skill, best, (shown, d), metric, content)
    yield (
        f"The best of {_competitors(data, content)}, whichever it is (theta_sota), would score "
        f"{as_scores(content['theta_sota'], best_d, metric)}; {_fresh(content)} has luck of its "
        f"own, and gives the winner {low} to {high}."
    )


def _fresh(content: dict[str, Any]) -> str:
    return _FRESH.get(content.get("new", ""), "one fresh test set")


def _subject(data: Data, content: dict[str, Any], alone: bool) -> str:
    """The best score, in a sentence; a single board without a name of its own has none."""
    where = "" if alone and data.name in ("board", "board 1") else f'On "{data.name}" '
    tries, score, winner = (
        _competitors(data, content),
        _best_score(data, content),
        content.get("winner"),
    )
    if isinstance(data, Leaderboard | Outcomes):
        board = board_of(data)
        leaders = int(np.sum(board.scores == board.maximum))
        items = on_items(content["n_test"], content["n_test_source"])
        items += f", shared by {leaders:,}" * (leaders > 1)
    else:
        items = f", {_reading(data)}"
    if winner is not None:
        return f"{where}{plain_text(winner, 100)} has the best score of {tries}, {score}{items}."
    said = f"{where}the best score of {tries} is {score}{items}."
    return said[:1].upper() + said[1:]


def _competitors(data: Data, content: dict[str, Any]) -> str:
    """How many took part: entries where each listed one did, else classifiers, known or not."""
    if isinstance(data, BestScore) and not isinstance(data.n_classifiers, int):
        return f"about {counted(round(data.typical_tries), 'classifier')}"
    n = content["n_classifiers"]
    if isinstance(data, Leaderboard) and n == data.n_entries:
        return counted(n, "entry", "entries")
    return counted(round(n), "classifier")


def _best_score(data: Data, content: dict[str, Any]) -> str:
    """The best score with the digits that it was printed with, or that tell counts apart."""
    digits = f".{score_decimals(data)}f" if is_whole(data) else ".6g"
    return format(content["observed_maximum"], digits)


def _winner(data: Any) -> str | None:
    """Name of the entry with the best score; None where several have it, or none has a name."""
    board = board_of(data)
    first, *others = np.flatnonzero(board.scores == board.maximum)
    name = board.names[first]
    return None if others or name.isdigit() or name.startswith("entry ") else name


def _reading(board: BestScore) -> str:
    """How the best score is understood."""
    if board.metric == "auc":
        negative = counted(board.n_negative or 0, "negative item")
        ratio = f", spread ratio {board.spread_ratio:g}" * (board.spread_ratio != 1)
        return f"an AUC of {board.n_positive:,} positive and {negative}{ratio}"
    if board.metric == "score":
        return f"with a standard error of {board.standard_error:g}"
    low, high = board.counts
    right = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"read as {right} right {'answer' if right == '1' else 'answers'} of {board.n_test:,}"
