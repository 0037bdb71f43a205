r"""A review of claims that "A outperforms B": how many may be false, claim by claim and by group.

Every row of a table of claims gets the probability that its claim is false, exactly: averaged over
the congruence (of means: the correlation) that nobody reports, and its lowest and highest value
over all that is possible, as *Claims Reloaded* (after Christodoulou et al. 2025, arXiv 2505.04720)
asks of 347 papers under one assumption. Shares of claims above a level have Jeffreys intervals.
``tests/claims/test_summary_review.py`` compares with one claim at a time.
"""

import os
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.claims.review import ClaimRow, claim_rows, columns_of_review, share_interval
from bayes_sota.claims.summary import claim_report
from bayes_sota.core.arguments import LEVEL
from bayes_sota.core.errors import InputError, listed
from bayes_sota.core.tables import Report, rows_of
from bayes_sota.core.tables import Table as ShownTable
from bayes_sota.core.text import chance, counted, shown
from bayes_sota.data.opening import read_table
from bayes_sota.data.tables import Table, describe_parts

PROBABILITIES = ("p_false", "p_false_lowest", "p_false_highest")
RESULTS = (*PROBABILITIES, "assumption", "verdict", "problem")
_LABELS = ("name", "paper", "claim", "title")
_PROB = 0.95  # of the intervals of shares
_SHARES = ("claims", "expected false", "averaged", "at the lowest", "at the highest", "problems")


def _finding(shares: list[dict[str, Any]], level: float) -> list[str]:
    """How many claims are false, and which the numbers support; what is not known of which."""
    expected, above = ([share[k] for share in shares] for k in ("expected_false", "n_above"))
    size = shares[0]["n_claims"]
    if not size:
        return ["No claim can be used."]
    d = 1 if expected[2] < 10 else 0
    mean, low, high = (f"{x:.{d}f}" for x in expected)
    assumed = f" ({low} to {high}, depending on what is not reported)" if low != high else ""
    return [
        f"Of {counted(size, 'claim')} about {mean} are expected to be false{assumed}, and nobody "
        "knows which.",
        f"The numbers support {size - above[2]:,}: their probability of being false is at most "
        f"{level:.3g}. They do not support {above[1]:,}, which may be true all the same; of the "
        f"other {above[2] - above[1]:,} it depends on what is not reported.",
    ]


def _legend(level: float) -> list[str]:
    return [
        "P(false) is the probability that B is at least as good as A, averaged over the share "
        "of items that both get right (of means: the correlation) where that is unknown; its "
        "range is over all that is possible (correlations from 0 to 1). A claim is supported if "
        f"the highest is at most {level:.3g}. A claim above the level is not thereby false."
    ]


def _claim_cells(name: str, group: str | None, result: dict[str, Any]) -> list[str]:
    """Claim, group, P(false), its range and the verdict or the problem."""
    if result["problem"]:
        return [name, group or "", "", "", result["problem"]]
    p, low, high = (chance(result[key]) for key in PROBABILITIES)
    return [name, group or "", p, f"{low} to {high}", result["verdict"]]


def _group_cells(group: str, shares: list[dict[str, Any]]) -> list[str]:
    """Claims of a group, false ones expected, above the level, problems."""
    first, counts = shares[0], [f"{one['n_above']:,} ({_percents(one)})" for one in shares]
    size, expected = f"{first['n_claims']:,}", f"{first['expected_false']:.1f}"
    return [group or "all", size, expected, *counts, f"{first['n_problems']:,}"]


def read_claims(path: str | os.PathLike[str] | Any) -> pd.DataFrame:
    """Review of claims from a file, one row each, all cells as they are written.

    Parameters
    ----------
    path : path or data frame
        CSV (commas, semicolons or tabs), Excel, Parquet or JSON (a list of records), with the
        columns of ``claims_table``.

    Raises
    ------
    InputError
        A file that cannot be read, without rows, or whose columns are not those of a review.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "review.csv"
    ...     _ = path.write_text("paper,accuracy_a,accuracy_b,n_test\\nLi 2024,0.90,0.88,500\\n")
    ...     read_claims(path).values.tolist()
    [['Li 2024', '0.90', '0.88', '500']]
    """
    table = read_table(path)
    columns_of_review(table, {})
    return _as_pandas(None, table)


