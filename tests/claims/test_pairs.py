"""Differences of pairs: closed forms, all pairs at once, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import EXAM, run
from scipy.stats import binom

from bayes_sota.claims.summary_differences import report_pairs
from bayes_sota.core.errors import InputError
from bayes_sota.data.outcomes import Outcomes


def answers(n: int, chances: list[float], seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    hard = rng.normal(size=(n, 1))
    right = hard + rng.normal(size=(n, len(chances))) < np.sqrt(2) * np.array(chances)
    return Outcomes(right, names=[f"m{j}" for j in range(len(chances))])


def test_a_pair_has_mcnemar_s_mid_p_and_the_paired_error() -> None:
    data = answers(400, [0.9, 0.6, 0.7])
    row = report_pairs(data, pair=("m2", "m1"), draws=40_000).content["pairs"][0]
    a, b = data.correct[:, 2], data.correct[:, 1]
    only = int(np.sum(a > b)), int(np.sum(a < b))
    low = min(only)
    mid = binom.cdf(low - 1, sum(only), 0.5) + binom.pmf(low, sum(only), 0.5) / 2
    expected = mid if only[0] > only[1] else 1 - mid
    assert row["p_false"] == pytest.approx(expected, abs=1e-9)
    d = a.astype(float) - b
    assert row["difference"]["observed"] == pytest.approx(d.mean())
    assert row["difference"]["sd"] == pytest.approx(d.std(ddof=1) / 20, rel=0.03)
    low, high = row["difference"]["interval"]
    assert high - low == pytest.approx(2 * 1.96 * d.std() / 20, rel=0.03)


def test_a_pair_named_the_other_way_round_is_its_mirror() -> None:
    data = answers(200, [0.9, 0.6])
    one, other = (
        report_pairs(data, pair=pair).content["pairs"][0] for pair in (("m0", "m1"), ("m1", "m0"))
    )
    assert one["p_false"] == pytest.approx(1 - other["p_false"])
    assert one["difference"]["mean"] == pytest.approx(-other["difference"]["mean"])
    errors = Outcomes(
        np.abs(data.values - 0.9), lower_is_better=True, names=["m0", "m1"], metric="mean"
    )
    lower = report_pairs(errors, pair=("m0", "m1"))
    assert lower.content["pairs"][0]["difference"]["mean"] < 0
    assert lower.content["pairs"][0]["p_false"] < 0.05
    assert "lower than m1" in lower.sentences[0]


@pytest.mark.slow
def test_all_pairs_have_what_each_has_by_itself() -> None:
    data = answers(300, [0.9, 0.7, 0.65, 0.2])
    found = report_pairs(data, draws=20_000, margin=0.02).content
    assert (found["n_pairs"], len(found["pairs"])) == (6, 6)
    for row in found["pairs"]:
        alone = report_pairs(data, pair=(row["a"], row["b"]), draws=20_000, margin=0.02)
        one = alone.content["pairs"][0]
        assert row["p_false"] == pytest.approx(one["p_false"], abs=0.012)
        for key in ("mean", "sd"):
            assert row["difference"][key] == pytest.approx(one["difference"][key], abs=0.002)
        assert row["rope"]["equivalent"] == pytest.approx(one["rope"]["equivalent"], abs=0.03)
        assert row["p_adjusted"] >= min(2 * row["p_false"], 1) - 0.02
    assert found["n_told_apart"] == sum(row["told_apart"] for row in found["pairs"]) >= 3


@pytest.mark.slow
def test_equal_methods_are_seldom_told_apart() -> None:
    """Of 300 tables of six equal methods .05 are expected to have a pair told apart."""
    some = [
        report_pairs(answers(150, [0.6] * 6, seed), draws=1000).content["n_told_apart"] > 0
        for seed in range(300)
    ]
    assert 0.02 <= np.mean(some) <= 0.09


def test_from_the_shell(capsys: Any, tmp_path: Path) -> None:
    exam, table, tree = EXAM, tmp_path / "t.csv", tmp_path / "x.nc"
    figure = tmp_path / "f.svg"
    code, out, _ = run(capsys, "claim", "responses", exam, "--pair", "forest", "linear", "--json")
    found = json.loads(out)
    assert (code, found["n_pairs"], found["n_told_apart"]) == (0, 1, None)
    arguments = ("--pairs", "--save", str(table), "--save", str(tree), "--top", "2")
    arguments += ("--save", str(figure))
    code, out, _ = run(capsys, "claim", "responses", exam, *arguments)
    assert code == 0
    assert "of 6 pairs of methods are told apart, at 95% for all together." in out
    assert len(table.read_text().splitlines()) == 7
    assert tree.exists()
    assert "probability that the row is better than the column" in figure.read_text()


def test_too_many_pairs() -> None:
    data = Outcomes(np.random.default_rng(0).random((50, 210)) < 0.5)
    with pytest.raises(InputError, match="210 methods have too many pairs"):
        report_pairs(data, draws=100)
