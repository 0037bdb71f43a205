"""What works on every result: ArviZ's own functions on trees of every form.

``python tests/test_arviz.py`` writes the table of docs/extending.md, which a test compares.
"""

import io
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import arviz as az
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr
from calibration.sampled_boards import sample_answers, sample_board

import bayes_sota as bs
from bayes_sota.core.priors import board_priors
from bayes_sota.crossval.fold_scores import FoldScores

PAGE = Path(__file__).resolve().parents[1] / "docs" / "extending.md"
START, END = "<!-- table: python tests/test_arviz.py -->\n", "<!-- end of table -->\n"
DRAWS = {"draws": 100, "random_seed": 0}
TWO_SHAPES = bs.Priors(families=("normal", "ex-gaussian"))
ONE = "one observation"
TWO = 'observations of two dimensions: `method="prit_c"` works'


def scores(n: int = 500, m: int = 20) -> bs.Leaderboard:
    rng = np.random.default_rng(0)
    return bs.Leaderboard(rng.binomial(n, 0.9 - 0.02 * rng.random(m)) / n, n_test=n)


def aucs() -> bs.Leaderboard:
    found = 0.9 - 0.01 * np.random.default_rng(1).gamma(2, 1, 20)
    return bs.Leaderboard(np.round(found, 4), metric="auc", n_test=600, n_positive=80)


def errors() -> bs.Leaderboard:
    found = 1.2 + 0.05 * np.random.default_rng(2).gamma(2, 1, 20)
    return bs.Leaderboard(found, metric="score", standard_error=0.05, lower_is_better=True)


def maximum(score: float = 0.98) -> bs.Leaderboard:
    return bs.BestScore(score, n_test=200, n_classifiers=50)


def best_auc() -> bs.Leaderboard:
    return bs.BestScore(0.94, n_test=600, n_positive=80, n_classifiers=50, metric="auc")


def outcomes() -> tuple[np.ndarray, np.ndarray]:
    """Right answers of five classifiers to 120 items, and numbers behind them."""
    rng = np.random.default_rng(3)
    number = rng.normal(size=(120, 1)) + rng.normal(size=(120, 5)) - 0.3 * np.arange(5)
    return number > -1, number


