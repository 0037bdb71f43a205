"""Compiled core of ``bayes_sota.maximum.simulate``: one field's best count in about log(m) steps.

Never import this module at the top of another one: it loads numba. Everything lies in this one
file because numba's cache does not notice a change in another. ``simulate`` explains the
algorithm; ``tests/maximum/test_simulate.py`` holds it against the exact law and plain simulation.
"""

import math
from typing import Any

import numba
import numpy as np

LOGIT_NORMAL, UNIFORM, BETA = 0, 1, 2  # codes of the skill families
_GAUSS_LEGENDRE = tuple(
    (float(x), float(w)) for x, w in zip(*np.polynomial.legendre.leggauss(12), strict=True)
)
_MAX_TILT = 40.0  # exp(40) successes per failure: as good as the unbounded tilt


def _njit(function: Any) -> Any:
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)


@_njit
def _expit(x: float) -> Any:
    return 1 / (1 + math.exp(-x))


@_njit
def _polynomial(x: float, c: Any) -> Any:
    value = 0.0
    for i in range(len(c)):
        value = value * x + c[i]
    return value


# Wichura 1988, algorithm AS 241 (PPND16), highest power first: relative error near 1e-16.
_CENTRE = (
    (
        2509.0809287301226727,
        33430.575583588128105,
        67265.770927008700853,
        45921.953931549871457,
        13731.693765509461125,
        1971.5909503065514427,
        133.14166789178437745,
        3.387132872796366608,
    ),
    (
        5226.495278852854561,
        28729.085735721942674,
        39307.89580009271061,
        21213.794301586595867,
        5394.1960214247511077,
        687.1870074920579083,
        42.313330701600911252,
        1.0,
    ),
)
_MIDDLE = (
    (
        7.7454501427834140764e-4,
        0.0227238449892691845833,
        0.24178072517745061177,
        1.27045825245236838258,
        3.64784832476320460504,
        5.7694972214606914055,
        4.6303378461565452959,
        1.42343711074968357734,
    ),
    (
        1.05075007164441684324e-9,
        5.475938084995344946e-4,
        0.0151986665636164571966,
        0.14810397642748007459,
        0.68976733498510000455,
        1.6763848301838038494,
        2.05319162663775882187,
        1.0,
    ),
)
_TAIL = (
    (
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        0.0012426609473880784386,
        0.026532189526576123093,
        0.29656057182850489123,
        1.7848265399172913358,
        5.4637849111641143699,
        6.6579046435011037772,
    ),
    (
        2.04426310338993978564e-15,
        1.4215117583164458887e-7,
        1.8463183175100546818e-5,
        7.868691311456132591e-4,
        0.0148753612908506148525,
        0.13692988092273580531,
        0.59983220655588793769,
        1.0,
    ),
)


@_njit
def upper_normal_quantile(tail: float, rest: float) -> Any:
    """Standard normal value exceeded with probability ``tail``; ``rest`` is ``1 - tail``."""
    centred = 0.5 - tail
    if abs(centred) <= 0.425:
        r = 0.180625 - centred * centred
        return centred * _polynomial(r, _CENTRE[0]) / _polynomial(r, _CENTRE[1])
    smaller = max(min(tail, rest), 1e-300)
    r = math.sqrt(-math.log(smaller))
    if r <= 5:
        value = _polynomial(r - 1.6, _MIDDLE[0]) / _polynomial(r - 1.6, _MIDDLE[1])
    else:
        value = _polynomial(r - 5, _TAIL[0]) / _polynomial(r - 5, _TAIL[1])
    return value if tail < rest else -value


@_njit
def _beta_fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete beta function (DLMF 8.17.22), Lentz's method."""
    c, d = 1.0, 1.0 / (1 - (a + b) * x / (a + 1))
    value = d
    for i in range(1, 10_000):
        for odd in (False, True):
            if odd:
                term = -(a + i) * (a + b + i) * x / ((a + 2 * i) * (a + 2 * i + 1))
            else:
                term = i * (b - i) * x / ((a + 2 * i - 1) * (a + 2 * i))
            d = 1 / (1 + term * d)
            c = 1 + term / c
            value *= c * d
        if abs(c * d - 1) < 1e-14:
            break
    return value


@_njit
def beta_tails(a: float, b: float, x: float, y: float) -> Any:
    """Upper and lower tail of Beta(a, b) at ``x = 1 - y``, the smaller one without cancellation."""
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    front = math.exp(a * math.log(x) + b * math.log(y) - log_beta)
    if x < (a + 1) / (a + b + 2):
        lower = front * _beta_fraction(a, b, x) / a
        return 1 - lower, lower
    upper = front * _beta_fraction(b, a, y) / b
    return upper, 1 - upper


