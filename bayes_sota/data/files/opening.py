"""A path or a frame to a table, by what the content is."""

import os
from pathlib import Path
from typing import Any, Literal, get_args

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.data.files.content import Content, read_content
from bayes_sota.data.files.delimited import parse_delimited
from bayes_sota.data.files.frames import is_frame, table_of_frame
from bayes_sota.data.files.json_tables import parse_json_table
from bayes_sota.data.files.parquet import parse_parquet
from bayes_sota.data.files.tables import Table

__all__ = ["FileFormat", "open_table", "table_of_content"]

FileFormat = Literal["auto", "csv", "tsv", "json", "parquet", "kaggle"]


def open_table(source: Any, file_format: str = "auto") -> Table:
    """Table of a file or a frame.

    Raises
    ------
    InputError
        A file that cannot be read as what it seems to be; the message names it and says why.
    """
    if file_format not in get_args(FileFormat):
        known = ", ".join(get_args(FileFormat))
        raise InputError(f"format must be one of {known}, got {file_format!r}")
    if is_frame(source):
        refuse_unused("a data frame", {"format": file_format not in ("auto", "kaggle")})
        return table_of_frame(source)
    if not isinstance(source, str | os.PathLike):
        raise InputError(
            "a leaderboard is read from a path or from a pandas or polars frame, got "
            f"{type(source).__name__}; scores themselves go to Leaderboard(scores, ...)"
        )
    return table_of_content(read_content(Path(source)), file_format)


def table_of_content(content: Content, file_format: str = "auto") -> Table:
    """Table of the content of a file."""
    kind = content.kind if file_format in ("auto", "kaggle") else file_format
    if not content.data:
        raise InputError(f"{content.where}: the file is empty")
    if kind == "parquet":
        return parse_parquet(content.data, content.where, content.stem)
    if kind == "json":
        return parse_json_table(content.text(), content.where, content.stem)
    delimiter = "\t" if kind == "tsv" else None
    return parse_delimited(content.data, content.where, delimiter, content.stem)
