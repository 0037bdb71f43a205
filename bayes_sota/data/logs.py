"""Logs of evaluation tools become tables whose columns have the usual names.

lm-evaluation-harness writes samples (a line per document, or per document and filter) and results
(scores per task); inspect_ai a JSON file, or an archive ``.eval`` with a file per sample; Every
Eval Ever a line per sample of any model and task. A row is a model, task, item and run with
its score; what else a log says of an item stands in columns ``doc.KEY`` or ``metadata.KEY``
(``tests/data/test_logs.py``).
"""

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import AmbiguousMetricError, InputError, listed, quoted
from bayes_sota.data.cells import parse_cell
from bayes_sota.data.records import load_json
from bayes_sota.data.tables import Table, make_table
from bayes_sota.data.unpacking import MOST_BYTES
from bayes_sota.data.words import is_loss

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\d(T\d\d[-:]\d\d[-:]\d\d(\.\d+)?)?)\.jsonl?(\.gz|\.zip)?"
)
_PATTERNS = ("samples_*.jsonl*", "*_samples.jsonl*", "*.eval")
_NO_METRICS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter")
)
_NO_METRICS |= {"metrics", "doc_hash", "prompt_hash", "target_hash"}
_USUAL = ("acc", "exact_match", "acc_norm", "quasi_exact_match", "accuracy")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_RECORD = frozenset(("model_id", "evaluation_name", "sample_id", "evaluation"))
_LONGEST = 200  # characters of what names a task or a cluster

type Row = dict[str, Any]


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
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return None
    rows = value if isinstance(value, list) else [value]
    numbered = places or [f"record {number}" for number in range(1, len(rows) + 1)]
    placed = list(zip(numbered, rows, strict=True))
    if (
        "doc_id" in first
        and "model" not in first
        and (
            path.name.startswith("samples_")
            or first.keys() & {"doc_hash", "resps", "doc", "filter"}
        )
    ):
        return _table_of_samples(placed, path, name, metric)
    if first.keys() >= _RECORD:
        return _table_of_records(placed, path, metric)
    if isinstance(value, dict) and isinstance(value.get("eval"), dict) and "version" in value:
        samples = value.get("samples")
        listed_ones = samples if isinstance(samples, list) else []
        placed = [(f"sample {number}", one) for number, one in enumerate(listed_ones, 1)]
        return _table_of_inspect(value, placed, path, metric)
    if isinstance(value, dict) and _are_results(value):
        return _table_of_results(value, path, name, metric)
    return None


def read_archive(path: Path, metric: str | None = None) -> Table | None:
    """Table of an archive of inspect_ai; None where the file is something else."""
    if not path.is_file() or not zipfile.is_zipfile(path):
        return None
    where = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if not {"header.json", "_journal/start.json"} & set(names):
                return None
            if "header.json" not in names:
                problem = "the evaluation is not finished (no header.json)"
                raise InputError(problem, where=where)
            kept = [name for name in names if re.fullmatch(r"samples/[^/]+\.json", name)]
            kept.append("header.json")
            if sum(archive.getinfo(name).file_size for name in kept) > MOST_BYTES:
                raise InputError(f"holds more than {MOST_BYTES:,} bytes", where=where)
            *samples, header = [(name, _member(archive, name, where)) for name in kept]
    except InputError:
        raise
    except Exception as error:  # archives pass on whatever their decoders raise
        raise InputError(f"cannot be unpacked ({error})", where=where) from None
    return _table_of_inspect(header[1], samples, path, metric)


def _member(archive: zipfile.ZipFile, name: str, where: str) -> Any:
    try:
        return load_json(archive.read(name).decode(), where, name)
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", where=where, line=name) from None


