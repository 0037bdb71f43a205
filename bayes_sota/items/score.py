r"""Skill of one classifier by itself, with an interval, from its own answers alone.

For answers to one task, with score s and :math:`n_{eff}` items (``data.item_values``; n where
single answers count the same),

.. math:: \theta \mid s \sim Beta(s\, n_{eff} + \tfrac12,\; (1 - s)\, n_{eff} + \tfrac12)

Means of numbers such as Dice have Student's t law. ``tests/items/test_score.py`` has closed forms
and the coverage of simulated skills.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, stdtrit

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.item_values import Averaging, task_weights, worth_of_means
from bayes_sota.data.outcomes import New, Outcomes
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import measure


@dataclass(frozen=True)
class Skill:
    """Posterior of the skill of one classifier by itself.

    Attributes
    ----------
    name : str
    score : float
        Observed.
    n_items, n_clusters, n_tasks, n_runs : int
        Numbers behind the score; without clusters or tasks ``n_items`` and 1.
    n_effective : float
        Independent answers that would give the score the same error; NaN for numbers.
    share_of_runs : float
        Share of the variance of a single run that is between runs of the same items; NaN for one.
    error, freedom : float
        Standard error of a mean of numbers (NaN for answers), and its degrees of freedom.
    luck : float
        Error of the score as estimated from anchors.
    limits : tuple of float
        Ends of intervals: 0 and 1 where the numbers of all items lie there, as Dice does.
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
    luck: float = 0.0
    limits: tuple[float, float] = (-np.inf, np.inf)

    @property
    def centre(self) -> float:
        return self.score - self.luck

    @property
    def _counts(self) -> tuple[float, float]:
        right = self.centre * self.n_effective
        return right + 0.5, self.n_effective - right + 0.5

    @property
    def mean(self) -> float:
        if np.isnan(self.n_effective):
            return self.centre
        return self._counts[0] / (self.n_effective + 1)

    @property
    def sd(self) -> float:
        """Posterior standard deviation; infinite for numbers of at most three clusters."""
        if np.isnan(self.n_effective):
            nu = self.freedom
            return self.error * (nu / (nu - 2)) ** 0.5 if nu > 2 else np.inf
        return float((self.mean * (1 - self.mean) / (self.n_effective + 2)) ** 0.5)

    def quantile(self, p: ArrayLike) -> FloatArray:
        if np.isnan(self.n_effective):
            return self.centre + self.error * stdtrit(self.freedom, p)
        return np.asarray(betaincinv(*self._counts, p))

    def interval(self, ci_prob: float = 0.95) -> tuple[float, float]:
        """Equal-tailed interval; it ends at 0 or 1 where no or every answer is right."""
        ends = self.quantile([(1 - ci_prob) / 2, (1 + ci_prob) / 2])
        low, high = np.clip(ends, *self.limits).tolist()
        if np.isnan(self.n_effective):
            return low, high
        return low if self.centre > 0 else 0.0, high if self.centre < 1 else 1.0


def skill_of_counts(right: int, n_test: int, name: str = "the classifier") -> Skill:
    """Skill from a number of correct answers.

    Raises
    ------
    InputError
        More correct answers than items, or no items.

    Examples
    --------
    >>> [round(end, 3) for end in skill_of_counts(20, 20).interval()]
    [0.883, 1.0]
    """
    if n_test < 1 or not 0 <= right <= n_test:
        raise InputError(f"{right} correct answers of {n_test} items are impossible")
    return Skill(name, right / n_test, n_test, n_test, 1, 1, float(n_test))


def has_counts(tidy: Tidy) -> bool:
    """Whether scores are accuracies with numbers of items, at most one per entry and task."""
    titles = {tidy.titles[0], *tidy.labels.get("metric", ())} if tidy.titles else {""}
    are_accuracies = set(map(measure, titles)) == {"accuracy"} and tidy.are_losses is False
    if "n" not in tidy.numbers or not are_accuracies:
        return False
    of_tasks = "task" in tidy.labels and tidy.unit == "task" and tidy.layout != "pair"
    if tidy.layout != "board" and not of_tasks:
        return False
    return bool(np.all((tidy.numbers["n"] >= 1) & (tidy.value >= 0) & (tidy.value <= 1)))


