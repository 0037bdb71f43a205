"""The true state of the art behind a leaderboard's best score.

``import bayes_sota`` costs NumPy and nothing more: every public name is imported when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "BetaCorrelation": "bayes_sota.priors",
    "BetaSkill": "bayes_sota.priors",
    "FixedCorrelation": "bayes_sota.priors",
    "Leaderboard": "bayes_sota.data.leaderboard",
    "LogNormalTries": "bayes_sota.priors",
    "LogitNormalSkill": "bayes_sota.priors",
    "MaximumLaw": "bayes_sota.exact.maximum",
    "Priors": "bayes_sota.priors",
    "UniformSkill": "bayes_sota.priors",
    "UniformTries": "bayes_sota.priors",
    "maximum_law": "bayes_sota.exact.maximum",
}
_MODULES = ("errors", "exact", "priors", "schema", "skill_distributions")

__all__ = [*sorted(_PUBLIC), *_MODULES]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
    elif name in _MODULES:
        value = import_module(f"bayes_sota.{name}")
    else:
        raise AttributeError(f"module 'bayes_sota' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, for completion."""
    return sorted([*__all__, "__version__"])


if TYPE_CHECKING:
    from bayes_sota.data.leaderboard import Leaderboard as Leaderboard
    from bayes_sota.exact.maximum import MaximumLaw as MaximumLaw
    from bayes_sota.exact.maximum import maximum_law as maximum_law
    from bayes_sota.priors import BetaCorrelation as BetaCorrelation
    from bayes_sota.priors import BetaSkill as BetaSkill
    from bayes_sota.priors import FixedCorrelation as FixedCorrelation
    from bayes_sota.priors import LogitNormalSkill as LogitNormalSkill
    from bayes_sota.priors import LogNormalTries as LogNormalTries
    from bayes_sota.priors import Priors as Priors
    from bayes_sota.priors import UniformSkill as UniformSkill
    from bayes_sota.priors import UniformTries as UniformTries
