"""Trains the field of real classifiers that is bundled as the example "digits".

About 300 scikit-learn classifiers of many kinds, with near-clones, weak and failed ones, learn
handwritten digits from 300 images and answer the other 1,497: 250 test items, whose scores make
the leaderboard, and 1,247 held-out items, which tell how good everybody really is.

Run with ``uv run python tests/benchmarks/make_digits_benchmark.py [--output FILE.xz]``; takes
about a minute on two cores. The images come with scikit-learn (UCI ML repository, "Optical
recognition of handwritten digits"). Every seed is fixed; another version of scikit-learn may
change single answers. ``tests/data/test_examples.py`` retrains a few of them.
"""

import argparse
import lzma
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.gaussian_process.kernels import RBF
from sklearn.pipeline import make_pipeline
from sklearn.utils import all_estimators

N_TRAIN, N_TEST, SPLIT_SEED = 300, 250, 20230307
ROOT = Path(__file__).resolve().parents[2]
sk = SimpleNamespace(**dict(all_estimators()))
OUTPUT = ROOT / "bayes_sota" / "data" / "digits_responses.xz"


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


def grid(family: str, name: str, make: Callable[..., BaseEstimator], **axes: Any) -> list[Entry]:
    """An entry of each combination of values, which the format of its name takes, too."""
    found = []
    for values in product(*axes.values()):
        given = dict(zip(axes, values, strict=True))
        found.append(Entry(family, name.format(**given), make(**given)))
    return found


def logistic(c: float = 10, steps: int = 300) -> BaseEstimator:
    return sk.LogisticRegression(C=c, max_iter=steps)


def reduced(components: int, model: BaseEstimator, **settings: Any) -> BaseEstimator:
    return make_pipeline(sk.PCA(components, random_state=0, **settings), model)


def network(width: tuple[int, ...], seed: int, **settings: Any) -> BaseEstimator:
    given = {"alpha": 0.1, "max_iter": 150} | settings
    return sk.MLPClassifier(width, random_state=seed, **given)


def svm(c: float = 10, gamma: float = 0.1) -> BaseEstimator:
    return sk.SVC(C=c, gamma=gamma)


def linear_entries() -> Iterator[Entry]:
    weights, spaced = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30), (0.001, 0.01, 0.1, 1, 10)
    after = {
        "scaled": (lambda c: (sk.StandardScaler(), logistic(c)), spaced),
        "quadratic": (lambda c: (sk.PolynomialFeatures(2), logistic(c, 200)), (0.01, 0.1, 1)),
    }
    yield from grid("logistic", "C={c}", logistic, c=weights)
    for name, (steps, values) in after.items():
        make = partial(lambda steps, c: make_pipeline(*steps(c)), steps)
        yield from grid("logistic", f"{name} C={{c}}", make, c=values)
    yield from grid("logistic", "pca={k}", lambda k: reduced(k, logistic()), k=(5, 10, 20, 30))
    yield from grid("ridge", "alpha={alpha}", sk.RidgeClassifier, alpha=(0.1, 1, 10, 100))
    for name, kernel, size, seeds, alpha in (
        ("nystroem", sk.Nystroem, 150, 6, 0.1),
        ("fourier", sk.RBFSampler, 400, 4, 1),
    ):
        for seed in range(seeds):
            features = kernel(gamma=0.1, n_components=size, random_state=seed)
            model = make_pipeline(features, sk.RidgeClassifier(alpha))
            yield Entry("ridge", f"{name} seed={seed}", model)
    linear, losses = partial(sk.LinearSVC, random_state=0), ("hinge", "log_loss", "modified_huber")
    yield from grid("linear-svm", "C={C}", linear, C=(0.003, 0.03, 0.3, 3))
    yield from grid("perceptron", "seed={random_state}", sk.Perceptron, random_state=range(4))
    name, seeds = "{loss} seed={random_state}", range(3)
    yield from grid("sgd", name, sk.SGDClassifier, loss=losses, random_state=seeds)


