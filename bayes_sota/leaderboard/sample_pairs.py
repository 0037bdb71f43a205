"""Two boards of the same teams: posterior draws as a DataTree.

Draws come from weighted points (``importance_effective_size``) and are laid out as chains, so that
every ArviZ function works.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from scipy.stats import spearmanr

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
from bayes_sota.core.types import Groups, Seed
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard.from_scores import check_luck
from bayes_sota.leaderboard.pairs import draw_scores
from bayes_sota.leaderboard.pairs_noise import log_shift_prior
from bayes_sota.leaderboard.pairs_posterior import (
    Draws,
    PairDraws,
    PairFit,
    draw_pairs,
    draw_prior,
    estimands_of,
    fit_pairs,
    gains_of,
    reasons_of,
)
from bayes_sota.leaderboard.sample import NEW_SCORES, field_values
from bayes_sota.leaderboard.specification import Model, chosen_model

if TYPE_CHECKING:
    pass

LEVELS = (0.025, 0.5, 0.975)  # at which the prior of lambda is told
_TEAMS = ("skill", "expected_private", "public_gain", "unusual")
_DIMENSIONS = {
    **dict.fromkeys((*_TEAMS, "likelihood"), ("classifier",)),
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
    made = _groups(fit, drawn, sizes["chains"], rng)
    if groups == "all":
        made |= _checks(fit, drawn, sizes["chains"], rng)
    provenance = describe_provenance(
        (boards,), spec.priors, method="exact", seed=seed, **spec.provenance
    )
    return result_tree(
        made,
        _facts(fit)
        | provenance
        | {
            "skill_family": "averaged",
            "log_evidence": fit.log_evidence_of_all,
            "family_weights": ", ".join(f"{k} {v:.3f}" for k, v in fit.shape_weights.items()),
            "importance_effective_size": fit.effective_size,
            "draws_are_independent": 1,
            "diagnostics_reasons": "; ".join(reasons_of(fit, drawn)),
        },
    )


def _groups(
    fit: PairFit, drawn: PairDraws, chains: int, rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """Estimands, predictions and what was known."""
    pairs, boards = fit.evidence, fit.evidence.boards
    parameters = drawn.parameters.completed(fit, rng)
    first = int(pairs.group[np.searchsorted(pairs.kept, boards.public_winner)])
    draws = estimands_of(fit, drawn.noise, drawn.psi, first, rng)
    new = {name: draws.pop(name) for name in NEW_SCORES} | gains_of(fit, drawn)
    behind = dict(zip(("point", "stratum"), parameters.behind, strict=True))
    values = {
        "posterior": _named(fit, draws, parameters, boards.public.max()),
        "predictions": new,
        "sample_stats": behind,
    }
    return {name: _laid_out(fit, v, chains) for name, v in values.items()} | _known(fit)


def _checks(
    fit: PairFit, drawn: PairDraws, chains: int, rng: np.random.Generator
) -> dict[str, xr.Dataset]:
    """Prior, replicates, log likelihood and log prior."""
    pairs, noise, size = fit.evidence, drawn.noise, len(drawn.psi)
    every = -(-16 * pairs.kept.size * size // LARGEST_GROUP)
    some = np.arange(size).reshape(chains, -1)[:, ::every].ravel()
    printed, count = pairs.coordinate.printed, pairs.n_counted
    before, of_noise, psi, scores = draw_prior(fit, some.size, rng)
    prior = estimands_of(fit, of_noise, psi, scores[..., 0].argmax(axis=1), rng)
    prior = {name: v for name, v in prior.items() if name not in NEW_SCORES}
    log_noise = np.logaddexp.reduce(log_shift_prior(pairs, fit.priors, noise), axis=1)
    again = draw_scores(pairs, noise[some], drawn.psi[some], rng)
    best = printed(scores)[..., 0].max(axis=1)
    values: dict[str, Draws] = {
        "prior": _named(fit, prior, before, best),
        "prior_predictive": {"score": printed(scores)},
        "posterior_predictive": {"score": printed(again)},
        "log_prior": {
            "field": drawn.parameters.log_prior(fit),
            "noise": log_noise - 0.5 * np.sum(drawn.z**2, axis=1),
        },
    }
    if 4 * size * pairs.kept.size <= LARGEST_GROUP:
        each = np.zeros((size, pairs.public.size))
        each[:, :count] = fit.log_likelihood_of_entries(drawn.parameters)
        values["log_likelihood"] = {"likelihood": (each / np.bincount(pairs.group))}
    groups = {name: _laid_out(fit, v, chains) for name, v in values.items()}
    if "log_likelihood" in groups:
        groups["log_likelihood"] = groups["log_likelihood"].rename(likelihood="score")
    return groups


def _named(fit: PairFit, draws: Draws, parameters: Parameters, best_public: Any) -> Draws:
    """Estimands and parameters of the field; ``best`` is the first kept team with the best pair."""
    firsts = np.unique(fit.evidence.group, return_index=True)[1]
    bias = best_public - draws["theta_sota"]
    named = draws | {"multiplicity_bias": bias, "best": firsts[draws["best"]]}
    return named | field_values(fit, parameters)


def _laid_out(fit: PairFit, values: Draws, chains: int) -> xr.Dataset:
    """Variables of the kept teams from draws (D, ...), those of teams of the distinct pairs."""
    pairs, of_teams = fit.evidence, (*_TEAMS, "likelihood", "score")
    spread = {name: v[:, pairs.group] if name in of_teams else v for name, v in values.items()}
    names = [pairs.boards.names[i] for i in pairs.kept]
    return lay_out(spread, chains, _DIMENSIONS, {"classifier": names, "board": list(BOARDS)})


def _known(fit: PairFit) -> dict[str, xr.Dataset]:
    """Observed scores of the kept teams, and what was known."""
    pairs, boards = fit.evidence, fit.evidence.boards
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
        coords["level"] = list(LEVELS)
    for name, pair in (("n_test", boards.n_test), ("standard_error", boards.standard_errors)):
        if pair is not None:
            values[name] = ("board", list(pair))
    constants = xr.Dataset(values, coords | {"family": list(fit.families)})
    return {"observed_data": observed, "constant_data": constants}


def _facts(fit: PairFit) -> dict[str, Any]:
    """Attributes that any route to a posterior of two boards has."""
    pairs, boards, priors = fit.evidence, fit.evidence.boards, fit.priors
    return {
        "luck_learnt": int(boards.has_submissions and not priors.submission_luck.is_fixed),
        "rho_learnt": int(boards.noise_is_known and not priors.correlation.is_fixed),
        "noise_known": int(boards.noise_is_known),
        "metric": "score" if boards.n_test is None else "accuracy",
        "skill_scale": "private population",
        "public_winner": boards.names[boards.public_winner],
        "n_teams": boards.n_entries,
        "n_kept": int(pairs.kept.size),
        "n_distinct": int(pairs.public.size),
        "rank_correlation": float(spearmanr(boards.public, boards.private).statistic),
    }
