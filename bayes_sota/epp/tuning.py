r"""What further tuning promises: does the best of k more configurations of a family beat the best?

Players are configurations (sets of hyperparameters, say) of families of models, drawn at random.
Of a family with n of them, let u be the (r + 1)-th highest skill, r about a quarter of n. Skills
above it exceed it by a generalised Pareto law [1]_,

.. math:: P(\theta - u > y \mid \theta > u) = (1 + \xi y / \sigma)_+^{-1 / \xi},

and a new one is above it with a probability :math:`\zeta \sim` Beta(r + 1, n - r), the law of an
order statistic. The best B of all is beaten with probability

.. math:: 1 - \mathrm E \big[1 - \zeta (1 + \xi (B - u) / \sigma)_+^{-1 / \xi}\big]^k .

The shapes :math:`\xi` and the logarithms of the scales :math:`\sigma` of the families are normal
about common means with common spreads, all unknown, as few configurations say little of their own
tail. All are summed over grids: nothing is sampled. Thresholds are each family's own: where
families are about equal, the one that leads does so by luck, and its probability is too high.
Skills are those that were estimated; a new best one is one that comes out so in as many rounds.
``tests/epp/test_tuning.py`` recovers known laws, ``tests/benchmarks/epp_coverage.py tuning`` tries
held-out configurations of 34 data sets.

.. [1] Pickands 1975, Statistical inference using extreme order statistics, Ann. Statist. 3.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from bayes_sota.core.arguments import COUNT
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray

_FEWEST = 10  # configurations that a family has at least
_TOP = 0.25  # share of a family that is its tail
_SHAPES = np.linspace(-1.0, 0.5, 31)
_MEANS = np.linspace(-1.0, 0.5, 16)
_SPREADS = np.array([0.05, 0.1, 0.2, 0.4, 0.8])
_STEP = 0.025  # of the logarithms of scales
_NODES = (np.arange(32) + 0.5) / 32  # of zeta
_TINY = 1e-9  # skills that are equal
_LEAST = 1e-300


@dataclass(frozen=True)
class TuningPromise:
    """What k more configurations of one family promise.

    Attributes
    ----------
    family : str
    n : int
        Configurations that there are.
    best : float
        The highest skill among them.
    p_beats_best : float
        Probability that one of the new ones has a higher skill than the best of all families.
    shape : float
        Posterior mean of xi: below 0 skills have an upper end.
    """

    family: str
    n: int
    best: float
    p_beats_best: float
    shape: float


def tuning_promise(
    skills: ArrayLike, families: Sequence[str], more: int = 20
) -> list[TuningPromise]:
    """What further tuning of each family promises, the most promising first.

    Parameters
    ----------
    skills : array-like, shape (m,)
        Estimated skills of the configurations, as ``BradleyTerryFit.epp``.
    families : sequence of str, length m
        Family of each, drawn at random from its space of hyperparameters.
    more : int
        k, new configurations, drawn like those that there are.

    Returns
    -------
    list of TuningPromise
        Of the families with at least 10 configurations whose best skill is not shared: what
        several reach may be the highest that there is.

    Raises
    ------
    InputError
        Skills that are not finite, no family that can be told, sizes that do not match.

    Notes
    -----
    A search that learns from what it saw finds better ones sooner than random draws: these
    probabilities are of random search. By how much the best is beaten is not said: an expected rise
    would be the mean of a tail that nobody has seen, and was 2 to 15 times too large on held-out
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
    own = {name: values[names == name] for name in dict.fromkeys(names.tolist())}
    large = {name: x for name, x in own.items() if x.size >= _FEWEST}
    if not large:
        largest = max((x.size for x in own.values()), default=0)
        raise InputError(
            f"no family has {_FEWEST} configurations, which a tail is learnt from; the largest has "
            f"{counted(largest, 'configuration')}"
        )
    tails = {name: _Tail.of(x) for name, x in large.items() if np.diff(np.sort(x)[-2:])[0] > _TINY}
    if not tails:
        raise InputError("the best skill of every family is shared: it may be the highest there is")
    best = float(values.max())
    promises = []
    scales = _scales_of([*tails.values()])
    for name, weights in _weights(tails, scales).items():
        beaten = _beaten(tails[name], scales, weights, best, more)
        shape = float(np.sum(weights.sum(axis=1) * _SHAPES))
        of = own[name]
        promises.append(TuningPromise(name, of.size, float(of.max()), beaten, shape))
    return sorted(promises, key=lambda one: -one.p_beats_best)


