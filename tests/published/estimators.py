r"""Two learners of Raeder, Hoens and Chawla (2010) that no well-kept library has.

Both are classifiers of scikit-learn for two classes and numbers without gaps.
``tests/published/test_estimators.py`` runs scikit-learn's own checks, and compares the densities
with quadrature and the splits with the formula, one threshold after the other.
"""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from published.tree_growth import collapse, grown, leaf_probabilities, leaves_of, prune
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from bayes_sota.core.types import BoolArray, FloatArray

_LEAST = 1e-75  # a mass far from all kernels, so that one attribute does not decide alone


class TwoClasses(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
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

    def learnt(self, rows: FloatArray, positive: BoolArray) -> Self:
        """Learn from items of both classes that need no check."""
        self.classes_ = np.array([False, True])
        self._learn(rows, positive)
        return self

    def positive(self, rows: FloatArray) -> FloatArray:
        """Probability of the last class, for rows that need no check."""
        return self._probabilities(rows)[:, -1]

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


class KernelNaiveBayes(TwoClasses):
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


class DecisionTree(TwoClasses):
    r"""Decision tree of C4.5, or by Hellinger's distance.

    C4.5 splits by gain ratio (Quinlan 1993, 1996). The other criterion puts the largest distance
    between the classes,

    .. math::
        d = \sqrt{\left(\sqrt{P_l / P} - \sqrt{N_l / N}\right)^2 +
                  \left(\sqrt{P_r / P} - \sqrt{N_r / N}\right)^2}

    where :math:`P` and :math:`N` items of the node are positive and negative, and :math:`P_l` and
    :math:`N_l` of them on the left: shares within classes, which do not change when one class
    gets rarer (Cieslak and Chawla 2008). All else is the same (``published.tree_growth``).

    Parameters
    ----------
    criterion : {"gain ratio", "hellinger"}
    pruned : bool
        By C4.5's estimated errors, with subtree raising.
    laplace : bool
        The probability of a leaf is :math:`(P + 1) / (P + N + 2)`, or its share of positives.

    Attributes
    ----------
    classes_ : ndarray, shape (1,) or (2,)
    nodes_ : Nodes
    positive_ : ndarray, shape (n_nodes,)
        Probability of the last class.

    Examples
    --------
    >>> model = DecisionTree("hellinger").fit([[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1])
    >>> model.nodes_.threshold[0].tolist(), model.predict_proba([[7.0]]).tolist()
    (1.0, [[0.25, 0.75]])
    """

    def __init__(
        self, criterion: str = "gain ratio", pruned: bool = False, laplace: bool = True
    ) -> None:
        self.criterion = criterion
        self.pruned = pruned
        self.laplace = laplace

    def _learn(self, rows: FloatArray, last: BoolArray) -> None:
        columns = np.ascontiguousarray(rows.T)
        order = np.argsort(columns, axis=1, kind="stable")
        self.nodes_ = nodes = grown(columns, order, last, self.criterion == "gain ratio")
        if self.pruned:
            collapse(nodes)
            prune(nodes, 0, columns, last)
        self.positive_ = leaf_probabilities(nodes, self.laplace)

    def _probabilities(self, rows: FloatArray) -> FloatArray:
        if len(self.classes_) == 1:
            return np.ones((len(rows), 1))
        return self._both(self.positive_[leaves_of(self.nodes_, np.ascontiguousarray(rows.T))])
