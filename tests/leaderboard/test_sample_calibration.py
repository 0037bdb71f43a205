"""The study of real boards: truth, resumption, ratios, and the power to find a wrong model."""

import numpy as np
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.sample_calibration import (
    FIELDS,
    SHAPES,
    BoardCase,
    Judgement,
    draw_real_board,
    interval_score,
    run_board_study,
    simulate_shape,
    summarize_study,
    wilson_interval,
)


@pytest.fixture(scope="module")
def digits() -> Responses:
    return load_responses_example("digits").held_out


def test_interval_score() -> None:
    assert interval_score(0.1, 0.3, 0.2) == pytest.approx(0.2)
    assert interval_score(0.1, 0.3, 0.35) == pytest.approx(0.2 + 40 * 0.05)
    assert interval_score(0.1, 0.3, 0.0) == pytest.approx(0.2 + 40 * 0.1)


def test_wilson_interval_solves_its_equation() -> None:
    for end in wilson_interval(0.95, 200):
        assert abs(0.95 - end) == pytest.approx(1.959963984540054 * np.sqrt(end * (1 - end) / 200))


def test_boards_are_drawn_from_the_part_that_they_name(digits: Responses) -> None:
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


@pytest.mark.parametrize("shape", SHAPES)
def test_simulated_shapes(shape: str) -> None:
    case = BoardCase(shape, 1000, 0, 50, 0.6)
    board, skills = simulate_shape(case, np.random.default_rng(1))
    assert board.n_entries == skills.size == 50
    assert np.all((skills > 0) & (skills < 1))
    assert np.abs(board.scores - skills).max() < 0.1
    if shape == "clones":
        assert np.unique(board.scores).size <= 5


def test_a_study_goes_on_where_it_stopped(digits: Responses, tmp_path) -> None:
    cases = [BoardCase("digits", 200, i) for i in range(4)]
    path = tmp_path / "study.json"
    first = run_board_study(cases[:2], {"digits": digits}, draws=200, path=path)
    counted: list[int] = []
    whole = run_board_study(
        cases, {"digits": digits}, draws=200, path=path, on_progress=counted.append
    )
    assert whole[: len(first)] == first
    assert counted == [3, 4]
    assert whole == run_board_study(cases, {"digits": digits}, draws=200)


def test_rows_compare_with_the_raw_maximum() -> None:
    facts = ("x", 100, 10, 0.0, "all")
    judgements = [
        Judgement(*facts, "raw", "theta_sota", 0.90, 0.94, 0.88, 0.98),
        Judgement(*facts, "scores", "theta_sota", 0.90, 0.92, 0.91, 0.93),
        Judgement(*facts, "raw", "theta_sota", 0.90, 0.92, 0.86, 0.96),
        Judgement(*facts, "scores", "theta_sota", 0.90, 0.91, 0.89, 0.95),
    ]
    cell, total = summarize_study(judgements)
    assert cell["coverage"] == 0.5
    assert cell["raw_coverage"] == 1
    assert cell["bias"] == pytest.approx(0.015)
    assert cell["rmse_ratio"] == pytest.approx(0.5)
    assert cell["score_ratio"] == pytest.approx((0.02 + 0.4 + 0.06) / 0.2)
    assert (total["source"], total["boards"]) == ("all", 2)


def test_a_wrong_model_is_found() -> None:
    """Told that all is shared, the model cannot correct independent luck."""
    cases = [BoardCase("normal", 300, i, 60, 0.0) for i in range(12)]
    wrong = BoardPriors(correlation=FixedCorrelation(0.98), families=("normal",))
    right = BoardPriors(correlation=FixedCorrelation(0.0), families=("normal",))
    found = [
        summarize_study(run_board_study(cases, draws=500, priors=priors))[0]
        for priors in (wrong, right)
    ]
    assert found[0]["bias"] > found[1]["bias"] + 0.005
    assert found[1]["rmse_ratio"] < found[0]["rmse_ratio"]


def test_errors(digits: Responses) -> None:
    with pytest.raises(InputError, match="unknown source 'x'"):
        run_board_study([BoardCase("x", 200, 0)], {"digits": digits})
    with pytest.raises(InputError, match="unknown route"):
        run_board_study([BoardCase("digits", 200, 0)], {"digits": digits}, routes=["guess"])
    with pytest.raises(InputError, match="scores only"):
        run_board_study([BoardCase("normal", 200, 0, 20)], routes=["responses"])
