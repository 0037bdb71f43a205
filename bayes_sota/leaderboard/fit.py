"""Posterior of the families' parameters, at each value of rho, by importance sampling.

The distinct scores of a board stand against a grid of board-conditional skill (``score_laws``). rho
keeps its prior: the posterior of everything else is computed at each of a few equally likely values
of rho, and each value keeps its prior weight (a cut, done exactly, because the nodes are summed).
What the scores would say about rho, were it learnt, is kept beside it as ``log_evidence``.
``tests/leaderboard/test_posterior.py`` has the second route, ``test_score_kernel.py`` the laws.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, log_ndtr, pdtrc

from bayes_sota.core.inference import Fit, Nodes, Parameters, infer
from bayes_sota.core.numerics import WeightedPoints, invert_rows, one_thread
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.shapes import (
    FAMILIES,
    FieldScale,
    Operations,
    SkillFamily,
    operations_of,
)
from bayes_sota.maximum.score_laws import ScoreLaw, entry_values, score_law

_LEAST, _PER_ROOT, _STANDARD_ERRORS = 10, 3.0, 4.0
_MOST_VALUES, _MOST_NODES = 400, 2000


def modelled_entries(law: ScoreLaw, board: Leaderboard) -> NDArray[np.bool_]:
    """Entries that the skill distribution is fitted to: the top part of the board.

    An entry more than four standard errors below the best cannot be the best, and its distance
    says little about the upper edge: failed and abandoned entries follow other laws. So the model
    conditions on the entries within four standard errors of the best score, but always on the
    best ``max(10, 3 sqrt(m))``, the intermediate order statistics that inform an upper tail.
    Where entries have errors of their own, the four are of an entry's and the best's error, and
    all with a higher score belong to the model too.

    Returns
    -------
    ndarray of bool, shape (m,)
    """
    scores, ratio = board.scores, board.error_ratios
    least = int(max(_LEAST, np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    if least >= scores.size:
        return np.ones(scores.size, bool)
    own = 1.0 if ratio is None else np.sqrt((ratio**2 + ratio[np.argmax(scores)] ** 2) / 2)
    near = law.depth(scores) <= _STANDARD_ERRORS * own
    return scores >= min(scores[near].min(), np.sort(scores)[-least])


@dataclass(frozen=True, eq=False)
class ScoreKernel:
    """Distinct scores of the modelled entries against a grid of board-conditional skill.

    Attributes
    ----------
    board : Leaderboard
    modelled : ndarray of bool, shape (m,)
        Entries of the modelled part.
    values : ndarray, shape (U,)
        Distinct scores times the law's unit, increasing: success counts (middle of what prints
        alike), or scores.
    copies : ndarray, shape (U,)
        Number of entries with each.
    value_of_entry : ndarray of int, shape (modelled entries,)
        Index into ``values``.
    y : ndarray, shape (G,)
        Grid, equally spaced log odds (or standardised scores).
    law : ScoreLaw
        What a score says about psi.
    kind : ndarray of int, shape (U,)
        Kind of entry behind each value: those of a kind have laws that differ by the score alone.
    kinds : ndarray of int, shape (m,)
        Kind of every entry of the board.
    """

    board: Leaderboard
    modelled: NDArray[np.bool_]
    values: FloatArray
    copies: FloatArray
    value_of_entry: IntArray
    y: FloatArray
    law: ScoreLaw
    kind: IntArray
    kinds: IntArray

    @classmethod
    def of(cls, board: Leaderboard) -> "ScoreKernel":
        """Kernel of a full or partial leaderboard."""
        law, values = score_law(board), entry_values(board)
        modelled = modelled_entries(law, board)
        values, index, copies = np.unique(values[modelled], return_inverse=True, return_counts=True)
        if values.size > _MOST_VALUES:
            values, index, copies = _binned(values, index, copies)
        law = law.fitted_to(values)
        y = skill_grid(law, values, complete=bool(modelled.all()) and not board.is_partial)
        kind, kinds = np.zeros(values.size, np.int64), np.zeros(modelled.size, np.int64)
        return cls(board, modelled, values, copies.astype(float), index, y, law, kind, kinds)

    def under(self, board: Leaderboard) -> Self:
        """The same entries under the law of a board that differs in the errors of scores alone."""
        law = score_law(board).fitted_to(self.values)
        y = skill_grid(law, np.sort(self.values), complete=not self.is_cut)
        step = float(y[1] - y[0])
        y = np.arange(min(y[0], self.y[0]), y[-1] + step / 2, step)
        return replace(self, board=board, law=law, y=y)

    @property
    def step(self) -> float:
        """Grid step."""
        return float(self.y[1] - self.y[0])

    @cached_property
    def psi(self) -> FloatArray:
        """Board-conditional skill at the grid, in the units of the scores."""
        return self.law.skill_at(self.y)

    @property
    def is_cut(self) -> bool:
        """Whether entries below the modelled part exist, seen or hidden."""
        return not self.modelled.all() or self.board.is_partial

    @property
    def n_below(self) -> float:
        """Number of entries below the modelled part, seen or hidden."""
        entries = max(float(self.modelled.size), self.board.typical_tries)
        return entries - float(self.modelled.sum())

    @cached_property
    def prepared(self) -> Any:
        """What the law makes of the scores at the grid."""
        return self.law.prepared(self.values, self.y)

    def variances(self, rho: float) -> FloatArray:
        """Variance that is a score's own, in units of the law's, (1,) or (U,)."""
        return np.array([1 - rho**2])

    def log_kernel(self, rho: float) -> FloatArray:
        """Log probability of each distinct score, shape (U, G); constants left out."""
        return self.log_kernel_at(self.variances(rho)[:, None])

    def log_kernel_at(self, variance: FloatArray | float) -> FloatArray:
        """The same where a score's own variance is given, in units of the law's."""
        return self.law.log_kernel(self.prepared, variance)

    def table(self, rho: float) -> FloatArray:
        """Probability of each distinct score relative to its highest, shape (U, G)."""
        return relative_to_highest(self.log_kernel(rho))

    def all_log_kernel(self, entries: NDArray[np.bool_], rho: float) -> FloatArray:
        """The same for other entries of the board, one row each."""
        prepared = self.law.prepared(entry_values(self.board)[entries], self.y)
        return self.law.log_kernel(prepared, 1 - rho**2)

    def log_mass(self, rho: float) -> FloatArray:
        """Logarithm of what ``log_kernel`` leaves out of a score's probability (density), (U,)."""
        return self.law.log_mass(self.values, self.variances(rho))

    @property
    def scores(self) -> FloatArray:
        """Observed scores of all entries, (m,)."""
        return self.board.scores

    @property
    def error_ratio(self) -> float:
        """Standard error of a typical score over that of the law."""
        return 1.0

    @property
    def has_luck(self) -> bool:
        """Whether scores were chosen among submissions, so that their luck counts."""
        return False

    def with_luck(self, luck: float) -> "ScoreKernel":
        """The same where luck chose among submissions so far; here there was nothing to choose."""
        return self

    @property
    def leads(self) -> NDArray[np.bool_]:
        """Entries that nothing tells from the leader, (m,)."""
        return self.alike == self.alike[self.board.order[0]]

    @cached_property
    def alike(self) -> IntArray:
        """A number for each entry, the same for those that nothing tells apart, (m,)."""
        pairs = np.stack([self.scores, self.kinds], axis=1)
        return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()

    @cached_property
    def shared(self) -> tuple[IntArray, FloatArray]:
        """Where each distinct score is among those of ``expected``, and how many entries have it.

        Values that are means of bins hold several scores, each with its own entries.
        """
        values = entry_values(self.board)[self.modelled]
        _, first, count = np.unique(values, return_index=True, return_counts=True)
        return self.value_of_entry[first], count.astype(float)

    def pooled(self, numbers: FloatArray) -> FloatArray:
        """Sums over values with the same score of numbers of entries."""
        return numbers

    def unpooled(self, numbers: FloatArray) -> FloatArray:
        """Numbers of entries with the same score, shared among its values."""
        return numbers

    def expected(self, copies: FloatArray, density: FloatArray, rho: float) -> FloatArray:
        """Expected number of entries with each score, (N, scores), if there are so many of them."""
        mass = np.exp(self.log_kernel(rho) + self.log_mass(rho)[:, None])
        reach = np.maximum(density @ self.reach_or_one(rho), _TINY)
        return copies.sum() * (density @ mass.T) / reach[:, None]

    def replicate(
        self, density: FloatArray, rho: float, row: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Scores of fresh entries of the modelled part, one for each ``row`` of a density, (N, G).

        The last axis of ``row`` is the entries of one board.
        """
        psi = self.draw_psi(density * self.reach_or_one(rho), row, rng)
        return self.law.replicate(psi, 1 - rho**2, self.cut, rng)

    def draw_psi(self, mass: FloatArray, row: IntArray, rng: np.random.Generator) -> FloatArray:
        """Psi from rows of masses on the grid, (N, G), of the shape of ``row``."""
        cdf = np.cumsum(mass, axis=1)
        return self.law.skill_at(invert_rows(cdf, rng.random(row.shape), self.y, row))

    @property
    def cut(self) -> float | None:
        """Lowest value of the modelled part; None where that is the whole."""
        return float(self.values[0]) if self.is_cut else None

    def shown(self, scores: FloatArray) -> FloatArray:
        """Scores as the board shows them: such as can be, cut as its own are, (D, classifiers)."""
        possible, width = self.law.snapped(scores), self.board.printed_width
        if not width:
            return possible
        steps = np.round(1 / width)
        if self.board.rounding == "floor":
            return np.floor(possible * steps + 1e-6) / steps
        return np.round(possible * steps) / steps

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part (or of at least ``level``), shape (G,)."""
        cut = float(self.values[0] if level is None else level)
        return self.law.reach(self.psi, cut, float(self.variances(rho).mean()))

    def reaches(self, rho: float) -> FloatArray:
        """Probability of a score in the modelled part for each kind of entry, (K, G)."""
        cut = float(self.values[0])
        return self.law.reach(self.psi, cut, self.variances(rho)[:, None])

    def reach_or_one(self, rho: float) -> FloatArray:
        """Probability of a score in the modelled part, (G,): one where that is the whole."""
        return self.reach(rho) if self.is_cut else np.ones(self.y.size)


def relative_to_highest(log_rows: FloatArray) -> FloatArray:
    """Exponentials of rows of logarithms, each row divided by its largest."""
    return np.exp(log_rows - log_rows.max(axis=1, keepdims=True))


def _binned(values: FloatArray, index: IntArray, copies: Any) -> tuple[FloatArray, IntArray, Any]:
    """At most so many distinct values: the mean of those in one of equally wide bins."""
    edges = np.linspace(values[0], values[-1], _MOST_VALUES + 1)
    bins = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, _MOST_VALUES - 1)
    bins[-1] = bins[-2] + 1 if bins[-2] == bins[-1] else bins[-1]  # the best score stays itself
    used, compact = np.unique(bins, return_inverse=True)
    totals = np.bincount(compact, weights=copies, minlength=used.size)
    means = np.bincount(compact, weights=copies * values, minlength=used.size) / totals
    return means, compact[index], totals


