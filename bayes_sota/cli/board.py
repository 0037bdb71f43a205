"""``bayes-sota board``."""

from pathlib import Path
from typing import Any

import click

from bayes_sota import leaderboard
from bayes_sota.cli.options import KNOWN, Input, command, note_unused, option
from bayes_sota.cli.output import Answer
from bayes_sota.cli.reading import parse_sizes, read_board, with_anchors
from bayes_sota.core.errors import InputError
from bayes_sota.data.leaderboard import Leaderboard

_N_TEST = "Number of test items; of tasks 100,200 or A:100,B:200. Default: the column of that name."


@command(
    uses="metric standard_error n_positive new average domain field known reading prob seed top",
    example="board leaderboard.csv --n-test 500 --save table.md",
)
@click.argument("file", type=Input())
@option("--n-test", callback=parse_sizes, metavar="N|infer", help=_N_TEST)
@option("--by", choices=["task"], default=None, help="Skills in every task, and its best.")
def board(
    file: Path, by: Any, known: Any, domain: Any, field: Any, prob: float, seed: int, **asked: Any
) -> Answer:
    """Skill, rank and probability of being the best of every entry of a leaderboard.

    FILE is a leaderboard (one row per entry), answers (one row per item, one column per classifier;
    or a row for each model, item and run), an evaluation log or a folder of logs. The sets of ranks
    of all entries hold at once; an entry that may be the best has rank 1 in its set.
    """
    data = with_anchors(read_board(file, **asked), known)
    settings: Any = {"ci_prob": prob, "random_seed": seed}
    if by:
        note_unused("with --by task", "average", "domain", "field", *KNOWN)
        if isinstance(data, Leaderboard):
            raise InputError("--by task needs the answer to every item: this file has scores only")
        table = leaderboard.board_by_task(data, **settings)
        best, of = _best_of_tasks(table.content["entries"]), "skill of the best of each task"
        return Answer(table, lambda: leaderboard.plot_skills(best[:40], prob, of))
    table = leaderboard.board_table(data, domain=domain, field=field, **settings)
    return Answer(table, lambda: leaderboard.plot_entries(table))


def _best_of_tasks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The best of each task, called by the task as well."""
    best = {row["task"]: row for row in sorted(rows, key=lambda row: row["p_best"])}
    return [row | {"name": f"{task}: {row['name']}"} for task, row in best.items()]
