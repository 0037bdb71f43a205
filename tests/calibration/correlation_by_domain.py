"""Prior of rho by domain, learnt from response matrices: ``correlation_by_domain.py learn|judge``.

``learn`` takes every matrix at hand: two of ``BAYES_SOTA_DATA``, the digits that come with the
package, and twenty scikit-learn classifiers on each of nine tables of ``BAYES_SOTA_DATA``, trained
on half of the items and judged on the others. Log odds of rho, which the answers of the leaders of
random fields give, are normal between domains, between the matrices of a domain, and between the
fields of a matrix; a prior of rho is what this says of a new field.

``judge`` leaves one matrix out: boards of random classifiers and items of this matrix by the old
defaults, and by the prior of all domains and of its own domain that the other matrices give.
"""

import argparse
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from calibration.judged_boards import draw_real_board, judge_board, summarize_judgements
from scipy import stats
from sklearn import discriminant_analysis, ensemble, linear_model, naive_bayes, neighbors, svm, tree
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_sota.core.priors import BetaCorrelation, BoardPriors
from bayes_sota.core.skills import expit, logit
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.examples import load_responses_example
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.correlation import response_correlation

IMAGES, LANGUAGE, TABULAR = DOMAINS = ("image-classifiers", "language-models", "tabular")
TABLES = (
    "abalone-old", "banknote", "breast-w", "credit-g", "diabetes", "oil-spill", "phoneme",
    "segment-window", "wine-red-good",
)  # fmt: skip
JUDGED = ("cifar10", "chembench", "digits")
PUBLISHED = {"imagenet": (IMAGES, 0.77), "eleven benchmarks": (LANGUAGE, 0.56)}
PUBLISHED_ERROR = 0.03  # of rho: printed with two digits, from means over pairs
FIELDS = 12  # random fields of each kind: from all, strong, weak
SCALE = 0.5  # of the half-normal priors of both standard deviations, on the log-odds scale
OLD = BetaCorrelation(16.0, 4.0)


def domain_of(matrix: str) -> str:
    """Domain of a matrix by its name."""
    known = {"cifar10": IMAGES, "chembench": LANGUAGE}
    return known.get(matrix, TABULAR)


def learners() -> tuple[object, ...]:
    """Twenty classifiers of many kinds."""
    return (
        *(linear_model.LogisticRegression(C=c, max_iter=500) for c in (0.01, 1.0, 100.0)),
        *(neighbors.KNeighborsClassifier(k) for k in (1, 5, 15, 41)),
        *(svm.SVC(C=c) for c in (0.1, 1.0, 10.0)),
        *(tree.DecisionTreeClassifier(max_depth=d, random_state=1) for d in (3, 6, None)),
        *(kind(100, random_state=1) for kind in (
            ensemble.RandomForestClassifier, ensemble.ExtraTreesClassifier)),
        ensemble.HistGradientBoostingClassifier(max_iter=60, random_state=1),
        ensemble.AdaBoostClassifier(n_estimators=50, random_state=1),
        discriminant_analysis.LinearDiscriminantAnalysis(),
        naive_bayes.GaussianNB(),
        MLPClassifier((30,), max_iter=100, random_state=1),
    )  # fmt: skip


def table_answers(name: str, directory: Path) -> Outcomes:
    """Answers of twenty classifiers that learnt from half of a table to the other half."""
    rows = pd.read_csv(directory / "binary_tasks" / f"{name}.csv.gz").to_numpy(float)
    first, last = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    right = []
    for learner in learners():
        fitted = make_pipeline(StandardScaler(), learner).fit(first[:, :-1], first[:, -1])
        right.append(fitted.predict(last[:, :-1]) == last[:, -1])
    return Outcomes(np.stack(right, axis=1), name=name)


def real_matrices(directory: Path) -> dict[str, Outcomes]:
    """The matrices on which boards are judged."""
    return {
        "cifar10": read_outcomes(directory / "cifar10" / "correct_cifar10_test.csv"),
        "chembench": read_outcomes(directory / "chembench" / "correct_chembench.csv"),
        "digits": load_responses_example("digits").held_out,
    }


