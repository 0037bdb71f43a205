"""``bayes-sota claim``: published numbers from the shell, and wrong input."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import bayes_sota as bs
from bayes_sota.cli.main import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(["claim", *arguments])
    output = capsys.readouterr()
    return int(caught.value.code or 0), output.out, output.err


REPORTED = ("classification", "--accuracy", "0.90", "0.88", "--n-test", "500")


@pytest.mark.parametrize(
    ("option", "expected"),
    [((), 0.093), (("--min",), 0.171), (("--independent",), 0.157), (("--max",), 0.0005)],
)
def test_published_numbers(capsys, option: tuple[str, ...], expected: float) -> None:
    code, out, error = run(capsys, *REPORTED, *option, "--json")
    assert (code, error) == (0, "")
    result = json.loads(out)
    assert result["p_false"] == pytest.approx(expected, abs=5e-4)
    assert len(result["sensitivity"]) > 5
    assert result["congruence"]["assumption"]


def test_equivalence_and_notes(capsys) -> None:
    code, out, _ = run(capsys, *REPORTED, "--congruence", "0.85", "--rope", "0.01", "--json")
    rope = json.loads(out)["rope"]
    assert code == 0
    assert rope["a_better"] + rope["equivalent"] + rope["b_better"] == pytest.approx(1)
    code, out, _ = run(capsys, "classification", "--accuracy", "0.913", "0.9", "--n-test", "100")
    assert "no whole number of 100 items gives the accuracy 0.913" in out


def test_segmentation_and_planning(capsys) -> None:
    code, out, _ = run(
        capsys, "segmentation", "--mean", "0.81", "0.80", "--sd", "0.1", "0.1", "--n-test", "100",
        "--pairwise-correlation", "0.7", "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["p_false"] == pytest.approx(0.1, abs=5e-4)
    code, out, _ = run(capsys, "plan", "--accuracy", "0.9", "0.88", "--json")
    assert (code, json.loads(out)["n_needed"]) == (0, 1330)
    code, out, _ = run(capsys, "plan", "--accuracy", "0.8", "0.79", "--n-test", "100")
    assert "no size makes the claim" in out
    code, out, _ = run(capsys, "plan", "--gap", "0.02", "--winner", "0.9", "--json")
    assert (code, json.loads(out)["n_needed"]) == (0, 1330)
    code, out, _ = run(
        capsys, "plan", "--gap", ".01", "--sd", ".1", ".1", "--pairwise-correlation", ".7",
        "--n-test", "400", "--json",
    )  # fmt: skip
    assert code == 0
    assert json.loads(out)["n_needed"] < json.loads(out)["n_assured"]


def test_rounding_tries_and_other_priors(capsys) -> None:
    code, out, _ = run(capsys, *REPORTED, "--best-of", "10", "--json")
    result = json.loads(out)
    assert code == 0
    assert result["rounding"]["counts_a"] == [448, 452]
    assert result["rounding"]["lowest"] < result["p_false"] < result["rounding"]["highest"]
    assert result["selection"]["p_false"] == pytest.approx(result["p_false"])
    assert result["selection"]["p_false_selected"] > 3.5 * result["p_false"]
    assert dict(map(tuple, result["alpha_sensitivity"]))[0.5] == pytest.approx(0.071, abs=5e-4)
    assert result["congruence_needed"] == pytest.approx(0.8538, abs=1e-4)
    code, out, _ = run(capsys, *REPORTED, "--odds-ratio", "20", "1", "--json")
    assert json.loads(out)["p_false"] == pytest.approx(0.082, abs=5e-4)


def test_an_uncertain_number_of_items(capsys) -> None:
    about = ("classification", "--accuracy", "0.913", "0.88", "--n-test", "90:110")
    code, out, _ = run(capsys, *about, "--json")
    result = json.loads(out)
    assert code == 0
    assert result["p_false"] == result["rounding"]["p_false"]
    assert any("18 of 21 sizes" in note for note in result["notes"])
    code, out, _ = run(capsys, *about, "--text")
    assert "90 to 110 test items" in out


def test_a_paragraph_for_a_review(capsys) -> None:
    code, out, _ = run(capsys, *REPORTED, "--text")
    assert (code, out.count("\n")) == (0, 1)
    for part in ("with probability 0.093", "0.0005 to 0.17", "at least 85.4 %", "Please report"):
        assert part in out
    code, out, _ = run(
        capsys, "segmentation", "--mean", ".81", ".8", "--sd", ".1", ".1", "--n-test", "100",
        "--best-of", "5", "--text",
    )  # fmt: skip
    assert "best of 5 tries" in out


def test_imputed_and_known_spreads_of_means(capsys) -> None:
    means = ("segmentation", "--mean", "0.81", "0.80", "--n-test", "100", "--json")
    _, given, _ = run(capsys, *means, "--sd", "0.1", "0.1", "--pairwise-correlation", "0")
    _, same, _ = run(capsys, *means, "--sd-difference", str(0.02**0.5))
    assert json.loads(given)["p_false"] == pytest.approx(json.loads(same)["p_false"])
    _, imputed, _ = run(capsys, *means, "--sd-coefficients", "0.5", "-0.5", "0")
    assert json.loads(imputed)["sd"] == pytest.approx([0.095, 0.1])


def test_draws_and_figures_are_written(capsys, tmp_path: Path) -> None:
    tree, figure = tmp_path / "claim.nc", tmp_path / "claim.png"
    code, out, _ = run(
        capsys, *REPORTED, "--seed", "1", "--output", str(tree), "--figure", str(figure), "--json"
    )
    found = bs.read_result(tree)
    assert code == 0
    assert float(found["point_estimate"]["p_false"]) == json.loads(out)["p_false"]
    assert found["posterior"]["skill"].dims == ("chain", "draw", "classifier")
    assert figure.read_bytes()[:4] == b"\x89PNG"
    code, _, error = run(capsys, *REPORTED, "--figure", str(tmp_path / "no" / "x.png"))
    assert (code, "does not exist" in error) == (2, True)


ANSWERS = "case_id,patient,ours,theirs,third\n" + "".join(
    f"c{i},p{i // 3},{int(i % 10 > 0)},{int(i % 8 > 0)},{int(i % 3 > 0)}\n" for i in range(240)
)


def test_answers_of_three_methods(capsys, tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    rows = [line.split(",") for line in ANSWERS.split()]
    path.write_text("\n".join(",".join([row[0], *row[2:]]) for row in rows))
    code, out, _ = run(capsys, "responses", str(path), "--rope", "0.02", "--seed", "0", "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["winner"], result["runner_up"], result["n_items"]) == ("ours", "theirs", 240)
    assert sum(result["p_best"].values()) == pytest.approx(1)
    assert result["tied_with_best"] == ["ours", "theirs"]
    assert 0 < result["selection"]["p_not_best"] < 1
    assert result["congruence"]["assumption"] == "counted"
    assert sum(result["rope"][k] for k in ("a_better", "equivalent", "b_better")) == pytest.approx(
        1
    )
    code, out, _ = run(capsys, "responses", str(path), "--text")
    assert "theirs cannot be told from it" in out


def test_clustered_answers_are_less_sure(capsys, tmp_path: Path) -> None:
    path, figure, tree = tmp_path / "a.csv", tmp_path / "a.png", tmp_path / "a.nc"
    path.write_text(ANSWERS)
    code, out, _ = run(
        capsys, "responses", str(path), "--cluster-column", "patient", "--no-selection",
        "--figure", str(figure), "--output", str(tree), "--json",
    )  # fmt: skip
    result = json.loads(out)
    assert (code, result["n_clusters"], result["selection"]) == (0, 80, None)
    assert figure.stat().st_size > 1000
    assert bs.read_result(tree)["posterior"]["skill"].sizes["classifier"] == 3
    code, out, _ = run(capsys, "responses", str(path), "--cluster-column", "patient", "--top", "1")
    assert "240 items in 80 clusters" in out
    assert "2 more with --top" in out


def test_runs_of_one_method_are_asked_about(capsys, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = ["id,net@1,net@2,tree"] + [
        f"c{i},{i % 3 > 0:d},{i % 4 > 0:d},{i % 2:d}" for i in range(60)
    ]
    path.write_text("\n".join(rows))
    code, out, _ = run(capsys, "responses", str(path), "--no-selection")
    assert (code, "net@1, net@2 are taken as methods of their own" in out) == (0, True)
    code, out, _ = run(capsys, "responses", str(path), "--run-separator", "@", "--json")
    methods = {m["name"]: m["n_runs"] for m in json.loads(out)["methods"]}
    assert (code, methods) == (0, {"net": 2, "tree": 1})
    code, _, error = run(capsys, "responses", str(path), "--run-separator", "#")
    assert (code, "no column has '#'" in error, "--run-separator" in error) == (2, True, True)
    found = bs.compare_methods(bs.read_evaluations(path, run_separator="@"), random_seed=0)
    assert found.n_runs == (2, 1)
    assert repr(found).startswith("<MethodComparison of 2 methods on 60 items")


def test_a_leaderboard_s_winner_was_picked(capsys, tmp_path: Path) -> None:
    path = tmp_path / "board.csv"
    path.write_text("name,score\na,0.90\nb,0.88\nc,0.88\nd,0.87\n")
    code, out, _ = run(capsys, "selection", str(path), "--n-test", "500", "--seed", "0", "--json")
    result = json.loads(out)
    assert code == 0
    assert (result["winner"], result["n_entries"]) == ("a", 4)
    assert result["difference"] == pytest.approx(result["p_false_selected"] - result["p_false"])
    code, out, _ = run(capsys, "selection", str(path), "--n-test", "500", "--seed", "0")
    assert "corrected for the selection" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("classification", "--accuracy", "0.88", "0.90", "--n-test", "500"), "exchange the two"),
        ((*REPORTED, "--congruence", "0.95"), "between 0.78 and 0.88"),
        ((*REPORTED, "--min", "--max"), "give one of"),
        ((*REPORTED[:-1], "1"), "at least 2"),
        (
            ("segmentation", "--mean", ".8", ".7", "--sd", ".6", ".1", "--n-test", "9"),
            "at most 0.4243, got 0.6",
        ),
        (("plan", "--accuracy", "0.9", "0.9"), "equal accuracies"),
        (("plan", "--gap", "0.1"), "--gap and --winner"),
        (("plan", "--gap", "0.1", "--winner", ".9", "--assurance", ".8"), "needs --n-test"),
        (("responses", "x.csv", "--label-column", "gold"), "for numbers with --item-metric auc"),
        (("plan", "--gap", "0.1", "--sd", ".1", ".1", "--winner", ".9"), "means are planned by"),
        ((*REPORTED, "--odds-ratio", "0", "1"), "odds ratio is positive"),
        ((*REPORTED, "--best-of", "0"), "--best-of must be a number from 1 to 1,000,000, got 0"),
        ((*REPORTED[:2], "0.9x", "0.88", *REPORTED[4:]), "two numbers in [0, 1], got '0.9x'"),
        ((*REPORTED[:-1], "many"), "whole number or a range A:B, got 'many'"),
        ((*REPORTED, "--output", "draws.csv"), "a result is written as .nc"),
        ((*REPORTED, "--figure", "x.txt"), ".png, .svg or .pdf"),
        (("segmentation", "--mean", ".8", ".7", "--n-test", "9"), "give one of --sd,"),
        (("responses", "no-such-file.csv"), "no-such-file.csv"),
        (("responses", "x.csv", "--draws", "3"), "--draws must be a whole number from 100"),
    ],
)
def test_wrong_input_gets_one_line(
    capsys, tmp_path, monkeypatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("item,a,b\nx,1,0\ny,0,1\n")
    code, out, error = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert error.startswith("error: ")
    assert message in error


def test_a_claim_imports_neither_pymc_nor_pandas() -> None:
    code = (
        "import sys\nfrom bayes_sota.cli.main import main\ntry:\n    main("
        f"['claim', *{list(REPORTED)!r}, '--json'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('pymc', 'pandas', 'arviz', 'xarray') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.rstrip().endswith("[]")
