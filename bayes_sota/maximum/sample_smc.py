r"""Approximate Bayesian computation with sequential Monte Carlo: no likelihood is computed.

PyMC's kernels call a compiled function per particle, which costs half a millisecond where the
likelihood is a Python simulator. Here both log densities are vectorised over particles
(``pytensor.graph.replace.vectorize_graph``), a hundred times cheaper per particle, and what is
saved goes into more mutation steps: until the average particle has moved often enough.
``tests/maximum/test_sample_smc.py`` holds the draws against the exact route.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, ClassVar

import numpy as np
import pymc as pm
import pytensor.tensor as pt
import xarray as xr
from pymc.blocking import DictToArrayBijection
from pymc.pytensorf import compile as compile_function
from pymc.pytensorf import join_nonshared_inputs, make_shared_replacements
from pymc.smc.kernels import SMC_KERNEL
from pytensor.compile.sharedvalue import shared
from pytensor.graph.replace import vectorize_graph
from pytensor.tensor.random.type import RandomGeneratorType

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.models_simulated import ScoreSimulator, build_simulated_maximum
from bayes_sota.maximum.sample import Request
from bayes_sota.maximum.tables import score_bounds

_LARGEST_EPSILON = 1 / 4  # in posterior standard deviations of theta_sota
_EPSILON_AIM = 1 / 6
_FEWEST_MOVES = 4.0  # of the average particle in the last stage
_DEGREES = 5.0  # of the Student-t independence proposal: heavier tails than the posterior's
_MOVES, _FINAL_MOVES, _MOST_STEPS = 3.0, 8.0, 200  # of the average particle in each stage
_PILOTS = 8
_PILOT = {"draws": 400, "chains": 1, "cores": 1, "final_moves": _MOVES}
_ATTEMPTS = 100_000
_PARAMETERS = ("theta_sota", "location", "spread", "rho", "shift", "n_classifiers")


def sample_abc(
    boards: Sequence[BestScore],
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
    share location, spread and rho. The winner's skill is that of simulated boards that pass the
    kernel. The same seed gives the same draws whatever ``cores`` is.

    Returns
    -------
    xarray.DataTree
        Attributes: ``epsilon``, ``moves`` (accepted ones of the average particle of the last stage,
        in the chain with the fewest), ``epsilon_ratio`` (to the posterior standard deviation; the
        largest of the boards), ``epsilon_schedule`` (JSON: one list per run, one value per board)
        and ``winner_unaccepted``, the share of draws for which no simulated board passed within
        100,000 attempts (the closest one stands then; expected to be zero).

    Raises
    ------
    InputError
        An epsilon that is not in (0, 1), or a best score that was chosen among submissions.
    """
    request = Request(boards, priors, **settings)
    if request.draws < 10:
        raise InputError(f"at least 10 draws are needed, got {request.draws}")
    start = request.errors
    if epsilon is not None:
        start = np.full(start.size, float(OPEN_SHARE.check(epsilon, "epsilon")))
    rng = request.seeded[0]
    seeds = rng.integers(2**31, size=_PILOTS + 2)
    model = build_simulated_maximum(
        boards, priors, epsilon=start, reference_skill=request.reference_skill
    )
    run = _Run(model, progressbar, compile_population_logp(model))
    schedule = [start] if epsilon is not None else run.choose_epsilon(start, seeds[2:])
    last = schedule[-1]
    sizes = {"draws": request.draws, "chains": request.chains, "cores": cores}
    sampled = run.sample(last, int(seeds[0]), **sizes)
    particles = sampled["posterior"].to_dataset()
    drawn = {}
    for name in (name for name in _PARAMETERS if name in particles):
        shape = (-1,) if name in request.parameters else (-1, len(boards))
        drawn[name] = np.asarray(particles[name].values).reshape(shape)
    drawn["winner_skill"], unaccepted = _draw_winners(drawn, request, last, int(seeds[1]))
    stats = _padded_stats(sampled)
    moves = (stats["accept_rate"] * stats["steps"]).values  # chains may have fewer stages
    attributes = {
        "epsilon": last.tolist() if last.size > 1 else float(last[0]),
        "epsilon_ratio": float(np.max(last / _standard_deviation(particles))),
        "epsilon_schedule": json.dumps([step.tolist() for step in schedule]),
        "winner_unaccepted": unaccepted,
        "moves": min(float(row[np.isfinite(row)][-1]) for row in moves),
        "draws_are_independent": 0,
    }
    attributes["diagnostics_reasons"] = _reasons(attributes)
    values = request.draw_fields(drawn, rng, request.new_n_test)
    bias = np.array([board.maximum for board in boards]) - drawn["theta_sota"]
    groups = request.draw_from_laws(drawn | values | drawn | {"multiplicity_bias": bias})
    return request.tree(groups | {"sample_stats": stats}, "abc", attributes)


