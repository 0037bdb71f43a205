"""Rules for the files themselves: nothing in them holds on one machine only."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from bayes_sota import __version__

ROOT = Path(__file__).resolve().parents[1]
TEXT = {".py", ".toml", ".md", ".cff", ".json", ".ipynb", ".cfg", ".txt", ".yml", ".yaml", ""}
SCRIPT = ROOT / ".ci" / "run"
# Patterns, and lines that they see, written in pieces, so that the rules do not catch themselves.
FORBIDDEN = {
    "absolute path of a machine": (
        r"(?<![\w./:])/(work|root|home|Users|tmp|opt|mnt)/\w",
        'open("/ho' + "me/someone/board.csv",
    ),
    "package registry": (
        r"(pypi|pythonhosted)\.org|(registry\.)?npmjs\.(org|com)",
        "https://py" + "pi.org/simple",
    ),
    "unsafe reading": (
        r"\b(pickle|dill|joblib)\.loads?\(|\ballow_pickle=True",
        "data = pickle" + ".load(",
    ),
    "folder beside the checkout": (r"\.\./shared", ".." + "/shared"),
    "evaluation": (r"(?<![\w.])eval\(", "value = ev" + "al(text)"),
}


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def repository_files():
    """Files that git tracks or would track; of an unpacked archive, all of them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return sorted(path for path in paths if path.is_file() and path.suffix in TEXT)


FILES = repository_files()


@pytest.mark.parametrize("rule", FORBIDDEN)
def test_no_file_breaks_a_rule(rule):
    pattern, example = re.compile(FORBIDDEN[rule][0]), FORBIDDEN[rule][1]
    assert pattern.search(example)
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in FILES
        if path not in (Path(__file__).resolve(), SCRIPT)
        for number, line in enumerate(read(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


def test_versions_agree():
    assert f"\nversion: {__version__}\n" in read("CITATION.cff")
    assert f"\n## {__version__} - " in read("CHANGELOG.md")
    assert f'version: "{__version__}"' in read("docs/conda/recipe.yaml")
    versions = read(".python-version").split()
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert project["requires-python"] == f">={min(versions)}"
    shown = [c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3" in c]
    assert sorted(shown) == sorted(versions)


def test_the_conda_recipe_needs_what_the_package_needs():
    project = tomllib.loads(read("pyproject.toml"))["project"]
    needed = yaml.safe_load(read("docs/conda/recipe.yaml"))["requirements"]

    def same(requirements):
        """Names, which conda has other ones for, and versions without the order of bounds."""
        texts = (text.replace("matplotlib-base", "matplotlib") for text in requirements)
        return {(one.name, str(one.specifier)) for one in map(Requirement, texts)}

    assert same(needed["run"]) == same([*project["dependencies"], "python>=3.12", "h5py"])
    optional = project["optional-dependencies"]
    extras = [text for name in ("cv", "excel", "parquet") for text in optional[name]]
    assert same(needed["run_constraints"]) == same(extras)
