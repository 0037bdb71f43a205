r"""Joint draws of the true skills of all entries of a board, and what follows from them.

Given rho and the parameters of the field, entries are independent in board-conditional skill: each
is drawn by its inverse cdf, and one shift for all:

.. math:: p(\psi_j \mid x_j, \phi, \rho) \propto P(\psi_j \mid \phi)\, p(x_j \mid \psi_j, \rho),
          \quad \theta_j = \psi_j - \ell_j q_j\, sd_j\, z

From answers the normal scores of the draws have the correlation R of the residual errors:
classifiers are assumed to resemble each other in skill as in their remaining mistakes. A fresh
board is simulated given that its scores are in the modelled part.

``tests/leaderboard/test_entry_skills.py`` compares with quadrature, linear algebra and simulated
boards, ``tests/leaderboard/test_predictive.py`` the fresh boards.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Fit, Parameters
from bayes_sota.core.numerics import CERTAIN, invert_rows, one_thread
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.anchors import known_skills, shift_given
from bayes_sota.leaderboard.evidence import TINY, Evidence, Tables
from bayes_sota.leaderboard.fit import FieldFit, place_within
from bayes_sota.maximum.fresh_test_sets import fresh_test_set

REPEATS = 4  # draws per set of parameters
LEADERS = 40  # classifiers that could get the best score on a fresh test set
_NUMBERS, _FEW, _ROWS = 4_000_000, 1_000_000, 50  # of an array at a time
_TRIES = 60  # of the skill of an entry below the modelled part
_FARTHEST = 6.5  # normal quantiles: beyond, a cumulative sum and its end are the same number
_BEYOND, _HIGHER = 60, 4.0  # cells above the grid, and log odds that they reach
_NODES = 500  # of the grid that covers the prior


@dataclass(frozen=True, eq=False)
class Skills:
    """Draws of the classifiers behind the modelled entries.

    Attributes
    ----------
    classifier : ndarray of int, shape (E,)
        Column of each modelled entry; -1 where it is among the others.
    psi : ndarray, shape (D, C)
        Board-conditional skills.
    others, fresh_best : ndarray, shape (D,)
        Psi of the best of all others (far below, or not listed), -inf without any; expected best
        psi of as many fresh classifiers.
    known : (ndarray of int, shape (k,), ndarray, shape (D, k)), optional
        Columns of known skills, and their draws.
    """

    fit: FieldFit
    parameters: Parameters
    classifier: IntArray
    psi: FloatArray
    others: FloatArray
    fresh_best: FloatArray
    rho: FloatArray
    shift: FloatArray
    tries: FloatArray
    known: tuple[IntArray, FloatArray] | None = None

    @cached_property
    def entry_of(self) -> IntArray:
        column, first = np.unique(self.classifier, return_index=True)
        return self.fit.evidence.entries[first[column >= 0]]

    @cached_property
    def theta(self) -> FloatArray:
        evidence, theta = self.fit.evidence, np.empty_like(self.psi)
        for start in range(0, len(theta), _ROWS):  # what fits into a cache
            rows = slice(start, start + _ROWS)
            moved = evidence.moved(self.rho[rows], self.shift[rows], self.entry_of)
            theta[rows] = evidence.law.remove_shift(self.psi[rows], moved)
        if self.known is not None:
            theta[:, self.known[0]] = self.known[1]
        return theta

    @cached_property
    def best(self) -> FloatArray:
        return self._leaders.max(axis=1)

    @cached_property
    def _leaders(self) -> FloatArray:
        """True skills of the best scores and of the best of all others, (D, 41) at most."""
        others = self.theta[:, :-LEADERS].max(axis=1, initial=-np.inf)
        if not np.isneginf(self.others).all():
            hidden = self.fit.evidence.law.remove_shift(self.others, self.rho * self.shift)
            others = np.maximum(others, hidden)
        leaders = self.theta[:, -LEADERS:]
        return leaders if np.isneginf(others).all() else np.column_stack([leaders, others])

    def with_known(self, rng: np.random.Generator) -> "Skills":
        evidence, anchors = self.fit.evidence, self.fit.evidence.board.anchors
        which, row = np.nonzero(anchors.entry[:, None] == evidence.entries)
        alone = np.bincount(self.classifier)[self.classifier[row]] == 1
        which, columns, psi = which[alone], self.classifier[row[alone]], self.psi.copy()
        of = self.theta[:, columns], psi[:, columns].var(axis=0)
        known = known_skills(anchors, evidence.law, which, *of, rng)
        moved = evidence.moved(self.rho, self.shift, self.entry_of[columns])
        psi[:, columns] = evidence.law.add_shift(known, moved)
        return replace(self, psi=psi, known=(columns, known))

    @cached_property
    def winner(self) -> FloatArray:
        """Skill of the best score, (D,); ties take turns, those with unknown skills first."""
        evidence = self.fit.evidence
        score = evidence.scores[evidence.entries]
        first = (score == score.max()) & (self.classifier >= 0)
        others = first & ~np.isin(evidence.entries, evidence.known_entries)
        tied = np.unique(self.classifier[others if others.any() else first])
        draw = np.arange(len(self.theta))
        return self.theta[draw, tied[draw % tied.size]]

    def estimands(self) -> dict[str, FloatArray]:
        evidence = self.fit.evidence
        at_most = np.searchsorted(np.sort(evidence.scores), self.best, side="right")
        expected = evidence.law.remove_shift(self.fresh_best, self.rho * self.shift)
        return {
            "theta_sota": self.best,
            "winner_skill": self.winner,
            "expected_sota": expected,
            "rho": self.rho,
            "shift": self.shift,
            "n_classifiers": self.tries,
            "n_above_sota": (evidence.scores.size - at_most).astype(np.float64),
        }

    def new_scores(self, n_test: int | None, rng: np.random.Generator) -> dict[str, FloatArray]:
        evidence, size, columns = self.fit.evidence, len(self.theta), self.entry_of
        if evidence.shares_scores:
            test_set, rows = fresh_test_set(evidence.board, rng, self.rho), np.arange(size)
            leaders = np.sort(self._leaders, axis=1)[:, -LEADERS:]
            scores = np.array([test_set.play(rng, rows, one) for one in leaders.T]).T
            winner = test_set.play(rng, rows, self.winner)
        else:
            ratio = evidence.ratio if evidence.new_ratio is None else evidence.new_ratio
            loading = evidence.loading(self.rho[:, None], columns)
            own = evidence.draw_normal((size,), rng)[:, self.fit.classifiers[2]]
            again = evidence.explained  # which fresh items share again
            loading = np.sqrt(again + (1 - again) * loading**2)
            error = loading * rng.standard_normal((size, 1)) + np.sqrt(1 - loading**2) * own
            error *= evidence.wider((size, 1), rng)
            alone = rng.standard_normal(size) * evidence.wider((size,), rng)
            first = evidence.board.order[0]
            scores = evidence.law.with_error(self.theta, error, n_test, ratio[columns])
            winner = evidence.law.with_error(self.winner, alone, n_test, ratio[first])
        return {"winner_new_score": winner, "best_new_score": scores.max(axis=1)}

    @one_thread()
    def of_all(self, rng: np.random.Generator) -> NDArray[np.float32]:
        """True skills of all entries, (D, m); every modelled entry must have a column."""
        evidence, law = self.fit.evidence, self.fit.evidence.law
        skill = np.empty((len(self.theta), evidence.scores.size), np.float32)
        skill[:, evidence.entries] = self.theta[:, self.classifier]
        worst_first = evidence.loadings.order
        below = worst_first[~evidence.modelled[worst_first]]
        for r, f, draws in self.parameters.cells(self.fit, _ROWS) if below.size else ():
            psi = self._draw_below(below, draws, r, rng)
            if evidence.shares_scores:
                falling, left = self._falling(f, draws), np.ones(psi.shape, bool)
                for _ in range(_TRIES):
                    left &= rng.random(psi.shape) > np.interp(psi, evidence.psi, falling)
                    if not left.any():
                        break
                    psi = np.where(left, self._draw_below(below, draws, r, rng), psi)
            moved = evidence.moved(self.rho[draws], self.shift[draws], below)
            skill[draws[:, None], below] = law.remove_shift(psi, moved)
        anchors = evidence.board.anchors
        if anchors is not None and (which := np.flatnonzero(np.isin(anchors.entry, below))).size:
            low = skill[:, anchors.entry[which]].astype(float)
            known = known_skills(anchors, law, which, low, low.var(axis=0), rng)
            skill[:, anchors.entry[which]] = known
        return skill

    def _draw_below(
        self, below: IntArray, draws: IntArray, r: int, rng: np.random.Generator
    ) -> FloatArray:
        evidence, law = self.fit.evidence, self.fit.evidence.law
        rho, scores = self.rho[draws, None], evidence.seen[below]
        variance = evidence.own_as_printed(rho, below)
        if not evidence.has_luck:
            return law.draw_psi(scores, variance, rng)
        kinds = np.broadcast_to(evidence.kinds[below], variance.shape)
        low = np.full(variance.shape, -np.inf)
        noise = evidence.noise(float(self.fit.nodes.luck[r])).draw_above(low, kinds, rng)
        return law.inside(scores - law.errors_at(law.inside(scores)) * np.sqrt(variance) * noise)

    def _falling(self, f: int, draws: IntArray) -> FloatArray:
        """Falling part of the mean shape at the grid, relative to its maximum, (G,)."""
        evidence, points = self.fit.evidence, self.parameters.points(self.fit, draws)
        shape = self.fit.shape_of(self.fit.families[f], np.unique(points, axis=0))[0]
        falling = np.maximum.accumulate(shape[:, ::-1], axis=1)[:, ::-1]
        edge = int(np.searchsorted(evidence.y, evidence.law.places(evidence.values[:1])[0][0]))
        falling[:, :edge] = falling[:, edge, None]
        falling = falling.mean(axis=0)
        return falling / falling[0]


def draw_posterior(
    fit: FieldFit, draws: int, rng: np.random.Generator, *, every: bool = False
) -> Skills:
    """Draws of every modelled entry, or of those that may be the best."""
    return draw_skills(fit, draw_parameters(fit, draws, rng), rng, every=every)


def draw_parameters(fit: Fit, draws: int, rng: np.random.Generator) -> Parameters:
    """Posterior draws of parameters, four of each chosen point."""
    sets = -(-draws // REPEATS)
    return fit.choose(sets, rng)[rng.permutation(sets * REPEATS)[:draws] // REPEATS]


@one_thread()
def draw_skills(
    fit: FieldFit,
    parameters: Parameters,
    rng: np.random.Generator,
    *,
    every: bool = False,
    shapes: Callable[[IntArray], FloatArray] | None = None,
    shared: tuple[FloatArray, FloatArray] | None = None,
) -> Skills:
    """Skills given the parameters of the field: of all, or of leaders and the best of the others.

    ``shapes`` gives densities of some draws at ``wider_grid``; ``shared`` rho and shift, (D,) each.
    """
    evidence, size, copies = fit.evidence, parameters.node.size, fit.copies
    rho, shift = draw_shared(fit, parameters, rng) if shared is None else shared
    classifier, row, first = fit.classifiers
    every = every or not evidence.shares_scores or evidence.known_entries.size > 0
    columns = row.size if every else min(row.size, LEADERS)
    row = row[-columns:]  # the last rows have the best scores
    rest = np.maximum(copies - np.bincount(row, minlength=copies.size), 0.0)
    drawn, place = np.unique(row, return_inverse=True)
    tries, psi = draw_tries(fit, size, rng), np.empty((size, columns))
    others, fresh = np.full(size, -np.inf), np.empty(size)
    every_y, widths = wider_grid(evidence)
    block = int(np.clip(_NUMBERS // (evidence.y.size * copies.size), 4, 200))
    for r, f, draws in parameters.cells(fit, block):
        table, at = fit.tables[r], np.arange(draws.size)
        if shapes is not None:
            wider = shapes(draws)
        else:
            points, at = np.unique(parameters.points(fit, draws), axis=0, return_inverse=True)
            at = at.ravel()
            wider = fit.shape_of(fit.families[f], points, every_y)[0][:, None]
        alone = wider.shape[1] > 1  # an entry has a field of its own
        density = fit.join(wider[:, :, : evidence.y.size])
        cdf = np.cumsum(density * (table.score[row] if alone else table.score), axis=2)
        level = _levels(evidence, at, first, columns, rng)
        of_drawn = cdf if alone else cdf[:, drawn]
        rows = at[:, None] * of_drawn.shape[1] + (np.arange(columns) if alone else place)
        y = invert_rows(of_drawn.reshape(-1, evidence.y.size), level, evidence.y, rows)
        psi[draws] = evidence.law.skill_at(y)
        mass = wider * np.append(table.typical, np.ones(_BEYOND)) * widths
        fresh[draws] = expected_best(mass, copies.sum(), evidence.law.skill_at(every_y))[at]
        if rest.any() or evidence.board.is_partial:
            if alone:
                what = "each score of the model has its own density, and classifiers are not listed"
                raise InputError(f"{what}: theta_sota needs their densities as well")
            log_cdf = _log_cdf_of_best(cdf, rest)[at]
            log_cdf = log_cdf + log_hidden(fit, table, density[at, 0], tries[draws])
            y = invert_rows(np.exp(log_cdf), rng.random((draws.size, 1)), evidence.y)
            others[draws] = evidence.law.skill_at(y[:, 0])
    index = np.maximum(classifier - classifier.max() - 1 + columns, -1)
    skills = Skills(fit, parameters, index, psi, others, fresh, rho, shift, tries)
    return skills.with_known(rng) if evidence.known_entries.size else skills


def wider_grid(evidence: Evidence) -> tuple[FloatArray, FloatArray]:
    """The grid with cells above it, where the best of a wide field may lie, and all widths."""
    width = _HIGHER / _BEYOND
    beyond = evidence.y[-1] + evidence.step / 2 + width * (np.arange(_BEYOND) + 0.5)
    widths = np.repeat([evidence.step, width], [evidence.y.size, _BEYOND])
    return np.append(evidence.y, beyond), widths


def draw_shared(
    fit: FieldFit, parameters: Parameters, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Rho within the cells of nodes, and the shift, from their priors or given anchors.

    Four draws of a point have shifts in different quarters.
    """
    point, size = parameters.point, parameters.node.size
    begin = rng.integers(REPEATS, size=point.max() + 1)[point]
    quarter = (place_within(point) + begin) % REPEATS
    shift = ndtri((quarter + rng.random(size)) / REPEATS)
    rho, shift = fit.nodes.draw_rho(parameters.node, rng), shift * fit.evidence.wider((size,), rng)
    board = fit.evidence.board
    if board.anchors is not None and fit.evidence.adjusted is None:
        mean, sd = shift_given(board, fit.evidence.law, rho)
        shift = mean + sd * shift
    return rho, shift


