"""Data frames of whatever library: pandas, polars, PyArrow and others that narwhals knows.

Containers take numbers of frames from here; tables of frames are read by ``data.opening``
(``tests/data/test_reading.py``).
"""

from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw


def is_frame(source: object) -> bool:
    """Whether something is a data frame, and no path, list, array or lazy query."""
    if not hasattr(type(source), "columns"):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(source))


def opened_frame(frame: Any) -> "nw.DataFrame[Any]":
    """The frame, whose columns are asked for in one way; two of one name are an error."""
    import narwhals as nw

    try:
        return nw.from_native(frame, eager_only=True)
    except ValueError as error:
        problem = f"the data frame cannot be read ({' '.join(str(error).split())})"
        raise InputError(problem) from None


def labelled_values(values: Any) -> tuple[Any, list[str] | None, list[str] | None]:
    """Numbers of a frame with the names of its columns and, of pandas, rows; else as it came."""
    if not is_frame(values):
        return values, None, None
    frame, rows = opened_frame(values), getattr(values, "index", None)
    names = None if rows is None else list(map(str, rows))
    return frame.to_numpy(), list(map(str, frame.columns)), names
