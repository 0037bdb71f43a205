"""The report of a comparison says what its draws hold."""

import numpy as np
import pytest
import xarray as xr

from bayes_sota.core.sample import share_of_draws
from bayes_sota.crossval.sample import compared_effects
from bayes_sota.crossval.summary_posterior import report_comparison

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
