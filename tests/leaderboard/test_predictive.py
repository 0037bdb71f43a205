"""Prior, replicates, log likelihood and log prior of a board, each against a second route."""

from dataclasses import replace

import numpy as np
import pytest
from boards import evidence_of
from scipy import stats

import bayes_sota as bs
from bayes_sota.core.inference import Parameters
from bayes_sota.core.priors import BetaCorrelation, BoardPriors, FixedCorrelation, UniformTries
from bayes_sota.core.skills import expit
from bayes_sota.data.item_values import summed_by_cluster
from bayes_sota.items.correlation import influence_correlation
from bayes_sota.leaderboard import sample
from bayes_sota.leaderboard.fit import fit_field
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.leaderboard.sample import sample_board
from bayes_sota.leaderboard.skills import (
    draw_fresh,
    draw_posterior,
    draw_skills,
    fresh_scores,
    log_hidden,
    prior_boards,
)
from bayes_sota.maximum.score_laws import score_law

N = 400
ONE = BoardPriors(
    typical=(0.7, 0.95), spread=(0.1, 0.8), families=("normal",), correlation=FixedCorrelation(0.7)
)


def board_of(skills, n=N, seed=0, **options):
    counts = np.random.default_rng(seed).binomial(n, skills)
    return bs.Leaderboard(counts / n, n_test=n, rounding="exact", **options)


def crowd(m=60, seed=1, spread=0.1):
    return expit(2.0 + spread * np.random.default_rng(seed).standard_normal(m))


SCORES = 1.2 + 0.05 * np.random.default_rng(2).gamma(2, 1, 30)


def with_errors(m=30):
    return bs.Leaderboard(SCORES[:m], metric="score", standard_error=0.03, lower_is_better=True)


def field_scores(m=15, seed=3):
    """Numbers of classifiers that share luck: two near-clones, and one without hope."""
    rng = np.random.default_rng(seed)
    clone = rng.normal(size=(200, 1))
    numbers = rng.normal(size=(200, 1)) + rng.normal(size=(200, m)) + 0.2 * rng.normal(size=m)
    numbers[:, :2] = numbers[:, :1] + 0.3 * rng.normal(size=(200, 2)) + 0.1 * clone
    numbers[:, -1] -= 9
    return bs.Outcomes(numbers, metric="mean")


def spiked():
    """A crowd, one spike of copies, and failed entries far below."""
    crowded = board_of(np.append(crowd(150, spread=0.3), np.full(20, 0.3)), 2000).scores
    scores = np.append(crowded, np.full(40, np.sort(crowded)[-30]))
    return bs.Leaderboard(scores, n_test=2000, rounding="exact")


@pytest.mark.parametrize("data", [spiked(), field_scores()], ids=["spike", "near-clones"])
def test_the_log_likelihood_adds_up_to_the_target_of_the_fit(data) -> None:
    fit = board_posterior(data, random_seed=0, draws=100).skills.fit
    assert fit.evidence.is_cut
    assert (fit.copies / np.bincount(fit.evidence.row)).min() < 0.8
    parameters = draw_posterior(fit, 300, np.random.default_rng(1)).parameters
    found = fit.log_likelihood_of_entries(parameters).sum(axis=1)
    for i in range(0, 300, 30):
        points = parameters.points(fit, np.array([i]))
        expected = fit.log_likelihood(fit.families[parameters.family[i]], points)
        assert found[i] == pytest.approx(expected[0, parameters.node[i]], abs=1e-8)


@pytest.mark.slow
def test_the_prior_of_the_parameters_is_that_of_the_model() -> None:
    for board in (board_of(crowd(10)), with_errors(10)):
        priors = BoardPriors(correlation=BetaCorrelation(5, 3))
        tree = sample_board(board, priors, draws=300, random_seed=0)[0]
        prior = {name: v.values.ravel() for name, v in tree["prior"].data_vars.items()}
        fit = fit_field(evidence_of(board), priors, np.random.default_rng(0))
        scale, unit, centre = fit.scale, 1.0, 0.0
        if board.metric == "score":
            quartiles = np.subtract(*np.quantile(board.scores, [0.75, 0.25]))
            unit, centre = 2 * max(quartiles, 2 * 0.03), -np.median(board.scores)
        place = stats.norm(centre + unit * scale.location, unit * scale.location_sd)
        width = stats.norm(scale.log_spread, scale.log_spread_sd)
        laws = {
            "location": (prior["location"], place),
            "spread": (np.log(prior["spread"] / unit), width),
            "rho": (prior["rho"], stats.beta(5, 3)),
            "shift": (prior["shift"], stats.norm()),
            "shape": (prior["shape"], stats.norm()),
        }
        for name, (draws, law) in laws.items():
            assert stats.kstest(draws, law.cdf).pvalue > 0.003, (board.metric, name)
        counts = np.bincount(prior["family"], minlength=2)
        assert stats.chisquare(counts).pvalue > 0.003
        rho = tree["posterior"]["rho"].values
        np.testing.assert_allclose(tree["log_prior"]["rho"], stats.beta(5, 3).logpdf(rho))