def claims_table(
    claims: Any,
    *,
    level: float = 0.05,
    check_counts: bool = True,
    skip_problems: bool = False,
    **columns: str,
) -> Report:
    r"""Probability that each claim of a review is false, and the share of doubtful claims.

    Parameters
    ----------
    claims : path or data frame
        One claim per row. Columns: ``n_test``; ``accuracy_a`` and ``accuracy_b`` of the reported
        winner and of the other, or ``mean_a`` and ``mean_b`` of cases (Dice) with ``sd_a`` and
        ``sd_b`` or ``sd_difference``, else imputed. Optional: ``metric`` ("accuracy" or
        "classification"; "dice" or "segmentation"; "mean" of cases outside [0, 1]),
        ``congruence``, ``pairwise_correlation``, ``group``, and a name ("name", "paper", "claim" or
        "title"). All other columns pass through. Text keeps the digits of accuracies.
    level : float
        Probability from which a claim counts as doubtful, in (0, 1/2).
    check_counts : bool
        Whether an accuracy that no whole number of items gives is a problem of its row.
    skip_problems : bool
        Whether wrong rows are left out, and their ``problem`` says why; else they are an error.
    **columns : str
        Columns that have other names: ``n_test="N"``, ``name="study"``, ``group="field"``.

    Returns
    -------
    Report
        ``frame`` is the table as given, with p_false, p_false_lowest and p_false_highest (NaN where
        a row cannot be used), assumption, verdict ("supported" if the highest is at most ``level``,
        "not supported" if the lowest exceeds it, else "depends on the congruence" or "depends on
        the correlation") and problem (why a row cannot be used). ``about`` has one row per group
        and probability, all claims first (group ""): n_claims, n_problems, n_above (claims of that
        probability above ``level``), share, lower and upper (95 %), and expected_false, the sum of
        the probabilities.

    Raises
    ------
    InputError
        A table that is not a review of claims, one that already has a column of the result, or
        rows that cannot be used.

    Notes
    -----
    With a given congruence, correlation or standard deviation of differences the three
    probabilities are one. Else P(false) falls with the congruence and the correlation, so that its
    range lies between the values at their ends, :math:`[\max(0, p_A + p_B - 1), \min(p_A, p_B)]`
    and [0, 1].

    Examples
    --------
    >>> import pandas as pd
    >>> review = pd.DataFrame(
    ...     {"accuracy_a": ["0.90", "0.95"], "accuracy_b": ["0.88", "0.90"], "n_test": [500, 900]}
    ... )
    >>> table = claims_table(review)
    >>> table.frame["p_false"].round(3).tolist(), table.frame["verdict"].tolist()
    ([0.093, 0.0], ['depends on the congruence', 'supported'])
    """
    LEVEL.check(level, "level")
    table = read_table(claims)
    label = next((name for want in _LABELS for name in table.columns if name.lower() == want), None)
    if "name" in columns:
        label = table.find(columns.pop("name"), "name")
    known = columns_of_review(table, columns)
    _check_free(table)
    rows = claim_rows(table, columns, check_counts=check_counts)
    results = [_result(number, row, level) for number, row in enumerate(rows, 1)]
    frame = _as_pandas(claims, table).assign(
        **{name: [one[name] for one in results] for name in RESULTS}
    )
    reasons = [_unusable(frame["problem"])] if (frame["problem"] != "").any() else []
    if reasons and not skip_problems:
        fix = "correct them or leave them out"
        raise InputError(reasons[0], where=table.where, fix=fix)
    names = [f"row {row + 1}" for row in range(len(frame))]
    if label is not None:
        names = _texts(frame[label])
    groups: list[str | None] = [None] * len(frame)
    if "group" in known:
        groups = _groups_of(frame[known["group"]])
    used = [*known.values(), *([] if label is None else [label])]
    notes = [describe_parts(table, [f"claims from {listed(used)}"], used), *table.notes]
    return _review_report(frame, float(level), names, groups, reasons, notes)


def _review_report(
    frame: pd.DataFrame,
    level: float,
    names: list[str],
    groups: list[str | None],
    reasons: list[str],
    notes: list[str],
) -> Report:
    """Report of what a review's numbers say about each of its claims, and about all of them."""
    shares = _shares(frame, groups, level)
    results = rows_of(frame[list(RESULTS)])
    said, legend = _finding(shares[""], level), _legend(level)
    summaries = [_as_dict(group, of) for group, of in shares.items()]
    every = list(zip(names, groups, results, strict=True))
    claims = [
        {"row": row, "name": name, "group": group}
        | {k: None if v != v else v for k, v in result.items()}
        for row, (name, group, result) in enumerate(every, 1)
    ]
    return claim_report(
        {
            "level": level,
            "finding": " ".join(said),
            "all": summaries[0],
            "groups": summaries[1:],
            "claims": claims,
            "notes": notes,
            "diagnostics": {"ok": not reasons, "reasons": reasons},
        },
        said,
        "Dirichlet posteriors of paired outcomes, Student t of paired means",
        make_frame=lambda: frame,
        tables=[
            ShownTable(
                ["group", *_SHARES],
                [_group_cells(*group) for group in shares.items()],
                f"Claims whose probability of being false is above {level:.3g}, by assumption",
            ),
            ShownTable(
                ["claim", "group", "P(false)", "range", "verdict"],
                [_claim_cells(*row) for row in every],
                "The claims",
            ),
        ],
        paragraph=[*said, *legend],
        legend=legend,
        reasons=reasons,
        about=pd.DataFrame([share for of in shares.values() for share in of]),
    )


