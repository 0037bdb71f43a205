"""Families for P(psi), the distribution of board-conditional skill over a field of classifiers.

Real boards are left-skewed: a crowd near the top, and a tail of weaker entries. Shapes are on the
log-odds scale of ``psi = theta + rho sd z``, skill on these items:

==================  ===============================================================
``normal``          a crowd with symmetric tails
``ex-gaussian``     an upper edge, sharp or soft, and an exponential tail to the left
==================  ===============================================================

NumPy and PyTensor (``Operations``) evaluate the same formulas. Every width is at least one grid
step: a narrower density has no defined mass on the grid. ``tests/leaderboard/test_shapes.py``
compares each density with its integral and, where SciPy has it, with SciPy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

_LOG_SQRT_2PI = 0.9189385332046727
_LEAST_RATIO = 0.02  # an exponential tail shorter than this share of the normal part is none


type Operations = Any


def operations_of(library: Any, **more: Callable[..., Any]) -> Operations:
    """The functions of an array library, NumPy's or PyTensor's, and those that it lacks."""
    return SimpleNamespace(**vars(library), **more)


@dataclass(frozen=True)
class FieldScale:
    """Prior of the place and the width of a field, in log odds.

    Attributes
    ----------
    location, location_sd : float
        Normal prior of the place.
    log_spread, log_spread_sd : float
        Normal prior of the logarithm of the width.
    step : float
        Grid step, the least width.
    """

    location: float
    location_sd: float
    log_spread: float
    log_spread_sd: float
    step: float

    def place(self, t: Any) -> Any:
        """Place for a standard normal coordinate."""
        return self.location + self.location_sd * t

    def width(self, ops: Operations, t: Any) -> Any:
        """Width for a standard normal coordinate."""
        return ops.exp(self.log_spread + self.log_spread_sd * t)

    def resolved(self, ops: Operations, width: Any) -> Any:
        """At least one grid step, smoothly."""
        return ops.sqrt(width**2 + self.step**2)


Density = Callable[[Operations, FieldScale, tuple[Any, ...], Any], Any]


@dataclass(frozen=True)
class SkillFamily:
    """One shape of P(psi).

    Attributes
    ----------
    name : str
    parameters : tuple of str
        What each coordinate sets; all coordinates are standard normal a priori.
    log_density : callable
        ``(ops, scale, coordinates, y) -> log density`` at log odds ``y``; coordinates and ``y``
        broadcast.
    """

    name: str
    parameters: tuple[str, ...]
    log_density: Density

    @property
    def dimension(self) -> int:
        """Number of coordinates."""
        return len(self.parameters)


def _normal(ops: Operations, scale: FieldScale, t: tuple[Any, ...], y: Any) -> Any:
    width = scale.resolved(ops, scale.width(ops, t[1]))
    distance = (y - scale.place(t[0])) / width
    return -0.5 * distance**2 - ops.log(width) - _LOG_SQRT_2PI


def _ex_gaussian(ops: Operations, scale: FieldScale, t: tuple[Any, ...], y: Any) -> Any:
    """Exponential tail below an upper edge, convolved with a normal.

    The edge lies half a prior standard deviation above the middle of the field.
    """
    tail = scale.width(ops, t[1])
    soft = scale.resolved(ops, tail * ops.exp(-1.2 + t[2]))
    below = scale.place(t[0]) + 0.5 * scale.location_sd - y
    tail = ops.maximum(tail, _LEAST_RATIO * soft)
    ratio = soft / tail
    log_tail = -below / tail + 0.5 * ratio**2 + ops.log_ndtr(below / soft - ratio)
    return log_tail - ops.log(tail)


FAMILIES: dict[str, SkillFamily] = {
    family.name: family
    for family in (
        SkillFamily("normal", ("place", "width"), _normal),
        SkillFamily("ex-gaussian", ("edge", "tail", "softness"), _ex_gaussian),
    )
}
