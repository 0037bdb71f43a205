"""``bayes-sota inspect``: what a file holds, and which questions it can answer.

Every kind of file is tried with the reader that its commands use, so that nothing is said here that
a command would not do (``tests/cli/test_inspect.py``). Imports no PyMC.
"""

import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click

from bayes_sota.claims.command import responses
from bayes_sota.core.command import (
    INSPECT,
    InputFile,
    Shown,
    command,
    name_options,
    report_options,
)
from bayes_sota.core.errors import AmbiguousMetricError, InfiniteEstimateError, InputError
from bayes_sota.core.summary import list_report
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import counted
from bayes_sota.data.files.content import Content
from bayes_sota.data.files.opening import open_source, open_table
from bayes_sota.data.formats.item_logs import is_log_archive
from bayes_sota.data.formats.lm_evaluation import read_lm_eval_tasks, result_files
from bayes_sota.data.lattice import infer_n_test
from bayes_sota.data.matches import Matches
from bayes_sota.data.outcomes import FEWEST_TASKS
from bayes_sota.data.readers.boards import read_entries, read_paired_boards
from bayes_sota.data.readers.columns import WORDS, named_in
from bayes_sota.data.readers.metric_names import refuse_other_metric
from bayes_sota.data.readers.outcomes import (
    looks_like_item_scores,
    looks_like_responses,
    read_evaluations,
    read_item_scores,
)
from bayes_sota.data.responses import Responses
from bayes_sota.data.rounds import read_fold_scores, read_scores
from bayes_sota.epp.command import epp
from bayes_sota.leaderboard.command import sota

_CROWD = 100  # entries, as competitions have them
_PLACE = re.compile(r"line (?P<line>\d+)(?:, column '(?P<column>[^']*)')?(?:: '(?P<value>[^']*)')?")


@dataclass(frozen=True)
class Finding:
    """What one file holds.

    Attributes
    ----------
    kind : str
    said : str
        A sentence about it.
    facts : dict
        Numbers, by the keys of ``--json``.
    commands : list of (question, command)
        What can be asked; the file stands for ``{}``.
    missing : list of (question, what)
        What cannot, and what it takes.
    notes : list of str
    """

    kind: str
    said: str
    facts: dict[str, Any]
    commands: list[tuple[str, str]]
    missing: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@command(INSPECT, epilog="Example: bayes-sota inspect leaderboard.csv")
@click.argument("file", type=InputFile(folders=True))
@report_options
def inspect_file(file: Path, shown: Shown) -> int:
    """Say what FILE holds, every question that it can answer, and the command for it.

    It also says what is doubtful in it, and what it lacks for other questions.
    """
    finding, problems = inspected(file)
    name = shlex.quote(str(file))
    commands = [
        {"question": question, "command": f"bayes-sota {words.format(name)}"}
        for question, words in finding.commands
    ]
    lacking = [{"question": question, "what": what} for question, what in finding.missing]
    facts = dict.fromkeys(("n_classifiers", "n_items", "n_tasks", "n_clusters", "n_runs", "metric"))
    report = list_report(
        "commands",
        commands,
        {"question": "question", "command": "command"},
        sentences=(finding.said,),
        content={
            "kind": finding.kind,
            **facts,
            **finding.facts,
            "problems": problems,
            "missing": lacking,
            "notes": finding.notes,
        },
        legend=[
            *(f"It cannot be read as {of['as']}: {of['why']}" for of in problems),
            *(
                f"Not from this file alone: {of['question']}. It takes {of['what']}."
                for of in lacking
            ),
        ],
        notes=finding.notes,
        basis=(SOFTWARE,),
    )
    return shown.deliver(report) or int(not commands)


