"""Per-item outcomes from the files that people have, joined on the item.

Tables of right and wrong answers, of numbers or of predicted classes, and what the tools that
evaluate language models write. The format is recognised by the content. The files are not trusted:
nothing in them is executed, sizes are bounded, and what is no outcome is an error with its place
(``tests/data/test_read_evaluations.py``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted, shown, shown_path
from bayes_sota.data.columns import is_loss
from bayes_sota.data.files.content import Content, read_content
from bayes_sota.data.files.json import json_lines, parse_json, try_json
from bayes_sota.data.files.opening import table_of_content
from bayes_sota.data.files.tables import Table
from bayes_sota.data.formats.item_logs import (
    is_instance,
    is_log,
    is_log_archive,
    parts_of_archive,
    parts_of_instances,
    parts_of_log,
)
from bayes_sota.data.formats.lm_evaluation import is_sample, part_of_samples
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.outcome_tables import OutcomeTables, parts_of_tables
from bayes_sota.data.parts import Choices, Joined, Part, file_names, join_parts
from bayes_sota.data.read_outcomes import responses_of_json
from bayes_sota.data.responses import MISSING, Responses

_ACCEPTED = (
    "a CSV, TSV or Parquet table with one row per item, samples of lm-evaluation-harness "
    "(samples_*.jsonl), logs of inspect_ai (.json, .eval), or HELM's per_instance_stats.json"
)
# Options that a format has a use for; elsewhere they would be ignored in silence.
_TABLE = "table"
_OPTIONS = {
    "lm-evaluation-harness sample file": {"metric"},
    "inspect_ai log": {"metric", "scorer"},
    "HELM per-instance file": {"metric"},
    _TABLE: {"cluster_column", "item_column", "run_separator"},
}
_LM, _INSPECT, _HELM, _ = _OPTIONS
Opened = list[Part] | Table


@dataclass(frozen=True)
class Evaluations:
    """Outcomes of some methods for the same items.

    Attributes
    ----------
    outcomes : Responses or ItemScores
        ``Responses`` where every outcome is right or wrong, else ``ItemScores`` of their mean. A
        column is named "method", or "method@run" where a method has several runs.
    methods : tuple of str
        Method of each column.
    source : str
        What was recognised.
    notes : tuple of str
        What was left out or chosen, for people.
    """

    outcomes: Responses | ItemScores
    methods: tuple[str, ...]
    source: str
    notes: tuple[str, ...]


def read_evaluations(
    *paths: str | Path,
    metric: str | None = None,
    cluster_column: str | None = None,
    item_column: str | None = None,
    run_separator: str | None = None,
    scorer: str | None = None,
    lower_is_better: bool | None = None,
) -> Evaluations:
    """Read which method got which item right, or how well.

    Parameters
    ----------
    *paths : str or Path
        Files of one format, recognised by their content: tables (CSV, TSV, Parquet) with a column
        per method of 0 and 1, of numbers, or of predicted classes beside one called ground_truth;
        samples of lm-evaluation-harness; logs of inspect_ai; per-instance statistics of HELM. Text
        may be gzipped or zipped. Several files are joined on the item.
    metric : str, optional
        Which of several metrics is the outcome, for lm-evaluation-harness (also "metric,filter"),
        HELM and scorers of inspect_ai that give several. Default: the usual one, see ``notes``.
    cluster_column, item_column : str, optional
        Columns of a table with what each item belongs to (a patient), and with its name.
    run_separator : str, optional
        What stands between method and run in the names of columns: with "@", "resnet@1" and
        "resnet@2" are two runs of resnet.
    scorer : str, optional
        Which of several scorers of inspect_ai.
    lower_is_better : bool, optional
        Whether outcomes are errors or losses. Default: if their metric is called so (perplexity).

    Returns
    -------
    Evaluations

    Raises
    ------
    InputError
        A file that is none of these or is broken, by file, line and value; items that repeat or
        do not match; a choice that is missing or has no use here.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "two.csv"
    ...     _ = path.write_text("id,ground_truth,tree,forest\\nx,cat,cat,dog\\ny,dog,cat,dog\\n")
    ...     found = read_evaluations(path)
    >>> found.outcomes
    <Responses 'two': 2 items x 2 classifiers>
    >>> found.methods, found.outcomes.correct.tolist()
    (('tree', 'forest'), [[1, 0], [0, 1]])
    """
    files = [Path(path) for path in paths]
    choices = Choices(metric, cluster_column, item_column, run_separator, scorer)
    if not files:
        raise InputError(f"name at least one file: {_ACCEPTED}")
    names = file_names(files)
    opened: dict[Path, tuple[str, Any]] = {}
    for path in files:
        if path.resolve() in opened:
            raise InputError(f"{shown_path(path)} is named twice")
        opened[path.resolve()] = _opened(path, names[path], choices)
    kind = _only_kind([found for found, _ in opened.values()], files)
    for option, value in vars(choices).items():
        if value is not None and option not in _OPTIONS[kind]:
            raise InputError(f"{option} is not for this format ({kind})")
    contents = [content for _, content in opened.values()]
    source = counted(len(files), kind)
    name = names[files[0]] if len(files) == 1 else source
    if kind == _TABLE:
        tables = parts_of_tables(dict(zip(files, contents, strict=True)), choices)
        source += f", truth in column {shown(tables.truth)}" if tables.truth else ""
    else:
        tables = OutcomeTables([part for content in contents for part in content])
    joined = join_parts(tables.parts)
    losses = sorted({part.metric for part in tables.parts if is_loss(part.metric)})
    lower = bool(losses) if lower_is_better is None else lower_is_better
    outcomes = _outcomes(joined, tables.clusters, kind == _TABLE, name, lower)
    notes = joined.notes
    if losses and lower_is_better is None:
        notes += (f"of {shown(losses[0])} the lowest is the best (lower_is_better)",)
    return Evaluations(outcomes, joined.methods, source, notes)


def _opened(path: Path, name: str, choices: Choices) -> tuple[str, Opened]:
    """Format of a file and what it holds."""
    if is_log_archive(path):
        return _INSPECT, parts_of_archive(path, choices)
    content = read_content(path)
    if content.kind == "json":
        return _opened_json(content, path, name, choices)
    table = replace(table_of_content(content), stem=name)
    if len(table.header) < 2:
        raise InputError(f"{content.where}: is none of the formats that are read: {_ACCEPTED}")
    return _TABLE, table


def _opened_json(content: Content, path: Path, name: str, choices: Choices) -> tuple[str, Opened]:
    where, text = content.where, content.text()
    if not text.strip():
        raise InputError(f"{where}: the file is empty")
    first, _, rest = text.lstrip().partition("\n")
    value = try_json(first)
    if is_sample(value):
        return _LM, [part_of_samples(json_lines(text, where), path, name, choices)]
    if value is None:
        value = parse_json(text, where)
    elif rest.strip():
        raise _unrecognised(value, where)
    if is_log(value):
        return _INSPECT, parts_of_log(value, path, choices)
    if isinstance(value, dict) and {"names", "correct"} <= set(value):
        return _TABLE, _matrix(value, where, name)
    if isinstance(value, list) and value and is_instance(value[0]):
        return _HELM, parts_of_instances(value, path, name, choices)
    if isinstance(value, list) and value and is_sample(value[0]):
        samples = ((f"{where}, entry {number}", entry) for number, entry in enumerate(value, 1))
        return _LM, [part_of_samples(samples, path, name, choices)]
    raise _unrecognised(value, where)


def _unrecognised(value: object, where: str) -> InputError:
    first = value[0] if isinstance(value, list) and value else value
    keys = set(first) if isinstance(first, dict) else set()
    if {"results", "versions"} <= keys or {"results", "configs"} <= keys:
        return InputError(
            f"{where}: has the results of lm-evaluation-harness, not the outcome of each item; "
            "that is in samples_*.jsonl (--log_samples)"
        )
    if isinstance(value, list) and {"name", "mean"} <= keys:
        return InputError(
            f"{where}: has the statistics of HELM over all instances; those of each are in "
            "per_instance_stats.json"
        )
    return InputError(f"{where}: is none of the formats that are read: {_ACCEPTED}")


def _matrix(value: dict[str, Any], where: str, name: str) -> Table:
    """Table of a response matrix in JSON."""
    responses = responses_of_json(value, where, name)
    answers = responses.correct.T.tolist()
    columns = [[None if a == MISSING else a for a in column] for column in answers]
    header, cells = ["item", *responses.names], [responses.items, *columns]
    if responses.clusters is not None:
        header.append("clusters")
        cells.append(responses.clusters)
    places = [f"row {number}" for number in range(1, responses.n_items + 1)]
    return Table(tuple(header), tuple(cells), places, where, name)


def _only_kind(kinds: Sequence[str], files: Sequence[Path]) -> str:
    for path, other in zip(files, kinds, strict=True):
        if other != kinds[0]:
            raise InputError(
                f"files of one format can be joined; these are of two: {shown_path(files[0])} "
                f"({kinds[0]}) and {shown_path(path)} ({other})"
            )
    return kinds[0]


def _outcomes(
    joined: Joined,
    clusters: Mapping[str, str] | None,
    is_table: bool,
    name: str,
    lower_is_better: bool,
) -> Responses | ItemScores:
    """Right and wrong answers where there is nothing else, else numbers."""
    values = joined.values
    if is_table and np.isin(values[~np.isnan(values)], (MISSING, 0, 1)).all():
        values = np.where(values == MISSING, np.nan, values)
    labels: dict[str, Any] = {
        "names": joined.names,
        "items": joined.items,
        "clusters": None if clusters is None else _clusters(clusters, joined.items),
        "name": name,
    }
    missing = np.isnan(values)
    if np.isin(values[~missing], (0, 1)).all():
        if lower_is_better:
            raise InputError(
                "lower_is_better is for numbers, but every outcome is 0 or 1: write 1 for right "
                "and 0 for wrong"
            )
        return Responses(values, **labels)
    if missing.any():
        row, column = np.argwhere(missing)[0]
        raise InputError(
            f"{shown(joined.names[column])} has no number for item {shown(joined.items[row])}; "
            "write what a failure counts, or take the item out"
        )
    return ItemScores(values, metric="mean", lower_is_better=lower_is_better, **labels)


def _clusters(clusters: Mapping[str, str], items: Sequence[str]) -> list[str]:
    lacking = [item for item in items if item not in clusters]
    if lacking:
        raise InputError(
            f"no cluster (cluster_column) for {counted(len(lacking), 'item')}, the first is "
            f"{shown(lacking[0])}"
        )
    return [clusters[item] for item in items]
