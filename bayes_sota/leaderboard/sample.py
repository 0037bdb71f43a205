"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

The groups that ArviZ's checks need are drawn after the estimands, from the same generator.
``tests/leaderboard/test_models.py`` holds the exact route and NUTS together,
``tests/leaderboard/test_predictive.py`` each group against another route.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters, most_coordinates
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    describe_provenance,
    lay_out,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.fit_shape import ShapeFit
from bayes_sota.leaderboard.posterior import BoardCheck, board_posterior, check_board
from bayes_sota.leaderboard.predictive import fresh_scores, own_scores, prior_boards
from bayes_sota.leaderboard.skills import draw_skills

if TYPE_CHECKING:
    import pymc as pm

_POSTERIOR = (
    "theta_sota",
    "multiplicity_bias",
    "expected_sota",
    "winner_skill",
    "rho",
    "shift",
    "submission_luck",
    "n_above_sota",
)
SCORES = ("score", "sorted_score")
_NEW_SCORES = ("winner_new_score", "best_new_score")
SINGLE = 8 << 20
"""Bytes of a log likelihood above which it is in single precision."""
_OF_SCORES = ("theta_sota", "expected_sota", "winner_skill", "skill", "location", *SCORES)
"""Quantities in the units of the scores, which have the board's sign."""
_COMPARED, _NUMBERS = 5, 4_000_000  # draws that are compared, and numbers at a time
_DIMS = {
    "shape": ("shape_parameter",),
    "score": ("classifier",),
    "sorted_score": ("place",),
    "skill": ("classifier",),
}


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of a board, laid out as chains.

    Attributes
    ----------
    fit : FieldFit
    parameters : Parameters
        Behind the draws, flattened.
    shape : (int, int)
        Chains and draws.
    names : sequence of str
        Of all classifiers.
    psi : ndarray, shape (D, modelled classifiers), optional
        Board-conditional skills behind the draws, where they were drawn.
    """

    fit: FieldFit
    parameters: Parameters
    shape: tuple[int, int]
    names: Sequence[str]
    psi: FloatArray | None = None

    @property
    def modelled(self) -> list[str]:
        """Names of the modelled entries."""
        return [
            name for name, kept in zip(self.names, self.fit.evidence.modelled, strict=True) if kept
        ]

    @property
    def every(self) -> int:
        """One of how many draws predictive groups keep."""
        entries, m = len(self.modelled), len(self.names)
        widest = max(2 * entries, 0 if self.fit.evidence.shares_scores else m)
        return -(-8 * widest * self.parameters.node.size // LARGEST_GROUP)

    @property
    def kept(self) -> Any:
        """Numbers of the draws of each chain that predictive groups keep."""
        return np.arange(0, self.shape[1], self.every)

    def signed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same with scores, skills and places of fields in the sign of the metric."""
        sign = self.fit.evidence.board.sign
        return {k: sign * v if sign < 0 and k in _OF_SCORES else v for k, v in values.items()}

    def dataset(self, values: Mapping[str, Any], draws: Any = None) -> xr.Dataset:
        """Dataset of values (D, ...); of all draws, or of some."""
        some = {} if draws is None else {"draw": draws}
        return lay_out(values, self.shape[0], _DIMS, self._labels("skill" in values) | some)

    def observed(self) -> xr.Dataset:
        """Scores of the modelled entries, in their order and sorted."""
        scores = self.fit.evidence.scores[self.fit.evidence.modelled]
        values = self.signed({"score": scores, "sorted_score": np.sort(scores)[::-1]})
        dataset = xr.Dataset({name: (_DIMS[name], value) for name, value in values.items()})
        labels = self._labels(of_all=False)
        return dataset.assign_coords({dim: labels[dim] for dim in dataset.dims})

    def _labels(self, of_all: bool) -> dict[Any, Any]:
        """Labels of dimensions, with those of all classifiers or of the modelled entries."""
        return {
            "shape_parameter": np.arange(2, most_coordinates(self.fit)),
            "place": np.arange(1, len(self.modelled) + 1),
            "classifier": list(self.names) if of_all else self.modelled,
        }


