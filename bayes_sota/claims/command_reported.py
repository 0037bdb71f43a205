"""What the commands of ``bayes-sota claim`` share: options of output, and how a claim is shown.

``bayes-sota claim classification`` and ``segmentation``: from two reported numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.claims.summary_text import rounded_up, text_of_accuracies, text_of_means
from bayes_sota.core.arguments import (
    ALPHA,
    COUNT,
    LEVEL,
    NOT_NEGATIVE,
    NUMBER,
    PAIRWISE,
    POSITIVE,
    SHARE,
    TRIES,
    refuse_unused,
)
from bayes_sota.core.command import (
    OutputFile,
    command,
    echo_json,
    number_option,
    output_options,
    packed_options,
    seed_option,
    text_option,
    write_result_files,
)
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.errors import ImpossibleAccuracyError, InputError
from bayes_sota.core.text import chance

if TYPE_CHECKING:
    import xarray as xr
    from arviz_plots import PlotCollection


@dataclass(frozen=True)
class ClaimOutput:
    """What a command of claims shows and writes; checked before anything is computed."""

    level: float
    text: bool
    figure: Path | None
    output: Path | None
    as_json: bool
    seed: int | None
    quiet: bool

    def check_seed(self) -> None:
        """Refuse a seed where the answer is exact and no draws are written."""
        if self.output is None:
            refuse_unused("an exact answer: it is for --output", {"--seed": self.seed})

    def deliver(
        self,
        result: dict[str, Any],
        show: Callable[[], None],
        tree: Callable[[], "xr.DataTree"],
        figure: Callable[[], "PlotCollection"],
    ) -> None:
        """Write the files that were asked for, then print JSON, the paragraph, or a table.

        What was not asked for is not computed.
        """
        write_result_files(self.output, tree, self.figure, figure)
        if self.as_json:
            echo_json(result)
        elif self.text:
            click.echo(result["text"])
        else:
            show()
            for note in () if self.quiet else result["notes"]:
                click.echo(f"Note: {note}")


def level_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, the probability of a false claim that is accepted."""
    option = number_option(LEVEL, "--level", default=0.05, help="Of an accepted false claim.")
    return option(command)


