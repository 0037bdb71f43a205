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

Joint draws of the skills of classifiers whose errors are correlated as their items say.

The posterior of each classifier alone, and what is left of the correlation of errors between them:
``responses_posterior`` says why.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.items.correlation import ResponseCorrelation
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel

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
    shift : ndarray, shape (D,)
        Standardised shift behind each draw.
    p_best : ndarray, shape (m,)
        Probability to have the highest skill of all entries; sums to 1. Entries below the
        modelled part have 0.
    p_not_below_leader : ndarray, shape (m,)
        Probability that the skill is at least that of the entry with the best score; 1 for all
        that have the best score.
    alike : tuple of ndarray, each of shape (groups, s)
        Entries with the same posterior, s to a group: their draws are pooled in every summary.
        From scores alone these are the entries with equal scores; from answers every entry is on
        its own.
    """

    skill: NDArray[np.float32]
    shift: FloatArray
    p_best: FloatArray
    p_not_below_leader: FloatArray
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
        means = self._pooled(self.skill, lambda pooled: pooled.mean(axis=0, dtype=float)[:, None])
        return np.asarray(means[0])

    def sd(self) -> FloatArray:
        """Posterior standard deviation of each skill, shape (m,)."""
        spreads = self._pooled(self.skill, lambda pooled: pooled.std(axis=0, dtype=float)[:, None])
        return np.asarray(spreads[0])

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

    def tied_with_best(self, ci_prob: float = 0.95) -> NDArray[np.bool_]:
        r"""Entries that cannot be told from the leader, the one with the best score, shape (m,).

        Entry j is one unless :math:`P(\theta_j \ge \theta_{leader}) < (1 - ci_prob) / 2`: unless
        the equal-tailed interval of the difference lies below zero. The shift cancels.
        """
        return np.asarray(self.p_not_below_leader >= (1 - ci_prob) / 2)

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
    held at its greatest value below its mode (flat in log odds). So nothing jumps where the
    modelled part ends, and entries far below keep their scores, not shrunk. Where more entries
    share a score than the field explains (``field_fit.effective_copies``) they are divided among as
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
    >>> from bayes_sota.leaderboard.posterior import leaderboard_posterior
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit = leaderboard_posterior(board, draws=1, random_seed=0).fit
    >>> entries = draw_entry_skills(fit, 1000, np.random.default_rng(0))
    >>> entries.skill.shape, round(float(entries.p_best.sum()), 9), int(entries.p_best.argmax())
    ((1000, 5), 1.0, 4)
    >>> bool(entries.mean()[4] < 0.93)
    True
    """
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    sets = -(-draws // _REPEATS)
    rows = sets * _REPEATS
    sampler = _Sampler(fit)
    place = rng.permutation(rows).reshape(sets, _REPEATS)
    shift = _stratified_normal(rows, rng)
    skill = np.empty((rows, fit.kernel.modelled.size), np.float32)
    values = np.zeros((2, fit.copies.size))
    k = 0
    for r, f, points in fit.choose(sets, rng):
        node = sampler.at(r, fit.families[f], points)
        for density in node.densities(points):
            here = place[k]
            skill[here], numbers = node.draw(density, shift[here], rng)
            values += numbers / sets
            k += 1
    skill, shift = skill[:draws], shift[:draws]
    best, not_below = sampler.by_entry(values, skill)
    return EntryDraws(skill, shift, best, not_below, tuple(_equal_scores(fit.kernel.board)))


class _Sampler:
    """What does not depend on the draw: which classifier stands behind which entry."""

    def __init__(self, fit: FieldFit) -> None:
        self.fit, self.kernel = fit, fit.kernel
        index = self.kernel.value_of_entry
        distinct = np.ceil(fit.copies).astype(np.int64)
        order = np.argsort(index, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(index, minlength=distinct.size))])[:-1]
        number = np.empty(index.size, np.int64)  # of the entry among those of its score
        number[order] = np.arange(index.size) - first[index[order]]
        start = np.concatenate([[0], np.cumsum(distinct)])[:-1]
        self.classifier = start[index] + number % distinct[index]
        self.value_of_classifier = np.repeat(np.arange(distinct.size), distinct)
        self.modelled = np.flatnonzero(self.kernel.modelled)
        below = np.flatnonzero(~self.kernel.modelled)
        scores = self.kernel.board.scores
        assert scores is not None
        self.below = below[np.argsort(scores[below])]  # neighbours search neighbouring cdfs
        self.tail = _Tail(fit, self.below) if self.below.size else None

    def at(self, r: int, family: str, points: FloatArray) -> "_Node":
        """Sampler at one value of rho and in one family."""
        return _Node(self, float(self.fit.rho[r]), family, points)

    def by_entry(
        self, values: FloatArray, skill: NDArray[np.float32]
    ) -> tuple[FloatArray, FloatArray]:
        """P(best) and P(not below the leader) of every entry."""
        board, index = self.kernel.board, self.kernel.value_of_entry
        best, not_below = np.zeros(skill.shape[1]), np.zeros(skill.shape[1])
        share = values[0] * self.fit.copies / np.bincount(index)
        best[self.modelled] = share[index]
        not_below[self.modelled] = values[1][index]
        leader = skill[:, board.order[:1]]
        step = max(1, _CELLS // len(skill))
        for start in range(0, self.below.size, step):
            block = self.below[start : start + step]
            not_below[block] = (skill[:, block] >= leader).mean(axis=0)
        assert board.scores is not None
        not_below[board.scores == board.maximum] = 1.0
        return best / best.sum(), not_below


class _Node:
    """Draws at one value of rho, in one family."""

    def __init__(self, sampler: _Sampler, rho: float, family: str, points: FloatArray) -> None:
        self.sampler, self.rho, self.family = sampler, rho, family
        kernel = sampler.kernel
        log_kernel = kernel.log_kernel(rho)
        self.table = np.exp(log_kernel - log_kernel.max(axis=1, keepdims=True))
        if sampler.tail is not None:
            self.tail_cdf = sampler.tail.cdf(rho, family, points)

    def densities(self, points: FloatArray) -> Iterator[FloatArray]:
        """P(psi) on the grid, (G,), for each set of parameters."""
        for start in range(0, len(points), _BLOCK):
            yield from self.sampler.fit.density(self.family, points[start : start + _BLOCK])

    def draw(
        self, density: FloatArray, shift: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Skills, (repeats, m), and P(best) and P(not below the leader) by score, (2, U)."""
        kernel, sampler = self.sampler.kernel, self.sampler
        cdf = np.cumsum(density * self.table, axis=1)
        cdf /= np.maximum(cdf[:, -1:], _TINY)
        y = np.empty((shift.size, kernel.modelled.size))
        of_classifier = _draw_rows(cdf, sampler.value_of_classifier, kernel.y, shift.size, rng)
        y[:, sampler.modelled] = of_classifier[:, sampler.classifier]
        if sampler.tail is not None:
            knot, y_tail = sampler.tail.knot, sampler.tail.y
            beyond = _draw_rows(self.tail_cdf, knot, y_tail, shift.size, rng)
            y[:, sampler.below] = beyond + sampler.tail.residual
        psi = kernel.skill_at(y)
        skill = kernel.remove_shift(psi, (self.rho * shift)[:, None])
        return skill, _compare(cdf, sampler.fit.copies)


class _Tail:
    """Entries below the modelled part, on a grid that reaches down to them.

    Each has the cdf of the nearest of a few entries, moved by their distance.
    """

    def __init__(self, fit: FieldFit, entries: IntArray) -> None:
        place, error = _places(fit.kernel, entries)
        order = np.argsort(place)
        edges = np.linspace(place.min(), place.max(), _KNOTS)
        near = np.searchsorted(place[order], edges).clip(max=order.size - 1)
        knots = order[np.unique(near)]  # entries that stand for those around them
        knots = knots[np.argsort(entries[knots])]  # in the order of the kernel's rows
        rising = np.argsort(place[knots])
        middle = (place[knots[rising]][1:] + place[knots[rising]][:-1]) / 2
        self.knot = rising[np.searchsorted(middle, place)]
        self.residual = place - place[knots][self.knot]
        self.mask = np.zeros(fit.kernel.modelled.size, bool)
        self.mask[entries[knots]] = True
        high = min(float(fit.kernel.y[-1]), place.max() + 8 * error)
        low = place.min() - 6 * error
        nodes = int(np.clip((high - low) / fit.kernel.step, 60, _MOST_NODES))
        self.y = np.linspace(low, high, nodes)
        self.fit = replace(fit, kernel=replace(fit.kernel, y=self.y))

    def cdf(self, rho: float, family: str, points: FloatArray) -> FloatArray:
        """Cdf of y of the entries at the knots, (knots, nodes)."""
        density = np.zeros(self.y.size)
        for start in range(0, len(points), _BLOCK):
            chosen = points[start : start + _BLOCK]
            block = self.fit.density(family, chosen, strangers=False)
            density += np.maximum.accumulate(block[:, ::-1], axis=1)[:, ::-1].sum(axis=0)
        log_kernel = self.fit.kernel.all_log_kernel(self.mask, rho)
        table = np.exp(log_kernel - log_kernel.max(axis=1, keepdims=True))
        cdf = np.cumsum(density * table, axis=1)
        return np.asarray(cdf / np.maximum(cdf[:, -1:], _TINY))


def _places(kernel: ScoreKernel, entries: IntArray) -> tuple[FloatArray, float]:
    """Grid coordinates of the scores of some entries, and the largest standard error of one."""
    board = kernel.board
    assert board.scores is not None
    places, errors = kernel.law.places(board.scores[entries] * kernel.law.unit)
    return places, min(float(np.max(errors)), 1.0)


def _draw_rows(
    cdf: FloatArray, row: IntArray, y: FloatArray, repeats: int, rng: np.random.Generator
) -> FloatArray:
    """Draws from the given row of cdf for each column; repeats lie in different quarters."""
    quarter = (np.arange(repeats)[:, None] + rng.integers(repeats, size=row.size)) % repeats
    u = (quarter + rng.random(quarter.shape)) / repeats + 2.0 * row
    flat = np.searchsorted((cdf + 2.0 * np.arange(len(cdf))[:, None]).ravel(), u.ravel())
    index = np.minimum(flat.reshape(u.shape) - row * y.size, y.size - 1)
    return np.asarray(y[index] + (rng.random(u.shape) - 0.5) * (y[1] - y[0]))


def _compare(cdf: FloatArray, copies: FloatArray) -> FloatArray:
    """P(best) of one entry of each score, and P(not below the best score's), shape (2, U)."""
    mass = np.diff(cdf, axis=1, prepend=0.0)
    below = np.maximum(cdf - mass / 2, _TINY)
    log_below = np.log(below)
    others = np.exp(copies @ log_below - log_below)
    return np.stack([np.sum(mass * others, axis=1), mass @ below[-1]])


def _stratified_normal(size: int, rng: np.random.Generator) -> FloatArray:
    """Standard normal numbers, one in each of ``size`` equally likely intervals, shuffled."""
    from scipy.special import ndtri

    return np.asarray(ndtri((rng.permutation(size) + rng.random(size)) / size))


def _equal_scores(board: Leaderboard) -> Iterator[IntArray]:
    """Entries with equal scores: for each number s of copies an array (scores, s)."""
    assert board.scores is not None
    _, index, copies = np.unique(board.scores, return_inverse=True, return_counts=True)
    order = np.argsort(index, kind="stable")
    first = np.concatenate([[0], np.cumsum(copies)])[:-1]
    for s in np.unique(copies):
        yield order[first[copies == s][:, None] + np.arange(s)]


JOINT = 200  # classifiers drawn together; the others are too far below to be the best
_JOINT_BLOCK = 48  # sets of parameters at a time
_LEAST_EFFECTIVE = 100.0


@dataclass(frozen=True, eq=False)
class JointKernel(ScoreKernel):
    """One score per classifier, each with its own error and loading.

    Attributes
    ----------
    entries : ndarray of int, shape (U,)
        Modelled classifiers, worst first.
    relative : ndarray, shape (U,)
        Loading of each, relative to rho.
    """

    entries: NDArray[np.int64]
    relative: FloatArray

    def own_variance(self, rho: float) -> FloatArray:
        """Variance of each score's error that the leaders do not share, in units of its own."""
        return np.asarray(1 - np.clip(self.relative * rho, 0, 0.99) ** 2)

    @abstractmethod
    def shift_scale(self) -> FloatArray:
        """Standard error of each classifier's score over that of the law, (m,)."""

    @abstractmethod
    def draw_alone(
        self, entries: NDArray[np.int64], loading: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Psi of classifiers that are not modelled, from their scores alone, (D, k)."""

    @abstractmethod
    def new_scores(
        self, skill: FloatArray, normal: FloatArray, new_n_test: int | None
    ) -> FloatArray:
        """Scores of the modelled classifiers on fresh items, given normal errors, (D, U)."""


@dataclass(frozen=True, eq=False)
class JointPosterior:
    """Draws from the posterior of classifiers that were compared item by item.

    Attributes
    ----------
    scores : ndarray, shape (m,)
        Observed scores, larger is better.
    draws : dict of str to ndarray, shape (D,)
        theta_sota, expected_sota, winner_skill, winner_new_score, best_new_score, rho, shift,
        n_classifiers, n_above_sota; names as in ``bayes_sota.core.schema``.
    skill : ndarray, shape (D, m)
        Skill of each classifier, jointly.
    correlation : ResponseCorrelation
    fit : FieldFit
        Weighted parameters of P(psi) behind the draws.
    reasons, notes : tuple of str
        Why the result cannot be trusted; what a reader should know.
    """

    scores: FloatArray
    draws: dict[str, FloatArray]
    skill: FloatArray
    correlation: ResponseCorrelation
    fit: FieldFit
    reasons: tuple[str, ...]
    notes: tuple[str, ...]

    @cached_property
    def p_best(self) -> FloatArray:
        """Probability that each classifier is truly the best, shape (m,); sums to 1."""
        candidates = np.flatnonzero(self.fit.kernel.modelled)
        best = candidates[np.argmax(self.skill[:, candidates], axis=1)]
        return np.bincount(best, minlength=self.skill.shape[1]) / len(best)

    @cached_property
    def family_probability(self) -> dict[str, float]:
        """Posterior probability of each shape of P(psi)."""
        weights = self.fit.family_weights.mean(axis=1)
        return dict(zip(self.fit.families, (float(w) for w in weights), strict=True))

    @cached_property
    def entries(self) -> EntryDraws:
        """Draws of all classifiers with their ranks, P(best) and comparison with the leader."""
        leader = int(np.argmax(self.scores))
        not_below = np.mean(self.skill >= self.skill[:, [leader]], axis=0)
        alone = np.arange(self.skill.shape[1])[:, None]
        return EntryDraws(
            self.skill.astype(np.float32), self.draws["shift"], self.p_best, not_below, (alone,)
        )

    def probability_better(self, first: int, second: int) -> float:
        """Probability that one classifier has the higher skill than another."""
        return float(np.mean(self.skill[:, first] > self.skill[:, second]))


class JointSampler:
    """Joint draws of all modelled classifiers' skills, given the parameters of P(psi)."""

    def __init__(self, kernel: JointKernel, fit: FieldFit, found: ResponseCorrelation) -> None:
        """Factor the residual correlation."""
        self.kernel, self.fit, self.found = kernel, fit, found
        pairs = np.ix_(kernel.entries, kernel.entries)
        self.factor = np.linalg.cholesky(found.residual[pairs])
        self.alone = np.flatnonzero(~kernel.modelled)

    def draw(
        self, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """rho, shift and expected_sota, and the skills of all classifiers, (draws, m)."""
        sets = -(-draws // _REPEATS)
        psi, rho, expected = [], [], []
        for r, f, points in self.fit.choose(sets, rng):
            rho_node = float(self.fit.rho[r])
            table = np.exp(self.kernel.log_kernel(rho_node))
            cell = np.array([r, r + 1]) / self.fit.rho.size
            for start in range(0, len(points), _JOINT_BLOCK):
                block = points[start : start + _JOINT_BLOCK]
                density = self.fit.density(self.fit.families[f], block)
                psi.append(self._draw_conditional(density, table, rng))
                expected.append(np.repeat(self._expected_best(density, rho_node), _REPEATS))
                uniform = rng.uniform(cell[0], cell[1], len(psi[-1]))
                rho.append(self.fit.priors.correlation.quantile(uniform))
        order = rng.permutation(sets * _REPEATS)[:draws]
        skills, rhos = np.concatenate(psi)[order], np.concatenate(rho)[order]
        shift = rng.standard_normal(draws)
        best = self.kernel.remove_shift(np.concatenate(expected)[order], rhos * shift)
        values = {"rho": rhos, "shift": shift, "expected_sota": best}
        return values, self._all_skills(skills, rhos, shift, rng)

    def _draw_conditional(
        self, density: FloatArray, table: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Board-conditional skills, ``_REPEATS`` per row of densities, (sets * repeats, U)."""
        from scipy.special import ndtr

        (sets, nodes), classifiers = density.shape, len(table)
        normal = rng.standard_normal((sets, _REPEATS, classifiers)) @ self.factor.T
        level = ndtr(normal).transpose(0, 2, 1).reshape(-1, _REPEATS)
        cdf = np.cumsum(density[:, None, :] * table, axis=2).reshape(-1, nodes)
        y = _invert_rows(cdf, level, self.kernel.y).reshape(sets, classifiers, _REPEATS)
        return self.kernel.skill_at(y.transpose(0, 2, 1).reshape(-1, classifiers))

    def _all_skills(
        self, psi: FloatArray, rho: FloatArray, shift: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Skills without the shift; those that are not modelled from their scores alone."""
        kernel, found = self.kernel, self.found
        relative = np.clip(found.loadings / found.rho * rho[:, None], 0, 0.99)
        skill = np.empty(relative.shape)
        skill[:, kernel.entries] = psi
        if self.alone.size:
            # flat and not shrunk: P(psi) is not fitted to them
            skill[:, self.alone] = kernel.draw_alone(self.alone, relative[:, self.alone], rng)
        return kernel.remove_shift(skill, relative * shift[:, None] * kernel.shift_scale())

    def _expected_best(self, density: FloatArray, rho: float) -> FloatArray:
        """Expected best psi of fresh fields as large as the modelled part, shape (sets,)."""
        kernel = self.kernel
        if kernel.is_cut:
            density = density * kernel.reach(rho)
        above = np.cumsum(density[:, ::-1], axis=1)[:, ::-1]
        beyond = np.append(above[:, 1:], np.zeros((len(above), 1)), axis=1) / above[:, :1]
        log_cdf = kernel.copies.sum() * np.log1p(-np.minimum(beyond, 1 - 1e-12))
        mass = np.diff(np.exp(log_cdf), axis=1, prepend=0.0)
        return np.asarray(mass @ kernel.psi / np.maximum(mass.sum(axis=1), _TINY))

    def best_new_score(
        self, skill: FloatArray, new_n_test: int | None, rng: np.random.Generator
    ) -> FloatArray:
        """Best score of the modelled classifiers on fresh items that all of them answer, (D,)."""
        loadings = self.found.loadings[self.kernel.entries]
        own = np.sqrt(1 - loadings**2)
        error = rng.standard_normal(skill[:, self.kernel.entries].shape)
        error = own * (error @ self.factor.T)
        error += loadings * rng.standard_normal((len(skill), 1))
        new = self.kernel.new_scores(skill[:, self.kernel.entries], error, new_n_test)
        return np.asarray(new.max(axis=1))

    def reasons(self) -> Iterator[str]:
        """Why the importance sample cannot be trusted."""
        if self.fit.effective_size < _LEAST_EFFECTIVE:
            yield (
                "importance sample of the hyperparameters has an effective size of "
                f"{self.fit.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}"
            )

    def notes(self, names: tuple[str, ...]) -> Iterator[str]:
        """What was left out of the fit, and near-clones."""
        kernel = self.kernel
        if kernel.entries.size < kernel.modelled.size:
            yield (
                f"P(theta) is fitted to the best {kernel.entries.size} of {kernel.modelled.size} "
                "classifiers; the others are too far below to be the best"
            )
        leading = set(int(j) for j in kernel.entries)
        for family in self.found.families:
            members = [names[j] for j in family if j in leading]
            if len(members) > 1:
                yield f"near-clones, counted as fewer classifiers: {', '.join(members)}"


def summaries(
    kernel: JointKernel, skill: FloatArray, scores: FloatArray, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """theta_sota and what else follows from the skills; ``scores`` are the observed ones, (m,)."""
    theta = skill[:, kernel.entries].max(axis=1)
    tied = kernel.entries[kernel.values >= kernel.values[-1]]
    winner = skill[np.arange(len(skill)), rng.choice(tied, len(skill))]
    ordered = np.sort(scores)
    above = ordered.size - np.searchsorted(ordered, theta, side="right")
    return {
        "theta_sota": theta,
        "winner_skill": winner,
        "n_above_sota": above.astype(np.float64),
        "n_classifiers": np.full(len(skill), float(ordered.size)),
    }


def _invert_rows(cdf: FloatArray, level: FloatArray, y: FloatArray) -> FloatArray:
    """Where each row of cdfs, (N, G), reaches its levels, (N, k); linear within a cell."""
    rows, nodes = cdf.shape
    cdf = cdf / np.maximum(cdf[:, -1:], _TINY)
    offset = 2.0 * np.arange(rows)[:, None]
    flat = np.searchsorted((cdf + offset).ravel(), (level + offset).ravel()).reshape(level.shape)
    index = np.clip(flat - nodes * np.arange(rows)[:, None], 0, nodes - 1)
    upper = np.take_along_axis(cdf, index, axis=1)
    lower = np.where(index > 0, np.take_along_axis(cdf, np.maximum(index - 1, 0), axis=1), 0.0)
    share = np.clip((level - lower) / np.maximum(upper - lower, _TINY), 0, 1)
    return np.asarray(y[index] + (share - 0.5) * (y[1] - y[0]))
