"""Skills and their uncertainty: published numbers, and another route to each."""

import numpy as np
import pytest
from scipy.linalg import eigh, null_space
from scipy.optimize import minimize
from scipy.special import expit, xlogy
from scipy.stats import chi2, norm, t
from simulated_tournaments import simulate_tournament

from bayes_sota import ScoreTable, epp_table, fit_epp
from bayes_sota.data import Matches
from bayes_sota.epp import equations

KINDS = ("same-round", "all-rounds")
GROUPS = [label for label in "uvwxyz" for _ in range(3)]
NAN = float("nan")


def drawn(missing: float = 0.0, groups: list[str] | None = None, rounds: int = 18) -> ScoreTable:
    """Five players, some ties."""
    table = simulate_tournament(
        np.linspace(1, -1, 5), rounds, step=0.4, missing=missing, random_seed=5
    )
    return ScoreTable(table.scores, players=list("abcde"), groups=groups)


# Sandwich covariance


def weighted_skills(fit, weights: np.ndarray) -> np.ndarray:
    """Estimate with every match counted as often as its rounds' weights say."""
    scores = fit.data.oriented
    each = weights[fit.data.clusters]
    wins, n_matches = (np.zeros((scores.shape[1],) * 2) for _ in range(2))
    for r, own in enumerate(scores):
        for s, other in enumerate(scores):
            if r == s or fit.kind == "all-rounds":
                weight = each[r] if fit.kind == "same-round" else each[r] * each[s]
                won = (own[:, None] > other) + 0.5 * (own[:, None] == other)
                met = ~np.isnan(own)[:, None] & ~np.isnan(other)
                wins += weight * won
                n_matches += weight * met
    np.fill_diagonal(wins, 0)
    np.fill_diagonal(n_matches, 0)
    return equations.solve(wins.sum(axis=1), n_matches, start=fit.epp)


def covariance_by_hand(fit, least_share: float) -> np.ndarray:
    """Sandwich of scores divided by sqrt(1 - 1/n), its shares of the model's raised, in full."""
    model = fit.covariance_model
    clusters = fit.clusters_of_players
    scores = fit.influence @ np.linalg.pinv(model) / np.sqrt(1 - 1 / clusters)
    basis = null_space(np.ones((1, len(fit.players))))
    inner = basis.T @ model @ basis
    shares, vectors = eigh(basis.T @ model @ scores.T @ scores @ model @ basis, inner)
    root = basis @ inner @ vectors
    return root * np.maximum(shares, least_share) @ root.T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["rounds", "groups"])
def test_influence_and_covariance_by_other_routes(kind, missing, groups) -> None:
    """What weighting a cluster moves, by finite differences of refits; the sandwich in full."""
    fit = fit_epp(drawn(missing, groups), kind)
    clusters = len(fit.influence)
    assert clusters == (18 if groups is None else 6)
    for place in range(0, clusters, 5):
        step = 1e-4 * (np.arange(clusters) == place)
        moved = weighted_skills(fit, 1 + step) - weighted_skills(fit, 1 - step)
        np.testing.assert_allclose(fit.influence[place], moved / 2e-4, rtol=0, atol=1e-6)
    np.testing.assert_allclose(fit.covariance_model.sum(axis=0), 0, atol=1e-12)  # mean zero
    expected = covariance_by_hand(fit, 1.5 / 6)
    np.testing.assert_allclose(fit.covariance, expected, rtol=0, atol=1e-12 * expected.max())
    if not missing and groups is None:  # nothing is raised: the sandwich
        sandwich = fit.influence.T @ fit.influence * 18 / 17
        np.testing.assert_allclose(fit.covariance, sandwich, rtol=1e-10)


