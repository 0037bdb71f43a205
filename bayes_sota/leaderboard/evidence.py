r"""Evidence of a board: the law of its scores at a grid of board-conditional skill.

All scores of one board share its items, and with them one shift z. In terms of psi, the skill that
these items show,

.. math:: \psi_j \sim P(\psi \mid \phi), \quad x_j \mid \psi_j \sim \text{variance }
          (1 - \ell_j^2)\, q_j^2\, sd_j^2, \quad \theta_j = \psi_j - \ell_j q_j\, sd_j\, z,
          \quad z \sim N(0, 1)

with the loading :math:`\ell_j`, which is rho on a board of scores, and the error ratio
:math:`q_j`, which is 1 where all entries have the error of the board's law.
``tests/leaderboard/test_evidence.py`` compares the laws with simulation.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bayes_sota.core.numerics import student_factors
from bayes_sota.core.priors import BetaCorrelation, BoardPriors, FixedCorrelation, board_priors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import New
from bayes_sota.data.printed_scores import leaders
from bayes_sota.items.correlation import (
    LARGEST_LOADING,
    ResponseCorrelation,
    influence_correlation,
    learn_correlation,
    no_correlation,
)
from bayes_sota.leaderboard.anchors import left_correlation
from bayes_sota.maximum.score_laws import (
    ScoreLaw,
    SubmissionNoise,
    entry_values,
    expected_maximum,
    noise_of,
    score_law,
)

_LEAST, _PER_ROOT, _STANDARD_ERRORS = 10, 3.0, 4.0
_MOST_VALUES, _MOST_NODES, _MOST_OWN = 400, 2000, 200
_EXACT, _MOST_CHOSEN = 20.0, 500  # numbers of submissions up to the first are exact
# how close the others of a kind are, and bins of scores: the first with few enough values is taken
_COARSENESS = ((1.05, 0), (1.25, 0), (1.5, 0), (1.5, 200), (1.5, 100), (1.5, 50), (1.5, 25))
MOST_CLASSIFIERS = 5_000  # whose correlations fit into 3 GiB
OF_TASKS = BetaCorrelation(8, 1.2)
"""Default prior of the correlation of scores on new tasks.

