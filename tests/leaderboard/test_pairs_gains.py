"""Gains on the public board beyond luck: planted ones, and none."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.leaderboard.sample_estimate import estimate_paired
from bayes_sota.leaderboard.summary_pairs import describe_paired


def content_of(boards: bs.PairedBoards, **known) -> dict:
    tree = estimate_paired(boards, draws=100, random_seed=0, top=1.0, groups="estimands", **known)
    return describe_paired(tree, boards).content


def boards_with(gains: np.ndarray, seed: int) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    skill = rng.normal(0.8, 0.03, gains.size)
    public = rng.binomial(2000, np.clip(skill + gains, 0, 1)) / 2000
    private = rng.binomial(4000, skill) / 4000
    names = [f"t{j}" for j in range(gains.size)]
    return bs.PairedBoards(public, private, names=names, n_test=(2000, 4000))


@pytest.mark.slow
def test_large_gains_are_found_with_their_size_and_losses_are_no_gains() -> None:
    gains = np.repeat([0.08, -0.08, 0.0], [4, 4, 52])  # seven standard errors of a difference
    found = content_of(boards_with(gains, 1))
    assert {row["name"] for row in found["entries"][:4]} == {"t0", "t1", "t2", "t3"}
    assert 4 <= len(found["gained_beyond_luck"]) <= 5
    luck = [row["beyond_luck"] for row in found["entries"]]
    assert np.mean([one["size"] for one in luck[:4]]) == pytest.approx(0.08, abs=0.012)
    chances = [one["probability"] for one in luck]
    assert chances == sorted(chances, reverse=True)
    lost = next(row["beyond_luck"] for row in found["entries"] if row["name"] == "t4")
    assert (lost["probability"], lost["size"] < 0) == (0.0, True)


@pytest.mark.slow
def test_boards_without_gains_have_few_findings() -> None:
    told = [content_of(boards_with(np.zeros(60), seed))["gained_beyond_luck"] for seed in range(3)]
    assert sum(bool(names) for names in told) <= 1  # at most 5 % each: .993 of the time
