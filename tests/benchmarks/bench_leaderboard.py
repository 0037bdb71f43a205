"""A whole leaderboard: exact route, NUTS, and the model that a user would write. Prints JSON too.

Run with ``BAYES_SOTA_DATA=... PYTHONPATH=tests uv run python
tests/benchmarks/bench_leaderboard.py``; it reads the private leaderboard of Kaggle's
playground-series-s4e2 (11,072 test items). NUTS is timed in a fresh process with an empty
compilation cache, then again in the same process. The alternative is the textbook model in PyMC:
one variable per skill, logit-normal field, a shared shift, binomial counts; it runs for a few draws
and is extrapolated to as many as NUTS has here.
"""

import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from timing import fastest, printed, report

from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.boards import read_leaderboard
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.posterior import board_posterior

FILE = Path("kaggle") / "playground-series-s4e2__private.csv"
N_TEST, CHAINS, DRAWS, TUNE = 11_072, 4, 500, 500
FEW = 100  # draws and tuning steps of the textbook model, two chains


def obesity_board() -> Leaderboard:
    """The real board."""
    folder = Path(os.environ["BAYES_SOTA_DATA"])
    return read_leaderboard(folder / FILE, n_test=N_TEST, rounding="floor")


def exact_figures() -> dict[str, float]:
    """Seconds over all families with 4,000 draws, what it says, and growth with the entries."""
    board, rng = obesity_board(), np.random.default_rng(0)
    theta = board_posterior(board, random_seed=0).draws["theta_sota"]
    figures = {
        "exact_seconds": fastest(lambda: board_posterior(board, random_seed=0), 5),
        "exact_theta_sota_mean": float(theta.mean()),
        "exact_theta_sota_sd": float(theta.std()),
    }
    for m in (1_000, 10_000, 100_000):
        skill = 1 / (1 + np.exp(-(2.3 - rng.exponential(0.25, m))))
        many = Leaderboard(rng.binomial(N_TEST, skill) / N_TEST, n_test=N_TEST, rounding="exact")
        call = lambda many=many: board_posterior(many, random_seed=1)  # noqa: E731
        figures[f"exact_seconds_m_{m}"] = fastest(call, 1)
    return figures


def nuts() -> dict[str, float]:
    """In this process: first call, second call, convergence, memory."""
    from calibration.sampled_boards import sample_board

    board, figures = obesity_board(), {}
    settings = {"draws": DRAWS, "tune": TUNE, "chains": CHAINS, "cores": 2, "random_seed": 1}
    for family, priors in (
        ("ex-gaussian", BoardPriors(families=("ex-gaussian",))),
        ("auto", BoardPriors()),
    ):
        for state in ("first", "warm"):
            start, cpu = time.perf_counter(), time.process_time()
            result = sample_board(board, priors, **settings)
            figures[f"nuts_{family}_{state}_seconds"] = time.perf_counter() - start
            figures[f"nuts_{family}_{state}_cpu_seconds"] = time.process_time() - cpu
        theta = result["posterior"]["theta_sota"].values
        found = {k: result.attrs[k] for k in ("r_hat", "ess_bulk", "divergences")}
        found |= {"theta_sota_mean": float(theta.mean()), "theta_sota_sd": float(theta.std())}
        found |= {"theta_sota_ess": _ess(theta), "theta_sota_r_hat": _r_hat(theta)}
        figures |= {f"nuts_{family}_{name}": value for name, value in found.items()}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures | {"nuts_peak_megabytes": peak}


def textbook() -> dict[str, float]:
    """The model that a user would write, for a few draws."""
    import pymc as pm

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
        spent = time.perf_counter() - start
    values = {name: trace["posterior"][name].values
              for name in ("location", "spread", "shift", "theta_sota")}  # fmt: skip
    return {
        "textbook_seconds_of_few_draws": spent,
        "textbook_extrapolated_seconds": spent * CHAINS * (DRAWS + TUNE) / (2 * 2 * FEW),
        "textbook_r_hat": max(map(_r_hat, values.values())),
        "textbook_theta_sota_ess": _ess(values["theta_sota"]),
        "textbook_divergences": int(trace["sample_stats"]["diverging"].sum()),
    }


def _ess(values: np.ndarray) -> float:
    from arviz_stats.base import array_stats

    return float(array_stats.ess(values, chain_axis=0, draw_axis=1))


def _r_hat(values: np.ndarray) -> float:
    from arviz_stats.base import array_stats

    return float(array_stats.rhat(values, chain_axis=0, draw_axis=1))


def in_fresh_process(part: str) -> dict[str, float]:
    """Figures of one part, with an empty compilation cache; ``_seconds`` include the imports."""
    with tempfile.TemporaryDirectory() as cache:
        start = time.perf_counter()
        found = printed(__file__, part, PYTENSOR_FLAGS=f"base_compiledir={cache}")
        return json.loads(found) | {f"{part}_process_seconds": time.perf_counter() - start}


if __name__ == "__main__":
    if sys.argv[1:]:
        print(json.dumps({"nuts": nuts, "textbook": textbook}[sys.argv[1]]()))
    else:
        found = exact_figures() | in_fresh_process("nuts") | in_fresh_process("textbook")
        whole = found["textbook_extrapolated_seconds"]
        found["ratio_textbook_to_nuts"] = whole / found["nuts_auto_warm_seconds"]
        report(found | {"ratio_textbook_to_exact": whole / found["exact_seconds"]})
