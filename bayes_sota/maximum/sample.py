"""Results of the routes to theta_sota as DataTrees in the schema of the package.

The exact route draws from the posterior itself; its independent draws are laid out as chains so
that every ArviZ function works. NUTS and ABC/SMC draw location, spread and rho (ABC also theta_sota
and the winner's skill); what they leave out is drawn from its exact law given these.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors
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
    board_values,
    default_reference_skill,
    draw_fields,
    score_bounds,
)
from bayes_sota.maximum.posterior import draw_prior, sota_posterior
from bayes_sota.maximum.shrinkage import Criterion

_NEW_SCORES = ("winner_new_score", "best_new_score")
_HYPERPARAMETERS = ("location", "spread", "rho")
_LARGEST_EPSILON = 0.25  # posterior standard deviations


@dataclass(frozen=True)
class Request:
    """What every route takes.

    Attributes
    ----------
    boards, priors, reference_skill, new_n_test
        As in ``bayes_sota.maximum.posterior``.
    draws, chains : int
        Draws per chain, and chains.
    random_seed : int, SeedSequence, Generator or None
    model_name, model_hash : str, optional
        Recorded as attributes.
    """

    boards: Sequence[Leaderboard]
    priors: MaximumPriors
    draws: int = 1000
    chains: int = 4
    random_seed: Seed = None
    reference_skill: float | None = None
    new_n_test: int | None = None
    model_name: str | None = None
    model_hash: str | None = None

    def __post_init__(self) -> None:
        """Refuse no draws at all."""
        if self.draws < 1 or self.chains < 1:
            raise InputError(
                f"draws and chains must be at least 1, got {self.draws} and {self.chains}"
            )

    @cached_property
    def seeded(self) -> tuple[np.random.Generator, str]:
        """Generator and its description."""
        return resolve_seed(self.random_seed)

    def tree(
        self,
        method: str,
        values: dict[str, FloatArray],
        log_likelihood: FloatArray,
        found: Mapping[str, str | float | int],
        **others: dict[str, FloatArray],
    ) -> xr.DataTree:
        """DataTree of draws of shape (D,) or (D, B), whose chains lie one after another.

        ``found`` are attributes, ``others`` groups beside those that every route has.
        """
        rng, seed = self.seeded
        size = self.draws * self.chains
        prior, predicted = draw_prior(self.boards, self.priors, rng, size, self.reference_skill)
        certain = () if any(b.n_classifiers is None for b in self.boards) else ("n_classifiers",)
        posterior = {k: v for k, v in values.items() if k not in (*_NEW_SCORES, *certain)}
        groups = {
            "posterior": posterior,
            "prior": {k: v for k, v in prior.items() if k in posterior},
            "posterior_predictive": {name: values[name] for name in _NEW_SCORES},
            "prior_predictive": predicted,
            "log_likelihood": {"observed_maximum": log_likelihood},
            **{name: group for name, group in others.items() if group},
        }
        shape = (self.chains, self.draws)
        shaped = {
            name: {k: v.reshape(*shape, *v.shape[1:]) for k, v in group.items()}
            for name, group in groups.items()
        }
        attributes = describe_provenance(
            self.boards, self.priors, method=method, seed=seed,
            model_name=self.model_name, model_hash=self.model_hash,
        )  # fmt: skip
        facts = [self._facts(board) for board in self.boards]
        constant = {name: [fact[name] for fact in facts] for name in facts[0]}
        maximum = {"observed_maximum": constant.pop("maximum")}
        content: dict[str, Any] = {**shaped, "observed_data": maximum, "constant_data": constant}
        names = [board.name for board in self.boards]
        datasets = {name: _dataset(group, names) for name, group in content.items()}
        return result_tree(datasets, {**attributes, **found, "metric": self.boards[0].metric})

    def _facts(self, board: Leaderboard) -> dict[str, float]:
        low, high = score_bounds(board)
        return {
            "maximum": board.maximum, "n_test": board.n_test or 0,
            "n_positive": board.n_positive or 0, "standard_error": board.standard_error or 0,
            "score_low": low, "score_high": high, "typical_tries": board.typical_tries,
            "reference_skill": default_reference_skill(board, self.reference_skill),
        }  # fmt: skip

    def complete(
        self,
        method: str,
        posterior: dict[str, FloatArray],
        found: Mapping[str, str | float | int],
        sample_stats: xr.Dataset,
    ) -> xr.DataTree:
        """Result from draws of location, spread and rho (chain, draw), and others."""
        flat = {name: v.reshape(-1, *v.shape[2:]) for name, v in posterior.items()}
        location, spread, rho = (flat[name] for name in _HYPERPARAMETERS)
        fields = draw_fields(
            self.boards, self.priors, location, spread, rho, self.seeded[0],
            reference_skill=self.reference_skill, new_n_test=self.new_n_test,
        )  # fmt: skip
        distribution = self.priors.skill.distribution(location, spread)
        values = board_values(fields, self.boards, distribution) | flat
        theta = values["theta_sota"].reshape(-1, len(self.boards))
        values["multiplicity_bias"] = np.array([board.maximum for board in self.boards]) - theta
        likelihood = np.stack([f.log_likelihood for f in fields], axis=1)
        found = {**found, "draws_are_independent": 0}
        tree = self.tree(method, values, likelihood, found)
        tree["sample_stats"] = xr.DataTree(sample_stats)
        return tree


def _dataset(values: Mapping[str, Any], names: list[str]) -> xr.Dataset:
    """Arrays (board,), (chain, draw) or (chain, draw, board); one board is no dimension."""
    dims = {1: ("board",), 2: ("chain", "draw"), 3: ("chain", "draw", "board")}
    data = xr.Dataset({name: (dims[np.ndim(v)], np.asarray(v)) for name, v in values.items()})
    places: dict[Any, Any] = {dim: np.arange(size) for dim, size in data.sizes.items()}
    if len(names) == 1:
        data = data.isel(board=0, drop=True, missing_dims="ignore")
        places.pop("board", None)
    elif "board" in places:
        places["board"] = names
    return data.assign_coords(places)


def estimate_point(
    board: Leaderboard | Responses | ItemScores,
    method: str,
    *,
    n_classes: int | None = None,
    criterion: Criterion | None = None,
    correlation: float | None = None,
) -> xr.DataTree:
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
        sizes: dict[str, Any] = {"n_positive": shown.n_positive, "n_negative": shown.n_negative}
        return shrink_aucs(shown.scores, **sizes, **how).to_datatree()
    if shown.metric != "accuracy":
        raise InputError("shrinking and cropping are for accuracies and AUCs")
    if n_classes is None or n_classes < 2:
        raise InputError(
            f"n_classes is the number of classes of the task, at least 2, got {n_classes}: scores "
            "shrink towards chance, one over it"
        )
    estimate = shrink_scores if method == "shrink" else crop_scores
    return estimate(shown.scores, n_test=shown.n_test, chance=1 / n_classes, **how).to_datatree()


def sample_exact(
    boards: Sequence[Leaderboard], priors: MaximumPriors, **settings: Any
) -> xr.DataTree:
    """Exact posterior of observed maxima as a DataTree; ``settings`` as in ``Request``.

    Returns
    -------
    xarray.DataTree
        Groups ``posterior``, ``prior``, ``posterior_predictive``, ``prior_predictive``,
        ``sample_stats``, ``log_likelihood``, ``log_prior``, ``observed_data``, ``constant_data``.
    """
    request = Request(boards, priors, **settings)
    result = sota_posterior(
        boards, priors, draws=request.draws * request.chains, random_seed=request.seeded[0],
        reference_skill=request.reference_skill, new_n_test=request.new_n_test,
    )  # fmt: skip
    found: dict[str, str | float | int] = {
        "log_evidence": result.log_evidence,
        "grid_edge_probability": result.edge_probability,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(result.reasons),
        "new_n_test": int(request.new_n_test or 0),
    }
    lp = sum(result.log_prior.values(), result.log_likelihood.sum(axis=1))
    return request.tree(
        "exact", result.draws, result.log_likelihood, found,
        sample_stats={"lp": lp}, log_prior=result.log_prior,
    )  # fmt: skip


def sample_nuts(
    boards: Sequence[Leaderboard],
    priors: MaximumPriors,
    *,
    tune: int = 1000,
    target_accept: float = 0.9,
    cores: int | None = None,
    progressbar: bool = False,
    **settings: Any,
) -> xr.DataTree:
    """Posterior by NUTS (nutpie) over location, spread and rho; the rest from its exact law.

    A check of the exact route, and a start for extensions. ``settings`` as in ``Request``, the
    others as in ``pm.sample``.
    """
    from bayes_sota.maximum.models import build_observed_maximum

    request = Request(boards, priors, **settings)
    model = build_observed_maximum(boards, priors, reference_skill=request.reference_skill)
    trace = run_nuts(
        model, request.seeded[0], draws=request.draws, tune=tune, chains=request.chains,
        cores=cores, target_accept=target_accept, progressbar=progressbar,
    )  # fmt: skip
    posterior = {
        name: np.broadcast_to(trace["posterior"][name].values, (request.chains, request.draws))
        for name in _HYPERPARAMETERS
    }
    stats = trace["sample_stats"].to_dataset()[["diverging"]].astype(float)
    return request.complete("nuts", posterior, describe_nuts(trace), stats)


def sample_abc(
    boards: Sequence[Leaderboard],
    priors: MaximumPriors,
    *,
    cores: int | None = None,
    epsilon: float | None = None,
    progressbar: bool = False,
    **settings: Any,
) -> xr.DataTree:
    r"""Posterior by approximate Bayesian computation, the route of the paper's Sec. 5.3.2.

    Its only approximation is epsilon, the standard deviation of a Gaussian kernel on the scale of
    scores, which widens the posterior by about :math:`\sqrt{1 + (\epsilon / sd)^2}`. By default it
    starts at the standard error of the observed maximum and shrinks to a sixth of the posterior
    standard deviation of ``theta_sota`` (1.4 % wider) that a short pilot run finds, until a pilot
    confirms that it is at most a quarter. ``settings`` as in ``Request``; several ``boards``
    share location, spread and rho. The same seed gives the same draws whatever ``cores`` is.

    Returns
    -------
    xarray.DataTree
        Attributes: ``epsilon``, ``epsilon_ratio`` (to the posterior standard deviation; the largest
        of the boards), ``epsilon_schedule`` (JSON: one list per run, one value per board) and
        ``winner_unaccepted``, the share of draws for which no simulated board passed within
        100,000 attempts (the closest one stands then; expected to be zero).
    """
    from bayes_sota.maximum.sample_smc import simulate_posterior

    request = Request(boards, priors, **settings)
    if request.draws < 10:
        raise InputError(f"at least 10 draws are needed, got {request.draws}")
    posterior, stats, found = simulate_posterior(
        boards, priors, request.seeded[0], draws=request.draws, chains=request.chains, cores=cores,
        epsilon=epsilon, reference_skill=request.reference_skill, progressbar=progressbar,
    )  # fmt: skip
    found["diagnostics_reasons"] = _reasons(found)
    return request.complete("abc", posterior, found, stats)


def _reasons(attributes: dict[str, Any]) -> str:
    reasons = []
    ratio, share = attributes["epsilon_ratio"], attributes["winner_unaccepted"]
    if ratio > _LARGEST_EPSILON:
        reasons.append(f"epsilon is {ratio:.2f} posterior standard deviations")
    if share > 0:
        reasons.append(f"no simulation matched the maximum for {share:.2%} of the draws")
    return "; ".join(reasons)
