"""A strict reader of the LaTeX that tables are written in: what it refuses would not compile.

It knows tables with a caption, a label and the rules of booktabs, a line each, and no command
beside those below, which LaTeX sets as one character, so that a text from a stranger that is read
back has been no command. Nothing stands loose between tables.
"""

import re

SIGNS = {
    r"\textbackslash{}": "\\", r"\textasciitilde{}": "~", r"\textasciicircum{}": "^",
    r"\textless{}": "<", r"\textgreater{}": ">", r"\textbar{}": "|",
}  # fmt: skip
CHARACTER = re.compile(r"[^\\{}$#%_^~<>|&\x00-\x1f]|\\[{}$&%#_]|\\text[a-z]+\{\}|\{[*\[\]]\}")
BEFORE = (r"\\begin{table}", r"\\centering", r"\\caption{(.*)}", r"\\label{tab:[a-z0-9-]+}",
          r"\\begin{tabular}{([lr]+)}", r"\\toprule")  # fmt: skip
AFTER = (r"\\bottomrule", r"\\end{tabular}", r"\\end{table}")


def read_tables(text):
    """Cells of each row of each tabular, as they are set; whatever is not LaTeX is refused."""
    lines = (line for line in text.splitlines() if line and not line.startswith("% "))
    tables = []
    for first in lines:
        opening = [first, *(next(lines) for _ in BEFORE[1:])]
        _, _, caption, _, columns, _ = map(matched, BEFORE, opening)
        as_set(caption[1])
        rows = []
        for line in lines:
            if line == r"\midrule":
                assert len(rows) == 1
            elif line == r"\bottomrule":
                break
            else:
                rows.append(read_row(line))
        for pattern, ending in zip(AFTER, [line, *(next(lines) for _ in AFTER[1:])], strict=True):
            matched(pattern, ending)
        assert {len(row) for row in rows} == {len(columns[1])}
        tables.append(rows)
    return tables


def matched(pattern, line):
    found = re.fullmatch(pattern, line)
    assert found, f"LaTeX would stop at {line!r}, or show something else"
    return found


def read_row(line):
    """Cells of a row; an asterisk or a bracket at its beginning would belong to the row above."""
    inside = matched(r"(?![*\[])(.*) \\\\", line)[1]
    return [as_set(cell.strip()) for cell in re.split(r"(?<!\\)&", inside)]


def as_set(text):
    """Text as LaTeX sets it, one character after the other."""
    found = CHARACTER.findall(text)
    assert "".join(found) == text, f"something else than text in {text!r}"
    return "".join(
        SIGNS.get(sign) or sign[-1 - (sign[0] == "{" and len(sign) > 1)] for sign in found
    )
