r"""Evidence about two classifiers that may be looked at after every item.

Item i gives the difference :math:`d_i \in [-1, 1]` of the two. Under :math:`E\,d \le -D` every bet
:math:`0 \le \lambda \le 1 / (1 - D)` makes a fair or losing game of

.. math:: K_t(\lambda) = \prod_{i \le t} \bigl(1 + \lambda (d_i + D)\bigr)

so that a mixture of bets, :math:`E_t = \int K_t(\lambda)\, d\pi(\lambda)`, exceeds
:math:`1/\alpha` at *any* t with probability at most :math:`\alpha` (Ville; Waudby-Smith & Ramdas
2024, doi 10.1093/jrsssb/qkad009, Sec. 4). With bets :math:`\lambda_{max} \sin\varphi`,
:math:`\varphi` uniform on a quarter of the circle, and answers right or wrong without a margin it
is the half of the beta mixture over shares above 1/2, :math:`B(b + 1/2, c + 1/2)\, 2^{b+c} /
B(1/2, 1/2)`, where b items are right for the first alone and c for the second. Items of a cluster
bet together, with the sum of their differences over the size of the largest cluster.
``tests/items/test_anytime.py`` compares with the closed form, and counts errors at any look.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray

_BETS = 200
_LARGEST = 700.0  # logarithm of evidence


@dataclass(frozen=True, eq=False)
class AnytimeEvidence:
    """Running evidence, after each item or cluster.

    Attributes
    ----------
    better, not_worse, worse : ndarray, shape (t,)
        Against "the first is not better", "it is worse by the margin or more" and "it is not
        worse"; each exceeds 1 / alpha at any time with probability at most alpha where that is so.
    items : ndarray of int, shape (t,)
        Number of items so far.
    """

    better: FloatArray
    not_worse: FloatArray
    worse: FloatArray
    items: IntArray

    def first(self, evidence: FloatArray, alpha: float) -> int | None:
        """Number of items after which evidence first reached 1 / alpha; None where it did not."""
        reached = np.flatnonzero(evidence >= 1 / alpha)
        return int(self.items[reached[0]]) if reached.size else None


def anytime_evidence(
    differences: ArrayLike, margin: float = 0.0, clusters: IntArray | None = None
) -> AnytimeEvidence:
    """Evidence about the first of two classifiers, in the order of the items.

    Parameters
    ----------
    differences : array-like, shape (n,)
        Of each item, between -1 and 1: what the first got minus what the second got.
    margin : float
        How much worse counts as not worse, at least 0 and below 1.
    clusters : ndarray of int, shape (n,), optional
        Cluster of each item; a cluster counts when its last item is there.

    Raises
    ------
    InputError
        Differences beyond 1, a margin below 0 or of 1 and more.

    Examples
    --------
    >>> evidence = anytime_evidence([1, 0, 1, 1, 1, 0, 1, 1, 1, 1])
    >>> evidence.better.round(1).tolist()[-1], evidence.first(evidence.better, 0.05)
    (100.5, 8)
    """
    d = np.asarray(differences, np.float64)
    if not np.all(np.abs(d) <= 1):
        raise InputError("differences of items must lie between -1 and 1")
    if not 0 <= margin < 1:
        raise InputError(f"margin must be at least 0 and below 1, got {margin:g}")
    counts, items = np.ones(d.size), np.arange(1, d.size + 1)
    if clusters is not None:
        last = {cluster: place for place, cluster in enumerate(clusters.tolist())}
        order = np.array(sorted(last.values()))
        index = {clusters[place]: row for row, place in enumerate(order)}
        rows = np.array([index[cluster] for cluster in clusters])
        counts = np.bincount(rows).astype(float)
        d, items = np.bincount(rows, d), np.cumsum(counts).astype(np.int64)
    largest = counts.max(initial=1.0)
    d, counts = d / largest, counts / largest
    return AnytimeEvidence(
        _mixture(d, 1.0), _mixture(d + margin * counts, 1 / (1 - margin)), _mixture(-d, 1.0), items
    )


def _mixture(gains: FloatArray, largest: float) -> FloatArray:
    """Mean over bets up to ``largest`` of what each has made of 1 so far."""
    bets = largest * np.sin((np.arange(_BETS) + 0.5) * np.pi / 2 / _BETS)
    made = np.cumsum(np.log1p(np.maximum(bets * gains[:, None], -1 + 1e-15)), axis=0)
    return np.mean(np.exp(np.minimum(made, _LARGEST)), axis=1)
