"""Complete a result of any route from its draws of location, spread and rho."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.core.priors import Priors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.conditional_fields import draw_fields
from bayes_sota.maximum.likelihood import FieldDraws
from bayes_sota.maximum.prior_predictive import draw_prior
from bayes_sota.maximum.sample_tree import build_tree
from bayes_sota.maximum.scoring import default_reference_skill

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["complete_result"]


def complete_result(
    posterior: dict[str, FloatArray],
    boards: Sequence[Leaderboard],
    priors: Priors,
    rng: np.random.Generator,
    attributes: Mapping[str, str | float | int],
    *,
    sample_stats: "xr.Dataset",
    reference_skill: float | None = None,
    new_n_test: int | None = None,
) -> "xr.DataTree":
    """Result from draws of location, spread and rho (chain, draw), and what else was sampled.

    Whatever ``posterior`` does not hold yet is drawn from its exact law given these three.
    """
    import xarray as xr

    shape = posterior["location"].shape
    location, spread, rho = (posterior[name].ravel() for name in ("location", "spread", "rho"))
    fields = draw_fields(
        boards,
        priors,
        location,
        spread,
        rho,
        rng,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )
    derived = _derived(fields, boards, priors, location, spread)
    new_scores = {name: derived.pop(name) for name in ("winner_new_score", "best_new_score")}
    likelihood = derived.pop("log_likelihood")
    if all(board.n_classifiers is not None for board in boards):
        derived.pop("n_classifiers")
    merged = {name: v.reshape(*shape, len(boards)) for name, v in derived.items()} | posterior
    observed = np.array([board.maximum for board in boards])
    theta = merged["theta_sota"]
    merged["multiplicity_bias"] = observed - (theta if theta.ndim == 3 else theta[..., None])
    prior, predicted = draw_prior(boards, priors, rng, location.size, reference_skill)
    kept = {k: v for k, v in prior.items() if k in merged}
    groups = {
        "posterior": merged,
        "prior": _shaped(kept, shape),
        "posterior_predictive": _shaped(new_scores, shape),
        "prior_predictive": _shaped(predicted, shape),
        "log_likelihood": _shaped({"observed_maximum": likelihood}, shape),
    }
    references = [
        default_reference_skill(b) if reference_skill is None else reference_skill for b in boards
    ]
    tree = build_tree(groups, boards, references, attributes)
    tree["sample_stats"] = xr.DataTree(sample_stats)
    return tree


def _derived(
    fields: list[FieldDraws],
    boards: Sequence[Leaderboard],
    priors: Priors,
    location: FloatArray,
    spread: FloatArray,
) -> dict[str, FloatArray]:
    names = (
        "theta_sota",
        "winner_skill",
        "winner_new_score",
        "best_new_score",
        "shift",
        "n_classifiers",
        "log_likelihood",
    )
    values = {name: np.stack([getattr(f, name) for f in fields], axis=1) for name in names}
    distribution = priors.skill.distribution(location, spread)
    values["expected_sota"] = np.stack(
        [distribution.expected_maximum(f.n_classifiers) for f in fields], axis=1
    )
    return values


def _shaped(values: dict[str, FloatArray], shape: tuple[int, ...]) -> dict[str, FloatArray]:
    return {name: v.reshape(*shape, *v.shape[1:]) for name, v in values.items()}
