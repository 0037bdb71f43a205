r"""Claims of many papers, and claims on clustered items, as plain ``pm.Model`` for NUTS.

One claim with independent items has a closed form (``bayes_sota.claims.accuracies``). Its flat
Dirichlet prior of the cells (both right, A alone, B alone, none) says in other words

.. math:: p_A \sim Beta(2, 2), \quad \psi = \log\frac{p_{11}\, p_{00}}{p_{10}\, p_{01}} \sim f,
          \quad p(p_B \mid p_A, \psi) = \frac{1}{p_A (1 - p_A)\, f(\psi) \sum_c 1 / p_c}

with f the law of a sum of two standard logistic variables (their sd is 2.57). A review of many
claims keeps all of it but f, in whose place comes :math:`N(\mu, \tau)` with both learnt: what the
tables that are known say of the congruence, the others borrow.
``tests/claims/test_models.py`` compares with the closed form, with sums over all tables
and with importance sampling from closed-form posteriors.
"""

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from pymc.distributions.transforms import logodds
from scipy.special import expit

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.claims.cells import OUTCOMES
from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.builders import ClaimPriors, own_priors
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels, codes_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data.responses import MISSING, Responses

COUNTS = ("right_a", "right_b", "both_right", "n_test")  # -1 where both_right is not known
_UNKNOWN = -1
_FLOOR = 1e-15  # of a cell: below it only rounding is left
_SERIES = 0.03  # half the log odds ratio below which its density is a series
_GRID, _TAIL = 801, 20.0  # for draws of the prior


def build_model(
    accuracy_a: ArrayLike,
    accuracy_b: ArrayLike,
    n_test: ArrayLike,
    congruence: ArrayLike | None = None,
    names: Sequence[str] | None = None,
    *,
    priors: ClaimPriors | None = None,
    shared: bool = True,
) -> pm.Model:
    r"""Model of many claims whose congruences have one distribution of log odds ratios.

    .. math::
        \mu \sim N, \quad \tau \sim N^+, \quad \psi_i \sim N(\mu, \tau), \quad
        (x_{A}, x_{B}) \mid p \sim \sum_{x_{11}} Multinomial(n_i, p_i)

    An odds ratio is feasible for every pair of accuracies (Plackett 1965), so that papers with
    different accuracies can share its distribution. With the default priors and without any known
    congruence the review starts from (nearly) the closed form.

    Parameters
    ----------
    accuracy_a, accuracy_b : array_like, shape (claims,)
        Reported accuracies of winner and other; the nearest whole numbers of right answers count.
    n_test : array_like of int, shape (claims,) or a number
    congruence : array_like, shape (claims,), optional
        Share of items that both got right, NaN where it is not known. Default: known nowhere.
    names : sequence of str, optional
        Default "1", "2", ...
    priors : ClaimPriors, optional
        Of mu and tau, where they are shared.
    shared : bool
        Whether the claims share their congruence. False takes f for each: then a claim is the
        closed form, whether its congruence is known or not.

    Returns
    -------
    pm.Model
        Free ``typical_log_odds_ratio`` and ``log_odds_ratio_sd`` (where shared), and of every
        claim ``log_odds_ratio_offset``, ``accuracy_a``, ``accuracy_b``; deterministic
        ``log_odds_ratio``, ``congruence``, ``p_a_alone``, ``p_b_alone`` and ``difference``,
        (claim,). Observed ``counts`` (claim, count), whose draws are fresh test sets.

    Raises
    ------
    InputError
        What ``false_claim_probability`` refuses; priors of a congruence that is not shared.

    Notes
    -----
    The sum over :math:`x_{11}` is padded to the longest one: its cost grows as claims times the
    largest number of wrong answers of a claim.

    Examples
    --------
    >>> model = build_model(
    ...     [0.90, 0.85], [0.88, 0.80], [500, 200], [np.nan, 0.75], names=["first", "second"])
    >>> model.named_vars_to_dims["difference"]
    ('claim',)
    """
    counts = _reported_counts(accuracy_a, accuracy_b, n_test, congruence)
    if not shared:
        refuse_unused("claims that share no congruence", {"priors": priors})
    known = own_priors(ClaimPriors, priors)
    coords = {"claim": list(checked_labels(names, len(counts), "claim")), "count": list(COUNTS)}
    with pm.Model(coords=coords) as model:
        psi = _shared_log_odds_ratio(known) if shared else _flat()
        a = pm.Beta("accuracy_a", 2, 2, dims="claim")
        b = pm.CustomDist(
            "accuracy_b",
            a,
            psi,
            logp=second_accuracy_logp,
            random=_draw_second_accuracy,
            signature="(),()->()",
            transform=logodds,
            dims="claim",
            support_point=lambda _, size, a, psi: pt.full(size, 0.5),
        )
        cells = outcome_cells(a, b, psi)
        for name, cell in zip(("congruence", "p_a_alone", "p_b_alone"), cells, strict=False):
            pm.Deterministic(name, cell, dims="claim")
        pm.Deterministic("difference", a - b, dims="claim")
        pm.CustomDist(
            "counts",
            pt.stack(cells, axis=-1),
            counts[:, 3],
            logp=lambda given, cells, _: counts_logp(given, cells),
            random=_draw_counts,
            signature="(c),()->(c)",
            observed=counts,
            dims=("claim", "count"),
        )
    return model


