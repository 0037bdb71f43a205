"""Every public name imports and is documented, and the documentation's examples run."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import bayes_sota

PACKAGE = Path(bayes_sota.__file__).parent
MODULES = sorted(
    ".".join(("bayes_sota", *path.relative_to(PACKAGE).with_suffix("").parts))
    .removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path.name != "__main__.py"
)  # fmt: skip


def test_version_is_three_numbers() -> None:
    assert [part.isdigit() for part in bayes_sota.__version__.split(".")] == [True] * 3


def test_names_are_unique_and_completed() -> None:
    assert len(bayes_sota.__all__) == len(set(bayes_sota.__all__))
    assert set(bayes_sota.__all__) <= set(dir(bayes_sota))


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        _ = bayes_sota.no_such_name


@pytest.mark.parametrize("name", bayes_sota.__all__)
def test_public_name_imports_and_is_documented(name: str) -> None:
    value = getattr(bayes_sota, name)
    documentation = inspect.getdoc(value)
    assert documentation
    assert "(" not in documentation.splitlines()[0][: len(name) + 1], "a generated docstring"


@pytest.mark.parametrize("name", MODULES)
def test_names_of_a_module_exist_and_are_documented(name: str) -> None:
    module = import_module(name)
    for public in getattr(module, "__all__", ()):
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{public}"


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(import_module(name))
    assert failed == 0
