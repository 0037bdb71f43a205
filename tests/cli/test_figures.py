"""The figure of every command, as a reader sees it: nothing empty, cut off, hidden or in code."""

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.text import Text

from bayes_sota.cli import main
from bayes_sota.data.examples import write_examples

COMMANDS = (
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim batch claims.csv",
    "claim responses answers.csv --seed 1",
    "epp rounds.csv --seed 1",
    "board answers.csv --seed 1",
    "sota answers.csv --seed 1",
    "sota leaderboard.csv --n-test 250 --seed 1 --quiet",
    "sota --maximum 0.91157 --rounding floor --n-test 11072 --classifiers 3558 --seed 1 --quiet",
    "paired public_private.csv --n-test-public 250 --n-test-private 1000 --seed 1",
    "cv judge cross_validation.csv --rule fixed --threshold 5 --seed 1",
    "maximum --n-test 3000 --classifiers 1000 --theta 0.9 --correlation 0.6",
)
CODE = re.compile(r"[a-z]+_[a-z]+|\btheta|\brho\b|P\(theta\)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("figures")
    write_examples(folder / "examples")
    return folder / "examples"


def drawn(command: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Figure:
    """The figure that a command draws, in the size in which it is written."""
    kept: list[Any] = []
    monkeypatch.setattr("bayes_sota.core.plots.save_figure", lambda figure, _: kept.append(figure))
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--quiet", "--save", str(folder / "figure.svg")])
    assert stop.value.code in (0, None)
    figure: Figure = kept[0].viz["figure"].item()
    figure.canvas.draw()
    return figure


def texts_of(figure: Figure) -> list[Text]:
    """Texts that are seen; of an axis those within its range."""
    hidden = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks() + axis.get_minor_ticks()
        if not (axes.axison and axis.get_visible())
        or not within(axis.get_view_interval(), tick.get_loc())
        for label in (tick.label1, tick.label2)
    }
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text)
        and text.get_visible()
        and text.get_text().strip()
        and text not in hidden
    ]


def within(ends: Any, place: float) -> bool:
    return bool(min(ends) - 1e-9 <= place <= max(ends) + 1e-9)


def faults_of(figure: Figure) -> Iterator[str]:
    """What a reader would complain of."""
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].min(axis=2)  # type: ignore[attr-defined]
    height = pixels.shape[0]
    for axes in figure.axes:
        box = axes.get_window_extent()
        x0, x1 = int(box.x0) + 2, int(box.x1) - 2
        y0, y1 = height - int(box.y1) + 2, height - int(box.y0) - 2
        inside = pixels[y0:y1, x0:x1]
        if axes.axison and (inside < 200).mean() < 0.001:
            yield f"empty panel {axes.get_title()!r}"
    boxes = [(text, text.get_window_extent()) for text in texts_of(figure)]
    whole = figure.bbox
    for text, box in boxes:
        said = text.get_text()
        if min(box.x0 - whole.x0, box.y0 - whole.y0, whole.x1 - box.x1, whole.y1 - box.y1) < -1:
            yield f"cut off: {said!r}"
        if text.get_fontsize() < 7:
            yield f"too small: {said!r}"
        if CODE.search(said):
            yield f"code: {said!r}"
    for (one, a), (other, b) in combinations(boxes, 2):
        wide = min(a.x1, b.x1) - max(a.x0, b.x0)
        high = min(a.y1, b.y1) - max(a.y0, b.y0)
        if wide > 1 and high > 1.5:
            yield f"overlap: {one.get_text()!r} and {other.get_text()!r}"


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_figure_can_be_printed(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = drawn(command, folder, monkeypatch)
    assert list(faults_of(figure)) == []
    plt.close(figure)


def test_the_faults_are_seen() -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(4, 2))
    left.plot([0, 1], [0, 1])
    right.set(title="theta_sota", xlim=(0, 1))
    right.spines[:].set_visible(False)
    left.text(0.5, 0.5, "one")
    left.text(0.5, 0.5, "two", fontsize=5)
    left.text(9, 0.5, "far away")
    figure.canvas.draw()
    found = "\n".join(faults_of(figure))
    for fault in ("empty panel 'theta_sota'", "cut off: 'far away'", "too small: 'two'",
                  "code: 'theta_sota'", "overlap: 'one' and 'two'"):  # fmt: skip
        assert fault in found
    plt.close(figure)
