"""Coverage of the Bayesian EPP: intervals of skills and of differences in simulated tournaments.

Run with ``uv run python tests/benchmarks/epp_bayes_coverage.py --output FILE.json
[--simulations 200] [--players 5 16] [--rounds 20] [--seed 20261121]``. Skills are equal or spread
(normal with sd 1, fixed for each size); scores follow the Gumbel law of the model or a normal one.
Likelihoods: rankings, and weighted matches. The models are compiled once for each size, and their
data swapped. Shares of intervals of 95 % that hold the truth, of all players and all pairs; the
error is that of the simulations, whose players depend on each other. True skills of normal scores
are those whose win probabilities are nearest to the law's (the large-sample limit of the
likelihood), from 20,000 rounds.
"""

import argparse
import json
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import nutpie

from bayes_sota.core.files import whole_file
from bayes_sota.epp.counts import ranks_of_rounds
from bayes_sota.epp.fit import fit_epp
from bayes_sota.epp.likelihoods import (
    cluster_weight,
    count_cells,
    order_rounds,
    rows_of_rounds,
)
from bayes_sota.epp.models import build_epp
from bayes_sota.epp.simulate import simulate_tournament

LAWS, SPREADS = ("gumbel", "normal"), ("equal", "spread")
LIKELIHOODS = ("plackett-luce", "matches")
PROB, DRAWS, TUNE, CHAINS = 0.95, 500, 500, 2


def skills_of(m: int, spread: str) -> np.ndarray:
    """Skills of mean zero."""
    drawn = np.random.default_rng(m).standard_normal(m) * (spread == "spread")
    return drawn - drawn.mean()


def truth_of(skills: np.ndarray, law: str) -> np.ndarray:
    """Skills that many rounds would give."""
    if law == "gumbel" or not skills.any():
        return skills
    return fit_epp(simulate_tournament(skills, 20_000, law=law, random_seed=1)).epp


def data_of(table: Any, likelihood: str) -> dict[str, np.ndarray]:
    """What changes in a compiled model from one tournament to another."""
    ranks = ranks_of_rounds(table.oriented)
    if likelihood == "plackett-luce":
        return {"round_order": order_rounds(ranks).order}
    rows = rows_of_rounds(ranks)
    pairs, cells = rows.pairs(np.zeros(rows.first.size, np.intp))
    weight = np.array([cluster_weight(rows, rows.unit)])
    return {"counted": count_cells(cells, len(pairs)), "likelihood_weight": weight}


def covered(draws: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """Shares of players and of pairs whose interval holds the truth."""
    first, second = np.triu_indices(truth.size, 1)
    found = []
    for values, true in (
        (draws, truth),
        (draws[:, first] - draws[:, second], truth[first] - truth[second]),
    ):
        low, high = np.quantile(values, [(1 - PROB) / 2, (1 + PROB) / 2], axis=0)
        found.append(float(np.mean((low <= true) & (true <= high))))
    return found[0], found[1]


def run(m: int, rounds: int, simulations: int, seed: int) -> list[dict[str, Any]]:
    """All cases of one number of players."""
    found = []
    for likelihood in LIKELIHOODS:
        template = simulate_tournament(np.zeros(m), rounds, random_seed=0)
        model = build_epp(template, likelihood=likelihood, centred=False)
        compiled = nutpie.compile_pymc_model(model)
        for spread, law in product(SPREADS, LAWS):
            skills = skills_of(m, spread)
            truth, shares, divergences = truth_of(skills, law), [], 0
            began = time.perf_counter()
            for number in range(simulations):
                table = simulate_tournament(
                    skills, rounds, law=law, random_seed=np.random.SeedSequence((seed, number))
                )
                trace = nutpie.sample(
                    compiled.with_data(**data_of(table, likelihood)), draws=DRAWS, tune=TUNE,
                    chains=CHAINS, cores=1, seed=number, progress_bar=False, target_accept=0.9,
                )  # fmt: skip
                divergences += int(trace.sample_stats["diverging"].sum())
                shares.append(covered(trace.posterior["epp"].values.reshape(-1, m), truth))
            players, pairs = np.mean(shares, axis=0)
            errors = np.std(shares, axis=0, ddof=1) / np.sqrt(simulations)
            found.append({
                "players": m, "rounds": rounds, "likelihood": likelihood, "skills": spread,
                "law": law, "simulations": simulations, "skill": round(float(players), 4),
                "skill_error": round(float(errors[0]), 4), "difference": round(float(pairs), 4),
                "difference_error": round(float(errors[1]), 4), "divergences": divergences,
                "seconds": round(time.perf_counter() - began, 1),
            })  # fmt: skip
            print(found[-1], flush=True)
    return found


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--simulations", type=int, default=200)
    parser.add_argument("--players", type=int, nargs="+", default=[5, 16])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=20261121)
    options = parser.parse_args()
    cases = [
        case
        for m in options.players
        for case in run(m, options.rounds, options.simulations, options.seed)
    ]
    with whole_file(options.output) as draft:
        Path(draft).write_text(json.dumps(cases, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
