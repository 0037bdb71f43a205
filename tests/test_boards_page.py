"""The page of real boards says what the commands say now (``docs/make_boards.py``)."""

import importlib.util
import re
import sys

import pytest
from stored_text import ELSEWHERE, stale_numbers, text_differences


@pytest.fixture(scope="module")
def page(repository):
    spec = importlib.util.spec_from_file_location("make_boards", repository / "docs/make_boards.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_every_command_of_the_page_has_sentences_and_a_figure(page):
    text = page.PAGE.read_text(encoding="utf-8")
    shown = list(page.shown_on(text))
    assert len(shown) == text.count("$ bayes-sota ") >= 8
    assert all(board.said for board in shown)
    drawn = {board.figure for board in shown} - {None}
    assert drawn == set((page.PAGE.parent / "boards").glob("*.svg"))


def test_neighbours_told_apart_are_counted_as_the_commands_count_them(page):
    text = page.PAGE.read_text(encoding="utf-8")
    introduction = text.split("\n## ")[0]
    counts = re.findall(r"\b([\d,]+) of ([\d,]+)\b", introduction)
    boards = re.findall(r"\b([\d,]+) of ([\d,]+) pairs of neighbours", text)
    assert sorted(counts) == sorted(boards)
    assert boards


def test_numbers_of_the_prose_are_those_of_the_output_below(page):
    for section in page.PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        output = "\n".join(re.findall(r"^```console\n(.*?)^```", section, re.M | re.S))
        prose = re.sub(r"^```.*?^```", "", section, flags=re.M | re.S)
        assert stale_numbers(prose, output) == [], section.splitlines()[0]


def test_a_stale_number_is_seen():
    output = "265 of 1,244 entries may be the best; it is the best with probability 0.024."
    assert stale_numbers("264 entries, and each is with 2.3 %", output) == ["264", "2.3 %"]
    assert stale_numbers("265 of some 1,200, each with 2.4 % or .02; 3 tiers", output) == []


@pytest.mark.slow
def test_sentences_are_those_printed_now(page, data_directory):
    with page.beside_tables():
        for shown in page.shown_on(page.PAGE.read_text(encoding="utf-8")):
            assert text_differences(shown.said, page.run(shown.arguments), ELSEWHERE) == []
