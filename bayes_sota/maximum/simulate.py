r"""Exact simulation of a leaderboard's best score in about log(m) steps.

A field of m classifiers is drawn as in Sec. 4.3 of Møllersen & Holsbø (arXiv 2303.07272):
``S0 ~ Binomial(n, theta0)``; given ``S0 = k`` a classifier of skill theta has the success count
``Binomial(k, a) + Binomial(n - k, b)`` with a, b from Eq. 6 and 7. Drawing all m of them costs m
steps. Here only the teams are drawn that could take the lead:

1. The team of skill theta_max gets its count; it leads with :math:`X^*`.
2. Walk down the order statistics of the other skills. For any s >= 0

   .. math:: P(X_j \ge x^* \mid \theta) \le B(\theta) = M_\theta(s) e^{-s x^*}, \quad
             M_\theta(s) = (1 + a(e^s - 1))^k (1 + b(e^s - 1))^{n-k}

   (Chernoff), and B grows with theta. So the next team to look at is Geometric(B(theta_now))
   teams further down; G teams down among r that are left, F(theta_next) / F(theta_now) is
   Beta(r - G + 1, G); and that team is a candidate with probability B(theta_next) / B(theta_now).
3. A candidate's count is drawn from the law tilted by :math:`e^{sx}`, and stands with probability
   :math:`e^{-s(x - x^*)}` if :math:`x \ge x^*`. Teams that fail any of the three tests have
   ``X_j < x*`` with exactly the right probability, whatever s was; s is chosen near the minimum
   of B, and s = 0 is plain simulation.

Ties for the lead are broken at random, as the reservoir: the t-th tied team takes over with
probability 1/t. ``tests/maximum/test_simulate.py`` holds the law of the best count against
``exact.maximum_law`` and everything against drawing all m teams.
"""

from dataclasses import dataclass, fields
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Beta, LogitNormal, SkillDistribution, Uniform
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.maximum.walk import NormalScores, NormalTestSet

_AT_ONCE = 20_000  # fields that are simulated together
_LARGEST_SKILL = float(np.nextafter(1.0, 0.0))


class SimulatedMaximum(NamedTuple):
    """Simulated boards, one entry each.

    Attributes
    ----------
    theta_sota : ndarray, shape (size,)
        Skill of the best classifier of the field.
    winner_skill : ndarray, shape (size,)
        Skill of the classifier with the best score; ties are broken at random.
    best_count : ndarray of int64, shape (size,)
        Best number of right answers, an observed score times ``n_test``.
    """

    theta_sota: FloatArray
    winner_skill: FloatArray
    best_count: IntArray


@dataclass(frozen=True)
class ReferenceCounts:
    """The reference classifier's number of right answers as a function of a standard normal.

    Attributes
    ----------
    n_test : int
        Number of test items.
    reference_skill : float
        theta0.
    """

    n_test: int
    reference_skill: float

    @cached_property
    def _table(self) -> tuple[IntArray, FloatArray]:
        from bayes_sota.maximum.dependence import reference_nodes

        nodes = reference_nodes(self.n_test, self.reference_skill, step=0.0, half_width=9.0)
        return nodes.counts, np.cumsum(nodes.weights)

    def at(self, shift: ArrayLike) -> IntArray:
        """Binomial quantile of ``Phi(shift)``: Binomial(n, theta0) if the shift is N(0, 1)."""
        from scipy.special import ndtr

        counts, cdf = self._table
        index = np.minimum(np.searchsorted(cdf, ndtr(shift)), counts.size - 1)
        return np.asarray(counts[index])


