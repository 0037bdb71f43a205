"""The leaderboard as a table: the numbers of the fit, names as plain text."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_sota.epp_table import epp_table, tournaments_table
from bayes_sota.errors import InputError
from bayes_sota.exact.bradley_terry import fit_epp
from bayes_sota.exact.tournaments import fit_tournaments
from bayes_sota.simulate_tournament import simulate_tournament

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
