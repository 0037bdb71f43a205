"""Bayesian EPP by NUTS: the complete result in the one schema.

``tests/epp/test_sample.py`` compares with quadrature, with the maximum-likelihood fit and
with the model's own log-likelihood.
"""

import logging
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.sample import (
    describe_nuts,
    describe_sampled,
    resolve_seed,
    result_tree,
    run_nuts,
)
from bayes_sota.core.types import FloatArray, Seed
from bayes_sota.epp.likelihoods import count_cells, log_outcomes, ties_of
from bayes_sota.epp.models import Field, field_of

if TYPE_CHECKING:
    import pymc as pm
    import xarray as xr


_INNER = ["round_order", "round_weight", "round_present"]  # what the likelihood needs
_LARGEST = 50_000_000  # numbers of a log-likelihood that is kept
_CHUNK = 5_000_000  # numbers at a time
_QUICK = {"mode": "FAST_COMPILE"}  # compiling would take longer than the draws


def sample_epp(
    model: "pm.Model",
    *,
    draws: int = 1000,
    tune: int = 1000,
    chains: int = 4,
    target_accept: float = 0.9,
    cores: int | None = None,
    random_seed: Seed = None,
    log_likelihood: bool = True,
    predictive: int = 0,
    model_name: str | None = None,
    progressbar: bool = False,
) -> "xr.DataTree":
    """Posterior of the skills by NUTS (nutpie).

    Parameters
    ----------
    model : pm.Model
        From ``build_epp``, perhaps with variables of your own: the log-likelihood is then the
        model's own, of all that it observes.
    draws, tune, chains, target_accept, cores, random_seed, progressbar
        As in ``pm.sample``.
    log_likelihood : bool
        Whether to keep the log-likelihood of every round (or cluster of matches, or match), which
        ``az.loo`` needs; not above 50 million numbers.
    predictive : int
        Number of tournaments to replicate for posterior predictive checks (Gelman, Meng & Stern
        1996): the players, rounds and matches of the observed ones, and skills of a draw. Their
        deviance against the same skills, and their number of ties, say whether the model describes
        the data.
    model_name : str, optional
        Recorded as an attribute.

    Returns
    -------
    xarray.DataTree
        ``posterior`` with ``epp`` (chain, draw, player), mean zero over the players, ``rank`` (1 is
        best) and the hyperparameters; ``sample_stats``, ``observed_data``, ``constant_data``,
        ``log_likelihood``; with ``predictive`` also ``posterior_predictive``: wins of every pair,
        deviance and number of ties of replicated tournaments, and as its attributes Bayesian
        p-values. Attributes: provenance, ``ties`` and divergences.

    Raises
    ------
    InputError
        A model without ``epp`` or data, sizes too small for diagnostics, ``predictive`` for a model
        with variables of your own.

    Notes
    -----
    Where the likelihood of matches is weighted, so is what ``az.loo`` sums up: compare weighted
    models of the same weight only. Their replicated tournaments have independent matches, and
    deviances far above those of rounds, whose matches share scores.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> from bayes_sota.data.score_table import ScoreTable
    >>> table = ScoreTable([[3, 2, 1], [3, 1, 2], [1, 3, 2]], players=["a", "b", "c"])
    >>> model = bs.epp.build_epp(table)
    >>> tree = sample_epp(model, random_seed=0)  # doctest: +SKIP
    """
    _check_request(model, draws, chains, predictive)
    rng, seed = resolve_seed(random_seed)
    settings = {"draws": draws, "tune": tune, "chains": chains, "cores": cores}
    trace = run_nuts(model, rng, target_accept=target_accept, progressbar=progressbar, **settings)
    posterior = _with_ranks(trace["posterior"].to_dataset())
    constant = trace["constant_data"].to_dataset().drop_vars(_INNER, errors="ignore")
    used = {dim for variable in constant.data_vars.values() for dim in variable.dims}
    groups = {
        "posterior": posterior,
        "sample_stats": trace["sample_stats"].to_dataset()[["diverging"]].astype(float),
        "observed_data": trace["observed_data"].to_dataset(),
        "constant_data": constant.drop_dims([dim for dim in constant.dims if dim not in used]),
    }
    if log_likelihood:
        found = log_likelihood_of(model, trace)
        groups |= {} if found is None else {"log_likelihood": found}
    groups = {name: data.drop_attrs() for name, data in groups.items()}
    if predictive:
        groups["posterior_predictive"] = replicate(model, trace, predictive, rng)
    attributes: dict[str, Any] = {
        **describe_sampled(model, groups, seed, model_name),
        "ties": ties_of(posterior),
        **describe_nuts(trace),
    }
    return result_tree(groups, attributes)


