"""Where stored text differs from what is said now by more than another processor makes."""

import re

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
