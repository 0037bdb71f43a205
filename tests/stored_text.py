"""Where stored text differs from what is said now by more than another processor makes."""

import re
from collections.abc import Iterator

UNITS, RELATIVE = 3, 1e-5
"""By how many units of its last digit, or by which share, a stored number may differ elsewhere."""
ELSEWHERE = 7e-3
"""By which share where another processor finds another sample of parameters."""
VERDICT = re.compile(
    r"may be trusted|needs more draws|, not the [\d.]+ %? ?it shows|, as it does here"
)
NUMBER = re.compile(r"[-+−]?\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]?\d+)?")


def text_differences(old: str, new: str, share: float = 0.0) -> list[str]:
    """Other words, or numbers that differ by more than ``UNITS`` and by more than the share."""
    plain = [VERDICT.sub("...", text) if share else text for text in (old, new)]
    words = [" ".join(NUMBER.sub("#", text).split()) for text in plain]
    if words[0] != words[1]:
        return [f"{new!r} instead of {old!r}"]
    pairs = zip(*map(NUMBER.findall, plain), strict=True)
    return [f"{b} instead of {a}" for a, b in pairs if not close(a, b, share)]


def close(old: str, new: str, share: float) -> bool:
    """Whether two numbers differ by little; counts of hundreds by ten times the share."""
    (a, unit), (b, other) = parsed(old), parsed(new)
    share = max(share, RELATIVE) * (10 if share and unit == 1 and min(a, b) > 100 else 1)
    return abs(a - b) <= max(UNITS * 1.0001 * max(unit, other), share * max(abs(a), abs(b)))


def parsed(number: str) -> tuple[float, float]:
    """Value, and the unit of the last digit."""
    plain = number.replace(",", "").replace("−", "-")
    digits, _, power = plain.partition("e")
    _, _, decimals = digits.partition(".")
    return float(plain), 10.0 ** (int(power or 0) - len(decimals))


PROSE_NUMBER = re.compile(r"(?<![\w.,/=-])(\d[\d,]*(?:\.\d+)?|\.\d+)( ?%)?(?![\w/]|[.,]\d)")


def stale_numbers(prose: str, output: str) -> list[str]:
    """Numbers of the prose that are one or two units in the last place off a number of the output.

    "264 entries" above an output with 265 is stale, and so is "2.3 %" above 0.024; a number that
    rounds one of the output is not, and neither is one that stands nowhere near any of them.
    """
    shown = [value for _, value, _ in _numbers(output)]
    found = []
    for text, value, unit in _numbers(prose):
        near = [other for other in shown if abs(value - other) < 2.5 * unit]
        counted = unit < 1 or value >= 100
        if counted and near and all(abs(value - other) > 0.5001 * unit for other in near):
            found.append(text)
    return found


def _numbers(text: str) -> Iterator[tuple[str, float, float]]:
    """Each number as written, its value, and the unit of its last digit."""
    for digits, percent in PROSE_NUMBER.findall(text):
        value, unit = parsed(digits)
        yield digits + percent, *((value / 100, unit / 100) if percent else (value, unit))
