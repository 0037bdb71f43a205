"""The English of documentation, messages and docstrings: phrases that nobody would say aloud.

``python tests/test_voice.py`` lists the places.
"""

import ast
import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PHRASES = re.compile(
    r"\btold apart\b|\btells? [^.]{1,60} apart\b|\btell apart\b|\brooms?\b|\bheld\b(?![ -]out)"
    r"|\bluck of (the |its |these )?items\b|\bdrawn towards\b|\bwhat all say\b|\bright answers\b"
    r"|\bstrangers\b|\bnobody's\b|\bwhoever\b|\bhow right\b|\bhardly a bias\b|\bno more items\b"
    r"|\bholds no \w+ by\b|\bfrom [\d,]+ on\b|\bis asked for\b|\bcounts? equally\b|\bas of ``"
    r"|\bluck alone\b|\b(says?|tells?|told) (little|nothing) of\b|\bprobability to (be|have)\b"
    r"|(?-i:^Of [a-z])|\bdocstring-has-a-fragment\b",
    re.I,
)
FRAGMENT = re.compile(r"\A\s*(What|That|So many) |^ +Of ", re.M)


def prose():
    """Pages and cells of notebooks, without code and output."""
    pages = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("docs/[gm]*/*.md")]
    for page in sorted(pages):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        yield page.name, text
    for path in sorted(ROOT.glob("notebooks/*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                yield path.name, "".join(cell["source"])


def strings():
    """String literals of the package: messages, options and docstrings."""
    for path in sorted((ROOT / "bayes_sota").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                has = id(node) in docstrings and FRAGMENT.search(node.value) is not None
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                yield place, node.value + " docstring-has-a-fragment" * has


def found() -> list[str]:
    texts = [*prose(), *strings()]
    lines = [(place, " ".join(text.split())) for place, text in texts]
    return [f"{place}: {hit[0]}" for place, line in lines for hit in PHRASES.finditer(line)]


def test_texts_say_what_a_colleague_would_say() -> None:
    assert found() == []


def test_a_phrase_is_seen() -> None:
    seen = "Of these, nobody's can be told apart; it tells two of them apart, says nothing of"
    assert len(PHRASES.findall(seen)) == 5
    assert FRAGMENT.search("The law.\n\n    label : str\n        Of the axis.\n")
    assert not PHRASES.search("held-out items, and a bedroom; the best of these")


if __name__ == "__main__":
    print(*found(), sep="\n")
