"""Posterior of a whole leaderboard, or of answers to every item, as one DataTree.

``tests/leaderboard/test_sample_nuts.py`` holds the exact route and NUTS together.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DRAWS
from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree, run_nuts
from bayes_sota.core.types import FloatArray, IntArray, Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.responses import Responses
from bayes_sota.leaderboard.fit import FieldFit, ScoreKernel, fit_field
from bayes_sota.leaderboard.from_items import JointSampler, items_posterior
from bayes_sota.leaderboard.parameters import FieldParameters, dimension_of
from bayes_sota.leaderboard.posterior import (
    BLOCK,
    REPEATS,
    BoardCheck,
    LeaderboardPosterior,
    NodeSampler,
    check_board,
    compare_families,
    complete_draws,
    leaderboard_posterior,
    notes_of,
    reasons_of,
)
from bayes_sota.leaderboard.sample_groups import Drawn, checking_groups, parameter_values
from bayes_sota.leaderboard.shapes import FAMILIES

Groups = Literal["all", "estimands"]
CHECKING = ("prior", "prior_predictive", "posterior_predictive", "log_likelihood", "log_prior")
"""Groups that the estimands do without."""
_POSTERIOR = (
    "theta_sota", "multiplicity_bias", "expected_sota", "winner_skill", "rho", "shift",
    "n_above_sota",
)  # fmt: skip
_LEAST_PROBABILITY = 0.02  # of a family that NUTS samples
_LARGEST_R_HAT = 1.05
_NEW_SCORES = ("winner_new_score", "best_new_score")


def sample_board(
    data: Leaderboard | Responses | ItemScores,
    priors: BoardPriors,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: Seed = None,
    new_n_test: int | None = None,
    learn_rho: bool = False,
    groups: Groups = "all",
    model_name: str | None = None,
    model_hash: str | None = None,
) -> xr.DataTree:
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
    xarray.DataTree
        As of ``build_board_tree``; from items with ``skill`` of every classifier.
    """
    rng, seed = resolve_seed(random_seed)
    drawn: Any = {"draws": draws * chains, "random_seed": rng, "new_n_test": new_n_test}
    result: LeaderboardPosterior
    shape, skill = (chains, draws), dict[str, FloatArray]()
    joint, psi = None, None
    if isinstance(data, Leaderboard):
        result = leaderboard_posterior(data, priors, learn_rho=learn_rho, **drawn)
    else:
        result = found = items_posterior(data, priors, **drawn)
        skill["skill"] = found.skill.reshape(*shape, -1)
        joint, psi = JointSampler.of(found.fit, found.correlation), found.psi
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
        "rho_learnt": int(learn_rho or not isinstance(data, Leaderboard)),
    }
    behind = Drawn(result.fit, result.parameters, shape, data.names, joint, psi)
    return build_board_tree(shaped, behind, attributes, rng, groups=groups)


