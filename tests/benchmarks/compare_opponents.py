"""theta_sota against what a user could do instead, on simulated boards of six shapes.

Two steps, because ``multiple-inference`` (inference on winners; Andrews, Kitagawa, McCloskey) needs
an older SciPy and an environment of its own::

    uv run python tests/benchmarks/compare_opponents.py boards.json --boards 40
    python tests/benchmarks/compare_opponents.py boards.json --winners   # in that environment
    uv run python tests/benchmarks/compare_opponents.py boards.json --table

The opponents: the raw maximum with Wilson's interval; the paper's shrinking (Eq. 9, rho = 0.6, ten
classes; a point estimate, its interval is Wilson's around it); and the hybrid estimate and interval
for the mean of the winner, told the true covariance of the scores, clones taken for independent.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

SHAPES = ("normal", "left-skewed", "plateau of equals", "few strong", "clones", "uniform")
RHOS = (0.0, 0.6, 0.85)
N_TEST = 1000
OURS, RAW = ("mean", "lower", "upper"), ("raw", "raw_lower", "raw_upper")


def simulate(boards: int, sizes: list[int], jobs: int) -> list[dict]:
    """Boards with our posterior and the paper's shrinking."""
    from joblib import Parallel, delayed

    cases = [
        (shape, m, rho, i) for shape in SHAPES for m in sizes for rho in RHOS for i in range(boards)
    ]
    return Parallel(n_jobs=jobs, verbose=5)(delayed(judged)(*case) for case in cases)


def judged(shape: str, m: int, rho: float, index: int) -> dict:
    """One board with its truth."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from calibration.board_shapes import simulate_shape

    from bayes_sota.leaderboard.posterior import board_posterior
    from bayes_sota.maximum.shrinkage import shrink_scores

    key = [20261121, *shape.encode(), m, round(1000 * rho), index]
    board, skills = simulate_shape(shape, m, N_TEST, rho, np.random.default_rng(key))
    posterior = board_posterior(board, draws=2000, random_seed=index)
    theta = posterior.draws["theta_sota"]
    facts = {"shape": shape, "m": m, "rho": rho, "truth": float(skills.max())}
    return facts | {
        "scores": board.scores.tolist(),
        "ours": [float(theta.mean()), *np.quantile(theta, [0.025, 0.975])],
        "shrinking": shrink_scores(board.scores, n_test=N_TEST, chance=0.1).estimate,
    }


def add_winners(rows: list[dict]) -> None:
    """Hybrid inference on the winner, told the true covariance."""
    for row in rows:
        scores = np.array(row["scores"])
        error = np.sqrt(scores.max() * (1 - scores.max()) / N_TEST)
        near = max(2, int(np.sum(scores > scores.max() - 6 * error)))
        scores = np.sort(scores)[-near:]  # the others cannot have won
        sd = np.sqrt(scores * (1 - scores) / N_TEST)
        correlation = np.full((scores.size, scores.size), row["rho"] ** 2)
        np.fill_diagonal(correlation, 1 + 1e-9)
        noise = correlation * np.outer(sd, sd)
        try:
            row["winners"] = hybrid_winner(scores, noise)
        except np.linalg.LinAlgError:  # its singular value decomposition does not converge
            row["winners"] = None


def hybrid_winner(scores: np.ndarray, noise: np.ndarray) -> list[float]:
    """Median and 95 % interval of the winner's mean."""
    from multiple_inference.rank_condition import RankCondition

    jitter = 1e-9 * np.random.default_rng(0).standard_normal(scores.size)
    model = RankCondition(scores + jitter, noise)
    winner = model.get_marginal_distribution(int(np.argmax(scores + jitter)), beta=0.005)
    tail = (0.05 - 0.005) / (1 - 0.005) / 2
    return [float(winner.ppf(q)) for q in (0.5, tail, 1 - tail)]


def table(rows: list[dict]) -> None:
    """Coverage, error and interval score per number of classifiers, shape, rho and route."""
    from calibration.judged_boards import summarize_judgements, wilson_interval

    judged = []
    for row in rows:
        best = max(row["scores"])
        shrunk = (row["shrinking"], *wilson_interval(row["shrinking"], N_TEST))
        raw = dict(zip(RAW, (best, *wilson_interval(best, N_TEST)), strict=True))
        facts = {name: row[name] for name in ("m", "shape", "rho", "truth")}
        said = {"ours": row["ours"], "shrinking": shrunk, "winners": row.get("winners")}
        judged += [
            {"estimand": route, **facts, **raw, **dict(zip(OURS, values, strict=True))}
            for route, values in said.items()
            if values is not None
        ]
    for by in (("m", "shape"), ("m", "rho"), ("m",)):
        print(summarize_judgements(judged, by).round(4).to_string())


def main() -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--classifiers", type=int, nargs="+", default=[20, 200, 3500])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--winners", action="store_true")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        return table(json.loads(options.file.read_text()))
    if options.winners:
        rows = json.loads(options.file.read_text())
        add_winners(rows)
    else:
        rows = simulate(options.boards, options.classifiers, options.jobs)
    options.file.write_text(json.dumps(rows))
    return None


if __name__ == "__main__":
    main()
