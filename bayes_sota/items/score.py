r"""How good one classifier is by itself: its skill with an interval, from its own answers alone.

Right answers of one task: with :math:`n_{eff}` items (``data.averages``), or n where single answers
count the same, and score s,

.. math:: \theta \mid s \sim Beta(s\, n_{eff} + \tfrac12,\; (1 - s)\, n_{eff} + \tfrac12)

whose interval ends at 0 or 1 where no or every answer is right. What is new is either items of
these tasks, or runs on these very items, or tasks like these. Of R runs, of which the share
:math:`x_j` answers item j right, the variance between runs is :math:`R x_j (1 - x_j) / (R - 1)`;
between T tasks with weights :math:`w_t` and means :math:`\bar x_t` that of a score is

.. math:: V = \frac{\sum_t w_t (\bar x_t - s)^2}{1 - \sum_t w_t^2} \sum_t w_t^2

with T - 1 degrees of freedom (Korn and Graubard 1998), half its own and half the mean over the
classifiers of the table, and at least that of new items. Numbers such as
Dice have Student's t law of their mean. ``tests/items/test_score.py`` has closed forms and counts
how often simulated skills lie in their intervals.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.averages import averaged, korn_graubard
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.responses import Responses

New = Literal["items", "runs", "tasks"]
"""What a skill is about: new items of these tasks, new runs on these items, new tasks."""

FEWEST_TASKS = 3
_LEAST = 1e-12  # variance between tasks that agree exactly


@dataclass(frozen=True)
class Skill:
    """Posterior of the skill of one classifier by itself.

    Attributes
    ----------
    name : str
    score : float
        What it has now.
    n_items, n_clusters, n_tasks, n_runs : int
        What the score comes from; clusters are items where there are none, tasks 1.
    n_effective : float
        Items, each right or wrong, that would give the score the same error; NaN for numbers.
    share_of_runs : float
        Share of the variance of a single run that is between runs of the same items; NaN where
        there is one run.
    error : float
        Standard error of a mean of numbers; NaN for right answers.
    freedom : float
        Its degrees of freedom.
    """

    name: str
    score: float
    n_items: int
    n_clusters: int
    n_tasks: int
    n_runs: int
    n_effective: float
    share_of_runs: float = np.nan
    error: float = np.nan
    freedom: float = np.inf

    @property
    def _counts(self) -> tuple[float, float]:
        """Parameters of the beta law: right and wrong answers, and half of each."""
        right = self.score * self.n_effective
        return right + 0.5, self.n_effective - right + 0.5

    @property
    def mean(self) -> float:
        """Posterior mean."""
        if np.isnan(self.n_effective):
            return self.score
        return self._counts[0] / (self.n_effective + 1)

    @property
    def sd(self) -> float:
        """Posterior standard deviation; infinite for numbers of at most three clusters."""
        if np.isnan(self.n_effective):
            nu = self.freedom
            return self.error * (nu / (nu - 2)) ** 0.5 if nu > 2 else np.inf
        return float((self.mean * (1 - self.mean) / (self.n_effective + 2)) ** 0.5)

    def interval(self, ci_prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval; it ends at 0 or 1 where no or every answer is right."""
        from scipy.special import betaincinv, stdtrit

        ends = (1 - ci_prob) / 2, (1 + ci_prob) / 2
        if np.isnan(self.n_effective):
            low, high = (self.score + self.error * float(stdtrit(self.freedom, p)) for p in ends)
            return low, high
        low, high = (float(betaincinv(*self._counts, p)) for p in ends)
        return low if self.score > 0 else 0.0, high if self.score < 1 else 1.0


def skill_of_counts(right: int, n_test: int, name: str = "the classifier") -> Skill:
    """Skill behind a number of right answers.

    Parameters
    ----------
    right, n_test : int
        Right answers and items.
    name : str

    Raises
    ------
    InputError
        More right answers than items, or no items.

    Examples
    --------
    >>> skill_of_counts(20, 20).interval()[0].__round__(3), skill_of_counts(0, 20).interval()[0]
    (0.883, 0.0)
    """
    if n_test < 1 or not 0 <= right <= n_test:
        raise InputError(f"right answers are 0 to the number of items, got {right} of {n_test}")
    return Skill(name, right / n_test, n_test, n_test, 1, 1, float(n_test))


