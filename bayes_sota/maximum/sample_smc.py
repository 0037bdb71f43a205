r"""Posterior of theta_sota by approximate Bayesian computation with sequential Monte Carlo.

The route that Møllersen & Holsbø (arXiv 2303.07272, Sec. 5.3.2) propose. Its only approximation
is epsilon: a Gaussian kernel of that width convolves the likelihood, and widens the posterior by
about :math:`\sqrt{1 + (\epsilon / sd)^2}`, 1.4 % at the default of a sixth of the posterior
standard deviation. ``tests/maximum/test_sample_smc.py`` holds it against the exact route.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pymc as pm
import xarray as xr

from bayes_sota.core.arguments import generator_of
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import Priors
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.models_simulator import (
    ScoreSimulator,
    build_simulated_maximum,
    reference_skills,
)
from bayes_sota.maximum.sample_kernel import PopulationMetropolis, compile_population_logp
from bayes_sota.maximum.scoring import maximum_scoring, score_bounds

__all__ = ["sample_smc_abc"]

_LARGEST_RATIO = 1 / 4  # of epsilon to the posterior standard deviation of theta_sota
_AIM = 1 / 6
_PILOT_DRAWS, _PILOTS = 400, 8
_ATTEMPTS = 100_000
_REPORTED = ("location", "spread", "rho", "shift", "theta_sota", "n_classifiers")


def sample_smc_abc(
    boards: Leaderboard | Sequence[Leaderboard],
    priors: Priors | None = None,
    *,
    draws: int = 1000,
    chains: int = 4,
    random_seed: int | np.random.Generator | None = None,
    cores: int | None = None,
    epsilon: float | None = None,
    reference_skill: float | None = None,
    progressbar: bool = False,
) -> xr.DataTree:
    r"""Posterior draws by simulation only: no likelihood is computed.

    Epsilon starts at the standard error of the observed maximum and shrinks to a sixth
    of the posterior standard deviation of ``theta_sota`` that a short pilot run finds, until a
    pilot confirms that it is at most a quarter. The winner's skill is drawn by simulating, for
    each posterior draw, boards with its parameters until one passes the kernel.

    Parameters
    ----------
    boards : Leaderboard or sequence of them
        Several boards share location, spread and rho.
    priors : Priors, optional
    draws, chains : int
        Particles per independent run of the sampler, and number of runs.
    random_seed : int, Generator or None
        The same seed gives the same draws whatever ``cores`` is.
    cores : int, optional
        Processes; default all.
    epsilon : float, optional
        Width of the kernel on the scale of scores; default chosen as above.
    reference_skill : float, optional
        theta0; default each board's observed maximum.
    progressbar : bool

    Returns
    -------
    xarray.DataTree
        ``posterior`` with location, spread, rho, theta_sota, winner_skill, shift (the
        standardised S0; unless rho is zero) and, where it is uncertain, n_classifiers, over
        ``chain`` and ``draw``, and ``board`` if there are several. ``sample_stats`` per stage of
        the sampler, padded with NaN where a chain had fewer. Attributes: ``epsilon``,
        ``epsilon_ratio`` (to the posterior standard deviation; the largest of the boards),
        ``epsilon_schedule`` (JSON: one list per run, one value per board) and
        ``winner_unaccepted``, the share of draws for which no simulated board passed within
        100,000 attempts (the closest one stands then; expected to be zero).

    Raises
    ------
    InputError
        Wrong sizes or an epsilon that is not positive.

    Examples
    --------
    >>> board = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50)
    >>> result = sample_smc_abc(board, random_seed=1)  # doctest: +SKIP
    >>> float(result["posterior"]["theta_sota"].mean())  # doctest: +SKIP
    0.969
    """
    boards = (boards,) if isinstance(boards, Leaderboard) else tuple(boards)
    if draws < 10 or chains < 1:
        raise InputError(f"at least 10 draws and 1 chain are needed, got {draws} and {chains}")
    priors = Priors() if priors is None else priors
    seeds = generator_of(random_seed).integers(2**31, size=_PILOTS + 2)
    start = _standard_errors(boards, reference_skill)
    if epsilon is not None:
        start = np.full(len(boards), float(epsilon))
    model = build_simulated_maximum(boards, priors, epsilon=start, reference_skill=reference_skill)
    run = _Run(model, progressbar, compile_population_logp(model))
    schedule = [start] if epsilon is not None else run.choose_epsilon(start, seeds[2:])
    sampled = run.sample(schedule[-1], draws, chains, cores, int(seeds[0]))
    posterior = _named(sampled, priors, chains, draws)
    simulator = ScoreSimulator(boards, reference_skills(boards, reference_skill), priors.skill)
    winner, unaccepted = _draw_winners(posterior, simulator, boards, schedule[-1], int(seeds[1]))
    posterior["winner_skill"] = posterior["theta_sota"].copy(data=winner)
    attrs = _attributes(posterior, schedule, unaccepted, simulator.references, random_seed)
    return _tree(posterior, _padded_stats(sampled), attrs)


@dataclass(frozen=True)
class _Run:
    """Runs of one compiled model with different epsilons."""

    model: pm.Model
    progressbar: bool
    population_logp: Any

    def sample(
        self,
        epsilon: FloatArray,
        draws: int,
        chains: int,
        cores: int | None,
        seed: int,
        **kernel: Any,
    ) -> xr.DataTree:
        """One call of ``pm.sample_smc``."""
        with self.model:
            pm.set_data({"epsilon": epsilon if epsilon.size > 1 else epsilon[0]})
            sampled: xr.DataTree = pm.sample_smc(
                draws,
                kernel=PopulationMetropolis,
                chains=chains,
                cores=cores,
                random_seed=seed,
                progressbar=self.progressbar,
                compute_convergence_checks=False,
                compile_kwargs={"mode": "FAST_COMPILE"},
                population_logp=self.population_logp,
                **kernel,
            )
        return sampled

    def choose_epsilon(self, start: FloatArray, seeds: Any) -> list[FloatArray]:
        """Epsilons of the pilots, and last the one to use."""
        schedule = [start]
        for seed in seeds:
            pilot = self.sample(schedule[-1], _PILOT_DRAWS, 1, 1, int(seed), final_moves=3.0)
            sd = _standard_deviation(pilot["posterior"].to_dataset())
            confirmed = bool(np.all(schedule[-1] <= _LARGEST_RATIO * sd))
            schedule.append(np.minimum(schedule[-1], _AIM * sd))
            if confirmed:
                break
        return schedule


def _standard_errors(boards: Sequence[Leaderboard], reference_skill: float | None) -> FloatArray:
    scores = reference_skills(boards, reference_skill)
    errors = [
        maximum_scoring(board, float(score)).log_odds_error
        for board, score in zip(boards, scores, strict=True)
    ]
    return np.asarray(errors * scores * (1 - scores))


def _standard_deviation(posterior: xr.Dataset) -> FloatArray:
    """Of theta_sota, one per board."""
    return np.atleast_1d(np.asarray(posterior["theta_sota"].std(("chain", "draw"))))


def _named(sampled: xr.DataTree, priors: Priors, chains: int, draws: int) -> xr.Dataset:
    """Variables of the schema; what the priors fix is a constant."""
    found = sampled["posterior"].to_dataset()
    posterior = found[[name for name in _REPORTED if name in found]]
    fixed = {
        "location": priors.skill.location_mean,
        "spread": float(np.exp(priors.skill.log_spread_mean)),
        "rho": float(priors.correlation.quantile(0.5)),
    }
    for name, value in fixed.items():
        if name not in posterior:
            posterior[name] = (("chain", "draw"), np.full((chains, draws), value))
    return posterior


def _draw_winners(
    posterior: xr.Dataset,
    simulator: ScoreSimulator,
    boards: Sequence[Leaderboard],
    epsilon: FloatArray,
    seed: int,
) -> tuple[FloatArray, float]:
    """Winner's skill of each draw, and the share of draws without an accepted simulation."""
    several = len(boards) > 1

    def values(name: str, default: Any) -> Any:
        if name not in posterior:
            return default
        array = posterior[name].values
        return array[..., None] if several and array.ndim == 2 else array

    tries = [board.typical_tries for board in boards]
    fields = simulator.fields(
        values("theta_sota", None),
        values("location", None),
        values("spread", None),
        values("rho", None),
        values("shift", 0.0),
        values("n_classifiers", tries if several else tries[0]),
    )
    ends = [board.counts if simulator.counts_items else score_bounds(board) for board in boards]
    low, high, width = (x if several else x[0] for x in (*np.array(ends).T, epsilon))
    rng = np.random.default_rng(seed)
    winner, attempts = fields.draw_winner(rng, (low, high), width, _ATTEMPTS)
    return winner, float(np.mean(attempts < 0))


