"""Coverage of the AUC posteriors: real classifiers on scikit-learn's data, and simulated scores.

Run with ``PYTHONPATH=tests uv run python tests/benchmarks/auc_coverage.py --output FILE.json
[--boards 60] [--simulated 30] [--jobs 2] [--seed 20261121] [--cache DIRECTORY]``; ``--tables``
prints what is in the file. An interrupted run goes on from its file. Each task (digits, breast
cancer, diabetes, wine) has 90 classifiers of ten kinds, trained on random parts of a third of the
items and of the features; the other two thirds are the pool. A board takes 8 or more classifiers at
random (from all, the stronger half, or all without the strongest third) and n items with
replacement within each class, so that the truth is the AUC over the pool. Simulated boards have a
known AUC. Routes: all AUCs, the scores of all items, the maximum alone. Opponents: the raw maximum
with DeLong's interval, and shrinking (a point, on some boards). Tables:
docs/measured/calibration.md.
"""

import argparse
import json
import time
import warnings
from collections import Counter
from itertools import batched, product
from pathlib import Path
from typing import Any

import numpy as np
from calibration.judged_boards import FIELDS, summarize_judgements
from joblib import Parallel, delayed
from scipy import special

import bayes_sota as bs
from bayes_sota.core.files import whole_file
from bayes_sota.core.skills import expit, logit
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.maximum.posterior import sota_posterior

TASKS = {
    "digits, one": ("digit 1", "digit 3", "digit 8", "digit 9"),
    "digits, halves": ("odd digit", "digit of 5 or more"),
    "breast cancer": ("malignant",),
    "diabetes": ("progressed",),
    "wine": ("second cultivar",),
}
SIZES, FEWEST, CLASSIFIERS, FIRST_SEED = (200, 1000), 10, 90, 7
LAWS = ("binormal .6", "binormal .85", "exponential .6", "unequal variance .85")
SHAPES = ("normal", "plateau", "exactly equal", "left-skewed")
SIMULATED = (500, 60, 40)  # items, positives, classifiers
POINTS = {"shrunk 0": 0.0, "shrunk .8": 0.8}
ROUTES = ("leaderboard", "items", "maximum")
CASE = ("family", "task", "shape", "n", "field", "index")
QUANTITIES = ("theta_sota", "winner_skill")
Z, DRAWS = 1.959963984540054, 1000