def _reasons(attributes: dict[str, Any]) -> str:
    reasons = []
    ratio, share = attributes["epsilon_ratio"], attributes["winner_unaccepted"]
    if ratio > _LARGEST_EPSILON:
        reasons.append(f"epsilon is {ratio:.2f} posterior standard deviations")
    if (moves := attributes["moves"]) < _FEWEST_MOVES:
        reasons.append(
            f"epsilon is so small that a draw moved only {moves:.1f} times in the last stage: "
            "raise it, or leave it out"
        )
    if share > 0:
        reasons.append(f"no simulation matched the maximum for {share:.2%} of the draws")
    return "; ".join(reasons)


def compile_population_logp(model: pm.Model) -> tuple[Any, Any]:
    """Log prior and log likelihood of particles, shape (particles, parameters): two functions.

    Compiled for PyTensor's Python linker: each call handles a whole population in NumPy, so
    nothing would be gained by translating it, and a worker process rebuilds it in a second.
    """
    with model:
        point = model.initial_point(random_seed=0)
        densities, vector = join_nonshared_inputs(
            point=point,
            outputs=[model.varlogp, model.datalogp],
            inputs=model.value_vars,
            shared_inputs=make_shared_replacements(point, model.value_vars, model),
        )
        population = pt.matrix("population", dtype=vector.dtype)
        prior, likelihood = vectorize_graph(densities, {vector: population})
        options = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}
        first, second = (compile_function([population], x, **options) for x in (prior, likelihood))
        return first, second


