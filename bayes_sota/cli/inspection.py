"""``bayes-sota inspect``: what a file holds, and which questions it can answer.

A question is listed with its command where the reader of that command took the file, in this
process (``tests/cli/test_inspect.py`` types them all). Imports no PyMC.
"""

import shlex
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from bayes_sota.core.command import INSPECT, InputFile, Shown, command, report_options
from bayes_sota.core.errors import AmbiguousMetricError, InfiniteEstimateError, InputError
from bayes_sota.core.summary import list_report
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import counted
from bayes_sota.data.answers import outcomes_of
from bayes_sota.data.boards import read_leaderboard, read_paired_boards
from bayes_sota.data.command import reading_options, typed_of_reading
from bayes_sota.data.fold_scores import read_fold_scores
from bayes_sota.data.opening import read_table
from bayes_sota.data.reading import read_tidy
from bayes_sota.data.rounds import read_scores
from bayes_sota.data.sizes import infer_n_test
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import measure, place_in
from bayes_sota.epp.fit import fit_epp
from bayes_sota.items.score import skills_alone

type Question = tuple[str, str, Callable[[], Any]]  # what is asked, the command, a trial of it

_SIZE, _ERROR = 10**6, 0.01  # that a trial takes where a user has to fill in N or S


@command(INSPECT, epilog="Example: bayes-sota inspect leaderboard.csv")
@click.argument("file", type=InputFile(folders=True))
@reading_options
@report_options
def inspect_file(file: Path, reading: dict[str, Any], shown: Shown) -> int:
    """Say what FILE holds, every question that it can answer, and the command for it.

    It also says which columns it would use, and what it lacks for other questions.
    """
    metric = ""
    try:
        table = read_table(file)
    except AmbiguousMetricError as error:
        metric = error.metrics[0]
        table = read_table(file, metric)
    kind, questions, held, notes = _found(table, reading)
    commands, missing = [], []
    typed = " ".join([*typed_of_reading(reading), f"--metric {metric}" * bool(metric)])
    for question, words, trial in questions:
        try:
            trial()
        except InfiniteEstimateError:
            words += " --penalty 0.5"
        except InputError as error:
            missing.append({"question": question, "what": error.render(shell=True)})
            continue
        line = f"bayes-sota {words.format(shlex.quote(str(file)))} {typed}".strip()
        commands.append({"question": question, "command": line})
    report = list_report(
        "commands",
        commands,
        {"question": "question", "command": "command"},
        sentences=(f"{file.resolve().name} holds {held}.",),
        content={"kind": kind, "missing": missing, "notes": notes},
        legend=[f"Not from this file alone: {of['question']} {of['what']}" for of in missing],
        notes=notes,
        basis=(SOFTWARE,),
    )
    return shown.deliver(report) or int(not commands)


def _found(table: Table, reading: dict[str, Any]) -> tuple[str, list[Question], str, list[str]]:
    """Kind of a table, questions to try, what it holds in words, and notes."""
    of_rows = counted(len(table), "row")
    if {"accuracy_a", "mean_a"} & set(table.columns):
        review = ("How many claims are doubtful?", "claim batch {}", lambda: None)
        return "claims", [review], f"{of_rows} of claims", []
    learn = "How good are learners, and how sure?"
    to_learn: list[Question] = [
        (learn, f"cv run {{}} --column target={shlex.quote(name)}", lambda: None)
        for name in table.columns
        if place_in("label", name) is not None
    ]
    try:
        tidy = read_tidy(table, **reading).with_items()
    except InputError:
        if not to_learn:
            raise
        return "data", to_learn, f"{of_rows} of items to train classifiers on", []
    entries = counted(len(set(tidy.labels["entry"])), "entry", "entries")
    kind, questions = _questions(tidy, table, reading)
    return kind, questions + to_learn, f"{entries} in {of_rows}", [tidy.sentence, *tidy.notes]


def _questions(tidy: Tidy, table: Table, reading: dict[str, Any]) -> tuple[str, list[Question]]:
    """What may be asked of scores, by how the table holds them."""
    if tidy.layout == "board":
        return "leaderboard", _of_board(tidy)
    if tidy.layout == "pair":
        words = "paired {} --n-test-public N --n-test-private N"
        read = partial(read_paired_boards, table, n_test=(_SIZE, _SIZE), **reading)
        return "two boards", [("How good is the public winner?", words, read)]
    fitted = partial(_fit, table, reading)
    of_rounds: list[Question] = [
        ("Who is better over rounds?", "epp {}", fitted),
        ("... with their uncertainty?", "epp {} --bayes", fitted),
    ]
    if tidy.layout == "battles":
        return "battles", of_rounds
    if {"fold", "iteration"} & tidy.labels.keys():
        folds = partial(read_fold_scores, table, **reading)
        judged: Question = ("Is the order reproducible?", "cv judge {}", folds)
        return "cross-validation", [judged, *of_rounds]
    if tidy.unit == "task":
        new = partial(read_leaderboard, tidy, new="tasks")
        same = partial(read_leaderboard, tidy, n_test=_SIZE)
        sizes = " --n-test N" * ("n" not in tidy.numbers)
        return "rounds", [
            ("Who may be the best in new tasks?", "board {} --new tasks", new),
            ("... on new items of these?", f"board {{}}{sizes}", same),
            *of_rounds,
        ]
    try:
        outcomes = outcomes_of(tidy)
    except InputError:
        return "rounds", of_rounds
    several = outcomes.check_several
    asked: list[Question] = [
        ("Who may be the best?", "board {}", several),
        ("How good is the best?", "sota {}", several),
        ("How good is each by itself?", "score {}", partial(skills_alone, outcomes)),
        ("Which methods cannot be told apart?", "claim responses {}", several),
        ("How many items tell the best two apart?", "claim plan --gap 0.02 --pilot {}", several),
    ]
    if "task" in tidy.labels:
        several_tasks = lambda: outcomes_of(tidy, new="tasks").check_several()  # noqa: E731
        asked.append(("Who may be the best in new tasks?", "board {} --new tasks", several_tasks))
        asked.append(("What can each do in every task?", "board {} --by task", several))
    if "run" in tidy.labels:
        runs = partial(outcomes_of, tidy, new="runs")
        asked.append(("How good on new runs of these items?", "score {} --new runs", runs))
    return ("answers", asked) if outcomes.is_answers else ("item scores", asked + of_rounds)


def _fit(table: Table, reading: dict[str, Any]) -> None:
    """Raise where scores over rounds have no finite skills, or are none."""
    scores = read_scores(table, **reading)
    for one in scores.values() if isinstance(scores, dict) else [scores]:
        fit_epp(one)


def _of_board(tidy: Tidy) -> list[Question]:
    """Questions about entries with a score each, with what has to be filled in."""
    options, known = "", dict[str, Any]()
    if "se" not in tidy.numbers and (measure(tidy.titles[0]) != "accuracy" or tidy.lower_is_better):
        options, known = " --standard-error S", {"standard_error": _ERROR}
    elif not {"se", "n"} & tidy.numbers.keys():
        fit = infer_n_test(tidy.texts)
        size = fit.n_test if fit.is_identified else None
        options, known = f" --n-test {size or 'N'}", {"n_test": size or _SIZE}
    trial = partial(read_leaderboard, tidy, **known)
    return [
        ("Who may be the best?", f"board {{}}{options}", trial),
        ("How good is the best?", f"sota {{}}{options}", trial),
    ]
