"""Errors and power of verdicts about two classifiers, at any look and at the end.

``BAYES_SOTA_DATA=... python tests/calibration/anytime.py [TRAJECTORIES]`` takes pairs of
classifiers of CIFAR-10 and ChemBench, with their items in random order. Equal pairs come from
exchanging the two classifiers at random in every item. Printed: how often equal pairs got a verdict
at any of up to 2,000 items, by evidence that may be looked at after each, by the paired interval
looked at after every 50 items, and by that interval at the end; and of true pairs how many verdicts
were right and how many items they took, beside those at the end.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from bayes_sota.core.parallel import run_each
from bayes_sota.items.anytime import anytime_evidence
from bayes_sota.items.comparison import probability_not_better

ITEMS, EVERY, ALPHA = 2000, 50, 0.025
FILES = {"cifar10": "correct_cifar10_test.csv", "chembench": "correct_chembench.csv"}


def judged(place: tuple[str, int]) -> dict:
    kind, index = place
    rng = np.random.default_rng([list(FILES).index(kind), index])
    file = Path(os.environ["BAYES_SOTA_DATA"]) / kind / FILES[kind]
    answers = pd.read_csv(file).drop(columns="item").to_numpy()
    pair = rng.choice(answers.shape[1], 2, replace=False)
    rows = rng.permutation(len(answers))[:ITEMS]
    d = answers[rows, pair[0]] - answers[rows, pair[1]]
    truth = answers[:, pair[0]].mean() - answers[:, pair[1]].mean()
    equal = d * rng.choice([-1, 1], d.size)
    found = {"kind": kind}
    for name, values in (("equal", equal), ("true", d)):
        evidence = anytime_evidence(values)
        better, worse = (evidence.first(x, ALPHA) for x in (evidence.better, evidence.worse))
        ups, downs = np.cumsum(values == 1), np.cumsum(values == -1)
        p = probability_not_better(ups, downs)
        told = (p < ALPHA) | (p > 1 - ALPHA)
        found |= {
            f"{name}: any look": better is not None or worse is not None,
            f"{name}: interval at each look": told[EVERY - 1 :: EVERY].any(),
            f"{name}: interval at the end": told[-1],
        }
        if name == "true":
            right, wrong = (better, worse) if truth > 0 else (worse, better)
            found |= {
                "right": right is not None, "wrong": wrong is not None, "items": right,
                "gap": abs(truth),
            }  # fmt: skip
    return found


def main(trajectories: int) -> None:
    places = [(kind, index) for kind in FILES for index in range(trajectories)]
    rows = pd.DataFrame([row for _, row in run_each(judged, places, cores=2)])
    print(rows.groupby("kind").mean().round(4).T.to_string())
    print(rows.groupby("kind")["items"].median())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
