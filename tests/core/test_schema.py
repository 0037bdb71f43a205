"""Names in results are public: a change here is a change for every reader of saved files."""

from bayes_sota.core import schema


def test_schema_version() -> None:
    assert schema.SCHEMA_VERSION == "1"


def test_groups() -> None:
    assert schema.GROUPS == (
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
    )


def test_dimensions() -> None:
    assert schema.DIMENSIONS == (
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
        "metric",
        "metric_other",
        "metric_pair",
        "component",
        "cluster",
        "case",
        "outcome",
        "count",
    )


def test_variables() -> None:
    assert list(schema.VARIABLES) == [
        "location",
        "spread",
        "rho",
        "n_classifiers",
        "shift",
        "theta_sota",
        "expected_sota",
        "winner_skill",
        "winner_new_score",
        "best_new_score",
        "observed_maximum",
        "n_above_sota",
        "multiplicity_bias",
        "skill",
        "p_false",
        "p_false_mcse",
        "p_all_better",
        "p_any_better",
        "difference",
        "congruence",
        "p_a_alone",
        "p_b_alone",
        "log_odds_ratio",
        "intraclass_correlation",
        "typical_log_odds_ratio",
        "log_odds_ratio_sd",
        "log_odds_ratio_offset",
        "accuracy_a",
        "accuracy_b",
        "counts",
        "p",
        "tables",
        "standardized_difference",
        "relative_sd",
        "partial_correlation",
        "correlation",
        "metric_difference",
        "excess_degrees_of_freedom",
        "mode",
        "log_scale",
        "log_skew",
        "degrees_of_freedom",
        "share",
        "log_failure_excess",
        "p_equal",
        "n_equal",
        "case_difference",
        "accuracy",
        "mean",
        "score",
        "epp",
        "epp_se",
        "epp_se_model",
        "epp_covariance",
        "epp_covariance_model",
        "deviance",
        "lower_is_better",
        "first",
        "second",
        "match_outcome",
        "match_cluster",
        "skill_sd",
        "tournament_sd",
        "epp_tournament",
        "covariate_effect",
        "category_sd",
        "round_slope",
        "round_slope_sd",
        "p_tie",
        "davidson_nu",
        "rao_kupper_theta",
        "round_rank",
        "match_counts",
        "ranks",
        "round_tournament",
        "cluster_tournament",
        "likelihood_weight",
        "round_covariates",
        "wins",
        "observed_deviance",
        "n_ties",
        "win_probability",
        "p_best",
        "p_best_uncorrected",
        "rank",
        "score_shift",
        "residual_sd",
        "public_se",
        "private_se",
        "outliers",
        "expected_private",
        "best",
        "public_score",
        "private_score",
        "private_from_public",
    ]
    assert all(schema.VARIABLES.values())


def test_attributes() -> None:
    assert schema.ATTRIBUTES == (
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


def test_names_are_identifiers() -> None:
    names = [*schema.GROUPS, *schema.DIMENSIONS, *schema.VARIABLES, *schema.ATTRIBUTES]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)
