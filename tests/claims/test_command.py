"""``bayes-sota claim``: published numbers from the shell, files in and out, and wrong input."""

import csv
import json
import subprocess
import sys
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
HEADER = "paper,topic,accuracy_a,accuracy_b,n_test\n"
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
    [((), 0.093), (("--min",), 0.171), (("--max",), 0.0005), (("--odds-ratio", "20", "1"), 0.082)],
)
def test_published_numbers(capsys, option: tuple[str, ...], expected: float) -> None:
    found = result(capsys, *REPORTED, *option)
    assert found["p_false"] == pytest.approx(expected, abs=5e-4)
    assert found["congruence"]["assumption"]
    assert found["rounding"]["counts_a"] == [448, 452]
    assert found["rounding"]["lowest"] < found["p_false"] < found["rounding"]["highest"]


def test_percent_text_tries_and_ranges_of_sizes(capsys) -> None:
    percent = ("classification", "--accuracy", "90.0%", "88.0 %", "--n-test", "480:500")
    assert result(capsys, *percent)["n_test_range"] == [480, 500]
    found = result(capsys, *REPORTED, "--best-of", "10")["selection"]
    assert found["p_false_selected"] > 3.5 * found["p_false"]
    _, out, _ = run(capsys, *REPORTED, "--text")
    assert (out.count("\n"), "Please report" in out) == (1, True)


def test_spreads_of_means_and_planning(capsys) -> None:
    given = result(capsys, *MEANS, "--sd", "0.1", "0.1", "--pairwise-correlation", "0")
    same = result(capsys, *MEANS, "--sd-difference", 0.02**0.5)
    assert given["p_false"] == pytest.approx(same["p_false"])
    imputed = result(capsys, *MEANS, "--sd-coefficients", "0.5", "-0.5", "0")
    assert imputed["sd"] == pytest.approx([0.095, 0.1])
    for accuracies in (("--accuracy", "0.9", "0.88"), ("--gap", "0.02", "--winner", "0.9")):
        assert result(capsys, "plan", *accuracies)["n_needed"] == 1330
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
    assert (given["sd_imputed"], given["sd_sensitivity"]) == (False, [])
    for factor, p in found["sd_sensitivity"]:
        other = result(capsys, *MEANS, "--sd", factor * first, factor * second)
        assert p == pytest.approx(other["p_false"], rel=1e-9)
    assert "imputed from the means. They were not reported: a rule of thumb" in found["text"]


def test_answers_of_three_methods(capsys, folder: Path) -> None:
    found = result(
        capsys, "responses", "answers.csv", "--cluster-column", "patient", "--no-selection",
        "--figure", "a.png", "--output", "a.nc",
    )  # fmt: skip
    assert (found["winner"], found["runner_up"], found["n_clusters"]) == ("ours", "theirs", 80)
    assert found["congruence"]["assumption"] == "counted"
    assert (folder / "a.png").stat().st_size > 1000
    assert bs.read_result("a.nc")["posterior"]["skill"].sizes["classifier"] == 3
    _, out, _ = run(capsys, "responses", "runs.csv", "--top", "1", "--no-selection")
    assert "2 more with --top" in out


def test_runs_of_one_method_are_asked_about(capsys) -> None:
    code, out, _ = run(capsys, "responses", "runs.csv", "--no-selection")
    assert (code, "net@1, net@2 are taken as methods of their own" in out) == (0, True)
    found = result(capsys, "responses", "runs.csv", "--run-separator", "@")
    assert {m["name"]: m["n_runs"] for m in found["methods"]} == {"net": 2, "tree": 1}
    assert "not corrected for where methods have several runs" in found["notes"][-1]


def test_a_leaderboard_s_winner_was_picked(capsys) -> None:
    board = ("selection", "board.csv", "--n-test", "500", "--seed", "0")
    found = result(capsys, *board)
    assert (found["winner"], found["n_entries"]) == ("a", 4)
    assert found["difference"] == pytest.approx(found["p_false_selected"] - found["p_false"])
    _, out, _ = run(capsys, *board)
    assert "allows for its having been picked by its score" in out