# Tests of pairs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_pair_by_other_routes(kind: str, missing: float) -> None:
    fit = fit_epp(drawn(missing), kind)
    found = fit.test("b", "d", ci_prob=0.9)
    contrast = np.array([0, 1, 0, -1, 0])
    assert found.difference == pytest.approx(contrast @ fit.epp)
    model = np.sqrt(contrast @ fit.covariance_model @ contrast)
    assert found.se_model == pytest.approx(model)
    assert found.p_value_model == pytest.approx(2 * norm.sf(abs(found.difference) / model))
    assert found.paper_wald_p_value == pytest.approx(chi2.sf(2 * found.wald_chi2, 2))
    assert found.se == pytest.approx(np.sqrt(contrast @ covariance_by_hand(fit, 0.25) @ contrast))
    met = (fit.data.present.sum(axis=1) - 1)[:, None] * fit.data.present
    weights = met if kind == "same-round" else fit.data.present.astype(float)
    effective = (weights.sum(axis=0) ** 2 / np.sum(weights**2, axis=0))[[1, 3]].min()
    assert found.df == pytest.approx(effective - 1)
    assert found.p_value == pytest.approx(2 * t.sf(abs(found.difference) / found.se, found.df))
    half = t.ppf(0.95, found.df) * found.se
    assert found.interval == pytest.approx([found.difference - half, found.difference + half])
    assert found.win_probability == pytest.approx(fit.win_probability("b", "d"))
    assert found.win_probability_interval == pytest.approx(expit(found.interval))
    back = fit.test("d", "b")
    assert (back.difference, back.p_value) == pytest.approx((-found.difference, found.p_value))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_skills_deviance_and_likelihood_ratio_by_scipy(kind: str, missing: float) -> None:
    fit = fit_epp(drawn(missing), kind)
    wins = fit.counts.doubled_wins / 2

    def loss(skills: np.ndarray) -> float:
        return float(np.sum(wins * np.logaddexp(0, skills - skills[:, None])))

    equal = minimize(lambda x: loss(np.insert(x, 3, x[1])), np.zeros(4), options={"gtol": 1e-6})
    free = minimize(loss, np.zeros(5), options={"gtol": 1e-6})
    np.testing.assert_allclose(fit.epp, free.x - free.x.mean(), rtol=0, atol=1e-6)
    saturated = np.sum(xlogy(wins, wins / np.maximum(fit.counts.n_matches, 1)))
    assert fit.deviance == pytest.approx(2 * (saturated + free.fun), rel=1e-9)
    found = fit.test("b", "d")
    assert found.lrt_chi2 == pytest.approx(2 * (equal.fun - free.fun), abs=1e-5)
    assert found.lrt_p_value == pytest.approx(chi2.sf(found.lrt_chi2, 1), rel=1e-9)
    assert fit.deviance_df == np.count_nonzero(np.triu(wins + wins.T)) - 4


def test_players_that_always_tie_are_equal() -> None:
    """Their difference and its error are roundings."""
    for seed in range(5):
        scores = np.random.default_rng(seed).normal(size=(20, 6))
        scores[:, 1] = scores[:, 0]
        fit = fit_epp(scores)
        assert fit.test("1", "2").p_value == 1
        assert fit.rank_interval()[0].tolist() == fit.rank_interval()[1].tolist()
        assert fit.rank[0] == fit.rank[1]


def test_a_player_of_one_round_may_have_any_rank() -> None:
    scores = np.random.default_rng(0).normal(size=(20, 4))
    scores[1:, 0] = np.nan
    scores[0] = [0.5, 0.2, 0.9, 0.1]
    fit = fit_epp(ScoreTable(scores))
    assert fit.df[0] == 0
    assert (fit.df[1:] > 18).all()
    for kind in ("robust", "simultaneous"):
        assert fit.interval(kind=kind)[0].tolist() == [-np.inf, np.inf]
    assert fit.test("1", "2").p_value == 1
    assert fit.rank_interval()[0].tolist() == [1, 4]


# What does not matter, and penalties


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_a_penalty_is_rounds_of_ties(missing: float) -> None:
    table = drawn(missing)
    penalised = fit_epp(table, penalty=2)
    tied = fit_epp(np.vstack([table.scores, np.zeros((2, 5))]))
    np.testing.assert_allclose(penalised.epp, tied.epp, rtol=0, atol=1e-10)
    np.testing.assert_allclose(penalised.covariance_model, tied.covariance_model, atol=1e-12)
    assert np.ptp(penalised.epp) < np.ptp(fit_epp(table).epp)
    assert penalised.test("a", "b").lrt_chi2 is None


def test_players_that_never_meet_are_equal_under_a_penalty() -> None:
    fit = fit_epp(ScoreTable([[1, NAN], [NAN, 1], [2, NAN]]), penalty=0.5)
    assert not fit.connected
    assert fit.epp.tolist() == [0, 0]
    assert fit.test("1", "2").p_value == 1
    for kind in ("robust", "simultaneous"):
        assert (np.abs(fit.interval(kind=kind)) > 5).all()


# Summaries


def test_intervals_ranks_and_probabilities() -> None:
    fit = fit_epp(drawn(rounds=60))
    high = fit.interval(0.9)[:, 1]
    np.testing.assert_allclose(high - fit.epp, t.ppf(0.95, 59) * fit.se, rtol=1e-9)
    width = np.diff(fit.interval(kind="model"))[:, 0] / 2
    np.testing.assert_allclose(width, norm.ppf(0.975) * fit.se_model, rtol=1e-9)
    # Elo's own formula gives the same win probabilities
    frame = epp_table(fit).frame
    elo, epp = frame["elo"].to_numpy(), frame["epp"].to_numpy()
    wins = expit(epp[:, None] - epp)
    np.testing.assert_allclose(1 / (1 + 10 ** ((elo - elo[:, None]) / 400)), wins, rtol=1e-12)
    assert elo.mean() == pytest.approx(1500)
    np.testing.assert_allclose(frame["elo_se"] / frame["se"], 173.7177927613, rtol=1e-10)
    assert repr(fit).endswith(f"'a' leads, EPP {fit.epp[0]:.3f}>")


