"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from typing import Any

import click

from bayes_sota.cli.options import check_positives, echo_json, interval_option, output_options
from bayes_sota.errors import InputError

__all__ = ["maximum"]


@click.command(
    epilog="Example: bayes-sota maximum --n-test 3000 --classifiers 1000 --theta 0.9 "
    "--correlation 0.6"
)
@click.option("--n-test", type=int, required=True, help="Number of test items.")
@click.option("--classifiers", type=int, required=True, help="Number of classifiers.")
@click.option("--theta", type=float, default=None, help="Skill of identical classifiers.")
@click.option(
    "--metric",
    type=click.Choice(["accuracy", "auc"]),
    default="accuracy",
    show_default=True,
    help="auc: binormal scores; --correlation is then that of the scores with a reference score.",
)
@click.option("--n-positive", type=int, default=None, help="Positive test items, for auc.")
@click.option("--uniform", type=float, nargs=2, default=None, help="Skills uniform from A to B.")
@click.option("--correlation", type=float, default=None, help="rho with the reference classifier.")
@click.option(
    "--pairwise-correlation", type=float, default=None, help="rho^2, between two classifiers."
)
@click.option(
    "--reference-skill",
    type=float,
    default=None,
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
    seed: int | None,
    quiet: bool,
) -> None:
    """Exact law of the best observed score of classifiers of known skill.

    Nothing is random here: --seed is accepted and changes nothing.
    """
    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    rho = chosen_correlation(correlation, pairwise_correlation) or 0.0
    if metric == "auc":
        if reference_skill is not None:
            raise InputError("--metric auc takes no --reference-skill")
        result = _auc_result(n_test, n_positive, classifiers, theta, uniform, rho, prob)
    elif n_positive is not None:
        raise InputError("--n-positive is for --metric auc")
    else:
        result = _accuracy_result(n_test, classifiers, theta, uniform, rho, reference_skill, prob)
    if as_json:
        echo_json(result)
        return
    click.echo(_sentence(result))


def _accuracy_result(
    n_test: int,
    classifiers: int,
    theta: float | None,
    uniform: tuple[float, float] | None,
    rho: float,
    reference_skill: float | None,
    prob: float,
) -> dict[str, Any]:
    from bayes_sota.exact.maximum import maximum_law
    from bayes_sota.skill_distributions import Uniform

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
    from bayes_sota.exact.auc import auc_maximum_law
    from bayes_sota.skill_distributions import Uniform

    positives = check_positives(n_positive, n_test)
    for auc in (theta,) if uniform is None else uniform:
        if auc is not None and auc < 0.5:
            raise InputError(
                f"an AUC below 0.5 is worse than chance, got {auc:g}; swap the classes?"
            )
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
        "multiplicity bias": f"{result['bias']:+.6f}",
    }
    width = max(map(len, rows))
    return "\n".join(f"{label:<{width}}   {value}" for label, value in rows.items())
