"""Averages over tasks, and clusters of items, on real answers with known truth.

``BAYES_SOTA_DATA=... python tests/calibration/tasks_and_clusters.py [BOARDS]`` prints coverage and
interval scores of theta_sota and of the winner's skill, for the answers as they are and as if every
item counted by itself. Language models answered 479 questions that come in 92 clusters, and 713
problems in nine tasks, ten times each (LiveCodeBench): the truth is the average over all runs.
A board has one run or several, random models, and clusters (or items of each task) drawn with
replacement.
``... new [BOARDS]`` does so for boards about new runs and about new tasks (``--new``), ``... tasks
[BOARDS]`` about new tasks only, and
``... alone [BOARDS]`` prints how often intervals of every classifier by itself
(``bayes-sota score``) hold its skill, on new runs and new tasks too, and of all pairs.
"""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from calibration.judged_boards import interval_score

import bayes_sota as bs
from bayes_sota.core.parallel import run_each
from bayes_sota.items.comparison import compare_methods
from bayes_sota.items.score import skills_alone
from bayes_sota.leaderboard.posterior import board_posterior

SMALLEST = 8
RUNS = 10


def shares(name: str) -> tuple[np.ndarray, pd.DataFrame]:
    """Share of right answers in ten runs, (items, models), and what is known of the items."""
    file = Path(os.environ["BAYES_SOTA_DATA"]) / "livecodebench" / f"{name}_runs.csv.gz"
    rows = pd.read_csv(file)
    table = rows.pivot_table(index="item", columns="model", values="right", aggfunc="first")
    table = table.dropna() / RUNS
    return table.to_numpy(), rows.drop_duplicates("item").set_index("item").loc[table.index]


def clustered(
    rng: np.random.Generator, part: float, runs: int = 1
) -> tuple[bs.Outcomes, np.ndarray]:
    """A part of the clusters; items count equally."""
    share, items = shares("execution")
    names = items["cluster"].unique()
    chosen = rng.choice(names, round(part * names.size))
    rows = [np.flatnonzero(items["cluster"] == name) for name in chosen]
    label = np.repeat(np.arange(chosen.size), [len(row) for row in rows])
    answers, models = some_runs(rng, share, np.concatenate(rows), runs)
    truth = share.mean(axis=0)[models]
    return bs.Outcomes(answers, clusters=label.astype(str), n_runs=runs), truth


def by_task(
    rng: np.random.Generator, sizes: np.ndarray, runs: int = 1, average: str = "tasks"
) -> tuple[bs.Outcomes, np.ndarray]:
    """So many items of each task; tasks or items count equally."""
    share, items = shares("repair")
    task = (items["platform"] + "/" + items["difficulty"]).to_numpy()
    names = np.unique(task)
    sizes = rng.permutation(sizes)
    rows = [
        rng.choice(np.flatnonzero(task == name), size)
        for name, size in zip(names, sizes, strict=True)
    ]
    answers, chosen = some_runs(rng, share, np.concatenate(rows), runs)
    weights = np.ones(names.size) if average == "tasks" else sizes
    means = [share[task == name].mean(axis=0) for name in names]
    truth = np.average(means, axis=0, weights=weights)[chosen]
    tasks = np.repeat(names, sizes)
    return bs.Outcomes(answers, tasks=list(tasks), average=average, n_runs=runs), truth


