"""Boards of scores, answers, numbers and two boards; how good one classifier is by itself."""

from functools import cache

import numpy as np
import pandas as pd
from golden.registry import add, add_all, example, real
from golden.results import board, each, flat, log_densities, pick, skills, sota

import bayes_sota as bs


@cache
def simulated(n: int = 400, entries: int = 12) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.binomial(n, 0.9 - 0.02 * rng.random(entries)) / n


@cache
def answers(items: int = 120, runs: int = 1, tasks: int = 0, clusters: bool = False):
    """Answers of four methods that agree on what is easy."""
    rng = np.random.default_rng(2)
    ease = rng.normal(size=(items, 1)) + ([[0.8]] if not runs else 0.0)
    share = 1 / (1 + np.exp(-1.5 * ease - [1.8, 1.6, 1.4, 0.6]))
    return bs.Outcomes(
        rng.binomial(runs, share) / runs,
        names=list("abcd"),
        tasks=[f"t{i % tasks}" for i in range(items)] if tasks else None,
        clusters=[f"c{i // 4}" for i in range(items)] if clusters else None,
        n_runs=runs if runs > 1 else None,
    )


@cache
def many_answers(path: str, columns: int | None = None):
    responses = bs.read_outcomes(real(path))
    return responses.subset(range(columns)) if columns else responses


def evaluations(name: str = "exam.csv", **options):
    return bs.read_outcomes(example(name), **options)


def averages(**options):
    columns = [f"digit {i}" for i in range(10)]
    return bs.read_leaderboard(example("averages.csv"), use=columns, n_test=120, **options)


def live(name: str, score: str):
    """Answers of some language models in ten runs."""
    rows = pd.read_csv(real(f"livecodebench/{name}_runs.csv.gz"))
    shares = (rows[score] / rows["runs"]).groupby([rows["item"], rows["model"]]).first().unstack()
    shares = shares[shares.mean().sort_values(ascending=False).index[:8]].dropna()
    about = rows.groupby("item").first().loc[shares.index]
    key, values = ("clusters", "cluster") if "cluster" in rows else ("tasks", "platform")
    groups = about[values].astype(str).tolist()
    return bs.Outcomes(shares.to_numpy(), names=[*shares.columns], n_runs=10, **{key: groups})


def mteb() -> bs.PairedBoards:
    rows = pd.read_csv(real("mteb_splits/validation_and_test.csv.gz"))
    some = rows[(rows["task"] == "MTOPDomainClassification") & (rows["subset"] == "en")]
    return bs.PairedBoards(some["validation"], some["test"], [*some["model"]], n_test=(2235, 4386))


