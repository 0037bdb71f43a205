"""Results of the routes to theta_sota, exact, NUTS and ABC, as DataTrees in the package's schema.

Independent draws of the exact route are laid out as chains, so that every ArviZ function works. ABC
with sequential Monte Carlo is vectorised over particles, a hundred times cheaper than PyMC's
kernels (``tests/maximum/test_sample_smc.py``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr
from numpy.random import Generator
from scipy.optimize import brentq

from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import stratified
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.sample import (
    describe_nuts,
    describe_provenance,
    lay_out,
    resolve_seed,
    result_tree,
    run_nuts,
    sampler_stats,
)
from bayes_sota.core.types import FloatArray, Groups, Seed
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.fresh_test_sets import default_reference_skill
from bayes_sota.maximum.likelihood import score_bounds
from bayes_sota.maximum.posterior import Maxima, board_names, log_priors, sota_posterior

if TYPE_CHECKING:
    import pymc as pm

_OBSERVED = "observed_maximum"
_NEW_SCORES = ("winner_new_score", "best_new_score")
_FACTS = ("n_test", "n_positive", "standard_error", "spread_ratio", "typical_tries")
_SUBTRACTED = "the score is the best of several submissions: the selection bias is subtracted"
_ELSEWHERE = (*_NEW_SCORES, "log_likelihood")
_EPSILON = 1 / 6  # in posterior standard deviations of theta_sota
_FEWEST_MOVES = 4.0  # of the average particle in the last stage
_MOVES, _FINAL_MOVES, _MOST_STEPS = 3.0, 8.0, 200  # of the average particle in each stage
_PARAMETERS = ("location", "spread", "rho")


@dataclass(frozen=True)
class Request(Maxima):
    """Boards, priors and settings of every route."""

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
        """Result of draws as in ``Maxima.collect``, chain after chain."""
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
    """Exact posterior; ``settings`` as in ``Request``."""
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
    """Posterior by NUTS (nutpie) over location, spread and rho; the rest from its exact law."""
    from bayes_sota.maximum.models import build_model

    request = Request(boards, priors, **settings)
    model = build_model(boards, priors, reference_skill=request.reference_skill)
    how: dict[str, Any] = {"draws": request.draws, "chains": request.chains, "tune": tune}
    how |= {"cores": cores, "progressbar": progressbar}
    nuts = {"target_accept": target_accept, "adaptation": "low_rank"}
    trace = run_nuts(model, request.seeded[0], **how, nuts=nuts)
    posterior = trace["posterior"].to_dataset()
    drawn = {name: posterior[name].values.ravel() for name in _PARAMETERS}
    values = request.draw_fields(drawn, request.seeded[0])
    return request.result(values, "nuts", describe_nuts(trace), sampler_stats(trace))


def sample_abc(
    boards: Sequence[BestScore],
    priors: MaximumPriors,
    *,
    cores: int | None = None,
    progressbar: bool | None = None,
    **settings: Any,
) -> xr.DataTree:
    r"""Posterior by approximate Bayesian computation, the route of the paper's Sec. 5.3.2.

    Epsilon, the standard deviation of a Gaussian kernel on the scale of scores, is a sixth of the
    standard deviation of ``theta_sota`` by the exact route. It widens the posterior by about
    :math:`\sqrt{1 + (\epsilon / sd)^2}`, 1.4 %, and is the only approximation.
    """
    from bayes_sota.maximum.models import build_simulated_maximum

    request = Request(boards, priors, **settings)
    if request.draws < 10:
        raise InputError(f"at least 10 draws are needed, got {request.draws}")
    rng, theta0 = request.seeded[0], request.reference_skill
    exact = sota_posterior(boards, priors, random_seed=rng, reference_skill=theta0)
    width = _EPSILON * exact.draws["theta_sota"].std(axis=0)
    build = partial(build_simulated_maximum, boards, priors, epsilon=width, reference_skill=theta0)
    build()  # refuses bad input before processes start
    work, chains = partial(_run_chain, build, request.draws), []
    seeds = rng.integers(2**31, size=request.chains).tolist()
    with shown_progress(request.chains, "chains", show=progressbar) as advance:
        for _, chain in run_each(work, seeds, cores=cores or 1):
            chains.append(chain)
            advance()
    drawn = {name: np.concatenate([chain[name] for chain in chains]) for name in _PARAMETERS}
    values = request.draw_fields(drawn, rng)
    moves = min(float(chain["moves"]) for chain in chains)
    few = f"a draw moved only {moves:.1f} times in the last stage"
    attributes = {
        "epsilon": width.tolist() if width.size > 1 else float(width[0]),
        "moves": moves,
        "draws_are_independent": 0,
        "diagnostics_reasons": few * (moves < _FEWEST_MOVES),
    }
    return request.result(values, "abc", attributes)


def _run_chain(build: Any, draws: int, seed: int) -> dict[str, FloatArray]:
    """Parameters of particles, (D, ...), and ``moves`` of the average one in the last stage.

    A particle keeps the simulated likelihood that it was accepted with (pseudo-marginal
    Metropolis), so the Gaussian kernel at inverse temperature beta is exactly the posterior with
    epsilon / sqrt(beta).
    """
    model, rng = build(), np.random.default_rng(seed)
    log_prior, log_kernel, parameters = _compiled(model, seed)
    points = _start(model, draws, rng)
    prior, likelihood = log_prior(points), log_kernel(points)
    beta, scale, moves = 0.0, 1.0, 0.0
    while beta < 1:
        last, beta = beta, _next_temperature(likelihood, beta)
        weights = np.exp((beta - last) * (likelihood - likelihood.max()))
        kept = np.repeat(np.arange(draws), stratified(weights / weights.sum(), draws, rng))
        points, prior, likelihood = points[kept], prior[kept], likelihood[kept]
        covariance = np.atleast_2d(np.cov(points, rowvar=False))
        ridge = 1e-9 * np.diag(np.diag(covariance)) + 1e-14 * np.eye(len(covariance))
        root = np.linalg.cholesky(covariance + ridge) * 2.38 / np.sqrt(len(covariance))
        moves, steps = 0.0, 0
        while moves < (_FINAL_MOVES if beta >= 1 else _MOVES) and steps < _MOST_STEPS:
            # narrow places are found by short steps
            length = scale * 3.0 ** -rng.integers(3, size=draws)
            proposal = points + length[:, None] * (rng.standard_normal(points.shape) @ root.T)
            prior_there = log_prior(proposal)
            slack = prior_there - prior - beta * likelihood + rng.standard_exponential(draws)
            # what the prior alone rejects need not be simulated, as the kernel is at most one
            index = np.flatnonzero(slack > 0)
            there = log_kernel(proposal[index])
            accepted = slack[index] + beta * there > 0
            index = index[accepted]
            points[index], prior[index] = proposal[index], prior_there[index]
            likelihood[index] = there[accepted]
            rate = index.size / draws
            scale *= float(np.exp(0.5 * (rate - 0.3)))
            moves, steps = moves + rate, steps + 1
    return parameters(points) | {"moves": np.array(moves)}


def _next_temperature(likelihood: FloatArray, beta: float) -> float:
    """Inverse temperature at which half of the particles are effective, at most 1."""

    def excess(new: float) -> float:
        weights = np.exp((new - beta) * (likelihood - likelihood.max()))
        return float(weights.sum() ** 2 / np.sum(weights**2) - likelihood.size / 2)

    return 1.0 if excess(1.0) >= 0 else float(brentq(excess, beta, 1.0, xtol=1e-15))


def _start(model: "pm.Model", draws: int, rng: Generator) -> FloatArray:
    import pymc as pm

    moved = [
        rv if transform is None else transform.forward(rv, *rv.owner.inputs)
        for rv, transform in model.rvs_to_transforms.items()
        if rv in model.free_RVs
    ]
    drawn = pm.draw(moved, draws=draws, random_seed=rng)
    return np.column_stack([x.reshape(draws, -1) for x in drawn])


def _compiled(model: "pm.Model", seed: int) -> tuple[Any, Any, Any]:
    """Log prior, log kernel and ``_PARAMETERS`` of particles (particles, coordinates)."""
    import pytensor.tensor as pt
    from pymc.pytensorf import compile as compile_function
    from pymc.pytensorf import join_nonshared_inputs
    from pytensor.graph.replace import vectorize_graph

    point = model.initial_point(random_seed=0)
    named = model.replace_rvs_by_values([model[name] for name in _PARAMETERS])
    outputs = [model.varlogp, model.datalogp, *named]
    flat, vector = join_nonshared_inputs(point, outputs, model.value_vars)
    population = pt.matrix("population", dtype=vector.dtype)
    of_each = vectorize_graph(flat, {vector: population})
    quick: Any = {"mode": "FAST_COMPILE", "on_unused_input": "ignore", "random_seed": seed}
    log_prior, log_kernel, parameters = (
        compile_function([population], x, **quick) for x in (of_each[0], of_each[1], of_each[2:])
    )

    def named_parameters(points: FloatArray) -> dict[str, FloatArray]:
        found = zip(_PARAMETERS, parameters(points), strict=True)
        return {name: np.broadcast_to(x, len(points)) for name, x in found}

    return log_prior, log_kernel, named_parameters