def _reported_counts(a: ArrayLike, b: ArrayLike, n: ArrayLike, congruence: Any) -> FloatArray:
    """Whole numbers of ``COUNTS``, shape (claims, 4)."""
    numbers = (a, b, n, np.nan if congruence is None else congruence)
    arrays = [np.atleast_1d(np.asarray(x, np.float64)) for x in numbers]
    if len({x.shape for x in arrays} - {(1,)}) > 1 or any(x.ndim != 1 for x in arrays):
        shapes = ", ".join(str(x.shape) for x in arrays)
        raise InputError(
            f"accuracies, n_test and congruence need one entry per claim, got {shapes}"
        )
    first, second, size, p11 = np.broadcast_arrays(*arrays)
    known = np.isfinite(p11)
    false_claim_probability(first, second, size)  # refuses what no claim can be
    false_claim_probability(first[known], second[known], size[known], p11[known])
    x_a, x_b = np.rint(first * size), np.rint(second * size)
    both = np.clip(np.rint(np.where(known, p11, 0) * size), x_a + x_b - size, np.minimum(x_a, x_b))
    both = np.where(known, np.maximum(both, 0), _UNKNOWN)
    return np.stack([x_a, x_b, both, size], axis=1)


def _shared_log_odds_ratio(priors: ClaimPriors) -> Any:
    typical = pm.Normal("typical_log_odds_ratio", *priors.typical_log_odds_ratio)
    spread = pm.HalfNormal("log_odds_ratio_sd", priors.log_odds_ratio_sd)
    offset = pm.Normal("log_odds_ratio_offset", dims="claim")
    return pm.Deterministic("log_odds_ratio", typical + spread * offset, dims="claim")


def _flat() -> Any:
    """The log odds ratio that a flat Dirichlet prior of the cells has."""
    return pm.CustomDist(
        "log_odds_ratio",
        0.0,
        logp=lambda psi, _: flat_log_odds_ratio_logp(psi),
        random=lambda _, rng=None, size=None: rng.logistic(size=size) + rng.logistic(size=size),
        signature="()->()",
        dims="claim",
    )


