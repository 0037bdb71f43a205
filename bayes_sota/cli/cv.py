"""``bayes-sota cv``: learners compared by repeated cross-validation."""

from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota import core, crossval
from bayes_sota.cli.options import FOLDER, NAMES, Group, Input, note_unused, option, unread
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import FOLDS, ITERATIONS, PROCESSES, Range
from bayes_sota.core.tables import Report
from bayes_sota.core.text import plain_text

cv = Group("cv", help="Repeated cross-validation: run it, and judge its scores.")
_RULES = ("fixed", "spearman", "ks", "posterior")
_THRESHOLD = Range(0, 1e6, open_low=True)
_LEARNERS = (
    "nb (naive Bayes), 5nn (5 nearest neighbours), tree, svm (linear), mlp (three layers), "
    "logistic (regression), forest."
)
_RULE = (
    "Stop after all iterations (fixed) or sooner: when one more hardly changes the items' mean "
    "probabilities (spearman), when scores of odd and even ones are distributed alike (ks), when "
    "every order is decided or more iterations cannot help (posterior)."
)
_OF_RULE = "Threshold of --rule: a correlation (0.9999), a distance (0.2) or a probability (0.95)."
_SCORING = (
    "A score of scikit-learn, such as neg_log_loss. Larger must be better. For unbalanced classes "
    "balanced_accuracy, average_precision; for more than two classes roc_auc_ovr, accuracy."
)
_CHECKPOINT = "Folder for finished iterations, as pickles: let nobody else write there."


@cv.command(
    uses="reading seed",
    tree=True,
    example="cv run vote.csv --column target=y --learners nb,tree --folds 5",
)
@click.argument("file", type=Input())
@option("--learners", default=["nb,5nn,tree,svm"], help=_LEARNERS, **NAMES)
@option("--folds", limits=FOLDS, default=10, help="Parts of a partition, each tested once.")
@option("--iterations", limits=ITERATIONS, default=50, help="Largest number of random partitions.")
@option("--rule", choices=_RULES, default="fixed", help=_RULE)
@option("--threshold", limits=_THRESHOLD, rare=True, help=_OF_RULE)
@option("--scoring", default="roc_auc", metavar="NAME", help=_SCORING)
@option("--checkpoint", type=FOLDER, rare=True, help=_CHECKPOINT)
@option("--cores", limits=PROCESSES, default=1, rare=True, help="Number of processes.")
def run(file: Path, learners: list[str], reading: dict[str, Any], **settings: Any) -> Answer:
    """Fit and score learners on many random partitions.

    FILE is a table with one row per item, a column of classes, recognised by its name or given by
    --column target=NAME, and attributes: all other columns, or those of --use. Every iteration cuts
    the items at random into --folds parts and tests each part with learners fitted to the others.
    Words become columns of 0 and 1, missing numbers become the median of the training items, and
    numbers are standardised. Needs scikit-learn (extra cv).
    """
    rule, threshold = settings["rule"], settings.pop("threshold")
    if rule == "fixed":
        note_unused("with --rule fixed", "threshold")
    else:
        settings["rule"] = _rule(rule, threshold)
    asked = (reading.pop("target", None), reading.pop("use", ()), reading.pop("leave_out", ()))
    items = crossval.read_task(file, *asked)
    note_unused("on a table of items", *unread(reading))
    result = crossval.repeated_cross_validation(
        crossval.named_learners(learners, items.categories),
        items.attributes,
        items.labels,
        random_seed=settings.pop("seed"),
        task=plain_text(file.name.partition(".")[0] or file.name),
        **settings,
    )
    report = crossval.describe_runs(result, [items.sentence])
    scores = result.fold_scores
    return Answer(report, lambda: crossval.plot_running_means(scores), result.to_datatree)


@cv.command(
    uses="reading prob seed top", tree=True, example="cv judge scores.csv --rule ks --threshold 0.2"
)
@click.argument("file", type=Input())
@option("--folds", limits=FOLDS, help="Parts of a partition, if no column names them.")
@option("--rule", choices=_RULES, help="When a run would stop: see cv run.")
@option("--threshold", limits=_THRESHOLD, rare=True, help="Threshold of --rule.")
@option("--truth", type=Input(), help="Scores on true test sets: learner, data set, score.")
@option("--bayes", is_flag=True, help="Fit one Bayesian model to all learners by NUTS (PyMC).")
def judge(
    file: Path, bayes: bool, prob: float, seed: int, reading: dict[str, Any], **asked: Any
) -> Answer:
    """Is the order of learners reproducible?

    FILE is a table of scores (learner, data set, iteration, fold, score), or a result of bayes-sota
    cv run --save FILE.nc, which has the items' probabilities as well. Many random orders of the
    iterations show whether other runs of the study would find the same order of learners. The
    posterior of every pair, or with --bayes of all learners together, shows whether other items
    would.
    """
    rule, threshold, truth = asked["rule"], asked["threshold"], asked["truth"]
    probabilities = None
    if file.suffix.lower() == ".nc":
        note_unused("on a result of cv run", "folds", "reading")
        scores, probabilities = crossval.runs_of_tree(core.read_result(file))
    else:
        scores = crossval.read_fold_scores(file, folds=asked["folds"], **reading)
    if bayes:
        note_unused("with --bayes", "rule", "threshold", "truth")
        tree = crossval.sample_comparison(scores, random_seed=seed)
        report = crossval.report_comparison(tree, ci_prob=prob, reading=scores.notes)
        return Answer(report, tree=lambda: tree)
    settings: dict[str, Any] = {"ci_prob": prob, "random_seed": seed}
    if rule is None:
        note_unused("without --rule", "threshold")
    else:
        settings["rule"] = _rule(rule, threshold)
    if truth is not None:
        of_test = {k: v for k, v in reading.items() if k not in ("fold", "iteration", "run")}
        settings["truth"] = crossval.read_test_scores(truth, scores, **of_test)
    report = crossval.judge_runs(scores, probabilities, **settings)
    return Answer(report, partial(_draw, report), report.about.to_datatree)


def _rule(name: str, threshold: float | None) -> "crossval.Rule":
    """Rule by its name, with a threshold or its default."""
    from bayes_sota.crossval.rules import RULES

    return RULES[name](*() if threshold is None else (threshold,))


def _draw(report: Report) -> Any:
    """Running means of one data set, ranks over several."""
    scores = report.about.scores
    if len(scores.tasks) == 1:
        return crossval.plot_running_means(scores)
    means = crossval.steady_state(scores).mean
    return crossval.plot_critical_differences(crossval.average_ranks(means, scores.learners))
