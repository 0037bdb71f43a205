"""What all reports can do: the same paragraph in Python, shell and JSON; text from strangers.

That the numbers of paragraphs and tables are those of the JSON is in ``test_one_fact.py``.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from latex_tables import Unreadable, read_tables

import bayes_sota as bs
from bayes_sota.cli import main
from bayes_sota.cli.commands import cli
from bayes_sota.core.tables import ResultTable, latex_table
from bayes_sota.core.text import plain_text

HOSTILE = ("=1+1", "a|b & $x_1$ 5%", "\x1b[31mred\n<b>", r"\input{x} ~^#[t]", "*[link](http://x)")
FAST = (
    "maximum --n-test 300 --classifiers 10 --theta 0.9",
    "maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5",
    "infer-n {board}",
    "board {board} --n-test 749 --draws 100 --seed 1",
    "sota --maximum 0.9 --n-test 300 --classifiers 20 --draws 50 --seed 1 --no-sensitivity",
    "sota {board} --n-test 749 --method shrink --n-classes 2",
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim plan --gap 0.02 --winner 0.9",
    "claim selection {board} --n-test 749 --seed 1",
    "models",
    "reproduce mania melanoma",
)
WITHOUT_A_PARAGRAPH = {"app", "demo", "examples"}


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("reports") / "board.csv"
    counts = np.random.default_rng(0).binomial(749, np.linspace(0.86, 0.9, 60))
    rows = (f"t{i},{count / 749:.4f}" for i, count in enumerate(counts))
    path.write_text("team,score\n" + "\n".join(rows) + "\n")
    return path


def run(capsys: pytest.CaptureFixture[str], line: str, *more: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main([*line.split(), *map(str, more)])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize("line", FAST)
def test_the_paragraph_is_one_and_tables_have_every_format(
    line: str, board: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = line.format(board=board)
    paths = [tmp_path / f"x{ending}" for ending in (".md", ".json")]
    _, printed, _ = run(capsys, line, "--text", "--table", paths[0])
    _, found, _ = run(capsys, line, "--json", "--table", paths[1])
    assert printed == json.loads(found)["text"] + "\n"
    assert json.loads(paths[1].read_text())["text"] + "\n" == printed
    assert paths[0].read_text().count("---") > 1


def test_every_command_with_results_has_a_paragraph_and_a_table() -> None:
    found = dict(cli.commands)
    for group in ("claim", "cv"):
        found |= found.pop(group).commands
    lacking = {
        name
        for name, command in found.items()
        if not {"--text", "--table"} <= {option for p in command.params for option in p.opts}
    }
    assert lacking == WITHOUT_A_PARAGRAPH


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--text --json", "--text has no effect on --json"),
        ("--json --text", "--text has no effect on --json"),
        ("--text --top 3", "--top has no effect on --text"),
        ("--table x.nc", "which is a result (--output)"),
        ("--table x.pdf", "which is a figure (--figure)"),
    ],
)
def test_what_has_no_effect_is_refused(
    options: str, message: str, board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, error = run(capsys, f"board {board} --n-test 749 --seed 1", *options.split())
    assert (code, out) == (2, "")
    assert message in error


def reports() -> dict[str, Any]:
    """Reports whose names come from strangers."""
    scores = [0.93, 0.915, 0.91, 0.90, 0.88]
    hostile = bs.Leaderboard(scores, n_test=1000, names=HOSTILE, name=HOSTILE[2])
    single = bs.Leaderboard.from_maximum("0.9", n_test=300, n_classifiers=9, name=HOSTILE[2])
    rng = np.random.default_rng(0)
    table = bs.ScoreTable(rng.normal(size=(12, 5)), players=HOSTILE, tournament=HOSTILE[2])
    answers = bs.Responses(rng.random((80, 5)) < np.linspace(0.9, 0.6, 5), names=HOSTILE)
    settings: Any = {"random_seed": 1, "sensitivity": False, "draws": 50}
    return {
        "entries": bs.board_table(hostile, draws=100, random_seed=1),
        "sota": bs.leaderboard.report_sota(single, **settings),
        "shrink": bs.leaderboard.report_point_estimate(hostile, "shrink", n_classes=5),
        "epp": bs.epp.report_fit(bs.fit_epp(table, penalty=0.5), repetitions=0),
        "methods": bs.claims.report_methods(answers, draws=200, selection=False, random_seed=1),
    }


WITH_NAMES = {"entries", "epp", "methods"}
BROKEN = (
    r"\begin{tabular}{l} a & b \\ \end{tabular}", r"\begin{tabular}{lr} a \\ \end{tabular}",
    r"\begin{tabular}{l} a_b \\ \end{tabular}", r"\begin{tabular}{l} 5% \\ \end{tabular}",
    r"\begin{tabular}{l} a \\ \input{x} \\ \end{tabular}", r"\begin{tabular}{l} a \end{tabular}",
    r"\begin{tabular}{l} a \\ * \\ \end{tabular}", r"\begin{tabular}{l} a \\ [x] \\ \end{tabular}",
    r"\begin{tabular}{l} {a \\ \end{tabular}", r"\begin{tabular}{l} a \\", r"\textless b", "a & b",
    r"\begin{tabular}{l} $x$ \\ \end{tabular}", r"\begin{table} a \end{table}", "a } b {",
)  # fmt: skip


@pytest.mark.parametrize("text", BROKEN)
def test_broken_latex_is_seen(text: str) -> None:
    with pytest.raises(Unreadable):
        read_tables(text)


def test_any_text_is_set_as_it_is() -> None:
    """Every printable character at the beginning, inside and at the end of the first cell."""
    signs = [chr(c) for c in (*range(33, 127), 0xE9, 0x3B1, 0x4E2D)]
    rows = [[text, "1"] for sign in signs for text in (sign, f"{sign}x", f"x{sign}y", f"x{sign}")]
    rows += [[plain_text(text), "2"] for text in HOSTILE]
    assert read_tables(latex_table(["name", "number"], rows)) == [[["name", "number"], *rows]]


def test_names_of_strangers_are_text_in_every_format(tmp_path: Path) -> None:
    for kind, report in reports().items():
        assert isinstance(report, ResultTable)
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
