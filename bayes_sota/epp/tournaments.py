r"""Many tournaments, such as thirty data sets with thousands of models each: read, and fitted.

A skill says how likely a player beats the average of its tournament, and is so compared between
tournaments (Property 3.4 of Gosiewska et al. 2022). ``tests/epp/test_tournaments.py`` compares
with single fits.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.columns import is_loss
from bayes_sota.data.matches import Matches
from bayes_sota.data.read_scores import read_noted_scores
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import MatchKind
from bayes_sota.epp.fit import FACTS, fit_epp
from bayes_sota.epp.local_rope import (
    THRESHOLD,
    local_rope_matches,
    local_rope_matches_of_means,
    read_means,
)

if TYPE_CHECKING:
    import xarray as xr


Tournament = ScoreTable | Matches
_OF_FIT = ("players", "epp", "se", "se_model", "df", "rank", "deviance", "deviance_df", "connected")
_PARALLEL = 4_000_000  # pairs of players, above which processes pay, which take a second to start


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
    found = read_noted_scores(source, **options)
    scores, notes = found.scores, list(found.notes)
    tables: list[Tournament] = list(scores.values()) if isinstance(scores, dict) else [scores]
    if local_rope is not None:
        return [_of_folds(table, local_rope, not unpaired_folds) for table in tables], notes
    losses = [] if options.get("lower_is_better") is True else _look_like_losses(tables)
    if losses:
        notes.append(
            f"{losses[0]} looks like an error; higher is taken as better: --lower-is-better-in "
            "names rounds where it is not"
        )
    return tables, notes


def _of_folds(table: Tournament, threshold: float, paired: bool) -> Matches:
    if isinstance(table, Matches):
        raise InputError("--local-rope is for scores of folds: these are battles")
    if table.groups is None:
        raise InputError(
            "--local-rope takes scores in several folds of every data set: --group-column names "
            "the data sets; means and standard deviations are given by FILE and --sds"
        )
    return local_rope_matches(table, threshold=threshold, paired=paired)


def _look_like_losses(tables: Sequence[Tournament]) -> list[str]:
    """Rounds whose names say that lower is better, taken as higher is better."""
    return [
        label
        for table in tables
        if isinstance(table, ScoreTable)
        for label, lower in zip(table.rounds, table.lower_is_better, strict=True)
        if not lower and is_loss(label)
    ]


@dataclass(frozen=True, eq=False)
class TournamentLeaderboard:
    """What is kept of the fit of one of many tournaments.

    Attributes
    ----------
    tournament : str
    matches : {"same-round", "all-rounds", "listed"}
        Which matches were counted.
    players : tuple of str
    epp, se, se_model : ndarray, shape (m,)
        Skills, standard errors clustered by round and of independent matches.
    df : ndarray, shape (m,)
        Degrees of freedom of the t law.
    rank : ndarray of int, shape (m,)
        By skill from 1, equal skills share the better one.
    deviance : float
    deviance_df : int
    paper_standardized_deviance : float
    connected : bool
        Whether the estimates are finite without a penalty.
    """

    tournament: str
    matches: MatchKind
    players: tuple[str, ...]
    epp: FloatArray
    se: FloatArray
    se_model: FloatArray
    df: FloatArray
    rank: NDArray[np.intp]
    deviance: float
    deviance_df: int
    paper_standardized_deviance: float
    connected: bool

    @property
    def p_beats_average(self) -> FloatArray:
        """Probability to beat the average player of the tournament, (m,)."""
        return 1 / (1 + np.exp(-self.epp))


def fit_tournaments(
    tables: Iterable[Tournament],
    matches: Literal["same-round", "all-rounds"] = "same-round",
    *,
    penalty: float = 0.0,
    test_fraction: float | None = None,
    jobs: int | None = None,
) -> list[TournamentLeaderboard]:
    """Fit every tournament on its own, in several processes.

    Parameters
    ----------
    tables : iterable of ScoreTable or Matches
        With different names (``tournament``).
    matches, penalty, test_fraction
        As in ``fit_epp``.
    jobs : int, optional
        Processes of joblib. Default: one, or for much work one per processor.

    Raises
    ------
    InfiniteEstimateError
        Naming the tournament. With a penalty such tournaments are flagged (``connected``).

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> tables = [
    ...     simulate_tournament([1.0, 0.0, -1.0], 30, tournament=name, random_seed=seed)
    ...     for seed, name in enumerate(["iris", "wine"])
    ... ]
    >>> [(found.tournament, found.epp.round(1).tolist()) for found in fit_tournaments(tables)]
    [('iris', [1.0, -0.1, -0.9]), ('wine', [1.3, 0.4, -1.7])]
    """
    tables = list(tables)
    names = [table.tournament for table in tables]
    repeated = [name for name in names if names.count(name) > 1]
    if repeated:
        raise InputError(f"tournament {repeated[0]!r} is there twice")
    settings = (matches, penalty, test_fraction)
    if jobs is None:
        much = sum(table.n_players**2 for table in tables) > _PARALLEL
        jobs = min(len(tables), os.cpu_count() or 1) if much else 1
    if jobs == 1 or len(tables) == 1:
        return [_leaderboard(table, *settings) for table in tables]
    from joblib import Parallel, delayed

    tasks = (delayed(_leaderboard)(table, *settings) for table in tables)
    return list(Parallel(n_jobs=jobs)(tasks))


def _leaderboard(
    table: Tournament,
    matches: Literal["same-round", "all-rounds"],
    penalty: float,
    test_fraction: float | None,
) -> TournamentLeaderboard:
    try:
        fit = fit_epp(table, matches, penalty=penalty, test_fraction=test_fraction)
    except InputError as error:  # or InfiniteEstimateError
        raise type(error)(f"tournament {table.tournament!r}: {error}") from None
    same = {name: getattr(fit, name) for name in _OF_FIT}
    return TournamentLeaderboard(
        tournament=table.tournament,
        matches=fit.kind,
        paper_standardized_deviance=fit.paper["standardized_deviance"],
        **same,
    )


def tournaments_tree(leaderboards: Sequence[TournamentLeaderboard]) -> "xr.DataTree":
    """Leaderboards as a DataTree: ``point_estimate`` by tournament and player.

    A player who is not in a tournament has NaN there.

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> found = fit_tournaments([simulate_tournament([1.0, 0.0, -1.0], 30, random_seed=0)])
    >>> dict(tournaments_tree(found)["point_estimate"].sizes)
    {'tournament': 1, 'player': 3}
    """
    import xarray as xr

    players = list(dict.fromkeys(name for board in leaderboards for name in board.players))
    places = {name: place for place, name in enumerate(players)}
    shape = (len(leaderboards), len(players))
    fields = {"epp": "epp", "epp_se": "se", "epp_se_model": "se_model"}
    numbers = {name: np.full(shape, np.nan) for name in fields}
    for row, board in enumerate(leaderboards):
        columns = [places[name] for name in board.players]
        for name, field in fields.items():
            numbers[name][row, columns] = getattr(board, field)
    one = {name: (("tournament", "player"), values) for name, values in numbers.items()}
    deviance = ("tournament", [board.deviance for board in leaderboards])
    names = [board.tournament for board in leaderboards]
    found = xr.Dataset(
        {**one, "deviance": deviance}, coords={"tournament": names, "player": players}
    )
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=FACTS), "point_estimate": found})
