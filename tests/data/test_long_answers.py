"""Long answers: as a pivot by pandas, and every slip by its own line in the file."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import run, written

from bayes_sota.core.errors import InputError
from bayes_sota.data.read_outcomes import read_evaluations, read_responses

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


def test_a_run_that_went_on_under_a_longer_name_is_no_slip(tmp_path: Path) -> None:
    table = frame(500)
    table.loc[:2, "model"] = "gpt-4-mini"
    assert "gpt-4-mini" in read_responses(written(tmp_path, table)).names


def test_columns_beside_are_passed_over(tmp_path: Path) -> None:
    plain = read_responses(written(tmp_path, frame()))
    more = frame().assign(prompt="What is it?", seconds=0.3).reset_index(names="")
    assert read_responses(written(tmp_path, more)) == plain


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("task", ["math", "law"], "'task' names tasks: keep the rows of one task or, if"),
        ("seed", [1, 2], "'seed' numbers runs: write the share of runs that were right"),
        ("patient", ["p1", "p2"], "'patient' says which items belong together: take"),
    ],
)
def test_tasks_runs_and_clusters_are_not_ignored(
    tmp_path: Path, capsys: Any, name: str, values: list[Any], message: str
) -> None:
    table = frame()
    path = written(tmp_path, table.assign(**{name: np.resize(values, len(table))}))
    for command in (["board"], ["sota"], ["claim", "responses"]):
        code, _, error = run(capsys, *command, str(path))
        assert code == 2
        assert message in error


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
        assert "did you mean 0?" in error
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


@pytest.mark.parametrize("read", [read_responses, read_evaluations])
def test_a_misspelt_classifier_is_named(tmp_path: Path, read: Any) -> None:
    table = frame(500)
    table.loc[7, "model"] = "gtp-4"
    with pytest.raises(InputError, match=r"line 9, column 'model': 'gtp-4' .*mean 'gpt-4'"):
        read(written(tmp_path, table))


def test_one_name_in_two_spellings_is_named(tmp_path: Path) -> None:
    table = frame(500)
    half = (table["model"] == "gpt-4") & (table.index % 2 == 0)
    table.loc[half, "model"] = "GPT 4"
    with pytest.raises(InputError, match=r"has none for the same; did you mean '(gpt-4|GPT 4)'"):
        read_responses(written(tmp_path, table))


@pytest.mark.parametrize("item", ["task_id", "prompt"])
def test_names_of_items_where_nothing_else_names_them(tmp_path: Path, item: str) -> None:
    other = frame().rename(columns={"question": item, "correct": "passed", "model": "llm"})
    assert read_responses(written(tmp_path, other)) == read_responses(written(tmp_path, frame()))


def test_classifiers_with_like_names_on_the_same_items_are_two(tmp_path: Path) -> None:
    few = frame(500).query("model == 'gpt-4'").head(20).assign(model="gpt-4o")
    found = read_evaluations(written(tmp_path, pd.concat([frame(500), few])))
    assert "gpt-4o" in found.methods