BOARDS = {
    "leaderboard-example": lambda: bs.read_leaderboard(example("leaderboard.csv"), n_test=250),
    "submissions-example": lambda: bs.read_leaderboard(
        example("submissions.csv"), n_test=1000
    ),
    "averages-example": averages,
    "averages-of-items": lambda: averages(average="items"),
    "lone-average": lambda: bs.read_leaderboard(
        example("averages.csv"), score="average", metric="score"
    ),
    "answers-example": lambda: bs.read_outcomes(example("answers.csv")),
    "exam-example": evaluations,
    "exam-example-items": lambda: evaluations(average="items"),
    "dice-example": lambda: bs.read_outcomes(example("dice.csv"), metric="mean"),
    "auc-example": lambda: bs.read_outcomes(example("auc.csv")),
    "accuracies": lambda: bs.Leaderboard(simulated(), n_test=400),
    "accuracies-few-items": lambda: bs.Leaderboard([1.0, 0.98, 0.94, 0.9, 0.8], n_test=50),
    "accuracies-two": lambda: bs.Leaderboard([0.9, 0.88], n_test=1000),
    "printed-in-percent": lambda: bs.Leaderboard(
        [f"{100 * score:.1f}" for score in simulated()], n_test=400, percent=True
    ),
    "partial": lambda: bs.Leaderboard(simulated(), n_test=400, n_classifiers=60),
    "own-sizes": lambda: bs.Leaderboard(
        [0.95, 0.93, 0.9, 0.88, 0.85], n_test=[60, 500, 1000, 1000, 200]
    ),
    "own-errors": lambda: bs.Leaderboard(
        [0.71, 0.7, 0.66, 0.6], standard_error=[0.03, 0.01, 0.01, 0.02], metric="score"
    ),
    "gaussian": lambda: bs.Leaderboard(simulated() - 0.3, standard_error=0.015, metric="score"),
    "rmse": lambda: bs.Leaderboard(
        1.9 - simulated(), standard_error=0.02, metric="score", lower_is_better=True
    ),
    "auc": lambda: bs.Leaderboard(simulated(), n_test=400, n_positive=90, metric="auc"),
    "auc-spread-ratio": lambda: bs.Leaderboard(
        simulated(), n_test=400, n_positive=90, metric="auc", spread_ratio=1.4
    ),
    "answers": answers,
    "answers-clusters": lambda: answers(clusters=True),
    "answers-tasks": lambda: answers(tasks=6),
    "answers-three-tasks": lambda: answers(tasks=3),
    "answers-runs": lambda: answers(runs=5),
    "answers-runs-tasks": lambda: answers(runs=5, tasks=6),
    "answers-runs-clusters": lambda: answers(runs=5, clusters=True),
    "answers-twins": lambda: bs.Outcomes(
        answers().correct[:, [0, 0, 1, 2, 3]], names=["a", "twin", "b", "c", "d"]
    ),
    "rmse-of-items": lambda: bs.Outcomes(
        np.random.default_rng(3).normal(0, [0.9, 1.0, 1.1], (80, 3)), metric="rmse"
    ),
    "livecodebench-execution": lambda: live("execution", "right"),
    "livecodebench-repair": lambda: live("repair", "right"),
    "chembench": lambda: many_answers("chembench/correct_chembench.csv", 10),
    "cifar10": lambda: many_answers("cifar10/correct_cifar10_test.csv", 10),
    "spaceship": lambda: bs.read_leaderboard(
        pd.read_csv(real("kaggle/spaceship-titanic__private.csv"), dtype=str)[30:], n_test=4277
    ),
}  # fmt: skip
add_all("board", board, BOARDS)
BOARDS["answers-missing"] = lambda: bs.Outcomes(  # which only claims and `score` take
    np.where(np.arange(480).reshape(120, 4) % 11 == 3, np.nan, answers().correct)
)
for _name, _ranks in {"joint": "joint", "each": "each", "stepwise": "confidence"}.items():
    add(f"board/{_name}", lambda seed, ranks=_ranks: board(answers(), seed, ranks=ranks))
SOTA = ("leaderboard-example", "answers-example", "exam-example", "partial", "own-errors", "auc")
add_all("sota", sota, {name: BOARDS[name] for name in SOTA})
ACCURACIES = {"data": BOARDS["accuracies"]}
add_all("sota/accuracies", sota, {
    "default": ACCURACIES,
    "known-rho": ACCURACIES | {"priors": bs.Priors(correlation=bs.FixedCorrelation(0.6))},
    "normal": ACCURACIES | {"priors": bs.Priors(families=("normal",))},
    "image-classifiers": ACCURACIES | {"domain": "image-classifiers"},
    "tabular-ensembles": ACCURACIES | {"domain": "tabular", "field": "ensembles"},
})  # fmt: skip
OBESITY = "kaggle/playground-series-s4e2__private.csv"
CASSAVA = "kaggle/cassava-leaf-disease-classification__private.csv"


def nasbench() -> bs.Leaderboard:
    networks = pd.read_csv(real("nasbench201/test_accuracy.csv.gz"))["cifar10"]
    return bs.Leaderboard(networks.sort_values()[-300:] / 100, n_test=10000)


add_all("sota/real", sota, {
    "obesity": lambda: bs.read_leaderboard(real(OBESITY), n_test=11072),
    "cassava": lambda: bs.read_leaderboard(real(CASSAVA), n_test=6618),
    "nasbench201": nasbench,
})  # fmt: skip


