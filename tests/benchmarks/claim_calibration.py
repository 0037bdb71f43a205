"""How often equal methods are told apart (docs/measured/claims.md).

``python tests/benchmarks/claim_calibration.py`` (about two minutes) counts claims with
P(false) < .05 among equal methods, for clusters and AUCs; nominal is 10 %, because either of
two may win.
"""

from collections.abc import Iterator

import numpy as np

import bayes_sota as bs
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


def clustered(rng: np.random.Generator, sizes: list[int], correlation: float) -> bs.Outcomes:
    """Two equal methods whose answers come in clusters."""
    mean = (1 / correlation - 1) * np.array([0.75, 0.08, 0.08, 0.09])
    cells = rng.dirichlet(mean, len(sizes))
    table = np.concatenate([rng.choice(4, n, p=p) for n, p in zip(sizes, cells, strict=True)])
    answers = np.column_stack([np.isin(table, (0, 1)), np.isin(table, (0, 2))])
    return bs.Outcomes(answers, clusters=[str(c) for c in np.repeat(range(len(sizes)), sizes)])


def aucs(rng: np.random.Generator, positive: int, n: int) -> bs.Outcomes:
    """Two equal scores with a common part."""
    labels = np.arange(n) < positive
    shared = labels * 1.2 + rng.normal(size=n)
    return bs.Outcomes(shared[:, None] + rng.normal(size=(n, 2)), labels=labels)


def equals() -> Iterator[tuple[str, str, float, float]]:
    """Kind, case, share of claims, and the share without clusters or classes."""
    rng = np.random.default_rng(0)
    for name, sizes in CLUSTERS.items():
        found = np.zeros(2)
        for _ in range(REPEATS):
            data = clustered(rng, sizes, 0.3)
            found[0] += compare_methods(data, draws=1, random_seed=rng).p_false < LEVEL
            plain = bs.Outcomes(data.correct)
            found[1] += compare_methods(plain, draws=1, random_seed=rng).p_false < LEVEL
        yield "clusters", name, *(found / REPEATS)
    for positive, n in CLASSES:
        made = sum(
            compare_methods(aucs(rng, positive, n), draws=500, random_seed=rng).p_false < LEVEL
            for _ in range(REPEATS)
        )
        yield "AUC", f"{positive} positive of {n}", made / REPEATS, np.nan


if __name__ == "__main__":
    for kind, case, share, ignoring in equals():
        print(f"| {kind} | {case} | {share:.3f} | {ignoring:.3f} |", flush=True)
