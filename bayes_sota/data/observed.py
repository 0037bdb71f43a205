"""Base of all containers, and the two leaderboards of a competition."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from bayes_sota.core.arguments import COUNT, POSITIVE, Range
from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.priors import TriesPrior, UniformTries
from bayes_sota.core.text import checked_labels, digest_of
from bayes_sota.core.types import FloatArray
from bayes_sota.data.printed_scores import checked_number, checked_numbers, parse_scores

type Tries = int | tuple[int, int] | TriesPrior

FEWEST_TEAMS = 5  # fewer differences say nothing about their spread
BOARDS = ("public", "private")
_SAID = ("notes", "n_test_source")  # which are not data


class Observed:
    """Observed data, checked once, never changed, and equal where everything is equal."""

    anchors: ClassVar[Any] = None  # entries whose skill is known

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed, its first 16 digits."""
        derived = {name for name, of in vars(type(self)).items() if isinstance(of, cached_property)}
        known = {name: value for name, value in vars(self).items() if value is not False}
        names = sorted(known.keys() - derived - set(_SAID))
        return digest_of(*(part for name in names for part in (name, known[name])))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.data_hash() == other.data_hash()

    def __hash__(self) -> int:
        return hash(self.data_hash())

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field once, arrays read-only."""
        if name in vars(self):
            raise AttributeError(f"{type(self).__name__} does not change: {name} is set")
        self._set(**{name: value})

    def _set(self, **fields: Any) -> Self:
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value = value.view()
                value.flags.writeable = False
            vars(self)[name] = value
        return self

    def copy_with(self, **changes: Any) -> Self:
        """A copy with other fields, which are not checked again."""
        return object.__new__(type(self))._set(**vars(self) | changes)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Chosen(Observed):
    """Scores of entries, each of which may be the best of several submissions."""

    n_test: Any = None
    submissions: Any = None
    name: str = "board"
    notes: Any = ()
    is_competition: bool = False

    @property
    def n_entries(self) -> Any:
        """Number of entries, None where they are not known."""
        return len(vars(self)["names"]) or None  # which may be given by place, as no field here

    @property
    def has_submissions(self) -> bool:
        """Whether some score is, or may be, the best of several submissions."""
        return self.submissions is not None and bool(np.any(self.submissions != 1))

    def __repr__(self) -> str:
        size = f"n_entries={self.n_entries}, n_test={self.n_test}"
        return f"<{type(self).__name__} {self.name!r}: {size}>"


def entry_names(names: Iterable[Any] | None, m: int) -> tuple[str, ...]:
    """Names of m entries, all different; "entry 1", "entry 2", ... where there are none."""
    default = [f"entry {place}" for place in range(1, m + 1)]
    return checked_labels(default if names is None else names, m, "entry")


def number_or_prior(value: Tries, name: str, least: int = 1) -> int | TriesPrior:
    """A number, the log-uniform prior of a range, or a prior."""
    allowed = Range(least, COUNT.high, whole=True)
    if isinstance(value, TriesPrior):
        Range(least, np.inf).check(float(value.quantile(0.5)), f"the median of {name}")
        return value
    if isinstance(value, tuple) and len(value) == 2:
        low, high = (checked_number(end, name, allowed) for end in value)
        return UniformTries(low, high) if low != high else int(low)
    return int(checked_number(value, name, allowed))


def submission_numbers(submissions: Any, names: Sequence[str]) -> FloatArray | None:
    """Equally likely numbers of submissions behind each entry, (m, k): one where it is known."""
    if submissions is None:
        return None
    is_range = isinstance(submissions, tuple) and len(submissions) == 2
    if is_range or isinstance(submissions, TriesPrior):
        submissions = number_or_prior(submissions, "submissions")
    if isinstance(submissions, TriesPrior):
        return np.tile(submissions.nodes()[0], (len(names), 1))
    counts = checked_numbers(submissions, names, "submissions")
    return counts[:, None].astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class PairedBoards(Chosen):
    """Two leaderboards of the same teams, aligned by team.

    The private score of a team is that of the submission with its best public score.

    Parameters
    ----------
    public, private : (m,) sequence of float, str or Decimal, array or Series
        Scores on the two test sets, larger is better, at least five teams.
    names : (m,) sequence of str, optional
        All different. Default: "entry 1", "entry 2", ...
    n_test : int or (int, int), optional
        Items of both test sets, or of the public and of the private one; the scores are then
        accuracies.
    standard_errors : float or (float, float), optional
        Standard errors of one score, likewise, for scores that are not accuracies.
        Without either, the size of the noise is learnt from the differences.
    submissions : int, (int, int), TriesPrior or (m,) sequence of int, optional
        Submissions behind each team, as in ``Leaderboard``; the public score is the best of them.
    name : str
    notes : sequence of str

    Attributes
    ----------
    n_test, standard_errors : tuple of both boards, or None
    submissions : (m, k) array of float, or None
        Equally likely numbers behind each team.
    public, private, names, name, notes

    Raises
    ------
    InputError
        Boards of different lengths, fewer than five teams, equal names, impossible scores or sizes.

    Examples
    --------
    >>> boards = PairedBoards(
    ...     [0.91, 0.94, 0.90, 0.89, 0.70], [0.90, 0.91, 0.92, 0.88, 0.71], n_test=(100, 300)
    ... )
    >>> boards.n_entries, boards.names[boards.public_winner], boards.noise_is_known
    (5, 'entry 2', True)
    """

    public: Any
    private: Any
    names: Any = None
    _: KW_ONLY
    standard_errors: Any = None
    name: str = "paired boards"

    def __post_init__(self) -> None:
        if self.n_test is not None and self.standard_errors is not None:
            raise InputError("give numbers of items or standard errors of the boards, not both")
        given = self.public, self.private
        m, other = map(np.size, given)
        if other != m or m < FEWEST_TEAMS:
            need = f"two scores each of at least {FEWEST_TEAMS} teams, in the same order"
            raise InputError(f"paired boards need {need}; got {m:,} public and {other:,} private")
        names = entry_names(self.names, m)
        notes, bounded = list(map(str, self.notes)), self.n_test is not None
        for which, printed in zip(BOARDS, given, strict=True):
            subjects = [f"the {which} score of {quoted(name)}" for name in names]
            scores = parse_scores(printed, percent=False, bounded=bounded, subjects=subjects).values
            if np.ptp(scores) == 0:
                raise InputError(f"every {which} score is the same: they do not rank the teams")
            first = sorted(np.array(names)[scores == scores.max()])
            if len(first) > 1:
                share = f"{len(first):,} teams share the best {which} score"
                notes.append(f"{share}; {quoted(first[0])} stands for them, the first by name")
            self._set(**{which: scores})
        self._set(
            names=names,
            n_test=_pair(self.n_test, "n_test", COUNT),
            standard_errors=_pair(self.standard_errors, "standard_errors", POSITIVE),
            submissions=submission_numbers(self.submissions, names),
            notes=tuple(notes),
        )

    @property
    def noise_is_known(self) -> bool:
        """Whether the standard errors of both boards are known."""
        return self.n_test is not None or self.standard_errors is not None

    @property
    def public_winner(self) -> int:
        """Index of the best public score, the first by name of several equal ones."""
        return self.order(self.public)[0]

    def subset(self, names: Sequence[str]) -> Self:
        rows = [self.names.index(name) for name in names]
        given = {"public": self.public, "private": self.private, "submissions": self.submissions}
        kept = {field: of[rows] for field, of in given.items() if of is not None}
        return self.copy_with(names=tuple(names), **kept)

    def order(self, scores: FloatArray) -> list[int]:
        """Indices of the teams, best first, equal ones by name."""
        return sorted(range(self.n_entries), key=lambda i: (-scores[i], self.names[i]))


def _pair(value: Any, name: str, allowed: Range) -> tuple[Any, ...] | None:
    return None if value is None else tuple(checked_numbers(value, BOARDS, name, allowed).tolist())
