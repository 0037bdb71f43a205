r"""Posterior of the true state of the art when the scores of a whole leaderboard are observed.

The model, in the coordinates in which nothing about the shift can be learnt by mistake
(board-conditional skill ``psi``):

.. math:: \psi_j \sim P(\psi \mid \phi), \quad x_j \mid \psi_j \sim \text{variance }
          (1-\rho^2)\,sd_j^2, \quad \theta_j = \psi_j - \rho\, sd_j\, z, \quad z \sim N(0, 1)

``z`` is what all scores of one board share, because they share the items. One leaderboard holds
one draw of it and cannot tell it: ``z`` and ``rho`` keep their priors, and rho is the same number
in both places. P(psi) is an average over families weighted by their evidence, fitted to the top
part of the board (``fit.modelled_entries``). A replicated board is drawn as the model says, given
that its scores are in the modelled part.

Why not the textbook model: with skills normal and the shift learnt jointly, intervals of 95 %
covered 52 to 100 % on real classifiers. ``docs/measured/calibration.md`` has what this model does
there, ``tests/leaderboard/test_posterior.py`` the second route.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, DRAWS, generator_of
from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, stratified
from bayes_sota.core.priors import BoardPriors, Priors, board_priors
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import FieldFit, fit_field
from bayes_sota.leaderboard.submissions import kernel_of
from bayes_sota.maximum.score_laws import AucScoreLaw, score_law

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
_GAPS = (1, 2, 5)
REPEATS = 4  # draws per set of parameters
BLOCK = 48  # sets of parameters at a time
_REACH = 8.0  # scores this many standard errors below the best cannot belong to the best
LEADERS = 40  # classifiers that could get the best score on a fresh test set
_LEAST_EFFECTIVE = 75.0
_LARGE_GAP = 8.0
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class LeaderboardPosterior:
    """Draws from the posterior of a whole leaderboard.

    Attributes
    ----------
    draws : dict of str to ndarray, shape (D,)
        theta_sota, expected_sota, winner_skill, winner_new_score, best_new_score, rho, shift,
        n_classifiers, n_above_sota; submission_luck where entries had several submissions; names
        as in ``bayes_sota.core.schema``.
    fit : FieldFit
        Weighted parameters behind the draws.
    reasons : tuple of str
        Why the result cannot be trusted; empty where it can.
    notes : tuple of str
        What a reader should know: what was left out, merged or unusual.
    parameters : Parameters
        Family, node of rho and coordinates behind each draw.
    """

    draws: dict[str, FloatArray]
    fit: FieldFit
    reasons: tuple[str, ...]
    notes: tuple[str, ...]
    parameters: Parameters


def leaderboard_posterior(
    board: Leaderboard,
    priors: Priors | BoardPriors | None = None,
    *,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = DEFAULT_SEED,
    new_n_test: int | None = None,
) -> LeaderboardPosterior:
    """Posterior of theta_sota from all scores of a board, in well under a second.

    Parameters
    ----------
    board : Leaderboard
        With scores; ``n_classifiers`` above the number of entries means that only the best were
        listed.
    priors : Priors, optional
    draws : int
        Number of draws.
    random_seed : int, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.

    Returns
    -------
    LeaderboardPosterior

    Raises
    ------
    InputError
        Only the maximum is known, or fewer than two scores.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> posterior = leaderboard_posterior(board, random_seed=0)
    >>> bool(posterior.draws["theta_sota"].mean() < 0.93)
    True
    """
    DRAWS.check(draws, "draws")
    rng = generator_of(random_seed)
    priors = board_priors(priors)
    kernel = kernel_of(board)
    fit = fit_field(kernel, priors, rng)
    values, parameters = draw_with_parameters(fit, draws, rng, new_n_test)
    if kernel.has_luck:
        values["submission_luck"] = fit.nodes.draw_luck(parameters.node, rng)
    reasons, notes = tuple(reasons_of(fit)), tuple(notes_of(fit))
    return LeaderboardPosterior(values, fit, reasons, notes, parameters)


def draw_with_parameters(
    fit: FieldFit,
    draws: int,
    rng: np.random.Generator,
    new_n_test: int | None = None,
) -> tuple[dict[str, FloatArray], Parameters]:
    """Posterior draws from a fit, with the parameters behind each.

    Parameters
    ----------
    fit : FieldFit
        All families, or one (``FieldFit.of_family``).
    draws : int
    rng : Generator
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.

    Returns
    -------
    dict of str to ndarray, shape (draws,)
    Parameters
    """
    sets = -(-draws // REPEATS)
    blocks, samplers = [], dict[int, NodeSampler]()
    chosen = fit.choose(sets, rng)
    for r, f, points in chosen:
        if r not in samplers:
            samplers = {r: NodeSampler(fit, r)}  # nodes come one after the other
        for start in range(0, len(points), BLOCK):
            block = points[start : start + BLOCK]
            blocks.append(samplers[r].draw(fit.families[f], block, rng))
    order = rng.permutation(sets * REPEATS)[:draws]
    values = {name: np.concatenate([block[name] for block in blocks])[order] for name in blocks[0]}
    parameters = Parameters.of(fit, chosen, REPEATS)[order]
    return complete_draws(values, fit, rng, new_n_test), parameters


def complete_draws(
    values: dict[str, FloatArray],
    fit: FieldFit,
    rng: np.random.Generator,
    new_n_test: int | None = None,
) -> dict[str, FloatArray]:
    """Draws of a ``NodeSampler`` with the scores on a fresh test set and ``n_above_sota``."""
    law = fit.kernel.law
    winner = law.new_score(values["winner_skill"], new_n_test, rng)
    best = law.best_new_score(values["leaders"], values["rho"], new_n_test, rng)
    return {
        **{name: draws for name, draws in values.items() if name != "leaders"},
        "winner_new_score": winner,
        "best_new_score": best,
        "n_above_sota": count_above(fit.kernel.scores, values["theta_sota"]),
    }


def count_above(scores: FloatArray, level: FloatArray) -> FloatArray:
    """How many scores lie above each level."""
    above = scores.size - np.searchsorted(np.sort(scores), level, side="right")
    return above.astype(np.float64)


class NodeSampler:
    """Exact draws of the best and the winner's skill at one rho."""

    def __init__(self, fit: FieldFit, r: int) -> None:
        """Tabulate what all draws at node r of rho share."""
        kernel, rho = fit.at(r), float(fit.rho[r])
        self.fit, self.kernel = fit, kernel
        self.node = r
        within = kernel.law.depth(kernel.values / kernel.law.unit) <= _REACH
        within[-min(2, within.size) :] = True
        self.copies = fit.copies[within]
        self.total = fit.copies.sum()
        self.leaders, self.rest = _leaders(self.copies)
        self.table = kernel.table(rho)[within]
        self.reach = kernel.reach_or_one(rho)
        self.hidden = None
        if kernel.board.is_partial:
            self.hidden = 1 - kernel.reach(rho, level=kernel.values[0])

    def draw(
        self,
        family: str,
        points: FloatArray,
        rng: np.random.Generator,
        shared: tuple[FloatArray, FloatArray] | None = None,
    ) -> dict[str, FloatArray]:
        """``REPEATS`` draws for each point of a family, with given rho and shift of each or new.

        A fresh field has the shape alone, while an entry of this board may be a stranger.
        """
        shape = self.fit.density(family, points, strangers=False)
        density = self.fit.strangers.join(shape)
        kernel, size = self.kernel, len(density) * REPEATS
        tries = draw_tries(self.fit, size, rng)
        per_set = tries.reshape(-1, REPEATS).mean(axis=1, keepdims=True)
        cdf, row = self.cdfs(density, per_set)
        y, sets = kernel.y, np.arange(len(density))[:, None, None] * cdf.shape[1]
        level = rng.random((len(density), REPEATS, row.size))
        of_leaders = invert_rows(cdf.reshape(-1, y.size), level, y, sets + row)
        skills = of_leaders.reshape(size, row.size)
        fresh = expected_best(shape * self.reach, self.total, kernel.psi)
        best = np.repeat(np.interp(fresh, kernel.psi, y), REPEATS)
        if shared is None:
            rho = self.fit.nodes.draw_rho(np.full(size, self.node), rng)
            z = rng.standard_normal(size)
        else:
            rho, z = (np.repeat(values, REPEATS) for values in shared)
        psi = kernel.law.skill_at(np.column_stack([skills, best]))
        skill = kernel.law.remove_shift(psi, (rho * z)[:, None])
        return {
            "theta_sota": skill[:, :-1].max(axis=1),
            "winner_skill": skill[:, 0],
            "expected_sota": skill[:, -1],
            "rho": rho,
            "shift": z,
            "n_classifiers": tries,
            "leaders": np.sort(skill[:, :-1], axis=1)[:, -LEADERS:],
        }

    def cdfs(self, density: FloatArray, tries: FloatArray) -> tuple[FloatArray, IntArray]:
        """Cdfs of the skills with leading scores and of the best of all others, (sets, K, G).

        With the row of each leader, best score first, and of the others. ``tries`` are numbers of
        classifiers, (sets, 1).
        """
        cdf = np.cumsum(density[:, None, :] * self.table, axis=2)
        cdf /= np.maximum(cdf[:, :, -1:], _TINY)
        others = self.rest > 0
        log_cdf = np.log(np.maximum(cdf[:, others], _TINY))
        rest = np.exp(self.rest[others] @ log_cdf + self.log_hidden(density, tries))
        first = self.leaders[-1]
        rows = np.concatenate([cdf[:, first:], rest[:, None]], axis=1)
        return rows, np.append(self.leaders - first, rows.shape[1] - 1)

    def best_cdf(
        self, family: str, points: FloatArray, weights: FloatArray, rng: np.random.Generator
    ) -> FloatArray:
        """Probability that the highest psi lies in a cell of the grid or below, (G,).

        It is averaged over points of a family, with weights that sum to 1.
        """
        cdf = np.zeros(self.kernel.y.size)
        for start in range(0, len(points), BLOCK):
            block = slice(start, start + BLOCK)
            density = self.fit.density(family, points[block])
            log_cdf = np.log(np.maximum(np.cumsum(density[:, None] * self.table, axis=2), _TINY))
            tries = draw_tries(self.fit, len(density), rng)[:, None]
            log_best = self.copies @ (log_cdf - log_cdf[:, :, -1:])
            cdf += weights[block] @ np.exp(log_best + self.log_hidden(density, tries))
        return cdf

    def log_hidden(self, density: FloatArray, tries: FloatArray) -> FloatArray:
        """Log probability that no entry that is not listed has a higher skill, (sets, G).

        ``tries`` are numbers of classifiers, (sets, 1).
        """
        if self.hidden is None:
            return np.zeros_like(density)
        mass = density * self.hidden
        rate = self.total / np.maximum(_from_above(density * self.reach)[:, :1], _TINY)
        unlisted = np.maximum(tries - self.kernel.modelled.size, 0)
        listed = np.maximum(rate * mass.sum(axis=1, keepdims=True), _TINY)
        return -np.minimum(1.0, unlisted / listed) * rate * (_from_above(mass) - mass)


