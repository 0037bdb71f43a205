r"""Result of a whole board from any trace of its model, whose shape is one.

``complete`` gives the estimands of a trace. Skills are drawn under the density that the model of
the trace observes the scores with, at rho and the shift of each draw; the tables of the scores are
those of the cell of rho that a draw lies in. ``tests/leaderboard/test_sample_trace.py`` holds NUTS
against the exact route.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.numerics import invert_rows, one_thread
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree
from bayes_sota.core.sample_trace import (
    check_trace,
    describe_nuts,
    model_groups,
    model_of,
    sampler_stats,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.fit_shape import ShapeFit, fit_shape
from bayes_sota.leaderboard.posterior import compare_boards, notes_of, reasons_of
from bayes_sota.leaderboard.sample import BoardLayout, best_first, facts_of
from bayes_sota.leaderboard.sample_pairs import complete_paired
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily
from bayes_sota.leaderboard.skills import (
    Skills,
    draw_tries,
    expected_largest,
    log_hidden,
    wider_grid,
)

if TYPE_CHECKING:
    import pymc as pm


def complete(
    trace: xr.DataTree,
    board: Leaderboard | PairedBoards,
    model: "pm.Model | None" = None,
    *,
    priors: Any = None,
    family: str | SkillFamily | None = None,
    fit: ShapeFit | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Result of a board from a trace of ``build_model``, extended or not.

    Parameters
    ----------
    trace : DataTree
        Of ``pm.sample``, with the variables of the model.
    board : Leaderboard or PairedBoards
        Whose model it is; of ``build_paired`` the prior groups are of the model as it was built.
    model : pm.Model, optional
        An extended model; default that of the ``with`` block, or the model of the board. Log
        likelihood, prior and replicated scores come from it, and the density of the skills.
    priors, family, fit
        As in ``build_model``; the family by default that of the trace.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        Groups as of ``estimate_sota``, with the variables of the model: ``posterior`` (with
        theta_sota, winner_skill, expected_sota, n_above_sota, multiplicity_bias), ``predictions``,
        ``predictive_check``, ``observed_data``, and of the model ``prior``, ``prior_predictive``,
        ``posterior_predictive``, ``log_likelihood`` and ``log_prior``.

    Raises
    ------
    InputError
        A trace of another board or model, without the variables that theta_sota is computed from,
        or of an extended model that is not given; a model with a density for each entry of a board
        with unlisted classifiers, whose density it does not say.

    Examples
    --------
    >>> from bayes_sota.leaderboard.models import build_model
    >>> import pymc as pm
    >>> board = Leaderboard([0.90, 0.91, 0.915, 0.88, 0.93], n_test=1000)
    >>> with build_model(board, family="normal") as model:  # doctest: +SKIP
    ...     trace = pm.sample(init="adapt_diag")
    ...     tree = complete(trace, board)
    """
    from bayes_sota.leaderboard.models import build_model

    check_trace(trace)
    if isinstance(board, PairedBoards):
        return complete_paired(trace, board, model, priors, random_seed)
    rng, seed = resolve_seed(random_seed)
    index = int(dataset_of(trace, "constant_data").get("family", -1))
    if family is None and index < 0:
        raise InputError("the trace does not say of which shape it is: give it as family=")
    shape = fit_shape(board, priors, family=family or list(FAMILIES)[index], fit=fit)
    posterior = trace["posterior"].to_dataset()
    free = () if shape.priors.correlation.is_fixed else ("rho",)
    needed = [*shape.parameters, "shift", *free]
    missing = [name for name in needed if name not in posterior]
    if missing:
        raise InputError(
            f"the trace lacks {', '.join(missing)}: theta_sota is computed from "
            f"{', '.join(needed)}, which an extended model keeps under these names"
        )
    model = model_of(trace, model, lambda: build_model(board, family=shape.shape, fit=shape), board)
    skills = skills_of_trace(shape, model, posterior, rng)
    of_model = model_groups(model, trace, rng)
    replicated = board.sign * of_model["posterior_predictive"]["score"].values
    observed = shape.evidence.scores[shape.evidence.entries]
    check = compare_boards(observed, replicated.reshape(-1, replicated.shape[-1]))
    layout = BoardLayout(shape, board.names, posterior.sizes["chain"])
    groups = layout.groups(skills.estimands() | skills.new_scores(None, rng), check)
    same = {dim: posterior[dim] for dim in ("chain", "draw")}
    estimands = groups["posterior"].drop_vars(posterior.data_vars, errors="ignore")
    theirs = dataset_of(trace, "observed_data").drop_vars("score", errors="ignore")
    place = groups["observed_data"]["place"]
    groups |= of_model | {
        "posterior": posterior.drop_attrs().merge(estimands.assign_coords(same)),
        "observed_data": xr.merge([groups["observed_data"], theirs]),
        "sample_stats": sampler_stats(trace),
    }
    for name in ("prior_predictive", "posterior_predictive"):
        scores = board.sign * of_model[name]["score"].values
        ordered = ("chain", "draw", "place"), board.sign * best_first(scores)
        groups[name] = of_model[name].assign(sorted_score=ordered).assign_coords(place=place)
    sampled = describe_nuts(trace)
    reasons = [*reasons_of(shape), sampled["diagnostics_reasons"]]
    provenance = describe_provenance((board,), shape.priors, method="nuts", seed=seed)
    notes = [*notes_of(shape), *notes_of_anchors(board.anchors)]
    facts = sampled | facts_of(shape, reasons, notes) | {"rho_learnt": 0}
    return result_tree(groups, provenance | facts | {"skill_family": shape.shape.name})


