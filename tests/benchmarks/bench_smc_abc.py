"""ABC/SMC against the exact route in six settings and five seeds. Prints a table and JSON.

Run with ``uv run python tests/benchmarks/bench_smc_abc.py [--seeds 5] [--settings 0 3]``.
"""

import argparse
import json
import time

import arviz as az
import numpy as np

from bayes_sota.core.priors import LogitNormalSkill, Priors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.sample import sample_abc

NEARLY_EQUAL = Priors(skill=LogitNormalSkill(spread=0.0111))  # sd .001 of accuracy at .90
SETTINGS = (
    (200, 50, "0.98", "exact", Priors()),
    (1000, 300, "0.85", "exact", Priors()),
    (5000, 1000, "0.70", "exact", Priors()),
    (11_072, 3558, "0.91157", "floor", Priors()),
    (100_000, 2000, "0.95", "exact", Priors()),
    (3000, 1000, "0.917", "exact", NEARLY_EQUAL),
)


def compare(index: int, seeds: int) -> dict[str, float]:
    """Averages over seeds for one setting."""
    n, m, maximum, rounding, priors = SETTINGS[index]
    board = Leaderboard.from_maximum(maximum, n_test=n, n_classifiers=m, rounding=rounding)
    exact = sota_posterior(board, priors, draws=200_000, random_seed=0).draws["theta_sota"]
    runs = []
    for seed in range(1, seeds + 1):
        start = time.perf_counter()
        tree = sample_abc((board,), priors, draws=1000, chains=4, random_seed=seed)
        seconds = time.perf_counter() - start
        theta = tree["posterior"]["theta_sota"].values
        runs.append(
            (
                seconds,
                float(az.ess(theta)),
                float(az.rhat(theta)),
                tree.attrs["epsilon"],
                (theta.mean() - exact.mean()) / exact.std(),
                theta.std() / exact.std(),
            )
        )
    table = np.array(runs)
    return {
        "n_test": n,
        "n_classifiers": m,
        "maximum": float(maximum),
        "seconds_max": table[:, 0].max(),
        "ess_min": table[:, 1].min(),
        "r_hat_max": table[:, 2].max(),
        "epsilon": table[:, 3].mean(),
        "mean_error_in_sd": table[:, 4].mean(),
        "sd_ratio": table[:, 5].mean(),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--settings", type=int, nargs="*", default=range(len(SETTINGS)))
    arguments = parser.parse_args()
    rows = []
    for index in arguments.settings:
        rows.append(compare(index, arguments.seeds))
        print("  ".join(f"{k} {v:.4g}" for k, v in rows[-1].items()), flush=True)
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
