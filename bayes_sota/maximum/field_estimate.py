"""Point estimate of the state of the art, and the field of skills behind it (``shrinkage``)."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayes_sota.auc.law import AucMaximumLaw
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.core.types import FloatArray
from bayes_sota.maximum.law import MaximumLaw

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["Criterion", "FieldEstimate", "binomial_interval"]

Criterion = Literal["expected", "upper"]
_NUMBERS = ("weight", "threshold", "expected_maximum", "excess", "correlation", "n_above_sota")


@dataclass(frozen=True, eq=False)
class FieldEstimate:
    """Point estimate of the state of the art, and the field of skills behind it.

    Attributes
    ----------
    method, criterion : str
        "shrink" or "crop"; "expected" or "upper".
    estimate : float
        Best skill of the shrunk or cropped field: the estimate of theta_sota.
    weight : float or None
        ``w`` of Eq. 9; None for cropping.
    threshold : float or None
        Highest score that remains; None for shrinking.
    law : MaximumLaw
        Law of the best score of that field; its cdf has an error of about 1e-6 (``rough``).
    prob : float
        Probability of the intervals.
    observed_maximum : float
    excess : float
        Expected best score were the scores the skills, minus the observed one.
    multiplicity : bool
        Whether there is a multiplicity to correct.
    reason : str
        Why not; empty if there is.
    scores : ndarray, shape (m,)
        The scores that were used: those above chance.
    n_below_chance, n_infeasible : int
        Entries left out because they are not above chance, and of the rest those whose skill
        cannot have the correlation (Eq. 8).
    chance, correlation : float
        ``c``, and rho with the reference classifier, whose skill is the estimate.
    n_test : int
    single : (float, float)
        Interval of the observed maximum were it the only classifier.
    """

    method: str
    criterion: Criterion
    estimate: float
    weight: float | None
    threshold: float | None
    law: MaximumLaw | AucMaximumLaw
    prob: float
    observed_maximum: float
    excess: float
    multiplicity: bool
    reason: str
    scores: FloatArray = field(repr=False)
    n_below_chance: int
    n_infeasible: int
    chance: float
    correlation: float
    n_test: int
    single: tuple[float, float]

    @property
    def expected_maximum(self) -> float:
        """Expected best score of the shrunk or cropped field."""
        return self.law.mean()

    @property
    def interval(self) -> tuple[float, float]:
        """Equal-tailed interval of its best score."""
        return self.law.interval(self.prob)

    def n_above(self, decimals: int | None = None) -> int:
        """Number of entries whose score exceeds the estimate, rounded first if asked."""
        level = self.estimate if decimals is None else round(self.estimate, decimals)
        return int(np.sum(self.scores > level))

    @property
    def n_above_single(self) -> int:
        """Number of entries, the best among them, above the lower end of ``single``."""
        return int(np.sum(self.scores > self.single[0]))

    def to_dict(self) -> dict[str, Any]:
        """Plain Python objects, with the keys of ``bayes-sota sota --method shrink --json``."""
        parameter = (
            {"weight": self.weight} if self.method == "shrink" else {"threshold": self.threshold}
        )
        return {
            "method": self.method,
            "criterion": self.criterion,
            "n_test": self.n_test,
            "n_classifiers": int(self.scores.size),
            "observed_maximum": self.observed_maximum,
            "theta_sota": {"estimate": self.estimate},
            **parameter,
            "expected_maximum": self.expected_maximum,
            "interval": list(self.interval),
            "bias": self.observed_maximum - self.estimate,
            "n_above_sota": self.n_above(),
            "n_above_sota_rounded": self.n_above(4),
            "single_interval": list(self.single),
            "n_above_single_interval": self.n_above_single,
            "excess": self.excess,
            "multiplicity": self.multiplicity,
            "reason": self.reason,
            "n_below_chance": self.n_below_chance,
            "n_infeasible": self.n_infeasible,
            "chance": self.chance,
            "correlation": self.correlation,
            "prob": self.prob,
        }

    def to_datatree(self) -> "xr.DataTree":
        """The estimate in the group ``point_estimate``: numbers, and no invented draws."""
        import xarray as xr

        values = self.to_dict()
        numbers = {
            "theta_sota": self.estimate,
            **{name: values[name] for name in _NUMBERS if values.get(name) is not None},
        }
        low, high = self.interval
        group = xr.Dataset({**numbers, "interval_lower": low, "interval_upper": high})
        observed = {"observed_maximum": self.observed_maximum}
        facts = {"n_test": self.n_test, "n_classifiers": self.scores.size}
        tree = xr.DataTree.from_dict(
            {
                "point_estimate": group,
                "observed_data": xr.Dataset({"score": ("classifier", self.scores), **observed}),
                "constant_data": xr.Dataset({**facts, "chance": self.chance}),
            }
        )
        tree.attrs.update(
            schema_version=SCHEMA_VERSION, method=self.method, criterion=self.criterion,
            multiplicity=int(self.multiplicity), reason=self.reason, prob=self.prob,
        )  # fmt: skip
        return tree


def binomial_interval(right: int, n_test: int, prob: float = 0.95) -> tuple[float, float]:
    """Clopper-Pearson interval of one accuracy, as the paper has it.

    Examples
    --------
    >>> [round(end, 4) for end in binomial_interval(2700, 3000)]
    [0.8887, 0.9105]
    """
    from scipy.special import betaincinv

    wrong, tail = n_test - right, (1 - prob) / 2
    low = betaincinv(right, wrong + 1, tail) if right > 0 else 0.0
    high = betaincinv(right + 1, wrong, 1 - tail) if wrong > 0 else 1.0
    return float(low), float(high)
