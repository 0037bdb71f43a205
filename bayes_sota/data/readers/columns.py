"""Which column holds the scores, and which the names."""

from bayes_sota.data.files.tables import Table, normalize_name
from bayes_sota.errors import InputError
from bayes_sota.shown_text import shown

__all__ = ["find_column", "find_name_column", "find_score_column"]

_SCORES = frozenset(
    (
        "score", "scores", "accuracy", "acc", "accnone", "publicscore", "privatescore",
        "scorepublic", "scoreprivate", "testscore", "testaccuracy", "testacc", "top1", "top1acc",
        "top1accuracy", "meantestscore", "auc", "rocauc", "metric", "value", "rmse", "mae", "mse",
        "rmsle", "loss", "logloss", "error", "dice", "dsc", "f1", "bleu", "kappa",
    )
)  # fmt: skip
# The first that exists is taken: of a team's id and its name, people know the name.
_NAMES = (
    "teamname", "team", "name", "modelname", "model", "methodname", "method", "classifier",
    "algorithm", "system", "entry", "submission", "participant", "player", "username", "user",
    "author", "teamid", "id",
)  # fmt: skip


def find_score_column(table: Table, wanted: str | None = None) -> int:
    """Position of the column of scores: the one asked for, or the only one that looks like it."""
    if wanted is not None:
        return find_column(table, wanted, "score_column")
    found = [i for i, name in enumerate(table.header) if normalize_name(name) in _SCORES]
    if len(found) == 1:
        return found[0]
    if not found:
        problem = "no column looks like scores"
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