def some_runs(
    rng: np.random.Generator, share: np.ndarray, rows: np.ndarray, runs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Shares of right answers of random models to some items, and the models."""
    m = share.shape[1]
    chosen = rng.choice(m, int(rng.integers(SMALLEST, m + 1)), replace=False)
    p = share[np.ix_(rows, chosen)]
    return (rng.random((*p.shape, runs)) < p[:, :, None]).mean(axis=2), chosen


def by_itself(rng: np.random.Generator, data: bs.Outcomes) -> bs.Outcomes:
    """Every answer of every run as an item by itself; made again where runs were averaged."""
    if data.n_runs == 1:
        return bs.Outcomes(data.values)
    again = rng.random((data.n_runs, *data.values.shape)) < data.values
    return bs.Outcomes(again.reshape(-1, data.n_classifiers).astype(int))


TINY = np.array([2, 3, 4, *[60] * 6])
KINDS = {
    "half of 92 clusters": lambda rng: clustered(rng, 0.5),
    "an eighth of them": lambda rng: clustered(rng, 0.125),
    "nine tasks of 40": lambda rng: by_task(rng, np.full(9, 40)),
    "three of nine with 2 to 4": lambda rng: by_task(rng, TINY),
    "half of 92 clusters, 3 runs": lambda rng: clustered(rng, 0.5, 3),
    "half of 92 clusters, 10 runs": lambda rng: clustered(rng, 0.5, 10),
    "an eighth of them, 3 runs": lambda rng: clustered(rng, 0.125, 3),
    "an eighth of them, 10 runs": lambda rng: clustered(rng, 0.125, 10),
    "nine tasks of 40, 3 runs": lambda rng: by_task(rng, np.full(9, 40), 3),
    "nine tasks of 40, 10 runs": lambda rng: by_task(rng, np.full(9, 40), 10),
    "nine tasks of 10 to 90, items count the same": lambda rng: by_task(
        rng, np.arange(10, 91, 10), 1, "items"
    ),
    "the same, 3 runs": lambda rng: by_task(rng, np.arange(10, 91, 10), 3, "items"),
    "three of nine with 2 to 4, 3 runs": lambda rng: by_task(rng, TINY, 3),
}


def judged(place: tuple[str, int]) -> list[dict]:
    kind, index = place
    every = KINDS | NEW
    rng = np.random.default_rng([list(every).index(kind), index])
    data, truth = every[kind](rng)
    ways = {"as they are": data, "every item by itself": by_itself(rng, data)}
    found = []
    for how, answers in ways.items():
        posterior = board_posterior(answers, draws=2000, random_seed=index)
        draws = posterior.draws
        winner = float(truth[answers.scores == answers.scores.max()].mean())
        for name, true in (("theta_sota", truth.max()), ("winner_skill", winner)):
            low, high = np.quantile(draws[name], [0.025, 0.975])
            found.append(
                {
                    "boards": kind, "taken": how, "estimand": name,
                    "covered": low <= true <= high, "bias": draws[name].mean() - true,
                    "raw_bias": answers.scores.max() - true,
                    "score": float(interval_score(low, high, true)),
                }
            )  # fmt: skip
        low, high = np.quantile(differences(posterior.entries.skill), [0.025, 0.975], axis=0)
        gap = differences(truth)
        held, score = np.mean((low <= gap) & (gap <= high)), interval_score(low, high, gap)
        place = {"boards": kind, "taken": how, "estimand": "pairs"}
        found.append(place | {"covered": held, "score": float(np.mean(score))})
    return found


def differences(skill: np.ndarray) -> np.ndarray:
    """Of all pairs, (..., pairs)."""
    first, second = np.triu_indices(skill.shape[-1], 1)
    return skill[..., first] - skill[..., second]


def new_runs(rng: np.random.Generator, runs: int) -> tuple[bs.Outcomes, np.ndarray]:
    """Some runs of all models on all items, of which the truth is the mean over ten."""
    share, _ = shares("execution")
    return bs.Outcomes(rng.binomial(runs, share) / runs, n_runs=runs), share.mean(axis=0)


def new_tasks(rng: np.random.Generator, count: int) -> tuple[bs.Outcomes, np.ndarray]:
    """Forty items each of some of nine tasks, drawn with replacement."""
    share, items = shares("repair")
    task = (items["platform"] + "/" + items["difficulty"]).to_numpy()
    names = np.unique(task)
    rows = [rng.choice(np.flatnonzero(task == name), 40) for name in rng.choice(names, count)]
    answers = rng.random((40 * count, share.shape[1])) < share[np.concatenate(rows)]
    truth = np.mean([share[task == name].mean(axis=0) for name in names], axis=0)
    tasks = np.repeat([f"task {k}" for k in range(count)], 40)
    return bs.Outcomes(answers, tasks=list(tasks)), truth


def some(
    rng: np.random.Generator, data: bs.Outcomes, truth: np.ndarray, new: str
) -> tuple[bs.Outcomes, np.ndarray]:
    """Random models of a matrix, which is about something else."""
    chosen = rng.choice(truth.size, int(rng.integers(SMALLEST, truth.size + 1)), replace=False)
    return data.subset(chosen.tolist()).about(new), truth[chosen]


NEW = {
    **{
        f"new runs, of {runs}": lambda rng, runs=runs: some(rng, *new_runs(rng, runs), "runs")
        for runs in (3, 10)
    },
    **{
        f"new tasks, {count} seen": lambda rng, n=count: some(rng, *new_tasks(rng, n), "tasks")
        for count in (3, 5, 8)
    },
}

ALONE = {
    **{kind: ("items", draw) for kind, draw in KINDS.items()},
    "new runs, of 3": ("runs", lambda rng: new_runs(rng, 3)),
    "new runs, of 10": ("runs", lambda rng: new_runs(rng, 10)),
    **{
        f"new tasks, {count} seen": ("tasks", lambda rng, count=count: new_tasks(rng, count))
        for count in (3, 5, 8)
    },
}


def judged_alone(place: tuple[str, int]) -> list[dict]:
    kind, index = place
    rng = np.random.default_rng([list(ALONE).index(kind), index])
    new, draw = ALONE[kind]
    data, truth = draw(rng)
    plain = by_itself(rng, data)
    found = {"boards": kind}
    for how, skills in (
        ("coverage", skills_alone(data, new=new)),
        ("every item by itself", skills_alone(plain)),
    ):
        ends = np.array([skill.interval() for skill in skills])
        found[how] = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
    for how, answers in (("pairs", data.about(new)), ("pairs, every item", plain)):
        draws = compare_methods(answers, draws=2000, random_seed=index).draws
        low, high = np.quantile(differences(draws), [0.025, 0.975], axis=0)
        gap = differences(truth)
        found[how] = np.mean((low <= gap) & (gap <= high))
    return [found]


def rows_of(boards: int, kinds: dict, judge: Callable) -> Iterator[dict]:
    places = [(kind, index) for kind in kinds for index in range(boards)]
    for _, rows in run_each(judge, places, cores=os.cpu_count() or 1):
        yield from rows


if __name__ == "__main__":
    if sys.argv[1:2] == ["alone"]:
        boards = int(sys.argv[2]) if len(sys.argv) > 2 else 200
        frame = pd.DataFrame(rows_of(boards, ALONE, judged_alone))
        print(frame.groupby("boards", sort=False).mean().round(3).to_string())
        sys.exit()
    kinds = NEW if sys.argv[1:2] == ["new"] else KINDS
    if sys.argv[1:2] == ["tasks"]:
        kinds = {kind: draw for kind, draw in NEW.items() if "tasks" in kind}
    boards = int(sys.argv[-1]) if len(sys.argv) > 1 else 120
    frame = pd.DataFrame(rows_of(boards, kinds, judged))
    cells = frame.groupby(["boards", "taken", "estimand"], sort=False)
    table = cells.mean().assign(
        error=cells["bias"].agg(lambda x: np.sqrt(np.mean(x**2))),
        raw_error=cells["raw_bias"].agg(lambda x: np.sqrt(np.mean(x**2))),
    )
    print(table.round(4).to_string())
