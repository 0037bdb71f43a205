r"""Which of several methods is best, from their answers to the same items.

For two classifiers named beforehand only items that one alone gets right matter, ``x10`` for the
first, ``x01`` for the second. With a flat Dirichlet prior on the four cells (both right, one, the
other, none)

.. math:: P(\theta_A \le \theta_B \mid x) = I_{1/2}(x_{10} + 1,\; x_{01} + 1)
          = P(X > x_{10}) + \tfrac12 P(X = x_{10}), \quad X \sim Bin(x_{10} + x_{01}, \tfrac12)

is the one-sided mid-p value of McNemar's test. Nothing here corrects for picking the leader.

Several methods with one answer per independent item have the Dirichlet posterior of the joint
cells. A prior mass of four items, spread evenly over all :math:`2^m` patterns of answers, gives
every pair the flat Dirichlet(1, 1, 1, 1). In the draws it is a Dirichlet process (Sethuraman's
sticks).

More than 1,000 different patterns (of 10,000 draws) and all other data (clusters, runs, Dice, AUC)
have Student t errors, for AUC a sum of one such part for each class. The part of C clusters with N
items, of which cluster c holds the share :math:`w_c`, has the covariance and the degrees of freedom

.. math:: \frac{C-1}{C} \sum_c \frac{u_c u_c^\top}{N^2 (1 - w_c)^2}, \quad
          u_c = \sum_{i \in c} (x_i - \bar x), \qquad \nu = \frac{1}{\sum_c w_c^2} - 1

the jackknife of clusters (CR3) with their effective number, which one large cluster lowers. For
single items this is the paired t law of ``claims.laws``. For answers the four items of the flat
prior are added, with variance :math:`\tfrac14` each.

``tests/claims/test_gate.py`` compares a pair with binomial sums and with simulation,
``tests/items/test_method_comparison.py`` draws with the closed forms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, chdtri, ndtr, stdtr

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of
from bayes_sota.core.text import counted
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.data.item_values import (
    group_means,
    shrinkage,
    summed_by_cluster,
    tasks_in_words,
    weighted_means,
)
from bayes_sota.data.outcomes import ABOUT, Outcomes
from bayes_sota.items.score import Skill, skills_alone

_STICKS = 96  # of the prior mass: (4/5)^96 = 5e-10 of it is left
_BLOCK = 500
_TIE = 1e-12
_ROUND_OFF = 1e-9
_MOST_WEIGHTS = 1e7  # draws times patterns: half a second
_BORROWED = 2.0  # degrees of freedom
_FEW = 10  # clusters, or items of one class
PRIOR_ITEMS = 4.0  # of answers: one for each cell of a pair
_NODES = 64


def probability_not_better(only_first: ArrayLike, only_second: ArrayLike) -> FloatArray:
    """P(skill of the first <= skill of the second) from items that one alone got right."""
    return betainc(np.asarray(only_first) + 1, np.asarray(only_second) + 1, 0.5)


@dataclass(frozen=True, eq=False, repr=False)
class MethodComparison:
    """Posterior of the methods' means, larger is better.

    Attributes
    ----------
    methods : tuple of str
    scores : ndarray, shape (m,)
        Observed means over items and runs.
    winner : int
        Index of the best score; of equals the first by name.
    draws : ndarray, shape (D, m)
        Joint posterior draws of the means over all possible items (and runs).
    p_not_below : ndarray, shape (m,)
        P(mean of the winner <= mean of the other); 1/2 for the winner.
    n_items, n_clusters : int
    bounds : (float, float)
        Least and largest possible score.
    sign : int
        -1 if lower is better: multiplies scores and draws back to what was given.
    notes : tuple of str
    replicated : ndarray, shape (D, m)
        Scores on as many fresh items.
    data : Outcomes
    """

    methods: tuple[str, ...]
    scores: FloatArray
    winner: int
    draws: FloatArray
    p_not_below: FloatArray
    n_items: int
    n_clusters: int
    bounds: tuple[float, float]
    sign: int
    notes: tuple[str, ...]
    replicated: FloatArray
    data: Outcomes

    @property
    def are_shares(self) -> bool:
        return self.bounds == (0.0, 1.0)

    @property
    def runner_up(self) -> int:
        order = np.argsort(-self.scores, kind="stable")
        return int(order[order != self.winner][0])

    @cached_property
    def p_best(self) -> FloatArray:
        """Probability of the largest mean, (m,), which equals share."""
        best = self.draws.max(axis=1, keepdims=True)
        # by less they differ by the rounding of a covariance only
        least = max(1e-6 * self.draws.std(axis=0).max(), _TIE * np.abs(self.draws).max())
        first = self.draws >= best - least
        return (first / first.sum(axis=1, keepdims=True)).mean(axis=0)

    @property
    def p_false(self) -> float:
        """P(runner-up is at least as good as the winner)."""
        return float(self.p_not_below[self.runner_up])

    @property
    def p_beaten(self) -> float:
        """P(some other method is better than the winner)."""
        return float(1 - self.p_best[self.winner])

    def tied_with_best(self, ci_prob: float = 0.95) -> NDArray[np.bool_]:
        """Methods whose interval of the difference from the winner does not lie below 0, (m,)."""
        return self.p_not_below >= (1 - ci_prob) / 2

    @cached_property
    def alone(self) -> list[Skill] | None:
        """Skills by themselves, unless of numbers; a pair's prior would shrink them to 1/2."""
        return skills_alone(self.data) if self.data.is_answers else None

    @cached_property
    def skills(self) -> FloatArray:
        """Draws of each mean by itself, (D, m)."""
        if self.alone is None:
            return np.clip(self.draws, *self.bounds)
        levels = (self.draws.argsort(axis=0).argsort(axis=0) + 0.5) / len(self.draws)
        return np.column_stack([a.quantile(p) for a, p in zip(self.alone, levels.T, strict=True)])

    def interval(self, ci_prob: float = 0.95) -> FloatArray:
        """Equal-tailed interval of each mean by itself, (m, 2)."""
        if self.alone is not None:
            return np.array([skill.interval(ci_prob) for skill in self.alone])
        return np.quantile(self.skills, [(1 - ci_prob) / 2, (1 + ci_prob) / 2], axis=0).T


