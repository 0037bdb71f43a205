"""``bayes-sota claim``: the probability that "A outperforms B" is false."""

import click

from bayes_sota.claims.command_plan import batch, plan, selection
from bayes_sota.claims.command_reported import classification, segmentation
from bayes_sota.claims.command_responses import responses


@click.group(epilog="Example: bayes-sota claim classification --accuracy 0.90 0.88 --n-test 500")
def claim() -> None:
    """Probability that "A outperforms B" is false: from reported numbers or per-item outcomes."""


for _command in (classification, segmentation, responses, selection, plan, batch):
    claim.add_command(_command)
