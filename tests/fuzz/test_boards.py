"""Boards of odd shapes: results are finite, without warnings, and near the scores."""

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.core.skills import expit
from bayes_sota.data.known import Known, with_known

KINDS = (
    "scores", "sizes", "hidden", "auc", "errors", "answers", "tasks", "clusters", "runs", "mean",
)  # fmt: skip


def board_of(kind, rng):
    """A board of two to 30 entries, often near-equal, near 1 or nearly alike in their answers."""
    m, n = int(rng.integers(2, 30)), int(rng.choice([15, 60, 250, 1500]))
    place = rng.choice([-3, 0, 2, 5]) + rng.choice([0, 0.05, 0.5, 2]) * rng.standard_normal(m)
    hard = rng.choice([0, 1, 4]) * rng.standard_normal((n, 1))
    right = place + hard + rng.logistic(size=(n, m)) > 0
    right[:, -1] = rng.choice([right[:, 0], right[:, -1], np.ones(n, bool)])
    scores, names = right.mean(axis=0), [f"m{j}" for j in range(m)]
    if kind == "auc":
        auc = np.clip(0.5 + 0.5 * scores, 0.5, 0.9999)
        return bs.Leaderboard(auc, n_test=2 * n, n_positive=n // 4, metric="auc", names=names)
    if kind == "errors":
        error = rng.uniform(0.001, 0.1, m)
        noisy = 100 * (scores + error * rng.standard_normal(m))
        return bs.Leaderboard(noisy, metric="score", standard_error=100 * error, names=names)
    if kind == "sizes":
        sizes = rng.integers(10, 2000, m)
        own = rng.binomial(sizes, expit(place)) / sizes
        return bs.Leaderboard(own, n_test=sizes, names=names)
    if kind in ("scores", "hidden"):
        tries = m + (kind == "hidden") * int(rng.integers(0, 400))
        return bs.Leaderboard(scores, n_test=n, n_classifiers=tries, names=names)
    of_items = {
        "tasks": {"tasks": [f"t{i % 5}" for i in range(n)]},
        "clusters": {"clusters": rng.integers(0, n // 3, n).tolist()},
        "mean": {"metric": "mean"},
        "runs": {"n_runs": 3},
    }
    values = 0.3 * right + 0.7 * rng.random((n, m)) if kind == "mean" else right
    if kind == "runs":
        values = np.mean([right ^ (rng.random((n, m)) < 0.2) for _ in range(3)], axis=0)
    return bs.Outcomes(values.astype(float), names=names, **of_items.get(kind, {}))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:do not trust this result")
@pytest.mark.parametrize("known", [False, True], ids=["", "known"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(5))
def test_results_are_finite_and_near_the_scores(kind, known, seed):
    rng = np.random.default_rng([seed, KINDS.index(kind), known])
    board = board_of(kind, rng)
    if known and len(board.names) > 2:  # the shared error is seen, or what is known is wrong
        first = float(board.scores[0])
        board = with_known(board, {"m0": Known(first, se=float(rng.choice([0.001, 0.02])))})
    tree = bs.estimate_sota(board, random_seed=1)
    for group in set(tree.children) - {"constant_data"}:
        for name, values in tree[group].data_vars.items():
            assert values.dtype.kind != "f" or np.isfinite(values).all(), (group, name)
    raw = float(board.scores.max())
    for name in ("theta_sota", "winner_skill"):
        draws = tree["posterior"][name].values
        assert abs(draws.mean() - raw) < 4 * draws.std() + 1e-3
