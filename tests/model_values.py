"""Values of PyMC models at a point of their free variables, without compilation."""

from typing import Any

import numpy as np
import pymc as pm

UNOPTIMISED = {"mode": "FAST_COMPILE"}

type Point = dict[str, np.ndarray]


def some_point(model: pm.Model, seed: int = 0) -> Point:
    rng = np.random.default_rng(seed)
    return {k: rng.normal(0, 0.6, np.shape(v)) for k, v in model.initial_point().items()}


def values_at(model: pm.Model, point: Point, *variables: Any) -> list[np.ndarray]:
    outs, settings = model.replace_rvs_by_values(list(variables)), UNOPTIMISED
    found = model.compile_fn(outs, inputs=model.value_vars, on_unused_input="ignore", **settings)
    return found(point)


def terms(model: pm.Model, point: Point) -> np.ndarray:
    """Log likelihood of each observation."""
    return model.compile_logp(vars=model.observed_RVs, sum=False, **UNOPTIMISED)(point)[0]
