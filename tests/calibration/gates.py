"""How often a gate passes what it should not: ``python tests/calibration/gates.py --pairs 60``.

Needs ``BAYES_SOTA_DATA``. Pairs of real classifiers of five matrices, items drawn with replacement;
the accuracy over all items is the truth. *just inferior*: the margin is by how much the first is
truly worse, so that "not worse by more than the margin" is just false; *equal*: the same with what
the first has more or less added to the limit, so that "better" is just false. A gate at 95 % should
pass in at most 2.5 %. The last column is the share of gates that say so of the first when it is
truly two standard errors better than the limit.
"""

import argparse

import numpy as np
import pandas as pd
from calibration.anchors import matrices
from scipy.stats import binomtest

from bayes_sota.claims.pair import law_of_pair
from bayes_sota.data.outcomes import Outcomes

SIZES, NEEDED = (50, 100, 300, 1000), 0.975


def judge(matrix: Outcomes, n: int, pairs: int, repeats: int) -> list[dict]:
    """Of pairs within five points, the first the worse one."""
    rng = np.random.default_rng([20261129, *matrix.name.encode(), n])
    rows = []
    while len(rows) < pairs * repeats:
        a, b = rng.choice(matrix.n_classifiers, 2, replace=False)
        gap = float(matrix.scores[a] - matrix.scores[b])
        if not -0.05 <= gap <= 0:
            continue
        both = matrix.correct[:, [a, b]]
        error = float(np.std(both[:, 0].astype(float) - both[:, 1]) / np.sqrt(n))
        if not error:
            continue
        for _ in range(repeats):
            drawn = both[rng.integers(0, matrix.n_items, n)]
            law = law_of_pair(Outcomes(drawn, names=["a", "b"]), "a")
            rows.append(
                {
                    "matrix": matrix.name,
                    "n": n,
                    "just inferior": law.at_most(gap) < 1 - NEEDED,
                    "far": law.at_most(gap - 2 * error) < 1 - NEEDED,
                    "equal": abs(gap) < 0.25 * error and law.at_most(0.0) < 1 - NEEDED,
                    "is equal": abs(gap) < 0.25 * error,
                }
            )
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=60, help="of each matrix and size")
    parser.add_argument("--repeats", type=int, default=20)
    asked = parser.parse_args()
    rows = pd.DataFrame(
        [row for m in matrices() for n in SIZES for row in judge(m, n, asked.pairs, asked.repeats)]
    )
    for by in (["n"], ["matrix"]):
        groups = rows.groupby(by)
        found = groups[["just inferior", "far"]].mean()
        found["gates"] = groups.size()
        found["equal"] = groups["equal"].sum() / groups["is equal"].sum()
        found["equal gates"] = groups["is equal"].sum()
        print(found.round(4).to_string())
    wrong = int(rows["just inferior"].sum())
    print("all", wrong / len(rows), binomtest(wrong, len(rows)).proportion_ci(0.95))
