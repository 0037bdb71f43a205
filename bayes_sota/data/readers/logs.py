"""What evaluations are opened as: logs of tools, or tables; and folders of logs.

The format is recognised by the content. ``tests/data/test_read_evaluations.py`` and
``test_read_logs.py`` have every format.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown_path
from bayes_sota.data.files.content import Content, read_content
from bayes_sota.data.files.json import json_lines, parse_json, try_json
from bayes_sota.data.files.opening import open_source
from bayes_sota.data.files.tables import Table
from bayes_sota.data.formats import item_logs
from bayes_sota.data.formats.lm_evaluation import is_sample, parts_of_samples
from bayes_sota.data.readers.parts import Choices, Part

ACCEPTED = (
    "a CSV, TSV, Excel or Parquet table with one row per item, samples of Every Eval Ever "
    "(*_samples.jsonl) or lm-evaluation-harness (samples_*.jsonl), or logs of inspect_ai (.json, "
    ".eval)"
)
TABLE = "table"
EEE, LM, INSPECT = (
    "Every Eval Ever file",
    "lm-evaluation-harness sample file",
    "inspect_ai log",
)
# Where tasks and runs stand in logs, for notes.
TASKS_AND_RUNS = {
    EEE: ("evaluation_name", "epochs, or records that repeat a sample"),
    LM: ("the names of the files", "the times in the names of the files"),
    INSPECT: ("eval.task", "epochs, and logs of the same task"),
}
_PATTERNS = ("samples_*.jsonl*", "*_samples.jsonl*", "*.eval", "*.json")
_HEAD = 1_000_000
_MARKS = (
    (b'"doc_id"',),
    (b'"sample_id"', b'"evaluation_name"'),
    (b'"eval"', b'"version"'),
)
type Opened = list[Part] | Table


def files_in(folder: Path) -> list[Path]:
    """Logs in a folder and the folders in it.

    Raises
    ------
    InputError
        There are none, or of several tools.
    """
    of_pattern = {pattern: sorted(folder.rglob(pattern)) for pattern in _PATTERNS}
    matching = {pattern: paths for pattern, paths in of_pattern.items() if paths}
    if len(matching) > 1:  # tools write other JSON beside
        matching.pop("*.json", None)
    if len(matching) != 1:
        what = "with logs of several tools" if matching else "without logs"
        listed = ", ".join(shown_path(paths[0]) for paths in matching.values())
        raise InputError(
            f"{shown_path(folder)}: is a directory {what}{listed and f' ({listed})'}; name the "
            f"files: {ACCEPTED}"
        )
    return next(iter(matching.values()))


def looks_like_logs(path: Path) -> bool:
    """Whether a path is a folder, or a file that an evaluation tool wrote, by its beginning.

    Examples
    --------
    >>> looks_like_logs(Path("no-such-file.jsonl"))
    False
    """
    if path.is_dir():
        return True
    try:
        if item_logs.is_log_archive(path):
            return True
        head = read_content(path, _HEAD)
    except InputError:
        return False
    return head.kind == "json" and any(all(key in head.data for key in keys) for keys in _MARKS)


def open_outcomes(source: Any, path: Path, name: str, choices: Choices) -> tuple[str, Opened]:
    """Format of a source and what it holds; frames have a path that only names them."""
    is_file = isinstance(source, str | os.PathLike)
    if is_file and item_logs.is_log_archive(path):
        return INSPECT, item_logs.parts_of_archive(path, choices)
    opened = open_source(source)
    if isinstance(opened, Content):
        return _opened_json(opened, path, name, choices)
    table = replace(opened, stem=name, where=opened.where if is_file else name)
    if len(table.header) < 2:
        raise InputError(f"{table.where}: is none of the formats that are read: {ACCEPTED}")
    return TABLE, table


def _opened_json(content: Content, path: Path, name: str, choices: Choices) -> tuple[str, Opened]:
    where, text = content.where, content.text()
    if not text.strip():
        raise InputError(f"{where}: the file is empty")
    first, _, rest = text.lstrip().partition("\n")
    value = try_json(first)
    if is_sample(value):
        return LM, parts_of_samples(json_lines(text, where), path, name, choices)
    if item_logs.is_record(value):
        return EEE, item_logs.parts_of_records(json_lines(text, where), where, choices)
    if value is None:
        value = parse_json(text, where)
    elif rest.strip():
        raise _unrecognised(where)
    if item_logs.is_log(value):
        return INSPECT, item_logs.parts_of_log(value, path, choices)
    if isinstance(value, list) and value and is_sample(value[0]):
        samples = ((f"{where}, entry {number}", entry) for number, entry in enumerate(value, 1))
        return LM, parts_of_samples(samples, path, name, choices)
    raise _unrecognised(where)


def _unrecognised(where: str) -> InputError:
    return InputError(
        f"{where}: holds no outcomes of single items in a format that is read: {ACCEPTED}"
    )


def only_kind(kinds: Sequence[str], files: Sequence[Path]) -> str:
    """The format of all files.

    Raises
    ------
    InputError
        They have several.
    """
    for path, other in zip(files, kinds, strict=True):
        if other != kinds[0]:
            raise InputError(
                f"files of one format can be joined; these are of two: {shown_path(files[0])} "
                f"({kinds[0]}) and {shown_path(path)} ({other})"
            )
    return kinds[0]
