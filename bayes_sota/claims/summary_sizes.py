"""How the probability of a false claim falls with the size of the test set, the difference kept.

``tests/claims/test_summary_sizes.py`` counts, and compares with ``claim_test_size``.
"""

from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.claims.planning import smallest_size
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    from bayes_sota.claims.summary import Claim

USUAL = (0.05, 0.01)  # levels at which claims are usually accepted
_MOST = 10**6  # items that are looked at; more where more were used
_AROUND = 4  # times the sizes that matter


def sizes_needed(claim: "Claim", level: float) -> list[tuple[float, int | None]]:
    """Levels, the usual ones and ``level``, and the items from which the claim holds at each.

    The difference, and what is assumed of the congruence or correlation, are those of the claim.
    None where a million items are not enough, such as for equal numbers.

    Examples
    --------
    >>> from bayes_sota.claims.accuracies import ReportedAccuracies
    >>> sizes_needed(ReportedAccuracies(0.90, 0.88, 500, "independent"), 0.05)
    [(0.05, 1330), (0.01, 2654)]
    """
    most = max(_MOST, claim.n_test)
    least = float(claim.by_size(most))
    levels = sorted({level, *USUAL}, reverse=True)
    return [
        (at, smallest_size(lambda n: float(claim.by_size(n)), at) if least <= at else None)
        for at in levels
    ]


def sizes_about(claim: "Claim", needed: list[tuple[float, int | None]]) -> tuple[float, float]:
    """Least and largest size worth a look: about what was used, and what is needed."""
    known = [claim.n_test, *(size for _, size in needed if size is not None)]
    return max(2.0, min(known) / _AROUND), float(_AROUND * max(known))


def round_sizes(claim: "Claim", ends: tuple[float, float]) -> list[int]:
    """1, 2 and 5 times the powers of ten between two ends, and the size that was used."""
    decades = range(int(np.log10(ends[1])) + 1)
    steps = [factor * 10**decade for decade in decades for factor in (1, 2, 5)]
    return sorted({claim.n_test, *(size for size in steps if ends[0] <= size <= ends[1])})


def probabilities_at(claim: "Claim", sizes: list[int]) -> FloatArray:
    """Sizes and probabilities, (k, 2)."""
    return np.column_stack([sizes, claim.by_size(np.array(sizes, np.float64))])
