"""Exact laws of a maximum, one best score, shrinking and cropping, the size of a test sample."""

import numpy as np
from golden.results import field_estimate, flat, frame_numbers, law, pick, sota
from golden.registry import add, example, real

import bayes_sota as bs
from bayes_sota.core.skills import Beta, LogitNormal, Uniform

LISTED = [0.9, 0.89, 0.87, 0.85, 0.8]
LAWS = {
    "equal": {"n_test": 3000, "skill": 0.9, "n_classifiers": 1000},
    "equal-few-items": {"n_test": 50, "skill": 0.8, "n_classifiers": 5},
    "one": {"n_test": 100, "skill": 0.7, "n_classifiers": 1},
    "dependent": {"n_test": 3000, "skill": 0.9, "n_classifiers": 1000, "correlation": 0.6},
    "reference": {"n_test": 500, "skill": 0.8, "n_classifiers": 50, "correlation": 0.5,
                  "reference_skill": 0.85},
    "reference-count": {"n_test": 300, "skill": 0.8, "n_classifiers": 20, "correlation": 0.5,
                        "reference_skill": 0.8, "reference_count": 250},
    "listed": {"n_test": 300, "skill": LISTED},
    "listed-dependent": {"n_test": 300, "skill": LISTED, "correlation": 0.5},
    "uniform": {"n_test": 3000, "skill": Uniform(0.85, 0.9), "n_classifiers": 1000},
    "uniform-dependent": {"n_test": 500, "skill": Uniform(0.6, 0.8), "n_classifiers": 30,
                          "correlation": 0.4},
    "beta": {"n_test": 1000, "skill": Beta.from_location_spread(1.4, 0.3), "n_classifiers": 200},
    "normal": {"n_test": 1000, "skill": LogitNormal(1.4, 0.3), "n_classifiers": 200},
}  # fmt: skip
for _name, _options in LAWS.items():
    add(f"maximum/law/{_name}", lambda o=_options: law(bs.maximum_law(**o), 0.82, 0.9))

SIZES = {"n_positive": 52, "n_negative": 198}
AUCS = {
    "equal": {"auc": 0.9, "n_classifiers": 20},
    "spread-ratio": {"auc": 0.9, "n_classifiers": 20, "spread_ratio": 1.5},
    "listed": {"auc": [0.9, 0.85, 0.8]},
    "uniform": {"auc": Uniform(0.8, 0.9), "n_classifiers": 30},
}
for _name, _options in AUCS.items():
    add(f"maximum/auc-law/{_name}",
        lambda o=_options: law(bs.auc.auc_maximum_law(**o, **SIZES), 0.93))  # fmt: skip
add("maximum/auc-law/of-one", lambda: flat({
    str(ratio): [bs.auc.auc_law(0.85, **SIZES, spread_ratio=ratio).std(),
                 *bs.auc.auc_law(0.85, **SIZES, spread_ratio=ratio).interval()]
    for ratio in (0.7, 1.0, 1.5)
}))  # fmt: skip
add("maximum/correlation-of-similarity", lambda: flat({
    str(skill): [bs.maximum.correlation_of_similarity(s, skill) for s in (0.85, 0.9, 0.95)]
    for skill in (0.8, 0.9)
}))  # fmt: skip


def best(
    score: str = "0.93", n_test: int = 300, n_classifiers: object = 20, **more: object
) -> bs.data.BestScore:
    return bs.data.BestScore(score, n_test=n_test, n_classifiers=n_classifiers, **more)


for _name in ("obesity-risk", "obesity-risk-paper", "cassava"):
    add(f"best/{_name}", lambda seed, n=_name: sota(bs.load_example(n).leaderboard(), seed))