def inspected(file: Path) -> tuple[Finding, list[dict[str, Any]]]:
    """What a file holds, and what is wrong with it: a line each, as the commands say it.

    The first kind whose reader takes it counts; files that look like answers, but are broken, are
    not tried as anything else.
    """
    results = result_files(file)
    if results is not None:
        return _results(results), []
    said_of: dict[Callable[[Path], Finding], tuple[str, click.Command]] = {
        _answers: ("answers", responses),
        _numbers: ("numbers for items", sota),
        _leaderboard: ("a leaderboard", sota),
        _rounds: ("scores over rounds", epp),
    }
    kinds = _kinds_of(file)
    problems: list[dict[str, Any]] = []
    for kind in kinds:
        try:
            return kind(file), problems[-1:] if kind is _numbers else []
        except InputError as error:
            if kind in said_of:
                name, reader = said_of[kind]
                why = name_options(str(error), reader.params).split("; also ")[0]
                problems.append(problem_of(why) | {"as": name})
    if len(kinds) == 1:
        said = f"{file.name} looks like answers or numbers for items, but cannot be read."
        return Finding("items", said, {}, []), problems
    said = f"{file.name} is none of the files that one command reads by itself."
    what = "a table of another form; bayes-sota examples writes one of each"
    return Finding("unknown", said, {}, [], [("anything", what)]), problems


def _kinds_of(file: Path) -> list[Callable[[Path], Finding]]:
    """What a file may be, in the order in which that is tried."""
    if file.is_dir() or looks_like_responses(file):
        return [_answers]
    if is_log_archive(file) or isinstance(open_source(file), Content):
        return [_answers, _rounds]
    if looks_like_item_scores(file):
        return [_numbers]
    return [
        _fold_scores,
        _paired,
        _claims,
        _leaderboard,
        _rounds,
        _numbers,
        _data,
    ]


def problem_of(message: str) -> dict[str, Any]:
    """Line, column and value that a message names, and the message.

    Examples
    --------
    >>> problem_of("x.csv: line 3, column 'a': '2' is no answer")["value"]
    '2'
    """
    place = _PLACE.search(message)
    problem: dict[str, Any] = {"line": None, "column": None, "value": None, "why": message}
    if place:
        problem |= {**place.groupdict(), "line": int(place["line"])}
    return problem


def _of_board(options: str = "") -> list[tuple[str, str]]:
    """What can be asked of a whole board."""
    return [
        ("How good is the best?", f"sota {{}}{options}"),
        ("Who may be the best?", f"board {{}}{options}"),
    ]


def _evaluations_of(file: Path) -> tuple[Any, str]:
    """Answers, and the option for a metric where that has to be chosen."""
    try:
        return read_evaluations(file), ""
    except AmbiguousMetricError as error:
        evaluations = read_evaluations(file, metric=error.metrics[0])
        doubt = name_options(str(error), responses.params)
        notes = (doubt, *evaluations.notes)
        return replace(evaluations, notes=notes), f" --metric {error.metrics[0]}"


def _answers(file: Path) -> Finding:
    evaluations, chosen = _evaluations_of(file)
    data = evaluations.outcomes
    if not isinstance(data, Responses):
        return _of_numbers(data, list(evaluations.notes))
    methods, runs, tasks = data.names, data.n_runs, len(data.task_weights)
    facts = {
        "n_classifiers": len(methods),
        "n_items": data.n_items,
        "n_tasks": tasks or None,
        "n_clusters": data.n_clusters,
        "n_runs": runs,
        "metric": "accuracy",
    }
    several = len(methods) > 1
    known = file.is_dir() or looks_like_responses(file)  # of which sota and board know what it is
    table = several and known
    asked = [
        ("How good is each classifier by itself?", "score {}", True),
        ("... on new runs of these very items?", "score {} --new runs", runs > 1),
        ("... on new tasks like these?", "score {} --new tasks", tasks >= 3),
        ("Is one of several runs right?", "score {} --metric pass@2", runs > 1 and not chosen),
        ("Who may be the best?", "board {}", table),
        ("... in new tasks like these?", "board {} --new tasks", table and tasks >= 3),
        ("What can each do in every task?", "board {} --by task", table and tasks > 1),
        ("How good is the best?", "sota {}", table),
        ("Which methods cannot be told apart?", "claim responses {}", several),
        ("How many items tell the best two apart?", "claim plan --gap 0.02 --pilot {}", several),
    ]
    lacking = [
        ("who is better", "answers of another classifier to the same items", not several),
        ("more runs or more items", "several runs, in a column run or seed", runs < 2),
        ("skill on new tasks", "a column that names the task of each item", not tasks),
    ]
    commands, missing = (
        [(question, what + chosen * (rows is asked)) for question, what, holds in rows if holds]
        for rows in (asked, lacking)
    )
    notes = [*evaluations.notes]
    notes += ["answers are missing; taken to be missing at random"] * data.has_missing
    return Finding("answers", _said_of_answers(file, facts), facts, commands, missing, notes)


