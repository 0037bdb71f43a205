"""``bayes-sota inspect``: the kind of a file, and the questions that it can answer.

A question is listed if the reader of its command takes the file (``tests/cli/test_inspect.py``
types all commands). Imports no PyMC.
"""

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click

from bayes_sota import claims, crossval, data, epp, items
from bayes_sota.cli.options import Input, command
from bayes_sota.cli.output import Answer
from bayes_sota.core.errors import InputError, listed, quoted
from bayes_sota.core.summary import list_report
from bayes_sota.core.tables import SOFTWARE
from bayes_sota.core.text import counted
from bayes_sota.data.logs import metrics_of_tasks
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.data.reading import open_all, read_table, read_tidy
from bayes_sota.data.tables import Table
from bayes_sota.data.tidy import Tidy
from bayes_sota.data.words import PLURALS, key, measure, place_in
from bayes_sota.items.score import has_counts, skills_of_shares

type Trial = tuple[Callable[[], Any], dict[str, str]]  # a reader, and questions by their commands

# What a user has to fill in for scores, and for accuracies, with a value to try.
_ERROR = " --standard-error S", " (S: error of one score)", {"standard_error": 0.01}
_SIZE = " --n-test N", " (N: test items)", {"n_test": 10**6}
_MARGIN = 0.02
_OF_LOGS = ("model", "task", "metric")
_OF_TABLES = ("entry", "task", "run", "metric")
_CLAIMS = {"claim batch {}": "How many claims are doubtful?"}
_CLASSES = {"cv run {}": "How good are learners, and how sure?"}
_FOLDS = {"cv judge {}": "Is the order reproducible?"}
_BOARD = {"board {}": "Who may be the best?", "sota {}": "How good is the best?"}
_ITEMS = {
    "claim responses {}": "Which methods cannot be distinguished?",
    "claim plan --gap 0.02 --pilot {}": "How many items distinguish the best two?",
}
_ALONE = {"score {}": "How good is each by itself?"}
_NEW_TASKS = {"board {} --new tasks": "Who may be the best in new tasks?"}
_PAIRS = {"claim responses {} --pairs": "Whose means differ, compared data set by data set?"}
_PAIR = {"paired {} --n-test-public N --n-test-private N": "How good is the public winner?"}
_ROUNDS = {"epp {}": "Who is better over rounds?", "epp {} --bayes": "... with uncertainty?"}


@command(uses="reading metric top", draws=False, example="inspect leaderboard.csv")
@click.argument("file", type=Input())
def inspect(file: Path, reading: dict[str, Any], metric: str | None) -> Answer:
    """Say what FILE holds and which questions it can answer, with the command for each.

    It also says which columns are used, and what is missing for other questions.
    """
    table, notes, asked = open_all(file)[0], list[str](), metric or reading.get("score")
    path, typed = shlex.quote(str(file)), _typed(reading)
    names = _different(table.columns, _OF_LOGS) if table.origin else {}
    kind, commands = "scores by several metrics", list[dict[str, str]]()
    trials = _of_metrics(table, asked)
    if not trials:
        table = read_table(table, asked)
        kind, trials = _trials(table, reading, notes, names)
        typed += f" --metric {shlex.quote(metric)}" if metric else ""
    for read, questions in trials:
        try:
            read()
        except InputError as error:
            question = next(iter(questions.values()))
            notes.append(f"Not from this file alone: {question} {error.render(())}")
            continue
        for words, question in questions.items():
            line = f"bayes-sota {words.replace('{}', path)} {typed.strip()}".rstrip()
            commands.append({"question": question, "command": line})
    lines = [f"{file.resolve().name} holds {counted(len(table), 'row')} ({kind})."]
    lines += [f"{counted(len(x), of, PLURALS.get(of))}: {listed(x)}." for of, x in names.items()]
    lines += ["No command can use this file as it is."] * (not commands)
    content = {"kind": kind, "names": names, "notes": notes}
    shown = {"question": "question", "command": "command"}
    about: Any = {"content": content, "sentences": lines, "basis": (SOFTWARE,)}
    return Answer(list_report("commands", commands, shown, **about))


def _typed(reading: Mapping[str, Any]) -> str:
    """Options of reading as they were typed."""
    words = []
    for name, value in reading.items():
        if name == "direction":
            words.append(f"--{value}-is-better")
        elif isinstance(value, str):
            words += ["--column", f"{name}={value}"]
        else:
            names = (f'"{one}"' if "," in one else one for one in value)  # as options take them
            words += [f"--{name.replace('_', '-')}", ",".join(names)]
    return shlex.join(words)


def _different(labels: Mapping[str, Any], roles: Sequence[str]) -> dict[str, list[str]]:
    """Different names of each role."""
    there = {role: dict.fromkeys(labels[role]) for role in roles if role in labels}
    return {role: [str(name) for name in names if name] for role, names in there.items()}


