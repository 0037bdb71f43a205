"""Several tournaments, each fitted on its own.

A skill says how likely a player beats the average of its tournament, and is so compared between
tournaments (Property 3.4 of Gosiewska et al. 2022). ``tests/epp/test_fit.py`` compares with single
fits.
"""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import located
from bayes_sota.core.text import checked_labels
from bayes_sota.data.tournaments import Matches, ScoreTable
from bayes_sota.epp.counts import Compared
from bayes_sota.epp.fit import FACTS, BradleyTerryFit, fit_epp

if TYPE_CHECKING:
    import xarray as xr


def fit_tournaments(
    tables: Iterable[ScoreTable | Matches], matches: Compared = "same-round", **options: Any
) -> Iterator[BradleyTerryFit]:
    """Fit tournaments of different names one after the other, each on its own.

    Parameters
    ----------
    tables : iterable of ScoreTable or Matches
    matches, **options
        As of ``fit_epp``.

    Raises
    ------
    InfiniteEstimateError, InputError
        As ``fit_epp``, naming the tournament.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> tables = [ScoreTable(rng.normal(size=(9, 3)), tournament=name) for name in ("iris", "wine")]
    >>> [(fit.tournament, fit.epp.round(1).tolist()) for fit in fit_tournaments(tables)]
    [('iris', [0.0, -0.1, 0.1]), ('wine', [-0.3, -0.3, 0.6])]
    """
    tables = list(tables)
    checked_labels([table.tournament for table in tables], len(tables), "tournament")
    for table in tables:
        with located(f"tournament {table.tournament!r}"):
            fit = fit_epp(table, matches, **options)
        yield fit


def tournaments_tree(fits: Iterable[BradleyTerryFit]) -> "xr.DataTree":
    """Skills of several tournaments as a DataTree: ``point_estimate`` by tournament and player.

    A player who is not in a tournament has NaN there.
    """
    import xarray as xr

    kept = ["epp", "epp_se", "epp_se_model", "deviance"]
    points = {fit.tournament: fit.to_datatree()["point_estimate"].to_dataset() for fit in fits}
    tables = [point[kept].assign_coords(tournament=name) for name, point in points.items()]
    joined = xr.concat(tables, "tournament", join="outer")
    return xr.DataTree.from_dict({"/": xr.Dataset(attrs=FACTS), "point_estimate": joined})
