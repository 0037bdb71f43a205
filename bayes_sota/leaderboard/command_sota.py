"""``bayes-sota sota FILE --method shrink|crop``: the paper's point estimates.

``bayes-sota sota``: the posterior of the true state of the art.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import (
    CORRELATION,
    COUNT,
    DECIMALS,
    DRAWS,
    NUMBER,
    PROCESSES,
    SHARE,
    SKILL,
    refuse_unused,
)
from bayes_sota.core.command import (
    InputFile,
    NameOrFile,
    OutputFile,
    check_positives,
    command,
    echo_json,
    echo_verdict,
    interval_option,
    number_option,
    output_options,
    parse_tries,
    seed_option,
    show_progress,
    tries_option,
)
from bayes_sota.core.command_tables import echo_table, estimand_rows
from bayes_sota.core.errors import InputError
from bayes_sota.core.schema import POINT_METHODS
from bayes_sota.core.text import plain_text
from bayes_sota.leaderboard.command_files import (
    parse_size,
    read_file,
    reading_options,
    size_of_board,
)
from bayes_sota.leaderboard.command_summary import (
    ESTIMANDS,
    echo_file_result,
    echo_sensitivity,
    group_rows,
    parse_seed,
    result_of_file,
)
from bayes_sota.maximum.command import chosen_correlation

if TYPE_CHECKING:
    import xarray as xr

    from bayes_sota.data.item_scores import ItemScores
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.data.responses import Responses
    from bayes_sota.leaderboard.specification import ModelSpecification
    from bayes_sota.maximum.shrinkage import FieldEstimate


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
    ci_prob: float,
    as_json: bool,
    quiet: bool,
    **reading: Any,
) -> int:
    """Estimate, save, print."""
    from bayes_sota.core.sample import save_result

    if file is None:
        raise InputError(f"--method {method} takes the scores of a leaderboard FILE")
    if n_test != "infer":
        cut = None if reading["rounding"] == "auto" else reading["rounding"]
        digits = {"--rounding": cut, "--decimals": reading["decimals"]}
        refuse_unused(f"--method {method}, which takes scores as they are", digits)
    how: dict[str, Any] = {"criterion": criterion or "expected", "prob": ci_prob}
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
    board, n, note = _read_board(file, n_test, reading)
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


def _read_board(
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
        [f"{found.ci_prob:.0%} interval", f"{low:.4f} to {high:.4f}", "of its best score"],
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


@command(
    epilog="Example: bayes-sota sota --maximum 0.91157 --rounding floor --n-test 11072 "
    "--classifiers 3558"
)
@click.argument("file", required=False, type=InputFile())
@click.option("--maximum", "maxima", multiple=True, help="Best observed score; may be repeated.")
@click.option("--n-test", "sizes", multiple=True, help="Number of test items, per board; or infer.")
@click.option("--classifiers", "tries", multiple=True, help="Number or range A:B, per board.")
@click.option(
    "--rounding",
    type=click.Choice(["auto", "nearest", "floor", "exact"]),
    default="auto",
    show_default=True,
    help="How scores were cut to their digits; auto: what all scores of FILE "
    "allow, nearest for --maximum.",
)
@number_option(DECIMALS, "--decimals", help="Decimals printed; default as typed.")
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "abc", "nuts", *POINT_METHODS]),
    default=None,
    help="auto is exact; shrink and crop are the paper's point estimates.",
)
@click.option(
    "--criterion",
    type=click.Choice(["expected", "upper"]),
    default=None,
    help="What of the best score equals the observed one (shrink, crop); default expected.",
)
@number_option(COUNT, "--n-classes", help="Classes of the task (shrink, crop).")
@click.option("--model", type=NameOrFile(), help="Named specification or a TOML file.")
@number_option(
    CORRELATION,
    "--correlation",
    help="Known rho instead of its prior; of AUC estimates, but with --method shrink of scores.",
)
@number_option(CORRELATION, "--pairwise-correlation", help="Known rho^2.")
@number_option(SKILL, "--reference-skill", help="theta0; default the observed maximum.")
@number_option(COUNT, "--new-n-test", help="Items of the fresh test set.")
@number_option(
    SHARE,
    "--new-score",
    help="Probability that a new classifier of this field, with this score on --new-n-test other "
    "items, has a skill above theta_sota.",
)
@reading_options
@tries_option
@click.option("--learn-rho", is_flag=True, help="Let the scores of FILE weigh the values of rho.")
@number_option(NUMBER, "--drop-above", help="Leave out entries above this score.")
@number_option(DRAWS, "--draws", help="Posterior draws per chain.")
@number_option(DRAWS, "--chains", help="Chains.")
@number_option(PROCESSES, "--cores", help="Processes (abc, nuts).")
@click.option("--no-sensitivity", is_flag=True, help="Leave out the sensitivity analysis.")
@click.option("--output", type=OutputFile("result"), default=None, help="netCDF file.")
@interval_option
@seed_option
@output_options
def sota(
    file: Path | None,
    maxima: tuple[str, ...],
    sizes: tuple[str, ...],
    tries: tuple[str, ...],
    rounding: Any,
    decimals: int | None,
    method: str | None,
    criterion: str | None,
    n_classes: int | None,
    model: str | None,
    correlation: float | None,
    pairwise_correlation: float | None,
    reference_skill: float | None,
    new_n_test: int | None,
    new_score: float | None,
    learn_rho: bool,
    drop_above: float | None,
    draws: int | None,
    chains: int | None,
    cores: int | None,
    no_sensitivity: bool,
    output: Path | None,
    ci_prob: float,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    **reading: Any,
) -> int:
    """Posterior of the best classifier's true skill.

    FILE is a leaderboard (one row per entry; --n-test N or infer), a response matrix (one row per
    item, one column per classifier) or item scores (the same with numbers, and labels for AUC).
    Without FILE, --maximum gives the best score alone.
    Repeat --maximum, --n-test and --classifiers for several boards of one task; they then share
    the distribution of skill and the correlation.
    """
    rho = chosen_correlation(correlation, pairwise_correlation)
    shown: dict[str, Any] = {"output": output, "prob": ci_prob, "as_json": as_json, "quiet": quiet}
    of_maxima = {
        "--maximum": maxima, "--reference-skill": reference_skill, "--new-score": new_score
    }  # fmt: skip
    if method in POINT_METHODS:
        unused = {
            "--classifiers": tries, "--model": model, "--new-n-test": new_n_test,
            "--learn-rho": learn_rho, "--draws": draws, "--chains": chains, "--cores": cores,
            "--seed": seed, "--no-sensitivity": no_sensitivity,
        }  # fmt: skip
        refuse_unused(f"--method {method}", {**of_maxima, **unused})
        if len(sizes) > 1:
            raise InputError("one FILE takes one --n-test")
        return run_point_estimate(
            file, method=method, criterion=criterion, n_classes=n_classes, rho=rho,
            n_test=sizes[0] if sizes else None, drop_above=drop_above, rounding=rounding,
            decimals=decimals, classifiers=None, **shown, **reading,
        )  # fmt: skip
    given = {"--criterion": criterion, "--n-classes": n_classes}
    refuse_unused("any method but shrink and crop", given)
    settings: dict[str, Any] = {
        "method": method, "draws": draws, "chains": chains, "random_seed": seed, "cores": cores,
        "new_n_test": new_n_test, "progressbar": show_progress(quiet, as_json),
    }  # fmt: skip
    if file is not None and maxima:
        raise InputError("give FILE or --maximum, not both")
    if file is None:
        refuse_unused("--maximum", {"--learn-rho": learn_rho, "--drop-above": drop_above})
        spec = _specification(model, rho)
        boards = _boards(maxima, sizes, tries, rounding, decimals, spec, reading)
        sensitivity = not no_sensitivity
        return _estimate_maxima(
            boards, spec, reference_skill, new_score, settings, sensitivity, **shown
        )
    refuse_unused("FILE", of_maxima)
    data = _read(file, sizes, tries, rounding, decimals, drop_above, reading)
    if method == "abc":
        raise InputError(_maximum_of(data))
    settings["learn_rho"] = learn_rho
    return _estimate_file(data, model, rho, settings, not no_sensitivity, **shown)


def _estimate_maxima(
    boards: tuple["Leaderboard", ...],
    spec: "ModelSpecification",
    reference_skill: float | None,
    new_score: float | None,
    settings: dict[str, Any],
    sensitivity: bool,
    *,
    output: Path | None,
    ci_prob: float,
    as_json: bool,
    quiet: bool,
) -> int:
    from bayes_sota.core.sample import save_result
    from bayes_sota.core.summary import probability_truly_better
    from bayes_sota.leaderboard.sample_estimate import estimate_sota

    tree = estimate_sota(boards, model=spec, reference_skill=reference_skill, **settings)
    if output is not None:
        save_result(tree, output)
    rows = _sensitivity(boards, spec, reference_skill, ci_prob) if sensitivity else []
    result = result_of(tree, boards, rows, ci_prob)
    if new_score is not None:
        items = settings["new_n_test"] or boards[0].n_test
        result["p_new_truly_better"] = probability_truly_better(tree, new_score, items)
    return echo_result(result, boards, rows, as_json, quiet)


def _read(
    file: Path,
    sizes: tuple[str, ...],
    tries: tuple[str, ...],
    rounding: str,
    decimals: int | None,
    drop_above: float | None,
    reading: dict[str, Any],
) -> "Leaderboard | Responses | ItemScores":
    from bayes_sota.data.leaderboard import Leaderboard

    if len(sizes) > 1 or len(tries) > 1:
        raise InputError("one FILE takes one --n-test and one --classifiers")
    data = read_file(
        file, reading.pop("file_format"), n_test=sizes[0] if sizes else None,
        classifiers=tries[0] if tries else None, rounding=rounding, decimals=decimals, **reading,
    )  # fmt: skip
    if drop_above is None:
        return data
    if not isinstance(data, Leaderboard) or data.scores is None or data.lower_is_better:
        raise InputError("--drop-above is for leaderboards with scores, higher is better")
    above = [i for i, score in enumerate(data.scores) if score > drop_above]
    if not above:
        raise InputError(
            f"--drop-above {drop_above:g} leaves out nothing: the best score is {data.maximum:g}"
        )
    return data.without(above)


def _maximum_of(data: "Leaderboard | Responses | ItemScores") -> str:
    """Why ABC takes no FILE, and the options that give it the best score of this one."""
    from bayes_sota.data.leaderboard import Leaderboard

    why = "--method abc reads the best score alone and would drop all others in FILE"
    if not isinstance(data, Leaderboard):
        return f"{why}: leave it out"
    best = repr(data.maximum) if data.decimals is None else f"{data.maximum:.{data.decimals}f}"
    size = "" if data.n_test is None else f" --n-test {data.n_test}"
    how = (
        f" --rounding {data.rounding}" if data.metric == "accuracy" else f" --metric {data.metric}"
    )
    return (
        f"{why}; for an answer from that one: --maximum {best} --classifiers "
        f"{data.typical_tries:.0f}{size}{how}"
    )


def _estimate_file(
    data: "Leaderboard | Responses | ItemScores",
    model: str | None,
    rho: float | None,
    settings: dict[str, Any],
    sensitivity: bool,
    *,
    output: Path | None,
    ci_prob: float,
    as_json: bool,
    quiet: bool,
) -> int:
    from dataclasses import replace

    from bayes_sota.core.priors import BoardPriors, FixedCorrelation
    from bayes_sota.core.sample import save_result
    from bayes_sota.data.leaderboard import Leaderboard
    from bayes_sota.leaderboard.sample_estimate import board_sensitivity_rows, estimate_sota
    from bayes_sota.leaderboard.specification import load_model

    spec = load_model(model or "leaderboard")
    if rho is not None and isinstance(spec.priors, BoardPriors):
        spec = replace(spec, priors=replace(spec.priors, correlation=FixedCorrelation(rho)))
    if not sensitivity and not isinstance(data, Leaderboard):
        refuse_unused("answers and item scores, which have none", {"--no-sensitivity": True})
    tree = estimate_sota(data, model=spec, **settings)
    if output is not None:
        save_result(tree, output)
    rows: list[dict[str, Any]] = []
    if sensitivity and isinstance(data, Leaderboard) and isinstance(spec.priors, BoardPriors):
        rows = list(board_sensitivity_rows(data, spec.priors, ci_prob, 1000, 0))[1:]
    result = result_of_file(tree, data, rows, ci_prob)
    return echo_file_result(result, data, rows, as_json, quiet)


def _specification(model: str | None, rho: float | None) -> "ModelSpecification":
    from dataclasses import replace

    from bayes_sota.core.priors import FixedCorrelation, Priors
    from bayes_sota.leaderboard.specification import load_model

    spec = load_model(model or "observed-maximum")
    if rho is None or not isinstance(spec.priors, Priors):
        return spec
    return replace(spec, priors=Priors(spec.priors.skill, FixedCorrelation(rho)))


def _boards(
    maxima: tuple[str, ...],
    sizes: tuple[str, ...],
    tries: tuple[str, ...],
    rounding: Any,
    decimals: int | None,
    spec: "ModelSpecification",
    reading: dict[str, Any],
) -> tuple["Leaderboard", ...]:
    from bayes_sota.data.leaderboard import Leaderboard

    if not maxima and spec.data is not None and not sizes and not tries:
        return (spec.data.leaderboard(),)
    if not maxima:
        raise InputError("--maximum is missing: the best observed accuracy, such as 0.9116")
    metric, positives = reading["metric"], reading["n_positive"]
    columns = (
        "score_column", "name_column", "percent", "lower_is_better", "item_metric", "label_column"
    )  # fmt: skip
    given = {"--" + name.replace("_", "-"): reading[name] for name in columns}
    refuse_unused("--maximum", given | {"--format": reading["file_format"] != "auto"})
    if metric == "score" and not sizes:
        sizes = ("",) * len(maxima)
    if not len(maxima) == len(sizes) == len(tries):
        raise InputError(
            f"each board needs --maximum, --n-test and --classifiers, got {len(maxima)}, "
            f"{len(sizes)} and {len(tries)} of them"
        )
    return tuple(
        Leaderboard.from_maximum(
            maximum,
            n_test=size_of_board(n or None, metric),
            metric=metric,
            n_positive=check_positives(positives, parse_size(n)) if metric == "auc" else positives,
            standard_error=reading["standard_error"],
            n_classifiers=parse_tries(m),
            rounding=rounding,
            decimals=decimals,
            name=f"board {i + 1}",
        )
        for i, (maximum, n, m) in enumerate(zip(maxima, sizes, tries, strict=True))
    )


def _sensitivity(
    boards: tuple["Leaderboard", ...],
    spec: "ModelSpecification",
    reference_skill: float | None,
    ci_prob: float,
) -> list[dict[str, Any]]:
    from bayes_sota.core.priors import Priors
    from bayes_sota.leaderboard.sample_estimate import sensitivity_rows

    if not isinstance(spec.priors, Priors):
        return []
    theta0 = spec.reference_skill if reference_skill is None else reference_skill
    return list(sensitivity_rows(boards, spec.priors, theta0, ci_prob, 1000, 0))[1:]


def result_of(
    tree: "xr.DataTree",
    boards: tuple["Leaderboard", ...],
    sensitivity: list[dict[str, Any]],
    ci_prob: float,
) -> dict[str, Any]:
    """JSON object of one result; with several boards the first one's keys are at the top."""
    from bayes_sota.core.summary import diagnose, estimand_summary

    per_board = [_board_result(tree, board, i, ci_prob) for i, board in enumerate(boards)]
    rho = estimand_summary(tree, "rho", ci_prob)
    return {
        "method": tree.attrs["method"],
        **per_board[0],
        **({"boards": per_board} if len(boards) > 1 else {}),
        "rho": {"mean": rho["mean"], "interval": rho["interval"], "learnt": False},
        "sensitivity": group_rows(sensitivity),
        "prob": ci_prob,
        "model": tree.attrs["model_name"],
        "diagnostics": diagnose(tree),
        "seed": parse_seed(str(tree.attrs["random_seed"])),
    }


