"""From results to flat tables of numbers: the one place that knows where a result keeps them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

import bayes_sota as bs

type Numbers = dict[str, float]
ESTIMANDS = ("theta_sota", "winner_skill", "expected_sota", "multiplicity_bias", "rho")
ENTRY = ("p_best", "skill/mean", "skill/interval", "rank_set", "tier")
COLUMNS = ("mean", "sd", "lower", "upper")


def flat(value: Any, name: str = "") -> Numbers:
    """Every finite number below a value, under the names that lead to it; no words, no bools."""
    if isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_):
        return {name: float(value)} if math.isfinite(value) else {}
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, np.ndarray | list | tuple):
        parts = enumerate(value)
    elif is_dataclass(value):
        parts = ((field.name, getattr(value, field.name)) for field in fields(value))
    return {
        key: number
        for part, below in parts
        for key, number in flat(below, f"{name}/{part}" if name else str(part)).items()
    }


def _inside(value: Any, part: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(part)
    if part.isdigit():
        return value[int(part)]
    found = getattr(value, part)
    return found() if callable(found) else found


def pick(result: Any, *paths: str) -> Numbers:
    """Numbers at these paths ("rope", "skill/mean", "0/p_value") of a report, mapping or object."""
    found: Numbers = {}
    for path in paths:
        value = result.to_dict() if isinstance(result, bs.core.Report) else result
        for part in path.split("/"):
            value = _inside(value, part)
        found |= flat(value, path)
    return found


def each(rows: Iterable[Any], *paths: str, top: int = 5) -> Numbers:
    """The same numbers of each of the first rows, under their places from 1 on."""
    places = enumerate([*rows][:top], 1)
    return {f"{i}/{key}": number for i, row in places for key, number in pick(row, *paths).items()}


def sota(data: Any, seed: int, **options: Any) -> Numbers:
    """Mean, sd and interval ends of the estimands of a field, of every board or entry."""
    table = bs.summarize(bs.estimate_sota(data, random_seed=seed, **options))
    kept = [row for row in table.index if str(row).partition("[")[0] in ESTIMANDS]
    return flat({row: {column: table.loc[row, column] for column in COLUMNS} for row in kept})


def board(data: Any, seed: int, **options: Any) -> Numbers:
    """Skills, P(best) and rank sets of the first five entries of a board, with its best skill."""
    report = bs.board_table(data, random_seed=seed, **options)
    few = ("theta_sota/mean", "theta_sota/interval", "rho/mean", "n_tied_with_best", "n_test")
    return each(report.to_dict()["entries"], *ENTRY) | pick(report, *few)


def law(found: Any, *scores: float) -> Numbers:
    """Moments, quantiles and tails of the law of a maximum."""
    numbers = pick(found, "mean", "std", "interval", "theta_sota", "bias")
    quantiles = {f"quantile/{q}": found.quantile(q) for q in (0.01, 0.5, 0.99)}
    tail = getattr(found, "at_least", lambda score: 1 - found.cdf(score))
    tails = {f"at_least/{score}": tail(score) for score in scores}
    return numbers | flat({k: float(v) for k, v in (quantiles | tails).items()})


def field_estimate(found: Any) -> Numbers:
    """Estimate by shrinking or cropping."""
    named = {
        "theta_sota/estimate": found.estimate,
        "bias": found.observed_maximum - found.estimate,
        "n_above_sota": found.n_above(),
        "single_interval": found.single,
        "n_above_single_interval": int(np.sum(found.scores > found.single[0])),
    }
    named |= {"threshold": found.estimate} if found.weight is None else {"weight": found.weight}
    return flat(named) | pick(found, "expected_maximum", "interval", "excess")


def skills(found: Iterable[Any]) -> Numbers:
    """Skills of classifiers by themselves."""
    return each(found, "score", "mean", "sd", "interval", "n_effective", "share_of_runs", "error")


def fit_numbers(fit: Any, top: int = 5) -> Numbers:
    """EPP, errors, ranks and Elo of the best players, and the deviance."""
    paths = ("epp", "se", "se_model", "interval", "rank_interval", "elo", "p_beats_average")
    rows = each(bs.epp_table(fit).to_dict()["players"], *paths, top=top)
    return rows | pick(fit, "deviance", "deviance_df", "paper", "overlap")


def log_densities(data: Any) -> Numbers:
    """Log densities of a PyMC model near its start; drawing from it would take too long."""
    variables = [*data.basic_RVs, *data.potentials]
    densities = data.logp(vars=variables, sum=False)
    point = {
        name: value + 0.2 * np.cos(np.arange(value.size)).reshape(value.shape)
        for name, value in data.initial_point().items()
    }
    found = data.compile_fn(densities, mode="FAST_COMPILE")(point)
    return {v.name: float(x.sum()) for v, x in zip(variables, found, strict=True)}
