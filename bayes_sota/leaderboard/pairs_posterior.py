"""Posterior of every team's skill, and of the best one, from two boards of the same teams.

The engine of whole boards (``leaderboard.fit``) on the tables of ``leaderboard.pairs``, at nodes of
the noise. ``y - x`` does not depend on psi: it informs delta, the share of wide residuals, and the
size of the errors where they are not given. ``tests/leaderboard/test_pairs.py`` compares with
closed forms, ``tests/leaderboard/test_pairs_posterior.py`` checks coverage.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp, ndtr, softmax

from bayes_sota.core.inference import Nodes, Parameters, infer
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.anchors import known_skills, shift_given
from bayes_sota.leaderboard.evidence import TINY, Tables
from bayes_sota.leaderboard.fit import FAMILIES, FieldFit, infer_enough
from bayes_sota.leaderboard.pairs import (
    Noise,
    Pairs,
    draw_alone,
    draw_rows,
    draw_scores,
    normal_density,
    reach_at,
    table_at,
)
from bayes_sota.leaderboard.skills import prior_grid
from bayes_sota.maximum.score_laws import score_law

_POINTS, _QUICK_POINTS, _CELL = 200, 50, 50  # per coordinate of a shape; draws at a time
_QUICK, _RATIOS = ("normal",), np.linspace(-2.4, 2.4, 13)  # shape and ratios that are tried first
_OUTLIERS = (-4.0, 1.5)  # mean and sd of the log odds of a wide residual, a priori
_ODDS = np.linspace(-2.5, 2.5, 11)  # of a wide residual, in sd of its log odds from their mean
_SHARES = expit(_OUTLIERS[0] + _OUTLIERS[1] * _ODDS)
_LOG_SHARES = (-0.5 * _ODDS**2 - logsumexp(-0.5 * _ODDS**2))[:, None]  # prior, (E, 1)
_RATIO_SD = 0.6  # of the logarithm of private over public standard deviation, a priori
_MOST_LUCK, _MOST_CREDIBLE = 0.98, 0.95  # lambda; had luck chosen from what was made beforehand
_LEAST_OFFSET = 0.01  # of a standard error, where rho is nearly 0
_RHO = (np.arange(41) + 0.5) / 41  # levels of the prior of rho that the differences do not tell
# coordinates: rho, size and ratio of both errors, lambda; where each is sought
_SOUGHT = [
    np.linspace(-3.5, 3.5, 57),
    np.linspace(-1.2, 0.8, 41),
    np.zeros(1),
    np.linspace(-2.5, 2.5, 11),
]
_RATIO = 2
_LEAST_SPACING = 0.03
type Draws = dict[str, NDArray[Any]]


def noise_at(pairs: Pairs, z: FloatArray) -> Noise:
    """Noise at standard normal coordinates (N, 4), without shift and outliers."""
    rho, size, ratio, luck = z.T
    luck = np.clip(pairs.priors.submission_luck.quantile(ndtr(luck)), 0, _MOST_LUCK)
    luck = luck * pairs.has_luck
    if pairs.errors is None:
        ratio = np.exp(_RATIO_SD * ratio)
        public = pairs.base_sd * np.exp(size) / np.hypot(1, ratio)
        return Noise(public, public * ratio, np.nan * rho, luck, 0 * rho, 0 * rho)
    rho = np.clip(pairs.priors.correlation.quantile(ndtr(rho)), 1e-4, 1 - 1e-6)
    public, private = (s * np.sqrt(1 - rho**2) for s in pairs.errors)
    return Noise(public, private, rho, luck, 0 * rho, 0 * rho)


def shift_prior(
    pairs: Pairs, noise: Noise, shift: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rho, the sd of delta, and log prior weight times density of delta, (N, K) each."""
    rho, offsets = np.asarray(noise.rho)[..., None], pairs.priors.offsets
    if pairs.errors is None:
        rho = pairs.priors.correlation.quantile(_RHO)
    offset = np.maximum(np.tile(offsets, rho.shape[-1]), _LEAST_OFFSET)
    rho = np.repeat(rho, len(offsets), axis=-1)
    sd = np.asarray(noise.difference_sd)[..., None] / np.sqrt(1 - rho**2) * np.hypot(rho, offset)
    log_p = -0.5 * (shift[:, None] / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi) * sd.shape[-1])
    return np.broadcast_to(rho, log_p.shape), np.broadcast_to(sd, log_p.shape), log_p


