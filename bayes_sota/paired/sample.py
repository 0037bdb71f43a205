"""Two boards of the same teams: posterior draws as a DataTree.

The draws are resampled from weighted points (``importance_effective_size``) and laid out as
chains, so that every ArviZ function works; ``tests/paired/test_sample.py`` checks the
shape of the result.
"""

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.sample import describe_provenance, resolve_seed, result_tree
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.data.paired import PairedBoards
from bayes_sota.paired.posterior import PairedPosterior, paired_posterior, predict_from_public
from bayes_sota.paired.teams import Coordinate, PairedPriors

if TYPE_CHECKING:
    import xarray as xr


_SCALARS = (
    "theta_sota", "winner_skill", "rho", "score_shift", "public_se", "private_se", "residual_sd",
    "outliers",
)  # fmt: skip

_PER_TEAM = ("skill", "expected_private")


def estimate_paired(
    boards: PairedBoards,
    priors: PairedPriors | None = None,
    *,
    draws: int = 250,
    chains: int = 4,
    random_seed: Seed = None,
    top: float | None = None,
    merge: bool | None = None,
    public_alone: bool = True,
) -> "xr.DataTree":
    r"""Posterior of the best skill, of the public winner's and of every team's, from both boards.

    Scores are :math:`x_j = \theta_j + s_1 (\rho z_1 + \sqrt{1 - \rho^2} e_{1j})` and the same with
    index 2; P of the skills is averaged over families; residuals may be outliers. Skills are those
    of the *private* population. Where the standard errors are known the variance of the differences
    over teams, :math:`(s_1^2 + s_2^2)(1 - \rho^2)`, teaches rho; else only that product is learnt,
    and rho keeps its prior.

    Parameters
    ----------
    boards : PairedBoards
    priors : PairedPriors, optional
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
    if draws < 1 or chains < 1:
        raise InputError(f"draws and chains must be at least 1, got {draws} and {chains}")
    priors = PairedPriors() if priors is None else priors
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
) -> "xr.DataTree":

    selection = result.selection
    coords: dict[str, Any] = {
        "chain": np.arange(shape[0]),
        "draw": np.arange(shape[1]),
        "classifier": [boards.names[i] for i in selection.kept],
    }
    per_team = {
        name: result.draws[name][:, selection.group] for name in ("skill", "expected_private")
    }
    posterior = {name: result.draws[name] for name in _SCALARS} | per_team
    posterior["multiplicity_bias"] = boards.public.max() - posterior["theta_sota"]
    posterior["best"] = _first_of_group(selection.group)[result.draws["best"]]
    predictive = {name: result.draws[name] for name in ("winner_new_score", "best_new_score")}
    if alone is not None:
        predictive["private_from_public"] = alone
    return result_tree(
        {
            "posterior": _dataset(posterior, coords, shape),
            "posterior_predictive": _dataset(predictive, coords, shape),
            "observed_data": _observed(boards, selection.kept, coords["classifier"]),
            "constant_data": _constants(boards, result, coords["classifier"]),
        },
        attributes,
    )


def _first_of_group(group: Any) -> Any:
    """Position, among the teams kept, of the first team with each distinct pair of scores."""
    return np.unique(group, return_index=True)[1]


def _dataset(
    values: dict[str, Any], coords: dict[str, Any], shape: tuple[int, int]
) -> "xr.Dataset":
    import xarray as xr

    dims = ("chain", "draw", "classifier")
    return xr.Dataset(
        {
            name: (dims[: array.ndim + 1], array.reshape(*shape, *array.shape[1:]))
            for name, array in values.items()
        },
        coords=coords,
    )


def _observed(boards: PairedBoards, kept: Any, names: list[str]) -> "xr.Dataset":
    import xarray as xr

    return xr.Dataset(
        {
            "public_score": ("classifier", boards.public[kept]),
            "private_score": ("classifier", boards.private[kept]),
            "observed_maximum": ((), float(boards.public.max())),
        },
        coords={"classifier": names},
    )


def _constants(boards: PairedBoards, result: PairedPosterior, names: list[str]) -> "xr.Dataset":
    import xarray as xr

    selection = result.selection
    to_score = Coordinate(boards.n_test).to_score
    values: dict[str, Any] = {"group": ("classifier", selection.group)}
    for index, which in enumerate(("public", "private")):
        if boards.n_test is not None:
            values[f"n_test_{which}"] = ((), boards.n_test[index])
        if boards.standard_errors is not None:
            values[f"standard_error_{which}"] = ((), boards.standard_errors[index])
        if selection.threshold is not None:
            limit = to_score(np.array(selection.threshold[index]))
            values[f"threshold_{which}"] = ((), float(limit))
    return xr.Dataset(values, coords={"classifier": names})


def _attributes(
    boards: PairedBoards, priors: PairedPriors, result: PairedPosterior, seed: str
) -> dict[str, Any]:
    from scipy.stats import spearmanr

    base = describe_provenance(
        (),
        Priors(correlation=priors.correlation),
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
