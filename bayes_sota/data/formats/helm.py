"""Per-instance statistics of HELM: ``<scenario>:...,model=<model>/per_instance_stats.json``.

Perturbed copies of an instance are left out, trials are repeated runs
(``tests/data/test_read_evaluations.py``).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown, shown_path
from bayes_sota.data.columns import several
from bayes_sota.data.parts import Choices, Part, choose, item_name, outcome_of

_FILE = "per_instance_stats.json"
_PREFERRED = ("exact_match", "quasi_exact_match")
# What HELM counts besides: of the request, not of the answer.
_BOOKKEEPING = (
    "num_", "finish_reason_", "inference_", "training_", "batch_size", "prompt_truncated", "max_",
    "logprob", "predicted_index",
)  # fmt: skip


def is_instance(value: object) -> bool:
    """Whether a JSON value holds the statistics of one instance."""
    return isinstance(value, dict) and {"instance_id", "stats"} <= set(value)


def parts_of_instances(instances: list[Any], path: Path, name: str, choices: Choices) -> list[Part]:
    """Outcomes of one file, one part per trial.

    Parameters
    ----------
    instances : list
        The content of the file.
    path : Path
        The file; its folder says model and scenario.
    name : str
        Name of the model where the folder does not say it.
    choices : Choices
    """
    where = shown_path(path)
    trials, perturbed = _by_trial(instances, where)
    names = sorted({key for trial in trials.values() for stats in trial.values() for key in stats})
    offered = [key for key in names if not key.startswith(_BOOKKEEPING)]
    known = names if choices.metric in names else offered
    metric = choose(known, choices.metric, _PREFERRED, where, "metric")
    method, task = _model_and_scenario(path, name)
    notes = [f"{where}: {perturbed} perturbed instances are left out"] if perturbed else []
    others = [key for key in offered if key != metric]
    if choices.metric is None and others:
        notes.append(f"the outcome is {shown(metric)}; {where} also holds {several(others)}")
    return [
        Part.of(
            where,
            method,
            {
                item: outcome_of(stats[metric], f"{where}, instance {shown(item)}", metric)
                if metric in stats
                else None
                for item, stats in trials[trial].items()
            },
            metric=metric,
            task=task,
            run=(trial,),
            reason=f"without {shown(metric)}",
            notes=tuple(notes),
        )
        for trial in sorted(trials)
    ]


def _by_trial(
    instances: list[Any], where: str
) -> tuple[dict[int, dict[str, dict[str, object]]], int]:
    """Statistics of each instance as it was asked, by trial; number of perturbed copies."""
    trials: dict[int, dict[str, dict[str, object]]] = {}
    perturbed = 0
    for number, instance in enumerate(instances, start=1):
        place = f"{where}, entry {number}"
        if not is_instance(instance):
            raise InputError(f"{place}: must have instance_id and stats, got {shown(instance)}")
        if instance.get("perturbation") is not None:
            perturbed += 1
            continue
        item = item_name(instance["instance_id"], f"{place}, instance_id")
        trial = instance.get("train_trial_index", 0)
        if isinstance(trial, bool) or not isinstance(trial, int):
            raise InputError(f"{place}: train_trial_index is a number, got {shown(trial)}")
        found = trials.setdefault(trial, {})
        if item in found:
            raise InputError(f"{place}: instance {shown(item)} occurs more than once")
        found[item] = _statistics(instance["stats"], place)
    return trials, perturbed


def _statistics(stats: object, place: str) -> dict[str, object]:
    """Mean of each statistic of an instance as it was asked."""
    if not isinstance(stats, list):
        raise InputError(f"{place}: stats is a list, got {shown(stats)}")
    found: dict[str, object] = {}
    for stat in stats:
        name = stat.get("name") if isinstance(stat, Mapping) else None
        if not isinstance(name, Mapping) or not isinstance(name.get("name"), str):
            raise InputError(
                f'{place}: a statistic is {{"name": {{"name": ...}}, "mean": ...}}, got '
                f"{shown(stat)}"
            )
        if stat.get("mean") is None or name.get("perturbation") is not None:
            continue
        if name["name"] in found:
            raise InputError(f"{place}: {shown(name['name'])} occurs more than once")
        found[name["name"]] = stat["mean"]
    return found


def _model_and_scenario(path: Path, name: str) -> tuple[str, str]:
    """Model and scenario as the folder says them.

    Examples
    --------
    >>> _model_and_scenario(Path("mmlu:subject=law,model=openai_gpt-4/per_instance_stats.json"), "")
    ('openai_gpt-4', 'mmlu:subject=law')
    """
    folder = path.resolve().parent.name
    scenario, _, arguments = folder.partition(":")
    values = arguments.split(",")
    models = [value.removeprefix("model=") for value in values if value.startswith("model=")]
    if path.name.startswith(_FILE) and models:
        rest = [value for value in values if not value.startswith(("model=", "model_deployment="))]
        return models[0], scenario + (":" + ",".join(rest) if rest else "")
    return name.removesuffix("per_instance_stats").rstrip("_-.") or folder, ""
