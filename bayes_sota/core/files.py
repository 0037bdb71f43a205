"""Check that files can be read or written, and write them atomically.

``tests/core/test_files.py`` fills disks, ``tests/cli/test_batch.py`` interrupts a run.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text, shown_path

_DRAFT = ".bayes-sota-"  # hidden; random digits and the ending follow


def check_file(path: Path) -> None:
    """Raise ``InputError`` unless ``path`` is a regular file: pipes and devices never end."""
    where = shown_path(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError("there is no such file", where=where) from None
    except (OSError, ValueError) as error:  # a name that no file can have
        reason = getattr(error, "strerror", None) or plain_text(error, 200)
        raise InputError(f"cannot be read ({reason})", where=where) from None
    if stat.S_ISDIR(mode):
        raise InputError("is a directory", where=where, fix="name the files in it")
    if not stat.S_ISREG(mode):
        fix = "save what it gives to a file and name that"
        raise InputError("is a pipe or a device", where=where, fix=fix)


def check_writable(path: Path) -> None:
    """Raise ``InputError`` unless a file can be written at ``path``, or where it links to."""
    try:
        real = Path(os.path.realpath(path))
        folder, there = real.parent, real.exists()
        if there and not real.is_file():
            problem = "it is not a regular file"
        elif not folder.is_dir():
            problem = f"the directory {shown_path(folder)} does not exist"
        elif os.access(folder, os.W_OK) and (not there or os.access(real, os.W_OK)):
            draft = folder / f"{_DRAFT}{os.urandom(4).hex()}"
            draft.touch(exist_ok=False)  # which /proc refuses, whatever it permits
            return draft.unlink()
        else:
            problem = "no permission to write there"
    except (OSError, ValueError) as error:  # too long, or with a NUL byte
        problem = getattr(error, "strerror", None) or str(error)
    raise InputError(f"cannot write {shown_path(path)}: {problem}")


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a path to write to, which replaces ``path`` if the block succeeds, else ``InputError``.

    The content is on disk first. A link stays a link; its target is replaced.
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    name = f"{_DRAFT}{os.urandom(4).hex()}{target.suffix[-16:]}"  # short, whatever the target's
    draft = target.with_name(name)
    try:
        draft.touch(exist_ok=False)
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(draft, target)
    except OSError as error:
        raise InputError(f"cannot write {shown_path(path)}: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text file atomically."""
    with whole_file(Path(path)) as draft:
        draft.write_text(text, encoding="utf-8", newline="")


def make_directory(directory: Path) -> None:
    """Make a directory, or raise ``InputError``."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {shown_path(directory)}: {error.strerror}") from None
