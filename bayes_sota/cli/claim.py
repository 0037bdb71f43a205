"""``bayes-sota claim``: the probability that "A outperforms B" is false."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import claims, data
from bayes_sota.cli.options import READING, InputFile, command, note_unused, option, saves, unread
from bayes_sota.cli.output import Answer
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
)
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report

_level = option("--level", limits=LEVEL, default=0.05, help="Of an accepted false claim.")
_tries = option("--best-of", limits=TRIES, rare=True, help="Tries of A of which this is the best.")
_any_accuracy = option(
    "--any-accuracy", is_flag=True, rare=True, help="Accept averages of runs or classes."
)
_OF_SHARES = "Of shares 1pt, 1% or 0.01."


def _answer(report: "Report", seed: int) -> Answer:
    """A claim from two reported numbers; its draws are for a file alone."""
    if not saves(".nc"):
        note_unused("an exact answer without --save FILE.nc", "seed")
    about = report.about
    draw = partial(_draw_claim, report) if about.curve.size else None
    return Answer(report, draw, partial(about.to_datatree, random_seed=seed))


def _draw_claim(report: "Report") -> "PlotCollection":
    content, unknown = report.content, report.about.claim.unknown
    return claims.plot_claim_sensitivity(
        report.frame,
        unknown=unknown,
        assumed=content[unknown].get("value"),
        needed=content[f"{unknown}_needed"],
        title=report.about.what,
        **{name: content[name] for name in ("p_false", "level")},
    )


@command(
    uses="rounding seed",
    tree=True,
    example="claim classification --accuracy 0.90 0.88 --n-test 500",
)
@option("--accuracy", nargs=2, required=True, help="Of A (the winner) and of B, as printed.")
@option("--n-test", limits=COUNT, required=True, help="Number of test items.")
@option("--congruence", limits=SHARE, help="Share of items both got right.")
@option("--rope", limits=NOT_NEGATIVE, help=f"Practical equivalence, half. {_OF_SHARES}")
@_any_accuracy
@_tries
@_level
def classification(accuracy: tuple[str, str], n_test: int, seed: int, **options: Any) -> Answer:
    """From two accuracies on the same items.

    Without a congruence the answer is averaged over all that the accuracies allow.
    """
    a, b, notes = _printed(accuracy)
    return _answer(claims.report_accuracies(a, b, n_test, notes=notes, **options), seed)


def _printed(typed: tuple[str, str]) -> tuple[str, str, tuple[str, ...]]:
    """Accuracies with their digits, and a note where they are read as percent."""
    from bayes_sota.data.printed_scores import LEAST_PERCENT, has_percent_sign, parse_number

    shares = list[Any]()
    for text in typed:
        number = parse_number(text.strip().removesuffix("%"))
        if number is None:
            raise InputError(f"--accuracy takes numbers in [0, 1] or in percent, got {text!r}")
        shares.append(number)
    signed = [has_percent_sign(text) for text in typed]
    bare = min(shares) >= LEAST_PERCENT and max(shares) <= 100 and not any(signed)
    a, b = (
        str(number / 100) if bare or sign else text.strip()
        for number, sign, text in zip(shares, signed, typed, strict=True)
    )
    note = f"{typed[0]} and {typed[1]} are read as percent: {a} and {b}"
    return a, b, (note,) * bare


@command(
    uses="seed",
    tree=True,
    example="claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
)
@option("--mean", limits=NUMBER, nargs=2, required=True, help="Of A (the winner) and of B.")
@option("--sd", limits=NOT_NEGATIVE, nargs=2, help="Standard deviations of cases.")
@option("--sd-difference", limits=POSITIVE, help="Of the differences of cases.")
@option("--n-test", limits=COUNT, required=True, help="Number of cases.")
@option("--pairwise-correlation", "correlation", limits=PAIRWISE, help="Between their cases.")
@_tries
@_level
def segmentation(
    mean: tuple[float, float], best_of: float | None, level: float, seed: int, **options: Any
) -> Answer:
    """From two means of cases (Dice) and their standard deviations.

    Without a correlation the answer is averaged over 0 to 1. Standard deviations that were not
    reported are imputed as 2/3 mean (1 - mean), a rule of thumb for Dice.
    """
    if options["sd"] is not None and options["sd_difference"] is not None:
        raise InputError("give one of --sd and --sd-difference")
    means = claims.ReportedMeans(*mean, **options)
    return _answer(claims.report_means(means, best_of=best_of, level=level), seed)


@command(
    uses="reading average new metric prob seed top",
    tree=True,
    example="claim responses answers.csv --pair A B --margin 0.01",
)
@click.argument("files", nargs=-1, required=True, type=InputFile())
@option("--pair", nargs=2, metavar="A B", help="Two methods named beforehand.")
@option("--margin", limits=NOT_NEGATIVE, help=f"How much worse A may be. {_OF_SHARES}")
@option("--require", choices=["better", "not-worse"], help="Of a pair; else the exit code is 3.")
@option("--pairs", is_flag=True, help="The differences of all pairs, adjusted for that.")
@option("--by", choices=["task"], help="The same in every task, drawn towards all of them.")
def responses(
    files: tuple[Path, ...],
    pair: tuple[str, str] | None,
    margin: float | None,
    require: str | None,
    pairs: bool,
    by: str | None,
    prob: float,
    seed: int,
    reading: dict[str, Any],
    **asked: Any,
) -> Answer:
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
    outcomes = data.read_outcomes(*files, **asked, **reading)
    settings: dict[str, Any] = {"outcomes": outcomes, "source": outcomes.name, "ci_prob": prob}
    settings |= {"notes": outcomes.notes, "random_seed": seed}
    if by:
        note_unused("--by task", "margin")
        report = claims.report_tasks(pair=pair, **settings)
        return Answer(report, tree=report.about.to_datatree)
    if not (pairs or pair):
        report = claims.report_methods(**settings)
        return Answer(report, partial(_draw_methods, report, prob), report.about.to_datatree)
    report = claims.report_pairs(pair=pair, margin=margin or 0.0, **settings)
    draw = partial(_draw_methods, report, prob)
    if pairs:
        points = report.about.comparison.are_shares
        draw = partial(claims.plot_pairs, report.frame, points=points)
    verdict = report.content.get("verdict")
    met = require is None or verdict in ("better", require)
    not_met = "" if met else f"{require} is required, and the verdict is {verdict}"
    return Answer(report, draw, report.about.to_datatree, not_met)


def _draw_methods(report: "Report", prob: float) -> "PlotCollection":
    return claims.plot_methods(report.about.to_datatree(), ci_prob=prob)


_OF_PILOTS = (
    "metric", "pair", "cost_per_item", "cost_per_run", *READING,
)  # fmt: skip


@command(uses="metric reading", draws=False, example="claim plan --accuracy 0.90 0.88")
@option("--accuracy", limits=SHARE, nargs=2, help="Of A and of B.")
@option("--gap", limits=NOT_NEGATIVE, help=f"Of A and B, with --sd or --pilot. {_OF_SHARES}")
@option("--sd", limits=NOT_NEGATIVE, nargs=2, help="With --gap: of cases, for means.")
@option("--congruence", limits=SHARE, help="Share of items both get right.")
@option("--pairwise-correlation", limits=PAIRWISE, help="Between the methods' cases.")
@option("--power", limits=ASSURANCE, default=0.8, help="At this true gap, also when assured.")
@option("--pilot", type=InputFile(), help="With --gap: answers or numbers at hand.")
@option("--pair", nargs=2, metavar="A B", help="Of the pilot; default the best two.")
@option("--cost-per-item", limits=NOT_NEGATIVE, rare=True, help="With --pilot.")
@option("--cost-per-run", limits=NOT_NEGATIVE, rare=True, help="Of both methods on an item.")
@option("--n-test", limits=COUNT, rare=True, help="Items observed so far: assures the power.")
@_level
def plan(pilot: Path | None, reading: dict[str, Any], level: float, **asked: Any) -> Answer:
    """Test items that a claim of this gap needs, of accuracies or (with --sd) of means.

    With --pilot: items and runs that it needs, from answers or numbers of two methods at hand.
    """
    gap, n_test = asked["gap"], asked["n_test"]
    settings: dict[str, Any] = {"level": level, "power": asked["power"]}
    match (asked["accuracy"], gap, asked["sd"], pilot):
        case (None, float(), None, Path()):
            note_unused("a plan from a pilot", "n_test", "congruence", "pairwise_correlation")
            answers = data.read_outcomes(pilot, metric=asked["metric"], **reading)
            settings |= {name: asked[name] for name in ("pair", "cost_per_item", "cost_per_run")}
            settings |= {"source": answers.name, "notes": answers.notes}
            return Answer(claims.plan_from_pilot(answers, gap, **settings))
        case (None, float(), (float(), float()) as sd, None):
            of: Any = claims.GapOfMeans(gap, 0.0, sd, asked["pairwise_correlation"])
            note_unused("a plan of means", *_OF_PILOTS, "congruence")
        case ((a, b), None, None, None):
            of = claims.GapOfAccuracies(a, b, asked["congruence"])
            note_unused("a plan of accuracies", *_OF_PILOTS, "pairwise_correlation")
        case _:
            raise InputError(
                "give --accuracy A B, or --gap and --sd for means, or --gap and --pilot FILE"
            )
    return Answer(claims.describe_plan(claims.plan_claim(of, n_test=n_test, **settings)))


@command(uses="reading top", example="claim batch review.csv --save review-checked.csv")
@click.argument("file", type=InputFile())
@_any_accuracy
@_level
def batch(file: Path, level: float, any_accuracy: bool, reading: Any) -> Answer:
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
    note_unused("a review of claims", *unread(reading))
    review = claims.claims_table(file, level=level, check_counts=not any_accuracy, **columns)
    return Answer(review, partial(_draw_claims, review))


def _draw_claims(report: "Report") -> "PlotCollection":
    rows, level = report.content["claims"], report.content["level"]
    columns = {key: [row[key] for row in rows] for key in ("name", "group")}
    return claims.plot_claims(report.frame.assign(**columns), level=level)
