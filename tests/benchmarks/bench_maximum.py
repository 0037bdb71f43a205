"""A maximum alone against simulation: ``bench_maximum.py [law] [posterior] [abc] [start]``.

- *law*: the exact law of row 4 of Table 1. The alternatives are what a user would do instead:
  simulate it with NumPy binomials, and with Bernoulli items as the paper does; both are measured on
  a fraction of the paper's 1,000 x 100,000 repetitions.
- *posterior*: time, grid doubling, the whole command. The alternative is rejection: whole boards
  simulated from the prior, kept where their maximum is the observed one.
- *abc*: ABC/SMC against the exact route in six settings and five seeds.
- *start*: import, and the quick command.
"""

import sys
import time

import numpy as np
from timing import fastest, printed, report, run

from bayes_sota.core.priors import LogitNormalSkill, MaximumPriors
from bayes_sota.core.skills import Uniform
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.law import maximum_law
from bayes_sota.maximum.posterior import sota_posterior

N_TEST, CLASSIFIERS, RHO, THETA0 = 3000, 1000, 0.6, 0.9
HIGH = 0.9 + 0.025 / (CLASSIFIERS + 1)
ROW_4 = {
    "n_test": N_TEST,
    "n_classifiers": CLASSIFIERS,
    "skill": Uniform(HIGH - 0.025, HIGH),
    "correlation": RHO,
}
LARGE = (
    "from bayes_sota.core.skills import Uniform; from bayes_sota.maximum.law import maximum_law\n"
    "import resource, time; t = time.perf_counter(); maximum_law(n_test=1_000_000, "
    "n_classifiers=100_000, skill={skill}, correlation=0.6); print(time.perf_counter() - t, "
    "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)
PAPER = Leaderboard.from_maximum("0.9116", n_test=13_840, n_classifiers=3_558)
SMALL = Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50, rounding="exact")
COMMAND = ("sota", "--maximum", "0.9116", "--n-test", "13840", "--classifiers", "3558")
NEARLY_EQUAL = MaximumPriors(skill=LogitNormalSkill(spread=0.0111))  # sd .001 of accuracy at .90
SETTINGS = (
    (200, 50, "0.98", "exact", MaximumPriors()),
    (1000, 300, "0.85", "exact", MaximumPriors()),
    (5000, 1000, "0.70", "exact", MaximumPriors()),
    (11_072, 3558, "0.91157", "floor", MaximumPriors()),
    (100_000, 2000, "0.95", "exact", MaximumPriors()),
    (3000, 1000, "0.917", "exact", NEARLY_EQUAL),
)
IMPORT = "import time; t = time.perf_counter(); import bayes_sota; print(time.perf_counter() - t)"


def law() -> dict[str, float]:
    """Seconds of the law, ratios to both simulations of 100,000 repetitions, error of the cdf."""
    from independent_table1 import table1_row4  # beside this script

    rng = np.random.default_rng(0)
    skills = rng.uniform(HIGH - 0.025, HIGH, CLASSIFIERS)
    a, b = conditional_probabilities(skills, RHO, THETA0)

    def binomials() -> None:
        k = rng.binomial(N_TEST, THETA0)
        (rng.binomial(k, a) + rng.binomial(N_TEST - k, b)).max()

    def items() -> None:
        reference = rng.random(N_TEST) < THETA0
        right = rng.random((CLASSIFIERS, N_TEST)) < np.where(reference, a[:, None], b[:, None])
        right.sum(axis=1).max()

    exact = fastest(lambda: maximum_law(**ROW_4), 20)
    counts = np.array([2700, 2720, 2730, 2740, 2752])
    error = np.abs(maximum_law(**ROW_4, reference_skill=THETA0).cdf(counts) - table1_row4(counts))
    figures = {
        "row_4_milliseconds": exact * 1e3,
        "row_4_cdf_error": float(error.max()),
        "ratio_to_binomial_simulation": fastest(binomials, 300) * 100_000 / exact,
        "ratio_to_bernoulli_simulation": fastest(items) * 100_000 / exact,
    }
    for name, skill in (("identical", "0.9"), ("uniform", "Uniform(0.875, 0.9)")):
        seconds, memory = map(float, printed(LARGE.format(skill=skill)).split())
        figures |= {f"large_{name}_seconds": seconds, f"large_{name}_megabytes": memory}
    return figures