def sample_with_fit(
    data: Leaderboard | Outcomes,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = DEFAULT_SEED,
    new_n_test: int | None = None,
    groups: Groups = "all",
    model_name: str | None = None,
    model_hash: str | None = None,
) -> tuple[xr.DataTree, FieldFit]:
    """Exact posterior of a leaderboard with all its scores, or of answers or numbers per item.

    Parameters
    ----------
    data : Leaderboard or Outcomes
    priors : BoardPriors
    draws, chains : int
        Draws per chain, and chains; all draws are independent given the importance sample.
    random_seed : int, SeedSequence, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.
    groups : {"all", "estimands"}
        "estimands" leaves out what only checks of the model need: replicated scores, prior,
        log likelihood and log prior. All other draws are the same.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    tree : DataTree
        As of ``build_board_tree``; from items with ``skill`` of every classifier.
    fit : FieldFit
        Weighted parameters behind the draws.
    """
    rng, seed = resolve_seed(random_seed)
    shape = chains, draws
    result = board_posterior(
        data, priors, draws=draws * chains, random_seed=rng, new_n_test=new_n_test, every=False
    )
    skills, values = result.skills, result.draws
    if not result.fit.evidence.shares_scores:
        values = values | {"skill": skills.of_all(rng).astype(np.float64)}
    shaped = {name: value.reshape(*shape, *value.shape[1:]) for name, value in values.items()}
    provenance = describe_provenance(
        (data,), priors, method="exact", seed=seed, model_name=model_name, model_hash=model_hash
    )
    attributes = provenance | {
        "draws_are_independent": 1,
        "effective_points": result.fit.effective_size,
        "diagnostics_reasons": "; ".join(result.reasons),
        "notes": "; ".join(note.replace("; ", ", ") for note in result.notes),
        "new_n_test": int(new_n_test or 0),
        "rho_learnt": int(result.learns_rho),
    }
    psi = None if result.fit.evidence.shares_scores else skills.psi[:, skills.classifier]
    behind = Drawn(result.fit, result.parameters, shape, data.names, psi)
    shared = dict(zip(("point", "stratum"), result.parameters.behind, strict=True))
    return build_board_tree(shaped, behind, attributes, rng, shared, groups=groups), result.fit


def build_board_tree(
    draws: Mapping[str, FloatArray],
    drawn: Drawn,
    attributes: Mapping[str, Any],
    rng: np.random.Generator,
    sample_stats: Mapping[str, NDArray[Any]] = MappingProxyType({}),
    *,
    groups: Groups = "all",
) -> xr.DataTree:
    """DataTree of one board from draws.

    Parameters
    ----------
    draws : mapping of str to ndarray, shape (chain, draw)
        ``skill`` has the shape (chain, draw, classifier).
    drawn : Drawn
        Parameters behind the draws, with the exact fit.
    attributes : mapping
    rng : Generator
        For replicated boards and draws from the prior.
    sample_stats : mapping, optional
        Statistics of a sampler, or which weighted point is behind each draw; (chain, draw).
    groups : {"all", "estimands"}
        As in ``sample_with_fit``.

    Returns
    -------
    xarray.DataTree
        ``posterior``: estimands and parameters of the model, ``location`` and ``spread`` of the
        field in log odds (in units of the score for the metric "score"), ``family``, an index into
        the coordinate of ``constant_data``, and ``shape``, further standardised coordinates, those
        that the family lacks from their prior. ``predictions``: scores on fresh items.
        ``observed_data``, ``posterior_predictive``, ``prior_predictive``: ``score`` of the
        modelled entries and ``sorted_score``. ``predictive_check``: statistics of replicated
        boards. ``prior``, ``log_likelihood`` and ``log_prior``, ``sample_stats`` (with weights of
        the families) and ``constant_data``, with the scores of all entries.
    """
    fit, shape = drawn.fit, drawn.shape
    board = fit.evidence.board
    flat = {name: v.reshape(-1, *v.shape[2:]) for name, v in draws.items()}
    flat = {k: board.sign * v if k in _NEW_SCORES else v for k, v in drawn.signed(flat).items()}
    flat["multiplicity_bias"] = board.sign * board.maximum - flat["theta_sota"]
    check = check_dataset(check_board(fit, rng))
    shift = rng.standard_normal(shape) * fit.evidence.wider(shape, rng)
    prior = {"level": rng.random(shape), "shift": shift}
    drawn = replace(drawn, parameters=drawn.parameters.completed(fit, rng))
    flat |= drawn.signed(parameter_values(fit, drawn.parameters))
    random_tries = () if isinstance(board.n_classifiers, int) else ("n_classifiers",)
    shown = (*_POSTERIOR, *random_tries, "location", "spread", "family", "shape", "skill")
    laid_out = {
        "posterior": drawn.dataset({name: flat[name] for name in shown if name in flat}),
        "predictions": drawn.dataset({name: flat[name] for name in _NEW_SCORES}),
        "predictive_check": check,
        "sample_stats": drawn.dataset({k: v.ravel() for k, v in sample_stats.items()}),
        "sample_stats/families": _family_dataset(fit),
        "observed_data": drawn.observed(),
        "constant_data": _constants(drawn),
    }
    attributes = {**attributes, "metric": board.metric}
    if groups == "all":
        others, notes = checking_groups(drawn, laid_out["posterior"], prior, rng)
        told = [str(attributes.get("notes", "")), *notes]
        attributes["notes"] = "; ".join(note for note in told if note)
        laid_out |= others
    return result_tree(laid_out, attributes)


