"""The exact route: direct draws from the posterior, as a DataTree.

The draws are independent; they are laid out as four chains so that every ArviZ function works.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample_provenance import describe_provenance, resolve_seed
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.prior_predictive import draw_prior
from bayes_sota.maximum.sample_tree import build_tree

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["sample_exact"]


def sample_exact(
    boards: Sequence[Leaderboard],
    priors: Priors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> "xr.DataTree":
    """Exact posterior of observed maxima as a DataTree.

    Parameters
    ----------
    boards, priors, reference_skill, new_n_test
        As in ``bayes_sota.maximum.posterior``.
    draws, chains : int
        Independent draws per chain, and chains.
    random_seed : int, SeedSequence, Generator or None
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``prior``, ``posterior_predictive``, ``prior_predictive``,
        ``sample_stats``, ``log_likelihood``, ``log_prior``, ``observed_data``, ``constant_data``.
    """
    if draws < 1 or chains < 1:
        raise InputError(f"draws and chains must be at least 1, got {draws} and {chains}")
    rng, seed = resolve_seed(random_seed)
    result = sota_posterior(
        boards,
        priors,
        draws=draws * chains,
        random_seed=rng,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )
    prior, predicted = draw_prior(boards, priors, rng, draws * chains, reference_skill)
    new_scores = ("winner_new_score", "best_new_score")
    certain = () if any(board.n_classifiers is None for board in boards) else ("n_classifiers",)
    hidden = (*new_scores, *certain)
    groups = {
        "posterior": {k: v for k, v in result.draws.items() if k not in hidden},
        "prior": {k: v for k, v in prior.items() if k not in certain},
        "posterior_predictive": {name: result.draws[name] for name in new_scores},
        "prior_predictive": predicted,
        "sample_stats": {"lp": sum(result.log_prior.values(), result.log_likelihood.sum(axis=1))},
        "log_likelihood": {"observed_maximum": result.log_likelihood},
        "log_prior": result.log_prior,
    }
    shaped = {
        name: {k: _chains(v, chains, draws) for k, v in values.items()}
        for name, values in groups.items()
    }
    attributes: dict[str, str | float | int] = {
        **describe_provenance(
            boards, priors, method="exact", seed=seed, model_name=model_name, model_hash=model_hash
        ),
        "log_evidence": result.log_evidence,
        "grid_edge_probability": result.grid["edge"],
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(result.reasons),
        "new_n_test": int(new_n_test or 0),
    }
    return build_tree(shaped, boards, result.reference_skill, attributes)


def _chains(values: FloatArray, chains: int, draws: int) -> FloatArray:
    return values.reshape(chains, draws, *values.shape[1:])
