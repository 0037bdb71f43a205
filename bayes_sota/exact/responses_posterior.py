r"""Posterior of the true state of the art from the answers of several classifiers to every item.

The model of ``leaderboard_posterior``, with the dependence taken from the items:

.. math:: \psi_j \sim P(\psi \mid \phi), \quad x_j \mid \psi_j \sim \text{variance }
          (1-\lambda_j^2)\, sd_j^2, \quad \theta_j = \psi_j - \lambda_j\, sd_j\, z, \quad
          z \sim N(0, 1)

``lambda_j`` is learnt (``response_correlation``), the shift ``z`` is not: no number of classifiers
can tell whether the items were easy, so an interval keeps rho times the width of a single score's.
What is left of the errors has the correlation matrix R, families of near-clones and all.

Classifiers are taken to be as alike in skill as they are in what is left of their mistakes: two
that never disagree have one skill. With normal skills and errors, both of covariances in proportion
to R, the posterior is normal, shrinks each classifier as if it were alone, and has the correlation
R. So it is drawn for every P(psi): the posterior of each classifier alone, and R between them.
Where P(psi) says nothing, differences have the law of the paired comparison, because
``lambda lambda' + R`` is the correlation of the answers. Were the skills of relatives taken for
independent instead, the best of many near-clones would hardly be shrunk, and be too good.

``tests/exact/test_responses_posterior.py`` compares with linear algebra, with the exact paired
comparison, and with the truth of real response matrices; docs/responses.md has what was measured.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import MISSING, Responses
from bayes_sota.errors import InputError
from bayes_sota.exact.entry_skills import EntryDraws
from bayes_sota.exact.field_fit import FieldFit, fit_field
from bayes_sota.exact.response_correlation import (
    ResponseCorrelation,
    learn_correlation,
    response_correlation,
)
from bayes_sota.exact.score_kernel import ScoreKernel
from bayes_sota.priors import BoardPriors
from bayes_sota.skill_distributions import FloatArray, expit

__all__ = ["ResponsesPosterior", "responses_posterior"]

_REPEATS = 4  # draws per set of parameters
_BLOCK = 48  # sets of parameters at a time
_JOINT = 200  # classifiers drawn together; the others are too far below to be the best
_LEAST_EFFECTIVE, _LEAST_MISTAKES = 100.0, 5
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

    @cached_property
    def entries(self) -> EntryDraws:
        """Draws of all classifiers with their ranks, P(best) and comparison with the leader."""
        leader = int(np.argmax(self.responses.scores))
        not_below = np.mean(self.skill >= self.skill[:, [leader]], axis=0)
        alone = np.arange(self.skill.shape[1])[:, None]
        return EntryDraws(
            self.skill.astype(np.float32), self.draws["rho"], self.draws["shift"],
            self.p_best, not_below, (alone,),
        )  # fmt: skip

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
    """One score per classifier, each with its own number of answers and loading."""

    entries: NDArray[np.int64]
    right: FloatArray
    size: FloatArray
    relative: FloatArray

    @classmethod
    def of_responses(
        cls, responses: Responses, found: ResponseCorrelation, effect: float
    ) -> "_ResponseKernel":
        """Kernel of the modelled classifiers, worst first."""
        n = max(2, round(float(np.median(responses.totals)) / effect))
        board = Leaderboard(
            np.round(responses.scores * n) / n, n_test=n, rounding="exact", percent=False
        )
        base = ScoreKernel.of(board)
        order = np.argsort(responses.scores, kind="stable")
        entries = order[base.modelled[order]][-_JOINT:]
        modelled = np.isin(np.arange(order.size), entries)
        size = responses.totals[entries] / effect
        return cls(
            board, modelled, responses.scores[entries] * n, found.weights[entries],
            np.arange(entries.size), base.y, base.law,
            entries, responses.scores[entries] * size, size, found.loadings[entries] / found.rho,
        )  # fmt: skip

    def own_variance(self, rho: float) -> FloatArray:
        """Variance of each score's error that the leaders do not share, in units of its own."""
        return np.asarray(1 - np.clip(self.relative * rho, 0, 0.99) ** 2)

    def log_kernel(self, rho: float) -> FloatArray:
        """Log probability of each score at the grid, at most 0, shape (U, G)."""
        log_right, log_wrong = -np.logaddexp(0, -self.y), -np.logaddexp(0, self.y)
        fit = self.right[:, None] * log_right + (self.size - self.right)[:, None] * log_wrong
        return np.asarray((fit - fit.max(axis=1, keepdims=True)) / self.own_variance(rho)[:, None])

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part, shape (G,), at the typical loading."""
        return super().reach(float(np.sqrt(1 - np.mean(self.own_variance(rho)))), level)

    def reaches(self, rho: float) -> FloatArray:
        """Probability that each classifier's score is in the modelled part, shape (U, G).

        With its own variance, as in ``log_kernel``: far below the cut the two fall together.
        """
        from scipy.special import betainc

        own = self.own_variance(rho)
        cut = self.values[0] / self.board.n_test * self.size
        above = np.maximum((cut - 0.5) / own + 0.5, 0.5)
        below = (self.size - cut + 0.5) / own + 0.5
        return np.asarray(betainc(above[:, None], below[:, None], self.psi))


class _Sampler:
    """Joint draws of all modelled classifiers' skills, given the parameters of P(psi)."""

    def __init__(self, kernel: _ResponseKernel, fit: FieldFit, found: ResponseCorrelation) -> None:
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
        best = self._without_shift(np.concatenate(expected)[order], rhos * shift)
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
        return np.asarray(expit(y.transpose(0, 2, 1).reshape(-1, classifiers)))

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
        return self.kernel.remove_shift(psi, shift * scale)

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
        error = own * (error @ self.factor.T)
        error += loadings * rng.standard_normal((len(skill), 1))
        angle = np.arcsin(np.sqrt(skill[:, self.kernel.entries])) + error / (2 * np.sqrt(effective))
        new = np.sin(np.clip(angle, 0, np.pi / 2)) ** 2
        return np.asarray(np.round(new.max(axis=1) * size) / size)


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
