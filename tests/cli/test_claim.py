"""``bayes-sota claim``: published numbers from the shell, and wrong input."""

import json
import subprocess
import sys

import pytest

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
    assert "No size makes the claim" in out


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
    ],
)
def test_wrong_input_gets_one_line(capsys, arguments: tuple[str, ...], message: str) -> None:
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
