"""EPP: fits with every option, tests, ranks, quality, several tournaments, plans, and Bayes."""

from functools import cache

import numpy as np
import pandas as pd
from golden.registry import add, add_all, example, real
from golden.results import each, fit_numbers, flat, log_densities, pick
from simulated_tournaments import simulate_tournament

import bayes_sota as bs
from bayes_sota import epp


@cache
def table(seed: int = 3, rounds: int = 24, **options) -> bs.ScoreTable:
    skills = [0.6, 0.2, 0.0, -0.3, -0.5, 0.9]
    return simulate_tournament(skills, rounds, random_seed=seed, **options)


@cache
def battles():
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 3, 300), rng.integers(3, 6, 300)
    wins = rng.choice([0.0, 0.5, 1.0], 300, p=[0.35, 0.15, 0.5])
    clusters = [i // 5 for i in range(300)]
    return bs.data.Matches(first, second, wins, players=list("abcdef"), groups=clusters)


def groups() -> bs.ScoreTable:
    names = [f"g{i // 3}" for i in range(24)]
    return bs.ScoreTable(table().scores, groups=names, scheme="model/cv")


def read(name: str, **options):
    return lambda: bs.read_scores(example(name), **options)


def vtab():
    return bs.read_scores(real("vtab/vtab_scores_16x19.csv"), entry="")


def aucs():
    return bs.read_scores(real("epp_auc/auc_scores.csv"))


def ucr():
    """Data sets as rounds, their five runs as one cluster."""
    rows = pd.read_csv(real("ucr/results-ucr-128.csv"))
    index = ["dataset_name", "iteration"]
    scores = rows.pivot_table(index=index, columns="classifier_name", values="accuracy").dropna()
    names = scores.index.get_level_values(0).tolist()
    return bs.ScoreTable(scores.to_numpy(), players=[*scores.columns], groups=names)


DATA = {
    "rounds-example": read("rounds.csv"),
    "datasets-example": read("datasets.csv"),
    "battles-example": read("battles.csv"),
    "data-sets-as-players": read("datasets.csv", unit="method"),
    "simulated": table,
    "missing": lambda: table(missing=0.2),
    "step": lambda: table(step=0.5),
    "many-rounds": lambda: table(rounds=400),
    "battles": battles,
    "groups": groups,
    "lower-is-better": lambda: bs.ScoreTable(-table().scores, lower_is_better=True),
    "vtab": vtab,
    "bbt": lambda: bs.read_scores(real("bbt/ss.csv"), group="db"),
    "ucr": ucr,
}


def fit(data, **options):
    """Players, pairs and deviance; the test of the best two."""
    found = bs.fit_epp(data, **options)
    a, b = np.argsort(-found.epp)[:2]
    test = flat(vars(found.test(found.players[a], found.players[b])), "test")
    return fit_numbers(found) | test | flat({"win": found.win_probabilities()[0][:5]})


add_all("epp/fit", fit, DATA)
add_all("epp/fit", fit, {
    "penalty": {"data": table, "penalty": 0.5},
    "penalty-battles": {"data": battles, "penalty": 1.0},
    "test-fraction": {"data": groups, "test_fraction": 0.3},
    "all-rounds": {"data": table, "matches": "all-rounds"},
    "all-rounds-penalty": {"data": table, "matches": "all-rounds", "penalty": 0.3},
    "all-rounds-seeds": {"data": read("seeds.csv"), "matches": "all-rounds"},
    "auc-scores-penalty": {"data": aucs, "penalty": 0.5},
    "auc-scores-all-rounds": {"data": aucs, "matches": "all-rounds"},
})  # fmt: skip


def quality(data, seed: int):
    fit = bs.fit_epp(data)
    found = epp.leaderboard_quality(fit, repetitions=200, random_seed=seed)
    numbers = pick(found, "deviance", "p_value", "expected", "standardized_deviance")
    return numbers | {"paper_standardized_deviance": fit.paper["standardized_deviance"]}


def reliability(data):
    return flat(vars(epp.reliability(bs.fit_epp(data), 5)))


def multiscale(data, seed: int):
    """The bootstrap's p-values of two pairs."""
    fitted = bs.fit_epp(data)
    order = [fitted.players[i] for i in np.argsort(-fitted.epp)]
    pairs = [(order[0], order[1]), (order[0], order[-1])]
    found = epp.multiscale_test(fitted, pairs, repetitions=400, random_seed=seed)
    return pick(found, "pair_share", "pair_p_value")


def plan(data):
    found = epp.plan_rounds(bs.fit_epp(data), 0.1)
    return pick(found, "expected", "for_error", "for_neighbours", "for_best", "rounds")


SOME = ("rounds-example", "simulated", "vtab", "step", "battles")
for _run, _names in {
    quality: SOME[:4],
    reliability: SOME,
    multiscale: SOME[:2],
    plan: SOME[:3],
}.items():
    _kind = _run.__name__.replace("_", "-")
    add_all(f"epp/{_kind}", _run, {name: DATA[name] for name in _names})


def two():
    return [table(), table(7, tournament="two")]


def published():
    """The published folds, a tournament per data set."""
    rows = pd.read_csv(real("bbt/ss.csv"))
    rows["fold"] = rows.groupby("db").cumcount()
    long = rows.melt(["db", "fold"], var_name="model", value_name="accuracy")
    return [*bs.read_scores(long, tournament="db").values()]


def tournaments(data, **options):
    """Skills and fits of several tournaments."""
    found = epp.fit_tournaments(data, **options)
    return each(found, "epp", "se", "rank", "deviance", "deviance_df")


def compared(seed: int):
    fits = [bs.fit_epp(one) for one in two()]
    found = epp.compare_leaderboards(fits, repetitions=200, random_seed=seed)
    return each(found, "deviance", "p_value", "standardized_deviance")


add_all("epp/tournaments", tournaments, {
    "simulated": two, "bbt-penalty": {"data": published, "penalty": 0.5}
})  # fmt: skip
add("epp/tournaments/compared", compared)


add_all("model", log_densities, {
    "epp-ranking": lambda: epp.build_model(table()),
    "epp-matches": lambda: epp.build_model(table(), likelihood="matches"),
    "epp-battles": lambda: epp.build_model(battles()),
    "epp-tournaments": lambda: epp.build_model(two()),
})  # fmt: skip
