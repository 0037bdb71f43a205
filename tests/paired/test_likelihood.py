"""Likelihood of two boards: brute-force integration, coordinates, priors."""

import numpy as np
import pytest
from scipy.stats import norm

from bayes_sota.core.builders import PairedPriors
from bayes_sota.leaderboard.shapes import FAMILIES
from bayes_sota.paired.likelihood import PairedLikelihood, shift_log_weights
from bayes_sota.paired.residuals import FLAT, WIDE
from bayes_sota.paired.teams import Coordinate, Teams


def some_scores() -> np.ndarray:
    rng = np.random.default_rng(0)
    psi = rng.normal(0.8, 0.03, 60)
    return np.stack(
        [psi + 0.01 * rng.standard_normal(60), psi + 0.02 + 0.015 * rng.standard_normal(60)]
    )


def some_teams(threshold: tuple[float, float] | None) -> Teams:
    x, y = some_scores()
    y[3] = 0.3  # a failed run
    kept = slice(None) if threshold is None else (x >= threshold[0]) | (y >= threshold[1])
    return Teams(x[kept], y[kept], threshold)


def brute_force(likelihood: PairedLikelihood, family: str, t: np.ndarray) -> float:
    """Sum over the grid for every team; no convolution, no interpolation."""
    noise = likelihood.residuals(t[:, FAMILIES[family].dimension :])
    mass = likelihood.densities(FAMILIES[family], t)[0] * likelihood.step
    nodes, wide = likelihood.nodes, noise.outliers[0]

    def density(score: float, sd: float) -> np.ndarray:
        z = score - nodes
        return (1 - FLAT) * ((1 - wide) * norm.pdf(z, 0, sd) + wide * norm.pdf(z, 0, WIDE * sd))

    def below(board: int, sd: float, shift: float) -> np.ndarray:
        threshold, flat = likelihood.flat_below(board)
        z = (threshold - shift - nodes) / sd
        usual = (1 - wide) * norm.cdf(z) + wide * norm.cdf(z / WIDE)
        return (1 - FLAT) * usual + FLAT * flat

    teams, shift = likelihood.teams, float(noise.shift[0])
    assert teams.y is not None
    s1, s2 = float(noise.public_sd[0]), float(noise.private_sd[0])
    h1, h2 = (FLAT / width for width in likelihood.ranges)
    total = 0.0
    for x, y in zip(teams.x, teams.y, strict=True):
        f1, f2 = density(x, s1), density(y - shift, s2)
        total += np.log((mass * (f1 * f2 + h1 * f2 + h2 * f1)).sum() + h1 * h2)
    if teams.threshold is not None:
        missed = below(0, s1, 0.0) * below(1, s2, shift)
        total -= teams.x.size * np.log((mass * (1 - missed)).sum())
    return total


@pytest.mark.parametrize("threshold", [None, (0.79, 0.81)])
@pytest.mark.parametrize("errors", [None, (0.02, 0.02)])
@pytest.mark.parametrize("family", FAMILIES)
def test_convolutions_agree_with_brute_force(
    family: str, errors: tuple[float, float] | None, threshold: tuple[float, float] | None
) -> None:
    likelihood = PairedLikelihood(some_teams(threshold), errors, PairedPriors())
    dimension = FAMILIES[family].dimension + len(likelihood.noise_parameters)
    t = 0.5 * np.random.default_rng(1).standard_normal((3, dimension))
    own = t[:, FAMILIES[family].dimension :]
    correction = likelihood.log_prior_correction(own, likelihood.residuals(own))
    found = likelihood.log_likelihood(FAMILIES[family], t)[:, 0] - correction
    expected = [brute_force(likelihood, family, t[i : i + 1]) for i in range(3)]
    # one team scores half in the flat residual by two routes; interpolation costs 1e-3 each
    assert found == pytest.approx(expected, abs=0.15)


def test_prior_of_the_shift_integrates_to_one() -> None:
    likelihood = PairedLikelihood(some_teams(None), (0.02, 0.02), PairedPriors())
    t = np.zeros((20_001, 3))
    t[:, 2] = np.linspace(-400, 400, len(t))
    noise = likelihood.residuals(t)
    density = np.exp(shift_log_weights(likelihood, noise)).sum(axis=1)
    assert np.trapezoid(density, noise.shift) == pytest.approx(1, abs=2e-3)


def test_coordinate_of_accuracies_has_one_noise() -> None:
    coordinate = Coordinate((400, 900))
    rng = np.random.default_rng(2)
    for skill in (0.6, 0.8, 0.95):
        u = coordinate.of_scores(rng.binomial(400, skill, 20_000) / 400, 0)
        assert u.std() == pytest.approx(coordinate.standard_errors(None)[0], rel=0.03)
        assert coordinate.to_score(u.mean()) == pytest.approx(skill, abs=5e-4)


def test_printed_scores_have_their_coordinates() -> None:
    counts = np.arange(401)[:, None] / 400
    coordinate = Coordinate((400, 400))
    u = coordinate.of_scores(np.repeat(counts, 2, axis=1), 0)
    np.testing.assert_allclose(coordinate.printed(u), np.repeat(counts, 2, axis=1), atol=1e-12)
