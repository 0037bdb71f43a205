"""Every public name imports and is documented, and the documentation's examples run."""

import doctest
import inspect
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

import bayes_sota

PACKAGE = Path(bayes_sota.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)
MODULES += [f"published.{name}" for name in (
    "agreement", "comparisons", "estimators", "findings", "numbers_epp", "numbers_maximum", "study",
)]  # fmt: skip
# Examples of files with these roles take more than half a second, mostly to compile a model.
SLOW_ROLES = ("models", "plots", "sample", "summary", "posterior", "pairs_p", "entries",
              "from_items", "shrinkage", "estimators")  # fmt: skip
ROOMS = {name: getattr(bayes_sota, name) for name in (
    "auc", "claims", "core", "crossval", "data", "epp", "items", "leaderboard", "maximum",
)}  # fmt: skip


def test_everyday_names_are_few_and_unique():
    names = bayes_sota.__all__
    assert len(names) == len(set(names))
    assert len(set(names) - set(ROOMS)) <= 40
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = bayes_sota.no_such_name


@pytest.mark.parametrize("place", [bayes_sota, *ROOMS.values()], ids=lambda place: place.__name__)
def test_public_names_import_are_listed_and_documented(place):
    assert set(place.__all__) <= set(dir(place))
    for name in place.__all__:
        documentation = inspect.getdoc(getattr(place, name))
        assert documentation, name
        generated = "(" in documentation.splitlines()[0][: len(name) + 1]
        assert not generated, name


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] * name.rpartition(".")[2].startswith(SLOW_ROLES))
    for name in MODULES
])  # fmt: skip
def test_examples_in_docstrings(name):
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0


def test_no_dataclass_compares_arrays_by_the_generated_equality():
    """Which raises where an array has more than one number."""
    array = ("ndarray", "NDArray", "FloatArray", "ArrayLike", "DataFrame", "Dataset", "DataTree")
    values = [(name, value) for name in MODULES for value in vars(import_module(name)).values()]
    found = [v for name, v in values if is_dataclass(v) and getattr(v, "__module__", "") == name]
    compared = [v for v in found if inspect.isclass(v) and v.__dataclass_params__.eq]
    types = {(of.__qualname__, str(field.type)) for of in compared for field in fields(of)}
    assert found
    assert [of for of, kind in types if any(word in kind for word in array)] == []


def test_laws_can_be_compared():
    laws = [bayes_sota.maximum_law(n_test=50, n_classifiers=3, skill=s) for s in (0.9, 0.9, 0.8)]
    assert laws[0] == laws[0] != laws[2]
