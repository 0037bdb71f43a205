"""Pages of reports: nothing from a stranger becomes markup, and all numbers are those of --json."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from data.files import refused
from matplotlib.text import Text

import bayes_sota as bs
from bayes_sota.core.command_report import report_page
from bayes_sota.core.plots import svg_address
from bayes_sota.core.text import plain_text

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "</script>",
    "\u202eright to left", "\u05e9\u05dc\u05d5\u05dd", "$x_1$ \\frac{",
    "\U0001f600", "a" * 10_000, "\x1b[31mred", "javascript:alert(1)",
]  # fmt: skip


class Page(HTMLParser):
    """Tags with their attributes, what scripts hold, and the text of everything else."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.words, self.inside = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        (self.scripts if self.inside == "script" else self.words).append(data)

    def count(self, tag):
        return sum(name == tag for name, _ in self.tags)


def table_of(names):
    scores = np.sort(np.random.default_rng(0).integers(350, 460, len(names)))[::-1] / 500
    board = bs.Leaderboard(scores, n_test=500, names=names)
    return bs.board_table(board, draws=200, random_seed=0)


def page_of(table, *figure):
    return Page(report_page(table, *figure, about="bayes-sota board"))


@pytest.mark.slow
def test_names_from_strangers_stay_text():
    page = page_of(table_of(HOSTILE))
    plain = page_of(table_of([f"name {i}" for i in range(len(HOSTILE))]))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert not [name for _, attributes in page.tags for name in attributes if name[:2] == "on"]
    text = "".join(page.words)
    assert "{{ 7 * 7 }}" in text
    assert "\x1b" not in text


def test_the_page_has_all_rows_and_all_numbers_of_json():
    table = table_of([f"model {i}" for i in range(60)])
    page = page_of(table)
    assert json.loads(page.scripts[0]) == table.tables[0].rows
    assert json.loads(page.scripts[1]) == json.loads(table.to_json())
    assert page.count("tr") == 1 + 25  # the first rows, for a browser without scripts


def test_the_policy_allows_the_page_s_script_and_no_other():
    text = report_page(table_of(list("abc")))
    page = Page(text)
    policy = unescape(next(a["content"] for _, a in page.tags if a.get("http-equiv")))
    digest = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'")
    assert f"script-src 'sha256-{digest}'" in policy
    assert not re.findall(r"(?:https?:)?//[a-z]", re.sub(r"data:[^\"]+", "", text))


def test_a_page_says_whether_its_result_can_be_trusted_and_explains_its_words():
    table = table_of(list("abc"))
    words = [word.replace("\N{NO-BREAK SPACE}", " ") for word in page_of(table).words]
    assert "The skill of the best model of this field: the true state of the art." in words
    assert "A model, in the terms of EPP." not in words
    assert re.search(r"[\d.]+ % of the 95 % intervals contained theta_sota", "".join(words))
    assert "No check of the computation failed." in "".join(words)
    page = page_of(replace(table, reasons=("too few <points>",)))
    assert ("section", "warning") in [(tag, a.get("class")) for tag, a in page.tags]
    assert "too few <points>" in page.words
    assert "No check of the computation failed." not in "".join(page.words)


@pytest.mark.slow
def test_a_page_has_the_figure_with_the_answer_as_its_words(tmp_path):
    board = bs.Leaderboard([0.93, 0.92, 0.91, 0.90, 0.88, 0.85], n_test=500)
    report = bs.leaderboard.report_sota(board, random_seed=0, sensitivity=False)
    bs.save_report(report, tmp_path / "page.html", lambda: bs.plot_sota(report.about))
    page = Page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert page.count("input") == page.count("table")
    (image,) = [a for tag, a in page.tags if tag == "img"]
    assert image["src"].startswith("data:image/svg+xml;base64,")
    assert report.sentences[0].replace(" %", "\N{NO-BREAK SPACE}%") in image["alt"]
    refused("the ending of a table's name must be one of", report.save, tmp_path / "page.html")


def answers():
    right = np.random.default_rng(0).random((80, len(HOSTILE)))
    return bs.Outcomes(right < np.linspace(0.9, 0.6, len(HOSTILE)), names=HOSTILE)


def rounds():
    scores = np.random.default_rng(0).normal(size=(12, len(HOSTILE)))
    return bs.ScoreTable(scores, players=HOSTILE, tournament=HOSTILE[0])


FIGURES = {
    "entries": lambda: bs.leaderboard.plot_entries(table_of(HOSTILE)),
    "methods": lambda: bs.claims.plot_methods(
        bs.claims.report_methods(answers(), draws=200, selection=False)
    ),
    "pairs": lambda: bs.claims.plot_pairs(bs.claims.report_pairs(answers(), draws=200)),
    "epp": lambda: bs.epp.plot_epp(bs.fit_epp(rounds(), penalty=0.5)),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", FIGURES)
def test_names_from_strangers_are_text_in_figures(kind):
    collection = FIGURES[kind]()
    figure = collection.viz["figure"].item()
    words = [text.get_text().replace(r"\$", "dollar") for text in figure.findobj(Text)]
    assert not re.search("[$\x1b\u202e]", "".join(words))  # with $ mathematics would begin
    for name in HOSTILE:
        begun = plain_text(name).replace("$", "dollar")[:8]  # pairs shorten names
        assert any(begun in word for word in words), name
    assert max(map(len, words)) < 300
    address = svg_address(collection)
    elements = [*ElementTree.fromstring(base64.b64decode(address.partition(",")[2])).iter()]
    tags = {element.tag.rpartition("}")[2] for element in elements}
    assert not tags & {"script", "foreignObject", "a", "image", "iframe"}
    attributes = {(name, value) for element in elements for name, value in element.items()}
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert all(value.startswith("#") for name, value in attributes if name.endswith("href"))
