"""Public and private leaderboard of the same teams: two scores each, on two test sets.

Everything is checked at construction and never again (``tests/data/test_paired.py``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_sota.core.errors import InputError, located
from bayes_sota.core.priors import TriesPrior
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.checks import (
    TEST_ITEMS,
    checked_names,
    checked_submissions,
    entry_names,
    positive_number,
    whole_number,
)
from bayes_sota.data.observed import Chosen, hash_of_json
from bayes_sota.data.printed_scores import parse_scores, score_of_entry

FEWEST_TEAMS = 5  # fewer differences say nothing about their spread
BOARDS = ("public", "private")
_NEGATED = "lower is better: scores and all results are multiplied by -1"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PairedBoards(Chosen):
    """Two leaderboards of the same teams, aligned by team.

    Parameters
    ----------
    public, private : (m,) sequence of float, str or Decimal, array or Series
        Scores on the two test sets, larger is better, at least five teams.
    names : (m,) sequence of str, optional
        Names of the teams, all different. Default: "entry 1", "entry 2", ...
    n_test : (int, int), optional
        Items of the public and of the private test set; the scores are then accuracies.
    standard_errors : (float, float), optional
        Standard errors of one score, public and private, for scores that are not accuracies.
        Without either, the size of the noise is learnt from the differences.
    submissions : int, (int, int), TriesPrior or (m,) sequence of int, optional
        Submissions behind each team, of which its public score is the best, as of ``Leaderboard``;
        the private score is of the one that was chosen so.
    name : str
        Label.
    notes : sequence of str
        What a reader dropped.

    Attributes
    ----------
    public, private : (m,) array of float
    names : tuple of str
    n_test : tuple of int, or None
    standard_errors : tuple of float, or None
    submissions : (m,) array of int, or None
        0 where ``submissions_prior`` says what is known of them.
    submissions_prior : TriesPrior or None
    name : str
    notes : tuple of str

    Raises
    ------
    InputError
        Boards of different lengths, scores that are no numbers, fewer than five teams, equal names,
        accuracies outside [0, 1], sizes or standard errors that cannot be.

    Examples
    --------
    >>> boards = PairedBoards(
    ...     [0.91, 0.94, 0.90, 0.89, 0.70], [0.90, 0.91, 0.92, 0.88, 0.71], n_test=(100, 300)
    ... )
    >>> boards.n_entries, boards.names[boards.public_winner], boards.is_accuracy
    (5, 'entry 2', True)
    """

    public: FloatArray
    private: FloatArray
    names: tuple[str, ...]
    n_test: tuple[int, int] | None
    standard_errors: tuple[float, float] | None
    submissions: IntArray | None
    submissions_prior: TriesPrior | None
    name: str
    notes: tuple[str, ...]

    def __init__(
        self,
        public: Any,
        private: Any,
        names: Sequence[str] | None = None,
        *,
        n_test: tuple[int, int] | None = None,
        standard_errors: tuple[float, float] | None = None,
        lower_is_better: bool = False,
        submissions: Any = None,
        name: str = "paired boards",
        notes: Sequence[str] = (),
    ) -> None:
        """Check everything."""
        if n_test is not None and standard_errors is not None:
            raise InputError(
                "give n_test (accuracies) or standard_errors (other scores), not both: the "
                "standard error of an accuracy follows from n_test"
            )
        if lower_is_better and n_test is not None:
            raise InputError(
                "lower_is_better is for errors and losses, but n_test says that the scores are "
                "accuracies; write an error rate e as the accuracy 1 - e"
            )
        checked = None if names is None else checked_names(names)
        sign = -1 if lower_is_better else 1
        scores = [
            sign * _checked_scores(values, which, checked, n_test is not None)
            for values, which in zip((public, private), BOARDS, strict=True)
        ]
        _check_lengths(*scores)
        every = entry_names(checked, scores[0].size)
        negated = [_NEGATED] if lower_is_better else []
        subject = partial(score_of_entry, names=checked, which="public score")
        counts, prior, told = checked_submissions(submissions, len(every), subject)
        remarks = [*map(str, notes), *negated, *told, *_tied_first(scores, every)]
        self._set(
            public=scores[0],
            private=scores[1],
            names=every,
            n_test=_pair(n_test, "n_test", partial(whole_number, meaning=TEST_ITEMS)),
            standard_errors=_pair(standard_errors, "standard_errors", positive_number),
            submissions=counts,
            submissions_prior=prior,
            name=str(name),
            notes=tuple(dict.fromkeys(remarks)),
        )

    @property
    def n_entries(self) -> int:
        """Number of teams, m."""
        return self.public.size

    @property
    def is_accuracy(self) -> bool:
        """Whether scores are accuracies on known numbers of items."""
        return self.n_test is not None

    @property
    def noise_is_known(self) -> bool:
        """Whether the standard errors of both boards are known."""
        return self.n_test is not None or self.standard_errors is not None

    @property
    def public_winner(self) -> int:
        """Index of the best public score, the first by name of several equal ones."""
        return self.order(self.public)[0]

    def order(self, scores: FloatArray) -> list[int]:
        """Indices of the teams by their scores, best first, equal ones by name."""
        return sorted(range(self.n_entries), key=lambda i: (-scores[i], self.names[i]))

    def subset(self, entries: Sequence[int] | IntArray | NDArray[np.bool_]) -> "PairedBoards":
        """The same boards with some of the teams, by index or mask.

        Examples
        --------
        >>> boards = PairedBoards(range(6), range(6))
        >>> boards.subset([0, 1, 2, 3, 5]).names[-1]
        'entry 6'
        """
        index = np.arange(self.n_entries)[np.asarray(entries)]
        kept = PairedBoards(
            self.public[index],
            self.private[index],
            [self.names[i] for i in index],
            n_test=self.n_test,
            standard_errors=self.standard_errors,
            name=self.name,
            notes=self.notes,
        )
        chosen = None if self.submissions is None else self.submissions[index]
        return kept._copy(
            submissions=chosen,
            submissions_prior=self.submissions_prior,
            is_competition=self.is_competition,
        )

    def data_hash(self) -> str:
        """SHA-256 of everything that was observed."""
        content = [self.public.tolist(), self.private.tolist(), list(self.names)]
        content += [self.n_test, self.standard_errors, self.name]
        if self.submissions is not None:
            content += [self.submissions.tolist(), repr(self.submissions_prior)]
        return hash_of_json(content + ["competition"] * self.is_competition)

    def __repr__(self) -> str:
        """One line, however many teams there are."""
        noise = f"n_test={self.n_test}, standard_errors={self.standard_errors}"
        return f"PairedBoards(name={self.name!r}, n_entries={self.n_entries}, {noise})"


def _checked_scores(
    values: Any, which: str, names: tuple[str, ...] | None, accuracies: bool
) -> FloatArray:
    """Scores of one board as floats."""
    with located(f"{which} board"):
        return parse_scores(
            values,
            rounding="exact",
            percent=False if accuracies else None,
            bounded=accuracies,
            subject=partial(score_of_entry, names=names, which=f"{which} score"),
        ).values


def _tied_first(scores: Sequence[FloatArray], names: tuple[str, ...]) -> list[str]:
    """Notes on boards whose best score several teams have."""
    notes = []
    for board, which in zip(scores, BOARDS, strict=True):
        best = sorted(names[i] for i in np.flatnonzero(board == board.max()))
        if len(best) > 1:
            notes.append(
                f"{len(best):,} teams share the best {which} score; {shown(best[0])} stands for "
                "them, the first by name"
            )
    return notes


def _check_lengths(public: FloatArray, private: FloatArray) -> None:
    if public.size != private.size:
        raise InputError(
            f"the public board has {public.size:,} scores and the private one {private.size:,}; "
            "give one of each for every team, in the same order"
        )
    if public.size < FEWEST_TEAMS:
        raise InputError(f"paired boards need at least {FEWEST_TEAMS} teams, got {public.size}")
    for scores, which in zip((public, private), BOARDS, strict=True):
        if scores.min() == scores.max():
            raise InputError(
                f"all {scores.size:,} {which} scores are {scores[0]:g}: they tell no team from "
                "another"
            )


def _pair[T](value: Any, what: str, checked: Callable[[Any, str], T]) -> tuple[T, T] | None:
    """What is known of each board, checked."""
    if value is None:
        return None
    if isinstance(value, str | bytes) or not hasattr(value, "__len__") or len(value) != 2:
        raise InputError(f"{what} is a pair (public, private), got {value!r:.80}")
    public, private = (
        checked(one, f"{what} of the {which} board")
        for one, which in zip(value, BOARDS, strict=True)
    )
    return public, private
