"""A strict reader of the LaTeX that tables are written in: what it refuses would not compile.

It knows no package and no command beside those below, which LaTeX sets as one character or not at
all, so that a text from a stranger that is read back has been no command.
"""

import re
from collections.abc import Iterator

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)
_SIGNS = {
    r"\textbackslash": "\\", r"\textasciitilde": "~", r"\textasciicircum": "^", r"\textless": "<",
    r"\textgreater": ">", r"\textbar": "|",
}  # fmt: skip
_ACTIVE = "$#%_^~<>|"


class Unreadable(AssertionError):
    """LaTeX would stop here, or show something else."""


def read_tables(text: str) -> list[list[list[str]]]:
    """Cells of each row of each tabular, as they are set; whatever is not LaTeX is refused."""
    tables, depth, columns, cell = list[list[list[str]]](), 0, 0, ""
    row = list[str]()
    set_lines = (line for line in text.splitlines() if not line.startswith("% "))  # no comments
    tokens = iter(_TOKEN.findall("\n".join(set_lines)))
    before = ""
    for token in tokens:
        if token == r"\begin":
            _need(columns == 0 and depth == 0, "a tabular inside of something")
            _need(_group(tokens) == "tabular", "another environment")
            align = _group(tokens)
            _need(re.fullmatch("[lr]+", align) is not None, f"columns {align!r}")
            columns, cell, row = len(align), "", []
            tables.append([])
        elif token == r"\end":
            _need(_group(tokens) == "tabular" and columns > 0, "an end without a beginning")
            _need(not row and not cell.strip(), "an unfinished row")
            columns = 0
        elif token in ("&", "\\\\"):
            _need(columns > 0 and depth == 0, f"{token} outside of a row")
            row, cell = [*row, cell.strip()], ""
            if token != "&":
                _need(len(row) == columns, f"{len(row)} cells in {columns} columns")
                tables[-1].append(row)
                row = []
        elif token == r"\hline":
            _need(columns > 0 and not row and not cell.strip(), "a rule inside of a row")
        elif token in "{}":
            depth += 1 if token == "{" else -1
            _need(depth >= 0, "a brace that was not opened")
        elif token in _SIGNS:
            _need(_group(tokens) == "", f"{token} without {{}}")
            cell += _SIGNS[token]
        elif token.startswith("\\"):
            _need(token == r"\textbf" or token[1:] in "{}$&%#_", f"the command {token}")
            cell += "" if token == r"\textbf" else token[1:]
        else:
            _need(token not in _ACTIVE, f"{token} as it is")
            taken = before == "\\\\" and depth == 0 and token in "*["
            _need(not taken, f"{token} as an argument of \\\\")
            _need(ord(token) >= 32 or token == "\n", f"the character {ord(token)}")
            cell += token
        if token.strip():
            before = token
    _need(depth == 0 and columns == 0, "something that is never closed")
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
