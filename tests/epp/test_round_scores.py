"""What each round adds to the estimating equations, match by match."""

import numpy as np
import pytest

from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp import rounds as round_scores
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.rounds import cluster_scores

GROUPS = ["x", "y", "x", "z", "y", "x", "z"]
CASES = [
    (kind, missing, groups)
    for kind in ("same-round", "all-rounds")
    for missing in (0.0, 0.35)
    for groups in (None, GROUPS)
]


def drawn(missing: float, groups: list[str] | None, seed: int = 0) -> ScoreTable:
    """Seven rounds of five players with ties, lower is better."""
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(7, 5)) * 3) - np.arange(5) / 5 // 0.5
    scores[rng.random(scores.shape) < missing] = np.nan
    return ScoreTable(scores, lower_is_better=True, groups=groups)


def outcome(first: float, second: float) -> float:
    return 1.0 if first < second else 0.5 if first == second else 0.0


def one_by_one(table: ScoreTable, kind: str, probabilities: np.ndarray) -> np.ndarray:
    """Surprise of every match, for both players, in the clusters of both scores.

    A match of one round counts once; one of two rounds counts in each of them.
    """
    labels = list(range(table.n_rounds)) if table.groups is None else list(table.groups)
    places = {label: place for place, label in enumerate(sorted(set(labels)))}
    found = np.zeros((len(places), table.n_players))
    scores = table.scores
    present = [(r, i) for r, i in np.argwhere(~np.isnan(scores)).tolist()]
    for r, i in present:
        for s, j in present:
            if i >= j or (kind == "same-round" and r != s):
                continue
            surprise = outcome(scores[r, i], scores[s, j]) - probabilities[i, j]
            for label in [labels[r]] if kind == "same-round" else [labels[r], labels[s]]:
                found[places[label], i] += surprise
                found[places[label], j] -= surprise
    return found


@pytest.mark.parametrize(("kind", "missing", "groups"), CASES)
def test_they_are_sums_over_matches(kind, missing, groups) -> None:
    table = drawn(missing, groups)
    skills = np.random.default_rng(1).normal(size=5)  # not at the estimate
    probabilities = 1 / (1 + np.exp(skills - skills[:, None]))
    found = cluster_scores(table, kind, probabilities)
    expected = one_by_one(table, kind, probabilities)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert not np.allclose(found.sum(axis=0), 0, atol=0.1)


@pytest.mark.parametrize(("kind", "missing", "groups"), CASES)
def test_they_add_up_to_zero_at_the_estimate(kind, missing, groups) -> None:
    table = drawn(missing, groups)
    fit = fit_epp(table, kind)
    found = cluster_scores(table, kind, fit.win_probabilities())
    assert found.shape == (7 if groups is None else 3, 5)
    np.testing.assert_allclose(found.sum(axis=0), 0, atol=1e-8)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-12)  # one's win is another's loss
    assert np.abs(found).max() > 0.5


def test_listed_matches_are_added_up_within_clusters() -> None:
    rng = np.random.default_rng(2)
    first = rng.integers(4, size=60)
    second = (first + rng.integers(1, 4, size=60)) % 4
    outcomes, clusters = rng.choice([0, 0.5, 1], size=60), rng.choice(list("pqr"), size=60)
    matches = Matches(first, second, outcomes, players=list("abcd"), clusters=clusters)
    probabilities = np.clip(rng.random((4, 4)), 0.1, 0.9)
    expected = np.zeros((3, 4))
    for i, j, y, cluster in zip(first, second, outcomes, clusters, strict=True):
        place = "pqr".index(cluster)
        expected[place, i] += y - probabilities[i, j]
        expected[place, j] -= y - probabilities[i, j]
    found = cluster_scores(matches, "listed", probabilities)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_matches_of_a_table_listed_one_by_one_are_the_same_tournament() -> None:
    """Same-round matches of a table, and the list of them with rounds as clusters."""
    table = drawn(0.35, GROUPS, seed=4)
    first, second, outcomes, clusters = [], [], [], []
    for r, row in enumerate(table.scores):
        for i in range(5):
            for j in range(i):
                if not np.isnan(row[[i, j]]).any():
                    first.append(i)
                    second.append(j)
                    outcomes.append(outcome(row[i], row[j]))
                    clusters.append(GROUPS[r])
    listed = fit_epp(Matches(first, second, outcomes, players=table.players, clusters=clusters))
    fit = fit_epp(table)
    np.testing.assert_allclose(listed.epp, fit.epp, rtol=0, atol=1e-10)
    np.testing.assert_allclose(listed.covariance, fit.covariance, rtol=0, atol=1e-10)
    np.testing.assert_allclose(listed.covariance_model, fit.covariance_model, rtol=0, atol=1e-10)
    np.testing.assert_allclose(listed.se, fit.se, rtol=1e-9)
    assert listed.deviance == pytest.approx(fit.deviance)
    assert listed.deviance_df == fit.deviance_df


def test_by_rounds_and_by_players_is_the_same() -> None:
    scores = drawn(0.35, None).oriented
    by_rounds = round_scores._against_rounds(scores)
    np.testing.assert_array_equal(by_rounds, round_scores._against_scores(scores))
