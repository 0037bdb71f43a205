"""Priors as frozen dataclasses with parameters that a reader can argue about.

Skill priors say where the field lies and how much it varies, the correlation prior how alike the
classifiers' mistakes are, the tries prior how many attempts could have become the observed maximum.
``BUILDERS`` has the priors of every kind of model, whose defaults are those of a file in
``models/`` (``tests/test_specifications.py``).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import (
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    Range,
    check_choice,
    refuse_unused,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Beta, LogitNormal, SkillDistribution, Uniform, logit
from bayes_sota.core.types import FloatArray

type Ends = tuple[float, float]
NORMAL_975 = 1.959963984540054
BOARD_FAMILIES = ("normal", "ex-gaussian")  # shapes that are averaged


def _require(holds: object, problem: str) -> None:
    if not holds:
        raise InputError(problem)


def normal_between(ends: ArrayLike) -> tuple[float, float]:
    """Mean and sd of the normal law with 95 % between two ends; of one number, which is known."""
    low, high = np.broadcast_to(ends, 2)
    return float((low + high) / 2), float((high - low) / (2 * NORMAL_975))


def check_range(name: str, value: Ends | float, low: float, high: float, meaning: str) -> None:
    """``InputError`` unless a value, or both of an increasing pair, lie between two numbers."""
    ends = value if isinstance(value, tuple) else (value,)
    inside = len(ends) in (1, 2) and all(np.isfinite(x) and low < x < high for x in ends)
    _require(inside, f"{name} must be {meaning} or a pair of them, got {value}")
    _require(len(ends) == 1 or ends[0] < ends[1], f"{name} must be an increasing pair, got {value}")


def _check_positive(priors: Any, **others: Range) -> None:
    """Raise ``InputError`` unless all numbers are positive, or in the range given for a field."""
    for one in fields(priors):
        value = getattr(priors, one.name)
        for number in value if isinstance(value, tuple | list) else (value,):
            others.get(one.name, POSITIVE).check(number, one.name)


@dataclass(frozen=True)
class FieldPriors:
    """Where the field of classifiers lies, and how wide it is.

    Parameters
    ----------
    typical : (float, float)
        Accuracies between which the middle of the field lies with prior probability 95 %; normal
        on the log odds.
    spread : (float, float)
        Standard deviations of skill on the log-odds scale between which the true one lies with
        prior probability 95 %; log-normal.
    """

    typical: Ends | float = (0.2, 0.99)
    spread: Ends | float = (0.05, 2.0)
    may_be_known: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Check ranges once."""
        check_range("typical", self.typical, 0.0, 1.0, "an accuracy in (0, 1)")
        check_range("spread", self.spread, 0.0, 5.0, "a standard deviation of log odds in (0, 5)")
        for name, value in (("typical", self.typical), ("spread", self.spread)):
            is_pair = self.may_be_known or isinstance(value, tuple)
            _require(is_pair, f"{name} of a whole board must be a pair, got {value}")

    @property
    def location(self) -> tuple[float, float]:
        """Prior mean and sd of the place of the field, in log odds; a known place has sd 0."""
        return normal_between(logit(self.typical))

    @property
    def log_spread(self) -> tuple[float, float]:
        """Prior mean and sd of the logarithm of the width."""
        return normal_between(np.log(self.spread))


@dataclass(frozen=True)
class SkillPrior(FieldPriors):
    """Prior on P(theta), the distribution of skill over the field of classifiers.

    Parameters
    ----------
    typical, spread : (float, float) or float
        As in ``FieldPriors``, with one number where the accuracy of the median classifier or the
        width is known. Near an accuracy p, a spread s is a standard deviation of about
        ``s * p * (1 - p)`` in accuracy: 0.2 is 0.018 at 0.90.
    """

    typical: Ends | float = (0.4, 0.99)
    spread: Ends | float = (0.05, 1.0)
    may_be_known = True

    family: ClassVar[str] = ""
    law: ClassVar[type[SkillDistribution]]

    def distribution(self, location: ArrayLike, spread: ArrayLike) -> SkillDistribution:
        """P(theta) for given hyperparameters, which may be arrays."""
        return self.law.from_location_spread(location, spread)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[FloatArray, FloatArray]:
        """Prior draws of location and spread."""
        location = rng.normal(*self.location, size)
        return location, np.exp(rng.normal(*self.log_spread, size))


