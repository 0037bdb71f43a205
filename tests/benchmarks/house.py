"""How large the house is: ``python tests/benchmarks/house.py``.

Lines of code (no blank lines, comments or docstrings) of the package and of its tests, files,
folders, bodies of functions, and how many files of the package two commands enter.
"""

import ast
import contextlib
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import FrameType

import nbformat

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bayes_sota"
IGNORED = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
           tokenize.ENDMARKER, tokenize.ENCODING}  # fmt: skip


def docstring_lines(tree: ast.AST) -> set[int]:
    """Lines that only a docstring stands on."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return found


def code_lines(source: str) -> set[int]:
    """Numbers of the lines that hold code."""
    found: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in IGNORED:
            found.update(range(token.start[0], token.end[0] + 1))
    return found - docstring_lines(ast.parse(source))


def sources(folder: Path) -> Iterator[str]:
    yield from (path.read_text() for path in folder.rglob("*.py"))


def notebook_sources() -> Iterator[str]:
    for path in (ROOT / "notebooks").glob("*.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        for cell in cells:
            if cell.cell_type == "code":
                lines = cell.source.splitlines()
                yield "\n".join(line for line in lines if not line.startswith(("%", "!")))


def bodies(folder: Path) -> list[int]:
    """Lines of code in the body of each function."""
    found = []
    for source in sources(folder):
        lines = code_lines(source)
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = range(node.body[0].lineno, (node.end_lineno or 0) + 1)
                found.append(len(lines.intersection(body)))
    return found


def entered(arguments: list[str]) -> set[str]:
    """Files of the package of which a command calls a function."""
    from bayes_sota.cli import main

    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(arguments)  # imports, whose decorators are calls as well
    found: set[str] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)) and frame.f_code.co_name[0] != "<":
            found.add(name)

    sys.setprofile(watch)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
            main(arguments)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    """Print every figure."""
    files = list(PACKAGE.rglob("*.py"))
    total = sum(len(path.read_text().splitlines()) for path in files)
    counts = {
        "package": sum(len(code_lines(text)) for text in sources(PACKAGE)),
        "notebooks": sum(len(code_lines(text)) for text in notebook_sources()),
        "tests and benchmarks": sum(len(code_lines(text)) for text in sources(ROOT / "tests")),
    }
    for name, count in counts.items():
        print(f"code lines, {name}: {count:,}")
    print(f"all lines, package: {total:,}")
    folders = Counter(path.parent for path in files)
    fullest, most = max(folders.items(), key=lambda pair: pair[1])
    print(f"Python files, package: {len(files)}; fullest folder: {fullest.name}, {most}")
    sizes = bodies(PACKAGE)
    print(f"bodies: median {median(sizes)}, longest {max(sizes)}")
    with TemporaryDirectory() as name:
        board = Path(name) / "board.csv"
        rows = (f"team {i},0.{900 - 3 * i}" for i in range(30))
        board.write_text("team,score\n" + "\n".join(rows) + "\n")
        sota = entered(["sota", str(board), "--n-test", "1000", "--seed", "1", "--json"])
    claim = entered(
        ["claim", "classification", "--accuracy", "0.91", "0.9", "--n-test", "500", "--json"]
    )
    print(f"files entered: sota FILE {len(sota)}, claim classification {len(claim)}")


if __name__ == "__main__":
    main()
