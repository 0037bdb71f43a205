"""``bayes-sota claim plan``: how many test items a claim of a given gap needs.

``bayes-sota claim selection``: the winner of a leaderboard, corrected for having been picked.

``bayes-sota claim batch``: a literature review of claims, from one CSV to another.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.claims.command_reported import level_option
from bayes_sota.core.arguments import (
    ASSURANCE,
    COUNT,
    LEVEL,
    NOT_NEGATIVE,
    NUMBER,
    PAIRWISE,
    POSITIVE,
    SHARE,
    refuse_unused,
)
from bayes_sota.core.command import (
    InputFile,
    OutputFile,
    command,
    echo_json,
    echo_verdict,
    number_option,
    output_options,
    seed_option,
    top_option,
)
from bayes_sota.core.command_tables import echo_problem, echo_table
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import chance, plain_text
from bayes_sota.leaderboard.command_files import board_priors, field_options, read_file
from bayes_sota.maximum.command import chosen_correlation

if TYPE_CHECKING:
    from bayes_sota.claims.selection import SelectedClaim
    from bayes_sota.claims.summary_review import ClaimsTable


_ODDS_RATIO = 60.0  # median of real pairs of close classifiers (docs/claims.md)
_GAPS = 25


@command(epilog="Example: bayes-sota claim plan --gap 0.02 --winner 0.90 --level 0.05")
@number_option(POSITIVE, "--gap", help="Difference of A and B.")
@number_option(SHARE, "--winner", help="With --gap: accuracy of A.")
@number_option(SHARE, "--accuracy", nargs=2, help="Or both: of A and of B.")
@number_option(NOT_NEGATIVE, "--sd", nargs=2, help="With --gap: of cases, for means.")
@number_option(SHARE, "--congruence", help="Share of items both get right.")
@number_option(POSITIVE, "--odds-ratio", help="Congruence as an odds ratio; 1 is independence.")
@number_option(PAIRWISE, "--pairwise-correlation", help="Between the methods' cases.")
@number_option(ASSURANCE, "--power", help="At this true gap; default 0.8.")
@number_option(COUNT, "--n-test", help="Items observed so far, for assurance.")
@number_option(ASSURANCE, "--assurance", help="With --n-test; default 0.8.")
@click.option("--figure", type=OutputFile("figure"), default=None, help="Figure: .png, ...")
@level_option
@output_options
def plan(
    gap: float | None,
    winner: float | None,
    accuracy: tuple[float, float] | None,
    sd: tuple[float, float] | None,
    congruence: float | None,
    odds_ratio: float | None,
    pairwise_correlation: float | None,
    power: float | None,
    n_test: int | None,
    assurance: float | None,
    figure: Path | None,
    level: float,
    as_json: bool,
    quiet: bool,
) -> int:
    """Test items that a claim of this gap needs, of accuracies or (with --sd) of means."""
    if assurance is not None and n_test is None:
        raise InputError("--assurance needs --n-test, the items observed so far")
    assurance = 0.8 if assurance is None else assurance
    if sd is not None and pairwise_correlation is None:
        refuse_unused("means without --pairwise-correlation", {"--power": power})
    power = 0.8 if power is None else power
    if sd is not None:
        if gap is None or (winner, accuracy, congruence, odds_ratio) != (None,) * 4:
            raise InputError("means are planned by --gap and --sd, and --pairwise-correlation")
        result = _of_means(gap, sd, pairwise_correlation, level, power, n_test, assurance)
        if figure is not None:
            raise InputError("--figure is for accuracies")
    else:
        if pairwise_correlation is not None:
            raise InputError("--pairwise-correlation is for means; accuracies have --congruence")
        pair = _accuracies(gap, winner, accuracy)
        shared, assumption = _congruence(congruence, odds_ratio)
        result = _of_accuracies(pair, shared, assumption, level, power, n_test, assurance)
        if figure is not None:
            from bayes_sota.core.plots import save_figure

            save_figure(_figure(pair, shared, assumption, level, result), figure)
    result["notes"] = list(_notes(result))
    if as_json:
        echo_json(result)
    else:
        _show_plan(result, quiet)
    return 0


def _accuracies(
    gap: float | None, winner: float | None, accuracy: tuple[float, float] | None
) -> tuple[float, float]:
    if accuracy is not None and (gap, winner) == (None, None):
        return accuracy
    if accuracy is not None or gap is None or winner is None:
        raise InputError("give --accuracy A B, or --gap and --winner, or --gap and --sd for means")
    if not 0 < gap <= winner:
        raise InputError(f"--gap must be above 0 and at most --winner, got {gap:g}")
    return winner, winner - gap


def _congruence(congruence: float | None, odds_ratio: float | None) -> tuple[Any, str]:
    if congruence is not None and odds_ratio is not None:
        raise InputError("give one of --congruence and --odds-ratio")
    if odds_ratio is not None:
        from bayes_sota.claims.congruence import OddsRatioCongruence

        return OddsRatioCongruence(odds_ratio, 0.0), f"odds ratio {odds_ratio:g}"
    return congruence, "independent" if congruence is None else "given"


def _of_accuracies(
    pair: tuple[float, float],
    shared: Any,
    assumption: str,
    level: float,
    power: float,
    n_test: int | None,
    assurance: float,
) -> dict[str, Any]:
    from bayes_sota.claims.congruence import congruence_of_odds_ratio
    from bayes_sota.claims.planning import (
        assured_test_size,
        claim_test_size,
        powered_test_size,
    )

    value = shared if isinstance(shared, float) else None
    result: dict[str, Any] = {
        "n_needed": claim_test_size(*pair, shared, level=level),
        "n_for_power": powered_test_size(*pair, shared, level=level, power=power),
        "power": power,
        "gap": pair[0] - pair[1],
        "accuracy": list(pair),
        "level": level,
        "n_test": n_test,
        "congruence": {"value": value, "assumption": assumption},
    }
    if n_test is not None:
        ratio = 1.0 if shared is None else getattr(shared, "median", None)
        known = float(congruence_of_odds_ratio(*pair, ratio)) if ratio is not None else shared
        assured, highest = assured_test_size(*pair, n_test, known, level=level, assurance=assurance)
        result |= {"n_assured": assured, "assurance": assurance, "highest_assurance": highest}
    return result


def _of_means(
    gap: float,
    sd: tuple[float, float],
    correlation: float | None,
    level: float,
    power: float,
    n_test: int | None,
    assurance: float,
) -> dict[str, Any]:
    from bayes_sota.claims.planning import (
        assured_test_size_of_means,
        claim_test_size_of_means,
        powered_test_size_of_means,
    )

    if not gap > 0:
        raise InputError(f"--gap must be above 0, got {gap:g}")
    result: dict[str, Any] = {
        "n_needed": claim_test_size_of_means(gap, 0.0, sd, correlation=correlation, level=level),
        "n_for_power": None,
        "power": power,
        "gap": gap,
        "level": level,
        "n_test": n_test,
        "correlation": {
            "value": correlation,
            "assumption": "averaged from 0 to 1" if correlation is None else "given",
        },
    }
    if correlation is not None:
        result["n_for_power"] = powered_test_size_of_means(
            gap, sd, correlation, level=level, power=power
        )
    if n_test is not None:
        if correlation is None:
            raise InputError("assurance (--n-test) of means needs --pairwise-correlation")
        assured, highest = assured_test_size_of_means(
            gap, 0.0, n_test, sd, correlation, level=level, assurance=assurance
        )  # fmt: skip
        result |= {"n_assured": assured, "assurance": assurance, "highest_assurance": highest}
    return result


def _figure(
    pair: tuple[float, float], shared: Any, assumption: str, level: float, result: dict[str, Any]
) -> Any:
    import numpy as np
    import pandas as pd

    from bayes_sota.claims.congruence import OddsRatioCongruence
    from bayes_sota.claims.planning import required_sizes
    from bayes_sota.claims.plots_curves import plot_required_size

    gap = pair[0] - pair[1]
    assumptions: dict[str, Any] = {
        "least congruence": "min", "independent": "independent",
        f"odds ratio {_ODDS_RATIO:g}": OddsRatioCongruence(_ODDS_RATIO, 0.0),
    }  # fmt: skip
    if isinstance(shared, OddsRatioCongruence):
        assumptions[assumption] = shared
    gaps = np.geomspace(gap / 3, min(3 * gap, pair[0]), _GAPS)
    table = pd.DataFrame(
        required_sizes(pair[0], gaps.tolist(), assumptions, level=level),
        columns=["gap", "assumption", "n_needed"],
    )
    size = result["n_test"]
    about = f"congruence: {assumption}" if size is None else f"{size:,} items observed"
    return plot_required_size(
        table, level=level, n_test=size, gap=gap, title=f"A has {pair[0]:g} right; {about}",
        n_needed=result["n_needed"] if size is None else None,
    )  # fmt: skip


def _show_plan(result: dict[str, Any], quiet: bool) -> None:
    unknown = "congruence" if "congruence" in result else "correlation"
    assumption = result[unknown]["assumption"]
    click.echo(
        f"{result['n_needed']:,} items if exactly a gap of {result['gap']:.4g} is observed "
        f"({unknown}: {assumption}, level {result['level']:g})"
    )
    if result["n_for_power"] is not None:
        click.echo(
            f"{result['n_for_power']:,} items for a claim with probability {result['power']:g} if "
            "that is the true gap"
        )
    if result.get("n_assured") is not None:
        click.echo(
            f"about {_two_digits(result['n_assured']):,} fresh items for a claim with probability "
            f"{result['assurance']:g}"
        )
    for note in () if quiet else result["notes"]:
        click.echo(f"Note: {note}")


def _notes(result: dict[str, Any]) -> Iterator[str]:
    """What is missing and why, and what is assumed."""
    if result["n_for_power"] is None:
        yield "items for a given power need --pairwise-correlation"
    if result.get("congruence", {}).get("assumption") == "independent":
        yield (
            f"real classifiers share more of their mistakes: --odds-ratio {_ODDS_RATIO:g} is "
            "typical of close ones (docs/claims.md) and asks for fewer items"
        )
    if "n_assured" in result and result["n_assured"] is None:
        yield (
            f"no size makes the claim with probability {result['assurance']:g}: after "
            f"{result['n_test']:,} items A is the better one with probability "
            f"{result['highest_assurance']:.3f}"
        )


def _two_digits(size: int) -> int:
    """What an assurance supports."""
    return round(size, 2 - len(str(size)))


@command(epilog="Example: bayes-sota claim selection leaderboard.csv --n-test 500")
@click.argument("file", type=InputFile())
@field_options
@seed_option
@output_options
def selection(
    file: Path,
    file_format: str,
    correlation: float | None,
    pairwise_correlation: float | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """The claim "best of all entries", with and without the luck of having been picked.

    FILE is a leaderboard, or a response matrix, as for bayes-sota board.
    """
    from bayes_sota.claims.selection import claim_of_best_entry
    from bayes_sota.core.sample import resolve_seed

    priors = board_priors(chosen_correlation(correlation, pairwise_correlation))
    rng, used_seed = resolve_seed(seed)
    data = read_file(file, file_format, **reading)
    found = claim_of_best_entry(data, priors, random_seed=rng)
    if as_json:
        echo_json(
            {
                "p_false": found.p_false, "p_false_selected": found.p_false_selected,
                "difference": found.difference, "p_not_best": found.p_not_best,
                "winner": found.winner, "runner_up": found.runner_up,
                "n_entries": len(found.p_best), "rho": found.rho, "notes": list(found.notes),
                "diagnostics": {"ok": not found.reasons, "reasons": list(found.reasons)},
                "seed": int(used_seed),
            }
        )  # fmt: skip
    else:
        _show_selection(found, quiet)
    return echo_verdict(found.reasons)


def _show_selection(found: "SelectedClaim", quiet: bool) -> None:
    winner, second = plain_text(found.winner), plain_text(found.runner_up)
    rows = [
        [f"{second} is at least as good as {winner}", chance(found.p_false),
         chance(found.p_false_selected)],
        [f"another of the {len(found.p_best):,} entries is the best", "",
         chance(found.p_not_best)],
    ]  # fmt: skip
    echo_table(["P(...)", "as if given beforehand", "corrected for the selection"], rows)
    click.echo(f"Mean correlation of an entry with what all share: {found.rho:.2f}")
    for note in () if quiet else found.notes:
        click.echo(f"Note: {plain_text(note)}")


@command(epilog="Example: bayes-sota claim batch review.csv --output review-checked.csv")
@click.argument("file", type=InputFile())
@click.option(
    "--output",
    type=OutputFile("table"),
    default=None,
    help="FILE with the results: .csv, .md or .json.",
)
@number_option(LEVEL, "--level", default=0.05, help="Of a doubtful claim.")
@click.option("--group-by", default=None, help="Column of the groups; default group.")
@number_option(
    NUMBER,
    "--sd",
    nargs=3,
    help="Coefficients c0 c1 c2 of c0 + c1 mean + c2 mean^2, for means without sd_a and sd_b.",
)
@click.option(
    "--any-accuracy",
    is_flag=True,
    help="Accept accuracies that no whole number of items gives: averages of runs or classes.",
)
@click.option("--skip-problems", is_flag=True, help="Leave out rows that cannot be used.")
@top_option(20, "Claims shown.")
@click.option(
    "--figure",
    type=OutputFile("figure"),
    default=None,
    help="Figure of all claims: .png, .svg or .pdf.",
)
@output_options
def batch(
    file: Path,
    output: Path | None,
    level: float,
    group_by: str | None,
    sd: tuple[float, float, float] | None,
    any_accuracy: bool,
    skip_problems: bool,
    top: int,
    figure: Path | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Probability that each claim of a review is false, and the share of doubtful claims.

    FILE has one claim per row: n_test, and accuracy_a and accuracy_b (the winner's first) or
    mean_a, mean_b, sd_a and sd_b; optionally congruence, pairwise_correlation, sd_difference,
    metric, name and group. All columns come back with p_false, its lowest and highest value over
    all that is possible, and a verdict. Rows that cannot be used are an error; --skip-problems
    leaves them out, with the reason beside them.
    """
    from bayes_sota.claims.summary_review import claims_table

    table = claims_table(
        file, level=level, group_by=group_by, sd=sd, check_counts=not any_accuracy,
        skip_problems=skip_problems,
    )  # fmt: skip
    if figure is not None:
        _draw(table, figure)
    if output is not None:
        table.save(output)
    if as_json:
        echo_json(table.to_dict())
    else:
        _echo(table, None if output is None else plain_text(str(output)), top, quiet)
    for reason in table.reasons:
        echo_problem("warning", f"left out: {reason}")
    return 1 if table.reasons else 0


def _draw(table: "ClaimsTable", path: Path) -> None:
    from bayes_sota.claims.plots import plot_claims
    from bayes_sota.core.plots import save_figure

    frame = table.frame.assign(name=table.names(), group=table.groups())
    shown = plot_claims(frame, level=table.level, backend="matplotlib")
    save_figure(shown, path)


def _echo(table: "ClaimsTable", written: str | None, top: int, quiet: bool) -> None:
    echo_table(["claim", "group", "P(false)", "range", "verdict"], table.cells(top))
    title = f"Claims whose probability of being false is above {table.level:.3g}, by assumption"
    header = [table.group_by or "", "claims", "expected false", "averaged", "at the lowest"]
    echo_table([*header, "at the highest", "problems"], table.share_cells(), title)
    click.echo(plain_text(table.finding))
    if quiet:
        return
    for line in table.legend(top):
        click.echo(line)
    if written is not None:
        click.echo(f"Written to {written}")
