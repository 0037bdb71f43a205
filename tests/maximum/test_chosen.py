"""Best scores of fields whose classifiers show the best of their submissions, drawn by walking."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bayes_sota.core.skills import LogitNormal, expit
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.chosen import ChosenCounts, ChosenScores, chosen_among
from bayes_sota.maximum.submissions import SubmissionNoise
from bayes_sota.maximum.walk import Fields, GaussianScores, NormalTestSet, TestSet

SIZE = 4000
KINDS = ("count", "score")


def items(kind: str, number: float, luck: float, size: int = SIZE) -> Any:
    noise = SubmissionNoise(np.array([[number]]), luck)
    given = {"noise": noise, "kind": np.zeros(size, np.int64)}
    rho = np.full(size, 0.7)
    if kind == "count":
        return ChosenCounts(400, np.full(size, 325), rho, 0.8, **given)
    return ChosenScores(GaussianScores(0.02), np.full(size, 0.3), rho, **given)


def plain(chosen: Any) -> Any:
    if isinstance(chosen, ChosenCounts):
        return TestSet(400, chosen.counts, chosen.correlation, 0.8)
    return NormalTestSet(chosen.scores, chosen.shared, chosen.correlation)


@pytest.mark.parametrize("kind", KINDS)
def test_one_submission_has_the_law_of_the_plain_test_set(kind):
    rng, rows, skill = np.random.default_rng(1), np.arange(SIZE), np.full(SIZE, 0.82)
    chosen = items(kind, 1.0, 0.7)
    values = [one.play(rng, rows, skill) for one in (chosen, plain(chosen))]
    assert stats.ks_2samp(*values).pvalue > 1e-3


@pytest.mark.parametrize(("number", "luck"), [(8.0, 0.9), (60.0, 0.5)])
def test_counts_have_the_raised_law_of_one_submission(number, luck):
    """P(at least x) is that of one submission, raised as in the exact route."""
    chosen = items("count", number, luck, 20_000)
    skill = np.full(20_000, 0.82)
    values = chosen.play(np.random.default_rng(2), np.arange(20_000), skill)
    a, b, k, rest, _ = (part[0] for part in chosen.parts(np.arange(1), skill[:1]))
    pmf = np.convolve(stats.binom.pmf(np.arange(k + 1), k, a),
                      stats.binom.pmf(np.arange(rest + 1), rest, b))  # fmt: skip
    reached = np.cumsum(pmf[::-1])[::-1]
    for level in np.quantile(values, [0.1, 0.5, 0.9, 0.99]).astype(int):
        raised = float(chosen.noise.raised(reached[level : level + 1])[0])
        error = np.sqrt(raised * (1 - raised) / values.size)
        assert np.mean(values >= level) == pytest.approx(raised, abs=4 * error + 0.004)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("number", "luck"), [(5.0, 0.9), (200.0, 0.4)])
def test_the_walk_draws_the_best_score_of_whole_fields(kind, number, luck):
    rng, m = np.random.default_rng(3), 30
    chosen = items(kind, number, luck)
    location, spread = np.full(SIZE, 1.3), np.full(SIZE, 0.2)
    field = LogitNormal(location, spread)
    walked = Fields.fresh(rng, chosen, field, np.full(SIZE, m))
    best, holder = walked.draw(rng)
    skill = expit(1.3 + 0.2 * rng.standard_normal((SIZE, m)))
    rows = np.arange(SIZE)
    values = np.stack([chosen.play(rng, rows, one) for one in skill.T], axis=1) / chosen.unit
    first = np.argmax(values + 1e-9 * rng.random(values.shape), axis=1)
    assert stats.ks_2samp(best, values.max(axis=1)).pvalue > 1e-3
    assert stats.ks_2samp(holder, skill[rows, first]).pvalue > 1e-3
    assert stats.ks_2samp(walked.theta_sota, skill.max(axis=1)).pvalue > 1e-3


def test_a_luck_for_each_draw_takes_the_tables_around_it():
    board = Leaderboard.from_maximum(
        0.9, n_classifiers=9, submissions=20, metric="score", standard_error=0.02
    )
    rng, rows = np.random.default_rng(4), np.arange(2 * SIZE)
    luck = np.repeat([0.33, 0.81], SIZE)
    sets = NormalTestSet(GaussianScores(0.02), np.zeros(2 * SIZE), np.zeros(2 * SIZE))
    values = chosen_among(sets, board, luck, rng).play(rng, rows, np.zeros(2 * SIZE)) / 0.02
    places = np.linspace(-5, 7, 1201)
    for own, of in zip(values.reshape(2, -1), (0.33, 0.81), strict=True):
        law = SubmissionNoise(np.array([[20.0]]), of)
        cdf = partial(np.interp, xp=places, fp=1 - law.survival(places[None])[0])
        assert stats.kstest(own, cdf).pvalue > 1e-3
