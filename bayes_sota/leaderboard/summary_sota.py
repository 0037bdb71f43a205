"""What a result says of theta_sota, in numbers and words, for the shell and for Python."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.summary import (
    draws_of,
    estimand_summary,
    how_drawn,
    observed_maximum_of,
    seed_of,
    summarize,
)
from bayes_sota.core.tables import SOFTWARE, ResultTable, Slider
from bayes_sota.core.text import (
    as_sentences,
    chance,
    counted,
    decimals_for,
    listed,
    plain_text,
    shown_name,
    steady_decimals,
)
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.sample_estimate import (
    Data,
    board_rows,
    estimate_with_fit,
    is_whole,
    sensitivity_frame,
    sota_sensitivity,
)
from bayes_sota.leaderboard.specification import Model, chosen_model, source_of_rho
from bayes_sota.leaderboard.summary_entries import (
    CITED,
    COUNTED,
    as_score,
    as_scores,
    expectation,
    measured_of,
    on_items,
    said_decimals,
    score_decimals,
)
from bayes_sota.leaderboard.summary_newcomers import (
    Newcomer,
    Questions,
    diagnose_answers,
    sentences_of,
)
from bayes_sota.maximum.shrinkage import FieldEstimate, crop_scores, shrink_aucs, shrink_scores

Table = tuple[list[str], list[list[str]]]

_ASSUMED = {
    "n_classifiers": "the number of classifiers",
    "reference_skill": "the reference skill",
    "spread": "the spread of skills",
    "family": "the family of skills",
}
_ROW_DRAWS = 4000  # of a row of the sensitivity analysis
_WHAT_TO_REPORT = (
    "Skill is the expected score on new items of the same kind. Report winner_skill for how good "
    "the winner is, and theta_sota for how good the best is."
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


@dataclass(frozen=True, eq=False)
class ContentReport(ResultTable):
    """A report of which everything stands in one dictionary.

    Attributes
    ----------
    content : dict
        Everything as plain Python objects, with the keys that ``--json`` prints.
    """

    content: dict[str, Any]

    @property
    def reasons(self) -> tuple[str, ...]:  # type: ignore[override]
        """Why the result cannot be trusted; empty where it can."""
        return tuple(self.content["diagnostics"]["reasons"])

    @property
    def notes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What a reader should know."""
        return tuple(self.content.get("notes", ()))

    def to_dict(self) -> dict[str, Any]:
        return self.content | {"text": self.text}

    def estimate(self, name: str, content: dict[str, Any] | None = None) -> str:
        """Mean and interval of a quantity, with the digits that they support."""
        found = (content or self.content)[name]
        d, (low, high) = _decimals(found), found["interval"]
        return (
            f"{found['mean']:z.{d}f} ({self.content['prob']:.0%} interval {low:z.{d}f} to "
            f"{high:z.{d}f})"
        )


def rho_of(summary: dict[str, Any], tree: xr.DataTree) -> dict[str, Any]:
    """What a report says of rho, from its summary."""
    kept = {name: summary[name] for name in ("mean", "interval")}
    return kept | {"learnt": bool(tree.attrs.get("rho_learnt", 0))}


