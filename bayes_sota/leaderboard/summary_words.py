"""Words, digits and columns that the reports of boards share."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayes_sota.core import text
from bayes_sota.core.tables import Report
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import GIVEN, INFERRED, BestScore, Leaderboard, Metric
from bayes_sota.data.outcomes import ABOUT, New, Outcomes
from bayes_sota.leaderboard.specification import source_of_rho

CITED = "theta_sota after Møllersen and Holsbø 2023, arXiv 2303.07272"
_ENDS = {"rank_interval": "rank", "rank_set": "set"}


def report_of(
    content: dict[str, Any],
    *,
    sentences: Sequence[str],
    legend: Sequence[str] = (),
    **parts: Any,
) -> Report:
    """Report with the notes and reasons of ``content``, and all it says in its paragraph."""
    return Report(
        content=content,
        sentences=sentences,
        paragraph=[*sentences, *legend, *text.as_sentences(content["notes"])],
        legend=legend,
        notes=content["notes"],
        reasons=content.get("diagnostics", {}).get("reasons", ()),
        **parts,
    )


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of JSON as a row of a table: a skill as its mean, sd and ends, other ranges as ends.

    Examples
    --------
    >>> flat({"skill": {"mean": 0.9, "interval": [0.7, 1.0]}, "rank_set": [1, 3]})
    {'skill': 0.9, 'skill_lower': 0.7, 'skill_upper': 1.0, 'set_lower': 1, 'set_upper': 3}
    """
    cells: dict[str, Any] = {}
    for key, value in row.items():
        ends, name = value, _ENDS.get(key, key)
        if isinstance(value, dict):
            cells[name], ends = value["mean"], value["interval"]
            cells |= {f"{name}_sd": value["sd"]} if "sd" in value else {}
        if isinstance(ends, list):
            cells |= {f"{name}_lower": ends[0], f"{name}_upper": ends[1]}
        else:
            cells[name] = value
    return cells


def board_of(data: Leaderboard | Outcomes) -> Leaderboard:
    """All scores."""
    return data if isinstance(data, Leaderboard) else data.leaderboard()


def metric_of(data: BestScore | Outcomes) -> Metric:
    """What scores are: averages of answers are accuracies as well."""
    if isinstance(data, Outcomes):
        return "accuracy" if data.is_answers else data.leaderboard().metric
    return data.metric


def measured_of(data: BestScore | Outcomes) -> str:
    """What was measured of results from such data, a key of the words of a page."""
    if data.anchors is not None:
        return "anchors"
    if isinstance(data, Outcomes):
        return "answers" if data.is_answers else "auc"
    if data.metric != "accuracy":
        return "auc" * (data.metric == "auc")
    if not isinstance(data, Leaderboard):
        return "maximum"
    return "leaderboard" if data.submissions is None else "submissions"


def items_of(data: Leaderboard | Outcomes) -> dict[str, Any]:
    """What JSON says of the items behind scores: how many, where from, and in which groups.

    Examples
    --------
    >>> exam = Outcomes([[1, 0], [1, 1], [0, 1]], tasks=["law", "law", "art"])
    >>> items_of(exam)["n_test_source"]
    '2 tasks that count the same'
    """
    if isinstance(data, Leaderboard):
        facts = {"n_test": data.n_items if data.tasks else data.n_test}
        facts |= {"n_test_source": data.n_test_source, "n_tasks": len(data.tasks) or None}
    else:
        n_tasks, clusters = len(data.task_weights), data.n_clusters
        groups = [
            tasks_in_words(n_tasks, data.averaging) * (n_tasks > 0),
            "" if clusters is None else f"{clusters:,} clusters",
            data.runs_in_words,
        ]
        rows = "rows of the matrix" if data.unit == "item" else f"each is a {data.unit}"
        facts = {"n_test": data.n_items, "n_test_source": ", ".join(filter(None, groups)) or rows}
        facts |= {"n_tasks": n_tasks or None, "n_clusters": clusters, "n_runs": data.n_runs}
    return facts | {"new": data.new, "average": data.averaging}


def quantity_columns(ci_prob: float) -> dict[str, Any]:
    """Columns of a table of quantities, each with its ``name``, summary and ``meaning``."""
    return {
        "quantity": "name",
        "mean": lambda row: f"{row['mean']:z.{text.decimals_of(row)}f}",
        "sd": lambda row: f"{row['sd']:z.{text.decimals_of(row)}f}",
        f"{ci_prob:.0%} interval": lambda row: text.span(row["interval"], text.decimals_of(row)),
        "what it is": "meaning",
    }


def source_of(data: BestScore | Outcomes) -> str:
    """What tells how far classifiers share luck."""
    return "answers" if isinstance(data, Outcomes) and data.is_answers else data.new


def on_items(n_test: int | None, source: str) -> str:
    """Size of the test set in a sentence, and where it comes from; nothing where it has none."""
    if n_test is None:
        return ""
    how = f"number {source}" if source in (GIVEN, INFERRED) else source
    return f" on {text.counted(n_test, 'test item')} ({how})"


