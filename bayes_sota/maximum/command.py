"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bayes_sota.core.arguments import COUNT, OPEN_SHARE, SHARE, refuse_unused
from bayes_sota.core.command import (
    Reported,
    auc_options,
    check_positives,
    chosen_figure,
    command,
    estimate_options,
    figure_option,
    interval_option,
    number_option,
    parse_ratio,
)
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection


_INDEPENDENT = (
    "the classifiers are taken as independent (rho 0), which real ones are not; the mean of the "
    "default prior of sota is a rho of 0.69: --correlation"
)
_RATIOS = (0.5, 1.0, 2.0)  # of spreads of positives and negatives, whose curves are drawn


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
@number_option(SHARE, "--at-least", help="Probability that the best score is at least this.")
@interval_option
@figure_option(
    ("law", "bias", "roc"),
    "law: of the best score, and of one. bias: what luck adds, by everything that it depends on. "
    "roc: of AUCs, curves of that area and the law of one estimate by each. Default: law.",
)
@estimate_options
def maximum(
    n_test: int,
    classifiers: int,
    theta: float | None,
    metric: str,
    n_positive: int | None,
    spread_ratio: str | None,
    class_correlation: tuple[float, float] | None,
    uniform: tuple[float, float] | None,
    correlation: float | None,
    pairwise_correlation: float | None,
    reference_skill: float | None,
    at_least: float | None,
    ci_prob: float,
    figure_kind: str | None,
    shown: Reported,
) -> int:
    """Exact law of the best observed score of classifiers of known skill.

    Without a correlation the classifiers are taken as independent, which real ones are not: the
    mean of the default prior of sota is a rho of 0.69.
    """
    from bayes_sota.maximum.summary import describe_maximum

    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    kind = chosen_figure(shown, figure_kind, "law")
    chosen_rho = chosen_correlation(correlation, pairwise_correlation, class_correlation)
    rho: Any = chosen_rho or 0.0
    if rho == 0:
        refuse_unused("independent classifiers", {"--reference-skill": reference_skill})
    skills = (theta,) if theta is not None else uniform or ()
    of_classes = {"--spread-ratio": spread_ratio, "--class-correlation": class_correlation}
    if metric == "auc":
        if reference_skill is not None:
            raise InputError("--metric auc takes no --reference-skill")
        ratio = parse_ratio(spread_ratio)
        law, facts = _auc_law(n_test, n_positive, classifiers, skills, rho, ratio)
    else:
        roc = kind if kind == "roc" else None
        _refuse_for_accuracies({"--figure-kind roc": roc, "--n-positive": n_positive} | of_classes)
        law, facts = _accuracy_law(n_test, classifiers, skills, rho, reference_skill)
    if kind == "bias":
        refuse_unused("--figure-kind bias", of_classes)
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
    if at_least is not None:
        result["p_at_least"] = _chance_of(at_least, law, n_test, facts.get("n_positive"))
    asked = {
        "n_test": n_test,
        "n_classifiers": classifiers,
        "skill": _skill(skills),
        "correlation": rho,
        "reference_skill": reference_skill,
        "n_positive": facts.get("n_positive"),
    }
    ratio = facts.get("spread_ratio", 1.0)
    return shown.deliver(
        describe_maximum(result), draw=partial(_figure, kind, law, ci_prob, ratio, asked)
    )


def _refuse_for_accuracies(of_aucs: dict[str, Any]) -> None:
    """``InputError`` for an option that only AUCs have."""
    for name, value in of_aucs.items():
        if value is not None:
            raise InputError(f"{name} is for --metric auc")


def _chance_of(score: float, law: Any, n_test: int, positives: int | None) -> dict[str, float]:
    """Probability of a best score of at least this; AUCs come in steps of one pair of items."""
    lattice = () if positives is None else (1 / (positives * (n_test - positives)),)
    return {"score": score, "probability": float(law.at_least(score, *lattice))}


def _figure(
    kind: str, law: Any, ci_prob: float, ratio: Any, asked: dict[str, Any]
) -> "PlotCollection":
    """The law, or what it depends on, or the curves and laws behind one AUC."""
    from bayes_sota.maximum.plots_law import plot_bias, plot_maximum_law
    from bayes_sota.maximum.summary_bias import bias_table

    if kind == "bias":
        return plot_bias(bias_table(**asked))
    positives = asked["n_positive"]
    if positives is None:
        return plot_maximum_law(law, ci_prob=ci_prob)
    from bayes_sota.auc.laws import auc_law
    from bayes_sota.auc.plots import plot_auc_laws

    of_one = partial(auc_law, law.auc_sota, positives, asked["n_test"] - positives)
    if kind == "roc":
        return plot_auc_laws([of_one(ratio) for ratio in _RATIOS], ci_prob=ci_prob)
    return plot_maximum_law(law, alone=of_one(ratio), ci_prob=ci_prob)


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
    rho: float | tuple[float, float],
    ratio: float | tuple[float, float] | None,
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
        spread_ratio=1.0 if ratio is None else ratio,
    )
    facts = {"theta_sota": law.auc_sota, "correlation": rho, "metric": "auc"}
    return law, {**facts, "n_positive": positives, "spread_ratio": 1.0 if ratio is None else ratio}


def _skill(skills: tuple[float, ...]) -> Any:
    """One skill, or a uniform distribution."""
    from bayes_sota.core.skills import Uniform

    return skills[0] if len(skills) == 1 else Uniform(*skills)


def chosen_correlation(
    correlation: float | None,
    pairwise: float | None,
    of_classes: tuple[float, float] | None = None,
) -> Any:
    """rho from one of the options, None if none is given; a pair is that of both classes."""
    if of_classes is not None:
        if correlation is not None or pairwise is not None:
            raise InputError("give either --class-correlation or one rho for both classes")
        return of_classes
    if correlation is not None and pairwise is not None:
        raise InputError("give either --correlation (rho) or --pairwise-correlation (rho^2)")
    return correlation if pairwise is None else float(pairwise**0.5)
