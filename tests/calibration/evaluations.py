"""Both routes from answers with tasks and runs: do they agree, and do their intervals hold?

``BAYES_SOTA_DATA=... python tests/calibration/evaluations.py real BOARDS FILE`` draws six language
models, five tasks and 30 items of each (LiveCodeBench repair, items with replacement), and compares
the model of ``items.build_model``, sampled by NUTS, with ``board_posterior``: means, standard
deviations, and how often intervals hold the share over all items and runs.
``... simulated BOARDS FILE`` does so for classifiers with known skills, whose laws are mostly not
the model's. Each board's rows are added to the file, of which a later run goes on.
"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from calibration.judged_boards import interval_score
from scipy.special import expit

import bayes_sota as bs
from bayes_sota.core.sample import run_nuts
from bayes_sota.items.models import build_model
from bayes_sota.leaderboard.posterior import board_posterior

SAMPLER = {"draws": 500, "tune": 500, "chains": 2, "cores": 1, "target_accept": 0.95}
ENTRIES, RUNS = 6, 10
ESTIMANDS = ("skill", "theta_sota", "winner_skill")

Board = tuple[bs.Outcomes, np.ndarray]
"""Answers, and the true skills."""


def real(rng: np.random.Generator, runs: int, sizes: tuple[int, ...], average: str) -> Board:
    """Items of some of the tasks; of ten runs all, or one answer drawn from them."""
    from tasks_and_clusters import shares

    share, items = shares("repair")
    label = (items["platform"] + "/" + items["difficulty"]).to_numpy()
    names, counts = np.unique(label, return_counts=True)
    chosen = rng.choice(names[counts >= max(sizes)], len(sizes), replace=False)
    of_task = [np.flatnonzero(label == name) for name in chosen]
    rows = np.concatenate([rng.choice(r, n) for r, n in zip(of_task, sizes, strict=True)])
    entries = rng.choice(share.shape[1], ENTRIES, replace=False)
    p, tasks = share[np.ix_(rows, entries)], np.repeat(chosen, sizes).tolist()
    weights = np.array(sizes if average == "items" else np.ones(len(sizes)))
    means = [share[r][:, entries].mean(axis=0) for r in of_task]
    truth = np.average(means, axis=0, weights=weights)
    given = p if runs == RUNS else rng.binomial(runs, p) / runs
    return bs.Outcomes(given, tasks=tasks, n_runs=runs, average=average), truth  # type: ignore[arg-type]


EQUAL, UNEQUAL = (30,) * 5, (10, 20, 30, 40, 50)
REAL: dict[str, Callable[[np.random.Generator], Board]] = {
    "30 items of five tasks, 1 run": lambda rng: real(rng, 1, EQUAL, "tasks"),
    "30 items of five tasks, 10 runs": lambda rng: real(rng, 10, EQUAL, "tasks"),
    "10 to 50 items, items equal, 1 run": lambda rng: real(rng, 1, UNEQUAL, "items"),
    "10 to 50 items, tasks equal, 1 run": lambda rng: real(rng, 1, UNEQUAL, "tasks"),
}


type Noise = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]
"""Numbers of mean 0 and sd 1."""


def normal(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(size)


def heavy(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    return rng.standard_t(3, size) / np.sqrt(3)


def skewed(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    return 1 - rng.exponential(size=size)


def halves(rng: np.random.Generator, size: tuple[int, ...]) -> np.ndarray:
    return rng.choice([-1.0, 1.0], size)


def simulated(
    rng: np.random.Generator,
    *,
    middle: float = 0.5,
    entry: tuple[Noise, float] = (normal, 0.5),
    task: tuple[Noise, float] = (normal, 1.0),
    item: tuple[Noise, float] = (normal, 2.0),
    own: tuple[Noise, float] = (normal, 1.0),
    interaction: float = 0.3,
    tasks: int = 5,
    items: int = 30,
    cluster: int = 1,
    runs: int = 1,
) -> Board:
    """Classifiers whose log odds have such laws and sds; a cluster is so many items of a task.

    What clusters add to all has the sd 1, to one classifier .7.
    """

    def drawn(law: tuple[Noise, float], *size: int) -> np.ndarray:
        return law[1] * law[0](rng, size)

    level = middle + drawn(task, tasks, 1) + drawn(entry, ENTRIES)
    level = level + interaction * rng.standard_normal((tasks, ENTRIES))

    def chances(n: int) -> np.ndarray:
        """Chances at n items of each task, (tasks, n, entries)."""
        odds = 1.5 * level[:, None] + drawn(item, tasks, n, 1) + drawn(own, tasks, n, ENTRIES)
        if cluster > 1:
            shared = drawn((normal, 1.0), tasks, n // cluster, 1)
            shared = shared + drawn((normal, 0.7), tasks, n // cluster, ENTRIES)
            odds = odds + np.repeat(shared, cluster, axis=1)
        return np.asarray(expit(odds))

    truth = chances(20_000).mean(axis=(0, 1))
    right = rng.binomial(runs, chances(items).reshape(-1, ENTRIES)) / runs
    names = np.repeat([f"task {t:02}" for t in range(tasks)], items).tolist()
    places = None if cluster == 1 else (np.arange(tasks * items) // cluster).astype(str).tolist()
    return bs.Outcomes(right, tasks=names, clusters=places, n_runs=runs), truth


SIMULATED: dict[str, Callable[[np.random.Generator], Board]] = {
    name: partial(simulated, **settings)
    for name, settings in {
        "normal": {},
        "skewed skills, strong interaction, 3 runs": {
            "entry": (skewed, 0.6), "interaction": 1.0, "runs": 3
        },
        "heavy tails": {"entry": (heavy, 0.5), "item": (heavy, 2.0), "own": (heavy, 1.0)},
        "easy and hard tasks": {"task": (halves, 1.5)},
        "easy and hard items": {"item": (halves, 2.0)},
        "skills near .5 and .97": {"middle": 2.0, "entry": (halves, 2.0), "task": (normal, 0.2)},
        "clusters of 5": {"cluster": 5},
        "clusters of 5, 3 runs": {"cluster": 5, "runs": 3},
        "fifteen tasks of 10": {"tasks": 15, "items": 10},
    }.items()
}  # fmt: skip


def judged(place: tuple[str, int]) -> list[dict]:
    """Rows of one board."""
    kind, number = place
    kinds = REAL | SIMULATED
    rng = np.random.default_rng([20_261_125, list(kinds).index(kind), number])
    data, truth = kinds[kind](rng)
    trace = run_nuts(build_model(data), rng, **SAMPLER)
    return compared(kind, number, data, truth, trace)


def compared(kind, number, data, truth, trace) -> list[dict]:  # type: ignore[no-untyped-def]
    """Both routes."""
    import arviz as az

    fast = board_posterior(data, draws=4000, random_seed=number)
    draws = {name: fast.draws[name] for name in ESTIMANDS[1:]} | {"skill": fast.entries.skill}
    winner, posterior = int(np.argmax(data.scores)), trace["posterior"].to_dataset()
    r_hat = max(float(v.max()) for v in az.rhat(posterior).data_vars.values())
    rows = []
    for name in ESTIMANDS:
        a = draws[name].reshape(len(fast.entries.skill), -1)
        b = posterior[name].values.reshape(len(posterior.chain) * len(posterior.draw), -1)
        row = {
            "boards": kind, "number": number, "estimand": name,
            "difference": np.mean((b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)),
            "size": np.mean(np.abs(b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)),
            "ratio": np.mean(b.std(axis=0) / a.std(axis=0)),
            "r_hat": r_hat, "divergences": int(trace["sample_stats"]["diverging"].sum()),
        }  # fmt: skip
        true = {"skill": truth, "theta_sota": truth.max(), "winner_skill": truth[winner]}[name]
        raw = data.scores if name == "skill" else data.scores.max()
        row["raw"] = float(np.mean((raw - true) ** 2))
        for route, values in (("fast", a), ("nuts", b)):
            low, high = np.quantile(values, [0.025, 0.975], axis=0)
            row[f"covered, {route}"] = np.mean((low <= true) & (true <= high))
            row[f"score, {route}"] = np.mean(interval_score(low, high, true))
            row[route] = float(np.mean((values.mean(axis=0) - true) ** 2))
        rows.append(row)
    return rows


def described(frame: pd.DataFrame) -> str:
    """Tables of what was found: errors are relative to those of the scores."""
    cells = frame.groupby(["boards", "estimand"], sort=False)
    table = cells.mean().drop(columns=["r_hat", "divergences", "number"])
    for route in ("fast", "nuts"):
        table[route] = np.sqrt(table[route] / table["raw"])
    trust = frame[frame["estimand"] == "skill"].groupby("boards", sort=False)
    summary = trust.agg({"r_hat": ["count", "median", "max"], "divergences": ["sum", "max"]})
    tables = (table.drop(columns="raw"), summary)
    return "\n".join(one.round(3).to_string() for one in tables)


def main() -> None:
    """Judge the boards that the file of rows lacks, and print the tables after each round."""
    what, boards, file = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    kinds = REAL if what == "real" else SIMULATED
    rows = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
    done = {(row["boards"], row["number"]) for row in rows}
    for number in range(boards):
        for kind in kinds:
            if (kind, number) not in done:
                found = judged((kind, number))
                with file.open("a") as lines:
                    lines.writelines(json.dumps(row, default=float) + "\n" for row in found)
                rows += found
        print(f"{number + 1} boards\n{described(pd.DataFrame(rows))}", flush=True)


if __name__ == "__main__":
    main()
