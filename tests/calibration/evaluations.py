"""Both routes from answers with tasks and runs: do they agree, and do their intervals hold?

``BAYES_SOTA_DATA=... python tests/calibration/evaluations.py real [BOARDS]`` draws six language
models, five tasks and 30 items of each (LiveCodeBench repair, items with replacement), and compares
the model of ``items.build_model``, sampled by NUTS, with ``items_posterior``: means, standard
deviations, and how often intervals hold the share over all items and runs.
``... simulated [BOARDS]`` does so for classifiers with known skills of several shapes.
"""

import os
import sys
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from scipy.special import expit

import bayes_sota as bs
from bayes_sota.core.parallel import run_each
from bayes_sota.core.sample import run_nuts
from bayes_sota.items.models import build_model
from bayes_sota.items.sample import complete
from bayes_sota.leaderboard.from_items import items_posterior

SAMPLER = {"draws": 500, "tune": 500, "chains": 2, "cores": 1, "target_accept": 0.95}
ENTRIES, RUNS = 6, 10
ESTIMANDS = ("skill", "theta_sota", "winner_skill")

Board = tuple[bs.Responses, np.ndarray]
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
    return bs.Responses(given, tasks=tasks, n_runs=runs, average=average), truth  # type: ignore[arg-type]


EQUAL, UNEQUAL = (30,) * 5, (10, 20, 30, 40, 50)
REAL: dict[str, Callable[[np.random.Generator], Board]] = {
    "30 items of five tasks, 1 run": lambda rng: real(rng, 1, EQUAL, "tasks"),
    "30 items of five tasks, 10 runs": lambda rng: real(rng, 10, EQUAL, "tasks"),
    "10 to 50 items, items equal, 1 run": lambda rng: real(rng, 1, UNEQUAL, "items"),
    "10 to 50 items, tasks equal, 1 run": lambda rng: real(rng, 1, UNEQUAL, "tasks"),
}


def simulated(
    rng: np.random.Generator,
    *,
    skewed: bool = False,
    tasks: int = 5,
    items: int = 30,
    interaction: float = 0.3,
    runs: int = 1,
    kinds: bool = False,
) -> Board:
    """Classifiers whose log odds have such a law; items are normal, or easy and hard ones."""
    offsets = -rng.gamma(1, 0.6, ENTRIES) if skewed else rng.normal(0, 0.5, ENTRIES)
    level = 0.5 + rng.normal(0, 1, (tasks, 1)) + offsets
    level = level + interaction * rng.standard_normal((tasks, ENTRIES))

    def drawn(n: int) -> np.ndarray:
        """Chances at n items of each task, (tasks, n, entries)."""
        size = (tasks, n, 1)
        normal = 2 * rng.standard_normal(size)
        item = np.where(rng.random(size) < 0.5, 2, -2) if kinds else normal
        own = rng.standard_normal((tasks, n, ENTRIES))
        return np.asarray(expit(1.5 * level[:, None] + item + own))

    truth = drawn(20_000).mean(axis=(0, 1))
    right = rng.binomial(runs, drawn(items).reshape(-1, ENTRIES)) / runs
    names = np.repeat([f"task {t:02}" for t in range(tasks)], items).tolist()
    return bs.Responses(right, tasks=names, n_runs=runs), truth


SIMULATED: dict[str, Callable[[np.random.Generator], Board]] = {
    "normal skills": simulated,
    "skewed skills": lambda rng: simulated(rng, skewed=True),
    "three tasks": lambda rng: simulated(rng, tasks=3),
    "fifteen tasks of 10": lambda rng: simulated(rng, tasks=15, items=10),
    "no interaction": lambda rng: simulated(rng, interaction=0.0),
    "strong interaction": lambda rng: simulated(rng, interaction=1.0),
    "easy and hard items": lambda rng: simulated(rng, kinds=True),
    "skewed, strong interaction, 3 runs": lambda rng: simulated(
        rng, skewed=True, interaction=1.0, runs=3
    ),
}


