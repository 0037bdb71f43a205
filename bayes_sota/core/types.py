"""Types of arrays and of random states, as all signatures name them."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

type FloatArray = NDArray[np.float64]
type IntArray = NDArray[np.int64]
type BoolArray = NDArray[np.bool_]
type Seed = int | np.random.SeedSequence | np.random.Generator | None
Groups = Literal["all", "estimands"]  # of a result; "all" has those that only checks need