def build_board_tree(
    draws: Mapping[str, FloatArray],
    drawn: Drawn,
    attributes: Mapping[str, Any],
    rng: np.random.Generator,
    sample_stats: Mapping[str, FloatArray] = MappingProxyType({}),
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
        Statistics of a sampler, shape (chain, draw).
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
    fit, shape = drawn.fit, drawn.shape
    board = fit.kernel.board
    flat = {name: v.reshape(-1, *v.shape[2:]) for name, v in draws.items()}
    flat = {k: board.sign * v if k in _NEW_SCORES else v for k, v in drawn.signed(flat).items()}
    flat["multiplicity_bias"] = board.sign * board.maximum - flat["theta_sota"]
    check = _check_dataset(check_board(fit, rng))
    prior = {"level": rng.random(shape), "shift": rng.standard_normal(shape)}
    drawn = replace(drawn, parameters=drawn.parameters.completed(fit, rng))
    flat |= drawn.signed(parameter_values(fit, drawn.parameters))
    random_tries = () if isinstance(board.tries, int) else ("n_classifiers",)
    shown = (*_POSTERIOR, *random_tries, "location", "spread", "family", "shape", "skill")
    found = {
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
        others, notes = checking_groups(drawn, found["posterior"], prior, rng)
        told = [str(attributes.get("notes", "")), *notes]
        attributes["notes"] = "; ".join(note for note in told if note)
        found |= others
    return result_tree(found, attributes)


def _check_dataset(check: BoardCheck) -> xr.Dataset:
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
        "lower_is_better": ((), float(board.lower_is_better)),
        "typical_tries": ((), board.typical_tries),
        "standard_error": ((), float(board.standard_error or 0)),
        "modelled": ("classifier", kernel.modelled),
        "all_score": ("classifier", board.sign * kernel.scores),
        "n_coordinates": ("family", [FAMILIES[name].dimension for name in families]),
    }
    return xr.Dataset(values, {"classifier": list(drawn.names), "family": families})


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
    model_name: str | None = None,
    model_hash: str | None = None,
) -> xr.DataTree:
    r"""Posterior of a whole leaderboard by NUTS (nutpie): a check of the exact route.

    .. math::
        p(\cdot \mid y) = \frac1R \sum_r \sum_f p(f \mid y, \rho_r)
        \int p(\cdot \mid \phi, f, \rho_r, y)\, p(\phi \mid f, \rho_r, y)\, d\phi

    NUTS draws from the last factor, the standardised parameters of each family, for all values of
    rho at once (``bayes_sota.leaderboard.models``). Draw ``i`` of a chain is then given one node of
    rho, in equal shares, and one family. Two things are not NUTS's: it gives no evidence, so
    ``p(f | y, rho)`` is the exact route's; and skills, shift and new scores given the parameters
    are drawn as there.

    Parameters
    ----------
    board : Leaderboard
        With scores.
    priors : BoardPriors
        Every family whose probability, averaged over rho, is at least 2 % in the exact fit has
        its own run; the runs are mixed in proportion to their evidence.
    draws, chains, tune, target_accept, cores, progressbar
        As in ``pm.sample``. Chains start from draws of the exact fit.
    random_seed : int, SeedSequence, Generator or None
    new_n_test : int, optional
        Size of the fresh test set; default the board's own.
    model_name, model_hash : str, optional
        Recorded as attributes.

    Returns
    -------
    xarray.DataTree
        As of ``sample_board``. ``sample_stats`` also holds ``diverging`` and ``n_steps``, summed
        over the families' runs, and the ``family`` and ``rho_node`` behind each draw; attributes
        ``r_hat`` and ``ess_bulk`` are the worst over all parameters of all families.
    """
    for name, value in {"draws": draws, "tune": tune, "chains": chains}.items():
        DRAWS.check(value, name)
    rng, seed = resolve_seed(random_seed)
    fit = fit_field(ScoreKernel.of(board), priors, rng)
    settings: dict[str, Any] = {
        "draws": draws, "tune": tune, "chains": chains, "cores": cores, "progressbar": progressbar,
        "nuts": {"target_accept": target_accept, "adaptation": "low_rank"},
    }  # fmt: skip
    likely = fit.family_weights.mean(axis=1) >= _LEAST_PROBABILITY
    kept = [name for name, chosen in zip(fit.families, likely, strict=True) if chosen]
    runs = {name: _sample_family(fit, name, settings, rng) for name in kept}
    nodes, families = _assign(fit, kept, (chains, draws), rng)
    values = _complete(fit, runs, nodes, families, rng, new_n_test)
    drawn = Drawn(fit, _parameters(fit, runs, nodes, families), (chains, draws), board.names)
    stats = {
        name: np.sum([run["sample_stats"][name].values for run in runs.values()], axis=0)
        for name in ("diverging", "n_steps")
    }
    stats |= {"family": families, "rho_node": nodes}
    provenance = describe_provenance(
        (board,), priors, method="nuts", seed=seed, model_name=model_name, model_hash=model_hash
    )
    attributes = provenance | _attributes(fit, runs) | {"new_n_test": int(new_n_test or 0)}
    return build_board_tree(values, drawn, attributes, rng, stats)


def _parameters(
    fit: FieldFit, runs: Mapping[str, xr.DataTree], nodes: IntArray, families: IntArray
) -> FieldParameters:
    """Family, node and coordinates of each draw, flattened."""
    coordinates = np.zeros((nodes.size, dimension_of(fit)))
    for name, run in runs.items():
        place = np.flatnonzero(families == fit.families.index(name))
        points = run["posterior"]["coordinates"].values
        points = points.reshape(-1, *points.shape[2:])[place, nodes.ravel()[place]]
        coordinates[place, : points.shape[1]] = points
    return FieldParameters(families.ravel(), nodes.ravel(), coordinates)


