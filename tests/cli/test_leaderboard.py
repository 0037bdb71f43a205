"""``sota`` and ``board``: what is printed, what is written, and what is refused."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.files import run, run_json

import bayes_sota as bs

FEW = ("--seed", "1", "--quiet")
SUMMARY = {"mean", "median", "sd", "interval", "mcse"}
KEYS = {
    "method", "n_test", "n_test_source", "n_classifiers", "observed_maximum", "theta_sota",
    "expected_sota", "winner_skill", "winner_new_score", "best_new_score", "bias", "n_above_sota",
    "rho", "sensitivity", "diagnostics", "seed",
}  # fmt: skip
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boards")

    def write(name: str, header: str, rows: Any) -> None:
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    rng = np.random.default_rng(0)
    teams = [(f"team {k}", f"{k / 500:.3f}") for k in range(400, 460, 3)]
    write("teams", "team,score", [*teams, ("=1+1[red]", "0.922")])
    floored = [(k, f"{10_000 * k // 271 / 10_000:.4f}") for k in range(200, 250)]
    write("floored", "id,score", floored)
    leak = [*rng.binomial(2000, np.full(30, 0.8)) / 2000, 1.0]
    write("leak", "team,score", enumerate(leak))
    write("lone", "team,score", [("a", 0.9), ("b", 0.6), ("c", 0.61)])
    skewed = rng.binomial(500, 0.9 - 0.1 * rng.exponential(size=60).clip(0, 4)) / 500
    write("skewed", "team,score", [(f"t{i}", f"{s:.3f}") for i, s in enumerate(skewed)])
    aucs = 0.6 + 0.3 * np.linspace(0, 1, 40) ** 0.5
    write("aucs", "team,score", [(f"t{i}", f"{a:.6f}") for i, a in enumerate(aucs)])
    errors = 1.2 + 0.1 * rng.gamma(2, 1, 30)
    write("errors", "team,score", [(f"t{i}", f"{x:.4f}") for i, x in enumerate(errors)])
    right = [(f"q{i}", *(int(i % k > 0) for k in (7, 5, 3))) for i in range(90)]
    write("answers", "item,tree,forest,stump", right)
    labels = np.arange(300) < 60
    values = 1.6 * labels[:, None] + rng.standard_normal((300, 1)) + rng.standard_normal((300, 6))
    rows = zip(range(300), labels.astype(int), *values.T.round(5), strict=True)
    write("outputs", "id,label,a,b,c,d,e,f", rows)
    return folder


def scores_of(file: Path) -> np.ndarray:
    return np.array([float(line.split(",")[1]) for line in file.read_text().splitlines()[1:]])


def test_sota_has_the_keys_of_the_interface(capsys: Capture, files: Path) -> None:
    result = run_json(capsys, "sota", files / "teams.csv", "--n-test", 500, "--seed", 1)
    assert set(result) >= KEYS
    assert (result["rho"]["learnt"], result["n_test_source"]) == (False, "given")
    assert {"rho", "family", "n_classifiers"} <= set(result["sensitivity"])
    assert sum(result["families"].values()) == pytest.approx(1)
    assert result["theta_sota"]["mean"] < result["observed_maximum"]
    board = bs.read_leaderboard(files / "teams.csv", n_test=500)
    report = bs.leaderboard.report_sota(board, random_seed=1, sensitivity=False)
    same = result.keys() - {"schema_version", "sensitivity", "text"}
    assert {key: report.to_dict()[key] for key in same} == {key: result[key] for key in same}
    assert report.to_csv().startswith("quantity,mean,median,sd,lower,upper,mcse\ntheta_sota,")
    assert "| theta\\_sota | 0." in report.to_markdown()


@pytest.mark.slow
def test_leaked_answers_exit_with_1(capsys: Capture, files: Path) -> None:
    base = ("sota", files / "leak.csv", "--n-test", 2000, *FEW, "--quiet")
    code, _, error = run(capsys, *base)
    assert code == 1
    assert "probably leaked" in error


REFUSED = {
    "sota {teams}": [
        ("", "--n-test is missing"),
        ("--n-test many", '--n-test takes a whole number or a range A:B or infer, got "many"'),
        ("--n-test 500 --maximum 0.9", "but not both"),
        ("--n-test 500 --n-test 600", "one FILE takes one --n-test"),
        ("--n-test 500 --column score=auc", '"team", "score"'),
        ("--n-test 500 --model observed-maximum", "for observed maxima"),
        ("--n-test 500 --correlation 1.2", "correlation"),
        ("--n-test 500 --field ensembles --correlation 0.5", "no effect on a known correlation"),
        ("--n-test 500 --method abc", "reads the best score alone: give that one as --maximum"),
        ("--n-test 500 --new-score 92", "in percent? then write 0.92"),
        ("--n-test 100 --lower-is-better", "give --standard-error SE"),
        ("--metric auc --n-test infer --n-positive 9", "1,000,000,000, got infer"),
        ("--metric auc --n-test 100", "--n-positive is missing"),
    ],
    "sota {outputs}": [
        ("--lower-is-better", "larger is better for"),
        ("--column label=none", 'there is no column "none"'),
    ],
    "sota --metric auc --n-test 100 --classifiers 9": [
        ("--maximum 0.49 --n-positive 51", "above 0.5 and at most 1, got 0.49"),
        ("--maximum 1.2 --n-positive 51", "from 0 to 1, got 1.2"),
        ("--maximum 0.9", "--n-positive is missing"),
        ("--maximum 0.9 --n-positive 1", "--n-positive must be a whole number from 2 to 98, got 1"),
        ("--maximum 0.9 --n-positive 50 --lower-is-better", "write an error rate e as 1 - e"),
        ("--maximum 0.9 --n-positive 50 --standard-error 1", "--standard-error has no effect"),
    ],
    "board {teams}": [
        ("", "--n-test is missing"),
        ("--n-test 500 --top 0", "--top must be a whole number from 1"),
        ("--n-test 500 --prob 95", "then write 0.95"),
        ("--n-test 7", "no number of right answers"),
        ("--n-test 500 --metric score", "need --standard-error"),
        ("--n-test 500 --submissions 1.5", 'takes a whole number or a range A:B, got "1.5"'),
        ("--n-test 500 --submissions 9:2", "1 <= low < high, got 9:2"),
        ("--n-test many", '--n-test takes a whole number or infer; of tasks 100,200'),
        ("--n-test 500 --model epp", "for whole boards, all scores or answers: ensembles, image-"),
        ("--n-test 500 --domain tabular --model leaderboard", "--domain has no effect on a model"),
        ("--n-test 500 --domain tables", "'tables' is not one of"),
        ("--n-test 500 --field votes", "'votes' is not one of 'single', 'ensembles'"),
        ("--n-test 500 --model eppp", "unknown model 'eppp'; allowed: "),
        ("--n-test 500 --model paired-boards", "'paired-boards' is for a public and a private"),
    ],
    "sota --maximum 0.9 --metric score --classifiers 9": [
        ("--standard-error 1e100", "above 0 and below 1, got 1e+100"),
    ],
    "sota --maximum 0.9 --n-test 100 --classifiers 9": [
        ("--model items", "with bs.items.build_model; models for observed maxima"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("command", "message"),
    [(f"{base} {typed}", message) for base, cases in REFUSED.items() for typed, message in cases],
)
def test_refusals(capsys: Capture, files: Path, command: str, message: str) -> None:
    places = {name: str(files / f"{name}.csv") for name in ("teams", "outputs")}
    code, out, error = run(capsys, *(word.format(**places) for word in command.split()))
    assert (code, out, error.count("\n")) == (2, "", 1)
    assert error.startswith("error: ")
    assert message in error


@pytest.mark.parametrize(
    ("typed", "notes"),
    [
        ("sota {teams} --n-test 500 --top 3 --n-classes 2", 2),
        ("sota {answers} --n-test 500", 1),
        ("sota --maximum 0.9 --n-test 100 --classifiers 9 --column score=x", 1),
    ],
)
def test_options_that_change_nothing_are_noted(
    capsys: Capture, files: Path, typed: str, notes: int
) -> None:
    places = {name: str(files / f"{name}.csv") for name in ("teams", "answers")}
    line = [word.format(**places) for word in typed.split()]
    few = ("--seed", "1", "--json")
    code, _, error = run(capsys, *line, *few)
    assert (code, error.count("note: no effect on "), error.count("\n")) == (0, notes, notes)
    assert run(capsys, *line, *few, "--quiet")[2] == ""


BEST_AUC = "--maximum 0.93 --metric auc --n-test 900 --n-positive 90 --classifiers 50"


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        (BEST_AUC, ["an AUC of 90 positive and 810 negative items"]),
        pytest.param(f"{BEST_AUC} --method abc", ["an AUC of 90 positive"],
                     marks=pytest.mark.slow),
        ("--maximum 0.81 --metric score --standard-error 0.01 --classifiers 30",
         ["with a standard error of 0.01"]),
        ("--maximum 0.91 --n-test 500 --classifiers 5:50",
         ["\nThe best of about 16 classifiers, whichever it is (theta_sota), would score 9",
          "\nThe best score of about 16 classifiers is 0.91, read as 453 to 457 right"]),
        ("--maximum 1 --n-test 1 --classifiers 10", ["read as 1 right answer of 1"]),
    ],
)  # fmt: skip
def test_what_is_said_of_a_best_score(capsys: Capture, typed: str, words: list[str]) -> None:
    code, out, error = run(capsys, "sota", *typed.split(), "--seed", 1, "--quiet")
    assert (code, error) == (0, "")
    assert all(word in out for word in words)


def test_board_has_the_keys_of_the_interface(capsys: Capture, files: Path) -> None:
    result = run_json(capsys, "board", files / "teams.csv", "--n-test", 500, "--seed", 1)
    assert result["schema_version"] == "2"
    first = result["entries"][0]
    assert first["name"] == "=1+1[red]"
    assert {"name", "score", "skill", "rank_interval", "p_best", "tied_with_best"} <= set(first)
    assert first["skill"]["interval"][0] < first["skill"]["mean"] < first["score"]
    assert sum(entry["p_best"] for entry in result["entries"]) == pytest.approx(1, abs=1e-4)
    assert set(result["theta_sota"]) == SUMMARY
    assert (result["n_test"], result["n_test_source"]) == (500, "given")
    assert (result["seed"], result["prob"]) == (1, 0.95)


@pytest.mark.slow
def test_board_prints_a_short_table_and_writes_all_entries(
    capsys: Capture, files: Path, tmp_path: Path
) -> None:
    base = ("board", files / "teams.csv", "--n-test", 500, "--seed", 1)
    target = tmp_path / "table.csv"
    code, out, error = run(capsys, *base, "--top", 4, "--save", target)
    assert (code, error) == (0, "")
    for words in (
        "teams: 21 entries; 17 more with --top", "=1+1[red]", "team 457",
        "(theta_sota)", "may be the best", "500 test items (number given)", "Note: ",
        "Seed 1; --seed N draws others.",
    ):  # fmt: skip
        assert words in out
    assert "team 400" not in out
    assert "Note: " not in run(capsys, *base, "--quiet")[1]
    content = target.read_text()
    assert all(f"team {k}" in content for k in range(400, 460, 3))
    assert "1,'=1+1[red],0.922," in content


@pytest.mark.slow
def test_real_answers(capsys: Capture, data_directory: Path) -> None:
    path = data_directory / "cifar10" / "correct_cifar10_test.csv"
    result = run_json(capsys, "board", path, "--seed", 1)
    assert (result["n_test"], result["n_tied_with_best"]) == (10_000, 5)
    assert result["entries"][0]["name"] == "shake_shake_26_2x64d_SSI_cutout16"


@pytest.mark.slow
def test_a_contaminated_real_board_exits_with_1(capsys: Capture, data_directory: Path) -> None:
    path = data_directory / "kaggle" / "spaceship-titanic__private.csv"
    code, out, error = run(capsys, "board", path, "--n-test", "infer", "--seed", 1, "--json")
    assert code == 1
    assert error.startswith("warning: not to be trusted: ")
    assert json.loads(out)["n_test"] == 4277
    assert "leaked" in json.loads(out)["diagnostics"]["reasons"][0]


@pytest.mark.slow
def test_the_sentence_counts_entries_and_those_that_share_the_best_score() -> None:
    scores = ["0.900", "0.900", "0.900", "0.888", "0.880", "0.860", "0.850"]
    tied = bs.Leaderboard(scores, n_test=500)
    alone = bs.Leaderboard(["0.902", *scores[1:]], n_test=500, n_classifiers=20)
    answers = np.random.default_rng(0).random((300, 4)) < 0.8
    responses = bs.Outcomes(answers)
    said = [
        bs.leaderboard.report_sota(board, sensitivity=False, random_seed=0).sentences[2]
        for board in (tied, alone, responses)
    ]
    assert said[0].startswith(
        "The best score of 7 entries is 0.900 on 500 test items (number given), shared by 3."
    )
    assert said[1].startswith("The best score of 20 classifiers is 0.902 on 500 test items ")
    assert f"is {responses.scores.max():.3f} on 300 test items (rows of the matrix)" in said[2]
