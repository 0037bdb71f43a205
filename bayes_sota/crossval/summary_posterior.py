"""The posterior of learners in words: who is better, would another seed agree, what is missing.

``tests/crossval/test_summary_posterior.py`` compares with the draws.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import share_of_draws
from bayes_sota.core.summary import Difference, diagnose, frame_of, how_drawn, summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import chance, counted, listed
from bayes_sota.crossval.correlated_t import iterations_needed, partition_share
from bayes_sota.crossval.reproducibility import KEPT
from bayes_sota.crossval.summary_words import forms_table, still_missing

if TYPE_CHECKING:
    import xarray as xr

SOURCE = f"{SOFTWARE}, after Corani et al. 2017, doi 10.1007/s10994-017-5641-9"


def report_comparison(
    tree: "xr.DataTree", *, ci_prob: float = 0.95, reading: Sequence[str] = ()
) -> Report:
    """Report of a comparison of learners (``sample_comparison``).

    Parameters
    ----------
    tree : DataTree
    ci_prob : float
        Probability of the intervals.
    reading : sequence of str
        How the scores were read, for the notes.

    Returns
    -------
    Report
        Its ``content`` has ``learners`` (``learner``, ``effect`` relative to the mean over
        learners, ``interval``, ``p_best`` and its Monte Carlo standard error ``p_best_mcse``) and
        ``pairs``: of every two learners A and B over all data sets (``task`` "", where there are
        several) and on each one ``difference``, ``sd``, ``interval``, ``p_better`` (of A),
        ``p_other_seed``, and on one data set ``observed_difference``, ``iterations``,
        ``partition_share``, ``decided``, ``iterations_needed``. Its ``frame`` has a row per pair
        and data set, those over all data sets first and without a name.
    """
    posterior = tree["posterior"].to_dataset()
    names, tasks = (posterior[dim].values.astype(str).tolist() for dim in ("learner", "task"))
    several = len(tasks) > 1
    places: list[int | None] = [*([None] if several else []), *range(len(tasks))]
    pairs = [
        {"task": "" if t is None else tasks[t], "a": names[a], "b": names[b]}
        | _compared(tree, t, k, [a, b], ci_prob)
        for t in places
        for k, (a, b) in enumerate(combinations(range(len(names)), 2))
    ]
    notes = list(reading)
    if dropped := int(tree.attrs["dropped_iterations"]):
        notes.append(f"{counted(dropped, 'iteration')} that not all learners completed")
    effect = posterior["learner_effect"] if several else posterior["task_effect"].isel(task=0)
    best = share_of_draws(effect == effect.max("learner"), "p_best")
    learners = [
        {"learner": name, "effect": found["mean"], "interval": found["interval"]}
        | {key: float(best[key][j]) for key in ("p_best", "p_best_mcse")}
        for j, name in enumerate(names)
        for found in [summarize_draws(effect.isel(learner=j).values.ravel(), ci_prob)]
    ]
    correlation = float(tree["constant_data"]["overlap_correlation"])
    likely = partial(_likely, n_draws=posterior.sizes["chain"] * posterior.sizes["draw"])
    rows = [
        {
            **pair,
            "task": pair["task"] or "all data sets",
            "interval": "{:.2g} to {:.2g}".format(*pair["interval"]),
            **{key: likely(pair[key]) for key in ("p_better", "p_other_seed")},
            "more": still_missing(pair, pair["iterations"]) if pair["task"] else "",
        }
        for pair in pairs
    ]
    return Report(
        content={
            "learners": learners,
            "pairs": pairs,
            "scorer": str(tree.attrs["scorer"]),
            "correlation": correlation,
            "prob": ci_prob,
            "notes": notes,
        },
        make_frame=partial(frame_of, [_plain(pair) for pair in pairs]),
        tables=[forms_table(rows, "task a b difference:.2g interval p_better p_other_seed more")],
        sentences=[*_sentences(learners, pairs, tasks, likely)],
        legend=[
            "p other seed: that one more canonical run reverses the two; more: iterations until "
            f"P(order) is {KEPT:g}."
        ],
        notes=notes,
        reasons=diagnose(tree)["reasons"],
        basis=[how_drawn(tree), f"correlation of fold scores taken as {correlation:.3g}", SOURCE],
        measured="learners",
        about=tree,
    )


def _plain(pair: dict[str, Any]) -> dict[str, Any]:
    """A row of the frame: numbers alone."""
    low, high = pair["interval"]
    return {k: v for k, v in pair.items() if k != "interval"} | {"lower": low, "upper": high}


def _likely(p: float, n_draws: int) -> str:
    """A probability by draws of NUTS, which depend on each other."""
    return chance(p, share_mcse(p, n_draws / 2))


def _sentences(
    learners: list[dict[str, Any]],
    pairs: list[dict[str, Any]],
    tasks: list[str],
    likely: Callable[[float], str],
) -> Iterator[str]:
    """Who is the best, which orders are decided, and how often another seed would disagree."""
    best = max(learners, key=lambda row: row["p_best"])
    where = f"over {len(tasks)} data sets" if len(tasks) > 1 else f"on {tasks[0]}"
    yield (
        f"{best['learner']} is the best of {len(learners)} learners {where} with probability "
        f"{chance(best['p_best'], best['p_best_mcse'])}."
    )
    judged = [p for p in pairs if not p["task"]] or pairs
    left = [p for p in judged if max(p["p_better"], 1 - p["p_better"]) < KEPT]
    names = listed([f"{p['a']} with {p['b']}" for p in left], 4)
    yield (
        f"The order of {counted(len(left), 'pair')} of {len(judged)} is open at {KEPT:g}: {names}."
        if left
        else f"The order of every pair is decided at {KEPT:g}."
    )
    alone = [pair for pair in pairs if pair["task"]]
    other = likely(float(np.mean([p["p_other_seed"] for p in alone])))
    share = float(np.median([p["partition_share"] for p in alone]))
    yield (
        "One more canonical run (about ten fits) would reverse two learners on one data set with "
        f"probability {other} on average. Partitions cause {share:.1%} of the variance of a "
        "difference (median); the rest is the size of the data, which repetition cannot remove."
    )


def _compared(
    tree: "xr.DataTree", task: int | None, pair: int, both: list[int], ci_prob: float
) -> dict[str, Any]:
    """A pair on one data set, or over all."""
    place = {"pair": pair} | ({} if task is None else {"task": task})
    posterior, again, constants = (
        tree[group].to_dataset().isel(place, missing_dims="ignore")
        for group in ("posterior", "predictions", "constant_data")
    )
    difference = posterior["difference" if task is None else "task_difference"].values
    found = Difference(difference.ravel()).to_dict(ci_prob)
    at = float(constants["observed_difference"].mean())
    runs = again["canonical_difference"]
    run = (runs.mean("task") if task is None else runs).values * at
    other = float(np.mean(run < 0) + np.mean(run == 0) / 2)
    compared = {"difference": found.pop("mean"), **found, "p_other_seed": other}
    if task is None:
        return compared
    n = int(constants["n_iterations"])
    partition, data = (
        float((posterior[name].isel(learner=both) ** 2).sum("learner").mean())
        for name in ("partition_sd", "shared_sd")
    )
    steady = compared["difference"] * (data + partition / n) ** 0.5 / compared["sd"]
    p = compared["p_better"]
    return compared | {
        "observed_difference": at,
        "iterations": n,
        "partition_share": float(partition_share(partition / n, data)),
        "decided": max(p, 1 - p) >= KEPT,
        "iterations_needed": iterations_needed(steady, partition**0.5, data**0.5, KEPT),
    }
