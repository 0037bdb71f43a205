"""Model of a whole board as a plain ``pm.Model``, to sample and to extend.

The skills are summed out on the grid of ``bayes_sota.leaderboard.fit``. Log probabilities of scores
are tabulated at equally spaced values of ``sqrt(1 - rho^2)`` and interpolated linearly; likelihood
and evidence use the same cells, so their errors cancel. ``tests/leaderboard/test_models.py``
compares the log density with the exact one for every shape.
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from scipy.interpolate import CubicSpline

from bayes_sota.core.errors import InputError
from bayes_sota.core.models import add_digest
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.anchors import as_known, loadings_at, residuals, stray_sets
from bayes_sota.leaderboard.evidence import TINY
from bayes_sota.leaderboard.fit import (
    FAMILIES,
    FieldFit,
    SkillFamily,
    fit_shape,
    log_count_probability,
    operations_of,
)
from bayes_sota.leaderboard.skills import draw_fresh
from bayes_sota.maximum.models import correlation_variable

_LEAST_NODES, _MOST_NODES, _PER_ROOT = 24, 96, 1.7  # of rho: the likelihood bends as entries
_EVIDENCE_NODES = 12
_LARGEST_TABLE = 128 << 20  # bytes
_RHO_TAIL = 1e-3  # prior probability on each side where the likelihood is constant in rho
_LARGEST_LOG = 600.0


def build_model(
    board: Leaderboard,
    priors: Priors | BoardPriors | None = None,
    *,
    family: str | SkillFamily = "ex-gaussian",
    fit: FieldFit | None = None,
    observe: bool = True,
) -> pm.Model:
    r"""Model of all scores of a board, its skills summed out.

    .. math::
        \text{location} \sim N, \quad \log \text{spread} \sim N, \quad \rho \sim \text{Beta}, \quad
        z \sim N(0, 1), \quad p(x_j \mid \phi, \rho) = \frac{\sum_g P(y_g \mid \phi)\,
        K_g(x_j, \rho)}{\sum_g P(y_g \mid \phi)\, R_g(\rho)}

    with ``K`` the law of a score (``bayes_sota.maximum.score_laws``) and ``R`` the probability of
    the modelled top part; the number of entries below it counts as in the exact fit. One board
    shows neither the shift ``z`` nor, reliably, rho: both keep their priors, rho by a potential,
    minus the log evidence at rho.

    Parameters
    ----------
    board : Leaderboard
        With scores.
    priors : Priors, optional
    family : str or SkillFamily
        Shape of P(psi), one of ``bayes_sota.leaderboard.fit.FAMILIES`` or one's own.
    fit : FieldFit, optional
        Exact fit of the same board and priors; default made here.
    observe : bool
        Whether the scores are observed. If not, ``observe_scores`` in the ``with`` block observes
        them under another density, such as one with a covariate; then fix rho by its prior.

    Returns
    -------
    pm.Model
        Free ``location`` and ``log_spread`` (log odds; for the metric "score" its units), a
        standard normal variable for each further parameter of the shape, ``rho`` (deterministic if
        known) and ``shift``; deterministic ``spread``; observed ``score`` (classifier: modelled
        entries), whose draws are fresh boards. ``family`` is the index of the shape, -1 for one's
        own. With anchors (``bs.with_known``) observed ``anchor_residual`` (anchor): score minus
        known skill, in standard errors.

    Raises
    ------
    InputError
        Unknown family; only the maximum known; entries with several submissions or own errors,
        which the exact route takes.

    Notes
    -----
    Where a shape explains no entry its posterior is flat, and a chain stays there: start chains at
    ``start_values``.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> model = build_model(board)
    >>> [v.name for v in model.free_RVs]
    ['location', 'log_spread', 'softness', 'rho', 'shift']
    """
    shape_fit = fit_shape(board, priors, family=family, fit=fit)
    shape, prior = shape_fit.shape, shape_fit.priors.correlation
    names = np.array(board.names)[shape_fit.evidence.modelled]
    with pm.Model(coords={"classifier": list(names)}) as model:
        add_digest(shape_fit)
        named = FAMILIES.get(shape.name) is shape
        pm.Data("family", list(FAMILIES).index(shape.name) if named else -1)
        of_place, of_width = shape_fit.prior
        parameters = [pm.Normal("location", *of_place), pm.Normal("log_spread", *of_width)]
        pm.Deterministic("spread", pt.exp(parameters[1]))
        parameters += [pm.Normal(name) for name in shape_fit.parameters[2:]]
        rho = correlation_variable(prior)
        shift = pm.Normal("shift")
        if board.anchors is not None:
            _observe_anchors(shape_fit, rho, shift)
        if observe:
            observe_scores(shape_fit, field_log_density(shape_fit, *parameters), rho)
        if observe and not prior.is_fixed:
            pm.Potential("rho_keeps_its_prior", -_log_evidence(shape_fit, rho))
    return model


def _observe_anchors(fit: FieldFit, rho: Any, shift: Any) -> None:
    board, law = fit.evidence.board, fit.evidence.law
    residual, error = residuals(law, board.anchors)
    loading = loadings_at(pt.as_tensor_variable(rho), law, board)
    loading, every = as_known(board.anchors, law, error, loading, loading[:, None] * loading)
    strays, log_prior = stray_sets(residual.size)

    def mixed(mean: Any, covariance: Any) -> tuple[FloatArray, Any]:
        each = covariance + strays[:, None] * np.eye(residual.size)
        return np.exp(log_prior), pm.MvNormal.dist(mean, each)

    pm.modelcontext(None).add_coord("anchor", list(board.anchors.names))
    law_given_shift = mixed(loading * shift, every - loading[:, None] * loading)
    pm.Mixture("anchor_residual", *law_given_shift, observed=residual, dims="anchor")
    if not fit.priors.correlation.is_fixed:
        alone_likely = pm.logp(pm.Mixture.dist(*mixed(np.zeros(residual.size), every)), residual)
        pm.Potential("anchors_leave_rho", -alone_likely)


def start_values(fit: FieldFit) -> dict[str, Any]:
    """Random draws of the exact fit where chains start: ``pm.sample(initvals=...)``.

    ``pm.sample(init="adapt_diag")`` adds no jitter, which would move them away.

    Parameters
    ----------
    fit : FieldFit
        From ``fit_shape``, as in the model.

    Returns
    -------
    dict of str to TensorVariable or str
        For every free variable of ``build_model``.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> list(start_values(fit_shape(board)))
    ['location', 'log_spread', 'softness', 'shift', 'rho']
    """
    chosen = pm.Categorical.dist(p=fit.points[0].weights.mean(axis=1))
    point = pt.as_tensor_variable(fit.natural_points)[chosen]
    start: dict[str, Any] = {name: point[k] for k, name in enumerate(fit.parameters)}
    rho = () if fit.priors.correlation.is_fixed else ("rho",)
    return start | dict.fromkeys(("shift", *rho), "prior")


def field_log_density(fit: FieldFit, location: Any, log_spread: Any, *shape: Any) -> Any:
    """Log density of a field at the grid of a fit: one for all entries, or one for each.

    Parameters
    ----------
    fit : FieldFit
        From ``fit_shape``.
    location, log_spread, *shape : tensor, shape () or (n,)
        ``fit.parameters``, one for all entries or one for each of the modelled part.

    Returns
    -------
    tensor, shape (G,) or (n, G)
        Log P(psi) per unit of the grid.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit = fit_shape(board, family="normal")
    >>> places = pt.as_tensor_variable(np.array([2.0, 2.1, 2.2, 2.3, 2.4]))
    >>> field_log_density(fit, places, -1.0).ndim
    2
    """
    if len(shape) != fit.shape.dimension - 2:
        raise InputError(
            f"the shape {fit.shape.name} has the parameters {', '.join(fit.parameters)}: "
            f"{fit.shape.dimension}, got {2 + len(shape)}"
        )
    coordinates = fit.standardised(location, log_spread, *shape)
    columns = tuple(pt.as_tensor_variable(t)[..., None] for t in coordinates)
    return fit.shape.log_density(PYTENSOR, fit.scale, columns, fit.evidence.y)


def score_log_probability(fit: FieldFit, log_density: Any, rho: Any) -> Any:
    r"""Log probability of the score of each modelled entry, given that it is modelled, (n,).

    .. math:: c_j \Big[\log \sum_g P(y_g)\, K_g(x_j, \rho) - \log \sum_g P(y_g)\, R_g(\rho)\Big]

    and, where all entries have one field, an equal share of the log probability of the number of
    entries below the modelled part. ``c`` is below 1 where entries with equal scores count as fewer
    classifiers. P includes a few outliers that follow the prior of the place. Fields that differ by
    a covariate make this a truncated regression: hidden entries do not count.

    Parameters
    ----------
    fit : FieldFit
        From ``fit_shape``.
    log_density : tensor, shape (G,) or (n, G)
        From ``field_log_density``: of the field, or of the field of each entry.
    rho : tensor, shape ()

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit = fit_shape(board, family="normal")
    >>> total = score_log_probability(fit, field_log_density(fit, 2.3, -1.0), 0.8)
    >>> total.eval(mode="FAST_COMPILE").shape
    (5,)
    """
    evidence, own = fit.evidence, _own_errors(fit)
    at = [evidence.at(float(np.sqrt(1 - x**2))) for x in own]
    log_density = pt.as_tensor_variable(log_density)
    if log_density.type.broadcastable[0] and log_density.ndim == 2:
        log_density = log_density[0]  # PyMC gives each parameter the dimensions of the scores
    top = pt.max(log_density, axis=-1, keepdims=True)  # a field far from all scores has a slope
    if not evidence.is_cut:
        top = pt.maximum(top, -_LARGEST_LOG)
    density = fit.join(pt.exp(log_density - top), pt.exp(-top))
    shared, (near, weights) = density.ndim == 1, _neighbours(rho, own)
    rows = slice(None) if shared else evidence.row

    def log_sums(tables: Any) -> Any:
        table = pt.as_tensor_variable(np.stack(tables) * evidence.step)[near]
        mass = pt.dot(table, density) if shared else pt.sum(table * density, axis=-1)
        return pt.log(pt.maximum(mass, TINY))

    log_p = log_sums([table.score[rows] for table in at])
    log_p += pt.as_tensor_variable(np.stack([table.log_scale[rows] for table in at]))[near]
    if evidence.is_cut:
        log_reach = log_sums([table.typical[None] for table in at])
        log_p -= log_reach
        if shared:  # else hidden entries have fields of their own, which nothing shows
            n, reach = float(fit.copies.sum()), pt.minimum(log_reach + top[..., 0], 0.0)
            log_p += log_count_probability(reach, n, evidence.n_below, PYTENSOR) / n
    else:
        log_p += top[..., 0]
    total = pt.sum(weights[:, None] * log_p, axis=0)
    copies = (fit.copies / evidence.copies)[evidence.row]
    return copies * (total[evidence.row] if shared else total)


def _own_errors(fit: FieldFit) -> FloatArray:
    """Equally spaced values of ``sqrt(1 - rho^2)`` where the likelihood is tabulated, (R,)."""
    rho, evidence = fit.priors.correlation, fit.evidence
    if rho.is_fixed:
        return np.sqrt(1 - rho.quantile([0.5]) ** 2)
    most = _LARGEST_TABLE // (8 * evidence.values.size * evidence.y.size)
    count = _PER_ROOT * np.sqrt(evidence.copies.sum())
    low, high = np.sqrt(1 - rho.quantile([1 - _RHO_TAIL, _RHO_TAIL]) ** 2).tolist()
    return np.linspace(low, high, max(_LEAST_NODES, int(min(count, _MOST_NODES, most))))


def _neighbours(rho: Any, nodes: FloatArray) -> tuple[slice, Any]:
    if nodes.size == 1:
        return slice(0, 1), pt.ones(1)
    rho = pt.as_tensor_variable(rho).ravel()[0]  # PyMC gives it a dimension for the scores
    inside = pt.clip(pt.sqrt(1 - rho**2), nodes[0], nodes[-1])
    place = (inside - nodes[0]) / (nodes[1] - nodes[0])
    left = pt.cast(pt.clip(pt.floor(place), 0, nodes.size - 2), "int64")
    return slice(left, left + 2), pt.stack([1 - (place - left), place - left])


def observe_scores(
    fit: FieldFit, log_density: Any, rho: Any, name: str = "score", *, dims: str = "classifier"
) -> Any:
    """Observe the scores of the modelled part in the model of the ``with`` block.

    Parameters
    ----------
    fit, log_density, rho
        As in ``score_log_probability``.
    name, dims : str
        Name of the variable, and its dimension; a second board has one of its own.

    Returns
    -------
    TensorVariable
        A ``pm.CustomDist`` whose draws are fresh boards.

    Examples
    --------
    A place for each entry, from a covariate of entries:

    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit, size = fit_shape(board, family="normal"), np.array([0.1, 0.3, 0.2, -0.4, -0.2])
    >>> with pm.Model(coords={"classifier": list(board.names)}) as model:
    ...     place = pm.Normal("location", 2.3, 0.5) + pm.Normal("slope") * size
    ...     density = field_log_density(fit, place, pm.Normal("log_spread", -1.0, 0.5))
    ...     _ = observe_scores(fit, density, pm.Beta("rho", 16, 4))
    >>> [v.name for v in model.observed_RVs]
    ['score']
    """
    evidence = fit.evidence
    scores = evidence.board.sign * evidence.scores[evidence.entries]
    add_digest(fit)

    def logp(value: Any, log_density: Any, rho: Any) -> Any:
        # the tables are of the observed scores; there are none of others
        log_p = score_log_probability(fit, log_density, rho)
        return pt.switch(pt.isclose(value, scores), log_p, np.nan)

    def random(
        log_density: FloatArray, rho: FloatArray, rng: np.random.Generator, size: Any
    ) -> FloatArray:
        density, rho = fit.join(fit.in_units(log_density)[0])[None], np.ravel(rho)[:1]
        psi = draw_fresh(fit, fit.tables[fit.nodes.find(rho)[0]], density, rng)
        return evidence.board.sign * evidence.draw_scores(psi, float(rho[0]), 0.0, rng)[0]

    return pm.CustomDist(
        name,
        log_density,
        rho,
        logp=logp,
        random=random,
        observed=scores,
        dims=dims,
        signature="(g),()->()",
    )


def _log_evidence(fit: FieldFit, rho: Any) -> Any:
    nodes = _own_errors(fit)
    few = np.linspace(nodes[0], nodes[-1], min(nodes.size, _EVIDENCE_NODES))
    exact = fit.log_evidence_at(np.sqrt(1 - few**2))
    near, weights = _neighbours(rho, nodes)
    return pt.sum(weights * pt.as_tensor_variable(CubicSpline(few, exact)(nodes))[near])


def _log_ndtr(x: Any) -> Any:
    low, high, root = pt.minimum(x, -1.0), pt.maximum(x, -1.0), np.sqrt(0.5)
    below = pt.log(0.5 * pt.erfcx(-low * root)) - 0.5 * low**2
    return pt.switch(pt.lt(x, -1.0), below, pt.log1p(-0.5 * pt.erfc(high * root)))


PYTENSOR = operations_of(pt, log_ndtr=_log_ndtr)
"""The functions of ``shapes``, from PyTensor."""
