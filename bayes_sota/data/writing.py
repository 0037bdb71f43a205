"""Tables that are written, so that the readers read the same from them."""

from pathlib import Path

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import write_csv
from bayes_sota.data.outcomes import Outcomes


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
    labels = [] if data.labels is None else ["label"]
    classes = np.array(data.labels, int).reshape(-1, 1) if labels else [()] * data.n_items
    number = int if data.is_answers else float
    rows = (
        [item, *label, *("" if np.isnan(cell) else number(cell) for cell in row)]
        for item, label, row in zip(data.items, classes, data.values, strict=True)
    )
    write_csv(path, ["item", *labels, *data.names], rows)
