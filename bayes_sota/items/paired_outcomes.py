r"""Which of two classifiers is better, from their answers to the same items.

Only items that one of them alone gets right tell them apart: ``x10`` for the first, ``x01`` for
the second. With a flat Dirichlet prior on the four cells (both right, one, the other, none) the
share of the first in these items is Beta(x10 + 1, x01 + 1), so that

.. math:: P(\theta_A \le \theta_B \mid x) = I_{1/2}(x_{10} + 1,\; x_{01} + 1)
          = P(X > x_{10}) + \tfrac12 P(X = x_{10}), \quad X \sim Bin(x_{10} + x_{01}, \tfrac12)

which is the one-sided mid-p value of McNemar's test. Exact for two classifiers that were given
beforehand. A leader was picked because its score was the best, and nothing here corrects for it:
these probabilities say who can be told from the leader on these items, and only a model with a
distribution of skill says who is probably the best (``entry_skills``).
``tests/items/test_paired_outcomes.py`` compares with sums and with simulation.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.responses import Responses

__all__ = ["LeaderComparison", "compare_with_leader", "probability_not_better"]


@dataclass(frozen=True, eq=False)
class LeaderComparison:
    """Every classifier against the leader, on the items that both answered.

    Attributes
    ----------
    leader : int
        Index of the leader.
    only_leader, only_other : ndarray of int, shape (m,)
        Items that the leader alone got right, and that the other alone did.
    n_compared : ndarray of int, shape (m,)
        Items that both answered.
    p_not_below : ndarray, shape (m,)
        P(skill of the leader <= skill of the other); 1/2 for the leader itself.
    """

    leader: int
    only_leader: NDArray[np.int64]
    only_other: NDArray[np.int64]
    n_compared: NDArray[np.int64]
    p_not_below: FloatArray

    def tied_with_leader(self, prob: float = 0.95) -> NDArray[np.bool_]:
        """Classifiers that cannot be told from the leader, itself among them, shape (m,).

        All with ``p_not_below >= (1 - prob) / 2``: the equal-tailed interval of the difference of
        skills does not lie below zero.
        """
        return np.asarray(self.p_not_below >= (1 - prob) / 2)


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
    from scipy.special import betainc

    first, second = np.asarray(only_first, float), np.asarray(only_second, float)
    for counts in (first, second):
        if not np.all((counts >= 0) & np.isfinite(counts)):
            raise InputError(f"numbers of items must be at least 0, got {counts.min():g}")
    return np.asarray(betainc(first + 1, second + 1, 0.5))


def compare_with_leader(responses: Responses, leader: int | None = None) -> LeaderComparison:
    """Paired comparison of every classifier with the leader.

    Items are taken as independent: where they come in clusters the probabilities are too sure.

    Parameters
    ----------
    responses : Responses
        Answers may be missing; each pair is compared on the items that both answered.
    leader : int, optional
        Index of a classifier. Default: the first with the best score.

    Returns
    -------
    LeaderComparison

    Raises
    ------
    InputError
        There is no such classifier.

    Examples
    --------
    >>> answers = Responses([[1, 0, 1], [1, 1, 0], [1, 0, 1], [1, 0, 1]])
    >>> comparison = compare_with_leader(answers)
    >>> comparison.leader, comparison.only_leader.tolist(), comparison.only_other.tolist()
    (0, [0, 3, 1], [0, 0, 0])
    >>> comparison.p_not_below.tolist()
    [0.5, 0.0625, 0.25]
    """
    index = int(np.argmax(responses.scores)) if leader is None else leader
    if not 0 <= index < responses.n_classifiers:
        last = responses.n_classifiers - 1
        raise InputError(f"classifiers are numbered from 0 to {last}, got {index}")
    right, wrong = responses.correct == 1, responses.correct == 0
    only_leader = (right[:, [index]] & wrong).sum(axis=0)
    only_other = (wrong[:, [index]] & right).sum(axis=0)
    both = ((right | wrong)[:, [index]] & (right | wrong)).sum(axis=0)
    p = probability_not_better(only_leader, only_other)
    return LeaderComparison(index, only_leader, only_other, both, p)
