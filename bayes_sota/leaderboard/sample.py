"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.from_items import items_posterior
from bayes_sota.leaderboard.joint import JointPosterior
from bayes_sota.leaderboard.posterior import (
    FamilyRow,
    LeaderboardPosterior,
    check_board,
    compare_families,
    leaderboard_posterior,
)

if TYPE_CHECKING:
    import xarray as xr

_POSTERIOR = (
    "theta_sota", "multiplicity_bias", "expected_sota", "winner_skill", "rho", "shift",
    "n_above_sota",
)  # fmt: skip
_NEW_SCORES = ("winner_new_score", "best_new_score")
_OF_SCORES = ("theta_sota", "expected_sota", "winner_skill", *_NEW_SCORES)


def sample_board(
    data: Leaderboard | Responses | ItemScores,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    new_n_test: int | None = None,
    learn_rho: bool = False,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> "xr.DataTree":
    """Exact posterior of a leaderboard with all its scores, or of answers or numbers per item.

    Parameters
    ----------
    data : Leaderboard, Responses or ItemScores
    priors : BoardPriors
    draws, chains : int
        Draws per chain, and chains; all draws are independent given the importance sample.
    random_seed : int, SeedSequence, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.
    learn_rho : bool
        As in ``leaderboard_posterior``; items always tell rho.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior`` (from items also ``skill`` with the dimension ``classifier``),
        ``prior`` (rho and shift), ``posterior_predictive`` (new scores and replicated statistics
        of the board), ``sample_stats`` (weights of the families), ``observed_data``,
        ``constant_data``.
    """
    rng, seed = resolve_seed(random_seed)
    count = draws * chains
    result: LeaderboardPosterior | JointPosterior
    if isinstance(data, Leaderboard):
        result = leaderboard_posterior(
            data, priors, draws=count, random_seed=rng, new_n_test=new_n_test, learn_rho=learn_rho
        )
    else:
        result = items_posterior(data, priors, draws=count, random_seed=rng, new_n_test=new_n_test)
    shaped: dict[str, FloatArray] = {
        name: values.reshape(chains, draws) for name, values in result.draws.items()
    }
    if isinstance(result, JointPosterior):
        shaped["skill"] = result.skill.reshape(chains, draws, -1)
    provenance = describe_provenance(
        (data,), priors, method="exact", seed=seed, model_name=model_name, model_hash=model_hash
    )
    attributes = provenance | {
        "draws_are_independent": 1,
        "effective_points": result.fit.effective_size,
        "diagnostics_reasons": "; ".join(result.reasons),
        "notes": "; ".join(note.replace("; ", ", ") for note in result.notes),
        "new_n_test": int(new_n_test or 0),
        "rho_learnt": int(learn_rho or not isinstance(data, Leaderboard)),
    }
    return build_board_tree(shaped, result.fit, attributes, rng, data.names)


def build_board_tree(
    draws: Mapping[str, FloatArray],
    fit: FieldFit,
    attributes: Mapping[str, Any],
    rng: np.random.Generator,
    names: Sequence[str],
    sample_stats: Mapping[str, FloatArray] | None = None,
) -> "xr.DataTree":
    """DataTree of one board from draws.

    Parameters
    ----------
    draws : mapping of str to ndarray, shape (chain, draw)
        ``skill`` has the shape (chain, draw, classifier).
    fit : FieldFit
        The exact fit: comparison of families, replicated boards, what was observed.
    attributes : mapping
    rng : Generator
        For replicated boards, and for draws from the prior of rho and shift.
    names : sequence of str
        Names of the classifiers.
    sample_stats : mapping, optional
        Statistics of a sampler, shape (chain, draw).
    """
    board, shape = fit.kernel.board, draws["theta_sota"].shape
    draws = {k: board.sign * v if k in (*_OF_SCORES, "skill") else v for k, v in draws.items()}
    draws["multiplicity_bias"] = board.sign * board.maximum - draws["theta_sota"]
    check = check_board(fit, rng)
    variables = [*_POSTERIOR, *(["n_classifiers"] if not isinstance(board.tries, int) else [])]
    prior = {
        "rho": fit.priors.correlation.quantile(rng.random(shape)),
        "shift": rng.standard_normal(shape),
    }
    statistic, classifier = {"statistic": list(check.names)}, {"classifier": list(names)}
    assert board.scores is not None
    observed = {
        "observed_maximum": ((), board.sign * board.maximum),
        "score": ("classifier", board.sign * board.scores),
        "statistic_observed": ("statistic", check.observed),
        "statistic_p_value": ("statistic", check.p_values),
    }
    replicated = {"replicated": (("replicate", "statistic"), check.replicated)}
    groups = {
        "posterior": _drawn(draws, [*variables, "skill"], names),
        "prior": _drawn(prior, list(prior)),
        "posterior_predictive": _drawn(draws, _NEW_SCORES),
        "posterior_predictive/board": _dataset(replicated, statistic),
        "sample_stats": _drawn(sample_stats or {}, list(sample_stats or {})),
        "sample_stats/families": _family_dataset(fit),
        "observed_data": _dataset(observed, classifier | statistic),
        "constant_data": _dataset(_constants(fit), classifier),
    }
    return result_tree(groups, {**attributes, "metric": board.metric})


def _dataset(content: Mapping[str, Any], coords: Mapping[str, Any]) -> "xr.Dataset":
    import xarray as xr

    return xr.Dataset(content, coords)


def _drawn(
    values: Mapping[str, FloatArray], kept: Sequence[str], classifiers: Sequence[str] = ()
) -> "xr.Dataset":
    """Those of the kept variables that there are."""
    dims = ("chain", "draw", "classifier")
    found = {name: np.asarray(values[name], dtype=np.float64) for name in kept if name in values}
    if not found:
        return _dataset({}, {})
    chains, draws = next(iter(found.values())).shape[:2]
    coords: dict[str, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
    if "skill" in found:
        coords["classifier"] = list(classifiers)
    return _dataset({name: (dims[: v.ndim], v) for name, v in found.items()}, coords)


def _family_dataset(fit: FieldFit) -> "xr.Dataset":
    rows = compare_families(fit)
    names = [field.name for field in fields(FamilyRow)]
    table = {name: ("family", [getattr(row, name) for row in rows]) for name in names}
    return _dataset(table, {"family": table.pop("family")[1]})


def _constants(fit: FieldFit) -> dict[str, Any]:
    board = fit.kernel.board
    return {
        "n_test": ((), float(board.n_test or 0)),
        "n_positive": ((), float(board.n_positive or 0)),
        "lower_is_better": ((), float(board.lower_is_better)),
        "typical_tries": ((), board.typical_tries),
        "standard_error": ((), float(board.standard_error or 0)),
        "modelled": ("classifier", fit.kernel.modelled),
    }
