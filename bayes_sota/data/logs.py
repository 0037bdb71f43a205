"""Logs of evaluation tools become tables whose columns have the usual names.

lm-evaluation-harness writes samples (a line per document, or per document and filter) and results
(scores per task); inspect_ai a JSON file, or an archive ``.eval`` with a file per sample; Every
Eval Ever a line per sample of any model and task. A row is a model, task, item and run with its
scores by metric, of which ``choose_metric`` keeps one; what else a log says of an item stands in
columns ``doc.KEY`` or ``metadata.KEY`` (``tests/data/test_logs.py``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import AmbiguousMetricError, InputError, listed, located, quoted
from bayes_sota.data.formats import decoded, is_number, load_json, record_places, table_of_records
from bayes_sota.data.tables import Table
from bayes_sota.data.words import is_loss

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\d(T\d\d[-:]\d\d[-:]\d\d(\.\d+)?)?)\.jsonl?(\.gz|\.zip)?"
)
_SEPARATOR = re.compile("[,.]")  # of a metric and its filter, of a scorer and its number
_PATTERNS = ("samples_*.jsonl*", "*_samples.jsonl*", "*.eval"), ("*.json", "*.json.gz")
_ABOUT_SAMPLES = frozenset(("doc_hash", "resps", "doc", "filter"))
_NO_METRICS = frozenset(("doc_id", "target", "arguments", "filtered_resps", "metrics"))
_NO_METRICS |= _ABOUT_SAMPLES | {"prompt_hash", "target_hash"}
_USUAL = ("acc", "exact_match", "acc_norm", "quasi_exact_match", "accuracy", "score")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_RECORD = frozenset(("model_id", "evaluation_name", "sample_id", "evaluation"))
_RESULTS = "lm-evaluation-harness results"
MARKS = frozenset(("header.json", "_journal/start.json"))  # of an archive of inspect_ai
_LONGEST = 200  # characters of what names a task or a cluster

type Row = dict[str, Any]  # by column; "line" says where it stands, "score" is by metric
type Placed = Iterable[tuple[str, Any]]  # where a sample stands, and what is there


def files_in(folder: Path) -> list[Path]:
    """Logs in a folder and the folders in it; samples say more than other JSON beside them."""
    for patterns in _PATTERNS:
        if found := {path for pattern in patterns for path in folder.rglob(pattern)}:
            return sorted(found)
    fix = "name a file, or a folder with logs of lm-evaluation-harness, inspect_ai, Every Eval Ever"
    raise InputError("is a folder without logs", where=str(folder), fix=fix)


def table_of_log(value: Any, places: Sequence[str], path: Path, name: str) -> Table | None:
    """Table of parsed JSON that a tool wrote; None where it is something else.

    Parameters
    ----------
    value : parsed JSON
    places : sequence of str
        Lines of JSON lines, else empty.
    path : Path
    name : str
        What the model is called where nothing else says it.
    """
    about = value if isinstance(value, dict) else {}
    samples = value if isinstance(value, list) else [value]
    if are_of_inspect := "version" in about and isinstance(about.get("eval"), dict):
        samples = about["samples"] if isinstance(about.get("samples"), list) else []
    placed = list(zip(places or record_places(samples), samples, strict=True))
    keys = samples[0].keys() if samples and isinstance(samples[0], dict) else set()
    are_samples = keys & _ABOUT_SAMPLES or path.name.startswith("samples_")
    results = _object(about, "results")
    with located(str(path)):
        if are_of_inspect:
            origin, rows = "inspect_ai", _rows_of_inspect(about, placed)
        elif "doc_id" in keys and "model" not in keys and are_samples:
            origin, rows = "lm-evaluation-harness", _rows_of_samples(placed, path, name)
        elif keys >= _RECORD:
            origin, rows = "Every Eval Ever", _rows_of_records(placed)
        elif any("," in key for task in results for key in _object(results, task)):
            origin, rows = _RESULTS, _rows_of_results(about, name)
        else:
            return None
    lines = [row.pop("line") for row in rows]
    table = table_of_records(rows, lines, str(path), path.stem)
    notes = table.notes
    if are_of_inspect and about.get("status", "success") != "success":
        notes += (f"the evaluation ended with status {quoted(about['status'])}",)
    return replace(table, origin=origin, notes=notes)


def parse_archive(members: Mapping[str, bytes], where: str) -> tuple[Any, list[str]]:
    """Log in an archive of inspect_ai as one value, and the members that its samples are."""
    if "header.json" not in members:
        raise InputError("the evaluation is not finished (no header.json)", where=where)
    places = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
    header, *samples = (
        load_json(decoded(members[name], f"{where}, {name}"), where, name)
        for name in ("header.json", *places)
    )
    with located(where):
        _check_keys(header, ["eval"], "header.json")
    return header | {"samples": samples}, places


def _check_keys(record: Any, keys: Iterable[str], place: str) -> None:
    lacking = [key for key in keys if not isinstance(record, dict) or record.get(key) is None]
    if lacking:
        raise InputError(f"needs {listed(lacking)}", line=place)


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = value.get(key)
    return held if isinstance(held, Mapping) else {}


def _keys(sample: Mapping[str, Any], key: str) -> Row:
    """What a log says of an item, as far as it may name a task or a cluster."""
    return {
        f"{key}.{name}": cell
        for name, cell in _object(sample, key).items()
        if isinstance(cell, str | int) and len(str(cell)) <= _LONGEST
    }


def _rows_of_samples(samples: Placed, path: Path, name: str) -> list[Row]:
    """Row per document, with its scores after every filter."""
    about: Row = {"model": name, "run": "1"}
    if match := _SAMPLES.fullmatch(path.name):
        about = {"model": path.resolve().parent.name, "task": match["task"], "run": match["time"]}
    names: list[str] = []
    rows: dict[Any, Row] = {}
    for place, sample in samples:
        _check_keys(sample, ["doc_id"], place)
        names = names or _metrics(sample)
        scores = {_filtered(one, sample.get("filter", "none")): sample.get(one) for one in names}
        row = about | {"line": place, "item": str(sample["doc_id"]), "score": {}}
        row |= _keys(sample, "doc") | {"doc_hash": sample.get("doc_hash")}
        held = rows.setdefault(row["item"], row)["score"]
        if held.keys() & scores:
            raise InputError(f"item {quoted(row['item'])} repeats", line=place)
        held |= scores
    return list(rows.values())


def _metrics(sample: Mapping[str, Any]) -> list[str]:
    """Names of the metrics of a sample: as listed, else the keys that hold numbers."""
    named = sample.get("metrics")
    if isinstance(named, list):
        return [key for key in sample if key in named]
    return [key for key in sample if key not in _NO_METRICS and is_number(sample[key])]


def _filtered(metric: str, which: str) -> str:
    return metric if which == "none" else f"{metric},{which}"


def _rows_of_results(log: Mapping[str, Any], name: str) -> list[Row]:
    """Row per task, with the error and the direction of each score, and the number of items."""
    results, members = _object(log, "results"), _object(log, "group_subtasks")
    groups = {*_object(log, "groups"), *(group for group, tasks in members.items() if tasks)}
    model = log.get("model_name") or _object(log, "config").get("model") or name
    rows = []
    for task in (task for task in results if task not in groups):
        part, higher = _object(results, task), _object(_object(log, "higher_is_better"), task)
        row: Row = {"line": f"task {quoted(task)}", "model": model, "task": task}
        row |= {"n": _object(_object(log, "n-samples"), task).get("effective")}
        row |= {"score": {}, "stderr": {}, "higher_is_better": {}}
        for key, number in part.items():
            word, comma, which = key.partition(",")
            if comma and not word.endswith("_stderr") and is_number(number):
                metric = _filtered(word, which)
                row["score"][metric] = number
                row["stderr"][metric] = part.get(f"{word}_stderr,{which}")
                row["higher_is_better"][metric] = higher.get(word, not is_loss(word))
        rows.append(row)
    return [row for row in rows if row["score"]]


def _rows_of_inspect(log: Mapping[str, Any], samples: Placed) -> list[Row]:
    """Row per sample and epoch, with its score by each scorer, or by each number of a scorer."""
    about = log["eval"]
    _check_keys(about, ["model"], "eval")
    started = about.get("created") or about.get("run_id") or ""
    rows = []
    for place, sample in samples:
        _check_keys(sample, ["id"], place)
        scores: Row = {}
        for scorer, score in _object(sample, "scores").items():
            _check_keys(score, ["value"], place)
            value = score["value"]
            for name, cell in (value if isinstance(value, dict) else {"": value}).items():
                known = _GRADES.get(cell, cell) if isinstance(cell, str) else cell
                scores[f"{scorer}.{name}" if name else scorer] = known
        row = {"line": place, "model": about["model"], "task": about.get("task")}
        row |= {"item": sample["id"], "run": f"{started} epoch {sample.get('epoch', 1)}"}
        rows.append(row | _keys(sample, "metadata") | {"score": scores})
    return rows


def _rows_of_records(records: Placed) -> list[Row]:
    """Row per record: of a sample in an evaluation there is one."""
    rows = []
    for place, record in records:
        _check_keys(record, _RECORD, place)
        _check_keys(record["evaluation"], ["score"], place)
        about = _object(record, "metadata")
        row = {"line": place, "model": record["model_id"], "task": record["evaluation_name"]}
        row |= {"item": record["sample_id"], "doc_hash": about.get("doc_hash")}
        row["run"] = f"{record.get('evaluation_id', '')} epoch {about.get('epoch', 1)}"
        score = {"score": record["evaluation"]["score"]}
        rows.append(row | _keys(record, "metadata") | {"score": score})
    return rows


def choose_metric(table: Table, metric: str | None) -> Table:
    """Table of logs with one score in each row, by one metric of its task.

    It is the metric that was asked for, by its name or a part of it ("exact_match,strict" or
    "exact_match", "judge.f1" or "f1"); in tasks without it the usual one, or the only one; of
    results, the first.

    Raises
    ------
    InputError
        No task has the metric; different documents have one number.
    AmbiguousMetricError
    """
    metric = (metric or "").removesuffix(",none")
    columns = dict(table.columns)
    tasks = list(map(str, columns.get("task", [None] * len(table))))
    _check_documents(table, tasks)
    names: dict[Any, dict[str, None]] = {task: {} for task in tasks}
    for task, scores in zip(tasks, columns["score"], strict=True):
        names[task].update(dict.fromkeys(scores))
    every = dict.fromkeys(name for of in names.values() for name in of)
    if not any(_is_called(name, metric) for name in every):
        problem = f"there is no metric {quoted(metric)}; there are {listed(every)}"
        fix = "choose one with {option}"
        raise InputError(problem, where=table.where, parameter="metric", fix=fix)
    chosen = {task: _choose(list(of), metric, table) if of else None for task, of in names.items()}
    columns["metric"] = [chosen[task] for task in tasks]
    for column in {"score", "stderr", "higher_is_better"} & columns.keys():
        pairs = zip(tasks, columns[column], strict=True)
        columns[column] = [of.get(chosen[task]) for task, of in pairs]
    notes = dict.fromkeys(table.notes)
    for task, used in chosen.items():
        if not metric and len(names[task]) > 1:
            others = [name for name in names[task] if name != used]
            notes[f"scores are {quoted(used)}; there are also {listed(others)}"] = None
    columns = {name: cells for name, cells in columns.items() if any(c is not None for c in cells)}
    columns.pop("doc_hash", None)
    return replace(table, columns=columns, notes=tuple(notes))


def _is_called(name: str, metric: str) -> bool:
    return metric in ("", name, *_SEPARATOR.split(name, 1))


def _choose(names: list[str], metric: str, table: Table) -> str:
    """Name of one metric: the usual one of those that are called so."""
    found = [name for name in names if name == metric]
    found = found or [name for name in names if _is_called(name, metric)] or names
    for word in _USUAL:
        if usual := [name for name in found if name.partition(",")[0] == word]:
            found = usual
            break
    if len(found) > 1 and table.origin != _RESULTS:
        raise AmbiguousMetricError(f"has the metrics {listed(found)}", found, table.where)
    return found[0]


def _check_documents(table: Table, tasks: Sequence[Any]) -> None:
    """Raise ``InputError`` where two documents of one task have the same number."""
    first: dict[Any, Any] = {}
    columns = [table.columns.get(name, ()) for name in ("item", "doc_hash")]
    for task, item, found, line in zip(tasks, *columns, table.lines, strict=False):
        if found is not None and first.setdefault((task, str(item)), found) != found:
            problem = f"item {quoted(item)} is another document than in a row before"
            raise InputError(problem, where=table.where, line=line, column="doc_hash")
