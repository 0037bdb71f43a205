"""What the posterior says of learners: who is better, would another seed agree, what is missing.

``tests/crossval/test_summary_posterior.py`` compares with the draws.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.core.arguments import ASSURANCE, NOT_NEGATIVE, OPEN_SHARE
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.summary import diagnose, frame_of, how_drawn, summarize_draws
from bayes_sota.core.tables import SOFTWARE, ResultTable
from bayes_sota.core.text import chance, counted, decimals_for, listed
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.correlated_t import iterations_needed, partition_share
from bayes_sota.crossval.sample import best_learners

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

SOURCE = f"{SOFTWARE}, after Corani et al. 2017, doi 10.1007/s10994-017-5641-9"
_EVERY = "all data sets"


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparisonReport(ResultTable):
    """Comparison of learners in words, as a table and as plain numbers.

    Attributes
    ----------
    learners : list of dict
        ``learner``, ``effect`` relative to the mean over learners, ``interval``, ``p_best`` and
        its Monte Carlo standard error ``p_best_mcse``.
    pairs : list of dict
        Of every two learners A and B over all data sets (``task`` None, where there are several)
        and on each one: ``difference``, ``sd``, ``interval``, ``p_better`` (of A), ``rope``,
        ``p_other_seed``, and on one data set ``observed_difference``, ``iterations``,
        ``partition_share``, ``decided``, ``iterations_needed``.
    tasks : tuple of str
    ci_prob, threshold : float
    how : str
        Method, draws and seed.
    correlation : float
        rho of fold scores that was assumed, its mean where it has a prior.
    scorer : str
    n_draws : int
    notes, reasons : tuple of str
    """

    learners: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    tasks: tuple[str, ...]
    ci_prob: float
    threshold: float
    how: str
    correlation: float
    scorer: str
    n_draws: int
    notes: tuple[str, ...]
    reasons: tuple[str, ...]
    measured = "learners"
    text_columns = ("task", "a", "b")

    @property
    def frame(self) -> "pd.DataFrame":
        """One row per pair and data set, those over all data sets first and without a name."""
        rows = []
        for pair in self.pairs:
            low, high = pair["interval"]
            kept = {k: v for k, v in pair.items() if k not in ("interval", "rope")}
            found = {"task": pair["task"] or "", "lower": low, "upper": high}
            rows.append(kept | found | (pair["rope"] or {}))
        return frame_of(rows)

    def to_dict(self) -> dict[str, Any]:
        plain = ("learners", "pairs", "scorer", "threshold", "correlation")
        return {
            **{name: getattr(self, name) for name in plain},
            "prob": self.ci_prob,
            "notes": list(self.notes),
            "text": self.text,
        }

    def header(self) -> list[str]:
        interval = f"{self.ci_prob:.0%} interval"
        return ["data set", "A", "B", "A - B", interval, "P(A better)", "P(other seed)", "more"]

    def cells(self, top: int | None = None) -> list[list[str]]:
        return [self._row(pair) for pair in self.pairs[:top]]

    def _row(self, pair: dict[str, Any]) -> list[str]:
        digits = decimals_for(pair["sd"])
        low, high = pair["interval"]
        return [
            pair["task"] or _EVERY,
            pair["a"],
            pair["b"],
            f"{pair['difference']:z.{digits}f}",
            f"{low:z.{digits}f} to {high:z.{digits}f}",
            self._chance(pair["p_better"]),
            self._chance(pair["p_other_seed"]),
            _more(pair),
        ]

    def _chance(self, p: float) -> str:
        return chance(p, share_mcse(p, self.n_draws / 2))  # draws of NUTS depend on each other

    def legend(self, top: int | None = None) -> list[str]:
        return [
            "P(other seed): probability that one more canonical run orders the two otherwise. "
            f"more: iterations that P(ordering) of {self.threshold:g} still takes, 'data' where "
            "no number of them is enough."
        ]

    def sentences(self) -> list[str]:
        return [*self._answer(), *self._about_partitions()]

    def _answer(self) -> Iterator[str]:
        """Who is the best, and how far the ordering is decided."""
        best = max(self.learners, key=lambda row: row["p_best"])
        others = len(self.learners) - 1
        where = (
            f"over {len(self.tasks)} data sets" if len(self.tasks) > 1 else f"on {self.tasks[0]}"
        )
        yield (
            f"{best['learner']} is the best of {others + 1} learners {where} with probability "
            f"{chance(best['p_best'], best['p_best_mcse'])}."
        )
        rows = [p for p in self.pairs if p["task"] is None] or self.pairs
        open_ = [p for p in rows if max(p["p_better"], 1 - p["p_better"]) < self.threshold]
        if open_:
            names = listed([f"{p['a']} with {p['b']}" for p in open_], 4)
            yield (
                f"The order of {counted(len(open_), 'pair')} of {len(rows)} is open at "
                f"{self.threshold:g}: {names}."
            )
        else:
            yield f"The order of every pair is decided at {self.threshold:g}."

    def _about_partitions(self) -> Iterator[str]:
        """What another seed would say, and what repetition cannot remove."""
        rows = [p for p in self.pairs if p["task"] is not None]
        worst = max(rows, key=lambda p: p["p_other_seed"])
        mean = self._chance(float(np.mean([p["p_other_seed"] for p in rows])))
        yield (
            "One more canonical run (about ten fits, the size that papers report) would order two "
            f"learners on one data set otherwise with probability {mean} in the mean, most often "
            f"{worst['a']} and {worst['b']} on {worst['task']} "
            f"({self._chance(worst['p_other_seed'])})."
        )
        share = float(np.median([p["partition_share"] for p in rows]))
        stuck = sum(not p["decided"] and p["iterations_needed"] is None for p in rows)
        later = sum(not p["decided"] and p["iterations_needed"] is not None for p in rows)
        yield (
            f"Partitions cause {share:.1%} of the variance of a difference (median); the rest is "
            "the size of the data, which repetition cannot remove."
        )
        yield (
            f"Of {counted(len(rows), 'comparison')} on single data sets, "
            f"decided are {len(rows) - stuck - later}, {later} would be by more iterations, and "
            f"{stuck} by more data only."
        )

    def basis(self) -> list[str]:
        return [self.how, f"correlation of fold scores taken as {self.correlation:.3g}", SOURCE]


def report_comparison(
    tree: "xr.DataTree",
    *,
    ci_prob: float = 0.95,
    rope: float | None = None,
    threshold: float = 0.95,
) -> ComparisonReport:
    """Report of a comparison of learners (``sample_comparison``).

    Parameters
    ----------
    tree : DataTree
    ci_prob : float
        Probability of the intervals.
    rope : float, optional
        Half-width of practical equivalence, in units of the score.
    threshold : float
        Probability of an ordering that counts as decided.

    Returns
    -------
    ComparisonReport
    """
    OPEN_SHARE.check(ci_prob, "ci_prob")
    ASSURANCE.check(threshold, "threshold")
    if rope is not None:
        NOT_NEGATIVE.check(rope, "rope")
    posterior = tree["posterior"].to_dataset()
    names = [str(name) for name in posterior["learner"].values]
    tasks = tuple(str(name) for name in posterior["task"].values)
    pairs = list(combinations(range(len(names)), 2))
    rows = []
    if len(tasks) > 1:
        rows = [_over_tasks(tree, k, ci_prob, rope) for k in range(len(pairs))]
    rows += [
        _on_task(tree, t, k, pair, ci_prob, rope, threshold)
        for t in range(len(tasks))
        for k, pair in enumerate(pairs)
    ]
    for row, (a, b) in zip(rows, pairs * (len(rows) // len(pairs)), strict=True):
        row.update(a=names[a], b=names[b])
    dropped = int(tree.attrs["dropped_iterations"])
    notes = [f"{counted(dropped, 'iteration')} that a learner did not complete are left out"]
    return ComparisonReport(
        learners=_learners(tree, names, ci_prob),
        pairs=rows,
        tasks=tasks,
        ci_prob=ci_prob,
        threshold=threshold,
        how=how_drawn(tree),
        correlation=_correlation(tree),
        scorer=str(tree.attrs["scorer"]),
        n_draws=posterior.sizes["chain"] * posterior.sizes["draw"],
        notes=tuple(notes * (dropped > 0)),
        reasons=tuple(diagnose(tree)["reasons"]),
    )


def _draws(tree: "xr.DataTree", name: str, group: str = "posterior") -> FloatArray:
    """Draws of a variable, (chain * draw, ...)."""
    values = tree[group].to_dataset()[name].transpose("chain", "draw", ...).values
    return np.asarray(values.reshape(-1, *values.shape[2:]))


def _correlation(tree: "xr.DataTree") -> float:
    group = "posterior" if "overlap_correlation" in tree["posterior"] else "constant_data"
    return float(tree[group].to_dataset()["overlap_correlation"].mean())


def _learners(tree: "xr.DataTree", names: list[str], ci_prob: float) -> list[dict[str, Any]]:
    """Over all data sets; of a single one what holds on it."""
    posterior = tree["posterior"].to_dataset()
    alone = posterior.sizes["task"] == 1
    effect = posterior["task_effect"].isel(task=0) if alone else posterior["learner_effect"]
    best = best_learners(effect)
    columns = effect.transpose("learner", "chain", "draw").values.reshape(len(names), -1)
    return [
        {"learner": name, "effect": found["mean"], "interval": found["interval"],
         "p_best": float(best["p_best"][j]), "p_best_mcse": float(best["p_best_mcse"][j])}
        for j, name in enumerate(names)
        for found in [summarize_draws(columns[j], ci_prob)]
    ]  # fmt: skip


def _difference(draws: FloatArray, ci_prob: float, rope: float | None) -> dict[str, Any]:
    found = summarize_draws(draws, ci_prob)
    region = None
    if rope is not None:
        region = {
            "a_better": float(np.mean(draws > rope)),
            "equivalent": float(np.mean(np.abs(draws) <= rope)),
            "b_better": float(np.mean(draws < -rope)),
        }
    return {
        "difference": found["mean"], "sd": found["sd"], "interval": found["interval"],
        "p_better": float(np.mean(draws > 0)), "rope": region,
    }  # fmt: skip


def _other_seed(again: FloatArray, observed: float) -> float:
    """Share of runs whose sign is not the observed one; ties by half."""
    return float(np.mean(again * np.sign(observed) < 0) + np.mean(again * observed == 0) / 2)


def _over_tasks(tree: "xr.DataTree", k: int, ci_prob: float, rope: float | None) -> dict[str, Any]:
    observed = tree["constant_data"]["observed_difference"].values[:, k].mean()
    again = _draws(tree, "canonical_difference", "predictions")[:, :, k].mean(axis=1)
    found = _difference(_draws(tree, "difference")[:, k], ci_prob, rope)
    return {"task": None, "a": "", "b": "", **found, "p_other_seed": _other_seed(again, observed)}


def _on_task(
    tree: "xr.DataTree",
    t: int,
    k: int,
    pair: tuple[int, int],
    ci_prob: float,
    rope: float | None,
    threshold: float,
) -> dict[str, Any]:
    constants = tree["constant_data"].to_dataset()
    observed = float(constants["observed_difference"].values[t, k])
    iterations = int(constants["n_iterations"].values[t])
    found = _difference(_draws(tree, "task_difference")[:, t, k], ci_prob, rope)
    places = list(pair)
    partition, data = (
        float((_draws(tree, name)[:, t, places] ** 2).sum(axis=1).mean())
        for name in ("partition_sd", "shared_sd")
    )
    again = _draws(tree, "canonical_difference", "predictions")[:, t, k]
    return {
        "task": str(tree["posterior"]["task"].values[t]), "a": "", "b": "", **found,
        "p_other_seed": _other_seed(again, observed), "observed_difference": observed,
        "iterations": iterations,
        "partition_share": float(partition_share(partition / iterations, data)),
        "decided": max(found["p_better"], 1 - found["p_better"]) >= threshold,
        "iterations_needed": iterations_needed(
            found["difference"] * (data + partition / iterations) ** 0.5 / found["sd"],
            partition**0.5, data**0.5, threshold,
        ),
    }  # fmt: skip


def _more(pair: dict[str, Any]) -> str:
    """Iterations that are still missing, where that can be said."""
    if pair["task"] is None:
        return ""
    if pair["decided"]:
        return "0"
    if pair["iterations_needed"] is None:
        return "data"
    return f"{max(1, pair['iterations_needed'] - pair['iterations']):,}"