def skill_grid(law: ScoreLaw, values: FloatArray, complete: bool, luck: float = 0.0) -> FloatArray:
    """Equally spaced, a sixth of the best score's standard error apart, with wide margins.

    ``luck`` is how many standard errors more the lowest of the skills may lie below its score.
    """
    places, errors = law.places(values)
    low = places[0] - ((4 if complete else 6) + luck) * min(errors[0], 1.0)
    high = places[-1] + 5 * min(errors[-1], 1.2)
    step = errors[-2:].min() / 6
    nodes = int(np.clip((high - low) / step, 60, _MOST_NODES))
    return np.linspace(low, high, nodes)


RHO_NODES = 7
_STRANGERS = 0.5  # entries of a board that belong to no shape, a priori
_ENOUGH = 150.0
_TINY = 1e-300
_LEAST_BETA = 1e-250  # of the incomplete beta function, which loses its digits further out
_SPIKE_TAIL, _SMALLEST_SPIKE, _MERGING_ROUNDS, _QUICK, _AGAIN = 0.01, 2, 4, 60, 2


@cache
def numpy_operations() -> Operations:
    """The array functions of ``shapes``, from NumPy and SciPy."""
    return operations_of(np, log_ndtr)


def assumed_nodes(kernel: ScoreKernel, priors: BoardPriors) -> Nodes:
    """Equally likely pairs of rho and of the luck of submissions."""
    return Nodes.of(priors.correlation, priors.submission_luck, RHO_NODES, has_luck=kernel.has_luck)


