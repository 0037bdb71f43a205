"""What is built holds everything, and works where nothing else is installed."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
UV = os.environ.get("UV") or shutil.which("uv")
BEST = ("sota", "--maximum", "0.93", "--n-test", "500", "--classifiers", "4")
MODELS = sorted(path.stem for path in (ROOT / "models").glob("*.toml"))

pytestmark = pytest.mark.skipif(UV is None, reason="building and installing the wheel needs uv")


def run(*command: str | Path, cwd: Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command that knows nothing of the checkout and of this process's environment."""
    left_out = ("VIRTUAL_ENV", "PYTHONPATH", "PYENV_VERSION")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == code, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


def build(source: Path, kind: str, out: Path) -> Path:
    command = ("build", f"--{kind}", "--python", sys.executable, "--out-dir", out, source)
    run(UV or "", *command, cwd=out.parent)
    (built,) = (path for path in out.iterdir() if path.suffix in (".whl", ".gz"))
    return built


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel") / "out")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist") / "out")


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def expected_in_wheel() -> set[str]:
    """Every tracked kind of file of the package, and the models under the package."""
    package = ROOT / "bayes_sota"
    kinds = (
        ".py",
        ".pyi",
        ".json",
        ".typed",
        ".gz",
        ".toml",
        ".csv",
        ".html",
        ".css",
        ".js",
        ".txt",
    )
    files = (p for p in package.rglob("*") if p.suffix in kinds)
    kept = {p.relative_to(ROOT).as_posix() for p in files}
    return kept | {f"bayes_sota/_models/{name}.toml" for name in MODELS}


def test_wheel_holds_everything(wheel: Path) -> None:
    names = names_in(wheel)
    assert expected_in_wheel() <= names
    assert "bayes_sota/py.typed" in names
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_wheel_holds_nothing_else(wheel: Path) -> None:
    rest = names_in(wheel) - expected_in_wheel()
    assert not [name for name in rest if ".dist-info/" not in name]


@pytest.mark.slow
def test_sdist_holds_what_a_reader_needs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    documents = ("README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md")
    assert {*documents, "SECURITY.md", "pyproject.toml", "tests/conftest.py"} <= names
    assert {f"models/{name}.toml" for name in MODELS} <= names
    assert "docs/index.md" in names
    built = ("docs/_build", "docs/jupyter_execute", "docs/api/generated", "docs/notebooks")
    assert [name for name in names if name.startswith(built)] == []


