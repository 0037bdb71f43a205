"""``sota FILE`` and ``calibrate``: keys, exit codes, one line for bad input."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayes_sota.cli import main

KEYS = {
    "method", "n_test", "n_test_source", "n_classifiers", "observed_maximum", "theta_sota",
    "expected_sota", "winner_skill", "winner_new_score", "best_new_score", "bias", "n_above_sota",
    "rho", "sensitivity", "diagnostics", "seed",
}  # fmt: skip


@pytest.fixture
def board(tmp_path: Path) -> Path:
    counts = np.random.default_rng(1).binomial(500, np.linspace(0.7, 0.88, 30))
    lines = ["team,score", *(f"[red]t{i}[/red],{c / 500:.4f}" for i, c in enumerate(counts))]
    path = tmp_path / "board.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_keys(capsys: pytest.CaptureFixture[str], board: Path) -> None:
    code, out, err = run(capsys, "sota", board, "--n-test", 500, "--seed", 1, "--json")
    result = json.loads(out)
    assert (code, err) == (0, "")
    assert set(result) >= KEYS
    assert result["rho"]["learnt"] is False
    assert result["n_test_source"] == "given"
    assert {"rho", "family", "n_classifiers"} <= set(result["sensitivity"])
    assert sum(result["families"].values()) == pytest.approx(1)
    assert result["theta_sota"]["mean"] < result["observed_maximum"]


def test_a_person_reads_a_table(capsys: pytest.CaptureFixture[str], board: Path) -> None:
    code, out, _ = run(capsys, "sota", board, "--n-test", "infer", "--no-sensitivity")
    assert code == 0
    assert "inferred from the scores" in out
    assert "theta_sota" in out
    assert "not learnt" in out


def test_output_and_abc(capsys: pytest.CaptureFixture[str], board: Path, tmp_path: Path) -> None:
    target = tmp_path / "result.nc"
    command = ("sota", board, "--n-test", 500, "--no-sensitivity", "--output", target)
    assert run(capsys, *command)[0] == 0
    assert target.is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "--n-test is missing"),
        (("--n-test", "many"), "--n-test takes a whole number or infer, got 'many'"),
        (("--n-test", "500", "--maximum", "0.9"), "give FILE or --maximum, not both"),
        (("--n-test", "500", "--n-test", "600"), "one FILE takes one --n-test"),
        (("--n-test", "500", "--score-column", "auc"), "'team', 'score'"),
        (("--n-test", "500", "--model", "observed-maximum"), "for observed maxima"),
        (("--n-test", "500", "--drop-above", "0.1"), "no entry would be left"),
        (("--n-test", "500", "--correlation", "1.2"), "correlation"),
    ],
)
def test_bad_input(
    capsys: pytest.CaptureFixture[str], board: Path, arguments: tuple, message: str
) -> None:
    code, out, err = run(capsys, "sota", board, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


def test_leaked_answers_exit_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    counts = np.random.default_rng(1).binomial(2000, np.full(30, 0.8))
    path = tmp_path / "leak.csv"
    rows = [f"t{i},{c / 2000}" for i, c in enumerate([*counts, 2000])]
    path.write_text("\n".join(["team,score", *rows]), encoding="utf-8")
    base = ("sota", path, "--n-test", 2000, "--no-sensitivity", "--quiet")
    code, _, err = run(capsys, *base)
    assert code == 1
    assert "probably leaked" in err
    assert run(capsys, *base, "--drop-above", "0.99")[0] == 0


def test_calibrate_on_the_bundled_benchmark(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kept = tmp_path / "study.json"
    command = ("calibrate", "--boards", 3, "--n-test", 200, "--output", kept, "--json")
    code, out, err = run(capsys, *command)
    cells = json.loads(out)["cells"]
    assert (code, err) == (0, "")
    assert {cell["estimand"] for cell in cells} == {"theta_sota", "winner_skill"}
    assert all(cell["boards"] == 3 for cell in cells)
    again = json.loads(run(capsys, *command)[1])["cells"]
    assert again == cells
    code, _, err = run(capsys, *command, "--seed", 2)
    assert code == 2
    assert "another setting" in err


@pytest.mark.slow
def test_calibrate_on_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "calibrate", "--shapes", "--boards", 1, "--n-test", 200, "--classifiers", 20
    )
    assert code == 0
    assert "plateau" in out


@pytest.mark.parametrize(
    "arguments",
    [("--boards", "0"), ("--n-test", "1"), ("--jobs", "0"), ("--responses", "none.csv")],
)
def test_calibrate_bad_input(capsys: pytest.CaptureFixture[str], arguments: tuple) -> None:
    code, _, err = run(capsys, "calibrate", *arguments)
    assert code == 2
    assert err.startswith("error: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "abc"), "drop all others in FILE; for an answer from that one: --maximum"),
        (("--reference-skill", "0.9"), "--reference-skill has no effect on FILE"),
        (("--new-score", "0.9"), "--new-score has no effect on FILE"),
        (("--cores", "2"), "--cores has no effect on the exact route"),
        (("--tries-per-entry", "1"), "--tries-per-entry is refused: its model"),
        (("--criterion", "upper"), "--criterion has no effect on any method but shrink"),
        (("--drop-above", "0.99999"), "--drop-above 0.99999 leaves out nothing"),
        (("--method", "shrink", "--n-classes", "2", "--seed", "1"), "--seed has no effect on"),
    ],
)
def test_what_has_no_effect_on_a_file_is_refused(
    capsys: pytest.CaptureFixture[str], board: Path, arguments: tuple, message: str
) -> None:
    code, out, err = run(capsys, "sota", board, "--n-test", 500, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_the_way_to_an_answer_from_the_best_score_alone_works(
    capsys: pytest.CaptureFixture[str], board: Path
) -> None:
    error = run(capsys, "sota", board, "--n-test", 500, "--method", "abc")[2]
    options = error.split("from that one: ")[1].split()
    few = ("--draws", 50, "--seed", 1, "--no-sensitivity", "--json")
    code, out, error = run(capsys, "sota", *options, *few)
    assert (code, error) == (0, "")
    best = json.loads(run(capsys, "sota", board, "--n-test", 500, "--seed", 1, "--json")[1])
    assert json.loads(out)["observed_maximum"] == best["observed_maximum"]
    assert json.loads(out)["n_classifiers"] == best["n_classifiers"]
