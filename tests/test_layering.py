"""Imports go one way, and heavy libraries stay in the rooms that own them."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bayes_sota"

# A module imports from its own room and from rooms before it; rooms of one line know nothing of
# each other.
ORDER = (
    {"errors", "schema"},
    {"arguments", "toml_table", "skill_distributions", "shown_text", "blas_threads"},
    {"whole_files"},
    {"written_table"},
    {"priors"},
    {"data"},
    {"exact"},
    {"_maximum_kernel"},  # the compiled core of simulate
    {"score_distributions"},
    {"simulate", "simulate_auc", "simulate_tournament"},
    {"specification"},
    {"pymc_models"},
    {"inference"},
    {"parallel"},
    {"summaries"},
    {"estimate"},
    {"entry_table", "epp_summaries"},
    {"review_table", "claim_text", "epp_table"},
    {"plots"},
    {"reproduce", "published"},
    {"report"},
    {"cli", "app"},
    {"__main__"},
)
RANK = {room: rank for rank, rooms in enumerate(ORDER) for room in rooms}

_ARVIZ = {"inference", "summaries", "plots", "reproduce", "report"}
OWNERS = {
    "pymc": {"pymc_models", "inference"},
    "pytensor": {"pymc_models", "inference"},
    "nutpie": {"inference"},
    "arviz": _ARVIZ,
    "arviz_base": _ARVIZ,
    "arviz_plots": _ARVIZ,
    "arviz_stats": _ARVIZ,
    "matplotlib": {"plots", "reproduce", "report"},
    "pandas": {
        "inference",
        "summaries",
        "estimate",
        "entry_table",
        "review_table",
        "epp_summaries",
        "epp_table",
        "reproduce",
        "plots",
        "cli",
    },
    "pyarrow": {"data"},
}
HEAVY = (
    "scipy",
    "pandas",
    "xarray",
    "pymc",
    "pytensor",
    "arviz",
    "matplotlib",
    "numba",
    "pyarrow",
    "polars",
)

MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_names(tree: ast.AST) -> Iterator[str]:
    """Dotted names that a module imports anywhere, with what comes from the package resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "<relative>"
        elif isinstance(node, ast.ImportFrom) and node.module == "bayes_sota":
            yield from (f"bayes_sota.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def without_typing_only(tree: ast.Module) -> ast.Module:
    """The same module without what only a type checker sees."""

    class Remove(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            typing_only = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            return node.orelse if typing_only else self.generic_visit(node)

    return Remove().visit(tree)


def backward_imports(source: str, room: str) -> list[str]:
    """Imports of later rooms, of neighbours, and of the package as a whole."""
    found = []
    for name in imported_names(ast.parse(source)):
        first, _, rest = name.partition(".")
        target = rest.partition(".")[0]
        if name == "<relative>":
            found.append(name)
        if first != "bayes_sota" or target in ("__version__", room):
            continue
        # Through the package's own names an import could reach any room unseen.
        known = target in RANK or (target == "" and RANK[room] == RANK["cli"])
        if not known or (target and RANK[target] >= RANK[room]):
            found.append(name)
    return found


def misplaced_libraries(source: str, room: str) -> list[str]:
    """Libraries imported at run time in a room that does not own them."""
    names = {
        name.partition(".")[0] for name in imported_names(without_typing_only(ast.parse(source)))
    }
    return sorted(name for name in names if name in OWNERS and room not in OWNERS[name])


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_one_way(path: Path) -> None:
    room = room_of(path)
    assert room in RANK, f"give the room {room} its place in ORDER"
    source = path.read_text(encoding="utf-8")
    assert backward_imports(source, room) == []
    assert misplaced_libraries(source, room) == []


@pytest.mark.parametrize(
    ("source", "room"),
    [
        ("from bayes_sota.exact.maximum import maximum_law", "data"),
        ("def f():\n    import bayes_sota.plots.sota", "summaries"),
        ("from bayes_sota import cli", "report"),
        ("from bayes_sota import maximum_law", "data"),
        ("import bayes_sota as bs", "data"),
        ("from .maximum import maximum_law", "exact"),
        ("from bayes_sota.schema import GROUPS", "errors"),
    ],
)
def test_the_walker_sees_a_backward_import(source: str, room: str) -> None:
    assert backward_imports(source, room) != []


def test_the_walker_lets_forward_imports_pass() -> None:
    source = "from bayes_sota import __version__\nfrom bayes_sota.exact.maximum import maximum_law"
    assert backward_imports(source, "inference") == []
    assert backward_imports("from bayes_sota.exact.field import Field", "exact") == []
    assert backward_imports("import bayes_sota as bs", "cli") == []


def test_the_walker_sees_a_misplaced_library() -> None:
    source = "def f():\n    from pymc.math import exp\n    import matplotlib.pyplot as plt"
    assert misplaced_libraries(source, "exact") == ["matplotlib", "pymc"]
    typing_only = "if TYPE_CHECKING:\n    import pandas as pd"
    assert misplaced_libraries(typing_only, "data") == []


def loaded_after(code: str) -> set[str]:
    """Heavy libraries that a fresh process holds after running the code."""
    script = f"import sys\n{code}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    run = [sys.executable, "-W", "error", "-c", script]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import bayes_sota",
        "import bayes_sota as bs; bs.Leaderboard; bs.Priors; bs.schema; dir(bs)",
        "from bayes_sota.data.examples import load_example; load_example('cassava').leaderboard()",
        "from bayes_sota.specification import load_model; load_model('observed-maximum')",
    ],
)
def test_import_costs_numpy_and_nothing_more(code: str) -> None:
    assert loaded_after(code) == set()


def test_exact_mathematics_needs_no_models() -> None:
    code = (
        "from bayes_sota.exact.maximum import maximum_law\n"
        "maximum_law(n_test=100, n_classifiers=10, skill=0.9, correlation=0.6).mean()"
    )
    assert loaded_after(code) <= {"scipy"}
