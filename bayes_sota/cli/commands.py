"""The group of all commands."""

import click

from bayes_sota import __version__
from bayes_sota.claims.command import claim
from bayes_sota.cli.app.command import app
from bayes_sota.cli.batch import batch
from bayes_sota.cli.demo import demo
from bayes_sota.cli.doctor import doctor
from bayes_sota.cli.inspection import inspect_file
from bayes_sota.crossval.command import cv
from bayes_sota.data.command import examples, infer_n
from bayes_sota.epp.command import epp
from bayes_sota.leaderboard.command import board, models, sota
from bayes_sota.leaderboard.command_score import score
from bayes_sota.maximum.command import maximum
from bayes_sota.paired.command import paired

_COMMANDS = (
    demo, examples, inspect_file, score, infer_n, maximum, sota, batch, models, paired, board,
    claim, epp, cv, doctor, app,
)  # fmt: skip

cli = click.version_option(__version__, prog_name="bayes-sota")(
    click.Group(
        "cli",
        commands=_COMMANDS,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
        help="Say what the data support about the state of the art behind the best score.",
    )
)
