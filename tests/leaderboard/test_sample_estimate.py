"""The convenience composes, routes agree, results carry their provenance; real boards judge it."""

from dataclasses import replace

import numpy as np
import pytest
from boards import evidence_of
from data.files import refused
from schema_names import check_names

import bayes_sota as bs
from bayes_sota.core.importance import WeightedPoints
from bayes_sota.core.priors import BoardPriors, FixedCorrelation, MaximumPriors
from bayes_sota.core.summary import observed_maximum_of
from bayes_sota.leaderboard.fit import fit_field
from bayes_sota.leaderboard.skills import draw_posterior

MAXIMUM = bs.BestScore("0.98", n_test=200, n_classifiers=50, rounding="exact")
ONE_OF_MANY = bs.BestScore("0.9", n_test=200, n_classifiers=20, submissions=(5, 60))
COUNTS = np.random.default_rng(1).binomial(500, 0.85 + 0.05 * np.random.default_rng(2).random(40))
BOARD = bs.Leaderboard(COUNTS / 500, n_test=500, rounding="exact")
ONE = BoardPriors(correlation=FixedCorrelation(0.7), families=("normal",))


@pytest.mark.parametrize("board", [MAXIMUM, BOARD])
def test_results_have_the_groups_and_attributes_of_the_schema(board) -> None:
    tree = bs.estimate_sota(board, draws=50, random_seed=7)
    check_names(tree)
    assert bs.diagnose(tree)["ok"]
    maximum = float(observed_maximum_of(tree).values.ravel()[0])
    assert bs.summarize(tree).loc["theta_sota", "mean"] < maximum
    again = bs.estimate_sota(board, random_seed=7, draws=50)
    assert tree["posterior"].to_dataset().equals(again["posterior"].to_dataset())
    if "/sample_stats/families" in tree.groups:
        assert float(tree["sample_stats/families"]["probability"].sum()) == pytest.approx(1)
        assert tree["constant_data"]["all_score"].sizes == {"classifier": 40}
        assert tree["observed_data"]["score"].size == tree["constant_data"]["modelled"].sum() < 40


def test_sensitivity_of_a_board() -> None:
    two = bs.Priors(families=("normal", "ex-gaussian"))
    rows = bs.sota_sensitivity(BOARD, priors=two, draws=2000)
    rho = rows[rows["assumption"] == "rho"]
    assert len(rho) == 7
    assert np.all(np.diff(rho["value"].astype(float)) > 0)
    assert rho["mean"].iloc[-1] > rho["mean"].iloc[0]  # the more is shared, the less is luck
    assert set(rows[rows["assumption"] == "family"]["value"]) == {"normal", "ex-gaussian"}
    assert (rows["assumption"] == "rho learnt from the scores").sum() == 1
    field = rows[rows["assumption"] == "field"].iloc[0]  # ensembles share more
    assert field["mean"] > rho["mean"].iloc[3] + 4 * field["mcse"]
    known = bs.sota_sensitivity(BOARD, priors=ONE, draws=200)
    assert set(known["assumption"]) == {"as given", "n_classifiers"}


CHOSEN = bs.Leaderboard([0.9, 0.904, 0.91, 0.88, 0.93, 0.89], n_test=500, submissions=9)