class PopulationMetropolis(SMC_KERNEL):  # type: ignore[misc]
    """Random-walk and independence Metropolis steps in turn, for simulated likelihoods.

    A particle keeps the simulated likelihood that it was accepted with (pseudo-marginal
    Metropolis), so the Gaussian kernel at inverse temperature beta is exactly the posterior with
    epsilon / sqrt(beta). The log likelihood must not be positive, as that of ``pm.Simulator`` is
    not: proposals that the prior rejects are then not simulated.

    Parameters
    ----------
    population_logp : pair of compiled functions
        From ``compile_population_logp``, compiled once for several runs of one model.
    final_moves : float
        Accepted moves of the average particle in the last stage, after which no resampling hides
        duplicates.
    **kwargs
        Of ``SMC_KERNEL``: draws, threshold, ...
    """

    stats_dtypes_shapes: ClassVar[dict[str, tuple[type, list[int]]]] = dict.fromkeys(
        ("log_marginal_likelihood", "beta", "accept_rate", "steps"), (float, [])
    )

    def __init__(
        self, *args: Any, population_logp: Any, final_moves: float = _FINAL_MOVES, **kwargs: Any
    ) -> None:
        """Take the vectorised log densities."""
        super().__init__(*args, **kwargs)
        self.final_moves = final_moves
        self.population_prior, self.population_likelihood = population_logp

    def set_rng(self, rng: np.random.Generator) -> None:
        """Give the chain its own generators."""
        self.rng = rng
        used = self.population_likelihood.get_shared()
        old = [variable for variable in used if isinstance(variable.type, RandomGeneratorType)]
        make_shared: Any = shared
        new = [make_shared(child, borrow=True) for child in rng.spawn(len(old))]
        swap = dict(zip(old, new, strict=True))
        self.population_likelihood = self.population_likelihood.copy(swap=swap)

    def _initialize_kernel(self) -> None:
        # the base class's, but for the vectorised evaluation
        start = self.start if self.start else self.initialize_population()
        points = [
            DictToArrayBijection.map({v.name: start[v.name][i] for v in self.variables}).data
            for i in range(self.draws)
        ]
        self.tempered_posterior = np.array(points, dtype=np.float64)
        self.prior_logp = self._prior(self.tempered_posterior)
        self.likelihood_logp = self._likelihood(self.tempered_posterior)

    def _prior(self, population: FloatArray) -> FloatArray:
        prior = self.population_prior(population)
        return np.where(np.isfinite(prior), prior, -np.inf)

    def _likelihood(self, population: FloatArray) -> FloatArray:
        likelihood = self.population_likelihood(population)
        return np.where(np.isfinite(likelihood), likelihood, -1e300)

    def setup_kernel(self) -> None:
        """Start each chain alike: nothing may depend on the chain that ran before."""
        self.scale = 1.0

    def tune(self) -> None:
        """Mean and covariance of the population."""
        self.mean = self.tempered_posterior.mean(axis=0)
        covariance = np.atleast_2d(np.cov(self.tempered_posterior, rowvar=False))
        ridge = 1e-9 * np.diag(np.diag(covariance)) + 1e-14 * np.eye(len(covariance))
        self.root = np.linalg.cholesky(covariance + ridge)

    def mutate(self) -> None:
        """Move the particles until the average one has moved often enough."""
        self.moved = np.zeros(self.draws)
        wanted = self.final_moves if self.beta >= 1 else _MOVES
        self.n_steps = 0
        while self.moved.mean() < wanted and self.n_steps < _MOST_STEPS:
            self.n_steps += 1
            (self._random_walk if self.n_steps % 2 else self._independence)()

    def _random_walk(self) -> None:
        size, dimension = self.tempered_posterior.shape
        step = self.rng.standard_normal((size, dimension)) @ self.root.T
        # half the particles try a step a third as long: narrow places are found by these
        scale = self.scale * np.where(self.rng.random(size) < 0.5, 1.0, 1 / 3)
        step *= 2.38 / np.sqrt(dimension) * scale[:, None]
        rate = self._accept(self.tempered_posterior + step, 0.0)
        self.scale *= float(np.exp(0.5 * (rate - 0.3)))

    def _independence(self) -> None:
        size, dimension = self.tempered_posterior.shape
        normal = self.rng.standard_normal((size, dimension))
        chi = self.rng.chisquare(_DEGREES, size) / _DEGREES
        proposal = self.mean + (normal / np.sqrt(chi)[:, None]) @ self.root.T
        self._accept(proposal, self._log_t(self.tempered_posterior) - self._log_t(proposal))

    def _log_t(self, points: FloatArray) -> FloatArray:
        standard = np.linalg.solve(self.root, (points - self.mean).T)
        power = -0.5 * (_DEGREES + len(standard))
        return power * np.log1p((standard**2).sum(axis=0) / _DEGREES)

    def _accept(self, proposal: FloatArray, correction: FloatArray | float) -> float:
        prior = self._prior(proposal)
        # The kernel is at most one: what the prior alone rejects need not be simulated.
        slack = prior - self.tempered_posterior_logp + correction
        slack += self.rng.standard_exponential(self.draws)
        index = np.flatnonzero(slack > 0)
        if index.size == 0:
            return 0.0
        likelihood = self._likelihood(proposal[index])
        accepted = slack[index] + self.beta * likelihood > 0
        index, likelihood = index[accepted], likelihood[accepted]
        self.tempered_posterior[index] = proposal[index]
        self.prior_logp[index] = prior[index]
        self.likelihood_logp[index] = likelihood
        self.tempered_posterior_logp[index] = prior[index] + self.beta * likelihood
        self.moved[index] += 1
        return float(index.size / self.draws)

    def sample_stats(self) -> dict[str, float]:
        """Statistics of a stage."""
        return {
            "log_marginal_likelihood": self.log_marginal_likelihood if self.beta == 1 else np.nan,
            "beta": self.beta,
            "accept_rate": float(self.moved.mean() / self.n_steps),
            "steps": float(self.n_steps),
        }

    def sample_settings(self) -> dict[str, float]:
        """Settings of the run."""
        return {"_n_draws": self.draws, "threshold": self.threshold}