def shift_posterior(pairs: Pairs, noise: Noise, nodes: int = 49) -> tuple[FloatArray, FloatArray]:
    """Values of delta (S,), and log joint density of the differences with them, (E, S)."""
    d = pairs.differences(noise)
    grid = np.median(d) + np.linspace(-6, 6, nodes) * noise.difference_sd / np.sqrt(d.size)
    prior = logsumexp(shift_prior(pairs, noise, grid)[2], axis=1)
    shares = noise._replace(outliers=_SHARES)
    return grid, _log_differences(pairs, shares, d - grid[:, None]) + prior + _LOG_SHARES


def _log_differences(pairs: Pairs, noise: Noise, away: FloatArray) -> FloatArray:
    weight, first, second = pairs.parts(noise, pairs.kind[: pairs.n_counted])
    density = np.tensordot(weight.T, normal_density(away, (first + second)[:, None]), 1)
    return np.log(np.maximum(density, TINY)).sum(axis=-1)


@dataclass(frozen=True, eq=False)
class NoiseNodes:
    """Nodes of the noise: a lattice ``z`` (R, 4) around the values that the differences support.

    ``p`` (R, E, S) is the joint posterior of the share of wide residuals and delta, at values
    ``grid`` (R, S); ``log_prior`` (R,) the prior mass of each cell with the evidence of the
    differences.
    """

    pairs: Pairs
    z: FloatArray
    spacing: FloatArray
    noise: Noise
    grid: FloatArray
    p: FloatArray
    log_prior: FloatArray

    @classmethod
    def of(cls, pairs: Pairs, lines: Sequence[FloatArray], nodes: int = 49) -> "NoiseNodes":
        z = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, len(lines))
        spacing = np.array([line[1] - line[0] if line.size > 1 else 0.0 for line in lines])
        noise, free = noise_at(pairs, z), spacing > 0
        told = [shift_posterior(pairs, noise.at(r), nodes) for r in range(len(z))]
        grid, log_joint = (np.stack(values) for values in zip(*told, strict=True))
        log_evidence = logsumexp(log_joint, axis=(1, 2))
        p = np.exp(log_joint - log_evidence[:, None, None])
        shift, share = np.einsum("res,rs->r", p, grid), np.einsum("res,e->r", p, _SHARES)
        log_prior = log_evidence + np.log((grid[:, 1] - grid[:, 0]) * len(z))
        cells = normal_density(z[:, free], np.ones(1)) * spacing[free]
        log_prior += np.log(cells).sum(axis=1)
        noise = noise._replace(shift=shift, outliers=share)
        return cls(pairs, z, spacing, noise, grid, p, log_prior)

    def draw(self, node: IntArray, rng: np.random.Generator) -> tuple[Noise, FloatArray]:
        """Noise within the cells of nodes, and its log prior density without delta's, (D,)."""
        z = self.z[node] + self.spacing * (rng.random((node.size, self.spacing.size)) - 0.5)
        joint = self.p.reshape(len(self.p), -1)[node]
        share, at = np.divmod(draw_rows(joint.T, rng), self.grid.shape[1])
        step = self.grid[node, 1] - self.grid[node, 0]
        shift = self.grid[node, at] + step * (rng.random(node.size) - 0.5)
        noise = noise_at(self.pairs, z)._replace(shift=shift, outliers=_SHARES[share])
        return noise, -0.5 * np.sum(z**2, axis=1, where=self.spacing > 0)


@dataclass(frozen=True, eq=False)
class PairFit(FieldFit):
    """Two boards at nodes of their noise, with weighted points of the shapes' parameters.

    ``extra`` (R,) is the log prior of each node, with the evidence of the differences beyond that
    of the scores.
    """

    evidence: Pairs  # type: ignore[assignment]
    noise_nodes: NoiseNodes
    extra: FloatArray

    @classmethod
    def of_pairs(cls, pairs: Pairs, families: tuple[str, ...] = BoardPriors().families) -> Self:
        """The fit before its parameters are sampled."""
        learnt, priors = pairs.errors is None, pairs.priors
        of_rho = not (learnt or priors.correlation.is_fixed)
        of_luck = pairs.has_luck and not priors.submission_luck.is_fixed
        free = np.array([of_rho, learnt, learnt, of_luck])
        lines = [np.unique(line * is_free) for line, is_free in zip(_SOUGHT, free, strict=True)]
        nodes = NoiseNodes.of(pairs, lines, 17)
        middle, sd = _moments(softmax(nodes.log_prior), nodes.z)
        sd = np.maximum(sd, _LEAST_SPACING)
        if free[_RATIO]:  # first by a quick fit: it may be known far better than before
            lines = [*middle[:, None]]
            lines[_RATIO] = _RATIOS
            empty = cls._at(NoiseNodes.of(pairs, lines), _QUICK)
            quick = infer(empty, np.random.default_rng(0), _QUICK_POINTS)
            middle[_RATIO], own = _moments(quick.node_weights, _RATIOS)
            sd[_RATIO] = max(own, (_RATIOS[1] - _RATIOS[0]) / 2)
        line = np.arange(-2.0, 3.0) if free.sum() < 3 else np.linspace(-1.2, 1.2, 3)
        lines = [np.unique(m + s * line) for m, s in zip(middle, sd * free, strict=True)]
        return cls._at(NoiseNodes.of(pairs, lines), families)

    @classmethod
    def _at(cls, nodes: NoiseNodes, families: tuple[str, ...]) -> Self:
        noise, pairs = nodes.noise, nodes.pairs.on_grid(nodes.noise)
        each = [noise.at(r) for r in range(len(nodes.z))]
        told = [_log_differences(pairs, one, pairs.differences(one) - one.shift) for one in each]
        of_noise = pairs.priors.correlation, pairs.priors.submission_luck
        weighed = Nodes(*of_noise, np.nan_to_num(noise.rho), noise.luck)
        known = pairs, BoardPriors(), pairs.copies, FAMILIES
        extra = nodes.log_prior - np.concatenate(told)
        return cls(weighed, families, (), "nodes", *known, nodes, extra)

    @cached_property
    def tables(self) -> tuple[Tables, ...]:
        noise = self.noise_nodes.noise
        return tuple(table_at(self.evidence, noise.at(r)) for r in range(self.rho.size))

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        return super().log_likelihood(family, points) + self.extra

    def log_likelihood_sought(self, family: str, points: FloatArray) -> FloatArray:
        return super().log_likelihood_sought(family, points) + self.extra[self.sought[0]]


