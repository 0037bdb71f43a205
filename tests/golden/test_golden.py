"""The numbers of version 0.5, which stay what they are until a reason is written down.

``calls_*.py`` hold some 250 calls of public functions under names, ``*.json`` what each answered in
0.5, with ten digits. A number without Monte Carlo error may differ by one part in 10^7. For a call
that takes a seed, the file has the number with seed 1 (``same_seed``), its mean over four to six
seeds, and ``mc``, the 95 % bound of its standard deviation over them, so that few seeds do not make
it look small. P(best), counted since, has at least the error of 4,000 draws. Neighbours at equal
distances, which rounding orders otherwise on other processors, have an ``mc`` too (``vote``). Calls
``model/...`` have log densities of PyMC models near their start, which hold
until a model is written with other variables. Two strengths:

- by default a number may lie four ``mc`` from the mean: what new code with other random numbers is
  held against. Ends of rank sets, tiers and numbers of ties may also be 1 off;
- with ``GOLDEN_EXACT=1`` in the environment the same seed must give the same number, to one part in
  10^6: what a change that only removes or moves code is held against.

A number that changed for a reason is ``{"was": ..., "now": ..., "why": ...}`` and is held to
``now``.

``uv run python tests/golden/make.py NAME`` writes an answer anew where it changes for a reason;
the commit's message says which. Calls that take long are slow. Calls of real data need
``BAYES_SOTA_DATA``, the folder that has them. Bodies of calls follow the interface as it changes;
names and numbers stay.
"""

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from golden.calls import CALLS
from golden.registry import MissingDataError

STORED: dict[str, dict[str, Any]] = {
    name: entry
    for path in sorted(Path(__file__).parent.glob("*.json"))
    for name, entry in json.loads(path.read_text()).items()
}
EXACT = os.environ.get("GOLDEN_EXACT") == "1"


def tolerance(key: str, old: Any, seeded: bool) -> tuple[float, float]:
    """Value that a number is held against, and how far from it it may be."""
    if isinstance(old, dict) and "now" in old:
        old = old["now"]
    value, error = (old["mean"], old["mc"]) if isinstance(old, dict) else (old, 0.0)
    if seeded and EXACT:
        value = old["same_seed"] if isinstance(old, dict) else old
        return value, 1e-6 * abs(value) + 1e-9
    if not seeded:
        return value, 4 * error + 1e-7 * abs(value) + 1e-9
    if any(word in key for word in ("rank_set", "tier", "n_tied", "n_told")):
        return value, 4 * error + 1.0
    rare = value in (0, 1)  # a share of draws, of which no seed had one, or all
    return value, 4 * error + 1e-6 * abs(value) + 1e-9 + 1e-3 * rare


def differences(name: str):
    """Numbers of a call that are not what they were."""
    new = CALLS[name].numbers()
    for key, old in STORED[name]["numbers"].items():
        value, allowed = tolerance(key, old, CALLS[name].seeded)
        if not abs(new.get(key, math.nan) - value) <= allowed:
            yield f"{key}: {value:.10g} before, {new.get(key)} now, {allowed:.2g} allowed"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * entry["slow"])
        for name, entry in STORED.items()
    ],
)
def test_numbers_are_those_of_version_0_5(name: str) -> None:
    try:
        found = list(differences(name))
    except MissingDataError as error:
        pytest.skip(str(error))
    assert not found, "\n".join(found)


def test_every_call_has_an_answer() -> None:
    assert STORED.keys() == CALLS.keys()
