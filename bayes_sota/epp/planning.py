r"""How many rounds are enough: for a standard error, an order of neighbours, the best player.

The clustered variance of a skill or difference from n of G rounds is

.. math:: V_n = V_1 \Big[\frac1n + \frac{q}{1 - q}\Big], \qquad
   V_1 = V_G \Big/ \Big[\frac1G + \frac{q}{1 - q}\Big],

q being what overlapping splits test (``fit.test_fraction``, else 0): with it, no number of rounds
makes an error smaller than :math:`\sqrt{V_1 q / (1 - q)}`. The gaps that a test shall detect are
the expected ones, the estimated skills being shrunk towards their mean,

.. math:: \Big[1 - \frac{\sum_i V_{ii} / m}{\sum_i \hat\beta_i^2 / (m - 1)}\Big]_+ \hat\beta

(James & Stein). ``tests/epp/test_planning.py`` compares with simulated tournaments of the planned
size.
"""

from types import SimpleNamespace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bayes_sota.core.arguments import OPEN_SHARE, Range
from bayes_sota.core.errors import InputError
from bayes_sota.core.types import FloatArray
from bayes_sota.epp.fit import BradleyTerryFit

STANDARD_ERROR = Range(0, 100, open_low=True)
_DRAWS = 4_000


def plan_rounds(
    fit: BradleyTerryFit, target_se: float, *, power: float = 0.8, ci_prob: float = 0.95
) -> SimpleNamespace:
    r"""How many rounds it takes, from a pilot.

    Parameters
    ----------
    fit : BradleyTerryFit
        Fit of the observed rounds.
    target_se : float
        Standard error of a skill, in logits: .2 is about 5 points of the probability of winning.
    power : float
        Power of each test of neighbours, on its own.
    ci_prob : float
        Confidence of these tests, and probability that the best comes out first.

    Returns
    -------
    namespace
        Numbers of rounds, infinite where no number is enough: ``for_error`` (m,), until the
        standard error of each skill is ``target_se``; ``for_neighbours`` (m - 1,), until a test
        distinguishes the k-th and the next player in ``order`` with a probability ``power``, if
        they differ as expected; ``for_best``, until the first has the highest estimated skill with
        probability ``ci_prob``. ``order`` are places of the players, the best first, ``expected``
        their expected skills, ``rounds`` the observed ones.

    Raises
    ------
    InputError
        Listed matches without clusters, a player of one round only, impossible numbers.

    Notes
    -----
    Two players with a difference d, whose error in one round is :math:`\sqrt{V_1}`, need
    :math:`V_1 (z_{(1 + p) / 2} + z_{power})^2 / d^2 + z_{(1 + p) / 2}^2 / 2` rounds, the last term
    for the t law (Guenther 1981).

    Examples
    --------
    >>> from bayes_sota.epp.fit import fit_epp
    >>> from bayes_sota.data.tournaments import ScoreTable
    >>> scores = [1.0, 0.0, -1.0] + np.random.default_rng(0).gumbel(size=(20, 3))
    >>> fit = fit_epp(ScoreTable(scores))
    >>> plan = plan_rounds(fit, 0.1)
    >>> fit.se.round(2).tolist(), plan.for_error.round().tolist()
    ([0.29, 0.2, 0.35], [170.0, 82.0, 245.0])
    """
    STANDARD_ERROR.check(target_se, "target_se")
    OPEN_SHARE.check(power, "power")
    OPEN_SHARE.check(ci_prob, "ci_prob")
    if fit.influence is None:
        fix = "name the column of rounds with {option}"
        raise InputError("a plan needs matches in rounds", parameter="cluster", fix=fix)
    if np.isinf(fit.se).any():
        name = fit.players[int(np.argmax(np.isinf(fit.se)))]
        raise InputError(f"{name!r} is in one round only: how its skill varies is not known")
    noise, seen = np.mean(fit.se**2), np.sum(fit.epp**2) / (len(fit.players) - 1)
    expected = fit.epp * max(float(1 - noise / seen), 0.0) if seen else fit.epp
    order = np.argsort(-fit.epp, kind="stable")
    first, second = order[:-1], order[1:]
    confident = float(ndtri((1 + ci_prob) / 2))
    targets = (expected[first] - expected[second]) / (confident + float(ndtri(power)))
    errors = fit.standard_errors_of_pairs()[first, second]
    return SimpleNamespace(
        order=order,
        expected=expected,
        for_error=_rounds_for(fit, fit.se, target_se),
        for_neighbours=_rounds_for(fit, errors, targets) + confident**2 / 2,
        for_best=_rounds_for_best(fit, expected, int(order[0]), ci_prob),
        rounds=fit.data.n_clusters,
        target_se=target_se,
        power=power,
        ci_prob=ci_prob,
    )


def _rounds_for(fit: BradleyTerryFit, errors: ArrayLike, targets: ArrayLike) -> FloatArray:
    """Rounds after which errors are no more than targets."""
    least, rounds = fit.overlap_of(1) - 1, fit.data.n_clusters
    with np.errstate(divide="ignore", invalid="ignore"):
        share = fit.overlap / rounds * (np.asarray(targets) / errors) ** 2
        return np.where(share > least, 1 / (share - least), np.inf)


def _rounds_for_best(
    fit: BradleyTerryFit, skills: FloatArray, best: int, probability: float
) -> float:
    """Rounds after which the best has the highest estimate with this probability.

    Errors x times as large as the observed ones leave the best ahead up to the smallest
    quotient of a gap and what the other's error exceeds the best's by: the quantile of that.
    """
    values, vectors = np.linalg.eigh(fit.covariance)
    root = vectors * np.sqrt(np.maximum(values, 0))
    errors = np.random.default_rng(0).standard_normal((_DRAWS, len(skills))) @ root.T
    beyond = np.delete(errors - errors[:, [best]], best, axis=1)
    gaps = np.delete(skills[best] - skills, best)
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(beyond > 0, gaps / beyond, np.inf).min(axis=1)
    return float(_rounds_for(fit, 1.0, np.quantile(most, 1 - probability, method="lower")))