def skills_of_trace(
    fit: ShapeFit, model: "pm.Model", posterior: xr.Dataset, rng: np.random.Generator
) -> Skills:
    """Skills of all modelled classifiers at each draw of a trace."""
    size = posterior.sizes["chain"] * posterior.sizes["draw"]
    rho = posterior["rho"].values.ravel() if "rho" in posterior else np.full(size, fit.rho[0])
    densities = _densities(model, posterior)
    return draw_own_skills(fit, densities, rho, posterior["shift"].values.ravel(), rng)


def _densities(model: "pm.Model", posterior: xr.Dataset) -> Iterator[FloatArray]:
    """Log density that a model observes the scores with at each draw, (1, G) or (E, G)."""
    import pytensor

    score = next((v.owner for v in model.observed_RVs if v.name == "score"), None)
    of_score: tuple[Any, ...] = () if score is None else score.op.dist_params(score)
    if len(of_score) not in (2, 3) or of_score[0].ndim not in (1, 2):
        raise InputError("the model must observe score by observe_scores: theta_sota needs it")
    known: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    density = pytensor.function(model.free_RVs, of_score[0], **known)
    values = [posterior[v.name].values for v in model.free_RVs]
    values = [v.reshape(-1, *v.shape[2:]) for v in values]
    return (np.atleast_2d(density(*draw)) for draw in zip(*values, strict=True))


@one_thread()
def draw_own_skills(
    fit: ShapeFit,
    log_densities: Iterable[FloatArray],
    rho: FloatArray,
    shift: FloatArray,
    rng: np.random.Generator,
) -> Skills:
    """Skills where each draw has a density of its own, or one for each entry.

    Log densities are (1, G) or (E, G), per unit of the grid; beyond it they are continued as
    parabolas, as those of normal edges are. All modelled classifiers are listed.
    """
    evidence, y, size = fit.evidence, fit.evidence.y, rho.size
    classifier, row, entry = fit.classifiers
    every_y, widths = wider_grid(evidence)
    away, every_psi = every_y[y.size :] - y[-1], evidence.law.skill_at(every_y)
    psi, fresh, others = np.empty((size, row.size)), np.empty(size), np.full(size, -np.inf)
    node, tries = fit.nodes.find(rho), draw_tries(fit, size, rng)
    for d, log_density in enumerate(log_densities):
        table, listed = fit.tables[node[d]], len(log_density) > 1
        own = log_density[entry] if listed else log_density
        own = own - (own.max(axis=1, keepdims=True) if evidence.is_cut else 0.0)
        shape = np.exp(own)
        density = fit.strangers.join(shape)
        cdf = np.cumsum(density * table.score[row], axis=1)
        psi[d] = evidence.law.skill_at(invert_rows(cdf, rng.random((row.size, 1)), y)[:, 0])
        bend = np.minimum(own[:, -1] - 2 * own[:, -2] + own[:, -3], 0.0) / evidence.step**2
        slope = (own[:, -1] - own[:, -2]) / evidence.step + bend * evidence.step / 2
        beyond = np.exp(own[:, -1:] + slope[:, None] * away + bend[:, None] * away**2 / 2)
        mass = np.concatenate([shape * table.typical, beyond], axis=1) * widths
        fresh[d] = expected_largest(mass, fit.copies.sum() / len(mass), every_psi)
        if evidence.board.is_partial:
            if listed:
                raise InputError(
                    "the model observes the scores under densities of their own, and the board has "
                    "classifiers that are not listed: theta_sota needs theirs as well"
                )
            hidden = np.exp(log_hidden(fit, table, density, tries[[d]]))
            at = invert_rows(hidden, rng.random((1, 1)), y)[0]
            others[d] = evidence.law.skill_at(at)[0]
    parameters = Parameters(np.zeros(size, np.int64), node, np.zeros((size, 2)))
    skills = Skills(fit, parameters, classifier, psi, others, fresh, rho, shift, tries)
    return skills.with_known(rng) if evidence.known_entries.size else skills
