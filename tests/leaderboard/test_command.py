"""``bayes-sota board``: what is printed, what is written, and what is refused."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bayes_sota.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(("board", *arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture
def board(tmp_path: Path) -> Path:
    rows = "".join(f"team {k},{k / 500:.3f}\n" for k in range(400, 460, 3))
    path = tmp_path / "teams.csv"
    path.write_text(f"team,score\n{rows}=1+1[red],0.922\n")
    return path


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    rows = "".join(f"q{i},{int(i % 7 > 0)},{int(i % 5 > 0)},{int(i % 3 > 0)}\n" for i in range(90))
    path = tmp_path / "answers.csv"
    path.write_text(f"item,tree,forest,stump\n{rows}")
    return path


def test_json_has_the_keys_of_the_interface(
    capsys: pytest.CaptureFixture[str], board: Path
) -> None:
    code, out, err = run(capsys, str(board), "--n-test", "500", "--seed", "1", "--json")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["schema_version"] == "1"
    assert len(result["entries"]) == 21
    first = result["entries"][0]
    assert first["name"] == "=1+1[red]"
    assert {"name", "score", "skill", "rank_interval", "p_best", "tied_with_best"} <= set(first)
    assert first["skill"]["interval"][0] < first["skill"]["mean"] < first["score"]
    assert sum(entry["p_best"] for entry in result["entries"]) == pytest.approx(1, abs=1e-4)
    assert set(result["theta_sota"]) == {"mean", "median", "sd", "interval", "mcse"}
    assert (result["n_test"], result["n_test_source"]) == (500, "given")
    assert result["diagnostics"] == {"ok": True, "reasons": []}
    assert (result["seed"], result["prob"]) == (1, 0.95)
    again = run(capsys, str(board), "--n-test", "500", "--seed", "1", "--json")[1]
    assert json.loads(again) == result


def test_people_get_a_short_table(capsys: pytest.CaptureFixture[str], board: Path) -> None:
    code, out, err = run(capsys, str(board), "--n-test", "500", "--seed", "1", "--top", "4")
    assert (code, err) == (0, "")
    assert "teams: best 4 of 21 entries" in out
    assert "=1+1[red]" in out
    assert "team 457" in out
    assert "team 400" not in out
    assert "17 more entries are not shown." in out
    assert "(theta_sota)" in out
    assert "tied with the best" in out
    assert "500 items (given)" in out
    assert "Note: " in out
    assert "seed 1" in out
    quiet = run(capsys, str(board), "--n-test", "500", "--seed", "1", "--top", "4", "--quiet")[1]
    assert "Note: " not in quiet


@pytest.mark.parametrize("ending", ["csv", "md", "json"])
def test_output_holds_all_entries(
    capsys: pytest.CaptureFixture[str], board: Path, tmp_path: Path, ending: str
) -> None:
    target = tmp_path / f"table.{ending}"
    command = (str(board), "--n-test", "500", "--seed", "1", "--top", "2", "--output", str(target))
    assert run(capsys, *command)[0] == 0
    content = target.read_text()
    assert all(f"team {k}" in content for k in range(400, 460, 3))
    if ending == "csv":
        assert "1,'=1+1[red],0.922," in content
    if ending == "md":
        assert "=1+1\\[red\\]" in content


def test_a_response_matrix_is_recognised(capsys: pytest.CaptureFixture[str], answers: Path) -> None:
    code, out, err = run(capsys, str(answers), "--json", "--seed", "1")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert [entry["name"] for entry in result["entries"]] == ["tree", "forest", "stump"]
    assert (result["n_test"], result["n_test_source"]) == (90, "rows of the matrix")
    forced = run(capsys, str(answers), "--json", "--seed", "1", "--format", "responses")[1]
    assert json.loads(forced) == result


def test_options_of_leaderboards(capsys: pytest.CaptureFixture[str], board: Path) -> None:
    base = (str(board), "--n-test", "500", "--seed", "1", "--json")

    def tied(*options: str) -> int:
        return json.loads(run(capsys, *base, *options)[1])["n_tied_with_best"]

    assert tied("--correlation", "0") > tied("--pairwise-correlation", "0.9")
    assert tied("--prob", "0.999") > tied("--prob", "0.5")
    notes = json.loads(run(capsys, *base, "--classifiers", "100:400")[1])["notes"]
    assert any("21 are listed" in note for note in notes)


def test_the_size_can_be_inferred_whatever_the_rounding(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "floored.csv"
    rows = "".join(f"{k},{10_000 * k // 271 / 10_000:.4f}\n" for k in range(200, 250))
    path.write_text(f"id,score\n{rows}")
    code, out, _ = run(capsys, str(path), "--n-test", "infer", "--json", "--seed", "1")
    assert code == 0
    assert json.loads(out)["n_test"] == 271
    assert json.loads(out)["n_test_source"] == "inferred from the scores"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--n-test is missing"),
        (("--n-test", "many"), "--n-test takes a whole number or infer, got 'many'"),
        (("--n-test", "500", "--top", "0"), "--top must be a whole number from 1"),
        (("--n-test", "500", "--prob", "95"), "then write 0.95"),
        (("--n-test", "500", "--score-column", "x"), "there is no column 'x'"),
        (("--n-test", "500", "--output", "table.xlsx"), ".csv, .md or .json"),
        (("--n-test", "500", "--output", "no/table.csv"), "does not exist"),
        (("--n-test", "500", "--correlation", "0.5", "--pairwise-correlation", "0.2"), "either"),
        (("--n-test", "500", "--classifiers", "5"), "classifiers"),
        (("--n-test", "500", "--format", "responses"), "--n-test is for leaderboards"),
        (("--n-test", "7"), "no number of right answers"),
        (("--n-test", "500", "--metric", "score"), "need --standard-error"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], board: Path, options: tuple[str, ...], message: str
) -> None:
    code, out, err = run(capsys, str(board), *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


def test_a_missing_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, _, err = run(capsys, str(tmp_path / "no.csv"), "--n-test", "5")
    assert (code, err.count("\n")) == (2, 1)
    assert "there is no such file" in err


def test_it_never_loads_pymc(board: Path) -> None:
    script = (
        "import sys\nfrom bayes_sota.cli import main\n"
        f"try:\n    main(['board', {str(board)!r}, '--n-test', '500', '--json'])\n"
        "except SystemExit:\n    pass\n"
        "heavy = {'pymc', 'pytensor', 'arviz', 'xarray', 'matplotlib'}\n"
        "print(*sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["n_test"] == 500
    assert done.stderr.strip() == ""


def test_a_contaminated_board_exits_with_1(
    capsys: pytest.CaptureFixture[str], data_directory: Path
) -> None:
    path = data_directory / "kaggle" / "spaceship-titanic__private.csv"
    code, out, err = run(capsys, str(path), "--n-test", "infer", "--seed", "1", "--json")
    result = json.loads(out)
    assert code == 1
    assert err.startswith("warning: not to be trusted: ")
    assert result["n_test"] == 4277
    assert result["diagnostics"]["ok"] is False
    assert "leaked" in result["diagnostics"]["reasons"][0]


def test_real_answers(capsys: pytest.CaptureFixture[str], data_directory: Path) -> None:
    path = data_directory / "cifar10" / "correct_cifar10_test.csv"
    code, out, _ = run(capsys, str(path), "--seed", "1", "--json")
    result = json.loads(out)
    assert (code, result["n_test"], result["n_tied_with_best"]) == (0, 10_000, 5)
    assert result["entries"][0]["name"] == "shake_shake_26_2x64d_SSI_cutout16"