def _moments(weight: FloatArray, values: FloatArray) -> tuple[Any, Any]:
    mean = weight @ values
    return mean, np.sqrt(weight @ (values - mean) ** 2)


@one_thread()
def fit_pairs(pairs: Pairs, rng: np.random.Generator) -> PairFit:
    """Fit every shape of whole boards to two boards of the same teams."""
    return infer_enough(PairFit.of_pairs(pairs), rng, _POINTS)


@one_thread()
def draw_psi(
    fit: PairFit, parameters: Parameters, rng: np.random.Generator
) -> tuple[Noise, FloatArray, FloatArray, FloatArray]:
    """Noise, its log prior (D,), psi and the probability of unusual residuals, (D, k)."""
    pairs, nodes, node, count = fit.evidence, fit.noise_nodes, parameters.node, fit.copies.size
    noise, log_prior = nodes.draw(node, rng)
    psi, unusual = np.empty((2, node.size, pairs.kind.size))
    for some, of_some in blocks(noise):
        psi[some], unusual[some] = draw_alone(pairs, of_some, rng)
    moved = (noise.shift - nodes.noise.shift[node]) * (noise.private_sd / noise.difference_sd) ** 2
    more = pairs.expected(noise.at((slice(None), None)), pairs.kind[:count])[1] + moved[:, None]
    for r, f, draws in parameters.cells(fit, _CELL):
        points, at = np.unique(parameters.points(fit, draws), axis=0, return_inverse=True)
        density = fit.density(fit.families[f], points)
        cdf = np.cumsum(density[:, None] * fit.tables[r].score, axis=2).reshape(-1, pairs.y.size)
        rows = at.reshape(-1, 1) * count + np.arange(count)
        y = invert_rows(cdf, rng.random(rows.shape), pairs.y, rows)
        psi[draws, :count] = pairs.of_grid(y) + more[draws]
    log_prior += logsumexp(shift_prior(pairs, noise, noise.shift)[2], axis=1)
    return noise, log_prior, psi, unusual