def test_equal_skills_share_the_better_rank() -> None:
    table = ScoreTable([[3, 3, 1, 2], [1, 1, 3, 2], [2, 2, 1, 3], [3, 3, 0, 0]])
    assert fit_epp(table).rank.tolist() == [1, 1, 4, 3]
    assert fit_epp([[1, 2], [2, 1]]).epp.tolist() == [0, 0]  # though no match is a tie


def test_the_tree_holds_the_numbers() -> None:
    fit = fit_epp(drawn(missing=0.3), "all-rounds", penalty=0.5)
    tree = fit.to_datatree()
    point = tree["point_estimate"]
    np.testing.assert_array_equal(point["epp"], fit.epp)
    root = np.sqrt(np.diagonal(point["epp_covariance"]))
    np.testing.assert_allclose(point["epp_se"], root, rtol=1e-12)
    np.testing.assert_allclose(epp_table(fit).frame["se"].sort_values(), np.sort(root))
    (own, shared), (_, other) = point["epp_covariance"].values[np.ix_([0, -1], [0, -1])]
    assert fit.test("a", "e").se == pytest.approx(np.sqrt(own + other - 2 * shared))
    assert float(point["win_probability"][0, 1]) == fit.win_probability("a", "b")
    assert (tree.attrs["matches"], tree.attrs["penalty"]) == ("all-rounds", 0.5)


def test_matches_without_clusters_are_independent() -> None:
    rng = np.random.default_rng(3)
    first = np.arange(90) % 3
    outcomes = (rng.random(90) < 0.6).astype(float)
    matches = Matches(first, (first + 1) % 3, outcomes, players=list("abc"))
    fit = fit_epp(matches)
    assert fit.influence is None
    np.testing.assert_array_equal(fit.se, fit.se_model)
    found = fit.test("a", "b")
    assert found.df == np.inf
    assert found.p_value == pytest.approx(found.p_value_model)
    own = Matches(first, (first + 1) % 3, outcomes, players=list("abc"), groups=np.arange(90))
    np.testing.assert_allclose(fit_epp(own).se, fit.se, rtol=0.1)  # each match its own cluster


def test_players_apart_are_not_known_better_than_by_independent_matches() -> None:
    """Rounds that all agree show no variation; the penalty alone sets the difference."""
    fit = fit_epp([[2, 1]] * 20, penalty=0.5)
    found = fit.test("1", "2")
    assert found.se == found.se_model
    assert found.interval[0] < 3.5 < found.interval[1] - 3
    assert (fit.se >= fit.se_model).all()
    covered = []
    for seed in range(40):
        fit = fit_epp(simulate_tournament([3.5, 0, 0], 20, random_seed=seed), penalty=0.5)
        low, high = fit.test("1", "2").interval
        covered += [low < 3.5 < high] * (not fit.connected)
    assert len(covered) > 5
    assert np.mean(covered) > 0.9


def test_overlap_is_of_the_rounds_that_a_player_has() -> None:
    """Every round counts for itself, whatever its group."""
    scores = simulate_tournament([0.5, 0, -0.5, 0.2], 20, random_seed=0).scores.copy()
    scores[5:, 0] = NAN
    plain, corrected = fit_epp(scores), fit_epp(scores, test_fraction=0.2)
    larger = np.sqrt(1 + np.array([5, 20, 20, 20]) / 4)  # of the scores, by 1 + R q / (1 - q)
    clusters = corrected.clusters_of_players
    own = corrected.influence @ np.linalg.pinv(corrected.covariance_model)
    moved = own * larger / np.sqrt(1 - 1 / clusters) @ corrected.covariance_model
    assert corrected.se == pytest.approx(np.sqrt(np.sum(moved**2, axis=0)))
    assert plain.se[0] * larger[0] < corrected.se[0] < plain.se[0] * larger[1]
    grouped = ScoreTable(scores, groups=[str(r // 5) for r in range(20)])
    assert fit_epp(grouped, test_fraction=0.2).se.tolist() == corrected.se.tolist()


def test_inflation_is_the_mean_of_the_sandwich_over_contrasts() -> None:
    fit = fit_epp(drawn(missing=0.3))
    sandwich = fit.influence.T @ fit.influence * 18 / 17
    shares = np.linalg.pinv(fit.covariance_model) @ sandwich
    assert fit.inflation == pytest.approx(np.trace(shares) / 4)
    assert fit_epp(np.tile(np.arange(4.0), (10, 1)), penalty=0.5).inflation == 1
    splits = fit_epp(drawn(), test_fraction=0.2)
    assert splits.inflation == pytest.approx(splits.overlap * fit_epp(drawn()).inflation)
