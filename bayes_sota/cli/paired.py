"""``bayes-sota paired``: public and private leaderboards of the same teams."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import maximum
from bayes_sota.cli.options import InputFile, command, option, saves
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, POSITIVE
from bayes_sota.core.errors import InputError


@command(
    uses="submissions reading model domain field correlation prob seed",
    tree=True,
    example="paired boards.csv --n-test-public 2000 --n-test-private 8000",
)
@click.argument("file", type=InputFile())
@option("--private-file", type=InputFile(), help="Private board, joined on the teams' names.")
@option("--n-test-public", limits=COUNT, help="Public test items (accuracies).")
@option("--n-test-private", limits=COUNT, help="Private test items.")
@option("--standard-error-public", limits=POSITIVE, rare=True, help="Of one public score.")
@option("--standard-error-private", limits=POSITIVE, rare=True, help="Of one private score.")
def paired(file: Path, reading: dict[str, Any], prob: float, seed: int, **asked: Any) -> Answer:
    """Skill of the best team and of the public winner from the public and the private board.

    Without sizes of the test sets or standard errors the noise is learnt from the differences;
    rho then keeps its prior.
    """
    from bayes_sota.data.boards import read_paired_boards
    from bayes_sota.leaderboard.sample_pairs import estimate_paired
    from bayes_sota.leaderboard.specification import chosen_model
    from bayes_sota.leaderboard.summary_pairs import describe_paired

    boards = read_paired_boards(
        file,
        asked["private_file"],
        submissions=asked["submissions"],
        n_test=_both(asked, "n_test"),
        standard_errors=_both(asked, "standard_error"),
        **reading,
    )
    of_rho: Any = {name: asked[name] for name in ("correlation", "domain", "field")}
    spec = chosen_model(asked["model"], "paired", data=boards, **of_rho)
    groups: Any = "all" if saves(".nc") else "estimands"
    tree = estimate_paired(boards, model=spec, random_seed=seed, groups=groups)
    report = describe_paired(tree, boards, prob)
    return Answer(report, lambda: maximum.plot_sota(tree, ci_prob=prob), lambda: tree)


def _both(sizes: dict[str, Any], name: str) -> tuple[Any, Any] | None:
    """Both of a pair of options, or neither."""
    public, private = (sizes[f"{name}_{which}"] for which in ("public", "private"))
    if (public is None) != (private is None):
        missing = "private" if private is None else "public"
        option = "--" + name.replace("_", "-")
        raise InputError(f"{option}-{missing} is missing: the two boards need one each")
    return None if public is None else (public, private)