def _of_metrics(table: Table, asked: str | None) -> list[Trial]:
    """Metrics to choose from where tasks have several."""
    metrics = metrics_of_tasks(table, asked) if table.origin else {}
    several, found = [names for names in metrics.values() if len(names) > 1], dict[str, Trial]()
    for name in dict.fromkeys(chain.from_iterable(several)):
        joined = (name if name in names else names[0] for names in several)
        whole = "+".join(dict.fromkeys([*filter(None, [asked]), *joined]))
        words = f"inspect {{}} --metric {shlex.quote(whole)}"
        found[whole] = partial(read_table, table, whole), {words: f"What do scores by {whole} say?"}
    return list(found.values())


def _repeated(table: Table, reading: dict[str, Any]) -> object:
    """Which iterations of cross-validation are complete, at least two."""
    return crossval.read_fold_scores(table, **reading).completed(needed=2)


def _trials(
    table: Table, reading: dict[str, Any], notes: list[str], names: dict[str, list[str]]
) -> tuple[str, list[Trial]]:
    """Kind of a table, and what to ask of it; adds notes on what was read."""
    if {"accuracy_a", "mean_a"} & set(table.columns):
        return "claims", [(partial(claims.claims_table, table), _CLAIMS)]
    try:
        tidy = read_tidy(table, **reading)
    except InputError:
        if all(place_in("label", name) is None for name in table.columns):
            raise
        return "data", [(partial(crossval.read_task, table), _CLASSES)]
    notes += [tidy.sentence, *tidy.notes]
    if tidy.layout == "long" and not names:
        names |= _different(tidy.labels, _OF_TABLES)
    rounds: Trial = partial(_fit, table, reading), _ROUNDS
    alone: list[Trial] = [(partial(skills_of_shares, tidy), _ALONE)] * has_counts(tidy)
    if tidy.layout == "board":
        are_known = key(tidy.titles[0]) == "skill"
        notes += ["known skills are for --known FILE, beside scores of the same names"] * are_known
        return "known skills" if are_known else "leaderboard", [_of_board(tidy), *alone]
    if tidy.layout == "pair":
        read = partial(data.read_paired_boards, table, n_test=(10**6, 10**6), **reading)
        return "two boards", [(read, _PAIR)]
    if tidy.layout == "battles":
        return "battles", [rounds]
    if {"fold", "iteration"} & tidy.labels.keys():
        return "folds", [(partial(_repeated, table, reading), _FOLDS), rounds]
    if tidy.unit == "task":
        new: Trial = partial(data.read_leaderboard, tidy, new="tasks"), _NEW_TASKS
        pairs: Trial = lambda: data.read_outcomes(table, **reading).check_several(), _PAIRS
        return "rounds", [*[_of_board(tidy)] * bool(alone), *alone, new, pairs, rounds]
    try:
        outcomes = data.read_outcomes(table, **reading)
    except InputError as error:
        if error.parameter == "metric":  # a slip among answers, which are no scores of rounds
            raise
        if table.origin:  # answers of models that share no items are no scores of rounds
            return "answers", [(partial(data.read_outcomes, table, **reading), _BOARD)]
        return "rounds", [rounds]
    trials: list[Trial] = [(outcomes.check_complete, _BOARD), (outcomes.check_several, _ITEMS)]
    if outcomes.n_classifiers > 1:
        trials.append(_gate(outcomes))
    trials += [(partial(items.skills_alone, outcomes), _ALONE)]
    if "task" in tidy.labels:
        trials += [(lambda: outcomes.about("tasks").check_several(), _NEW_TASKS)]
    kind = "rounds" if outcomes.unit == "data set" else "item scores"  # of which each has one row
    return ("answers", trials) if outcomes.is_answers else (kind, [*trials, rounds])


def _fit(table: Table, reading: dict[str, Any]) -> None:
    """Raise if the scores have no finite skills."""
    scores = data.read_scores(table, **reading)
    for one in scores.values() if isinstance(scores, dict) else [scores]:
        epp.fit_epp(one)


def _gate(outcomes: Outcomes) -> Trial:
    """The gate for the first two names."""
    from bayes_sota.claims.pair import chosen_pair, law_of_pair

    a, b = outcomes.names[:2]
    words = f"claim responses {{}} --pair {shlex.join((a, b))} --margin {_MARGIN}"
    question = f"Is {quoted(a)} worse than {quoted(b)}, by more than {_MARGIN}?"
    # not the whole report, whose interval imports scipy.optimize
    return lambda: law_of_pair(chosen_pair(outcomes, (a, b)), a), {words: question}


def _of_board(tidy: Tidy) -> Trial:
    """Questions about a board, with what has to be filled in."""
    are_accuracies = measure(tidy.titles[0]) == "accuracy" and tidy.are_losses is False
    are_known = "se" in tidy.numbers or (are_accuracies and "n" in tidy.numbers)
    option, what, known = ("", "", {}) if are_known else _SIZE if are_accuracies else _ERROR
    questions = {f"{words}{option}": question + what for words, question in _BOARD.items()}
    return partial(data.read_leaderboard, tidy, **known), questions
