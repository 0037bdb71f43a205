"""Answers with tasks, clusters or runs by NUTS: a second route beside ``from_items``.

``tests/calibration/evaluations.py`` compares both routes on simulated and real answers.
"""

from typing import TYPE_CHECKING

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.builders import EvaluationPriors, ItemPriors
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample import sample_completed, with_attributes
from bayes_sota.core.types import Seed
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    import xarray as xr


def sample_evaluations(
    responses: Responses,
    *,
    model: Model = None,
    priors: Priors | ItemPriors | EvaluationPriors | None = None,
    draws: int | None = None,
    tune: int | None = None,
    chains: int | None = None,
    target_accept: float | None = None,
    cores: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior of skills by NUTS (nutpie) of the model of all answers (``items.build_model``).

    A check of ``estimate_sota``, which takes a second where this takes a minute, and a start for a
    model of one's own. Here classifiers, items and tasks borrow from each other: intervals are
    narrower, and small tasks are shrunk towards the others.

    Parameters
    ----------
    responses : Responses
        Skills are about what they are about: new items, new tasks, or new runs of these items.
    model : ModelSpecification, name or path, optional
        It gives the priors and the settings of the sampler. Default "evaluations", or "items" of
        single answers without tasks and clusters.
    priors : Priors, ItemPriors or EvaluationPriors, optional
        In place of a model.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``; default those of the model.

    Returns
    -------
    xarray.DataTree
        As ``items.complete`` returns it.

    Raises
    ------
    InputError
        Priors beside a model, a model of another builder, sizes too small for diagnostics, and what
        ``items.build_model`` refuses.

    Examples
    --------
    >>> import numpy as np
    >>> import bayes_sota as bs
    >>> shares = np.random.default_rng(0).integers(0, 4, (40, 3)) / 3
    >>> exam = bs.Responses(shares, n_runs=3, tasks=["law", "art"] * 20)
    >>> tree = sample_evaluations(exam, draws=200, tune=300, chains=2, random_seed=0)
    >>> list(bs.summarize(tree).index)[:2]
    ['theta_sota', 'winner_skill']
    """
    from bayes_sota.items.models import build_model, builder_of
    from bayes_sota.items.sample import complete

    spec = chosen_model(model, builder_of(responses), priors)
    built = build_model(responses, spec.priors)
    tree = sample_completed(
        built,
        lambda trace, rng: complete(trace, responses, built, random_seed=rng),
        random_seed,
        spec.sampler,
        draws=draws,
        tune=tune,
        chains=chains,
        cores=cores,
        target_accept=target_accept,
        progressbar=progressbar,
    )
    return with_attributes(tree, spec.provenance)
