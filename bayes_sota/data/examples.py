"""Bundled examples: best scores of public leaderboards, each with its source.

Numbers only, so that they can travel with the package. ``tests/data/test_examples.py`` holds them
against the leaderboards that they were read from.
"""

from dataclasses import dataclass

from bayes_sota.data.leaderboard import Leaderboard, Rounding
from bayes_sota.errors import InputError

__all__ = ["Example", "list_examples", "load_example"]


@dataclass(frozen=True)
class Example:
    """The best score of a real leaderboard, and where it comes from.

    Attributes
    ----------
    name : str
        Name for ``load_example``.
    maximum : str
        Best observed score, an accuracy, with its digits as printed.
    n_test : int
        Number of test items behind the score.
    n_classifiers : int or (int, int)
        Number of classifiers on the board, or a range.
    rounding : {"nearest", "floor", "exact"}
        How the score was cut to its digits.
    source : str
        Where the maximum and the number of classifiers come from.
    n_test_source : str
        Where the number of test items comes from.
    runner_up : str
        Second-best observed score as printed; empty if unknown.
    note : str
        What the example shows.

    Examples
    --------
    >>> load_example("cassava").leaderboard().counts
    (6044, 6044)
    """

    name: str
    maximum: str
    n_test: int
    n_classifiers: int | tuple[int, int]
    rounding: Rounding = "nearest"
    source: str = ""
    n_test_source: str = ""
    runner_up: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        """Build the board once, so that impossible numbers fail here."""
        self.leaderboard()

    def leaderboard(self) -> Leaderboard:
        """Container that the estimators take; its ``name`` is that of the example."""
        return Leaderboard.from_maximum(
            self.maximum,
            n_test=self.n_test,
            n_classifiers=self.n_classifiers,
            rounding=self.rounding,
            name=self.name,
        )


_KAGGLE_FLOOR = "inferred: the smallest size of which every private score is a floored multiple"

_EXAMPLES = (
    Example(
        name="obesity-risk",
        maximum="0.91157",
        n_test=11_072,
        n_classifiers=3_558,
        rounding="floor",
        source=(
            "Kaggle playground-series-s4e2 (Multi-Class Prediction of Obesity Risk), private "
            "leaderboard; number of teams above chance from arXiv 2303.07272, Sec. 5.1.1"
        ),
        n_test_source=_KAGGLE_FLOOR,
        runner_up="0.91139",
        note="thousands of teams, many of them nearly equal at the top: multiplicity matters",
    ),
    Example(
        name="obesity-risk-paper",
        maximum="0.9116",
        n_test=13_840,
        n_classifiers=3_558,
        source="Møllersen & Holsbø, arXiv 2303.07272, Sec. 5.1.1",
        n_test_source="the paper: the whole test set, public and private items together",
        note="the same board as the paper treats it, for comparison with its numbers",
    ),
    Example(
        name="cassava",
        maximum="0.9132",
        n_test=6_618,
        n_classifiers=3_752,
        rounding="floor",
        source=(
            "Kaggle cassava-leaf-disease-classification, private leaderboard; number of teams "
            "above chance from arXiv 2303.07272, Sec. 5.1.2, which takes about 15,000 items"
        ),
        n_test_source=_KAGGLE_FLOOR,
        runner_up="0.9043",
        note="counter-example: the winner stands apart, which multiplicity does not explain",
    ),
)


def list_examples() -> tuple[Example, ...]:
    """List the bundled examples.

    Examples
    --------
    >>> [example.name for example in list_examples()]
    ['obesity-risk', 'obesity-risk-paper', 'cassava']
    """
    return _EXAMPLES


def load_example(name: str) -> Example:
    """Bundled example of a given name.

    Raises
    ------
    InputError
        No example has that name; the message lists those that exist.

    Examples
    --------
    >>> board = load_example("obesity-risk").leaderboard()
    >>> board.maximum, board.n_test, board.n_classifiers
    (0.91157, 11072, 3558)
    """
    for example in _EXAMPLES:
        if example.name == name:
            return example
    known = ", ".join(example.name for example in _EXAMPLES)
    raise InputError(f"there is no example {name!r}; examples: {known}")
