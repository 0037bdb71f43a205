r"""False-claim probabilities: error and time of the closed form and of three ways of sampling.

Run with ``uv run python tests/benchmarks/bench_claims.py`` (about two minutes; the first table
needs one of them). 10,000 draws each, as the originals have it:

- the Monte Carlo of *Claims Reloaded* (after Christodoulou et al. 2025, arXiv 2505.04720), from
  the Dirichlet posterior;
- importance sampling in the manner of the package bayes_evals (Bowyer et al. 2025, arXiv
  2503.01747), its method written anew: both accuracies uniform, mistakes coincide
  through a bivariate normal whose correlation is uniform on (-1, 1), proposals from that prior,
  weights from the 2 x 2 table. Its prior is not the flat Dirichlet, so that its answer is another
  one even with endless draws: "exact" is a quadrature over its own posterior, checked by a finer
  one. Unlike the package it takes exact normal probabilities, and the weighted share itself rather
  than a resampled one, which is kinder to it;
- the same with the flat Dirichlet as prior and proposal: the model of the closed form.

The closed form is held against exact sums of whole numbers.
"""

import json
import os
from fractions import Fraction
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri, owens_t
from scipy.stats import binom
from timing import fastest, printed, run

from bayes_sota.claims.accuracies import CONGRUENCES, false_claim_probability

DRAWS, REPLICATIONS, MANY = 10_000, 40, 1_000_000
SIZES, OTHERS, WITHIN = (100, 500, 2_000, 20_000), (0.88, 0.89), 14.0
Array = NDArray[np.float64]


def whole_sum(x1: int, x2: int) -> Fraction:
    """P(p1 <= p2) as a fraction: binomial tail plus half the point, by whole numbers alone."""
    n = x1 + x2
    # from the shorter side, term by term
    term, tail = comb(n, x1), 0
    half = term
    for k in range(x1 + 1, n + 1):
        term = term * (n - k + 1) // k
        tail += term
    return Fraction(2 * tail + half, 2 ** (n + 1))


def both_right(mu_a: Array, mu_b: Array, rho: Array) -> Array:
    """P(two standard normals of correlation rho lie below mu_a and mu_b), by Owen's T."""
    root = np.sqrt((1 - rho) * (1 + rho))
    owen = owens_t(mu_a, (mu_b - rho * mu_a) / (mu_a * root))
    owen = owen + owens_t(mu_b, (mu_a - rho * mu_b) / (mu_b * root))
    return np.asarray((ndtr(mu_a) + ndtr(mu_b)) / 2 - owen - np.where(mu_a * mu_b < 0, 0.5, 0.0))


def log_likelihood(table: Array, mu_a: Array, mu_b: Array, rho: Array) -> Array:
    """Of a 2 x 2 table (both, A alone, B alone, none), up to a constant."""
    p11, a, b = both_right(mu_a, mu_b, rho), ndtr(mu_a), ndtr(mu_b)
    cells = np.maximum([p11, a - p11, b - p11, 1 - a - b + p11], 1e-300)
    return np.tensordot(table, np.log(cells), 1)


def log_posterior(table: Array, mean: Array, gap: Array, z: Array) -> Array:
    """Of the average and the difference of the normal scores, and of atanh(rho)."""
    mu_a, mu_b, rho = mean + gap / 2, mean - gap / 2, np.tanh(z)
    prior = -(mu_a**2 + mu_b**2) / 2 + np.log1p(-(rho**2))
    return np.asarray(log_likelihood(table, mu_a, mu_b, rho) + prior)


def mode_and_spread(table: Array) -> tuple[Array, Array]:
    """Mode of that posterior, and standard deviations from its curvature."""
    n = table.sum()
    scores = ndtri(np.array([table[0] + table[1], table[0] + table[2]]) / n)
    start = np.array([scores.mean(), scores[0] - scores[1], 0.5])

    def loss(x: Array) -> float:
        return -float(log_posterior(table, *(np.asarray(v) for v in x)))

    options = {"xatol": 1e-7, "fatol": 1e-9, "maxiter": 4000}
    mode = minimize(loss, start, method="Nelder-Mead", options=options).x
    steps = 1e-3 * np.eye(3)
    hessian = np.array(
        [
            [
                loss(mode + i + j) - loss(mode + i - j) - loss(mode - i + j) + loss(mode - i - j)
                for j in steps
            ]
            for i in steps
        ]
    )
    return mode, np.sqrt(np.diag(np.linalg.inv(hessian / 4e-6)))


