r"""Which of several methods is best, from what each got for the same items.

Two classifiers that were given beforehand: only items that one of them alone gets right tell them
apart, ``x10`` for the first, ``x01`` for the second. With a flat Dirichlet prior on the four cells
(both right, one, the other, none) the share of the first is Beta(x10 + 1, x01 + 1), so that

.. math:: P(\theta_A \le \theta_B \mid x) = I_{1/2}(x_{10} + 1,\; x_{01} + 1)
          = P(X > x_{10}) + \tfrac12 P(X = x_{10}), \quad X \sim Bin(x_{10} + x_{01}, \tfrac12)

the one-sided mid-p value of McNemar's test. A leader was picked because its score was the best,
and nothing here corrects for it (``leaderboard.entries`` does).

Several methods with one answer per item, items independent: the Dirichlet posterior of the joint
cells. A prior mass of four items, spread evenly over all :math:`2^m` patterns of answers, makes
every pair of methods the flat Dirichlet(1, 1, 1, 1) of its four cells, whatever the others are.
Draws: observed patterns have Gamma weights, the prior mass is a Dirichlet process (Sethuraman's
sticks).

Everything else (several items of one patient or prompt, repeated runs, Dice, AUC): the scores are a
sum of independent Student t parts, one for the items (for AUC one for each class), one for runs.
The part of C clusters with N items, of which cluster c holds the share :math:`w_c`, has the
covariance and the degrees of freedom

.. math:: \frac{C-1}{C} \sum_c \frac{u_c u_c^\top}{N^2 (1 - w_c)^2}, \quad
          u_c = \sum_{i \in c} (x_i - \bar x), \qquad \nu = \frac{1}{\sum_c w_c^2} - 1

the jackknife of clusters (CR3) with their effective number: one large cluster is not hidden among
small ones. Where clusters are single items each pair has the paired t law of
``claims.means``. A run adds the variance between the runs of its method, divided by their
number; what items and runs share is counted in both parts. Answers have the four items of the flat
prior too, :math:`\tfrac14` of variance each. ``tests/items/test_paired_outcomes.py`` compares with
sums and with simulation, ``test_method_comparison.py`` with the closed forms, and measures how
often equal methods are told apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, ndtr, stdtr

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.data.averages import group_means, shrinkage, summed_by_cluster
from bayes_sota.data.item_values import tasks_in_words, weighted_means
from bayes_sota.data.outcomes import ABOUT, Outcomes

PRIOR_ITEMS = 4.0  # of answers: one for each cell of a pair
TIE = 1e-12  # of the largest score
_BORROWED = 2.0  # degrees of freedom of a variance between tasks that it borrows from all
_FEW = 10  # clusters, or items of one class
_OWN_RUNS = 2  # of every method, for variances of their own
_STICKS = 96  # of the prior mass: (4/5)^96 = 5e-10 of it is left
_BLOCK = 500  # draws at a time
_MOST_REPLICATED = 1e7  # draws times patterns: half a second
_MOST_WEIGHTS = 2e8  # draws times patterns: with 10,000 draws 20,000 different items


def probability_not_better(only_first: ArrayLike, only_second: ArrayLike) -> FloatArray:
    r"""P(skill of the first <= skill of the second) of two classifiers given beforehand.

    Parameters
    ----------
    only_first, only_second : array-like of int
        Items that one of the two alone got right; any shapes that broadcast.

    Returns
    -------
    ndarray
        :math:`I_{1/2}(x_{10} + 1, x_{01} + 1)`.

    Raises
    ------
    InputError
        Negative numbers, or numbers that are not finite.

    Examples
    --------
    >>> probability_not_better([0, 5, 10], [0, 5, 2]).round(4).tolist()
    [0.5, 0.5, 0.0112]
    """
    first, second = np.asarray(only_first, float), np.asarray(only_second, float)
    for counts in (first, second):
        if not np.all((counts >= 0) & np.isfinite(counts)):
            raise InputError(f"numbers of items must be at least 0, got {counts.min():g}")
    return betainc(first + 1, second + 1, 0.5)


@dataclass(frozen=True, eq=False)
class ItemData:
    """Items that all methods have, and what they say about each column."""

    values: FloatArray
    scores: FloatArray
    influence: FloatArray
    clusters: tuple[str, ...] | None
    classes: NDArray[np.bool_] | None  # of items, for AUC
    answers: bool
    bounds: tuple[float, float]
    kish: float  # items with equal weights whose mean has the same variance
    tasks: tuple[IntArray, FloatArray] | None = None  # of each item, and the weights
    known: tuple[FloatArray, float] | None = None  # covariance of the scores, and its freedom

    @property
    def n_tasks(self) -> int:
        """Number of tasks, 1 where there are none."""
        return 1 if self.tasks is None else len(self.tasks[1])


@dataclass(frozen=True, eq=False)
class _Part:
    """One independent part of the error, Student t."""

    covariance: FloatArray
    freedom: float

    def scales(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Variances relative to the covariance, (draws,)."""
        return self.freedom / rng.chisquare(self.freedom, draws)

    def of_gaps(self, winner: int) -> FloatArray:
        """Variance of the winner minus each, (m,)."""
        diagonal = np.diagonal(self.covariance)
        gaps = diagonal + diagonal[winner] - 2 * self.covariance[winner]
        return np.maximum(gaps, 0.0)

    @property
    def root(self) -> FloatArray:
        """A square root of the covariance, (m, m)."""
        values, vectors = np.linalg.eigh(self.covariance)
        return vectors * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True, eq=False)
