"""The command group and the one place where errors become a line and an exit code."""

import logging
import sys
from collections.abc import Sequence
from functools import partial

import click

from bayes_sota import __version__
from bayes_sota.cli.board import board
from bayes_sota.cli.calibrate import calibrate
from bayes_sota.cli.claim import claim
from bayes_sota.cli.demo import demo
from bayes_sota.cli.epp import epp
from bayes_sota.cli.infer_n import infer_n
from bayes_sota.cli.interrupts import INTERRUPTED, run_until_interrupted
from bayes_sota.cli.maximum import maximum
from bayes_sota.cli.models import models
from bayes_sota.cli.paired import paired
from bayes_sota.cli.reproduce import reproduce
from bayes_sota.cli.sota import sota
from bayes_sota.errors import BayesSotaError

__all__ = ["cli", "main"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bayes-sota")
def cli() -> None:
    """Say what the data support about the state of the art behind a leaderboard's best score."""


for _command in (
    demo, infer_n, maximum, sota, models, reproduce, paired, board, calibrate, claim, epp
):  # fmt: skip
    cli.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; exits with 0, 1 (not to be trusted), 2 (bad input) or 130.

    Without arguments it takes those of the process, and Ctrl-C ends the process; with arguments,
    ``KeyboardInterrupt`` is left to Python as it is.
    """
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: Sequence[str] | None) -> int:
    # PyMC announces its work on standard error unless logging is set up; the commands report
    # diagnostics themselves.
    logging.getLogger().addHandler(logging.NullHandler())
    command = partial(cli.main, args=arguments, prog_name="bayes-sota", standalone_mode=False)
    try:
        result: object = run_until_interrupted(command) if arguments is None else command()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        return _complain(error.format_message(), 2)
    except (click.Abort, KeyboardInterrupt):
        return _complain(*INTERRUPTED)
    except BayesSotaError as error:
        return _complain(str(error), 2)
    except OSError as error:
        return _complain(f"{error.strerror or error}: {error.filename or ''}".rstrip(": "), 2)
    return result if isinstance(result, int) else 0


def _complain(message: str, code: int) -> int:
    line = " ".join(str(message).split())
    click.echo(f"error: {line}", err=True)
    return code