def normal_model_exact(table: Array, nodes: int = 72, within: float = WITHIN) -> float:
    """P(theta_A <= theta_B) under the bivariate normal's prior, by quadrature in three variables.

    The difference of the scores is cut at 0, so that both sides are smooth.
    """
    mode, sd = mode_and_spread(table)
    x, w = np.polynomial.legendre.leggauss(nodes)

    def side(low: float, high: float) -> tuple[Array, Array]:
        return low + (high - low) * (x + 1) / 2, w * (high - low) / 2

    mean, mean_weight = side(mode[0] - within * sd[0], mode[0] + within * sd[0])
    z, z_weight = side(mode[2] - within * sd[2], mode[2] + within * sd[2])
    below = side(min(mode[1] - within * sd[1], -4 * sd[1]), 0.0)
    above = side(max(0.0, mode[1] - within * sd[1]), mode[1] + within * sd[1])
    logs = [
        log_posterior(table, mean[:, None, None], gap[None, :, None], z[None, None, :])
        for gap, _ in (below, above)
    ]
    most = max(part.max() for part in logs)
    masses = [
        np.einsum("ijk,i,j,k", np.exp(part - most), mean_weight, weight, z_weight)
        for part, (_, weight) in zip(logs, (below, above), strict=True)
    ]
    return float(masses[0] / sum(masses))


def posterior_draws(table: Array, rng: np.random.Generator) -> float:
    """The source's Monte Carlo."""
    both, first, second, none = table
    drawn = rng.dirichlet([first + 1, second + 1, both + none + 2], DRAWS)
    return float(np.mean(drawn[:, 0] <= drawn[:, 1]))


def weighted(log_weight: Array, false: NDArray[np.bool_]) -> tuple[float, float]:
    """Weighted share and effective sample size."""
    weight = np.exp(log_weight - log_weight.max())
    return float(weight @ false / weight.sum()), float(weight.sum() ** 2 / (weight @ weight))