def estimands_of(
    pairs: Pairs,
    noise: Noise,
    psi: FloatArray,
    winner: Any,
    rng: np.random.Generator,
    board: Leaderboard | None = None,
) -> Draws:
    """All that is reported, in units of the scores, (D,), and of each team (D, k).

    ``public_gain`` is how much public scores exceed their expectation given the private ones and
    the luck of submissions; ``score_shift`` is the shift at the public ``winner``.
    """
    score, draw = pairs.to_score, np.arange(len(psi))
    rho, sd, log_weight = shift_prior(pairs, noise, noise.shift)
    source = draw_rows(softmax(log_weight, axis=1).T, rng)
    rho, sd = rho[draw, source], sd[draw, source]
    public_se, private_se = (v / np.sqrt(1 - rho**2) for v in noise[:2])
    if pairs.errors is not None:  # as given, to the last digit: figures bin draws that differ
        public_se, private_se = (np.full(rho.size, error) for error in pairs.errors)
    shared = rho * private_se
    z, variance = shared / sd**2 * noise.shift, np.maximum(1 - (shared / sd) ** 2, 0)  # given delta
    if board is not None:
        law = score_law(board)
        mean, left = shift_given(board, law, rho)
        total = left**2 + variance * (1 - left**2)  # both tell z, N(0, 1) before
        z, variance = (left**2 * z + variance * mean) / total, variance * left**2 / total
    z += np.sqrt(variance) * rng.standard_normal(rho.size)
    theta = psi - (shared * z)[:, None]
    new = theta + (shared * rng.standard_normal(rho.size))[:, None]
    new += rng.standard_normal(theta.shape) * noise.private_sd[:, None]
    skill, first = score(theta), (draw, winner)
    if board is not None:
        which, teams = np.nonzero(board.anchors.entry[:, None] == pairs.kept)
        drawn, variance = skill[:, teams], score(psi[:, teams]).var(axis=0)
        skill[:, teams] = known_skills(board.anchors, law, which, drawn, variance, rng)
    best = np.argmax(psi if board is None else skill, axis=1)
    public, private = pairs.expected(noise.at((slice(None), None)), pairs.kind)
    x, y = pairs.observed.T
    lucky = {"submission_luck": noise.luck, "submission_slope": pairs.slope(noise)}
    return {
        "skill": skill,
        "expected_private": score(psi),
        "public_gain": score(x) - score(y + public - private),
        "best": best,
        "theta_sota": skill[draw, best],
        "winner_skill": skill[first],
        "winner_new_score": score(new[first]),
        "best_new_score": score(new.max(axis=1)),
        "score_shift": score(psi[first]) - score(psi[first] - noise.shift),
        "rho": rho,
        "public_se": public_se,
        "private_se": private_se,
        "residual_sd": noise.difference_sd,
        "noise_ratio": noise.private_sd / noise.public_sd,
        "outliers": noise.outliers,
        "board_shift": noise.shift,
        **(lucky if pairs.has_luck else {}),
    }


def draw_prior(
    fit: PairFit, draws: int, rng: np.random.Generator
) -> tuple[Parameters, Noise, FloatArray, FloatArray]:
    """Parameters, noise, psi (D, k) and scores (D, k, 2) from the prior, with the known slope."""
    parameters = Parameters.from_prior(fit, np.zeros(draws, np.int64), rng)
    pairs, y = fit.evidence, prior_grid(fit)
    density, u = np.empty((draws, y.size)), pairs.of_grid(y)
    for _, f, rows in parameters.cells(fit):
        density[rows] = fit.shape_of(fit.families[f], parameters.points(fit, rows), y)[0]
    noise = noise_at(pairs, rng.standard_normal((draws, len(_SOUGHT))))
    _, sd, _ = shift_prior(pairs, noise, noise.shift)
    shift = sd[np.arange(draws), rng.integers(sd.shape[1], size=draws)] * rng.standard_normal(draws)
    outliers = expit(_OUTLIERS[0] + _OUTLIERS[1] * rng.standard_normal(draws))
    noise = noise._replace(shift=shift, outliers=outliers)
    psi, scores = np.empty((draws, pairs.kind.size)), np.empty((draws, pairs.kind.size, 2))
    for some, of_some in blocks(noise):
        cdf = np.cumsum(density[some, None] * reach_at(pairs, of_some, u), axis=2)
        row = np.arange(len(cdf))[:, None] * cdf.shape[1] + pairs.kind
        at = invert_rows(cdf.reshape(-1, y.size), rng.random(row.shape), y, row)
        psi[some] = pairs.of_grid(at) + pairs.expected(of_some, pairs.kind)[1]
        scores[some] = draw_scores(pairs, of_some, psi[some], rng)
    return parameters, noise, psi, scores


def blocks(noise: Noise) -> Iterator[tuple[slice, Noise]]:
    """Some draws at a time, with their noise (D, 1)."""
    for start in range(0, noise.shift.size, _CELL):
        yield (some := slice(start, start + _CELL)), noise.at((some, None))


def reasons_of(fit: PairFit, noise: Noise) -> Iterator[str]:
    """Reasons not to trust a result."""
    yield from fit.doubts
    pairs, middle = fit.evidence, float(np.median(noise.luck))
    if pairs.errors is not None:
        allowed = float(np.hypot(*pairs.errors))
        if pairs.base_sd > 1.15 * allowed * (1 + 2 / np.sqrt(pairs.kind.size)):
            yield (
                f"differences of the teams have the robust standard deviation {pairs.base_sd:.3g}, "
                f"more than the {allowed:.3g} that the standard errors allow at rho = 0"
            )
    if middle > _MOST_CREDIBLE:
        yield (
            f"lambda is learnt as {middle:.2f}, near 1: public scores rise with the number of "
            "submissions as if teams adapt to the public board, which the model does not allow for"
        )