Leaders of three tables of data sets have .84 (UCR), .93 and .95 (VTAB): tasks that are hard for one
are hard for all, more so than items.
"""
_FURTHEST = 37.0
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Tables:
    """Probabilities at one value of rho and of the luck of submissions.

    ``score`` (K, G) is relative to its highest, whose logarithm is ``log_scale`` (K,). ``reach``
    (L, G) is the probability of being modelled by kind, None if all are, ``typical`` (G,) of a
    typical entry.
    """

    score: FloatArray
    log_scale: FloatArray
    reach: FloatArray | None
    typical: FloatArray


@dataclass(frozen=True, eq=False)
class Evidence:
    """Distinct scores of the modelled entries.

    Attributes
    ----------
    loadings : ResponseCorrelation
        Loadings on the shift, and the correlation of relatives beyond it.
    ratio, new_ratio : ndarray, shape (m,)
        Standard error of each score over that of the law, on these and on fresh items.
    entries, row : ndarray of int, shape (E,)
        The modelled entries, increasing, and the distinct score of each.
    values, copies, kind, kinds : ndarray, shape (K,), and (m,) of all entries
        Distinct scores in units of the law, worst first, numbers of entries, and kinds. Laws within
        a kind differ by the score alone.
    y : ndarray, shape (G,)
        Equally spaced log odds (or standardised scores).
    numbers : ndarray, shape (L, k), or None
        Equally likely numbers of submissions of each kind.
    answers : ndarray, shape (m,), optional
        Numbers of answers; scores are multiples of one over them.
    adjusted : ndarray, shape (m,), optional
        Scores without the error that anchors show.
    explained : float
        Share of the leaders' variance that anchors explain.
    """

    board: Leaderboard
    law: ScoreLaw
    loadings: ResponseCorrelation
    ratio: FloatArray
    entries: IntArray
    row: IntArray
    values: FloatArray
    copies: FloatArray
    kind: IntArray
    kinds: IntArray
    y: FloatArray
    numbers: FloatArray | None = None
    freedom: float = np.inf
    new_ratio: FloatArray | None = None
    answers: FloatArray | None = None
    adjusted: FloatArray | None = None
    explained: float = 0.0

    @property
    def scores(self) -> FloatArray:
        return self.board.scores

    @property
    def step(self) -> float:
        return float(self.y[1] - self.y[0])

    @cached_property
    def psi(self) -> FloatArray:
        """Board-conditional skill at the grid, in units of the scores, (G,)."""
        return self.law.skill_at(self.y)

    @cached_property
    def modelled(self) -> NDArray[np.bool_]:
        return np.isin(np.arange(self.scores.size), self.entries)

    @property
    def is_cut(self) -> bool:
        return self.entries.size < self.scores.size or self.board.is_partial

    @property
    def n_below(self) -> float:
        return max(float(self.scores.size), self.board.typical_tries) - self.entries.size

    @property
    def notes(self) -> list[str]:
        few, many = self.entries.size, self.scores.size
        note = f"P(theta) is fitted to the best {few} of {many} entries"
        return [f"{note}; the others are too far below to be the best"] * (few < many)

    @property
    def has_luck(self) -> bool:
        return self.numbers is not None

    @property
    def n_kinds(self) -> int:
        return int(self.kind.max()) + 1 if self.numbers is None else len(self.numbers)

    @property
    def shares_scores(self) -> bool:
        """Whether entries may share a score: none do where each has a law of its own."""
        return self.has_luck or not self.kind.any()

    @cached_property
    def factor(self) -> FloatArray | None:
        return self.loadings.factor(self.of_row)

    @property
    def error_ratio(self) -> float:
        return float(np.sqrt(np.mean(self.ratio[self.entries] ** 2)))

    @cached_property
    def alike(self) -> IntArray:
        """Group of entries with the same posterior, (m,)."""
        if not self.shares_scores:
            return np.arange(self.scores.size)
        known = np.zeros(self.scores.size)
        known[self.known_entries] = 1 + self.known_entries
        pairs = np.stack([self.scores, self.kinds, known], axis=1)
        return np.unique(pairs, axis=0, return_inverse=True)[1].ravel()

    @property
    def known_entries(self) -> IntArray:
        anchors = self.board.anchors
        return np.zeros(0, np.int64) if anchors is None else anchors.entry[anchors.entry >= 0]

    @property
    def seen(self) -> FloatArray:
        return self.scores if self.adjusted is None else self.adjusted

    def loading(self, rho: Any, entries: IntArray) -> FloatArray:
        """Loadings of entries (k,) at values of rho that broadcast with them."""
        return np.clip(self.loadings.relative[entries] * rho, 0, LARGEST_LOADING)

    def moved(self, rho: FloatArray, shift: FloatArray, entries: IntArray) -> FloatArray:
        """Standardised shifts (D,) in standard errors of the law, (D, k)."""
        return self.loading(rho[:, None], entries) * self.ratio[entries] * shift[:, None]

    def own(self, rho: Any, entries: IntArray) -> FloatArray:
        """Variance that scores of entries (k,) do not share, in units of the law's."""
        return (1 - self.loading(rho, entries) ** 2) * self.ratio[entries] ** 2

    def own_as_printed(self, rho: Any, entries: IntArray) -> FloatArray:
        """The same with the variance of rounding, which no entry shares."""
        return self.own(rho, entries) + self.law.rounding_at(self.seen[entries])

    @cached_property
    def of_row(self) -> IntArray:
        return self.entries[np.unique(self.row, return_index=True)[1]]

    @cached_property
    def prepared(self) -> Any:
        return self.law.prepared(self.values, self.y)

    def at(self, rho: float, luck: float = 0.0) -> Tables:
        variance = self.own_as_printed(rho, self.of_row)
        log_p = self.law.log_kernel(self.prepared, variance[:, None])
        if self.numbers is not None:
            residual = self.law.residual(self.prepared, self.values, self.y, variance[:, None])
            log_p += self.noise(luck).log_ratio(residual, self.kind)
        top = log_p.max(axis=1)
        scale = top + self.law.log_mass(self.values, variance)
        reach, typical = None, np.ones(self.y.size)
        if self.is_cut:
            of_kind = np.full(self.n_kinds, variance[0])
            of_kind[self.kind] = variance
            reach = self.reaches(float(self.values.min()), of_kind, luck)
            kinds = self.kinds if self.has_luck else self.kind  # of all that could be modelled
            typical = np.bincount(kinds, minlength=self.n_kinds) @ reach / kinds.size
        return Tables(np.exp(log_p - top[:, None]), scale, reach, typical)

    def reaches(self, cut: float, variance: FloatArray, luck: float) -> FloatArray:
        reach = self.law.reach(self.psi, cut, variance[:, None])
        return reach if self.numbers is None else self.noise(luck).raised(reach)

    def noise(self, luck: float) -> SubmissionNoise:
        assert self.numbers is not None
        return noise_of(tuple(map(tuple, self.numbers.tolist())), luck)

    def wider(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        return student_factors(self.freedom, shape, rng)

    def shown(self, scores: FloatArray) -> FloatArray:
        if self.answers is not None:
            answers = self.answers[self.entries]
            return np.clip(np.round(scores * answers) / answers, 0, 1)
        possible, width = self.law.snapped(scores), self.board.printed_width
        if not width:
            return possible
        steps = np.round(1 / width)
        if self.board.rounding == "floor":
            return np.floor(possible * steps + 1e-6) / steps
        return np.round(possible * steps) / steps

    def draw_scores(
        self, psi: FloatArray, rho: float, luck: float, rng: np.random.Generator
    ) -> FloatArray:
        error = np.sqrt(self.own(rho, self.entries)) * self.law.errors_at(psi)
        error = np.maximum(error, 1e-12)
        low = np.full(psi.shape, -np.inf)
        if self.is_cut:
            low = ((self.values.min() - self.law.spacing / 2) / self.law.unit - psi) / error
        if self.has_luck:
            kind = np.broadcast_to(self.kinds[self.entries], psi.shape)
            return self.shown(psi + error * self.noise(luck).draw_above(low, kind, rng))
        above = ndtr(-np.minimum(low, _FURTHEST))  # the same quantile: what is shared stays shared
        level = self.draw_levels(psi.shape[:1], rng)
        return self.shown(psi - error * ndtri(np.maximum(above * level, 1e-307)))

    def draw_levels(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Correlated uniform numbers of the modelled entries, (*shape, E)."""
        if self.shares_scores:
            return rng.random((*shape, self.entries.size))
        return ndtr(self.draw_normal(shape, rng))

    def draw_normal(self, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
        """Correlated standard normals of the modelled entries, (*shape, E)."""
        if self.shares_scores:
            return rng.standard_normal((*shape, self.entries.size))
        z = rng.standard_normal((*shape, self.values.size))  # whatever the order of the entries
        return (z if self.factor is None else z @ self.factor.T)[..., self.row]


def board_evidence(board: Leaderboard, priors: BoardPriors) -> Evidence:
    """Evidence of a full or partial leaderboard."""
    law, values = score_law(board), entry_values(board)
    if board.has_own_errors:
        new_ratio = None if board.metric == "score" else np.ones(values.size)
        own: Any = {"freedom": board.freedom, "new_ratio": new_ratio}
        loadings = _loadings_of(board, values, priors)
        return own_evidence(board, law, values, loadings, board.error_ratios, **own)
    entries = np.flatnonzero(modelled_entries(law, board))
    numbers, lowest, kinds = None, 0.0, np.zeros(values.size, np.int64)
    if board.has_submissions:
        numbers, kinds, distinct, kind, row = _chosen(board, values, entries)
        lowest = float(expected_maximum(numbers).max())
    else:
        many = np.unique(values[entries]).size > _MOST_VALUES
        distinct, kind, row = _rows(values[entries], kinds[entries], _MOST_VALUES * many)
    law = law.fitted_to(distinct)
    complete = entries.size == values.size and not board.is_partial
    return Evidence(
        board=board,
        law=law,
        loadings=no_correlation(values, priors.correlation),
        ratio=np.ones(values.size),
        entries=entries,
        row=row,
        values=distinct,
        copies=np.bincount(row).astype(float),
        kind=kind,
        kinds=kinds,
        y=skill_grid(law, np.sort(distinct), 1.0, complete=complete, luck=lowest),
        numbers=numbers,
    )


def own_evidence(
    board: Leaderboard,
    law: ScoreLaw,
    values: FloatArray,
    loadings: ResponseCorrelation,
    ratio: Any,
    **others: Any,
) -> Evidence:
    """Evidence of entries with a law each, at most the best 200; ``values`` (m,) in its unit."""
    entries = np.flatnonzero(modelled_entries(law, board))
    law = law.fitted_to(values[entries])
    complete = entries.size == values.size and not board.is_partial
    y = skill_grid(law, values[entries], ratio[entries], complete=complete)
    chosen = loadings.order[np.isin(loadings.order, entries)][-_MOST_OWN:]  # worst first
    row, number, kinds = np.argsort(chosen), np.arange(chosen.size), np.zeros(values.size, np.int64)
    kinds[chosen] = number
    rows = row, values[chosen], loadings.weights[chosen], number, kinds, y
    return Evidence(board, law, loadings, ratio, chosen[row], *rows, **others)


def modelled_entries(law: ScoreLaw, board: Leaderboard) -> NDArray[np.bool_]:
    """Entries that the skill distribution is fitted to, (m,): the top part of the board.

    An entry more than four standard errors below the best cannot be the best, and failed or
    abandoned entries follow other laws. The best ``max(10, 3 sqrt(m))`` always count.
    """
    scores, ratio = board.scores, board.error_ratios
    least = int(max(_LEAST, np.ceil(_PER_ROOT * np.sqrt(scores.size))))
    if least >= scores.size:
        return np.ones(scores.size, bool)
    own = 1.0 if ratio is None else np.sqrt((ratio**2 + ratio[np.argmax(scores)] ** 2) / 2)
    near = law.depth(scores) <= _STANDARD_ERRORS * own
    return scores >= min(scores[near].min(), np.sort(scores)[-least])


def skill_grid(
    law: ScoreLaw,
    values: FloatArray,
    ratio: FloatArray | float,
    *,
    complete: bool,
    luck: float = 0.0,
) -> FloatArray:
    """Grid, a sixth of the leaders' least standard error apart, with wide margins."""
    places, errors = law.places(values)
    errors = errors * ratio
    low = np.min(places - ((4 if complete else 6) + luck) * np.minimum(errors, 1.0))
    high = np.max(places + 5 * np.minimum(errors, 1.2))
    # where errors differ the best few say what is typical of a leader
    few = np.argsort(values)[-2:] if np.ndim(ratio) == 0 else leaders(values)
    step = errors[few].min() / 6
    return np.linspace(low, high, int(np.clip((high - low) / step, 60, _MOST_NODES)))


def _chosen(
    board: Leaderboard, values: FloatArray, entries: IntArray
) -> tuple[FloatArray, IntArray, FloatArray, IntArray, IntArray]:
    """Numbers (L, k) and kinds (m,) of submissions; values, kinds and rows of distinct scores."""
    for closeness, bins in _COARSENESS:
        numbers, kinds = submission_kinds(board.submissions, closeness)
        before = int(kinds[board.order[0]]) + 1  # the leader's kind becomes the last
        numbers, kinds = np.roll(numbers, -before, axis=0), (kinds - before) % len(numbers)
        distinct, kind, row = _rows(values[entries], kinds[entries], bins)
        if distinct.size <= _MOST_CHOSEN:
            break
    return numbers, kinds, distinct, kind, row


def submission_kinds(numbers: FloatArray, closeness: float) -> tuple[FloatArray, IntArray]:
    """Distinct rows of numbers (L, k), large ones to within a factor, and the kind of each row."""
    steps = np.round(np.log(np.maximum(numbers, _EXACT) / _EXACT) / np.log(closeness))
    close = np.where(numbers > _EXACT, np.round(_EXACT * closeness**steps), numbers)
    kinds, index = np.unique(close, axis=0, return_inverse=True)
    return kinds, index.ravel()


def _rows(values: FloatArray, kinds: IntArray, bins: int) -> tuple[FloatArray, IntArray, IntArray]:
    """Value and kind of each row, worst first, and row of each entry; bins are averaged."""
    place = np.unique(values, return_inverse=True)[1].ravel()
    if bins:
        low, high = values.min(), values.max()
        place = np.where(values == high, bins, np.floor((values - low) / (high - low) * bins))
    rows, index = np.unique(np.stack([place, kinds], axis=1), axis=0, return_inverse=True)
    index = index.ravel()
    means = np.bincount(index, weights=values) / np.bincount(index)
    return means, rows[:, 1].astype(np.int64), index


def _loadings_of(
    board: Leaderboard, values: FloatArray, priors: BoardPriors
) -> ResponseCorrelation:
    influence = board.task_influence
    if influence is None:
        return no_correlation(values, priors.correlation)
    if not influence.any() or board.n_entries > MOST_CLASSIFIERS:
        return no_correlation(values, OF_TASKS)
    return influence_correlation(influence * len(influence), board.scores, of_tasks=True)


def learnt_priors(
    loadings: ResponseCorrelation, priors: BoardPriors, new: New, explained: float = 0.0
) -> BoardPriors:
    """Priors with the posterior of rho from answers, items or tasks; new runs share no error."""
    if new == "runs":
        return replace(priors, correlation=FixedCorrelation(0.0))
    if not loadings.is_learnt:
        return priors
    prior = priors.correlation
    if new == "tasks" and prior == board_priors(None).correlation:
        prior = OF_TASKS
    if explained:
        prior = left_correlation(prior, explained)
    return replace(priors, correlation=learn_correlation(loadings, prior))
