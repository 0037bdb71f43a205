"""How often equal methods are told apart, what a picked winner is worth (docs/measured/claims.md).

``python tests/benchmarks/claim_calibration.py equals`` (about two minutes) counts claims with
P(false) < .05 among equal methods, for clusters, AUCs and runs; nominal is 10 %, because either of
two may win. ``... field`` (about eight minutes; ``BAYES_SOTA_DATA`` names the folder of the
CIFAR-10 matrix) compares the winner of m real classifiers with the truth on all 10,000 items.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import bayes_sota as bs
from bayes_sota.claims.selection import claim_of_best_entry
from bayes_sota.items.comparison import compare_methods

REPEATS, LEVEL = 600, 0.05
CLUSTERS = {
    "40 of 5": [5] * 40,
    "10 of 20": [20] * 10,
    "3 of 50": [50] * 3,
    "one of 200, 20 of 10": [200] + [10] * 20,
    "two of 100, 100 single": [100, 100] + [1] * 100,
    "one of 900, 20 of 5": [900] + [5] * 20,
}
CLASSES = ((3, 300), (5, 500), (10, 500), (20, 1000), (100, 300))
RUNS = (
    ((3, 0.01), (3, 0.01)),
    ((5, 0.01), (5, 0.01)),
    ((2, 0.01), (2, 0.01)),
    ((3, 0.02), (10, 0.002)),
    ((2, 0.02), (10, 0.002)),
    ((1, 0.01), (5, 0.01)),
)


def clustered(rng: np.random.Generator, sizes: list[int], correlation: float) -> bs.Responses:
    """Two equal methods whose answers come in clusters."""
    mean = (1 / correlation - 1) * np.array([0.75, 0.08, 0.08, 0.09])
    cells = rng.dirichlet(mean, len(sizes))
    table = np.concatenate([rng.choice(4, n, p=p) for n, p in zip(sizes, cells, strict=True)])
    answers = np.column_stack([np.isin(table, (0, 1)), np.isin(table, (0, 2))])
    return bs.Responses(answers, clusters=[str(c) for c in np.repeat(range(len(sizes)), sizes)])


def aucs(rng: np.random.Generator, positive: int, n: int) -> bs.ItemScores:
    """Two equal scores with a common part."""
    labels = np.arange(n) < positive
    shared = labels * 1.2 + rng.normal(size=n)
    return bs.ItemScores(shared[:, None] + rng.normal(size=(n, 2)), labels=labels)


def runs(
    rng: np.random.Generator, methods: tuple[tuple[int, float], ...]
) -> tuple[bs.ItemScores, list[str]]:
    """Runs of two methods that are equal over all runs that there could be."""
    skill = np.concatenate([rng.normal(0.8, sd, count) for count, sd in methods])
    values = rng.normal(skill, 0.1, (1000, skill.size)) + rng.normal(0, 0.2, (1000, 1))
    names = [f"method {j}" for j, (count, _) in enumerate(methods) for _ in range(count)]
    return bs.ItemScores(values), names


def equals() -> Iterator[tuple[str, str, float, float]]:
    """Kind, case, share of claims, and the share without clusters, classes or runs."""
    rng = np.random.default_rng(0)
    for name, sizes in CLUSTERS.items():
        found = np.zeros(2)
        for _ in range(REPEATS):
            data = clustered(rng, sizes, 0.3)
            found[0] += compare_methods(data, draws=1, random_seed=rng).p_false < LEVEL
            plain = bs.Responses(data.correct)
            found[1] += compare_methods(plain, draws=1, random_seed=rng).p_false < LEVEL
        yield "clusters", name, *(found / REPEATS)
    for positive, n in CLASSES:
        made = sum(
            compare_methods(aucs(rng, positive, n), draws=500, random_seed=rng).p_false < LEVEL
            for _ in range(REPEATS)
        )
        yield "AUC", f"{positive} positive of {n}", made / REPEATS, np.nan
    for methods in RUNS:
        found = np.zeros(2)
        for _ in range(REPEATS):
            data, names = runs(rng, methods)
            found[0] += compare_methods(data, names, draws=500, random_seed=rng).p_false < LEVEL
            own = np.array(names) == names[0]
            means = [data.values[:, own].mean(axis=1), data.values[:, ~own].mean(axis=1)]
            averaged = bs.ItemScores(np.column_stack(means))
            found[1] += compare_methods(averaged, draws=1, random_seed=rng).p_false < LEVEL
        case = " against ".join(f"{count} (sd {sd:g})" for count, sd in methods)
        yield "runs", case, *(found / REPEATS)


def scores(p: np.ndarray, seen: np.ndarray) -> str:
    """Mean probability, share seen, Brier score and log loss."""
    q = np.clip(p, 1e-3, 1 - 1e-3)
    loss = -np.mean(seen * np.log(q) + (1 - seen) * np.log(1 - q))
    return f"{p.mean():.3f} | {seen.mean():.3f} | {np.mean((p - seen) ** 2):.4f} | {loss:.3f}"


def field(boards: int = 25) -> Iterator[str]:
    """Winners of m real classifiers on n items, from scores alone and from answers."""
    path = Path(os.environ["BAYES_SOTA_DATA"]) / "cifar10" / "correct_cifar10_test.csv"
    table = np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:].astype(int)
    skill, rng = table.mean(axis=0), np.random.default_rng(1)
    rows: dict[str, list[tuple[float, ...]]] = {"scores": [], "answers": []}
    for m in (5, 10, 30):
        for n in (200, 500, 1000):
            for _ in range(boards):
                columns = rng.choice(table.shape[1], m, replace=False)
                answers = bs.Responses(table[np.ix_(rng.choice(len(table), n), columns)])
                alone = compare_methods(answers, draws=2000, random_seed=rng)
                truth = skill[columns]
                best = truth[alone.winner] < truth.max()
                worse = truth[alone.winner] <= truth[alone.runner_up]
                for kind, data in (("scores", answers.leaderboard()), ("answers", answers)):
                    of = claim_of_best_entry(data, random_seed=rng)
                    rows[kind].append(
                        (
                            of.p_not_best,
                            alone.p_beaten,
                            of.p_false_selected,
                            alone.p_false,
                            best,
                            worse,
                        )
                    )
    for kind, found in rows.items():
        field_best, joint, corrected, paired, best, worse = np.array(found, float).T
        yield f"| {kind} | another is the best | by the field | {scores(field_best, best)} |"
        yield f"| {kind} | another is the best | these items alone | {scores(joint, best)} |"
        yield f"| {kind} | the runner-up is | by the field | {scores(corrected, worse)} |"
        yield f"| {kind} | the runner-up is | these items alone | {scores(paired, worse)} |"


if __name__ == "__main__":
    if sys.argv[1:] == ["equals"]:
        for kind, case, share, ignoring in equals():
            print(f"| {kind} | {case} | {share:.3f} | {ignoring:.3f} |", flush=True)
    elif sys.argv[1:] == ["field"]:
        for line in field():
            print(line, flush=True)
    else:
        sys.exit("say equals or field")
