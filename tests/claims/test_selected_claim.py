"""Claims about winners that were picked, against simulated pickings."""

import os
from pathlib import Path

import numpy as np
import pytest

from bayes_sota.claims.selection import claim_of_best_entry
from bayes_sota.core.priors import BoardPriors, FixedCorrelation
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import compare_methods, probability_not_better


def fixed(rho: float) -> BoardPriors:
    return BoardPriors(correlation=FixedCorrelation(rho))


def test_the_best_of_equals_is_not_believed() -> None:
    """Twenty equal classifiers: the winner's lead is luck, and the field says so."""
    rng = np.random.default_rng(3)
    corrected, plain = [], []
    for _ in range(6):
        scores = rng.binomial(400, 0.85, 20) / 400
        found = claim_of_best_entry(Leaderboard(scores, n_test=400), fixed(0.0), random_seed=0)
        corrected.append(found.p_not_best)
        plain.append(found.p_false)
        assert found.p_false_selected >= found.p_false - 0.02
    assert np.mean(corrected) > 0.7
    assert np.mean(plain) < 0.5


def test_equal_scores_are_a_toss_up() -> None:
    found = claim_of_best_entry(Leaderboard([0.9, 0.9, 0.8], n_test=200), random_seed=0)
    assert found.p_false_selected == 0.5
    assert found.p_false == pytest.approx(0.5, abs=1e-6)


def test_answers_and_item_scores_have_their_own_correlation() -> None:
    rng = np.random.default_rng(4)
    difficulty = rng.normal(size=(400, 1))
    answers = Responses(rng.normal(size=(400, 6)) + difficulty < [1.6, 1.5, 1.5, 1.4, 1.3, 1.2])
    found = claim_of_best_entry(answers, random_seed=0)
    winner = answers.names.index(found.winner)
    other = answers.names.index(found.runner_up)
    x = answers.correct
    only = [
        int(((x[:, i] == 1) & (x[:, j] == 0)).sum()) for i, j in ((winner, other), (other, winner))
    ]
    assert found.p_false == pytest.approx(float(probability_not_better(*only)))
    assert 0 < found.p_not_best < 1
    dice = ItemScores(np.clip(0.8 + 0.1 * (rng.normal(size=(80, 4)) + difficulty[:80]), 0, 1))
    assert 0 < claim_of_best_entry(dice, random_seed=0).p_false_selected < 1


def test_missing_answers_and_ties_are_the_same_for_both() -> None:
    rng = np.random.default_rng(6)
    x = (rng.random((60, 3)) < [0.9, 0.8, 0.7]).astype(float)
    x[:10, 0] = np.nan
    found = claim_of_best_entry(Responses(x), random_seed=0)
    whole = compare_methods(Responses(x[10:]), draws=10)
    assert found.p_false == pytest.approx(whole.p_false)
    assert "10 of 60 items left out" in found.notes[0]
    tied = Responses([[1, 0, 0], [0, 1, 0], [1, 1, 1], [1, 1, 0]])
    found = claim_of_best_entry(tied, random_seed=0)
    assert (found.p_false_selected, found.p_false) == (0.5, 0.5)


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("BAYES_SOTA_DATA"), reason="BAYES_SOTA_DATA is not set")
def test_on_real_answers_the_field_knows_better_who_is_the_best() -> None:
    """Best of 10 to 30 real classifiers on 300 items; the truth is that of all 10,000.

    Log loss of "the winner is not the best": by the field, and by the items alone.
    """
    path = Path(os.environ["BAYES_SOTA_DATA"]) / "cifar10" / "correct_cifar10_test.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:].astype(int)
    rng, rows = np.random.default_rng(5), []
    for m in (10, 30) * 75:
        columns = rng.choice(table.shape[1], m, replace=False)
        answers = Responses(table[np.ix_(rng.choice(len(table), 300), columns)])
        found = claim_of_best_entry(answers, random_seed=0)
        alone = compare_methods(answers, draws=4000, random_seed=0)
        truth = table[:, columns].mean(axis=0)
        rows.append((found.p_not_best, alone.p_beaten, int(np.argmax(truth)) != alone.winner))
    field, alone, seen = (np.array(x, float) for x in zip(*rows, strict=True))

    def loss(p: np.ndarray) -> float:
        p = np.clip(p, 1e-3, 1 - 1e-3)
        return float(-np.mean(seen * np.log(p) + (1 - seen) * np.log(1 - p)))

    assert abs(field.mean() - seen.mean()) < abs(alone.mean() - seen.mean())
    assert loss(field) < loss(alone) + 0.02
