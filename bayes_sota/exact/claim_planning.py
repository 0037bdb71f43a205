"""How many test items a claim of a given gap needs.

At the observed gap: the smallest test set on which the same accuracies, or means, would make the
probability of a false claim small. With assurance: the smallest on which that happens with a
given probability, when the truth is what the observed test set leaves open and fresh items are
drawn. ``tests/exact/test_claim_planning.py`` counts.
"""

from collections.abc import Callable

import numpy as np

from bayes_sota.errors import InputError
from bayes_sota.exact.false_claim import Congruence, false_claim_probability
from bayes_sota.exact.paired_outcomes import probability_not_better

__all__ = ["assured_test_size", "claim_test_size", "smallest_size"]

_MOST = 10**9


def smallest_size(probability_at: Callable[[int], float], level: float) -> int:
    """Smallest number of items from which a probability that falls with it is at most ``level``.

    Raises
    ------
    InputError
        Not even a thousand million items are enough, or a level outside (0, 1/2).
    """
    if not 0 < level < 0.5:
        raise InputError(f"level must lie in (0, 1/2), got {level:g}")
    low, high = 1, 2
    while probability_at(high) > level:
        low, high = high, 2 * high
        if high > _MOST:
            raise InputError("no test set is large enough: the two are too close")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if probability_at(middle) <= level else (middle, high)
    return high


def claim_test_size(
    accuracy_a: float,
    accuracy_b: float,
    congruence: Congruence = None,
    *,
    level: float = 0.05,
) -> int:
    """Test items that make a claim of these accuracies false with probability ``level`` at most.

    Parameters are those of ``false_claim_probability``. Unknown congruence counts as that of
    independent mistakes here: its average over all tables depends on the size itself.

    Examples
    --------
    >>> claim_test_size(0.90, 0.88, "independent")
    1330
    """
    if accuracy_a == accuracy_b:
        raise InputError("equal accuracies never make a claim, whatever the size")
    shared = "independent" if congruence is None else congruence
    return smallest_size(
        lambda n: float(false_claim_probability(accuracy_a, accuracy_b, n, shared)), level
    )


def assured_test_size(
    accuracy_a: float,
    accuracy_b: float,
    n_test: int,
    congruence: float,
    *,
    level: float = 0.05,
    assurance: float = 0.8,
    draws: int = 4000,
    random_seed: int | np.random.Generator | None = 0,
) -> tuple[int | None, float]:
    """Fresh test items on which the claim would be made with probability ``assurance``.

    Parameters
    ----------
    accuracy_a, accuracy_b, n_test, congruence
        What was observed.
    level : float
        A claim is made where it is false with at most this probability.
    assurance : float
        Probability, over what the observed items leave open and over fresh items, of a claim.
    draws : int
    random_seed : int, Generator or None

    Returns
    -------
    size, highest : int or None, float
        None where no size is enough: with the probability ``highest`` that A is truly better no
        claim is sure to come.

    Examples
    --------
    >>> size, highest = assured_test_size(0.90, 0.88, 2000, 0.85)
    >>> size > claim_test_size(0.90, 0.88, 0.85), round(highest, 2)
    (True, 1.0)
    """
    if not 0.5 < assurance < 1:
        raise InputError(f"assurance must lie in (1/2, 1), got {assurance:g}")
    rng = np.random.default_rng(random_seed)
    x1, x2 = n_test * (accuracy_a - congruence), n_test * (accuracy_b - congruence)
    highest = 1 - float(false_claim_probability(accuracy_a, accuracy_b, n_test, congruence))
    if highest <= assurance:
        return None, highest
    truth = rng.dirichlet([x1 + 1, x2 + 1, n_test - x1 - x2 + 2], draws)

    def missed(n: int) -> float:
        alone = rng.multinomial(n, truth / truth.sum(axis=1, keepdims=True))
        return 1 - float(np.mean(probability_not_better(alone[:, 0], alone[:, 1]) <= level))

    return smallest_size(missed, 1 - assurance), highest
