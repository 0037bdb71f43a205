"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

``complete`` makes the same of any trace of the board's model: skills are drawn under the density
with which the model observes the scores. ``tests/leaderboard/test_sample_trace.py`` compares the
exact route with NUTS, ``tests/leaderboard/test_predictive.py`` each group with another route.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    check_trace,
    completed_groups,
    describe_completed,
    describe_provenance,
    lay_out,
    model_of,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import FloatArray, Groups, IntArray, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.fit import FAMILIES, FieldFit, SkillFamily, fit_shape
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior, notes_of, reasons_of
from bayes_sota.leaderboard.skills import (
    Skills,
    draw_skills,
    fresh_scores,
    prior_boards,
    wider_grid,
)

if TYPE_CHECKING:
    import pymc as pm

NEW_SCORES = ("winner_new_score", "best_new_score")
_OF_SCORES = {"theta_sota", "expected_sota", "winner_skill", "skill", "location", *NEW_SCORES}
"""Quantities in the units of the scores, which have the board's sign."""
_OF_MODEL = ("rho_keeps_its_prior", "anchors_leave_rho")  # potentials of ``build_model``
_REPLICATED = 1 << 20  # scores of a variable of replicated boards
_LEVELS, _GAPS = (0.05, 0.25, 0.5, 0.75, 0.95), (1, 2, 5)
_DIMS = {"shape": ("shape_parameter",), "sorted_score": ("place",)}
_DIMS |= dict.fromkeys(("score", "skill"), ("classifier",))


def lay_out_board(
    fit: FieldFit, chains: int, values: Mapping[str, Any], kept: Any = None
) -> xr.Dataset:
    """Dataset of values (D, ...); ``kept`` are the draws of each chain that values have."""
    board, entries = fit.evidence.board, fit.evidence.entries
    names = board.names if "skill" in values else [board.names[j] for j in entries]
    labels: dict[str, Any] = {"classifier": list(names), "place": 1 + np.arange(entries.size)}
    if "shape" in values:
        labels["shape_parameter"] = np.arange(2, 2 + values["shape"].shape[1])
    return lay_out(values, chains, _DIMS, labels | ({} if kept is None else {"draw": kept}))


