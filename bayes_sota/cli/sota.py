"""``bayes-sota sota`` and ``board``."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bayes_sota import leaderboard, maximum
from bayes_sota.cli.maximum import chosen_correlation
from bayes_sota.cli.options import (
    InputFile,
    OutputFile,
    Reported,
    chosen_seed,
    command,
    domain_option,
    estimate_options,
    field_option,
    interval_option,
    model_option,
    note_unused,
    number_option,
    parse_tries,
    seed_option,
    show_progress,
    together,
    top_option,
    typed_of_reading,
)
from bayes_sota.cli.reading import (
    GROUPS,
    OF_RHO,
    OF_SCORES,
    field_options,
    parse_submissions,
    read_file,
    refuse,
    rounding_options,
    score_options,
    size_of_board,
    submissions_option,
    typed_of,
)
from bayes_sota.core.arguments import (
    CLASSES,
    CORRELATION,
    COUNT,
    DRAWS,
    NUMBER,
    PROCESSES,
    SHARE,
    SKILL,
)
from bayes_sota.core.errors import InputError
from bayes_sota.data.leaderboard import BestScore, Leaderboard

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.core.tables import Report
    from bayes_sota.core.types import Groups
    from bayes_sota.data.outcomes import Outcomes

_RHO = ("correlation", "pairwise_correlation")
_QUESTIONS = ("above", "new_score")


above_option = number_option(
    NUMBER, "--above", help="Probability that the best skill exceeds this."
)
"""What is asked of the best skill."""

question_options = together(
    number_option(
        COUNT,
        "--new-n-test",
        help="Other items that the new classifier was scored on; default the same as all others.",
    ),
    number_option(
        NUMBER,
        "--new-score",
        help="Probability that a new classifier of this field with this score is truly better "
        "than the best.",
    ),
    above_option,
)
"""What is asked of the best skill and of a newcomer."""


@command(
    epilog="Example: bayes-sota sota --maximum 0.91157 --rounding floor --n-test 11072 "
    "--classifiers 3558"
)
@click.argument("file", required=False, type=InputFile(folders=True))
@click.option("--maximum", multiple=True, help="Best observed score; may be repeated.")
@click.option("--n-test", multiple=True, help="Number of test items, per board; or infer.")
@click.option("--classifiers", multiple=True, help="Number or range A:B, per board.")
@submissions_option
@rounding_options
@click.option(
    "--method",
    type=click.Choice(["auto", "exact", "abc", "nuts"]),
    help="auto is exact.",
)
@model_option
@domain_option
@field_option
@number_option(CORRELATION, "--correlation", help="Known rho instead of its prior.")
@number_option(CORRELATION, "--pairwise-correlation", help="Known rho^2.")
@number_option(
    SHARE,
    "--similarity",
    help="Share of items on which two classifiers are both right or both wrong: rho follows from "
    "it and the best score.",
)
@number_option(SKILL, "--reference-skill", help="theta0; default the observed maximum.")
@question_options
@score_options
@number_option(DRAWS, "--draws", help="Posterior draws per chain.")
@number_option(PROCESSES, "--cores", help="Processes (abc, nuts).")
@click.option("--no-sensitivity", is_flag=True, help="Leave out the sensitivity analysis.")
@click.option(
    "--compare",
    is_flag=True,
    help="Add the paper's estimates of the best skill: the best score alone, shrunk, cropped.",
)
@number_option(CLASSES, "--n-classes", help="Classes of the task, for --compare of accuracies.")
@click.option("--output", type=OutputFile("result"), help="netCDF file.")
@interval_option
@seed_option
@estimate_options
def sota(file: Path | None, output: Path | None, shown: Reported, **options: Any) -> int:
    """Posterior of the best classifier's true skill.

    FILE is a leaderboard (one row per entry; --n-test N or infer), also with a column for each
    task, answers (one row per item, one column per classifier; or a row for each model, item and
    run, with tasks and clusters), the same with numbers, and labels for AUC, or an evaluation log
    or a folder of logs.
    Without FILE, --maximum gives the best score alone.
    Repeat --maximum, --n-test and --classifiers for several boards of one task; they then share
    the distribution of skill and the correlation.
    """
    from bayes_sota.core.sample import save_result

    groups: Groups = "estimands" if output is None else "all"
    progressbar = show_progress(shown.quiet, shown.as_json)
    report = estimate_as_typed(file, options, groups=groups, progressbar=progressbar)
    if output is not None:
        save_result(report.about, output)
    return shown.deliver(report, draw=partial(draw_best_skill, report))


def draw_best_skill(report: "Report") -> "PlotCollection":
    """Figure of the best skill, of one board or of two."""
    return maximum.plot_sota(report.about, ci_prob=report.content["prob"])


def estimate_as_typed(
    file: Path | None,
    options: dict[str, Any],
    *,
    groups: "Groups" = "all",
    sensitivity: bool = True,
    progressbar: bool = False,
) -> "Report":
    """What ``sota`` says, given the values of its options.

    Parameters
    ----------
    file : Path or None
    options : dict
        Values by the names of the parameters of ``sota``.
    groups, progressbar
        As in ``estimate_sota``.
    sensitivity : bool
        Whether other assumptions are tried where there are any.
    """
    from bayes_sota.leaderboard.specification import chosen_model

    if options["similarity"] is not None:
        refuse("--similarity, which gives rho", typed_of(options, *_RHO))
    rho = chosen_correlation(*(options[name] for name in _RHO))
    if file is not None and options["maximum"]:
        raise InputError("give FILE or --maximum, not both")
    names = ("method", "draws", "cores", "new_n_test", "ci_prob", *_QUESTIONS)
    settings = {name: options[name] for name in names} | {
        "random_seed": chosen_seed(options["seed"]),
        "progressbar": progressbar,
        "groups": groups,
        "sensitivity": sensitivity and not options["no_sensitivity"],
    }
    of_rho = {name: options[name] for name in OF_RHO}
    if file is None:
        spec = chosen_model(builder="observed_maximum", correlation=rho, **of_rho)
        data: Any = _boards(options)
        best = data[0].maximum if len(data) == 1 else None
        settings |= {"model": spec, "reference_skill": options["reference_skill"]}
    else:
        note_unused("FILE", typed_of(options, "reference_skill"))
        data = _read(file, options)
        if options["method"] == "abc":
            raise InputError(_maximum_of(data))
        best = data.maximum if isinstance(data, Leaderboard) else None
        settings |= of_rho
    if options["compare"]:
        _check_comparable(file, data, options["n_classes"])
    else:
        note_unused("an answer without --compare", typed_of(options, "n_classes"))
    correlation = _correlation_of(options, rho, best)
    report = leaderboard.report_sota(data, correlation=correlation, **settings)
    return _with_comparison(report, data, options, correlation) if options["compare"] else report


def _check_comparable(file: Path | None, data: Any, n_classes: int | None) -> None:
    """Refuse what the paper's estimates do not take, before anything is computed."""
    if file is None:
        raise InputError("--compare takes the scores of a leaderboard FILE")
    if n_classes is None and getattr(data, "metric", "accuracy") == "accuracy":
        raise InputError(
            "--n-classes is missing: scores shrink towards chance, one over the number of classes"
        )