@dataclass(frozen=True, eq=False)
class SotaReport(ContentReport):
    """One result, described.

    Attributes
    ----------
    frame : pandas.DataFrame
        One row per quantity (and board): quantity, mean, median, sd, lower, upper, mcse.
    headings, subjects, expected : tuple of str
        What each table is about, what the best score is of, and what to expect of the winner and
        of the best of each board.
    sensitivity : tuple of dict
        Rows of ``sota_sensitivity`` without the first.
    tree : xarray.DataTree
        The result itself.
    measured : str
        What was measured of such results (``ResultTable.measured``).
    """

    frame: pd.DataFrame
    headings: tuple[str, ...]
    subjects: tuple[str, ...]
    expected: tuple[str, ...]
    sensitivity: tuple[dict[str, Any], ...]
    tree: xr.DataTree
    measured: str = ""

    def titles(self, top: int | None = None) -> list[str]:
        """What each table is about."""
        return list(self.headings)

    def sliders(self) -> list[Slider]:
        found = self.content["sensitivity"]
        return [
            _slider(label, rows, question)
            for name, (label, question) in _SLIDERS.items()
            if len(rows := found.get(name, [])) > 2
        ]

    def header(self) -> list[str]:
        return ["quantity", "mean", "sd", f"{self.content['prob']:.0%} interval", "what it is"]

    def cells(self, top: int | None = None) -> list[list[str]]:
        return _estimand_cells(self.content)[:top]

    def tables(self, top: int | None = None) -> list[Table]:
        boards = self.content.get("boards", [self.content])
        shown = [(self.header(), _estimand_cells(board)[:top]) for board in boards]
        if self.sensitivity:
            interval = f"{self.content['prob']:.0%} interval"
            header = ["assumption", "set to", "theta_sota", interval]
            shown.append((header, [_assumption_cells(row) for row in self.sensitivity]))
        return shown

    def sentences(self) -> list[str]:
        """What to expect of the winner and of the best, what was asked, and what to report."""
        boards = self.content.get("boards", [self.content])
        above = [_ABOVE] if min(board["bias"] for board in boards) < 0 else []
        ranges = f"Ranges are {self.content['prob']:.0%} intervals."
        return [*self.expected, *self.subjects, *self._asked(), *above, _WHAT_TO_REPORT, ranges]

    def _asked(self) -> list[str]:
        boards = self.content.get("boards", [self.content])
        return [line for board in boards for line in sentences_of(board)]

    def legend(self, top: int | None = None) -> list[str]:
        above = self.content["n_above_sota"]
        if above is None:
            return []
        low, high = above["interval"]
        return [
            "The number of entries with an observed score better than theta_sota is "
            f"{above['median']:,.0f} ({low:,.0f} to {high:,.0f})."
        ]

    def footer(self) -> list[str]:
        """What the numbers rest on."""
        found, rho = self.content, self.content["rho"]
        how = f"method {found['method']}, model {found['model']}"
        if found["n_above_sota"] is None:
            return [how]
        low, high = rho["interval"]
        source = "learnt from the data"
        if low == high:
            source = "as set, not learnt"
        elif not rho["learnt"]:
            source = f"not learnt, as one board cannot tell it: {source_of_rho(found['model'])}"
        return [f"rho {rho['mean']:.2f} ({low:.2f} to {high:.2f}), {source}", how]

    def paragraph(self) -> list[str]:
        """What was found, board by board, what was assumed, and how much that matters."""
        found = self.content
        boards = found.get("boards", [found])
        said = [
            f"{subject} The true skill of the best classifier (theta_sota) is estimated at "
            f"{self.estimate('theta_sota', board)}, {_beside(board)}; that of the classifier with "
            f"the best score at {self.estimate('winner_skill', board)}."
            for subject, board in zip(self.subjects, boards, strict=True)
        ]
        return [
            *said, *as_sentences([*self.legend(), *self._asked()]), self._field(),
            about_rho(found["rho"], found["model"]),
            *self._elsewhere(), *as_sentences(self.notes),
        ]  # fmt: skip

    def basis(self) -> list[str]:
        return [f"model {self.content['model']}", how_drawn(self.tree), SOFTWARE, CITED]

    def _field(self) -> str:
        """What is assumed of the distribution of skills."""
        if "families" not in self.content:
            family = self.tree.attrs.get("skill_family", "")
            of = f"one {family} distribution" if family else "one distribution"
            return f"The skills of the classifiers are taken as draws from {of}."
        weights = self.content["families"]
        name = max(weights, key=lambda family: weights[family])
        return (
            "The distribution of the classifiers' skills is averaged over "
            f"{len(weights)} families, of which {name} has the largest weight "
            f"({chance(weights[name])})."
        )

    def _elsewhere(self) -> list[str]:
        """The estimate under the other assumptions that were tried."""
        if not self.sensitivity or len(self.subjects) > 1:
            return []
        means = [row["mean"] for row in self.sensitivity]
        d = steady_decimals(self.content["theta_sota"]["sd"], self.sensitivity[0]["mcse"])
        tried = dict.fromkeys(row["assumption"] for row in self.sensitivity)
        names = [_ASSUMED.get(name, name) for name in tried]
        return [
            f"Under other assumptions on {listed(names)} the estimate ranges from "
            f"{min(means):z.{d}f} to {max(means):z.{d}f}."
        ]