def _board_result(
    tree: "xr.DataTree", board: "Leaderboard", index: int, ci_prob: float
) -> dict[str, Any]:
    from bayes_sota.core.summary import estimand_summary

    estimands = {name: estimand_summary(tree, name, ci_prob, index) for name in ESTIMANDS}
    tries = board.n_classifiers
    if tries is None:
        tries_summary: Any = estimand_summary(tree, "n_classifiers", ci_prob, index)
    else:
        tries_summary = tries
    return {
        "n_test": board.n_test,
        "n_test_source": "given",
        "n_classifiers": tries_summary,
        "observed_maximum": board.maximum,
        **estimands,
        "bias": estimands["multiplicity_bias"]["mean"],
        "n_above_sota": None,
        "n_right": list(board.counts) if board.metric == "accuracy" else None,
    }


def echo_result(
    result: dict[str, Any],
    boards: tuple["Leaderboard", ...],
    sensitivity: list[dict[str, Any]],
    as_json: bool,
    quiet: bool,
) -> int:
    """Print a result; exit code 0 where it can be trusted and 1 where it cannot."""
    ci_prob = result["prob"]
    if as_json:
        echo_json(result)
    else:
        for board, found in zip(boards, result.get("boards", [result]), strict=True):
            _echo_board(found, board, ci_prob)
        echo_sensitivity(sensitivity, ci_prob)
        if "p_new_truly_better" in result:
            click.echo(
                "P(the new classifier, one more of this field, has a skill above theta_sota) = "
                f"{result['p_new_truly_better']:.3f}"
            )
    if not quiet and not as_json:
        model, seed = plain_text(result["model"]), result["seed"]
        click.echo(f"method {result['method']}, model {model}, seed {seed}")
    return echo_verdict(result["diagnostics"]["reasons"])


def _reading_of(board: "Leaderboard") -> str:
    """How the best score is understood."""
    if board.metric == "auc":
        return f"an AUC of {board.n_positive:,} positive and {board.n_negative:,} negative items"
    if board.metric == "score":
        return f"with a standard error of {board.standard_error:g}"
    low, high = board.counts
    right = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return f"read as {right} right answers of {board.n_test:,}"


def _echo_board(result: dict[str, Any], board: "Leaderboard", ci_prob: float) -> None:
    summary = {name: result[name] for name in ESTIMANDS}
    tries = f"{board.typical_tries:,.0f}" + ("" if board.n_classifiers else " or so")
    title = (
        f"{board.name}: best score {board.maximum:g} of {tries} classifiers, {_reading_of(board)}"
    )
    header = ["quantity", "mean", "sd", f"{ci_prob:.0%} interval", "what it is"]
    echo_table(header, estimand_rows(summary), title)