def doubling(board: Leaderboard, draws: int = 200_000) -> tuple[float, float]:
    """Change of the mean of theta_sota under grids twice as dense, in sd, and ratio of the sd."""
    coarse, fine = (
        sota_posterior(board, draws=draws, random_seed=1, refinement=r).draws["theta_sota"]
        for r in (1.0, 2.0)
    )
    return float((coarse.mean() - fine.mean()) / fine.std()), float(coarse.std() / fine.std())


def rejection(board: Leaderboard, boards: int = 600_000) -> np.ndarray:
    """theta_sota of simulated boards with the observed maximum."""
    rng, priors, kept = np.random.default_rng(0), MaximumPriors(), []
    n, m, theta0 = board.n_test, int(board.typical_tries), board.maximum
    for _ in range(boards // 20_000):
        location, spread = priors.skill.draw(rng, 20_000)
        rho = priors.correlation.quantile(rng.random(20_000))[:, None]
        field = priors.skill.distribution(location[:, None], spread[:, None])
        skills = field.skill(field.isf(rng.random((20_000, m))))
        a, b = conditional_probabilities(skills, rho, theta0)
        k = rng.binomial(n, theta0, 20_000)[:, None]
        best = (rng.binomial(k, a) + rng.binomial(n - k, b)).max(axis=1)
        kept.append(skills.max(axis=1)[(best >= board.counts[0]) & (best <= board.counts[1])])
    return np.concatenate(kept)


def posterior() -> dict[str, float]:
    """Time of the exact route and of the command, its grids, and rejection beside it."""
    run(*COMMAND)  # bytecode
    seconds, _, megabytes = run(*COMMAND)
    start = time.perf_counter()
    kept = rejection(SMALL)
    spent = time.perf_counter() - start
    small = sota_posterior(SMALL, draws=200_000, random_seed=1).draws["theta_sota"]
    return {
        "in_process_seconds": fastest(lambda: sota_posterior(PAPER, draws=4000), 10),
        **dict(zip(("doubling_13840_mean", "doubling_13840_sd"), doubling(PAPER), strict=True)),
        **dict(zip(("doubling_200_mean", "doubling_200_sd"), doubling(SMALL), strict=True)),
        "small_n_mean_error_in_sd": float((small.mean() - kept.mean()) / kept.std()),
        "small_n_standard_error": float(1 / np.sqrt(kept.size)),
        "small_n_sd_ratio": float(small.std() / kept.std()),
        "rejection_seconds_per_4000_draws": spent * 4000 / kept.size,
        "command_seconds": seconds,
        "command_megabytes": megabytes,
    }


def abc() -> dict[str, str]:
    """Seconds, ESS, r_hat, epsilon, error of the mean in sd and ratio of sds in each setting."""
    import arviz as az

    from bayes_sota.maximum.sample import sample_abc

    figures = {}
    sample_abc([SMALL], MaximumPriors(), draws=50, chains=1)  # compilation, cached from here on
    for n, m, maximum, rounding, priors in SETTINGS:
        board = Leaderboard.from_maximum(maximum, n_test=n, n_classifiers=m, rounding=rounding)
        exact = sota_posterior(board, priors, draws=200_000, random_seed=0).draws["theta_sota"]
        rows = []
        for seed in range(1, 6):
            start = time.perf_counter()
            tree = sample_abc([board], priors, draws=1000, chains=4, random_seed=seed)
            seconds, theta = time.perf_counter() - start, tree["posterior"]["theta_sota"].values
            error, ratio = (theta.mean() - exact.mean()) / exact.std(), theta.std() / exact.std()
            kept = (float(az.ess(theta)), float(az.rhat(theta)), tree.attrs["epsilon"])
            rows.append((seconds, *kept, error, ratio))
        figures[f"{n}, {m}, {maximum}"] = " ".join(f"{x:.4g}" for x in np.mean(rows, axis=0))
    return figures


def start() -> dict[str, float]:
    """Seconds of the import, of Python alone, and of a quick command."""
    quick = ("maximum", "--n-test", "3000", "--classifiers", "1000", "--theta", "0.9")
    return {
        "import_seconds": min(float(printed(IMPORT)) for _ in range(7)),
        "python_alone_seconds": fastest(lambda: printed("pass"), 7),
        "maximum_command_seconds": min(run(*quick)[0] for _ in range(7)),
    }


PARTS = {"law": law, "posterior": posterior, "abc": abc, "start": start}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        report(PARTS[part]())