def check_dataset(check: BoardCheck) -> xr.Dataset:
    """Group ``predictive_check``."""
    values = {
        "observed": ("statistic", check.observed),
        "replicated": (("replicate", "statistic"), check.replicated),
        "p_value": ("statistic", check.p_values),
    }
    return xr.Dataset(values, {"statistic": list(check.names)})


def _family_dataset(fit: FieldFit) -> xr.Dataset:
    table = {
        "probability": ("family", fit.family_weights.mean(axis=1)),
        "log_evidence": ("family", np.mean(fit.log_evidence, axis=1)),
    }
    return xr.Dataset(table, {"family": list(fit.families)}).sortby("probability", ascending=False)


def _constants(drawn: Drawn) -> xr.Dataset:
    evidence = drawn.fit.evidence
    board, families = evidence.board, list(drawn.fit.families)
    values: dict[str, Any] = {
        "observed_maximum": ((), float(board.sign * board.maximum)),
        "n_test": ((), float(board.n_test or 0)),
        "n_positive": ((), float(board.n_positive or 0)),
        "spread_ratio": ((), float(board.spread_ratio or 0)),
        "lower_is_better": ((), float(board.lower_is_better)),
        "typical_tries": ((), board.typical_tries),
        "standard_error": ((), float(board.standard_error or 0)),
        "modelled": ("classifier", evidence.modelled),
        "all_score": ("classifier", board.sign * evidence.scores),
        "n_coordinates": ("family", [points.points.shape[1] for points in drawn.fit.points]),
    }
    return xr.Dataset(
        values | _field(drawn.fit), {"classifier": list(drawn.names), "family": families}
    )


