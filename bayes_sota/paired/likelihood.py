r"""Likelihood of two boards of the same teams, with every skill integrated out.

On a coordinate where the noise has one size for all (arcsine of the square root for accuracies,
the score itself otherwise) team j has

.. math::
    x_j = \psi_j + \epsilon_{1j}, \quad y_j = \psi_j + \delta + \epsilon_{2j}, \quad \psi_j \sim P,
    \quad \operatorname{var} \epsilon_{ij} = s_i^2 (1 - \rho^2)

with :math:`\psi_j` its skill on the public items, so that what the teams share stays out of the
likelihood. A residual is normal with probability :math:`(1 - \varepsilon)(1 - \varphi)`, five times
as wide with :math:`\varepsilon (1 - \varphi)`, and says nothing (a failed run) with
:math:`\varphi = 0.002`, beside a normal one on the other board. Products of normals leave one
convolution of P per pair of residuals, done by FFT for many parameters at once. Of a board with
selected teams (those from ``threshold`` on, on either board) the likelihood is divided by the
probability to be selected. Where public scores are the best of several submissions their noise is
that of ``bayes_sota.paired.submissions``, and the skill is ``psi + slope (e_T - mean e_T)``.
``tests/paired/test_likelihood.py`` compares it with brute-force integration and checks the
coordinate, ``test_posterior.py`` the selection.
"""

from copy import copy
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from bayes_sota.core.builders import PairedPriors
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.fit import numpy_operations
from bayes_sota.leaderboard.shapes import FieldScale, SkillFamily, add_strangers
from bayes_sota.paired.residuals import (
    FLAT,
    WIDE,
    Kinds,
    Residuals,
    chosen_kinds,
    luck_moments,
    one_board_kinds,
    split_noise,
    two_board_kinds,
)
from bayes_sota.paired.submissions import MOST_LUCK, Choice
from bayes_sota.paired.teams import Coordinate, Teams

OUTLIERS, OUTLIERS_SD = -4.0, 1.5  # log odds of a wide residual a priori
RESIDUAL_SD, RATIO_SD = 1.0, 0.4  # of the logarithms
_CHUNK = 16  # points at once, fewer with many teams: memory that is too large comes slowly
_REFINED = 4  # grid for interpolation, by zeros in the spectrum
_FLOOR = 1e-300
_LEAST_SHIFT = 0.01
STRANGERS = 0.01  # teams whose skill follows no shape, a priori


