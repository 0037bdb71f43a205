"""NUTS of models of whole boards and of answers, with completed results."""

from typing import Any

import numpy as np
import xarray as xr
from boards import evidence_of

from bayes_sota import items
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import run_nuts, sample_completed, with_attributes
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.fit import fit_field, fit_shape
from bayes_sota.leaderboard.models import build_model, start_values
from bayes_sota.leaderboard.sample import complete
from bayes_sota.leaderboard.specification import chosen_model

NUTS = {"draws": 2000, "tune": 1500, "chains": 4, "target_accept": 0.99, "adaptation": "low_rank"}
OF_STEPS = ("target_accept", "adaptation")


def sample_board(
    board: Leaderboard, priors: BoardPriors, random_seed: int, **settings: Any
) -> xr.DataTree:
    """By the most probable shape, from the exact fit; ``settings`` in place of ``NUTS``."""
    rng = np.random.default_rng(random_seed)
    fit = fit_field(evidence_of(board), priors, rng)
    family = fit.families[int(fit.family_weights.mean(axis=1).argmax())]
    shape = fit_shape(board, family=family, fit=fit)
    model = build_model(board, family=family, fit=shape)
    chosen = NUTS | settings
    steps = {name: chosen.pop(name) for name in OF_STEPS}
    trace = run_nuts(
        model,
        rng,
        initvals=start_values(shape),
        compile_kwargs={"jitter_rvs": set()},
        nuts=steps,
        **chosen,
    )
    return complete(trace, board, model, fit=shape, random_seed=rng)


def sample_answers(
    responses: Outcomes, random_seed: int, *, model: Any = None, **settings: Any
) -> xr.DataTree:
    """Posterior of answers by NUTS of ``items.build_model``, with its completed result."""
    spec = chosen_model(model, "items")
    built = items.build_model(responses, spec.priors)
    sizes = dict.fromkeys(("draws", "tune", "chains", "target_accept"))
    tree = sample_completed(
        built,
        lambda trace, rng: items.complete(trace, responses, built, random_seed=rng),
        random_seed,
        spec.sampler,
        **sizes | settings,
    )
    return with_attributes(tree, spec.provenance)
