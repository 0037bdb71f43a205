"""How often intervals of Bayesian EPP hold the skills: the quick route, and NUTS beside it.

Run with ``nice -n 19 python tests/calibration/epp_bayes.py quick`` (about ten minutes on one core)
and ``... nuts`` (about twenty). Each prints a table for docs/measured/epp.md.

Skills are normal with the sd of the column, drawn anew for every tournament; "Student" has fixed
skills, scores with tails of Student's t with 2.5 degrees of freedom, and the estimate of 20,000
rounds as the truth. "Penalty" adds half a round of ties. Real rounds are accuracies of thirty, or
the best ten, classifiers on 50 items of CIFAR-10's test set (``BAYES_SOTA_DATA``); the truth is the
estimate of 20,000 rounds. Tournaments without finite estimates are counted and left out of the
quick route; NUTS judges the same tournaments.
"""

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.epp.counts import ranks_of_rounds
from bayes_sota.epp.models import order_rounds

PLAYERS, ROUNDS = (5, 12, 30), (5, 10, 20, 50)
QUICK, NUTS = 100, 30  # tournaments in each cell
KINDS = {"equal": 0.0, "sd 1": 1.0, "wide, sd 2": 2.0}
Tournament = tuple[bs.ScoreTable, np.ndarray]


def drawn(players: int, rounds: int, sd: float, seed: int) -> Tournament:
    """Plackett-Luce rankings, and the skills behind them."""
    rng = np.random.default_rng([players, rounds, seed])
    skills = sd * rng.standard_normal(players)
    skills -= skills.mean()
    return bs.ScoreTable(skills + rng.gumbel(size=(rounds, players)), scheme="model/cv"), skills


