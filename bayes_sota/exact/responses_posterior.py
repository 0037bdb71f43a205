r"""Posterior of the true state of the art from the answers of several classifiers to every item.

The model of ``leaderboard_posterior``, with the dependence taken from the items. On the angle
:math:`a = 2\sqrt{n_j}\arcsin\sqrt{\cdot}`, where a score has unit variance whatever the skill,

.. math:: a(\hat\theta_j) = a(\psi_j) + e_j, \quad e \sim N(0, R), \quad \psi_j \sim P(\psi \mid
          \phi), \quad \theta_j = \psi_j - \lambda_j\, sd_j\, z, \quad z \sim N(0, 1)

``lambda`` and ``R`` are those of ``response_correlation``. What all leaders share, ``z``, keeps
its prior: no number of classifiers can tell whether the items were easy, so an interval keeps the
width rho times that of a single score. Everything else is in ``R``, families and all, and is
averaged out together with P(psi). Differences between classifiers have the variance of the paired
comparison, because ``lambda lambda' + R`` is the correlation of the answers.

``tests/exact/test_responses_posterior.py`` compares with quadrature over two classifiers, with the
exact paired comparison, and with the truth of real response matrices; docs/responses.md has what
was measured.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.errors import InputError
from bayes_sota.exact.field_fit import FieldFit, fit_field
from bayes_sota.exact.response_correlation import (
    ResponseCorrelation,
    learn_correlation,
    response_correlation,
)
from bayes_sota.exact.score_kernel import ScoreKernel, remove_shift
from bayes_sota.priors import BoardPriors
from bayes_sota.skill_distributions import FloatArray

__all__ = ["ResponsesPosterior", "responses_posterior"]

_REPEATS = 4  # draws per set of parameters
_BLOCK = 128  # sets of parameters at a time
_STEPS = 8  # of elliptical slice sampling, from a normal approximation
_JOINT = 200  # classifiers drawn together; the others are too far below to be the best
_LEAST_EFFECTIVE, _LEAST_MISTAKES = 100.0, 5
_EDGE = 1e-5  # angles this close to 0 or 90 degrees are outside every grid
_OUTSIDE = -600.0
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class ResponsesPosterior:
    """Draws from the posterior of a response matrix.

    Attributes
    ----------
    responses : Responses
    draws : dict of str to ndarray, shape (D,)
        theta_sota, expected_sota, winner_skill, winner_new_score, best_new_score, rho, shift,
        n_classifiers, n_above_sota; names as in ``bayes_sota.schema``.
    skill : ndarray, shape (D, m)
        Skill of each classifier, jointly.
    correlation : ResponseCorrelation
    fit : FieldFit
        Weighted parameters of P(psi) behind the draws.
    reasons, notes : tuple of str
        Why the result cannot be trusted; what a reader should know.
    """

    responses: Responses
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

    def probability_better(self, first: int, second: int) -> float:
        """Probability that one classifier has the higher skill than another."""
        return float(np.mean(self.skill[:, first] > self.skill[:, second]))


def responses_posterior(
    responses: Responses,
    priors: BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = None,
    new_n_test: int | None = None,
) -> ResponsesPosterior:
    """Posterior of theta_sota, and of every classifier, from right and wrong answers.

    Parameters
    ----------
    responses : Responses
        Missing answers are taken to be missing at random; each score is out of what was answered.
        Items in clusters widen every interval by the design effect of the leaders' scores.
    priors : BoardPriors, optional
        Its prior of rho is combined with what the answers say of rho.
    draws : int
    random_seed : int, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the number of items.

    Returns
    -------
    ResponsesPosterior

    Raises
    ------
    InputError
        Fewer than one draw.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Responses(rng.random((400, 1)) ** 0.5 + 0.2 * rng.random((400, 12)) > 0.4)
    >>> posterior = responses_posterior(answers, random_seed=0, draws=500)
    >>> bool(posterior.draws["theta_sota"].mean() < answers.scores.max())
    True
    """
    if draws < 1:
        raise InputError(f"draws must be at least 1, got {draws}")
    rng = np.random.default_rng(random_seed)
    priors = BoardPriors() if priors is None else priors
    found = response_correlation(responses)
    learnt = replace(priors, correlation=learn_correlation(found, priors.correlation))
    effect = _design_effect(responses, found)
    kernel = _ResponseKernel.of_responses(responses, found, effect)
    fit = fit_field(kernel, learnt, rng, merge_spikes=False)
    sampler = _Sampler(kernel, fit, found)
    values, skill = sampler.draw(draws, rng)
    values |= _summaries(kernel, skill, rng)
    size = new_n_test or responses.n_items
    values["winner_new_score"] = rng.binomial(size, values["winner_skill"]) / size
    values["best_new_score"] = sampler.best_new_score(skill, size / effect, size, rng)
    reasons = tuple(_reasons(responses, found, fit))
    notes = tuple(_notes(responses, found, kernel, effect))
    return ResponsesPosterior(responses, values, skill, found, fit, reasons, notes)


@dataclass(frozen=True, eq=False)
class _ResponseKernel(ScoreKernel):
    """One score per classifier, each with its own size and loading, normal on the angle."""

    entries: NDArray[np.int64]
    angle: FloatArray
    size: FloatArray
    relative: FloatArray

    @classmethod
    def of_responses(
        cls, responses: Responses, found: ResponseCorrelation, effect: float
    ) -> "_ResponseKernel":
        """Kernel of the modelled classifiers, worst first."""
        n = round(float(np.median(responses.totals)) / effect)
        board = Leaderboard(
            np.round(responses.scores * n) / n, n_test=n, rounding="exact", percent=False
        )
        base = ScoreKernel.of(board)
        order = np.argsort(responses.scores, kind="stable")
        entries = order[base.modelled[order]][-_JOINT:]
        modelled = np.isin(np.arange(order.size), entries)
        totals, counts = responses.totals[entries], responses.counts[entries]
        angle = np.arcsin(np.sqrt((counts + 0.375) / (totals + 0.75)))
        return cls(
            board, modelled, responses.scores[entries], found.weights[entries],
            np.arange(entries.size), base.y, base.centre, base.scale,
            entries, angle, totals / effect, found.loadings[entries] / found.rho,
        )  # fmt: skip

    def own_variance(self, rho: float) -> FloatArray:
        """Variance of each score's error that the leaders do not share, in units of its own."""
        return np.asarray(1 - np.clip(self.relative * rho, 0, 0.99) ** 2)

    def log_kernel(self, rho: float) -> FloatArray:
        """Log density of each score at the grid, shape (U, G); constants left out."""
        root = 2 * np.sqrt(self.size)[:, None]
        z = root * (self.angle[:, None] - _angle(self.y))
        return np.asarray(-0.5 * z**2 / self.own_variance(rho)[:, None])

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part, shape (G,)."""
        from scipy.special import ndtr

        cut = self.angle[0] if level is None else float(np.arcsin(np.sqrt(level)))
        sd = float(np.sqrt(np.mean(self.own_variance(rho)) / np.mean(self.size)) / 2)
        return np.asarray(ndtr((_angle(self.y) - cut) / sd))


def _angle(y: FloatArray) -> FloatArray:
    """arcsin sqrt of a skill given in log odds."""
    return np.asarray(np.arctan(np.exp(y / 2)))


class _Sampler:
    """Joint draws of all modelled classifiers' skills, given the parameters of P(psi).

    Elliptical slice sampling (Murray, Adams & MacKay 2010): exact for any P(psi). It starts from,
    and moves along, a normal approximation in which P(psi) is replaced by the moments that it gives
    each classifier alone, so that few steps forget the start.
    """

    def __init__(self, kernel: _ResponseKernel, fit: FieldFit, found: ResponseCorrelation) -> None:
        self.kernel, self.fit, self.found = kernel, fit, found
        pairs = np.ix_(kernel.entries, kernel.entries)
        self.residual, self.weights = found.residual[pairs], found.weights[kernel.entries]
        self.root = 2 * np.sqrt(kernel.size)
        self.alone = np.flatnonzero(~kernel.modelled)

    def draw(
        self, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """rho, shift and expected_sota, and the skills of all classifiers, (draws, m)."""
        sets = -(-draws // _REPEATS)
        psi, rho, expected = [], [], []
        for r, f, points in self.fit.choose(sets, rng):
            node = _Node(self, float(self.fit.rho[r]))
            cell = np.array([r, r + 1]) / self.fit.rho.size
            for start in range(0, len(points), _BLOCK):
                density = self.fit.density(self.fit.families[f], points[start : start + _BLOCK])
                psi.append(node.draw(density, rng))
                expected.append(np.repeat(self._expected_best(density, node.rho), _REPEATS))
                uniform = rng.uniform(cell[0], cell[1], len(psi[-1]))
                rho.append(self.fit.priors.correlation.quantile(uniform))
        order = rng.permutation(sets * _REPEATS)[:draws]
        skills, rhos = np.concatenate(psi)[order], np.concatenate(rho)[order]
        shift = rng.standard_normal(draws)
        best = self._without_shift(np.concatenate(expected)[order], rhos * shift)
        values = {"rho": rhos, "shift": shift, "expected_sota": best}
        return values, self._all_skills(skills, rhos, shift, rng)

    def _all_skills(
        self, psi: FloatArray, rho: FloatArray, shift: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Skills without the shift; those that are not modelled from their scores alone."""
        kernel, found = self.kernel, self.found
        relative = np.clip(found.loadings / found.rho * rho[:, None], 0, 0.99)
        skill = np.empty(relative.shape)
        skill[:, kernel.entries] = psi
        if self.alone.size:
            # flat in log odds and not shrunk: P(psi) is not fitted to them
            skill[:, self.alone] = self._scores_alone(relative[:, self.alone], rng)
        return self._without_shift(skill, relative * shift[:, None], self._sizes())

    def _sizes(self) -> FloatArray:
        sizes = np.full(self.kernel.modelled.size, float(self.kernel.board.n_test))
        sizes[self.kernel.entries] = self.kernel.size
        return sizes

    def _scores_alone(self, loading: FloatArray, rng: np.random.Generator) -> FloatArray:
        n, own = self.kernel.board.n_test, 1 - loading**2
        assert self.kernel.board.scores is not None
        right = np.clip(self.kernel.board.scores[self.alone] * n, 0.5, n - 0.5)
        return rng.beta(right / own, (n - right) / own)

    def _without_shift(
        self, psi: FloatArray, shift: FloatArray, sizes: FloatArray | None = None
    ) -> FloatArray:
        n = self.kernel.board.n_test
        scale = 1.0 if sizes is None else np.sqrt(n / sizes)
        return remove_shift(self.kernel.board, psi, shift * scale)

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
        self, skill: FloatArray, effective: float, size: int, rng: np.random.Generator
    ) -> FloatArray:
        """Best score of the modelled classifiers on fresh items that all of them answer, (D,)."""
        loadings = self.found.loadings[self.kernel.entries]
        own = np.sqrt(1 - loadings**2)
        error = rng.standard_normal(skill[:, self.kernel.entries].shape)
        error = own * (error @ np.linalg.cholesky(self.residual).T)
        error += loadings * rng.standard_normal((len(skill), 1))
        angle = np.arcsin(np.sqrt(skill[:, self.kernel.entries])) + error / (2 * np.sqrt(effective))
        new = np.sin(np.clip(angle, 0, np.pi / 2)) ** 2
        return np.asarray(np.round(new.max(axis=1) * size) / size)


