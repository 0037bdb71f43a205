"""Residuals of the two scores of a team, and what each kind of them says of its skill.

A pair of scores has one kind of residuals out of a few; given the kind its scores are normal, so
that each kind is a factor, the place where the scores put psi, and how sharply.
``tests/paired/test_likelihood.py`` compares sums over the kinds with brute-force integration.
"""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.paired.submissions import Choice

WIDE = 5.0  # standard deviations of the wide residual
FLAT = 0.002  # probability of a score that says nothing
_UNUSUAL = {1: 1, 2: 5}  # the last kinds of one board, and of two
_TINY = 1e-300
type Kinds = tuple[FloatArray, FloatArray, FloatArray, IntArray]
"""Factor and centre (N, kinds, k), the distinct variances, and which of these each kind has."""


@dataclass(frozen=True, eq=False)
class Residuals:
    """Parameters of the noise, one value per point, shape (N,).

    Attributes
    ----------
    public_sd, private_sd : ndarray
        Standard deviation of the usual residual, ``s sqrt(1 - rho^2)``.
    outliers : ndarray
        Probability of a wide residual.
    shift : ndarray
        delta, what private scores have more than public ones.
    rho : ndarray or None
        None where the standard errors are unknown: then rho is not in the likelihood, and may be
        summed out.
    luck, slope : ndarray or None
        lambda, and what a skill has more per unit of ``e_T``; None where public scores are of one
        submission each.
    """

    public_sd: FloatArray
    private_sd: FloatArray
    outliers: FloatArray
    shift: FloatArray
    rho: FloatArray | None
    luck: FloatArray | None = None
    slope: FloatArray | None = None

    def __getitem__(self, index: Any) -> "Residuals":
        """Those of some points."""
        values = (getattr(self, f.name) for f in fields(self))
        return Residuals(*(None if v is None else v[index] for v in values))  # type: ignore[arg-type]

    @staticmethod
    def joined(parts: "list[Residuals]") -> "Residuals":
        """The points of several, one after the other."""
        columns = ([getattr(part, f.name) for part in parts] for f in fields(Residuals))
        return Residuals(*(None if c[0] is None else np.concatenate(c) for c in columns))  # type: ignore[arg-type]

    @property
    def mixed_sd(self) -> FloatArray:
        """Of the normals that a usual public residual is a mixture of."""
        return self.public_sd if self.luck is None else self.public_sd * np.sqrt(1 - self.luck**2)

    def parts(self) -> list[tuple[FloatArray, float]]:
        """Probability and relative width of the two normal residuals."""
        wide = self.outliers * (1 - FLAT)
        return [(1 - FLAT - wide, 1.0), (wide, WIDE)]


def unusual_share(terms: FloatArray, boards: int) -> FloatArray:
    """Probability that not all residuals of a team are usual, (N, k), from terms (N, kinds, k).

    Examples
    --------
    >>> unusual_share(np.array([[[3.0, 0.0], [1.0, 1.0]]]), boards=1).tolist()
    [[0.25, 1.0]]
    """
    usual = terms[:, : -_UNUSUAL[boards]].sum(axis=1)
    return 1 - usual / np.maximum(terms.sum(axis=1), _TINY)


