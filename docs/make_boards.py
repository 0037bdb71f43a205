"""Make the page of real boards again: ``python docs/make_boards.py``, with ``BAYES_SOTA_DATA`` set.

A row of the page's table is what ``board --json`` says of one board (``BOARDS``). Below each
``$ bayes-sota …`` of the page stands the beginning of what the command prints, and an image right
after it is its figure. ``--tables FOLDER`` only writes the tables that are made of data in another
form. A test compares the page with what the commands say now.
"""

import argparse
import contextlib
import csv
import gzip
import io
import json
import os
import re
import shlex
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import matplotlib

from bayes_sota.cli import main as bayes_sota

PAGE = Path(__file__).with_name("boards.md")
KAGGLE = "board $BAYES_SOTA_DATA/kaggle/{}__private.csv --field ensembles --n-test {}".format
BOARDS = {
    "Kaggle, obesity risk": KAGGLE("playground-series-s4e2", 11072),
    "Kaggle, cassava leaves": KAGGLE("cassava-leaf-disease-classification", 6618),
    "Kaggle, tabular playground April 2021": KAGGLE("tabular-playground-series-apr-2021", 75226),
    "CIFAR-10, networks": "board $BAYES_SOTA_DATA/cifar10/correct_cifar10_test.csv",
    "ChemBench, language models": "board $BAYES_SOTA_DATA/chembench/correct_chembench.csv",
    "LiveCodeBench, language models in ten runs": "board "
    "$BAYES_SOTA_DATA/livecodebench/execution_runs.csv.gz --column score=right",
    "MTOP, embeddings in six languages": "board embeddings.csv --domain language-models "
    "--n-test 3549,4386,2998,3193,2789,2765",
}
TABLE = re.compile(r"^\| board \|.*\n(?:\|.*\n)+", re.M)
BLOCK = re.compile(
    r"```console\n(?P<shell>(?:\$ .*\n)+)(?P<said>(?:(?!```).*\n)*)```\n"
    r"(?:\n!\[.*?\]\((?P<figure>.+?)\))?"
)


def printed(words: str, *more: str) -> str:
    """Everything that a command prints; its result may be one that is not to be trusted."""
    arguments = shlex.split(os.path.expandvars(words))
    out, error = io.StringIO(), io.StringIO()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            bayes_sota([*arguments, *more])
    except SystemExit as end:
        if end.code not in (0, 1):
            raise RuntimeError(f"{words}: {error.getvalue()}") from end
    return out.getvalue()


def shown(block: re.Match[str], *more: str) -> str:
    """As many sentences of a command as the page has now, and with ``--top`` the table."""
    words = block["shell"].splitlines()[-1].removeprefix("$ bayes-sota ")
    lines = [line.rstrip() for line in printed(words, *more).splitlines()]
    sentences = list(takewhile(lambda line: line.endswith("."), lines))
    kept = sentences[: len(re.findall(r"\.$", block["said"], re.M))]
    if "--top" in words:
        below_its_title = lines[len(sentences) + 2 :]
        kept += ["", *takewhile(bool, below_its_title)]
    return "".join(f"{line}\n" for line in kept)


def row(board: str, said: dict[str, Any]) -> str:
    """The row of a board in the table."""
    first = said["entries"][0]
    mean, ends = first["skill"]["mean"], first["skill"]["interval"]
    cells = (
        board,
        f"{said['n_entries']:,}",
        f"{said['n_test']:,}",
        f"{100 * first['score']:.2f}",
        f"{100 * mean:.2f} ({100 * ends[0]:.2f} to {100 * ends[1]:.2f})",
        "> 0.99" if first["p_best"] > 0.99 else f"{first['p_best']:.2f}",
        f"{said['n_tied_with_best']:,}",
        f"{said['n_separated_neighbours']:,}",
    )
    return f"| {' | '.join(cells)} |\n"


def table() -> str:
    """The table of all boards."""
    head = (
        "| board | entries | items | best score, % | its skill (95 %) | P(best) | may be the best "
        "| neighbours distinguished |\n|---|---|---|---|---|---|---|---|\n"
    )
    rows = (
        row(board, json.loads(printed(words, "--seed", "0", "--json")))
        for board, words in BOARDS.items()
    )
    return head + "".join(rows)


def make() -> None:
    """Draw the figures, and write the table and what is said below every command."""
    os.environ["SOURCE_DATE_EPOCH"] = "0"  # the same figure is the same file
    matplotlib.rcParams["svg.hashsalt"] = "boards"
    text = TABLE.sub(table(), PAGE.read_text(encoding="utf-8"))
    for block in reversed(list(BLOCK.finditer(text))):
        figure = block["figure"]
        now = shown(block, *(["--save", str(PAGE.parent / figure)] if figure else []))
        text = text[: block.start("said")] + now + text[block.end("said") :]
    PAGE.write_text(text, encoding="utf-8")


def write_tables(folder: Path) -> None:
    """Tables of the claims of a review, and of embedding models: tests, and two splits of one."""
    data = Path(os.environ["BAYES_SOTA_DATA"])
    write(folder / "ucr-claims.csv", claims(data / "ucr"))
    scores: dict[str, dict[str, str]] = defaultdict(dict)
    splits = []
    for found in rows_of(data / "mteb_splits" / "validation_and_test.csv.gz"):
        if found["task"] == "MTOPDomainClassification":
            model = found["model"].split("__")[-1]
            scores[model][found["subset"]] = found["test"]
            if found["subset"] == "en":
                splits.append({"model": model, **{k: found[k] for k in ("validation", "test")}})
    n_languages = max(map(len, scores.values()))
    tested = [{"model": k} | v for k, v in scores.items() if len(v) == n_languages]
    write(folder / "embeddings.csv", tested)
    write(folder / "embeddings-en.csv", splits)


def claims(folder: Path) -> list[dict[str, str]]:
    """Claims "the best outperforms the second" of each UCR data set, from the first run."""
    sizes = {found["dataset"]: found for found in rows_of(folder / "test_sizes_inferred.csv")}
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for found in rows_of(folder / "results-ucr-128.csv"):
        if float(found["iteration"]) == 0:
            scores[found["dataset_name"]][found["classifier_name"]] = float(found["accuracy"])
    kept = []
    for dataset, own in scores.items():
        best, second = sorted(own, key=lambda name: own[name], reverse=True)[:2]
        if own[best] > own[second]:  # nobody claims a tie
            kept.append(
                {
                    "name": f"{dataset}: {best} over {second}",
                    "accuracy_a": f"{own[best]:.4f}",
                    "accuracy_b": f"{own[second]:.4f}",
                    "n_test": sizes[dataset]["n_test_smallest_consistent"],
                }
            )
    return kept


def write(path: Path, rows: list[dict[str, str]]) -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a table, which may be compressed."""
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
