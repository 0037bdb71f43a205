"""Tables that are written, so that the readers read the same from them."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import whole_file
from bayes_sota.core.text import marked_cell
from bayes_sota.data.fold_scores import FoldScores
from bayes_sota.data.outcomes import Outcomes


def write_fold_scores(runs: FoldScores, path: str | Path) -> None:
    """Write a long table as CSV: learner, task, iteration, fold, and a column of the score's name.

    A missing score is an empty cell; iterations and folds count from 0. Names that a spreadsheet
    would take for a formula get a leading apostrophe. ``read_fold_scores`` reads the same.

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
    _write_csv(path, ["learner", "task", "iteration", *folds, runs.scorer], rows)


def write_items(data: Outcomes, path: str | Path) -> None:
    """Write answers or numbers as CSV: item, label where there are classes, and each classifier.

    ``read_outcomes`` reads it. Clusters are not written.

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
