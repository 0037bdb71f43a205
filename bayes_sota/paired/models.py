r"""Two boards of the same teams as a plain ``pm.Model``, every skill integrated out on a grid.

The same likelihood as ``bayes_sota.paired.likelihood``, one family of P at a time, and one
normal or wide residual per board; a score that says nothing has the same small probability. The
free variables are the standard normal coordinates of the family and of the noise, so that the two
can be compared point by point (``tests/paired/test_likelihood.py``).
"""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BetaCorrelation, Priors
from bayes_sota.data.paired import PairedBoards
from bayes_sota.leaderboard.models import pytensor_operations
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily, add_strangers
from bayes_sota.paired.likelihood import (
    FLAT,
    STRANGERS,
    WIDE,
    PairedLikelihood,
    PairedPriors,
    Selection,
    paired_priors,
)


def build_paired_boards(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    family: str = "ex-gaussian",
    top: float | None = None,
    merge: bool | None = None,
) -> pm.Model:
    r"""Model of a public and a private board.

    .. math::
        L = \prod_j \frac{\int f_1(x_j - \psi) f_2(y_j - \delta - \psi) p(\psi) d\psi}
                         {P(\text{selected})}

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
        The size of the offset is integrated out.
    family : str
        Family of P, a key of ``bayes_sota.leaderboard.shapes.FAMILIES``.
    top, merge
        As in ``estimate_paired``.

    Returns
    -------
    pm.Model
        Free variables ``field`` (coordinates of P), ``outliers_z``, ``shift`` and ``rho``, or
        ``residual_z`` and ``ratio_z`` where the noise is unknown (then ``rho`` is free too, and
        only the prior of the shift depends on it). The likelihood is the potential ``scores``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> public, private = rng.binomial(300, rng.uniform(0.7, 0.8, 12), (2, 12)) / 300
    >>> model = build_paired_boards(PairedBoards(public, private, n_test=(300, 300)))
    >>> sorted(v.name for v in model.free_RVs)
    ['field', 'outliers_z', 'rho', 'shift']
    """
    if family not in FAMILIES:
        raise InputError(f"family must be one of {', '.join(FAMILIES)}, got {family!r}")
    priors = paired_priors(priors)
    teams = Selection.of_boards(boards, top, merge).teams
    grid = PairedLikelihood.of_teams(boards, teams, priors)
    with pm.Model(coords={"parameter": FAMILIES[family].parameters}) as model:
        field = pm.Normal("field", dims="parameter")
        rho = _correlation(priors)
        public_sd, private_sd = _residual_sd(grid, rho)
        wide = pm.math.sigmoid(grid.outlier_log_odds(pm.Normal("outliers_z")))
        shift = _shift(grid, rho, pt.sqrt(public_sd**2 + private_sd**2))
        density = _density(grid, FAMILIES[family], field)
        weights = ((1 - FLAT) * (1 - wide), (1 - FLAT) * wide)
        total = _log_likelihood(grid, density, weights, public_sd, private_sd, shift)
        pm.Potential("scores", total)
    return model


def _correlation(priors: PairedPriors) -> Any:
    prior = priors.correlation
    if isinstance(prior, BetaCorrelation):
        return pm.Beta("rho", prior.a, prior.b)
    if prior.is_fixed:
        return pm.Deterministic("rho", pt.as_tensor_variable(float(prior.quantile(0.5))))
    raise InputError(f"no PyMC model for the correlation prior {type(prior).__name__}")


def _residual_sd(grid: PairedLikelihood, rho: Any) -> tuple[Any, Any]:
    if grid.standard_errors is not None:
        own = pt.sqrt(1 - rho**2)
        return grid.standard_errors[0] * own, grid.standard_errors[1] * own
    total, ratio = grid.unknown_noise(pt, pm.Normal("residual_z"), pm.Normal("ratio_z"))
    return total / pt.sqrt(1 + ratio**2), total * ratio / pt.sqrt(1 + ratio**2)


def _shift(grid: PairedLikelihood, rho: Any, residual: Any) -> Any:
    """delta: a mixture of normals over the sizes of the offset, times S sqrt(rho^2 + f^2)."""
    error = residual / pt.sqrt(1 - rho**2)
    if grid.standard_errors is not None:
        error = pt.as_tensor_variable(float(np.hypot(*grid.standard_errors)))
    offsets = np.asarray(grid.priors.offsets)
    equal = np.full(offsets.size, 1 / offsets.size)
    sd = error * pt.sqrt(rho**2 + offsets**2)
    return pm.NormalMixture(
        "shift", w=equal, mu=np.zeros(offsets.size), sigma=sd, initval=grid.shift_scale[0]
    )


def _density(grid: PairedLikelihood, family: SkillFamily, field: Any) -> Any:
    """P on the grid, times the step, so that it sums to one; shape (nodes,)."""
    coordinates = tuple(field[i] for i in range(family.dimension))
    ops = pytensor_operations()
    shape = family.log_density(ops, grid.scale, coordinates, grid.nodes)
    return pm.math.softmax(add_strangers(ops, grid.scale, shape, grid.nodes, STRANGERS))


def _log_likelihood(
    grid: PairedLikelihood,
    density: Any,
    weights: tuple[Any, Any],
    public_sd: Any,
    private_sd: Any,
    shift: Any,
) -> Any:
    """Sum over teams of the log of the integral, less the probability to be selected."""
    x, y = grid.teams.x[:, None], np.asarray(grid.teams.y)[:, None]
    first = _residual_density((x - grid.nodes) / public_sd, weights) / public_sd
    second = _residual_density((y - shift - grid.nodes) / private_sd, weights) / private_sd
    usual = (first * second) @ density
    height = FLAT / grid.ranges[0], FLAT / grid.ranges[1]
    terms = usual + height[0] * (second @ density) + height[1] * (first @ density)
    total = pt.sum(pt.log(terms + height[0] * height[1]))
    if grid.teams.threshold is None:
        return total
    missed = _below(grid, 0, weights, public_sd, 0.0) * _below(grid, 1, weights, private_sd, shift)
    return total - grid.teams.x.size * pt.log(pt.sum(density * (1 - missed)))


def _residual_density(z: Any, weights: tuple[Any, Any]) -> Any:
    usual, wide = pt.exp(-0.5 * z**2), pt.exp(-0.5 * (z / WIDE) ** 2) / WIDE
    return (weights[0] * usual + weights[1] * wide) / np.sqrt(2 * np.pi)


def _below(
    grid: PairedLikelihood, board: int, weights: tuple[Any, Any], sd: Any, shift: Any
) -> Any:
    """Probability of a score below the threshold of a board at each skill."""
    threshold, flat = grid.flat_below(board)
    z = (threshold - shift - grid.nodes) / sd
    usual, wide = (pt.erfc(-z / (k * np.sqrt(2))) / 2 for k in (1.0, WIDE))
    return FLAT * flat + weights[0] * usual + weights[1] * wide
