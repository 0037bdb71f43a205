"""Reports of several methods on the same items: all that ``bayes-sota claim responses`` prints."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
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
from bayes_sota.core.tables import ResultTable
from bayes_sota.core.text import as_sentences, chance, counted, decimals_for, listed
from bayes_sota.core.types import Seed
from bayes_sota.data.item_scores import ItemScores
from bayes_sota.data.responses import Responses
from bayes_sota.items.comparison import MethodComparison, compare_methods

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


@dataclass(frozen=True, eq=False, kw_only=True)
class MethodsReport(ResultTable):
    """Which of several methods is the best, from what each got for the same items.

    Attributes
    ----------
    comparison : MethodComparison
    outcomes : Responses or ItemScores
    selected : SelectedClaim or None
        The winner's claim, corrected for its having been picked.
    ci_prob : float
        Of the intervals, and of the comparison with the winner.
    rope : float or None
        Half-width of practical equivalence.
    level : float
        Probability of a false claim that is accepted.
    source : str
        Where the outcomes come from.
    notes, reasons : sequence of str
        What a reader should know, and why the correction cannot be trusted (empty where it can).
    seed : str
    """

    comparison: MethodComparison
    outcomes: Responses | ItemScores
    selected: SelectedClaim | None
    ci_prob: float
    rope: float | None
    level: float
    source: str
    notes: tuple[str, ...]
    seed: str
    reasons: tuple[str, ...] = ()
    measured = "claims"
    text_columns = ("name",)

    @cached_property
    def methods(self) -> list[dict[str, Any]]:
        """Numbers of every method, the best score first."""
        of, selected = self.comparison, self.selected
        tied, intervals = of.tied_with_best(self.ci_prob), of.sign * of.interval(self.ci_prob)
        regions = None if self.rope is None else of.rope(self.rope).tolist()
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

    @cached_property
    def reported_alone(self) -> dict[str, Any]:
        """What a paper that reports the two best accuracies only would leave open."""
        of, outcomes = self.comparison, self.outcomes
        if not isinstance(outcomes, Responses) or max(of.n_runs) > 1:
            return {"congruence": None, "sensitivity": []}
        a, b = float(of.scores[of.winner]), float(of.scores[of.runner_up])
        kept = outcomes.complete().correct
        both = float((kept[:, of.winner] * kept[:, of.runner_up]).mean())
        return {
            "congruence": {"value": both, "assumption": "counted"},
            "sensitivity": sensitivity_to_congruence(a, b, of.n_items, points=9).tolist(),
            "p_false_without_items": false_claim_probability(a, b, of.n_items),
        }

    @property
    def tied(self) -> list[str]:
        """Methods that cannot be told from the best, the winner among them."""
        return [method["name"] for method in self.methods if method["tied_with_best"]]

    def to_dict(self) -> dict[str, Any]:
        of, selected = self.comparison, self.selected
        result = {
            "p_false": of.p_false, "winner": of.methods[of.winner],
            "runner_up": of.methods[of.runner_up], "p_beaten": of.p_beaten,
            "tied_with_best": self.tied, "methods": self.methods, "n_items": of.n_items,
            "n_clusters": of.n_clusters, "prob": self.ci_prob, "p_best": None, "selection": None,
            "source": self.source, "level": self.level, "notes": list(self.notes),
            "seed": int(self.seed) if self.seed.isdigit() else self.seed, "text": self.text,
            **self.reported_alone,
        }  # fmt: skip
        if self.rope is not None:
            words, chances = ("a_better", "equivalent", "b_better"), of.rope(self.rope)
            regions = dict(zip(words, chances[of.runner_up].tolist(), strict=True))
            result["rope"] = {"half_width": self.rope, **regions}
        if selected is not None:
            result["selection"] = {name: getattr(selected, name) for name in NUMBERS}
            result["p_best"] = dict(zip(of.methods, selected.p_best, strict=True))
        return result

    @property
    def frame(self) -> "pd.DataFrame":
        """One row per method, the best score first."""
        import pandas as pd

        frame = pd.json_normalize(self.methods, sep="_")
        lower, upper = zip(*frame.pop("interval"), strict=True)
        return frame.assign(lower=lower, upper=upper)

    def to_datatree(self) -> "xr.DataTree":
        """Posterior draws in the one schema."""
        return comparison_tree(
            self.comparison, self.outcomes, selected=self.selected, seed=self.seed
        )

    @property
    def size(self) -> str:
        """How many items, and in how many clusters where there are any."""
        of = self.comparison
        clusters = f" in {of.n_clusters:,} clusters" if of.n_clusters != of.n_items else ""
        return f"{counted(of.n_items, 'item')}{clusters}"

    def titles(self, top: int | None = None) -> list[str]:
        hidden = max(len(self.methods) - (top or len(self.methods)), 0)
        more = f"; {hidden:,} more with --top" if hidden else ""
        return [f"{self.source}: {self.size}, {len(self.methods)} methods{more}"]

    def paragraph(self) -> list[str]:
        return [*self._answer(), *as_sentences(self.notes)]

    @property
    def _shared(self) -> bool:
        """Whether the runner-up has the best score too."""
        of = self.comparison
        return bool(of.scores[of.winner] == of.scores[of.runner_up])

    def _answer(self) -> list[str]:
        """Who leads, whether that is so, and who may be as good."""
        of = self.comparison
        winner, others = of.methods[of.winner], [n for n in self.tied if n != of.methods[of.winner]]
        runner_up, m = of.methods[of.runner_up], len(of.methods)
        leads = (
            f"{winner} and {runner_up} share the best score of {m} methods; that {winner} is better"
            if self._shared
            else f"{winner} has the best score of {m} methods; that it is better than {runner_up}"
        )
        said = [
            f"On the same {self.size} {leads} is false with probability {chance(of.p_false)}.",
            f"{listed(others)} cannot be told from it." if others else "No other is tied with it.",
        ]
        if self.selected is None:
            beaten = chance(of.p_beaten, share_mcse(of.p_beaten, len(of.draws)))
            said.append(f"Some other method is better than it with probability {beaten}.")
        else:
            said.append(
                "The winner was picked by its score on these items; allowing for that, another "
                f"method is the best with probability {self.selected.corrected[1]}."
            )
        return said

    def basis(self) -> list[str]:
        of = self.comparison
        unit = "independent" if of.n_clusters == of.n_items else "clusters"
        draws = f"{counted(len(of.draws), 'draw')}, seed {self.seed}"
        return [f"Paired posterior, items as {unit}, {draws}", SOURCE]

    def sentences(self) -> list[str]:
        alone = self.reported_alone
        if "p_false_without_items" not in alone or self._shared:
            return self._answer()
        low, high = alone["sensitivity"][-1][1], alone["sensitivity"][0][1]
        return [
            *self._answer(),
            "From the accuracies of the first two alone, without the answers, the claim would be "
            f"false with probability {chance(alone['p_false_without_items'])} ({chance(low)} to "
            f"{chance(high)}, depending on how many items both got right: here "
            f"{100 * alone['congruence']['value']:.1f} %).",
        ]

    def header(self) -> list[str]:
        corrected, region = self.selected is not None, self.rope is not None
        start = ["method", "score", f"{self.ci_prob:.0%} interval", *["P(best)"] * corrected]
        return [*start, "uncorrected", "P(>= winner)", "may be best", *["P(equivalent)"] * region]

    def cells(self, top: int | None = None) -> list[list[str]]:
        winner, rows = self.comparison.methods[self.comparison.winner], list[list[str]]()
        draws = len(self.comparison.draws)
        for method in self.methods[:top]:
            low, high = method["interval"]
            d = decimals_for((high - low) / 4, (high - low) / 4 / draws**0.5)
            own, uncorrected = method["name"] == winner, method["p_best_uncorrected"]
            rows.append([
                method["name"], f"{method['score']:.{d + 1}f}", f"{low:.{d}f} to {high:.{d}f}",
                *([] if self.selected is None else [_p_best(method)]),
                chance(uncorrected, share_mcse(uncorrected, draws)),
                "" if own else chance(method["p_not_below_winner"]),
                "yes" if method["tied_with_best"] else "",
                *([] if self.rope is None else [chance(method["rope"]["equivalent"])]),
            ])  # fmt: skip
        return rows

    def legend(self, top: int | None = None) -> list[str]:
        picked = "; P(best) allows for the winner's having been picked"
        return [
            "may be best: cannot be told from the winner, P(>= winner) is at least "
            f"{(1 - self.ci_prob) / 2:.3g}{'' if self.selected is None else picked}; uncorrected: "
            "P(best) as if all had been given beforehand",
        ]


def _p_best(method: dict[str, Any]) -> str:
    return chance(method["p_best"], method["p_best_mcse"])


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
) -> MethodsReport:
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
    >>> report_methods(answers, selection=False, random_seed=0).tied
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
    return MethodsReport(
        comparison=found, outcomes=outcomes, selected=selected, ci_prob=ci_prob, rope=rope,
        level=level, source=source,
        notes=(*remarks, *(f"not to be trusted: {reason}" for reason in reasons)),
        seed=seed, reasons=reasons,
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
