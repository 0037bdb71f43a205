"""Every example of the documentation runs, and every link leads somewhere.

Fences called ``py`` or ``console`` take long, and are tried where their subject is tested.
"""

import contextlib
import difflib
import inspect
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tomllib
from pathlib import Path

import pytest
from accessibility import problems
from matplotlib import pyplot as plt
from stored_text import ELSEWHERE, text_differences

import bayes_sota
from bayes_sota.cli.main import cli, main
from bayes_sota.data.examples import load_responses_example, write_examples
from bayes_sota.leaderboard import model_names

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"


def name_of(page):
    return str(page.relative_to(ROOT))


PAGES = [ROOT / "README.md", *sorted([*DOCS.glob("*.md"), *DOCS.glob("guide/*.md")])]
LINKED = sorted([*ROOT.glob("*.md"), *DOCS.glob("*.md"), *DOCS.glob("[gm]*/*.md")])
# A fence of text right after commands quotes sentences and rows of tables of the last of them.
FENCE = re.compile(
    r"^```(sh|python)\n(.*?)^```$(?:\n+(?:`[^\n]* says:\n\n)?^```text\n(.*?)^```$)?", re.M | re.S
)
LONGEST = {"README.md": 700, "CHANGELOG.md": 1_500, "docs/how-right.md": 1_000}
LONGEST |= {name_of(page): 700 for page in DOCS.glob("guide/*.md")}
NUMBER, ROW = re.compile(r"[\d.,]*\d"), re.compile(r"\S {2,}\S")
LOADED = re.compile(
    r"""<(?:script|img|iframe|link|source)\b[^>]+(?:src|href)=["']?(?:https?:)?//"""
    r"""|(?:url\(|@import)\s*["']?(?:https?:)?//|\b(?:from\s*|import\()["']https?://"""
)


def anchor(heading):
    """Name of a heading in an address."""
    words = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return words.replace(" ", "-")


def printed(code):
    """Output of the last of some commands; each result must be trusted."""
    for line in code.replace("\\\n", " ").splitlines():
        typed = shlex.split(line, comments=True)
        words = typed[typed.index("bayes-sota") + 1 :]
        with pytest.raises(SystemExit) as stop, contextlib.redirect_stdout(io.StringIO()) as out:
            main(words)
        assert stop.value.code in (0, None), line
    return out.getvalue()


def quoted(shown, out):
    """Sentences and rows of tables that a page quotes, each with the printed line most like it."""
    parts = [""]
    for line in shown.splitlines():
        parts[-1] = f"{parts[-1]} {line}".strip()
        if line.endswith(".") or ROW.search(line):
            parts.append("")
    lines = {NUMBER.sub("#", " ".join(line.split())): line for line in out.splitlines()}
    for part in filter(None, parts):
        alike = NUMBER.sub("#", " ".join(part.split()))
        (found,) = difflib.get_close_matches(alike, lines, n=1, cutoff=0)
        yield part, lines[found]


@pytest.mark.slow
@pytest.mark.parametrize("page", [p for p in PAGES if FENCE.search(p.read_text())], ids=name_of)
def test_the_examples_run_and_print_what_the_page_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, names = page.read_text(encoding="utf-8"), {}
    if "bayes-sota examples --output-dir" not in text:
        write_examples(tmp_path / "examples")
    for language, code, shown in FENCE.findall(text):
        if language == "python":
            exec(compile(code, name_of(page), "exec"), names)
            plt.close("all")
            continue
        for part, line in quoted(shown, printed(code)):
            told = [" ".join(one.split()) for one in (part, line)]
            assert text_differences(*told, ELSEWHERE) == [], code


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_links_lead_somewhere(page):
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, place = target.partition("#")
        if ":" in path:
            continue
        other = (page.parent / path).resolve() if path else page
        assert other.exists(), target
        if place:
            headings = re.findall(r"^#+ (.*)$", other.read_text(encoding="utf-8"), re.M)
            assert place in map(anchor, headings), target