def _said_of_answers(file: Path, facts: dict[str, Any]) -> str:
    """How many classifiers, items, tasks, clusters and runs there are."""
    runs, clusters, tasks = (facts[f"n_{what}"] for what in ("runs", "clusters", "tasks"))
    parts = [counted(tasks, "task")] if tasks else []
    parts += [] if clusters is None else [f"{clusters:,} clusters"]
    parts += [f"{runs:,} runs"] * (runs > 1)
    return (
        f"{file.resolve().name} has the answers of "
        f"{counted(facts['n_classifiers'], 'classifier')} to "
        f"{counted(facts['n_items'], 'item')}{f' ({", ".join(parts)})' * bool(parts)}."
    )


def _numbers(file: Path) -> Finding:
    return _of_numbers(read_item_scores(file), [])


def _of_numbers(data: Any, notes: list[str]) -> Finding:
    facts = {
        "n_classifiers": data.n_classifiers,
        "n_items": data.n_items,
        "metric": data.metric,
        "n_clusters": data.n_clusters,
    }
    auc = data.metric == "auc"
    compared = "claim responses {}" + " --item-metric auc" * auc
    commands = [
        *_of_board(f" --item-metric {data.metric}"),
        ("Which methods cannot be told apart?", compared),
        *[("How good is each by itself?", "score {}")] * (not auc),
    ]
    what = "outputs beside labels, of which AUCs are made" if auc else "a number per item"
    said = f"The file has {what}: {data.n_items:,} items, {data.n_classifiers:,} classifiers."
    return Finding("item scores", said, facts, commands, [], notes)


def _leaderboard(file: Path) -> Finding:
    drop = ""
    try:
        entries = read_entries(file)
    except InputError:
        entries, drop = read_entries(file, missing="drop"), " --missing drop"
    facts: dict[str, Any] = {"n_classifiers": len(entries.scores)}
    said = f"{file.name} is a leaderboard of {counted(len(entries.scores), 'entry', 'entries')}"
    entries.check(percent=None, bounded=False)  # what is no number is an error
    try:
        refuse_other_metric(entries.table.where, entries.title)
        entries.check(percent=None)
    except InputError as error:
        commands = _of_board(f" --metric score --standard-error S{drop}")
        missing = [("the error of a score", "S, the standard error of one score, or answers")]
        return Finding(
            "leaderboard",
            f"{said}, whose scores are no accuracies.",
            facts | {"metric": "score"},
            commands,
            missing,
            [*entries.notes, str(error)],
        )
    fit = infer_n_test(entries.scores, entries.rounding_order("auto"))
    known = f"{fit.n_test}" if fit.is_identified else "N"
    size = f"; {fit.n_test:,} test items, inferred from them" if fit.is_identified else ""
    missing = [] if fit.is_identified else [("any of these", "N, the number of test items")]
    missing.append(("which of two entries is better", "the answers of each to each item"))
    commands = [
        *_of_board(f" --n-test {known}{drop}"),
    ]
    if len(entries.scores) >= _CROWD and not entries.is_kaggle:  # of which that is known
        question = "... of teams in a competition, who combine models?"
        commands.insert(2, (question, f"board {{}} --n-test {known}{drop} --field ensembles"))
    facts |= {"metric": "accuracy", "n_items": fit.n_test if fit.is_identified else None}
    return Finding("leaderboard", f"{said}{size}.", facts, commands, missing, list(entries.notes))


