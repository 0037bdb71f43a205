"""``bayes-sota batch``: the state of the art on many boards, one result file for each.

A board is estimated and written by the process that gets it, and a summary comes back: memory does
not grow with the number of boards, and what is finished stays when the run is ended.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.cli.options import (
    InputFile,
    OutputDirectory,
    Reported,
    chosen_seed,
    command,
    estimate_options,
    number_option,
    options_of,
    reading_options,
    seed_option,
    show_progress,
    top_option,
)
from bayes_sota.cli.sota import estimate_as_typed, sota
from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.errors import BayesSotaError, InputError
from bayes_sota.core.files import make_directory
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.sample import read_result, save_result
from bayes_sota.core.summary import (
    cell_of,
    diagnose,
    estimand_summary,
    frame_of,
    observed_maximum_of,
)
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import counted, listed, plain_text
from bayes_sota.leaderboard.sample_many import seed_of

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection

_OF_SOTA = {
    "n_test",
    "metric",
    "standard_error",
    "percent",
    "domain",
    "field",
    "ci_prob",
}
"""Options of ``sota`` that all boards of a run share."""
_NUMBERS = ("observed_maximum", "theta_sota", "lower", "upper", "winner_skill", "seed")


def _finish(file: Path, folder: Path, seed: int, options: dict[str, Any]) -> dict[str, Any]:
    """Summary of one file, whose result is written unless it is there; what is wrong with it."""
    record = {"board": file.stem, "was_there": False, **dict.fromkeys(_NUMBERS), "problem": ""}
    target, ci_prob = folder / f"{file.stem}.nc", options["ci_prob"]
    try:
        tree = _result_at(target)
        record["was_there"] = tree is not None
        if tree is None:
            known = sota.make_context("sota", [str(file)]).params | options
            known["seed"] = seed_of(seed, file.name)
            tree = estimate_as_typed(file, known, sensitivity=False).about
            save_result(tree, target)
        theta = estimand_summary(tree, "theta_sota", ci_prob)
        return record | {
            "observed_maximum": float(observed_maximum_of(tree)),
            "theta_sota": theta["mean"],
            "lower": theta["interval"][0],
            "upper": theta["interval"][1],
            "winner_skill": estimand_summary(tree, "winner_skill", ci_prob)["mean"],
            "seed": tree.attrs["random_seed"],
            "problem": "; ".join(diagnose(tree)["reasons"]),
        }
    except Exception as error:  # whatever is wrong with a file, the others are done
        said = str(error) if isinstance(error, BayesSotaError) else f"{error!r}"
        if isinstance(error, InputError):
            said = error.render(options_of(sota))
        said = said.removeprefix(f"{file}: ")
        return record | {"problem": plain_text(said, 500)}


def _result_at(path: Path) -> "xr.DataTree | None":
    """A result that is there and whole."""
    try:
        return read_result(path)
    except InputError:
        return None


@command(epilog="Example: bayes-sota batch *.csv --n-test 500 --output-dir results --cores 2")
@click.argument("files", type=InputFile(folders=True), nargs=-1, required=True)
@click.option(
    "--output-dir", type=OutputDirectory(), required=True, help="Where the results go, as NAME.nc."
)
@reading_options
@number_option(PROCESSES, "--cores", default=1, help="Processes.")
@seed_option
@top_option(15, "Boards shown.")
@estimate_options
def batch(
    files: tuple[Path, ...],
    output_dir: Path,
    cores: int,
    seed: int | None,
    shown: Reported,
    top: int,
    **options: Any,
) -> int:
    """State of the art of many boards, one result file for each.

    FILES are what sota reads. A result that is there is left alone, and a file that fails does not
    stop the others.
    """
    stems = [file.stem for file in files]
    twice = next((stem for stem in stems if stems.count(stem) > 1), None)
    if twice is not None:
        raise InputError(f"two FILES are called {twice}, and so would be their results")
    make_directory(output_dir)
    finish = partial(_finish, folder=output_dir, seed=chosen_seed(seed), options=options)
    records: list[dict[str, Any]] = [{} for _ in files]
    progressbar = show_progress(shown.quiet, shown.as_json)
    with shown_progress(len(files), "boards", show=progressbar) as advance:
        for place, record in run_each(finish, files, cores=cores):
            records[place] = record
            advance()
    report = _described(records, chosen_seed(seed), options["ci_prob"])
    return shown.deliver(report, top, partial(_figure, records[:top], options["ci_prob"]))


batch.params += [option for option in sota.params if option.name in _OF_SOTA]


def _described(records: Sequence[Mapping[str, Any]], seed: int, ci_prob: float) -> Report:
    done = [record for record in records if record["theta_sota"] is not None]
    there = [record["board"] for record in records if record["was_there"]]
    wrong = [f"{record['board']}: {record['problem']}" for record in records if record["problem"]]
    were = "was" if len(there) == 1 else "were"
    left = f"{counted(len(there), 'result')} in the folder {were} left alone"
    notes = [f"{left}: {listed(there)}"] * bool(there)
    said = f"{len(done):,} of {counted(len(records), 'board')} have a result."
    return Report(
        make_frame=partial(frame_of, records),
        tables=[Table.of([_cells(record) for record in records])],
        content={
            "boards": records,
            "n_boards": len(records),
            "n_failed": len(records) - len(done),
            "prob": ci_prob,
            "seed": seed,
            "notes": notes,
        },
        sentences=(said,),
        legend=(f"theta_sota: skill of the best classifier, with its {ci_prob:.0%} interval.",),
        notes=notes,
        reasons=wrong,
        basis=(f"seed {seed}", SOFTWARE),
    )


def _cells(record: Mapping[str, Any]) -> dict[str, str]:
    """What people see of a board."""
    failed = record["theta_sota"] is None
    return {
        "board": record["board"],
        "best score": cell_of(record["observed_maximum"]),
        "theta_sota": "" if failed else f"{record['theta_sota']:.4f}",
        "interval": "" if failed else f"{record['lower']:.4f} to {record['upper']:.4f}",
        "winner's skill": "" if failed else f"{record['winner_skill']:.4f}",
        "what is wrong": record["problem"],
    }


def _figure(records: Sequence[Mapping[str, Any]], ci_prob: float) -> "PlotCollection":
    """Best skill of each board, with its interval and its best score."""
    from bayes_sota.leaderboard.plots import draw_intervals

    drawn = [
        {
            "name": record["board"],
            "score": record["observed_maximum"],
            "skill": {
                "mean": record["theta_sota"],
                "interval": (record["lower"], record["upper"]),
            },
        }
        for record in records
        if record["theta_sota"] is not None
    ]
    if not drawn:
        raise InputError("no board has a result that a figure could show")
    return draw_intervals(drawn, f"skill of the best classifier: mean and {ci_prob:.0%} interval")
