"""Outcomes: what they hold and refuse; AUCs and errors against pairs of items and the bootstrap."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr
from data.files import refused
from scipy import stats

from bayes_sota.data.outcomes import Outcomes

SMALL = [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, None, 1]]
TASKS = ["law", "law", "art", "law", "art"]
ANSWERS = [[1, 0], [1, 1], [0, 1], [0, 0], [1, 1]]


@pytest.mark.parametrize(
    "correct",
    [
        np.array([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, -1, 1]], np.int16),
        np.ma.masked_equal([[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, 9, 1]], 9),
        pd.DataFrame(SMALL).astype("Int8"),
        pl.DataFrame(SMALL, orient="row"),
        [np.array([1, 0, 1]), [1, 1, 0], [0, 0, 1], [1, np.float32("nan"), 1]],
    ],
    ids=str,
)
def test_answers_in_every_dress(correct) -> None:
    answers = Outcomes(correct)
    assert answers.correct.tolist() == [[1, 0, 1], [1, 1, 0], [0, 0, 1], [1, -1, 1]]
    assert answers.totals.tolist() == [4, 3, 4]
    assert answers.scores.tolist() == [3 / 4, 1 / 3, 3 / 4]


def test_coordinates_of_an_array_are_names() -> None:
    labels = {"item": list("wxyz"), "model": list("abc")}
    answers = Outcomes(xr.DataArray(SMALL, labels, ("item", "model")))
    assert (answers, answers.names) == (Outcomes(SMALL, names=list("abc")), ("a", "b", "c"))
    frame = pd.DataFrame(SMALL, columns=["a", "label", "c"])
    refused('column "label" is not named like a classifier', Outcomes, frame)


def test_subset_by_number_name_and_mask() -> None:
    answers = Outcomes(SMALL, names=["a", "b", "c"], clusters=["x", "x", "y", "y"], name="n")
    chosen = answers.subset(["c", "a"], [3, 0])
    assert chosen.correct.tolist() == [[1, 1], [1, 1]]
    assert (chosen.names, chosen.items, chosen.clusters) == (("c", "a"), ("4", "1"), ("y", "x"))
    weighted = Outcomes(ANSWERS, tasks=TASKS, average={"law": 3, "art": 1}, n_runs=4)
    law = weighted.subset(items=[0, 1, 3])
    assert (law.task_weights, law.n_runs) == ({"law": 1.0}, 4)
    assert answers.subset([-1, 0], ["4", "1"]) == chosen
    assert answers.subset(np.array([True, False, True])).names == ("a", "c")
    assert answers.subset() == answers
    for wrong in (["a", "z"], [0, 1.5], [0, 3], [True, False], []):
        refused("classifier|axis|bounds", answers.subset, wrong)


def test_leaderboard_shows_the_scores() -> None:
    board = Outcomes([[1, 0], [1, 1], [0, 0]], names=["a", "b"], name="mine").leaderboard()
    assert (board.n_test, board.n_classifiers, board.name) == (3, 2, "mine")
    assert board.maximum == pytest.approx(2 / 3)
    assert board.counts == (2, 2)
    refused("every answer is needed, and 1 of 4 items lack some", Outcomes(SMALL).leaderboard)
    refused("same number", Outcomes([[0.5, 0.5], [0.5, 0.5]], metric="mean").leaderboard)


def test_an_average_over_tasks_has_their_weights() -> None:
    for average, weight in (("items", 0.6), (None, 0.5), ({"law": 3, "art": 1}, 0.75)):
        data = Outcomes(ANSWERS, tasks=TASKS, average=average)
        assert data.task_weights == pytest.approx({"law": weight, "art": 1 - weight})
        expected = [weight * law + (1 - weight) * art for law, art in ((2 / 3, 0.5), (1 / 3, 1))]
        assert data.scores == pytest.approx(expected)


N = 240
RNG = np.random.default_rng(3)
ABILITY = RNG.normal(size=(N, 1))
NUMBERS = ABILITY + RNG.normal(size=(N, 3)) + [0.0, 0.4, 0.8]
CLUSTERS = [f"c{i // 4}" for i in range(N)]
EXAMS = ["law"] * 180 + ["art"] * 60
LABELS = (RNG.random(N) < 0.4) * 1
OUTCOMES: dict[str, Outcomes] = {
    "answers": Outcomes(NUMBERS > 0),
    "answers in clusters": Outcomes(NUMBERS > 0, clusters=CLUSTERS),
    "answers in tasks": Outcomes(NUMBERS > 0, tasks=EXAMS),
    "shares": Outcomes(
        np.mean(NUMBERS[:, :, None] + RNG.normal(size=(N, 3, 4)) > 0, axis=2), n_runs=4
    ),
    "mean": Outcomes(NUMBERS, metric="mean"),
    "mean in clusters": Outcomes(NUMBERS, metric="mean", clusters=CLUSTERS),
    "mean in tasks": Outcomes(NUMBERS, metric="mean", tasks=EXAMS),
    "rmse": Outcomes(NUMBERS, metric="rmse"),
    "auc": Outcomes(NUMBERS + LABELS[:, None], labels=LABELS),
    "auc in clusters": Outcomes(NUMBERS + LABELS[:, None], labels=LABELS, clusters=CLUSTERS),
}


def resampled(data: Outcomes, rng: np.random.Generator):
    """Scores on items drawn again from each task or class, or on clusters of them."""
    groups: dict[str, dict[str, list[int]]] = {}
    for i in range(N):
        kind = "" if data.tasks is None else data.tasks[i]
        kind += "" if data.labels is None or data.clusters is not None else str(data.labels[i])
        of = str(i) if data.clusters is None else data.clusters[i]
        groups.setdefault(kind, {}).setdefault(of, []).append(i)
    rows = list[int]()
    for members in groups.values():
        parts = list(members.values())
        rows += [i for which in rng.integers(len(parts), size=len(parts)) for i in parts[which]]
    labels = None if data.labels is None else data.labels[rows]
    tasks = None if data.tasks is None else [data.tasks[i] for i in rows]
    known = {"metric": data.metric, "n_runs": data.n_runs, "tasks": tasks, "labels": labels}
    return Outcomes(data.values[rows], **known).scores


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTCOMES)
def test_influence_says_how_scores_vary_on_other_items(kind: str) -> None:
    data, rng = OUTCOMES[kind], np.random.default_rng(1)
    scores = np.array([resampled(data, rng) for _ in range(1500)])
    contrasts = np.array([[1, 0, 0], [0, 0, 1], [1, -1, 0], [0, 1, -1]])
    simulated = (scores @ contrasts.T).std(axis=0, ddof=1)
    said = np.sqrt(np.diagonal(contrasts @ data.covariance @ contrasts.T))
    # A standard deviation of 1,500 is off by 1 / sqrt(3,000), 1.8 %; five times that.
    assert np.abs(simulated / said - 1).max() < 0.09


@pytest.mark.parametrize("kind", OUTCOMES)
def test_every_kind_is_asked_in_the_same_way(kind: str) -> None:
    data = OUTCOMES[kind]
    np.testing.assert_allclose(data.subset(["3", "1"]).scores, data.scores[[2, 0]])
    assert data.complete() is data
    assert data.about("items") == data


@pytest.mark.parametrize("ties", [False, True])
def test_aucs_are_shares_of_pairs_and_their_covariance_is_delongs(ties: bool) -> None:
    """Structural components, pair by pair (DeLong et al. 1988, Eq. 4 to 6)."""
    rng, positive = np.random.default_rng(0), np.arange(90) < 30
    shared = rng.standard_normal((90, 1))
    values = positive[:, None] * [1.0, 1.5, 0.5] + shared + rng.standard_normal((90, 3))
    data = Outcomes(values.round() if ties else values, labels=positive)
    v10, v01 = [], []
    for j, auc in enumerate(data.scores):
        high, low = data.values[positive, j], data.values[~positive, j]
        pairs = (high[:, None] > low) + 0.5 * (high[:, None] == low)
        assert auc == pytest.approx(pairs.mean(), abs=1e-12)
        u = stats.mannwhitneyu(high, low).statistic
        assert auc == pytest.approx(u / (high.size * low.size), abs=1e-12)
        v10.append(pairs.mean(axis=1))
        v01.append(pairs.mean(axis=0))
    np.testing.assert_allclose(data.influence.mean(axis=0), 0, atol=1e-12)
    expected = np.cov(v10) / 30 + np.cov(v01) / 60
    np.testing.assert_allclose(data.covariance, expected, rtol=1e-10)
    np.testing.assert_allclose(data.standard_errors, np.sqrt(np.diag(expected)), rtol=1e-10)


def test_means_and_root_mean_squares() -> None:
    values = np.random.default_rng(3).normal(0.2, 1, (50, 4))
    mean = Outcomes(values, metric="mean")
    np.testing.assert_allclose(mean.scores, values.mean(axis=0))
    np.testing.assert_allclose(mean.covariance, np.cov(values.T) / 50, rtol=1e-10)
    rmse = Outcomes(values, metric="rmse")
    np.testing.assert_allclose(-rmse.scores, np.sqrt((values**2).mean(axis=0)))
    board = rmse.leaderboard()
    assert board.lower_is_better
    assert board.maximum == pytest.approx(rmse.scores.max())
    assert board.standard_error == pytest.approx(rmse.standard_errors[np.argmax(rmse.scores)])
