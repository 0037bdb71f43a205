"""How often a newcomer is truly better where the posterior says so with probability p.

Run with ``uv run python tests/benchmarks/newcomer_calibration.py [--boards 40] [--seed 20261122]
[FILE.csv]`` (default: the bundled digits). Each board takes six to sixteen random classifiers of a
response matrix (from all, the stronger half, without the strongest third) and items with
replacement; each of its classifiers in turn is held out as the newcomer, with its
score on the same items or on as many others. The truth is the accuracy over all items.
``--simulated`` draws fields, reference classifier and maxima from the prior instead, ``--fields``
whole boards with a normal field and normal errors, with one newcomer each. Newcomers more
than four standard errors below the best of the others count as p = 0. The tables are in
docs/measured/calibration.md.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterator

import numpy as np

import bayes_sota as bs
from bayes_sota.core.priors import BoardPriors, maximum_priors
from bayes_sota.data.examples import load_responses_example
from bayes_sota.leaderboard.posterior import board_posterior
from bayes_sota.leaderboard.summary_sota import newcomer
from bayes_sota.maximum.fresh_test_sets import CountedTestSet, default_reference_skill

EDGES = (0.0, 0.1, 0.3, 0.7, 0.9, 1.0)
SIZES, DRAWS, NEAR = (200, 1000, 5000), 1000, 4.0
type Case = tuple[str, float, bool, bool]


def real_cases(answers: bs.Outcomes, boards: int, seed: int) -> Iterator[Case]:
    """Route and items, p, truth and whether the newcomer has the best score."""
    for index in range(boards):
        for size in SIZES:
            rng = np.random.default_rng([seed, size, index])
            order = np.argsort(-answers.scores)
            third = order.size // 3
            pool = (order, order[: max(8, order.size // 2)], order[third:])[index % 3]
            chosen = rng.choice(pool, int(rng.integers(6, min(16, pool.size) + 1)), replace=False)
            seen = answers.correct[np.ix_(rng.integers(0, answers.n_items, size), chosen)]
            yield from held_out(bs.Outcomes(seen), answers.scores[chosen], rng)


def held_out(drawn: bs.Outcomes, skills: np.ndarray, rng: np.random.Generator) -> Iterator[Case]:
    """Every classifier of a board as its newcomer."""
    size = drawn.n_items
    for j, truth in enumerate(skills):
        others = np.arange(skills.size) != j
        rest = bs.Outcomes(drawn.correct[:, others])
        best, better = rest.scores.max(), bool(truth > skills[others].max())
        score = float(drawn.scores[j])
        low = best - NEAR * np.sqrt(max(best * (1 - best), 1 / size) / size)
        if score < low:
            yield from ((route, 0.0, better, False) for route in ("scores", "answers"))
            continue
        routes = {
            "scores": board_posterior(rest.leaderboard(), draws=DRAWS, random_seed=rng),
            "answers": board_posterior(rest, draws=DRAWS, random_seed=rng),
        }
        for route, found in routes.items():
            yield route, newcomer(found, score=score)["probability"], better, score > best


def simulated_cases(boards: int, seed: int) -> Iterator[Case]:
    """Boards of five classifiers from the prior of an observed maximum, and one more."""
    priors, m, size = maximum_priors(None), 5, 1000
    for index in range(boards):
        rng = np.random.default_rng([seed, index])
        location, spread = priors.skill.draw(rng, 1)
        rho = priors.correlation.quantile(rng.random(1))
        u = rng.standard_normal(m + 1)
        skill = 1 / (1 + np.exp(-location - spread * u))
        theta0 = float(np.clip(skill[:m].max(), 0.5 / size, 1 - 0.5 / size))
        rows = np.zeros(m + 1, np.int64)
        right = rng.binomial(size, theta0, size=rho.size)
        scores = CountedTestSet(size, right, rho, theta0).play(rng, rows, skill)
        best, score = round(size * scores[:m].max()), scores[m]
        if best in (0, size):
            continue
        board = bs.BestScore(best / size, n_test=size, n_classifiers=m)
        tree = bs.estimate_sota(board, draws=500, random_seed=rng,
                                reference_skill=default_reference_skill(board))  # fmt: skip
        better = bool(skill[m] > skill[:m].max())
        yield "maximum", newcomer(tree, score=score)["probability"], better, score > best / size


def field_cases(boards: int, seed: int) -> Iterator[Case]:
    """Boards from the prior of whole boards with a normal field, simulated by NumPy alone."""
    rng, priors = np.random.default_rng(seed), BoardPriors(families=("normal",))
    ends = np.array([np.log(np.divide(priors.typical, np.subtract(1, priors.typical))),
                     np.log(priors.spread)])  # fmt: skip
    (location, log_spread), sds = ends.mean(axis=1), np.diff(ends)[:, 0] / (2 * 1.96)
    for _ in range(boards):
        m, size = int(rng.integers(6, 17)), int(rng.choice(SIZES))
        place, width = rng.normal(location, sds[0]), np.exp(rng.normal(log_spread, sds[1]))
        rho = rng.beta(16, 4)
        skill = 1 / (1 + np.exp(-place - width * rng.standard_normal(m)))
        error = np.sqrt(skill * (1 - skill) / size)
        z = rho * rng.standard_normal() + np.sqrt(1 - rho**2) * rng.standard_normal(m)
        seen = np.clip(np.round((skill + error * z) * size), 0, size) / size
        if seen[:-1].max() >= 1 or seen[:-1].min() <= 0:
            continue
        board = bs.Leaderboard(seen[:-1], n_test=size, rounding="exact")
        found = board_posterior(board, priors, draws=400, random_seed=rng)
        better, best = bool(skill[-1] > skill[:-1].max()), seen[:-1].max()
        p = newcomer(found, score=float(seen[-1]))["probability"]
        yield "fields", p, better, seen[-1] > best


def table(cases: dict[str, list[tuple[float, bool, bool]]]) -> Iterator[str]:
    """Rows of a Markdown table."""
    yield "| route | p | newcomers | mean p | truly better |"
    yield "|---|---|---|---|---|"
    for name, rows in cases.items():
        p, better, ahead = (np.array(column, float) for column in zip(*rows, strict=True))
        place = np.clip(np.searchsorted(EDGES, p, side="right") - 1, 0, len(EDGES) - 2)
        for k in range(len(EDGES) - 1):
            if (here := place == k).any():
                yield (
                    f"| {name} | {EDGES[k]:g} to {EDGES[k + 1]:g} | {here.sum()} | "
                    f"{p[here].mean():.3f} | {better[here].mean():.3f} |"
                )
        yield (
            f"| {name} | all | {p.size} | {p.mean():.4f} | {better.mean():.4f} | Brier "
            f"{np.mean((p - better) ** 2):.4f}, of the rule 'a higher score is better' "
            f"{np.mean((ahead - better) ** 2):.4f} |"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--fields", action="store_true")
    chosen = parser.parse_args()
    if chosen.fields:
        found = field_cases(chosen.boards, chosen.seed)
    elif chosen.simulated:
        found = simulated_cases(chosen.boards, chosen.seed)
    else:
        held = load_responses_example("digits").held_out
        answers = held if chosen.file is None else bs.read_outcomes(chosen.file)
        found = real_cases(answers, chosen.boards, chosen.seed)
    cases = defaultdict(list)
    for name, *row in found:
        cases[name].append(tuple(row))
    print(*table(cases), sep="\n")


if __name__ == "__main__":
    main()
