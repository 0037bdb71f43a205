"""Scores of players in rounds, or battles, from the files that people have.

The format is recognised by the content. Files are not trusted: nothing in them is executed, sizes
are bounded, and what is no score is an error with its place (``tests/data/test_read_scores.py``).
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.files.content import Content
from bayes_sota.data.files.json import parse_json
from bayes_sota.data.files.opening import json_table, open_source, open_table, table_of_frame
from bayes_sota.data.files.tables import Table
from bayes_sota.data.fold_scores import FoldScores
from bayes_sota.data.formats.battles import find_battles, read_battles
from bayes_sota.data.formats.cv_results import is_cv_results, read_cv_results, table_of_cv_results
from bayes_sota.data.formats.fold_tables import (
    FoldOptions,
    fold_scores_of_rounds,
    fold_scores_of_table,
)
from bayes_sota.data.formats.lm_evaluation import is_lm_eval, read_lm_eval
from bayes_sota.data.formats.score_tables import (
    NotedScores,
    Orientation,
    ScoreOptions,
    is_long,
    read_long,
    read_wide,
)
from bayes_sota.data.frames import is_frame
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import Scheme, ScoreTable

_TEST = "iteration of the test set"  # which has one


def read_scores(
    source: Any,
    *,
    player_column: str | None = None,
    round_column: str | None = None,
    score_column: str | None = None,
    tournament_column: str | None = None,
    group_column: str | None = None,
    cluster_column: str | None = None,
    players: Orientation = "auto",
    lower_is_better: bool = False,
    scheme: Scheme | None = None,
) -> ScoreTable | Matches | dict[str, ScoreTable]:
    r"""Scores of players in the rounds of a tournament, or battles between players.

    Parameters
    ----------
    source : path, list of paths, data frame, or mapping
        A table (CSV, TSV, Excel, Parquet, JSON records; zipped), ``cv_results_`` of a scikit-learn
        search as it is or saved, or a list of results of lm-evaluation-harness, one JSON file per
        model. An empty cell, NaN, NA and "-" are a missing score. What a table is goes by the names
        of its columns, in this order: ``split0_test_...`` is ``cv_results_``; winner and loser (and
        tie), or model_a, model_b and winner (model_a, model_b, tie, tie (bothbad), or a name) are
        battles; a column of players and one of rounds make a table long; every other table is wide.
    player_column, round_column, score_column : str, optional
        Columns of a long table. Default: recognised by their names (model, classifier, ...; split,
        fold, task, dataset, ...; auc, accuracy, ...). Of a wide table, ``player_column`` or
        ``round_column`` names the rows. Of ``cv_results_``, ``score_column`` is one of several
        metrics; of lm-evaluation-harness a metric ("acc_norm") or metric and filter
        ("exact_match,strict-match"), where a task has it.
    tournament_column : str, optional
        Of a long table: one score table for each tournament, in a dict.
    group_column : str, optional
        What rounds that depend on each other have in common. Rounds of the same name in different
        groups are different; without a column of rounds the rows of a group are numbered.
    cluster_column : str, optional
        Of battles: the prompt, judge or session that dependent battles have in common.
    players : {"auto", "rows", "columns"}
        Where the players of a wide table are. "auto": in the rows if a column called model, player,
        name, classifier, algorithm, method, system, ... names them (the first column, or one of
        words); in the columns if one called round, fold, split, task, dataset, ... names the rows;
        in the columns, too, where nothing says it (rounds x players).
    lower_is_better : bool
        Whether scores are errors or losses, which is not guessed from their names; only results of
        lm-evaluation-harness say it themselves.
    scheme : {"model/cv", "model/task", "dataset/model"}, optional
        Default: "model/cv" where rounds are folds or splits, else "model/task".

    Returns
    -------
    ScoreTable, Matches or dict of ScoreTable
        Where players are rows, columns of words and numbers that are no round (an average, a rank,
        parameters, likes, standard errors) are left out; ``read_noted_scores`` lists them.

    Raises
    ------
    InputError
        A file that is not what it should be, by file, line, column and value; a player with two
        scores in one round, with both lines; one player or one round; a column that is not there,
        with the nearest; a table that could be two things.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "three.csv"
    ...     _ = path.write_text("model,fold,auc\na,1,.9\nb,1,.8\na,2,.7\nb,2,.6\nc,2,.5\n")
    ...     table = read_scores(path)
    >>> table
    <ScoreTable 'three': 3 players x 2 rounds, 1 scores missing>
    >>> table.players, table.rounds, table.scheme
    (('a', 'b', 'c'), ('1', '2'), 'model/cv')
    """
    noted = read_noted_scores(
        source,
        player_column=player_column,
        round_column=round_column,
        score_column=score_column,
        tournament_column=tournament_column,
        group_column=group_column,
        cluster_column=cluster_column,
        players=players,
        lower_is_better=lower_is_better,
        scheme=scheme,
    )
    return noted.scores


def read_noted_scores(source: Any, **options: Any) -> NotedScores:
    """As ``read_scores``, with what was recognised and what was left out.

    Examples
    --------
    >>> import pandas as pd
    >>> board = pd.DataFrame({"model": ["a", "b"], "Average": [3, 4], "qa": [1, 5], "nli": [5, 3]})
    >>> read_noted_scores(board).notes
    ("the data frame: left out 'Average'",)
    """
    chosen = ScoreOptions(**options)
    opened = _opened(source)
    if isinstance(opened, list):
        return read_lm_eval(opened, chosen)
    if is_cv_results(opened.header):
        return read_cv_results(opened, chosen)
    if find_battles(opened) is not None:
        return read_battles(opened, chosen)
    return read_long(opened, chosen) if is_long(opened, chosen) else read_wide(opened, chosen)


def read_test_scores(
    source: Any,
    like: FoldScores,
    *,
    learner_column: str | None = None,
    task_column: str | None = None,
    score_column: str | None = None,
    lower_is_better: bool = False,
) -> FloatArray:
    """Scores of learners on true test sets, in the order of scores of cross-validation.

    Parameters
    ----------
    source : path or data frame
        A long table (learner, data set, score), or a wide one with the learners in its columns;
        without a column of data sets where there is one. Columns are found as in
        ``read_fold_scores``.
    like : FoldScores
        Whose learners and data sets are needed.
    learner_column, task_column, score_column : str, optional
    lower_is_better : bool

    Returns
    -------
    ndarray, shape (n_tasks, n_learners)
        Larger is better.

    Raises
    ------
    InputError
        A learner or data set that is missing or not known, two scores for one, no number.

    Examples
    --------
    >>> import pandas as pd
    >>> runs = FoldScores([[[0.8, 0.9]], [[0.7, 0.8]]], learners=["nb", "tree"])
    >>> test = pd.DataFrame({"learner": ["tree", "nb"], "score": [0.78, 0.86]})
    >>> read_test_scores(test, runs).tolist()
    [[0.86, 0.78]]
    """
    options = FoldOptions(
        learner_column=learner_column,
        task_column=task_column,
        score_column=score_column,
        iteration_column=_TEST,
        folds=2,
        lower_is_better=lower_is_better,
    )
    table = open_table(source)
    once = ("0",) * len(table.places)
    marked = replace(table, header=(*table.header, _TEST), columns=(*table.columns, once))
    scores = fold_scores_of_table(marked, options)
    several = len(like.tasks) > 1 or len(scores.tasks) > 1
    for kind, names, needed in (
        ("learner", scores.learners, like.learners),
        ("data set", scores.tasks, like.tasks if several else scores.tasks),
    ):
        if set(names) != set(needed):
            odd = sorted(set(names) ^ set(needed))[0]
            wrong = (
                "is not among those of cross-validation" if odd in names else "has no test score"
            )
            raise InputError(f"{table.where}: {kind} {shown(odd)} {wrong}")
    rows = [scores.tasks.index(t) for t in like.tasks] if several else [0]
    columns = [scores.learners.index(name) for name in like.learners]
    return scores.scores[np.ix_(rows, columns)][:, :, 0, 0]


def read_fold_scores(
    source: Any,
    *,
    learner_column: str | None = None,
    task_column: str | None = None,
    iteration_column: str | None = None,
    fold_column: str | None = None,
    score_column: str | None = None,
    folds: int | None = None,
    lower_is_better: bool = False,
) -> FoldScores:
    """Scores of repeated cross-validation that were computed elsewhere.

    Parameters
    ----------
    source : path, data frame or mapping
        A long table (learner, task, iteration, fold, score: one row per fit), a wide one (the
        learners in its columns, one row per fold or iteration), ``cv_results_`` of a scikit-learn
        search as it is or saved. A score is empty where a fit failed.
    learner_column, task_column, iteration_column, fold_column, score_column : str, optional
        Default: recognised by their names (learner, model, ...; task, dataset, ...; iteration,
        repeat, run, seed, ...; fold, split, ...). Without a column of tasks there is one data set.
        Of ``cv_results_``, ``score_column`` is one of several metrics.
    folds : int, optional
        k, where there is one score per iteration; and where parts are numbered through all
        iterations, as in ``cv_results_``, of which k after each other are one iteration.
    lower_is_better : bool
        Scores are errors or losses; the result has minus them.

    Returns
    -------
    FoldScores

    Raises
    ------
    InputError
        What cannot be told; a fit with two scores or, where other learners have it, without a row;
        cells that are no numbers; by line, column and value.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [(m, i, f, 0.8 + 0.1 * f) for m in "ab" for i in range(3) for f in range(2)]
    >>> frame = pd.DataFrame(rows, columns=["learner", "iteration", "fold", "roc_auc"])
    >>> read_fold_scores(frame)
    <FoldScores: 2 learners x 1 data set, 3 iterations of 2 folds>
    """
    options = FoldOptions(
        learner_column,
        task_column,
        iteration_column,
        fold_column,
        score_column,
        folds,
        lower_is_better,
    )
    table = _opened(source)
    if isinstance(table, list):
        raise InputError("results of lm-evaluation-harness are no cross-validation")
    if is_cv_results(table.header):
        scores = read_cv_results(table, ScoreOptions(score_column=score_column)).scores
        assert isinstance(scores, ScoreTable)
        return fold_scores_of_rounds(scores, folds, score_column or "score")
    return fold_scores_of_table(table, options)


def _opened(source: Any) -> Table | list[Path]:
    """Table of a source; its files where they are results of lm-evaluation-harness."""
    if isinstance(source, Mapping):
        if is_cv_results(source):
            return table_of_cv_results(source, "cv_results_", "cv_results_")
        raise InputError(
            "a mapping is read as cv_results_ of scikit-learn, with keys split0_test_score, ...; "
            "this has none"
        )
    if isinstance(source, Sequence) and not isinstance(source, str | bytes):
        if not source or not all(isinstance(path, str | os.PathLike) for path in source):
            raise InputError("a list is read as paths of lm-evaluation-harness results")
        paths = [Path(path) for path in source]
        return paths if len(paths) > 1 else _opened_file(paths[0])
    if is_frame(source):
        return _table_of_frame(source)
    if isinstance(source, str | os.PathLike):
        return _opened_file(Path(source))
    raise InputError(
        "scores are read from a path, a data frame, cv_results_ of scikit-learn or a "
        f"list of paths, got {type(source).__name__}"
    )


def _table_of_frame(frame: Any) -> Table:
    """Table of a frame; an index of words names the rows."""
    index: Any = getattr(frame, "index", None)
    unnamed = index is not None and index.nlevels == 1 and index.name is None
    if unnamed and index.dtype.kind not in "iu":
        frame = frame.rename_axis("")
    return table_of_frame(frame)


def _opened_file(path: Path) -> Table | list[Path]:
    """Table of a file; objects of JSON may be what is no table."""
    opened = open_source(path)
    if not isinstance(opened, Content):
        return opened
    if opened.text().lstrip()[:1] == "{":
        value = parse_json(opened.text(), opened.where)
        if is_cv_results(value):
            return table_of_cv_results(value, opened.where, opened.stem)
        if is_lm_eval(value):
            return [path]
    return json_table(opened)
