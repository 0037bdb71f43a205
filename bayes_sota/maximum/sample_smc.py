r"""Approximate Bayesian computation with sequential Monte Carlo: boards are simulated.

PyMC's kernels call a compiled function per particle, which costs half a millisecond where the
likelihood is a Python simulator. Here both log densities are vectorised over particles
(``pytensor.graph.replace.vectorize_graph``), a hundred times cheaper per particle, and what is
saved goes into more mutation steps: until the average particle has moved often enough.
``tests/maximum/test_sample_smc.py`` holds the draws against the exact route.
"""

from collections.abc import Sequence
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
from pytensor.graph.replace import vectorize_graph

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import MaximumPriors
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.models_simulated import build_simulated_maximum
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import Request
from bayes_sota.maximum.tables import score_bounds

_LARGEST_EPSILON = 1 / 4  # in posterior standard deviations of theta_sota
_EPSILON_AIM = 1 / 6
_FEWEST_MOVES = 4.0  # of the average particle in the last stage
_MOVES, _FINAL_MOVES, _MOST_STEPS = 3.0, 8.0, 200  # of the average particle in each stage
_ATTEMPTS, _AT_ONCE = 100_000, 20_000  # at a simulated board that passes the kernel
_PARAMETERS = ("theta_sota", "location", "spread", "rho", "n_classifiers")
_QUICK = {"mode": "FAST_COMPILE", "on_unused_input": "ignore"}


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
    scores, which widens the posterior by about :math:`\sqrt{1 + (\epsilon / sd)^2}`: by 1.4 % for
    the default, a sixth of the standard deviation of ``theta_sota`` by the exact route.
    ``settings`` as in ``Request``; several ``boards`` share location, spread and rho. The winner's
    skill and the shift are those of simulated boards that pass the kernel. The same seed gives the
    same draws whatever ``cores`` is.

    Returns
    -------
    xarray.DataTree
        Attributes: ``epsilon``, ``moves`` (accepted ones of the average particle of the last stage,
        in the chain with the fewest), ``epsilon_ratio`` (to the posterior standard deviation that
        was found; the largest of the boards) and ``winner_unaccepted``, the share of draws for
        which no simulated board passed within 100,000 attempts (expected to be zero).

    Raises
    ------
    InputError
        An epsilon that is not in (0, 1), or a best score that was chosen among submissions.
    """
    request = Request(boards, priors, **settings)
    if request.draws < 10:
        raise InputError(f"at least 10 draws are needed, got {request.draws}")
    rng, theta0 = request.seeded[0], request.reference_skill
    if epsilon is None:
        exact = sota_posterior(boards, priors, random_seed=rng, reference_skill=theta0)
        width = _EPSILON_AIM * exact.draws["theta_sota"].std(axis=0)
    else:
        width = np.full(len(boards), float(OPEN_SHARE.check(epsilon, "epsilon")))
    model = build_simulated_maximum(boards, priors, epsilon=width, reference_skill=theta0)
    with model:
        sampled = pm.sample_smc(
            draws=request.draws,
            chains=request.chains,
            cores=cores,
            kernel=PopulationMetropolis,
            random_seed=int(rng.integers(2**31)),
            progressbar=progressbar,
            compute_convergence_checks=False,
            compile_kwargs=_QUICK,
            population_logp=compile_population_logp(model),
        )
    particles = sampled["posterior"].to_dataset()
    drawn = {name: particles[name].values for name in _PARAMETERS}
    drawn = {name: x.reshape(-1, *x.shape[2:]) for name, x in drawn.items()}
    behind, unaccepted = _draw_behind(drawn, request, width, rng)
    stats = _padded_stats(sampled)
    moves = (stats["accept_rate"] * stats["steps"]).values  # chains may have fewer stages
    attributes = {
        "epsilon": width.tolist() if width.size > 1 else float(width[0]),
        "epsilon_ratio": float(np.max(width / drawn["theta_sota"].std(axis=0))),
        "winner_unaccepted": unaccepted,
        "moves": min(float(row[np.isfinite(row)][-1]) for row in moves),
        "draws_are_independent": 0,
    }
    attributes["diagnostics_reasons"] = _reasons(attributes)
    drawn |= behind
    drawn["multiplicity_bias"] = [board.maximum for board in boards] - drawn["theta_sota"]
    values = request.draw_fields(drawn, rng, request.new_n_test) | drawn
    return request.tree(request.draw_from_laws(values) | {"sample_stats": stats}, "abc", attributes)


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
        first, second = (compile_function([population], x, **_QUICK) for x in (prior, likelihood))
        return first, second


class PopulationMetropolis(SMC_KERNEL):  # type: ignore[misc]
    """Random-walk Metropolis steps of all particles at once, for simulated likelihoods.

    A particle keeps the simulated likelihood that it was accepted with (pseudo-marginal
    Metropolis), so the Gaussian kernel at inverse temperature beta is exactly the posterior with
    epsilon / sqrt(beta). The log likelihood must not be positive, as that of ``pm.Simulator`` is
    not: proposals that the prior rejects are then not simulated.

    Parameters
    ----------
    population_logp : pair of compiled functions
        From ``compile_population_logp``, in the place of PyMC's for one particle.
    **kwargs
        Of ``SMC_KERNEL``: draws, threshold, ...
    """

    stats_dtypes_shapes: ClassVar[dict[str, tuple[type, list[int]]]] = dict.fromkeys(
        ("log_marginal_likelihood", "beta", "accept_rate", "steps"), (float, [])
    )

    def __init__(self, *args: Any, population_logp: Any, **kwargs: Any) -> None:
        """Take the vectorised log densities."""
        super().__init__(*args, **kwargs)
        self.prior_logp_func, self.likelihood_logp_func = population_logp

    def _initialize_kernel(self) -> None:
        # the base class's, but for the vectorised evaluation
        start = self.start or self.initialize_population()
        particles = ({v.name: start[v.name][i] for v in self.variables} for i in range(self.draws))
        self.tempered_posterior = np.array([DictToArrayBijection.map(p).data for p in particles])
        self.prior_logp = self.prior_logp_func(self.tempered_posterior)
        self.likelihood_logp = self._likelihood(self.tempered_posterior)

    def _likelihood(self, population: FloatArray) -> FloatArray:
        likelihood = self.likelihood_logp_func(population)
        return np.where(np.isfinite(likelihood), likelihood, -1e300)

    def setup_kernel(self) -> None:
        """Start each chain alike: nothing may depend on the chain that ran before."""
        self.scale = 1.0

    def tune(self) -> None:
        """Covariance of the population."""
        covariance = np.atleast_2d(np.cov(self.tempered_posterior, rowvar=False))
        ridge = 1e-9 * np.diag(np.diag(covariance)) + 1e-14 * np.eye(len(covariance))
        self.root = np.linalg.cholesky(covariance + ridge)

    def mutate(self) -> None:
        """Move the particles until the average one has moved often enough."""
        self.moves, self.n_steps = 0.0, 0
        wanted = _FINAL_MOVES if self.beta >= 1 else _MOVES
        while self.moves < wanted and self.n_steps < _MOST_STEPS:
            rate = self._move()
            self.scale *= float(np.exp(0.5 * (rate - 0.3)))
            self.moves, self.n_steps = self.moves + rate, self.n_steps + 1

    def _move(self) -> float:
        """Propose a step of every particle; the share that was accepted."""
        size, dimension = self.tempered_posterior.shape
        # particles try steps of very different length: narrow places are found by short ones
        length = self.scale * 2.38 / np.sqrt(dimension) * 3.0 ** -self.rng.integers(3, size=size)
        step = self.rng.standard_normal((size, dimension)) @ self.root.T
        proposal = self.tempered_posterior + length[:, None] * step
        prior = self.prior_logp_func(proposal)
        # The kernel is at most one: what the prior alone rejects need not be simulated.
        slack = prior - self.tempered_posterior_logp + self.rng.standard_exponential(size)
        index = np.flatnonzero(slack > 0)
        if index.size == 0:
            return 0.0
        likelihood = self._likelihood(proposal[index])
        accepted = slack[index] + self.beta * likelihood > 0
        index, likelihood = index[accepted], likelihood[accepted]
        self.tempered_posterior[index] = proposal[index]
        self.prior_logp[index], self.likelihood_logp[index] = prior[index], likelihood
        self.tempered_posterior_logp[index] = prior[index] + self.beta * likelihood
        return float(index.size / size)

    def sample_stats(self) -> dict[str, float]:
        """Statistics of a stage."""
        return {
            "log_marginal_likelihood": self.log_marginal_likelihood if self.beta == 1 else np.nan,
            "beta": self.beta,
            "accept_rate": self.moves / self.n_steps,
            "steps": float(self.n_steps),
        }

    def sample_settings(self) -> dict[str, float]:
        """Settings of the run."""
        return {"_n_draws": self.draws, "threshold": self.threshold}


def _draw_behind(
    drawn: dict[str, FloatArray], request: Request, epsilon: FloatArray, rng: np.random.Generator
) -> tuple[dict[str, FloatArray], float]:
    """Winners' skills and shifts, (D, B) each, and the share of draws without a simulation.

    Each field is redrawn until its best score passes the kernel.
    """
    shape, missed = drawn["theta_sota"].shape, 0
    values = [x if x.ndim > 1 else np.broadcast_to(x[:, None], shape) for x in drawn.values()]
    winner, shift = drawn["theta_sota"].copy(), np.zeros(shape)
    for i, board in enumerate(request.boards):
        (low, high), waiting, done = score_bounds(board), np.arange(shape[0]), 0
        while waiting.size and done < _ATTEMPTS:
            rows = np.repeat(waiting, max(1, _AT_ONCE // waiting.size))
            fields = request.fields_of(board, rng, *(x[rows, i] for x in values))
            best, holder = fields.draw(rng)
            distance = np.maximum(np.maximum(low - best, best - high), 0) / epsilon[i]
            passed = rng.random(rows.size) < np.exp(-0.5 * distance**2)
            winner[rows[passed], i] = holder[passed]
            shift[rows[passed], i] = fields.test_set.shift[passed]
            done += rows.size // waiting.size
            waiting = np.setdiff1d(waiting, rows[passed])
        missed += waiting.size
    return {"winner_skill": winner, "shift": shift}, missed / winner.size


def _padded_stats(sampled: xr.DataTree) -> xr.Dataset:
    """Statistics per chain and stage as floats: PyMC's ragged objects cannot be saved."""
    stats = sampled["sample_stats"].to_dataset()
    padded = {}
    for name, values in stats.data_vars.items():
        stages = zip_longest(*map(np.atleast_1d, values.values), fillvalue=np.nan)
        padded[name] = (("chain", "stage"), np.array(list(stages), np.float64).T)
    dataset = xr.Dataset(padded, coords={"chain": stats["chain"].values})
    return dataset.assign_coords(stage=np.arange(dataset.sizes["stage"]))
