r"""Posterior of every team's skill, and of the best one, from a public and a private board.

The hyperparameters are drawn by importance sampling from the likelihood without skills
(``bayes_sota.paired.likelihood``), the families of P averaged by evidence; then the skills on
the public items given the scores, then what the teams share. Skills are those of the *private*
population: with :math:`\delta = \rho s_2 z_2 - \rho s_1 z_1 - b`, where ``b`` is the offset of the
public board (overfitting, or another population),

.. math::
    \theta_j = \psi_j + \delta - \rho s_2 z_2

and :math:`z_2` given delta is normal. ``tests/paired/test_posterior.py`` checks the coverage
of all of them on simulated boards.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from bayes_sota.core.builders import PairedPriors, paired_priors
from bayes_sota.core.inference import Fit, Nodes, Parameters, infer
from bayes_sota.core.numerics import WeightedPoints, one_thread
from bayes_sota.core.parallel import followed
from bayes_sota.core.priors import PAIR_FAMILIES, Priors
from bayes_sota.core.types import FloatArray, IntArray
from bayes_sota.data.observed import PairedBoards
from bayes_sota.leaderboard.shapes import FAMILIES, SkillFamily
from bayes_sota.paired.likelihood import PairedLikelihood, shift_log_weights, shift_scales
from bayes_sota.paired.residuals import FLAT, WIDE, Residuals, unusual_share
from bayes_sota.paired.submissions import Choice, choice_of
from bayes_sota.paired.teams import Coordinate, Selection, Teams, top_places

_LEAST_SIZE = 60.0  # effective number of points below which a result is not to be trusted
_WINDOW = np.linspace(-4.5, 4.5, 25)
_DRAWS_AT_ONCE = 8
_FIRST_POINTS = 50  # of each family, for each of its parameters
_MOST_CREDIBLE = 0.95  # lambda, had luck chosen from submissions that were made beforehand
_SEARCHES, _FEWER_SEARCHES = 4, 2  # of modes; the fewer with two parameters more
_LEAST_SHARE = 0.01  # families with less posterior probability are not sampled again
_DEGREES = 8.0


@dataclass(frozen=True, eq=False)
class PairedFit(Fit):
    """Two boards, with weighted points of the families' and the noise's parameters.

    The coordinates of a family come first, then those of the noise. Rho is one of these, or has
    its prior: there is one node.

    Attributes
    ----------
    likelihood : PairedLikelihood
    """

    likelihood: PairedLikelihood

    @property
    def searches(self) -> int:
        """Fewer with two parameters more."""
        return _SEARCHES if self.likelihood.teams.choice is None else _FEWER_SEARCHES

    def dimension(self, family: str) -> int:
        """Number of parameters of a family and of the noise."""
        return FAMILIES[family].dimension + len(self.likelihood.noise_parameters)

    def log_likelihood(self, family: str, points: FloatArray) -> FloatArray:
        """Log density of all scores at points of a family, (N, 1)."""
        return self.likelihood.log_likelihood(FAMILIES[family], points)


@one_thread()
def fit_pairs(
    likelihood: PairedLikelihood,
    rng: np.random.Generator,
    points: int = 2500,
    families: tuple[str, ...] = PAIR_FAMILIES,
) -> PairedFit:
    """Posterior of the hyperparameters; each family has the same prior weight.

    A first sample finds the evidence of each family; ``points`` more are shared among those that
    matter, from a proposal fitted to the first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = rng.normal(0.8, 0.05, 12)
    >>> boards = PairedBoards(*(skill + rng.normal(0, 0.02, (2, 12))))
    >>> teams = Selection.of_boards(boards).teams
    >>> likelihood = PairedLikelihood.of_teams(boards, teams, PairedPriors())
    >>> fit = fit_pairs(likelihood, rng, points=50, families=("normal",))
    >>> draw_skills(fit, 100, rng).psi.shape
    (100, 12)
    """
    priors = likelihood.priors
    nodes = Nodes.of(priors.correlation, priors.submission_luck, 1, has_luck=False)
    first = infer(PairedFit(nodes, families, (), "nothing", likelihood), rng, _FIRST_POINTS)
    samples = []
    with followed(len(families), "shapes of skills, again") as advance:
        for (name, share), sample in zip(first.shape_weights.items(), first.points, strict=True):
            if share > _LEAST_SHARE:
                target = partial(first.log_likelihood, name)
                count = int(points * (0.3 / len(families) + 0.7 * share))
                if likelihood.teams.choice is not None:  # the first is thin in more dimensions
                    sample = _sampled_again(target, sample, count // 2, rng)
                sample = _sampled_again(target, sample, count, rng)
            samples.append(sample)
            advance()
    return replace(first, points=tuple(samples))


def _sampled_again(
    target: Callable[[FloatArray], FloatArray],
    first: WeightedPoints,
    count: int,
    rng: np.random.Generator,
) -> WeightedPoints:
    """Weighted points from a Student t with the moments of a first sample."""
    weights, d = first.weights[:, 0], first.points.shape[1]
    centre = weights @ first.points
    away = first.points - centre
    # few effective points make a covariance that is too small in some direction
    inflation = 1.1 * (1 + d / first.effective_size[0])
    covariance = inflation * (away.T @ (away * weights[:, None])) + 1e-4 * np.eye(d)
    factor = np.linalg.cholesky(covariance * (_DEGREES - 2) / _DEGREES)
    chi = rng.chisquare(_DEGREES, count) / _DEGREES
    z = rng.standard_normal((count, d)) / np.sqrt(chi)[:, None]
    t = centre + z @ factor.T
    log_proposal = -0.5 * (_DEGREES + d) * np.log1p(np.sum(z**2, axis=1) / _DEGREES)
    log_proposal += gammaln((_DEGREES + d) / 2) - gammaln(_DEGREES / 2)
    log_proposal -= 0.5 * d * np.log(_DEGREES * np.pi) + np.log(np.diag(factor)).sum()
    log_prior = -0.5 * np.sum(t**2 + np.log(2 * np.pi), axis=1)
    return WeightedPoints(t, target(t) + (log_prior - log_proposal)[:, None])


@dataclass(frozen=True, eq=False)
class Skills:
    """Draws of the skills on the public items, and what each was drawn given.

    Attributes
    ----------
    psi : ndarray, shape (D, k)
    noise : Residuals
        Noise parameters of each draw, in the coordinate.
    family : ndarray of int, shape (D,)
        Place in ``FAMILIES``.
    t : ndarray, shape (D, largest dimension of a family)
        Coordinates of the family; NaN where it has no more.
    log_likelihood : ndarray, shape (D, k)
        Log density of each team's scores, the skills summed out, over the chance to be selected.
    unusual : ndarray, shape (D, k)
        Probability that not all residuals of a team are usual ones.
    parameters : Parameters
        Weighted point behind each draw.
    """

    psi: FloatArray
    noise: Residuals
    family: IntArray
    t: FloatArray
    log_likelihood: FloatArray
    unusual: FloatArray
    parameters: Parameters


@dataclass(frozen=True, eq=False)
class PairedPosterior:
    """Draws, all in units of the scores; D draws, k distinct teams.

    Attributes
    ----------
    draws : dict of name -> ndarray
        ``skill``, ``expected_private``, ``public_gain`` and ``unusual`` (D, k); (D,) each:
        ``theta_sota``, ``winner_skill``, ``winner_new_score``, ``best_new_score``, ``rho``,
        ``public_se``, ``private_se``, ``residual_sd`` (of a difference), ``outliers``,
        ``score_shift`` (at the public winner).
        ``best`` (D,), which distinct team is best.
    skills : Skills
        In the coordinate, with the hyperparameters.
    reasons : tuple of str
        Why the result is not to be trusted; empty if it is.
    selection : Selection
    fit : PairedFit
    """

    draws: dict[str, NDArray[Any]]
    skills: Skills
    reasons: tuple[str, ...]
    selection: Selection
    fit: PairedFit


def paired_posterior(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    rng: np.random.Generator,
    draws: int = 2000,
    top: float | None = None,
    merge: bool | None = None,
    points: int = 2500,
) -> PairedPosterior:
    """Joint posterior of the skills of the teams near the top of either board.

    Parameters
    ----------
    boards : PairedBoards
    priors : Priors or PairedPriors, optional
    rng : Generator
    draws : int
    top, merge
        As in ``Selection.of_boards``.
    points : int
        Points of the importance sampler, shared among the families.
    """
    selection = Selection.of_boards(boards, top, merge)
    likelihood = PairedLikelihood.of_teams(boards, selection.teams, paired_priors(priors))
    fit = _fit_enough(likelihood, rng, points)
    skills = draw_skills(fit, draws, rng)
    winner, coordinate = selection.place_of(boards.public_winner), Coordinate(boards.n_test)
    values = estimands_of(likelihood, skills.noise, skills.psi, winner, coordinate, rng)
    values |= gains_of(likelihood, skills.noise, skills.unusual, coordinate)
    reasons = (*_reasons(likelihood, fit), *_adaptive(skills.noise))
    return PairedPosterior(values, skills, reasons, selection, fit)


def draw_skills(
    fit: PairedFit, count: int, rng: np.random.Generator, teams: Teams | None = None
) -> Skills:
    """Draws of psi and of the hyperparameters, of the fitted or of other teams."""
    fitted = fit.likelihood
    target = fitted if teams is None else fitted.with_teams(teams)
    parameters = Parameters.of(fit, fit.choose(count, rng))[rng.permutation(count)]
    names, places, noises = list(FAMILIES), list[IntArray](), list[Residuals]()
    family = np.array([names.index(name) for name in fit.families])[parameters.family]
    t = np.full((count, max(f.dimension for f in FAMILIES.values())), np.nan)
    psi, log_likelihood, unusual = found_of = np.empty((3, count, target.teams.x.size))
    for _, f, draws in parameters.cells(fit, count):
        shape, points = FAMILIES[fit.families[f]], parameters.points(fit, draws)
        t[draws, : shape.dimension] = points[:, : shape.dimension]
        noise = fitted.residuals(points[:, shape.dimension :])
        found_of[:, draws] = skills_given(target, shape, t[draws], noise, rng)
        places.append(draws)
        noises.append(noise)
    order = np.argsort(np.concatenate(places))
    noise = Residuals.joined(noises)[order]
    return Skills(psi, noise, family, t, log_likelihood, unusual, parameters)


def skills_given(
    target: PairedLikelihood,
    family: SkillFamily,
    t: FloatArray,
    noise: Residuals,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A draw of psi, and what else is said of each team, for each row of hyperparameters.

    Parameters
    ----------
    target : PairedLikelihood
        With the teams; its scores are conditioned on.
    family : SkillFamily
    t : ndarray, shape (D, at least the dimension of the family)
    noise : Residuals
    rng : Generator

    Returns
    -------
    psi, log_likelihood, unusual : ndarray, shape (D, k)
        As of ``Skills``.
    """
    psi, log_likelihood, unusual = np.empty((3, len(t), target.teams.x.size))
    boards = 1 if target.teams.y is None else 2
    for i in range(0, len(t), _DRAWS_AT_ONCE):
        rows = slice(i, i + _DRAWS_AT_ONCE)
        density = target.densities(family, t[rows])
        some = noise[rows]
        terms = target.team_terms(density, some)
        selected = target.log_selected(density, some)
        log_likelihood[rows] = target.log_pairs(terms[0]) - selected
        unusual[rows] = unusual_share(terms[0], boards)
        psi[rows] = _draw_team_skills(target, density, terms, rng) + target.more_skill(some)
    return psi, log_likelihood, unusual


