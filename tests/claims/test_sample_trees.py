"""Draws of claims with an exact posterior, beside the closed forms that they integrate to."""

from pathlib import Path

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.claims.congruence import OddsRatioCongruence
from bayes_sota.claims.sample import claim_tree, claim_tree_of_means, comparison_tree
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import compare_methods


@pytest.mark.parametrize(
    ("congruence", "alpha"),
    [(None, 1.0), (None, 0.5), (0.85, 1.0), ("independent", 1.0), (OddsRatioCongruence(9, 1), 1.0)],
)
def test_the_share_of_draws_is_the_closed_form(congruence, alpha: float) -> None:
    tree = claim_tree(0.90, 0.88, 500, congruence, alpha=alpha, draws=5000, random_seed=0)
    difference, p = tree["posterior"]["difference"], float(tree["point_estimate"]["p_false"])
    share = float((difference <= 0).mean())
    assert share == pytest.approx(p, abs=4.5 * (p * (1 - p) / 20_000) ** 0.5)
    skill = tree["posterior"]["skill"]
    np.testing.assert_allclose(
        skill.sel(classifier="A") - skill.sel(classifier="B"), difference, atol=1e-12
    )
    assert tree.attrs["method"] == "exact"


@pytest.mark.parametrize("known", [{"correlation": 0.7}, {}])
def test_draws_of_means_are_student_t(known) -> None:
    tree = claim_tree_of_means(0.81, 0.80, 100, sd=(0.1, 0.1), draws=5000, random_seed=0, **known)
    p = float(tree["point_estimate"]["p_false"])
    share = float((tree["posterior"]["difference"] <= 0).mean())
    assert share == pytest.approx(p, abs=4.5 * (p * (1 - p) / 20_000) ** 0.5)


def test_several_methods_and_the_way_to_a_file_and_back(tmp_path: Path) -> None:
    answers = Responses(np.random.default_rng(0).random((200, 3)) < [0.9, 0.8, 0.6])
    found = compare_methods(answers, draws=4000, random_seed=0)
    tree = comparison_tree(found, answers, seed="0")
    path = bs.save_result(tree, tmp_path / "claim.nc")
    back = bs.read_result(path)
    assert back.attrs["winner"] == found.methods[found.winner]
    assert back["point_estimate"]["p_best_uncorrected"].values == pytest.approx(found.p_best)
    assert back["posterior"]["skill"].shape == (4, 1000, 3)
    assert float(back["posterior"]["difference"][..., found.winner].max()) == 0
    for name in ("schema_version", "data_hash", "random_seed", "versions"):
        assert back.attrs[name]
