r"""NUTS for a whole leaderboard: a check of the exact route, and a start for extensions.

.. math::
    p(\cdot \mid y) = \frac1R \sum_r \sum_f p(f \mid y, \rho_r)
    \int p(\cdot \mid \phi, f, \rho_r, y)\, p(\phi \mid f, \rho_r, y)\, d\phi

NUTS draws from the last factor, the standardised parameters of each family, for all values of rho
at once (``bayes_sota.leaderboard.models``). Draw ``i`` of a chain is then given one node of rho, in
equal shares, and one family. Two things are not NUTS's: it gives no evidence, so ``p(f | y, rho)``
is the exact route's; and skills, shift and new scores given the parameters are drawn as there.
``tests/leaderboard/test_sample_nuts.py`` holds the two routes together.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import DRAWS
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import describe_provenance, resolve_seed, run_nuts
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel, fit_field
from bayes_sota.leaderboard.posterior import (
    BLOCK,
    REPEATS,
    NodeSampler,
    complete_draws,
    notes_of,
    reasons_of,
)
from bayes_sota.leaderboard.sample import build_board_tree

if TYPE_CHECKING:
    import xarray as xr

_LEAST_PROBABILITY = 0.02
_LARGEST_R_HAT = 1.05


def sample_board_nuts(
    board: Leaderboard,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    tune: int = 1000,
    target_accept: float = 0.9,
    cores: int | None = None,
    progressbar: bool = False,
    random_seed: Seed = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> "xr.DataTree":
    """Posterior of a whole leaderboard by NUTS (nutpie).

    Parameters
    ----------
    board : Leaderboard
        With scores.
    priors : BoardPriors
        Every family whose probability, averaged over rho, is at least 2 % in the exact fit has
        its own run; the runs are mixed in proportion to their evidence.
    draws, chains, tune, target_accept, cores, progressbar
        As in ``pm.sample``. Chains start from draws of the exact fit.
    random_seed : int, SeedSequence, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
        As of ``sample_board``. ``sample_stats`` also holds ``diverging`` and ``n_steps``, summed
        over the families' runs, and the ``family`` and ``rho_node`` behind each draw; attributes
        ``r_hat`` and ``ess_bulk`` are the worst over all parameters of all families.
    """
    for name, value in {"draws": draws, "tune": tune, "chains": chains}.items():
        DRAWS.check(value, name)
    rng, seed = resolve_seed(random_seed)
    fit = fit_field(ScoreKernel.of(board), priors, rng)
    settings: dict[str, Any] = {
        "draws": draws, "tune": tune, "chains": chains, "cores": cores, "progressbar": progressbar,
        "nuts": {"target_accept": target_accept, "adaptation": "low_rank"},
    }  # fmt: skip
    likely = fit.family_weights.mean(axis=1) >= _LEAST_PROBABILITY
    kept = [name for name, chosen in zip(fit.families, likely, strict=True) if chosen]
    runs = {name: _sample_family(fit, name, settings, rng) for name in kept}
    nodes, families = _assign(fit, kept, (chains, draws), rng)
    values = _complete(fit, runs, nodes, families, rng, new_n_test)
    stats = {
        name: np.sum([run["sample_stats"][name].values for run in runs.values()], axis=0)
        for name in ("diverging", "n_steps")
    }
    stats |= {"family": families, "rho_node": nodes}
    provenance = describe_provenance(
        (board,), priors, method="nuts", seed=seed, model_name=model_name, model_hash=model_hash
    )
    attributes = provenance | _attributes(fit, runs) | {"new_n_test": int(new_n_test or 0)}
    return build_board_tree(values, fit, attributes, rng, board.names, stats)


def _sample_family(
    fit: FieldFit, family: str, settings: Mapping[str, Any], rng: np.random.Generator
) -> "xr.DataTree":
    import pymc as pm
    import pytensor.tensor as pt

    from bayes_sota.leaderboard.models import build_leaderboard

    points = fit.points[fit.families.index(family)]
    start = pt.as_tensor_variable(points.points)[pm.Categorical.dist(p=points.weights.T)]
    return run_nuts(
        build_leaderboard(fit.kernel.board, fit.priors, family=family, fit=fit),
        rng,
        initvals={"coordinates": start},
        compile_kwargs={"jitter_rvs": set()},
        var_names=["coordinates"],
        **settings,
    )


def _assign(
    fit: FieldFit, names: list[str], shape: tuple[int, int], rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
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
    runs: "Mapping[str, xr.DataTree]",
    nodes: IntArray,
    families: IntArray,
    rng: np.random.Generator,
    new_n_test: int | None,
) -> dict[str, FloatArray]:
    """Everything else given the parameters, in the order of the draws."""
    parts: list[dict[str, FloatArray]] = []
    places: list[IntArray] = []
    for r in range(fit.rho.size):
        sampler = NodeSampler(fit, r)
        for name, run in runs.items():
            place = np.flatnonzero((nodes == r) & (families == fit.families.index(name)))
            points = run["posterior"]["coordinates"].values[:, :, r].reshape(nodes.size, -1)
            for block in np.split(place, np.arange(BLOCK, place.size, BLOCK)):
                if block.size:
                    drawn = sampler.draw(name, points[block], rng)
                    parts.append({key: value[::REPEATS] for key, value in drawn.items()})
                    places.append(block)
    order = np.argsort(np.concatenate(places))
    values = {key: np.concatenate([part[key] for part in parts])[order] for key in parts[0]}
    values = complete_draws(values, fit, rng, new_n_test)
    return {name: value.reshape(nodes.shape) for name, value in values.items()}


def _attributes(fit: FieldFit, runs: "Mapping[str, xr.DataTree]") -> dict[str, Any]:
    import arviz as az

    parameters = {
        name: run["posterior"].to_dataset()[["coordinates"]] for name, run in runs.items()
    }
    r_hat = {name: float(az.rhat(t)["coordinates"].max()) for name, t in parameters.items()}
    ess = {name: float(az.ess(t)["coordinates"].min()) for name, t in parameters.items()}
    divergences = int(sum(run["sample_stats"]["diverging"].values.sum() for run in runs.values()))
    reasons = [
        *reasons_of(fit),
        *([f"{divergences} divergences"] if divergences else []),
        *(
            f"r_hat of the parameters of {name} is {value:.2f}, above {_LARGEST_R_HAT}"
            for name, value in r_hat.items()
            if value > _LARGEST_R_HAT
        ),
    ]
    return {
        "inference_library": "nutpie",
        "draws_are_independent": 0,
        "divergences": divergences,
        "r_hat": max(r_hat.values()),
        "ess_bulk": min(ess.values()),
        "families": ", ".join(runs),
        "diagnostics_reasons": "; ".join(reasons),
        "notes": "; ".join(notes_of(fit)),
        "rho_learnt": 0,
    }