def _sample_family(
    fit: FieldFit, family: str, settings: Mapping[str, Any], rng: np.random.Generator
) -> xr.DataTree:
    import pymc as pm
    import pytensor.tensor as pt

    from bayes_sota.leaderboard.models import build_leaderboard

    points = fit.points[fit.families.index(family)]
    start = pt.as_tensor_variable(points.points)[pm.Categorical.dist(p=points.weights.T)]
    return run_nuts(
        build_leaderboard(fit.kernel.board, fit.priors, family=family, fit=fit),
        rng,
        initvals={"coordinates": start},
        compile_kwargs={"jitter_rvs": set()},
        var_names=["coordinates"],
        **settings,
    )


def _assign(
    fit: FieldFit, names: list[str], shape: tuple[int, int], rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Node of rho and family behind each draw, in random order and even shares."""
    chains, draws = shape
    size = fit.rho.size
    nodes = np.stack(
        [rng.permutation((np.arange(draws) + rng.integers(size)) % size) for _ in range(chains)]
    )
    index = np.array([fit.families.index(name) for name in names])
    weights = fit.family_weights[index] / fit.family_weights[index].sum(axis=0)
    families = np.empty(shape, dtype=np.int64)
    for r in range(size):
        of_node = nodes == r
        count = int(of_node.sum())
        levels = (rng.permutation(count) + rng.random(count)) / max(count, 1)
        chosen = np.searchsorted(np.cumsum(weights[:, r])[:-1], levels, side="right")
        families[of_node] = index[chosen]
    return nodes, families


def _complete(
    fit: FieldFit,
    runs: Mapping[str, xr.DataTree],
    nodes: IntArray,
    families: IntArray,
    rng: np.random.Generator,
    new_n_test: int | None,
) -> dict[str, FloatArray]:
    """Everything else given the parameters, in the order of the draws."""
    parts: list[dict[str, FloatArray]] = []
    places: list[IntArray] = []
    for r in range(fit.rho.size):
        sampler = NodeSampler(fit, r)
        for name, run in runs.items():
            place = np.flatnonzero((nodes == r) & (families == fit.families.index(name)))
            points = run["posterior"]["coordinates"].values[:, :, r].reshape(nodes.size, -1)
            for block in np.split(place, np.arange(BLOCK, place.size, BLOCK)):
                if block.size:
                    drawn = sampler.draw(name, points[block], rng)
                    parts.append({key: value[::REPEATS] for key, value in drawn.items()})
                    places.append(block)
    order = np.argsort(np.concatenate(places))
    values = {key: np.concatenate([part[key] for part in parts])[order] for key in parts[0]}
    values = complete_draws(values, fit, rng, new_n_test)
    return {name: value.reshape(nodes.shape) for name, value in values.items()}


def _attributes(fit: FieldFit, runs: Mapping[str, xr.DataTree]) -> dict[str, Any]:
    import arviz as az

    parameters = {
        name: run["posterior"].to_dataset()[["coordinates"]] for name, run in runs.items()
    }
    r_hat = {name: float(az.rhat(t)["coordinates"].max()) for name, t in parameters.items()}
    ess = {name: float(az.ess(t)["coordinates"].min()) for name, t in parameters.items()}
    divergences = int(sum(run["sample_stats"]["diverging"].values.sum() for run in runs.values()))
    reasons = [
        *reasons_of(fit),
        *([f"{divergences} divergences"] if divergences else []),
        *(
            f"r_hat of the parameters of {name} is {value:.2f}, above {_LARGEST_R_HAT}"
            for name, value in r_hat.items()
            if value > _LARGEST_R_HAT
        ),
    ]
    return {
        "inference_library": "nutpie",
        "draws_are_independent": 0,
        "divergences": divergences,
        "r_hat": max(r_hat.values()),
        "ess_bulk": min(ess.values()),
        "families": ", ".join(runs),
        "diagnostics_reasons": "; ".join(reasons),
        "notes": "; ".join(notes_of(fit)),
        "rho_learnt": 0,
    }
