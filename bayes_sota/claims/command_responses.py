"""``bayes-sota claim responses``: which method is best, from what each got for the same items."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.claims.command_reported import ClaimOutput, claim_options
from bayes_sota.claims.summary_text import size_of_outcomes, text_of_outcomes
from bayes_sota.core.arguments import NOT_NEGATIVE, Range
from bayes_sota.core.command import (
    InputFile,
    command,
    echo_verdict,
    interval_option,
    number_option,
    top_option,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import chance, decimals_for, plain_text

if TYPE_CHECKING:
    from bayes_sota.claims.selection import SelectedClaim
    from bayes_sota.data.item_scores import ItemScores
    from bayes_sota.data.read_evaluations import Evaluations
    from bayes_sota.data.responses import Responses
    from bayes_sota.items.comparison import MethodComparison


_DRAWS = Range(100, 1_000_000, whole=True)


@command(
    epilog="Example: bayes-sota claim responses answers.csv --cluster-column patient --rope 0.01"
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@click.option("--item-column", default=None, help="Column of the items' names.")
@click.option("--cluster-column", default=None, help="Column of what each item belongs to.")
@click.option(
    "--run-separator", default=None,
    help='What stands between method and run in a column\'s name, such as "@" in resnet@1.',
)  # fmt: skip
@click.option("--metric", default=None, help="Which metric of an evaluation log.")
@click.option("--scorer", default=None, help="Which scorer of an inspect_ai log.")
@click.option(
    "--item-metric", type=click.Choice(["auc", "mean", "rmse"]), default=None,
    help="What numbers per item are made into: auc needs a label column. Default mean.",
)  # fmt: skip
@click.option("--label-column", default=None, help="Column of 0 and 1, for auc.")
@click.option(
    "--lower-is-better", is_flag=True, default=None,
    help="Numbers are errors or losses. Default: if a log's metric is called so.",
)  # fmt: skip
@number_option(NOT_NEGATIVE, "--rope", help="Half-width of practical equivalence.")
@top_option(15, "Methods shown.")
@number_option(_DRAWS, "--draws", default=10_000, help="Posterior draws.")
@click.option(
    "--no-selection", is_flag=True, help="Leave out the correction for picking the winner."
)
@interval_option
@claim_options
def responses(
    files: tuple[Path, ...],
    item_metric: str | None,
    label_column: str | None,
    lower_is_better: bool | None,
    rope: float | None,
    top: int,
    draws: int,
    no_selection: bool,
    prob: float,
    shown: ClaimOutput,
    **reading: str | None,
) -> int:
    """From per-item outcomes of two or more methods.

    FILES are a table with a row per item and a column per method (right and wrong, numbers such as
    Dice, or predicted classes beside a column ground_truth), or evaluation logs, one or more per
    method: samples of lm-evaluation-harness, logs of inspect_ai, per-instance statistics of HELM.
    They are joined on the item.
    """
    from bayes_sota.core.sample import resolve_seed
    from bayes_sota.items.comparison import compare_methods

    outcomes, methods, source, notes = _read(
        files, item_metric, label_column, lower_is_better, reading
    )
    rng, used_seed = resolve_seed(shown.seed)
    found = compare_methods(outcomes, methods, draws=draws, random_seed=rng)
    selected, more = (None, []) if no_selection else _selected(outcomes, found, int(used_seed))
    result = _result(found, selected, prob, rope) | {
        "source": source,
        "level": shown.level,
        "notes": [*notes, *found.notes, *more],
        "seed": int(used_seed),
    }
    if selected is not None:
        result["notes"] += [f"not to be trusted: {reason}" for reason in selected.reasons]
    result |= _reported_alone(outcomes, found)
    result["text"] = text_of_outcomes(result)

    def tree() -> Any:
        from bayes_sota.claims.sample import comparison_tree

        return comparison_tree(found, outcomes, selected=selected, seed=used_seed)

    def drawn() -> Any:
        from bayes_sota.claims.plots import plot_methods

        return plot_methods(tree(), prob=prob)

    shown.deliver(result, lambda: _show(result, prob, top), tree, drawn)
    return echo_verdict(selected.reasons if selected is not None else ())


def _read(
    files: tuple[Path, ...],
    item_metric: Any,
    label_column: str | None,
    lower_is_better: bool | None,
    reading: dict[str, str | None],
) -> tuple["Responses | ItemScores", tuple[str, ...] | None, str, list[str]]:
    if label_column is not None and item_metric != "auc":
        raise InputError(
            "--label-column is for numbers with --item-metric auc; a column of true classes is "
            "found by its name: ground_truth, label, truth, ..."
        )
    if item_metric is None:
        from bayes_sota.data.read_evaluations import read_evaluations

        found = read_evaluations(*files, lower_is_better=lower_is_better, **reading)
        return found.outcomes, found.methods, found.source, list(found.notes) + _hints(found)
    from bayes_sota.data.read_outcomes import read_item_scores

    if len(files) > 1 or any(reading[k] for k in ("metric", "scorer", "run_separator")):
        raise InputError(
            "--item-metric and --label-column are for one table of numbers, without runs"
        )
    scores = read_item_scores(
        files[0], metric=item_metric, label_column=label_column,
        item_column=reading["item_column"], cluster_column=reading["cluster_column"],
        lower_is_better=lower_is_better,
    )  # fmt: skip
    return scores, None, f"1 table, metric {scores.metric}", []


def _hints(found: "Evaluations") -> list[str]:
    """Columns that look like runs of one method, taken as methods of their own."""
    import re

    stems = [re.sub(r"[-_@#. ]?(run|seed|rep|fold)?[-_]?\d+$", "", name) for name in found.methods]
    for stem in dict.fromkeys(stems):
        alike = [name for name, own in zip(found.methods, stems, strict=True) if own == stem]
        if stem and len(alike) > 1 and len(set(alike)) == len(alike):
            return [
                f"{', '.join(map(plain_text, alike[:3]))} are taken as methods of their own; "
                "if they are runs of one, give --run-separator"
            ]
    return []


def _selected(
    outcomes: "Responses | ItemScores", found: "MethodComparison", seed: int
) -> tuple["SelectedClaim | None", list[str]]:
    """The claim corrected for the selection, or why it is not."""
    from bayes_sota.claims.selection import claim_of_best_entry

    if max(found.n_runs) > 1:
        return None, ["picking the winner is not corrected for where methods have several runs"]
    try:
        return claim_of_best_entry(outcomes, given=found, random_seed=seed), []
    except InputError as error:
        return None, [f"picking the winner is not corrected for: {error}"]


def _result(
    found: "MethodComparison", selected: "SelectedClaim | None", prob: float, rope: float | None
) -> dict[str, Any]:
    tied, intervals = found.tied_with_best(prob), found.sign * found.interval(prob)
    regions = None if rope is None else found.rope(rope)
    methods = []
    for j, name in enumerate(found.methods):
        method: dict[str, Any] = {
            "name": name, "score": float(found.sign * found.scores[j]),
            "interval": sorted(intervals[j].tolist()),
            "p_best": None if selected is None else selected.p_best[j],
            "p_best_uncorrected": float(found.p_best[j]),
            "p_not_below_winner": float(found.p_not_below[j]), "tied_with_best": bool(tied[j]),
            "n_runs": found.n_runs[j],
        }  # fmt: skip
        if regions is not None:
            method["rope"] = dict(
                zip(("winner_better", "equivalent", "better"), regions[j].tolist(), strict=True)
            )
        methods.append(method)
    order = sorted(range(len(methods)), key=lambda j: -found.scores[j])
    result: dict[str, Any] = {
        "p_false": found.p_false,
        "winner": found.methods[found.winner],
        "runner_up": found.methods[found.runner_up],
        "p_beaten": found.p_beaten,
        "tied_with_best": [methods[j]["name"] for j in order if tied[j]],
        "p_best": None if selected is None else {m["name"]: m["p_best"] for m in methods},
        "methods": [methods[j] for j in order],
        "n_items": found.n_items,
        "n_clusters": found.n_clusters,
        "prob": prob,
        "selection": None,
    }
    if regions is not None:
        above, equal, below = regions[found.runner_up].tolist()
        result["rope"] = {
            "half_width": rope,
            "a_better": above,
            "equivalent": equal,
            "b_better": below,
        }
    if selected is not None:
        result["selection"] = {
            "p_false_selected": selected.p_false_selected, "p_false": selected.p_false,
            "difference": selected.difference, "p_not_best": selected.p_not_best,
            "rho": selected.rho,
        }  # fmt: skip
    return result


def _reported_alone(
    outcomes: "Responses | ItemScores", found: "MethodComparison"
) -> dict[str, Any]:
    """What a paper that reports the two accuracies only would leave open."""
    from bayes_sota.claims.accuracies import false_claim_probability, sensitivity_to_congruence
    from bayes_sota.data.responses import Responses

    if not isinstance(outcomes, Responses) or max(found.n_runs) > 1:
        return {"congruence": None, "sensitivity": []}
    a, b = float(found.scores[found.winner]), float(found.scores[found.runner_up])
    kept = outcomes.complete().correct
    both = float((kept[:, found.winner] * kept[:, found.runner_up]).mean())
    return {
        "congruence": {"value": both, "assumption": "counted"},
        "sensitivity": sensitivity_to_congruence(a, b, found.n_items, points=9).tolist(),
        "p_false_without_items": false_claim_probability(a, b, found.n_items),
    }


def _show(result: dict[str, Any], prob: float, top: int) -> None:
    winner, second = plain_text(result["winner"]), plain_text(result["runner_up"])
    size = f"{size_of_outcomes(result)}, {len(result['methods'])} methods"
    click.echo(f"{plain_text(result['source'])}: {size}")
    click.echo(
        f"P({second} is at least as good as {winner}) = {chance(result['p_false'])}; "
        f"P(another one beats {winner}) = {chance(result['p_beaten'])}"
    )
    if result["selection"] is not None:
        of = result["selection"]
        click.echo(
            f"Allowing for its having been picked: {chance(of['p_false_selected'])} and "
            f"{chance(of['p_not_best'])}"
        )
    if "p_false_without_items" in result:
        low, high = result["sensitivity"][-1][1], result["sensitivity"][0][1]
        click.echo(
            f"From the two accuracies alone: {chance(result['p_false_without_items'])}, anything "
            f"from {chance(low)} to {chance(high)}; both got "
            f"{100 * result['congruence']['value']:.1f} % of the items right"
        )
    _show_methods(result, prob, top)


def _show_methods(result: dict[str, Any], prob: float, top: int) -> None:
    header = ["method", "score", f"{prob:.0%} interval"]
    corrected = result["selection"] is not None
    header += ["P(best)"] * corrected + ["uncorrected", "P(>= winner)", "tied"]
    header += ["P(equivalent)"] * ("rope" in result)
    rows = []
    for method in result["methods"][:top]:
        low, high = method["interval"]
        d = decimals_for((high - low) / 4)
        row = [
            method["name"],
            f"{method['score']:.{d + 1}f}",
            f"{low:.{d}f} to {high:.{d}f}",
        ]
        row += [f"{method['p_best']:.3f}"] if corrected else []
        row += [f"{method['p_best_uncorrected']:.3f}"]
        is_winner = method["name"] == result["winner"]
        row += ["" if is_winner else chance(method["p_not_below_winner"])]
        row += ["yes" if method["tied_with_best"] else ""]
        row += [f"{method['rope']['equivalent']:.3f}"] if "rope" in result else []
        rows.append(row)
    more = len(result["methods"]) - top
    echo_table(header, rows, f"{more:,} more with --top" if more > 0 else "")
    click.echo(
        f"tied: cannot be told from the winner, P(>= winner) is at least {(1 - prob) / 2:.3g}"
        + ("; P(best) allows for the winner's having been picked" if corrected else "")
        + "; uncorrected: P(best) as if all had been given beforehand"
    )
