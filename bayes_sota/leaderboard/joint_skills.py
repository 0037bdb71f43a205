"""Joint draws of the skills of classifiers whose errors are correlated as their items say.

The posterior of each classifier alone, and what is left of the correlation of errors between them:
``responses_posterior`` says why.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.types import FloatArray
from bayes_sota.items.correlation_structure import ResponseCorrelation
from bayes_sota.leaderboard.entry_skills import EntryDraws
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.score_kernel import ScoreKernel

__all__ = ["JOINT", "JointKernel", "JointPosterior", "JointSampler", "summaries"]

JOINT = 200  # classifiers drawn together; the others are too far below to be the best
_REPEATS = 4  # draws per set of parameters
_BLOCK = 48  # sets of parameters at a time
_LEAST_EFFECTIVE = 100.0
_TINY = 1e-300


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
            for start in range(0, len(points), _BLOCK):
                density = self.fit.density(self.fit.families[f], points[start : start + _BLOCK])
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
        y = _invert(cdf, level, self.kernel.y).reshape(sets, classifiers, _REPEATS)
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


def _invert(cdf: FloatArray, level: FloatArray, y: FloatArray) -> FloatArray:
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