@cache
def student(players: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of the players, and the EPP that 20,000 rounds estimate."""
    rng = np.random.default_rng(players)
    places = 1.5 * rng.standard_normal(players)
    return places, bs.fit_epp(places + rng.standard_t(2.5, (20_000, players))).epp


def heavy(players: int, rounds: int, seed: int) -> Tournament:
    """Rounds with heavy tails."""
    places, truth = student(players)
    rng = np.random.default_rng([players, rounds, seed, 1])
    return bs.ScoreTable(places + rng.standard_t(2.5, (rounds, players))), truth


@cache
def classifiers(best: int) -> tuple[np.ndarray, np.ndarray]:
    """Right answers to every item, and the EPP of 20,000 rounds."""
    path = Path(os.environ["BAYES_SOTA_DATA"]) / "cifar10" / "correct_cifar10_test.csv"
    correct = bs.read_outcomes(path).correct.astype(float)
    correct = correct[:, np.argsort(-correct.mean(axis=0))[:best]]
    return correct, bs.fit_epp(real_rounds(correct, 20_000, np.random.default_rng(0))).epp


def real_rounds(correct: np.ndarray, number: int, rng: np.random.Generator) -> np.ndarray:
    """Accuracies on 50 items each; items of a round differ."""
    items = (rng.choice(len(correct), 50, replace=False) for _ in range(number))
    return np.stack([correct[rows].mean(axis=0) for rows in items])


def real(players: int, rounds: int, seed: int) -> Tournament:
    """Rounds of CIFAR-10."""
    correct, truth = classifiers(players)
    rng = np.random.default_rng([players, rounds, seed, 2])
    return bs.ScoreTable(real_rounds(correct, rounds, rng)), truth


def held(draws: np.ndarray, truth: np.ndarray) -> list[float]:
    """Shares of skills and of differences in their intervals."""
    first, second = np.triu_indices(truth.size, 1)
    shares = []
    for x, value in (
        (draws, truth),
        (draws[:, first] - draws[:, second], truth[first] - truth[second]),
    ):
        low, high = np.quantile(x, [0.025, 0.975], axis=0)
        shares.append(float(np.mean((low <= value) & (value <= high))))
    return shares


def inferred(table: bs.ScoreTable, seed: int, penalty: float = 0.0) -> np.ndarray:
    """Draws of the quick route."""
    fit = bs.fit_epp(table, penalty=penalty)
    tree = bs.epp.infer_skills(fit, draws=500, random_seed=seed)
    return tree["posterior"]["epp"].values.reshape(-1, table.n_players)


def row(name: str, players: int, rounds: int, judged: list[list[float]], refused: int) -> str:
    """One line: means in per cent with standard errors between tournaments."""
    found = np.array(judged)
    mean = found.mean(axis=0)
    error = found.std(axis=0) / np.sqrt(max(len(found), 1))
    cells = [f"{100 * m:.1f} ± {100 * e:.1f}" for m, e in zip(mean, error, strict=True)]
    return f"| {name} | {players} | {rounds} | {' | '.join(cells)} | {refused} |"


def quick() -> Iterator[str]:
    """Cells of the quick route."""
    sources: dict[str, tuple[Callable[..., Tournament], float]] = {
        name: (lambda m, r, s, sd=sd: drawn(m, r, sd, s), 0.0) for name, sd in KINDS.items()
    }
    sources["sd 1, penalty"] = (lambda m, r, s: drawn(m, r, 1.0, s), 0.5)
    sources["Student"] = (heavy, 0.0)
    cells = [*product(sources.items(), PLAYERS, ROUNDS)]
    cells += [*product([("CIFAR-10", (real, 0.0))], (10, 30), ROUNDS)]
    for (name, (source, penalty)), players, rounds in cells:
        judged, refused = [], 0
        for seed in range(QUICK):
            table, truth = source(players, rounds, seed)
            try:
                judged.append(held(inferred(table, seed, penalty), truth))
            except InputError:
                refused += 1
        if judged:
            yield row(name, players, rounds, judged, refused)


def sampled(compiled: Any, table: bs.ScoreTable, seed: int) -> np.ndarray:
    """Draws of NUTS, of a model compiled once for tables of this size."""
    import nutpie

    orders = order_rounds(ranks_of_rounds(table.oriented))
    data = {f"round_{name}": values for name, values in orders._asdict().items()}
    settings: dict[str, Any] = {"draws": 500, "tune": 500, "chains": 2, "cores": 1}
    trace = nutpie.sample(
        compiled.with_data(**data), seed=seed, progress_bar=False, target_accept=0.9, **settings
    )
    return trace.posterior["epp"].values.reshape(-1, table.n_players)


def nuts() -> Iterator[str]:
    """Both routes on the same tournaments, those without finite estimates by NUTS alone."""
    import nutpie

    cells = [("sd 1", lambda m, r, s: drawn(m, r, 1.0, s), m, r)
             for m, r in ((5, 5), (5, 20), (12, 10), (12, 20), (30, 10))]  # fmt: skip
    cells += [("Student", heavy, 12, 20), ("CIFAR-10", real, 10, 20), ("CIFAR-10", real, 30, 20)]
    for name, source, players, rounds in cells:
        template = bs.ScoreTable(np.random.default_rng(0).gumbel(size=(rounds, players)))
        compiled = nutpie.compile_pymc_model(bs.epp.build_model(template))
        judged: dict[str, list[list[float]]] = {"NUTS": [], "quick": [], "NUTS, never lost": []}
        for seed in range(NUTS):
            table, truth = source(players, rounds, seed)
            full = held(sampled(compiled, table, seed), truth)
            try:
                judged["quick"].append(held(inferred(table, seed), truth))
                judged["NUTS"].append(full)
            except InputError:
                judged["NUTS, never lost"].append(full)
        for route, found in judged.items():
            if found:
                yield row(f"{name}, {route}", players, rounds, found, NUTS - len(found))


if __name__ == "__main__":
    print("| skills | players | rounds | skills | differences | left out |")
    print("|---|---|---|---|---|---|")
    for line in {"quick": quick, "nuts": nuts}[sys.argv[1]]():
        print(line, flush=True)
