r"""Scores that are the best of several submissions, against the grid of board-conditional skill.

The law of a score given its skill is that of one submission, times the ratio by which choosing the
best of T changes it (``bayes_sota.maximum.submissions``) at the score's standardised residual. T is
known for each entry, or has a few equally likely values; lambda, how far luck decided the choice,
is the same for all entries of a board and is summed over a few nodes, as rho is, with its prior
weights. Entries with the same T are of one kind; above 20, numbers within 5 % of each other are.
``tests/leaderboard/test_submissions.py`` compares with simulation and with NUTS.
"""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.fit import ScoreKernel, modelled_entries, skill_grid
from bayes_sota.maximum.score_laws import entry_values, score_law
from bayes_sota.maximum.submissions import SubmissionNoise, expected_maximum

_EXACT, _MOST_VALUES = 20.0, 500  # numbers up to the first are exact
# how close the others of a kind are, and bins of scores: the first with few enough values is taken
_COARSENESS = (
    (1.05, None),
    (1.25, None),
    (1.5, None),
    (1.5, 200),
    (1.5, 100),
    (1.5, 50),
    (1.5, 25),
)
_TYPICAL = 0.6
_TINY = 1e-300


def kernel_of(board: Leaderboard) -> ScoreKernel:
    """Kernel of a board: of scores as they are, or chosen among submissions.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.93], n_test=1000, submissions=[1, 5, 20])
    >>> kernel_of(board).has_luck
    True
    """
    if isinstance(board, Leaderboard) and board.has_own_errors:
        raise InputError(
            "entries have standard errors of their own, which only the exact route takes: "
            "bs.estimate_sota(board) and bs.board_table(board), without NUTS or a model"
        )
    return SubmissionKernel.of(board) if board.has_submissions else ScoreKernel.of(board)


def check_luck(priors: object, *boards: object) -> None:
    """``InputError`` for a prior of the luck of submissions where no board has several."""
    luck = priors.submission_luck if isinstance(priors, Priors) else None
    kinds = BestScore | PairedBoards
    chosen = [b for b in boards if isinstance(b, kinds) and b.has_submissions]
    if not chosen:
        refuse_unused("scores that are not of several submissions", {"submission_luck": luck})


