"""The models of all claims and answers: as the closed forms, refused where they do not fit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run

import bayes_sota as bs
from bayes_sota.claims.summary_review import claims_table
from bayes_sota.items.comparison import compare_methods

HEADER = "name,accuracy_a,accuracy_b,n_test,congruence\n"


def review(folder: Path, rows: str) -> str:
    path = folder / "review.csv"
    path.write_text(HEADER + rows)
    return str(path)


def answers() -> bs.Responses:
    right = np.random.default_rng(0).random((200, 3)) < [0.9, 0.85, 0.6]
    return bs.Responses(right, names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ("one,.9,.88,500,\ntwo,.8,.75,80,\n", "--bayes", "no claim of the review reports its con"),
        ("one,.9,.88,500,.85\n", "--bayes", "needs two claims or more, got 1"),
        ("one,.9,.88,500,.85\ntwo,.8,.75,80,\n", "--bayes --sd 0 1 -1", "--sd has no effect on"),
        ("one,.9,.88,500,.85\ntwo,.8,.75,80,\n", "--bayes --model items", "for answers to items"),
        ("one,.9,.88,500,.85\ntwo,.8,.7,9000000,\n", "--bayes", "at most 1,000,000 can be"),
        ("one,.9,.88,500,.85\n", "--model claims-review", "it is for --bayes"),
        ("one,.9,.88,500,.85\n", "--draws 500", "it is for --bayes"),
        ("one,.9,.88,500,.85\n", "--seed 2", "it is for --bayes"),
    ],
)
def test_reviews_that_the_model_is_not_for(tmp_path, capsys, rows, options, message) -> None:
    code, _, err = run(capsys, "claim", "batch", review(tmp_path, rows), *options.split())
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_means_of_cases_are_refused(tmp_path, capsys) -> None:
    path = tmp_path / "means.csv"
    path.write_text(
        "metric,accuracy_a,accuracy_b,n_test,congruence,mean_a,mean_b,sd_difference\n"
        "accuracy,.9,.88,500,.85,,,\ndice,,,80,,.8,.75,.1\n"
    )
    code, _, err = run(capsys, "claim", "batch", str(path), "--bayes")
    assert (code, "row 2 has means" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--bayes --pairs", "--pairs has no effect on --bayes"),
        ("--bayes --pair a b", "--pair has no effect on --bayes"),
        ("--bayes --no-selection", "--no-selection has no effect on --bayes"),
        ("--bayes --rope .01", "--rope has no effect on --bayes"),
        ("--bayes --model claims-review", "is for a review of claims"),
        ("--bayes --item-metric mean", "right and wrong ones, these are numbers"),
        ("--model items", "it is for --bayes"),
    ],
)
def test_answers_that_the_model_is_not_for(tmp_path, capsys, options, message) -> None:
    path = tmp_path / "answers.csv"
    np.savetxt(path, answers().correct, fmt="%d", delimiter=",", header="a,b,c", comments="")
    code, _, err = run(capsys, "claim", "responses", str(path), *options.split())
    assert code == 2
    assert message in err


@pytest.mark.slow
def test_a_review_by_nuts_is_the_closed_form_where_the_congruence_is_known(
    tmp_path, capsys
) -> None:
    path = review(tmp_path, "one,.9,.88,500,.85\ntwo,.8,.75,300,.7\nthree,.85,.8,200,\n")
    code, out, _ = run(capsys, "claim", "batch", path, "--bayes", "--seed", "1", "--json")
    found: list[dict[str, Any]] = json.loads(out)["claims"]
    exact = claims_table(path).frame
    assert code == 0
    for row in (0, 1):
        assert found[row]["p_false"] == pytest.approx(exact["p_false"][row], abs=0.02)
        assert found[row]["assumption"] == "congruence given"
    assert exact["p_false_lowest"][2] < found[2]["p_false"] < exact["p_false_highest"][2]
    assert found[2]["p_false"] != pytest.approx(exact["p_false"][2], abs=0.01)


@pytest.mark.slow
def test_methods_by_nuts_are_nearly_those_of_the_exact_route() -> None:
    report = bs.claims.sample_methods(answers(), random_seed=1)
    exact = compare_methods(answers(), random_seed=1)
    assert report.content["p_false"] == pytest.approx(exact.p_false, abs=0.04)
    rows = {row["name"]: row for row in report.content["methods"]}
    for name, score, draws in zip(exact.methods, exact.scores, exact.draws.T, strict=True):
        assert rows[name]["score"] == score
        assert rows[name]["skill"] == pytest.approx(draws.mean(), abs=draws.std() / 2)
    assert sum(row["p_best"] for row in rows.values()) == pytest.approx(1)
    assert report.content["model"] == "items"
