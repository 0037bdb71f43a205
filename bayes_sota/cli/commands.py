"""The group of all commands."""

import click

from bayes_sota import __version__
from bayes_sota.cli.board import board
from bayes_sota.cli.calibrate import calibrate
from bayes_sota.cli.claim import claim
from bayes_sota.cli.demo import demo
from bayes_sota.cli.epp import epp
from bayes_sota.cli.infer_n import infer_n
from bayes_sota.cli.maximum import maximum
from bayes_sota.cli.models import models
from bayes_sota.cli.paired import paired
from bayes_sota.cli.reproduce import reproduce
from bayes_sota.cli.sota import sota

__all__ = ["cli"]


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bayes-sota")
def cli() -> None:
    """Say what the data support about the state of the art behind a leaderboard's best score."""


for _command in (
    demo, infer_n, maximum, sota, models, reproduce, paired, board, calibrate, claim, epp
):  # fmt: skip
    cli.add_command(_command)
