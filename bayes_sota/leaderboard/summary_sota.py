"""What a result says of theta_sota, in numbers and words, for the shell and for Python."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import (
    draws_of,
    estimand_summary,
    how_drawn,
    observed_maximum_of,
    seed_of,
    summarize,
)
from bayes_sota.core.tables import SOFTWARE, Report, Slider, Table, rows_of
from bayes_sota.core.text import (
    as_score,
    as_scores,
    as_sentences,
    chance,
    counted,
    decimals_of,
    estimate,
    listed,
    plain_text,
    shown_name,
    span,
    steady_decimals,
)
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.sample_estimate import (
    Data,
    Whole,
    board_rows,
    estimate_with_fit,
    is_whole,
    sensitivity_frame,
    sota_sensitivity,
)
from bayes_sota.leaderboard.specification import (
    Model,
    chosen_model,
    notes_on_field,
    source_of_rho,
)
from bayes_sota.leaderboard.summary_entries import (
    CITED,
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
from bayes_sota.leaderboard.summary_newcomers import (
    Newcomer,
    Questions,
    diagnose_answers,
    note_on_newcomer,
    sentences_of,
)

_ASSUMED = {
    "n_classifiers": "the number of classifiers",
    "reference_skill": "the reference skill",
    "spread": "the spread of skills",
    "spread_ratio": "the spread ratio of the scores behind AUCs",
    "family": "the family of skills",
    "field": "the kind of field",
}
_ROW_DRAWS = 4000  # of a row of the sensitivity analysis
_WHAT_TO_REPORT = (
    "Skill is the expected score on {}. Report winner_skill for how good the winner is, and "
    "theta_sota for how good the best is."
)
_ABOVE = (
    "theta_sota is above the best score: the winner need not be the best, and all may have been "
    "unlucky with these items."
)
_SLIDERS = {
    "rho": ("rho, how far classifiers share the luck of the items", "If rho were known"),
    "submission_luck": ("lambda, how far luck chose among submissions", "If lambda were known"),
}
"""Assumptions with a grid: what is set, and what the slider is about."""
MEANING = {
    "theta_sota": "skill of the best of these, whichever it is",
    "expected_sota": "best skill of another field as large",
    "winner_skill": "skill of the one with the best score",
    "winner_new_score": "its score on one fresh test set",
    "best_new_score": "best score of all on one fresh test set",
    "multiplicity_bias": "best score minus theta_sota",
}


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
        As in ``Questions``: how probably theta_sota exceeds ``above``, and a new classifier with
        ``new_score`` is truly better. A new classifier is scored on ``new_n_test`` other items, or
        else on the same ones.
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
    >>> report.cells[0][:4]
    ['theta_sota', '0.969', '0.012', '0.942 to 0.988']
    """
    boards: tuple[Any, ...] = data if isinstance(data, tuple) else (data,)
    whole = is_whole(boards[0])
    builder = "leaderboard" if whole else "observed_maximum"
    of_rho: Any = {"correlation": correlation, "domain": domain, "field": field}
    spec = chosen_model(model, builder, data=boards[0], **of_rho)
    tree, fit = estimate_with_fit(
        data, model=spec, reference_skill=reference_skill, new_n_test=new_n_test, **settings
    )
    rows: list[dict[str, Any]] = []
    if sensitivity and isinstance(boards[0], BestScore):
        known: Any = {"ci_prob": ci_prob, "progressbar": bool(settings.get("progressbar"))}
        if fit is None:
            known |= {"reference_skill": reference_skill, "draws": _ROW_DRAWS if whole else 1000}
            frame = sota_sensitivity(boards, priors=spec.priors, **known)
        else:
            theta, rng = draws_of(tree, "theta_sota"), generator_of(DEFAULT_SEED)
            frame = sensitivity_frame(theta, board_rows(fit, _ROW_DRAWS, rng), **known)
        rows = rows_of(frame.iloc[1:])
    questions = Questions(above, new_score, new_n_test)
    told = notes_on_field(boards[0], spec.name, model)
    return describe_sota(tree, boards, rows, ci_prob, questions, told)


