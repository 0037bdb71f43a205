"""Methods compared in every task: how often intervals hold, and verdicts that stand are true.

Run with ``uv run python tests/calibration/by_task.py`` (two minutes). Exams of twelve tasks, in
which the methods differ by normal amounts, by one of two, in one odd task, or by the same; half of
the answers of both methods hang on the same luck.

``BAYES_SOTA_DATA=... python tests/calibration/by_task.py entries [BOARDS]`` does so for the skills
of all entries of a board in every task (``board --by task``), on real answers whose truth is known:
language models on LiveCodeBench, whose 479 questions of code execution are dealt into twelve tasks
by their 92 clusters, and whose 713 problems of code repair have nine tasks, three of them with two
to four problems only. Items of each task are drawn with replacement, and a run of each model.
"""

import sys
from collections.abc import Callable
from functools import cache, partial

import numpy as np
from tasks_and_clusters import TINY, shares, some_runs

from bayes_sota.claims.summary_gate import report_tasks
from bayes_sota.data.outcomes import Outcomes
from bayes_sota.items.by_task import compare_by_task, verdicts_that_stand

EXAMS, TASKS, MIDDLE = 200, 12, 0.6
SHAPES = {
    "normal, sd .1": lambda rng: rng.normal(0.03, 0.1, TASKS),
    "one of two, .12 or -.06": lambda rng: np.where(rng.random(TASKS) < 0.5, 0.12, -0.06),
    "one odd task, .05 but -.25": lambda rng: np.append(np.full(TASKS - 1, 0.05), -0.25),
    "all equal, .04": lambda rng: np.full(TASKS, 0.04),
}


def exam(gaps: np.ndarray, n: int, rng: np.random.Generator) -> Outcomes:
    """Answers of two methods to n items of each task."""
    chance = np.array([MIDDLE + gaps / 2, MIDDLE - gaps / 2])[:, :, None]
    alike = np.where(rng.random((TASKS, n)) < 0.5, rng.random((TASKS, n)), np.nan)
    own = rng.random((2, TASKS, n))
    right = np.where(np.isnan(alike), own, alike) < chance
    names = np.repeat([f"task {t:02}" for t in range(TASKS)], n).tolist()
    return Outcomes(right.transpose(1, 2, 0).reshape(-1, 2), tasks=names, names=["a", "b"])


def judged(shape: str, n: int, number: int) -> tuple[float, float, bool, int]:
    """Coverage and width of the intervals of tasks, whether all that stand are true, how many."""
    rng = np.random.default_rng([number, n])
    gaps = np.clip(SHAPES[shape](rng), -0.35, 0.35)
    given = report_tasks(exam(gaps, n, rng), pair=("a", "b"), draws=1000, random_seed=number)
    rows = sorted(given.content["tasks"], key=lambda row: row["task"])
    low, high = np.array([row["difference"]["interval"] for row in rows]).T
    stands = np.array([row["stands"] for row in rows])
    better = np.array([row["best"] == "a" for row in rows])
    true = bool(((gaps > 0) == better)[stands].all())
    return (
        float(np.mean((low <= gaps) & (gaps <= high))),
        float(np.mean(high - low)),
        true,
        int(stands.sum()),
    )


type Board = tuple[Outcomes, np.ndarray]
read = cache(shares)


def drawn_board(
    rng: np.random.Generator, share: np.ndarray, task: np.ndarray, sizes: np.ndarray
) -> Board:
    """So many items of each task, answered once by random models, and their shares of each task."""
    members = [np.flatnonzero(task == name) for name in np.unique(task)]
    rows = [rng.choice(of, size) for of, size in zip(members, sizes, strict=True)]
    answers, chosen = some_runs(rng, share, np.concatenate(rows), 1)
    names = np.repeat([f"task {t:02}" for t in range(len(members))], sizes).tolist()
    truth = np.array([share[of].mean(axis=0) for of in members])[:, chosen]
    return Outcomes(answers, tasks=names), truth


def execution(rng: np.random.Generator, n: int) -> Board:
    """Twelve tasks of which each has about eight clusters of questions."""
    share, items = read("execution")
    names, of = np.unique(items["cluster"], return_inverse=True)
    dealt = rng.permutation(np.arange(names.size) % TASKS)[of]
    return drawn_board(rng, share, dealt, np.full(TASKS, n))


def repair(rng: np.random.Generator, sizes: np.ndarray, least: int = 1) -> Board:
    """Problems by platform and difficulty; tasks with so many problems at least."""
    share, items = read("repair")
    task = (items["platform"] + "/" + items["difficulty"]).to_numpy()
    names, counts = np.unique(task, return_counts=True)
    kept = np.isin(task, names[counts >= least])
    return drawn_board(rng, share[kept], task[kept], rng.permutation(sizes))


BOARDS: dict[str, Callable[[np.random.Generator], Board]] = {
    "execution, twelve tasks of 15": partial(execution, n=15),
    "execution, twelve tasks of 40": partial(execution, n=40),
    "repair, six tasks of 10": partial(repair, sizes=np.full(6, 10), least=5),
    "repair, six tasks of 40": partial(repair, sizes=np.full(6, 40), least=5),
    "repair, nine tasks of 40": partial(repair, sizes=np.full(9, 40)),
    "repair, three of nine with 2 to 4": partial(repair, sizes=TINY),
}


def judged_entries(kind: str, number: int) -> np.ndarray:
    """Coverage, width, squared errors, P(best) said and seen, verdicts, whether all are true."""
    rng = np.random.default_rng([list(BOARDS).index(kind), number])
    data, truth = BOARDS[kind](rng)
    found = compare_by_task(data, draws=2000, random_seed=number)
    drawn = np.array([found.skills_in(t) for t in range(len(truth))])  # (T, D, m)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=1)
    best = [found.best_in(t) for t in range(len(truth))]
    stands = verdicts_that_stand(np.column_stack([lead for _, _, lead in best]), 0.95)
    seen = np.array([true[b] == true.max() for true, (b, _, _) in zip(truth, best, strict=True)])
    return np.array([
        np.mean((low <= truth) & (truth <= high)), np.mean(high - low),
        np.mean((drawn.mean(axis=1) - truth) ** 2), np.mean((found.errors.scores - truth) ** 2),
        np.mean([p.max() for _, p, _ in best]), seen.mean(), stands.sum(), seen[stands].all(),
    ])  # fmt: skip


def entries(boards: int) -> None:
    """Print the table of skills in every task."""
    print("| boards | covered | width | error of raw's | P(best) said, seen | stand | all true |")
    print("|---|---|---|---|---|---|---|")
    for kind in BOARDS:
        each = np.array([judged_entries(kind, i) for i in range(boards)])
        covered, width, off, raw, said, seen, stand, true = each.mean(axis=0)
        print(f"| {kind} | {covered:.3f} | {width:.3f} | {np.sqrt(off / raw):.2f} "
              f"| {said:.2f}, {seen:.2f} | {stand:.2f} | {true:.3f} |", flush=True)  # fmt: skip


def main() -> None:
    """Print the table of two methods."""
    print("| differences of tasks | items of each | covered | width | all true | verdicts |")
    print("|---|---|---|---|---|---|")
    for shape in SHAPES:
        for n in (15, 150):
            found = np.mean([judged(shape, n, i) for i in range(EXAMS)], axis=0)
            covered, width, true, stand = found
            print(f"| {shape} | {n} | {covered:.3f} | {width:.3f} | {true:.3f} | {stand:.2f} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["entries"]:
        entries(int(sys.argv[2]) if sys.argv[2:] else 200)
    else:
        main()
