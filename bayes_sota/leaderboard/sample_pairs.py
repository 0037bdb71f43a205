"""Two boards of the same teams: posterior draws as a DataTree, exact or of a trace.

Draws come from weighted points (``importance_effective_size``) and are laid out as chains, so that
every ArviZ function works.
"""

from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DEFAULT_SEED, check_choice
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample import (
    LARGEST_GROUP,
    describe_provenance,
    lay_out,
    resolve_seed,
    result_tree,
)
from bayes_sota.core.sample_trace import check_trace, describe_nuts, model_of, sampler_stats
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.types import Groups, Seed
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.pairs import draw_scores
from bayes_sota.leaderboard.pairs_posterior import (
    Draws,
    PairDraws,
    PairFit,
    draw_prior,
    draw_psi,
    estimands_of,
    fit_pairs,
    gains_of,
    reasons_of,
)
from bayes_sota.leaderboard.sample import NEW_SCORES, field_values
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.leaderboard.skills import draw_parameters
from bayes_sota.leaderboard.specification import Model, chosen_model

LEVELS = (0.025, 0.5, 0.975)  # at which the prior of lambda is told
_TEAMS = ("skill", "expected_private", "public_gain", "unusual", "log_likelihood")
_DIMS = {
    **dict.fromkeys(_TEAMS, ("classifier",)),
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
        ``log_likelihood``: ``score`` (classifier,), 0 of teams that do not count.
        ``predictions``: new scores, and per classifier ``public_gain`` (public score beyond what
        the private one lets expect) and ``unusual`` (probability that this is more than luck and
        selection explain). With submissions ``submission_luck`` (lambda) and ``submission_slope``,
        what the skill of a team has more per unit of the expected luck of its submissions.
        Attributes ``rho_learnt``, ``luck_learnt`` and ``n_copies``, teams that have the same two
        scores as another one and are left out.

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
    parameters = draw_parameters(fit, sizes["draws"] * sizes["chains"], rng)
    drawn = draw_psi(fit, parameters, rng)
    made = _groups(fit, drawn, sizes["chains"], rng)
    if groups == "all":
        made |= _checks(fit, drawn, sizes["chains"], rng)
    weights = ", ".join(f"{name} {weight:.3f}" for name, weight in fit.shape_weights.items())
    exact = {
        "skill_family": "averaged",
        "log_evidence": fit.log_evidence_of_all,
        "family_weights": weights,
        "importance_effective_size": fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(reasons_of(fit, drawn)),
    }
    known = describe_provenance(
        (boards,), spec.priors, method="exact", seed=seed, **spec.provenance
    )
    return result_tree(made, known | _facts(fit) | exact)


def complete_paired(
    trace: xr.DataTree,
    boards: PairedBoards,
    model: Any = None,
    priors: Priors | PairedPriors | None = None,
    random_seed: Seed = DEFAULT_SEED,
) -> xr.DataTree:
    """Result of two boards from a trace of ``build_paired``, as ``complete`` gives it."""
    from bayes_sota.leaderboard.models_pairs import build_paired

    check_trace(trace)
    rng, seed = resolve_seed(random_seed)
    known, posterior = dataset_of(trace, "constant_data"), dataset_of(trace, "posterior")
    family = list(FAMILIES)[int(known["family"])]
    top = float(known["top"]) if known["top"].notnull() else None
    model_of(trace, model, lambda: build_paired(boards, priors, family=family, top=top), boards)
    fit, chains = PairFit.of_pairs(boards, priors, (family,), top), posterior.sizes["chain"]
    zero, one = fit.evidence.law.location_at(np.array([0.0, 1.0])).tolist()
    location, spread = (posterior[name].values.ravel() for name in ("location", "spread"))
    place, width = (location - zero) / (one - zero), np.log(spread / (one - zero))
    points = np.column_stack(fit.scale.coordinates(place, width))
    if "shape" in posterior:
        points = np.column_stack([points, posterior["shape"].values.reshape(len(points), -1)])
    log_p = fit.log_likelihood(family, points)
    node = np.argmax(log_p + rng.gumbel(size=log_p.shape), axis=1)
    drawn = draw_psi(fit, Parameters(np.zeros_like(node), node, points), rng)
    made = _groups(fit, drawn, chains, rng) | _checks(fit, drawn, chains, rng)
    made["sample_stats"] = sampler_stats(trace)
    drawn_by = describe_provenance((boards,), fit.priors, method="nuts", seed=seed)
    return result_tree(made, drawn_by | _facts(fit) | describe_nuts(trace))


def _groups(
    fit: PairFit, drawn: PairDraws, chains: int, rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """Estimands, predictions and known numbers."""
    pairs, boards = fit.evidence, fit.evidence.boards
    parameters = drawn.parameters.completed(fit, rng)
    draws = estimands_of(fit, drawn.noise, drawn.psi, pairs.winner, rng)
    new = {name: draws.pop(name) for name in NEW_SCORES} | gains_of(fit, drawn)
    coords: dict[str, Any] = {**_coords(fit), "family": list(fit.families)}
    constants: dict[str, Any] = {"observed_maximum": float(boards.public.max())}
    if pairs.has_luck:
        numbers = np.median(boards.submissions[pairs.kept], axis=1)
        constants["submissions"] = ("classifier", numbers)
        quantiles = fit.priors.submission_luck.quantile(np.array(LEVELS))
        constants["submission_luck_prior"], coords["level"] = ("level", quantiles), list(LEVELS)
    for name, pair in (("n_test", boards.n_test), ("standard_error", boards.standard_errors)):
        if pair is not None:
            constants[name] = ("board", list(pair))
    values = _named(fit, draws, parameters, boards.public.max())
    behind = dict(zip(("point", "stratum"), parameters.behind, strict=True))
    return {
        "posterior": _laid_out(fit, values, chains),
        "predictions": _laid_out(fit, new, chains),
        "sample_stats": _laid_out(fit, behind, chains),
        "observed_data": xr.Dataset({"score": (_DIMS["score"], pairs.scores)}, _coords(fit)),
        "constant_data": xr.Dataset(constants, coords),
    }


def _checks(
    fit: PairFit, drawn: PairDraws, chains: int, rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """Prior, replicates, log likelihood and log prior."""
    pairs, size, teams = fit.evidence, len(drawn.psi), fit.evidence.kept.size
    every = -(-16 * teams * size // LARGEST_GROUP)
    some = np.arange(size).reshape(chains, -1)[:, ::every].ravel()
    before, noise, psi, scores = draw_prior(fit, some.size, rng)
    prior = estimands_of(fit, noise, psi, scores[..., 0].argmax(axis=1), rng)
    prior = {name: v for name, v in prior.items() if name not in NEW_SCORES}
    printed, again = (
        pairs.printed(s)
        for s in (scores, draw_scores(pairs, drawn.noise.at(some), drawn.psi[some], rng))
    )
    log_prior = {"field": drawn.parameters.log_prior(fit), "noise": drawn.log_prior}
    made = {
        "prior": _laid_out(fit, _named(fit, prior, before, printed[..., 0].max(axis=1)), chains),
        "prior_predictive": _laid_out(fit, {"score": printed}, chains),
        "posterior_predictive": _laid_out(fit, {"score": again}, chains),
        "log_prior": _laid_out(fit, log_prior, chains),
    }
    if 4 * size * teams <= LARGEST_GROUP:
        each = np.zeros((size, teams))
        each[:, : pairs.n_counted] = fit.log_likelihood_of_entries(drawn.parameters)
        made["log_likelihood"] = _laid_out(fit, {"log_likelihood": each}, chains).rename(
            log_likelihood="score"
        )
    return made


def _named(fit: PairFit, draws: Draws, parameters: Parameters, best_public: Any) -> Draws:
    """Estimands and parameters of the field."""
    bias = {"multiplicity_bias": best_public - draws["theta_sota"]}
    return draws | bias | field_values(fit, parameters)


def _coords(fit: PairFit) -> dict[str, list[str]]:
    boards = fit.evidence.boards
    return {"classifier": [boards.names[i] for i in fit.evidence.kept], "board": list(BOARDS)}


def _laid_out(fit: PairFit, values: Draws, chains: int) -> xr.Dataset:
    """Variables from draws (D, ...)."""
    return lay_out(values, chains, _DIMS, _coords(fit))


def _facts(fit: PairFit) -> dict[str, Any]:
    """Attributes that any route to a posterior of two boards has."""
    boards, priors = fit.evidence.boards, fit.priors
    return {
        "luck_learnt": int(fit.evidence.has_luck and not priors.submission_luck.is_fixed),
        "rho_learnt": int(boards.noise_is_known and not priors.correlation.is_fixed),
        "metric": "score" if boards.n_test is None else "accuracy",
        "n_copies": fit.evidence.n_copies,
    }
