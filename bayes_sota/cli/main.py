"""Where a run of the command line begins, and how it ends: in one line and an exit code."""

import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from bayes_sota.core.errors import BayesSotaError, advice_on

if TYPE_CHECKING:
    import click

_BAD_INPUT, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 141
_ADVICE = "this is a bug: please report it, with what BAYES_SOTA_DEBUG=1 in the environment shows"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit; without arguments it takes those of the process.

    The exit code is 0; 1 if the result is not to be trusted; 2 for bad input; 70 for an error of
    the program, or of memory; 130 after Ctrl-C; 141 if the reader of its output went away.
    """
    if arguments is None:
        _prepare_process()
    sys.exit(exit_code(lambda: _run(arguments)))


def _prepare_process() -> None:
    """Let no name fail to be written, and no library write warnings to standard error."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not sys.warnoptions and not debugging():
        import warnings

        warnings.simplefilter("ignore")


def _run(arguments: Sequence[str] | None) -> object:
    import logging

    from bayes_sota.cli.commands import cli

    # PyMC announces its work on standard error unless logging is set up; the commands report
    # diagnostics themselves.
    logging.getLogger().addHandler(logging.NullHandler())
    typed = sys.argv[1:] if arguments is None else list(arguments)  # a report shows the command
    return cli.main(args=typed, prog_name="bayes-sota", standalone_mode=False, obj=typed)


def exit_code(run: Callable[[], object]) -> int:
    """Exit code of a run, which says in one line on standard error what stopped it."""
    try:
        result = run()
    except KeyboardInterrupt:
        return _complain("interrupted", _INTERRUPTED)
    except SystemExit:  # this is how click ends where nobody reads the output any more
        return _CLOSED
    except BayesSotaError as error:
        return _complain(str(error), _BAD_INPUT)
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        advice = f"; {advice_on(error)}" if advice_on(error) else ""
        return _complain(f"{error.strerror or error}{place}{advice}", _BAD_INPUT)
    except Exception as error:
        return _unexpected(error)
    return result if isinstance(result, int) else 0


def _unexpected(error: Exception) -> int:
    """Exit code for errors of click, of memory, and for those that nobody thought of."""
    import click

    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        click.echo(error.format_message())
        return 0
    if isinstance(error, click.Abort):
        return _complain("interrupted", _INTERRUPTED)
    if isinstance(error, click.ClickException):
        return _complain(_removed(error) or _elsewhere(error), _BAD_INPUT)
    if debugging():
        import traceback

        traceback.print_exc()
    if isinstance(error, MemoryError):
        return _complain("the memory of this machine is too small for this input", _BUG)
    if advice := advice_on(error):
        return _complain(f"{error}; {advice}", _BAD_INPUT)
    if isinstance(error, ModuleNotFoundError) and str(error.name).startswith("sklearn"):
        advice = "this needs the library scikit-learn: pip install 'bayes-sota[cv]'"
        return _complain(advice, _BAD_INPUT)
    return _complain(f"{type(error).__name__}: {error}; {_ADVICE}", _BUG)


def _removed(error: "click.ClickException") -> str:
    """What to use instead of a command, an option or a value of version 0.5; else nothing."""
    import click

    from bayes_sota.cli.removed import REMOVED

    if not isinstance(error, click.UsageError) or error.ctx is None:
        return ""
    command = error.ctx.command_path.removeprefix("bayes-sota").strip()
    if isinstance(error, click.NoSuchOption):
        names = [error.option_name]
    elif isinstance(error, click.BadParameter) and error.param is not None:
        # The message names the value that was typed in quotes.
        options = error.param.opts
        words = re.findall(r"'([\w-]+)' is not one of", error.message)
        names = [f"{option} {word}" for option in options for word in words]
    else:
        names = re.findall(r"No such command '([\w-]+)'", error.message)
    for name in names:
        for key in (f"{command} {name}".strip(), name):
            if key in REMOVED:
                return f"{name} was removed in 1.0: {REMOVED[key]}"
    return ""


def _elsewhere(error: "click.ClickException") -> str:
    """The message; that of an option that a command has not names the commands that have it."""
    import click

    from bayes_sota.cli.commands import with_option
    from bayes_sota.core.text import listed

    if not isinstance(error, click.NoSuchOption):
        return error.format_message()
    others = [f"bayes-sota {name}" for name in with_option(error.option_name)]
    if not others:
        return error.format_message()
    take = "takes" if len(others) == 1 else "take"
    return f"No such option {error.option_name!r} here; {listed(others, 4)} {take} it"


def debugging() -> bool:
    """Whether someone looks for a bug, and wants to see where it is."""
    return bool(os.environ.get("BAYES_SOTA_DEBUG"))


def _complain(message: str, code: int) -> int:
    from bayes_sota.cli.options import echo_problem

    echo_problem("error", message)
    return code
