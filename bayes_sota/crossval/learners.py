"""Learners by name, and a table of a file as what they learn from.

Categories become columns of 0 and 1, missing numbers the median, numbers are standardised, by the
training items of each fold. ``tests/crossval/test_learners.py`` tries them.
"""

import os
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from bayes_sota.core.arguments import check_choice
from bayes_sota.core.errors import listed, quoted
from bayes_sota.core.types import FloatArray
from bayes_sota.data.reading import read_table
from bayes_sota.data.tables import describe_parts
from bayes_sota.data.words import place_in

_LAYERS = {"hidden_layer_sizes": (30, 30, 30), "max_iter": 500}
LEARNERS: Final[dict[str, tuple[str, str, dict[str, Any]]]] = {
    "nb": ("naive_bayes", "GaussianNB", {}),
    "5nn": ("neighbors", "KNeighborsClassifier", {"n_neighbors": 5}),
    "tree": ("tree", "DecisionTreeClassifier", {"criterion": "entropy", "min_samples_leaf": 2}),
    "svm": ("svm", "SVC", {"kernel": "linear"}),
    "mlp": ("neural_network", "MLPClassifier", _LAYERS),
    "logistic": ("linear_model", "LogisticRegression", {"max_iter": 1000}),
    "forest": ("ensemble", "RandomForestClassifier", {}),
}
"""Names of learners: module, class and settings in scikit-learn."""


def named_learners(names: Iterable[str], categories: Iterable[int] = ()) -> dict[str, Any]:
    """Learners by their names in ``LEARNERS``; ``categories`` are columns of codes of categories.

    Raises
    ------
    InputError
        An unknown name.

    Examples
    --------
    >>> list(named_learners(["nb", "tree"]))
    ['nb', 'tree']
    """
    made = dict[str, Any]()
    for name in names:
        check_choice("learners", name, LEARNERS)
        module, kind, settings = LEARNERS[name]
        learner = getattr(import_module(f"sklearn.{module}"), kind)
        made[name] = prepared(learner(**settings), list(categories))
    return made


def prepared(learner: Any, categories: list[int]) -> Any:
    """Pipeline of imputation, scaling, coding of these columns of categories, and a learner."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

    numbers = SimpleImputer(strategy="median", keep_empty_features=True), StandardScaler()
    if not categories:  # a ColumnTransformer takes longer than many fits, and gives the same bits
        return make_pipeline(FunctionTransformer(np.asfortranarray), *numbers, learner)
    coded = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    parts = [("categories", coded, categories)]
    return make_pipeline(ColumnTransformer(parts, remainder=make_pipeline(*numbers)), learner)


class Items(NamedTuple):
    """Items of a table, for ``repeated_cross_validation``.

    Attributes
    ----------
    attributes : ndarray, shape (n_items, n_attributes)
        Numbers, NaN where one is missing; of a column of words their codes.
    labels : ndarray, shape (n_items,)
    categories : list of int
        Columns that are codes of words.
    sentence : str
        Which columns were read, and which were not.
    """

    attributes: FloatArray
    labels: Any
    categories: list[int]
    sentence: str


def read_task(
    source: str | os.PathLike[str] | Any,
    target: str | None = None,
    use: Sequence[str] = (),
    leave_out: Sequence[str] = (),
) -> Items:
    """Attributes and labels of a table of items, for ``repeated_cross_validation``.

    Parameters
    ----------
    source : path or data frame
        One row per item.
    target : str, optional
        Column of the labels; default the one named label, target, y, ...
    use, leave_out : sequence of str
        Columns that are attributes (default all others), and columns that are none.

    Returns
    -------
    Items

    Raises
    ------
    InputError
        No such column, no attributes, a missing label, a word among numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1, 2], "kind": ["a", "b"], "y": [0, 1]})
    >>> read_task(frame, "y").attributes.tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """
    table = read_table(source)
    named = [name for name in table.columns if place_in("label", name) is not None]
    if target is None and len(named) != 1:
        problem = f"{listed(named) if named else 'no column'} may hold the classes"
        raise table.error(problem, "target", "say which with {option}")
    target = table.find(named[0] if target is None else str(target), "target")
    left = {table.find(name, "leave_out") for name in leave_out} | {target}
    chosen = [table.find(name, "use") for name in use or table.columns]
    chosen = [name for name in chosen if name not in left]
    if not chosen:
        raise table.error(f"there are no attributes, only {quoted(target)}")
    columns, categories = [], []
    for place, name in enumerate(chosen):
        cells = [str(cell).strip() for cell in table.columns[name]]
        numbers = table.parsed(name)
        words = [row for row in numbers.bad if cells[row] != "?"]
        if not words:
            columns.append(numbers.value)
        elif np.isfinite(numbers.value).any():
            raise table.bad_cells(name, words, "the column has numbers, so that this must be one")
        else:  # codes in alphabetical order; a missing word is one of its own
            columns.append(np.unique(cells, return_inverse=True)[1].astype(float))
            categories.append(place)
    names = table.names(target)
    try:
        labels = names.astype(float)  # 10 is larger than 9
    except ValueError:
        labels = names.astype(str)
    parts = [f"classes from {quoted(target)}", f"attributes from {listed(chosen)}"]
    sentence = describe_parts(table, parts, [target, *chosen])
    return Items(np.column_stack(columns), labels, categories, sentence)
