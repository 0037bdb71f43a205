"""Reports of claims: every number that the words say is the one that was computed."""

import numpy as np
import pandas as pd
import pytest

from bayes_sota.claims import Accuracies, Means, report_claim, report_methods
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard import board_table


def report_of(a: str, b: str, n: int, known: float | None = None, **options):
    claim = Accuracies(a=float(a), b=float(b), n=n, known=known, domain=options.pop("domain", None))
    return report_claim(claim, printed=(a, b), **options)


@pytest.mark.parametrize(
    ("claim", "options", "parts"),
    [
        (("0.90", "0.88", 500), {"names": ("ours", "theirs")},
         ("The claim that ours (0.90) outperforms theirs (0.88) on 500 items is false with "
          "probability 0.10 (< 0.01 to 0.17, depending on the congruence).",
          "supported at 0.05 only if both got at least 85.8 % of the items right.",
          "With exactly these numbers P(false) falls to 0.05 at 826 items (167 to 1,492, depending",
          "which allow 0.04 to 0.19; exact numbers would give 0.09", "Please report",
          "Jeffreys' prior (1/2 per cell) P(false) is 0.07 instead of 0.09 if the")),
        (("0.90", "0.88", 500), {"known": 0.85},
         ("It is not supported", "P(false) is 0.06 too if")),
        (("0.90", "0.88", 500), {"best_of": 10.0},
         ("the best of 10 tries of equal skill, P(false) is 0.37 instead of 0.10",)),
        (("0.80", "0.79", 100), {}, ("not supported at 0.05, whatever the congruence",)),
        (("0.95", "0.85", 500), {}, ("supported at 0.05, whatever the congruence",)),
        (("0.913", "0.9", 100), {}, ("No whole number of 100 items gives the accuracy 0.913",)),
        (("0.9", "0.9", 500), {}, ("One digit after the point is taken as printed",)),
        (("0.90", "0.88", 500), {"domain": "language-models"},
         ("an odds ratio of 5.5 (1.6 to 26) of 122 pairs",)),
        (("0.918", "0.901", 608), {"domain": "image-classifiers"},
         ("exactly these numbers P(false) falls to 0.05 at 581 items", "which allow 0.052; exact")),
    ],
)  # fmt: skip
def test_the_paragraph_of_accuracies(claim, options, parts) -> None:
    text = report_of(*claim, **options).text
    assert [part for part in parts if part not in text] == []
    assert ("Please report" in text) == ("known" not in options)


@pytest.mark.parametrize("claim", [Accuracies, Means])
def test_equal_numbers_support_no_claim(claim) -> None:
    report = report_claim(claim(a=0.84, b=0.84, n=10**6), printed=("0.84", "0.84"))
    assert report.content["p_false_range"][0] < 0.05  # at one end of what is not reported
    assert report.content["verdict"] == "not supported"
    assert report.sentences[1] == "It is not supported at 0.05: the two numbers are equal."


def test_the_congruence_needed_is_the_one_that_supports_the_claim() -> None:
    needed = report_of("0.90", "0.88", 500).content["congruence_needed"]
    assert needed > Accuracies(a=0.90, b=0.88, n=500).needed(0.05)
    assert report_of("0.90", "0.88", 500, needed).content["p_false"] == pytest.approx(0.05)
    exact = report_of("0.913", "0.9", 100).content["congruence_needed"]  # no counts print so
    assert exact == Accuracies(a=0.913, b=0.9, n=100).needed(0.05)


def test_both_have_the_digits_of_the_longer_number() -> None:
    found, same = (report_of("0.902", b, 500).content for b in ("0.9", "0.900"))
    assert (found["p_false"], found["notes"]) == (same["p_false"], [])


def test_tables_of_a_report(tmp_path) -> None:
    report = report_of("0.90", "0.88", 500, rope=0.01, level=0.1)
    report.save(tmp_path / "claim.csv")
    np.testing.assert_allclose(pd.read_csv(tmp_path / "claim.csv"), report.about.curve())
    assert "| 0.7800 | 0.17 |" in report.to_markdown()
    assert sum(report.content["rope"].values()) == pytest.approx(1.01)
    assert report.tables[0].title == "By congruence if the printed numbers are exact"
    assert [level for level, _ in report.content["n_test_needed"]] == [0.1, 0.05, 0.01]


def test_the_paragraph_of_means() -> None:
    imputed = Means(a=0.81, b=0.80, n=100)
    text = report_claim(imputed, best_of=5).text
    for part in (
        "only if their cases correlate by at least 0.836",
        "are 0.103 and 0.107, imputed as 2/3 mean", "best of 5 tries",
        "not reported and is averaged over 0 to 1.",
        "with half of them P(false) is 0.03, with twice 0.28",
    ):  # fmt: skip
        assert part in text
    known = report_claim(Means(a=0.81, b=0.80, n=100, sd=(0.1, 0.1), known=0.7))
    assert known.content["p_false"] == pytest.approx(0.1, abs=5e-4)


def answers(clusters: int, **options) -> Outcomes:
    item = np.arange(240)
    right = np.column_stack([item % k > 0 for k in (10, 8, 3)])
    return Outcomes(right, clusters=item * clusters // 240, **options)


def test_several_methods() -> None:
    report = report_methods(answers(240, names=["ours", "theirs", "third"]), random_seed=0)
    picked = report.content["selection"]
    for part in (
        "ours has the best score of 3 methods", "theirs cannot be distinguished from ours",
        f"another method is the best with probability {picked['p_not_best']:.2f}",
    ):  # fmt: skip
        assert part in report.text
    result = report.to_dict()
    assert sum(result["p_best"].values()) == pytest.approx(1)
    assert list(report.frame["name"]) == ["ours", "theirs", "third"]
    scores = np.random.default_rng(0).normal([0.8, 0.7, 0.6], 0.1, (5, 3))
    of_tasks = report_methods(Outcomes(scores, metric="mean", new="tasks"), random_seed=0).text
    assert ("(conservative: " in of_tasks, "(conservative: " in report.text) == (True, False)
    board = board_table(Outcomes(scores, metric="mean", new="tasks"), draws=100)
    assert "(conservative: " in board.text
    clustered = report_methods(answers(60, notes=["only 5 items"]), selection=False, random_seed=0)
    assert "240 items in 60 clusters" in clustered.text
    assert "Only 5 items. " in clustered.text
    assert clustered.to_dict()["selection"] is None