class StudentLaw:
    """Joint law of the methods' scores: a centre and independent Student t parts."""

    scores: FloatArray
    centre: FloatArray
    parts: list[_Part]
    n_clusters: int

    def draw(
        self, winner: int, draws: int, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Draws of the means, P(winner <= other) of every pair, and scores on fresh items.

        Those have the errors of the parts again, at the scale of the draw.
        """
        later = rng.spawn(1)[0]
        noise, variance, again = (np.zeros((draws, len(self.centre))) for _ in range(3))
        for part in self.parts:
            scales, root = part.scales(draws, rng)[:, None], part.root.T
            noise += np.sqrt(scales) * (rng.standard_normal(noise.shape) @ root)
            again += np.sqrt(scales) * (later.standard_normal(noise.shape) @ root)
            variance += scales * part.of_gaps(winner)
        gap = self.centre[winner] - self.centre
        least = TIE * float(np.abs(self.centre).max())
        if len(self.parts) == 1:
            spread = np.sqrt(self.parts[0].of_gaps(winner))
            p = stdtr(self.parts[0].freedom, -_ratio(gap, spread, least))
        else:
            p = ndtr(-_ratio(gap, np.sqrt(variance), least)).mean(axis=0)
        p[winner] = 0.5
        drawn = self.centre + noise
        return drawn, np.asarray(p), drawn + again


def _ratio(gap: FloatArray, spread: FloatArray, least: float) -> FloatArray:
    """Gap in units of its spread; without any spread equal methods stay a toss-up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.asarray(gap / spread)
    return np.where(spread > least, ratio, np.where(gap > least, np.inf, 0.0))


def smoothed_covariance(values: FloatArray, tasks: IntArray, weights: FloatArray) -> FloatArray:
    """Covariance of averages over tasks without clusters, (m, m), of which no difference is 0.

    Every product of two entries is treated as the square of one in ``data.averages.averaged``, with
    a quarter of variance of their own for the answers that are added; the variance of a difference
    is then that of the answers' differences, smoothed in the same way.

    Examples
    --------
    >>> answers = np.array([[1.0, 1], [1, 0], [0, 1], [1, 1]])
    >>> covariance = smoothed_covariance(answers, np.array([0, 0, 1, 1]), np.array([0.5, 0.5]))
    >>> bool(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1] > 0)
    True
    """
    means, sizes = group_means(values, tasks), np.bincount(tasks).astype(float)[:, None]
    of_spread, of_distance, kish = shrinkage(sizes, weights[:, None])
    share = kish / (kish + 1)
    rows = np.vstack([
        np.sqrt(of_spread * share / sizes)[tasks] * (values - means[tasks]),
        np.sqrt(of_spread / kish) * share * (means - 0.5),
        np.sqrt(of_distance) * share * (means - weights @ means),
    ])  # fmt: skip
    return rows.T @ rows + np.eye(len(rows.T)) * of_spread.sum() / (kish + 1) / 4


def student_law(data: ItemData, columns: list[NDArray[np.intp]]) -> StudentLaw:
    """Law of the methods' scores; ``columns`` are the runs of each method."""
    means = np.array([data.scores[of].mean() for of in columns])
    influence = np.column_stack([data.influence[:, of].mean(axis=1) for of in columns])
    if data.known is not None:
        share = np.array([np.isin(np.arange(data.scores.size), of) / of.size for of in columns])
        part = _Part(share @ data.known[0] @ share.T, data.known[1])
        return StudentLaw(means, means, [part, *_of_runs(data, columns)], len(data.values))
    if data.classes is not None and data.clusters is None:
        parts = [_of_class(influence, of) for of in (data.classes, ~data.classes)]
        return StudentLaw(means, means, [*parts, *_of_runs(data, columns)], len(influence))
    if data.tasks is not None and data.clusters is None:
        values = np.column_stack([data.values[:, of].mean(axis=1) for of in columns])
        centre = (data.kish * means + 0.5) / (data.kish + 1)
        covariance = smoothed_covariance(values, *data.tasks)
        part = _Part(covariance, max(float(len(values) - data.n_tasks), 1.0))
        return StudentLaw(means, centre, [part, *_of_runs(data, columns)], len(values))
    prior = PRIOR_ITEMS if data.answers else 0.0  # all patterns of answers equally probable
    items = data.kish + prior
    centre = (data.kish * means + prior / 2) / items
    ones = np.ones((len(influence), 1))
    sizes = summed_by_cluster(ones, data.clusters)
    count, share = len(sizes), sizes / len(influence)
    if count < 2:
        raise InputError("all items belong to one cluster: nothing says how clusters differ")
    summed = summed_by_cluster(influence + means - centre, data.clusters) / (1 - share)
    away = 0.5 - centre
    products = (count - 1) / count * summed.T @ summed * (data.kish / len(influence)) ** 2
    products = products + prior * (np.outer(away, away) + np.eye(len(means)) / 4)
    part = _Part(products / items**2, max(float(1 / np.sum(share**2) - data.n_tasks), 1.0))
    return StudentLaw(means, centre, [part, *_of_runs(data, columns)], count)


def _of_class(influence: FloatArray, members: NDArray[np.bool_]) -> _Part:
    """DeLong's covariance of the placement values of one class, which are centred."""
    own, size = influence[members], int(members.sum())
    return _Part(own.T @ own / len(influence) ** 2 * (size / (size - 1)), float(size - 1))


def _of_runs(data: ItemData, columns: list[NDArray[np.intp]]) -> list[_Part]:
    """What runs add: each method's own variance, pooled where a method has one run."""
    sizes = np.array([len(of) for of in columns])
    squares = np.array(
        [float(np.sum((data.scores[of] - data.scores[of].mean()) ** 2)) for of in columns]
    )
    if sizes.max() == 1:
        return []
    if sizes.min() >= _OWN_RUNS:
        each = np.eye(len(sizes)) * (squares / (sizes - 1) / sizes)
        return [_Part(np.diag(row), float(n - 1)) for row, n in zip(each, sizes, strict=True)]
    freedom = float(np.sum(sizes - 1))
    return [_Part(np.diag(squares.sum() / freedom / sizes), freedom)]


def remarks_on(law: StudentLaw, data: ItemData, columns: list[NDArray[np.intp]]) -> list[str]:
    """What a reader should know of the law: how little some of its parts rest on."""
    remarks, sizes = [], [len(of) for of in columns]
    effective = law.parts[0].freedom + 1
    if data.clusters is not None and effective < _FEW:
        remarks.append(
            f"{law.n_clusters:,} clusters that count as {effective:.1f} of equal size: their "
            "spread is hardly known"
        )
    if data.classes is not None:
        fewest = int(min(data.classes.sum(), (~data.classes).sum()))
        if fewest < _FEW:
            remarks.append(f"only {fewest} items of one class: their spread is hardly known")
    if max(sizes) > 1:
        how = "of each method alone" if min(sizes) >= _OWN_RUNS else "taken to be equal, of all"
        remarks.append(f"the claim is about fresh runs; variances between runs are {how}")
    return remarks


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
    replicated : ndarray, shape (D, m), optional
        Scores of each draw's methods on as many fresh items; None where there are too many
        different items.
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
    replicated: FloatArray | None = None

    def __repr__(self) -> str:
        """Who leads, and by how much."""
        first, second = self.methods[self.winner], self.methods[self.runner_up]
        size = f"{len(self.methods)} methods on {self.n_items:,} items"
        return f"<MethodComparison of {size}: P({second!r} >= {first!r}) = {self.p_false:.4f}>"

    @property
    def are_shares(self) -> bool:
        """Whether scores are shares, whose differences are said in points."""
        return self.bounds == (0.0, 1.0)

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
        return (first / first.sum(axis=1, keepdims=True)).mean(axis=0)

    @property
    def p_false(self) -> float:
        """Probability that the runner-up is at least as good as the winner."""
        return float(self.p_not_below[self.runner_up])

    @property
    def p_beaten(self) -> float:
        """Probability that at least one other method is better than the winner."""
        return float(1 - self.p_best[self.winner])

    def tied_with_best(self, ci_prob: float = 0.95) -> NDArray[np.bool_]:
        """Methods that cannot be told from the winner, itself among them, shape (m,).

        All with ``p_not_below >= (1 - ci_prob) / 2``: the equal-tailed interval of the difference
        does not lie below zero.
        """
        return self.p_not_below >= (1 - ci_prob) / 2

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        """Equal-tailed interval of each mean, shape (m, 2)."""
        ends = np.quantile(self.draws, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T
        return np.clip(ends, *self.bounds)


def compare_methods(
    outcomes: Outcomes,
    methods: Sequence[str] | None = None,
    *,
    draws: int = 10_000,
    random_seed: Seed = DEFAULT_SEED,
) -> MethodComparison:
    """Posterior of every method's mean, P(best), and the probability that the winner is beaten.

    Parameters
    ----------
    outcomes : Outcomes
        One column per method, or per run of a method; numbers of any metric. Their
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
    >>> answers = Outcomes(rng.random((300, 3)) < [0.9, 0.85, 0.6], names=["a", "b", "c"])
    >>> comparison = compare_methods(answers, random_seed=0)
    >>> best, tied = comparison.methods[comparison.winner], comparison.tied_with_best().tolist()
    >>> best, tied, round(comparison.p_false, 3)
    ('a', [True, True, False], 0.034)
    """
    rng = generator_of(random_seed)
    names, columns = columns_of_methods(outcomes.names, methods)
    data, notes = item_data(outcomes)
    order = np.argsort(names)  # draws and ties follow the names, whatever the order of the columns
    sorted_columns = [columns[method] for method in order]
    if outcomes.is_plain and data.clusters is None and len(names) == len(outcomes.names):
        values = data.values[:, np.concatenate(sorted_columns)]
        scores, n_clusters = values.mean(axis=0), len(values)
        first = int(np.argmax(scores))
        drawn, again = _dirichlet_draws(values, draws, rng)
        p_not_below = _closed_form(values, first)
    else:
        law = student_law(data, sorted_columns)
        notes += remarks_on(law, data, sorted_columns)
        scores, n_clusters, first = law.scores, law.n_clusters, int(np.argmax(law.scores))
        drawn, p_not_below, again = law.draw(first, draws, rng)
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
        notes=tuple(notes),
        sign=outcomes.sign,
        replicated=None if again is None else np.clip(again[:, place], *data.bounds),
    )


def columns_of_methods(
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
        raise InputError(
            f"a comparison needs two methods, got only runs of {names[0]!r}; bayes-sota score says "
            "how good one is"
        )
    return names, [np.flatnonzero([run == name for run in runs]) for name in names]


def item_data(outcomes: Outcomes) -> tuple[ItemData, list[str]]:
    """What is compared, the items that all have answered, and notes."""
    if not outcomes.is_answers:
        ends = outcomes.values.min(), outcomes.values.max()
        shares = outcomes.metric == "auc" or (ends[0] >= 0 and ends[1] <= 1)
        bounds = (0.0, 1.0) if shares else (-np.inf, np.inf)
        if outcomes.lower_is_better:
            bounds = (-bounds[1], -bounds[0])
        if not np.isfinite(outcomes.covariance).all():
            raise InputError("the numbers are too large for a variance")
        known = None
        if outcomes.tasks is not None and outcomes.clusters is None:
            known = outcomes.covariance, outcomes.average.freedom
        tasks = None if outcomes.tasks is None else outcomes.task_codes
        data = ItemData(
            outcomes.sign * outcomes.values,
            outcomes.scores,
            outcomes.influence,
            outcomes.clusters,
            outcomes.labels,
            False,
            bounds,
            float(outcomes.n_items),
            tasks,
            known,
        )
        return data, list(notes_on_average(outcomes))
    kept = outcomes.complete()
    values, scores, n = kept.values, kept.scores, kept.n_items
    notes = [*left_out(outcomes, kept), *notes_on_average(kept)]
    if kept.new != "items":
        of, covariance = kept.average, kept.covariance
        if kept.new == "tasks":
            covariance = with_typical_pairs(covariance, of.freedom)
            covariance = _at_least_of_items(covariance, kept)
        known = covariance, of.freedom
        bounds, every = (0.0, 1.0), values - scores
        return ItemData(
            values, scores, every, None, None, True, bounds, of.kish, known=known
        ), notes
    influence, kish, tasks = values - scores, float(n), None
    if kept.tasks is not None:
        tasks = kept.task_codes
        influence, kish = weighted_means(values, *tasks)[1], kept.average.kish
    data = ItemData(values, scores, influence, kept.clusters, None, True, (0.0, 1.0), kish, tasks)
    return data, notes


def with_typical_pairs(covariance: FloatArray, freedom: float) -> FloatArray:
    """Covariance of few degrees of freedom, to which two of the typical covariance are added.

    The typical one has the mean variance and the mean covariance, and so the mean variance of a
    difference; the degrees of freedom of a Student law stay as they are.

    Examples
    --------
    >>> with_typical_pairs(np.diag([1.0, 3.0]), 2.0).tolist()
    [[1.5, 0.0], [0.0, 2.5]]
    """
    m = len(covariance)
    if m == 1:
        return covariance
    variance = float(np.trace(covariance)) / m
    between = (float(covariance.sum()) - m * variance) / (m * (m - 1))
    typical = np.full((m, m), between) + np.eye(m) * (variance - between)
    return (freedom * covariance + _BORROWED * typical) / (freedom + _BORROWED)


def _at_least_of_items(covariance: FloatArray, kept: Outcomes) -> FloatArray:
    """Covariance of two methods on new tasks, whose difference varies as on new items, or more.

    New tasks have new items; the variance between a few tasks may be smaller by chance.
    """
    if len(covariance) != 2:
        return covariance
    of_items = kept.about("items", passes=kept.passes).average.influence
    difference = np.array([1.0, -1.0])
    lacking = np.sum((of_items @ difference) ** 2) - difference @ covariance @ difference
    return covariance + np.eye(2) * max(float(lacking), 0.0) / 2


def notes_on_average(data: Outcomes) -> Iterator[str]:
    """What a score is the average of, and what its errors are about."""
    worth, about = "", ABOUT[data.new] + " of these tasks" * (data.new == "items")
    if data.runs_in_words:
        yield f"scores are {data.measured} in {data.runs_in_words}"
    if data.tasks is not None and data.is_answers and data.new == "items":
        worth = f", as of {data.average.kish:,.0f} items with equal weights"
    if data.tasks is not None:
        words = tasks_in_words(len(data.task_weights), data.averaging)
        yield f"scores are averages over {words}; errors are those of {about}{worth}"
    elif data.new == "tasks":
        yield (
            f"the {counted(data.n_items, data.unit)} are the sample: skills are those on new ones "
            "like them"
        )
    elif data.new != "items":
        yield f"errors are those of {about}"


def left_out(outcomes: Outcomes, kept: Outcomes) -> list[str]:
    """A note on the items that were left out, if any were."""
    lost = outcomes.n_items - kept.n_items
    return [f"{lost:,} of {outcomes.n_items:,} items left out: not all answered"] if lost else []


def _closed_form(right: FloatArray, winner: int) -> FloatArray:
    own = right[:, winner]
    return probability_not_better(np.rint(own @ (1 - right)), np.rint((1 - own) @ right))


def _dirichlet_draws(
    answers: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray | None]:
    """Draws of the skills, and scores on fresh items where there are not too many patterns.

    Gamma weights of patterns, and of the prior mass in sticks.
    """
    bits = np.ascontiguousarray(np.packbits(answers == 1, axis=1))  # sorted much faster
    rows = bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    if float(draws) * len(first) > _MOST_WEIGHTS:
        return _normal_draws(answers, draws, rng), None
    patterns, later = answers[first], rng.spawn(1)[0]
    few = float(draws) * len(first) <= _MOST_REPLICATED
    blocks, again = [], []
    for start in range(0, draws, _BLOCK):
        size = min(_BLOCK, draws - start)
        weights = rng.standard_gamma(counts, (size, len(counts)))
        prior = rng.standard_gamma(PRIOR_ITEMS, (size, 1))
        total = weights.sum(axis=1, keepdims=True) + prior
        sticks, right = _prior_patterns(size, answers.shape[1], rng)
        skills = weights @ patterns + prior * np.einsum("ds,dsm->dm", sticks, right)
        blocks.append(skills / total)
        if few:
            chances = np.hstack([weights, prior * sticks])
            chances /= chances.sum(axis=1, keepdims=True)
            seen = later.multinomial(len(answers), chances)
            of_sticks = np.einsum("ds,dsm->dm", seen[:, len(counts) :], right)
            again.append((seen[:, : len(counts)] @ patterns + of_sticks) / len(answers))
    return np.concatenate(blocks), np.concatenate(again) if few else None


def _normal_draws(answers: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """The same with so many items that the posterior is normal, of its own mean and covariance."""
    n, m = len(answers) + PRIOR_ITEMS, answers.shape[1]
    right = answers.T @ answers
    mean = (np.diagonal(right) + PRIOR_ITEMS / 2) / n
    square = (right + PRIOR_ITEMS / 4 * (1 + np.eye(m))) / n
    values, vectors = np.linalg.eigh((square - np.outer(mean, mean)) / (n + 1))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.clip(mean + rng.standard_normal((draws, m)) @ root.T, 0.0, 1.0)


def _prior_patterns(
    size: int, m: int, rng: np.random.Generator
) -> tuple[FloatArray, NDArray[np.int8]]:
    """Sticks of a Dirichlet process and their patterns of answers, all equally probable."""
    broken = rng.beta(1.0, PRIOR_ITEMS, (size, _STICKS))
    left = np.cumprod(1 - broken, axis=1)
    sticks = broken * np.column_stack([np.ones(size), left[:, :-1]])
    return sticks, rng.integers(0, 2, (size, _STICKS, m), dtype=np.int8)