def _table_of_samples(
    samples: Sequence[tuple[str, Any]], path: Path, name: str, metric: str | None
) -> Table:
    """Row per document, with its score after one filter, or after any if they agree."""
    match = _SAMPLES.fullmatch(path.name)
    about: Row = {"model": path.resolve().parent.name, "task": match["task"]} if match else {}
    wanted, _, chosen = (metric or "").removesuffix(",none").partition(",")
    filters: dict[str, dict[str, Any]] = {}
    names: list[str] = []
    rows: dict[str, Row] = {}
    lines = {}
    for place, sample in samples:
        if not isinstance(sample, dict) or sample.get("doc_id") is None:
            raise InputError("a sample has a doc_id", where=str(path), line=place)
        names = names or _metrics(sample)
        item = str(sample["doc_id"]).strip().removesuffix(".0")
        scores = filters.setdefault(str(sample.get("filter", "none")), {})
        if item in scores:
            raise InputError(f"doc_id {quoted(item)} repeats", where=str(path), line=place)
        scores[item] = {one: sample.get(one) for one in names}
        if item not in rows:
            row = {"model": name, **about, "item": item, "run": match["time"] if match else "1"}
            rows[item] = row | _keys(sample, "doc") | {"doc_hash": sample.get("doc_hash")}
            lines[item] = place
    held = [_of_filter(one, which) for one in names for which in filters]
    if wanted and (wanted not in names or chosen not in ("", *filters)):
        raise _unknown(metric, held, path)
    used = wanted or _usual(names, path)
    if chosen or len(filters) == 1:
        scores = filters[chosen or next(iter(filters))]
    else:
        scores = _agreed(filters, used, path)
    for item, row in rows.items():
        row |= {"metric": _of_filter(used, chosen), "score": scores.get(item, {}).get(used)}
    notes = () if metric else _note_on_metrics(used, held)
    return _table_of_rows(rows.values(), list(lines.values()), path, "lm-evaluation-harness", notes)


def _metrics(sample: Mapping[str, Any]) -> list[str]:
    """Names of the metrics of a sample: as listed, else the keys that hold numbers."""
    named = sample.get("metrics")
    if isinstance(named, list):
        return [name for name in named if isinstance(name, str) and name in sample]
    keys = (key for key in sample if key not in _NO_METRICS)
    return [key for key in keys if _is_number(sample[key])]


def _is_number(cell: Any) -> bool:
    return not isinstance(cell, list | dict | None) and parse_cell(cell) is not None


def _of_filter(metric: str, which: str) -> str:
    return metric if which in ("", "none") else f"{metric},{which}"


def _agreed(filters: Mapping[str, dict[str, Row]], metric: str, path: Path) -> dict[str, Row]:
    """Scores after any filter, if they agree."""
    first = next(iter(filters))
    for item in {item for scores in filters.values() for item in scores}:
        found = {str(scores.get(item, {}).get(metric)) for scores in filters.values()}
        if len(found) > 1:
            names = [f"{metric},{which}" for which in filters]
            raise AmbiguousMetricError(
                f"{listed(names)} disagree, first at doc_id {quoted(item)}", names, str(path)
            )
    return filters[first]


def _usual(names: Sequence[str], path: Path) -> str:
    """The usual metric, or the only one."""
    usual = [name for name in _USUAL if name in names] or list(names)
    if not usual:
        raise InputError("has no metric", where=str(path))
    if len(names) > 1 and usual == list(names) and usual[0] not in _USUAL:
        raise AmbiguousMetricError(f"has the metrics {listed(names)}", names, str(path))
    return usual[0]


def _unknown(metric: str | None, held: Iterable[str], path: Path) -> UnknownMetricError:
    return UnknownMetricError(
        f"there is no metric {quoted(metric)}; there are {listed(held)}",
        where=str(path),
        parameter="metric",
        fix="choose one with {option}",
    )


def _note_on_metrics(used: str, held: Sequence[str]) -> tuple[str, ...]:
    others = [name for name in held if name.partition(",")[0] != used]
    return (f"scores are {quoted(used)}; there are also {listed(others)}",) if others else ()