def score_decimals(data: BestScore | Outcomes) -> int:
    """Digits of the scores as printed; of exact ones as many as tell counts apart."""
    if isinstance(data, Outcomes) and data.is_answers:
        return int(np.ceil(np.log10(data.n_items * data.n_runs)))
    if not isinstance(data, Leaderboard | Outcomes):
        return len(f"{data.maximum:.6g}".partition(".")[2])
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


def skill_is_about(sentence: str, new: New) -> str:
    """A sentence about skill with what it is about in it."""
    return sentence.format(ABOUT[new] + " of the same kind" * (new == "items"))


def competitors(data: BestScore | Outcomes) -> str:
    """How many took part: entries where each listed one did, else classifiers, known or not."""
    if isinstance(data, Leaderboard) and not data.is_partial:
        return text.counted(data.n_entries, "entry", "entries")
    if isinstance(data, Outcomes) or isinstance(data.n_classifiers, int):
        return text.counted(data.n_classifiers, "classifier")
    return f"about {text.counted(round(data.typical_tries), 'classifier')}"


def expected_of(
    data: BestScore | Outcomes, who: str, skill: dict[str, Any], score: float, supported: int
) -> str:
    """What to expect of a classifier beside its score: its skill, the mean over all new items.

    Parameters
    ----------
    data
    who : str
    skill : dict
        Mean and interval.
    score : float
        What it has now.
    supported : int
        Decimals that the skill supports.

    Examples
    --------
    >>> skill = {"mean": 0.9784, "interval": [0.957, 0.9935]}
    >>> board = BestScore("0.988", n_test=250, n_classifiers=50)
    >>> expected_of(board, "the winner", skill, 0.988, 3)
    'Expect the winner to score 97.8 % (95.7 to 99.4) on many new items, not the 98.8 % it shows.'
    """
    metric, shown = metric_of(data), score_decimals(data)
    d, verb = said_decimals(shown, supported), "score"
    if isinstance(data, Outcomes) and data.passes is not None:
        verb = f"have a {data.measured} of"
    same = text.as_score(score, d, metric) == text.as_score(skill["mean"], d, metric)
    beside = f"not the {text.as_score(score, shown, metric)} it shows"
    return (
        f"Expect {who} to {verb} {text.as_scores(skill, d, metric)} on many {ABOUT[data.new]}, "
        f"{'as it does here' if same else beside}."
    )


def best_of(data: BestScore | Outcomes, best: dict[str, Any]) -> str:
    """What the best of all would score; a clause that goes on."""
    d = said_decimals(score_decimals(data), text.decimals_of(best))
    return (
        f"The best of {competitors(data)}, whichever it is (theta_sota), would score "
        f"{text.as_scores(best, d, metric_of(data))}"
    )


def best_score_of(data: BestScore | Outcomes, best: float) -> str:
    """The best score, who has it, and on how many items."""
    where = "" if data.name in ("board", "outcomes") else f' of "{text.plain_text(data.name, 100)}"'
    if isinstance(data, Leaderboard | Outcomes):
        winner, leaders, facts = winner_of(data), len(leaders_of(data)), items_of(data)
        items = on_items(facts["n_test"], facts["n_test_source"])
        items += f", by {text.plain_text(winner, 100)}" if winner else ""
        items += f", shared by {leaders:,}" * (leaders > 1)
    else:
        items = f", {_reading(data)}"
    return (
        f"The best score of {competitors(data)}{where} is {best:z.{score_decimals(data)}f}{items}."
    )


def leaders_of(data: Leaderboard | Outcomes) -> list[str]:
    """Names of the entries with the best score."""
    board = board_of(data)
    return [board.names[j] for j in np.flatnonzero(board.scores == board.maximum)]


def winner_of(data: Leaderboard | Outcomes) -> str | None:
    """Name of the entry with the best score; None where several have it, or none has a name."""
    name, *others = leaders_of(data)
    return None if others or name.isdigit() or name.startswith("entry ") else name


def _reading(board: BestScore) -> str:
    """How a best score alone is understood."""
    if board.metric == "auc":
        negative = text.counted(board.n_negative or 0, "negative item")
        ratio = f", spread ratio {board.spread_ratio:g}" * (board.spread_ratio != 1)
        return f"an AUC of {board.n_positive:,} positive and {negative}{ratio}"
    if board.metric == "score":
        return f"with a standard error of {board.standard_error:g}"
    low, high = board.counts
    right = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"read as {right} right {'answer' if right == '1' else 'answers'} of {board.n_test:,}"


def about_rho(rho: dict[str, Any], model: str, source: str = "answers") -> str:
    """How far classifiers share luck, and how it is known.

    Examples
    --------
    >>> about_rho({"mean": 0.7, "interval": [0.7, 0.7], "learnt": False}, "leaderboard")
    'How far classifiers share the luck of the items is set: rho is 0.70.'
    """
    what = "tasks" if source == "tasks" else "items"
    (low, high), said = rho["interval"], f"How far classifiers share the luck of the {what} is"
    if low == high:
        return f"{said} set: rho is {low:.2f}."
    value = f"rho is {rho['mean']:.2f} ({text.span((low, high), 2)})"
    if rho["learnt"]:
        return f"{said} learnt from the {source}: {value}."
    return (
        f"{said} assumed, not learnt: {value}, from {source_of_rho(model)}; the higher, the less "
        "of the spread of the scores is taken for luck, and the fewer may be best."
    )
