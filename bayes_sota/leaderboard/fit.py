"""Posterior of the shapes' parameters at each value of rho, by importance sampling.

On a board of scores rho keeps its prior: the posterior of the other parameters is computed at a few
equally likely values of rho, and each value keeps its prior weight (an exact cut).
``tests/leaderboard/test_posterior.py`` has the second route.

Real boards are left-skewed: a crowd near the top, and a tail of weaker entries. Shapes are on the
log-odds scale of ``psi = theta + rho sd z``, skill on these items: ``normal``, a crowd with
symmetric tails, and ``ex-gaussian``, an upper edge, sharp or soft, and an exponential tail to the
left. Every width is at least one grid step: a narrower density has no defined mass on the grid.
``tests/leaderboard/test_shapes.py`` compares each density with its integral and with SciPy.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaln, log_ndtr, pdtrc

from bayes_sota.core.arguments import check_kind
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import NO_LUCK, Fit, Nodes, Parameters, infer
from bayes_sota.core.numerics import one_thread
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.evidence import TINY, Evidence, Tables, board_evidence
from bayes_sota.maximum.score_laws import entry_values

_POINTS, _EVIDENCE_POINTS = 200, 500  # of an importance sample, for each parameter
_RESERVED = {"location", "log_spread", "rho", "shift", "score", "spread", "family"}
RHO_NODES, _EVIDENCE_NODES = 7, 12  # as many nodes as on a spline over rho are all sought
_STRANGERS = 0.5  # entries of a board that belong to no shape, a priori
_ENOUGH = 150.0
_LEAST_BETA = 1e-250  # of the incomplete beta function, which loses its digits further out
_SPIKE_TAIL, _SMALLEST_SPIKE, _MERGING_ROUNDS, _AGAIN = 0.01, 2, 4, 2
_AROUND = 0.7  # standard errors
_LOG_SQRT_2PI = 0.9189385332046727
_LEAST_RATIO = 0.02  # an exponential tail shorter than this share of the normal part is none


type Operations = Any


def operations_of(library: Any, **more: Callable[..., Any]) -> Operations:
    """The functions of an array library, NumPy's or PyTensor's, and those that it lacks."""
    return SimpleNamespace(**vars(library), **more)


@dataclass(frozen=True)
class FieldScale:
    """Normal priors of the place and the log width of a field, in log odds."""

    location: float
    location_sd: float
    log_spread: float
    log_spread_sd: float
    step: float

    def place(self, t: Any) -> Any:
        return self.location + self.location_sd * t

    def width(self, ops: Operations, t: Any) -> Any:
        return ops.exp(self.log_spread + self.log_spread_sd * t)

    def resolved(self, ops: Operations, width: Any) -> Any:
        return ops.sqrt(width**2 + self.step**2)


@dataclass(frozen=True)
class SkillFamily:
    """One shape of P(psi).

    Attributes
    ----------
    name : str
    parameters : tuple of str
        What each coordinate sets; all coordinates are standard normal a priori.
    log_density : callable
        ``(ops, scale, coordinates, y) -> log density`` at log odds ``y``; coordinates and ``y``
        broadcast.
    """

    name: str
    parameters: tuple[str, ...]
    log_density: Callable[[Operations, FieldScale, tuple[Any, ...], Any], Any]

    @property
    def dimension(self) -> int:
        return len(self.parameters)


def _normal(ops: Operations, scale: FieldScale, t: tuple[Any, ...], y: Any) -> Any:
    width = scale.resolved(ops, scale.width(ops, t[1]))
    distance = (y - scale.place(t[0])) / width
    return -0.5 * distance**2 - ops.log(width) - _LOG_SQRT_2PI


def _ex_gaussian(ops: Operations, scale: FieldScale, t: tuple[Any, ...], y: Any) -> Any:
    """Exponential tail below an upper edge, convolved with a normal."""
    tail = scale.width(ops, t[1])
    soft = scale.resolved(ops, tail * ops.exp(-1.2 + t[2]))
    below = scale.place(t[0]) + 0.5 * scale.location_sd - y
    tail = ops.maximum(tail, _LEAST_RATIO * soft)
    ratio = soft / tail
    log_tail = -below / tail + 0.5 * ratio**2 + ops.log_ndtr(below / soft - ratio)
    return log_tail - ops.log(tail)


FAMILIES: dict[str, SkillFamily] = {
    family.name: family
    for family in (
        SkillFamily("normal", ("place", "width"), _normal),
        SkillFamily("ex-gaussian", ("edge", "tail", "softness"), _ex_gaussian),
    )
}


_EXAMPLE = FieldScale(0.0, 1.0, -1.0, 0.5, 0.01)  # for the check of one's own shape
NUMPY: Operations = operations_of(np, log_ndtr=log_ndtr, betainc=betainc)


@dataclass(frozen=True, eq=False)
class FieldFit(Fit):
    """Evidence of a board, with weighted parameters of every family at every value of rho."""

    evidence: Evidence
    priors: BoardPriors
    copies: FloatArray
    shapes: Mapping[str, SkillFamily]

    @cached_property
    def scale(self) -> FieldScale:
        priors, evidence = self.priors, self.evidence
        prior = evidence.law.prior_scale or (*priors.location, *priors.log_spread)
        return FieldScale(*prior, evidence.step)

    @cached_property
    def outliers(self) -> tuple[float, FloatArray, FloatArray | None]:
        """Share, density (G,) and reach (G,) of skills that belong to no shape: half an entry.

        A leader of another kind stays where it is. Outliers follow the wide prior of the field's
        place.
        """
        evidence, scale = self.evidence, self.scale
        share, z = _STRANGERS / evidence.copies.sum(), evidence.y - scale.location
        wide = np.exp(-0.5 * (z / scale.location_sd) ** 2)
        wide /= scale.location_sd * np.sqrt(2 * np.pi)
        if not evidence.is_cut:
            return share, share * wide, None
        reach = self.tables[-1].typical * evidence.step
        return share, share * wide / max(float(wide @ reach), TINY), reach

    def join(self, shape: Any, whole: Any = 1.0) -> Any:
        """Density of skill, (..., G), from that of the shape, whose integral is ``whole``."""
        share, profile, reach = self.outliers
        modelled = whole if reach is None else (shape @ reach)[..., None]
        return (1 - share) * shape + modelled * profile

    def at_rho(self, rho: float) -> Self:
        copy = replace(self)
        vars(copy)["node_weights"] = (self.rho == rho) / self.nodes.lucks
        return copy

    @cached_property
    def tables(self) -> tuple[Tables, ...]:
        pairs = zip(self.rho.tolist(), self.nodes.luck.tolist(), strict=True)
        return tuple(self.evidence.at(rho, luck) for rho, luck in pairs)

    @cached_property
    def classifiers(self) -> tuple[IntArray, IntArray, IntArray]:
        """Classifier behind each modelled entry, (E,); row and first entry of each, (C,).

        Entries that share a score are divided evenly among as many classifiers as count there.
        """
        distinct, row = np.ceil(self.copies - 1e-9).astype(np.int64), self.evidence.row
        classifier = (np.cumsum(distinct) - distinct)[row] + place_within(row) % distinct[row]
        first = np.unique(classifier, return_index=True)[1]
        return classifier, np.repeat(np.arange(distinct.size), distinct), first

    def dimension(self, family: str) -> int:
        return self.shapes[family].dimension

    def density(self, family: str, points: FloatArray) -> FloatArray:
        return self.join(self.shape_of(family, points)[0])

    def shape_of(
        self, family: str, points: FloatArray, y: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """Density of a shape at the grid or at y, (N, G), and the logarithm of its unit, (N,)."""
        shape, y = self.shapes[family], self.evidence.y if y is None else y
        columns = tuple(np.clip(points, -6, 6).T[:, :, None])
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            log_density = shape.log_density(NUMPY, self.scale, columns, y)
        log_density = np.broadcast_to(log_density, (len(points), y.size))
        return self.in_units(np.nan_to_num(log_density, nan=-1e300))

    def in_units(self, log_density: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Densities (..., G) in a unit, and its logarithm, (...).

        On a cut board the unit is the highest density, so that a shape far below the cut keeps its
        slope.
        """
        log_unit = log_density.max(axis=-1) * self.evidence.is_cut
        return np.exp(np.clip(log_density - log_unit[..., None], -700.0, 50.0)), log_unit

    def location(self, coordinates: FloatArray) -> FloatArray:
        return self.evidence.law.location_at(self.scale.place(coordinates[:, 0]))

    def spread(self, coordinates: FloatArray) -> FloatArray:
        width, law = self.scale.width(NUMPY, coordinates[:, 1]), self.evidence.law
        return law.location_at(width) - law.location_at(np.zeros(1))

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        shape, log_unit = self.shape_of(family, points)
        return self.likelihood(self.join(shape), log_unit)

    def log_likelihood_sought(self, family: str, points: FloatArray) -> FloatArray:
        shape, log_unit = self.shape_of(family, points)
        return self.sought[1](self.join(shape), log_unit)

    @cached_property
    def likelihood(self) -> "Likelihood":
        return Likelihood(self.tables, self.copies, self.evidence)

    @cached_property
    def sought(self) -> "tuple[IntArray, Likelihood]":
        """Nodes at which points are sought, and their likelihood; of 5 by 5 the corners too."""
        last = len(self.tables) - 1
        count = RHO_NODES if last >= _EVIDENCE_NODES else last + 1
        nodes = np.linspace(0, last, count).round().astype(int)
        return nodes, Likelihood([self.tables[r] for r in nodes], self.copies, self.evidence)

    @one_thread()
    def log_likelihood_of_entries(self, parameters: Parameters) -> NDArray[Any]:
        r"""Log probability of the score of each modelled entry, skills summed out, (D, E).

        .. math:: w_j \log \frac{\int p(x_j \mid \psi, \rho)\, dP(\psi \mid \phi)}
                  {\int P(\text{modelled} \mid \psi, \rho)\, dP(\psi \mid \phi)}

        with an equal share of the log probability of the number of entries below; w is below 1
        where several entries stand for one classifier.
        """
        row = self.evidence.row
        weight = self.copies / np.bincount(row)
        log_p = np.empty((parameters.node.size, row.size))
        likelihoods = [Likelihood((at,), self.copies, self.evidence) for at in self.tables]
        for r, f, draws in parameters.cells(self, 1000):
            points, inverse = np.unique(parameters.points(self, draws), axis=0, return_inverse=True)
            shape, log_unit = self.shape_of(self.families[f], points)
            each = weight * likelihoods[r].each(self.join(shape), log_unit)[:, 0]
            log_p[draws] = each[inverse.reshape(-1, 1), row]
        return log_p

    @property
    def shape(self) -> SkillFamily:
        return self.shapes[self.families[0]]

    @property
    def parameters(self) -> tuple[str, ...]:
        return parameters_of(self.shape)

    @property
    def prior(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Prior mean and sd of ``location`` and ``log_spread``: log odds, or units of the score."""
        law, scale, sign = self.evidence.law, self.scale, self.evidence.board.sign
        zero, one, place = law.location_at(np.array([0.0, 1.0, scale.location])).tolist()
        of_width = scale.log_spread + float(np.log(one - zero)), scale.log_spread_sd
        return (sign * place, (one - zero) * scale.location_sd), of_width

    def data_hash(self) -> str:
        return digest_of(self.evidence.board.data_hash(), self.prior, self.priors.correlation)

    @property
    def natural_points(self) -> FloatArray:
        points = self.points[0].points
        place = self.evidence.board.sign * self.location(points)
        return np.column_stack([place, np.log(self.spread(points)), points[:, 2:]])

    def standardised(self, location: Any, log_spread: Any, *shape: Any) -> tuple[Any, ...]:
        (mean, sd), (log_mean, log_sd) = self.prior
        sign = self.evidence.board.sign
        return sign * (location - mean) / sd, (log_spread - log_mean) / log_sd, *shape

    def log_evidence_at(self, rho: FloatArray) -> FloatArray:
        nodes = replace(self.nodes, rho=rho, luck=np.zeros(rho.size))
        return infer(replace(self, nodes=nodes), _fixed(), _EVIDENCE_POINTS, self).log_evidence[0]


def place_within(group: IntArray) -> IntArray:
    """Place of each among those of its group, from 0."""
    order, size = np.argsort(group, kind="stable"), np.bincount(group)
    place = np.empty(group.size, np.int64)
    place[order] = np.arange(group.size) - np.repeat(np.cumsum(size) - size, size)
    return place


class Likelihood:
    r"""Log likelihood of all modelled scores, and of how many entries lie below them.

    .. math:: \prod_j \frac{p(x_j \mid \phi)}{R} \cdot \int_0^1 (s R)^n (1 - s R)^k\, ds, \quad
              R = P(\text{modelled} \mid \phi)

    Entries below may have failed and follow other laws. Their number counts as far as it can: an
    unknown share s of the n + k entries, uniform a priori, is of the field.
    """

    def __init__(self, tables: Sequence[Tables], copies: FloatArray, evidence: Evidence) -> None:
        self.copies, self.nodes, step = copies, len(tables), evidence.step
        self.kind, self.below = evidence.kind[: copies.size], evidence.n_below
        self.table = np.concatenate([at.score for at in tables]).T * step
        self.log_scale = np.array([at.log_scale for at in tables])
        self.reach = None
        if tables[0].reach is not None:
            self.reach = np.concatenate([at.reach for at in tables]).T * step
            self.typical = np.array([at.typical for at in tables]).T * step

    def each(self, density: FloatArray, log_unit: FloatArray) -> FloatArray:
        """Log probability of each distinct score given that it is modelled, (N, R, K)."""
        log_p, counts, reach = self._parts(density, log_unit)
        counts = counts[..., None] / self.copies.sum()
        return log_p + self.log_scale + counts - reach[..., self.kind]

    def __call__(self, density: FloatArray, log_unit: FloatArray) -> FloatArray:
        log_p, counts, reach = self._parts(density, log_unit)
        of_kind = np.bincount(self.kind, self.copies, minlength=reach.shape[2])
        return log_p @ self.copies + self.log_scale @ self.copies + counts - reach @ of_kind

    def _parts(self, density: FloatArray, log_unit: FloatArray) -> tuple[FloatArray, ...]:
        """Log integrals of scores (N, R, K), of counts (N, R), of reach by kind (N, R, L)."""

        def logs(table: FloatArray) -> FloatArray:
            integral = np.maximum(density @ table, TINY)
            return np.log(integral, out=integral).reshape((len(density), self.nodes, -1))

        n = self.copies.sum()
        if self.reach is None:
            return logs(self.table), n * log_unit[:, None], np.zeros((1, 1, self.kind.max() + 1))
        reach = np.minimum(logs(self.typical)[:, :, 0] + log_unit[:, None], 0.0)
        counts = log_count_probability(reach, n, self.below)
        return logs(self.table), counts, logs(self.reach)


def log_count_probability(log_reach: Any, n: float, k: float, ops: Operations = NUMPY) -> Any:
    r"""Log likelihood of the reach of the modelled part, from the entries in and below it.

    .. math:: \int_0^1 (s R)^n (1 - s R)^k\, ds\, / B(n + 1, k + 1) = I_R(n + 1, k + 1) / R

    with the incomplete beta function I; ``R^n`` but for a constant where ``k = 0``.
    """
    exact = ops.betainc(n + 1, k + 1, ops.exp(log_reach))
    far = (n + 1) * log_reach - np.log(n + 1) - betaln(n + 1, k + 1)
    near = ops.log(ops.maximum(exact, _LEAST_BETA))
    return ops.where(exact > _LEAST_BETA, near, far) - log_reach


@one_thread()
def fit_field(
    evidence: Evidence, priors: BoardPriors, rng: np.random.Generator, *, points: int = 200
) -> FieldFit:
    """Fit every family of the prior, with ``points`` for each of its parameters."""
    luck = priors.submission_luck if evidence.has_luck else NO_LUCK
    nodes = Nodes.of(priors.correlation, luck, RHO_NODES)
    copies = effective_copies(evidence) if evidence.shares_scores else evidence.copies
    empty = FieldFit(nodes, priors.families, (), "nothing", evidence, priors, copies, FAMILIES)
    return infer_enough(empty, rng, points)


def infer_enough[F: FieldFit](empty: F, rng: np.random.Generator, points: int) -> F:
    """The fit with weighted points; sampled again, once or twice, where too few are effective."""
    fit = infer(empty, rng, points)
    for _ in range(_AGAIN):
        if fit.effective_size >= _ENOUGH:
            break
        fit = infer(empty, rng, 4 * points, fit)  # a point of great weight shows what was missed
    vars(fit)["tables"] = empty.tables  # made once
    return fit


def effective_copies(evidence: Evidence) -> FloatArray:
    """Entries of each distinct score that count as separate classifiers, (K,).

    Where more entries share a score than the scores around it explain (Poisson, 1 % over all
    scores), they share a notebook, and count as the average number within 0.7 standard errors.
    """
    law, values = evidence.law, entry_values(evidence.board)
    distinct, copies = np.unique(values, return_counts=True)
    if distinct.size == 1:
        return evidence.copies
    near = _AROUND * law.errors_at(law.inside(distinct / law.unit)) * law.unit
    low, high = (np.searchsorted(distinct, distinct + side) for side in (-near, near))
    possible = 2 * np.floor(near / np.diff(distinct).min()) + 1
    kept = copies.astype(float)
    for _ in range(_MERGING_ROUNDS):
        total = np.pad(np.cumsum(kept), (1, 0))
        expected = (total[high] - total[low]) / possible
        chance = pdtrc(copies - 1, expected)
        is_spike = (chance < _SPIKE_TAIL / copies.size) & (copies > _SMALLEST_SPIKE)
        kept = np.where(is_spike, np.ceil(expected), copies)
    share = (kept / copies)[np.searchsorted(distinct, values[evidence.entries])]
    counts = np.bincount(evidence.row, weights=share)
    counts[-1] = max(counts[-1], 1.0)  # somebody has the best score
    return counts


def parameters_of(family: SkillFamily) -> tuple[str, ...]:
    """Names of the variables of a shape."""
    return ("location", "log_spread", *(name.replace(" ", "_") for name in family.parameters[2:]))


def fit_shape(
    board: Leaderboard,
    priors: Priors | BoardPriors | None = None,
    *,
    family: str | SkillFamily = "ex-gaussian",
    fit: FieldFit | None = None,
) -> FieldFit:
    """Fit one shape of P(psi) to all scores of a board, for ``bayes_sota.leaderboard.models``.

    Parameters
    ----------
    board : Leaderboard
    priors : Priors, optional
    family : str or SkillFamily
        One of ``bayes_sota.leaderboard.fit.FAMILIES``, or a shape of one's own, whose first two
        parameters are a place and a width; all are standard normal a priori.
    fit : FieldFit, optional
        Fit of the same board and priors; default made here (about a second).

    Returns
    -------
    FieldFit

    Raises
    ------
    InputError
        Unknown family; only the maximum known; several submissions or own errors of entries; a fit
        of another board or of other priors.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> fit_shape(board, family="normal").parameters
    ('location', 'log_spread')
    """
    check_kind(board, Leaderboard, "bs.read_leaderboard or bs.Leaderboard")
    shape = family_of(family)
    if board.has_own_errors or board.has_submissions:
        what = "entries have several submissions, or standard errors of their own"
        fix = "take the exact route, bs.estimate_sota(board) or bs.board_table(board)"
        raise InputError(what, fix=fix)
    if fit is None:
        known = board_priors(priors)
        fit = fit_field(board_evidence(board, known), known, _fixed())
    if fit.evidence.board.data_hash() != board.data_hash():
        raise InputError("the fit is of another board")
    if priors is not None and fit.priors != board_priors(priors):
        raise InputError("the fit has other priors")
    name = shape.name
    if name in fit.families and fit.shapes[name] is shape:
        return fit.of_family(name)
    alone = replace(fit, families=(name,), shapes={name: shape})
    return infer(alone, _fixed(), _POINTS)


def family_of(family: str | SkillFamily) -> SkillFamily:
    """The shape of that name, or a checked one of one's own."""
    if isinstance(family, str):
        if family not in FAMILIES:
            raise InputError(f"unknown family {family!r}; allowed: {', '.join(FAMILIES)}")
        return FAMILIES[family]
    names = parameters_of(family)
    if len(set(names)) < len(family.parameters) or _RESERVED & set(names[2:]):
        raise InputError(
            f"the parameters of {family.name} must be a location, a width, and more with names "
            f"of their own, got {', '.join(family.parameters)}"
        )
    y, origin = np.linspace(-200.0, 200.0, 80_001), (np.zeros(1),) * family.dimension
    whole = np.trapezoid(np.exp(family.log_density(NUMPY, _EXAMPLE, origin, y)), y)
    if not abs(whole - 1) < 0.01:
        raise InputError(f"exp(log_density) of {family.name} integrates to {whole:.3g}, not to 1")
    return family


def _fixed() -> np.random.Generator:
    """Random numbers that every call shares: the same board has the same model."""
    return np.random.default_rng(0)
