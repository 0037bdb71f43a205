"""What all reports can do: the same paragraph in Python, shell and JSON; text from strangers.

That the numbers of paragraphs and tables are those of the JSON is in ``test_one_fact.py``.
"""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from data.files import run
from latex_tables import read_tables

import bayes_sota as bs
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import plain_text

HOSTILE = ("=1+1", "a|b & $x_1$ 5%", "\x1b[31mred\n<b>", r"\input{x} ~^#[t]", "*[link](http://x)")
FAST = (
    "maximum --n-test 300 --classifiers 10 --theta 0.9",
    "maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5",
    "board {board} --n-test 749 --seed 1",
    "sota --maximum 0.9 --n-test 300 --classifiers 20 --seed 1 --quiet",
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim plan --accuracy 0.9 0.88",
)


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "board.csv"
    counts = np.random.default_rng(0).binomial(749, np.linspace(0.86, 0.9, 60))
    rows = (f"t{i},{count / 749:.4f}" for i, count in enumerate(counts))
    path.write_text("team,score\n" + "\n".join(rows) + "\n")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("line", FAST)
def test_the_paragraph_is_one_and_tables_have_every_format(
    line: str, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = line.format(board=board)
    paths = [tmp_path / f"x{ending}" for ending in (".md", ".json", ".txt")]
    saved = [word for path in paths for word in ("--save", path)]
    _, found, _ = run(capsys, *line.split(), "--json", *saved)
    assert paths[1].read_text() == found
    assert paths[2].read_text() == json.loads(found)["text"] + "\n"
    assert paths[0].read_text().count("---") > 1


TINY = {
    "two.csv": "team,score\na,1\nb,0\n",
    "three.csv": "team,score\na,-0.001\nb,0.0001\nc,-0.0\n",
    "claims.csv": "name,accuracy_a,accuracy_b,n_test\nx,1.0,0.0,2\n",
    "review.csv": "name,accuracy_a,accuracy_b,n_test\nx,0.90,0.88,500\ny,0.95,0.85,500\n",
    "answers.csv": "item,a,b\nx,1,0\ny,0,1\n",
    "rounds.csv": "round,a,b,c\n1,.5,.6,.55\n2,.6,.5,.55\n3,.5,.6,.55\n4,.6,.5,.55\n",
    "matches.csv": "winner,loser\na,b\nb,a\n",
}
SMALLEST = (
    "maximum --n-test 1 --classifiers 1 --theta 0.5",
    "sota --maximum 0.7 --n-test 10 --classifiers 1 --seed 1 --quiet",
    "sota two.csv --n-test 1 --seed 1 --quiet",
    "sota three.csv --metric score --standard-error 0.01 --seed 1 --quiet",
    "board three.csv --metric score --standard-error 0.01 --seed 1",
    "board two.csv --n-test 5 --seed 1 --top 1",
    "board answers.csv --seed 1 --top 1",
    "claim classification --accuracy 1 0 --n-test 2 --rope 0.1 --best-of 1",
    "claim responses answers.csv --seed 1",
    "claim plan --accuracy 1 0",
    "claim plan --accuracy 0.95 0.05 --n-test 20",
    "claim batch claims.csv",
    "claim batch review.csv --top 1",
    "epp rounds.csv --seed 1",
    "epp matches.csv --penalty 0.5",
)
VERBS = r"(?!(?:is|as|was|has|times|less|stands|leads|it)\b)"
ONE_OF_MANY = re.compile(rf"(?<![\w.,:])1 (?:{VERBS}[a-z-]+ )?{VERBS}[a-z-]*[a-rt-z]s\b")
MINUS_ZERO = re.compile(r"(?<![\w.])-0(?:\.0+)?(?![\w.])")


@pytest.mark.slow
@pytest.mark.parametrize("line", SMALLEST)
def test_the_smallest_inputs_are_told_in_the_singular_and_without_minus_zero(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in TINY.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    told = []
    for command in (line, line.replace(" --top 1", "") + " --json"):
        code, out, error = run(capsys, *command.split())
        assert code in (0, 1), error
        told.append(" ".join(f"{out} {error}".split()))
    assert not ONE_OF_MANY.search(told[0])
    assert not MINUS_ZERO.search(told[0])
    assert not MINUS_ZERO.search(told[1])


ANSWERS = (
    *FAST,
    "board {board} --n-test 749 --seed 1",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
)


@pytest.mark.slow
@pytest.mark.parametrize("line", ANSWERS)
def test_the_answer_fits_on_two_lines_of_a_page(
    line: str, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The heading of a report is the first sentence: two lines hold about 170 characters."""
    _, out, _ = run(capsys, *line.format(board=board).split(), "--save", tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    (heading,) = re.findall(r"<h1[^>]*>(.*?)</h1>", page)
    said = out.splitlines()[0].replace(" %", "\N{NO-BREAK SPACE}%")
    assert unescape(heading) == said
    assert len(unescape(heading)) <= 170


def reports() -> dict[str, Any]:
    """Reports whose names come from strangers."""
    scores = [0.93, 0.915, 0.91, 0.90, 0.88]
    hostile = bs.Leaderboard(scores, n_test=1000, names=HOSTILE, name=HOSTILE[2])
    single = bs.BestScore("0.9", n_test=300, n_classifiers=9, name=HOSTILE[2])
    rng = np.random.default_rng(0)
    table = bs.ScoreTable(rng.normal(size=(12, 5)), players=HOSTILE, tournament=HOSTILE[2])
    answers = bs.Outcomes(rng.random((80, 5)) < np.linspace(0.9, 0.6, 5), names=HOSTILE)
    settings: Any = {"random_seed": 1, "sensitivity": False, "draws": 50}
    claims = {"name": HOSTILE, "group": HOSTILE, "accuracy_a": 0.9, "accuracy_b": 0.8}
    return {
        "review": bs.claims.claims_table(pd.DataFrame(claims | {"n_test": 500})),
        "entries": bs.board_table(hostile, draws=100, random_seed=1),
        "sota": bs.leaderboard.report_sota(single, **settings),
        "epp": bs.epp.report_fit(bs.fit_epp(table, penalty=0.5), repetitions=0),
        "methods": bs.claims.report_methods(answers, draws=200, selection=False, random_seed=1),
    }


WITH_NAMES = {"entries", "epp", "methods", "review"}


def test_any_text_is_set_as_it_is() -> None:
    """Every printable character at the beginning, inside and at the end of the first cell."""
    signs = [chr(c) for c in (*range(33, 127), 0xE9, 0x3B1, 0x4E2D)]
    rows = [[text, "1"] for sign in signs for text in (sign, f"{sign}x", f"x{sign}y", f"x{sign}")]
    rows += [[plain_text(text), "2"] for text in HOSTILE]
    table = Table(["name", "number"], rows)
    report = Report(content={}, make_frame=pd.DataFrame, tables=[table], basis=["us"])
    assert read_tables(report.to_latex()) == [[["name", "number"], *rows]]


def test_names_of_strangers_are_text_in_every_format(tmp_path: Path) -> None:
    for kind, report in reports().items():
        assert isinstance(report, Report)
        assert report.text.isprintable(), kind
        for ending in (".csv", ".md", ".tex", ".json"):
            path = tmp_path / f"x{ending}"
            report.save(path)
            found = path.read_text()
            assert "\x1b" not in found
            if ending == ".tex":
                cells = [cell for table in read_tables(found) for row in table for cell in row]
                if kind in WITH_NAMES:
                    assert set(map(plain_text, HOSTILE)) <= set(cells)
            if ending == ".md":
                assert "http://" not in found
                assert "<b>" not in found
            if ending == ".csv":
                assert not any(cell.startswith("=") for cell in found.replace("\n", ",").split(","))
