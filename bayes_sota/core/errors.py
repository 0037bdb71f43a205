"""Exceptions of the package; each is also a built-in exception.

Every message names what was wrong, the value, and what would be right, in one line, so that the
command line can print it unchanged.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_COMPILED = (
    "PyMC keeps compiled code there: PYTENSOR_FLAGS=base_compiledir=FOLDER in the environment "
    "names another folder"
)


class BayesSotaError(Exception):
    """Base class of every error that the package raises on purpose."""


class InputError(BayesSotaError, ValueError):
    """Input that cannot be what the user meant: a value, a combination of values or a file."""


class UnreadableFileError(InputError):
    """A file that cannot be opened, so that nothing else can be said of it."""


class ImpossibleAccuracyError(InputError):
    """A printed accuracy that no whole number of right answers gives."""


class InfeasibleCorrelationError(InputError):
    """A correlation that no pair of classifiers of these skills can have (Eq. 8 of [MH25])."""


class AmbiguousMetricError(InputError):
    """Outcomes of which several metrics are equally usual, so that one has to be chosen.

    Attributes
    ----------
    metrics : sequence of str
        What can be chosen.
    """

    def __init__(self, message: str, metrics: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.metrics = metrics


class InfiniteEstimateError(InputError):
    """Matches that no finite skills explain best: some players never lose to the others."""


class SpecificationError(InputError):
    """A model specification that is not exactly what the format allows."""


def advice_on(error: Exception) -> str:
    """What to do where PyTensor cannot write its folder; otherwise nothing."""
    return _COMPILED if ".pytensor" in str(error) else ""


@contextmanager
def located(where: str) -> Iterator[None]:
    """Put the place before the message of what cannot know it."""
    try:
        yield
    except InputError as error:
        raise type(error)(f"{where}: {error}") from None
