"""DataTrees of judged runs: exact draws, estimates, and what ArviZ makes of them."""

import numpy as np
import pytest

from bayes_sota.crossval import FoldScores, correlated_t, fixed, judge_runs

NAMES = ("a", "b", "c")


def judged(folds: int = 5, columns: int | None = None):
    rng = np.random.default_rng(5)
    skills = np.array([0.8, 0.82, 0.79])[:, None, None]
    values = rng.normal(skills, 0.03, (2, 3, 8, columns or folds))
    scores = FoldScores(values, learners=NAMES, tasks=["s", "t"], folds=folds, scorer="roc_auc")
    return judge_runs(scores, rule=fixed(4), orderings=10, random_seed=3).about


@pytest.fixture(scope="module")
def report():
    return judged()


@pytest.fixture(scope="module")
def tree(report):
    return report.to_datatree(draws=2000)


def test_draws_are_of_the_correlated_t(report, tree) -> None:
    drawn = tree["posterior"]["difference"]
    assert drawn.dims == ("chain", "draw", "task", "pair")
    assert drawn["pair"].values.tolist() == ["a - b", "a - c", "b - c"]
    for task in ("s", "t"):
        for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
            values = drawn.sel(task=task, pair=f"{a} - {b}").values.ravel()
            found = correlated_t(report.scores, a, b, task=task)
            sd = found.scale * np.sqrt(found.df / (found.df - 2))
            assert values.mean() == pytest.approx(found.mean, abs=4 * sd / values.size**0.5)
            assert np.quantile(values, [0.025, 0.975]) == pytest.approx(found.interval(), abs=0.003)
            p = found.p_better()
            assert np.mean(values > 0) == pytest.approx(p, abs=4 * (p * (1 - p) / 8000) ** 0.5)


@pytest.mark.parametrize("columns", [None, 1])
def test_replicates_spread_like_the_differences(columns: int | None) -> None:
    """Within a replicate as the observed ones, between replicates as new data sets."""
    report = judged(columns=columns)
    tree = report.to_datatree(draws=2000)
    observed = tree["observed_data"]["fold_difference"]
    again = tree["posterior_predictive"]["fold_difference"]
    assert again.dims == ("chain", "draw", *observed.dims)
    over = ("iteration", "fold")
    df = observed[0, 0].size - 1
    within = again.var(over, ddof=1).mean(("chain", "draw")) * (df - 2) / df
    assert within.values == pytest.approx(observed.var(over, ddof=1).values, rel=0.06)
    found = correlated_t(report.scores, "a", "c", task="t")
    means = again.mean(over).sel(task="t", pair="a - c").values
    variance = (found.data_variance * 2 + found.partition_variance * 2) * df / (df - 2)
    assert means.var() == pytest.approx(variance, rel=0.08)


def test_estimates_are_those_of_the_report(report, tree) -> None:
    point = tree["point_estimate"].to_dataset()
    for row in report.content["learners"]:
        place = {"task": row["task"], "learner": row["learner"]}
        assert float(point["mean_score"].sel(place)) == row["steady"]
    for row in report.content["pairs"]:
        place = {"task": row["task"], "learner": row["first"], "learner_other": row["second"]}
        assert float(point["win_share"].sel(place)) == row["order_kept"]
    assert (tree["constant_data"]["fold_score"].values == report.scores.scores).all()
    assert (tree.attrs["random_seed"], tree.attrs["rule"]) == ("3", "fixed 4")
    again = judge_runs(report.scores, orderings=2, random_seed=np.random.default_rng(0)).about
    assert "difference" in again.to_datatree(draws=10)["posterior"]
