"""How often claims with P(false) < 0.05 arise among equal methods, and how often they are false.

Run with ``BAYES_SOTA_DATA=... uv run python tests/benchmarks/claim_frequencies.py`` (a minute).
Without the variable the CIFAR-10 matrix is left out. Five questions:

1. What congruence do real pairs of classifiers have (log odds ratio, place between the bounds)?
2. Two equal methods, congruence random: the one that scores higher "outperforms". How often is
   P(false) < 0.05, with the congruence known and with each assumption instead? A tie is no claim
   and is left out.
3. Best of m equal methods, against the second, and against one that was fixed beforehand.
4. Real pairs whose truth is known (score over all items of the matrix): how many claims are false,
   by their P(false)?
5. The same for pairs of neighbours in the true ranking, as in a race for the best score.

Equal real methods: pairs no further apart than 0.02, their answers exchanged within each item with
probability 1/2 (or those of m permuted), which makes them equal and keeps which items are hard.
"""

import json
import os
from itertools import combinations, pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from timing import print_table

from bayes_sota.claims.claim import congruence_bounds, congruence_of_odds_ratio
from bayes_sota.claims.laws import false_claim_probability
from bayes_sota.data.answers import read_outcomes
from bayes_sota.data.examples import load_responses_example

CLAIMS, BOARDS, SIZES, SEED = 20_000, 2_000, (100, 500, 2_000), 20261121
LEVEL, NEIGHBOURS, CLOSE = 0.05, 3, 0.02
LEAST, ABLE = 0.1, {"digits": 0.9}  # accuracies of language models, and of a matrix
BINS = np.array([0, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5 + 1e-9])
Array = NDArray[np.float64]
Counts = NDArray[np.int64]  # shape (..., 4): both right, A alone, B alone, none


def real_pairs(correct: NDArray[np.int8]) -> Array:
    """Shares of the four cells for each pair of columns, better column first."""
    right = (correct == 1).astype(float)
    right = right[:, np.argsort(-right.mean(axis=0), kind="stable")]
    both, scores = right.T @ right / len(right), right.mean(axis=0)
    first, second = np.array(list(combinations(range(right.shape[1]), 2))).T
    p11, a, b = both[first, second], scores[first], scores[second]
    return np.maximum(np.transpose([p11, a - p11, b - p11, 1 - a - b + p11]), 0)


def described(cells: Array, n_items: int) -> dict[str, Any]:
    """Quantiles of the congruence of pairs, on two relative scales."""
    x = cells * n_items + 0.5  # half an item in each cell: some are empty
    log_odds = np.log(x[:, 0] * x[:, 3] / (x[:, 1] * x[:, 2]))
    low, high = congruence_bounds(cells[:, 0] + cells[:, 1], cells[:, 0] + cells[:, 2])
    place = (cells[:, 0] - low) / (high - low)
    levels = (0, 0.05, 0.25, 0.5, 0.75, 0.95, 1)
    return {
        "pairs": len(cells),
        "log_odds_ratio": np.quantile(log_odds, levels).round(2).tolist(),
        "log_odds_ratio_mean_sd": [float(log_odds.mean()), float(log_odds.std())],
        "relative_congruence": np.quantile(place, levels).round(3).tolist(),
    }


def claims_of(tables: Counts) -> tuple[Array, Array, Array, NDArray[np.bool_], float]:
    """Winner's and other's accuracy and congruence, whether A won, and the share of ties."""
    n = tables.sum(axis=1)
    tied = tables[:, 1] == tables[:, 2]
    kept, n = tables[~tied], n[~tied]
    first = kept[:, 1] > kept[:, 2]
    most, least = np.maximum(kept[:, 1], kept[:, 2]), np.minimum(kept[:, 1], kept[:, 2])
    p11 = kept[:, 0] / n
    return p11 + most / n, p11 + least / n, p11, first, float(tied.mean())


def probabilities(a: Array, b: Array, p11: Array, n: int, typical: Array) -> dict[str, Array]:
    """P(false) of claims with the congruence known, and with what may be assumed instead."""
    # rounding must not push a congruence that was seen out of its bounds
    low, high = congruence_bounds(a, b)
    mean, _, place = typical
    assumed: dict[str, Any] = {
        "known": np.clip(p11, low, high), "averaged": None, "independent": "independent",
        "min": "min", "max": "max", "typical place": low + place * (high - low),
        "typical odds": congruence_of_odds_ratio(a, b, np.exp(mean)),
    }  # fmt: skip
    return {name: false_claim_probability(a, b, n, value) for name, value in assumed.items()}


def share_below(tables: Counts, n: int, typical: Array) -> dict[str, float]:
    """Share of claims with P(false) < 0.05, for each assumption."""
    a, b, p11, _, ties = claims_of(tables)
    found = probabilities(a, b, p11, n, typical)
    return {"ties": ties} | {name: float(np.mean(p < LEVEL)) for name, p in found.items()}


