"""``bayes-sota cv``: learners compared by repeated cross-validation."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from bayes_sota import core, crossval, data
from bayes_sota.core.arguments import PROCESSES, Range, refuse_unused
from bayes_sota.core.command import (
    ESTIMATE_OPTIONS,
    InputFile,
    OutputDirectory,
    OutputFile,
    Reported,
    chosen_figure,
    chosen_seed,
    command,
    figure_option,
    interval_option,
    model_option,
    number_option,
    packed_options,
    seed_option,
    show_progress,
    top_option,
    width_option,
    write_result,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import listed, plain_text
from bayes_sota.core.text import shown as quoted
from bayes_sota.crossval.reproducibility import ORDERINGS, Pairing
from bayes_sota.crossval.rules import RULES, named_rule
from bayes_sota.crossval.run import FOLDS, ITERATIONS, runs_of_tree

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report
    from bayes_sota.core.types import FloatArray
    from bayes_sota.data.fold_scores import FoldScores

_OF_ONE_TASK = ("means", "scores")
_ONLY_JUDGED = {
    "rule": None,
    "threshold": None,
    "pairing": "all",
    "together": False,
    "orderings": 50,
    "other_folds": (),
    "truth": None,
    "figure_kind": None,
    "task": None,
}
_OF_PARTITIONS = ("iteration_column", "fold_column", "folds")
_ONLY_SAMPLED = {"model": None, "draws": None}
_THRESHOLD = Range(0, 1e6, open_low=True)
_KINDS = (*_OF_ONE_TASK, "rules", "reproducibility", "ranks")


@click.group(epilog="Example: bayes-sota cv run vote.csv --target y --learners nb,tree --folds 5")
def cv() -> None:
    """Repeated cross-validation: run it with scikit-learn, and judge its scores."""


@dataclass(frozen=True)
class _RunOutput(Reported):
    """What a run shows and writes; checked before anything is computed."""

    scores: Path | None
    responses: Path | None
    item_scores: Path | None
    output: Path | None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("scores", "responses", "item_scores"):
            path = getattr(self, name)
            if path is not None and path.suffix.lower() != ".csv":
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{option} is written as .csv, got {str(path)!r}")

    def write(self, result: crossval.CrossValidation) -> None:
        """Write the files that were asked for."""
        if self.scores is not None:
            data.write_fold_scores(result.fold_scores, self.scores)
        if self.responses is not None:
            data.write_items(result.responses(), self.responses)
        if self.item_scores is not None:
            data.write_items(result.item_scores(), self.item_scores)
        write_result(self.output, result.to_datatree)


_RUN_OUTPUT = (
    *ESTIMATE_OPTIONS,
    click.option(
        "--scores",
        type=OutputFile(),
        help="Every score: learner, task, iteration, fold, score. FILE.csv.",
    ),
    click.option(
        "--responses",
        type=OutputFile(),
        help="Which item is classified right in the first iteration, for sota: FILE.csv.",
    ),
    click.option(
        "--item-scores",
        type=OutputFile(),
        help="Classes and probabilities of the items in it, for sota: FILE.csv.",
    ),
    click.option("--output", type=OutputFile("result"), help="Scores and probabilities: .nc."),
)


@command(epilog="Example: bayes-sota cv run vote.csv --target y --learners nb,tree --folds 5")
@click.argument("file", type=InputFile())
@click.option(
    "--target",
    required=True,
    metavar="COLUMN",
    help="Column of the classes to predict; all other columns are attributes.",
)
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
    "when every order is decided or more iterations cannot help (posterior), when the mean has a "
    "small standard error (variance), when means stopped crossing (crossing).",
)
@number_option(
    _THRESHOLD,
    "--threshold",
    help="Of a --rule other than fixed: a correlation (.9999), a distance (.2), a probability "
    "(.95), a standard error (.001), iterations without crossing (10).",
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
    help="Folder that keeps finished iterations: the same command goes on where it was ended.",
)
@number_option(PROCESSES, "--cores", default=1, help="Processes; results are the same.")
@click.option("--dask", metavar="ADDRESS", help="Scheduler of a Dask cluster instead.")
@partial(packed_options, kind=_RunOutput, options=_RUN_OUTPUT)
def run(
    file: Path, target: str, learners: str, seed: int | None, shown: _RunOutput, **settings: Any
) -> int:
    """Fit and score learners on many random partitions of the same items.

    FILE is a table with one row per item. Every random partition (an iteration) cuts the items
    into --folds parts; each part is tested by learners that were fitted to the others. Columns of
    words become 0 and 1, missing numbers the median of the training items, numbers are
    standardised. Needs scikit-learn (extra cv).
    """
    threshold = settings.pop("threshold")
    if threshold is not None:
        if settings["rule"] == "fixed":
            raise InputError("--threshold is of a --rule other than fixed, which --iterations says")
        settings["rule"] = named_rule(settings["rule"], threshold)
    names = [name.strip() for name in learners.split(",")]
    crossval.named_learners(names)
    of_items = shown.responses or shown.item_scores
    if of_items and len(names) < 2:
        raise InputError("--responses and --item-scores compare at least 2 learners, got 1")
    attributes, labels, categories = crossval.read_task(file, target)
    if of_items and len(set(labels.tolist())) > 2:
        raise InputError("--responses and --item-scores are of two classes, and labels of more")
    result = crossval.repeated_cross_validation(
        crossval.named_learners(names, categories),
        attributes,
        labels,
        random_seed=seed,
        progressbar=show_progress(shown.quiet, shown.as_json),
        task=plain_text(file.name.partition(".")[0] or file.name),
        **settings,
    )
    shown.write(result)
    draw = partial(crossval.plot_running_means, result.fold_scores)
    return shown.deliver(crossval.describe_runs(result), draw=draw)


@dataclass(frozen=True)
class _JudgeOutput(Reported):
    """Where results go; checked before anything is computed."""

    top: int
    figure_kind: str | None
    task: str | None
    output: Path | None
    seed: int | None

    def __post_init__(self) -> None:
        super().__post_init__()
        of_one_task = self.kind in _OF_ONE_TASK and (self.figure or self.report)
        if self.task is not None and not of_one_task:
            raise InputError("--task is for a --figure of --figure-kind means or scores")

    @property
    def kind(self) -> str:
        """Kind of the figure."""
        return chosen_figure(self, self.figure_kind, "means")


_JUDGE_OUTPUT = (
    *ESTIMATE_OPTIONS,
    seed_option,
    click.option("--task", help="Data set of a figure of means or scores."),
    click.option("--output", type=OutputFile("result"), help="Result as a DataTree: FILE.nc."),
    figure_option(_KINDS, "What the figure shows. Default: means, after each iteration."),
    top_option(20, "Rows shown of a table."),
)


@command(epilog="Example: bayes-sota cv judge scores.csv --rule ks --threshold 0.2")
@click.argument("file", type=InputFile())
@click.option("--learner-column", help="Column of the learners; else recognised.")
@click.option("--task-column", help="Column of the data sets; else recognised.")
@click.option("--iteration-column", help="Column of the iterations; else recognised.")
@click.option("--fold-column", help="Column of the folds; else recognised.")
@click.option("--score-column", help="Column of the scores; else recognised.")
@number_option(FOLDS, "--folds", help="Parts of a partition, where no column names them.")
@click.option("--lower-is-better", is_flag=True, help="Scores are errors or losses.")
@click.option(
    "--rule",
    type=click.Choice(list(RULES)),
    help="When a run would stop: see cv run; fixed is a number of iterations. Default: spearman "
    "where FILE has the items' probabilities, else ks.",
)
@number_option(
    _THRESHOLD,
    "--threshold",
    help="Of the rule: a correlation (.9999), a distance (.2), a probability (.95), a standard "
    "error (.001), or a number of iterations (10).",
)
@click.option(
    "--pairing",
    type=click.Choice(get_args(Pairing)),
    default="all",
    show_default=True,
    help="Compare all pairs of orderings, or those with the same partitions.",
)
@click.option("--together", is_flag=True, help="Learners of a data set stop together.")
@number_option(ORDERINGS, "--orderings", default=50, help="Random orderings of the iterations.")
@click.option(
    "--other-folds",
    type=InputFile(),
    multiple=True,
    metavar="FILE",
    help="Scores of the same learners and data sets with another number of folds: which number is "
    "optimistic; may be repeated.",
)
@click.option(
    "--truth",
    type=InputFile(),
    metavar="FILE",
    help="Scores on true test sets (learner, data set, score): how far off cross-validation is.",
)
@width_option("--rope", help="Half-width of practical equivalence, in units of the score.")
@interval_option
@click.option(
    "--bayes",
    is_flag=True,
    help="One Bayesian model of all learners and data sets instead, sampled with NUTS (PyMC).",
)
@model_option
@number_option(
    Range(100, 500_000, whole=True),
    "--draws",
    help="Draws of each chain (with --bayes); default those of the model, 1000.",
)
@partial(packed_options, kind=_JudgeOutput, options=_JUDGE_OUTPUT)
def judge(file: Path, shown: _JudgeOutput, bayes: bool, **asked: Any) -> int:
    """Say how reproducible the order of learners is, and what the scores support.

    FILE is a table of scores (learner, data set, iteration, fold, score), or a result of
    bayes-sota cv run --output, which has the items' probabilities as well. The iterations are
    put in many random orders, as if many people had run the study: do they find the same order?
    Would other items give it? Say so the posterior of every pair, or --bayes of all together.
    """
    if asked["threshold"] is not None and asked["rule"] is None:
        raise InputError("--threshold is of a rule: --rule names it")
    if asked["rule"] == "fixed" and not float(asked["threshold"] or 0).is_integer():
        raise InputError(
            f"--threshold of --rule fixed is a number of iterations, got {asked['threshold']:g}"
        )
    why = "has no effect on --bayes: leave it out" if bayes else "is for --bayes: add it"
    for name, default in (_ONLY_JUDGED if bayes else _ONLY_SAMPLED).items():
        if (asked | {"figure_kind": shown.figure_kind, "task": shown.task})[name] != default:
            raise InputError(f"--{name.replace('_', '-')} {why}")
    own = {name: asked.pop(name) for name in (*_ONLY_JUDGED, *_ONLY_SAMPLED) if name in asked}
    said = {name: asked.pop(name) for name in ("rope", "ci_prob")}
    scores, probabilities = _read(file, asked)
    seed = chosen_seed(shown.seed)
    if bayes:
        sampled = {name: own[name] for name in _ONLY_SAMPLED}
        sampled["progressbar"] = show_progress(shown.quiet, shown.as_json)
        tree = crossval.sample_comparison(scores, **sampled, random_seed=seed)
        write_result(shown.output, lambda: tree)
        compared = crossval.report_comparison(tree, **said)
        return shown.deliver(compared, shown.top, partial(crossval.plot_comparison, compared))
    rule, truth = own["rule"], own["truth"]
    if truth is not None:
        reading = {name: asked[name] for name in asked if name not in _OF_PARTITIONS}
        truth = data.read_test_scores(truth, scores, **reading)
    report = crossval.judge_runs(
        scores,
        probabilities,
        rule=None if rule is None else named_rule(rule, own["threshold"]),
        other_folds=[_read(other, asked | {"folds": None})[0] for other in own["other_folds"]],
        truth=truth,
        random_seed=seed,
        **{name: own[name] for name in ("pairing", "together", "orderings")},
        **said,
    )
    write_result(shown.output, report.about.to_datatree)
    return shown.deliver(report, shown.top, partial(_figure, report, shown, own["pairing"]))


def _read(file: Path, options: dict[str, Any]) -> "tuple[FoldScores, FloatArray | None]":
    """Scores of a table, or scores and probabilities of a result of ``cv run``."""
    if file.suffix.lower() != ".nc":
        return data.read_fold_scores(file, **options), None
    refuse_unused("a result of cv run, which says it itself", options)
    return runs_of_tree(core.read_result(file))


def _figure(report: "Report", shown: _JudgeOutput, pairing: Pairing) -> "PlotCollection":
    judged: crossval.JudgedRuns = report.about
    scores, kind = judged.scores, shown.kind
    if kind == "means":
        return crossval.plot_running_means(scores, _task(scores.tasks, shown.task))
    if kind == "scores":
        return crossval.plot_iteration_scores(scores, _task(scores.tasks, shown.task))
    if kind == "reproducibility":
        seed = judged.content["seed"]
        return crossval.plot_reproducibility(scores, pairing=pairing, random_seed=seed)
    if kind == "rules":
        return crossval.plot_rules(report)
    if judged.ranks is None:
        raise InputError("--figure-kind ranks is for at least 2 data sets")
    return crossval.plot_critical_differences(judged.ranks)


def _task(tasks: Sequence[str], name: str | None) -> int:
    if name is None and len(tasks) == 1:
        return 0
    if name not in tasks:
        asked = "--task is missing" if name is None else f"--task {quoted(name)} is none"
        raise InputError(f"{asked}: the data sets are {listed(tasks)}")
    return tasks.index(name)


cv.add_command(run)
cv.add_command(judge)
