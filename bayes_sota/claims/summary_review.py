"""A review of claims that "A outperforms B": how many may be false, and which.

``tests/claims/test_summary_review.py`` compares with one claim at a time.
"""

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from bayes_sota.claims.claim import Claim, as_shares, sds_as_shares
from bayes_sota.claims.laws import Accuracies, Means
from bayes_sota.claims.summary import claim_report, judged
from bayes_sota.core.arguments import Points, check_choice
from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.tables import Report, table_of
from bayes_sota.core.text import counted, in_prose
from bayes_sota.core.text import listed as in_words
from bayes_sota.data.reading import read_table
from bayes_sota.data.tables import Table, describe_parts
from bayes_sota.data.words import ROLES, SETS, is_loss, key, measure, split_words
from bayes_sota.items.score import skill_of_counts

RANGE = ("p_false_lowest", "p_false_highest")
PROBABILITIES = ("p_false", *RANGE)
RESULTS = (*PROBABILITIES, "assumption", "verdict", "n_needed")
_ACCURACIES, _MEANS = ("accuracy_a", "accuracy_b"), ("mean_a", "mean_b")
_SPREADS = ("sd_a", "sd_b", "sd_difference")
_NUMBERS = (*_ACCURACIES, *_MEANS, *_SPREADS, "pairwise_correlation", "congruence", "n_test")
_SIDES = {"accuracy": "accuracy acc", "mean": "mean dice dsc", "sd": "sd std"}
_WORDS = {
    **{role: [key(role)] for role in (*_NUMBERS, "metric")},
    **{
        f"{role}_{side}": [word + side for word in words.split()]
        for role, words in _SIDES.items()
        for side in "ab"
    },
    "n_test": ROLES["n"],
    "name": ["name", "paper", "claim", "title"],
}
CLAIM_ROLES = dict(zip(_WORDS, _WORDS, strict=True)) | {"n": "n_test", "entry": "name"}
_METRICS = ("accuracy", "dice", "mean")
_OTHERS = "name accuracies accuracy_a and accuracy_b, and means over cases mean_a and mean_b"
_IMPUTED = ", standard deviations imputed from the means"


def claims_table(claims: Any, *, level: float = 0.05, **columns: str) -> Report:
    """Probability that each claim of a review is false, and the share of doubtful claims.

    Parameters
    ----------
    claims : path or data frame
        One claim per row. Columns: ``n_test``; ``accuracy_a`` and ``accuracy_b`` (the winner's
        first), or means over cases ``mean_a`` and ``mean_b`` with ``sd_a`` and ``sd_b`` or
        ``sd_difference``, imputed for Dice. Optional: ``metric`` ("accuracy", "dice", or "mean" of
        cases outside [0, 1]; losses have a minus sign), ``congruence``, ``pairwise_correlation``
        and ``name``.
    level : float
        P(false) above which a claim is doubtful, in (0, 1/2).
    **columns : str
        Columns that have other names: ``accuracy_a="ours"``.

    Returns
    -------
    Report
        ``frame`` is the table with p_false, its range p_false_lowest to p_false_highest over all
        that is possible, assumption, verdict ("supported" if the highest is at most ``level``,
        "not supported" if the lowest exceeds it, else "depends on ...") and n_needed, the items at
        which p_false falls to ``level``. ``content`` has the number above the level, its share with
        a 95 % Jeffreys interval, and the sum ``expected_false``.

    Raises
    ------
    InputError
        Another table, or rows that cannot be used.

    Examples
    --------
    >>> review = pd.DataFrame({"accuracy_a": ["0.90"], "accuracy_b": ["0.88"], "n_test": [500]})
    >>> claims_table(review).frame["verdict"].item()
    'depends on the congruence'
    """
    table = read_table(claims)
    used = _columns(table, columns)
    rows, notes = _judged(table, used, level)
    frame = pd.DataFrame(table.columns, dtype=object)
    if again := int(frame.duplicated().sum()):
        notes.append(f"duplicate rows, each counted: {again:,}")
    if isinstance(claims, pd.DataFrame) and len(table.columns) == claims.shape[1]:
        frame = claims.set_axis(list(table.columns), axis=1)
    found = pd.DataFrame(rows, index=frame.index).astype({"n_needed": "Int64"})
    whole = _summary(found, level)
    said = _finding(whole, Counter(found["verdict"]), level)
    read = describe_parts(table, [f"claims from {listed(used.values())}"], [*used.values()])
    legend = (
        "P(false) is the probability that B is at least as good as A, averaged over a congruence "
        "or correlation that is not reported; its range is over all that is possible. A claim is "
        f"supported if the highest is at most {level:.3g}; one above it is not thereby false."
    )
    return claim_report(
        {
            "level": float(level),
            "finding": " ".join(said),
            "all": whole,
            "claims": rows,
            "notes": [read, *table.notes, *notes],
        },
        said,
        "Dirichlet posteriors of paired outcomes, Student t of paired means",
        make_frame=lambda: frame.assign(**found[[*RESULTS]]),
        tables=[
            table_of(
                [whole],
                {
                    "claims": lambda row: f"{row['n_claims']:,}",
                    "averaged": partial(_above, "p_false"),
                    "at the lowest": partial(_above, "p_false_lowest"),
                    "at the highest": partial(_above, "p_false_highest"),
                },
                f"Claims whose probability of being false is above {level:.3g}, by assumption",
            ),
            table_of(
                rows,
                {
                    "claim": "name",
                    "P(false)": lambda row: in_prose(row["p_false"], level),
                    "range": lambda row: " to ".join(in_prose(row[k], level) for k in RANGE),
                    "verdict": "verdict",
                    "items needed": lambda row: row["n_needed"] and f"{row['n_needed']:,}",
                },
                "The claims",
            ),
        ],
        paragraph=[*said, legend],
        legend=[legend],
    )


