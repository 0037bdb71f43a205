"""Matches by the local ROPE against a plain loop, and means and deviations read by name."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.scores import read_scores
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.reading import local_rope_matches, local_rope_matches_of_means, read_means


def outcomes_of(matches: Matches) -> list[tuple[str, str, float]]:
    return [
        (matches.players[i], matches.players[j], y)
        for i, j, y in zip(matches.first, matches.second, matches.outcomes.tolist(), strict=True)
    ]


def looped(
    folds: pd.DataFrame, group: str, threshold: float, paired: bool
) -> list[tuple[str, str, float]]:
    """Every data set and pair, one at a time."""
    found = []
    for _, rows in folds.groupby(group, sort=False):
        for a, b in combinations(folds.columns.drop(group), 2):
            difference = rows[a] - rows[b]
            if paired:
                gap, spread = difference.mean(), difference.std()
            else:
                gap = rows[a].mean() - rows[b].mean()
                spread = np.sqrt((rows[a].var() + rows[b].var()) / 2)
            if not np.isnan(gap):
                tied = abs(gap) <= threshold * spread
                found.append((a, b, 0.5 if tied else float(gap > 0)))
    return found


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("threshold", [0.0, 0.4, 1.5])
def test_simulated_folds_agree_with_a_loop(paired, threshold):
    rng = np.random.default_rng(8)
    scores = rng.normal(size=(50, 5)) + 0.3 * np.arange(5) + rng.normal(size=(50, 1))
    scores[rng.random(scores.shape) < 0.05] = np.nan
    scores[:5, 2] = np.nan  # one player has no score on the first data set
    frame = pd.DataFrame(scores, columns=list("abcde"))
    frame["data"] = np.repeat([f"d{i}" for i in range(10)], 5)
    table = read_scores(frame, group_column="data")
    found = local_rope_matches(table, threshold=threshold, paired=paired)
    expected = looped(frame, "data", threshold, paired)
    assert outcomes_of(found) == expected
    assert len(expected) == 10 * 10 - 4
    assert (found.n_clusters, found.clustered) == (10, True)
    ties = np.mean([y == 0.5 for *_, y in expected])
    assert (ties == 0) == (threshold == 0)
    lower = ScoreTable(-table.scores, players=table.players, groups=table.groups,
                       lower_is_better=True)  # fmt: skip
    mirrored = local_rope_matches(lower, threshold=threshold, paired=paired)
    np.testing.assert_array_equal(mirrored.outcomes, found.outcomes)


def test_the_threshold_is_a_tie_and_pairing_matters():
    # Means 2 and 1, both standard deviations 1 (d = 1); all paired differences are 1 (sd 0).
    folds = [[1.0, 0.0], [2.0, 1.0], [3.0, 2.0], [9.0, 1.0], [9.0, 2.0], [9.0, 3.0]]
    table = ScoreTable(folds, players=[*"ab"], groups=[*"ppp", *"qqq"])
    assert local_rope_matches(table, threshold=1.0).outcomes.tolist() == [0.5, 1]
    assert local_rope_matches(table, threshold=0.99).outcomes.tolist() == [1, 1]
    assert local_rope_matches(table, threshold=1.0, paired=True).outcomes.tolist() == [1, 1]


def test_no_spread_leaves_ties_to_equal_means():
    means = ScoreTable([[1.0, 1.0], [1.0, 1.5]], players=[*"ab"])
    for threshold in (0.0, 0.4):
        found = local_rope_matches_of_means(means, np.zeros((2, 2)), threshold=threshold)
        assert found.outcomes.tolist() == [0.5, 0]


def test_the_published_example(data_directory):
    folder = data_directory / "bbt"
    folds = read_scores(folder / "ss.csv", group_column="db")
    unpaired = local_rope_matches(folds)
    frame = pd.read_csv(folder / "ss.csv")
    for paired in (False, True):
        expected = looped(frame, "db", 0.4, paired)
        assert outcomes_of(local_rope_matches(folds, paired=paired)) == expected
    means, deviations = read_means(folder / "ssmean.csv", folder / "sssd.csv")
    printed = local_rope_matches_of_means(means, deviations)
    # The files have the data sets in different orders; clusters are numbered by their names.
    assert sorted(zip(printed.clusters, outcomes_of(printed), strict=True)) == sorted(
        zip(unpaired.clusters, outcomes_of(unpaired), strict=True)
    )
    grouped = frame.groupby("db")
    np.testing.assert_allclose(means.scores, grouped.mean().loc[[*means.rounds]], rtol=1e-12)
    np.testing.assert_allclose(deviations, grouped.std().loc[[*means.rounds]], rtol=1e-12)
    assert unpaired.n_matches == 20 * 10
    assert 0 < np.mean(unpaired.outcomes == 0.5) < 0.5


def test_reading_means_by_name(tmp_path: Path):
    means, deviations = tmp_path / "means.csv", tmp_path / "sd.csv"
    means.write_text("model,x,y\na,0.9,\nb,0.7,0.8\nc,0.6,0.7\n")
    deviations.write_text("model,y,x\nc,.1,.2\nb,.3,.4\na,-,.6\n")
    table, found = read_means(means, deviations)
    assert table.players == ("a", "b", "c")
    np.testing.assert_array_equal(found, [[0.6, 0.4, 0.2], [np.nan, 0.3, 0.1]])
    matches = local_rope_matches_of_means(table, found)
    assert outcomes_of(matches) == [
        ("a", "b", 0.5), ("a", "c", 1.0), ("b", "c", 0.5), ("b", "c", 1.0)
    ]  # fmt: skip
    assert matches.clusters.tolist() == [0, 0, 0, 1]


FOLDS = ScoreTable([[1, 2], [2, 1], [3, 1]], players=[*"ab"], groups=[*"ppq"])


def test_single_folds_are_compared_without_a_threshold():
    assert local_rope_matches(FOLDS, threshold=0).outcomes.tolist() == [0.5, 1]
