"""Summaries of results: tables of estimands, probabilities, diagnostics, small reports.

Intervals are equal-tailed. ``mcse``, the Monte Carlo standard error of the mean, is
``sd / sqrt(number of draws)`` for independent draws, ``cluster_mcse`` for weighted points, else
ArviZ's (``tests/core/test_summary.py``, ``tests/test_arviz.py``).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.arguments import NUMBER, OPEN_SHARE, SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import cluster_mcse, share_mcse
from bayes_sota.core.sample import DRAWN, seed_number, share_of_draws
from bayes_sota.core.schema import CHANCES, ESTIMANDS, dataset_of
from bayes_sota.core.tables import Report, Table, table_of
from bayes_sota.core.text import as_sentences, counted
from bayes_sota.core.types import FloatArray

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


_R_HAT, _ESS = 1.02, 100.0  # the latter of each chain
_GROUPS = ("posterior", "predictions", "posterior_predictive")
_AGAINST_WINNER = ("difference", "p_false")
_COLUMNS = ["mean", "median", "sd", "lower", "upper", "mcse"]


type Points = tuple[NDArray[Any], NDArray[Any]]  # of each draw, and its stratum: cluster_mcse
type ErrorOfMean = Callable[[FloatArray], float]  # mcse of the mean of draws (chain, draw)


def estimand_summary(
    tree: "xr.DataTree", name: str, ci_prob: float = 0.95, board: int = 0
) -> dict[str, Any]:
    """``summarize_draws`` of a variable of a result."""
    return summarize_draws(draws_of(tree, name, board), ci_prob, mcse_of(tree))


def mcse_of(tree: "xr.DataTree") -> ErrorOfMean:
    """Function for the mcse of a mean of draws."""
    if not int(tree.attrs.get("draws_are_independent", 0)):
        import arviz as az

        return lambda values: float(az.mcse(values))
    stats = dataset_of(tree, "sample_stats")
    if "point" not in stats:
        return error_of_mean
    return partial(error_of_mean, points=(stats["point"].values, stats["stratum"].values))


def error_of_mean(values: FloatArray, points: Points | None = None) -> float:
    """Error of the mean of independent draws, or of those behind two or more points; else NaN."""
    if values.size < 2 or (points is not None and np.ptp(points[0]) == 0):
        return float("nan")
    if points is None:
        return float(values.std(ddof=1) / values.size**0.5)
    return float(cluster_mcse(values.ravel(), *map(np.ravel, points)))


def summarize_draws(
    values: FloatArray, ci_prob: float = 0.95, error: ErrorOfMean = error_of_mean
) -> dict[str, Any]:
    """Mean, median, sd, interval and mcse of draws."""
    OPEN_SHARE.check(ci_prob, "ci_prob")
    low, high = np.quantile(values, [(1 - ci_prob) / 2, (1 + ci_prob) / 2])
    sd = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return {
        "mean": float(values.mean()),
        "median": float(np.median(values)),
        "sd": sd,
        "interval": [float(low), float(high)],
        "mcse": error(values),
    }


def summarize_difference(draws: FloatArray, ci_prob: float = 0.95) -> dict[str, Any]:
    """Mean, sd, interval and ``p_better``, the share of positive draws."""
    found = summarize_draws(draws, ci_prob)
    kept = {key: found[key] for key in ("mean", "sd", "interval")}
    return kept | {"p_better": float(np.mean(draws > 0))}


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
        Default: ``ESTIMANDS`` and ``CHANCES`` of ``bayes_sota.core.schema``, and ``p_best`` of
        players.

    Returns
    -------
    pandas.DataFrame
        Columns mean, median, sd, lower, upper, mcse. A probability has only a mean, its value, and
        an mcse, 0 if it is computed without draws.

    Raises
    ------
    InputError
        No draws, or no such variable.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> bs.summarize(bs.estimate_sota(board, random_seed=0)).loc["theta_sota", "upper"] < 1
    np.True_
    """
    import pandas as pd

    if not dataset_of(tree, "posterior"):
        fix = 'read tree["point_estimate"]' * ("point_estimate" in tree.children)
        raise InputError("this result has no draws", fix=fix)
    held = {name for group in _GROUPS for name in dataset_of(tree, group)}
    names = [name for name in ESTIMANDS if name in held] if var_names is None else var_names
    if not names:
        choice = ", ".join(map(str, tree["posterior"].data_vars))
        raise InputError(f"this result has no theta_sota: var_names chooses of {choice}")
    rows, error_of = {}, mcse_of(tree)
    for name in names:
        drawn = group_of(tree, name).dataset[name].transpose(*DRAWN, ...)
        for label, part in _places(name, drawn):
            rows[label] = summarize_draws(np.asarray(part, np.float64), ci_prob, error_of)
            rows[label]["lower"], rows[label]["upper"] = rows[label].pop("interval")
    if var_names is None:
        for name, p, se in _chances(tree):
            for (label, mean), (_, mcse) in zip(_places(name, p), _places(name, se), strict=True):
                rows[label] = {"mean": float(mean), "mcse": float(mcse)}
        for name in _AGAINST_WINNER:  # who is not compared with itself
            rows.pop(f"{name}[{tree.attrs.get('winner')}]", None)
    return pd.DataFrame.from_dict(rows, orient="index").reindex(columns=_COLUMNS)