def _columns(table: Table, asked: Mapping[str, str]) -> dict[str, str]:
    known, found = {key(name): name for name in table.columns}, dict[str, str]()
    for role, words in _WORDS.items():
        if names := [known[word] for word in words if word in known]:
            found[role] = names[0]
    for role, name in asked.items():
        check_choice("column", role, CLAIM_ROLES)
        found[CLAIM_ROLES[role]] = table.find(name, role)
    for role, name in found.items():
        # the last word may be the method's
        is_lower = is_loss(name) or is_loss(" ".join(split_words(name)[:-1]))
        if role in _ACCURACIES and (is_lower or measure(name) != "accuracy"):
            raise table.error(f"column {quoted(name)} does not look like accuracies", fix=_OTHERS)
        if role in _MEANS and measure(name) == "auc":
            raise table.error(f"{quoted(name)} is not a mean over cases, so its error is unknown")
        if role in _MEANS and is_lower and np.any(table.numbers(name) > 0):
            raise table.error(f"{quoted(name)} looks like a loss", fix="write it with a minus sign")
    begun = [pair for pair in (_ACCURACIES, _MEANS) if found.keys() & {*pair}] or [_ACCURACIES]
    if missing := [role for pair in begun for role in (*pair, "n_test") if role not in found]:
        there = f"the columns are {listed(table.columns)}"
        fix = "a claim needs accuracy_a and accuracy_b (or mean_a and mean_b) and n_test; {option} "
        raise table.error(
            f"there is no column {quoted(missing[0])}; {there}",
            "n" if missing[0] == "n_test" else missing[0],
            fix + "names a column that is called otherwise",
        )
    if taken := [name for name in RESULTS if name in table.columns]:
        problem = f"the column {quoted(taken[0])} is one that the result adds"
        raise table.error(problem, fix="rename or remove it")
    return found


def _judged(
    table: Table, used: Mapping[str, str], level: float
) -> tuple[list[dict[str, Any]], list[str]]:
    numbers = {role: table.printed(used[role]) for role in _NUMBERS if role in used}
    for role, of in numbers.items():
        if (with_error := np.flatnonzero(~np.isnan(of.error))).size:
            problem = (
                "a number is needed, and its SD in a column of its own (sd_a, sd_b; a standard "
                "error times sqrt(n_test))"
            )
            raise table.bad_cells(used[role], with_error.tolist(), problem)
    texts: dict[str, Any] = {"metric": [""] * len(table)}
    texts["name"] = [f"row {row}" for row in range(1, len(table) + 1)]
    for role in texts.keys() & used.keys():
        texts[role] = pd.Series(table.columns[used[role]], dtype=object).fillna("").astype(str)
    others = [
        used[role]
        for role in used.keys() & {*_MEANS}
        if measure(used[role]) == "score" and SETS["of_cases"].isdisjoint(split_words(used[role]))
    ]
    rows, problems, averages, percent = list[dict[str, Any]](), list[str](), list[str](), False
    for row, (metric, name) in enumerate(zip(*texts.values(), strict=True)):
        cells = {role: of.texts[row] for role, of in numbers.items() if of.texts[row]}
        signed = {role for role in cells if "%" in str(table.columns[used[role]][row])}
        try:
            claim, printed, in_percent = _claim(cells, metric.strip().lower(), signed)
            is_imputed = isinstance(claim, Means) and claim.imputed
            if is_imputed and others:
                not_dice = f"SDs are imputed for Dice, not for {quoted(min(others))}"
                raise InputError(f"{not_dice}: give sd_a and sd_b over cases")
        except InputError as error:
            problems.append(f"{table.lines[row]}: {error}")
            continue
        percent |= in_percent
        digits = max(len(text.partition(".")[2]) for text in printed)
        fewest = 1 if isinstance(claim, Means) and claim.bounds is None else 2
        found = judged(claim, level, printed if digits >= fewest else None)
        averages += [table.lines[row]] * (found.get("rounding", {}) is None)
        assumption = f"{claim.unknown} {claim.assumption}"
        assumption += _IMPUTED * is_imputed
        ends, verdict = found["p_false_range"], found["verdict"]
        values = found["p_false"], *ends, assumption, verdict, claim.size(level)
        rows.append(dict(zip(RESULTS, values, strict=True)) | {"row": row + 1, "name": name})
    if problems:
        unusable = f"rows cannot be used ({len(problems):,} of {len(table):,})"
        fix = "correct or remove them"
        raise InputError(f"{unusable}: {'; '.join(problems[:3])}", where=table.where, fix=fix)
    notes = ["accuracies and Dice of 10 and more are read as percent"] * percent
    if imputed := sum(row["assumption"].endswith(_IMPUTED) for row in rows):
        whose = counted(imputed, "claim")
        notes.append(f"the SDs of {whose} are imputed as 2/3 mean (1 - mean), a rule of thumb")
    if averages:
        what = "no whole number of items gives an accuracy as printed, which is taken as an average"
        notes.append(f"{what}: {in_words(averages)}")
    return rows, notes


