"""Trains the field of real classifiers that is bundled as the example "digits".

About 300 scikit-learn classifiers of many kinds, with near-clones, weak and failed ones, learn
handwritten digits from 300 images and answer the other 1,497: 250 test items, whose scores make
the leaderboard, and 1,247 held-out items, which tell how good everybody really is.

Run with ``uv run python tests/benchmarks/make_digits_benchmark.py [--output FILE.csv.gz]``; takes
about a minute on two cores. The images come with scikit-learn (UCI ML repository, "Optical
recognition of handwritten digits"). Every seed is fixed; another version of scikit-learn may
change single answers. ``tests/data/test_examples.py`` retrains a few of them.
"""

import argparse
import csv
import gzip
import io
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.neural_network import BernoulliRBM, MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

N_TRAIN, N_TEST, SPLIT_SEED = 300, 250, 20230307
ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "bayes_sota" / "data" / "digits_responses.csv.gz"


@dataclass(frozen=True)
class Entry:
    """One classifier of the field; ``rows`` training items, and what else is done to the images.

    ``shifted`` adds every training image moved by one pixel in four directions; ``broken`` is a
    mistake of its maker: "transposed" test images, or "shuffled" training labels.
    """

    family: str
    name: str
    model: BaseEstimator
    rows: int = N_TRAIN
    shifted: bool = False
    broken: str = ""


@dataclass(frozen=True)
class Digits:
    """Images (items x 64 pixels in [0, 1]), digits, and item numbers of each part."""

    images: NDArray[np.float64]
    digits: NDArray[np.int64]
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    held_out: NDArray[np.int64]


def load_parts() -> Digits:
    """The digits, and who learns from, is tested on, or never sees which."""
    data = load_digits()
    order = np.random.default_rng(SPLIT_SEED).permutation(len(data.target))
    train, test, rest = np.split(order, [N_TRAIN, N_TRAIN + N_TEST])
    return Digits(data.data / 16, data.target, train, np.sort(test), np.sort(rest))


def linear_entries() -> Iterator[Entry]:
    for c in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30):
        yield Entry("logistic", f"C={c}", LogisticRegression(C=c, max_iter=300))
    for c in (0.001, 0.01, 0.1, 1, 10):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=c, max_iter=300))
        yield Entry("logistic", f"scaled C={c}", model)
    for c in (0.01, 0.1, 1):
        model = make_pipeline(PolynomialFeatures(2), LogisticRegression(C=c, max_iter=200))
        yield Entry("logistic", f"quadratic C={c}", model)
    for k in (5, 10, 20, 30):
        model = make_pipeline(PCA(k, random_state=0), LogisticRegression(C=10, max_iter=300))
        yield Entry("logistic", f"pca={k}", model)
    for alpha in (0.1, 1, 10, 100):
        yield Entry("ridge", f"alpha={alpha}", RidgeClassifier(alpha=alpha))
    for seed in range(6):
        model = make_pipeline(
            Nystroem(gamma=0.1, n_components=150, random_state=seed), RidgeClassifier(0.1)
        )
        yield Entry("ridge", f"nystroem seed={seed}", model)
    for seed in range(4):
        model = make_pipeline(
            RBFSampler(gamma=0.1, n_components=400, random_state=seed), RidgeClassifier(1)
        )
        yield Entry("ridge", f"fourier seed={seed}", model)
    for c in (0.003, 0.03, 0.3, 3):
        yield Entry("linear-svm", f"C={c}", LinearSVC(C=c, random_state=0))
    for seed in range(4):
        yield Entry("perceptron", f"seed={seed}", Perceptron(random_state=seed))
    for loss in ("hinge", "log_loss", "modified_huber"):
        for seed in range(3):
            model = SGDClassifier(loss=loss, random_state=seed)
            yield Entry("sgd", f"{loss} seed={seed}", model)


def gaussian_entries() -> Iterator[Entry]:
    yield Entry("lda", "svd", LinearDiscriminantAnalysis())
    for shrinkage in ("auto", 0.1, 0.5, 0.9):
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage)
        yield Entry("lda", f"shrinkage={shrinkage}", model)
    for regularisation in (0.03, 0.1, 0.3, 0.6, 0.9):
        model = make_pipeline(
            PCA(20, random_state=0), QuadraticDiscriminantAnalysis(reg_param=regularisation)
        )
        yield Entry("qda", f"pca=20 reg={regularisation}", model)
    for smoothing in (1e-9, 1e-3, 1e-2, 1e-1):
        model = GaussianNB(var_smoothing=smoothing)
        yield Entry("naive-bayes", f"gaussian smoothing={smoothing:g}", model)
    for alpha in (0.01, 1):
        yield Entry("naive-bayes", f"multinomial alpha={alpha}", MultinomialNB(alpha=alpha))
    yield Entry("naive-bayes", "complement", ComplementNB())
    for cut in (0.3, 0.5, 0.8):
        yield Entry("naive-bayes", f"bernoulli cut={cut}", BernoulliNB(binarize=cut))
    for scale in (0.7, 1.5):
        model = GaussianProcessClassifier(RBF(scale), optimizer=None)
        yield Entry("gaussian-process", f"scale={scale}", model)


