"""What numbers measure, told from the name of their column.

An accuracy is a share of right answers, whose error follows from the number of items. The names of
other metrics, of averages and of losses stand in ``vocabulary.toml``;
``tests/data/test_metric_names.py`` holds what is told from names and from numbers.
"""

import re
from collections.abc import Iterable, Sequence

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import several, shown
from bayes_sota.data.files.tables import normalize_name
from bayes_sota.data.readers.columns import ACCURACIES, WORDS, name_words

_LOSS_ENDINGS = ("loss", "error", "rmse", "perplexity")
_GAINS = frozenset(("neg", "negative", "std", "standard", "stderr"))  # -loss; a standard error
_SPREADS = re.compile(r".[\W_](stderr|stddev|std|sd)", re.IGNORECASE)
LARGER = " (larger is better)"
"""What stands behind the name of a column of scores that are no losses, though called so."""
_QUESTION = re.compile(r"(is|has)[\W_]", re.IGNORECASE)
_RANK = re.compile(r"(.+)[\W_]rank", re.IGNORECASE)
_AT = re.compile(r"(?:^|[\W_])([a-z]+)@(\d+)", re.IGNORECASE)  # precision@1
_MEANS = frozenset(("mean", "average", "averages", "averaged", "avg"))
_AT_K = {"r": "recall", "p": "precision"}
_ERRORS = (
    'give metric="score" and standard_error, the standard error of one score, or stderr_column, a '
    "column of them"
)
_OF_ERRORS = frozenset(("stderr", "se", "sem", "stderror"))
_IN_WORDS = (frozenset(("std", "err")), frozenset(("standard", "error")))  # std_err
_METRICS = frozenset(
    word for kind in ("scores", "other_metrics", "losses", "aucs") for word in WORDS[kind]
)
_RIGHT = 'metric="accuracy" says so'


def is_loss(name: str) -> bool:
    """Whether a name is that of an error or a loss, of which the lowest is the best.

    Examples
    --------
    >>> is_loss("test_RMSE"), is_loss("Error rate"), is_loss("neg_log_loss"), is_loss("acc_stderr")
    (True, True, False, False)
    """
    if is_reversed(name):
        return False
    key = normalize_name(name)
    words = {key, *re.split(r"[\W_]+", name.lower())}
    known = not words.isdisjoint(WORDS["losses"]) or key.endswith(_LOSS_ENDINGS)
    return known and not words & _GAINS


def is_reversed(name: str) -> bool:
    """Whether a name says that its losses have the opposite sign: ``-rmse``.

    Examples
    --------
    >>> is_reversed("-rmse"), is_reversed("max_error (larger is better)"), is_reversed("rmse")
    (True, True, False)
    """
    return name.startswith("-") or name.endswith(LARGER)


def refuse_loss(where: str, column: str, fix: str = "give lower_is_better=True") -> None:
    """Raise ``InputError`` where the name of a column of scores says that lower is better."""
    if is_loss(column):
        raise InputError(
            f"{where}: column {shown(column)} holds errors by its name, and of those the lowest is "
            f"the best: {fix}"
        )


def is_summary(name: str) -> bool:
    """Whether a name is that of an average or a spread of others, a setting, or a question.

    Examples
    --------
    >>> [is_summary(name) for name in ("Average", "qa_std", "is_hard", "temperature")]
    [True, True, True, True]
    >>> [is_summary(name) for name in ("mean_teacher", "is_correct")]
    [False, False]
    """
    spread = _SPREADS.search(name)
    key = normalize_name(name)
    return (
        key in WORDS["averages"]
        or key in WORDS["summaries"]
        or bool(spread and spread.end() == len(name))
        or bool(_QUESTION.match(name) and key not in WORDS["nameless"])
    )


def asides(header: Sequence[str]) -> list[int]:
    """Positions of columns that say something about others or about the rows, by their names.

    Examples
    --------
    >>> asides(["tree", "tree_rank", "low_rank", "Average"])
    [1, 3]
    """
    ranked = (_RANK.fullmatch(name) for name in header)
    return [
        j
        for j, (name, rank) in enumerate(zip(header, ranked, strict=True))
        if is_summary(name) or (rank is not None and rank[1] in header)
    ]