def gaussian_entries() -> Iterator[Entry]:
    lda, shrinkages = partial(sk.LinearDiscriminantAnalysis, solver="lsqr"), ("auto", 0.1, 0.5, 0.9)
    yield Entry("lda", "svd", sk.LinearDiscriminantAnalysis())
    yield from grid("lda", "shrinkage={shrinkage}", lda, shrinkage=shrinkages)
    for reg in (0.03, 0.1, 0.3, 0.6, 0.9):
        model = reduced(20, sk.QuadraticDiscriminantAnalysis(reg_param=reg))
        yield Entry("qda", f"pca=20 reg={reg}", model)
    name, smoothing = "gaussian smoothing={var_smoothing:g}", (1e-9, 1e-3, 1e-2, 1e-1)
    yield from grid("naive-bayes", name, sk.GaussianNB, var_smoothing=smoothing)
    yield from grid("naive-bayes", "multinomial alpha={alpha}", sk.MultinomialNB, alpha=(0.01, 1))
    yield Entry("naive-bayes", "complement", sk.ComplementNB())
    cuts = {"binarize": (0.3, 0.5, 0.8)}
    yield from grid("naive-bayes", "bernoulli cut={binarize}", sk.BernoulliNB, **cuts)
    for scale in (0.7, 1.5):
        model = sk.GaussianProcessClassifier(RBF(scale), optimizer=None)
        yield Entry("gaussian-process", f"scale={scale}", model)


def neighbour_entries() -> Iterator[Entry]:
    knn, metrics = sk.KNeighborsClassifier, ("manhattan", "chebyshev", "cosine")
    counts, far = (1, 2, 3, 4, 5, 7, 10, 15, 25, 40, 80), partial(knn, weights="distance")
    yield from grid("knn", "k={n_neighbors}", knn, n_neighbors=counts)
    name, few = "{metric} k={n_neighbors}", (1, 3, 6)
    yield from grid("knn", name, knn, metric=metrics, n_neighbors=few)
    yield from grid("knn", "weighted k={n_neighbors}", far, n_neighbors=(3, 5, 10))
    yield from grid("knn", "pca={k} k=3", lambda k: reduced(k, knn(3)), k=(3, 6, 12, 24))
    metrics = ("euclidean", "manhattan")
    yield from grid("nearest-centroid", "{metric}", sk.NearestCentroid, metric=metrics)
    yield from grid("label-spreading", "gamma={gamma}", sk.LabelSpreading, gamma=(1, 3, 10))


def kernel_entries() -> Iterator[Entry]:
    gammas, name = (0.01, 0.03, 0.1, 0.2, 0.4), "degree={degree} C={C}"
    poly, linear = partial(sk.SVC, kernel="poly"), partial(sk.SVC, kernel="linear")
    yield from grid("svm-rbf", "C={c} gamma={gamma}", svm, c=(0.3, 1, 3, 10, 100), gamma=gammas)
    yield from grid("svm-poly", name, poly, degree=(2, 3, 4, 5), C=(0.1, 10))
    yield from grid("svm-linear", "C={C}", linear, C=(0.1, 10))
    yield Entry("svm-sigmoid", "C=1", sk.SVC(kernel="sigmoid", gamma=0.01))
    yield from grid("svm-nu", "nu={nu}", sk.NuSVC, nu=(0.02, 0.1, 0.3))
    for k in (8, 16, 32):
        yield Entry("svm-rbf", f"whitened pca={k}", reduced(k, sk.SVC(C=5), whiten=True))
    for c in (1, 10):
        yield Entry("svm-rbf", f"scaled C={c}", make_pipeline(sk.StandardScaler(), sk.SVC(C=c)))


