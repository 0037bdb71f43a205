"""Covariates of players and rounds as columns of a design matrix.

A numeric covariate is one column, standardised; a category (algorithm family) is one centred column
per level. Columns have mean zero, so that effects leave the mean of the skills at zero.
``tests/epp/test_models_covariates.py`` checks columns and what is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray


@dataclass(frozen=True, eq=False)
class Design:
    """Design matrix.

    Attributes
    ----------
    columns : ndarray, shape (n, n_columns)
        Mean zero.
    labels : tuple of str
        Names of the columns: of the covariate, or "covariate: level".
    categories : tuple of str
        Names of the covariates that are categories.
    category : ndarray of int, shape (n_columns,)
        Place of a column's category, -1 for a numeric covariate.
    """

    columns: FloatArray
    labels: tuple[str, ...]
    categories: tuple[str, ...]
    category: NDArray[np.intp]


def build_design(covariates: Any, names: Sequence[str], kind: str) -> Design:
    """Columns of covariates.

    Parameters
    ----------
    covariates : mapping of str to array-like, or pandas DataFrame
        One value for each of ``names``, in their order; the rows of a frame are found by its index.
        Numbers are standardised, anything else is a category.
    names : sequence of str
        Players or rounds.
    kind : str
        "player" or "round", for messages.

    Raises
    ------
    InputError
        Lengths that differ, names without a row, values that are missing or all the same.

    Examples
    --------
    >>> given = {"size": [1, 2, 3], "family": ["tree", "net", "net"]}
    >>> design = build_design(given, "abc", "player")
    >>> design.labels
    ('size', 'family: net', 'family: tree')
    >>> design.columns[:, 0].round(2).tolist()
    [-1.22, 0.0, 1.22]
    """
    columns: list[FloatArray] = []
    labels: list[str] = []
    category: list[int] = []
    categories: list[str] = []
    for name, values in _columns_by_name(covariates, names, kind).items():
        if values.size != len(names):
            raise InputError(
                f"covariate {name!r} has {values.size} values for {len(names)} {kind}s"
            )
        if np.issubdtype(values.dtype, np.number) or values.dtype == bool:
            columns.append(_standardised(values.astype(np.float64), name, names, kind))
            labels.append(name)
            category.append(-1)
            continue
        levels = _levels(values, name, names, kind)
        for level in sorted(set(levels)):
            member = np.array([label == level for label in levels], dtype=np.float64)
            columns.append(member - member.mean())
            labels.append(f"{name}: {level}")
            category.append(len(categories))
        categories.append(name)
    if not columns:
        raise InputError(f"covariates of {kind}s are given, but none is named")
    return Design(
        np.stack(columns, axis=1), tuple(labels), tuple(categories), np.array(category, np.intp)
    )


def _columns_by_name(covariates: Any, names: Sequence[str], kind: str) -> dict[str, NDArray[Any]]:
    if hasattr(covariates, "columns"):
        index = [str(label) for label in covariates.index]
        missing = [name for name in names if name not in set(index)]
        if missing:
            raise InputError(f"{kind} {missing[0]!r} has no row in the table of covariates")
        if len(set(index)) < len(index):
            raise InputError(f"the table of covariates names a {kind} more than once")
        places = [index.index(name) for name in names]
        return {str(c): covariates[c].to_numpy()[places] for c in covariates.columns}
    if not hasattr(covariates, "items"):
        raise InputError(
            f"covariates of {kind}s are a mapping of names to values or a DataFrame, got "
            f"{type(covariates).__name__}"
        )
    return {str(name): np.asarray(values).ravel() for name, values in covariates.items()}


def _standardised(values: FloatArray, name: str, names: Sequence[str], kind: str) -> FloatArray:
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"covariate {name!r}, {kind} {names[bad[0]]!r}: a finite number is needed, got "
            f"{values[bad[0]]}"
        )
    if np.ptp(values) == 0:
        raise InputError(
            f"covariate {name!r} is {values[0]:g} for all {kind}s: it explains nothing"
        )
    return np.asarray((values - values.mean()) / values.std())


def _levels(values: NDArray[Any], name: str, names: Sequence[str], kind: str) -> list[str]:
    for place, value in enumerate(values):
        if value is None or value != value:  # NaN differs from itself
            raise InputError(
                f"covariate {name!r}, {kind} {names[place]!r}: the category is missing"
            )
    levels = [str(value) for value in values]
    if len(set(levels)) < 2:
        raise InputError(
            f"covariate {name!r} is {levels[0]!r} for all {kind}s: it explains nothing"
        )
    return levels
