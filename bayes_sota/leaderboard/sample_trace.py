r"""Result of a whole board from any trace of its model, whose shape is one.

``complete`` gives the estimands of a trace. Each draw belongs to the cell of rho of the exact route
that its rho lies in; skills and scores on fresh items are drawn given its parameters as there, with
rho and the shift of the draw. ``tests/leaderboard/test_sample_trace.py`` holds NUTS against the
exact route.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import BoardPriors, Priors
from bayes_sota.core.sample import (
    check_trace,
    describe_nuts,
    describe_provenance,
    model_groups,
    model_of,
    resolve_seed,
    result_tree,
    sampler_stats,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.fit_shape import ShapeFit, fit_shape
from bayes_sota.leaderboard.posterior import compare_boards, notes_of, reasons_of
from bayes_sota.leaderboard.predictive import prior_boards
from bayes_sota.leaderboard.sample import (
    SINGLE,
    Drawn,
    best_first,
    build_board_tree,
    check_dataset,
    own_fields,
)
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily
from bayes_sota.leaderboard.skills import Shared, Skills, draw_own_skills, draw_skills

if TYPE_CHECKING:
    import pymc as pm

_LARGEST_R_HAT = 1.01
_LEAST_SIZE = 400.0  # effective draws


def complete(
    trace: xr.DataTree,
    board: Leaderboard,
    model: "pm.Model | None" = None,
    *,
    priors: Priors | BoardPriors | None = None,
    family: str | SkillFamily | None = None,
    fit: FieldFit | None = None,
    new_n_test: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Result of a board from a trace of ``build_model``, extended or not.

    Parameters
    ----------
    trace : DataTree
        Of ``pm.sample``, with the variables of the model.
    board : Leaderboard
        Whose model it is.
    model : pm.Model, optional
        An extended model; default that of the ``with`` block, or the model of the board. Log
        likelihood, prior and replicated scores come from it, and where it observes the scores
        under another density than that of its parameters, such as one of each entry, the skills
        too: the group ``prior`` then has no estimands.
    priors, family, fit
        As in ``build_model``; the family by default that of the trace.
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.
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
        or of an extended model that is not given; a model with another density of a board with
        unlisted classifiers, whose density it does not say.

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
    shape = fit_shape(board, priors, family=_family_of(trace, family), fit=fit)
    _check_variables(trace, shape)
    chosen = model_of(
        trace, model, lambda: build_model(board, family=shape.shape, fit=shape), board
    )
    provenance = describe_provenance((board,), shape.priors, method="nuts", seed=seed)
    return _complete(trace, shape, chosen, provenance, rng, new_n_test)


def _family_of(trace: xr.DataTree, family: str | SkillFamily | None) -> str | SkillFamily:
    """Shape that a trace is of; a given one must be that of the trace, where it says so."""
    constants = dataset_of(trace, "constant_data")
    if "family" not in constants:
        return family or "ex-gaussian"
    index = int(constants["family"])
    stated = list(FAMILIES)[index] if index >= 0 else None
    if family is None and stated is None:
        raise InputError("the trace is of a shape of one's own: give it as family=")
    name = family.name if isinstance(family, SkillFamily) else family
    if stated is not None and name not in (None, stated):
        raise InputError(f"the trace is of the family {stated}, not {name}")
    return family or stated or ""


def _check_variables(trace: xr.DataTree, shape: ShapeFit) -> None:
    needed = [*shape.parameters, *shape.shared_names]
    missing = [name for name in needed if name not in trace["posterior"]]
    if missing:
        raise InputError(
            f"the trace lacks {', '.join(missing)}: theta_sota is computed from "
            f"{', '.join(needed)}, which an extended model keeps under these names"
        )
    evidence, observed = shape.evidence, dataset_of(trace, "observed_data")
    if "score" in observed:
        here = evidence.board.sign * evidence.scores[evidence.entries]
        scores = observed["score"].values
        if scores.shape != here.shape or not np.allclose(scores, here):
            raise InputError("the trace is of another board: its scores differ")


def _complete(
    trace: xr.DataTree,
    shape: ShapeFit,
    model: "pm.Model",
    provenance: Mapping[str, Any],
    rng: np.random.Generator,
    new_n_test: int | None,
) -> xr.DataTree:
    """Groups of the estimands as of the exact route, the others as the model gives them."""
    board, posterior = shape.evidence.board, trace["posterior"].to_dataset()
    chains, draws = posterior.sizes["chain"], posterior.sizes["draw"]
    parameters, shared = _parameters(shape, posterior)
    fields = own_fields(shape, model, posterior)
    if fields is None:
        values = _estimands(draw_skills(shape, parameters, rng, shared=shared), rng, new_n_test)
    else:
        values = _own_estimands(shape, parameters, shared, fields, rng, new_n_test)
    values = {name: value.reshape(chains, draws) for name, value in values.items()}
    drawn = Drawn(shape, parameters, (chains, draws), board.names)
    attributes = {
        **provenance,
        **_diagnostics(trace, shape),
        "notes": "; ".join(notes_of(shape)),
        "skill_family": shape.shape.name,
        "new_n_test": int(new_n_test or 0),
        "rho_learnt": 0,
    }
    tree = build_board_tree(values, drawn, attributes, rng, groups="estimands")
    names = (*tree.children, "sample_stats/families")
    groups = {name: tree[name].to_dataset() for name in names}
    groups["posterior"] = _joined(posterior, groups["posterior"])
    of_model = model_groups(model, trace, rng)
    extended = {v.name for v in model.free_RVs} - {*shape.parameters, *shape.shared_names}
    if fields is None:
        before = _prior_boards(shape, of_model["prior"], rng)
        others = [str(name) for name in groups["posterior"] if name not in of_model["prior"]]
        of_model["prior"] = of_model["prior"].assign({name: before[name] for name in others})
        if not extended:
            of_model["prior_predictive"]["score"] = before["score"]
    if extended or fields is not None:
        attributes |= {"own_density": int(fields is not None)}
        scores = of_model["posterior_predictive"]["score"].values
        boards = board.sign * scores.reshape(-1, scores.shape[-1])
        check = compare_boards(shape.evidence.scores[shape.evidence.entries], boards)
        groups["predictive_check"] = check_dataset(check)
    observed = groups["observed_data"]
    for name in ("prior_predictive", "posterior_predictive"):
        ordered = board.sign * -np.sort(-board.sign * of_model[name]["score"].values, axis=-1)
        of_model[name] = of_model[name].assign(sorted_score=(("chain", "draw", "place"), ordered))
        of_model[name] = of_model[name].assign_coords(place=observed["place"])
    if "observed_data" in trace.children:
        observed = xr.merge([observed, trace["observed_data"].to_dataset().drop_vars("score")])
    dtype = np.float32 if of_model["log_likelihood"].nbytes > SINGLE else np.float64
    of_model["log_likelihood"] = of_model["log_likelihood"].astype(dtype)
    return result_tree(
        {**groups, **of_model, "observed_data": observed, "sample_stats": sampler_stats(trace)},
        {**attributes, "metric": board.metric},
    )


def _joined(posterior: xr.Dataset, estimands: xr.Dataset) -> xr.Dataset:
    """Variables of the trace, and the estimands that it has not."""
    kept = posterior.drop_attrs()
    others = [name for name in estimands if name not in kept and name != "shape"]
    same = {dim: kept[dim] for dim in ("chain", "draw")}
    return kept.assign({name: estimands[name].assign_coords(same) for name in others})


def _parameters(shape: ShapeFit, posterior: xr.Dataset) -> tuple[Parameters, Shared]:
    """Cell of rho and coordinates of each draw; rho and the shift of each."""
    size = posterior.sizes["chain"] * posterior.sizes["draw"]
    values = [posterior[name].values.reshape(size) for name in shape.parameters]
    coordinates = np.stack(shape.standardised(*values), axis=1)
    rho, luck = np.full(size, shape.rho[0]), None
    if not shape.priors.correlation.is_fixed:
        rho = posterior["rho"].values.reshape(size)
    if shape.has_free_luck:
        luck = posterior["submission_luck"].values.reshape(size)
    node = shape.nodes.find(rho, luck)
    family = np.zeros(size, dtype=np.int64)
    shift = posterior["shift"].values.reshape(size)
    return Parameters(family, node, coordinates), (rho, shift)


def _estimands(
    skills: Skills, rng: np.random.Generator, new_n_test: int | None
) -> dict[str, FloatArray]:
    """Everything that follows from skills."""
    return skills.estimands() | skills.new_scores(new_n_test, rng)


def _own_estimands(
    shape: ShapeFit,
    parameters: Parameters,
    shared: Shared,
    fields: Iterable[FloatArray],
    rng: np.random.Generator,
    new_n_test: int | None,
) -> dict[str, FloatArray]:
    """The same given the densities that the model says, a block of draws at a time."""
    parts, start = list[dict[str, FloatArray]](), 0
    for block in fields:
        here = slice(start, start + len(block))
        own = (shared[0][here], shared[1][here])
        skills = draw_own_skills(shape, parameters[here], block, own, rng)
        parts.append(_estimands(skills, rng, new_n_test))
        start += len(block)
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def _prior_boards(shape: ShapeFit, prior: xr.Dataset, rng: np.random.Generator) -> dict[str, Any]:
    """Simulated boards with the parameters of prior draws, and their estimands."""
    parameters, shared = _parameters(shape, prior)
    board, size = shape.evidence.board, (prior.sizes["chain"], prior.sizes["draw"])
    drawn = Drawn(shape, parameters, size, board.names)
    boards = prior_boards(shape, parameters, shared, rng)
    boards = drawn.signed(boards | {"sorted_score": best_first(boards["score"])})
    best = board.sign * boards.pop("observed_maximum")
    boards["multiplicity_bias"] = best - boards["theta_sota"]
    return {
        name: (
            ("chain", "draw", *("classifier",)[: value.ndim - 1]),
            value.reshape(*size, *value.shape[1:]),
        )
        for name, value in boards.items()
    }


def _diagnostics(trace: xr.DataTree, fit: FieldFit) -> dict[str, Any]:
    """Convergence over all variables of a trace, and what it says against the result."""
    import arviz as az

    diagnostics = describe_nuts(trace)
    posterior = trace["posterior"].to_dataset()
    reasons = [*reasons_of(fit)]
    if diagnostics["diagnostics_reasons"]:
        reasons.append(diagnostics["diagnostics_reasons"])
    posterior = posterior[[name for name, value in posterior.items() if value.max() > value.min()]]
    if posterior.sizes.get("draw", 0) > 3:  # of a single draw nothing varies
        if posterior.sizes["chain"] > 1:
            diagnostics["r_hat"] = _worst(az.rhat(posterior), np.nanmax)
        diagnostics["ess_bulk"] = _worst(az.ess(posterior), np.nanmin)
    if diagnostics.get("r_hat", 0.0) > _LARGEST_R_HAT:
        reasons.append(f"r_hat is {diagnostics['r_hat']:.3f}, above {_LARGEST_R_HAT}")
    if diagnostics.get("ess_bulk", np.inf) < _LEAST_SIZE:
        reasons.append(
            f"there are {diagnostics['ess_bulk']:.0f} effective draws of {_LEAST_SIZE:.0f}"
        )
    return diagnostics | {"diagnostics_reasons": "; ".join(reasons)}


def _worst(values: xr.Dataset, which: Any) -> float:
    return float(which([which(v.values) for v in values.data_vars.values() if v.notnull().any()]))
