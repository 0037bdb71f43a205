"""Log likelihood of a best score as a tensor, from the variable that models observe."""

from typing import Any

import pymc as pm

from bayes_sota.maximum import observe_maximum
from bayes_sota.maximum.posterior import several


def maximum_logp(board: Any, location: Any, spread: Any, rho: Any, **options: Any) -> Any:
    """Given location, spread and rho, numbers or tensors; options of ``observe_maximum``."""
    with pm.Model():
        variable = observe_maximum(board, location, spread, rho, **options)
    return pm.logp(variable, [one.maximum for one in several(board)]).sum()
