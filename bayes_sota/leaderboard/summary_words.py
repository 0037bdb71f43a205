"""Sentences, digits and columns that the reports of boards share."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bayes_sota.core import text
from bayes_sota.core.tables import Report, Table, table_of
from bayes_sota.data.item_values import tasks_in_words
from bayes_sota.data.leaderboard import GIVEN, INFERRED, Averaged, BestScore, Leaderboard
from bayes_sota.data.outcomes import ABOUT, Outcomes

CITED = "theta_sota after Møllersen and Holsbø 2023, arXiv 2303.07272"
_ENDS = {"rank_interval": "rank", "rank_set": "set"}


def report_of(
    content: dict[str, Any], *, sentences: Sequence[str], legend: Sequence[str] = (), **parts: Any
) -> Report:
    """Report with the notes and reasons of ``content``."""
    return Report(
        content=content,
        sentences=sentences,
        paragraph=[*sentences, *legend, *text.as_sentences(content["notes"])],
        legend=legend,
        reasons=content.get("diagnostics", {}).get("reasons", ()),
        **parts,
    )


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of JSON as a row of a table: a skill as mean, sd and ends, other ranges as ends."""
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


def board_of[D: BestScore](data: D | Outcomes) -> D | Leaderboard:
    """All scores, or the best one."""
    return data.leaderboard() if isinstance(data, Outcomes) else data


def measured_of(data: BestScore | Outcomes) -> str:
    """Key of the words of a page on measured accuracy."""
    if data.anchors is not None:
        return "anchors"
    if data.metric != "accuracy":
        return "auc" * (data.metric == "auc")
    if isinstance(data, Leaderboard):
        return "leaderboard" if data.submissions is None else "submissions"
    return "answers" if isinstance(data, Outcomes) else "maximum"


def items_of(data: Leaderboard | Outcomes) -> dict[str, Any]:
    """Keys of JSON on the items: their number, its source, and their groups."""
    if isinstance(data, Leaderboard):
        facts = {"n_test": data.n_items if data.tasks else data.n_test}
        facts |= {"n_test_source": data.n_test_source, "n_tasks": len(data.tasks) or None}
    else:
        n_tasks, clusters = len(data.task_weights), data.n_clusters
        groups = groups_in_words(n_tasks, data.averaging, clusters, data.runs_in_words)
        rows = "rows of the matrix" if data.unit == "item" else f"each is a {data.unit}"
        facts = {"n_test": data.n_items, "n_test_source": groups or rows}
        facts |= {"n_tasks": n_tasks or None, "n_clusters": clusters, "n_runs": data.n_runs}
    return facts | {"new": data.new, "average": data.averaging}


def groups_in_words(n_tasks: int, averaging: Averaged, clusters: int | None, runs: str) -> str:
    """Tasks, clusters and runs of the items, if any."""
    tasks = tasks_in_words(n_tasks, averaging) if n_tasks else ""
    return ", ".join(filter(None, [tasks, f"{clusters:,} clusters" if clusters else "", runs]))


def quantity_table(
    content: Mapping[str, Any], meanings: Mapping[str, str], ci_prob: float, title: str
) -> Table:
    """Table of the quantities that ``meanings`` explain."""
    columns: dict[str, Any] = {
        "quantity": "name",
        "mean": lambda row: f"{row['mean']:z.{text.decimals_of(row)}f}",
        "sd": lambda row: f"{row['sd']:z.{text.decimals_of(row)}f}",
        f"{ci_prob:.0%} interval": lambda row: text.span(row["interval"], text.decimals_of(row)),
        "what it is": "meaning",
    }
    rows = [content[name] | {"name": name, "meaning": said} for name, said in meanings.items()]
    return table_of(rows, columns, title)


def source_of(data: BestScore | Outcomes) -> str:
    """Source of knowledge of rho, for ``about_rho``."""
    return "answers" if isinstance(data, Outcomes) and data.is_answers else data.new


def score_decimals(data: BestScore | Outcomes) -> int:
    """Decimals of the scores as printed; of exact ones as many as distinguish counts."""
    if isinstance(data, Outcomes) and data.is_answers:
        return int(np.ceil(np.log10(data.n_items * data.n_runs)))
    board = board_of(data)
    if board.decimals is not None and board.decimals < 12:
        return board.decimals
    if board.metric == "accuracy":
        return max(int(np.ceil(np.log10(board.n_test))), 3 if board.has_own_errors else 1)
    longest = max(len(f"{score:.6f}".rstrip("0").partition(".")[2]) for score in board.scores)
    if isinstance(data, Outcomes):  # a mean has endless decimals
        return min(longest, text.decimals_for(float(np.median(data.standard_errors))))
    return longest


