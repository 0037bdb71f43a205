"""What Every Eval Ever keeps of every sample: a JSON object a line, of any models and tasks.

An evaluation is a task, a sample an item. Records that repeat a sample are its metrics where
``evaluation_result_id`` tells them apart, else its runs; converters put the epoch into the
metadata. ``tests/data/test_read_logs.py`` compares with tables written by hand.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.readers.columns import number_of, several
from bayes_sota.data.readers.parts import (
    Choices,
    ItemLabels,
    Part,
    add_once,
    choose,
    item_name,
    outcome_of,
)

_KEYS = ("model_id", "evaluation_name", "sample_id", "evaluation")
_PREFERRED = ("exact_match", "quasi_exact_match", "accuracy", "acc")
_OUTCOMES = ("score", "is_correct")
type Record = tuple[str, dict[str, Any]]  # place and content


def is_record(value: object) -> bool:
    """Whether a JSON value is a record of one sample."""
    return isinstance(value, dict) and set(_KEYS) <= set(value)


def parts_of_records(records: Iterable[Record], where: str, choices: Choices) -> list[Part]:
    """Outcomes of one file, one part for each model, evaluation and run.

    Parameters
    ----------
    records : iterable of (str, dict)
    where : str
        The file.
    choices : Choices
        ``metric`` may be "score" (default), "is_correct", or an ``evaluation_result_id``.
    """
    groups: dict[tuple[str, str], list[Record]] = {}
    for place, record in records:
        lacking = [key for key in _KEYS if key not in record]
        if lacking:
            raise InputError(
                f"{place}: a sample of Every Eval Ever has {', '.join(_KEYS)}; {lacking[0]} is "
                "missing"
            )
        names = [item_name(record[key], f"{place}, {key}") for key in _KEYS[:2]]
        groups.setdefault((names[0], names[1]), []).append((place, record))
    return [
        part
        for (model, task), of in groups.items()
        for part in _parts(of, model, task, where, choices)
    ]


def _parts(
    records: list[Record], model: str, task: str, where: str, choices: Choices
) -> list[Part]:
    """Parts of one model and evaluation."""
    records, metric = _of_one_metric(records, where, choices.metric)
    key = "is_correct" if choices.metric == "is_correct" else "score"
    labels, hashes, by_doc = ItemLabels(choices), {}, True
    repeats: Counter[object] = Counter()
    runs: dict[tuple[str, int], dict[str, float | None]] = {}
    for place, record in records:
        item = item_name(record["sample_id"], f"{place}, sample_id")
        about = record.get("metadata")
        about = about if isinstance(about, Mapping) else {}
        of = str(record.get("evaluation_id"))
        repeats[of, item] += 1
        epoch = number_of(about.get("epoch"))
        answers = runs.setdefault((of, repeats[of, item] if epoch is None else int(epoch)), {})
        add_once(answers, item, _outcome(record["evaluation"], key, place), f"{place}: sample_id")
        labels.add(item, about, f"{place}, metadata")
        mark = about.get("doc_hash") or record.get("sample_hash")
        by_doc &= bool(about.get("doc_hash"))
        if mark:
            hashes[item] = str(mark)
    graded = {value for answers in runs.values() for value in answers.values()} - {0.0, 1.0, None}
    told = f"the outcome is the score; is_correct (metric) says right or wrong ({shown(task)})"
    parts = (
        Part.of(
            where,
            model,
            runs[run],
            metric=metric,
            task=task,
            run=run,
            hashes=hashes,
            hashed="document" if by_doc else "prompt",
            reason=f"without {key}",
            notes=(told,) if graded and choices.metric is None else (),
        )
        for run in sorted(runs)
    )
    return labels.split(parts)


def _of_one_metric(
    records: list[Record], where: str, wanted: str | None
) -> tuple[list[Record], str]:
    """Records of one metric, and its name; of all where no sample has several."""
    of_sample: dict[str, set[str]] = {}
    for _, record in records:
        result = str(record.get("evaluation_result_id") or "")
        of_sample.setdefault(str(record["sample_id"]), set()).add(result)
    names = sorted(set().union(*of_sample.values()))
    plain = wanted is None or wanted in _OUTCOMES
    if plain and all(len(result) == 1 for result in of_sample.values()):
        return records, ""
    stems = {name.partition(":")[0]: name for name in sorted(names, key=len, reverse=True)}
    chosen = None if plain else stems.get(str(wanted), wanted)
    names = [name for name in names if name] or list(_OUTCOMES)
    name = choose(names, chosen, [stems[s] for s in _PREFERRED if s in stems], where, "metric")
    kept = [one for one in records if str(one[1].get("evaluation_result_id") or "") == name]
    return kept, name


def _outcome(evaluation: object, key: str, place: str) -> float | None:
    """Score of a sample, or whether it is right; written as text in older files."""
    if not isinstance(evaluation, Mapping):
        raise InputError(f"{place}: evaluation is an object, got {shown(evaluation)}")
    if key not in evaluation:
        raise InputError(f"{place}: evaluation has no {key}; it has {several(evaluation)}")
    value = evaluation[key]
    if isinstance(value, str):
        number = number_of(value)
        value = number if number is not None else {"true": 1, "false": 0}.get(value.lower(), value)
    return None if value is None else outcome_of(value, place, key)
