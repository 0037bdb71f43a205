"""``bayes-sota demo``: the main job on a bundled real example, end to end."""

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
from bayes_sota.core.text import decimals_for

if TYPE_CHECKING:
    import xarray as xr

    from bayes_sota.data.examples import Example


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
    from bayes_sota.core.files import check_not_kept, check_writable, locked_folder
    from bayes_sota.data.examples import load_example
    from bayes_sota.leaderboard.sample_estimate import estimate_sota, sota_sensitivity
    from bayes_sota.leaderboard.summary_sota import describe_sota

    check_not_kept(output_dir / "obesity-risk.nc")
    click.get_current_context().with_resource(locked_folder(output_dir))
    check_writable(output_dir / "obesity-risk.nc")
    seed = chosen_seed(seed)
    names = ("obesity-risk", "obesity-risk-paper", "cassava")
    examples = {name: load_example(name) for name in names}
    trees: dict[str, tuple[Example, xr.DataTree]] = {}
    for name, example in examples.items():
        _note(quiet or as_json, f"{name}: exact posterior")
        trees[name] = example, estimate_sota(example.leaderboard(), random_seed=seed)
    lead = examples["obesity-risk"]
    _note(quiet or as_json, "obesity-risk: ABC/SMC, simulation only (compiles first)")
    progress = show_progress(quiet, as_json)
    simulated = estimate_sota(
        lead.leaderboard(), method="abc", draws=500, chains=2, random_seed=seed,
        progressbar=progress,
    )  # fmt: skip
    trees["obesity-risk-abc"] = lead, simulated
    sensitivity = sota_sensitivity(lead.leaderboard(), ci_prob=ci_prob, random_seed=seed)
    files = _write(output_dir, trees, sensitivity, ci_prob)
    changed = sensitivity.iloc[1:].to_dict("records")
    results = {
        name: describe_sota(
            tree, (example.leaderboard(),), changed if name == lead.name else [], ci_prob
        ).to_dict()
        for name, (example, tree) in trees.items()
    }
    if as_json:
        echo_json({"results": results, "files": [str(path) for path in files]})
    else:
        _echo(results, examples, ci_prob, output_dir, files)
    return _exit_code(results)


def _note(silent: bool, text: str) -> None:
    if not silent:
        click.echo(text, err=True)


def _write(
    directory: Path,
    trees: dict[str, tuple["Example", "xr.DataTree"]],
    sensitivity: Any,
    ci_prob: float,
) -> list[Path]:
    from bayes_sota.core.plots import save_figure
    from bayes_sota.core.sample import save_result
    from bayes_sota.leaderboard.plots import plot_sensitivity
    from bayes_sota.maximum.plots import plot_prior_predictive, plot_sota

    files = [save_result(tree, directory / f"{name}.nc") for name, (_, tree) in trees.items()]
    lead = trees["obesity-risk"][1]
    figures = {
        "obesity-risk-posterior.png": plot_sota(lead, ci_prob=ci_prob),
        "obesity-risk-prior-predictive.png": plot_prior_predictive(lead, ci_prob=ci_prob),
        "obesity-risk-sensitivity.png": plot_sensitivity(sensitivity, ci_prob=ci_prob),
        "cassava-posterior.png": plot_sota(trees["cassava"][1], ci_prob=ci_prob),
    }
    return files + [save_figure(figure, directory / name) for name, figure in figures.items()]


_LABELS = {
    "obesity-risk": "obesity risk, as it was",
    "obesity-risk-abc": "  the same by ABC/SMC",
    "obesity-risk-paper": "  with the paper's 13,840 items",
    "cassava": "cassava (counter-example)",
}


def _echo(
    results: dict[str, dict[str, Any]],
    examples: dict[str, "Example"],
    ci_prob: float,
    directory: Path,
    files: list[Path],
) -> None:
    rows = []
    for name, label in _LABELS.items():
        r, theta = results[name], results[name]["theta_sota"]
        d = decimals_for(theta["sd"], theta["mcse"])
        low, high = theta["interval"]
        board = [label, f"{r['observed_maximum']:g}", f"{r['n_test']:,}"]
        numbers = [f"{x:.{d}f}" for x in (theta["mean"], theta["sd"])]
        skill = r["winner_skill"]
        winner = f"{skill['mean']:.{decimals_for(skill['sd'], skill['mcse'])}f}"
        rows.append([*board, *numbers, f"{low:.{d}f} to {high:.{d}f}", winner])
    interval = f"{ci_prob:.0%} interval"
    header = ["board", "best score", "items", "theta_sota", "sd", interval, "winner"]
    echo_table(header, rows, "Skill of the best classifier (theta_sota) and of the one that won")
    click.echo(_reading(results, examples, ci_prob))
    click.echo(f"\n{len(files)} files in {directory}/: " + ", ".join(path.name for path in files))
    click.echo("\n".join(about_seed(results["obesity-risk"])))


def _reading(
    results: dict[str, dict[str, Any]], examples: dict[str, "Example"], ci_prob: float
) -> str:
    lead = results["obesity-risk"]
    low, high = lead["theta_sota"]["interval"]
    d, w = (
        decimals_for(lead[name]["sd"], lead[name]["mcse"])
        for name in ("theta_sota", "winner_skill")
    )
    cassava = examples["cassava"]
    gap = float(cassava.maximum) - float(cassava.runner_up)
    return (
        f"The best of {lead['n_classifiers']:,} teams scored {lead['observed_maximum']:g} on "
        f"{lead['n_test']:,} items. Under the default prior the best skill lies\n"
        f"between {low:.{d}f} and {high:.{d}f} with probability {ci_prob:.0%}; "
        f"the team that won is expected to score {lead['winner_skill']['mean']:.{w}f} on fresh "
        f"items.\nCassava's winner stood {gap:.4f} above the second ({cassava.runner_up}): a "
        f"maximum alone cannot show that;\nit takes the whole board."
    )


def _exit_code(results: dict[str, dict[str, Any]]) -> int:
    bad = {k: r["diagnostics"]["reasons"] for k, r in results.items() if not r["diagnostics"]["ok"]}
    for name, reasons in bad.items():
        echo_problem("warning", f"{name}: not to be trusted: " + "; ".join(reasons))
    return 1 if bad else 0
