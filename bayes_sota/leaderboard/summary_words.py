"""Words and digits that the reports of boards share."""

from typing import Any

import numpy as np

from bayes_sota.core.text import as_score, as_scores, counted, decimals_of, span
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import GIVEN, INFERRED, BestScore, Leaderboard, Metric
from bayes_sota.data.outcomes import ABOUT, New, Outcomes
from bayes_sota.leaderboard.specification import source_of_rho

CITED = "theta_sota after Møllersen and Holsbø 2023, arXiv 2303.07272"


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
        items: dict[str, Any] = {"n_test": data.n_test, "n_test_source": data.n_test_source}
        if not data.tasks:
            return items
        known = {"average": data.averaging, "n_tasks": len(data.tasks), "n_items": data.n_items}
        return items | known | {"n_test": data.n_items, "new": data.new}
    n_tasks = len(data.task_weights)
    words = [
        tasks_in_words(n_tasks, data.averaging) * (n_tasks > 0),
        "" if data.n_clusters is None else f"{data.n_clusters:,} clusters",
        data.runs_in_words,
    ]
    rows = "rows of the matrix" if data.unit == "item" else f"each is a {data.unit}"
    facts: dict[str, Any] = {
        "n_test": data.n_items,
        "n_test_source": ", ".join(filter(None, words)) or rows,
        "n_items": data.n_items,
        "n_clusters": data.n_clusters,
        "new": data.new,
        "average": data.averaging,
        "n_tasks": n_tasks or None,
    }
    if not data.is_answers:
        return facts
    metric = "accuracy" if data.passes is None else data.measured
    return facts | {"n_runs": data.n_runs, "metric": metric}


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record of JSON as a row of a table: its skill becomes a number beside its sd and its ends.

    Examples
    --------
    >>> flat({"name": "a", "skill": {"mean": 0.9, "sd": 0.1, "interval": [0.7, 1.0]}})
    {'name': 'a', 'skill': 0.9, 'skill_sd': 0.1, 'skill_lower': 0.7, 'skill_upper': 1.0}
    """
    row, skill = dict(record), record["skill"]
    row |= {"skill": skill["mean"], "skill_sd": skill["sd"]}
    row["skill_lower"], row["skill_upper"] = skill["interval"]
    return row


def quantity_columns(ci_prob: float) -> dict[str, Any]:
    """Columns of a table of quantities, each with its ``name``, summary and ``meaning``."""
    return {
        "quantity": "name",
        "mean": lambda row: f"{row['mean']:z.{decimals_of(row)}f}",
        "sd": lambda row: f"{row['sd']:z.{decimals_of(row)}f}",
        f"{ci_prob:.0%} interval": lambda row: span(row["interval"], decimals_of(row)),
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
    return f" on {counted(n_test, 'test item')} ({how})"


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
    facts: dict[str, Any],
) -> str:
    """What to expect of a classifier beside its score: its skill, the mean over all new items.

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
    facts : dict
        ``new`` items, runs or tasks, and the ``metric`` of answers, where they are known.

    Examples
    --------
    >>> skill = {"mean": 0.9784, "interval": [0.957, 0.9935]}
    >>> expectation("the winner", skill, 0.988, (3, 3), "accuracy", {})
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
    value = f"rho is {rho['mean']:.2f} ({span((low, high), 2)})"
    if rho["learnt"]:
        return f"{said} learnt from the {source}: {value}."
    return (
        f"{said} assumed, not learnt: {value}, from {source_of_rho(model)}; the higher, the less "
        "of the spread of the scores is taken for luck, and the fewer may be best."
    )
