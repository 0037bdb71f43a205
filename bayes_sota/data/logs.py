"""Logs of evaluation tools become tables whose columns have the usual names.

lm-evaluation-harness writes samples (a line per document, or per document and filter) and results
(scores per task); inspect_ai a JSON file, or an archive ``.eval`` with a file per sample; Every
Eval Ever a line per sample of any model and task. A row is a model, task, item and run with
its score; what else a log says of an item stands in columns ``doc.KEY`` or ``metadata.KEY``
(``tests/data/test_logs.py``).
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import AmbiguousMetricError, InputError, listed, quoted
from bayes_sota.data.formats import load_json
from bayes_sota.data.tables import Table, make_table, parse_cell
from bayes_sota.data.words import is_loss

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\d(T\d\d[-:]\d\d[-:]\d\d(\.\d+)?)?)\.jsonl?(\.gz|\.zip)?"
)
_SEPARATOR = re.compile("[,.]")  # of a metric and its filter, of a scorer and its number
_PATTERNS = ("samples_*.jsonl*", "*_samples.jsonl*", "*.eval")
_ABOUT_SAMPLES = frozenset(("doc_hash", "resps", "doc", "filter"))
_NO_METRICS = frozenset(("doc_id", "target", "arguments", "filtered_resps", "metrics"))
_NO_METRICS |= _ABOUT_SAMPLES | {"prompt_hash", "target_hash"}
_USUAL = ("acc", "exact_match", "acc_norm", "quasi_exact_match", "accuracy")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_RECORD = frozenset(("model_id", "evaluation_name", "sample_id", "evaluation"))
MARKS = frozenset(("header.json", "_journal/start.json"))  # of an archive of inspect_ai
MEMBER = r"samples/[^/]+\.json|header\.json"
_LONGEST = 200  # characters of what names a task or a cluster

type Row = dict[str, Any]  # by column; "line" says where it stands, "score" is by metric at first
type Placed = Iterable[tuple[str, Any]]  # where a sample stands, and what is there


class UnknownMetricError(InputError):
    """A log that has no metric of the name asked for."""


def files_in(folder: Path) -> list[Path]:
    """Logs in a folder and the folders in it; samples say more than other JSON beside them.

    Raises
    ------
    InputError
        There are none, or of several tools.
    """
    found = [sorted(folder.rglob(pattern)) for pattern in _PATTERNS]
    there = [files for files in found if files]
    there = there or [sorted([*folder.rglob("*.json"), *folder.rglob("*.json.gz")])]
    if len(there) > 1:
        names = listed(files[0].name for files in there)
        raise InputError(f"holds logs of several tools ({names})", where=str(folder))
    if not there[0]:
        raise InputError(
            "is a folder without logs",
            where=str(folder),
            fix="name a file, or a folder with logs of lm-evaluation-harness (samples_*.jsonl, "
            "results_*.json), inspect_ai (.eval, .json) or Every Eval Ever (*_samples.jsonl)",
        )
    return there[0]


def table_of_log(
    value: Any, places: Sequence[str], path: Path, name: str, metric: str | None
) -> Table | None:
    """Table of parsed JSON that a tool wrote; None where it is something else.

    Parameters
    ----------
    value : parsed JSON
    places : sequence of str
        Lines of JSON lines, else empty.
    path : Path
    name : str
        What the model is called where nothing else says it.
    metric : str, optional
        Which of several metrics is the score. Default: the usual one.
    """
    samples = value if isinstance(value, list) else [value]
    placed = list(zip(places or _numbered("record", samples), samples, strict=True))
    keys = samples[0].keys() if samples and isinstance(samples[0], dict) else set()
    are_samples = keys & _ABOUT_SAMPLES or path.name.startswith("samples_")
    if "doc_id" in keys and "model" not in keys and are_samples:
        return _table_of_samples(placed, path, name, metric)
    if keys >= _RECORD:
        return _table_of_records(placed, path, metric)
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("eval"), dict) and "version" in value:
        samples = value["samples"] if isinstance(value.get("samples"), list) else []
        placed = list(zip(_numbered("sample", samples), samples, strict=True))
        return _table_of_inspect(value, placed, path, metric)
    return _table_of_results(value, path, name, metric) if _are_results(value) else None


def table_of_archive(members: Mapping[str, str], path: Path, metric: str | None) -> Table:
    """Table of the samples and the header in an archive of inspect_ai."""
    found = {name: load_json(text, str(path), name) for name, text in members.items()}
    if "header.json" not in found:
        raise InputError("the evaluation is not finished (no header.json)", where=str(path))
    return _table_of_inspect(found.pop("header.json"), found.items(), path, metric)


def _numbered(word: str, of: Collection[Any]) -> list[str]:
    return [f"{word} {number}" for number in range(1, len(of) + 1)]


def _table_of_samples(samples: Placed, path: Path, name: str, metric: str | None) -> Table:
    """Row per document, with its score after one filter, or after any if they agree."""
    match = _SAMPLES.fullmatch(path.name)
    about: Row = {"model": name, "run": "1"}
    if match:
        about = {"model": path.resolve().parent.name, "task": match["task"], "run": match["time"]}
    names: list[str] = []
    rows: dict[str, Row] = {}
    for place, sample in samples:
        _check_keys(sample, ["doc_id"], path, place)
        names = names or _metrics(sample)
        which = sample.get("filter", "none")
        scores = {_of_filter(one, str(which)): sample.get(one) for one in names}
        item = str(sample["doc_id"]).strip().removesuffix(".0")
        row = about | {"line": place, "item": item, "score": {}} | _keys(sample, "doc")
        row = rows.setdefault(item, row | {"doc_hash": sample.get("doc_hash")})
        if row["score"].keys() & scores:
            raise InputError(f"doc_id {quoted(item)} repeats", where=str(path), line=place)
        row["score"] |= scores
    notes = _choose(rows.values(), (metric or "").removesuffix(",none"), path)
    return _table(rows.values(), path, "lm-evaluation-harness", notes)


def _check_keys(sample: Any, keys: Iterable[str], path: Path, place: str) -> None:
    lacking = [key for key in keys if not isinstance(sample, dict) or sample.get(key) is None]
    if lacking:
        raise InputError(f"a sample needs {listed(lacking)}", where=str(path), line=place)


def _metrics(sample: Mapping[str, Any]) -> list[str]:
    """Names of the metrics of a sample: as listed, else the keys that hold numbers."""
    named = sample.get("metrics")
    if isinstance(named, list):
        return [name for name in named if isinstance(name, str) and name in sample]
    return [key for key in sample if key not in _NO_METRICS and _is_number(sample[key])]


def _is_number(cell: Any) -> bool:
    return not isinstance(cell, list | dict | None) and parse_cell(cell) is not None


def _of_filter(metric: str, which: str) -> str:
    return metric if which == "none" else f"{metric},{which}"


def _stem(name: str) -> str:
    return name.partition(",")[0]


def _choose(rows: Iterable[Row], metric: str | None, path: Path) -> list[str]:
    """Give each row its score by one metric, and say in a note which others there are.

    It is the metric that was asked for, by its name or a part of it ("exact_match,strict" or
    "exact_match", "judge.f1" or "f1"); else the usual one, or the only one. Filters of a metric
    need not be told apart where they agree.

    Raises
    ------
    UnknownMetricError, AmbiguousMetricError
    """
    where, every = str(path), list(rows)
    names = list(dict.fromkeys(name for row in every for name in row["score"]))
    if not names:
        raise InputError("has no metric", where=where)
    found = [name for name in names if metric in (None, "", name)]
    for part in (-1, 0):
        found = found or [name for name in names if _SEPARATOR.split(name, 1)[part] == metric]
    if not found:
        raise _unknown(metric, names, path)
    stems = list(dict.fromkeys(map(_stem, found)))
    usual = [name for name in _USUAL if name in stems]
    if len(stems) > 1 and not usual:
        raise AmbiguousMetricError(f"has the metrics {listed(found)}", found, where)
    used = (usual or stems)[0]
    found = [name for name in found if _stem(name) == used]
    for row in every:
        scores = row.pop("score")
        if len({str(scores.get(name)) for name in found}) > 1:
            problem = f"{listed(found)} disagree, first at item {quoted(row['item'])}"
            raise AmbiguousMetricError(problem, found, where)
        row["metric"] = metric if metric in names else used
        if found[0] in scores:
            row["score"] = scores[found[0]]
    others = [name for name in names if _stem(name) != used]
    note = f"scores are {quoted(used)}; there are also {listed(others)}"
    return [note] if others and not metric else []


def _unknown(metric: str | None, names: Iterable[str], path: Path) -> UnknownMetricError:
    problem = f"there is no metric {quoted(metric)}; there are {listed(names)}"
    fix = "choose one with {option}"
    return UnknownMetricError(problem, where=str(path), parameter="metric", fix=fix)


def _keys(sample: Mapping[str, Any], key: str) -> Row:
    """What a log says of an item, as far as it may name a task or a cluster."""
    return {
        f"{key}.{name}": cell
        for name, cell in _object(sample, key).items()
        if isinstance(cell, str | int) and len(str(cell)) <= _LONGEST
    }


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = value.get(key)
    return held if isinstance(held, Mapping) else {}


def _are_results(value: Mapping[str, Any]) -> bool:
    """Whether a JSON value holds scores per task, or is their section only."""
    parts = value.get("results", value)
    parts = list(parts.values()) if isinstance(parts, dict) else []
    keys = {name for part in parts if isinstance(part, dict) for name in part}
    known = "results" in value or "alias" in keys
    return known and all(isinstance(x, dict) for x in parts) and any("," in key for key in keys)


def _table_of_results(value: Mapping[str, Any], path: Path, name: str, metric: str | None) -> Table:
    """Row per task with one metric, its standard error and the number of items."""
    results = value.get("results", value)
    groups = _groups(value, results)
    model = value.get("model_name") or _object(value, "config").get("model") or name
    higher, sizes = _object(value, "higher_is_better"), _object(value, "n-samples")
    rows: list[Row] = []
    held, is_there = dict[str, None](), not metric
    for task, part in results.items():
        keys = [key for key in part if "," in key and "_stderr," not in key]
        keys = [key for key in keys if _is_number(part[key]) and part[key] != "N/A"]
        if task in groups or not keys:
            continue
        held |= dict.fromkeys(keys)
        asked = [key for key in keys if metric in (key, _stem(key))]
        usual = [key for word in _USUAL for key in keys if _stem(key) == word]
        is_there |= bool(asked)
        word, _, which = (asked or usual or keys)[0].partition(",")
        row = {"line": f"task {quoted(task)}", "model": model, "task": task}
        row |= {"metric": _of_filter(word, which), "score": part[f"{word},{which}"]}
        row |= {"stderr": part.get(f"{word}_stderr,{which}")}
        row |= {"n": _object(sizes, task).get("effective")}
        rows.append(row | {"higher_is_better": _object(higher, task).get(word, not is_loss(word))})
    if not is_there:
        raise _unknown(metric, held, path)
    return _table(rows, path, "lm-evaluation-harness results")


def _groups(value: Mapping[str, Any], results: Mapping[str, Any]) -> set[str]:
    """Tasks whose members are there as well: as listed, else as their aliases are indented."""
    members = value.get("group_subtasks")
    if isinstance(members, dict):
        lists = {group: tasks for group, tasks in members.items() if isinstance(tasks, list)}
        return {group for group, tasks in lists.items() if set(map(str, tasks)) & results.keys()}
    aliases = [str(part.get("alias", "")) for part in results.values()]
    depths = [len(alias) - len(alias.lstrip(" -")) for alias in aliases]
    pairs = zip(results, depths, [*depths[1:], 0], strict=True)
    return {task for task, depth, after in pairs if after > depth}


def _table_of_inspect(log: Any, samples: Placed, path: Path, metric: str | None) -> Table:
    """Row per sample and epoch, with its score by one scorer, nothing where it has none."""
    about = _object(log, "eval") if isinstance(log, dict) else {}
    if not about.get("model"):
        raise InputError("has no eval with a model", where=str(path))
    started = about.get("created") or about.get("run_id") or ""
    rows: list[Row] = []
    for place, sample in samples:
        _check_keys(sample, ["id"], path, place)
        row = {"line": place, "model": about["model"], "task": about.get("task")}
        row |= {"item": sample["id"], "run": f"{started} epoch {sample.get('epoch', 1)}"}
        rows.append(row | _keys(sample, "metadata") | {"score": _values(sample, path, place)})
    if not rows:
        raise InputError("the log has no samples", where=str(path))
    notes = _choose(rows, metric, path)
    status = log.get("status") or "success"
    notes += [f"the evaluation ended with status {quoted(status)}"] * (status != "success")
    return _table(rows, path, "inspect_ai", notes)


def _values(sample: Mapping[str, Any], path: Path, place: str) -> Row:
    """Score by each scorer, or by each number of a scorer."""
    values: Row = {}
    for scorer, score in _object(sample, "scores").items():
        if not isinstance(score, dict) or "value" not in score:
            problem = f"scorer {quoted(scorer)} has no value"
            raise InputError(problem, where=str(path), line=place)
        value = score["value"]
        parts = value if isinstance(value, dict) else {"": value}
        for name, cell in parts.items():
            known = _GRADES.get(cell, cell) if isinstance(cell, str) else cell
            values[f"{scorer}.{name}" if name else scorer] = known
    return values


def _table_of_records(records: Placed, path: Path, metric: str | None) -> Table:
    """Row per record of Every Eval Ever; those that repeat a sample are its metrics, or runs."""
    key = "is_correct" if metric == "is_correct" else "score"
    asked = None if metric in (None, "score", key) else metric.partition(":")[0]
    rows: list[Row] = []
    metrics: dict[tuple[str, str], set[str]] = {}
    repeats: Counter[tuple[str, ...]] = Counter()
    for place, record in records:
        _check_keys(record, _RECORD, path, place)
        if key not in _object(record, "evaluation"):
            raise InputError(f"evaluation has no {key}", where=str(path), line=place)
        name = str(record.get("evaluation_result_id") or "").partition(":")[0]
        run, about = str(record.get("evaluation_id", "")), _object(record, "metadata")
        row = {"line": place, "model": record["model_id"], "task": record["evaluation_name"]}
        row |= {"item": record["sample_id"], "score": {name: record["evaluation"][key]}}
        metrics.setdefault((str(row["task"]), str(row["item"])), set()).add(name)
        whose = (str(row["model"]), str(row["task"]), str(row["item"]), name, run)
        repeats[whose] += 1
        row["run"] = f"{run} epoch {about.get('epoch', repeats[whose])}"
        rows.append(row | _keys(record, "metadata") | {"doc_hash": about.get("doc_hash")})
    if asked is None and all(len(names) == 1 for names in metrics.values()):
        for row in rows:
            [score] = row["score"].values()
            row["score"] = {key: score}
    notes = _choose(rows, asked, path)
    return _table([row for row in rows if "score" in row], path, "Every Eval Ever", notes)


def _table(rows: Iterable[Row], path: Path, origin: str, notes: Iterable[str] = ()) -> Table:
    every = list(rows)
    lines = [row.pop("line") for row in every]
    header = dict.fromkeys(name for row in every for name in row)
    columns = {name: [row.get(name) for row in every] for name in header}
    columns = {name: cells for name, cells in columns.items() if any(c is not None for c in cells)}
    table = make_table(columns, columns.values(), lines, str(path), path.stem, notes)
    return replace(table, origin=origin)


def join_logs(table: Table) -> Table:
    """Logs of several files below each other.

    Raises
    ------
    InputError
        Different documents under one number, or two metrics of one task.
    """
    columns = dict(table.columns)
    tasks = {task for task in columns.get("task", ()) if task is not None}
    if len(tasks) == 1:  # files that do not say it have the same
        columns["task"] = list(tasks) * len(table)
    of = columns.get("task", [""] * len(table))
    _check_one(table, "metric", of, columns["metric"])
    if "doc_hash" in columns:
        keys = zip(of, columns["item"], strict=True)
        _check_one(table, "doc_hash", keys, columns.pop("doc_hash"))
    return replace(table, columns=columns)


def _check_one(table: Table, column: str, keys: Iterable[Any], values: Iterable[Any]) -> None:
    """Everything of one key has one value, as far as it has any."""
    seen: dict[Any, tuple[Any, str]] = {}
    for key, value, line in zip(keys, values, table.lines, strict=True):
        first, place = seen.setdefault(key, (value, line)) if value is not None else (None, "")
        if first != value:
            raise InputError(
                f"{quoted(value)}, but {quoted(first)} on {place}",
                where=table.where,
                line=line,
                column=column,
                parameter="metric",
                fix="choose one with {option}" if column == "metric" else "",
            )
