"""The field behind a point estimate, the boards that it makes, and their figure."""

import numpy as np
import pytest

from bayes_sota.maximum.plots_field import plot_field
from bayes_sota.maximum.shrinkage import FieldEstimate, crop_scores, shrink_aucs, shrink_scores

N = 1500
_RNG = np.random.default_rng(0)
SCORES = _RNG.binomial(N, 1 / (1 + np.exp(-(2.0 - 0.5 * _RNG.exponential(size=80))))) / N
AUCS = np.repeat(0.6 + 0.3 * np.linspace(0, 1, 20) ** 0.4, 2)
BOARD = {"n_test": N, "chance": 0.5}
ESTIMATES = {
    "shrink": lambda: shrink_scores(SCORES, **BOARD),
    "fixed field": lambda: shrink_scores(SCORES, fixed_field=True, **BOARD),
    "upper": lambda: shrink_scores(SCORES, criterion="upper", **BOARD),
    "crop": lambda: crop_scores(SCORES, **BOARD),
    "auc": lambda: shrink_aucs(AUCS, n_positive=40, n_negative=100),
    "correlated auc": lambda: shrink_aucs(AUCS, n_positive=40, n_negative=100, correlation=0.6),
}


@pytest.fixture(params=ESTIMATES, scope="module")
def found(request: pytest.FixtureRequest) -> FieldEstimate:
    return ESTIMATES[request.param]()


def test_the_best_skill_of_the_field_is_the_estimate(found: FieldEstimate) -> None:
    assert found.skills.max() == pytest.approx(found.estimate, abs=1e-12)
    assert found.skills.size <= found.scores.size
    if found.fixed_field:
        assert found.skills.size == found.law.n_classifiers


def test_boards_of_the_field_follow_its_law(found: FieldEstimate) -> None:
    rng = np.random.default_rng(1)
    best = np.array([found.realise(rng).max() for _ in range(1500)])
    error = best.std() / best.size**0.5
    assert found.law.mean() == pytest.approx(best.mean(), abs=4 * error)
    assert found.law.std() == pytest.approx(best.std(), rel=0.1)  # 5 standard errors
    low, high = found.interval
    assert np.mean((best >= low) & (best <= high)) == pytest.approx(0.95, abs=0.03)


def test_what_is_drawn_are_its_numbers(found: FieldEstimate) -> None:
    figure, board = plot_field(found, random_seed=7, backend="none"), found.realise(7)
    marks = figure.viz
    assert marks["theta_sota"]["field"].item()["x"] == found.estimate
    assert marks["expected_maximum"]["board"].item()["x"] == found.expected_maximum
    assert float(np.squeeze(marks["best_score"]["board"].item()["x"])) == board.max()
    np.testing.assert_array_equal(marks["interval"]["board"].item()["x"], found.interval)
    np.testing.assert_array_equal(marks["single"]["field"].item()["x"], found.single)
    for panel in ("field", "board"):
        assert marks["observed_maximum"][panel].item()["x"] == found.observed_maximum
    bars = {
        "skills": ("field", found.skills),
        "scores": ("board", board),
        "observed": ("board", found.scores),
    }
    for label, (panel, values) in bars.items():
        drawn = marks[label][panel].item()
        lowest = np.asarray(drawn["l_e"])[0]
        assert np.sum(drawn["y"]) == np.sum(values >= lowest)
        assert np.asarray(drawn["r_e"])[-1] >= values.max()


def test_bins_hold_as_many_counts_each() -> None:
    drawn = plot_field(ESTIMATES["shrink"](), backend="none").viz["scores"]["board"].item()
    width = (np.asarray(drawn["r_e"]) - np.asarray(drawn["l_e"])) * N
    np.testing.assert_allclose(width, np.round(width[0]), atol=1e-8)
    assert width[0] > 0.5


def test_the_title_says_what_is_solved_or_that_nothing_is() -> None:
    titles = {
        "shrink": "are expected to show the observed maximum",
        "upper": "as the upper end of their 95% interval",
    }
    for name, words in titles.items():
        title = plot_field(ESTIMATES[name](), backend="none").viz["figure_title"].item()["string"]
        assert words in title
        assert "classifiers whose best skill is 0." in title
    alone = shrink_scores([0.9, 0.6, 0.61], **BOARD)
    title = plot_field(alone, backend="none").viz["figure_title"].item()["string"]
    assert not alone.multiplicity
    assert title.startswith("No multiplicity to correct")