def data_of(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels of one task."""
    from sklearn import datasets

    if "digit" in task:
        x, y = datasets.load_digits(return_X_y=True)
        if task == "odd digit":
            return x, y % 2 == 1
        return x, y >= 5 if task == "digit of 5 or more" else y == int(task[-1])
    if task == "progressed":
        x, y = datasets.load_diabetes(return_X_y=True)
        return x, y > np.quantile(y, 2 / 3)
    load = datasets.load_breast_cancer if task == "malignant" else datasets.load_wine
    x, y = load(return_X_y=True)
    return x, y == (0 if task == "malignant" else 1)


def random_classifier(rng: np.random.Generator, kind: int) -> Any:
    """One of ten kinds with random settings."""
    from sklearn.utils import all_estimators

    seed, weight = {"random_state": int(rng.integers(2**31))}, float(10 ** rng.uniform(-3, 2))
    trees = int(rng.integers(3, 100))
    name, settings = (
        ("LogisticRegression", lambda: {"C": weight, "max_iter": 300}),
        ("LinearDiscriminantAnalysis", lambda: {
            "solver": "lsqr", "shrinkage": rng.uniform(0.01, 0.9)}),
        ("GaussianNB", lambda: {"var_smoothing": float(10 ** rng.uniform(-9, -1))}),
        ("KNeighborsClassifier", lambda: {"n_neighbors": int(rng.choice([1, 3, 5, 9, 15]))}),
        ("DecisionTreeClassifier", lambda: {
            "max_depth": rng.integers(2, 12), "min_samples_leaf": rng.integers(1, 10), **seed}),
        ("RandomForestClassifier", lambda: {"n_estimators": trees, **seed}),
        ("ExtraTreesClassifier", lambda: {"n_estimators": trees, **seed}),
        ("SVC", lambda: {"C": weight * 10, "kernel": str(rng.choice(["rbf", "linear", "poly"]))}),
        ("MLPClassifier", lambda: {
            "hidden_layer_sizes": (rng.integers(3, 40),), "alpha": weight,
            "max_iter": rng.integers(20, 200), **seed}),
        ("GradientBoostingClassifier", lambda: {
            "n_estimators": min(trees, 40), "max_depth": rng.integers(1, 4), **seed}),
    )[kind % 10]  # fmt: skip
    return dict(all_estimators())[name](**settings())


def train(task: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores of all classifiers for the pool, and its labels."""
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng([FIRST_SEED, *task.encode()])
    x, y = data_of(task)
    split = {"train_size": 1 / 3, "stratify": y, "random_state": FIRST_SEED}
    x, pool, y, labels = train_test_split(x, y, **split)
    scaler = StandardScaler().fit(x)
    x, pool, columns = scaler.transform(x), scaler.transform(pool), []
    for kind in range(CLASSIFIERS):
        features = rng.random(x.shape[1]) < rng.uniform(0.1, 1)
        features[rng.integers(x.shape[1], size=2)] = True
        items = rng.random(y.size) < rng.uniform(0.25, 1)
        for labelled in (y, ~y):
            items[rng.choice(np.flatnonzero(labelled), 5, replace=False)] = True
        model = random_classifier(rng, kind)
        with warnings.catch_warnings(action="ignore"):
            model.fit(x[items][:, features], y[items])
        decide = getattr(model, "decision_function", None)
        seen = pool[:, features]
        columns.append(decide(seen) if decide else model.predict_proba(seen)[:, 1])
    return np.stack(columns, axis=1), labels


def pool_of(task: str, cache: Path) -> Outcomes:
    """The pool of one task, trained once; those that guess are left out."""
    file = cache / f"{task.replace(' ', '_')}.npz"
    if not file.is_file():
        cache.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(file, **dict(zip(("values", "labels"), train(task), strict=True)))
    with np.load(file) as found:
        pool = Outcomes(found["values"], labels=found["labels"], name=task)
    kept = pool.scores > 0.6
    return Outcomes(pool.values[:, kept], labels=pool.labels, name=task)


def real_board(pool: Outcomes, n: int, field: str, rng: np.random.Generator) -> tuple:
    """Some classifiers and items of a pool, and their AUCs over the whole of it."""
    order = np.argsort(-pool.scores)
    strong, weak = order[: order.size // 2], order[order.size // 3 :]
    among = {"all": order, "strong": strong, "weak": weak}[field]
    chosen = rng.choice(among, int(rng.integers(8, among.size + 1)), replace=False)
    positives = max(FEWEST, round(n * pool.labels.mean()))
    kinds = ((pool.labels, positives), (~pool.labels, n - positives))
    items = [rng.choice(np.flatnonzero(kind), count) for kind, count in kinds]
    items = rng.permutation(np.concatenate(items))
    drawn = Outcomes(pool.values[np.ix_(items, chosen)], labels=pool.labels[items])
    return drawn, pool.scores[chosen]


def skills_of(shape: str, m: int, rng: np.random.Generator) -> np.ndarray:
    """True AUCs."""
    if shape == "normal":
        return expit(logit(0.90) + 0.4 * rng.standard_normal(m))
    if shape == "left-skewed":
        return expit(logit(0.94) - 0.6 * rng.exponential(size=m))
    skills = np.full(m, 0.92)
    if shape == "plateau":
        rest = expit(logit(0.85) + 0.3 * rng.standard_normal(m))
        skills[m // 4 :] = np.minimum(rest, 0.92)[m // 4 :]
    return skills


def simulated_board(law: str, shape: str, rng: np.random.Generator) -> tuple:
    """Scores of a law whose AUC is known; the logarithm of exponential scores changes no rank."""
    n, positives, m = SIMULATED
    skills, labels = skills_of(shape, m, rng), rng.permutation(n) < positives
    rho = float(law.rsplit(" ", 1)[1])
    normal = rho * rng.standard_normal((n, 1))
    normal = normal + np.sqrt(1 - rho**2) * rng.standard_normal((n, m))
    if law.startswith("exponential"):  # AUC = c / (1 + c) if positives are c times as large
        values = np.log(-special.log_ndtr(-normal)) + labels[:, None] * logit(skills)
    else:
        ratio = 2.0 if law.startswith("unequal") else 1.0
        mean = special.ndtri(skills) * np.sqrt(1 + ratio**2)
        values = np.where(labels[:, None], mean + ratio * normal, normal)
    return Outcomes(values, labels=labels), skills


def key_of(case: dict) -> str:
    """What tells a board from all others."""
    return " ".join(f"{name}={case[name]}" for name in CASE if name in case)


def judge(case: dict, cache: Path, seed: int, shrunk: int) -> dict:
    """What every route says about one board."""
    rng = np.random.default_rng([seed, *key_of(case).encode()])
    if "shape" in case:
        drawn, skills = simulated_board(case["family"], case["shape"], rng)
    else:
        drawn, skills = real_board(pool_of(case["task"], cache), case["n"], case["field"], rng)
    aucs, n, p = drawn.scores, drawn.n_items, int(drawn.labels.sum())
    best = float(aucs.max())
    sizes = {"n_test": n, "n_positive": p, "metric": "auc"}
    board, options = bs.Leaderboard(aucs, **sizes), {"draws": DRAWS, "random_seed": seed}
    half = Z * float(drawn.standard_errors[np.argmax(aucs)])
    raw = [best, best - half, min(best + half, 1.0)]
    said = {"raw": dict.fromkeys(QUANTITIES, raw)}
    calls = {
        "leaderboard": lambda: board_posterior(board, **options),
        "items": lambda: board_posterior(drawn, **options),
        "maximum": lambda: sota_posterior(
            bs.BestScore(best, n_classifiers=aucs.size, **sizes), **options
        ),
    }
    for name, rho in POINTS.items() if case["index"] % 5 < shrunk else ():
        calls[name] = lambda rho=rho: bs.maximum.shrink_aucs(
            aucs, n_positive=p, n_negative=n - p, correlation=rho
        )
    said |= {name: timed(call) for name, call in calls.items()}
    winner = float(skills[aucs == best].mean())
    truth = {"theta_sota": float(skills.max()), "winner_skill": winner}
    return {**case, "m": aucs.size, "positives": p, "best": best, "truth": truth, "said": said}


def timed(call: object) -> dict:
    """Mean and interval of both quantities, rho, reasons and seconds; or the exception."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(action="ignore"):
            result = call()
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    found = {"seconds": time.perf_counter() - start}
    if not hasattr(result, "draws"):  # a point
        return found | dict.fromkeys(QUANTITIES, (result.estimate, np.nan, np.nan))
    for name in QUANTITIES:
        draws = np.ravel(result.draws[name])
        found[name] = [float(draws.mean()), *map(float, np.quantile(draws, [0.025, 0.975]))]
    found["rho"] = float(np.mean(result.draws["rho"]))
    return {**found, "reasons": list(result.reasons)}


def cases_of(boards: int, simulated: int, seed: int) -> list[dict]:
    """All boards, in random order so that an early end leaves every cell some."""
    cases = [
        {"family": family, "task": tasks[i % len(tasks)], "n": n,
         "field": FIELDS[i // len(tasks) % len(FIELDS)], "index": i}
        for family, tasks in TASKS.items() for n in SIZES for i in range(boards)
    ] + [
        {"family": law, "shape": shape, "n": SIMULATED[0], "index": i}
        for law in LAWS for shape in SHAPES for i in range(simulated)
    ]  # fmt: skip
    return [cases[i] for i in np.random.default_rng(seed).permutation(len(cases))]


def groups_of(case: dict) -> list[str]:
    """What the tables sum over, and the cell itself."""
    if "task" in case:
        keys = [case["family"], f"n {case['n']}", f"field {case['field']}"]
        return ["real", *keys, f"{case['family']}, {case['n']}"]
    return ["simulated", case["family"], case["shape"], f"{case['family']}, {case['shape']}"]


def tables(judged: list[dict]) -> str:
    """Every cell and sums over cells, relative to the raw maximum; failures, rho and seconds."""
    rows = []
    for one, quantity in product(judged, QUANTITIES):
        raw = dict(
            zip(("raw", "raw_lower", "raw_upper"), one["said"]["raw"][quantity], strict=True)
        )
        for route in (*ROUTES, *POINTS):
            if quantity in one["said"].get(route, {}):
                said = one["said"][route][quantity]
                ours = dict(zip(("mean", "lower", "upper"), said, strict=True))
                facts = {"estimand": quantity, "truth": one["truth"][quantity], "route": route}
                rows += [facts | raw | ours | {"cell": group} for group in groups_of(one)]
    lines = [summarize_judgements(rows, ("cell", "route")).round(4).to_string()]
    for route in (*ROUTES, *POINTS):
        said = [j["said"][route] for j in judged if route in j["said"]]
        failed = dict(Counter(s["failed"] for s in said if "failed" in s))
        flagged = sum(bool(s.get("reasons")) for s in said)
        seconds = np.median([s["seconds"] for s in said if "seconds" in s])
        lines.append(f"{route}: {seconds:.2f} s, {flagged} flagged, failures {failed}")
    for family in sorted({j["family"] for j in judged}):
        said = [j["said"]["items"] for j in judged if j["family"] == family]
        rho = np.quantile([s["rho"] for s in said if "rho" in s], [0.05, 0.5, 0.95])
        lines.append(f"rho learnt from items, {family}: {rho.round(2).tolist()}")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, save now and then, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--boards", type=int, default=60, help="per family and n")
    parser.add_argument("--simulated", type=int, default=30, help="per law and shape")
    parser.add_argument("--shrunk", type=int, default=2, help="boards in five, for shrinking")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("auc_pools"))
    parser.add_argument("--tables", action="store_true", help="only print the tables")
    chosen = parser.parse_args()
    done = json.loads(chosen.output.read_text()) if chosen.output.is_file() else []
    if not chosen.tables:
        for task in sum(TASKS.values(), ()):
            pool = pool_of(task, chosen.cache)
            print(
                pool, pool.labels.sum(), np.quantile(pool.scores, [0, 0.25, 0.5, 0.75, 1]).round(4)
            )
        known = {key_of(j) for j in done}
        cases = cases_of(chosen.boards, chosen.simulated, chosen.seed)
        missing = [case for case in cases if key_of(case) not in known]
        for some in batched(missing, 20 * chosen.jobs, strict=False):
            done += Parallel(n_jobs=chosen.jobs)(
                delayed(judge)(case, chosen.cache, chosen.seed, chosen.shrunk) for case in some
            )
            with whole_file(chosen.output) as draft:
                draft.write_text(json.dumps(done))
            print(f"{len(done)} of {len(cases)} boards", flush=True)
    print(tables(done))


if __name__ == "__main__":
    main()
