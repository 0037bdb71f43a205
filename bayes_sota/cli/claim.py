"""``bayes-sota claim``: the probability that "A outperforms B" is false."""

from typing import Any

import click

from bayes_sota.cli.options import echo_json, output_options
from bayes_sota.cli.tables import echo_table
from bayes_sota.errors import InputError

__all__ = ["claim"]

_POINTS = 9  # of the sensitivity to the congruence or correlation


@click.group()
def claim() -> None:
    """Probability that "A outperforms B" is false, from reported numbers."""


@claim.command(epilog="Example: bayes-sota claim classification --accuracy 0.90 0.88 --n-test 500")
@click.option("--accuracy", type=float, nargs=2, required=True, help="Of A (the winner) and of B.")
@click.option("--n-test", type=int, required=True, help="Number of test items.")
@click.option("--congruence", type=float, default=None, help="Share of items both got right.")
@click.option("--min", "lowest", is_flag=True, help="The least congruence that is possible.")
@click.option("--max", "highest", is_flag=True, help="The largest.")
@click.option("--independent", is_flag=True, help="Independent mistakes.")
@click.option("--alpha", type=float, default=1.0, show_default=True, help="Dirichlet prior.")
@click.option("--rope", type=float, default=None, help="Half-width of practical equivalence.")
@output_options
def classification(
    accuracy: tuple[float, float],
    n_test: int,
    congruence: float | None,
    lowest: bool,
    highest: bool,
    independent: bool,
    alpha: float,
    rope: float | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
) -> int:
    """From two accuracies on the same items.

    Without a congruence the answer is averaged over all that the accuracies allow.
    """
    import numpy as np

    from bayes_sota.exact.false_claim import (
        congruence_bounds,
        false_claim_probability,
        false_claim_rope,
    )

    chosen = _chosen(congruence, {"min": lowest, "max": highest, "independent": independent})
    p = float(false_claim_probability(*accuracy, n_test, chosen, alpha=alpha))
    low, high = (float(x) for x in congruence_bounds(*accuracy))
    grid = np.linspace(low, high, _POINTS)
    curve = false_claim_probability(*accuracy, n_test, grid, alpha=alpha)
    result: dict[str, Any] = {
        "p_false": p,
        "congruence": _described(chosen, accuracy, low, high),
        "sensitivity": [[float(x), float(y)] for x, y in zip(grid, curve, strict=True)],
        "n_test": n_test,
        "accuracy": list(accuracy),
        "alpha": alpha,
        "notes": list(_impossible(accuracy, n_test)),
    }
    if rope is not None:
        found = false_claim_rope(*accuracy, n_test, rope, chosen, alpha=alpha)
        result["rope"] = {
            "half_width": rope, "a_better": found.a_better, "equivalent": found.equivalent,
            "b_better": found.b_better,
        }  # fmt: skip
    return _echo(result, "congruence", f"{accuracy[0]:g} against {accuracy[1]:g}", as_json, quiet)


@claim.command(
    epilog="Example: bayes-sota claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100"
)
@click.option("--mean", type=float, nargs=2, required=True, help="Of A (the winner) and of B.")
@click.option("--sd", type=float, nargs=2, required=True, help="Standard deviations of cases.")
@click.option("--n-test", type=int, required=True, help="Number of cases.")
@click.option(
    "--pairwise-correlation", type=float, default=None, help="Between the methods' cases."
)
@click.option("--unbounded", is_flag=True, help="Cases may lie outside [0, 1].")
@output_options
def segmentation(
    mean: tuple[float, float],
    sd: tuple[float, float],
    n_test: int,
    pairwise_correlation: float | None,
    unbounded: bool,
    as_json: bool,
    seed: int | None,
    quiet: bool,
) -> int:
    """From two means of cases (Dice) and their standard deviations.

    Without a correlation the answer is averaged over 0 to 1.
    """
    import numpy as np

    from bayes_sota.exact.false_claim_mean import false_claim_probability_of_means

    bounds = None if unbounded else (0.0, 1.0)

    def probability(r: Any) -> Any:
        return false_claim_probability_of_means(*mean, n_test, sd=sd, correlation=r, bounds=bounds)

    grid = np.linspace(0.0, 0.95, _POINTS)
    curve = probability(grid)
    assumption = "averaged from 0 to 1" if pairwise_correlation is None else "given"
    result = {
        "p_false": float(probability(pairwise_correlation)),
        "correlation": {"value": pairwise_correlation, "assumption": assumption},
        "sensitivity": [[float(x), float(y)] for x, y in zip(grid, curve, strict=True)],
        "n_test": n_test,
        "mean": list(mean),
        "sd": list(sd),
        "notes": [],
    }
    return _echo(result, "correlation", f"{mean[0]:g} against {mean[1]:g}", as_json, quiet)


