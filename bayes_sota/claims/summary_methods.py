"""Reports of several methods on the same items: all that ``bayes-sota claim responses`` prints."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from bayes_sota.claims.accuracies import (
    false_claim_probability,
    sensitivity_to_congruence,
)
from bayes_sota.claims.sample_exact import comparison_tree
from bayes_sota.claims.selection import NUMBERS, SelectedClaim, claim_of_best_entry
from bayes_sota.claims.summary import SOURCE
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError
from bayes_sota.core.numerics import share_mcse
from bayes_sota.core.sample import resolve_seed
from bayes_sota.core.tables import Report, Table
from bayes_sota.core.text import as_sentences, chance, counted, decimals_for, listed
from bayes_sota.core.types import Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import MethodComparison, compare_methods

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def describe_methods(
    of: MethodComparison,
    outcomes: Responses | ItemScores,
    selected: SelectedClaim | None = None,
    *,
    ci_prob: float = 0.95,
    rope: float | None = None,
    level: float = 0.05,
    source: str = "",
    notes: Sequence[str] = (),
    seed: str = "",
) -> Report:
    """Report of which of several methods is the best, from what each got for the same items.

    Parameters
    ----------
    of : MethodComparison
    outcomes : Responses or ItemScores
    selected : SelectedClaim, optional
        The winner's claim, corrected for its having been picked.
    ci_prob, rope, level, source
        As in ``report_methods``.
    notes : sequence of str
        What a reader should know.
    seed : str
    """
    methods = _methods(of, selected, ci_prob, rope)
    tied = [method["name"] for method in methods if method["tied_with_best"]]
    alone = _reported_alone(of, outcomes)
    clusters = f" in {of.n_clusters:,} clusters" if of.n_clusters != of.n_items else ""
    size = f"{counted(of.n_items, outcomes.unit)}{clusters}"
    answer = _answer(of, selected, tied, size, outcomes.unit)
    content: dict[str, Any] = {
        "p_false": of.p_false, "winner": of.methods[of.winner],
        "runner_up": of.methods[of.runner_up], "p_beaten": of.p_beaten, "tied_with_best": tied,
        "methods": methods, "n_items": of.n_items, "n_clusters": of.n_clusters, "prob": ci_prob,
        "p_best": None, "selection": None, "source": source, "level": level, "notes": list(notes),
        "seed": int(seed) if seed.isdigit() else seed, **alone,
    }  # fmt: skip
    if rope is not None:
        words, chances = ("a_better", "equivalent", "b_better"), of.rope(rope)
        regions = dict(zip(words, chances[of.runner_up].tolist(), strict=True))
        content["rope"] = {"half_width": rope, **regions}
    if selected is not None:
        content["selection"] = {name: getattr(selected, name) for name in NUMBERS}
        content["p_best"] = dict(zip(of.methods, selected.p_best, strict=True))
    independent = "independent" if of.n_clusters == of.n_items else "clusters"
    draws = f"{counted(len(of.draws), 'draw')}, seed {seed}"
    picked = "" if selected is None else "; P(best) allows for the winner's having been picked"
    tree = partial(comparison_tree, of, outcomes, selected=selected, seed=seed)
    return Report(
        content=content,
        make_frame=partial(_frame, methods),
        tables=[_table(of, methods, ci_prob, f"{source}: {size}, {len(methods)} methods")],
        sentences=[*answer, *_without_items(of, alone)],
        paragraph=[*answer, *as_sentences(notes)],
        legend=[
            "may be best: cannot be told from the winner, P(>= winner) is at least "
            f"{(1 - ci_prob) / 2:.3g}{picked}; uncorrected: P(best) as if all had been given "
            "beforehand"
        ],
        basis=[f"Paired posterior, {outcomes.unit}s as {independent}, {draws}", SOURCE],
        notes=notes,
        reasons=() if selected is None else selected.reasons,
        measured="claims",
        about=MethodsClaim(of, selected, tree),
    )


@dataclass(frozen=True, eq=False)
class MethodsClaim:
    """What a report of several methods is about.

    Attributes
    ----------
    comparison : MethodComparison or None
        None where every task was compared by itself.
    selected : SelectedClaim or None
        The winner's claim, corrected for its having been picked.
    to_datatree : callable
        Posterior draws in the one schema.
    """

    comparison: MethodComparison | None
    selected: SelectedClaim | None
    to_datatree: "Callable[[], xr.DataTree]"


def _methods(
    of: MethodComparison, selected: SelectedClaim | None, ci_prob: float, rope: float | None
) -> list[dict[str, Any]]:
    """Numbers of every method, the best score first."""
    tied, intervals = of.tied_with_best(ci_prob), of.sign * of.interval(ci_prob)
    regions = None if rope is None else of.rope(rope).tolist()
    words = ("winner_better", "equivalent", "better")
    return [{
        "name": of.methods[j], "score": float(of.sign * of.scores[j]),
        "interval": sorted(intervals[j].tolist()),
        "p_best": None if selected is None else selected.p_best[j],
        "p_best_mcse": None if selected is None else selected.p_best_mcse[j],
        "p_best_uncorrected": float(of.p_best[j]),
        "p_not_below_winner": float(of.p_not_below[j]), "tied_with_best": bool(tied[j]),
        "n_runs": of.n_runs[j],
        **({} if regions is None else {"rope": dict(zip(words, regions[j], strict=True))}),
    } for j in sorted(range(len(of.methods)), key=lambda j: -of.scores[j])]  # fmt: skip


def _reported_alone(of: MethodComparison, outcomes: Responses | ItemScores) -> dict[str, Any]:
    """What a paper that reports the two best accuracies only would leave open."""
    if not isinstance(outcomes, Responses) or not outcomes.is_plain or max(of.n_runs) > 1:
        return {"congruence": None, "sensitivity": []}
    a, b = float(of.scores[of.winner]), float(of.scores[of.runner_up])
    kept = outcomes.complete().correct
    both = float((kept[:, of.winner] * kept[:, of.runner_up]).mean())
    return {
        "congruence": {"value": both, "assumption": "counted"},
        "sensitivity": sensitivity_to_congruence(a, b, of.n_items, points=9).tolist(),
        "p_false_without_items": false_claim_probability(a, b, of.n_items),
    }


def _shares_best(of: MethodComparison) -> bool:
    """Whether the runner-up has the best score too."""
    return bool(of.scores[of.winner] == of.scores[of.runner_up])


def _answer(
    of: MethodComparison, selected: SelectedClaim | None, tied: Sequence[str], size: str, unit: str
) -> list[str]:
    """Who leads, whether that is so, and who may be as good."""
    winner, runner_up, m = of.methods[of.winner], of.methods[of.runner_up], len(of.methods)
    others = [name for name in tied if name != winner]
    leads = (
        f"{winner} and {runner_up} share the best score of {m} methods; that {winner} is better"
        if _shares_best(of)
        else f"{winner} has the best score of {m} methods; that it is better than {runner_up}"
    )
    said = [
        f"On the same {size} {leads} is false with probability {chance(of.p_false)}.",
        f"{listed(others)} cannot be told from it." if others else "No other is tied with it.",
    ]
    if selected is None:
        beaten = chance(of.p_beaten, share_mcse(of.p_beaten, len(of.draws)))
        said.append(f"Some other method is better than it with probability {beaten}.")
    else:
        said.append(
            f"The winner was picked by its score on these {unit}s; allowing for that, another "
            f"method is the best with probability {selected.corrected[1]}."
        )
    return said


def _without_items(of: MethodComparison, alone: dict[str, Any]) -> Iterator[str]:
    """The claim from the accuracies of the first two alone."""
    if "p_false_without_items" in alone and not _shares_best(of):
        low, high = alone["sensitivity"][-1][1], alone["sensitivity"][0][1]
        yield (
            "From the accuracies of the first two alone, without the answers, the claim would be "
            f"false with probability {chance(alone['p_false_without_items'])} ({chance(low)} to "
            f"{chance(high)}, depending on how many items both got right: here "
            f"{100 * alone['congruence']['value']:.1f} %)."
        )


def _frame(methods: list[dict[str, Any]]) -> "pd.DataFrame":
    """One row per method, the best score first."""
    import pandas as pd

    frame = pd.json_normalize(methods, sep="_")
    lower, upper = zip(*frame.pop("interval"), strict=True)
    return frame.assign(lower=lower, upper=upper)


def _table(
    of: MethodComparison, methods: list[dict[str, Any]], ci_prob: float, title: str
) -> Table:
    """Methods with their intervals and probabilities; the others where they were asked for."""
    corrected, region = methods[0]["p_best"] is not None, "rope" in methods[0]
    header = [
        "method", "score", f"{ci_prob:.0%} interval", *["P(best)"] * corrected, "uncorrected",
        "P(>= winner)", "may be best", *["P(equivalent)"] * region,
    ]  # fmt: skip
    rows, draws = list[list[str]](), len(of.draws)
    for method in methods:
        low, high = method["interval"]
        d = decimals_for((high - low) / 4, (high - low) / 4 / draws**0.5)
        own, uncorrected = method["name"] == of.methods[of.winner], method["p_best_uncorrected"]
        rows.append([
            method["name"], f"{method['score']:.{d + 1}f}", f"{low:.{d}f} to {high:.{d}f}",
            *([chance(method["p_best"], method["p_best_mcse"])] if corrected else []),
            chance(uncorrected, share_mcse(uncorrected, draws)),
            "" if own else chance(method["p_not_below_winner"]),
            "yes" if method["tied_with_best"] else "",
            *([chance(method["rope"]["equivalent"])] if region else []),
        ])  # fmt: skip
    return Table(header, rows, title)


def report_methods(
    outcomes: Responses | ItemScores,
    methods: Sequence[str] | None = None,
    *,
    draws: int = 10_000,
    ci_prob: float = 0.95,
    rope: float | None = None,
    level: float = 0.05,
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
    rope : float, optional
        Half-width of practical equivalence.
    level : float
        Probability of a false claim that is accepted.
    selection : bool
        Whether to correct for picking the winner (``claim_of_best_entry``).
    source, notes : str, sequence of str
        Repeated in the report.
    random_seed : int, SeedSequence, Generator or None

    Examples
    --------
    >>> import numpy as np
    >>> answers = Responses(np.random.default_rng(0).random((300, 3)) < [0.9, 0.85, 0.6])
    >>> report_methods(answers, selection=False, random_seed=0).content["tied_with_best"]
    ['1', '2']
    """
    rng, seed = resolve_seed(random_seed)
    found = compare_methods(outcomes, methods, draws=draws, random_seed=rng)
    selected, remarks = None, [*notes, *found.notes]
    if selection and max(found.n_runs) > 1:
        remarks.append("picking the winner is not corrected for where methods have several runs")
    elif selection:
        try:
            same = int(seed) if seed.isdigit() else rng
            selected = claim_of_best_entry(outcomes, given=found, random_seed=same)
        except InputError as error:
            remarks.append(f"picking the winner is not corrected for: {error}")
    reasons = () if selected is None else selected.reasons
    remarks += [f"not to be trusted: {reason}" for reason in reasons]
    return describe_methods(
        found, outcomes, selected, ci_prob=ci_prob, rope=rope, level=level, source=source,
        notes=remarks, seed=seed,
    )  # fmt: skip


def runs_hint(methods: Sequence[str] | None) -> list[str]:
    """Note on names that look like runs of one method, taken as methods of their own.

    Examples
    --------
    >>> runs_hint(["net@1", "net@2", "tree"])[0][:50]
    'net@1, net@2 are taken as methods of their own; if'
    """
    names = list(methods or ())
    stems = [re.sub(r"[-_@#. ]?(run|seed|rep|fold)?[-_]?\d+$", "", name) for name in names]
    for stem in dict.fromkeys(stems):
        alike = [name for name, own in zip(names, stems, strict=True) if own == stem]
        if stem and len(alike) > 1 and len(set(alike)) == len(alike):
            return [
                f"{', '.join(alike[:3])} are taken as methods of their own; if they are runs of "
                "one, give --run-separator"
            ]
    return []
