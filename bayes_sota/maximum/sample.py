"""Results from a maximum: arrays of draws -> DataTree in the schema of the package.

The paper's point estimates as a DataTree: shrinking (Eq. 9) and cropping (Appendix A).

Complete a result of any route from its draws of location, spread and rho.

The exact route: direct draws from the posterior, as a DataTree.

The draws are independent; they are laid out as four chains so that every ArviZ function works.

NUTS on the exact marginal likelihood: a check of the exact route, and a start for extensions.

The ABC/SMC route as a complete result: simulated draws, completed by what follows from them.

``smc_abc`` simulates location, spread, rho, theta_sota and winner_skill and computes no
likelihood. The predictive scores and expected_sota are drawn here from their laws given these
hyperparameters, as for every route.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample import (
    describe_nuts,
    describe_provenance,
    resolve_seed,
    result_tree,
    run_nuts,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.maximum.likelihood import (
    FieldDraws,
    default_reference_skill,
    draw_fields,
    score_bounds,
)
from bayes_sota.maximum.posterior import draw_prior, sota_posterior
from bayes_sota.maximum.sample_smc import sample_smc_abc
from bayes_sota.maximum.shrinkage import Criterion

if TYPE_CHECKING:
    import xarray as xr


def build_tree(
    groups: Mapping[str, Mapping[str, FloatArray]],
    boards: Sequence[Leaderboard],
    reference_skill: Sequence[float],
    attributes: Mapping[str, str | float | int],
) -> "xr.DataTree":
    """DataTree from draws.

    Parameters
    ----------
    groups : mapping of group -> mapping of name -> ndarray
        Shapes (chain, draw) or (chain, draw, board). The dimension ``board`` is dropped where
        there is one board only.
    boards : sequence of Leaderboard
    reference_skill : sequence of float
        theta0 of each board.
    attributes : mapping
        Provenance, strings and numbers only.

    Returns
    -------
    xarray.DataTree
    """
    names = [board.name for board in boards]
    content = {group: _dataset(values, names) for group, values in groups.items() if values}
    ends = [score_bounds(board) for board in boards]
    facts: dict[str, Sequence[float]] = {
        "n_test": [board.n_test or 0 for board in boards],
        "n_positive": [board.n_positive or 0 for board in boards],
        "standard_error": [board.standard_error or 0 for board in boards],
        "score_low": [low for low, _ in ends],
        "score_high": [high for _, high in ends],
        "typical_tries": [board.typical_tries for board in boards],
        "reference_skill": list(reference_skill),
    }
    maximum = {"observed_maximum": [board.maximum for board in boards]}
    content["observed_data"] = _board_dataset(maximum, names)
    content["constant_data"] = _board_dataset(facts, names)
    return result_tree(content, {**attributes, "metric": boards[0].metric})


def _dataset(values: Mapping[str, FloatArray], names: list[str]) -> "xr.Dataset":
    import xarray as xr

    first = next(iter(values.values()))
    coords: dict[str, object] = {
        "chain": np.arange(first.shape[0]),
        "draw": np.arange(first.shape[1]),
    }
    variables = {}
    for name, array in values.items():
        array = np.asarray(array, dtype=np.float64)
        if array.ndim == 3 and len(names) == 1:
            array = array[..., 0]
        dims = ("chain", "draw", "board")[: array.ndim]
        if array.ndim == 3:
            coords["board"] = names
        variables[name] = (dims, array)
    return xr.Dataset(variables, coords=coords)


def _board_dataset(values: Mapping[str, Sequence[float]], names: list[str]) -> "xr.Dataset":
    import xarray as xr

    if len(names) == 1:
        return xr.Dataset({name: ((), value[0]) for name, value in values.items()})
    return xr.Dataset(
        {name: (("board",), list(value)) for name, value in values.items()}, {"board": names}
    )


def estimate_point(
    board: Leaderboard | Responses | ItemScores,
    method: str,
    *,
    n_classes: int | None = None,
    criterion: Criterion | None = None,
    correlation: float | None = None,
) -> "xr.DataTree":
    """Shrink or crop the scores of a board.

    Parameters
    ----------
    board : Leaderboard, Responses or ItemScores
        With all scores; accuracies, or AUCs for shrinking.
    method : {"shrink", "crop"}
    n_classes : int, optional
        Classes of the task; needed for accuracies, whose chance is one over it.
    criterion : {"expected", "upper"}, optional
    correlation : float, optional
        rho; default 0.6 for accuracies as in the paper, 0 for AUCs.

    Returns
    -------
    xarray.DataTree
        Group ``point_estimate``: numbers, and no invented draws.
    """
    from bayes_sota.maximum.shrinkage import crop_scores, shrink_aucs, shrink_scores

    shown = board if isinstance(board, Leaderboard) else board.leaderboard()
    how: dict[str, Any] = {"criterion": criterion or "expected"}
    if correlation is not None:
        how["correlation"] = correlation
    if shown.scores is None:
        raise InputError(f'method "{method}" takes all scores of a board')
    if shown.metric == "auc":
        if method != "shrink" or n_classes is not None:
            raise InputError('AUCs take method "shrink", towards 1/2: no n_classes')
        assert shown.n_positive is not None
        assert shown.n_negative is not None
        found = shrink_aucs(
            shown.scores, n_positive=shown.n_positive, n_negative=shown.n_negative, **how
        )
        return found.to_datatree()
    if shown.metric != "accuracy":
        raise InputError("shrinking and cropping are for accuracies and AUCs")
    if n_classes is None or n_classes < 2:
        raise InputError(
            f"n_classes is the number of classes of the task, at least 2, got {n_classes}: scores "
            "shrink towards chance, one over it"
        )
    estimate = shrink_scores if method == "shrink" else crop_scores
    found = estimate(shown.scores, n_test=shown.n_test, chance=1 / n_classes, **how)
    return found.to_datatree()


def complete_result(
    posterior: dict[str, FloatArray],
    boards: Sequence[Leaderboard],
    priors: Priors,
    rng: np.random.Generator,
    attributes: Mapping[str, str | float | int],
    *,
    sample_stats: "xr.Dataset",
    reference_skill: float | None = None,
    new_n_test: int | None = None,
) -> "xr.DataTree":
    """Result from draws of location, spread and rho (chain, draw), and what else was sampled.

    Whatever ``posterior`` does not hold yet is drawn from its exact law given these three.
    """
    import xarray as xr

    shape = posterior["location"].shape
    location, spread, rho = (posterior[name].ravel() for name in ("location", "spread", "rho"))
    fields = draw_fields(
        boards,
        priors,
        location,
        spread,
        rho,
        rng,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )
    derived = _derived(fields, boards, priors, location, spread)
    new_scores = {name: derived.pop(name) for name in ("winner_new_score", "best_new_score")}
    likelihood = derived.pop("log_likelihood")
    if all(board.n_classifiers is not None for board in boards):
        derived.pop("n_classifiers")
    merged = {name: v.reshape(*shape, len(boards)) for name, v in derived.items()} | posterior
    observed = np.array([board.maximum for board in boards])
    theta = merged["theta_sota"]
    merged["multiplicity_bias"] = observed - (theta if theta.ndim == 3 else theta[..., None])
    prior, predicted = draw_prior(boards, priors, rng, location.size, reference_skill)
    kept = {k: v for k, v in prior.items() if k in merged}
    groups = {
        "posterior": merged,
        "prior": _shaped(kept, shape),
        "posterior_predictive": _shaped(new_scores, shape),
        "prior_predictive": _shaped(predicted, shape),
        "log_likelihood": _shaped({"observed_maximum": likelihood}, shape),
    }
    references = [
        default_reference_skill(b) if reference_skill is None else reference_skill for b in boards
    ]
    tree = build_tree(groups, boards, references, attributes)
    tree["sample_stats"] = xr.DataTree(sample_stats)
    return tree


def _derived(
    fields: list[FieldDraws],
    boards: Sequence[Leaderboard],
    priors: Priors,
    location: FloatArray,
    spread: FloatArray,
) -> dict[str, FloatArray]:
    names = (
        "theta_sota",
        "winner_skill",
        "winner_new_score",
        "best_new_score",
        "shift",
        "n_classifiers",
        "log_likelihood",
    )
    values = {name: np.stack([getattr(f, name) for f in fields], axis=1) for name in names}
    distribution = priors.skill.distribution(location, spread)
    values["expected_sota"] = np.stack(
        [distribution.expected_maximum(f.n_classifiers) for f in fields], axis=1
    )
    return values


def _shaped(values: dict[str, FloatArray], shape: tuple[int, ...]) -> dict[str, FloatArray]:
    return {name: v.reshape(*shape, *v.shape[1:]) for name, v in values.items()}


def sample_exact(
    boards: Sequence[Leaderboard],
    priors: Priors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
) -> "xr.DataTree":
    """Exact posterior of observed maxima as a DataTree.

    Parameters
    ----------
    boards, priors, reference_skill, new_n_test
        As in ``bayes_sota.maximum.posterior``.
    draws, chains : int
        Independent draws per chain, and chains.
    random_seed : int, SeedSequence, Generator or None
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``prior``, ``posterior_predictive``, ``prior_predictive``,
        ``sample_stats``, ``log_likelihood``, ``log_prior``, ``observed_data``, ``constant_data``.
    """
    if draws < 1 or chains < 1:
        raise InputError(f"draws and chains must be at least 1, got {draws} and {chains}")
    rng, seed = resolve_seed(random_seed)
    result = sota_posterior(
        boards,
        priors,
        draws=draws * chains,
        random_seed=rng,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )
    prior, predicted = draw_prior(boards, priors, rng, draws * chains, reference_skill)
    new_scores = ("winner_new_score", "best_new_score")
    certain = () if any(board.n_classifiers is None for board in boards) else ("n_classifiers",)
    hidden = (*new_scores, *certain)
    groups = {
        "posterior": {k: v for k, v in result.draws.items() if k not in hidden},
        "prior": {k: v for k, v in prior.items() if k not in certain},
        "posterior_predictive": {name: result.draws[name] for name in new_scores},
        "prior_predictive": predicted,
        "sample_stats": {"lp": sum(result.log_prior.values(), result.log_likelihood.sum(axis=1))},
        "log_likelihood": {"observed_maximum": result.log_likelihood},
        "log_prior": result.log_prior,
    }
    shaped = {
        name: {k: _chains(v, chains, draws) for k, v in values.items()}
        for name, values in groups.items()
    }
    attributes: dict[str, str | float | int] = {
        **describe_provenance(
            boards, priors, method="exact", seed=seed, model_name=model_name, model_hash=model_hash
        ),
        "log_evidence": result.log_evidence,
        "grid_edge_probability": result.grid["edge"],
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(result.reasons),
        "new_n_test": int(new_n_test or 0),
    }
    return build_tree(shaped, boards, result.reference_skill, attributes)


def _chains(values: FloatArray, chains: int, draws: int) -> FloatArray:
    return values.reshape(chains, draws, *values.shape[1:])


def sample_nuts(
    boards: Sequence[Leaderboard],
    priors: Priors,
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    cores: int | None = None,
    random_seed: Seed = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior by NUTS (nutpie) over location, spread and rho; the rest from its exact law.

    Parameters
    ----------
    boards, priors, reference_skill, new_n_test
        As in ``bayes_sota.maximum.posterior``.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
    """
    from bayes_sota.maximum.models import build_observed_maximum

    rng, seed = resolve_seed(random_seed)
    model = build_observed_maximum(boards, priors, reference_skill=reference_skill)
    settings = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    trace = run_nuts(model, rng, target_accept=target_accept, progressbar=progressbar, **settings)
    posterior = {
        name: np.broadcast_to(trace["posterior"][name].values, (chains, draws)).copy()
        for name in ("location", "spread", "rho")
    }
    attributes: dict[str, str | float | int] = {
        **describe_provenance(
            boards, priors, method="nuts", seed=seed, model_name=model_name, model_hash=model_hash
        ),
        **describe_nuts(trace),
    }
    stats = trace["sample_stats"].to_dataset()[["diverging"]].astype(float)
    return complete_result(
        posterior,
        boards,
        priors,
        rng,
        attributes,
        sample_stats=stats,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )


