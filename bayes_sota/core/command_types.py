"""What every command does: its files do not destroy each other, its errors name its options.

Every command is a ``Command`` and takes files as the kinds below (``tests/core/test_command.py``
walks through all commands).
"""

import os
import re
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import check_ending, check_writable
from bayes_sota.core.text import shown_path

__all__ = [
    "Command",
    "InputDirectory",
    "InputFile",
    "NameOrFile",
    "OutputDirectory",
    "OutputFile",
    "command",
    "name_options",
]


class _File(click.ParamType):  # type: ignore[type-arg]
    name = "path"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        return Path(value)


class InputFile(_File):
    """File that a command reads; what is wrong with it is said before anything else."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Path of a regular file, or ``InputError``."""
        from bayes_sota.core.files import check_file

        check_file(Path(value))
        return Path(value)


class InputDirectory(_File):
    """Directory that a command reads."""


class NameOrFile(click.ParamType):  # type: ignore[type-arg]
    """Name of something that the package has, or a file that a command reads."""

    name = "text"


class OutputDirectory(_File):
    """Directory that a command makes, and writes files into."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Path at which there is no file, or ``InputError`` before anything is computed."""
        path = Path(value)
        if path.exists() and not path.is_dir():
            raise InputError(f"cannot write into {shown_path(path)}: it is not a directory")
        return path


class OutputFile(_File):
    """File that a command writes: a table, a figure or a result, as its ending says."""

    def __init__(self, kind: str | None = None) -> None:
        """Make the type of an option; any ending will do without a ``kind``."""
        self.kind = kind

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Path that can be written, or ``InputError`` before anything is computed."""
        path = Path(value)
        if self.kind is not None:
            check_ending(path, self.kind)
        check_writable(path)
        return path


_Written = OutputFile | OutputDirectory
_Read = InputFile | NameOrFile


class Command(click.Command):
    """Command whose files are checked, and whose errors speak of its options."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        _check_files(self.params, ctx.params)
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise InputError(name_options(str(error), self.params)) from error
        except EOFError as error:  # click takes it for the end of what a user types
            raise RuntimeError(str(error) or "unexpected end of a file") from error
        except KeyboardInterrupt:
            raise click.Abort from None


command = partial(click.command, cls=Command)


def _check_files(params: Iterable[click.Parameter], values: dict[str, Any]) -> None:
    """Refuse a file that is written and also read, or written twice."""
    params = list(params)
    read = list(_named(params, values, _Read))
    written = list(_named(params, values, _Written))
    for number, (option, path) in enumerate(written):
        for other in (source for _, source in read):
            if _same(path, other):
                raise InputError(
                    f"{option} would overwrite the input {shown_path(path)}: name another file"
                )
        for second, other in written[:number]:
            if _same(path, other) or _folded(path) == _folded(other):
                raise InputError(
                    f"{second} and {option} both write {shown_path(path)}: name two files"
                )


def _named(
    params: Iterable[click.Parameter], values: dict[str, Any], kind: Any
) -> Iterator[tuple[str, Path]]:
    """Paths that options and arguments of a kind have, with the name that a user knows."""
    for param in params:
        value = values.get(param.name or "")
        if value is not None and isinstance(param.type, kind):
            label = param.opts[0] if isinstance(param, click.Option) else param.human_readable_name
            for path in value if isinstance(value, tuple) else (value,):
                yield label, Path(path)


def _same(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file: through links too, and if only the case differs."""
    try:
        return one.samefile(other)
    except OSError:
        return os.path.realpath(one) == os.path.realpath(other)


def _folded(path: Path) -> str:
    """Name of a file that may not exist yet, which some file systems take without its case."""
    return os.path.realpath(path).casefold()


# Functions of the package name their parameters, a user of the shell knows options.
_SYNONYMS = {"seed": "random_seed", "theta": "skill"}
_TOKEN = re.compile(
    r"""(?<!\w)(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")(?!\w)"""  # quoted: from a file
    r"""|(?<![\w./-])(?P<argument>[a-z]\w*)=(?P<value>"[^"]*"|'[^']*'|[\w.]*\w)?"""
    r"""|(?<![\w./-])(?P<name>[a-z]+(?:_[a-z]+)+)(?![\w(]|[./]\w)"""
    r"""|^(?P<subject>[a-z]+)(?= must | is for | needs | has no )"""
    r"""|(?P<end>;[ ])"""
)


def name_options(text: str, params: Iterable[click.Parameter]) -> str:
    """Message in which parameters have the names of the options, as far as there are any.

    A clause after a semicolon that offers an argument without an option is left out.

    Examples
    --------
    >>> percent = click.Option(["--percent"], is_flag=True)
    >>> name_options("scores exceed 1; in percent? then percent=True; or max_n=9", [percent])
    'scores exceed 1; in percent? then --percent'
    """
    options = {
        name: option
        for param in params
        if isinstance(param, click.Option)
        for option in param.opts[:1]
        for name in _python_names(option)
    }
    clauses, missing, start = [""], [False], 0
    for token in _TOKEN.finditer(text):
        clauses[-1] += text[start : token.start()]
        start = token.end()
        if token["end"]:
            clauses.append("")
            missing.append(False)
            continue
        option = options.get(token["argument"] or token["name"] or token["subject"])
        missing[-1] |= token["argument"] is not None and option is None
        value = (token["value"] or "").strip("\"'")
        shown = f"{option} {value}" if value and value != "True" else option
        clauses[-1] += shown or token[0]
    clauses[-1] += text[start:]
    return "; ".join(c for i, c in enumerate(clauses) if i == 0 or not missing[i])


def _python_names(option: str) -> tuple[str, ...]:
    name = option.lstrip("-").replace("-", "_")
    return tuple({name, f"n_{name}", _SYNONYMS.get(name, name)})
