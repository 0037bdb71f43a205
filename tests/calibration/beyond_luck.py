"""Gains on a public board beyond luck: false findings and power, on real answers.

``BAYES_SOTA_DATA=... python tests/calibration/beyond_luck.py [BOARDS]`` makes fields of 100 votes
of three to nine networks of CIFAR-10, with 2,000 public and 4,000 private items, all different. In
half of the boards nobody gained; in the others ten teams know some public items by heart: a share
of their wrong public answers is set right. Printed: boards with any finding, findings that are
false, and teams that were found, by how many standard errors of a difference their scores rose.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_sota as bs
from bayes_sota.core.parallel import run_each
from bayes_sota.leaderboard.sample_estimate import estimate_paired
from bayes_sota.leaderboard.summary_pairs import describe_paired

TEAMS, CHEATS, PUBLIC, PRIVATE = 100, 10, 2000, 4000
SHARES = (0.1, 0.3)  # of the wrong public answers that are known


def judged(index: int) -> dict:
    rng = np.random.default_rng(index)
    file = Path(os.environ["BAYES_SOTA_DATA"]) / "cifar10" / "correct_cifar10_test.csv"
    answers = pd.read_csv(file).drop(columns="item").to_numpy()
    items = rng.permutation(len(answers))[: PUBLIC + PRIVATE]
    votes = np.empty((items.size, TEAMS), bool)
    for team in range(TEAMS):
        members = rng.choice(answers.shape[1], int(rng.choice([3, 5, 7, 9])), replace=False)
        votes[:, team] = answers[np.ix_(items, members)].mean(axis=1) > 0.5
    public, private = votes[:PUBLIC].astype(float), votes[PUBLIC:].astype(float)
    share = (0.0, SHARES[0], 0.0, SHARES[1])[index % 4]
    honest = public.mean(axis=0)
    known = (rng.random((PUBLIC, CHEATS)) < share) & (public[:, :CHEATS] == 0)
    public[:, :CHEATS] += known
    names = [f"t{j}" for j in range(TEAMS)]
    boards = bs.PairedBoards(
        public.mean(axis=0), private.mean(axis=0), names=names, n_test=(PUBLIC, PRIVATE)
    )
    known = {"draws": 100, "chains": 4, "top": 1.0, "groups": "estimands"}
    tree = estimate_paired(boards, random_seed=index, **known)
    found = {int(name[1:]) for name in describe_paired(tree, boards).content["gained_beyond_luck"]}
    gain = (public.mean(axis=0) - honest)[:CHEATS].mean()
    usual = np.std((honest - private.mean(axis=0))[CHEATS:])
    true = {j for j in found if j < CHEATS and share}
    return {
        "known": share, "findings": len(found), "any": bool(found),
        "false": len(found) - len(true), "found of ten": len(true), "gain in sd": gain / usual,
    }  # fmt: skip


def main(boards: int) -> None:
    rows = pd.DataFrame([row for _, row in run_each(judged, list(range(boards)), cores=2)])
    print(rows.groupby("known").mean().round(3).to_string())
    told = rows[rows["known"] > 0]
    print("false of all findings", told["false"].sum(), "of", told["findings"].sum())


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
