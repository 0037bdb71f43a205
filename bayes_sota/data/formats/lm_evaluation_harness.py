"""Samples of lm-evaluation-harness: one line per document, or one per document and filter.

The task stands in the name of the file, the model in that of its folder:
``<model>/samples_<task>_<timestamp>.jsonl`` (``tests/data/test_read_evaluations.py``).
"""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown, shown_path
from bayes_sota.data.parts import (
    Choices,
    Part,
    choose,
    item_name,
    outcome_of,
    several,
)

__all__ = ["is_sample", "part_of_samples"]

_FILE = re.compile(
    r"samples_(?P<task>.+)_(?P<time>\d{4}-\d\d-\d\dT\d\d[-:]\d\d[-:]\d\d(\.\d+)?)\.jsonl?(\.gz|\.zip)?"
)
_PREFERRED = ("acc", "exact_match", "acc_norm")
_NOT_METRICS = frozenset(
    ("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics",
     "doc_hash", "prompt_hash", "target_hash")
)  # fmt: skip


def is_sample(value: object) -> bool:
    """Whether a JSON value is a sample."""
    return isinstance(value, dict) and "doc_id" in value


def part_of_samples(
    samples: Iterable[tuple[str, dict[str, Any]]], path: Path, name: str, choices: Choices
) -> Part:
    """Outcomes of one file.

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
    metric, others = "", []
    filters: dict[str, dict[str, float]] = {}
    hashes: dict[str, str] = {}
    for place, sample in samples:
        if not is_sample(sample):
            raise InputError(f"{place}: a sample has a doc_id, this has {several(list(sample))}")
        if not metric:
            names = _metrics(sample)
            metric = choose(names, wanted or None, _PREFERRED, where, "metric")
            others = [name for name in names if name != metric]
        item = item_name(sample["doc_id"], f"{place}, doc_id")
        if metric not in sample:
            raise InputError(f"{place}: doc_id {shown(item)} has no {metric}")
        outcomes = filters.setdefault(str(sample.get("filter", "none")), {})
        if item in outcomes:
            raise InputError(f"{place}: doc_id {shown(item)} occurs more than once")
        outcomes[item] = outcome_of(sample[metric], place, metric)
        _add_hash(hashes, item, sample, place)
    found = _FILE.fullmatch(path.name)
    return Part(
        where=where,
        method=path.resolve().parent.name if found else name,
        outcomes=_filtered(filters, chosen_filter, metric, where),
        metric=metric,
        task=found["task"] if found else "",
        run=(found["time"],) if found else (),
        hashes=hashes,
        notes=_note_of(metric, others if choices.metric is None else []),
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


def _add_hash(hashes: dict[str, str], item: str, sample: Mapping[str, Any], place: str) -> None:
    found = sample.get("doc_hash")
    if found is None:
        return
    if hashes.setdefault(item, str(found)) != str(found):
        raise InputError(f"{place}: doc_id {shown(item)} has two documents (doc_hash)")


def _filtered(
    filters: Mapping[str, dict[str, float]], wanted: str, metric: str, where: str
) -> dict[str, float]:
    """Outcomes after one filter; after any if they agree."""
    names = sorted(filters)
    if wanted:
        return filters[choose(names, wanted, (), where, "filter")]
    first = filters[names[0]]
    for name in names[1:]:
        other = filters[name]
        for item in (*first, *other):
            if first.get(item) != other.get(item):
                raise InputError(
                    f"{where}: the filters {several(names)} disagree, first at doc_id "
                    f"{shown(item)}; choose one: metric={shown(f'{metric},{names[0]}')}"
                )
    return first


def _note_of(metric: str, others: list[str]) -> tuple[str, ...]:
    if not others:
        return ()
    return (f"the outcome is {shown(metric)}; the files also hold {several(others)} (metric)",)
