"""Tables behind Fig. 4 to 6 of the EPP paper; a drawing consumes what was computed here."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bayes_sota.data.score_table import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.quality import Reliability, reliability
from bayes_sota.epp.tournaments import TournamentLeaderboard
from bayes_sota.published.openml_study import PENALTY, OpenmlStudy, family_of, fit_study

if TYPE_CHECKING:
    import pandas as pd


_MOST_PAIRS = 4_000  # pairs of a tournament in a table
_Ends = dict[str, tuple[TournamentLeaderboard, Reliability]]


def fig_4_data(boards: Sequence[TournamentLeaderboard]) -> "pd.DataFrame":
    """EPP of every player of every tournament."""
    import pandas as pd

    return pd.concat([
        pd.DataFrame({
            "tournament": board.tournament,
            "family": [family_of(player) for player in board.players],
            "player": board.players,
            "epp": board.epp,
        })
        for board in boards
    ], ignore_index=True)  # fmt: skip


def ends_of_fit(study: OpenmlStudy, jobs: int = 1) -> _Ends:
    """Tournaments with the lowest and the highest deviance, and their win probabilities.

    All have the same players, so that the order is that of the paper's standardized deviance
    (Properties 3.8 and 3.9) as well.
    """
    boards = sorted(fit_study(study, jobs), key=lambda one: one.paper_standardized_deviance)
    chosen = {"lowest": boards[0], "highest": boards[-1]}
    tables = {table.tournament: table for table in study.tables()}
    return {
        name: (board, reliability(fit_epp(tables[board.tournament], "all-rounds", penalty=PENALTY)))
        for name, board in chosen.items()
    }


def fig_5_data(ends: _Ends) -> "pd.DataFrame":
    """Predicted and observed frequencies of bins of pairs, and of single pairs.

    Of more than 4,000 pairs every second, third, ... of them, in the order of the prediction.
    """
    import pandas as pd

    blocks = []
    for name, (board, found) in ends.items():
        step = -(-len(found.pairs_predicted) // _MOST_PAIRS)
        bins = pd.DataFrame({
            "series": "bin", "predicted": found.predicted, "observed": found.observed,
            "lower": found.lower, "upper": found.upper, "n_pairs": found.n_pairs,
        })  # fmt: skip
        pairs = pd.DataFrame({
            "series": "pair", "predicted": found.pairs_predicted[::step],
            "observed": found.pairs_observed[::step], "lower": np.nan, "upper": np.nan,
            "n_pairs": 1,
        })  # fmt: skip
        for part in (bins, pairs):
            part.insert(0, "panel", name)
            part.insert(1, "tournament", board.tournament)
            part["standardized_deviance"] = board.paper_standardized_deviance
            blocks.append(part)
    return pd.concat(blocks, ignore_index=True)


def fig_6_data(fit: BradleyTerryFit) -> "pd.DataFrame":
    """Mean score and EPP of each model, with intervals clustered by task and as in the paper."""
    import pandas as pd

    assert isinstance(fit.data, ScoreTable)
    robust, model = fit.interval(0.95), fit.interval(0.95, "model")
    return pd.DataFrame({
        "player": fit.players,
        "mean_score": fit.data.mean_scores(),
        "epp": fit.epp,
        "lower": robust[:, 0],
        "upper": robust[:, 1],
        "lower_model": model[:, 0],
        "upper_model": model[:, 1],
        "may_be_best": fit.tied_with_best(0.95),
    })  # fmt: skip
