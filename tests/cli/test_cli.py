"""What a user types and gets back: keys, exit codes, one line for bad input."""

import re
from pathlib import Path

import numpy as np
import pytest
from data.files import run, run_json
from scipy import stats

BOARD = ("sota", "--maximum", "0.98", "--n-test", "200", "--classifiers", "50", "--seed", "1")
SUMMARY = {"mean", "median", "sd", "interval", "mcse"}


@pytest.mark.slow
def test_maximum_of_aucs(capsys: pytest.CaptureFixture[str]) -> None:
    command = (
        "maximum", "--metric", "auc", "--n-test", "3000", "--n-positive", "51", "--classifiers",
        "1000", "--theta", "0.9",
    )  # fmt: skip
    law = run_json(capsys, *command)
    assert law["expected_maximum"] == pytest.approx(0.9566, abs=1e-4)
    assert law["n_positive"] == 51
    correlated = run_json(capsys, *command, "--correlation", "0.6")
    assert 0.9 < correlated["expected_maximum"] < law["expected_maximum"]


@pytest.mark.slow
def test_maximum_of_uniform_aucs(capsys: pytest.CaptureFixture[str]) -> None:
    """Against simulated scores of the classifiers above .8; the others never lead."""
    command = (
        "maximum", "--metric", "auc", "--n-test", "3000", "--n-positive", "51", "--classifiers",
        "1000", "--uniform", "0.6", "0.9",
    )  # fmt: skip
    law = run_json(capsys, *command)
    assert law["theta_sota"] == pytest.approx((1000 * 0.9 + 0.6) / 1001)
    assert law["expected_maximum"] == pytest.approx(0.93863, abs=1e-5)
    rng = np.random.default_rng(0)
    best = []
    for _ in range(40):
        skills = rng.uniform(0.8, 0.9, rng.binomial(1000, 1 / 3))
        positive = stats.norm.ppf(skills)[:, None] * 2**0.5 + rng.standard_normal((skills.size, 51))
        negative = np.sort(rng.standard_normal((skills.size, 2949)), axis=1)
        below = [np.searchsorted(n, p).sum() for n, p in zip(negative, positive, strict=True)]
        best.append(max(below) / (51 * 2949))
    assert np.mean(best) == pytest.approx(law["expected_maximum"], abs=4 * np.std(best) / 40**0.5)
    assert np.std(best) == pytest.approx(law["sd"], rel=0.4)  # 3.5 standard errors


def test_maximum_gives_row_3_of_table_1(capsys: pytest.CaptureFixture[str]) -> None:
    law = run_json(
        capsys, "maximum", "--n-test", "3000", "--classifiers", "1000", "--theta", "0.9",
        "--correlation", "0.6",
    )  # fmt: skip
    assert law["schema_version"] == "2"
    assert law["theta_sota"] == 0.9
    assert law["expected_maximum"] == pytest.approx(0.9140, abs=5e-5)
    assert law["sd"] == pytest.approx(0.0035, abs=5e-5)
    assert law["interval"][1] == pytest.approx(0.9207, abs=5e-5)
    assert law["bias"] == pytest.approx(law["expected_maximum"] - 0.9)


@pytest.mark.parametrize(("options", "said"), [((), True), (("--correlation", "0"), False)])
def test_independent_classifiers_are_an_assumption_that_is_said(capsys, options, said) -> None:
    command = ("maximum", "--n-test", "300", "--classifiers", "10", "--theta", "0.9", *options)
    notes = run_json(capsys, *command)["notes"]
    assert (len(notes) == 1 and "independent (rho 0)" in notes[0]) is said
    out = run(capsys, *command)[1]
    assert ("Note: the classifiers are taken as independent" in out) is said
    assert re.search(r"reference classifier \(rho\) +0 *\n", out)
    assert "Note:" not in run(capsys, *command, "--quiet")[1]


def test_uniform_skills(capsys: pytest.CaptureFixture[str]) -> None:
    """theta_sota is the expected best skill."""
    command = ("maximum", "--n-test", "3000", "--classifiers", "1000", "--uniform", "0.8", "0.9")
    assert run_json(capsys, *command)["theta_sota"] == pytest.approx((1000 * 0.9 + 0.8) / 1001)


LAW = ("maximum", "--n-test", "300", "--classifiers", "10", "--theta", "0.9")
AUC_LAW = (*LAW, "--metric", "auc", "--n-positive", "40")