@dataclass(frozen=True, eq=False)
class Fields:
    """Fields of classifiers with everything given but who is how good below the best.

    All but ``distribution`` broadcast against its parameters.

    Attributes
    ----------
    n_test, n_classifiers : array_like of int
    distribution : LogitNormal, Beta or Uniform
        P(theta).
    correlation, reference_skill : array_like
        rho and theta0; where rho is not feasible for a skill, the largest feasible one is used.
    reference_count : array_like of int
        ``S0``.
    theta_sota : array_like
        Skill of the best classifier.
    """

    n_test: ArrayLike
    n_classifiers: ArrayLike
    distribution: SkillDistribution
    correlation: ArrayLike
    reference_skill: ArrayLike
    reference_count: ArrayLike
    theta_sota: ArrayLike

    def draw(self, rng: np.random.Generator, *, winner: bool = True) -> tuple[IntArray, FloatArray]:
        """Best counts and, if ``winner``, the winners' skills; without, only counts are valid."""
        arguments, shape = self._arguments()
        counts, winners = _kernel().run_fields(rng, *arguments, winner)
        return counts.reshape(shape), winners.reshape(shape)

    def draw_winner(
        self,
        rng: np.random.Generator,
        counts: tuple[ArrayLike, ArrayLike],
        epsilon: ArrayLike,
        attempts: int,
    ) -> tuple[FloatArray, IntArray]:
        r"""Skill of the winner given that the best score is about the observed one.

        Each field is redrawn until a draw is accepted, with probability
        :math:`\exp(-d^2 / 2\epsilon^2)` where d is the distance of the best score from the scores
        of the interval ``counts``.

        Returns
        -------
        winner_skill, attempts : ndarray
            Attempts are -1 where the limit was reached; the closest attempt stands then.
        """
        arguments, shape = self._arguments()
        limits = [_flat(value, shape, np.int64) for value in counts]
        winners, needed = _kernel().run_accepted_winners(
            rng, *arguments, *limits, _flat(epsilon, shape, np.float64), attempts
        )
        return winners.reshape(shape), needed.reshape(shape)

    def _arguments(self) -> tuple[tuple[Any, ...], tuple[int, ...]]:
        family, p, q = _family(self.distribution)
        theta0 = np.asarray(self.reference_skill, dtype=np.float64)
        best = np.clip(self.theta_sota, 1e-300, _LARGEST_SKILL)
        whole = (self.n_test, self.n_classifiers, self.reference_count)
        real = (p, q, self.correlation, theta0 / (1 - theta0), best)
        shape = np.broadcast_shapes(*(np.shape(value) for value in (*whole, *real)))
        n, m, k = (_flat(value, shape, np.int64) for value in whole)
        p, q, rho, odds, best = (_flat(value, shape, np.float64) for value in real)
        return (n, m, family, p, q, rho, odds, k, best), shape


