"""An experiment with repeated cross-validation in numbers and words: the report of ``cv run``.

The *steady state* of a learner is the mean over all iterations, each of which has the mean over its
folds; its standard error, the standard deviation between iterations over the root of their number,
is left open by the partitions. A *canonical* run has as many iterations as make ten fits: 1 x 10,
2 x 5 and 5 x 2 folds (Raeder, Hoens & Chawla 2010). ``tests/crossval/test_summary_runs.py``
computes them by hand.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import as_sentences, counted, listed
from bayes_sota.crossval.run import CrossValidation
from bayes_sota.crossval.shape import canonical_iterations, learner_rows
from bayes_sota.crossval.summary_words import forms_table, score_name


def describe_runs(runs: CrossValidation, reading: Sequence[str] = ()) -> Report:
    """Describe repeated cross-validation of one data set.

    Parameters
    ----------
    runs : CrossValidation
    reading : sequence of str
        How the items were read, for the notes.

    Returns
    -------
    Report
        Learners, the highest steady state first. A row of ``frame`` has the estimates of
        ``judge_runs``, ``share_best`` (of the iterations, ties divided), ``failed_fits`` and, of
        two classes, ``pooled`` (AUROC of all items of an iteration, mean over iterations);
        ``content`` is the object that ``bayes-sota cv run --json`` prints. A failed fit, and a rule
        that was not met, are reasons not to trust it; estimates are then those of the fits and
        available iterations.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from bayes_sota.crossval.run import repeated_cross_validation
    >>> runs = repeated_cross_validation(
    ...     {"nb": GaussianNB()}, *load_breast_cancer(return_X_y=True), folds=5, iterations=2,
    ...     random_seed=0, task="tumours",
    ... )
    >>> describe_runs(runs).sentences[0]
    'On tumours, nb has the highest mean AUROC of 1 learner, 0.9875, over 2 random partitions.'
    """
    data = runs.fold_scores
    means = np.nan_to_num(data.iteration_means()[0], nan=-np.inf)
    best = (means == means.max(axis=0)) & np.isfinite(means)
    more = {
        "share_best": [(best / best.sum(axis=0).clip(1)).mean(axis=1)],
        "failed_fits": [np.isnan(data.scores[0]).sum(axis=(1, 2))],
    }
    learners = list(learner_rows(data, **more))
    failed = [row["learner"] for row in learners if row["failed_fits"]]
    reasons = [f"fits of {listed(failed)} failed"] if failed else []
    if not runs.decided:
        reasons.append(f"{runs.rule} was not met in {counted(runs.n_iterations, 'iteration')}")
    content: dict[str, Any] = {
        "task": data.tasks[0],
        "n_items": runs.truth.size,
        "n_of_classes": np.bincount(runs.truth).tolist(),
        "scorer": data.scorer,
        "folds": data.folds,
        "n_iterations": runs.n_iterations,
        "canonical_iterations": canonical_iterations(data.folds),
        "rule": {"name": runs.rule, "decided": runs.decided},
        "learners": learners,
        "seed": runs.random_seed,
        "partition_seeds": list(runs.partition_seeds),
        "reading": list(reading),
        "notes": list(runs.notes),
        "diagnostics": {"ok": not reasons, "reasons": reasons},
    }
    forms = "learner steady:.4g standard_error:.1g sd:.2g median:.4g canonical:.4g share_best:.0%"
    sentences = list(_sentences(content))
    how = f"{runs.n_iterations} x {data.folds} folds, seed {runs.random_seed}"
    return Report(
        content=content,
        make_frame=partial(frame_of, learners),
        tables=[forms_table(learners, forms)],
        sentences=sentences,
        legend=["canonical: of the first ten fits"],
        reasons=reasons,
        paragraph=[*sentences, *as_sentences(runs.notes)],
        basis=[how, SOFTWARE, "steady state after Raeder, Hoens and Chawla 2010"],
        about=runs,
    )


def _sentences(content: dict[str, Any]) -> Iterator[str]:
    """The answer: who is best, how sure that is, and what repetition cannot tell."""
    (first, *rest), n = content["learners"], content["n_iterations"]
    partitions, score = counted(n, "random partition"), score_name(content["scorer"])
    best = f"{first['learner']} has the highest mean {score} of {counted(len(rest) + 1, 'learner')}"
    yield f"On {content['task']}, {best}, {first['steady']:.4g}, over {partitions}."
    if rest:
        lead = f"{first['learner']} was the best in {first['share_best'] * n:g} of {partitions}"
        yield f"{rest[0]['learner']} follows with {rest[0]['steady']:.4g}; {lead}."
    if n > 1:
        spread = f"{first['sd']:.2g} (sd), the mean of {n} by {first['standard_error']:.1g}"
        yield f"From one partition to another its score varies by {spread} (standard error)."
    yield f"Repetition does not remove the noise of having only {content['n_items']:,} items."
