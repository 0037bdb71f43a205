"""Bias and standard deviation of the best score, each assumption moved in turn.

Every row is a law of ``maximum_law`` or ``auc_maximum_law``; ``tests/maximum/test_bias.py`` pins
Table 3 and Fig. 5 of Møllersen & Holsbø and compares with simulated scores.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.auc.laws import AucMaximumLaw, auc_maximum_law
from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import followed
from bayes_sota.core.skills import SkillDistribution, Uniform
from bayes_sota.data.checks import LARGEST
from bayes_sota.maximum.law import MaximumLaw, maximum_law

_POINTS, _POINTS_OF_AUC = 31, 12  # of a curve


def bias_table(
    *,
    n_test: int,
    n_classifiers: int,
    skill: float | Uniform,
    correlation: float = 0.0,
    reference_skill: float | None = None,
    n_positive: int | None = None,
) -> pd.DataFrame:
    r"""How bias and spread of the best score change with each thing that they depend on.

    One of the numbers moves, the others stay as given: what a larger test set, fewer entries or
    better classifiers would do to :math:`E \max_j \hat\theta_j - E \max_j \theta_j` and to the
    standard deviation of :math:`\max_j \hat\theta_j`.

    Parameters
    ----------
    n_test, n_classifiers : int
        Test items and classifiers as given.
    skill : float or Uniform
        Skill of identical classifiers, or the uniform distribution that skills are drawn from.
    correlation : float
        rho of each classifier with the reference classifier; of AUCs that of the scores.
    reference_skill : float, optional
        theta0, of accuracies. Default: the (expected) skill of the best classifier, which it then
        follows.
    n_positive : int, optional
        Positive test items; skills are then AUCs, and a larger test set has the same share of them.

    Returns
    -------
    pandas.DataFrame
        Columns ``varied`` (``n_classifiers``, ``n_test``, ``skill``, ``correlation`` or ``width``),
        ``value`` (of a skill that of the best classifier, expected where skills are drawn; of a
        width the distance of the ends of uniform skills whose best is expected where it was),
        ``bias`` and ``sd`` (of the best score, on its scale) and ``numbers`` (whether this is what
        was given). What cannot be, such as a correlation that not all skills can have (Eq. 8), is
        left out.

    Raises
    ------
    InputError
        Impossible numbers.

    Notes
    -----
    Fig. 4 and 5 of Møllersen & Holsbø, arXiv 2303.07272v2, exact where these were simulated.
    Correlated AUCs of identical classifiers go by normal scores (``auc_maximum_law(rough=True)``).

    Examples
    --------
    >>> table = bias_table(n_test=3000, n_classifiers=1000, skill=0.9)
    >>> same = table[table["given"]]
    >>> same["varied"].tolist()
    ['n_classifiers', 'n_test', 'skill', 'correlation', 'width']
    >>> same["bias"].round(4).unique().tolist(), same["sd"].round(6).unique().tolist()
    ([0.0173], [0.001817])
    """
    setting = _Setting(n_test, n_classifiers, skill, correlation, reference_skill, n_positive)
    numbers, rows = setting.numbers(), []
    places = [
        (name, float(value))
        for name, values in _values(setting, numbers).items()
        for value in np.unique([*values, numbers[name]])
    ]
    with followed(len(places), "laws of the best score") as advance:
        for name, value in places:
            same = value == numbers[name]
            with suppress(InputError):
                law = (setting if same else setting.moved(name, value, numbers["skill"])).law()
                moments = {"bias": law.bias(), "sd": law.std(), "given": same}
                rows.append({"varied": name, "value": value, **moments})
            advance()
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Setting:
    """What a law of the best score depends on, as in ``bias_table``."""

    n_test: int
    n_classifiers: int
    skill: float | Uniform
    correlation: float
    reference_skill: float | None
    n_positive: int | None

    def law(self) -> MaximumLaw | AucMaximumLaw:
        sizes: dict[str, Any] = {
            "n_classifiers": self.n_classifiers,
            "correlation": self.correlation,
        }
        if self.n_positive is None:
            sizes |= {"n_test": self.n_test, "reference_skill": self.reference_skill}
            return maximum_law(skill=self.skill, **sizes)
        if self.reference_skill is not None:
            raise InputError("reference_skill is of accuracies: AUCs take none")
        n_negative = self.n_test - self.n_positive
        rough = self.correlation > 0 and not isinstance(self.skill, SkillDistribution)
        sizes |= {"n_positive": self.n_positive, "n_negative": n_negative, "rough": rough}
        return auc_maximum_law(self.skill, **sizes)

    @property
    def ends(self) -> tuple[float, float]:
        """Lowest and highest skill."""
        if isinstance(self.skill, Uniform):
            return float(np.asarray(self.skill.low)), float(np.asarray(self.skill.high))
        return float(self.skill), float(self.skill)

    def numbers(self) -> dict[str, float]:
        """What can be moved, in the order of the curves."""
        low, high = self.ends
        return {
            "n_classifiers": self.n_classifiers,
            "n_test": self.n_test,
            "skill": self.law().theta_sota,
            "correlation": self.correlation,
            "width": high - low,
        }

    def moved(self, name: str, value: float, best: float) -> "_Setting":
        """The setting with one number moved; ``best`` is the skill of the best classifier."""
        low, high = self.ends
        if name == "skill":
            return self.with_skills(low + value - best, high + value - best)
        if name == "width":
            lower = best - value * self.n_classifiers / (self.n_classifiers + 1)
            return self.with_skills(lower, lower + value)
        if name == "correlation":
            return replace(self, correlation=value)
        if name == "n_classifiers":
            return replace(self, n_classifiers=int(value))
        share = value / self.n_test
        positives = None if self.n_positive is None else round(share * self.n_positive)
        return replace(self, n_test=int(value), n_positive=positives)

    def with_skills(self, low: float, high: float) -> "_Setting":
        """Skills between these, or all the same."""
        return replace(self, skill=Uniform(low, high) if high > low else high)


def _values(setting: _Setting, numbers: dict[str, float]) -> dict[str, Any]:
    """Values that each of them takes, those among them that cannot be."""
    points = _POINTS if setting.n_positive is None else _POINTS_OF_AUC
    m, n, best = setting.n_classifiers, setting.n_test, numbers["skill"]
    return {
        "n_classifiers": np.geomspace(1, min(10 * m, LARGEST), points).round(),
        "n_test": np.geomspace(max(1, n // 10), min(10 * n, LARGEST), points).round(),
        "skill": np.linspace(min(best, 0.5), max(best, 0.99), points),
        "correlation": np.linspace(0, max(0.99, setting.correlation), points),
        "width": np.linspace(0, max(0.1, 2 * numbers["width"]), points),
    }
