"""Score tables and matches: what is kept, which way is better, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from data.files import refused

from bayes_sota.data.tournaments import Matches, ScoreTable

SCORES = [[0.9, 0.8, np.nan], [2.0, 1.0, 3.0], [0.5, 0.5, 0.5]]
TABLE = ScoreTable(
    SCORES, players=["vit", "cnn", "svm"], rounds=["acc", "loss", "auc"],
    lower_is_better=[False, True, False], groups=["q", "p", "q"], tournament="board",
)  # fmt: skip


def test_what_is_kept():
    assert (TABLE.n_rounds, TABLE.n_players, TABLE.n_clusters) == (3, 3, 2)
    assert repr(TABLE) == "<ScoreTable 'board': 3 players, 3 rounds>"
    np.testing.assert_array_equal(TABLE.oriented[1], [-2, -1, -3])
    np.testing.assert_array_equal(TABLE.oriented[[0, 2]], TABLE.scores[[0, 2]])
    np.testing.assert_array_equal(TABLE.present, ~np.isnan(SCORES))
    assert TABLE.clusters.tolist() == [1, 0, 1]  # in the order of their names
    assert replace(TABLE, groups=None).clusters.tolist() == [0, 2, 1]
    plain = ScoreTable(SCORES[1:], lower_is_better=np.bool_(True))
    assert (plain.players, plain.rounds) == (("1", "2", "3"), ("1", "2"))
    frame = pd.DataFrame(SCORES, columns=["vit", "cnn", "svm"], index=["acc", "loss", "auc"])
    found = ScoreTable(frame)
    assert (found.players, found.rounds) == (TABLE.players, TABLE.rounds)


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[1], [2]], {}, "at least 2 players and 2 independent rounds, got 1 and 2"),
        ([1, 2], {}, "rounds x players, .*; got 1 dimension"),
        ([[1, np.inf], [2, 3]], {}, "round '1', player '2': a score is needed, at most 1e50"),
        ([[1, 2], [np.nan, np.nan]], {}, "round '2': a score is needed"),
        ([[1, np.nan], [2, np.nan]], {}, "player '2': a score is needed"),
        (SCORES, {"lower_is_better": [True, False]}, "a bool, or one for each of 3 rounds"),
        (SCORES, {"groups": ["p", "p", "p"]}, "2 independent rounds, got 3 and 1"),
    ],
)
def test_what_is_refused(scores, options, message):
    refused(message, ScoreTable, scores, **options)


def test_names_and_places_agree():
    named = Matches(["b", "a", "b"], ["a", "c", "c"], [1, 0, 0.5], groups=[*"ppq"])
    placed = Matches([0, 1, 0], [1, 2, 2], [1, 0, 0.5], players=["b", "a", "c"], groups=[*"ppq"])
    assert named == placed
    assert (named.outcomes.size, named.n_players, named.n_clusters) == (3, 3, 2)
    found = Matches([1, 2], [2, 1], [0.5, 0.5], tournament="arena")
    assert (found.clusters.tolist(), found.groups, found.n_clusters) == ([0, 1], None, 2)
    assert found.players == ("1", "2")
    assert repr(found) == "<Matches 'arena': 2 players, 2 matches>"


@pytest.mark.parametrize(
    ("first", "second", "outcomes", "options", "message"),
    [
        ([0, 1], [1, 0], [1, 2], {}, "match 2, 1 against 0, 2: .* 1, 0 or 0.5"),
        ([0, 1], [1, 1], [1, 0], {}, "match 2, 1 against 1, 0: .* that differ"),
        ([0, 2], [1, 1], [1, 0], {}, "match 2, 2 against 1, 0: .* two places among 2 players"),
        (["a", "b"], ["b", "a"], [1, 0], {}, "match 1, a against b, .*give no players beside"),
        ([0], [1], [1], {}, "2 players and 2 independent matches, got 2 and 1"),
        ([0, 1], [1], [1, 0], {}, "got .2, 1, 2. of them"),
    ],
)
def test_what_matches_refuse(first, second, outcomes, options, message):
    refused(message, Matches, first, second, outcomes, **({"players": [*"ab"]} | options))
