r"""How many items a claim needs: at a gap, or with how many runs from answers at hand.

A pilot of n items, each answered R times by two methods, tells the variance V of their difference,
with its tasks, clusters and weights, and the part :math:`V_r` of it that runs make. Other numbers
of items and runs, of the same tasks and clusters, have the variance

.. math:: V(n', R') = \frac{n}{n'} \Big(V - V_r + V_r \frac{R}{R'}\Big)

(Miller 2024, arXiv 2411.00640, power analysis, for independent items), and a gap g is claimed with
the power 1 - b, at a probability of at most a that it is false, from :math:`V(n', R') = g^2 /
(z_{1-a} + z_{1-b})^2` on. ``tests/claims/test_summary_pilot.py`` compares with simulation,
``tests/calibration/pilots.py`` with real answers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy.special import ndtri

from bayes_sota.claims.planning import ClaimPlan
from bayes_sota.claims.summary import LAWS, SOURCE, claim_report, measured_of
from bayes_sota.claims.summary_differences import chosen_pair
from bayes_sota.core.arguments import ASSURANCE, LEVEL, NOT_NEGATIVE, POSITIVE, checked_width
from bayes_sota.core.errors import InputError
from bayes_sota.core.summary import frame_of, numbers_report
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import counted
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import bounds_of, columns_of_methods, complete, student_law

_RUNS = (1, 2, 3, 5, 10, 20)
_MOST = 10**12
_SAME_GAP = 0.1  # relative difference
_SURE_ENOUGH = 0.2  # relative error of a standard error that a plan is still worth having with


@dataclass(frozen=True)
class Pilot:
    """Variances of the difference of two methods.

    Attributes
    ----------
    pair : (str, str)
    difference : float
        Observed: the first minus the second.
    n_items, n_runs : int
        Of the pilot; the fewest runs where they differ.
    of_items : float
        Variance of the difference that items would have with endless runs, times their number.
    of_runs : float or None
        What a single run adds to it; None where the pilot has one run, which then is in
        ``of_items``.
    freedom : float
        Degrees of freedom of these variances: clusters, or items, but one for each task; fewer
        where clusters differ in size.
    unit : str
        What an item is called: "item", or "data set" where the rows of a table are these.
    are_shares : bool
        Whether the difference is one of shares, which is said in points.
    """

    pair: tuple[str, str]
    difference: float
    n_items: int
    n_runs: int
    of_items: float
    of_runs: float | None
    freedom: float = np.inf
    unit: str = "item"
    are_shares: bool = True

    @classmethod
    def of(cls, outcomes: Outcomes, pair: tuple[str, str] | None = None) -> "Pilot":
        """Variances of a pair; default the two methods with the best scores.

        Raises
        ------
        InputError
            One method, unknown names, or skills about new runs or tasks.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> answers = Outcomes(rng.random((400, 2, 3)) < [[0.8] * 3, [0.7] * 3], names=["a", "b"])
        >>> pilot = Pilot.of(answers)
        >>> pilot.n_runs, round(pilot.standard_error(400, 3), 3), round(pilot.share_of_runs, 1)
        (3, 0.016, 1.0)
        """
        if outcomes.is_answers:
            outcomes.check_several()
            if outcomes.new != "items" or outcomes.passes is not None:
                raise InputError("a plan is for accuracies on new items: no --new, no pass@K")
        if pair is None:
            first, second = np.argsort(-outcomes.scores, kind="stable")[:2]
            pair = outcomes.names[first], outcomes.names[second]
        both, methods = chosen_pair(outcomes, None, pair)
        names, columns = columns_of_methods(both.names, methods)
        data = complete(both)[0]
        law = student_law(data, columns)
        signs = np.where(np.array(names) == pair[0], 1.0, -1.0)
        variance = float(sum(signs @ part.covariance @ signs for part in law.parts))
        n, runs, of_runs = both.n_items, 1, None
        if both.n_runs > 1:
            runs, noise = both.n_runs, float(both.about("runs").average.variance.sum())
            of_runs = n * runs * min(noise, variance)
            variance -= min(noise, variance)
        freedom, difference = law.parts[0].freedom, float(signs @ law.scores)
        variances = (n * variance, of_runs, freedom)
        shares = bounds_of(data) == (0.0, 1.0)
        return cls(pair, difference, n, runs, *variances, outcomes.unit, shares)

    def shown(self, difference: float, form: str) -> str:
        """A difference for people: of shares in points, or as the scores are."""
        return f"{100 * difference:{form}} points" if self.are_shares else f"{difference:{form}}"

    @property
    def known_to(self) -> float:
        """How far off, relatively, a standard error is in nine of ten pilots at most.

        Of normal sums of clusters, whose variance is a chi-square with these degrees of freedom.
        """
        return float(ndtri(0.95) / np.sqrt(2 * self.freedom))

    @property
    def share_of_runs(self) -> float | None:
        """Share of the variance of the pilot's difference that runs make; None of one run."""
        if self.of_runs is None:
            return None
        of_runs = self.of_runs / self.n_runs
        return of_runs / (self.of_items + of_runs)

    def variance(self, n_runs: int) -> float:
        """Variance of the difference on one item in so many runs."""
        if self.of_runs is None:
            if n_runs != 1:
                raise InputError("a pilot with one run of each item does not tell what more add")
            return self.of_items
        return self.of_items + self.of_runs / n_runs

    def standard_error(self, n_items: int, n_runs: int) -> float:
        """Standard error of the difference on so many items in so many runs."""
        return float((self.variance(n_runs) / n_items) ** 0.5)

    def needed(self, gap: float, n_runs: int, *, level: float = 0.05, power: float = 0.8) -> int:
        """Items on which a true gap is claimed with this power."""
        LEVEL.check(level, "level")
        ASSURANCE.check(power, "power")
        reach = float(ndtri(1 - level) + ndtri(power))
        size = self.variance(n_runs) * (max(reach, 0.0) / gap) ** 2
        if not size < _MOST:
            raise InputError(f"a gap of {gap:g} needs more than {_MOST:.0e} items")
        return max(2, ceil(size))


