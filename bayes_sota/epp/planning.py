r"""Rounds that a result needs, and the promise of further tuning.

The clustered variance of a skill or difference from n of G rounds is

.. math:: V_n = V_1 \Big[\frac1n + \frac{q}{1 - q}\Big], \qquad
   V_1 = V_G \Big/ \Big[\frac1G + \frac{q}{1 - q}\Big],

with q the share that overlapping splits test (``fit.test_fraction``, else 0). Tests should detect
the gaps of the estimated skills shrunk towards their mean (James & Stein),

.. math:: \Big[1 - \frac{\sum_i V_{ii} / m}{\sum_i \hat\beta_i^2 / (m - 1)}\Big]_+ \hat\beta

Tuning: of n configurations of a family, drawn at random, those above the (r + 1)-th highest skill
u, r about n / 4, exceed it by a generalised Pareto law (Pickands 1975, Ann. Statist. 3),

.. math:: P(\theta - u > y \mid \theta > u) = (1 + \xi y / \sigma)_+^{-1 / \xi},

and a new one is above u with probability :math:`\zeta \sim` Beta(r + 1, n - r). At least one of k
new ones beats B, the best of all, with probability

.. math:: 1 - \mathrm E \big[1 - \zeta (1 + \xi (B - u) / \sigma)_+^{-1 / \xi}\big]^k .

The :math:`\xi`, and the :math:`\log \sigma`, of the families are normal about a common mean with a
common spread, summed over grids. ``tests/epp/test_planning.py`` simulates planned tournaments and
recovers known laws; ``tests/benchmarks/epp_coverage.py tuning`` tries held-out configurations.
"""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, ndtri
from scipy.stats import genpareto, norm

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit

STANDARD_ERROR = Range(0, 100, open_low=True)
_DRAWS = 4_000


def plan_rounds(
    fit: BradleyTerryFit, target_se: float, *, power: float = 0.8, ci_prob: float = 0.95
) -> SimpleNamespace:
    """Number of rounds that standard errors, tests of neighbours and the best player need.

    Parameters
    ----------
    fit : BradleyTerryFit
    target_se : float
        Standard error of a skill, in logits: 0.2 is about 5 points of the probability of winning.
    power, ci_prob : float
        Power and confidence of each test of neighbours; the best comes first with ``ci_prob``.

    Returns
    -------
    namespace
        Numbers of rounds, infinite where none is enough: ``for_error`` (m,), until each skill has
        ``target_se``; ``for_neighbours`` (m - 1,), until a test distinguishes the k-th and the next
        player in ``order``; ``for_best``, until the first has the highest estimate. ``order`` are
        positions of the players, the best first, ``expected`` their shrunk skills.

    Raises
    ------
    InputError
        Listed matches without clusters, a player of one round only, impossible numbers.

    Notes
    -----
    Two players who differ by d need :math:`V_1 (z_p + z_{power})^2 / d^2 + z_p^2 / 2` rounds, with
    :math:`z_p` the quantile of :math:`(1 + p) / 2` (Guenther 1981).

    Examples
    --------
    >>> import bayes_sota as bs
    >>> fit = bs.fit_epp([1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(20, 3)))
    >>> plan = plan_rounds(fit, 0.1)
    >>> fit.se.round(2).tolist(), plan.for_error.round().tolist()
    ([0.29, 0.2, 0.35], [170.0, 82.0, 245.0])
    """
    STANDARD_ERROR.check(target_se, "target_se")
    OPEN_SHARE.check(power, "power")
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if fit.influence is None:
        fix = "name the column of rounds with {option}"
        raise InputError("a plan needs matches grouped in rounds", parameter="cluster", fix=fix)
    if np.isinf(fit.se).any():
        name = fit.players[int(np.argmax(np.isinf(fit.se)))]
        raise InputError(f"{name!r} is in one round only, so its standard error is not known")
    noise, seen = np.mean(fit.se**2), np.sum(fit.epp**2) / (len(fit.players) - 1)
    expected = fit.epp * max(float(1 - noise / seen), 0.0) if seen else fit.epp
    order = np.argsort(-fit.epp, kind="stable")
    first, second = order[:-1], order[1:]
    confident = float(ndtri((1 + ci_prob) / 2))
    targets = (expected[first] - expected[second]) / (confident + float(ndtri(power)))
    errors = fit.standard_errors_of_pairs()[first, second]
    return SimpleNamespace(
        order=order,
        expected=expected,
        for_error=_rounds_for(fit, fit.se, target_se),
        for_neighbours=_rounds_for(fit, errors, targets) + confident**2 / 2,
        for_best=_rounds_for_best(fit, expected, int(order[0]), ci_prob),
        rounds=fit.data.n_clusters,
        target_se=target_se,
        power=power,
        ci_prob=ci_prob,
    )


def _rounds_for(fit: BradleyTerryFit, errors: ArrayLike, targets: ArrayLike) -> FloatArray:
    least, rounds = fit.overlap_of(1) - 1, fit.data.n_clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        share = fit.overlap / rounds * (np.asarray(targets) / errors) ** 2
        return np.where(share > least, 1 / (share - least), np.inf)


