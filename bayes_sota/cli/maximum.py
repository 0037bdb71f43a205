"""``bayes-sota maximum``: the law of the best observed score; for accuracies with NumPy only."""

from typing import Any

from bayes_sota import auc
from bayes_sota import maximum as room
from bayes_sota.cli.options import command, note_unused, option
from bayes_sota.cli.output import Answer
from bayes_sota.core.arguments import COUNT, RATIO, SHARE
from bayes_sota.core.errors import InputError
from bayes_sota.core.skills import Uniform

_INDEPENDENT = (
    "the classifiers are taken as independent (rho 0), which real ones are not; the mean of the "
    "default prior of sota is a rho of 0.69: --correlation"
)


@command(uses="n_positive prob", example="maximum --n-test 3000 --classifiers 1000 --theta 0.9")
@option("--n-test", limits=COUNT, required=True, help="Number of test items.")
@option("--classifiers", limits=COUNT, required=True, help="Number of classifiers.")
@option("--theta", limits=SHARE, help="Skill of identical classifiers.")
@option("--uniform", limits=SHARE, nargs=2, help="Accuracies uniform from A to B.")
@option("--correlation", limits=SHARE, help="rho with the reference classifier; default 0.")
@option("--metric", choices=["accuracy", "auc"], default="accuracy", help="auc: binormal scores.")
@option("--spread-ratio", limits=RATIO, help="Sd of scores of positives over negatives, for auc.")
def maximum(n_test: int, classifiers: int, metric: str, prob: float, **asked: Any) -> Answer:
    """Exact law of the best observed score of classifiers of known skill.

    Without a correlation the classifiers are taken as independent, which real ones are not: the
    mean of the default prior of sota is a rho of 0.69.
    """
    theta, uniform, positive = asked["theta"], asked["uniform"], asked["n_positive"]
    if (theta is None) == (uniform is None):
        raise InputError("give either --theta T or --uniform A B")
    skill: Any = Uniform(*uniform) if uniform else theta
    given: Any = {"n_classifiers": classifiers, "correlation": asked["correlation"] or 0.0}
    law: Any
    if metric == "auc":
        if positive is None or uniform:
            raise InputError("an AUC needs --theta and --n-positive, how many items are positive")
        facts = {"n_positive": positive, "spread_ratio": asked["spread_ratio"] or 1.0}
        law = auc.auc_maximum_law(theta, n_negative=n_test - positive, **facts, **given)
        facts["metric"] = "auc"
    else:
        note_unused("on accuracies", "n_positive", "spread_ratio")
        law = room.maximum_law(n_test=n_test, skill=skill, **given)
        facts = {"reference_skill": law.reference_skill}
    facts |= {"n_test": n_test, "skills": list(uniform or [theta]), **given}
    notes = [_INDEPENDENT] if asked["correlation"] is None else []
    report = room.describe_maximum(law, facts, ci_prob=prob, notes=notes)
    return Answer(report, lambda: room.plot_maximum_law(law, ci_prob=prob))
