r"""Tournaments from files, also as matches by the local region of practical equivalence (ROPE).

By the local ROPE players tie in a round if they are close. From scores in several folds of every
data set, or from their means and standard deviations as papers print them, two players i and j tie
on a data set if, with threshold c (0.4 by default),

    |mean_i - mean_j| <= c sqrt((s_i^2 + s_j^2) / 2)    (folds differ, or only means are known),
    |mean(d)| <= c sd(d),  d = x_i - x_j                (the same folds: paired),

and else the one with the better mean wins; s and sd have the divisor n - 1. A mean difference over
the first standard deviation is Cohen's d, over the second its paired version. Local ROPE is of
J. Wainer (2023), "A Bayesian Bradley-Terry model to compare multiple ML algorithms on multiple data
sets", Journal of Machine Learning Research 24; the inequalities and the 0.4 are those of the
program that the paper publishes, bbtcomp, which takes folds as paired unless told otherwise.
``tests/epp/test_reading.py`` compares with a plain loop over pandas groups.
"""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import NOT_NEGATIVE
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.readers.metric_names import is_loss
from bayes_sota.data.readers.scores import read_noted_scores, read_scores
from bayes_sota.data.score_table import ScoreTable

Tournament = ScoreTable | Matches
THRESHOLD = 0.4


def read_tournaments(
    source: Any,
    *,
    local_rope: float | None = None,
    sds: Any = None,
    unpaired_folds: bool = False,
    **options: Any,
) -> tuple[list[Tournament], list[str]]:
    """Read one tournament or several, and what to know about how they were read.

    Parameters
    ----------
    source : path, sequence of paths, or DataFrame
        As ``read_scores`` takes it.
    local_rope : float, optional
        Players tie in a group of folds, or with ``sds`` in a round, if they differ by less than so
        many standard deviations of the folds (``local_rope_matches``).
    sds : path or DataFrame, optional
        Standard deviations over folds; ``source`` then holds the means.
    unpaired_folds : bool
        Whether the folds of a group were not the same for all players.
    **options
        As in ``read_scores``.

    Returns
    -------
    tables : list of ScoreTable or Matches
    notes : list of str

    Raises
    ------
    InputError
        What ``read_scores`` refuses, and options that do not go together.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"task": ["x", "y"], "a": [0.9, 0.8], "b": [0.7, 0.9]})
    >>> [one.players for one in read_tournaments(table)[0]]
    [('a', 'b')]
    """
    if sds is not None:
        if unpaired_folds:
            raise InputError("--unpaired-folds is for scores of folds: --sds has no folds")
        threshold = THRESHOLD if local_rope is None else local_rope
        note = (
            f"players tie in a round if they differ by less than {threshold:g} standard "
            "deviations of the folds (--local-rope)"
        )
        means = read_means(source, sds, **options)
        return [local_rope_matches_of_means(*means, threshold=threshold)], [note]
    if unpaired_folds and local_rope is None:
        raise InputError("--unpaired-folds is for --local-rope")
    noted = read_noted_scores(source, **options)
    scores, notes = noted.scores, list(noted.notes)
    tables: list[Tournament] = list(scores.values()) if isinstance(scores, dict) else [scores]
    scored = [table for table in tables if isinstance(table, ScoreTable)]
    if local_rope is not None:
        if len(scored) < len(tables):
            raise InputError("--local-rope is for scores of folds: these are battles")
        paired = not unpaired_folds
        return [local_rope_matches(t, threshold=local_rope, paired=paired) for t in scored], notes
    losses = [  # rounds whose names say that lower is better, taken as higher is better
        label
        for table in scored
        for label, lower in zip(table.rounds, table.lower_is_better, strict=True)
        if not lower and is_loss(label)
    ]
    if losses and options.get("lower_is_better") is not True:
        notes.append(
            f"{losses[0]} looks like an error; higher is taken as better: --lower-is-better-in "
            "names rounds where it is not"
        )
    if any(np.isin(table.scores[table.present], (0.0, 1.0)).all() for table in scored):
        notes.append(
            "all scores are 0 or 1, like answers to items: a skill is then about which items two "
            "players differ on, not an accuracy; bayes-sota board reads answers"
        )
    return tables, notes


