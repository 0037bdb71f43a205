"""Tables with a column for each task, and results of lm-evaluation-harness: read and refused."""

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import run, written

from bayes_sota.cli.inspection import inspected
from bayes_sota.core.errors import InputError
from bayes_sota.data.formats.lm_evaluation import read_lm_eval_tasks, result_files
from bayes_sota.data.readers.task_scores import read_task_scores
from bayes_sota.data.task_scores import TaskScores

SCORES = np.array([[0.9, 0.5, 0.7], [0.8, 0.6, 0.6]])
TASKS = ["law", "art", "chess"]
TABLE = (
    "model,law,art,chess,law_n,art_n,chess_n\n"
    "a,0.9,0.5,0.7,30,200,75\nb,0.8,0.6,0.6,30,200,70\nc,0.7,0.4,0.5,30,200,75\n"
)
ERRORS = "model,law,law_stderr,art,art_stderr\na,0.9,0.03,0.5,0.05\nb,0.8,0.04,0.6,0.05\n"


def test_columns_are_tasks_and_rows_are_entries(tmp_path):
    found = read_task_scores(written(tmp_path, TABLE), task_columns=TASKS, n_test=[30, 200, 75])
    assert (found.tasks, found.names) == (tuple(TASKS), ("a", "b", "c"))
    np.testing.assert_array_equal(found.scores[:2], SCORES)
    np.testing.assert_array_equal(found.sizes, [[30, 200, 75]] * 3)
    assert found.name == "board"


def test_columns_have_the_numbers_of_items(tmp_path):
    columns = [f"{task}_n" for task in TASKS]
    found = read_task_scores(
        written(tmp_path, TABLE), task_columns=TASKS, n_test_columns=columns, average="items"
    )
    assert found.sizes.tolist() == [[30, 200, 75], [30, 200, 70], [30, 200, 75]]
    np.testing.assert_allclose(found.weights[1], np.array([30, 200, 70]) / 300)


def test_columns_beside_the_tasks_have_their_errors(tmp_path):
    path = written(tmp_path, ERRORS)
    found = read_task_scores(path, task_columns=["law", "art"])
    np.testing.assert_allclose(found.sizes, [[101, 101], [101, 97]])
    assert any("columns beside the tasks" in note for note in found.notes)
    named = read_task_scores(
        path, task_columns=["law", "art"], stderr_columns=["law_stderr", "art_stderr"]
    )
    assert named.data_hash() == found.data_hash()
    assert read_task_scores(path, task_columns=["law", "art"], n_test=50).n_items == 100


def test_percent_is_read_alike_in_all_tasks():
    frame = pd.DataFrame({"model": ["a", "b"], "law": [90, 80.5], "art": [0.9, 50]})
    with pytest.raises(InputError, match="column 'art' is 0"):
        read_task_scores(frame, task_columns=["law", "art"], n_test=100)
    found = read_task_scores(frame, task_columns=["law", "art"], n_test=100, percent=True)
    np.testing.assert_allclose(found.scores, [[0.9, 0.009], [0.805, 0.5]])
    assert "scores in percent were divided by 100" in found.notes


def test_errors_in_percent():
    plain = read_task_scores(
        pd.read_csv(pd.io.common.StringIO(ERRORS)), task_columns=["law", "art"]
    )
    frame = pd.DataFrame({
        "model": ["a", "b"], "law": [90, 80], "law_stderr": [3, 4],
        "art": [50, 60], "art_stderr": [5, 5],
    })  # fmt: skip
    found = read_task_scores(frame, task_columns=["law", "art"])
    np.testing.assert_allclose(found.sizes, plain.sizes)


def test_entries_without_a_score_are_refused_or_left_out(tmp_path):
    path = written(tmp_path, TABLE.replace("a,0.9,0.5", "a,0.9,"))
    with pytest.raises(InputError, match="line 2, column 'art'"):
        read_task_scores(path, task_columns=TASKS, n_test=50)
    found = read_task_scores(path, task_columns=TASKS, n_test=50, missing="drop")
    assert found.names == ("b", "c")