def _unusable(problems: "pd.Series[str]") -> str:
    """The rows that cannot be used: the first three with their reasons, the others by number."""
    messages = [problem for problem in problems if problem]
    told = messages[:3] + [problem.partition(":")[0] for problem in messages[3:23]]
    rest = f"; and {len(messages) - 23:,} more" if len(messages) > 23 else ""
    unusable = f"{len(messages):,} of {counted(len(problems), 'row')} cannot be used"
    return f"{unusable}: {'; '.join(told)}{rest}"


def _as_pandas(frame: Any, table: Table) -> pd.DataFrame:
    """Frame with the table's columns, its own types and index where it is one of pandas."""
    if isinstance(frame, pd.DataFrame) and len(table.columns) == frame.shape[1]:
        return frame.set_axis(list(table.columns), axis=1)
    return pd.DataFrame(table.columns, dtype=object)


def _check_free(table: Table) -> None:
    for name in table.columns:
        if name in RESULTS:
            added = f"the column {shown(name)} is one that the result adds"
            raise table.error(added, fix="rename or remove it")


def _result(number: int, row: ClaimRow | InputError, level: float) -> dict[str, Any]:
    """What the result says of a row."""
    try:
        if isinstance(row, InputError):
            raise row
        p, lowest, highest = row.p_false()
    except InputError as error:
        nothing = dict.fromkeys(PROBABILITIES, np.nan) | {"assumption": "", "verdict": ""}
        return nothing | {"problem": f"row {number}: {error}"}
    unknown = "congruence" if row.metric == "accuracy" else "correlation"
    verdict = "not supported" if lowest > level else f"depends on the {unknown}"
    if highest <= level:
        verdict = "supported"
    return dict(zip(RESULTS, (p, lowest, highest, row.assumption, verdict, ""), strict=True))


def _groups_of(column: Any) -> list[str | None]:
    """Group of each claim as text."""
    return [text or "(none)" for text in _texts(column)]


def _shares(
    frame: pd.DataFrame, groups: list[str | None], level: float
) -> dict[str, list[dict[str, Any]]]:
    """Shares of claims above the level: of all, then by group in the order of the table."""
    numbers = frame[list(PROBABILITIES)].astype(float).reset_index(drop=True)
    parts = {"": numbers}
    if any(groups):
        parts |= {str(name): part for name, part in numbers.groupby(np.array(groups), sort=False)}
    return {
        name: [_share(name, part[one], level) for one in PROBABILITIES]
        for name, part in parts.items()
    }


def _share(group: str, column: Any, level: float) -> dict[str, Any]:
    """How many claims are above the level by one of their probabilities."""
    values = column.dropna()
    size, above = len(values), int((values > level).sum())
    lower, upper = share_interval(above, size, _PROB)
    return {
        "group": group,
        "probability": column.name,
        "n_claims": size,
        "n_problems": len(column) - size,
        "n_above": above,
        "share": above / size if size else np.nan,
        "lower": lower,
        "upper": upper,
        "expected_false": float(values.sum()),
    }


def _as_dict(group: str, shares: list[dict[str, Any]]) -> dict[str, Any]:
    """Summary of one group as plain Python objects."""
    sizes = {name: shares[0][name] for name in ("n_claims", "n_problems")}
    above = {
        one["probability"]: {
            "n": one["n_above"],
            "share": one["share"] if one["n_claims"] else None,
            "interval": [one["lower"], one["upper"]] if one["n_claims"] else None,
            "expected_false": one["expected_false"],
        }
        for one in shares
    }
    return {"group": group or None, **sizes, "above_level": above}


def _percents(share: dict[str, Any]) -> str:
    if not share["n_claims"]:
        return "no claims"
    return f"{share['share']:.0%}, {share['lower']:.0%} to {share['upper']:.0%}"


def _texts(column: Any) -> list[str]:
    """Cells of a column as text; nothing for empty ones."""
    return [str(cell) for cell in column.astype(object).where(column.notna(), "").tolist()]
