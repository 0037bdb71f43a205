"""Make the page of real boards again: ``python docs/make_boards.py``, with ``BAYES_SOTA_DATA`` set.

The page is the one list of the boards: below each ``$ bayes-sota …`` stands what the command says
first, with the first rows of its table where it has ``--top``, and an image right after it is its
figure. ``--tables FOLDER`` writes the tables that are made of data in another form. A test compares
what the page says with what is said now.
"""

import argparse
import contextlib
import csv
import gzip
import io
import os
import re
import shlex
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

import matplotlib

from bayes_sota.cli import main as bayes_sota

PAGE = Path(__file__).with_name("boards.md")
_BLOCK = re.compile(
    r"```console\n(?P<shell>(?:\$ .*\n)+)(?P<said>(?:(?!```).*\n)*)```\n"
    r"(?:\n!\[.*?\]\((?P<figure>.+?)\))?"
)


@dataclass(frozen=True)
class Shown:
    """A command of the page, and where what it says stands.

    Attributes
    ----------
    arguments : list of str
        Of ``bayes-sota``.
    said : str
        Its sentences, one per line, and rows of a table.
    place : slice
        Of the sentences, in the text of the page.
    figure : Path or None
    """

    arguments: list[str]
    said: str
    place: slice
    figure: Path | None


def shown_on(text: str) -> Iterator[Shown]:
    """The commands of the page, from the first to the last."""
    for found in _BLOCK.finditer(text):
        typed = found["shell"].splitlines()[-1].removeprefix("$ bayes-sota ")
        arguments = shlex.split(os.path.expandvars(typed))
        place = slice(*found.span("said"))
        figure = PAGE.parent / found["figure"] if found["figure"] else None
        yield Shown(arguments, found["said"], place, figure)


def run(arguments: list[str]) -> str:
    """What a command prints before its first table, and with ``--top`` this table."""
    printed, ends = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(ends):
            bayes_sota(arguments)
    except SystemExit as end:
        if end.code not in (0, 1):
            raise RuntimeError(f"{shlex.join(arguments)}: {ends.getvalue()}") from end
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    said = list(takewhile(lambda line: line.endswith("."), lines))
    if "--top" in arguments:
        below_its_title = lines[len(said) + 2 :]
        said += ["", *takewhile(bool, below_its_title)]
    return "".join(f"{line}\n" for line in said)


def make() -> None:
    """Draw every figure, and write what is said below every command."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same figure is the same file
    matplotlib.rcParams["svg.hashsalt"] = "boards"
    (PAGE.parent / "boards").mkdir(exist_ok=True)
    text = PAGE.read_text(encoding="utf-8")
    for shown in reversed(list(shown_on(text))):
        drawn = ["--save", str(shown.figure)] if shown.figure else []
        now = run([*shown.arguments, *drawn])
        text = text[: shown.place.start] + now + text[shown.place.stop :]
        if shown.figure:
            print(f"{shown.figure.name}: {shown.figure.stat().st_size / 1024:.0f} kB")
    PAGE.write_text(text, encoding="utf-8")


def write_tables(folder: Path) -> None:
    """Tables of the claims of a review, and of embedding models: tests, and two splits of one."""
    data = Path(os.environ["BAYES_SOTA_DATA"])
    _write(folder / "ucr-claims.csv", _claims(data / "ucr"))
    scores: dict[str, dict[str, str]] = defaultdict(dict)
    splits = []
    for row in _rows(data / "mteb_splits" / "validation_and_test.csv.gz"):
        if row["task"] == "MTOPDomainClassification":
            model = row["model"].split("__")[-1]
            scores[model][row["subset"]] = row["test"]
            if row["subset"] == "en":
                splits.append({"model": model, **{k: row[k] for k in ("validation", "test")}})
    n_languages = max(map(len, scores.values()))
    tested = [{"model": k} | v for k, v in scores.items() if len(v) == n_languages]
    _write(folder / "embeddings.csv", tested)
    _write(folder / "embeddings-en.csv", splits)


def _claims(folder: Path) -> list[dict[str, str]]:
    """Claims "the best outperforms the second" of each UCR data set, from the first run."""
    sizes = {row["dataset"]: row for row in _rows(folder / "test_sizes_inferred.csv")}
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for row in _rows(folder / "results-ucr-128.csv"):
        if float(row["iteration"]) == 0:
            scores[row["dataset_name"]][row["classifier_name"]] = float(row["accuracy"])
    claims = []
    for dataset, found in scores.items():
        best, second = sorted(found, key=lambda name: found[name], reverse=True)[:2]
        if found[best] > found[second]:  # nobody claims a tie
            claims.append(
                {
                    "name": f"{dataset}: {best} over {second}",
                    "accuracy_a": f"{found[best]:.4f}",
                    "accuracy_b": f"{found[second]:.4f}",
                    "n_test": sizes[dataset]["n_test_smallest_consistent"],
                }
            )
    return claims


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


@contextlib.contextmanager
def beside_tables() -> Iterator[None]:
    """A working directory that holds the tables made of data in another form."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_tables(Path())
        yield


def main() -> None:
    """Make the page, or write the tables."""
    parser = argparse.ArgumentParser(description="Make the page of real boards again.")
    parser.add_argument("--tables", type=Path, help="only write the tables into this folder")
    chosen = parser.parse_args()
    if "BAYES_SOTA_DATA" not in os.environ:
        sys.exit("BAYES_SOTA_DATA is not set: it names the directory of the real leaderboards")
    if chosen.tables is not None:
        write_tables(chosen.tables)
        return
    with beside_tables():
        make()


if __name__ == "__main__":
    main()
