"""What the scores of a board say of its test set, in numbers and words. Imports NumPy only.

``tests/data/test_command.py`` reads it.
"""

from collections.abc import Sequence
from dataclasses import asdict

from bayes_sota.core.summary import numbers_report
from bayes_sota.core.tables import SOFTWARE, Report
from bayes_sota.core.text import as_sentences, listed
from bayes_sota.data.lattice import LatticeFit

_HOW = {"floor": "floored", "nearest": "rounded", "exact": "not cut"}


def describe_size(fit: LatticeFit, notes: Sequence[str] = ()) -> Report:
    """Describe the number of test items that scores give away.

    Parameters
    ----------
    fit : LatticeFit
        From ``infer_n_test``.
    notes : sequence of str
        What a reader should know of the scores.
    """
    reasons = () if fit.is_identified else (fit.statement,)
    fields = asdict(fit)
    other = fields.pop("other")
    content = fields | {
        "other_rounding": other and {"rounding": other[0], "n_test": other[1]},
        "statement": fit.statement,
        "notes": list(notes),
        "diagnostics": {"ok": not reasons, "reasons": list(reasons)},
    }
    size = f"{fit.n_test:,}" if fit.is_identified else "not identified"
    some = ", ".join(f"{n:,}" for n in fit.candidates[:6])
    rows = (
        ("number of test items", fit.n_test if fit.is_identified else size, size),
        ("the next sizes that fit too", some, some),
        ("probability of another size", fit.p_other, f"{fit.p_other:.1g}"),
        ("distinct scores", fit.n_scores, f"{fit.n_scores:,}"),
        ("decimals", fit.decimals, str(fit.decimals)),
        ("scores are", _HOW[fit.rounding], _HOW[fit.rounding]),
    )
    return numbers_report(
        rows,
        content=content,
        sentences=_said(fit),
        basis=("exact arithmetic of the printed scores", SOFTWARE),
        notes=notes,
        reasons=reasons,
    )


def _said(fit: LatticeFit) -> list[str]:
    """The size, how sure it is, and what else fits."""
    how, other = _HOW[fit.rounding], []
    if fit.other:
        size = "no size fits" if fit.other[1] is None else f"the smallest is {fit.other[1]:,}"
        other = [f"If they are {_HOW[fit.other[0]]} instead, {size}."]
    if not fit.is_identified:
        return ["The scores do not give the number of test items away.", *other]
    some = listed([f"{n:,}" for n in fit.candidates[:6]])
    larger = (
        f"Larger sizes such as {some} fit too, but each has further scores, and that nobody has "
        "one of those would be chance."
    )
    return [
        f"The number of test items, {fit.n_test:,}, was inferred from {fit.n_scores:,} distinct "
        f"scores with {fit.decimals} decimals ({how}).",
        *as_sentences([fit.statement]),
        *([larger] if some else []),
        *other,
    ]
