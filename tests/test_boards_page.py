"""The page of real boards says what the commands say now (``docs/make_boards.py``)."""

import re
from importlib import import_module

import pytest
from stored_text import ELSEWHERE, stale_numbers, text_differences


@pytest.fixture(scope="module")
def page(repository):
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(repository / "docs")
        return import_module("make_boards")


@pytest.fixture(scope="module")
def text(page):
    return page.PAGE.read_text(encoding="utf-8")


def test_every_command_has_sentences_and_every_board_a_row(page, text):
    shown = list(page.BLOCK.finditer(text))
    assert len(shown) == text.count("$ bayes-sota ") >= 4
    assert all(block["said"] for block in shown)
    drawn = {page.PAGE.parent / block["figure"] for block in shown if block["figure"]}
    assert drawn == set((page.PAGE.parent / "boards").glob("*.svg"))
    (table,) = page.TABLE.findall(text)
    assert re.findall(r"^\| (.*?) \|", table, re.M)[1:] == list(page.BOARDS)


def test_numbers_of_the_prose_are_those_of_the_output_beside(text):
    for section in text.split("\n## "):
        blocks = re.findall(r"^```console\n.*?^```|^\|[^\n]*$", section, re.M | re.S)
        prose = re.sub(r"^```.*?^```|^\|[^\n]*$", "", section, flags=re.M | re.S)
        assert stale_numbers(prose, "\n".join(blocks)) == [], section.splitlines()[0]


def test_a_stale_number_is_seen():
    output = "265 of 1,244 entries may be the best; it is the best with probability 0.024."
    assert stale_numbers("264 entries, and each is with 2.3 %", output) == ["264", "2.3 %"]
    assert stale_numbers("265 of some 1,200, each with 2.4 % or .02; 3 tiers", output) == []


@pytest.mark.slow
def test_the_page_says_what_is_printed_now(page, text, data_directory):
    with page.beside_tables():
        (table,) = page.TABLE.findall(text)
        assert text_differences(table, page.table(), ELSEWHERE) == []
        for block in page.BLOCK.finditer(text):
            assert text_differences(block["said"], page.shown(block), ELSEWHERE) == []
