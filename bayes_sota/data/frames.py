"""Data frames of whatever library: pandas, polars, PyArrow and others that narwhals knows.

Containers take numbers of frames from here; tables of frames are read by ``data.opening``
(``tests/data/test_reading.py``).
"""

from typing import Any


def is_frame(source: object) -> bool:
    """Whether something is a data frame, and no path, list, array or lazy query."""
    if not hasattr(type(source), "columns"):
        return False
    import narwhals as nw

    return bool(nw.dependencies.is_into_dataframe(source))


def labelled_values(values: Any) -> tuple[Any, list[str] | None, list[str] | None]:
    """Numbers of a frame with the names of its columns and, of pandas, rows; else as it came."""
    if not is_frame(values):
        return values, None, None
    import narwhals as nw

    frame = nw.from_native(values, eager_only=True)
    rows = getattr(values, "index", None)
    names = None if rows is None else list(map(str, rows))
    return frame.to_numpy(), list(map(str, frame.columns)), names
