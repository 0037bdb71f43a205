"""Data frames of whatever library: pandas, polars, PyArrow and others that narwhals knows.

Containers take numbers of frames from here; tables of frames are read by ``data.opening``
(``tests/data/test_reading.py``).
"""

import os
from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    import narwhals as nw


def is_frame(source: object) -> bool:
    """Whether something is a data frame, and no path, list, array or lazy query."""
    if isinstance(source, str | os.PathLike) or not hasattr(type(source), "columns"):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(source))


def opened_frame(frame: Any) -> "nw.DataFrame[Any]":
    """The frame, whose columns are asked for in one way.

    Raises
    ------
    InputError
        Two columns have the same name.
    """
    import narwhals as nw
    from narwhals.exceptions import DuplicateError

    try:
        return nw.from_native(frame, eager_only=True)
    except DuplicateError as error:
        which = plain_text(str(error).partition("got:")[2].strip(" \n-"), 60)
        raise InputError(f"columns of the data frame have the same name: {which}") from None


def labelled_values(values: Any) -> tuple[Any, list[str] | None, list[str] | None]:
    """Numbers of a frame with the names of its columns and, of pandas, rows; else as it came."""
    if not is_frame(values):
        return values, None, None
    frame = opened_frame(values)
    rows = getattr(values, "index", None)
    names = None if rows is None else [str(label) for label in rows]
    return frame.to_numpy(), [str(name) for name in frame.columns], names