def skills_of_shares(tidy: Tidy, average: Averaging | None = None) -> list[Skill]:
    """Skill of every entry, each from its own accuracies in the same tasks."""
    names, places = tidy.names("entry")
    tasks, found = tidy.labels.get("task", np.full(len(tidy), "")), list[Skill]()
    for k, name in enumerate(names):
        of = places == k
        x, n = (values[of][:, None] for values in (tidy.value, tidy.numbers["n"]))
        if set(tasks[of]) != set(tasks):
            problem, fix = "entries have scores in different tasks", "leave some out with {option}"
            raise tidy.error(problem, "leave_out", fix)
        weights = task_weights(average, tasks[of].tolist(), n[:, 0])[:, None]
        score, worth, _ = worth_of_means(x, x * (1 - x), n, weights)
        size = int(n.sum())
        effective = float(size if len(x) == 1 else worth[0])
        found.append(Skill(name, float(score[0]), size, size, len(x), 1, effective))
    return found


def skills_alone(
    outcomes: Outcomes, *, new: New | None = None, passes: tuple[int, bool] | None = None
) -> list[Skill]:
    """Skill of every classifier, in the order of columns, each from its own answers alone.

    ``new`` and ``passes`` are those of ``Outcomes.about``.

    Raises
    ------
    InputError
        New runs without several, new tasks without three, more runs than there are, or AUC.

    Examples
    --------
    >>> exam = Outcomes([[1, 0], [1, 1], [0, 1], [1, 1]], names=["a", "b"])
    >>> [(skill.name, skill.score) for skill in skills_alone(exam)]
    [('a', 0.75), ('b', 0.75)]
    """
    if outcomes.is_answers:
        passes = passes or outcomes.passes
        return list(_shares(outcomes, new or outcomes.new, passes))
    if outcomes.metric != "mean":
        raise InputError("one classifier by itself has correct answers, or the mean of numbers")
    return list(_means(outcomes, outcomes.about(new or outcomes.new, passes)))


def _shares(outcomes: Outcomes, new: New, passes: tuple[int, bool] | None) -> Iterator[Skill]:
    between: Any = [None] * outcomes.n_classifiers
    if new == "tasks":
        between = outcomes.about(new, passes).average.effective
    for j, name in enumerate(outcomes.names):
        one = outcomes.subset([j], ~np.isnan(outcomes.values[:, j])).about(new, passes)
        yield _skill(name, one, between[j])


def _skill(name: str, one: Outcomes, between_tasks: float | None) -> Skill:
    codes, weights = one.task_codes
    n_clusters = len(set(zip(codes.tolist(), one.clusters or one.items, strict=True)))
    size = (one.n_items, n_clusters, weights.size, one.n_runs)
    if not one.is_average:
        return Skill(name, float(one.scores[0]), *size, float(one.n_items))
    average = one.average
    effective = float(average.effective[0]) if between_tasks is None else between_tasks
    share = np.nan
    if one.n_runs > 1 and one.passes is None:
        of_runs = one.about("runs").average.variance[0]
        one_run = max(float(one.about("items").average.variance[0]) - of_runs, 0.0)
        share = float(of_runs * one.n_runs / (one_run + of_runs * one.n_runs))
    return Skill(name, float(average.scores[0]), *size, effective, share)


def _means(scores: Outcomes, data: Outcomes) -> Iterator[Skill]:
    n_tasks = scores.task_codes[1].size
    groups = Counter(data.clusters or range(data.n_items))
    shares = np.array(list(groups.values())) / data.n_items
    freedom = 1 / float(np.sum(shares**2)) - data.task_codes[1].size
    low, high = np.nanmin(scores.values), np.nanmax(scores.values)
    limits = (0.0, 1.0) if low >= 0 and high <= 1 else (-np.inf, np.inf)
    for j, name in enumerate(data.names):
        error = float(data.standard_errors[j])
        if error == 0:
            raise InputError(f"{quoted(name)} has constant values: its error cannot be estimated")
        size, score = (scores.n_items, len(groups), n_tasks, 1), data.sign * data.scores[j]
        known: Any = {"error": error, "freedom": max(freedom, 1.0), "limits": limits}
        yield Skill(name, float(score), *size, np.nan, **known)