def skills_alone(
    outcomes: Responses | ItemScores,
    methods: Sequence[str] | None = None,
    *,
    new: New = "items",
    passes: tuple[int, bool] | None = None,
) -> list[Skill]:
    """Skill of every classifier, each from its own answers alone.

    Parameters
    ----------
    outcomes : Responses or ItemScores
    methods : sequence of str, optional
        Classifier of each column, where several columns are its runs. Default: each its own.
    new : {"items", "runs", "tasks"}
    passes : (int, bool), optional
        K, and whether all of K runs must be right (pass^K) or one of them (pass@K), instead of the
        share of right runs.

    Returns
    -------
    list of Skill
        In the order of the columns. Nothing allows for the best having been picked.

    Raises
    ------
    InputError
        New runs without several, new tasks without three, more runs than there are, or AUC.

    Examples
    --------
    >>> exam = Responses([[1, 0], [1, 1], [0, 1], [1, 1]], names=["a", "b"])
    >>> [(skill.name, skill.score, skill.n_effective) for skill in skills_alone(exam)]
    [('a', 0.75, 4.0), ('b', 0.75, 4.0)]
    """
    check_choice("new", new, New)
    labels = outcomes.names if methods is None else tuple(methods)
    columns = {name: [j for j, of in enumerate(labels) if of == name] for name in labels}
    if isinstance(outcomes, ItemScores):
        return list(_means(outcomes, columns, new, passes))
    tasks, weights = _tasks_of(outcomes)
    clusters = None
    if outcomes.clusters is not None:
        clusters = np.unique(np.array(outcomes.clusters), return_inverse=True)[1]
    parts = []
    for name, of in columns.items():
        runs = outcomes.n_runs * len(of)
        shares = outcomes.values[:, of].mean(axis=1)  # NaN where one is missing
        there = ~np.isnan(shares)
        within = None if clusters is None else clusters[there]
        parts.append(_Answers(name, shares[there], tasks[there], within, weights, runs, passes))
    between = np.full(len(parts), np.nan)
    if new == "tasks":
        own = np.array([part.variance_of_tasks() for part in parts])
        between = (own + own.mean()) / 2
    return [part.skill(new, float(v)) for part, v in zip(parts, between, strict=True)]