def equal_cells(
    kind: str, rng: np.random.Generator, typical: Array, real: dict[str, Array]
) -> Array:
    """Cells of CLAIMS pairs of equal methods."""
    if kind in real:
        cells = real[kind][rng.integers(len(real[kind]), size=CLAIMS)].copy()
        cells[:, 1] = cells[:, 2] = (cells[:, 1] + cells[:, 2]) / 2
        return cells
    p = rng.uniform(0.6, 0.98, CLAIMS)
    low, high = congruence_bounds(p, p)
    normal = rng.standard_normal(CLAIMS)
    p11 = {
        "odds ratios about 1": lambda: congruence_of_odds_ratio(p, p, np.exp(normal)),
        "odds ratios as real": lambda: congruence_of_odds_ratio(
            p, p, np.exp(typical[0] + typical[1] * normal)
        ),
        "place uniform": lambda: low + (high - low) * rng.random(CLAIMS),
    }[kind]()
    return np.maximum(np.transpose([p11, p - p11, p - p11, 1 - 2 * p + p11]), 0)


def drawn(cells: Array, n: int, rng: np.random.Generator) -> Counts:
    """Answers to n items as tables."""
    return rng.multinomial(n, cells / cells.sum(axis=1, keepdims=True))


def equal_methods(rng: np.random.Generator, typical: Array, real: dict[str, Array]) -> list[Any]:
    """Question 2."""
    kinds = ["odds ratios about 1", "odds ratios as real", "place uniform", *real]
    rows = []
    for kind in kinds:
        cells = equal_cells(kind, rng, typical, real)
        rows += [
            {"congruence": kind, "n": n} | share_below(drawn(cells, n, rng), n, typical)
            for n in SIZES
        ]
    return rows


def pair_table(one: NDArray[np.int8], other: NDArray[np.int8]) -> list[int]:
    """The 2 x 2 table of two columns."""
    both, a, b = int((one & other).sum()), int(one.sum()), int(other.sum())
    return [both, a - both, b - both, len(one) - a - b + both]


def best_of_equals(
    correct: NDArray[np.int8], m: int, n: int, rng: np.random.Generator, typical: Array
) -> dict[str, Any]:
    """Question 3: best of m equals against the second, best of m - 1 others against column 0."""
    second, fixed = [], []
    for _ in range(BOARDS):
        columns = rng.choice(correct.shape[1], m, replace=False)
        board = rng.permuted(correct[np.ix_(rng.integers(len(correct), size=n), columns)], axis=1)
        scores = board.sum(axis=0)
        order = np.argsort(-scores, kind="stable")  # columns are exchangeable
        second.append(pair_table(board[:, order[0]], board[:, order[1]]))
        best = 1 + int(np.argmax(scores[1:]))
        fixed.append(pair_table(board[:, best], board[:, 0]))
    won = [table for table in fixed if table[1] > table[2]]
    return {
        "m": m, "n": n, "second": share_below(np.array(second), n, typical),
        "fixed": share_below(np.array(won), n, typical), "fixed_won": len(won) / BOARDS,
    }  # fmt: skip


def reliability(cells: Array, n: int, rng: np.random.Generator, typical: Array) -> dict[str, Any]:
    """Questions 4 and 5: claims about pairs whose first method is truly better."""
    cells = cells[cells[:, 1] != cells[:, 2]]
    tables = drawn(cells[rng.integers(len(cells), size=CLAIMS)], n, rng)
    a, b, p11, first, ties = claims_of(tables)
    false = ~first
    result: dict[str, Any] = {"n": n, "pairs": len(cells), "ties": ties, "false": false.mean()}
    for name, p in probabilities(a, b, p11, n, typical).items():
        bins = np.digitize(p, BINS) - 1
        count = np.bincount(bins, minlength=len(BINS) - 1)
        with np.errstate(invalid="ignore"):
            said = np.bincount(bins, p, len(BINS) - 1) / count
            seen = np.bincount(bins, false, len(BINS) - 1) / count
        result[name] = {
            "mean": float(p.mean()), "brier": float(np.mean((p - false) ** 2)),
            "below": float(np.mean(p < LEVEL)), "false_below": float(false[p < LEVEL].mean()),
            "count": count.tolist(), "said": said.tolist(), "seen": seen.tolist(),
        }  # fmt: skip
    return result


