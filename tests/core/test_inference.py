"""The engine against closed forms: two shapes, three values of rho, one normal observation each."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from bayes_sota.core.inference import Fit, Nodes, Parameters, infer
from bayes_sota.core.priors import BetaCorrelation, FixedCorrelation

SEEN = 1.5


@dataclass(frozen=True, eq=False)
class NormalFit(Fit):
    """The sum of a shape's coordinates is seen with the error 1 - rho."""

    def dimension(self, family):
        return {"one": 1, "two": 2}[family]

    def log_likelihood(self, family, points):
        return norm.logpdf(SEEN, points.sum(axis=1)[:, None], 1 - self.rho)


def log_evidence(rho):
    """Of both shapes, (2, R): the sum of d coordinates and the error are normal."""
    variances = np.array([1, 2])[:, None] + (1 - rho) ** 2
    return norm.logpdf(SEEN, 0, np.sqrt(variances))


def fitted(learns="nothing", points=4000):
    nodes = Nodes.of(BetaCorrelation(1, 1), FixedCorrelation(0.3), 3, has_luck=False)
    return infer(NormalFit(nodes, ("one", "two"), (), learns), np.random.default_rng(0), points)


def test_evidence_and_weights_are_those_of_the_closed_form():
    fit, exact = fitted(), log_evidence(np.array([1, 3, 5]) / 6)
    np.testing.assert_allclose(fit.log_evidence, exact, atol=0.03)
    of_families = np.exp(exact - logsumexp(exact, axis=0))
    np.testing.assert_allclose(fit.family_weights, of_families, atol=0.01)
    assert fit.log_evidence_of_all == pytest.approx(logsumexp(exact) - np.log(6), abs=0.02)
    assert list(fit.shape_weights) == ["one", "two"]
    np.testing.assert_allclose(
        list(fit.shape_weights.values()), of_families.mean(axis=1), atol=0.01
    )


@pytest.mark.slow
def test_evidence_differs_between_seeds_as_its_error_says():
    fits = [
        infer(
            NormalFit(fitted().nodes, ("one", "two"), (), "nothing"), np.random.default_rng(s), 60
        )
        for s in range(40)
    ]
    seen = np.std([fit.log_evidence_of_all for fit in fits])
    said = np.mean([fit.log_evidence_mcse for fit in fits])
    assert 0.7 < said / seen < 1.4


def test_nodes_keep_their_prior_unless_the_data_weigh_them():
    fit = fitted()
    np.testing.assert_allclose(fit.node_weights, 1 / 3)
    of_nodes = np.exp(log_evidence(fit.rho)).sum(axis=0)
    for what in ("rho", "nodes"):
        found = fit.learning(what).node_weights
        np.testing.assert_allclose(found, of_nodes / of_nodes.sum(), atol=0.01)


def test_only_rho_is_learnt_beside_a_luck_that_keeps_its_prior():
    nodes = Nodes.of(BetaCorrelation(1, 1), BetaCorrelation(1, 1), 2, has_luck=True)
    assert (nodes.cells, nodes.lucks) == (2, 3)
    fit = infer(NormalFit(nodes, ("one",), (), "rho"), np.random.default_rng(0), 100)
    assert np.unique(fit.node_weights).size == 2
    draws = np.arange(6).repeat(2)
    rng = np.random.default_rng(0)
    rho, luck = nodes.draw_rho(draws, rng), nodes.draw_luck(draws, rng)
    np.testing.assert_array_equal(nodes.find(rho, luck), draws)


def test_draws_have_the_posterior_of_the_closed_form():
    fit = fitted()
    chosen = fit.choose(6000, np.random.default_rng(1))
    parameters = Parameters.of(fit, chosen)
    assert parameters.node.size == 6000
    error = (1 - fit.rho[2]) ** 2
    here = (parameters.node == 2) & (parameters.family == 1)
    total = parameters.coordinates[here].sum(axis=1)
    assert total.mean() == pytest.approx(SEEN * 2 / (2 + error), abs=0.02)
    assert total.var() == pytest.approx(2 * error / (2 + error), rel=0.2)
    assert np.all(parameters.coordinates[parameters.family == 0, 1] == 0)


def test_cells_hold_every_draw_once():
    fit = fitted()
    parameters = Parameters.of(fit, fit.choose(50, np.random.default_rng(1)), repeats=4)
    found = list(parameters.cells(fit, 16))
    assert sorted(np.concatenate([draws for _, _, draws in found])) == list(range(200))
    for r, f, draws in found:
        assert draws.size <= 16
        assert set(parameters.node[draws]) == {r}
        assert parameters.points(fit, draws).shape[1] == fit.dimension(fit.families[f])
    assert np.unique(parameters.point).size <= 50


def test_the_effective_size_is_the_formula():
    fit = fitted("nodes", 200)
    whole = [fit.points[f].weights * fit.family_weights[f] @ fit.node_weights for f in range(2)]
    assert sum(w.sum() for w in whole) == pytest.approx(1)
    assert fit.effective_size == pytest.approx(1 / sum(np.sum(w**2) for w in whole))


def test_log_prior_counts_the_coordinates_of_the_family():
    fit = fitted()
    parameters = Parameters(np.array([0, 1]), np.zeros(2, int), np.array([[0.5, 9.0], [0.5, 1.0]]))
    expected = norm.logpdf(0.5) + np.array([0, norm.logpdf(1.0)]) - np.log(2)
    np.testing.assert_allclose(parameters.log_prior(fit), expected)
