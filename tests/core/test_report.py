"""Pages of reports: nothing from a stranger becomes markup, and all numbers are those of --json."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from functools import partial
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.text import Text

import bayes_sota as bs
from bayes_sota.cli import main
from bayes_sota.core.command_report import report_page
from bayes_sota.core.errors import InputError
from bayes_sota.core.plots import svg_address
from bayes_sota.core.tables import Report
from bayes_sota.core.text import plain_text

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "</script>",
    "\u202eright to left", "\u05e9\u05dc\u05d5\u05dd", "$x_1$ \\frac{",
    "\U0001f600", "a" * 10_000, "\x1b[31mred", "javascript:alert(1)",
]  # fmt: skip


class Page(HTMLParser):
    """Tags with their attributes, what scripts hold, and the text of everything else."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.words: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = ""

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1] += data
        else:
            self.words.append(data)

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def unpacked(script: str):
    return json.loads(script)


def table_of(names: list[str], n_test: int = 500) -> Report:
    rng = np.random.default_rng(0)
    scores = np.sort(rng.integers(350, 460, len(names)) / 500)[::-1]
    board = bs.Leaderboard(scores, n_test=n_test, names=names)
    return bs.board_table(board, draws=200, random_seed=0)


def page_of(table) -> str:
    return report_page(table, about="bayes-sota board")


@pytest.mark.slow
def test_names_from_strangers_stay_text() -> None:
    page, plain = (
        Page(page_of(table_of(names)))
        for names in (HOSTILE, [f"name {i}" for i in range(len(HOSTILE))])
    )
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    handlers = [name for _, attributes in page.tags for name in attributes if name[:2] == "on"]
    assert not handlers
    text = "".join(page.words)
    assert "{{ 7 * 7 }}" in text
    assert "49" not in [word.strip() for word in page.words]
    assert "\x1b" not in text


def test_the_page_has_all_rows_and_all_numbers_of_json() -> None:
    table = table_of([f"model {i}" for i in range(60)])
    page = Page(page_of(table))
    rows, content = unpacked(page.scripts[0]), unpacked(page.scripts[1])
    assert rows == table.cells
    assert content == json.loads(table.to_json())
    assert page.count("tr") == 1 + 25  # the first rows, for a browser without scripts


def test_the_policy_allows_the_page_s_script_and_no_other() -> None:
    text = page_of(table_of(list("abc")))
    page = Page(text)
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv"))
    digest = base64.b64encode(hashlib.sha256(page.scripts[-1].encode()).digest()).decode()
    assert policy is not None
    assert f"script-src 'sha256-{digest}'" in unescape(policy)
    assert policy.startswith("default-src 'none'")
    assert not re.findall(r"(?:https?:)?//[a-z]", re.sub(r"data:[^\"]+", "", text))


def test_a_result_that_cannot_be_trusted_says_so_above_everything() -> None:
    table = table_of(list("abc"))
    doubtful = replace(table, reasons=("too few <points>",))
    page = Page(page_of(doubtful))
    assert ("section", "warning") in [(tag, a.get("class")) for tag, a in page.tags]
    assert "too few <points>" in page.words
    assert "No check of the computation failed." not in "".join(page.words)


@pytest.mark.slow
def test_a_page_has_the_figure_with_the_answer_as_its_words() -> None:
    board = bs.Leaderboard([0.93, 0.92, 0.91, 0.90, 0.88, 0.85], n_test=500)
    report = bs.leaderboard.report_sota(board, random_seed=0, sensitivity=False)
    draw = partial(bs.plot_sota, report.about)
    page = Page(report_page(report, draw, about="bayes-sota sota"))
    assert page.count("input") == page.count("table")
    (image,) = [a for tag, a in page.tags if tag == "img"]
    assert str(image["src"]).startswith("data:image/svg+xml;base64,")
    answer = report.sentences[0].replace(" %", "\N{NO-BREAK SPACE}%")
    assert answer in str(image["alt"])