KNOWN = bs.Priors(correlation=bs.FixedCorrelation(0.6))
BETA, UNIFORM = (bs.Priors(skill=kind()) for kind in (bs.core.BetaSkill, bs.core.UniformSkill))
BEST = {
    "small": {"board": lambda: best()},
    "all-right": {"board": lambda: best("1.0", 50, 10)},
    "tries-between": {"board": lambda: best("0.91", 500, (5, 50))},
    "tries-lognormal": {"board": lambda: best("0.91", 500, bs.core.LogNormalTries(20))},
    "known-rho": {"board": lambda: best(), "priors": KNOWN},
    "beta": {"board": lambda: best(), "priors": BETA},
    "uniform": {"board": lambda: best(), "priors": UNIFORM},
    "reference-skill": {"board": lambda: best(), "reference_skill": 0.85},
    "submissions": {"board": lambda: best("0.93", 500, 20, submissions=(2, 30))},
    "two-boards": {"board": lambda: [best(), best("0.95", 400, 60)]},
    "auc": {"board": lambda: best("0.91", 300, 30, metric="auc", n_positive=90)},
    "image-classifiers": {"board": lambda: best("0.97", 10000, 40), "domain": "image-classifiers"},
    "abc": {"board": lambda: best(), "method": "abc", "draws": 400},
    "nuts": {"board": lambda: best(), "method": "nuts", "draws": 300, "chains": 2},
}  # fmt: skip
for _name, _options in BEST.items():
    def _run(seed: int, o: dict = _options) -> dict[str, float]:  # fmt: skip
        return sota(o["board"](), seed, **{k: v for k, v in o.items() if k != "board"})
    add(f"best/{_name}", _run)  # fmt: skip
add("best/gaussian", lambda seed: sota(bs.Leaderboard.from_maximum(
    "0.713", n_classifiers=30, metric="score", standard_error=0.012), seed))  # fmt: skip
add("best/sensitivity", lambda seed: frame_numbers(
    bs.sota_sensitivity(best(), draws=1000, random_seed=seed), top=40))  # fmt: skip


def newcomers(seed: int) -> dict[str, float]:
    tree = bs.estimate_sota(best(), random_seed=seed)
    better = bs.leaderboard.probability_truly_better(tree, 0.94)
    return flat(bs.core.probability_above(tree, 0.92), "above") | flat(better, "better")


add("best/newcomers", newcomers)

STEPS = [0.95, 0.949, 0.945, *(0.94 - 0.002 * np.arange(60)), 0.4]
SHRINK = {
    "expected": {"criterion": "expected"},
    "upper": {"criterion": "upper"},
    "independent": {"correlation": 0.0},
}
for _name, _options in SHRINK.items():
    for _way in ("shrink", "crop"):
        add(f"{_way}/{_name}", lambda o=_options, way=_way: field_estimate(
            getattr(bs.maximum, f"{way}_scores")(STEPS, n_test=800, chance=0.5, **o)))  # fmt: skip
add("shrink/aucs", lambda: field_estimate(bs.maximum.shrink_aucs(
    [0.95, 0.94, 0.93, 0.9, 0.88, 0.85, 0.8], n_positive=52, n_negative=700)))  # fmt: skip
add("shrink/aucs-upper", lambda: field_estimate(bs.maximum.shrink_aucs(
    [0.95, 0.94, 0.93, 0.9, 0.88, 0.85, 0.8], n_positive=30, n_negative=60,
    criterion="upper", spread_ratio=1.3)))  # fmt: skip


def scores(path: str) -> np.ndarray:
    """Scores of a board of Kaggle as numbers."""
    return np.genfromtxt(real(path), delimiter=",", names=True)["score"]


for _slug, _n, _chance in (
    ("playground-series-s4e2", 11072, 1 / 7),
    ("cassava-leaf-disease-classification", 6618, 0.2),
):
    for _way in ("shrink", "crop"):
        add(f"{_way}/{_slug}", lambda way=_way, slug=_slug, n=_n, chance=_chance: field_estimate(
            getattr(bs.maximum, f"{way}_scores")(
                scores(f"kaggle/{slug}__private.csv"), n_test=n, chance=chance)))  # fmt: skip


def size(values: list[str]) -> dict[str, float]:
    return pick(bs.infer_n_test(values), "n_test", "candidates", "decimals", "n_fitting", "p_other")


add("n-test/leaderboard-example", lambda: size(
    [row.rsplit(",", 1)[1] for row in example("leaderboard.csv").read_text().split("\n")[1:-1]]
))  # fmt: skip
add("n-test/few", lambda: size(["0.9116", "0.9094", "0.8807", "0.7521"]))
for _slug in ("playground-series-s4e2", "cassava-leaf-disease-classification", "spaceship-titanic",
              "tabular-playground-series-apr-2021"):  # fmt: skip
    for _part in ("private", "public"):
        add(f"n-test/{_slug}-{_part}", lambda slug=_slug, part=_part: size(
            [row.split(",")[1] for row in
             real(f"kaggle/{slug}__{part}.csv").read_text().split("\n")[1:] if row]))  # fmt: skip
