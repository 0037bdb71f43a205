"""Tables and probabilities, against counting and formulas; names as plain text."""

import numpy as np
import pytest
import xarray as xr
from simulated_tournaments import simulate_tournament

from bayes_sota.epp.fit import fit_epp, fit_tournaments, tournaments_tree
from bayes_sota.epp.summary import _compared, epp_table, report_fit, report_tournaments


def result() -> xr.DataTree:
    """Draws of three players' skills."""
    draws = np.random.default_rng(0).normal([0.6, 0.1, -0.7], 0.5, (4, 500, 3))
    content = {"epp": (("chain", "draw", "player"), draws)}
    posterior = xr.Dataset(content, coords={"player": ["worst", "best", "middle"]})
    return xr.DataTree.from_dict({"posterior": posterior})


def test_table_of_players() -> None:
    tree = result()
    table = epp_table(tree, 0.9).frame.set_index("player")
    skills = tree["posterior"]["epp"].values.reshape(-1, 3)
    assert list(table.index) == ["worst", "best", "middle"]  # names are names
    assert table["p_best"].sum() == pytest.approx(1)
    assert table.loc["best", "p_best"] == np.mean(skills.argmax(axis=1) == 1)
    independent = np.sqrt(table["p_best"] * (1 - table["p_best"]) / len(skills))
    assert table["p_best_mcse"].to_numpy() == pytest.approx(independent.to_numpy(), rel=0.2)
    ranks = 1 + (skills[:, None, :] > skills[:, :, None]).sum(axis=2)
    assert table["rank"].tolist() == [1, 2, 3]
    assert table["rank_upper"].tolist() == np.quantile(ranks, 0.95, axis=0).tolist()
    assert table["rank_lower"].tolist() == np.quantile(ranks, 0.05, axis=0).tolist()
    assert table.loc["worst", "lower"] == pytest.approx(np.quantile(skills[:, 0], 0.05))
    beats = np.mean(1 / (1 + np.exp(-skills[:, 2])))
    assert table.loc["middle", "p_beats_average"] == pytest.approx(beats)


def test_a_pair() -> None:
    tree = result()
    skills = tree["posterior"]["epp"].values.reshape(-1, 3)
    difference = skills[:, 0] - skills[:, 2]
    p = 1 / (1 + np.exp(-difference))
    found = _compared(tree, "worst", "middle", 0.9)
    assert found["p_better"] == np.mean(difference > 0)
    assert found["win_probability"] == pytest.approx(p.mean())
    assert found["win_probability_interval"] == pytest.approx(np.quantile(p, [0.05, 0.95]))


def test_overlapping_splits_are_noted_unless_they_are_allowed_for() -> None:
    splits = simulate_tournament([1, 0, -1], 20, random_seed=0)
    plain, corrected = (report_fit(fit_epp(splits, test_fraction=q)).notes for q in (None, 0.1))
    assert any("splits of one data set overlap" in note for note in plain)
    assert corrected == []


def test_tournaments_have_gaps_where_a_player_is_missing() -> None:
    tables = [
        simulate_tournament([1, 0, -1], 20, players=list(names), tournament=names, random_seed=0)
        for names in ("abc", "bcd")
    ]
    fits = list(fit_tournaments(tables))
    epp = tournaments_tree(fits)["point_estimate"]["epp"]
    assert epp.sel(tournament="abc", player="d").isnull()
    assert float(epp.sel(tournament="bcd", player="d")) == fit_epp(tables[1]).epp[2]
    frame = report_tournaments(fits).frame
    assert frame["tournament"].tolist() == ["abc"] * 3 + ["bcd"] * 3
    assert frame["lower"].tolist()[3:] == sorted(fits[1].interval()[:, 0], reverse=True)