@dataclass(frozen=True, eq=False)
class Strangers:
    """The few entries that belong to no shape: a leader of another kind stays where it is.

    Their skills follow the wide prior of the field's place. Their share is one of the modelled
    part, at the largest rho: a shape that lies below the cut must still explain the crowd above,
    however closely scores follow skills.

    Attributes
    ----------
    share : float
        Half an entry of the modelled part.
    profile : ndarray, shape (G,)
        ``share`` times the density of their skills, given that they are in the modelled part.
    reach : ndarray, shape (G,), or None
        Probability of a score in the modelled part, times the grid step; None if all is modelled.
    """

    share: float
    profile: FloatArray
    reach: FloatArray | None

    @classmethod
    def of(cls, kernel: ScoreKernel, scale: FieldScale, rho: FloatArray) -> "Strangers":
        """Strangers of a board."""
        share = _STRANGERS / kernel.copies.sum()
        z = (kernel.y - scale.location) / scale.location_sd
        wide = np.exp(-0.5 * z**2) / (scale.location_sd * np.sqrt(2 * np.pi))
        if not kernel.is_cut:
            return cls(share, share * wide, None)
        reach = kernel.reach(float(rho[-1])) * kernel.step
        return cls(share, share * wide / max(float(wide @ reach), _TINY), reach)

    def join(self, shape: FloatArray) -> FloatArray:
        """Density of skill, (N, G), from that of the shape."""
        modelled = 1.0 if self.reach is None else (shape @ self.reach)[:, None]
        return (1 - self.share) * shape + modelled * self.profile