def neighbour_entries() -> Iterator[Entry]:
    for k in (1, 2, 3, 4, 5, 7, 10, 15, 25, 40, 80):
        yield Entry("knn", f"k={k}", KNeighborsClassifier(k))
    for metric in ("manhattan", "chebyshev", "cosine"):
        for k in (1, 3, 6):
            yield Entry("knn", f"{metric} k={k}", KNeighborsClassifier(k, metric=metric))
    for k in (3, 5, 10):
        yield Entry("knn", f"weighted k={k}", KNeighborsClassifier(k, weights="distance"))
    for components in (3, 6, 12, 24):
        model = make_pipeline(PCA(components, random_state=0), KNeighborsClassifier(3))
        yield Entry("knn", f"pca={components} k=3", model)
    yield Entry("nearest-centroid", "euclidean", NearestCentroid())
    yield Entry("nearest-centroid", "manhattan", NearestCentroid(metric="manhattan"))
    for gamma in (1, 3, 10):
        yield Entry("label-spreading", f"gamma={gamma}", LabelSpreading(gamma=gamma))


def kernel_entries() -> Iterator[Entry]:
    for c in (0.3, 1, 3, 10, 100):
        for gamma in (0.01, 0.03, 0.1, 0.2, 0.4):
            yield Entry("svm-rbf", f"C={c} gamma={gamma}", SVC(C=c, gamma=gamma))
    for degree in (2, 3, 4, 5):
        for c in (0.1, 10):
            yield Entry(
                "svm-poly", f"degree={degree} C={c}", SVC(kernel="poly", degree=degree, C=c)
            )
    yield Entry("svm-linear", "C=0.1", SVC(kernel="linear", C=0.1))
    yield Entry("svm-linear", "C=10", SVC(kernel="linear", C=10))
    yield Entry("svm-sigmoid", "C=1", SVC(kernel="sigmoid", gamma=0.01))
    for nu in (0.02, 0.1, 0.3):
        yield Entry("svm-nu", f"nu={nu}", NuSVC(nu=nu))
    for components in (8, 16, 32):
        model = make_pipeline(PCA(components, whiten=True, random_state=0), SVC(C=5))
        yield Entry("svm-rbf", f"whitened pca={components}", model)
    for c in (1, 10):
        yield Entry("svm-rbf", f"scaled C={c}", make_pipeline(StandardScaler(), SVC(C=c)))


def tree_entries() -> Iterator[Entry]:
    for depth in (2, 3, 4, 6):
        model = DecisionTreeClassifier(max_depth=depth, random_state=0)
        yield Entry("tree", f"depth={depth}", model)
    for seed in range(4):
        yield Entry("tree", f"gini seed={seed}", DecisionTreeClassifier(random_state=seed))
        yield Entry("tree", f"random seed={seed}", ExtraTreeClassifier(random_state=seed))
    for kind, maker in (
        ("random-forest", RandomForestClassifier),
        ("extra-trees", ExtraTreesClassifier),
    ):
        for trees, seeds in ((5, 2), (15, 2), (50, 3), (150, 5), (300, 3)):
            for seed in range(seeds):
                model = maker(trees, random_state=seed)
                yield Entry(kind, f"trees={trees} seed={seed}", model)
        for features in (1, 0.3, 0.6):
            model = maker(100, max_features=features, random_state=7)
            yield Entry(kind, f"features={features}", model)
        for depth in (2, 4):
            yield Entry(kind, f"depth={depth}", maker(50, max_depth=depth, random_state=7))
    for rate in (0.1, 1):
        base = DecisionTreeClassifier(max_depth=3)
        model = AdaBoostClassifier(base, n_estimators=50, learning_rate=rate, random_state=0)
        yield Entry("adaboost", f"depth=3 rate={rate}", model)
    yield Entry("adaboost", "stumps", AdaBoostClassifier(n_estimators=50, random_state=0))
    for rate, rounds in ((0.1, 40), (0.3, 20), (0.1, 10)):
        model = HistGradientBoostingClassifier(
            learning_rate=rate, max_iter=rounds, min_samples_leaf=5, random_state=0
        )
        yield Entry("boosting", f"histogram rate={rate} rounds={rounds}", model)
    for seed in range(4):
        model = GradientBoostingClassifier(
            n_estimators=40, subsample=0.5, max_features=8, random_state=seed
        )
        yield Entry("boosting", f"stochastic seed={seed}", model)


