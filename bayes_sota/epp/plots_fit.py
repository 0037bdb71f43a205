"""What fits say beside skills: predicted and observed wins, mean scores.

Figures 5 and 6 of Gosiewska et al. (2022), whose boards are others.
``tests/epp/test_plots_fit.py`` reads the artists back.
"""

from typing import Any

import numpy as np
from arviz_plots import PlotCollection

from bayes_sota.core.plots import (
    COLORS,
    Panel,
    make_bounds,
    make_collection,
    make_ticks,
)
from bayes_sota.core.plots_matrix import Axis, draw_bars
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.plots import finished
from bayes_sota.epp.simulate import reliability


def plot_reliability(
    fit: BradleyTerryFit,
    *,
    n_bins: int = 10,
    plot_collection: PlotCollection | None = None,
    **pc_kwargs: Any,
) -> PlotCollection:
    """Draw the observed share of wins against the predicted one (Fig. 5 of the EPP paper).

    Parameters
    ----------
    fit : BradleyTerryFit
    n_bins : int
        Of as many pairs each.
    plot_collection : PlotCollection, optional
        Where to draw; default a new figure.
    **pc_kwargs
        Passed to ``PlotCollection.grid``.

    Returns
    -------
    PlotCollection
        Artists in ``viz``, each with the variable ``wins``: the line ``equal``, the dots ``pairs``
        of single pairs and ``bins`` of their means, and the bars ``interval`` (95 %, NaN between
        them).

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament(np.linspace(2, -2, 20), 50, random_seed=0))
    >>> figure = plot_reliability(fit, backend="none")
    >>> figure.viz["figure_title"].item()["string"]
    'Predicted and observed shares of wins differ by 0.03 on average'
    """
    bins = reliability(fit, n_bins)
    where = {"plot_collection": plot_collection, **pc_kwargs}
    limits = make_bounds(0.0, 1.0)
    panel = Panel(make_collection({"wins": limits}, figsize=(5.6, 5.2), **where), "wins")
    panel.line("equal", [0.5, 1.0], [0.5, 1.0], COLORS["prior"])
    panel.dots("pairs", bins.pairs_predicted, bins.pairs_observed, COLORS["prior"], size=4)
    ends = np.column_stack([bins.lower, bins.upper])
    here = np.repeat(bins.predicted[:, None], 2, axis=1)
    draw_bars(panel, "interval", here, ends, COLORS["theta_sota"], 1.8)
    panel.dots("bins", bins.predicted, bins.observed, COLORS["theta_sota"], size=30)
    x = Axis("predicted probability that the better player wins", 0.48, 1.02, *make_ticks(0.5, 1))
    low = min(float(np.nanmin([bins.pairs_observed.min(), np.nanmin(ends)])), 0.45)
    y = Axis("observed share of wins", low - 0.03, 1.03, *make_ticks(low, 1.0))
    said = f"Predicted and observed shares of wins differ by {bins.mean_error:.2f} on average"
    return finished(panel, x, y, said)
