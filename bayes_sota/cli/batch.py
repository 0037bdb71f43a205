"""``bayes-sota batch``: the state of the art on many boards, one result file for each.

A board is estimated and written by the process that gets it, and a summary comes back: memory does
not grow with the number of boards, and finished results stay when the run is ended.
"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota import leaderboard
from bayes_sota.cli.options import FOLDER, Count, InputFile, command, option
from bayes_sota.cli.output import Answer
from bayes_sota.cli.reading import read_board
from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import make_directory
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.summary import diagnose, estimand_summary, list_report, observed_maximum_of
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import checked_labels, counted, digest_of, listed
from bayes_sota.leaderboard.sample_estimate import seed_of

_COLUMNS = {"board": "board", "best score": "observed_maximum", "theta_sota": "theta_sota",
            "from": "lower", "to": "upper", "winner's skill": "winner_skill",
            "problem": "problem"}  # fmt: skip


@command(
    uses="metric standard_error domain field reading prob seed top",
    draws=False,
    example="batch *.csv --n-test 500 --output-dir results --cores 2",
)
@click.argument("files", type=InputFile(), nargs=-1, required=True)
@option("--n-test", type=Count(), help="Number of test items of each.")
@option("--output-dir", type=FOLDER, required=True, help="Where the results go, as NAME.nc.")
@option("--cores", limits=PROCESSES, default=1, help="Processes; results are the same.")
def batch(files: tuple[Path, ...], output_dir: Path, cores: int, **options: Any) -> Answer:
    """State of the art of many boards, one result file for each.

    FILES are read as by sota. A result in the folder is kept if it was made from the same data with
    the same options and version; otherwise it is replaced. A file that fails does not stop the
    others.
    """
    checked_labels([file.stem for file in files], len(files), "board")
    make_directory(output_dir)
    finish, rows = partial(_finish, folder=output_dir, **options), []
    with shown_progress(len(files), "boards") as advance:
        for _, row in run_each(finish, files, cores=cores):
            rows.append(row)
            advance()
    kept = [row["board"] for row in rows if row.pop("kept")]
    note = f"kept, as data, options and version are the same: {listed(kept)}"
    prob, seed = options["prob"], options["seed"]
    n_failed = sum(row["theta_sota"] is None for row in rows)
    content = {"n_boards": len(files), "n_failed": n_failed, "prob": prob, "seed": seed}
    report = list_report(
        "boards",
        rows,
        _COLUMNS,
        content=content | {"notes": [note] * bool(kept)},
        sentences=[f"Results: {len(files) - n_failed:,} of {counted(len(files), 'board')}."],
        legend=[f"theta_sota: skill of the best classifier; {prob:.0%} intervals."],
        reasons=[f"{row['board']}: {row['problem']}" for row in rows if row["problem"]],
        basis=(f"seed {seed}", SOFTWARE),
    )
    return Answer(report)


def _finish(
    file: Path, *, folder: Path, reading: Any, n_test: Any, prob: float, seed: int, **options: Any
) -> dict[str, Any]:
    """Summary of one file, whose result is written unless it is in the folder; or its problem."""
    target = folder / f"{file.stem}.nc"
    row = dict.fromkeys([*_COLUMNS.values(), "seed", "kept"]) | {"board": file.stem}
    how = {name: options.pop(name) for name in ("domain", "field")}
    how["random_seed"] = seed_of(seed, file.name)
    try:
        board = read_board(file, reading, n_test=n_test, **options)
        made_from = digest_of(board.data_hash(), how, SOFTWARE)
        kept = target.exists() and read_result(target).attrs.get("made_from") == made_from
        if not kept:
            tree = leaderboard.estimate_sota(board, **how)
            tree.attrs["made_from"] = made_from
            save_result(tree, target)
        tree = read_result(target)
    except Exception as error:  # the other files are estimated, whatever is wrong with this one
        known = [name for one in batch.params for name in one.opts]
        said = error.render(known) if isinstance(error, InputError) else repr(error)
        return row | {"problem": said.removeprefix(f"{file}: ")}
    theta, winner = (estimand_summary(tree, name, prob) for name in ("theta_sota", "winner_skill"))
    maximum, problem = float(observed_maximum_of(tree)), "; ".join(diagnose(tree)["reasons"])
    values = file.stem, maximum, theta["mean"], *theta["interval"], winner["mean"], problem
    return dict(zip(row, (*values, tree.attrs["random_seed"], kept), strict=True))
