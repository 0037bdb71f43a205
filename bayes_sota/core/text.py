"""Text in messages and results.

Untrusted text, such as a name, is shown literally: it must not become a formula, a link, HTML or
a new cell, nor control a terminal (``tests/leaderboard/test_summary_entries.py``).
"""

import hashlib
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import ceil
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError, quoted
from bayes_sota.core.types import IntArray

_CLAUSE = re.compile(r"(?<=[;:] )")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NAMED = ["backslash", "asciitilde", "asciicircum", "less", "greater", "bar"]
_LATEX = {
    **{c: f"\\{c}" for c in "{}$&%#_"},
    **{
        c: f"{{{c}}}" for c in "[]*"
    },  # at the start of a row they belong to the end of the last one
    **{c: rf"\text{name}{{}}" for c, name in zip("\\~^<>|", _NAMED, strict=True)},
}


def marked_cell(text: str) -> str:
    """Cell text that no spreadsheet reads as a formula; ``unmarked_cell`` undoes it.

    >>> marked_cell("-rmse"), marked_cell("'-rmse"), unmarked_cell(marked_cell("'-rmse"))
    ("'-rmse", "''-rmse", "'-rmse")
    """
    return f"'{text}" if _is_formula(text) else text


def unmarked_cell(text: str) -> str:
    """Cell text without the apostrophe of ``marked_cell``."""
    return text[1:] if text[:1] == "'" and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    return unicodedata.normalize("NFKC", text.lstrip("'")[:1]) in _FORMULA  # full-width signs, too


def markdown_text(text: str) -> str:
    r"""Text escaped for Markdown: no table cells, code, links, emphasis or HTML.

    >>> print(markdown_text("a|b `c` <b> [d](e)"))
    a\|b \`c\` &lt;b&gt; \[d\](e)
    """
    plain = escape(plain_text(text), quote=False)
    escaped = "".join(f"\\{c}" if c in "\\|`[]*_~$" else c for c in plain)
    return escaped.replace("://", "&#58;//").replace("www.", "www&#46;")  # no links by themselves


def latex_text(text: str) -> str:
    r"""Text escaped for LaTeX: no commands, columns, comments, mathematics or options.

    >>> print(latex_text(r"a_b & 5% \input{x} [t]"))
    a\_b \& 5\% \textbackslash{}input\{x\} {[}t{]}
    """
    return "".join(_LATEX.get(c, c) for c in plain_text(text))


def plain_text(text: object, longest: int | None = None) -> str:
    r"""Text on one line with visible control characters.

    >>> print(plain_text("two\nlines"), plain_text("a" * 9, 4))
    two\nlines aaa…
    """
    whole = str(text)
    line = whole if whole.isprintable() else "".join(map(_visible, whole))
    return line if longest is None or len(line) <= longest else line[: longest - 1] + "…"


def shown_name(name: str, longest: int = 36) -> str:
    """Name on one line; a long one loses its middle."""
    text = plain_text(name)
    if len(text) <= longest:
        return text
    tail = (longest - 1) * 3 // 7
    return f"{text[: longest - 1 - tail]}…{text[len(text) - tail :]}"


def _visible(c: str) -> str:
    if c.isprintable():
        return c
    return " " if unicodedata.category(c) == "Zs" else repr(c)[1:-1]


def nearest(name: object, known: Iterable[str], most: int = 3) -> str:
    """End of a message that suggests similar names, or nothing."""
    from difflib import get_close_matches

    folded = {one.casefold(): one for one in known}
    close = get_close_matches(str(name).casefold(), list(folded), n=most, cutoff=0.5)
    return f"; did you mean {' or '.join(quoted(folded[one]) for one in close)}?" if close else ""


def in_points(width: float, shares: bool = True) -> str:
    """A half-width as text: in points for shares, else the number.

    >>> in_points(0.01), in_points(0.0125), in_points(2.5, shares=False)
    ('1.0 points', '1.25 points', '2.5')
    """
    if not shares:
        return f"{width:g}"
    text = f"{100 * width:.4g}"
    return f"{text if '.' in text or 'e' in text else f'{text}.0'} points"


