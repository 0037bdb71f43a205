"""Matches: who played whom, and what is refused."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches


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


def test_hash_is_of_everything_observed():
    base = {"first": [0, 1, 0], "second": [1, 2, 2], "outcomes": [1, 0, 1], "players": [*"abc"]}
    changes = (
        {}, {"first": [0, 1, 1]}, {"second": [1, 2, 1]}, {"outcomes": [1, 1, 1]},
        {"players": [*"acb"]}, {"clusters": [0, 1, 2]}, {"clusters": [0, 0, 1]},
        {"tournament": "t"},
    )  # fmt: skip
    hashes = {Matches(**(base | change)).data_hash() for change in changes}
    assert len(hashes) == len(changes)


@pytest.mark.parametrize(
    ("first", "second", "outcomes", "options", "message"),
    [
        ([0, 1], [1, 0], [1, 2], {}, "match 2: an outcome is 1 .* got 2.0"),
        ([0, 1], [1, 1], [1, 0], {}, "match 2: 'b' plays against itself"),
        ([0, 0], [1, 1], [1, 0], {"players": [*"abc"]}, "player 'c' has no match"),
        ([0, 2], [1, 1], [1, 0], {}, "numbered from 0 to 1"),
        ([0], [1], [1], {}, "at least 2 matches, got 1"),
        ([0, 1], [1], [1, 0], {}, "an outcome each, got 2, 1 and 2"),
        ([0, 1], [1, 0], [1, 0], {"clusters": [1]}, "2 matches and 1 clusters"),
        ([0, 1], [1, 0], [1, 0], {"players": [*"aa"]}, "'a' occurs more than once"),
        ([0, 0], [0, 0], [1, 0], {"players": [*"a"]}, "at least 2 players, got 1"),
    ],
)
def test_what_is_refused(first, second, outcomes, options, message):
    with pytest.raises(InputError, match=message) as caught:
        Matches(first, second, outcomes, **({"players": [*"ab"]} | options))
    assert str(caught.value).isprintable()


def test_names_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="2 first players and 1 second ones"):
        Matches.from_names("ab", "b", [1, 0])
    with pytest.raises(InputError, match="no player 'bb'; did you mean 'b'"):
        Matches.from_names("ab", "bc", [1, 0]).player_index("bb")
