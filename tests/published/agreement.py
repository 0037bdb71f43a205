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
``tests/published/test_agreement.py`` compares it with normal probabilities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayes_sota.core.arguments import DEFAULT_SEED, generator_of
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.crossval.rules import Probabilities, Progress, Rule, progress_of, stops_of
from bayes_sota.data.fold_scores import FoldScores


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
    iterations : ndarray, same shape
        Iterations used.
    reach : ndarray, same shape
        The same with iterations that failed; infinite where the rule never held.
    """

    learners: tuple[str, ...]
    n_iterations: int
    estimates: FloatArray
    iterations: FloatArray
    reach: FloatArray

    def _at(self, learners: Sequence[str]) -> list[int]:
        return [self.learners.index(name) for name in learners]

    def costs(self, learners: Sequence[str]) -> FloatArray:
        """Mean iterations used, (n_tasks,)."""
        return np.asarray(self.iterations[..., self._at(learners)].mean(axis=(0, 1, 3)))

    def ran_out(self, learners: Sequence[str]) -> float:
        """Share of the runs in which the iterations end before the rule holds."""
        return float(np.isinf(self.reach[..., self._at(learners)]).mean())

    def agreement(self, pair: Sequence[str]) -> FloatArray:
        """Same orders less opposite ones, (n_tasks,), of the orderings whose runs share nothing.

        NaN where they are under half of the orderings. Leaving out the longest runs makes a rule
        look less reproducible, if anything.
        """
        i, j = self._at(pair)
        gaps = np.round(self.estimates[..., i] - self.estimates[..., j], 12)
        longest = np.maximum(self.reach[..., i], self.reach[..., j])
        apart = longest.sum(axis=1) <= self.n_iterations
        found = np.where(apart, np.sign(gaps).prod(axis=1), 0.0).sum(axis=0)
        counts = np.where(apart.mean(axis=0) >= 0.5, apart.sum(axis=0), np.nan)
        return np.asarray(found / counts)


def separate_runs(
    rules: Mapping[str, Rule],
    scores: FoldScores,
    probabilities: Probabilities,
    learners: Sequence[str],
    *,
    orderings: int = 50,
    random_seed: Seed = DEFAULT_SEED,
) -> dict[str, SeparateRuns]:
    """Apply stopping rules to both ends of random orderings of the iterations.

    Parameters
    ----------
    rules : dict of str to Rule
    scores : FoldScores
    probabilities : ndarray or sequence of ndarray, optional
        As in ``crossval.stopping_iterations``.
    learners : sequence of str
        Of ``scores``: those that the rules are applied to.
    orderings : int
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> from bayes_sota.crossval.rules import FixedNumber
    >>> noise = np.random.default_rng(0).normal(0, 0.01, (2, 60, 10))
    >>> scores = FoldScores(noise + [[[0.90]], [[0.92]]], learners=["a", "b"])
    >>> runs = separate_runs({"ten": FixedNumber(10)}, scores, None, "ab", random_seed=0)["ten"]
    >>> runs.agreement("ab"), runs.costs("ab")
    (array([1.]), array([10.]))
    """
    rng, n = generator_of(random_seed), scores.scores.shape[2]
    needed = any(rule.needs_probabilities for rule in rules.values())
    items = probabilities if needed else None
    at = [scores.learners.index(name) for name in learners]
    found = []
    for order in (rng.permutation(n) for _ in range(orderings)):
        for way in (order, order[::-1]):
            rows = progress_of(scores, items, way)
            place = np.argsort(way)
            found.append([
                [_run(rule, [row[j] for j in at], place) for row in rows] for rule in rules.values()
            ])  # fmt: skip
    values = np.array(found).reshape(orderings, 2, len(rules), len(scores.tasks), len(at), 3)
    return {
        name: SeparateRuns(tuple(learners), n, *np.moveaxis(values[:, :, r], -1, 0))
        for r, name in enumerate(rules)
    }


def _run(rule: Rule, row: Sequence[Progress], place: IntArray) -> list[tuple[float, float, float]]:
    """Estimate, iterations used and reach of the learners of a data set."""
    found = []
    for progress, n in zip(row, stops_of(rule, row), strict=True):
        assert progress.numbers is not None  # of progress_of
        used = progress.scores[: n or None]
        reach = place[progress.numbers[n - 1]] + 1 if n else np.inf
        found.append((float(used.mean()), float(used.size), float(reach)))
    return found