def draw_tries(fit: FieldFit, size: int, rng: np.random.Generator) -> FloatArray:
    """Numbers of classifiers, (size,): known, or from their prior, at least those listed."""
    tries = fit.evidence.board.n_classifiers
    if isinstance(tries, int):
        return np.full(size, float(tries))
    return np.maximum(tries.quantile(rng.random(size)), fit.copies.sum())


def _levels(
    evidence: Evidence, point: IntArray, entry: IntArray, columns: int, rng: np.random.Generator
) -> FloatArray:
    if evidence.shares_scores:
        begin = rng.integers(REPEATS, size=(point.max() + 1, columns))[point]
        quarter = (place_within(point)[:, None] + begin) % REPEATS
        return (quarter + rng.random(quarter.shape)) / REPEATS
    normal = evidence.draw_normal((point.size,), rng)[:, entry]
    normal *= evidence.wider((point.size, 1), rng)
    return ndtr(np.clip(normal, -_FARTHEST, _FARTHEST))


def _log_cdf_of_best(cdf: FloatArray, copies: FloatArray) -> FloatArray:
    most = int(np.argmax(copies))
    impossible = np.exp(-CERTAIN / max(copies[most], TINY)) * cdf[:, most, -1:]
    start = int(np.argmax((cdf[:, most] >= impossible).any(axis=0)))  # of where the best may lie
    kept, log_cdf = cdf[:, copies > 0], np.full(cdf[:, 0].shape, -np.inf)
    ratio = kept[:, :, start:] / np.maximum(kept[:, :, -1:], TINY)
    log_cdf[:, start:] = copies[copies > 0] @ np.log(np.maximum(ratio, TINY))
    return log_cdf


