"""One team more: against simulated teams with its score, and bad input."""

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.paired import PairedNewcomer
from bayes_sota.paired.hyperparameters import densities_of
from bayes_sota.paired.posterior import paired_posterior
from bayes_sota.paired.sample import estimate_paired

SIZES = (500, 1500)


@pytest.fixture(scope="module")
def boards() -> bs.PairedBoards:
    rng = np.random.default_rng(1)
    skill = rng.normal(0.75, 0.03, 25)
    public, private = (rng.binomial(n, skill) / n for n in SIZES)
    return bs.PairedBoards(public, private, n_test=SIZES)


@pytest.fixture(scope="module")
def tree(boards: bs.PairedBoards) -> xr.DataTree:
    return estimate_paired(boards, draws=500, random_seed=0, public_alone=False, groups="estimands")


@pytest.mark.slow
@pytest.mark.parametrize("items", [None, 800])
def test_as_simulated_teams_with_that_score(boards, tree, items) -> None:
    """Teams are drawn from P of each draw, in the coordinate of the model."""
    rng = np.random.default_rng(3)
    found = paired_posterior(boards, rng=np.random.default_rng(0), draws=2000)
    likelihood, skills = found.fit.likelihood, found.skills
    density = densities_of(likelihood, skills.family, np.nan_to_num(skills.t))
    psi = np.empty((2000, 1000))
    for row, sums in enumerate(np.cumsum(density, axis=1)):
        nodes = likelihood.nodes + likelihood.step / 2
        psi[row] = np.interp(rng.random(1000) * sums[-1], sums, nodes)
    expected = np.sin(psi + skills.noise.shift[:, None]) ** 2
    best = found.draws["expected_private"].max(axis=1, keepdims=True)
    if items is None:
        n, error = SIZES[1], skills.noise.private_sd[:, None]
        place = psi + skills.noise.shift[:, None]
    else:
        best_place = np.arcsin(np.sqrt(best))
        shared = best_place - np.arcsin(np.sqrt(found.draws["theta_sota"]))[:, None]
        n, error = items, 0.5 / items**0.5
        place = psi + skills.noise.shift[:, None] - shared
    score = 0.815
    u = np.arcsin(np.sqrt((score * n + 0.25) / (n + 0.5)))
    weight = np.exp(-0.5 * ((place - u) / error) ** 2) / error
    share = np.sum(weight * (expected > best)) / weight.sum()
    result = PairedNewcomer(tree).truly_better(score, items)
    assert result["probability"] == pytest.approx(share, abs=0.01 + 4 * result["mcse"])
    assert 0.2 < share < 0.98


@pytest.mark.slow
def test_a_gap_on_other_items_is_binomial(tree) -> None:
    theta = tree["posterior"]["theta_sota"].values.ravel()
    best = float(tree["observed_data"]["score"].sel(board="private").max())
    counts = np.random.default_rng(4).binomial(900, np.repeat(theta + 0.01, 200))
    found = PairedNewcomer(tree).shown(0.01, 900)
    assert found["best_score"] == best
    assert found["probability"] == pytest.approx(np.mean(counts / 900 >= best), abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("gap", [0.01, 0.03])
def test_a_gap_on_the_same_items_as_simulated_scores(boards, tree, gap) -> None:
    """The newcomer has the luck of the private items that the best team has in each draw."""
    posterior = tree["posterior"].to_dataset()
    at = posterior["best"].values.astype(int)
    expected = posterior["expected_private"].transpose("chain", "draw", ...).values
    with_luck = np.take_along_axis(expected, at[..., None], axis=-1)[..., 0]
    theta = posterior["theta_sota"].values
    angles = [np.arcsin(np.sqrt(x)) for x in (theta + gap, with_luck, theta)]
    place = (angles[0] + angles[1] - angles[2]).ravel()
    sd = 0.5 / SIZES[1] ** 0.5 * np.sqrt(1 - posterior["rho"].values.ravel() ** 2)
    rng = np.random.default_rng(4)
    scores = np.sin(place[:, None] + sd[:, None] * rng.standard_normal((place.size, 400))) ** 2
    best = float(tree["observed_data"]["score"].sel(board="private").max())
    share = np.mean(np.round(scores * SIZES[1]) >= np.round(best * SIZES[1]))
    found = PairedNewcomer(tree).shown(gap)
    assert found["best_score"] == best
    assert found["probability"] == pytest.approx(share, abs=0.01)
    assert 0.3 < share < 0.999


@pytest.mark.slow
def test_more_is_more_convincing(tree) -> None:
    p = [PairedNewcomer(tree).truly_better(x)["probability"] for x in (0.78, 0.81, 0.83, 0.9)]
    assert np.all(np.diff(p) > 0)
    assert p[-1] > 0.99
    shown = [PairedNewcomer(tree).shown(gap)["probability"] for gap in (0.001, 0.02, 0.05)]
    assert np.all(np.diff(shown) > 0)


def test_what_cannot_be_is_refused(tree, boards) -> None:
    with pytest.raises(InputError, match="two boards of the same teams are taken by"):
        bs.leaderboard.estimate_sota(boards)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="percent"):
        PairedNewcomer(tree).truly_better(81.0)
    with pytest.raises(InputError, match="gap must be"):
        PairedNewcomer(tree).shown(-0.1)
    with pytest.raises(InputError, match="no result of estimate_paired"):
        PairedNewcomer(xr.DataTree()).truly_better(0.8)
