"""``bayes-sota claim``: the probability that "A outperforms B" is false."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import claims
from bayes_sota.core.arguments import (
    ALPHA,
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
    refuse_unused,
)
from bayes_sota.core.command import (
    ESTIMATE_OPTIONS,
    InputFile,
    OutputFile,
    Reported,
    choice_option,
    chosen_seed,
    command,
    echo_problem,
    estimate_options,
    interval_option,
    model_option,
    number_option,
    packed_options,
    parse_tries,
    seed_option,
    show_progress,
    top_option,
    write_result,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import counted
from bayes_sota.data.command import group_options, parse_average
from bayes_sota.leaderboard.command_reading import (
    OF_RHO,
    field_options,
    known_rho,
    read_answers,
    read_file,
    refuse,
    split_names,
)
from bayes_sota.maximum.command import chosen_correlation

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report

_DRAWS = Range(100, 1_000_000, whole=True)
_SAMPLED_DRAWS = Range(100, 500_000, whole=True)


@click.group(epilog="Example: bayes-sota claim classification --accuracy 0.90 0.88 --n-test 500")
def claim() -> None:
    """Probability that "A outperforms B" is false: from reported numbers or per-item outcomes."""


@dataclass(frozen=True)
class _Output(Reported):
    """What a command shows and writes that may draw; checked before anything is computed."""

    output: Path | None
    seed: int | None


@dataclass(frozen=True)
class _OfNumbers(_Output):
    """The same of a claim from two reported numbers."""

    level: float
    by_size: bool

    def __post_init__(self) -> None:
        """Refuse a seed where no draws are written: the answer is exact; and what is not drawn."""
        if self.output is None:
            refuse_unused("an exact answer: it is for --output", {"--seed": self.seed})
        if self.by_size and self.figure is None and self.report is None:
            raise InputError("--by-size needs --figure or --report: it says what they draw")

    def deliver_claim(self, report: "Report") -> int:
        """Write the result of a claim from two reported numbers, and show it."""
        about = report.about
        drawn = self.by_size or bool(about.curve.size)
        if self.figure is not None and not drawn:
            raise InputError(
                "--figure shows the correlation, which --sd-difference has no use for; add "
                "--by-size for the number of cases"
            )
        write_result(self.output, partial(about.to_datatree, random_seed=chosen_seed(self.seed)))
        draw = partial(_draw_sizes if self.by_size else _draw_claim, report)
        return self.deliver(report, draw=draw if drawn else None)


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


def _draw_sizes(report: "Report") -> "PlotCollection":
    about, needed = report.about, report.content["n_test_needed"]
    return claims.plot_claim_sizes(
        about.size_frame(needed),
        needed=needed,
        n_test=about.claim.n_test,
        title=about.what,
        item="item" if about.claim.unknown == "congruence" else "case",
    )


_LEVEL = 0.05
_level = number_option(LEVEL, "--level", default=_LEVEL, help="Of an accepted false claim.")
_tries = number_option(TRIES, "--best-of", help="Tries of A of which this is the best.")
_any_accuracy = click.option(
    "--any-accuracy",
    is_flag=True,
    help="Accept accuracies that no whole number of items gives: averages of runs or classes.",
)
_bayes = click.option(
    "--bayes", is_flag=True, help="One Bayesian model of all, sampled with NUTS (PyMC)."
)
_OUTPUT = (
    *ESTIMATE_OPTIONS,
    seed_option,
    click.option(
        "--output", type=OutputFile("result"), help="Posterior draws as a DataTree: FILE.nc."
    ),
)
_output_options = partial(packed_options, kind=_Output, options=_OUTPUT)
_number_options = partial(
    packed_options,
    kind=_OfNumbers,
    options=(
        *_OUTPUT,
        _level,
        click.option(
            "--by-size", is_flag=True, help="The figure is about the number of test items."
        ),
    ),
)


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
@choice_option(
    "--rounding",
    choices=["auto", "nearest", "floor", "exact"],
    help="How the printed accuracies were cut; auto is nearest.",
)
@_any_accuracy
@_tries
@_number_options
def classification(
    accuracy: tuple[str, str],
    n_test: str,
    congruence: float | None,
    lowest: bool,
    highest: bool,
    independent: bool,
    odds_ratio: tuple[float, float] | None,
    shown: _OfNumbers,
    **options: Any,
) -> int:
    """From two accuracies on the same items.

    Without a congruence the answer is averaged over all that the accuracies allow.
    """
    prior = None if odds_ratio is None else claims.OddsRatioCongruence(*odds_ratio)
    flags = {"min": lowest, "max": highest, "independent": independent}
    chosen: list[Any] = [name for name, flag in flags.items() if flag]
    chosen += [value for value in (congruence, prior) if value is not None]
    if len(chosen) > 1:
        raise InputError("give one of --congruence, --min, --max, --independent and --odds-ratio")
    a, b, notes = _printed(accuracy)
    options |= {"level": shown.level, "notes": notes}
    sizes = parse_tries(n_test, "--n-test")
    return shown.deliver_claim(claims.report_accuracies(a, b, sizes, *chosen, **options))


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
@number_option(
    NUMBER, "--sd-coefficients", nargs=3, help="Or imputed: c0 c1 c2 of c0 + c1 mean + c2 mean^2."
)
@number_option(POSITIVE, "--sd-difference", help="Of the differences of cases.")
@number_option(COUNT, "--n-test", required=True, help="Number of cases.")
@number_option(
    PAIRWISE, "--pairwise-correlation", "correlation", help="Between the methods' cases."
)
@number_option(
    PAIRWISE,
    "--correlation-range",
    nargs=2,
    default=(0.0, 1.0),
    help="Averaged over, where the correlation is not given.",
)
@click.option("--unbounded", is_flag=True, help="Cases may lie outside [0, 1].")
@_tries
@_number_options
def segmentation(
    mean: tuple[float, float],
    sd: Any,
    sd_coefficients: tuple[float, float, float] | None,
    unbounded: bool,
    best_of: float | None,
    shown: _OfNumbers,
    **options: Any,
) -> int:
    """From two means of cases (Dice) and their standard deviations.

    Without a correlation the answer is averaged over 0 to 1. Standard deviations that were not
    reported are imputed as 2/3 mean (1 - mean), a rule of thumb for Dice.
    """
    known = [x for x in (sd, sd_coefficients, options["sd_difference"]) if x is not None]
    if len(known) > 1:
        raise InputError("give one of --sd, --sd-coefficients and --sd-difference")
    if unbounded and not known:
        raise InputError(
            "--unbounded needs --sd or --sd-difference: Dice alone has a rule of thumb"
        )
    of = sd if sd_coefficients is None else (sd_coefficients, sd_coefficients)
    bounds = None if unbounded else (0.0, 1.0)
    means = claims.ReportedMeans(*mean, sd=of, bounds=bounds, **options)
    return shown.deliver_claim(claims.report_means(means, best_of=best_of, level=shown.level))


_WAYS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "--bayes": ("sample_methods", (), ()),
    "--by task": ("report_tasks", ("pair",), ("by",)),
    "--pair": ("report_pairs", ("pair", "rope", "margin", "anytime"), ("require",)),
    "--pairs": ("report_pairs", ("rope",), ("pairs",)),
    "": ("report_methods", ("rope", "level"), ("no_selection",)),
}
"""What makes each report, its arguments of those asked, and what else has an effect on it."""
_ASKED = ("no_selection", "level", "pairs", "rope", "pair", "margin", "require", "anytime", "by")


@command(
    epilog="Example: bayes-sota claim responses answers.csv --cluster-column patient --rope 0.01"
)
@click.argument("files", nargs=-1, required=True, type=InputFile(folders=True))
@click.option("--item-column", help="Column of the items' names.")
@group_options
@click.option(
    "--run-separator",
    help='What stands between method and run in a column\'s name, such as "@" in resnet@1.',
)
@click.option(
    "--metric", help="pass@K or pass^K of several runs; or which metric or scorer of a log."
)
@click.option("--scorer", help="Which scorer of an inspect_ai log.")
@click.option(
    "--item-metric",
    type=click.Choice(["auc", "mean", "rmse"]),
    help="What numbers per item are made into: auc needs a label column. Default mean.",
)
@click.option("--label-column", help="Column of 0 and 1, for auc.")
@click.option(
    "--lower-is-better",
    is_flag=True,
    default=None,
    help="Numbers are errors or losses. Default: if a log's metric is called so.",
)
@number_option(NOT_NEGATIVE, "--rope", help="Half-width of practical equivalence.")
@top_option(15, "Methods shown.")
@number_option(
    _DRAWS,
    "--draws",
    help="Posterior draws, default 10000; with --bayes of each chain, default those of the model.",
)
@_bayes
@model_option
@click.option(
    "--no-selection", is_flag=True, help="Leave out the correction for picking the winner."
)
@click.option("--pair", nargs=2, help="Two methods named beforehand: their difference.")
@number_option(NOT_NEGATIVE, "--margin", help="How much worse the first of a pair may be.")
@click.option(
    "--require",
    type=click.Choice(["better", "not-worse"]),
    help="Verdict on a pair without which the exit code is 3.",
)
@click.option("--anytime", is_flag=True, help="A verdict that may be looked at after every item.")
@click.option("--pairs", is_flag=True, help="The differences of all pairs, adjusted for that.")
@click.option(
    "--task-columns",
    metavar="A,B,...",
    help="Columns of data sets, of a table with a row per method: they are the sample.",
)
@click.option(
    "--by", type=click.Choice(["task"]), help="The same in every task, drawn towards all of them."
)
@interval_option
@_level
@_output_options
def responses(
    files: tuple[Path, ...],
    top: int,
    bayes: bool,
    model: str | None,
    draws: int | None,
    ci_prob: float,
    shown: _Output,
    **options: Any,
) -> int:
    """From per-item outcomes of two or more methods.

    FILES are a table with a row per item and a column per method (right and wrong, numbers such as
    Dice, or predicted classes beside a column ground_truth), or evaluation logs and folders of
    logs: samples of Every Eval Ever and lm-evaluation-harness, logs of inspect_ai, per-instance
    statistics of HELM. They are joined on the item.
    """
    asked = {name: options.pop(name) for name in _ASKED}
    if asked["level"] == _LEVEL:
        asked["level"] = None
    pair, require = asked["pair"], asked["require"]
    ways = {"--bayes": bayes, "--by task": asked["by"], "--pair": pair, "--pairs": asked["pairs"]}
    way = next((name for name, chosen in ways.items() if chosen), "")
    settings = _settings(way, asked, options) | {"draws": draws, "ci_prob": ci_prob}
    settings["random_seed"] = chosen_seed(shown.seed)
    if bayes:
        settings |= {"model": model, "progressbar": show_progress(shown.quiet, shown.as_json)}
    else:
        refuse_unused("the exact route: it is for --bayes", {"--model": model})
        settings["draws"] = draws or 10_000
    read = _read_outcomes(files, **options)
    if bayes:
        _check_single_runs(read.pop("methods", None))
    report = getattr(claims, _WAYS[way][0])(**read, **settings)
    write_result(shown.output, lambda: report.about if bayes else report.about.to_datatree())
    draw = None if bayes else partial(_draw_methods, report, way, pair, ci_prob)
    code = shown.deliver(report, top, draw)
    if require is None or report.content["verdict"] in ("better", require):
        return code
    verdict = report.content["verdict"]
    click.echo(f"not met: {require} is required, and the verdict is {verdict}", err=True)
    return 3


def _settings(way: str, asked: dict[str, Any], reading: dict[str, Any]) -> dict[str, Any]:
    """What was asked of a report, as its arguments; what has no effect on it is refused."""
    _, arguments, others = _WAYS[way]
    unused = [name for name in asked if name not in (*arguments, *others)]
    of_pairs = () if way == "--bayes" else ("margin", "anytime", "require")
    refuse(way, asked, [name for name in unused if name not in of_pairs])
    if way == "--by task":
        refuse(way, reading, ["average"])
    if way == "--pair" and asked["require"] == "not-worse" and not asked["margin"]:
        raise InputError("--require not-worse needs --margin: how much worse is not worse")
    for name in of_pairs:
        if name in unused and asked[name]:
            raise InputError(f"--{name} is for two methods: name them with --pair A B")
    chosen = {name: asked[name] for name in arguments}
    settings = {name: x for name, x in chosen.items() if x is not None and x is not False}
    return settings | ({"selection": False} if asked["no_selection"] else {})


def _check_single_runs(methods: Sequence[str] | None) -> None:
    if methods is not None and len(set(methods)) < len(methods):
        raise InputError("--bayes takes one run of each method: leave out --run-separator")


def _draw_methods(
    report: "Report", way: str, pair: tuple[str, str] | None, ci_prob: float
) -> "PlotCollection":
    if way == "--pairs":
        return claims.plot_pairs(report.frame, points=report.about.comparison.bounds == (0.0, 1.0))
    if way != "--by task":
        return claims.plot_methods(report.about.to_datatree(), ci_prob=ci_prob)
    of = f"{pair[0]} minus {pair[1]}" if pair else "the best minus the best other"
    return claims.plot_tasks(
        report.frame,
        title=report.sentences[0],
        xlabel=f"{of}: mean and {ci_prob:.0%} interval",
    )


def _read_outcomes(
    files: tuple[Path, ...],
    *,
    item_metric: Any,
    label_column: str | None,
    lower_is_better: bool | None,
    task_columns: str | None,
    **reading: Any,
) -> dict[str, Any]:
    """Outcomes and methods, where they come from, and notes."""
    if label_column is not None and item_metric != "auc":
        raise InputError(
            "--label-column is for numbers with --item-metric auc; a column of true classes is "
            "found by its name: ground_truth, label, truth, ..."
        )
    if task_columns is not None:
        from bayes_sota.data.readers.task_scores import read_task_scores

        refuse("--task-columns", reading, tuple(reading))
        if len(files) > 1 or item_metric not in (None, "mean"):
            raise InputError("--task-columns is for one table of scores, or of numbers (mean)")
        sets = read_task_scores(  # which are the sample
            files[0],
            task_columns=split_names(task_columns) or [],
            metric=None if item_metric is None else "score",
            lower_is_better=bool(lower_is_better),
        )
        source = "1 table of data sets"
        return {"outcomes": sets.new_tasks(), "source": source, "notes": sets.notes}
    if item_metric is None:
        from bayes_sota.claims.summary_methods import runs_hint

        answers = read_answers(*files, lower_is_better=lower_is_better, **reading)
        return {
            "outcomes": answers.outcomes,
            "methods": answers.methods,
            "source": answers.source,
            "notes": [*answers.notes, *runs_hint(answers.methods)],
        }
    from bayes_sota.data.readers.outcomes import read_item_scores

    new, average = reading.pop("new"), parse_average(reading.pop("average"))
    others = ("metric", "scorer", "run_separator", "run_column", "leave_out")
    if len(files) > 1 or any(reading.pop(k) for k in others):
        raise InputError(
            "--item-metric and --label-column are for one table of numbers, without runs"
        )
    scores = read_item_scores(
        files[0],
        metric=item_metric,
        label_column=label_column,
        lower_is_better=lower_is_better,
        average=average,
        **reading,
    ).about(new or "items")
    return {"outcomes": scores, "source": f"1 table, metric {scores.metric}"}


@command(epilog="Example: bayes-sota claim plan --gap 0.02 --winner 0.90 --level 0.05")
@number_option(POSITIVE, "--gap", help="Difference of A and B.")
@number_option(SHARE, "--winner", help="With --gap: accuracy of A.")
@number_option(SHARE, "--accuracy", nargs=2, help="Or both: of A and of B.")
@number_option(NOT_NEGATIVE, "--sd", nargs=2, help="With --gap: of cases, for means.")
@number_option(SHARE, "--congruence", help="Share of items both get right.")
@number_option(POSITIVE, "--odds-ratio", help="Congruence as an odds ratio; 1 is independence.")
@number_option(PAIRWISE, "--pairwise-correlation", help="Between the methods' cases.")
@number_option(ASSURANCE, "--power", help="At this true gap; default 0.8.")
@click.option(
    "--pilot",
    type=InputFile(folders=True),
    help="With --gap: answers or numbers at hand, which tell variances, clusters, tasks and runs.",
)
@click.option("--pair", nargs=2, help="With --pilot: the two methods; default the best two.")
@click.option("--metric", help="With --pilot: which metric of a log.")
@number_option(NOT_NEGATIVE, "--cost-per-item", help="With --pilot: of one more item.")
@number_option(
    NOT_NEGATIVE, "--cost-per-run", help="With --pilot: of one run of both methods on an item."
)
@number_option(COUNT, "--n-test", help="Items observed so far, for assurance.")
@number_option(ASSURANCE, "--assurance", help="With --n-test; default 0.8.")
@_level
@estimate_options
def plan(
    pilot: Path | None,
    gap: float | None,
    power: float | None,
    level: float,
    shown: Reported,
    **options: Any,
) -> int:
    """Test items that a claim of this gap needs, of accuracies or (with --sd) of means.

    With --pilot: items and runs that it needs, from answers or numbers of two methods at hand.
    """
    used, unused = (_OF_GAPS, _OF_PILOTS) if pilot is None else (_OF_PILOTS, _OF_GAPS)
    refuse("a plan without --pilot" if pilot is None else "--pilot", options, unused)
    asked = {name: options[name] for name in used} | {"level": level, "power": power or 0.8}
    if pilot is not None:
        from bayes_sota.data.readers.outcomes import read_evaluations

        if gap is None:
            raise InputError("--pilot needs --gap, the true difference that is to be found")
        answers = read_evaluations(pilot, metric=asked.pop("metric"))
        asked |= {"source": answers.source, "notes": answers.notes}
        report = claims.plan_from_pilot(answers.outcomes, gap, **asked)
        return shown.deliver(report, draw=partial(_pilot_figure, report))
    sizes = {name: asked.pop(name) for name in ("level", "power", "n_test", "assurance")}
    if sizes["assurance"] is not None and sizes["n_test"] is None:
        raise InputError("--assurance needs --n-test, the items observed so far")
    if asked["sd"] is not None and asked["pairwise_correlation"] is None:
        refuse_unused("means without --pairwise-correlation", {"--power": power})
    sizes["assurance"] = sizes["assurance"] or 0.8
    planned = claims.plan_claim(_gap(gap, **asked), **sizes)
    draw = None if asked["sd"] is not None else partial(_plan_figure, planned)
    return shown.deliver(claims.describe_plan(planned), draw=draw)


_OF_PILOTS = ("pair", "metric", "cost_per_item", "cost_per_run")
_OF_GAPS = (
    "winner",
    "accuracy",
    "sd",
    "congruence",
    "odds_ratio",
    "pairwise_correlation",
    "n_test",
    "assurance",
)


def _plan_figure(plan: Any) -> "PlotCollection":
    import pandas as pd

    return claims.plot_required_size(
        pd.DataFrame(plan.required(), columns=["gap", "assumption", "n_needed"]),
        level=plan.level,
        n_test=plan.n_test,
        gap=plan.gap.describe()["gap"],
        n_needed=plan.n_needed if plan.n_test is None else None,
        title=plan.title,
    )


def _pilot_figure(report: "Report") -> "PlotCollection":
    """Items by the gap, a line for each of three numbers of runs; the dot is the plan of one."""
    import pandas as pd

    content, runs = report.content, [one["n_runs"] for one in report.content["designs"]]
    gap, sure = content["gap"], {name: content[name] for name in ("level", "power")}
    lines = [
        (at * gap, counted(n, "run"), report.about.needed(at * gap, n, **sure))
        for n in sorted({runs[0], content["n_runs"], runs[-1]})
        for at in (2 ** (k / 10) for k in range(-10, 11))
    ]
    return claims.plot_required_size(
        pd.DataFrame(lines, columns=["gap", "assumption", "n_needed"]),
        level=content["level"],
        gap=gap,
        n_needed=content["designs"][0]["n_items"],
        title=f"Power {content['power']:g}, from the variances of {' and '.join(content['pair'])}",
    )


def _gap(
    gap: float | None, accuracy: tuple[float, float] | None, winner: float | None, **options: Any
) -> Any:
    names = ("sd", "pairwise_correlation", "congruence", "odds_ratio")
    sd, pairwise_correlation, congruence, odds_ratio = (options[name] for name in names)
    if sd is not None:
        if gap is None or (winner, accuracy, congruence, odds_ratio) != (None,) * 4:
            raise InputError("means are planned by --gap and --sd, and --pairwise-correlation")
        return claims.GapOfMeans(gap, 0.0, sd, pairwise_correlation)
    if pairwise_correlation is not None:
        raise InputError("--pairwise-correlation is for means; accuracies have --congruence")
    if accuracy is None and gap is not None and winner is not None:
        if gap > winner:
            raise InputError(f"--gap must be above 0 and at most --winner, got {gap:g}")
        accuracy = winner, winner - gap
    elif accuracy is None or (gap, winner) != (None, None):
        raise InputError("give --accuracy A B, or --gap and --winner, or --gap and --sd for means")
    if congruence is not None and odds_ratio is not None:
        raise InputError("give one of --congruence and --odds-ratio")
    if odds_ratio is not None:
        return claims.GapOfAccuracies(*accuracy, claims.OddsRatioCongruence(odds_ratio, 0.0))
    return claims.GapOfAccuracies(*accuracy, congruence)


@command(epilog="Example: bayes-sota claim selection leaderboard.csv --n-test 500")
@click.argument("file", type=InputFile())
@field_options
@seed_option
@estimate_options
def selection(file: Path, seed: int | None, shown: Reported, **options: Any) -> int:
    """The claim "best of all entries", with and without the luck of having been picked.

    FILE is a leaderboard, or a response matrix, as for bayes-sota board.
    """
    from bayes_sota.leaderboard.specification import chosen_model

    known = ("correlation", "pairwise_correlation", "class_correlation")
    rho = chosen_correlation(*(options.pop(name) for name in known))
    of_rho = {name: options.pop(name) for name in OF_RHO}
    used_seed = chosen_seed(seed)
    entries = read_file(file, **options)
    rho = known_rho(rho, entries)
    if rho is not None:
        of_rho = {"model": chosen_model(builder="leaderboard", correlation=rho, **of_rho)}
    picked = claims.claim_of_best_entry(entries, random_seed=used_seed, **of_rho)

    def draw() -> "PlotCollection":
        from bayes_sota.leaderboard.plots import plot_entries
        from bayes_sota.leaderboard.summary_entries import board_table

        return plot_entries(board_table(entries, random_seed=used_seed, **of_rho))

    return shown.deliver(claims.describe_selection(picked, used_seed), draw=draw)


@command(epilog="Example: bayes-sota claim batch review.csv --table review-checked.csv")
@click.argument("file", type=InputFile())
@number_option(LEVEL, "--level", default=0.05, help="Of a doubtful claim.")
@click.option("--group-by", help="Column of the groups; default group.")
@number_option(
    NUMBER,
    "--sd",
    nargs=3,
    help="Coefficients c0 c1 c2 of c0 + c1 mean + c2 mean^2, for means without sd_a and sd_b.",
)
@_any_accuracy
@click.option("--skip-problems", is_flag=True, help="Leave out rows that cannot be used.")
@top_option(20, "Claims shown.")
@number_option(_SAMPLED_DRAWS, "--draws", help="Draws of each chain (with --bayes); default 1000.")
@model_option
@_bayes
@_output_options
def batch(
    file: Path, any_accuracy: bool, top: int, shown: _Output, bayes: bool, **options: Any
) -> int:
    """Probability that each claim of a review is false, and the share of doubtful claims.

    FILE has one claim per row: n_test, and accuracy_a and accuracy_b (the winner's first) or
    mean_a, mean_b, sd_a and sd_b; optionally congruence, pairwise_correlation, sd_difference,
    metric, name and group. All columns come back with p_false, its lowest and highest value over
    all that is possible, and a verdict. Rows that cannot be used are an error; --skip-problems
    leaves them out, with the reason beside them. With --bayes the claims share what is known of
    their congruence, of accuracies only.
    """
    options["check_counts"] = not any_accuracy
    sampled = {name: options.pop(name) for name in ("model", "draws")}
    if bayes:
        refuse_unused("--bayes", {"--sd": options.pop("sd")})
        sampled["progressbar"] = show_progress(shown.quiet, shown.as_json)
        seed = chosen_seed(shown.seed)
        review = claims.sample_review(file, **options, **sampled, random_seed=seed)
        write_result(shown.output, lambda: review.about)
    else:
        unused = {f"--{name}": value for name, value in sampled.items()}
        unused |= {"--seed": shown.seed, "--output": shown.output}
        refuse_unused("closed forms: it is for --bayes", unused)
        review = claims.claims_table(file, **options)
    shown.show(review, top, partial(_draw_claims, review))
    for reason in review.reasons:
        echo_problem("warning", reason if bayes else f"left out: {reason}")
    return 1 if review.reasons else 0


def _draw_claims(report: "Report") -> "PlotCollection":
    rows, level = report.content["claims"], report.content["level"]
    columns = {key: [row[key] for row in rows] for key in ("name", "group")}
    return claims.plot_claims(report.frame.assign(**columns), level=level)


for _command in (classification, segmentation, responses, selection, plan, batch):
    claim.add_command(_command)