def report_sota(
    data: Data | tuple[Leaderboard, ...],
    *,
    model: Model = None,
    correlation: float | None = None,
    domain: str | None = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    above: float | None = None,
    new_score: float | None = None,
    gap: float | None = None,
    sensitivity: bool = True,
    ci_prob: float = 0.95,
    **settings: Any,
) -> SotaReport:
    """Estimate theta_sota, see how it moves with the assumptions, and describe both.

    Parameters
    ----------
    data : Leaderboard, Responses, ItemScores or tuple of Leaderboard
    model : ModelSpecification, name or path, optional
    correlation : float, optional
        A known rho instead of the model's prior.
    domain : str, optional
        As in ``estimate_sota``.
    reference_skill, new_n_test
        As in ``estimate_sota``.
    above, new_score, gap : float, optional
        As in ``Questions``: how probably theta_sota exceeds ``above``, a new classifier with
        ``new_score`` is truly better, and one that is better by ``gap`` reaches the best score. A
        new classifier is scored on ``new_n_test`` other items, or else on the same ones.
    sensitivity : bool
        Whether other assumptions are tried; answers and item scores have none.
    ci_prob : float
        Probability of the intervals.
    **settings
        Of ``estimate_sota``.

    Examples
    --------
    >>> board = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> report = report_sota(board, random_seed=1, sensitivity=False)
    >>> report.cells()[0][:4]
    ['theta_sota', '0.969', '0.012', '0.943 to 0.988']
    """
    boards: tuple[Any, ...] = data if isinstance(data, tuple) else (data,)
    whole = is_whole(boards[0])
    builder = "leaderboard" if whole else "observed_maximum"
    spec = chosen_model(model, builder, correlation=correlation, domain=domain)
    tree, fit = estimate_with_fit(
        data, model=spec, reference_skill=reference_skill, new_n_test=new_n_test, **settings
    )
    rows: list[dict[str, Any]] = []
    if sensitivity and isinstance(boards[0], Leaderboard):
        known: Any = {"ci_prob": ci_prob, "progressbar": bool(settings.get("progressbar"))}
        if fit is None:
            theta0 = spec.reference_skill if reference_skill is None else reference_skill
            known |= {"reference_skill": theta0, "draws": _ROW_DRAWS if whole else 1000}
            frame = sota_sensitivity(boards, priors=spec.priors, **known)
        else:
            theta, rng = draws_of(tree, "theta_sota"), generator_of(DEFAULT_SEED)
            frame = sensitivity_frame(theta, board_rows(fit, _ROW_DRAWS, rng), **known)
        rows = frame.iloc[1:].to_dict("records")
    questions = Questions(above, new_score, gap, new_n_test)
    return describe_sota(tree, boards, rows, ci_prob, questions)


