r"""EPP at full size: time and memory, and point estimates against evalica and choix in one run.

Run with ``uv run --with evalica --with choix python tests/benchmarks/bench_epp.py`` (about three
minutes). Tournaments of 2,000 players and 20 rounds, scores by Gumbel's law, one thread each.

- *estimates*: ``fit_epp`` from the scores to the skills, counting of matches and the check that
  estimates are finite among it; then the full covariance of independent matches and the deviance,
  or the covariance clustered by round.
- *choix*: ``ilsr_pairwise_dense`` on the ready matrix of wins, its fastest way for such data
  (``opt_pairwise`` goes through 40 million matches one by one in Python).
- *evalica*: its compiled ``bradley_terry`` on ready lists, one row per ordered pair weighted by its
  wins (40 million matches as rows would not be kind), and ``bradley_terry_naive``, the same
  iteration in NumPy, on the ready matrix.

An opponent's fit alone is timed, and with the building of its input from our counts, and with our
counting: it has no way of its own from scores to wins. Tolerances are the opponents' own,
tightened until the skills agree to 1e-6. Peak memory is of a process of its own that fits once.
Seconds are of the processor, which other work on the machine disturbs less, except for the thirty
tournaments on two cores.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits
from timing import fastest

if TYPE_CHECKING:
    from bayes_sota.data.score_table import ScoreTable
    from bayes_sota.epp.fit import BradleyTerryFit

PLAYERS, ROUNDS, TOURNAMENTS = 2_000, 20, 30
KINDS = ("same-round", "all-rounds")
AGREEMENT, TOLERANCES = 1e-6, 10.0 ** -np.arange(2, 12)  # the loosest that agrees is timed
REPEATS = 3


def seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Processor time of the fastest of some calls."""
    return fastest(call, repeats, time.process_time)


def simulated(seed: int = 0) -> "ScoreTable":
    """Skills of standard deviation 1.5 logits."""
    from bayes_sota.epp.simulate import simulate_tournament

    skills = 1.5 * np.random.default_rng([1, seed]).standard_normal(PLAYERS)
    return simulate_tournament(skills, ROUNDS, tournament=f"t{seed}", random_seed=seed)


def fitted(table: "ScoreTable", kind: Any, what: str) -> "BradleyTerryFit":
    """What one wants of a fit, computed."""
    from bayes_sota.epp.fit import fit_epp

    fit = fit_epp(table, kind)
    if what == "covariance":
        assert fit.covariance_model.shape == (PLAYERS, PLAYERS)
        assert fit.deviance > 0
    elif what == "clustered":
        assert fit.covariance_model.shape == fit.covariance.shape == (PLAYERS, PLAYERS)
        assert fit.deviance > 0
    return fit


def peak_megabytes(kind: str, what: str) -> float:
    """Peak resident memory of a process that imports, simulates and fits once."""
    command = [sys.executable, __file__, "--peak", kind, what]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(found.stdout)


def print_peak(kind: str, what: str) -> None:
    """In the process of its own."""
    table = simulated()
    if what != "nothing":
        fitted(table, kind, what)
    with open("/proc/self/status") as status:  # of this process alone, unlike getrusage
        print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))


def our_row(table: "ScoreTable", kind: str) -> dict[str, Any]:
    """Seconds and peak memory of each amount of work."""
    row: dict[str, Any] = {"kind": kind}
    for what in ("estimates", "covariance", "clustered"):
        row[f"{what}_seconds"] = seconds(lambda what=what: fitted(table, kind, what))
        row[f"{what}_peak_megabytes"] = peak_megabytes(kind, what)
    row["nothing_peak_megabytes"] = peak_megabytes(kind, "nothing")
    return row


def opponents() -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """Of each, how its input is built from the counts and how it is fitted."""
    import choix
    import evalica

    def matrix(fit: "BradleyTerryFit") -> np.ndarray:
        return fit.counts.doubled_wins / 2

    def lists(fit: "BradleyTerryFit") -> tuple[list, ...]:
        wins = matrix(fit)
        first, second = np.nonzero(wins)
        weights = wins[first, second].tolist()
        return first.tolist(), second.tolist(), [evalica.Winner.X] * len(weights), weights

    def compiled(given: tuple[list, ...], tolerance: float) -> np.ndarray:
        settings = {"win_weight": 1.0, "tie_weight": 0.5, "tolerance": tolerance, "limit": 10_000}
        return np.log(evalica._brzo.bradley_terry(*given, PLAYERS, **settings)[0])

    def naive(wins: np.ndarray, tolerance: float) -> np.ndarray:
        return np.log(evalica.bradley_terry_naive(wins, tolerance, 10_000)[0])

    def dense(wins: np.ndarray, tolerance: float) -> np.ndarray:
        return choix.ilsr_pairwise_dense(wins, tol=tolerance)

    return {
        "choix": (matrix, dense),
        "evalica": (lists, compiled),
        "evalica in NumPy": (matrix, naive),
    }