@_njit
def _log_odds_density(a: float, b: float, log_beta: float, c: float) -> Any:
    """Density of the log odds of a Beta(a, b) variable."""
    small = math.log1p(math.exp(-abs(c)))
    return math.exp(-a * (small + max(-c, 0.0)) - b * (small + max(c, 0.0)) - log_beta)


@_njit
def _beta_bisection(a: float, b: float, high: float, tail: float, rest: float) -> Any:
    """Log odds below ``high`` at which the upper tail is ``tail``."""
    low = high - 1.0
    while low > -700 and beta_tails(a, b, _expit(low), _expit(-low))[0] < tail:
        low -= 2 * (high - low)
    low = max(low, -700.0)
    for _ in range(80):
        c = 0.5 * (low + high)
        upper, lower = beta_tails(a, b, _expit(c), _expit(-c))
        too_high = upper < tail if tail < rest else lower > rest
        if too_high:
            high = c
        else:
            low = c
        if high - low < 1e-13 * (1 + abs(c)):
            break
    return 0.5 * (low + high)


@_njit
def beta_below(a: float, b: float, log_odds: float, mass: float, tail: float, rest: float) -> Any:
    """Log odds below ``log_odds`` such that ``mass`` lies between, and the upper tail is ``tail``.

    Newton's method with the mass between by Gauss-Legendre: a step down the order statistics is
    short. A long one is left to bisection with the incomplete beta function.
    """
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    sd = min(math.sqrt(1 / a + 1 / b), 1.5)
    c, between = log_odds, 0.0
    for _ in range(12):
        step = (between - mass) / _log_odds_density(a, b, log_beta, c)
        c += step
        if not (log_odds - 2 * sd < c <= log_odds):
            break
        if abs(step) < 1e-7 * sd:  # quadratic convergence: the next step would be rounding
            return c
        half = 0.5 * (log_odds - c)
        between = 0.0
        for node, weight in _GAUSS_LEGENDRE:
            inner = c + half * (1 + node)
            between += half * weight * _log_odds_density(a, b, log_beta, inner)
    return _beta_bisection(a, b, log_odds, tail, rest)


@_njit
def _skill_below(
    family: int, p: float, q: float, log_odds: float, mass: float, tail: float, rest: float
) -> Any:
    """Skill, its complement and its log odds (Beta only) at an upper tail of P(theta).

    ``log_odds`` is where the tail was smaller by ``mass``.
    """
    if family == LOGIT_NORMAL:
        c = p + q * upper_normal_quantile(tail, rest)
        return _expit(c), _expit(-c), c
    if family == UNIFORM:
        skill = q - tail * (q - p) if tail < rest else p + rest * (q - p)
        return skill, 1 - skill, 0.0
    c = beta_below(p, q, log_odds, mass, tail, rest)
    return _expit(c), _expit(-c), c


@_njit
def _tails(family: int, p: float, q: float, skill: float, error: float) -> Any:
    """Probabilities of a skill above and below ``skill``."""
    if family == LOGIT_NORMAL:
        z = (math.log(skill) - math.log(error) - p) / q / math.sqrt(2.0)
        return 0.5 * math.erfc(z), 0.5 * math.erfc(-z)
    if family == UNIFORM:
        upper = min(max((q - skill) / (q - p), 0.0), 1.0)
        return upper, 1 - upper
    return beta_tails(p, q, skill, error)


@_njit
def _conditional(skill: float, error: float, rho: float, odds: float) -> Any:
    """a and b of Eq. 6 and 7, the correlation capped at its feasible maximum."""
    if rho == 0:
        return skill, skill
    ratio = skill / (error * odds)
    rho = min(rho, math.sqrt(min(ratio, 1 / ratio)))
    shift = rho * math.sqrt(skill * error)
    root = math.sqrt(odds)
    a = min(max(skill + shift / root, 0.0), 1.0)
    return a, min(max(skill - shift * root, 0.0), 1.0)


@_njit
def _tilt(a: float, b: float, k: int, rest: int, target: int, s: float) -> float:
    """Nonnegative s near the minimum of the Chernoff bound of ``P(X >= target)``; zero if useless.

    Newton's method for the mean of the tilted law, from a guess and inside a bracket, stopped as
    soon as the mean is within a quarter of a standard deviation: any s gives an exact simulation.
    """
    if k * a + rest * b >= target:
        return 0.0
    low, high = 0.0, _MAX_TILT
    for _ in range(20):
        grown = math.exp(s)
        a_s = a * grown / (1 - a + a * grown)
        b_s = b * grown / (1 - b + b * grown)
        gap = target - k * a_s - rest * b_s
        variance = k * a_s * (1 - a_s) + rest * b_s * (1 - b_s)
        if gap * gap <= 0.0625 * variance + 0.01:
            break
        if gap > 0:
            low = s
        else:
            high = s
        step = s + gap / variance
        s = step if low < step < high else 0.5 * (low + min(high, 2 * low + 1))
    return s


