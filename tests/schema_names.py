"""Names that a result may have, as ``bayes_sota/core/schema.toml`` lists them."""

import tomllib
from pathlib import Path

from bayes_sota.core import schema

NAMES = tomllib.loads(Path(schema.__file__).with_suffix(".toml").read_text(encoding="utf-8"))
GROUPS, DIMENSIONS, ATTRIBUTES, VARIABLES = (
    tuple(NAMES[kind]) for kind in ("groups", "dimensions", "attributes", "variables")
)
