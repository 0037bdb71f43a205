"""Draws of the prior in the place of those of NUTS, for tests of what a result consists of.

To compile a model for NUTS takes ten seconds and more of processor time, whatever is drawn from it.
"""

import warnings
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayes_sota.core.sample import lay_out


def prior_trace(
    model: pm.Model, rng: np.random.Generator, *, draws: int, chains: int, **_: Any
) -> xr.DataTree:
    """Trace of the form of ``run_nuts``, which takes the same arguments."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as run_nuts does: potentials, random generators
        drawn = pm.sample_prior_predictive(
            chains * draws, model, random_seed=int(rng.integers(2**31)),
            compile_kwargs={"mode": "FAST_COMPILE"},
        )  # fmt: skip
    prior = drawn["prior"].to_dataset().isel(chain=0)
    dims = {str(name): tuple(map(str, v.dims[1:])) for name, v in prior.data_vars.items()}
    values = {str(name): v.values for name, v in prior.data_vars.items()}
    coords = {k: prior[k].values for named in dims.values() for k in named}
    posterior = lay_out(values, chains, dims, coords)
    quiet = {"diverging": np.zeros(chains * draws, bool), "n_steps": np.ones(chains * draws, int)}
    groups = {"posterior": posterior, "sample_stats": lay_out(quiet, chains, {}, {})}
    given = {"observed_data", "constant_data"} & set(drawn.children)
    return xr.DataTree.from_dict(groups | {name: drawn[name].to_dataset() for name in given})