def compare_methods(
    outcomes: Outcomes, *, draws: int = 10_000, random_seed: Seed = DEFAULT_SEED
) -> MethodComparison:
    """Posterior of every method's mean, and how certain the winner is.

    Parameters
    ----------
    outcomes : Outcomes
        One column per method, of any metric.
    draws : int
        Joint draws; P(best) has a standard error of at most ``0.5 / sqrt(draws)``.
    random_seed : int, SeedSequence, Generator or None

    Raises
    ------
    InputError
        Fewer than two methods or clusters, or fewer than two items that all answered.

    Examples
    --------
    >>> answers = np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6]
    >>> comparison = compare_methods(Outcomes(answers), random_seed=0)
    >>> comparison.tied_with_best().tolist(), round(comparison.p_false, 3)
    ([True, True, False], 0.034)
    """
    rng = generator_of(random_seed)
    outcomes.check_several()
    kept, notes = complete(outcomes)
    # draws and ties follow the names, whatever the order of the columns
    order = np.argsort(outcomes.names)
    data = kept.subset(order.tolist())
    law, right = student_law(data), data.values
    first = int(np.argmax(law.scores))
    plain = data.is_plain and data.clusters is None
    exact = _dirichlet_draws(right, draws, rng) if plain else None
    drawn, again = law.draw(draws, rng)
    gaps = (law.gap(first, j) for j in range(len(law.centre)))
    p_not_below = np.array([student_below(-centre, parts) for centre, parts in gaps])
    if plain:
        best = right[:, first]
        p_not_below = probability_not_better(best @ (1 - right), (1 - best) @ right)
        drawn, again = exact or (drawn, again)
    if len(order) == 2 and np.ptp(right, axis=1).max() == 0:
        gave = (
            "gave the same answer to"
            if data.is_answers and not data.runs_in_words
            else "have the same score on"
        )
        size = counted(data.n_items, data.unit)
        notes.append(f"both {gave} all {size}: are these different models?")
    place, bounds = np.argsort(order), bounds_of(data)
    return MethodComparison(
        methods=outcomes.names,
        scores=law.scores[place],
        winner=int(order[first]),
        draws=drawn[:, place],
        p_not_below=p_not_below[place],
        n_items=data.n_items,
        n_clusters=law.n_clusters,
        bounds=bounds,
        notes=(*notes, *remarks_on(law, data)),
        sign=outcomes.sign,
        replicated=np.clip(again[:, place], *bounds),
        data=kept,
    )


