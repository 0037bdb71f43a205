"""A whole leaderboard: exact route, NUTS, and the model that a user would write. Prints JSON too.

Run with ``BAYES_SOTA_DATA=... uv run python tests/benchmarks/bench_leaderboard.py``; it reads the
private leaderboard of Kaggle's playground-series-s4e2 (11,072 test items). NUTS is timed in a
fresh process with an empty compilation cache, then again in the same process. The alternative is
the textbook model in PyMC: one variable per skill, logit-normal field, a shared shift, binomial
counts; it runs for a few draws and is extrapolated to as many as NUTS has here.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import fastest, report

from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.read_boards import read_leaderboard
from bayes_sota.leaderboard.posterior import leaderboard_posterior

FILE = Path("kaggle") / "playground-series-s4e2__private.csv"
N_TEST = 11_072
CHAINS, DRAWS, TUNE = 4, 500, 500
FEW = 100  # draws and tuning steps of the textbook model, two chains


def obesity_board() -> Leaderboard:
    """The real board."""
    directory = os.environ.get("BAYES_SOTA_DATA")
    if not directory:
        sys.exit("BAYES_SOTA_DATA is not set: it names the directory of the real leaderboards")
    return read_leaderboard(Path(directory) / FILE, n_test=N_TEST, rounding="floor")


def exact_figures(repeats: int = 5) -> dict[str, float]:
    """Seconds of the fastest call over all families with 4,000 draws, and what it says."""
    board = obesity_board()
    result = leaderboard_posterior(board, random_seed=0)
    return {
        "exact_seconds": fastest(lambda: leaderboard_posterior(board, random_seed=0), repeats),
        "exact_theta_sota_mean": float(result.draws["theta_sota"].mean()),
        "exact_theta_sota_sd": float(result.draws["theta_sota"].std()),
    }


def growth() -> dict[str, float]:
    """Seconds of the exact route for simulated boards of more and more entries."""
    rng, figures = np.random.default_rng(0), {}
    for m in (1_000, 10_000, 100_000):
        skill = 1 / (1 + np.exp(-(2.3 - rng.exponential(0.25, m))))
        board = Leaderboard(rng.binomial(N_TEST, skill) / N_TEST, n_test=N_TEST, rounding="exact")
        start = time.perf_counter()
        leaderboard_posterior(board, random_seed=1)
        figures[f"exact_seconds_m_{m}"] = time.perf_counter() - start
    return figures


def nuts_figures() -> dict[str, float]:
    """In this process: first call, second call, convergence, memory."""
    from bayes_sota.core.priors import BoardPriors
    from bayes_sota.leaderboard.sample import sample_board_nuts

    board, figures = obesity_board(), {}
    for family in ("ex-gaussian", "auto"):
        for state in ("first", "warm"):
            start, cpu = time.perf_counter(), time.process_time()
            priors = BoardPriors() if family == "auto" else BoardPriors(families=(family,))
            result = sample_board_nuts(
                board, priors, draws=DRAWS, tune=TUNE, chains=CHAINS, cores=2, random_seed=1
            )
            name = f"nuts_{family}_{state}"
            figures[f"{name}_seconds"] = time.perf_counter() - start
            figures[f"{name}_cpu_seconds"] = time.process_time() - cpu
        name = f"nuts_{family}"
        figures |= {f"{name}_{k}": result.attrs[k] for k in ("r_hat", "ess_bulk", "divergences")}
        theta = result["posterior"]["theta_sota"].values
        figures[f"{name}_theta_sota_mean"] = float(theta.mean())
        figures[f"{name}_theta_sota_sd"] = float(theta.std())
        figures[f"{name}_theta_sota_ess"] = _ess(theta)
        figures[f"{name}_theta_sota_r_hat"] = _r_hat(theta)
        print(result.attrs["families"], file=sys.stderr)
    return figures | {"nuts_peak_megabytes": _peak()}


def textbook_figures() -> dict[str, float]:
    """The model that a user would write, for a few draws."""
    import pymc as pm
    from arviz_stats.base import array_stats

    board = obesity_board()
    counts = np.rint(board.count_bounds.mean(axis=1))
    with pm.Model():
        location, spread = pm.Normal("location", 1.5, 1.5), pm.HalfNormal("spread", 1.0)
        shift = pm.Normal("shift")
        skill = pm.Normal("skill", location, spread, shape=counts.size)
        error = 0.8 * pm.math.sqrt(board.maximum * (1 - board.maximum) / N_TEST)
        p = pm.math.clip(pm.math.sigmoid(skill) + error * shift, 1e-6, 1 - 1e-6)
        pm.Binomial("count", N_TEST, p, observed=counts)
        pm.Deterministic("theta_sota", pm.math.sigmoid(pm.math.max(skill)))
        start = time.perf_counter()
        trace = pm.sample(
            FEW, tune=FEW, chains=2, cores=2, nuts_sampler="nutpie", random_seed=1,
            progressbar=False, compute_convergence_checks=False, quiet=True,
        )  # fmt: skip
        seconds = time.perf_counter() - start
    names = ("location", "spread", "shift", "theta_sota")
    values = np.stack([trace["posterior"][name].values for name in names], axis=-1)
    return {
        "textbook_seconds_of_few_draws": seconds,
        "textbook_extrapolated_seconds": seconds * CHAINS * (DRAWS + TUNE) / (2 * 2 * FEW),
        "textbook_r_hat": float(array_stats.rhat(values, chain_axis=0, draw_axis=1).max()),
        "textbook_theta_sota_ess": _ess(values[..., -1]),
        "textbook_divergences": int(trace["sample_stats"]["diverging"].sum()),
    }


def _ess(values: np.ndarray) -> float:
    from arviz_stats.base import array_stats

    return float(array_stats.ess(values, chain_axis=0, draw_axis=1))


def _r_hat(values: np.ndarray) -> float:
    from arviz_stats.base import array_stats

    return float(array_stats.rhat(values, chain_axis=0, draw_axis=1))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_fresh_process(part: str) -> dict[str, float]:
    """Figures of one part, with an empty compilation cache; ``_seconds`` include the imports."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "PYTENSOR_FLAGS": f"base_compiledir={cache}"}
        start = time.perf_counter()
        done = subprocess.run(
            [sys.executable, __file__, part],
            env=environment, stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        return json.loads(done.stdout) | {f"{part}_process_seconds": time.perf_counter() - start}


def main() -> None:
    """Measure and print."""
    parts = {"nuts": nuts_figures, "textbook": textbook_figures}
    if len(sys.argv) > 1:
        print(json.dumps(parts[sys.argv[1]]()))
        return
    figures = exact_figures() | growth()
    for part in parts:
        figures |= in_fresh_process(part)
    warm = figures["nuts_auto_warm_seconds"]
    figures["ratio_textbook_to_nuts"] = figures["textbook_extrapolated_seconds"] / warm
    figures["ratio_textbook_to_exact"] = (
        figures["textbook_extrapolated_seconds"] / figures["exact_seconds"]
    )
    report(figures)


if __name__ == "__main__":
    main()
