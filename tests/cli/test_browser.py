"""Pages of reports in a browser: no error, sorting, hostile names."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from accessibility import problems

from bayes_sota.cli import main

pytestmark = pytest.mark.slow


def report_of(capsys, folder: Path, *arguments: str) -> dict:
    """Runs a command with ``--save`` and ``--json``; the page is ``folder/page.html``."""
    with pytest.raises(SystemExit) as stop:
        main([*arguments, "--save", str(folder / "page.html"), "--json"])
    assert not stop.value.code
    return json.loads(capsys.readouterr().out)


def opened(browser, folder: Path):
    browser.get((folder / "page.html").as_uri())
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors
    return browser


def cells(browser, table: int, column: int) -> list[str]:
    """What a column shows: of all rows at once, since each question to a browser takes long."""
    return browser.execute_script(
        "const table = document.querySelectorAll('section.table')[arguments[0]];"
        "return [...table.querySelectorAll('tbody tr')]"
        ".map((row) => row.querySelectorAll('td')[arguments[1]].innerText.trim())",
        table,
        column,
    )


NAMES = ["<script>document.title='x'</script>", '<img src=x onerror="document.title=1">', "{{7*7}}"]


@pytest.fixture
def board(tmp_path) -> Path:
    scores = np.sort(np.random.default_rng(0).integers(700, 900, 300))[::-1] / 1000
    names = NAMES + [f"model {i}" for i in range(297)]
    lines = [f'"{n.replace(chr(34), chr(34) * 2)}",{s}' for n, s in zip(names, scores, strict=True)]
    path = tmp_path / "board.csv"
    path.write_text("\n".join(["name,score", *lines]))
    return path


def test_a_board_sorts_searches_and_shows_more(browser, board, tmp_path, capsys) -> None:
    found = report_of(capsys, tmp_path, "board", str(board), "--n-test", "1000", "--seed", "1")
    page = opened(browser, tmp_path)
    assert page.title.startswith("bayes-sota board: Expect ")
    assert cells(page, 0, 1)[:3] == NAMES
    assert len(cells(page, 0, 0)) == 25
    skills = [f"{row['skill']['mean']:.4f}" for row in found["entries"][:25]]
    shown = cells(page, 0, 3)
    assert [s[: len(t)] for s, t in zip(skills, shown, strict=True)] == shown
    page.find_element("css selector", "section.table > button").click()
    assert len(cells(page, 0, 0)) == 225
    score = page.find_elements("css selector", "th button")[2]
    score.click()
    assert cells(page, 0, 2) == sorted(cells(page, 0, 2))
    page.find_element("css selector", "input[type=search]").send_keys("model 29")
    assert set(cells(page, 0, 1)) == {"model 29"} | {f"model 29{i}" for i in range(7)}
    assert "8 of 8 rows" in page.find_element("css selector", "[role=status]").text


def test_a_page_has_the_answer_and_its_figure(browser, board, tmp_path, capsys) -> None:
    found = report_of(capsys, tmp_path, "sota", str(board), "--n-test", "1000", "--seed", "1")
    page = opened(browser, tmp_path)
    answer, mean = page.find_element("tag name", "h1").text, found["winner_skill"]["mean"]
    assert f"to score {100 * mean:.1f} %" in answer
    image = page.find_element("tag name", "img")
    assert page.execute_script("return arguments[0].naturalWidth", image) > 100


@pytest.fixture(scope="module")
def report_of_players(tmp_path_factory) -> Path:
    """A report of thirty players with names of 22 wide characters, which are not broken."""
    scores = np.random.default_rng(0).gumbel(size=(12, 30)).round(3)
    names = [f"SELF-SUPERVISED_VIT_{i:02d}" for i in range(30)]
    rows = [names, *(map(str, row) for row in scores.tolist())]
    lines = [",".join(["task" if not r else f"t{r}", *row]) for r, row in enumerate(rows)]
    folder = tmp_path_factory.mktemp("players")
    file, page = folder / "rounds.csv", folder / "page.html"
    file.write_text("\n".join(lines))
    with pytest.raises(SystemExit):
        main(["epp", str(file), "--seed", "1", "--quiet", "--save", str(page)])
    return folder


@pytest.fixture
def page_of_players(browser, report_of_players):
    yield opened(browser, report_of_players)
    browser.set_window_size(1200, 900)


def test_every_column_is_seen_on_a_screen_of_a_thousand_pixels(page_of_players) -> None:
    page_of_players.set_window_size(1000, 900)
    table = page_of_players.find_element("css selector", "section.table .scroll")
    widths = "return [arguments[0].scrollWidth, arguments[0].clientWidth]"
    needed, seen = page_of_players.execute_script(widths, table)
    assert needed <= seen


def test_a_figure_keeps_its_size_on_a_phone(page_of_players) -> None:
    page_of_players.set_window_size(500, 900)
    image = page_of_players.find_element("css selector", "figure img")
    sizes = "return [arguments[0].clientWidth, arguments[0].naturalWidth]"
    shown, natural = page_of_players.execute_script(sizes, image)
    assert shown == natural > 600
    whole = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert page_of_players.execute_script(whole)  # the figure scrolls, not the page


def test_a_printed_page_holds_all_columns_in_black_on_white(page_of_players) -> None:
    """On A4, 19 cm wide, of somebody whose screen is dark."""
    paper = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    page_of_players.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", paper)
    page_of_players.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "print", "features": dark}
    )
    widest = page_of_players.execute_script(
        "return Math.max(...[...document.querySelectorAll('table, img')]"
        ".map((found) => found.getBoundingClientRect().right))"
    )
    assert widest <= paper["width"]
    header = page_of_players.find_elements("css selector", "section.table th")
    assert [cell.text for cell in header][:3] == ["rank", "player", "EPP"]
    colors = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    assert page_of_players.execute_script(colors) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    page_of_players.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page_of_players.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("sota", "averages.csv --column score=average --metric score"),
        ("board", "answers.csv"),
        ("epp", "rounds.csv"),
        ("score", "exam.csv"),
    ],
)
def test_reports_are_for_everybody(browser, tmp_path, capsys, command, name) -> None:
    file, *options = name.split()
    data = f"bayes_sota/data/example_files/{file}"
    report_of(capsys, tmp_path, *command.split(), data, *options)
    assert problems(browser, (tmp_path / "page.html").as_uri()) == []


def test_a_hundred_thousand_rows_do_not_freeze_the_page(browser, tmp_path) -> None:
    import bayes_sota as bs
    from bayes_sota.core.command_report import save_report
    from bayes_sota.core.summary import list_report

    records = tuple({"name": f"model {i}", "score": i / 1e5} for i in range(100_000))
    report = list_report(
        "models",
        records,
        {"name": "name", "score": "score"},
        sentences=("Many models.",),
        basis=(bs.__version__,),
    )
    save_report(report, tmp_path / "page.html", about="many")
    page = opened(browser, tmp_path)
    page.implicitly_wait(5)
    search = page.find_element("css selector", "input[type=search]")
    search.send_keys("model 99999")
    assert cells(page, 0, 1) == ["0.99999"]


def test_a_page_offers_its_numbers_to_the_last_digit(browser, tmp_path, capsys) -> None:
    seed = 6449118028543719035  # which JavaScript cannot hold
    single = ("--maximum", "0.9", "--n-test", "300", "--classifiers", "20", "--quiet")
    wanted = report_of(capsys, tmp_path, "sota", *single, "--seed", str(seed))
    page = opened(browser, tmp_path)
    assert wanted["seed"] == seed
    assert json.loads(downloaded(page, tmp_path, "result.json", button="download")) == wanted


def downloaded(browser, folder: Path, name: str, button: str) -> bytes:
    behavior = {"behavior": "allow", "downloadPath": str(folder)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    browser.find_element("id", button).click()
    for _ in range(300):
        if (folder / name).exists():
            return (folder / name).read_bytes()
        time.sleep(0.1)
    pytest.fail(f"{name} did not come")
