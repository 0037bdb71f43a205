"""Standard errors of other designs, predicted from a pilot of real answers.

``BAYES_SOTA_DATA=... python tests/calibration/pilots.py [PILOTS]`` draws pairs of language models
(LiveCodeBench: 479 questions in 92 clusters, 713 problems in nine tasks, ten runs), a pilot of
clusters, or of items of each task, with replacement and some runs; predicts the standard error of
the difference with other numbers of both (``claim plan --pilot``); and divides it by the standard
deviation of 400 differences that are drawn with those numbers.
"""

import sys
from functools import cache

import numpy as np
import pandas as pd
from tasks_and_clusters import RUNS, shares

import bayes_sota as bs
from bayes_sota.claims.pair import Pilot
from bayes_sota.core.parallel import run_each

REDRAWN = 400
OF_TASK = 80  # items of a task of which a pilot has a part
DESIGNS = {  # parts of the pilot's items, and runs
    "pilot's own": (1.0, None), "one run": (1.0, 1), "ten runs": (1.0, 10),
    "twice the items, one run": (2.0, 1), "half the items, ten runs": (0.5, 10),
}  # fmt: skip


@cache
def matrix(kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of right runs, (items, models), names of groups and the group of each item."""
    share, items = shares("execution" if kind == "clusters" else "repair")
    tasks = items.get("platform", "") + "/" + items.get("difficulty", "")
    names, of = np.unique(items["cluster"] if kind == "clusters" else tasks, return_inverse=True)
    return share, names, of


def drawn(
    rng: np.random.Generator, kind: str, part: float, runs: int, models: np.ndarray
) -> tuple[np.ndarray, list[str], np.ndarray]:
    """Shares of right runs of two models, clusters or tasks of the items, weights of the items."""
    share, names, of = matrix(kind)
    if kind == "clusters":
        chosen = rng.integers(names.size, size=round(part * names.size))
        rows = [np.flatnonzero(of == c) for c in chosen]
        groups = np.repeat(np.arange(len(rows)), [len(r) for r in rows])
        weights = np.ones(groups.size)
    else:
        sizes = np.full(names.size, round(part * OF_TASK))
        rows = [rng.choice(np.flatnonzero(of == t), n) for t, n in enumerate(sizes)]
        groups = np.repeat(np.arange(names.size), sizes)
        weights = np.ones(groups.size)
    chance = share[np.ix_(np.concatenate(rows), models)]
    return rng.binomial(runs, chance) / runs, groups.astype(str).tolist(), weights / weights.sum()


def judged(place: tuple[str, float, int, int]) -> list[dict]:
    """Ratio of predicted and seen standard errors of one pilot."""
    kind, part, runs, number = place
    rng = np.random.default_rng([number, runs, round(100 * part)])
    models = rng.choice(matrix(kind)[0].shape[1], 2, replace=False)
    values, groups, _ = drawn(rng, kind, part, runs, models)
    given = {"clusters": groups} if kind == "clusters" else {"tasks": groups}
    data = bs.Outcomes(values, names=["a", "b"], n_runs=runs if runs > 1 else None, **given)
    pilot = Pilot.of(data, ("a", "b"))
    rows = []
    for name, (times, other) in DESIGNS.items():
        r = other or runs
        if r != runs and runs == 1:
            continue
        gaps, sizes = [], []
        for _ in range(REDRAWN):
            again, _, weights = drawn(rng, kind, times * part, r, models)
            gaps.append(float(weights @ (again[:, 0] - again[:, 1])))
            sizes.append(len(again))
        ratio = pilot.standard_error(round(float(np.mean(sizes))), r) / np.std(gaps)
        rows.append({"pilot": f"{kind}, {part:g} of them, {runs} runs", "design": name,
                     "ratio": ratio, "share_of_runs": pilot.share_of_runs})  # fmt: skip
    return rows


def main() -> None:
    """Print the table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    kinds = [(kind, part, runs) for kind in ("clusters", "tasks") for part in (0.5, 0.25)
             for runs in (3, RUNS)]  # fmt: skip
    places = [(*kind, i) for kind in kinds for i in range(count)]
    rows = [row for _, found in run_each(judged, places) for row in found]
    table = pd.DataFrame(rows).assign(within=lambda x: (x["ratio"] - 1).abs() <= 0.2)
    of = table.groupby(["pilot", "design"], sort=False)["ratio"]
    found = of.quantile([0.1, 0.5, 0.9]).unstack()
    found["within 20 %"] = table.groupby(["pilot", "design"], sort=False)["within"].mean()
    print(found.round(3).to_string())
    print("all", table["within"].mean().round(3))


if __name__ == "__main__":
    main()
