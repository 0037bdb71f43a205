r"""Two learners of Raeder, Hoens and Chawla (2010) that no well-kept library has.

Both are classifiers of scikit-learn for two classes and numbers without gaps.
``tests/published/test_estimators.py`` runs scikit-learn's own checks, and compares the densities
with quadrature and the splits with the formula, one threshold after the other.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayes_sota.core.types import BoolArray, FloatArray, IntArray

_LEAST = 1e-75  # a mass far from all kernels, so that one attribute does not decide alone
_ALIKE = 1e-9  # distances that differ by less are rounding


class _TwoClasses(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What both share: two classes, checked input, predictions from probabilities."""

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from items.

        Parameters
        ----------
        X : array-like, shape (n_items, n_attributes)
            Finite numbers.
        y : array-like, shape (n_items,)
            Labels of at most two classes; of one class alone every item is predicted to be.
        """
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass."
            )
        self._learn(rows, labels == self.classes_[-1])
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like, shape (n_items, n_attributes)

        Returns
        -------
        ndarray, shape (n_items, n_classes)
        """
        check_is_fitted(self)
        return self._probabilities(validate_data(self, X, dtype=np.float64, reset=False))

    @abstractmethod
    def _learn(self, rows: FloatArray, last: BoolArray) -> None:
        """Learn from checked rows; ``last`` marks the items of the last class."""

    @abstractmethod
    def _probabilities(self, rows: FloatArray) -> FloatArray:
        """Probability of each class, (n_items, n_classes)."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def predict(self, X: Any) -> Any:
        """Predict the more probable class of every row, in ties the first.

        Parameters
        ----------
        X : array-like, shape (n_items, n_attributes)

        Returns
        -------
        ndarray, shape (n_items,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[np.argmax(probabilities, axis=1)]

    def _both(self, positive: FloatArray) -> FloatArray:
        """Probabilities of all classes from those of the last."""
        return np.column_stack([1 - positive, positive][2 - len(self.classes_) :])


class KernelNaiveBayes(_TwoClasses):
    r"""Naive Bayes whose densities are sums of normal kernels, one at each training item.

    The probability of a value is the mass that the kernels of a class have within
    :math:`\pm p/2` of it, where the precision :math:`p` is the mean gap between the attribute's
    distinct values, so that discrete attributes do no harm. The kernels' standard deviation in a
    class of :math:`n` items is :math:`\max\{(\max x - \min x) / \sqrt n, p / 6\}`, after John and
    Langley (1995) with the scale that WEKA gives it.

    Attributes
    ----------
    classes_ : ndarray, shape (1,) or (2,)
    prior_ : ndarray, shape (n_classes,)
        Shares of the classes.
    precision_ : ndarray, shape (n_attributes,)
    bandwidth_ : ndarray, shape (n_classes, n_attributes)
    kernels_ : list of list of (ndarray, ndarray)
        For each class and attribute the distinct values and their shares.

    Examples
    --------
    >>> model = KernelNaiveBayes().fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> model.predict([[0.5], [5.5]]).tolist()
    [0, 1]
    """

    def _learn(self, rows: FloatArray, last: BoolArray) -> None:
        parts = [rows[last]] if len(self.classes_) == 1 else [rows[~last], rows[last]]
        distinct = [np.unique(column) for column in rows.T]
        gaps = [float(np.ptp(one)) / max(len(one) - 1, 1) for one in distinct]
        self.precision_ = np.where(np.array(gaps) > 0, gaps, 1.0)
        spreads = np.array([np.ptp(part, axis=0) / np.sqrt(len(part)) for part in parts])
        self.bandwidth_ = np.maximum(spreads, self.precision_ / 6)
        self.prior_ = np.array([len(part) / len(rows) for part in parts])
        self.kernels_ = [
            [(v, n / len(part)) for v, n in (np.unique(x, return_counts=True) for x in part.T)]
            for part in parts
        ]

    def _probabilities(self, rows: FloatArray) -> FloatArray:
        log = np.tile(np.log(self.prior_), (len(rows), 1))
        for j, column in enumerate(rows.T):
            values, place = np.unique(column, return_inverse=True)
            for c, kernels in enumerate(self.kernels_):
                mass = self._mass(values, kernels[j], self.bandwidth_[c, j], self.precision_[j])
                log[:, c] += np.log(np.maximum(mass, _LEAST))[place]
        log -= log.max(axis=1, keepdims=True)
        found: FloatArray = np.exp(log) / np.exp(log).sum(axis=1, keepdims=True)
        return found

    @staticmethod
    def _mass(
        values: FloatArray, kernel: tuple[FloatArray, FloatArray], width: float, precision: float
    ) -> FloatArray:
        """Mass within half a precision of each value."""
        from scipy.special import ndtr

        # In the lower tail, where differences keep their digits.
        away = np.abs(values[:, None] - kernel[0])
        near, far = (away - precision / 2) / width, (away + precision / 2) / width
        found: FloatArray = (ndtr(-near) - ndtr(-far)) @ kernel[1]
        return found


@dataclass(frozen=True, eq=False)
class _Nodes:
    """A tree as columns; a leaf has no attribute (-1)."""

    attribute: IntArray
    threshold: FloatArray
    left: IntArray
    right: IntArray
    positive: FloatArray


class HellingerTree(_TwoClasses):
    r"""Decision tree whose splits put the largest Hellinger distance between the classes.

    Of the binary splits of a node the one is taken with the largest

    .. math::
        d = \sqrt{\left(\sqrt{P_l / P} - \sqrt{N_l / N}\right)^2 +
                  \left(\sqrt{P_r / P} - \sqrt{N_r / N}\right)^2}

    where :math:`P` and :math:`N` items of the node are positive and negative, and :math:`P_l` and
    :math:`N_l` of them on the left. Shares within classes do not change when one class gets
    rarer. The tree is not pruned, and a leaf's probability is :math:`(P + 1) / (P + N + 2)`
    (Cieslak and Chawla 2008).

    Parameters
    ----------
    min_samples_leaf : int
        Least number of items in a leaf.

    Attributes
    ----------
    classes_ : ndarray, shape (1,) or (2,)
    nodes_ : object
        Arrays ``attribute``, ``threshold``, ``left``, ``right`` and ``positive`` of all nodes.

    Examples
    --------
    >>> model = HellingerTree(min_samples_leaf=1).fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> model.nodes_.threshold[0].tolist(), model.predict_proba([[7.0]]).tolist()
    (3.0, [[0.25, 0.75]])
    """

    def __init__(self, min_samples_leaf: int = 2) -> None:
        self.min_samples_leaf = min_samples_leaf

    def _learn(self, rows: FloatArray, last: BoolArray) -> None:
        found: list[list[float]] = []
        waiting = [(np.arange(len(rows)), -1, 0)]
        while waiting:
            items, parent, side = waiting.pop()
            if parent >= 0:
                found[parent][side] = len(found)
            split = best_split(rows[items], last[items], self.min_samples_leaf)
            share = (last[items].sum() + 1) / (len(items) + 2)
            number = len(found)
            found.append([*(split or (-1, np.nan)), -1, -1, share])
            if split is not None:
                left = rows[items, split[0]] <= split[1]
                waiting += [(items[~left], number, 3), (items[left], number, 2)]
        columns = [np.array(column) for column in zip(*found, strict=True)]
        whole = [columns[k].astype(np.int64) for k in (0, 2, 3)]
        self.nodes_ = _Nodes(whole[0], columns[1], whole[1], whole[2], columns[4])

    def _probabilities(self, rows: FloatArray) -> FloatArray:
        nodes, at = self.nodes_, np.zeros(len(rows), np.int64)
        inside = np.flatnonzero(nodes.attribute[at] >= 0)
        while inside.size:
            here = at[inside]
            left = rows[inside, nodes.attribute[here]] <= nodes.threshold[here]
            at[inside] = np.where(left, nodes.left[here], nodes.right[here])
            inside = inside[nodes.attribute[at[inside]] >= 0]
        if len(self.classes_) == 1:
            return np.ones((len(rows), 1))
        return self._both(nodes.positive[at])


def best_split(
    rows: FloatArray, positive: BoolArray, min_samples_leaf: int = 2
) -> tuple[int, float] | None:
    """Attribute and threshold with the largest Hellinger distance between the classes.

    Parameters
    ----------
    rows : ndarray, shape (n_items, n_attributes)
    positive : ndarray of bool, shape (n_items,)
    min_samples_leaf : int
        Least number of items on either side.

    Returns
    -------
    (int, float) or None
        Items up to the threshold go left; it is in the middle of two neighbouring values. The
        first of equal splits; None where no split separates the classes at all.

    Examples
    --------
    >>> best_split(np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1]) > 0)
    (0, 3.0)
    """
    n, total = len(positive), int(positive.sum())
    if total in (0, n) or n < 2 * min_samples_leaf:
        return None
    order = np.argsort(rows, axis=0, kind="stable")
    values = np.take_along_axis(rows, order, axis=0)
    left = positive[order].cumsum(axis=0)[:-1]
    size = np.arange(1, n)[:, None]
    p, q = left / total, (size - left) / (n - total)
    squares = 2 - 2 * np.sqrt(p * q) - 2 * np.sqrt((1 - p) * (1 - q))
    allowed = (size >= min_samples_leaf) & (n - size >= min_samples_leaf)
    squares = np.where((values[1:] > values[:-1]) & allowed, squares, -1.0)
    most = squares.max()
    if most <= _ALIKE:
        return None
    attribute, place = np.argwhere(most - _ALIKE <= squares.T)[0]
    low, high = values[place, attribute], values[place + 1, attribute]
    middle = low + (high - low) / 2
    return int(attribute), float(middle if middle < high else low)
