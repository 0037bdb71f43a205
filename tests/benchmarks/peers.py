"""Ours beside what people use instead, on the same real data in one run.

Run with ``uv run --with choix --with evalica --with baycomp --with evalstats --with autorank --with
multiple-inference python tests/benchmarks/peers.py`` (some four minutes; parts by name:
``... peers.py skills folds``). Data are the answers of 30 networks to the 10,000 items of CIFAR-10
where ``BAYES_SOTA_DATA`` names their folder, else the bundled digits. A board is a random part of
the items, and all the others are the truth. Seconds are of the processor; what they are seconds of
stands in the tables. ``docs/measured/peers.md`` has the figures, and what is not compared and why.
"""

import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from scipy.stats import binomtest, bootstrap
from timing import fastest, print_table

import bayes_sota as bs
from bayes_sota.core.types import FloatArray
from bayes_sota.crossval.estimates import average_ranks, correlated_t
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.tournaments import ScoreTable
from bayes_sota.items.score import skill_of_counts

warnings.simplefilter("ignore")
seconds = partial(fastest, clock=process_time)
BOARD, BOARDS = 500, 100
LEVELS = (0.025, 0.975)


def answers() -> tuple[str, FloatArray]:
    """Items x classifiers, 1 where right."""
    folder = os.environ.get("BAYES_SOTA_DATA")
    if folder is None:
        return "digits", load_responses_example("digits").held_out.values
    path = Path(folder, "cifar10", "correct_cifar10_test.csv")
    return "CIFAR-10", bs.read_outcomes(path).values


