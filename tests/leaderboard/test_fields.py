"""Kinds of fields: downloads of competitions imply ensembles, and every route takes their prior."""

from typing import Any

import numpy as np
import pytest

import bayes_sota as bs

SCORES = [f"0.{850 - 3 * place}" for place in range(12)]
BOARD = bs.Leaderboard(SCORES, n_test=1000)
FEW: dict[str, Any] = {"draws": 20, "chains": 2, "groups": "estimands"}


def test_a_download_is_a_field_of_ensembles_unless_told_otherwise(tmp_path) -> None:
    paths = tmp_path / "download.csv", tmp_path / "private.csv"
    for path, scores in zip(paths, (SCORES, SCORES[::-1]), strict=True):
        rows = [f"{i},team {i},2024-03-02,{score}" for i, score in enumerate(scores)]
        path.write_text("\n".join(["TeamId,TeamName,SubmissionDate,Score", *rows]))
    board, two = bs.read_leaderboard(paths[0], n_test=1000), bs.read_paired_boards(*paths)
    for data, options, model in (
        (board, {}, "ensembles"),
        (board, {"field": "single"}, "leaderboard"),
        (board, {"priors": bs.Priors()}, "unnamed"),
        (board, {"domain": "tabular"}, "tabular-ensembles"),
        (board.maximum_only(), {}, "observed-maximum-ensembles"),
        (BOARD, {}, "leaderboard"),
        (BOARD, {"field": "ensembles"}, "ensembles"),
        (two, {}, "paired-boards-ensembles"),
        (two, {"field": "single"}, "paired-boards"),
    ):
        assert bs.estimate_sota(data, **options, **FEW).attrs["model_name"] == model


@pytest.mark.slow
@pytest.mark.parametrize("board", [BOARD, BOARD.maximum_only()], ids=["scores", "maximum"])
def test_the_sensitivity_has_the_other_kind_of_field(board: Any) -> None:
    """The second route is an estimate with that kind."""
    rows = bs.sota_sensitivity(board, draws=4000).set_index("assumption")
    assert rows.loc["field", "value"] == "ensembles"
    tree = bs.estimate_sota(board, field="ensembles", draws=1000, chains=4, random_seed=2)
    theta, row = tree["posterior"]["theta_sota"].values, rows.loc["field"]
    error = 5 * np.sqrt(2) * 2 * row["mcse"]  # points are fewer than draws: mcse is up to twice
    assert row["mean"] == pytest.approx(theta.mean(), abs=error)
    width = np.diff(np.quantile(theta, [0.025, 0.975]))[0]
    assert row["upper"] - row["lower"] == pytest.approx(width, rel=0.15)
    for prior, kinds in (
        (bs.load_model("ensembles").priors.correlation, ["single"]),
        (bs.core.BetaCorrelation(3.3, 1.1), []),
    ):
        frame = bs.sota_sensitivity(board, priors=bs.Priors(correlation=prior), draws=50)
        assert frame.loc[frame["assumption"] == "field", "value"].tolist() == kinds
