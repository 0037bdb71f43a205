r"""Claims on the mean of a metric of cases (Dice), where Student's t is not enough, for NUTS.

Differences of cases are bounded, heavy-tailed and skewed, and a few are failures: the Dice of one
method is 0. Where both work they are taken from a two-piece Student law (Fernández & Steel 1998,
doi 10.1080/01621459.1998.10474117) truncated to its bounds,

.. math:: p(x) = \frac{k\big((x - m) / s_{\pm}\big)}{s_- I_0^- + s_+ I_0^+}, \quad
          k(z) = (1 + z^2 / \nu)^{-(\nu + 1) / 2}, \quad
          E[x] = m + \frac{s_+^2 I_1^+ - s_-^2 I_1^-}{s_- I_0^- + s_+ I_0^+}

with :math:`I_q = \int_0^Z z^q k(z)\, dz` up to the bound, by Gauss-Legendre in asinh z; s- below m
and s+ above it. Failures of A and of B have shares of their own, and sizes r (parts of the bound)
of density :math:`a r^{a - 1}`: without them the law takes one-sided failures for outliers, and its
mean is wrong, ever more surely as the cases grow. The claim is about the mean, not about m.

Several metrics of the same cases take one joint law of their differences.
``tests/claims/test_models_means.py`` compares with SciPy's laws and with simulation,
``tests/claims/test_sample.py`` with Student's t.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from numpy.typing import ArrayLike
from scipy.special import stdtr, stdtrit

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray

_NODES = 48
_TYPICAL_SCALE, _SCALE_SD = 1 / 40, 1.5  # of the range between the bounds, and of its log
_SKEW_SD = 0.5
_TAILS = (2.0, 0.1)  # Gamma prior of the degrees of freedom, mean 20
_FAILURES = (0.2, 0.2, 3.6)  # Dirichlet prior of the shares: 5 % each, often next to none
_FAILURE_POWER_SD = 0.5
_TIE = 1e-9  # of the range between the bounds: less is the rounding of a mean
_MEAN_SD = 5.0  # in standard deviations of a metric's differences


def build_case_differences(
    differences: ArrayLike,
    bounds: tuple[float, float] = (-1.0, 1.0),
    names: Sequence[str] | None = None,
    *,
    failures: bool = True,
) -> pm.Model:
    r"""Model of paired differences of cases that are bounded, heavy-tailed and skewed.

    .. math::
        m \sim U(bounds), \quad \log s \sim N, \quad s_\pm = s\, e^{\pm g}, \quad
        g \sim N(0, 0.5), \quad \nu \sim Gamma(2, 0.1), \quad
        (w_A, w_B, w) \sim Dirichlet(0.2, 0.2, 3.6), \quad \log(a - 1) \sim N(0, 0.5)

    Cases where both methods got exactly the same (usual: both found nothing, or both are the same
    network there) are an atom at 0 of unknown probability. It scales the mean and never changes
    its sign; it is in the model where the data hold a 0, but for rounding.
    ``case_difference_logp`` is the density.

    Parameters
    ----------
    differences : array_like, shape (n_cases,)
        A minus B, positive where A is better.
    bounds : (float, float)
        Range of a difference; (-1, 1) for Dice. Below 0 and above it.
    names : sequence of str, optional
        Names of the cases.
    failures : bool
        Whether either method can fail on a case. Then the mean also allows for failures that are
        not in the data, and its interval is wider than Student's where there are none.

    Returns
    -------
    pm.Model
        Free ``mode``, ``log_scale``, ``log_skew``, ``degrees_of_freedom``, ``share`` (state: A
        fails, B fails, both work), ``log_failure_excess`` and maybe ``p_equal``;
        deterministic ``difference``, the mean over cases of the modelled law. Observed
        ``case_difference`` (case,), the data ``given_difference``.

    Raises
    ------
    InputError
        Fewer than three differences that are not 0, one that is outside the bounds or not finite.

    Notes
    -----
    With few cases the priors matter: failures that are not in the data can be behind the next case.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> model = build_case_differences(0.01 + 0.05 * rng.standard_t(4, size=80))
    >>> [v.name for v in model.free_RVs]
    ['mode', 'log_scale', 'log_skew', 'degrees_of_freedom', 'share', 'log_failure_excess']
    """
    values, cases = _checked_differences(differences, bounds, names)
    low, high = (float(x) for x in bounds)
    coords = {"case": list(cases), "state": ["a_fails", "b_fails", "both_work"]}
    with pm.Model(coords=coords) as model:
        mode = pm.Uniform("mode", low, high)
        log_scale = pm.Normal("log_scale", np.log(_TYPICAL_SCALE * (high - low)), _SCALE_SD)
        log_skew = pm.Normal("log_skew", 0, _SKEW_SD)
        freedom = pm.Gamma("degrees_of_freedom", *_TAILS)
        below, above = pt.exp(log_scale - log_skew), pt.exp(log_scale + log_skew)
        law = (mode, below, above, freedom)
        mean = _two_piece_moments(mode, below, above, freedom, low, high)[1]
        further: dict[str, Any] = {}
        if failures:
            share = pm.Dirichlet("share", np.array(_FAILURES), dims="state")
            # above 1: failures are large, and near-ties are none
            power = 1 + pt.exp(pm.Normal("log_failure_excess", 0, _FAILURE_POWER_SD))
            further |= {"share": share, "power": power}
            mean = share[2] * mean + power / (power + 1) * (share[0] * low + share[1] * high)
        if not values.all():
            further["p_equal"] = pm.Uniform("p_equal")
            mean = (1 - further["p_equal"]) * mean
        cores = ["()"] * 4 + ["(k)" if name == "share" else "()" for name in further]
        pm.CustomDist(
            "case_difference",
            *law,
            *further.values(),
            logp=_case_logp(tuple(further), low, high),
            random=_case_draws(tuple(further), low, high),
            signature=f"{','.join(cores)}->()",
            observed=pm.Data("given_difference", values, dims="case"),
            dims="case",
        )
        pm.Deterministic("difference", mean)
    return model


def _checked_differences(
    differences: ArrayLike, bounds: tuple[float, float], names: Sequence[str] | None
) -> tuple[FloatArray, tuple[str, ...]]:
    low, high = bounds
    if not (np.isfinite(low) and np.isfinite(high) and low < 0 < high):
        raise InputError(f"bounds of a difference are finite, below and above 0, got {bounds}")
    values = np.asarray(differences, np.float64)
    values = np.where(np.abs(values) <= _TIE * (high - low), 0.0, values)
    if values.ndim != 1 or np.count_nonzero(values) < 3:
        raise InputError(
            "differences are one number per case, at least 3 of them not 0, got shape "
            f"{values.shape} with {np.count_nonzero(values)} not 0"
        )
    cases = checked_labels(names, values.size, "case")
    wrong = ~((values >= low) & (values <= high))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise InputError(
            f"a difference lies between {low:g} and {high:g}, got {values[first]:g} for case "
            f"{cases[first]!r}"
        )
    return values, cases


def _two_piece_moments(
    mode: Any, below: Any, above: Any, freedom: Any, low: float, high: float
) -> tuple[Any, Any]:
    """Mass of the kernel between the bounds, and mean of the law."""
    zeroth_below, first_below = _half_moments((mode - low) / below, freedom)
    zeroth_above, first_above = _half_moments((high - mode) / above, freedom)
    mass = below * zeroth_below + above * zeroth_above
    return mass, mode + (above**2 * first_above - below**2 * first_below) / mass


def _half_moments(reach: Any, freedom: Any) -> tuple[Any, Any]:
    """Integrals of k and of z k from 0 to ``reach``, with nodes that are dense near 0."""
    x, w = np.polynomial.legendre.leggauss(_NODES)
    largest = pt.arcsinh(reach)[..., None]
    u = largest * (x + 1) / 2
    z = pt.sinh(u)
    weight = largest * w / 2 * pt.cosh(u) * pt.exp(_log_kernel(z, freedom[..., None]))
    return pt.sum(weight, axis=-1), pt.sum(weight * z, axis=-1)


def _log_kernel(z: Any, freedom: Any) -> Any:
    return -(freedom + 1) / 2 * pt.log1p(z**2 / freedom)


def case_difference_logp(
    x: Any,
    mode: Any,
    below: Any,
    above: Any,
    freedom: Any,
    *,
    share: Any = None,
    power: Any = None,
    p_equal: Any = None,
    bounds: tuple[float, float] = (-1.0, 1.0),
) -> Any:
    r"""Log density of a case's difference, as a function of tensors, for models of your own.

    .. math:: p(x) = (1 - p_0) \Big[w\, p_{work}(x) + w_{A|B}\,
              \frac{a}{|b|} \Big(\frac{x}{b}\Big)^{a - 1}\Big], \quad P(0) = p_0

    with b the bound on the side of x.

    Parameters
    ----------
    x : tensor
        Differences of cases.
    mode, below, above, freedom : tensor
        Mode, scales below and above it, and degrees of freedom of the two-piece law; broadcast.
    share : tensor, shape (..., 3), optional
        Shares of cases where A fails, B fails and both work. Default: none fails.
    power : tensor, optional
        Power a of the sizes of failures, with ``share``.
    p_equal : tensor, optional
        Probability of a difference of exactly 0.
    bounds : (float, float)
        Range of a difference.

    Returns
    -------
    tensor
        Log density, the log probability for an x of 0 where ``p_equal`` is given.

    Examples
    --------
    >>> float(case_difference_logp(0.02, 0.0, 0.05, 0.05, 5.0).eval().round(3))
    1.933
    """
    low, high = bounds
    x, mode, below, above, freedom = map(pt.as_tensor, (x, mode, below, above, freedom))
    # the density of failures has no gradient at 0, which has a probability of its own
    value = x if p_equal is None else pt.switch(pt.eq(x, 0), high / 2, x)
    mass = _two_piece_moments(mode, below, above, freedom, low, high)[0]
    z = (value - mode) / pt.switch(value < mode, below, above)
    density = _log_kernel(z, freedom) - pt.log(mass)
    if share is not None:
        bound = pt.switch(value < 0, low, high)
        which = pt.switch(value < 0, share[..., 0], share[..., 1])
        failure = pt.log(which * power / pt.abs(bound)) + (power - 1) * pt.log(value / bound)
        density = pt.logaddexp(pt.log(share[..., 2]) + density, failure)
    if p_equal is None:
        return density
    return pt.switch(pt.eq(x, 0), pt.log(p_equal), pt.log1p(-p_equal) + density)


def _case_logp(further: tuple[str, ...], low: float, high: float) -> Any:
    def logp(x: Any, *law: Any) -> Any:
        more = dict(zip(further, law[4:], strict=True))
        return case_difference_logp(x, *law[:4], bounds=(low, high), **more)

    return logp


def _case_draws(further: tuple[str, ...], low: float, high: float) -> Any:
    """Fresh cases: by inversion on each side where both work, failures, and equal ones."""

    def random(*law: Any, rng: Any = None, size: Any = None) -> Any:
        parameters, more = np.broadcast_arrays(*law[:4]), dict(zip(further, law[4:], strict=True))
        mode, below, above, freedom = (np.broadcast_to(x, size or x.shape) for x in parameters)
        left = stdtr(freedom, (mode - low) / below) - 0.5
        right = stdtr(freedom, (high - mode) / above) - 0.5
        up = rng.random(mode.shape) * (below * left + above * right) < above * right
        level = rng.random(mode.shape) * np.where(up, right, left)
        z = stdtrit(freedom, 0.5 + level)
        drawn = np.clip(mode + np.where(up, above, -below) * z, low, high)
        if "share" in more:
            share, power = more["share"], more["power"]
            chance, part = rng.random(mode.shape), rng.random(mode.shape) ** (1 / power)
            either = np.where(chance < share[..., 0], part * low, part * high)
            drawn = np.where(chance < share[..., 0] + share[..., 1], either, drawn)
        if "p_equal" in more:
            drawn = np.where(rng.random(mode.shape) < more["p_equal"], 0.0, drawn)
        return drawn

    return random


def build_metric_differences(
    differences: ArrayLike,
    metrics: Sequence[str] | None = None,
    *,
    student: bool = False,
    correlation_shape: float = 2.0,
) -> pm.Model:
    r"""Model of the differences of several metrics on the same cases, jointly.

    .. math::
        d_i \sim N(\mu, \Sigma), \quad \mu_k / s_k \sim N(0, 5), \quad
        \log(\sigma_k / s_k) \sim N(0, 1), \quad corr \sim LKJ(\eta)

    with s the standard deviations of the data as units. It answers whether A is better on every
    metric, or on at least one.

    Parameters
    ----------
    differences : array_like, shape (n_cases, n_metrics)
        A minus B, signed so that positive is better for A, in any unit.
    metrics : sequence of str, optional
        Names of the metrics.
    student : bool
        Student's t in place of the normal law, its degrees of freedom learnt. Its location is
        the mean only where the differences are symmetric: for skewed ones it answers another
        question than the claim asks, however well it fits.
    correlation_shape : float
        eta; 1 is flat over correlation matrices.

    Returns
    -------
    pm.Model
        Free ``standardized_difference`` (metric,), ``covariance_root`` (triangle: the lower
        triangle of the Cholesky factor of Sigma in units of s, row by row) and maybe
        ``excess_degrees_of_freedom``; deterministic ``difference`` and ``relative_sd`` (metric,)
        and ``correlation`` (metric_pair). Observed ``metric_difference`` (case, metric), in units
        of s.

    Raises
    ------
    InputError
        Not a matrix with two metrics and more cases than metrics, a metric without spread.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> model = build_metric_differences(rng.standard_normal((50, 2)), ["Dice", "NSD"])
    >>> model.named_vars_to_dims["difference"]
    ('metric',)
    """
    values = np.asarray(differences, np.float64)
    units = _units(values)
    names = list(checked_labels(metrics, values.shape[1], "metric"))
    if not correlation_shape > 0:
        raise InputError(f"correlation_shape must be positive, got {correlation_shape:g}")
    k = len(names)
    below = np.tril_indices(k, -1)
    numbers = np.arange(1, len(values) + 1)
    coords = {
        "case": numbers,
        "metric": names,
        "metric_pair": [f"{names[i]}, {names[j]}" for i, j in zip(*below, strict=True)],
        "triangle": [f"{names[i]}, {names[j]}" for i in range(k) for j in range(i + 1)],
    }
    with pm.Model(coords=coords) as model:
        mean = pm.Normal("standardized_difference", 0, _MEAN_SD, dims="metric")
        packed = pm.LKJCholeskyCov(
            "covariance_root",
            n=k,
            eta=correlation_shape,
            sd_dist=pm.LogNormal.dist(0, 1, shape=k),
            compute_corr=False,
            dims="triangle",
        )
        root = pm.math.expand_packed_triangular(k, packed)
        sd = pm.Deterministic("relative_sd", pt.sqrt(pt.sum(root**2, axis=1)), dims="metric")
        correlation = (root @ root.T / pt.outer(sd, sd))[below]
        pm.Deterministic("correlation", correlation, dims="metric_pair")
        pm.Deterministic("difference", mean * pm.Data("unit", units, dims="metric"), dims="metric")
        settings: dict[str, Any] = {
            "mu": mean,
            "chol": root,
            "observed": values / units,
            "dims": ("case", "metric"),
        }
        if student:
            freedom = 2 + pm.Gamma("excess_degrees_of_freedom", *_TAILS)
            pm.MvStudentT("metric_difference", nu=freedom, **settings)
        else:
            pm.MvNormal("metric_difference", **settings)
    return model


def _units(values: FloatArray) -> FloatArray:
    """Standard deviation of each metric's differences."""
    if values.ndim != 2 or values.shape[1] < 2 or values.shape[0] <= values.shape[1]:
        raise InputError(
            "differences are cases x metrics, at least 2 metrics and more cases than metrics, got "
            f"shape {values.shape}"
        )
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0] + 1
        raise InputError(f"every difference must be finite, see case {row}, metric {column}")
    units = values.std(axis=0, ddof=1)
    if not np.all(units > 0):
        column = int(np.argmin(units)) + 1
        raise InputError(f"metric {column} has the same difference for every case: no spread")
    return np.asarray(units)
