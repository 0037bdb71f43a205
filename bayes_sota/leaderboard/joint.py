r"""Joint draws of the skills of classifiers whose errors are correlated as their items say.

The errors of classifier ``j`` share ``lambda_j`` with the shift ``z`` of the board, and have the
correlation matrix R in what is left. Classifiers are taken to be as alike in skill as they are in
what is left of their mistakes: two that never disagree have one skill. With normal skills and
errors, both of covariances in proportion to R, the posterior is normal, shrinks each classifier as
if it were alone, and has the correlation R. So it is drawn for every P(psi): the posterior of each
classifier alone, and R between them. Where P(psi) says nothing, differences have the law of the
paired comparison, because ``lambda lambda' + R`` is the correlation of the answers. Were the skills
of relatives taken for independent instead, the best of many near-clones would hardly be shrunk, and
be too good.

``tests/leaderboard/test_responses_posterior.py`` compares with linear algebra and with the exact
paired comparison.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.items.correlation import ResponseCorrelation
from bayes_sota.leaderboard.entries import EntryDraws
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel
from bayes_sota.leaderboard.posterior import expected_best, few_points, find_cells

JOINT = 200  # classifiers drawn together; the others are too far below to be the best
_REPEATS = 4  # draws per set of parameters
_BLOCK = 48  # sets of parameters at a time
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

    entries: IntArray
    relative: FloatArray

    @staticmethod
    def common_fields(
        board: Leaderboard, scores: FloatArray, found: ResponseCorrelation
    ) -> dict[str, Any]:
        """Fields of the modelled classifiers of a board that every such kernel has."""
        base = ScoreKernel.of(board)
        order = np.argsort(scores, kind="stable")
        entries = order[base.modelled[order]][-JOINT:]
        return {
            "board": board,
            "modelled": np.isin(np.arange(order.size), entries),
            "values": scores[entries] * base.law.unit,
            "copies": found.weights[entries],
            "value_of_entry": np.arange(entries.size),
            "y": base.y,
            "law": base.law,
            "entries": entries,
            "relative": found.loadings[entries] / found.rho,
        }

    def own_variance(self, rho: float) -> FloatArray:
        """Variance of each score's error that the leaders do not share, in units of its own."""
        return np.asarray(1 - np.clip(self.relative * rho, 0, 0.99) ** 2)

    @abstractmethod
    def shift_scale(self) -> FloatArray:
        """Standard error of each classifier's score over that of the law, (m,)."""

    @abstractmethod
    def draw_alone(
        self, entries: IntArray, loading: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Psi of classifiers that are not modelled, from their scores alone, (D, k)."""

    @abstractmethod
    def new_scores(self, skill: FloatArray, normal: FloatArray, n_test: int) -> FloatArray:
        """Scores of the modelled classifiers on fresh items, given normal errors, (D, U)."""

    @abstractmethod
    def winner_new_score(
        self, skill: FloatArray, n_test: int, rng: np.random.Generator
    ) -> FloatArray:
        """Score of the winner on fresh items, (D,)."""


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
        Skill of each classifier, jointly; negative where a lower score is better.
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

    def draw(
        self, draws: int, rng: np.random.Generator
    ) -> tuple[dict[str, FloatArray], FloatArray]:
        """All shared quantities but the new scores, and the skills of all classifiers."""
        sets = -(-draws // _REPEATS)
        psi, rho, expected = [], [], []
        for r, f, points in self.fit.choose(sets, rng):
            rho_node = float(self.fit.rho[r])
            table = np.exp(self.kernel.log_kernel(rho_node))
            reach = self.kernel.reach(rho_node) if self.kernel.is_cut else 1.0
            cell = np.array([r, r + 1]) / self.fit.rho.size
            for start in range(0, len(points), _BLOCK):
                density = self.fit.density(self.fit.families[f], points[start : start + _BLOCK])
                psi.append(self.draw_conditional(density, table, rng))
                best = expected_best(density * reach, self.kernel.copies.sum(), self.kernel.psi)
                expected.append(np.repeat(best, _REPEATS))
                uniform = rng.uniform(cell[0], cell[1], len(psi[-1]))
                rho.append(self.fit.priors.correlation.quantile(uniform))
        order = rng.permutation(sets * _REPEATS)[:draws]
        rhos, shift = np.concatenate(rho)[order], rng.standard_normal(draws)
        best = self.kernel.remove_shift(np.concatenate(expected)[order], rhos * shift)
        skill = self._all_skills(np.concatenate(psi)[order], rhos, shift, rng)
        values = {"rho": rhos, "shift": shift, "expected_sota": best}
        return values | self._leading(skill, rng), skill

    def draw_conditional(
        self, density: FloatArray, table: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Board-conditional skills, four per row of densities, (4 N, U)."""
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
        alone = np.flatnonzero(~kernel.modelled)
        if alone.size:  # flat and not shrunk: P(psi) is not fitted to them
            skill[:, alone] = kernel.draw_alone(alone, relative[:, alone], rng)
        return kernel.remove_shift(skill, relative * shift[:, None] * kernel.shift_scale())

    def _leading(self, skill: FloatArray, rng: np.random.Generator) -> dict[str, FloatArray]:
        """theta_sota and what else follows from the skills."""
        kernel = self.kernel
        assert kernel.board.scores is not None
        theta = skill[:, kernel.entries].max(axis=1)
        tied = kernel.entries[kernel.values >= kernel.values[-1]]
        winner = skill[np.arange(len(skill)), rng.choice(tied, len(skill))]
        ordered = np.sort(kernel.board.scores)
        above = ordered.size - np.searchsorted(ordered, theta, side="right")
        return {
            "theta_sota": theta,
            "winner_skill": winner,
            "n_above_sota": above.astype(np.float64),
            "n_classifiers": np.full(len(skill), float(ordered.size)),
        }

    def best_new_score(
        self, skill: FloatArray, n_test: int, rng: np.random.Generator
    ) -> FloatArray:
        """Best score of the modelled classifiers on fresh items that all of them answer, (D,)."""
        loadings = self.found.loadings[self.kernel.entries]
        own = np.sqrt(1 - loadings**2)
        error = rng.standard_normal(skill[:, self.kernel.entries].shape)
        error = own * (error @ self.factor.T)
        error += loadings * rng.standard_normal((len(skill), 1))
        new = self.kernel.new_scores(skill[:, self.kernel.entries], error, n_test)
        return np.asarray(new.max(axis=1))

    def reasons(self) -> Iterator[str]:
        """Why the importance sample cannot be trusted."""
        yield from few_points(self.fit)

    def notes(self, names: tuple[str, ...]) -> Iterator[str]:
        """What was left out of the fit, and near-clones."""
        kernel = self.kernel
        if kernel.entries.size < kernel.modelled.size:
            yield (
                f"P(theta) is fitted to the best {kernel.entries.size} of {kernel.modelled.size} "
                "classifiers; the others are too far below to be the best"
            )
        for family in self.found.families:
            members = [names[j] for j in family if kernel.modelled[j]]
            if len(members) > 1:
                yield f"near-clones, counted as fewer classifiers: {', '.join(members)}"


def _invert_rows(cdf: FloatArray, level: FloatArray, y: FloatArray) -> FloatArray:
    """Where each row of cdfs, (N, G), reaches its levels, (N, k); linear within a cell."""
    cdf = cdf / np.maximum(cdf[:, -1:], _TINY)
    index = find_cells(cdf, level)
    upper = np.take_along_axis(cdf, index, axis=1)
    lower = np.where(index > 0, np.take_along_axis(cdf, np.maximum(index - 1, 0), axis=1), 0.0)
    share = np.clip((level - lower) / np.maximum(upper - lower, _TINY), 0, 1)
    return np.asarray(y[index] + (share - 0.5) * (y[1] - y[0]))
