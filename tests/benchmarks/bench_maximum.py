"""A maximum alone against simulation: ``bench_maximum.py [PART ...]``.

- *law*: the exact law of row 4 of Table 1. The alternatives are what a user would do instead:
  simulate it with NumPy binomials, and with Bernoulli items as the paper does; both are measured on
  a fraction of the paper's 1,000 x 100,000 repetitions.
- *auc*: the best of 1,000 AUCs. The alternative is what the paper does in Sec. 5.2.2: 10,000
  repetitions of 1,000 classifiers on 51 + 2,949 simulated scores.
- *shrinking*, with ``BAYES_SOTA_DATA``: against one expected maximum by 1,000 simulated boards at
  each of ten weights.
- *posterior*: time, grid doubling, the whole command. The alternative is rejection: whole boards
  simulated from the prior, kept where their maximum is the observed one.
- *auc_posteriors*: from the maximum, 3,000 AUCs, and the scores of 3,000 items by 60 classifiers.
- *abc*: ABC/SMC against the exact route in six settings and five seeds.
- *epsilons*: ABC/SMC at several epsilons, against the exact route.
- *start*: import, and the quick command.
"""

import os
import time
from functools import partial
from pathlib import Path

import numpy as np
from independent_table1 import table1_row4  # beside this script
from scipy.special import ndtri
from timing import fastest, printed, report_parts, run, seconds

from bayes_sota.auc.laws import auc_maximum_law
from bayes_sota.core.priors import LogitNormalSkill, MaximumPriors
from bayes_sota.core.skills import Uniform
from bayes_sota.data.boards import read_leaderboard
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum import likelihood as module
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.law import maximum_law
from bayes_sota.maximum.posterior import sota_posterior
from bayes_sota.maximum.shrinkage import shrink_aucs, shrink_scores

N_TEST, CLASSIFIERS, RHO, THETA0, FEW = 3000, 1000, 0.6, 0.9, 5
HIGH = 0.9 + 0.025 / (CLASSIFIERS + 1)
ROW_4 = {"n_test": N_TEST, "n_classifiers": CLASSIFIERS, "skill": Uniform(HIGH - 0.025, HIGH),
         "correlation": RHO}  # fmt: skip
LARGE = (
    "from bayes_sota.core.skills import Uniform; from bayes_sota.maximum.law import maximum_law\n"
    "import resource, time; t = time.perf_counter(); maximum_law(n_test=1_000_000, "
    "n_classifiers=100_000, skill={skill}, correlation=0.6); print(time.perf_counter() - t, "
    "resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
)
IMPORT = "import time; t = time.perf_counter(); import bayes_sota; print(time.perf_counter() - t)"
AUCS = 0.6 + 0.349 * np.random.default_rng(0).beta(6, 2, 3000)
PAPER = BestScore("0.9116", n_test=13_840, n_classifiers=3_558)
SMALL = BestScore("0.98", n_test=200, n_classifiers=50, rounding="exact")
COMMAND = ("sota", "--maximum", "0.9116", "--n-test", "13840", "--classifiers", "3558")
QUICK = ("maximum", "--n-test", "3000", "--classifiers", "1000", "--theta", "0.9")
NEARLY_EQUAL = MaximumPriors(skill=LogitNormalSkill(spread=0.0111))  # sd .001 of accuracy at .90
SETTINGS = (
    (200, 50, "0.98", "exact", MaximumPriors()),
    (1000, 300, "0.85", "exact", MaximumPriors()),
    (5000, 1000, "0.70", "exact", MaximumPriors()),
    (11_072, 3558, "0.91157", "floor", MaximumPriors()),
    (100_000, 2000, "0.95", "exact", MaximumPriors()),
    (3000, 1000, "0.917", "exact", NEARLY_EQUAL),
)


def simulated_scores(
    rng: np.random.Generator, skills: np.ndarray, rho: float, n: int, theta0: float
) -> np.ndarray:
    """Accuracies of one simulated board."""
    a, b = conditional_probabilities(skills, rho, theta0)
    k = rng.binomial(n, theta0)
    return (rng.binomial(k, a) + rng.binomial(n - k, b)) / n


