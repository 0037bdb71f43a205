"""What lm-evaluation-harness writes: samples of one task, and the results of one model.

Samples have a line per document, or per document and filter; the task stands in the name of the
file, the model in that of its folder: ``<model>/samples_<task>_<timestamp>.jsonl``
(``tests/data/test_read_evaluations.py``). Results have ``{"<task>": {"<metric>,<filter>":
score}}``; of a group of tasks and its members only the members count
(``tests/data/test_read_scores.py``).
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import AmbiguousMetricError, InputError, located
from bayes_sota.core.text import nearest, several, shown, shown_path
from bayes_sota.data.files.content import read_content
from bayes_sota.data.files.json import parse_json
from bayes_sota.data.readers.metric_names import is_other_metric
from bayes_sota.data.readers.parts import (
    Choices,
    ItemLabels,
    Part,
    add_once,
    choose,
    file_names,
    item_name,
    outcome_of,
)
from bayes_sota.data.task_scores import TaskScores

_HEAD = 1_000  # bytes that tell JSON from tables
_FILE = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(\.\d+)?)\.jsonl?(\.gz|\.zip)?"
)

_PREFERRED = ("acc", "exact_match", "acc_norm")

_NOT_METRICS = frozenset(
    (
        "doc_id",
        "doc",
        "target",
        "arguments",
        "resps",
        "filtered_resps",
        "filter",
        "metrics",
        "doc_hash",
        "prompt_hash",
        "target_hash",
    )
)


def is_sample(value: object) -> bool:
    """Whether a JSON value is a sample."""
    return isinstance(value, dict) and "doc_id" in value


def parts_of_samples(
    samples: Iterable[tuple[str, dict[str, Any]]], path: Path, name: str, choices: Choices
) -> list[Part]:
    """Outcomes of one file; keys of ``doc`` may say the task and the cluster of an item.

    Parameters
    ----------
    samples : iterable of (str, dict)
        Place and content of each sample.
    path : Path
        The file, which says model, task and time where it is named as the tool names it.
    name : str
        Name of the model otherwise.
    choices : Choices
        ``metric`` may name a filter as well: "exact_match,strict-match".
    """
    where = shown_path(path)
    wanted, _, chosen_filter = (choices.metric or "").partition(",")
    metric, names = "", []
    filters: dict[str, dict[str, float]] = {}
    hashes: dict[str, str] = {}
    labels = ItemLabels(choices)
    for place, sample in samples:
        if not is_sample(sample):
            raise InputError(f"{place}: a sample has a doc_id, this has {several(list(sample))}")
        if not metric:
            names = _metrics(sample)
            asked = wanted if wanted in names else None
            metric = choose(names, asked, _PREFERRED, where, "metric")
        item = item_name(sample["doc_id"], f"{place}, doc_id")
        if metric not in sample:
            raise InputError(f"{place}: doc_id {shown(item)} has no {metric}")
        outcomes = filters.setdefault(str(sample.get("filter", "none")), {})
        outcome = outcome_of(sample[metric], place, metric)
        add_once(outcomes, item, outcome, f"{place}: doc_id")
        labels.add(item, sample.get("doc"), f"{place}, doc")
        mark = sample.get("doc_hash")
        if mark is not None and hashes.setdefault(item, str(mark)) != str(mark):
            raise InputError(f"{place}: doc_id {shown(item)} has two documents (doc_hash)")
    match = _FILE.fullmatch(path.name)
    run = (match["time"],) if match else ()
    return labels.parts(
        where,
        path.resolve().parent.name if match else name,
        {run: _filtered(filters, chosen_filter, metric, where)},
        metric=_with_filter(metric, chosen_filter if chosen_filter in filters else "none"),
        metrics=tuple(_with_filter(name, one) for name in names for one in filters),
        task=match["task"] if match else "",
        hashes=hashes,
    )


def notes_on_metrics(parts: Sequence[Part], wanted: str | None) -> list[str]:
    """What the outcomes are: the metric asked for in the tasks that have it, else the usual one.

    Raises
    ------
    InputError
        No task has the metric asked for.
    """
    tasks_of: dict[str, dict[str, None]] = {}
    for part in parts:
        tasks_of.setdefault(part.metric, {})[part.task] = None
    held = sorted({metric for part in parts for metric in part.metrics})
    if wanted is not None and not any(_is_asked(metric, wanted) for metric in tasks_of):
        there = f"it holds {several(held)}{nearest(wanted, held)}"
        raise InputError(f"there is no metric {shown(wanted)}; {there}")
    if len(tasks_of) > 1:
        return [f"the outcome is {_in_tasks(tasks_of)} (metric)"]
    others = [metric for metric in held if metric.partition(",")[0] not in tasks_of]
    if wanted is not None or not others:
        return []
    return [
        f"the outcome is {shown(next(iter(tasks_of)))}; the files also hold {several(others)} "
        "(metric)"
    ]


def _in_tasks(tasks_of: Mapping[str, Iterable[str]]) -> str:
    """Metrics, each with its tasks where there are several."""
    if len(tasks_of) == 1:
        return several(tasks_of)
    return ", ".join(f"{shown(metric)} in {several(tasks)}" for metric, tasks in tasks_of.items())


def _with_filter(metric: str, chosen: str) -> str:
    return metric if chosen == "none" else f"{metric},{chosen}"


def _is_asked(metric: str, wanted: str) -> bool:
    """Whether a metric with its filter is the one asked for, with or without a filter."""
    return wanted.removesuffix(",none") in (
        metric.removesuffix(",none"),
        metric.partition(",")[0],
    )


def _metrics(sample: Mapping[str, Any]) -> list[str]:
    listed = sample.get("metrics")
    if isinstance(listed, list):
        return [name for name in listed if isinstance(name, str) and name in sample]
    return [
        key
        for key, value in sample.items()
        if key not in _NOT_METRICS and isinstance(value, bool | int | float)
    ]


def _filtered(
    filters: Mapping[str, dict[str, float]], wanted: str, metric: str, where: str
) -> dict[str, float]:
    """Outcomes after one filter; after any if they agree."""
    if wanted in filters:
        return filters[wanted]
    names = sorted(filters)
    first = filters[names[0]]
    for name in names[1:]:
        for item in {**first, **filters[name]}:
            if first.get(item) != filters[name].get(item):
                raise AmbiguousMetricError(
                    f"{where}: the filters {several(names)} disagree, first at doc_id "
                    f"{shown(item)}; choose one: metric={shown(f'{metric},{names[0]}')} (tasks "
                    "without it keep theirs)",
                    [f"{metric},{name}" for name in names],
                )
    return first


@dataclass(frozen=True)
class _Model:
    """Scores of one model: {task: {metric: score}}, and whether larger is better.

    With standard errors by the same keys, the number of items of each task, and members of groups.
    """

    name: str
    where: str
    tasks: Mapping[str, Mapping[str, float]]
    lower: frozenset[tuple[str, str]]  # (task, metric without its filter)
    errors: Mapping[str, Mapping[str, float]]
    sizes: Mapping[str, int]
    groups: Mapping[str, Sequence[str]]


def is_lm_eval(value: object) -> bool:
    """Whether a JSON value holds results of the harness, or only their section."""
    if not isinstance(value, Mapping):
        return False
    section = value.get("results", value)
    return (
        isinstance(section, Mapping)
        and bool(section)
        and all(isinstance(entry, Mapping) for entry in section.values())
        and any("," in key for entry in section.values() for key in entry)
    )


def _models(paths: Sequence[Path]) -> list[_Model]:
    """Models of files, each of another one.

    Raises
    ------
    InputError
        One file, something else, two files of one model.
    """
    if len(paths) < 2:
        raise InputError(
            f"{shown_path(paths[0])}: results of one model: name the files of at least 2, or their "
            "folder"
        )
    models = [_model(path, name) for path, name in file_names(paths).items()]
    seen: dict[str, str] = {}
    for model in models:
        if seen.setdefault(model.name, model.where) != model.where:
            raise InputError(
                f"{seen[model.name]} and {model.where} are both of the model {shown(model.name)}"
            )
    return models


def result_files(path: Path) -> list[Path] | None:
    """Files of results in a folder, or one such file; None where it is something else.

    A folder that has samples as well is one of logs: they say more.
    """
    if not path.is_dir():
        return [path] if _is_results(path) else None
    if any(path.rglob("samples_*.jsonl*")):
        return None
    files = sorted(path.rglob("*.json")) + sorted(path.rglob("*.json.gz"))
    return [file for file in files if _is_results(file)] or None


def _is_results(path: Path) -> bool:
    head = read_content(path, _HEAD)  # of a table, and of a log with lines, that is enough
    if head.kind != "json" or not head.data.lstrip().startswith(b"{"):
        return False
    content = read_content(path, 1 << 26)
    try:
        return is_lm_eval(parse_json(content.text(), content.where))
    except InputError:
        return False


def read_lm_eval_tasks(
    paths: Sequence[Path],
    *,
    metric: str | None = None,
    tasks: Sequence[str] | None = None,
    n_test: Any = None,
    average: Any = None,
) -> TaskScores:
    """Scores of several models in the tasks of their results, with items or errors behind each.

    Parameters
    ----------
    paths : sequence of Path
        A file for each model.
    metric : str, optional
        As "acc_norm" or "exact_match,strict-match". Default: the usual one of each task.
    tasks : sequence of str, optional
        Of these only; a group stands for its members. Default: all.
    n_test, average
        As in ``TaskScores``; ``n_test`` where the files do not say how many items there are.

    Raises
    ------
    InputError
        One model, a model without one of the tasks, tasks of which lower and higher is better.
    """
    models = _models(paths)
    groups = {name: members for model in models for name, members in model.groups.items()}
    names = _tasks_of_all(models, groups, tasks)
    keys = _metrics_of_tasks(models, names, metric)
    lower = _lower_tasks(models, keys)
    if 0 < len(lower) < len(keys):
        raise InputError("tasks of which higher and lower is better have no average: task_columns")
    accuracies = not lower and not any(map(is_other_metric, keys.values()))
    sizes = np.array([[model.sizes.get(task, np.nan) for task in names] for model in models])
    if n_test is None and not np.isnan(sizes).any():
        n_test = sizes.astype(np.int64)
    errors = [[m.errors[task].get(keys[task], np.nan) for task in names] for m in models]
    used = [name for name, members in groups.items() if set(members) & set(names)]
    notes = [_note_on_scores(models, keys, metric)]
    notes += [f"averages of {several(used)} in the files are not used, their tasks are"] * bool(
        used
    )
    with located(f"{len(paths)} files"):
        return TaskScores(
            [[model.tasks[task][keys[task]] for task in names] for model in models],
            n_test=n_test,
            tasks=names,
            names=[model.name for model in models],
            standard_errors=errors if n_test is None or not accuracies else None,
            average=average,
            metric="accuracy" if accuracies else "score",
            lower_is_better=bool(lower),
            name="lm-evaluation-harness",
            notes=notes,
        )


def _metrics_of_tasks(
    models: Sequence[_Model], tasks: Sequence[str], wanted: str | None
) -> dict[str, str]:
    """Metric of each task, the one asked for where it has that."""
    metrics = {task: _metric(task, models, wanted) for task in tasks}
    if wanted is not None and not any(_is_asked(metric, wanted) for metric in metrics.values()):
        held = sorted({key for m in models for scores in m.tasks.values() for key in scores})
        raise InputError(
            f"no task has the metric {shown(wanted)}; there are {several(held)}"
            f"{nearest(wanted, held)} (score_column)"
        )
    return metrics


def _note_on_scores(
    models: Sequence[_Model], metrics: Mapping[str, str], wanted: str | None
) -> str:
    """What the scores of each task are, and the filters that would give others."""
    tasks_of: dict[str, list[str]] = {}
    for task, metric in metrics.items():
        tasks_of.setdefault(metric, []).append(task)
    others = {
        key
        for task, metric in metrics.items()
        for key in models[0].tasks.get(task, ())
        if key != metric and key.partition(",")[0] == metric.partition(",")[0]
    }
    also = f"; the files also hold {several(sorted(others))}" if others and wanted is None else ""
    return f"the scores are {_in_tasks(tasks_of)}{also} (score_column)"


def _lower_tasks(models: Sequence[_Model], metrics: Mapping[str, str]) -> set[str]:
    """Tasks of which some file says that lower is better."""
    flags = {flag for model in models for flag in model.lower}
    return {task for task, of in metrics.items() if (task, of.partition(",")[0]) in flags}


def _tasks_of_all(
    models: Sequence[_Model], groups: Mapping[str, Sequence[str]], wanted: Sequence[str] | None
) -> list[str]:
    """Tasks that are asked for, groups as their members, or all; every model must have them."""
    names = list(dict.fromkeys(task for model in models for task in model.tasks))
    if wanted is not None:
        names = list(dict.fromkeys(t for task in wanted for t in groups.get(task, (task,))))
    for model in models:
        lacking = [task for task in names if task not in model.tasks]
        if lacking:
            raise InputError(
                f"{model.where}: the model {shown(model.name)} has no task {shown(lacking[0])}"
                f"{nearest(lacking[0], model.tasks)}; task_columns chooses tasks that all models "
                "have"
            )
    return names


def _model(path: Path, name: str) -> _Model:
    content = read_content(path)
    where = content.where
    value = parse_json(content.text(), where)
    if not is_lm_eval(value):
        raise InputError(f"{where}: is not a results file of lm-evaluation-harness")
    section = value.get("results", value)
    groups = _groups(value, section)
    higher, members = _object(value, "higher_is_better"), _object(value, "group_subtasks")
    sizes = _object(value, "n-samples")
    tasks = [task for task in section if task not in groups]
    return _Model(
        name=str(value.get("model_name") or name),
        where=where,
        tasks={
            task: scores
            for task in tasks
            if (scores := _scores(section[task], f"{where}, task {shown(task)}"))
        },
        errors={task: _errors(section[task]) for task in tasks},
        sizes={
            task: size
            for task in sizes
            if type(size := _object(sizes, task).get("effective")) is int
        },
        groups={
            group: [str(member) for member in members.get(group, tasks) if str(member) in tasks]
            for group in groups
        },
        lower=frozenset(
            (task, metric)
            for task in higher
            for metric, flag in _object(higher, task).items()
            if flag is False
        ),
    )


def _object(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Object under a key; empty where there is none."""
    held = value.get(key)
    return held if isinstance(held, Mapping) else {}


