r"""The difference of two methods that were named beforehand, without draws.

Single answers to independent items have the flat Dirichlet posterior of their table
(``claims.laws``); everything else is a sum of Student t parts (``items.comparison``).
``tests/claims/test_gate.py`` compares with closed forms and with draws.

A pilot of n items with R runs each gives the variance V of the difference, and the part :math:`V_r`
of it that is between runs. Other numbers of items and runs have the variance

.. math:: V(n', R') = \frac{n}{n'} \Big(V - V_r + V_r \frac{R}{R'}\Big)

(Miller 2024, arXiv 2411.00640, for independent items). A gap g is claimed with power 1 - b, at a
P(false) of at most a, once :math:`V(n', R') \le g^2 / (z_{1-a} + z_{1-b})^2`.
``tests/claims/test_pilot.py`` compares with simulation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from scipy.special import ndtri

from bayes_sota.claims.laws import at_most
from bayes_sota.core.arguments import ASSURANCE, LEVEL
from bayes_sota.core.errors import InputError, listed
from bayes_sota.core.numerics import more_items
from bayes_sota.core.text import nearest
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import bounds_of, complete, student_below, student_law
from bayes_sota.leaderboard.anchors import explain_difference

RUNS = (1, 2, 3, 5, 10, 20)


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Posterior of the first minus the second of two methods; larger is better.

    ``parts`` are variances and degrees of freedom, unless there is a ``table``: items that the
    first alone and the second alone got right, and all.
    """

    centre: float
    observed: float
    parts: Sequence[tuple[float, float]]
    table: tuple[float, float, int] | None = None

    def at_most(self, q: float) -> float:
        if self.table is not None:
            return float(at_most(q, *self.table)[0])
        return student_below(q - self.centre, self.parts)

    def sd(self) -> float:
        if self.table is not None:
            first, second, n = self.table
            return float((((first + second + 2) / (n + 4) - self.centre**2) / (n + 5)) ** 0.5)
        return float(sum(v * nu / (nu - 2) if nu > 2 else np.inf for v, nu in self.parts) ** 0.5)

    def interval(self, prob: float) -> tuple[float, float]:
        step = sum(variance for variance, _ in self.parts) ** 0.5
        if not step:
            return self.centre, self.centre
        return self._quantile((1 - prob) / 2, -step), self._quantile((1 + prob) / 2, step)

    def _quantile(self, level: float, step: float) -> float:
        end = self.centre + step
        while (self.at_most(end) - level) * np.sign(step) < 0:
            end += (step := 2 * step)
        from scipy.optimize import brentq

        # from the other side of the mean, which is not the median
        return float(brentq(lambda q: self.at_most(q) - level, self.centre - step, end, xtol=1e-12))

    def more_items(self, limit: float, prob: float, size: float) -> float | None:
        """Further items (runs, tasks), beyond ``size``, until the interval excludes a limit."""
        low, high = self.interval(prob)
        lead = self.centre - limit
        reach = self.centre - low if lead > 0 else high - self.centre
        return more_items(abs(lead), reach, size)


def chosen_pair(outcomes: Outcomes, pair: tuple[str, str]) -> Outcomes:
    """Outcomes of two methods."""
    for name in pair:
        if name not in outcomes.names:
            known = nearest(name, outcomes.names) or f"; there are {listed(outcomes.names)}"
            raise InputError(f"there is no method {name!r}{known}")
    if pair[0] == pair[1]:
        raise InputError(f"a pair needs two different methods, got {pair[0]!r} twice")
    return outcomes.subset([j for j, name in enumerate(outcomes.names) if name in pair])


def law_of_pair(both: Outcomes, first: str, every: Outcomes | None = None) -> PairLaw:
    """Law of the first of two methods minus the other; ``every`` may have anchors."""
    data = complete(both)[0]
    law, place, table = student_law(data), both.names.index(first), None
    order = [place, 1 - place]
    centre, parts = law.gap(*order)
    if every is not None and every.anchors is not None:
        covariance = np.sum([part.covariance for part in law.parts], axis=0)[np.ix_(order, order)]
        at = every.names.index(first), every.names.index(both.names[order[1]])
        luck, explained = explain_difference(every, at, covariance)
        parts = [(max(sum(v for v, _ in parts) - explained, 1e-12), law.parts[0].freedom)]
        centre -= luck
    elif data.is_plain and data.clusters is None:
        gap = data.values @ [1 - 2 * place, 2 * place - 1]
        table = (float(np.sum(gap > 0)), float(np.sum(gap < 0)), data.n_items)
    return PairLaw(centre, float(law.scores[place] - law.scores[order[1]]), parts, table)


