r"""EPP's tests and intervals: ``python tests/benchmarks/epp_coverage.py size|real|tuning``.

*size*: two equal players in simulated tournaments of twenty rounds; a true null is rejected how
often, and intervals cover how often? ``--players 5 16 --kinds same-round`` and so on run a part.
The truth is the skill itself where scores follow Gumbel's law, which is the model; for other laws
and for ties it is the estimate from 40,000 rounds. Overlapping splits share a part of every
player's deviations in all rounds (correlation .1), as test sets of a tenth of the data do;
``test_fraction`` corrects for it.

*real*, with ``BAYES_SOTA_DATA`` (two minutes): thirty published classifiers answered the 10,000
items of CIFAR-10's test set. A round is the accuracy on so many items; a tournament has twenty
rounds of different items. The truth is the estimate from 20,000 rounds drawn from all items: scores
are real, ties are many, and no model is right.

*tuning*, with ``BAYES_SOTA_DATA`` (two minutes): up to 500 random configurations of each of five
families on 34 data sets, as published with the EPP paper. Some are seen; new ones are drawn from
the others of their family, so that the probability that one is above the best is known. "Leading"
is the family with the best configuration seen.
"""

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from scipy import stats
from timing import print_table

from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.tournaments import ScoreTable
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp
from bayes_sota.epp.planning import tuning_promise
from bayes_sota.epp.simulate import leaderboard_quality

LEVEL, ROUNDS, SEED = 0.05, 20, 20_261_121
Truths = dict[str, float]


def drawn(
    skills: np.ndarray, rounds: int, law: str, seed: Any, step: float | None = None,
    overlap: float = 0.0,
) -> ScoreTable:  # fmt: skip
    """Scores about the skills by a law with the spread of Gumbel's.

    A share ``overlap`` of the variance of a player's deviations is common to all rounds.
    """
    rng = np.random.default_rng(seed)
    laws = {
        "gumbel": lambda shape: rng.gumbel(size=shape),
        "normal": lambda shape: rng.standard_normal(shape) * np.pi / np.sqrt(6),
        "student": lambda shape: rng.standard_t(4, shape) * np.pi / np.sqrt(12),
    }
    own = laws[law]((rounds, len(skills)))
    if overlap:
        own = np.sqrt(1 - overlap) * own + np.sqrt(overlap) * laws[law](len(skills))
    scores = skills + own
    return ScoreTable(scores if step is None else np.round(scores / step) * step)


@dataclass(frozen=True)
class Shape:
    """How tournaments come about."""

    law: str = "gumbel"
    spread: float = 0.0
    step: float | None = None
    overlap: float = 0.0
    test_fraction: float | None = None

    def skills(self, players: int) -> np.ndarray:
        """The first two equal, in the middle; the others from better to worse, (m,)."""
        others = np.linspace(self.spread, -self.spread, players - 2)
        return np.concatenate([[0.0, 0.0], others])

    def truth(self, players: int) -> np.ndarray:
        """What estimates tend to with many rounds, (m,)."""
        skills = self.skills(players)
        if not self.spread or (self.law == "gumbel" and self.step is None):
            return skills
        epp = fit_epp(drawn(skills, 40_000, self.law, SEED, self.step)).epp
        return np.array([epp[skills == skill].mean() for skill in skills])


SHAPES = {
    "all equal": Shape(),
    "spread": Shape(spread=1.0),
    "spread, normal": Shape("normal", spread=1.0),
    "spread, Student": Shape("student", spread=1.0),
    "spread, ties": Shape(spread=1.0, step=1.0),
    "overlap": Shape(overlap=0.1),
    "overlap, corrected": Shape(overlap=0.1, test_fraction=0.1),
    "overlap, normal, corrected": Shape("normal", overlap=0.1, test_fraction=0.1),
}


