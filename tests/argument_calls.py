"""Calls of public functions for ``test_argument_effects``, and other values of their arguments."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytensor.tensor as pt
import xarray as xr
from crossval_runs import LEARNERS, Countdown, X, Y
from reader_calls import Call, readers

import bayes_sota as bs
from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.priors import BetaCorrelation, BoardPriors, FixedCorrelation, Priors
from bayes_sota.core.specification import ModelSpecification
from bayes_sota.data.fold_scores import FoldScores
from bayes_sota.leaderboard.from_items import items_posterior


@cache
def board() -> bs.Leaderboard:
    rng = np.random.default_rng(1)
    return bs.Leaderboard(rng.binomial(400, 0.9 - 0.02 * rng.random(12)) / 400, n_test=400)


@cache
def best() -> bs.Leaderboard:
    return bs.Leaderboard.from_maximum("0.93", n_test=300, n_classifiers=20)


@cache
def answers(extra: float = 0.0, clusters: bool = False) -> bs.Responses:
    rng = np.random.default_rng(2)
    right = rng.normal(size=(60, 3)) + rng.normal(size=(60, 1)) < [1.2 + extra, 1.0, 0.7]
    groups = [f"g{i // 4}" for i in range(60)] if clusters else None
    return bs.Responses(right, names=["a", "b", "c"], clusters=groups)


def replicated(seed: int) -> xr.DataTree:
    """Scores of two boards, and replicates of them."""
    scores = np.random.default_rng(seed).normal(0.8, 0.02, (2, 200, 30, 2))
    scores[..., 1] += scores[..., 0]
    dims = ("chain", "draw", "classifier", "board")
    drawn = xr.Dataset({"score": (dims, scores)})
    groups = {"observed_data": drawn.isel(chain=0, draw=0), "posterior_predictive": drawn}
    return xr.DataTree.from_dict(groups)


def several_runs() -> bs.Responses:
    rng = np.random.default_rng(4)
    shares = rng.binomial(4, rng.random((40, 1)), (40, 3)) / 4
    tasks = [f"t{i % 4}" for i in range(40)]
    return bs.Responses(shares, names=["a", "b", "c"], tasks=tasks, n_runs=4)


@cache
def table(seed: int = 3, name: str = "one") -> bs.ScoreTable:
    return bs.epp.simulate_tournament(
        [0.6, 0.2, 0.0, -0.3, -0.5, 0.9], 24, tournament=name, random_seed=seed
    )


@cache
def fit(seed: int = 3) -> bs.epp.BradleyTerryFit:
    return bs.fit_epp(table(seed))


@cache
def folds() -> bs.ScoreTable:
    rng = np.random.default_rng(4)
    scores = rng.normal([0.5, 0.4, 0.35], 0.03, (20, 3)) + rng.normal(0, 0.1, (20, 1))
    return bs.ScoreTable(scores, groups=[f"d{i // 4}" for i in range(20)])


@cache
def compared(extra: float = 0.0) -> Any:
    return bs.compare_methods(answers(extra), draws=200, random_seed=1)


@cache
def paired(seed: int = 5, teams: int = 12) -> bs.PairedBoards:
    rng = np.random.default_rng(seed)
    skill = 0.8 - 0.05 * rng.exponential(size=teams)
    return bs.PairedBoards(
        rng.binomial(300, skill) / 300, rng.binomial(600, skill) / 600, n_test=(300, 600)
    )


@cache
def tree(seed: int = 1) -> xr.DataTree:
    return bs.estimate_sota(best(), draws=50, chains=2, random_seed=seed)


@cache
def claimed(seed: int) -> xr.DataTree:
    return bs.claims.claim_tree(0.9, 0.85, 200, draws=20, random_seed=seed)


@cache
def two_trees() -> xr.DataTree:
    other = bs.Leaderboard.from_maximum("0.83", n_test=200, n_classifiers=9)
    return bs.estimate_sota([best(), other], draws=50, chains=2, random_seed=1)


def judged_calls() -> dict[str, Call]:
    """Calls of the functions that judge repeated cross-validation."""
    rules, rng = bs.crossval, np.random.default_rng(9)
    skills = np.array([0.9, 0.895, 0.88])[:, None, None]
    runs, others = (FoldScores(rng.normal(skills, 0.02, (7, 3, 14, 2)))
                    for _ in range(2))  # fmt: skip
    items, other_items = (list(rng.random((7, 1, 1, 9)) + rng.normal(0, s, (7, 3, 14, 9)))
                          for s in (0.02, 0.05))  # fmt: skip
    ten = [FoldScores(x.iteration_means()[..., None], folds=10)
           for x in (runs, others)]  # fmt: skip
    ks, spearman = rules.KolmogorovSmirnovRule(0.5), rules.SpearmanRule(0.99)
    seeds = {"random_seed": 2}
    of_items = {"rule": spearman, "probabilities": items}
    return {
        "against_truth": Call(
            {"scores": runs, "truth": np.full((7, 3), 0.9)},
            {"scores": others, "truth": np.full((7, 3), 0.8)},
        ),
        "average_ranks": Call(
            {"values": rng.random((5, 3))},
            {"values": rng.random((6, 3)), "names": list("abc"), "level": 0.1},
        ),
        "difference_tests": Call(
            {"a": runs.scores[0, 0], "b": runs.scores[0, 1], "folds": 2},
            {"a": runs.scores[1, 0], "b": runs.scores[1, 1], "folds": 5},
        ),
        "expected_by_chance": Call({}, {"orderings": 20, "share": 0.3, "pairing": "paired"}),
        "fold_bias": Call({"runs": [runs, ten[1]]}, {"runs": [others, ten[0]], "level": 0.1}),
        "judge_rules": Call(
            {"rules": [ks], "scores": runs, **seeds},
            {
                "rules": [rules.FixedNumber(4)],
                "scores": others,
                "orderings": 7,
                "random_seed": 3,
            },
            {"probabilities": ({"rules": [spearman], "probabilities": items}, other_items)},
        ),
        "judge_runs": Call(
            {"scores": runs, "orderings": 5, **seeds},
            {
                "scores": others,
                "probabilities": items,
                "rule": rules.FixedNumber(3),
                "pairing": "paired",
                "orderings": 6,
                "level": 0.1,
                "ci_prob": 0.8,
                "rope": 0.01,
                "other_folds": [ten[0]],
                "truth": np.full((7, 3), 0.9),
                "random_seed": 3,
            },
        ),
        "other_seed_probability": Call(
            {"difference": 0.01, "partition_sd": 0.01, "iterations": 30, "canonical": 1},
            {"difference": 0.02, "partition_sd": 0.02, "iterations": 3, "canonical": 5},
        ),
        "named_rule": Call({"name": "ks"}, {"name": "fixed", "threshold": 0.3}),
        "running_means": Call(
            {"scores": runs, "learner": 0},
            {"scores": others, "learner": 1, "task": 1, "ci_prob": 0.8},
        ),
        "signed_rank_tests": Call(
            {"values": rng.random((8, 2))},
            {"values": rng.random((8, 3)), "names": list("abc"), "level": 0.001},
        ),
        "seed_verdicts": Call(
            {"scores": runs, "a": 0, "b": 1}, {"scores": others, "a": 2, "b": 2, "level": 0.3}
        ),
        "steady_state": Call({"scores": runs, **seeds}, {"scores": others, "random_seed": 3}),
        "canonical_iterations": Call({"folds": 10}, {"folds": 2}),
        "correlated_t": Call(
            {"fold_scores": runs},
            {"fold_scores": others, "a": 2, "b": 2, "task": 1, "correlation": 0.3},
        ),
        "sensitivity_to_overlap": Call(
            {"fold_scores": runs},
            {
                "fold_scores": others,
                "a": 2,
                "b": 2,
                "task": 1,
                "rope": 0.01,
                "multiples": (0.5, 1.5),
            },
        ),
        "iterations_needed": Call(
            {"difference": 0.03, "partition_sd": 0.02, "data_sd": 0.015},
            {"difference": 0.05, "partition_sd": 0.05, "data_sd": 0.005, "probability": 0.9},
        ),
        "stopping_iterations": Call(
            {"rule": ks, "scores": runs},
            {
                "rule": rules.FixedNumber(4),
                "scores": others,
                "order": np.arange(14)[::-1],
                "together": True,
            },
            {"probabilities": (of_items, other_items)},
        ),
    }


@cache
def calls(folder: Path) -> dict[str, Call]:
    ranks = np.array([[1, 0, 2], [0, 0, 1]])
    pair = {"accuracy_a": 0.9, "accuracy_b": 0.85, "n_test": 200}
    pair_others = {"accuracy_a": 0.91, "accuracy_b": 0.86, "n_test": 300, "congruence": "max"}
    means = {"mean_a": 0.8, "mean_b": 0.78, "n_test": 50, "sd": (0.1, 0.1)}
    means_others = {
        "mean_a": 0.81, "mean_b": 0.77, "n_test": 60, "sd": (0.2, 0.1), "correlation": 0.5,
        "correlation_range": (0.2, 0.6), "sd_difference": 0.1,
    }  # fmt: skip
    wide = ({**means, "mean_a": 1.2, "mean_b": 1.1, "bounds": None}, (0.0, 1.0))
    aucs = {"n_positive": 20, "n_negative": 30}
    aucs_others = {"n_positive": 25, "n_negative": 35}
    scores = list(0.9 - 0.01 * np.arange(12))
    known = BoardPriors(correlation=FixedCorrelation(0.5))
    one = ModelSpecification("one", builder="leaderboard", priors=Priors(families=("normal",)))
    claims = pd.DataFrame({
        "name": ["x", "y"], "accuracy_a": [0.9, 0.8], "accuracy_b": [0.88, 0.75],
        "n_test": [500, 200],
    })  # fmt: skip
    dice = pd.DataFrame({"name": ["x"], "mean_a": [0.8], "mean_b": [0.7], "n_test": [50]})
    odd = claims.assign(accuracy_a=[0.913, 0.8], n_test=[100, 200])
    gap = claims.assign(accuracy_b=[None, 0.75])
    seeds = {"random_seed": 2}
    return {
        "auc_estimate_correlation": Call(
            {"auc": 0.8, **aucs, "correlation": 0.5},
            {"auc": 0.9, **aucs_others, "correlation": 0.6, "spread_ratio": 2.0},
        ),
        "auc_law": Call({"auc": 0.8, **aucs}, {"auc": 0.9, **aucs_others, "spread_ratio": 2.0}),
        "auc_maximum_law": Call(
            {"auc": 0.8, **aucs, "n_classifiers": 5},
            {"auc": 0.9, **aucs_others, "n_classifiers": 6, "spread_ratio": 2.0,
             "correlation": 0.5},
        ),
        "best_try_probability": Call({**pair, "tries": 2}, {**pair_others, "tries": 3}),
        "best_try_probability_of_means": Call(
            {"claim": bs.claims.ReportedMeans(**means), "tries": 2},
            {"claim": bs.claims.ReportedMeans(**{**means, "n_test": 60}), "tries": 3},
        ),
        "board_table": Call(
            {"board_or_responses": board(), "draws": 60, "random_seed": 1},
            {"board_or_responses": answers(), "n_test": 300, "priors": known, "model": one,
             "domain": "tabular", "field": "ensembles", "ci_prob": 0.8, "draws": 70, "above": 0.8,
             "ranks": "stepwise", "p_rank": True,
             "new_score": 0.9, "gap": 0.02, **seeds},
            {"new_n_test": ({"gap": 0.02}, 90)},
        ),
        "board_by_task": Call(
            {"outcomes": several_runs(), "draws": 200, "random_seed": 1},
            {"outcomes": several_runs().subset([1, 0]), "ci_prob": 0.8, "draws": 300, **seeds},
        ),
        "bootstrap_epp": Call(
            {"fit": fit(), "repetitions": 20}, {"fit": fit(7), "repetitions": 25, **seeds}
        ),
        "tuning_promise": Call(
            {"skills": np.linspace(-1, 1, 24), "families": list("ab") * 12},
            {"skills": np.linspace(-1, 1, 24) ** 3, "families": list("abb") * 8, "more": 5},
        ),
        "multiscale_test": Call(
            {"fit": fit(), "pairs": [("1", "2")], "repetitions": 100},
            {"fit": fit(7), "pairs": [("2", "3")], "repetitions": 120, **seeds},
        ),
        "plan_rounds": Call(
            {"fit": fit(), "target_se": 0.2},
            {"fit": fit(7), "target_se": 0.1, "power": 0.9, "ci_prob": 0.8},
        ),
        "repeated_cross_validation": Call(
            {"estimators": LEARNERS, "X": X, "y": Y, "folds": 2, "iterations": 2, **seeds},
            {"estimators": {"nb": LEARNERS["nb"]}, "X": X + X**2, "y": 1 - Y, "folds": 3,
             "scoring": "accuracy", "iterations": 3, "rule": Countdown(1), "random_seed": 3,
             "checkpoint": folder, "task": "x"},
        ),
        **judged_calls(),
        "named_learners": Call({"names": ["nb"]}, {"names": ["tree"], "categories": [0]}),
        "claim_test_size": Call(
            {"accuracy_a": 0.9, "accuracy_b": 0.8},
            {"accuracy_a": 0.91, "accuracy_b": 0.85, "congruence": "max", "level": 0.1},
        ),
        "claim_test_size_of_means": Call(
            {"mean_a": 0.9, "mean_b": 0.8, "sd": (0.3, 0.3)},
            {"mean_a": 0.95, "mean_b": 0.7, "sd": (0.2, 0.3), "correlation": 0.9, "level": 0.1},
        ),
        "claim_tree": Call(
            {**pair, "draws": 20, "random_seed": 1},
            {**pair_others, "names": ("x", "y"), "draws": 30, **seeds},
        ),
        "claim_tree_of_means": Call(
            {"claim": bs.claims.ReportedMeans(0.9, 0.8, 50, sd_difference=0.2), "draws": 20,
             "random_seed": 1},
            {"claim": bs.claims.ReportedMeans(0.9, 0.8, 50, sd=(0.2, 0.3)), "draws": 30, **seeds},
        ),
        "claims_table": Call(
            {"claims": claims},
            {"claims": claims[:1], "level": 0.2},
            {"sd_coefficients": ({"claims": dice}, (0.5, 0.0, -0.5)),
             "check_counts": ({"claims": odd}, False),
             "skip_problems": ({"claims": gap}, True)},
        ),
        "compare_leaderboards": Call(
            {"fits": [fit(), fit(7)], "repetitions": 9},
            {"fits": [fit(7), fit()], "repetitions": 19, **seeds},
        ),
        "skill_of_counts": Call(
            {"right": 40, "n_test": 50}, {"right": 30, "n_test": 60, "name": "tree"}
        ),
        "skills_alone": Call(
            {"outcomes": several_runs()},
            {"outcomes": answers(), "methods": ["a", "a", "c"], "new": "runs",
             "passes": (2, True)},
        ),
        "compare_methods": Call(
            {"outcomes": answers(), "draws": 200, "random_seed": 1},
            {"outcomes": answers(0.5), "methods": ["a", "a", "c"], "draws": 300, **seeds},
        ),
        "compare_by_task": Call(
            {"outcomes": several_runs(), "draws": 200, "random_seed": 1},
            {"outcomes": several_runs().subset([1, 0, 2]), "methods": ["a", "a", "c"],
             "draws": 300, **seeds},
        ),
        "comparison_tree": Call(
            {"comparison": compared(), "outcomes": answers()},
            {"comparison": compared(0.5), "outcomes": answers(clusters=True), "seed": "x",
             "joint": items_posterior(answers(), random_seed=1).entries},
        ),
        "plan_from_pilot": Call(
            {"outcomes": several_runs(), "gap": 0.1},
            {"outcomes": answers(), "gap": 0.2, "pair": ("a", "b"), "level": 0.1, "power": 0.9,
             "cost_per_item": 2.0, "cost_per_run": 1.0, "source": "x", "notes": ["y"]},
        ),
        "tasks_tree": Call(
            {"comparison": bs.items.compare_by_task(several_runs(), draws=200, random_seed=1),
             "outcomes": several_runs(), "first": "a"},
            {"comparison": bs.items.compare_by_task(several_runs(), draws=200, random_seed=2),
             "outcomes": answers(), "first": "b", "seed": "x"},
        ),
        **{name: Call(
            {"scores": scores, "n_test": 300, "chance": 0.5},
            {"scores": scores[1:], "n_test": 400, "chance": 0.4, "correlation": 0.3,
             "criterion": "upper", "ci_prob": 0.8},
        ) for name in ("crop_scores", "shrink_scores")},
        "shrink_aucs": Call(
            {"aucs": scores, **aucs},
            {"aucs": scores[2:], **aucs_others, "correlation": 0.3, "criterion": "upper",
             "ci_prob": 0.8, "spread_ratio": 2.0},
        ),
        "compare_estimates": Call(
            {"board": board(), "tree": tree(), "n_classes": 4},
            {"board": board().without([0]), "tree": tree(2), "n_classes": 3, "correlation": 0.3,
             "ci_prob": 0.8},
        ),
        "diagnose": Call({"tree": tree()}, {"tree": two_trees()}),
        "log_outcomes": Call(
            {"difference": 0.5}, {"difference": 1.0, "operations": pt}
        ),
        "order_rounds": Call({"ranks": ranks}, {"ranks": ranks[::-1]}),
        "ranking_log_likelihood": Call(
            {"skills": np.log([[1.0, 2.0, 3.0], [3.0, 1.0, 1.0]]), "setting": np.array([0, 1]),
             "orders": bs.epp.order_rounds(ranks)},
            {"skills": np.log([[1.0, 2.0, 4.0], [3.0, 1.0, 1.0]]), "setting": np.array([1, 1]),
             "orders": bs.epp.order_rounds(ranks[::-1]), "operations": pt},
        ),
        "epp_table": Call({"result": fit()}, {"result": fit(7), "ci_prob": 0.8}),
        "estimate_many": Call(
            {"boards": [best()], "draws": 50, **seeds},
            {"boards": [best(), best()], "draws": 60, "cores": 2, "progressbar": True,
             "random_seed": 3},
        ),
        "estimate_paired": Call(
            {"boards": paired(), "draws": 50, "chains": 2, "random_seed": 1},
            {"boards": paired(6), "priors": PairedPriors(FixedCorrelation(0.5)), "draws": 60,
             "model": "paired-random-split", "domain": "tabular", "field": "ensembles",
             "chains": 3, "merge": True, "public_alone": False, "groups": "estimands", **seeds},
            {"top": ({"boards": paired(5, 60)}, 0.6)},
        ),
        "estimate_sota": Call(
            {"board": best(), "draws": 50, "chains": 2, "random_seed": 1},
            {"board": board(), "method": "abd", "priors": Priors(correlation=BetaCorrelation(2, 2)),
             "model": "mollersen-holsbo-rho", "domain": "tabular", "field": "ensembles",
             "draws": 60, "chains": 3, "reference_skill": 0.8, "new_n_test": 50, "learn_rho": True,
             "groups": "estimands", "correlation": 0.3, "epsilon": 0.1, **seeds},
            {"groups": ({"board": paired()}, "estimands"),
             "epsilon": ({"method": "abc"}, 0.1)},
        ),
        "false_claim_probability": Call(pair, pair_others),
        "false_claim_probability_of_means": Call(
            means, means_others,
            {"bounds": wide, "sd_coefficients": ({"sd": None}, (0.5, 0.0, -0.5))},
        ),
        "false_claim_rope": Call({**pair, "rope": 0.01}, {**pair_others, "rope": 0.02}),
        "congruence_of_odds_ratio": Call(
            {"accuracy_a": 0.9, "accuracy_b": 0.8, "odds_ratio": 2.0},
            {"accuracy_a": 0.8, "accuracy_b": 0.7, "odds_ratio": 3.0},
        ),
        "fit_epp": Call(
            {"data": table()},
            {"data": table(7), "matches": "all-rounds", "penalty": 0.5, "test_fraction": 0.3},
        ),
        "fit_tournaments": Call(
            {"tables": [table(), table(7, "two")]},
            {"tables": [table()], "matches": "all-rounds", "penalty": 0.5, "test_fraction": 0.3},
        ),
        "infer_n_test": Call(
            {"scores": ["0.9116", "0.9094", "0.8807", "0.7521"]},
            {"scores": ["0.91", "0.9"], "rounding": "floor", "max_n": 900,
             "percent": True},
        ),
        "leaderboard_quality": Call(
            {"fit": fit(), "repetitions": 9},
            {"fit": fit(7), "repetitions": 19, **seeds},
            {"keep_ties": ({"fit": bs.fit_epp(np.round(table().scores, 0))}, False)},
        ),
        "correlation_of_similarity": Call(
            {"similarity": 0.9, "skill": 0.8}, {"similarity": 0.95, "skill": 0.85}
        ),
        **{
            name: Call({"tree": replicated(5)}, {"tree": replicated(6), "ci_prob": 0.8})
            for name in ("regression_table", "shake_up_table")
        },
        "maximum_law": Call(
            {"n_test": 50, "skill": 0.8, "n_classifiers": 5, "correlation": 0.5},
            {"n_test": 60, "skill": 0.7, "n_classifiers": 6, "correlation": 0.6,
             "reference_skill": 0.85, "reference_count": 45},
            {"cap_correlation": ({"skill": [0.5, 0.9], "n_classifiers": None, "correlation": 0.9},
                                 True)},
        ),
        "probability_above": Call(
            {"tree": tree(), "threshold": 0.92},
            {"tree": tree(2), "threshold": 0.91, "board": 1},
        ),
        "probability_shown": Call(
            {"tree": tree(), "gap": 0.01},
            {"tree": tree(2), "gap": 0.02, "new_n_test": 3000, "board": 1},
        ),
        "probability_truly_better": Call(
            {"tree": tree(), "score": 0.9},
            {"tree": tree(2), "score": 0.92, "new_n_test": 3000, "board": 1},
        ),
        "reliability": Call({"fit": fit()}, {"fit": fit(7), "n_bins": 3}),
        "reported_claim": Call(
            {**pair, "accuracy_a": "0.90", "accuracy_b": "0.85", "n_test": 333},
            {"accuracy_a": "0.92", "accuracy_b": "0.86", "n_test": 310, "congruence": "max",
             "rounding": "floor"},
        ),
        "simulate_tournament": Call(
            {"skills": [0.5, 0.0, -0.5], "n_rounds": 6, "random_seed": 1},
            {"skills": [0.6, 0.0, -0.6], "n_rounds": 7, 
             "step": 0.5, "missing": 0.2, "players": ["a", "b", "c"], "tournament": "x", **seeds},
        ),
        "sota_sensitivity": Call(
            {"board": best(), "draws": 50},
            {"board": board(), "priors": Priors(correlation=FixedCorrelation(0.5)),
             "reference_skill": 0.8, "ci_prob": 0.8, "draws": 60, **seeds},
        ),
        "summarize": Call(
            {"tree": tree()},
            {"tree": tree(2), "ci_prob": 0.8, "var_names": ["theta_sota"]},
            {"rope": ({"tree": claimed(1)}, 0.01)},
        ),
        "summary_table": Call(
            {"tree": tree()},
            {"tree": tree(2), "ci_prob": 0.8},
            {"rope": ({"tree": claimed(1)}, 0.01)},
        ),
        **readers(folder),
    }  # fmt: skip