def counted(number: int, one: str, many: str | None = None) -> str:
    """Number with its noun in singular or plural."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def about(count: float) -> str:
    """A count with two digits, rounded up.

    >>> about(1872.3), about(7)
    ('about 1,900', 'about 7')
    """
    unit = 10 ** max(len(str(int(count))) - 2, 0)
    return f"about {ceil(count / unit - 1e-9) * unit:,}"


def chance(p: float, mcse: float = 0.0) -> str:
    """Probability in a table, with the decimals that its Monte Carlo error supports, or a bound.

    >>> chance(0.09295), chance(3.1e-9), chance(0.99999)
    ('0.093', '< 0.0001', '> 0.999')
    >>> chance(0.0312, 0.0055), chance(0.0, 0.0004), chance(0.0, 0.004)
    ('0.03', '< 0.001', '< 0.01')
    """
    digits, bound = (4, 4) if p < 0.001 else (3, 3)
    if mcse > 0:
        digits = min(3, _decimals_of_error(mcse))
        bound = min(digits, int(np.floor(-np.log10(min(2 * mcse, 0.1)) + 1e-9)))
    unit = 10.0**-digits
    if p < (unit if digits == 4 else unit / 2):
        return f"< {10.0**-bound:.{bound}f}"
    if p > 1 - unit / 2:
        return f"> {1 - 10.0**-bound:.{bound}f}"
    return f"{p:.{digits}f}"


def in_prose(p: float, limit: float = np.inf) -> str:
    """A probability in a sentence: two digits, and more if these would round it to ``limit``.

    >>> in_prose(0.0929), in_prose(0.0001), in_prose(0.0501, 0.05)
    ('0.09', '< 0.01', '0.0501')
    """
    if p < 0.005 or p > 0.995:
        return "< 0.01" if p < 0.5 else "> 0.99"
    digits = 2
    while digits < 8 and np.sign(round(p, digits) - limit) != np.sign(p - limit):
        digits += 1
    return f"{p:.{digits}f}"


def p_value(p: float) -> str:
    """A p-value in a sentence."""
    printed = chance(p)
    return f"p {printed}" if printed[0] in "<>" else f"p = {printed}"


def as_scores(summary: dict[str, Any], decimals: int, metric: str) -> str:
    """Mean and interval of a skill."""
    mean, low, high = (
        as_score(x, decimals, metric) for x in (summary["mean"], *summary["interval"])
    )
    return f"{mean} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"


def as_score(value: float, decimals: int, metric: str) -> str:
    """A score in a sentence: an accuracy in percent.

    >>> as_score(0.988, 3, "accuracy"), as_score(0.988, 3, "auc")
    ('98.8 %', '0.988')
    """
    if metric == "accuracy":
        return f"{100 * value:.{max(decimals - 2, 0)}f} %"
    return f"{value:z.{decimals}f}"


def decimals_for(sd: float, mcse: float = 0.0) -> int:
    """Decimals to print: two digits of the sd, and no more than the Monte Carlo error allows.

    The last decimal is at least the first digit of 2 ``mcse``: the rule of ``az.summary``, after
    Vehtari, *How many iterations to run and how many digits to report*.

    >>> decimals_for(0.012), decimals_for(0.012, 0.0004), decimals_for(0.012, 0.006)
    (3, 3, 2)
    """
    digits = 6
    if np.isfinite(sd) and sd > 0:
        digits = int(np.clip(1 - np.floor(np.log10(sd)), 1, 8))
    return min(digits, _decimals_of_error(mcse))


def decimals_of(summary: Mapping[str, Any]) -> int:
    """Decimals that a summary supports."""
    low, high = summary["interval"]
    return decimals_for(summary.get("sd", (high - low) / 4), summary.get("mcse", 0.0))


def span(ends: Sequence[float], decimals: int) -> str:
    """Ends of an interval."""
    low, high = ends
    return f"{low:z.{decimals}f} to {high:z.{decimals}f}"


def estimate(summary: Mapping[str, Any], ci_prob: float) -> str:
    """Mean and interval."""
    d = decimals_of(summary)
    return f"{summary['mean']:z.{d}f} ({ci_prob:.0%} interval {span(summary['interval'], d)})"


def steady_decimals(sd: float, mcse: float) -> int:
    """Decimals to compare rows: a unit of the last is at least four Monte Carlo errors."""
    digits = decimals_for(sd)
    return digits if mcse <= 0 else min(digits, int(np.clip(-np.log10(4 * mcse), 1, 8)))


def _decimals_of_error(mcse: float) -> int:
    if not np.isfinite(mcse) or mcse <= 0:
        return 8
    return int(np.clip(-np.floor(np.log10(2 * mcse)), 1, 8))


def listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence: all, or the first and the number of others.

    >>> listed(["a", "b", "c"]), listed(["x"] * 9, 3)
    ('a, b and c', 'x, x and 7 more')
    """
    if len(names) > most:
        return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def as_sentences(notes: Iterable[str]) -> list[str]:
    """Notes as sentences for a paper, without clauses that name an option.

    >>> as_sentences(["rounds overlap; --test-fraction allows for it", "one is missing", "use --x"])
    ['Rounds overlap.', 'One is missing.']
    """
    kept = (_CLAUSE.split(note) for note in notes)
    cut = ("".join(part for part in parts if "--" not in part).rstrip(" ;:.") for parts in kept)
    return [
        f"{note[0].upper() if note.split()[0].isalpha() else note[0]}{note[1:]}."  # or a name
        for note in cut
        if note
    ]


def shown_path(path: str | os.PathLike[str]) -> str:
    """Path for a message; a long one keeps its end."""
    text = plain_text(os.fspath(path))
    return text if len(text) <= 120 else f"…{text[-119:]}"


def checked_labels(labels: Iterable[Any] | None, size: int, kind: str) -> tuple[str, ...]:
    """Check ``size`` distinct names, by default numbers from 1."""
    if isinstance(labels, str):
        raise InputError(f"names must be a sequence, one for each {kind}, got {labels!r}")
    names = () if labels is None else tuple(str(label) for label in labels)
    if not names:
        return tuple(str(number) for number in range(1, size + 1))
    if len(names) != size:
        raise InputError(f"{size} names are needed, one for each {kind}, got {len(names)}")
    if len(set(names)) < size:
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"every {kind} needs its own name: {twice!r} occurs more than once")
    return names


def checked_clusters(
    clusters: Iterable[Any] | None, n_items: int, what: str = "cluster", items: str = "items"
) -> tuple[str, ...] | None:
    """Check a cluster (or task) of each item."""
    if clusters is None:
        return None
    names = tuple(str(cluster) for cluster in clusters)
    if len(names) != n_items:
        raise InputError(f"{n_items} {items} need one {what} each, got {len(names)} {what}s")
    return names


def codes_of(names: Sequence[str]) -> tuple[list[str], IntArray]:
    """``numpy.unique`` of names and their inverse, without its memory for long names."""
    known = {name: code for code, name in enumerate(sorted(set(names)))}
    return list(known), np.fromiter(map(known.__getitem__, names), np.intp, len(names))


def digest_of(*parts: object) -> str:
    """First 16 digits of the SHA-256 of arrays and of reprs of other objects."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"{part.shape}".encode() + np.ascontiguousarray(part).tobytes())
        else:
            digest.update(repr(part).encode())
    return digest.hexdigest()[:16]
