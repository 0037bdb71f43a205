"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bayes_sota.errors import InputError

__all__ = [
    "check_figure_ending",
    "check_table_ending",
    "check_writable",
    "remove_drafts",
    "whole_file",
    "write_text",
]

_drafts: set[Path] = set()


def check_writable(path: Path) -> None:
    """Raise ``InputError`` unless a file can be made at ``path``."""
    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a directory")
    if path.exists() and not path.is_file():
        raise InputError(f"cannot write {path}: it is not a regular file")
    if path.parent.exists() and not path.parent.is_dir():
        raise InputError(f"cannot write {path}: {path.parent} is not a directory")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: the directory {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"cannot write {path}: no permission to write in {path.parent}")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Path to write to; it takes the place of ``path`` if the block ends without an error.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     target = Path(folder) / "x.txt"
    ...     with whole_file(target) as draft:
    ...         _ = draft.write_text("done")
    ...     [p.name for p in Path(folder).iterdir()]
    ['x.txt']
    """
    check_writable(path)
    draft = path.parent / f".{path.stem}-{os.urandom(4).hex()}{path.suffix}"
    _drafts.add(draft)
    try:
        draft.touch(exist_ok=False)
        yield draft
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
        _drafts.discard(draft)


def check_table_ending(path: str | Path) -> Path:
    """Path with an ending that tables have, or ``InputError``.

    Examples
    --------
    >>> check_table_ending("table.md").name
    'table.md'
    """
    path = Path(path)
    if path.suffix.lower() not in (".csv", ".md", ".json"):
        raise InputError(f"a table is written as .csv, .md or .json, got {str(path)!r}")
    return path


def check_figure_ending(path: Path) -> Path:
    """Path with an ending that figures have, or ``InputError``.

    Examples
    --------
    >>> check_figure_ending(Path("claim.PNG")).name
    'claim.PNG'
    """
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"a figure is written as .png, .svg or .pdf, got {str(path)!r}")
    return path


def write_text(text: str, path: str | Path | None) -> str:
    """The text, written to a file where there is a path, whole or not at all."""
    if path is not None:
        with whole_file(Path(path)) as draft:
            draft.write_text(text, encoding="utf-8", newline="")
    return text


def remove_drafts() -> None:
    """Remove what is half-written, of a process that ends without ending its blocks."""
    for draft in list(_drafts):
        with suppress(OSError):  # Windows keeps a file that is open
            draft.unlink(missing_ok=True)
