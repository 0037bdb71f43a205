"""Monte Carlo errors are what other seeds give; the whole table is in docs/measured."""

import numpy as np
import pytest
from scipy import stats

import bayes_sota as bs
from bayes_sota.core.numerics import cluster_mcse

SEEDS = 12
NAMES = ["theta_sota", "winner_skill", "expected_sota", "score_shift", "rho"]
RNG = np.random.default_rng(3)
FORTY = bs.Leaderboard(np.round(RNG.normal(0.88, 0.008, 40), 3).tolist(), n_test=6000)
TEAMS = RNG.normal(0.8, 0.03, 60) + RNG.normal(0, 0.02, (2, 60))
BOARDS = {
    "forty": FORTY,
    "two boards": bs.PairedBoards(*TEAMS, standard_errors=(0.02, 0.02)),
    "small": bs.BestScore("0.93", n_test=300, n_classifiers=20),
    "all right": bs.BestScore("1.0", n_test=50, n_classifiers=10),
    "large": bs.BestScore("0.9116", n_test=11_072, n_classifiers=3_558),
    "tries between": bs.BestScore("0.91", n_test=500, n_classifiers=(5, 50)),
    "auc": bs.BestScore("0.91", n_test=300, n_classifiers=30, metric="auc", n_positive=90),
    "submissions": bs.BestScore("0.93", n_test=300, n_classifiers=20, submissions=(2, 30)),
}


def test_draws_of_one_point_are_not_independent() -> None:
    """Beside 20,000 samples of points, each behind three draws, in two strata."""
    rng = np.random.default_rng(0)
    stratum = np.repeat([0, 1], 60)
    point = np.repeat(np.arange(40), 3)
    own, shared = rng.normal(size=(20_000, 120)), rng.normal(size=(20_000, 40))
    values = 2.0 * stratum + 0.5 * own + shared[:, point]
    said = np.mean([cluster_mcse(row, point, stratum) for row in values[:2000]])
    assert said == pytest.approx(values.mean(axis=1).std(), rel=0.03)
    alone = np.arange(120)
    independent = cluster_mcse(values[0] - 2.0 * stratum, alone, np.zeros(120))
    assert cluster_mcse(values[0, :4], alone[:4], alone[:4]) > 0  # one draw per stratum
    assert independent == pytest.approx((values[0] - 2.0 * stratum).std() / 120**0.5, rel=1e-12)


def test_draws_of_a_board_share_points() -> None:
    assert int(bs.estimate_sota(FORTY, draws=500)["sample_stats"]["point"].max()) < 500


@pytest.mark.slow
@pytest.mark.parametrize("name", BOARDS)
def test_they_are_what_other_seeds_give(name: str) -> None:
    found = []
    for seed in range(SEEDS):
        tree = bs.estimate_sota(BOARDS[name], random_seed=seed, groups="estimands")
        table = bs.summarize(tree)
        rows = table[table.index.isin(NAMES) & (table["mcse"] > 0)][["mean", "mcse"]].to_numpy()
        if name == "forty":
            first = bs.board_table(FORTY, random_seed=seed).frame.iloc[0]
            rows = np.vstack([rows, first[["p_best", "p_best_mcse"]].to_numpy(float)])
        found.append(rows)
    ratio = np.mean(found, axis=0)[:, 1] / np.std(found, axis=0, ddof=1)[:, 0]
    # what the seeds show of a true ratio between .8 and 1.5, but for one quantity in a thousand
    low, high = np.sqrt(stats.chi2.ppf([0.001, 0.999], SEEDS - 1) / (SEEDS - 1))
    assert np.all((ratio > 0.8 / high) & (ratio < 1.5 / low)), ratio
