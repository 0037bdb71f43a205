r"""Joint posterior draws of the skill of every entry of a leaderboard, its rank and P(best).

Given rho, the family and its parameters, the entries are independent in board-conditional skill
(``leaderboard_posterior``), so that a draw of all of them is one draw of each by its inverse cdf,
and one shift for all:

.. math:: p(\psi_j \mid x_j, \phi, \rho) \propto P(\psi_j \mid \phi)\, p(x_j \mid \psi_j, \rho),
          \quad \theta_j = \psi_j - \rho\, sd_j\, z

``theta`` increases with ``psi`` whatever the shift: ranks, P(best) and who is tied with the leader
do not depend on it, while every interval of skill does. P(best) and the comparison with the leader
are integrated over the skills, not counted, so that equal scores have equal numbers.
``tests/leaderboard/test_entry_skills.py`` compares with quadrature, with counting, and with
theta_sota.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bayes_sota.core.arguments import DRAWS
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.parallel import followed
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.fit import FieldFit, relative_to_highest

_REPEATS = 4  # draws per set of parameters
_BLOCK = 64  # sets of parameters at a time
_KNOTS, _MOST_NODES = 400, 3000
_CELLS = 4_000_000  # numbers held beside the draws while they are summarised
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class EntryDraws:
    """Draws of the skills of all entries, and what follows from them.

    Attributes
    ----------
    skill : ndarray of float32, shape (D, m)
        Skill (true accuracy) of each entry, in the order of ``board.scores``.
    p_best : ndarray, shape (m,)
        Probability to have the highest skill of all entries; sums to 1. Entries below the
        modelled part have 0.
    p_best_mcse : ndarray, shape (m,)
        Its Monte Carlo standard error; 0 of entries below the modelled part.
    alike : tuple of ndarray, each of shape (groups, s)
        Entries with the same posterior, s to a group: their draws are pooled in every summary.
        From scores alone these are the entries with equal scores; from answers every entry is on
        its own.
    """

    skill: NDArray[np.float32]
    p_best: FloatArray
    p_best_mcse: FloatArray
    alike: tuple[IntArray, ...]

    @cached_property
    def rank(self) -> NDArray[np.int32]:
        """Rank by skill in each draw, 1 for the highest, shape (D, m).

        Identical submissions have the same skill; they take their ranks in arbitrary order, which
        pooling makes a random one.
        """
        draws, m = self.skill.shape
        rank = np.empty((draws, m), np.int32)
        places = np.arange(1, m + 1, dtype=np.int32)[None, :]
        rows = max(1, _CELLS // m)
        for start in range(0, draws, rows):
            order = np.argsort(-self.skill[start : start + rows], axis=1)
            np.put_along_axis(rank[start : start + rows], order, places, axis=1)
        return rank

    def mean(self) -> FloatArray:
        """Posterior mean of each skill, shape (m,)."""
        pooled = self._pooled(self.skill, lambda x: x.mean(axis=0, dtype=float)[:, None])
        return pooled[0]

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        """Equal-tailed interval of each skill, shape (m, 2)."""
        tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]
        return self._pooled(self.skill, lambda pooled: np.quantile(pooled, tails, axis=0).T).T

    def rank_interval(self, ci_prob: float = 0.95) -> IntArray:
        """Interval of each rank with at least this probability, shape (m, 2)."""
        tails = [(1 - ci_prob) / 2, (1 + ci_prob) / 2]

        def quantiles(pooled: NDArray[Any]) -> Any:
            return np.quantile(pooled, tails, axis=0, method="inverted_cdf").T

        return self._pooled(self.rank, quantiles).T.astype(np.int64)

    def _pooled(self, draws: NDArray[Any], summary: Callable[[NDArray[Any]], Any]) -> FloatArray:
        """Summary of the draws of all entries that are alike, shape (numbers, m)."""
        columns = []
        for entries in self.alike:
            step = max(1, _CELLS // (len(draws) * entries.shape[1]))
            for start in range(0, len(entries), step):
                block = entries[start : start + step]
                pooled = np.swapaxes(draws[:, block], 1, 2).reshape(-1, len(block))
                columns.append((block, summary(pooled)))
        result = np.empty((columns[0][1].shape[1], draws.shape[1]))
        for block, values in columns:
            result[:, block] = values.T[:, :, None]
        return result


@one_thread()
def draw_entry_skills(fit: FieldFit, draws: int, rng: np.random.Generator) -> EntryDraws:
    r"""Joint posterior draws of the skills of all entries of a leaderboard.

    Entries of the modelled part have the posterior :math:`P(\psi \mid \phi)\,p(x \mid \psi)`. The
    skill distribution is not fitted to those below: for them it counts as far as it falls, and is
    held at its greatest value below its mode, and below the modelled part (flat in log odds), also
    where a group of weak entries is part of the shape. So nothing jumps where the
    modelled part ends, and entries far below keep their scores, not shrunk. Where more entries
    share a score than the field explains (``fit.effective_copies``) they are divided among as
    many classifiers as it does explain, and identical submissions share their draws. With several
    tries behind an entry its skill is that of the variant shown. Classifiers that are not listed
    have no part in it.

    Parameters
    ----------
    fit : FieldFit
        ``leaderboard_posterior(board).fit``.
    draws : int
        Number of draws; the result holds ``4 * draws * m`` bytes, its ranks as many again.
    rng : Generator

    Returns
    -------
    EntryDraws

    Raises
    ------
    InputError
        Fewer than one draw.

    Examples
    --------
    >>> from bayes_sota.data.leaderboard import Leaderboard
    >>> from bayes_sota.leaderboard.posterior import leaderboard_posterior
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit = leaderboard_posterior(board, draws=1, random_seed=0).fit
    >>> entries = draw_entry_skills(fit, 1000, np.random.default_rng(0))
    >>> entries.skill.shape, round(float(entries.p_best.sum()), 9), int(entries.p_best.argmax())
    ((1000, 5), 1.0, 4)
    >>> bool(entries.mean()[4] < 0.93)
    True
    """
    DRAWS.check(draws, "draws")
    sets = -(-draws // _REPEATS)
    rows = sets * _REPEATS
    sampler, law = _Sampler(fit), fit.kernel.law
    place = iter(rng.permutation(rows).reshape(sets, _REPEATS))
    shift = _stratified_normal(rows, rng)
    skill = np.empty((rows, fit.kernel.modelled.size), np.float32)
    values = np.zeros(fit.copies.size)
    spread = _Spread.of(fit.rho.size, values.size)
    with followed(sets, "draws of all skills") as advance:
        for r, f, points in fit.choose(sets, rng):
            rho = float(fit.rho[r])
            for y, numbers in sampler.draw(r, fit.families[f], points, rng):
                here = next(place)
                psi = law.skill_at(y)
                skill[here] = law.remove_shift(psi, (rho * shift[here])[:, None])
                values += numbers / sets
                spread.add(r, numbers)
                advance()
    skill = skill[:draws]
    p_best, mcse = sampler.by_entry(values, spread.error_of_mean())
    return EntryDraws(skill, p_best, mcse, tuple(_equal_scores(fit.kernel.alike)))


def find_classifiers(fit: FieldFit) -> tuple[IntArray, IntArray]:
    """Classifier behind each modelled entry, and index of the value of each classifier.

    Entries that share a score are divided evenly among as many classifiers as the field explains.
    """
    index, distinct = fit.kernel.value_of_entry, np.ceil(fit.copies - 1e-9).astype(np.int64)
    order = np.argsort(index, kind="stable")
    first = np.concatenate([[0], np.cumsum(np.bincount(index, minlength=distinct.size))])[:-1]
    number = np.empty(index.size, np.int64)  # of the entry among those of its score
    number[order] = np.arange(index.size) - first[index[order]]
    start = np.concatenate([[0], np.cumsum(distinct)])[:-1]
    return start[index] + number % distinct[index], np.repeat(np.arange(distinct.size), distinct)


@dataclass(frozen=True, eq=False)
class _Spread:
    r"""Monte Carlo error of a mean of probabilities of which every value of rho gives its share.

    .. math:: \mathrm{mcse}^2 = \frac{\bar p (1 - \bar p) / S + \sum_r \sum_i (p_{ri} - \bar p_r)^2}
              {S (S - R + 1)}

    with S numbers in R strata, which count as one where there are at most two numbers to each. The
    first term is the largest variance that a probability with this mean can have, of weight 1 / S:
    a few numbers that happen to agree are not certain.
    """

    counts: IntArray
    sums: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, strata: int, size: int) -> "_Spread":
        """Of nothing yet."""
        return cls(np.zeros(strata, np.int64), np.zeros((strata, size)), np.zeros(size))

    def add(self, stratum: int, numbers: FloatArray) -> None:
        self.counts[stratum] += 1
        self.sums[stratum] += numbers
        self.squares[...] += numbers**2

    def error_of_mean(self) -> FloatArray:
        """Standard error of the mean of all numbers."""
        counts, sums = self.counts[self.counts > 0], self.sums[self.counts > 0]
        size = int(counts.sum())
        if size <= 2 * counts.size:
            counts, sums = np.array([size]), sums.sum(axis=0, keepdims=True)
        within = self.squares - np.sum(sums**2 / counts[:, None], axis=0)
        mean = np.clip(sums.sum(axis=0) / size, 0, 1)
        spread = np.maximum(within, 0) + mean * (1 - mean) / size
        return np.sqrt(spread / (size * (size - counts.size + 1)))


class _Sampler:
    """What does not depend on the draw: which classifier stands behind which entry."""

    def __init__(self, fit: FieldFit) -> None:
        self.fit, self.kernel = fit, fit.kernel
        self.classifier, self.value_of_classifier = find_classifiers(fit)
        self.modelled = np.flatnonzero(self.kernel.modelled)
        below = np.flatnonzero(~self.kernel.modelled)
        self.below = below[
            np.argsort(self.kernel.scores[below])
        ]  # neighbours search neighbouring cdfs
        self.tail = _Tail(fit, self.below) if self.below.size else None

    def draw(
        self, r: int, family: str, points: FloatArray, rng: np.random.Generator
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Coordinates of psi, (repeats, m), with P(best) by score.

        One pair of arrays for each set of parameters.
        """
        kernel, tail = self.kernel, self.tail
        table = self.fit.at(r).table(float(self.fit.rho[r]))
        tail_cdf = None if tail is None else tail.cdf(r, family, points)
        for start in range(0, len(points), _BLOCK):
            for density in self.fit.density(family, points[start : start + _BLOCK]):
                cdf = _cumulated(density * table)
                y = np.empty((_REPEATS, kernel.modelled.size))
                drawn = _draw_from_rows(cdf, self.value_of_classifier, kernel.y, rng)
                y[:, self.modelled] = drawn[:, self.classifier]
                if tail is not None and tail_cdf is not None:
                    below = _draw_from_rows(tail_cdf, tail.knot, tail.y, rng)
                    y[:, self.below] = below + tail.residual
                yield y, _chance_of_best(cdf, self.fit.copies)

    def by_entry(self, values: FloatArray, errors: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(best) of every entry, and its error."""
        index = self.kernel.value_of_entry
        best, error = np.zeros((2, self.kernel.modelled.size))
        share = self.fit.copies / np.bincount(index)
        best[self.modelled], error[self.modelled] = (values * share)[index], (errors * share)[index]
        return best / best.sum(), error / best.sum()


class _Tail:
    """Entries below the modelled part, on a grid that reaches down to them.

    Each has the cdf of the nearest of a few entries, moved by their distance.
    """

    def __init__(self, fit: FieldFit, entries: IntArray) -> None:
        law = fit.kernel.law
        place, errors = law.places(fit.kernel.scores[entries] * law.unit)
        error = min(float(np.max(errors)), 1.0)
        kinds = fit.kernel.kinds[entries]
        stand_ins = np.empty(entries.size, np.int64)
        of_kinds = np.unique(kinds)
        for kind in of_kinds:
            here = np.flatnonzero(kinds == kind)
            stand_ins[here] = here[_stand_ins(place[here], max(8, _KNOTS // len(of_kinds)))]
        knots = np.unique(stand_ins)
        knots = knots[np.argsort(entries[knots])]  # in the order of the kernel's rows
        row = np.empty(entries.size, np.int64)
        row[knots] = np.arange(knots.size)
        self.knot = row[stand_ins]
        self.residual = place - place[knots][self.knot]
        self.mask = np.zeros(fit.kernel.modelled.size, bool)
        self.mask[entries[knots]] = True
        high = min(float(fit.kernel.y[-1]), place.max() + 8 * error)
        low = place.min() - 6 * error
        nodes = int(np.clip((high - low) / fit.kernel.step, 60, _MOST_NODES))
        self.y = np.linspace(low, high, nodes)
        lowest, _ = law.places(fit.kernel.values[:1])
        self.edge = min(int(np.searchsorted(self.y, lowest[0])), nodes - 1)  # of the modelled part
        self.fit = replace(fit, kernel=replace(fit.kernel, y=self.y))

    def cdf(self, r: int, family: str, points: FloatArray) -> FloatArray:
        """Cdf of y of the entries at the knots, (knots, nodes)."""
        density = np.zeros(self.y.size)
        for start in range(0, len(points), _BLOCK):
            chosen = points[start : start + _BLOCK]
            block = self.fit.density(family, chosen, strangers=False)
            held = np.maximum.accumulate(block[:, ::-1], axis=1)[:, ::-1]
            held[:, : self.edge] = held[:, self.edge, None]
            density += held.sum(axis=0)
        rho = float(self.fit.rho[r])
        table = relative_to_highest(self.fit.at(r).all_log_kernel(self.mask, rho))
        return _cumulated(density * table)


def _stand_ins(place: FloatArray, knots: int) -> IntArray:
    """For each of some places the nearest of a few of them."""
    order = np.argsort(place)
    edges = np.linspace(place.min(), place.max(), knots)
    few = order[np.unique(np.searchsorted(place[order], edges).clip(max=order.size - 1))]
    middle = (place[few][1:] + place[few][:-1]) / 2
    return few[np.searchsorted(middle, place)]


def _cumulated(mass: FloatArray) -> FloatArray:
    """Cdf of each row of masses."""
    cdf = np.cumsum(mass, axis=1)
    return cdf / np.maximum(cdf[:, -1:], _TINY)


def _draw_from_rows(
    cdf: FloatArray, row: IntArray, y: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Draws from the given row of cdf for each column; repeats lie in different quarters."""
    quarter = (np.arange(_REPEATS)[:, None] + rng.integers(_REPEATS, size=row.size)) % _REPEATS
    level = (quarter + rng.random(quarter.shape)) / _REPEATS
    return invert_rows(cdf, level, y, row)


def _chance_of_best(cdf: FloatArray, copies: FloatArray) -> FloatArray:
    """P(best) of one entry of each score, (U,)."""
    mass = np.diff(cdf, axis=1, prepend=0.0)
    below = np.maximum(cdf - mass / 2, _TINY)
    log_below = np.log(below)
    others = np.exp(copies @ log_below - log_below)
    return np.sum(mass * others, axis=1)


def _stratified_normal(size: int, rng: np.random.Generator) -> FloatArray:
    """Standard normal numbers, one in each of ``size`` equally likely intervals, shuffled."""
    return ndtri((rng.permutation(size) + rng.random(size)) / size)


def _equal_scores(scores: IntArray) -> Iterator[IntArray]:
    """Entries with equal scores: for each number s of copies an array (scores, s)."""
    _, index, copies = np.unique(scores, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable")
    first = np.concatenate([[0], np.cumsum(copies)])[:-1]
    for s in np.unique(copies):
        yield order[first[copies == s][:, None] + np.arange(s)]