@dataclass(frozen=True, eq=False)
class _Tail:
    """Highest skills of a family: how far they exceed a threshold."""

    threshold: float
    n: int
    excess: FloatArray  # (r,)

    @classmethod
    def of(cls, skills: FloatArray) -> "_Tail":
        """Tail of some skills."""
        x = np.sort(skills)[::-1]
        above = int(np.ceil(_TOP * x.size))
        return cls(float(x[above]), x.size, np.maximum(x[:above] - x[above], _TINY))

    def likelihood(self, scales: FloatArray) -> FloatArray:
        """Of the excesses for every shape and scale, up to a factor, (x, s)."""
        logs = np.full((_SHAPES.size, scales.size), -np.inf)
        for i, shape in enumerate(_SHAPES):
            total = _log_survival(shape, self.excess[:, None] / scales).sum(axis=0)
            inside = np.isfinite(total)
            density = (1 + shape) * total[inside] - self.excess.size * np.log(scales[inside])
            logs[i, inside] = density
        return np.exp(logs - logs.max())


def _log_survival(shape: float, ratio: FloatArray) -> FloatArray:
    """Log of the probability to exceed; minus infinity beyond the upper end."""
    if abs(shape) < _TINY:
        return -ratio
    inside = np.maximum(1 + shape * ratio, 0.0)
    with np.errstate(divide="ignore"):
        return -np.log(inside) / shape


def _scales_of(tails: Sequence[_Tail]) -> FloatArray:
    """Scales of the grid, equally spaced in the logarithm, from below to above all families'."""
    means = np.log([tail.excess.mean() for tail in tails])
    return np.exp(np.arange(means.min() - 2, means.max() + 2.5, _STEP))


def _normal_laws(x: FloatArray, means: FloatArray) -> FloatArray:
    """Normal laws on a grid, one row for each mean and spread, (means times spreads, grid)."""
    z = (x - means[:, None, None]) / _SPREADS[:, None]
    laws = np.exp(-0.5 * z**2).reshape(-1, x.size)
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def _weights(tails: Mapping[str, _Tail], scales: FloatArray) -> dict[str, FloatArray]:
    """Posterior weights of shape and scale of each family, the common laws summed out, (x, s)."""
    logarithms = np.log(scales)
    shapes = _normal_laws(_SHAPES, _MEANS)
    widths = _normal_laws(logarithms, np.arange(logarithms[0], logarithms[-1], 0.25))
    likelihood = {name: tail.likelihood(scales) for name, tail in tails.items()}
    evidence = {name: shapes @ weights @ widths.T for name, weights in likelihood.items()}
    logs = sum(np.log(np.maximum(weights, _LEAST)) for weights in evidence.values())
    common = np.exp(logs - np.max(logs))
    weights = {}
    for name, own in likelihood.items():
        prior = shapes.T @ (common / np.maximum(evidence[name], _LEAST)) @ widths
        weights[name] = own * prior
        weights[name] /= weights[name].sum()
    return weights


def _beaten(tail: _Tail, scales: FloatArray, weights: FloatArray, best: float, more: int) -> float:
    """Probability that one of some more is above the best."""
    ratio = (best - tail.threshold) / scales
    beyond = np.exp([_log_survival(shape, ratio) for shape in _SHAPES])
    zeta = betaincinv(tail.excess.size + 1, tail.n - tail.excess.size, _NODES)
    missed = np.mean([np.exp(more * np.log1p(-one * beyond)) for one in zeta], axis=0)
    return float(np.sum(weights * (1 - missed)))