def test_losses_have_no_bounds():
    frame = pd.DataFrame({"model": ["a", "b"], "x": [12, 3.5], "y": [1.5, 2]})
    found = read_task_scores(frame, task_columns=["x", "y"], metric="score", lower_is_better=True)
    assert found.lower_is_better
    assert found.scores.tolist() == [[12, 1.5], [3.5, 2]]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (TABLE, "--task-columns law,arts --n-test 5", "no column 'arts' (--task-columns)"),
        (TABLE, "--task-columns law,law --n-test 5", "at least 2 tasks, got 1 column"),
        (TABLE, "--task-columns law,art --n-test infer", "infer is for a column of scores"),
        (TABLE, "--task-columns law,art --n-test 5,6,7", "3 numbers of items for 2 tasks"),
        (TABLE, "--task-columns law,art --n-test law:5,go:6", "task 'go' that is not there"),
        (TABLE, "--task-columns law,art --n-test-column law_n,x", "'x' (--n-test-column)"),
        (TABLE, "--task-columns law,art --stderr-column law_n", "tasks, got 1 column"),
        (TABLE, "--task-columns law,art --average {weights} --n-test 5", "'go'"),
        (TABLE, "--task-columns law,art --n-test 5 --metric score", "standard error of every"),
        (TABLE.replace("0.5", "x", 1), "--task-columns law,art --n-test 5", "line 2, column 'art'"),
        (ERRORS.replace("0.05", "0", 1), "--task-columns law,art", "'a' in task 'art', 0.5, has"),
        (ERRORS.replace("0.05", "x", 1), "--task-columns law,art",
         "line 2, column 'art_stderr'"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(capsys, tmp_path, content, options, message):
    weights = written(tmp_path, "task,weight\nlaw,1\nart,1\ngo,2\n", "weights.csv")
    path = written(tmp_path, content)
    words = options.format(weights=weights).split()
    code, out, error = run(capsys, "board", str(path), *words)
    assert (code, out) == (2, "")
    assert error.count("\n") == 1
    assert message in error


COLUMNS = [f"{task}_n" for task in TASKS]


@pytest.mark.parametrize(
    ("options", "known", "new"),
    [
        ("--n-test 50", {"n_test": 50}, "items"),
        ("--new tasks", {}, "tasks"),
        (f"--n-test-column {','.join(COLUMNS)}", {"n_test_columns": COLUMNS}, "items"),
    ],
)
def test_board_command_reads_what_the_function_reads(capsys, tmp_path, options, known, new):
    path = written(tmp_path, TABLE)
    expected = read_task_scores(path, task_columns=TASKS, **known).leaderboard(new)
    words = [str(path), "--task-columns", ",".join(TASKS), *options.split()]
    code, out, _ = run(capsys, "board", *words, "--draws", "200", "--json", "--seed", "1")
    assert code in (0, 1)
    entries = {entry["name"]: entry for entry in json.loads(out)["entries"]}
    for name, score, size in zip("abc", expected.scores, expected.sizes, strict=True):
        assert entries[name]["score"] == pytest.approx(score)
        assert entries[name]["n_effective"] == pytest.approx(size)


def test_claims_about_methods_take_tasks_as_the_sample(capsys, tmp_path):
    path = written(tmp_path, TABLE)
    words = ["claim", "responses", str(path), "--task-columns"]
    code, out, _ = run(capsys, *words, ",".join(TASKS), "--json", "--seed", "1")
    assert code in (0, 1)
    assert json.loads(out)["n_items"] == 3
    code, out, error = run(capsys, *words, "law,art")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "new tasks need 3 tasks" in error


# --- lm-evaluation-harness


def results_of(directory, model, tasks, **more):
    content = {"results": tasks, "versions": {}, "model_name": model, **more}
    return written(directory, json.dumps(content), f"{model}/results_2024.json")


def tasks_of(law, art, error=0.05):
    return {
        "exam": {"acc,none": 0.123, "alias": "exam"},
        "law": {"acc,none": law, "acc_stderr,none": error, "acc_norm,none": law - 0.1,
                "acc_norm_stderr,none": 0.04, "alias": " - law"},
        "art": {"acc,none": art, "acc_stderr,none": error, "alias": " - art"},
    }  # fmt: skip


SIZES = {"n-samples": {"law": {"original": 90, "effective": 80}, "art": {"effective": 50}}}


def test_results_say_scores_and_items(tmp_path):
    paths = [
        results_of(tmp_path, "one", tasks_of(0.9, 0.5), **SIZES),
        results_of(tmp_path, "two", tasks_of(0.8, 0.6), **SIZES),
    ]
    found = read_lm_eval_tasks(paths)
    expected = TaskScores(
        [[0.9, 0.5], [0.8, 0.6]], n_test=[80, 50], tasks=["law", "art"], names=["one", "two"]
    )
    assert (found.tasks, found.names) == (expected.tasks, expected.names)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.sizes, expected.sizes)
    assert any("'exam'" in note for note in found.notes)  # the group is no task of its own
    assert result_files(tmp_path) == sorted(paths)
    assert result_files(paths[0]) == [paths[0]]
    seen, problems = inspected(tmp_path)
    assert (seen.kind, seen.facts["n_tasks"], seen.facts["n_items"]) == ("leaderboard", 2, 130)
    assert problems == []