def answers() -> bs.Outcomes:
    return bs.Outcomes(outcomes()[0], clusters=np.arange(120) // 4)


def exam() -> bs.Outcomes:
    """Runs of two classifiers on eight questions of two tasks: ArviZ draws at most 40 panels."""
    right = np.random.default_rng(10).binomial(3, [0.8, 0.6], (8, 2)) / 3
    return bs.Outcomes(right, n_runs=3, tasks=["law", "art"] * 4)


def evaluations() -> xr.DataTree:
    return sample_answers(exam(), tune=300, chains=2, **DRAWS)


def pairs() -> bs.PairedBoards:
    rng = np.random.default_rng(4)
    skill = rng.uniform(0.7, 0.8, 10)  # ArviZ draws at most 40 panels
    public, private = rng.binomial(500, skill, (2, 10)) / 500
    return bs.PairedBoards(public, private, n_test=(500, 500))


def table() -> bs.ScoreTable:
    rng = np.random.default_rng(5)
    found = rng.normal(size=(15, 4)) + np.array([0.0, 0.4, 0.8, 1.0])
    return bs.ScoreTable(found, players=list("abcd"))


def claim(model: Any) -> xr.DataTree:
    return bs.claims.sample_claim(model, tune=300, **DRAWS)


def review() -> xr.DataTree:
    reported = ([0.9, 0.85, 0.8], [0.88, 0.8, 0.79], [500, 200, 300], [np.nan, 0.75, np.nan])
    return claim(bs.claims.build_model(*reported))


def cases() -> xr.DataTree:
    return claim(bs.claims.build_case_differences(np.random.default_rng(7).normal(0.02, 0.1, 60)))


def means() -> xr.DataTree:
    return bs.claims.claim_tree(bs.Means(a=0.81, b=0.8, n=100, sd=(0.1, 0.1)), **DRAWS)


def comparison() -> xr.DataTree:
    found = bs.compare_methods(answers(), draws=400, random_seed=0)
    return bs.claims.comparison_tree(found, answers())


def epp(**settings: Any) -> xr.DataTree:
    model = bs.epp.build_model(table(), **settings)
    return bs.sample_epp(model, tune=300, predictive=100, **DRAWS)


def folds() -> xr.DataTree:
    rng = np.random.default_rng(8)
    runs = rng.normal([[[0.8]], [[0.85]]], 0.05, (2, 6, 3))  # ArviZ draws at most 40 panels
    return bs.crossval.sample_comparison(FoldScores(runs), tune=300, **DRAWS)


def judged() -> xr.DataTree:
    runs = np.random.default_rng(9).normal([[[0.8]], [[0.82]]], 0.05, (2, 12, 3))
    return bs.crossval.judge_runs(FoldScores(runs), random_seed=0).about.to_datatree(draws=100)


def sota(board: Any, **settings: Any) -> xr.DataTree:
    return bs.estimate_sota(board, **(DRAWS | settings))


ROUTES: dict[str, Callable[[], xr.DataTree]] = {
    "maximum, exact": lambda: sota(maximum()),
    "maximum, ABC/SMC": lambda: sota(maximum(), method="abc", draws=50),
    "maximum, NUTS": lambda: sota(maximum(), method="nuts"),
    "two maxima": lambda: sota([maximum(), maximum(0.97)]),
    "best AUC": lambda: sota(best_auc()),
    "board of accuracies": lambda: sota(scores()),
    "board, NUTS": lambda: sample_board(
        scores(), board_priors(TWO_SHAPES), 0, draws=100, tune=300, chains=2
    ),
    "board of AUCs": lambda: sota(aucs()),
    "board of errors": lambda: sota(errors()),
    "responses": lambda: sota(answers()),
    "evaluations, NUTS": evaluations,
    "item scores": lambda: sota(bs.Outcomes(outcomes()[1], metric="mean")),
    "paired boards": lambda: bs.estimate_paired(pairs(), **DRAWS),
    "claim of accuracies": lambda: bs.claims.claim_tree(
        bs.Accuracies(a=0.9, b=0.88, n=500), **DRAWS
    ),
    "claim of means": means,
    "compared methods": comparison,
    "review of claims": review,
    "differences of cases": cases,
    "EPP of rounds": epp,
    "EPP of matches": lambda: epp(likelihood="matches"),
    "repeated cross-validation": folds,
    "judged cross-validation": judged,
}


# Results of the same form as another, which is tried: the same function completes them.
ALIKE = {
    "maximum, ABC/SMC": "maximum, exact",
    "maximum, NUTS": "maximum, exact",
    "best AUC": "maximum, exact",
    "board, NUTS": "board of accuracies",
    "board of AUCs": "board of accuracies",
    "board of errors": "board of accuracies",
    "item scores": "responses",
    "EPP of matches": "EPP of rounds",
}


def to_netcdf(tree: xr.DataTree) -> None:
    content = io.BytesIO()
    tree.to_netcdf(content, engine="h5netcdf")
    content.seek(0)
    with xr.open_datatree(content, engine="h5netcdf") as back:
        xr.testing.assert_identical(back.load(), tree)


CHECKS: dict[str, Callable[[xr.DataTree], object]] = {
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
NOT: Mapping[tuple[str, str], str] = {
    **{
        (route, check): ONE
        for route in ("maximum, exact", "maximum, ABC/SMC", "maximum, NUTS", "best AUC")
        for check in ("loo", "compare")
    },
    **{(f"EPP of {what}", "plot_ppc_pit"): TWO for what in ("rounds", "matches")},
    **{
        (route, check): "one observation, no likelihood"
        for route in ("claim of accuracies", "claim of means")
        for check in ("loo", "compare")
    },
    **{
        (route, check): "improper prior"
        for route in ("claim of means", "compared methods", "judged cross-validation")
        for check in ("plot_prior_posterior", "psense_summary")
    },
    **{
        (route, "psense_summary"): "flat prior"
        for route in ("claim of accuracies", "review of claims", "clustered items")
    },
    **{
        (route, "plot_ppc_pit"): TWO
        for route in ("evaluations, NUTS", "review of claims", "clustered items")
    },
    **{
        ("compared methods", check): "a law of scores, not of items" for check in ("loo", "compare")
    },
    **{
        ("judged cross-validation", check): "folds depend on each other"
        for check in ("loo", "compare")
    },
    ("judged cross-validation", "plot_ppc_pit"): TWO,
    ("paired boards", "plot_ppc_pit"): TWO,
    ("repeated cross-validation", "plot_ppc_pit"): "a likelihood per iteration, not per fold",
}


_OF_CLAIMS = {"difference", "p_false"}
_OF_FIELDS = {"theta_sota", "expected_sota", "winner_skill", "multiplicity_bias", "rho"}
SUMMARIZED: Mapping[str, set[str]] = {
    **dict.fromkeys(ROUTES, _OF_FIELDS),
    "two maxima": {"theta_sota[board 2]", "winner_skill[board]", "rho"},
    **dict.fromkeys(
        ("board of accuracies", "board, NUTS", "board of AUCs", "board of errors", "responses"),
        _OF_FIELDS | {"n_above_sota"},
    ),
    "evaluations, NUTS": {"theta_sota", "winner_skill", "p_best[1]"},
    "paired boards": {"theta_sota", "winner_skill", "score_shift", "residual_sd", "rho"},
    **dict.fromkeys(
        ("claim of accuracies", "claim of means", "clustered items", "differences of cases"),
        _OF_CLAIMS,
    ),
    "compared methods": {"difference[2]", "p_false[5]", "p_best_uncorrected[1]"},
    "review of claims": {"difference[1]", "p_false[3]"},
    **{f"EPP of {what}": {"epp[a]", "p_best[d]"} for what in ("rounds", "matches")},
    "repeated cross-validation": {"difference[1 - 2]", "p_best[2]"},
    "judged cross-validation": {"difference[1, 1 - 2]"},
}


@pytest.mark.parametrize("route", ["board of accuracies", "claim of accuracies"])
def test_groups_and_estimands(route: str) -> None:
    tree = ROUTES[route]()
    check_groups(route, tree)
    check_estimands(route, tree)


@pytest.mark.slow
@pytest.mark.parametrize("route", [route for route in ROUTES if route not in ALIKE])
def test_all_that_arviz_offers_works(route: str, not_sampled: list[dict[str, Any]]) -> None:
    """One test for each result: making it takes most of the time."""
    tree = ROUTES[route]()
    check_groups(route, tree)
    check_estimands(route, tree)
    for name, check in CHECKS.items():
        if (route, name) not in NOT:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a large Pareto k is an answer, not a failure
                check(tree)
            plt.close("all")


def check_groups(route: str, tree: xr.DataTree) -> None:
    observed = set(tree["observed_data"].data_vars)
    assert observed == set(tree["posterior_predictive"].data_vars)
    proper = (route, "plot_prior_posterior") not in NOT
    assert proper == ("prior" in tree.children) == ("log_prior" in tree.children)
    if proper:
        assert set(tree["posterior"].data_vars) >= set(tree["prior"].data_vars)
        assert observed == set(tree["prior_predictive"].data_vars)
    likely = (route, "loo") not in NOT or NOT[route, "loo"] == ONE
    assert likely == ("log_likelihood" in tree.children)
    if likely:
        assert set(tree["log_likelihood"].data_vars) <= observed
    for group in {"posterior", "log_likelihood", "log_prior"} & set(tree.children):
        draws = {name: tree[group].sizes[name] for name in ("chain", "draw")}
        assert draws == {name: tree["posterior"].sizes[name] for name in ("chain", "draw")}
        assert all(np.isfinite(v.values).all() for v in tree[group].data_vars.values()), group


def check_estimands(route: str, tree: xr.DataTree) -> None:
    table = bs.summarize(tree)
    assert set(table.index) >= SUMMARIZED[route]
    drawn = table[table["sd"].notna()]
    assert np.isfinite(drawn.to_numpy()).all()
    assert (drawn["mcse"] < drawn["sd"]).all()
    chances = table[table["sd"].isna()]
    assert chances["mean"].between(0, 1).all()
    for name in ("p_best", "p_best_uncorrected"):
        shares = chances.loc[[label.startswith(f"{name}[") for label in chances.index], "mean"]
        assert shares.empty or shares.sum() == pytest.approx(1)


def rendered() -> str:
    head = ["result", *CHECKS]
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for route in ROUTES:
        cells = [NOT.get((route, check), "works") for check in CHECKS]
        lines.append(f"| {route} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def test_the_table_of_the_documentation_is_that_of_the_tests() -> None:
    assert PAGE.read_text().split(START)[1].split(END)[0] == rendered()


if __name__ == "__main__":
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(before + START + rendered() + END + rest.split(END)[1])
    sys.exit(0)
