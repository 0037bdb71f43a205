"""Response matrices from files: formats that are read, and what is refused with its place."""

import gzip
import json
import re
import time
from pathlib import Path

import pytest
from data.files import written

from bayes_sota.core.errors import InputError
from bayes_sota.data.readers.outcomes import (
    looks_like_responses,
    read_evaluations,
    read_responses,
)

TEXT = "item,tree,forest\nx,1,0\ny,0,1\nz,,1\n"
ANSWERS = [[1, 0], [0, 1], [-1, 1]]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.csv", TEXT),
        ("f.csv", "doc_id,tree,forest\nx,True,False\ny,FALSE,true\nz,NaN, 1 \n"),
        ("f.csv", ",tree,forest\nx,1.0,0.0\ny,0.0,1.0\nz,null,1.0\n"),
        ("f.csv", "picture,tree,forest\nx,1,0\ny,0,1\nz,-1,1\n"),
        ("f.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("f.json", '[{"item": "x", "tree": 1, "forest": 0}, {"item": "y", "tree": false, '
                   '"forest": true}, {"item": "z", "tree": null, "forest": 1}]'),
    ],
)  # fmt: skip
def test_formats(tmp_path: Path, name: str, content: str | bytes) -> None:
    path = written(tmp_path, content, name)
    responses = read_responses(path)
    assert responses.correct.tolist() == ANSWERS
    assert (responses.names, responses.items) == (("tree", "forest"), ("x", "y", "z"))
    assert responses.name == "f"
    assert looks_like_responses(path)


@pytest.mark.parametrize("kind", ["int64", "float64", "bool"])
def test_parquet(tmp_path: Path, kind: str) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    cast = {"int64": int, "float64": float, "bool": bool}[kind]
    columns = list(zip(*ANSWERS, strict=True))
    table = {n: [None if a < 0 else cast(a) for a in c] for n, c in zip("ab", columns, strict=True)}
    path = tmp_path / "f.parquet"
    parquet.write_table(pyarrow.table({"picture": ["x", "y", "z"], **table}), path)
    responses = read_responses(path)
    assert responses.correct.tolist() == ANSWERS
    assert (responses.names, responses.items) == (("a", "b"), ("x", "y", "z"))
    assert looks_like_responses(path)


def test_parquet_that_is_none(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "f.parquet"
    parquet.write_table(pyarrow.table({"a": [1, 0], "b": [1, 7]}), path)
    with pytest.raises(InputError, match=r"f\.parquet: row 2, column 'b': 7 is no answer"):
        read_responses(path)
    path.write_bytes(path.read_bytes()[:-20])
    assert not looks_like_responses(path)


def test_items_are_in_the_column_that_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "tree,forest,picture\n1,0,7\n0,1,8\n", "f.csv")
    responses = read_responses(path, item_column="picture")
    assert (responses.names, responses.items) == (("tree", "forest"), ("7", "8"))
    with pytest.raises(InputError, match=r"no column 'photo' \(item_column\)"):
        read_responses(path, item_column="photo")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,a,b\n", "no rows, only the columns 'item', 'a', 'b'"),
        ("item,a,b\nx,1,1\ny,0.5,1\n", "line 3, column 'a': '0.5'"),
        ("a,b,c\n1,0,1\n2,0,1\n1,1,1\n", "line 3, column 'a': '2' is no answer"),
        ("item,a,b\nx,1,1\n,0,1\n", "line 3, column 'item': the item has no name"),
        ("item,a,\nx,1,1\ny,0,1\n", "column 3 has no name"),
        ("1,0,1\n1,0,0\n", "line 1 must name the columns"),
    ],
)
def test_what_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_responses(written(tmp_path, content, "f.csv"))
    assert str(caught.value).startswith(f"{tmp_path / 'f.csv'}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "rank,score\n1,0.9\n2,0.8\n",
        "name,score,note\nus,1,\nthem,0,\n",  # one column of answers, one of nothing
        "item,a\nx,1\ny,0\n",
        "item,a,b\nx,1,1\ny,0,0.5\n",
        "",
        b"\xff\xfe\x00",
        json.dumps({"scores": [1, 0]}),
    ],
)
def test_what_does_not_look_like_responses(tmp_path: Path, content: str | bytes) -> None:
    assert not looks_like_responses(written(tmp_path, content, "f.csv"))


def test_a_long_file_is_recognised_by_its_beginning(tmp_path: Path) -> None:
    rows = "".join(f"item {i} with a long name,1,0\n" for i in range(60_000))
    path = written(tmp_path, "item,a,b\n" + rows, "f.csv")
    assert looks_like_responses(path)


def test_cifar10(data_directory: Path) -> None:
    path = data_directory / "cifar10" / "correct_cifar10_test.csv"
    assert looks_like_responses(path)
    start = time.process_time()
    responses = read_responses(path)
    assert time.process_time() - start < 2
    assert (responses.n_items, responses.n_classifiers) == (10_000, 30)
    assert not responses.has_missing
    assert 0.95 < responses.scores.max() < 0.99
    assert responses.items[:2] == ("0", "1")


def test_leaderboards_are_not_responses(data_directory: Path) -> None:
    for path in (data_directory / "kaggle").glob("*__private.csv"):
        assert not looks_like_responses(path)


LONG = "model,example_id,correct\nm,x,True\nn,x,False\nm,y,1\nn,z,0\n"


def test_a_row_per_classifier_and_item_is_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(LONG)
    found = read_responses(path)
    assert (found.names, found.items) == (("m", "n"), ("x", "y", "z"))
    assert found.correct.tolist() == [[1, 0], [1, -1], [-1, 0]]
    assert looks_like_responses(path)
    assert read_evaluations(path).outcomes == found
    path.write_text(LONG.replace("False", "0.25"))
    assert not looks_like_responses(path)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("m,x,0\n", "line 6: classifier 'm', item 'x' already has an answer on line 2"),
        ("m,z,maybe\n", "line 6, column 'correct': 'maybe' is no answer"),
        (",z,1\n", "line 6, column 'model': the classifier has no name"),
    ],
)
def test_a_slip_in_a_long_table_is_named(tmp_path: Path, more: str, message: str) -> None:
    path = tmp_path / "long.csv"
    path.write_text(LONG + more)
    with pytest.raises(InputError, match=re.escape(message)):
        read_responses(path)
