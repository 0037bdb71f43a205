"""Reports of several methods on the same items: all that ``bayes-sota claim responses`` prints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota.claims.sample_exact import comparison_tree
from bayes_sota.claims.summary import claim_report, measured_of
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed, seed_number
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import as_sentences, chance, counted, decimals_for, listed
from bayes_sota.core.types import Seed
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.comparison import MethodComparison, compare_methods

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from bayes_sota.leaderboard.posterior import BoardPosterior


_DRAWS = 4000  # of the joint posterior


def report_methods(
    outcomes: Outcomes,
    methods: Sequence[str] | None = None,
    *,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    selection: bool = True,
    source: str = "",
    notes: Sequence[str] = (),
    random_seed: Seed = DEFAULT_SEED,
) -> Report:
    """Report of several methods on the same items: who is the best, and who is as good.

    Parameters
    ----------
    outcomes, methods, draws
        As in ``compare_methods``.
    ci_prob : float
        Probability of the intervals, and of the comparison with the winner.
    selection : bool
        Whether to correct for picking the winner: P(best) of the joint posterior of all skills,
        as ``board_table`` has it.
    source, notes : str, sequence of str
        Repeated in the report.
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> from bayes_sota import Outcomes
    >>> answers = Outcomes(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> report_methods(answers, selection=False, random_seed=0).content["tied_with_best"]
    ['1', '2']
    """
    rng, seed = resolve_seed(random_seed)
    of = compare_methods(outcomes, methods, draws=draws, random_seed=rng)
    joint, told = None, list[str]()
    if selection:
        joint, told = _corrected(of, outcomes, int(seed) if seed.isdigit() else rng)
    rows = _methods(of, joint, ci_prob)
    remarks = [*notes, *of.notes, *told]
    in_clusters = of.n_clusters != of.n_items
    size = counted(of.n_items, outcomes.unit) + f" in {of.n_clusters:,} clusters" * in_clusters
    content: dict[str, Any] = {
        **about_methods(of, rows),
        "n_clusters": of.n_clusters,
        "prob": ci_prob,
        "p_best": joint and dict(zip(of.methods, joint.entries.p_best.tolist(), strict=True)),
        "selection": joint and _of_picking(of, joint),
        "source": source,
        "notes": remarks,
        "seed": seed_number(seed),
    }
    answer = _answer(of, content["selection"], content["tied_with_best"], size, outcomes.unit)
    kind = f"{outcomes.unit}s as {'clusters' if in_clusters else 'independent'}"
    title = f"{source}: {size}, {len(rows)}"
    entries = None if joint is None else joint.entries
    tree = partial(comparison_tree, of, outcomes, joint=entries, seed=seed)
    return claim_report(
        content,
        answer,
        f"Paired posterior, {kind}, {counted(len(of.draws), 'draw')}, seed {seed}",
        make_frame=partial(methods_frame, rows),
        tables=[Table.of([_cells(of, row, ci_prob) for row in rows], f"{title} methods")],
        paragraph=[*answer, *as_sentences(remarks)],
        legend=[_legend(ci_prob, joint)],
        reasons=() if joint is None else joint.reasons,
        measured=measured_of(outcomes),
        about=MethodsClaim(of, tree),
    )


def about_methods(of: MethodComparison, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Who leads, whether that is so, and who may be as good, given numbers of every method."""
    return {
        "p_false": of.p_false,
        "winner": of.methods[of.winner],
        "runner_up": of.methods[of.runner_up],
        "p_beaten": of.p_beaten,
        "tied_with_best": [row["name"] for row in rows if row["tied_with_best"]],
        "methods": rows,
        "n_items": of.n_items,
    }


def _corrected(
    of: MethodComparison, outcomes: Outcomes, seed: int | np.random.Generator
) -> tuple["BoardPosterior | None", list[str]]:
    """The joint posterior of all skills, and what is to be said of it."""
    from bayes_sota.leaderboard.posterior import board_posterior

    if max(of.n_runs) > 1:
        return None, ["picking the winner is not corrected for where methods have several runs"]
    try:
        joint = board_posterior(outcomes.complete(), draws=_DRAWS, random_seed=seed)
    except InputError as error:
        return None, [f"picking the winner is not corrected for: {error}"]
    return joint, [f"not to be trusted: {reason}" for reason in joint.reasons]


def _of_picking(of: MethodComparison, joint: "BoardPosterior") -> dict[str, float]:
    """Probability that another method is the best, though the winner was picked by its score."""
    return {
        "p_not_best": float(1 - joint.entries.p_best[of.winner]),
        "p_not_best_mcse": float(joint.entries.p_best_mcse[of.winner]),
        "rho": float(joint.draws["rho"].mean()),
    }


def _legend(ci_prob: float, joint: "BoardPosterior | None") -> str:
    picked = "" if joint is None else "; P(best) allows for the winner's having been picked"
    return (
        "tied with best: cannot be told from the winner, pair by pair: P(>= winner) is at least "
        f"{(1 - ci_prob) / 2:.3g}{picked}; uncorrected: P(best) as if all had been given "
        "beforehand"
    )


@dataclass(frozen=True, eq=False)
class MethodsClaim:
    """What a report of several methods is about.

    Attributes
    ----------
    comparison : MethodComparison or None
        None where every task was compared by itself.
    to_datatree : callable
        Posterior draws in the one schema.
    """

    comparison: MethodComparison | None
    to_datatree: "Callable[[], xr.DataTree]"


def _methods(
    of: MethodComparison, joint: "BoardPosterior | None", ci_prob: float
) -> list[dict[str, Any]]:
    """Numbers of every method, the best score first."""
    tied, intervals = of.tied_with_best(ci_prob), of.sign * of.interval(ci_prob)
    return [
        {
            "name": of.methods[j],
            "score": float(of.sign * of.scores[j]),
            "interval": sorted(intervals[j].tolist()),
            "p_best": None if joint is None else float(joint.entries.p_best[j]),
            "p_best_mcse": None if joint is None else float(joint.entries.p_best_mcse[j]),
            "p_best_uncorrected": float(of.p_best[j]),
            "p_not_below_winner": float(of.p_not_below[j]),
            "tied_with_best": bool(tied[j]),
            "n_runs": of.n_runs[j],
        }
        for j in sorted(range(len(of.methods)), key=lambda j: -of.scores[j])
    ]


def said_of_tied(others: Sequence[str], n_methods: int) -> str:
    """Which methods the winner cannot be told from, each pair by itself."""
    if others:
        return f"{listed(others)} cannot be told from it."
    if n_methods == 2:
        return "The two are told apart."
    return "Taken one by one, every other method is told from it."


def said_of_leader(of: MethodComparison, size: str) -> str:
    """Who leads, and whether that is so."""
    winner, runner_up, m = of.methods[of.winner], of.methods[of.runner_up], len(of.methods)
    leads = (
        f"{winner} and {runner_up} share the best score of {m} methods; that {winner} is better"
        if _shares_best(of)
        else f"{winner} has the best score of {m} methods; that it is better than {runner_up}"
    )
    return f"On the same {size} {leads} is false with probability {chance(of.p_false)}."


def _shares_best(of: MethodComparison) -> bool:
    """Whether the runner-up has the best score too."""
    return bool(of.scores[of.winner] == of.scores[of.runner_up])


def _answer(
    of: MethodComparison,
    picking: dict[str, float] | None,
    tied: Sequence[str],
    size: str,
    unit: str,
) -> list[str]:
    """Who leads, whether that is so, and who may be as good."""
    winner, m = of.methods[of.winner], len(of.methods)
    others = [name for name in tied if name != winner]
    said = [
        said_of_leader(of, size),
        said_of_tied(others, m),
    ]
    if picking is None:
        beaten = chance(of.p_beaten, share_mcse(of.p_beaten, len(of.draws)))
        said.append(f"Some other method is better than it with probability {beaten}.")
    else:
        said.append(
            f"{'But the' if len(tied) < 2 else 'The'} winner was picked by its score on these "
            f"{unit}s; allowing for that, another method is the best with probability "
            f"{chance(picking['p_not_best'], picking['p_not_best_mcse'])}."
        )
    return said


def methods_frame(methods: list[dict[str, Any]]) -> "pd.DataFrame":
    """One row per method, the best score first."""
    import pandas as pd

    frame = pd.json_normalize(methods, sep="_")
    lower, upper = zip(*frame.pop("interval"), strict=True)
    return frame.assign(lower=lower, upper=upper)


def _cells(of: MethodComparison, method: dict[str, Any], ci_prob: float) -> dict[str, str]:
    """A method with its interval and probabilities; the others where they were asked for."""
    (low, high), draws = method["interval"], len(of.draws)
    d = decimals_for((high - low) / 4, (high - low) / 4 / draws**0.5)
    own, uncorrected = method["name"] == of.methods[of.winner], method["p_best_uncorrected"]
    cells = {
        "method": method["name"],
        "score": f"{method['score']:.{d + 1}f}",
        f"{ci_prob:.0%} interval": f"{low:.{d}f} to {high:.{d}f}",
    }
    if method["p_best"] is not None:
        cells["P(best)"] = chance(method["p_best"], method["p_best_mcse"])
    cells |= {
        "uncorrected": chance(uncorrected, share_mcse(uncorrected, draws)),
        "P(>= winner)": "" if own else chance(method["p_not_below_winner"]),
        "tied with best": "yes" * method["tied_with_best"],
    }
    return cells
