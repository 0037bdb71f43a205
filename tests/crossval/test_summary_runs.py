"""Reports have the numbers that one computes by hand, or from the draws."""

import numpy as np
import pytest
import xarray as xr
from crossval_runs import Countdown, Odd, X, run
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.sample import share_of_draws
from bayes_sota.crossval.sample import compared_effects
from bayes_sota.crossval.summary_runs import describe_runs, report_comparison


def test_numbers_are_those_of_the_scores() -> None:
    learners = {"tree": DecisionTreeClassifier(max_depth=1), "nb": GaussianNB()}
    runs = run(learners, folds=2, iterations=6)
    report = describe_runs(runs)
    assert report.frame["learner"].tolist() == ["nb", "tree"]
    assert report.content["canonical_iterations"] == 5
    means = runs.fold_scores.scores[0].mean(axis=2)
    for row, j in zip(report.frame.to_dict("records"), (1, 0), strict=True):
        assert row["steady"] == pytest.approx(np.mean(means[j]))
        assert row["canonical"] == pytest.approx(np.mean(means[j, :5]))
        assert row["share_best"] == np.mean(means[j] > means[1 - j])
        assert row["failed_fits"] == 0
    assert list(report.reasons) == []
    assert report.content["n_of_classes"][1] == int(runs.truth.sum())


def test_one_iteration_has_no_spread_and_a_tie_is_divided() -> None:
    same = {"a": GaussianNB(), "b": GaussianNB()}
    report = describe_runs(run(same, folds=2, iterations=1))
    assert report.frame["share_best"].tolist() == [0.5, 0.5]
    assert report.frame[["sd", "standard_error", "canonical"]].isna().all(axis=None)
    assert "0.5 of 1 random partition" in " ".join(report.sentences)


def test_what_failed_and_what_was_not_met_is_a_reason() -> None:
    odd = {"nb": GaussianNB(), "odd": Odd("fail", float(X[0, 0]))}
    report = describe_runs(run(odd, iterations=2, rule=Countdown(9)))
    assert report.reasons == [
        "fits of odd failed", "countdown was not met in 2 iterations"
    ]  # fmt: skip
    assert report.frame.set_index("learner").loc["odd", "failed_fits"] == 4
    assert np.isfinite(report.frame["steady"]).all()
    assert report.notes[0].startswith("odd: 4 of 6 fits failed and were left out")


RNG = np.random.default_rng(0)
CHAINS, DRAWS = 2, 500


def result(tasks: int = 2) -> xr.DataTree:
    """Made-up draws: b is clearly the worst of three, a and c are close."""
    of_draw, of_task = ("chain", "draw"), ("chain", "draw", "task")
    middle, shape = np.array([0.02, -0.06, 0.03]), (CHAINS, DRAWS)
    effect = RNG.normal(middle, 0.01, (*shape, 3))
    true = effect[:, :, None] + RNG.normal(0, 0.02, (*shape, tasks, 3))
    a, b = np.triu_indices(3, 1)
    posterior = xr.Dataset(
        {
            "learner_effect": ((*of_draw, "learner"), effect),
            "task_effect": ((*of_task, "learner"), true),
            "difference": ((*of_draw, "pair"), effect[..., a] - effect[..., b]),
            "task_difference": ((*of_task, "pair"), true[..., a] - true[..., b]),
            "partition_sd": ((*of_task, "learner"), np.full(true.shape, 0.02)),
            "shared_sd": ((*of_task, "learner"), np.full(true.shape, 0.02)),
        },
        {"learner": list("abc"), "task": [f"set {t}" for t in range(tasks)]},
    )
    again = true[..., a] - true[..., b] + RNG.normal(0, 0.03, (*shape, tasks, 3))
    constants = {
        "observed_difference": (("task", "pair"), (true[..., a] - true[..., b]).mean(axis=(0, 1))),
        "n_iterations": ("task", np.full(tasks, 4)),
        "overlap_correlation": 0.1,
    }
    effect = compared_effects(posterior)
    groups = {
        "posterior": posterior,
        "point_estimate": share_of_draws(effect == effect.max("learner"), "p_best"),
        "constant_data": xr.Dataset(constants),
        "predictions": xr.Dataset({"canonical_difference": ((*of_task, "pair"), again)}),
    }
    tree = xr.DataTree.from_dict(groups)
    tree.attrs.update(method="nuts", random_seed="1", scorer="AUROC", draws_are_independent=1)
    return tree


def test_the_numbers_are_those_of_the_draws() -> None:
    tree = result()
    report = report_comparison(tree)
    assert [row["task"] for row in report.content["pairs"]] == ["all data sets"] * 3 + [
        "set 0"
    ] * 3 + ["set 1"] * 3
    draws = tree["posterior"]["task_difference"].values[:, :, 1, 2]
    row = report.content["pairs"][-1]
    assert (row["a"], row["b"]) == ("b", "c")
    assert row["p_better"] == pytest.approx(np.mean(draws > 0))
    again = tree["predictions"]["canonical_difference"].values[:, :, 1, 2]
    assert row["p_other_seed"] == pytest.approx(np.mean(again > 0))
    assert row["partition_share"] == pytest.approx((0.02**2 / 4) / (0.02**2 / 4 + 0.06**2 / 9))
    assert sum(row["p_best"] for row in report.content["learners"]) == pytest.approx(1)
    assert all(0 <= row["p_best_mcse"] < 0.1 for row in report.content["learners"])


def test_one_data_set_has_no_rows_over_all() -> None:
    report = report_comparison(result(1))
    assert {row["task"] for row in report.content["pairs"]} == {"set 0"}
    assert report.sentences[0].startswith("c is the best of 3 learners on set 0")
