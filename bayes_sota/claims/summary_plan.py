"""Plans of test sets: all that ``bayes-sota claim plan`` prints."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.claims.congruence import Congruence, OddsRatioCongruence
from bayes_sota.claims.planning import (
    Gap,
    GapOfAccuracies,
    GapOfMeans,
    assured_size,
    powered_size,
    required_sizes,
    smallest_size,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import chance

if TYPE_CHECKING:
    import pandas as pd

_ODDS_RATIO = 60.0  # median of real pairs of close classifiers (docs/claims.md)
_GAPS = 25  # of the figure of sizes


@dataclass(frozen=True)
class ClaimPlan:
    """Test items that a claim of one gap needs.

    Attributes
    ----------
    gap : GapOfAccuracies or GapOfMeans
    level : float
        A claim is made where it is false with at most this probability.
    n_needed : int
        Items, if exactly this gap is observed.
    power, n_for_power : float, int or None
        Items for a claim with this probability if this is the true gap; None where the correlation
        is not known.
    n_test : int or None
        Items observed so far.
    assurance, n_assured, highest_assurance : float or None, int or None, float or None
        Fresh items for a claim with this probability after the observed ones; None where no size
        has more than the highest.
    """

    gap: Gap
    level: float
    n_needed: int
    power: float
    n_for_power: int | None
    n_test: int | None = None
    assurance: float | None = None
    n_assured: int | None = None
    highest_assurance: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python objects."""
        names = ["level", "n_needed", "power", "n_for_power", "n_test"]
        names += ["assurance", "n_assured", "highest_assurance"] * (self.n_test is not None)
        found = {name: getattr(self, name) for name in names}
        return {**found, **self.gap.describe(), "notes": list(self.notes())}

    def sentences(self) -> Iterator[str]:
        """The sizes in words."""
        of = self.gap.describe()
        unknown = "congruence" if "congruence" in of else "correlation"
        yield (
            f"{self.n_needed:,} items if exactly a gap of {of['gap']:.4g} is observed "
            f"({unknown}: {of[unknown]['assumption']}, level {self.level:g})"
        )
        if self.n_for_power is not None:
            yield (
                f"{self.n_for_power:,} items for a claim with probability {self.power:g} if that "
                "is the true gap"
            )
        if self.n_assured is not None:
            size = round(self.n_assured, 2 - len(str(self.n_assured)))  # what it supports
            yield f"about {size:,} fresh items for a claim with probability {self.assurance:g}"

    def notes(self) -> Iterator[str]:
        """What is missing and why, and what is assumed."""
        if self.n_for_power is None:
            yield "items for a given power need --pairwise-correlation"
        if isinstance(self.gap, GapOfAccuracies) and self.gap.congruence is None:
            yield (
                f"real classifiers share more of their mistakes: --odds-ratio {_ODDS_RATIO:g} is "
                "typical of close ones (docs/claims.md) and asks for fewer items"
            )
        if self.highest_assurance is not None and self.n_assured is None:
            yield (
                f"no size makes the claim with probability {self.assurance:g}: after "
                f"{self.n_test:,} items A is the better one with probability "
                f"{chance(self.highest_assurance)}"
            )

    def required(self) -> "pd.DataFrame":
        """Sizes that gaps about this one need, by assumption, for ``plot_required_size``."""
        import pandas as pd

        if not isinstance(self.gap, GapOfAccuracies):
            raise InputError("a figure of sizes is for accuracies")
        of = self.gap.describe()
        assumptions: dict[str, Congruence] = {
            "least congruence": "min", "independent": "independent",
            f"odds ratio {_ODDS_RATIO:g}": OddsRatioCongruence(_ODDS_RATIO, 0.0),
        }  # fmt: skip
        if isinstance(self.gap.congruence, OddsRatioCongruence):
            assumptions[of["congruence"]["assumption"]] = self.gap.congruence
        best = self.gap.accuracy_a
        gaps = np.geomspace(of["gap"] / 3, min(3 * of["gap"], best), _GAPS).tolist()
        rows = required_sizes(best, gaps, assumptions, level=self.level)
        return pd.DataFrame(rows, columns=["gap", "assumption", "n_needed"])

    @property
    def title(self) -> str:
        """Title of the figure: what is planned."""
        of = self.gap.describe()
        about = f"congruence: {of['congruence']['assumption']}"
        about = about if self.n_test is None else f"{self.n_test:,} items observed"
        return f"A has {of['accuracy'][0]:g} right; {about}"


def plan_claim(
    gap: Gap,
    *,
    level: float = 0.05,
    power: float = 0.8,
    n_test: int | None = None,
    assurance: float = 0.8,
) -> ClaimPlan:
    """Test items that a claim needs at a gap: observed, true, or left open by what was observed.

    Parameters
    ----------
    gap : GapOfAccuracies or GapOfMeans
    level : float
        A claim is made where it is false with at most this probability.
    power : float
        Probability of a claim if this is the true gap.
    n_test : int, optional
        Items observed so far; adds the fresh items that make the claim with ``assurance``.
    assurance : float

    Examples
    --------
    >>> plan = plan_claim(GapOfAccuracies(0.90, 0.88))
    >>> plan.n_needed, plan.n_for_power
    (1330, 3028)
    """
    needed, for_power = smallest_size(gap.p_false, level), None
    if not isinstance(gap, GapOfMeans) or gap.pairwise_correlation is not None:
        for_power = powered_size(gap, level=level, power=power)
    plan = ClaimPlan(gap, level, needed, power, for_power)
    if n_test is None:
        return plan
    size, highest = assured_size(gap, n_test, level=level, assurance=assurance)
    return replace(
        plan, n_test=n_test, assurance=assurance, n_assured=size, highest_assurance=highest
    )
