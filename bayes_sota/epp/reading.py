"""Tournaments from files, and what a reader should know about how they were read."""

from typing import Any

import numpy as np

from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.metric_names import is_loss
from bayes_sota.data.readers.scores import read_noted_scores
from bayes_sota.data.score_table import ScoreTable

Tournament = ScoreTable | Matches


def read_tournaments(source: Any, **options: Any) -> tuple[list[Tournament], list[str]]:
    """Read one tournament or several, and what to know about how they were read.

    Parameters
    ----------
    source : path, sequence of paths, or DataFrame
        As ``read_scores`` takes it.
    **options
        As in ``read_scores``.

    Returns
    -------
    tables : list of ScoreTable or Matches
    notes : list of str

    Raises
    ------
    InputError
        What ``read_scores`` refuses.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"task": ["x", "y"], "a": [0.9, 0.8], "b": [0.7, 0.9]})
    >>> [one.players for one in read_tournaments(table)[0]]
    [('a', 'b')]
    """
    noted = read_noted_scores(source, **options)
    scores, notes = noted.scores, list(noted.notes)
    tables: list[Tournament] = list(scores.values()) if isinstance(scores, dict) else [scores]
    scored = [table for table in tables if isinstance(table, ScoreTable)]
    losses = [  # rounds whose names say that lower is better, taken as higher is better
        label
        for table in scored
        for label, lower in zip(table.rounds, table.lower_is_better, strict=True)
        if not lower and is_loss(label)
    ]
    if losses and options.get("lower_is_better") is not True:
        notes.append(
            f"{losses[0]} looks like an error; higher is taken as better: --lower-is-better turns "
            "all rounds (lower_is_better of read_scores also takes names of rounds)"
        )
    if any(np.isin(table.scores[table.present], (0.0, 1.0)).all() for table in scored):
        notes.append(
            "all scores are 0 or 1, like answers to items: a skill is then about which items two "
            "players differ on, not an accuracy; bayes-sota board reads answers"
        )
    return tables, notes