def neighbours(correct: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Which pairs are at most three places apart in the true ranking."""
    pairs = np.array(list(combinations(range(correct.shape[1]), 2)))
    return np.asarray(pairs[:, 1] - pairs[:, 0] <= NEIGHBOURS)


def matrices() -> dict[str, NDArray[np.int8]]:
    """Items x classifiers: the bundled digits without failed ones, and CIFAR-10 where it is."""
    example = load_responses_example("digits")
    good = np.array([family not in ("failed", "shifted") for family in example.families])
    found = {"digits": np.concatenate([example.test.correct, example.held_out.correct])[:, good]}
    directory = os.environ.get("BAYES_SOTA_DATA")
    if directory:
        file = Path(directory) / "cifar10" / "correct_cifar10_test.csv"
        found = {"cifar10": np.asarray(read_outcomes(file).correct)} | found
    return found


def print_dicts(rows: list[dict[str, Any]]) -> None:
    """Dictionaries of one shape."""
    print_table(list(rows[0]), (
        [f"{v:.3f}" if isinstance(v, float) else v for v in row.values()] for row in rows
    ))  # fmt: skip


def print_verdicts(rows: list[dict[str, Any]]) -> None:
    """False claims among those with P(false) < 0.05, and the average of P(false)."""
    names = [name for name, value in rows[0].items() if isinstance(value, dict)]
    shown = "{mean:.3f}; {below:.2f}, {false_below:.4f}"
    print_table(["pairs", "n", "false", *names], (
        [row["set"], row["n"], f"{row['false']:.3f}", *(shown.format(**row[k]) for k in names)]
        for row in rows
    ))  # fmt: skip


def print_reliability(rows: list[dict[str, Any]], names: tuple[str, ...]) -> None:
    """Said and seen by bin, number of claims in brackets."""
    edges = [f"{low:.2g} to {high:.2g}" for low, high in pairwise(BINS)]
    shown = []
    for row, name in product(rows, names):
        bins = zip(*(row[name][k] for k in ("said", "seen", "count")), strict=True)
        cells = [f"{said:.3f}, {seen:.3f} ({count:,})" for said, seen, count in bins]
        shown.append([row["set"], row["n"], name, *cells])
    print_table(["pairs", "n", "congruence", *edges], shown)


def language_models() -> dict[str, Array]:
    """Close pairs of language models, by benchmark; of several runs one, drawn."""
    folder, rng = Path(os.environ["BAYES_SOTA_DATA"]), np.random.default_rng(0)
    tables = {"chembench": read_outcomes(folder / "chembench" / "correct_chembench.csv").complete()}
    right = {name: data.values for name, data in tables.items()}
    for file, column in (("execution", "right"), ("execution", "right_cot"), ("repair", "right")):
        runs = pd.read_csv(folder / "livecodebench" / f"{file}_runs.csv.gz")
        share = runs.pivot_table(index="item", columns="model", values=column).dropna(axis=1) / 10
        right[f"{file} {column}"] = rng.random(share.shape) < share.to_numpy()
    found = {}
    for name, answers in right.items():
        cells = real_pairs(answers[:, answers.mean(axis=0) > LEAST].astype(int))
        found[name] = cells[cells[:, 1] - cells[:, 2] <= CLOSE + 1e-9] * len(answers) + 0.5
    return found


def print_domains(close: dict[str, Array], sizes: dict[str, int]) -> None:
    """Odds ratios of close pairs: what ``--domain`` takes."""
    counts = {name: cells * sizes[name] + 0.5 for name, cells in close.items()}
    if "BAYES_SOTA_DATA" in os.environ:
        models = language_models()
        counts |= models | {"language-models": np.concatenate(list(models.values()))}
    for name, x in counts.items():
        odds = np.quantile(x[:, 0] * x[:, 3] / (x[:, 1] * x[:, 2]), [0.5, 0.05, 0.95])
        print(f"{name}: {len(x):,} close pairs, odds ratio {odds.round(1).tolist()}")


def main() -> None:
    """Print every table."""
    rng, correct = np.random.default_rng(SEED), matrices()
    real = {name: real_pairs(matrix) for name, matrix in correct.items()}
    close = {name: cells[cells[:, 1] - cells[:, 2] <= CLOSE + 1e-9] for name, cells in real.items()}
    found = {name: described(cells, len(correct[name])) for name, cells in real.items()}
    found |= {f"{name}, close": described(x, len(correct[name])) for name, x in close.items()}
    print(json.dumps(found, indent=2))
    able = {
        name: real_pairs(matrix[:, np.mean(matrix, axis=0) > ABLE.get(name, 0.0)])
        for name, matrix in correct.items()
    }
    kept = {name: x[x[:, 1] - x[:, 2] <= CLOSE + 1e-9] for name, x in able.items()}
    print_domains(kept, {name: len(matrix) for name, matrix in correct.items()})
    task = next(iter(correct))  # CIFAR-10 where it is: its close pairs are "typical" everywhere
    of_task = found[f"{task}, close"]
    typical = np.array(
        [
            of_task["log_odds_ratio"][3],
            of_task["log_odds_ratio_mean_sd"][1],
            of_task["relative_congruence"][3],
        ]
    )
    print_dicts(equal_methods(rng, typical, close))
    boards = [best_of_equals(correct[task], m, n, rng, typical) for m in (2, 5, 30) for n in SIZES]
    for against in ("second", "fixed"):
        given = ({"m": r["m"], "n": r["n"], "won": r["fixed_won"]} | r[against] for r in boards)
        print_dicts(list(given))
    rows = []
    for name, cells in real.items():
        for label, kept in (("all", slice(None)), ("neighbours", neighbours(correct[name]))):
            rows += [
                {"set": f"{name}, {label}"} | reliability(cells[kept], n, rng, typical)
                for n in SIZES
            ]
    print_verdicts(rows)
    print_reliability(rows, ("known", "averaged"))


if __name__ == "__main__":
    main()