@pytest.mark.slow
def test_sdist_builds_the_same_wheel(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    assert names_in(build(sdist, "wheel", tmp_path / "out")) == names_in(wheel)


def pinned(directory: Path) -> Path:
    """Constraints of the checkout, so that a release elsewhere does not change this test."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    path = directory / "constraints.txt"
    path.write_text("\n".join(settings["tool"]["uv"]["constraint-dependencies"]))
    return path


def install(wheel: Path, place: Path, python: str = sys.executable, extras: str = "") -> Path:
    """Directory of the scripts of an empty environment that holds the wheel."""
    venv = place / "venv"
    found = (UV or "", "python", "find", "--no-python-downloads", python)
    if subprocess.run(found, cwd=ROOT, capture_output=True).returncode:
        pytest.skip(f"there is no Python {python}")
    # In the checkout, whose ``.python-version`` says to pyenv which Pythons there are.
    run(UV or "", "venv", "--python", python, venv, cwd=ROOT)
    scripts = venv / ("Scripts" if os.name == "nt" else "bin")
    wanted = f"{wheel}[{extras}]" if extras else wheel
    command = ("pip", "install", "--python", scripts / "python", "-c", pinned(place), wanted)
    run(UV or "", *command, cwd=place)
    return scripts


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("installed"))


@pytest.mark.slow
def test_installed_package_finds_its_models(installed: Path, tmp_path: Path) -> None:
    code = (
        "import json, bayes_sota, bayes_sota.leaderboard.specification as s;"
        "print(json.dumps([bayes_sota.__file__, s.model_names()]))"
    )
    file, names = json.loads(run(installed / "python", "-c", code, cwd=tmp_path).stdout)
    assert ROOT not in Path(file).parents
    assert {*MODELS, "tabular"} - {"fields"} <= set(names)


@pytest.mark.slow
def test_installed_commands_answer_and_refuse(installed: Path, tmp_path: Path) -> None:
    from bayes_sota import __version__

    def answer(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        return run(installed / "bayes-sota", *words, cwd=tmp_path, code=code)

    assert __version__ in answer("--version").stdout
    best = "sota --maximum 0.91157 --rounding floor --n-test 11072 --classifiers 3558"
    refused = answer("sota", "--model", "no-such-model", code=2)
    assert (refused.stdout, refused.stderr.count("\n")) == ("", 1)
    assert refused.stderr.startswith("error: ")
    found = answer(*best.split(), "--json", "--seed", "1").stdout
    result = json.loads(found)
    assert (result["n_test"], result["n_classifiers"]) == (11_072, 3_558)
    assert result["observed_maximum"] == pytest.approx(0.91157, abs=1e-4)
    low, high = result["theta_sota"]["interval"]
    assert 0.900 < low < result["theta_sota"]["mean"] < high < 0.920
    assert result["diagnostics"]["ok"]


@pytest.mark.slow
def test_installed_demo_leaves_its_files(installed: Path, tmp_path: Path) -> None:
    assert run(installed / "bayes-sota", "demo", cwd=tmp_path).stdout
    assert [path.name for path in tmp_path.iterdir()] == ["bayes-sota-demo"]
    written = {path.suffix for path in (tmp_path / "bayes-sota-demo").iterdir()}
    assert ".nc" in written
    assert written & {".png", ".svg", ".pdf"}


@pytest.mark.slow
def test_every_part_works_on_the_oldest_python(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the extras; NUTS without a home folder, as the message of ``test_no_home_folder`` says.

    The compiled code of earlier runs is used again, because compiling takes minutes.
    """
    scripts = install(wheel, tmp_path, "3.12", "cv,excel,parquet")
    code = "from sklearn.datasets import load_iris as x; x(as_frame=True).frame.to_excel('i.xlsx')"
    run(scripts / "python", "-c", code, cwd=tmp_path)
    asked = "cv run i.xlsx --learners nb --scoring roc_auc_ovr --iterations 2"
    run(scripts / "bayes-sota", *asked.split(), cwd=tmp_path)
    monkeypatch.setenv("PYTENSOR_FLAGS", f"base_compiledir={Path.home() / '.pytensor'}")
    if os.name != "nt":
        monkeypatch.setenv("HOME", os.devnull)
    sampled = (*BEST, "--method", "nuts")
    run(scripts / "bayes-sota", *sampled, cwd=tmp_path)


@pytest.mark.slow
def test_what_is_missing_is_named_in_one_line(installed: Path, tmp_path: Path) -> None:
    import pandas as pd

    table = pd.DataFrame({"model": ["a", "b"], "score": [0.9, 0.8], "y": [0, 1]})
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_excel(tmp_path / "t.xlsx", index=False)

    def refused(*words: str) -> str:
        done = run(installed / "bayes-sota", *words, cwd=tmp_path, code=2)
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        return done.stderr

    assert "'bayes-sota[excel]'" in refused("sota", "t.xlsx", "--n-test", "100")
    assert "'bayes-sota[cv]'" in refused("cv", "run", "t.csv")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is always a home folder")
def test_no_home_folder(installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", os.devnull)
    run(installed / "bayes-sota", *BEST, "--save", "exact.png", cwd=tmp_path)
    sampled = (*BEST, "--method", "nuts")
    done = run(installed / "bayes-sota", *sampled, cwd=tmp_path, code=2)
    assert "PYTENSOR_FLAGS=base_compiledir=" in done.stderr
    assert done.stderr.count("\n") == 1