def network_entries() -> Iterator[Entry]:
    for width, seeds in ((10, 2), (30, 2), (100, 6), (300, 3)):
        for seed in range(seeds):
            model = MLPClassifier((width,), alpha=0.1, max_iter=150, random_state=seed)
            yield Entry("network", f"{width} seed={seed}", model)
    for seed in range(3):
        model = MLPClassifier((100, 50), alpha=0.1, max_iter=150, random_state=seed)
        yield Entry("network", f"100-50 seed={seed}", model)
    for seed in range(2):
        model = make_pipeline(
            BernoulliRBM(100, learning_rate=0.06, n_iter=20, random_state=seed),
            LogisticRegression(C=100, max_iter=300),
        )
        yield Entry("network", f"rbm seed={seed}", model)
    yield Entry("network", "stopped", MLPClassifier((50,), max_iter=5, random_state=0))


def combined_entries() -> Iterator[Entry]:
    for seed in range(4):
        model = BaggingClassifier(KNeighborsClassifier(1), 20, max_features=0.5, random_state=seed)
        yield Entry("bagging", f"knn seed={seed}", model)
        model = BaggingClassifier(SVC(C=10, gamma=0.1), 10, max_features=0.7, random_state=seed)
        yield Entry("bagging", f"svm seed={seed}", model)
    for seed in range(2):
        yield Entry(
            "bagging", f"trees seed={seed}", BaggingClassifier(n_estimators=30, random_state=seed)
        )
    for name, base in (
        ("svm", LinearSVC(C=0.1, random_state=0)),
        ("gaussian", GaussianNB(var_smoothing=0.1)),
    ):
        yield Entry("calibrated", name, CalibratedClassifierCV(base, cv=3))
    for seed in range(6):
        parts = [
            ("svm", SVC(C=10, gamma=0.1)),
            ("trees", ExtraTreesClassifier(100, random_state=seed)),
            ("knn", KNeighborsClassifier(1 + seed % 3)),
            ("network", MLPClassifier((60,), max_iter=150, random_state=seed)),
            ("lda", LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")),
        ]
        yield Entry("voting", f"five seed={seed}", VotingClassifier(parts))
    for seed in range(2):
        parts = [
            ("svm", SVC(C=10, gamma=0.1)),
            ("trees", ExtraTreesClassifier(60, random_state=seed)),
            ("knn", KNeighborsClassifier(3)),
        ]
        model = StackingClassifier(parts, LogisticRegression(max_iter=300), cv=3)
        yield Entry("stacking", f"three seed={seed}", model)


def shifted_entries() -> Iterator[Entry]:
    """Those who thought of moving the images: the top of the field."""
    models: list[tuple[str, BaseEstimator]] = []
    for gamma in (0.06, 0.12, 0.25):
        models += [(f"svm-rbf C={c} gamma={gamma}", SVC(C=c, gamma=gamma)) for c in (1, 10)]
    models += [(f"svm-poly degree={d}", SVC(kernel="poly", degree=d, C=1)) for d in (3, 4)]
    models += [(f"knn k={k}", KNeighborsClassifier(k)) for k in (1, 3, 5)]
    models += [(f"trees seed={s}", ExtraTreesClassifier(100, random_state=s)) for s in range(4)]
    models += [(f"forest seed={s}", RandomForestClassifier(100, random_state=s)) for s in range(2)]
    models += [
        (f"network seed={s}", MLPClassifier((100,), alpha=0.1, max_iter=60, random_state=s))
        for s in range(3)
    ]
    models += [("logistic", LogisticRegression(C=1, max_iter=200))]
    for name, model in models:
        yield Entry("shifted", name, model, shifted=True)


def weak_entries() -> Iterator[Entry]:
    for rows in (15, 30, 50, 80, 120, 200):
        yield Entry("few-items", f"svm rows={rows}", SVC(C=10, gamma=0.1), rows=rows)
        yield Entry("few-items", f"knn rows={rows}", KNeighborsClassifier(1), rows=rows)
        model = ExtraTreesClassifier(50, random_state=rows)
        yield Entry("few-items", f"trees rows={rows}", model, rows=rows)
    for pixels in (3, 6, 10, 16, 24, 40):
        for seed in range(2):
            base = LogisticRegression(C=10, max_iter=300) if seed else SVC(C=10)
            model = BaggingClassifier(
                base, 1, bootstrap=False, max_features=pixels, random_state=100 * pixels + seed
            )
            yield Entry("few-pixels", f"{'logistic' if seed else 'svm'} pixels={pixels}", model)


def failed_entries() -> Iterator[Entry]:
    for digit in (0, 1, 7):
        model = DummyClassifier(strategy="constant", constant=digit)
        yield Entry("failed", f"always {digit}", model)
    for seed in range(4):
        model = DummyClassifier(strategy="uniform", random_state=seed)
        yield Entry("failed", f"guess seed={seed}", model)
    yield Entry("failed", "transposed svm", SVC(C=10, gamma=0.1), broken="transposed")
    yield Entry(
        "failed", "transposed trees", ExtraTreesClassifier(50, random_state=1), broken="transposed"
    )
    yield Entry("failed", "shuffled svm", SVC(C=1), broken="shuffled")


def field_entries() -> list[Entry]:
    """The whole field, family by family."""
    makers = (
        linear_entries,
        gaussian_entries,
        neighbour_entries,
        kernel_entries,
        tree_entries,
        network_entries,
        combined_entries,
        shifted_entries,
        weak_entries,
        failed_entries,
    )
    return [entry for make in makers for entry in make()]


def with_shifts(images: NDArray[np.float64], labels: Any) -> tuple[Any, Any]:
    """The images and their copies moved by one pixel, with labels to match."""
    square = images.reshape(-1, 8, 8)
    padded = np.pad(square, ((0, 0), (1, 1), (1, 1)))
    corners = ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))
    moved = [padded[:, a : a + 8, b : b + 8].reshape(-1, 64) for a, b in corners]
    return np.concatenate(moved), np.tile(labels, len(corners))


