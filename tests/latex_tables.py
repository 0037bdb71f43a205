"""A strict reader of the LaTeX that tables are written in: what it refuses would not compile.

It knows tables with a caption, a label and the rules of booktabs, and no command beside those
below, which LaTeX sets as one character or not at all, so that a text from a stranger that is read
back has been no command. Nothing stands loose between tables.
"""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_SIGNS = {
    r"\textbackslash": "\\", r"\textasciitilde": "~", r"\textasciicircum": "^", r"\textless": "<",
    r"\textgreater": ">", r"\textbar": "|",
}  # fmt: skip
_ACTIVE = "$#%_^~<>|"
_RULES = {r"\toprule": 0, r"\midrule": 1, r"\bottomrule": None}
"""Rules of booktabs, and how many rows stand above."""


class Unreadable(AssertionError):
    """LaTeX would stop here, or show something else."""


def read_tables(text: str) -> list[list[list[str]]]:
    """Cells of each row of each tabular, as they are set; whatever is not LaTeX is refused."""
    tables, depth, columns, cell = list[list[list[str]]](), 0, 0, ""
    row, place, caption = list[str](), "", ""
    set_lines = (line for line in text.splitlines() if not line.startswith("% "))  # no comments
    tokens = iter(_TOKEN.findall("\n".join(set_lines)))
    before = ""
    for token in tokens:
        if token == r"\begin":
            _need(columns == 0 and depth == 0, "an environment inside of something")
            name = _group(tokens)
            if name == "table":
                _need(place == "", "a table inside of a table")
                place = "table"
                continue
            _need(name == "tabular", "another environment")
            align = _group(tokens)
            _need(re.fullmatch("[lr]+", align) is not None, f"columns {align!r}")
            columns, cell, row = len(align), "", []
            tables.append([])
        elif token == r"\end":
            name = _group(tokens)
            if name == "table":
                _need(place == "table" and columns == 0, "an end without a beginning")
                place = ""
                continue
            _need(name == "tabular" and columns > 0, "an end without a beginning")
            _need(not row and not cell.strip(), "an unfinished row")
            columns = 0
        elif token in (r"\centering", r"\label", r"\caption"):
            _need(place == "table" and columns == 0 and depth == 0, f"{token} outside of a table")
            if token == r"\label":
                label = _group(tokens)
                _need(re.fullmatch("tab:[a-z0-9-]+", label) is not None, f"the label {label!r}")
            caption = token if token == r"\caption" else caption
        elif token in ("&", "\\\\"):
            _need(columns > 0 and depth == 0, f"{token} outside of a row")
            row, cell = [*row, cell.strip()], ""
            if token != "&":
                _need(len(row) == columns, f"{len(row)} cells in {columns} columns")
                tables[-1].append(row)
                row = []
        elif token in _RULES:
            _need(columns > 0 and not row and not cell.strip(), "a rule inside of a row")
            above = _RULES[token]
            _need(above is None or len(tables[-1]) == above, f"{token} below another row")
        elif token in "{}":
            depth += 1 if token == "{" else -1
            _need(depth >= 0, "a brace that was not opened")
            caption = "" if depth == 0 else caption
        elif token in _SIGNS:
            _need(_group(tokens) == "", f"{token} without {{}}")
            cell += _SIGNS[token]
        elif token.startswith("\\"):
            _need(token[1:] in "{}$&%#_", f"the command {token}")
            cell += token[1:]
        else:
            _need(token not in _ACTIVE, f"{token} as it is")
            taken = before == "\\\\" and depth == 0 and token in "*["
            _need(not taken, f"{token} as an argument of \\\\")
            _need(ord(token) >= 32 or token == "\n", f"the character {ord(token)}")
            _need(columns > 0 or bool(caption) or token.isspace(), f"{token} outside of a table")
            cell += token
        if token.strip():
            before = token
    _need(depth == 0 and columns == 0 and not place, "something that is never closed")
    return tables


def _group(tokens: Iterator[str]) -> str:
    """Text of the group that must follow."""
    _need(next(tokens, "") == "{", "an argument without braces")
    found = ""
    for token in tokens:
        if token == "}":
            return found
        found += token
    raise Unreadable("an argument that is never closed")


def _need(holds: bool, problem: str) -> None:
    if not holds:
        raise Unreadable(problem)