def judged(place: tuple[str, int]) -> list[dict]:
    """Rows of one board."""
    kind, number = place
    kinds = REAL | SIMULATED
    rng = np.random.default_rng([20_261_125, list(kinds).index(kind), number])
    data, truth = kinds[kind](rng)
    trace = run_nuts(build_model(data), rng, **SAMPLER)
    rows = compared(kind, number, data, truth, trace["posterior"].to_dataset(), trace)
    if data.n_runs == RUNS:
        again, about = trace.copy(), data.about("runs")
        of_new = [n for n in trace["posterior"] if n in (*ESTIMANDS, "skill_of_task")]
        again["posterior"] = trace["posterior"].to_dataset().drop_vars(of_new)
        found = complete(again, about, random_seed=number)["posterior"].to_dataset()
        rows += compared(f"{kind}, new runs", number, about, None, found, trace)
    return rows


def compared(kind, number, data, truth, posterior, trace) -> list[dict]:  # type: ignore[no-untyped-def]
    """Both routes; about new runs the truth is not known."""
    import arviz as az

    fast = items_posterior(data, draws=4000, random_seed=number)
    draws = {name: fast.draws[name] for name in ESTIMANDS[1:]} | {"skill": fast.skill}
    winner = int(np.argmax(data.scores))
    r_hat = max(float(v.max()) for v in az.rhat(posterior).data_vars.values())
    rows = []
    for name in ESTIMANDS:
        a = draws[name].reshape(len(fast.skill), -1)
        b = posterior[name].values.reshape(len(posterior.chain) * len(posterior.draw), -1)
        row = {
            "boards": kind, "estimand": name,
            "difference": np.mean((b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)),
            "size": np.mean(np.abs(b.mean(axis=0) - a.mean(axis=0)) / a.std(axis=0)),
            "ratio": np.mean(b.std(axis=0) / a.std(axis=0)),
            "r_hat": r_hat, "divergences": int(trace["sample_stats"]["diverging"].sum()),
        }  # fmt: skip
        if truth is not None:
            true = {"skill": truth, "theta_sota": truth.max(), "winner_skill": truth[winner]}[name]
            raw = data.scores if name == "skill" else data.scores.max()
            row["raw"] = float(np.mean((raw - true) ** 2))
            for route, values in (("fast", a), ("nuts", b)):
                low, high = np.quantile(values, [0.025, 0.975], axis=0)
                row[f"covered, {route}"] = np.mean((low <= true) & (true <= high))
                row[route] = float(np.mean((values.mean(axis=0) - true) ** 2))
        rows.append(row)
    return rows


def rows_of(kinds: dict, boards: int) -> Iterator[tuple[int, list[dict]]]:
    """Rows of all boards so far, after each round of kinds."""
    places = [(kind, number) for number in range(boards) for kind in kinds]
    rows = []
    for done, (_, found) in enumerate(run_each(judged, places, cores=os.cpu_count() or 1), 1):
        rows += found
        if done % len(kinds) == 0:
            yield done // len(kinds), rows


def main() -> None:
    """Print the table after every round of boards: errors are relative to those of the scores."""
    kinds = REAL if sys.argv[1:2] == ["real"] else SIMULATED
    for done, rows in rows_of(kinds, int(sys.argv[2]) if len(sys.argv) > 2 else 20):
        frame = pd.DataFrame(rows)
        cells = frame.groupby(["boards", "estimand"], sort=False)
        table = cells.mean().drop(columns=["r_hat", "divergences"])
        for route in ("fast", "nuts"):
            table[route] = np.sqrt(table[route] / table["raw"])
        print(f"{done} boards\n{table.drop(columns='raw').round(3).to_string()}", flush=True)
        trust = frame[frame["estimand"] == "skill"].groupby("boards", sort=False)
        summary = trust.agg({"r_hat": ["median", "max"], "divergences": ["sum", "max"]})
        print(summary.round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
