r"""Models of a board, and of answers to every item, as plain ``pm.Model`` for NUTS, to extend.

In ``build_leaderboard`` the skills are summed out on the grid of ``bayes_sota.leaderboard.fit``,
with the tables, families, top part and merged spikes of the exact route;
``tests/leaderboard/test_models.py`` holds the log density against it for every family.

``build_responses`` is a second route to ``bayes_sota.leaderboard.from_items``, from other
assumptions: nothing is estimated beforehand and nothing is normal but the latent difficulty. Item
``i`` has a difficulty ``u_i``, and classifier ``j`` is right with probability

.. math:: P(x_{ij} = 1 \mid u) = \Phi\!\left(\frac{\Phi^{-1}(\theta_j) - l_j u}
          {\sqrt{1 - l_j^2}}\right), \quad u \sim N(0, 1)

so that ``theta_j`` is its skill over all items, whatever the loading. The difficulties are summed
out; items with the same answers are counted together, and a likelihood is one matrix product.
``tests/leaderboard/test_models.py`` compares too, with integration by SciPy and with the exact
route.
"""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from numpy.typing import NDArray
from pymc.distributions.dist_math import normal_lcdf
from pytensor.compile.builders import OpFromGraph

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BetaCorrelation, BoardPriors, Priors, board_priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel, fit_field
from bayes_sota.leaderboard.shapes import FAMILIES, FieldScale, SkillFamily, operations_of

Correlation = Literal["prior", "learnt"]
LARGEST_RHO = 0.99
"""Where rho is learnt it stops here: beyond, a score is narrower than the grid can tell."""
_REACH_NODES = 12
_LARGEST_LOG = 600.0
_TINY = 1e-300


def build_leaderboard(
    board: Leaderboard,
    priors: Priors | BoardPriors | None = None,
    *,
    family: str = "ex-gaussian",
    correlation: Correlation = "prior",
    fit: FieldFit | None = None,
) -> pm.Model:
    r"""Model of all scores of a board, its skills summed out.

    .. math::
        t_i \sim N(0, 1), \quad
        \log L = \sum_u c_u \Big[\log \sum_g P(y_g \mid t)\, K_{ug}(\rho)
                 - \log \sum_g P(y_g \mid t)\, R_g(\rho)\Big], \quad
        K_{ug}(\rho) = e^{\ell_{ug} / (1 - \rho^2)}

    with ``c_u`` entries (spikes merged) of each distinct score, ``l`` the log likelihood of a
    score relative to its best, and ``R`` the probability of a score in the modelled top part.

    Parameters
    ----------
    board : Leaderboard
        With scores.
    priors : Priors, optional
    family : str
        Shape of P(psi), one of ``bayes_sota.leaderboard.shapes.FAMILIES``. A model holds one;
        ``sample_board_nuts`` averages.
    correlation : {"prior", "learnt"}
        "prior": rho is not learnt. The model holds one independent copy of the parameters for
        each of the equally likely values of rho (dimension ``rho_node``); their posteriors
        ``p(t | y, rho)``, mixed with equal weights, are the cut posterior, nested sampling
        included. "learnt": one copy, and rho a variable with its Beta prior up to
        ``LARGEST_RHO``; what leaves the kernel's mass dependent on rho is part of the likelihood,
        and R is interpolated between Chebyshev nodes of rho, on a scale (standard normal
        quantiles times ``sqrt(1 - rho^2)``) on which it hardly depends on rho.
    fit : FieldFit, optional
        Exact fit of the same board and priors, for its kernel and merged spikes; made here where
        it is absent (about a second).

    Returns
    -------
    pm.Model
        Free variable ``coordinates`` (rho_node, parameter), or ``coordinates`` (parameter,) and
        ``rho``; deterministic ``parameters`` of the same shape, on their natural scale (log odds,
        for the metric "score" units of the grid; ratios to the width and shares as they are);
        observed ``entries`` (rho_node, score) or (score,), the number of entries with each
        distinct score, whose log likelihood is one term of the sum above per score. The model
        conditions on the observed scores, so it has no predictive draws of ``entries``.

    Raises
    ------
    InputError
        Unknown family or correlation; nothing to learn about a fixed rho; only the maximum known.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> model = build_leaderboard(board, family="normal")
    >>> [v.name for v in model.free_RVs], model.named_vars_to_dims["coordinates"]
    (['coordinates'], ('rho_node', 'parameter'))
    """
    priors = board_priors(priors)
    shape = _checked_family(family)
    if correlation not in ("prior", "learnt"):
        raise InputError(f"correlation must be 'prior' or 'learnt', got {correlation!r}")
    prior = priors.correlation
    if correlation == "learnt" and not isinstance(prior, BetaCorrelation):
        raise InputError("rho can be learnt only where its prior is a BetaCorrelation")
    if correlation == "learnt" and board.metric == "auc":
        raise InputError(
            "this model learns rho from accuracies and scores with a standard error; from AUCs "
            "leaderboard_posterior(learn_rho=True) does"
        )
    if fit is None:
        fit = fit_field(ScoreKernel.of(board), priors, np.random.default_rng(0))
    if correlation == "learnt" and isinstance(prior, BetaCorrelation):
        return _model_with_rho(fit, shape, prior)
    return _model_at_nodes(fit, shape)


