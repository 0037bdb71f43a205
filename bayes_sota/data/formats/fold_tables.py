"""Scores of repeated cross-validation in tables, long and wide, and the tables that are written.

A long table has one row per learner, data set, iteration and fold; a wide one has the learners in
its columns. What is missing is an empty score, not a missing row: a partition that some learners
lack is not the same for all. ``tests/data/test_read_fold_scores.py`` has them all.
"""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.arguments import Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import whole_file
from bayes_sota.core.text import marked_cell, shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.files.tables import Table
from bayes_sota.data.fold_scores import FoldScores
from bayes_sota.data.formats.score_tables import read_numbers
from bayes_sota.data.grids import Axis, named_place, occurrences, place_rows
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.readers.columns import (
    WORDS,
    check_names,
    find_counters,
    find_score_column_beside,
    refuse_counters,
    role_columns,
)
from bayes_sota.data.readers.metric_names import LARGER, asides, is_loss, is_reversed, refuse_loss
from bayes_sota.data.score_table import ScoreTable

_WORDS = {
    "learner": WORDS["players"],
    "task": WORDS["tasks"],
    "iteration": WORDS["iterations"],
    "fold": WORDS["parts"],
}
_KINDS = {"task": "data set"}
_FOLDS = Range(2, 10_000, whole=True)
_HINT = "an empty score says that a fit failed"


@dataclass(frozen=True)
class FoldOptions:
    """What the user chose; None where nothing was said. The fields are of ``read_fold_scores``."""

    learner_column: str | None = None
    task_column: str | None = None
    iteration_column: str | None = None
    fold_column: str | None = None
    score_column: str | None = None
    folds: int | None = None
    lower_is_better: bool = False

    def __post_init__(self) -> None:
        """Refuse a number of folds that no partition has."""
        if self.folds is not None:
            _FOLDS.check(self.folds, "folds")


def fold_scores_of_table(table: Table, options: FoldOptions) -> FoldScores:
    """Scores of a long or a wide table.

    Raises
    ------
    InputError
        Columns that cannot be told, two scores for one fit, a fit that is missing, cells that are
        no numbers; by their places.
    """
    columns = role_columns(table, options, _WORDS)
    if "learner" in columns:
        score = find_score_column_beside(table, columns.values(), options.score_column)
        scores, rows = read_numbers(table, score), np.arange(len(table.places))
        learners = Axis.of_column(table, columns["learner"], "learner")
        name = table.header[score]
    else:
        learners, scores, rows = _wide(table, columns, options)
        name = "score"
    if not options.lower_is_better:
        refuse_loss(table.where, name)
    elif is_reversed(name):
        raise InputError(
            f"{table.where}: of column {shown(name)} larger is better already, by its name: leave "
            "lower_is_better out"
        )
    named: dict[str, Axis] = {
        what: Axis.of_column(table, columns[what], _KINDS.get(what, what)).at(rows)
        for what in ("task", "iteration", "fold")
        if what in columns
    }
    tasks = named.get("task") or Axis.of_one("data set", table.stem, rows.size)
    iterations, folds = _partitions(table, options.folds, named, tasks, learners)
    axes = [tasks, learners, iterations, folds]
    grid = place_rows(table, axes, rows)
    _refuse_gaps(table.where, grid >= 0, axes)
    known = options.folds if grid.shape[3] == 1 else None
    if grid.shape[3] == 1 and known is None:
        raise InputError(
            f"{table.where}: there is one score per iteration: say of how many folds with folds=10"
        )
    return FoldScores(
        np.append(-scores if options.lower_is_better else scores, np.nan)[grid],
        learners=learners.names,
        tasks=tasks.names,
        folds=known,
        scorer=(f"-{name}" if options.lower_is_better else name.removesuffix(LARGER)).strip(),
    )


def _wide(
    table: Table, columns: dict[str, int], options: FoldOptions
) -> tuple[Axis, FloatArray, IntArray]:
    """Learners, scores and rows of a table with the learners in its columns, row by row."""
    if options.score_column is not None:
        raise InputError(
            f"{table.where}: score_column is for a long table, with a column of learners"
        )
    rest = [j for j in range(len(table.header)) if j not in columns.values()]
    aside = asides(table.header)
    chosen = [j for j in rest if j not in aside]
    counters = find_counters(table, chosen)
    refuse_counters(table, counters, "learner", "iteration_column or fold_column")
    check_names(table.where, {j: table.header[j].strip() for j in chosen}, ", and is no learner")
    if not chosen:
        raise InputError(f"{table.where}: no column has scores; there are {table.listed_columns()}")
    scores = np.column_stack([read_numbers(table, j) for j in chosen])
    codes = np.tile(np.arange(len(chosen)), len(scores))
    learners = Axis("learner", [table.header[j].strip() for j in chosen], codes)
    return learners, scores.ravel(), np.repeat(np.arange(len(scores)), len(chosen))


