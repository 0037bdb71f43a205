"""Published numbers against computed ones: ``python tests/published/reproduce.py mania``."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click

from bayes_sota.cli.exit_codes import exit_code
from bayes_sota.core.arguments import PROCESSES
from bayes_sota.core.command import (
    OutputDirectory,
    Shown,
    command,
    number_option,
    report_options,
    seed_option,
    show_progress,
)
from bayes_sota.core.errors import InputError
from bayes_sota.crossval.run import ITERATIONS

FULL_SIZE = 500


@command(epilog="Example: python tests/published/reproduce.py table-1 mania")
@click.argument("items", nargs=-1)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="Directory of the Kaggle leaderboards that table-2, table-4, cassava, figure-8 and "
    "figure-9 need, of the VTAB scores (vtab_scores_16x19.csv) that vtab, epp-figure-3 and "
    "epp-figure-6 need, of the published skills and deviances (epp_34_datasets.csv.gz, "
    "deviances_34_datasets.csv) that epp-openml needs, or of further tasks for cv-...: tables "
    "NAME.csv with two classes in a column y, and "
    "NAME_test.csv for a true test set.",
)
@number_option(
    ITERATIONS, "--iterations",
    help="Of cv-...: random partitions of each task into 2, 5 and 10 folds. Default: 10.",
)  # fmt: skip
@click.option("--full-size", is_flag=True, help=f"Of cv-...: {FULL_SIZE}, as in the paper.")
@click.option(
    "--checkpoint", type=OutputDirectory(),
    help="Of cv-...: folder that keeps finished iterations; the same command goes on from there, "
    "and one with more --iterations as well.",
)  # fmt: skip
@number_option(PROCESSES, "--cores", help="Of cv-...: processes; results are the same. Default: 1.")
@seed_option
@report_options
def reproduce(
    items: tuple[str, ...],
    data: Path | None,
    iterations: int | None,
    full_size: bool,
    checkpoint: Path | None,
    cores: int | None,
    seed: int | None,
    shown: Shown,
) -> int:
    """Recompute published numbers; without ITEMS all of them but the study of cross-validation.

    A number is reproduced, differs (a row "as run" shows why), is of another setting (what if),
    is printed nowhere (ours), is not verifiable, or is off; only off makes the exit code 1. A
    finding in words holds, does not hold, or cannot be told from the new runs.

    \b
    ITEMS, of Møllersen & Holsbø (second version):
      coin-flip mania fixed-reference auc cassava melanoma
      table-1 table-2 table-3 table-4
      figure-2 to figure-6, figure-8 to figure-11
    \b
    ITEMS, of the EPP paper (Gosiewska, Woźnica & Biecek):
      vtab epp-openml epp-tables-4-5 epp-tables-6-8 epp-figure-3 to epp-figure-6
    \b
    ITEMS, of the study of cross-validation (Raeder, Hoens & Chawla), which takes minutes and
    needs scikit-learn (extra cv):
      cv-folds cv-running-means cv-verdicts cv-tests cv-shape cv-rules
      cv-orders cv-test-sets
    """
    from published.comparisons import report_comparisons
    from published.comparisons import reproduce as recompute

    if full_size and iterations is not None:
        raise InputError(f"--full-size is --iterations {FULL_SIZE}: give one of them")
    found = recompute(
        list(items) or None, data,
        iterations=FULL_SIZE if full_size else iterations, random_seed=seed,
        checkpoint=checkpoint, cores=cores, progressbar=show_progress(shown.quiet, shown.as_json),
    )  # fmt: skip
    return shown.deliver(report_comparisons(found, seed))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and exit."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    name = "python tests/published/reproduce.py"
    sys.exit(
        exit_code(lambda: reproduce.main(typed, prog_name=name, standalone_mode=False, obj=typed))
    )


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()
