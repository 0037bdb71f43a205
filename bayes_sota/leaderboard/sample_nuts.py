r"""NUTS for a whole leaderboard: a check of the exact route, and a start for extensions.

NUTS draws the standardised parameters of each family at each value of rho
(``bayes_sota.leaderboard.models``); skills, shift and new scores follow from the conditional
laws of the exact route. ``tests/leaderboard/test_sample_nuts.py`` holds the two routes
together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel, fit_field
from bayes_sota.leaderboard.posterior import (
    BLOCK,
    REPEATS,
    LeaderboardPosterior,
    NodeSampler,
    complete_draws,
    notes_of,
    reasons_of,
)

_LEAST_PROBABILITY = 0.02
_START_WIDTH = 2.0  # chains start this many posterior standard deviations apart


@dataclass(frozen=True, eq=False)
class NutsDraws:
    """Draws of every quantity of a leaderboard, in the order in which NUTS made them.

    Attributes
    ----------
    draws : dict of str to ndarray, shape (chain, draw)
        Names as in ``bayes_sota.core.schema``.
    sample_stats : dict of str to ndarray, shape (chain, draw)
        ``diverging`` and ``n_steps`` summed over the families' runs, ``family``, the index into
        ``posterior.fit.families`` behind each draw, and ``rho_node``.
    attributes : dict
        ``divergences``, and ``r_hat`` and ``ess_bulk``, the worst over all parameters of all
        families at all values of rho; the same per family as ``r_hat_<family>`` and so on;
        ``families``, the names that were sampled; ``diagnostics_reasons``, empty if all is well;
        ``notes``; ``random_seed``.
    posterior : LeaderboardPosterior
        The same draws in one dimension, with the exact fit that gave evidence and starts.
    """

    draws: dict[str, FloatArray]
    sample_stats: dict[str, FloatArray]
    attributes: dict[str, Any]
    posterior: LeaderboardPosterior


@dataclass(frozen=True, eq=False)
class _Run:
    """Parameters of one family, (chain, draw, node of rho, parameter), and how NUTS fared."""

    coordinates: FloatArray
    diverging: FloatArray
    n_steps: FloatArray
    r_hat: float
    ess_bulk: float


def sample_leaderboard_nuts(
    board: Leaderboard,
    priors: BoardPriors | None = None,
    *,
    family: str = "auto",
    draws: int = 1000,
    tune: int = 500,
    chains: int = 4,
    target_accept: float = 0.8,
    cores: int | None = None,
    random_seed: Seed = None,
    new_n_test: int | None = None,
    progressbar: bool = False,
) -> NutsDraws:
    r"""Posterior of a whole leaderboard by NUTS (nutpie).

    .. math::
        p(\cdot \mid y) = \frac1R \sum_r \sum_f p(f \mid y, \rho_r)
        \int p(\cdot \mid \phi, f, \rho_r, y)\, p(\phi \mid f, \rho_r, y)\, d\phi

    NUTS draws from the last factor for all values of rho at once. Draw ``i`` of a chain is then
    given one node of rho, in equal shares, and one family. Two things are not NUTS's: it gives no
    evidence, so ``p(f | y, rho)`` is the exact route's; and skills, shift and new scores given
    the parameters are drawn as there.

    Parameters
    ----------
    board : Leaderboard
        With scores.
    priors : BoardPriors, optional
    family : str
        One family of the priors, or "auto": all whose probability, averaged over rho, is at least
        2 % in the exact fit, each with its own run, mixed in proportion to their evidence.
    draws, tune, chains, target_accept, cores, progressbar
        As in ``pm.sample``. Chains start from normal draws around the exact fit, twice as wide.
    random_seed : int, SeedSequence, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.

    Returns
    -------
    NutsDraws

    Raises
    ------
    InputError
        Numbers below 1, a family that the priors do not hold, or only the maximum known.

    Examples
    --------
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> result = sample_leaderboard_nuts(
    ...     board, family="normal", draws=500, random_seed=0
    ... )  # doctest: +SKIP
    >>> result.draws["theta_sota"].shape  # doctest: +SKIP
    (4, 500)
    """
    for name, value in (("draws", draws), ("tune", tune), ("chains", chains)):
        if value < 1:
            raise InputError(f"{name} must be at least 1, got {value}")
    priors = BoardPriors() if priors is None else priors
    if family not in ("auto", *priors.families):
        allowed = ", ".join(("auto", *priors.families))
        raise InputError(f"family {family!r} is not one of the priors'; allowed: {allowed}")
    rng, seed = resolve_seed(random_seed)
    fit = fit_field(ScoreKernel.of(board), priors, rng)
    settings = {
        "draws": draws, "tune": tune, "chains": chains, "cores": cores, "progressbar": progressbar,
        "nuts": {"target_accept": target_accept, "adaptation": "low_rank"},
    }  # fmt: skip
    runs = {name: _sample_family(fit, name, settings, rng) for name in _chosen(fit, family)}
    nodes, families = _assign(fit, tuple(runs), (chains, draws), rng)
    values = _complete(fit, runs, nodes, families, rng, new_n_test)
    stats = {
        "diverging": sum((run.diverging for run in runs.values()), np.zeros((chains, draws))),
        "n_steps": sum((run.n_steps for run in runs.values()), np.zeros((chains, draws))),
        "family": families.astype(float),
        "rho_node": nodes.astype(float),
    }
    flat = {name: value.ravel() for name, value in values.items()}
    posterior = LeaderboardPosterior(flat, fit, tuple(reasons_of(fit)), tuple(notes_of(fit)))
    attributes = {**_attributes(runs, posterior), "random_seed": seed}
    return NutsDraws(values, stats, attributes, posterior)


def _chosen(fit: FieldFit, family: str) -> list[str]:
    if family != "auto":
        return [family]
    probability = fit.family_weights.mean(axis=1)
    pairs = zip(fit.families, probability, strict=True)
    return [name for name, p in pairs if p >= _LEAST_PROBABILITY]


def _sample_family(
    fit: FieldFit, family: str, settings: Mapping[str, Any], rng: np.random.Generator
) -> _Run:
    import pymc as pm

    from bayes_sota.leaderboard.models import build_leaderboard

    points = fit.points[fit.families.index(family)]
    mean = points.weights.T @ points.points
    sd = np.sqrt(np.maximum(points.weights.T @ points.points**2 - mean**2, 1e-8))
    with build_leaderboard(fit.kernel.board, fit.priors, family=family, fit=fit):
        trace = pm.sample(
            **settings,
            nuts_sampler="nutpie",
            initvals={"coordinates": pm.Normal.dist(mean, _START_WIDTH * sd)},
            compile_kwargs={"jitter_rvs": set()},
            var_names=["coordinates"],
            random_seed=int(rng.integers(2**31)),
            compute_convergence_checks=False,
            quiet=True,
        )
    coordinates = np.asarray(trace["posterior"]["coordinates"].values, dtype=np.float64)
    stats = trace["sample_stats"]
    return _Run(
        coordinates,
        np.asarray(stats["diverging"].values, dtype=np.float64),
        np.asarray(stats["n_steps"].values, dtype=np.float64),
        *_convergence(coordinates),
    )


def _convergence(coordinates: FloatArray) -> tuple[float, float]:
    """Worst r_hat and bulk effective size over all parameters; NaN with too few draws."""
    from arviz_stats.base import array_stats

    if min(coordinates.shape[:2]) < 2 or coordinates.shape[1] < 4:
        return float("nan"), float("nan")
    r_hat = array_stats.rhat(coordinates, chain_axis=0, draw_axis=1)
    ess = array_stats.ess(coordinates, chain_axis=0, draw_axis=1)
    return float(np.max(r_hat)), float(np.min(ess))


def _assign(
    fit: FieldFit, names: tuple[str, ...], shape: tuple[int, int], rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Node of rho and family behind each draw, in random order and even shares."""
    chains, draws = shape
    size = fit.rho.size
    nodes = np.stack(
        [rng.permutation((np.arange(draws) + rng.integers(size)) % size) for _ in range(chains)]
    )
    index = np.array([fit.families.index(name) for name in names])
    weights = fit.family_weights[index] / fit.family_weights[index].sum(axis=0)
    families = np.empty(shape, dtype=np.int64)
    for r in range(size):
        of_node = nodes == r
        count = int(of_node.sum())
        levels = (rng.permutation(count) + rng.random(count)) / max(count, 1)
        chosen = np.searchsorted(np.cumsum(weights[:, r])[:-1], levels, side="right")
        families[of_node] = index[chosen]
    return nodes, families


