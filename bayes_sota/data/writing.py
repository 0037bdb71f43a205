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
    labels = [] if data.labels is None else [data.labels.astype(int).tolist()]
    number = int if data.is_answers else float
    columns = [["" if np.isnan(x) else number(x) for x in column] for column in data.values.T]
    rows = zip(data.items, *labels, *columns, strict=True)
    write_csv(path, ["item", *["label"] * len(labels), *data.names], rows)