def said_decimals(data: BestScore | Outcomes, supported: int) -> int:
    """Decimals of a skill in a sentence: those of the score, at least three, if supported."""
    return min(supported, max(score_decimals(data), 3))


def answer_of(
    data: BestScore | Outcomes,
    who: str,
    winner: dict[str, Any],
    best: dict[str, Any],
    score: float,
    more: str,
) -> Iterator[str]:
    """Sentences on the winner, on the best of all (it ends in ``more``), and on the best score."""
    metric, shown = data.metric, score_decimals(data)
    d, verb = said_decimals(data, text.decimals_of(winner)), "score"
    if isinstance(data, Outcomes) and data.passes is not None:
        verb = f"have a {data.measured} of"
    same = text.as_score(score, d, metric) == text.as_score(winner["mean"], d, metric)
    beside = f"not the {text.as_score(score, shown, metric)} it shows"
    yield (
        f"Expect {who} to {verb} {text.as_scores(winner, d, metric)} on many {ABOUT[data.new]}, "
        f"{'as it does here' if same else beside}."
    )
    d = said_decimals(data, text.decimals_of(best))
    yield (
        f"The best of {_competitors(data)}, whichever it is (theta_sota), would score "
        f"{text.as_scores(best, d, metric)}; {more}."
    )
    where = "" if data.name in ("board", "outcomes") else f' of "{text.plain_text(data.name, 100)}"'
    yield f"The best score of {_competitors(data)}{where} is {score:z.{shown}f}{_behind(data)}."


def _competitors(data: BestScore | Outcomes) -> str:
    if isinstance(data, Leaderboard) and not data.is_partial:
        return text.counted(data.n_entries, "entry", "entries")
    if isinstance(data, Outcomes) or isinstance(data.n_classifiers, int):
        return text.counted(data.n_classifiers, "classifier")
    return f"about {text.counted(round(data.typical_tries), 'classifier')}"


def _behind(data: BestScore | Outcomes) -> str:
    if isinstance(data, Leaderboard | Outcomes):
        facts, winner, leaders = items_of(data), winner_of(data), len(leaders_of(data))
        source, number = facts["n_test_source"], facts["n_test"]
        how = f"number {source}" if source in (GIVEN, INFERRED) else source
        items = f" on {text.counted(number, 'test item')} ({how})" if number else ""
        items += f", by {text.plain_text(winner, 100)}" if winner else ""
        return items + f", shared by {leaders:,}" * (leaders > 1)
    if data.metric == "auc":
        negative = text.counted(data.n_negative or 0, "negative item")
        ratio = f", spread ratio {data.spread_ratio:g}" * (data.spread_ratio != 1)
        return f", an AUC of {data.n_positive:,} positive and {negative}{ratio}"
    if data.metric == "score":
        return f", with a standard error of {data.standard_error:g}"
    low, high = data.counts
    right = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    answers = "answer" if right == "1" else "answers"
    return f", read as {right} correct {answers} of {data.n_test:,}"


def cautious_on(data: BestScore | Outcomes) -> str:
    """Clause on P(best) with new tasks, as found in real tables."""
    return " (conservative: about half that in real tables)" * (data.new == "tasks")


def leaders_of(data: Leaderboard | Outcomes) -> list[str]:
    """Names of the entries with the best score."""
    board = board_of(data)
    return [board.names[j] for j in np.flatnonzero(board.scores == board.maximum)]


def winner_of(data: Leaderboard | Outcomes) -> str | None:
    """Name of the entry with the best score; None for ties or without a name."""
    name, *others = leaders_of(data)
    return None if others or name.isdigit() or name.startswith("entry ") else name


def about_rho(rho: dict[str, Any], source: str) -> str:
    """How much error classifiers share: set, learnt from a source, or assumed."""
    what = "tasks" if source == "tasks" else "items"
    (low, high), said = rho["interval"], f"How much error the classifiers share on these {what} is"
    if low == high:
        return f"{said} set: rho is {low:.2f}."
    value = f"rho is {rho['mean']:.2f} ({text.span((low, high), 2)})"
    if rho["learnt"]:
        return f"{said} learnt from the {source}: {value}."
    return (
        f"{said} assumed, not learnt: {value}; with a higher rho less of the spread of the scores "
        "is chance, and fewer entries may be the best."
    )
