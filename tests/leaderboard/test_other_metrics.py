"""AUCs, item scores and errors on the command line."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayes_sota.cli.main import main

FEW = ("--draws", "100", "--seed", "1", "--no-sensitivity")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    output = capsys.readouterr()
    return int(caught.value.code or 0), output.out, output.err


@pytest.fixture
def aucs(tmp_path: Path) -> str:
    path = tmp_path / "aucs.csv"
    values = np.random.default_rng(0).beta(60, 8, 40)
    path.write_text("team,score\n" + "".join(f"t{i},{a:.5f}\n" for i, a in enumerate(values)))
    return str(path)


@pytest.fixture
def outputs(tmp_path: Path) -> str:
    rng, path = np.random.default_rng(1), tmp_path / "outputs.csv"
    labels = np.arange(300) < 60
    values = 1.6 * labels[:, None] + rng.standard_normal((300, 1)) + rng.standard_normal((300, 6))
    rows = ["id,label,a,b,c,d,e,f"]
    for i, row in enumerate(values):
        rows.append(",".join([str(i), str(int(labels[i])), *(f"{x:.5f}" for x in row)]))
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def test_a_board_of_aucs(capsys, aucs: str, tmp_path: Path) -> None:
    sizes = ("--metric", "auc", "--n-test", "900", "--n-positive", "90")
    code, out, error = run(
        capsys, "sota", aucs, *sizes, *FEW, "--json", "--output", str(tmp_path / "x.nc")
    )
    assert (code, error) == (0, "")
    result = json.loads(out)
    assert result["theta_sota"]["mean"] < result["observed_maximum"]
    assert result["rho"]["learnt"] is False
    assert (tmp_path / "x.nc").stat().st_size > 0
    code, out, error = run(capsys, "board", aucs, *sizes, "--json", "--seed", "1")
    assert (code, error) == (0, "")
    assert len(json.loads(out)["entries"]) == 40


@pytest.mark.parametrize("method", ["exact", pytest.param("abc", marks=pytest.mark.slow)])
def test_a_best_auc(capsys, method: str) -> None:
    code, out, error = run(
        capsys, "sota", "--maximum", "0.93", "--metric", "auc", "--n-test", "900", "--n-positive",
        "90", "--classifiers", "50", "--method", method, "--draws", "500", "--chains", "2",
        "--no-sensitivity", "--seed", "1",
    )  # fmt: skip
    assert code == 0, error
    assert "an AUC of 90 positive and 810 negative items" in out


def test_numbers_for_every_item(capsys, outputs: str) -> None:
    code, out, error = run(capsys, "sota", outputs, *FEW[:-1], "--json")
    assert (code, error) == (0, "")
    result = json.loads(out)
    assert result["rho"]["learnt"] is True
    assert (result["n_test"], result["n_test_source"]) == (300, "items of the matrix")
    code, out, _ = run(capsys, "board", outputs, "--seed", "1")
    assert code == 0
    assert "learnt from the items" in out


def test_a_best_score_with_its_standard_error(capsys) -> None:
    code, out, error = run(
        capsys, "sota", "--maximum", "0.81", "--metric", "score", "--standard-error", "0.01",
        "--classifiers", "30", *FEW,
    )  # fmt: skip
    assert code == 0, error
    assert "with a standard error of 0.01" in out


def test_errors_where_lower_is_better(capsys, tmp_path: Path) -> None:
    path = tmp_path / "rmse.csv"
    values = 1.2 + 0.1 * np.random.default_rng(0).gamma(2, 1, 30)
    path.write_text("team,score\n" + "".join(f"t{i},{x:.4f}\n" for i, x in enumerate(values)))
    options = ("--metric", "score", "--standard-error", "0.05", "--lower-is-better")
    code, out, error = run(capsys, "sota", str(path), *options, *FEW, "--json")
    assert (code, error) == (0, "")
    result = json.loads(out)
    assert result["observed_maximum"] == pytest.approx(values.min(), abs=1e-4)
    assert result["theta_sota"]["mean"] > result["observed_maximum"]
    assert result["bias"] < 0
    code, out, _ = run(capsys, "board", str(path), *options, "--json", "--seed", "1")
    scores = [entry["score"] for entry in json.loads(out)["entries"]]
    assert scores == sorted(scores)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--maximum", "0.49", "--n-positive", "51"), "must exceed 0.5, got 0.49"),
        (("--maximum", "1.2", "--n-positive", "51"), "in [0, 1], got 1.2"),
        (("--maximum", "0.9"), "--n-positive is missing"),
        (("--maximum", "0.9", "--n-positive", "1"), "at least 2 items of each class, got 1"),
        (("--maximum", "0.9", "--n-positive", "99"), "at least 2 items of each class, got 99"),
        (("--maximum", "0.9", "--n-positive", "50", "--lower-is-better"), "no effect"),
        (("--maximum", "0.9", "--n-positive", "50", "--reference-skill", ".9"), "no theta0"),
        (("--maximum", "0.9", "--n-positive", "50", "--standard-error", "1"), "follows from"),
        (("--maximum", "0.9", "--n-positive", "50", "--correlation", "1.5"), "correlation"),
    ],
)
def test_best_aucs_that_cannot_be(capsys, arguments: tuple[str, ...], message: str) -> None:
    code, out, error = run(
        capsys, "sota", *arguments, "--metric", "auc", "--n-test", "100", "--classifiers", "9"
    )
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error


def test_files_that_cannot_be(capsys, aucs: str, outputs: str) -> None:
    for arguments, message in (
        ((aucs, "--lower-is-better", "--n-test", "100"), "larger is better"),
        ((aucs, "--metric", "auc", "--n-test", "infer", "--n-positive", "9"), "do not tell"),
        ((aucs, "--metric", "auc", "--n-test", "100"), "--n-positive is missing"),
        ((aucs, "--item-metric", "mean"), "a number is needed, got 't0'"),
        ((outputs, "--n-test", "300"), "--n-test is for leaderboards; this file is item scores"),
        ((outputs, "--lower-is-better"), "of AUCs larger is better"),
        ((outputs, "--label-column", "none"), "there is no column 'none'"),
        ((outputs, "--method", "shrink", "--n-classes", "2"), "leaderboard"),
    ):
        code, _, error = run(capsys, "sota", *arguments)
        assert code == 2, arguments
        assert message in error