def tree_entries() -> Iterator[Entry]:
    single = {"gini": sk.DecisionTreeClassifier, "random": sk.ExtraTreeClassifier}
    shallow = partial(sk.DecisionTreeClassifier, random_state=0)
    yield from grid("tree", "depth={max_depth}", shallow, max_depth=(2, 3, 4, 6))
    for seed, (kind, maker) in product(range(4), single.items()):
        yield Entry("tree", f"{kind} seed={seed}", maker(random_state=seed))
    forests = {"random-forest": sk.RandomForestClassifier, "extra-trees": sk.ExtraTreesClassifier}
    for kind, maker in forests.items():
        for trees, seeds in ((5, 2), (15, 2), (50, 3), (150, 5), (300, 3)):
            make = partial(maker, trees)
            name = f"trees={trees} seed={{random_state}}"
            yield from grid(kind, name, make, random_state=range(seeds))
        some, few = partial(maker, 100, random_state=7), partial(maker, 50, random_state=7)
        yield from grid(kind, "features={max_features}", some, max_features=(1, 0.3, 0.6))
        yield from grid(kind, "depth={max_depth}", few, max_depth=(2, 4))
    boosted = partial(sk.AdaBoostClassifier, n_estimators=50, random_state=0)
    for rate in (0.1, 1):
        model = boosted(sk.DecisionTreeClassifier(max_depth=3), learning_rate=rate)
        yield Entry("adaboost", f"depth=3 rate={rate}", model)
    yield Entry("adaboost", "stumps", boosted())
    for rate, rounds in ((0.1, 40), (0.3, 20), (0.1, 10)):
        model = sk.HistGradientBoostingClassifier(
            learning_rate=rate, max_iter=rounds, min_samples_leaf=5, random_state=0
        )
        yield Entry("boosting", f"histogram rate={rate} rounds={rounds}", model)
    stochastic = partial(
        sk.GradientBoostingClassifier, n_estimators=40, subsample=0.5, max_features=8
    )
    seeds = {"random_state": range(4)}
    yield from grid("boosting", "stochastic seed={random_state}", stochastic, **seeds)


def network_entries() -> Iterator[Entry]:
    for width, seeds in (((10,), 2), ((30,), 2), ((100,), 6), ((300,), 3), ((100, 50), 3)):
        name = "-".join(map(str, width))
        make = partial(network, width)
        yield from grid("network", f"{name} seed={{seed}}", make, seed=range(seeds))
    for seed in range(2):
        features = sk.BernoulliRBM(100, learning_rate=0.06, n_iter=20, random_state=seed)
        yield Entry("network", f"rbm seed={seed}", make_pipeline(features, logistic(100)))
    yield Entry("network", "stopped", sk.MLPClassifier((50,), max_iter=5, random_state=0))


def combined_entries() -> Iterator[Entry]:
    lda = sk.LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    bases = {"knn": (sk.KNeighborsClassifier(1), 20, 0.5), "svm": (svm(), 10, 0.7)}
    for seed, (name, (base, count, share)) in product(range(4), bases.items()):
        model = sk.BaggingClassifier(base, count, max_features=share, random_state=seed)
        yield Entry("bagging", f"{name} seed={seed}", model)
    trees = partial(sk.BaggingClassifier, n_estimators=30)
    yield from grid("bagging", "trees seed={random_state}", trees, random_state=range(2))
    linear, gaussian = sk.LinearSVC(C=0.1, random_state=0), sk.GaussianNB(var_smoothing=0.1)
    for name, base in (("svm", linear), ("gaussian", gaussian)):
        yield Entry("calibrated", name, sk.CalibratedClassifierCV(base, cv=3))
    for seed in range(6):
        forest, knn = sk.ExtraTreesClassifier(100, random_state=seed), 1 + seed % 3
        parts = [("svm", svm()), ("trees", forest), ("knn", sk.KNeighborsClassifier(knn))]
        parts += [("network", network((60,), seed, alpha=1e-4)), ("lda", lda)]
        yield Entry("voting", f"five seed={seed}", sk.VotingClassifier(parts))
    for seed in range(2):
        forest, knn = sk.ExtraTreesClassifier(60, random_state=seed), sk.KNeighborsClassifier(3)
        parts = [("svm", svm()), ("trees", forest), ("knn", knn)]
        model = sk.StackingClassifier(parts, sk.LogisticRegression(max_iter=300), cv=3)
        yield Entry("stacking", f"three seed={seed}", model)


