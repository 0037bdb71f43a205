"""The figure of every command, as a reader sees it: nothing empty, cut off, hidden or in code."""

import re
from itertools import combinations

import numpy as np
import pytest
from data.files import EXAMPLES, run
from matplotlib.text import Text

COMMANDS = (
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim batch claims.csv",
    "claim responses answers.csv",
    "claim responses answers.csv --pairs",
    "epp rounds.csv",
    "epp rounds.csv --pairs",
    "board answers.csv",
    "sota answers.csv",
    "sota --maximum 0.91157 --n-test 11072 --classifiers 3558",
    "paired public_private.csv --n-test-public 250 --n-test-private 1000",
    "cv judge cross_validation.csv",
    "maximum --n-test 3000 --classifiers 1000 --theta 0.9 --correlation 0.6",
)
CODE = re.compile(r"[a-z]+_[a-z]+|\btheta|\brho\b|P\(theta\)")


def artist(figure, label, variable):
    """Artist that was drawn under a label of a collection."""
    return figure.viz[label][variable].item()


def title_of(figure):
    title = figure.viz["figure_title"].item()
    text = title["string"] if isinstance(title, dict) else title.get_text()
    return text.replace("\n", " ")


def texts_of(figure):
    """Texts that are seen; of an axis those within its range."""
    hidden = {
        label
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        for tick in axis.get_major_ticks() + axis.get_minor_ticks()
        if not (axes.axison and axis.get_visible() and within(axis, tick.get_loc()))
        for label in (tick.label1, tick.label2)
    }
    texts = (text for text in figure.findobj(Text) if text.get_visible() and text not in hidden)
    return [text for text in texts if text.get_text().strip()]


def within(axis, place):
    low, high = sorted(axis.get_view_interval())
    return low - 1e-9 <= place <= high + 1e-9


def faults_of(figure):
    """Faults that a reader would complain of."""
    pixels = np.asarray(figure.canvas.buffer_rgba())[::-1, :, :3].min(axis=2)
    for axes in figure.axes:
        (x0, y0), (x1, y1) = axes.get_window_extent().get_points().astype(int)
        inside = pixels[y0 + 2 : y1 - 2, x0 + 2 : x1 - 2]
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
def test_a_figure_can_be_printed(command, monkeypatch, capsys, tmp_path):
    """In the size in which it is written."""
    kept = []
    keep = "bayes_sota.core.plots.save_figure"
    monkeypatch.setattr(keep, lambda figure, _: kept.append(figure))
    monkeypatch.chdir(EXAMPLES)
    saved = ("--quiet", "--save", tmp_path / "figure.svg")
    assert run(capsys, *command.split(), *saved)[0] == 0
    figure = kept[0].viz["figure"].item()
    figure.canvas.draw()
    assert list(faults_of(figure)) == []
