"""Exact trees have draws, prior and replicates of one model."""

import numpy as np
import pytest
from scipy import stats

from bayes_sota import Accuracies, Means, Outcomes, compare_methods, read_result, save_result
from bayes_sota.claims import claim_tree, comparison_tree


@pytest.mark.slow
@pytest.mark.parametrize("known", [None, 0.85, 0.792])
def test_the_share_of_draws_is_the_closed_form(known: float | None) -> None:
    tree = claim_tree(accuracies(known), draws=5000, random_seed=0)
    difference, p = tree["posterior"]["difference"], float(tree["point_estimate"]["p_false"])
    share = float((difference <= 0).mean())
    assert share == pytest.approx(p, abs=4.5 * (p * (1 - p) / 20_000) ** 0.5)
    skill = tree["posterior"]["skill"]
    np.testing.assert_allclose(
        skill.sel(classifier="A") - skill.sel(classifier="B"), difference, atol=1e-12
    )
    assert tree.attrs["method"] == "exact"


def accuracies(known: float | None = None) -> Accuracies:
    return Accuracies(a=0.90, b=0.88, n=500, known=known)


@pytest.mark.slow
def test_replicated_accuracies_have_the_moments_of_multinomial_draws() -> None:
    tree = claim_tree(accuracies(0.85), draws=5000, random_seed=0)
    skill, again = (
        tree[group][name].values.reshape(-1, 2)
        for group, name in (("posterior", "skill"), ("posterior_predictive", "accuracy"))
    )
    noise = (skill * (1 - skill) / 500).mean(axis=0)
    assert again.mean(axis=0) == pytest.approx(skill.mean(axis=0), abs=5 * 0.02 / 20_000**0.5)
    assert again.var(axis=0) == pytest.approx(skill.var(axis=0) + noise, rel=0.05)
    fresh = tree["prior_predictive"]["accuracy"].values.reshape(-1, 2)
    counts = np.bincount(np.rint(500 * fresh[:, 0]).astype(int) // 51, minlength=10)
    chances = np.diff(stats.betabinom(500, 2, 2).cdf(np.arange(-1, 511, 51)))
    assert stats.chisquare(counts, 20_000 * chances / chances.sum()).pvalue > 1e-3


def test_means_have_the_normal_inverse_gamma_posterior() -> None:
    n, gap, s = 40, 0.01, 0.08
    tree = claim_tree(Means(a=0.81, b=0.80, n=n, sd_difference=s), draws=5000, random_seed=0)
    d, sd = (tree["posterior"][k].values.ravel() for k in ("difference", "sd_difference"))
    variance = stats.invgamma((n - 1) / 2, scale=(n - 1) * s**2 / 2)
    assert stats.kstest(sd**2, variance.cdf).pvalue > 1e-3
    assert stats.kstest((d - gap) / sd * n**0.5, stats.norm.cdf).pvalue > 1e-3
    again = tree["posterior_predictive"]["mean_difference"].values.ravel()
    assert stats.kstest((again - gap) / s / (2 / n) ** 0.5, stats.t(n - 1).cdf).pvalue > 1e-3


ANSWERS = np.random.default_rng(0).random((200, 3)) < [0.9, 0.8, 0.6]


@pytest.mark.parametrize("lower", [False, True])
def test_several_methods_and_the_way_to_a_file_and_back(tmp_path, lower: bool) -> None:
    answers = Outcomes(1.0 * ANSWERS, lower_is_better=lower, metric="mean")
    found = compare_methods(answers, draws=4000, random_seed=0)
    path = save_result(comparison_tree(found, answers, seed="0"), tmp_path / "claim.nc")
    back = read_result(path)
    assert back.attrs["winner"] == found.methods[found.winner]
    assert back["point_estimate"]["p_best_uncorrected"].values == pytest.approx(found.p_best)
    assert back["posterior"]["skill"].shape == (4, 1000, 3)
    assert float(back["posterior"]["difference"][..., found.winner].max()) == 0
    assert all(back.attrs[n] for n in ("schema_version", "data_hash", "random_seed", "versions"))
    again = back["posterior_predictive"]["score"].mean(("chain", "draw"))
    assert again.values == pytest.approx(back["observed_data"]["score"].values, abs=0.01)
