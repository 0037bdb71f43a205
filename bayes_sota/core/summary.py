"""From a result to tables of estimands; no model and no plot here.

Intervals are equal-tailed. ``mcse`` is the Monte Carlo standard error of the mean: for independent
draws ``sd / sqrt(number of draws)``, else ArviZ's.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import NUMBER, OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.schema import ESTIMANDS
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_R_HAT, _ESS = 1.02, 400.0
_DRAWN = ("posterior", "predictions", "posterior_predictive")


def estimand_summary(
    tree: "xr.DataTree", name: str, ci_prob: float = 0.95, board: int = 0
) -> dict[str, Any]:
    """Mean, median, sd, interval and mcse of one quantity.

    Parameters
    ----------
    tree : DataTree
        A result.
    name : str
        Variable of ``posterior`` or ``predictions``.
    ci_prob : float
        Probability of the equal-tailed interval.
    board : int
        Which board, where there are several.
    """
    return _summary(tree, draws_of(tree, name, board), ci_prob)


def _summary(tree: "xr.DataTree", values: FloatArray, ci_prob: float) -> dict[str, Any]:
    summary = summarize_draws(values, ci_prob)
    if not int(tree.attrs.get("draws_are_independent", 0)):
        import arviz as az

        summary["mcse"] = float(az.mcse(values))
    return summary


def summarize_draws(values: FloatArray, ci_prob: float = 0.95) -> dict[str, Any]:
    """Mean, median, sd, interval and mcse of independent draws."""
    OPEN_SHARE.check(ci_prob, "ci_prob")
    low, high = np.quantile(values, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "sd": sd,
        "interval": [float(low), float(high)],
        "mcse": sd / values.size**0.5 if values.size > 1 else float("nan"),
    }


def summarize(
    tree: "xr.DataTree", ci_prob: float = 0.95, var_names: list[str] | None = None
) -> "pd.DataFrame":
    """Table of the estimands, one row per quantity (and board, player, ...).

    Parameters
    ----------
    tree : DataTree
        A result.
    ci_prob : float
        Probability of the equal-tailed interval.
    var_names : list of str, optional
        Default: the estimands of ``bayes_sota.core.schema.ESTIMANDS`` that the result holds.

    Returns
    -------
    pandas.DataFrame
        Columns mean, median, sd, lower, upper, mcse.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> bs.summarize(bs.estimate_sota(board, random_seed=0)).loc["theta_sota", "upper"] < 1
    np.True_
    """
    import pandas as pd

    if "posterior" not in tree.children:
        raise InputError(
            'this result has no draws to summarize; a point estimate is in tree["point_estimate"]'
        )
    names = [n for n in ESTIMANDS if _holds(tree, n)] if var_names is None else var_names
    if not names:
        held = ", ".join(map(str, tree["posterior"].data_vars))
        raise InputError(f"this result has no theta_sota: var_names chooses of {held}")
    rows = {}
    for name in names:
        for label, values in _parts(group_of(tree, name)[name]):
            row = _summary(tree, values, ci_prob)
            row["lower"], row["upper"] = row.pop("interval")
            rows[f"{name}[{label}]" if label else name] = row
    columns = ["mean", "median", "sd", "lower", "upper", "mcse"]
    return pd.DataFrame.from_dict(rows, orient="index")[columns]


def _parts(variable: "xr.DataArray") -> Iterator[tuple[str, FloatArray]]:
    """Draws (chain, draw) of each place of a variable, with its label; a single board has none."""
    over = [dim for dim in variable.dims if dim not in ("chain", "draw")]
    variable = variable.transpose("chain", "draw", *over)
    single = over == ["board"] and variable.sizes["board"] == 1
    for place in np.ndindex(*(variable.sizes[dim] for dim in over)):
        here = variable.isel(dict(zip(over, place, strict=True)))
        names = [
            str(variable[dim].values[at]) if dim in variable.coords else str(at)
            for dim, at in zip(over, place, strict=True)
        ]
        yield "" if single else ", ".join(names), np.asarray(here.values, dtype=np.float64)


def diagnose(tree: "xr.DataTree") -> dict[str, Any]:
    """Whether the result can be trusted, and why not.

    Returns
    -------
    dict
        ``ok``, ``reasons``, and for dependent draws ``r_hat`` and ``ess_bulk`` of theta_sota, of
        the difference where a result is about a claim, or of the skills of a tournament.
    """
    reasons = [r for r in str(tree.attrs.get("diagnostics_reasons", "")).split("; ") if r]
    result: dict[str, Any] = {}
    name = next(n for n in ("theta_sota", "difference", "epp") if n in tree["posterior"])
    if not np.isfinite(tree["posterior"][name].values).all():
        reasons.append(f"{name} has draws that are not finite")
    elif not int(tree.attrs.get("draws_are_independent", 0)):
        import arviz as az

        checked = tree["posterior"].to_dataset()[[name]]
        result["r_hat"] = float(np.max(az.rhat(checked)[name].values))
        result["ess_bulk"] = float(np.min(az.ess(checked)[name].values))
        if result["r_hat"] > _R_HAT:
            reasons.append(f"r_hat of {name} is {result['r_hat']:.3f}, above {_R_HAT}")
        if result["ess_bulk"] < _ESS:
            reasons.append(f"bulk ESS of {name} is {result['ess_bulk']:.0f}, below {_ESS:.0f}")
    for name in ("log_evidence", "epsilon", "grid_edge_probability", "divergences"):
        if name in tree.attrs:
            result[name] = tree.attrs[name]
    return {"ok": not reasons, "reasons": reasons, **result}


def probability_above(tree: "xr.DataTree", threshold: float, board: int = 0) -> dict[str, float]:
    r"""Probability that the best skill exceeds a threshold.

    .. math:: P(\theta_{sota} > t \mid data) \approx \frac1D \sum_d 1[\theta_{sota, d} > t]

    Where lower scores are better it is still the probability of a larger number.

    Parameters
    ----------
    tree : DataTree
        A result with draws of theta_sota.
    threshold : float
        The skill t, in the units of theta_sota.
    board : int
        Which board's theta_sota, where there are several.

    Returns
    -------
    dict
        ``threshold``, ``probability`` and its Monte Carlo standard error ``mcse``.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> found = probability_above(bs.estimate_sota(board, random_seed=0), 0.95)
    >>> 0.8 < found["probability"] < 1
    True
    """
    return share_above(draws_of(tree, "theta_sota", board), threshold, tree.attrs)


def share_above(
    best: FloatArray, threshold: float, attributes: Mapping[Any, Any]
) -> dict[str, float]:
    """Share of draws (chain, draw) above a threshold, as of ``probability_above``."""
    NUMBER.check(threshold, "above")
    above = (best > threshold).astype(np.float64)
    return {"threshold": float(threshold)} | weighted_chance(above, attributes)


def weighted_chance(
    chances: FloatArray, attributes: Mapping[Any, Any], log_weights: FloatArray | None = None
) -> dict[str, float]:
    r"""Mean of a probability over draws, with its Monte Carlo error.

    .. math:: \hat p = \sum_d w_d p_d, \quad
              \mathrm{mcse}^2 = \sum_d w_d^2 (p_d - \hat p)^2, \quad \sum_d w_d = 1

    More, by the ratio of their mcse, where the draws depend on each other or come from weighted
    points.

    Parameters
    ----------
    chances : ndarray, shape (chain, draw)
        The probability given each draw.
    attributes : mapping
        Of the result: whether draws are independent, and behind how many points.
    log_weights : ndarray, shape (chain, draw), optional
        Log likelihood of what was learnt after the draws were made; default equal.

    Returns
    -------
    dict
        ``probability``, ``mcse`` and with weights ``effective_draws``, :math:`1 / \sum_d w_d^2`.
    """
    weights = np.ones(chances.shape)
    if log_weights is not None:
        weights = np.exp(log_weights - log_weights.max())
    weights = weights / weights.sum()
    mean = float(np.sum(weights * chances))
    variance = float(np.sum(weights**2 * (chances - mean) ** 2))
    points = float(attributes.get("importance_effective_size", np.inf))
    variance *= 1 + chances.size / points
    if variance and not int(attributes.get("draws_are_independent", 0)):
        import arviz as az

        spread = float(np.std(chances)) / chances.size**0.5
        variance *= max(1.0, float(az.mcse(chances)) / spread) ** 2 if spread else 1.0
    found = {"probability": min(max(mean, 0.0), 1.0), "mcse": variance**0.5}
    if log_weights is not None:
        found["effective_draws"] = float(1 / np.sum(weights**2))
    return found


def draws_of(tree: "xr.DataTree", name: str, board: int = 0) -> FloatArray:
    """Draws of a variable, shape (chain, draw)."""
    values = np.asarray(group_of(tree, name)[name].values, dtype=np.float64)
    return values[..., board] if values.ndim == 3 else values


def observed_maximum_of(tree: "xr.DataTree") -> "xr.DataArray":
    """Best observed score, by board where there are several.

    It is an observation where it alone is known, else a constant that the scores say.
    """
    group = "observed_data" if "observed_maximum" in tree["observed_data"] else "constant_data"
    found = tree[group].to_dataset()["observed_maximum"]
    return found.isel(board=0, drop=True) if found.sizes.get("board") == 1 else found


def group_of(tree: "xr.DataTree", name: str) -> "xr.DataTree":
    """The group that holds a variable."""
    for group in _DRAWN:
        if group in tree.children and name in tree[group]:
            return tree[group]
    raise InputError(f"the result has no variable {name!r}")


def _holds(tree: "xr.DataTree", name: str) -> bool:
    return any(group in tree.children and name in tree[group] for group in _DRAWN)
