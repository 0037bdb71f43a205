"""Published numbers against computed ones: ``python tests/published/reproduce.py mania``."""

import sys
from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from bayes_sota.cli.main import exit_code
from bayes_sota.cli.options import command
from bayes_sota.cli.output import Answer


@command(uses="seed", draws=False, example="python tests/published/reproduce.py table-1 mania")
@click.argument("items", nargs=-1)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    help="Directory of the Kaggle leaderboards that table-2, table-4, cassava, figure-8 and "
    "figure-9 need, of the VTAB scores (vtab_scores_16x19.csv) that vtab, epp-figure-3 and "
    "epp-figure-6 need, of the published skills and deviances (epp_34_datasets.csv.gz, "
    "deviances_34_datasets.csv) that epp-openml needs.",
)
def reproduce(items: tuple[str, ...], data: Path | None, seed: int) -> Answer:
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
    ITEMS, of the study of cross-validation (Raeder, Hoens & Chawla), by the runs that
    tests/studies/cross_validation.py kept; they take a minute:
      cv-folds cv-running-means cv-verdicts cv-tests cv-shape cv-rules
      cv-orders cv-test-sets
    """
    from published.comparisons import report_comparisons
    from published.comparisons import reproduce as recompute

    typed = click.get_current_context().get_parameter_source("seed")
    asked = seed if typed is ParameterSource.COMMANDLINE else None
    found = recompute(list(items) or None, data, random_seed=asked)
    return Answer(report_comparisons(found, asked))


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