def test_the_command_takes_a_metric_of_results(tmp_path, capsys):
    for model, right in (("one", 0.8), ("two", 0.6)):
        tasks = tasks_of(0.7, 0.5) | {"gsm": {"em,strict": 0.1, "em,flexible": right}}
        results_of(tmp_path, model, tasks, **{"n-samples": {t: {"effective": 100} for t in tasks}})
    for option in ("--metric", "--score-column"):
        code, out, error = run(
            capsys, "board", str(tmp_path), option, "em,flexible", "--json", "--draws", "100"
        )
        assert code == 0, error
        assert "'em,flexible' in 'gsm'" in out
    code, _, error = run(capsys, "board", str(tmp_path), "--metric", "em,lenient")
    assert code == 2
    assert "there are " in error


def test_results_without_items_have_standard_errors(tmp_path):
    paths = [
        results_of(tmp_path, "one", tasks_of(0.9, 0.5)),
        results_of(tmp_path, "two", tasks_of(0.8, 0.6)),
    ]
    found = read_lm_eval_tasks(paths)
    np.testing.assert_allclose(found.sizes, [[37, 101], [65, 97]])
    normed = read_lm_eval_tasks(paths, metric="acc_norm", tasks=["exam"])
    np.testing.assert_allclose(normed.scores, [[0.8, 0.5], [0.7, 0.6]])
    np.testing.assert_allclose(normed.sizes[:, 0], [0.16 / 0.0016 + 1, 0.21 / 0.0016 + 1])
    assert read_lm_eval_tasks(paths, n_test=40).sizes.tolist() == [[40, 40]] * 2


def test_perplexities_are_scores_of_which_lower_is_better(tmp_path):
    told = {"higher_is_better": {t: {"word_perplexity": False} for t in ("wiki", "books")}}
    paths = [
        results_of(tmp_path, name, {
            task: {"word_perplexity,none": x + shift, "word_perplexity_stderr,none": 0.1}
            for task, x in (("wiki", 9), ("books", 12))
        }, **told)
        for name, shift in (("one", 0), ("two", 1))
    ]  # fmt: skip
    found = read_lm_eval_tasks(paths)
    assert (found.metric, found.lower_is_better) == ("score", True)
    board = found.leaderboard()
    np.testing.assert_allclose(board.standard_error * board.error_ratios, 0.1 / np.sqrt(2))