@dataclass(frozen=True)
class _Run:
    """Runs of one compiled model with different epsilons."""

    model: pm.Model
    progressbar: bool
    population_logp: Any

    def sample(self, epsilon: FloatArray, seed: int, **settings: Any) -> xr.DataTree:
        """One call of ``pm.sample_smc``; ``settings`` are its sizes and those of the kernel."""
        with self.model:
            pm.set_data({"epsilon": epsilon if epsilon.size > 1 else epsilon[0]})
            sampled: xr.DataTree = pm.sample_smc(
                kernel=PopulationMetropolis,
                random_seed=seed,
                progressbar=self.progressbar,
                compute_convergence_checks=False,
                compile_kwargs={"mode": "FAST_COMPILE"},
                population_logp=self.population_logp,
                **settings,
            )
        return sampled

    def choose_epsilon(self, start: FloatArray, seeds: Any) -> list[FloatArray]:
        """Epsilons of the pilots, and last the one to use."""
        schedule = [start]
        for seed in seeds:
            pilot = self.sample(schedule[-1], int(seed), **_PILOT)
            sd = _standard_deviation(pilot["posterior"].to_dataset())
            confirmed = bool(np.all(schedule[-1] <= _LARGEST_EPSILON * sd))
            schedule.append(np.minimum(schedule[-1], _EPSILON_AIM * sd))
            if confirmed:
                break
        return schedule


def _standard_deviation(posterior: xr.Dataset) -> FloatArray:
    """Of theta_sota, one per board."""
    return np.atleast_1d(np.asarray(posterior["theta_sota"].std(("chain", "draw"))))


def _draw_winners(
    drawn: dict[str, FloatArray], request: Request, epsilon: FloatArray, seed: int
) -> tuple[FloatArray, float]:
    """Winners' skills, (D, B), and the share of draws without an accepted simulation."""
    rng, shape = np.random.default_rng(seed), drawn["location"].shape
    simulator, winners, accepted = ScoreSimulator(request), [], []
    for i, board in enumerate(request.boards):
        values = {"shift": np.zeros(shape), "n_classifiers": np.full(shape, board.typical_tries)}
        values |= {name: v[:, i] if v.ndim > 1 else v for name, v in drawn.items()}
        fields = simulator.fields(i, [values[name] for name in _PARAMETERS], shape)
        winner, some = fields.draw_winner(rng, score_bounds(board), epsilon[i], _ATTEMPTS)
        winners.append(winner)
        accepted.append(some)
    return np.stack(winners, axis=1), 1 - float(np.mean(accepted))


def _padded_stats(sampled: xr.DataTree) -> xr.Dataset:
    """Statistics per chain and stage as floats: PyMC's ragged objects cannot be saved."""
    stats = sampled["sample_stats"].to_dataset()
    padded = {}
    for name, values in stats.data_vars.items():
        stages = zip_longest(*map(np.atleast_1d, values.values), fillvalue=np.nan)
        padded[name] = (("chain", "stage"), np.array(list(stages), np.float64).T)
    dataset = xr.Dataset(padded, coords={"chain": stats["chain"].values})
    return dataset.assign_coords(stage=np.arange(dataset.sizes["stage"]))
