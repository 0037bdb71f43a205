"""EPP: fits with every option, tests, ranks, quality, several tournaments, plans, and Bayes."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from golden.registry import add, example, real
from golden.results import Numbers, each, fit_numbers, flat, interval_numbers, pair_test, pick

import bayes_sota as bs
from bayes_sota import epp


@cache
def table(seed: int = 3, rounds: int = 24, **options: Any) -> bs.ScoreTable:
    skills = [0.6, 0.2, 0.0, -0.3, -0.5, 0.9]
    return epp.simulate_tournament(skills, rounds, random_seed=seed, **options)


@cache
def battles() -> Any:
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 3, 300), rng.integers(3, 6, 300)
    wins = rng.choice([0.0, 0.5, 1.0], 300, p=[0.35, 0.15, 0.5])
    return bs.data.Matches(
        first, second, wins, players=list("abcdef"), clusters=[i // 5 for i in range(300)]
    )


def read(name: str, **options: Any) -> Any:
    return bs.read_scores(example(name), **options)


def vtab(**options: Any) -> Any:
    return bs.read_scores(real("vtab/vtab_scores_16x19.csv"), players="rows", **options)


def aucs(top: int | None = None) -> Any:
    return bs.read_scores(real("epp_auc/auc_scores.csv"))


def bbt() -> Any:
    return bs.read_scores(real("bbt/ss.csv"), group_column="db")


def ucr() -> Any:
    """Data sets as rounds, their five runs as one cluster."""
    rows = pd.read_csv(real("ucr/results-ucr-128.csv"))
    scores = rows.pivot_table(
        index=["dataset_name", "iteration"], columns="classifier_name", values="accuracy"
    ).dropna()
    groups = scores.index.get_level_values(0).tolist()
    return bs.ScoreTable(scores.to_numpy(), players=[*scores.columns], groups=groups)


MODELS = {
    "rounds-example": lambda: read("rounds.csv"),
    "seeds-example": lambda: read("seeds.csv"),
    "datasets-example": lambda: read("datasets.csv"),
    "battles-example": lambda: read("battles.csv"),
    "simulated": table,
    "overlap": lambda: table(overlap=0.5),
    "missing": lambda: table(missing=0.2),
    "step": lambda: table(step=0.5),
    "many-rounds": lambda: table(rounds=400),
    "battles": battles,
    "groups": lambda: bs.ScoreTable(
        table().scores, groups=[f"g{i // 3}" for i in range(24)], scheme="model/cv"
    ),
    "lower-is-better": lambda: bs.ScoreTable(-table().scores, lower_is_better=True),
    "data-sets-as-players": lambda: read("datasets.csv", players="columns"),
    "vtab": vtab,
    "bbt": bbt,
    "ucr": ucr,
}
for _name, _data in MODELS.items():
    add(f"epp/fit/{_name}", lambda data=_data: fit_numbers(bs.fit_epp(data())))
    add(f"epp/test/{_name}", lambda data=_data: pair_test(bs.fit_epp(data())))
OPTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "penalty": (table, {"penalty": 0.5}),
    "penalty-battles": (battles, {"penalty": 1.0}),
    "test-fraction": (lambda: MODELS["groups"](), {"test_fraction": 0.3}),
    "all-rounds": (table, {"matches": "all-rounds"}),
    "all-rounds-seeds": (MODELS["seeds-example"], {"matches": "all-rounds"}),
    "all-rounds-penalty": (table, {"matches": "all-rounds", "penalty": 0.3}),
    "auc-scores-penalty": (aucs, {"penalty": 0.5}),
    "auc-scores-all-rounds": (aucs, {"matches": "all-rounds"}),
}
for _name, (_data, _options) in OPTIONS.items():
    add(f"epp/fit/{_name}", lambda data=_data, o=_options: fit_numbers(bs.fit_epp(data(), **o)))
    add(f"epp/test/{_name}", lambda data=_data, o=_options: pair_test(bs.fit_epp(data(), **o)))

SOME = {name: MODELS[name] for name in ("rounds-example", "simulated", "battles", "vtab", "step")}
for _name, _data in SOME.items():
    add(f"epp/pairs/{_name}", lambda data=_data: flat({
        "win": bs.fit_epp(data()).win_probabilities()[0],
        "se": bs.fit_epp(data()).standard_errors_of_pairs()[0],
    }))  # fmt: skip
    add(f"epp/quality/{_name}", lambda seed, data=_data: pick(
        epp.leaderboard_quality(bs.fit_epp(data()), repetitions=200, random_seed=seed),
        "deviance", "p_value", "expected", "standardized_deviance",
        "paper_standardized_deviance"))  # fmt: skip
    add(f"epp/reliability/{_name}", lambda data=_data: flat(
        epp.reliability(bs.fit_epp(data()), 5)))  # fmt: skip
    if _name != "vtab":
        add(f"epp/bootstrap/{_name}", lambda seed, data=_data: (
            lambda found: flat({"se": found.se, "interval": found.interval()})
        )(epp.bootstrap_epp(bs.fit_epp(data()), 100, random_seed=seed)))  # fmt: skip


def multiscale(data: Any, seed: int) -> Numbers:
    """The bootstrap's p-values of two pairs."""
    fit = bs.fit_epp(data)
    order = [fit.players[i] for i in np.argsort(-fit.epp)]
    pairs = [(order[0], order[1]), (order[0], order[-1])]
    found = epp.multiscale_test(fit, pairs, repetitions=400, random_seed=seed)
    return flat({"share": found.pair_share, "p_value": found.pair_p_value})