def _chances(tree: "xr.DataTree") -> Iterator[tuple[str, "xr.DataArray", "xr.DataArray"]]:
    stated, drawn = dataset_of(tree, "point_estimate"), dataset_of(tree, "posterior")
    size = drawn.sizes["chain"] * drawn.sizes["draw"]
    for name in (name for name in CHANCES if name in stated):
        p = stated[name]
        errors = {"p_false": p * 0, "p_best_uncorrected": share_mcse(p, size)}
        yield name, p, stated.get(f"{name}_mcse", errors.get(name, p * np.nan))
    if "epp" in drawn:
        best = share_of_draws(drawn["epp"] == drawn["epp"].max("player"), "p_best")
        yield "p_best", best["p_best"], best["p_best_mcse"]


def _places(name: str, variable: "xr.DataArray") -> Iterator[tuple[str, Any]]:
    from arviz_base import xarray_var_iter
    from arviz_base.labels import BaseLabeller

    if variable.sizes.get("board") == 1:
        variable = variable.squeeze("board", drop=True)
    for _, *place, values in xarray_var_iter(variable.to_dataset(name=name), skip_dims={*DRAWN}):
        yield BaseLabeller().make_label_flat(name, *place), values


def how_drawn(tree: "xr.DataTree") -> str:
    """Method, number of draws and seed, for a paper."""
    sizes, method = tree["posterior"].sizes, str(tree.attrs.get("method", "exact"))
    chains, each = counted(sizes["chain"], "chain"), counted(sizes["draw"], "draw")
    draws = f"{sizes['chain'] * sizes['draw']:,}"
    routes = {
        "exact": f"{draws} independent draws of the exact posterior",
        "nuts": f"NUTS with {chains} of {each}",
        "abc": f"{draws} draws by approximate Bayesian computation (ABC/SMC)",
    }
    return f"{routes.get(method, f'{draws} draws by {method}')}, seed {seed_of(tree)}"


def seed_of(tree: "xr.DataTree") -> int | str:
    """Seed of a result."""
    return seed_number(str(tree.attrs["random_seed"]))


def diagnose(tree: "xr.DataTree") -> dict[str, Any]:
    """Check whether a result can be trusted.

    Returns
    -------
    dict
        ``ok``, ``reasons``, and for dependent draws the largest ``r_hat`` and the smallest
        ``ess_bulk`` of theta_sota (difference, epp) and of all sampled variables.
    """
    drawn = dataset_of(tree, "posterior")
    reasons = [r for r in str(tree.attrs.get("diagnostics_reasons", "")).split("; ") if r]
    result: dict[str, Any] = {}
    name = next((n for n in ("theta_sota", "difference") if n in drawn), "epp")
    if not np.isfinite(group_of(tree, name)[name]).all():
        reasons.append(f"{name} has draws that are not finite")
    elif not int(tree.attrs.get("draws_are_independent", 0)):
        import arviz as az

        sampled = [n for n in dataset_of(tree, "log_prior") if n in drawn and n != name]
        checked = drawn[[name, *sampled]]
        r_hats, sizes = az.rhat(checked).max(skipna=False), az.ess(checked).min(skipna=False)
        result["r_hat"] = float(np.max(r_hats.to_array().values))
        result["ess_bulk"] = float(np.min(sizes.to_array().values))
        for of in checked:
            if not r_hats[of] <= _R_HAT:  # of one chain there is none
                reasons.append(f"r_hat of {of} is {float(r_hats[of]):.3f}, above {_R_HAT}")
            if not sizes[of] >= _ESS * checked.sizes["chain"]:
                reasons.append(f"bulk ESS of {of} is {int(sizes[of])}, below {_ESS:.0f} a chain")
    stated = ("log_evidence", "epsilon", "effective_points", "divergences")
    result |= {name: tree.attrs[name] for name in stated if name in tree.attrs}
    return {"ok": not reasons, "reasons": reasons, **result}


