"""What the scores of a board say of its test set, in numbers and words. Imports NumPy only.

``tests/data/test_command.py`` reads it.
"""

from collections.abc import Sequence
from dataclasses import asdict

from bayes_sota.core.summary import NumbersReport
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import as_sentences
from bayes_sota.data.lattice import LatticeFit

_HOW = {"floor": "floored", "nearest": "rounded", "exact": "not cut"}


def describe_size(fit: LatticeFit, notes: Sequence[str] = ()) -> NumbersReport:
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
    return NumbersReport(
        content=content, rows=rows, said=tuple(_said(fit, notes)), lines=tuple(_lines(fit, size)),
        source=("exact arithmetic of the printed scores", SOFTWARE), notes=tuple(notes),
        reasons=reasons,
    )  # fmt: skip


def _said(fit: LatticeFit, notes: Sequence[str]) -> list[str]:
    how = _HOW[fit.rounding]
    if not fit.is_identified:
        return ["The scores do not give the number of test items away.", *as_sentences(notes)]
    return [
        f"The number of test items, {fit.n_test:,}, was inferred from {fit.n_scores:,} distinct "
        f"scores with {fit.decimals} decimals ({how}).",
        *as_sentences([fit.statement, *notes]),
    ]


def _lines(fit: LatticeFit, size: str) -> list[str]:
    """Short lines for a person: the size, what else fits, and how sure that is."""
    lines = [f"n_test {size}", *as_sentences([fit.statement])]
    if fit.candidates and fit.is_identified:
        some = ", ".join(f"{n:,}" for n in fit.candidates[:6])
        lines.append(f"The next sizes that fit too: {some}")
    if fit.other:
        how = {"floor": "Floored", "nearest": "Rounded"}[fit.other[0]]
        size = "none fits" if fit.other[1] is None else f"the smallest is {fit.other[1]:,}"
        lines.append(f"{how} instead, {size}.")
    return lines
