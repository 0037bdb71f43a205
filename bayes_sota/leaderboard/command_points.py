"""``bayes-sota sota FILE --method shrink|crop``: the paper's point estimates."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import refuse_unused
from bayes_sota.core.command_options import echo_json
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text
from bayes_sota.leaderboard.command_files import parse_size, read_file

if TYPE_CHECKING:
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.maximum.field_estimate import FieldEstimate

__all__ = ["run_point_estimate"]


def run_point_estimate(
    file: Path | None,
    *,
    method: str,
    criterion: Any,
    n_classes: int | None,
    rho: float | None,
    n_test: str | None,
    drop_above: float | None,
    output: Path | None,
    prob: float,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> int:
    """Estimate, save, print."""
    from bayes_sota.core.sample_files import save_result

    if file is None:
        raise InputError(f"--method {method} takes the scores of a leaderboard FILE")
    if n_test != "infer":
        cut = None if reading["rounding"] == "auto" else reading["rounding"]
        digits = {"--rounding": cut, "--decimals": reading["decimals"]}
        refuse_unused(f"--method {method}, which takes scores as they are", digits)
    how: dict[str, Any] = {"criterion": criterion or "expected", "prob": prob}
    if rho is not None:
        how["correlation"] = rho
    if reading["metric"] == "auc":
        if method != "shrink" or n_classes is not None:
            raise InputError("AUCs take --method shrink, towards 1/2: no --n-classes")
        board, found, note = _shrunk_aucs(file, n_test, drop_above, reading, how)
    else:
        board, found, note = _of_accuracies(
            file, method, n_test, n_classes, drop_above, reading, how
        )
    if output is not None:
        save_result(found.to_datatree(), output)
    source = board.n_test_source if board.metric == "accuracy" else "given"
    notes = [*([note] if note else []), *board.notes]
    if as_json:
        echo_json({**found.to_dict(), "n_test_source": source, "notes": notes})
    else:
        _echo(found, board)
        for text in () if quiet else notes:
            click.echo(f"Note: {plain_text(text)}")
    return 0


def _of_accuracies(
    file: Path,
    method: str,
    n_test: str | None,
    n_classes: int | None,
    drop_above: float | None,
    reading: dict[str, Any],
    how: dict[str, Any],
) -> "tuple[Leaderboard, FieldEstimate, str]":
    from bayes_sota.maximum.shrinkage import crop_scores, shrink_scores

    if n_classes is None:
        raise InputError(
            "--n-classes is missing: scores shrink towards chance, one over the number of classes, "
            "and entries below it are left out"
        )
    if n_classes < 2:
        raise InputError(f"--n-classes must be at least 2, got {n_classes}")
    board, n, note = _read(file, n_test, reading)
    estimate = shrink_scores if method == "shrink" else crop_scores
    found = estimate(_kept(board, drop_above), n_test=n, chance=1 / n_classes, **how)
    return board, found, note


def _shrunk_aucs(
    file: Path,
    n_test: str | None,
    drop_above: float | None,
    reading: dict[str, Any],
    how: dict[str, Any],
) -> "tuple[Leaderboard, FieldEstimate, str]":
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.maximum.shrinkage import shrink_aucs

    board = read_file(file, n_test=n_test, **reading)
    if not isinstance(board, Leaderboard):
        raise InputError("shrinking takes the scores of a leaderboard")
    sizes: dict[str, Any] = {"n_positive": board.n_positive, "n_negative": board.n_negative}
    found = shrink_aucs(_kept(board, drop_above), **sizes, **how)
    return board, found, _auc_note(how.get("correlation", 0.0))


def _auc_note(rho: float) -> str:
    if rho == 0:
        return "binormal scores and independent classifiers are assumed"
    return "binormal scores are assumed, rho is that of the scores with a reference score"


def _kept(board: "Leaderboard", drop_above: float | None) -> Any:
    assert board.scores is not None
    return board.scores if drop_above is None else board.scores[board.scores <= drop_above]


def _read(
    file: Path, n_test: str | None, reading: dict[str, Any]
) -> "tuple[Leaderboard, int, str]":
    """Board, number of items, and what a reader should know about it.

    These estimates take scores as numbers: a size that does not fit their digits is said, not
    refused, because the paper's sizes do not.
    """
    from bayes_sota.data.leaderboard import Leaderboard

    if reading["metric"] != "accuracy":
        raise InputError("shrinking and cropping are for accuracies and AUCs")
    try:
        board = read_file(file, n_test=n_test, **reading)
    except InputError as error:
        if n_test is None or n_test == "infer":
            raise
        loose = {**reading, "metric": "score", "rounding": "auto", "decimals": None}
        board = read_file(file, n_test=None, **{**loose, "standard_error": 1.0})
        if not isinstance(board, Leaderboard) or board.scores is None or board.maximum > 1:
            raise
        return board, parse_size(n_test), f"scores are taken as they are: {error}"
    if not isinstance(board, Leaderboard) or board.scores is None:
        raise InputError("shrinking and cropping take the scores of a leaderboard")
    return board, board.n_test, ""


def _echo(found: "FieldEstimate", board: "Leaderboard") -> None:
    word = "shrunk" if found.method == "shrink" else "cropped"
    m, low, high = found.scores.size, *found.interval
    rows = [["theta_sota", f"{found.estimate:.6f}", f"best skill of the {word} field"]]
    if found.weight is not None:
        rows.append(["weight", f"{found.weight:.6f}", "w of Eq. 9"])
    rows += [
        ["expected maximum", f"{found.expected_maximum:.6f}", f"of the {word} field"],
        [f"{found.prob:.0%} interval", f"{low:.4f} to {high:.4f}", "of its best score"],
        ["above", f"{found.n_above():,} of {m:,}", "entries with a score above the estimate"],
        [
            "above, rounded",
            f"{found.n_above(4):,} of {m:,}",
            f"the same, above {round(found.estimate, 4):.4f}",
        ],
        [
            "above single",
            f"{found.n_above_single:,} of {m:,}",
            f"above {found.single[0]:.4f}, the lower limit of the best score alone",
        ],
    ]
    title = (
        f"{board.name}: best score {found.observed_maximum:g} of {m:,} entries on "
        f"{found.n_test:,} items, criterion {found.criterion}, rho {found.correlation:g}"
    )
    echo_table(["quantity", "value", "what it is"], rows, title)
    left_out = []
    if found.n_below_chance:
        left_out.append(f"{found.n_below_chance:,} entries not above chance ({found.chance:.4f})")
    if found.n_infeasible:
        fate = "left out" if found.method == "shrink" else "given less correlation"
        left_out.append(f"{found.n_infeasible:,} too weak for rho (Eq. 8), {fate}")
    if left_out:
        click.echo("Without " + "; ".join(left_out) + ".")
    if not found.multiplicity:
        click.echo(found.reason[0].upper() + found.reason[1:] + ".")