def claim_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--level``, ``--text``, ``--figure``, ``--output`` and what every command has, as one."""
    options = (
        output_options,
        seed_option,
        click.option(
            "--output", type=OutputFile("result"), default=None,
            help="Posterior draws as a DataTree: FILE.nc.",
        ),
        click.option(
            "--figure", type=OutputFile("figure"), default=None,
            help="Figure: .png, .svg or .pdf.",
        ),
        text_option,
        level_option,
    )  # fmt: skip
    return packed_options(command, ClaimOutput, options)


_POINTS, _FINE = 9, 201  # of the sensitivity in a table, and in a figure
_ALPHAS = (0.25, 0.5, 1.0, 2.0)


@command(epilog="Example: bayes-sota claim classification --accuracy 0.90 0.88 --n-test 500")
@click.option("--accuracy", nargs=2, required=True, help="Of A (the winner) and of B, as printed.")
@click.option("--n-test", required=True, help="Number of test items, or a range A:B.")
@number_option(SHARE, "--congruence", help="Share of items both got right.")
@click.option("--min", "lowest", is_flag=True, help="The least congruence that is possible.")
@click.option("--max", "highest", is_flag=True, help="The largest.")
@click.option("--independent", is_flag=True, help="Independent mistakes.")
@number_option(
    NOT_NEGATIVE,
    "--odds-ratio",
    nargs=2,
    help="Prior of the congruence: median of the odds ratio, and sd of its logarithm.",
)
@number_option(ALPHA, "--alpha", default=1.0, help="Dirichlet prior.")
@number_option(SHARE, "--rope", help="Half-width of practical equivalence.")
@click.option(
    "--rounding", type=click.Choice(["auto", "nearest", "floor", "exact"]), default="auto",
    show_default=True, help="How the printed accuracies were cut; auto is nearest.",
)  # fmt: skip
@number_option(TRIES, "--best-of", help="Tries of A of which this is the best.")
@claim_options
def classification(
    accuracy: tuple[str, str],
    n_test: str,
    congruence: float | None,
    lowest: bool,
    highest: bool,
    independent: bool,
    odds_ratio: tuple[float, float] | None,
    alpha: float,
    rope: float | None,
    rounding: str,
    best_of: float | None,
    shown: ClaimOutput,
) -> int:
    """From two accuracies on the same items.

    Without a congruence the answer is averaged over all that the accuracies allow.
    """
    from bayes_sota.claims.accuracies import false_claim_probability, sensitivity_to_congruence
    from bayes_sota.claims.planning import congruence_needed
    from bayes_sota.claims.selection import best_try_probability

    shown.check_seed()
    accuracy = (_printed(accuracy[0]), _printed(accuracy[1]))
    a, b = float(accuracy[0]), float(accuracy[1])
    chosen = _chosen(
        congruence, odds_ratio, {"min": lowest, "max": highest, "independent": independent}
    )
    sizes = _size_range(n_test)
    p = float(false_claim_probability(a, b, sizes[1], chosen, alpha=alpha))
    rounded, notes, n = _rounded(accuracy, sizes, chosen, alpha, rounding)
    if rounded is not None and sizes[0] < sizes[1]:
        p = rounded["p_false"]
    result: dict[str, Any] = {
        "p_false": p,
        "congruence": _described(chosen, a, b),
        "sensitivity": sensitivity_to_congruence(a, b, n, alpha=alpha, points=_POINTS).tolist(),
        "congruence_needed": congruence_needed(a, b, n, level=shown.level, alpha=alpha),
        "level": shown.level,
        "n_test": n,
        "n_test_range": list(sizes),
        "accuracy": [a, b],
        "alpha": alpha,
        "rounding": rounded,
        "notes": notes,
    }
    if chosen is None:
        result["alpha_sensitivity"] = [
            [x, false_claim_probability(a, b, n, alpha=x)] for x in sorted({*_ALPHAS, alpha})
        ]
    if rope is not None:
        result["rope"] = _rope(a, b, n, rope, chosen, alpha)
    if best_of is not None:
        if alpha != 1:
            raise InputError("--best-of is for the flat prior: leave out --alpha")
        best = best_try_probability(a, b, n, best_of, chosen)
        plain = float(false_claim_probability(a, b, n, chosen))
        result["selection"] = _tries(best_of, best, plain)
    result["text"] = text_of_accuracies(result)
    what = f"{accuracy[0]} against {accuracy[1]} on {n:,} items"
    shown.deliver(
        result,
        lambda: _show(result, "congruence", what),
        lambda: _tree(a, b, n, chosen, alpha, shown.seed),
        lambda: _figure_of_accuracies(result),
    )
    return 0


@command(epilog="Example: bayes-sota claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100")
@number_option(NUMBER, "--mean", nargs=2, required=True, help="Of A (the winner) and of B.")
@number_option(NOT_NEGATIVE, "--sd", nargs=2, help="Standard deviations of cases.")
@number_option(
    NUMBER,
    "--sd-coefficients",
    nargs=3,
    help="Imputed instead: c0 c1 c2 of c0 + c1 mean + c2 mean^2.",
)
@number_option(POSITIVE, "--sd-difference", help="Of the differences of cases.")
@number_option(COUNT, "--n-test", required=True, help="Number of cases.")
@number_option(PAIRWISE, "--pairwise-correlation", help="Between the methods' cases.")
@number_option(
    PAIRWISE,
    "--correlation-range",
    nargs=2,
    default=(0.0, 1.0),
    help="Averaged over, where the correlation is not given.",
)
@click.option("--unbounded", is_flag=True, help="Cases may lie outside [0, 1].")
@number_option(TRIES, "--best-of", help="Tries of A of which this is the best.")
@claim_options
def segmentation(
    mean: tuple[float, float],
    sd: tuple[float, float] | None,
    sd_coefficients: tuple[float, float, float] | None,
    sd_difference: float | None,
    n_test: int,
    pairwise_correlation: float | None,
    correlation_range: tuple[float, float],
    unbounded: bool,
    best_of: float | None,
    shown: ClaimOutput,
) -> int:
    """From two means of cases (Dice) and their standard deviations.

    Without a correlation the answer is averaged over 0 to 1.
    """
    import numpy as np

    from bayes_sota.claims.means import false_claim_probability_of_means
    from bayes_sota.claims.planning import crossing_of
    from bayes_sota.claims.review import CORRELATIONS
    from bayes_sota.claims.selection import best_try_probability_of_means

    shown.check_seed()
    if sum(x is not None for x in (sd, sd_coefficients, sd_difference)) != 1:
        raise InputError("give one of --sd, --sd-coefficients and --sd-difference")
    spreads = None if sd_coefficients is None else (sd_coefficients, sd_coefficients)
    given: dict[str, Any] = {
        "sd": spreads if sd is None else sd, "sd_difference": sd_difference,
        "correlation_range": correlation_range, "bounds": None if unbounded else (0.0, 1.0),
    }  # fmt: skip

    def probability(r: Any) -> Any:
        return false_claim_probability_of_means(*mean, n_test, correlation=r, **given)

    def curve(points: int) -> Any:
        low, high = correlation_range
        last = min(high, CORRELATIONS[1]) if low < CORRELATIONS[1] else high  # at 1 all is sure
        grid = np.linspace(low, last, points)
        return np.column_stack([grid, probability(grid)])

    low, high = correlation_range
    known = pairwise_correlation is not None or sd_difference is not None
    result: dict[str, Any] = {
        "p_false": float(probability(pairwise_correlation)),
        "correlation": {
            "value": pairwise_correlation,
            "assumption": "not needed: the differences are known" if sd_difference is not None
            else "given" if known else f"averaged from {low:g} to {high:g}",
        },
        "sensitivity": [] if sd_difference is not None else curve(_POINTS).tolist(),
        "correlation_needed": None
        if sd_difference is not None
        else crossing_of(curve(_FINE), shown.level),
        "level": shown.level,
        "n_test": n_test,
        "mean": list(mean),
        "correlation_range": list(correlation_range),
        "sd_imputed": sd_coefficients is not None,
        "sd": _spreads(mean, given["sd"]),
        "sd_difference": sd_difference,
        "notes": [],
    }  # fmt: skip
    if best_of is not None:
        best = best_try_probability_of_means(
            *mean, n_test, best_of, correlation=pairwise_correlation, **given
        )
        result["selection"] = _tries(best_of, best, result["p_false"])
        if sd_difference is not None:
            result["notes"].append(
                "for the tries half of the variance of the differences is taken to be A's own"
            )
    result["text"] = text_of_means(result)
    what = f"{mean[0]:g} against {mean[1]:g} on {n_test:,} cases"

    def tree() -> Any:
        from bayes_sota.claims.sample import claim_tree_of_means

        return claim_tree_of_means(
            *mean, n_test, correlation=pairwise_correlation, random_seed=shown.seed, **given
        )

    def drawn() -> Any:
        from bayes_sota.claims.plots_curves import plot_claim_sensitivity

        if sd_difference is not None:
            raise InputError("--figure shows the correlation, which --sd-difference has no use for")
        return plot_claim_sensitivity(
            curve(_FINE), p_false=result["p_false"], assumed=pairwise_correlation,
            level=shown.level, needed=result["correlation_needed"], unknown="correlation",
            title=what,
        )  # fmt: skip

    shown.deliver(result, lambda: _show(result, "correlation", what), tree, drawn)
    return 0


def _printed(text: str) -> str:
    """An accuracy with its digits; in percent if it says so."""
    from bayes_sota.data.printed_scores import parse_number

    share = text.strip()
    number = parse_number(share.removesuffix("%"))
    if number is None:
        raise InputError(f"--accuracy takes two numbers in [0, 1], got {text!r}")
    return str(number / 100) if share.endswith("%") else share


def _size_range(text: str) -> tuple[int, int]:
    try:
        ends = [int(part.replace(",", "").replace("_", "")) for part in text.split(":")]
    except ValueError:
        ends = []
    if len(ends) not in (1, 2) or ends != sorted(ends):
        raise InputError(f"--n-test takes a whole number or a range A:B, got {text!r}")
    return ends[0], ends[-1]


def _chosen(value: float | None, odds_ratio: Any, flags: dict[str, bool]) -> Any:
    """The congruence asked for."""
    named = [name for name, flag in flags.items() if flag]
    if len(named) + (value is not None) + (odds_ratio is not None) > 1:
        raise InputError("give one of --congruence, --min, --max, --independent and --odds-ratio")
    if odds_ratio is not None:
        from bayes_sota.claims.congruence import OddsRatioCongruence

        return OddsRatioCongruence(*odds_ratio)
    return named[0] if named else value


def _described(chosen: Any, a: float, b: float) -> dict[str, Any]:
    from bayes_sota.claims.congruence import CongruencePrior, congruence_at, congruence_bounds

    if chosen is None:
        low, high = (float(x) for x in congruence_bounds(a, b))
        return {"range": [low, high], "assumption": "averaged over what the accuracies allow"}
    if isinstance(chosen, CongruencePrior):
        return {"value": None, "assumption": str(chosen)}
    import numpy as np

    value = float(congruence_at(np.asarray(a), np.asarray(b), chosen))
    return {"value": value, "assumption": chosen if isinstance(chosen, str) else "given"}


def _rounded(
    accuracy: tuple[str, str], sizes: tuple[int, int], chosen: Any, alpha: float, rounding: Any
) -> tuple[dict[str, Any] | None, list[str], int]:
    """What the printed digits leave open, notes, and the size that stands for a range of sizes."""
    from bayes_sota.claims.accuracies import reported_claim

    one = sizes[0] == sizes[1]
    try:
        found = reported_claim(*accuracy, sizes, chosen, alpha=alpha, rounding=rounding)
    except ImpossibleAccuracyError as error:
        if not one:
            raise
        return None, [str(error)], sizes[0]
    n = int(found.n_test[(found.probability.cumsum() >= 0.5).argmax()])
    rounded = {
        "p_false": found.p_false, "lowest": found.lowest, "highest": found.highest,
        "counts_a": list(found.counts_a), "counts_b": list(found.counts_b),
        "rounding": "nearest" if rounding == "auto" else rounding,
    }  # fmt: skip
    notes = []
    if rounding != "exact" and any(len(x.partition(".")[2]) == 1 for x in accuracy):
        notes.append(
            "one digit after the point is taken as printed: write 0.90 if that was printed"
        )
    if float(accuracy[0]) == float(accuracy[1]):
        notes.append("both print alike: with rounding A is taken to have at least as many right")
    if found.n_impossible:
        notes.append(
            f"{found.n_impossible:,} of {sizes[1] - sizes[0] + 1:,} sizes cannot give these "
            "accuracies and were left out"
        )
    if not one:
        notes.append(f"the sensitivity is that of {n:,} items, the middle of what is probable")
    return rounded, notes, n


def _rope(a: float, b: float, n: int, rope: float, chosen: Any, alpha: float) -> dict[str, float]:
    from bayes_sota.claims.accuracies import false_claim_rope

    found = false_claim_rope(a, b, n, rope, chosen, alpha=alpha)
    return {
        "half_width": rope, "a_better": found.a_better, "equivalent": found.equivalent,
        "b_better": found.b_better,
    }  # fmt: skip


def _tries(tries: float, corrected: float, plain: float) -> dict[str, float]:
    return {
        "tries": tries, "p_false_selected": corrected, "p_false": plain,
        "difference": corrected - plain,
    }  # fmt: skip


def _spreads(mean: tuple[float, float], sd: Any) -> list[float] | None:
    from bayes_sota.claims.means import imputed_sd

    if sd is None:
        return None
    return [float(imputed_sd(m, s)) for m, s in zip(mean, sd, strict=True)]


def _tree(a: float, b: float, n: int, chosen: Any, alpha: float, seed: int | None) -> Any:
    from bayes_sota.claims.sample import claim_tree

    return claim_tree(a, b, n, chosen, alpha=alpha, random_seed=seed)


def _figure_of_accuracies(result: dict[str, Any]) -> Any:
    from bayes_sota.claims.accuracies import sensitivity_to_congruence
    from bayes_sota.claims.plots_curves import plot_claim_sensitivity

    a, b = result["accuracy"]
    return plot_claim_sensitivity(
        sensitivity_to_congruence(a, b, result["n_test"], alpha=result["alpha"]),
        p_false=result["p_false"],
        assumed=result["congruence"].get("value"),
        independent=a * b,
        level=result["level"],
        needed=result["congruence_needed"],
        title=f"{a:g} against {b:g} on {result['n_test']:,} items",
    )


def _verdict(result: dict[str, Any]) -> str:
    """What the level makes of it."""
    level, needed, sensitivity = result["level"], result["congruence_needed"], result["sensitivity"]
    said = "Above" if result["p_false"] > level else "Below"
    over = f"{chance(sensitivity[-1][1])} to {chance(sensitivity[0][1])} over all congruences"
    if needed is None:
        return f"{said} the level {level:g}; {over}: above it at all of them"
    if needed <= sensitivity[0][0]:
        return f"{said} the level {level:g}; {over}: below it at all of them"
    share = rounded_up(100 * needed, 1)
    return f"{said} the level {level:g}; {over}: below it from {share} % both right"


def _show(result: dict[str, Any], unknown: str, what: str) -> None:
    described = result[unknown]
    source = described["assumption"]
    if described.get("value") is not None:
        source = f"{described['value']:.4g} ({source})"
    click.echo(
        f"P(B is at least as good as A) = {chance(result['p_false'])}, the probability that the "
        f"claim ({what}) is false; {unknown} {source}"
    )
    if "congruence_needed" in result:
        click.echo(_verdict(result))
    rounded = result.get("rounding")
    if rounded is not None and rounded["lowest"] < rounded["highest"]:
        counts = [
            " to ".join(f"{x:,}" for x in sorted({*rounded[k]})) for k in ("counts_a", "counts_b")
        ]
        click.echo(
            f"With rounding: {chance(rounded['p_false'])} ({chance(rounded['lowest'])} to "
            f"{chance(rounded['highest'])}; A has {counts[0]} right, B {counts[1]})"
        )
    if "selection" in result:
        of = result["selection"]
        click.echo(
            f"A as the best of {of['tries']:g} equal tries: {chance(of['p_false_selected'])} "
            f"instead of {chance(of['p_false'])}"
        )
    if "rope" in result:
        rope = result["rope"]
        click.echo(
            f"A better by more than {rope['half_width']:g}: {chance(rope['a_better'])}; "
            f"equivalent: {chance(rope['equivalent'])}; B better: {chance(rope['b_better'])}"
        )
    if "alpha_sensitivity" in result:
        shown = ", ".join(f"{chance(p)} ({x:g})" for x, p in result["alpha_sensitivity"])
        click.echo(f"With other priors of the four cells (alpha): {shown}")
    if result["sensitivity"]:
        rows = [[f"{x:.4f}", chance(p)] for x, p in result["sensitivity"]]
        echo_table([unknown, "P(false)"], rows, f"What it would be at another {unknown}")