def log_hidden(fit: FieldFit, table: Tables, density: FloatArray, tries: FloatArray) -> FloatArray:
    """Log probability that no unlisted entry has a higher skill, (D, G)."""
    mass, reached = density * (1 - table.typical), density @ table.typical
    rate = (fit.copies.sum() / np.maximum(reached, TINY))[:, None]
    unlisted = np.maximum(tries - fit.evidence.scores.size, 0)[:, None]
    listed = np.maximum(rate * mass.sum(axis=1, keepdims=True), TINY)
    return -np.minimum(1.0, unlisted / listed) * rate * (_from_above(mass) - mass)


def _from_above(mass: FloatArray) -> FloatArray:
    return np.cumsum(mass[..., ::-1], axis=-1)[..., ::-1]


def expected_best(mass: FloatArray, count: float, psi: FloatArray) -> FloatArray:
    """Expected best psi of ``count`` classifiers, (N,), an equal part from each mass, (N, k, G)."""
    above = _from_above(mass)
    beyond = above[..., 1:] / np.maximum(above[..., :1], TINY)
    log_cdf = np.zeros(mass[:, 0].shape)
    log_cdf[:, :-1] = np.log1p(-np.minimum(beyond, 1 - 1e-12)).sum(axis=1)
    return np.diff(np.exp(count / mass.shape[1] * log_cdf), axis=1, prepend=0.0) @ psi


