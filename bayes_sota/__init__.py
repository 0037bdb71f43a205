"""The true state of the art behind a leaderboard's best score.

``import bayes_sota`` costs NumPy and nothing more: every public name is imported when it is used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_PUBLIC = {
    "BetaCorrelation": "bayes_sota.priors",
    "BetaSkill": "bayes_sota.priors",
    "BradleyTerryFit": "bayes_sota.exact.bradley_terry",
    "Evaluations": "bayes_sota.data.evaluation_files",
    "Example": "bayes_sota.data.examples",
    "FixedCorrelation": "bayes_sota.priors",
    "ItemScores": "bayes_sota.data.item_scores",
    "Leaderboard": "bayes_sota.data.leaderboard",
    "LogNormalTries": "bayes_sota.priors",
    "LogitNormalSkill": "bayes_sota.priors",
    "Matches": "bayes_sota.data.matches",
    "MaximumLaw": "bayes_sota.exact.maximum",
    "ModelSpecification": "bayes_sota.specification",
    "OddsRatioCongruence": "bayes_sota.exact.congruence",
    "PairedBoards": "bayes_sota.data.paired_boards",
    "Priors": "bayes_sota.priors",
    "RelativeCongruence": "bayes_sota.exact.congruence",
    "Responses": "bayes_sota.data.responses",
    "SamplerSettings": "bayes_sota.specification",
    "ScoreTable": "bayes_sota.data.score_table",
    "UniformSkill": "bayes_sota.priors",
    "UniformTries": "bayes_sota.priors",
    "add_player": "bayes_sota.exact.new_player",
    "auc_estimate_correlation": "bayes_sota.exact.auc_scores",
    "auc_law": "bayes_sota.exact.auc",
    "auc_maximum_law": "bayes_sota.exact.auc",
    "best_try_probability": "bayes_sota.exact.best_try",
    "best_try_probability_of_means": "bayes_sota.exact.best_try",
    "board_table": "bayes_sota.entry_table",
    "bootstrap_epp": "bayes_sota.exact.epp_bootstrap",
    "bootstrap_standard_errors": "bayes_sota.data.bootstrap",
    "check_epp": "bayes_sota.inference.epp_checks",
    "claim_of_best_entry": "bayes_sota.exact.selected_claim",
    "claim_test_size": "bayes_sota.exact.claim_planning",
    "claim_test_size_of_means": "bayes_sota.exact.claim_planning",
    "claim_tree": "bayes_sota.inference.claim_draws",
    "claims_table": "bayes_sota.review_table",
    "compare_leaderboards": "bayes_sota.exact.leaderboard_quality",
    "compare_methods": "bayes_sota.exact.method_comparison",
    "comparison_tree": "bayes_sota.inference.claim_draws",
    "crop_scores": "bayes_sota.exact.shrinkage",
    "diagnose": "bayes_sota.summaries",
    "epp_rope": "bayes_sota.epp_summaries",
    "epp_table": "bayes_sota.epp_table",
    "epp_win_probability": "bayes_sota.epp_summaries",
    "estimate_paired": "bayes_sota.inference.paired_route",
    "estimate_sota": "bayes_sota.estimate",
    "false_claim_probability": "bayes_sota.exact.false_claim",
    "false_claim_probability_of_means": "bayes_sota.exact.false_claim_mean",
    "false_claim_rope": "bayes_sota.exact.false_claim",
    "fit_epp": "bayes_sota.exact.bradley_terry",
    "fit_tournaments": "bayes_sota.exact.tournaments",
    "infer_n_test": "bayes_sota.data.lattice",
    "leaderboard_quality": "bayes_sota.exact.leaderboard_quality",
    "list_examples": "bayes_sota.data.examples",
    "load_example": "bayes_sota.data.examples",
    "load_model": "bayes_sota.specification",
    "local_rope_matches": "bayes_sota.data.local_rope",
    "local_rope_matches_of_means": "bayes_sota.data.local_rope",
    "maximum_law": "bayes_sota.exact.maximum",
    "model_names": "bayes_sota.specification",
    "plot_claim_sensitivity": "bayes_sota.plots.claim_sensitivity",
    "plot_claims": "bayes_sota.plots.claims",
    "plot_epp": "bayes_sota.plots.epp_forest",
    "plot_epp_against_mean": "bayes_sota.plots.epp_mean_scores",
    "plot_epp_boxplots": "bayes_sota.plots.epp_boxplots",
    "plot_maximum_law": "bayes_sota.plots.maximum_law",
    "plot_methods": "bayes_sota.plots.claim_methods",
    "plot_prior_predictive": "bayes_sota.plots.prior_predictive",
    "plot_rank_distribution": "bayes_sota.plots.epp_ranks",
    "plot_reliability": "bayes_sota.plots.epp_reliability",
    "plot_required_size": "bayes_sota.plots.claim_size",
    "plot_sensitivity": "bayes_sota.plots.sensitivity",
    "plot_sota": "bayes_sota.plots.sota",
    "plot_win_matrix": "bayes_sota.plots.epp_win_matrix",
    "private_variants": "bayes_sota.exact.private_variants",
    "private_variants_of": "bayes_sota.exact.shown_variants",
    "probability_truly_better": "bayes_sota.summaries",
    "read_claims": "bayes_sota.review_table",
    "read_evaluations": "bayes_sota.data.evaluation_files",
    "read_item_scores": "bayes_sota.data.read_item_scores",
    "read_leaderboard": "bayes_sota.data.readers.leaderboard_files",
    "read_means": "bayes_sota.data.local_rope",
    "read_paired_boards": "bayes_sota.data.read_paired",
    "read_responses": "bayes_sota.data.response_files",
    "read_result": "bayes_sota.inference.result",
    "read_scores": "bayes_sota.data.score_files",
    "reliability": "bayes_sota.exact.leaderboard_quality",
    "reported_claim": "bayes_sota.exact.reported_claim",
    "sample_claim": "bayes_sota.inference.claim_route",
    "sample_epp": "bayes_sota.inference.epp_route",
    "save_result": "bayes_sota.inference.result",
    "shrink_aucs": "bayes_sota.exact.shrinkage",
    "shrink_scores": "bayes_sota.exact.shrinkage",
    "simulate_auc_maximum": "bayes_sota.simulate_auc",
    "simulate_tournament": "bayes_sota.simulate_tournament",
    "sota_sensitivity": "bayes_sota.estimate",
    "summarize": "bayes_sota.summaries",
    "summarize_claim": "bayes_sota.inference.claim_route",
    "summarize_epp": "bayes_sota.epp_summaries",
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
    from bayes_sota.data.evaluation_files import Evaluations as Evaluations
    from bayes_sota.data.evaluation_files import read_evaluations as read_evaluations
    from bayes_sota.data.examples import Example as Example
    from bayes_sota.data.examples import list_examples as list_examples
    from bayes_sota.data.examples import load_example as load_example
    from bayes_sota.data.item_scores import ItemScores as ItemScores
    from bayes_sota.data.lattice import infer_n_test as infer_n_test
    from bayes_sota.data.leaderboard import Leaderboard as Leaderboard
    from bayes_sota.data.local_rope import local_rope_matches as local_rope_matches
    from bayes_sota.data.local_rope import (
        local_rope_matches_of_means as local_rope_matches_of_means,
    )
    from bayes_sota.data.local_rope import read_means as read_means
    from bayes_sota.data.matches import Matches as Matches
    from bayes_sota.data.paired_boards import PairedBoards as PairedBoards
    from bayes_sota.data.read_item_scores import read_item_scores as read_item_scores
    from bayes_sota.data.read_paired import read_paired_boards as read_paired_boards
    from bayes_sota.data.readers.leaderboard_files import read_leaderboard as read_leaderboard
    from bayes_sota.data.response_files import read_responses as read_responses
    from bayes_sota.data.responses import Responses as Responses
    from bayes_sota.data.score_files import read_scores as read_scores
    from bayes_sota.data.score_table import ScoreTable as ScoreTable
    from bayes_sota.entry_table import board_table as board_table
    from bayes_sota.epp_summaries import epp_rope as epp_rope
    from bayes_sota.epp_summaries import epp_win_probability as epp_win_probability
    from bayes_sota.epp_summaries import summarize_epp as summarize_epp
    from bayes_sota.epp_table import epp_table as epp_table
    from bayes_sota.estimate import estimate_sota as estimate_sota
    from bayes_sota.estimate import sota_sensitivity as sota_sensitivity
    from bayes_sota.exact.auc import auc_law as auc_law
    from bayes_sota.exact.auc import auc_maximum_law as auc_maximum_law
    from bayes_sota.exact.auc_scores import auc_estimate_correlation as auc_estimate_correlation
    from bayes_sota.exact.best_try import best_try_probability as best_try_probability
    from bayes_sota.exact.best_try import (
        best_try_probability_of_means as best_try_probability_of_means,
    )
    from bayes_sota.exact.bradley_terry import BradleyTerryFit as BradleyTerryFit
    from bayes_sota.exact.bradley_terry import fit_epp as fit_epp
    from bayes_sota.exact.claim_planning import claim_test_size as claim_test_size
    from bayes_sota.exact.claim_planning import claim_test_size_of_means as claim_test_size_of_means
    from bayes_sota.exact.congruence import OddsRatioCongruence as OddsRatioCongruence
    from bayes_sota.exact.congruence import RelativeCongruence as RelativeCongruence
    from bayes_sota.exact.epp_bootstrap import bootstrap_epp as bootstrap_epp
    from bayes_sota.exact.false_claim import false_claim_probability as false_claim_probability
    from bayes_sota.exact.false_claim import false_claim_rope as false_claim_rope
    from bayes_sota.exact.false_claim_mean import (
        false_claim_probability_of_means as false_claim_probability_of_means,
    )
    from bayes_sota.exact.leaderboard_quality import compare_leaderboards as compare_leaderboards
    from bayes_sota.exact.leaderboard_quality import leaderboard_quality as leaderboard_quality
    from bayes_sota.exact.leaderboard_quality import reliability as reliability
    from bayes_sota.exact.maximum import MaximumLaw as MaximumLaw
    from bayes_sota.exact.maximum import maximum_law as maximum_law
    from bayes_sota.exact.method_comparison import compare_methods as compare_methods
    from bayes_sota.exact.new_player import add_player as add_player
    from bayes_sota.exact.private_variants import private_variants as private_variants
    from bayes_sota.exact.reported_claim import reported_claim as reported_claim
    from bayes_sota.exact.selected_claim import claim_of_best_entry as claim_of_best_entry
    from bayes_sota.exact.shown_variants import private_variants_of as private_variants_of
    from bayes_sota.exact.shrinkage import crop_scores as crop_scores
    from bayes_sota.exact.shrinkage import shrink_aucs as shrink_aucs
    from bayes_sota.exact.shrinkage import shrink_scores as shrink_scores
    from bayes_sota.exact.tournaments import fit_tournaments as fit_tournaments
    from bayes_sota.inference.claim_draws import claim_tree as claim_tree
    from bayes_sota.inference.claim_draws import comparison_tree as comparison_tree
    from bayes_sota.inference.claim_route import sample_claim as sample_claim
    from bayes_sota.inference.claim_route import summarize_claim as summarize_claim
    from bayes_sota.inference.epp_checks import check_epp as check_epp
    from bayes_sota.inference.epp_route import sample_epp as sample_epp
    from bayes_sota.inference.paired_route import estimate_paired as estimate_paired
    from bayes_sota.inference.result import read_result as read_result
    from bayes_sota.inference.result import save_result as save_result
    from bayes_sota.plots.claim_methods import plot_methods as plot_methods
    from bayes_sota.plots.claim_sensitivity import plot_claim_sensitivity as plot_claim_sensitivity
    from bayes_sota.plots.claim_size import plot_required_size as plot_required_size
    from bayes_sota.plots.claims import plot_claims as plot_claims
    from bayes_sota.plots.epp_boxplots import plot_epp_boxplots as plot_epp_boxplots
    from bayes_sota.plots.epp_forest import plot_epp as plot_epp
    from bayes_sota.plots.epp_mean_scores import plot_epp_against_mean as plot_epp_against_mean
    from bayes_sota.plots.epp_ranks import plot_rank_distribution as plot_rank_distribution
    from bayes_sota.plots.epp_reliability import plot_reliability as plot_reliability
    from bayes_sota.plots.epp_win_matrix import plot_win_matrix as plot_win_matrix
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
    from bayes_sota.review_table import claims_table as claims_table
    from bayes_sota.review_table import read_claims as read_claims
    from bayes_sota.simulate_auc import simulate_auc_maximum as simulate_auc_maximum
    from bayes_sota.simulate_tournament import simulate_tournament as simulate_tournament
    from bayes_sota.specification import ModelSpecification as ModelSpecification
    from bayes_sota.specification import SamplerSettings as SamplerSettings
    from bayes_sota.specification import load_model as load_model
    from bayes_sota.specification import model_names as model_names
    from bayes_sota.summaries import diagnose as diagnose
    from bayes_sota.summaries import probability_truly_better as probability_truly_better
    from bayes_sota.summaries import summarize as summarize
