"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from typing import TYPE_CHECKING, Any

import click

from bayes_sota.cli.options import (
    Reported,
    auc_options,
    check_positives,
    command,
    estimate_options,
    interval_option,
    number_option,
)
from bayes_sota.core.arguments import COUNT, OPEN_SHARE, SHARE
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
    from bayes_sota.core.skills import Uniform
    from bayes_sota.maximum.summary import describe_maximum

    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    chosen_rho = chosen_correlation(correlation, pairwise_correlation)
    skill: Any = Uniform(*uniform) if uniform is not None else theta
    given: dict[str, Any] = {"n_classifiers": classifiers, "correlation": chosen_rho or 0.0}
    if metric == "auc":
        if reference_skill is not None:
            raise InputError("--metric auc takes no --reference-skill")
        law, facts = _auc_law(skill, n_test, n_positive, spread_ratio, given)
    else:
        for name, value in {"--n-positive": n_positive, "--spread-ratio": spread_ratio}.items():
            if value is not None:
                raise InputError(f"{name} is for --metric auc")
        from bayes_sota.maximum.law import maximum_law

        law = maximum_law(n_test=n_test, skill=skill, reference_skill=reference_skill, **given)
        facts = {"reference_skill": law.reference_skill}
    result: dict[str, Any] = {
        "expected_maximum": law.mean(),
        "sd": law.std(),
        "interval": list(law.interval(ci_prob)),
        "prob": ci_prob,
        "bias": law.bias(),
        "n_test": n_test,
        "n_classifiers": classifiers,
        "skills": [theta] if uniform is None else list(uniform),
        "theta_sota": law.theta_sota,
        "correlation": given["correlation"],
        **facts,
        "notes": [_INDEPENDENT] if chosen_rho is None else [],
    }

    def draw() -> "PlotCollection":
        from bayes_sota.maximum.plots_law import plot_maximum_law

        return plot_maximum_law(law, ci_prob=ci_prob)

    return shown.deliver(describe_maximum(result), draw=draw)


def _auc_law(
    skill: Any, n_test: int, n_positive: int | None, ratio: float | None, given: dict[str, Any]
) -> tuple[Any, dict[str, Any]]:
    """The law of the best AUC, and what is said of the test set."""
    from bayes_sota.auc.laws import auc_maximum_law

    positives = check_positives(n_positive, n_test)
    lowest = getattr(skill, "low", skill)
    if lowest < 0.5:
        raise InputError(
            f"an AUC below 0.5 is worse than chance, got {lowest:g}; swap the classes?"
        )
    ratio = 1.0 if ratio is None else ratio
    sizes: dict[str, Any] = {"n_positive": positives, "n_negative": n_test - positives}
    sizes["spread_ratio"] = ratio
    law = auc_maximum_law(skill, **sizes, **given)
    facts = {"metric": "auc", "n_positive": positives, "spread_ratio": ratio}
    return law, facts


def chosen_correlation(correlation: float | None, pairwise: float | None) -> float | None:
    """rho from one of the options, None if none is given."""
    if correlation is not None and pairwise is not None:
        raise InputError("give either --correlation (rho) or --pairwise-correlation (rho^2)")
    return correlation if pairwise is None else float(pairwise**0.5)