class _Node:
    """Draws at one value of rho. Coordinates: angle minus observed angle, in standard errors."""

    def __init__(self, sampler: _Sampler, rho: float) -> None:
        self.sampler, self.rho, self.kernel = sampler, rho, sampler.kernel
        self.own = self.kernel.own_variance(rho)
        spread = np.sqrt(self.own)
        self.precision = np.linalg.inv(sampler.residual * np.outer(spread, spread))
        log_kernel = self.kernel.log_kernel(rho)
        self.table = np.exp(log_kernel - log_kernel.max(axis=1, keepdims=True))
        self.grid = sampler.root[:, None] * (_angle(self.kernel.y) - self.kernel.angle[:, None])

    def draw(self, density: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Board-conditional skills, ``_REPEATS`` per row of densities, (sets * repeats, U)."""
        pull, push = self._sites(density)
        precision = self.precision + pull[:, :, None] * np.eye(pull.shape[1])
        covariance = np.linalg.inv(precision)
        mean = np.einsum("sij,sj->si", covariance, push)
        factor = np.linalg.cholesky((covariance + covariance.transpose(0, 2, 1)) / 2)
        per_angle = np.log(np.maximum(density, _TINY)) - np.log(np.sin(2 * _angle(self.kernel.y)))
        target = _Target(self, per_angle, pull, push)
        shape = (len(density), _REPEATS, mean.shape[1])

        def moves() -> FloatArray:
            normal = rng.standard_normal(shape)
            return np.asarray(normal @ factor.transpose(0, 2, 1)).reshape(-1, shape[2])

        centre = np.repeat(mean, _REPEATS, axis=0)
        state = _elliptical_slices(moves(), centre, target, moves, rng)
        return np.asarray(np.sin(target.angle(centre + state)) ** 2)

    def _sites(self, density: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What P(psi) adds to each classifier's precision, and precision times mean, (sets, U)."""
        mass = np.maximum(density @ self.table.T, _TINY)
        mean = density @ (self.table * self.grid).T / mass
        square = density @ (self.table * self.grid**2).T / mass
        variance = np.maximum(square - mean**2, 1e-3 * self.own)
        weights = self.sampler.weights
        return weights * np.maximum(1 / variance - 1 / self.own, 0), weights * mean / variance


class _Target:
    """Log density of P(psi) over its normal approximation; relatives count as few."""

    def __init__(
        self, node: _Node, log_density: FloatArray, pull: FloatArray, push: FloatArray
    ) -> None:
        self.node, self.log_density = node, log_density.ravel()
        self.nodes, self.set = log_density.shape[1], np.repeat(np.arange(len(pull)), _REPEATS)
        self.pull, self.push = pull, push

    def angle(self, b: FloatArray) -> FloatArray:
        """Angle of each classifier, inside (0, pi / 2)."""
        angle = self.node.kernel.angle + b / self.node.sampler.root
        return np.asarray(np.clip(angle, _EDGE, np.pi / 2 - _EDGE))

    def __call__(self, b: FloatArray, chains: NDArray[np.int64]) -> FloatArray:
        """Log ratio at points of some chains, shape (len(chains),)."""
        kernel, chosen = self.node.kernel, self.set[chains]
        angle = self.angle(b)
        place = (2 * np.log(np.tan(angle)) - kernel.y[0]) / kernel.step
        inside = (place >= 0) & (place < self.nodes - 1)
        low = np.clip(place, 0, self.nodes - 1.001).astype(np.int64)
        share = np.clip(place - low, 0, 1)
        flat = low + chosen[:, None] * self.nodes
        value = self.log_density[flat] * (1 - share) + self.log_density[flat + 1] * share
        value = np.where(inside, value, _OUTSIDE)
        normal = b * (self.push[chosen] - 0.5 * self.pull[chosen] * b)
        return np.asarray(value @ self.node.sampler.weights - normal.sum(axis=1))


def _elliptical_slices(
    state: FloatArray,
    centre: FloatArray,
    target: _Target,
    moves: Callable[[], FloatArray],
    rng: np.random.Generator,
) -> FloatArray:
    """``_STEPS`` updates of every chain; ``state`` is relative to ``centre``."""
    everyone = np.arange(len(state))
    value = target(centre + state, everyone)
    for _ in range(_STEPS):
        move = moves()
        level = value + np.log(rng.random(len(state)))
        turn = rng.uniform(0, 2 * np.pi, len(state))
        low, high = turn - 2 * np.pi, turn.copy()
        active, new = everyone, state.copy()
        while active.size:
            angle = turn[active, None]
            trial = state[active] * np.cos(angle) + move[active] * np.sin(angle)
            found = target(centre[active] + trial, active)
            good = found > level[active]
            new[active[good]], value[active[good]] = trial[good], found[good]
            active = active[~good]
            below = turn[active] < 0
            low[active] = np.where(below, turn[active], low[active])
            high[active] = np.where(below, high[active], turn[active])
            turn[active] = rng.uniform(low[active], high[active])
        state = new
    return state


def _summaries(
    kernel: _ResponseKernel, skill: FloatArray, rng: np.random.Generator
) -> dict[str, FloatArray]:
    theta = skill[:, kernel.entries].max(axis=1)
    tied = kernel.entries[kernel.values >= kernel.values[-1]]
    winner = skill[np.arange(len(skill)), rng.choice(tied, len(skill))]
    assert kernel.board.scores is not None
    ordered = np.sort(kernel.board.scores)
    above = ordered.size - np.searchsorted(ordered, theta, side="right")
    return {
        "theta_sota": theta,
        "winner_skill": winner,
        "n_above_sota": above.astype(np.float64),
        "n_classifiers": np.full(len(skill), float(ordered.size)),
    }


def _design_effect(responses: Responses, found: ResponseCorrelation) -> float:
    """Variance of the leaders' scores over clusters, relative to independent items; at least 1."""
    if responses.clusters is None:
        return 1.0
    cluster = np.unique(np.array(responses.clusters), return_inverse=True)[1]
    answers = responses.correct[:, found.leaders].astype(float)
    given = answers != MISSING
    scores = responses.scores[found.leaders]
    error = np.where(given, answers - scores, 0.0)
    sums = np.array([np.bincount(cluster, weights=column) for column in error.T])
    expected = np.maximum(given.sum(axis=0) * scores * (1 - scores), 0.5)
    return float(max(1.0, np.mean(np.sum(sums**2, axis=1) / expected)))


def _reasons(responses: Responses, found: ResponseCorrelation, fit: FieldFit) -> Iterator[str]:
    if fit.effective_size < _LEAST_EFFECTIVE:
        yield (
            "importance sample of the hyperparameters has an effective size of "
            f"{fit.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}"
        )
    mistakes = (responses.totals - responses.counts)[found.leaders]
    rare = int(np.median(np.minimum(mistakes, responses.counts[found.leaders])))
    if rare < _LEAST_MISTAKES:
        yield (
            f"the typical leader has {rare} mistakes (or right answers): too few to tell how much "
            "the classifiers' mistakes coincide"
        )


def _notes(
    responses: Responses, found: ResponseCorrelation, kernel: _ResponseKernel, effect: float
) -> Iterator[str]:
    if responses.has_missing:
        yield "answers are missing; taken to be missing at random"
    if effect > 1:
        yield f"items come in clusters; every variance is {effect:.2f} times that of single items"
    if kernel.entries.size < kernel.modelled.size:
        yield (
            f"P(theta) is fitted to the best {kernel.entries.size} of {kernel.modelled.size} "
            "classifiers; the others are too far below to be the best"
        )
    leading = set(int(j) for j in kernel.entries)
    for family in found.families:
        members = [responses.names[j] for j in family if j in leading]
        if len(members) > 1:
            yield f"near-clones, counted as fewer classifiers: {', '.join(members)}"
