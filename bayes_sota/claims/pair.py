r"""The difference of two methods that were named beforehand, without draws: what a gate needs.

Answers with one run, items independent, have the flat Dirichlet posterior of their table
(``claims.accuracies``); everything else is a sum of independent Student t parts
(``items.comparison``), given whose scales it is normal:

.. math:: P(d \le q) = E\, \Phi\Big((q - \bar d) \Big/ \sqrt{\textstyle\sum_k v_k \nu_k /
          \chi^2_{\nu_k}}\Big)

``tests/claims/test_pairs.py`` compares with closed forms and with draws.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import chdtri, ndtr, stdtr

from bayes_sota.claims.accuracies import at_most
from bayes_sota.claims.claim import gauss
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import more_items
from bayes_sota.core.text import nearest
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import complete
from bayes_sota.items.student import student_law
from bayes_sota.leaderboard.anchors import told_of_difference

_NODES = {2: 64, 3: 24}  # of the scale of each part, by their number
_FEWEST = 12


@dataclass(frozen=True, eq=False)
class PairLaw:
    """Posterior of the first less the second of two methods; larger is better.

    Attributes
    ----------
    centre, observed : float
        Of the posterior, and the difference of the scores.
    parts : sequence of (float, float)
        Variance of the difference, and degrees of freedom, of each part.
    table : (float, float, int) or None
        Items that the first alone and the second alone got right, and all, where these tell.
    """

    centre: float
    observed: float
    parts: Sequence[tuple[float, float]]
    table: tuple[float, float, int] | None = None

    def at_most(self, q: float) -> float:
        """Probability that the difference is at most ``q``."""
        if self.table is not None:
            return float(at_most(q, *self.table)[0])
        away = q - self.centre
        if not any(variance for variance, _ in self.parts):
            return float(0.5 * (1 + np.sign(away)))
        if len(self.parts) == 1:
            ((variance, freedom),) = self.parts
            return float(stdtr(freedom, away / np.sqrt(variance)))
        levels, weights = gauss(_NODES.get(len(self.parts), _FEWEST))
        each = [variance * nu / chdtri(nu, levels) for variance, nu in self.parts]
        total = np.array([sum(scales) for scales in product(*each)])
        chances = np.array([np.prod(of) for of in product(weights, repeat=len(self.parts))])
        return float(chances @ ndtr(away / np.sqrt(total)))

    def interval(self, prob: float) -> tuple[float, float]:
        """Equal-tailed interval."""
        step = sum(variance for variance, _ in self.parts) ** 0.5
        if not step and self.table is None:
            return self.centre, self.centre
        step = step or 1e-3
        low, high = ((1 - prob) / 2, (1 + prob) / 2)
        return self._quantile(low, -step), self._quantile(high, step)

    def _quantile(self, level: float, step: float) -> float:
        end = self.centre + step
        while (self.at_most(end) - level) * np.sign(step) < 0:
            end += (step := 2 * step)
        found: float = brentq(lambda q: self.at_most(q) - level, self.centre, end, xtol=1e-12)
        return found

    def more_items(self, limit: float, prob: float, n_items: int) -> float | None:
        """Further items after which the interval leaves out the limit, if the difference stays.

        None where it does so already, and where it would take too many.
        """
        low, high = self.interval(prob)
        lead = self.centre - limit
        reach = self.centre - low if lead > 0 else high - self.centre
        return more_items(abs(lead), reach, n_items)


def chosen_pair(outcomes: Outcomes, pair: tuple[str, str]) -> Outcomes:
    """The columns of two methods."""
    for name in pair:
        if name not in outcomes.names:
            raise InputError(f"there is no method {name!r}{nearest(name, outcomes.names)}")
    if pair[0] == pair[1]:
        raise InputError(f"a pair is two methods, got {pair[0]!r} twice")
    return outcomes.subset([j for j, name in enumerate(outcomes.names) if name in pair])


def law_of_pair(both: Outcomes, first: str, every: Outcomes | None = None) -> PairLaw:
    """Law of what one of two methods has more than the other; ``every`` has anchors."""
    data = complete(both)[0]
    law = student_law(data)
    signs = np.where(np.array(both.names) == first, 1.0, -1.0)
    parts = [(float(signs @ part.covariance @ signs), part.freedom) for part in law.parts]
    centre, table = float(signs @ law.centre), None
    if every is not None and every.anchors is not None:
        order = [both.names.index(first), 1 - both.names.index(first)]
        covariance = np.sum([part.covariance for part in law.parts], axis=0)[np.ix_(order, order)]
        at = every.names.index(first), every.names.index(both.names[order[1]])
        luck, explained = told_of_difference(every, at, covariance)
        parts = [(max(sum(v for v, _ in parts) - explained, 1e-12), law.parts[0].freedom)]
        centre -= luck
    elif data.is_plain and data.clusters is None:
        gap = data.values @ signs
        table = (float(np.sum(gap > 0)), float(np.sum(gap < 0)), data.n_items)
    return PairLaw(centre, float(signs @ law.scores), parts, table)