def newcomers(seed: int):
    found = bs.leaderboard.board_posterior(BOARDS["accuracies"](), random_seed=seed)
    better = bs.leaderboard.newcomer(found, score=0.92)
    shown = bs.leaderboard.newcomer(found, gap=0.01)
    return flat({"better": better, "shown": shown})


add("sota/newcomers", newcomers)


def by_task(seed: int):
    rows = bs.leaderboard.board_by_task(evaluations(), random_seed=seed).to_dict()["entries"]
    return each(rows, "skill/mean", "skill/sd", "skill/interval", top=8)


add("board/by-task", by_task)


def score(data, **options):
    """Each classifier by itself."""
    return skills(bs.items.skills_alone(data, **options))


WINOGRANDE = "formats/lm_eval_samples_winogrande_stripped.jsonl"
COUNTS = ((20, 20), (0, 7), (45, 50), (909, 1000))
ALONE = ("answers-example", "answers-clusters", "answers-tasks", "answers-runs-clusters",
         "answers-missing", "dice-example", "livecodebench-execution")  # fmt: skip
add_all("score", score, {name: BOARDS[name] for name in ALONE})
add_all("score", score, {
    "exam-example": evaluations,
    "exam-new-runs": {"data": evaluations, "new": "runs"},
    "exam-new-tasks": {"data": evaluations, "new": "tasks"},
    "exam-pass-at-2": {"data": evaluations, "passes": (2, False)},
    "exam-all-of-2": {"data": evaluations, "passes": (2, True)},
    "livecodebench-pass-at-5": {"data": BOARDS["livecodebench-repair"], "passes": (5, False)},
    "winogrande": lambda: bs.read_outcomes(real(WINOGRANDE)),
})  # fmt: skip
add("score/counts", lambda: skills(bs.items.skill_of_counts(*one) for one in COUNTS))


@cache
def two_boards(n_test: tuple[int, int] | None) -> bs.PairedBoards:
    rng = np.random.default_rng(5)
    skill = 0.8 - 0.05 * rng.exponential(size=30)
    return bs.PairedBoards(
        rng.binomial(300, skill) / 300, rng.binomial(600, skill) / 600, n_test=n_test
    )


NAMED = ("theta_sota", "winner_skill", "multiplicity_bias", "rho", "score_shift", "residual_sd")


def paired(data: bs.PairedBoards, seed: int, **options):
    """Estimands of two boards, their best teams, and what gained beyond luck."""
    tree = bs.estimate_paired(data, random_seed=seed, **options)
    report = bs.leaderboard.describe_paired(tree, data).to_dict()
    estimands = pick(report, *(f"{name}/{part}" for name in NAMED for part in
                               ("mean", "sd", "interval") if name in report))  # fmt: skip
    teams = sorted(report["entries"], key=lambda row: -row["public_score"])
    leader = {"p_best": max(row["p_best"] for row in report["best"])}
    return (
        estimands | each(teams, "skill") | leader | pick(report, "public_winner/expected_private")
    )


def challenge(name: str) -> bs.PairedBoards:
    return bs.read_paired_boards(real(f"paired_leaderboards/2021-{name}__paired.csv"))


DIGITS = "public_private.csv"
add_all("paired", paired, {
    "sizes": lambda: two_boards((300, 600)),
    "learnt-noise": lambda: two_boards(None),
    "example": lambda: bs.read_paired_boards(example(DIGITS), n_test=(250, 1000)),
    "mteb": mteb,
    "prostate": {"data": lambda: challenge("prostate"), "top": 0.05, "draws": 300},
})  # fmt: skip

MODELS = {
    "board": lambda: bs.leaderboard.build_model(BOARDS["accuracies"]()),
    "board-normal": lambda: bs.leaderboard.build_model(BOARDS["accuracies"](), family="normal"),
    "board-gaussian": lambda: bs.leaderboard.build_model(BOARDS["gaussian"]()),
    "items": lambda: bs.items.build_model(answers()),
}
add_all("model", log_densities, MODELS)