def _field(fit: FieldFit) -> dict[str, Any]:
    """What the density of one more classifier's skill is computed from (``summary_newcomers``)."""
    evidence, strangers, scale = fit.evidence, fit.strangers, fit.scale
    return {
        "grid": ("node", evidence.y),
        "grid_skill": ("node", evidence.board.sign * evidence.psi),
        "stranger_density": ("node", strangers.profile),
        "stranger_share": ((), strangers.share),
        "reach": ("node", fit.tables[fit.rho.size // 2].typical),
        "is_cut": ((), float(evidence.is_cut)),
        "field_prior": ("moment", list(scale.prior)),
        "error_ratio": ((), evidence.error_ratio),
    }


def best_first(scores: FloatArray) -> FloatArray:
    """Scores of boards (D, E) by their place."""
    return np.sort(scores, axis=1)[:, ::-1]


def parameter_values(fit: FieldFit, parameters: Parameters) -> dict[str, Any]:
    """Parameters of the model in product space, as the posterior and the prior show them."""
    coordinates = parameters.coordinates
    values: dict[str, Any] = {
        "location": fit.location(parameters.coordinates),
        "spread": fit.spread(parameters.coordinates),
    }
    if len(fit.families) > 1:
        values["family"] = parameters.family
    if coordinates.shape[1] > 2:
        values["shape"] = coordinates[:, 2:]
    return values


def checking_groups(
    drawn: Drawn, posterior: xr.Dataset, prior: Mapping[str, FloatArray], rng: np.random.Generator
) -> tuple[dict[str, xr.Dataset], list[str]]:
    """Predictions, prior, log likelihood and log prior, with notes on what was left out.

    Parameters
    ----------
    drawn : Drawn
    posterior : Dataset
        Its variables are those of the prior.
    prior : mapping of str to ndarray, shape (chain, draw)
        Draws of the ``level`` of rho, its prior probability to be lower, and of ``shift``.
    rng : Generator
    """
    fit, kept, parameters = drawn.fit, drawn.kept, drawn.parameters
    numbers = np.arange(parameters.node.size).reshape(drawn.shape)[:, kept].ravel()
    some = parameters[numbers]
    if drawn.psi is None:
        skills = draw_skills(fit, some, rng, every=True)
        psi = skills.psi[:, skills.classifier]
    else:
        psi = drawn.psi[numbers]
    again = {
        "score": own_scores(fit, some, psi, rng),
        "sorted_score": best_first(fresh_scores(fit, some, rng)),
    }
    before = _prior_values(drawn, {k: v[:, kept].ravel() for k, v in prior.items()}, rng)
    groups = {
        "prior": drawn.dataset({str(name): before[str(name)] for name in posterior}, kept),
        "prior_predictive": drawn.dataset({name: before[name] for name in SCORES}, kept),
        "posterior_predictive": drawn.dataset(drawn.signed(again), kept),
        "log_prior": drawn.dataset(_log_prior(drawn, posterior)),
    }
    notes, mebibytes = list[str](), f"{LARGEST_GROUP >> 20} MiB"
    if drawn.every > 1:
        notes.append(
            f"prior and predictive groups keep one of {drawn.every} draws: all pass {mebibytes}"
        )
    size = 4 * parameters.node.size * len(drawn.modelled)
    if size > LARGEST_GROUP:
        notes.append(f"there is no group log_likelihood: it would pass {mebibytes}")
    else:
        dtype = np.float32 if 2 * size > SINGLE else np.float64
        log_likelihood = fit.log_likelihood_of_entries(parameters, dtype)
        groups["log_likelihood"] = drawn.dataset({"score": log_likelihood})
    return groups, notes


def _prior_values(
    drawn: Drawn, prior: Mapping[str, FloatArray], rng: np.random.Generator
) -> dict[str, FloatArray]:
    """Prior draws of all that a posterior may hold, in the sign of the metric."""
    fit, level, shift = drawn.fit, prior["level"], prior["shift"]
    rho = fit.priors.correlation.quantile(level)
    known = {"rho": rho, "shift": shift}
    if fit.evidence.has_luck:
        known["submission_luck"] = fit.priors.submission_luck.quantile(rng.random(level.size))
    node = fit.nodes.find(rho, known.get("submission_luck"))
    parameters = Parameters.from_prior(fit, node, rng)
    boards = prior_boards(fit, parameters, (rho, shift), rng)
    boards["sorted_score"] = best_first(boards["score"])
    boards |= known | parameter_values(fit, parameters)
    boards = drawn.signed(boards)
    best = fit.evidence.board.sign * boards["observed_maximum"]
    return boards | {"multiplicity_bias": best - boards["theta_sota"]}


def _log_prior(drawn: Drawn, posterior: xr.Dataset) -> dict[str, FloatArray]:
    """Of the family with its coordinates, and of rho and luck where they are not known."""
    fit = drawn.fit
    log_prior = {"coordinates": drawn.parameters.log_prior(fit)}
    priors = {"rho": fit.priors.correlation, "submission_luck": fit.priors.submission_luck}
    for name, prior in priors.items():
        if name in posterior and not prior.is_fixed:
            log_prior[name] = prior.log_density(posterior[name].values.ravel())
    return log_prior


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
    own = of_score[0]
    usual = field_log_density(fit, *(model[name] for name in fit.parameters))
    names = [v.name for v in model.free_RVs]
    values = [posterior[n].values.reshape(-1, *posterior[n].shape[2:]) for n in names]
    known: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
    both = pytensor.function(model.free_RVs, [own, usual], **known)
    few = np.linspace(0, len(values[0]) - 1, _COMPARED).astype(np.int64)
    pairs = (both(*(v[d] for v in values)) for d in few)
    if all(np.allclose(ours, theirs, atol=1e-8) for ours, theirs in pairs):
        return None
    if fit.evidence.board.is_partial:
        raise InputError(
            "the model observes the scores under densities of its own, and the board has "
            "classifiers that are not listed: theta_sota needs theirs as well"
        )
    alone = pytensor.function(model.free_RVs, own, **known)
    size = max(1, _NUMBERS // int(np.size(alone(*(v[0] for v in values)))))
    starts = range(0, len(values[0]), size)
    return (
        np.stack([alone(*(v[d] for v in values)) for d in range(s, min(s + size, len(values[0])))])
        for s in starts
    )