@dataclass(frozen=True, eq=False)
class BestSkill:
    """Law of the highest psi at each node of rho, by family, to be weighed as is assumed.

    What the rows of a sensitivity analysis share; ``tests/leaderboard/test_sample_estimate.py``
    compares with draws that share nothing.

    Attributes
    ----------
    fit : FieldFit
    cdf : ndarray, shape (R, F, G)
        As of ``NodeSampler.best_cdf``.
    """

    fit: FieldFit
    cdf: FloatArray

    @classmethod
    def of(cls, fit: FieldFit, rng: np.random.Generator, sets: int, least: int = 0) -> "BestSkill":
        """Laws from so many sets of parameters at each value of rho, ``least`` of each family."""
        cdf = np.zeros((fit.rho.size, len(fit.families), fit.kernel.y.size))
        for r in range(fit.rho.size):
            sampler = NodeSampler(fit, r)
            each = np.ceil(np.maximum(fit.family_weights[:, r] * sets, least) / fit.nodes.lucks)
            for f in np.flatnonzero(each):
                times = stratified(fit.points[f].weights[:, r], int(each[f]), rng)
                points, weights = fit.points[f].points[times > 0], times[times > 0] / each[f]
                cdf[r, f] = sampler.best_cdf(fit.families[f], points, weights, rng)
        return cls(fit, cdf)

    @cached_property
    def _quantiles(self) -> tuple[FloatArray, FloatArray]:
        """Levels and quantiles of the prior of rho, close enough to lie on a line between."""
        levels = np.linspace(0, 1, 1025)
        return levels, self.fit.priors.correlation.quantile(levels)

    def draw(
        self,
        draws: int,
        rng: np.random.Generator,
        assumed: FieldFit | None = None,
    ) -> FloatArray:
        """Draws of theta_sota, (draws,).

        Parameters
        ----------
        draws : int
        rng : Generator
            Draws of the same state share their random numbers.
        assumed : FieldFit, optional
            The same fit with other weights of rho, or with one family.
        """
        fit = self.fit if assumed is None else assumed
        cdf = self.cdf[:, [self.fit.families.index(name) for name in fit.families]]
        mixed = np.einsum("fr,rfg->rg", fit.family_weights, cdf)
        node = np.repeat(np.arange(fit.rho.size), stratified(fit.node_weights, draws, rng))
        level, cell = rng.random((2, draws))
        kernel, cells = fit.kernel, fit.nodes.cells
        y = invert_rows(mixed, level, kernel.y, node)
        rho = np.interp((node // fit.nodes.lucks + cell) / cells, *self._quantiles)
        return kernel.law.remove_shift(kernel.law.skill_at(y), rho * rng.standard_normal(draws))


def draw_tries(fit: FieldFit, size: int, rng: np.random.Generator) -> FloatArray:
    """Numbers of classifiers, (size,): known, or from their prior but not below what is seen."""
    tries = fit.kernel.board.n_classifiers
    if isinstance(tries, int):
        return np.full(size, float(tries))
    return np.maximum(tries.quantile(rng.random(size)), fit.copies.sum())


def _from_above(mass: FloatArray) -> FloatArray:
    """Sum of each row from every place on."""
    return np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]


def expected_best(density: FloatArray, count: float, psi: FloatArray) -> FloatArray:
    """Expected best psi of fields of so many draws from densities on a grid, (N,)."""
    above = _from_above(density)
    beyond = np.append(above[:, 1:], np.zeros((len(above), 1)), axis=1)
    beyond = beyond / np.maximum(above[:, :1], _TINY)
    log_cdf = count * np.log1p(-np.minimum(beyond, 1 - 1e-12))
    mass = np.diff(np.exp(log_cdf), axis=1, prepend=0.0)
    return mass @ psi / np.maximum(mass.sum(axis=1), _TINY)


def _leaders(copies: FloatArray) -> tuple[IntArray, FloatArray]:
    """Score index of the classifiers drawn one by one, best score first, and how many are left."""
    among = np.minimum(np.cumsum(np.floor(copies[::-1])), LEADERS)
    drawn = np.diff(among, prepend=0)[::-1]
    return np.repeat(np.arange(copies.size), drawn.astype(np.int64))[::-1], copies - drawn


@dataclass(frozen=True, eq=False)
class BoardCheck:
    """Observed statistics of the modelled part against replicated ones.

    Attributes
    ----------
    names : tuple of str
        The statistics: quantiles of the modelled scores, and gaps from the best score to the
        k-th next.
    observed : ndarray, shape (K,)
    replicated : ndarray, shape (draws, K)
    """

    names: tuple[str, ...]
    observed: FloatArray
    replicated: FloatArray

    @property
    def p_values(self) -> FloatArray:
        """Share of replications at least as large, ties by half, shape (K,)."""
        above = np.mean(self.replicated > self.observed, axis=0)
        return above + np.mean(self.replicated == self.observed, axis=0) / 2


def check_board(fit: FieldFit, rng: np.random.Generator, draws: int = 400) -> BoardCheck:
    """Replicate the modelled part of the board.

    Parameters
    ----------
    fit : FieldFit
    rng : Generator
    draws : int
        Number of replicated boards.

    Returns
    -------
    BoardCheck
        Gaps and quantiles do not depend on the shift, which all entries share.
    """
    kernel = fit.kernel
    observed = np.repeat(kernel.values, np.round(fit.copies).astype(int)) / kernel.law.unit
    boards = []
    for r, f, points in fit.choose(draws, rng):
        density = fit.density(fit.families[f], points)
        row = np.repeat(np.arange(len(points))[:, None], observed.size, axis=1)
        boards.append(fit.at(r).replicate(density, float(fit.rho[r]), row, rng))
    return compare_boards(observed, np.concatenate(boards))


def compare_boards(observed: FloatArray, boards: FloatArray) -> BoardCheck:
    """Statistics of a board, (n,), and of its replicates, (D, n)."""
    gaps = [k for k in _GAPS if k < observed.size]
    names = (*(f"quantile {q:g}" for q in _LEVELS), *(f"best minus next {k}" for k in gaps))
    return BoardCheck(names, _statistics(observed, gaps), _statistics(boards, gaps))


def _statistics(scores: FloatArray, gaps: list[int]) -> FloatArray:
    ordered = np.sort(scores, axis=-1)[..., ::-1]
    quantiles = np.moveaxis(np.quantile(ordered, _LEVELS, axis=-1), 0, -1)
    below = ordered[..., :1] - ordered[..., gaps]
    return np.concatenate([quantiles, below], axis=-1)


def few_points(fit: FieldFit) -> Iterator[str]:
    """Why the importance sample cannot be trusted."""
    if fit.effective_size < _LEAST_EFFECTIVE:
        yield (
            "importance sample of the hyperparameters has an effective size of "
            f"{fit.effective_size:.0f}, below {_LEAST_EFFECTIVE:.0f}"
        )


def reasons_of(fit: FieldFit) -> Iterator[str]:
    """Why a result cannot be trusted."""
    board = fit.kernel.board
    yield from few_points(fit)
    perfect = _perfect_entries(board)
    if perfect:
        yield (
            f"{counted(perfect, 'perfect score')} among {board.n_entries:,} entries on "
            f"{board.n_test:,} items, while no other comes near: the answers have probably leaked, "
            "so leave out what is perfect and fit the rest"
        )


def _perfect_entries(board: Leaderboard) -> int:
    """Perfect scores that stand apart from the others by more than eight standard errors."""
    if board.metric == "score":
        return 0
    law, scores = score_law(board), board.scores
    if isinstance(law, AucScoreLaw):
        perfect = scores >= 1 - law.table.lattice
    else:
        assert board.count_bounds is not None
        perfect = board.count_bounds[:, 1] >= board.n_test
    if not perfect.any() or perfect.all():
        return 0
    typical = float(np.quantile(scores[~perfect], 0.9))
    if board.metric == "auc":
        apart = float(law.depth(np.array([typical]))[0])
    else:
        error = np.sqrt(max(typical * (1 - typical), 0.5 / board.n_test) / board.n_test)
        apart = (1 - typical) / error
    return int(perfect.sum()) if apart > _LARGE_GAP else 0


def notes_of(fit: FieldFit) -> Iterator[str]:
    """What a reader should know: what was left out, merged or unusual."""
    board, kernel = fit.kernel.board, fit.kernel
    yield from board.notes
    modelled = int(kernel.modelled.sum())
    if modelled < kernel.modelled.size:
        yield (
            f"P(theta) is fitted to the best {modelled} of {kernel.modelled.size} entries, the "
            "others are too far below to be the best"
        )
    if kernel.has_luck:
        yield _told_of_submissions(fit)
    merged = int(kernel.copies.sum() - fit.copies.sum())
    if merged:
        spikes = int(np.sum(kernel.pooled(kernel.copies) > kernel.pooled(fit.copies)))
        yield (
            f"more entries share {counted(spikes, 'score')} than a smooth field explains: "
            f"{counted(merged, 'entry counts', 'entries count')} as copies of others there"
        )
    yield from _leading_gap(board)


def _told_of_submissions(fit: FieldFit) -> str:
    numbers, prior = fit.kernel.board.submissions, fit.priors.submission_luck
    middle, low, high = prior.quantile(np.array([0.5, 0.025, 0.975]))
    luck = f"{middle:.2g}" if prior.is_fixed else f"{middle:.2f} ({low:.2f} to {high:.2f})"
    return (
        f"every entry shows the best of its submissions, {np.median(numbers):,.0f} in the median: "
        f"what luck of the choice is in the scores, by lambda {luck}, is taken off"
    )


def _leading_gap(board: Leaderboard) -> Iterator[str]:
    """A gap below the first few entries that is large against the standard error."""
    law, scores = score_law(board), board.scores
    ordered = np.sort(scores)[::-1]
    few = ordered[:11]
    if few.size < 3:
        return
    gaps = np.diff(law.depth(few))
    first = int(np.argmax(gaps))
    if gaps[first] >= _LARGE_GAP and first + 1 <= ordered.size // 2:
        yield (
            f"the best {'entry stands' if not first else f'{first + 1} entries stand'} "
            f"{gaps[first]:.0f} standard errors above the next: "
            "another kind of classifier, or a leak"
        )
