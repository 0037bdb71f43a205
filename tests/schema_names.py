"""Names that a result may have, as ``bayes_sota/core/schema.toml`` lists them."""

import tomllib
from pathlib import Path

import xarray as xr

from bayes_sota.core import schema

NAMES = tomllib.loads(Path(schema.__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GROUPS, DIMENSIONS, ATTRIBUTES, VARIABLES = (
    tuple(NAMES[kind]) for kind in ("groups", "dimensions", "attributes", "variables")
)


def check_names(tree: xr.DataTree) -> None:
    """Groups, dimensions and attributes of a result are those of the schema."""
    assert set(tree.children) <= set(GROUPS)
    assert set(ATTRIBUTES) <= set(tree.attrs)
    dims = {str(dim) for group in tree.children.values() for dim in group.dims}
    assert dims <= {*DIMENSIONS, "family"}  # which is a variable of a group, a dimension of another
