"""Imports go one way, and heavy libraries stay in the rooms that own them."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bayes_sota"

# A room imports from itself and from rooms before it; rooms of one line know nothing of each other.
ROOMS = (
    {"core"},
    {"data"},
    {"auc"},
    {"items"},
    {"maximum"},
    {"leaderboard"},
    {"claims", "epp", "crossval"},
    {"cli"},
)
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}

# The first word of a file's name is its role; every other file is mathematics or data. A role
# imports from itself and from roles before it, in every room but cli, which composes them.
ROLES = ("law", "models", "sample", "summary", "plots", "command", "cli")

_ARVIZ = {"sample", "summary", "plots"}
OWNERS = {
    "pymc": {"models", "sample"},
    "pytensor": {"models", "sample"},
    "nutpie": {"sample"},
    **dict.fromkeys(("arviz", "arviz_base", "arviz_plots", "arviz_stats"), _ARVIZ),
    "matplotlib": {"plots"},
    "pandas": {"sample", "summary", "plots", "cli", "data.opening", "crossval.fold_scores"},
    "click": {"cli"},
    "rich": {"cli", "core.parallel"},
    "sklearn": {"crossval.fits", "crossval.learners"},
    "numba": set(),
    "pyarrow": {"data.opening"},
    "openpyxl": set(),
}
HEAVY = ("scipy", "pandas", "xarray", "pymc", "pytensor", "arviz", "matplotlib", "numba",
         "pyarrow", "openpyxl", "polars", "joblib", "sklearn", "distributed")  # fmt: skip

PATHS = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
}


def room_of(name: str) -> str:
    return name.partition(".")[0]


def role_of(name: str) -> str:
    word = name.rpartition(".")[2].partition("_")[0]
    if room_of(name) == "cli":
        return "cli"
    return word if word in ROLES else "law"


@cache
def imported_names(source: str, *, typing: bool = True) -> tuple[str, ...]:
    """Dotted names that a module imports anywhere, or but for a type checker."""
    tree = ast.parse(source)
    return tuple(names_in(tree if typing else without_typing_only(tree)))


def names_in(tree: ast.AST) -> Iterator[str]:
    """The names, with what comes from the package resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "<relative>"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("bayes_sota"):
            parts = (f"{node.module}.{alias.name}" for alias in node.names)
            inside = (part for part in parts if part.removeprefix("bayes_sota.") in PATHS)
            yield from tuple(inside) or (
                (f"bayes_sota.{alias.name}" for alias in node.names)
                if node.module == "bayes_sota"
                else (str(node.module),)
            )
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def without_typing_only(tree: ast.Module) -> ast.Module:
    """The same module without what only a type checker sees."""

    class Remove(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
            typing_only = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
            return node.orelse if typing_only else self.generic_visit(node)

    return Remove().visit(tree)


def backward_imports(source: str, name: str) -> list[str]:
    """Imports of later rooms, neighbours and later roles, and of the package as a whole."""
    room, role, found = room_of(name), role_of(name), []
    for imported in imported_names(source):
        first, _, rest = imported.partition(".")
        if imported == "<relative>":
            found.append(imported)
        if first != "bayes_sota" or rest == "__version__":
            continue
        target = room_of(rest)
        # Through the package's own names an import could reach any room unseen.
        known = target in RANK or (rest == "" and room == "cli")
        if not known or (rest and target != room and RANK[target] >= RANK[room]):
            found.append(imported)
    for imported in imported_names(source, typing=False):
        rest = imported.removeprefix("bayes_sota.")
        if rest in PATHS and ROLES.index(role_of(rest)) > ROLES.index(role):
            found.append(imported)
    return found


def misplaced_libraries(source: str, name: str) -> list[str]:
    """Libraries imported at run time by a file whose role does not own them."""
    names = {imported.partition(".")[0] for imported in imported_names(source, typing=False)}
    return sorted(
        library for library in names & set(OWNERS) if not {role_of(name), name} & OWNERS[library]
    )


@pytest.mark.parametrize("room", sorted({room_of(name) for name in PATHS}))
def test_imports_go_one_way(room: str) -> None:
    assert room in RANK, f"give the room {room} its place in ROOMS"
    sources = {name: PATHS[name].read_text() for name in PATHS if room_of(name) == room}
    backward = {name: backward_imports(source, name) for name, source in sources.items()}
    misplaced = {name: misplaced_libraries(source, name) for name, source in sources.items()}
    assert {name: found for name, found in backward.items() if found} == {}
    assert {name: found for name, found in misplaced.items() if found} == {}


def test_no_imports_go_in_a_circle() -> None:
    graph = {}
    for name, path in PATHS.items():
        found = imported_names(path.read_text(encoding="utf-8"), typing=False)
        inside = {imported.removeprefix("bayes_sota.") for imported in found}
        graph[name] = inside & set(PATHS) - {name}
    assert len(list(TopologicalSorter(graph).static_order())) == len(PATHS)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("from bayes_sota.maximum.law import maximum_law", "data.leaderboard"),
        ("def f():\n    import bayes_sota.maximum.plots", "core.summary"),
        ("def f():\n    from bayes_sota.epp import models", "epp.solver"),
        ("from bayes_sota.claims.means import x", "epp.solver"),
        ("from bayes_sota import cli", "claims.summary"),
        ("from bayes_sota import maximum_law", "data.leaderboard"),
        ("import bayes_sota as bs", "data.leaderboard"),
        ("from .maximum import maximum_law", "maximum.field"),
        ("from bayes_sota.maximum.law import MaximumLaw", "core.errors"),
    ],
)
def test_the_walker_sees_a_backward_import(source: str, name: str) -> None:
    assert backward_imports(source, name) != []


def test_the_walker_lets_forward_imports_pass() -> None:
    source = "from bayes_sota import __version__\nfrom bayes_sota.maximum.law import maximum_law"
    assert backward_imports(source, "leaderboard.sample") == []
    assert backward_imports("from bayes_sota.maximum.field import Field", "maximum.law") == []
    assert backward_imports("import bayes_sota as bs", "cli.demo") == []


def test_the_walker_sees_a_misplaced_library() -> None:
    source = "def f():\n    from pymc.math import exp\n    import matplotlib.pyplot as plt"
    assert misplaced_libraries(source, "maximum.law") == ["matplotlib", "pymc"]
    typing_only = "if TYPE_CHECKING:\n    import pandas as pd"
    assert misplaced_libraries(typing_only, "data.leaderboard") == []


def loaded_after(code: str) -> set[str]:
    """Heavy libraries that a fresh process holds after running the code."""
    script = f"import sys\n{code}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    run = [sys.executable, "-W", "error", "-c", script]
    return set(subprocess.run(run, check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize(
    "code",
    [
        "import bayes_sota",
        "import bayes_sota as bs; bs.Leaderboard; bs.Priors; bs.core.schema; dir(bs)",
        "from bayes_sota.data.examples import load_example; load_example('cassava')",
        "import bayes_sota as bs; bs.load_model('observed-maximum')",
    ],
)
def test_import_costs_numpy_and_nothing_more(code: str) -> None:
    assert loaded_after(code) == set()


def test_exact_mathematics_needs_no_models() -> None:
    code = (
        "from bayes_sota.maximum.law import maximum_law\n"
        "maximum_law(n_test=100, n_classifiers=10, skill=0.9, correlation=0.6).mean()"
    )
    assert loaded_after(code) <= {"scipy"}
