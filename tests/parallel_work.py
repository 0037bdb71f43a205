"""Pieces of work that other processes can import."""

import os
import time

import numpy as np

from bayes_sota.core.errors import InputError


def solved(seed: int) -> tuple[float, int]:
    """A number whose last digits depend on how many threads multiply, and who computed it."""
    matrix = np.random.default_rng(seed).normal(size=(200, 200))
    time.sleep(0.05)
    return float(np.linalg.solve(matrix @ matrix.T, matrix[0]).sum()), os.getpid()


def fail(item: int) -> int:
    raise InputError(f"item {item} is bad")