def probability_above(tree: "xr.DataTree", threshold: float, board: int = 0) -> dict[str, float]:
    r"""Probability that the best skill exceeds a threshold, even where lower scores are better.

    .. math:: P(\theta_{sota} > t \mid data) \approx \frac1D \sum_d 1[\theta_{sota, d} > t]

    Parameters
    ----------
    tree : DataTree
        A result with draws of theta_sota.
    threshold : float
        The skill t; accuracies and AUCs are shares.
    board : int
        Index of the board, if there are several.

    Returns
    -------
    dict
        ``threshold``, ``probability`` and its Monte Carlo standard error ``mcse``.

    Raises
    ------
    InputError
        A threshold or board out of range, or no theta_sota.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.BestScore("0.98", n_test=200, n_classifiers=50)
    >>> tree = bs.estimate_sota(board, random_seed=0)
    >>> 0.8 < probability_above(tree, 0.95)["probability"] < 1
    True
    """
    shares = tree.attrs.get("metric") in ("accuracy", "auc")
    (SHARE if shares else NUMBER).check(threshold, "threshold")
    above = draws_of(tree, "theta_sota", board) > threshold
    chance = weighted_chance(above.astype(np.float64), mcse_of(tree))
    return {"threshold": float(threshold)} | chance


def weighted_chance(
    chances: FloatArray, error: ErrorOfMean, log_weights: FloatArray | None = None
) -> dict[str, float]:
    r"""Mean of a probability over draws, with its Monte Carlo error.

    .. math:: \hat p = \sum_d w_d p_d, \quad
              \mathrm{mcse}^2 = \sum_d w_d^2 (p_d - \hat p)^2, \quad \sum_d w_d = 1

    scaled by the ratio of ``error`` (see ``mcse_of``) to that of independent draws. The largest
    variance with this mean counts as one more draw. ``chances`` and ``log_weights``, log
    likelihoods of later data, have shape (chain, draw).
    """
    weights = np.ones(chances.shape)
    if log_weights is not None:
        weights = np.exp(log_weights - log_weights.max())
    weights = weights / weights.sum()
    mean = float(np.sum(weights * chances))
    variance = float(np.sum(weights**2 * (chances - mean) ** 2))
    inflation = 1.0
    if np.ptp(chances):
        inflation = max(1.0, (error(chances) / error_of_mean(chances)) ** 2)
    p, draws = min(max(mean, 0.0), 1.0), float(1 / np.sum(weights**2))
    counted = share_mcse(p, draws / inflation)
    variance = (draws * variance + p * (1 - p) / draws) / (draws + 1)
    answer = {"probability": p, "mcse": (variance * inflation) ** 0.5 if 0 < p < 1 else counted}
    return answer if log_weights is None else answer | {"effective_draws": draws}


def draws_of(tree: "xr.DataTree", name: str, board: int = 0) -> FloatArray:
    """Draws of a variable, of one of several boards, (chain, draw)."""
    values = np.atleast_3d(np.asarray(group_of(tree, name)[name].values, dtype=np.float64))
    return values[..., Range(0, values.shape[2] - 1, whole=True).check(board, "board")]


def observed_maximum_of(tree: "xr.DataTree") -> "xr.DataArray":
    """Best observed score, by board if there are several."""
    seen = dataset_of(tree, "observed_data")
    known = seen if "observed_maximum" in seen else dataset_of(tree, "constant_data")
    observed = known["observed_maximum"]
    return observed.isel(board=0, drop=True) if observed.sizes.get("board") == 1 else observed


def group_of(tree: "xr.DataTree", name: str) -> "xr.DataTree":
    """The group that contains a variable."""
    for group in _GROUPS:
        if name in dataset_of(tree, group):
            return tree.children[group]
    raise InputError(f"no variable {name!r}; complete a trace first: bs.leaderboard.complete, ...")


def numbers_report(rows: Sequence[tuple[str, Any, str]], **described: Any) -> Report:
    """Report of a few numbers: rows of name, value and text."""
    cells = [{"quantity": name, "value": value} for name, value, _ in rows]
    table = Table(["quantity", "value"], [[name, text] for name, _, text in rows])
    paragraph = [*described["sentences"], *as_sentences(described["content"]["notes"])]
    facts: dict[str, Any] = {"in_words": True, "paragraph": paragraph} | described
    return Report(make_frame=partial(frame_of, cells), tables=[table], **facts)


def list_report(
    kind: str, records: Sequence[Mapping[str, Any]], columns: Mapping[str, str], **described: Any
) -> Report:
    """Report of a list: ``kind`` is its key in ``--json``, ``records`` the rows of a CSV file."""
    content = {kind: list(records)} | described.pop("content", {})
    return Report(
        make_frame=partial(frame_of, records),
        content=content,
        tables=[table_of(records, columns)],
        **described,
    )


def frame_of(records: Sequence[Mapping[str, Any]]) -> "pd.DataFrame":
    """Data frame with a row per record; whole numbers stay whole where some are missing.

    >>> frame_of([{"seed": 2**62 + 1}, {}])["seed"].tolist()
    [4611686018427387905, <NA>]
    """
    import pandas as pd

    names = dict.fromkeys(name for record in records for name in record)
    columns = {name: [record.get(name) for record in records] for name in names}
    return pd.DataFrame({name: pd.array(cells) for name, cells in columns.items()})