def describe_sota(
    tree: xr.DataTree,
    boards: tuple[Data, ...],
    sensitivity: list[dict[str, Any]] | None = None,
    ci_prob: float = 0.95,
    questions: Questions | None = None,
    remarks: Sequence[str] = (),
) -> Report:
    """Describe a result of ``estimate_sota``, given what it was estimated from and is asked."""
    rows = sensitivity or []
    each = [
        _board_content(tree, board, index, ci_prob)
        | (questions.answers(Newcomer.of_tree(tree, index)) if questions else {})
        for index, board in enumerate(boards)
    ]
    content = _content(tree, each, rows, ci_prob) | (
        _checks_of_scores(tree) if is_whole(boards[0]) else {}
    )
    alone, new = len(each) == 1, each[0].get("new", "items")
    pairs = list(zip(boards, each, strict=True))
    subjects = [_subject(board, one, alone) for board, one in pairs]
    asked = [line for one in each for line in sentences_of(one)]
    legend = _above_sota(content)
    learnt = isinstance(boards[0], Outcomes)
    notes = [*content.get("notes", ()), *remarks, *note_on_newcomer(each[0], learnt)]
    content |= {"notes": notes} if notes else {}
    return Report(
        content=content,
        make_frame=lambda: summarize(tree, ci_prob).rename_axis("quantity").reset_index(),
        tables=_tables(pairs, rows, ci_prob),
        sentences=[
            *(line for board, one in pairs for line in _expected(board, one, alone)),
            *subjects,
            *asked,
            *[_ABOVE] * (min(one["bias"] for one in each) < 0),
            skill_is_about(_WHAT_TO_REPORT, new),
            f"Ranges are {ci_prob:.0%} intervals.",
        ],
        paragraph=[
            *(_printed(*of, ci_prob) for of in zip(subjects, each, strict=True)),
            *as_sentences([*legend, *asked]),
            _field(tree, content),
            about_rho(content["rho"], content["model"]),
            *(_elsewhere(rows, content) if alone else []),
            *as_sentences(notes),
        ],
        legend=legend,
        footer=_rests_on(content),
        notes=notes,
        reasons=content["diagnostics"]["reasons"],
        basis=[f"model {content['model']}", how_drawn(tree), SOFTWARE, CITED],
        sliders=[
            _slider(label, grid, question)
            for name, (label, question) in _SLIDERS.items()
            if len(grid := content["sensitivity"].get(name, [])) > 2
        ],
        measured=measured_of(boards[0]),
        about=tree,
    )


def _printed(subject: str, one: dict[str, Any], ci_prob: float) -> str:
    """A board and its estimates, as a paper says them."""
    return (
        f"{subject} The true skill of the best classifier (theta_sota) is estimated at "
        f"{estimate(one['theta_sota'], ci_prob)}, {_beside(one)}; that of the "
        f"classifier with the best score at {estimate(one['winner_skill'], ci_prob)}."
    )


def _tables(
    pairs: list[tuple[Data, dict[str, Any]]], rows: list[dict[str, Any]], ci_prob: float
) -> list[Table]:
    """Estimands of each board, and how theta_sota moves with what is assumed."""
    interval = f"{ci_prob:.0%} interval"
    header = ["quantity", "mean", "sd", interval, "what it is"]
    tables = [Table(header, _estimand_cells(one), _title(data, one)) for data, one in pairs]
    if rows:
        title = "Sensitivity to what is assumed, not observed"
        cells = [_assumption_cells(row) for row in rows]
        tables.append(Table(["assumption", "set to", "theta_sota", interval], cells, title))
    return tables


def _content(
    tree: xr.DataTree, each: list[dict[str, Any]], rows: list[dict[str, Any]], ci_prob: float
) -> dict[str, Any]:
    """Keys of ``--json``, given what is said of each board."""
    return {
        "method": tree.attrs["method"],
        **each[0],
        **({"boards": each} if len(each) > 1 else {}),
        "rho": rho_of(estimand_summary(tree, "rho", ci_prob), tree),
        "sensitivity": _grouped(rows),
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "diagnostics": diagnose_answers(tree, *each),
        "seed": seed_of(tree),
    }


def _above_sota(content: dict[str, Any]) -> list[str]:
    """How many entries have a better score than theta_sota, where there are entries."""
    above = content["n_above_sota"]
    if above is None:
        return []
    low, high = above["interval"]
    return [
        "The number of entries with an observed score better than theta_sota is "
        f"{above['median']:,.0f} ({low:,.0f} to {high:,.0f})."
    ]


def _rests_on(content: dict[str, Any]) -> list[str]:
    """What the numbers rest on."""
    how, rho = f"method {content['method']}, model {content['model']}", content["rho"]
    if content["n_above_sota"] is None:
        return [how]
    low, high = rho["interval"]
    source = "learnt from the data"
    if low == high:
        source = "as set, not learnt"
    elif not rho["learnt"]:
        source = f"not learnt, as one board cannot tell it: {source_of_rho(content['model'])}"
    return [f"rho {rho_in_words(rho)}, {source}", how]


def _field(tree: xr.DataTree, content: dict[str, Any]) -> str:
    """What is assumed of the distribution of skills."""
    weights = content.get("families", {})
    if len(weights) < 2:
        family = tree.attrs.get("skill_family", "")
        of = f"one {family} distribution" if family else "one distribution"
        return f"The skills of the classifiers are taken as draws from {of}."
    name = max(weights, key=lambda family: weights[family])
    return (
        "The distribution of the classifiers' skills is averaged over "
        f"{len(weights)} families, of which {name} has the largest weight "
        f"({chance(weights[name])})."
    )


