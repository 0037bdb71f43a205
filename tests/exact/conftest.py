"""The independent computation of tests/benchmarks, as a module."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def independent() -> ModuleType:
    """Laws by direct summation in extended precision; shares no code with the package."""
    path = Path(__file__).resolve().parents[1] / "benchmarks" / "independent_table1.py"
    spec = importlib.util.spec_from_file_location("independent_table1", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
