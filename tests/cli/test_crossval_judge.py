"""``bayes-sota cv judge``: what it reads, says and writes, and what it refuses."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from crossval_runs import ended, run, write_scores

from bayes_sota import crossval
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.crossval.across_tasks import against_truth
from bayes_sota.crossval.fold_scores import FoldScores, read_fold_scores
from bayes_sota.crossval.rules import kolmogorov_smirnov, posterior, spearman
from bayes_sota.crossval.summary import judge_runs
from bayes_sota.crossval.summary_posterior import report_comparison


def scores_of(tasks: int) -> FoldScores:
    rng = np.random.default_rng(3)
    values = rng.normal(np.array([0.9, 0.88])[:, None, None], 0.03, (tasks, 2, 24, 5))
    names = [f"task {t}" for t in range(tasks)]
    return FoldScores(values, learners=["nb", "tree"], tasks=names, scorer="roc_auc")


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    write_scores(scores_of(1), path)
    return path


@pytest.fixture
def judge(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    return partial(ended, capsys, "judge")


@pytest.mark.parametrize(
    ("words", "settings"),
    [
        ("--rule ks --threshold 0.3", {"rule": kolmogorov_smirnov(0.3)}),
        ("--rule posterior --threshold 0.8 --prob 0.8",
         {"rule": posterior(0.8), "ci_prob": 0.8}),
    ],
)  # fmt: skip
def test_json_is_the_report_of_python(judge, file: Path, words: str, settings: dict) -> None:
    code, out, _ = judge(file, *words.split(), "--seed", 4, "--json")
    expected = judge_runs(read_fold_scores(file), random_seed=4, **settings)
    assert code == int(not expected.content["diagnostics"]["ok"])
    assert json.loads(out) == json.loads(expected.to_json())


def test_a_result_of_cv_run_has_probabilities(judge, tmp_path: Path) -> None:
    runs = run(iterations=6, folds=2)
    save_result(runs.to_datatree(), tmp_path / "runs.nc")
    words = ("--rule", "spearman", "--threshold", 0.99, "--seed", 1, "--json")
    content = json.loads(judge(tmp_path / "runs.nc", *words)[1])
    expected = judge_runs(runs.fold_scores, runs.probabilities, rule=spearman(0.99), random_seed=1)
    assert content["learners"] == json.loads(expected.to_json())["learners"]
    assert (content["scorer"], content["learners"][0]["task"]) == ("roc_auc", "data")


def test_true_test_sets(judge, tmp_path: Path) -> None:
    runs = scores_of(3)
    truth = np.array([[0.91, 0.9], [0.92, 0.9], [0.9, 0.93]])
    write_scores(runs, tmp_path / "five.csv")
    rows = [f"{n},task {t},{truth[t, j]}" for t in (2, 0, 1) for j, n in enumerate(("nb", "tree"))]
    (tmp_path / "truth.csv").write_text("\n".join(["learner,task,score", *rows]))
    code, out, error = judge(
        tmp_path / "five.csv", "--rule", "fixed", "--truth", tmp_path / "truth.csv", "--json"
    )
    assert code == 0, error
    content = json.loads(out)
    expected = against_truth(runs, truth)["steady"]
    assert content["against_truth"]["steady"] == {
        "bias": dict(zip(("nb", "tree"), expected["bias"], strict=True)),
        "mse": dict(zip(("nb", "tree"), expected["mse"], strict=True)),
        "same_best": expected["same_best"],
    }
    low = -expected["bias"].mean()
    said = f"Against true test sets the means of all iterations are {low:.2g} too low"
    assert low > 0
    assert said in content["text"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("learner,task,score\nnb,task 0,0.9", "learner 'tree': a score is needed"),
        ("learner,score\nnb,0.9\nforest,0.8", "learner 'tree': a score is needed"),
        ("learner,task,score\nnb,task 0,\ntree,task 0,0.9", "'nb': a score is needed"),
        ("learner,task,score\nnb,task 0,1\nnb,task 0,2", "has a score already"),
    ],
)
def test_test_scores_that_cannot_be_meant(judge, file, text, message, tmp_path: Path) -> None:
    (tmp_path / "wrong.csv").write_text(text)
    code, out, error = judge(file, "--truth", tmp_path / "wrong.csv")
    assert (code, out) == (2, "")
    assert message in error


@pytest.mark.slow
def test_the_result_is_written(judge, file: Path, tmp_path: Path) -> None:
    code, _, _ = judge(file, "--rule", "fixed", "--seed", 2, "--save", tmp_path / "judged.nc")
    assert code == 0
    assert read_result(tmp_path / "judged.nc")["posterior"]["difference"].sizes["pair"] == 1
    error = judge(tmp_path / "judged.nc")[2]
    assert "this is no result of repeated cross-validation (bayes-sota cv run)" in error


@pytest.mark.slow
def test_one_model_of_all_learners(
    judge, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, not_sampled: list
) -> None:
    few = partial(crossval.sample_comparison, draws=20, chains=2)
    monkeypatch.setattr(crossval, "sample_comparison", few)
    words = ("--prob", 0.8, "--seed", 1, "--json")
    code, out, _ = judge(file, "--bayes", *words, "--save", tmp_path / "model.nc")
    assert code in (0, 1)
    tree = read_result(tmp_path / "model.nc")
    assert tree["posterior"].sizes["draw"] == 20
    expected = report_comparison(tree, ci_prob=0.8)
    assert json.loads(out)["pairs"] == json.loads(expected.to_json())["pairs"]


@pytest.mark.parametrize("tasks", [1, 2])
def test_a_figure_is_written(judge, tasks: int, tmp_path: Path) -> None:
    write_scores(scores_of(tasks), tmp_path / "scores.csv")
    words = ["--save", tmp_path / "figure.png"]
    code, _, error = judge(tmp_path / "scores.csv", "--rule", "fixed", *words)
    assert code == 0, error
    assert (tmp_path / "figure.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threshold", "0.2"], "--threshold is of a rule: --rule names it"),
        (["--rule", "ks", "--threshold", "0"], "--threshold must be a number above 0"),
    ],
)
def test_what_can_never_be_met_is_refused(
    judge, file: Path, words: list[str], message: str, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, error = judge(file, *words)
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert message in error
    assert not any(tmp_path.iterdir())


def constant_file(folder: Path, *levels: float) -> Path:
    """Learners whose score is the same in every fold."""
    scores = np.broadcast_to(np.array(levels)[:, None, None], (len(levels), 6, 5))
    write_scores(FoldScores(scores), folder / "constant.csv")
    return folder / "constant.csv"


def test_differences_that_never_vary_have_no_test(judge, tmp_path: Path) -> None:
    path = constant_file(tmp_path, 0.8, 0.7, 0.6)
    code, out, error = judge(path, "--seed", "1")
    assert (code, error) == (0, "")
    assert "no test is possible" in out
    assert "nan" not in out
    assert "e-17" not in out
    pairs = json.loads(judge(path, "--seed", "1", "--json")[1])["pairs"]
    assert [test["p_value"] for pair in pairs for test in pair["tests"]] == [None] * 6
    assert {pair["posterior"]["partition_share"] for pair in pairs} == {0.0}


def test_learners_that_are_always_equal_have_a_test(judge, tmp_path: Path) -> None:
    code, out, error = judge(constant_file(tmp_path, 0.8, 0.8), "--seed", "1")
    assert (code, error) == (0, "")
    assert "the corrected test has p > 0.999 (" in out
    assert "= >" not in out
