"""Bad input is refused with one line that names the problem."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from data.files import refused
from simulated_tournaments import simulate_tournament

import bayes_sota as bs
from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import count_matches
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.models import build_design, build_model

NAN = float("nan")
PLAYERS = ["resnet", "vit", "mlp", "svm"]
TABLE = simulate_tournament([1, 0.3, 0, -1], 15, players=PLAYERS, random_seed=5)
BATTLES = Matches("aba", "bab", [1, 1, 0.5])
CLUSTERED = Matches("abab", "baca", [1, 0, 1, 0.5], groups=[1, 1, 2, 2])
FOLDS = ScoreTable([[1, 2], [2, 1], [3, 1]], players=[*"ab"], groups=[*"ppq"])
EVEN = [[2, 1], [1, 2]]


@cache
def fit() -> BradleyTerryFit:
    return fit_epp(TABLE)


def design(**values: list[object]) -> object:
    return build_design(pd.DataFrame(values, PLAYERS), PLAYERS)


REFUSED: list[tuple[str, Callable[[], object]]] = [
    # fits
    ("all matches are ties", lambda: fit_epp([[1, NAN, 1], [2, 2, NAN]])),
    ("all matches are ties", lambda: fit_epp([[1, 1], [1, 1]], "all-rounds")),
    ("all matches are ties", lambda: fit_epp(Matches("ab", "ba", [0.5, 0.5]))),
    ('"1" never lost to "2", "3"', lambda: fit_epp([[2, 1, 0], [2, 0, 1]])),
    ("penalty must be .* got nan", lambda: fit_epp(EVEN, penalty=NAN)),
    ("splits of one data set", lambda: fit_epp(BATTLES, test_fraction=0.1)),
    ("no player 'resnet50'; did you mean \"resnet\"", lambda: fit().test("resnet50", "vit")),
    ("got 'mlp' twice", lambda: fit().test("mlp", "mlp")),
    ("'simulated' occurs more than once", lambda: list(bs.epp.fit_tournaments([TABLE, TABLE]))),
    ("lower is better in some rounds only", lambda: count_matches(
        ScoreTable(EVEN, lower_is_better=[True, False]), "all-rounds")),
    # simulation
    ("repetitions must be", lambda: bs.epp.leaderboard_quality(fit(), repetitions=1)),
    ("rounds of one group", lambda: bs.epp.leaderboard_quality(fit_epp(FOLDS, penalty=0.5))),
    ("matches of one cluster", lambda: bs.epp.leaderboard_quality(fit_epp(CLUSTERED, penalty=1))),
    # the Bayesian model
    ("Matches, ScoreTable", lambda: build_model([TABLE, BATTLES])),
    ("'mlp': a value is missing", lambda: design(s=[1, 2, NAN, 4])),
    ("is the same for all players", lambda: design(family=["x"] * 4)),
    ("player 'vit': a value is missing", lambda: design(f=["x", None, "y", "y"])),
    ("whose index names the players", lambda: build_design([1, 2, 3, 4], PLAYERS)),
    ("a Model is needed, got ScoreTable", lambda: bs.epp.sample_epp(TABLE)),
    ("data must be ScoreTables .* got ndarray", lambda: [*bs.epp.fit_tournaments([np.eye(2)])]),
    # draws and figures
    ("no finite estimate without a penalty", lambda: bs.epp.infer_skills(
        fit_epp([[3, 2, 1], [3, 1, 2]], penalty=0.5))),
    ("no epp in the group posterior", lambda: bs.plot_epp(fit().to_datatree(), backend="none")),
]  # fmt: skip


@pytest.mark.parametrize(("message", "ask"), REFUSED)
def test_what_is_refused(message: str, ask: Callable[[], object]) -> None:
    refused(message, ask)


def test_infinite_estimates_have_an_error_of_their_own() -> None:
    apart = simulate_tournament([90, 0, 0], 20, tournament="apart", random_seed=0)
    with pytest.raises(InfiniteEstimateError, match="tournament 'apart': \"1\" never lost"):
        list(bs.epp.fit_tournaments([TABLE, apart]))
    flagged = bs.epp.fit_tournaments([TABLE, apart], penalty=0.5)
    assert [found.connected for found in flagged] == [True, False]
