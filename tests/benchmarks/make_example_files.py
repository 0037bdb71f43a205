"""Makes the files of ``bayes-sota examples`` that are not the digits benchmark itself.

``uv run python tests/benchmarks/make_example_files.py [DIRECTORY]``; every seed is fixed. The
classifiers are those of the digits benchmark; ``claims.csv`` and ``submissions.csv`` are simulated.
"""

import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from make_digits_benchmark import load_parts
from sklearn import datasets
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, SGDClassifier
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import bayes_sota as bs
from bayes_sota.data.examples import load_responses_example

FOLDER = Path(__file__).resolve().parents[2] / "bayes_sota" / "data" / "example_files"
EXAMPLE = load_responses_example("digits")


def public_private() -> pd.DataFrame:
    """Scores of every second classifier on 250 public and 1,000 other, private images."""
    held = EXAMPLE.held_out.correct[:1000]
    board = pd.DataFrame({
        "team": EXAMPLE.test.names, "public": EXAMPLE.test.scores, "private": held.mean(axis=0),
    })  # fmt: skip
    return board[board["public"] > 0.8].iloc[::2].round(4)


def battles(count: int = 600) -> pd.DataFrame:
    """Two classifiers meet on an image that not both get right: who does wins."""
    generator = np.random.default_rng(3)
    chosen = [EXAMPLE.held_out.names.index(name) for name in example_names()]
    rows = []
    while len(rows) < count:
        a, b = generator.choice(chosen, 2, replace=False)
        right_a, right_b = EXAMPLE.held_out.correct[generator.integers(1247), [a, b]]
        if right_a and right_b:
            continue
        first, second = (a, b) if right_a >= right_b else (b, a)
        rows.append((
            EXAMPLE.held_out.names[first], EXAMPLE.held_out.names[second], int(right_a == right_b)
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=["winner", "loser", "tie"])


def example_names() -> list[str]:
    """Eight classifiers of different kinds and skills."""
    best: dict[str, str] = {}
    for place in EXAMPLE.test.scores.argsort()[::-1]:
        best.setdefault(EXAMPLE.families[place], EXAMPLE.test.names[place])
    return list(best.values())[:32:4]


def submissions() -> pd.DataFrame:
    """A simulated board of 1,000 items: each team shows the best of its submissions."""
    generator = np.random.default_rng(19)
    skills = 0.9 - generator.gamma(2.0, 0.012, size=180)
    tries = generator.geometric(0.06, size=180)
    scores = [
        generator.binomial(1000, np.clip(skill + generator.normal(0, 0.004, n), 0, 1)).max() / 1000
        for skill, n in zip(skills, tries, strict=True)
    ]
    board = pd.DataFrame({"score": scores, "submissions": tries}).sort_values(
        "score", ascending=False
    )
    board.insert(0, "team", [f"team {k:03d}" for k in generator.permutation(180) + 1])
    return board


def claims() -> pd.DataFrame:
    """Simulated claims of twelve papers, as their tables print them."""
    generator = np.random.default_rng(7)
    sizes = generator.choice([100, 250, 500, 1000, 5000], 12)
    best = generator.uniform(0.75, 0.95, 12)
    gaps = generator.exponential(0.015, 12)
    right = np.array([np.rint(best * sizes), np.rint((best - gaps) * sizes)])
    right[1] = np.minimum(right[1], right[0] - 1)
    accuracies = np.round(right / sizes, 4)
    return pd.DataFrame({
        "name": [f"paper {k}" for k in range(1, 13)], "n_test": sizes,
        "accuracy_a": accuracies[0], "accuracy_b": accuracies[1],
    })  # fmt: skip


def items() -> pd.DataFrame:
    """Images of threes and eights as 16 numbers each, the sums of four pixels."""
    data = load_digits()
    chosen = np.isin(data.target, (3, 8))
    blocks = data.images[chosen].reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    table = pd.DataFrame(blocks.astype(int), columns=[f"pixels_{k}" for k in range(1, 17)])
    table["y"] = np.where(data.target[chosen] == 8, "eight", "three")
    return table


def exam() -> pd.DataFrame:
    """Four learners with three seeds, trained on few images and asked about 150: by digit."""
    data = load_digits()
    learners = {
        "tree": DecisionTreeClassifier, "extra tree": ExtraTreeClassifier,
        "forest": partial(RandomForestClassifier, n_estimators=10),
        "linear": partial(SGDClassifier, loss="log_loss"),
    }  # fmt: skip
    asked = np.random.default_rng(5).choice(np.arange(600, data.target.size), 150, replace=False)
    rows = []
    for name, learner in learners.items():
        for seed in (1, 2, 3):
            fitted = learner(random_state=seed).fit(data.data[:600], data.target[:600])
            right = fitted.predict(data.data[asked]) == data.target[asked]
            rows += [
                (name, f"digit {data.target[i]}", i, seed, int(correct))
                for i, correct in zip(asked, right, strict=True)
            ]
    table = pd.DataFrame(rows, columns=["model", "subset", "image", "seed", "correct"])
    place = {image: k for k, image in enumerate(asked)}  # rows of an image together pack better
    return table.sort_values("image", key=lambda of: of.map(place), kind="stable")


def seeds() -> pd.DataFrame:
    """Four learners with ten seeds: their accuracy on the 1,197 images that they did not see."""
    x, y = load_digits(return_X_y=True)
    learners = {
        "forest": partial(RandomForestClassifier, n_estimators=10),
        "extra trees": partial(ExtraTreesClassifier, n_estimators=10),
        "linear": partial(SGDClassifier, loss="log_loss"),
        "bagging": BaggingClassifier,
    }  # fmt: skip
    rows = [
        (name, seed, learner(random_state=seed).fit(x[:600], y[:600]).score(x[600:], y[600:]))
        for name, learner in learners.items()
        for seed in range(1, 11)
    ]
    return pd.DataFrame(rows, columns=["model", "seed", "accuracy"]).round(4)


def averages() -> pd.DataFrame:
    """Accuracy of seven classifiers on the images of each digit, and the average of the ten."""
    digits = load_parts()
    names = example_names()[:7]
    chosen = [EXAMPLE.held_out.names.index(name) for name in names]
    right = pd.DataFrame(EXAMPLE.held_out.correct[:, chosen], columns=names)
    by_digit = right.groupby([f"digit {k}" for k in digits.digits[digits.held_out]])
    table, error = by_digit.mean().T, by_digit.sem().pow(2).sum().pow(0.5) / 10
    table.insert(0, "average", table.mean(axis=1))
    table.insert(1, "average_stderr", error)
    return table.round(4).rename_axis("model").reset_index()


def dice() -> pd.DataFrame:
    """How well the ink of the lower half of 60 images is told from the upper: Dice by image."""
    images = load_digits().images
    upper, lower = images[:, :4].reshape(-1, 32), images[:, 4:].reshape(-1, 32)
    learners = {
        "nearest": KNeighborsRegressor(5), "linear": LinearRegression(),
        "tree": DecisionTreeRegressor(random_state=1),
        "forest": ExtraTreesRegressor(30, random_state=1),
    }  # fmt: skip
    asked = np.sort(np.random.default_rng(6).choice(np.arange(600, len(images)), 60, False))
    ink = lower[asked] >= 8
    table = pd.DataFrame({"image": asked})
    for name, learner in learners.items():
        said = learner.fit(upper[:600], lower[:600]).predict(upper[asked]) >= 8
        table[name] = 2 * (said & ink).sum(axis=1) / (said.sum(axis=1) + ink.sum(axis=1))
    return table.round(4)


def data_sets() -> pd.DataFrame:
    """Accuracy of five methods in cross-validation of real and made-up data sets."""
    pixels, digit = load_digits(return_X_y=True)
    made = {"n_samples": 200, "random_state": 1}
    tables = {
        "iris": datasets.load_iris(return_X_y=True), "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": (pixels[:500], digit[:500]), "odd digits": (pixels[:500], digit[:500] % 2),
        "moons": datasets.make_moons(noise=0.3, **made),
        "circles": datasets.make_circles(noise=0.2, factor=0.5, **made),
        "shells": datasets.make_gaussian_quantiles(n_features=4, n_classes=3, **made),
        "ten of normals": datasets.make_hastie_10_2(**made),
        "clusters": datasets.make_classification(n_informative=4, flip_y=0.1, **made),
    }  # fmt: skip
    methods = {
        "logistic": LogisticRegression(), "knn": KNeighborsClassifier(), "bayes": GaussianNB(),
        "svm": SVC(), "forest": RandomForestClassifier(random_state=1),
    }  # fmt: skip
    by_data_set = pd.DataFrame([
        {"dataset": name} | {
            method: cross_val_score(make_pipeline(StandardScaler(), model), x, y, cv=5).mean()
            for method, model in methods.items()
        }
        for name, (x, y) in tables.items()
    ])  # fmt: skip
    return by_data_set.set_index("dataset").T.round(4).rename_axis("method").reset_index()


def in_other_formats(folder: Path) -> None:
    """Write two of the tables as Excel, Parquet, JSON lines and logs."""
    board, answers = (
        pd.read_csv(folder / f"{name}.csv", dtype=str) for name in ("leaderboard", "answers")
    )
    write_workbook(folder / "leaderboard.xlsx", [board.columns, *board.head(40).to_numpy()])
    some = answers[["item", *answers.columns[-4:]]]
    columns = pa.table({name: some[name].tolist() for name in some})
    pq.write_table(
        columns, folder / "answers.parquet", compression="zstd", use_dictionary=False,
        write_statistics=False, store_schema=False,
    )  # fmt: skip
    rows = some.melt("item", var_name="model", value_name="correct")
    rows["correct"] = rows["correct"].astype(int)
    rows.to_json(folder / "answers.jsonl", orient="records", lines=True)
    for number, name in enumerate(answers.columns[-2:], 1):
        samples = pd.DataFrame({"doc_id": answers["item"].astype(int), "acc": answers[name]})
        samples = samples.astype(int).assign(doc_hash=answers["item"])
        log = folder / f"logs/model-{number}/samples_digits_2026-01-01T00-00-00.jsonl"
        log.parent.mkdir(parents=True, exist_ok=True)
        samples.to_json(log, orient="records", lines=True)


def write_workbook(path: Path, rows: list[Any]) -> None:
    """Write cells of text as the smallest workbook, without styles and themes."""
    office, package = (
        f"http://schemas.openxmlformats.org/{of}"
        for of in ("officeDocument/2006/relationships", "package/2006")
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    cell = '<c t="inlineStr"><is><t>{}</t></is></c>'
    lines = (f"<row>{''.join(map(cell.format, map(escape, row)))}</row>" for row in rows)
    link = (
        f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="rId1" Type="{office}/{{}}" Target="{{}}"/></Relationships>'
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        '<Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": link.format("officeDocument", "xl/workbook.xml"),
        "xl/_rels/workbook.xml.rels": link.format("worksheet", "sheet1.xml"),
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{"".join(lines)}</sheetData>'
        "</worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in parts.items():
            head = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
            archive.writestr(zipfile.ZipInfo(name), head + content, zipfile.ZIP_DEFLATED)


def main(folder: Path) -> None:
    """Write the files."""
    tables = {
        "public_private": public_private(), "battles": battles(), "submissions": submissions(),
        "claims": claims(), "items": items(), "exam": exam(),
        "seeds": seeds(), "averages": averages(), "dice": dice(), "datasets": data_sets(),
    }  # fmt: skip
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False, lineterminator="\n")
    attributes, labels, categories, _ = bs.crossval.read_task(folder / "items.csv")
    learners = bs.crossval.named_learners(["nb", "5nn", "logistic", "tree"], categories)
    runs = bs.repeated_cross_validation(
        learners, attributes, labels, iterations=10, random_seed=1, task="items"
    )
    scores = runs.to_datatree()["observed_data"]["fold_score"].rename("roc_auc")
    frame = scores.expand_dims(task=["items"]).transpose("iteration", ...).to_dataframe()
    columns = ["learner", "task", "iteration", "fold", "roc_auc"]
    frame = frame.reset_index().sort_values("iteration", kind="stable")[columns]
    frame.to_csv(folder / "cross_validation.csv", index=False, lineterminator="\n")
    auc = pd.DataFrame(runs.probabilities[:, 0].T, columns=list(runs.learners))
    auc.insert(0, "label", runs.truth.astype(int))
    auc.insert(0, "item", np.arange(1, len(auc) + 1))
    auc.to_csv(folder / "auc.csv", index=False, lineterminator="\n", float_format="%.4g")
    in_other_formats(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