def _elsewhere(rows: list[dict[str, Any]], content: dict[str, Any]) -> list[str]:
    """The estimate under the other assumptions that were tried."""
    if not rows:
        return []
    means = [row["mean"] for row in rows]
    d = steady_decimals(content["theta_sota"]["sd"], rows[0]["mcse"])
    tried = dict.fromkeys(row["assumption"] for row in rows)
    names = [_ASSUMED.get(name, name) for name in tried]
    return [
        f"Under other assumptions on {listed(names)} the estimate ranges from "
        f"{min(means):z.{d}f} to {max(means):z.{d}f}."
    ]


def _board_content(tree: xr.DataTree, data: Data, index: int, ci_prob: float) -> dict[str, Any]:
    """What is said of one board."""
    estimands = {name: estimand_summary(tree, name, ci_prob, index) for name in MEANING}
    tries: Any = data.n_classifiers if isinstance(data.n_classifiers, int) else None
    if isinstance(data, BestScore) and not isinstance(data, Leaderboard):
        facts: dict[str, Any] = {"n_test": data.n_test, "n_test_source": "given"}
        facts["n_right"] = list(data.counts) if data.metric == "accuracy" else None
        tries = tries or estimand_summary(tree, "n_classifiers", ci_prob, index)
        above = None
    else:
        facts = {"winner": _winner(data)} | items_of(data)
        tries = data.typical_tries if isinstance(data, Leaderboard) and not tries else tries
        above = estimand_summary(tree, "n_above_sota", ci_prob)
    return {
        **facts,
        "n_classifiers": tries,
        "observed_maximum": float(observed_maximum_of(tree).values.ravel()[index]),
        **estimands,
        "bias": estimands["multiplicity_bias"]["mean"],
        "n_above_sota": above,
    }


def _checks_of_scores(tree: xr.DataTree) -> dict[str, Any]:
    """Weights of the families, replicated statistics, and notes."""
    families = tree["sample_stats/families"].to_dataset()
    check = dataset_of(tree, "predictive_check")
    names = [str(name) for name in check["statistic"].values]
    values, p_values = check["observed"].values, check["p_value"].values
    return {
        "families": {str(w["family"].values): float(w) for w in families["probability"]},
        "model_check": {
            name: {"observed": float(value), "p_value": float(p)}
            for name, value, p in zip(names, values, p_values, strict=True)
        },
        "notes": [note for note in str(tree.attrs.get("notes", "")).split("; ") if note],
    }


