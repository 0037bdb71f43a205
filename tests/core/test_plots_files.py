"""A figure file appears whole or not at all."""

from pathlib import Path
from typing import Any

import pytest

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import save_figure
from bayes_sota.maximum.plots import plot_maximum_law

LAW = bs.maximum_law(n_test=100, n_classifiers=10, skill=0.9)


@pytest.mark.parametrize(
    ("name", "start"), [("law.png", b"\x89PNG"), ("law.svg", b"<?xml"), ("law.pdf", b"%PDF")]
)
def test_the_suffix_chooses_the_format(tmp_path: Path, name: str, start: bytes) -> None:
    figure = plot_maximum_law(LAW, backend="matplotlib")
    target = save_figure(figure, tmp_path / name, dpi=60)
    assert target.read_bytes().startswith(start)
    assert list(tmp_path.iterdir()) == [target]


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "law.png"
    target.write_bytes(b"old")

    class Broken:
        def savefig(self, path: Path, **_: Any) -> None:
            path.write_bytes(b"half a fig")
            raise OSError("disk full")

    with pytest.raises(InputError, match=r"cannot write .*law\.png: disk full"):
        save_figure(Broken(), target)  # type: ignore[arg-type]
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    figure = plot_maximum_law(LAW, backend="matplotlib")
    with pytest.raises(InputError, match="does not exist"):
        save_figure(figure, tmp_path / "nowhere" / "law.png")
