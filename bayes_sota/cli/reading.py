"""Boards and answers of a file, given options as typed."""

from pathlib import Path
from typing import Any

from bayes_sota.cli.options import note, note_unused
from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.data.answers import outcomes_of
from bayes_sota.data.boards import read_leaderboard
from bayes_sota.data.item_values import parse_passes
from bayes_sota.data.known import with_known
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.reading import read_table, read_tidy

METRICS = ("accuracy", "auc", "score", "mean", "rmse")
"""Metrics that no evaluation log calls its own."""
_OF_SCORES = ("standard_error", "n_positive", "n_classifiers")


def read_board(
    file: Path,
    reading: dict[str, Any],
    *,
    n_test: Any = None,
    metric: Any = None,
    average: Any = None,
    new: Any = None,
    **scores: Any,
) -> Leaderboard | Outcomes:
    """Read a file or a folder of logs.

    ``reading`` has arguments of ``read_tidy``, ``scores`` others of ``read_leaderboard``.
    """
    of_log = None if metric in (None, *METRICS) or parse_passes(metric) else metric
    tidy = read_tidy(read_table(file, of_log or reading.get("score")), **reading)
    if tidy.layout == "board":
        note_unused("on a leaderboard", "average", "new")
        return read_leaderboard(tidy, n_test=n_test, metric=metric, **scores)
    if tidy.unit == "task":
        note_unused("on averages over tasks", *_OF_SCORES)
        kind = None if of_log else metric
        return read_leaderboard(tidy, n_test=n_test, metric=kind, average=average, new=new)
    note_unused("on answers", "n_test", *_OF_SCORES)
    return outcomes_of(tidy, metric=metric, average=average, new=new)


def with_anchors(data: Any, known: dict[str, Any], **changed: Any) -> Any:
    """Data with known skills, as typed or from a table that may have more names."""
    given = known | changed
    of_table = {name for name, skill in given["known"].items() if not isinstance(skill, str)}
    absent = of_table.difference(data.names)
    if absent and len(absent) < len(given["known"]):
        note(f"known skills not used, as this board lacks the entries: {listed(sorted(absent))}")
        given["known"] = {k: v for k, v in given["known"].items() if k not in absent}
        given["only"] = [name for name in given["only"] if name not in absent]
    return with_known(data, **given)


def parse_sizes(context: Any, parameter: Any, typed: Any) -> Any:
    """Number of items: infer, one number, one for each task, or by the names of the tasks.

    Examples
    --------
    >>> [parse_sizes(None, None, text) for text in ("100", "100,200", "law:100,art:50")]
    [100, [100, 200], {'law': 100, 'art': 50}]
    """
    if isinstance(typed, tuple):
        return tuple(parse_sizes(context, parameter, text) for text in typed)
    if typed in (None, "infer"):
        return typed
    parts = [part.rpartition(":") for part in typed.split(",")]
    names = [name.strip() for name, colon, _ in parts if colon]
    try:
        sizes = [int(size) for _, _, size in parts]
        if names:
            return dict(zip(names, sizes, strict=True))
    except ValueError:
        wanted = "a whole number or infer; of tasks 100,200 or A:100,B:200"
        raise InputError(f"--n-test takes {wanted}, got {quoted(typed)}") from None
    return sizes if len(sizes) > 1 else sizes[0]