def _check_request(model: "pm.Model", draws: int, chains: int, predictive: int) -> None:
    if "epp" not in model.named_vars or not model.observed_RVs:
        raise InputError(
            "the model needs skills 'epp' and observed data, as build_epp makes them; it has "
            f"{', '.join(model.named_vars) or 'no variables'}"
        )
    if draws < 10 or chains < 2:
        raise InputError(
            f"at least 10 draws and 2 chains are needed for diagnostics, got {draws} and {chains}"
        )
    if predictive and field_of(model) is None:
        raise InputError(
            "predictive replicates the tournaments of build_epp; this model has variables of your "
            "own: leave it out and use pm.sample_posterior_predictive"
        )
    if predictive < 0:
        raise InputError(f"predictive is a number of tournaments, at least 0, got {predictive}")


def _with_ranks(posterior: "xr.Dataset") -> "xr.Dataset":
    """Without the variables that only the sampler needs, with the rank of each player."""
    kept = [n for n in posterior if n != "own_skill" and not str(n).endswith("_offset")]
    posterior = posterior[kept]
    order = np.argsort(-posterior["epp"].values, axis=-1)
    rank = np.argsort(order, axis=-1).astype(np.int32) + 1
    return posterior.assign(rank=(("chain", "draw", "player"), rank))


def log_likelihood_of(model: "pm.Model", trace: "xr.DataTree") -> "xr.Dataset | None":
    """What the model itself gives, or of each cluster of matches; None if it is too large."""
    import pymc as pm

    posterior, field = trace["posterior"].to_dataset(), field_of(model)
    size = sum(int(v.size.eval()) for v in model.observed_RVs)
    units = size if field is None else len(field.tournament)
    if posterior.sizes["chain"] * posterior.sizes["draw"] * units > _LARGEST:
        return None
    if field is not None and not field.ranked:
        weights = model["likelihood_weight"].get_value()
        return SampledMatches(field, posterior).log_likelihood(weights)
    found: Any = pm.compute_log_likelihood(
        trace, model=model, extend_inferencedata=False, progressbar=False, compile_kwargs=_QUICK
    )
    return found.to_dataset() if hasattr(found, "to_dataset") else found


