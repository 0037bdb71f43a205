"""``bayes-sota demo``, the main job on a real example, end to end; and ``bayes-sota examples``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.command import (
    OutputDirectory,
    about_seed,
    chosen_seed,
    command,
    echo_json,
    echo_problem,
    echo_table,
    interval_option,
    output_options,
    seed_option,
    show_progress,
)
from bayes_sota.core.text import plain_text

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayes_sota.core.tables import Report
    from bayes_sota.data.leaderboard import BestScore


@command(epilog="Example: bayes-sota demo --output-dir results")
@click.option(
    "--output-dir",
    type=OutputDirectory(),
    default=Path("bayes-sota-demo"),
    show_default=True,
    help="Where the DataTree files and figures go.",
)
@interval_option
@seed_option
@output_options
def demo(output_dir: Path, ci_prob: float, as_json: bool, seed: int | None, quiet: bool) -> int:
    """Obesity-risk challenge: what does its best score say about its best classifier?

    The exact route and a short ABC/SMC on the real board, the paper's test-set size for
    comparison, and the cassava board as counter-example.
    """
    from bayes_sota.core.files import make_directory
    from bayes_sota.core.sample import save_result
    from bayes_sota.core.tables import rows_of
    from bayes_sota.leaderboard.sample_estimate import sota_sensitivity
    from bayes_sota.leaderboard.summary_sota import describe_sota

    make_directory(output_dir)
    seed = chosen_seed(seed)
    silent = quiet or as_json
    trees = _estimates(seed, silent, progressbar=show_progress(quiet, as_json))
    lead = trees["obesity-risk"][0]
    sensitivity = sota_sensitivity(lead, ci_prob=ci_prob, random_seed=seed)
    files = [save_result(tree, output_dir / f"{name}.nc") for name, (_, tree) in trees.items()]
    files += _draw(trees, sensitivity, ci_prob, output_dir)
    changed = rows_of(sensitivity.iloc[1:])
    reports = {
        name: describe_sota(tree, (board,), changed if name == lead.name else [], ci_prob)
        for name, (board, tree) in trees.items()
    }
    if as_json:
        results = {name: report.to_dict() for name, report in reports.items()}
        echo_json({"results": results, "files": [str(path) for path in files]})
    else:
        _echo(reports, output_dir, files)
    bad = {name: report.reasons for name, report in reports.items() if report.reasons}
    for name, reasons in bad.items():
        echo_problem("warning", f"{name}: not to be trusted: " + "; ".join(reasons))
    return 1 if bad else 0


def _estimates(
    seed: int, silent: bool, *, progressbar: bool
) -> dict[str, tuple["BestScore", "xr.DataTree"]]:
    """Every example with its posterior; the first also by simulation."""
    from bayes_sota.data.examples import load_example
    from bayes_sota.leaderboard.sample_estimate import estimate_sota

    trees: dict[str, tuple[BestScore, xr.DataTree]] = {}
    for name in ("obesity-risk", "obesity-risk-paper", "cassava"):
        board = load_example(name)
        _note(silent, f"{name}: exact posterior")
        trees[name] = board, estimate_sota(board, random_seed=seed)
    lead = trees["obesity-risk"][0]
    _note(silent, "obesity-risk: ABC/SMC, simulation only (compiles first)")
    settings: dict[str, Any] = {"draws": 500, "chains": 2, "progressbar": progressbar}
    simulated = estimate_sota(lead, method="abc", random_seed=seed, **settings)
    return trees | {"obesity-risk-abc": (lead, simulated)}


def _draw(
    trees: dict[str, tuple["BestScore", "xr.DataTree"]],
    sensitivity: "pd.DataFrame",
    ci_prob: float,
    directory: Path,
) -> list[Path]:
    """Write the figures; their paths."""
    from bayes_sota.core.plots import save_figure
    from bayes_sota.leaderboard.plots import plot_sensitivity
    from bayes_sota.maximum.plots import plot_prior_predictive, plot_sota

    board = trees["obesity-risk"][1]
    figures = {
        "obesity-risk-posterior.png": plot_sota(board, ci_prob=ci_prob),
        "obesity-risk-prior-predictive.png": plot_prior_predictive(board, ci_prob=ci_prob),
        "obesity-risk-sensitivity.png": plot_sensitivity(sensitivity, ci_prob=ci_prob),
        "cassava-posterior.png": plot_sota(trees["cassava"][1], ci_prob=ci_prob),
    }
    return [save_figure(figure, directory / name) for name, figure in figures.items()]


def _note(silent: bool, text: str) -> None:
    if not silent:
        click.echo(text, err=True)


CASSAVA_SECOND = 0.9043  # score of the second on its private leaderboard
_LABELS = {
    "obesity-risk": "obesity risk, as it was",
    "obesity-risk-abc": "  the same by ABC/SMC",
    "obesity-risk-paper": "  with the paper's 13,840 items",
    "cassava": "cassava (counter-example)",
}


def _echo(reports: dict[str, "Report"], directory: Path, files: list[Path]) -> None:
    lead, rows = reports["obesity-risk"], []
    for name, label in _LABELS.items():
        content, told = reports[name].content, {row[0]: row[1:] for row in reports[name].cells}
        board = [label, f"{content['observed_maximum']:g}", f"{content['n_test']:,}"]
        rows.append([*board, *told["theta_sota"][:3], told["winner_skill"][0]])
    header = ["board", "best score", "items", "theta_sota", *lead.header[2:4], "winner"]
    echo_table(header, rows, "Skill of the best classifier (theta_sota) and of the one that won")
    gap = reports["cassava"].content["observed_maximum"] - CASSAVA_SECOND
    said = (
        *lead.sentences[:2],
        f"Cassava's winner stood {gap:.4f} above the second ({CASSAVA_SECOND}): a maximum alone "
        "cannot show that; it takes the whole board.",
        f"\n{len(files)} files in {directory}/: " + ", ".join(path.name for path in files),
        *about_seed(lead.content),
    )
    click.echo("\n".join(said))


@command(epilog="Example: bayes-sota examples --output-dir examples")
@click.option(
    "--output-dir",
    type=OutputDirectory(),
    required=True,
    help="Where the files go; none that is there already is written over.",
)
@output_options
def examples(output_dir: Path, as_json: bool, quiet: bool) -> int:
    """Write a small file of each kind to try, and README.txt, which says what they are.

    Most are of real classifiers of handwritten digits (scikit-learn's).
    """
    from bayes_sota.data.examples import write_examples

    files = list(map(str, write_examples(output_dir)))
    if as_json:
        echo_json({"files": files})
    else:
        click.echo("\n".join(map(plain_text, files)))
    return 0