def _groups(value: Mapping[str, Any], section: Mapping[str, Any]) -> set[str]:
    """Tasks whose members are there as well, by the list of them, else as aliases are indented."""
    listed = value.get("group_subtasks")
    if isinstance(listed, Mapping):
        return {
            group
            for group, members in listed.items()
            if isinstance(members, list) and any(str(member) in section for member in members)
        }
    aliases = [str(entry.get("alias", "")) for entry in section.values()]
    depths = [len(alias) - len(alias.lstrip(" -")) for alias in aliases]
    return {
        task
        for task, depth, after in zip(section, depths, [*depths[1:], 0], strict=True)
        if after > depth
    }


def _scores(entry: Mapping[str, Any], where: str) -> dict[str, float]:
    """Scores of a task, without their standard errors."""
    return {
        key: outcome_of(score, where, key)
        for key, score in entry.items()
        if "," in key and "_stderr" not in key and score not in ("N/A", None)
    }


def _errors(entry: Mapping[str, Any]) -> dict[str, float]:
    """Standard errors of a task by the metrics that they are of."""
    return {
        key.replace("_stderr", ""): float(error)
        for key, error in entry.items()
        if "_stderr" in key and isinstance(error, int | float) and not isinstance(error, bool)
    }


def _metric(task: str, models: Sequence[_Model], wanted: str | None) -> str:
    """Metric of a task that all of its files have: asked for, else the usual one."""
    with_task = [model for model in models if task in model.tasks]
    common = [
        key
        for key in with_task[0].tasks[task]
        if all(key in model.tasks[task] for model in with_task)
    ]
    for name in (wanted, *_PREFERRED):
        for key in common:
            if name in (key, key.partition(",")[0]):
                return key
    if common:
        return common[0]
    files = f"{with_task[0].where} and others" if len(with_task) > 1 else with_task[0].where
    raise InputError(f"{files}: task {shown(task)} has no metric in common")
