r"""Model of answers to every item, as a plain ``pm.Model`` for NUTS, to extend.

A second route to the exact posterior from answers (``bayes_sota.leaderboard.from_items``), from
other assumptions: nothing is estimated beforehand and nothing is normal but the latent difficulty.
Item ``i`` has a difficulty ``u_i``, and classifier ``j`` is right with probability

.. math:: P(x_{ij} = 1 \mid u) = \Phi\!\left(\frac{\Phi^{-1}(\theta_j) - l_j u}
          {\sqrt{1 - l_j^2}}\right), \quad u \sim N(0, 1)

so that ``theta_j`` is its skill over all items, whatever the loading. The difficulties are summed
out; items with the same answers are computed once. ``tests/items/test_models.py`` compares with
integration by SciPy and with the exact route.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.dist_math import normal_lcdf

from bayes_sota.core.builders import ItemPriors, item_priors
from bayes_sota.core.priors import Priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.responses import MISSING, Responses

_NODES, _REACH = 61, 6.0  # trapezoidal rule over the difficulty


def build_model(responses: Responses, priors: Priors | ItemPriors | None = None) -> pm.Model:
    r"""Model of items and classifiers with one common factor, the difficulties summed out.

    .. math::
        \mathrm{logit}\,\theta_j \sim N(\mu, s), \quad \mathrm{logit}\, l_j \sim N(\nu, t), \quad
        \log L = \sum_i \log \sum_q w_q \prod_j P(x_{ij} \mid u_q)

    with the nodes ``u_q`` of a quadrature over the difficulty. Missing answers are left out
    of the product.
    Families of near-clones are not modelled, and P(theta) is fitted to all classifiers and has one
    shape: leave out failed ones (``Responses.subset``). The exact route has no such limits.

    Parameters
    ----------
    responses : Responses
    priors : Priors or ItemPriors, optional
        Of ``Priors`` only place and width of the field count: the correlation follows from the
        loadings, whose priors ``ItemPriors`` has.

    Returns
    -------
    pm.Model
        Free ``location``, ``log_spread``, ``skill_offset`` (classifier,), ``loading_location``,
        ``loading_spread``, ``loading_offset`` (classifier,); deterministic ``skill`` and
        ``loading`` (classifier,), ``rho`` (root of the mean phi correlation), ``theta_sota`` and
        ``winner_skill``; observed ``items`` (item, classifier): 1 right, 0 wrong, -1 missing. Its
        log likelihood is one number per item, its draws are answers to as many fresh items.

    Examples
    --------
    >>> answers = Responses(np.random.default_rng(0).random((100, 4)) < 0.8)
    >>> model = build_model(answers)
    >>> model.named_vars_to_dims["skill"]
    ('classifier',)
    """
    responses.check_several()
    known = item_priors(priors)
    answers = responses.correct
    coords = {"item": np.arange(len(answers)), "classifier": list(responses.names)}
    winner = int(np.argmax(responses.scores))
    with pm.Model(coords=coords) as model:
        skill, loading = _skill(known), _loading(known)
        difficulty, weights = _difficulty_nodes()
        pm.CustomDist(
            "items", skill, loading, np.arange(len(answers)), logp=_log_probability(answers),
            random=_answers(answers), signature="(m),(m),()->(m)", dtype="int8",
            observed=answers, dims=("item", "classifier"),
        )  # fmt: skip
        right = pt.exp(normal_lcdf(0.0, 1.0, _margin(skill, loading, difficulty)))
        pm.Deterministic("rho", pt.sqrt(pt.maximum(_mean_phi(right, weights, skill), 0.0)))
        pm.Deterministic("theta_sota", pt.max(skill))
        pm.Deterministic("winner_skill", skill[winner])
    return model


def _margin(skill: Any, loading: Any, difficulty: FloatArray) -> Any:
    """Standard normal quantile of being right at each difficulty, (difficulty, classifier)."""
    threshold = pt.sqrt(2.0) * pt.erfinv(2 * skill - 1)
    return (threshold - loading * difficulty[:, None]) / pt.sqrt(1 - loading**2)


def _log_probability(answers: NDArray[np.int8]) -> Any:
    """Log probability of the answers to each item; those with the same answers at once."""
    patterns, index = np.unique(answers, axis=0, return_inverse=True)
    difficulty, weights = _difficulty_nodes()

    def logp(value: Any, skill: Any, loading: Any, item: Any) -> Any:
        # PyMC gives each parameter the dimensions of the items
        skill, loading = (x[0] if x.ndim == 2 else x for x in (skill, loading))
        margin = _margin(skill, loading, difficulty)
        found = _pattern_log_probability(patterns, margin, weights)[index.ravel()]
        return pt.switch(pt.all(pt.eq(value, answers), axis=1), found, np.nan)

    return logp


def _answers(answers: NDArray[np.int8]) -> Any:
    """Draws of answers to fresh items, missing where they were."""
    from scipy.special import ndtri

    def random(
        skill: FloatArray, loading: FloatArray, item: Any, *, rng: np.random.Generator, size: Any
    ) -> NDArray[np.int8]:
        skill, loading = (np.reshape(x, (-1, answers.shape[1]))[0] for x in (skill, loading))
        own = rng.standard_normal(answers.shape) * np.sqrt(1 - loading**2)
        hard = rng.standard_normal((len(answers), 1)) * loading
        right = hard + own < ndtri(skill)
        return np.where(answers == MISSING, MISSING, right).astype(np.int8)

    return random


def _skill(priors: ItemPriors) -> Any:
    """Skills, in offsets from the place of the field in units of its width."""
    location = pm.Normal("location", *priors.location)
    log_spread = pm.Normal("log_spread", *priors.log_spread)
    offset = pm.Normal("skill_offset", dims="classifier")
    skill = pm.math.invlogit(location + pt.exp(log_spread) * offset)
    return pm.Deterministic("skill", skill, dims="classifier")


def _loading(priors: ItemPriors) -> Any:
    location = pm.Normal("loading_location", *priors.loading)
    spread = pm.HalfNormal("loading_spread", priors.loading_spread)
    offset = pm.Normal("loading_offset", dims="classifier")
    loading = pm.math.invlogit(location + spread * offset)
    return pm.Deterministic("loading", loading, dims="classifier")


def _difficulty_nodes() -> tuple[FloatArray, FloatArray]:
    """Equally spaced nodes: the rule converges exponentially for smooth, decaying integrands."""
    nodes = np.linspace(-_REACH, _REACH, _NODES)
    weights = np.exp(-0.5 * nodes**2)
    return nodes, weights / weights.sum()


def _pattern_log_probability(patterns: NDArray[np.int8], margin: Any, weights: FloatArray) -> Any:
    """Log probability of each pattern of answers, shape (patterns,)."""
    right = (patterns == 1).astype(float)
    wrong = ((patterns != 1) & (patterns != MISSING)).astype(float)
    log_right, log_wrong = normal_lcdf(0.0, 1.0, margin), normal_lcdf(0.0, 1.0, -margin)
    log_joint = pt.dot(right, log_right.T) + pt.dot(wrong, log_wrong.T) + np.log(weights)
    return pt.logsumexp(log_joint, axis=1)


def _mean_phi(right: Any, weights: FloatArray, skill: Any) -> Any:
    """Mean phi correlation over pairs of classifiers."""
    both = pt.dot(right.T * weights, right)
    sd = pt.sqrt(skill * (1 - skill))
    phi = (both - pt.outer(skill, skill)) / pt.outer(sd, sd)
    m = skill.shape[0]
    return (pt.sum(phi) - pt.sum(pt.diag(phi))) / (m * (m - 1))
