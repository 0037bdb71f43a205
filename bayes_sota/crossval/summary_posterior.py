"""What the posterior says of learners: who is better, would another seed agree, what is missing.

``tests/crossval/test_summary_posterior.py`` compares with the draws.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import OPEN_SHARE
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import share_of_draws
from bayes_sota.core.summary import diagnose, frame_of, how_drawn, summarize_draws
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import chance, counted, decimals_for, listed
from bayes_sota.crossval.correlated_t import iterations_needed, partition_share
from bayes_sota.crossval.reproducibility import KEPT
from bayes_sota.crossval.summary_words import still_missing

if TYPE_CHECKING:
    import xarray as xr

SOURCE = f"{SOFTWARE}, after Corani et al. 2017, doi 10.1007/s10994-017-5641-9"


def report_comparison(
    tree: "xr.DataTree",
    *,
    ci_prob: float = 0.95,
    reading: Sequence[str] = (),
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
        ``pairs``: of every two learners A and B over all data sets (``task`` None, where there are
        several) and on each one ``difference``, ``sd``, ``interval``, ``p_better`` (of A),
        ``rope``, ``p_other_seed``, and on one data set ``observed_difference``, ``iterations``,
        ``partition_share``, ``decided``, ``iterations_needed``. Its ``frame`` has a row per pair
        and data set, those over all data sets first and without a name.
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    posterior = tree["posterior"].to_dataset()
    names = [str(name) for name in posterior["learner"].values]
    tasks = [str(name) for name in posterior["task"].values]
    places: list[int | None] = [None] * (len(tasks) > 1)
    rows = [
        {"task": None if t is None else tasks[t], "a": a, "b": b} | _compared(tree, t, k, ci_prob)
        for t in [*places, *range(len(tasks))]
        for k, (a, b) in enumerate(combinations(names, 2))
    ]
    notes = list(reading)
    if dropped := int(tree.attrs["dropped_iterations"]):
        left_out = counted(dropped, "iteration")
        notes.append(f"{left_out} that a learner did not complete are left out")
    correlation = float(tree["constant_data"]["overlap_correlation"])
    learners = _learners(tree, names, ci_prob)
    n_draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    likely = partial(_likely, n_draws=n_draws)
    return Report(
        content={
            "learners": learners,
            "pairs": rows,
            "scorer": str(tree.attrs["scorer"]),
            "correlation": correlation,
            "prob": ci_prob,
            "notes": notes,
        },
        make_frame=partial(frame_of, [_plain(pair) for pair in rows]),
        tables=[Table.of([_cells(pair, ci_prob, likely) for pair in rows])],
        sentences=[
            *_answer(learners, rows, tasks),
            *_about_partitions([pair for pair in rows if pair["task"] is not None], likely),
        ],
        legend=[
            "P(other seed): probability that one more canonical run orders the two otherwise. "
            f"more: iterations that P(ordering) of {KEPT:g} still takes, 'data' where no "
            "number of them is enough."
        ],
        notes=notes,
        reasons=diagnose(tree)["reasons"],
        basis=[how_drawn(tree), f"correlation of fold scores taken as {correlation:.3g}", SOURCE],
        measured="learners",
        about=tree,
    )


def _likely(p: float, n_draws: int) -> str:
    """A probability by draws of NUTS, which depend on each other."""
    return chance(p, share_mcse(p, n_draws / 2))


def _plain(pair: dict[str, Any]) -> dict[str, Any]:
    """A row of the frame: numbers alone."""
    low, high = pair["interval"]
    kept = {k: v for k, v in pair.items() if k != "interval"}
    return kept | {"task": pair["task"] or "", "lower": low, "upper": high}


def _cells(pair: dict[str, Any], ci_prob: float, likely: Callable[[float], str]) -> dict[str, str]:
    digits = decimals_for(pair["sd"])
    low, high = pair["interval"]
    return {
        "data set": pair["task"] or "all data sets",
        "A": pair["a"],
        "B": pair["b"],
        "A - B": f"{pair['difference']:z.{digits}f}",
        f"{ci_prob:.0%} interval": f"{low:z.{digits}f} to {high:z.{digits}f}",
        "P(A better)": likely(pair["p_better"]),
        "P(other seed)": likely(pair["p_other_seed"]),
        "more": "" if pair["task"] is None else still_missing(pair, pair["iterations"]),
    }


def _answer(
    learners: list[dict[str, Any]], pairs: list[dict[str, Any]], tasks: list[str]
) -> Iterator[str]:
    """Who is the best, and how far the ordering is decided."""
    best = max(learners, key=lambda row: row["p_best"])
    where = f"over {len(tasks)} data sets" if len(tasks) > 1 else f"on {tasks[0]}"
    yield (
        f"{best['learner']} is the best of {len(learners)} learners {where} with probability "
        f"{chance(best['p_best'], best['p_best_mcse'])}."
    )
    rows = [p for p in pairs if p["task"] is None] or pairs
    open_ = [p for p in rows if max(p["p_better"], 1 - p["p_better"]) < KEPT]
    if open_:
        names = listed([f"{p['a']} with {p['b']}" for p in open_], 4)
        yield (
            f"The order of {counted(len(open_), 'pair')} of {len(rows)} is open at "
            f"{KEPT:g}: {names}."
        )
    else:
        yield f"The order of every pair is decided at {KEPT:g}."


def _about_partitions(rows: list[dict[str, Any]], likely: Callable[[float], str]) -> Iterator[str]:
    """What another seed would say, and what repetition cannot remove."""
    worst = max(rows, key=lambda p: p["p_other_seed"])
    mean = likely(float(np.mean([p["p_other_seed"] for p in rows])))
    yield (
        "One more canonical run (about ten fits, the size that papers report) would order two "
        f"learners on one data set otherwise with probability {mean} in the mean, most often "
        f"{worst['a']} and {worst['b']} on {worst['task']} ({likely(worst['p_other_seed'])})."
    )
    share = float(np.median([p["partition_share"] for p in rows]))
    yield (
        f"Partitions cause {share:.1%} of the variance of a difference (median); the rest is "
        "the size of the data, which repetition cannot remove."
    )
    open_ = [p["iterations_needed"] for p in rows if not p["decided"]]
    stuck = open_.count(None)
    yield (
        f"Of {counted(len(rows), 'comparison')} on single data sets, decided are "
        f"{len(rows) - len(open_)}, {len(open_) - stuck} would be by more iterations, and "
        f"{stuck} by more data only."
    )


def _learners(tree: "xr.DataTree", names: list[str], ci_prob: float) -> list[dict[str, Any]]:
    """Over all data sets; of a single one what holds on it."""
    posterior = tree["posterior"].to_dataset()
    alone = posterior.sizes["task"] == 1
    effect = posterior["task_effect"].isel(task=0) if alone else posterior["learner_effect"]
    best = share_of_draws(effect == effect.max("learner"), "p_best")
    columns = effect.transpose("learner", "chain", "draw").values.reshape(len(names), -1)
    rows = []
    for j, name in enumerate(names):
        summary = summarize_draws(columns[j], ci_prob)
        row = {"learner": name, "effect": summary["mean"], "interval": summary["interval"]}
        rows.append(row | {key: float(best[key][j]) for key in ("p_best", "p_best_mcse")})
    return rows


def _compared(
    tree: "xr.DataTree",
    task: int | None,
    pair: int,
    ci_prob: float,
) -> dict[str, Any]:
    """A pair on one data set, or over all."""
    place = {"pair": pair} | ({} if task is None else {"task": task})
    posterior, again, constants = (
        tree[group]
        .to_dataset()
        .isel(place, missing_dims="ignore")
        .transpose("chain", "draw", ..., missing_dims="ignore")
        for group in ("posterior", "predictions", "constant_data")
    )
    difference = posterior["difference" if task is None else "task_difference"].values.ravel()
    told, at = summarize_draws(difference, ci_prob), float(constants["observed_difference"].mean())
    run = again["canonical_difference"].values
    run = run.mean(axis=2) if task is None else run
    p = float(np.mean(difference > 0))
    compared = {
        "difference": told["mean"],
        "sd": told["sd"],
        "interval": told["interval"],
        "p_better": p,
        "p_other_seed": float(np.mean(run * np.sign(at) < 0) + np.mean(run * at == 0) / 2),
    }
    if task is None:
        return compared
    iterations = int(constants["n_iterations"])
    both = list(list(combinations(range(posterior.sizes["learner"]), 2))[pair])
    partition, data = (
        float((posterior[name].values[..., both] ** 2).sum(axis=-1).mean())
        for name in ("partition_sd", "shared_sd")
    )
    whole = data + partition / iterations
    steady = told["mean"] * whole**0.5 / told["sd"]
    return compared | {
        "observed_difference": at,
        "iterations": iterations,
        "partition_share": float(partition_share(partition / iterations, data)),
        "decided": max(p, 1 - p) >= KEPT,
        "iterations_needed": iterations_needed(steady, partition**0.5, data**0.5, KEPT),
    }
