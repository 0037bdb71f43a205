"""``bayes-sota claim``: published numbers from the shell, files in and out, and wrong input."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from data.files import EXAM
from data.files import run as run_command

import bayes_sota as bs

BY_TASK = ("responses", EXAM, "--by", "task")
PAIR = ("responses", EXAM, "--pair", "forest", "tree")
PILOT = ("plan", "--pilot", EXAM)

REPORTED = ("classification", "--accuracy", "0.90", "0.88", "--n-test", "500")
MEANS = ("segmentation", "--mean", "0.81", "0.80", "--n-test", "100")
HEADER = "paper,group,accuracy_a,accuracy_b,n_test\n"
REVIEW = (
    HEADER + '"Li, 2024",skin,0.90,0.88,500\nDoe,heart,0.95,0.85,500\n=1+1,skin,0.80,0.79,100\n'
)
FILES = {
    "review.csv": REVIEW,
    "wrong.csv": REVIEW + "Roe,heart,0.8,0.9,100\n",
    "averaged.csv": "accuracy_a,accuracy_b,n_test\n0.913,0.9,100\n",
    "means.csv": "mean_a,mean_b,n_test\n0.81,0.80,100\n",
    "backwards.csv": HEADER + "x,y,0.8,0.9,100\n",
    "items.csv": "item,a,b\nx,1,0\ny,0,1\n",
    "answers.csv": "case_id,patient,ours,theirs,third\n"
    + "".join(
        f"c{i},p{i // 3},{int(i % 10 > 0)},{int(i % 8 > 0)},{int(i % 3 > 0)}\n" for i in range(240)
    ),
    "runs.csv": "id,net@1,net@2,tree\n"
    + "".join(f"c{i},{i % 3 > 0:d},{i % 4 > 0:d},{i % 2:d}\n" for i in range(60)),
    "board.csv": "name,score\na,0.90\nb,0.88\nc,0.88\nd,0.87\n",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    return run_command(capsys, "claim", *arguments)


def result(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)


@pytest.mark.parametrize(
    ("option", "expected"),
    [((), 0.093), (("--congruence", "0.78"), 0.171), (("--congruence", "0.88"), 0.0005)],
)
def test_published_numbers(capsys, option: tuple[str, ...], expected: float) -> None:
    found = result(capsys, *REPORTED, *option)
    assert found["congruence"]["assumption"]
    assert found["rounding"]["counts_a"] == [448, 452]
    assert found["rounding"]["exact"] == pytest.approx(expected, abs=5e-4)
    assert found["rounding"]["lowest"] < found["p_false"] < found["rounding"]["highest"]


def test_percent_text_and_tries(capsys) -> None:
    percent = ("classification", "--accuracy", "90.0%", "88.0 %", "--n-test", "500")
    assert result(capsys, *percent)["accuracy"] == [0.9, 0.88]
    found = result(capsys, *REPORTED, "--best-of", "10")
    assert found["selection"]["p_false_selected"] > 3.5 * found["p_false"]
    assert "Please report" in result(capsys, *REPORTED)["text"]
    named = result(capsys, *REPORTED, "--names", "ours", "theirs", "--domain", "tabular")
    assert "The claim that ours (0.90) outperforms theirs (0.88)" in named["text"]
    assert named["congruence"]["assumption"] == "typical of tabular"


def test_spreads_of_means_and_planning(capsys) -> None:
    given = result(capsys, *MEANS, "--sd", "0.1", "0.1", "--pairwise-correlation", "0")
    same = result(capsys, *MEANS, "--sd-difference", 0.02**0.5)
    assert given["p_false"] == pytest.approx(same["p_false"])
    for typed in (("0.9", "0.88"), ("90", "88"), ("90%", "0.88")):
        found = result(capsys, "plan", "--accuracy", *typed)
        assert (found["n_needed"], found["n_needed_range"]) == (826, [167, 1492])
    means = ("--gap", ".01", "--sd", ".1", ".1", "--pairwise-correlation", ".7", "--n-test", "400")
    found = result(capsys, "plan", *means)
    assert found["n_needed"] < found["n_assured"]
    _, out, _ = run(capsys, "plan", "--accuracy", "0.8", "0.79", "--n-test", "100")
    assert "no size makes the claim" in out


@pytest.mark.slow
def test_means_and_a_size_alone_have_imputed_spreads(capsys) -> None:
    found = result(capsys, *MEANS)
    first, second = (2 / 3 * mean * (1 - mean) for mean in (0.81, 0.80))
    assert found["sd"] == pytest.approx([first, second])
    assert found["sd_imputed"] is True
    given = result(capsys, *MEANS, "--sd", first, second)
    assert found["p_false"] == pytest.approx(given["p_false"], rel=1e-12)
    assert given["sd_imputed"] is False
    half = result(capsys, *MEANS, "--sd", first / 2, second / 2)["p_false"]
    assert f"with half of them P(false) is {half:.2f}" in found["text"]
    assert "imputed as 2/3 mean (1 - mean), a rule of thumb for Dice" in found["text"]


@pytest.mark.slow
def test_answers_of_three_methods(capsys, folder: Path) -> None:
    found = result(
        capsys, "responses", "answers.csv", "--column", "cluster=patient",
        "--save", "a.png", "--save", "a.nc",
    )  # fmt: skip
    assert (found["winner"], found["runner_up"], found["n_clusters"]) == ("ours", "theirs", 80)
    assert (folder / "a.png").stat().st_size > 1000
    assert bs.read_result("a.nc")["posterior"]["skill"].sizes["classifier"] == 3
    _, out, _ = run(capsys, "responses", "runs.csv", "--top", "1")
    assert "2 more with --top" in out


def test_a_review_for_people_and_in_files(capsys, folder: Path) -> None:
    code, out, error = run(capsys, "batch", "review.csv", "--save", "out.csv", "--save", "f.png")
    assert (code, error) == (0, "")  # and nothing is hidden because a file was written
    assert [
        part for part in ("0.09 ", "Of 3 claims", "support 1:", "skin ") if part not in out
    ] == []
    rows = list(csv.DictReader((folder / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["paper"] for row in rows] == ["Li, 2024", "Doe", "'=1+1"]
    assert rows[1]["verdict"] == "supported"
    assert (folder / "f.png").read_bytes()[:4] == b"\x89PNG"
    _, out, _ = run(capsys, "batch", "review.csv", "--top", 1, "--quiet")
    assert "Doe" not in out
    assert "The claims; 2 more with --top" in out


def test_averages_and_means_without_spreads_are_taken(capsys) -> None:
    code, out, _ = run(capsys, "batch", "averaged.csv")
    assert (code, "no whole number of items gives an accuracy as printed" in out) == (0, True)
    (claim,) = result(capsys, "batch", "means.csv")["claims"]
    assert claim["p_false"] == pytest.approx(result(capsys, *MEANS)["p_false"], rel=1e-12)
    assert claim["assumption"].endswith("standard deviations imputed from the means")
    code, out, _ = run(capsys, "classification", "--n-test", 3, "--accuracy", "0.66", "0.33")
    assert (code, "nearest ones are 0.33333333 and 0.66666667" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*REPORTED[:-1], "many"), "a whole number from 1 to 1,000,000,000, got many"),
        ((*REPORTED[:2], "0.9x", "0.88", *REPORTED[4:]), "in [0, 1] or in percent, got '0.9x'"),
        ((*REPORTED, "--best-of", "0"), "--best-of must be a number from 1 to 1,000,000, got 0"),
        ((*REPORTED, "--save", "draws.xlsx"), "a name that ends with one of .html"),
        ((*REPORTED, "--save", "no/x.png"), "does not exist"),
        ((*MEANS, "--sd", ".1", ".1", "--sd-difference", ".1"), "--sd-difference is enough"),
        ((*MEANS, "--sd-difference", ".1", "--save", "x.png"), "this result has no figure"),
        ((*REPORTED[:2], "0.9", *REPORTED[4:]), "--accuracy takes 2 values, got 0.9 --n-test"),
        (("plan", "--gap", "0.1"), "give --accuracy A B"),
        (("plan", "--gap", "0.1", "--accuracy", ".9", ".8"), "give --accuracy A B"),
        (("responses", "items.csv", "--column", "label=gold"), 'no column "gold"'),
        (("responses", "items.csv", "--by", "task"), "--by task needs answers with tasks"),
        ((*BY_TASK, "--pairs"), "leave out --pair and --by"),
        ((*BY_TASK, "--pair", "tree", "tre"), "there is no method 'tre'"),
        (("responses", EXAM, "--pair", "forest", "liner"), "there is no method 'liner'"),
        (("responses", EXAM, "--pair", "tree", "tree"), "two methods, got 'tree' twice"),
        ((*PAIR, "--pairs"), "leave out --pair and --by"),
        (("responses", EXAM, "--require", "better"), "name them with --pair"),
        ((*PAIR, "--require", "not-worse"), "needs --margin"),
        ((*PAIR, "--margin", "-0.1"), "--margin must be a number of at least 0"),
        (PILOT, "--gap and --pilot FILE"),
        ((*PILOT, "--gap", "0.1", "--accuracy", "0.9", "0.8"), "--gap and --pilot FILE"),
        ((*PILOT, "--gap", "0.1", "--pair", "tree", "oak"), "there is no method 'oak'"),
        ((*PILOT, "--gap", "5"), "a difference of shares below 1, got 5"),
        ((*PILOT, "--gap", "1e-9"), "needs more than 1e+12 items"),
        (("plan", "--pilot", "none.csv", "--gap", "0.1"), "none.csv"),
        (("batch", "review.csv", "--save", "review.csv"), "would overwrite the input review.csv"),
        (("batch", "review.csv", "--save", "o.csv", "--level", "5"), "write 0.05"),
        (("batch", "wrong.csv", "--save", "o.csv"), "line 5: A is the reported winner"),
        (("batch", "backwards.csv", "--save", "o.csv", "--save", "f.png"), "exchange the two"),
    ],
)  # fmt: skip
def test_wrong_input_gets_one_line_and_writes_nothing(
    capsys, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    code, out, error = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} == FILES
