"""Public and private leaderboard of the same teams: two scores each, on two test sets.

Everything is checked at construction and never again (``tests/data/test_paired.py``).
"""

from dataclasses import KW_ONLY, InitVar, dataclass
from typing import Any

import numpy as np

from bayes_sota.core.arguments import COUNT, POSITIVE, Range, refuse_unused
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import shown
from bayes_sota.core.types import FloatArray
from bayes_sota.data.observed import Chosen, entry_names, submission_numbers
from bayes_sota.data.printed_scores import checked_numbers, parse_scores

FEWEST_TEAMS = 5  # fewer differences say nothing about their spread
BOARDS = ("public", "private")
_NEGATED = "lower is better: scores and all results are multiplied by -1"


@dataclass(frozen=True, eq=False, repr=False)
class PairedBoards(Chosen):
    """Two leaderboards of the same teams, aligned by team.

    Parameters
    ----------
    public, private : (m,) sequence of float, str or Decimal, array or Series
        Scores on the two test sets, larger is better, at least five teams.
    names : (m,) sequence of str, optional
        Names of the teams, all different. Default: "entry 1", "entry 2", ...
    n_test : int or (int, int), optional
        Items of both test sets, or of the public and of the private one; the scores are then
        accuracies.
    standard_errors : float or (float, float), optional
        Standard errors of one score, likewise, for scores that are not accuracies.
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
    submissions : (m, k) array of float, or None
        Equally likely numbers behind each team: one where all are known.
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
    >>> boards.n_entries, boards.names[boards.public_winner], boards.noise_is_known
    (5, 'entry 2', True)
    """

    public: Any
    private: Any
    names: Any = None
    _: KW_ONLY
    n_test: Any = None
    standard_errors: Any = None
    lower_is_better: InitVar[bool] = False
    submissions: Any = None
    name: str = "paired boards"
    notes: Any = ()
    is_competition: bool = False

    def __post_init__(self, lower_is_better: bool) -> None:
        """Check everything."""
        if self.n_test is not None:
            unused = {"standard_errors": self.standard_errors, "lower_is_better": lower_is_better}
            refuse_unused("accuracies, whose errors follow from n_test", unused)
        both = [list(scores) for scores in (self.public, self.private)]
        m, n_private = map(len, both)
        if n_private != m or m < FEWEST_TEAMS:
            raise InputError(
                f"paired boards need two scores each of at least {FEWEST_TEAMS} teams, in the same "
                f"order; got {m:,} public and {n_private:,} private ones"
            )
        names = entry_names(self.names, m)
        notes = [*map(str, self.notes), *[_NEGATED] * bool(lower_is_better)]
        for which, printed in zip(BOARDS, both, strict=True):
            subjects = [f"the {which} score of {shown(name)}" for name in names]
            bounded = self.n_test is not None
            scores = parse_scores(printed, percent=False, bounded=bounded, subjects=subjects).values
            scores = -scores if lower_is_better else scores
            if np.ptp(scores) == 0:
                raise InputError(f"every {which} score is the same: they tell no team from another")
            first = sorted(np.array(names)[scores == scores.max()])
            if len(first) > 1:
                notes.append(
                    f"{len(first):,} teams share the best {which} score; {shown(first[0])} stands "
                    "for them, the first by name"
                )
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

    def order(self, scores: FloatArray) -> list[int]:
        """Indices of the teams by their scores, best first, equal ones by name."""
        return sorted(range(self.n_entries), key=lambda i: (-scores[i], self.names[i]))


def _pair(value: Any, name: str, allowed: Range) -> tuple[Any, ...] | None:
    """Numbers that are known of both boards, checked."""
    return None if value is None else tuple(checked_numbers(value, BOARDS, name, allowed).tolist())
