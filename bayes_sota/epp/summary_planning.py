"""How many rounds are enough, in words: ``bayes-sota epp FILE --plan SE``.

``tests/epp/test_planning.py`` reads it.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from bayes_sota.core.summary import frame_of
from bayes_sota.core.tables import SOFTWARE, Report, Table
from bayes_sota.core.text import counted
from bayes_sota.epp.fit import BradleyTerryFit
from bayes_sota.epp.planning import RoundsPlan, plan_rounds


def report_plan(
    fit: BradleyTerryFit,
    target_se: float,
    *,
    power: float = 0.8,
    ci_prob: float = 0.95,
    reading: Sequence[str] = (),
) -> Report:
    """Report how many rounds are enough.

    Parameters
    ----------
    fit, target_se, power, ci_prob
        As of ``plan_rounds``.
    reading : sequence of str
        Notes of the reader.

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.epp.simulate import simulate_tournament
    >>> fit = fit_epp(simulate_tournament([1.0, 0.0, -1.0], 20, random_seed=0))
    >>> print(report_plan(fit, 0.2).sentences[0])
    62 rounds make every standard error 0.2 or less; there are 20.
    """
    plan = plan_rounds(fit, target_se, power=power, ci_prob=ci_prob)
    players = _players_of(fit, plan)
    content: dict[str, Any] = {
        "rounds": plan.rounds,
        "target_se": target_se,
        "power": power,
        "ci_prob": ci_prob,
        "rounds_for_standard_errors": _finite(plan.for_error.max()),
        "rounds_for_best": _finite(plan.for_best),
        "players": players,
    }
    return Report(
        content=content,
        make_frame=partial(frame_of, players),
        tables=[_table_of_players(players)],
        sentences=_said_of_plan(fit, plan),
        legend=[
            "expected skill: the estimated one drawn towards the mean, as estimates scatter too "
            "far; tell from next: rounds until a test tells the player from the next one with "
            f"probability {power:g}, if they differ as expected",
        ],
        notes=reading,
        basis=[
            "rounds drawn like those that there are (clustered variances); normal and t tests; "
            f"{SOFTWARE}"
        ],
        about=plan,
    )


def _finite(rounds: float) -> int | None:
    """A number of rounds, None where none is enough."""
    return int(np.ceil(rounds)) if np.isfinite(rounds) else None


def _players_of(fit: BradleyTerryFit, plan: RoundsPlan) -> list[dict[str, Any]]:
    told = [*plan.for_neighbours, np.nan]
    return [
        {
            "player": fit.players[k],
            "expected_epp": float(plan.expected[k]),
            "se": float(fit.se[k]),
            "rounds_for_se": _finite(plan.for_error[k]),
            "rounds_to_tell_from_next": _finite(told[place]),
        }
        for place, k in enumerate(plan.order)
    ]


def _table_of_players(players: list[dict[str, Any]]) -> Table:
    rows = [
        {
            "player": one["player"],
            "expected skill": f"{one['expected_epp']:z.2f}",
            "se now": f"{one['se']:.2f}",
            "rounds for se": _shown(one["rounds_for_se"]),
            "tell from next": _shown(one["rounds_to_tell_from_next"]),
        }
        for one in players
    ]
    rows[-1]["tell from next"] = ""
    return Table.of(rows)


def _shown(rounds: int | None) -> str:
    return "no number" if rounds is None else f"{rounds:,}"


def _said_of_plan(fit: BradleyTerryFit, plan: RoundsPlan) -> list[str]:
    """What the plan answers: for the errors, the first two, and the best."""
    first, second = (fit.players[k] for k in plan.order[:2])
    every, there = _finite(plan.for_error.max()), counted(plan.rounds, "round")
    enough = f"No number of rounds makes every standard error {plan.target_se:g}, as splits overlap"
    if every is not None:
        enough = f"{counted(every, 'round')} make every standard error {plan.target_se:g} or less"
    told, best = _finite(plan.for_neighbours[0]), _finite(plan.for_best)
    tests = f"No number of rounds is sure to tell {first} from {second}"
    if told is not None:
        tests = (
            f"A test tells {first} from {second} with probability {plan.power:g} after "
            f"{counted(told, 'round')}"
        )
    leads = f"no number makes {first} the first with probability {plan.ci_prob:g}"
    if best is not None:
        leads = (
            f"{first} comes out first with probability {plan.ci_prob:g} after "
            f"{counted(best, 'round')}"
        )
    return [
        f"{enough}; there are {plan.rounds:,}.",
        f"{tests}, and {leads}, if skills are as expected.",
        f"Expected skills are those of {there}, drawn towards their mean.",
    ]