def test_a_review_for_people_and_in_files(capsys, folder: Path) -> None:
    given = (
        "batch",
        "review.csv",
        "--group-by",
        "topic",
        "--table",
        "out.csv",
        "--figure",
        "f.png",
    )
    code, out, error = run(capsys, *given)
    assert (code, error) == (0, "")  # and nothing is hidden because a file was written
    assert [
        part for part in ("0.093", "Of 3 claims", "support 1:", "skin ") if part not in out
    ] == []
    rows = list(csv.DictReader((folder / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["paper"] for row in rows] == ["Li, 2024", "Doe", "'=1+1"]
    assert rows[1]["verdict"] == "supported"
    assert (folder / "f.png").read_bytes()[:4] == b"\x89PNG"
    _, out, _ = run(capsys, "batch", "review.csv", "--top", 1, "--quiet")
    assert "Doe" not in out
    assert "The claims; 2 more with --top" in out


def test_wrong_rows_are_an_error_unless_they_are_skipped(capsys) -> None:
    told = "1 of 4 rows cannot be used: row 4: A is the reported winner"
    code, out, error = run(capsys, "batch", "wrong.csv", "--skip-problems", "--json")
    assert (code, error.count("\n"), told in error) == (1, 1, True)
    found = json.loads(out)
    assert found["diagnostics"]["ok"] is False
    assert (found["all"]["n_problems"], found["claims"][3]["p_false"]) == (1, None)
    assert run(capsys, "batch", "averaged.csv", "--any-accuracy")[0] == 0
    assert run(capsys, "batch", "means.csv", "--sd", 0.5, 0, -0.5)[0] == 0


def test_an_impossible_accuracy_is_refused_with_what_would_be_right(capsys) -> None:
    """As ``claim batch`` and ``sota`` refuse it."""
    asked = ("classification", "--n-test", 3, "--accuracy", "0.66", "0.33")
    code, out, error = run(capsys, *asked)
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert "nearest attainable ones are 0.33333333 and 0.66666667" in error
    assert "with --rounding floor both are attainable; --any-accuracy takes averages" in error
    assert run(capsys, *asked, "--rounding", "floor")[0] == 0
    code, out, _ = run(capsys, *asked, "--any-accuracy")
    assert (code, "no whole number of 3 items gives the accuracy 0.66" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*REPORTED, "--min", "--max"), "give one of"),
        ((*REPORTED, "--best-of", "3", "--alpha", "2"), "--best-of is for the flat prior"),
        ((*REPORTED[:-1], "many"), "whole number or a range A:B, got 'many'"),
        ((*REPORTED[:2], "0.9x", "0.88", *REPORTED[4:]), "in [0, 1] or in percent, got '0.9x'"),
        ((*REPORTED, "--best-of", "0"), "--best-of must be a number from 1 to 1,000,000, got 0"),
        ((*REPORTED, "--output", "draws.csv"), "which is a table (--table)"),
        ((*REPORTED, "--figure", "no/x.png"), "does not exist"),
        ((*MEANS, "--sd", ".1", ".1", "--sd-difference", ".1"), "give one of --sd,"),
        ((*MEANS, "--unbounded"), "--unbounded needs --sd or --sd-difference"),
        ((*MEANS, "--sd-difference", ".1", "--figure", "x.png"), "--figure shows the correlation"),
        (("plan", "--gap", "0.1"), "--gap and --winner"),
        (("plan", "--gap", "0.1", "--winner", ".9", "--assurance", ".8"), "needs --n-test"),
        (("plan", "--gap", "0.1", "--sd", ".1", ".1", "--winner", ".9"), "means are planned by"),
        (("plan", "--gap", "0.1", "--sd", ".1", ".1", "--n-test", "9"), "need --pairwise-corr"),
        (("responses", "items.csv", "--label-column", "gold"), "for numbers with --item-metric"),
        (("responses", "runs.csv", "--run-separator", "#"), "no column has '#'"),
        (("responses", "items.csv", "--by", "task"), "--by task needs answers with tasks"),
        ((*BY_TASK, "--pairs"), "--pairs has no effect on --by task"),
        ((*BY_TASK, "--rope", "0.1"), "--rope has no effect on --by task"),
        ((*BY_TASK, "--average", "items"), "--average has no effect on --by task"),
        ((*BY_TASK, "--no-selection"), "--no-selection has no effect on --by task"),
        ((*BY_TASK, "--pair", "tree", "tre"), "there is no method 'tre'"),
        (("responses", EXAM, "--pair", "forest", "liner"), "there is no method 'liner'"),
        (("responses", EXAM, "--pair", "tree", "tree"), "two methods, got 'tree' twice"),
        ((*PAIR, "--pairs"), "--pairs has no effect on --pair"),
        (("responses", EXAM, "--pairs", "--no-selection"), "--no-selection has no effect on"),
        (("responses", EXAM, "--pairs", "--level", "0.1"), "--level has no effect on --pairs"),
        (("responses", EXAM, "--require", "better"), "name them with --pair"),
        (("responses", EXAM, "--anytime", "--pairs"), "name them with --pair"),
        ((*PAIR, "--require", "not-worse"), "needs --margin"),
        ((*PAIR, "--margin", "-0.1"), "from 0 to"),
        (PILOT, "--pilot needs --gap"),
        ((*PILOT, "--gap", "0.1", "--winner", "0.9"), "--winner has no effect on --pilot"),
        ((*PILOT, "--gap", "0.1", "--pair", "tree", "oak"), "there is no method 'oak'"),
        ((*PILOT, "--gap", "0.1", "--n-test", "9"), "--n-test has no effect on --pilot"),
        ((*PILOT, "--gap", "5"), "must be a number above 0 and below 1"),
        ((*PILOT, "--gap", "1e-9"), "needs more than 1e+12 items"),
        (("plan", "--pilot", "none.csv", "--gap", "0.1"), "none.csv"),
        (("plan", "--gap", "0.1", "--winner", "0.9", "--cost-per-run", "1"), "--cost-per-run has"),
        (("batch", "review.csv", "--table", "review.csv"), "would overwrite the input review.csv"),
        (("batch", "review.csv", "--table", "o.csv", "--level", "5"), "write 0.05"),
        (("batch", "wrong.csv", "--table", "o.csv"), "--skip-problems leaves them out"),
        (("batch", "backwards.csv", "--skip-problems", "--table", "o.csv", "--figure", "f.png"),
         "no claim can be drawn: none has a probability"),
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


def test_a_claim_imports_neither_pymc_nor_pandas() -> None:
    code = (
        "import sys\nfrom bayes_sota.cli.main import main\ntry:\n    main("
        f"['claim', *{list(REPORTED)!r}, '--json'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('pymc', 'pandas', 'arviz', 'xarray') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.rstrip().endswith("[]")
