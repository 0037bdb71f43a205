"""Bundled examples: best scores of public leaderboards, and answers of real classifiers."""

import lzma
import tomllib
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import make_directory, whole_file
from bayes_sota.core.text import shown_path
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.data.outcomes import Outcomes

_HERE = Path(__file__).parent


def load_example(name: str) -> BestScore:
    """Best score of a real leaderboard: "obesity-risk", "obesity-risk-paper" or "cassava".

    ``data/examples.toml`` gives the sources. "obesity-risk-paper" is the same board as Møllersen
    and Holsbø treat it; "cassava" is a counter-example, whose winner stands apart.

    Raises
    ------
    InputError
        No example has that name.

    Examples
    --------
    >>> board = load_example("obesity-risk")
    >>> board.maximum, board.n_test, board.n_classifiers, board.counts
    (0.91157, 11072, 3558, (10093, 10093))
    """
    boards = tomllib.loads((_HERE / "examples.toml").read_text("utf-8"))
    check_choice("name", name, boards)
    return BestScore(**boards[name], name=name)


class ResponsesExample(NamedTuple):
    """Answers of the same real classifiers to test items, and to many held-out ones."""

    test: Outcomes
    held_out: Outcomes
    families: tuple[str, ...]


@cache
def load_responses_example(name: str = "digits") -> ResponsesExample:
    """Bundled response matrix of a given name; there is one, "digits".

    313 scikit-learn classifiers of many kinds learnt handwritten digits (UCI Optical Recognition of
    Handwritten Digits, doi 10.24432/C50P49) from at most 300 images and answered the others.

    Examples
    --------
    >>> example = load_responses_example("digits")
    >>> example.test, example.held_out.n_items
    (<Outcomes 'digits-test': 250 items x 313 classifiers>, 1247)
    """
    check_choice("name", name, ("digits",))
    content = lzma.decompress((_HERE / "digits_responses.xz").read_bytes()).split(b"\n", 2)
    names, items = (line.decode().split("\t") for line in content[:2])
    correct = np.zeros((len(names), len(items)), np.uint8)
    cells = np.frombuffer(content[2], np.uint8).reshape(len(names), -1)
    for j, row in enumerate(cells):  # where it differs from a row before it, hard items first
        order = np.argsort(correct[:j].sum(axis=0), kind="stable")
        like = correct[int.from_bytes(row[:2]), order]
        correct[j, order] = like ^ np.unpackbits(row[2:], count=len(items))
    answers = Outcomes(correct.T, names=names, items=items)
    shown = np.char.startswith(items, "test/")
    test, held_out = (answers.subset(items=rows) for rows in (shown, ~shown))
    named = test.copy_with(name=f"{name}-test"), held_out.copy_with(name=f"{name}-held-out")
    return ResponsesExample(*named, tuple(label.partition("/")[0] for label in names))


def write_examples(directory: str | Path) -> list[Path]:
    """Write a file of each kind, and README.txt, which says which command reads it.

    Raises
    ------
    InputError
        One of the files is there already, or the directory cannot be written to.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     len([path.name for path in write_examples(folder) if path.suffix == ".csv"])
    15
    """
    source, folder = _HERE / "example_files", Path(directory)
    files = {folder / path.relative_to(source): path for path in source.rglob("*.*")}
    if there := [target for target in files if target.exists()]:
        raise InputError(f"{shown_path(there[0])} exists: name another directory")
    for target, path in files.items():
        make_directory(target.parent)
        with whole_file(target) as draft:
            draft.write_bytes(path.read_bytes())
    return sorted(files)