def _draw_team_skills(
    likelihood: PairedLikelihood,
    density: FloatArray,
    of_teams: tuple[FloatArray, FloatArray, FloatArray],
    rng: np.random.Generator,
) -> FloatArray:
    """One psi per row of ``density`` and team: a kind of residuals, then the inverse of its cdf."""
    terms, centre, variance = of_teams
    terms = terms + 1e-300
    cumulative = np.cumsum(terms, axis=1)
    pick = rng.random(cumulative[:, :1].shape) * cumulative[:, -1:]
    kind = np.sum(cumulative < pick, axis=1, keepdims=True)
    middle = np.take_along_axis(centre, kind, axis=1)[:, 0]
    variance = np.broadcast_to(variance[:, :, None], centre.shape)
    sd = np.sqrt(np.take_along_axis(variance, kind, axis=1))[:, 0]
    nodes = middle[..., None] + sd[..., None] * _WINDOW
    mass = _interpolated(density, likelihood, nodes) * np.exp(-0.5 * _WINDOW**2) + 1e-290
    steps = np.cumsum(mass[..., 1:] + mass[..., :-1], axis=-1)
    level = rng.random(middle.shape) * steps[..., -1]
    cell = np.minimum(np.sum(steps < level[..., None], axis=-1), _WINDOW.size - 2)
    steps = np.concatenate([np.zeros_like(steps[..., :1]), steps], axis=-1)
    below, above = (np.take_along_axis(steps, (cell + k)[..., None], -1)[..., 0] for k in (0, 1))
    part = (level - below) / (above - below)
    drawn = middle + sd * (_WINDOW[cell] + part * (_WINDOW[1] - _WINDOW[0]))
    return np.clip(drawn, likelihood.nodes[0], likelihood.nodes[-1])