@dataclass(frozen=True)
class Learnt:
    """Log odds of rho of a matrix: mean over random fields, its error, and the fields' variance."""

    name: str
    domain: str
    value: float
    error: float
    fields: float | None = None


def learn_matrix(answers: Outcomes, name: str) -> Learnt:
    """Log odds of rho among the leaders of random fields, with the error from the items."""
    rng = np.random.default_rng([20261123, *name.encode()])
    found = []
    for index in range(3 * FIELDS):
        drawn, _, _ = draw_real_board(answers, answers.n_items, index, rng)
        found.append(response_correlation(drawn))
    whole = response_correlation(answers)
    rho = np.array([one.rho for one in found])
    noise = np.mean([(one.rho_se / (one.rho * (1 - one.rho))) ** 2 for one in found])
    value = logit(np.clip(rho, 0.02, 0.98))
    error = whole.rho_se / (whole.rho * (1 - whole.rho))
    fields = max(float(np.var(value, ddof=1) - noise), 0.0)
    return Learnt(name, domain_of(name), float(value.mean()), float(error), fields)


def published() -> list[Learnt]:
    """Printed values of matrices that are not at hand."""
    return [
        Learnt(name, domain, float(logit(rho)), PUBLISHED_ERROR / (rho * (1 - rho)))
        for name, (domain, rho) in PUBLISHED.items()
    ]


def learn_priors(matrices: list[Learnt]) -> dict[str, tuple[float, float]]:
    """Mean and sd of the log odds of rho of a new field: of each domain, and of a new one, "all".

    Normal at every level; the standard deviations between domains and between matrices have
    half-normal priors, and are integrated over a grid; the mean of all domains is flat.
    """
    between = (np.arange(40) + 0.5) / 25
    cells = [(d, m, *conditional(matrices, d, m)) for d in between for m in between]
    weight = np.array([c[2] - (c[0] ** 2 + c[1] ** 2) / (2 * SCALE**2) for c in cells])
    weight = np.exp(weight - weight.max())
    fields = float(np.mean([one.fields for one in matrices if one.fields is not None]))
    found = {}
    for place, name in enumerate((*DOMAINS, "all")):
        mean = np.array([c[3][place] for c in cells])
        variance = np.array([c[4][place] + c[1] ** 2 + fields for c in cells])
        centre = float(np.average(mean, weights=weight))
        spread = np.average(variance + (mean - centre) ** 2, weights=weight)
        found[name] = centre, float(np.sqrt(spread))
    return found