def _with_comparison(
    report: "Report", data: Any, options: dict[str, Any], correlation: float | None
) -> "Report":
    """The answer, and the paper's estimates beside it."""
    from bayes_sota.core.tables import rows_of
    from bayes_sota.maximum.summary_compare import comparison_table

    settings = {"n_classes": options["n_classes"], "ci_prob": options["ci_prob"]}
    frame = maximum.compare_estimates(data, report.about, correlation=correlation, **settings)
    table = comparison_table(frame, len(data.names), options["ci_prob"])
    content = report.content | {"comparison": rows_of(frame)}
    return replace(report, content=content, tables=[*report.tables, table])


def _correlation_of(options: dict[str, Any], rho: float | None, best: float | None) -> Any:
    """rho as given, or from --similarity and the best score of one board (theta0 where given)."""
    similarity = options["similarity"]
    if similarity is None:
        return rho
    refuse("--similarity, which gives rho", typed_of(options, "domain", "field"))
    if best is None or options["metric"] not in (None, "accuracy"):
        raise InputError(
            "--similarity, of right and wrong answers, is for the accuracies of one leaderboard: "
            "give --correlation, or leave it out where answers show it"
        )
    return maximum.correlation_of_similarity(similarity, options["reference_skill"] or best)


def _read(file: Path, options: dict[str, Any]) -> "Leaderboard | Outcomes":
    sizes, tries = options["n_test"], options["classifiers"]
    if len(sizes) > 1 or len(tries) > 1:
        raise InputError("one FILE takes one --n-test and one --classifiers")
    known = {"n_test": next(iter(sizes), None), "classifiers": next(iter(tries), None)}
    names = ("reading", "submissions", *OF_SCORES, *GROUPS)
    return read_file(file, **{name: options[name] for name in names} | known)


def _maximum_of(data: "Leaderboard | Outcomes") -> str:
    """Why ABC takes no FILE, and the options that give it the best score of this one."""
    why = "--method abc reads the best score alone and would drop all others in FILE"
    if not isinstance(data, Leaderboard) or data.has_own_errors:
        return f"{why}: leave it out"
    best = repr(data.maximum) if data.decimals is None else f"{data.maximum:.{data.decimals}f}"
    size = "" if data.n_test is None else f" --n-test {data.n_test}"
    accuracy = data.metric == "accuracy"
    how = f" --rounding {data.rounding}" if accuracy else f" --metric {data.metric}"
    return (
        f"{why}; for an answer from that one: --maximum {best} --classifiers "
        f"{data.typical_tries:.0f}{size}{how}"
    )


