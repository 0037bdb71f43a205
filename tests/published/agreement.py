r"""Whether two runs that share no iteration give the same order of two learners.

The source's |2R - 1| compares runs that share iterations, so that it grows with their share of all
iterations, for equal learners too (``crossval.expected_by_chance``): rules that take more look more
reproducible. Here a rule is applied twice to each random ordering of the iterations, once from its
front and once from its back. With the estimates :math:`e_{i1}` and :math:`e_{i2}` of learner
:math:`i`, the mean over orderings of

.. math:: \operatorname{sign}(e_{i1} - e_{j1}) \operatorname{sign}(e_{i2} - e_{j2}), \qquad
    E = (2 p - 1)^2

is the share of the same orders less that of opposite orders, and :math:`p` the probability that a
run has i above j, without ties. It is 0 for equal learners, however many iterations a rule takes.
Where a rule stops is kept (``stops_at_both_ends``), as the predicted probabilities take too much
room. ``tests/published/test_agreement.py`` compares it with normal probabilities.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.rules import Probabilities, Rule, progress_of


@dataclass(frozen=True, eq=False)
class SeparateRuns:
    """Two runs of a rule in each random ordering of the iterations, from its front and its back.

    Attributes
    ----------
    learners : tuple of str
    n_iterations : int
        Iterations that there are.
    estimates : ndarray, shape (n_orderings, 2, n_tasks, n_learners)
        Mean score up to the iteration at which the rule stopped, or of all iterations.
    stops : ndarray of int, same shape
        Iterations used, 0 where the rule never held.
    """

    learners: tuple[str, ...]
    n_iterations: int
    estimates: FloatArray
    stops: IntArray

    def _at(self, learners: Sequence[str]) -> list[int]:
        return [self.learners.index(name) for name in learners]

    def costs(self, learners: Sequence[str]) -> FloatArray:
        """Mean iterations used, (n_tasks,)."""
        used = np.where(self.stops > 0, self.stops, self.n_iterations)
        return np.asarray(used[..., self._at(learners)].mean(axis=(0, 1, 3)))

    def ran_out(self, learners: Sequence[str]) -> FloatArray:
        """Share of the runs in which the iterations end before the rule holds, (n_tasks,)."""
        return np.asarray((self.stops[..., self._at(learners)] == 0).mean(axis=(0, 1, 3)))

    def agreement(self, pair: Sequence[str]) -> FloatArray:
        """Same orders less opposite ones, (n_tasks,), of the orderings whose runs share nothing.

        NaN where they are under half of the orderings. Leaving out the longest runs makes a rule
        look less reproducible, if anything.
        """
        at = self._at(pair)
        gaps = np.round(np.subtract(*np.moveaxis(self.estimates[..., at], -1, 0)), 12)
        longest = np.where(self.stops > 0, self.stops, np.inf)[..., at].max(axis=-1)
        apart = longest.sum(axis=1) <= self.n_iterations
        found = np.where(apart, np.sign(gaps).prod(axis=1), 0.0).sum(axis=0)
        counts = np.where(apart.mean(axis=0) >= 0.5, apart.sum(axis=0), np.nan)
        return np.asarray(found / counts)


def orders_of(n_iterations: int, orderings: int, random_seed: int) -> IntArray:
    """Random orders of the iterations, (orderings, n_iterations)."""
    rng = np.random.default_rng(random_seed)
    return np.array([rng.permutation(n_iterations) for _ in range(orderings)])


def stops_at_both_ends(
    rule: Rule, scores: FoldScores, probabilities: Probabilities, orders: IntArray
) -> IntArray:
    """Where a rule stops each learner from the front and from the back of every order.

    Returns
    -------
    ndarray of int, shape (n_orderings, 2, n_tasks, n_learners)
        0 where the iterations end before the rule holds.
    """
    return np.array([
        [
            [rule.stops(row) for row in progress_of(scores, probabilities, way)]
            for way in (order, order[::-1])
        ]
        for order in orders
    ])  # fmt: skip


def separate_runs(scores: FoldScores, orders: IntArray, stops: IntArray) -> SeparateRuns:
    """Estimates of runs that stop where ``stops_at_both_ends`` says.

    Examples
    --------
    >>> from bayes_sota.crossval.rules import fixed
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 60, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
    >>> orders = orders_of(60, 50, 0)
    >>> stops = stops_at_both_ends(fixed(10), scores, None, orders)
    >>> runs = separate_runs(scores, orders, stops)
    >>> runs.agreement("ab"), runs.costs("ab")
    (array([1.]), array([10.]))
    """
    means, n = scores.iteration_means(), scores.scores.shape[2]
    used = np.where(stops > 0, stops, n) - 1
    estimates = np.empty(stops.shape)
    for o, order in enumerate(orders):
        for side, way in enumerate((order, order[::-1])):
            running = means[..., way].cumsum(axis=2) / np.arange(1, n + 1)
            at = used[o, side][..., None]
            estimates[o, side] = np.take_along_axis(running, at, axis=2)[..., 0]
    return SeparateRuns(scores.learners, n, estimates, stops)