class PairedLikelihood:
    """Log likelihood over standardised parameters; skills on a grid.

    Parameters
    ----------
    teams : Teams
    standard_errors : (float, float) or None
        Of one score in the coordinate; None if unknown, then ``teams.y`` is needed.
    priors : PairedPriors
    bounds : (float, float)
        Range of the coordinate.
    """

    def __init__(
        self,
        teams: Teams,
        standard_errors: tuple[float, float] | None,
        priors: PairedPriors,
        bounds: tuple[float, float] = (-np.inf, np.inf),
    ) -> None:
        """Lay the grid of skills and find the scale of everything."""
        self.teams, self.priors = teams, priors
        self.standard_errors = standard_errors
        if standard_errors is None and teams.y is None:
            raise InputError(
                "from one board alone the noise cannot be learnt: give numbers of items, or "
                "standard errors"
            )
        self.base_sd = self._expected_sd()
        start = float(np.median(teams.y - teams.x)) if teams.y is not None else 0.0
        # where the coordinate of the shift has its zero, and its unit
        self.shift_scale = start, float(4 * self.base_sd / np.sqrt(teams.x.size))
        self._lay_grid(bounds)

    @classmethod
    def of_teams(
        cls, boards: PairedBoards, teams: Teams, priors: PairedPriors
    ) -> "PairedLikelihood":
        """Likelihood of some teams of two boards, in the coordinate of the boards."""
        coordinate = Coordinate(boards.n_test)
        errors = coordinate.standard_errors(boards.standard_errors)
        return cls(teams, errors, priors, coordinate.bounds)

    def with_teams(self, teams: Teams) -> "PairedLikelihood":
        """The same grid and parameters with the scores of other teams."""
        other = copy(self)
        if self.teams.choice is not None and teams.choice is None:
            teams = replace(teams, choice=Choice(np.ones((teams.x.size, 1))))
        other.teams = teams
        return other

    def _expected_sd(self) -> float:
        """Rough standard deviation of a difference, or of a score where there is one board."""
        if self.standard_errors is None:
            return self.teams.difference_sd
        rho = float(self.priors.correlation.quantile(0.5))
        known = np.hypot(*self.standard_errors) * np.sqrt(1 - rho**2)
        return float(known if self.teams.y is None else max(known, self.teams.difference_sd))

    def _lay_grid(self, bounds: tuple[float, float]) -> None:
        x, y, sd, start = self.teams.x, self.teams.y, self.base_sd, self.shift_scale[0]
        seen = [x] if y is None else [x, y - start]
        low, high = min(float(v.min()) for v in seen), max(float(v.max()) for v in seen)
        if self.teams.threshold is not None:
            cuts = (self.teams.threshold[0], self.teams.threshold[1] - start)
            low = min(cuts if y is not None else cuts[:1]) - 3 * sd
        spread = max(float(np.diff(np.quantile(x, [0.16, 0.84]))[0]) / 2, sd / 2)
        low, high = low - 3 * sd, high + 3 * sd
        self.typical_luck, self.slope_sd = 0.0, spread
        if self.teams.choice is not None:
            self.typical_luck = float(self.teams.choice.luck.mean())
            low, high = low - spread - float(self.teams.choice.luck.max()) * sd, high + spread
        low, high = max(low, bounds[0]), min(high, bounds[1])
        finest = sd / 6 if y is not None else sd / 4
        count = int(np.clip(np.ceil((high - low) / finest), 64, 1500)) + 1
        self.nodes = np.linspace(low, high, count)
        self.step = float(self.nodes[1] - self.nodes[0])
        span = high - low + 12 * sd
        self._length = 1 << int(np.ceil(np.log2(span / self.step + 16)))
        self._frequency = 2 * np.pi * np.fft.rfftfreq(self._length, self.step)
        self.ranges = tuple(float(max(np.ptp(v), 6 * sd)) for v in (x, x if y is None else y))
        place = float(np.median(x))
        self.scale = FieldScale(place, 3 * spread, float(np.log(spread)), 1.0, self.step)

    # -- parameters ---------------------------------------------------------------------------

    @property
    def noise_parameters(self) -> tuple[str, ...]:
        """What each coordinate after those of the family sets."""
        learns_rho = self.standard_errors is not None and not self.priors.correlation.is_fixed
        noise = ("residual", "ratio") if self.standard_errors is None else ("rho",) * learns_rho
        if self.teams.choice is not None:
            noise = (*noise, *("luck",) * (not self.priors.submission_luck.is_fixed), "slope")
        return (*noise, "outliers", *(("shift",) if self.teams.y is not None else ()))

    def residuals(self, t: FloatArray) -> Residuals:
        """Noise parameters at standardised points, shape (N, number of them)."""
        values = dict(zip(self.noise_parameters, np.asarray(t).T, strict=True))
        count, rho = np.shape(t)[0], None
        if self.standard_errors is None:
            total = self.base_sd * np.exp(RESIDUAL_SD * values["residual"])
            public, private = split_noise(total, np.exp(RATIO_SD * values["ratio"]))
        else:
            prior = self.priors.correlation
            rho = np.full(count, float(prior.quantile(0.5)))
            if "rho" in values:
                rho = np.clip(prior.quantile(ndtr(values["rho"])), 1e-4, 1 - 1e-6)
            own = np.sqrt(1 - rho**2)
            public, private = (s * own for s in self.standard_errors)
        outliers = 1 / (1 + np.exp(-(OUTLIERS + OUTLIERS_SD * values["outliers"])))
        start, width = self.shift_scale
        shift = start + width * values.get("shift", np.zeros(count))
        if self.teams.choice is None:
            return Residuals(public, private, outliers, shift, rho)
        luck = self._lucks(values.get("luck", np.zeros(count)))
        shift = shift + luck * public * self.typical_luck  # so that the two are nearly independent
        slope = self.slope_sd * values["slope"]
        return Residuals(public, private, outliers, shift, rho, luck, slope)

    def _lucks(self, t: FloatArray) -> FloatArray:
        luck = self.priors.submission_luck.quantile(ndtr(t))
        return np.clip(luck, 0.0, MOST_LUCK)

    def log_prior_correction(self, t: FloatArray, noise: Residuals) -> FloatArray:
        """Prior of the shift over the standard normal that its coordinate is given."""
        if self.teams.y is None:
            return np.zeros(len(t))
        log_prior = shift_log_density(self, noise)
        relative = log_prior + np.log(self.shift_scale[1]) + 0.5 * t[:, -1] ** 2
        return relative + 0.5 * np.log(2 * np.pi)

    # -- likelihood ---------------------------------------------------------------------------

    def densities(self, family: SkillFamily, t: FloatArray) -> FloatArray:
        """P(psi) on the grid at points (N, dimension), shape (N, nodes); sums to 1 / step."""
        return densities_at(self.nodes, self.scale, family, t)

    def log_likelihood(self, family: SkillFamily, t: FloatArray) -> FloatArray:
        """Log likelihood with the correction of the prior, shape (N, 1)."""
        size = int(np.clip(8192 // self.teams.x.size, 2, _CHUNK))
        parts = [self._chunk(family, t[i : i + size]) for i in range(0, len(t), size)]
        return np.concatenate(parts)[:, None]

    def _chunk(self, family: SkillFamily, t: FloatArray) -> FloatArray:
        density = self.densities(family, t)
        own = t[:, family.dimension :]
        noise = self.residuals(own)
        terms, _, _ = self.team_terms(density, noise)
        total = self.log_pairs(terms).sum(axis=1)
        total -= self.log_all_selected(density, noise)
        return total + self.log_prior_correction(own, noise)

    def log_pairs(self, terms: FloatArray) -> FloatArray:
        """Log of the joint density of each team's scores, (N, k), from its ``team_terms``."""
        second = 1.0 if self.teams.y is None else FLAT / self.ranges[1]
        nothing = FLAT / self.ranges[0] * second + _FLOOR  # both scores say nothing
        return np.log(terms.sum(axis=1) + nothing)

    def team_terms(
        self, density: FloatArray, noise: Residuals
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Joint density of each team's scores per kind of residuals.

        Returns
        -------
        terms : ndarray, shape (N, kinds, k)
        centre : ndarray, shape (N, kinds, k)
            Where the scores put psi.
        variance : ndarray, shape (N, kinds)
            How sharply.
        """
        factor, centre, variance, of = self._kinds(noise)
        factor *= self._at(self._convolved(density, variance), centre, of)
        return factor, centre, variance[:, of]

    def _kinds(self, noise: Residuals) -> Kinds:
        teams = self.teams
        if teams.choice is not None:
            lucks = teams.choice, self._more(teams.choice, noise)
            return chosen_kinds(teams.x, teams.y, noise, self.ranges, *lucks)
        if teams.y is None:
            return one_board_kinds(teams.x, noise)
        return two_board_kinds(teams.x, teams.y, noise, self.ranges)

    def _more(self, choice: Choice, noise: Residuals) -> FloatArray:
        """What the skills of teams have more for their numbers of submissions, (N, k)."""
        assert noise.slope is not None
        return noise.slope[:, None] * (choice.luck - self.typical_luck)

    def more_skill(self, noise: Residuals) -> FloatArray:
        """What the skill of each team has more than psi of the field, (N, k) or 0."""
        choice = self.teams.choice
        return np.zeros((1, 1)) if choice is None else self._more(choice, noise)

    def _convolved(self, density: FloatArray, variance: FloatArray) -> FloatArray:
        """P convolved with normals of these variances (N, kinds), padded, on a finer grid."""
        spectrum = np.fft.rfft(density, self._length, axis=1)
        kernel = np.exp(-0.5 * variance[:, :, None] * self._frequency**2)
        length = self._length * _REFINED
        smooth = np.empty((*variance.shape, length + 1))
        smooth[..., :-1] = np.fft.irfft(_REFINED * spectrum[:, None, :] * kernel, length, axis=2)
        smooth[..., -1] = smooth[..., 0]
        return smooth

    def _at(self, smooth: FloatArray, where: FloatArray, of: IntArray) -> FloatArray:
        """Linear interpolation on the refined grid; half of the padding lies on each side.

        Kind i reads row ``of[i]`` of each point's.
        """
        outside = ((self._length - self.nodes.size) // 2 - 2) * _REFINED
        place = (where - self.nodes[0]) * (_REFINED / self.step)
        np.clip(place, -outside, self.nodes.size * _REFINED + outside, out=place)
        place += self._length * _REFINED  # positive, so that truncation is the floor
        left = place.astype(np.int64)
        place -= left
        left &= self._length * _REFINED - 1
        rows = np.arange(len(left))[:, None] * smooth.shape[1] + of
        left += rows[..., None] * smooth.shape[2]
        values = smooth.ravel()
        value, following = values.take(left), values.take(left + 1)
        following -= value
        following *= place
        value += following
        return np.maximum(value, 0.0)

    def log_selected(self, density: FloatArray, noise: Residuals) -> FloatArray:
        """Logarithm of the probability that a team is selected, (N, 1), or (N, k) by team."""
        if self.teams.threshold is None:
            return np.zeros((len(density), 1))
        levels = self._log_levels(density, noise)
        return levels if self.teams.choice is None else levels @ self.teams.choice.shares

    def log_all_selected(self, density: FloatArray, noise: Residuals) -> FloatArray:
        """The same of all teams together, (N,)."""
        log_p = self.log_selected(density, noise)
        return log_p[:, 0] * self.teams.x.size if log_p.shape[1] == 1 else log_p.sum(axis=1)

    def _log_levels(self, density: FloatArray, noise: Residuals) -> FloatArray:
        """Logarithm of the probability to be selected at each level, (N, levels)."""
        count = 1 if self.teams.choice is None else self.teams.choice.levels.luck.size
        missed = [self.missed(noise, level) for level in range(count)]
        chance = [self.step * np.sum(density * (1 - m), axis=1) for m in missed]
        return np.log(np.maximum(np.stack(chance, axis=1), _FLOOR))

    def missed(self, noise: Residuals, level: int = 0) -> FloatArray:
        """Probability that a team is not selected at each skill, (N, nodes).

        ``level`` is that of its number of submissions (``Choice.levels``).
        """
        missed = self._below(noise, 0, level)
        return missed if self.teams.y is None else missed * self._below(noise, 1, level)

    def _below(self, noise: Residuals, board: int, level: int) -> FloatArray:
        """Probability of a score below the board's threshold at each skill, (N, nodes)."""
        threshold, flat = self.flat_below(board)
        choice = None if self.teams.choice is None else self.teams.choice.levels
        shift = noise.shift[:, None] if board else 0.0
        if choice is not None:
            shift = shift + self._more(choice, noise)[:, level, None]
        gap = np.asarray(threshold - shift - self.nodes)
        if choice is not None and not board:
            mean, sd = luck_moments(choice, noise, level)
            usual, wide = (gap - mean[:, None]) / sd[:, None], gap / noise.public_sd[:, None]
            wide = wide / WIDE - (mean / noise.public_sd)[:, None]
            chances = [ndtr(usual), ndtr(wide)]
        else:
            gap = gap / (noise.private_sd if board else noise.public_sd)[:, None]
            chances = [ndtr(gap / width) for _, width in noise.parts()]
        chance = FLAT * flat + 0 * gap
        for (weight, _), below in zip(noise.parts(), chances, strict=True):
            chance += weight[:, None] * below
        return np.asarray(chance)

    def flat_below(self, board: int) -> tuple[float, float]:
        """Threshold of a board, and the share of scores that say nothing below it."""
        if self.teams.threshold is None:
            return -np.inf, 0.0
        threshold = self.teams.threshold[board]
        scores = self.teams.x if board == 0 or self.teams.y is None else self.teams.y
        return threshold, float(np.clip((threshold - scores.min()) / self.ranges[board], 0, 1))


def densities_at(
    nodes: FloatArray, scale: FieldScale, family: SkillFamily, t: FloatArray
) -> FloatArray:
    """P(psi) at equally spaced nodes for points (N, dimension); sums to 1 over the step."""
    numpy = numpy_operations()
    columns = tuple(t[:, i, None] for i in range(family.dimension))
    shape = family.log_density(numpy, scale, columns, nodes)
    log_density = add_strangers(numpy, scale, shape, nodes, STRANGERS)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    step = float(nodes[1] - nodes[0])
    return density / (density.sum(axis=1, keepdims=True) * step)


def shift_scales(
    likelihood: PairedLikelihood, noise: Residuals, nodes: int = 41
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the shift may come from: rho, offset and standard error of a difference, (N, K) each.

    Where rho is given K is the number of offsets; else rho runs over quantiles of its prior too.
    A standard error that is not known follows from the residuals.
    """
    offsets = np.asarray(likelihood.priors.offsets)
    total = np.hypot(noise.public_sd, noise.private_sd)[:, None]
    if noise.rho is not None:
        rho = np.repeat(noise.rho[:, None], offsets.size, axis=1)
        offset_k = offsets
    else:
        levels = (np.arange(nodes) + 0.5) / nodes
        quantiles = np.atleast_1d(likelihood.priors.correlation.quantile(levels))
        rho_k, offset_k = (v.ravel() for v in np.meshgrid(quantiles, offsets))
        rho = np.broadcast_to(rho_k, (total.size, rho_k.size))
    error = total / np.sqrt(1 - rho**2)
    if likelihood.standard_errors is not None:
        error = np.full(rho.shape, np.hypot(*likelihood.standard_errors))
    return rho, _seen_offsets(rho, offset_k), error


def _seen_offsets(rho: FloatArray, offsets: FloatArray) -> FloatArray:
    """Offsets, as large as a sampler needs where nothing else shifts: 1 % of a standard error."""
    return np.where(rho < _LEAST_SHIFT, np.maximum(offsets, _LEAST_SHIFT), offsets)


def shift_log_weights(likelihood: PairedLikelihood, noise: Residuals) -> FloatArray:
    r"""Log of weight times density of the shift, (N, K): normal with sd S sqrt(rho^2 + f^2)."""
    rho, offset, error = shift_scales(likelihood, noise)
    sd = error * np.sqrt(rho**2 + offset**2)
    z = noise.shift[:, None] / sd
    return -0.5 * z**2 - np.log(sd * np.sqrt(2 * np.pi) * rho.shape[1])


def shift_log_density(likelihood: PairedLikelihood, noise: Residuals) -> FloatArray:
    """Log density of the shift, (N,): the mixture of ``shift_log_weights``."""
    log_weights = shift_log_weights(likelihood, noise)
    top = log_weights.max(axis=1)
    return top + np.log(np.exp(log_weights - top[:, None]).sum(axis=1))
