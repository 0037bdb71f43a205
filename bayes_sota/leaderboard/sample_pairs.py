"""Two boards of the same teams: posterior draws as a DataTree."""

from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core import sample
from bayes_sota.core.arguments import DEFAULT_SEED, check_choice
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import PairedPriors, Priors
from bayes_sota.core.types import Groups, Seed
from bayes_sota.data.known import private_board
from bayes_sota.data.observed import BOARDS, PairedBoards
from bayes_sota.leaderboard import pairs_posterior as drawing
from bayes_sota.leaderboard.anchors import notes_of_anchors
from bayes_sota.leaderboard.pairs import Pairs, draw_scores
from bayes_sota.leaderboard.sample import NEW_SCORES, field_values
from bayes_sota.leaderboard.skills import draw_parameters
from bayes_sota.leaderboard.specification import Model, chosen_model

LEVELS = (0.025, 0.5, 0.975)  # of the prior of lambda
_TEAMS = ("skill", "expected_private", "public_gain", "unusual")
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
    Skills are those of the *private* population. Where the standard errors are known, rho is learnt
    from the variance of the differences, :math:`(s_1^2 + s_2^2)(1 - \rho^2)`; else only that
    product is learnt, and rho keeps its prior. Where public scores are the best of several
    submissions, the model removes their luck (``bayes_sota.maximum.score_laws``) and learns lambda
    from the differences.

    Parameters
    ----------
    boards : PairedBoards
        Perhaps ``with_known`` skills on the items behind the private board, which show its shift.
    priors : Priors or PairedPriors, optional
        Prior of rho, sizes that the offset of the public board may have, and the luck of
        submissions. Not together with ``model``.
    model : ModelSpecification or name, optional
        Named specification with priors and sizes of samples.
    domain, field : str, optional
        As in ``estimate_sota``.
    draws, chains : int, optional
        Draws per chain, and chains; default those of the model, 250 and 4.
    random_seed : int, SeedSequence, Generator or None
    top : float, optional
        The model covers teams among the best ``top`` of the means of both scores (never fewer than
        30 places); results include teams among the best of either board. Default: one half, at most
        1,500 places.
    groups : {"all", "estimands"}
        "estimands" leaves out the groups that only checks need.

    Returns
    -------
    xarray.DataTree
        ``posterior``: theta_sota, winner_skill, multiplicity_bias, rho, score_shift (private minus
        public score at the winner's skill), standard errors, ``best`` (index of the best team), per
        classifier ``skill`` and ``expected_private``, the parameters of the field and of the noise;
        with submissions ``submission_luck`` (lambda) and ``submission_slope``, the increase of
        skill per unit of expected luck. ``prior``: the same of fields from the prior.
        ``observed_data``, ``posterior_predictive``, ``prior_predictive``: ``score`` (classifier,
        board); replicates are of each team given its skill, on the same items, selected as the
        teams were. ``log_likelihood``: ``score`` (classifier,), 0 for ignored teams.
        ``predictions``: new scores, ``public_gain`` (public score minus its expectation given the
        private one) and ``unusual`` (probability that luck and selection do not explain it).
        Attributes ``rho_learnt``, ``luck_learnt`` and ``n_copies``, teams left out as copies of
        another.

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

    spec = chosen_model(model, "paired", priors, domain=domain, field=field, data=boards)
    sizes = spec.sizes(draws, chains)
    rng, seed = sample.resolve_seed(random_seed)
    fit = drawing.fit_pairs(Pairs.of(boards, spec.priors, top), rng)
    parameters = draw_parameters(fit, sizes["draws"] * sizes["chains"], rng)
    how: Any = {"method": "exact", "seed": seed} | spec.provenance
    known = sample.describe_provenance((boards,), spec.priors, **how)
    return _result(fit, parameters, sizes["chains"], rng, groups, known)


def _result(
    fit: drawing.PairFit,
    parameters: Parameters,
    chains: int,
    rng: np.random.Generator,
    groups: Groups,
    known: dict[str, Any],
) -> xr.DataTree:
    """Result of parameters of the field: skills and noise are drawn given them."""
    pairs, boards, priors = fit.evidence, fit.evidence.boards, fit.evidence.priors
    noise, log_prior, psi, unusual = drawing.draw_psi(fit, parameters, rng)
    labels = {"classifier": [boards.names[i] for i in pairs.kept], "board": list(BOARDS)}
    lay_out = partial(sample.lay_out, chains=chains, dims=_DIMS, coords=labels)

    def named(drawn: Any, field: Parameters, best_public: Any) -> xr.Dataset:
        bias = {"multiplicity_bias": best_public - drawn["theta_sota"]}
        return lay_out(drawn | bias | field_values(fit, field))

    private = None if boards.anchors is None else private_board(boards)
    of_known, doubts = ([], []) if private is None else notes_of_anchors(private)
    drawn = drawing.estimands_of(pairs, noise, psi, pairs.winner, rng, private)
    new = {name: drawn.pop(name) for name in (*NEW_SCORES, "public_gain")}
    given = {"n_test": boards.n_test, "standard_error": boards.standard_errors}
    constants: dict[str, Any] = {k: ("board", list(v)) for k, v in given.items() if v is not None}
    constants["observed_maximum"] = float(boards.public.max())
    if pairs.has_luck:
        constants["submissions"] = "classifier", np.median(boards.submissions[pairs.kept], axis=1)
        levels = priors.submission_luck.quantile(np.array(LEVELS))
        constants["submission_luck_prior"] = xr.DataArray(levels, {"level": list(LEVELS)})
    made = {
        "posterior": named(drawn, parameters.completed(fit, rng), boards.public.max()),
        "predictions": lay_out(new | {"unusual": unusual}),
        "sample_stats": lay_out({"point": parameters.point, "stratum": parameters.node}),
        "observed_data": xr.Dataset({"score": (_DIMS["score"], pairs.scores)}, labels),
        "constant_data": xr.Dataset(constants, labels | {"family": list(fit.families)}),
    }
    if groups == "all":
        every = -(-16 * psi.size // sample.LARGEST_GROUP)
        some = np.arange(len(psi)).reshape(chains, -1)[:, ::every].ravel()
        before, own, own_psi, scores = drawing.draw_prior(fit, some.size, rng)
        winners, shown = scores[..., 0].argmax(axis=1), pairs.printed(scores)
        values = drawing.estimands_of(pairs, own, own_psi, winners, rng)
        prior = {name: values[name] for name in drawn}
        kept, own_noise = psi[some], drawing.blocks(noise.at(some))
        again = [draw_scores(pairs, one, kept[rows], rng) for rows, one in own_noise]
        made["prior"] = named(prior, before, shown[..., 0].max(axis=1))
        made["prior_predictive"] = lay_out({"score": shown})
        made["posterior_predictive"] = lay_out({"score": pairs.printed(np.concatenate(again))})
        made["log_prior"] = lay_out({"field": parameters.log_prior(fit), "noise": log_prior})
        if 4 * psi.size <= sample.LARGEST_GROUP:
            each = np.zeros(psi.shape)
            each[:, : pairs.n_counted] = fit.log_likelihood_of_entries(parameters)
            made["log_likelihood"] = lay_out({"score": each}, dims={"score": ("classifier",)})
    facts = {
        "skill_family": "averaged",
        "log_evidence": fit.log_evidence_of_all,
        "effective_points": fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join([*doubts, *drawing.reasons_of(fit, noise)]),
        "luck_learnt": int(pairs.has_luck and not priors.submission_luck.is_fixed),
        "rho_learnt": int(boards.noise_is_known and not priors.correlation.is_fixed),
        "metric": "score" if boards.n_test is None else "accuracy",
        "n_copies": pairs.n_copies,
        "notes": "; ".join(note.replace("; ", ", ") for note in of_known),
    }
    return sample.result_tree(made, known | facts)