def _complete(
    fit: FieldFit,
    runs: Mapping[str, _Run],
    nodes: NDArray[np.int64],
    families: NDArray[np.int64],
    rng: np.random.Generator,
    new_n_test: int | None,
) -> dict[str, FloatArray]:
    """Everything else given the parameters, in the order of the draws."""
    parts: list[dict[str, FloatArray]] = []
    places: list[NDArray[np.int64]] = []
    for r in range(fit.rho.size):
        sampler = NodeSampler(fit, r)
        for name, run in runs.items():
            place = np.flatnonzero((nodes == r) & (families == fit.families.index(name)))
            points = run.coordinates[:, :, r].reshape(nodes.size, -1)
            for block in np.split(place, np.arange(BLOCK, place.size, BLOCK)):
                if block.size:
                    drawn = sampler.draw(name, points[block], rng)
                    parts.append({key: value[::REPEATS] for key, value in drawn.items()})
                    places.append(block)
    order = np.argsort(np.concatenate(places))
    values = {key: np.concatenate([part[key] for part in parts])[order] for key in parts[0]}
    values = complete_draws(values, fit, rng, new_n_test)
    return {name: value.reshape(nodes.shape) for name, value in values.items()}


def _attributes(runs: Mapping[str, _Run], posterior: LeaderboardPosterior) -> dict[str, Any]:
    divergences = int(sum(run.diverging.sum() for run in runs.values()))
    reasons = list(posterior.reasons)
    if divergences:
        reasons.append(f"{divergences} divergences")
    attributes: dict[str, Any] = {
        "divergences": divergences,
        "r_hat": max(run.r_hat for run in runs.values()),
        "ess_bulk": min(run.ess_bulk for run in runs.values()),
        "families": ", ".join(runs),
        "draws_are_independent": 0,
        "notes": "; ".join(posterior.notes),
    }
    for name, run in runs.items():
        attributes[f"r_hat_{name}"] = run.r_hat
        attributes[f"ess_bulk_{name}"] = run.ess_bulk
        if run.r_hat > 1.05:
            reasons.append(f"r_hat of the parameters of {name} is {run.r_hat:.2f}, above 1.05")
    attributes["diagnostics_reasons"] = "; ".join(reasons)
    return attributes
