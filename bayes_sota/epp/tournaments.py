r"""Leaderboards of many tournaments, such as thirty data sets with thousands of models each.

A skill says how likely a player beats the average of its tournament, and is so compared between
tournaments (Property 3.4 of Gosiewska et al. 2022). ``tests/epp/test_tournaments.py`` compares
with single fits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InfiniteEstimateError, InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.counts import MatchKind
from bayes_sota.epp.fit import fit_epp


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
    tables: Iterable[ScoreTable | Matches],
    matches: Literal["same-round", "all-rounds"] = "same-round",
    *,
    penalty: float = 0.0,
    test_fraction: float | None = None,
    jobs: int = 1,
) -> list[TournamentLeaderboard]:
    """Fit every tournament on its own, in several processes.

    Parameters
    ----------
    tables : iterable of ScoreTable or Matches
        With different names (``tournament``).
    matches, penalty, test_fraction
        As in ``fit_epp``.
    jobs : int
        Processes of joblib.

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
    if jobs == 1 or len(tables) == 1:
        return [_leaderboard(table, *settings) for table in tables]
    from joblib import Parallel, delayed

    tasks = (delayed(_leaderboard)(table, *settings) for table in tables)
    return list(Parallel(n_jobs=jobs)(tasks))


def _leaderboard(
    table: ScoreTable | Matches,
    matches: Literal["same-round", "all-rounds"],
    penalty: float,
    test_fraction: float | None,
) -> TournamentLeaderboard:
    try:
        fit = fit_epp(table, matches, penalty=penalty, test_fraction=test_fraction)
    except InfiniteEstimateError as error:
        raise InfiniteEstimateError(f"tournament {table.tournament!r}: {error}") from None
    except InputError as error:
        raise InputError(f"tournament {table.tournament!r}: {error}") from None
    return TournamentLeaderboard(
        tournament=table.tournament,
        matches=fit.kind,
        players=fit.players,
        epp=fit.epp,
        se=fit.se,
        se_model=fit.se_model,
        df=fit.df,
        rank=fit.rank,
        deviance=fit.deviance,
        deviance_df=fit.deviance_df,
        paper_standardized_deviance=fit.paper["standardized_deviance"],
        connected=fit.connected,
    )