def boards(right: FloatArray, size: int, count: int) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Answers to ``size`` items, and the shares of right ones among all others."""
    rng = np.random.default_rng(20261126)
    for _ in range(count):
        order = rng.permutation(len(right))
        yield right[order[:size]], right[order[size:]].mean(axis=0)


def skills() -> None:
    """Bradley-Terry skills of 30 players over 100 rounds of 100 items."""
    import choix
    import evalica

    name, right = answers()
    rounds = np.array([part.mean(axis=0) for part in np.array_split(right, 100)])
    table = ScoreTable(rounds)
    fit = bs.fit_epp(table)
    m = len(fit.players)
    wins = (rounds[:, :, None] > rounds[:, None]).sum(axis=0)
    wins = wins + 0.5 * (rounds[:, :, None] == rounds[:, None]).sum(axis=0)
    np.fill_diagonal(wins, 0)
    first, second = np.nonzero(wins)
    weights = wins[first, second]
    lists = ([str(j) for j in first], [str(j) for j in second])
    winner = [evalica.Winner.X] * len(first)

    def by_evalica() -> FloatArray:
        fitted = evalica.bradley_terry(*lists, winner, weights=weights.tolist(), tolerance=1e-10)
        return np.log([fitted.scores[str(j)] for j in range(m)])

    ways: dict[str, Callable[[], FloatArray]] = {
        "bayes_sota, with covariance by round": lambda: _with_errors(bs.fit_epp(table)),
        "choix.ilsr_pairwise_dense": lambda: choix.ilsr_pairwise_dense(wins, tol=1e-10),
        "evalica.bradley_terry": by_evalica,
    }
    rows = []
    for what, way in ways.items():
        found = way()
        away = np.abs(found - found.mean() - fit.epp + fit.epp.mean()).max()
        rows.append([what, f"{away:.1e}", f"{1000 * seconds(way):.1f}"])
    print_table([f"skills, {name}", "largest difference from ours", "ms"], rows)


def _with_errors(fit: Any) -> FloatArray:
    assert fit.covariance.size
    return fit.epp


def data_sets() -> None:
    """Friedman's test and Nemenyi's critical difference of 10 methods over 100 data sets."""
    import pandas as pd
    from autorank import autorank

    name, right = answers()
    methods = right[:, :: max(1, right.shape[1] // 10)]
    means = np.array([part.mean(axis=0) for part in np.array_split(methods, 100)])
    frame = pd.DataFrame(means, columns=[str(j) for j in range(means.shape[1])])

    def by_autorank() -> Any:
        with redirect_stdout(StringIO()):  # which it prints to
            found = autorank(frame, force_mode="nonparametric")
        return found.rankdf["meanrank"].min(), found.cd, found.pvalue

    def by_us() -> Any:
        found = average_ranks(means)
        return found.ranks.min(), found.nemenyi, found.p_value

    rows = []
    for what, way in {"bayes_sota": by_us, "autorank": by_autorank}.items():
        best, critical, p = way()
        spent = 1000 * seconds(way)
        rows.append([what, f"{best:.3f}", f"{critical:.4f}", f"{p:.6g}", f"{spent:.1f}"])
    header = [f"ranks over 100 parts, {name}", "best average rank", "critical difference"]
    print_table([*header, "Friedman's p", "ms"], rows)


def folds() -> None:
    """The Bayesian correlated t test of two learners, 10 times 10 folds."""
    import baycomp
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.naive_bayes import GaussianNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    learners = {
        "nb": GaussianNB(),
        "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    }
    runs = bs.repeated_cross_validation(
        learners, *load_breast_cancer(return_X_y=True), folds=10, iterations=10, rule="fixed",
        random_seed=0,
    )  # fmt: skip
    data = runs.fold_scores
    a, b = (data.scores[0, j].ravel() for j in range(2))

    def by_baycomp() -> Any:
        return baycomp.CorrelatedTTest(a, b, rope=0.01, runs=10).probs()

    def by_us() -> FloatArray:
        return np.array([*correlated_t(data, 0, 1).rope(0.01).values()])

    ours, theirs = by_us(), by_baycomp()
    rows = [
        ["bayes_sota", *(f"{p:.6f}" for p in ours), f"{1000 * seconds(by_us):.2f}"],
        ["baycomp", *(f"{p:.6f}" for p in theirs), f"{1000 * seconds(by_baycomp):.2f}"],
    ]
    print_table(["correlated t test", "P(nb better)", "P(equivalent)", "P(worse)", "ms"], rows)


def one() -> None:
    """Intervals of one accuracy, from 30 items."""
    import evalstats

    name, right = answers()
    size, count = 30, 100

    def by_bootstrap(sample: FloatArray) -> Any:
        found = bootstrap((sample,), np.mean, n_resamples=999, method="percentile", random_state=0)
        return found.confidence_interval

    def wilson(sample: FloatArray) -> Any:
        return binomtest(int(sample.sum()), sample.size).proportion_ci(method="wilson")

    ways: dict[str, Callable[[FloatArray], Any]] = {
        "bayes_sota (score)": lambda s: skill_of_counts(int(s.sum()), s.size).interval(),
        "evalstats.mean_ci": lambda s: evalstats.mean_ci(s)[1:3],
        "evalstats.bayes_binary_ci_1d": lambda s: evalstats.bayes_binary_ci_1d(s, 0.05),
        "SciPy, Wilson": wilson,
        "SciPy, bootstrap (percentile)": by_bootstrap,
    }
    tried = list(boards(right, size, count))
    rows = [_judged(what, way, tried) for what, way in ways.items()]
    print_table([f"one accuracy, {size} items, {name}", "coverage", "width", "ms"], rows)


def _judged(what: str, way: Callable[..., Any], tried: list[Any]) -> list[str]:
    """Coverage and width of the intervals of every classifier of every board."""
    ends = np.array([[tuple(way(column)) for column in board.T] for board, _ in tried])
    truth = np.array([skill for _, skill in tried])
    covered = np.mean((ends[..., 0] <= truth) & (truth <= ends[..., 1]))
    column = tried[0][0][:, 0]
    spent = 1000 * seconds(lambda: way(column))
    return [what, f"{covered:.3f}", f"{np.mean(ends[..., 1] - ends[..., 0]):.3f}", f"{spent:.2f}"]


def pairs() -> None:
    """Intervals of the difference of the best two of a board and of two typical ones."""
    import evalstats

    name, right = answers()

    def ours(board: FloatArray, a: int, b: int) -> Any:
        found = bs.compare_methods(bs.Outcomes(board[:, [a, b]]), random_seed=0)
        return np.quantile(found.draws[:, 0] - found.draws[:, 1], LEVELS)

    def paired(board: FloatArray, a: int, b: int, method: str) -> Any:
        found = evalstats.pairwise_differences(
            board.T, a, b, method=method, rng=np.random.default_rng(0)
        )
        return found.ci_low, found.ci_high

    def dirichlet(board: FloatArray, a: int, b: int) -> Any:
        rng = np.random.default_rng(0)
        return evalstats.bayes_paired_diff_ci(board[:, a], board[:, b], 0.05, rng=rng)[:2]

    ways: dict[str, Callable[..., Any]] = {
        "bayes_sota (claim responses)": ours,
        "evalstats, auto": partial(paired, method="auto"),
        "evalstats, bootstrap": partial(paired, method="bootstrap"),
        "evalstats, bayes_paired_diff_ci": dirichlet,
    }
    rng = np.random.default_rng(1)
    tried = [
        (board, skill, *rng.choice(right.shape[1], 2, replace=False))
        for board, skill in boards(right, 200, 4 * BOARDS)
    ]
    rows = []
    for what, way in ways.items():
        ends = np.array([way(board, a, b) for board, _, a, b in tried])
        truth = np.array([skill[a] - skill[b] for _, skill, a, b in tried])
        covered = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        board, _, a, b = tried[0]
        spent = 1000 * seconds(lambda way=way, of=(board, a, b): way(*of))
        width = np.mean(ends[:, 1] - ends[:, 0])
        rows.append([what, f"{covered:.3f}", f"{100 * width:.2f}", f"{spent:.1f}"])
    header = [f"two methods, 200 items, {name}", "coverage", "width, points", "ms"]
    print_table(header, rows)


def best() -> None:
    """What the best score of a board of 500 items says of the skill of its winner."""
    name, right = answers()

    def wilson(board: FloatArray) -> Any:
        most = int(board.sum(axis=0).max())
        return most / len(board), *binomtest(most, len(board)).proportion_ci(method="wilson")

    def of_means(board: FloatArray) -> Any:
        """Percentile bootstrap of the best score."""
        rng = np.random.default_rng(0)
        again = rng.multinomial(len(board), np.full(len(board), 1 / len(board)), 999) @ board
        return board.mean(axis=0).max(), *np.quantile(again.max(axis=1) / len(board), LEVELS)

    def answers_of(board: FloatArray) -> Any:
        tree = bs.estimate_sota(bs.Outcomes(board), random_seed=0)
        return _said(tree.posterior["winner_skill"].values)

    def scores_of(board: FloatArray) -> Any:
        data = bs.Leaderboard(board.mean(axis=0), n_test=len(board))
        tree = bs.estimate_sota(data, random_seed=0)
        return _said(tree.posterior["winner_skill"].values)

    ways: dict[str, Callable[[FloatArray], Any]] = {
        "raw best score, Wilson": wilson,
        "bootstrap of the best score": of_means,
        "bayes_sota, from the scores": scores_of,
        "bayes_sota, from the answers": answers_of,
    }
    tried = list(boards(right, BOARD, BOARDS))
    truth = np.array([skill[np.argmax(board.mean(axis=0))] for board, skill in tried])
    rows = []
    for what, way in ways.items():
        said = np.array([way(board) for board, _ in tried])
        covered = np.mean((said[:, 1] <= truth) & (truth <= said[:, 2]))
        error = 100 * np.sqrt(np.mean((said[:, 0] - truth) ** 2))
        bias, width = 100 * np.mean(said[:, 0] - truth), 100 * np.mean(said[:, 2] - said[:, 1])
        spent = seconds(lambda way=way: way(tried[0][0]), 1)
        rows.append([what, *(f"{x:.2f}" for x in (bias, error, covered, width)), f"{spent:.2f}"])
    header = [f"winner of {BOARD} items, {name}", "bias, points", "error, points", "coverage"]
    print_table([*header, "width, points", "s"], rows)


def _said(draws: FloatArray) -> tuple[float, ...]:
    return float(draws.mean()), *np.quantile(draws, LEVELS)


def ranks() -> None:
    """Sets of ranks that hold for all classifiers of a board at once."""
    from multiple_inference.confidence_set import SimultaneousRanking

    name, right = answers()
    right = right[:, :: max(1, right.shape[1] // 15)]

    def ours(board: FloatArray) -> FloatArray:
        frame = bs.board_table(bs.Outcomes(board), ranks="joint", random_seed=0).frame
        order = np.argsort(-board.mean(axis=0), kind="stable")
        sets = np.empty((board.shape[1], 2))
        sets[order] = frame[["set_lower", "set_upper"]].to_numpy()
        return sets

    def theirs(board: FloatArray) -> FloatArray:
        covariance = np.cov(board.T) / len(board)
        fitted = SimultaneousRanking(board.mean(axis=0), covariance, random_state=0).fit()
        return fitted.conf_int()

    tried = list(boards(right, BOARD, 40))
    rows = []
    for what, way in {"bayes_sota": ours, "multiple_inference.SimultaneousRanking": theirs}.items():
        sets = [way(board) for board, _ in tried]
        held = [_holds(found, skill) for found, (_, skill) in zip(sets, tried, strict=True)]
        width = np.mean([found[:, 1] - found[:, 0] + 1 for found in sets])
        spent = seconds(lambda way=way: way(tried[0][0]), 1)
        rows.append([what, f"{np.mean(held):.3f}", f"{width:.2f}", f"{spent:.2f}"])
    header = [f"{right.shape[1]} classifiers, {BOARD} items, {name}", "all sets hold"]
    print_table([*header, "ranks in a set", "s"], rows)


def _holds(sets: FloatArray, skill: FloatArray) -> bool:
    least = 1 + (skill[:, None] < skill).sum(axis=1)
    most = (skill[:, None] <= skill).sum(axis=1)
    return bool(np.all((sets[:, 0] <= most) & (least <= sets[:, 1])))


if __name__ == "__main__":
    parts = {part.__name__: part for part in (skills, data_sets, folds, one, pairs, best, ranks)}
    for chosen in sys.argv[1:] or parts:
        parts[chosen]()
