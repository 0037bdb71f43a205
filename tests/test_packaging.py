"""The wheel holds everything, and works where nothing else is installed."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from bayes_sota import __version__

ROOT = Path(__file__).resolve().parents[1]
UV = os.environ.get("UV") or shutil.which("uv") or ""
NUTS = "sota --maximum 0.93 --n-test 500 --classifiers 4 --method nuts"
MODELS = sorted(path.stem for path in (ROOT / "models").glob("*.toml"))
KINDS = {".py", ".pyi", ".json", ".jsonl", ".typed", ".xz", ".toml", ".csv", ".xlsx", ".parquet"}
KINDS |= {".html", ".css", ".js", ".txt"}

pytestmark = pytest.mark.skipif(not UV, reason="building and installing the wheel needs uv")


def run(*command, cwd, code=0):
    """Run a command that knows nothing of the checkout and of this process's environment."""
    left_out = ("VIRTUAL_ENV", "PYTHONPATH", "PYENV_VERSION")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    if "BARE" in os.environ:
        environment["PYTHONPATH"] = os.environ["BARE"]
    done = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def build(source, kind, out):
    command = ("build", f"--{kind}", "--python", sys.executable, "--out-dir", out, source)
    run(UV, *command, cwd=out.parent)
    (built,) = (path for path in out.iterdir() if path.suffix in (".whl", ".gz"))
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel") / "out")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist") / "out")


def names_in(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_everything_and_nothing_else(wheel):
    """Every tracked kind of file of the package, and the models under the package."""
    names = names_in(wheel)
    files = (path for path in (ROOT / "bayes_sota").rglob("*") if path.suffix in KINDS)
    expected = {path.relative_to(ROOT).as_posix() for path in files}
    expected |= {f"bayes_sota/_models/{name}.toml" for name in MODELS}
    assert expected == {name for name in names if ".dist-info/" not in name}
    assert "bayes_sota/py.typed" in names
    assert wheel.stat().st_size < 730_000
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_sdist_holds_what_a_reader_needs_and_builds_the_same_wheel(sdist, wheel, tmp_path):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    documents = ("README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md")
    code = ("SECURITY.md", "pyproject.toml", "tests/conftest.py", "docs/index.md")
    assert {*documents, *code, *(f"models/{name}.toml" for name in MODELS)} <= names
    built = ("docs/_build", "docs/jupyter_execute", "docs/api/generated", "docs/notebooks")
    assert [name for name in names if name.startswith(built)] == []
    assert names_in(build(sdist, "wheel", tmp_path / "out")) == names_in(wheel)


def install(wheel, place, python=sys.executable, extras=""):
    """Directory of the scripts of an empty environment that holds the wheel.

    With the constraints of the checkout, so that a release elsewhere does not change this test.
    """
    venv, pinned = place / "venv", place / "constraints.txt"
    found = (UV, "python", "find", "--no-python-downloads", python)
    if subprocess.run(found, cwd=ROOT, capture_output=True).returncode:
        pytest.skip(f"there is no Python {python}")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned.write_text("\n".join(settings["tool"]["uv"]["constraint-dependencies"]))
    # In the checkout, whose ``.python-version`` says to pyenv which Pythons there are.
    run(UV, "venv", "--python", python, venv, cwd=ROOT)
    scripts = venv / ("Scripts" if os.name == "nt" else "bin")
    command = ("pip", "install", "--python", scripts / "python", "-c", pinned, f"{wheel}{extras}")
    run(UV, *command, cwd=place)
    return scripts


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    return install(wheel, tmp_path_factory.mktemp("installed"))


@pytest.fixture
def answer(installed, tmp_path):
    """Runs an installed command, which must end with the expected exit code."""
    return lambda words, code=0: run(
        installed / "bayes-sota", *words.split(), cwd=tmp_path, code=code
    )


@pytest.mark.slow
def test_the_installed_package_finds_its_models_and_answers(installed, answer, tmp_path):
    code = (
        "import json, bayes_sota, bayes_sota.leaderboard.specification as s;"
        "print(json.dumps([bayes_sota.__file__, s.model_names()]))"
    )
    file, names = json.loads(run(installed / "python", "-c", code, cwd=tmp_path).stdout)
    assert ROOT not in Path(file).parents
    assert {*MODELS, "tabular"} - {"fields"} <= set(names)
    assert __version__ in answer("--version").stdout
    best = "sota --maximum 0.91157 --n-test 11072 --classifiers 3558 --json"
    result = json.loads(answer(best).stdout)
    assert (result["n_test"], result["n_classifiers"]) == (11_072, 3_558)
    low, high = result["theta_sota"]["interval"]
    assert 0.900 < low < result["theta_sota"]["mean"] < high < 0.920
    assert result["diagnostics"]["ok"]


@pytest.mark.slow
def test_installed_demo_leaves_its_files(answer, tmp_path):
    assert answer("demo").stdout
    assert [path.name for path in tmp_path.iterdir()] == ["bayes-sota-demo"]
    written = {path.suffix for path in (tmp_path / "bayes-sota-demo").iterdir()}
    assert ".nc" in written
    assert written & {".png", ".svg", ".pdf"}


@pytest.mark.slow
def test_bare_environments_get_one_line_that_says_what_to_do(answer, tmp_path, monkeypatch):
    """No extras, no home folder, a folder that cannot be written to, a library that is too old."""

    def refused(words):
        done = answer(words, code=2)
        assert (done.stdout, done.stderr.count("\n"), done.stderr[:7]) == ("", 1, "error: ")
        return done.stderr

    table = pd.DataFrame({"model": ["a", "b"], "score": [0.9, 0.8], "y": [0, 1]})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_excel(tmp_path / "t.xlsx", index=False)
    assert "'bayes-sota[excel]'" in refused("sota t.xlsx --n-test 100")
    assert "'bayes-sota[cv]'" in refused("cv run t.csv")
    if os.name != "nt":
        assert "cannot write" in refused("score --right 9 --n-test 10 --save /proc/x.json")
        assert "cannot write" in refused("batch t.csv --n-test 100 --output-dir /proc")
        monkeypatch.setenv("HOME", os.devnull)
        answer(f"{NUTS.replace('nuts', 'exact')} --save exact.png")
        assert "PYTENSOR_FLAGS=base_compiledir=" in refused(NUTS)
    written = tmp_path / "old" / "sitecustomize.py"
    written.parent.mkdir()
    written.write_text("import sys; sys.modules['scipy'] = None")
    monkeypatch.setenv("BARE", str(written.parent))
    assert "pip install --upgrade bayes-sota" in refused("score --right 9 --n-test 10")


@pytest.mark.slow
def test_every_part_works_on_the_oldest_python(wheel, tmp_path, monkeypatch):
    """With the extras; NUTS without a home folder, as the message for a missing one says.

    The compiled code of earlier runs is used again, because compiling takes minutes.
    """
    scripts = install(wheel, tmp_path, "3.12", "[cv,excel,parquet]")
    code = "from sklearn.datasets import load_iris as x; x(as_frame=True).frame.to_excel('i.xlsx')"
    run(scripts / "python", "-c", code, cwd=tmp_path)
    asked = "cv run i.xlsx --learners nb --scoring roc_auc_ovr --iterations 2"
    run(scripts / "bayes-sota", *asked.split(), cwd=tmp_path)
    monkeypatch.setenv("PYTENSOR_FLAGS", f"base_compiledir={Path.home() / '.pytensor'}")
    if os.name != "nt":
        monkeypatch.setenv("HOME", os.devnull)
    run(scripts / "bayes-sota", *NUTS.split(), cwd=tmp_path)
