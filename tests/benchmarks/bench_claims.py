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

from fractions import Fraction
from functools import partial
from math import comb

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import ndtr, ndtri, owens_t
from timing import fastest, print_table, printed, report, run, seconds

from bayes_sota.claims.laws import false_claim_probability

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

    def corners(i: Array, j: Array) -> float:
        return sum(a * b * loss(mode + a * i + b * j) for a in (1, -1) for b in (1, -1))

    hessian = np.array([[corners(i, j) for j in steps] for i in steps])
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


def posterior_draws(table: Array, rng: np.random.Generator) -> tuple[float, float]:
    """The source's Monte Carlo, and its number of draws."""
    both, first, second, none = table
    drawn = rng.dirichlet([first + 1, second + 1, both + none + 2], DRAWS)
    return float(np.mean(drawn[:, 0] <= drawn[:, 1])), DRAWS


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


def error_row(n: int, other: float, congruence: str, rng: np.random.Generator) -> list[str]:
    """One claim by every method: error against its own exact answer, ESS, and microseconds."""
    right_a, right_b = round(0.90 * n), round(other * n)
    p11 = 0.90 * other if congruence == "independent" else other - 0.03
    both = round(p11 * n)
    table = np.array([both, right_a - both, right_b - both, n - right_a - right_b + both], float)
    exact = float(whole_sum(right_a - both, right_b - both))
    given = (right_a / n, right_b / n, n, both / n)
    own, finer = normal_model_exact(table), normal_model_exact(table, 96, WITHIN * 1.25)
    error = abs(float(false_claim_probability(*given)) - exact)
    once = fastest(lambda: false_claim_probability(*given), 200)
    cells = [f"{n:,}", f".90, {other:.2f}", congruence, f"{exact:.3g}",
             f"{error:.0e}, {1e6 * once:,.0f}"]  # fmt: skip
    for draw, answer in ((posterior_draws, exact), (normal_prior_draws, own),
                         (flat_prior_draws, exact)):  # fmt: skip
        found = np.array([draw(table, rng) for _ in range(REPLICATIONS)])
        rmse, ess = np.sqrt(np.mean((found[:, 0] - answer) ** 2)), np.median(found[:, 1])
        once = fastest(lambda draw=draw: draw(table, rng))
        cells.append(f"{rmse:.2g}, {ess:.1f}, {1e6 * once:,.0f}")
    return [*cells, f"{own:.3g}", f"{finer - own:.0e}"]


def million(rng: np.random.Generator) -> dict[str, float]:
    """Seconds for a million claims at n = 500, and for the source's Monte Carlo on them."""
    n = 500
    a = rng.integers(n // 2, n + 1, MANY) / n
    b = np.maximum(a - rng.integers(0, 26, MANY) / n, 0)
    known = np.rint(n * a * b) / n
    p11 = {"known": np.clip(known, a + b - 1, b)} | {
        name: name for name in ("min", "max", "independent")
    }
    figures = seconds(
        2,
        **{f"million_{k}": partial(false_claim_probability, a, b, n, v) for k, v in p11.items()},
    )
    figures |= seconds(200, one_unknown=lambda: false_claim_probability(0.9, 0.88, n))
    figures |= seconds(1, million_unknown=lambda: false_claim_probability(a, b, n))
    tables = np.transpose([n * known, n * (a - known), n * (b - known), n * (1 - a - b + known)])
    some = np.maximum(tables[:1000], 0)
    once = fastest(lambda: [posterior_draws(table, rng) for table in some], 1)
    figures["million_monte_carlo_seconds"] = whole = once * MANY / len(some)
    figures["million_ratio_known"] = whole / figures["million_known_seconds"]
    figures["million_ratio_unknown"] = whole / figures["million_unknown_seconds"]
    return figures


def main() -> None:
    """Print the table of errors and times, then the other figures as JSON."""
    rng = np.random.default_rng(20261121)
    print_table(
        ["n", "A, B", "congruence", "exact", "ours: error, us", "posterior draws: rmse, ESS, us",
         "normal prior, importance: rmse, ESS, us", "flat prior, importance: rmse, ESS, us",
         "normal prior: exact", "a finer quadrature minus it"],
        (error_row(n, other, congruence, rng)
         for congruence in ("independent", "high") for other in OTHERS for n in SIZES),
    )  # fmt: skip
    given = ("claim", "classification", "--accuracy", "0.90", "0.88", "--n-test", "500")
    commands = seconds(
        7,
        command=lambda: run(*given),
        command_rope=lambda: run(*given, "--rope", "0.01"),
        python_alone=lambda: printed("-c", "pass"),
    )
    report(million(rng) | commands)


if __name__ == "__main__":
    main()
