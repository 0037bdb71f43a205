"""Claims as plain ``pm.Model``, to extend or to let several claims share parameters.

``tests/claims/test_models.py`` compares with the closed forms.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike

from bayes_sota.claims.laws import OUTCOMES, false_claim_probability
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray

COUNTS = ("right_a", "right_b", "both_right", "n_test")  # -1 where both_right is not known
_UNKNOWN = -1
_MEAN_SD, _SCALE_SD = 10.0, 5.0


def build_model(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> pm.Model:
    r"""Model of claims from reported accuracies, each with its four cells.

    .. math::
        p_i \sim Dirichlet(1, 1, 1, 1), \quad
        (x_{A}, x_{B}) \mid p \sim \sum_{x_{11}} Multinomial(n_i, p_i)

    P(difference <= 0) is ``false_claim_probability``.

    Parameters
    ----------
    accuracy_a, accuracy_b : array_like, shape (claims,)
        Taken as the nearest whole numbers of items.
    n_test : array_like of int, shape (claims,) or a number
    congruence : array_like, shape (claims,), optional
        Share of items that both got right, NaN if unknown.
    names : sequence of str, optional

    Returns
    -------
    pm.Model
        Free ``p`` (claim, outcome); deterministic ``congruence`` and ``difference`` (claim,).
        Observed ``counts`` (claim, count), whose draws are fresh test sets.

    Raises
    ------
    InputError
        As in ``false_claim_probability``.

    Examples
    --------
    >>> model = build_model([0.90, 0.85], [0.88, 0.80], [500, 200], [np.nan, 0.75])
    >>> model.named_vars_to_dims["difference"]
    ('claim',)
    """
    counts = _reported_counts(accuracy_a, accuracy_b, n_test, congruence)
    coords = {
        "claim": list(checked_labels(names, len(counts), "claim")),
        "outcome": list(OUTCOMES),
        "count": list(COUNTS),
    }
    with pm.Model(coords=coords) as model:
        p = pm.Dirichlet("p", np.ones((len(counts), 4)), dims=("claim", "outcome"))
        pm.Deterministic("congruence", p[:, 0], dims="claim")
        pm.Deterministic("difference", p[:, 1] - p[:, 2], dims="claim")
        pm.CustomDist(
            "counts",
            p,
            counts[:, 3],
            logp=lambda given, cells, _: counts_logp(given, cells),
            random=_draw_counts,
            signature="(c),()->(c)",
            observed=counts,
            dims=("claim", "count"),
        )
    return model


def _reported_counts(a: ArrayLike, b: ArrayLike, n: ArrayLike, congruence: Any) -> FloatArray:
    numbers = (a, b, n, np.nan if congruence is None else congruence)
    arrays = [np.atleast_1d(np.asarray(x, np.float64)) for x in numbers]
    if len({x.shape for x in arrays} - {(1,)}) > 1 or any(x.ndim != 1 for x in arrays):
        got = [x.shape for x in arrays]
        raise InputError(f"accuracies, n_test and congruence need one entry per claim, got {got}")
    first, second, size, p11 = np.broadcast_arrays(*arrays)
    known = np.isfinite(p11)
    false_claim_probability(first, second, size)  # refuses what no claim can be
    false_claim_probability(first[known], second[known], size[known], p11[known])
    x_a, x_b = np.rint(first * size), np.rint(second * size)
    both = np.clip(np.rint(np.where(known, p11, 0) * size), x_a + x_b - size, np.minimum(x_a, x_b))
    both = np.where(known, np.maximum(both, 0), _UNKNOWN)
    return np.stack([x_a, x_b, both, size], axis=1)


def counts_logp(counts: Any, cells: Any) -> Any:
    """Log likelihood of reported counts, for models of your own.

    Parameters
    ----------
    counts : tensor, shape (claim, 4)
        Correct answers of A, of B and of both (-1 is unknown, and summed out), and items.
    cells : tensor, shape (claim, 4)
        Probabilities that both are right, A alone, B alone, and neither.

    Returns
    -------
    tensor, shape (claim,)

    Examples
    --------
    >>> counts = [[1.0, 1.0, -1.0, 2.0]]  # one item for both, or one item for each
    >>> float(counts_logp(counts, [[0.4, 0.3, 0.2, 0.1]]).exp().eval()[0].round(12))
    0.2
    """
    counts, log_cells = pt.as_tensor(counts), pt.log(pt.as_tensor(cells))
    x_a, x_b, both, n = (counts[..., c, None] for c in range(4))
    p11, p10, p01, p00 = (log_cells[..., c, None] for c in range(4))
    known = pt.neq(both, _UNKNOWN)
    least = pt.switch(known, both, pt.maximum(0, x_a + x_b - n))
    most = pt.switch(known, both, pt.minimum(x_a, x_b))
    possible = least + pt.arange(pt.max(most - least) + 1)
    inside, possible = possible <= most, pt.minimum(possible, most)
    table = (possible, x_a - possible, x_b - possible, n - x_a - x_b + possible)
    log_number = pt.gammaln(n + 1) - sum(pt.gammaln(x + 1) for x in table)
    terms = pt.switch(inside, log_number, -np.inf) + possible * (p11 + p00 - p10 - p01)
    shared = x_a * p10 + x_b * p01 + (n - x_a - x_b) * p00
    return shared[..., 0] + pt.logsumexp(terms, axis=-1)


def _draw_counts(cells: Any, n: Any, rng: Any = None, size: Any = None) -> Any:
    shape = np.broadcast_shapes(np.shape(cells)[:-1], np.shape(n), size or ())
    p = np.broadcast_to(cells, (*shape, 4))
    table = rng.multinomial(np.broadcast_to(n, shape).astype(int), p / p.sum(-1, keepdims=True))
    both, only_a, only_b = table[..., 0], table[..., 1], table[..., 2]
    return np.stack([both + only_a, both + only_b, both, table.sum(-1)], axis=-1).astype(float)


def build_case_differences(differences: ArrayLike, names: Sequence[str] | None = None) -> pm.Model:
    r"""Model of paired differences of cases (Dice), whose posterior is nearly Student's t.

    .. math::
        x_c \sim N(d, \sigma), \quad d \sim N(0, 10 s), \quad \log(\sigma / s) \sim N(0, 5)

    with s the standard deviation of the differences.

    Parameters
    ----------
    differences : array_like, shape (n_cases,)
        Positive if A is better.
    names : sequence of str, optional
        Names of the cases.

    Returns
    -------
    pm.Model
        Free ``standardized_difference`` and ``log_scale``; deterministic ``difference``. Observed
        ``case_difference`` (case,), the data ``given_difference``.

    Raises
    ------
    InputError
        Fewer than three differences, one that is not finite, or all the same.

    Examples
    --------
    >>> model = build_case_differences([0.02, 0.05, -0.01, 0.03])
    >>> [v.name for v in model.free_RVs]
    ['standardized_difference', 'log_scale']
    """
    values = np.asarray(differences, np.float64)
    if values.ndim != 1 or values.size < 3 or not 0 < np.ptp(values) < np.inf:
        needed = "one finite number per case, at least 3 of them, not all the same"
        raise InputError(f"differences are {needed}, got shape {values.shape}")
    unit = float(values.std(ddof=1))
    with pm.Model(coords={"case": list(checked_labels(names, values.size, "case"))}) as model:
        mean = pm.Normal("standardized_difference", 0, _MEAN_SD)
        log_scale = pm.Normal("log_scale", 0, _SCALE_SD)
        difference = pm.Deterministic("difference", unit * mean)
        given = pm.Data("given_difference", values, dims="case")
        sd = unit * pt.exp(log_scale)
        pm.Normal("case_difference", difference, sd, observed=given, dims="case")
    return model