def _interpolated(density: FloatArray, likelihood: PairedLikelihood, at: FloatArray) -> FloatArray:
    """Linear interpolation of P, a row of ``density`` for each first index; 0 outside."""
    place = (at - likelihood.nodes[0]) / likelihood.step
    last = likelihood.nodes.size - 1
    inside = (place >= 0) & (place <= last)
    left = np.clip(place.astype(np.int64), 0, last - 1)
    u = place - left
    flat = left + (np.arange(len(density)) * density.shape[1])[:, None, None]
    values = density.ravel()
    return np.where(inside, (1 - u) * values[flat] + u * values[flat + 1], 0.0)


def estimands_of(
    likelihood: PairedLikelihood,
    noise: Residuals,
    psi: FloatArray,
    winner: int | IntArray,
    coordinate: Coordinate,
    rng: np.random.Generator,
) -> dict[str, NDArray[Any]]:
    """Everything that is reported, from the skills on the public items.

    Parameters
    ----------
    likelihood : PairedLikelihood
    noise : Residuals
    psi : ndarray, shape (D, k)
    winner : int, or ndarray of int, shape (D,)
        Which team won the public board (of each draw).
    coordinate : Coordinate
    rng : Generator

    Returns
    -------
    dict of str to ndarray
        As of ``PairedPosterior.draws``.
    """
    rho, error, z2 = draw_shared(likelihood, noise, rng)
    share = noise.private_sd / np.hypot(noise.public_sd, noise.private_sd)
    private_se, public_se = error * share, error * np.sqrt(1 - share**2)
    expected = psi + noise.shift[:, None]
    theta = expected - (rho * private_se * z2)[:, None]
    fresh = rng.standard_normal((len(rho), 1)) * (rho * private_se)[:, None]
    if likelihood.standard_errors is not None:
        public_se, private_se = (np.full(len(rho), se) for se in likelihood.standard_errors)
    new = theta + fresh + rng.standard_normal(theta.shape) * noise.private_sd[:, None]
    best = np.argmax(psi, axis=1)
    score = coordinate.to_score
    skill, first = score(theta), (np.arange(len(best)), winner)
    lucks = {} if noise.luck is None else {"submission_luck": noise.luck}
    return {
        "skill": skill,
        "expected_private": score(expected),
        "theta_sota": skill[np.arange(len(best)), best],
        "winner_skill": skill[first],
        "winner_new_score": score(new[first]),
        "best_new_score": score(new.max(axis=1)),
        "score_shift": score(expected[first]) - score(psi[first]),
        "best": best,
        "rho": rho,
        "public_se": public_se,
        "private_se": private_se,
        "residual_sd": np.hypot(noise.public_sd, noise.private_sd),
        "outliers": noise.outliers,
        **lucks,
    }


