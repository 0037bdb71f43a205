"""Where a run of the command line begins, and what its process is prepared for.

The commands are imported inside, so that a signal meets its handler from the first moment.
"""

import sys
from collections.abc import Sequence

from bayes_sota.cli.exit_codes import debugging, exit_code
from bayes_sota.cli.interrupts import run_until_interrupted


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
