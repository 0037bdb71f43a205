"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

The groups that ArviZ's checks need are drawn after the estimands, from the same generator.
``tests/leaderboard/test_sample_trace.py`` compares the exact route with NUTS,
``tests/leaderboard/test_predictive.py`` each group with another route.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.inference import Parameters
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
from bayes_sota.leaderboard.posterior import BoardPosterior, board_posterior
from bayes_sota.leaderboard.skills import draw_skills, fresh_scores, prior_boards

NEW_SCORES = ("winner_new_score", "best_new_score")
_OF_SCORES = {"theta_sota", "expected_sota", "winner_skill", "skill", "location", *NEW_SCORES}
"""Quantities in the units of the scores, which have the board's sign."""
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
    """Exact posterior of a leaderboard, or of answers or numbers per item: tree and draws.

    All draws are independent given the importance sample. ``groups="estimands"`` leaves out groups
    that only checks of the model need; all other draws are the same. ``provenance`` becomes
    attributes.

    ``posterior`` has the estimands and ``location`` and ``spread`` of the field in log odds (in
    units of the score for the metric "score"), ``family``, an index into the coordinate of
    ``constant_data``, and ``shape``, further standardised coordinates, from their prior where the
    family lacks them; from items ``skill`` of every classifier. ``predictions`` has scores on fresh
    items; ``observed_data``, ``posterior_predictive`` and ``prior_predictive`` ``score`` of the
    modelled entries and ``sorted_score``; ``predictive_check`` statistics of replicated boards.
    """
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
        log_prior = _log_prior(fit, parameters, values)
        made["log_prior"] = lay_out_board(fit, chains, log_prior)
        for group, drawn in _replicates(fit, some, boards, rng).items():
            made[group] = lay_out_board(fit, chains, drawn, kept)
        if 8 * draws * chains * fit.evidence.entries.size <= LARGEST_GROUP:
            each = {"score": fit.log_likelihood_of_entries(parameters)}
            made["log_likelihood"] = lay_out_board(fit, chains, each)
        limit = f"there is no group log_likelihood: it would pass {LARGEST_GROUP >> 20} MiB"
        notes += [limit] * ("log_likelihood" not in made)
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
    """Quantiles of a board (n,), and gaps from its best to the k-th next; of replicates (D, n).

    They do not depend on the shift. p is the share of larger replicates, ties by half.
    """
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
    """Groups of some draws: replicated scores, and boards from the prior.

    ``boards`` are fresh ones of the same parameters, (D, E).
    """
    sign, skills = fit.evidence.board.sign, draw_skills(fit, some, rng, every=True)
    again = fresh_scores(fit, some, rng, skills.psi[:, skills.classifier])
    prior = _prior(fit, some.node.size, rng)
    before = prior.pop("score")
    return {
        "posterior_predictive": {"score": sign * again, "sorted_score": sign * best_first(boards)},
        "prior_predictive": {"score": sign * before, "sorted_score": sign * best_first(before)},
        "prior": prior,
    }


def _log_prior(
    fit: FieldFit, parameters: Parameters, values: Mapping[str, FloatArray]
) -> dict[str, FloatArray]:
    """Log prior densities of draws, (D,) each."""
    priors = {"rho": fit.priors.correlation, "submission_luck": fit.priors.submission_luck}
    free = {k: prior for k, prior in priors.items() if k in values and not prior.is_fixed}
    log_prior = {k: prior.log_density(values[k]) for k, prior in free.items()}
    return log_prior | {"coordinates": parameters.log_prior(fit)}


def _prior(fit: FieldFit, size: int, rng: np.random.Generator) -> dict[str, Any]:
    """Prior draws of the parameters, of the best and of the winner's skill."""
    rho = fit.priors.correlation.quantile(rng.random(size))
    shift = rng.standard_normal(size) * fit.evidence.wider((size,), rng)
    luck = fit.priors.submission_luck.quantile(rng.random(size)) if fit.evidence.has_luck else None
    parameters = Parameters.from_prior(fit, fit.nodes.find(rho, luck), rng)
    boards = prior_boards(fit, parameters, rho, shift, rng) | field_values(fit, parameters)
    known = signed(fit.evidence.board, boards) | {"rho": rho, "shift": shift}
    return known if luck is None else known | {"submission_luck": luck}
