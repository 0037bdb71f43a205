"""The leaderboard as a table: the numbers of the fit, names as plain text."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_sota.core.errors import InputError
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.local_rope import local_rope_matches
from bayes_sota.epp.simulate import simulate_tournament
from bayes_sota.epp.summary_table import epp_table, tournaments_table
from bayes_sota.epp.tournaments import fit_tournaments

NAMES = ["=cmd()", "a|b", "<b>c</b>", "d"]


def test_numbers_of_the_fit() -> None:
    fit = fit_epp(simulate_tournament([0.5, 1.0, 0.0, -1.0], 20, players=NAMES, random_seed=0))
    frame = epp_table(fit, 0.9).frame
    order = np.argsort(-fit.epp)
    assert frame["player"].tolist() == [NAMES[k] for k in order]
    assert frame["epp"].tolist() == fit.epp[order].tolist()
    assert frame[["lower", "upper"]].to_numpy() == pytest.approx(fit.interval(0.9)[order])
    assert frame[["rank_lower", "rank_upper"]].to_numpy().tolist() == (
        fit.rank_interval(0.9)[order].tolist()
    )
    assert frame["tied_with_best"].tolist() == fit.tied_with_best(0.9)[order].tolist()
    assert frame["rank"].tolist() == [1, 2, 3, 4]


def test_names_stay_text(tmp_path: Path) -> None:
    table = epp_table(
        fit_epp(simulate_tournament([0.5, 1.0, 0.0, -1.0], 20, players=NAMES, random_seed=0))
    )
    text = table.to_csv()
    assert "'=cmd()" in text
    again = pd.read_csv(io.StringIO(text))
    assert again["epp"].to_numpy() == pytest.approx(table.frame["epp"].to_numpy())
    markdown = table.to_markdown()
    assert "a\\|b" in markdown
    assert "<b>" not in markdown
    table.save(tmp_path / "table.json")
    players = json.loads((tmp_path / "table.json").read_text())["players"]
    assert players[0]["interval"] == [table.frame["lower"][0], table.frame["upper"][0]]


def test_several_tournaments_one_below_the_other() -> None:
    tables = [
        simulate_tournament([1, 0, -1], 20, tournament=name, random_seed=k)
        for k, name in enumerate("xy")
    ]
    table = tournaments_table(fit_tournaments(tables))
    assert table.frame["tournament"].tolist() == ["x"] * 3 + ["y"] * 3
    fit = fit_epp(tables[1])
    rows = table.frame[table.frame["tournament"] == "y"].set_index("player")
    for place, player in enumerate(fit.players):
        assert rows.loc[player, "lower"] == pytest.approx(fit.interval()[place, 0])
        assert rows.loc[player, "rank"] == fit.rank[place]
    assert table.header()[0] == "tournament"
    with pytest.raises(InputError, match="prob"):
        epp_table(fit, 2.0)


@pytest.mark.parametrize(
    ("matches", "begins", "unit"),
    [
        ("same-round", "In every round each two players that have a score play once", "rounds"),
        ("all-rounds", "Every score of a player meets every score of another", "matches"),
        ("listed", "A gap of 1 in EPP", "matches"),
    ],
)
def test_the_legend_says_which_matches_were_played(matches: str, begins: str, unit: str) -> None:
    table = simulate_tournament([1.0, 0.0, -1.0], 12, random_seed=0)
    data = local_rope_matches(table_of_folds(table)) if matches == "listed" else table
    kind = "same-round" if matches == "listed" else matches
    legend = epp_table(fit_epp(data, kind, penalty=0.5)).legend()[0]
    assert legend.startswith(begins)
    assert f"wins 73 % of the {unit}" in legend


def table_of_folds(table: ScoreTable) -> ScoreTable:
    groups = [f"data {k // 4}" for k in range(table.n_rounds)]
    return ScoreTable(table.scores, players=table.players, groups=groups)
