"""Two boards of the same teams: posterior draws as a DataTree.

The draws are resampled from weighted points (``importance_effective_size``) and laid out as
chains, so that every ArviZ function works; ``tests/paired/test_command.py`` checks the
shape of the result.
"""

import hashlib
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core.arguments import DRAWS
from bayes_sota.core.priors import MaximumPriors, Priors
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.paired import PairedBoards
from bayes_sota.paired.likelihood import Coordinate, PairedPriors, paired_priors
from bayes_sota.paired.posterior import PairedPosterior, paired_posterior, predict_from_public

_SCALARS = (
    "theta_sota", "winner_skill", "rho", "score_shift", "public_se", "private_se", "residual_sd",
    "outliers",
)  # fmt: skip

_PER_TEAM = ("skill", "expected_private")


def estimate_paired(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    draws: int = 250,
    chains: int = 4,
    random_seed: Seed = None,
    top: float | None = None,
    merge: bool | None = None,
    public_alone: bool = True,
) -> xr.DataTree:
    r"""Posterior of the best skill, of the public winner's and of every team's, from both boards.

    Scores are :math:`x_j = \theta_j + s_1 (\rho z_1 + \sqrt{1 - \rho^2} e_{1j})` and the same with
    index 2; P of the skills is averaged over families; residuals may be outliers. Skills are those
    of the *private* population. Where the standard errors are known the variance of the differences
    over teams, :math:`(s_1^2 + s_2^2)(1 - \rho^2)`, teaches rho; else only that product is learnt,
    and rho keeps its prior.

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
        Prior of rho, and sizes that the offset of the public board may have.
    draws, chains : int
        Draws per chain, and chains.
    random_seed : int, SeedSequence, Generator or None
    top : float, optional
        The model is about teams among the best ``top`` of either board (never fewer than 30
        places); failed and abandoned entries lie below. Default: one half, at most 1,500 places.
    merge : bool, optional
        Count teams with the same two scores once. Default: only where scores are not accuracies.
    public_alone : bool
        Predict the private scores from the public board alone as well, where the noise is known.

    Returns
    -------
    xarray.DataTree
        ``posterior``: theta_sota, winner_skill, multiplicity_bias, rho, score_shift (private minus
        public score at the winner's skill), standard errors, ``best`` (index of the best team), and
        per classifier ``skill`` and ``expected_private``. ``posterior_predictive``: new scores and
        ``private_from_public``. Attribute ``rho_learnt``.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> theta = rng.uniform(0.7, 0.8, 40)
    >>> public, private = rng.binomial(500, theta, (2, 40)) / 500
    >>> tree = estimate_paired(
    ...     PairedBoards(public, private, n_test=(500, 500)), draws=50, random_seed=0
    ... )  # doctest: +SKIP
    >>> tree.attrs["rho_learnt"], tree["posterior"]["skill"].dims  # doctest: +SKIP
    (1, ('chain', 'draw', 'classifier'))
    """
    DRAWS.check(draws, "draws")
    DRAWS.check(chains, "chains")
    priors = paired_priors(priors)
    rng, seed = resolve_seed(random_seed)
    count = draws * chains
    result = paired_posterior(boards, priors, rng=rng, draws=count, top=top, merge=merge)
    alone = None
    if public_alone and boards.noise_is_known:
        kept = result.selection.kept
        alone = predict_from_public(boards, priors, rng=rng, entries=kept, draws=count, top=top)
    attributes = _attributes(boards, priors, result, seed)
    return _assemble(boards, result, alone, (chains, draws), attributes)


def _assemble(
    boards: PairedBoards,
    result: PairedPosterior,
    alone: FloatArray | None,
    shape: tuple[int, int],
    attributes: dict[str, Any],
) -> xr.DataTree:
    selection, draws = result.selection, result.draws
    names = {"classifier": [boards.names[i] for i in selection.kept]}
    posterior = {name: draws[name] for name in _SCALARS}
    posterior |= {name: draws[name][:, selection.group] for name in _PER_TEAM}
    posterior["multiplicity_bias"] = boards.public.max() - draws["theta_sota"]
    first = np.unique(selection.group, return_index=True)[1]  # team of each pair of scores
    posterior["best"] = first[draws["best"]]
    predictive = {name: draws[name] for name in ("winner_new_score", "best_new_score")}
    if alone is not None:
        predictive["private_from_public"] = alone
    coords = {"chain": np.arange(shape[0]), "draw": np.arange(shape[1]), **names}
    dims = ("chain", "draw", "classifier")

    def drawn(values: dict[str, Any]) -> xr.Dataset:
        return xr.Dataset(
            {k: (dims[: v.ndim + 1], v.reshape(*shape, *v.shape[1:])) for k, v in values.items()},
            coords,
        )

    observed = {
        "public_score": ("classifier", boards.public[selection.kept]),
        "private_score": ("classifier", boards.private[selection.kept]),
        "observed_maximum": ((), float(boards.public.max())),
    }
    groups = {
        "posterior": drawn(posterior),
        "posterior_predictive": drawn(predictive),
        "observed_data": xr.Dataset(observed, names),
        "constant_data": xr.Dataset(_constants(boards, result), names),
    }
    return result_tree(groups, attributes)


def _constants(boards: PairedBoards, result: PairedPosterior) -> dict[str, Any]:
    selection = result.selection
    limits = selection.teams.threshold
    if limits is not None:
        limits = Coordinate(boards.n_test).to_score(np.array(limits)).tolist()
    facts = {"n_test": boards.n_test, "standard_error": boards.standard_errors, "threshold": limits}
    values: dict[str, Any] = {"group": ("classifier", selection.group)}
    for name, pair in facts.items():
        if pair is not None:
            values |= {f"{name}_public": ((), pair[0]), f"{name}_private": ((), pair[1])}
    return values


def _attributes(
    boards: PairedBoards, priors: PairedPriors, result: PairedPosterior, seed: str
) -> dict[str, Any]:
    from scipy.stats import spearmanr

    base = describe_provenance(
        (),
        MaximumPriors(correlation=priors.correlation),
        method="exact",
        seed=seed,
        model_name="paired-boards",
        model_hash=hashlib.sha256(f"paired-boards 1 {priors!r}".encode()).hexdigest()[:16],
    )
    found = result.hyperposterior
    learnt = boards.noise_is_known and not priors.correlation.is_fixed
    return {
        **base,
        "priors": repr(priors),
        "skill_family": "averaged",
        "data_hash": boards.data_hash(),
        "rho_learnt": int(learnt),
        "noise_known": int(boards.noise_is_known),
        "skill_scale": "private population",
        "public_winner": boards.names[boards.public_winner],
        "n_teams": boards.n_entries,
        "n_kept": int(result.selection.kept.size),
        "n_distinct": int(result.selection.teams.x.size),
        "rank_correlation": float(spearmanr(boards.public, boards.private).statistic),
        "log_evidence": found.log_evidence,
        "family_weights": ", ".join(f"{k} {v:.3f}" for k, v in found.weights.items()),
        "importance_effective_size": found.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(result.reasons),
    }
