"""A badge for the page of a leaderboard: which of its first ranks cannot be told apart."""

import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from bayes_sota.core.files import check_ending, write_text

if TYPE_CHECKING:
    from bayes_sota.core.tables import Report

_LABEL = "bayes_sota"
_SURE, _OPEN, _DOUBTFUL = "#0072B2", "#D55E00", "#7F7F7F"
_LETTER, _MARGIN = 6.5, 10  # width of a letter, and of what is left of a text and right of it


def badge_message(table: "Report") -> tuple[str, str]:
    """What a badge says of the table of a board, and its colour.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> board = bs.Leaderboard([0.93, 0.92, 0.70], n_test=500)
    >>> badge_message(bs.board_table(board, random_seed=0))
    ('ranks 1 to 2 cannot be told apart', '#D55E00')
    """
    if table.reasons:
        return "ranks not to be trusted", _DOUBTFUL
    tied, m = table.content["n_tied_with_best"], table.content["n_entries"]
    if tied == 1:
        return f"rank 1 of {m:,} is sure", _SURE
    return f"ranks 1 to {tied:,} cannot be told apart", _OPEN


def save_badge(table: "Report", path: str | Path) -> None:
    """Write the badge of a board's table: an image, or what shields.io makes one of.

    Parameters
    ----------
    table : Report
        As ``board_table`` gives it.
    path : path
        ``.svg`` for an image, ``.json`` for an endpoint of shields.io.

    Raises
    ------
    InputError
        Another ending, or a file that cannot be written.

    Examples
    --------
    >>> import bayes_sota as bs
    >>> import tempfile
    >>> board = bs.Leaderboard([0.93, 0.92, 0.70], n_test=500)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_badge(bs.board_table(board, random_seed=0), f"{folder}/badge.json")
    ...     json.loads(Path(folder, "badge.json").read_text())["message"]
    'ranks 1 to 2 cannot be told apart'
    """
    message, color = badge_message(table)
    if check_ending(Path(path), "badge").suffix.lower() == ".json":
        known = {"schemaVersion": 1, "label": _LABEL, "message": message, "color": color}
        write_text(json.dumps(known) + "\n", path)
        return
    write_text(_image(message, color), path)


def _image(message: str, color: str) -> str:
    """The badge as SVG."""
    label, said = (_LETTER * len(text) for text in (_LABEL, message))
    left, right = label + 2 * _MARGIN, said + 2 * _MARGIN
    title = escape(f"{_LABEL}: {message}")
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" \
aria-label="{title}">
<title>{title}</title>
<rect width="{left}" height="20" fill="#4D4D4D"/>
<rect x="{left}" width="{right}" height="20" fill="{color}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{left / 2}" y="14" textLength="{label}">{_LABEL}</text>
<text x="{left + right / 2}" y="14" textLength="{said}">{escape(message)}</text>
</g>
</svg>
"""
