"""What commands answered before a change: ``python tests/benchmarks/golden.py write|check``.

``write`` stores the JSON of one command for every kind of input in ``golden.json``; ``check`` runs
them again and prints each number that differs by more than one part in 10^9. The same seed gives
the same numbers on one machine; on another, the last bits of a number may decide another draw.
"""

import contextlib
import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz.corpus import corpus

from bayes_sota.cli import main

GOLDEN = Path(__file__).with_suffix(".json")
FIXED = (
    "sota --maximum 0.9116 --n-test 13840 --classifiers 3558 --seed 1 --json",
    "sota --maximum 0.91 --n-test 500 --classifiers 5:50 --draws 500 --seed 1 --json",
    "sota --maximum 0.91 --n-test 300 --n-positive 90 --metric auc --classifiers 30 --draws 200 "
    "--seed 1 --json",
    "maximum --n-test 3000 --classifiers 1000 --theta 0.9 --correlation 0.6 --json",
    "maximum --metric auc --n-test 60 --n-positive 20 --classifiers 9 --theta 0.9 --json",
    "claim classification --accuracy 0.91 0.90 --n-test 5000 --json",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100 --json",
    "claim plan --gap 0.02 --winner 0.9 --n-test 300 --json",
)


def commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Name and arguments of every command, its files written."""
    yield from ((line, line.split()) for line in FIXED)
    for case in corpus():
        for name, content in {case.name: case.content, **case.others}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        places = {"{file}": case.name, "{other}": next(iter(case.others), "")}
        words = [str(folder / places[word]) if word in places else word for word in case.command]
        yield " ".join(case.command).replace("{file}", case.name), words


def answer(arguments: list[str], folder: Path) -> Any:
    """The JSON of a command, without places of files; its error where it has none."""
    output, errors = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        contextlib.suppress(SystemExit),
    ):
        main(arguments)
    text = (output.getvalue() or errors.getvalue()).replace(str(folder), "FOLDER")
    return json.loads(text) if text.startswith("{") else text


def differences(old: Any, new: Any, place: str = "") -> Iterator[str]:
    """What differs between two answers."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            yield from differences(old.get(key), new.get(key), f"{place}/{key}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differences(a, b, f"{place}/{index}")
    elif isinstance(old, float) and isinstance(new, float):
        if abs(old - new) > 1e-9 * max(abs(old), abs(new)):
            yield f"{place}: {old} before, {new} now"
    elif old != new:
        yield f"{place}: {str(old)[:80]} before, {str(new)[:80]} now"


def run() -> int:
    """Write or check, and the number of commands that differ."""
    known = json.loads(GOLDEN.read_text()) if sys.argv[1:] == ["check"] else {}
    found, changed = {}, 0
    with TemporaryDirectory() as name:
        for label, arguments in commands(Path(name)):
            found[label] = answer(arguments, Path(name))
            if known and (lines := list(differences(known.get(label), found[label]))):
                changed += 1
                print(label, *lines[:5], sep="\n    ")
    if not known:
        GOLDEN.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    print(f"{len(found)} commands, {changed} differ")
    return changed


if __name__ == "__main__":
    sys.exit(bool(run()))
