r"""EPP at full size: time and memory, and point estimates against evalica and choix in one run.

Run with ``PYTHONPATH=tests uv run --with evalica --with choix python FILE`` (about three minutes).
Tournaments of 2,000 players and 20 rounds, scores by Gumbel's law, one thread each.

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

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from simulated_tournaments import simulate_tournament
from threadpoolctl import threadpool_limits
from timing import fastest, print_table, printed

from bayes_sota.data.tournaments import ScoreTable
from bayes_sota.epp.counts import count_matches
from bayes_sota.epp.equations import solve
from bayes_sota.epp.fit import BradleyTerryFit, fit_epp

PLAYERS, ROUNDS = 2_000, 20
KINDS = ("same-round", "all-rounds")
AGREEMENT, TOLERANCES = 1e-6, 10.0 ** -np.arange(2, 12)  # the loosest that agrees is timed
WORK = {
    "estimates": lambda fit: fit.epp,
    "estimates, covariance, deviance": lambda fit: (fit.covariance_model, fit.deviance),
    "the same and the covariance clustered by round": lambda fit: (
        fit.covariance_model, fit.covariance, fit.deviance,
    ),
}  # fmt: skip
seconds = partial(fastest, clock=time.process_time)


def simulated(seed: int = 0) -> ScoreTable:
    """Skills of standard deviation 1.5 logits."""
    skills = 1.5 * np.random.default_rng([1, seed]).standard_normal(PLAYERS)
    return simulate_tournament(skills, ROUNDS, tournament=f"t{seed}", random_seed=seed)


def print_peak(kind: Any, what: str) -> None:
    """Peak resident megabytes of this process, which simulates and fits once."""
    table = simulated()
    if what:
        WORK[what](fit_epp(table, kind))
    with open("/proc/self/status") as status:  # of this process alone, unlike getrusage
        print(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")))


def ours(table: ScoreTable, kind: Any) -> Iterator[list[str]]:
    """Seconds and peak memory of each amount of work."""
    before = float(printed(__file__, "peak", kind, ""))
    for what, wanted in WORK.items():
        spent = seconds(lambda wanted=wanted: wanted(fit_epp(table, kind)))
        peak = float(printed(__file__, "peak", kind, what))
        yield [kind, what, f"{spent:.2f}", f"{peak:.0f} ({before:.0f})"]


def opponents() -> dict[str, tuple[Callable[..., Any], Callable[..., Any]]]:
    """Of each, how its input is built from the counts and how it is fitted."""
    import choix
    import evalica

    def matrix(fit: BradleyTerryFit) -> np.ndarray:
        return fit.counts.doubled_wins / 2

    def lists(fit: BradleyTerryFit) -> tuple[list, ...]:
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


def compared(table: ScoreTable, kind: Any) -> Iterator[list[str]]:
    """Ours, then theirs: from ready inputs, and from the scores, for which they get our counts."""
    fit = fit_epp(table, kind)
    totals, n_matches = fit.counts.totals, fit.counts.n_matches
    counting = seconds(lambda: count_matches(table, kind))
    own = seconds(lambda: solve(totals, n_matches)), seconds(lambda: fit_epp(table, kind))

    def row(name: str, alone: float, whole: float, agreement: str) -> list[str]:
        each = (alone, alone / own[0], whole, whole / own[1], alone / own[1])
        return [kind, name, *(f"{value:.3g}" for value in each), agreement]

    yield row("ours", *own, "")
    for name, (build, call) in opponents().items():
        given, building = build(fit), seconds(lambda build=build: build(fit), 1)
        for tolerance in TOLERANCES:
            skills = call(given, tolerance)
            difference = float(np.abs(skills - skills.mean() - fit.epp).max())
            if difference < AGREEMENT:
                break
        alone = seconds(lambda call=call, given=given, t=tolerance: call(given, t), 2)
        agreement = f"{tolerance:.0e}, {difference:.0e}"
        yield row(name, alone, counting + building + alone, agreement)


def main() -> None:
    """Two tables; ``peak KIND WORK`` is what a process of its own runs."""
    threadpool_limits(1)
    os.environ["RAYON_NUM_THREADS"] = "1"  # evalica's
    if sys.argv[1:2] == ["peak"]:
        return print_peak(*sys.argv[2:])
    table = simulated()
    header = ["matches", "work", "seconds", "peak MB (before the fit)"]
    print_table(header, (row for kind in KINDS for row in ours(table, kind)))
    header = ["matches", "method", "seconds of the fit alone", "in ours", "from the scores",
              "in ours", "its fit alone in ours from the scores",
              "tolerance, difference"]  # fmt: skip
    return print_table(header, (row for kind in KINDS for row in compared(table, kind)))


if __name__ == "__main__":
    main()
