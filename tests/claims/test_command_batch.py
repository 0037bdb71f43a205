"""``bayes-sota claim batch``: files in, files out, and what stops it."""

import csv
import json
from pathlib import Path

import pytest

from bayes_sota.claims.accuracies import false_claim_probability
from bayes_sota.cli.main import main

HEADER = "paper,topic,accuracy_a,accuracy_b,n_test\n"
GOOD = HEADER + '"Li, 2024",skin,0.90,0.88,500\nDoe,heart,0.95,0.85,500\n=1+1,skin,0.80,0.79,100\n'
WRONG = GOOD + "Roe,heart,0.8,0.9,100\n"


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["claim", "batch", *map(str, arguments)])
    output = capsys.readouterr()
    return int(caught.value.code or 0), output.out, output.err


@pytest.fixture
def review(tmp_path: Path) -> Path:
    path = tmp_path / "review.csv"
    path.write_text(GOOD, encoding="utf-8")
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.csv"
    path.write_text(WRONG, encoding="utf-8")
    return path


def test_a_table_for_people(capsys, review: Path) -> None:
    code, out, error = run(capsys, review, "--group-by", "topic")
    assert (code, error) == (0, "")
    assert "0.093" in out
    assert "Of 3 claims about" in out
    assert "The numbers support 1:" in out
    assert [line.split()[:2] for line in out.splitlines() if line.startswith(" skin")] == [
        ["skin", "2"]
    ]
    code, out, _ = run(capsys, review, "--top", 1, "--quiet")
    assert "Doe" not in out
    assert "not shown" not in out


def test_json_is_one_object(capsys, review: Path) -> None:
    code, out, error = run(capsys, review, "--json", "--level", 0.1)
    found = json.loads(out)
    assert (code, error, found["schema_version"]) == (0, "", "1")
    assert found["claims"][0]["p_false"] == pytest.approx(
        false_claim_probability(0.9, 0.88, 500), rel=1e-12
    )
    assert found["all"]["above_level"]["p_false"]["n"] == 1
    assert found["diagnostics"] == {"ok": True, "reasons": []}


def test_files_are_written(capsys, review: Path, tmp_path: Path) -> None:
    output, figure = tmp_path / "out.csv", tmp_path / "forest.png"
    code, out, _ = run(
        capsys, review, "--output", output, "--figure", figure, "--group-by", "topic"
    )
    assert code == 0
    assert str(output.name) in out.replace("\n", "")
    assert "0.093" in out  # nothing is hidden because a file was written
    rows = list(csv.DictReader(output.read_text(encoding="utf-8").splitlines()))
    assert [row["paper"] for row in rows] == ["Li, 2024", "Doe", "'=1+1"]
    assert rows[1]["verdict"] == "supported"
    assert figure.read_bytes()[:4] == b"\x89PNG"
    code, *_ = run(capsys, review, "--output", tmp_path / "out.md")
    assert "| Li, 2024 |" in (tmp_path / "out.md").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "forest.png", "out.csv", "out.md", "review.csv",
    ]  # fmt: skip


def test_wrong_rows_are_an_error_unless_they_are_skipped(
    capsys, wrong: Path, tmp_path: Path
) -> None:
    told = "1 of 4 rows cannot be used: row 4: A is the reported winner"
    code, out, error = run(capsys, wrong, "--output", tmp_path / "o.csv", "--json")
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert told in error
    assert "--skip-problems leaves them out" in error
    assert [path.name for path in tmp_path.iterdir()] == ["wrong.csv"]
    skip = ("--skip-problems", "--output", tmp_path / "o.csv", "--json")
    code, out, error = run(capsys, wrong, *skip)
    assert (code, error.count("\n")) == (1, 1)
    assert told in error
    found = json.loads(out)
    assert found["diagnostics"]["ok"] is False
    assert found["all"]["n_problems"] == 1
    assert found["claims"][3]["p_false"] is None
    assert len((tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()) == 5


def test_options_of_rows(capsys, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("accuracy_a,accuracy_b,n_test\n0.913,0.9,100\n", encoding="utf-8")
    assert run(capsys, path)[0] == 2
    assert run(capsys, path, "--any-accuracy")[0] == 0
    path.write_text("mean_a,mean_b,n_test\n0.81,0.80,100\n", encoding="utf-8")
    assert run(capsys, path)[0] == 2
    assert run(capsys, path, "--sd", 0.5, 0, -0.5)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output", "review.csv"), "--output would overwrite the input review.csv"),
        (("--output", "link.csv"), "--output would overwrite the input link.csv"),
        (("--output", "out.xlsx"), ".csv, .md or .json"),
        (("--output", "no/out.csv"), "does not exist"),
        (("--figure", "forest.gif"), ".png, .svg or .pdf"),
        (("--output", "out.csv", "--level", "5"), "write 0.05"),
        (("--output", "out.csv", "--top", "0"), "--top must be a whole number from 1"),
        (("--output", "out.csv", "--group-by", "field"), "there is no column 'field'"),
    ],
)
def test_wrong_options_write_nothing(
    capsys, monkeypatch, review: Path, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(review.parent)
    Path("link.csv").symlink_to("review.csv")
    code, out, error = run(capsys, "review.csv", *arguments)
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert review.read_text(encoding="utf-8") == GOOD
    assert sorted(path.name for path in review.parent.iterdir()) == ["link.csv", "review.csv"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (HEADER, "no rows"),
        ("paper,accuracy_a,accuracy_b\nx,0.9,0.8\n", "there is no column 'n_test'"),
        (HEADER.replace("topic", "n_test") + "x,5,0.9,0.8,5\n", "more than one column is called"),
        (HEADER.replace("topic", "problem") + "x,5,0.9,0.8,5\n", "is one that the result adds"),
        (HEADER + "x,5,0.9\n", "line 2 has 3 cells"),
    ],
)
def test_wrong_files_write_nothing(capsys, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(text, encoding="utf-8")
    code, out, error = run(capsys, path, "--output", tmp_path / "o.csv")
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    assert message in error
    assert [file.name for file in tmp_path.iterdir()] == ["r.csv"]


def test_a_figure_of_nothing_writes_nothing(capsys, tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text(HEADER + "x,y,0.8,0.9,100\n", encoding="utf-8")
    code, _, error = run(
        capsys, path, "--skip-problems", "--output", tmp_path / "o.csv", "--figure",
        tmp_path / "f.png",
    )  # fmt: skip
    assert (code, error) == (2, "error: no claim can be drawn: none has a probability\n")
    assert [file.name for file in tmp_path.iterdir()] == ["r.csv"]
