"""Draws of skills and best scores: exact laws, numerical inversion, and whole simulated fields."""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayes_sota.auc.estimate import AucScores
from bayes_sota.core.skills import Beta, LogitNormal, Uniform, expit
from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum.dependence import conditional_probabilities
from bayes_sota.maximum.fresh_test_sets import (
    ChosenTestSet,
    CountedTestSet,
    NormalTestSet,
    best_of_fields,
    fresh_test_set,
)
from bayes_sota.maximum.law import MaximumLaw, maximum_law
from bayes_sota.maximum.likelihood import CellLaw
from bayes_sota.maximum.score_laws import NormalLaw
from bayes_sota.maximum.submissions import SubmissionNoise, noise_at

SMALLEST_P = 1e-3  # fixed seeds: a correct simulator passes once and for all
DRAWS = 12_000

CASES = {
    "near one": (200, 50, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "nearly equal": (3000, 1000, LogitNormal(2.2, 0.0105), 0.74, 0.917),
    "wide": (11072, 3558, LogitNormal(-0.5, 1.0), 0.74, 0.91157),
    "infeasible correlation": (30, 5, Uniform(0.2, 0.9), 1.0, 0.7),
    "uniform": (2000, 1000, Uniform(0.6, 0.9), 0.6, 0.9),
    "beta": (500, 300, Beta(40, 8), 0.7, 0.93),
    "independent": (300, 100, LogitNormal(1.0, 0.5), 0.0, 0.5),
    "one": (200, 1, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "two": (200, 2, LogitNormal(3.3, 0.3), 0.75, 0.98),
    "many items": (100_000, 2000, LogitNormal(2.5, 0.2), 0.74, 0.95),
}


def repeated(distribution, size=DRAWS):
    given = (np.full(size, float(getattr(distribution, f.name))) for f in fields(distribution))
    return type(distribution)(*given)


def drawn_fields(rng, case, size=DRAWS):
    n, m, distribution, rho, theta0 = case
    tail = -np.expm1(-rng.standard_exponential(size) / m)
    many = repeated(distribution, size)
    test_set = CountedTestSet(n, rng.binomial(n, theta0, size), np.full(size, rho), theta0)
    return Fields(test_set, many, np.full(size, m), many.skill(many.isf(tail)))


@dataclass(frozen=True, eq=False)
class Fields:
    """Fields given their best skills."""

    test_set: Any
    distribution: Any
    n_classifiers: np.ndarray
    theta_sota: np.ndarray

    def draw(self, rng, winner=True):
        """Best scores and winners' skills."""
        field = (self.distribution, self.n_classifiers, self.theta_sota)
        return best_of_fields(self.test_set, rng, *field, winner=winner)


def fresh_fields(rng, test_set, distribution, m):
    """With the best skill from its law."""
    upper = -np.expm1(np.log(rng.random(m.size)) / m)
    return Fields(test_set, distribution, m, distribution.skill(distribution.isf(upper)))


def draw_every_team(rng, case, size=DRAWS):
    """Best skill, winner's skill and best score of ``size`` boards, team by team."""
    n, m, distribution, rho, theta0 = case
    skills = np.sort(distribution.skill(distribution.isf(rng.random((size, m)))), axis=1)
    k = rng.binomial(n, theta0, size)[:, None]
    a, b = conditional_probabilities(skills, rho, theta0)
    counts = rng.binomial(k, a) + rng.binomial(n - k, b)
    best = counts.max(axis=1)
    among_best = np.where(counts == best[:, None], rng.random(counts.shape), -1.0)
    winner = skills[np.arange(size), among_best.argmax(axis=1)]
    return skills[:, -1], winner, best / n


def fit_p_value(counts: np.ndarray, law: MaximumLaw) -> float:
    """Chi-square test of counts against a lattice law, in cells of at least 25 expected."""
    expected = law.pmf(law.support) * counts.size
    observed = np.bincount(counts - law.start, minlength=law.support.size)
    cell = (np.cumsum(expected) // 25).astype(int)
    pooled = np.bincount(cell, observed), np.bincount(cell, expected)
    pooled = [x[pooled[1] > 5] for x in pooled]
    return float(stats.chisquare(pooled[0], pooled[1] * pooled[0].sum() / pooled[1].sum()).pvalue)


@pytest.mark.parametrize("case", [
    pytest.param(case, id=name, marks=[pytest.mark.slow] * (n % 2))
    for n, (name, case) in enumerate(CASES.items())
])  # fmt: skip
def test_the_best_score_follows_the_exact_law(case):
    """As predictions and as the simulator of ABC draw it: with and without the winner."""
    n, m, distribution, rho, theta0 = case
    law = maximum_law(
        n_test=n, skill=distribution, n_classifiers=m, correlation=rho, reference_skill=theta0,
        cap_correlation=True,
    )  # fmt: skip
    rng = np.random.default_rng(17)
    for winner in (True, False):
        scores, _ = drawn_fields(rng, case).draw(rng, winner=winner)
        assert fit_p_value(np.rint(scores * n).astype(int), law) > SMALLEST_P


@pytest.mark.parametrize(
    "case",
    [
        *(CASES[name] for name in ("near one", "infeasible correlation", "two", "independent")),
        # five items: nearly every board is a tie, and the better-skilled must not be favoured
        (5, 6, Uniform(0.3, 0.95), 0.0, 0.5),
        # skills vary more than the noise
        pytest.param((4000, 40, LogitNormal(1.0, 1.5), 0.5, 0.85), marks=pytest.mark.slow),
        (300, 40, Beta(30.0, 5.0), 0.95, 0.99),  # most correlations are cut
    ],
)
def test_skills_agree_with_drawing_every_team(case):
    rng = np.random.default_rng(3)
    ours = drawn_fields(rng, case)
    score, winner = ours.draw(rng)
    best, true_winner, true_score = draw_every_team(np.random.default_rng(4), case)
    for drawn, expected in (
        (ours.theta_sota, best),
        (winner, true_winner),
        (winner - score, true_winner - true_score),
        (ours.theta_sota - score, best - true_score),
    ):
        assert stats.ks_2samp(drawn, expected).pvalue > SMALLEST_P


def test_skipping_ties_keeps_the_law_of_the_count_but_not_of_the_winner():
    case = (20, 30, Uniform(0.5, 0.96), 0.0, 0.5)
    rng = np.random.default_rng(1)
    (fast, best_skilled), (full, winner) = (
        drawn_fields(rng, case).draw(rng, winner=winner) for winner in (False, True)
    )
    table = np.array([np.bincount(np.rint(x * 20).astype(int), minlength=21) for x in (fast, full)])
    assert stats.chi2_contingency(table[:, table.sum(0) > 20]).pvalue > SMALLEST_P
    assert best_skilled.mean() > winner.mean() + 0.01


@pytest.mark.slow
@pytest.mark.parametrize("scores", [NormalLaw(0.9, 0, 0.01), AucScores.of(51, 949, 0.6, 0.95)])
@pytest.mark.parametrize(("rho", "spread"), [(0.0, 0.3), (0.75, 0.02), (0.98, 0.3)])
def test_normal_scores_agree_with_whole_fields(scores, rho: float, spread: float) -> None:
    rng, m = np.random.default_rng(3), 60
    field = repeated(LogitNormal(1.8, spread))
    test_set = normal_test_set(scores, rng, rho)
    ours = fresh_fields(rng, test_set, field, np.full(DRAWS, m))
    theta, (best, _) = ours.theta_sota, ours.draw(rng, winner=False)
    test_set = normal_test_set(scores, rng, rho)
    again, winner = Fields(test_set, field, np.full(DRAWS, m), theta).draw(rng)
    skills = expit(rng.normal(1.8, spread, (DRAWS // 2, m)))
    normal = rho * rng.standard_normal((DRAWS // 2, 1))
    normal = normal + np.sqrt(1 - rho**2) * rng.standard_normal(skills.shape)
    whole = scores.estimate(normal, skills)
    true_best, true_theta = whole.max(1), skills.max(1)
    true_winner = skills[np.arange(len(skills)), whole.argmax(axis=1)]
    for drawn, expected in (
        (theta, true_theta),
        (best, true_best),
        (best - theta, true_best - true_theta),
        (again, true_best),
        (winner, true_winner),
        (again - winner, true_best - true_winner),
    ):
        error = expected.std() / len(expected) ** 0.5
        assert drawn.mean() == pytest.approx(expected.mean(), abs=4.5 * error)
        assert drawn.std() == pytest.approx(expected.std(), rel=0.04)


def normal_test_set(scores, rng, rho):
    rho, kind = np.full(DRAWS, rho), np.zeros(DRAWS, np.int64)
    return NormalTestSet(scores, rng.standard_normal(DRAWS), rho, noise_at((1.0,), (0.0,)), kind)


def bump(skill):
    return np.exp(-0.5 * ((skill - 0.9) / 0.02) ** 2)


@pytest.mark.parametrize(
    "distribution",
    [LogitNormal(2.0, 0.3), Beta(30.0, 5.0), Uniform(0.7, 0.93)],
    ids=["logit-normal", "beta", "uniform"],
)
@pytest.mark.parametrize("factor", [bump, lambda s: (s > 0.88) * 1.0])
def test_cell_law_agrees_with_numerical_inversion(distribution, factor):
    nodes, field = np.linspace(0.6, 0.99, 1500), repeated(distribution, 1)
    tail = field.expanded().sf(field.from_skill(nodes))
    law = CellLaw(field, tail, factor(nodes)[None])
    drawn = distribution.skill(distribution.isf((np.arange(400_000) + 0.5) / 400_000))
    above = np.cumsum(factor(drawn))
    levels = np.array([0.001, 0.05, 0.3, 0.5, 0.9, 0.999])
    exact = np.interp(levels, above / above[-1], drawn)
    np.testing.assert_allclose(law.inverse(np.zeros(6, np.int64), levels), exact, atol=4e-4)


SIZE = 4000
KINDS = ("count", "score")


def items(kind, number, luck, size=SIZE):
    noise = SubmissionNoise(np.array([[number]]), luck)
    given = {"noise": noise, "kind": np.zeros(size, np.int64)}
    rho = np.full(size, 0.7)
    if kind == "count":
        one = CountedTestSet(400, np.full(size, 325), rho, 0.8)
        return ChosenTestSet(one, one.shift, rho, **given, step=one.step)
    return NormalTestSet(NormalLaw(0.9, 0, 0.02), np.full(size, 0.3), rho, **given)


def plain(chosen):
    if isinstance(chosen, ChosenTestSet):
        return chosen.scores
    return replace(chosen, noise=SubmissionNoise(np.ones((1, 1)), 0.0))


@pytest.mark.parametrize("kind", KINDS)
def test_one_submission_has_the_law_of_the_plain_test_set(kind):
    rng, rows, skill = np.random.default_rng(1), np.arange(SIZE), np.full(SIZE, 0.82)
    chosen = items(kind, 1.0, 0.7)
    values = [one.play(rng, rows, skill) for one in (chosen, plain(chosen))]
    assert stats.ks_2samp(*values).pvalue > 1e-3


@pytest.mark.parametrize(("number", "luck"), [(8.0, 0.9), (60.0, 0.5)])
def test_counts_have_the_raised_law_of_one_submission(number, luck):
    """P(at least x) is that of one submission, raised as in the exact route.

    The expansion of a count is off by up to .0014 here, at whatever x.
    """
    chosen = items("count", number, luck, 20_000)
    skill = np.full(20_000, 0.82)
    values = np.rint(400 * chosen.play(np.random.default_rng(2), np.arange(20_000), skill))
    a, b, k, rest = (part[0] for part in plain(chosen).parts(np.arange(1), skill[:1]))
    pmf = np.convolve(stats.binom.pmf(np.arange(k + 1), k, a),
                      stats.binom.pmf(np.arange(rest + 1), rest, b))  # fmt: skip
    reached = np.cumsum(pmf[::-1])[::-1]
    for level in np.quantile(values, [0.1, 0.5, 0.9, 0.99]).astype(int):
        raised = float(chosen.noise.raised(reached[level : level + 1])[0])
        error = np.sqrt(raised * (1 - raised) / values.size)
        assert np.mean(values >= level) == pytest.approx(raised, abs=4 * error + 0.0015)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "luck"), [(5.0, 0.9), (200.0, 0.4)])
def test_the_walk_draws_the_best_score_of_whole_fields(kind, number, luck):
    rng, m = np.random.default_rng(3), 30
    chosen = items(kind, number, luck)
    location, spread = np.full(SIZE, 1.3), np.full(SIZE, 0.2)
    field = LogitNormal(location, spread)
    walked = fresh_fields(rng, chosen, field, np.full(SIZE, m))
    best, holder = walked.draw(rng)
    skill = expit(1.3 + 0.2 * rng.standard_normal((SIZE, m)))
    rows = np.arange(SIZE)
    values = np.stack([chosen.play(rng, rows, one) for one in skill.T], axis=1)
    first = np.argmax(values + 1e-9 * rng.random(values.shape), axis=1)
    assert stats.ks_2samp(best, values.max(axis=1)).pvalue > 1e-3
    assert stats.ks_2samp(holder, skill[rows, first]).pvalue > 1e-3
    assert stats.ks_2samp(walked.theta_sota, skill.max(axis=1)).pvalue > 1e-3


def test_a_luck_for_each_draw_takes_the_tables_around_it():
    board = BestScore(0.9, n_classifiers=9, submissions=20, metric="score", standard_error=0.02)
    rng, rows = np.random.default_rng(4), np.arange(2 * SIZE)
    luck = np.repeat([0.33, 0.81], SIZE)
    sets = fresh_test_set(board, rng, np.zeros(2 * SIZE), luck=luck)
    values = sets.play(rng, rows, np.zeros(2 * SIZE)) / 0.02
    places = np.linspace(-5, 7, 1201)
    for own, of in zip(values.reshape(2, -1), (0.33, 0.81), strict=True):
        law = SubmissionNoise(np.array([[20.0]]), of)
        cdf = partial(np.interp, xp=places, fp=1 - law.survival(places[None])[0])
        assert stats.kstest(own, cdf).pvalue > 1e-3