def pytensor_operations() -> Any:
    """The array functions of ``shapes``, from PyTensor."""
    return operations_of(pt, _log_ndtr)


def _checked_family(name: str) -> SkillFamily:
    if name not in FAMILIES:
        raise InputError(f"unknown family {name!r}; allowed: {', '.join(FAMILIES)}")
    return FAMILIES[name]


def _model_at_nodes(fit: FieldFit, family: SkillFamily) -> pm.Model:
    """One copy of the parameters at each value of rho."""
    kernel = fit.kernel
    tables = np.stack([np.exp(kernel.log_kernel(r)) for r in fit.rho]) * kernel.step
    reach = None
    if kernel.is_cut:
        reach = np.stack([kernel.reach(r) for r in fit.rho]) * kernel.step
    coords = {"rho_node": fit.rho, **_coords(fit, family)}
    with pm.Model(coords=coords) as model:
        t = pm.Normal("coordinates", dims=("rho_node", "parameter"), initval=_start(fit, family))
        pm.Deterministic(
            "parameters", _parameters(family, fit.scale, t), dims=("rho_node", "parameter")
        )
        top, density = _density(family, fit, t)
        # a product and a sum: compiling a matrix product takes four times as long
        mass = pt.sum(pytensor.shared(tables) * density[:, None, :], axis=2)
        log_p = top + pt.log(pt.maximum(mass, _TINY))
        if reach is not None:
            log_p -= _log_reach(top, pt.sum(density * reach, axis=1, keepdims=True))
        _observe(log_p, np.tile(fit.copies, (fit.rho.size, 1)), ("rho_node", "score"))
    return model