@one_thread()
def fresh_scores(
    fit: FieldFit, parameters: Parameters, rng: np.random.Generator, psi: FloatArray | None = None
) -> FloatArray:
    """Scores of fresh boards with the design of this one, (D, E); of entries with psi, if given."""
    scores = np.empty((parameters.node.size, fit.evidence.entries.size))
    classifier, _, first = fit.classifiers
    for r, f, draws in parameters.cells(fit, _block(fit.evidence)):
        if psi is None:
            density = fit.density(fit.families[f], parameters.points(fit, draws))
            at = draw_fresh(fit, fit.tables[r], density, rng)
        else:
            at = psi[draws]
        drawn = fit.evidence.draw_scores(at, float(fit.rho[r]), float(fit.nodes.luck[r]), rng)
        scores[draws] = drawn[:, first][:, classifier]  # copies of a classifier have one score
    return scores


def draw_fresh(
    fit: FieldFit, table: Tables, density: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Psi of new classifiers behind the modelled entries, (N, E), given that they are modelled."""
    evidence, kinds = fit.evidence, fit.evidence.kind[fit.evidence.row]
    classifier, _, first = fit.classifiers
    level = evidence.draw_levels((len(density),), rng)[:, first][:, classifier]
    reach = np.ones((1, evidence.y.size)) if table.reach is None else table.reach
    kinds = kinds if len(reach) > 1 else np.zeros_like(kinds)
    if density.ndim == 3:
        mass, rows = density * reach[kinds], np.arange(level.size).reshape(level.shape)
    else:
        mass, rows = density[:, None] * reach, np.arange(len(density))[:, None] * len(reach) + kinds
    cdf = np.cumsum(mass.reshape(-1, evidence.y.size), axis=1)
    return evidence.law.skill_at(invert_rows(cdf, level, evidence.y, rows))


def _block(evidence: Evidence) -> int:
    rows = evidence.n_kinds if evidence.is_cut else 1
    return int(np.clip(_FEW // max(evidence.entries.size, rows * evidence.y.size), 1, 256))


@one_thread()
def prior_boards(
    fit: FieldFit,
    parameters: Parameters,
    rho: FloatArray,
    shift: FloatArray,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Boards from the prior: scores (D, E), their best, and skills of winner and best, (D,)."""
    wide = replace(fit, evidence=replace(fit.evidence, y=prior_grid(fit)))
    evidence, law, size = wide.evidence, wide.evidence.law, parameters.node.size
    psi = np.empty((size, evidence.entries.size))
    hidden, tries = np.full(size, evidence.psi[0]), draw_tries(fit, size, rng)
    for r, f, draws in parameters.cells(wide, _block(evidence)):
        shape = fit.shape_of(fit.families[f], parameters.points(fit, draws), evidence.y)[0]
        density = wide.join(shape)
        psi[draws] = draw_fresh(wide, wide.tables[r], density, rng)
        if evidence.board.is_partial:
            below = np.exp(log_hidden(wide, wide.tables[r], density, tries[draws]))
            y = invert_rows(below, rng.random((draws.size, 1)), evidence.y)
            hidden[draws] = law.skill_at(y[:, 0])
    scores = fresh_scores(wide, parameters, rng, psi)
    theta = law.remove_shift(psi, evidence.moved(rho, shift, evidence.entries))
    return {
        "score": scores,
        "theta_sota": np.maximum(theta.max(axis=1), law.remove_shift(hidden, rho * shift)),
        "winner_skill": theta[np.arange(size), np.argmax(scores, axis=1)],
        "observed_maximum": scores.max(axis=1),
    }


def prior_grid(fit: FieldFit) -> FloatArray:
    """Grid that covers the fields of the prior, above the cut if there is one."""
    scale, (low, high) = fit.scale, fit.evidence.y[[0, -1]]
    reach = 4 * scale.location_sd + 4 * np.exp(scale.log_spread + 2 * scale.log_spread_sd)
    low = low if fit.evidence.is_cut else min(low, scale.location - reach)
    return np.linspace(low, max(high, scale.location + reach), _NODES)
