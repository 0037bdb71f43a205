"""Result of a whole board from any trace of its model.

Skills are drawn under the density with which the model observes the scores, at rho and the shift of
each draw, with the tables of the node of rho. ``tests/leaderboard/test_sample_trace.py`` compares
NUTS with the exact route.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.sample import resolve_seed, result_tree
from bayes_sota.core.sample_trace import check_trace, completed_groups, describe_completed, model_of
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.fit import FieldFit, fit_shape
from bayes_sota.leaderboard.posterior import notes_of, reasons_of
from bayes_sota.leaderboard.sample import best_first, compare_boards, facts_of, groups_of_board
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily
from bayes_sota.leaderboard.skills import Skills, draw_skills, wider_grid

if TYPE_CHECKING:
    import pymc as pm

_OF_MODEL = ("rho_keeps_its_prior", "anchors_leave_rho")  # potentials of ``build_model``


def complete(
    trace: xr.DataTree,
    board: Leaderboard,
    model: "pm.Model | None" = None,
    *,
    priors: Any = None,
    family: str | SkillFamily | None = None,
    fit: FieldFit | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Result of a board from a trace of ``build_model``, extended or not.

    Parameters
    ----------
    trace : DataTree
        From ``pm.sample``, with the variables of the model.
    board : Leaderboard
        Whose model it is.
    model : pm.Model, optional
        An extended model; default that of the ``with`` block, or the model of the board. Log
        likelihood, prior and replicated scores come from it, and the density of the skills.
    priors, family, fit
        As in ``build_model``; the family by default that of the trace.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        Groups as in ``estimate_sota``, with the variables of the model.

    Raises
    ------
    InputError
        A result; a trace of another board, model or prior, without the variables that theta_sota
        needs, or of an extended model that is not given; a model with a density for each entry of a
        board with unlisted classifiers.

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
    rng, seed = resolve_seed(random_seed)
    index = int(dataset_of(trace, "constant_data").get("family", -1))
    if family is None and index < 0:
        raise InputError("the trace names no shape: is it of all scores? then give family=")
    shape = fit_shape(board, priors, family=family or list(FAMILIES)[index], fit=fit)
    posterior = trace["posterior"].to_dataset()
    free = () if shape.priors.correlation.is_fixed else ("rho",)
    needed = [*shape.parameters, "shift", *free]
    if missing := [name for name in needed if name not in posterior]:
        fix = f"theta_sota needs {', '.join(needed)}; keep these names in an extended model"
        raise InputError(f"the trace lacks {', '.join(missing)}", fix=fix)
    model = model_of(trace, model, lambda: build_model(board, family=shape.shape, fit=shape), shape)
    skills = skills_of_trace(shape, model, posterior, rng)
    groups = completed_groups(trace, model, rng)
    described = describe_completed(trace, model, groups, seed)
    replicated = board.sign * groups["posterior_predictive"]["score"].values
    observed = shape.evidence.scores[shape.evidence.entries]
    check = compare_boards(observed, replicated.reshape(-1, replicated.shape[-1]))
    drawn = skills.estimands() | skills.new_scores(None, rng)
    ours = groups_of_board(shape, posterior.sizes["chain"], drawn, check)
    place = ours["observed_data"]["place"]
    for name in ("prior_predictive", "posterior_predictive"):
        scores = best_first(board.sign * groups[name]["score"].values)
        ordered = ("chain", "draw", "place"), board.sign * scores
        groups[name] = groups[name].assign(sorted_score=ordered).assign_coords(place=place)
    same = {dim: posterior[dim] for dim in ("chain", "draw")}
    ours["posterior"] = ours["posterior"].assign_coords(same)
    for name in ("posterior", "observed_data"):
        ours[name] = xr.merge([groups[name], ours[name]], compat="override", join="outer")
    of_known, doubts = notes_of_anchors(board)
    reasons = [*doubts, *reasons_of(shape), described["diagnostics_reasons"]]
    notes = [*notes_of(shape), *of_known, *_notes_on_potentials(model)]
    facts = facts_of(shape, reasons, notes) | {"rho_learnt": 0, "skill_family": shape.shape.name}
    return result_tree(groups | ours, described | facts)


def _notes_on_potentials(model: "pm.Model") -> Iterator[str]:
    """Note on potentials, which the prior groups lack."""
    if own := [one.name for one in model.potentials if one.name not in _OF_MODEL]:
        what = f"the prior groups, log_prior and so psense are without {', '.join(own)}"
        yield f"{what}: PyMC draws no potential"


def skills_of_trace(
    fit: FieldFit, model: "pm.Model", posterior: xr.Dataset, rng: np.random.Generator
) -> Skills:
    """Skills of all modelled classifiers at each draw of a trace."""
    size = posterior.sizes["chain"] * posterior.sizes["draw"]
    rho = posterior["rho"].values.ravel() if "rho" in posterior else np.full(size, fit.rho[0])
    density = _log_density(model, posterior)
    return draw_own_skills(fit, density, rho, posterior["shift"].values.ravel(), rng)


def _log_density(model: "pm.Model", posterior: xr.Dataset) -> Callable[[int], FloatArray]:
    """Log density with which a model observes the scores at a draw, (1, G) or (E, G)."""
    import pytensor

    score = next((v.owner for v in model.observed_RVs if v.name == "score"), None)
    of_score: tuple[Any, ...] = () if score is None else score.op.dist_params(score)
    if len(of_score) not in (2, 3) or of_score[0].ndim not in (1, 2):
        raise InputError("the model must observe score by observe_scores: theta_sota needs it")
    known: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    density = pytensor.function(model.free_RVs, of_score[0], **known)
    values = [posterior[v.name].values for v in model.free_RVs]
    values = [v.reshape(-1, *v.shape[2:]) for v in values]
    return lambda draw: np.atleast_2d(density(*(v[draw] for v in values)))


def draw_own_skills(
    fit: FieldFit,
    log_density: Callable[[int], FloatArray],
    rho: FloatArray,
    shift: FloatArray,
    rng: np.random.Generator,
) -> Skills:
    """Skills where each draw has a density of its own, or one for each entry.

    Log densities are (1, G) or (E, G), per unit of the grid; beyond it they are continued as
    parabolas. All modelled classifiers are listed.
    """
    y, step, first = fit.evidence.y, fit.evidence.step, fit.classifiers[2]
    away = wider_grid(fit.evidence)[0][y.size :] - y[-1]

    def shapes(draws: IntArray) -> FloatArray:
        own = np.stack([log_density(draw) for draw in draws.tolist()])
        own = own[:, first] if own.shape[1] > 1 else own
        bend = np.minimum(own[..., -1:] - 2 * own[..., -2:-1] + own[..., -3:-2], 0.0) / step**2
        slope = (own[..., -1:] - own[..., -2:-1]) / step + bend * step / 2
        beyond = own[..., -1:] + slope * away + bend * away**2 / 2
        return fit.in_units(np.concatenate([own, beyond], axis=2))[0]

    node = fit.nodes.find(rho)
    parameters = Parameters(np.zeros(rho.size, np.int64), node, np.zeros((rho.size, 2)))
    return draw_skills(fit, parameters, rng, every=True, shapes=shapes, shared=(rho, shift))
