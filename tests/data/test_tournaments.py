"""Score tables and matches: what is kept, which way is better, and what is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd

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


def test_names_and_places_agree():
    named = Matches(["b", "a", "b"], ["a", "c", "c"], [1, 0, 0.5], groups=[*"ppq"])
    placed = Matches([0, 1, 0], [1, 2, 2], [1, 0, 0.5], players=["b", "a", "c"], groups=[*"ppq"])
    assert named == placed
    assert (named.outcomes.size, named.n_players, named.n_clusters) == (3, 3, 2)
    found = Matches([1, 2], [2, 1], [0.5, 0.5], tournament="arena")
    assert (found.clusters.tolist(), found.groups, found.n_clusters) == ([0, 1], None, 2)
    assert found.players == ("1", "2")
    assert repr(found) == "<Matches 'arena': 2 players, 2 matches>"
