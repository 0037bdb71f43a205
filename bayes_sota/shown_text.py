"""Text from strangers, such as the names of teams, as what it is in every format: text.

A name must not become a formula in a spreadsheet, a link, HTML or a new cell in Markdown, nor steer
a terminal (``tests/test_entry_table.py``).
"""

import unicodedata

__all__ = ["markdown_text", "plain_text", "spreadsheet_text"]

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


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


def plain_text(text: str) -> str:
    """Text with control and formatting characters shown as question marks.

    Examples
    --------
    >>> plain_text("two\\nlines")
    'two?lines'
    """
    return "".join(c if c.isprintable() else "?" for c in text)