def replicate(
    model: "pm.Model", trace: "xr.DataTree", number: int, rng: np.random.Generator
) -> "xr.Dataset":
    """Tournaments to come with the same matches, about as many as asked for.

    Returns
    -------
    Dataset
        ``wins`` (chain, draw, player, player_other), ties as half; ``deviance`` of each, and
        ``observed_deviance`` of the data against the same skills; with a model of ties also
        ``n_ties``. Attributes ``deviance_p_value`` and ``n_ties_p_value``: shares of replicates
        above the data.
    """
    import pymc as pm
    import xarray as xr

    field = field_of(model)
    assert field is not None
    chains, draws = trace["posterior"].sizes["chain"], trace["posterior"].sizes["draw"]
    kept = np.unique(np.linspace(0, draws - 1, -(-number // chains)).astype(int))
    posterior = trace["posterior"].to_dataset().isel(draw=kept)
    name = "round_rank" if field.ranked else "match_counts"
    logger = logging.getLogger("pymc.sampling.forward")
    level = logger.level
    logger.setLevel(logging.WARNING)  # it tells what it draws
    try:
        fresh = pm.sample_posterior_predictive(
            posterior, model, var_names=[name], random_seed=int(rng.integers(2**31)),
            progressbar=False, compile_kwargs=_QUICK,
        )["posterior_predictive"][name].values  # fmt: skip
    finally:
        logger.setLevel(level)
    matches = SampledMatches(field, posterior)
    observed = matches.counts()
    m = len(field.players)
    wins = np.empty((chains, kept.size, m, m), np.float32)
    numbers = np.empty((3, chains, kept.size))
    for place in np.ndindex(chains, kept.size):
        logs = matches.log_outcomes(place[0], [place[1]])[0]
        counts = matches.counts(fresh[place]) if field.ranked else fresh[place]
        wins[place] = matches.wins(counts)
        deviances = (matches.deviance(counts, logs), matches.deviance(observed, logs))
        numbers[(slice(None), *place)] = (*deviances, counts[:, 1].sum())
    over = ("chain", "draw")
    content: dict[str, Any] = {
        "wins": ((*over, "player", "player_other"), wins),
        "deviance": (over, numbers[0]),
        "observed_deviance": (over, numbers[1]),
    }
    p_values = {"deviance_p_value": _share_above(numbers[0], numbers[1])}
    if field.ties != "half":
        content["n_ties"] = (over, numbers[2])
        p_values["n_ties_p_value"] = _share_above(numbers[2], observed[:, 1].sum())
    coords = {name: posterior[name].values for name in ("chain", "draw", "player")}
    coords["player_other"] = coords["player"]
    return xr.Dataset(content, coords=coords, attrs=p_values)


def _share_above(values: FloatArray, observed: Any) -> float:
    return float(np.mean(values > observed) + np.mean(values == observed) / 2)


@dataclass(frozen=True, eq=False)
class SampledMatches:
    """Draws of skills beside the matches that they describe, pair by pair.

    Parameters
    ----------
    field : Field
    posterior : Dataset
        With ``epp``, and ``epp_tournament``, ``round_slope``, ``p_tie`` where there are such.
    """

    field: Field
    posterior: "xr.Dataset"

    def skills(self, chain: int, draws: Any) -> FloatArray:
        """Skills in every setting, (draws, settings, players)."""
        field, at = self.field, self.posterior.isel(chain=chain, draw=draws)
        several = "epp_tournament" in at
        found = at["epp_tournament"].values if several else at["epp"].values[:, None]
        if field.slopes is not None:
            found = found[:, field.tournament] + field.slopes.columns @ at["round_slope"].values
        return np.asarray(found)

    def log_outcomes(self, chain: int, draws: Any) -> FloatArray:
        """Log probabilities of won, tied and lost of each pair, (draws, pairs, 3)."""
        skills, p_tie = self.skills(chain, draws), None
        if self.field.ties != "half":
            p_tie = self.posterior["p_tie"].values[chain, draws][:, None]
        where, first, second = self.field.pairs[0].T
        difference = skills[:, where, first] - skills[:, where, second]
        return np.stack(log_outcomes(difference, p_tie, self.field.ties), axis=-1)

    def log_likelihood(self, weights: FloatArray) -> "xr.Dataset":
        """Log-likelihood of every round, cluster or match, weighted as in the posterior."""
        import xarray as xr
        from scipy.sparse import csr_array

        field, (pairs, cells) = self.field, self.field.pairs
        chains, draws = self.posterior.sizes["chain"], self.posterior.sizes["draw"]
        units = len(field.tournament)
        sums = csr_array(
            (np.ones(cells.size), (field.rows.unit, cells)), shape=(units, 3 * len(pairs))
        )
        found = np.empty((chains, draws, units))
        size = max(1, _CHUNK // sum(sums.shape))
        for chain in range(chains):
            for begin in range(0, draws, size):
                logs = self.log_outcomes(chain, slice(begin, begin + size))
                found[chain, begin : begin + size] = (sums @ logs.reshape(len(logs), -1).T).T
        found *= weights[field.tournament]
        coords = {name: self.posterior[name].values for name in ("chain", "draw")}
        if field.rounds is not None:
            unit, coords["round"] = "round", np.array(field.rounds)
        else:
            unit = "cluster" if units < field.rows.unit.size else "match"
        return xr.Dataset({"match_counts": (("chain", "draw", unit), found)}, coords=coords)

    def counts(self, ranks: NDArray[np.signedinteger] | None = None) -> FloatArray:
        """Matches won, tied and lost of each pair, (pairs, 3): observed, or of other ranks."""
        pairs, cells = self.field.pairs
        if ranks is not None:
            rows = self.field.rows  # of rounds: first players are listed before the second ones
            gap = ranks[rows.unit, rows.first] - ranks[rows.unit, rows.second]
            cells = cells - cells % 3 + 1 - np.sign(gap)
        return count_cells(cells, len(pairs))

    def wins(self, counts: FloatArray) -> FloatArray:
        """Wins of the row against the column, ties as half, (m, m)."""
        m = len(self.field.players)
        _, first, second = self.field.pairs[0].T
        won = np.bincount(first * m + second, counts[:, 0] + counts[:, 1] / 2, m * m)
        lost = np.bincount(second * m + first, counts[:, 2] + counts[:, 1] / 2, m * m)
        return np.asarray((won + lost).reshape(m, m))

    def deviance(self, counts: FloatArray, logs: FloatArray) -> float:
        """Twice what the log-likelihood misses of pairs with shares of their own."""
        groups, size = self._groups
        summed = np.stack([np.bincount(groups, column, size) for column in counts.T], axis=1)
        if self.field.ties == "half":
            half = summed[:, 1:2] / 2
            summed = np.concatenate([summed[:, :1] + half, summed[:, 2:] + half], axis=1)
        total = summed.sum(axis=1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(summed > 0, summed * np.log(summed / total), 0.0)
        return 2 * float(terms.sum() - np.sum(counts * logs))

    @cached_property
    def _groups(self) -> tuple[NDArray[np.intp], int]:
        """Pair of players in a tournament of each pair in a setting."""
        field, pairs = self.field, self.field.pairs[0]
        keys = np.column_stack([field.tournament_of_setting[pairs[:, 0]], pairs[:, 1:]])
        found, groups = np.unique(keys, axis=0, return_inverse=True)
        return groups.ravel(), len(found)
