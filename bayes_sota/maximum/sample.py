"""Results of the routes to theta_sota as DataTrees in the schema of the package.

Independent draws of the exact route are laid out as chains, so that every ArviZ function works.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import xarray as xr
from numpy.random import Generator

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.sample import describe_provenance, lay_out, resolve_seed, result_tree
from bayes_sota.core.sample_trace import describe_nuts, run_nuts, sampler_stats
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.fresh_test_sets import default_reference_skill
from bayes_sota.maximum.likelihood import score_bounds
from bayes_sota.maximum.posterior import Maxima, board_names, log_priors, sota_posterior

_OBSERVED = "observed_maximum"
_NEW_SCORES = ("winner_new_score", "best_new_score")
_FACTS = ("n_test", "n_positive", "standard_error", "spread_ratio", "typical_tries")
_SUBTRACTED = "the score is the best of several submissions: the selection bias is subtracted"
_ELSEWHERE = (*_NEW_SCORES, "log_likelihood")


@dataclass(frozen=True)
class Request(Maxima):
    """Boards, priors and settings of every route.

    ``groups="estimands"`` leaves out the groups that only checks of the model need.
    """

    draws: int = 1000
    chains: int = 4
    random_seed: Seed = DEFAULT_SEED
    groups: Groups = "all"
    model_name: str | None = None
    model_hash: str | None = None

    @cached_property
    def seeded(self) -> tuple[Generator, str]:
        return resolve_seed(self.random_seed)

    def result(
        self,
        values: Mapping[str, FloatArray],
        method: str,
        attributes: Mapping[str, Any],
        stats: xr.Dataset | None = None,
    ) -> xr.DataTree:
        """Result of draws as in ``Maxima.collect``, whose chains lie one after another."""
        (rng, seed), names = self.seeded, [name for name in values if name not in _ELSEWHERE]
        if all(isinstance(board.n_classifiers, int) for board in self.boards):
            names.remove("n_classifiers")
        groups: dict[str, Any] = {
            "posterior": {name: values[name] for name in names},
            "predictions": {name: values[name] for name in _NEW_SCORES},
        }
        if self.groups == "all":
            prior = self.draw_prior(rng, self.draws * self.chains)
            fresh = self.draw_boards(values, rng, winner=False)
            groups |= {
                "prior": {name: prior[name] for name in names},
                "posterior_predictive": {_OBSERVED: fresh[_OBSERVED]},
                "prior_predictive": {_OBSERVED: prior[_OBSERVED]},
                "log_prior": log_priors(self.priors, values),
                "log_likelihood": {_OBSERVED: values["log_likelihood"]},
            }
        groups = {name: self.lay_out(group) for name, group in groups.items()}
        board = {"board": board_names(self.boards)}
        low, high = np.array([score_bounds(one) for one in self.boards]).T
        theta0 = [default_reference_skill(one, self.reference_skill) for one in self.boards]
        known = {"score_low": low, "score_high": high, "reference_skill": theta0}
        known |= {x: np.array([getattr(one, x) or 0 for one in self.boards]) for x in _FACTS}
        best = ("board", [one.maximum for one in self.boards])
        constant = xr.Dataset({name: ("board", x) for name, x in known.items()}, board)
        groups["sample_stats"] = xr.Dataset() if stats is None else stats
        groups["observed_data"] = xr.Dataset({_OBSERVED: best}, board)
        groups["constant_data"] = self._of_one(constant)
        named = {"model_name": self.model_name, "model_hash": self.model_hash}
        facts = describe_provenance(self.boards, self.priors, method=method, seed=seed, **named)
        notes = [note for one in self.boards for note in one.notes]
        notes += [_SUBTRACTED] * self.has_submissions
        facts["notes"] = "; ".join(dict.fromkeys(notes))
        return result_tree(groups, {**facts, **attributes, "metric": self.boards[0].metric})

    def lay_out(self, values: Mapping[str, Any]) -> xr.Dataset:
        """Draws (D,) or (D, B) by chain and draw; latent ones of one board lack its dimension."""
        dims = {name: ("board",)[: x.ndim - 1] for name, x in values.items()}
        data = lay_out(dict(values), self.chains, dims, {"board": board_names(self.boards)})
        return data if _OBSERVED in values else self._of_one(data)

    def _of_one(self, data: xr.Dataset) -> xr.Dataset:
        one = len(self.boards) == 1 and "board" in data.dims
        return data.isel(board=0, drop=True) if one else data


def sample_exact(
    boards: Sequence[BestScore], priors: MaximumPriors, **settings: Any
) -> xr.DataTree:
    """Exact posterior of observed maxima as a DataTree; ``settings`` as in ``Request``."""
    request = Request(boards, priors, **settings)
    found = sota_posterior(
        boards,
        priors,
        draws=request.draws * request.chains,
        random_seed=request.seeded[0],
        reference_skill=request.reference_skill,
    )
    lp = sum(log_priors(priors, found.draws).values(), found.draws["log_likelihood"].sum(axis=1))
    point, node = found.parameters.behind
    attributes = {
        "log_evidence": found.fit.log_evidence_of_all,
        "effective_points": found.fit.effective_size,
        "draws_are_independent": 1,
        "diagnostics_reasons": "; ".join(found.reasons),
    }
    stats = request.lay_out({"lp": lp, "point": point, "stratum": node})
    return request.result(found.draws, "exact", attributes, stats)


def sample_nuts(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    *,
    tune: int = 1000,
    target_accept: float = 0.98,
    cores: int | None = None,
    progressbar: bool | None = None,
    **settings: Any,
) -> xr.DataTree:
    """Posterior by NUTS (nutpie) over location, spread and rho; the rest from its exact law.

    ``settings`` as in ``Request``, the others as in ``pm.sample``.
    """
    from bayes_sota.maximum.models import build_model

    request = Request(boards, priors, **settings)
    model = build_model(boards, priors, reference_skill=request.reference_skill)
    how: dict[str, Any] = {"draws": request.draws, "chains": request.chains, "tune": tune}
    how |= {"cores": cores, "progressbar": progressbar}
    nuts = {"target_accept": target_accept, "adaptation": "low_rank"}
    trace = run_nuts(model, request.seeded[0], **how, nuts=nuts)
    posterior = trace["posterior"].to_dataset()
    drawn = {name: posterior[name].values.ravel() for name in ("location", "spread", "rho")}
    values = request.draw_fields(drawn, request.seeded[0])
    return request.result(values, "nuts", describe_nuts(trace), sampler_stats(trace))
