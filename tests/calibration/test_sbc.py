"""Simulation-based calibration, small; ``sbc.py`` makes those of docs/measured/calibration.md.

A posterior that is wrong on purpose must be found out, or the right one's passing means nothing.
"""

import numpy as np
import pytest
from calibration.sbc import SEED, CalibrationSetting, judge_ranks, run_sbc, simulate_board, study

from bayes_sota.core.priors import LogitNormalSkill, MaximumPriors


def inside(tree, ci_prob: float = 0.99) -> dict[str, bool]:
    return {name: bool(row["inside"]) for name, row in judge_ranks(tree, ci_prob).items()}


CLOSE = MaximumPriors(LogitNormalSkill(typical=(0.7, 0.95), spread=(0.02, 0.08)))


@pytest.mark.slow
def test_a_wrong_number_of_classifiers_is_found_out() -> None:
    wrong = CalibrationSetting(priors=CLOSE, assumed_classifiers=1)
    judged = inside(run_sbc(wrong, replicates=40, draws=200, random_seed=SEED))
    assert not judged["theta_sota"]


def test_a_simulated_board_is_possible() -> None:
    truth, board = simulate_board(CalibrationSetting(), np.random.default_rng(0))
    assert truth["winner_skill"] <= truth["theta_sota"]
    assert truth["winner_new_score"] <= truth["best_new_score"]
    assert board.counts[0] == board.counts[1] == round(board.maximum * board.n_test)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "replicates"), [("exact", 60), ("auc", 40)])
def test_ranks_of_a_study_are_uniform(name: str, replicates: int) -> None:
    """99 % for the nine quantities together; ``python calibration/sbc.py`` makes longer ones."""
    assert all(inside(study(name, replicates, n_jobs=1), 1 - 0.01 / 9).values())
