"""What an experiment with repeated cross-validation found, in numbers and words.

The *steady state* of a learner is the mean over all iterations, each of which has the mean over its
folds; ``mcse``, the standard deviation between iterations over the root of their number, is what
the partitions still leave open. A *canonical* run has as many iterations as make ten fits: 1 x 10,
2 x 5 and 5 x 2 folds (Raeder, Hoens & Chawla 2010). ``tests/crossval/test_summary_runs.py``
computes them by hand.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import as_sentences, counted, decimals_for, listed
from bayes_sota.crossval.run import CrossValidation
from bayes_sota.crossval.shape import canonical_iterations, steady_state
from bayes_sota.crossval.summary_words import score_name

_CITED = "steady state after Raeder, Hoens and Chawla 2010, Consequences of variability in "
_CITED += "classifier performance estimates"
_COLUMNS = ("steady_state", "canonical", "sd_iterations", "median", "pooled")


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
        Learners, the highest steady state first. A row of ``frame`` has ``steady_state`` with its
        ``mcse``, ``canonical``, ``sd_iterations``, ``median``, ``pooled`` (of two classes: AUROC of
        all items of an iteration, mean over iterations), ``share_best`` (of the iterations, ties
        divided) and ``failed_fits``; ``content`` is what ``bayes-sota cv run --json`` prints.
        A failed fit, and a rule that was not met, are reasons not to trust it; estimates are then
        those of the fits and iterations that there are.

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
    'On tumours, nb has a mean AUROC, 0.9875, over 2 random partitions into 5 folds.'
    """
    learners = sorted(_learners(runs), key=lambda row: -row["steady_state"])
    failed = [row["learner"] for row in learners if row["failed_fits"]]
    reasons = [f"fits of {listed(failed)} failed"] * bool(failed)
    if not runs.decided:
        tried = counted(runs.n_iterations, "iteration")
        reasons.append(f"the rule {runs.rule} was not met in {tried}")
    data, counts = runs.fold_scores, np.bincount(runs.truth)
    two = counts.size == 2
    content: dict[str, Any] = {
        "task": data.tasks[0],
        "n_items": runs.truth.size,
        **({"n_positive": int(counts[1])} if two else {"n_of_classes": counts.tolist()}),
        "scoring": data.scorer,
        "folds": data.folds,
        "iterations": runs.n_iterations,
        "canonical_iterations": canonical_iterations(data.folds),
        "rule": {"name": runs.rule, "decided": runs.decided},
        "learners": learners,
        "seed": runs.random_seed,
        "partition_seeds": list(runs.partition_seeds),
        "reading": list(reading),
        "notes": list(runs.notes),
        "diagnostics": {"ok": not reasons, "reasons": reasons},
    }
    sentences = list(_sentences(content))
    rows = [
        {"learner": row["learner"]}
        | {name.replace("_", " "): _number(row, name) for name in _COLUMNS if name in row}
        | {"best in": f"{row['share_best']:.0%}"}
        for row in learners
    ]
    pooled = "pooled: AUROC of all items at once; " if two else ""
    return Report(
        content=content,
        make_frame=partial(frame_of, learners),
        tables=[Table.of(rows)],
        sentences=sentences,
        legend=[
            f"steady state: mean {score_name(data.scorer)} over all partitions; canonical: of the "
            f"first {content['canonical_iterations']} x {data.folds} folds, the size that papers "
            f"report; {pooled}best in: share of partitions in which the learner comes first"
        ],
        notes=[*reading, *runs.notes],
        reasons=reasons,
        paragraph=[*sentences, *as_sentences(runs.notes)],
        basis=[
            f"{runs.n_iterations} x {data.folds} stratified folds, seed {runs.random_seed}",
            SOFTWARE,
            _CITED,
        ],
        about=runs,
    )


def _sentences(content: dict[str, Any]) -> Iterator[str]:
    """The answer: who is best, how sure that is, and what repetition cannot tell."""
    first, *rest = content["learners"]
    n, name = content["iterations"], first["learner"]
    score = f"{'the highest' if rest else 'a'} mean {score_name(content['scoring'])}"
    yield (
        f"On {content['task']}, {name} has {score}, {_number(first, 'steady_state')}, over "
        f"{counted(n, 'random partition')} into {content['folds']} folds."
    )
    if rest:
        yield (
            f"{rest[0]['learner']} follows with {_number(rest[0], 'steady_state')}; "
            f"{name} was the best in {first['share_best'] * n:g} of {counted(n, 'partition')}."
        )
    if n > 1:
        yield (
            f"From one partition to another the score of {name} varies by "
            f"{first['sd_iterations']:.2g} (sd), the mean of {n} by {first['mcse']:.1g} "
            "(standard error)."
        )
    yield (
        "Repetition removes the noise of the partitions, not that of having only "
        f"{counted(content['n_items'], 'item')}."
    )


def _number(row: dict[str, Any], name: str) -> str:
    """A score with the digits that it supports."""
    spread, error = np.nan_to_num([row["sd_iterations"], row["mcse"]])
    if not np.isfinite(row[name]):
        return "-"
    digits = decimals_for(spread, error) if spread > 0 else 4
    return f"{row[name]:z.{min(digits, 6)}f}"


def _learners(runs: CrossValidation) -> Iterator[dict[str, Any]]:
    """Estimates of every learner, of the iterations that it completed."""
    scores, size = runs.fold_scores, canonical_iterations(runs.fold_scores.folds)
    means = np.nan_to_num(scores.iteration_means()[0], nan=-np.inf)
    best = (means == means.max(axis=0)) & np.isfinite(means)
    shares = (best / best.sum(axis=0).clip(1)).mean(axis=1)
    state = {name: values[0].tolist() for name, values in vars(steady_state(scores)).items()}
    for j, name in enumerate(runs.learners):
        row = {
            "learner": name,
            "steady_state": state["mean"][j],
            "mcse": state["standard_error"][j],
            "canonical": state["canonical"][j] if size <= runs.n_iterations else np.nan,
            "sd_iterations": state["sd"][j],
            "median": state["median"][j],
        }
        if runs.n_classes == 2:
            pooled = runs.pooled_scores[j]
            known = pooled[np.isfinite(pooled)]
            row["pooled"] = float(known.mean()) if known.size else np.nan
        failed = int(np.isnan(scores.scores[0, j]).sum())
        yield row | {"share_best": float(shares[j]), "failed_fits": failed}
