"""Posterior of a whole leaderboard as a DataTree in the one schema."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.entries import JointPosterior
from bayes_sota.leaderboard.fit import FieldFit
from bayes_sota.leaderboard.from_items import item_scores_posterior, responses_posterior
from bayes_sota.leaderboard.posterior import (
    BoardCheck,
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
    board: Leaderboard,
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
    """Exact posterior of a leaderboard with all its scores.

    Parameters
    ----------
    board : Leaderboard
    priors : BoardPriors
    draws, chains : int
        Draws per chain, and chains; all draws are independent given the importance sample.
    random_seed : int, SeedSequence, Generator or None
    new_n_test, learn_rho
        As in ``bayes_sota.leaderboard.posterior``.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``prior`` (rho and shift), ``posterior_predictive`` (new scores and
        replicated statistics of the board), ``sample_stats`` (weights of the families),
        ``observed_data``, ``constant_data``.
    """
    _check_sizes(draws, chains)
    rng, seed = resolve_seed(random_seed)
    result = leaderboard_posterior(
        board,
        priors,
        draws=draws * chains,
        random_seed=rng,
        new_n_test=new_n_test,
        learn_rho=learn_rho,
    )
    shaped = {name: values.reshape(chains, draws) for name, values in result.draws.items()}
    attributes = {
        **describe_provenance(
            (board,), priors, method="exact", seed=seed, model_name=model_name,
            model_hash=model_hash,
        ),
        **_describe_exact(result, new_n_test),
        "rho_learnt": int(learn_rho),
    }  # fmt: skip
    return build_board_tree(shaped, result.fit, attributes, rng)


def sample_board_nuts(
    board: Leaderboard,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    tune: int = 1000,
    target_accept: float = 0.9,
    cores: int | None = None,
    progressbar: bool = False,
    random_seed: Seed = None,
    new_n_test: int | None = None,
    learn_rho: bool = False,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> "xr.DataTree":
    """The same by NUTS (``bayes_sota.leaderboard.sample_nuts``), as a DataTree.

    Raises
    ------
    InputError
        A learnt rho: the exact route has it, and
        ``bayes_sota.leaderboard.models.build_leaderboard(..., correlation="learnt")``.
    """
    from bayes_sota.leaderboard.sample_nuts import sample_leaderboard_nuts

    if learn_rho:
        raise InputError("learn_rho is for the exact route, not for nuts")
    rng, seed = resolve_seed(random_seed)
    found = sample_leaderboard_nuts(
        board,
        priors,
        draws=draws,
        tune=tune,
        chains=chains,
        target_accept=target_accept,
        cores=cores,
        progressbar=progressbar,
        random_seed=rng,
        new_n_test=new_n_test,
    )
    attributes: dict[str, Any] = {
        **describe_provenance(
            (board,), priors, method="nuts", seed=seed, model_name=model_name,
            model_hash=model_hash,
        ),
        "inference_library": "nutpie",
        "draws_are_independent": 0,
        "notes": "",
        "rho_learnt": 0,
        **{k: v for k, v in found.attributes.items() if k != "random_seed"},
        "new_n_test": int(new_n_test or 0),
    }  # fmt: skip
    return build_board_tree(found.draws, found.posterior.fit, attributes, rng, found.sample_stats)


def sample_items(
    data: Responses | ItemScores,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> "xr.DataTree":
    """Posterior from answers or numbers for every item, with every skill, as a DataTree.

    Parameters and groups are those of ``sample_board``; ``posterior`` also holds ``skill`` with
    the dimension ``classifier``.
    """
    import xarray as xr

    _check_sizes(draws, chains)
    rng, seed = resolve_seed(random_seed)
    settings: dict[str, Any] = {"draws": draws * chains, "random_seed": rng}
    settings["new_n_test"] = new_n_test
    result: JointPosterior
    if isinstance(data, ItemScores):
        result, sign = item_scores_posterior(data, priors, **settings), data.sign
    else:
        result, sign = responses_posterior(data, priors, **settings), 1
    shaped = {name: values.reshape(chains, draws) for name, values in result.draws.items()}
    attributes = {
        **describe_provenance(
            (data,), priors, method="exact", seed=seed, model_name=model_name,
            model_hash=model_hash,
        ),
        **_describe_exact(result, new_n_test),
        "rho_learnt": 1,
    }  # fmt: skip
    tree = build_board_tree(shaped, result.fit, attributes, rng, names=data.names)
    skill = sign * result.skill.reshape(chains, draws, -1)
    named = xr.Dataset(
        {"skill": (("chain", "draw", "classifier"), skill)}, {"classifier": list(data.names)}
    )
    tree["posterior"] = xr.DataTree(tree["posterior"].to_dataset().merge(named))
    tree["posterior"].attrs.update(attributes)
    return tree


def _check_sizes(draws: int, chains: int) -> None:
    if draws < 1 or chains < 1:
        raise InputError(f"draws and chains must be at least 1, got {draws} and {chains}")


def _describe_exact(
    result: LeaderboardPosterior | JointPosterior, new_n_test: int | None
) -> dict[str, Any]:
    """Attributes of a result of independent draws."""
    return {
        "draws_are_independent": 1,
        "effective_points": result.fit.effective_size,
        "diagnostics_reasons": "; ".join(result.reasons),
        "notes": "; ".join(note.replace("; ", ", ") for note in result.notes),
        "new_n_test": int(new_n_test or 0),
    }


def build_board_tree(
    draws: Mapping[str, FloatArray],
    fit: FieldFit,
    attributes: Mapping[str, Any],
    rng: np.random.Generator,
    sample_stats: Mapping[str, FloatArray] | None = None,
    names: Sequence[str] | None = None,
) -> "xr.DataTree":
    """DataTree of one board from draws of shape (chain, draw).

    Parameters
    ----------
    draws : mapping of str to ndarray, shape (chain, draw)
    fit : FieldFit
        The exact fit: comparison of families, replicated boards, what was observed.
    attributes : mapping
    rng : Generator
        For draws from the prior of rho and shift, and for replicated boards.
    sample_stats : mapping, optional
        Statistics of a sampler, shape (chain, draw).
    names : sequence of str, optional
        Names of the classifiers; default those of the board.

    Returns
    -------
    xarray.DataTree
    """
    import xarray as xr

    board, shape = fit.kernel.board, draws["theta_sota"].shape
    draws = {k: board.sign * v if k in _OF_SCORES else v for k, v in draws.items()}
    draws["multiplicity_bias"] = board.sign * board.maximum - draws["theta_sota"]
    check = check_board(fit, rng)
    certain = isinstance(board.tries, int)
    variables = _POSTERIOR if certain else (*_POSTERIOR, "n_classifiers")
    classifiers = list(board.names if names is None else names)
    prior = {
        "rho": fit.priors.correlation.quantile(rng.random(shape)),
        "shift": rng.standard_normal(shape),
    }
    groups = {
        "posterior": _drawn({name: draws[name] for name in variables}),
        "prior": _drawn(prior),
        "posterior_predictive": _drawn({name: draws[name] for name in _NEW_SCORES}),
        "posterior_predictive/board": xr.Dataset(
            {"replicated": (("replicate", "statistic"), check.replicated)},
            {"statistic": list(check.names)},
        ),
        "sample_stats": _drawn(sample_stats or {}),
        "sample_stats/families": _family_dataset(fit),
        "observed_data": _observed(board, check, classifiers),
        "constant_data": _constants(fit, classifiers),
    }
    return result_tree(groups, {**attributes, "metric": board.metric})


def _drawn(values: Mapping[str, FloatArray]) -> "xr.Dataset":
    import xarray as xr

    if not values:
        return xr.Dataset()
    chains, draws = next(iter(values.values())).shape
    return xr.Dataset(
        {name: (("chain", "draw"), np.asarray(v, dtype=np.float64)) for name, v in values.items()},
        {"chain": np.arange(chains), "draw": np.arange(draws)},
    )


def _family_dataset(fit: FieldFit) -> "xr.Dataset":
    import xarray as xr

    rows = compare_families(fit)
    fields = ("probability", "log_evidence", "elpd_loo", "elpd_loo_se", "least_effective")
    table = {name: ("family", [getattr(row, name) for row in rows]) for name in fields}
    return xr.Dataset(table, {"family": [row.family for row in rows]})


def _observed(board: Leaderboard, check: BoardCheck, names: list[str]) -> "xr.Dataset":
    import xarray as xr

    scores = board.scores
    assert scores is not None
    return xr.Dataset(
        {
            "observed_maximum": ((), board.sign * board.maximum),
            "score": (("classifier",), board.sign * scores),
            "statistic_observed": (("statistic",), check.observed),
            "statistic_p_value": (("statistic",), check.p_values),
        },
        {"classifier": names, "statistic": list(check.names)},
    )


def _constants(fit: FieldFit, names: list[str]) -> "xr.Dataset":
    import xarray as xr

    board = fit.kernel.board
    facts = {
        "n_test": float(board.n_test or 0),
        "n_positive": float(board.n_positive or 0),
        "lower_is_better": float(board.lower_is_better),
        "typical_tries": board.typical_tries,
        "standard_error": float(board.standard_error or 0),
    }
    content: dict[str, Any] = {name: ((), value) for name, value in facts.items()}
    content["modelled"] = (("classifier",), fit.kernel.modelled)
    return xr.Dataset(content, {"classifier": names})
