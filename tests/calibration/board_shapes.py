"""The posterior on simulated boards of six shapes: ``python tests/calibration/board_shapes.py``.

Skills are known here, free of any sampling; nothing in the model was chosen by these boards.
"""

import argparse
from collections.abc import Callable

import numpy as np
from calibration.judged_boards import judge_board, summarize_judgements
from joblib import Parallel, delayed

from bayes_sota.core.priors import BoardPriors
from bayes_sota.core.skills import expit, logit
from bayes_sota.data.leaderboard import Leaderboard
from bayes_sota.maximum.dependence import conditional_probabilities, feasible_correlation

RHOS = (0.0, 0.6, 0.85)
Generator = np.random.Generator


def normal(rng: Generator, m: int) -> np.ndarray:
    return expit(logit(0.85) + 0.25 * rng.standard_normal(m))


def left_skewed(rng: Generator, m: int) -> np.ndarray:
    return expit(logit(0.90) - 0.4 * rng.exponential(size=m) + 0.03 * rng.standard_normal(m))


def plateau(rng: Generator, m: int) -> np.ndarray:
    skills = expit(logit(0.80) + 0.2 * rng.standard_normal(m))
    skills[: max(2, m // 4)] = 0.88
    return skills


def few_strong(rng: Generator, m: int) -> np.ndarray:
    skills = expit(logit(0.70) + 0.3 * rng.standard_normal(m))
    strong = max(2, m // 50)
    skills[:strong] = expit(logit(0.90) + 0.1 * rng.standard_normal(strong))
    return skills


def clones(rng: Generator, m: int) -> np.ndarray:
    return rng.choice(expit(logit(0.85) + 0.25 * rng.standard_normal(max(4, m // 10))), m)


def uniform(rng: Generator, m: int) -> np.ndarray:
    return rng.uniform(0.70, 0.90, m)


SHAPES: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "normal": normal,
    "left-skewed": left_skewed,
    "plateau of equals": plateau,
    "few strong": few_strong,
    "clones": clones,
    "uniform": uniform,
}


def simulate_shape(
    shape: str, m: int, n_test: int, rho: float, rng: Generator
) -> tuple[Leaderboard, np.ndarray]:
    """Board by the paper's law (Eq. 6, 7), and its skills; clones share their answers."""
    skills = SHAPES[shape](rng, m)
    models, which = skills, np.arange(skills.size)
    if shape == "clones":
        models, which = np.unique(skills, return_inverse=True)
    reference = float(skills.max())
    feasible = np.minimum(rho, feasible_correlation(models, reference))
    a, b = conditional_probabilities(models, feasible, reference)
    right = rng.binomial(n_test, reference)
    counts = rng.binomial(right, a) + rng.binomial(n_test - right, b)
    return Leaderboard(counts[which] / n_test, n_test=n_test, rounding="exact"), skills


def judge(
    shape: str, m: int, n_test: int, rho: float, index: int, priors: BoardPriors, draws: int = 2000
) -> list[dict]:
    """What is said of one simulated board, and its truth."""
    rng = np.random.default_rng([*shape.encode(), m, n_test, round(1000 * rho), index])
    board, skills = simulate_shape(shape, m, n_test, rho, rng)
    facts = {"shape": shape, "m": m, "rho": rho}
    return [row | facts for row in judge_board(board, skills, priors, draws, rng)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boards", type=int, default=60)
    parser.add_argument("--n-test", type=int, default=1000)
    parser.add_argument("--classifiers", type=int, nargs="+", default=[20, 200])
    parser.add_argument("--jobs", type=int, default=1)
    chosen = parser.parse_args()
    cells = [(shape, m, rho) for shape in SHAPES for m in chosen.classifiers for rho in RHOS]
    each = Parallel(n_jobs=chosen.jobs)(
        delayed(judge)(shape, m, chosen.n_test, rho, i, BoardPriors())
        for shape, m, rho in cells
        for i in range(chosen.boards)
    )
    rows = [row for some in each for row in some]
    print(summarize_judgements(rows, ("shape", "m", "rho")).round(4).to_string())
