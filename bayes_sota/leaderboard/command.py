"""``bayes-sota board``: what the scores of a leaderboard say about each of its entries.

``bayes-sota models``: the named specifications.

``bayes-sota calibrate``: coverage and error of the routes on real and simulated boards.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import DRAWS, PROCESSES, Range, refuse_unused
from bayes_sota.core.command import (
    InputFile,
    OutputFile,
    command,
    echo_json,
    echo_verdict,
    interval_option,
    number_option,
    output_options,
    seed_option,
    show_progress,
    top_option,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.text import plain_text
from bayes_sota.leaderboard.command_files import board_priors, field_options, read_file
from bayes_sota.maximum.command import chosen_correlation

if TYPE_CHECKING:
    from bayes_sota.data.responses import Responses
    from bayes_sota.leaderboard.sample_calibration import BoardCase
    from bayes_sota.leaderboard.summary_entries import EntryTable


@command(epilog="Example: bayes-sota board leaderboard.csv --n-test 500 --output table.md")
@click.argument("file", type=InputFile())
@field_options
@number_option(DRAWS, "--draws", default=1000, help="Posterior draws.")
@top_option(15, "Entries shown.")
@click.option(
    "--output",
    type=OutputFile("table"),
    default=None,
    help="Table of all entries: .csv, .md or .json.",
)
@interval_option
@seed_option
@output_options
def board(
    file: Path,
    file_format: str,
    correlation: float | None,
    pairwise_correlation: float | None,
    draws: int,
    top: int,
    output: Path | None,
    ci_prob: float,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """Skill, rank and chance to be the best of every entry of a leaderboard.

    FILE is a leaderboard (one row per entry), or a response matrix (one row per item, one column
    per classifier), which is recognised by its answers. Tied with the best are all entries that
    the data do not tell from the one with the best score.
    """
    from bayes_sota.leaderboard.summary_entries import board_table

    priors = board_priors(chosen_correlation(correlation, pairwise_correlation))
    data = read_file(file, file_format, **reading)
    table = board_table(
        data,
        priors=priors,
        ci_prob=ci_prob,
        draws=draws,
        random_seed=_seed(seed),
    )
    if output is not None:
        table.save(output)
    if as_json:
        echo_json(table.to_dict())
    else:
        _echo_entries(table, top, quiet)
    return echo_verdict(table.reasons)


def _seed(seed: int | None) -> int:
    import numpy as np

    return int(np.random.SeedSequence().generate_state(1)[0]) if seed is None else seed


def _echo_entries(table: "EntryTable", top: int, quiet: bool) -> None:
    header = ["rank", "entry", "score", "skill", f"{table.ci_prob:.0%} interval", "rank interval"]
    rows = table.cells(top)
    title = f"{table.name}: best {len(rows):,} of {len(table.frame):,} entries"
    echo_table([*header, "P(best)", "tied"], rows, title)
    for line in table.legend(top):
        click.echo(line)
    if quiet:
        return
    for note in table.notes:
        click.echo(f"Note: {plain_text(note)}")
    click.echo(f"method exact, seed {table.seed}")


@command(epilog="Example: bayes-sota models --json")
@output_options
def models(as_json: bool, quiet: bool) -> None:
    """List the named model specifications that --model takes."""
    from bayes_sota.leaderboard.specification import load_model, model_names

    specs = [load_model(name) for name in model_names()]
    if as_json:
        content = [
            {"name": s.name, "description": s.description, "hash": s.specification_hash}
            for s in specs
        ]
        echo_json({"models": content})
        return
    echo_table(["name", "what it is"], [[s.name, s.description] for s in specs])


_SIZES = (200, 500, 1000, 2000, 5000)
_SHAPE_BOARDS = (20, 200)
_BOARDS, _SIZE = Range(1, 100_000, whole=True), Range(2, 100_000, whole=True)
_RHOS = (0.0, 0.6, 0.85)


@command(epilog="Example: bayes-sota calibrate --boards 30 --n-test 200 --n-test 1000")
@click.option(
    "--responses",
    "files",
    multiple=True,
    type=InputFile(),
    help="Response matrix to draw boards from; default the bundled digits benchmark.",
)
@click.option("--shapes", is_flag=True, help="Simulated boards of six shapes instead.")
@number_option(_BOARDS, "--boards", default=60, help="Boards per cell.")
@number_option(_SIZE, "--n-test", "sizes", multiple=True, help="Test items of the boards.")
@number_option(_SIZE, "--classifiers", "tries", multiple=True, help="Classifiers, with --shapes.")
@click.option(
    "--route",
    "routes",
    multiple=True,
    type=click.Choice(["scores", "responses"]),
    help="Routes to judge; default scores.",
)
@number_option(PROCESSES, "--jobs", default=1, help="Processes.")
@click.option(
    "--output",
    type=OutputFile(),
    default=None,
    help="JSON file that keeps what is done; an interrupted study goes on from there.",
)
@seed_option
@output_options
def calibrate(
    files: tuple[Path, ...],
    shapes: bool,
    boards: int,
    sizes: tuple[int, ...],
    tries: tuple[int, ...],
    routes: tuple[str, ...],
    jobs: int,
    output: Path | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
) -> int:
    """Coverage and error of the posterior against the raw maximum, on boards of known truth.

    Classifiers and items are drawn from response matrices; the truth is the accuracy over all
    their items. With --shapes, boards are simulated instead.
    """
    from bayes_sota.leaderboard.sample_calibration import run_board_study, summarize_study

    if shapes:
        refuse_unused("--shapes", {"--responses": files})
    else:
        refuse_unused("boards drawn from response matrices", {"--classifiers": tries})
    chosen = routes or ("scores",)
    matrices = {} if shapes else _matrices(files)
    cases = _shape_cases(boards, sizes, tries) if shapes else _real_cases(boards, sizes, matrices)
    by = ("source", "n_classifiers", "rho") if shapes else ("source", "n_test")
    with _progress(len(cases), show_progress(quiet, as_json)) as advance:
        judgements = run_board_study(
            cases, matrices, routes=chosen, random_seed=seed or 0, n_jobs=jobs, path=output,
            on_progress=advance,
        )  # fmt: skip
    rows = summarize_study(judgements, by)
    if as_json:
        echo_json({"cells": rows, "seed": seed or 0})
    else:
        _echo_coverage(rows, by)
    return 0


def _matrices(files: tuple[Path, ...]) -> dict[str, "Responses"]:
    from bayes_sota.data.examples import load_responses_example
    from bayes_sota.data.read_outcomes import read_responses

    if not files:
        return {"digits": load_responses_example("digits").held_out}
    return {file.stem: read_responses(file) for file in files}


def _real_cases(
    boards: int, sizes: tuple[int, ...], matrices: dict[str, "Responses"]
) -> list["BoardCase"]:
    from bayes_sota.leaderboard.sample_calibration import BoardCase

    return [
        BoardCase(name, n, i) for name in matrices for n in sizes or _SIZES for i in range(boards)
    ]


def _shape_cases(boards: int, sizes: tuple[int, ...], tries: tuple[int, ...]) -> list["BoardCase"]:
    from bayes_sota.leaderboard.sample_calibration import SHAPES, BoardCase

    return [
        BoardCase(shape, n, i, m, rho)
        for shape in SHAPES
        for n in sizes or (1000,)
        for m in tries or _SHAPE_BOARDS
        for rho in _RHOS
        for i in range(boards)
    ]


class _progress:
    """Progress bar on a terminal, none in a pipe."""

    def __init__(self, total: int, visible: bool) -> None:
        from rich.progress import Progress

        self.bar = Progress(disable=not visible, transient=True)
        self.total = total

    def __enter__(self) -> Any:
        self.bar.start()
        task = self.bar.add_task("boards", total=self.total)
        return lambda done: self.bar.update(task, completed=done)

    def __exit__(self, *_: object) -> None:
        self.bar.stop()


def _echo_coverage(rows: list[dict[str, Any]], by: tuple[str, ...]) -> None:
    header = [
        *by,
        "route",
        "boards",
        "coverage",
        "raw",
        "rmse",
        "score",
        "width",
        "bias",
        "raw bias",
    ]
    for estimand in ("theta_sota", "winner_skill"):
        cells = [
            [
                *(str(row[key]) for key in by),
                row["route"],
                str(row["boards"]),
                *(f"{row[key]:.3f}" for key in ("coverage", "raw_coverage")),
                *(f"{row[key]:.2f}" for key in ("rmse_ratio", "score_ratio", "width_ratio")),
                *(f"{row[key]:+.4f}" for key in ("bias", "raw_bias")),
            ]
            for row in rows
            if row["estimand"] == estimand
        ]
        echo_table(header, cells, f"{estimand}: 95 % intervals; ratios to the raw maximum's")
