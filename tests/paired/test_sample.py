"""The tree of two boards: log likelihood, prior, replicates, tables, what ArviZ makes of them."""

from functools import partial

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.priors import PAIR_FAMILIES
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired import posterior, sample
from bayes_sota.paired.hyperparameters import read_draws
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.teams import Selection


def some_boards() -> bs.PairedBoards:
    """Sixty teams, of which the better half counts, and six copies of the best."""
    rng = np.random.default_rng(1)
    skill = rng.normal(0.8, 0.03, 60)
    x, y = skill + rng.normal(0, 0.02, (2, 60))
    best = int(x.argmax())
    return bs.PairedBoards(
        np.r_[x, np.full(6, x[best])], np.r_[y, np.full(6, y[best])], standard_errors=(0.02, 0.02)
    )


@pytest.fixture(scope="module")
def tree() -> xr.DataTree:
    families = ("normal", "ex-gaussian")
    quick = partial(posterior.fit_pairs, families=families)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            posterior, "fit_pairs", lambda likelihood, rng, points: quick(likelihood, rng)
        )
        return bs.estimate_paired(some_boards(), draws=200, chains=2, random_seed=0)


def test_estimate_sota_hands_two_boards_on(monkeypatch: pytest.MonkeyPatch) -> None:
    boards, given = some_boards(), {"priors": PairedPriors(), "model": None, "draws": 7,
        "chains": 3, "random_seed": 5, "groups": "estimands"}  # fmt: skip
    monkeypatch.setattr(sample, "estimate_paired", lambda *args, **settings: (args, settings))
    assert bs.estimate_sota(boards, **given) == ((boards,), given)
    assert bs.estimate_sota(boards, method="exact", draws=7) == ((boards,), {"draws": 7})


def flat(data: xr.Dataset) -> dict[str, np.ndarray]:
    return {k: v.values.reshape(-1, *v.shape[2:]) for k, v in data.data_vars.items()}


def test_log_likelihood_is_what_the_points_were_weighted_by(tree: xr.DataTree) -> None:
    boards = some_boards()
    likelihood = PairedLikelihood.of_teams(
        boards, Selection.of_boards(boards).teams, PairedPriors()
    )
    draws = flat(tree["posterior"].to_dataset())
    t, noise = read_draws(likelihood, draws)
    total = tree["log_likelihood"]["score"].sum("classifier").values.ravel()
    assert tree["log_likelihood"]["score"].dims == ("chain", "draw", "classifier")
    for i in range(0, 400, 40):
        family = FAMILIES[list(FAMILIES)[draws["family"][i]]]
        start, width = likelihood.shift_scale
        own = np.array([
            posterior_normal(5.7, 2.6, noise.rho[i]),
            (np.log(noise.outliers[i] / (1 - noise.outliers[i])) + 4) / 1.5,
            (noise.shift[i] - start) / width,
        ])  # fmt: skip
        point = np.r_[t[i, : family.dimension], own][None]
        correction = likelihood.log_prior_correction(own[None], likelihood.residuals(own[None]))
        found = likelihood.log_likelihood(family, point)[0, 0] - correction[0]
        assert total[i] == pytest.approx(found, abs=1e-6)


def posterior_normal(a: float, b: float, rho: float) -> float:
    from scipy.stats import beta, norm

    return float(norm.ppf(beta.cdf(rho, a, b)))


def test_copies_share_one_likelihood_and_one_replicate(tree: xr.DataTree) -> None:
    group = tree["constant_data"]["group"].values
    same = np.flatnonzero(group == np.bincount(group).argmax())
    assert same.size == 7
    for name in ("log_likelihood", "posterior_predictive", "prior_predictive"):
        copies = tree[name]["score"].isel(classifier=same)
        assert np.all(copies.values == copies.isel(classifier=[0]).values)


def test_replicates_scatter_around_the_skills_that_they_are_of(tree: xr.DataTree) -> None:
    """Far above the thresholds the mean is the expected score, the variance that of residuals."""
    best = tree.attrs["public_winner"]
    score = tree["posterior_predictive"]["score"].sel(classifier=best, board="private")
    gap = (score - tree["posterior"]["expected_private"].sel(classifier=best)).values
    usual = tree["posterior"]["residual_sd"].values / np.sqrt(2)
    assert abs(np.median(gap)) < 4 * usual.mean() / 20
    assert np.median(np.abs(gap)) == pytest.approx(0.6745 * usual.mean(), rel=0.25)


def test_the_prior_is_wider_and_has_its_own_winner(tree: xr.DataTree) -> None:
    prior, found = tree["prior"], tree["posterior"]
    assert set(prior.data_vars) == set(found.data_vars)
    for name in ("theta_sota", "winner_skill", "location", "score_shift"):
        assert prior[name].std() > 1.1 * found[name].std(), name
    best = tree["prior_predictive"]["score"].sel(board="public").max("classifier")
    np.testing.assert_allclose(prior["multiplicity_bias"], best - prior["theta_sota"])
    assert prior["rho"].mean() == pytest.approx(5.7 / 8.3, abs=0.03)
    assert np.all(prior["theta_sota"] >= prior["winner_skill"])
    assert np.bincount(prior["family"].values.ravel()).size == len(PAIR_FAMILIES)
