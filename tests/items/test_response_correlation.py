"""Correlation structure of response matrices: against NumPy, known structures and real answers."""

import numpy as np
import pytest
from scipy import special

from bayes_sota.core.priors import BetaCorrelation, FixedCorrelation
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.correlation import (
    influence_correlation,
    learn_correlation,
    response_correlation,
)
from bayes_sota.items.pair_sums import AnswerSums, phi_variance


def simulate(rng, n, loadings, groups=None, family_loading=0.0, level=1.2):
    """One-factor probit answers; classifiers of one group share a second factor."""
    m = len(loadings)
    groups = np.arange(m) if groups is None else np.asarray(groups)
    common = rng.standard_normal((n, 1)) * loadings
    family = rng.standard_normal((n, groups.max() + 1))[:, groups] * family_loading
    own = np.sqrt(1 - loadings**2 - family_loading**2)
    return Outcomes(common + family + own * rng.standard_normal((n, m)) > -level)


def test_phi_is_the_correlation_of_right_and_wrong():
    rng = np.random.default_rng(1)
    answers = simulate(rng, 50_000, np.full(6, 0.8))
    found = response_correlation(answers)
    expected = np.corrcoef(answers.correct.T)
    phi = AnswerSums.of(answers.correct).phi()
    assert np.abs(phi - expected).max() < 1e-3  # half an item per disagreement
    off = ~np.eye(6, dtype=bool)
    assert found.rho == pytest.approx(np.sqrt(expected[off].mean()), abs=2e-3)


def test_missing_answers_are_pairwise_complete():
    rng = np.random.default_rng(2)
    answers = simulate(rng, 20_000, np.full(5, 0.8)).correct.astype(float)
    answers[rng.random(answers.shape) < 0.2] = np.nan
    found = AnswerSums.of(Outcomes(answers).correct)
    both = ~np.isnan(answers[:, [0, 1]]).any(axis=1)
    expected = np.corrcoef(answers[both][:, :2].T)[0, 1]
    assert found.phi()[0, 1] == pytest.approx(expected, abs=2e-3)
    given = (~np.isnan(answers)).sum(axis=0)
    assert found.shared[0, 1] == pytest.approx(both.sum() / np.sqrt(given[0] * given[1]))


def test_pairs_that_share_no_items_get_what_is_typical():
    rng = np.random.default_rng(3)
    answers = simulate(rng, 2000, np.full(5, 0.8)).correct.astype(float)
    answers[:1000, 0] = np.nan
    answers[1000:, 1] = np.nan
    found = Outcomes(answers)
    assert np.isfinite(response_correlation(found).residual).all()
    assert np.isnan(AnswerSums.of(found.correct).phi()[0, 1])


@pytest.mark.slow
def test_standard_error_is_the_spread_over_test_sets():
    rng = np.random.default_rng(4)
    found = [response_correlation(simulate(rng, 800, np.full(12, 0.85))) for _ in range(60)]
    spread = np.std([f.rho for f in found])
    assert np.mean([f.rho_se for f in found]) == pytest.approx(spread, rel=0.3)


def check_order(values, of_permuted):
    """Equal bit for bit whatever the order of the items."""
    first = of_permuted(np.arange(len(values)))
    for seed in range(3):
        found = of_permuted(np.random.default_rng(seed).permutation(len(values)))
        assert (found.rho, found.rho_se) == (first.rho, first.rho_se)
        for field in ("leaders", "loadings", "residual", "family"):
            np.testing.assert_array_equal(getattr(found, field), getattr(first, field))


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("clusters", [None, 30])
def test_the_order_of_items_makes_no_difference(missing, clusters):
    rng = np.random.default_rng(11)
    answers = simulate(rng, 60, np.full(9, 0.7)).correct.astype(float)
    answers[rng.random(answers.shape) < missing] = np.nan
    labels = None if clusters is None else rng.integers(0, clusters, 60)
    check_order(
        answers,
        lambda p: response_correlation(
            Outcomes(answers[p], clusters=None if labels is None else labels[p])
        ),
    )


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_errors_of_correlations_are_those_of_leaving_out_every_item(missing):
    rng = np.random.default_rng(12)
    answers = simulate(rng, 80, np.full(5, 0.7)).correct.astype(float)
    answers[rng.random(answers.shape) < missing] = np.nan
    phi = np.array(
        [AnswerSums.of(Outcomes(np.delete(answers, i, 0)).correct).phi() for i in range(80)]
    )
    expected = 79 / 80 * np.sum((phi - phi.mean(axis=0)) ** 2, axis=0)
    found = phi_variance(AnswerSums.of(Outcomes(answers).correct).counts, 80)
    off = ~np.eye(5, dtype=bool)
    np.testing.assert_allclose(found[off], expected[off], rtol=1e-9)