@dataclass(frozen=True, eq=False)
class SubmissionKernel(ScoreKernel):
    """Distinct pairs of a score and a kind; the last is the leader's.

    Attributes
    ----------
    numbers : ndarray, shape (L, k)
        Equally likely numbers of submissions of each kind of entry.
    distinct : ndarray, shape (S,)
        Distinct scores of the modelled entries, in units of ``values``, which may be means of bins.
    score_of_entry : ndarray of int, shape (modelled entries,)
        Index into ``distinct``.
    luck : float
        Lambda.
    """

    numbers: FloatArray
    distinct: FloatArray
    score_of_entry: IntArray
    luck: float = _TYPICAL
    noises: dict[float, SubmissionNoise] = field(default_factory=dict)

    @classmethod
    def of(cls, board: Leaderboard) -> "SubmissionKernel":
        """Kernel of a full or partial leaderboard whose entries had several submissions."""
        law, values = score_law(board), entry_values(board)
        modelled = modelled_entries(law, board)
        values = values[modelled]
        for closeness, bins in _COARSENESS:
            numbers, kinds = _kinds(board.submissions, closeness)
            leading = int(kinds[board.order[0]])
            means, kind, index = _rows(values, kinds[modelled], leading, bins)
            if means.size <= _MOST_VALUES:
                break
        distinct, score = np.unique(values, return_inverse=True)
        law = law.fitted_to(means)
        complete = bool(modelled.all()) and not board.is_partial
        most = float(expected_maximum(numbers).max())
        y = skill_grid(law, np.sort(means), complete, most)
        copies = np.bincount(index).astype(float)
        return cls(
            board,
            modelled,
            means,
            copies,
            index,
            y,
            law,
            kind,
            kinds,
            numbers,
            distinct,
            score.ravel(),
        )

    @property
    def has_luck(self) -> bool:
        """Some scores were chosen among submissions."""
        return True

    def with_luck(self, luck: float) -> "SubmissionKernel":
        """The same with another lambda."""
        kernel = replace(self, luck=luck)
        vars(kernel)["prepared"] = self.prepared  # does not depend on it
        return kernel

    @property
    def noise(self) -> SubmissionNoise:
        """Law of the noise of each kind."""
        if self.luck not in self.noises:
            self.noises[self.luck] = SubmissionNoise(self.numbers, self.luck)
        return self.noises[self.luck]

    @cached_property
    def shared(self) -> tuple[IntArray, FloatArray]:
        """Distinct scores, of all kinds of entries together."""
        return np.arange(self.distinct.size), np.bincount(self.score_of_entry).astype(float)

    def pooled(self, numbers: FloatArray) -> FloatArray:
        """Sums over the entries with the same score, (S,)."""
        of_entry = (numbers / self.copies)[self.value_of_entry]
        return np.bincount(self.score_of_entry, weights=of_entry)

    def unpooled(self, numbers: FloatArray) -> FloatArray:
        """Numbers of a score shared evenly among its entries; of the leader's value at least 1.

        So that there is somebody who has the best score.
        """
        of_entry = (numbers / np.bincount(self.score_of_entry))[self.score_of_entry]
        counts = np.bincount(self.value_of_entry, weights=of_entry)
        counts[-1] = max(counts[-1], 1.0)
        return np.asarray(counts)

    @cached_property
    def _field(self) -> FloatArray:
        """Shares of the kinds on the board, (L,)."""
        counts = np.bincount(self.kinds, minlength=len(self.numbers))
        return counts / counts.sum()

    def log_kernel_at(self, variance: FloatArray | float) -> FloatArray:
        """Log probability of each value: that of one submission, and what the choice adds."""
        residual = self.law.residual(self.prepared, self.values, self.y, variance)
        return super().log_kernel_at(variance) + self.noise.log_ratio(residual, self.kind)

    def all_log_kernel(self, entries: NDArray[np.bool_], rho: float) -> FloatArray:
        """The same for other entries of the board, one row each."""
        values, variance = entry_values(self.board)[entries], 1 - rho**2
        prepared = self.law.prepared(values, self.y)
        residual = self.law.residual(prepared, values, self.y, variance)
        ratio = self.noise.log_ratio(residual, self.kinds[entries])
        return self.law.log_kernel(prepared, variance) + ratio

    def reach(self, rho: float, level: float | None = None) -> FloatArray:
        """Probability of a score in the modelled part, (G,), of an entry of any kind."""
        return self._field @ self._reaches(rho, level)

    def reaches(self, rho: float) -> FloatArray:
        """Probability of a score in the modelled part, (L, G), for each kind."""
        return self._reaches(rho)

    def _reaches(self, rho: float, level: float | None = None) -> FloatArray:
        key = (rho, level)
        if key not in self._known_reaches:
            self._known_reaches[key] = self._computed_reaches(rho, level)
        return self._known_reaches[key]

    @cached_property
    def _known_reaches(self) -> dict[tuple[float, float | None], FloatArray]:
        return {}

    def _computed_reaches(self, rho: float, level: float | None) -> FloatArray:
        cut, variance = float(self.values.min() if level is None else level), 1 - rho**2
        low = -self.law.reach_quantile(self.psi, cut, variance)
        ratio = self.noise.log_survival_ratio(np.tile(low, (len(self.numbers), 1)))
        return np.minimum(self.law.reach(self.psi, cut, variance) * np.exp(ratio), 1.0)

    def expected(self, copies: FloatArray, density: FloatArray, rho: float) -> FloatArray:
        """Expected number of entries with each score, (N, scores), of all kinds together."""
        variance, values = 1 - rho**2, self.distinct
        prepared = self.law.prepared(values, self.y)
        log_mass = self.law.log_kernel(prepared, variance)
        log_mass = log_mass + self.law.log_mass(values, variance)[:, None]
        residual = self.law.residual(prepared, values, self.y, variance)
        counts = np.bincount(self.kind, weights=copies, minlength=len(self.numbers))
        total = np.zeros((len(density), values.size))
        reaches = self._reaches(rho) if self.is_cut else np.ones((counts.size, self.y.size))
        for kind in np.flatnonzero(counts):
            ratio = self.noise.log_ratio(residual, np.full(values.size, kind))
            chance = density @ np.exp(log_mass + ratio).T
            reach = np.maximum(density @ reaches[kind], _TINY)
            total += counts[kind] * chance / reach[:, None]
        return total

    @property
    def cut(self) -> float | None:
        """Lowest value of the modelled part; None where that is the whole."""
        return float(self.values.min()) if self.is_cut else None

    def replicate(
        self, density: FloatArray, rho: float, row: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Scores of fresh entries of the modelled part, with the kinds of this board's."""
        kind, size = self.kind[self.value_of_entry], row.shape[-1]
        if size != kind.size:  # merged copies
            kind = rng.permutation(kind)[:size]
        if self.is_cut:
            reaches = self._reaches(rho)
            density = (density[:, None] * reaches).reshape(-1, self.y.size)
            row = row * len(reaches) + kind
        psi = self.draw_psi(density, row, rng)
        return self.law.snapped(psi + self.draw_noise(psi, kind, rho, rng))

    def draw_noise(
        self, psi: FloatArray, kind: IntArray, rho: float, rng: np.random.Generator
    ) -> FloatArray:
        """Errors of scores of the modelled part, in the units of the scores."""
        error = np.maximum(self.law.errors_at(psi) * np.sqrt(1 - rho**2), 1e-12)
        low = np.full(psi.shape, -np.inf)
        if self.is_cut:
            cut = (self.values.min() - self.law.spacing / 2) / self.law.unit
            low = (cut - psi) / error
        kinds = np.broadcast_to(kind, psi.shape)
        return error * self.noise.draw_above(low, kinds, rng)


def _kinds(numbers: FloatArray, closeness: float) -> tuple[FloatArray, IntArray]:
    """Distinct rows of numbers (L, k), large ones to within a factor, and the kind of each row."""
    steps = np.round(np.log(np.maximum(numbers, _EXACT) / _EXACT) / np.log(closeness))
    close = np.where(numbers > _EXACT, np.round(_EXACT * closeness**steps), numbers)
    kinds, index = np.unique(close, axis=0, return_inverse=True)
    return kinds, index.ravel()


def _rows(
    values: FloatArray, kinds: IntArray, leading: int, bins: int | None
) -> tuple[FloatArray, IntArray, IntArray]:
    """Value and kind of each row, worst first, the leader's last; and row of each entry.

    With bins, scores in one of equally wide bins are one value, their mean; the best stay alone.
    """
    place = np.unique(values, return_inverse=True)[1].ravel()
    if bins is not None:
        low, high = values.min(), values.max()
        place = np.where(values == high, bins, np.floor((values - low) / (high - low) * bins))
    last = np.where(kinds == leading, kinds.max() + 1, kinds)
    keys = np.stack([place, last], axis=1)
    rows, index = np.unique(keys, axis=0, return_inverse=True)
    index = index.ravel()
    copies = np.bincount(index)
    means = np.bincount(index, weights=values) / copies
    kind = np.where(rows[:, 1] == kinds.max() + 1, leading, rows[:, 1]).astype(np.int64)
    return means, kind, index
