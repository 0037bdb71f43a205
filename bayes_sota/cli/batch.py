"""``bayes-sota batch``: the state of the art on many boards, one result file for each.

A board is estimated and written by the process that gets it, and a summary comes back: memory does
not grow with the number of boards, and what is finished stays when the run is ended.
"""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota.cli.options import FOLDER, Count, InputFile, command, option, shows_progress
from bayes_sota.cli.output import Answer
from bayes_sota.cli.sota import estimate, sota
from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.errors import BayesSotaError, InputError
from bayes_sota.core.files import make_directory
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.summary import (
    diagnose,
    estimand_summary,
    list_report,
    observed_maximum_of,
)
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import counted, listed, plain_text
from bayes_sota.leaderboard.sample_estimate import seed_of

_NUMBERS = ("observed_maximum", "theta_sota", "lower", "upper", "winner_skill", "seed")
_COLUMNS = {
    "board": "board",
    "best score": "observed_maximum",
    "theta_sota": "theta_sota",
    "from": "lower",
    "to": "upper",
    "winner's skill": "winner_skill",
    "what is wrong": "problem",
}


@command(
    uses="metric standard_error domain field reading prob seed top",
    draws=False,
    example="batch *.csv --n-test 500 --output-dir results --cores 2",
)
@click.argument("files", type=InputFile(), nargs=-1, required=True)
@option("--n-test", multiple=True, type=Count("infer"), help="Number of test items of each.")
@option("--output-dir", type=FOLDER, required=True, help="Where the results go, as NAME.nc.")
@option("--cores", limits=PROCESSES, default=1, help="Processes.")
def batch(
    files: tuple[Path, ...], output_dir: Path, cores: int, seed: int, **options: Any
) -> Answer:
    """State of the art of many boards, one result file for each.

    FILES are what sota reads. A result that is there is left alone, and a file that fails does not
    stop the others.
    """
    stems = [file.stem for file in files]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice is not None:
        raise InputError(f"two FILES are called {twice}, and so would be their results")
    make_directory(output_dir)
    finish = partial(_finish, folder=output_dir, seed=seed, options=options)
    records = []
    with shown_progress(len(files), "boards", show=shows_progress()) as advance:
        for _, record in run_each(finish, files, cores=cores):
            records.append(record)
            advance()
    there = [record["board"] for record in records if record["was_there"]]
    left = f"left alone, as there was a result: {listed(there)}"
    failed = sum(record["theta_sota"] is None for record in records)
    known = {"n_boards": len(records), "n_failed": failed, "prob": options["prob"], "seed": seed}
    notes = [left] * bool(there)
    report = list_report(
        "boards",
        records,
        _COLUMNS,
        content=known | {"notes": notes},
        sentences=[f"{len(records) - failed:,} of {counted(len(records), 'board')} have a result."],
        legend=[f"theta_sota: skill of the best classifier; {options['prob']:.0%} intervals."],
        notes=notes,
        reasons=[f"{row['board']}: {row['problem']}" for row in records if row["problem"]],
        basis=(f"seed {seed}", SOFTWARE),
    )
    return Answer(report)


def _finish(file: Path, folder: Path, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Summary of one file, whose result is written unless it is there; what is wrong with it."""
    record = {"board": file.stem, "was_there": False, **dict.fromkeys(_NUMBERS), "problem": ""}
    target, prob = folder / f"{file.stem}.nc", options["prob"]
    try:
        tree = None
        with suppress(InputError):  # a file that is no whole result is made anew
            tree = read_result(target)
        record["was_there"] = tree is not None
        if tree is None:
            own = seed_of(seed, file.name)
            tree = estimate(file, seed=own, sensitivity=False, **options).about
            save_result(tree, target)
        theta = estimand_summary(tree, "theta_sota", prob)
        return record | {
            "observed_maximum": float(observed_maximum_of(tree)),
            "theta_sota": theta["mean"],
            "lower": theta["interval"][0],
            "upper": theta["interval"][1],
            "winner_skill": estimand_summary(tree, "winner_skill", prob)["mean"],
            "seed": tree.attrs["random_seed"],
            "problem": "; ".join(diagnose(tree)["reasons"]),
        }
    except Exception as error:  # whatever is wrong with a file, the others are done
        said = str(error) if isinstance(error, BayesSotaError) else f"{error!r}"
        if isinstance(error, InputError):
            said = error.render([name for one in sota.params for name in one.opts])
        return record | {"problem": plain_text(said.removeprefix(f"{file}: "), 500)}