def law() -> dict[str, float]:
    """Seconds of the law, ratios to both simulations of 100,000 repetitions, error of the cdf."""
    rng = np.random.default_rng(0)
    skills = rng.uniform(HIGH - 0.025, HIGH, CLASSIFIERS)
    a, b = conditional_probabilities(skills, RHO, THETA0)

    def items() -> None:
        reference = rng.random(N_TEST) < THETA0
        right = rng.random((CLASSIFIERS, N_TEST)) < np.where(reference, a[:, None], b[:, None])
        right.sum(axis=1).max()

    exact = fastest(lambda: maximum_law(**ROW_4), 20)
    once = fastest(lambda: simulated_scores(rng, skills, RHO, N_TEST, THETA0).max(), 300)
    counts = np.array([2700, 2720, 2730, 2740, 2752])
    error = np.abs(maximum_law(**ROW_4, reference_skill=THETA0).cdf(counts) - table1_row4(counts))
    figures = {
        "row_4_milliseconds": exact * 1e3,
        "row_4_cdf_error": float(error.max()),
        "ratio_to_binomial_simulation": once * 100_000 / exact,
        "ratio_to_bernoulli_simulation": fastest(items) * 100_000 / exact,
    }
    for name, skill in (("identical", "0.9"), ("uniform", "Uniform(0.875, 0.9)")):
        spent, memory = map(float, printed("-c", LARGE.format(skill=skill)).split())
        figures |= {f"large_{name}_seconds": spent, f"large_{name}_megabytes": memory}
    return figures


def auc() -> dict[str, float]:
    """Expected best of 1,000 AUCs, seconds of laws and of shrinking, and ratio to simulation."""
    rng, mu = np.random.default_rng(0), ndtri(0.9) * np.sqrt(2)
    best = partial(auc_maximum_law, 0.9, n_positive=51, n_negative=2949, n_classifiers=1000)
    sizes = {"n_positive": 131, "n_negative": 7556}
    some = partial(auc_maximum_law, np.sort(AUCS)[-40:], correlation=0.6, **sizes)

    def simulated() -> float:
        positive = mu + rng.standard_normal((1000, 51))
        negative = np.sort(rng.standard_normal((1000, 2949)), axis=1)
        return max(np.searchsorted(n, p).sum() for n, p in zip(negative, positive, strict=True))

    figures = {"auc_expected": best().mean()} | seconds(auc=best)
    figures["auc_simulation_seconds"] = 10_000 * fastest(simulated, FEW)
    figures["auc_ratio"] = figures["auc_simulation_seconds"] / figures["auc_seconds"]
    return figures | seconds(
        1,
        auc_correlated=lambda: best(correlation=0.6),
        auc_40_different=some,
        auc_shrinking=lambda: shrink_aucs(AUCS, **sizes),
        auc_shrinking_correlated=lambda: shrink_aucs(AUCS, correlation=0.6, **sizes),
    )


def shrinking() -> dict[str, float]:
    """Seconds for a real board, and of the simulation."""
    file = Path(os.environ["BAYES_SOTA_DATA"]) / "kaggle" / "playground-series-s4e2__private.csv"
    scores = read_leaderboard(file, metric="score", standard_error=1.0).scores
    given, good = {"n_test": 13_840, "chance": 1 / 7}, scores[scores > 0.8]
    rng, top = np.random.default_rng(0), float(scores.max())
    once = fastest(lambda: simulated_scores(rng, good, RHO, 13_840, top).max(), FEW)
    return {"shrinking_simulation_seconds": 10 * 1000 * once} | seconds(
        shrinking_expected=lambda: shrink_scores(scores, criterion="expected", **given),
        shrinking_upper=lambda: shrink_scores(scores, criterion="upper", **given),
    )


def doubling(board: Leaderboard, draws: int = 200_000) -> tuple[float, float]:
    """Change of the mean of theta_sota under grids twice as dense, in sd, and ratio of the sd."""
    found = []
    for module.DENSITY in (2.0, 1.0):
        found.append(sota_posterior(board, draws=draws, random_seed=1).draws["theta_sota"])
    fine, coarse = found
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
    wall, _, megabytes = run(*COMMAND)
    start = time.perf_counter()
    kept = rejection(SMALL)
    spent = time.perf_counter() - start
    small = sota_posterior(SMALL, draws=200_000, random_seed=1).draws["theta_sota"]
    return {
        **seconds(10, in_process=lambda: sota_posterior(PAPER, draws=4000)),
        **dict(zip(("doubling_13840_mean", "doubling_13840_sd"), doubling(PAPER), strict=True)),
        **dict(zip(("doubling_200_mean", "doubling_200_sd"), doubling(SMALL), strict=True)),
        "small_n_mean_error_in_sd": float((small.mean() - kept.mean()) / kept.std()),
        "small_n_standard_error": float(1 / np.sqrt(kept.size)),
        "small_n_sd_ratio": float(small.std() / kept.std()),
        "rejection_seconds_per_4000_draws": spent * 4000 / kept.size,
        "command_seconds": wall,
        "command_megabytes": megabytes,
    }