@dataclass(frozen=True)
class Pilot:
    """Variances of the difference of two methods.

    Attributes
    ----------
    pair : (str, str)
    difference : float
        Observed: the first minus the second.
    n_items, n_runs : int
        Size of the pilot; the fewest runs of an item.
    of_items, of_runs : float
        Variance of the difference on one item with endless runs, and what a single run adds, if
        known.
    freedom : float
        Degrees of freedom of these variances.
    are_shares : bool
    """

    pair: tuple[str, str]
    difference: float
    n_items: int
    n_runs: int
    of_items: float
    of_runs: float | None
    freedom: float
    are_shares: bool

    @classmethod
    def of(cls, outcomes: Outcomes, pair: tuple[str, str] | None = None) -> "Pilot":
        """Variances of a pair; default the two methods with the best scores.

        Raises
        ------
        InputError
            One method, unknown names, or skills about new runs or tasks.

        Examples
        --------
        >>> right = np.random.default_rng(0).random((400, 2, 3)) < [[0.8] * 3, [0.7] * 3]
        >>> pilot = Pilot.of(Outcomes(right.mean(axis=2), n_runs=3))
        >>> round(pilot.standard_error(400, 3), 3)
        0.016
        """
        outcomes.check_several()
        if outcomes.is_answers and (outcomes.new != "items" or outcomes.passes is not None):
            raise InputError("a plan from a pilot is about single answers to new items, not pass@K")
        if pair is None:
            first, second = np.argsort(-outcomes.scores, kind="stable")[:2]
            pair = outcomes.names[first], outcomes.names[second]
        both = chosen_pair(outcomes, pair)
        law = law_of_pair(both, pair[0])
        variance, of_runs, n = sum(v for v, _ in law.parts), None, both.n_items
        if both.n_runs > 1:
            noise = min(float(both.about("runs").average.variance.sum()), variance)
            of_runs, variance = n * both.n_runs * noise, variance - noise
        freedom, shares = law.parts[0][1], bounds_of(both) == (0.0, 1.0)
        sizes = (n, both.n_runs if of_runs is not None else 1)
        return cls(pair, law.observed, *sizes, n * variance, of_runs, freedom, shares)

    @property
    def known_to(self) -> float:
        """Relative error of a standard error that nine of ten pilots do not exceed (chi-square)."""
        return float(ndtri(0.95) / np.sqrt(2 * self.freedom))

    @property
    def share_of_runs(self) -> float | None:
        """Share of the variance of the pilot's difference that is between runs, if known."""
        if self.of_runs is None:
            return None
        return self.of_runs / self.n_runs / self.variance(self.n_runs)

    def variance(self, n_runs: int) -> float:
        if self.of_runs is None and n_runs != 1:
            raise InputError("a pilot with one run of each item cannot show what more would add")
        return self.of_items + (self.of_runs or 0.0) / n_runs

    def standard_error(self, n_items: int, n_runs: int) -> float:
        return float((self.variance(n_runs) / n_items) ** 0.5)

    def needed(self, gap: float, n_runs: int, *, level: float = 0.05, power: float = 0.8) -> int:
        """Items needed to claim a true gap with this power."""
        LEVEL.check(level, "level")
        ASSURANCE.check(power, "power")
        reach = float(ndtri(1 - level) + ndtri(power))
        return max(2, ceil(self.variance(n_runs) * (reach / gap) ** 2))

    def runs_to_plan(self, costs: tuple[float, float] | None) -> list[int]:
        if self.of_runs is None:
            return [1]
        runs = {*RUNS, self.n_runs}
        if costs and costs[1] > 0 and self.of_items > 0:
            cheapest = (costs[0] * self.of_runs / costs[1] / self.of_items) ** 0.5
            runs.add(min(max(round(cheapest), 1), 1000))
        return sorted(runs)
