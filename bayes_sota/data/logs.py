"""Logs of evaluation tools become tables whose columns have the usual names.

lm-evaluation-harness writes samples (a line per document) and results (scores per task);
inspect_ai writes a JSON file, or an archive ``.eval``.
"""

import json
import re
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.data.tables import Table, make_table
from bayes_sota.data.unpacking import MOST_BYTES

_SAMPLES = re.compile(r"samples_(?P<task>.+)_\d{4}-\d\d-\d\dT.*")
_TEXT = frozenset(("doc", "target", "arguments", "resps", "filtered_resps", "metrics"))
_PREFERRED = ("acc", "exact_match", "acc_norm")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}


def table_of_log(value: Any, path: Path) -> Table | None:
    """Table of parsed JSON that a tool wrote; None where it is something else."""
    if isinstance(value, list) and value and _is_sample(value[0]):
        return _table_of_samples(value, path)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("eval"), dict) and "version" in value:
        return _table_of_inspect(value, path)
    results = value.get("results", value)
    if isinstance(results, dict) and _are_results(results):
        return _table_of_results(value, results, path)
    return None


def read_archive(path: Path) -> Table | None:
    """Table of an archive of inspect_ai; None where the file is something else."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        members = [
            member
            for member in archive.infolist()
            if member.filename.startswith("samples/") and member.filename.endswith(".json")
        ]
        if "header.json" not in archive.namelist():
            return None
        if sum(member.file_size for member in members) > MOST_BYTES:
            raise InputError(f"holds more than {MOST_BYTES:,} bytes", where=str(path))
        header = json.loads(archive.read("header.json"))
        samples = [json.loads(archive.read(member)) for member in members]
    return _table_of_inspect({**header, "samples": samples}, path)


def _is_sample(value: Any) -> bool:
    return isinstance(value, dict) and "doc_id" in value and "doc_hash" in value


def _table_of_samples(samples: list[dict[str, Any]], path: Path) -> Table:
    """Row per document, with a column per metric; metrics of a second filter say its name."""
    match = _SAMPLES.fullmatch(path.name)
    model = path.resolve().parent.name if match else path.stem
    task = match["task"] if match else path.stem
    rows: dict[Any, dict[str, Any]] = {}
    first = samples[0].get("filter")
    for sample in samples:
        row = rows.setdefault(sample["doc_id"], {"model": model, "task": task})
        row["item"] = sample["doc_id"]
        suffix = "" if sample.get("filter") == first else f",{sample['filter']}"
        for name, cell in sample.items():
            if (
                name not in _TEXT
                and not name.endswith("_hash")
                and name not in ("doc_id", "filter")
            ):
                row[name + suffix] = cell
    return _table_of_rows(rows.values(), "document", path)


def _are_results(results: Mapping[str, Any]) -> bool:
    parts = [part for part in results.values() if isinstance(part, dict)]
    keys = {name for part in parts for name in part}
    return len(parts) == len(results) > 0 and any("," in name for name in keys) and "alias" in keys


def _table_of_results(value: dict[str, Any], results: Mapping[str, Any], path: Path) -> Table:
    """Row per task with the usual metric, its standard error and the number of items."""
    groups = {group for group, tasks in value.get("group_subtasks", {}).items() if tasks}
    groups |= {name for name in results if any(other.startswith(f"{name}_") for other in results)}
    model = value.get("model_name") or value.get("config", {}).get("model") or path.stem
    rows = []
    for task, part in results.items():
        metrics = [name for name in part if "," in name and "_stderr," not in name]
        if task in groups or not metrics:
            continue
        usual = [name for word in _PREFERRED for name in metrics if name.startswith(f"{word},")]
        metric = (usual or metrics)[0]
        word, _, chosen = metric.partition(",")
        row = {"model": model, "task": task, "metric": word, "score": part[metric]}
        row["stderr"] = part.get(f"{word}_stderr,{chosen}")
        row["n"] = value.get("n-samples", {}).get(task, {}).get("effective")
        better = value.get("higher_is_better", {}).get(task, {}).get(word)
        if better is not None:
            row["higher_is_better"] = better
        row |= {name.removesuffix(",none"): part[name] for name in metrics}
        rows.append(row)
    return _table_of_rows(rows, "task", path)


def _table_of_inspect(log: Mapping[str, Any], path: Path) -> Table:
    """Row per sample and epoch, with a column per scorer."""
    about = log["eval"]
    rows = []
    for sample in log.get("samples") or []:
        row = {"model": about["model"], "task": about["task"], "item": sample["id"]}
        row["epoch"] = sample.get("epoch", 1)
        for scorer, score in (sample.get("scores") or {}).items():
            cell = score["value"]
            row[scorer] = _GRADES.get(cell, cell) if isinstance(cell, str) else cell
        rows.append(row)
    table = _table_of_rows(rows, "sample", path)
    scorers = [name for name in table.columns if name not in ("model", "task", "item", "epoch")]
    if len(scorers) != 1:
        return table
    columns = {"score" if name in scorers else name: c for name, c in table.columns.items()}
    return make_table(columns, columns.values(), table.lines, table.where, table.name)


def _table_of_rows(rows: Iterable[dict[str, Any]], what: str, path: Path) -> Table:
    every = list(rows)
    header = list(dict.fromkeys(name for row in every for name in row))
    columns = [[row.get(name) for row in every] for name in header]
    lines = [f"{what} {number}" for number in range(1, len(every) + 1)]
    return make_table(header, columns, lines, str(path), path.stem)
