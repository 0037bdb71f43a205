"""Exact law of the maximum against simulation: time, memory, error. Prints a table and JSON.

Run with ``uv run python tests/benchmarks/bench_maximum.py``. The alternatives are what a user
would do instead: simulate row 4 of Table 1 with NumPy binomials, and with Bernoulli items as the
paper does; both are measured on a fraction of the paper's 1,000 x 100,000 repetitions.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from bayes_sota.core.skills import Uniform
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.law import maximum_law

N_TEST, CLASSIFIERS, RHO, THETA0 = 3000, 1000, 0.6, 0.9
REPETITIONS = 1000 * 100_000
HIGH = 0.9 + 0.025 / (CLASSIFIERS + 1)
ROW_4 = {
    "n_test": N_TEST,
    "n_classifiers": CLASSIFIERS,
    "skill": Uniform(HIGH - 0.025, HIGH),
    "correlation": RHO,
}
LARGE = (
    "from bayes_sota.maximum.law import maximum_law; import resource, time; {imports}t = "
    "time.perf_counter(); law = maximum_law(n_test=1_000_000, n_classifiers=100_000, "
    "skill={skill}, correlation=0.6); print(time.perf_counter() - t, "
    "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)


def best_time(repeats: int = 20) -> float:
    """Seconds of the fastest in-process call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        maximum_law(**ROW_4)
        times.append(time.perf_counter() - start)
    return min(times)


def binomial_seconds(repetitions: int = 300) -> float:
    """Seconds per repetition with NumPy binomials, one field of skills for all of them."""
    rng = np.random.default_rng(0)
    skills = rng.uniform(HIGH - 0.025, HIGH, CLASSIFIERS)
    a, b = conditional_probabilities(skills, RHO, THETA0)
    start = time.perf_counter()
    for _ in range(repetitions):
        k = rng.binomial(N_TEST, THETA0)
        (rng.binomial(k, a) + rng.binomial(N_TEST - k, b)).max()
    return (time.perf_counter() - start) / repetitions


def bernoulli_seconds(repetitions: int = 3) -> float:
    """Seconds per repetition with one Bernoulli variable per classifier and item."""
    rng = np.random.default_rng(0)
    skills = rng.uniform(HIGH - 0.025, HIGH, CLASSIFIERS)
    a, b = conditional_probabilities(skills, RHO, THETA0)
    start = time.perf_counter()
    for _ in range(repetitions):
        reference = rng.random(N_TEST) < THETA0
        right = rng.random((CLASSIFIERS, N_TEST)) < np.where(reference, a[:, None], b[:, None])
        right.sum(axis=1).max()
    return (time.perf_counter() - start) / repetitions


def cdf_error() -> float:
    """Largest difference from direct summation in extended precision at five counts."""
    from independent_table1 import table1_row4  # beside this script

    counts = np.array([2700, 2720, 2730, 2740, 2752])
    ours = maximum_law(**ROW_4, reference_skill=THETA0).cdf(counts)
    return float(np.abs(ours - table1_row4(counts)).max())


def large_case(skill: str, imports: str = "") -> tuple[float, float]:
    """Seconds and peak resident megabytes of n = 1,000,000 and m = 100,000 in a fresh process."""
    code = LARGE.format(skill=skill, imports=imports)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def main() -> None:
    """Measure and print."""
    maximum_law(**ROW_4)
    exact = best_time()
    binomial, bernoulli = binomial_seconds(), bernoulli_seconds()
    identical = large_case("0.9")
    uniform = large_case("Uniform(0.875, 0.9)", "from bayes_sota.core.skills import Uniform; ")
    figures = {
        "row_4_milliseconds": exact * 1e3,
        "row_4_cdf_error": cdf_error(),
        "binomial_simulation_extrapolated_seconds": binomial * REPETITIONS,
        "ratio_to_binomial_simulation": binomial * REPETITIONS / exact,
        "bernoulli_simulation_extrapolated_seconds": bernoulli * REPETITIONS,
        "ratio_to_bernoulli_simulation": bernoulli * REPETITIONS / exact,
        "ratio_to_bernoulli_simulation_of_100000": bernoulli * 100_000 / exact,
        "ratio_to_binomial_simulation_of_100000": binomial * 100_000 / exact,
        "large_identical_seconds": identical[0],
        "large_identical_megabytes": identical[1],
        "large_uniform_seconds": uniform[0],
        "large_uniform_megabytes": uniform[1],
        "peak_megabytes_here": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    for name, value in figures.items():
        print(f"{name:<45} {value:,.4g}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
