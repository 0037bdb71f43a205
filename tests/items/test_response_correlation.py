"""Correlation structure of response matrices: against NumPy, known structures and real answers."""

import numpy as np
import pytest
from scipy import special

from bayes_sota.core.priors import BetaCorrelation, FixedCorrelation
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.correlation import (
    influence_correlation,
    learn_correlation,
    response_correlation,
)


def simulate(rng, n, loadings, groups=None, family_loading=0.0, level=1.2):
    """One-factor probit answers; classifiers of one group share a second factor."""
    m = len(loadings)
    groups = np.arange(m) if groups is None else np.asarray(groups)
    common = rng.standard_normal((n, 1)) * loadings
    family = rng.standard_normal((n, groups.max() + 1))[:, groups] * family_loading
    own = np.sqrt(1 - loadings**2 - family_loading**2)
    return Outcomes(common + family + own * rng.standard_normal((n, m)) > -level)


def test_rho_is_the_correlation_of_right_and_wrong():
    rng = np.random.default_rng(1)
    answers = simulate(rng, 50_000, np.full(6, 0.8))
    found = response_correlation(answers)
    expected = np.corrcoef(answers.correct.T)
    off = ~np.eye(6, dtype=bool)
    assert found.rho == pytest.approx(np.sqrt(expected[off].mean()), abs=2e-3)


@pytest.mark.parametrize("missing", [0.2, 0.6])
def test_scores_of_other_items_share_less(missing):
    """Their errors correlate by phi times the share of items that two both answered."""
    rng = np.random.default_rng(2)
    answers = simulate(rng, 20_000, np.full(5, 0.8)).correct
    whole = response_correlation(Outcomes(answers))
    found = response_correlation(Outcomes(with_gaps(answers, missing, rng)))
    assert found.rho**2 == pytest.approx((1 - missing) * whole.rho**2, abs=0.015)


def with_gaps(values, missing, rng):
    """Numbers of which some are missing."""
    return np.where(rng.random(values.shape) < missing, np.nan, values)


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_standard_error_with_clusters_is_the_spread_over_test_sets(missing):
    """30 clusters of ten items that are nearly alike, of which answers may be missing."""
    rng, found = np.random.default_rng(14), []
    labels = [f"c{i // 10}" for i in range(300)]
    for _ in range(100):
        alike, alone = rng.standard_normal((2, 30, 9)), rng.standard_normal((2, 300, 9))
        both = 0.84 * np.repeat(alike, 10, axis=1) + 0.55 * alone
        right = 0.8 * both[0, :, :1] + 0.6 * both[1, :, 1:] > -1.2
        data = Outcomes(with_gaps(right, missing, rng), clusters=labels)
        found.append(response_correlation(data))
    rhos = [f.rho for f in found]
    assert np.mean(rhos) == pytest.approx(0.67, abs=0.04)
    assert 0.9 < np.mean([f.rho_se for f in found]) / np.std(rhos) < 1.6


@pytest.mark.parametrize("influence", [False, True])
def test_errors_are_those_of_leaving_out_every_item(influence):
    """To 6 %; beside them stands what one more mistake would change."""
    rng = np.random.default_rng(13)
    values = rng.standard_normal((160, 1)) + rng.standard_normal((160, 5))
    away, scores = values, np.arange(5.0)
    if not influence:
        values = simulate(rng, 160, np.full(5, 0.7)).correct
        away = values - values.mean(axis=0)

    def found_of(rows):
        if influence:
            return influence_correlation(rows, scores)
        return response_correlation(Outcomes(rows))

    whole = found_of(values)
    rho = np.array([found_of(np.delete(values, i, 0)).rho for i in range(160)])
    carrying = np.median(np.sum(away**2, axis=0) ** 2 / np.sum(away**4, axis=0))
    jump = np.hypot(1 - whole.rho**2, whole.rho**2) / (carrying + 1) / (2 * whole.rho)
    expected = 159 / 160 * np.sum((rho - rho.mean()) ** 2) + jump**2
    assert whole.rho_se == pytest.approx(np.sqrt(expected), rel=0.06)


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


def test_residual_is_a_correlation_matrix():
    answers = load_responses_example("digits").test.correct[:, ::4]
    perfect = np.ones((50, 4), int)
    perfect[:3, 3] = 0
    for right in (answers, perfect, [[1, 1], [1, 0], [0, 1], [1, 1]]):
        found = response_correlation(Outcomes(np.array(right)))
        assert np.linalg.eigvalsh(found.residual).min() > 0
        assert np.diagonal(found.residual) == pytest.approx(1.0)
        assert ((found.loadings >= 0) & (found.loadings < 1)).all()
        assert 0 < found.rho < 1


def test_a_perfect_leader_shares_what_the_others_share():
    """Equal classifiers, three mistakes in a hundred: one without any is a matter of luck."""
    rng, apart, level = np.random.default_rng(21), [], special.ndtri(0.97)
    while len(apart) < 20:
        answers = simulate(rng, 100, np.full(8, 0.85), level=level)
        if answers.scores.max() == 1:
            found = response_correlation(answers)
            apart.append(found.loadings / found.rho - 1)
    assert np.sqrt(np.mean(np.square(apart))) < 0.3  # perfect ones alone were 1 off before


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
        found, phi = response_correlation(answers), np.corrcoef(answers.correct.T)
        phi = np.where(np.eye(16, dtype=bool), np.nan, phi)[:, found.leaders]
        raw = np.nanmean(phi, axis=1)
        centroid.append(raw / raw[found.leaders].mean() - true)
        ours.append(found.loadings / found.rho - true)
    assert np.mean(np.square(ours)) < 0.8 * np.mean(np.square(centroid))


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_the_order_of_classifiers_makes_no_difference(missing):
    """Few items, so that many scores are equal; two classifiers have the same answers."""
    rng = np.random.default_rng(24)
    answers = with_gaps(simulate(rng, 40, np.full(14, 0.7)).correct, missing, rng)
    answers[:, 3] = answers[:, 8]
    names = [f"model {j}" for j in range(14)]
    first = response_correlation(Outcomes(answers, names=names))
    assert np.unique(Outcomes(answers).scores).size < 14
    for seed in range(3):
        p = np.random.default_rng(seed).permutation(14)
        found = response_correlation(Outcomes(answers[:, p], names=[names[j] for j in p]))
        assert (found.rho, found.rho_se) == pytest.approx((first.rho, first.rho_se), rel=1e-12)
        for field in ("leaders", "order"):
            np.testing.assert_array_equal(p[getattr(found, field)], getattr(first, field))
        np.testing.assert_allclose(found.loadings, first.loadings[p], rtol=1e-12)
        np.testing.assert_allclose(found.residual, first.residual[p][:, p], atol=1e-12)
        families = {tuple(sorted(p[[*members]].tolist())) for members in found.families}
        assert families == set(first.families)


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