def complete(outcomes: Outcomes) -> tuple[Outcomes, list[str]]:
    """The items that all methods answered, with notes."""
    kept = outcomes.complete()
    lost = outcomes.n_items - kept.n_items
    note = f"left out {lost:,} of {outcomes.n_items:,} items that not all methods answered"
    return kept, [*[note] * bool(lost), *notes_on_average(kept)]


def without_error(data: Outcomes, first: str, second: str) -> list[str]:
    """Reason if a difference of numbers is the same everywhere, so that its error is unknown."""
    if data.is_answers:
        return []
    a, b = data.names.index(first), data.names.index(second)
    away, gap = data.influence[:, a] - data.influence[:, b], data.scores[a] - data.scores[b]
    if np.abs(away).max() >= _ROUND_OFF * abs(gap):
        return []
    where = f"on every {data.unit}" + " of a task" * (data.tasks is not None)
    return [f"{first} and {second} differ by the same amount {where}: its error is not known"]


def bounds_of(data: Outcomes) -> tuple[float, float]:
    """Least and largest possible score, larger is better."""
    are_shares = data.metric in ("accuracy", "auc")
    if not are_shares and (data.values.min() < 0 or data.values.max() > 1):
        return -np.inf, np.inf
    return (-1.0, 0.0) if data.lower_is_better else (0.0, 1.0)


def notes_on_average(data: Outcomes) -> Iterator[str]:
    """Notes on averages over tasks and runs."""
    worth, about = "", ABOUT[data.new] + " of these tasks" * (data.new == "items")
    if data.runs_in_words:
        yield f"scores are {data.measured} in {data.runs_in_words}"
    if data.tasks is not None and data.is_answers and data.new == "items":
        worth = f", as of {data.average.kish:,.0f} items with equal weights"
    if data.tasks is not None:
        words = tasks_in_words(len(data.task_weights), data.averaging)
        yield f"scores are averages over {words}; errors are those of {about}{worth}"
    elif data.new == "tasks":
        sample = counted(data.n_items, data.unit)
        yield f"the {sample} are the sample: skills are those on new ones like them"
    elif data.new != "items":
        yield f"errors are those of {about}"


