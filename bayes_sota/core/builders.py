"""Builders of models by name, with their default priors and samplers.

A specification (``bayes_sota.core.specification``) is of one of ``BUILDERS``. Priors of a maximum
and of a whole board are in ``bayes_sota.core.priors``. ``tests/test_specifications.py`` checks
that the default priors of every builder are those of a file in ``models/``.
"""

import math
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from bayes_sota.core.arguments import (
    NOT_NEGATIVE,
    NUMBER,
    OPEN_SHARE,
    POSITIVE,
    Range,
    check_choice,
)
from bayes_sota.core.errors import InputError
from bayes_sota.core.priors import (
    BetaCorrelation,
    BoardPriors,
    CorrelationPrior,
    FieldPriors,
    MaximumPriors,
    check_range,
    wide_luck,
)


def _check_positive(priors: Any, **others: Range) -> None:
    """Raise ``InputError`` unless all numbers are positive, or in the range given for a field."""
    for one in fields(priors):
        value = getattr(priors, one.name)
        for number in value if isinstance(value, tuple | list) else (value,):
            others.get(one.name, POSITIVE).check(number, one.name)


@dataclass(frozen=True)
class SamplerSettings:
    """How to draw from the posterior.

    Attributes
    ----------
    method : {"auto", "exact", "abc", "nuts"}
        Route to the posterior.
    draws, chains : int
        Posterior draws per chain, and chains.
    tune : int
        Tuning steps per chain; NUTS only.
    target_accept : float
        Target acceptance rate in (0, 1); NUTS only.
    """

    method: str = "auto"
    draws: int = 1000
    chains: int = 4
    tune: int = 1000
    target_accept: float = 0.9

    def __post_init__(self) -> None:
        """Check names and ranges once."""
        check_choice("method", self.method, ("auto", "exact", "abc", "nuts"))
        for name, least in (("draws", 1), ("chains", 1), ("tune", 0)):
            Range(least, math.inf, whole=True).check(getattr(self, name), name)
        OPEN_SHARE.check(self.target_accept, "target_accept")


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
        check_range("item_sd", self.item_sd, 0.0, math.inf, "a standard deviation")
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
        split that nobody overfitted.
    submission_luck : CorrelationPrior
        lambda of ``bayes_sota.maximum.submissions``: how far luck decided which of a team's
        submissions the public board shows. It counts where the boards have ``submissions``.

    Examples
    --------
    >>> PairedPriors(offsets=(0.0,)).correlation
    BetaCorrelation(a=5.7, b=2.6)
    """

    correlation: CorrelationPrior = field(default_factory=BetaCorrelation)
    offsets: tuple[float, ...] = (0.0, 1.0, 3.0, 10.0)
    submission_luck: CorrelationPrior = field(default_factory=wide_luck)

    def __post_init__(self) -> None:
        """Check the offsets."""
        if not self.offsets or not all(math.isfinite(f) and f >= 0 for f in self.offsets):
            raise InputError(f"offsets must be numbers of at least 0, got {self.offsets}")


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


class Builder(NamedTuple):
    """A builder of models, as specifications name it.

    Attributes
    ----------
    default : str
        Name of the specification with its default priors and sampler.
    takes : str
        What it is for, as it stands in messages.
    priors : type
        Its priors.
    """

    default: str
    takes: str
    priors: type[Any]


BUILDERS = {
    "observed_maximum": Builder(
        "observed-maximum", "observed maxima, such as board.maximum_only()", MaximumPriors
    ),
    "leaderboard": Builder("leaderboard", "whole boards, all scores or answers", BoardPriors),
    "items": Builder("items", "answers to items, with bs.items.build_model", ItemPriors),
    "paired": Builder("paired-boards", "a public and a private board", PairedPriors),
    "epp": Builder("epp", "skill over rounds", EppPriors),
    "crossval": Builder("crossval", "repeated cross-validation", CrossValidationPriors),
}
"""Builders by the name that a specification gives."""