@_njit
def _log_bound(a: float, b: float, k: int, rest: int, s: float, target: int) -> Any:
    grown = math.expm1(s)
    return k * math.log1p(a * grown) + rest * math.log1p(b * grown) - s * target


@_njit
def _draw_count(rng: Any, a: float, b: float, k: int, rest: int, s: float) -> int:
    """Success count from the law tilted by ``exp(s x)``."""
    grown = math.exp(s)
    x = 0
    if k > 0:
        x += rng.binomial(k, a * grown / (1 - a + a * grown))
    if rest > 0:
        x += rng.binomial(rest, b * grown / (1 - b + b * grown))
    return x


@_njit
def _beta_drop(rng: Any, jump: int, left: int) -> Any:
    """``1 - F(next) / F(current)``: Beta(jump, left - jump + 1)."""
    if jump == 1:
        return -math.expm1(-rng.standard_exponential() / left)
    return rng.beta(float(jump), float(left - jump + 1))


@_njit
def _best_of_field(
    rng: Any,
    n: int,
    m: int,
    family: int,
    p: float,
    q: float,
    rho: float,
    odds: float,
    k: int,
    best_skill: float,
    ties: bool,
) -> Any:
    """Best count and the skill of its holder, given the best skill and ``S0 = k``.

    Without ``ties`` later teams that only equal the best count are skipped: faster, and the
    best count has the same law, but the holder is then the best-skilled of the tied teams.
    """
    if rho == 0:
        k = n
    rest = n - k
    skill, error, c = best_skill, 1 - best_skill, math.log(best_skill / (1 - best_skill))
    upper, lower = _tails(family, p, q, skill, error)
    a, b = _conditional(skill, error, rho, odds)
    best = _draw_count(rng, a, b, k, rest, 0.0)
    winner, tied, left, guess = skill, 1, m - 1, 0.0
    while left > 0:
        target = best if ties else best + 1
        if target > n:
            break
        s = _tilt(a, b, k, rest, target, guess)
        guess = s
        log_bound = _log_bound(a, b, k, rest, s, target)
        if log_bound >= 0:
            s, log_bound, jump = 0.0, 0.0, 1
        else:
            skipped = rng.standard_exponential() / -math.log1p(-math.exp(log_bound))
            if not skipped < left:
                break
            jump = 1 + int(skipped)
        drop = _beta_drop(rng, jump, left)
        left -= jump
        mass = lower * drop
        upper += mass
        lower *= 1 - drop
        skill, error, c = _skill_below(family, p, q, c, mass, upper, lower)
        a, b = _conditional(skill, error, rho, odds)
        if s > 0:
            ratio = _log_bound(a, b, k, rest, s, target) - log_bound
            if -rng.standard_exponential() >= ratio:
                continue
        x = _draw_count(rng, a, b, k, rest, s)
        if x < target or (s > 0 and rng.standard_exponential() < s * (x - target)):
            continue
        tied = tied + 1 if x == best else 1
        if x > best or rng.random() * tied < 1:
            winner = skill
        best = x
    return best, winner


@_njit
def run_fields(
    rng: Any,
    n: Any,
    m: Any,
    family: int,
    p: Any,
    q: Any,
    rho: Any,
    odds: Any,
    k: Any,
    best_skill: Any,
    ties: bool,
) -> Any:
    """Best counts and winners' skills of many fields; all arrays of the same length."""
    counts = np.empty(n.size, np.int64)
    winners = np.empty(n.size)
    for i in range(n.size):
        counts[i], winners[i] = _best_of_field(
            rng, n[i], m[i], family, p[i], q[i], rho[i], odds[i], k[i], best_skill[i], ties
        )
    return counts, winners


@_njit
def run_accepted_winners(
    rng: Any,
    n: Any,
    m: Any,
    family: int,
    p: Any,
    q: Any,
    rho: Any,
    odds: Any,
    k: Any,
    best_skill: Any,
    low: Any,
    high: Any,
    epsilon: Any,
    attempts: int,
) -> Any:
    """Winner's skill in a field whose best count passes the kernel; the attempts that it took.

    A field that never passes keeps the winner of its closest attempt and reports minus one.
    """
    winners = np.empty(n.size)
    needed = np.full(n.size, -1, np.int64)
    for i in range(n.size):
        nearest = np.inf
        for attempt in range(attempts):
            best, winner = _best_of_field(
                rng, n[i], m[i], family, p[i], q[i], rho[i], odds[i], k[i], best_skill[i], True
            )
            distance = max(max(low[i] - best, best - high[i]), 0) / n[i]
            if distance < nearest:
                nearest, winners[i] = distance, winner
            if rng.standard_exponential() >= 0.5 * (distance / epsilon[i]) ** 2:
                winners[i], needed[i] = winner, attempt + 1
                break
    return winners, needed