def gains_of(
    likelihood: PairedLikelihood, noise: Residuals, unusual: FloatArray, coordinate: Coordinate
) -> dict[str, FloatArray]:
    """Public scores beyond those to expect by the private ones, luck of submissions too, (D, k).

    And the probability that such a difference is unusual, as of ``Skills``.
    """
    teams = likelihood.teams
    assert teams.y is not None
    expected = teams.y - noise.shift[:, None]
    if teams.choice is not None and noise.luck is not None:
        expected = expected + (noise.luck * noise.public_sd)[:, None] * teams.choice.luck
    gain = coordinate.to_score(teams.x) - coordinate.to_score(expected)
    return {"public_gain": gain, "unusual": unusual}


def draw_shared(
    likelihood: PairedLikelihood, noise: Residuals, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """rho, standard error of a difference, and z2, given the shift; (D,) each."""
    rho, offset, error = shift_scales(likelihood, noise)
    log_weights = shift_log_weights(likelihood, noise)
    weights = np.cumsum(np.exp(log_weights - log_weights.max(axis=1, keepdims=True)), axis=1)
    pick = rng.random((len(weights), 1)) * weights[:, -1:]
    chosen = np.sum(weights < pick, axis=1)
    rows = np.arange(len(chosen))
    rho, offset, error = rho[rows, chosen], offset[rows, chosen], error[rows, chosen]
    share = noise.private_sd / np.hypot(noise.public_sd, noise.private_sd)
    total = (rho**2 + offset**2) * error**2
    slope = rho * error * share / total
    left = np.sqrt(np.maximum(1 - slope * rho * error * share, 0))
    return rho, error, slope * noise.shift + left * rng.standard_normal(len(rho))


def predict_private(
    fit: PairedFit,
    public: FloatArray,
    count: int,
    rng: np.random.Generator,
    choice: Choice | None = None,
) -> FloatArray:
    """Private scores of teams from their public scores alone, in the coordinate, (count, k).

    The shift is the learnt one; where no private board was seen, its law without an offset.

    Parameters
    ----------
    fit : PairedFit
        Learnt from other pairs, or from public scores alone.
    public : (k,) array
        Public scores of the teams, in the coordinate.
    count : int
        Draws.
    rng : Generator
    choice : Choice, optional
        Submissions that the scores were chosen from; by default one each.
    """
    skills = draw_skills(fit, count, rng, Teams(public, None, None, choice))
    psi, noise = skills.psi, skills.noise
    delta = noise.shift
    if fit.likelihood.teams.y is None and noise.rho is not None:
        errors = np.hypot(*(fit.likelihood.standard_errors or (0.0, 0.0)))
        delta = noise.rho * errors * rng.standard_normal(count)
    wide = rng.random(psi.shape) < noise.outliers[:, None]
    sd = noise.private_sd[:, None] * np.where(wide, WIDE, 1.0)
    predicted = psi + delta[:, None] + sd * rng.standard_normal(psi.shape)
    failed = rng.random(psi.shape) < FLAT
    anything = rng.choice(public, psi.shape)
    return np.where(failed, anything, predicted)


def predict_from_public(
    boards: PairedBoards,
    priors: Priors | PairedPriors | None = None,
    *,
    rng: np.random.Generator,
    entries: IntArray | None = None,
    draws: int = 2000,
    top: float | None = None,
    points: int = 2500,
) -> FloatArray:
    """Private scores predicted without looking at any of them; the noise must be known.

    The model is fitted to the upper part of the public board. The offset of the public board is
    taken to be zero: nothing in public scores tells of it.

    Parameters
    ----------
    boards, priors, rng, draws, top, points
        As in ``paired_posterior``; the private scores are not used.
    entries : (k,) array of int, optional
        Teams to predict; default all.

    Returns
    -------
    ndarray, shape (draws, k)
    """
    coordinate = Coordinate(boards.n_test)
    x = coordinate.of_scores(boards.public, 0)
    places = top_places(x.size, top)
    threshold = float(np.sort(x)[-places])
    limits = (threshold, threshold) if places < x.size else None
    above = np.flatnonzero(x >= threshold)
    fitted = Teams(x[above], None, limits, choice_of(boards, above, np.arange(above.size)))
    likelihood = PairedLikelihood.of_teams(boards, fitted, paired_priors(priors))
    fit = _fit_enough(likelihood, rng, points)
    wanted = np.arange(x.size) if entries is None else entries
    choice = choice_of(boards, wanted, np.arange(wanted.size))
    return coordinate.to_score(predict_private(fit, x[wanted], draws, rng, choice))


def _reasons(likelihood: PairedLikelihood, fit: PairedFit) -> tuple[str, ...]:
    """Why a result is not to be trusted."""
    reasons = []
    if fit.effective_size < _LEAST_SIZE:
        reasons.append(
            f"effective number of importance points is {fit.effective_size:.0f}, below "
            f"{_LEAST_SIZE:.0f}"
        )
    if likelihood.standard_errors is not None:
        seen = likelihood.teams.difference_sd
        allowed = float(np.hypot(*likelihood.standard_errors))
        if seen > 1.15 * allowed * (1 + 2 / np.sqrt(likelihood.teams.x.size)):
            reasons.append(
                f"differences of the teams have the robust standard deviation {seen:.3g}, more "
                f"than the {allowed:.3g} that the standard errors allow at rho = 0"
            )
    return tuple(reasons)


def _adaptive(noise: Residuals) -> Iterator[str]:
    """Public scores that rise with submissions by more than their luck, private ones not."""
    middle = 0.0 if noise.luck is None else float(np.median(noise.luck))
    if middle > _MOST_CREDIBLE:
        yield (
            f"lambda is learnt as {middle:.2f}, where it ends: public scores rise with the number "
            "of submissions at least as far as the luck of unrelated ones, as where teams adapt to "
            "the public board step by step, which the model lacks"
        )


def _fit_enough(likelihood: PairedLikelihood, rng: np.random.Generator, points: int) -> PairedFit:
    """Fit, once more with four times the points where the first sample was too thin."""
    fit = fit_pairs(likelihood, rng, points)
    if fit.effective_size >= _LEAST_SIZE:
        return fit
    return fit_pairs(likelihood, rng, 4 * points)