def held(ends: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Which intervals, (m, 2), hold the truth."""
    return (ends[:, 0] <= truth) & (truth <= ends[:, 1])


def held_of_fit(fit: BradleyTerryFit, truth: np.ndarray, *, ranks: bool = True) -> Truths:
    """Share of skills, whether all of them, and whether all ranks are in their intervals."""
    found = {"skill": held(fit.interval(), truth).mean()}
    found["all skills"] = held(fit.interval(kind="simultaneous"), truth).all()
    if ranks:
        low, high = fit.rank_interval().T
        best, worst = ((truth > truth[:, None]).sum(axis=1), (truth < truth[:, None]).sum(axis=1))
        found["all ranks"] = np.all((low <= 1 + best) & (high >= truth.size - worst))
    return found


def shown(judged: list[Truths]) -> str:
    """Mean shares in per cent with Monte Carlo standard errors."""
    names = dict.fromkeys(name for one in judged for name in one)
    found = [np.array([one[name] for one in judged if name in one], float) for name in names]
    return ", ".join(
        f"{name} {100 * x.mean():.1f} ± {100 * x.std() / np.sqrt(x.size):.1f}"
        for name, x in zip(names, found, strict=True)
    )


def sized(
    shape: Shape, players: int, kind: Any, truth: np.ndarray, seed: Any, ranks: bool
) -> Truths:
    """One tournament: three rejections, coverage of one skill, of all, of all ranks."""
    table = drawn(shape.skills(players), ROUNDS, shape.law, seed, shape.step, shape.overlap)
    try:
        fit = fit_epp(table, kind, test_fraction=shape.test_fraction)
    except InfiniteEstimateError:
        return {}
    test = fit.test(*fit.players[:2])
    rejected = {
        "rejected: clustered": test.p_value < LEVEL,
        "Wald": test.p_value_model < LEVEL,
        "likelihood ratio": test.lrt_p_value < LEVEL,
    }
    return rejected | held_of_fit(fit, truth, ranks=ranks)


def size(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """One row per number of players, matches and shape."""
    for players, kind, name in product(options.players, options.kinds, options.shapes):
        shape, number = SHAPES[name], options.tournaments
        key = [SEED, players, list(SHAPES).index(name)]  # the same tournaments for both kinds
        judge = delayed(partial(sized, shape, players, kind, shape.truth(players)))
        judged = Parallel(n_jobs=options.jobs, batch_size=50)(
            judge(seed, i < options.ranked)
            for i, seed in enumerate(np.random.SeedSequence(key).spawn(number))
        )
        finite = [one for one in judged if one]
        yield f"{players}, {kind}, {name}, {len(finite)} of {number} finite", shown(finite)


def rounds_of(correct: np.ndarray, items: int, count: int, rng: np.random.Generator) -> ScoreTable:
    """Accuracies of rounds; one tournament's rounds have different items."""
    if count * items <= len(correct):
        drawn = rng.permutation(len(correct))[: count * items].reshape(count, items)
    else:
        drawn = np.stack([rng.choice(len(correct), items, replace=False) for _ in range(count)])
    return ScoreTable(np.stack([correct[rows].mean(axis=0) for rows in drawn]))


def covered(fit: BradleyTerryFit, truth: np.ndarray) -> Truths:
    """Shares of true statements of one fit."""
    pairs = np.triu_indices(len(truth), 1)
    gaps, true_gaps = ((x[:, None] - x)[pairs] for x in (fit.epp, truth))
    half = 2.0930 * fit.standard_errors_of_pairs()[pairs]  # t of 19 degrees of freedom
    return held_of_fit(fit, truth) | {
        "difference": np.mean(np.abs(gaps - true_gaps) <= half),
        "skill, independent matches": held(fit.interval(kind="model"), truth).mean(),
        "connected": float(fit.connected),
        "deviance p < .05": leaderboard_quality(fit, repetitions=39, random_seed=0).p_value < LEVEL,
    }


def real(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """One row per field and size of a round."""
    path = Path(os.environ["BAYES_SOTA_DATA"]) / "cifar10" / "correct_cifar10_test.csv"
    correct = read_outcomes(path).correct.astype(float)
    order, rng = np.argsort(-correct.mean(axis=0)), np.random.default_rng(SEED)
    fields = {"all 30": order, "best 10": order[:10], "every third": order[::3]}
    for (name, chosen), items in product(fields.items(), (20, 50, 100)):
        part = correct[:, chosen]
        truth, judged = fit_epp(rounds_of(part, items, 20_000, rng)).epp, []
        for _ in range(options.tournaments):
            table = rounds_of(part, items, ROUNDS, rng)
            judged.append(covered(fit_epp(table, penalty=0.01), truth))
        yield f"{name}, rounds of {items} items", shown(judged)


def tuning(options: argparse.Namespace) -> Iterator[tuple[str, str]]:
    """One row per number of configurations seen and new: what was said, what is true."""
    path = Path(os.environ["BAYES_SOTA_DATA"]) / "openml_epp" / "epp_34_datasets.csv.gz"
    boards = pd.read_csv(path)
    boards["family"] = boards["model"].str.partition("_")[0]
    for n, more in ((10, 10), (10, 20), (20, 20), (50, 50), (100, 100), (20, 100)):
        rng, rows = np.random.default_rng(SEED), []
        for (dataset, board), _ in product(boards.groupby("dataset"), range(4)):
            drawn = {name: rng.permutation(of["epp"]) for name, of in board.groupby("family")}
            drawn = {name: x for name, x in drawn.items() if x.size >= n + more}
            seen = {name: x[:n] for name, x in drawn.items()}
            rows += [
                (dataset, *one)
                for one in promised(seen, {name: drawn[name][n:] for name in seen}, more)
            ]
        frame = pd.DataFrame(rows, columns=["dataset", "said", "true", "leads"])
        parts = {
            "leading": frame[frame.leads],
            "others up to .1": frame[~frame.leads & (frame.said <= 0.1)],
            "others above .1": frame[~frame.leads & (frame.said > 0.1)],
        }
        yield f"{n} seen, {more} new", "; ".join(f"{k} {error_of(v)}" for k, v in parts.items())


def error_of(part: pd.DataFrame) -> str:
    """What was said, what is true, and the standard error of the difference between data sets."""
    off = (part.said - part.true).groupby(part.dataset).agg(["sum", "size"])
    gap = off["sum"].sum() / off["size"].sum()
    spread = np.sqrt(np.sum((off["sum"] - gap * off["size"]) ** 2)) / off["size"].sum()
    said, true = 100 * part.said.mean(), 100 * part.true.mean()
    return f"{said:.1f}, {true:.1f} ± {100 * spread:.1f} ({len(part)})"


def promised(
    seen: dict[str, np.ndarray], others: dict[str, np.ndarray], more: int
) -> Iterator[tuple[float, float, bool]]:
    """What was said of each family, what is true of draws of the others, and whether it leads."""
    if not seen:
        return
    best = max(x.max() for x in seen.values())
    names = [name for name, x in seen.items() for _ in x]
    for one in tuning_promise(np.concatenate([*seen.values()]), names, more):
        above, size = int(np.sum(others[one.family] > best)), others[one.family].size
        none = stats.hypergeom.pmf(0, size, above, more)
        yield one.p_beats_best, 1 - float(none), one.best == best


def main() -> None:
    """Print the rows of one study as they come."""
    studies = {"size": size, "real": real, "tuning": tuning}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("study", choices=studies)
    parser.add_argument("--players", type=int, nargs="+", default=[5, 16])
    parser.add_argument("--kinds", nargs="+", default=["same-round", "all-rounds"])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--tournaments", type=int, default=200)
    parser.add_argument("--ranked", type=int, default=200, help="tournaments with ranks as well")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    print_table(["case", "shares in per cent"], studies[options.study](options))


if __name__ == "__main__":
    main()