def opponent_row(fit: "BradleyTerryFit", name: str) -> dict[str, Any]:
    """Seconds of its fit and of building its input, at the loosest tolerance that agrees."""
    build, call = opponents()[name]
    given = build(fit)
    for tolerance in TOLERANCES:
        start = time.process_time()
        skills = call(given, tolerance)
        once = time.process_time() - start
        difference = float(np.abs(skills - skills.mean() - fit.epp).max())
        if difference < AGREEMENT:
            break
    return {
        "opponent": name,
        "tolerance": tolerance,
        "largest_difference": difference,
        "seconds": min(once, seconds(lambda: call(given, tolerance), 1)),
        "input_seconds": seconds(lambda: build(fit), 1),
    }


def opponents_rows(table: "ScoreTable", kind: Any) -> list[dict[str, Any]]:
    """Ours, then theirs: from ready inputs, and from the scores, for which they get our counts."""
    from bayes_sota.epp.counts import count_matches
    from bayes_sota.epp.solver import solve

    fit = fitted(table, kind, "estimates")
    totals, n_matches = fit.counts.totals, float(fit.counts.n_matches)
    counting = seconds(lambda: count_matches(table, kind))
    ours = {
        "opponent": "ours",
        "seconds": seconds(lambda: solve(totals, n_matches)),
        "from_scores_seconds": seconds(lambda: fitted(table, kind, "estimates")),
    }
    rows = [ours]
    for name in opponents():
        row = opponent_row(fit, name)
        row["from_scores_seconds"] = counting + row["input_seconds"] + row["seconds"]
        rows.append(row)
    for row in rows:
        row["kind"], row["ratio"] = kind, row["seconds"] / ours["seconds"]
        row["from_scores_ratio"] = row["from_scores_seconds"] / ours["from_scores_seconds"]
        row["fit_to_ours_from_scores"] = row["seconds"] / ours["from_scores_seconds"]
    return rows


def tournaments_seconds(kind: Any) -> dict[str, float]:
    """Thirty tournaments, with clustered standard errors and deviance.

    On two cores by the clock, which other work on the machine disturbs; and processor time of some
    of them one after another, scaled to thirty.
    """
    from bayes_sota.epp.further_fits import fit_tournaments

    tables, some = [simulated(seed) for seed in range(TOURNAMENTS)], 5
    processor = seconds(lambda: fit_tournaments(tables[:some], kind), 1) * TOURNAMENTS / some
    start = time.perf_counter()
    fit_tournaments(tables, kind, jobs=2)
    return {"two_cores": time.perf_counter() - start, "processor": processor}


def print_rows(figures: dict[str, Any]) -> None:
    """Tables of times, and of the opponents."""
    print("| matches | work | seconds | peak MB (before the fit) |")
    print("|---|---|---|---|")
    work = {
        "estimates": "estimates",
        "covariance": "estimates, covariance, deviance",
        "clustered": "the same and the covariance clustered by round",
    }
    for row in figures["ours"]:
        for what, words in work.items():
            peak = f"{row[f'{what}_peak_megabytes']:.0f} ({row['nothing_peak_megabytes']:.0f})"
            print(f"| {row['kind']} | {words} | {row[f'{what}_seconds']:.2f} | {peak} |")
    for kind, found in figures.get("tournaments", {}).items():
        each = f"{found['two_cores']:.1f} by the clock, {found['processor']:.1f} of processor time"
        print(f"| {kind} | {TOURNAMENTS} tournaments on two cores | {each} | |")
    if "opponents" not in figures:
        return
    print(
        "\n| matches | method | seconds of the fit alone | in ours | from the scores | in ours "
        "| its fit alone in ours from the scores | tolerance, difference |"
    )
    print("|" + "---|" * 8)
    for row in figures["opponents"]:
        cells = [row["kind"], row["opponent"], f"{row['seconds']:.3f}", f"{row['ratio']:.1f}"]
        cells += [f"{row['from_scores_seconds']:.2f}", f"{row['from_scores_ratio']:.1f}"]
        cells += [f"{row['fit_to_ours_from_scores']:.1f}"]
        if "tolerance" in row:
            cells.append(f"{row['tolerance']:.0e}, {row['largest_difference']:.0e}")
        print("| " + " | ".join(cells) + " |")


def main() -> None:
    """Run the parts asked for; tables, then everything as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peak", nargs=2, metavar=("KIND", "WORK"), help=argparse.SUPPRESS)
    parts = ("ours", "opponents", "tournaments")
    parser.add_argument("--parts", nargs="+", default=list(parts), choices=parts)
    options = parser.parse_args()
    threadpool_limits(1)
    os.environ["RAYON_NUM_THREADS"] = "1"  # evalica's
    if options.peak:
        return print_peak(*options.peak)
    table = simulated()
    figures: dict[str, Any] = {"ours": [], "load_before": os.getloadavg()[0]}
    if "ours" in options.parts:
        figures["ours"] = [our_row(table, kind) for kind in KINDS]
    if "opponents" in options.parts:
        figures["opponents"] = [row for kind in KINDS for row in opponents_rows(table, kind)]
    if "tournaments" in options.parts:
        figures["tournaments"] = {kind: tournaments_seconds(kind) for kind in KINDS}
    figures["load_after"] = os.getloadavg()[0]
    print_rows(figures)
    print(json.dumps(figures, indent=2))
    return None


if __name__ == "__main__":
    main()
