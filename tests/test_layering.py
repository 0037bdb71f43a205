"""Imports go one way, and heavy libraries stay in the rooms that own them."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "bayes_sota"

# A room imports from itself and from rooms before it; rooms of one line know nothing of each other.
ROOMS = ({"core"}, {"data"}, {"auc"}, {"items"}, {"maximum"}, {"leaderboard"},
         {"claims", "epp", "crossval"}, {"cli"})  # fmt: skip
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
    "pandas": {"sample", "summary", "plots", "cli", "core.tables", "data.reading",
               "crossval.run", "crossval.fold_scores", "epp.models"},
    "click": {"cli"},
    "rich": {"cli", "core.parallel"},
    "sklearn": {"crossval.run"},
    "numba": set(),
    "pyarrow": {"data.reading"},
    "openpyxl": set(),
}  # fmt: skip
HEAVY = ("scipy", "pandas", "xarray", "pymc", "pytensor", "arviz", "matplotlib", "numba",
         "pyarrow", "openpyxl", "polars", "joblib", "sklearn", "distributed")  # fmt: skip

PATHS = {
    ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.name not in ("__init__.py", "__main__.py")
}


def room_of(name):
    return name.partition(".")[0]


def role_of(name):
    """Its rank."""
    word = name.rpartition(".")[2].partition("_")[0]
    word = "cli" if room_of(name) == "cli" else word
    return ROLES.index(word) if word in ROLES else 0


class WithoutTyping(ast.NodeTransformer):
    """Removes the imports that only a type checker sees."""

    def visit_If(self, node):
        typing_only = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return node.orelse if typing_only else self.generic_visit(node)


@cache
def imported_names(source, typing=True):
    """Dotted names that a module imports anywhere, with what comes from the package resolved."""
    tree, found = ast.parse(source), []
    for node in ast.walk(tree if typing else WithoutTyping().visit(tree)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in names if name.removeprefix("bayes_sota.") in PATHS]
            inside = modules or (names if node.module == "bayes_sota" else [node.module or ""])
            found += ["<relative>"] if node.level else inside
    return found


def backward_imports(source, name):
    """Imports of later rooms, neighbours and later roles, and of the package as a whole."""
    found = []
    for imported in imported_names(source):
        first, _, rest = imported.partition(".")
        target, room = room_of(rest), room_of(name)
        # Through the package's own names an import could reach any room unseen.
        known = target in RANK or (rest == "" and room == "cli")
        later = rest and target != room and RANK.get(target, 0) >= RANK[room]
        inside = first == "bayes_sota" and rest != "__version__"
        if imported == "<relative>" or (inside and (later or not known)):
            found.append(imported)
    for imported in imported_names(source, typing=False):
        rest = imported.removeprefix("bayes_sota.")
        if rest in PATHS and role_of(rest) > role_of(name):
            found.append(imported)
    return found


def misplaced_libraries(source, name):
    """Libraries imported at run time by a file whose role does not own them."""
    names = {imported.partition(".")[0] for imported in imported_names(source, typing=False)}
    owned = {ROLES[role_of(name)], name}
    return sorted(library for library in names & set(OWNERS) if not owned & OWNERS[library])


@pytest.mark.parametrize("room", sorted({room_of(name) for name in PATHS}))
def test_imports_go_one_way(room):
    assert room in RANK, f"give the room {room} its place in ROOMS"
    sources = {name: PATHS[name].read_text() for name in PATHS if room_of(name) == room}
    for check in (backward_imports, misplaced_libraries):
        wrong = {name: found for name, text in sources.items() if (found := check(text, name))}
        assert wrong == {}


def test_no_imports_go_in_a_circle():
    graph = {}
    for name, path in PATHS.items():
        found = imported_names(path.read_text(encoding="utf-8"), typing=False)
        graph[name] = {one.removeprefix("bayes_sota.") for one in found} & set(PATHS) - {name}
    assert len(list(TopologicalSorter(graph).static_order())) == len(PATHS)


@pytest.mark.parametrize(
    ("source", "name", "seen"),
    [
        ("from bayes_sota.maximum.law import maximum_law", "data.leaderboard", True),
        ("def f():\n    import bayes_sota.maximum.plots", "core.summary", True),
        ("from bayes_sota.claims.laws import x", "epp.equations", True),
        ("from .maximum import maximum_law", "maximum.law", True),
        ("from bayes_sota.maximum.law import MaximumLaw", "core.errors", True),
        ("from bayes_sota.maximum.law import Field", "maximum.shrinkage", False),
    ],
)
def test_the_walker_sees_backward_imports_alone(source, name, seen):
    assert bool(backward_imports(source, name)) is seen


def test_the_walker_sees_a_misplaced_library():
    source = "def f():\n    from pymc.math import exp\n    import matplotlib.pyplot as plt"
    assert misplaced_libraries(source, "maximum.law") == ["matplotlib", "pymc"]
    assert misplaced_libraries("if TYPE_CHECKING:\n    import pandas", "data.leaderboard") == []


@pytest.mark.parametrize(
    ("code", "loaded"),
    [
        ("import bayes_sota as bs; bs.Leaderboard; bs.Priors; bs.core.schema; dir(bs)", set()),
        ("from bayes_sota.data.examples import load_example; load_example('cassava')", set()),
        ("import bayes_sota as bs; bs.load_model('observed-maximum')", set()),
        ("import bayes_sota as bs\n"
         "bs.maximum_law(n_test=100, n_classifiers=10, skill=0.9, correlation=0.6).mean()",
         {"scipy"}),
    ],
)  # fmt: skip
def test_import_costs_numpy_and_nothing_more(code, loaded):
    script = f"import sys\n{code}\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    run = [sys.executable, "-W", "error", "-c", script]
    found = subprocess.run(run, check=True, capture_output=True, text=True).stdout.split()
    assert set(found) <= loaded