@dataclass(frozen=True)
class LogitNormalSkill(SkillPrior):
    """Normal log odds of skill, ``logit(theta) ~ Normal(location, spread)``: the default."""

    family = "logit-normal"
    law = LogitNormal


@dataclass(frozen=True)
class BetaSkill(SkillPrior):
    """Beta skills, left-skewed near 1, with mean ``expit(location)``.

    The spread is the standard deviation of the log odds to first order.
    """

    family = "beta"
    law = Beta


@dataclass(frozen=True)
class UniformSkill(SkillPrior):
    """Uniform skills between ``expit(location -+ sqrt(3) spread)``: a sharp upper edge."""

    family = "uniform"
    law = Uniform


SKILL_FAMILIES: dict[str, type[SkillPrior]] = {
    prior.family: prior for prior in (LogitNormalSkill, BetaSkill, UniformSkill)
}


class CorrelationPrior(ABC):
    """Prior on rho, the correlation of a classifier with the reference classifier."""

    @property
    def is_fixed(self) -> bool:
        """Whether rho is known."""
        return isinstance(self, FixedCorrelation)

    @abstractmethod
    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of rho."""

    @abstractmethod
    def log_density(self, rho: ArrayLike) -> FloatArray:
        """Log density of rho."""


@dataclass(frozen=True)
class BetaCorrelation(CorrelationPrior):
    """Beta prior on rho; the default has mean 0.69 and a 95 % interval from 0.36 to 0.93.

    The default predicts rho in a new domain from response matrices of three domains
    (``tests/calibration/correlation_by_domain.py``); ``--domain`` has narrower ones. Møllersen &
    Holsbø take rho = 0.6 from the similarity of ImageNet models of Mania et al. 2019; their formula
    gives 0.77.
    """

    a: float = 5.7
    b: float = 2.6

    def __post_init__(self) -> None:
        """Check a, b > 0."""
        _check_positive(self)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of the Beta distribution."""
        from scipy.special import betaincinv

        return betaincinv(self.a, self.b, q)

    def log_density(self, rho: ArrayLike) -> FloatArray:
        """Log density of the Beta distribution."""
        from scipy.special import betaln, xlog1py, xlogy

        powers = xlogy(self.a - 1, rho) + xlog1py(self.b - 1, np.negative(rho))
        return powers - betaln(self.a, self.b)


@dataclass(frozen=True)
class FixedCorrelation(CorrelationPrior):
    """A known rho in [0, 1); 0 is independence."""

    value: float = 0.0

    def __post_init__(self) -> None:
        """Check 0 <= value < 1."""
        _require(0 <= self.value < 1, f"correlation must lie in [0, 1), got {self.value:g}")

    def quantile(self, q: ArrayLike) -> FloatArray:
        """The value, whatever the probability."""
        return np.full(np.shape(q), self.value)

    def log_density(self, rho: ArrayLike) -> FloatArray:
        """Zero at the value and minus infinity elsewhere: the density of a point mass."""
        return np.where(np.asarray(rho) == self.value, 0.0, -np.inf)


