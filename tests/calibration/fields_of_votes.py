"""Fields whose entries share members: ``fields_of_votes.py learn|judge``.

An entry is a vote of three to nine classifiers of a matrix of real answers, drawn at random from
all, from the stronger half, or without the strongest third; every other vote weighs its members by
exponential numbers. It is right where more than half of the weight is.

``learn`` compares rho among the leaders of such fields with rho among the leaders of fields of
single classifiers of the same matrix: the shift of its log odds, from which ``models/`` has the
priors of ensembles. ``judge`` draws boards of votes from two matrices. Each is judged by the
default prior and by priors of ensembles that it has no part in: single classifiers of all other
matrices, and the shift of the other of the two.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from calibration.judged_boards import FIELDS, judge_board, summarize_judgements
from correlation_by_domain import (
    TABLES,
    beta_of,
    domain_of,
    draw_real_board,
    learn_all,
    learn_priors,
    real_matrices,
    table_answers,
)

from bayes_sota.core.priors import BetaCorrelation, BoardPriors
from bayes_sota.core.skills import logit
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.correlation import response_correlation

JUDGED = {"cifar10": "chembench", "chembench": "cifar10"}  # and where the shift comes from
SEED = 20261125
REPEATS = 12  # fields of each matrix, whose rho is compared
MEMBERS = (3, 9)
ENTRIES = (200, 1500)
N_TEST = (500, 1000, 2000, 4000, 8000)
SHIFT_SD = 0.3
LEADERS = 30  # truly best votes, whose mean error is the luck that all leaders share


def draw_votes(answers: Outcomes, count: int, index: int, rng: np.random.Generator) -> np.ndarray:
    """Right and wrong answers of votes of one kind of field, (n_items, count)."""
    order = np.argsort(-answers.scores)
    pools = {"all": order, "strong": order[: order.size // 2], "weak": order[order.size // 3 :]}
    pool = pools[FIELDS[index % len(FIELDS)]]
    weights = np.zeros((answers.n_classifiers, count))
    for vote in range(count):
        size = int(rng.integers(MEMBERS[0], min(MEMBERS[1], pool.size) + 1))
        given = rng.exponential(size=size) if vote % 2 else np.ones(size)
        weights[rng.choice(pool, size, replace=False), vote] = given / given.sum()
    return answers.correct @ weights > 0.5 + 1e-9


def learn_shift(answers: Outcomes, name: str) -> tuple[float, float, np.ndarray]:
    """Mean rho among leaders of single classifiers and of votes, and shifts of its log odds."""
    rng = np.random.default_rng([SEED, *name.encode()])
    found = []
    for index in range(REPEATS):
        single, _, _ = draw_real_board(answers, answers.n_items, index, rng)
        items = rng.integers(0, answers.n_items, answers.n_items)
        votes = Outcomes(draw_votes(answers, ENTRIES[0], index, rng)[items])
        found.append([response_correlation(one).rho for one in (single, votes)])
    rho = np.clip(found, 0.02, 0.98)
    return *rho.mean(axis=0), logit(rho[:, 1]) - logit(rho[:, 0])


def judge_votes(
    answers: Outcomes, index: int, priors: dict[str, BetaCorrelation]
) -> Iterator[dict]:
    """What each prior says of one board of votes, the truth, and the luck that leaders share."""
    rng = np.random.default_rng([SEED, index])
    n_test = N_TEST[index % len(N_TEST)]
    count = round(float(np.exp(rng.uniform(*np.log(ENTRIES)))))
    votes = draw_votes(answers, count, index // len(N_TEST), rng)
    skills = votes.mean(axis=0)
    scores = votes[rng.integers(0, answers.n_items, n_test)].mean(axis=0)
    leaders = np.argsort(-skills, kind="stable")[:LEADERS]
    best = float(skills.max())
    facts = {
        "n_test": n_test, "voters": FIELDS[index // len(N_TEST) % len(FIELDS)],
        "large": count > 550, "shared": float(np.mean((scores - skills)[leaders])),
        "error": float(np.sqrt(best * (1 - best) / n_test)),
    }  # fmt: skip
    board = Leaderboard(scores, n_test=n_test)
    for name, prior in priors.items():
        rng = np.random.default_rng([SEED, index, 1])
        for row in judge_board(board, skills, BoardPriors(correlation=prior), 1000, rng):
            yield row | facts | {"prior": name}


def summarize_votes(rows: pd.DataFrame, by: tuple[str, ...]) -> pd.DataFrame:
    """Coverage and error by prior; ``net`` without what leaders share, in standard errors."""
    keys = ["prior", *by, "estimand"]
    table = summarize_judgements(rows.to_dict("records"), keys[:-1])
    net = (rows["mean"] - rows["truth"] - rows["shared"]) / rows["error"]
    groups = rows.assign(net=net, square=net**2, one=1).groupby(keys)
    kept = ["boards", "coverage", "raw_coverage", "rmse_ratio", "score_ratio"]
    return table[kept].assign(
        net_bias=groups["net"].mean(),
        net_bias_se=groups["net"].sem(),
        net_rmse=groups["square"].mean() ** 0.5,
    )


def show_shifts(directory: Path) -> None:
    """Print rho of single classifiers and of votes, and the shift of its log odds."""
    tables = {name: table_answers(name, directory) for name in TABLES}
    for name, answers in (real_matrices(directory) | tables).items():
        single, votes, shifts = learn_shift(answers, name)
        said = f"shift {shifts.mean():.2f}, sd of fields {shifts.std(ddof=1):.2f}"
        print(f"{name} ({domain_of(name)}): rho {single:.2f}, of votes {votes:.2f}, {said}")


def judge_matrix(name: str, directory: Path, boards: int) -> pd.DataFrame:
    """Boards of votes of one matrix, by priors that the others give."""
    matrices = real_matrices(directory)
    found = learn_priors([one for one in learn_all(directory) if one.name != name])
    shift = float(learn_shift(matrices[JUDGED[name]], JUDGED[name])[2].mean())
    priors = {"default": BetaCorrelation()}
    for said, key in {"ensembles": "all", "of the domain": domain_of(name)}.items():
        mean, sd = found[key]
        priors[said] = beta_of(mean + shift, float(np.hypot(sd, SHIFT_SD)))
    print(f"{name}: shift {shift:.2f}, {priors}", flush=True)
    rows = [row for index in range(boards) for row in judge_votes(matrices[name], index, priors)]
    return pd.DataFrame(rows).assign(matrix=name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["learn", "judge"])
    parser.add_argument("--boards", type=int, default=105)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # of learners that stop early
    data = Path(os.environ["BAYES_SOTA_DATA"])
    if chosen.what == "learn":
        show_shifts(data)
    else:
        each = [judge_matrix(name, data, chosen.boards) for name in JUDGED]
        together = pd.concat(each)
        for by in ((), ("matrix",), ("n_test",), ("voters",), ("large",)):
            print(summarize_votes(together, by).round(3).to_string(), flush=True)