def _dirichlet_draws(
    answers: FloatArray, draws: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray] | None:
    """Draws of the skills, and scores on fresh items; None if patterns are too many."""
    (n, m), later = answers.shape, rng.spawn(1)[0]
    bits = np.ascontiguousarray(np.packbits(answers == 1, axis=1))
    rows = bits.view(np.dtype((np.void, bits.shape[1])))[:, 0]
    _, first, counts = np.unique(rows, return_index=True, return_counts=True)
    if float(draws) * len(first) > _MOST_WEIGHTS:
        return None
    patterns = answers[first]
    drawn, again = np.empty((2, draws, m))
    for start in range(0, draws, _BLOCK):
        here = slice(start, start + _BLOCK)
        size = len(drawn[here])
        weights = rng.standard_gamma(counts, (size, len(counts)))
        prior = rng.standard_gamma(PRIOR_ITEMS, (size, 1))
        broken = rng.beta(1.0, PRIOR_ITEMS, (size, _STICKS))
        left = np.cumprod(1 - broken, axis=1)
        sticks = broken * np.column_stack([np.ones(size), left[:, :-1]])
        right = rng.integers(0, 2, (size, _STICKS, m), dtype=np.int8)
        chances = np.hstack([weights, prior * sticks])
        chances /= chances.sum(axis=1, keepdims=True)
        seen = later.multinomial(n, chances) / n
        for found, share in ((drawn, chances), (again, seen)):
            of_sticks = np.einsum("ds,dsm->dm", share[:, len(counts) :], right)
            found[here] = share[:, : len(counts)] @ patterns + of_sticks
    return drawn, again


class _Part(NamedTuple):
    covariance: FloatArray
    freedom: float


