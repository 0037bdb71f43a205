"""Commands on leaderboards: ``sota``, ``batch``, ``board`` and ``paired``.

``batch`` writes each result in the process that estimated it, so that finished ones survive an
interrupt.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota import core, leaderboard, maximum
from bayes_sota.cli.options import FOLDER, Input, command, note_unused, option, saves, with_anchors
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import CLASSES, COUNT, NUMBER, POSITIVE, PROCESSES
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.files import check_writable, make_directory
from bayes_sota.core.parallel import run_each, shown_progress
from bayes_sota.core.summary import estimand_summary, list_report, observed_maximum_of
from bayes_sota.core.tables import SOFTWARE, rows_of
from bayes_sota.core.text import checked_labels, counted, decimals_for, digest_of
from bayes_sota.data.answers import outcomes_of
from bayes_sota.data.boards import read_leaderboard, read_paired_boards
from bayes_sota.data.item_values import parse_passes
from bayes_sota.data.leaderboard import BestScore, Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.reading import read_table, read_tidy
from bayes_sota.maximum.summary import comparison_table

_N_TEST = "Number of test items; for tasks 100,200 or A:100,B:200. Default: the column n_test."
_CLASSIFIERS = "Number of classifiers, or a range A:B. Once per --maximum."
_METRICS = (None, "accuracy", "auc", "score", "mean", "rmse")  # no names of logs
_OF_SCORES = ("standard_error", "n_positive", "n_classifiers")


class _Count(click.ParamType):  # type: ignore[type-arg]
    """Number of classifiers, or a range ``A:B``."""

    name = "N"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            ends = [int(part.replace(",", "")) for part in value.split(":", 1)]
        except ValueError:
            wanted = "a whole number or a range A:B"
            raise InputError(f"{param.opts[0]} takes {wanted}, got {quoted(value)}") from None
        return tuple(ends) if len(ends) > 1 else ends[0]


def parse_sizes(context: Any, parameter: Any, typed: Any) -> Any:
    """Number of items: infer, one number, one for each task, or by the names of the tasks.

    >>> [parse_sizes(None, None, text) for text in ("100", "100,200", "law:100,art:50")]
    [100, [100, 200], {'law': 100, 'art': 50}]
    """
    if isinstance(typed, tuple):
        return tuple(parse_sizes(context, parameter, text) for text in typed)
    if typed in (None, "infer"):
        return typed
    parts = [part.rpartition(":") for part in typed.split(",")]
    names = [name.strip() for name, colon, _ in parts if colon]
    try:
        sizes = [int(size) for _, _, size in parts]
        if names:
            return dict(zip(names, sizes, strict=True))
    except ValueError:
        wanted = "a whole number or infer; for tasks 100,200 or A:100,B:200"
        raise InputError(f"--n-test takes {wanted}, got {quoted(typed)}") from None
    return sizes if len(sizes) > 1 else sizes[0]


_SIZES: dict[str, Any] = {"callback": parse_sizes, "metavar": "N|infer"}
_NUMBERS = ("observed_maximum", "theta_sota", "lower", "upper", "winner_skill")


def read_board(
    file: Path,
    reading: dict[str, Any],
    *,
    n_test: Any = None,
    metric: Any = None,
    average: Any = None,
    new: Any = None,
    **scores: Any,
) -> Leaderboard | Outcomes:
    """Read a file or a folder of logs.

    ``reading`` has arguments of ``read_tidy``, ``scores`` others of ``read_leaderboard``.
    """
    of_log = None if metric in _METRICS or parse_passes(metric) else metric
    tidy = read_tidy(read_table(file, of_log or reading.get("score")), **reading)
    if tidy.layout == "board":
        note_unused("on a leaderboard", "average", "new")
        return read_leaderboard(tidy, n_test=n_test, metric=metric, **scores)
    if tidy.unit == "task":
        note_unused("on averages over tasks", *_OF_SCORES)
        kind = None if of_log else metric
        return read_leaderboard(tidy, n_test=n_test, metric=kind, average=average, new=new)
    note_unused("on answers", "n_test", *_OF_SCORES)
    return outcomes_of(tidy, metric=metric, average=average, new=new)


@command(
    uses="metric standard_error n_positive domain field known reading prob seed",
    tree=True,
    example="sota --maximum 0.91157 --n-test 11072 --classifiers 3558",
)
@click.argument("file", required=False, type=Input())
@option("--maximum", multiple=True, help="Best observed score; may be repeated.")
@option("--n-test", multiple=True, help=f"{_N_TEST} Once per --maximum.", **_SIZES)
@option("--classifiers", multiple=True, type=_Count(), help=_CLASSIFIERS)
@option("--method", choices=["exact", "abc", "nuts"], help="Exact (default), simulation or NUTS.")
@option("--new-score", limits=NUMBER, help="Is our new score truly better than the best?")
@option("--compare", is_flag=True, rare=True, help="Add the paper's shrinking and cropping.")
@option("--n-classes", limits=CLASSES, rare=True, help="Number of classes, for --compare.")
def sota(
    file: Path | None, compare: bool, n_classes: int | None, prob: float, seed: int, **asked: Any
) -> Answer:
    """How good is the best, and how good is the winner?

    FILE is a leaderboard (a row per entry, with a column per task if there are several), a table of
    answers or numbers (a row per item and a column per classifier, or a row per model, item and
    run), with labels for AUC, an evaluation log or a folder of logs. Without FILE, --maximum gives
    the best score alone. Repeat --maximum, --n-test and --classifiers for several boards of one
    task, which share the distribution of skill and the correlation.
    """
    how = {name: asked.pop(name) for name in ("method", "new_score", "domain", "field")}
    how |= {"ci_prob": prob, "random_seed": seed}
    how["sensitivity"] = not click.get_current_context().params["quiet"]
    how["groups"] = "all" if saves(".nc") else "estimands"
    data = _read(file, **asked)
    if not compare:
        note_unused("without --compare", "n_classes")
    elif file is None:
        raise InputError("--compare takes the scores of a leaderboard FILE")
    elif n_classes is None and getattr(data, "metric", "accuracy") == "accuracy":
        raise InputError("--n-classes is missing: scores shrink towards chance, 1 / classes")
    report = leaderboard.report_sota(data, **how)
    tree = report.about
    if compare:
        frame = maximum.compare_estimates(data, tree, n_classes=n_classes, ci_prob=prob)
        rows = rows_of(frame)
        tables = [*report.tables, comparison_table(rows, len(data.names), prob)]
        report = replace(report, content=report.content | {"comparison": rows}, tables=tables)
    return Answer(report, lambda: maximum.plot_sota(tree, ci_prob=prob), lambda: tree)


def _read(file: Path | None, reading: Any, known: Any, **scores: Any) -> Any:
    """Board of a file, or one for each best score."""
    best, sizes, tries = (scores.pop(name) for name in ("maximum", "n_test", "classifiers"))
    if (file is None) == (not best):
        raise InputError("give FILE, or --maximum S, such as 0.9116, but not both")
    if file is None:
        if reading.get("direction") == "lower":
            raise InputError("--maximum is the largest score: write an error rate e as 1 - e")
        note_unused("with --maximum", "column", "use", "leave_out", "known")
        return _boards(best, sizes, tries, scores)
    if len(sizes) > 1 or len(tries) > 1:
        raise InputError("one FILE takes one --n-test and one --classifiers")
    (size,), (number,) = sizes or (None,), tries or (None,)
    data = read_board(file, reading, n_test=size, n_classifiers=number, **scores)
    return with_anchors(data, known)


def _boards(
    maxima: Sequence[str], sizes: Sequence[Any], tries: Sequence[Any], scores: dict[str, Any]
) -> tuple[BestScore, ...]:
    if scores["metric"] == "score" and not sizes:
        sizes = (None,) * len(maxima)
    if not len(maxima) == len(sizes) == len(tries):
        raise InputError(
            "give --maximum, --n-test and --classifiers once for each board, got "
            f"{len(maxima)}, {len(sizes)} and {len(tries)} of them"
        )
    scores = {name: value for name, value in scores.items() if value is not None}
    names = [f"board {k}" for k in range(1, 1 + len(maxima))] if len(maxima) > 1 else ["board"]
    return tuple(
        BestScore(score, n_test=n, n_classifiers=m, name=name, **scores)
        for score, n, m, name in zip(maxima, sizes, tries, names, strict=True)
    )


@command(
    uses="metric standard_error domain field reading prob seed top",
    draws=False,
    example="batch *.csv --n-test 500 --output-dir results --cores 2",
)
@click.argument("files", type=Input(), nargs=-1, required=True)
@option("--n-test", help=_N_TEST, **_SIZES)
@option("--output-dir", type=FOLDER, required=True, help="Folder of the results, NAME.nc.")
@option("--cores", limits=PROCESSES, default=1, help="Number of processes.")
def batch(files: tuple[Path, ...], output_dir: Path, cores: int, **options: Any) -> Answer:
    """State of the art of many boards, one result file for each.

    FILES are read as by sota. A result from the same data, options and version is kept, any other
    is replaced. A file that fails does not stop the others.
    """
    n, prob, seed = len(files), options["prob"], options["seed"]
    checked_labels([file.stem for file in files], n, "board")
    make_directory(output_dir)
    check_writable(output_dir / f"{files[0].stem}.nc")
    summarize, rows = partial(_row, folder=output_dir, **options), []
    with shown_progress(n, "boards") as advance:
        for _, row in run_each(summarize, files, cores=cores):
            rows.append(row)
            advance()
    failed = [row for row in rows if row["theta_sota"] is None]
    n_failed = len(failed)
    columns: dict[str, Any] = {
        "board": "board",
        "best score": "observed_maximum",
        "theta_sota": lambda row: _shown(row, "theta_sota"),
        f"{prob:.0%} interval": lambda row: _shown(row, "lower", "upper"),
        "winner's skill": lambda row: _shown(row, "winner_skill"),
        "problem": "problem",
    }
    report = list_report(
        "boards",
        rows,
        columns,
        content={"n_boards": n, "n_failed": n_failed, "prob": prob, "seed": seed},
        sentences=[f"Results: {n - n_failed:,} of {counted(n, 'board')}."],
        legend=["theta_sota: skill of the best classifier."],
        reasons=[_problem(row) for row in rows if row["problem"] and row not in failed],
        basis=(f"seed {seed}", SOFTWARE),
    )
    return Answer(report, failed=[_problem(row) for row in failed])


def _problem(row: dict[str, Any]) -> str:
    return f"{row['board']}: {row['problem']}"


def _shown(row: dict[str, Any], *names: str) -> str | None:
    """Numbers with as many digits as the interval supports."""
    if row["theta_sota"] is None:
        return None
    digits = decimals_for((row["upper"] - row["lower"]) / 4)
    return " to ".join(f"{row[name]:.{digits}f}" for name in names)


def _row(file: Path, *, folder: Path, prob: float, seed: int, **options: Any) -> dict[str, Any]:
    """Summary of the result of one file, or the problem."""
    from bayes_sota.leaderboard.sample_estimate import seed_of

    how = {name: options.pop(name) for name in ("domain", "field")}
    how["random_seed"] = seed_of(seed, file.name)
    row = {"board": file.stem} | dict.fromkeys((*_NUMBERS, "problem"))
    row["seed"] = str(how["random_seed"])
    try:
        tree = _result(file, folder / f"{file.stem}.nc", how, **options)
    except Exception as error:  # the other files are estimated, whatever is wrong with this one
        known = [name for one in batch.params for name in one.opts]
        said = error.render(known) if isinstance(error, InputError) else repr(error)
        return row | {"problem": said.removeprefix(f"{file}: ")}
    row["observed_maximum"] = float(observed_maximum_of(tree))
    best, winner = (estimand_summary(tree, name, prob) for name in ("theta_sota", "winner_skill"))
    row["theta_sota"], (row["lower"], row["upper"]) = best["mean"], best["interval"]
    row["winner_skill"] = winner["mean"]
    return row | {"problem": "; ".join(core.diagnose(tree)["reasons"])}


def _result(file: Path, target: Path, how: dict[str, Any], **options: Any) -> Any:
    """Result of one file; an earlier one if it has the same input."""
    board = read_board(file, **options)
    made_from = digest_of(board.data_hash(), how, SOFTWARE)
    with suppress(InputError):  # there is no result, or it is damaged
        tree = core.read_result(target)
        if tree.attrs.get("made_from") == made_from:
            return tree
    from bayes_sota.leaderboard.sample_estimate import estimate

    tree, *_ = estimate(board, **how)  # without a warning: the row has the problem
    tree.attrs["made_from"] = made_from
    core.save_result(tree, target)
    return tree


@command(
    uses="metric standard_error n_positive new average domain field known reading prob seed top",
    example="board leaderboard.csv --n-test 500 --save table.md",
)
@click.argument("file", type=Input())
@option("--n-test", help=_N_TEST, **_SIZES)
@option("--by", choices=["task"], default=None, help="Skills and the best entry of each task.")
def board(
    file: Path, by: Any, known: Any, domain: Any, field: Any, prob: float, seed: int, **asked: Any
) -> Answer:
    """Skill, rank and probability of being the best of every entry of a leaderboard.

    FILE is read as by sota. The rank sets of all entries hold at once; rank 1 is in the set of
    every entry that may be the best.
    """
    data = with_anchors(read_board(file, **asked), known)
    settings: Any = {"ci_prob": prob, "random_seed": seed}
    if by:
        note_unused("with --by task", "average", "domain", "field", "known")
        if isinstance(data, Leaderboard):
            raise InputError("--by task needs the answer to every item: this file has scores only")
        table = leaderboard.board_by_task(data, **settings)
        best, of = _best_of_tasks(table.content["entries"]), "skill of the best of each task"
        return Answer(table, lambda: leaderboard.plot_skills(best[:40], prob, of))
    table = leaderboard.board_table(data, domain=domain, field=field, **settings)
    return Answer(table, lambda: leaderboard.plot_entries(table))


def _best_of_tasks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    best = {row["task"]: row for row in sorted(rows, key=lambda row: row["p_best"])}
    return [row | {"name": f"{task}: {row['name']}"} for task, row in best.items()]


@command(
    uses="reading domain field known prob seed",
    tree=True,
    example="paired boards.csv --n-test-public 2000 --n-test-private 8000",
)
@click.argument("file", type=Input())
@option("--private-file", type=Input(), help="Private board, joined on the teams' names.")
@option("--n-test-public", limits=COUNT, help="Number of public test items, for accuracies.")
@option("--n-test-private", limits=COUNT, help="Number of private test items.")
@option("--standard-error-public", limits=POSITIVE, rare=True, help="Error of one public score.")
@option("--standard-error-private", limits=POSITIVE, rare=True, help="Error of one private score.")
def paired(file: Path, reading: dict[str, Any], prob: float, seed: int, **asked: Any) -> Answer:
    """How good are the best team and the public winner, by the public and the private board?

    Without test-set sizes or standard errors, the noise is learnt from the differences, and rho
    keeps its prior.
    """
    sizes: Any = {name: _both(asked, name) for name in ("n_test", "standard_errors")}
    boards = read_paired_boards(file, asked["private_file"], **sizes, **reading)
    boards = with_anchors(boards, asked["known"])
    of_rho: Any = {"domain": asked["domain"], "field": asked["field"]}
    groups: Any = "all" if saves(".nc") else "estimands"
    tree = leaderboard.estimate_paired(boards, random_seed=seed, groups=groups, **of_rho)
    report = leaderboard.describe_paired(tree, boards, prob)
    return Answer(report, lambda: maximum.plot_sota(tree, ci_prob=prob), lambda: tree)


def _both(sizes: dict[str, Any], name: str) -> tuple[Any, Any] | None:
    start = name.removesuffix("s")
    public, private = (sizes[f"{start}_{board}"] for board in ("public", "private"))
    if (public is None) != (private is None):
        option = f"--{start.replace('_', '-')}-{'private' if private is None else 'public'}"
        raise InputError(f"{option} is missing: the two boards need one each")
    return None if public is None else (public, private)
