"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

``tests/leaderboard/test_sample_nuts.py`` holds the exact route and NUTS together.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.from_items import JointPosterior, JointSampler
from bayes_sota.leaderboard.from_own_errors import board_posterior
from bayes_sota.leaderboard.posterior import BoardCheck, check_board, compare_families
from bayes_sota.leaderboard.sample_groups import Drawn, checking_groups, parameter_values

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
_NEW_SCORES = ("winner_new_score", "best_new_score")


def sample_with_fit(
    data: Leaderboard | Outcomes,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = DEFAULT_SEED,
    new_n_test: int | None = None,
    learn_rho: bool = False,
    groups: Groups = "all",
    model_name: str | None = None,
    model_hash: str | None = None,
) -> tuple[xr.DataTree, FieldFit]:
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
    drawn: Any = {"draws": draws * chains, "random_seed": rng, "new_n_test": new_n_test}
    shape, skill = (chains, draws), dict[str, FloatArray]()
    joint, psi, learns = None, None, learn_rho
    result = board_posterior(data, priors, learn_rho=learn_rho, **drawn)
    if isinstance(result, JointPosterior):
        skill["skill"] = result.skill.reshape(*shape, -1)
        joint, psi = JointSampler.of(result.fit, result.correlation), result.psi
        learns = learn_rho or result.learns_rho
    shaped = skill | {name: values.reshape(shape) for name, values in result.draws.items()}
    provenance = describe_provenance(
        (data,), priors, method="exact", seed=seed, model_name=model_name, model_hash=model_hash
    )
    attributes = provenance | {
        "draws_are_independent": 1,
        "effective_points": result.fit.effective_size,
        "diagnostics_reasons": "; ".join(result.reasons),
        "notes": "; ".join(note.replace("; ", ", ") for note in result.notes),
        "new_n_test": int(new_n_test or 0),
        "rho_learnt": int(learns),
    }
    behind = Drawn(result.fit, result.parameters, shape, data.names, joint, psi)
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
    board = fit.kernel.board
    flat = {name: v.reshape(-1, *v.shape[2:]) for name, v in draws.items()}
    flat = {k: board.sign * v if k in _NEW_SCORES else v for k, v in drawn.signed(flat).items()}
    flat["multiplicity_bias"] = board.sign * board.maximum - flat["theta_sota"]
    check = check_dataset(check_board(fit, rng))
    prior = {"level": rng.random(shape), "shift": rng.standard_normal(shape)}
    drawn = replace(drawn, parameters=drawn.parameters.completed(fit, rng))
    flat |= drawn.signed(parameter_values(fit, drawn.parameters))
    random_tries = () if isinstance(board.tries, int) else ("n_classifiers",)
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
    rows = compare_families(fit)
    names = next(iter(rows.values()))
    table = {name: ("family", [row[name] for row in rows.values()]) for name in names}
    return xr.Dataset(table, {"family": list(rows)})


def _constants(drawn: Drawn) -> xr.Dataset:
    kernel = drawn.fit.kernel
    board, families = kernel.board, list(drawn.fit.families)
    values: dict[str, Any] = {
        "observed_maximum": ((), float(board.sign * board.maximum)),
        "n_test": ((), float(board.n_test or 0)),
        "n_positive": ((), float(board.n_positive or 0)),
        "spread_ratio_low": ((), board.spread_ratio_ends[0]),
        "spread_ratio_high": ((), board.spread_ratio_ends[1]),
        "lower_is_better": ((), float(board.lower_is_better)),
        "typical_tries": ((), board.typical_tries),
        "standard_error": ((), float(board.standard_error or 0)),
        "modelled": ("classifier", kernel.modelled),
        "all_score": ("classifier", board.sign * kernel.scores),
        "n_coordinates": ("family", [points.points.shape[1] for points in drawn.fit.points]),
    }
    return xr.Dataset(
        values | _field(drawn.fit), {"classifier": list(drawn.names), "family": families}
    )


def _field(fit: FieldFit) -> dict[str, Any]:
    """What the density of one more classifier's skill is computed from (``summary_newcomers``)."""
    middle = fit.rho.size // 2
    kernel, strangers, scale = fit.at(middle), fit.strangers, fit.scale
    return {
        "grid": ("node", kernel.y),
        "grid_skill": ("node", kernel.board.sign * kernel.psi),
        "stranger_density": ("node", strangers.profile),
        "stranger_share": ((), strangers.share),
        "reach": ("node", kernel.reach_or_one(float(fit.rho[middle]))),
        "is_cut": ((), float(kernel.is_cut)),
        "field_prior": ("moment", list(scale.prior)),
        "error_ratio": ((), kernel.error_ratio),
    }
