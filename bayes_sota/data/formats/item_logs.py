"""Logs that say what a model got for every item: of inspect_ai and Every Eval Ever.

inspect_ai writes JSON, or the archive ``.eval`` with one JSON file per sample. "C" counts 1, "P"
one half, "I" and "N" (no answer) 0, as its ``value_to_float`` does by default; epochs are runs.
Every Eval Ever keeps a JSON object a line, of any models and tasks: an evaluation is a task, a
sample an item. Records that repeat a sample are its metrics where ``evaluation_result_id`` tells
them apart, else its runs; converters put the epoch into the metadata
(``tests/data/test_read_logs.py``).
"""

import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_file
from bayes_sota.core.text import several, shown, shown_path
from bayes_sota.data.files import tables
from bayes_sota.data.files.content import Content, read_bounded, readable
from bayes_sota.data.files.json import parse_json
from bayes_sota.data.readers.columns import number_of
from bayes_sota.data.readers.parts import (
    Choices,
    ItemLabels,
    Part,
    add_once,
    choose,
    item_name,
    outcome_of,
)

_LARGEST_ARCHIVE = 10 * tables.MAX_BYTES  # of all samples, which are read one at a time
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
type Sample = tuple[str, str, int, Mapping[str, object], object]
# place, item, epoch, value of each scorer, what else is said of the item
_RECORD = ("model_id", "evaluation_name", "sample_id", "evaluation")
_USUAL = ("exact_match", "quasi_exact_match", "accuracy", "acc")
_OUTCOMES = ("score", "is_correct")
type Record = tuple[str, dict[str, Any]]  # place and content


def is_log(value: object) -> bool:
    """Whether a JSON value is a log."""
    return isinstance(value, dict) and isinstance(value.get("eval"), dict) and "version" in value


def is_log_archive(path: Path) -> bool:
    """Whether a file is an archive of a log."""
    check_file(path)
    if not zipfile.is_zipfile(path):
        return False
    with readable(shown_path(path), "cannot be read or unpacked"), zipfile.ZipFile(path) as archive:
        return bool({"header.json", "_journal/start.json"} & set(archive.namelist()))


def parts_of_log(log: Mapping[str, Any], path: Path, choices: Choices) -> list[Part]:
    """Outcomes of one log, one part per epoch."""
    where, samples = shown_path(path), log.get("samples")
    listed = samples if isinstance(samples, list) else []
    entries = ((f"{where}, sample {number}", value) for number, value in enumerate(listed, start=1))
    return _parts(log, [_sample(value, place) for place, value in entries], where, choices)


def parts_of_archive(path: Path, choices: Choices) -> list[Part]:
    """Outcomes of one archive, read sample by sample, one part per epoch."""
    where = shown_path(path)
    with readable(where, "cannot be unpacked"), zipfile.ZipFile(path) as archive:
        if "header.json" not in archive.namelist():
            raise InputError(f"{where}: the evaluation is not finished (no header.json)")
        header = _member(archive, archive.getinfo("header.json"), where)
        samples = [_sample(value, place) for place, value in _members(archive, where)]
    if not is_log(header):
        raise InputError(f"{where}/header.json: must hold version and eval, got {shown(header)}")
    return _parts(header, samples, where, choices)


def _members(archive: zipfile.ZipFile, where: str) -> Iterator[tuple[str, Any]]:
    """Place and content of each sample of an archive."""
    total = 0
    for member in archive.infolist():
        if not member.filename.startswith("samples/") or not member.filename.endswith(".json"):
            continue
        total += member.file_size
        if total > _LARGEST_ARCHIVE:
            raise InputError(
                f"{where}: more than {_LARGEST_ARCHIVE:,} bytes unpacked, which is the limit"
            )
        yield f"{where}/{shown(member.filename)[1:-1]}", _member(archive, member, where)


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, where: str) -> Any:
    place = f"{where}/{shown(member.filename)[1:-1]}"
    with archive.open(member) as file:
        content = Content(read_bounded(file, place), place, member.filename)
    return parse_json(content.text(), place)


def _sample(value: object, place: str) -> Sample:
    if not isinstance(value, Mapping) or "id" not in value:
        raise InputError(f"{place}: a sample has an id, got {shown(value)}")
    epoch = value.get("epoch", 1)
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise InputError(f"{place}: epoch is a number, got {shown(epoch)}")
    scores = value.get("scores") or {}
    if not isinstance(scores, Mapping):
        raise InputError(f"{place}: scores is an object, got {shown(scores)}")
    values: dict[str, object] = {}
    for scorer, score in scores.items():
        if not isinstance(score, Mapping) or "value" not in score:
            raise InputError(f"{place}: the score of {shown(scorer)} has no value")
        if not _is_unscored(score["value"]):
            values[scorer] = score["value"]
    return place, item_name(value["id"], f"{place}, id"), epoch, values, value.get("metadata")


def _is_unscored(value: object) -> bool:
    """Whether a sample was set aside by its scorer: NaN, or nothing."""
    return value is None or (isinstance(value, float) and value != value)