def _claim(of: dict[str, str], word: str, signed: set[str]) -> tuple[Claim, tuple[str, str], bool]:
    """The claim of a row, its two numbers, and whether these are read as percent."""
    if word and word not in _METRICS:
        raise InputError(
            f"metric is accuracy, dice or mean (with its SDs; of a loss with a minus sign), got "
            f"{quoted(word)}"
        )
    if not word and of.keys() & {*_ACCURACIES} and of.keys() & {*_MEANS}:
        raise InputError("accuracies and means are both filled: say which with metric")
    metric = word or ("dice" if of.keys() & {*_MEANS} else "accuracy")
    pair = _ACCURACIES if metric == "accuracy" else _MEANS
    spreads = _SPREADS[:2] if pair is _MEANS and of.keys() & {*_SPREADS[:2]} else ()
    for role in (*pair, "n_test", *spreads):
        if role not in of:
            raise InputError(f"{role} is empty")
    printed, notes = (of[pair[0]], of[pair[1]]), list[str]()
    if metric == "dice" and printed[1].startswith("-"):
        metric = "mean"  # in its own unit, such as a distance
    if metric != "mean":
        printed, notes = as_shares(printed)
    numbers, (a, b) = {role: float(text) for role, text in of.items()}, map(float, printed)
    n: Any = int(numbers["n_test"]) if numbers["n_test"] % 1 == 0 else numbers["n_test"]
    if metric == "accuracy":
        return Accuracies(a=a, b=b, n=n, known=numbers.get("congruence")), printed, bool(notes)
    sds = {role: numbers[role] for role in _SPREADS if role in numbers}
    typed = [Points(sd) if role in signed else sd for role, sd in sds.items()]
    in_percent = None if metric == "mean" else bool(notes) or not signed.isdisjoint(_MEANS)
    sds = dict(zip(sds, sds_as_shares(typed, in_percent)[0], strict=True))
    known: Any = {"sd_difference": sds.get("sd_difference")}
    if "sd_difference" not in sds:
        both = (sds["sd_a"], sds["sd_b"]) if len(sds) == 2 else None
        known = {"known": numbers.get("pairwise_correlation"), "sd": both}
    bounds = None if metric == "mean" else (0.0, 1.0)
    return Means(a=a, b=b, n=n, bounds=bounds, **known), printed, bool(notes)


def _summary(rows: pd.DataFrame, level: float) -> dict[str, Any]:
    above, m = dict[str, Any](), len(rows)
    for name in PROBABILITIES:
        k = int((rows[name] > level).sum())
        above[name] = {"n": k, "share": k / m, "interval": [*skill_of_counts(k, m).interval()]}
        above[name]["expected_false"] = float(rows[name].sum())
    return {"n_claims": m, "above_level": above}


def _above(name: str, row: dict[str, Any]) -> str:
    above = row["above_level"][name]
    low, high = above["interval"]
    return f"{above['n']:,} ({above['share']:.0%}, {low:.0%} to {high:.0%})"


def _finding(found: dict[str, Any], verdicts: Counter[str], level: float) -> list[str]:
    expected = [found["above_level"][name]["expected_false"] for name in PROBABILITIES]
    supported, against = verdicts["supported"], verdicts["not supported"]
    size, d = found["n_claims"], 1 if expected[2] < 10 else 0
    mean, low, high = (f"{x:.{d}f}" for x in expected)
    assumed = f" ({low} to {high}, depending on what is not reported)" if low != high else ""
    return [
        f"Expected number of false claims: {mean} of {size:,}{assumed}.",
        f"Supported at {level:.3g}: {supported:,}; not supported: {against:,}; depending on what "
        f"is not reported: {size - supported - against:,}.",
    ]