def describe_sota(
    tree: xr.DataTree,
    boards: tuple[Data, ...],
    sensitivity: list[dict[str, Any]] | None = None,
    ci_prob: float = 0.95,
    questions: Questions | None = None,
) -> SotaReport:
    """Describe a result of ``estimate_sota``, given what it was estimated from and is asked."""
    rows = sensitivity or []
    each = [
        _board_content(tree, board, index, ci_prob)
        | (questions.answers(Newcomer.of_tree(tree, index)) if questions else {})
        for index, board in enumerate(boards)
    ]
    content = {
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
    if is_whole(boards[0]):
        content |= _checks_of_scores(tree)
    titles = [_title(board, found) for board, found in zip(boards, each, strict=True)]
    if rows:
        titles.append("Sensitivity to what is assumed, not observed")
    frame = summarize(tree, ci_prob).rename_axis("quantity").reset_index()
    subjects = tuple(
        _subject(board, found, alone=len(each) == 1)
        for board, found in zip(boards, each, strict=True)
    )
    expected = tuple(
        sentence
        for board, found in zip(boards, each, strict=True)
        for sentence in _expected(board, found, alone=len(each) == 1)
    )
    measured = measured_of(boards[0])
    return SotaReport(
        content, frame, tuple(titles), subjects, expected, tuple(rows), tree, measured
    )


def _board_content(tree: xr.DataTree, data: Data, index: int, ci_prob: float) -> dict[str, Any]:
    """What is said of one board."""
    estimands = {name: estimand_summary(tree, name, ci_prob, index) for name in MEANING}
    facts, whole = dict[str, Any](), is_whole(data)
    tries: Any = data.n_classifiers
    if whole:
        facts["winner"] = _winner(data)
    if not isinstance(data, Leaderboard):
        size, source = data.n_items, COUNTED
    elif whole:
        size, source, tries = data.n_test, data.n_test_source, tries or data.typical_tries
    else:
        size, source = data.n_test, "given"
        tries = tries or estimand_summary(tree, "n_classifiers", ci_prob, index)
        facts["n_right"] = list(data.counts) if data.metric == "accuracy" else None
    return {
        "n_test": size,
        "n_test_source": source,
        "n_classifiers": tries,
        **facts,
        "observed_maximum": float(observed_maximum_of(tree).values.ravel()[index]),
        **estimands,
        "bias": estimands["multiplicity_bias"]["mean"],
        "n_above_sota": estimand_summary(tree, "n_above_sota", ci_prob) if whole else None,
    }


def _checks_of_scores(tree: xr.DataTree) -> dict[str, Any]:
    """Weights of the families, replicated statistics, and notes."""
    families, check = tree["sample_stats/families"].to_dataset(), tree["predictive_check"]
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


def _title(data: Data, found: dict[str, Any]) -> str:
    if isinstance(data, Leaderboard) and data.scores is None:
        return f"{data.name}: best score {data.maximum:g} of {_competitors(data, found)}"
    n = found["n_test"]
    items = f" on {counted(n, 'item')} ({found['n_test_source']})" if n else ""
    return (
        f"{data.name}: best score {_best_score(data, found)} of {_competitors(data, found)}{items}"
    )


def _subject(data: Data, found: dict[str, Any], alone: bool) -> str:
    """The best score, in a sentence; a single board without a name of its own has none."""
    unnamed = alone and data.name in ("board", "board 1")
    where = "" if unnamed else f'On "{data.name}" '
    tries = _competitors(data, found)
    if isinstance(data, Leaderboard) and data.scores is None:
        items = f", {_reading(data)}"
    else:
        items = on_items(found["n_test"], found["n_test_source"]) + _shared(data)
    score, winner = _best_score(data, found), found.get("winner")
    if winner is not None:
        return f"{where}{plain_text(winner, 100)} has the best score of {tries}, {score}{items}."
    said = f"{where}the best score of {tries} is {score}{items}."
    return said[:1].upper() + said[1:]


def _expected(data: Data, found: dict[str, Any], alone: bool) -> list[str]:
    """What the winner and the best would score on new items, beside what the winner shows."""
    metric, winner, skill = _as_board(data).metric, found.get("winner"), found["winner_skill"]
    who = "the winner" if winner is None else shown_name(winner, 60)
    if not alone:
        who += f' of "{shown_name(data.name, 60)}"'
    shown = len(_best_score(data, found).partition(".")[2])
    d, best_d, new_d = (
        said_decimals(shown, _decimals(found[name]))
        for name in ("winner_skill", "theta_sota", "winner_new_score")
    )
    low, high = (as_score(end, new_d, metric) for end in found["winner_new_score"]["interval"])
    return [
        expectation(who, skill, found["observed_maximum"], (shown, d), metric),
        f"The best of {_competitors(data, found)}, whichever it is (theta_sota), would score "
        f"{as_scores(found['theta_sota'], best_d, metric)}; one fresh test set has luck of its "
        f"own, and gives the winner {low} to {high}.",
    ]


def _competitors(data: Data, found: dict[str, Any]) -> str:
    """How many took part: entries where each listed one did, else classifiers, known or not."""
    n = found["n_classifiers"]
    if isinstance(data, Leaderboard) and data.n_classifiers is None:
        return f"about {_classifiers(data.typical_tries)}"
    listed_all = isinstance(data, Leaderboard) and n == data.n_entries
    return counted(n, "entry", "entries") if listed_all else _classifiers(n)


def _classifiers(tries: float) -> str:
    return counted(round(tries), "classifier")


def _best_score(data: Data, found: dict[str, Any]) -> str:
    """The best score with the digits that it was printed with, or that tell counts apart."""
    if not is_whole(data):
        return f"{found['observed_maximum']:.6g}"
    board = _as_board(data)
    return f"{found['observed_maximum']:.{score_decimals(board)}f}"


def _shared(data: Data) -> str:
    """That several have the best score."""
    leaders = _leaders(data)
    return f", shared by {len(leaders):,}" if len(leaders) > 1 else ""


def _leaders(data: Data) -> list[str]:
    """Names of the entries with the best score."""
    board = _as_board(data)
    assert board.scores is not None
    return [board.names[j] for j in np.flatnonzero(board.scores == board.maximum)]


def _as_board(data: Data) -> Leaderboard:
    return data if isinstance(data, Leaderboard) else data.leaderboard()


def _winner(data: Data) -> str | None:
    """Name of the entry with the best score; None where several have it, or none has a name."""
    name, *others = _leaders(data)
    return None if others or name.isdigit() or name.startswith("entry ") else name


def _beside(found: dict[str, Any]) -> str:
    """The estimate beside the best score."""
    gap = f"{abs(found['bias']):.{_decimals(found['theta_sota'])}f}"
    if not float(gap):
        return "as high as the best score"
    return f"{gap} {'below' if found['bias'] > 0 else 'above'} the best score"


def about_rho(rho: dict[str, Any], model: str) -> str:
    """What was assumed or learnt of the correlation."""
    (low, high), mean = rho["interval"], f"{rho['mean']:.2f}"
    said = "The correlation of a classifier's score with that of a reference classifier (rho) is"
    if low == high:
        return f"{said} set to {mean}."
    interval = f"{mean} ({low:.2f} to {high:.2f})"
    if rho["learnt"]:
        return f"{said} learnt: {interval}."
    return (
        f"{said} assumed, not learnt: {interval}, from {source_of_rho(model)}; the higher, the "
        "less of the spread of the scores is taken for luck."
    )


def _decimals(found: dict[str, Any]) -> int:
    """Decimals that the summary of a quantity supports."""
    low, high = found["interval"]
    return decimals_for(found.get("sd", (high - low) / 4), found.get("mcse", 0.0))


def _reading(board: Leaderboard) -> str:
    """How the best score is understood."""
    if board.metric == "auc":
        negative = counted(board.n_negative or 0, "negative item")
        return f"an AUC of {board.n_positive:,} positive and {negative}"
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
            f"{row['mean']:z.{d}f} ({low:z.{d}f} to {high:z.{d}f})."
        )
    return Slider(question, label, tuple(steps), len(rows) // 2)


def _estimand_cells(found: dict[str, Any]) -> list[list[str]]:
    rows = []
    for name, meaning in MEANING.items():
        values, (low, high) = found[name], found[name]["interval"]
        d = _decimals(values)
        numbers = [f"{values['mean']:z.{d}f}", f"{values['sd']:z.{d}f}"]
        rows.append([name, *numbers, f"{low:z.{d}f} to {high:z.{d}f}", meaning])
    return rows


def _assumption_cells(row: dict[str, Any]) -> list[str]:
    d = steady_decimals((row["upper"] - row["lower"]) / 4, row["mcse"])
    value = row["value"] if isinstance(row["value"], str) else f"{row['value']:.2g}"
    if row["assumption"] == "n_classifiers":
        value = f"times {value}"
    interval = f"{row['lower']:z.{d}f} to {row['upper']:z.{d}f}"
    return [row["assumption"], value, f"{row['mean']:z.{d}f}", interval]


@dataclass(frozen=True, eq=False)
class PointReport(ResultTable):
    """A point estimate by shrinking or cropping, described.

    Attributes
    ----------
    found : FieldEstimate
    name, n_test_source : str
        Of the board.
    notes : tuple of str
        What a reader should know.
    """

    found: FieldEstimate
    name: str
    n_test_source: str
    notes: tuple[str, ...]
    reasons: tuple[str, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """Quantities as they are printed."""
        return pd.DataFrame(self.cells(), columns=self.header())

    @property
    def tree(self) -> xr.DataTree:
        """The result itself."""
        return self.found.to_datatree()

    def titles(self, top: int | None = None) -> list[str]:
        """What the table is about."""
        found = self.found
        size = counted(found.n_test, "item")
        return [f"{self.name}: best score {found.observed_maximum:g} of {self._entries} on {size}"]

    @property
    def _entries(self) -> str:
        return counted(self.found.scores.size, "entry", "entries")

    def sentences(self) -> list[str]:
        """The estimate beside the best score."""
        found, word = self.found, "shrinking" if self.found.method == "shrink" else "cropping"
        return [
            f"The best of {self._entries} is estimated to have a skill of {found.estimate:.4f} "
            f"(theta_sota, by {word}), where the best score is {found.observed_maximum:g}."
        ]

    def footer(self) -> list[str]:
        """How it was estimated."""
        found = self.found
        fields = "field kept fixed" if found.fixed_field else "fields drawn with replacement"
        return [f"criterion {found.criterion}, rho {found.correlation:g}, {fields}"]

    def to_dict(self) -> dict[str, Any]:
        source = {"n_test_source": self.n_test_source, "notes": list(self.notes)}
        return {**self.found.to_dict(), **source, "text": self.text}

    def header(self) -> list[str]:
        return ["quantity", "value", "what it is"]

    def cells(self, top: int | None = None) -> list[list[str]]:
        found, m = self.found, self.found.scores.size
        word = "shrunk" if found.method == "shrink" else "cropped"
        low, high = found.interval
        rows = [["theta_sota", f"{found.estimate:.6f}", f"best skill of the {word} field"]]
        if found.weight is not None:
            rows.append(["weight", f"{found.weight:.6f}", "w of Eq. 9"])
        rows += [
            ["expected maximum", f"{found.expected_maximum:.6f}", f"of the {word} field"],
            [f"{found.ci_prob:.0%} interval", f"{low:.4f} to {high:.4f}", "of its best score"],
        ]
        single = f"above {found.single[0]:.4f}, the lower limit of the best score alone"
        counts = (
            ("above", found.n_above(), "entries with a score above the estimate"),
            ("above, rounded", found.n_above(4), f"the same, above {found.estimate:.4f}"),
            ("above single", found.n_above_single, single),
        )
        rows += [[name, f"{count:,} of {m:,}", meaning] for name, count, meaning in counts]
        return rows[:top]

    def legend(self, top: int | None = None) -> list[str]:
        found, left_out = self.found, []
        below = counted(found.n_below_chance, "entry", "entries")
        below += f" not above chance ({found.chance:.4f})"
        if found.n_below_chance:
            left_out.append(below)
        if found.n_infeasible:
            left_out.append(f"{found.n_infeasible:,} too weak for rho (Eq. 8)")
        lines = ["Without " + "; ".join(left_out) + "."] if left_out else []
        if not found.multiplicity:
            lines.append(found.reason[0].upper() + found.reason[1:] + ".")
        return lines

    def paragraph(self) -> list[str]:
        """What was found, and by which criterion."""
        found = self.found
        word = "shrunk" if found.method == "shrink" else "cropped"
        low, high = found.interval
        what = "expected best score" if found.criterion == "expected" else "upper limit"
        of = "" if self.name == "board" else f' of "{self.name}"'
        solved = (
            f"With their scores {word} so that the {what} of the {word} field is the observed one, "
            f"the skill of the best classifier is estimated at {found.estimate:.4f}."
        )
        if found.estimate == found.observed_maximum:
            solved = f"No {word} field has it as its {what}: the estimate stays at it."
        return [
            f"The best score of {self._entries}{of} is {found.observed_maximum:g}"
            f"{on_items(found.n_test, self.n_test_source)}. {solved}",
            f"The best score of that field is expected at {found.expected_maximum:.4f}, with a "
            f"{found.ci_prob:.0%} interval of {low:.4f} to {high:.4f}; "
            f"{counted(found.n_above(), 'score')} above the estimate. The correlation with the "
            f"best classifier (rho) is set to {found.correlation:g}.",
            *self.legend(), *as_sentences(self.notes),
        ]  # fmt: skip

    def basis(self) -> list[str]:
        eq = ", Eq. 9" if self.found.weight is not None else ""
        cited = f"after Møllersen and Holsbø 2023, arXiv 2303.07272{eq}"
        return [f"exact law of the best score, method {self.found.method}", SOFTWARE, cited]


def report_point_estimate(
    board: Leaderboard,
    method: str,
    *,
    n_test: int | None = None,
    n_classes: int | None = None,
    drop_above: float | None = None,
    notes: tuple[str, ...] = (),
    **settings: Any,
) -> PointReport:
    """Shrink or crop the scores of a board, and describe the estimate.

    Parameters
    ----------
    board : Leaderboard
        Accuracies or AUCs.
    method : {"shrink", "crop"}
    n_test : int, optional
        Number of test items of accuracies; default the board's.
    n_classes : int, optional
        Classes of the task, for accuracies: chance is one over it.
    drop_above : float, optional
        Leave out entries above this score.
    notes : tuple of str
        What a reader should know beside the notes of the board.
    **settings
        ``criterion``, ``correlation``, ``ci_prob`` of ``shrink_scores``.

    Examples
    --------
    >>> board = Leaderboard([0.91, 0.9, 0.905, 0.88], n_test=1000)
    >>> report_point_estimate(board, "shrink", n_classes=10).header()
    ['quantity', 'value', 'what it is']
    """
    if board.scores is None:
        raise InputError("shrinking and cropping take the scores of a leaderboard")
    kept: Any = board.scores if drop_above is None else board.scores[board.scores <= drop_above]
    if board.metric == "auc":
        refuse_unused("AUCs", {"n_classes": n_classes})
        sizes: dict[str, Any] = {"n_positive": board.n_positive, "n_negative": board.n_negative}
        found = shrink_aucs(kept, **sizes, **settings)
        assumed = "binormal scores and independent classifiers are assumed"
        if settings.get("correlation", 0.0) != 0:
            assumed = (
                "binormal scores are assumed, rho is that of the scores with a reference score"
            )
        notes = (assumed, *notes)
    else:
        estimate = shrink_scores if method == "shrink" else crop_scores
        assert n_classes is not None
        found = estimate(kept, n_test=n_test or board.n_test, chance=1 / n_classes, **settings)
    source = board.n_test_source if board.metric == "accuracy" else "given"
    return PointReport(found, board.name, source, (*notes, *board.notes))
