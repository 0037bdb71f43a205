"""The command line from its start to an exit code; only the command that runs is imported."""

import os
import platform
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import requires, version
from typing import Any

import click

from bayes_sota import __version__
from bayes_sota.core.errors import BayesSotaError

_BAD_INPUT, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 141
_COMPILED = (
    "PyMC keeps compiled code there; set PYTENSOR_FLAGS=base_compiledir=FOLDER in the environment "
    "for another folder"
)
_EXTRA = "this needs the library scikit-learn: pip install 'bayes-sota[cv]'"
_MISFIT = "a library is missing or too old: pip install --upgrade bayes-sota"
_ADVICE = "this is a bug: please report it; BAYES_SOTA_DEBUG=1 in the environment shows where it is"

_ABOUT = {
    "inspect": "What does a file hold, and which questions can it answer?",
    "score": "How good is one model?",
    "sota": "How good is the best, and how good is the winner?",
    "board": "Who is the best? Skills, ranks, tiers.",
    "paired": "Public and private board: who gained beyond chance?",
    "claim": 'Is "A outperforms B" false?',
    "epp": "Which model is better over rounds, data sets, battles?",
    "cv": "Repeated cross-validation: run it, and judge its scores.",
    "maximum": "The exact law of the best of many scores.",
    "batch": "Many boards, one result file for each.",
    "examples": "Write files of every kind to try.",
    "demo": "Analyse a real challenge, with figures.",
}
# Modules that do not have the name of their command.
_MODULES = dict.fromkeys(("sota", "batch", "board", "paired"), "boards")
_MODULES |= dict.fromkeys(("score", "maximum"), "scores")
_MODULES |= {"examples": "demo", "inspect": "inspection"}


class Commands(click.Group):
    """Commands with their questions."""

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        return list(_ABOUT)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        if name in _ABOUT:
            module = import_module(f"bayes_sota.cli.{_MODULES.get(name, name)}")
            found: click.Command = getattr(module, name)
            return found
        return self.commands.get(name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in {*_ABOUT, *self.commands} or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        from bayes_sota.core.errors import listed
        from bayes_sota.core.text import nearest

        known = nearest(args[0], _ABOUT) or f"; there are {listed(_ABOUT)}"
        raise click.UsageError(f"No such command {args[0]!r}{known}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_ABOUT.items()))


def _show_versions(context: click.Context, option: click.Parameter, wanted: bool) -> None:
    """Print what a bug report needs."""
    if wanted:
        click.echo(f"bayes_sota {__version__}\nPython {platform.python_version()}")
        for name in ("PyMC", "ArviZ", "NumPy", "SciPy"):
            click.echo(f"{name} {version(name)}")
        context.exit()


cli = Commands(
    "cli",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="Say how good the best model is, and what a table of results supports.",
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False,
            callback=_show_versions,
            help="Show the versions of the package and of its libraries.",
        )
    ],
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; by default with the arguments of the process.

    The exit code is 0; 1 if the result cannot be trusted; 2 for bad input; 3 if --require is not
    met; 70 for an error of the program, or of memory; 130 after Ctrl-C; 141 for a closed output.
    """
    if arguments is None:
        _prepare_process()
    sys.exit(exit_code(lambda: _run(arguments)))


def _prepare_process() -> None:
    """Let every name be written, and hide warnings of libraries."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not sys.warnoptions and not debugging():
        import warnings

        warnings.simplefilter("ignore")
        sys.unraisablehook = _interrupt_again


def _interrupt_again(told: Any) -> None:
    """Repeat a Ctrl-C that was swallowed while an object was collected; drop other complaints."""
    if told.exc_type is KeyboardInterrupt:
        import _thread
        import threading

        threading.Timer(0.02, _thread.interrupt_main).start()


def _run(arguments: Sequence[str] | None) -> Any:
    import logging

    # PyMC announces its work on standard error unless logging is set up; the commands report
    # diagnostics themselves.
    logging.getLogger().addHandler(logging.NullHandler())
    typed = sys.argv[1:] if arguments is None else list(arguments)  # a report shows the command
    return cli.main(args=typed, prog_name="bayes-sota", standalone_mode=False, obj=typed)


def exit_code(run: Callable[[], Any]) -> int:
    """Exit code of a run; one line on standard error says what stopped it."""
    try:
        return run() or 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except (KeyboardInterrupt, click.Abort):
        return _complain("interrupted", _INTERRUPTED)
    except SystemExit as stop:  # click ends so after completion, and where nobody reads any more
        return _CLOSED if stop.code else 0
    except click.ClickException as error:
        return _complain(error.format_message(), _BAD_INPUT)
    except BayesSotaError as error:
        return _complain(str(error), _BAD_INPUT)
    except MemoryError:
        return _complain("the memory of this machine is too small for this input", _BUG)
    except Exception as error:
        return _unexpected(error)


def _unexpected(error: Exception) -> int:
    if ".pytensor" in str(error):
        return _complain(f"{error}; {_COMPILED}", _BAD_INPUT)
    if isinstance(error, OSError):
        place = "" if error.filename is None else f": {error.filename}"
        return _complain(f"{error.strerror or error}{place}", _BAD_INPUT)
    if debugging():
        import traceback

        traceback.print_exc()
    if isinstance(error, ImportError) or _numpy_is_old():  # with which anything may fail
        is_extra = str(getattr(error, "name", "")).startswith("sklearn")
        return _complain(f"{error}; {_EXTRA if is_extra else _MISFIT}", _BAD_INPUT)
    return _complain(f"{type(error).__name__}: {error}; {_ADVICE}", _BUG)


def _numpy_is_old() -> bool:
    """Whether NumPy is older than the package requires."""
    import re

    number = r"(\d+)\.(\d+)"
    least = re.search(rf"numpy\b\S*>={number}", " ".join(requires("bayes-sota") or ()))
    found = re.match(number, getattr(sys.modules.get("numpy"), "__version__", ""))
    if least is None or found is None:
        return False
    return [*map(int, found.groups())] < [*map(int, least.groups())]


def debugging() -> bool:
    """Whether BAYES_SOTA_DEBUG asks for tracebacks."""
    return bool(os.environ.get("BAYES_SOTA_DEBUG"))


def _complain(message: str, code: int) -> int:
    try:
        from bayes_sota.cli.output import echo_problem
    except ImportError:  # without NumPy
        print(f"error: {' '.join(message.split())}", file=sys.stderr)
    else:
        echo_problem("error", message)
    return code
