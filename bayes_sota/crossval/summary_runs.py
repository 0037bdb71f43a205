"""What an experiment with repeated cross-validation found, in numbers and words.

The *steady state* of a learner is the mean over all iterations, each of which has the mean over its
folds; ``mcse``, the standard deviation between iterations over the root of their number, is what
the partitions still leave open. A *canonical* run has as many iterations as make ten fits: 1 x 10,
2 x 5 and 5 x 2 folds (Raeder, Hoens & Chawla 2010). ``tests/crossval/test_summary_runs.py``
computes them by hand.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.tables import SOFTWARE, ResultTable
from bayes_sota.core.text import as_sentences, counted, decimals_for, listed
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.run import CrossValidation
from bayes_sota.crossval.shape import canonical_iterations, sample_sd
from bayes_sota.data.fold_scores import score_name

if TYPE_CHECKING:
    import pandas as pd

_CITED = "steady state after Raeder, Hoens and Chawla 2010, Consequences of variability in "
_CITED += "classifier performance estimates"
_NUMBERS = ("steady_state", "canonical", "sd_iterations", "median", "pooled")


@dataclass(frozen=True, eq=False)
class RunsReport(ResultTable):
    """Estimates of learners, the highest steady state first.

    Attributes
    ----------
    frame : pandas.DataFrame
        A row for each learner: ``steady_state`` with its ``mcse``, ``canonical``,
        ``sd_iterations``, ``median``, ``pooled`` (AUROC of all items of an iteration, mean over
        iterations), ``share_best`` (of the iterations, ties divided), ``failed_fits``.
    content : dict
        What ``bayes-sota cv run --json`` prints.
    notes, reasons : tuple of str
    """

    text_columns = ("learner",)

    frame: "pd.DataFrame"
    content: dict[str, Any]
    notes: tuple[str, ...]
    reasons: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        return self.content | {"text": self.text}

    def sentences(self) -> list[str]:
        """The answer: who is best, how sure that is, and what repetition cannot tell."""
        first, *rest = self.frame.to_dict("records")
        n, k = self.content["iterations"], self.content["folds"]
        how = f"over {counted(n, 'random partition')} into {k} folds"
        score = f"{'the highest' if rest else 'a'} mean {score_name(self.content['scoring'])}"
        number = _number(first, "steady_state")
        said = [f"On {self.content['task']}, {first['learner']} has {score}, {number}, {how}."]
        if rest:
            times = first["share_best"] * n
            said.append(
                f"{rest[0]['learner']} follows with {_number(rest[0], 'steady_state')}; "
                f"{first['learner']} was the best in {times:g} of {counted(n, 'partition')}."
            )
        if n > 1:
            said.append(
                f"From one partition to another the score of {first['learner']} varies by "
                f"{first['sd_iterations']:.2g} (sd), the mean of {n} by {first['mcse']:.1g} "
                "(standard error)."
            )
        items = self.content["n_items"]
        return [
            *said,
            "Repetition removes the noise of the partitions, not that of having only "
            f"{counted(items, 'item')}.",
        ]

    def header(self) -> list[str]:
        """Names of the columns."""
        size = f"{self.content['canonical_iterations']}x{self.content['folds']}"
        shown = ["learner", "steady state", f"canonical ({size})", "sd of iterations", "median"]
        return [*shown, "pooled AUROC", "best in"]

    def cells(self, top: int | None = None) -> list[list[str]]:
        """Text of the rows."""
        return [
            [
                row["learner"],
                *(_number(row, name) for name in _NUMBERS),
                f"{row['share_best']:.0%}",
            ]
            for row in self.frame[:top].to_dict("records")
        ]

    def legend(self, top: int | None = None) -> list[str]:
        """What the columns are."""
        what = (
            f"steady state: mean {score_name(self.content['scoring'])} over all partitions; "
            "canonical: of the first partitions alone, which make about ten fits, the size that "
            "papers report; pooled: AUROC of all items at once; best in: share of partitions in "
            "which the learner comes first"
        )
        return [what]

    def basis(self) -> list[str]:
        """Version and source."""
        size = f"{self.content['iterations']} x {self.content['folds']} stratified folds"
        return [f"{size}, seed {self.content['seed']}", SOFTWARE, _CITED]

    def paragraph(self) -> list[str]:
        """Sentences for a paper."""
        return [*self.sentences(), *as_sentences(self.notes)]


def _number(row: dict[str, Any], name: str) -> str:
    """A score with the digits that it supports."""
    spread = row["sd_iterations"]
    error = row["mcse"] if np.isfinite(row["mcse"]) else 0.0
    if not np.isfinite(row[name]):
        return "-"
    digits = decimals_for(spread, error) if np.isfinite(spread) and spread > 0 else 4
    return f"{row[name]:z.{min(digits, 6)}f}"


def describe_runs(runs: CrossValidation) -> RunsReport:
    """Describe repeated cross-validation of one data set.

    Parameters
    ----------
    runs : CrossValidation

    Returns
    -------
    RunsReport
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
    >>> describe_runs(runs).sentences()[0]
    'On tumours, nb has a mean AUROC, 0.9875, over 2 random partitions into 5 folds.'
    """
    import pandas as pd

    frame = pd.DataFrame(_rows(runs))
    frame = frame.sort_values("steady_state", ascending=False, kind="stable", ignore_index=True)
    failed = frame.loc[frame["failed_fits"] > 0, "learner"].tolist()
    reasons = [f"fits of {listed(failed)} failed"] if failed else []
    if not runs.decided:
        tried = counted(runs.n_iterations, "iteration")
        reasons.append(f"the rule {runs.rule} was not met in {tried}")
    data, counts = runs.fold_scores, np.bincount(runs.truth, minlength=2)
    content = {
        "task": data.tasks[0],
        "n_items": int(counts.sum()),
        "n_positive": int(counts[1]),
        "scoring": data.scorer,
        "folds": data.folds,
        "iterations": runs.n_iterations,
        "canonical_iterations": canonical_iterations(data.folds),
        "rule": {"name": runs.rule, "decided": runs.decided},
        "learners": frame.to_dict("records"),
        "seed": runs.random_seed,
        "partition_seeds": list(runs.partition_seeds),
        "notes": list(runs.notes),
        "diagnostics": {"ok": not reasons, "reasons": reasons},
    }
    return RunsReport(frame, content, runs.notes, tuple(reasons))


def _rows(runs: CrossValidation) -> list[dict[str, Any]]:
    scores = runs.fold_scores.scores[0]
    means = _mean(scores, 2)
    canonical = canonical_iterations(runs.fold_scores.folds)
    best = means == np.where(np.isnan(means), -np.inf, means).max(axis=0)
    shares = (best / np.maximum(best.sum(axis=0), 1)).mean(axis=1)
    nan = float("nan")
    rows = []
    for j, name in enumerate(runs.learners):
        known = means[j][~np.isnan(means[j])]
        sd = sample_sd(known)
        enough = canonical <= runs.n_iterations
        rows.append({
            "learner": name,
            "steady_state": float(known.mean()),
            "mcse": sd / known.size**0.5,
            "canonical": float(_mean(means[j, :canonical], 0)) if enough else nan,
            "sd_iterations": sd,
            "median": float(np.median(known)),
            "pooled": float(_mean(runs.pooled_scores[j], 0)),
            "share_best": float(shares[j]),
            "failed_fits": int(np.isnan(scores[j]).sum()),
        })  # fmt: skip
    return rows


def _mean(values: FloatArray, axis: int) -> FloatArray:
    """Mean of what is there, NaN where nothing is."""
    found = np.ma.masked_invalid(values).mean(axis=axis)
    return np.asarray(np.ma.filled(found, np.nan), float)
