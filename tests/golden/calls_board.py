"""Boards of scores, answers, numbers and two boards; how good one classifier is by itself."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from golden.registry import add, example, real
from golden.results import Numbers, board, each, flat, pick, skills, sota

import bayes_sota as bs

FIXED = bs.FixedCorrelation(0.6)


@cache
def simulated(n: int = 400, entries: int = 12) -> np.ndarray:
    rng = np.random.default_rng(1)
    return rng.binomial(n, 0.9 - 0.02 * rng.random(entries)) / n


@cache
def answers(items: int = 120, runs: int = 1, tasks: int = 0, clusters: bool = False) -> Any:
    """Answers of four methods that agree on what is easy."""
    rng = np.random.default_rng(2)
    ease = rng.normal(size=(items, 1)) + ([[0.8]] if not runs else 0.0)
    share = 1 / (1 + np.exp(-1.5 * ease - [1.8, 1.6, 1.4, 0.6]))
    return bs.Responses(
        rng.binomial(runs, share) / runs,
        names=list("abcd"),
        tasks=[f"t{i % tasks}" for i in range(items)] if tasks else None,
        clusters=[f"c{i // 4}" for i in range(items)] if clusters else None,
        n_runs=runs if runs > 1 else None,
    )


@cache
def many_answers(path: str, columns: int | None = None) -> Any:
    responses = bs.read_responses(real(path))
    return responses.subset(range(columns)) if columns else responses


def evaluations(name: str = "exam.csv", **options: Any) -> Any:
    return bs.read_evaluations(example(name), **options).outcomes


def averages(**options: Any) -> Any:
    columns = [f"digit {i}" for i in range(10)]
    scores = bs.data.read_task_scores(
        example("averages.csv"), task_columns=columns, n_test=120, **options
    )
    return scores.leaderboard()


def live(name: str, score: str) -> Any:
    """Answers of some language models in ten runs."""
    rows = pd.read_csv(real(f"livecodebench/{name}_runs.csv.gz"))
    shares = (rows[score] / rows["runs"]).groupby([rows["item"], rows["model"]]).first().unstack()
    shares = shares[shares.mean().sort_values(ascending=False).index[:8]].dropna()
    about = rows.groupby("item").first().loc[shares.index]
    key, values = ("clusters", "cluster") if "cluster" in rows else ("tasks", "platform")
    groups = about[values].astype(str).tolist()
    return bs.Responses(shares.to_numpy(), names=[*shares.columns], n_runs=10, **{key: groups})


def mteb() -> bs.PairedBoards:
    rows = pd.read_csv(real("mteb_splits/validation_and_test.csv.gz"))
    some = rows[(rows["task"] == "MTOPDomainClassification") & (rows["subset"] == "en")]
    return bs.PairedBoards(some["validation"], some["test"], [*some["model"]], n_test=(2235, 4386))


BOARDS = {
    "leaderboard-example": lambda: bs.read_leaderboard(example("leaderboard.csv"), n_test=250),
    "submissions-example": lambda: bs.read_leaderboard(
        example("submissions.csv"), n_test=1000, submissions="submissions"
    ),
    "averages-example": averages,
    "averages-of-items": lambda: averages(average="items"),
    "lone-average": lambda: bs.read_leaderboard(
        example("averages.csv"), score_column="average", stderr_column="average_stderr"
    ),
    "answers-example": lambda: bs.read_responses(example("answers.csv")),
    "exam-example": evaluations,
    "exam-example-items": lambda: evaluations(average="items"),
    "dice-example": lambda: bs.read_item_scores(example("dice.csv"), metric="mean"),
    "auc-example": lambda: bs.read_item_scores(example("auc.csv")),
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
    "answers-missing": lambda: bs.Responses(
        np.where(np.arange(480).reshape(120, 4) % 11 == 3, np.nan, answers().correct)
    ),
    "answers-twins": lambda: bs.Responses(
        answers().correct[:, [0, 0, 1, 2, 3]], names=["a", "twin", "b", "c", "d"]
    ),
    "rmse-of-items": lambda: bs.ItemScores(
        np.random.default_rng(3).normal(0, [0.9, 1.0, 1.1], (80, 3)), labels=np.zeros(80),
        metric="rmse",
    ),
    "livecodebench-execution": lambda: live("execution", "right"),
    "livecodebench-repair": lambda: live("repair", "right"),
    "chembench": lambda: many_answers("chembench/correct_chembench.csv", 10),
    "cifar10": lambda: many_answers("cifar10/correct_cifar10_test.csv", 10),
    "spaceship": lambda: bs.read_leaderboard(
        real("kaggle/spaceship-titanic__private.csv"), n_test=4277
    ).without(range(30)),
}  # fmt: skip
for _name, _data in BOARDS.items():
    add(f"board/{_name}", lambda seed, data=_data: board(data(), seed))
for _name in (
    "leaderboard-example", "submissions-example", "averages-example", "answers-example", "exam-example",
    "dice-example", "auc-example", "accuracies", "accuracies-few-items", "partial", "own-errors",
    "gaussian", "rmse", "auc", "answers-missing", "answers-runs-tasks", "livecodebench-execution",
    "cifar10",
):  # fmt: skip
    add(f"sota/{_name}", lambda seed, data=BOARDS[_name]: sota(data(), seed))
OPTIONS: dict[str, dict[str, Any]] = {
    "known-rho": {"priors": bs.Priors(correlation=FIXED)},
    "normal": {"priors": bs.Priors(families=("normal",))},
    "image-classifiers": {"domain": "image-classifiers"},
    "tabular-ensembles": {"domain": "tabular", "field": "ensembles"},
}
for _name, _options in OPTIONS.items():
    add(f"sota/accuracies/{_name}", lambda seed, o=_options: sota(
        BOARDS["accuracies"](), seed, **o))  # fmt: skip
for _slug, _n in (
    ("playground-series-s4e2", 11072), ("cassava-leaf-disease-classification", 6618),
    ("tabular-playground-series-apr-2021", 75226),
):  # fmt: skip
    add(f"sota/{_slug}", lambda seed, slug=_slug, n=_n: sota(bs.read_leaderboard(
        real(f"kaggle/{slug}__private.csv"), n_test=n), seed, draws=500))  # fmt: skip
add("sota/nasbench201", lambda seed: sota(bs.Leaderboard(
    pd.read_csv(real("nasbench201/test_accuracy.csv.gz"))["cifar10"].sort_values()[-300:] / 100,
    n_test=10000), seed))  # fmt: skip


def newcomers(seed: int) -> Numbers:
    tree = bs.estimate_sota(BOARDS["accuracies"](), random_seed=seed)
    better = bs.leaderboard.probability_truly_better(tree, 0.92)
    shown = bs.leaderboard.probability_shown(tree, 0.01)
    return flat({"better": better, "shown": shown})


add("sota/newcomers", newcomers)
add("board/by-task", lambda seed: each(bs.leaderboard.board_by_task(
    evaluations(), random_seed=seed).to_dict()["entries"], "skill/mean", "skill/sd",
    "skill/interval", top=8))  # fmt: skip
add("board/require-joint", lambda seed: board(answers(), seed, ranks="joint"))
add("board/each", lambda seed: board(answers(), seed, ranks="each"))
add("board/stepwise", lambda seed: board(answers(), seed, ranks="stepwise"))

ALONE = {
    "exam-example": (evaluations, {}),
    "exam-new-runs": (evaluations, {"new": "runs"}),
    "exam-new-tasks": (evaluations, {"new": "tasks"}),
    "exam-pass-at-2": (evaluations, {"passes": (2, False)}),
    "exam-all-of-2": (evaluations, {"passes": (2, True)}),
    "answers-example": (BOARDS["answers-example"], {}),
    "clusters": (BOARDS["answers-clusters"], {}),
    "tasks": (BOARDS["answers-tasks"], {}),
    "runs-clusters": (BOARDS["answers-runs-clusters"], {}),
    "missing": (BOARDS["answers-missing"], {}),
    "dice-example": (BOARDS["dice-example"], {}),
    "auc-example": (BOARDS["auc-example"], {}),
    "rmse": (BOARDS["rmse-of-items"], {}),
    "livecodebench-execution": (BOARDS["livecodebench-execution"], {}),
    "livecodebench-pass-at-5": (BOARDS["livecodebench-repair"], {"passes": (5, False)}),
}  # fmt: skip
for _name, (_data, _options) in ALONE.items():
    add(f"score/{_name}", lambda data=_data, o=_options: skills(
        bs.items.skills_alone(data(), **o)))  # fmt: skip
add("score/counts", lambda: skills(
    bs.items.skill_of_counts(*one) for one in ((20, 20), (0, 7), (45, 50), (909, 1000))
))  # fmt: skip
add("score/winogrande", lambda: skills(bs.items.skills_alone(bs.read_evaluations(
    real("formats/lm_eval_samples_winogrande_stripped.jsonl")).outcomes)))  # fmt: skip


@cache
def two_boards(n_test: tuple[int, int] | None) -> bs.PairedBoards:
    rng = np.random.default_rng(5)
    skill = 0.8 - 0.05 * rng.exponential(size=30)
    return bs.PairedBoards(
        rng.binomial(300, skill) / 300, rng.binomial(600, skill) / 600, n_test=n_test
    )


NAMED = ("theta_sota", "winner_skill", "multiplicity_bias", "rho", "score_shift", "residual_sd")
PAIRED = {
    "sizes": (lambda: two_boards((300, 600)), {}),
    "learnt-noise": (lambda: two_boards(None), {}),
    "example": (
        lambda: bs.read_paired_boards(example("public_private.csv"), n_test=(250, 1000)), {}
    ),
    "mteb": (mteb, {}),
    "prostate": (
        lambda: bs.read_paired_boards(real("paired_leaderboards/2021-prostate__paired.csv")),
        {"top": 0.05, "draws": 300},
    ),
    "siim-covid19": (
        lambda: bs.read_paired_boards(real("paired_leaderboards/2021-siim-covid19__paired.csv")),
        {"top": 0.05, "draws": 300},
    ),
}  # fmt: skip


def paired(boards: bs.PairedBoards, seed: int, **options: Any) -> Numbers:
    """Estimands of two boards, their best teams, and what gained beyond luck."""
    tree = bs.estimate_paired(boards, random_seed=seed, **options)
    report = bs.paired.describe_paired(tree, boards).to_dict()
    estimands = pick(report, *(f"{name}/{part}" for name in NAMED for part in
                               ("mean", "sd", "interval") if name in report))  # fmt: skip
    best = each(report["best"], "skill", "p_best", top=3)
    return estimands | best | pick(report, "public_winner/expected_private")


for _name, (_data, _options) in PAIRED.items():
    add(f"paired/{_name}", lambda seed, data=_data, o=_options: paired(data(), seed, **o))
