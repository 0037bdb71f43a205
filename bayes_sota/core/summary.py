"""From a result to tables of estimands; no model and no plot here.

Intervals are equal-tailed. ``mcse`` is the Monte Carlo standard error of the mean: for independent
draws ``sd / sqrt(number of draws)``, else ArviZ's.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, SHARE, Range
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
    if var_names is None and "theta_sota" not in tree["posterior"]:
        raise InputError(_elsewhere(tree))
    names = [n for n in ESTIMANDS if _holds(tree, n)] if var_names is None else var_names
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


def _elsewhere(tree: "xr.DataTree") -> str:
    """Where the table of a result without theta_sota is."""
    posterior = tree["posterior"]
    if "epp" in posterior:
        return "this result is a tournament: summarize_epp and epp_table have its table"
    if "difference" in posterior:
        return "this result is about a claim: summarize_claim has its table"
    held = ", ".join(map(str, posterior.data_vars))
    return f"this result has no theta_sota: var_names chooses of {held}"


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


def probability_truly_better(
    tree: "xr.DataTree", score: float, n_test: int, *, board: int = 0
) -> float:
    r"""Probability that a new classifier of a given score has a skill above theta_sota.

    The new classifier is one more of the field, with skill drawn from P(theta), and got
    ``score * n_test`` of ``n_test`` *other* items right. Given the hyperparameters of a draw its
    skill has density proportional to :math:`\theta^x (1-\theta)^{n-x} p(\theta \mid \phi)`.

    Parameters
    ----------
    tree : DataTree
        A result whose skill family is that of its attribute ``priors``.
    score : float
        Accuracy of the new classifier.
    n_test : int
        Number of items that it was scored on.
    board : int
        Which board's theta_sota.

    Returns
    -------
    float
    """
    SHARE.check(score, "score")
    COUNT.check(n_test, "n_test")
    from bayes_sota.core.priors import SKILL_FAMILIES

    family = str(tree.attrs.get("skill_family", "logit-normal"))
    if family not in SKILL_FAMILIES:
        raise InputError("a new classifier is compared where the maximum of a board alone is known")
    location, spread = (draws_of(tree, name).ravel() for name in ("location", "spread"))
    shape = group_of(tree, "theta_sota")["theta_sota"].shape
    boards = shape[2] if len(shape) == 3 else 1
    Range(0, boards - 1, whole=True).check(board, "board")
    theta = draws_of(tree, "theta_sota", board).ravel()
    successes = round(score * n_test)
    return float(np.mean(_posterior_above(family, location, spread, theta, successes, n_test)))


def _posterior_above(
    family: str,
    location: FloatArray,
    spread: FloatArray,
    theta: FloatArray,
    successes: int,
    n_test: int,
) -> FloatArray:
    """Per draw, the posterior probability of a skill above ``theta``, on a grid of log odds."""
    from bayes_sota.core.priors import SKILL_FAMILIES

    centre = (successes + 0.5) / (n_test + 1)
    width = 1 / np.sqrt((n_test + 2) * centre * (1 - centre))
    u = np.log(centre / (1 - centre)) + width * np.linspace(-9, 9, 401)
    log_skill, log_error = -np.logaddexp(0, -u), -np.logaddexp(0, u)
    likelihood = successes * log_skill + (n_test - successes) * log_error
    field = SKILL_FAMILIES[family]().distribution(location[:, None], spread[:, None])
    coordinate = field.from_skill(np.exp(log_skill))
    weight = -np.diff(field.sf(coordinate), axis=1)
    middle = np.exp(likelihood - likelihood.max())
    mass = weight * (middle[1:] + middle[:-1]) / 2
    above = (u[1:] + u[:-1]) / 2 > np.log(theta / (1 - theta))[:, None]
    total = mass.sum(axis=1)
    share = np.divide((mass * above).sum(axis=1), total, where=total > 0, out=np.zeros_like(total))
    return np.asarray(share)


def draws_of(tree: "xr.DataTree", name: str, board: int = 0) -> FloatArray:
    """Draws of a variable, shape (chain, draw)."""
    values = np.asarray(group_of(tree, name)[name].values, dtype=np.float64)
    return values[..., board] if values.ndim == 3 else values


def observed_maximum_of(tree: "xr.DataTree") -> "xr.DataArray":
    """Best observed score: an observation where it alone is known, else what the scores say."""
    group = "observed_data" if "observed_maximum" in tree["observed_data"] else "constant_data"
    return tree[group].to_dataset()["observed_maximum"]


def group_of(tree: "xr.DataTree", name: str) -> "xr.DataTree":
    """The group that holds a variable."""
    for group in _DRAWN:
        if group in tree.children and name in tree[group]:
            return tree[group]
    raise InputError(f"the result has no variable {name!r}")


def _holds(tree: "xr.DataTree", name: str) -> bool:
    return any(group in tree.children and name in tree[group] for group in _DRAWN)
