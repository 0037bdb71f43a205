"""Exact posterior from the maximum: time, grid doubling, the whole command. Prints JSON too.

Run with ``uv run python tests/benchmarks/bench_sota_posterior.py``. The alternative is rejection:
whole boards simulated from the prior, kept where their maximum is the observed one.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from bayes_sota.core.priors import Priors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.posterior import sota_posterior

PAPER = Leaderboard.from_maximum("0.9116", n_test=13_840, n_classifiers=3_558)
SMALL = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50, rounding="exact")
COMMAND = ("sota", "--maximum", "0.9116", "--n-test", "13840", "--classifiers", "3558", "--json")


def best_time(repeats: int = 10) -> float:
    """Seconds of the fastest in-process call with 4,000 draws."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        sota_posterior(PAPER, draws=4000, random_seed=1)
        times.append(time.perf_counter() - start)
    return min(times)


def doubling(board: Leaderboard, draws: int = 200_000) -> dict[str, float]:
    """Change of mean and sd of theta_sota under grids twice as dense, in sd; with its noise."""
    coarse, fine = (
        sota_posterior(board, draws=draws, random_seed=1, refinement=r).draws["theta_sota"]
        for r in (1.0, 2.0)
    )
    sd = fine.std()
    return {
        "mean_change_in_sd": float((coarse.mean() - fine.mean()) / sd),
        "sd_ratio": float(coarse.std() / sd),
        "standard_error_of_the_change": float(np.sqrt(2 / draws)),
    }


def rejection(board: Leaderboard, boards: int = 600_000) -> tuple[np.ndarray, float]:
    """theta_sota of simulated boards with the observed maximum, and the seconds it took."""
    rng, priors, kept = np.random.default_rng(0), Priors(), []
    n, m, theta0 = board.n_test, int(board.typical_tries), board.maximum
    start = time.perf_counter()
    for _ in range(boards // 20_000):
        location, spread = priors.skill.draw(rng, 20_000)
        rho = priors.correlation.quantile(rng.random(20_000))[:, None]
        field = priors.skill.distribution(location[:, None], spread[:, None])
        skills = field.skill(field.isf(rng.random((20_000, m))))
        a, b = conditional_probabilities(skills, rho, theta0)
        k = rng.binomial(n, theta0, 20_000)[:, None]
        best = (rng.binomial(k, a) + rng.binomial(n - k, b)).max(axis=1)
        kept.append(skills.max(axis=1)[(best >= board.counts[0]) & (best <= board.counts[1])])
    return np.concatenate(kept), time.perf_counter() - start


def command() -> tuple[float, float]:
    """Seconds and peak resident megabytes of the whole command."""
    code = f"from bayes_sota.cli import main; main({list(COMMAND)})"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    seconds = time.perf_counter() - start
    return seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    command()  # bytecode
    seconds, megabytes = command()
    sota_posterior(PAPER, draws=4000, random_seed=1)
    exact = best_time()
    kept, spent = rejection(SMALL)
    small = sota_posterior(SMALL, draws=200_000, random_seed=1).draws["theta_sota"]
    figures = {
        "in_process_seconds": exact,
        "doubling_13840": doubling(PAPER),
        "doubling_200": doubling(SMALL),
        "small_n_mean_error_in_sd": float((small.mean() - kept.mean()) / kept.std()),
        "small_n_standard_error": float(1 / np.sqrt(kept.size)),
        "small_n_sd_ratio": float(small.std() / kept.std()),
        "rejection_seconds_per_4000_draws": spent * 4000 / kept.size,
        "command_seconds": seconds,
        "command_megabytes": megabytes,
    }
    for name, value in figures.items():
        print(f"{name:<40} {value}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