def what_loads_from_a_network(site):
    """Pages and styles that a browser could not show whole without a network."""
    texts = {p: p.read_text("utf-8") for end in ("html", "css") for p in site.rglob(f"*.{end}")}
    return [path.name for path, text in texts.items() if LOADED.search(text)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.html", '<script type="module">import x from "https://a.example/x.js"</script>'),
        ("page.css", '@import "https://a.example/x.css";'),
    ],
)
def test_what_needs_a_network_is_seen(name, text, tmp_path):
    (tmp_path / "own.html").write_text('<a href="https://a.example">x</a><script src="x.js">')
    (tmp_path / name).write_text(text)
    assert what_loads_from_a_network(tmp_path) == [name]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The documentation as a site, built without a warning."""
    pytest.importorskip("sphinx")
    place = tmp_path_factory.mktemp("site")
    shutil.copytree(DOCS, place / "docs", ignore=shutil.ignore_patterns("_build", "generated"))
    shutil.copytree(ROOT / "notebooks", place / "notebooks")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "--keep-going", "docs", "site"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return place / "site"


@pytest.mark.slow
def test_the_site_has_every_name_and_needs_no_network(site):
    assert what_loads_from_a_network(site) == []
    described = {path.stem for path in (site / "api").rglob("*.html")}
    own = {name: getattr(bayes_sota, name) for name in bayes_sota.__all__}
    rooms = [value for value in own.values() if inspect.ismodule(value)]
    names = [f"{place.__name__}.{name}" for place in (bayes_sota, *rooms) for name in place.__all__]
    assert [name for name in names if name not in described] == []


@pytest.mark.slow
def test_the_site_is_for_everybody(site, browser):
    """Some pages of every kind; they share their styles, and a browser takes seconds for each."""
    alone = ("index", "paper", "api/index", "notebooks/01_quickstart")
    pages = [site / f"{name}.html" for name in alone]
    for kind in ("guide", "measured"):
        pages += sorted(site.glob(f"{kind}/*.html"))[::3]
    found = {p.stem: problems(browser, p.as_uri(), ("critical", "serious")) for p in pages}
    assert {name: said for name, said in found.items() if said} == {}


def test_every_command_is_on_the_first_page_or_has_no_figure_for_a_reason():
    names, text = cli.list_commands(), (DOCS / "index.md").read_text(encoding="utf-8")
    assert [name for name in names if f"bayes-sota {name}" not in text] == []
    gallery = (DOCS / "gallery.md").read_text(encoding="utf-8")
    reasons = gallery.partition("## Commands without a figure")[2]
    endings = {n: getattr(cli.get_command(None, n), "endings", [".svg"]) for n in names}
    without = [name for name in names if ".svg" not in endings[name]]
    assert [name for name in without if f"`{name}`" not in reasons] == []
    assert len(without) == 4


def test_the_documentation_is_short():
    """Words of pages."""
    words = {name_of(page): len(page.read_text(encoding="utf-8").split()) for page in LINKED}
    assert {name: n for name, n in words.items() if n > LONGEST.get(name, n)} == {}
    assert sum(n for name, n in words.items() if name.startswith("docs/measured/")) <= 6_000
    assert sum(words.values()) <= 25_000


def plain(text):
    return " ".join(text.replace("*", "").replace("`", "").split())


def values(text):
    """Numbers in a text; those in percent are shares as well."""
    found = {float(number.replace(",", "")) for number in re.findall(r"[\d,]*\.?\d+", text)}
    return found | {round(value / 100, 9) for value in found}


def test_what_pages_of_results_say_stands_in_the_documentation():
    told = tomllib.loads((ROOT / "bayes_sota/core/page/words.toml").read_text(encoding="utf-8"))
    glossary = plain((DOCS / "glossary.md").read_text(encoding="utf-8"))
    assert [word for word, meaning in told["words"].items() if meaning not in glossary] == []
    sources = {name: (DOCS / "how-right.md").read_text("utf-8") for name in told["measured"]}
    readme = (ROOT / "README.md").read_text(encoding="utf-8").partition("## How accurate")[2]
    sources["README"] = " ".join(told["measured"].values())
    tables = [page.read_text(encoding="utf-8") for page in DOCS.glob("measured/*.md")]
    told["measured"] |= {"README": readme.partition("\n## ")[0], "tables": sources["leaderboard"]}
    sources["tables"] = " ".join(tables)
    figures = [
        (name, number)
        for name, sentence in told["measured"].items()
        for number in re.findall(r"[\d,]*\.?\d+", sentence)
        if values(number).isdisjoint(values(sources[name]))
    ]
    assert figures == []


def test_the_page_of_priors_lists_the_models():
    text = (DOCS / "priors.md").read_text(encoding="utf-8")
    assert [name for name in model_names() if f"`{name}`" not in text] == []


def test_the_first_page_says_what_the_command_says(tmp_path):
    """A whole board; what the winners scored on other items stands in the bundled answers."""
    write_examples(tmp_path)
    said = json.loads(printed(f"bayes-sota sota {tmp_path}/leaderboard.csv --n-test 250 --json"))
    text = plain((ROOT / "README.md").read_text(encoding="utf-8"))
    digits = load_responses_example("digits")
    first = digits.test.scores == digits.test.scores.max()
    others = sorted((f"{100 * x:.1f}" for x in digits.held_out.scores[first]), reverse=True)
    held_out = f"On {digits.held_out.n_items:,} other images the three scored"
    winner = said["winner_skill"]
    lower, upper = (100 * end for end in winner["interval"])
    expected = f"winner to score {100 * winner['mean']:.1f} % ({lower:.1f} to {upper:.1f})"
    for page in (text, plain((DOCS / "index.md").read_text(encoding="utf-8"))):
        assert expected in page
        assert f"{held_out} {others[0]}, {others[1]} and {others[2]} %" in page


def texts_of(figure):
    """Texts in an SVG, a line each."""
    return "\n".join(re.findall(r"<text[^>]*>(.*?)</text>", figure.read_text(encoding="utf-8")))


@pytest.mark.slow
def test_figures_say_what_they_would_say_now(tmp_path):
    make = [sys.executable, str(DOCS / "make_figures.py"), str(tmp_path)]
    subprocess.run(make, check=True, capture_output=True)
    drawn = sorted(tmp_path.glob("*.svg"))
    assert {path.name for path in drawn} == {path.name for path in DOCS.glob("figures/*.svg")}
    for path in drawn:
        stored = texts_of(DOCS / "figures" / path.name)
        assert text_differences(stored, texts_of(path), ELSEWHERE) == [], path.name


def print_again(page):
    """Put what commands say now in place of the sentences and rows that a page quotes."""

    def again(fence):
        if fence[1] != "sh" or fence[3] is None:
            return fence[0]
        kept = [
            line.strip() if ROW.search(line) else textwrap.fill(line, 88, break_on_hyphens=False)
            for _, line in quoted(fence[3], printed(fence[2]))
        ]
        return fence[0].replace(fence[3], "\n".join(kept) + "\n")

    page.write_text(FENCE.sub(again, page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    for one in map(Path.resolve, map(Path, sys.argv[1:])) if sys.argv[1:] else PAGES:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            write_examples(Path(folder) / "examples")
            print_again(one)
