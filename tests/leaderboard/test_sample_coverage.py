"""The study of real boards: truth, ratios, and the power to find a wrong model."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.data.examples import load_responses_example
from bayes_sota.leaderboard.sample_estimate import (
    FIELDS,
    draw_real_board,
    interval_score,
    summarize_judgements,
    wilson_interval,
)


@pytest.fixture(scope="module")
def digits() -> bs.Responses:
    return load_responses_example("digits").held_out


def test_interval_score() -> None:
    for truth, missed in ((0.2, 0.0), (0.35, 0.05), (0.0, 0.1)):
        assert interval_score(0.1, 0.3, truth) == pytest.approx(0.2 + 40 * missed)


def test_wilson_interval_solves_its_equation() -> None:
    for end in wilson_interval(0.95, 200):
        assert abs(0.95 - end) == pytest.approx(1.959963984540054 * np.sqrt(end * (1 - end) / 200))


def test_boards_are_drawn_from_the_part_that_they_name(digits: bs.Responses) -> None:
    rng = np.random.default_rng(0)
    ordered = np.sort(digits.scores)[::-1]
    for index, field in enumerate(FIELDS):
        drawn, skills, named = draw_real_board(digits, 200, index, rng)
        assert named == field
        assert drawn.n_items == 200
        assert drawn.n_classifiers == skills.size >= 8
        if field == "strong":
            assert skills.min() >= ordered[digits.n_classifiers // 2]
        if field == "weak":
            assert skills.max() <= ordered[digits.n_classifiers // 3]


def test_rows_compare_with_the_raw_maximum() -> None:
    keys = ("estimand", "n", "truth", "mean", "lower", "upper", "raw", "raw_lower", "raw_upper")
    judged = [
        ("theta_sota", 100, 0.90, 0.92, 0.91, 0.93, 0.94, 0.88, 0.98),
        ("theta_sota", 100, 0.90, 0.91, 0.89, 0.95, 0.92, 0.86, 0.96),
    ]
    rows = [dict(zip(keys, row, strict=True)) for row in judged]
    cell = summarize_judgements(rows, ("n",)).loc[(100, "theta_sota")]
    assert (cell["coverage"], cell["raw_coverage"], cell["boards"]) == (0.5, 1, 2)
    assert cell["bias"] == pytest.approx(0.015)
    assert cell["rmse_ratio"] == pytest.approx(0.5)
    assert cell["width_ratio"] == pytest.approx(0.4)
    assert cell["score_ratio"] == pytest.approx((0.02 + 0.4 + 0.06) / 0.2)


def test_a_wrong_model_is_found(digits: bs.Responses) -> None:
    """Told that all is shared, the model cannot correct independent luck."""
    found = [
        bs.leaderboard.coverage(
            digits, n_test=200, boards=9, draws=300,
            priors=BoardPriors(correlation=FixedCorrelation(rho), families=("normal",)),
        ).loc[(200, "theta_sota")]
        for rho in (0.98, 0.7)
    ]  # fmt: skip
    assert found[0]["bias"] > found[1]["bias"] + 0.003
    assert found[1]["rmse_ratio"] < found[0]["rmse_ratio"]


def test_answers_are_judged_as_well(digits: bs.Responses) -> None:
    few = digits.subset(classifiers=list(range(0, 300, 25)))
    options = {"n_test": 150, "boards": 2, "route": "responses", "draws": 50, "random_seed": 3}
    frame = bs.leaderboard.coverage(few, **options)
    assert frame.index.tolist() == [(150, "theta_sota"), (150, "winner_skill")]
    with pytest.raises(InputError, match="unknown route 'guess'"):
        bs.leaderboard.coverage(few, route="guess")
