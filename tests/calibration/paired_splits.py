"""Two boards with a known truth: answers of real classifiers, their items split in two.

``BAYES_SOTA_DATA=... python tests/calibration/paired_splits.py [BOARDS] [JOBS]`` draws classifiers
and, for each board, other items of CIFAR-10 and of ChemBench; the truth is the share of right
answers over all items. Half of the boards keep their numbers of items to themselves, so that the
noise must be learnt; the others are judged again with one of their best 30 % as an anchor, which
does not compete, and without it. Printed by matrix and by what is known: root mean square error,
bias, coverage of 95 % intervals and interval score of theta_sota and winner_skill. The
documentation has the table (docs/measured/paired.md).
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

import bayes_sota as bs
from bayes_sota.core.parallel import run_each

CASES = (
    ("cifar10/correct_cifar10_test.csv", (300, 700)),
    ("cifar10/correct_cifar10_test.csv", (1000, 3000)),
    ("chembench/correct_chembench.csv", (200, 400)),
    ("chembench/correct_chembench.csv", (600, 1200)),
)
ALPHA = 0.05


def judged(index: int) -> list[dict]:
    """Errors and intervals of one pair of boards, perhaps with and without an anchor."""
    name, sizes = CASES[index % len(CASES)]
    file = Path(os.environ["BAYES_SOTA_DATA"]) / name
    rng, table = np.random.default_rng([7, index]), pd.read_csv(file)
    answers = table.drop(columns=table.columns[0]).to_numpy(float)
    chosen = rng.choice(answers.shape[1], int(rng.integers(12, answers.shape[1] + 1)), False)
    answers = answers[:, chosen]
    truth = answers.mean(axis=0)
    x, y = (answers[rng.choice(len(answers), n)].mean(axis=0) for n in sizes)
    if index // len(CASES) % 2:
        cases = {"nothing": bs.PairedBoards(x, y)}
    else:
        boards = bs.PairedBoards(x, y, n_test=sizes)
        near = np.argsort(-(x + y))[: max(2, round(0.3 * x.size))]
        anchor = int(rng.choice(near))
        known = {boards.names[anchor]: float(truth[anchor])}
        anchored = bs.with_known(boards, known, only=list(known))
        alone = anchored.copy_with(anchors=None)
        cases = {"sizes": boards, "sizes, one less": alone, "sizes, it is an anchor": anchored}
    of = dict(zip(next(iter(cases.values())).names, truth.tolist(), strict=True))
    return [
        row | {"matrix": name.split("/")[0], "sizes": str(sizes), "known": known, "index": index}
        for known, boards in cases.items()
        for row in errors_of(boards, of, index)
    ]


def errors_of(boards: bs.PairedBoards, truth: dict[str, float], seed: int) -> Iterator[dict]:
    """Of the skill of the best, and of the public winner."""
    tree = bs.estimate_paired(boards, random_seed=seed, groups="estimands")
    skills = [truth[name] for name in boards.names]
    true = {"theta_sota": max(skills), "winner_skill": skills[boards.public_winner]}
    for quantity, value in true.items():
        draws = tree["posterior"][quantity].values.ravel()
        low, high = np.quantile(draws, [ALPHA / 2, 1 - ALPHA / 2])
        outside = max(low - value, 0.0) + max(value - high, 0.0)
        yield {
            "quantity": quantity, "error": draws.mean() - value,
            "covered": low <= value <= high, "score": high - low + 2 / ALPHA * outside,
        }  # fmt: skip


def main(boards: int, jobs: int) -> None:
    """Print the table."""
    rows = [row for _, found in run_each(judged, list(range(boards)), cores=jobs) for row in found]
    frame = pd.DataFrame(rows)
    frame["square"] = frame["error"] ** 2
    if len(sys.argv) > 3:
        frame.to_csv(sys.argv[3], index=False)
    by = frame.groupby(["quantity", "matrix", "known"])
    table = by[["error", "square", "covered", "score"]].mean()
    table["square"] = np.sqrt(table["square"])
    table.columns = ["bias", "rmse", "covered", "interval score"]
    print(table.assign(boards=by.size()).round(4).to_string())


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:3]))
