"""Leaderboards as DataTrees: estimates in the group ``point_estimate``, never invented draws.

``tests/epp/test_fit.py`` and ``test_tournaments.py`` read the numbers back.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_sota import __version__
from bayes_sota.core.schema import SCHEMA_VERSION
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import ScoreTable

if TYPE_CHECKING:
    import xarray as xr

    from bayes_sota.epp.fit import BradleyTerryFit
    from bayes_sota.epp.tournaments import TournamentLeaderboard


_FACTS = {
    "schema_version": SCHEMA_VERSION,
    "method": "maximum likelihood",
    "model_name": "bradley-terry",
    "versions": f"bayes_sota {__version__}",
}


def fit_tree(fit: "BradleyTerryFit") -> "xr.DataTree":
    """Estimates, standard errors and covariances of one leaderboard, beside its data."""
    import xarray as xr

    one, two = ("player",), ("player", "player_other")
    numbers: dict[str, Any] = {
        "epp": (one, fit.epp),
        "epp_se": (one, fit.se),
        "epp_se_model": (one, fit.se_model),
        "epp_covariance": (two, fit.covariance),
        "epp_covariance_model": (two, fit.covariance_model),
        "win_probability": (two, fit.win_probabilities()),
        "rank": (one, fit.rank),
        "deviance": fit.deviance,
    }
    names = {"player": list(fit.players)}
    point = xr.Dataset(numbers, coords={**names, "player_other": list(fit.players)})
    facts = {
        **_FACTS,
        "matches": fit.kind,
        "data_hash": fit.data.data_hash(),
        "penalty": fit.penalty,
        "connected": int(fit.connected),
    }
    return xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs=facts),
            "point_estimate": point,
            "observed_data": observed_data(fit.data),
        }
    )


def observed_data(data: ScoreTable | Matches) -> "xr.Dataset":
    """Scores, or matches, as a Dataset."""
    import xarray as xr

    if isinstance(data, ScoreTable):
        return xr.Dataset(
            {
                "score": (("round", "player"), data.scores),
                "lower_is_better": ("round", data.lower_is_better.astype(np.int8)),
            },
            coords={"round": list(data.rounds), "player": list(data.players)},
        )
    return xr.Dataset(
        {
            "first": ("match", data.first),
            "second": ("match", data.second),
            "match_outcome": ("match", data.outcomes),
            "match_cluster": ("match", data.clusters),
        }
    )


def tournaments_tree(leaderboards: Sequence["TournamentLeaderboard"]) -> "xr.DataTree":
    """Leaderboards as a DataTree: ``point_estimate`` by tournament and player.

    A player who is not in a tournament has NaN there.

    Examples
    --------
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> from bayes_sota.epp.tournaments import fit_tournaments
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
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=_FACTS), "point_estimate": found})
