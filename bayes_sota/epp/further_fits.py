"""What follows a first fit: many tournaments.

A skill says how likely a player beats the average of its tournament, and is so compared between
tournaments (Property 3.4 of Gosiewska et al. 2022).

``tests/epp/test_further_fits.py`` compares with single fits.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError
from bayes_sota.core.parallel import run_each
from bayes_sota.core.text import checked_labels
from bayes_sota.core.types import FloatArray
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import Compared, MatchKind
from bayes_sota.epp.fit import FACTS, BradleyTerryFit, fit_epp

if TYPE_CHECKING:
    import xarray as xr


_PARALLEL = 4_000_000  # pairs of players, above which processes pay, which take a second to start


@dataclass(frozen=True, eq=False)
class TournamentLeaderboard:
    """What is kept of the fit of one of many tournaments.

    Attributes
    ----------
    tournament : str
    matches : {"same-round", "all-rounds", "listed"}
        Which matches were counted.
    players : tuple of str
    epp, se, se_model, p_beats_average : ndarray, shape (m,)
        Skills, standard errors clustered by round and of independent matches, probabilities to beat
        the average player of the tournament.
    df : ndarray, shape (m,)
        Degrees of freedom of the t law.
    rank : ndarray of int, shape (m,)
        By skill from 1, equal skills share the better one.
    deviance : float
    deviance_df : int
    paper_standardized_deviance : float
    connected : bool
        Whether the estimates are finite without a penalty.
    n_missing : int
        Scores that are missing.
    """

    tournament: str
    matches: MatchKind
    players: tuple[str, ...]
    epp: FloatArray
    se: FloatArray
    se_model: FloatArray
    p_beats_average: FloatArray
    df: FloatArray
    rank: NDArray[np.intp]
    deviance: float
    deviance_df: int
    paper_standardized_deviance: float
    connected: bool
    n_missing: int


def fit_tournaments(
    tables: Iterable[ScoreTable | Matches],
    matches: Compared = "same-round",
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
    >>> [(one.tournament, one.epp.round(1).tolist()) for one in fit_tournaments(tables)]
    [('iris', [1.0, -0.1, -0.9]), ('wine', [1.3, 0.4, -1.7])]
    """
    tables = list(tables)
    checked_labels([table.tournament for table in tables], len(tables), "tournament")
    fitted = partial(fit_epp, matches=matches, penalty=penalty, test_fraction=test_fraction)
    if jobs is None:
        much = sum(table.n_players**2 for table in tables) > _PARALLEL
        jobs = min(len(tables), os.cpu_count() or 1) if much else 1
    cores = min(jobs, len(tables))
    leaderboards = dict(run_each(partial(_leaderboard, fitted=fitted), tables, cores=cores))
    return [leaderboards[place] for place in range(len(tables))]


def _leaderboard(
    table: ScoreTable | Matches, fitted: Callable[..., BradleyTerryFit]
) -> TournamentLeaderboard:
    try:
        fit = fitted(table)
    except InputError as error:  # or InfiniteEstimateError
        raise type(error)(f"tournament {table.tournament!r}: {error}") from None
    named: dict[str, Any] = {"tournament": table.tournament, "matches": fit.kind}
    named["paper_standardized_deviance"] = fit.paper["standardized_deviance"]
    kept = {one.name for one in fields(TournamentLeaderboard)} - named.keys()
    return TournamentLeaderboard(**named, **{name: getattr(fit, name) for name in kept})


def tournaments_tree(leaderboards: Sequence[TournamentLeaderboard]) -> "xr.DataTree":
    """Leaderboards as a DataTree: ``point_estimate`` by tournament and player.

    A player who is not in a tournament has NaN there.

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> joined = fit_tournaments([simulate_tournament([1.0, 0.0, -1.0], 30, random_seed=0)])
    >>> dict(tournaments_tree(joined)["point_estimate"].sizes)
    {'tournament': 1, 'player': 3}
    """
    import xarray as xr

    tables = [
        xr.Dataset(
            {
                "epp": ("player", board.epp),
                "epp_se": ("player", board.se),
                "epp_se_model": ("player", board.se_model),
                "deviance": board.deviance,
            },
            {"player": list(board.players), "tournament": board.tournament},
        )
        for board in leaderboards
    ]
    players = list(dict.fromkeys(name for board in leaderboards for name in board.players))
    joined = xr.concat(tables, "tournament", join="outer").reindex(player=players)
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=FACTS), "point_estimate": joined})
