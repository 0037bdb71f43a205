"""The ABC/SMC route as a complete result: simulated draws, completed by what follows from them.

``smc_abc`` simulates location, spread, rho, theta_sota and winner_skill and computes no
likelihood. The predictive scores and expected_sota are drawn here from their laws given these
hyperparameters, as for every route.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.priors import Priors
from bayes_sota.core.sample_provenance import describe_provenance, resolve_seed
from bayes_sota.core.types import Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.sample_completion import complete_result
from bayes_sota.maximum.sample_smc import sample_smc_abc

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["sample_abc"]


def sample_abc(
    boards: Sequence[Leaderboard],
    priors: Priors,
    *,
    draws: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    random_seed: Seed = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior by ABC/SMC; parameters as in ``sample_nuts``, epsilon is chosen and reported."""
    rng, seed = resolve_seed(random_seed)
    simulated = sample_smc_abc(
        boards,
        priors,
        draws=draws,
        chains=chains,
        cores=cores,
        random_seed=int(rng.integers(2**31)),
        reference_skill=reference_skill,
        progressbar=progressbar,
    )
    found = simulated["posterior"].to_dataset()
    posterior = {str(name): np.asarray(found[name].values) for name in found.data_vars}
    reported = {
        str(k): v for k, v in simulated.attrs.items() if str(k).startswith(("epsilon", "winner_"))
    }
    attributes: dict[str, str | float | int] = {
        **describe_provenance(
            boards, priors, method="abc", seed=seed, model_name=model_name, model_hash=model_hash
        ),
        **reported,
        "draws_are_independent": 0,
        "diagnostics_reasons": _reasons(reported),
    }
    stats = simulated["sample_stats"].to_dataset().drop_attrs()
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


def _reasons(attributes: dict[str, Any]) -> str:
    reasons = []
    if attributes["epsilon_ratio"] > 0.25:
        ratio = attributes["epsilon_ratio"]
        reasons.append(f"epsilon is {ratio:.2f} posterior standard deviations")
    if attributes["winner_unaccepted"] > 0:
        share = attributes["winner_unaccepted"]
        reasons.append(f"no simulation matched the maximum for {share:.2%} of the draws")
    return "; ".join(reasons)
