"""``bayes-sota claim``: published numbers from the shell, files in and out, and wrong input."""

import csv
from pathlib import Path

import pytest
from data.files import run as run_command
from data.files import run_json

import bayes_sota as bs

REPORTED = ("classification", "--accuracy", "0.90", "0.88", "--n-test", "500")
MEANS = ("segmentation", "--mean", "0.81", "0.80", "--n-test", "100")
HEADER = "paper,group,accuracy_a,accuracy_b,n_test\n"
REVIEW = (
    HEADER + '"Li, 2024",skin,0.90,0.88,500\nDoe,heart,0.95,0.85,500\n=1+1,skin,0.80,0.79,100\n'
)
FILES = {
    "review.csv": REVIEW,
    "averaged.csv": "accuracy_a,accuracy_b,n_test\n0.913,0.9,100\n",
    "answers.csv": "case_id,patient,ours,theirs,third\n" + "".join(
        f"c{i},p{i // 3},{int(i % 10 > 0)},{int(i % 8 > 0)},{int(i % 3 > 0)}\n" for i in range(240)
    ),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8")
    return tmp_path


def run(capsys, *arguments):
    return run_command(capsys, "claim", *arguments)


def result(capsys, *arguments):
    return run_json(capsys, "claim", *arguments)


@pytest.mark.parametrize(
    ("option", "expected"),
    [((), 0.093), (("--congruence", "0.78"), 0.171), (("--congruence", "0.88"), 0.0005)],
)
def test_published_numbers(capsys, option, expected):
    found = result(capsys, *REPORTED, *option)
    assert found["rounding"]["exact"] == pytest.approx(expected, abs=5e-4)
    assert found["rounding"]["lowest"] < found["p_false"] < found["rounding"]["highest"]


def test_numbers_as_people_write_them(capsys):
    found = result(capsys, *REPORTED, "--best-of", "10", "--names", "ours", "theirs")
    assert found["selection"]["p_false_selected"] > 3.5 * found["p_false"]
    assert "The claim that ours (0.90)" in found["text"]
    given = result(capsys, *MEANS, "--sd", "0.1", "0.1", "--pairwise-correlation", "0")
    in_percent = (MEANS[0], "--mean", "81", "80", "--sd", "10", "10%", *MEANS[4:])
    same = result(capsys, *in_percent, "--pairwise-correlation", "0")
    different = result(capsys, *MEANS, "--sd-difference", 0.02**0.5)
    assert given["p_false"] == pytest.approx(same["p_false"])
    assert given["p_false"] == pytest.approx(different["p_false"])
    for typed in (("0.9", "0.88"), ("90", "88"), ("90%", "0.88")):
        found = result(capsys, "plan", "--accuracy", *typed)
        assert (found["n_needed"], found["n_needed_range"]) == (826, [167, 1492])


def test_files_in_and_out(capsys, folder):
    saved = ("--save", "a.png", "--save", "a.nc")
    found = result(capsys, "responses", "answers.csv", "--column", "cluster=patient", *saved)
    assert (found["winner"], found["runner_up"], found["n_clusters"]) == ("ours", "theirs", 80)
    assert bs.read_result("a.nc")["posterior"]["skill"].sizes["classifier"] == 3
    code, out, error = run(capsys, "batch", "review.csv", "--save", "out.csv", "--save", "f.png")
    assert (code, error) == (0, "")
    assert all(part in out for part in ("0.10 ", "of 3 ", "Supported at 0.05: 1;"))
    rows = list(csv.DictReader((folder / "out.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["paper"] for row in rows] == ["Li, 2024", "Doe", "'=1+1"]
    assert rows[1]["verdict"] == "supported"
    assert all((folder / name).read_bytes()[:4] == b"\x89PNG" for name in ("a.png", "f.png"))
    text = Path("review.csv").read_text(encoding="utf-8").replace("accuracy_a", "ours")
    Path("named.csv").write_text(text.replace("n_test", "n"), encoding="utf-8")
    found = result(capsys, "batch", "named.csv", "--column", "accuracy_a=ours")
    assert [row["n_needed"] for row in found["claims"]] == [int(row["n_needed"]) for row in rows]
    code, out, _ = run(capsys, "batch", "averaged.csv")
    assert (code, "no whole number of items gives an accuracy as printed" in out) == (0, True)
