"""Draws of skills and best scores: exact laws, numerical inversion, and whole simulated fields."""

from dataclasses import fields
from functools import partial

import numpy as np
import pytest
from scipy import stats

from bayes_sota.auc.estimate import auc_scores
from bayes_sota.core.skills import Beta, LogitNormal, Uniform
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.fresh_test_sets import (
    ChosenTestSet,
    CountedTestSet,
    NormalTestSet,
    best_of_fields,
    fresh_test_set,
)
from bayes_sota.maximum.law import maximum_law
from bayes_sota.maximum.likelihood import inverse_law
from bayes_sota.maximum.score_laws import NormalLaw, noise_of

SMALLEST_P = 1e-3  # fixed seeds: a correct simulator passes once and for all
DRAWS = 12_000
ROWS, KIND = np.arange(DRAWS), np.zeros(DRAWS, np.int64)

CASES = {
    "near one": (200, 50, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "nearly equal": (3000, 1000, LogitNormal(2.2, 0.0105), 0.74, 0.917),
    "wide": (11072, 3558, LogitNormal(-0.5, 1.0), 0.74, 0.91157),
    "infeasible correlation": (30, 5, Uniform(0.2, 0.9), 1.0, 0.7),
    "beta": (500, 300, Beta(40, 8), 0.7, 0.93),
    "independent": (300, 100, LogitNormal(1.0, 0.5), 0.0, 0.5),
    "one": (200, 1, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "many items": (100_000, 2000, LogitNormal(2.5, 0.2), 0.74, 0.95),
}


def repeated(distribution, size=DRAWS):
    given = (np.full(size, float(getattr(distribution, f.name))) for f in fields(distribution))
    return type(distribution)(*given)


def counted(rng, n, rho, theta0):
    return CountedTestSet(n, rng.binomial(n, theta0, DRAWS), np.full(DRAWS, rho), theta0)


def normal(rng, scores, rho, submissions=1.0, luck=0.0):
    noise = noise_of(((submissions,),), luck)
    return NormalTestSet(scores, rng.standard_normal(DRAWS), np.full(DRAWS, rho), noise, KIND)


def chosen(rng, n, rho, theta0, submissions, luck):
    one, noise = counted(rng, n, rho, theta0), noise_of(((submissions,),), luck)
    return ChosenTestSet(one, one.shift, one.correlation, noise, KIND, one.step)


def played(rng, test_set, distribution, m, winner=True):
    """Best scores, winners' skills and best skills of fresh fields."""
    field = repeated(distribution)
    theta = field.skill(field.isf(-np.expm1(-rng.standard_exponential(DRAWS) / m)))
    given = (field, np.full(DRAWS, m), theta)
    return *best_of_fields(test_set, rng, *given, winner=winner), theta


def fit_p_value(counts: np.ndarray, law) -> float:
    """Chi-square test of counts against a lattice law, in cells of at least 25 expected."""
    expected = law.pmf(law.support) * counts.size
    observed = np.bincount(counts - law.start, minlength=law.support.size)
    cell = (np.cumsum(expected) // 25).astype(int)
    pooled = np.bincount(cell, observed), np.bincount(cell, expected)
    pooled = [x[pooled[1] > 5] for x in pooled]
    return float(stats.chisquare(pooled[0], pooled[1] * pooled[0].sum() / pooled[1].sum()).pvalue)


@pytest.mark.parametrize("name", CASES)
def test_the_best_score_follows_the_exact_law(name):
    """As predictions and as the simulator of ABC draw it: with and without the winner."""
    n, m, distribution, rho, theta0 = CASES[name]
    law = maximum_law(
        n_test=n, skill=distribution, n_classifiers=m, correlation=rho, reference_skill=theta0,
        cap_correlation=True,
    )  # fmt: skip
    rng = np.random.default_rng(17)
    for winner in (True, False):
        scores = played(rng, counted(rng, n, rho, theta0), distribution, m, winner)[0]
        assert fit_p_value(np.rint(scores * n).astype(int), law) > SMALLEST_P


AUCS = auc_scores(51, 949, 0.6, 0.95)
WHOLE = {
    "near one": (partial(counted, n=200, rho=0.75, theta0=0.98), LogitNormal(3.3, 0.3), 50),
    "two": (partial(counted, n=200, rho=0.75, theta0=0.98), LogitNormal(3.3, 0.3), 2),
    # nearly every board is a tie, and the better-skilled must not be favoured
    "five items": (partial(counted, n=5, rho=0.0, theta0=0.5), Uniform(0.3, 0.95), 6),
    "most correlations cut": (partial(counted, n=300, rho=0.95, theta0=0.99), Beta(30, 5), 40),
    "scores": (
        partial(normal, scores=NormalLaw(0.9, 0, 0.01), rho=0.75),
        LogitNormal(1.8, 0.3),
        60,
    ),
    "AUCs": (partial(normal, scores=AUCS, rho=0.98), LogitNormal(1.8, 0.02), 60),
    "chosen counts": (
        partial(chosen, n=400, rho=0.7, theta0=0.8, submissions=5.0, luck=0.9),
        LogitNormal(1.3, 0.2),
        30,
    ),
    "chosen scores": (
        partial(normal, scores=NormalLaw(0.9, 0, 0.02), rho=0.7, submissions=200.0, luck=0.4),
        LogitNormal(1.3, 0.2),
        30,
    ),
}


@pytest.mark.parametrize("name", WHOLE)
def test_the_walk_agrees_with_playing_every_classifier(name):
    make, distribution, m = WHOLE[name]
    rng = np.random.default_rng(3)
    best, winner, theta = played(rng, make(rng), distribution, m)
    test_set, skills = make(rng), distribution.skill(distribution.isf(rng.random((m, DRAWS))))
    scores = np.array([test_set.play(rng, ROWS, one) for one in skills])
    true_winner = skills[np.argmax(scores + 1e-9 * rng.random(scores.shape), axis=0), ROWS]
    true_best, true_theta = scores.max(axis=0), skills.max(axis=0)
    for drawn, expected in (
        (theta, true_theta),
        (best, true_best),
        (winner, true_winner),
        (winner - best, true_winner - true_best),
        (theta - best, true_theta - true_best),
    ):
        assert stats.ks_2samp(drawn, expected).pvalue > SMALLEST_P


def bump(skill):
    return np.exp(-0.5 * ((skill - 0.9) / 0.02) ** 2)


@pytest.mark.parametrize(
    "distribution", [LogitNormal(2.0, 0.3), Beta(30.0, 5.0), Uniform(0.7, 0.93)]
)
@pytest.mark.parametrize("factor", [bump, lambda s: (s > 0.88) * 1.0])
def test_the_inverse_law_agrees_with_numerical_inversion(distribution, factor):
    nodes, field = np.linspace(0.6, 0.99, 1500), repeated(distribution, 1)
    tail = field.expanded().sf(field.from_skill(nodes))
    inverse = inverse_law(field, tail, factor(nodes)[None])
    drawn = distribution.skill(distribution.isf((np.arange(400_000) + 0.5) / 400_000))
    above = np.cumsum(factor(drawn))
    levels = np.array([0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
    exact = np.interp(levels, above / above[-1], drawn)
    np.testing.assert_allclose(inverse(np.zeros(6, np.int64), levels), exact, atol=4e-4)


@pytest.mark.parametrize(("number", "luck"), [(8.0, 0.9), (60.0, 0.5)])
def test_counts_have_the_raised_law_of_one_submission(number, luck):
    """P(at least x) is that of one submission, raised as in the exact route.

    The expansion of a count is off by up to .0014 here, at whatever x.
    """
    rng, skill = np.random.default_rng(2), np.full(DRAWS, 0.82)
    one = CountedTestSet(400, np.full(DRAWS, 325), np.full(DRAWS, 0.7), 0.8)
    noise = noise_of(((number,),), luck)
    best = ChosenTestSet(one, one.shift, one.correlation, noise, KIND, one.step)
    values = np.rint(400 * best.play(rng, ROWS, skill))
    a, b, k, rest = (part[0] for part in one.parts(ROWS[:1], skill[:1]))
    pmf = np.convolve(
        stats.binom.pmf(np.arange(k + 1), k, a), stats.binom.pmf(np.arange(rest + 1), rest, b)
    )
    reached = np.cumsum(pmf[::-1])[::-1]
    for level in np.quantile(values, [0.1, 0.5, 0.9, 0.99]).astype(int):
        raised = float(noise.raised(reached[level : level + 1], 0)[0])
        error = np.sqrt(raised * (1 - raised) / values.size)
        assert np.mean(values >= level) == pytest.approx(raised, abs=4 * error + 0.0015)


def test_a_luck_for_each_draw_takes_the_tables_around_it():
    board = BestScore(0.9, n_classifiers=9, submissions=20, metric="score", standard_error=0.02)
    rng, half = np.random.default_rng(4), DRAWS // 2
    sets = fresh_test_set(board, rng, np.zeros(DRAWS), luck=np.repeat([0.33, 0.81], half))
    values = sets.play(rng, ROWS, np.zeros(DRAWS)) / 0.02
    places = np.linspace(-5, 7, 1201)
    for own, luck in zip(values.reshape(2, -1), (0.33, 0.81), strict=True):
        law = noise_of(((20.0,),), luck)
        cdf = partial(np.interp, xp=places, fp=1 - law.survival(places[None])[0])
        assert stats.kstest(own, cdf).pvalue > 1e-3
