"""``bayes-sota cv``: learners compared by repeated cross-validation."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import core, crossval
from bayes_sota.core.arguments import PROCESSES, Range
from bayes_sota.core.command import (
    ESTIMATE_OPTIONS,
    InputFile,
    OutputDirectory,
    OutputFile,
    Reported,
    chosen_seed,
    command,
    interval_option,
    note_unused,
    number_option,
    packed_options,
    reading_options,
    seed_option,
    show_progress,
    top_option,
    typed_of_reading,
    write_result,
)
from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.text import plain_text
from bayes_sota.crossval.reproducibility import ORDERINGS
from bayes_sota.crossval.rules import RULES, Rule
from bayes_sota.crossval.run import FOLDS, ITERATIONS, runs_of_tree

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.types import FloatArray
    from bayes_sota.crossval.fold_scores import FoldScores

_OF_ITEMS: dict[str, Any] = {"target": None, "use": (), "leave_out": ()}
_THRESHOLD = Range(0, 1e6, open_low=True)


@click.group(
    epilog="Example: bayes-sota cv run vote.csv --column target=y --learners nb,tree --folds 5"
)
def cv() -> None:
    """Repeated cross-validation: run it with scikit-learn, and judge its scores."""


@dataclass(frozen=True)
class _RunOutput(Reported):
    """What a run shows and writes; checked before anything is computed."""

    scores: Path | None
    output: Path | None

    def __post_init__(self) -> None:
        if self.scores is not None and self.scores.suffix.lower() != ".csv":
            raise InputError(f"--scores is written as .csv, got {str(self.scores)!r}")


_RUN_OUTPUT = (
    *ESTIMATE_OPTIONS,
    click.option(
        "--scores",
        type=OutputFile(),
        help="Every score: learner, task, iteration, fold, score. FILE.csv.",
    ),
    click.option("--output", type=OutputFile("result"), help="Scores and probabilities: .nc."),
)


@command(
    epilog="Example: bayes-sota cv run vote.csv --column target=y --learners nb,tree --folds 5"
)
@click.argument("file", type=InputFile())
@reading_options
@click.option(
    "--learners",
    default="nb,5nn,tree,svm",
    show_default=True,
    metavar="NAME,...",
    help="nb (naive Bayes), 5nn (5 nearest neighbours), tree, svm (linear), mlp (three layers), "
    "logistic (regression), forest.",
)
@number_option(FOLDS, "--folds", default=10, help="Parts of a partition; each is tested once.")
@number_option(
    ITERATIONS,
    "--iterations",
    default=50,
    help="Random partitions, with a --rule other than fixed the most.",
)
@click.option(
    "--rule",
    type=click.Choice(list(RULES)),
    default="fixed",
    show_default=True,
    help="Stop after all iterations (fixed) or sooner: when one more hardly changes the items' "
    "mean probabilities (spearman), when scores of odd and even ones are distributed alike (ks), "
    "when every order is decided or more iterations cannot help (posterior).",
)
@number_option(
    _THRESHOLD,
    "--threshold",
    help="Of a --rule other than fixed: a correlation (.9999), a distance (.2) or a probability "
    "(.95).",
)
@click.option(
    "--scoring",
    default="roc_auc",
    show_default=True,
    metavar="NAME",
    help="A score of scikit-learn, such as neg_log_loss; larger is better. Of classes of unlike "
    "size balanced_accuracy, average_precision; of more than two roc_auc_ovr, accuracy.",
)
@seed_option
@click.option(
    "--checkpoint",
    type=OutputDirectory(),
    help="Folder that keeps finished iterations: the same command goes on where it was ended. It "
    "holds Python pickles: use none that others can write to.",
)
@number_option(PROCESSES, "--cores", default=1, help="Processes; results are the same.")
@partial(packed_options, kind=_RunOutput, options=_RUN_OUTPUT)
def run(
    file: Path, learners: str, seed: int | None, shown: _RunOutput, reading: Any, **settings: Any
) -> int:
    """Fit and score learners on many random partitions of the same items.

    FILE is a table with one row per item: a column of classes, by its name or by --column
    target=NAME, and attributes, all others or those of --use. Every random partition (an
    iteration) cuts the items into --folds parts; each part is tested by learners that were fitted
    to the others. Columns of words become 0 and 1, missing numbers the median of the training
    items, numbers are standardised. Needs scikit-learn (extra cv).
    """
    threshold = settings.pop("threshold")
    if threshold is not None:
        if settings["rule"] == "fixed":
            raise InputError("--threshold is of a --rule other than fixed, which --iterations says")
        settings["rule"] = Rule(settings["rule"], threshold)
    names = [name.strip() for name in learners.split(",")]
    crossval.named_learners(names)
    from bayes_sota.crossval.learners import find_classes
    from bayes_sota.data.opening import read_table
    from bayes_sota.data.tables import describe_parts

    table = read_table(file)
    chosen = [reading.pop(name, default) for name, default in _OF_ITEMS.items()]
    target, columns = find_classes(table, *chosen)
    note_unused("a table of items", typed_of_reading(reading))
    attributes, labels, categories = crossval.read_task(table, target, columns)
    parts = [f"classes from {quoted(target)}", f"attributes from {listed(columns)}"]
    read = [describe_parts(table, parts, [target, *columns])]
    result = crossval.repeated_cross_validation(
        crossval.named_learners(names, categories),
        attributes,
        labels,
        random_seed=seed,
        progressbar=show_progress(shown.quiet, shown.as_json),
        task=plain_text(file.name.partition(".")[0] or file.name),
        **settings,
    )
    if shown.scores is not None:
        crossval.write_fold_scores(result.fold_scores, shown.scores)
    write_result(shown.output, result.to_datatree)
    draw = partial(crossval.plot_running_means, result.fold_scores)
    return shown.deliver(crossval.describe_runs(result, read), draw=draw)


@dataclass(frozen=True)
class _JudgeOutput(Reported):
    """Where results go; checked before anything is computed."""

    top: int
    output: Path | None
    seed: int | None


_JUDGE_OUTPUT = (
    *ESTIMATE_OPTIONS,
    seed_option,
    click.option("--output", type=OutputFile("result"), help="Result as a DataTree: FILE.nc."),
    top_option(20, "Rows shown of a table."),
)


@command(epilog="Example: bayes-sota cv judge scores.csv --rule ks --threshold 0.2")
@click.argument("file", type=InputFile())
@reading_options
@number_option(FOLDS, "--folds", help="Parts of a partition, where no column names them.")
@click.option(
    "--rule",
    type=click.Choice(list(RULES)),
    help="When a run would stop: see cv run; fixed is a number of iterations. Default: spearman "
    "where FILE has the items' probabilities, else ks.",
)
@number_option(
    _THRESHOLD,
    "--threshold",
    help="Of the rule: a correlation (.9999), a distance (.2), a probability (.95), or a number of "
    "iterations (10).",
)
@number_option(ORDERINGS, "--orderings", default=50, help="Random orderings of the iterations.")
@click.option(
    "--truth",
    type=InputFile(),
    metavar="FILE",
    help="Scores on true test sets (learner, data set, score): how far off cross-validation is.",
)
@interval_option
@click.option(
    "--bayes",
    is_flag=True,
    help="One Bayesian model of all learners and data sets instead, sampled with NUTS (PyMC).",
)
@partial(packed_options, kind=_JudgeOutput, options=_JUDGE_OUTPUT)
def judge(
    file: Path, shown: _JudgeOutput, folds: int | None, bayes: bool, reading: Any, **judged: Any
) -> int:
    """Say how reproducible the order of learners is, and what the scores support.

    FILE is a table of scores (learner, data set, iteration, fold, score), or a result of
    bayes-sota cv run --output, which has the items' probabilities as well. The iterations are
    put in many random orders, as if many people had run the study: do they find the same order?
    Would other items give it? Say so the posterior of every pair, or --bayes of all together.
    """
    if judged["threshold"] is not None and judged["rule"] is None:
        raise InputError("--threshold is of a rule: --rule names it")
    if judged["rule"] == "fixed" and not float(judged["threshold"] or 0).is_integer():
        raise InputError(
            f"--threshold of --rule fixed is a number of iterations, got {judged['threshold']:g}"
        )
    ci_prob = judged["ci_prob"]
    scores, probabilities = _read(file, reading | {"folds": folds})
    seed = chosen_seed(shown.seed)
    if bayes:
        progress = show_progress(shown.quiet, shown.as_json)
        tree = crossval.sample_comparison(scores, random_seed=seed, progressbar=progress)
        write_result(shown.output, lambda: tree)
        return shown.deliver(
            crossval.report_comparison(tree, ci_prob=ci_prob, reading=scores.notes), shown.top
        )
    rule, truth = judged["rule"], judged["truth"]
    if truth is not None:
        of_test = {
            name: reading[name] for name in reading if name not in ("fold", "iteration", "run")
        }
        truth = crossval.read_test_scores(truth, scores, **of_test)
    report = crossval.judge_runs(
        scores,
        probabilities,
        rule=None if rule is None else Rule(rule, judged["threshold"]),
        orderings=judged["orderings"],
        truth=truth,
        ci_prob=ci_prob,
        random_seed=seed,
    )
    write_result(shown.output, report.about.to_datatree)
    return shown.deliver(report, shown.top, partial(_figure, report.about))


def _read(file: Path, options: dict[str, Any]) -> "tuple[FoldScores, FloatArray | None]":
    """Scores of a table, or scores and probabilities of a result of ``cv run``."""
    if file.suffix.lower() != ".nc":
        return crossval.read_fold_scores(file, **options), None
    return runs_of_tree(core.read_result(file))


def _figure(judged: crossval.JudgedRuns) -> "PlotCollection":
    """Running means of one data set, ranks over several."""
    if judged.ranks is None:
        return crossval.plot_running_means(judged.scores)
    return crossval.plot_critical_differences(judged.ranks)


cv.add_command(run)
cv.add_command(judge)