def test_errors_of_item_scores_are_those_of_leaving_out_every_item():
    rng = np.random.default_rng(13)
    values = rng.standard_normal((80, 1)) + rng.standard_normal((80, 5))
    scores = np.arange(5.0)
    whole = influence_correlation(values, scores)
    parts = [influence_correlation(np.delete(values, i, 0), scores) for i in range(80)]
    rho = np.array([part.rho for part in parts])
    carrying = np.median(np.sum(values**2, axis=0) ** 2 / np.sum(values**4, axis=0))
    jump = np.hypot(1 - whole.rho**2, whole.rho**2) / (carrying + 1) / (2 * whole.rho)
    expected = 79 / 80 * np.sum((rho - rho.mean()) ** 2) + jump**2
    assert whole.rho_se**2 == pytest.approx(expected, rel=1e-6)
    permuted = influence_correlation(values[rng.permutation(80)], scores)
    assert permuted.rho_se == pytest.approx(whole.rho_se, rel=1e-12)


def test_families_are_found_and_others_are_not():
    rng = np.random.default_rng(5)
    groups = np.array([0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7])
    answers = simulate(rng, 6000, np.full(12, 0.7), groups, family_loading=0.69)
    found = response_correlation(answers)
    assert found.families == ((0, 1, 2, 3), (4, 5))
    assert found.weights[:4].sum() < 1.6
    assert found.weights[6:] == pytest.approx(1.0)
    alone = response_correlation(simulate(rng, 6000, np.full(12, 0.7)))
    assert alone.families == ()
    assert found.rho == pytest.approx(alone.rho, abs=0.04)  # relatives do not raise what is common


def test_copies_of_one_classifier_count_once():
    rng = np.random.default_rng(6)
    answers = simulate(rng, 3000, np.full(8, 0.8)).correct
    found = response_correlation(Outcomes(answers[:, [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]]))
    assert found.families == ((0, 1, 2),)
    assert found.weights[:3].sum() == pytest.approx(1.0, abs=0.1)


def test_residual_is_a_correlation_matrix():
    answers = load_responses_example("digits").test.correct[:, ::4]
    found = response_correlation(Outcomes(answers))
    assert np.linalg.eigvalsh(found.residual).min() > 0
    assert np.diagonal(found.residual) == pytest.approx(1.0)
    assert ((found.loadings >= 0) & (found.loadings < 1)).all()


def test_weak_classifiers_share_less():
    rng = np.random.default_rng(7)
    strong = simulate(rng, 20_000, np.full(8, 0.9)).correct
    weak = (rng.random((20_000, 3)) < 0.5).astype(int)
    found = response_correlation(Outcomes(np.concatenate([strong, weak], axis=1)))
    assert found.loadings[:8] == pytest.approx(found.rho, abs=0.03)
    assert np.abs(found.loadings[8:]).max() < 0.05


def test_two_classifiers_and_perfect_ones():
    found = response_correlation(Outcomes(np.array([[1, 1], [1, 0], [0, 1], [1, 1]])))
    assert 0 < found.rho < 1
    perfect = np.ones((50, 4), int)
    perfect[:3, 3] = 0
    assert np.isfinite(response_correlation(Outcomes(perfect)).residual).all()


def test_a_perfect_leader_shares_what_the_others_share():
    """Equal classifiers, three mistakes in a hundred: one without any is a matter of luck."""
    rng, apart, level = np.random.default_rng(21), [], special.ndtri(0.97)
    while len(apart) < 20:
        answers = simulate(rng, 100, np.full(8, 0.85), level=level)
        if answers.scores.max() == 1:
            found = response_correlation(answers)
            apart.append(found.loadings / found.rho - 1)
    assert np.sqrt(np.mean(np.square(apart))) < 0.3  # perfect ones alone were 1 off before


