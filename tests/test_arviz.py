"""ArviZ's own functions work on trees of every form.

``python tests/test_arviz.py`` writes the table of docs/priors.md, which a test compares.
"""

import io
import warnings
from pathlib import Path

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from calibration.sampled_boards import sample_answers

import bayes_sota as bs
from bayes_sota.crossval.fold_scores import FoldScores

PAGE = Path(__file__).resolve().parents[1] / "docs" / "priors.md"
START, END = "<!-- table: python tests/test_arviz.py -->\n", "<!-- end of table -->\n"
DRAWS = {"draws": 100, "random_seed": 0}
NUTS = {"tune": 300, **DRAWS}
ONE = "one observation"
TWO = 'with `method="prit_c"`'


def maximum(score=0.98):
    return bs.BestScore(score, n_test=200, n_classifiers=50)


def accuracies():
    rng = np.random.default_rng(0)
    return bs.Leaderboard(rng.binomial(500, 0.9 - 0.02 * rng.random(20)) / 500, n_test=500)


def answers():
    """Answers of five classifiers to 120 items."""
    rng = np.random.default_rng(3)
    number = rng.normal(size=(120, 1)) + rng.normal(size=(120, 5)) - 0.3 * np.arange(5)
    return bs.Outcomes(number > -1, clusters=np.arange(120) // 4)


def exam():
    """Runs of two classifiers on eight questions of two tasks: ArviZ draws at most 40 panels."""
    right = np.random.default_rng(10).binomial(3, [0.8, 0.6], (8, 2)) / 3
    return bs.Outcomes(right, n_runs=3, tasks=["law", "art"] * 4)


def pairs():
    rng = np.random.default_rng(4)
    public, private = rng.binomial(500, rng.uniform(0.7, 0.8, 10), (2, 10)) / 500
    return bs.PairedBoards(public, private, n_test=(500, 500))


def means():
    return bs.Means(a=0.81, b=0.8, n=100, sd=(0.1, 0.1))


def comparison():
    found = bs.compare_methods(answers(), draws=400, random_seed=0)
    return bs.claims.comparison_tree(found, answers())


def epp():
    scores = np.random.default_rng(5).normal([0.0, 0.4, 0.8, 1.0], size=(15, 4))
    model = bs.epp.build_model(bs.ScoreTable(scores, players=list("abcd")))
    return bs.sample_epp(model, **NUTS)


def folds(iterations):
    rng = np.random.default_rng(8)
    return FoldScores(rng.normal([[[0.8]], [[0.83]]], 0.05, (2, iterations, 3)))


def judged():
    return bs.crossval.judge_runs(folds(12), random_seed=0).about.to_datatree(draws=100)


# How each is made; one function completes results of one form, whatever the data and the method.
ROUTES = {
    "best score": lambda: bs.estimate_sota(maximum(), **DRAWS),
    "two best scores": lambda: bs.estimate_sota([maximum(), maximum(0.97)], **DRAWS),
    "board": lambda: bs.estimate_sota(accuracies(), **DRAWS),
    "answers": lambda: bs.estimate_sota(answers(), **DRAWS),
    "answers, NUTS": lambda: sample_answers(exam(), chains=2, **NUTS),
    "paired boards": lambda: bs.estimate_paired(pairs(), **DRAWS),
    "claim of accuracies": lambda: bs.claims.claim_tree(
        bs.Accuracies(a=0.9, b=0.88, n=500), **DRAWS
    ),
    "claim of means": lambda: bs.claims.claim_tree(means(), **DRAWS),
    "compared methods": comparison,
    "EPP": epp,
    "repeated cross-validation": lambda: bs.crossval.sample_comparison(folds(6), **NUTS),
    "judged cross-validation": judged,
}


def to_netcdf(tree):
    content = io.BytesIO()
    tree.to_netcdf(content, engine="h5netcdf")
    content.seek(0)
    with xr.open_datatree(content, engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), tree)


