"""Files for tests of readers."""

import json
from pathlib import Path
from typing import Any

import pandas as pd


def written(folder: Path, content: Any, name: str = "board.csv") -> Path:
    """File with text, bytes or a frame, or JSON of anything else."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, pd.DataFrame):
        content = content.to_csv(index=False)
    elif not isinstance(content, str | bytes):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
