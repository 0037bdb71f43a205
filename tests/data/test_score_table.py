"""Score tables: what is kept, which way is better, and what is refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from bayes_sota.core.errors import InputError
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
    np.testing.assert_allclose(plain.mean_scores(), [1.25, 0.75, 1.75])
    gaps = ScoreTable(SCORES)
    np.testing.assert_allclose(gaps.mean_scores(), pd.DataFrame(SCORES).mean())


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


def test_hash_is_of_everything_observed():
    same = ScoreTable(
        SCORES, players=TABLE.players, rounds=TABLE.rounds, lower_is_better=["loss"],
        groups=TABLE.groups, tournament="board",
    )  # fmt: skip
    assert same.data_hash() == TABLE.data_hash()
    base = {"players": [*"abc"], "rounds": [*"xyz"], "groups": "pqr", "tournament": "t"}
    changes = (
        {}, {"players": [*"acb"]}, {"rounds": [*"xzy"]}, {"groups": "ppq"}, {"tournament": "u"},
        {"lower_is_better": True}, {"scheme": "model/cv"},
    )  # fmt: skip
    hashes = {ScoreTable(SCORES, **(base | change)).data_hash() for change in changes}
    hashes.add(ScoreTable(np.array(SCORES) + 1, **base).data_hash())
    assert len(hashes) == len(changes) + 1


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
        ([[1, 2]], {}, "at least 2 rounds, got 1"),
        ([1, 2], {}, "rounds x players, .*; got 1 dimension"),
        ([["a", 1], [2, 3]], {}, "scores are a matrix of numbers"),
        (
            [[1, np.inf], [2, 3]],
            {"players": [*"ab"]},
            "player 'b', round '1': .* finite .* got inf",
        ),
        ([[1, np.nan], [2, np.nan]], {}, "player '2' has no score at all"),
        ([[1, 2], [np.nan, np.nan]], {}, "round '2' has no score at all"),
        (SCORES, {"players": ["a", "b", "a"]}, "'a' occurs more than once"),
        (SCORES, {"rounds": ["a", "b", "a"]}, "every round needs its own name"),
        (SCORES, {"lower_is_better": ["mae"]}, "names a round 'mae' that is not there"),
        (SCORES, {"lower_is_better": [True, False]}, "one bool, one per round .3. or names"),
        (SCORES, {"groups": ["p", "q"]}, "3 rounds and 2 groups"),
        (SCORES, {"groups": ["p", "p", "p"]}, "all rounds are of one group 'p'"),
        (SCORES, {"scheme": "cv/model"}, "scheme must be one of model/cv"),
    ],
)
def test_what_is_refused(scores, options, message):
    with pytest.raises(InputError, match=message) as caught:
        ScoreTable(scores, **options)
    assert str(caught.value).isprintable()


def test_scores_of_opposite_directions_have_no_mean():
    with pytest.raises(InputError, match="opposite directions have no mean"):
        TABLE.mean_scores()