def auc_posteriors() -> dict[str, float]:
    """Seconds of three posteriors and of DeLong's covariance."""
    sizes = {"n_test": 7687, "n_positive": 131, "metric": "auc"}
    best = BestScore("0.9490", n_classifiers=3300, **sizes)
    board = Leaderboard(AUCS.round(5), **sizes)
    rng, labels = np.random.default_rng(1), np.arange(3000) < 51
    values = 1.8 * labels[:, None] + rng.standard_normal((3000, 1)) * 0.8
    values = values + 0.6 * rng.standard_normal((3000, 60))
    return seconds(
        auc_posterior_of_maximum=lambda: sota_posterior(best, random_seed=0),
        auc_posterior_of_board=lambda: board_posterior(board, random_seed=0),
        auc_posterior_of_items=lambda: board_posterior(
            Outcomes(values, labels=labels), random_seed=0
        ),
        delong=lambda: Outcomes(values, labels=labels).covariance,
    )


def abc() -> dict[str, str]:
    """Seconds, ESS, r_hat, epsilon, error of the mean in sd and ratio of sds in each setting."""
    import arviz as az

    from bayes_sota.maximum.sample import sample_abc

    figures = {}
    sample_abc([SMALL], MaximumPriors(), draws=50, chains=1)  # compilation, cached from here on
    for n, m, maximum, rounding, priors in SETTINGS:
        board = BestScore(maximum, n_test=n, n_classifiers=m, rounding=rounding)
        exact = sota_posterior(board, priors, draws=200_000, random_seed=0).draws["theta_sota"]
        rows = []
        for seed in range(1, 6):
            start = time.perf_counter()
            tree = sample_abc([board], priors, draws=1000, chains=4, random_seed=seed)
            spent, theta = time.perf_counter() - start, tree["posterior"]["theta_sota"].values
            error, ratio = (theta.mean() - exact.mean()) / exact.std(), theta.std() / exact.std()
            kept = (float(az.ess(theta)), float(az.rhat(theta)), tree.attrs["epsilon"])
            rows.append((spent, *kept, error, ratio))
        figures[f"{n}, {m}, {maximum}"] = " ".join(f"{x:.4g}" for x in np.mean(rows, axis=0))
    return figures


def epsilons(draws: int = 1000) -> dict[str, str]:
    """Epsilon in sd, CPU seconds, errors of mean and sd of theta_sota, and moves."""
    from bayes_sota.maximum import sample

    board = BestScore("0.91157", n_test=11_072, n_classifiers=3_558, rounding="floor")
    exact = sota_posterior(board, MaximumPriors(), draws=200_000, random_seed=0).draws["theta_sota"]
    figures = {}
    for share in (1, 1 / 2, 1 / 4, 1 / 6, 1 / 12, 1 / 50):
        start = time.process_time()
        sample._EPSILON = share
        tree = sample.sample_abc(
            [board], MaximumPriors(), draws=draws, chains=4, cores=1, random_seed=1
        )
        spent, theta = time.process_time() - start, tree["posterior"]["theta_sota"].values
        error, ratio = (theta.mean() - exact.mean()) / exact.std(), theta.std() / exact.std()
        row = (spent, error, ratio, tree.attrs["moves"])
        figures[f"SMC {share:.3g} sd"] = " ".join(f"{x:.4g}" for x in row)
    return figures


def start() -> dict[str, float]:
    """Seconds of the import, of Python alone, and of a quick command."""
    return {
        "import_seconds": min(float(printed("-c", IMPORT)) for _ in range(7)),
        **seconds(7, python_alone=lambda: printed("-c", "pass")),
        **seconds(7, maximum_command=lambda: run(*QUICK)),
    }


if __name__ == "__main__":
    report_parts(law, auc, shrinking, posterior, auc_posteriors, abc, epsilons, start)
