"""Builders from containers and priors to pm.Model; they never sample and never plot."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

_BUILDERS = {
    "build_case_differences": "false_claim_means",
    "build_clustered_items": "false_claim",
    "build_epp": "bradley_terry",
    "build_hierarchical_claims": "false_claim",
    "build_leaderboard": "leaderboard",
    "build_metric_differences": "false_claim_means",
    "build_observed_maximum": "maximum",
    "build_paired_boards": "paired_boards",
    "build_responses": "responses",
    "build_simulated_maximum": "maximum_simulator",
}

__all__ = [
    "build_case_differences",
    "build_clustered_items",
    "build_epp",
    "build_hierarchical_claims",
    "build_leaderboard",
    "build_metric_differences",
    "build_observed_maximum",
    "build_paired_boards",
    "build_responses",
    "build_simulated_maximum",
]

if TYPE_CHECKING:
    from bayes_sota.pymc_models.bradley_terry import build_epp as build_epp
    from bayes_sota.pymc_models.false_claim import build_clustered_items as build_clustered_items
    from bayes_sota.pymc_models.false_claim import (
        build_hierarchical_claims as build_hierarchical_claims,
    )
    from bayes_sota.pymc_models.false_claim_means import (
        build_case_differences as build_case_differences,
    )
    from bayes_sota.pymc_models.false_claim_means import (
        build_metric_differences as build_metric_differences,
    )
    from bayes_sota.pymc_models.leaderboard import build_leaderboard as build_leaderboard
    from bayes_sota.pymc_models.maximum import build_observed_maximum as build_observed_maximum
    from bayes_sota.pymc_models.maximum_simulator import (
        build_simulated_maximum as build_simulated_maximum,
    )
    from bayes_sota.pymc_models.paired_boards import build_paired_boards as build_paired_boards
    from bayes_sota.pymc_models.responses import build_responses as build_responses


def __getattr__(name: str) -> Any:
    """Import PyMC when a builder is first used (PEP 562)."""
    if name in _BUILDERS:
        return getattr(import_module(f"bayes_sota.pymc_models.{_BUILDERS[name]}"), name)
    raise AttributeError(f"module 'bayes_sota.pymc_models' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Builders that are not imported yet as well."""
    return sorted({*globals(), *__all__})
