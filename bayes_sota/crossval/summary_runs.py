"""Reports of ``bayes-sota cv run``, and of ``cv judge --bayes``.

``tests/crossval/test_summary_runs.py`` computes the first by hand and the second from its draws.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core import summary
from bayes_sota.core.errors import InputError
from bayes_sota.core.schema import dataset_of
from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import as_sentences, counted, in_prose, listed
from bayes_sota.crossval.estimates import canonical_iterations, learner_rows
from bayes_sota.crossval.rules import KEPT, outlook
from bayes_sota.crossval.run import CrossValidation
from bayes_sota.crossval.sample import compared_effects
from bayes_sota.crossval.summary import flat_pair, forms_table, score_name

if TYPE_CHECKING:
    import xarray as xr


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
        ``judge_runs``, ``share_best`` (of the iterations, ties divided) and ``failed_fits``.
        ``reasons`` are failed fits, and a rule that was not met.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> data = load_breast_cancer(return_X_y=True)
    >>> runs = bs.repeated_cross_validation({"nb": GaussianNB()}, *data, folds=5, iterations=2)
    >>> describe_runs(runs).sentences[0]
    'On data, nb has the highest mean AUROC, 0.9875, over 2 random partitions.'
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
    sentences = list(_sentences_of_runs(content))
    how = f"{runs.n_iterations} x {data.folds} folds, seed {runs.random_seed}"
    return Report(
        content=content,
        make_frame=partial(frame_of, learners),
        tables=[forms_table(learners, forms)],
        sentences=sentences,
        legend=["canonical: mean of the first ten fits"],
        reasons=reasons,
        paragraph=[*sentences, *as_sentences(runs.notes)],
        basis=[how, SOFTWARE, "steady state after Raeder, Hoens and Chawla 2010"],
        about=runs,
    )


def _sentences_of_runs(content: dict[str, Any]) -> Iterator[str]:
    (first, *rest), n = content["learners"], content["n_iterations"]
    partitions, score = counted(n, "random partition"), score_name(content["scorer"])
    best = f"{first['learner']} has the highest mean {score}"
    best += f" of {len(rest) + 1} learners" * bool(rest)
    yield f"On {content['task']}, {best}, {first['steady']:.4g}, over {partitions}."
    if rest:
        lead = f"{first['learner']} was the best in {first['share_best'] * n:g} of {partitions}"
        yield f"{rest[0]['learner']} follows with {rest[0]['steady']:.4g}; {lead}."
    if n > 1:
        spread = f"{first['sd']:.2g} (sd), the mean of {n} by {first['standard_error']:.1g}"
        of = f"From one partition to another the score of {first['learner']} varies by"
        yield f"{of} {spread} (standard error)."
    yield f"Repetition does not remove the noise of having only {content['n_items']:,} items."


SOURCE = f"{SOFTWARE}, after Corani et al. 2017, doi 10.1007/s10994-017-5641-9"


def report_comparison(
    tree: "xr.DataTree", *, ci_prob: float = 0.95, reading: Sequence[str] = ()
) -> Report:
    """Report of a comparison of learners (``sample_comparison``).

    Parameters
    ----------
    tree : DataTree
    ci_prob : float
    reading : sequence of str
        How the scores were read, for the notes.

    Returns
    -------
    Report
        ``content`` has ``learners`` (``learner``, ``effect`` relative to the mean over learners,
        ``interval``, ``p_best`` and its Monte Carlo standard error ``p_best_mcse``) and ``pairs``:
        of every two learners A and B over all data sets and on each one ``difference``, ``sd``,
        ``interval``, ``p_better`` (of A), ``p_other_seed``, and on one data set
        ``observed_difference``, ``iterations``, ``partition_share``, ``decided``,
        ``iterations_needed``. ``frame`` has a row per pair and data set.
    """
    posterior, attributes = dataset_of(tree, "posterior"), tree.attrs
    if "task_difference" not in posterior:
        raise InputError("this is not a comparison of learners", fix="sample_comparison makes one")
    names, tasks = (posterior[dim].values.astype(str).tolist() for dim in ("learner", "task"))
    pairs = list(_pairs(tree, ci_prob))
    effect, best = compared_effects(posterior), tree["point_estimate"].to_dataset()
    learners = [
        {"learner": name, "effect": found["mean"], "interval": found["interval"]}
        | {key: float(best[key][j]) for key in ("p_best", "p_best_mcse")}
        for j, name in enumerate(names)
        for found in [summary.summarize_draws(effect.isel(learner=j).values.ravel(), ci_prob)]
    ]
    correlation = float(tree["constant_data"]["overlap_correlation"])
    rows = [flat_pair(pair, pair.get("iterations", 0)) for pair in pairs]
    forms = "task a b difference:.2g lower:.2g upper:.2g p_better:.2f p_other_seed:.2f more"
    return Report(
        content={
            "learners": learners,
            "pairs": pairs,
            "scorer": str(attributes["scorer"]),
            "correlation": correlation,
            "prob": ci_prob,
            "notes": list(reading),
        },
        make_frame=partial(summary.frame_of, rows),
        tables=[forms_table(rows, forms)],
        sentences=list(_sentences(learners, pairs, tasks)),
        legend=[f"p other seed: P(a new run reverses the order); more: iterations until {KEPT:g}."],
        reasons=summary.diagnose(tree)["reasons"],
        basis=[
            summary.how_drawn(tree),
            f"correlation of fold scores taken as {correlation:.3g}",
            SOURCE,
        ],
        measured="learners",
        about=tree,
    )


def _sentences(
    learners: list[dict[str, Any]], pairs: list[dict[str, Any]], tasks: list[str]
) -> Iterator[str]:
    best = max(learners, key=lambda row: row["p_best"])
    where = f"over {len(tasks)} data sets" if len(tasks) > 1 else f"on {tasks[0]}"
    p = in_prose(best["p_best"])
    yield f"{best['learner']} is the best of {len(learners)} learners {where} with probability {p}."
    alone = [pair for pair in pairs if "iterations" in pair]
    judged = [pair for pair in pairs if pair not in alone] or pairs
    left = [p for p in judged if max(p["p_better"], 1 - p["p_better"]) < KEPT]
    names = listed([f"{p['a']} with {p['b']}" for p in left], 4)
    open_ones = f"{len(left)} of {counted(len(judged), 'pair')} is undecided at {KEPT:g}: {names}"
    yield f"The order of {open_ones if left else f'every pair is decided at {KEPT:g}'}."
    other = in_prose(np.mean([p["p_other_seed"] for p in alone]))
    share = float(np.median([p["partition_share"] for p in alone]))
    yield (
        "One more canonical run (about ten fits) would reverse two learners on one data set with "
        f"probability {other} on average. Partitions cause {share:.1%} of the variance of a "
        "difference (median); the rest comes from the size of the data, whatever the repetitions."
    )


def _pairs(tree: "xr.DataTree", ci_prob: float) -> Iterator[dict[str, Any]]:
    posterior, constants = tree["posterior"].to_dataset(), tree["constant_data"].to_dataset()
    again = tree["predictions"].to_dataset()["canonical_difference"]
    both = again, constants["observed_difference"]
    tasks = posterior["task"].values.astype(str).tolist()
    places: list[dict[str, int]] = [{"task": t} for t in range(len(tasks))]
    places = [{}, *places] if len(tasks) > 1 else places
    for place in places:
        gaps = posterior["task_difference" if place else "difference"].isel(place)
        runs, seen = (one.isel(place) if place else one.mean("task") for one in both)
        for k, (a, b) in enumerate(combinations(posterior["learner"].values.astype(str), 2)):
            found = summary.summarize_difference(gaps.isel(pair=k).values.ravel(), ci_prob)
            run = runs.isel(pair=k).values * float(seen[k])
            task = tasks[place["task"]] if place else "all data sets"
            row: dict[str, Any] = {"task": task, "a": str(a), "b": str(b)}
            row |= {"difference": found.pop("mean"), **found}
            row |= {"p_other_seed": float(np.mean(run < 0) + np.mean(run == 0) / 2)}
            if place:
                n = int(constants["n_iterations"].isel(place))
                sds = posterior[["partition_sd", "shared_sd"]].isel(place).sel(learner=[a, b])
                of_both = (sds**2).sum("learner").mean()
                partition, data = float(of_both["partition_sd"]), float(of_both["shared_sd"])
                steady = row["difference"] * (data + partition / n) ** 0.5 / row["sd"]
                row |= {"observed_difference": float(seen[k]), "iterations": n}
                row |= outlook(row["p_better"], steady, partition, data, n)
            yield row
