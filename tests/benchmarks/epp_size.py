r"""Size of the tests of two equal players, and coverage of intervals, in simulated tournaments.

Run in parts, such as ``uv run python tests/benchmarks/epp_size.py --players 5 16 --jobs 2``; the
rows of all parts are kept in one file and printed as a table with ``--table``. Twenty rounds each.

Nulls are true: players 1 and 2 have the same skill. The truth that intervals should cover is the
skill itself where scores follow Gumbel's law, which is the model; for other laws and for ties it is
the estimate from 40,000 rounds. Overlapping splits share a part of every player's deviations in all
rounds (correlation .1), as test sets of a tenth of the data do; ``test_fraction`` corrects for it.
"""

import argparse
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from bayes_sota.core.errors import InfiniteEstimateError
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.simulate import simulate_tournament

LEVEL, ROUNDS, MANY_ROUNDS = 0.05, 20, 40_000
SEED, BATCH = 20_261_121, 50
MEASURES = ("clustered", "wald", "ratio", "skills", "all skills", "ranks")


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
        settings = {"law": self.law, "step": self.step, "random_seed": SEED}
        epp = fit_epp(simulate_tournament(skills, MANY_ROUNDS, **settings)).epp
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


def judge(shape: Shape, players: int, kind: str, truth: np.ndarray, seed, ranked: bool) -> list:
    """One tournament: three rejections, coverage of one skill, of all, of all ranks."""
    table = simulate_tournament(
        shape.skills(players),
        ROUNDS,
        law=shape.law,
        step=shape.step,
        overlap=shape.overlap,
        random_seed=seed,
    )
    try:
        fit = fit_epp(table, kind, test_fraction=shape.test_fraction)
    except InfiniteEstimateError:
        return [np.nan] * len(MEASURES)
    test = fit.test(*fit.players[:2])
    inside = [
        (low <= truth) & (truth <= high)
        for low, high in (fit.interval().T, fit.interval(kind="simultaneous").T)
    ]
    ranks = np.nan
    if ranked:
        low, high = fit.rank_interval().T
        best, worst = (truth > truth[:, None]).sum(axis=1), (truth < truth[:, None]).sum(axis=1)
        ranks = np.all((low <= 1 + best) & (high >= players - worst))
    p_values = (test.p_value, test.p_value_model, test.lrt_p_value)
    return [*(p < LEVEL for p in p_values), inside[0].mean(), inside[1].all(), ranks]


def judge_batch(shape, players, kind, truth, seeds, ranked) -> np.ndarray:
    """Some tournaments in one process, (n, measures)."""
    return np.array(
        [judge(shape, players, kind, truth, s, r) for s, r in zip(seeds, ranked, strict=True)],
        dtype=float,
    )


def study(name: str, players: int, kind: str, tournaments: int, ranked: int, jobs: int) -> dict:
    """One row: means and their Monte Carlo errors."""
    start, shape = time.perf_counter(), SHAPES[name]
    truth = shape.truth(players)
    key = [SEED, players, list(SHAPES).index(name)]  # the same tournaments for both kinds
    seeds = np.random.SeedSequence(key).spawn(tournaments)
    flags = np.arange(tournaments) < ranked
    found = Parallel(n_jobs=jobs)(
        delayed(judge_batch)(
            shape, players, kind, truth, seeds[i : i + BATCH], flags[i : i + BATCH]
        )
        for i in range(0, tournaments, BATCH)
    )
    columns = [column[~np.isnan(column)] for column in np.concatenate(found).T]
    means = [float(column.mean()) if column.size else None for column in columns]
    errors = [
        float(column.std() / np.sqrt(column.size)) if column.size else 0 for column in columns
    ]
    return {
        "shape": name,
        **asdict(shape),
        "players": players,
        "kind": kind,
        "tournaments": tournaments,
        "infinite": tournaments - columns[0].size,
        "ranked": columns[-1].size,
        "means": dict(zip(MEASURES, means, strict=True)),
        "errors": dict(zip(MEASURES, errors, strict=True)),
        "seconds": time.perf_counter() - start,
        "load": os.getloadavg()[0],
    }


def print_table(rows: list[dict]) -> None:
    """Shares in per cent with Monte Carlo standard errors."""
    print(
        "| players | matches | shape | tournaments (infinite) | rejected: clustered | Wald | "
        "likelihood ratio | coverage: skill | all skills | all ranks |"
    )
    print("|" + "---|" * 10)
    order = {name: place for place, name in enumerate(SHAPES)}
    for row in sorted(rows, key=lambda r: (r["players"], r["kind"][::-1], order[r["shape"]])):
        cells = [
            "" if mean is None else f"{100 * mean:.1f} ± {100 * row['errors'][name]:.1f}"
            for name, mean in row["means"].items()
        ]
        number = f"{row['tournaments']:,} ({row['infinite']})"
        print(
            f"| {row['players']} | {row['kind']} | {row['shape']} | {number} | "
            + " | ".join(cells)
            + " |"
        )


def main() -> None:
    """Simulate a part, or print all that were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=Path("epp_size.json"))
    parser.add_argument("--players", type=int, nargs="+", default=[5, 16, 100])
    parser.add_argument("--kinds", nargs="+", default=["same-round", "all-rounds"])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--tournaments", type=int, default=4000)
    parser.add_argument("--ranked", type=int, default=400, help="tournaments with ranks as well")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="print the rows so far")
    options = parser.parse_args()
    rows = json.loads(options.file.read_text()) if options.file.exists() else []
    if not options.table:
        for players in options.players:
            for kind in options.kinds:
                for name in options.shapes:
                    sizes = options.tournaments, options.ranked, options.jobs
                    row = study(name, players, kind, *sizes)
                    cell = (players, kind, name)
                    rows = [r for r in rows if (r["players"], r["kind"], r["shape"]) != cell]
                    rows.append(row)
                    options.file.write_text(json.dumps(rows))
    print_table(rows)


if __name__ == "__main__":
    main()
