"""All reports: the same paragraph in Python, shell and JSON; text from strangers.

That the numbers of paragraphs and tables are those of the JSON is in ``test_one_fact.py``.
"""

import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from data.files import run

import bayes_sota as bs
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import latex_text

HOSTILE = ("=1+1", "a|b & $x_1$ 5%", "\x1b[31mred\n<b>", r"\input{x} ~^#[t]", "*[link](http://x)")
FAST = (
    "maximum --n-test 300 --classifiers 10 --theta 0.9",
    "board {board.csv} --n-test 500",
    "sota --maximum 0.9 --n-test 300 --classifiers 20 --quiet",
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim plan --accuracy 0.9 0.88",
)


@pytest.mark.slow
@pytest.mark.parametrize("line", FAST)
def test_the_paragraph_is_one_and_the_answer_fits_on_two_lines(
    line, option_inputs, tmp_path, capsys
):
    """The heading of a page is the first sentence: two lines have room for 170 characters."""
    words = line.replace("{board.csv}", str(option_inputs / "board.csv")).split()
    paths = [tmp_path / f"x{ending}" for ending in (".md", ".json", ".txt", ".html")]
    saved = [word for path in paths for word in ("--save", path)]
    found = run(capsys, *words, "--json", *saved)[1]
    markdown, content, text, page = (path.read_text() for path in paths)
    assert (content, text) == (found, json.loads(found)["text"] + "\n")
    assert markdown.count("---") > 1
    (heading,) = map(unescape, re.findall(r"<h1[^>]*>(.*?)</h1>", page))
    said = run(capsys, *words)[1].splitlines()[0]
    assert heading.replace("\N{NO-BREAK SPACE}%", " %") == said
    assert len(heading) <= 170


TINY = {
    "two.csv": "team,score\na,1\nb,0\n",
    "three.csv": "team,score\na,-0.001\nb,0.0001\nc,-0.0\n",
    "claims.csv": "name,accuracy_a,accuracy_b,n_test\nx,1.0,0.0,2\n",
    "answers.csv": "item,a,b\nx,1,0\ny,0,1\n",
    "rounds.csv": "round,a,b,c\n1,.5,.6,.55\n2,.6,.5,.55\n3,.5,.6,.55\n4,.6,.5,.55\n",
}
SMALLEST = (
    "maximum --n-test 1 --classifiers 1 --theta 0.5",
    "sota two.csv --n-test 1 --quiet",
    "sota three.csv --metric score --standard-error 0.01 --quiet",
    "board three.csv --metric score --standard-error 0.01",
    "board answers.csv --top 1",
    "claim classification --accuracy 1 0 --n-test 2 --rope 0.1 --best-of 1",
    "claim responses answers.csv",
    "claim plan --accuracy 0.95 0.05 --n-test 20",
    "claim batch claims.csv",
    "epp rounds.csv",
)
MINUS_ZERO = re.compile(r"(?<![\w.])-0(?:\.0+)?(?![\w.])")


@pytest.mark.slow
@pytest.mark.parametrize("line", SMALLEST)
def test_the_smallest_inputs_have_an_answer_without_minus_zero(line, tmp_path, monkeypatch, capsys):
    for name, text in TINY.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for more in ([], ["--json"]):
        code, out, error = run(capsys, *line.split(), *more)
        told = " ".join(f"{out} {error}".split())
        assert code in (0, 1), error
        assert not MINUS_ZERO.search(told)


def test_signs_of_latex_are_set_as_they_are():
    table = Table(["name", "number"], [[r"{}$&%#_\~^", "1"], ["*<>|[a]", "2"]])
    about = {"sentences": ["Best."], "basis": ["us"]}
    report = Report(content={}, make_frame=pd.DataFrame, tables=[table], **about)
    lines = report.to_latex().splitlines()
    assert r"\{\}\$\&\%\#\_\textbackslash{}\textasciitilde{}\textasciicircum{} & 1 \\" in lines
    assert r"{*}\textless{}\textgreater{}\textbar{}{[}a{]} & 2 \\" in lines
    assert {r"\caption{Best.}", r"\begin{tabular}{lr}", r"\toprule"} <= set(lines)


def reports():
    """Reports whose names come from strangers."""
    scores, rng = [0.93, 0.915, 0.91, 0.90, 0.88], np.random.default_rng(0)
    board = bs.Leaderboard(scores, n_test=1000, names=HOSTILE, name=HOSTILE[2])
    best = bs.BestScore("0.9", n_test=300, n_classifiers=9, name=HOSTILE[2])
    rounds = bs.ScoreTable(rng.normal(size=(12, 5)), players=HOSTILE, tournament=HOSTILE[2])
    answers = bs.Outcomes(rng.random((80, 5)) < np.linspace(0.9, 0.6, 5), names=HOSTILE)
    claims = {"name": HOSTILE, "group": HOSTILE, "accuracy_a": 0.9, "accuracy_b": 0.8}
    yield bs.claims.claims_table(pd.DataFrame(claims | {"n_test": 500}))
    yield bs.board_table(board, draws=100)
    yield bs.epp.report_fit(bs.fit_epp(rounds, penalty=0.5))
    yield bs.claims.report_methods(answers, draws=200, selection=False)
    yield bs.leaderboard.report_sota(best, sensitivity=False, draws=50)  # without names in rows


def test_names_of_strangers_are_text_in_every_format(tmp_path):
    for number, report in enumerate(reports()):
        texts = {}
        for ending in ("csv", "md", "tex", "json"):
            report.save(tmp_path / f"x.{ending}")
            texts[ending] = (tmp_path / f"x.{ending}").read_text()
        assert report.text.isprintable()
        assert "\x1b" not in "".join(texts.values())
        assert number == 4 or all(latex_text(name) in texts["tex"] for name in HOSTILE)
        assert not re.search("http://|<b", texts["md"])
        assert not re.search("(^|[,\n])=", texts["csv"])
