"""Which column holds the scores, and which the names; what names say about directions and sums."""

import re
from collections.abc import Iterable
from itertools import chain

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.data.printed_scores import parse_number

_LOSSES = frozenset(
    (
        "rmse", "mse", "mae", "mape", "rmsle", "msle", "loss", "logloss", "crossentropy", "nll",
        "bpb", "error", "errors", "err", "errorrate", "perplexity", "ppl", "wer", "cer", "fid",
        "brier", "deviance",
    )
)  # fmt: skip
_LOSS_ENDINGS = ("loss", "error", "rmse", "perplexity")
_GAINS = frozenset(("neg", "negative", "std", "standard", "stderr"))  # -loss; a standard error
_SUMMARIES = frozenset(
    (
        "average", "avg", "mean", "meanscore", "averagescore", "avgscore", "overall",
        "overallscore", "std", "stddev", "stderr", "sd",
    )
)  # fmt: skip
_SPREADS = re.compile(r".[\W_](std|stddev|stderr|sd)", re.IGNORECASE)
_MOST_CLASSES = 10_000

_SCORES = frozenset(
    (
        "score", "scores", "accuracy", "acc", "accnone", "publicscore", "privatescore",
        "scorepublic", "scoreprivate", "testscore", "testaccuracy", "testacc", "top1", "top1acc",
        "top1accuracy", "meantestscore", "auc", "rocauc", "metric", "value", "rmse", "mae", "mse",
        "rmsle", "loss", "logloss", "error", "perplexity", "dice", "dsc", "f1", "bleu", "kappa",
    )
)  # fmt: skip
# The first that exists is taken: of a team's id and its name, people know the name.
_NAMES = (
    "teamname", "team", "name", "modelname", "model", "methodname", "method", "classifier",
    "algorithm", "system", "entry", "submission", "participant", "player", "username", "user",
    "author", "teamid", "id",
)  # fmt: skip


def is_loss(name: str) -> bool:
    """Whether a name is that of an error or a loss, of which the lowest is the best.

    Examples
    --------
    >>> is_loss("test_RMSE"), is_loss("Error rate"), is_loss("neg_log_loss"), is_loss("acc_stderr")
    (True, True, False, False)
    """
    words = set(re.split(r"[\W_]+", name.lower()))
    key = normalize_name(name)
    known = bool(words & _LOSSES) or key in _LOSSES or key.endswith(_LOSS_ENDINGS)
    return known and not words & _GAINS


def is_summary(name: str) -> bool:
    """Whether a name is that of an average or a spread of others.

    Examples
    --------
    >>> is_summary("Average"), is_summary("qa_std"), is_summary("mean_teacher")
    (True, True, False)
    """
    spread = _SPREADS.search(name)
    return normalize_name(name) in _SUMMARIES or bool(spread and spread.end() == len(name))


def classes_seen(cells: Iterable[object]) -> str | None:
    """What cells are that look like predicted classes, for messages: several whole numbers only."""
    numbers = {parse_number(cell) for cell in cells}
    found = sorted(n for n in numbers if n is not None)
    whole = None not in numbers and all(n >= 0 and n == int(n) for n in found)
    if not whole or not 2 < len(found) <= _MOST_CLASSES:
        return None
    return (
        f"the cells are {len(found):,} whole numbers from {found[0]} to {found[-1]}, as predicted "
        "classes are: a matrix of answers has 1 (right) and 0 (wrong)"
    )


def find_score_column(table: Table, wanted: str | None = None) -> int:
    """Position of the column of scores: the one asked for, or the only one that looks like it."""
    if wanted is not None:
        return find_column(table, wanted, "score_column")
    found = [i for i, name in enumerate(table.header) if normalize_name(name) in _SCORES]
    if len(found) == 1:
        return found[0]
    if not found:
        problem = "no column looks like scores"
        seen = classes_seen(chain.from_iterable(table.columns[1:]))
        if len(table.columns) > 2 and seen:
            raise InputError(
                f"{table.where}: {seen}; claim responses compares classes with a column "
                "ground_truth"
            )
    else:
        several = ", ".join(shown(table.header[i]) for i in found)
        problem = f"{len(found)} columns look like scores ({several})"
    raise InputError(
        f"{table.where}: {problem}; there are {table.listed_columns()}: say which with score_column"
    )


def find_name_column(table: Table, wanted: str | None, scores: int) -> int | None:
    """Position of the column of names, None if there is none."""
    if wanted is not None:
        return find_column(table, wanted, "name_column")
    names = [normalize_name(name) for name in table.header]
    for name in _NAMES:
        found = [i for i, other in enumerate(names) if other == name and i != scores]
        if found:
            return found[0]
    return None


def find_column(table: Table, wanted: str, option: str) -> int:
    """Position of the only column of a name."""
    found = table.find_all(wanted)
    if len(found) == 1:
        return found[0]
    problem = f"{len(found)} columns are called" if found else "there is no column"
    raise InputError(
        f"{table.where}: {problem} {shown(wanted)} ({option}); there are {table.listed_columns()}"
    )