def normal_prior_draws(table: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Importance sampling from the bivariate normal's prior."""
    mu_a, mu_b = rng.standard_normal((2, DRAWS))  # scores of uniform accuracies
    rho = rng.uniform(-1, 1, DRAWS)
    return weighted(log_likelihood(table, mu_a, mu_b, rho), mu_a <= mu_b)


def flat_prior_draws(table: Array, rng: np.random.Generator) -> tuple[float, float]:
    """Importance sampling from the flat Dirichlet."""
    cells = rng.dirichlet(np.ones(4), DRAWS)
    return weighted(np.log(np.maximum(cells, 1e-300)) @ table, cells[:, 1] <= cells[:, 2])


def error_row(n: int, other: float, congruence: str, rng: np.random.Generator) -> dict[str, object]:
    """One claim by every method: error against its own exact answer, and seconds."""
    right_a, right_b = round(0.90 * n), round(other * n)
    p11 = 0.90 * other if congruence == "independent" else other - 0.03
    both = round(p11 * n)
    table = np.array([both, right_a - both, right_b - both, n - right_a - right_b + both], float)
    exact = float(whole_sum(right_a - both, right_b - both))
    given = (right_a / n, right_b / n, n, both / n)
    own, finer = normal_model_exact(table), normal_model_exact(table, 96, WITHIN * 1.25)
    drawn = np.array([posterior_draws(table, rng) for _ in range(REPLICATIONS)])
    normal = np.array([normal_prior_draws(table, rng) for _ in range(REPLICATIONS)])
    flat = np.array([flat_prior_draws(table, rng) for _ in range(REPLICATIONS)])
    return {
        "n": n, "other": other, "congruence": congruence, "table": table.astype(int).tolist(),
        "exact": exact,
        "ours_error": abs(float(false_claim_probability(*given)) - exact),
        "ours_seconds": fastest(lambda: false_claim_probability(*given), 200),
        "monte_carlo_rmse": float(np.sqrt(np.mean((drawn - exact) ** 2))),
        "monte_carlo_seconds": fastest(lambda: posterior_draws(table, rng)),
        "normal_exact": own, "normal_exact_finer_minus": finer - own,
        "normal_rmse": float(np.sqrt(np.mean((normal[:, 0] - own) ** 2))),
        "normal_ess": float(np.median(normal[:, 1])),
        "normal_seconds": fastest(lambda: normal_prior_draws(table, rng)),
        "flat_rmse": float(np.sqrt(np.mean((flat[:, 0] - exact) ** 2))),
        "flat_ess": float(np.median(flat[:, 1])),
        "flat_seconds": fastest(lambda: flat_prior_draws(table, rng)),
    }  # fmt: skip


def print_rows(rows: list[dict[str, object]]) -> None:
    """The table of errors and times, as in docs/claims.md."""
    print(
        "| n | A, B | congruence | exact | ours: error, us | posterior draws: rmse, us "
        "| flat prior, importance: rmse, ESS, us | normal prior, importance: exact, rmse, ESS, us |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for r in rows:
        us = {k: f"{1e6 * float(v):,.0f}" for k, v in r.items() if k.endswith("_seconds")}
        print(
            f"| {r['n']:,} | .90, {r['other']:.2f} | {r['congruence']} | {r['exact']:.3g} "
            f"| {r['ours_error']:.0e}, {us['ours_seconds']} "
            f"| {r['monte_carlo_rmse']:.2g}, {us['monte_carlo_seconds']} "
            f"| {r['flat_rmse']:.2g}, {r['flat_ess']:.1f}, {us['flat_seconds']} "
            f"| {r['normal_exact']:.3g}, {r['normal_rmse']:.2g}, {r['normal_ess']:.1f}, "
            f"{us['normal_seconds']} |"
        )


def mid_p_difference(rng: np.random.Generator) -> float:
    """Largest difference to McNemar's mid-p value from SciPy's binomial, whole counts."""
    n = rng.integers(2, 20_000, 20_000)
    discordant = rng.integers(0, n + 1)
    first = rng.integers((discordant + 1) // 2, discordant + 1)
    both = rng.integers(0, n - discordant + 1)
    given = ((both + first) / n, (both + discordant - first) / n, n, both / n)
    theirs = binom.sf(first, discordant, 0.5) + binom.pmf(first, discordant, 0.5) / 2
    return float(np.max(np.abs(false_claim_probability(*given) - theirs)))


def largest_relative_error(rng: np.random.Generator) -> float:
    """Against sums of whole numbers, tails as small as 1e-200 among them."""
    worst = 0.0
    for _ in range(300):
        discordant = int(rng.integers(1, 2_000))
        first = int(rng.integers((discordant + 1) // 2, discordant + 1))
        n = discordant + int(rng.integers(1, 500))
        exact = whole_sum(first, discordant - first)
        found = false_claim_probability(first / n, (discordant - first) / n, n, 0.0)
        if exact > Fraction(1, 10**200):
            worst = max(worst, abs(float(Fraction(found) / exact - 1)))
    return worst


def million(rng: np.random.Generator) -> dict[str, float]:
    """Seconds for a million claims at n = 500, and for the source's Monte Carlo on them."""
    n = 500
    a = rng.integers(n // 2, n + 1, MANY) / n
    b = np.maximum(a - rng.integers(0, 26, MANY) / n, 0)
    known = np.rint(n * a * b) / n
    congruences = {"known": np.clip(known, a + b - 1, b)} | {name: name for name in CONGRUENCES}
    figures = {
        f"million_{name}_seconds": fastest(lambda p11=p11: false_claim_probability(a, b, n, p11), 2)
        for name, p11 in congruences.items()
    }
    figures["one_unknown_seconds"] = fastest(lambda: false_claim_probability(0.9, 0.88, n), 200)
    figures["million_unknown_seconds"] = fastest(lambda: false_claim_probability(a, b, n), 1)
    tables = np.transpose([n * known, n * (a - known), n * (b - known), n * (1 - a - b + known)])
    some = np.maximum(tables[:1000], 0)
    once = fastest(lambda: [posterior_draws(table, rng) for table in some], 1)
    figures["million_monte_carlo_seconds"] = once * MANY / len(some)
    figures["million_ratio_known"] = once * MANY / len(some) / figures["million_known_seconds"]
    figures["million_ratio_unknown"] = once * MANY / len(some) / figures["million_unknown_seconds"]
    return figures


def command_seconds() -> dict[str, float]:
    """The command from start to end, and Python alone in the same run."""
    given = ("claim", "classification", "--accuracy", "0.90", "0.88", "--n-test", "500")
    return {
        "command_seconds": min(run(*given)[0] for _ in range(7)),
        "command_rope_seconds": min(run(*given, "--rope", "0.01")[0] for _ in range(7)),
        "python_alone_seconds": fastest(lambda: printed("pass"), 7),
    }


def main() -> None:
    """Print the table, then the other figures as JSON."""
    rng = np.random.default_rng(20261121)
    rows = [
        error_row(n, other, congruence, rng)
        for congruence in ("independent", "high")
        for other in OTHERS
        for n in SIZES
    ]
    print_rows(rows)
    figures: dict[str, object] = {
        "quadrature_largest_change": max(abs(float(r["normal_exact_finer_minus"])) for r in rows),
        "mid_p_largest_difference": mid_p_difference(rng),
        "largest_relative_error": largest_relative_error(rng),
    }
    figures |= million(rng) | command_seconds()
    figures["load_average"] = os.getloadavg()[0]
    print(json.dumps({"rows": rows} | figures, indent=2))


if __name__ == "__main__":
    main()
