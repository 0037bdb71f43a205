"""Which figure ``bayes-sota epp --figure-kind`` draws of which result."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

    from bayes_sota.epp.fit import BradleyTerryFit
    from bayes_sota.epp.tournaments import TournamentLeaderboard

__all__ = ["figure_of_draws", "figure_of_fit", "figure_of_tournaments"]

_MOST_FAMILIES = 8


def figure_of_fit(fit: "BradleyTerryFit", kind: str, prob: float) -> "PlotCollection":
    """Figure of one leaderboard."""
    if kind == "mean":
        from bayes_sota.epp.plots_mean_scores import plot_epp_against_mean

        return plot_epp_against_mean(fit, prob=prob)
    if kind == "reliability":
        from bayes_sota.epp.plots_reliability import plot_reliability
        from bayes_sota.epp.quality import reliability

        return plot_reliability(reliability(fit))
    if kind == "boxplots":
        families = len({_family(player) for player in fit.players})
        if not 1 < families <= min(_MOST_FAMILIES, len(fit.players) - 1):
            raise InputError(
                "--figure-kind boxplots compares tournaments, or two to "
                f"{_MOST_FAMILIES} families of players that are alike but for a number; for one "
                "tournament of other players take --figure-kind forest"
            )
        return figure_of_tournaments([fit], kind)
    return _figure_of_players(fit, kind, prob)


def figure_of_draws(tree: Any, kind: str, prob: float) -> "PlotCollection":
    """Figure of a posterior."""
    if kind not in ("forest", "matrix", "ranks"):
        raise InputError(f"--figure-kind {kind} is for maximum likelihood: leave out --bayes")
    return _figure_of_players(tree, kind, prob)


def figure_of_tournaments(
    leaderboards: "Sequence[TournamentLeaderboard | BradleyTerryFit]", kind: str
) -> "PlotCollection":
    """Boxplots of families of players: what a name has before its number, if that makes few."""
    if kind != "boxplots":
        raise InputError("a figure of several tournaments is --figure-kind boxplots")
    from bayes_sota.epp.plots_boxplots import plot_epp_boxplots

    names = [
        getattr(board, "tournament", None) or board.data.tournament  # type: ignore[union-attr]
        for board in leaderboards
    ]
    families = {_family(player) for board in leaderboards for player in board.players}
    family = _family if len(families) <= _MOST_FAMILIES else lambda player: "all players"
    return plot_epp_boxplots(dict(zip(names, leaderboards, strict=True)), family)


def _figure_of_players(result: Any, kind: str, prob: float) -> "PlotCollection":
    if kind == "matrix":
        from bayes_sota.epp.plots_win_matrix import plot_win_matrix

        return plot_win_matrix(result)
    if kind == "ranks":
        from bayes_sota.epp.plots_ranks import plot_rank_distribution

        return plot_rank_distribution(result, prob=prob)
    from bayes_sota.epp.plots_forest import plot_epp

    return plot_epp(result, prob=prob)


def _family(player: str) -> str:
    """Name without its trailing number.

    Examples
    --------
    >>> _family("gbm1305"), _family("ranger_9"), _family("VAE")
    ('gbm', 'ranger', 'VAE')
    """
    return re.sub(r"[-_ .#]*\d+%?$", "", player) or player
