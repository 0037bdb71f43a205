"""Comparison of learners: from fold scores or a trace to the complete result in the one schema.

``tests/crossval/test_sample.py`` compares with the correlated Student t and with simulation.
"""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota import crossval
from bayes_sota.core import sample as results
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.priors import CrossValidationPriors
from bayes_sota.core.types import Seed
from bayes_sota.crossval.estimates import canonical_iterations, correlated_t
from bayes_sota.crossval.fold_scores import FoldScores, pair_names
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

_CHAINS = 4  # of independent draws


def sample_comparison(
    fold_scores: FoldScores,
    *,
    model: Model = None,
    priors: CrossValidationPriors | None = None,
    random_seed: Seed = DEFAULT_SEED,
    **settings: Any,
) -> "xr.DataTree":
    """Posterior of the differences of learners by NUTS (nutpie), completed by ``complete``.

    Parameters
    ----------
    fold_scores : FoldScores
    model : ModelSpecification or name, optional
        It gives the priors and the settings of the sampler. Default "crossval".
    priors : CrossValidationPriors, optional
        In place of a model.
    random_seed : int, SeedSequence, Generator or None
    **settings
        ``draws``, ``tune``, ``chains``, ``target_accept``, ``cores``, ``progressbar`` as in
        ``pm.sample``; default those of the model, else 1000, 1000, 4 and 0.95.

    Raises
    ------
    InputError
        Priors beside a model, a model of another builder, sizes too small for diagnostics.

    Examples
    --------
    >>> runs = FoldScores(np.random.default_rng(0).normal(0.8, 0.05, (3, 4, 10)))
    >>> tree = sample_comparison(runs, random_seed=0)  # doctest: +SKIP
    """
    spec = chosen_model(model, "crossval", priors)
    built = crossval.build_model(fold_scores, spec.priors)
    tree = results.sample_completed(
        built,
        lambda trace, rng: complete(trace, fold_scores, built, random_seed=rng),
        random_seed,
        spec.sampler,
        compile_kwargs={"freeze_model": True},  # what depends on the data alone is computed once
        **settings,
    )
    return results.with_attributes(tree, spec.provenance)


def draw_differences(
    scores: FoldScores, draws: int, rng: np.random.Generator
) -> "dict[str, xr.Dataset]":
    """Draws from the correlated t of all pairs."""
    import xarray as xr

    names, folds, tasks = scores.learners, scores.folds, scores.tasks
    a, b = pairs = np.triu_indices(len(names), 1)
    found = [[correlated_t(scores, *pair, task=t) for pair in np.transpose(pairs)] for t in tasks]
    each = [[(x.mean, x.scale, x.fold_sd, x.df) for x in row] for row in found]
    mean, scale, sd, df = np.moveaxis(np.array(each), -1, 0)
    size = (_CHAINS, draws, *mean.shape)
    factor = np.sqrt(df / rng.chisquare(df, size))
    true = mean + factor * scale * rng.standard_normal(size)
    observed = scores.scores[:, a] - scores.scores[:, b]
    every = max(1, -(-8 * observed.size * _CHAINS * draws // results.LARGEST_GROUP))
    shared = true + factor * sd / np.sqrt(folds - 1) * rng.standard_normal(size)
    of_a_value = (factor * sd / np.sqrt(folds / observed.shape[3]))[:, ::every]
    again = rng.standard_normal((*of_a_value.shape, *observed.shape[2:]))
    again = shared[:, ::every, ..., None, None] + again * of_a_value[..., None, None]
    cell, fits, drawn = ("task", "pair"), ("iteration", "fold"), ("chain", "draw", "task", "pair")
    groups: dict[str, dict[str, Any]] = {
        "posterior": {"difference": (drawn, true), "fold_difference_sd": (drawn, factor * sd)},
        "posterior_predictive": {"fold_difference": ((*drawn, *fits), again)},
        "observed_data": {"fold_difference": ((*cell, *fits), observed)},
        "constant_data": {"fold_score": (("task", "learner", *fits), scores.scores)},
    }
    labels: dict[Any, Any] = {"task": tasks, "learner": names, "pair": pair_names(names)}
    datasets = {name: xr.Dataset(group) for name, group in groups.items()}
    return {
        name: data.assign_coords({x: list(labels.get(x, range(n))) for x, n in data.sizes.items()})
        for name, data in datasets.items()
    }


def complete(
    trace: "xr.DataTree",
    fold_scores: FoldScores,
    model: "pm.Model | None" = None,
    *,
    random_seed: Seed = DEFAULT_SEED,
    **settings: Any,
) -> "xr.DataTree":
    """Whole result of a trace of a model of ``build_model``, extended or not.

    Parameters
    ----------
    trace : DataTree
        As ``pm.sample`` gives it.
    fold_scores : FoldScores
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(fold_scores, **settings)``.
    random_seed : int, SeedSequence or Generator, optional
    **settings
        Options of ``build_model``, where no model is given.

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` of the variables of ``build_model``; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``relative_score``;
        ``log_likelihood`` of every iteration; ``log_prior``, ``sample_stats``; ``predictions`` with
        ``canonical_difference`` (task, pair) in one more canonical run; ``point_estimate`` with
        ``p_best`` (learner,) over data sets, or on the only one; ``constant_data`` with
        ``observed_difference`` (task, pair) and ``n_iterations`` (task,).

    Raises
    ------
    InputError
        A trace of another model, other data or another schema, or without variables of the model.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> runs = FoldScores(np.random.default_rng(0).normal(0.8, 0.05, (3, 4, 10)))
    >>> with bs.crossval.build_model(runs):
    ...     trace = pm.sample()  # doctest: +SKIP
    ...     tree = bs.crossval.complete(trace, runs)  # doctest: +SKIP
    """
    build = partial(crossval.build_model, fold_scores, **settings)
    chosen = results.model_of(trace, model, build, fold_scores)
    rng, seed = results.resolve_seed(random_seed)
    groups = results.completed_groups(trace, chosen, rng)
    posterior = groups["posterior"]
    # observed_data has the scores
    groups["constant_data"] = groups["constant_data"].drop_vars("given_scores", errors="ignore")
    groups["predictions"] = _canonical_runs(posterior, fold_scores.folds, rng)
    effect = compared_effects(posterior)
    groups["point_estimate"] = results.share_of_draws(effect == effect.max("learner"), "p_best")
    about = results.describe_completed(trace, chosen, groups, seed)
    k, number = fold_scores.folds, canonical_iterations(fold_scores.folds)
    about |= {"folds": k, "scorer": fold_scores.scorer, "canonical_iterations": number}
    return results.result_tree(groups, about)


def compared_effects(posterior: "xr.Dataset") -> "xr.DataArray":
    """Effects of the learners over data sets, or on the only one, (chain, draw, learner)."""
    if posterior.sizes["task"] > 1:
        return posterior["learner_effect"]
    return posterior["task_effect"].isel(task=0, drop=True)


def _canonical_runs(posterior: "xr.Dataset", folds: int, rng: np.random.Generator) -> "xr.Dataset":
    steady, spread = (posterior[name].values for name in ("steady_state", "partition_sd"))
    noise = rng.standard_normal(steady.shape) / canonical_iterations(folds) ** 0.5
    runs, (a, b) = steady + spread * noise, np.triu_indices(steady.shape[-1], 1)
    difference = posterior["task_difference"].copy(data=runs[..., a] - runs[..., b])
    return difference.to_dataset(name="canonical_difference")
