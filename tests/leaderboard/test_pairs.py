"""Evidence of two boards: tables against simulation, what differences say, the selection."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import bayes_sota as bs
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.priors import FixedCorrelation
from bayes_sota.leaderboard.pairs import (
    FLAT,
    WIDE,
    Coordinate,
    Noise,
    Pairs,
    densities,
    draw_alone,
    draw_scores,
    reach_at,
)
from bayes_sota.leaderboard.pairs_noise import NoiseNodes, Shift


def noise_of(size: int = 1, **values: float) -> Noise:
    usual = {"public_sd": 0.01, "private_sd": 0.02, "rho": 0.7, "luck": 0.0, "slope": 0.0,
             "shift": 0.003, "outliers": 0.05}  # fmt: skip
    return Noise(**{name: np.full(size, value) for name, value in (usual | values).items()})


def boards(m: int = 60, seed: int = 0, **options) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    psi = rng.normal(0.8, 0.03, m)
    x, y = psi + 0.01 * rng.standard_normal(m), psi + 0.02 * rng.standard_normal(m)
    return bs.PairedBoards(x, y, **options)


def test_the_coordinate_goes_there_and_back() -> None:
    coordinate, scores = Coordinate((100, 400)), np.array([0.0, 0.5, 0.93, 1.0])
    for board in (0, 1):
        u = coordinate.of_scores(scores, board)
        both = np.stack([u, u], axis=-1)
        np.testing.assert_allclose(coordinate.printed(both)[:, board], scores, atol=1e-9)


@pytest.mark.parametrize("luck", [0.0, 0.7])
def test_tables_are_densities_of_simulated_scores(luck: float) -> None:
    """Both scores at one skill: the density integrates to 1, and to simulated shares."""
    pairs = Pairs.of(boards(40, submissions=[40] * 40), top=1.0)
    rng, edges = np.random.default_rng(1), np.linspace(0.55, 1.05, 501)
    draws = draw_scores(pairs, noise_of(5_000, luck=luck), np.full((5_000, 40), 0.8), rng)
    middle = (edges[1:] + edges[:-1]) / 2
    x, y = (v.ravel() for v in np.meshgrid(middle, middle))
    on_grid = replace(pairs, public=x, private=y, kind=np.zeros(x.size, np.int64), n_counted=x.size)
    vars(on_grid)["ranges"] = pairs.ranges
    mass = densities(on_grid, noise_of(luck=luck)[0], np.array([0.8]))[:, 0] * 0.001**2
    assert mass.sum() == pytest.approx(1, abs=0.01)
    for low, high in ((0.78, 0.8), (0.8, 0.82), (0.81, 0.86)):
        share = np.mean((draws[..., 0] > low) & (draws[..., 0] < high) & (draws[..., 1] > low))
        inside = (x > low) & (x < high) & (y > low)
        assert share == pytest.approx(mass[inside].sum(), abs=0.006)


def test_unusual_share_of_flat_skills_by_hand() -> None:
    """A mixture of normals, and scores that say nothing."""
    pairs = Pairs.of(boards(100), top=0.3)
    _, unusual = draw_alone(pairs, noise_of(), np.random.default_rng(0))
    x, y = pairs.public, pairs.private
    parts, widths = (0.95, 0.05), (1.0, WIDE)
    each = [
        (1 - FLAT) ** 2 * p * q * norm.pdf(y - x - 0.003, 0, np.hypot(0.01 * a, 0.02 * b))
        for p, a in zip(parts, widths, strict=True)
        for q, b in zip(parts, widths, strict=True)
    ]
    nothing = FLAT * (1 - FLAT) * 0.95 * (1 / pairs.ranges[0] + 1 / pairs.ranges[1])
    np.testing.assert_allclose(unusual[0], 1 - each[0] / (sum(each) + nothing), rtol=1e-9)


@pytest.mark.parametrize("luck", [0.0, 0.7])
def test_reach_is_the_share_of_simulated_means_above_the_cut(luck: float) -> None:
    pairs = Pairs.of(boards(100, submissions=[1 + i % 2 * 50 for i in range(100)]), top=0.3)
    assert pairs.cut is not None
    free = Pairs.of(pairs.boards, top=1.0)
    psi = pairs.cut + 0.004
    reach = reach_at(pairs, noise_of(luck=luck)[0], np.array([psi]))[:, 0]
    scores = draw_scores(free, noise_of(4_000, luck=luck), np.full((4_000, 100), psi),
                         np.random.default_rng(3))  # fmt: skip
    above = (scores.sum(axis=2) + pairs.middle) / 2 >= pairs.cut
    for kind, expected in enumerate(reach):
        assert above[:, free.kind == kind].mean() == pytest.approx(expected, abs=0.02)


def test_the_shift_of_normal_differences_in_closed_form() -> None:
    """With few outliers and offsets: a normal mean with a normal prior."""
    pairs = Pairs.of(boards(200, standard_errors=(0.015, 0.03)), top=1.0)
    priors = PairedPriors(FixedCorrelation(0.7), offsets=(0.0,))
    nodes = NoiseNodes.of(pairs, priors)
    d, own = pairs.private - pairs.public, nodes.noise.difference_sd[0] ** 2 / 200
    prior = 0.7**2 * (0.015**2 + 0.03**2)
    mean = float(d.mean()) * prior / (prior + own)
    found = Shift.at(pairs, priors, nodes.noise[[0]])
    assert found.mean[0] == pytest.approx(mean, abs=0.3 * np.sqrt(own))
    drawn, _ = found.draw(4000, np.random.default_rng(0))
    assert drawn.std() == pytest.approx(np.sqrt(own * prior / (own + prior)), rel=0.15)


def test_the_share_of_wide_residuals_is_that_of_a_fine_grid() -> None:
    """A tenth of the teams gained four standard deviations of a difference, as in a study."""
    rng, shares = np.random.default_rng(4), np.linspace(0.0005, 0.5, 1000)
    skill, gain = rng.normal(0.8, 0.03, 100), 0.09 * (np.arange(100) < 10)
    x, y = skill + gain + 0.01 * rng.standard_normal(100), skill + 0.02 * rng.standard_normal(100)
    pairs = Pairs.of(bs.PairedBoards(x, y), top=1.0)
    found = Shift.at(pairs, PairedPriors(), noise_of()[[0]])
    shift, share = found.mean
    density = FLAT * (1 / pairs.ranges[0] + 1 / pairs.ranges[1])
    for p, a in ((1 - shares, 1.0), (shares, WIDE)):
        for q, b in ((1 - shares, 1.0), (shares, WIDE)):
            own = norm.pdf(pairs.private - pairs.public - shift, 0, np.hypot(0.01 * a, 0.02 * b))
            density = density + (1 - FLAT) ** 2 * (p * q)[:, None] * own
    log_p = np.log(density).sum(axis=1) + norm.logpdf(np.log(shares / (1 - shares)), -4, 1.5)
    weight = np.exp(log_p - log_p.max()) / (shares * (1 - shares))  # of odds that are normal
    assert share == pytest.approx(weight @ shares / weight.sum(), rel=0.05)


def test_copies_count_once() -> None:
    x, y = np.random.default_rng(7).normal(0.8, 0.02, (2, 60))
    copied = bs.PairedBoards(np.r_[x, np.full(40, x[0])], np.r_[y, np.full(40, y[0])])
    merged = Pairs.of(copied, top=1.0)
    assert (merged.kept.size, merged.public.size, merged.n_below) == (100, 60, 0)
    np.testing.assert_array_equal(merged.public[merged.group], copied.public)


def test_selection_keeps_the_top_of_either_board_and_counts_by_the_mean() -> None:
    x = np.arange(100.0)
    y = x + np.tile([0.0, 0.1], 50)
    y[3] = 60.5
    pairs = Pairs.of(bs.PairedBoards(x, y))
    assert set(pairs.kept) == {3, *range(50, 100)}
    assert pairs.n_counted == 50
    assert pairs.boards.public[pairs.kept[pairs.group == 50]] == [3.0]  # the mean is below the cut
    assert Pairs.of(bs.PairedBoards(x[:20], y[:20])).cut is None
    large = np.arange(10_000.0)
    assert [Pairs.of(bs.PairedBoards(large, large + large % 2), top).n_counted
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
        raw = (pairs.private - pairs.public)[: pairs.n_counted]
        found.append([raw.mean(), pairs.differences(noise)[0].mean()])
    raw, corrected = np.mean(found, axis=0)
    assert raw < -0.004
    assert abs(corrected) < 0.0015
