"""Make the page of real boards again: ``python docs/make_boards.py``, with ``BAYES_SOTA_DATA`` set.

The page is the one list of the boards: below each ``$ bayes-sota …`` stands what the command says
first, and an image right after it is its figure. ``--check`` compares the sentences and draws
nothing; ``--claims FILE`` writes the table of claims of the review.
"""

import argparse
import contextlib
import csv
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
CLAIMS = "ucr-claims.csv"
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
        Its sentences, one per line.
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
    """What a command prints before its first table."""
    printed, ends = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(ends):
            bayes_sota(arguments)
    except SystemExit as end:
        if end.code not in (0, 1):
            raise RuntimeError(f"{shlex.join(arguments)}: {ends.getvalue()}") from end
    lines = printed.getvalue().splitlines()
    return "".join(f"{line}\n" for line in takewhile(lambda line: line.endswith("."), lines))


def differences() -> list[str]:
    """Sentences of the page that are not what is said now, and what is."""
    found = []
    for shown in shown_on(PAGE.read_text(encoding="utf-8")):
        now = run(shown.arguments)
        if now != shown.said:
            found.append(f"{shlex.join(shown.arguments)}\n- {shown.said}+ {now}")
    return found


def make() -> None:
    """Draw every figure, and write what is said below every command."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same figure is the same file
    matplotlib.rcParams["svg.hashsalt"] = "boards"
    (PAGE.parent / "boards").mkdir(exist_ok=True)
    text = PAGE.read_text(encoding="utf-8")
    for shown in reversed(list(shown_on(text))):
        drawn = ["--figure", str(shown.figure)] if shown.figure else []
        now = run([*shown.arguments, *drawn])
        text = text[: shown.place.start] + now + text[shown.place.stop :]
        if shown.figure:
            print(f"{shown.figure.name}: {shown.figure.stat().st_size / 1024:.0f} kB")
    PAGE.write_text(text, encoding="utf-8")


def write_claims(path: Path) -> None:
    """Claims "the best outperforms the second" of each UCR data set, from the first run."""
    folder = Path(os.environ["BAYES_SOTA_DATA"]) / "ucr"
    sizes = {row["dataset"]: row for row in _rows(folder / "test_sizes_inferred.csv")}
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for row in _rows(folder / "results-ucr-128.csv"):
        if float(row["iteration"]) == 0:
            scores[row["dataset_name"]][row["classifier_name"]] = float(row["accuracy"])
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "accuracy_a", "accuracy_b", "n_test"])
        for dataset, found in scores.items():
            best, second = sorted(found, key=lambda name: found[name], reverse=True)[:2]
            if found[best] > found[second]:  # nobody claims a tie
                accuracies = (f"{found[name]:.4f}" for name in (best, second))
                size = sizes[dataset]["n_test_smallest_consistent"]
                writer.writerow([f"{dataset}: {best} over {second}", *accuracies, size])


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


@contextlib.contextmanager
def beside_claims() -> Iterator[None]:
    """A working directory that holds the table of claims."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        write_claims(Path(CLAIMS))
        yield


def main() -> None:
    """Make the page, check it, or write the claims."""
    parser = argparse.ArgumentParser(description="Make the page of real boards again.")
    parser.add_argument("--check", action="store_true", help="only compare the sentences")
    parser.add_argument("--claims", type=Path, help="only write the table of claims")
    chosen = parser.parse_args()
    if "BAYES_SOTA_DATA" not in os.environ:
        sys.exit("BAYES_SOTA_DATA is not set: it names the directory of the real leaderboards")
    if chosen.claims is not None:
        write_claims(chosen.claims)
        return
    with beside_claims():
        found = differences() if chosen.check else make()
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