@dataclass(frozen=True, eq=False)
class FieldFit(Fit):
    """All scores of a board, with weighted parameters of every family at every value of rho.

    Attributes
    ----------
    kernel : ScoreKernel
    priors : BoardPriors
    copies : ndarray, shape (U,)
        Effective number of entries with each distinct score: spikes of identical submissions
        count as many as the model explains.
    scale : FieldScale
    strangers : Strangers
    """

    kernel: ScoreKernel
    priors: BoardPriors
    copies: FloatArray
    scale: FieldScale
    strangers: Strangers

    @classmethod
    def of(
        cls, kernel: ScoreKernel, priors: BoardPriors, nodes: Nodes, copies: FloatArray
    ) -> "FieldFit":
        """What a fit is before its parameters are sampled."""
        prior = kernel.law.prior_scale or (*priors.location, *priors.log_spread)
        scale = FieldScale(*prior, kernel.step)
        strangers = Strangers.of(kernel.with_luck(float(nodes.luck[-1])), scale, nodes.rho)
        return cls(nodes, priors.families, (), "nothing", kernel, priors, copies, scale, strangers)

    def at_rho(self, rho: float) -> Self:
        """The same where one value of rho has all the weight."""
        copy = replace(self)
        vars(copy)["node_weights"] = (self.rho == rho) / self.nodes.lucks
        return copy

    def at(self, r: int) -> ScoreKernel:
        """The kernel with the luck of a node."""
        return self._kernels[float(self.luck[r])]

    @cached_property
    def _kernels(self) -> dict[float, ScoreKernel]:
        return {float(luck): self.kernel.with_luck(float(luck)) for luck in np.unique(self.luck)}

    def dimension(self, family: str) -> int:
        """Number of coordinates of a shape."""
        return FAMILIES[family].dimension

    def density(self, family: str, points: FloatArray, *, strangers: bool = True) -> FloatArray:
        """P(psi) at the grid for each point, per unit of y, shape (N, G).

        Without strangers it is the density of the shape alone.
        """
        shape = self.shape_of(family, points)[0]
        return self.strangers.join(shape) if strangers else shape

    def field_of(self, family: str, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """P(psi) at the grid with strangers, (N, G), and the logarithm of its unit, (N,)."""
        shape, log_unit = self.shape_of(family, points)
        return self.strangers.join(shape), log_unit

    def shape_of(self, family: str, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Density of a shape at the grid as of ``shape_density``, (N, G), and its unit, (N,)."""
        return shape_density(
            self.kernel.y, self.kernel.is_cut, self.scale, FAMILIES[family], points
        )

    @cached_property
    def _likelihood(self) -> "_Likelihood":
        return self._likelihood_at(range(self.rho.size))

    def location(self, coordinates: FloatArray) -> FloatArray:
        """Place of the field at coordinates (D, P): log odds, or in units of the score, (D,)."""
        return self.kernel.law.location_at(self.scale.place(coordinates[:, 0]))

    def spread(self, coordinates: FloatArray) -> FloatArray:
        """Width of the field at coordinates (D, P): log odds, or in units of the score, (D,)."""
        width, law = self.scale.width(numpy_operations(), coordinates[:, 1]), self.kernel.law
        return law.location_at(width) - law.location_at(np.zeros(1))

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log probability of all scores at each point of a family and node of rho, (N, R)."""
        return self._likelihood(*self.field_of(family, points))

    @cached_property
    def likelihoods(self) -> "tuple[_Likelihood, ...]":
        """What the scores say of a density, at each value of rho."""
        return tuple(self._likelihood_at([r]) for r in range(self.rho.size))

    def _likelihood_at(self, nodes: Sequence[int]) -> "_Likelihood":
        return _Likelihood([(self.at(r), float(self.rho[r])) for r in nodes], self.copies)

    def entry_log_likelihood(self, f: int, r: int, points: FloatArray | None = None) -> FloatArray:
        """Log density of each distinct score, given the modelled part, per point, (N, U).

        With an equal share of what the number of entries below that part says. The points are
        those of the fit unless others are given.
        """
        at = self.points[f].points if points is None else points
        (density, log_unit), likelihood = self.field_of(self.families[f], at), self.likelihoods[r]
        reach = likelihood.log_reach(density)[:, 0]
        counts = likelihood.log_counts(density, log_unit) / self.copies.sum()
        each = likelihood.per_value(density)[:, 0] + likelihood.log_mass[0]
        return each - reach[:, self.kernel.kind] + counts

    @one_thread()
    def log_likelihood_of_entries(
        self, parameters: Parameters, dtype: Any = np.float64
    ) -> NDArray[Any]:
        r"""Log probability of the score of each modelled entry, skills summed out, (D, entries).

        .. math:: w_j \log \frac{\int p(x_j \mid \psi, \rho)\, dP(\psi \mid \phi)}
                  {\int P(\text{modelled} \mid \psi, \rho)\, dP(\psi \mid \phi)}

        at the node of rho. The weight of an entry is 1; less where several entries stand for one
        classifier (spikes of equal scores, near-clones). The sum over entries is the log
        likelihood that the fit was computed from.
        """
        index = self.kernel.value_of_entry
        weight = self.copies / np.bincount(index)
        log_p = np.empty((parameters.node.size, index.size), dtype)
        for r, f, draws in parameters.cells(self, 1000):
            points, inverse = np.unique(parameters.points(self, draws), axis=0, return_inverse=True)
            value = (weight * self.entry_log_likelihood(f, r, points)).astype(dtype)
            log_p[draws] = value[inverse.reshape(-1, 1), index]
        return log_p


@one_thread()
def fit_field(
    kernel: ScoreKernel,
    priors: BoardPriors,
    rng: np.random.Generator,
    *,
    points: int = 200,
    merge_spikes: bool = True,
) -> FieldFit:
    """Fit every family of the prior.

    Parameters
    ----------
    kernel : ScoreKernel
    priors : BoardPriors
    rng : Generator
    points : int
        Importance sample per family, for each of its parameters.
    merge_spikes : bool
        Whether many more equal scores than the field explains count as one classifier.

    Returns
    -------
    FieldFit
    """
    nodes = assumed_nodes(kernel, priors)
    copies, start = kernel.copies, None
    if merge_spikes and kernel.pooled(copies).max() > _SMALLEST_SPIKE:
        copies, start = _merged_copies(kernel, priors, nodes, rng)
    empty = FieldFit.of(kernel, priors, nodes, copies)
    fit = infer(empty, rng, points, start)
    for _ in range(_AGAIN):
        if fit.effective_size >= _ENOUGH:
            break
        fit = infer(empty, rng, 4 * points, fit)  # a point of great weight shows what was missed
    return fit


def _merged_copies(
    kernel: ScoreKernel, priors: BoardPriors, nodes: Nodes, rng: np.random.Generator
) -> tuple[FloatArray, "FieldFit"]:
    """Effective copies; quick fits at the middle rho, as a spike at first explains itself."""
    copies, middle = kernel.copies, nodes.only(nodes.rho.size // 2)
    fit = infer(FieldFit.of(kernel, priors, middle, copies), rng, _QUICK)
    for _ in range(_MERGING_ROUNDS):
        merged = effective_copies(fit)
        if np.array_equal(merged, copies):
            break
        copies = merged
        fit = reweighed(fit, FieldFit.of(kernel, priors, middle, copies), rng)
    return copies, fit


def effective_copies(fit: FieldFit) -> FloatArray:
    """Entries of each distinct score that count as separate classifiers.

    A score shared by more entries than a smooth field allows (Poisson, 1 % over all scores
    together) is a shared notebook: its entries count as many as the field lets expect there.
    """
    by_luck = expected_copies(fit)
    place, copies = fit.kernel.shared
    expected = by_luck[place]
    surprise = pdtrc(copies - 1, expected)  # P(at least as many)
    spike = (surprise < _SPIKE_TAIL / copies.size) & (copies > _SMALLEST_SPIKE)
    ceiling = np.maximum(np.ceil(expected), 1.0)
    kept = np.where(spike, np.minimum(ceiling, copies), copies)
    return fit.kernel.unpooled(np.bincount(place, weights=kept, minlength=by_luck.size))


def expected_copies(fit: FieldFit) -> FloatArray:
    """Posterior expected number of entries at each distinct score, at the middle rho."""
    r = fit.rho.size // 2
    kernel, rho = fit.at(r), float(fit.rho[r])
    expected = np.zeros(kernel.pooled(kernel.copies).size)
    for f, family in enumerate(fit.families):
        weights = fit.points[f].weights[:, r]
        kept = weights > 1e-4
        density = fit.density(family, fit.points[f].points[kept])
        by_point = kernel.expected(fit.copies, density, rho)
        expected += fit.family_weights[f, r] * (weights[kept] @ by_point) / weights[kept].sum()
    return expected


@one_thread()
def refit(
    fit: FieldFit, kernel: ScoreKernel, priors: BoardPriors, rng: np.random.Generator
) -> FieldFit:
    """Fit under other assumptions: of the same points with other weights, where these will do.

    Parameters
    ----------
    fit : FieldFit
    kernel : ScoreKernel
        Of the same scores.
    priors : BoardPriors
        With the same families.
    rng : Generator
        For new points, where those of the fit carry too little of the new posterior.
    """
    return reweighed(
        fit, FieldFit.of(kernel, priors, assumed_nodes(kernel, priors), fit.copies), rng
    )


def reweighed(fit: FieldFit, changed: FieldFit, rng: np.random.Generator) -> FieldFit:
    """The points of a fit with the weights of another, or new ones where too few carry those."""
    samples = [
        WeightedPoints(
            old.points,
            changed.log_likelihood(name, old.points)
            + (old.log_weights - fit.log_likelihood(name, old.points))[:, :1],
        )
        for name, old in zip(fit.families, fit.points, strict=True)
    ]
    reweighted = replace(changed, points=tuple(samples))
    enough = reweighted.effective_size >= _ENOUGH / 2
    return reweighted if enough else infer(changed, rng, _QUICK, fit)


class _Likelihood:
    r"""Log likelihood of all modelled scores, and of how many entries lie below them.

    .. math:: \prod_j \frac{p(x_j \mid \phi)}{R} \cdot \int_0^1 (s R)^n (1 - s R)^k\, ds, \quad
              R = P(\text{modelled} \mid \phi)

    The scores count given that they are in the modelled part, as entries below it may have failed
    or been abandoned, and follow other laws. How many they are counts as far as it can: an unknown
    share s of the n + k entries, a priori anything from 0 to 1, is of the field. Without entries
    below it is the likelihood of all scores, so that nothing jumps where the first falls below.
    """

    def __init__(self, at: Sequence[tuple[ScoreKernel, float]], copies: FloatArray) -> None:
        """At some nodes: the kernel with its luck, and rho."""
        kernel = at[0][0]
        self.copies, self.nodes = copies, len(at)
        self.counts = copies.sum(), kernel.n_below
        self.table = np.concatenate([np.exp(k.log_kernel(r)) * kernel.step for k, r in at]).T
        self.log_mass = np.array([k.log_mass(r) for k, r in at])
        self.reach = None
        self.reaching = np.bincount(kernel.kind, weights=copies, minlength=kernel.kinds.max() + 1)
        if kernel.is_cut:
            self.reach = np.concatenate([k.reaches(r) for k, r in at]).T * kernel.step
            self.typical = np.array([k.reach(r) for k, r in at]).T * kernel.step

    def per_value(self, density: FloatArray) -> FloatArray:
        """Log probability of each distinct score but for ``log_mass``, shape (N, R, U)."""
        value = density @ self.table
        np.log(np.maximum(value, _TINY, out=value), out=value)
        return value.reshape(len(density), self.nodes, -1)

    def log_reach(self, density: FloatArray) -> FloatArray:
        """Log probability that an entry of each kind is in the modelled part, (N, R, K)."""
        if self.reach is None:
            return np.zeros((len(density), self.nodes, self.reaching.size))
        reach = np.maximum(density @ self.reach, _TINY)
        return np.log(reach).reshape(len(density), self.nodes, -1)

    def log_counts(self, density: FloatArray, log_unit: FloatArray) -> FloatArray:
        """Log probability of the numbers of entries in and below the modelled part, (N, R)."""
        if self.reach is None:
            return np.zeros((len(density), self.nodes))
        reach = np.log(np.maximum(density @ self.typical, _TINY)) + log_unit[:, None]
        return log_count_probability(np.minimum(reach, 0.0), *self.counts)

    def __call__(self, density: FloatArray, log_unit: FloatArray) -> FloatArray:
        """Of densities (N, G) in units of ``exp(log_unit)``, shape (N, R)."""
        total = self.per_value(density) @ self.copies + self.log_mass @ self.copies
        total -= self.log_reach(density) @ self.reaching
        return total + self.log_counts(density, log_unit)


def log_count_probability(log_reach: FloatArray, n: float, k: float) -> FloatArray:
    r"""Logarithm of what the numbers of entries in and below the modelled part say of its reach.

    .. math:: \int_0^1 (s R)^n (1 - s R)^k\, ds\, / B(n + 1, k + 1) = I_R(n + 1, k + 1) / R

    with the incomplete beta function I; ``R^n`` but for a constant where ``k = 0``.

    Examples
    --------
    >>> reach = np.array([0.5, 1e-200])
    >>> log_count_probability(np.log(reach), 3, 0).round(2), (3 * np.log(reach)).round(2)
    (array([   -2.08, -1381.55]), array([   -2.08, -1381.55]))
    """
    exact = betainc(n + 1, k + 1, np.exp(log_reach))
    far = (n + 1) * log_reach - np.log(n + 1) - betaln(n + 1, k + 1)
    return np.where(exact > _LEAST_BETA, np.log(np.maximum(exact, _LEAST_BETA)), far) - log_reach


def shape_density(
    y: FloatArray, relative: bool, scale: FieldScale, family: SkillFamily, t: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Density at the grid, (N, G), and the logarithm of its unit, (N,).

    The unit is 1, or the highest density on the grid: a shape far below the cut must keep its
    slope instead of underflowing to a plateau.
    """
    inside = np.clip(t, -6, 6)
    columns = tuple(inside[:, i, None] for i in range(family.dimension))
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        log_density = family.log_density(numpy_operations(), scale, columns, y)
    log_density = np.nan_to_num(np.broadcast_to(log_density, (len(t), y.size)), nan=-1e300)
    log_unit = log_density.max(axis=1) if relative else np.zeros(len(t))
    return np.exp(np.clip(log_density - log_unit[:, None], -700.0, 50.0)), log_unit