def simulated_prior(board, priors, size, rng):
    """Boards from the prior, without a grid: normal fields on a complete board."""
    m, rho = board.n_entries, priors.correlation.value
    place = rng.normal(*priors.location, size)[:, None]
    width = np.exp(rng.normal(*priors.log_spread, size))[:, None]
    y = place + width * rng.standard_normal((size, m))
    outliers = rng.random((size, m)) < 0.5 / m
    y = np.where(outliers, rng.normal(*priors.location, (size, m)), y)
    psi = expit(y)
    error = np.sqrt((1 - rho**2) * psi * (1 - psi) / board.n_test)
    x = np.round((psi + error * rng.standard_normal((size, m))) * board.n_test) / board.n_test
    x = np.clip(x, 0, 1)
    theta = score_law(board).remove_shift(psi, (rho * rng.standard_normal(size))[:, None])
    winner = theta[np.arange(size), np.argmax(x, axis=1)]
    best = theta.max(axis=1)
    return {
        "theta_sota": best,
        "winner_skill": winner,
        "multiplicity_bias": x.max(axis=1) - best,
        "score": x[:, 0],
        "sorted_score": np.sort(x, axis=1)[:, ::-1][:, 2],
    }


@pytest.mark.slow
def test_boards_from_the_prior_are_those_of_a_plain_simulation() -> None:
    board = board_of(crowd(10), 200)
    tree = sample_board(board, ONE, draws=1000, random_seed=5)[0]
    merged = {**tree["prior"].data_vars, **tree["prior_predictive"].data_vars}
    ours = {name: v.values for name, v in merged.items()}
    ours["score"], ours["sorted_score"] = ours["score"][..., 5], ours["sorted_score"][..., 2]
    for name, other in simulated_prior(board, ONE, 20_000, np.random.default_rng(9)).items():
        assert stats.ks_2samp(ours[name].ravel(), other).pvalue > 0.003, name


@pytest.mark.slow
@pytest.mark.parametrize("tries", [300, UniformTries(50, 2000)])
def test_hidden_entries_may_be_the_best_of_a_prior_board(tries) -> None:
    """The highest of listed and hidden skills, by their distribution functions on the grid."""
    board = board_of(crowd(10), 30, n_classifiers=tries)
    priors = replace(ONE, correlation=FixedCorrelation(0.0))
    fit = fit_field(evidence_of(board), priors, np.random.default_rng(0))
    parameters, zero = repeated(fit, [-3.0, 0.1]), np.zeros(4000)
    found = prior_boards(fit, parameters, zero, zero, np.random.default_rng(1))
    density = fit.density("normal", np.array([[-3.0, 0.1]]))
    weights = np.cumsum(density * fit.tables[0].typical)
    listed = (weights / weights[-1]) ** fit.copies.sum()
    counts = np.array([300]) if tries == 300 else np.unique(np.linspace(50, 2000, 40).round())
    hidden = [log_hidden(fit, fit.tables[0], density, np.array([n]))[0] for n in counts]
    typical = fit.tables[0].typical
    below = fit.copies.sum() * (density @ (1 - typical)) / (density @ typical)
    assert -hidden[0][0] == pytest.approx(min(counts[0] - 10, below[0]), rel=0.05)  # all of them
    both = np.mean(listed * np.exp(hidden), axis=0)
    y = np.log(found["theta_sota"] / (1 - found["theta_sota"]))
    ours = np.searchsorted(np.sort(y), fit.evidence.y + fit.evidence.step / 2) / 4000
    assert np.abs(ours - both).max() < 0.035
    assert np.abs(ours - listed).max() > 0.07


def repeated(fit, point, size=4000):
    zero = np.zeros(size, int)
    return Parameters(zero, zero, np.tile(np.asarray(point, float), (size, 1)))


