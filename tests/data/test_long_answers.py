"""Long answers: as a pivot by pandas, and every slip by its own line in the file."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.outcomes import read_evaluations, read_responses, read_weights
from bayes_sota.data.responses import Responses

MODELS = ("gpt-4", "llama", "mistral")


def frame(n_items: int = 50, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    rows = [(m, f"q{i}", int(rng.integers(2))) for m in MODELS for i in range(n_items)]
    return pd.DataFrame(rows, columns=["model", "question", "correct"])


def test_it_is_the_pivot(tmp_path: Path) -> None:
    table = frame().sample(frac=1, random_state=1)
    found = read_responses(written(tmp_path, table))
    wide = table.pivot(index="question", columns="model", values="correct")
    expected = wide.loc[list(found.items), list(found.names)]
    np.testing.assert_array_equal(found.correct, expected.to_numpy())


def test_the_text_of_an_answer_is_passed_over(tmp_path: Path) -> None:
    plain = read_responses(written(tmp_path, frame()))
    table = frame()
    table.insert(2, "response", "blue")
    assert read_responses(written(tmp_path, table)) == plain


def test_columns_beside_are_passed_over(tmp_path: Path) -> None:
    plain = read_responses(written(tmp_path, frame()))
    more = frame().assign(prompt="What is it?", seconds=0.3).reset_index(names="")
    assert read_responses(written(tmp_path, more)) == plain


SUBJECTS = {"law": 6, "art": 3, "physics": 11}


def exams(runs: int = 1, seed: int = 3) -> pd.DataFrame:
    """Answers to questions that each subject numbers anew, in passages of up to three."""
    rng = np.random.default_rng(seed)
    rows = [
        (m, subject, item, f"p{item // 3}", run, int(rng.integers(2)))
        for m in MODELS
        for subject, size in SUBJECTS.items()
        for item in range(size)
        for run in range(runs)
    ]
    names = ["model", "subject", "item", "passage", "seed", "correct"]
    return pd.DataFrame(rows, columns=names).sample(frac=1, random_state=1)


def test_tasks_clusters_and_runs_are_those_of_arrays(tmp_path: Path) -> None:
    table = exams(runs=4).assign(passage=lambda t: t["subject"] + t["passage"])
    found = read_responses(written(tmp_path, table))
    shares = table.pivot_table(index=["subject", "item"], columns="model", values="correct")
    places = [
        (t, int(i.split("/")[1])) for t, i in zip(found.tasks or (), found.items, strict=True)
    ]
    np.testing.assert_allclose(found.values, shares.loc[places, list(found.names)])
    assert found.n_runs == 4
    assert found.clusters == tuple(f"{t}p{i // 3}" for t, i in places)
    of_task = table.groupby(["model", "subject"])["correct"].mean().groupby("model").mean()
    np.testing.assert_allclose(found.scores, of_task[list(found.names)])
    assert [note.split(" are")[0] for note in found.notes] == ["tasks", "clusters", "runs"]
    outcomes = read_evaluations(written(tmp_path, table)).outcomes
    assert isinstance(outcomes, Responses)
    np.testing.assert_allclose(outcomes.scores, found.scores)
    again = read_responses(written(tmp_path, table), average="items")
    of_item = table.groupby("model")["correct"].mean()
    np.testing.assert_allclose(again.scores, of_item[list(found.names)])


def test_a_wide_table_has_tasks_and_clusters_too(tmp_path: Path, capsys: Any) -> None:
    long = exams().assign(item=lambda t: t["subject"] + t["item"].astype(str))
    long = long.rename(columns={"subject": "subset", "passage": "cluster"})
    wide = long.pivot(index=["subset", "cluster", "item"], columns="model", values="correct")
    path = written(tmp_path, wide.reset_index())
    found = read_responses(path)
    assert (found.n_items, len(found.task_weights), len(set(found.clusters or ()))) == (20, 3, 4)
    for command in (["sota"], ["board"], ["claim", "responses"]):
        code, out, _ = run(capsys, *command, str(path), "--json")
        assert code in (0, 1)  # few items
        assert "tasks are taken from column 'subset'" in out


def test_the_number_of_right_answers_in_several_runs(tmp_path: Path) -> None:
    each = exams(runs=5)
    keys = ["model", "subject", "item"]
    counts = each.groupby(keys, sort=False)["correct"].sum().rename("right").reset_index()
    counted = read_responses(written(tmp_path, counts.assign(runs=5)))
    single = read_responses(written(tmp_path, each.drop(columns="passage")))
    np.testing.assert_allclose(
        counted.subset(items=single.items, classifiers=single.names).values, single.values
    )
    assert counted.n_runs == 5


def test_runs_may_differ_in_number(tmp_path: Path) -> None:
    table = (
        exams(runs=3)
        .drop(columns=["passage", "subject"])
        .drop_duplicates(["model", "item", "seed"])
    )
    kept = table[(table["seed"] < 2) | (table["model"] != "llama")]
    found = read_responses(written(tmp_path, kept))
    assert found.n_runs == 2
    assert "items have 2 to 3 runs; a score is the mean of their means" in found.notes
    means = kept.pivot_table(index="item", columns="model", values="correct")
    np.testing.assert_allclose(
        found.values, means.loc[[int(i) for i in found.items], list(found.names)]
    )


def _lacks(table: pd.DataFrame) -> pd.DataFrame:
    return table[(table["model"] != "llama") | (table["subject"] != "art")]


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        (
            lambda t: t.assign(item=t["subject"] + t["item"].astype(str)).assign(
                subject=np.where((t["model"] == "llama") & (t["item"] == 0), "art", t["subject"])
            ),
            (), "has task 'art', but 'law' on line",
        ),
        (lambda t: t.assign(passage=t["passage"] + t["model"]), (), "has cluster"),
        (_lacks, (), "averages over tasks need every answer"),
        (lambda t: pd.concat([t, t.iloc[:1]]), (), "already has an answer on line 2"),
        (lambda t: t, ("--task-column", "topic"), "there is no column 'topic' (--task-column)"),
        (lambda t: t, ("--average", "topics"), "there is no file 'topics'"),
        (lambda t: t, ("--run-column", "passage", "--cluster-column", "passage"), "something else"),
        (lambda t: t.rename(columns={"seed": "epoch"}).assign(run=1), (), "several columns could"),
    ],
)  # fmt: skip
def test_tasks_and_runs_that_do_not_fit(
    tmp_path: Path, capsys: Any, change: Any, options: tuple[str, ...], message: str
) -> None:
    path = written(tmp_path, change(exams()))
    for command in (["board"], ["sota"], ["claim", "responses"]):
        code, _, error = run(capsys, *command, str(path), *options)
        assert code == 2, command
        assert message in error
        assert error.count("\n") == 1


def test_weights_of_tasks_come_from_a_table(tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path, exams().drop(columns="passage"))
    weights = tmp_path / "weights.csv"
    weights.write_text("subject,weight\nlaw,2\nart,1\nphysics,1\n")
    code, out, _ = run(capsys, "sota", str(path), "--average", str(weights), "--json")
    assert code == 0
    assert '"average": "weights"' in out
    assert read_weights(weights) == {"law": 2, "art": 1, "physics": 1}
    for text, message in (
        ("subject,weight\nlaw,2\nart,1\n", "has no weight of task 'physics'"),
        ("subject,weight\nlaw,x\nart,1\n", "line 2, column 'weight': a weight is a number"),
        (
            "subject,weight\nlaw,1\nlaw,1\n",
            "column 'subject': task 'law' is already on line 2",
        ),
        ("subject,weight,n\nlaw,1,1\n", "weights are a table of two columns, task and weight"),
    ):
        weights.write_text(text)
        code, _, error = run(capsys, "sota", str(path), "--average", str(weights))
        assert code == 2
        assert message in error


def test_numbers_of_tasks_are_averages_and_those_of_runs_are_means(tmp_path: Path) -> None:
    table = exams(runs=2).drop(columns="passage")
    table["correct"] = np.random.default_rng(1).random(len(table))
    exam = read_evaluations(written(tmp_path, table)).outcomes
    by_task = table.groupby(["model", "subject"])["correct"].mean().unstack().mean(axis=1)
    np.testing.assert_allclose(exam.scores, by_task[list(exam.names)])
    law = table[table["subject"] == "law"].drop(columns="subject")
    found = read_evaluations(written(tmp_path, law)).outcomes
    np.testing.assert_allclose(
        found.scores, law.groupby("model")["correct"].mean()[list(found.names)]
    )


def test_all_slips_are_named_by_their_lines(tmp_path: Path, capsys: Any) -> None:
    table = frame(1000).astype({"correct": str})
    slips = {3000: "11", 17: "o", 1203: "ture", 2900: "maybe"}
    for row, text in slips.items():
        table.loc[row - 2, "correct"] = text
    path = written(tmp_path, table)
    for command in (["board"], ["sota"]):
        code, _, error = run(capsys, *command, str(path))
        assert code == 2
        assert "line 17, column 'correct': 'o' is no answer" in error
        for row, text in slips.items():
            assert f"{text!r} on line {row}" in error or row == 17
    with pytest.raises(InputError, match=r"line 17.*'o' is no outcome.*'maybe' on line 2900"):
        read_evaluations(path)


def test_of_many_slips_ten_are_named_and_the_others_counted(tmp_path: Path) -> None:
    table = frame(1000).astype({"correct": str})
    table.loc[10:35, "correct"] = "x"
    with pytest.raises(InputError, match=r"line 12.*on line 21, .*; and 16 more$"):
        read_responses(written(tmp_path, table))


def test_a_number_that_is_no_answer_has_its_own_line(tmp_path: Path) -> None:
    table = frame(1000)
    table.loc[2999, "correct"] = 11
    with pytest.raises(InputError, match=r"line 3001, column 'correct': '11' is no answer"):
        read_evaluations(written(tmp_path, table))


@pytest.mark.parametrize("item", ["task_id", "prompt"])
def test_names_of_items_where_nothing_else_names_them(tmp_path: Path, item: str) -> None:
    other = frame().rename(columns={"question": item, "correct": "passed", "model": "llm"})
    assert read_responses(written(tmp_path, other)) == read_responses(written(tmp_path, frame()))


def test_a_first_column_of_runs_is_one_too(tmp_path: Path) -> None:
    table = exams(runs=2).drop(columns=["passage", "subject"])
    table = table.drop_duplicates(["model", "item", "seed"])[["seed", "model", "item", "correct"]]
    assert read_responses(written(tmp_path, table)).n_runs == 2
    named = table.rename(columns={"seed": "lot"})
    path = written(tmp_path, named)
    assert read_responses(path, run_column="lot").notes == ()
    with pytest.raises(InputError, match=r"already has an answer .* numbers the runs"):
        read_responses(path)


def test_a_column_that_is_named_makes_a_wide_table_answers(tmp_path: Path, capsys: Any) -> None:
    rng = np.random.default_rng(4)
    wide = pd.DataFrame({"item": range(60), "topic": np.resize(["x", "y", "z"], 60)})
    wide = wide.assign(a=(rng.random(60) < 0.8).astype(int), b=(rng.random(60) < 0.6).astype(int))
    path = written(tmp_path, wide)
    code, out, _ = run(capsys, "board", str(path), "--task-column", "topic", "--json")
    assert code in (0, 1)
    assert '"n_tasks": 3' in out


def test_runs_that_differ_in_number_are_all_counted(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = ["a,x,1,1", "a,x,2,0", "a,x,3,1", "a,y,1,0", "b,x,1,1", "b,y,1,1", "b,y,2,0", "b,x,2,1"]
    path.write_text("\n".join(["model,item,seed,correct", *rows]) + "\n")
    found = read_responses(path)
    assert found.run_numbers.tolist() == [[3, 2], [1, 2]]
    assert found.values.tolist() == [[2 / 3, 1], [0, 0.5]]
    also = read_evaluations(path).outcomes
    assert also.run_numbers.tolist() == found.run_numbers.tolist()
    counted = tmp_path / "counted.csv"
    counted.write_text("model,item,runs,correct\na,x,3,2\na,y,1,0\nb,x,2,2\nb,y,2,1\n")
    assert read_responses(counted).run_numbers.tolist() == found.run_numbers.tolist()