def split_noise(total: FloatArray, ratio: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Public and private standard deviation from that of a difference and their ratio."""
    return total / np.hypot(1, ratio), total * ratio / np.hypot(1, ratio)


def one_board_kinds(x: FloatArray, noise: Residuals) -> Kinds:
    """Usual and wide residual of x."""
    weight = np.stack([w for w, _ in noise.parts()], axis=1)
    variance = np.stack([(k * noise.public_sd) ** 2 for _, k in noise.parts()], axis=1)
    shape = (*weight.shape, x.size)
    factor = np.broadcast_to(weight[..., None], shape).copy()
    return factor, np.broadcast_to(x, shape), variance, np.arange(2)


def two_board_kinds(
    x: FloatArray, y: FloatArray, noise: Residuals, ranges: tuple[float, ...]
) -> Kinds:
    """Both normal, in four ways; then one of them saying nothing beside the usual other."""
    x = x[None, None, :]
    y = (y - noise.shift[:, None])[:, None, :]
    usual = noise.parts()
    pairs = [(a, b) for a in usual for b in usual]
    v1 = np.stack([(a[1] * noise.public_sd) ** 2 for a, _ in pairs], axis=1)
    v2 = np.stack([(b[1] * noise.private_sd) ** 2 for _, b in pairs], axis=1)
    total = v1 + v2
    height = np.stack([a[0] * b[0] for a, b in pairs], axis=1) / np.sqrt(2 * np.pi * total)
    factor = np.empty((len(v1), len(pairs) + 2, x.size))
    centre = np.empty_like(factor)
    np.multiply((y - x) ** 2, (-0.5 / total)[..., None], out=factor[:, :-2])
    np.exp(factor[:, :-2], out=factor[:, :-2])
    factor[:, :-2] *= height[..., None]
    factor[:, -2] = FLAT * (1 - FLAT) / ranges[0]
    factor[:, -1] = FLAT * (1 - FLAT) / ranges[1]
    np.multiply(y - x, (v1 / total)[..., None], out=centre[:, :-2])
    centre[:, :-2] += x
    centre[:, -2], centre[:, -1] = y[:, 0], x[:, 0]
    alone = np.stack([noise.private_sd**2, noise.public_sd**2], axis=1)
    variance = np.concatenate([v1 * v2 / total, alone], axis=1)
    return factor, centre, variance, np.arange(6)


def chosen_normals(choice: Choice, noise: Residuals) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Normals of the public residuals of teams.

    Returns
    -------
    weights, means : ndarray, shape (nodes + 1, N, k)
    sd : ndarray, shape (nodes + 1, N)
    """
    usual, wide = _centres(choice, noise)
    (share, _), (rare, width) = noise.parts()
    weights = [share[:, None] * own for own in choice.weights]
    means = np.concatenate([usual, wide], axis=1).swapaxes(0, 1)
    sd = [*[noise.mixed_sd] * len(weights), width * noise.public_sd]
    last = np.broadcast_to(rare[:, None], means.shape[1:])
    return np.stack([*weights, last]), means, np.stack(sd)


def luck_moments(choice: Choice, noise: Residuals, team: int) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of a team's usual public residual, (N,) each."""
    assert noise.luck is not None
    share = 1 - noise.luck**2 * (1 - choice.variance[team])
    return noise.luck * noise.public_sd * choice.luck[team], noise.public_sd * np.sqrt(share)


def typical_variance(choice: Choice, noise: Residuals) -> FloatArray:
    """Variance of a usual public residual of a team with the mean variance of ``M_T``, (N,)."""
    assert noise.luck is not None
    kept = 1 - noise.luck**2 * (1 - float(choice.variance.mean()))
    return noise.public_sd**2 * kept


def _centres(choice: Choice, noise: Residuals) -> tuple[FloatArray, FloatArray]:
    """Luck of a usual residual at each node, (N, nodes, k), and mean one of a wide, (N, 1, k)."""
    assert noise.luck is not None
    lucky = (noise.luck * noise.public_sd)[:, None, None]
    return lucky * choice.nodes, WIDE * lucky * choice.luck


def chosen_kinds(
    x: FloatArray,
    y: FloatArray | None,
    noise: Residuals,
    ranges: tuple[float, ...],
    choice: Choice,
    more: FloatArray,
) -> Kinds:
    """The same kinds where x is the best of submissions: two usual residuals at nodes of the luck.

    Any other public residual is normal around the mean luck of its width, a usual one with the
    variance of a typical team. ``more`` (N, k) is what a team's skill has more than the psi that
    the centres are of.
    """
    assert noise.luck is not None
    size, more = len(choice.nodes), more[:, None, :]
    lucky = (noise.luck * noise.public_sd)[:, None, None]
    (often, _), (rarely, _) = ((w[:, None, None], k) for w, k in noise.parts())
    at_nodes = x - more - lucky * choice.nodes, noise.mixed_sd**2, often * choice.weights
    usual = x - more - lucky * choice.luck, typical_variance(choice, noise), often
    wide = x - more - WIDE * lucky * choice.luck, (WIDE * noise.public_sd) ** 2, rarely
    if y is None:
        rare = np.broadcast_to(rarely, wide[0].shape)
        factor = np.concatenate([np.broadcast_to(at_nodes[2], at_nodes[0].shape), rare], axis=1)
        centre = np.concatenate([at_nodes[0], wide[0]], axis=1)
        variance = np.stack([at_nodes[1], wide[1]], axis=1)
        return factor, centre, variance, np.repeat([0, 1], [size, 1])
    y = (y - noise.shift[:, None])[:, None, :] - more
    v2, nothing = noise.private_sd**2, FLAT * (1 - FLAT)
    pairs = [
        (at_nodes, 1.0, often),
        (usual, WIDE, rarely),
        (wide, 1.0, often),
        (wide, WIDE, rarely),
    ]
    parts = [_product(own, y, width**2 * v2, weight) for own, width, weight in pairs]
    parts.append((np.full(y.shape, nothing / ranges[0]), y, v2))
    parts.append((np.full(y.shape, nothing / ranges[1]), usual[0], usual[1]))
    factor, centre = (np.concatenate([part[i] for part in parts], axis=1) for i in (0, 1))
    variance = np.stack([part[2] for part in parts], axis=1)
    return factor, centre, variance, np.repeat(np.arange(6), [size, 1, 1, 1, 1, 1])


def _product(
    public: tuple[FloatArray, FloatArray, FloatArray],
    y: FloatArray,
    private_variance: FloatArray,
    weight: FloatArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight, centre and variance of a product of two normals; a score, variance, weight each."""
    x, v, share = public
    total = v + private_variance
    away = y - x
    factor = away**2 * (-0.5 / total)[:, None, None]
    np.exp(factor, out=factor)
    factor *= share * weight / np.sqrt(2 * np.pi * total)[:, None, None]
    away *= (v / total)[:, None, None]
    away += x
    return factor, away, v * private_variance / total
