"""Names of groups, dimensions and variables in every result: public API.

Each result is an ``xarray.DataTree`` that ArviZ reads. A name listed here keeps its meaning; it
changes only after a release that warns. Offsets and grids that a model is built on are not listed.
``tests/core/test_stored_result.py`` locks the list.
"""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import xarray as xr

SCHEMA_VERSION: Final = "2"

DOMAINS: Final = ("image-classifiers", "language-models", "tabular")  # each has a file in models/

KINDS_OF_FIELD: Final = ("single", "ensembles")  # each domain has a file for ensembles, too


GROUPS: Final = (
    "posterior",
    "prior",
    "posterior_predictive",
    "prior_predictive",
    "sample_stats",
    "log_likelihood",
    "log_prior",
    "observed_data",
    "constant_data",
    "point_estimate",
    "predictions",
    "predictive_check",
)

DIMENSIONS: Final = (
    "chain",
    "draw",
    "board",
    "classifier",
    "player",
    "player_other",
    "round",
    "match",
    "tournament",
    "covariate",
    "category",
    "round_covariate",
    "pair",
    "item",
    "claim",
    "cluster",
    "case",
    "outcome",
    "count",
    "replicate",
    "statistic",
    "place",
    "shape_parameter",
    "node",
    "moment",
    "learner",
    "learner_other",
    "task",
    "iteration",
    "fold",
)

