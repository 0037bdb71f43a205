"""Hyperparameters of two boards by name, in product space: prior, coordinates, densities.

Every draw has the parameters of every family (Carlin & Chib 1995,
doi 10.1111/j.2517-6161.1995.tb02042.x): ``family`` says which one the skills follow, ``location``
and ``spread`` place it, and of the three numbers of ``shape`` it reads those that it has; the
others are standard normal. A model of PyMC has the same names and priors
(``tests/paired/test_models.py`` compares their densities).
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.priors import PAIR_FAMILIES
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired.likelihood import (
    OUTLIERS,
    OUTLIERS_SD,
    RATIO_SD,
    RESIDUAL_SD,
    PairedLikelihood,
    shift_log_density,
    shift_scales,
)
from bayes_sota.paired.residuals import Residuals, split_noise
from bayes_sota.paired.submissions import MOST_LUCK

SHAPES = 3  # numbers of the family with the most, beside its place and its width
_AT_ONCE = 16
Draws = dict[str, NDArray[Any]]


def name_draws(
    likelihood: PairedLikelihood, family: IntArray, t: FloatArray, noise: Residuals
) -> Draws:
    """Hyperparameters by name from coordinates (D, 2 + SHAPES) and the noise of each draw.

    Returns
    -------
    dict of str to ndarray
        ``family`` (place in ``FAMILIES``), ``location``, ``spread`` (D,), ``shape`` (D, 3),
        ``board_shift``, where the standard errors are unknown ``noise_ratio``, and with several
        submissions ``submission_slope``. rho, outliers, residual_sd and submission_luck are among
        the estimands.
    """
    draws: Draws = {
        "family": family,
        "location": np.asarray(likelihood.scale.place(t[:, 0])),
        "spread": np.asarray(likelihood.scale.width(np, t[:, 1])),
        "shape": t[:, 2:],
        "board_shift": noise.shift,
    }
    if likelihood.standard_errors is None:
        draws["noise_ratio"] = noise.private_sd / noise.public_sd
    if noise.slope is not None:
        draws["submission_slope"] = noise.slope
    return draws


def read_draws(likelihood: PairedLikelihood, draws: Draws) -> tuple[FloatArray, Residuals]:
    """Coordinates (D, 2 + shapes) and noise from hyperparameters by name, the way back."""
    scale, rho = likelihood.scale, draws["rho"]
    place, width = scale.coordinates(draws["location"], np.log(draws["spread"]))
    shape = draws.get("shape", np.empty((rho.size, 0)))
    if likelihood.standard_errors is None:
        public, private = split_noise(draws["residual_sd"], draws["noise_ratio"])
    else:
        public, private = (s * np.sqrt(1 - rho**2) for s in likelihood.standard_errors)
    luck, slope = (draws.get(f"submission_{name}") for name in ("luck", "slope"))
    if luck is not None:
        luck = np.clip(luck, 0.0, MOST_LUCK)
    noise = Residuals(public, private, draws["outliers"], draws["board_shift"], rho, luck, slope)
    return np.column_stack([place, width, shape]), noise


def densities_of(likelihood: PairedLikelihood, family: IntArray, t: FloatArray) -> FloatArray:
    """P(psi) on the grid for draws of several families, (D, nodes)."""
    densities = np.empty((len(t), likelihood.nodes.size))
    for index, shape in enumerate(FAMILIES.values()):
        where = np.flatnonzero(family == index)
        for i in range(0, where.size, _AT_ONCE):
            rows = where[i : i + _AT_ONCE]
            densities[rows] = likelihood.densities(shape, t[rows])
    return densities


def draw_prior(
    likelihood: PairedLikelihood, count: int, rng: np.random.Generator
) -> tuple[IntArray, FloatArray, Residuals]:
    """Family, coordinates and noise of prior draws; families are equally likely."""
    family = rng.integers(len(PAIR_FAMILIES), size=count)
    t = rng.standard_normal((count, 2 + SHAPES))
    noise = likelihood.residuals(rng.standard_normal((count, len(likelihood.noise_parameters))))
    rho, offset, error = shift_scales(likelihood, noise)
    sd = error * np.sqrt(rho**2 + offset**2)
    chosen = sd[np.arange(count), rng.integers(sd.shape[1], size=count)]
    return family, t, replace(noise, shift=chosen * rng.standard_normal(count))


def log_priors(likelihood: PairedLikelihood, draws: Draws) -> dict[str, FloatArray]:
    """Log prior density of each free hyperparameter at draws of all, rho included.

    The shift has its density given rho, mixed over the offsets. A known rho has none.
    """
    scale, prior = likelihood.scale, likelihood.priors.correlation
    values = {
        "location": _log_normal(draws["location"], scale.location, scale.location_sd),
        "spread": _log_lognormal(draws["spread"], scale.log_spread, scale.log_spread_sd),
        "outliers": _log_logit_normal(draws["outliers"]),
    }
    if "family" in draws:
        values["family"] = np.full(draws["location"].shape, -np.log(len(PAIR_FAMILIES)))
    if "shape" in draws:
        values["shape"] = _log_normal(draws["shape"], 0.0, 1.0)
    if not prior.is_fixed:
        values["rho"] = prior.log_density(draws["rho"])
    if likelihood.standard_errors is None:
        middle = float(np.log(likelihood.base_sd))
        values["residual_sd"] = _log_lognormal(draws["residual_sd"], middle, RESIDUAL_SD)
        values["noise_ratio"] = _log_lognormal(draws["noise_ratio"], 0.0, RATIO_SD)
    if "submission_slope" in draws:
        values["submission_slope"] = _log_normal(draws["submission_slope"], 0, likelihood.slope_sd)
        luck = likelihood.priors.submission_luck
        if not luck.is_fixed:
            values["submission_luck"] = luck.log_density(draws["submission_luck"])
    values["board_shift"] = shift_log_density(likelihood, read_draws(likelihood, draws)[1])
    return values


def _log_normal(x: FloatArray, mean: float, sd: float) -> FloatArray:
    return -0.5 * ((x - mean) / sd) ** 2 - np.log(sd * np.sqrt(2 * np.pi))


def _log_lognormal(x: FloatArray, mean: float, sd: float) -> FloatArray:
    return _log_normal(np.log(x), mean, sd) - np.log(x)


def _log_logit_normal(p: FloatArray) -> FloatArray:
    log_odds = np.log(p) - np.log1p(-p)
    return _log_normal(log_odds, OUTLIERS, OUTLIERS_SD) - np.log(p) - np.log1p(-p)
