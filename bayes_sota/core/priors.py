"""Priors as frozen dataclasses, and named models: one TOML file each, of priors and settings.

The defaults of all ``BUILDERS`` equal files of ``models/``; kinds of fields, which differ in their
prior of rho alone, share ``fields.toml`` (``tests/test_specifications.py``).
"""

import tomllib
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayes_sota.core.arguments import (
    DRAWS,
    NOT_NEGATIVE,
    NUMBER,
    POSITIVE,
    Range,
    check_choice,
    refuse_unused,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Beta, LogitNormal, SkillDistribution, Uniform, logit
from bayes_sota.core.text import digest_of
from bayes_sota.core.types import FloatArray

type Ends = tuple[float, float]
NORMAL_975 = 1.959963984540054
BOARD_FAMILIES = ("normal", "ex-gaussian")  # shapes that are averaged


def _require(holds: object, problem: str) -> None:
    if not holds:
        raise InputError(problem)


def normal_between(ends: ArrayLike) -> tuple[float, float]:
    """Mean and sd of the normal law with 95 % between two ends; sd 0 of one number."""
    low, high = np.broadcast_to(ends, 2)
    return float((low + high) / 2), float((high - low) / (2 * NORMAL_975))


def check_range(name: str, value: Ends | float, low: float, high: float, meaning: str) -> None:
    """``InputError`` unless a value, or both of an increasing pair, lie in (low, high)."""
    ends = value if isinstance(value, tuple) else (value,)
    inside = len(ends) in (1, 2) and all(np.isfinite(x) and low < x < high for x in ends)
    _require(inside, f"{name} must be {meaning} or a pair of them, got {value}")
    _require(len(ends) == 1 or ends[0] < ends[1], f"{name} must be an increasing pair, got {value}")


def _check_positive(priors: Any, **others: Range) -> None:
    for one in fields(priors):
        value = getattr(priors, one.name)
        for number in value if isinstance(value, tuple | list) else (value,):
            others.get(one.name, POSITIVE).check(number, one.name)


@dataclass(frozen=True)
class FieldPriors:
    """Location and spread of the field of classifiers.

    Parameters
    ----------
    typical : (float, float)
        95 % prior interval of the accuracy in the middle of the field; normal in log odds.
    spread : (float, float)
        95 % prior interval of the sd of skill in log odds; log-normal.
    """

    typical: Ends | float = (0.2, 0.99)
    spread: Ends | float = (0.05, 2.0)
    may_be_known: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_range("typical", self.typical, 0.0, 1.0, "an accuracy in (0, 1)")
        check_range("spread", self.spread, 0.0, 5.0, "a standard deviation of log odds in (0, 5)")
        for name, value in (("typical", self.typical), ("spread", self.spread)):
            is_pair = self.may_be_known or isinstance(value, tuple)
            _require(is_pair, f"{name} of a whole board must be a pair, got {value}")

    @property
    def location(self) -> tuple[float, float]:
        """Prior mean and sd of the location in log odds; sd 0 if it is known."""
        return normal_between(logit(self.typical))

    @property
    def log_spread(self) -> tuple[float, float]:
        return normal_between(np.log(self.spread))


@dataclass(frozen=True)
class SkillPrior(FieldPriors):
    """Prior on P(theta), the distribution of skill over the field.

    Parameters
    ----------
    typical, spread : (float, float) or float
        As in ``FieldPriors``; one number is a known value. At an accuracy p, a spread s is a
        standard deviation of about ``s * p * (1 - p)`` in accuracy: 0.2 is 0.018 at 0.90.
    """

    typical: Ends | float = (0.4, 0.99)
    spread: Ends | float = (0.05, 1.0)
    may_be_known = True

    family: ClassVar[str] = ""
    law: ClassVar[type[SkillDistribution]]

    def distribution(self, location: ArrayLike, spread: ArrayLike) -> SkillDistribution:
        return self.law.from_location_spread(location, spread)

    def draw(self, rng: np.random.Generator, size: int) -> tuple[FloatArray, FloatArray]:
        """Prior draws of location and spread, (size,) each."""
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
    (``tests/calibration/correlation_by_domain.py``).
    """

    a: float = 5.7
    b: float = 2.6

    def __post_init__(self) -> None:
        _check_positive(self)

    def quantile(self, q: ArrayLike) -> FloatArray:
        from scipy.special import betaincinv

        return betaincinv(self.a, self.b, q)

    def log_density(self, rho: ArrayLike) -> FloatArray:
        from scipy.special import betaln, xlog1py, xlogy

        powers = xlogy(self.a - 1, rho) + xlog1py(self.b - 1, np.negative(rho))
        return powers - betaln(self.a, self.b)


@dataclass(frozen=True)
class FixedCorrelation(CorrelationPrior):
    """A known rho in [0, 1); 0 is independence."""

    value: float = 0.0

    def __post_init__(self) -> None:
        _require(0 <= self.value < 1, f"correlation must lie in [0, 1), got {self.value:g}")

    def quantile(self, q: ArrayLike) -> FloatArray:
        return np.full(np.shape(q), self.value)

    def log_density(self, rho: ArrayLike) -> FloatArray:
        return np.where(np.asarray(rho) == self.value, 0.0, -np.inf)


class TriesPrior(ABC):
    """Prior on m, the number of tries that could have become the observed maximum."""

    @abstractmethod
    def quantile(self, q: ArrayLike) -> FloatArray:
        """Quantiles of m (not rounded)."""

    def nodes(self) -> tuple[FloatArray, FloatArray]:
        """Equally likely values that represent the prior, with their weights."""
        q = (np.arange(8) + 0.5) / 8
        return np.maximum(np.round(self.quantile(q)), 1.0), np.full(8, 1 / 8)

    def scaled(self, factor: float) -> "ListedTries":
        """Values that represent ``factor`` times as many tries."""
        return ListedTries(tuple(max(1, round(x * factor)) for x in self.nodes()[0].tolist()))


@dataclass(frozen=True)
class UniformTries(TriesPrior):
    """Between ``low`` and ``high``, uniform on the logarithm."""

    low: int
    high: int

    def __post_init__(self) -> None:
        holds = 1 <= self.low < self.high
        _require(holds, f"a range A:B needs 1 <= A < B, got {self.low}:{self.high}")

    def quantile(self, q: ArrayLike) -> FloatArray:
        return self.low * (self.high / self.low) ** np.asarray(q, np.float64)


@dataclass(frozen=True)
class ListedTries(TriesPrior):
    """Known numbers, each equally likely."""

    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        problem = f"listed tries need numbers of at least 1, got {self.numbers}"
        _require(self.numbers and min(self.numbers) >= 1, problem)

    def quantile(self, q: ArrayLike) -> FloatArray:
        numbers = np.asarray(self.numbers, np.float64)
        return np.quantile(numbers, np.asarray(q), method="inverted_cdf")


WIDE_LUCK = BetaCorrelation(1.8, 1.2)  # of chosen submissions: mean 0.6, 95 % 0.11 to 0.97


@dataclass(frozen=True)
class MaximumPriors:
    """Priors of the model of an observed maximum; its number of classifiers belongs to the data."""

    skill: SkillPrior = LogitNormalSkill()
    correlation: CorrelationPrior = BetaCorrelation()
    submission_luck: CorrelationPrior = WIDE_LUCK


@dataclass(frozen=True)
class BoardPriors(FieldPriors):
    """Priors of the model of a whole leaderboard.

    Parameters
    ----------
    typical, spread : (float, float)
        As in ``FieldPriors``. The lower end of the spread decides how far scores are shrunk.
    correlation : CorrelationPrior
        rho, of the leaders, which decide theta_sota.
    families : tuple of str
        Equally likely shapes of P(psi) to average over (``bayes_sota.leaderboard.fit``).
    submission_luck : CorrelationPrior
        lambda of ``bayes_sota.maximum.score_laws``: how far luck chose the one of an entry's
        ``submissions`` that the board shows.
    """

    spread: Ends | float = (0.11, 0.8)
    correlation: CorrelationPrior = BetaCorrelation()
    families: tuple[str, ...] = BOARD_FAMILIES
    submission_luck: CorrelationPrior = WIDE_LUCK

    def __post_init__(self) -> None:
        super().__post_init__()
        different = self.families and len(set(self.families)) == len(self.families)
        _require(different, f"families must be one or more different names, got {self.families}")
        for name in self.families:
            check_choice("family", name, BOARD_FAMILIES)


@dataclass(frozen=True)
class ItemPriors(FieldPriors):
    """Priors of the model of answers to items, in log odds of the share correct in a task.

    Parameters
    ----------
    typical, spread : (float, float)
        As in ``FieldPriors``, of a typical task.
    item_sd : (float, float)
        95 % prior interval of the sd of the items of one task (and cluster); log-normal.
    task_scale, cluster_scale, interaction_scale : float
        Scale of the half-normal prior of the sd of tasks, of clusters of items, and of what either
        adds to one classifier.
    log_concentration : (float, float)
        Mean and sd of log phi: given classifier and item, two runs have the correlation
        1 / (1 + phi).

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
        super().__post_init__()
        check_range("item_sd", self.item_sd, 0.0, np.inf, "a standard deviation")
        _check_positive(self, log_concentration=NUMBER)
        POSITIVE.check(self.log_concentration[1], "sd of log_concentration")


@dataclass(frozen=True)
class PairedPriors:
    """Priors of the model of a public and a private board of the same teams.

    Parameters
    ----------
    correlation, submission_luck : CorrelationPrior
        As in ``BoardPriors``.
    offsets : tuple of float
        Equally likely standard deviations of the offset of the public board (overfitting, another
        population), in standard errors of a difference. 0 is a random split without overfitting.

    Examples
    --------
    >>> PairedPriors(offsets=(0.0,)).correlation
    BetaCorrelation(a=5.7, b=2.6)
    """

    correlation: CorrelationPrior = BetaCorrelation()
    offsets: tuple[float, ...] = (0.0, 1.0, 3.0, 10.0)
    submission_luck: CorrelationPrior = WIDE_LUCK

    def __post_init__(self) -> None:
        holds = self.offsets and all(0 <= f < np.inf for f in self.offsets)
        _require(holds, f"offsets must be numbers of at least 0, got {self.offsets}")


@dataclass(frozen=True)
class EppPriors:
    """Priors of the skills of players, on the logit scale.

    Parameters
    ----------
    skill_scale, tournament_scale : float
        Scale of the half-normal prior of the sd of skills, and of their deviations in a tournament.
        With 2, half of the prior has an sd below 1.35, where the better of two random players wins
        78 % of the rounds in the median.
    effect_scale : float
        Sd of the effect of a covariate: per standard deviation, or of each level of a category.

    Examples
    --------
    >>> EppPriors(skill_scale=0.5).effect_scale
    1.0
    """

    skill_scale: float = 2.0
    tournament_scale: float = 1.0
    effect_scale: float = 1.0

    def __post_init__(self) -> None:
        _check_positive(self)


@dataclass(frozen=True)
class CrossValidationPriors:
    """Priors of learners compared by cross-validation.

    The unit of scores is the typical standard deviation of a learner's own part of a fold score (as
    in Corani et al. 2017).

    Parameters
    ----------
    learner_scale, interaction_scale : float
        Scale of the half-normal prior of the sd of learners over data sets, and of what a data set
        adds to a learner.
    interaction_tails : float
        Degrees of freedom of the Student law of what a data set adds.
    learner_spread, task_spread : float
        Sd of the log standard deviations of the learners on a data set, and over data sets.
    partition_ratio : (float, float)
        Median, and sd of the logarithm, of the sd of an iteration's mean relative to independent
        folds: below 1 as folds of one partition test all items once.
    overlap : float
        Odds of rho, the correlation of two fold scores, as a multiple of n_test / n_train: 1 is
        Nadeau & Bengio's.

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
        _check_positive(self, overlap=NOT_NEGATIVE)


@dataclass(frozen=True)
class Priors:
    """Priors for any kind of data; None is the default of ``MaximumPriors``, ``BoardPriors``, ...

    Parameters
    ----------
    skill : SkillPrior, optional
        P(theta). A whole board averages over shapes and takes the ranges of ``LogitNormalSkill``.
    correlation : CorrelationPrior, optional
        rho, the correlation of a classifier with the reference.
    families, submission_luck : optional
        As in ``BoardPriors``.
    """

    skill: SkillPrior | None = None
    correlation: CorrelationPrior | None = None
    families: tuple[str, ...] | None = None
    submission_luck: CorrelationPrior | None = None

    def __post_init__(self) -> None:
        wanted = "a prior of skills is LogitNormalSkill((0.3, 0.9), (0.1, 0.8)) or the like"
        _require(isinstance(self.skill, SkillPrior | None), f"{wanted}, got {self.skill!r}")
        for given in (self.correlation, self.submission_luck):
            wanted = "a prior of a correlation is FixedCorrelation(0.8), BetaCorrelation(16, 4) or "
            _require(isinstance(given, CorrelationPrior | None), f"{wanted}the like, got {given!r}")
        one = f"families is a tuple, such as ({self.families!r},)"
        _require(not isinstance(self.families, str), one)


def own_priors[T](kind: type[T], priors: "Priors | T | None") -> T:
    """Priors of a kind: as given, or its defaults updated by a ``Priors``."""
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
    """Default specification, and class of the priors."""

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

_FAMILIES = {"logit-normal": LogitNormalSkill, "beta": BetaCorrelation, "fixed": FixedCorrelation}
_FACTS = {"name", "builder", "description", "meaning", "citation", "sampler"}  # others are priors


@dataclass(frozen=True)
class SamplerSettings:
    """Draws per chain and chains; tuning steps and target acceptance rate of NUTS."""

    draws: int = 1000
    chains: int = 4
    tune: int = 1000
    target_accept: float = 0.9


@dataclass(frozen=True)
class ModelSpecification:
    """A named model: a key of ``BUILDERS``, its priors (or ``Priors``), and sampler settings.

    The name is that of a file ``models/NAME.toml``, or of a table of ``models/fields.toml``.
    """

    name: str
    builder: str = "observed_maximum"
    priors: Any = None
    sampler: Any = None

    def __post_init__(self) -> None:
        check_choice("builder", self.builder, BUILDERS)
        object.__setattr__(self, "priors", own_priors(BUILDERS[self.builder].priors, self.priors))
        if self.sampler is None:
            object.__setattr__(self, "sampler", load_model(BUILDERS[self.builder].default).sampler)

    @property
    def provenance(self) -> dict[str, str]:
        """Name, and digest of everything that can change a number, as attributes."""
        digest = digest_of(self.name, self.builder, self.priors, self.sampler)
        return {"model_name": self.name, "model_hash": digest}

    def sizes(self, draws: int | None, chains: int | None) -> dict[str, int]:
        draws = DRAWS.check(self.sampler.draws if draws is None else draws, "draws")
        chains = DRAWS.check(self.sampler.chains if chains is None else chains, "chains")
        DRAWS.check(draws * chains, "draws times chains")
        return {"draws": draws, "chains": chains}


def load_model(name: str) -> ModelSpecification:
    """Read a named model, one of ``bayes_sota.leaderboard.model_names()``.

    Raises
    ------
    InputError
        No such model.

    Examples
    --------
    >>> load_model("epp").priors.skill_scale
    2.0
    """
    check_choice("model", name, model_names())
    table = _named_models()[name]
    kind = BUILDERS[table["builder"]]
    priors: dict[str, Any] = {}
    for key in table.keys() - _FACTS:
        numbers: Any = {k: tuple(v) if isinstance(v, list) else v for k, v in table[key].items()}
        family = numbers.pop("family", None)
        priors |= numbers if family is None else {key: _FAMILIES[family](**numbers)}
    sampler = SamplerSettings(**_named_models()[kind.default]["sampler"] | table.get("sampler", {}))
    return ModelSpecification(name, table["builder"], kind.priors(**priors), sampler)


def model_names() -> list[str]:
    """Names of the models that come with the package, sorted."""
    return sorted(_named_models())


@cache
def _named_models() -> dict[str, dict[str, Any]]:
    package = Path(__file__).parents[1]
    installed, checkout = package / "_models", package.parent / "models"
    files = (installed if installed.is_dir() else checkout).glob("*.toml")
    models = {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in files}
    for name, of_rho in models.pop("fields").items():  # kinds of fields
        models[name] = {"name": name, "builder": "leaderboard", **of_rho}
    return models
