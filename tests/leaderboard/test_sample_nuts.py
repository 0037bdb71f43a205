"""NUTS and the exact route of a whole leaderboard agree; the calibration study is marked slow."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard.posterior import leaderboard_posterior
from bayes_sota.leaderboard.sample_nuts import sample_leaderboard_nuts

ONE = BoardPriors(families=("normal",))
ESTIMANDS = ("theta_sota", "winner_skill", "expected_sota", "winner_new_score", "best_new_score")


def board_of(rng, skills, n_test=400):
    scores = rng.binomial(n_test, np.clip(skills, 0, 1)) / n_test
    return Leaderboard(scores, n_test=n_test, rounding="exact")


def small_board():
    rng = np.random.default_rng(7)
    return board_of(rng, 1 / (1 + np.exp(-rng.normal(2.0, 0.4, 12))))


def assert_same_posterior(result, exact, tolerance=0.25):
    for name in (*ESTIMANDS, "shift", "rho", "n_above_sota"):
        ours, reference = result.draws[name], exact.draws[name]
        assert ours.mean() == pytest.approx(reference.mean(), abs=tolerance * reference.std()), name
        assert ours.std() == pytest.approx(reference.std(), rel=0.2), name


@pytest.fixture(scope="module")
def nuts():
    return sample_leaderboard_nuts(
        small_board(), ONE, draws=3000, tune=300, chains=2, cores=1, random_seed=1
    )


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route(nuts):
    assert_same_posterior(
        nuts, leaderboard_posterior(small_board(), ONE, draws=20_000, random_seed=2)
    )


def test_draws_keep_their_order_and_their_shape(nuts):
    assert {value.shape for value in nuts.draws.values()} == {(2, 3000)}
    assert {value.shape for value in nuts.sample_stats.values()} == {(2, 3000)}
    assert {*ESTIMANDS, "shift", "rho", "n_above_sota", "n_classifiers"} == set(nuts.draws)
    assert np.all(nuts.draws["winner_skill"] <= nuts.draws["theta_sota"])
    rho = nuts.draws["rho"]
    for node in range(7):  # every draw has the rho of its node's cell
        low, high = ONE.correlation.quantile([node / 7, (node + 1) / 7])
        inside = rho[nuts.sample_stats["rho_node"] == node]
        assert np.all((inside >= low) & (inside <= high))
        assert abs(inside.size - rho.size / 7) <= 2
    np.testing.assert_array_equal(nuts.posterior.draws["rho"], rho.ravel())


def test_rho_and_shift_keep_their_priors(nuts):
    beta = ONE.correlation
    assert stats.kstest(nuts.draws["rho"].ravel(), stats.beta(beta.a, beta.b).cdf).pvalue > 1e-3
    assert stats.kstest(nuts.draws["shift"].ravel(), stats.norm.cdf).pvalue > 1e-3


def test_the_sampler_reports_how_it_fared(nuts):
    assert nuts.attributes["divergences"] == nuts.sample_stats["diverging"].sum() <= 3
    assert nuts.attributes["r_hat"] < 1.06
    assert nuts.attributes["ess_bulk"] > 100
    assert nuts.attributes["families"] == "normal"
    assert nuts.attributes["random_seed"] == "1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 0}, "draws must be at least 1"),
        ({"tune": 0}, "tune must be at least 1"),
        ({"chains": 0}, "chains must be at least 1"),
        ({"family": "plateau"}, "not one of the priors'; allowed: auto, normal"),
    ],
)
def test_what_cannot_be_sampled_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        sample_leaderboard_nuts(small_board(), ONE, **arguments)


def test_a_maximum_alone_is_refused():
    with pytest.raises(InputError, match="only the maximum"):
        sample_leaderboard_nuts(Leaderboard.from_maximum("0.98", n_test=200, n_classifiers=50), ONE)


@pytest.mark.slow
def test_the_average_over_families_agrees_with_the_exact_route():
    rng = np.random.default_rng(11)
    board = board_of(rng, 1 / (1 + np.exp(-rng.normal(2.0, 0.4, 60))), 1000)
    result = sample_leaderboard_nuts(board, draws=1000, tune=500, random_seed=3)
    assert_same_posterior(result, leaderboard_posterior(board, draws=20_000, random_seed=4), 0.12)
    probability = result.posterior.family_probability
    for index, name in enumerate(result.posterior.fit.families):
        share = np.mean(result.sample_stats["family"] == index)
        assert share == pytest.approx(probability[name], abs=0.03)


N_SBC = 400
SBC = BoardPriors(typical=(0.7, 0.95), spread=(0.1, 0.8), families=("normal",))


def ranks_of_one_board(replicate, entries=12):
    """Truth and board from the model itself; ranks of the truths among the draws of NUTS."""
    from bayes_sota.maximum.score_laws import score_law

    rng = np.random.default_rng([20, replicate])
    place = rng.normal(*SBC.location)
    spread = np.exp(rng.normal(*SBC.log_spread))
    y = rng.normal(place, spread, entries)
    strangers = rng.random(entries) < 0.5 / entries
    y = np.where(strangers, rng.normal(*SBC.location, entries), y)
    psi = 1 / (1 + np.exp(-y))
    rho, z = SBC.correlation.quantile(rng.random()), rng.standard_normal()
    # variance (1 - rho^2) n psi (1 - psi): the normal approximation of the kernel's law
    noise = rng.standard_normal(entries) * np.sqrt((1 - rho**2) * N_SBC * psi * (1 - psi))
    counts = np.clip(np.rint(N_SBC * psi + noise), 0, N_SBC)
    board = Leaderboard(counts / N_SBC, n_test=N_SBC, rounding="exact")
    skill = score_law(board).remove_shift(psi, np.full(entries, rho * z))
    truth = {
        "theta_sota": skill.max(),
        "winner_skill": skill[counts == counts.max()].mean(),
        "shift": z,
        "rho": rho,
    }
    draws = sample_leaderboard_nuts(
        board, SBC, draws=100, tune=300, chains=2, cores=1, random_seed=replicate
    ).draws
    return {name: float(np.mean(draws[name] < value)) for name, value in truth.items()}


@pytest.mark.slow
def test_ranks_of_simulated_truths_are_uniform():
    """Simulation-based calibration: 200 boards of 12 entries with a normal field."""
    from joblib import Parallel, delayed

    ranks = Parallel(n_jobs=2)(delayed(ranks_of_one_board)(i) for i in range(200))
    for name in ranks[0]:
        assert stats.kstest([r[name] for r in ranks], "uniform").pvalue > 0.005, name
