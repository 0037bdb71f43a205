"""Evidence of two boards: tables against simulation, what differences say, the selection."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

import bayes_sota as bs
from bayes_sota.core.priors import FixedCorrelation, PairedPriors
from bayes_sota.leaderboard.pairs import (
    FLAT,
    WIDE,
    Noise,
    Pairs,
    coordinates,
    draw_alone,
    draw_scores,
    reach_at,
    table_at,
)
from bayes_sota.leaderboard.pairs_posterior import NoiseNodes, shift_posterior, shift_prior
from bayes_sota.maximum.score_laws import NormalLaw


def noise_of(**values: float) -> Noise:
    usual = {"public_sd": 0.01, "private_sd": 0.02, "rho": 0.7, "luck": 0.0}
    return Noise(**usual | {"shift": 0.003, "outliers": 0.05} | values)


def boards(m: int = 60, seed: int = 0, **options) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    psi = rng.normal(0.8, 0.03, m)
    x, y = psi + 0.01 * rng.standard_normal(m), psi + 0.02 * rng.standard_normal(m)
    return bs.PairedBoards(x, y, **options)


def far_of(pairs: Pairs) -> np.ndarray:
    """Standard deviations of residuals that say nothing: half of the range of the scores."""
    return np.maximum(np.ptp(pairs.observed, axis=0), 6 * pairs.base_sd) / 2


def test_the_coordinate_goes_there_and_back() -> None:
    scores = np.array([0.0, 0.5, 0.75, 0.93, 1.0])
    data = bs.PairedBoards(scores, scores[::-1], n_test=(100, 400))
    again = Pairs.of(data, top=1.0).printed(coordinates(data))
    np.testing.assert_allclose(again, np.stack([data.public, data.private], axis=1), atol=1e-9)


@pytest.mark.parametrize("luck", [0.0, 0.7])
def test_tables_are_densities_of_simulated_scores(luck: float) -> None:
    """Both scores at one skill: the density integrates to 1, and to simulated shares.

    Errors are drawn here, with the largest of 40 as it is, not by its mean and variance.
    """
    pairs, rng = Pairs.of(boards(40, submissions=[40] * 40), top=1.0), np.random.default_rng(1)
    best = rng.standard_normal((100_000, 40)).max(axis=1)
    errors = rng.standard_normal((100_000, 2))
    errors[:, 0] = luck * (best - best.mean()) + np.sqrt(1 - luck**2) * errors[:, 0]
    x, y = (errors * np.where(rng.random(errors.shape) < 0.05, WIDE, 1) * [0.01, 0.02]).T + 0.8
    x += luck * 0.01 * best.mean() - 0.003
    edges = np.linspace(0.55, 1.05, 251)
    at = tuple(v.ravel() for v in np.meshgrid(*2 * [(edges[1:] + edges[:-1]) / 2]))
    on_grid = replace(pairs, observed=np.stack(at, axis=1), n_counted=at[0].size, y=np.zeros(1),
                      kind=np.zeros(at[0].size, np.int64),
                      law=NormalLaw(0.8, 0, 0.01, centre=0.8))  # fmt: skip
    vars(on_grid).update(trend=luck * 0.01 / 2, base_sd=pairs.base_sd)  # no slope
    table = table_at(on_grid, noise_of(luck=luck))
    mass = table.score[:, 0] * np.exp(table.log_scale) * 0.002**2
    assert mass.sum() == pytest.approx(1, abs=0.01)
    for low, high in ((0.78, 0.8), (0.8, 0.82), (0.81, 0.86)):
        share = np.mean((x > low) & (x < high) & (y > low))
        inside = (at[0] > low) & (at[0] < high) & (at[1] > low)
        assert share == pytest.approx(mass[inside].sum(), abs=0.006)


def test_unusual_share_of_flat_skills_by_hand() -> None:
    """A mixture of normals, and scores that say nothing."""
    pairs = Pairs.of(boards(100), top=0.3)
    noise = Noise(*np.array(noise_of())[:, None, None])
    psi, unusual = draw_alone(pairs, noise.at(np.zeros(500, int)), np.random.default_rng(0))
    mean, unusual = psi.mean(axis=0), unusual[0]
    x, y = pairs.observed.T
    parts, widths = (0.95, 0.05), (1.0, WIDE)
    each = [
        (1 - 2 * FLAT) * p * q * norm.pdf(y - x - 0.003, 0, np.hypot(0.01 * a, 0.02 * b))
        for p, a in zip(parts, widths, strict=True)
        for q, b in zip(parts, widths, strict=True)
    ]
    nothing = sum(
        FLAT * norm.pdf(y - x - 0.003, 0, np.hypot(far, own))
        for far, own in zip(far_of(pairs), (0.02, 0.01), strict=True)
    )
    np.testing.assert_allclose(unusual, 1 - each[0] / (sum(each) + nothing), rtol=1e-9)
    usual = unusual < 0.1
    np.testing.assert_allclose(mean[usual], (0.8 * (x + 0.003) + 0.2 * y)[usual], atol=0.004)


@pytest.mark.parametrize("luck", [0.0, 0.7])
def test_reach_is_the_share_of_simulated_means_above_the_cut(luck: float) -> None:
    pairs = Pairs.of(boards(100, submissions=[1 + i % 2 * 50 for i in range(100)]), top=0.3)
    assert pairs.is_cut
    free = Pairs.of(pairs.boards, top=1.0)
    for of_either in (pairs, free):
        vars(of_either)["trend"] = luck * 0.01 / 2  # no slope
    psi = pairs.cut + 0.004
    reach = reach_at(pairs, noise_of(luck=luck), np.array([psi]))[:, 0]
    draws = Noise(*np.tile(noise_of(luck=luck), (4_000, 1)).T[:, :, None])
    scores = draw_scores(free, draws, np.full((4_000, 100), psi), np.random.default_rng(3))
    above = (np.sum(scores, axis=2) + pairs.middle) / 2 >= pairs.cut
    for kind, expected in enumerate(reach):
        assert above[:, free.kind == kind].mean() == pytest.approx(expected, abs=0.02)


def test_the_shift_of_normal_differences_in_closed_form() -> None:
    """With few outliers and offsets: a normal mean with a normal prior."""
    priors = PairedPriors(FixedCorrelation(0.7), offsets=(0.0,))
    pairs = Pairs.of(boards(200, standard_errors=(0.015, 0.03)), priors, top=1.0)
    nodes = NoiseNodes.of(pairs, [np.zeros(1)] * 4)
    d, own = np.diff(pairs.observed), nodes.noise.difference_sd[0] ** 2 / 200
    prior = 0.7**2 * (0.015**2 + 0.03**2)
    mean = float(d.mean()) * prior / (prior + own)
    assert nodes.noise.shift[0] == pytest.approx(mean, abs=0.3 * np.sqrt(own))
    sd = shift_prior(pairs, nodes.noise, nodes.noise.shift)[1]
    assert sd == pytest.approx(np.sqrt(prior), rel=1e-3)
    drawn, _ = nodes.draw(np.zeros(4000, np.int64), np.random.default_rng(0))
    assert drawn.shift.std() == pytest.approx(np.sqrt(own * prior / (own + prior)), rel=0.15)


def test_the_share_of_wide_residuals_is_that_of_a_fine_grid() -> None:
    """A tenth of the teams gained four standard deviations of a difference, as in a study."""
    rng, shares = np.random.default_rng(4), np.linspace(0.0005, 0.5, 1000)
    skill, gain = rng.normal(0.8, 0.03, 100), 0.09 * (np.arange(100) < 10)
    x, y = skill + gain + 0.01 * rng.standard_normal(100), skill + 0.02 * rng.standard_normal(100)
    pairs = Pairs.of(bs.PairedBoards(x, y), top=1.0)
    grid, log_joint = shift_posterior(pairs, noise_of(shift=0.0))
    p = np.exp(log_joint - log_joint.max())
    odds = -4 + 1.5 * np.linspace(-2.5, 2.5, 11)
    share = p.sum(axis=1) @ expit(odds) / p.sum()
    shift, far = p.sum(axis=0) @ grid / p.sum(), far_of(pairs)
    density = sum(
        FLAT * norm.pdf(y - x - shift, 0, np.hypot(f, own))
        for f, own in zip(far, (0.02, 0.01), strict=True)
    )
    for p, a in ((1 - shares, 1.0), (shares, WIDE)):
        for q, b in ((1 - shares, 1.0), (shares, WIDE)):
            own = norm.pdf(y - x - shift, 0, np.hypot(0.01 * a, 0.02 * b))
            density = density + (1 - 2 * FLAT) * (p * q)[:, None] * own
    log_p = np.log(density).sum(axis=1) + norm.logpdf(np.log(shares / (1 - shares)), -4, 1.5)
    weight = np.exp(log_p - log_p.max()) / (shares * (1 - shares))  # of odds that are normal
    assert share == pytest.approx(weight @ shares / weight.sum(), rel=0.05)


def test_copies_count_once_with_the_median_of_their_submissions() -> None:
    x, y = np.random.default_rng(7).normal(0.8, 0.02, (2, 60))
    numbers = np.r_[np.full(60, 1), np.full(40, 9)]
    copied = bs.PairedBoards(np.r_[np.full(40, x[0]), x], np.r_[np.full(40, y[0]), y],
                             submissions=numbers[::-1])  # fmt: skip
    merged = Pairs.of(copied, top=1.0)
    assert (merged.kept.size, merged.n_copies, merged.n_below) == (60, 40, 0)
    place = int(np.flatnonzero(merged.kept == 0)[0])
    assert merged.numbers[merged.kind[place]] == 9
    assert merged.winner == np.argmax(merged.scores[:, 0])
    assert Pairs.of(bs.PairedBoards(*[np.repeat([0.1, 0.2, 0.3, 0.4, 0.5], 2)] * 2, n_test=10),
                    top=1.0).n_copies == 0  # fmt: skip


def test_selection_keeps_the_top_of_either_board_and_counts_by_the_mean() -> None:
    x = np.arange(100.0)
    y = x + np.tile([0.0, 0.1], 50)
    y[3] = 60.5
    pairs = Pairs.of(bs.PairedBoards(x, y))
    assert set(pairs.kept) == {3, *range(50, 100)}
    assert pairs.n_counted == 50
    assert pairs.kept[50:] == [3]  # its mean is below the cut
    assert not Pairs.of(bs.PairedBoards(x[:20], y[:20])).is_cut
    large = np.arange(10_000.0)
    assert [Pairs.of(bs.PairedBoards(large, large + large % 2), top=top).n_counted
            for top in (None, 0.5)] == [1_500, 5_000]  # fmt: skip


def test_errors_of_unequal_size_do_not_move_the_shift() -> None:
    """Teams are selected by their means, which correlate with the differences."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        psi = rng.normal(0.8, 0.02, 400)
        x, y = psi + 0.02 * rng.standard_normal(400), psi + 0.004 * rng.standard_normal(400)
        pairs = Pairs.of(bs.PairedBoards(x, y))
        noise = noise_of(public_sd=0.02, private_sd=0.004, shift=0.0)
        raw = np.diff(pairs.observed[: pairs.n_counted])
        found.append([raw.mean(), pairs.differences(noise).mean()])
    raw, corrected = np.mean(found, axis=0)
    assert raw < -0.004
    assert abs(corrected) < 0.0015