def _results(files: list[Path]) -> Finding:
    """Results of lm-evaluation-harness, a file for each model."""
    board = read_lm_eval_tasks(files)
    facts: dict[str, Any] = {"n_classifiers": len(board.names), "n_tasks": len(board.tasks)}
    facts |= {"n_items": board.n_items, "metric": board.metric}
    said = (
        f"These are results of {counted(len(board.names), 'model')} in "
        f"{counted(len(board.tasks), 'task')}."
    )
    commands = _of_board()
    if len(board.tasks) > FEWEST_TASKS:
        commands.append(("Who may be the best in new tasks?", "board {} --new tasks"))
    missing = [("which of two models is better", "the answers of each to each item (samples)")]
    return Finding("leaderboard", said, facts, commands, missing, list(board.notes))


def _paired(file: Path) -> Finding:
    boards = read_paired_boards(file, n_test=(10**6, 10**6), standard_errors=None)
    said = f"{file.name} has a public and a private score of {len(boards.names):,} teams."
    commands = [
        ("How good is the public winner?", "paired {} --n-test-public N --n-test-private M")
    ]
    missing = [("this", "N and M, the numbers of test items of both boards")]
    return Finding("two boards", said, {"n_classifiers": len(boards.names)}, commands, missing)


def _claims(file: Path) -> Finding:
    from bayes_sota.claims.summary_review import read_claims

    said = f"{file.name} has {counted(len(read_claims(file)), 'claim')}."
    return Finding("claims", said, {}, [("How many are doubtful?", "claim batch {}")])


def _data(file: Path) -> Finding:
    table = open_table(file)
    targets = named_in(table, WORDS["labels"])
    if len(targets) != 1:
        raise InputError(f"{file}: no column of classes, such as y or target")
    said = (
        f"{file.name} has {len(table.places):,} items with {len(table.header) - 1:,} numbers and a "
        "class each, to train classifiers on."
    )
    target = shlex.quote(table.header[targets[0]])
    commands = [("How good are learners, and how sure?", f"cv run {{}} --column target={target}")]
    return Finding("data", said, {"n_items": len(table.places)}, commands)


def _fold_scores(file: Path) -> Finding:
    runs = read_fold_scores(file)
    said = (
        f"{file.name} has scores of repeated cross-validation: {len(runs.learners):,} learners on "
        f"{counted(len(runs.tasks), 'data set')}."
    )
    commands = [("Is the order reproducible?", "cv judge {}")]
    facts = {"n_classifiers": len(runs.learners), "n_tasks": len(runs.tasks)}
    return Finding("cross-validation", said, facts, commands)


def _rounds(file: Path) -> Finding:
    from bayes_sota.epp.fit import fit_epp

    scores, options = read_scores(file), ""
    commands = [
        ("Who is better over rounds?", f"epp {{}}{options}"),
        ("... with their uncertainty?", f"epp {{}}{options} --bayes"),
    ]
    if isinstance(scores, Matches):
        said = f"{file.name} has {len(scores.first):,} battles of {len(scores.players):,} players."
        return Finding("battles", said, {"n_classifiers": len(scores.players)}, commands)
    if isinstance(scores, dict):
        players = {name for table in scores.values() for name in table.players}
        said = f"{file.name} has scores of {len(players):,} players in {len(scores):,} tournaments."
        return Finding("rounds", said, {"n_classifiers": len(players)}, commands)
    size = f"{len(scores.players):,} players in {len(scores.rounds):,} rounds"
    said = f"{file.name} has scores of {size}."
    try:
        fit_epp(scores)
    except InfiniteEstimateError:
        commands = [(question, f"{words} --penalty 0.5") for question, words in commands]
    with suppress(InputError):
        read_evaluations(file)
        commands.append(("Whose mean is the best on new rounds, or items?", "claim responses {}"))
    return Finding("rounds", said, {"n_classifiers": len(scores.players)}, commands)
