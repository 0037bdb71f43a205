"""Every public name imports and is documented, and the documentation's examples run."""

import doctest
import inspect
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bayes_sota
from bayes_sota.core.skills import LogitNormal

PACKAGE = Path(bayes_sota.__file__).parent
MODULES = sorted(
    ".".join(("bayes_sota", *path.relative_to(PACKAGE).with_suffix("").parts))
    .removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)  # fmt: skip
MODULES += [f"published.{name}" for name in (
    "agreement", "comparisons", "estimators", "findings", "numbers_epp", "numbers_maximum", "study",
)]  # fmt: skip
# Their examples take more than half a second, mostly to compile a model.
SLOW_EXAMPLES = {f"bayes_sota.{name}" for name in (
    "claims.models", "claims.plots", "claims.sample_exact",
    "core.command_report", "core.plots", "leaderboard.sample_sensitivity",
    "core.summary", "crossval.across_tasks", "crossval.models", "crossval.summary",
    "data.examples", "leaderboard.entries", "leaderboard.from_items",
    "leaderboard.models", "leaderboard.plots",
    "leaderboard.posterior", "leaderboard.sample_estimate", "leaderboard.summary_entries",
    "leaderboard.summary_newcomers", "leaderboard.summary_sota", "maximum.models",
    "maximum.plots", "maximum.posterior", "maximum.sample",
    "maximum.shrinkage", "maximum.summary_compare", "leaderboard.models_pairs",
    "leaderboard.pairs_posterior", "leaderboard.sample_pairs",
)} | {"published.estimators"}  # fmt: skip
ROOMS = {name: getattr(bayes_sota, name) for name in (
    "auc", "claims", "core", "crossval", "data", "epp", "items", "leaderboard", "maximum",
)}  # fmt: skip


def test_everyday_names_are_few_unique_and_completed() -> None:
    assert len(bayes_sota.__all__) == len(set(bayes_sota.__all__))
    assert set(bayes_sota.__all__) <= set(dir(bayes_sota))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bayes_sota.no_such_name
    assert len(set(bayes_sota.__all__) - set(ROOMS)) <= 40


@pytest.mark.parametrize(
    ("place", "name"),
    [(bayes_sota, name) for name in bayes_sota.__all__]
    + [(place, name) for place in ROOMS.values() for name in place.__all__],
)
def test_public_name_imports_and_is_documented(place: Any, name: str) -> None:
    value = getattr(place, name)
    documentation = inspect.getdoc(value)
    assert documentation
    assert "(" not in documentation.splitlines()[0][: len(name) + 1], "a generated docstring"


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.slow) if name in SLOW_EXAMPLES else name
    for name in MODULES
])  # fmt: skip
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0


def dataclasses_of_the_package() -> Iterator[type]:
    for name in MODULES:
        for value in vars(import_module(name)).values():
            if inspect.isclass(value) and value.__module__ == name and is_dataclass(value):
                yield value


def test_no_dataclass_compares_arrays_by_the_generated_equality() -> None:
    """Which raises where an array has more than one number."""
    array = ("ndarray", "NDArray", "FloatArray", "ArrayLike", "DataFrame", "Dataset", "DataTree")
    wrong = {
        f"{of.__module__}.{of.__qualname__}"
        for of in dataclasses_of_the_package()
        if of.__dataclass_params__.eq  # type: ignore[attr-defined]
        and any(word in str(field.type) for field in fields(of) for word in array)
    }
    assert wrong == set()


def test_laws_and_distributions_can_be_compared() -> None:
    law = bayes_sota.maximum_law(n_test=50, n_classifiers=3, skill=0.9)
    assert law == law
    assert law != bayes_sota.maximum_law(n_test=50, n_classifiers=3, skill=0.8)
    several = [LogitNormal(np.array([1.0, 2.0]), spread) for spread in (0.1, 0.1, 0.2)]
    assert several[0] == several[1] != several[2]
    assert len(set(several)) == 2


@pytest.mark.parametrize("room", ["maximum", "leaderboard", "claims", "epp", "crossval"])
def test_builders_are_listed(room: str) -> None:
    module = getattr(bayes_sota, room)
    builders = [name for name in module.__all__ if name.startswith("build_")]
    assert builders
    for name in builders:
        assert name in dir(module)
        assert callable(getattr(module, name))
