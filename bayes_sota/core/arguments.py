"""Ranges of arguments, and seeds (``tests/core/test_arguments.py`` tries the ends)."""

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.text import nearest, plain_text

_HUGE = 1e50  # and its inverse: an end so that what follows from the numbers is finite


@dataclass(frozen=True)
class Range:
    """Numbers from ``low`` to ``high``; open ends are excluded."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False
    whole: bool = False
    percent: bool = True  # may be meant where a number is above 1

    def __str__(self) -> str:
        tiny = 0 < self.low < 1 / _HUGE
        form = "{:,}" if self.whole else "{:,.15g}"
        low, high = (form.format(x) for x in (0 if tiny else self.low, self.high))
        kind = "a whole number" if self.whole else "a number"
        first = f" above {low}" if self.open_low or tiny else f" of at least {low}"
        if self.high >= _HUGE:
            return kind + first * (self.low > -_HUGE)
        if not self.open_low and not self.open_high:
            return f"{kind} from {low} to {high}"
        return f"{kind}{first} and {'below' if self.open_high else 'at most'} {high}"

    def holds(self, value: Any) -> bool:
        above = value > self.low if self.open_low else value >= self.low
        return bool(above and (value < self.high if self.open_high else value <= self.high))

    def check(self, value: Any, name: str) -> Any:
        kinds = (int, np.integer) if self.whole else (int, float, np.integer, np.floating)
        if isinstance(value, bool) or not isinstance(value, kinds) or not self.holds(value):
            raise self.refusal(name, value, value)
        return value

    def refusal(self, name: str, shown: object, number: Any) -> InputError:
        """``InputError`` that hints at a share given in percent."""
        is_share = self.percent and not self.whole and self.high <= 1
        percent = is_share and isinstance(number, float | int) and 1 < number <= 100
        hint = f"; in percent? then write {number / 100:g}" if percent else ""
        if isinstance(shown, dict):  # numbers by name
            shown = ",".join(f"{key}:{value}" for key, value in shown.items())
        problem = f"{{name}} must be {self}, got {plain_text(shown, 40)}{hint}"
        return InputError(problem, parameter=name)


ASSURANCE = Range(0.5, 0.999999, open_low=True)  # and power
CLASSES = Range(2, 10**9, whole=True)
CORRELATION = Range(0, 1, open_high=True, percent=False)  # rho
COUNT = Range(1, 10**9, whole=True)  # items, classifiers
COUNT_OR_NONE = Range(0, 10**9, whole=True)  # correct answers
DRAWS = Range(1, 2_000_000, whole=True)
FOLDS = Range(2, 10_000, whole=True)
ITERATIONS = Range(1, 10_000, whole=True)  # of cross-validation
LEVEL = Range(1e-9, 0.5, open_high=True)
NOT_NEGATIVE = Range(0, 1e100)
NUMBER = Range(-1e100, 1e100)  # with a finite square
OPEN_SHARE = Range(0, 1, open_low=True, open_high=True)
PAIRWISE = Range(-1, 1, percent=False)
POSITIVE = Range(1e-100, 1e100)
PROCESSES = Range(1, 1024, whole=True)
RATIO = Range(0.02, 50)  # of spreads of scores
SEED = Range(0, math.inf, whole=True)
SHARE = Range(0, 1)
SKILL = Range(1e-6, 0.999999)  # of a reference classifier
TRIES = Range(1, 1e6)

DEFAULT_SEED = 0  # of every random_seed, so that everybody gets the numbers that are printed


class Points(float):
    """A share that was written in points or percent."""


def checked_width(value: Any, name: str, *, shares: bool) -> float:
    """Check a half-width."""
    NOT_NEGATIVE.check(value, name)
    if shares and value >= 1:
        problem = f"{{name}} must be a difference of shares below 1, got {value:g}"
        raise InputError(problem, parameter=name, fix="one point is 1pt, 1% or 0.01")
    if not shares and isinstance(value, Points):
        problem = "{name} must be in the unit of these numbers, which are not shares"
        raise InputError(problem, parameter=name, fix="write it without points or percent")
    return float(value)


def check_choice(name: str, value: object, choices: Any) -> None:
    """``InputError`` unless ``value`` is in a ``Literal`` or a collection."""
    known = get_args(choices) or list(choices)
    if value not in known:
        allowed = f"{', '.join(known)}, got {value!r}{nearest(value, known)}"
        raise InputError(f"{{name}} must be one of {allowed}", parameter=name)


def check_kind(value: object, kind: type, source: str) -> None:
    """``InputError`` unless ``value`` is a ``kind``; ``source`` makes one."""
    if not isinstance(value, kind):
        problem = f"a {kind.__name__} is needed, got {type(value).__name__}"
        raise InputError(problem, fix=f"{source} makes one")


def generator_of(random_seed: Any) -> np.random.Generator:
    """``numpy.random.default_rng``, with ``InputError`` for a bad seed."""
    if isinstance(random_seed, int | float | str):
        SEED.check(random_seed, "random_seed")
    return np.random.default_rng(random_seed)


def refuse_unused(what: str, values: dict[str, Any]) -> None:
    """Raise ``InputError`` for the first given argument without effect."""
    for name, value in values.items():
        if value is not None and value is not False and np.size(value):
            problem = f"{{name}} has no effect on {what}: leave it out"
            raise InputError(problem, parameter=name)
