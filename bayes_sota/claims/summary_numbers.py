"""Reports of few numbers: the size that a claim needs, and the claim of a winner that was picked.

``tests/cli/test_reports.py`` compares their forms.
"""

from collections.abc import Iterator

from bayes_sota.claims.planning import ClaimPlan, GapOfMeans
from bayes_sota.claims.selection import SelectedClaim
from bayes_sota.claims.summary import SOURCE
from bayes_sota.core.summary import numbers_report
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import chance, counted
from bayes_sota.leaderboard.summary_entries import CITED


def describe_plan(plan: ClaimPlan) -> Report:
    """Describe the test items that a claim needs.

    Examples
    --------
    >>> from bayes_sota.claims.planning import GapOfAccuracies, plan_claim
    >>> describe_plan(plan_claim(GapOfAccuracies(0.90, 0.88))).cells[0]
    ['items if exactly this gap is observed', '1,330']
    """
    sizes = [
        ("items if exactly this gap is observed", plan.n_needed),
        (f"items for a claim with probability {plan.power:g}", plan.n_for_power),
        (f"fresh items for a claim with probability {plan.assurance}", plan.n_assured),
    ]
    basis = "Dirichlet posterior of the paired outcomes"
    if isinstance(plan.gap, GapOfMeans):
        basis = "Student t of the paired means"
    return numbers_report(
        [(name, size, f"{size:,}") for name, size in sizes if size is not None],
        content=plan.to_dict(),
        sentences=list(_about_plan(plan)),
        basis=(basis, SOURCE),
        notes=list(plan.notes()),
    )


def _about_plan(plan: ClaimPlan) -> Iterator[str]:
    of = plan.gap.describe()
    unknown = "congruence" if "congruence" in of else "correlation"
    yield (
        f"A claim that A outperforms B needs {counted(plan.n_needed, 'test item')} to be false "
        f"with probability {plan.level:g} at most, where exactly a gap of {of['gap']:.4g} is "
        f"observed ({unknown}: {of[unknown]['assumption']})."
    )
    if plan.n_for_power is not None:
        yield (
            "If that is the true gap, "
            f"{counted(plan.n_for_power, 'item leads', 'items lead')} to the claim with "
            f"probability {plan.power:g}."
        )
    if plan.n_test is not None and plan.n_assured is not None:
        fresh = plan.n_assured_rounded
        yield (
            f"After {counted(plan.n_test, 'item')} with this gap about "
            f"{counted(fresh, 'fresh item leads', 'fresh items lead')} to the "
            f"claim with probability {plan.assurance:g}."
        )


def describe_selection(found: SelectedClaim, seed: int | None = None) -> Report:
    """Describe the claim of a winner that was picked.

    Parameters
    ----------
    found : SelectedClaim
    seed : int, optional
        Of its draws.
    """
    false, not_best = found.corrected
    rows = (
        ("P(false), corrected for the selection", found.p_false_selected, false),
        ("P(false) as if both had been given", found.p_false, chance(found.p_false)),
        ("P(another entry is the best)", found.p_not_best, not_best),
        ("rho", found.rho, f"{found.rho:.2f}"),
    )
    said = (
        f"That {found.winner}, the best of {counted(len(found.p_best), 'entry', 'entries')} by "
        f"score, is better than the runner-up is false with probability {false}.",
        f"That allows for its having been picked by its score; as if it and the runner-up, "
        f"{found.runner_up}, had been given beforehand, it is {chance(found.p_false)}.",
        f"Another entry is the best with probability {not_best}. The mean "
        f"correlation of an entry with what all share (rho) is {found.rho:.2f}.",
    )
    return numbers_report(
        rows,
        content=found.to_dict() | ({} if seed is None else {"seed": seed}),
        sentences=said,
        notes=found.notes,
        reasons=found.reasons,
        basis=(f"exact posterior of all skills, seed {seed}", SOFTWARE, CITED),
    )
