"""Replicated scores: residuals of the model, the selection, fields from the prior."""

import numpy as np
import pytest
from scipy.stats import kstest, norm

from bayes_sota.core.builders import PairedPriors
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired.hyperparameters import draw_prior, name_draws, read_draws
from bayes_sota.paired.likelihood import PairedLikelihood
from bayes_sota.paired.replicates import draw_field, replicate_scores
from bayes_sota.paired.residuals import FLAT, WIDE, Residuals
from bayes_sota.paired.teams import Teams

SHIFT, SD, WIDE_SHARE = 0.02, (0.02, 0.03), 0.1


def likelihood_of(threshold: tuple[float, float] | None) -> PairedLikelihood:
    rng = np.random.default_rng(0)
    psi = rng.normal(0.8, 0.03, 200)
    x, y = psi + 0.02 * rng.standard_normal((2, 200))
    kept = slice(None) if threshold is None else (x >= threshold[0]) | (y >= threshold[1])
    return PairedLikelihood(Teams(x[kept], y[kept], threshold), (0.02, 0.02), PairedPriors())


def noise(count: int) -> Residuals:
    values = (*SD, WIDE_SHARE, SHIFT)
    return Residuals(*(np.full(count, v) for v in values), None)  # type: ignore[arg-type]


def test_residuals_without_a_selection() -> None:
    likelihood = likelihood_of(None)
    psi = np.full((40, 2_000), 0.8)
    scores = replicate_scores(likelihood, psi, noise(40), np.random.default_rng(1))

    for board, (sd, shift) in enumerate(zip(SD, (0.0, SHIFT), strict=True)):
        lowest = (likelihood.teams.x, likelihood.teams.y)[board].min()
        width = likelihood.ranges[board]

        def cdf(s, sd=sd, shift=shift, lowest=lowest, width=width):
            z = (s - 0.8 - shift) / sd
            usual = (1 - WIDE_SHARE) * norm.cdf(z) + WIDE_SHARE * norm.cdf(z / WIDE)
            return (1 - FLAT) * usual + FLAT * np.clip((s - lowest) / width, 0, 1)

        assert kstest(scores[..., board].ravel(), cdf).pvalue > 0.001


def test_the_selection_is_that_of_draws_thrown_away() -> None:
    limits = (0.82, 0.86)
    free, bound = likelihood_of(None), likelihood_of(limits)
    psi = np.full((40, 5_000), 0.8)
    # the range of a score that says nothing is that of the teams
    free = free.with_teams(Teams(bound.teams.x, bound.teams.y, None))
    free.ranges = bound.ranges
    drawn = replicate_scores(free, psi, noise(40), np.random.default_rng(2))
    kept = drawn[np.any(drawn >= limits, axis=-1)]
    ours = replicate_scores(bound, psi, noise(40), np.random.default_rng(3)).reshape(-1, 2)
    assert np.all(np.any(ours >= limits, axis=-1))
    for a, b in ((kept, ours), (kept**2, ours**2), (kept >= limits, ours >= limits)):
        error = np.hypot(a.std(axis=0) / len(a) ** 0.5, b.std(axis=0) / len(b) ** 0.5)
        assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < 4 * error)


@pytest.mark.parametrize("threshold", [None, (0.82, 0.86)])
def test_fields_have_the_density_of_the_family(threshold: tuple[float, float] | None) -> None:
    likelihood = likelihood_of(threshold)
    t = np.array([[0.2, -0.3, 0.4]])
    density = likelihood.densities(FAMILIES["ex-gaussian"], t)
    rng = np.random.default_rng(4)
    psi = draw_field(likelihood, density, noise(1), 40_000, rng)[0]
    mass = density[0] if threshold is None else density[0] * (1 - likelihood.missed(noise(1))[0])
    mass = mass / mass.sum()
    mean = mass @ likelihood.nodes
    sd = np.sqrt(mass @ (likelihood.nodes - mean) ** 2)
    assert psi.mean() == pytest.approx(mean, abs=4 * sd / 200)
    assert psi.std() == pytest.approx(sd, rel=0.03)


@pytest.mark.parametrize("errors", [None, (0.02, 0.02)])
def test_names_lead_back_to_the_coordinates(errors: tuple[float, float] | None) -> None:
    teams = likelihood_of(None).teams
    likelihood = PairedLikelihood(teams, errors, PairedPriors())
    family, t, own = draw_prior(likelihood, 2_000, np.random.default_rng(5))
    assert np.bincount(family, minlength=5).min() > 300
    named = name_draws(likelihood, family, t, own)
    named |= {"outliers": own.outliers, "residual_sd": np.hypot(own.public_sd, own.private_sd)}
    named["rho"] = np.full(2_000, 0.7) if own.rho is None else own.rho
    back, found = read_draws(likelihood, named)
    np.testing.assert_allclose(back, t, atol=1e-9)
    np.testing.assert_allclose(found.private_sd, own.private_sd)
    # theory: the shift is S sqrt(rho^2 + f^2) times a standard normal
    offsets = np.array([0.0, 1, 3, 10])
    rho = 14 / 19 if own.rho is None else own.rho
    spread = np.hypot(*(errors or (1, 1)))
    if errors is not None:
        second = spread**2 * (np.mean(rho**2) + np.mean(offsets**2))
        assert np.mean(own.shift**2) == pytest.approx(second, rel=0.25)
