"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, SHARE
from bayes_sota.core.command import (
    Reported,
    auc_options,
    check_positives,
    command,
    estimate_options,
    interval_option,
    number_option,
)
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection


_INDEPENDENT = (
    "the classifiers are taken as independent (rho 0), which real ones are not; the mean of the "
    "default prior of sota is a rho of 0.69: --correlation"
)


@command(
    epilog="Example: bayes-sota maximum --n-test 3000 --classifiers 1000 --theta 0.9 "
    "--correlation 0.6"
)
@number_option(COUNT, "--n-test", required=True, help="Number of test items.")
@number_option(COUNT, "--classifiers", required=True, help="Number of classifiers.")
@number_option(SHARE, "--theta", help="Skill of identical classifiers.")
@click.option(
    "--metric",
    type=click.Choice(["accuracy", "auc"]),
    default="accuracy",
    show_default=True,
    help="auc: binormal scores; --correlation is then that of the scores with a reference score.",
)
@number_option(COUNT, "--n-positive", help="Positive test items, for auc.")
@number_option(SHARE, "--uniform", nargs=2, help="Skills uniform from A to B.")
@number_option(SHARE, "--correlation", help="rho with the reference classifier; default 0.")
@number_option(SHARE, "--pairwise-correlation", help="rho^2, between two classifiers.")
@number_option(
    OPEN_SHARE,
    "--reference-skill",
    help="theta0; default the (expected) skill of the best classifier.",
)
@auc_options
@interval_option
@estimate_options
def maximum(
    n_test: int,
    classifiers: int,
    theta: float | None,
    metric: str,
    n_positive: int | None,
    spread_ratio: float | None,
    uniform: tuple[float, float] | None,
    correlation: float | None,
    pairwise_correlation: float | None,
    reference_skill: float | None,
    ci_prob: float,
    shown: Reported,
) -> int:
    """Exact law of the best observed score of classifiers of known skill.

    Without a correlation the classifiers are taken as independent, which real ones are not: the
    mean of the default prior of sota is a rho of 0.69.
    """
    from bayes_sota.maximum.summary import describe_maximum

    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    chosen_rho = chosen_correlation(correlation, pairwise_correlation)
    rho = chosen_rho or 0.0
    skills = (theta,) if theta is not None else uniform or ()
    if metric == "auc":
        if reference_skill is not None:
            raise InputError("--metric auc takes no --reference-skill")
        ratio = 1.0 if spread_ratio is None else spread_ratio
        law, facts = _auc_law(n_test, n_positive, classifiers, skills, rho, ratio)
    else:
        for name, value in {"--n-positive": n_positive, "--spread-ratio": spread_ratio}.items():
            if value is not None:
                raise InputError(f"{name} is for --metric auc")
        law, facts = _accuracy_law(n_test, classifiers, skills, rho, reference_skill)
    result: dict[str, Any] = {
        "expected_maximum": law.mean(),
        "sd": law.std(),
        "interval": list(law.interval(ci_prob)),
        "prob": ci_prob,
        "bias": law.bias(),
        "n_test": n_test,
        "n_classifiers": classifiers,
        "skills": list(skills),
        **facts,
        "notes": [_INDEPENDENT] if chosen_rho is None else [],
    }
    draw = partial(_figure, law, facts, n_test, ci_prob)
    return shown.deliver(describe_maximum(result), draw=draw)


def _figure(law: Any, facts: dict[str, Any], n_test: int, ci_prob: float) -> "PlotCollection":
    """The law of the best score, and that of one of these classifiers."""
    from bayes_sota.auc.laws import auc_law
    from bayes_sota.maximum.plots_law import plot_maximum_law

    positives, alone = facts.get("n_positive"), None
    if positives is not None:
        sizes = positives, n_test - positives
        alone = auc_law(law.auc_sota, *sizes, facts["spread_ratio"])
    return plot_maximum_law(law, alone=alone, ci_prob=ci_prob)


def _accuracy_law(
    n_test: int, classifiers: int, skills: tuple[float, ...], rho: float, reference: float | None
) -> tuple[Any, dict[str, Any]]:
    """The law, and what it says of the board."""
    from bayes_sota.maximum.law import maximum_law

    law = maximum_law(
        n_test=n_test,
        n_classifiers=classifiers,
        skill=_skill(skills),
        correlation=rho,
        reference_skill=reference,
    )
    names = ("theta_sota", "correlation", "reference_skill")
    return law, {name: getattr(law, name) for name in names}


def _auc_law(
    n_test: int,
    n_positive: int | None,
    classifiers: int,
    skills: tuple[float, ...],
    rho: float,
    ratio: float,
) -> tuple[Any, dict[str, Any]]:
    from bayes_sota.auc.laws import auc_maximum_law

    positives = check_positives(n_positive, n_test)
    for auc in skills:
        if auc < 0.5:
            raise InputError(
                f"an AUC below 0.5 is worse than chance, got {auc:g}; swap the classes?"
            )
    law = auc_maximum_law(
        _skill(skills),
        n_positive=positives,
        n_negative=n_test - positives,
        n_classifiers=classifiers,
        correlation=rho,
        spread_ratio=ratio,
    )
    facts = {"theta_sota": law.auc_sota, "correlation": rho, "metric": "auc"}
    return law, {**facts, "n_positive": positives, "spread_ratio": ratio}


def _skill(skills: tuple[float, ...]) -> Any:
    """One skill, or a uniform distribution."""
    from bayes_sota.core.skills import Uniform

    return skills[0] if len(skills) == 1 else Uniform(*skills)


def chosen_correlation(correlation: float | None, pairwise: float | None) -> float | None:
    """rho from one of the options, None if none is given."""
    if correlation is not None and pairwise is not None:
        raise InputError("give either --correlation (rho) or --pairwise-correlation (rho^2)")
    return correlation if pairwise is None else float(pairwise**0.5)