def _rounds_for_best(
    fit: BradleyTerryFit, skills: FloatArray, best: int, probability: float
) -> float:
    """Errors x times as large leave it ahead while x is below all gaps / differences of errors."""
    values, vectors = np.linalg.eigh(fit.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    errors = np.random.default_rng(0).standard_normal((_DRAWS, len(skills))) @ root.T
    beyond = np.delete(errors - errors[:, [best]], best, axis=1)
    gaps = np.delete(skills[best] - skills, best)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(beyond > 0, gaps / beyond, np.inf).min(axis=1)
    return float(_rounds_for(fit, 1.0, np.quantile(most, 1 - probability, method="lower")))


_FEWEST = 10  # configurations that a family has at least
_TOP = 0.25  # share of a family that is its tail
_SHAPES = np.linspace(-1.0, 0.5, 31).round(9)  # xi of 0 among them
_MEANS = np.linspace(-1.0, 0.5, 16)
_SPREADS = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
_STEP = 0.025  # of the logarithms of scales
_NODES = (np.arange(32) + 0.5) / 32  # of zeta
_TINY = 1e-9  # skills that are equal
_LEAST = 1e-300


def tuning_promise(
    skills: ArrayLike, families: Sequence[str], more: int = 20
) -> list[SimpleNamespace]:
    """Chance that further tuning of each family gives a new best, the most promising first.

    Parameters
    ----------
    skills : array-like, shape (m,)
        ``BradleyTerryFit.epp`` of the configurations.
    families : sequence of str, length m
        Family of each, drawn at random from its space of hyperparameters.
    more : int
        k, new configurations, drawn likewise; a search that learns from its results is faster.

    Returns
    -------
    list of namespaces
        ``family``, ``n`` observed configurations, ``best``, their highest skill, ``p_beats_best``,
        the probability that a new one is estimated above the best of all families, and ``shape``,
        the posterior mean of xi: below 0 skills have an upper end. Only families with at least 10
        configurations and a single best one.

    Raises
    ------
    InputError
        Skills that are not finite, no such family.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skills = np.append(rng.normal(1.0, 0.5, 40), rng.normal(0.0, 1.0, 40))
    >>> promises = tuning_promise(skills, ["gbm"] * 40 + ["svm"] * 40, more=40)
    >>> [(one.family, round(one.p_beats_best, 2)) for one in promises]
    [('svm', 0.49), ('gbm', 0.11)]
    """
    COUNT.check(more, "more")
    values = np.asarray(skills, np.float64)
    if values.shape != (len(families),) or not np.all(np.isfinite(values)):
        raise InputError(f"skills must be {len(families)} finite numbers, one for each family name")
    names = np.array(list(map(str, families)))
    own = {name: np.sort(values[names == name])[::-1] for name in dict.fromkeys(names.tolist())}
    used = {k: x for k, x in own.items() if x.size >= _FEWEST and x[0] - x[1] > _TINY}
    if not used:
        raise InputError(
            f"no family has {_FEWEST} configurations and a single best one; a skill that several "
            "share may be the highest there is"
        )
    tops = {k: int(np.ceil(_TOP * x.size)) for k, x in used.items()}
    excesses = {k: np.maximum(x[: tops[k]] - x[tops[k]], _TINY) for k, x in used.items()}
    logs = np.log([excess.mean() for excess in excesses.values()])
    log_scales = np.arange(logs.min() - 2, logs.max() + 2.5, _STEP)
    promises = []
    for name, weights in _weights(excesses, log_scales).items():
        x, top = used[name], tops[name]
        beyond = genpareto.sf(values.max() - x[top], _SHAPES[:, None], scale=np.exp(log_scales))
        zeta = betaincinv(top + 1, x.size - top, _NODES)
        missed = np.mean([np.exp(more * np.log1p(-one * beyond)) for one in zeta], axis=0)
        beaten = float(np.sum(weights * (1 - missed)))
        shape = float(weights.sum(axis=1) @ _SHAPES)
        promise = {"family": name, "n": x.size, "best": float(x[0]), "shape": shape}
        promises.append(SimpleNamespace(**promise, p_beats_best=beaten))
    return sorted(promises, key=lambda one: -one.p_beats_best)


def _weights(excesses: dict[str, FloatArray], log_scales: FloatArray) -> dict[str, FloatArray]:
    """Posterior weights of shape and scale of each family, the common laws summed out."""
    shapes = _normal_laws(_SHAPES, _MEANS)
    widths = _normal_laws(log_scales, np.arange(log_scales[0], log_scales[-1], 0.25))
    likelihood = {}
    for name, excess in excesses.items():
        law = {"c": _SHAPES[:, None], "scale": np.exp(log_scales)}
        logs = np.sum([genpareto.logpdf(y, **law) for y in excess], axis=0)
        likelihood[name] = np.exp(logs - logs.max())
    evidence = {name: shapes @ own @ widths.T for name, own in likelihood.items()}
    logs = np.sum([np.log(np.maximum(own, _LEAST)) for own in evidence.values()], axis=0)
    common, weights = np.exp(logs - logs.max()), {}
    for name, own in likelihood.items():
        prior = shapes.T @ (common / np.maximum(evidence[name], _LEAST)) @ widths
        weights[name] = own * prior / np.sum(own * prior)
    return weights


def _normal_laws(x: FloatArray, means: FloatArray) -> FloatArray:
    """Normal laws on a grid, (means times spreads, grid)."""
    laws = norm.pdf(x, means[:, None, None], _SPREADS[:, None]).reshape(-1, x.size)
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))
