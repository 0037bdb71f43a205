"""NUTS and the exact route of a whole leaderboard agree; the calibration study is marked slow."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import BoardPriors
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.leaderboard import sample
from bayes_sota.leaderboard.posterior import leaderboard_posterior
from bayes_sota.leaderboard.sample import sample_board_nuts
from bayes_sota.maximum.score_laws import score_law

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
        group = "predictions" if name.endswith("new_score") else "posterior"
        ours, reference = result[group][name].values, exact.draws[name]
        assert ours.mean() == pytest.approx(reference.mean(), abs=tolerance * reference.std()), name
        assert ours.std() == pytest.approx(reference.std(), rel=0.2), name


@pytest.fixture(scope="module")
def tree():
    """Draws of the exact fit in the place of those of NUTS: everything but the sampler."""

    def drawn(fit, family, settings, rng):
        points = fit.points[fit.families.index(family)]
        shape = settings["chains"], settings["draws"]
        columns = [rng.choice(len(points.points), shape, p=w) for w in points.weights.T]
        coordinates = points.points[np.stack(columns, axis=2)]
        stats = dict.fromkeys(("diverging", "n_steps"), (("chain", "draw"), np.zeros(shape)))
        dims = ("chain", "draw", "rho_node", "parameter")
        posterior = xr.Dataset({"coordinates": (dims, coordinates)})
        return xr.DataTree.from_dict({"posterior": posterior, "sample_stats": xr.Dataset(stats)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "_sample_family", drawn)
        return sample_board_nuts(small_board(), BoardPriors(), draws=2000, chains=2, random_seed=1)


def test_what_is_drawn_beside_the_parameters_agrees_with_the_exact_route(tree):
    assert_same_posterior(
        tree, leaderboard_posterior(small_board(), draws=8000, random_seed=2), 0.1
    )
    variables = {**tree["posterior"].data_vars, **tree["predictions"].data_vars}
    assert {value.shape[:2] for value in variables.values()} == {(2, 2000)}
    posterior, found = tree["posterior"], tree["sample_stats"]
    assert np.all(posterior["winner_skill"] <= posterior["theta_sota"])
    rho, prior = posterior["rho"].values, BoardPriors().correlation
    for node in range(7):  # every draw has the rho of its node's cell
        low, high = prior.quantile([node / 7, (node + 1) / 7])
        inside = rho[found["rho_node"].values == node]
        assert np.all((inside >= low) & (inside <= high))
        assert abs(inside.size - rho.size / 7) <= 2
    probability = tree["sample_stats/families"]["probability"]
    for index, name in enumerate(BoardPriors().families):
        share = np.mean(found["family"].values == index)
        assert share == pytest.approx(float(probability.sel(family=name)), abs=0.03)


@pytest.mark.slow
def test_nuts_agrees_with_the_exact_route():
    found = sample_board_nuts(
        small_board(), ONE, draws=3000, tune=300, chains=2, cores=1, random_seed=1
    )
    exact = leaderboard_posterior(small_board(), ONE, draws=20_000, random_seed=2)
    assert_same_posterior(found, exact)
    assert found.attrs["divergences"] == found["sample_stats"]["diverging"].sum() <= 10
    assert found.attrs["r_hat"] < 1.06
    assert found.attrs["ess_bulk"] > 200
    assert (found.attrs["families"], found.attrs["random_seed"]) == ("normal", "1")


@pytest.mark.parametrize("name", ["draws", "tune", "chains"])
def test_what_cannot_be_sampled_is_refused(name):
    with pytest.raises(InputError, match=f"{name} must be a whole number from 1"):
        sample_board_nuts(small_board(), ONE, **{name: 0})


@pytest.mark.slow
def test_the_average_over_families_agrees_with_the_exact_route():
    rng = np.random.default_rng(11)
    board = board_of(rng, 1 / (1 + np.exp(-rng.normal(2.0, 0.4, 60))), 1000)
    result = sample_board_nuts(board, BoardPriors(), draws=1000, tune=500, random_seed=3)
    exact = leaderboard_posterior(board, draws=20_000, random_seed=4)
    assert_same_posterior(result, exact, 0.12)


N_SBC = 400
SBC = BoardPriors(typical=(0.7, 0.95), spread=(0.1, 0.8), families=("normal",))


def ranks_of_one_board(replicate, entries=12):
    """Truth and board from the model itself; ranks of the truths among the draws of NUTS."""
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
    draws = sample_board_nuts(
        board, SBC, draws=100, tune=300, chains=2, cores=1, random_seed=replicate
    )["posterior"]
    return {name: float(np.mean(draws[name].values < value)) for name, value in truth.items()}


@pytest.mark.slow
def test_ranks_of_simulated_truths_are_uniform():
    """Simulation-based calibration: 200 boards of 12 entries with a normal field."""
    from joblib import Parallel, delayed

    ranks = Parallel(n_jobs=2)(delayed(ranks_of_one_board)(i) for i in range(200))
    for name in ranks[0]:
        assert stats.kstest([r[name] for r in ranks], "uniform").pvalue > 0.005, name
