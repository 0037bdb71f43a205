"""Builders from containers and priors to pm.Model; they never sample and never plot."""

from typing import TYPE_CHECKING, Any

__all__ = ["build_leaderboard", "build_observed_maximum", "build_simulated_maximum"]

if TYPE_CHECKING:
    from bayes_sota.pymc_models.leaderboard import build_leaderboard as build_leaderboard
    from bayes_sota.pymc_models.maximum import build_observed_maximum as build_observed_maximum
    from bayes_sota.pymc_models.maximum_simulator import (
        build_simulated_maximum as build_simulated_maximum,
    )


def __getattr__(name: str) -> Any:
    """Import PyMC when a builder is first used (PEP 562)."""
    if name == "build_leaderboard":
        from bayes_sota.pymc_models.leaderboard import build_leaderboard

        return build_leaderboard
    if name == "build_observed_maximum":
        from bayes_sota.pymc_models.maximum import build_observed_maximum

        return build_observed_maximum
    if name == "build_simulated_maximum":
        from bayes_sota.pymc_models.maximum_simulator import build_simulated_maximum

        return build_simulated_maximum
    raise AttributeError(f"module 'bayes_sota.pymc_models' has no attribute {name!r}")
