"""Score tables and matches: what is kept, which way is better, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable, nearest_player

SCORES = [[0.9, 0.8, np.nan], [2.0, 1.0, 3.0], [0.5, 0.5, 0.5]]
TABLE = ScoreTable(
    SCORES, players=["vit", "cnn", "svm"], rounds=["acc", "loss", "auc"],
    lower_is_better=["loss"], groups=["p", "q", "p"], scheme="model/task", tournament="board",
)  # fmt: skip


def test_what_is_kept():
    assert (TABLE.n_rounds, TABLE.n_players) == (3, 3)
    assert repr(TABLE) == "<ScoreTable 'board': 3 players x 3 rounds, 1 scores missing>"
    np.testing.assert_array_equal(TABLE.oriented[1], [-2, -1, -3])
    np.testing.assert_array_equal(TABLE.oriented[[0, 2]], TABLE.scores[[0, 2]])
    np.testing.assert_array_equal(TABLE.present, ~np.isnan(SCORES))
    assert not TABLE.complete
    assert TABLE.clusters.tolist() == [0, 1, 0]
    plain = ScoreTable(SCORES[1:])
    assert plain.complete
    assert (plain.players, plain.rounds) == (("1", "2", "3"), ("1", "2"))
    assert plain.clusters.tolist() == [0, 1]


def test_frames_bring_their_names():
    frame = pd.DataFrame(SCORES, columns=["vit", "cnn", "svm"], index=["acc", "loss", "auc"])
    found = ScoreTable(frame)
    assert (found.players, found.rounds) == (TABLE.players, TABLE.rounds)
    assert ScoreTable(pl.DataFrame(SCORES, schema=["a", "b", "c"], orient="row")).players[2] == "c"


@pytest.mark.parametrize(
    ("given", "expected"),
    [(True, [True] * 3), (np.bool_(False), [False] * 3), ([True, False, True], [True, False, True]),
     (np.array([False, True, False]), [False, True, False]), ("2", [False, True, False]),
     (("3", "1"), [True, False, True]), ((), [False] * 3)],
)  # fmt: skip
def test_directions(given, expected):
    assert ScoreTable(SCORES, lower_is_better=given).lower_is_better.tolist() == expected


def test_subset_keeps_what_belongs_to_its_rounds():
    part = TABLE.subset(["svm", "vit"])
    assert (part.players, part.rounds) == (("svm", "vit"), ("acc", "loss", "auc"))
    np.testing.assert_array_equal(part.scores, TABLE.scores[:, [2, 0]])
    assert part.lower_is_better.tolist() == [False, True, False]
    lonely = ScoreTable(
        [[1, np.nan, np.nan], [1, 2, 3], [3, 2, 1]], groups=["p", "q", "r"], lower_is_better=["3"]
    ).subset(["2", "3"])
    assert (lonely.rounds, lonely.groups) == (("2", "3"), ("q", "r"))
    assert lonely.lower_is_better.tolist() == [False, True]


def test_nearest_player():
    assert nearest_player(["vit", "cnn"], "cnn") == TABLE.player_index("cnn") == 1
    with pytest.raises(InputError, match="no player 'vitt'; did you mean 'vit'"):
        TABLE.player_index("vitt")
    with pytest.raises(InputError, match=r"no player 'zzz'$"):
        TABLE.player_index("zzz")


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ([[1], [2]], {}, "at least 2 players, got 1"),
        ([1, 2], {}, "rounds x players, .*; got 1 dimension"),
        (
            [[1, np.inf], [2, 3]],
            {"players": [*"ab"]},
            "round '1', player 'b': .* finite .* got inf",
        ),
        ([[1, 2], [np.nan, np.nan]], {}, "round '2' has no score at all"),
        (SCORES, {"rounds": ["a", "b", "a"]}, "every round needs its own name"),
        (SCORES, {"lower_is_better": [True, False]}, "one bool, one per round .3. or names"),
        (SCORES, {"groups": ["p", "p", "p"]}, "all rounds are of one group 'p'"),
    ],
)
def test_what_is_refused(scores, options, message):
    with pytest.raises(InputError, match=message) as caught:
        ScoreTable(scores, **options)
    assert str(caught.value).isprintable()


def test_names_and_places_agree():
    named = Matches.from_names(["b", "a", "b"], ["a", "c", "c"], [1, 0, 0.5], clusters=[*"ppq"])
    placed = Matches([0, 1, 0], [1, 2, 2], [1, 0, 0.5], players=["b", "a", "c"], clusters=[*"ppq"])
    assert named.players == placed.players
    for array in ("first", "second", "outcomes", "clusters"):
        np.testing.assert_array_equal(getattr(named, array), getattr(placed, array))
    assert named.data_hash() == placed.data_hash()
    assert (named.n_matches, named.n_players, named.n_clusters, named.clustered) == (3, 3, 2, True)
    assert repr(named) == "<Matches 'tournament': 3 matches of 3 players, 1 tie>"
    assert named.player_index("c") == 2


def test_matches_without_clusters_are_independent():
    found = Matches.from_names([1, 2], [2, 1], [0.5, 0.5], tournament="arena")
    assert (found.clusters.tolist(), found.clustered, found.n_clusters) == ([0, 1], False, 2)
    assert found.players == ("1", "2")
    assert repr(found) == "<Matches 'arena': 2 matches of 2 players, 2 ties>"


@pytest.mark.parametrize(
    ("first", "second", "outcomes", "options", "message"),
    [
        ([0, 1], [1, 0], [1, 2], {}, "match 2: an outcome is 1 .* got 2.0"),
        ([0, 0], [1, 1], [1, 0], {"players": [*"abc"]}, "player 'c' has no match"),
        ([0], [1], [1], {}, "at least 2 matches, got 1"),
        ([0, 1], [1, 0], [1, 0], {"clusters": [1]}, "2 matches and 1 clusters"),
        ([0, 0], [0, 0], [1, 0], {"players": [*"a"]}, "at least 2 players, got 1"),
    ],
)
def test_what_matches_refuse(first, second, outcomes, options, message):
    with pytest.raises(InputError, match=message) as caught:
        Matches(first, second, outcomes, **({"players": [*"ab"]} | options))
    assert str(caught.value).isprintable()


def test_names_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="2 first players and 1 second ones"):
        Matches.from_names("ab", "b", [1, 0])
    with pytest.raises(InputError, match="no player 'bb'; did you mean 'b'"):
        Matches.from_names("ab", "bc", [1, 0]).player_index("bb")