def is_error_of(name: str, column: str) -> bool:
    """Whether a name is that of the standard errors of the scores in a column.

    Examples
    --------
    >>> is_error_of("acc_stderr,none", "acc,none"), is_error_of("std_err", "acc")
    (True, True)
    >>> is_error_of("acc_norm_stderr", "acc"), is_error_of("std", "acc")
    (False, False)
    """
    words = name_words(name)
    metrics = [of for of in (*({word} for word in _OF_ERRORS), *_IN_WORDS) if words >= of]
    return any(words - of <= {""} or words - of == name_words(column) for of in metrics)


def is_other_metric(name: str) -> bool:
    """Whether a name is that of something else than right answers: another metric, AUC or loss.

    Examples
    --------
    >>> is_other_metric("F1"), is_other_metric("RMSE"), is_other_metric("acc")
    (True, True, False)
    """
    others = WORDS["other_metrics"].keys() | WORDS["aucs"].keys()
    return is_loss(name) or not others.isdisjoint(_metric_words(name))


def refuse_metrics(where: str, names: Iterable[str], what: str) -> None:
    """Raise ``InputError`` where columns are several scores of the same, by their names.

    Examples
    --------
    >>> refuse_metrics("x.csv", ["tree", "forest", "f1"], "players")
    >>> refuse_metrics("x.csv", ["accuracy", "f1"], "players")
    Traceback (most recent call last):
        ...
    bayes_sota.core.errors.InputError: x.csv: columns 'accuracy', 'f1' are metrics by their names, \
not players: keep one of them, beside a column that names the players
    """
    metrics = [name for name in names if normalize_name(name) in _METRICS]
    if len(metrics) > 1:
        raise InputError(
            f"{where}: columns {several(metrics)} are metrics by their names, not {what}: keep one "
            f"of them, beside a column that names the {what}"
        )


def refuse_other_metric(where: str, column: str) -> None:
    """Raise ``InputError`` where a column of scores holds something else than accuracies.

    Parameters
    ----------
    where, column : str
        What is being read, and the name of the column.

    Raises
    ------
    InputError
        A name that is that of another metric or of an average.

    Examples
    --------
    >>> refuse_other_metric("x.csv", "F1")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    bayes_sota.core.errors.InputError: x.csv: column 'F1' holds no accuracies by its name, ...
    """
    named = f"{where}: column {shown(column)}"
    words = _metric_words(column)
    if words & _MEANS or normalize_name(column) in WORDS["averages"]:
        raise InputError(
            f"{named} holds averages, and the number of items does not tell their error; "
            f"task_columns reads columns as tasks; {_ERRORS}; if every item counts the same, "
            f"{_RIGHT}"
        )
    if words & WORDS["aucs"].keys():
        raise InputError(
            f"{named} holds AUCs by its name, not shares of right answers; for AUCs give "
            f'metric="auc" and n_positive, the number of positive items; else {_RIGHT}'
        )
    if words & WORDS["other_metrics"].keys() or is_summary(column):
        raise InputError(
            f"{named} holds no accuracies by its name, and the number of items does not tell their "
            f"error; {_ERRORS}; if they are shares of right answers, {_RIGHT}"
        )


def _metric_words(column: str) -> set[str]:
    """Words of a name, with and without their numbers, that say what is measured.

    Of an accuracy it matters only how it is averaged; precision at 1 is a share of right answers.

    Examples
    --------
    >>> "recall" in _metric_words("R@5"), "recall" in _metric_words("accuracy on recall")
    (True, False)
    >>> "precision" in _metric_words("precision@1")
    False
    """
    words = {normalize_name(column), *name_words(column)}
    words |= {word.rstrip("0123456789") for word in words}
    for word, k in _AT.findall(column):
        known = _AT_K.get(word.lower(), word.lower())
        words = words | {known} if (known, k) != ("precision", "1") else words - {known}
    if words & ACCURACIES:
        words -= WORDS["other_metrics"].keys() - {"balanced", "macro"}
    return words