def drawn(kind: str):
    """What draws a figure with the names of strangers."""
    rng = np.random.default_rng(0)
    size = len(HOSTILE)
    if kind == "entries":
        return partial(bs.leaderboard.plot_entries, table_of(HOSTILE))
    if kind == "methods":
        answers = bs.Outcomes(rng.random((80, size)) < np.linspace(0.9, 0.6, size), names=HOSTILE)
        found = bs.claims.report_methods(answers, draws=200, selection=False, random_seed=1)
        return partial(bs.claims.plot_methods, found.about.to_datatree())
    if kind == "pairs":
        answers = bs.Outcomes(rng.random((80, size)) < np.linspace(0.9, 0.6, size), names=HOSTILE)
        return partial(
            bs.claims.plot_pairs, bs.claims.report_pairs(answers, draws=200, random_seed=1)
        )
    table = bs.ScoreTable(rng.normal(size=(12, size)), players=HOSTILE, tournament=HOSTILE[0])
    return partial(bs.epp.plot_epp, bs.fit_epp(table, penalty=0.5))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["entries", "methods", "pairs", "epp"])
def test_names_from_strangers_are_text_in_figures(kind: str) -> None:
    collection = drawn(kind)()
    figure = collection.viz["figure"].item()
    words = [text.get_text().replace(r"\$", "dollar") for text in figure.findobj(Text)]
    assert not [word for word in words if "$" in word]  # mathematics would begin there
    for name in HOSTILE:
        begun = plain_text(name).replace("$", "dollar")[:12]
        assert any(begun in word for word in words), name
    assert max(map(len, words)) < 300
    assert not [word for word in words if "\x1b" in word or "\u202e" in word]
    address = svg_address(collection)
    root = ElementTree.fromstring(base64.b64decode(address.partition(",")[2]))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "foreignObject", "a", "image", "iframe"}
    attributes = {(name, value) for element in root.iter() for name, value in element.items()}
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert all(value.startswith("#") for name, value in attributes if name.endswith("href"))


def test_a_page_explains_its_words_and_says_how_right_it_is() -> None:
    table = table_of(["a", "b", "c"])
    words = Page(page_of(table)).words
    assert "The skill of the best classifier: the true state of the art." in words
    assert "What EPP calls a model." not in words
    assert any(
        "95.5 % of the 95 % intervals held" in word.replace("\N{NO-BREAK SPACE}", " ")
        for word in words
    )
    assert Page(report_page(table)).words.count("This command gives it again:") == 0


@pytest.mark.slow
def test_the_command_of_a_page_has_the_seed_that_was_drawn(tmp_path: Path, capsys) -> None:
    path = tmp_path / "page.html"
    (tmp_path / "b.csv").write_text("team,score\na,0.91\nb,0.9\nc,0.88\n")
    with pytest.raises(SystemExit):
        main(["board", str(tmp_path / "b.csv"), "--n-test", "500", "--json", "--save", str(path)])
    seed = json.loads(capsys.readouterr().out)["seed"]
    (command,) = [word for word in Page(path.read_text()).words if word.startswith("bayes-sota ")
                  and "--save" in word]  # fmt: skip
    assert command.endswith(f"--seed {seed}")


@pytest.mark.slow
def test_a_report_is_saved_as_a_page_from_python(tmp_path: Path) -> None:
    table = table_of(["a", "b", "c"])
    bs.save_report(table, tmp_path / "plain.html")
    bs.save_report(table, tmp_path / "page.html", lambda: bs.leaderboard.plot_entries(table))
    pages = [(tmp_path / name).read_text(encoding="utf-8") for name in ("page.html", "plain.html")]
    assert [Page(page).count("img") for page in pages] == [1, 0]
    with pytest.raises(InputError, match="which is a report"):
        table.save(tmp_path / "page.html")
