"""Results from a maximum: arrays of draws -> DataTree in the schema of the package."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.core.types import FloatArray
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.scoring import score_bounds

if TYPE_CHECKING:
    import xarray as xr

__all__ = ["build_tree"]


def build_tree(
    groups: Mapping[str, Mapping[str, FloatArray]],
    boards: Sequence[Leaderboard],
    reference_skill: Sequence[float],
    attributes: Mapping[str, str | float | int],
) -> "xr.DataTree":
    """DataTree from draws.

    Parameters
    ----------
    groups : mapping of group -> mapping of name -> ndarray
        Shapes (chain, draw) or (chain, draw, board). The dimension ``board`` is dropped where
        there is one board only.
    boards : sequence of Leaderboard
    reference_skill : sequence of float
        theta0 of each board.
    attributes : mapping
        Provenance, strings and numbers only.

    Returns
    -------
    xarray.DataTree
    """
    import xarray as xr

    names = [board.name for board in boards]
    content = {group: _dataset(values, names) for group, values in groups.items() if values}
    ends = [score_bounds(board) for board in boards]
    facts: dict[str, Sequence[float]] = {
        "n_test": [board.n_test or 0 for board in boards],
        "n_positive": [board.n_positive or 0 for board in boards],
        "standard_error": [board.standard_error or 0 for board in boards],
        "score_low": [low for low, _ in ends],
        "score_high": [high for _, high in ends],
        "typical_tries": [board.typical_tries for board in boards],
        "reference_skill": list(reference_skill),
    }
    maximum = {"observed_maximum": [board.maximum for board in boards]}
    content["observed_data"] = _board_dataset(maximum, names)
    content["constant_data"] = _board_dataset(facts, names)
    tree = xr.DataTree.from_dict(content)
    attributes = {**attributes, "metric": boards[0].metric}
    tree.attrs.update(attributes)
    tree["posterior"].attrs.update(attributes)
    return tree


def _dataset(values: Mapping[str, FloatArray], names: list[str]) -> "xr.Dataset":
    import xarray as xr

    first = next(iter(values.values()))
    coords: dict[str, object] = {
        "chain": np.arange(first.shape[0]),
        "draw": np.arange(first.shape[1]),
    }
    variables = {}
    for name, array in values.items():
        array = np.asarray(array, dtype=np.float64)
        if array.ndim == 3 and len(names) == 1:
            array = array[..., 0]
        dims = ("chain", "draw", "board")[: array.ndim]
        if array.ndim == 3:
            coords["board"] = names
        variables[name] = (dims, array)
    return xr.Dataset(variables, coords=coords)


def _board_dataset(values: Mapping[str, Sequence[float]], names: list[str]) -> "xr.Dataset":
    import xarray as xr

    if len(names) == 1:
        return xr.Dataset({name: ((), value[0]) for name, value in values.items()})
    return xr.Dataset(
        {name: (("board",), list(value)) for name, value in values.items()}, {"board": names}
    )