VARIABLES: Final = {
    "location": "median skill of the field, or the place of a board's, as log odds or as a score",
    "spread": "standard deviation of the field, or the width of a board's, as log odds or a score",
    "family": "shape of the field of a board, an index into the names in constant_data",
    "rho": "correlation of each classifier with the reference classifier",
    "submission_luck": "how far luck chose the submission that an entry shows, lambda",
    "n_classifiers": "number of tries that could have become the observed maximum",
    "theta_sota": "skill of the best classifier in the field (realised maximum)",
    "expected_sota": "expected best skill over fresh fields of the same size (Definition 1)",
    "winner_skill": "skill of the classifier that won",
    "winner_new_score": "score of the winner on a fresh test set",
    "best_new_score": "best score of the same field on a fresh test set",
    "observed_maximum": "best observed score",
    "n_above_sota": "number of entries whose observed score exceeds theta_sota",
    "multiplicity_bias": "observed maximum minus theta_sota",
    "skill": "skill of one classifier",
    "p_false": "probability that a claim is false",
    "p_false_mcse": "Monte Carlo standard error of p_false",
    "difference": "skill of A minus skill of B, positive where A is better",
    "congruence": "probability that A and B are both right on an item",
    "correlation": "correlation of two methods' cases",
    "degrees_of_freedom": "degrees of freedom of the means of iterations",
    "case_difference": "difference of A and B on a case",
    "accuracy": "reported accuracy",
    "mean": "reported mean of cases",
    "mean_difference": "reported mean of A minus reported mean of B",
    "sd_difference": "standard deviation of the differences of cases",
    "score": "observed score",
    "epp": "Bradley-Terry skill",
    "epp_se": "standard error of a Bradley-Terry skill, clustered by round",
    "epp_se_model": "standard error of a Bradley-Terry skill if all matches were independent",
    "epp_covariance": "covariance of the skills, clustered by round",
    "epp_covariance_model": "covariance of the skills if all matches were independent",
    "deviance": "twice the log-likelihood that the skills miss",
    "lower_is_better": "1 for rounds whose lower scores are better",
    "first": "place of the first player of a match",
    "second": "place of the second player of a match",
    "match_outcome": "1 if the first player won, 0 if the second, 0.5 for a tie",
    "match_cluster": "round, prompt or judge that a match belongs to",
    "skill_sd": "standard deviation of the skills of players, on the logit scale",
    "tournament_sd": "standard deviation of what a tournament adds to a player's skill",
    "epp_tournament": "Bradley-Terry skill in one of several tournaments",
    "covariate_effect": "effect of a covariate of players on their skill",
    "category_sd": "standard deviation of the effects of a category of players",
    "round_slope": "slope of a player's skill on a covariate of rounds",
    "round_slope_sd": "standard deviation of the slopes of players",
    "round_rank": "rank of a score in its round from 0 (worst), -1 where it is missing",
    "match_counts": "matches of a pair of players that were won, tied and lost",
    "ranks": "rank of a score in its round, where the likelihood is of matches",
    "round_covariates": "standardised covariates of rounds",
    "win_probability": "probability that one player beats another",
    "p_best": "probability of being the best",
    "p_best_mcse": "Monte Carlo standard error of p_best",
    "p_best_uncorrected": "probability of being the best, as if all had been given beforehand",
    "rank": "rank among the classifiers or players",
    "score_shift": "common difference of public and private scores",
    "residual_sd": "standard deviation of what two boards of one team do not share",
    "public_se": "standard error of a public score",
    "private_se": "standard error of a private score",
    "outliers": "share of teams with residuals of another size",
    "expected_private": "expected private score of a team",
    "public_gain": "public score of a team beyond the one to expect by its private score",
    "unusual": "probability that a team's scores differ by more than luck and selection explain",
    "best": "index of the best team",
    "board_shift": "private minus public score that all teams share, in the model's coordinate",
    "noise_ratio": "standard deviation of private residuals over that of public ones",
    "observed": "statistic of the observed data, at a draw where it depends on the parameters",
    "replicated": "statistic of replicated data",
    "p_value": "share of replicates whose statistic is larger, ties by half",
    "fold_score": "score of a learner on one fold of an iteration of cross-validation",
    "pooled_score": "AUROC of the probabilities of all items of an iteration",
    "probability": "of the positive or the item's own class, from a fit that did not see the item",
    "is_positive": "1 where the item is of the positive class",
    "item_class": "place of the class of an item, where classes are more than two",
    "partition_seed": "seed of the random partition of an iteration",
    "fold_difference": "score of A less that of B on one fold of an iteration",
    "fold_difference_sd": "standard deviation of the differences of the folds of one iteration",
    "mean_score": "mean score of all iterations of cross-validation: the steady state",
    "canonical_score": "mean score of the first iterations, as many as make ten fits",
    "median_score": "median score of the iterations of cross-validation",
    "iteration_sd": "standard deviation of the scores of iterations",
    "stopping_iteration": "iterations after which a rule stops a learner, 0 where it does not",
    "win_share": "share of pairs of orderings in which the row is above the column, ties by half",
    "relative_score": "score of a fold less the mean of all learners on the same fold",
    "iteration_task": "data set of an iteration of cross-validation, its place",
    "learner_effect": "mean score of a learner over data sets, less that of all learners",
    "learner_sd": "standard deviation of the effects of learners over data sets",
    "interaction_sd": "scale of what a data set adds to a learner, or a task to a classifier",
    "skill_of_task": "skill of a classifier on one task",
    "task_sd": "standard deviation of the log odds of tasks",
    "item_sd": "standard deviation of the log odds of the items of a task, or of a cluster",
    "cluster_sd": "standard deviation of the log odds of clusters of items",
    "right": "runs with the right answer to an item",
    "task_effect": "mean score of a learner on data sets of this size, less that of all learners",
    "task_difference": "mean score of A less that of B on data sets of this size",
    "steady_state": "mean score of endless cross-validation, less that of all learners",
    "fold_sd": "standard deviation of a learner's own part of a fold score in an iteration",
    "partition_sd": "standard deviation of a learner's own part of the mean of an iteration",
    "overlap_correlation": "correlation of two fold scores of one data set, which is assumed",
    "canonical_difference": "mean difference in one more canonical run of cross-validation",
    "observed_difference": "mean difference of two learners in the iterations that were done",
    "n_iterations": "iterations of cross-validation on a data set",
    "private_from_public": "private score predicted from the public one alone",
}

ESTIMANDS: Final = (
    "theta_sota",
    "expected_sota",
    "winner_skill",
    "multiplicity_bias",
    "winner_new_score",
    "best_new_score",
    "n_above_sota",
    "rho",
    "submission_luck",
    "n_classifiers",
    "score_shift",
    "residual_sd",
    "epp",
    "difference",
)

CHANCES: Final = ("p_false", "p_best", "p_best_uncorrected")  # of the group point_estimate

ATTRIBUTES: Final = (
    "schema_version",
    "method",
    "model_name",
    "model_hash",
    "data_hash",
    "random_seed",
    "versions",
    "created_at",
    "inference_library",
    "inference_library_version",
)


def dataset_of(tree: "xr.DataTree", name: str) -> "xr.Dataset":
    """A group of a result; an empty one where the result has none of this name."""
    import xarray as xr

    return tree.children[name].to_dataset() if name in tree.children else xr.Dataset()