def _grouped(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Sensitivity rows by assumption, as JSON has them."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        interval = [row["lower"], row["upper"]]
        entry = {name: row[name] for name in ("value", "mean", "mcse")} | {"interval": interval}
        grouped.setdefault(row["assumption"].replace(" ", "_"), []).append(entry)
    return grouped


def _title(data: Data, content: dict[str, Any]) -> str:
    items = on_items(content["n_test"], content["n_test_source"]) * is_whole(data)
    best = _best_score(data, content)
    return f"{data.name}: best score {best} of {_competitors(data, content)}{items}"


def _subject(data: Data, content: dict[str, Any], alone: bool) -> str:
    """The best score, in a sentence; a single board without a name of its own has none."""
    unnamed = alone and data.name in ("board", "board 1")
    where = "" if unnamed else f'On "{data.name}" '
    tries = _competitors(data, content)
    if isinstance(data, Leaderboard | Outcomes):
        leaders = len(_leaders(data))
        shared = f", shared by {leaders:,}" if leaders > 1 else ""
        items = on_items(content["n_test"], content["n_test_source"]) + shared
    else:
        items = f", {_reading(data)}"
    score, winner = _best_score(data, content), content.get("winner")
    if winner is not None:
        return f"{where}{plain_text(winner, 100)} has the best score of {tries}, {score}{items}."
    said = f"{where}the best score of {tries} is {score}{items}."
    return said[:1].upper() + said[1:]


def _expected(data: Data, content: dict[str, Any], alone: bool) -> list[str]:
    """What the winner and the best would score on new items, beside what the winner shows."""
    metric, winner, skill = metric_of(data), content.get("winner"), content["winner_skill"]
    who = "the winner" if winner is None else shown_name(winner, 60)
    if not alone:
        who += f' of "{shown_name(data.name, 60)}"'
    shown = len(_best_score(data, content).partition(".")[2])
    d, best_d, new_d = (
        said_decimals(shown, decimals_of(content[name]))
        for name in ("winner_skill", "theta_sota", "winner_new_score")
    )
    low, high = (as_score(end, new_d, metric) for end in content["winner_new_score"]["interval"])
    return [
        expectation(who, skill, content["observed_maximum"], (shown, d), metric, content),
        f"The best of {_competitors(data, content)}, whichever it is (theta_sota), would score "
        f"{as_scores(content['theta_sota'], best_d, metric)}; {_fresh(content)} has luck of its "
        f"own, and gives the winner {low} to {high}.",
    ]


def _fresh(content: dict[str, Any]) -> str:
    """What has luck of its own again, where skill is about it."""
    return {"runs": "another set of as many runs", "tasks": "another set of as many tasks"}.get(
        content.get("new", ""), "one fresh test set"
    )


def _competitors(data: Data, content: dict[str, Any]) -> str:
    """How many took part: entries where each listed one did, else classifiers, known or not."""
    n = content["n_classifiers"]
    if isinstance(data, BestScore) and not isinstance(data.n_classifiers, int):
        return f"about {_classifiers(data.typical_tries)}"
    listed_all = isinstance(data, Leaderboard) and n == data.n_entries
    return counted(n, "entry", "entries") if listed_all else _classifiers(n)


def _classifiers(tries: float) -> str:
    return counted(round(tries), "classifier")


def _best_score(data: Data, content: dict[str, Any]) -> str:
    """The best score with the digits that it was printed with, or that tell counts apart."""
    if not is_whole(data):
        return f"{content['observed_maximum']:.6g}"
    return f"{content['observed_maximum']:.{score_decimals(data)}f}"


def _leaders(data: Whole) -> list[str]:
    """Names of the entries with the best score."""
    board = board_of(data)
    return [board.names[j] for j in np.flatnonzero(board.scores == board.maximum)]


def _winner(data: Whole) -> str | None:
    """Name of the entry with the best score; None where several have it, or none has a name."""
    name, *others = _leaders(data)
    return None if others or name.isdigit() or name.startswith("entry ") else name


def _beside(content: dict[str, Any]) -> str:
    """The estimate beside the best score."""
    gap = f"{abs(content['bias']):.{decimals_of(content['theta_sota'])}f}"
    if not float(gap):
        return "as high as the best score"
    return f"{gap} {'below' if content['bias'] > 0 else 'above'} the best score"


def about_rho(rho: dict[str, Any], model: str) -> str:
    """What was assumed or learnt of the correlation."""
    (low, high), value = rho["interval"], rho_in_words(rho)
    said = "The correlation of a classifier's score with that of a reference classifier (rho) is"
    if low == high:
        return f"{said} set to {value}."
    if rho["learnt"]:
        return f"{said} learnt: {value}."
    return (
        f"{said} assumed, not learnt: {value}, from {source_of_rho(model)}; the higher, the "
        "less of the spread of the scores is taken for luck."
    )


def _reading(board: BestScore) -> str:
    """How the best score is understood."""
    if board.metric == "auc":
        negative = counted(board.n_negative or 0, "negative item")
        items = f"an AUC of {board.n_positive:,} positive and {negative}"
        if board.spread_ratio in (None, 1.0):
            return items
        return f"{items}, spread ratio {board.spread_ratio:g}"
    if board.metric == "score":
        return f"with a standard error of {board.standard_error:g}"
    low, high = board.counts
    right = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"read as {right} right {'answer' if right == '1' else 'answers'} of {board.n_test:,}"


def _slider(label: str, rows: list[dict[str, Any]], question: str) -> Slider:
    steps = []
    for row in rows:
        low, high = row["interval"]
        d = steady_decimals((high - low) / 4, row["mcse"])
        steps.append(
            f"At {row['value']:.2f} the skill of the best classifier would be "
            f"{row['mean']:z.{d}f} ({span((low, high), d)})."
        )
    return Slider(question, label, tuple(steps), len(rows) // 2)


def _estimand_cells(content: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, meaning in MEANING.items():
        values, d = content[name], decimals_of(content[name])
        numbers = [f"{values['mean']:z.{d}f}", f"{values['sd']:z.{d}f}"]
        what = meaning.replace("one fresh test set", _fresh(content))
        rows.append([name, *numbers, span(values["interval"], d), what])
    return rows


def _assumption_cells(row: dict[str, Any]) -> list[str]:
    d = steady_decimals((row["upper"] - row["lower"]) / 4, row["mcse"])
    value = row["value"] if isinstance(row["value"], str) else f"{row['value']:.2g}"
    if row["assumption"] == "n_classifiers":
        value = f"times {value}"
    interval = span((row["lower"], row["upper"]), d)
    return [row["assumption"], value, f"{row['mean']:z.{d}f}", interval]
