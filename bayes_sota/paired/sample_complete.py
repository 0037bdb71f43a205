"""From draws of a model of two boards, extended or not, to the tree of ``estimate_paired``.

The skills are drawn given the hyperparameters, by the exact route's own functions;
``tests/paired/test_sample_complete.py`` compares a sampled tree with that of the exact route.
"""

from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.builders import PairedPriors, paired_priors
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample import (
    check_trace,
    describe_nuts,
    describe_sampled,
    model_groups,
    model_of,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import IntArray, Seed
from bayes_sota.data.paired import PairedBoards
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired.hyperparameters import (
    Draws,
    draw_prior,
    log_priors,
    name_draws,
    read_draws,
)
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.models import build_model
from bayes_sota.paired.posterior import estimands_of, gains_of, skills_given
from bayes_sota.paired.replicates import simulate_boards
from bayes_sota.paired.sample import Layout, describe_boards, notes_of
from bayes_sota.paired.teams import Selection


def complete(
    trace: xr.DataTree,
    boards: PairedBoards,
    model: pm.Model | None = None,
    priors: Priors | PairedPriors | None = None,
    *,
    top: float | None = None,
    merge: bool | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Tree of skills, estimands and checks of draws from a model of two boards.

    Parameters
    ----------
    trace : DataTree
        Draws of the model of ``build_model``, extended or not.
    boards : PairedBoards
        What the model is of.
    model : pm.Model, optional
        The extended model; default that of the ``with`` block, else that of ``build_model``. The
        family is that of the trace.
    priors, top, merge
        As given to ``build_model``.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        The groups of ``estimate_paired`` without ``family`` in ``posterior`` and without
        ``private_from_public``, and what the sampler says. With a given model the hyperparameters'
        prior, replicated scores (of the teams of fresh fields), log likelihood and log prior are
        that model's.

    Raises
    ------
    InputError
        A trace of another model, other boards or another schema; variables that are missing.

    Examples
    --------
    >>> boards = PairedBoards([0.8, 0.7, 0.9, 0.85, 0.6], [0.7, 0.72, 0.85, 0.8, 0.65])
    >>> complete(xr.DataTree(), boards)
    Traceback (most recent call last):
    ...
    bayes_sota.core.errors.InputError: the trace has no group 'posterior' with draws
    """
    check_trace(trace)
    priors, selection = paired_priors(priors), Selection.of_boards(boards, top, merge)
    current = model if model is not None else pm.Model.get_context(error_if_none=False)
    family = _family(trace, current)
    settings: dict[str, Any] = {"family": family, "top": top, "merge": merge}
    chosen = model_of(trace, current, lambda: build_model(boards, priors, **settings))
    likelihood = PairedLikelihood.of_teams(boards, selection.teams, priors)
    posterior = trace["posterior"].to_dataset()
    layout = Layout(boards, selection, posterior.sizes["chain"], posterior.sizes["draw"])
    _check_model(chosen, likelihood, layout)
    rng, seed = resolve_seed(random_seed)
    t, noise = read_draws(likelihood, _flat(posterior))
    psi, terms, unusual = skills_given(likelihood, FAMILIES[family], t, noise, rng)
    winner = selection.place_of(boards.public_winner)
    draws = estimands_of(likelihood, noise, psi, winner, layout.coordinate, rng)
    draws |= gains_of(likelihood, noise, unusual, layout.coordinate)
    estimands = layout.dataset(layout.estimands(draws, boards.public.max()))
    groups = {
        "posterior": _with(posterior, estimands),
        "predictions": layout.dataset(layout.predicted(draws)),
    }
    if current is None:
        groups |= {
            "posterior_predictive": layout.replicates(likelihood, psi, noise, rng),
            "log_likelihood": layout.log_likelihood(terms),
            "log_prior": layout.dataset(log_priors(likelihood, _flat(posterior))),
        }
    else:
        groups |= model_groups(chosen, trace, rng)
    groups |= _prior_groups(groups.get("prior"), layout, likelihood, family, rng)
    groups["sample_stats"] = dataset_of(trace, "sample_stats")
    groups = {name: _at(posterior, group) for name, group in groups.items()} | layout.data(
        likelihood
    )
    provenance = describe_sampled(chosen, groups, seed)
    attributes = describe_boards(boards, priors, selection, provenance)
    attributes |= describe_nuts(trace) | {"skill_family": family} | notes_of(groups)
    return result_tree(groups, attributes)


def _prior_groups(
    drawn: xr.Dataset | None,
    layout: Layout,
    likelihood: PairedLikelihood,
    family: str,
    rng: np.random.Generator,
) -> dict[str, xr.Dataset]:
    """Prior with estimands, of the hyperparameters that a model drew; else both, and scores."""
    shape = FAMILIES[family]
    if drawn is None:
        some = layout.thinned
        _, t, noise = draw_prior(likelihood, some.size, rng)
    else:
        some = Layout(layout.boards, layout.selection, 1, drawn.sizes["draw"])
        t, noise = read_draws(likelihood, _flat(drawn))
    t = t[:, : shape.dimension]
    index: IntArray = np.full(some.size, list(FAMILIES).index(family))
    draws, scores = simulate_boards(likelihood, layout.coordinate, index, t, noise, rng)
    estimands = some.estimands(draws, scores[..., 0].max(axis=1))
    if drawn is not None:
        return {"prior": _with(drawn, some.dataset(estimands))}
    named = name_draws(likelihood, index, t, noise)
    named = {k: v for k, v in named.items() if k != "family" and v.size}
    return {"prior": some.dataset(estimands | named), "prior_predictive": some.scores(scores)}


def _with(draws: xr.Dataset, more: xr.Dataset) -> xr.Dataset:
    """Draws with the variables that they lack, at their own coordinates."""
    more = more.drop_vars([name for name in more.data_vars if name in draws])
    return draws.merge(more.assign_coords(chain=draws["chain"], draw=draws["draw"]))


def _at(posterior: xr.Dataset, group: xr.Dataset) -> xr.Dataset:
    """The group with the labels of the shape's numbers, where it has any."""
    name = "shape_parameter"
    labelled = name in group.dims and name in posterior.coords
    return group.assign_coords({name: posterior[name]}) if labelled else group


def _flat(data: xr.Dataset) -> Draws:
    """Draws of all chains, (chains times draws, ...), by name."""
    flat = {}
    for name, variable in data.data_vars.items():
        values = variable.transpose("chain", "draw", ...).values
        flat[str(name)] = values.reshape(-1, *values.shape[2:])
    return flat


def _family(trace: xr.DataTree, model: pm.Model | None) -> str:
    """Family of the skills, which a model and its traces hold as data."""
    index = None
    if model is not None and "family" in model.named_vars:
        index = model["family"].get_value()
    elif model is None:
        index = dataset_of(trace, "constant_data").get("family")
    if index is None:
        raise InputError(
            "the trace or its model has no data 'family': is it of bs.paired.build_model?"
        )
    return list(FAMILIES)[int(index)]


def _check_model(model: pm.Model, likelihood: PairedLikelihood, layout: Layout) -> None:
    """Refuse a model without what the skills need, or of other boards."""
    needed = ["location", "spread", "rho", "outliers", "board_shift", "score"]
    if likelihood.standard_errors is None:
        needed += ["residual_sd", "noise_ratio"]
    if likelihood.teams.choice is not None:
        needed += ["submission_luck", "submission_slope"]
    missing = [name for name in needed if name not in model.named_vars]
    if missing:
        raise InputError(f"the model has no {', '.join(missing)}, which the skills need")
    stored = model.rvs_to_values[model["score"]].eval()
    scores = layout.data(likelihood)["observed_data"]["score"].values
    if stored.shape != scores.shape or not np.array_equal(stored, scores):
        raise InputError("the model is of other boards: its scores differ, or top and merge do")