@dataclass(frozen=True, eq=False)
class _Answers:
    """Answers of one classifier: the share of right ones of each item."""

    name: str
    shares: FloatArray
    tasks: IntArray
    clusters: IntArray | None
    weights: FloatArray
    runs: int
    passes: tuple[int, bool] | None

    @cached_property
    def values(self) -> FloatArray:
        """What counts of each item: the share of right runs, or of passes."""
        return self.shares if self.passes is None else self._passed(*self.passes)

    def skill(self, new: New, between_tasks: float) -> Skill:
        """Posterior of its skill, given the variance of its score over new tasks."""
        values, passes = self.values, self.passes
        n, n_tasks = values.size, self.weights.size
        n_clusters = n
        if self.clusters is not None:
            n_clusters = len(np.unique(np.stack([self.tasks, self.clusters]), axis=1).T)
        size = (n, n_clusters, n_tasks, self.runs)
        if n_tasks == 1 and self.clusters is None and self.runs == 1 and new == "items":
            return Skill(self.name, float(values.mean()), *size, float(n))
        average = averaged(values[:, None], self.tasks, self.clusters, self.weights)
        score, effective = float(average.scores[0]), float(average.effective[0])
        middle = (score * average.kish + 0.5) / (average.kish + 1)
        chance = middle * (1 - middle)
        share = np.nan
        if self.runs > 1 and passes is None:
            between = self._variance_of_runs()
            one = max(chance / (effective - 1) - between, 0.0) + between * self.runs
            share = between * self.runs / one
        if new == "runs":
            if self.runs < 2:
                raise InputError(
                    "--new runs needs several runs of each item (run_column, or run_separator)"
                )
            if passes is not None:
                raise InputError("--new runs is for the share of right answers, not for pass@K")
            effective = chance / self._variance_of_runs() + 1
        if new == "tasks":
            known = chance / max(between_tasks, _LEAST) + 1
            effective = min(known * korn_graubard(n_tasks - 1), effective)
        return Skill(self.name, score, *size, effective, share)

    def _variance_of_runs(self) -> float:
        """Variance of the score over new runs; half an answer in doubt keeps it from being 0."""
        of_item = self.shares * (1 - self.shares) * self.runs / (self.runs - 1)
        whole = (of_item.sum() + 0.25) / (of_item.size + 1)
        sizes = np.bincount(self.tasks)
        of_task = (np.bincount(self.tasks, of_item) + 2 * whole) / (sizes + 2)
        return float(np.sum(self.weights**2 * of_task / sizes)) / self.runs

    def variance_of_tasks(self) -> float:
        """Variance of the score where tasks are new."""
        if self.weights.size < FEWEST_TASKS:
            raise InputError(
                f"--new tasks needs {FEWEST_TASKS} tasks at least to tell how tasks differ, got "
                f"{self.weights.size}"
            )
        means = np.bincount(self.tasks, self.values) / np.bincount(self.tasks)
        squares = np.sum(self.weights**2)
        away = means - self.weights @ means
        return float(np.sum(self.weights * away**2) / (1 - squares) * squares)

    def _passed(self, k: int, every: bool) -> FloatArray:
        """Unbiased share of groups of k runs of which one, or every one, is right."""
        from scipy.special import binom

        what = f"pass{'^' if every else '@'}{k}"
        if k > self.runs:
            raise InputError(
                f"{what} needs {k} runs of each item, {shown(self.name)} has {self.runs}"
            )
        right = self.shares * self.runs
        if not np.allclose(right, np.rint(right)):
            raise InputError(f"{what} needs the same number of runs of every item")
        right = np.rint(right)
        of = right if every else self.runs - right
        none = binom(of, k) / binom(self.runs, k)
        return np.asarray(none if every else 1 - none)


def _tasks_of(outcomes: Responses) -> tuple[IntArray, FloatArray]:
    """Number of the task of each item, and the weights of tasks."""
    if outcomes.tasks is None:
        return np.zeros(outcomes.n_items, np.intp), np.ones(1)
    names, tasks = np.unique(np.array(outcomes.tasks), return_inverse=True)
    return tasks, np.array([outcomes.task_weights[str(name)] for name in names])


def _means(
    scores: ItemScores, columns: dict[str, list[int]], new: New, passes: object
) -> Iterator[Skill]:
    """Means of numbers; several columns of a classifier are runs."""
    if scores.metric != "mean":
        raise InputError("one classifier by itself has right answers, or the mean of numbers")
    if new != "items" or passes is not None:
        raise InputError("--new and pass@K are for right and wrong answers; these are numbers")
    groups = Counter(scores.clusters or range(scores.n_items))
    shares = np.array(list(groups.values())) / scores.n_items
    freedom = 1 / float(np.sum(shares**2)) - 1
    for name, of in columns.items():
        one = ItemScores(
            scores.values[:, of].mean(axis=1, keepdims=True), metric="mean",
            lower_is_better=scores.lower_is_better, items=scores.items, clusters=scores.clusters,
        )  # fmt: skip
        error = float(one.standard_errors[0])
        if error == 0:
            raise InputError(f"{shown(name)} has the same number for every item: there is no error")
        yield Skill(
            name, float(one.values.mean()), scores.n_items, len(groups), 1, len(of), np.nan,
            error=error, freedom=freedom,
        )  # fmt: skip