def _keys(sample: Mapping[str, Any], key: str) -> Row:
    """What a log says of an item, as far as it may name a task or a cluster."""
    about = sample.get(key)
    return {
        f"{key}.{name}": cell
        for name, cell in (about.items() if isinstance(about, dict) else ())
        if isinstance(cell, str | int) and len(str(cell)) <= _LONGEST
    }


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
    rows, held, used = [], dict[str, None](), set()
    for task, part in results.items():
        keys = [key for key in part if "," in key and "_stderr," not in key]
        keys = [key for key in keys if _is_number(part[key]) and part[key] != "N/A"]
        if task in groups or not keys:
            continue
        held |= dict.fromkeys(keys)
        asked = [key for key in keys if metric in (key, key.partition(",")[0])]
        usual = [key for word in _USUAL for key in keys if key.startswith(f"{word},")]
        word, _, which = (asked or usual or keys)[0].partition(",")
        used |= set(asked)
        rows.append(
            {
                "model": model,
                "task": task,
                "metric": _of_filter(word, which),
                "score": part[f"{word},{which}"],
                "stderr": _number(part.get(f"{word}_stderr,{which}")),
                "n": _number(_object(sizes, task).get("effective")),
                "higher_is_better": _object(higher, task).get(word, not is_loss(word)),
            }
        )
    if metric and not used:
        raise _unknown(metric, held, path)
    lines = [f"task {quoted(row['task'])}" for row in rows]
    return _table_of_rows(rows, lines, path, "lm-evaluation-harness results")


def _number(cell: Any) -> Any:
    return cell if _is_number(cell) else None


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = value.get(key)
    return held if isinstance(held, Mapping) else {}


def _groups(value: Mapping[str, Any], results: Mapping[str, Any]) -> set[str]:
    """Tasks whose members are there as well: as listed, else as their aliases are indented."""
    members = value.get("group_subtasks")
    if isinstance(members, dict):
        return {
            group
            for group, tasks in members.items()
            if isinstance(tasks, list) and any(str(task) in results for task in tasks)
        }
    aliases = [str(part.get("alias", "")) for part in results.values()]
    depths = [len(alias) - len(alias.lstrip(" -")) for alias in aliases]
    pairs = zip(results, depths, [*depths[1:], 0], strict=True)
    return {task for task, depth, after in pairs if after > depth}


def _table_of_inspect(
    log: Any, samples: Iterable[tuple[str, Any]], path: Path, metric: str | None
) -> Table:
    """Row per sample and epoch, with its score by one scorer, NaN where it has none."""
    where = str(path)
    if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
        raise InputError("header.json has no eval", where=where)
    about, rows, lines = log["eval"], [], []
    if not about.get("model"):
        raise InputError("eval has no model", where=where)
    started = about.get("created") or about.get("run_id") or ""
    for place, sample in samples:
        if not isinstance(sample, dict) or "id" not in sample:
            raise InputError("a sample has an id", where=where, line=place)
        row = {"model": about.get("model"), "task": about.get("task"), "item": sample["id"]}
        row["run"] = f"{started} epoch {sample.get('epoch', 1)}"
        rows.append(row | {"score": _values(sample, where, place)} | _keys(sample, "metadata"))
        lines.append(place)
    if not rows:
        raise InputError("the log has no samples", where=where)
    names = list(dict.fromkeys(name for row in rows for name in row["score"]))
    asked = [name for name in names if metric in (name, name.partition(".")[2])] or [
        name for name in names if name.partition(".")[0] == metric
    ]
    if metric and not asked:
        raise _unknown(metric, names, path)
    used = _usual(asked or names, path)
    for row in rows:
        row |= {"metric": used, "score": row["score"].get(used)}
    status = log.get("status") or "success"
    notes = [f"the evaluation ended with status {quoted(status)}"] * (status != "success")
    return _table_of_rows(rows, lines, path, "inspect_ai", notes)


def _values(sample: Mapping[str, Any], where: str, place: str) -> Row:
    """Score by each scorer, or by each number of a scorer."""
    values: Row = {}
    for scorer, score in _object(sample, "scores").items():
        if not isinstance(score, dict) or "value" not in score:
            raise InputError(f"scorer {quoted(scorer)} has no value", where=where, line=place)
        value = score["value"]
        parts = value if isinstance(value, dict) else {"": value}
        for name, cell in parts.items():
            known = _GRADES.get(cell, cell) if isinstance(cell, str) else cell
            values[f"{scorer}.{name}" if name else scorer] = known
    return values


