"""Design matrices of covariates: of players, or of rounds.

A numeric covariate is one standardised column; a category (algorithm family) is one centred column
per level. Columns have mean zero, so that effects leave the mean of the skills at zero.
``tests/epp/test_models.py`` compares with columns by hand.
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
    >>> covariates = {"size": [1, 2, 3], "family": ["tree", "net", "net"]}
    >>> design = build_design(covariates, "abc", "player")
    >>> design.labels
    ('size', 'family: net', 'family: tree')
    >>> design.columns[:, 0].round(2).tolist()
    [-1.22, 0.0, 1.22]
    """
    columns: list[FloatArray] = []
    labels: list[str] = []
    categories: list[str] = []
    category: list[int] = []
    for name, values in _columns_by_name(covariates, names, kind).items():
        of_covariate = _columns_of(name, values, names, kind)
        columns += of_covariate.values()
        labels += of_covariate
        categories += [name] * (name not in of_covariate)
        category += [-1 if name in of_covariate else len(categories) - 1] * len(of_covariate)
    if not columns:
        raise InputError(f"covariates of {kind}s are given, but none is named")
    matrix = np.stack(columns, axis=1)
    return Design(matrix, tuple(labels), tuple(categories), np.array(category, np.intp))


def _columns_of(
    name: str, values: NDArray[Any], names: Sequence[str], kind: str
) -> dict[str, FloatArray]:
    """One column of numbers, or one for each level of a category."""
    if values.size != len(names):
        raise InputError(f"covariate {name!r} has {values.size} values for {len(names)} {kind}s")
    numeric = np.issubdtype(values.dtype, np.number) or values.dtype == bool
    missing = ~np.isfinite(values) if numeric else [v is None or v != v for v in values]
    if np.any(missing):
        at = int(np.argmax(missing))
        what = (
            f"a finite number is needed, got {values[at]}" if numeric else "the category is missing"
        )
        raise InputError(f"covariate {name!r}, {kind} {names[at]!r}: {what}")
    levels = np.unique(values.astype(np.float64 if numeric else str))
    if levels.size < 2:
        only = f"{levels[0]:g}" if numeric else repr(str(levels[0]))
        raise InputError(f"covariate {name!r} is {only} for all {kind}s: it explains nothing")
    if numeric:
        numbers = values.astype(np.float64)
        return {name: np.asarray((numbers - numbers.mean()) / numbers.std())}
    members = {f"{name}: {level}": (values.astype(str) == level) * 1.0 for level in levels}
    return {label: member - member.mean() for label, member in members.items()}


def _columns_by_name(covariates: Any, names: Sequence[str], kind: str) -> dict[str, NDArray[Any]]:
    if hasattr(covariates, "columns"):
        frame = covariates.set_axis([str(label) for label in covariates.index])
        missing = [name for name in names if name not in frame.index]
        if missing:
            raise InputError(f"{kind} {missing[0]!r} has no row in the table of covariates")
        if not frame.index.is_unique:
            raise InputError(f"the table of covariates names a {kind} more than once")
        covariates = frame.loc[list(names)]
    if not hasattr(covariates, "items"):
        raise InputError(
            f"covariates of {kind}s are a mapping of names to values or a DataFrame, got "
            f"{type(covariates).__name__}"
        )
    return {str(name): np.asarray(values).ravel() for name, values in covariates.items()}
