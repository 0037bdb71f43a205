"""``bayes-sota paired`` and its result: keys, schema, exit codes, one line for bad input."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs
from bayes_sota.cli import main
from bayes_sota.core.sample import read_result
from bayes_sota.core.schema import ATTRIBUTES, GROUPS

SIZES = ("--n-test-public", "500", "--n-test-private", "1500")


def run(*arguments: object) -> tuple[int, str, str]:
    out, error = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
        pytest.raises(SystemExit) as stop,
    ):
        main(["paired", *map(str, arguments)])
    return int(stop.value.code or 0), out.getvalue(), error.getvalue()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(4)
    theta = 0.8 - 0.05 * rng.exponential(size=36)
    x, y = (rng.binomial(n, theta) / n for n in (500, 1500))
    rows = [f"[bold]t{i},{a},{b}" for i, (a, b) in enumerate(zip(x, y, strict=True))]
    path = tmp_path_factory.mktemp("paired") / "boards.csv"
    path.write_text("\n".join(["team,public_score,private_score", *rows]))
    return path


@pytest.fixture(scope="module")
def known(table: Path) -> tuple[dict[str, Any], xr.DataTree]:
    """What is said, and the result, where the sizes of both test sets are known."""
    output = table.with_name("known.nc")
    code, out, err = run(table, *SIZES, "--seed", 1, "--json", "--save", output)
    assert (code, err) == (0, "")
    return json.loads(out), read_result(output)


@pytest.mark.slow
def test_json(known: tuple[dict[str, Any], xr.DataTree], table: Path) -> None:
    result, tree = known
    assert result["schema_version"] == "2"
    assert result["rho"]["learnt"] is True
    assert (result["n_test"], result["seed"]) == ([500, 1500], 1)
    assert result["model"] == tree.attrs["model_name"] == "paired-boards"
    assert tree.attrs["model_hash"] == bs.load_model("paired-boards").specification_hash
    winner = result["public_winner"]
    assert winner["shrinkage"] == pytest.approx(winner["public_score"] - winner["expected_private"])
    assert 0 <= winner["p_best"] <= 1
    assert result["diagnostics"]["ok"]
    report = bs.leaderboard.describe_paired(tree, bs.read_paired_boards(table, n_test=(500, 1500)))
    assert report.to_dict()["best"] == result["best"]
    assert report.to_csv().startswith("quantity,mean,lower,upper\ntheta_sota,")


@pytest.mark.slow
def test_the_figure_shows_the_best_public_score(
    known: tuple[dict[str, Any], xr.DataTree], table: Path, tmp_path: Path
) -> None:
    result, tree = known
    figure = bs.plot_sota(tree, backend="none")
    marks = figure.viz["score"]["skill"].item()
    best = result["public_winner"]["public_score"]
    assert set(marks["x"].tolist()) == {result["observed_maximum"]} == {best}
    files = [tmp_path / name for name in ("a.svg", "a.html")]
    code, _, err = run(table, *SIZES, "--seed", 1, "--save", files[0], "--save", files[1])
    assert (code, err) == (0, "")
    assert all(file.stat().st_size > 5_000 for file in files)


def test_the_result_has_the_schema(known: tuple[dict[str, Any], xr.DataTree]) -> None:
    tree = known[1]
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    shape = (4, 250, tree.attrs["n_kept"])
    assert tree["posterior"]["skill"].shape == shape
    assert tree["predictions"]["public_gain"].shape == shape
    assert tree["posterior_predictive"]["score"].dims[2:] == ("classifier", "board")
    theta = tree["posterior"]["theta_sota"].values
    assert np.all(theta >= tree["posterior"]["skill"].values.max(axis=-1) - 1e-12)
    assert np.all(theta >= tree["posterior"]["winner_skill"].values)
    assert "winner_skill" in bs.summarize(tree).index


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--n-test-public", "10"), "--n-test-private is missing"),
        (("--standard-error-private", "1"), "--standard-error-public is missing"),
        (("--prob", "95"), "above 0 and below 1"),
        (("--column", "public=x"), 'there is no column "x"'),
        (("--model", "leaderboard"), "private board: paired-boards, paired-random-split"),
    ],
)
def test_errors(table: Path, options: tuple[str, ...], message: str) -> None:
    code, out, err = run(table, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert message in err
