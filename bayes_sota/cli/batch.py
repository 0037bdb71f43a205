"""``bayes-sota batch``: the state of the art on many boards, one result file for each.

A board is estimated and written by the process that gets it, and a summary comes back: memory does
not grow with the number of boards, and finished results stay when the run is ended.
"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota.cli.options import FOLDER, Count, InputFile, command, option
from bayes_sota.cli.output import Answer
from bayes_sota.cli.sota import estimate, sota
from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.errors import InputError
from bayes_sota.core.files import make_directory
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.summary import diagnose, estimand_summary, list_report, observed_maximum_of
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import checked_labels, counted, listed, plain_text
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
@option("--n-test", multiple=True, type=Count(), help="Number of test items of each.")
@option("--output-dir", type=FOLDER, required=True, help="Where the results go, as NAME.nc.")
@option("--cores", limits=PROCESSES, default=1, help="Processes.")
def batch(
    files: tuple[Path, ...], output_dir: Path, cores: int, seed: int, **options: Any
) -> Answer:
    """State of the art of many boards, one result file for each.

    FILES are what sota reads. A result that is there is left alone, and a file that fails does not
    stop the others.
    """
    names = checked_labels([file.stem for file in files], len(files), "board")
    make_directory(output_dir)
    there = [name for name in names if (output_dir / f"{name}.nc").exists()]
    finish = partial(_finish, folder=output_dir, seed=seed, options=options)
    records = []
    with shown_progress(len(files), "boards") as advance:
        for _, record in run_each(finish, files, cores=cores):
            records.append(record)
            advance()
    n_failed = sum(record["theta_sota"] is None for record in records)
    content = {"n_boards": len(files), "n_failed": n_failed, "prob": options["prob"], "seed": seed}
    content["notes"] = [f"left alone, as there was a result: {listed(there)}"] * bool(there)
    report = list_report(
        "boards",
        records,
        _COLUMNS,
        content=content,
        sentences=[f"Results: {len(files) - n_failed:,} of {counted(len(files), 'board')}."],
        legend=[f"theta_sota: skill of the best classifier; {options['prob']:.0%} intervals."],
        reasons=[f"{row['board']}: {row['problem']}" for row in records if row["problem"]],
        basis=(f"seed {seed}", SOFTWARE),
    )
    return Answer(report)


def _finish(file: Path, folder: Path, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Summary of one file, whose result is written unless it is there; or its problem."""
    target = folder / f"{file.stem}.nc"
    record = dict.fromkeys([*_COLUMNS.values(), "seed"]) | {"board": file.stem}
    try:
        if not target.exists():
            report = estimate(file, seed=seed_of(seed, file.name), sensitivity=False, **options)
            save_result(report.about, target)
        tree = read_result(target)
    except Exception as error:  # the other files are estimated, whatever is wrong with this one
        known = [name for one in sota.params for name in one.opts]
        said = error.render(known) if isinstance(error, InputError) else repr(error)
        return record | {"problem": plain_text(said.removeprefix(f"{file}: "), 500)}
    theta, winner = (
        estimand_summary(tree, name, options["prob"]) for name in ("theta_sota", "winner_skill")
    )
    maximum, problem = float(observed_maximum_of(tree)), "; ".join(diagnose(tree)["reasons"])
    values = file.stem, maximum, theta["mean"], *theta["interval"], winner["mean"], problem
    return dict(zip(_COLUMNS.values(), values, strict=True)) | {"seed": tree.attrs["random_seed"]}
