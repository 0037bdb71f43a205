"""Where a run of the command line begins, and how it ends: in one line and an exit code.

The commands are imported inside, so that a signal meets its handler from the first moment.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from bayes_sota.cli.interrupts import ENDINGS, run_until_interrupted
from bayes_sota.core.errors import BayesSotaError, advice_on

if TYPE_CHECKING:
    import click

_BAD_INPUT, _BUG, _CLOSED = 2, 70, 141
_ADVICE = "this is a bug: please report it, with what BAYES_SOTA_DEBUG=1 in the environment shows"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit.

    The exit code is 0; 1 if the result is not to be trusted; 2 for bad input; 70 for an error of
    the program, or of memory; 130, 143 or 129 if it was ended by Ctrl-C, SIGTERM or SIGHUP; 141 if
    the reader of its output went away. Without arguments it takes those of the process, and
    signals end the process; with arguments, they are left to Python as they are.
    """
    if arguments is None:
        _prepare_process()
        sys.exit(exit_code(lambda: run_until_interrupted(lambda: _run(None))))
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
    except KeyboardInterrupt as error:
        return _end(error.args[0] if error.args else 2)
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
    if isinstance(error, click.NoSuchOption):
        return _complain(_not_here(error), _BAD_INPUT)
    if isinstance(error, click.ClickException):
        return _complain(error.format_message(), _BAD_INPUT)
    if isinstance(error, click.Abort):
        return _end(2)
    if debugging():
        import traceback

        traceback.print_exc()
    if isinstance(error, MemoryError):
        return _complain("the memory of this machine is too small for this input", _BUG)
    if advice := advice_on(error):
        return _complain(f"{error}; {advice}", _BAD_INPUT)
    for advice in _to_install(error):
        return _complain(advice, _BAD_INPUT)
    return _complain(f"{type(error).__name__}: {error}; {_ADVICE}", _BUG)


def _not_here(error: "click.NoSuchOption") -> str:
    """The message of an option that a command has not, with the commands that have it."""
    from bayes_sota.cli.commands import with_option
    from bayes_sota.core.text import listed

    others = [f"bayes-sota {name}" for name in with_option(error.option_name)]
    if not others:
        return error.format_message()
    take = "takes" if len(others) == 1 else "take"
    return f"No such option {error.option_name!r} here; {listed(others, 4)} {take} it"


def _to_install(error: Exception) -> Iterator[str]:
    """What is missing or does not fit, where the error may come from that."""
    from bayes_sota.cli.doctor import packages

    if isinstance(error, ModuleNotFoundError) and str(error.name).startswith("sklearn"):
        yield "this needs the library scikit-learn: pip install 'bayes-sota[cv]'"
    for part in packages():
        if part["state"] == "broken":
            yield f"{part['part']} is {part['found']}: {part['advice']}"


def _end(number: int) -> int:
    """Say which signal ended the run; without imports, which take long at the start."""
    message, code = ENDINGS[number]
    if sys.stderr is not None:
        after_echo = "\n" if sys.stderr.isatty() else ""  # of ^C
        print(f"{after_echo}error: {message}", file=sys.stderr, flush=True)
    return code


def debugging() -> bool:
    """Whether someone looks for a bug, and wants to see where it is."""
    return bool(os.environ.get("BAYES_SOTA_DEBUG"))


def _complain(message: str, code: int) -> int:
    from bayes_sota.core.command import echo_problem

    echo_problem("error", message)
    return code
