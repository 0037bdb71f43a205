"""Comparison of learners: from fold scores or a trace to the complete result in the one schema.

``tests/crossval/test_sample.py`` compares with the correlated Student t and with simulation.
"""

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota import crossval
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.builders import CrossValidationPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    completed_groups,
    describe_completed,
    describe_provenance,
    model_of,
    resolve_seed,
    result_tree,
    sample_completed,
    share_of_draws,
    with_attributes,
)
from bayes_sota.core.types import Seed
from bayes_sota.crossval.correlated_t import correlated_t
from bayes_sota.crossval.fold_scores import FoldScores
from bayes_sota.crossval.relative_scores import relative_scores
from bayes_sota.crossval.shape import canonical_iterations
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr

_CHAINS = 4  # of independent draws
_PRIORS = "p(difference, variance) = 1 / variance; correlation of fold scores 1 / folds"


def sample_comparison(
    fold_scores: FoldScores,
    *,
    model: Model = None,
    priors: CrossValidationPriors | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    target_accept: float | None = None,
    cores: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior of the differences of learners by NUTS (nutpie), completed as ``complete`` does.

    Parameters
    ----------
    fold_scores : FoldScores
    model : ModelSpecification, name or path, optional
        It gives the priors and the settings of the sampler. Default "crossval".
    priors : CrossValidationPriors, optional
        In place of a model.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``; default those of the model, else 1000, 1000, 4 and 0.95.

    Returns
    -------
    xarray.DataTree
        As ``complete`` returns it.

    Raises
    ------
    InputError
        Priors beside a model, a model of another builder, sizes too small for diagnostics, and what
        ``build_model`` refuses.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> rng = np.random.default_rng(0)
    >>> runs = FoldScores(rng.normal(0.8, 0.05, (3, 4, 10)) + [[[0.1]], [[0.0]], [[0.0]]])
    >>> tree = sample_comparison(runs, random_seed=0)  # doctest: +SKIP
    >>> bs.summarize(tree)  # doctest: +SKIP
    """
    spec = chosen_model(model, "crossval", priors)
    built = crossval.build_model(fold_scores, spec.priors)
    tree = sample_completed(
        built,
        lambda trace, rng: complete(trace, fold_scores, built, random_seed=rng),
        random_seed,
        spec.sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        target_accept=target_accept,
        progressbar=progressbar,
        compile_kwargs={"freeze_model": True},  # what depends on the data alone is computed once
    )
    return with_attributes(tree, spec.provenance)


def judged_tree(
    scores: FoldScores,
    estimates: dict[str, Any],
    draws: int,
    random_seed: Seed,
    attributes: dict[str, Any],
) -> "xr.DataTree":
    """Draws of the correlated t of all pairs, beside estimates of the learners.

    Parameters
    ----------
    scores : FoldScores
    estimates : dict
        Variables of ``point_estimate``, with dimensions task, learner and learner_other.
    draws : int
        Of each of four chains; all are independent.
    random_seed : int, SeedSequence, Generator or None
    attributes : dict
        More of the tree's.

    Returns
    -------
    xarray.DataTree
        As ``JudgedRuns.to_datatree`` says.
    """
    import xarray as xr

    rng, seed = resolve_seed(random_seed)
    names, pairs = scores.learners, list(combinations(range(len(scores.learners)), 2))
    found = [
        [correlated_t(scores, i, j, task=t) for i, j in pairs] for t in range(len(scores.tasks))
    ]
    mean, sd, df, n = (
        np.array([[getattr(one, name) for one in row] for row in found])
        for name in ("mean", "fold_sd", "df", "n_scores")
    )
    size, data = (_CHAINS, draws, *mean.shape), 1 / (scores.folds - 1)
    variance = sd**2 * df / rng.chisquare(df, size)
    true = mean + np.sqrt(variance * (1 / n + data)) * rng.standard_normal(size)
    a, b = np.transpose(pairs)
    observed = scores.scores[:, a] - scores.scores[:, b]
    every = max(1, -(-8 * observed.size * _CHAINS * draws // LARGEST_GROUP))
    few, spread = true[:, ::every], variance[:, ::every]
    shared = few + np.sqrt(spread * data) * rng.standard_normal(few.shape)
    folds = scores.folds if observed.shape[3] == 1 else 1  # of a value
    own = rng.standard_normal((*few.shape, *observed.shape[2:]))
    own *= np.sqrt(spread / folds)[..., None, None]
    cell, fits = ("task", "pair"), ("iteration", "fold")
    drawn = ("chain", "draw", *cell)
    groups: dict[str, dict[str, Any]] = {
        "posterior": {"difference": (drawn, true), "fold_difference_sd": (drawn, variance**0.5)},
        "posterior_predictive": {
            "fold_difference": ((*drawn, *fits), shared[..., None, None] + own)
        },
        "observed_data": {"fold_difference": ((*cell, *fits), observed)},
        "constant_data": {"fold_score": (("task", "learner", *fits), scores.scores)},
        "point_estimate": estimates,
    }
    labels: dict[Any, Any] = {"task": scores.tasks, "learner": names, "learner_other": names}
    labels["pair"] = [f"{names[i]} - {names[j]}" for i, j in pairs]
    laid_out = {}
    for name, group in groups.items():
        dataset = xr.Dataset(group)
        coords = {dim: list(labels.get(dim, range(n))) for dim, n in dataset.sizes.items()}
        laid_out[name] = dataset.assign_coords(coords)
    about = describe_provenance((scores,), _PRIORS, method="exact", seed=seed)
    known = {"draws_are_independent": 1, "scorer": scores.scorer, "folds": scores.folds}
    return result_tree(laid_out, {**about, **known, **attributes})


def complete(
    trace: "xr.DataTree",
    fold_scores: FoldScores,
    model: "pm.Model | None" = None,
    *,
    random_seed: Seed = DEFAULT_SEED,
    **settings: Any,
) -> "xr.DataTree":
    r"""Whole result of a trace of a model of ``build_model``, extended or not.

    Parameters
    ----------
    trace : DataTree
        With the group ``posterior``, as ``pm.sample`` gives it.
    fold_scores : FoldScores
        What the model is of.
    model : pm.Model, optional
        Default: that of the ``with`` block, else ``build_model(fold_scores, **settings)``.
    random_seed : int, SeedSequence or Generator, optional
        Of the draws from the prior and of predictions.
    **settings
        Of ``build_model``, where no model is given.

    Returns
    -------
    xarray.DataTree
        ``posterior`` and ``prior`` of the variables of ``build_model``; ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive`` with ``relative_score``;
        ``log_likelihood`` of every iteration; ``log_prior``, ``sample_stats``; ``predictions`` with
        ``canonical_difference`` (task, pair), the mean difference in one more canonical run (1 x
        10, 2 x 5 or 5 x 2 folds); ``point_estimate`` with ``p_best`` (learner,) over data sets;
        ``constant_data`` with ``observed_difference`` (task, pair) and ``n_iterations`` (task,).
        Attributes: provenance, divergences, ``folds``, ``scorer``, ``canonical_iterations``.

    Raises
    ------
    InputError
        A trace of another model, other data or another schema, without variables of the model, or
        with variables that a model is needed for; settings beside a model.

    Examples
    --------
    >>> import pymc as pm
    >>> import bayes_sota as bs
    >>> runs = FoldScores(np.random.default_rng(0).normal(0.8, 0.05, (3, 4, 10)))
    >>> with bs.crossval.build_model(runs):
    ...     trace = pm.sample()  # doctest: +SKIP
    ...     tree = bs.crossval.complete(trace, runs)  # doctest: +SKIP
    """
    if model is not None and settings:
        raise InputError(
            f"{', '.join(settings)}: settings of build_model have no effect beside a built model"
        )
    chosen = model_of(
        trace, model, lambda: crossval.build_model(fold_scores, **settings), fold_scores
    )
    rng, seed = resolve_seed(random_seed)
    groups = completed_groups(trace, chosen, rng)
    posterior = groups["posterior"]
    groups["constant_data"] = _constants(groups["constant_data"], posterior, fold_scores)
    groups["predictions"] = _canonical_runs(posterior, fold_scores.folds, rng)
    effect = posterior["learner_effect"]
    groups["point_estimate"] = share_of_draws(effect == effect.max("learner"), "p_best")
    attributes = {
        **describe_completed(trace, chosen, groups, seed),
        "folds": fold_scores.folds,
        "scorer": fold_scores.scorer,
        "canonical_iterations": canonical_iterations(fold_scores.folds),
        "dropped_iterations": relative_scores(fold_scores).dropped,
    }
    return result_tree(groups, attributes)


def _constants(
    constants: "xr.Dataset", posterior: "xr.Dataset", fold_scores: FoldScores
) -> "xr.Dataset":
    data = relative_scores(fold_scores)
    a, b = np.triu_indices(posterior.sizes["learner"], 1)
    means = data.task_means
    kept = constants.drop_vars("given_scores", errors="ignore")
    dims = {dim for variable in kept.data_vars.values() for dim in variable.dims}
    kept = kept.drop_dims([dim for dim in kept.dims if dim not in dims])
    return kept.assign(
        observed_difference=(("task", "pair"), means[:, a] - means[:, b]),
        n_iterations=("task", data.iterations),
    ).assign_coords({name: posterior[name].values for name in ("task", "pair")})


def _canonical_runs(posterior: "xr.Dataset", folds: int, rng: np.random.Generator) -> "xr.Dataset":
    """Mean differences of each pair in one more canonical run, given each draw."""
    import xarray as xr

    cells = ("chain", "draw", "task", "learner")
    steady, spread = (
        posterior[name].transpose(*cells).values for name in ("steady_state", "partition_sd")
    )
    nu = posterior["degrees_of_freedom"].transpose("chain", "draw").values[..., None, None]
    number, total = canonical_iterations(folds), np.zeros(steady.shape)
    for _ in range(number):
        heavy = np.sqrt(rng.chisquare(nu, (*steady.shape[:3], 1)) / (nu - 2))
        total += rng.standard_normal(steady.shape) / heavy
    scores = steady + spread * total / number
    a, b = np.triu_indices(posterior.sizes["learner"], 1)
    dims = ("chain", "draw", "task", "pair")
    coords = {name: posterior[name].values for name in dims}
    return xr.Dataset({"canonical_difference": (dims, scores[..., a] - scores[..., b])}, coords)