def signed(board: Leaderboard, values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with skills and new scores in the sign of the metric, and the bias."""
    shown = {name: board.sign * v if name in _OF_SCORES else v for name, v in values.items()}
    best = shown.pop("observed_maximum", board.maximum)
    return shown | {"multiplicity_bias": board.sign * best - shown["theta_sota"]}


def groups_of_board(
    fit: FieldFit, chains: int, values: Mapping[str, Any], check: xr.Dataset
) -> dict[str, xr.Dataset]:
    """Estimands, scores on fresh items, the check, the data, and the families."""
    evidence, board, sign = fit.evidence, fit.evidence.board, fit.evidence.board.sign
    shown = signed(board, values)
    new = {name: shown.pop(name) for name in NEW_SCORES}
    if isinstance(board.n_classifiers, int):
        del shown["n_classifiers"]
    best = evidence.seen[evidence.entries][None]
    observed = {"score": sign * best, "sorted_score": sign * best_first(best)}
    constants: dict[str, Any] = {
        "observed_maximum": float(sign * board.maximum),
        "n_test": float(board.n_test or 0),
        "lower_is_better": float(board.lower_is_better),
        "modelled": ("classifier", evidence.modelled),
        "all_score": ("classifier", sign * evidence.scores),
    }
    labels: dict[str, Any] = {"classifier": list(board.names), "family": list(fit.families)}
    if (anchors := board.anchors) is not None:
        labels["anchor"] = list(anchors.names)
        known = {"score": sign * anchors.scores, "skill": sign * anchors.skill}
        known["error"] = anchors.error
        constants |= {f"anchor_{name}": ("anchor", v) for name, v in known.items()}
    families = {
        "probability": ("family", fit.family_weights.mean(axis=1)),
        "log_evidence": ("family", np.mean(fit.log_evidence, axis=1)),
    }
    weights = xr.Dataset(families, {"family": labels["family"]})
    return {
        "posterior": lay_out_board(fit, chains, shown),
        "predictions": lay_out_board(fit, chains, new),
        "predictive_check": check,
        "observed_data": lay_out_board(fit, 1, observed).isel(chain=0, draw=0, drop=True),
        "constant_data": xr.Dataset(constants, labels),
        "sample_stats/families": weights.sortby("probability", ascending=False),
    }


def facts_of(fit: FieldFit, reasons: Iterable[str], notes: Iterable[str]) -> dict[str, Any]:
    """Attributes of a result by any route."""
    return {
        "diagnostics_reasons": "; ".join(filter(None, reasons)),
        "notes": "; ".join(note.replace("; ", ", ") for note in notes),
        "metric": fit.evidence.board.metric,
    }


def sample_board(
    data: Leaderboard | Outcomes,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = DEFAULT_SEED,
    groups: Groups = "all",
    **provenance: Any,
) -> tuple[xr.DataTree, BoardPosterior]:
    """Exact posterior of a leaderboard, or of answers or numbers per item: tree and draws."""
    rng, seed = resolve_seed(random_seed)
    found = board_posterior(data, priors, draws=draws * chains, random_seed=rng, every=False)
    fit, values = found.skills.fit, dict(found.draws)
    if not fit.evidence.shares_scores:
        values["skill"] = found.skills.of_all(rng).astype(np.float64)
    kept = np.arange(0, draws, -(-fit.evidence.entries.size * draws * chains // _REPLICATED))
    some = found.skills.parameters[(kept + draws * np.arange(chains)[:, None]).ravel()]
    boards = fresh_scores(fit, some, rng)
    check = compare_boards(fit.evidence.seen[fit.evidence.entries], boards)
    parameters = found.skills.parameters.completed(fit, rng)
    made = groups_of_board(fit, chains, values | field_values(fit, parameters), check)
    behind = dict(zip(("point", "stratum"), found.skills.parameters.behind, strict=True))
    made["sample_stats"] = lay_out_board(fit, chains, behind)
    notes = list(found.notes)
    if groups == "all":
        prior_of = {"rho": fit.priors.correlation, "submission_luck": fit.priors.submission_luck}
        free = {k: prior for k, prior in prior_of.items() if k in values and not prior.is_fixed}
        log_prior = {k: prior.log_density(values[k]) for k, prior in free.items()}
        log_prior["coordinates"] = parameters.log_prior(fit)
        made["log_prior"] = lay_out_board(fit, chains, log_prior)
        for group, drawn in _replicates(fit, some, boards, rng).items():
            made[group] = lay_out_board(fit, chains, drawn, kept)
        if 8 * draws * chains * fit.evidence.entries.size <= LARGEST_GROUP:
            each = {"score": fit.log_likelihood_of_entries(parameters)}
            made["log_likelihood"] = lay_out_board(fit, chains, each)
        else:
            limit = LARGEST_GROUP >> 20
            notes.append(f"there is no group log_likelihood: it would pass {limit} MiB")
    attributes = {
        **describe_provenance((data,), priors, method="exact", seed=seed, **provenance),
        **facts_of(fit, found.reasons, notes),
        "draws_are_independent": 1,
        "effective_points": fit.effective_size,
        "rho_learnt": int(found.learns_rho),
    }
    return result_tree(made, attributes), found


def field_values(fit: FieldFit, parameters: Parameters) -> dict[str, Any]:
    """The parameters of the model in product space."""
    t = parameters.coordinates
    shown: dict[str, Any] = {"location": fit.location(t), "spread": fit.spread(t)}
    shown |= {"family": parameters.family} if len(fit.families) > 1 else {}
    return shown | ({"shape": t[:, 2:]} if t.shape[1] > 2 else {})


def compare_boards(observed: FloatArray, boards: FloatArray) -> xr.Dataset:
    """Quantiles and gaps of a board (n,) and of replicates (D, n), with p-values."""
    gaps = [k for k in _GAPS if k < observed.size]
    names = [*(f"quantile {q:g}" for q in _LEVELS), *(f"best minus next {k}" for k in gaps)]

    def statistics(scores: FloatArray) -> FloatArray:
        ordered = best_first(scores)
        quantiles = np.moveaxis(np.quantile(ordered, _LEVELS, axis=-1), 0, -1)
        return np.concatenate([quantiles, ordered[..., :1] - ordered[..., gaps]], axis=-1)

    ours, theirs = statistics(observed), statistics(boards)
    values = {
        "observed": ("statistic", ours),
        "replicated": (("replicate", "statistic"), theirs),
        "p_value": ("statistic", ((theirs > ours) + 0.5 * (theirs == ours)).mean(axis=0)),
    }
    return xr.Dataset(values, {"statistic": names})


def best_first(scores: FloatArray) -> FloatArray:
    """Scores of boards (..., E) in descending order."""
    return np.sort(scores, axis=-1)[..., ::-1]


def _replicates(
    fit: FieldFit, some: Parameters, boards: FloatArray, rng: np.random.Generator
) -> dict[str, dict[str, Any]]:
    sign, skills = fit.evidence.board.sign, draw_skills(fit, some, rng, every=True)
    again = fresh_scores(fit, some, rng, skills.psi[:, skills.classifier])
    prior = _prior(fit, some.node.size, rng)
    before = prior.pop("score")
    return {
        "posterior_predictive": {"score": sign * again, "sorted_score": sign * best_first(boards)},
        "prior_predictive": {"score": sign * before, "sorted_score": sign * best_first(before)},
        "prior": prior,
    }


def _prior(fit: FieldFit, size: int, rng: np.random.Generator) -> dict[str, Any]:
    rho = fit.priors.correlation.quantile(rng.random(size))
    shift = rng.standard_normal(size) * fit.evidence.wider((size,), rng)
    luck = fit.priors.submission_luck.quantile(rng.random(size)) if fit.evidence.has_luck else None
    parameters = Parameters.from_prior(fit, fit.nodes.find(rho, luck), rng)
    boards = prior_boards(fit, parameters, rho, shift, rng) | field_values(fit, parameters)
    known = signed(fit.evidence.board, boards) | {"rho": rho, "shift": shift}
    return known if luck is None else known | {"submission_luck": luck}


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
        An extended model; default that of the ``with`` block, or the model of the board.
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
        A trace of another board, model or prior, without the variables that theta_sota needs, or of
        an extended model that is not given; a model with a density for each entry of a board with
        unlisted classifiers.

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
    notes = [*notes_of(shape), *of_known]
    if own := [one.name for one in model.potentials if one.name not in _OF_MODEL]:
        what = f"the prior groups, log_prior and so psense are without {', '.join(own)}"
        notes.append(f"{what}: PyMC draws no potential")
    facts = facts_of(shape, reasons, notes) | {"rho_learnt": 0, "skill_family": shape.shape.name}
    return result_tree(groups | ours, described | facts)


def skills_of_trace(
    fit: FieldFit, model: "pm.Model", posterior: xr.Dataset, rng: np.random.Generator
) -> Skills:
    """Skills of all modelled classifiers at each draw of a trace."""
    shift = posterior["shift"].values.ravel()
    rho = posterior["rho"].values.ravel() if "rho" in posterior else np.full(shift.size, fit.rho[0])
    return draw_own_skills(fit, _log_density(model, posterior), rho, shift, rng)


def _log_density(model: "pm.Model", posterior: xr.Dataset) -> Callable[[int], FloatArray]:
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
    """Skills where each draw has a log density of its own, (1, G), or one for each entry, (E, G).

    Beyond the grid the densities are continued as parabolas.
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
