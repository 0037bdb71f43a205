"""Kinds of fields: downloads of competitions imply ensembles, and every route takes their prior."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayes_sota as bs
from bayes_sota.cli import main
from bayes_sota.core.priors import board_priors

SCORES = [f"0.{850 - 3 * place}" for place in range(12)]
TAKEN = "entries of a competition are taken for ensembles"
N_TEST = ("--n-test", "1000")
SOTA = ("--quiet",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same board as a download and as a table, and a private board of the same teams."""
    place = tmp_path_factory.mktemp("fields")
    header = "TeamId,TeamName,SubmissionDate,Score"
    for name, scores in {"download": SCORES, "private": SCORES[::-1]}.items():
        rows = [f"{i},team {i},2024-03-02,{score}" for i, score in enumerate(scores)]
        (place / f"{name}.csv").write_text("\n".join([header, *rows]))
    rows = [f"team {i},{score}" for i, score in enumerate(SCORES)]
    (place / "table.csv").write_text("\n".join(["team,score", *rows]))
    return place


def answer(*arguments: object) -> dict[str, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), pytest.raises(SystemExit) as stop:
        main([*map(str, arguments), "--seed", "1", "--json"])
    assert stop.value.code == 0
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("command", ["sota", "board"])
def test_a_download_is_a_field_of_ensembles_unless_told_otherwise(
    folder: Path, command: str
) -> None:
    options = (*N_TEST, *(SOTA if command == "sota" else ()))
    told = answer(command, folder / "download.csv", *options)
    asked = answer(command, folder / "table.csv", *options, "--field", "ensembles")
    single = answer(command, folder / "download.csv", *options, "--field", "single")
    plain = answer(command, folder / "table.csv", *options)
    notes = [
        sum(TAKEN in note for note in found["notes"]) for found in (told, asked, single, plain)
    ]
    assert notes == [1, 0, 0, 0]
    rho = [found["rho"] for found in (told, asked, single, plain)]
    assert rho[0] == rho[1] != rho[2] == rho[3]


@pytest.mark.slow
def test_two_downloads_of_one_competition_are_a_field_of_ensembles(folder: Path) -> None:
    files = folder / "download.csv", folder / "private.csv"
    boards = bs.read_paired_boards(*files)
    assert boards.is_competition
    tree = bs.estimate_sota(boards, draws=20, chains=2, groups="estimands")
    assert tree.attrs["model_name"] == "paired-boards-ensembles"
    assert any(TAKEN in note for note in bs.leaderboard.describe_paired(tree, boards).notes)
    single = bs.estimate_sota(boards, field="single", draws=20, chains=2, groups="estimands")
    assert single.attrs["model_name"] == "paired-boards"


@pytest.mark.slow
def test_python_takes_what_the_shell_takes(folder: Path) -> None:
    board = bs.read_leaderboard(folder / "download.csv", n_test=1000)
    names = []
    for data in (board, board.maximum_only()):
        tree = bs.estimate_sota(data, draws=50, chains=2, groups="estimands")
        names.append(tree.attrs["model_name"])
    assert names == ["ensembles", "observed-maximum-ensembles"]
    own = bs.estimate_sota(board, priors=bs.Priors(), draws=50, chains=2, groups="estimands")
    assert own.attrs["model_name"] == "unnamed"
    report = bs.leaderboard.report_sota(board.maximum_only(), sensitivity=False)
    assert TAKEN in report.notes[0]
    assert TAKEN in report.content["notes"][0]
    tabular = bs.estimate_sota(board, domain="tabular", draws=50, chains=2, groups="estimands")
    assert tabular.attrs["model_name"] == "tabular-ensembles"


OWN = bs.Leaderboard(SCORES, n_test=[1000, 800] * 6)


@pytest.mark.slow
@pytest.mark.parametrize(
    "board",
    [bs.Leaderboard(SCORES, n_test=1000), OWN, bs.Leaderboard(SCORES, n_test=1000).maximum_only()],
    ids=["scores", "own errors", "maximum"],
)
def test_the_sensitivity_has_the_other_kind_of_field(board: Any) -> None:
    """The second route: what is estimated where that kind is asked for."""
    rows = bs.sota_sensitivity(board, draws=4000).set_index("assumption")
    assert rows.loc["field", "value"] == "ensembles"
    tree = bs.estimate_sota(board, field="ensembles", draws=1000, chains=4, random_seed=2)
    theta, row = tree["posterior"]["theta_sota"].values, rows.loc["field"]
    error = 5 * np.sqrt(2) * 2 * row["mcse"]  # points are fewer than draws: mcse is up to twice
    assert row["mean"] == pytest.approx(theta.mean(), abs=error)
    assert row["upper"] - row["lower"] == pytest.approx(
        np.diff(np.quantile(theta, [0.025, 0.975]))[0], rel=0.15
    )
    ensembles = bs.load_model("ensembles").priors
    back = bs.sota_sensitivity(
        board, priors=bs.Priors(correlation=ensembles.correlation), draws=200
    ).set_index("assumption")
    assert back.loc["field", "value"] == "single"


def test_a_prior_of_no_kind_has_no_other_kind() -> None:
    board = bs.Leaderboard(SCORES, n_test=1000)
    priors = bs.Priors(correlation=bs.core.BetaCorrelation(3.3, 1.1))
    assert "field" not in set(bs.sota_sensitivity(board, priors=priors, draws=50)["assumption"])
    assert board_priors(None).correlation == bs.load_model("leaderboard").priors.correlation
