"""Results of lm-evaluation-harness: one file per model, one score per task and metric.

``results`` has ``{"<task>": {"<metric>,<filter>": score}}``; of a group of tasks and its members
only the members count (``tests/data/test_read_scores.py``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown, shown_path
from bayes_sota.data.files.content import read_content
from bayes_sota.data.files.json_text import parse_json
from bayes_sota.data.formats.score_options import NotedScores, ScoreOptions
from bayes_sota.data.parts import file_names, outcome_of, several
from bayes_sota.data.read_leaderboard import located
from bayes_sota.data.score_table import ScoreTable

__all__ = ["is_lm_eval", "read_lm_eval"]

_PREFERRED = ("acc", "exact_match", "acc_norm")


@dataclass(frozen=True)
class _Model:
    """Scores of one model: {task: {metric: score}}, and whether larger is better."""

    name: str
    where: str
    tasks: Mapping[str, Mapping[str, float]]
    lower: frozenset[tuple[str, str]]  # (task, metric without its filter)


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


def read_lm_eval(paths: Sequence[Path], options: ScoreOptions) -> NotedScores:
    """Models as players, tasks as rounds.

    Raises
    ------
    InputError
        A file that is something else, two files of one model, tasks without a common metric.
    """
    if len(paths) < 2:
        raise InputError(
            f"{shown_path(paths[0])}: results of one model: name the files of at least 2"
        )
    names = file_names(paths)
    models = [_model(path, names[path]) for path in paths]
    seen: dict[str, str] = {}
    for model in models:
        if seen.setdefault(model.name, model.where) != model.where:
            raise InputError(
                f"{seen[model.name]} and {model.where} are both of the model {shown(model.name)}"
            )
    tasks = list(dict.fromkeys(task for model in models for task in model.tasks))
    metrics = {task: _metric(task, models, options.score_column) for task in tasks}
    if options.score_column is not None and not any(
        metric.partition(",")[0] == options.score_column.partition(",")[0]
        for metric in metrics.values()
    ):
        raise InputError(
            f"no task has the metric {shown(options.score_column)}; there are "
            f"{several(sorted(set(metrics.values())))} (score_column)"
        )
    scores = [
        [model.tasks.get(task, {}).get(metric, np.nan) for model in models]
        for task, metric in metrics.items()
    ]
    lower = options.lower_is_better
    if not isinstance(lower, bool):
        told = {task for task in tasks if _is_lower(task, metrics[task], models)}
        lower = tuple(sorted({*lower, *told}))
    elif not lower:
        lower = tuple(task for task in tasks if _is_lower(task, metrics[task], models))
    used = sorted({metric for metric in metrics.values()})
    with located(f"{len(paths)} files"):
        found = ScoreTable(
            scores,
            players=[model.name for model in models],
            rounds=tasks,
            lower_is_better=lower,
            scheme=options.scheme or "model/task",
            tournament="lm-evaluation-harness",
        )
    return NotedScores(found, "lm_eval", (f"the scores are {several(used)} (score_column)",))


def _model(path: Path, name: str) -> _Model:
    content = read_content(path)
    where = content.where
    value = parse_json(content.text(), where)
    if not is_lm_eval(value):
        raise InputError(f"{where}: is not a results file of lm-evaluation-harness")
    section = value.get("results", value)
    groups = _groups(value, section)
    higher = value.get("higher_is_better")
    return _Model(
        name=str(value.get("model_name") or name),
        where=where,
        tasks={
            task: scores
            for task, entry in section.items()
            if task not in groups and (scores := _scores(entry, f"{where}, task {shown(task)}"))
        },
        lower=frozenset(
            (task, metric)
            for task, flags in (higher.items() if isinstance(higher, Mapping) else ())
            if isinstance(flags, Mapping)
            for metric, flag in flags.items()
            if flag is False
        ),
    )


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


def _metric(task: str, models: Sequence[_Model], wanted: str | None) -> str:
    """Metric of a task that all of its files have: asked for, else the usual one."""
    with_task = [model for model in models if task in model.tasks]
    common = [key for key in with_task[0].tasks[task]
              if all(key in model.tasks[task] for model in with_task)]  # fmt: skip
    preferred = [*([wanted] if wanted else []), *_PREFERRED]
    for name in preferred:
        for key in common:
            if key == name or key.partition(",")[0] == name:
                return key
    if common:
        return common[0]
    files = f"{with_task[0].where} and others" if len(with_task) > 1 else with_task[0].where
    raise InputError(f"{files}: task {shown(task)} has no metric in common")


def _is_lower(task: str, metric: str, models: Sequence[_Model]) -> bool:
    return any((task, metric.partition(",")[0]) in model.lower for model in models)
