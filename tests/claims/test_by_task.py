"""``claim responses --by task``: verdicts that stand, pairs, losses and trees."""

import numpy as np
import pytest

from bayes_sota.claims.summary_gate import report_gate, report_tasks
from bayes_sota.data.item_values import RUNS_DIFFER
from bayes_sota.data.outcomes import Outcomes


def exam(gaps: list[float], n: int = 100, seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    right = [rng.random((n, 2)) < [0.6 + gap, 0.6] for gap in gaps]
    tasks = [f"task {t}" for t in range(len(gaps)) for _ in range(n)]
    return Outcomes(np.concatenate(right), tasks=tasks, names=["a", "b"])


@pytest.mark.slow
def test_the_verdicts_that_stand_are_true_together() -> None:
    """Ten tasks whose differences are normal: of 200 exams nearly .95 have no false verdict."""
    right, some = [], 0
    for seed in range(200):
        rng = np.random.default_rng([seed, 1])
        gaps = np.clip(rng.normal(0.03, 0.12, 10), -0.5, 0.39)
        rows = report_tasks(exam(gaps.tolist(), 150, seed), pair=("a", "b"), draws=1000)
        said = [(row["best"] == "a", int(row["task"][5:])) for row in rows.content["tasks"]
                if row["stands"]]  # fmt: skip
        right.append(all((gaps[t] > 0) == better for better, t in said))
        some += len(said)
    assert 0.92 <= np.mean(right) <= 1
    assert some > 200


def test_a_pair_is_what_two_methods_are() -> None:
    data = exam([0.2, 0.0, -0.2], 300)
    pair, both = (report_tasks(data, pair=p).content for p in (("b", "a"), None))
    by_task = {row["task"]: row for row in both["tasks"]}
    for row in pair["tasks"]:
        same = by_task[row["task"]]
        assert row["p_false"] == pytest.approx(same["p_best"]["a"])
        assert abs(row["difference"]["mean"]) == pytest.approx(abs(same["difference"]["mean"]))
        assert row["stands"] == same["stands"]
    assert pair["n_stand"] == {"b": 1, "a": 1}
    assert [row["task"] for row in pair["tasks"]] == ["task 2", "task 1", "task 0"]
    for margin, require, failed, notes in (
        (0.0, "better", ["task 1", "task 2"], []), (0.15, "not-worse", ["task 2"], []),
        (0.5, "not-worse", [], []), (0.5, "not-worse", [], [RUNS_DIFFER]),
    ):  # fmt: skip
        asked = {"pair": ("a", "b"), "margin": margin, "require": require}
        gate = report_tasks(data.copy_with(notes=notes), **asked)
        assert (gate.content["failed"], gate.content["passed"]) == (failed, not (failed or notes))
        assert ("not shown in task" in gate.sentences[0]) == bool(failed)
        alone = data.copy_with(tasks=None).subset(items=np.array(data.tasks) == "task 2")
        asked = {"margin": margin, "require": require}
        assert (
            gate.content["p_of_tasks"]["task 2"]
            == report_gate(alone, ("a", "b"), **asked).content["p"]
        )


def test_differences_of_losses_are_as_given() -> None:
    """The better method has the lower number, and its difference is negative."""
    values = np.random.default_rng(0).normal([1.0, 2.0], 0.3, (40, 2))
    tasks = np.repeat(["x", "y"], 20).tolist()
    loss = Outcomes(values, tasks=tasks, names=["a", "b"], lower_is_better=True, metric="mean")
    gain = Outcomes(-values, tasks=tasks, names=["a", "b"], metric="mean")
    for pair in (None, ("a", "b"), ("b", "a")):
        rows, others = (report_tasks(x, pair=pair).content["tasks"] for x in (loss, gain))
        for row, other in zip(rows, others, strict=True):
            assert (row["task"], row["best"], row["stands"]) == (other["task"], "a", True)
            assert row["difference"]["mean"] == pytest.approx(-other["difference"]["mean"])
            assert row["scores"]["a"] == pytest.approx(-other["scores"]["a"])
            assert row.get("p_false") == other.get("p_false")
        assert (rows[0]["difference"]["mean"] < 0) == (pair != ("b", "a"))


def test_the_tree_has_skills_within_their_bounds() -> None:
    data = exam([0.38, 0.0], 12)
    found = report_tasks(data, draws=400)
    tree = found.about.to_datatree()["posterior"]
    assert tree["skill"].dims == ("chain", "draw", "task", "classifier")
    assert float(tree["skill"].max()) == 1.0
    inside = (tree["skill"].max("classifier") < 1) & (tree["skill"].min("classifier") > 0)
    gap = tree["skill"].sel(classifier="a") - tree["skill"]
    assert np.allclose(gap.where(inside, 0), tree["difference"].where(inside, 0))
