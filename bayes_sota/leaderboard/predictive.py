r"""Boards that the model expects: before the scores are seen, and again once they are.

A board is simulated as the model says, given that its scores are in the modelled part:

.. math:: \psi_j \sim P(\psi \mid \phi)\, P(\text{modelled} \mid \psi), \quad
          x_j \mid \psi_j \sim \text{variance } (1-\rho^2)\, sd_j^2, \quad x_j \text{ modelled}

with normal errors, on the lattice of the scores. From answers and item scores psi and the errors
have the residual correlation R of the classifiers, and each has its own variance. Classifiers that
are not modelled have no law of their own: in the prior they are the rest of the field, below the
modelled part. ``tests/leaderboard/test_predictive.py`` holds moments against quadrature, and
boards from the model against their replicates.
"""

from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.entries import find_classifiers
from bayes_sota.leaderboard.fit import FieldFit, Strangers
from bayes_sota.leaderboard.from_items import JointSampler
from bayes_sota.leaderboard.posterior import LEADERS, NodeSampler, draw_tries, expected_best
from bayes_sota.leaderboard.submissions import SubmissionKernel

_NODES = 1000  # of the grid that holds the prior
_CELLS = 1_000_000  # numbers of an array at a time
_TINY, _SMALLEST_ERROR, _FURTHEST = 1e-280, 1e-12, 37.0


