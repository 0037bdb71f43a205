"""Fixtures that several rooms use."""

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import xarray as xr

import bayes_sota as bs

os.environ.setdefault("MPLBACKEND", "agg")  # figures are saved, never shown
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one test per core, one thread per test
# Without kept bytecode every process that a test starts would compile what it imports: seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


_BROWSER = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--allow-file-access-from-files",
)  # fmt: skip


@pytest.fixture(scope="session")
def data_directory() -> Path:
    """Directory of the real data, which are not part of the repository."""
    value = os.environ.get("BAYES_SOTA_DATA")
    if not value:
        pytest.skip("BAYES_SOTA_DATA is not set: it names the directory of the real leaderboards")
    directory = Path(value)
    if not directory.is_dir():
        pytest.fail(f"BAYES_SOTA_DATA is not a directory: {value}")
    return directory


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout."""
    return Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def option_inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directory with one small file of every kind that commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    rng = np.random.default_rng(5)

    def write(name: str, header: str, rows: object) -> None:
        lines = [header, *(",".join(map(str, row)) for row in rows)]  # type: ignore[attr-defined]
        (folder / name).write_text("\n".join(lines) + "\n")

    counts = rng.binomial(500, 0.9 - 0.02 * rng.random(20))
    write("board.csv", "team,score,other", ((f"t{i}", f"{x / 500:.4f}", f"{x / 600:.4f}")
                                          for i, x in enumerate(counts)))  # fmt: skip
    write("gaps.csv", "team,score", (("a", "0.912"), ("b", ""), ("c", "0.876"), ("d", "0.534")))
    write("errors.csv", "team,score", ((f"t{i}", f"{1.2 + 0.1 * x:.4f}")
                                       for i, x in enumerate(rng.gamma(2, 1, 20))))  # fmt: skip
    hard = rng.normal(size=80)
    write("answers.csv", "a,b,c,d", (
        [int(rng.normal() + x < 1 - 0.2 * j) for j in range(4)] for x in hard
    ))  # fmt: skip
    write("exam.csv", "model,task,topic,unit,item,seed,turn,correct", (
        [m, "ab"[i % 3 > 0], "cd"[i % 2], i // 4, i, r, (r * (i % 5 > 0)) + 5 * (i % 5 == 0) * r,
         int(rng.normal() + x < 1 - 0.2 * j)]
        for j, m in enumerate("xyz") for i, x in enumerate(hard) for r in range(2)
    ))  # fmt: skip
    write("runs.csv", "item,cluster,a@1,a@2,b@1,b@2", (
        [f"i{i}", f"c{i // 4}", *(int(rng.normal() + x < 1 - 0.2 * (j // 2)) for j in range(4))]
        for i, x in enumerate(hard)
    ))  # fmt: skip
    write("items.csv", "case,group,gold,a,b,c", (
        [f"i{i}", f"g{i // 4}", int(x > 0), *(f"{x / 4 + rng.normal(0.5 - 0.05 * j, 0.2):.3f}"
                                              for j in range(3))]
        for i, x in enumerate(hard)
    ))  # fmt: skip
    skill = 0.8 - 0.05 * rng.exponential(size=40)
    write("paired.csv", "team,public_score,private_score,public_2,private_2,label", (
        [f"t{i}", rng.binomial(500, s) / 500, rng.binomial(1500, s) / 1500,
         rng.binomial(500, s) / 500, rng.binomial(1500, s) / 1500, f"x{i}"]
        for i, s in enumerate(skill)
    ))  # fmt: skip
    write("private.csv", "team,score", ((f"t{i}", rng.binomial(1500, s) / 1500)
                                        for i, s in enumerate(skill)))  # fmt: skip
    write("public.csv", "team,score", ((f"t{i}", rng.binomial(500, s) / 500)
                                       for i, s in enumerate(skill)))  # fmt: skip
    write("rounds.csv", "task,a,b,c,d", (
        [f"r{r}", *(f"{rng.normal(0.5 - 0.05 * j, 0.1):.3f}" for j in range(4))] for r in range(9)
    ))  # fmt: skip
    long = [(f"d{d}", f"f{f}", player, d + f, f"{rng.normal(0.5 - 0.05 * j, 0.1):.3f}")
            for d in range(6) for f in range(4) for j, player in enumerate("abc")]  # fmt: skip
    write("folds.csv", "data,fold,player,score2,score", long)
    write("repeats.csv", "learner,task,iteration,fold,auc", (
        (learner, task, i, f, f"{rng.normal(0.9 - 0.02 * j, 0.02):.3f}")
        for j, learner in enumerate("abc") for task in "st" for i in range(12) for f in range(2)
    ))  # fmt: skip
    write("battles.csv", "winner,loser,judge", (
        [*(("a", "b") if rng.random() < 0.6 else ("b", "a")), f"j{i % 7}"] if i % 3 else
        [*(("b", "c") if rng.random() < 0.6 else ("c", "b")), f"j{i % 7}"] for i in range(60)
    ))  # fmt: skip
    write("claims.csv", "name,topic,group,accuracy_a,accuracy_b,n_test", (
        ("x", "p", "u", 0.90, 0.88, 500), ("y", "p", "v", 0.95, 0.90, 1000),
        ("z", "q", "v", 0.7, 0.69, 100),
    ))  # fmt: skip
    write("means.csv", "name,mean_a,mean_b,n_test", (("x", 0.81, 0.80, 100), ("y", 0.7, 0.6, 50)))
    write("averaged.csv", "name,accuracy_a,accuracy_b,n_test", (("x", 0.913, 0.9, 100),))
    write("numbers.csv", "label,a,b,c", (
        [int(x > 0), *(f"{x / 4 + rng.normal(0.5 - 0.05 * j, 0.2):.3f}" for j in range(3))]
        for x in hard
    ))  # fmt: skip
    fine = rng.binomial(3000, 0.9 - 0.02 * rng.random(20))  # three counts print as each score
    write("fine.csv", "team,score,other", ((f"t{i}", f"{x / 3000:.3f}", f"{x / 4000:.3f}")
                                           for i, x in enumerate(fine)))  # fmt: skip
    write("broken.csv", "name,accuracy_a,accuracy_b,n_test", (
        ("x", 0.90, 0.88, 500), ("y", 0.95, "", 1000),
    ))  # fmt: skip
    write("tested.csv", "learner,task,auc", (
        (learner, task, 0.9 - 0.02 * j) for j, learner in enumerate("abc") for task in "st"
    ))  # fmt: skip
    write("own.csv", "team,score,size,se,a,b,c,a_n,b_n,c_n,a_se,b_se,c_se", (
        [f"t{i}", f"{k / n:.2f}", n, 0.01 + 0.001 * i, *rng.integers(30, 50, 3) / 60, 60, 60, 120,
         *(0.05 + 0.01 * rng.random(3)).round(4)]
        for i, n in enumerate([500, 100] * 4) for k in [rng.binomial(n, 0.8)]
    ))  # fmt: skip
    (folder / "model.toml").write_text("")
    return folder


@pytest.fixture(scope="session")
def script(repository: Path) -> Callable[[str], ModuleType]:
    """Importer of scripts in ``tests/benchmarks``, by name."""

    def load(name: str) -> ModuleType:
        path = repository / "tests" / "benchmarks" / f"{name}.py"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look themselves up
        spec.loader.exec_module(module)
        return module

    return load


@pytest.fixture(scope="session")
def independent(script: Callable[[str], ModuleType]) -> ModuleType:
    """Laws by direct summation in extended precision; shares no code with the package."""
    return script("independent_table1")


@pytest.fixture(scope="session")
def board() -> bs.Leaderboard:
    return bs.BestScore("0.95", n_test=400, n_classifiers=60)


@pytest.fixture(scope="session")
def tree(board: bs.Leaderboard) -> xr.DataTree:
    return bs.estimate_sota(board, draws=500, random_seed=1)


@pytest.fixture(scope="session")
def two_boards() -> xr.DataTree:
    names_and_maxima = (("public $board$", "0.95"), ("<b>private</b>", "0.93"))
    boards = [
        bs.BestScore(maximum, n_test=400, n_classifiers=60, name=name)
        for name, maximum in names_and_maxima
    ]
    return bs.estimate_sota(boards, draws=300, random_seed=2)


@pytest.fixture
def not_sampled(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """No NUTS: the prior is drawn from in its place. The settings of each call."""
    from prior_draws import prior_trace

    asked: list[dict[str, Any]] = []

    def drawn(model: Any, rng: np.random.Generator, **settings: Any) -> xr.DataTree:
        asked.append(settings)
        few = {"draws": min(settings["draws"], 25)}
        return prior_trace(model, rng, **(settings | few))

    monkeypatch.setattr("bayes_sota.core.sample.run_nuts", drawn)
    return asked


@pytest.fixture(autouse=True)
def _close_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium without a window; its log of the console is kept."""
    if not (shutil.which("chromium") and shutil.which("chromedriver")):
        pytest.skip("needs the programs chromium and chromedriver")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    for flag in (*_BROWSER, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    yield driver
    driver.quit()
