"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

The groups that ArviZ's checks need are drawn after the estimands, from the same generator.
``tests/leaderboard/test_sample_trace.py`` holds the exact route and NUTS together,
``tests/leaderboard/test_predictive.py`` each group against another route.
"""

from collections.abc import Mapping, Sequence
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
from bayes_sota.leaderboard.evidence import Evidence
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.posterior import BoardPosterior, Check, board_posterior, check_board
from bayes_sota.leaderboard.predictive import fresh_scores, own_scores, prior_boards
from bayes_sota.leaderboard.skills import draw_skills

NEW_SCORES = ("winner_new_score", "best_new_score")
_OF_SCORES = {"theta_sota", "expected_sota", "winner_skill", "skill", "location", *NEW_SCORES}
"""Quantities in the units of the scores, which have the board's sign."""
_DIMS = {
    "shape": ("shape_parameter",),
    "score": ("classifier",),
    "sorted_score": ("place",),
    "skill": ("classifier",),
}
SINGLE = 8 << 20
"""Bytes of a log likelihood above which it is in single precision."""


def sample_board(
    data: Leaderboard | Outcomes,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = DEFAULT_SEED,
    new_n_test: int | None = None,
    groups: Groups = "all",
    **provenance: Any,
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
    **provenance
        ``model_name`` and ``model_hash``, recorded as attributes.

    Returns
    -------
    tree : DataTree
        ``posterior``: estimands and parameters of the model, ``location`` and ``spread`` of the
        field in log odds (in units of the score for the metric "score"), ``family``, an index into
        the coordinate of ``constant_data``, and ``shape``, further standardised coordinates, those
        that the family lacks from their prior; from items ``skill`` of every classifier.
        ``predictions``: scores on fresh items. ``observed_data``, ``posterior_predictive``,
        ``prior_predictive``: ``score`` of the modelled entries and ``sorted_score``.
        ``predictive_check``: statistics of replicated boards. ``prior``, ``log_likelihood`` and
        ``log_prior``, ``sample_stats`` (with weights of the families) and ``constant_data``, with
        the scores of all entries.
    found : BoardPosterior
        The draws themselves.
    """
    rng, seed = resolve_seed(random_seed)
    settings: Any = {"random_seed": rng, "new_n_test": new_n_test, "every": False}
    found = board_posterior(data, priors, draws=draws * chains, **settings)
    fit, skills, values = found.fit, found.skills, dict(found.draws)
    board, psi = fit.evidence.board, None
    if not fit.evidence.shares_scores:
        values["skill"] = skills.of_all(rng).astype(np.float64)
        psi = skills.psi[:, skills.classifier]
    check = check_dataset(check_board(fit, rng))
    parameters = found.parameters.completed(fit, rng)
    layout: Any = {"evidence": fit.evidence, "names": data.names, "chains": chains}
    behind = dict(zip(("point", "stratum"), parameters.behind, strict=True))
    made = {
        **estimand_groups(values | field_values(fit, parameters), layout),
        "predictive_check": check,
        "sample_stats": laid_out(behind, **layout),
        **known_groups(fit, data.names),
    }
    notes = list(found.notes)
    if groups == "all":
        every = _thinning(fit, parameters.node.size)
        made |= _checks(fit, parameters, values, psi, every, rng, layout)
        mebibytes = f"{LARGEST_GROUP >> 20} MiB"
        if every > 1:
            notes.append(
                f"prior and predictive groups keep one of {every} draws: all pass {mebibytes}"
            )
        if "log_likelihood" not in made:
            notes.append(f"there is no group log_likelihood: it would pass {mebibytes}")
    attributes = describe_provenance((data,), priors, method="exact", seed=seed, **provenance)
    tree = result_tree(
        made,
        {
            **attributes,
            "draws_are_independent": 1,
            "effective_points": fit.effective_size,
            "diagnostics_reasons": "; ".join(found.reasons),
            "notes": "; ".join(note.replace("; ", ", ") for note in notes),
            "new_n_test": int(new_n_test or 0),
            "rho_learnt": int(found.learns_rho),
            "metric": board.metric,
        },
    )
    return tree, found


def estimand_groups(values: dict[str, Any], layout: dict[str, Any]) -> dict[str, xr.Dataset]:
    """Groups of the estimands and of scores on fresh items."""
    board = layout["evidence"].board
    shown = signed(board, values)
    new = {name: shown.pop(name) for name in NEW_SCORES}
    if isinstance(board.n_classifiers, int):
        del shown["n_classifiers"]
    return {"posterior": laid_out(shown, **layout), "predictions": laid_out(new, **layout)}


def signed(board: Leaderboard, values: Mapping[str, Any]) -> dict[str, Any]:
    """The same with skills and new scores in the sign of the metric, and the bias."""
    shown = {name: board.sign * v if name in _OF_SCORES else v for name, v in values.items()}
    best = shown.pop("observed_maximum", board.maximum)
    return shown | {"multiplicity_bias": board.sign * best - shown["theta_sota"]}


def field_values(fit: FieldFit, parameters: Parameters) -> dict[str, Any]:
    """The parameters of the model in product space."""
    t = parameters.coordinates
    shown: dict[str, Any] = {"location": fit.location(t), "spread": fit.spread(t)}
    shown |= {"family": parameters.family} if len(fit.families) > 1 else {}
    return shown | ({"shape": t[:, 2:]} if t.shape[1] > 2 else {})


def modelled_names(evidence: Evidence, names: Sequence[str]) -> list[str]:
    """Names of the modelled entries."""
    return [names[j] for j in evidence.entries]


def laid_out(
    values: Mapping[str, Any],
    evidence: Evidence,
    names: Sequence[str],
    chains: int,
    kept: Any = None,
) -> xr.Dataset:
    """Dataset of values (D, ...); of all draws, or of those numbers of each chain."""
    labels: dict[Any, Any] = {
        "place": np.arange(1, evidence.entries.size + 1),
        "classifier": list(names) if "skill" in values else modelled_names(evidence, names),
    }
    if "shape" in values:
        labels["shape_parameter"] = np.arange(2, 2 + values["shape"].shape[1])
    some = {} if kept is None else {"draw": kept}
    return lay_out(values, chains, _DIMS, labels | some)


def check_dataset(check: Check) -> xr.Dataset:
    """Group ``predictive_check``; p is the share of replicates at least as large, ties by half."""
    names, observed, replicated = check
    p = ((replicated > observed) + 0.5 * (replicated == observed)).mean(axis=0)
    values = {
        "observed": ("statistic", observed),
        "replicated": (("replicate", "statistic"), replicated),
        "p_value": ("statistic", p),
    }
    return xr.Dataset(values, {"statistic": names})


def known_groups(fit: FieldFit, names: Sequence[str]) -> dict[str, xr.Dataset]:
    """Scores of the modelled entries, what else was known, and the weights of the families."""
    evidence, board = fit.evidence, fit.evidence.board
    scores = evidence.seen[evidence.entries]
    observed = {"score": board.sign * scores, "sorted_score": board.sign * best_first(scores)}
    coords = {"classifier": modelled_names(evidence, names), "place": 1 + np.arange(scores.size)}
    constants: dict[str, Any] = {
        "observed_maximum": ((), float(board.sign * board.maximum)),
        "n_test": ((), float(board.n_test or 0)),
        "lower_is_better": ((), float(board.lower_is_better)),
        "modelled": ("classifier", evidence.modelled),
        "all_score": ("classifier", board.sign * evidence.scores),
    }
    of_anchors: dict[str, Any] = {}
    if (anchors := board.anchors) is not None:
        of_anchors = {"anchor": list(anchors.names)}
        known = {"score": anchors.scores, "skill": anchors.skill}
        constants |= {f"anchor_{k}": ("anchor", board.sign * v) for k, v in known.items()}
        constants["anchor_error"] = ("anchor", anchors.error)
    families = {
        "probability": ("family", fit.family_weights.mean(axis=1)),
        "log_evidence": ("family", np.mean(fit.log_evidence, axis=1)),
    }
    of_family = {"family": list(fit.families)}
    weights = xr.Dataset(families, of_family).sortby("probability", ascending=False)
    return {
        "observed_data": xr.Dataset({k: (_DIMS[k], v) for k, v in observed.items()}, coords),
        "constant_data": xr.Dataset(
            constants, {"classifier": list(names)} | of_family | of_anchors
        ),
        "sample_stats/families": weights,
    }


def best_first(scores: FloatArray) -> FloatArray:
    """Scores of boards (..., E) by their place."""
    return np.sort(scores, axis=-1)[..., ::-1]


def _thinning(fit: FieldFit, draws: int) -> int:
    """One of how many draws predictive groups keep."""
    return -(-16 * fit.evidence.entries.size * draws // LARGEST_GROUP)


def _checks(
    fit: FieldFit,
    parameters: Parameters,
    values: Mapping[str, FloatArray],
    psi: FloatArray | None,
    every: int,
    rng: np.random.Generator,
    layout: dict[str, Any],
) -> dict[str, xr.Dataset]:
    """Replicated scores, boards from the prior, log likelihood and log prior."""
    evidence, sign, chains = fit.evidence, fit.evidence.board.sign, layout["chains"]
    each = np.arange(parameters.node.size).reshape(chains, -1)
    kept = np.arange(0, each.shape[1], every)
    numbers = each[:, kept].ravel()
    some = parameters[numbers]
    if psi is None:
        skills = draw_skills(fit, some, rng, every=True)
        again = skills.psi[:, skills.classifier]
    else:
        again = psi[numbers]
    replicates = {
        "score": own_scores(fit, some, again, rng),
        "sorted_score": best_first(fresh_scores(fit, some, rng)),
    }
    before = _prior(fit, numbers.size, rng)
    boards = before.pop("score")
    predicted = {"score": boards, "sorted_score": best_first(boards)}
    log_prior = {"coordinates": parameters.log_prior(fit)}
    priors = {"rho": fit.priors.correlation, "submission_luck": fit.priors.submission_luck}
    for name, prior in priors.items():
        if name in values and not prior.is_fixed:
            log_prior[name] = prior.log_density(values[name])
    made = {
        "prior": laid_out(before, **layout, kept=kept),
        "log_prior": laid_out(log_prior, **layout),
    }
    scores = {"posterior_predictive": replicates, "prior_predictive": predicted}
    for group, drawn in scores.items():
        made[group] = laid_out({k: sign * v for k, v in drawn.items()}, **layout, kept=kept)
    size = 4 * parameters.node.size * evidence.entries.size
    if size <= LARGEST_GROUP:
        dtype = np.float32 if 2 * size > SINGLE else np.float64
        log_likelihood = fit.log_likelihood_of_entries(parameters, dtype)
        made["log_likelihood"] = laid_out({"score": log_likelihood}, **layout)
    return made


def _prior(fit: FieldFit, size: int, rng: np.random.Generator) -> dict[str, Any]:
    """So many prior draws of the model's parameters, of the best and of the winner's skill."""
    rho = fit.priors.correlation.quantile(rng.random(size))
    shift = rng.standard_normal(size) * fit.evidence.wider((size,), rng)
    luck = fit.priors.submission_luck.quantile(rng.random(size)) if fit.evidence.has_luck else None
    parameters = Parameters.from_prior(fit, fit.nodes.find(rho, luck), rng)
    boards = prior_boards(fit, parameters, rho, shift, rng) | field_values(fit, parameters)
    known = signed(fit.evidence.board, boards) | {"rho": rho, "shift": shift}
    return known if luck is None else known | {"submission_luck": luck}