def _boards(options: dict[str, Any]) -> tuple[BestScore, ...]:
    """Boards of which the maximum alone is known."""
    maxima, sizes, tries = (options[name] for name in ("maximum", "n_test", "classifiers"))
    if not maxima:
        raise InputError("--maximum is missing: the best observed accuracy, such as 0.9116")
    if options["reading"].get("direction") == "lower":
        raise InputError("--maximum is the largest score: write an error rate e as 1 - e")
    typed = typed_of(options, "percent", *GROUPS)
    note_unused("--maximum", [*typed, *typed_of_reading(options["reading"])])
    metric = options["metric"]
    if metric == "score" and not sizes:
        sizes = ("",) * len(maxima)
    if not len(maxima) == len(sizes) == len(tries):
        raise InputError(
            f"each board needs --maximum, --n-test and --classifiers, got {len(maxima)}, "
            f"{len(sizes)} and {len(tries)} of them"
        )
    shared = {name: options[name] for name in OF_SCORES if name != "percent"}
    shared |= {"metric": metric or "accuracy"}
    shared["submissions"] = parse_submissions(options["submissions"])
    boards = []
    for number, (score, size, m) in enumerate(zip(maxima, sizes, tries, strict=True), 1):
        n, name = size_of_board(size or None, metric, options["n_positive"]), f"board {number}"
        known = parse_tries(m)
        boards.append(BestScore(score, n_test=n, n_classifiers=known, name=name, **shared))
    return tuple(boards)


@command(epilog="Example: bayes-sota board leaderboard.csv --n-test 500 --table table.md")
@click.argument("file", type=InputFile(folders=True))
@field_options
@question_options
@click.option(
    "--ranks",
    type=click.Choice(["joint", "stepwise", "each"]),
    help="Sets of ranks that hold for all entries at once, in the posterior (joint) or, wider, "
    "also where entries are equal (stepwise); or intervals of each by itself. Default joint, above "
    "100 entries stepwise.",
)
@click.option(
    "--by",
    type=click.Choice(["task"]),
    help="Skills in every task, drawn towards all of them, and who is the best of each.",
)
@number_option(DRAWS, "--draws", help="Posterior draws; default 1000, by task 10000.")
@top_option(15, "Entries shown.")
@interval_option
@seed_option
@estimate_options
def board(file: Path, shown: Reported, top: int, by: str | None, **options: Any) -> int:
    """Skill, rank and chance to be the best of every entry of a leaderboard.

    FILE is a leaderboard (one row per entry), answers (one row per item, one column per classifier;
    or a row for each model, item and run), or an evaluation log or a folder of logs, which are
    recognised. The ranks of all entries hold at once; those that may be the best have rank 1 among
    them.
    """
    from bayes_sota.leaderboard.specification import chosen_model

    ci_prob, draws, seed = (options.pop(name) for name in ("ci_prob", "draws", "seed"))
    settings: Any = {"ci_prob": ci_prob, "random_seed": chosen_seed(seed)}
    if by:
        return _board_by_task(file, shown, top, options, settings | {"draws": draws or 10_000})
    rho = chosen_correlation(*(options.pop(name) for name in _RHO))
    of_rho = {name: options.pop(name) for name in OF_RHO}
    settings |= {name: options.pop(name) for name in (*_QUESTIONS, "new_n_test")}
    if settings["new_score"] is None:
        note_unused("a board without --new-score", typed_of(settings, "new_n_test"))
    settings["ranks"] = options.pop("ranks") or "auto"
    data = read_file(file, **options)
    if rho is not None:
        of_rho = {"model": chosen_model(builder="leaderboard", correlation=rho, **of_rho)}
    table = leaderboard.board_table(data, draws=draws or 1000, **of_rho, **settings)
    return shown.deliver(table, top, lambda: leaderboard.plot_entries(table))


_OF_FIELDS = (
    *OF_RHO,
    *_RHO,
    "new_n_test",
    "ranks",
    *_QUESTIONS,
)


def _board_by_task(
    file: Path, shown: Reported, top: int, options: dict[str, Any], settings: dict[str, Any]
) -> int:
    refuse("--by task", typed_of(options, *_QUESTIONS, "average"))
    note_unused("--by task", typed_of(options, *_OF_FIELDS))
    rest = {name: value for name, value in options.items() if name not in _OF_FIELDS}
    data = read_file(file, **rest)
    if isinstance(data, Leaderboard):
        raise InputError("--by task needs answers, or numbers of items, with tasks: not scores")
    table = leaderboard.board_by_task(data, **settings)

    def draw() -> "PlotCollection":
        from bayes_sota.leaderboard.plots import draw_intervals

        best = {row["task"]: row["best"] for row in table.content["tasks"]}
        rows = [
            row | {"name": f"{row['task']}: {row['name']}"}
            for row in table.content["entries"]
            if best[row["task"]] == row["name"]
        ]
        sure = f"mean and {settings['ci_prob']:.0%} interval"
        return draw_intervals(rows[:40], f"skill of the best of each task: {sure}")

    return shown.deliver(table, top, draw)
