"""What the room refuses, each with one line that names the problem."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import count_matches
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.likelihoods import cluster_weight, rows_of_rounds
from bayes_sota.epp.models import build_design, build_model
from bayes_sota.epp.simulate import simulate_tournament

NAN, INF = float("nan"), float("inf")
PLAYERS = ["resnet", "vit", "mlp", "svm"]
TABLE = simulate_tournament([1, 0.3, 0, -1], 15, players=PLAYERS, random_seed=5)
BATTLES = Matches.from_names("aba", "bab", [1, 1, 0.5])
CLUSTERED = Matches.from_names("abab", "baca", [1, 0, 1, 0.5], clusters=[1, 1, 2, 2])
FOLDS = ScoreTable([[1, 2], [2, 1], [3, 1]], players=[*"ab"], groups=[*"ppq"])
MEANS = ScoreTable([[1, 2], [2, 1]], players=[*"ab"])
EVEN = [[2, 1], [1, 2]]


@cache
def fit() -> BradleyTerryFit:
    return fit_epp(TABLE)


@cache
def draws(dims: tuple[str, ...] = ("chain", "draw", "player")) -> xr.DataTree:
    epp = (dims, np.zeros((2, 50, *[4] * (len(dims) - 2))))
    return xr.DataTree.from_dict({"posterior": xr.Dataset({"epp": epp}, {"player": PLAYERS})})


def variants(**options: Any) -> object:
    given = {"estimate": 1.0, "standard_error": 0.3, "submissions": 5, "population_sd": 0.6}
    return bs.epp.private_variants(**(given | options))


def read(means: str, deviations: str) -> object:
    tables = (
        pd.DataFrame([row.split(",") for row in rows], columns=header.split(","))
        for header, *rows in (means.split(), deviations.split())
    )
    return bs.epp.read_means(*tables)


win, rope = bs.epp.epp_win_probability, bs.epp.local_rope_matches
rope_of_means, design = bs.epp.local_rope_matches_of_means, build_design
GIVEN = "model,x,y\na,0.9,\nb,0.7,0.8\nc,0.6,0.7"
FIVE = pd.DataFrame({"s": range(5)}, index=[*PLAYERS, "vit"])

REFUSED: list[tuple[str, Callable[[], object]]] = [
    # fits
    ("at least 2 players, got 1", lambda: fit_epp([[1], [2]])),
    ("at least 2 rounds, got 1", lambda: fit_epp([[1, 2]])),
    ("scores are constant", lambda: fit_epp([[1, NAN, 1], [2, 2, NAN]])),
    ("matrix of numbers", lambda: fit_epp([["a", "b"], [1, 2]])),
    ("'1' never lost to '2', '3'", lambda: fit_epp([[2, 1, 0], [2, 0, 1]])),
    ("got 'listed'", lambda: fit_epp(EVEN, matches="listed")),
    ("at least 1e-06, got nan", lambda: fit_epp(EVEN, penalty=NAN)),
    ("must be a number above 0 and below 1", lambda: fit_epp(EVEN, test_fraction=1.0)),
    ("splits of one data set", lambda: fit_epp(BATTLES, test_fraction=0.1)),
    ("no player 'resnet50'; did you mean 'resnet'", lambda: fit().test("resnet50", "vit")),
    ("no player 'vitt'; did you mean 'vit'", lambda: fit().win_probability("mlp", "vitt")),
    ("got 'mlp' twice", lambda: fit().test("mlp", "mlp")),
    ("robust, model, simultaneous, got 'exact'", lambda: fit().interval(kind="exact")),
    ("above 0 and below 1", lambda: fit().rank_interval(NAN)),
    ("above 0 and below 1", lambda: fit().test("vit", "mlp", ci_prob=0)),
    ("'simulated' occurs more than once", lambda: bs.epp.fit_tournaments([TABLE, TABLE])),
    ("lower is better in some rounds only", lambda: count_matches(
        ScoreTable(EVEN, lower_is_better=[True, False]), "all-rounds")),
    ("one score per round, 15", lambda: bs.epp.add_player(fit(), "new", [1.0] * 14)),
    ("no round 'nowhere'", lambda: bs.epp.add_player(fit(), "new", {"nowhere": 1.0})),
    ("is on the leaderboard already", lambda: bs.epp.add_player(fit(), "vit", [1.0] * 15)),
    ("not to listed matches", lambda: bs.epp.add_player(fit_epp(BATTLES), "new", [1.0])),
    ("bootstrap needs at least 2", lambda: bs.epp.bootstrap_epp(fit(), 1)),
    # simulation
    ("law must be one of", lambda: simulate_tournament([0, 1], 5, law="cauchy")),
    ("shares below 1", lambda: simulate_tournament([0, 1], 5, overlap=1.0)),
    ("shares below 1", lambda: simulate_tournament([0, 1], 5, missing=NAN)),
    ("at least 2 repetitions", lambda: bs.epp.leaderboard_quality(fit(), repetitions=1)),
    ("n_bins", lambda: bs.epp.reliability(fit(), 0)),
    ("rounds of one group", lambda: bs.epp.leaderboard_quality(fit_epp(FOLDS, penalty=0.5))),
    ("matches of one cluster", lambda: bs.epp.leaderboard_quality(fit_epp(CLUSTERED, penalty=1))),
    # private variants
    ("estimate must be a number .* got inf", lambda: variants(estimate=INF)),
    ("standard_error must be a number .* got 0", lambda: variants(standard_error=0)),
    ("submissions are whole numbers of at least 1, got 0", lambda: variants(submissions=0)),
    ("a range of submissions rises, got 20:5", lambda: variants(submissions=(20, 5))),
    ("population_sd must be a number from 1e-100", lambda: variants(population_sd=0.0)),
    ("population_mean must be a number", lambda: variants(population_mean=INF)),
    ("df must be a number from 1 .* got 0.5", lambda: variants(df=0.5)),
    ("draws must be a whole number", lambda: variants(draws=0)),
    ("allowed: winner_skill", lambda: variants(draws=9).interval(of="skill")),
    ("above 0 and below 1, got 95", lambda: variants(draws=9).interval(95)),
    ("at least 4 players, got 3", lambda: bs.epp.private_variants_of(fit(), "vit", 10)),
    ("no player 'nobody'", lambda: bs.epp.private_variants_of(fit(), "nobody", 10)),
    # the Bayesian model
    ("half, davidson, rao-kupper", lambda: build_model(TABLE, ties="none")),
    ("auto, plackett-luce, matches", lambda: build_model(TABLE, likelihood="thurstone")),
    ("ties of davidson", lambda: build_model(TABLE, likelihood="plackett-luce", ties="davidson")),
    ("listed matches need matches", lambda: build_model(BATTLES, likelihood="plackett-luce")),
    ("listed matches have none", lambda: build_model(BATTLES, round_covariates={"x": [1, 2]})),
    ("Matches, ScoreTable", lambda: build_model([TABLE, BATTLES])),
    ("got nothing", lambda: build_model([])),
    ("'simulated' occurs more than once", lambda: build_model([TABLE, TABLE])),
    ("skill_scale must be a number", lambda: bs.core.EppPriors(skill_scale=0)),
    ("slope_scale must be a number", lambda: bs.core.EppPriors(slope_scale=NAN)),
    ("tie must be a number", lambda: bs.core.EppPriors(tie=(1.0, 0.0))),
    ("must be EppPriors, got Priors", lambda: build_model(TABLE, bs.Priors())),
    ("1 values for 4 players", lambda: build_model(TABLE, player_covariates={"x": [1]})),
    ("all matches are ties", lambda: build_model(ScoreTable([[1, 1], [2, 2]]))),
    ("2 chains", lambda: bs.sample_epp(build_model(TABLE), chains=1)),
    ("predictive is a number", lambda: bs.sample_epp(build_model(TABLE), predictive=-1)),
    ("one cluster", lambda: cluster_weight(
        rows_of_rounds(np.tile(np.arange(4), (10, 1))), np.zeros(60, int))),
    ("'size' has 2 values for 4", lambda: design({"size": [1, 2]}, PLAYERS, "player")),
    ("'mlp': a finite number", lambda: design({"s": [1, 2, NAN, 4]}, PLAYERS, "player")),
    ("is 2 for all players", lambda: design({"size": [2, 2, 2, 2]}, PLAYERS, "player")),
    ("is 'x' for all players", lambda: design({"family": ["x"] * 4}, PLAYERS, "player")),
    ("player 'vit': the category", lambda: design(
        {"f": np.array(["x", None, "y", "y"], object)}, PLAYERS, "player")),
    ("none is named", lambda: design({}, PLAYERS, "player")),
    ("got list", lambda: design([1, 2, 3, 4], PLAYERS, "player")),
    ("player 'svm' has no row", lambda: design(FIVE.iloc[:3], PLAYERS, "player")),
    ("more than once", lambda: design(FIVE, PLAYERS, "player")),
    # draws and figures
    ("did you mean 'svm'", lambda: win(draws(), "vit", "swm")),
    ("'vit' twice", lambda: bs.epp.epp_rope(draws(), "vit", "vit", 0.1)),
    ("at least 0 and below 0.5", lambda: bs.epp.epp_rope(draws(), "vit", "svm", 0.5)),
    ("one tournament", lambda: win(draws(), "vit", "svm", new_tournament=True)),
    ("in percent", lambda: bs.epp.summarize_epp(draws(), 95)),
    ("no draws of skills", lambda: bs.epp.summarize_epp(xr.DataTree())),
    ("below 1", lambda: bs.epp_table(fit(), 2.0)),
    ("contrast must be one of", lambda: bs.plot_epp(fit(), contrast="wald", backend="none")),
    ("in percent", lambda: bs.plot_epp(fit(), ci_prob=95, backend="none")),
    ("most must be a whole number", lambda: bs.plot_epp(fit(), most=0, backend="none")),
    ("no epp in the group posterior", lambda: bs.plot_epp(fit().to_datatree(), backend="none")),
    ("no epp in the group posterior", lambda: bs.epp.plot_win_matrix(xr.DataTree())),
    ("got chain, draw, tournament, player", lambda: bs.plot_epp(
        draws(("chain", "draw", "tournament", "player")), backend="none")),
    # local ROPE
    ("needs scores in several folds", partial(rope, MEANS)),
    ("round 'q': players 'a' and 'b' have fewer than two f", partial(rope, FOLDS)),
    ("must be a number .* got -0.1", partial(rope, FOLDS, threshold=-0.1)),
    ("group 'p': folds of one data set have one direction", lambda: rope(
        ScoreTable(FOLDS.scores, groups=[*"ppq"], lower_is_better=["1"]))),
    (r"the shape of the means, \(2, 2\)", partial(rope_of_means, MEANS, [[1, 1]])),
    ("'b', round '2': .* -1.0", partial(rope_of_means, MEANS, [[1, 1], [1, -1]])),
    ("got inf", partial(rope_of_means, MEANS, [[1, 1], [1, INF]])),
    ("got True", partial(rope_of_means, MEANS, np.ones((2, 2)), threshold=True)),
    ("standard deviations has no player 'c'", partial(read, GIVEN, "model,y,x\nb,.3,.4\na,,.6")),
    ("means has no player 'd'", partial(read, GIVEN, "model,y,x\nd,1,1\nc,1,2\nb,3,4\na,,6")),
    ("has no round 'x'", partial(read, GIVEN, "model,y,z\nc,.1,.2\nb,.3,.4\na,.1,.6")),
    ("'b', round 'y': .* got nan", partial(read, GIVEN, "model,y,x\nc,1,2\nb,,4\na,,6")),
    ("'c', round 'x': .* got -0.2", partial(read, GIVEN, "model,y,x\nc,1,-.2\nb,3,4\na,,6")),
    ("two tables of one tournament", partial(read, GIVEN, "winner,loser\na,b\nb,a")),
]  # fmt: skip


@pytest.mark.parametrize(("message", "ask"), REFUSED)
def test_what_is_refused(message: str, ask: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=message) as caught:
        ask()
    assert str(caught.value).isprintable()


def test_infinite_estimates_have_an_error_of_their_own() -> None:
    top = TABLE.scores.max(axis=1) + 1
    with pytest.raises(InfiniteEstimateError, match="won against everybody"):
        bs.epp.add_player(fit(), "new", top)
    apart = simulate_tournament([90, 0, 0], 20, tournament="apart", random_seed=0)
    with pytest.raises(InfiniteEstimateError, match="tournament 'apart': '1' never lost"):
        bs.epp.fit_tournaments([TABLE, apart])
    flagged = bs.epp.fit_tournaments([TABLE, apart], penalty=0.5)
    assert [found.connected for found in flagged] == [True, False]
