"""``bayes-sota paired``: keys, exit codes, one line for bad input."""

import json
from pathlib import Path

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.cli import main
from bayes_sota.core.sample import read_result


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(4)
    theta = 0.8 - 0.05 * rng.exponential(size=60)
    x, y = (rng.binomial(n, theta) / n for n in (500, 1500))
    rows = [f"[bold]t{i},{a},{b}" for i, (a, b) in enumerate(zip(x, y, strict=True))]
    path = tmp_path / "boards.csv"
    path.write_text("\n".join(["team,public_score,private_score", *rows]))
    return path


SIZES = ("--n-test-public", "500", "--n-test-private", "1500")


def test_json(capsys: pytest.CaptureFixture[str], table: Path, tmp_path: Path) -> None:
    output = tmp_path / "result.nc"
    command = ("paired", str(table), *SIZES, "--seed", "1", "--json", "--output", str(output))
    code, out, err = run(capsys, *command)
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["schema_version"] == "2"
    assert result["rho"]["learnt"] is True
    assert result["n_test"] == [500, 1500]
    winner = result["public_winner"]
    assert winner["shrinkage"] == pytest.approx(winner["public_score"] - winner["expected_private"])
    low, high = winner["private_from_public_alone"]["interval"]
    assert low < winner["private_score"] < high
    assert 0 <= winner["p_best"] <= 1
    assert result["diagnostics"]["ok"]
    assert result["seed"] == 1
    assert output.is_file()
    boards = bs.read_paired_boards(table, n_test=(500, 1500))
    report = bs.paired.describe_paired(read_result(output), boards)
    assert report.to_dict()["best"] == result["best"]
    assert report.to_csv().startswith("quantity,mean,lower,upper\ntheta_sota,")


def test_people_get_tables_where_the_noise_is_unknown(
    capsys: pytest.CaptureFixture[str], table: Path, tmp_path: Path
) -> None:
    output = tmp_path / "result.nc"
    code, out, err = run(capsys, "paired", str(table), "--seed", "1", "--output", str(output))
    assert (code, err) == (0, "")
    for words in ("theta_sota", "[bold]t", "rho is not learnt."):
        assert words in out
    tree = read_result(output)
    assert tree.attrs["rho_learnt"] == 0
    assert "private_from_public" not in tree["posterior_predictive"]


def test_noise_that_cannot_be_exits_with_1(capsys: pytest.CaptureFixture[str], table: Path) -> None:
    errors = ("--standard-error-public", "0.006", "--standard-error-private", "0.006")
    code, _, err = run(capsys, "paired", str(table), *errors, "--seed", "1")
    assert code == 1
    assert err.startswith("warning: not to be trusted: differences of the teams")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--n-test-public", "10"), "--n-test-private is missing"),
        (("--standard-error-private", "1"), "--standard-error-public is missing"),
        (("--top", "2"), "--top must be a number"),
        (("--prob", "95"), "above 0 and below 1"),
        (("--public-column", "x"), "there is no column 'x'"),
    ],
)
def test_errors(
    capsys: pytest.CaptureFixture[str], table: Path, options: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, "paired", str(table), *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert message in err
    assert err.count("\n") == 1