@pytest.mark.parametrize(
    "command",
    [pytest.param(LAW, id="accuracy"), pytest.param(AUC_LAW, id="auc", marks=pytest.mark.slow)],
)
def test_the_figure_of_a_law_has_the_printed_numbers(capsys, monkeypatch, command) -> None:
    kept: list = []
    monkeypatch.setattr("bayes_sota.core.plots.save_figure", lambda figure, _: kept.append(figure))
    printed = run_json(capsys, *command, "--prob", "0.8", "--save", "law.png")
    marks = {name: kept[0].viz[name]["density"].item() for name in ("expected_maximum", "interval")}
    assert list(marks["expected_maximum"].get_xdata()) == [printed["expected_maximum"]] * 2
    assert list(marks["interval"].get_xdata()) == printed["interval"]


def test_sota_has_the_keys_of_the_interface(capsys: pytest.CaptureFixture[str]) -> None:
    result = run_json(capsys, *BOARD)
    for name in (
        "theta_sota", "expected_sota", "winner_skill", "winner_new_score", "best_new_score",
    ):  # fmt: skip
        assert set(result[name]) == SUMMARY
    assert result["method"] == "exact"
    assert (result["n_test"], result["n_classifiers"], result["seed"]) == (200, 50, 1)
    assert result["n_test_source"] == "given"
    assert result["n_above_sota"] is None
    assert result["rho"]["learnt"] is False
    assert result["diagnostics"]["ok"] is True
    assert result["bias"] == pytest.approx(0.98 - result["theta_sota"]["mean"])
    assert result["winner_skill"]["mean"] < result["theta_sota"]["mean"] < 0.98
    tries = [row["value"] for row in result["sensitivity"]["n_classifiers"]]
    assert tries == [0.5, 2.0, 10.0]


def test_the_same_seed_gives_the_same_numbers_and_the_file_holds_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from bayes_sota.core.sample import read_result

    path, short = tmp_path / "result.nc", (*BOARD, "--quiet")
    first = run_json(capsys, *short)
    assert run_json(capsys, *short, "--save", str(path)) == first
    tree = read_result(path)
    mean = float(tree["posterior"]["theta_sota"].mean())
    assert mean == pytest.approx(first["theta_sota"]["mean"])
    assert tree.attrs["random_seed"] == "1"
    assert [p.name for p in tmp_path.iterdir()] == ["result.nc"]
    (low, high), (left, right) = (
        run_json(capsys, *short, "--prob", p)["theta_sota"]["interval"] for p in ("0.99", "0.5")
    )
    assert low < left < right < high


MANY = "sota --maximum 0.98 --n-test 200 --classifiers"
GIVEN = f"{MANY} 50"
AUCS = "maximum --metric auc --n-test 100 --classifiers 9 --theta 0.9"
LAW = "maximum --n-test 100 --classifiers 10"
REFUSED = f"""
sota --maximum 9.8 --n-test 200 --classifiers 50 | percent
sota --maximum 1.2 --n-test 200 --classifiers 50 | percent
sota --maximum -0.1 --n-test 200 --classifiers 50 | from 0 to 1, got -0.1
sota --maximum abc --n-test 200 --classifiers 50 | number
sota --maximum nan --n-test 200 --classifiers 50 | is missing: a number
sota --maximum 0.98 --n-test 0 --classifiers 50 | from 1 to
sota --maximum 0.98 --n-test -5 --classifiers 50 | from 1 to
sota --maximum 0.98 --n-test x --classifiers 50 | whole number
{MANY} 0 | from 1 to
{MANY} a:b | range A:B
{MANY} 50:10 | low < high
sota --maximum 0.911 --n-test 7 --classifiers 5 | 0.911 of 7 is between
sota --maximum 0.98 --n-test 200 | --classifiers
sota --n-test 200 --classifiers 5 | --maximum
{GIVEN} --prob 95 | 0.95
{GIVEN} --model nothing-like-it | nothing-like-it
{GIVEN} --save /no/such/directory/x.nc | does not exist
{GIVEN} --method magic | magic
{LAW} --theta 90 | 0.9
{LAW} --theta 0.9 --uniform 0.1 0.2 | either
{LAW} | either
{LAW} --uniform 0.5 0.9 --correlation 0.9 | feasible are correlations in [0,
{LAW} --uniform 0.9 0.5 | low < high
{AUCS} | --n-positive is missing: how many test items are positive
{AUCS} --n-positive 1 | --n-positive must be a whole number from 2 to 98
{AUCS} --n-positive 99 | from 2 to 98, got 99
{AUCS} --n-positive 20 --correlation 1 | at least 0 and below 1
{AUCS} --n-positive 20 --theta 0.4 | worse than chance
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_bad_input_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], line: str
) -> None:
    words, _, expected = line.partition(" | ")
    code, out, err = run(capsys, *words.split())
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert expected in err
