"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

The groups that ArviZ's checks need are drawn after the estimands, from the same generator.
``tests/leaderboard/test_sample_trace.py`` holds the exact route and NUTS together,
``tests/leaderboard/test_predictive.py`` each group against another route.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_sota.core.arguments import DEFAULT_SEED
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
from bayes_sota.leaderboard.posterior import (
    BoardCheck,
    BoardPosterior,
    board_posterior,
    check_board,
)
from bayes_sota.leaderboard.predictive import fresh_scores, own_scores, prior_boards
from bayes_sota.leaderboard.skills import Shared, draw_skills

_NEW_SCORES = ("winner_new_score", "best_new_score")
_SCORES = ("score", "sorted_score")
_ESTIMANDS = (
    "theta_sota",
    "multiplicity_bias",
    "expected_sota",
    "winner_skill",
    "rho",
    "shift",
    "submission_luck",
    "n_above_sota",
    "n_classifiers",
)
_OF_SCORES = {"theta_sota", "expected_sota", "winner_skill", "skill", *_NEW_SCORES, *_SCORES}
"""Quantities in the units of the scores, which have the board's sign."""
_DIMS = {
    "shape": ("shape_parameter",),
    "score": ("classifier",),
    "sorted_score": ("place",),
    "skill": ("classifier",),
}
SINGLE = 8 << 20
"""Bytes of a log likelihood above which it is in single precision."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Draws of a board, chain after chain.

    Attributes
    ----------
    fit : FieldFit
    parameters : Parameters
        Behind the draws.
    chains : int
    names : sequence of str
        Of all classifiers.
    psi : ndarray, shape (D, modelled classifiers), optional
        Board-conditional skills behind the draws, where they were drawn.
    """

    fit: FieldFit
    parameters: Parameters
    chains: int
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
        skills = 0 if self.fit.evidence.shares_scores else len(self.names)
        widest = max(2 * len(self.modelled), skills)
        return -(-8 * widest * self.parameters.node.size // LARGEST_GROUP)

    def signed(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same with scores and skills in the sign of the metric, and the bias."""
        board = self.fit.evidence.board
        signed = {k: board.sign * v if k in _OF_SCORES else v for k, v in values.items()}
        best = board.sign * values.get("observed_maximum", board.maximum)
        return signed | {"multiplicity_bias": best - signed["theta_sota"]}

    def with_field(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The same with the parameters of the model in product space."""
        fit, coordinates = self.fit, self.parameters.coordinates
        location = fit.evidence.board.sign * fit.location(coordinates)
        shown: dict[str, Any] = {"location": location, "spread": fit.spread(coordinates)}
        if len(fit.families) > 1:
            shown["family"] = self.parameters.family
        if coordinates.shape[1] > 2:
            shown["shape"] = coordinates[:, 2:]
        return {**values, **shown}

    def dataset(self, values: Mapping[str, Any], draws: Any = None) -> xr.Dataset:
        """Dataset of values (D, ...); of all draws, or of those numbers of each chain."""
        labels: dict[Any, Any] = {
            "shape_parameter": np.arange(2, most_coordinates(self.fit)),
            "place": np.arange(1, len(self.modelled) + 1),
            "classifier": list(self.names) if "skill" in values else self.modelled,
        }
        some = {} if draws is None else {"draw": draws}
        return lay_out(values, self.chains, _DIMS, labels | some)

    def observed(self) -> xr.Dataset:
        """Scores of the modelled entries, in their order and sorted."""
        evidence = self.fit.evidence
        scores, sign = evidence.scores[evidence.modelled], evidence.board.sign
        values = {"score": sign * scores, "sorted_score": sign * best_first(scores)}
        dataset = xr.Dataset({name: (_DIMS[name], value) for name, value in values.items()})
        return dataset.assign_coords(
            classifier=self.modelled, place=np.arange(1, len(self.modelled) + 1)
        )


def sample_board(
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
) -> tuple[xr.DataTree, BoardPosterior]:
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
        As of ``board_tree``; from items with ``skill`` of every classifier.
    found : BoardPosterior
        The draws themselves.
    """
    rng, seed = resolve_seed(random_seed)
    size = draws * chains
    found = board_posterior(
        data, priors, draws=size, random_seed=rng, new_n_test=new_n_test, every=False
    )
    values, psi = found.draws, None
    if not found.fit.evidence.shares_scores:
        values = values | {"skill": found.skills.of_all(rng).astype(np.float64)}
        psi = found.skills.psi[:, found.skills.classifier]
    provenance = describe_provenance(
        (data,), priors, method="exact", seed=seed, model_name=model_name, model_hash=model_hash
    )
    attributes = provenance | {
        "draws_are_independent": 1,
        "effective_points": found.fit.effective_size,
        "diagnostics_reasons": "; ".join(found.reasons),
        "notes": "; ".join(note.replace("; ", ", ") for note in found.notes),
        "new_n_test": int(new_n_test or 0),
        "rho_learnt": int(found.learns_rho),
    }
    drawn = Drawn(found.fit, found.parameters, chains, data.names, psi)
    behind = dict(zip(("point", "stratum"), found.parameters.behind, strict=True))
    return board_tree(values, drawn, attributes, rng, behind, groups=groups), found


def board_tree(
    values: Mapping[str, FloatArray],
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
    values : mapping of str to ndarray, shape (D, ...)
    drawn : Drawn
        Parameters behind the draws, with the exact fit.
    attributes : mapping
    rng : Generator
        For replicated boards and draws from the prior.
    sample_stats : mapping, optional
        Which weighted point is behind each draw, (D,).
    groups : {"all", "estimands"}
        As in ``sample_board``.

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
    fit, board = drawn.fit, drawn.fit.evidence.board
    check = check_dataset(check_board(fit, rng))
    drawn = replace(drawn, parameters=drawn.parameters.completed(fit, rng))
    values = drawn.with_field(drawn.signed(values))
    known = {"n_classifiers"} if isinstance(board.n_classifiers, int) else set()
    names = [*_ESTIMANDS, "location", "spread", "family", "shape", "skill"]
    names = [name for name in names if name in values and name not in known]
    laid_out = {
        "posterior": drawn.dataset({name: values[name] for name in names}),
        "predictions": drawn.dataset({name: values[name] for name in _NEW_SCORES}),
        "predictive_check": check,
        "sample_stats": drawn.dataset(sample_stats),
        "sample_stats/families": _family_dataset(fit),
        "observed_data": drawn.observed(),
        "constant_data": _constants(drawn),
    }
    attributes = {**attributes, "metric": board.metric}
    if groups == "all":
        laid_out |= checking_groups(drawn, values, names, rng)
        told = [str(attributes.get("notes", "")), *notes_on_groups(drawn)]
        attributes["notes"] = "; ".join(filter(None, told))
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
    board = evidence.board
    values: dict[str, Any] = {
        "observed_maximum": ((), float(board.sign * board.maximum)),
        "n_test": ((), float(board.n_test or 0)),
        "lower_is_better": ((), float(board.lower_is_better)),
        "modelled": ("classifier", evidence.modelled),
        "all_score": ("classifier", board.sign * evidence.scores),
    }
    return xr.Dataset(values, {"classifier": list(drawn.names), "family": list(drawn.fit.families)})


def best_first(scores: FloatArray) -> FloatArray:
    """Scores of boards (..., E) by their place."""
    return np.sort(scores, axis=-1)[..., ::-1]


def checking_groups(
    drawn: Drawn, values: Mapping[str, FloatArray], names: Sequence[str], rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """Predictions, prior of the variables ``names``, log likelihood and log prior."""
    fit, parameters = drawn.fit, drawn.parameters
    each = np.arange(parameters.node.size).reshape(drawn.chains, -1)
    kept = np.arange(0, each.shape[1], drawn.every)
    numbers = each[:, kept].ravel()
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
    sign = fit.evidence.board.sign
    before = _from_prior(drawn, numbers.size, rng)
    groups = {
        "prior": drawn.dataset({name: before[name] for name in names}, kept),
        "prior_predictive": drawn.dataset({name: before[name] for name in _SCORES}, kept),
        "posterior_predictive": drawn.dataset({k: sign * v for k, v in again.items()}, kept),
        "log_prior": drawn.dataset(_log_prior(drawn, values)),
    }
    size = 4 * parameters.node.size * len(drawn.modelled)
    if size <= LARGEST_GROUP:
        dtype = np.float32 if 2 * size > SINGLE else np.float64
        log_likelihood = fit.log_likelihood_of_entries(parameters, dtype)
        groups["log_likelihood"] = drawn.dataset({"score": log_likelihood})
    return groups


def notes_on_groups(drawn: Drawn) -> list[str]:
    """Which groups are thinned or left out."""
    mebibytes, notes = f"{LARGEST_GROUP >> 20} MiB", []
    if drawn.every > 1:
        notes.append(
            f"prior and predictive groups keep one of {drawn.every} draws: all pass {mebibytes}"
        )
    if 4 * drawn.parameters.node.size * len(drawn.modelled) > LARGEST_GROUP:
        notes.append(f"there is no group log_likelihood: it would pass {mebibytes}")
    return notes


def _from_prior(drawn: Drawn, size: int, rng: np.random.Generator) -> dict[str, Any]:
    """So many prior draws of all that a posterior may hold."""
    fit = drawn.fit
    rho = fit.priors.correlation.quantile(rng.random(size))
    shift = rng.standard_normal(size) * fit.evidence.wider((size,), rng)
    known = {"rho": rho, "shift": shift}
    if fit.evidence.has_luck:
        known["submission_luck"] = fit.priors.submission_luck.quantile(rng.random(size))
    node = fit.nodes.find(rho, known.get("submission_luck"))
    before = replace(drawn, parameters=Parameters.from_prior(fit, node, rng))
    return before.with_field(boards_before(before, (rho, shift), rng) | known)


def boards_before(drawn: Drawn, shared: Shared, rng: np.random.Generator) -> dict[str, Any]:
    """Estimands and scores of boards with these parameters, which are draws from a prior."""
    boards = prior_boards(drawn.fit, drawn.parameters, shared, rng)
    return drawn.signed(boards | {"sorted_score": best_first(boards["score"])})


def _log_prior(drawn: Drawn, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Of the family with its coordinates, and of rho and luck where they are not known."""
    fit = drawn.fit
    log_prior = {"coordinates": drawn.parameters.log_prior(fit)}
    priors = {"rho": fit.priors.correlation, "submission_luck": fit.priors.submission_luck}
    for name, prior in priors.items():
        if name in values and not prior.is_fixed:
            log_prior[name] = prior.log_density(values[name])
    return log_prior
