"""Reports of claims: every number that the words say is the one that was computed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_sota.claims import ReportedMeans, report_accuracies, report_means, report_methods
from bayes_sota.data.outcomes import Outcomes


@pytest.mark.parametrize(
    ("claim", "options", "parts"),
    [
        (("0.90", "0.88", 500), {},
         ("probability 0.093", "0.780 to 0.880, and the probability ranges from 0.0005 to 0.171",
          "at most 0.05 only if both got at least 85.4 % of the items right",
          "With the rounding of the printed accuracies it is 0.100", "Please report")),
        (("0.90", "0.88", 500), {"congruence": 0.85, "rounding": "exact"},
         ("0.85 of the items right by both, given",)),
        (("0.90", "0.88", 500), {"best_of": 10}, ("the probability is 0.352 instead of 0.093",)),
        (("0.80", "0.79", 100), {}, ("At no share",)),
        (("0.95", "0.85", 500), {}, ("at most 0.05 whatever that share is",)),
        (("0.913", "0.9", 100), {"any_accuracy": True},
         ("No whole number of 100 items gives the accuracy 0.913",)),
        (("0.9", "0.90", 500), {}, ("One digit after the point is taken as printed",)),
    ],
)  # fmt: skip
def test_the_paragraph_of_accuracies(claim, options, parts) -> None:
    text = report_accuracies(*claim, **options).text
    assert [part for part in parts if part not in text] == []
    assert ("Please report" in text) == ("congruence" not in options)


def test_tables_of_a_report(tmp_path: Path) -> None:
    report = report_accuracies("0.90", "0.88", 500, rope=0.01)
    report.save(tmp_path / "claim.csv")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "claim.csv"), report.about.curve)
    assert "| 0.7800 | 0.171 |" in report.to_markdown()
    assert sum(report.content["rope"].values()) == pytest.approx(1.01)
    tree = report.about.to_datatree(random_seed=0)
    assert float(tree["point_estimate"]["p_false"]) == report.content["p_false"]


def test_the_paragraph_of_means() -> None:
    imputed = ReportedMeans(0.81, 0.80, 100)
    text = report_means(imputed, best_of=5).text
    for part in (
        "averaged, uniform from 0 to 1; the probability is",
        "The SDs of cases are 0.103 and 0.107 imputed from the means", "best of 5 tries",
    ):  # fmt: skip
        assert part in text
    known = report_means(ReportedMeans(0.81, 0.80, 100, sd=(0.1, 0.1), correlation=0.7))
    assert known.content["p_false"] == pytest.approx(0.1, abs=5e-4)
    given = report_means(ReportedMeans(0.81, 0.80, 100, sd_difference=0.05), best_of=2)
    assert "half of the variance" in given.notes[0]
    assert given.cells == []
    tree = given.about.to_datatree(0)
    assert float(tree["point_estimate"]["p_false"]) == given.content["p_false"]


def answers(clusters: int, names: list[str] | None = None) -> Outcomes:
    item = np.arange(240)
    right = np.column_stack([item % k > 0 for k in (10, 8, 3)])
    return Outcomes(right, names=names, clusters=item * clusters // 240)


def test_several_methods() -> None:
    report = report_methods(answers(240, ["ours", "theirs", "third"]), random_seed=0)
    picked = report.content["selection"]
    for part in (
        "ours has the best score of 3 methods", "theirs cannot be told from it",
        f"another method is the best with probability {picked['p_not_best']:.2f}",
    ):  # fmt: skip
        assert part in report.text
    result = report.to_dict()
    assert sum(result["p_best"].values()) == pytest.approx(1)
    assert list(report.frame["name"]) == ["ours", "theirs", "third"]
    clustered = report_methods(answers(60), selection=False, notes=["only 5 items"], random_seed=0)
    assert "240 items in 60 clusters" in clustered.text
    assert "Only 5 items. " in clustered.text
    assert clustered.to_dict()["selection"] is None


def test_ties_and_item_scores() -> None:
    rng = np.random.default_rng(0)
    equal = Outcomes(
        rng.normal(0.8, 0.1, (60, 9)), names=[f"m{i}" for i in range(9)], metric="mean"
    )
    report = report_methods(equal, selection=False, random_seed=0)
    assert " and 3 more cannot be told from it" in report.text
    apart = report_methods(
        Outcomes(rng.normal([0.9, 0.2], 0.1, (60, 2)), metric="mean"), random_seed=0
    )
    assert "The two are told apart" in apart.text
