"""Fixtures that several rooms use."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("MPLBACKEND", "agg")  # figures are saved, never shown
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one test per core, one thread per test


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