def test_results_that_are_refused(tmp_path):
    one = results_of(tmp_path, "one", tasks_of(0.9, 0.5))

    def refused(message, of_two, **options):
        with pytest.raises(InputError, match=message):
            read_lm_eval_tasks([one, results_of(tmp_path, "two", of_two)], **options)

    with pytest.raises(InputError, match="results of one model"):
        read_lm_eval_tasks([one])
    both, lacking = tasks_of(0.8, 0.6), tasks_of(0.8, 0.6)
    del lacking["art"]
    refused("model 'two' has no task 'art'", lacking)
    refused("has no task 'lav'.*'law'", both, tasks=["lav", "art"])
    refused("no task has the metric 'f1'", both, metric="f1")
    assert read_lm_eval_tasks(
        [one, results_of(tmp_path, "two", lacking | {"art": both["art"]})], tasks=["law", "art"]
    ).tasks == ("law", "art")


def test_folder_of_results_is_a_board(capsys, tmp_path):
    results_of(tmp_path, "one", tasks_of(0.9, 0.5), **SIZES)
    results_of(tmp_path, "two", tasks_of(0.8, 0.4), **SIZES)
    code, out, _ = run(capsys, "board", str(tmp_path), "--draws", "200", "--seed", "1")
    assert code in (0, 1)
    assert "2 entries" in out
    assert "0.700" in out
    code, _, error = run(capsys, "board", str(tmp_path), "--name-column", "x")
    assert (code in (0, 1), "no effect on averages over tasks: --name-column" in error) == (
        True,
    ) * 2


MANY = "data set,svm,tree,forest\n" + "".join(
    f"{name},{0.6 + n / 20},{0.55 + n / 25},{0.7 + n / 30}\n" for n, name in enumerate("abcdef")
)


def approximate(method: dict[str, Any]) -> dict[str, Any]:
    """Without what a draw more may change: sums in another order differ in their last bits."""
    low, high = (round(end, 9) for end in method["interval"])
    unsure = ("interval", "p_best", "p_best_mcse")
    rest = {key: value for key, value in method.items() if key not in unsure}
    return rest | {"interval": (low, high), "p_best": round(method["p_best"], 2)}


def test_data_sets_that_are_the_sample_are_called_so(tmp_path, capsys):
    """A table with a row per method, and one with a row per data set, say the same."""
    wide = pd.DataFrame([line.split(",") for line in MANY.splitlines()[1:]])
    by_method = wide.set_index(0).T.set_axis(["svm", "tree", "forest"])
    path = tmp_path / "methods.csv"
    by_method.rename_axis("method").to_csv(path)
    rows = str(written(tmp_path, MANY, "rows.csv"))
    command = ["claim", "responses", "--seed", "1"]
    code, out, error = run(capsys, *command, str(path), "--task-columns", ",".join(wide[0]))
    assert code == 1
    assert "of 6 data sets make up the error" in error
    assert "On the same 6 data sets forest has the best score" in out
    assert "the 6 data sets are the sample" in out
    assert run(capsys, *command, str(path), "--pairs", "--task-columns", "a,b,c")[1].startswith(
        "On the same 3 data sets"
    )
    assert "On the same 6 data sets forest has the best score" in run(capsys, *command, rows)[1]
    ways = ([rows], [rows, "--item-column", "data set"],
            [str(path), "--task-columns", ",".join(wide[0])])  # fmt: skip
    named = [json.loads(run(capsys, *command, *of, "--json")[1])["methods"] for of in ways]
    for one, *others in zip(*named, strict=True):
        alike = approximate(one)
        assert [approximate(other) for other in others] == [alike, alike]
    for other in ("sota", "board"):
        code, out, error = run(capsys, other, rows, "--n-test", "1000", "--score-column", "tree")
        assert (code, out) == (2, "")
        assert "rows are data sets or tasks by column 'data set'" in error
        assert "bayes-sota epp ranks the methods" in error
