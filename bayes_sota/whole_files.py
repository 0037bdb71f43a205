"""Files that appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkstemp

from bayes_sota.errors import InputError

__all__ = ["check_writable", "whole_file"]


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
    handle, name = mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