@pytest.mark.slow
@pytest.mark.parametrize("board", [BOARD, CHOSEN], ids=["board", "submissions"])
def test_rows_that_share_the_fit_agree_with_fits_and_draws_that_share_nothing(
    board: bs.Leaderboard,
) -> None:
    """The second route: each row by its own fit, and draws of all that a board has."""
    rows = bs.sota_sensitivity(board, draws=20_000)
    priors, evidence = BoardPriors(), evidence_of(board)
    fit = fit_field(evidence, priors, np.random.default_rng(1))
    middle = np.flatnonzero(fit.rho == np.unique(fit.rho)[3])
    nodes = replace(fit.nodes, rho=fit.rho[middle], luck=fit.nodes.luck[middle])
    samples = [WeightedPoints(p.points, p.log_weights[:, middle]) for p in fit.points]
    at_middle = replace(fit, nodes=nodes, points=tuple(samples))
    hidden = evidence_of(board.with_tries(10 * len(board.names)))
    others = {
        ("rho", np.unique(fit.rho)[3]): at_middle,
        ("family", "ex-gaussian"): fit.of_family("ex-gaussian"),
        ("n_classifiers", 10.0): fit_field(hidden, priors, np.random.default_rng(2)),
    }
    if board is CHOSEN:
        known = replace(priors, submission_luck=FixedCorrelation(0.9))
        others["submission_luck", 0.9] = fit_field(evidence, known, np.random.default_rng(3))
    for (assumption, value), found in others.items():
        row = rows[(rows["assumption"] == assumption) & (rows["value"] == value)].iloc[0]
        theta = draw_posterior(found, 20_000, np.random.default_rng(4)).best
        low, high = np.quantile(theta, [0.025, 0.975])
        assert abs(row["mean"] - theta.mean()) < 0.1 * theta.std(), assumption
        assert abs(row["lower"] - low) < 0.25 * theta.std(), assumption
        assert abs(row["upper"] - high) < 0.25 * theta.std(), assumption


def test_models_and_reference_skills_reach_the_result() -> None:
    model = "observed-maximum"
    tree = bs.estimate_sota(MAXIMUM, model=model, random_seed=0, reference_skill=0.9, draws=50)
    assert float(tree["constant_data"]["reference_skill"]) == 0.9
    assert tree.attrs["model_name"] == model
    assert tree.attrs["model_hash"] == bs.load_model(model).provenance["model_hash"]


@pytest.mark.parametrize("board", [MAXIMUM, BOARD])
def test_a_result_that_is_not_to_be_trusted_warns_once(board):
    low = bs.Priors(bs.LogitNormalSkill(typical=(0.1, 0.3), spread=(0.05, 0.1)))
    with pytest.warns(UserWarning, match="do not trust .* contradict the prior") as warned:
        bs.estimate_sota(board, priors=low, draws=50, groups="estimands")
    assert len(warned) == 1


def test_notes_of_a_best_score_are_those_of_its_result():
    board = bs.BestScore(0.9, n_test=1500, n_classifiers=9)
    tree = bs.estimate_sota(board, draws=50, groups="estimands")
    assert tree.attrs["notes"] == "; ".join(board.notes) != ""


@pytest.mark.parametrize(
    ("board", "options", "message"),
    [
        (MAXIMUM, {"priors": bs.Priors(), "model": "observed-maximum"}, "not both"),
        (MAXIMUM, {"method": "magic"}, "method"),
        ([], {}, "several boards are needed"),
        (BOARD, {"method": "abc"}, "maximum_only"),
        ([BOARD, BOARD], {}, "maximum_only"),
        (BOARD, {"priors": MaximumPriors()}, "must be Priors or .*, got MaximumPriors"),
        (MAXIMUM, {"priors": BoardPriors()}, "must be Priors or .*, got BoardPriors"),
        (BOARD, {"model": "observed-maximum"}, "builder observed_maximum, not leaderboard"),
        (MAXIMUM, {"model": "leaderboard"}, "builder leaderboard, not observed_maximum"),
        (BOARD, {"method": "nuts"}, "maximum_only.*build_model"),
        (ONE_OF_MANY, {"method": "nuts"}, "one submission per classifier"),
    ],
)
def test_contradictions_are_refused(board, options: dict, message: str) -> None:
    refused(message, bs.estimate_sota, board, **options)


def test_no_row_has_more_classifiers_than_a_board_can_have() -> None:
    board = bs.BestScore(0.9, n_test=100, n_classifiers=10**9)
    rows = bs.sota_sensitivity(board, draws=200)
    assert rows.value[rows.assumption == "n_classifiers"].tolist() == [0.5]
