"""Containers: what they refuse, and that they are equal where all is equal, and never changed."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import refused

from bayes_sota import Leaderboard, Outcomes, PairedBoards, ScoreTable
from bayes_sota.crossval import FoldScores
from bayes_sota.data import Matches, average_tasks
from bayes_sota.data.observed import Observed

SCORES = np.array([[0.9, 0.8, np.nan], [2.0, 1.0, 3.0], [0.5, 0.5, 0.5]])
FOLDS = np.random.default_rng(0).uniform(0.7, 0.9, (2, 3, 4, 5))
TEAMS = np.array([0.1, 0.2, 0.3, 0.4, 0.5])

# What each is made of, and changes that make another one of it.
type Case = tuple[dict[str, Any], dict[str, Any]]
CONTAINERS: dict[type[Observed], Case] = {
    Outcomes: (
        {"values": np.array([[1, 0], [1, 1], [0, 1]], np.int8), "names": ["a", "b"],
         "items": ["x", "y", "z"], "clusters": ["k", "l", "l"], "name": "n"},
        {"values": [[1, 0], [0, 1], [0, 1]], "names": ["p", "q"], "items": ["p", "q", "r"],
         "clusters": ["p", "q", "r"], "name": "m", "metric": "mean", "n_runs": 2,
         "tasks": ["s", "s", "s"]},
    ),
    ScoreTable: (
        {"scores": SCORES, "players": [*"abc"], "rounds": [*"xyz"], "groups": "pqr",
         "tournament": "t"},
        {"scores": SCORES + 1, "players": [*"acb"], "rounds": [*"xzy"], "groups": "ppq",
         "tournament": "u", "lower_is_better": True, "scheme": "model/cv"},
    ),
    Matches: (
        {"first": [0, 1, 0], "second": [1, 2, 2], "outcomes": np.array([1.0, 0.0, 1.0]),
         "players": [*"abc"]},
        {"first": [0, 1, 1], "second": [1, 2, 1], "outcomes": [1, 1, 1], "players": [*"acb"],
         "groups": [0, 0, 1], "tournament": "t"},
    ),
    FoldScores: (
        {"scores": FOLDS},
        {"scores": FOLDS + 1e-12, "learners": ["a", "b", "c"], "tasks": ["a", "b"],
         "scorer": "accuracy"},
    ),
    PairedBoards: (
        {"public": TEAMS, "private": TEAMS},
        {"public": TEAMS[::-1], "private": TEAMS[::-1], "names": [*"abcde"], "n_test": (9, 9),
         "standard_errors": (1, 2), "submissions": 3, "name": "n"},
    ),
    Leaderboard: (
        {"scores": ["0.91", "0.94", "0.90"], "n_test": 100},
        {"scores": ["0.91", "0.90", "0.94"], "n_test": [100, 200, 100], "names": [*"abc"],
         "n_classifiers": 9, "submissions": [1, 1, 2], "name": "n", "metric": "score"},
    ),
}  # fmt: skip


REFUSED = json.loads(Path(__file__).with_name("refused.json").read_text("utf-8"))
MAKERS = {kind.__name__: kind for kind in CONTAINERS} | {"average_tasks": average_tasks}


@pytest.mark.parametrize("case", REFUSED, ids=[f"{c['container']}, {c['says']}" for c in REFUSED])
def test_what_is_refused(case: dict[str, Any]) -> None:
    refused(case["says"], MAKERS[case["container"]], *case["arguments"], **case["options"])


@pytest.mark.parametrize("kind", CONTAINERS)
def test_hash_and_equality_see_everything(kind: Any) -> None:
    base, changes = CONTAINERS[kind]
    first = kind(**base)
    assert first == kind(**base)
    assert first != "first"
    others = {first, *(kind(**{**base, name: value}) for name, value in changes.items())}
    assert len({one.data_hash() for one in others}) == len(others) == len(changes) + 1


def test_copies_keep_that_scores_are_of_a_competition() -> None:
    known = Leaderboard(**CONTAINERS[Leaderboard][0]).copy_with(is_competition=True)
    assert known != Leaderboard(**CONTAINERS[Leaderboard][0])
    assert all(copy.is_competition for copy in (known.with_tries(9), known.maximum_only()))


@pytest.mark.parametrize("kind", CONTAINERS)
def test_nothing_can_be_changed_and_arrays_are_copies(kind: Any) -> None:
    base = deepcopy(CONTAINERS[kind][0])
    first = kind(**base)
    arrays = [value for value in vars(first).values() if isinstance(value, np.ndarray)]
    assert arrays
    assert not any(array.flags.writeable for array in arrays)
    before = first.data_hash()
    for given in base.values():
        if isinstance(given, np.ndarray):
            given[...] = 0
    assert first.data_hash() == before
    with pytest.raises(AttributeError):
        setattr(first, next(iter(vars(first))), None)