@claim.command(epilog="Example: bayes-sota claim plan --accuracy 0.90 0.88 --level 0.05")
@click.option("--accuracy", type=float, nargs=2, required=True, help="Of A (the winner) and of B.")
@click.option("--congruence", type=float, default=None, help="Share of items both get right.")
@click.option("--level", type=float, default=0.05, show_default=True, help="Of a false claim.")
@click.option("--n-test", type=int, default=None, help="Items observed so far, for assurance.")
@click.option("--assurance", type=float, default=0.8, show_default=True, help="With --n-test.")
@output_options
def plan(
    accuracy: tuple[float, float],
    congruence: float | None,
    level: float,
    n_test: int | None,
    assurance: float,
    as_json: bool,
    seed: int | None,
    quiet: bool,
) -> int:
    """Test items that a claim of this gap needs."""
    from bayes_sota.exact.claim_planning import assured_test_size, claim_test_size

    size = claim_test_size(*accuracy, congruence, level=level)
    assumption = "independent" if congruence is None else "given"
    result: dict[str, Any] = {
        "n_needed": size,
        "level": level,
        "congruence": {"value": congruence, "assumption": assumption},
    }
    if n_test is not None:
        shared = accuracy[0] * accuracy[1] if congruence is None else congruence
        assured, highest = assured_test_size(
            *accuracy, n_test, shared, level=level, assurance=assurance, random_seed=seed or 0
        )
        result |= {"n_assured": assured, "assurance": assurance, "highest_assurance": highest}
    if as_json:
        echo_json(result)
        return 0
    click.echo(f"{size:,} items at these accuracies ({assumption} congruence, level {level:g})")
    if n_test is not None:
        if result["n_assured"] is None:
            click.echo(
                f"No size makes the claim with probability {assurance:g}: after {n_test:,} items A "
                f"is the better one with probability {result['highest_assurance']:.3f}"
            )
        else:
            click.echo(
                f"{result['n_assured']:,} fresh items for a claim with probability {assurance:g}"
            )
    return 0


def _chosen(value: float | None, flags: dict[str, bool]) -> Any:
    """The congruence asked for."""
    named = [name for name, flag in flags.items() if flag]
    if len(named) + (value is not None) > 1:
        raise InputError("give one of --congruence, --min, --max and --independent")
    return named[0] if named else value


def _described(chosen: Any, accuracy: tuple[float, float], low: float, high: float) -> Any:
    if chosen is None:
        return {"range": [low, high], "assumption": "averaged over what the accuracies allow"}
    known = {"min": low, "max": high, "independent": accuracy[0] * accuracy[1]}
    if isinstance(chosen, str):
        return {"value": known[chosen], "assumption": chosen}
    return {"value": chosen, "assumption": "given"}


def _impossible(accuracy: tuple[float, float], n_test: int) -> Any:
    """Accuracies that no number of items gives, as printed."""
    from bayes_sota.data.printed_scores import count_bounds, parse_scores

    for value in accuracy:
        ((fewest, most),) = count_bounds(parse_scores([repr(value)]), n_test, "nearest")
        if fewest > most:
            yield f"no whole number of {n_test:,} items gives the accuracy {value:g} as printed"


def _echo(result: dict[str, Any], unknown: str, what: str, as_json: bool, quiet: bool) -> int:
    if as_json:
        echo_json(result)
        return 0
    described = result[unknown]
    source = described["assumption"]
    if described.get("value") is not None:
        source = f"{described['value']:.4g} ({source})"
    click.echo(
        f"P(B is at least as good as A) = {result['p_false']:.4f}, the probability that the claim "
        f"({what} on {result['n_test']:,} items) is false; {unknown} {source}"
    )
    if "rope" in result:
        rope = result["rope"]
        click.echo(
            f"A better by more than {rope['half_width']:g}: {rope['a_better']:.4f}; equivalent: "
            f"{rope['equivalent']:.4f}; B better: {rope['b_better']:.4f}"
        )
    rows = [[f"{x:.4f}", f"{p:.4f}"] for x, p in result["sensitivity"]]
    echo_table([unknown, "P(false)"], rows, f"What it would be at another {unknown}")
    for note in () if quiet else result["notes"]:
        click.echo(f"Note: {note}")
    return 0
