"""NUTS on the exact marginal likelihood: a check of the exact route, and a start for extensions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.priors import Priors
from bayes_sota.core.sample_provenance import describe_provenance, resolve_seed
from bayes_sota.core.types import Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.sample_completion import complete_result

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

__all__ = ["run_nuts", "sample_nuts"]


def run_nuts(model: "pm.Model", rng: np.random.Generator, **settings: Any) -> "xr.DataTree":
    """Draws of a model by nutpie; ``settings`` as in ``pm.sample``. Diagnostics come later."""
    import pymc as pm

    with model:
        return pm.sample(
            nuts_sampler="nutpie",
            random_seed=int(rng.integers(2**31)),
            compute_convergence_checks=False,
            quiet=not settings.get("progressbar"),
            **settings,
        )


def sample_nuts(
    boards: Sequence[Leaderboard],
    priors: Priors,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    cores: int | None = None,
    random_seed: Seed = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior by NUTS (nutpie) over location, spread and rho; the rest from its exact law.

    Parameters
    ----------
    boards, priors, reference_skill, new_n_test
        As in ``bayes_sota.maximum.posterior``.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
    """
    from bayes_sota.maximum.models import build_observed_maximum

    rng, seed = resolve_seed(random_seed)
    model = build_observed_maximum(boards, priors, reference_skill=reference_skill)
    settings = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    trace = run_nuts(model, rng, target_accept=target_accept, progressbar=progressbar, **settings)
    posterior = {
        name: np.broadcast_to(trace["posterior"][name].values, (chains, draws)).copy()
        for name in ("location", "spread", "rho")
    }
    divergences = int(trace["sample_stats"]["diverging"].sum())
    attributes: dict[str, str | float | int] = {
        **describe_provenance(
            boards, priors, method="nuts", seed=seed, model_name=model_name, model_hash=model_hash
        ),
        "divergences": divergences,
        "draws_are_independent": 0,
        "diagnostics_reasons": f"{divergences} divergences" if divergences else "",
    }
    stats = trace["sample_stats"].to_dataset()[["diverging"]].astype(float)
    return complete_result(
        posterior,
        boards,
        priors,
        rng,
        attributes,
        sample_stats=stats,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )
