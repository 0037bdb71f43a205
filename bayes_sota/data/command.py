"""``bayes-sota infer-n`` and ``examples``. Import NumPy only."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from bayes_sota.core.arguments import DECIMALS
from bayes_sota.core.command import (
    InputFile,
    OutputDirectory,
    command,
    echo_json,
    echo_verdict,
    number_option,
    output_options,
)
from bayes_sota.core.text import plain_text


@command("infer-n", epilog="Example: bayes-sota infer-n leaderboard.csv")
@click.argument("file", type=InputFile())
@click.option("--score-column", default=None, help="Column of the scores; default recognised.")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["auto", "csv", "tsv", "json", "parquet", "kaggle"]),
    default="auto",
    show_default=True,
    help="Format of the file.",
)
@click.option(
    "--rounding",
    type=click.Choice(["auto", "nearest", "floor"]),
    default="auto",
    show_default=True,
    help="How scores were cut; auto tries both.",
)
@number_option(DECIMALS, "--decimals", help="Decimals printed; default as in FILE.")
@click.option("--percent", is_flag=True, default=None, help="Scores are in percent.")
@output_options
def infer_n(
    file: Path,
    score_column: str | None,
    file_format: Any,
    rounding: Any,
    decimals: int | None,
    percent: bool | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Number of test items that can give all scores of a leaderboard.

    Exits with 1 where the scores are too few to tell.
    """
    from bayes_sota.data.lattice import infer_n_test
    from bayes_sota.data.read_boards import located, read_entries

    entries = read_entries(file, score_column=score_column, format=file_format)
    entries.check(decimals=decimals, percent=percent)
    with located(entries.where):
        fit = infer_n_test(
            entries.scores, entries.rounding_order(rounding), decimals, percent=percent
        )
    reasons = [] if fit.is_identified else [fit.statement]
    if as_json:
        fields = asdict(fit)
        other = fields.pop("other")
        result = fields | {
            "other_rounding": other and {"rounding": other[0], "n_test": other[1]},
            "statement": fit.statement,
            "notes": list(entries.notes),
            "diagnostics": {"ok": not reasons, "reasons": reasons},
        }
        echo_json(result)
    else:
        for line in _lines(fit, [] if quiet else list(entries.notes)):
            click.echo(line)
    return echo_verdict(reasons)


def _lines(fit: Any, notes: list[str]) -> list[str]:
    """Short lines for a person: the size, what else fits, and how sure that is."""
    size = f"{fit.n_test:,}" if fit.is_identified else "not identified"
    lines = [f"n_test {size}", f"{fit.statement[0].upper()}{fit.statement[1:]}."]
    if fit.candidates and fit.is_identified:
        some = ", ".join(f"{n:,}" for n in fit.candidates[:6])
        lines.append(f"The next sizes that fit too: {some}")
    if fit.other:
        how = {"floor": "Floored", "nearest": "Rounded"}[fit.other[0]]
        size = "none fits" if fit.other[1] is None else f"the smallest is {fit.other[1]:,}"
        lines.append(f"{how} instead, {size}.")
    return lines + [plain_text(note) for note in notes]


@command(epilog="Example: bayes-sota examples --output-dir examples")
@click.option(
    "--output-dir",
    type=OutputDirectory(),
    required=True,
    help="Where the files go; none that is there already is written over.",
)
@output_options
def examples(output_dir: Path, as_json: bool, quiet: bool) -> int:
    """Write small files to try: a leaderboard, answers to items, scores of rounds.

    They are of real classifiers of handwritten digits (scikit-learn's).
    """
    from bayes_sota.data.examples import write_examples

    files = write_examples(output_dir)
    if as_json:
        echo_json({"files": [str(path) for path in files]})
    else:
        for path in files:
            click.echo(plain_text(path))
    return 0
