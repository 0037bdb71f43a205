"""Tables 2 and 4, Fig. 8 and 9, cassava and melanoma of Møllersen & Holsbø, recomputed."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from bayes_sota.cli.main import main
from bayes_sota.core.errors import InputError
from bayes_sota.published import Comparison, board_figure_names, reproduce, reproduce_figure
from bayes_sota.published.boards import Board
from bayes_sota.published.challenges import law_as_observed, shrunk
from bayes_sota.published.published_numbers import load_published
from bayes_sota.published.summary_boards import figure_8_data, figure_9_data

DATA = os.environ.get("BAYES_SOTA_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="BAYES_SOTA_DATA is not set")
NEEDING = ("table-2", "table-4", "cassava", "figure-8", "figure-9")
PUBLISHED = load_published("challenges")


@pytest.fixture(scope="module")
def on_boards() -> list[Comparison]:
    if not DATA:
        pytest.skip("BAYES_SOTA_DATA is not set")
    return reproduce(NEEDING, data=Path(DATA) / "kaggle")


def states(found: list[Comparison], item: str) -> dict[str, str]:
    return {one.quantity: one.state for one in found if one.item == item}


def test_nothing_is_off_on_the_real_boards(on_boards: list[Comparison]) -> None:
    counts = {
        item: [list(states(on_boards, item).values()).count(state)
               for state in ("reproduced", "differs", "not verifiable", "off")]
        for item in NEEDING
    }  # fmt: skip
    assert counts == {
        "table-2": [14, 39, 0, 0],
        "table-4": [5, 3, 0, 0],
        "cassava": [3, 4, 0, 0],
        "figure-8": [11, 3, 1, 0],
        "figure-9": [6, 1, 1, 0],
    }
    assert all("pinned" in one.note for one in on_boards if one.state == "differs")


def test_table_2_with_the_other_test_set_and_the_other_correlation(
    on_boards: list[Comparison],
) -> None:
    table = {one.quantity: one.computed for one in on_boards if one.item == "table-2"}
    assert table["size of the test set"] == 11_072
    estimates = [
        table["shrinking, expected: estimate"],
        table["n = 11,072, rho = 0.6: shrinking, expected: estimate"],
        table["n = 13,840, rho = 0.77: shrinking, expected: estimate"],
        table["n = 11,072, rho = 0.77: shrinking, expected: estimate"],
    ]
    assert [round(float(value), 4) for value in estimates if value] == [
        0.9071, 0.9064, 0.9082, 0.9077,
    ]  # fmt: skip
    rho = next(one.computed for one in reproduce(["mania"]) if one.quantity == "correlation")
    assert rho is not None
    assert round(rho, 2) == PUBLISHED["obesity"]["correlation_by_the_formula"]


@needs_data
@pytest.mark.parametrize("name", board_figure_names())
def test_figures_of_real_boards(tmp_path: Path, name: str) -> None:
    image, table = reproduce_figure(name, tmp_path, Path(str(DATA)) / "kaggle")
    assert image.read_bytes().startswith(b"\x89PNG")
    assert image.stat().st_size > 50_000
    marks = pd.read_csv(table).query("quantity == 'expected_maximum'").set_index("panel")["value"]
    expected = {"figure-8": [0.9159, 0.9116], "figure-9": [0.9132]}[name]
    assert marks.round(4).tolist() == expected


@pytest.fixture(scope="module")
def small() -> tuple[dict[str, Any], Board]:
    """200 teams of one kind and 100 of another, on the settings of the obesity challenge."""
    part = PUBLISHED["obesity"] | {"n_test": 2000}
    return part, Board(Path("small.csv"), np.repeat([0.885, 0.905], [200, 100]))


def test_figure_8_on_a_small_board(small: tuple[dict[str, Any], Board]) -> None:
    part, board = small
    data = figure_8_data(part, board)
    estimate = shrunk(part, board)
    marks = data[data["low"].isna()].set_index(["panel", "quantity"])["value"]
    assert marks["c", "estimate"] == estimate.estimate
    assert marks["d", "expected_maximum"] == pytest.approx(0.905, abs=1e-5)
    assert marks["b", "expected_maximum"] == law_as_observed(part, board).mean()
    for panel in "abcd":
        observed = bars(data, panel, "observed")
        assert observed["value"].sum() == 300
        inside = observed[(observed["low"] < 0.905) & (observed["high"] > 0.905)]
        assert inside["value"].tolist() == [100]
    weight = estimate.weight or 0.0
    skills = {"b": board.scores, "d": weight * board.scores + (1 - weight) / 7}
    for panel, thetas in skills.items():
        expected = bars(data, panel, "expected")
        low, high = (np.rint(expected[end] * 2000 + 0.5) for end in ("low", "high"))
        direct = [
            sum(float(binom.pmf(np.arange(a, b), 2000, theta).sum()) for theta in thetas)
            for a, b in zip(low, high, strict=True)
        ]
        np.testing.assert_allclose(expected["value"], direct, atol=1e-9)


def bars(data: pd.DataFrame, panel: str, quantity: str) -> pd.DataFrame:
    return data[(data["panel"] == panel) & (data["quantity"] == quantity)]


def test_fresh_boards_are_as_expected_on_average(small: tuple[dict[str, Any], Board]) -> None:
    """One draw after another, with other seeds: exact expected numbers, exact law of the best."""
    part, board = small
    drawn, best, size = [], [], 150
    for seed in range(size):
        figure = part["figure"] | {"seed": seed}
        data = figure_9_data(part | {"figure": figure, "top": [0]}, board)
        drawn.append(bars(data, "b", "drawn")["value"].to_numpy())
        best.append(bars(data, "b", "drawn_maximum")["value"].item())
    expected = bars(data, "b", "expected")["value"].to_numpy()
    error = np.std(drawn, axis=0) / np.sqrt(size)
    assert np.all(np.abs(np.mean(drawn, axis=0) - expected) <= 4.5 * error + 0.05)
    law = law_as_observed(part, board)
    assert np.mean(best) == pytest.approx(law.mean(), abs=4.5 * law.std() / np.sqrt(size))
    assert np.std(best) == pytest.approx(law.std(), rel=4.5 / np.sqrt(2 * size))


@pytest.mark.parametrize("item", [*NEEDING, "melanoma"])
def test_without_the_boards_it_says_where_to_get_them(item: str) -> None:
    (one,) = reproduce([item])
    assert one.state == "not verifiable"
    assert ("not available" in one.note) if item == "melanoma" else ("kaggle.com" in one.note)


def test_wrong_directories(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such directory"):
        reproduce(["table-2"], data=tmp_path / "nowhere")
    with pytest.raises(InputError, match="its private leaderboard; found 0"):
        reproduce(["table-2"], data=tmp_path)


def test_a_wrong_board_is_off(tmp_path: Path) -> None:
    rows = "".join(f"t{i},{0.5 + i / 1000:.5f}\n" for i in range(400))
    (tmp_path / "cassava-leaf-disease-classification-private.csv").write_text("team,score\n" + rows)
    assert "off" in {one.state for one in reproduce(["cassava"], data=tmp_path)}


def test_from_the_shell(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "table-4", "melanoma", "--json"])
    assert stopped.value.code in (0, None)
    assert {one["state"] for one in json.loads(capsys.readouterr().out)["items"]} == {
        "not verifiable"
    }
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "table-4", "--data", str(tmp_path / "x")])
    assert stopped.value.code == 2
    assert "no such directory" in capsys.readouterr().err


def test_the_address_of_a_board_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["reproduce", "table-2", "cassava", "figure-9"])
    shown = capsys.readouterr().out
    assert "table-2: needs" in shown
    whole = "the private leaderboard of kaggle.com/competitions/cassava-leaf-disease-classification"
    assert f"cassava, figure-9: needs {whole}" in shown


def test_figures_of_boards_are_not_drawn_without_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", "figure-2", "figure-8", "--output-dir", str(tmp_path), "--json"])
    assert stopped.value.code in (0, None)
    result = json.loads(capsys.readouterr().out)
    assert result["not_drawn"] == ["figure-8"]
    assert [Path(name).name for name in result["files"]] == ["figure-2.png", "figure-2.csv"]
    with pytest.raises(InputError, match=r"figure-9 needs .* kaggle\.com"):
        reproduce_figure("figure-9", tmp_path / "x")
    assert not (tmp_path / "x").exists()
