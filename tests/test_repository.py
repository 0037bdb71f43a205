"""Rules for the files themselves: nothing in them holds on one machine only."""

import re
import shlex
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
THIS = Path(__file__).resolve()
TEXT = {".py", ".toml", ".md", ".cff", ".json", ".ipynb", ".cfg", ".txt", ".yml", ".yaml", ""}

# Written in pieces, so that the rules do not catch themselves.
FORBIDDEN = {
    "absolute path of a machine": r"(?<![\w./:])/(work|root|home|Users|tmp|opt|mnt)/\w",
    "package registry": r"(pypi|pythonhosted)\.org|(registry\.)?npmjs\.(org|com)",
    "unsafe reading": r"\b(pickle|dill|joblib)\.loads?\(|\ballow_pickle=True|(?<![\w.])eval\(",
}
NEIGHBOUR = ".." + "/shared"
FAMILY_NAMES = {"utils", "helpers", "common", "misc"}


def repository_files() -> list[Path]:
    """Files that git tracks or would track; of an unpacked archive, all of them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path for path in ROOT.rglob("*") if ".venv" not in path.parts]
    return sorted(path for path in paths if path.is_file() and path.suffix in TEXT)


FILES = repository_files()
SCRIPT = ROOT / ".ci" / "run"
checkout_only = pytest.mark.skipif(not SCRIPT.is_file(), reason="an unpacked archive has no .ci")


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", FORBIDDEN)
def test_no_file_breaks_a_rule(rule: str) -> None:
    pattern = re.compile(FORBIDDEN[rule])
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in FILES
        if path != THIS
        for number, line in enumerate(read(path).splitlines(), 1)
        if pattern.search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("rule", "line"),
    [
        ("absolute path of a machine", 'open("/ho' + 'me/someone/board.csv")'),
        ("package registry", "index = https://py" + "pi.org/simple"),
        ("unsafe reading", "data = pickle" + ".load(file)"),
        ("unsafe reading", "value = ev" + "al(text)"),
    ],
)
def test_the_rules_see_what_they_forbid(rule: str, line: str) -> None:
    assert re.search(FORBIDDEN[rule], line)


@checkout_only
def test_only_the_continuous_integration_knows_its_neighbour() -> None:
    found = [path for path in FILES if NEIGHBOUR in read(path)]
    assert found == [SCRIPT]


def test_no_module_is_a_drawer_for_everything() -> None:
    assert [path for path in FILES if path.stem in FAMILY_NAMES] == []


def test_every_module_says_what_holds_in_it() -> None:
    modules = (path for path in (ROOT / "bayes_sota").rglob("*.py") if read(path).strip())
    assert [path for path in modules if not read(path).startswith(('"""', 'r"""'))] == []


@checkout_only
def test_the_script_of_the_continuous_integration_is_executable() -> None:
    assert SCRIPT.stat().st_mode & stat.S_IXUSR
    assert subprocess.run(["bash", "-n", SCRIPT], check=False).returncode == 0


HOSTED = {
    ".github/workflows/tests.yml": "custom.github-workflows-require-timeout",
    ".github/workflows/release.yml": "custom.github-workflows-require-timeout",
    ".github/dependabot.yml": "vendor.dependabot",
    ".github/ISSUE_TEMPLATE/config.yml": "vendor.github-issue-config",
    ".github/ISSUE_TEMPLATE/wrong-number.yml": "vendor.github-issue-forms",
    ".github/ISSUE_TEMPLATE/file-format.yml": "vendor.github-issue-forms",
    ".readthedocs.yaml": "vendor.readthedocs",
    "CITATION.cff": "vendor.citation-file-format",
}


@pytest.mark.slow
@checkout_only
@pytest.mark.parametrize("path", HOSTED)
def test_what_hosting_sites_read_has_their_schema(path: str) -> None:
    schemas = [HOSTED[path]]
    if "workflows" in path:
        schemas.append("vendor.github-workflows")
    for schema in schemas:
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path]
        checked = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stdout


@checkout_only
def test_the_workflows_run_parts_of_the_script() -> None:
    parts = set(re.findall(r"^run_(\w+)\(\)", read(SCRIPT), re.M))
    workflow = read(ROOT / ".github" / "workflows" / "tests.yml")
    alone = set(re.findall(r"bash \.ci/run (\w+)$", workflow, re.M))
    listed = re.search(r"part: \[(.*)\]", workflow)
    assert listed is not None
    assert alone | set(listed[1].split(", ")) == parts


def test_versions_agree() -> None:
    from bayes_sota import __version__

    assert f"\nversion: {__version__}\n" in read(ROOT / "CITATION.cff")
    assert f"\n## {__version__} - " in read(ROOT / "CHANGELOG.md")
    assert f'version: "{__version__}"' in read(ROOT / "docs/conda/recipe.yaml")


def test_the_conda_recipe_needs_what_the_package_needs() -> None:
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    recipe = yaml.safe_load(read(ROOT / "docs/conda/recipe.yaml"))

    def same(requirements: list[str]) -> set[tuple[str, str]]:
        """Names, which conda has other ones for, and versions without the order of bounds."""
        parsed = [
            Requirement(text.replace("matplotlib-base", "matplotlib")) for text in requirements
        ]
        return {(needed.name, str(needed.specifier)) for needed in parsed}

    run = recipe["requirements"]["run"]
    assert same(run) == same([*project["dependencies"], "python>=3.12", "h5py"])
    extras = [
        text
        for name in ("cv", "excel", "parquet")
        for text in project["optional-dependencies"][name]
    ]
    assert same(recipe["requirements"]["run_constraints"]) == same(extras)


def test_python_versions_agree() -> None:
    versions = read(ROOT / ".python-version").split()
    project = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]
    assert project["requires-python"] == f">={min(versions)}"
    shown = [c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3" in c]
    assert sorted(shown) == sorted(versions)


def test_the_licence_is_whole() -> None:
    licence = read(ROOT / "LICENSE")
    assert "Apache License" in licence[:200]
    assert "END OF TERMS AND CONDITIONS" in licence


def readme_blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", read(ROOT / "README.md"), re.M | re.S)


def run_in(folder: Path, code: str, *arguments: str) -> int:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, check=False).returncode


def test_a_person_reads_the_readme_to_its_end() -> None:
    assert len(read(ROOT / "README.md").split()) <= 900


@pytest.mark.slow
def test_the_examples_of_the_readme_run(tmp_path: Path) -> None:
    shell = [block for block in readme_blocks("sh") if "pip install" not in block]
    python = readme_blocks("python")
    assert (len(shell), len(python)) == (6, 1)
    for line in shell:
        command = "import sys; from bayes_sota.cli import main; sys.exit(main(sys.argv[1:]))"
        assert run_in(tmp_path, command, *shlex.split(line)[3:]) == 0
    assert run_in(tmp_path, python[0]) == 0
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
