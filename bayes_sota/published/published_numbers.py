"""What papers print, from ``bayes_sota/published/published.json``."""

import json
from importlib.resources import files
from typing import Any


def load_published(part: str) -> dict[str, Any]:
    """Published numbers of one part, a fresh copy.

    Parameters
    ----------
    part : str
        "sample_maximum", "challenges" or "epp".

    Examples
    --------
    >>> load_published("sample_maximum")["table1"]["rows"][3]["expected"]
    '0.9101'
    """
    text = files("bayes_sota.published").joinpath("published.json").read_text(encoding="utf-8")
    numbers: dict[str, Any] = json.loads(text)[part]
    return numbers
