"""Bundled examples against the leaderboards that they were read from."""

import csv
from pathlib import Path

import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.examples import (
    Example,
    list_examples,
    load_example,
    load_responses_example,
)

BOARDS = {
    "obesity-risk": "playground-series-s4e2",
    "cassava": "cassava-leaf-disease-classification",
}


@pytest.mark.parametrize("example", list_examples(), ids=lambda e: e.name)
def test_example_builds_a_board_and_names_its_sources(example: Example) -> None:
    board = example.leaderboard()
    assert (board.name, board.n_test) == (example.name, example.n_test)
    assert board.n_classifiers == example.n_classifiers
    assert all((example.source, example.n_test_source, example.note))
    assert load_example(example.name) is example


def test_unknown_example_lists_those_that_exist() -> None:
    with pytest.raises(InputError, match="no example 'melanoma'; examples: obesity-risk, "):
        load_example("melanoma")
    with pytest.raises(InputError, match="no example of responses 'letters'; examples: digits"):
        load_responses_example("letters")


@pytest.mark.parametrize("name", BOARDS)
def test_example_agrees_with_the_leaderboard(name: str, data_directory: Path) -> None:
    example, slug = load_example(name), BOARDS[name]
    with (data_directory / "kaggle" / f"{slug}__private.csv").open(encoding="utf-8") as file:
        scores = [float(row["score"]) for row in csv.DictReader(file)]
    assert scores[:2] == [float(example.maximum), float(example.runner_up)]
    assert isinstance(example.n_classifiers, int)
    assert 0.95 * len(scores) < example.n_classifiers < len(scores)  # those above chance
    with (data_directory / "kaggle" / "n_inferred.csv").open(encoding="utf-8") as file:
        rows = {(r["slug"], r["split"]): int(r["n_inferred"]) for r in csv.DictReader(file)}
    assert rows[slug, "private"] == example.n_test
