"""``bayes-sota claim``: is "A outperforms B" false?"""

from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota import claims, data
from bayes_sota.cli.options import Group, Input, note_unused, option, saves, unread, with_anchors
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import (
    ASSURANCE,
    COUNT,
    LEVEL,
    NOT_NEGATIVE,
    PAIRWISE,
    POSITIVE,
    SHARE,
    TRIES,
    Points,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.tables import Report

claim = Group("claim", help='Is "A outperforms B" false?')
_level = option("--level", limits=LEVEL, default=0.05, help="Largest P(false) of supported claims.")
_tries = option("--best-of", limits=TRIES, rare=True, help="Tries of which A is the best.")
_names = option("--names", nargs=2, default=("A", "B"), help="Names of A and B.")
_OF_SHARES = "Write shares as 1pt, 1% or 0.01."


def _answer(report: Report, seed: int) -> Answer:
    """Answer of a printed claim; only a file holds draws."""
    if not saves(".nc"):
        note_unused("without --save FILE.nc", "seed")
    low, high = report.about.ends
    draw = (lambda: claims.plot_claim(report)) if low < high else None
    said = report.content
    stated: Any = {"names": tuple(said["names"]), "p_false": said["p_false"], "random_seed": seed}
    return Answer(report, draw, lambda: claims.claim_tree(report.about, **stated))


@claim.command(
    uses="seed domain",
    tree=True,
    example="claim classification --accuracy 0.90 0.88 --n-test 500 --names ours theirs",
)
@option("--accuracy", nargs=2, required=True, help="Printed accuracies of A (the winner) and B.")
@option("--n-test", limits=COUNT, required=True, help="Number of test items.")
@_names
@option("--congruence", limits=SHARE, help="Share of items that both got right.")
@option("--rope", limits=NOT_NEGATIVE, help=f"Half-width of practical equivalence. {_OF_SHARES}")
@_tries
@_level
def classification(
    accuracy: tuple[str, str], n_test: int, congruence: Any, domain: Any, seed: int, **options: Any
) -> Answer:
    """From two accuracies on the same items.

    Without --congruence the answer is averaged over all values that the accuracies allow; --domain
    takes those that are typical of close pairs.
    """
    printed, notes = claims.as_shares(accuracy)
    a, b = map(float, printed)
    if congruence is not None:
        note_unused("with --congruence", "domain")
    claim = claims.Accuracies(a=a, b=b, n=n_test, known=congruence, domain=domain)
    return _answer(claims.report_claim(claim, printed=printed, notes=notes, **options), seed)


@claim.command(
    uses="seed", tree=True, example="claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100"
)
@option("--mean", nargs=2, required=True, help="Means of A (the winner) and B.")
@option("--sd", limits=NOT_NEGATIVE, nargs=2, help="SDs over cases: standard errors times sqrt(n).")
@option("--sd-difference", limits=POSITIVE, help="SD of the differences over cases.")
@option("--n-test", limits=COUNT, required=True, help="Number of cases.")
@_names
@option("--pairwise-correlation", limits=PAIRWISE, help="Correlation of A and B over cases.")
@_tries
@_level
def segmentation(
    mean: tuple[str, str], n_test: int, sd: Any, sd_difference: Any, seed: int, **options: Any
) -> Answer:
    """From two means over cases, such as Dice.

    Distances need a minus sign, and --sd. Without a correlation the answer is averaged over 0 to 1.
    SDs that were not reported are imputed as 2/3 mean (1 - mean), a rule of thumb for Dice.
    """
    printed, notes = claims.as_shares(mean)
    a, b = map(float, printed)
    in_percent = None if b < 0 else bool(notes) or any("%" in text for text in mean)
    alone = [] if sd_difference is None else [sd_difference]
    spreads, more = claims.sds_as_shares([*(sd or ()), *alone], in_percent)
    notes = [f"{note}; distances need a minus sign" for note in notes] + more
    sd, sd_difference = sd and tuple(spreads[:2]), spreads[-1] if alone else None
    known, of = options.pop("pairwise_correlation"), {"bounds": None} if b < 0 else {}
    claim = claims.Means(a=a, b=b, n=n_test, sd=sd, sd_difference=sd_difference, known=known, **of)
    return _answer(claims.report_claim(claim, printed=printed, notes=notes, **options), seed)


@claim.command(
    uses="known reading average new metric prob seed top",
    tree=True,
    example="claim responses answers.csv --pair A B --margin 0.01",
)
@click.argument("files", nargs=-1, required=True, type=Input())
@option("--pair", nargs=2, help="Two methods named beforehand; A is judged.")
@option("--margin", limits=NOT_NEGATIVE, help=f"How much worse A may be. {_OF_SHARES}")
@option("--require", choices=["better", "not-worse"], help="Required verdict, or exit code 3.")
@option("--pairs", is_flag=True, help="Compare all pairs, adjusted for their number.")
@option("--by", choices=["task"], help="Compare in every task, shrunk towards all tasks.")
def responses(
    files: tuple[Path, ...],
    pair: Any,
    margin: float | None,
    require: Any,
    pairs: bool,
    by: str | None,
    prob: float,
    seed: int,
    known: dict[str, Any],
    reading: dict[str, Any],
    **asked: Any,
) -> Answer:
    """From the outcome of every item; with --pair and --require, a gate.

    FILES are a table with a row per item and a column per method (right and wrong, or numbers such
    as Dice), or with a row per method and item; or evaluation logs and folders of logs: samples of
    Every Eval Ever and lm-evaluation-harness, logs of inspect_ai. Files are joined on the item. If
    methods have scores on data sets, the data sets are the items.
    """
    settings: dict[str, Any] = {"ci_prob": prob, "random_seed": seed}
    if pairs and (pair or by):
        raise InputError("--pairs compares all methods on all items: leave out --pair and --by")
    if pair is None and (margin or require):
        raise InputError("--margin and --require are for two methods: name them with --pair A B")
    if require == "not-worse" and not margin:
        raise InputError("--require not-worse needs --margin D: how much worse A may be")
    outcomes = data.read_outcomes(*files, **asked, **reading)
    if not (by or pair):
        note_unused("without --pair", "known")
    draw: Any = claims.plot_pairs
    if by:
        note_unused("with --by task", *["margin"] * (require != "not-worse"), "known")
        settings |= {"margin": margin or 0.0, "require": require}
        report, draw = claims.report_tasks(outcomes, pair=pair, **settings), None
    elif pair:
        others = [name for name in known["known"] if name not in pair]
        settings |= {"margin": margin or 0.0, "require": require}
        report = claims.report_gate(with_anchors(outcomes, known, only=others), pair, **settings)
    elif pairs:
        report = claims.report_pairs(outcomes, **settings)
    else:
        report, draw = claims.report_methods(outcomes, **settings), claims.plot_methods
    found = report.content
    why = "it is not shown in every task" if by else f"the verdict is {found.get('verdict')}"
    not_met = f"{require} is required, and {why}" * (found.get("passed") is False)
    return Answer(report, draw and partial(draw, report), report.about.to_datatree, not_met)


_OF_PILOTS = ("pair", "cost_per_item", "cost_per_run")


@claim.command(uses="metric reading domain", draws=False, example="claim plan --accuracy 0.90 0.88")
@option("--accuracy", nargs=2, help="Accuracies of A and B.")
@option("--gap", limits=NOT_NEGATIVE, help=f"Gap of A and B, with --sd or --pilot. {_OF_SHARES}")
@option("--sd", limits=NOT_NEGATIVE, nargs=2, help="SDs over cases, for means, with --gap.")
@option("--congruence", limits=SHARE, help="Share of items that both get right.")
@option("--pairwise-correlation", limits=PAIRWISE, help="Correlation of A and B over cases.")
@option("--power", limits=ASSURANCE, default=0.8, help="Probability of support if the gap is true.")
@option("--pilot", type=Input(), help="Answers or numbers that you have, with --gap.")
@option("--pair", nargs=2, help="Methods of the pilot (default: the best two).")
@option("--cost-per-item", limits=NOT_NEGATIVE, rare=True, help="Cost of one more item.")
@option("--cost-per-run", limits=NOT_NEGATIVE, rare=True, help="Cost of both methods on one item.")
@option("--n-test", limits=COUNT, rare=True, help="Items so far, to show how many more it takes.")
@option("--anchors", limits=COUNT, rare=True, help="Number of models of known skill, with B.")
@_level
def plan(pilot: Path | None, reading: dict[str, Any], level: float, **asked: Any) -> Answer:
    """Number of test items that a claim needs.

    For accuracies, or with --sd for means. With --pilot it counts items and runs, from answers or
    numbers of two methods that you have.
    """
    gap, n_test = asked["gap"], asked["n_test"]
    settings: dict[str, Any] = {"level": level, "power": asked["power"]}
    of_pilots = ("metric", *_OF_PILOTS, "reading")
    match (asked["accuracy"], gap, asked["sd"], pilot):
        case (None, float(), None, Path()):
            of_claims = ("n_test", "anchors", "congruence", "pairwise_correlation", "domain")
            note_unused("on a plan from a pilot", *of_claims)
            answers = data.read_outcomes(pilot, metric=asked["metric"], **reading)
            settings |= {name: asked[name] for name in _OF_PILOTS}
            return Answer(claims.plan_from_pilot(answers, gap, **settings))
        case (None, float(), (float(), float()) as sd, None):
            note_unused("on a plan of means", *of_pilots, "congruence", "domain")
            known = asked["pairwise_correlation"]
            if isinstance(gap, Points):
                sd = tuple(claims.sds_as_shares(sd, False)[0])
            of: Any = claims.Means(a=gap, b=0.0, n=n_test or 2, known=known, sd=sd, bounds=None)
        case ((_, _) as typed, None, None, None):
            note_unused("on a plan of accuracies", *of_pilots, "pairwise_correlation")
            settings["printed"], settings["notes"] = claims.as_shares(typed)
            a, b = map(float, settings["printed"])
            of_law = {"known": asked["congruence"], "domain": asked["domain"]}
            of = claims.Accuracies(a=a, b=b, n=n_test or 2, **of_law)
        case _:
            raise InputError(
                "give --accuracy A B, or --gap and --sd for means, or --gap and --pilot FILE"
            )
    return Answer(claims.report_plan(of, n_test=n_test, anchors=asked["anchors"] or 0, **settings))


@claim.command(uses="reading top", example="claim batch review.csv --save review-checked.csv")
@click.argument("file", type=Input())
@_level
def batch(file: Path, level: float, reading: Any) -> Answer:
    """Check every claim of a review.

    FILE has one claim per row: n_test, and accuracy_a and accuracy_b (the winner's first) or
    mean_a, mean_b, sd_a and sd_b; optionally congruence, pairwise_correlation, sd_difference,
    metric and name. For a column with another name use --column accuracy_a=NAME. The result adds
    p_false, its lowest and highest possible value, a verdict, and n_needed, the items at which
    p_false falls to --level. Losses and distances need a minus sign.
    SDs that were not reported are imputed as 2/3 mean (1 - mean), a rule of thumb for Dice.
    """
    from bayes_sota.claims.summary_review import CLAIM_ROLES

    columns = {role: reading.pop(role) for role in CLAIM_ROLES if role in reading}
    if reading.get("direction") == "lower":
        raise InputError("--lower-is-better: write means in FILE with a minus sign instead")
    note_unused("on a review of claims", *unread(reading))
    review = claims.claims_table(file, level=level, **columns)
    return Answer(review, lambda: claims.plot_claims(review))