def sample_abc(
    boards: Sequence[Leaderboard],
    priors: Priors,
    *,
    draws: int = 1000,
    chains: int = 4,
    cores: int | None = None,
    random_seed: Seed = None,
    reference_skill: float | None = None,
    new_n_test: int | None = None,
    model_name: str | None = None,
    model_hash: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior by ABC/SMC; parameters as in ``sample_nuts``, epsilon is chosen and reported."""
    rng, seed = resolve_seed(random_seed)
    simulated = sample_smc_abc(
        boards,
        priors,
        draws=draws,
        chains=chains,
        cores=cores,
        random_seed=int(rng.integers(2**31)),
        reference_skill=reference_skill,
        progressbar=progressbar,
    )
    found = simulated["posterior"].to_dataset()
    posterior = {str(name): np.asarray(found[name].values) for name in found.data_vars}
    reported = {
        str(k): v for k, v in simulated.attrs.items() if str(k).startswith(("epsilon", "winner_"))
    }
    attributes: dict[str, str | float | int] = {
        **describe_provenance(
            boards, priors, method="abc", seed=seed, model_name=model_name, model_hash=model_hash
        ),
        **reported,
        "draws_are_independent": 0,
        "diagnostics_reasons": _reasons(reported),
    }
    stats = simulated["sample_stats"].to_dataset().drop_attrs()
    return complete_result(
        posterior,
        boards,
        priors,
        rng,
        attributes,
        sample_stats=stats,
        reference_skill=reference_skill,
        new_n_test=new_n_test,
    )


def _reasons(attributes: dict[str, Any]) -> str:
    reasons = []
    if attributes["epsilon_ratio"] > 0.25:
        ratio = attributes["epsilon_ratio"]
        reasons.append(f"epsilon is {ratio:.2f} posterior standard deviations")
    if attributes["winner_unaccepted"] > 0:
        share = attributes["winner_unaccepted"]
        reasons.append(f"no simulation matched the maximum for {share:.2%} of the draws")
    return "; ".join(reasons)
