"""Logs of evaluation tools become tables whose columns have the usual names.

A row is a score of a model by one metric on an item, or a task; what else a log says of an item
stands in columns ``doc.KEY`` or ``metadata.KEY``.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import counted, digest_of
from bayes_sota.data import tables
from bayes_sota.data.words import is_loss, is_role_word

_SAMPLES = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\d(T\d\d[-:]\d\d[-:]\d\d(\.\d+)?)?)\.jsonl?(\.gz|\.zip)?"
)
_INSPECT = "*.eval", "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*.json"
_PATTERNS = ("samples_*.jsonl*", "*_samples.jsonl*", *_INSPECT), ("*.json", "*.json.gz")
_ABOUT_SAMPLES = frozenset(("doc_hash", "resps", "doc", "filter"))
_LIKELIHOODS = {"perplexity", "word_perplexity", "byte_perplexity", "bits_per_byte"}  # of samples
_NO_METRICS = _LIKELIHOODS | {"doc_id", "target", "doc_hash", "prompt_hash", "target_hash"}
_USUAL = ("acc", "exact_match", "acc_norm", "quasi_exact_match", "accuracy", "score")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_RECORD = ("model_id", "evaluation_name", "sample_id", "evaluation")
_RESULTS = "lm-evaluation-harness results"
MARKS = frozenset(("header.json", "_journal/start.json"))  # of an archive of inspect_ai
_RUN = re.compile(r"(seed|run|rep|repeat|trial)s?[-_ =]?\d*|\d{4}-?\d\d-?\d\d.*", re.IGNORECASE)
_CHECKED = frozenset(("doc_hash", "n_shot"))  # columns that are compared, and then dropped
_LONGEST = 200  # characters of a name

type Row = dict[str, Any]  # by column; "line" says where it stands
type Placed = list[tuple[str, Any]]  # where a sample stands, and what is there


def files_in(folder: Path) -> list[Path]:
    """Logs in a folder and the folders in it, samples before other JSON."""
    for patterns in _PATTERNS:
        if found := {path for pattern in patterns for path in folder.rglob(pattern)}:
            return sorted(found)
    fix = "name a file, or a folder of logs of lm-evaluation-harness, inspect_ai or Every Eval Ever"
    raise InputError("is a folder without logs", where=str(folder), fix=fix)


def rows_of_log(
    value: Any, places: Sequence[str], path: Path, name: str
) -> tuple[list[tables.Row], str]:
    """Rows of parsed JSON, and the tool that wrote it, or ""."""
    samples = value if isinstance(value, list) else [value]
    first = samples[0] if samples and isinstance(samples[0], dict) else {}
    log = first if value is first else {}
    results = _object(log, "results")
    of_samples = first.keys() & _ABOUT_SAMPLES or path.name.startswith("samples_")
    there = list(zip(places or tables.places_of(samples), samples, strict=True))
    if "version" in log and isinstance(log.get("eval"), dict):
        origin, rows = "inspect_ai", _rows_of_inspect(log)
    elif "doc_id" in first and "model" not in first and of_samples:
        origin, rows = "lm-evaluation-harness", _rows_of_samples(there, path, name)
    elif first.keys() >= set(_RECORD):
        origin, rows = "Every Eval Ever", _rows_of_records(there)
    elif any("," in title for task in results for title in _object(results, task)):
        origin, rows = _RESULTS, _rows_of_results(log, name)
    else:
        return [], ""
    if not (found := list(rows)):
        raise InputError("has no scores")
    lines = [row.pop("line") for row in found]
    return tables.rows_of_records(found, lines), origin


def parse_archive(members: Mapping[str, bytes]) -> tuple[Any, list[str]]:
    """Log in an archive of inspect_ai, and no lines."""
    if "header.json" not in members:
        raise InputError("the evaluation is not finished (no header.json)")
    names = [name for name in members if name.startswith("samples/") and name.endswith(".json")]
    texts = [tables.decoded(members[name]) for name in ("header.json", *names)]
    header, *samples = (tables.parse_json(text)[0] for text in texts)
    return {"version": "", "eval": {}, **header, "samples": samples}, []


def _get(record: Any, key: str, place: str) -> Any:
    if not isinstance(record, dict) or record.get(key) is None:
        raise InputError(f"{quoted(key)} is missing", line=place)
    return record[key]


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    held = value.get(key)
    return held if isinstance(held, Mapping) else {}


def _names_in(sample: Mapping[str, Any], key: str) -> Row:
    return {
        f"{key}.{name}": cell if len(str(cell)) <= _LONGEST else digest_of(str(cell))
        for name, cell in _object(sample, key).items()
        if isinstance(cell, str | int)
    }


def _rows_of_samples(samples: Placed, path: Path, name: str) -> Iterator[Row]:
    """Row per document, filter and metric."""
    folder, match = path.resolve().parent, _SAMPLES.fullmatch(path.name)
    about: Row = {"folder": str(folder / name), "run": "1"}
    if match:
        about = {"folder": str(folder), "task": match["task"], "run": match["time"]}
        with suppress(OSError, ValueError, AttributeError):  # there need be no results beside it
            results = json.loads(path.with_name(f"results_{match['time']}.json").read_bytes())
            about["n_shot"] = _object(results, "n-shot").get(match["task"])
    _, first = samples[0]
    able = [one for one in first if one not in _NO_METRICS and tables.parse_cell(first[one])]
    metrics = [one for one in able if any(tables.is_number(of.get(one)) for _, of in samples)]
    if not metrics:  # of a corpus, such as BLEU
        yield about | {"line": samples[0][0], "item": "", "score": None, "metric": ""}
    for place, sample in samples:
        row = about | {"line": place, "item": str(_get(sample, "doc_id", place))}
        row |= _names_in(sample, "doc") | {"doc_hash": sample.get("doc_hash")}
        for one in metrics:
            metric = f"{one},{sample.get('filter', 'none')}".removesuffix(",none")
            yield row | {"score": sample.get(one), "metric": metric}


def _rows_of_results(log: Mapping[str, Any], name: str) -> Iterator[Row]:
    results, members = _object(log, "results"), _object(log, "group_subtasks")
    groups = {*_object(log, "groups"), *(group for group, tasks in members.items() if tasks)}
    model = log.get("model_name") or _object(log, "config").get("model") or name
    for task in (task for task in results if task not in groups):
        part, higher = _object(results, task), _object(_object(log, "higher_is_better"), task)
        row: Row = {"line": f"task {quoted(task)}", "model": model, "task": task}
        row |= {"n": _object(_object(log, "n-samples"), task).get("effective")}
        row["n_shot"] = _object(log, "n-shot").get(task)
        for title, number in part.items():
            word, comma, which = title.partition(",")
            if comma and not word.endswith("_stderr") and tables.is_number(number):
                row |= {"score": number, "stderr": part.get(f"{word}_stderr,{which}")}
                row |= {"higher_is_better": higher.get(word, not is_loss(word))}
                yield row | {"metric": title.removesuffix(",none")}


def _rows_of_inspect(log: Mapping[str, Any]) -> Iterator[Row]:
    """Row per sample, epoch and scorer, or number of a scorer."""
    about, model = log["eval"], _get(log["eval"], "model", "eval")
    samples = log["samples"] if isinstance(log.get("samples"), list) else []
    started = about.get("created") or about.get("run_id") or ""
    for place, sample in zip(tables.places_of(samples), samples, strict=True):
        row = {"line": place, "model": model, "task": about.get("task")}
        row |= {"item": _get(sample, "id", place)}
        row |= {"run": f"{started} epoch {sample.get('epoch', 1)}"} | _names_in(sample, "metadata")
        for scorer, score in _object(sample, "scores").items() or [("", {"value": ""})]:
            value = _get(score, "value", place)
            for name, cell in (value if isinstance(value, dict) else {"": value}).items():
                metric = f"{scorer}.{name}" if name else scorer
                yield row | {"score": _GRADES.get(str(cell), cell), "metric": metric}


def _rows_of_records(records: Placed) -> Iterator[Row]:
    for place, record in records:
        model, task, item, evaluation = (_get(record, key, place) for key in _RECORD)
        about = _object(record, "metadata")
        row = {"line": place, "model": model, "task": task, "item": item}
        row["doc_hash"] = about.get("doc_hash")
        row["run"] = f"{record.get('evaluation_id', '')} epoch {about.get('epoch', 1)}"
        row |= _names_in(record, "metadata")
        yield row | {"score": _get(evaluation, "score", place), "metric": "score"}


def choose_metric(table: tables.Table, metric: str | None) -> tables.Table:
    """Table of logs with the scores by one metric of each task."""
    tasks = _tasks_of(table)
    items = list(map(str, table.columns.get("item", tasks)))
    documents = zip(tasks, items, strict=True)
    if two := _differing(documents, table.columns.get("doc_hash", ())):
        problem = f"item {quoted(items[two[1]])} is a different document in an earlier row"
        raise table.bad_cells("doc_hash", two[1:], problem)
    chosen: dict[str, str] = {}
    for task, names in metrics_of_tasks(table, metric).items():
        chosen[task] = names[0]
        if len(names) > 1:
            problem = f"{f'task {quoted(task)} ' * bool(task)}has the metrics {listed(names)}"
            fix = "choose with {option} (NAME+NAME for several tasks); beside pass@K choose with "
            fix += "--column score=NAME (in Python score=)"
            raise table.error(problem, "metric", fix)
    named = enumerate(zip(tasks, table.columns["metric"], items, strict=True))
    rows = [(i, name) for i, (of, name, item) in named if of in chosen and (name or item)]
    kept = [i for i, name in rows if name in ("", chosen[tasks[i]])]
    used = dict.fromkeys(chosen.values())
    models = list(map(str, table.columns["model"]))
    if lost := set(models) - {models[row] for row in kept}:
        problem = f"{listed(sorted(lost))} has no scores by {listed(used)}"
        raise table.error(problem, fix="name a metric of all models, or only logs of the others")
    if table.origin == _RESULTS and len({(models[row], tasks[row]) for row in kept}) < len(kept):
        fix = "name one run, or the samples_*.jsonl of all"
        raise table.error("has results of several runs of a model", fix=fix)
    others = dict.fromkeys(name for name in table.columns["metric"] if name not in ("", *used))
    notes = [f"scores are {listed(used)}; there are also {listed(others)}"] * bool(others)
    if bare := dict.fromkeys(task for task in tasks if task not in chosen):
        notes.append(f"left out tasks without scores of single items: {listed(bare)}")
    shots = table.columns.get("n_shot", ())
    prompts: dict[str, dict[Any, str]] = {}  # models by their number of shots, by task
    for task, model, shot in zip(tasks, models, shots, strict=False):
        if shot is not None:
            prompts.setdefault(task, {}).setdefault(shot, model)
    if differ := {task: each for task, each in prompts.items() if len(each) > 1}:
        each = next(iter(differ.values())).items()
        some = ", ".join(f"{quoted(model)} has {shot}-shot prompts" for shot, model in each)
        notes.append(f"prompts differ in {listed(differ)} ({some}): is this comparison meant?")
    found = table.take(kept, *notes)
    columns = found.columns | {"metric": [chosen.get(tasks[row], "") for row in kept]}
    shared = [name for name in columns if is_role_word(name, "cluster")]
    if len(shared) > 1:  # tasks may have different words for it
        rows_of_cells = zip(*(columns[name] for name in shared), strict=True)
        cells = [next((cell for cell in of if cell is not None), None) for of in rows_of_cells]
        columns |= dict.fromkeys(shared, cells)
    filled = [name for name, of in columns.items() if any(cell is not None for cell in of)]
    return replace(found, columns={of: columns[of] for of in filled if of not in _CHECKED})


def _differing(keys: Iterable[Any], values: Sequence[Any]) -> list[int]:
    """Rows of the first two different values of one key."""
    first = dict[Any, int]()
    for row, (key, value) in enumerate(zip(keys, values, strict=False)):
        if value is not None and values[first.setdefault(key, row)] != value:
            return [first[key], row]
    return []


def metrics_of_tasks(table: tables.Table, metric: str | None) -> dict[str, list[str]]:
    """Metrics that may be meant in each task of logs; several where all are as usual."""
    pairs = zip(_tasks_of(table), table.columns["metric"], strict=True)
    known: dict[str, list[str]] = {}
    for task, name in dict.fromkeys(pairs):
        known.setdefault(task, []).extend([name] * bool(name))
    every = dict.fromkeys(name for names in known.values() for name in names)
    typed = [metric] if metric in every else (metric or "").split("+")
    asked = [name.removesuffix(",none") for name in typed if name]
    if not every:
        raise table.error("has no scores of items; results_*.json may have those of whole texts")
    if unknown := [name for name in asked if name not in every]:
        hint = " (perplexities of samples are log-likelihoods)" * bool(_LIKELIHOODS & {*unknown})
        problem = f"has no metric {listed(unknown)}; there are {listed(every)}{hint}"
        raise table.error(problem, "metric")
    most = 1 if table.origin == _RESULTS else None
    return {task: _meant(names, asked)[:most] for task, names in known.items() if names}


def _meant(names: list[str], asked: list[str]) -> list[str]:
    usual = ([name for name in names if name.partition(",")[0] == word] for word in _USUAL)
    of_asked = [name for name in names if name in asked]
    return of_asked or next(filter(None, usual), names)


def _tasks_of(table: tables.Table) -> list[str]:
    return list(map(str, table.columns.get("task", [""] * len(table))))


def name_models(table: tables.Table) -> tables.Table:
    """Table with models and runs by the folders of their samples."""
    if "folder" not in table.columns:
        return table
    columns = {"model": list[Any](), **table.columns}
    places = columns.pop("folder")
    named = _models_of(list(map(Path, dict.fromkeys(places))))
    pairs = zip(places, columns["run"], strict=True)
    columns["run"] = [f"{named[place][1]} {run}".strip() for place, run in pairs]
    columns["model"] = [named[place][0] for place in places]
    runs = sorted({run for _, run in named.values() if run})
    note = [f"folders called {listed(runs)} hold runs of their models"] * bool(runs)
    return replace(table, columns=columns, notes=(*table.notes, *note))


def _models_of(folders: Sequence[Path]) -> dict[str, tuple[str, str]]:
    """Model and run of each folder of samples.

    Folders called like a run (``seed1``) or a date are runs of what stands before them, else, or
    where one run has several models, of all the others.
    """
    root = Path(os.path.commonpath([folder.parent for folder in folders]))
    found, whole = dict[str, tuple[str, str]](), dict[str, tuple[str, str]]()
    for folder in folders:
        name, parts = str(folder), folder.relative_to(root).parts
        runs = [part for part in parts if _RUN.fullmatch(part)]
        others = [part for part in parts if part not in runs] or [root.name]
        before = parts[: parts.index(runs[0])] if runs else ()
        whole[name] = "/".join(others), " ".join(runs)
        found[name] = "/".join(before or others), " ".join(runs)
    return found if len({*found.values()}) == len(found) else whole


def clean(table: tables.Table, score: str, lower_is_better: bool) -> tables.Table:
    """Row of the best score of every team on Kaggle; teams of one name get their id as well."""
    entry, team_id = (table.find(word, "entry") for word in ("teamname", "teamid"))
    names, ids = (list(map(str, table.columns[title])) for title in (entry, team_id))
    value = table.numbers(table.find(score, "score"))
    rank = -value if lower_is_better else value
    is_deleted = [name.strip().lower().startswith("[deleted]") for name in names]
    is_zero = (rank == 0) & (not lower_is_better) & ~(value < 0).any()
    kept = np.flatnonzero(~(np.isnan(value) | is_zero | is_deleted)).tolist()
    order = sorted(reversed(kept), key=rank.__getitem__)
    best = sorted({ids[row] or names[row]: row for row in order}.values())
    count = Counter(names[row] for row in best)
    pairs = zip(names, ids, strict=True)
    unique = [f"{name} ({team})" if count[name] > 1 else name for name, team in pairs]
    lost = counted(len(names) - len(best), "row")
    note = f"dropped {lost}: of deleted teams, with a score of 0 or none, or not the best of a team"
    renamed = replace(table, columns=table.columns | {entry: unique})
    return renamed.take(best, *[note] * (len(best) < len(names)))
