"""Reading answers of 100 classifiers to 10,000 items, against what a user would write with pandas.

Both give a matrix of floats from the same file; ours also finds the roles of columns and checks
every cell. Ratios of one run count, never seconds.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from timing import fastest

from bayes_sota.data.answers import read_outcomes

ITEMS, CLASSIFIERS, REPEATS = 10_000, 100, 3


def write_answers(path: Path) -> None:
    rng = np.random.default_rng(0)
    names = [f"c{j}" for j in range(CLASSIFIERS)]
    frame = pd.DataFrame(rng.integers(0, 2, (ITEMS, CLASSIFIERS)), columns=names)
    frame.insert(0, "item", [f"q{i}" for i in range(ITEMS)])
    frame.to_csv(path, index=False)


def ratios() -> dict[str, float]:
    """Time of ``read_outcomes`` over that of pandas, on one file of a million cells."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answers.csv"
        write_answers(path)
        by_pandas: Callable[[], Any] = lambda: pd.read_csv(path, index_col="item").to_numpy(float)  # noqa: E731
        ours: Callable[[], Any] = lambda: read_outcomes(path)  # noqa: E731
        np.testing.assert_array_equal(ours().values, by_pandas())
        times = [fastest(call, REPEATS) for call in (ours, by_pandas)]
    return {"read_outcomes / pandas.read_csv": times[0] / times[1]}


if __name__ == "__main__":
    for name, ratio in ratios().items():
        print(f"{name}: {ratio:.1f}")
