"""Two methods compared in every task: how often intervals hold, and verdicts that stand are true.

Run with ``uv run python tests/calibration/by_task.py`` (two minutes). Exams of twelve tasks, in
which the methods differ by normal amounts, by one of two, in one odd task, or by the same; half of
the answers of both methods hang on the same luck.
"""

import numpy as np

from bayes_sota.claims.summary_differences import report_tasks
from bayes_sota.data.responses import Responses

EXAMS, TASKS, MIDDLE = 200, 12, 0.6
SHAPES = {
    "normal, sd .1": lambda rng: rng.normal(0.03, 0.1, TASKS),
    "one of two, .12 or -.06": lambda rng: np.where(rng.random(TASKS) < 0.5, 0.12, -0.06),
    "one odd task, .05 but -.25": lambda rng: np.append(np.full(TASKS - 1, 0.05), -0.25),
    "all equal, .04": lambda rng: np.full(TASKS, 0.04),
}


def exam(gaps: np.ndarray, n: int, rng: np.random.Generator) -> Responses:
    """Answers of two methods to n items of each task."""
    chance = np.array([MIDDLE + gaps / 2, MIDDLE - gaps / 2])[:, :, None]
    alike = np.where(rng.random((TASKS, n)) < 0.5, rng.random((TASKS, n)), np.nan)
    own = rng.random((2, TASKS, n))
    right = np.where(np.isnan(alike), own, alike) < chance
    names = np.repeat([f"task {t:02}" for t in range(TASKS)], n).tolist()
    return Responses(right.transpose(1, 2, 0).reshape(-1, 2), tasks=names, names=["a", "b"])


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


def main() -> None:
    """Print the table."""
    print("| differences of tasks | items of each | covered | width | all true | verdicts |")
    print("|---|---|---|---|---|---|")
    for shape in SHAPES:
        for n in (15, 150):
            found = np.mean([judged(shape, n, i) for i in range(EXAMS)], axis=0)
            covered, width, true, stand = found
            print(f"| {shape} | {n} | {covered:.3f} | {width:.3f} | {true:.3f} | {stand:.2f} |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