def right_answers(entry: Entry, data: Digits) -> NDArray[np.bool_]:
    """Train one classifier and tell which test and held-out items it gets right, in that order."""
    rows = data.train[: entry.rows]
    images, labels = data.images[rows], data.digits[rows]
    asked = np.concatenate([data.test, data.held_out])
    questions = data.images[asked]
    if entry.broken == "shuffled":
        labels = np.random.default_rng(0).permutation(labels)
    if entry.broken == "transposed":
        questions = questions.reshape(-1, 8, 8).transpose(0, 2, 1).reshape(-1, 64)
    if entry.shifted:
        images, labels = with_shifts(images, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not converged, collinear: so are real entries
        predicted = clone(entry.model).fit(images, labels).predict(questions)
    return np.asarray(predicted == data.digits[asked])


def timed_answers(entry: Entry, data: Digits) -> tuple[NDArray[np.bool_], float]:
    """Answers, and the seconds that they took."""
    start = time.perf_counter()
    return right_answers(entry, data), time.perf_counter() - start


def write_field(path: Path, entries: list[Entry], data: Digits, correct: NDArray[Any]) -> None:
    """Write a gzipped response matrix: ``family/name`` per column, ``part/number`` per row."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", *(f"{entry.family}/{entry.name}" for entry in entries)])
    items = [f"test/{i}" for i in data.test] + [f"held-out/{i}" for i in data.held_out]
    for item, row in zip(items, correct.astype(int).tolist(), strict=True):
        writer.writerow([item, *row])
    # Without time and name, so that the same field is the same file.
    path.write_bytes(gzip.compress(text.getvalue().encode(), compresslevel=9, mtime=0))


def describe_field(correct: NDArray[Any]) -> None:
    """Print how spread and how correlated the field is."""
    test, held_out = correct[:N_TEST], correct[N_TEST:]
    skill = held_out.mean(0)
    quantiles = (0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 1)
    print("classifiers", correct.shape[1], "test", len(test), "held out", len(held_out))
    print("held-out accuracy at", quantiles, np.quantile(skill, quantiles).round(4))
    for top in (5, 10, 20, 50):
        best = np.argsort(-skill)[:top]
        phi = np.corrcoef(held_out[:, best].T.astype(float))[np.triu_indices(top, 1)]
        print(f"mean correlation of the best {top}: {phi.mean():.3f}")
    winner = int(np.argmax(test.mean(0)))
    print(f"best test score {test.mean(0).max():.4f}, its skill {skill[winner]:.4f}")
    print(f"best held-out accuracy {skill.max():.4f}")


def main() -> None:
    """Train, describe and write the field."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    start, data, entries = time.perf_counter(), load_parts(), field_entries()
    answers = Parallel(n_jobs=2)(delayed(timed_answers)(entry, data) for entry in entries)
    correct = np.column_stack([right for right, _ in answers])
    write_field(output, entries, data, correct)
    describe_field(correct)
    slow = sorted(zip((s for _, s in answers), entries, strict=True), key=lambda pair: -pair[0])
    print("slowest:", ", ".join(f"{e.family}/{e.name} {s:.1f} s" for s, e in slow[:8]))
    print(f"{time.perf_counter() - start:.0f} s, {output.stat().st_size / 1024:.1f} KiB: {output}")


if __name__ == "__main__":
    main()
