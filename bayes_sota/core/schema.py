"""Names of groups, dimensions and variables in every result: public API.

Each result is an ``xarray.DataTree`` that ArviZ reads. A name listed here keeps its meaning; it
changes only after a release that warns. ``tests/core/test_stored_result.py`` locks the list.
"""

from typing import Final

SCHEMA_VERSION: Final = "2"

POINT_METHODS: Final = ("shrink", "crop")  # the group point_estimate instead of a posterior

GROUPS: Final = (
    "posterior", "prior", "posterior_predictive", "prior_predictive", "sample_stats",
    "log_likelihood", "log_prior", "observed_data", "constant_data", "point_estimate",
    "predictions", "predictive_check",
)  # fmt: skip

DIMENSIONS: Final = (
    "chain", "draw", "board", "classifier", "player", "player_other", "round", "match",
    "tournament", "covariate", "category", "round_covariate", "pair", "item", "claim", "metric",
    "metric_pair", "triangle", "state", "cluster", "case", "outcome", "count",
    "replicate", "statistic", "shape_parameter",
)  # fmt: skip

VARIABLES: Final = {
    "location": "median skill of the field of classifiers, on the log-odds scale; of two boards "
    "the place of the field in the model's coordinate",
    "spread": "standard deviation of the skills of the field, on the log-odds scale; of two boards "
    "its width in the model's coordinate",
    "rho": "correlation of each classifier with the reference classifier",
    "n_classifiers": "number of tries that could have become the observed maximum",
    "shift": "standardised count of the reference classifier, N(0, 1) a priori",
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
    "p_all_better": "probability that A is better than B on every metric",
    "p_any_better": "probability that A is better than B on at least one metric",
    "difference": "skill of A minus skill of B, positive where A is better",
    "congruence": "probability that A and B are both right on an item",
    "p_a_alone": "probability that A alone is right on an item",
    "p_b_alone": "probability that B alone is right on an item",
    "log_odds_ratio": "log odds ratio of A being right and B being right",
    "intraclass_correlation": "correlation of the outcomes of items of one cluster",
    "typical_log_odds_ratio": "mean of the log odds ratios of a review of claims",
    "log_odds_ratio_sd": "standard deviation of the log odds ratios of a review of claims",
    "log_odds_ratio_offset": "log odds ratio of a claim, standardised over the review",
    "accuracy_a": "probability that A is right on an item",
    "accuracy_b": "probability that B is right on an item",
    "counts": "items that A and B got right, as reported",
    "p": "probabilities of the outcomes of two methods on one item",
    "tables": "numbers of items of each outcome in each cluster",
    "standardized_difference": "difference in standard deviations of its metric",
    "relative_sd": "standard deviation relative to that of the data",
    "covariance_root": "Cholesky factor of the covariance of metrics, lower triangle row by row",
    "correlation": "correlation of two metrics, or of two methods' cases",
    "metric_difference": "differences of cases in units of their standard deviations",
    "excess_degrees_of_freedom": "degrees of freedom above 2",
    "mode": "mode of the differences of cases",
    "log_scale": "logarithm of the scale of the differences of cases",
    "log_skew": "half the log ratio of the scales above and below the mode",
    "degrees_of_freedom": "degrees of freedom of the differences of cases",
    "share": "shares of cases where A fails, B fails and both work",
    "log_failure_excess": "logarithm of the power of the sizes of failures, less 1",
    "p_equal": "probability that both methods get the same on a case",
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
    "own_skill": "skill less what covariates of players explain",
    "skill_offset": "skill less what covariates explain, in standard deviations of the skills",
    "tournament_offset": "what a tournament adds to a skill, in its standard deviations",
    "covariate_offset": "effect of a covariate of players, in its standard deviations",
    "round_slope_offset": "slope on a covariate of rounds, in its standard deviations",
    "skill_sd": "standard deviation of the skills of players, on the logit scale",
    "tournament_sd": "standard deviation of what a tournament adds to a player's skill",
    "epp_tournament": "Bradley-Terry skill in one of several tournaments",
    "covariate_effect": "effect of a covariate of players on their skill",
    "category_sd": "standard deviation of the effects of a category of players",
    "round_slope": "slope of a player's skill on a covariate of rounds",
    "round_slope_sd": "standard deviation of the slopes of players",
    "p_tie": "probability that two equal players tie",
    "davidson_nu": "tie parameter of Davidson's model",
    "rao_kupper_theta": "tie parameter of Rao and Kupper's model",
    "round_rank": "rank of a score in its round from 0 (worst), -1 where it is missing",
    "match_counts": "matches of a pair of players that were won, tied and lost",
    "ranks": "rank of a score in its round, where the likelihood is of matches",
    "round_tournament": "tournament of a round",
    "cluster_tournament": "tournament of a cluster of matches",
    "likelihood_weight": "power of the likelihood of matches or rankings that are not independent",
    "round_covariates": "standardised covariates of rounds",
    "wins": "wins of the row over the column, a tie counted half",
    "n_ties": "number of ties",
    "win_probability": "probability that one player beats another",
    "p_best": "probability of being the best",
    "p_best_uncorrected": "probability of being the best, as if all had been given beforehand",
    "rank": "rank among the classifiers or players",
    "score_shift": "common difference of public and private scores",
    "residual_sd": "standard deviation of what two boards of one team do not share",
    "public_se": "standard error of a public score",
    "private_se": "standard error of a private score",
    "outliers": "share of teams with residuals of another size",
    "expected_private": "expected private score of a team",
    "best": "index of the best team",
    "family": "which family the skills of the field follow, by its place in FAMILIES",
    "shape": "standard normal numbers of a family beside its place and its width",
    "board_shift": "private minus public score that all teams share, in the model's coordinate",
    "noise_ratio": "standard deviation of private residuals over that of public ones",
    "observed": "statistic of the observed data, at a draw where it depends on the parameters",
    "replicated": "statistic of replicated data",
    "p_value": "share of replicates whose statistic is larger, ties by half",
    "private_from_public": "private score predicted from the public one alone",
}

ESTIMANDS: Final = (
    "theta_sota", "expected_sota", "winner_skill", "multiplicity_bias", "winner_new_score",
    "best_new_score", "rho", "n_classifiers", "epp", "difference",
)  # fmt: skip

ATTRIBUTES: Final = (
    "schema_version", "method", "model_name", "model_hash", "data_hash", "random_seed", "versions",
    "created_at", "inference_library", "inference_library_version",
)  # fmt: skip
