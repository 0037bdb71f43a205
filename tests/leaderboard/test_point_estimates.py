"""``sota --method shrink|crop`` from the shell."""

import json
from pathlib import Path

import numpy as np
import pytest

from bayes_sota.cli.main import main
from bayes_sota.core.sample import read_result
from bayes_sota.maximum.shrinkage import crop_scores, shrink_aucs, shrink_scores


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stopped:
        main(["sota", *arguments])
    out, error = capsys.readouterr()
    return int(stopped.value.code or 0), out, error


@pytest.fixture
def scores() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.binomial(500, 0.9 - 0.1 * rng.exponential(size=60).clip(0, 4)) / 500


@pytest.fixture
def file(tmp_path: Path, scores: np.ndarray) -> str:
    path = tmp_path / "board.csv"
    path.write_text("team,score\n" + "".join(f"t{i},{s:.3f}\n" for i, s in enumerate(scores)))
    return str(path)


@pytest.mark.parametrize(("method", "function"), [("shrink", shrink_scores), ("crop", crop_scores)])
@pytest.mark.parametrize("criterion", ["expected", "upper"])
def test_the_numbers_are_those_of_the_function(
    capsys, file: str, scores: np.ndarray, method: str, function, criterion
) -> None:
    code, out, _ = run(
        capsys, file, "--method", method, "--criterion", criterion, "--n-test", "500",
        "--n-classes", "4", "--json",
    )  # fmt: skip
    found = function(scores, n_test=500, chance=0.25, criterion=criterion)
    result = json.loads(out)
    assert code == 0
    assert result["theta_sota"] == {"estimate": pytest.approx(found.estimate, abs=1e-9)}
    assert result["n_above_sota"] == found.n_above()
    assert ("weight" in result) == (method == "shrink")
    assert ("threshold" in result) == (method == "crop")
    assert result["schema_version"] == "1"


def test_a_table_and_a_file(capsys, file: str, tmp_path: Path) -> None:
    output = tmp_path / "shrunk.nc"
    code, out, _ = run(
        capsys, file, "--method", "shrink", "--n-test", "500", "--n-classes", "4", "--output",
        str(output),
    )  # fmt: skip
    assert code == 0
    assert "w of Eq. 9" in out
    tree = read_result(output)
    assert float(tree["point_estimate"]["theta_sota"]) == pytest.approx(
        float(tree["observed_data"]["observed_maximum"]), abs=0.05
    )
    assert "posterior" not in tree.children
    assert tree.attrs["method"] == "shrink"


def test_a_size_that_does_not_fit_the_digits_is_said(capsys, file: str) -> None:
    code, out, _ = run(capsys, file, "--method", "shrink", "--n-test", "490", "--n-classes", "4")
    assert code == 0
    assert "scores are taken as they are" in out


def test_a_lone_leader(capsys, tmp_path: Path) -> None:
    path = tmp_path / "lone.csv"
    path.write_text("team,score\na,0.9\nb,0.6\nc,0.61\n")
    code, out, _ = run(
        capsys, str(path), "--method", "shrink", "--n-test", "1000", "--n-classes", "3"
    )
    assert code == 0
    assert "No multiplicity to correct" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n-test", "500"), "--n-classes is missing"),
        (("--n-test", "500", "--n-classes", "1"), "--n-classes must be at least 2"),
        (("--n-classes", "4"), "--n-test is missing"),
        (("--n-test", "500", "--n-classes", "4", "--draws", "9"), "--draws has no effect"),
        (("--n-test", "500", "--n-classes", "4", "--metric", "score"), "for accuracies and AUCs"),
    ],
)
def test_bad_input(capsys, file: str, arguments: tuple[str, ...], message: str) -> None:
    code, out, error = run(capsys, file, "--method", "shrink", *arguments)
    assert code == 2
    assert out == ""
    assert error.startswith("error:")
    assert message in error


def test_options_of_the_point_estimates_are_theirs_alone(capsys, file: str) -> None:
    code, _, error = run(capsys, file, "--n-test", "500", "--n-classes", "4")
    assert code == 2
    assert "--n-classes has no effect" in error


def test_a_file_is_needed(capsys) -> None:
    code, _, error = run(capsys, "--method", "crop", "--n-test", "500", "--n-classes", "4")
    assert code == 2
    assert "takes the scores of a leaderboard FILE" in error


def test_aucs(capsys, tmp_path: Path) -> None:
    aucs = 0.6 + 0.3 * np.linspace(0, 1, 40) ** 0.5
    path = tmp_path / "aucs.csv"
    path.write_text("team,score\n" + "".join(f"t{i},{a:.6f}\n" for i, a in enumerate(aucs)))
    base = (str(path), "--metric", "auc", "--n-test", "400", "--method", "shrink")
    code, out, _ = run(capsys, *base, "--n-positive", "60", "--json")
    result = json.loads(out)
    found = shrink_aucs(aucs.round(6), n_positive=60, n_negative=340)
    assert code == 0
    assert result["theta_sota"]["estimate"] == pytest.approx(found.estimate, abs=1e-9)
    assert result["chance"] == 0.5
    assert result["notes"][0].startswith("binormal")
    for wrong, message in (
        (base, "--n-positive is missing"),
        ((*base, "--n-positive", "399"), "at least 2 items of each class"),
        ((*base, "--n-positive", "60", "--n-classes", "2"), "no --n-classes"),
        ((*base[:-1], "crop", "--n-positive", "60"), "AUCs take --method shrink"),
    ):
        code, _, error = run(capsys, *wrong)
        assert code == 2
        assert message in error
