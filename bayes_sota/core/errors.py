"""Exceptions of the package; each is also a built-in exception.

A message is one line: what is wrong, the value, and the fix.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from numbers import Number

MOST_LISTED = 10  # problems of one kind, or names, in one message

# How a parameter of reading is written in Python and in the shell; others are roles of columns.
_SPELLINGS = {
    "direction": (
        'direction="lower" or direction="higher"',
        "--lower-is-better or --higher-is-better",
    ),
    "use": ('use=["A", "B"]', "--use A,B"),
    "leave_out": ('leave_out=["A", "B"]', "--leave-out A,B"),
    "n_test": ("n_test=N", "--n-test N"),
    "standard_error": ("standard_error=SE", "--standard-error SE"),
    "metric": ('metric="NAME"', "--metric NAME"),
    "rows": ('entry="NAME" or unit="NAME"', "--column entry=NAME or --column unit=NAME"),
    "folds": ("folds=K", "--folds K"),
    "parts": ('iteration="NAME" and fold="NAME"', "--column iteration=NAME and --column fold=NAME"),
    "penalty": ("penalty=0.5", "--penalty 0.5"),
}
# Options that are not called as their parameters are.
_OPTIONS = {"n_classifiers": "--classifiers", "random_seed": "--seed", "ci_prob": "--prob"}


class BayesSotaError(Exception):
    """Base class of the package's errors."""


@dataclass(eq=False, repr=False)
class InputError(BayesSotaError, ValueError):
    """Invalid input: a value, a combination of values or a file.

    In ``problem``, ``{name}`` stands for the ``parameter``; in ``fix``, ``{option}`` stands for the
    parameter with a value.

    Examples
    --------
    >>> fix = "choose one with {option}"
    >>> error = InputError("two scores", where="x.csv", parameter="score", fix=fix)
    >>> print(error)
    x.csv: two scores; choose one with score="NAME"
    >>> print(error.render({"--column"}))
    x.csv: two scores; choose one with --column score=NAME
    """

    is_unreadable = False  # a file that cannot be opened or holds no table: nothing else is to say

    problem: str
    _: KW_ONLY
    where: str = ""
    line: str = ""
    column: str | None = None
    parameter: str = ""
    fix: str = ""

    def render(self, options: Collection[str] | None = None) -> str:
        """The message, in words of the shell if its options are given."""
        column = "" if self.column is None else f"column {quoted(self.column)}"
        place = ", ".join(filter(None, (self.line, column)))
        option = _OPTIONS.get(self.parameter, f"--{self.parameter.replace('_', '-')}")
        name = option if option in (options or ()) else self.parameter
        problem = self.problem.replace("{name}", name)
        text = ": ".join(filter(None, (self.where, place, problem)))
        if self.fix:
            text += "; " + self.fix.replace("{option}", _spelled(self.parameter, options))
        return text

    def __str__(self) -> str:
        return self.render()


class ImpossibleAccuracyError(InputError):
    """A printed accuracy that no whole number of correct answers gives."""


class InfeasibleCorrelationError(InputError):
    """A correlation that no pair of classifiers of these skills can have (Eq. 8 of [MH25])."""


class InfiniteEstimateError(InputError):
    """Matches without a finite maximum-likelihood fit: some players never lose to the others."""


@contextmanager
def located(where: str, fix: str = "") -> Iterator[None]:
    """Add a place, and a missing fix, to an ``InputError`` raised in the block."""
    try:
        yield
    except InputError as error:
        if not error.where.startswith(where):
            error.where = ": ".join(filter(None, (where, error.where)))
        error.fix = error.fix or fix
        raise


def quoted(value: object) -> str:
    """Text in quotation marks, on one line, shortened; a number unchanged."""
    text = str(value)
    shown = text if len(text) <= 60 else text[:57] + "..."
    is_number = isinstance(value, Number)
    return shown if is_number else json.dumps(shown, ensure_ascii=not shown.isprintable())


def listed(values: Iterable[object]) -> str:
    """Up to ten quoted values, and how many others there are."""
    every = list(values)
    shown = ", ".join(map(quoted, every[:MOST_LISTED]))
    rest = len(every) - MOST_LISTED
    return f"{shown} and {rest} other{'s' * (rest > 1)}" if rest > 0 else shown


def _spelled(parameter: str, options: Collection[str] | None) -> str:
    if parameter in _SPELLINGS:
        return _SPELLINGS[parameter][options is not None]
    return f'{parameter}="NAME"' if options is None else f"--column {parameter}=NAME"
