"""``bayes-sota claim``: the probability that "A outperforms B" is false."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from bayes_sota import claims, data
from bayes_sota.cli.options import (
    ESTIMATE_OPTIONS,
    InputFile,
    OutputFile,
    Reported,
    choice_option,
    chosen_seed,
    command,
    estimate_options,
    interval_option,
    note_unused,
    number_option,
    packed_options,
    reading_options,
    seed_option,
    top_option,
    typed_of_reading,
    width_option,
    write_result,
)
from bayes_sota.cli.reading import group_options, metric_option
from bayes_sota.core.arguments import (
    ASSURANCE,
    COUNT,
    LEVEL,
    NOT_NEGATIVE,
    NUMBER,
    PAIRWISE,
    POSITIVE,
    SHARE,
    TRIES,
    Range,
)
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report

_DRAWS = Range(100, 1_000_000, whole=True)


@click.group(epilog="Example: bayes-sota claim classification --accuracy 0.90 0.88 --n-test 500")
def claim() -> None:
    """Probability that "A outperforms B" is false: from reported numbers or per-item outcomes."""


@dataclass(frozen=True)
class _Output(Reported):
    """What a command shows and writes that may draw; checked before anything is computed."""

    output: Path | None
    seed: int | None


def _deliver_claim(shown: _Output, report: "Report") -> int:
    """Write the result of a claim from two reported numbers, and show it."""
    if shown.output is None:
        _note_unused("an exact answer without --output", "seed")
    about = report.about
    draw = partial(_draw_claim, report) if about.curve.size else None
    if draw is None and shown.figure is not None:
        raise InputError("--figure shows the correlation, which --sd-difference has no use for")
    write_result(shown.output, partial(about.to_datatree, random_seed=chosen_seed(shown.seed)))
    return shown.deliver(report, draw=draw)


def _draw_claim(report: "Report") -> "PlotCollection":
    content, unknown = report.content, report.about.claim.unknown
    return claims.plot_claim_sensitivity(
        report.frame,
        p_false=content["p_false"],
        assumed=content[unknown].get("value"),
        level=content["level"],
        needed=content[f"{unknown}_needed"],
        unknown=unknown,
        title=report.about.what,
    )


_level = number_option(LEVEL, "--level", default=0.05, help="Of an accepted false claim.")
_tries = number_option(TRIES, "--best-of", help="Tries of A of which this is the best.")
_any_accuracy = click.option(
    "--any-accuracy",
    is_flag=True,
    help="Accept accuracies that no whole number of items gives: averages of runs or classes.",
)
_output_options = partial(
    packed_options,
    kind=_Output,
    options=(
        *ESTIMATE_OPTIONS,
        seed_option,
        click.option(
            "--output", type=OutputFile("result"), help="Posterior draws as a DataTree: FILE.nc."
        ),
    ),
)


@command(epilog="Example: bayes-sota claim classification --accuracy 0.90 0.88 --n-test 500")
@click.option("--accuracy", nargs=2, required=True, help="Of A (the winner) and of B, as printed.")
@number_option(COUNT, "--n-test", required=True, help="Number of test items.")
@number_option(SHARE, "--congruence", help="Share of items both got right.")
@width_option("--rope", help="Half-width of practical equivalence.")
@choice_option(
    "--rounding",
    choices=["auto", "nearest", "floor", "exact"],
    help="How the printed accuracies were cut; auto is nearest.",
)
@_any_accuracy
@_tries
@_level
@_output_options
def classification(accuracy: tuple[str, str], n_test: int, shown: _Output, **options: Any) -> int:
    """From two accuracies on the same items.

    Without a congruence the answer is averaged over all that the accuracies allow.
    """
    a, b, notes = _printed(accuracy)
    return _deliver_claim(shown, claims.report_accuracies(a, b, n_test, notes=notes, **options))


def _printed(typed: tuple[str, str]) -> tuple[str, str, tuple[str, ...]]:
    """Accuracies with their digits, and a note where they are read as percent."""
    from bayes_sota.data.printed_scores import LEAST_PERCENT, has_percent_sign, parse_number

    numbers = [parse_number(text.strip().removesuffix("%")) for text in typed]
    if None in numbers:
        wrong = typed[numbers.index(None)]
        raise InputError(f"--accuracy takes two numbers, in [0, 1] or in percent, got {wrong!r}")
    a, b = (number for number in numbers if number is not None)
    signed = [has_percent_sign(text) for text in typed]
    above = min(a, b) >= LEAST_PERCENT and max(a, b) <= 100 and not any(signed)
    first, second = (
        str(number / 100) if above or sign else text.strip()
        for number, sign, text in zip((a, b), signed, typed, strict=True)
    )
    note = f"{typed[0]} and {typed[1]} are read as percent: {first} and {second}"
    return first, second, (note,) if above else ()


@command(epilog="Example: bayes-sota claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100")
@number_option(NUMBER, "--mean", nargs=2, required=True, help="Of A (the winner) and of B.")
@number_option(NOT_NEGATIVE, "--sd", nargs=2, help="Standard deviations of cases.")
@number_option(POSITIVE, "--sd-difference", help="Of the differences of cases.")
@number_option(COUNT, "--n-test", required=True, help="Number of cases.")
@number_option(
    PAIRWISE, "--pairwise-correlation", "correlation", help="Between the methods' cases."
)
@_tries
@_level
@_output_options
def segmentation(
    mean: tuple[float, float], best_of: float | None, level: float, shown: _Output, **options: Any
) -> int:
    """From two means of cases (Dice) and their standard deviations.

    Without a correlation the answer is averaged over 0 to 1. Standard deviations that were not
    reported are imputed as 2/3 mean (1 - mean), a rule of thumb for Dice.
    """
    if options["sd"] is not None and options["sd_difference"] is not None:
        raise InputError("give one of --sd and --sd-difference")
    means = claims.ReportedMeans(*mean, **options)
    return _deliver_claim(shown, claims.report_means(means, best_of=best_of, level=level))


@command(epilog="Example: bayes-sota claim responses answers.csv --pair A B --margin 0.01")
@click.argument("files", nargs=-1, required=True, type=InputFile(folders=True))
@reading_options
@group_options
@metric_option
@top_option(15, "Methods shown.")
@number_option(_DRAWS, "--draws", default=10_000, help="Posterior draws.")
@click.option("--pair", nargs=2, help="Two methods named beforehand: their difference.")
@width_option("--margin", help="How much worse the first of a pair may be.")
@click.option(
    "--require",
    type=click.Choice(["better", "not-worse"]),
    help="Verdict on a pair without which the exit code is 3.",
)
@click.option("--pairs", is_flag=True, help="The differences of all pairs, adjusted for that.")
@click.option(
    "--by", type=click.Choice(["task"]), help="The same in every task, drawn towards all of them."
)
@interval_option
@_output_options
def responses(
    files: tuple[Path, ...],
    top: int,
    draws: int,
    ci_prob: float,
    shown: _Output,
    pair: tuple[str, str] | None,
    margin: float | None,
    require: str | None,
    pairs: bool,
    by: str | None,
    reading: dict[str, Any],
    **options: Any,
) -> int:
    """From per-item outcomes of two or more methods.

    FILES are a table with a row per item and a column per method (right and wrong, numbers such as
    Dice, or predicted classes beside a column ground_truth), or with a row per method and item; or
    evaluation logs and folders of logs: samples of Every Eval Ever and lm-evaluation-harness, logs
    of inspect_ai. Files are joined on the item. Of scores of methods on data sets, these are the
    items.
    """
    if pairs and (pair or by):
        raise InputError("--pairs compares all methods on all items: leave out --pair and --by")
    if pair is None and (margin or require):
        raise InputError("--margin and --require are for two methods: name them with --pair A B")
    if require == "not-worse" and not margin:
        raise InputError("--require not-worse needs --margin: how much worse is not worse")
    if by and require:
        raise InputError("--require is for a pair on all items: leave out --by task")
    outcomes = data.read_outcomes(*files, **options, **reading)
    settings: dict[str, Any] = {"outcomes": outcomes, "source": outcomes.name}
    settings |= {"notes": outcomes.notes, "draws": draws, "ci_prob": ci_prob}
    settings["random_seed"] = chosen_seed(shown.seed)
    if by:
        report = claims.report_tasks(pair=pair, **settings)
    elif pairs or pair:
        report = claims.report_pairs(pair=pair, margin=margin or 0.0, **settings)
    else:
        report = claims.report_methods(**settings)
    write_result(shown.output, report.about.to_datatree)

    def draw() -> "PlotCollection":
        if pairs:
            return claims.plot_pairs(report.frame, points=report.about.comparison.are_shares)
        return claims.plot_methods(report.about.to_datatree(), ci_prob=ci_prob)

    code = shown.deliver(report, top, None if by else draw)
    if require is None or report.content["verdict"] in ("better", require):
        return code
    verdict = report.content["verdict"]
    click.echo(f"not met: {require} is required, and the verdict is {verdict}", err=True)
    return 3


@command(epilog="Example: bayes-sota claim plan --accuracy 0.90 0.88 --level 0.05")
@number_option(SHARE, "--accuracy", nargs=2, help="Of A and of B.")
@width_option("--gap", help="With --sd or --pilot: difference of A and B.")
@number_option(NOT_NEGATIVE, "--sd", nargs=2, help="With --gap: of cases, for means.")
@number_option(SHARE, "--congruence", help="Share of items both get right.")
@number_option(PAIRWISE, "--pairwise-correlation", help="Between the methods' cases.")
@number_option(ASSURANCE, "--power", default=0.8, help="At this true gap.")
@click.option(
    "--pilot",
    type=InputFile(folders=True),
    help="With --gap: answers or numbers at hand, which tell variances, clusters, tasks and runs.",
)
@click.option("--pair", nargs=2, help="With --pilot: the two methods; default the best two.")
@click.option("--metric", help="With --pilot: which of several metrics.")
@reading_options
@number_option(NOT_NEGATIVE, "--cost-per-item", help="With --pilot: of one more item.")
@number_option(
    NOT_NEGATIVE, "--cost-per-run", help="With --pilot: of one run of both methods on an item."
)
@number_option(COUNT, "--n-test", help="Items observed so far, for assurance.")
@number_option(ASSURANCE, "--assurance", default=0.8, help="With --n-test.")
@_level
@estimate_options
def plan(
    pilot: Path | None,
    accuracy: tuple[float, float] | None,
    gap: float | None,
    sd: tuple[float, float] | None,
    congruence: float | None,
    pairwise_correlation: float | None,
    n_test: int | None,
    assurance: float,
    shown: Reported,
    reading: dict[str, Any],
    **options: Any,
) -> int:
    """Test items that a claim of this gap needs, of accuracies or (with --sd) of means.

    With --pilot: items and runs that it needs, from answers or numbers of two methods at hand.
    """
    metric = options.pop("metric")
    costs = {name: options.pop(name) for name in ("pair", "cost_per_item", "cost_per_run")}
    match (accuracy, gap, sd, pilot):
        case (None, float(), None, Path()):
            answers = data.read_outcomes(pilot, metric=metric, **reading)
            known = costs | {"source": answers.name, "notes": answers.notes}
            _note_unused("a plan from a pilot", *_OF_NUMBERS, "congruence", "pairwise_correlation")
            report = claims.plan_from_pilot(answers, gap, **known, **options)
            return shown.deliver(report)
        case (None, float(), (float(), float()), None):
            of: Any = claims.GapOfMeans(gap, 0.0, sd, pairwise_correlation)
            _note_unused("a plan of means", *_OF_PILOTS, "congruence")
        case ((a, b), None, None, None):
            of = claims.GapOfAccuracies(a, b, congruence)
            _note_unused("a plan of accuracies", *_OF_PILOTS, "pairwise_correlation")
        case _:
            raise InputError(
                "give --accuracy A B, or --gap and --sd for means, or --gap and --pilot FILE"
            )
    note_unused("a plan without a pilot", typed_of_reading(reading))
    if n_test is None:
        _note_unused("a plan without --n-test", "assurance")
    planned = claims.plan_claim(of, n_test=n_test, assurance=assurance, **options)
    return shown.deliver(claims.describe_plan(planned))


_OF_NUMBERS = ("n_test", "assurance")
_OF_PILOTS = ("metric", "pair", "cost_per_item", "cost_per_run")


def _note_unused(what: str, *names: str) -> None:
    """Say which of these options were typed, though they change nothing."""
    context = click.get_current_context()
    typed = [n for n in names if context.get_parameter_source(n) is ParameterSource.COMMANDLINE]
    note_unused(what, ["--" + name.replace("_", "-") for name in typed])


@command(epilog="Example: bayes-sota claim batch review.csv --table review-checked.csv")
@click.argument("file", type=InputFile())
@number_option(LEVEL, "--level", default=0.05, help="Of a doubtful claim.")
@_any_accuracy
@top_option(20, "Claims shown.")
@reading_options
@estimate_options
def batch(
    file: Path, level: float, any_accuracy: bool, top: int, reading: Any, shown: Reported
) -> int:
    """Probability that each claim of a review is false, and the share of doubtful claims.

    FILE has one claim per row: n_test, and accuracy_a and accuracy_b (the winner's first) or
    mean_a, mean_b, sd_a and sd_b; optionally congruence, pairwise_correlation, sd_difference,
    metric, name and group. All columns come back with p_false, its lowest and highest value over
    all that is possible, and a verdict. Rows that cannot be used are an error. Standard deviations
    that were not reported are imputed as 2/3 mean (1 - mean), a rule of thumb for Dice.
    --column n=NAME, entry=NAME and group=NAME name columns that are called otherwise.
    """
    roles = {"n": "n_test", "entry": "name", "group": "group"}
    columns = {name: reading.pop(role) for role, name in roles.items() if role in reading}
    note_unused("a review of claims", typed_of_reading(reading))
    review = claims.claims_table(file, level=level, check_counts=not any_accuracy, **columns)
    return shown.deliver(review, top, partial(_draw_claims, review))


def _draw_claims(report: "Report") -> "PlotCollection":
    rows, level = report.content["claims"], report.content["level"]
    columns = {key: [row[key] for row in rows] for key in ("name", "group")}
    return claims.plot_claims(report.frame.assign(**columns), level=level)


for _command in (classification, segmentation, responses, plan, batch):
    claim.add_command(_command)