def shifted_entries() -> list[Entry]:
    """Those who thought of moving the images: the top of the field."""
    seed, trees = "seed={random_state}", {"n_estimators": (100,)}
    poly = partial(sk.SVC, kernel="poly", C=1)
    given = [
        ("svm-rbf C={c} gamma={gamma}", lambda gamma, c: svm(c, gamma),
         {"gamma": (0.06, 0.12, 0.25), "c": (1, 10)}),
        ("svm-poly degree={degree}", poly, {"degree": (3, 4)}),
        ("knn k={k}", lambda k: sk.KNeighborsClassifier(k), {"k": (1, 3, 5)}),
        (f"trees {seed}", sk.ExtraTreesClassifier, trees | {"random_state": range(4)}),
        (f"forest {seed}", sk.RandomForestClassifier, trees | {"random_state": range(2)}),
        ("network seed={seed}", partial(network, (100,), max_iter=60), {"seed": range(3)}),
        ("logistic", partial(logistic, 1, 200), {}),
    ]  # fmt: skip
    plain = [entry for name, make, axes in given for entry in grid("shifted", name, make, **axes)]
    return [replace(entry, shifted=True) for entry in plain]


def weak_entries() -> Iterator[Entry]:
    for rows in (15, 30, 50, 80, 120, 200):
        trees = sk.ExtraTreesClassifier(50, random_state=rows)
        models = {"svm": svm(), "knn": sk.KNeighborsClassifier(1), "trees": trees}
        for name, model in models.items():
            yield Entry("few-items", f"{name} rows={rows}", model, rows)
    for pixels in (3, 6, 10, 16, 24, 40):
        for seed, (name, base) in enumerate({"svm": sk.SVC(C=10), "logistic": logistic()}.items()):
            settings = {"max_features": pixels, "random_state": 100 * pixels + seed}
            model = sk.BaggingClassifier(base, 1, bootstrap=False, **settings)
            yield Entry("few-pixels", f"{name} pixels={pixels}", model)


def failed_entries() -> list[Entry]:
    always = partial(sk.DummyClassifier, strategy="constant")
    guess = partial(sk.DummyClassifier, strategy="uniform")
    trees = sk.ExtraTreesClassifier(50, random_state=1)
    return [
        *grid("failed", "always {constant}", always, constant=(0, 1, 7)),
        *grid("failed", "guess seed={random_state}", guess, random_state=range(4)),
        Entry("failed", "transposed svm", svm(), broken="transposed"),
        Entry("failed", "transposed trees", trees, broken="transposed"),
        Entry("failed", "shuffled svm", sk.SVC(C=1), broken="shuffled"),
    ]


def field_entries() -> list[Entry]:
    """The whole field, family by family."""
    makers = (linear_entries, gaussian_entries, neighbour_entries, kernel_entries, tree_entries,
              network_entries, combined_entries, shifted_entries, weak_entries,
              failed_entries)  # fmt: skip
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


def write_field(path: Path, entries: list[Entry], data: Digits, correct: NDArray[Any]) -> None:
    """Write a response matrix: ``family/name`` per row, ``part/number`` per column.

    A row has the place of the nearest row before it, and a bit for each item on which the two
    differ, items that few rows before it got right first.
    """
    names = [f"{entry.family}/{entry.name}" for entry in entries]
    items = [f"test/{i}" for i in data.test] + [f"held-out/{i}" for i in data.held_out]
    content, rows = "\n".join(["\t".join(names), "\t".join(items), ""]).encode(), correct.T
    for j, row in enumerate(rows):
        nearest = int((rows[:j] != row).sum(axis=1).argmin()) if j else 0
        differs = row ^ rows[nearest] if j else row
        order = np.argsort(rows[:j].sum(axis=0), kind="stable")
        content += nearest.to_bytes(2) + np.packbits(differs[order]).tobytes()
    packing = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 0, "pb": 0}]
    path.write_bytes(lzma.compress(content, filters=packing))


def main() -> None:
    """Train and write the field."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    output = parser.parse_args().output
    data, entries = load_parts(), field_entries()
    answers = Parallel(n_jobs=2)(delayed(right_answers)(entry, data) for entry in entries)
    write_field(output, entries, data, np.column_stack(answers))
    print(f"{len(entries)} classifiers, {output.stat().st_size / 1024:.1f} KiB: {output}")


if __name__ == "__main__":
    main()