def _padded_stats(sampled: xr.DataTree) -> xr.Dataset:
    """Statistics per chain and stage as floats: PyMC's ragged objects cannot be saved."""
    stats = sampled["sample_stats"].to_dataset()
    columns = {
        str(name): [np.asarray(row, dtype=np.float64) for row in np.atleast_1d(stats[name].values)]
        for name in stats.data_vars
    }
    columns = {name: [np.atleast_1d(row) for row in rows] for name, rows in columns.items()}
    stages = max(row.size for rows in columns.values() for row in rows)
    padded = {
        name: (
            ("chain", "stage"),
            np.stack([np.pad(row, (0, stages - row.size), constant_values=np.nan) for row in rows]),
        )
        for name, rows in columns.items()
    }
    return xr.Dataset(padded, coords={"chain": stats["chain"].values, "stage": np.arange(stages)})


def _attributes(
    posterior: xr.Dataset,
    schedule: list[FloatArray],
    unaccepted: float,
    references: Any,
    random_seed: Any,
) -> dict[str, Any]:
    last = schedule[-1]
    return {
        "schema_version": SCHEMA_VERSION,
        "method": "smc_abc",
        "inference_library": "pymc",
        "inference_library_version": pm.__version__,
        "random_seed": int(random_seed) if isinstance(random_seed, int | np.integer) else "unknown",
        "reference_skill": np.atleast_1d(references).tolist(),
        "epsilon": last.tolist() if last.size > 1 else float(last[0]),
        "epsilon_ratio": float(np.max(last / _standard_deviation(posterior))),
        "epsilon_schedule": json.dumps([step.tolist() for step in schedule]),
        "winner_unaccepted": unaccepted,
    }


def _tree(posterior: xr.Dataset, stats: xr.Dataset, attrs: dict[str, Any]) -> xr.DataTree:
    posterior.attrs = dict(attrs)
    stats.attrs = dict(attrs)
    tree = xr.DataTree.from_dict({"posterior": posterior, "sample_stats": stats})
    tree.attrs = dict(attrs)
    return tree
