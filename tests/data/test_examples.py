"""Bundled examples against the leaderboards they were read from, and classifiers trained again."""

import csv
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bayes_sota.cli.demo import CASSAVA_SECOND
from bayes_sota.core.errors import InputError
from bayes_sota.data.examples import ResponsesExample, load_example, load_responses_example

BOARDS = {
    "obesity-risk": "playground-series-s4e2",
    "cassava": "cassava-leaf-disease-classification",
}


def test_unknown_example_lists_those_that_exist() -> None:
    with pytest.raises(InputError, match="no example 'melanoma'; examples: obesity-risk, "):
        load_example("melanoma")
    with pytest.raises(InputError, match="no example of responses 'letters'; examples: digits"):
        load_responses_example("letters")


@pytest.mark.parametrize("name", BOARDS)
def test_example_agrees_with_the_leaderboard(name: str, data_directory: Path) -> None:
    board, slug = load_example(name), BOARDS[name]
    assert board.name == name
    with (data_directory / "kaggle" / f"{slug}__private.csv").open(encoding="utf-8") as file:
        scores = [float(row["score"]) for row in csv.DictReader(file)]
    assert scores[0] == board.maximum
    assert name != "cassava" or scores[1] == CASSAVA_SECOND
    assert 0.95 * len(scores) < board.n_classifiers < len(scores)  # those above chance
    with (data_directory / "kaggle" / "n_inferred.csv").open(encoding="utf-8") as file:
        rows = {(r["slug"], r["split"]): int(r["n_inferred"]) for r in csv.DictReader(file)}
    assert rows[slug, "private"] == board.n_test


RETRAINED = (
    "lda/svd",
    "knn/k=3",
    "svm-rbf/C=10 gamma=0.1",
    "tree/gini seed=1",
    "extra-trees/trees=15 seed=1",
    "shifted/svm-poly degree=3",
    "few-items/trees rows=50",
    "few-pixels/logistic pixels=10",
    "failed/guess seed=2",
    "failed/transposed svm",
)


@pytest.fixture(scope="module")
def digits() -> ResponsesExample:
    return load_responses_example("digits")


@pytest.fixture(scope="module")
def maker(repository: Path) -> ModuleType:
    """The script that trained the field."""
    pytest.importorskip("sklearn")
    path = repository / "tests" / "benchmarks" / "make_digits_benchmark.py"
    spec = importlib.util.spec_from_file_location("make_digits_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


def test_parts_hold_the_same_classifiers_on_different_items(digits: ResponsesExample) -> None:
    assert digits.test.names == digits.held_out.names
    assert (digits.test.n_items, digits.held_out.n_items) == (250, 1247)
    numbers = [i.split("/")[1] for i in (*digits.test.items, *digits.held_out.items)]
    assert len(set(numbers)) == 1497
    assert not any(part.has_missing for part in (digits.test, digits.held_out))
    assert len(digits.families) == digits.test.n_classifiers == 313
    pairs = zip(digits.families, digits.test.names, strict=True)
    assert all(name.startswith(f"{family}/") for family, name in pairs)


def test_field_is_a_crowd_with_a_tail(digits: ResponsesExample) -> None:
    skill = digits.held_out.scores
    assert 0.975 < skill.max() < 0.99
    assert np.mean(skill > 0.95) > 0.3  # the crowd
    assert np.mean(skill < 0.7) > 0.08  # the tail
    assert skill.min() < 0.12
    assert np.abs(skill - digits.test.scores).max() < 0.12


def test_classifiers_make_the_same_mistakes(digits: ResponsesExample) -> None:
    best = np.argsort(-digits.held_out.scores)[:20]
    phi = np.corrcoef(digits.held_out.correct[:, best].T)[np.triu_indices(20, 1)]
    assert 0.5 < phi.mean() < 0.7


def test_field_names_are_those_of_the_script(maker: ModuleType, digits: ResponsesExample) -> None:
    names = tuple(f"{entry.family}/{entry.name}" for entry in maker.field_entries())
    assert names == digits.test.names


@pytest.mark.parametrize("name", RETRAINED)
def test_classifier_answers_as_stored(
    name: str, maker: ModuleType, digits: ResponsesExample
) -> None:
    (entry,) = (e for e in maker.field_entries() if f"{e.family}/{e.name}" == name)
    right = maker.right_answers(entry, maker.load_parts())
    column = digits.test.names.index(name)
    stored = [part.correct[:, column] for part in (digits.test, digits.held_out)]
    # Another processor may break a tie of two digits otherwise.
    assert np.mean(right == np.concatenate(stored)) > 0.99
