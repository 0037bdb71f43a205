"""Fixtures that several rooms use."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
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
    hard, skill = rng.normal(size=80), 0.8 - 0.05 * rng.exponential(size=40)

    def right(x: float, method: int) -> int:
        return int(rng.normal() + x < 1 - 0.2 * method)

    def about(mean: float, sd: float) -> str:
        return f"{rng.normal(mean, sd):.3f}"

    files: dict[str, tuple[str, Iterable[Any]]] = {
        "board": ("team,score,other", (
            (f"t{i}", f"{x / 500:.4f}", f"{x / 600:.4f}")
            for i, x in enumerate(rng.binomial(500, 0.9 - 0.02 * rng.random(20))))),
        "answers": ("a,b,c,d", ([right(x, j) for j in range(4)] for x in hard)),
        "exam": ("model,task,topic,unit,item,seed,correct", (
            (m, "ab"[i % 3 > 0], "cd"[i % 2], i // 4, i, r, right(x, j))
            for j, m in enumerate("xyz") for i, x in enumerate(hard) for r in range(2))),
        "private": ("team,score", ((f"t{i}", rng.binomial(1500, s) / 1500)
                                   for i, s in enumerate(skill))),
        "public": ("team,score", ((f"t{i}", rng.binomial(500, s) / 500)
                                  for i, s in enumerate(skill))),
        "rounds": ("task,a,b,c,d", ((f"r{r}", *(about(0.5 - 0.05 * j, 0.1) for j in range(4)))
                                    for r in range(9))),
        "repeats": ("learner,task,iteration,fold,auc", (
            (learner, task, i, f, about(0.9 - 0.02 * j, 0.02))
            for j, learner in enumerate("abc") for task in "st" for i in range(12)
            for f in range(2))),
        "claims": ("name,topic,group,accuracy_a,accuracy_b,n_test", (
            ("x", "p", "u", 0.90, 0.88, 500), ("y", "p", "v", 0.95, 0.90, 1000),
            ("z", "q", "v", 0.7, 0.69, 100))),
        "means": ("name,mean_a,mean_b,n_test", (("x", 0.81, 0.80, 100), ("y", 0.7, 0.6, 50))),
        "numbers": ("label,a,b,c", (
            (int(x > 0), *(about(x / 4 + 0.5 - 0.05 * j, 0.2) for j in range(3))) for x in hard)),
    }  # fmt: skip
    for name, (header, rows) in files.items():
        lines = [header, *(",".join(map(str, row)) for row in rows)]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="session")
def tree() -> xr.DataTree:
    board = bs.BestScore("0.95", n_test=400, n_classifiers=60)
    return bs.estimate_sota(board, draws=500, random_seed=1)


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
