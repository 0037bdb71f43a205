"""Log likelihood of a best score as a tensor, from the variable that models observe."""

from typing import Any

import pymc as pm

from bayes_sota.data.leaderboard import BestScore
from bayes_sota.maximum import observe_maximum


def maximum_logp(board: BestScore, location: Any, spread: Any, rho: Any, **options: Any) -> Any:
    """Given location, spread and rho, numbers or tensors; options of ``observe_maximum``."""
    with pm.Model():
        variable = observe_maximum(board, location, spread, rho, **options)
    return pm.logp(variable, [board.maximum]).sum()
