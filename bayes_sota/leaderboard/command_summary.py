"""``bayes-sota sota FILE``: what a whole leaderboard or a response matrix says."""

from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.command import echo_json, echo_verdict
from bayes_sota.core.command_tables import echo_table, estimand_rows
from bayes_sota.core.text import decimals_for, plain_text

if TYPE_CHECKING:
    import xarray as xr

    from bayes_sota.data.item_scores import ItemScores
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.data.responses import Responses


ESTIMANDS = (
    "theta_sota", "expected_sota", "winner_skill", "winner_new_score", "best_new_score",
    "multiplicity_bias",
)  # fmt: skip


def result_of_file(
    tree: "xr.DataTree",
    data: "Leaderboard | Responses | ItemScores",
    sensitivity: list[dict[str, Any]],
    ci_prob: float,
) -> dict[str, Any]:
    """JSON object of one result from scores or responses."""
    from bayes_sota.core.summary import diagnose, estimand_summary

    estimands = {name: estimand_summary(tree, name, ci_prob) for name in ESTIMANDS}
    maximum = float(tree["observed_data"]["observed_maximum"])
    rho = estimand_summary(tree, "rho", ci_prob)
    return {
        "method": tree.attrs["method"],
        **_facts(data),
        "observed_maximum": maximum,
        **estimands,
        "bias": estimands["multiplicity_bias"]["mean"],
        "n_above_sota": estimand_summary(tree, "n_above_sota", ci_prob),
        "rho": {
            "mean": rho["mean"],
            "interval": rho["interval"],
            "learnt": bool(tree.attrs.get("rho_learnt", 0)),
        },
        "families": _families(tree),
        "model_check": _checks(tree),
        "sensitivity": group_rows(sensitivity),
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "notes": _notes(tree),
        "diagnostics": diagnose(tree),
        "seed": parse_seed(str(tree.attrs["random_seed"])),
    }


def _facts(data: "Leaderboard | Responses | ItemScores") -> dict[str, Any]:
    from bayes_sota.data.leaderboard import Leaderboard

    if not isinstance(data, Leaderboard):
        size, source = data.n_items, "items of the matrix"
        return {"n_test": size, "n_test_source": source, "n_classifiers": data.n_classifiers}
    return {
        "n_test": data.n_test,
        "n_test_source": data.n_test_source,
        "n_classifiers": data.n_classifiers or data.typical_tries,
    }


def _families(tree: "xr.DataTree") -> dict[str, float]:
    if "families" not in tree["sample_stats"].children:
        return {}
    weights = tree["sample_stats/families"]["probability"]
    names = map(str, weights["family"].values)
    return dict(zip(names, map(float, weights.values), strict=True))


def _checks(tree: "xr.DataTree") -> dict[str, dict[str, float]]:
    observed = tree["observed_data"]
    if "statistic_observed" not in observed:
        return {}
    names = map(str, observed["statistic"].values)
    pairs = zip(
        observed["statistic_observed"].values, observed["statistic_p_value"].values, strict=True
    )
    return {
        name: {"observed": float(value), "p_value": float(p)}
        for name, (value, p) in zip(names, pairs, strict=True)
    }


def _notes(tree: "xr.DataTree") -> list[str]:
    return [note for note in str(tree.attrs.get("notes", "")).split("; ") if note]


def group_rows(rows: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Sensitivity rows by assumption, as JSON has them."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        entry = {
            "value": row["value"], "mean": row["mean"], "interval": [row["lower"], row["upper"]]
        }  # fmt: skip
        grouped.setdefault(row["assumption"].replace(" ", "_"), []).append(entry)
    return grouped


def parse_seed(text: str) -> int | str:
    """Seed of a result: a number, or what describes a generator."""
    return int(text) if text.isdigit() else text


def echo_file_result(
    result: dict[str, Any],
    data: "Leaderboard | Responses | ItemScores",
    sensitivity: list[dict[str, Any]],
    as_json: bool,
    quiet: bool,
) -> int:
    """Print a result; exit code 0 where it can be trusted and 1 where it cannot."""
    if as_json:
        echo_json(result)
    else:
        _echo_table(result, data.name)
        echo_sensitivity(sensitivity, result["prob"])
        if not quiet:
            for note in result["notes"]:
                click.echo(f"Note: {plain_text(note)}")
            click.echo(_footer(result))
    return echo_verdict(result["diagnostics"]["reasons"])


def _echo_table(result: dict[str, Any], name: str) -> None:
    ci_prob = result["prob"]
    summary = {estimand: result[estimand] for estimand in ESTIMANDS}
    items = (
        f" on {result['n_test']:,} items ({result['n_test_source']})" if result["n_test"] else ""
    )
    title = (
        f"{name}: best score {result['observed_maximum']:.6g} of "
        f"{result['n_classifiers']:,.0f} classifiers{items}"
    )
    header = ["quantity", "mean", "sd", f"{ci_prob:.0%} interval", "what it is"]
    echo_table(header, estimand_rows(summary), title)
    above = result["n_above_sota"]
    low, high = above["interval"]
    click.echo(
        f"Entries with an observed score better than theta_sota: {above['median']:.0f} "
        f"({low:.0f} to {high:.0f})"
    )


def echo_sensitivity(rows: list[dict[str, Any]], ci_prob: float) -> None:
    """Table of theta_sota under other assumptions; nothing where there are no rows."""
    if not rows:
        return
    cells = []
    for row in rows:
        d = decimals_for((row["upper"] - row["lower"]) / 4)
        value = row["value"] if isinstance(row["value"], str) else f"{row['value']:.4g}"
        if row["assumption"] == "n_classifiers":
            value = f"times {value}"
        interval = f"{row['lower']:.{d}f} to {row['upper']:.{d}f}"
        cells.append([row["assumption"], value, f"{row['mean']:.{d}f}", interval])
    header = ["assumption", "set to", "theta_sota", f"{ci_prob:.0%} interval"]
    echo_table(header, cells, "Sensitivity to what is assumed, not observed")


def _footer(result: dict[str, Any]) -> str:
    rho = result["rho"]
    low, high = rho["interval"]
    source = "learnt from the data" if rho["learnt"] else "not learnt: one board cannot tell it"
    return (
        f"rho {rho['mean']:.2f} ({low:.2f} to {high:.2f}), {source}\n"
        f"method {result['method']}, model {plain_text(result['model'])}, seed {result['seed']}"
    )