def _model_with_rho(fit: FieldFit, family: SkillFamily, prior: BetaCorrelation) -> pm.Model:
    """One copy of the parameters, and rho."""
    kernel = fit.kernel
    with pm.Model(coords=_coords(fit, family)) as model:
        rho = pm.Truncated("rho", pm.Beta.dist(prior.a, prior.b), upper=LARGEST_RHO)
        start = _start(fit, family)[fit.rho.size // 2]
        t = pm.Normal("coordinates", dims="parameter", initval=start)
        pm.Deterministic("parameters", _parameters(family, fit.scale, t), dims="parameter")
        dispersion = 1 - rho**2
        top, density = _density(family, fit, t)
        table = pt.exp(pytensor.shared(kernel.log_kernel(0.0)) / dispersion) * kernel.step
        log_p = (
            top
            + pt.log(pt.maximum(pt.sum(table * density, axis=1), _TINY))
            - 0.5 * pt.log(dispersion)
        )
        if kernel.is_cut:
            reach = _reach_at(kernel, rho) * kernel.step
            log_p -= _log_reach(top, pt.sum(density * reach))
        _observe(log_p, fit.copies, ("score",))
    return model


def _start(fit: FieldFit, family: SkillFamily) -> FloatArray:
    """Where a sampler starts: the mean of the exact fit, (R, d); else the middle of the prior."""
    if family.name not in fit.families:
        return np.zeros((fit.rho.size, family.dimension))
    points = fit.points[fit.families.index(family.name)]
    return np.asarray(points.weights.T @ points.points)


def _coords(fit: FieldFit, family: SkillFamily) -> dict[str, Any]:
    scores = fit.kernel.values / fit.kernel.law.unit
    return {"parameter": list(family.parameters), "score": scores}


def _density(family: SkillFamily, fit: FieldFit, t: Any) -> tuple[Any, Any]:
    """Logarithm of the highest density on the grid, and the density relative to it.

    The highest is taken apart so that a field far from all scores still has a slope.
    """
    columns = tuple(t[..., i, None] for i in range(family.dimension))
    log_density = family.log_density(pytensor_operations(), fit.scale, columns, fit.kernel.y)
    top, strangers = pt.max(log_density, axis=-1, keepdims=True), fit.strangers
    if strangers.reach is None:
        top = pt.maximum(top, -_LARGEST_LOG)
    shape = pt.exp(log_density - top)
    if strangers.reach is None:
        modelled = pt.exp(-top)
    else:
        modelled = pt.sum(shape * strangers.reach, axis=-1, keepdims=True)
    return top, (1 - strangers.share) * shape + modelled * strangers.profile


def _log_reach(top: Any, reach: Any) -> Any:
    return top + pt.log(pt.maximum(reach, _TINY))


def _observe(log_p: Any, copies: FloatArray, dims: tuple[str, ...]) -> None:
    pm.CustomDist(
        "entries",
        log_p,
        logp=lambda entries, log_p: entries * log_p,
        signature="()->()",
        observed=copies,
        dims=dims,
    )


def _reach_at(kernel: ScoreKernel, rho: Any) -> Any:
    """``ScoreKernel.reach`` at a variable rho, interpolated in ``sqrt(1 - rho^2)``."""
    least = float(np.sqrt(1 - LARGEST_RHO**2))
    angle = (np.arange(_REACH_NODES) + 0.5) * np.pi / _REACH_NODES
    nodes = (least + 1) / 2 - (1 - least) / 2 * np.cos(angle)
    cut = float(kernel.values[0])
    quantiles = (kernel.law.reach_quantile(kernel.psi, cut, float(d**2)) for d in nodes)
    scaled = np.stack([d * q for d, q in zip(nodes, quantiles, strict=True)])
    spread = pt.sqrt(1 - rho**2)
    weights = (-1.0) ** np.arange(_REACH_NODES) * np.sin(angle)
    difference = spread - nodes
    ratio = weights / pt.switch(pt.abs(difference) < 1e-12, 1e-12, difference)
    cardinal = ratio / pt.sum(ratio)
    return pt.exp(_log_ndtr(pt.sum(cardinal[:, None] * scaled, axis=0) / spread))


def _log_ndtr(x: Any) -> Any:
    """Logarithm of the standard normal cdf; value and gradient finite on both sides.

    The gradient is written out: differentiating through erfcx costs twice as much.
    """
    x = pt.as_tensor_variable(x)
    inside = x.type()
    op: Any = OpFromGraph(
        [inside], [_log_ndtr_value(inside)], inline=True, pullback=_log_ndtr_pullback
    )
    return op(x)


def _log_ndtr_value(x: Any) -> Any:
    low, high = pt.minimum(x, -1.0), pt.maximum(x, -1.0)
    root = np.sqrt(0.5)
    below = pt.log(0.5 * pt.erfcx(-low * root)) - 0.5 * low**2
    return pt.switch(x < -1.0, below, pt.log1p(-0.5 * pt.erfc(high * root)))


def _log_ndtr_pullback(inputs: Any, outputs: Any, gradients: Any) -> list[Any]:
    hazard = pt.exp(-0.5 * inputs[0] ** 2 - outputs[0] - 0.5 * np.log(2 * np.pi))
    return [gradients[0] * hazard]


def _parameters(family: SkillFamily, scale: FieldScale, t: Any) -> Any:
    """What each coordinate sets, on its natural scale."""
    ops = pytensor_operations()
    place, width = scale.place(t[..., 0]), scale.width(ops, t[..., 1])
    edge = place + 0.5 * scale.location_sd
    values: dict[str, Callable[[], tuple[Any, ...]]] = {
        "normal": lambda: (place, scale.resolved(ops, width)),
        "ex-gaussian": lambda: (edge, width, scale.resolved(ops, width * pt.exp(t[..., 2] - 1.2))),
        "plateau": lambda: (edge, width * np.sqrt(12)),
        "normal-laplace": lambda: (
            place,
            width,
            width * pt.exp(0.8 * t[..., 2] - 1.0),
            scale.resolved(ops, width * pt.exp(0.7 * t[..., 3] - 1.5)),
        ),
        "two-groups": lambda: _two_groups(scale, place, width * np.exp(-0.5), t),
    }
    return pt.stack(values[family.name](), axis=-1)


def _two_groups(scale: FieldScale, place: Any, raw: Any, t: Any) -> tuple[Any, ...]:
    ops = pytensor_operations()
    lead = scale.resolved(ops, raw)
    rest = scale.resolved(ops, raw * pt.exp(0.6 * t[..., 3]))
    gap = lead * pt.exp(0.7 + 0.6 * t[..., 2])
    return place, lead, gap, rest, pm.math.sigmoid(1.5 * t[..., 4])


_NODES, _REACH = 61, 6.0  # trapezoidal rule over the difficulty
_LOADING = (1.8, 0.7)  # log odds of the typical loading: latent correlations of 0.4 to 0.93
_LOADING_SPREAD = 0.5


def build_responses(responses: Responses, priors: Priors | BoardPriors | None = None) -> pm.Model:
    r"""Model of items and classifiers with one common factor, the difficulties summed out.

    .. math::
        \mathrm{logit}\,\theta_j \sim N(\mu, s), \quad \mathrm{logit}\, l_j \sim N(\nu, t), \quad
        \log L = \sum_p c_p \log \sum_q w_q \prod_j P(x_{pj} \mid u_q)

    with ``c_p`` items of each pattern of answers. Missing answers are left out of the product.
    Families of near-clones are not modelled, and P(theta) is fitted to all classifiers and has one
    shape: leave out failed ones (``Responses.subset``). The exact route has no such limits.

    Parameters
    ----------
    responses : Responses
    priors : Priors, optional
        Place and width of the field. The correlation is learnt, with a prior of its own on the
        latent scale.

    Returns
    -------
    pm.Model
        Free ``location``, ``log_spread``, ``skill_offset`` (classifier,), ``loading_location``,
        ``loading_spread``, ``loading_offset`` (classifier,); deterministic ``skill`` and
        ``loading`` (classifier,), ``rho`` (root of the mean phi correlation), ``theta_sota`` and
        ``winner_skill``; observed ``items`` (pattern,). The model conditions on the patterns, so
        it has no predictive draws of them.

    Examples
    --------
    >>> answers = Responses(np.random.default_rng(0).random((100, 4)) < 0.8)
    >>> model = build_responses(answers)
    >>> model.named_vars_to_dims["skill"]
    ('classifier',)
    """
    priors = board_priors(priors)
    patterns, counts = np.unique(responses.correct, axis=0, return_counts=True)
    coords = {"classifier": list(responses.names), "pattern": np.arange(len(counts))}
    winner = int(np.argmax(responses.scores))
    with pm.Model(coords=coords) as model:
        skill, loading = _skill(priors, responses), _loading()
        difficulty, weights = _difficulty_nodes()
        threshold = pt.sqrt(2.0) * pt.erfinv(2 * skill - 1)
        margin = (threshold - loading * difficulty[:, None]) / pt.sqrt(1 - loading**2)
        log_p = _pattern_log_probability(patterns, margin, weights)
        pm.CustomDist(
            "items",
            log_p,
            logp=lambda items, log_p: items * log_p,
            signature="()->()",
            observed=counts.astype(float),
            dims="pattern",
        )
        right = pt.exp(normal_lcdf(0.0, 1.0, margin))
        pm.Deterministic("rho", pt.sqrt(pt.maximum(_mean_phi(right, weights, skill), 0.0)))
        pm.Deterministic("theta_sota", pt.max(skill))
        pm.Deterministic("winner_skill", skill[winner])
    return model


def _skill(priors: BoardPriors, responses: Responses) -> Any:
    """Skills, in offsets from the place of the field in units of its width."""
    location = pm.Normal("location", *priors.location, initval=_typical(responses))
    log_spread = pm.Normal("log_spread", *priors.log_spread)
    offset = pm.Normal("skill_offset", dims="classifier")
    skill = pm.math.invlogit(location + pt.exp(log_spread) * offset)
    return pm.Deterministic("skill", skill, dims="classifier")


def _typical(responses: Responses) -> float:
    p = float(np.clip(np.median(responses.scores), 0.01, 0.99))
    return float(np.log(p / (1 - p)))


def _loading() -> Any:
    location = pm.Normal("loading_location", *_LOADING)
    spread = pm.HalfNormal("loading_spread", _LOADING_SPREAD)
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