class TriesPrior(ABC):
    """Prior on m, the number of tries that could have become the observed maximum."""

    @abstractmethod
    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of m (not rounded)."""

    def nodes(self, count: int = 8) -> tuple[FloatArray, FloatArray]:
        """Equally likely values that represent the prior, with their weights."""
        q = (np.arange(count) + 0.5) / count
        return np.maximum(np.round(self.quantile(q)), 1.0), np.full(count, 1 / count)

    def scaled(self, factor: float) -> "ListedTries":
        """Values that represent ``factor`` times as many tries."""
        return ListedTries(tuple(max(1, round(x * factor)) for x in self.nodes()[0].tolist()))


@dataclass(frozen=True)
class UniformTries(TriesPrior):
    """Between ``low`` and ``high``, uniform on the logarithm."""

    low: int
    high: int

    def __post_init__(self) -> None:
        """Check 1 <= low < high."""
        holds = 1 <= self.low < self.high
        _require(holds, f"a range A:B needs 1 <= A < B, got {self.low}:{self.high}")

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Log-linear between the ends."""
        return self.low * (self.high / self.low) ** np.asarray(q, np.float64)


@dataclass(frozen=True)
class ListedTries(TriesPrior):
    """As in a list of known numbers, each equally likely."""

    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        """Check that there are numbers, of at least 1."""
        problem = f"listed tries need numbers of at least 1, got {self.numbers}"
        _require(self.numbers and min(self.numbers) >= 1, problem)

    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of the list."""
        numbers = np.asarray(self.numbers, np.float64)
        return np.quantile(numbers, np.asarray(q), method="inverted_cdf")


WIDE_LUCK = BetaCorrelation(1.8, 1.2)
"""Prior of the luck of chosen submissions: mean 0.6, 95 % between 0.11 and 0.97."""


@dataclass(frozen=True)
class MaximumPriors:
    """Priors of the model of an observed maximum.

    The number of classifiers belongs to the data (``Leaderboard``), even where it is a prior.
    """

    skill: SkillPrior = LogitNormalSkill()
    correlation: CorrelationPrior = BetaCorrelation()
    submission_luck: CorrelationPrior = WIDE_LUCK


@dataclass(frozen=True)
class BoardPriors(FieldPriors):
    """Priors of the model of a whole leaderboard.

    Parameters
    ----------
    typical, spread : (float, float)
        As in ``FieldPriors``; the width is narrower by default, because its lower end decides how
        far scores are shrunk (docs/measured/calibration.md).
    correlation : CorrelationPrior
        Correlation of a classifier with the reference; that of the leaders, which decide
        theta_sota.
    families : tuple of str
        Shapes of P(psi) to average over, equally likely a priori
        (``bayes_sota.leaderboard.fit``).
    submission_luck : CorrelationPrior
        lambda of ``bayes_sota.maximum.submissions``: how far an entry's own luck decided which of
        its ``submissions`` the board shows. One board barely identifies it: it keeps its prior.
    """

    spread: Ends | float = (0.11, 0.8)
    correlation: CorrelationPrior = BetaCorrelation()
    families: tuple[str, ...] = BOARD_FAMILIES
    submission_luck: CorrelationPrior = WIDE_LUCK

    def __post_init__(self) -> None:
        """Check ranges and names once."""
        super().__post_init__()
        different = self.families and len(set(self.families)) == len(self.families)
        _require(different, f"families must be one or more different names, got {self.families}")
        for name in self.families:
            check_choice("family", name, BOARD_FAMILIES)


@dataclass(frozen=True)
class ItemPriors(FieldPriors):
    """Priors of the model of answers to items, all on the log-odds scale.

    Fields, tasks and interactions refer to log odds of the share correct in a task.

    Parameters
    ----------
    typical, spread : (float, float)
        As in ``FieldPriors``: of a typical task.
    item_sd : (float, float)
        Ends of the 95 % interval of the log-normal prior of the sd of items of one task (and
        cluster): items of an evaluation differ.
    task_scale, cluster_scale : float
        Scale of the half-normal prior of the sd of tasks, and of clusters of items.
    interaction_scale : float
        The same for what a task, or a cluster, adds to one classifier.
    log_concentration : (float, float)
        Mean and sd of the logarithm of phi: given classifier and item, two runs have the
        correlation 1 / (1 + phi).

    Examples
    --------
    >>> ItemPriors(task_scale=0.5).item_sd
    (0.3, 6.0)
    """

    spread: tuple[float, float] = (0.05, 3.0)
    item_sd: tuple[float, float] = (0.3, 6.0)
    task_scale: float = 1.5
    cluster_scale: float = 1.5
    interaction_scale: float = 0.7
    log_concentration: tuple[float, float] = (0.0, 1.5)

    def __post_init__(self) -> None:
        """Check ranges once."""
        super().__post_init__()
        check_range("item_sd", self.item_sd, 0.0, np.inf, "a standard deviation")
        _check_positive(self, log_concentration=NUMBER)
        POSITIVE.check(self.log_concentration[1], "sd of log_concentration")


@dataclass(frozen=True)
class PairedPriors:
    """Priors of the model of a public and a private board of the same teams.

    Parameters
    ----------
    correlation : CorrelationPrior
        Prior of rho, the correlation of a team with the reference.
    offsets : tuple of float
        Standard deviations that the offset of the public board (overfitting, another population)
        may have, equally likely, in units of the standard error of a difference. 0 is a random
        split that is not overfitted.
    submission_luck : CorrelationPrior
        lambda of ``bayes_sota.maximum.submissions``: how far luck decided which of a team's
        submissions the public board shows. It counts where the boards have ``submissions``.

    Examples
    --------
    >>> PairedPriors(offsets=(0.0,)).correlation
    BetaCorrelation(a=5.7, b=2.6)
    """

    correlation: CorrelationPrior = BetaCorrelation()
    offsets: tuple[float, ...] = (0.0, 1.0, 3.0, 10.0)
    submission_luck: CorrelationPrior = WIDE_LUCK

    def __post_init__(self) -> None:
        """Check the offsets."""
        holds = self.offsets and all(0 <= f < np.inf for f in self.offsets)
        _require(holds, f"offsets must be numbers of at least 0, got {self.offsets}")


@dataclass(frozen=True)
class EppPriors:
    """Priors of the skills of players, all on the logit scale.

    Parameters
    ----------
    skill_scale : float
        Scale of the half-normal prior of the sd of skills. With 2, half of the prior has an sd
        below 1.35, where the better of two players at random wins 78 % of the rounds in the
        median, and 2.5 % above 4.5, where it wins 99 %: from coins to certainty.
    tournament_scale : float
        The same for deviations in a tournament.
    effect_scale : float
        Sd of the effect of a covariate of players: of a number per standard deviation, of each
        level of a category.

    Examples
    --------
    >>> EppPriors(skill_scale=0.5).effect_scale
    1.0
    """

    skill_scale: float = 2.0
    tournament_scale: float = 1.0
    effect_scale: float = 1.0

    def __post_init__(self) -> None:
        """Check that all are positive."""
        _check_positive(self)


@dataclass(frozen=True)
class CrossValidationPriors:
    r"""Priors of learners compared by cross-validation.

    The unit of scores is the typical standard deviation of a learner's own part of a fold score
    (Corani et al. 2017 standardise alike), so that the same priors serve every scorer.

    Parameters
    ----------
    learner_scale : float
        Scale of the half-normal prior of the sd of learners over all data sets, in units.
    interaction_scale : float
        The same for what a data set adds to a learner.
    interaction_tails : float
        Degrees of freedom of the Student law of what a data set adds.
    learner_spread : float
        Sd of the logarithm of the standard deviations of the learners on a data set.
    task_spread : float
        Sd of the logarithm of the standard deviations over data sets.
    partition_ratio : (float, float)
        Median, and sd of the logarithm, of the ratio of the sd of an iteration's mean to what it
        were if folds were independent. The folds of one partition test all items once, which makes
        it smaller than 1; unstable learners make it larger.
    overlap : float
        Odds of rho, the correlation of two fold scores, as a multiple of n_test / n_train: 1 is
        Nadeau & Bengio's. Scores do not identify it.

    Examples
    --------
    >>> CrossValidationPriors().overlap
    1.0
    """

    learner_scale: float = 2.0
    interaction_scale: float = 2.0
    interaction_tails: float = 4.0
    learner_spread: float = 0.5
    task_spread: float = 1.0
    partition_ratio: tuple[float, float] = (0.8, 0.4)
    overlap: float = 1.0

    def __post_init__(self) -> None:
        """Check that widths are positive."""
        _check_positive(self, overlap=NOT_NEGATIVE)


@dataclass(frozen=True)
class Priors:
    """Priors for any kind of data.

    What is left out has the default of ``MaximumPriors``, ``BoardPriors``, ...

    Parameters
    ----------
    skill : SkillPrior, optional
        P(theta). A whole board, which averages over shapes, takes the ranges of
        ``LogitNormalSkill``.
    correlation : CorrelationPrior, optional
        Correlation of a classifier with the reference.
    families : tuple of str, optional
        Shapes of P(theta) of a whole board (``bayes_sota.leaderboard.fit``).
    submission_luck : CorrelationPrior, optional
        lambda, how far luck chose what a board with ``submissions`` shows (``BoardPriors``).
    """

    skill: SkillPrior | None = None
    correlation: CorrelationPrior | None = None
    families: tuple[str, ...] | None = None
    submission_luck: CorrelationPrior | None = None

    def __post_init__(self) -> None:
        """Check kinds."""
        wanted = "a prior of skills is LogitNormalSkill((0.3, 0.9), (0.1, 0.8)) or the like"
        _require(isinstance(self.skill, SkillPrior | None), f"{wanted}, got {self.skill!r}")
        for given in (self.correlation, self.submission_luck):
            wanted = "a prior of a correlation is FixedCorrelation(0.8), BetaCorrelation(16, 4) or "
            _require(isinstance(given, CorrelationPrior | None), f"{wanted}the like, got {given!r}")
        one = f"families is a tuple, such as ({self.families!r},)"
        _require(not isinstance(self.families, str), one)


def own_priors[T](kind: type[T], priors: "Priors | T | None") -> T:
    """Priors of a kind: the given ones, or the defaults updated by a ``Priors``."""
    if isinstance(priors, kind):
        return priors
    wanted = f"priors must be Priors or {kind.__name__}, got {type(priors).__name__}"
    _require(isinstance(priors, Priors | None), wanted)
    given = {name: value for name, value in vars(priors or Priors()).items() if value is not None}
    if issubclass(kind, FieldPriors) and "skill" in given:
        skill = given.pop("skill")
        _require(
            isinstance(skill, LogitNormalSkill),
            "a whole board averages over shapes of P(theta): give LogitNormalSkill, whose "
            f"ranges are those of the field, not {type(skill).__name__}",
        )
        given |= {"typical": skill.typical, "spread": skill.spread}
    known = [one.name for one in fields(kind)]  # type: ignore[arg-type]
    refuse_unused(kind.__name__, {k: value for k, value in given.items() if k not in known})
    return kind(**given)


maximum_priors = partial(own_priors, MaximumPriors)
board_priors = partial(own_priors, BoardPriors)


class Builder(NamedTuple):
    """A builder of models, as specifications name it.

    Attributes
    ----------
    default : str
        Name of the specification with its default priors and sampler.
    priors : type
        Its priors.
    """

    default: str
    priors: type[Any]


BUILDERS = {
    "observed_maximum": Builder("observed-maximum", MaximumPriors),
    "leaderboard": Builder("leaderboard", BoardPriors),
    "items": Builder("items", ItemPriors),
    "paired": Builder("paired-boards", PairedPriors),
    "epp": Builder("epp", EppPriors),
    "crossval": Builder("crossval", CrossValidationPriors),
}
"""Builders by the name that a specification gives."""
