"""Two boards of the same teams: posterior draws as a DataTree.

Draws come from weighted points (``importance_effective_size``) and are laid out as chains, so that
every ArviZ function works. ``complete_paired`` makes the same tree of draws of the model of PyMC:
given the place and width of the field, noise and skills are drawn as in the exact route.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.special import softmax
from scipy.stats import spearmanr

from bayes_sota.core.arguments import DEFAULT_SEED, check_choice
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import MaximumPriors, Priors
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    check_trace,
    describe_completed,
    describe_provenance,
    lay_out,
    model_groups,
    model_of,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.pairs import Pairs, draw_scores
from bayes_sota.leaderboard.pairs_noise import log_shift_prior
from bayes_sota.leaderboard.pairs_posterior import (
    Draws,
    PairDraws,
    PairFit,
    draw_pairs,
    draw_prior,
    draw_psi,
    estimands_of,
    fit_pairs,
    gains_of,
    natural_parameters,
    reasons_of,
)
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    import pymc as pm

LEVELS = (0.025, 0.5, 0.975)  # at which the prior of lambda is told
_NEW_SCORES = ("winner_new_score", "best_new_score")
_GAINS = ("public_gain", "unusual")
_OF_TEAMS = ("skill", "expected_private", *_GAINS)
_DIMENSIONS = {
    **dict.fromkeys(_OF_TEAMS, ("classifier",)),
    "score": ("classifier", "board"),
    "shape": ("shape_parameter",),
}


def estimate_paired(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    model: Model = None,
    domain: str | None = None,
    field: str | None = None,
    draws: int | None = None,
    chains: int | None = None,
    random_seed: Seed = DEFAULT_SEED,
    top: float | None = None,
    groups: Groups = "all",
) -> xr.DataTree:
    r"""Posterior of the best skill, of the public winner's and of every team's, from both boards.

    Scores are :math:`x_j = \theta_j + s_1 (\rho z_1 + \sqrt{1 - \rho^2} e_{1j})` and the same with
    index 2; P of the skills and its prior are those of a whole board; residuals may be outliers.
    Skills are those of the *private* population. Where the standard errors are known the variance
    of the differences over teams, :math:`(s_1^2 + s_2^2)(1 - \rho^2)`, teaches rho; else only that
    product is learnt, and rho keeps its prior. Where public scores are the best of several
    submissions their luck (``bayes_sota.maximum.submissions``) is taken off, and lambda is learnt
    from the differences.

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
        Prior of rho, sizes that the offset of the public board may have, and the luck of
        submissions. Not together with ``model``.
    model : ModelSpecification, name or path, optional
        Named specification with priors and sizes of samples.
    domain, field : str, optional
        As in ``estimate_sota``. Default: ensembles for a download of a competition.
    draws, chains : int, optional
        Draws per chain, and chains; default those of the model, 250 and 4.
    random_seed : int, SeedSequence, Generator or None
    top : float, optional
        The model is about teams among the best ``top`` of the means of both scores (never fewer
        than 30 places); skills are also told of teams among the best of either board. Default: one
        half, at most 1,500 places.
    groups : {"all", "estimands"}
        "estimands" leaves out the groups that only checks need.

    Returns
    -------
    xarray.DataTree
        ``posterior``: theta_sota, winner_skill, multiplicity_bias, rho, score_shift (private minus
        public score at the winner's skill), standard errors, ``best`` (index of the best team), per
        classifier ``skill`` and ``expected_private``, and the parameters of the field and of the
        noise. ``prior``: the same of fields from the prior. ``observed_data``,
        ``posterior_predictive`` and ``prior_predictive``: ``score`` (classifier, board); replicates
        are of each team given its skill, on the same items, and selected as the teams were.
        ``log_likelihood``: ``score`` (classifier,), shared equally among teams that count once, 0
        of teams that do not count. ``predictions``: new scores, and per classifier ``public_gain``
        (public score beyond what the private one lets expect) and ``unusual`` (probability that
        this is more than luck and selection explain). With submissions ``submission_luck``
        (lambda) and ``submission_slope``, what the skill of a team has more per unit of its
        ``expected_luck`` (``constant_data``). Attributes ``rho_learnt`` and ``luck_learnt``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> public, private = rng.binomial(500, rng.uniform(0.7, 0.8, 40), (2, 40)) / 500
    >>> boards = PairedBoards(public, private, n_test=(500, 500))
    >>> tree = estimate_paired(boards, draws=50, random_seed=0, groups="estimands")
    >>> tree.attrs["rho_learnt"], tree["posterior"]["skill"].dims
    (1, ('chain', 'draw', 'classifier'))
    """
    check_choice("groups", groups, Groups)
    check_luck(priors, boards)
    spec = chosen_model(model, "paired", priors, domain=domain, field=field, data=boards)
    sizes = spec.sizes(draws, chains)
    rng, seed = resolve_seed(random_seed)
    fit = fit_pairs(boards, spec.priors, rng, top)
    drawn = draw_pairs(fit, sizes["draws"] * sizes["chains"], rng)
    made = _groups(fit, drawn, sizes["chains"], rng, groups)
    correlation = MaximumPriors(correlation=spec.priors.correlation)
    provenance: dict[str, Any] = describe_provenance(
        (), correlation, method="exact", seed=seed, **spec.provenance
    )
    provenance |= {
        "skill_family": "averaged",
        "log_evidence": fit.log_evidence_of_all,
        "family_weights": ", ".join(f"{k} {v:.3f}" for k, v in fit.shape_weights.items()),
        "importance_effective_size": fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(reasons_of(fit, drawn)),
    }
    return result_tree(made, _described(fit, provenance))


def complete_paired(
    trace: xr.DataTree,
    boards: PairedBoards,
    model: "pm.Model | None" = None,
    priors: Priors | PairedPriors | None = None,
    *,
    top: float | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Tree of skills, estimands and checks of draws from ``build_paired``, extended or not.

    Parameters
    ----------
    trace : DataTree
    boards : PairedBoards
        What the model is of.
    model : pm.Model, optional
        The extended model; default that of the ``with`` block, else that of ``build_paired``.
    priors, top
        As given to ``build_paired``.
    random_seed : int, SeedSequence, Generator or None

    Returns
    -------
    xarray.DataTree
        The groups of ``estimate_paired`` without ``family``, with the sampler's statistics; other
        variables of the model with their prior and log likelihood.

    Raises
    ------
    InputError
        A trace of another model, other boards or another schema; variables that are missing.
    """
    import pymc as pm

    from bayes_sota.leaderboard.models_pairs import build_paired, family_of, model_fit

    check_trace(trace)
    current = model if model is not None else pm.Model.get_context(error_if_none=False)
    index = dataset_of(trace, "constant_data").get("family")
    family = family_of(current, None if index is None else int(index))
    fit = model_fit(boards, priors, family, top)
    chosen = model_of(
        trace, current, lambda: build_paired(boards, priors, family=family, top=top), boards
    )
    _check_model(chosen, fit.pairs)
    rng, seed = resolve_seed(random_seed)
    posterior = trace["posterior"].to_dataset()
    points = _coordinates(fit, posterior)
    drawn = draw_psi(fit, _at_nodes(fit, points, rng), rng)
    groups = _groups(fit, drawn, posterior.sizes["chain"], rng, "all")
    del groups["posterior"]["family"], groups["prior"]["family"]
    groups["sample_stats"] = dataset_of(trace, "sample_stats")
    groups["posterior"] = _joined(posterior, groups["posterior"])
    if current is not None:
        others = model_groups(chosen, trace, rng, ["score"])
        for name in ("prior", "log_prior", "log_likelihood", "posterior_predictive"):
            own = others.get(name, xr.Dataset())
            groups[name] = own if name == "prior" else _joined(own, groups[name])
    attributes = describe_completed(trace, chosen, groups, seed)
    return result_tree(groups, _described(fit, attributes | {"skill_family": family}))


def _joined(first: xr.Dataset, second: xr.Dataset) -> xr.Dataset:
    """Variables of both; those of the first win."""
    second = second.drop_vars([name for name in second.data_vars if name in first])
    if not len(first):
        return second
    return first.merge(second.assign_coords(chain=first["chain"], draw=first["draw"]))


def _coordinates(fit: PairFit, draws: xr.Dataset) -> FloatArray:
    """Standard normal coordinates (D, P) of the field's variables."""
    law, scale = fit.law, fit.scale
    zero, unit = (float(law.location_at(np.array([at]))[0]) for at in (0.0, 1.0))
    location, spread = (draws[name].values.ravel() for name in ("location", "spread"))
    columns = scale.coordinates((location - zero) / (unit - zero), np.log(spread / (unit - zero)))
    shape = draws["shape"].transpose(..., "shape_parameter").values if "shape" in draws else None
    others = np.empty((location.size, 0)) if shape is None else shape.reshape(location.size, -1)
    return np.column_stack([*columns, others])


def _at_nodes(fit: PairFit, points: FloatArray, rng: np.random.Generator) -> Parameters:
    """Parameters of one family with a node of the noise, drawn given the scores."""
    weights = softmax(fit.log_likelihood(fit.families[0], points), axis=1).cumsum(axis=1)
    node = np.sum(weights < rng.random((len(points), 1)) * weights[:, -1:], axis=1)
    return Parameters(np.zeros(len(points), np.int64), node, points)


def _check_model(model: "pm.Model", pairs: Pairs) -> None:
    """Refuse a model without what the skills need, or of other boards."""
    missing = [name for name in ("location", "spread", "score") if name not in model.named_vars]
    if missing:
        raise InputError(f"the model has no {', '.join(missing)}, which the skills need")
    stored = model.rvs_to_values[model["score"]].eval()
    if not np.array_equal(stored, pairs.scores):
        raise InputError("the model is of other boards: its scores differ, or top does")


def _groups(
    fit: PairFit, drawn: PairDraws, chains: int, rng: np.random.Generator, groups: Groups
) -> dict[str, xr.Dataset]:
    """All groups of a tree."""
    pairs, boards, noise = fit.pairs, fit.pairs.boards, drawn.noise
    size, parameters = drawn.psi.shape[0], drawn.parameters.completed(fit, rng)
    first = int(pairs.group[np.searchsorted(pairs.kept, boards.public_winner)])
    draws = estimands_of(fit, noise, drawn.psi, first, rng)
    named = natural_parameters(fit, parameters)
    new = {name: draws[name] for name in _NEW_SCORES} | gains_of(fit, drawn)
    behind = dict(zip(("point", "stratum"), parameters.behind, strict=True))
    made = {
        "posterior": _laid_out(
            pairs, _estimands(pairs, draws | named, boards.public.max()), chains
        ),
        "predictions": _laid_out(pairs, new, chains),
        "sample_stats": _laid_out(pairs, behind, chains),
        **_data(fit),
    }
    if groups == "estimands":
        return made
    every = -(-16 * pairs.kept.size * size // LARGEST_GROUP)
    some = np.arange(size).reshape(chains, -1)[:, ::every].ravel()
    scores = draw_scores(pairs, noise[some], drawn.psi[some], rng)
    log_p = drawn.log_likelihood / np.bincount(pairs.group)
    before, of_noise, psi, prior_scores = draw_prior(fit, some.size, rng)
    winner = prior_scores[..., 0].argmax(axis=1)
    printed = pairs.coordinate.printed(prior_scores)
    prior = estimands_of(fit, of_noise, psi, winner, rng) | natural_parameters(fit, before)
    log_noise = np.logaddexp.reduce(log_shift_prior(pairs, fit.priors, noise), axis=1)
    log_noise -= 0.5 * np.sum(drawn.z**2, axis=1)
    made |= {
        "prior": _laid_out(pairs, _estimands(pairs, prior, printed[..., 0].max(axis=1)), chains),
        "prior_predictive": _laid_out(pairs, {"score": printed}, chains),
        "posterior_predictive": _laid_out(
            pairs, {"score": pairs.coordinate.printed(scores)}, chains
        ),
        "log_prior": _laid_out(
            pairs, {"field": parameters.log_prior(fit), "noise": log_noise}, chains
        ),
    }
    likelihood = log_p[:, pairs.group].reshape(chains, -1, pairs.kept.size)
    if 4 * likelihood.size <= LARGEST_GROUP:
        values = xr.Dataset({"score": (("chain", "draw", "classifier"), likelihood)})
        values = values.assign_coords(made["posterior"][["chain", "draw", "classifier"]].coords)
        made["log_likelihood"] = values
    return made


def _estimands(pairs: Pairs, draws: Draws, best_public: Any) -> Draws:
    """All but new scores; ``best`` is the first kept team with the best pair."""
    firsts = np.unique(pairs.group, return_index=True)[1]
    estimated = {name: value for name, value in draws.items() if name not in _NEW_SCORES}
    bias = best_public - draws["theta_sota"]
    return estimated | {"multiplicity_bias": bias, "best": firsts[draws["best"]]}


def _laid_out(pairs: Pairs, values: Draws, chains: int) -> xr.Dataset:
    """Variables of the kept teams from draws (D, ...), those of teams of the distinct pairs."""
    team = (*_OF_TEAMS, "score")
    spread = {name: v[:, pairs.group] if name in team else v for name, v in values.items()}
    names = [pairs.boards.names[i] for i in pairs.kept]
    return lay_out(spread, chains, _DIMENSIONS, {"classifier": names, "board": list(BOARDS)})


def _data(fit: PairFit) -> dict[str, xr.Dataset]:
    """Observed scores of the kept teams, and what was known."""
    pairs, boards = fit.pairs, fit.pairs.boards
    coords: dict[str, Any] = {
        "classifier": [boards.names[i] for i in pairs.kept],
        "board": list(BOARDS),
    }
    observed = xr.Dataset({"score": (_DIMENSIONS["score"], pairs.scores)}, coords)
    values: dict[str, Any] = {
        "group": ("classifier", pairs.group),
        "observed_maximum": float(boards.public.max()),
    }
    if pairs.has_luck:
        numbers = np.median(boards.submissions[pairs.kept], axis=1)
        values["submissions"] = ("classifier", numbers)
        values["expected_luck"] = ("classifier", pairs.maxima[0][pairs.kind][pairs.group])
        quantiles = fit.priors.submission_luck.quantile(np.array(LEVELS))
        values["submission_luck_prior"] = ("level", quantiles)
        coords |= {"level": list(LEVELS)}
    for name, pair in (("n_test", boards.n_test), ("standard_error", boards.standard_errors)):
        if pair is not None:
            values[name] = ("board", list(pair))
    return {"observed_data": observed, "constant_data": xr.Dataset(values, coords)}


def _described(fit: PairFit, provenance: dict[str, Any]) -> dict[str, Any]:
    """Attributes that any route to a posterior of two boards has."""
    pairs, boards, priors = fit.pairs, fit.pairs.boards, fit.priors
    return {
        **provenance,
        "priors": repr(priors),
        "data_hash": boards.data_hash(),
        "luck_learnt": int(boards.has_submissions and not priors.submission_luck.is_fixed),
        "rho_learnt": int(boards.noise_is_known and not priors.correlation.is_fixed),
        "noise_known": int(boards.noise_is_known),
        "metric": "score" if boards.n_test is None else "accuracy",
        "skill_scale": "private population",
        "public_winner": boards.names[boards.public_winner],
        "n_teams": boards.n_entries,
        "n_kept": int(pairs.kept.size),
        "n_distinct": int(pairs.x.size),
        "rank_correlation": float(spearmanr(boards.public, boards.private).statistic),
    }
