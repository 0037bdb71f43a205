"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from typing import TYPE_CHECKING, Any

from bayes_sota.cli.options import command, note_unused, option
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, RATIO, SHARE, Range
from bayes_sota.core.errors import InputError

if TYPE_CHECKING:
    from arviz_plots import PlotCollection

_INDEPENDENT = (
    "the classifiers are taken as independent (rho 0), which real ones are not; the mean of the "
    "default prior of sota is a rho of 0.69: --correlation"
)


@command(uses="n_positive prob", example="maximum --n-test 3000 --classifiers 1000 --theta 0.9")
@option("--n-test", limits=COUNT, required=True, help="Number of test items.")
@option("--classifiers", limits=COUNT, required=True, help="Number of classifiers.")
@option("--theta", limits=SHARE, help="Skill of identical classifiers.")
@option("--uniform", limits=SHARE, nargs=2, help="Skills uniform from A to B.")
@option("--correlation", limits=SHARE, help="rho with the reference classifier; default 0.")
@option("--metric", choices=["accuracy", "auc"], default="accuracy", help="auc: binormal scores.")
@option("--spread-ratio", limits=RATIO, help="Sd of scores of positives over negatives, for auc.")
def maximum(n_test: int, classifiers: int, metric: str, prob: float, **asked: Any) -> Answer:
    """Exact law of the best observed score of classifiers of known skill.

    Without a correlation the classifiers are taken as independent, which real ones are not: the
    mean of the default prior of sota is a rho of 0.69.
    """
    from bayes_sota.core.skills import Uniform
    from bayes_sota.maximum.summary import describe_maximum

    theta, uniform, rho = asked["theta"], asked["uniform"], asked["correlation"]
    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    skill: Any = Uniform(*uniform) if uniform else theta
    given: dict[str, Any] = {"n_classifiers": classifiers, "correlation": rho or 0.0}
    facts: dict[str, Any]
    if metric == "auc":
        if asked["n_positive"] is None:
            raise InputError("--n-positive is missing: how many test items are positive")
        both = Range(2, n_test - 2, whole=True)  # positives, with as many negatives
        facts = {"metric": "auc", "n_positive": both.check(asked["n_positive"], "n_positive")}
        facts["spread_ratio"] = asked["spread_ratio"] or 1.0
        law = _auc_law(skill, n_test, facts["n_positive"], facts["spread_ratio"], given)
    else:
        from bayes_sota.maximum.law import maximum_law

        note_unused("accuracies", "n_positive", "spread_ratio")
        law = maximum_law(n_test=n_test, skill=skill, **given)
        facts = {"reference_skill": law.reference_skill}
    content: dict[str, Any] = {
        "expected_maximum": law.mean(),
        "sd": law.std(),
        "interval": list(law.interval(prob)),
        "prob": prob,
        "bias": law.bias(),
        "n_test": n_test,
        "skills": list(uniform or [theta]),
        "theta_sota": law.theta_sota,
        **given,
        **facts,
        "notes": [_INDEPENDENT] if rho is None else [],
    }

    def draw() -> "PlotCollection":
        from bayes_sota.maximum.plots import plot_maximum_law

        return plot_maximum_law(law, ci_prob=prob)

    return Answer(describe_maximum(content), draw)


def _auc_law(skill: Any, n_test: int, positives: int, ratio: float, given: dict[str, Any]) -> Any:
    """The law of the best AUC."""
    from bayes_sota.auc.laws import auc_maximum_law

    lowest = getattr(skill, "low", skill)
    if lowest < 0.5:
        raise InputError(
            f"an AUC below 0.5 is worse than chance, got {lowest:g}; swap the classes?"
        )
    sizes = {"n_positive": positives, "n_negative": n_test - positives}
    return auc_maximum_law(skill, **sizes, spread_ratio=ratio, **given)
