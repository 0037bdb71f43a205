"""Tables 2 and 4, cassava, melanoma and AUC of Møllersen & Holsbø, recomputed."""

import json
import os
from pathlib import Path

import pytest

from bayes_sota.cli.main import main
from bayes_sota.errors import InputError
from bayes_sota.reproduce import reproduce

DATA = os.environ.get("BAYES_SOTA_DATA")
needs_data = pytest.mark.skipif(not DATA, reason="BAYES_SOTA_DATA is not set")
NEEDING = ("table-2", "table-4", "cassava")


@needs_data
def test_nothing_is_off_on_the_real_boards() -> None:
    found = reproduce(NEEDING, data=Path(str(DATA)) / "kaggle")
    states = [one.state for one in found]
    assert "off" not in states
    assert "not verifiable" not in states
    assert states.count("reproduced") == 21
    assert all("pinned" in one.note for one in found if one.state == "differs")


def test_auc() -> None:
    states = {one.quantity: one.state for one in reproduce(["auc"])}
    assert states == {
        "expected": "differs",
        "sd": "reproduced",
        "lower limit": "differs",
        "upper limit": "reproduced",
    }


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