def plan_from_pilot(
    outcomes: Outcomes,
    gap: float,
    *,
    pair: tuple[str, str] | None = None,
    level: float = 0.05,
    power: float = 0.8,
    cost_per_item: float | None = None,
    cost_per_run: float | None = None,
    source: str = "",
    notes: Sequence[str] = (),
) -> Report:
    """How many items, in how many runs, a claim of a gap needs, and what they cost.

    Parameters
    ----------
    outcomes : Outcomes
        The pilot: answers of the methods to the same items, with tasks, clusters and runs, or a
        number for each item (each data set).
    gap : float
        True difference that is to be found, in the unit of the scores.
    pair : (str, str), optional
        The two methods; default the two with the best scores.
    level, power : float
        Largest probability that the claim is false, and how probable a claim shall be.
    cost_per_item, cost_per_run : float, optional
        Of one more item, and of one run of both methods on one item.
    source, notes : str, sequence of str
        Repeated in the report.

    Raises
    ------
    InputError
        As of ``Pilot.of``; a gap that is not above 0, or not below 1 for shares; costs below 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Outcomes(rng.random((400, 2)) < [0.8, 0.7], names=["a", "b"])
    >>> plan_from_pilot(answers, 0.05).content["designs"][0]["n_items"]
    1045
    """
    POSITIVE.check(gap, "gap")
    for name, cost in (("cost_per_item", cost_per_item), ("cost_per_run", cost_per_run)):
        if cost is not None:
            NOT_NEGATIVE.check(cost, name)
    asked = cost_per_item is not None or cost_per_run is not None
    costs = (cost_per_item or 0.0, cost_per_run or 0.0) if asked else None
    pilot = Pilot.of(outcomes, pair)
    checked_width(gap, "gap", shares=pilot.are_shares)
    designs = list[dict[str, Any]]()
    for runs in _numbers_of_runs(pilot, costs):
        items = pilot.needed(gap, runs, level=level, power=power)
        error, answers = pilot.standard_error(items, runs), 2 * items * runs
        price = {} if costs is None else {"cost": items * (costs[0] + runs * costs[1])}
        sizes = {"n_runs": runs, "n_items": items, "n_answers": answers}
        designs.append(sizes | {"standard_error": error} | price)
    best = min(designs, key=lambda one: one.get("cost", one["n_items"] * one["n_runs"]))
    content = {
        "pair": list(pilot.pair),
        "gap": gap,
        "level": level,
        "power": power,
        "difference": pilot.difference,
        "n_items": pilot.n_items,
        "n_runs": pilot.n_runs,
        "standard_error": pilot.standard_error(pilot.n_items, pilot.n_runs),
        "share_of_runs": pilot.share_of_runs,
        "designs": designs,
        "best": best,
        "source": source,
        "notes": [*notes, *_units(outcomes, pilot), *_remarks(pilot, gap)],
    }
    return claim_report(
        content,
        list(_said(pilot, content, outcomes.is_answers)),
        "Variances of the pilot",
        "Miller 2024, arXiv 2411.00640",
        make_frame=lambda: frame_of(designs),
        tables=[Table.of([_cells(one, pilot.unit) for one in designs], " and ".join(pilot.pair))],
        measured=measured_of(outcomes),
        about=pilot,
    )


def _numbers_of_runs(pilot: Pilot, costs: tuple[float, float] | None) -> list[int]:
    """Runs to plan with: the usual ones, the pilot's, and the cheapest."""
    if pilot.of_runs is None:
        return [1]
    runs = {*_RUNS, pilot.n_runs}
    if costs and costs[1] > 0 and pilot.of_items > 0:
        cheapest = (costs[0] * pilot.of_runs / costs[1] / pilot.of_items) ** 0.5
        runs.add(min(max(round(cheapest), 1), 1000))
    return sorted(runs)


