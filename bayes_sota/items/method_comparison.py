r"""Which of several methods is best, from what each got for the same items.

One answer per item and method, right or wrong, items independent: the Dirichlet posterior of the
joint cells. A prior mass of four items, spread evenly over all :math:`2^m` patterns of answers,
makes every pair of methods the flat Dirichlet(1, 1, 1, 1) of its four cells, so that each pair has
the closed form of ``paired_outcomes``, whatever the other methods are. Draws: observed patterns
have Gamma weights, the prior mass is a Dirichlet process (Sethuraman's sticks).

Everything else (several items of one patient or prompt, repeated runs, Dice, AUC) has a Student t
law (``student_comparison``). ``tests/items/test_method_comparison.py`` compares with the closed
forms and measures how often equal methods are told apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.read_evaluations import Evaluations
from bayes_sota.data.responses import Responses
from bayes_sota.items.paired_outcomes import probability_not_better
from bayes_sota.items.student_comparison import (
    PRIOR_ITEMS,
    TIE,
    ItemData,
    remarks_on,
    student_law,
)

__all__ = ["MethodComparison", "compare_methods", "left_out"]

_STICKS = 96  # of the prior mass: (4/5)^96 = 5e-10 of it is left
_BLOCK = 500  # draws at a time
_MOST_WEIGHTS = 2e8  # draws times patterns: with 10,000 draws 20,000 different items


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """Posterior of the methods' means, larger is better.

    Attributes
    ----------
    methods : tuple of str
        Each once.
    scores : ndarray, shape (m,)
        Observed means over items and runs.
    winner : int
        The one with the best score; of equals the first by name.
    draws : ndarray, shape (D, m)
        Joint posterior draws of the means over all items (and runs) that there could be.
    p_not_below : ndarray, shape (m,)
        P(mean of the winner <= mean of the other), each pair on its own; 1/2 for the winner.
    n_items, n_clusters : int
        Items compared, and clusters that they belong to.
    bounds : (float, float)
        Least and largest possible score, larger is better.
    n_runs : tuple of int
        Runs of each method.
    sign : int
        What scores and draws are multiplied by to be as they were given: -1 if lower is better.
    notes : tuple of str
    """

    methods: tuple[str, ...]
    scores: FloatArray
    winner: int
    draws: FloatArray
    p_not_below: FloatArray
    n_items: int
    n_clusters: int
    bounds: tuple[float, float]
    n_runs: tuple[int, ...]
    sign: int
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        """Who leads, and by how much."""
        first, second = self.methods[self.winner], self.methods[self.runner_up]
        size = f"{len(self.methods)} methods on {self.n_items:,} items"
        return f"<MethodComparison of {size}: P({second!r} >= {first!r}) = {self.p_false:.4f}>"

    @property
    def runner_up(self) -> int:
        """The best of the others."""
        order = np.argsort(-self.scores, kind="stable")
        return int(order[order != self.winner][0])

    @cached_property
    def p_best(self) -> FloatArray:
        """Probability to have the largest mean, shape (m,); sums to 1, equals share it."""
        best = self.draws.max(axis=1, keepdims=True)
        # by less they differ by the rounding of a covariance only
        least = max(1e-6 * self.draws.std(axis=0).max(), TIE * np.abs(self.draws).max())
        first = self.draws >= best - least
        return np.asarray((first / first.sum(axis=1, keepdims=True)).mean(axis=0))

    @property
    def p_false(self) -> float:
        """Probability that the runner-up is at least as good as the winner."""
        return float(self.p_not_below[self.runner_up])

    @property
    def p_beaten(self) -> float:
        """Probability that at least one other method is better than the winner."""
        return float(1 - self.p_best[self.winner])

    def tied_with_best(self, prob: float = 0.95) -> NDArray[np.bool_]:
        """Methods that cannot be told from the winner, itself among them, shape (m,).

        All with ``p_not_below >= (1 - prob) / 2``, as in ``paired_outcomes``.
        """
        return np.asarray(self.p_not_below >= (1 - prob) / 2)

    def rope(self, half_width: float) -> FloatArray:
        """Winner better, equivalent, other better, for every method, shape (m, 3).

        Parameters
        ----------
        half_width : float
            Of the region of practical equivalence, in units of the scores.
        """
        if not half_width >= 0:
            raise InputError(f"a region of equivalence has a width, got {half_width!r}")
        gap = self.draws[:, [self.winner]] - self.draws
        above, below = np.mean(gap > half_width, axis=0), np.mean(gap < -half_width, axis=0)
        return np.column_stack([above, 1 - above - below, below])

    def interval(self, prob: float = 0.95) -> FloatArray:
        """Equal-tailed interval of each mean, shape (m, 2)."""
        ends = np.quantile(self.draws, [(1 - prob) / 2, (1 + prob) / 2], axis=0).T
        return np.asarray(np.clip(ends, *self.bounds))


def compare_methods(
    outcomes: Responses | ItemScores | Evaluations,
    methods: Sequence[str] | None = None,
    *,
    draws: int = 10_000,
    random_seed: Seed = None,
) -> MethodComparison:
    """Posterior of every method's mean, P(best), and the probability that the winner is beaten.

    Parameters
    ----------
    outcomes : Responses, ItemScores or Evaluations
        One column per method, or per run of a method; numbers of any metric. ``Evaluations`` (of
        ``read_evaluations``) bring the method of each column. Their
        ``clusters`` are taken as wholes.
    methods : sequence of str, optional
        Method of each column, where several columns are runs of one. Default: every column is a
        method.
    draws : int
        Joint draws; P(best) has a standard error of at most ``0.5 / sqrt(draws)``.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    MethodComparison

    Raises
    ------
    InputError
        Fewer than two methods or clusters, or fewer than two items that all answered.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Responses(rng.random((300, 3)) < [0.9, 0.85, 0.6], names=["a", "b", "c"])
    >>> found = compare_methods(answers, random_seed=0)
    >>> found.methods[found.winner], found.tied_with_best().tolist(), round(found.p_false, 3)
    ('a', [True, True, False], 0.034)
    """
    rng = generator_of(random_seed)
    if isinstance(outcomes, Evaluations):
        methods = outcomes.methods if methods is None else methods
        outcomes = outcomes.outcomes
    names, columns = _runs(outcomes.names, methods)
    data, notes = _data(outcomes)
    order = np.argsort(names)  # draws and ties follow the names, whatever the order of the columns
    sorted_columns = [columns[method] for method in order]
    if data.answers and data.clusters is None and len(names) == len(outcomes.names):
        values = data.values[:, np.concatenate(sorted_columns)]
        scores, n_clusters = values.mean(axis=0), len(values)
        first = int(np.argmax(scores))
        drawn, p_not_below = _dirichlet_draws(values, draws, rng), _closed_form(values, first)
    else:
        law = student_law(data, sorted_columns)
        notes += remarks_on(law, data, sorted_columns)
        scores, n_clusters, first = law.scores, law.n_clusters, int(np.argmax(law.scores))
        drawn, p_not_below = law.draw(first, draws, rng)
    place = np.argsort(order)
    return MethodComparison(
        methods=names,
        scores=scores[place],
        winner=int(order[first]),
        draws=drawn[:, place],
        p_not_below=p_not_below[place],
        n_items=len(data.values),
        n_clusters=n_clusters,
        bounds=data.bounds,
        n_runs=tuple(len(of) for of in columns),
        sign=1 if isinstance(outcomes, Responses) else outcomes.sign,
        notes=tuple(notes),
    )


def _runs(
    columns: tuple[str, ...], methods: Sequence[str] | None
) -> tuple[tuple[str, ...], list[NDArray[np.intp]]]:
    """Names of the methods, and the columns that are runs of each."""
    runs = columns if methods is None else tuple(str(name) for name in methods)
    if len(runs) != len(columns):
        raise InputError(
            f"every column belongs to one method: {len(columns)} columns, {len(runs)} methods"
        )
    names = tuple(dict.fromkeys(runs))
    if len(names) < 2:
        raise InputError(f"a comparison needs two methods, got only runs of {names[0]!r}")
    return names, [np.flatnonzero([run == name for run in runs]) for name in names]


def _data(outcomes: Responses | ItemScores) -> tuple[ItemData, list[str]]:
    if isinstance(outcomes, ItemScores):
        ends = outcomes.values.min(), outcomes.values.max()
        shares = outcomes.metric == "auc" or (ends[0] >= 0 and ends[1] <= 1)
        bounds = (0.0, 1.0) if shares else (-np.inf, np.inf)
        found = ItemData(
            outcomes.values, outcomes.scores, outcomes.influence, outcomes.clusters,
            outcomes.labels, False, bounds,
        )  # fmt: skip
        if not np.isfinite(outcomes.covariance).all():
            raise InputError("the numbers are too large for a variance")
        return found, []
    kept = outcomes.complete()
    values = kept.correct.astype(np.float64)
    scores = values.mean(axis=0)
    found = ItemData(values, scores, values - scores, kept.clusters, None, True, (0.0, 1.0))
    return found, left_out(outcomes, kept)


def left_out(outcomes: Responses, kept: Responses) -> list[str]:
    """A note on the items that were left out, if any were."""
    lost = outcomes.n_items - kept.n_items
    return [f"{lost:,} of {outcomes.n_items:,} items left out: not all answered"] if lost else []


def _closed_form(right: FloatArray, winner: int) -> FloatArray:
    own = right[:, winner]
    return probability_not_better(np.rint(own @ (1 - right)), np.rint((1 - own) @ right))


def _dirichlet_draws(answers: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Draws of the skills: Gamma weights of patterns, and of the prior mass in sticks."""
    bits = np.ascontiguousarray(np.packbits(answers == 1, axis=1))  # sorted much faster
    rows = bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    if float(draws) * len(first) > _MOST_WEIGHTS:
        return _normal_draws(answers, draws, rng)
    patterns = answers[first]
    blocks = []
    for start in range(0, draws, _BLOCK):
        size = min(_BLOCK, draws - start)
        weights = rng.standard_gamma(counts, (size, len(counts)))
        prior = rng.standard_gamma(PRIOR_ITEMS, (size, 1))
        total = weights.sum(axis=1, keepdims=True) + prior
        skills = weights @ patterns + prior * _prior_skills(size, answers.shape[1], rng)
        blocks.append(skills / total)
    return np.concatenate(blocks)


def _normal_draws(answers: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """The same with so many items that the posterior is normal, of its own mean and covariance."""
    n, m = len(answers) + PRIOR_ITEMS, answers.shape[1]
    right = answers.T @ answers
    mean = (np.diagonal(right) + PRIOR_ITEMS / 2) / n
    square = (right + PRIOR_ITEMS / 4 * (1 + np.eye(m))) / n
    values, vectors = np.linalg.eigh((square - np.outer(mean, mean)) / (n + 1))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(np.clip(mean + rng.standard_normal((draws, m)) @ root.T, 0.0, 1.0))


def _prior_skills(size: int, m: int, rng: np.random.Generator) -> FloatArray:
    """Skills under a Dirichlet process over patterns of answers, all equally probable."""
    broken = rng.beta(1.0, PRIOR_ITEMS, (size, _STICKS))
    left = np.cumprod(1 - broken, axis=1)
    sticks = broken * np.column_stack([np.ones(size), left[:, :-1]])
    right = rng.integers(0, 2, (size, _STICKS, m), dtype=np.int8)
    return np.asarray(np.einsum("ds,dsm->dm", sticks, right))