for _name in ("rounds-example", "simulated"):
    add(f"epp/multiscale/{_name}", lambda seed, data=MODELS[_name]: multiscale(data(), seed))
for _name in ("rounds-example", "simulated", "vtab"):
    add(f"epp/plan/{_name}", lambda data=MODELS[_name]: pick(epp.plan_rounds(
        bs.fit_epp(data()), 0.1), "expected", "for_error", "for_neighbours", "for_best",
        "rounds"))  # fmt: skip
    add(f"epp/learning-curve/{_name}", lambda seed, data=MODELS[_name]: flat([
        pick(point, "rounds", "se", "predicted_se", "distance")
        for point in epp.learning_curve(bs.fit_epp(data()), 8, random_seed=seed)
    ]))  # fmt: skip


def tournaments(tables: list[Any]) -> Numbers:
    """Skills and fits of several tournaments."""
    return each(epp.fit_tournaments(tables), "epp", "se", "rank", "deviance", "deviance_df",
                "paper_standardized_deviance")  # fmt: skip


add("epp/tournaments/simulated", lambda: tournaments([table(), table(7, tournament="two")]))
add("epp/tournaments/bbt", lambda: tournaments(
    [*bs.read_scores(_long(), tournament_column="db").values()][:5]))  # fmt: skip
add("epp/tournaments/compared", lambda seed: each(epp.compare_leaderboards(
    [bs.fit_epp(table()), bs.fit_epp(table(7, tournament="two"))], repetitions=200,
    random_seed=seed), "deviance", "p_value", "standardized_deviance"))  # fmt: skip


def _long() -> pd.DataFrame:
    """The published folds, a row per score."""
    rows = pd.read_csv(real("bbt/ss.csv"))
    rows["fold"] = rows.groupby("db").cumcount()
    return rows.melt(["db", "fold"], var_name="model", value_name="accuracy")


def promise(skills: Any, families: Any, **options: Any) -> Numbers:
    return each(epp.tuning_promise(skills, families, **options), "n", "best", "p_beats_best",
                "shape")  # fmt: skip


add("epp/tuning/simulated", lambda: promise(np.linspace(-1, 1, 24) ** 3, list("abb") * 8))


def openml(dataset: int = 1043) -> Numbers:
    """The published skills of one data set."""
    rows = pd.read_csv(real("openml_epp/epp_34_datasets.csv.gz"))
    rows = rows[(rows["dataset"] == dataset) & np.isfinite(rows["epp"])]
    return promise(rows["epp"].to_numpy(), epp.families_of([*rows["model"]], "_"))


add("epp/tuning/openml", openml)


def bayes(data: Any, seed: int, **options: Any) -> Numbers:
    """Skills by NUTS."""
    tree = bs.sample_epp(
        epp.build_model(data, **options), draws=300, tune=300, chains=2, cores=1, random_seed=seed,
        predictive=50,
    )  # fmt: skip
    return interval_numbers(tree, ("epp",))


add("epp/bayes/ranking", lambda seed: bayes(table(), seed))
add("epp/bayes/battles", lambda seed: bayes(battles(), seed))
