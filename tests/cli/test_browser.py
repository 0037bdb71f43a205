"""Pages of reports in a browser: no error, sorting, hostile names."""

import json
import time

import numpy as np
import pytest
from accessibility import problems
from data.files import EXAMPLES, run_json, written

pytestmark = pytest.mark.slow
NAMES = ["<script>document.title='x'</script>", '<img src=x onerror="document.title=1">', "{{7*7}}"]
_DARK = [{"name": "prefers-color-scheme", "value": "dark"}]
_PAPER = {"width": 718, "height": 1000, "deviceScaleFactor": 1, "mobile": False}  # A4, 19 cm wide


def report_of(capsys, folder, *arguments):
    """Runs a command with ``--save`` and ``--json``; the page is ``folder/page.html``."""
    return run_json(capsys, *arguments, "--save", folder / "page.html", "--quiet")


def opened(browser, folder):
    browser.get((folder / "page.html").as_uri())
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert not errors
    return browser


def cells(browser, column):
    """Texts of a column: all rows at once, since each question to a browser takes long."""
    return browser.execute_script(
        "return [...document.querySelectorAll('section.table tbody tr')]"
        ".map((row) => row.querySelectorAll('td')[arguments[0]].innerText.trim())",
        column,
    )


@pytest.fixture
def board(tmp_path):
    scores = np.sort(np.random.default_rng(0).integers(700, 900, 300))[::-1] / 1000
    names = NAMES + [f"model {i}" for i in range(297)]
    quoted = ('"' + name.replace('"', '""') + '"' for name in names)
    lines = [f"{name},{score}" for name, score in zip(quoted, scores, strict=True)]
    return written(tmp_path, "\n".join(["name,score", *lines]))


def test_a_board_sorts_searches_and_shows_more(browser, board, tmp_path, capsys):
    found = report_of(capsys, tmp_path, "board", board, "--n-test", "1000")
    page = opened(browser, tmp_path)
    assert page.title.startswith("bayes-sota board: Expect ")
    assert cells(page, 1)[:3] == NAMES
    shown = cells(page, 3)
    assert len(shown) == 25
    skills = [f"{row['skill']['mean']:.4f}" for row in found["entries"][:25]]
    assert [s[: len(t)] for s, t in zip(skills, shown, strict=True)] == shown
    page.find_element("css selector", "section.table > button").click()
    assert len(cells(page, 0)) == 225
    page.find_elements("css selector", "th button")[2].click()
    assert cells(page, 2) == sorted(cells(page, 2))
    page.find_element("css selector", "input[type=search]").send_keys("model 29")
    assert set(cells(page, 1)) == {"model 29"} | {f"model 29{i}" for i in range(7)}
    assert "8 of 8 rows" in page.find_element("css selector", "[role=status]").text


def test_a_page_has_the_answer_its_figure_and_its_numbers_to_the_last_digit(
    browser, board, tmp_path, capsys
):
    seed = 6449118028543719035  # which JavaScript cannot hold
    found = report_of(capsys, tmp_path, "sota", board, "--n-test", "1000", "--seed", seed)
    page = opened(browser, tmp_path)
    answer, mean = page.find_element("tag name", "h1").text, found["winner_skill"]["mean"]
    assert f"to score {100 * mean:.1f} %" in answer
    image = page.find_element("tag name", "img")
    assert page.execute_script("return arguments[0].naturalWidth", image) > 100
    behavior = {"behavior": "allow", "downloadPath": str(tmp_path)}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", behavior)
    browser.find_element("id", "download").click()
    target, deadline = tmp_path / "result.json", time.monotonic() + 30
    while not target.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert json.loads(target.read_bytes()) == found
    assert found["seed"] == seed


def test_a_page_fits_a_screen_and_paper(browser, tmp_path, capsys):
    """Thirty players with names of 22 wide characters, which are not broken."""
    scores = np.random.default_rng(0).gumbel(size=(12, 30)).round(3)
    names = [f"SELF-SUPERVISED_VIT_{i:02d}" for i in range(30)]
    lines = [",".join(["task", *names])]
    lines += [",".join([f"t{r}", *map(str, row)]) for r, row in enumerate(scores)]
    report_of(capsys, tmp_path, "epp", written(tmp_path, "\n".join(lines)))
    page = opened(browser, tmp_path)
    page.set_window_size(1000, 900)
    table = page.find_element("css selector", "section.table .scroll")
    widths = "return [arguments[0].scrollWidth, arguments[0].clientWidth]"
    needed, seen = page.execute_script(widths, table)
    assert needed <= seen
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", _PAPER)
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print", "features": _DARK})
    widest = page.execute_script(
        "return Math.max(...[...document.querySelectorAll('table, img')]"
        ".map((found) => found.getBoundingClientRect().right))"
    )
    assert widest <= _PAPER["width"]
    header = page.find_elements("css selector", "section.table th")
    assert [cell.text for cell in header][:3] == ["rank", "player", "EPP"]
    colors = "const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]"
    assert page.execute_script(colors) == ["rgb(0, 0, 0)", "rgb(255, 255, 255)"]
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
    page.set_window_size(1200, 900)


@pytest.mark.parametrize(
    "line",
    [
        "sota averages.csv --column score=average --metric score",
        "board answers.csv",
        "epp rounds.csv",
        "score exam.csv",
    ],
)
def test_reports_are_for_everybody(browser, tmp_path, capsys, line):
    command, file, *options = line.split()
    report_of(capsys, tmp_path, command, EXAMPLES / file, *options)
    assert problems(browser, (tmp_path / "page.html").as_uri()) == []
