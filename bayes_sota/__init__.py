"""The true state of the art behind a leaderboard's best score.

``import bayes_sota`` costs NumPy and nothing more: every public name is imported when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "BetaCorrelation": "bayes_sota.priors",
    "BetaSkill": "bayes_sota.priors",
    "Example": "bayes_sota.data.examples",
    "FixedCorrelation": "bayes_sota.priors",
    "ItemScores": "bayes_sota.data.item_scores",
    "Leaderboard": "bayes_sota.data.leaderboard",
    "LogNormalTries": "bayes_sota.priors",
    "LogitNormalSkill": "bayes_sota.priors",
    "MaximumLaw": "bayes_sota.exact.maximum",
    "ModelSpecification": "bayes_sota.specification",
    "PairedBoards": "bayes_sota.data.paired_boards",
    "Priors": "bayes_sota.priors",
    "Responses": "bayes_sota.data.responses",
    "SamplerSettings": "bayes_sota.specification",
    "UniformSkill": "bayes_sota.priors",
    "UniformTries": "bayes_sota.priors",
    "auc_estimate_correlation": "bayes_sota.exact.auc_scores",
    "auc_law": "bayes_sota.exact.auc",
    "auc_maximum_law": "bayes_sota.exact.auc",
    "board_table": "bayes_sota.entry_table",
    "bootstrap_standard_errors": "bayes_sota.data.bootstrap",
    "crop_scores": "bayes_sota.exact.shrinkage",
    "diagnose": "bayes_sota.summaries",
    "estimate_paired": "bayes_sota.inference.paired_route",
    "estimate_sota": "bayes_sota.estimate",
    "false_claim_probability": "bayes_sota.exact.false_claim",
    "false_claim_probability_of_means": "bayes_sota.exact.false_claim_mean",
    "infer_n_test": "bayes_sota.data.lattice",
    "list_examples": "bayes_sota.data.examples",
    "load_example": "bayes_sota.data.examples",
    "load_model": "bayes_sota.specification",
    "maximum_law": "bayes_sota.exact.maximum",
    "model_names": "bayes_sota.specification",
    "plot_maximum_law": "bayes_sota.plots.maximum_law",
    "plot_prior_predictive": "bayes_sota.plots.prior_predictive",
    "plot_sensitivity": "bayes_sota.plots.sensitivity",
    "plot_sota": "bayes_sota.plots.sota",
    "probability_truly_better": "bayes_sota.summaries",
    "read_item_scores": "bayes_sota.data.read_item_scores",
    "read_leaderboard": "bayes_sota.data.readers.leaderboard_files",
    "read_paired_boards": "bayes_sota.data.read_paired",
    "read_responses": "bayes_sota.data.response_files",
    "read_result": "bayes_sota.inference.result",
    "save_result": "bayes_sota.inference.result",
    "shrink_aucs": "bayes_sota.exact.shrinkage",
    "shrink_scores": "bayes_sota.exact.shrinkage",
    "simulate_auc_maximum": "bayes_sota.simulate_auc",
    "sota_sensitivity": "bayes_sota.estimate",
    "summarize": "bayes_sota.summaries",
}
_MODULES = ("errors", "exact", "priors", "pymc_models", "schema", "skill_distributions")

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
    from bayes_sota.data.bootstrap import bootstrap_standard_errors as bootstrap_standard_errors
    from bayes_sota.data.examples import Example as Example
    from bayes_sota.data.examples import list_examples as list_examples
    from bayes_sota.data.examples import load_example as load_example
    from bayes_sota.data.item_scores import ItemScores as ItemScores
    from bayes_sota.data.lattice import infer_n_test as infer_n_test
    from bayes_sota.data.leaderboard import Leaderboard as Leaderboard
    from bayes_sota.data.paired_boards import PairedBoards as PairedBoards
    from bayes_sota.data.read_item_scores import read_item_scores as read_item_scores
    from bayes_sota.data.read_paired import read_paired_boards as read_paired_boards
    from bayes_sota.data.readers.leaderboard_files import read_leaderboard as read_leaderboard
    from bayes_sota.data.response_files import read_responses as read_responses
    from bayes_sota.data.responses import Responses as Responses
    from bayes_sota.entry_table import board_table as board_table
    from bayes_sota.estimate import estimate_sota as estimate_sota
    from bayes_sota.estimate import sota_sensitivity as sota_sensitivity
    from bayes_sota.exact.auc import auc_law as auc_law
    from bayes_sota.exact.auc import auc_maximum_law as auc_maximum_law
    from bayes_sota.exact.auc_scores import auc_estimate_correlation as auc_estimate_correlation
    from bayes_sota.exact.false_claim import false_claim_probability as false_claim_probability
    from bayes_sota.exact.false_claim_mean import (
        false_claim_probability_of_means as false_claim_probability_of_means,
    )
    from bayes_sota.exact.maximum import MaximumLaw as MaximumLaw
    from bayes_sota.exact.maximum import maximum_law as maximum_law
    from bayes_sota.exact.shrinkage import crop_scores as crop_scores
    from bayes_sota.exact.shrinkage import shrink_aucs as shrink_aucs
    from bayes_sota.exact.shrinkage import shrink_scores as shrink_scores
    from bayes_sota.inference.paired_route import estimate_paired as estimate_paired
    from bayes_sota.inference.result import read_result as read_result
    from bayes_sota.inference.result import save_result as save_result
    from bayes_sota.plots.maximum_law import plot_maximum_law as plot_maximum_law
    from bayes_sota.plots.prior_predictive import plot_prior_predictive as plot_prior_predictive
    from bayes_sota.plots.sensitivity import plot_sensitivity as plot_sensitivity
    from bayes_sota.plots.sota import plot_sota as plot_sota
    from bayes_sota.priors import BetaCorrelation as BetaCorrelation
    from bayes_sota.priors import BetaSkill as BetaSkill
    from bayes_sota.priors import FixedCorrelation as FixedCorrelation
    from bayes_sota.priors import LogitNormalSkill as LogitNormalSkill
    from bayes_sota.priors import LogNormalTries as LogNormalTries
    from bayes_sota.priors import Priors as Priors
    from bayes_sota.priors import UniformSkill as UniformSkill
    from bayes_sota.priors import UniformTries as UniformTries
    from bayes_sota.simulate_auc import simulate_auc_maximum as simulate_auc_maximum
    from bayes_sota.specification import ModelSpecification as ModelSpecification
    from bayes_sota.specification import SamplerSettings as SamplerSettings
    from bayes_sota.specification import load_model as load_model
    from bayes_sota.specification import model_names as model_names
    from bayes_sota.summaries import diagnose as diagnose
    from bayes_sota.summaries import probability_truly_better as probability_truly_better
    from bayes_sota.summaries import summarize as summarize