def local_rope_matches(
    folds: ScoreTable, *, threshold: float = THRESHOLD, paired: bool = False
) -> Matches:
    r"""Matches of players on data sets, tied where they differ by little more than folds do.

    Parameters
    ----------
    folds : ScoreTable
        One round per fold; its groups are the data sets, as ``read_scores`` with ``group_column``
        reads them.
    threshold : float
        Standardized difference up to which two players tie; 0 ties equal means only.
    paired : bool
        Whether the folds of a data set were the same for all players: differences are then taken
        fold by fold, over the folds that both have.

    Returns
    -------
    Matches
        One match for every pair of players on every data set that both have scores for; the
        clusters are the data sets.

    Raises
    ------
    InputError
        A table without groups, a data set with rounds of both directions, two players whose means
        differ with fewer than two folds to tell by how much, a threshold below 0.

    Examples
    --------
    >>> table = ScoreTable(
    ...     [[0.90, 0.89], [0.80, 0.81], [0.90, 0.60], [0.91, 0.62]],
    ...     players=["a", "b"], groups=["iris", "iris", "wine", "wine"],
    ... )
    >>> local_rope_matches(table).outcomes.tolist()
    [0.5, 1.0]
    """
    NOT_NEGATIVE.check(threshold, "threshold")
    if folds.groups is None:
        raise InputError(
            "local ROPE needs scores in several folds of every data set: groups of rounds "
            "(group_column) say which rounds are folds of one; means and standard deviations are "
            "for local_rope_matches_of_means, in the shell for FILE and --sds"
        )
    names = tuple(dict.fromkeys(folds.groups))
    labels = np.array(folds.groups)
    rows = [np.flatnonzero(labels == name) for name in names]
    for name, chosen in zip(names, rows, strict=True):
        lower = folds.lower_is_better[chosen]
        if lower.any() and not lower.all():
            raise InputError(f"group {shown(name)}: folds of one data set have one direction")
    tables = [folds.oriented[chosen] for chosen in rows]
    statistics = _paired_statistics if paired else _unpaired_statistics
    gaps, spreads = (np.array(part) for part in zip(*map(statistics, tables), strict=True))
    return _matches(gaps, spreads, threshold, folds, names)


def local_rope_matches_of_means(
    means: ScoreTable, standard_deviations: ArrayLike, *, threshold: float = THRESHOLD
) -> Matches:
    r"""Matches of players on data sets, from means and standard deviations over folds.

    Parameters
    ----------
    means : ScoreTable
        Mean over the folds of each round (data set).
    standard_deviations : array-like, shape (n_rounds, n_players)
        Of the folds, with n - 1; not standard errors of the means. NaN where a mean is missing.
    threshold : float
        Standardized difference up to which two players tie.

    Returns
    -------
    Matches
        One match for every pair of players in every round that both have; the clusters are the
        rounds.

    Raises
    ------
    InputError
        Standard deviations of another shape, negative or missing ones, a threshold below 0.

    Examples
    --------
    >>> means = ScoreTable([[0.90, 0.88], [0.90, 0.70]], players=["a", "b"])
    >>> local_rope_matches_of_means(means, [[0.1, 0.1], [0.1, 0.1]]).outcomes.tolist()
    [0.5, 1.0]
    """
    NOT_NEGATIVE.check(threshold, "threshold")
    sd = _checked_deviations(means, standard_deviations)
    scores = means.oriented
    gaps = scores[:, :, None] - scores[:, None, :]
    spreads = np.sqrt((sd[:, :, None] ** 2 + sd[:, None, :] ** 2) / 2)
    return _matches(gaps, spreads, threshold, means, means.rounds)


