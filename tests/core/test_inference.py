"""The engine against closed forms: two shapes, three values of rho, one normal observation each."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

from bayes_sota.core.inference import Fit, Nodes, infer
from bayes_sota.core.priors import BetaCorrelation, FixedCorrelation

SEEN = 3.0
NODES = Nodes.of(BetaCorrelation(1, 1), FixedCorrelation(0.3), 3)


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


def fitted(nodes=NODES, learns="nothing", points=4000):
    return infer(NormalFit(nodes, ("one", "two"), (), learns), np.random.default_rng(0), points)


def test_evidence_and_weights_are_those_of_the_closed_form():
    fit, exact = fitted(), log_evidence(np.array([1, 3, 5]) / 6)
    np.testing.assert_allclose(fit.log_evidence, exact, atol=0.03)
    of_families = np.exp(exact - logsumexp(exact, axis=0))
    np.testing.assert_allclose(fit.family_weights, of_families, atol=0.01)
    assert fit.log_evidence_of_all == pytest.approx(logsumexp(exact) - np.log(6), abs=0.02)
    assert fit.doubts == []
    assert "effective size of" in fitted(points=20).doubts[0]
    weights = fit.family_weights @ fit.node_weights
    np.testing.assert_allclose(weights, of_families.mean(axis=1), atol=0.01)


def test_nodes_keep_their_prior_unless_the_data_weigh_them():
    fit = fitted()
    np.testing.assert_allclose(fit.node_weights, 1 / 3)
    of_nodes = np.exp(log_evidence(fit.rho)).sum(axis=0)
    for learnt in ("rho", "nodes"):
        found = replace(fit, learns=learnt).node_weights
        np.testing.assert_allclose(found, of_nodes / of_nodes.sum(), atol=0.01)
    both = Nodes.of(BetaCorrelation(1, 1), BetaCorrelation(1, 1), 2)
    assert (both.cells, both.lucks) == (2, 3)
    assert np.unique(fitted(both, "rho", 100).node_weights).size == 2  # luck keeps its prior


def test_draws_have_the_posterior_of_the_closed_form():
    fit = fitted()
    parameters = fit.choose(6000, np.random.default_rng(1))
    error = (1 - fit.rho[2]) ** 2
    here = (parameters.node == 2) & (parameters.family == 1)
    total = parameters.coordinates[here].sum(axis=1)
    assert total.mean() == pytest.approx(SEEN * 2 / (2 + error), abs=0.02)
    assert total.var() == pytest.approx(2 * error / (2 + error), rel=0.2)
    one = parameters.family == 0
    assert np.all(parameters.coordinates[one, 1] == 0)
    first, second = norm.logpdf(parameters.coordinates.T) - [[np.log(2)], [0]]
    expected = np.where(one, first, first + second)
    np.testing.assert_allclose(parameters.log_prior(fit), expected)