def flat_log_odds_ratio_logp(psi: Any) -> Any:
    r"""Log density of the log odds ratio that a flat Dirichlet prior of the cells has.

    It is that of a sum of two standard logistic variables,
    :math:`(w \cosh w - \sinh w) / (2 \sinh^3 w)` at :math:`w = |\psi| / 2`; a tensor gives a
    tensor of its shape.

    Examples
    --------
    >>> float(flat_log_odds_ratio_logp(0.0).exp().eval().round(6))
    0.166667
    """
    w = pt.abs(psi) / 2
    small = w < _SERIES
    square, far = w**2, pt.switch(small, 1.0, w)  # neither branch may have an infinite gradient
    shrunk = pt.exp(-2 * far)
    exact = pt.log(2 * ((far - 1) + (far + 1) * shrunk)) - 2 * far - 3 * pt.log1p(-shrunk)
    series = pt.log1p(square / 10 + square**2 / 280)
    series -= np.log(6) + pt.log1p(square / 2 + 13 * square**2 / 120)
    return pt.switch(small, series, exact)


def outcome_cells(a: Any, b: Any, psi: Any) -> tuple[Any, Any, Any, Any]:
    """Probabilities of ``OUTCOMES`` from two accuracies and a log odds ratio.

    Tensors that broadcast. Plackett's root in a form without cancellation for odds ratios of at
    least 1; below that B's wrong answers take the place of its right ones.

    Examples
    --------
    >>> [float(cell.eval().round(3)) for cell in outcome_cells(0.9, 0.8, 0.0)]
    [0.72, 0.18, 0.08, 0.02]
    """
    a, b, psi = map(pt.as_tensor, (a, b, psi))
    positive = psi >= 0
    other = pt.switch(positive, b, 1 - b)
    t = pt.exp(-pt.abs(psi))
    mixed = a * (1 - other) + other * (1 - a)
    root = pt.sqrt(((1 - t) * (a - other)) ** 2 + t * (2 * (1 - t) * mixed + t))
    joint = 2 * a * other / (t + (a + other) * (1 - t) + root)
    both = pt.switch(positive, joint, a - joint)
    cells = (both, a - both, b - both, 1 - a - b + both)
    return tuple(pt.maximum(cell, _FLOOR) for cell in cells)


def second_accuracy_logp(b: Any, a: Any, psi: Any) -> Any:
    """Log density of the other accuracy given the first and the log odds ratio.

    Tensors that broadcast; the formula is at the top of this file.

    Examples
    --------
    >>> float(second_accuracy_logp(0.5, 0.9, 2.0).exp().eval().round(3))
    1.102
    """
    inverse = sum(1 / cell for cell in outcome_cells(a, b, psi))
    return -pt.log(inverse) - pt.log(a) - pt.log1p(-a) - flat_log_odds_ratio_logp(psi)


def _draw_second_accuracy(a: Any, psi: Any, rng: Any = None, size: Any = None) -> Any:
    r"""Draws of the same law: :math:`p_B = p_A u + (1 - p_A) v`, logit u - logit v = psi.

    Logit u has a density proportional to the product of two logistic ones; its distribution
    function is inverted on a grid.
    """
    shape = np.broadcast_shapes(np.shape(a), np.shape(psi), size or ())
    a, psi = (np.broadcast_to(x, shape).ravel()[:, None] for x in (a, psi))
    low = np.minimum(psi, 0) - _TAIL
    step = (np.maximum(psi, 0) + _TAIL - low) / (_GRID - 1)
    grid = low + step * np.arange(_GRID)
    u, v = expit(grid), expit(grid - psi)
    mass = np.cumsum(u * (1 - u) * v * (1 - v), axis=1)
    level = rng.random(len(mass)) * mass[:, -1]
    drawn = np.array([np.interp(*x) for x in zip(level, mass, grid, strict=True)])
    drawn += step[:, 0] / 2  # a sum up to a node reaches half a step beyond it
    b = a[:, 0] * expit(drawn) + (1 - a[:, 0]) * expit(drawn - psi[:, 0])
    return np.asarray(b).reshape(shape)