def read_means(
    mean_source: str | os.PathLike[str] | Any,
    deviation_source: str | os.PathLike[str] | Any,
    **options: Any,
) -> tuple[ScoreTable, FloatArray]:
    """Means and standard deviations of the same players and rounds, from two tables.

    Parameters
    ----------
    mean_source, deviation_source : path or data frame
        Tables that ``read_scores`` reads, the second of standard deviations over folds.
    **options
        As in ``read_scores``, for both.

    Returns
    -------
    means : ScoreTable
    standard_deviations : ndarray, shape (n_rounds, n_players)
        In the order of the means, NaN where a mean is missing.

    Raises
    ------
    InputError
        Several tournaments or battles, players or rounds that only one table has, a standard
        deviation that is missing.

    Examples
    --------
    >>> import pandas as pd
    >>> means = pd.DataFrame({"task": ["x", "y"], "a": [0.9, 0.8], "b": [0.7, 0.9]})
    >>> deviations = pd.DataFrame({"task": ["y", "x"], "b": [0.1, 0.2], "a": [0.3, 0.4]})
    >>> read_means(means, deviations)[1].tolist()
    [[0.4, 0.2], [0.3, 0.1]]
    """
    means = read_scores(mean_source, **options)
    deviations = read_scores(deviation_source, **options)
    if not isinstance(means, ScoreTable) or not isinstance(deviations, ScoreTable):
        raise InputError("means and standard deviations are two tables of one tournament")
    columns = _places(means.players, deviations.players, "player")
    rows = _places(means.rounds, deviations.rounds, "round")
    spread = np.where(means.present, deviations.scores[np.ix_(rows, columns)], np.nan)
    return means, _checked_deviations(means, spread)


def _unpaired_statistics(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Differences of means and pooled standard deviations of all pairs, (n_players, n_players)."""
    mean, sd = _moments(scores)
    return mean[:, None] - mean, np.sqrt((sd[:, None] ** 2 + sd**2) / 2)


def _paired_statistics(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Means and standard deviations of the differences of all pairs, (n_players, n_players)."""
    gaps, spreads = zip(*(_moments(own[:, None] - scores) for own in scores.T), strict=True)
    return np.stack(gaps), np.stack(spreads)


def _moments(scores: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of each column's numbers; NaN where there are too few."""
    seen = np.ma.masked_invalid(scores)
    return seen.mean(axis=0).filled(np.nan), seen.std(axis=0, ddof=1).filled(np.nan)


def _matches(
    gaps: FloatArray,
    spreads: FloatArray,
    threshold: float,
    table: ScoreTable,
    rounds: Sequence[str],
) -> Matches:
    """Matches of all pairs, from their differences and standard deviations, (rounds, m, m)."""
    players = table.players
    first, second = np.triu_indices(len(players), 1)
    gap, spread = gaps[:, first, second], spreads[:, first, second]
    played, pair = np.nonzero(~np.isnan(gap))
    gap, spread = gap[played, pair], spread[played, pair]
    unknown = np.flatnonzero(np.isnan(spread) & (gap != 0))
    if unknown.size and threshold > 0:
        at = int(unknown[0])
        one, other = first[pair[at]], second[pair[at]]
        raise InputError(
            f"round {shown(rounds[played[at]])}: players {shown(players[one])} and "
            f"{shown(players[other])} have fewer than two folds, which tell nothing "
            "about their standard deviation; threshold=0 compares means"
        )
    tied = (gap == 0) | (np.abs(gap) <= threshold * np.nan_to_num(spread))
    return Matches(
        first[pair],
        second[pair],
        np.where(tied, 0.5, np.where(gap > 0, 1.0, 0.0)),
        players=players,
        clusters=[rounds[place] for place in played.tolist()],
        tournament=table.tournament,
    )


def _checked_deviations(means: ScoreTable, deviations: ArrayLike) -> FloatArray:
    values = np.asarray(deviations, np.float64)
    if values.shape != means.scores.shape:
        raise InputError(
            f"standard deviations have the shape of the means, {means.scores.shape}, got "
            f"{values.shape}"
        )
    bad = np.argwhere(means.present & ~((values >= 0) & np.isfinite(values)))
    if bad.size:
        r, i = bad[0]
        raise InputError(
            f"player {shown(means.players[i])}, round {shown(means.rounds[r])}: a standard "
            f"deviation is a finite number >= 0, got {values[r, i]}"
        )
    return values


def _places(wanted: Sequence[str], labels: Sequence[str], what: str) -> list[int]:
    """Where each name of one table stands in the other; both have the same names."""
    place = {name: index for index, name in enumerate(labels)}
    for absent, lacking in (
        ("standard deviations", [name for name in wanted if name not in place]),
        ("means", sorted(set(labels) - set(wanted))),
    ):
        if lacking:
            raise InputError(f"the table of {absent} has no {what} {shown(lacking[0])}")
    return [place[name] for name in wanted]