def _partitions(
    table: Table, k: int | None, named: Mapping[str, Axis], tasks: Axis, learners: Axis
) -> tuple[Axis, Axis]:
    """Iteration and fold of each score; numbered parts of several partitions are split."""
    iterations, folds = named.get("iteration"), named.get("fold")
    if iterations is not None:
        parts = folds or Axis.of_one("fold", "1", iterations.codes.size)
        if folds is not None and k not in (None, len(folds.names)):
            raise InputError(f"{table.where}: there are {len(folds.names)} folds, not folds={k}")
        return iterations.sorted(), parts.sorted()
    if folds is None:
        if k is None:
            raise InputError(
                f"{table.where}: no column names the iterations or the folds; there are "
                f"{table.listed_columns()}: say which with iteration_column or fold_column, or "
                "with folds=10 that rows are the folds of one iteration after another"
            )
        fits = tasks.codes * len(learners.names) + learners.codes
        number = np.array(occurrences(fits.tolist()))
        folds = Axis("fold", [str(i) for i in range(int(number.max()) + 1)], number)
    return split_parts(folds.sorted(), k, table.where)


def split_parts(parts: Axis, folds: int | None, where: str) -> tuple[Axis, Axis]:
    """Iteration and fold of parts that are numbered through; without ``folds`` one iteration."""
    size = len(parts.names)
    k = size if folds is None else folds
    if size % k:
        raise InputError(f"{where}: {size} folds are no whole number of iterations of folds={k}")
    iterations = Axis("iteration", [str(i) for i in range(size // k)], parts.codes // k)
    return iterations, Axis("fold", [str(i) for i in range(k)], parts.codes % k)


def _refuse_gaps(where: str, there: Any, axes: Sequence[Axis]) -> None:
    """Every learner has a row for every partition of its task; later iterations may be missing."""
    counts = there.any(axis=(1, 3)) * np.arange(1, there.shape[2] + 1)
    needed = np.arange(there.shape[2]) < counts.max(axis=1)[:, None]
    gaps = np.argwhere(needed[:, None, :, None] & ~there)
    if gaps.size:
        raise InputError(
            f"{where}: {named_place(axes, gaps[0])} has no row, and others have: all learners are "
            f"needed on the same partitions; {_HINT}"
        )


def fold_scores_of_rounds(table: ScoreTable, folds: int | None, scorer: str) -> FoldScores:
    """Rounds of a score table as folds, of which ``folds`` after each other are an iteration."""
    parts = Axis("fold", list(table.rounds), np.arange(table.n_rounds))
    k = len(split_parts(parts, folds, f"score table {shown(table.tournament)}")[1].names)
    scores = table.oriented.T.reshape(table.n_players, -1, k)
    lower = "-" if table.lower_is_better.any() else ""
    return FoldScores(
        scores, learners=table.players, tasks=[table.tournament], scorer=f"{lower}{scorer}"
    )


def write_fold_scores(runs: FoldScores, path: str | Path) -> None:
    """Write a long table as CSV: learner, task, iteration, fold, and a column of the score's name.

    A missing score is an empty cell; iterations and folds count from 0. Names that a spreadsheet
    would take for a formula get a leading apostrophe, and a score that is called like a loss says
    that larger is better. ``read_fold_scores`` reads the same scores and names.

    Raises
    ------
    InputError
        The file cannot be written.
    """
    single = runs.scores.shape[3] == 1
    tasks, learners = list(map(marked_cell, runs.tasks)), runs.learners
    last = [np.flatnonzero(~np.isnan(of).all(axis=(0, 2))).max() for of in runs.scores]
    rows = (
        [learners[j], tasks[t], i, *([] if single else [fold]), "" if score != score else score]
        for (t, i, j, fold), score in np.ndenumerate(np.swapaxes(runs.scores, 1, 2))
        if i <= last[t]
    )
    folds = [] if single else ["fold"]
    scorer = runs.scorer + LARGER * is_loss(runs.scorer)
    _write_csv(path, ["learner", "task", "iteration", *folds, scorer], rows)


def write_items(data: Outcomes, path: str | Path) -> None:
    """Write answers or numbers as CSV: item, label where there are classes, and each classifier.

    ``read_responses`` and ``read_item_scores`` read it. Clusters are not written.

    Raises
    ------
    InputError
        The file cannot be written; averages over tasks or runs, which a wide table cannot hold.
    """
    if data.is_answers and not data.is_plain:
        raise InputError("a table of answers has no place for tasks or runs of its items")
    labels = data.labels
    classes = [[] for _ in data.items] if labels is None else [[int(label)] for label in labels]
    written = "{:.0f}".format if data.is_answers else repr
    rows = (
        [item, *label, *("" if cell != cell else written(cell) for cell in row)]
        for item, label, row in zip(data.items, classes, data.values.tolist(), strict=True)
    )
    _write_csv(path, ["item", *([] if labels is None else ["label"]), *data.names], rows)


def _write_csv(path: str | Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table whole or not at all; texts that a spreadsheet would run are marked."""
    with whole_file(Path(path)) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        inside = any(sign in name for name in header for sign in ";\t")  # quoted, none separates
        quoting: Any = csv.QUOTE_ALL if inside else csv.QUOTE_MINIMAL
        named = csv.writer(file, lineterminator="\n", quoting=quoting)
        named.writerow(map(marked_cell, header))
        for first, *cells in rows:
            writer.writerow([marked_cell(first), *cells])
