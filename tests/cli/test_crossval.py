"""``bayes-sota cv run``: a table of items to the estimates of learners."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from crossval_runs import ended

import bayes_sota as bs
from bayes_sota.crossval.run import runs_of_tree


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(90, 3))
    y = np.where(rows[:, 0] + 0.5 * rows[:, 1] + rng.normal(size=90) > 0, "good", "bad")
    path = tmp_path_factory.mktemp("cv") / "loans.csv"
    pd.DataFrame(rows.round(3), columns=["a", "b", "c"]).assign(
        sort=rng.choice(["x", "z"], 90), grade=y
    ).to_csv(path, index=False)
    return path


BASE = ["--column", "target=grade", "--learners", "nb,tree", "--folds", "3", "--iterations", "4"]


@pytest.mark.slow
def test_json_files_and_python_have_the_same_numbers(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / name for name in ("runs.nc", "table.csv")]
    given = [word for file in files for word in ("--save", file)]
    code, out, _ = ended(capsys, "run", table, *BASE, "--seed", 1, "--json", *given)
    found = json.loads(out)
    assert code == 0
    names = {row["learner"]: row for row in found["learners"]}
    tree = bs.read_result(files[0])
    scores, probabilities = runs_of_tree(tree)
    frame = tree["observed_data"]["fold_score"].to_dataframe().reset_index()
    np.testing.assert_array_equal(bs.read_fold_scores(frame).scores, scores.scores)
    assert (scores.tasks, scores.scorer) == (("loans",), "roc_auc")
    for name, means in zip(scores.learners, scores.iteration_means()[0], strict=True):
        assert names[name]["steady"] == pytest.approx(means.mean(), abs=1e-12)
    attributes, labels, categories, _ = bs.crossval.read_task(table, "grade")
    runs = bs.repeated_cross_validation(
        bs.crossval.named_learners(["nb", "tree"], categories), attributes, labels, folds=3,
        iterations=4, random_seed=1, task="loans",
    )  # fmt: skip
    assert runs.fold_scores.data_hash() == scores.data_hash()
    assert list(runs.partition_seeds) == found["partition_seeds"]
    assert np.array_equal(probabilities, runs.probabilities)
    assert pd.read_csv(files[1])["learner"].tolist() == [r["learner"] for r in found["learners"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--column target=q", 'there is no column "q"'),
        ("--threshold 5", "--threshold is of a --rule other than fixed"),
        ("--rule spearman --threshold 0.5", "threshold must be a number from 0.9"),
    ],
)
def test_input_that_cannot_be_meant_is_refused(
    options: str, message: str, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = ended(capsys, "run", table, *BASE, *options.split())
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("error: ")
    assert message in error