def counts_logp(counts: Any, cells: Any) -> Any:
    r"""Log likelihood of reported counts, as a function of tensors, for models of your own.

    Where the number that both got right is not known it is summed out. All tables with the same
    margins share :math:`p_{10}^{x_A} p_{01}^{x_B} p_{00}^{n - x_A - x_B}`; only
    :math:`e^{\psi x_{11}}` and the number of ways differ.

    Parameters
    ----------
    counts : tensor, shape (claim, 4)
        Of ``COUNTS``: right answers of A and of B, of both (-1 where not known), and items.
    cells : tensor, shape (claim, 4)
        Probabilities of ``OUTCOMES``.

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
    """Reports of fresh test sets, with their congruence."""
    shape = np.broadcast_shapes(np.shape(cells)[:-1], np.shape(n), size or ())
    p = np.broadcast_to(cells, (*shape, 4))
    table = rng.multinomial(np.broadcast_to(n, shape).astype(int), p / p.sum(-1, keepdims=True))
    both, only_a, only_b = table[..., 0], table[..., 1], table[..., 2]
    return np.stack([both + only_a, both + only_b, both, table.sum(-1)], axis=-1).astype(float)


def build_clustered_items(
    responses: Responses,
    a: int | str = 0,
    b: int | str = 1,
    *,
    correlation_prior: tuple[float, float] = (1.0, 1.0),
) -> pm.Model:
    r"""Model of two classifiers on items that come in clusters (patients, documents, prompts).

    .. math::
        p \sim Dirichlet(1, 1, 1, 1), \quad \iota \sim Beta, \quad
        x_c \sim DirichletMultinomial\big(n_c,\; p\,(1 - \iota) / \iota\big)

    The intraclass correlation :math:`\iota` is that of each outcome within a cluster, the same for
    all four; towards 0 the items are independent, and P(difference <= 0) is
    ``probability_not_better``. ``p`` is a mean over the clusters that there
    could be, each with the same weight, however many items it has.

    Parameters
    ----------
    responses : Responses
        With ``clusters``. Items that one of the two did not answer are left out.
    a, b : int or str
        Which two classifiers.
    correlation_prior : (float, float)
        Parameters of the Beta prior of the intraclass correlation. Default: uniform.

    Returns
    -------
    pm.Model
        Free ``p`` (outcome,) and ``intraclass_correlation``; deterministic ``difference`` and
        ``congruence``; observed ``tables`` (cluster, outcome), the data ``cluster_tables``.

    Raises
    ------
    InputError
        No clusters, an unknown classifier, the same one twice, a prior that is none.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> answers = Responses(rng.random((60, 2)) < 0.8, clusters=np.arange(60) // 4)
    >>> model = build_clustered_items(answers)
    >>> [v.name for v in model.free_RVs]
    ['p', 'intraclass_correlation']
    """
    if not all(value > 0 for value in correlation_prior):
        raise InputError(f"correlation_prior takes two positive numbers, got {correlation_prior}")
    names, tables = _cluster_tables(responses, a, b)
    with pm.Model(coords={"cluster": names, "outcome": list(OUTCOMES)}) as model:
        observed = pm.Data("cluster_tables", tables, dims=("cluster", "outcome"))
        p = pm.Dirichlet("p", np.ones(4), dims="outcome")
        correlation = pm.Beta("intraclass_correlation", *correlation_prior)
        pm.Deterministic("congruence", p[0])
        pm.Deterministic("difference", p[1] - p[2])
        pm.DirichletMultinomial(
            "tables",
            n=pt.sum(observed, axis=1),
            a=p * (1 - correlation) / correlation,
            observed=observed,
            dims=("cluster", "outcome"),
        )
    return model


def _cluster_tables(responses: Responses, a: int | str, b: int | str) -> tuple[list[str], Any]:
    """Names of clusters, and numbers of items of each outcome in each, (clusters, 4)."""
    if responses.clusters is None:
        raise InputError(
            "these responses have no clusters: give clusters=, or use probability_not_better, "
            "which is exact for independent items"
        )
    pair = responses.subset([a, b]).correct
    answered = (pair != MISSING).all(axis=1)
    names, index = codes_of([*compress(responses.clusters, answered)])
    outcome = 3 - 2 * pair[answered, 0].astype(int) - pair[answered, 1]
    tables = np.zeros((len(names), 4), np.int64)
    np.add.at(tables, (index, outcome), 1)
    return names, tables
