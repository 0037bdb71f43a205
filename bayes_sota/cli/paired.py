"""``bayes-sota paired``: public and private leaderboards of the same teams."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import data, leaderboard, maximum
from bayes_sota.cli.options import Input, command, option, saves
from bayes_sota.cli.output import Answer
from bayes_sota.cli.reading import with_anchors
from bayes_sota.core.arguments import COUNT, POSITIVE
from bayes_sota.core.errors import InputError


@command(
    uses="reading domain field known prob seed",
    tree=True,
    example="paired boards.csv --n-test-public 2000 --n-test-private 8000",
)
@click.argument("file", type=Input())
@option("--private-file", type=Input(), help="Private board, joined on the teams' names.")
@option("--n-test-public", limits=COUNT, help="Public test items (accuracies).")
@option("--n-test-private", limits=COUNT, help="Private test items.")
@option("--standard-error-public", limits=POSITIVE, rare=True, help="Error of one public score.")
@option("--standard-error-private", limits=POSITIVE, rare=True, help="Error of one private score.")
def paired(file: Path, reading: dict[str, Any], prob: float, seed: int, **asked: Any) -> Answer:
    """Skill of the best team and of the public winner from the public and the private board.

    Without sizes of the test sets or standard errors the noise is learnt from the differences;
    rho then keeps its prior.
    """
    sizes: Any = {name: _both(asked, name) for name in ("n_test", "standard_errors")}
    boards = data.read_paired_boards(file, asked["private_file"], **sizes, **reading)
    boards = with_anchors(boards, asked["known"])
    of_rho: Any = {"domain": asked["domain"], "field": asked["field"]}
    groups: Any = "all" if saves(".nc") else "estimands"
    tree = leaderboard.estimate_paired(boards, random_seed=seed, groups=groups, **of_rho)
    report = leaderboard.describe_paired(tree, boards, prob)
    return Answer(report, lambda: maximum.plot_sota(tree, ci_prob=prob), lambda: tree)


def _both(sizes: dict[str, Any], name: str) -> tuple[Any, Any] | None:
    """Both of a pair of options, or neither."""
    start = name.removesuffix("s")
    public, private = (sizes[f"{start}_{board}"] for board in ("public", "private"))
    if (public is None) != (private is None):
        option = f"--{start.replace('_', '-')}-{'private' if private is None else 'public'}"
        raise InputError(f"{option} is missing: the two boards need one each")
    return None if public is None else (public, private)