def test_nobody_shares_more_with_the_leaders_than_a_leader():
    """Independent answers: what is shared is zero but for noise, and so are all ratios of it."""
    rng = np.random.default_rng(22)
    for n in (100, 3000):
        found = response_correlation(Outcomes(rng.random((n, 12)) < np.linspace(0.7, 0.9, 12)))
        assert found.loadings.max() == found.loadings[found.leaders].max()
        assert (found.loadings / found.rho <= 1.5).all()


def test_loadings_of_few_items_are_drawn_to_the_truth():
    """Nearer to those of 40,000 items than the centroid estimates of the same answers are."""
    rng = np.random.default_rng(23)
    strong, weak = np.full(10, 0.85), np.full(6, 0.45)
    loadings = np.concatenate([strong, weak])
    truth = response_correlation(simulate(rng, 40_000, loadings, level=1.6))
    true = truth.loadings / truth.rho
    ours, centroid = [], []
    for _ in range(20):
        answers = simulate(rng, 150, loadings, level=1.6)
        found, phi = response_correlation(answers), AnswerSums.of(answers.correct).phi()
        phi = np.where(np.eye(16, dtype=bool), np.nan, phi)[:, found.leaders]
        raw = np.nanmean(phi, axis=1)
        centroid.append(raw / raw[found.leaders].mean() - true)
        ours.append(found.loadings / found.rho - true)
    assert np.mean(np.square(ours)) < 0.8 * np.mean(np.square(centroid))


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_order_of_classifiers_makes_no_difference(missing):
    """Few items, so that many scores are equal; two classifiers have the same answers."""
    rng = np.random.default_rng(24)
    answers = simulate(rng, 40, np.full(14, 0.7)).correct.astype(float)
    answers[rng.random(answers.shape) < missing] = np.nan
    answers[:, 3] = answers[:, 8]
    names = [f"model {j}" for j in range(14)]
    first = response_correlation(Outcomes(answers, names=names))
    assert np.unique(Outcomes(answers).scores).size < 14
    for seed in range(3):
        p = np.random.default_rng(seed).permutation(14)
        found = response_correlation(Outcomes(answers[:, p], names=[names[j] for j in p]))
        assert (found.rho, found.rho_se) == (first.rho, first.rho_se)
        for field in ("leaders", "order"):
            np.testing.assert_array_equal(p[getattr(found, field)], getattr(first, field))
        for field in ("loadings", "family"):
            np.testing.assert_array_equal(getattr(found, field), getattr(first, field)[p])
        np.testing.assert_array_equal(found.residual, first.residual[p][:, p])


def test_learnt_correlation_between_prior_and_answers():
    rng = np.random.default_rng(8)
    prior = BetaCorrelation(16, 4)
    few = response_correlation(simulate(rng, 60, np.full(8, 0.6)))
    many = response_correlation(simulate(rng, 20_000, np.full(8, 0.6)))
    assert learn_correlation(many, prior).quantile(0.5) == pytest.approx(many.rho, abs=0.01)
    assert learn_correlation(many, prior).is_fixed
    middle = float(learn_correlation(few, prior).quantile(0.5))
    assert min(few.rho, 0.8) - 0.02 < middle < max(few.rho, 0.8) + 0.02
    assert learn_correlation(few, FixedCorrelation(0.5)) == FixedCorrelation(0.5)


def check_rho(correct, strong, seed):
    """Root mean square error of rho at 1,000 items, over random fields of classifiers."""
    rng = np.random.default_rng(seed)
    order = np.argsort(-correct.mean(axis=0))[:strong]
    errors = []
    for _ in range(12):
        chosen = rng.choice(order, rng.integers(8, order.size + 1), replace=False)
        items = rng.integers(0, len(correct), 1000)
        found = response_correlation(Outcomes(correct[items][:, chosen]))
        errors.append(found.rho - response_correlation(Outcomes(correct[:, chosen])).rho)
    return np.sqrt(np.mean(np.square(errors)))


def test_rho_of_digits_classifiers():
    assert check_rho(load_responses_example("digits").held_out.correct, 60, 9) < 0.05


@pytest.mark.slow
def test_rho_of_cifar10_classifiers(data_directory):
    answers = read_outcomes(data_directory / "cifar10" / "correct_cifar10_test.csv")
    assert check_rho(answers.correct, 30, 10) < 0.05
