r"""Student laws of averages over items and clusters.

The errors of the scores are Student t, for AUC a sum of one such part for each class. The part of
C clusters with N items, of which cluster c holds the share :math:`w_c`, has the covariance and the
degrees of freedom

.. math:: \frac{C-1}{C} \sum_c \frac{u_c u_c^\top}{N^2 (1 - w_c)^2}, \quad
          u_c = \sum_{i \in c} (x_i - \bar x), \qquad \nu = \frac{1}{\sum_c w_c^2} - 1

the jackknife of clusters (CR3) with their effective number, which one large cluster lowers. With
single items as clusters each pair has the paired t law of ``claims.means``. For answers the four
items of the flat prior are added, with variance :math:`\tfrac14` each.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtr, stdtr

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.item_values import group_means, shrinkage, summed_by_cluster, weighted_means
from bayes_sota.data.outcomes import Outcomes

_BORROWED = 2.0  # degrees of freedom of a variance between tasks that it borrows from all
_FEW = 10  # clusters, or items of one class
PRIOR_ITEMS = 4.0  # of answers: one for each cell of a pair, all patterns equally probable
_NODES = 64  # of the scale of each of two parts


class _Part(NamedTuple):
    """One independent part of the error, Student t."""

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
        """Centre of the difference of two methods; variance and freedom of each part."""
        of = np.ix_([first, second], [first, second])
        signs = np.array([1.0, -1.0])
        parts = [(max(float(signs @ v[of] @ signs), 0.0), nu) for v, nu in self.parts]
        return float(self.centre[first] - self.centre[second]), parts

    def draw(self, draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draws of the means, and of scores on fresh items with the same errors again."""
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

    Without any spread equal methods have probability 1/2.

    Examples
    --------
    >>> student_below(0.1, [(0.0, 3.0)]), round(student_below(0.0, [(1.0, 3.0), (2.0, 5.0)]), 9)
    (1.0, 0.5)
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
    """Law of the methods' scores without missing answers; ``prior`` items are for answers only."""
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
    """Covariance of the scores of an average; with few tasks, shrunk to typical pairs."""
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
    """Covariance (m, m) of averages over tasks without clusters; no difference has variance 0.

    Products of two entries are treated as the square of one in ``data.item_values.averaged``, with
    the ``prior`` items in place of one, of variance 1/4 each.
    """
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
    """DeLong's covariance of the placement values of one class, which are centred."""
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
    """Covariance of few degrees of freedom, averaged with two of the typical covariance.

    The typical one has the mean variance and the mean covariance.

    Examples
    --------
    >>> with_typical_pairs(np.diag([1.0, 3.0]), 2.0).tolist()
    [[1.5, 0.0], [0.0, 2.5]]
    """
    m = len(covariance)
    variance = float(np.trace(covariance)) / m
    between = (float(covariance.sum()) - m * variance) / (m * (m - 1))
    typical = np.full((m, m), between) + np.eye(m) * (variance - between)
    return (freedom * covariance + _BORROWED * typical) / (freedom + _BORROWED)