@dataclass(frozen=True, eq=False)
class StudentLaw:
    """Joint law of the methods' scores: a centre and independent Student t parts."""

    scores: FloatArray
    centre: FloatArray
    parts: list[_Part]
    n_clusters: int

    def gap(self, first: int, second: int) -> tuple[float, list[tuple[float, float]]]:
        """Centre of the difference of two methods, and variance and freedom of each part."""
        of = np.ix_([first, second], [first, second])
        signs = np.array([1.0, -1.0])
        parts = [(max(float(signs @ v[of] @ signs), 0.0), nu) for v, nu in self.parts]
        return float(self.centre[first] - self.centre[second]), parts

    def draw(self, draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of the means, and of scores on fresh items."""
        later = rng.spawn(1)[0]
        noise, again = np.zeros((2, draws, len(self.centre)))
        for covariance, freedom in self.parts:
            scales = freedom / rng.chisquare(freedom, (draws, 1))
            values, vectors = np.linalg.eigh(covariance)
            root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
            noise += np.sqrt(scales) * (rng.standard_normal(noise.shape) @ root)
            again += np.sqrt(scales) * (later.standard_normal(noise.shape) @ root)
        return self.centre + noise, self.centre + noise + again


def student_below(away: float, parts: Sequence[tuple[float, float]]) -> float:
    r"""P(d <= q) of one Student t part or the sum of two, given q minus the centre.

    .. math:: P(d \le q) = E\, \Phi\Big((q - \bar d) \Big/ \sqrt{\textstyle\sum_k v_k \nu_k /
              \chi^2_{\nu_k}}\Big)
    """
    if not any(variance for variance, _ in parts):
        return float(0.5 * (1 + np.sign(away)))
    if len(parts) == 1:
        ((variance, freedom),) = parts
        return float(stdtr(freedom, away / np.sqrt(variance)))
    x, weights = np.polynomial.legendre.leggauss(_NODES)
    first, second = (variance * nu / chdtri(nu, (x + 1) / 2) for variance, nu in parts)
    chances = ndtr(away / np.sqrt(first[:, None] + second))
    return float(weights @ chances @ weights) / 4


def student_law(data: Outcomes, prior: float = PRIOR_ITEMS) -> StudentLaw:
    """Law of the scores without missing values; ``prior`` items are for answers only."""
    means, n = data.scores, data.n_items
    tasks, alone = data.tasks is not None, data.clusters is None
    if data.new != "items" if data.is_answers else tasks and alone:
        part = _Part(_known_covariance(data), data.average.freedom)
        return StudentLaw(means, means, [part], n)
    if data.labels is not None and alone:
        parts = [_of_class(data.influence, data.labels == kind) for kind in (True, False)]
        return StudentLaw(means, means, parts, n)
    prior = prior if data.is_answers else 0.0
    kish = data.average.kish if data.is_answers and tasks else float(n)
    codes, weights = data.task_codes
    if data.is_answers and tasks and alone:
        centre = (kish * means + prior / 2) / (kish + prior)
        covariance = smoothed_covariance(data.values, codes, weights, prior)
        part = _Part(covariance, max(float(n - weights.size), 1.0))
        return StudentLaw(means, centre, [part], n)
    items = kish + prior
    centre = (kish * means + prior / 2) / items
    influence = data.influence
    if data.is_answers:
        influence = weighted_means(data.values, codes, weights)[1]
    sizes = summed_by_cluster(np.ones((n, 1)), data.clusters)
    count, part_of = len(sizes), sizes / n
    away = influence + means - centre
    summed = summed_by_cluster(away, data.clusters) / (1 - part_of)
    products = (count - 1) / count * summed.T @ summed * (kish / n) ** 2
    off = 0.5 - centre
    products = products + prior * (np.outer(off, off) + np.eye(len(means)) / 4)
    freedom = max(float(1 / np.sum(part_of**2) - weights.size), 1.0)
    return StudentLaw(means, centre, [_Part(products / items**2, freedom)], count)


def _known_covariance(data: Outcomes) -> FloatArray:
    if data.new != "tasks" or not data.is_answers:
        return data.covariance
    covariance = with_typical_pairs(data.covariance, data.average.freedom)
    if len(covariance) != 2:
        return covariance
    # new tasks have new items: the variance between a few tasks may be smaller by chance
    of_items = data.about("items", passes=data.passes).average.influence
    difference = np.array([1.0, -1.0])
    lacking = np.sum((of_items @ difference) ** 2) - difference @ covariance @ difference
    return covariance + np.eye(2) * max(float(lacking), 0.0) / 2


def smoothed_covariance(
    values: FloatArray, tasks: IntArray, weights: FloatArray, prior: float = PRIOR_ITEMS
) -> FloatArray:
    """Covariance (m, m) of averages over tasks without clusters."""
    means, sizes = group_means(values, tasks), np.bincount(tasks).astype(float)[:, None]
    of_spread, of_distance, kish = shrinkage(sizes, weights[:, None])
    share = kish / (kish + prior)
    rows = np.vstack(
        [
            np.sqrt(of_spread * share / sizes)[tasks] * (values - means[tasks]),
            np.sqrt(of_spread / kish * prior) * share * (means - 0.5),
            np.sqrt(of_distance) * share * (means - weights @ means),
        ]
    )
    own = of_spread.sum() * prior / (kish + prior) / 4
    return rows.T @ rows + np.eye(len(rows.T)) * own


def _of_class(influence: FloatArray, members: NDArray[np.bool_]) -> _Part:
    """DeLong's covariance of the centred placement values of one class."""
    own, size = influence[members], int(members.sum())
    return _Part(own.T @ own / len(influence) ** 2 * (size / (size - 1)), float(size - 1))


def remarks_on(law: StudentLaw, data: Outcomes) -> list[str]:
    """Notes on parts of the law that rest on few clusters or items of a class."""
    remarks, effective = [], law.parts[0].freedom + 1
    if data.clusters is not None and effective < _FEW:
        few = f"{law.n_clusters:,} clusters that count as {effective:.1f} of equal size"
        remarks.append(f"{few}: their variance is poorly known")
    if data.labels is not None and (fewest := int(np.bincount(data.labels).min())) < _FEW:
        remarks.append(f"only {fewest} items of one class: their variance is poorly known")
    return remarks


def with_typical_pairs(covariance: FloatArray, freedom: float) -> FloatArray:
    """Covariance, averaged with two degrees of freedom of its mean variance and covariance."""
    m = len(covariance)
    variance = float(np.trace(covariance)) / m
    between = (float(covariance.sum()) - m * variance) / (m * (m - 1))
    typical = np.full((m, m), between) + np.eye(m) * (variance - between)
    return (freedom * covariance + _BORROWED * typical) / (freedom + _BORROWED)