def _table_of_records(records: Sequence[tuple[str, Any]], path: Path, metric: str | None) -> Table:
    """Row per record of Every Eval Ever; those that repeat a sample are its metrics, or runs."""
    for place, record in records:
        lacking = _RECORD - (record.keys() if isinstance(record, dict) else set())
        if lacking or not isinstance(record["evaluation"], dict):
            problem = f"a sample of Every Eval Ever has {', '.join(sorted(_RECORD))}"
            raise InputError(problem, where=str(path), line=place)
    key = "is_correct" if metric == "is_correct" else "score"
    records, used = _of_one_metric(records, None if metric in ("score", key) else metric, path)
    repeats: Counter[tuple[str, ...]] = Counter()
    rows = []
    for place, record in records:
        if key not in record["evaluation"]:
            raise InputError(f"evaluation has no {key}", where=str(path), line=place)
        row = {"model": record["model_id"], "task": record["evaluation_name"]}
        row |= {"item": record["sample_id"], "metric": used or key}
        whose = (*map(str, row.values()), str(record.get("evaluation_id", "")))
        repeats[whose] += 1
        epoch = _object(record, "metadata").get("epoch", repeats[whose])
        row |= {"run": f"{whose[-1]} epoch {epoch}", "score": record["evaluation"][key]}
        mark = _object(record, "metadata").get("doc_hash")
        rows.append(row | _keys(record, "metadata") | {"doc_hash": mark})
    return _table_of_rows(rows, [place for place, _ in records], path, "Every Eval Ever")


def _of_one_metric(
    records: Sequence[tuple[str, Any]], metric: str | None, path: Path
) -> tuple[Sequence[tuple[str, Any]], str]:
    """Records of one metric, and its name; of all where no sample has several."""
    results = [str(record.get("evaluation_result_id") or "") for _, record in records]
    of_sample: dict[tuple[str, str], set[str]] = {}
    for (_, record), result in zip(records, results, strict=True):
        sample = (str(record["evaluation_name"]), str(record["sample_id"]))
        of_sample.setdefault(sample, set()).add(result.partition(":")[0])
    names = sorted({name for found in of_sample.values() for name in found})
    if metric is None and all(len(found) == 1 for found in of_sample.values()):
        return records, ""
    if metric and metric.partition(":")[0] not in names:
        raise _unknown(metric, names, path)
    used = metric.partition(":")[0] if metric else _usual(names, path)
    pairs = zip(records, results, strict=True)
    return [record for record, result in pairs if result.partition(":")[0] == used], used


def _table_of_rows(
    rows: Iterable[Row], lines: list[str], path: Path, origin: str, notes: Iterable[str] = ()
) -> Table:
    every = list(rows)
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
    hashes = columns.pop("doc_hash", None)
    tasks = {task for task in columns.get("task", ()) if task is not None}
    if len(tasks) == 1:  # files that do not say it have the same
        columns["task"] = list(tasks) * len(table)
    of = columns.get("task", [""] * len(table))
    _check_one(table, "metric", of, columns["metric"])
    if hashes is not None:
        _check_one(table, "doc_hash", zip(of, columns["item"], strict=True), hashes)
    return replace(table, columns=columns)


def _check_one(table: Table, column: str, keys: Iterable[Any], values: Iterable[Any]) -> None:
    """Everything of one key has one value, as far as it has any."""
    seen: dict[Any, tuple[Any, str]] = {}
    for key, value, line in zip(keys, values, table.lines, strict=True):
        first, place = seen.setdefault(key, (value, line)) if value is not None else (None, "")
        if first != value:
            of = ", ".join(filter(None, key if isinstance(key, tuple) else (key,)))
            raise InputError(
                f"{quoted(value)}, but {quoted(first)} on {place} for the same {quoted(of)}",
                where=table.where,
                line=line,
                column=column,
                parameter="metric",
                fix="choose one with {option}" if column == "metric" else "",
            )
