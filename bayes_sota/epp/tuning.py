r"""Promise of further tuning: does the best of k more configurations of a family beat the best?

Players are configurations (sets of hyperparameters, say) of families of models, drawn at random.
In a family with n of them, let u be the (r + 1)-th highest skill, r about a quarter of n. Skills
above it exceed it by a generalised Pareto law [1]_,

.. math:: P(\theta - u > y \mid \theta > u) = (1 + \xi y / \sigma)_+^{-1 / \xi},

and a new one is above it with a probability :math:`\zeta \sim` Beta(r + 1, n - r), the law of an
order statistic. The best B of all is beaten with probability

.. math:: 1 - \mathrm E \big[1 - \zeta (1 + \xi (B - u) / \sigma)_+^{-1 / \xi}\big]^k .

The shapes :math:`\xi` and the logarithms of the scales :math:`\sigma` of the families are normal
about common means with common spreads, all unknown, as few configurations say little about their
own tail. All are summed over grids: nothing is sampled. Thresholds are each family's own: where
families are about equal, the one that leads does so by luck, and its probability is too high.
Skills are those that were estimated; a new best one is one that comes out so in as many rounds.
``tests/epp/test_tuning.py`` recovers known laws, ``tests/benchmarks/epp_coverage.py tuning`` tries
held-out configurations of 34 data sets.

.. [1] Pickands 1975, Statistical inference using extreme order statistics, Ann. Statist. 3.
"""

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from scipy.stats import genpareto, norm

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

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
        Estimated skills of the configurations, as ``BradleyTerryFit.epp``.
    families : sequence of str, length m
        Family of each, drawn at random from its space of hyperparameters.
    more : int
        k, new configurations, drawn like the observed ones.

    Returns
    -------
    list of namespaces
        ``family``, ``n`` observed configurations, ``best``, the highest skill among them,
        ``p_beats_best``, the probability that one of the new ones has a higher skill than the best
        of all families, and ``shape``, the posterior mean of xi: below 0 skills have an upper end.
        Only families with at least 10 configurations whose best skill is not shared: what several
        reach may be the highest possible.

    Raises
    ------
    InputError
        Skills that are not finite, sizes that do not match, no family with 10 configurations and a
        single best one.

    Notes
    -----
    A search that learns from what it saw finds better ones sooner than random draws: these
    probabilities are of random search. By how much the best is beaten is not said: an expected rise
    would be the mean of an unobserved tail, and was 2 to 15 times too large on held-out
    configurations.

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
    """Posterior weights of shape and scale of each family, (x, s), the common laws summed out."""
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
    """Normal laws on a grid, one row for each mean and spread, (means times spreads, grid)."""
    laws = norm.pdf(x, means[:, None, None], _SPREADS[:, None]).reshape(-1, x.size)
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))