@pytest.mark.parametrize("floor", [False, True])
def test_replicates_have_the_moments_of_the_model(floor: bool) -> None:
    """Mean and variance by sums over the grid, with and without a cut."""
    scores = board_of(np.append(crowd(30), np.full(10, 0.3)) if floor else crowd(10)).scores
    fit = fit_field(
        evidence_of(bs.Leaderboard(scores, n_test=N, rounding="exact")),
        ONE,
        np.random.default_rng(0),
    )
    evidence, point = fit.evidence, np.array([[0.1, -0.3]])
    assert evidence.is_cut == floor
    parameters, rng = repeated(fit, point[0]), np.random.default_rng(1)
    skills = draw_skills(fit, parameters, rng, every=True)
    score = fresh_scores(fit, parameters, rng, skills.psi[:, skills.classifier])
    fresh = fresh_scores(fit, parameters, rng)
    density = fit.density("normal", point)[0]
    sd = np.sqrt((1 - 0.7**2) * evidence.psi * (1 - evidence.psi) / N)
    low = (evidence.values[0] - 0.5) / N if floor else -np.inf
    truncated = stats.truncnorm((low - evidence.psi) / sd, np.inf, evidence.psi, sd)
    mean, square = truncated.mean(), truncated.var() + truncated.mean() ** 2
    weights = density * fit.tables[0].typical
    weights /= weights.sum()
    variance = weights @ square - (weights @ mean) ** 2
    assert fresh.mean() == pytest.approx(weights @ mean, abs=5 * np.sqrt(variance / fresh.size))
    assert fresh.var() == pytest.approx(variance, rel=0.03)
    own = fit.tables[0].score[evidence.row] * density
    own /= own.sum(axis=1, keepdims=True)
    expected, spread = own @ mean, np.sqrt(own @ square - (own @ mean) ** 2)
    assert np.abs((score.mean(axis=0) - expected) / spread).max() < 5 / np.sqrt(4000)
    np.testing.assert_allclose(score.std(axis=0), spread, rtol=0.06)
    if floor:
        assert score.min() >= evidence.values[0] / N
    np.testing.assert_allclose(fresh * N, np.round(fresh * N), atol=1e-9)


def test_replicates_of_relatives_keep_their_correlation() -> None:
    data = field_scores()
    found = influence_correlation(summed_by_cluster(data.influence, data.clusters), data.scores)
    evidence = evidence_of(data)
    fit = fit_field(evidence, ONE, np.random.default_rng(0))
    psi = np.tile(evidence.scores[evidence.entries] + 9.0, (20_000, 1))  # far above the cut
    scores = evidence.draw_scores(psi, 0.7, 0.0, np.random.default_rng(0))
    residual = found.residual[np.ix_(evidence.entries, evidence.entries)]
    np.testing.assert_allclose(np.corrcoef(scores.T), residual, atol=0.03)
    own = 1 - evidence.loading(0.7, evidence.entries) ** 2
    sd = data.standard_errors[evidence.entries] * np.sqrt(own)
    np.testing.assert_allclose(scores.std(axis=0), sd, rtol=0.15)
    density, whole = fit.density("normal", np.zeros((5000, 2))), replace(fit.tables[0], reach=None)
    fresh = draw_fresh(fit, whole, density, np.random.default_rng(1))
    ranks = stats.spearmanr(fresh).statistic
    np.testing.assert_allclose(ranks, 6 / np.pi * np.arcsin(residual / 2), atol=0.06)


@pytest.mark.slow
def test_the_sign_is_that_of_the_metric() -> None:
    """The same scores with the other sign."""
    down, up = with_errors(), bs.Leaderboard(-SCORES, metric="score", standard_error=0.03)
    down, up = (sample_board(one, ONE, draws=100, random_seed=0)[0] for one in (down, up))
    assert np.all(np.diff(down["observed_data"]["sorted_score"]) >= 0)
    for group in ("posterior", "prior", "posterior_predictive", "prior_predictive", "predictions"):
        for name, values in down[group].data_vars.items():
            same = name in ("spread", "rho", "shift", "shape", "n_above_sota")
            other = up[group][name] if same else -up[group][name]
            np.testing.assert_allclose(values, other, err_msg=f"{group}/{name}")


def test_large_groups_keep_some_draws_or_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    board, options = board_of(crowd(10)), {"draws": 50, "chains": 2, "random_seed": 0}
    monkeypatch.setattr(sample, "LARGEST_GROUP", 8 * 10 * 100 - 1)
    monkeypatch.setattr(sample, "_REPLICATED", 10 * 100 // 4 + 1)
    tree = sample_board(board, ONE, **options)[0]
    for name in ("prior", "prior_predictive", "posterior_predictive"):
        assert tree[name]["draw"].values.tolist() == list(range(0, 50, 4))
    assert "log_likelihood" not in tree.children
    assert "no group log_likelihood" in tree.attrs["notes"]
    assert "log_prior" in tree.children
