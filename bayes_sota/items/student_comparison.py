r"""Student t laws of several methods' scores on the same items: clusters, runs, any metric.

The scores are a sum of independent Student t parts, one for the items (for AUC one for each class),
one for runs. The part of C clusters with N items, of which cluster c holds the share :math:`w_c`,
has the covariance and the degrees of freedom

.. math:: \frac{C-1}{C} \sum_c \frac{u_c u_c^\top}{N^2 (1 - w_c)^2}, \quad
          u_c = \sum_{i \in c} (x_i - \bar x), \qquad \nu = \frac{1}{\sum_c w_c^2} - 1

the jackknife of clusters (CR3) with their effective number: one large cluster is not hidden among
small ones. Where clusters are single items each pair has the paired t law of
``false_claim_mean``. A run adds the variance between the runs of its method, divided by their
number; what items and runs share is counted in both parts. Answers have the four items of the flat
prior of ``method_comparison`` too, :math:`\tfrac14` of variance each.
``tests/items/test_method_comparison.py`` measures how often equal methods are told apart.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.labels import summed_by_cluster
from bayes_sota.core.types import FloatArray

__all__ = ["PRIOR_ITEMS", "TIE", "ItemData", "StudentLaw", "remarks_on", "student_law"]

PRIOR_ITEMS = 4.0  # of answers: one for each cell of a pair
TIE = 1e-12  # of the largest score
_FEW_CLUSTERS = 10
_FEW_OF_A_CLASS = 10
_OWN_RUNS = 2  # of every method, for variances of their own


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


@dataclass(frozen=True, eq=False)
class _Part:
    """One independent part of the error, Student t."""

    covariance: FloatArray
    freedom: float

    def scales(self, draws: int, rng: np.random.Generator) -> FloatArray:
        """Variances relative to the covariance, (draws,)."""
        return np.asarray(self.freedom / rng.chisquare(self.freedom, draws))

    def of_gaps(self, winner: int) -> FloatArray:
        """Variance of the winner minus each, (m,)."""
        diagonal = np.diagonal(self.covariance)
        gaps = diagonal + diagonal[winner] - 2 * self.covariance[winner]
        return np.asarray(np.maximum(gaps, 0.0))

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
    ) -> tuple[FloatArray, FloatArray]:
        """Draws of the scores, and P(winner <= other) of every pair."""
        from scipy.special import ndtr, stdtr

        noise, variance = np.zeros((draws, len(self.centre))), np.zeros((draws, len(self.centre)))
        for part in self.parts:
            scales = part.scales(draws, rng)[:, None]
            noise += np.sqrt(scales) * (rng.standard_normal(noise.shape) @ part.root.T)
            variance += scales * part.of_gaps(winner)
        gap = self.centre[winner] - self.centre
        least = TIE * float(np.abs(self.centre).max())
        if len(self.parts) == 1:
            spread = np.sqrt(self.parts[0].of_gaps(winner))
            p = stdtr(self.parts[0].freedom, -_ratio(gap, spread, least))
        else:
            p = ndtr(-_ratio(gap, np.sqrt(variance), least)).mean(axis=0)
        p[winner] = 0.5
        return self.centre + noise, np.asarray(p)


def _ratio(gap: FloatArray, spread: FloatArray, least: float) -> FloatArray:
    """Gap in units of its spread; without any spread equal methods stay a toss-up."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(gap / spread)
    return np.where(spread > least, found, np.where(gap > least, np.inf, 0.0))


def student_law(data: ItemData, columns: list[NDArray[np.intp]]) -> StudentLaw:
    """Law of the methods' scores; ``columns`` are the runs of each method."""
    means = np.array([data.scores[of].mean() for of in columns])
    influence = np.column_stack([data.influence[:, of].mean(axis=1) for of in columns])
    if data.classes is not None and data.clusters is None:
        parts = [_of_class(influence, of) for of in (data.classes, ~data.classes)]
        return StudentLaw(means, means, [*parts, *_of_runs(data, columns)], len(influence))
    prior = PRIOR_ITEMS if data.answers else 0.0  # all patterns of answers equally probable
    items = len(influence) + prior
    centre = (len(influence) * means + prior / 2) / items
    ones = np.ones((len(influence), 1))
    sizes = summed_by_cluster(ones, data.clusters)
    count, share = len(sizes), sizes / len(influence)
    if count < 2:
        raise InputError("all items belong to one cluster: nothing says how clusters differ")
    summed = summed_by_cluster(influence + means - centre, data.clusters) / (1 - share)
    away = 0.5 - centre
    products = (count - 1) / count * summed.T @ summed
    products = products + prior * (np.outer(away, away) + np.eye(len(means)) / 4)
    part = _Part(products / items**2, float(1 / np.sum(share**2) - 1))
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
    if data.clusters is not None and effective < _FEW_CLUSTERS:
        remarks.append(
            f"{law.n_clusters:,} clusters that count as {effective:.1f} of equal size: their "
            "spread is hardly known"
        )
    if data.classes is not None:
        fewest = int(min(data.classes.sum(), (~data.classes).sum()))
        if fewest < _FEW_OF_A_CLASS:
            remarks.append(f"only {fewest} items of one class: their spread is hardly known")
    if max(sizes) > 1:
        how = "of each method alone" if min(sizes) >= _OWN_RUNS else "taken to be equal, of all"
        remarks.append(f"the claim is about fresh runs; variances between runs are {how}")
    return remarks