def _said(pilot: Pilot, content: dict[str, Any], of_answers: bool) -> Iterator[str]:
    (a, b), designs, best = pilot.pair, content["designs"], content["best"]
    first = designs[0]
    size = counted(first["n_items"], pilot.unit) + " in one run" * of_answers
    yield (
        f"If {a} and {b} truly differ by {pilot.shown(content['gap'], '.3g')}, {size} lead to the "
        f"claim with probability {content['power']:g}, at a probability of {content['level']:g} at "
        "most that it is false."
    )
    if "cost" in best:
        yield (
            f"The cheapest are {counted(best['n_items'], pilot.unit)} in "
            f"{counted(best['n_runs'], 'run')}, for {best['cost']:,.6g}."
        )
    if pilot.of_runs is None and of_answers:
        yield "The pilot has one run of each item, which does not tell what more runs would add."
    elif pilot.of_runs is not None:
        last = designs[-1]
        yield (
            f"Runs make {pilot.share_of_runs:.0%} of the variance of the difference here (in "
            f"{pilot.n_runs} runs); in {last['n_runs']} runs {counted(last['n_items'], 'item')} "
            "would do."
        )
    error = content["standard_error"]
    yield (
        f"The pilot shows {pilot.shown(pilot.difference, '+.2g')}, standard error "
        f"{pilot.shown(error, '.2g')}, on {counted(pilot.n_items, pilot.unit)}."
    )


def _units(outcomes: Outcomes, pilot: Pilot) -> Iterator[str]:
    """What a gap of numbers is measured in: 0.02 is little on a scale to 100."""
    if not pilot.are_shares:
        low, high = outcomes.values.min(), outcomes.values.max()
        yield f"the gap is in the units of the numbers, which lie between {low:g} and {high:g}"


def _remarks(pilot: Pilot, gap: float) -> Iterator[str]:
    if abs(gap - abs(pilot.difference)) < _SAME_GAP * gap:
        yield (
            "the gap is the one that the pilot shows, which flatters a method that was picked for "
            "it: plan with a smaller one as well"
        )
    yield (
        "the level is one-sided, as a claim is; bayes-sota board tells two entries apart with half "
        "of it on either side, which takes --level 0.025 here"
    )
    if pilot.known_to > _SURE_ENOUGH:
        count = ceil(ndtri(0.95) ** 2 / (2 * _SURE_ENOUGH**2)) + 1
        yield (
            f"the pilot leaves {pilot.freedom:.0f} degrees of freedom: its standard errors may be "
            f"{pilot.known_to:.0%} off, and numbers of items twice that; {count} clusters, or "
            f"single items, of equal size tell errors to {_SURE_ENOUGH:.0%} in nine of ten cases"
        )


def _cells(design: dict[str, Any], unit: str) -> dict[str, str]:
    cells = {
        "runs": str(design["n_runs"]),
        f"{unit}s needed": f"{design['n_items']:,}",
        "answers of both": f"{design['n_answers']:,}",
    }
    return cells | ({"cost": f"{design['cost']:,.6g}"} if "cost" in design else {})


def describe_plan(plan: ClaimPlan) -> Report:
    """Describe the test items that a claim needs.

    Examples
    --------
    >>> from bayes_sota.claims.planning import GapOfAccuracies, plan_claim
    >>> describe_plan(plan_claim(GapOfAccuracies(0.90, 0.88))).cells[0]
    ['items if exactly this gap is observed', '1,330']
    """
    sizes = [
        ("items if exactly this gap is observed", plan.n_needed),
        (f"items for a claim with probability {plan.power:g}", plan.n_for_power),
        (f"fresh items for a claim with probability {plan.assurance}", plan.n_assured),
    ]
    unknown = next(name for name in LAWS if name in plan.gap.describe())
    return numbers_report(
        [(name, size, f"{size:,}") for name, size in sizes if size is not None],
        content=plan.to_dict(),
        sentences=list(_about_plan(plan, unknown)),
        basis=(LAWS[unknown], SOURCE),
        notes=list(plan.notes()),
    )


def _about_plan(plan: ClaimPlan, unknown: str) -> Iterator[str]:
    of = plan.gap.describe()
    yield (
        f"A claim that A outperforms B needs {counted(plan.n_needed, 'test item')} to be false "
        f"with probability {plan.level:g} at most, where exactly a gap of {of['gap']:.4g} is "
        f"observed ({unknown}: {of[unknown]['assumption']})."
    )
    if plan.n_for_power is not None:
        yield (
            "If that is the true gap, "
            f"{counted(plan.n_for_power, 'item leads', 'items lead')} to the claim with "
            f"probability {plan.power:g}."
        )
    if plan.n_test is not None and plan.n_assured is not None:
        fresh = round(plan.n_assured, 2 - len(str(plan.n_assured)))  # two digits, as it supports
        yield (
            f"After {counted(plan.n_test, 'item')} with this gap about "
            f"{counted(fresh, 'fresh item leads', 'fresh items lead')} to the "
            f"claim with probability {plan.assurance:g}."
        )
