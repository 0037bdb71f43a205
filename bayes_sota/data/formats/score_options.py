"""What the user chose, and what a reader hands back.

``tests/data/test_read_scores.py`` holds the choices that are refused.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from bayes_sota.core.errors import InputError
from bayes_sota.data.matches import Matches
from bayes_sota.data.score_table import Scheme, ScoreTable

__all__ = ["NotedScores", "Orientation", "ScoreFormat", "ScoreOptions", "refuse_unused"]

ScoreFormat = Literal["auto", "wide", "long", "battles", "cv_results", "lm_eval"]
Orientation = Literal["auto", "rows", "columns"]

# Options that a format has a use for; elsewhere they would be ignored in silence.
_USED = {
    "wide": {"player_column", "round_column", "group_column", "players"},
    "long": {"player_column", "round_column", "score_column", "tournament_column", "group_column"},
    "battles": {"cluster_column"},
    "cv_results": {"score_column"},
    "lm_eval": {"score_column"},
}
_NAMES = {
    "wide": "a wide table",
    "long": "a long table",
    "battles": "battles",
    "cv_results": "cv_results_",
    "lm_eval": "results of lm-evaluation-harness",
}


@dataclass(frozen=True)
class ScoreOptions:
    """What the user chose; None where nothing was said. The fields are those of ``read_scores``."""

    format: ScoreFormat = "auto"
    player_column: str | None = None
    round_column: str | None = None
    score_column: str | None = None
    tournament_column: str | None = None
    group_column: str | None = None
    cluster_column: str | None = None
    players: Orientation = "auto"
    lower_is_better: bool | tuple[str, ...] = False
    scheme: Scheme | None = None

    def __post_init__(self) -> None:
        """Refuse what is not among the choices."""
        for option, value, known in (
            ("format", self.format, get_args(ScoreFormat)),
            ("players", self.players, get_args(Orientation)),
        ):
            if value not in known:
                raise InputError(f"{option} must be one of {', '.join(known)}, got {value!r}")


@dataclass(frozen=True)
class NotedScores:
    """What was read, and what a user should know about it.

    Attributes
    ----------
    scores : ScoreTable, Matches or dict of ScoreTable
    format : str
        What was recognised.
    notes : tuple of str
        What was left out or chosen, for people.
    """

    scores: ScoreTable | Matches | dict[str, ScoreTable]
    format: ScoreFormat
    notes: tuple[str, ...] = ()


def refuse_unused(file_format: str, options: ScoreOptions, where: str) -> None:
    """Raise ``InputError`` where an option has no use for the format."""
    unused = [
        name
        for name in sorted(set.union(*_USED.values()) - _USED[file_format])
        if getattr(options, name) not in (None, "auto")
    ]
    if file_format == "battles":
        unused += [name for name in ("lower_is_better", "scheme") if getattr(options, name)]
    if unused:
        raise InputError(f"{where}: {unused[0]} is not for {_NAMES[file_format]}, which this is")
