r"""Exact likelihood of one observed maximum, and exact draws of the field behind it.

.. math:: L(\phi, \rho) = \sum_k P(S_0 = k) \big[ H_k(1, x_{hi})^m - H_k(1, x_{lo} - 1)^m \big]

with :math:`H_k(t, x) = \int_{\theta \le t} P(X \le x \mid k, \theta)\, dP(\theta \mid \phi)` and
the counts :math:`x_{lo}, \dots, x_{hi}` that print as the observed score. Normal scores share one
normal factor instead of S0. Tables of ``P(X > x | shift, theta)`` times the hat weights of P(theta)
give H.

Given k, the number T of classifiers at the maximum is zero-truncated binomial; their skills follow
:math:`P(X = x \mid k, \theta)\, dP(\theta)`, those of the others
:math:`P(X < x \mid k, \theta)\, dP(\theta)`, all independent. ``tests/maximum/test_likelihood.py``
compares with direct summation, ``test_posterior.py`` the draws with simulated fields.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from bayes_sota.core.priors import TriesPrior
from bayes_sota.core.skills import SkillDistribution, hat_weights
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import reference_nodes, survival
from bayes_sota.maximum.fresh_test_sets import default_reference_skill, fresh_test_set, walk_down
from bayes_sota.maximum.score_laws import expected_maximum, noise_of, score_law

_NOISE = 1e-13  # smaller survival functions are round-off
_SHIFT_REACH, _SKILL_REACH = 6.0, 7.0  # standard deviations of the shift, of an own error
_NEARLY_ONE = 1 - 1e-16
_BLOCK = 256  # skills that share a window of counts
_MOST_PARTS = 12  # a coarse score is split into at most this many runs
_PART = 0.1  # standard errors of a run of scores
_EXACT = 1e-3  # a score in full precision stands for this share of its standard error
_ENDS = (1e-6, 1 - 1e-9)  # of skills
_TINY = 1e-300
DENSITY = 1.0
"""How dense the nodes of skill and shift are; tests double it."""


@dataclass(frozen=True, eq=False)
class Table:
    """Survival functions ``P(X > edges[e] | shifts[k], skills[i])`` at one correlation, (E, K, N).

    ``shifts`` (K,) are nodes of the shared, standardised shift, with probabilities ``weights`` (K,)
    and cells of width ``cell``.
    """

    shifts: FloatArray
    weights: FloatArray
    survival: FloatArray
    cell: float = 0.0

    @cached_property
    def smoothed(self) -> FloatArray:
        """Nodal values minus a twelfth of their second differences.

        The correction makes expectations of a linear interpolant fourth order in the step.
        """
        s = self.survival.copy()
        s[..., 1:-1] -= np.diff(self.survival, 2, axis=-1) / 12
        return np.clip(s, 0.0, 1.0)

    def log_field_cdf(self, weights: FloatArray, ends: bool = False) -> FloatArray:
        """``log H_k(1, x)``, (E, K, D), for hat weights (D, N) of D skill distributions.

        With ``ends`` at the first and the last edge only.
        """
        table = self.smoothed[:: len(self.smoothed) - 1] if ends else self.smoothed
        above = table.reshape(-1, table.shape[-1]) @ weights.T
        np.negative(np.minimum(above, _NEARLY_ONE, out=above), out=above)
        return np.log1p(above, out=above).reshape(*table.shape[:2], -1)


def edges_of(board: BestScore) -> Any:
    """Edges of runs of the scores (counts of accuracies) that print as the best one."""
    low, high = score_bounds(board)
    if board.metric == "accuracy":
        fewest, most = board.counts
        parts = min(most - fewest + 1, _MOST_PARTS)
        return np.round(np.linspace(fewest - 1, most, parts + 1)).astype(np.int64)
    runs = np.ceil((high - low) / (_PART * score_law(board).standard_error))
    return np.linspace(low, high, int(np.clip(runs, 1, _MOST_PARTS)) + 1)


def nodes_of_skill(board: BestScore, correlations: FloatArray, luck: float = 0.0) -> FloatArray:
    """Skills between which survival functions go from 0 to 1, equally many per standard error."""
    scale = score_law(board).normal_scores
    strongest, weakest = float(correlations.max()), float(correlations.min())
    reach = _SKILL_REACH * np.sqrt(1 - weakest**2) + (_SHIFT_REACH + 0.5) * strongest
    first, last = scale.stabilized(score_bounds(board))
    low, high = np.clip([first - reach - luck, last + reach], *scale.stabilized(_ENDS))
    spacing = 0.4 * max(float(np.sqrt(1 - strongest**2)), 0.05) / DENSITY
    nodes: FloatArray = scale.from_stabilized(
        np.linspace(low, high, int(np.ceil((high - low) / spacing)) + 2)
    )
    return nodes


def tabulate(
    board: BestScore, edges: Any, skills: FloatArray, rho: float, reference_skill: float
) -> Table:
    """Survival functions at these edges and skills."""
    gumbel = np.sqrt(1 - rho**2) / np.sqrt(2 * np.log(board.typical_tries + 2))
    step = float(min(1.2 * gumbel / max(rho, 1e-9), 0.5)) / DENSITY
    if board.metric != "accuracy":
        count = int(np.ceil(_SHIFT_REACH / step)) if rho > 0 else 0
        shifts = step * np.arange(-count, count + 1.0)
        weights = np.exp(-0.5 * shifts**2)
        g = score_law(board).normal_scores.normal_score(edges[:, None], skills)[:, None]
        table = np.asarray(ndtr((rho * shifts[:, None] - g) / np.sqrt(1 - rho**2)))
        return Table(shifts, weights / weights.sum(), np.where(table < _NOISE, 0.0, table), step)
    n, counts, weights = board.n_test, np.zeros(1, np.int64), np.ones(1)
    if rho > 0:
        counts, weights = reference_nodes(n, reference_skill, step, _SHIFT_REACH)
    given = (counts, n, rho, reference_skill)
    blocks = np.array_split(skills, int(np.ceil(skills.size / _BLOCK)))
    table = np.concatenate([survival(x, *given, edges=edges)[1] for x in blocks], axis=-1)
    sd = np.sqrt(n * reference_skill * (1 - reference_skill))
    shifts = (counts - n * reference_skill) / sd
    # counts next to each other leave nothing between them
    cell = float(np.ptp(shifts[:2])) if counts[-1] - counts[0] >= counts.size else 0.0
    return Table(shifts, weights, np.where(table < _NOISE, 0.0, table), cell)


def score_bounds(board: BestScore) -> tuple[float, float]:
    """Lowest and highest score that prints as the best one."""
    if board.metric == "accuracy":
        fewest, most = board.counts
        return fewest / board.n_test, most / board.n_test
    law = score_law(board)
    auc = board.metric == "auc"
    least = 2 * (law.normal_scores.lattice if auc else _EXACT * law.standard_error)
    width = max(board.printed_width, least)
    low = board.maximum if board.rounding == "floor" else board.maximum - width / 2
    return low, low + width


def inverse_law(distribution: SkillDistribution, tail: FloatArray, factor: FloatArray) -> Any:
    """Inverse upper tails of D laws of one skill proportional to ``factor(theta) dP(theta)``.

    ``tail`` (D, N) is P(theta) above each node, ``factor`` (D, N) its value there.
    ``inverse(rows, upper)`` gives the skills of draws ``rows``.
    """
    draws = len(tail)
    ends, above = np.zeros((2, draws, tail.shape[1] + 2))
    ends[:, 1:-1], ends[:, -1] = tail[:, ::-1], 1.0
    f = np.pad(np.maximum(factor[:, ::-1], 0.0), ((0, 0), (1, 1)), mode="edge")
    np.cumsum(np.diff(ends) * (f[:, 1:] + f[:, :-1]) / 2, axis=1, out=above[:, 1:])
    above /= np.maximum(above[:, -1:], _TINY)
    above += 2.0 * np.arange(draws)[:, None]  # all draws in one increasing function
    tails, above, f = ends.ravel(), above.ravel(), f.ravel()

    def inverse(rows: IntArray, upper: FloatArray) -> FloatArray:
        level = upper + 2.0 * rows
        cell = np.clip(np.searchsorted(above, level) - 1, 0, above.size - 2)
        first, last = f[cell], f[cell + 1]
        share = (level - above[cell]) / np.maximum(above[cell + 1] - above[cell], _TINY)
        share = np.clip(share, 0.0, 1.0)
        root = np.sqrt(first**2 + share * (last**2 - first**2))
        share *= (first + last) / np.maximum(first + root, _TINY)
        drawn = tails[cell] + share * (tails[cell + 1] - tails[cell])
        field = distribution.take(rows)
        return field.skill(field.isf(np.clip(drawn, _TINY, 1.0)))

    return inverse


class BoardLikelihood:
    """Tables for one board at nodes of rho and, with submissions, of lambda (``luck``), (R,)."""

    def __init__(
        self,
        board: BestScore,
        correlations: FloatArray,
        reference_skill: float | None = None,
        luck: FloatArray | None = None,
    ) -> None:
        self.board, self.reference_skill = board, reference_skill
        theta0 = default_reference_skill(board, reference_skill)
        self.tries, self.tries_weights = tries_nodes(board)
        most = float(expected_maximum(board.submissions).max()) if board.has_submissions else 0.0
        self.edges, self.skills = edges_of(board), nodes_of_skill(board, correlations, most)
        table = cache(partial(tabulate, board, self.edges, self.skills, reference_skill=theta0))
        self.tables = [table(rho) for rho in correlations.tolist()]
        if board.has_submissions and luck is not None:
            numbers = (tuple(board.submissions[0].tolist()),)
            self.tables = [
                replace(one, survival=noise_of(numbers, of).raised(one.survival, 0))
                for one, of in zip(self.tables, luck.tolist(), strict=True)
            ]

    def at_nodes(self, distribution: SkillDistribution) -> FloatArray:
        """Log likelihood of D distributions at every correlation, (R, D)."""
        coordinates = distribution.from_skill(self.skills)
        weights = hat_weights(distribution.expanded().tail(coordinates)[1], coordinates)
        return np.array([self._log_likelihood(weights, r) for r in range(len(self.tables))])

    def _log_likelihood(self, weights: FloatArray, r: int) -> FloatArray:
        table, m = self.tables[r], self.tries[:, None, None]
        lower, upper = table.log_field_cdf(weights, ends=True)
        peak = m * upper.max(axis=0)  # H^m underflows where a level is far too high
        mass = table.weights @ _power_difference(upper, lower, m, peak)
        with np.errstate(divide="ignore"):
            each = peak[:, 0] + np.log(self.tries_weights[:, None] * mass)
        return np.logaddexp.reduce(each)

    def draw(
        self, rng: Generator, distribution: SkillDistribution, r: IntArray, correlation: FloatArray
    ) -> dict[str, FloatArray]:
        """One field per draw, given hyperparameters (D,) and indices ``r`` of correlations."""
        coordinates, rows = distribution.from_skill(self.skills), np.arange(r.size)
        tail, excess = distribution.expanded().tail(coordinates)
        weights = hat_weights(excess, coordinates)
        parts = [self._draw_shared(rng, weights[r == index], index) for index in np.unique(r)]
        place = np.argsort(np.argsort(r, kind="stable"))
        drawn = {name: np.concatenate([part[name] for part in parts])[place] for name in parts[0]}
        m, tied, low, high = (drawn.pop(name) for name in ("m", "tied", "low", "high"))
        at, behind = (inverse_law(distribution, tail, factor) for factor in (low - high, 1 - low))
        winner = at(rows, rng.random(r.size))
        fresh = fresh_test_set(self.board, rng, correlation, self.reference_skill)
        new = fresh.play(rng, rows, winner)
        best, best_new = winner, new
        for law, size in ((at, tied - 1), (behind, m - tied)):
            # upper-tail probability of the best of so many
            level = np.where(size > 0, -np.expm1(np.log(rng.random(r.size)) / size.clip(1)), 1.0)
            skill = law(rows, level)
            best = np.where(size > 0, np.maximum(best, skill), best)
            again = np.maximum(best_new, fresh.play(rng, rows, skill))
            best_new = np.where(size > 0, again, best_new)
            best_new = walk_down(fresh, rng, law, level, size - 1, best_new)
        return drawn | {
            "theta_sota": best,
            "winner_skill": winner,
            "winner_new_score": new,
            "best_new_score": best_new,
        }

    def _draw_shared(self, rng: Generator, weights: FloatArray, r: int) -> dict[str, Any]:
        """Draw what all classifiers share at the r-th correlation, given hat weights (D, N)."""
        table, draws = self.tables[r], np.arange(len(weights))
        log_h, several = table.log_field_cdf(weights), table.shifts.size > 1
        prior = self.tries_weights[:, None, None] * table.weights
        power = _power_difference(log_h[1:], log_h[:-1], self.tries[:, None, None, None])
        cells = prior[..., None] * power
        total = np.cumsum(cells.reshape(-1, draws.size), axis=0)
        place = np.sum(total < rng.random(draws.size) * total[-1], axis=0)
        i, part, k = np.unravel_index(np.minimum(place, len(total) - 1), cells.shape[:3])
        tries = self.tries[i]
        m = tries.astype(np.int64)
        step = log_h[part, k, draws] - log_h[part + 1, k, draws]
        tied = _draw_tied(rng, m, -np.expm1(np.minimum(step, 0)))
        within = table.cell * (rng.random(k.size) - 0.5)
        with np.errstate(divide="ignore"):
            log_likelihood = np.log(total[-1])
        return {
            "shift": table.shifts[k] + within if several else rng.standard_normal(k.size),
            "n_classifiers": tries,
            "log_likelihood": log_likelihood,
            **{"m": m, "tied": tied, "low": table.smoothed[part, k]},
            "high": table.smoothed[part + 1, k],
        }


def _power_difference(
    upper: FloatArray, lower: FloatArray, m: FloatArray, peak: FloatArray | float = 0.0
) -> FloatArray:
    return -np.expm1(m * np.minimum(lower - upper, 0.0)) * np.exp(m * upper - peak)


def tries_nodes(board: BestScore) -> tuple[FloatArray, FloatArray]:
    """Numbers of classifiers and their probabilities."""
    if isinstance(board.n_classifiers, TriesPrior):
        return board.n_classifiers.nodes()
    return np.array([float(board.n_classifiers)]), np.ones(1)


def _draw_tied(rng: Generator, m: IntArray, probability: FloatArray) -> IntArray:
    """Binomial(m, probability) given that it is at least one."""
    p = np.clip(probability, _TINY, 1 - 1e-16)
    some = -np.expm1(m * np.log1p(-p))
    first = 1 + np.floor(np.log1p(-rng.random(m.size) * some) / np.log1p(-p))
    first = np.clip(first, 1, m).astype(np.int64)
    return 1 + np.asarray(rng.binomial(m - first, p), dtype=np.int64)