CHECKS = {
    "summary": az.summary,
    "plot_dist": az.plot_dist,
    "plot_forest": az.plot_forest,
    "plot_prior_posterior": az.plot_prior_posterior,
    "plot_ppc_dist": az.plot_ppc_dist,
    "plot_ppc_pit": az.plot_ppc_pit,
    "loo": az.loo,
    "compare": lambda tree: az.compare({"one": tree, "other": tree.copy()}),
    "psense_summary": az.psense_summary,
    "netCDF": to_netcdf,
}
LIKELY, PRIOR = ("loo", "compare"), ("plot_prior_posterior", "psense_summary")
# Checks that do not apply to a result, and why.
NOT = {
    "best score": dict.fromkeys(LIKELY, ONE),
    "EPP": {"plot_ppc_pit": TWO},
    "claim of accuracies": dict.fromkeys(LIKELY, f"{ONE}, no likelihood")
    | {"psense_summary": "flat prior"},
    "claim of means": dict.fromkeys(LIKELY, f"{ONE}, no likelihood")
    | dict.fromkeys(PRIOR, "improper prior"),
    "answers, NUTS": {"plot_ppc_pit": TWO},
    "compared methods": dict.fromkeys(PRIOR, "improper prior")
    | dict.fromkeys(LIKELY, "a law of scores, not of items"),
    "judged cross-validation": dict.fromkeys(PRIOR, "improper prior")
    | dict.fromkeys(LIKELY, "folds depend on each other")
    | {"plot_ppc_pit": TWO},
    "paired boards": {"plot_ppc_pit": TWO},
    "repeated cross-validation": {"plot_ppc_pit": "a likelihood per iteration, not per fold"},
}
FIELD = "theta_sota expected_sota winner_skill multiplicity_bias rho"
SUMMARIZED = {
    "best score": FIELD,
    "two best scores": "rho",
    "board": f"{FIELD} n_above_sota",
    "answers": f"{FIELD} n_above_sota",
    "answers, NUTS": "theta_sota winner_skill p_best[1]",
    "paired boards": "theta_sota winner_skill score_shift residual_sd rho",
    "claim of accuracies": "difference p_false",
    "claim of means": "difference p_false",
    "compared methods": "difference[2] p_false[5] p_best_uncorrected[1]",
    "EPP": "epp[a] p_best[d]",
    "repeated cross-validation": "p_best[2]",
    "judged cross-validation": "",
}
# Names with spaces.
LABELS = {
    "two best scores": {"theta_sota[board 2]", "winner_skill[board]"},
    "repeated cross-validation": {"difference[1 - 2]"},
    "judged cross-validation": {"difference[1, 1 - 2]"},
}


@pytest.mark.slow
@pytest.mark.parametrize("route", ROUTES)
def test_all_that_arviz_offers_works(route, not_sampled):
    """One test for each result: making it takes most of the time."""
    tree = ROUTES[route]()
    check_groups(route, tree)
    check_estimands(route, tree)
    for name, check in CHECKS.items():
        if name not in NOT.get(route, {}):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a large Pareto k is an answer, not a failure
                check(tree)
            plt.close("all")


def check_groups(route, tree):
    observed = set(tree["observed_data"].data_vars)
    assert observed == set(tree["posterior_predictive"].data_vars)
    reasons, groups = NOT.get(route, {}), set(tree.children)
    proper = "plot_prior_posterior" not in reasons
    assert ("prior" in groups) == proper
    assert ("log_prior" in groups) == ("psense_summary" not in reasons)
    if proper:
        assert set(tree["posterior"].data_vars) >= set(tree["prior"].data_vars)
        assert observed == set(tree["prior_predictive"].data_vars)
    likely = reasons.get("loo", ONE) == ONE
    assert likely == ("log_likelihood" in groups)
    assert not likely or set(tree["log_likelihood"].data_vars) <= observed
    for group in {"posterior", "log_likelihood", "log_prior"} & groups:
        draws = {name: tree[group].sizes[name] for name in ("chain", "draw")}
        assert draws == {name: tree["posterior"].sizes[name] for name in ("chain", "draw")}
        assert all(np.isfinite(v.values).all() for v in tree[group].data_vars.values()), group


def check_estimands(route, tree):
    table = bs.summarize(tree)
    assert set(table.index) >= {*SUMMARIZED[route].split(), *LABELS.get(route, ())}
    drawn = table[table["sd"].notna()]
    assert np.isfinite(drawn.to_numpy()).all()
    assert (drawn["mcse"] < drawn["sd"]).all()
    chances = table[table["sd"].isna()]
    assert chances["mean"].between(0, 1).all()
    for name in ("p_best", "p_best_uncorrected"):
        shares = chances.loc[[label.startswith(f"{name}[") for label in chances.index], "mean"]
        assert shares.empty or shares.sum() == pytest.approx(1)


def rendered():
    """Checks that fail on some result, and the results on which some check does."""
    checks = [check for check in CHECKS if any(check in reasons for reasons in NOT.values())]
    lines = [["result", *checks], ["---"] * (len(checks) + 1)]
    for route, reasons in NOT.items():
        lines.append([route, *(reasons.get(check, "works") for check in checks)])
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def test_the_table_of_the_documentation_is_that_of_the_tests():
    assert PAGE.read_text().split(START)[1].split(END)[0] == rendered()


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(before + START + rendered() + END + rest.split(END)[1])
