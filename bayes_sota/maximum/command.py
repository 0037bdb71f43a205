"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from typing import Any

import click

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, SHARE, refuse_unused
from bayes_sota.core.command import (
    check_positives,
    command,
    echo_json,
    interval_option,
    number_option,
    output_options,
)
from bayes_sota.core.errors import InputError

_INDEPENDENT = (
    "the classifiers are taken as independent (rho 0), which real ones are not; the mean of the "
    "default prior of sota is a rho of 0.74: --correlation"
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
@interval_option
@output_options
def maximum(
    n_test: int,
    classifiers: int,
    theta: float | None,
    metric: str,
    n_positive: int | None,
    uniform: tuple[float, float] | None,
    correlation: float | None,
    pairwise_correlation: float | None,
    reference_skill: float | None,
    prob: float,
    as_json: bool,
    quiet: bool,
) -> None:
    """Exact law of the best observed score of classifiers of known skill.

    Without a correlation the classifiers are taken as independent, which real ones are not: the
    mean of the default prior of sota is a rho of 0.74.
    """
    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    given = chosen_correlation(correlation, pairwise_correlation)
    rho = given or 0.0
    if rho == 0:
        refuse_unused("independent classifiers", {"--reference-skill": reference_skill})
    if metric == "auc":
        if reference_skill is not None:
            raise InputError("--metric auc takes no --reference-skill")
        result = _auc_result(n_test, n_positive, classifiers, theta, uniform, rho, prob)
    elif n_positive is not None:
        raise InputError("--n-positive is for --metric auc")
    else:
        result = _accuracy_result(n_test, classifiers, theta, uniform, rho, reference_skill, prob)
    result["notes"] = [_INDEPENDENT] if given is None else []
    if as_json:
        echo_json(result)
        return
    click.echo(_sentence(result))
    for note in () if quiet else result["notes"]:
        click.echo(f"Note: {note}")


def _accuracy_result(
    n_test: int,
    classifiers: int,
    theta: float | None,
    uniform: tuple[float, float] | None,
    rho: float,
    reference_skill: float | None,
    prob: float,
) -> dict[str, Any]:
    from bayes_sota.core.skills import Uniform
    from bayes_sota.maximum.law import maximum_law

    skill: Any = theta if uniform is None else Uniform(*_fractions(uniform))
    law = maximum_law(
        n_test=n_test,
        n_classifiers=classifiers,
        skill=skill,
        correlation=rho,
        reference_skill=reference_skill,
    )
    return {
        **_summary(law, law.theta_sota, prob),
        "n_test": n_test,
        "n_classifiers": classifiers,
        "correlation": law.correlation,
        "reference_skill": law.reference_skill,
    }


def _auc_result(
    n_test: int,
    n_positive: int | None,
    classifiers: int,
    theta: float | None,
    uniform: tuple[float, float] | None,
    rho: float,
    prob: float,
) -> dict[str, Any]:
    from bayes_sota.auc.laws import auc_maximum_law
    from bayes_sota.core.skills import Uniform

    positives = check_positives(n_positive, n_test)
    for auc in (theta,) if uniform is None else uniform:
        _check_chance(auc)
    skill: Any = theta if uniform is None else Uniform(*_fractions(uniform))
    law = auc_maximum_law(
        skill,
        n_positive=positives,
        n_negative=n_test - positives,
        n_classifiers=classifiers,
        correlation=rho,
    )
    return {
        **_summary(law, law.auc_sota, prob),
        "metric": "auc",
        "n_test": n_test,
        "n_positive": positives,
        "n_classifiers": classifiers,
        "correlation": rho,
    }


def _check_chance(auc: float | None) -> None:
    if auc is not None and auc < 0.5:
        raise InputError(f"an AUC below 0.5 is worse than chance, got {auc:g}; swap the classes?")


def _summary(law: Any, theta_sota: float, prob: float) -> dict[str, Any]:
    return {
        "theta_sota": theta_sota,
        "expected_maximum": law.mean(),
        "sd": law.std(),
        "interval": list(law.interval(prob)),
        "prob": prob,
        "bias": law.bias(),
    }


def chosen_correlation(correlation: float | None, pairwise: float | None) -> float | None:
    """rho from either of the two options, None if neither is given."""
    if correlation is not None and pairwise is not None:
        raise InputError("give either --correlation (rho) or --pairwise-correlation (rho^2)")
    if pairwise is None:
        return correlation
    if not 0 <= pairwise <= 1:
        raise InputError(f"--pairwise-correlation must lie in [0, 1], got {pairwise:g}")
    return float(pairwise**0.5)


def _fractions(values: tuple[float, float]) -> tuple[float, float]:
    for value in values:
        if 1 < value <= 100:
            raise InputError(
                f"a skill is a probability in [0, 1], got {value:g}; in percent? then write "
                f"{value / 100:g}"
            )
    return values


def _sentence(result: dict[str, Any]) -> str:
    low, high = result["interval"]
    rows = {
        "skill of the best classifier (theta_sota)": f"{result['theta_sota']:.6f}",
        f"expected best score of {result['n_classifiers']:,} classifiers": (
            f"{result['expected_maximum']:.6f}"
        ),
        "standard deviation of the best score": f"{result['sd']:.6f}",
        f"{result['prob']:.0%} interval of the best score": f"{low:.6f} to {high:.6f}",
        "correlation with the reference classifier (rho)": f"{result['correlation']:g}",
        "multiplicity bias": f"{result['bias']:+.6f}",
    }
    width = max(map(len, rows))
    return "\n".join(f"{label:<{width}}   {value}" for label, value in rows.items())
