"""Names of groups, dimensions and variables in every result: public API.

Each result is an ``xarray.DataTree`` that ArviZ reads. ``schema.toml`` explains the names;
``tests/core/test_stored_result.py`` locks the list.
"""

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Final

from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

SCHEMA_VERSION: Final = "2"

DOMAINS: Final = ("image-classifiers", "language-models", "tabular")  # of models/fields.toml

KINDS_OF_FIELD: Final = ("single", "ensembles")

CHANCES: Final = ("p_false", "p_best", "p_best_uncorrected")  # of the group point_estimate

_NAMES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ESTIMANDS: Final[tuple[str, ...]] = tuple(_NAMES["estimands"])


def dataset_of(tree: "xr.DataTree", name: str) -> "xr.Dataset":
    """A group of a result, empty if the result has none of this name.

    Raises
    ------
    InputError
        Not a tree with groups, such as one group of a result.
    """
    import xarray as xr

    children = getattr(tree, "children", None)
    if not children:
        problem = f"a result or a trace is a DataTree with groups, got a {type(tree).__name__}"
        raise InputError(f"{problem} without groups", fix="give the whole tree")
    return children[name].to_dataset() if name in children else xr.Dataset()
