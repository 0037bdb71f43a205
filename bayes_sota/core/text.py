"""Text in messages and results.

Text from strangers, such as the names of teams, is shown as what it is in every format: a name must
not become a formula in a spreadsheet, a link, HTML or a new cell in Markdown, nor steer a terminal
(``tests/leaderboard/test_summary_entries.py``).
"""

import hashlib
import os
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LATEX = {c: f"\\{c}" for c in "{}$&%#_"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "[": "{[}", "]": "{]}",
}  # fmt: skip


def spreadsheet_text(text: str) -> str:
    """Text that no spreadsheet takes for a formula, without control characters.

    Examples
    --------
    >>> spreadsheet_text("=1+1"), spreadsheet_text("ResNet-50")
    ("'=1+1", 'ResNet-50')
    """
    start = unicodedata.normalize("NFKC", text[:1])  # full-width signs count as well
    return ("'" if start in _FORMULA else "") + plain_text(text)


def markdown_text(text: str) -> str:
    r"""Text that Markdown shows as it is: no table cells, code, links, emphasis or HTML.

    Examples
    --------
    >>> print(markdown_text("a|b `c` <b> [d](e)"))
    a\|b \`c\` &lt;b&gt; \[d\](e)
    """
    plain = plain_text(text)
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        plain = plain.replace(sign, entity)
    escaped = "".join(f"\\{c}" if c in "\\|`[]*_~$" else c for c in plain)
    return escaped.replace("://", "&#58;//").replace("www.", "www&#46;")  # no links by themselves


def latex_text(text: str) -> str:
    r"""Text that LaTeX sets as it is: no commands, columns, comments, mathematics or options.

    Examples
    --------
    >>> print(latex_text(r"a_b & 5% \input{x} [t]"))
    a\_b \& 5\% \textbackslash{}input\{x\} {[}t{]}
    """
    return "".join(_LATEX.get(c, c) for c in plain_text(text))


def plain_text(text: object, longest: int | None = None) -> str:
    r"""Text on one line whose control and formatting characters are visible, cut where asked.

    Examples
    --------
    >>> print(plain_text("two\nlines"), plain_text("a" * 9, 4))
    two\nlines aaa…
    """
    whole = str(text)
    if longest is not None:
        whole = whole[: longest + 1]
    line = whole if whole.isprintable() else "".join(map(_visible, whole))
    return line if longest is None or len(line) <= longest else line[: longest - 1] + "…"


def _visible(c: str) -> str:
    if c.isprintable():
        return c
    return " " if unicodedata.category(c) == "Zs" else repr(c)[1:-1]


def shown(value: object) -> str:
    """Value from a file or a user as it may stand in a message: quoted, escaped and short.

    Examples
    --------
    >>> shown("a" * 100), shown("tab\\t")
    ("'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'", "'tab\\\\t'")
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        return str(value)[:60]
    short = f"{value[:57]}..." if isinstance(value, str) and len(value) > 60 else value
    return plain_text(f"{short!r:.200}")


def counted(number: int, one: str, many: str | None = None) -> str:
    """Number with its noun.

    Examples
    --------
    >>> counted(1, "score"), counted(2000, "score"), counted(0, "entry", "entries")
    ('1 score', '2,000 scores', '0 entries')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def chance(p: float) -> str:
    """Probability with three digits after the point; a small one has four or a bound.

    Examples
    --------
    >>> chance(0.09295), chance(3.1e-9), chance(0.99999)
    ('0.093', '< 0.0001', '> 0.999')
    """
    if p < 0.0001:
        return "< 0.0001"
    if p > 0.9995:
        return "> 0.999"
    return f"{p:.4f}" if p < 0.001 else f"{p:.3f}"


def decimals_for(sd: float) -> int:
    """Decimals that a number with this standard deviation supports: two digits of the sd."""
    if not np.isfinite(sd) or sd <= 0:
        return 6
    return int(np.clip(1 - np.floor(np.log10(sd)), 1, 8))


def shown_path(path: str | os.PathLike[str]) -> str:
    """Path as it may stand in a message: its end, which names the file."""
    text = plain_text(os.fspath(path))
    return text if len(text) <= 120 else f"…{text[-119:]}"


def checked_labels(labels: Iterable[Any] | None, size: int, kind: str) -> tuple[str, ...]:
    """Names as strings, as many as needed and each once."""
    if labels is None:
        return tuple(str(number) for number in range(1, size + 1))
    if isinstance(labels, str):
        raise InputError(f"names of {kind}s must be a sequence of names, got {labels!r}")
    found = tuple(str(label) for label in labels)
    if len(found) != size:
        raise InputError(f"there are {size} {kind}s, but {len(found)} names of {kind}s")
    if len(set(found)) < size:
        twice = Counter(found).most_common(1)[0][0]
        raise InputError(f"every {kind} needs its own name: {twice!r} occurs more than once")
    return found


def checked_clusters(clusters: Iterable[Any] | None, n_items: int) -> tuple[str, ...] | None:
    """Cluster of each item as a string."""
    if clusters is None:
        return None
    found = tuple(str(cluster) for cluster in clusters)
    if len(found) != n_items:
        raise InputError(f"every item has one cluster: {n_items} items, {len(found)} clusters")
    return found


def digest_of(*parts: object) -> str:
    """First 16 digits of the SHA-256 of arrays, by their bytes, and of what else prints."""
    digest = hashlib.sha256()
    for part in parts:
        is_array = isinstance(part, np.ndarray)
        digest.update(np.ascontiguousarray(part).tobytes() if is_array else repr(part).encode())
    return digest.hexdigest()[:16]


def summed_by_cluster(values: FloatArray, clusters: Sequence[str] | None) -> FloatArray:
    """Rows of one cluster added up, (clusters, m); the rows themselves where there are none."""
    if clusters is None:
        return values
    _, index = np.unique(np.array(clusters), return_inverse=True)
    summed = np.zeros((int(index.max()) + 1, values.shape[1]))
    np.add.at(summed, index, values)
    return summed
