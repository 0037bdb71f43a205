r"""Result of a whole board from any trace of its model, whose shape is one.

``complete`` gives the estimands of a trace. Each draw belongs to the cell of rho of the exact route
that its rho lies in; skills and scores on fresh items are drawn given its parameters as there, with
rho and the shift of the draw. ``tests/leaderboard/test_sample_trace.py`` holds NUTS against the
exact route.
"""

from collections.abc import Iterator
from itertools import batched
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
from bayes_sota.leaderboard.fit_shape import ShapeFit, fit_shape
from bayes_sota.leaderboard.posterior import compare_boards, notes_of, reasons_of
from bayes_sota.leaderboard.sample import (
    SINGLE,
    Drawn,
    best_first,
    board_tree,
    boards_before,
    check_dataset,
)
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily
from bayes_sota.leaderboard.skills import Shared, Skills, draw_own_skills, draw_skills

if TYPE_CHECKING:
    import pymc as pm

_COMPARED, _NUMBERS = 5, 4_000_000  # draws that are compared, and numbers at a time


def complete(
    trace: xr.DataTree,
    board: Leaderboard,
    model: "pm.Model | None" = None,
    *,
    priors: Priors | BoardPriors | None = None,
    family: str | SkillFamily | None = None,
    fit: ShapeFit | None = None,
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
    index = int(dataset_of(trace, "constant_data").get("family", -1))
    if family is None and index < 0:
        raise InputError("the trace does not say of which shape it is: give it as family=")
    shape = fit_shape(board, priors, family=family or list(FAMILIES)[index], fit=fit)
    posterior = trace["posterior"].to_dataset()
    needed = [*shape.parameters, *shape.shared_names]
    missing = [name for name in needed if name not in posterior]
    if missing:
        raise InputError(
            f"the trace lacks {', '.join(missing)}: theta_sota is computed from "
            f"{', '.join(needed)}, which an extended model keeps under these names"
        )
    model = model_of(trace, model, lambda: build_model(board, family=shape.shape, fit=shape), board)
    drawn, shared = drawn_of_trace(shape, posterior)
    fields = own_fields(shape, model, posterior)
    parts = [
        skills.estimands() | skills.new_scores(new_n_test, rng)
        for skills in _skills(drawn, shared, fields, rng)
    ]
    values = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    sampled = describe_nuts(trace)
    reasons = [*reasons_of(shape), sampled["diagnostics_reasons"]]
    attributes = {
        **describe_provenance((board,), shape.priors, method="nuts", seed=seed),
        **sampled,
        "diagnostics_reasons": "; ".join(filter(None, reasons)),
        "notes": "; ".join(notes_of(shape)),
        "skill_family": shape.shape.name,
        "new_n_test": int(new_n_test or 0),
        "rho_learnt": 0,
        "own_density": int(fields is not None),
    }
    tree = board_tree(values, drawn, attributes, rng, groups="estimands")
    groups = {
        str(name): tree[name].to_dataset() for name in (*tree.children, "sample_stats/families")
    }
    kept = posterior.drop_attrs()
    others = [name for name in groups["posterior"] if name not in kept and name != "shape"]
    same = {dim: kept[dim] for dim in ("chain", "draw")}
    estimands = groups["posterior"][others].assign_coords(same)
    groups["posterior"] = kept.assign(estimands.data_vars)
    groups |= _groups_of_model(model, trace, shape, groups, rng, own=fields is not None)
    groups["sample_stats"] = sampler_stats(trace)
    return result_tree(groups, attributes | {"metric": board.metric})


def drawn_of_trace(shape: ShapeFit, posterior: xr.Dataset) -> tuple[Drawn, Shared]:
    """Draws of the model as parameters of the exact route, with rho and the shift of each."""
    chains, size = posterior.sizes["chain"], posterior.sizes["chain"] * posterior.sizes["draw"]
    names = (*shape.parameters, *shape.shared_names)
    values = {name: posterior[name].values.reshape(size) for name in names}
    coordinates = np.stack(shape.standardised(*(values[n] for n in shape.parameters)), axis=1)
    rho = values.get("rho", np.full(size, shape.rho[0]))
    luck = values["submission_luck"] if shape.has_free_luck else None
    node = shape.nodes.find(rho, luck)
    parameters = Parameters(np.zeros(size, dtype=np.int64), node, coordinates)
    return Drawn(shape, parameters, chains, shape.evidence.board.names), (rho, values["shift"])


def _skills(
    drawn: Drawn, shared: Shared, fields: Iterator[FloatArray] | None, rng: np.random.Generator
) -> Iterator[Skills]:
    """Skills given the field of the parameters, or given others, some draws at a time."""
    if fields is None:
        yield draw_skills(drawn.fit, drawn.parameters, rng, shared=shared)
        return
    start = 0
    for block in fields:
        some = slice(start, start + len(block))
        own = shared[0][some], shared[1][some]
        yield draw_own_skills(drawn.fit, drawn.parameters[some], block, own, rng)
        start += len(block)


def own_fields(
    fit: ShapeFit, model: "pm.Model", posterior: xr.Dataset
) -> Iterator[FloatArray] | None:
    """Log densities under which a model observes the scores, (k, G) or (k, n, G), in blocks.

    None where they are those of the model's parameters.

    Raises
    ------
    InputError
        There are others, and also unlisted classifiers, of which the model says nothing; or
        ``score`` is not observed by ``observe_scores``.
    """
    import pytensor

    from bayes_sota.leaderboard.models import field_log_density

    score = next((v.owner for v in model.observed_RVs if v.name == "score"), None)
    of_score: tuple[Any, ...] = () if score is None else score.op.dist_params(score)
    if len(of_score) not in (2, 3) or of_score[0].ndim not in (1, 2):
        raise InputError("the model must observe score by observe_scores: theta_sota needs it")
    usual = field_log_density(fit, *(model[name] for name in fit.parameters))
    values = [posterior[v.name].values for v in model.free_RVs]
    values = [v.reshape(-1, *v.shape[2:]) for v in values]
    known: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    both = pytensor.function(model.free_RVs, [of_score[0], usual], **known)
    few = np.linspace(0, len(values[0]) - 1, _COMPARED).astype(np.int64)
    pairs = (both(*(v[d] for v in values)) for d in few)
    if all(np.allclose(ours, theirs, atol=1e-8) for ours, theirs in pairs):
        return None
    if fit.evidence.board.is_partial:
        raise InputError(
            "the model observes the scores under densities of its own, and the board has "
            "classifiers that are not listed: theta_sota needs theirs as well"
        )
    alone = pytensor.function(model.free_RVs, of_score[0], **known)
    each = (alone(*draw) for draw in zip(*values, strict=True))
    size = max(1, _NUMBERS // int(np.size(alone(*(v[0] for v in values)))))
    return (np.stack(block) for block in batched(each, size))


def _groups_of_model(
    model: "pm.Model",
    trace: xr.DataTree,
    shape: ShapeFit,
    groups: dict[str, xr.Dataset],
    rng: np.random.Generator,
    *,
    own: bool,
) -> dict[str, xr.Dataset]:
    """What the model gives, with the estimands of its prior where its field is ours."""
    board = shape.evidence.board
    found = model_groups(model, trace, rng)
    extended = {v.name for v in model.free_RVs} - {*shape.parameters, *shape.shared_names}
    if not own:
        before, shared = drawn_of_trace(shape, found["prior"])
        simulated = before.dataset(boards_before(before, shared, rng))
        others = [name for name in groups["posterior"] if name not in found["prior"]]
        found["prior"] = found["prior"].assign(simulated[others].data_vars)
        if not extended:
            found["prior_predictive"]["score"] = simulated["score"]
    if own or extended:
        scores = found["posterior_predictive"]["score"].values
        boards = board.sign * scores.reshape(-1, scores.shape[-1])
        observed = shape.evidence.scores[shape.evidence.entries]
        found["predictive_check"] = check_dataset(compare_boards(observed, boards))
    place = groups["observed_data"]["place"]
    for name in ("prior_predictive", "posterior_predictive"):
        ordered = board.sign * best_first(board.sign * found[name]["score"].values)
        with_place = found[name].assign(sorted_score=(("chain", "draw", "place"), ordered))
        found[name] = with_place.assign_coords(place=place)
    theirs = dataset_of(trace, "observed_data").drop_vars("score", errors="ignore")
    found["observed_data"] = xr.merge([groups["observed_data"], theirs])
    dtype = np.float32 if found["log_likelihood"].nbytes > SINGLE else np.float64
    found["log_likelihood"] = found["log_likelihood"].astype(dtype)
    return found