class Field:
    """Simulated classifiers of a board, and of those that were compared item by item.

    Attributes
    ----------
    classifier : ndarray of int, shape (E,)
        Classifier behind each modelled entry.
    place : ndarray of int, shape (E,)
        Rank of the classifier behind each place, best score first.
    kind : ndarray of int, shape (C,)
        Kind of the entry of each classifier.
    """

    def __init__(self, fit: FieldFit, joint: JointSampler | None = None) -> None:
        """Find the classifiers behind the entries."""
        self.fit, self.kernel, self.joint = fit, fit.kernel, joint
        self.classifier, self.value = find_classifiers(fit)
        self.place = self.value.size - 1 - np.sort(self.classifier)[::-1]
        self.kind = np.empty(self.value.size, np.int64)
        self.kind[self.classifier] = self.kernel.kinds[self.kernel.modelled]

    def block(self, rows: int) -> int:
        """Sets of parameters at a time, where each needs so many rows on the grid."""
        widest = max(self.kernel.modelled.size, rows * self.kernel.y.size)
        return int(np.clip(_CELLS // widest, 1, 256))

    def fresh(self, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Psi of as many new classifiers, (N, C), from rows of weights on the grid.

        Where they are independent they come in increasing order.
        """
        shape = len(weights), self.value.size
        joint = self.joint is not None
        level = ndtr(self._normals(shape, rng)) if joint else np.sort(rng.random(shape), axis=1)
        return self.kernel.law.skill_at(
            invert_rows(np.cumsum(weights, axis=1), level, self.kernel.y)
        )

    def modelled(self, density: FloatArray, r: int, rng: np.random.Generator) -> FloatArray:
        """Psi of as many new classifiers given that they are modelled, (N, C)."""
        kernel, rho = self.fit.at(r), float(self.fit.rho[r])
        if not kernel.has_luck:
            return self.fresh(density * kernel.reach_or_one(rho), rng)
        kinds = int(self.kernel.kinds.max()) + 1
        reach = kernel.reaches(rho) if kernel.is_cut else np.ones((kinds, kernel.y.size))
        mass = (density[:, None] * reach).reshape(-1, kernel.y.size)
        rows = np.arange(len(density))[:, None] * kinds + self.kind
        return kernel.draw_psi(mass, rows, rng)

    def given(
        self, density: FloatArray, rows: IntArray, r: int, rng: np.random.Generator
    ) -> FloatArray:
        """Psi of the classifiers of this board given their own scores, (N, C).

        ``rows`` says which density, (k, G), each of N draws has.
        """
        table = self.fit.at(r).table(float(self.fit.rho[r]))
        mass = (density[:, None, :] * table).reshape(-1, self.kernel.y.size)
        return self.kernel.draw_psi(mass, rows[:, None] * len(table) + self.value, rng)

    def scores(self, psi: FloatArray, r: int, rng: np.random.Generator) -> FloatArray:
        """Scores of classifiers with these psi, given that they are modelled, (N, C)."""
        kernel, law = self.fit.at(r), self.kernel.law
        if isinstance(kernel, SubmissionKernel):
            rho = float(self.fit.rho[r])
            return kernel.shown(psi + kernel.draw_noise(psi, self.kind, rho, rng))
        z = self._normals(psi.shape, rng)
        scale = np.sqrt(kernel.variances(float(self.fit.rho[r])))
        error = np.maximum(law.errors_at(psi) * scale, _SMALLEST_ERROR)
        if kernel.is_cut:
            cut = (kernel.values[0] - law.spacing / 2) / law.unit
            if self.joint is None:
                z = _redrawn_above((cut - psi) / error, z, rng)
            else:
                z = _moved_above((cut - psi) / error, z)
        return kernel.shown(psi + error * z)

    def _normals(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        z = rng.standard_normal(shape)
        return z if self.joint is None else z @ self.joint.factor.T

    def sorted(self, scores: FloatArray) -> FloatArray:
        """Scores of classifiers at the places of the board, best first, (N, E)."""
        return np.sort(scores, axis=1)[:, ::-1][:, self.place]


@one_thread()
def replicate_scores(
    fit: FieldFit,
    parameters: Parameters,
    rng: np.random.Generator,
    psi: FloatArray | None = None,
    joint: JointSampler | None = None,
) -> dict[str, FloatArray]:
    """Replicated scores of the modelled entries.

    Parameters
    ----------
    fit : FieldFit
    parameters : Parameters
        Of K draws.
    rng : Generator
    psi : ndarray, shape (K, C), optional
        Board-conditional skills behind the draws; drawn here from scores alone.
    joint : JointSampler, optional
        Of answers and item scores, with ``psi``.

    Returns
    -------
    dict of str to ndarray, shape (K, E)
        ``score`` of each entry given its own psi, ``sorted_score`` of a fresh field, best first.
    """
    field = Field(fit, joint)
    scores = {name: np.empty((parameters.node.size, field.classifier.size)) for name in SCORES}
    for r, f, draws in parameters.cells(fit, field.block(fit.copies.size)):
        points, rows = np.unique(parameters.points(fit, draws), axis=0, return_inverse=True)
        density = fit.density(fit.families[f], points)
        own = field.given(density, rows, r, rng) if psi is None else psi[draws]
        scores["score"][draws] = field.scores(own, r, rng)[:, field.classifier]
        fresh = field.modelled(density[rows], r, rng)
        scores["sorted_score"][draws] = field.sorted(field.scores(fresh, r, rng))
    return scores


SCORES = ("score", "sorted_score")


@one_thread()
def draw_prior_boards(
    fit: FieldFit,
    parameters: Parameters,
    rho: FloatArray,
    shift: FloatArray,
    rng: np.random.Generator,
    joint: JointSampler | None = None,
) -> dict[str, FloatArray]:
    """Boards from the prior, with what the posterior says of a board.

    Parameters
    ----------
    fit : FieldFit
        For the priors, and for what was observed of the design: sizes, cut, correlation.
    parameters : Parameters
        Of K draws from the prior (``Parameters.from_prior``).
    rho, shift : ndarray, shape (K,)
        Prior draws, rho in the cell of its node.
    rng : Generator
    joint : JointSampler, optional
        Of answers and item scores.

    Returns
    -------
    dict of str to ndarray
        ``score`` and ``sorted_score`` (K, E); ``theta_sota``, ``winner_skill``, ``expected_sota``,
        ``observed_maximum``, ``n_above_sota``, ``n_classifiers`` (K,); with ``joint`` also
        ``skill`` (K, m).
    """
    wide = _widened(fit)
    if joint is not None:
        joint = JointSampler(wide, joint.learnt)
    field, blocks = Field(wide, joint), list[tuple[IntArray, dict[str, FloatArray]]]()
    for r, f, draws in parameters.cells(wide, field.block(int(fit.kernel.kinds.max()) + 1)):
        points = parameters.points(wide, draws)
        simulate = _independent if joint is None else _joint
        simulated = simulate(field, r, wide.families[f], points, (rho[draws], shift[draws]), rng)
        blocks.append((draws, simulated))
    order = np.argsort(np.concatenate([draws for draws, _ in blocks]))
    return {
        name: np.concatenate([simulated[name] for _, simulated in blocks])[order]
        for name in blocks[0][1]
    }


def _widened(fit: FieldFit) -> FieldFit:
    """The same on a grid that holds the fields that the prior allows."""
    kernel, scale = fit.kernel, fit.scale
    reach = 4 * scale.location_sd + 4 * np.exp(scale.log_spread + 2 * scale.log_spread_sd)
    low = kernel.y[0] if kernel.is_cut else min(kernel.y[0], scale.location - reach)
    high = max(kernel.y[-1], scale.location + reach)
    wide = replace(kernel, y=np.linspace(low, high, _NODES))
    strangers = Strangers.of(wide.with_luck(float(fit.luck[-1])), scale, fit.rho)
    return replace(fit, kernel=wide, strangers=strangers)


type _Shared = tuple[FloatArray, FloatArray]


def _independent(
    field: Field, r: int, family: str, points: FloatArray, shared: _Shared, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Boards whose classifiers are independent given the parameters."""
    fit, law = field.fit, field.kernel.law
    shape = fit.density(family, points, strangers=False)
    density, reach = fit.strangers.join(shape), fit.at(r).reach_or_one(float(fit.rho[r]))
    psi = field.modelled(density, r, rng)
    if not fit.kernel.has_luck:  # otherwise each entry has a law of its own
        psi = rng.permuted(psi, axis=1)
    scores = field.scores(psi, r, rng)
    winner = psi[np.arange(len(psi)), np.argmax(scores, axis=1)]
    tries, best = draw_tries(fit, len(psi), rng), psi.max(axis=1)
    if fit.kernel.board.is_partial:
        below = np.exp(NodeSampler(fit, r).log_hidden(density, tries[:, None]))
        y = invert_rows(below, rng.random((len(below), 1)), fit.kernel.y)
        best = np.maximum(best, law.skill_at(y[:, 0]))
    expected = expected_best(shape * reach, fit.copies.sum(), fit.kernel.psi)
    moved = np.stack([best, winner, expected], axis=1)
    theta, winner, expected = law.remove_shift(moved, (shared[0] * shared[1])[:, None]).T
    values = {"theta_sota": theta, "winner_skill": winner, "expected_sota": expected}
    return _described(field, scores, values, tries)


def _joint(
    field: Field, r: int, family: str, points: FloatArray, shared: _Shared, rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Boards of classifiers that were compared item by item."""
    fit, kernel, joint = field.fit, field.kernel, field.joint
    assert joint is not None
    density, reach = fit.density(family, points), kernel.reach_or_one(float(fit.rho[r]))
    psi = field.modelled(density, r, rng)
    scores = field.scores(psi, r, rng)
    below = density * (1 - reach)
    rows = np.broadcast_to(np.arange(len(psi))[:, None], (len(psi), int(np.sum(~kernel.modelled))))
    alone = kernel.draw_psi(below, rows, rng)
    rho, shift = shared
    skill = joint.remove_shift(psi, alone, rho, shift)
    modelled = skill[:, joint.kernel.entries]
    best = expected_best(density * reach, kernel.copies.sum(), kernel.psi)
    values = {
        "theta_sota": modelled.max(axis=1),
        "winner_skill": modelled[np.arange(len(psi)), np.argmax(scores, axis=1)],
        "expected_sota": kernel.law.remove_shift(best, rho * shift),
        "skill": skill,
    }
    return _described(field, scores, values, np.full(len(psi), float(kernel.modelled.size)))


def _described(
    field: Field, scores: FloatArray, values: dict[str, FloatArray], tries: FloatArray
) -> dict[str, FloatArray]:
    """What a board says, with its scores; ``scores`` are of classifiers."""
    shown = scores[:, field.classifier]
    return values | {
        "score": shown,
        "sorted_score": field.sorted(scores),
        "observed_maximum": scores.max(axis=1),
        "n_above_sota": np.sum(shown > values["theta_sota"][:, None], axis=1).astype(np.float64),
        "n_classifiers": tries,
    }


@one_thread()
def draw_own_fields(
    fit: FieldFit,
    log_density: FloatArray,
    shared: tuple[FloatArray, FloatArray],
    nodes: IntArray,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Draws as of ``NodeSampler.draw`` where every entry has a field of its own.

    Parameters
    ----------
    fit : FieldFit
    log_density : ndarray, shape (D, G) or (D, n, G)
        Of the field, or of that of each modelled entry, per unit of the grid.
    shared : (ndarray, ndarray)
        rho and standardised shift of each draw, (D,).
    nodes : ndarray, shape (D,)
        Index of the cell of rho of each draw.
    rng : Generator
    """
    kernel, law = fit.kernel, fit.kernel.law
    classifier, value = find_classifiers(fit)
    _, first = np.unique(classifier, return_index=True)  # an entry of each classifier
    winner = classifier[np.argmax(kernel.leads[kernel.modelled])]
    y = np.empty((len(log_density), value.size + 1))
    for d, (own, r) in enumerate(zip(log_density, nodes, strict=True)):
        own = np.broadcast_to(own, (classifier.size, kernel.y.size))[first]
        top = 0.0 if fit.strangers.reach is None else own.max(axis=1, keepdims=True)
        shape, at, rho = np.exp(own - top), fit.at(int(r)), float(fit.rho[r])
        mass = fit.strangers.join(shape) * at.table(rho)[value]
        level = rng.random((value.size, 1))
        y[d, :-1] = invert_rows(np.cumsum(mass, axis=1), level, kernel.y)[:, 0]
        fresh = _expected_largest(shape * at.reach_or_one(rho), kernel.psi)
        y[d, -1] = np.interp(fresh, kernel.psi, kernel.y)
    rhos, z = shared
    skill = law.remove_shift(law.skill_at(y), (rhos * z)[:, None])
    return {
        "theta_sota": skill[:, :-1].max(axis=1),
        "winner_skill": skill[:, winner],
        "expected_sota": skill[:, -1],
        "rho": rhos,
        "shift": z,
        "n_classifiers": draw_tries(fit, len(y), rng),
        "leaders": np.sort(skill[:, :-1], axis=1)[:, -LEADERS:],
    }


def _expected_largest(mass: FloatArray, psi: FloatArray) -> float:
    """Expected largest of one new psi from each row of masses on a grid."""
    cdf = np.cumsum(mass, axis=1)
    largest = np.exp(np.sum(np.log(np.maximum(cdf / cdf[:, -1:], _TINY)), axis=0))
    return float(np.diff(largest, prepend=0.0) @ psi)


def _redrawn_above(low: FloatArray, z: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Independent standard normals given that they are above ``low``: those below are redrawn."""
    below = z < low
    tail = ndtr(-np.minimum(low[below], _FURTHEST))
    z[below] = -ndtri(tail * (1 - rng.random(tail.size)))
    return z


def _moved_above(low: FloatArray, z: FloatArray) -> FloatArray:
    """Standard normals at the same quantiles above ``low``, so that they stay correlated."""
    tail = ndtr(-np.minimum(low, _FURTHEST))
    return -ndtri(np.maximum(tail * ndtr(-z), 1e-307))