def conditional(
    matrices: list[Learnt], between: float, within: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Log likelihood, means and variances of the domains and of a new one, given both spreads."""
    value = np.array([one.value for one in matrices])
    of = np.array([one.domain for one in matrices])
    same = of[:, None] == of
    noise = np.diag([one.error**2 + within**2 for one in matrices])
    precision = np.linalg.inv(noise + between**2 * same)
    total = precision.sum()
    mu = float((precision @ value).sum() / total)
    rest = value - mu
    fit = 0.5 * (np.linalg.slogdet(precision)[1] - np.log(total) - rest @ precision @ rest)
    mean, variance = [], []
    for name in (*DOMAINS, "all"):
        gain = between**2 * (of == name) @ precision
        mean.append(mu + gain @ rest)
        unknown = (1 - gain.sum()) ** 2 / total
        variance.append(between**2 * (1 - gain @ (of == name)) + unknown)
    return float(fit), np.array(mean), np.array(variance)


def beta_of(mean: float, sd: float) -> BetaCorrelation:
    """Beta with the mean and the sd of rho whose log odds are normal; one decimal."""
    rho = expit(mean + sd * stats.norm.ppf((np.arange(2000) + 0.5) / 2000))
    centre, variance = float(np.mean(rho)), float(np.var(rho))
    size = centre * (1 - centre) / variance - 1
    return BetaCorrelation(round(centre * size, 1), round((1 - centre) * size, 1))


def judge_one(
    answers: Outcomes, n_test: int, index: int, priors: dict[str, BetaCorrelation]
) -> Iterator[dict]:
    """What each prior says of one board, the truth, and two shifts of the leaders, squared.

    ``shift`` is the variance of what all leaders share, ``five`` the mean error of the five that
    are truly best: what is left to somebody who knows everything else.
    """
    seed = [20261123, n_test, index]
    drawn, skills, field = draw_real_board(answers, n_test, index, np.random.default_rng(seed))
    same = draw_real_board(answers, answers.n_items, index, np.random.default_rng(seed))[0]
    best = float(skills.max())
    shift = response_correlation(same).rho ** 2 * best * (1 - best) / n_test
    five = np.argsort(-skills, kind="stable")[:5]
    error = float(np.mean(drawn.scores[five] - skills[five]))
    facts = {"n_test": n_test, "field": field, "shift": shift, "five": error**2}
    for name, prior in priors.items():
        assumed = BoardPriors(correlation=prior)
        rng = np.random.default_rng([*seed, 1])
        for row in judge_board(drawn.leaderboard(), skills, assumed, 1000, rng):
            yield row | facts | {"prior": name}


def judged(rows: pd.DataFrame, by: tuple[str, ...]) -> pd.DataFrame:
    """Coverage, error and interval score by prior, beside the shift-only error."""
    table = summarize_judgements(rows.to_dict("records"), ("prior", *by))
    groups = rows.assign(square=(rows["raw"] - rows["truth"]) ** 2).groupby(
        ["prior", *by, "estimand"]
    )
    means = groups[["shift", "five", "square"]].mean()
    return table.assign(
        shift_only=(means["shift"] / means["square"]) ** 0.5,
        five_best=(means["five"] / means["square"]) ** 0.5,
        bias_ratio=table["bias"] / table["raw_bias"],
    )


def learn_all(directory: Path) -> list[Learnt]:
    """What every matrix says of rho, printed values included."""
    tables = {name: table_answers(name, directory) for name in TABLES}
    matrices = real_matrices(directory) | tables
    return [*(learn_matrix(answers, name) for name, answers in matrices.items()), *published()]


def show_priors(learnt: list[Learnt]) -> None:
    """Print what each matrix says, and the prior of each domain and of a new one."""
    for one in learnt:
        fields = "" if one.fields is None else f", sd of fields {one.fields**0.5:.2f}"
        said = f"rho {expit(one.value):.3f}, error of the log odds {one.error:.2f}{fields}"
        print(f"{one.name} ({one.domain}): {said}")
    for name, (mean, sd) in learn_priors(learnt).items():
        prior = beta_of(mean, sd)
        low, high = prior.quantile([0.025, 0.975])
        centre = prior.a / (prior.a + prior.b)
        print(f"{name}: {prior}, mean {centre:.2f}, 95 % {low:.2f} to {high:.2f}")


def judge_matrix(name: str, directory: Path, sizes: list[int], boards: int) -> pd.DataFrame:
    """Boards of one matrix by the old default and by what the other matrices say."""
    answers = real_matrices(directory)[name]
    found = learn_priors([one for one in learn_all(directory) if one.name != name])
    priors = {
        "old default": OLD,
        "any domain": beta_of(*found["all"]),
        "own domain": beta_of(*found[domain_of(name)]),
    }
    print(f"{name}: {priors}")
    rows = [
        row | {"matrix": name}
        for n_test in sizes
        for index in range(boards)
        for row in judge_one(answers, n_test, index, priors)
    ]
    return pd.DataFrame(rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["learn", "judge"])
    parser.add_argument("--boards", type=int, default=100)
    parser.add_argument("--n-test", type=int, nargs="+", default=[200, 500, 1000, 2000])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # of learners that stop early
    data = Path(os.environ["BAYES_SOTA_DATA"])
    if chosen.what == "learn":
        show_priors(learn_all(data))
    else:
        each = [judge_matrix(name, data, chosen.n_test, chosen.boards) for name in JUDGED]
        together = pd.concat(each)
        for by in ((), ("matrix",), ("n_test",), ("field",)):
            print(judged(together, by).round(3).to_string())
