"""The badge of a leaderboard: what it says, and that it is whole and safe."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.tables import Report


def table_of(*scores: float, n: int = 500) -> Report:
    return bs.board_table(bs.Leaderboard(list(scores), n_test=n), random_seed=0)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (lambda: table_of(0.93, 0.92, 0.7), "ranks 1 to 2 cannot be told apart"),
        (lambda: table_of(0.93, 0.8, 0.7), "rank 1 of 3 is sure"),
        (lambda: table_of(1.0, *[0.7, 0.71, 0.72] * 8, n=1000), "ranks not to be trusted"),
    ],
)
def test_image_and_endpoint_say_the_same(table, message: str, tmp_path: Path) -> None:
    found = table()
    for ending in ("svg", "json"):
        bs.leaderboard.save_badge(found, tmp_path / f"badge.{ending}")
    endpoint = json.loads((tmp_path / "badge.json").read_text(encoding="utf-8"))
    assert (endpoint["schemaVersion"], endpoint["message"]) == (1, message)
    image = ElementTree.parse(tmp_path / "badge.svg").getroot()
    texts = [part.text for part in image.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == [endpoint["label"], message]
    widths = [float(part.get("width")) for part in image.iter("{http://www.w3.org/2000/svg}rect")]
    assert sum(widths) == float(image.get("width"))
    assert endpoint["color"] in (tmp_path / "badge.svg").read_text(encoding="utf-8")


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"\.svg or \.json"):
        bs.leaderboard.save_badge(table_of(0.9, 0.8), tmp_path / "badge.txt")
    assert not list(tmp_path.iterdir())
