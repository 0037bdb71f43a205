"""Answers and numbers are asked in the same way by whoever compares them."""

import tracemalloc
from typing import Any

import numpy as np
import pytest

from bayes_sota import ItemScores, Responses
from bayes_sota.core.errors import InputError
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.tournaments import ScoreTable

N = 240
RNG = np.random.default_rng(3)
ABILITY = RNG.normal(size=(N, 1))
NUMBERS = ABILITY + RNG.normal(size=(N, 3)) + [0.0, 0.4, 0.8]
CLUSTERS = [f"c{i // 4}" for i in range(N)]
TASKS = ["law"] * 180 + ["art"] * 60
LABELS = (RNG.random(N) < 0.4) * 1
OUTCOMES: dict[str, Outcomes] = {
    "answers": Responses(NUMBERS > 0),
    "answers in clusters": Responses(NUMBERS > 0, clusters=CLUSTERS),
    "answers in tasks": Responses(NUMBERS > 0, tasks=TASKS),
    "shares": Responses((NUMBERS[:, :, None] + RNG.normal(size=(N, 3, 4)) > 0) * 1),
    "mean": ItemScores(NUMBERS),
    "mean in clusters": ItemScores(NUMBERS, clusters=CLUSTERS),
    "mean in tasks": ItemScores(NUMBERS, tasks=TASKS),
    "rmse": ItemScores(NUMBERS, metric="rmse"),
    "auc": ItemScores(NUMBERS + LABELS[:, None], labels=LABELS),
}


def resampled(data: Outcomes, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Scores on items, or clusters of them, that are drawn again from each task or class."""
    groups: dict[str, dict[str, list[int]]] = {}
    for i in range(N):
        kind = "" if data.tasks is None else data.tasks[i]
        kind += "" if data.labels is None else str(data.labels[i])
        of = str(i) if data.clusters is None else data.clusters[i]
        groups.setdefault(kind, {}).setdefault(of, []).append(i)
    rows = list[int]()
    for members in groups.values():
        parts = list(members.values())
        rows += [i for which in rng.integers(len(parts), size=len(parts)) for i in parts[which]]
    values, labels = data.values[rows], None if data.labels is None else data.labels[rows]
    tasks = None if data.tasks is None else [data.tasks[i] for i in rows]
    if isinstance(data, Responses):
        n_runs = None if data.n_runs == 1 else data.n_runs
        return Responses(values, tasks=tasks, n_runs=n_runs).scores
    assert isinstance(data, ItemScores)
    return ItemScores(values, tasks=tasks, labels=labels, metric=data.metric).scores


@pytest.mark.slow
@pytest.mark.parametrize("kind", OUTCOMES)
def test_influence_says_how_scores_vary_on_other_items(kind: str) -> None:
    data, rng = OUTCOMES[kind], np.random.default_rng(1)
    scores = np.array([resampled(data, rng) for _ in range(1500)])
    contrasts = np.array([[1, 0, 0], [0, 0, 1], [1, -1, 0], [0, 1, -1]])
    simulated = (scores @ contrasts.T).std(axis=0, ddof=1)
    said = np.sqrt(((data.row_influence() @ contrasts.T) ** 2).sum(axis=0))
    # A standard deviation of 1,500 is off by 1 / sqrt(3,000), 1.8 %; five times that.
    assert np.abs(simulated / said - 1).max() < 0.09


@pytest.mark.parametrize("kind", OUTCOMES)
def test_some_classifiers_are_chosen_by_names_places_or_a_mask(kind: str) -> None:
    data = OUTCOMES[kind]
    one = data.subset(["3", "1"])
    assert one == data.subset([2, 0]) == data.subset([2, -3])
    assert one.names == ("3", "1")
    np.testing.assert_allclose(one.scores, data.scores[[2, 0]])
    assert data.subset([True, False, True]).names == ("1", "3")
    with pytest.raises(InputError, match="there is no classifier named 'four'"):
        data.subset(["four"])


@pytest.mark.parametrize("kind", OUTCOMES)
def test_what_is_not_there_is_said_in_the_same_way(kind: str) -> None:
    data = OUTCOMES[kind]
    assert data.complete() is data
    assert not data.has_missing
    assert data.sign == (-1 if kind == "rmse" else 1)
    assert data.n_clusters == (60 if "clusters" in kind else None)
    assert data.runs_in_words == ("4 runs" if kind == "shares" else "")
    assert data.is_plain == (kind in ("answers", "answers in clusters"))
    assert data.is_answers == isinstance(data, Responses)


def test_one_long_name_takes_no_memory_for_all_others() -> None:
    """An array of these texts would have 10 GB."""
    groups = [str(i // 2) for i in range(20_000)]
    groups[0] = groups[1] = "x" * 130_000
    tasks = [groups[0]] * 10_000 + ["law"] * 10_000
    answers = np.random.default_rng(0).integers(0, 2, (20_000, 2))
    tracemalloc.start()
    board = Responses(answers, clusters=groups, tasks=tasks)
    assert board.average.scores.tolist() == pytest.approx(answers.mean(axis=0).tolist())
    numbers = ItemScores(answers, clusters=groups, tasks=tasks)
    assert np.isfinite(numbers.standard_errors).all()
    assert ScoreTable(answers, groups=groups).clusters.max() == 9_999
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000_000