def _parts(
    log: Mapping[str, Any], samples: list[Sample], where: str, choices: Choices
) -> list[Part]:
    if not samples:
        raise InputError(f"{where}: the log has no samples; was it written without them?")
    about = log["eval"]
    for key in ("model", "task"):
        if not isinstance(about.get(key), str) or not about[key]:
            raise InputError(f"{where}: eval.{key} must be a name, got {shown(about.get(key))}")
    scorer, wanted = _scorer({scorer for sample in samples for scorer in sample[3]}, where, choices)
    metric = _metric(
        (sample[3][scorer] for sample in samples if scorer in sample[3]), where, wanted
    )
    started = str(about.get("created") or about.get("run_id") or "")
    runs: dict[tuple[str, int], dict[str, float | None]] = {}
    labels = ItemLabels(choices)
    for place, item, epoch, values, rest in samples:
        answers = runs.setdefault((started, epoch), {})
        value = values.get(scorer)
        outcome = None if value is None else _number(value, metric, place)
        add_once(answers, item, outcome, f"{place}: of epoch {epoch}, sample")
        labels.add(item, rest, f"{place}, metadata")
    status = log.get("status", "success")
    told = (f"{where}: the evaluation ended with status {shown(status)}",)
    return labels.parts(
        where,
        about["model"],
        runs,
        metric=scorer + (f".{metric}" if metric else ""),
        task=about["task"],
        reason=f"without a score by {shown(scorer)}",
        notes=() if status in (None, "success") else told,
    )


def _scorer(scorers: set[str], where: str, choices: Choices) -> tuple[str, str | None]:
    """Scorer whose outcomes count, and which of its numbers; a metric may name the scorer."""
    metric, scorer = choices.metric, None
    first, _, rest = (metric or "").partition(".")
    if metric in scorers:
        scorer, metric = metric, None
    elif first in scorers:
        scorer, metric = first, rest
    return choose(sorted(scorers), scorer, (), where, "metric"), metric


def _metric(values: Iterable[object], where: str, wanted: str | None) -> str:
    """Which of several numbers of one scorer counts; nothing where it gives one number."""
    kinds = {tuple(sorted(value)) if isinstance(value, Mapping) else () for value in values}
    if kinds == {()}:
        if wanted is not None:
            raise InputError(
                f"{where}: the scorer gives one number, there is no metric {shown(wanted)}"
            )
        return ""
    names = sorted({name for kind in kinds for name in kind})
    return choose(names, wanted, (), where, "metric")


def _number(value: object, metric: str, place: str) -> float | None:
    """A score as inspect_ai counts it; None where a sample was not scored."""
    if metric:
        if not isinstance(value, Mapping) or metric not in value:
            raise InputError(f"{place}: the score has no {shown(metric)}")
        value = value[metric]
        if _is_unscored(value):
            return None
    if not isinstance(value, str):
        return outcome_of(value, place, "a score")
    if value in _GRADES:
        return _GRADES[value]
    if value.lower() in _WORDS:
        return _WORDS[value.lower()]
    number = number_of(value)
    if number is None:
        raise InputError(
            f"{place}: a score is a number, true, false or one of {several(list(_GRADES))}, got "
            f"{shown(value)}"
        )
    return number


def is_record(value: object) -> bool:
    """Whether a JSON value is a record of one sample."""
    return isinstance(value, dict) and set(_RECORD) <= set(value)


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
        lacking = [key for key in _RECORD if key not in record]
        if lacking:
            raise InputError(
                f"{place}: a sample of Every Eval Ever has {', '.join(_RECORD)}; {lacking[0]} is "
                "missing"
            )
        names = [item_name(record[key], f"{place}, {key}") for key in _RECORD[:2]]
        groups.setdefault((names[0], names[1]), []).append((place, record))
    return [
        part
        for (model, task), of in groups.items()
        for part in _parts_of_model(of, model, task, where, choices)
    ]


def _parts_of_model(
    records: list[Record], model: str, task: str, where: str, choices: Choices
) -> list[Part]:
    """Parts of one model and evaluation."""
    records, metric = _of_one_metric(records, where, choices.metric)
    key = "is_correct" if choices.metric == "is_correct" else "score"
    labels, hashes = ItemLabels(choices), {}
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
        add_once(
            answers,
            item,
            _graded(record["evaluation"], key, place),
            f"{place}: sample_id",
        )
        labels.add(item, about, f"{place}, metadata")
        if about.get("doc_hash"):
            hashes[item] = str(about["doc_hash"])
    graded = {value for answers in runs.values() for value in answers.values()} - {0.0, 1.0, None}
    told = f"the outcome is the score; is_correct (metric) says right or wrong ({shown(task)})"
    return labels.parts(
        where,
        model,
        runs,
        metric=metric,
        task=task,
        hashes=hashes,
        reason=f"without {key}",
        notes=(told,) if graded and choices.metric is None else (),
    )


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
    name = choose(names, chosen, [stems[s] for s in _USUAL if s in stems], where, "metric")
    kept = [one for one in records if str(one[1].get("evaluation_result_id") or "") == name]
    return kept, name


def _graded(evaluation: object, key: str, place: str) -> float | None:
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