@dataclass(frozen=True, eq=False)
class NormalFields:
    """The same for scores whose normal scores share one factor (``exact.normal_fields``).

    Attributes
    ----------
    scores : NormalScores
        Of one board.
    n_classifiers : array_like of int
    distribution : SkillDistribution
        P(theta).
    correlation, shift : array_like
        rho, and the factor.
    theta_sota : array_like
        Skill of the best classifier.
    """

    scores: NormalScores
    n_classifiers: ArrayLike
    distribution: SkillDistribution
    correlation: ArrayLike
    shift: ArrayLike
    theta_sota: ArrayLike

    def draw(
        self, rng: np.random.Generator, *, winner: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Best scores and the winners' skills."""
        flat, shape = self._flat()
        best, holder = flat._play(rng, np.arange(int(np.prod(shape))))
        return best.reshape(shape), holder.reshape(shape)

    def draw_winner(
        self,
        rng: np.random.Generator,
        bounds: tuple[ArrayLike, ArrayLike],
        epsilon: ArrayLike,
        attempts: int,
    ) -> tuple[FloatArray, IntArray]:
        """As ``Fields.draw_winner``, with the interval of scores in ``bounds``."""
        flat, shape = self._flat()
        size = int(np.prod(shape))
        low, high, width = (_flat(x, (size,), np.float64) for x in (*bounds, epsilon))
        winner, needed = np.zeros(size), np.full(size, -1, np.int64)
        closest = np.full(size, np.inf)
        waiting, done = np.arange(size), 0
        while waiting.size and done < attempts:
            copies = min(max(1, _AT_ONCE // waiting.size), attempts - done)
            rows = np.tile(waiting, copies)
            best, holder = flat._play(rng, rows)
            distance = np.maximum(np.maximum(low[rows] - best, best - high[rows]), 0) / width[rows]
            passed = rng.random(rows.size) < np.exp(-0.5 * distance**2)
            distance[passed] = -1.0
            order = np.argsort(distance, kind="stable")[::-1]  # of one row the nearest comes last
            nearer = order[distance[order] < closest[rows[order]]]
            winner[rows[nearer]], closest[rows[nearer]] = holder[nearer], distance[nearer]
            done += copies
            needed[np.unique(rows[passed])] = done
            waiting = np.flatnonzero(needed < 0)
        return winner.reshape(shape), needed.reshape(shape)

    def _flat(self) -> tuple["NormalFields", tuple[int, ...]]:
        names = [f.name for f in fields(cast(Any, self.distribution))]
        given = {name: getattr(self.distribution, name) for name in names}
        own = (self.n_classifiers, self.correlation, self.shift, self.theta_sota)
        shape = np.broadcast_shapes(*(np.shape(x) for x in (*given.values(), *own)))
        flat = {name: _flat(x, shape, np.float64) for name, x in given.items()}
        m = np.rint(_flat(own[0], shape, np.float64)).astype(np.int64)
        rho, shift, best = (_flat(x, shape, np.float64) for x in own[1:])
        part = NormalFields(self.scores, m, type(self.distribution)(**flat), rho, shift, best)
        return part, shape

    def _play(self, rng: np.random.Generator, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Best scores and winners of the fields ``rows``; everything is flat already."""
        rho, shift, theta, m = (
            np.asarray(x)[rows]
            for x in (self.correlation, self.shift, self.theta_sota, self.n_classifiers)
        )
        theta = np.clip(theta, 1e-300, _LARGEST_SKILL)
        distribution = self.distribution.take(rows)
        test_set = NormalTestSet(self.scores, shift, rho)
        every = np.arange(rows.size)

        def inverse(selected: IntArray, tail: FloatArray) -> FloatArray:
            part = distribution.take(selected)
            return np.asarray(np.minimum(part.skill(part.isf(tail)), theta[selected]))

        holder = theta.copy()
        best = test_set.play(rng, every, theta)
        upper = distribution.sf(distribution.from_skill(theta))
        return test_set.walk_down(rng, inverse, upper, m - 1, best, holder), holder


def simulate_maximum(
    random_seed: int | np.random.Generator | None,
    n_test: int,
    n_classifiers: int,
    distribution: SkillDistribution,
    correlation: float = 0.0,
    reference_skill: float = 0.5,
    size: int = 1,
) -> SimulatedMaximum:
    """Boards drawn from the model: the best skill, the winner's skill and the best count.

    Exact, and its cost hardly depends on ``n_test`` and ``n_classifiers`` (the module's docstring
    has the algorithm): microseconds a board, after numba's compilation in the first call.

    Parameters
    ----------
    random_seed : int, Generator or None
    n_test, n_classifiers : int
        Numbers of test items n and classifiers m.
    distribution : SkillDistribution
        P(theta); its parameters may be arrays of length ``size``.
    correlation : float
        rho, the correlation of each classifier with the reference classifier, capped at what is
        feasible for the classifier's skill.
    reference_skill : float
        theta0, in (0, 1); without effect where ``correlation`` is zero.
    size : int
        Number of boards.

    Returns
    -------
    SimulatedMaximum

    Raises
    ------
    InputError
        Sizes below one, a correlation outside [0, 1], a reference skill outside (0, 1).

    Examples
    --------
    >>> from bayes_sota.core.skills import Uniform
    >>> boards = simulate_maximum(1, 3000, 1000, Uniform(0.6, 0.9), 0.6, 0.9, size=2000)
    >>> best_score = boards.best_count.mean() / 3000
    >>> bool(boards.winner_skill.mean() < boards.theta_sota.mean() < best_score)
    True
    """
    if min(n_test, n_classifiers, size) < 1:
        raise InputError(
            "n_test, n_classifiers and size must be at least 1, got "
            f"{n_test}, {n_classifiers} and {size}"
        )
    if not (0 <= correlation <= 1 and 0 < reference_skill < 1):
        raise InputError(
            "correlation must lie in [0, 1] and reference_skill in (0, 1), got "
            f"{correlation:g} and {reference_skill:g}"
        )
    rng = generator_of(random_seed)
    tail = -np.expm1(-rng.standard_exponential(size) / n_classifiers)
    best = np.broadcast_to(distribution.skill(distribution.isf(tail)), (size,))
    reference = rng.binomial(n_test, reference_skill, size)
    fields = Fields(
        n_test, n_classifiers, distribution, correlation, reference_skill, reference, best
    )
    counts, winners = fields.draw(rng)
    return SimulatedMaximum(best, winners, counts)


def _kernel() -> ModuleType:
    from bayes_sota.maximum import _kernel as _maximum_kernel

    return _maximum_kernel


def _family(distribution: SkillDistribution) -> tuple[int, ArrayLike, ArrayLike]:
    kernel = _kernel()
    if isinstance(distribution, LogitNormal):
        return kernel.LOGIT_NORMAL, distribution.location, distribution.spread
    if isinstance(distribution, Uniform):
        return kernel.UNIFORM, distribution.low, distribution.high
    if isinstance(distribution, Beta):
        return kernel.BETA, distribution.a, distribution.b
    raise InputError(
        "the simulator knows LogitNormal, Beta and Uniform skills, got "
        f"{type(distribution).__name__}"
    )


def _flat(value: ArrayLike, shape: tuple[int, ...], dtype: type) -> NDArray[Any]:
    return np.ascontiguousarray(np.broadcast_to(np.asarray(value, dtype=dtype), shape)).ravel()
