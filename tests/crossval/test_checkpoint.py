"""A run that was ended goes on where it was, to the same bits; other runs' folders are refused."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from crossval_runs import LEARNERS, Odd, X, run, same
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.errors import InputError
from bayes_sota.core.files import locked_folder
from bayes_sota.crossval.run import CrossValidation


class Interrupt:
    """Rule that stands for Ctrl-C after two iterations."""

    name = "interrupt"

    def decided(self, runs: CrossValidation) -> bool:
        if runs.n_iterations == 2:
            raise KeyboardInterrupt
        return False


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoint of a run that was interrupted after two of four iterations."""
    folder = tmp_path_factory.mktemp("kept") / "run"
    with pytest.raises(KeyboardInterrupt):
        run(iterations=4, rule=Interrupt(), checkpoint=folder)
    assert len(list(folder.glob("iteration-*.npz"))) == 2
    return folder


@pytest.fixture
def folder(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "run"))


def test_an_interrupted_run_goes_on_to_the_same_bits(folder: Path) -> None:
    written = [path for path in folder.iterdir() if path.name != ".lock"]
    before = {path.name: path.stat().st_mtime_ns for path in written}
    assert same(run(iterations=4, checkpoint=folder), run(iterations=4))
    assert {name: (folder / name).stat().st_mtime_ns for name in before} == before
    assert len([path for path in folder.iterdir() if path.name != ".lock"]) == 5
    (folder / "iteration-00001.npz").unlink()
    assert same(run(iterations=2, checkpoint=folder), run(iterations=2))


def test_the_seed_of_a_checkpoint_is_taken_where_none_is_given(folder: Path) -> None:
    assert run(iterations=3, checkpoint=folder, random_seed=None).random_seed == 0


def test_what_fits_said_is_kept_too(tmp_path: Path) -> None:
    for how in ("fail", "warn"):
        odd = {"nb": GaussianNB(), "odd": Odd(how, float(X[0, 0]))}
        first = run(odd, iterations=2, checkpoint=tmp_path / how)
        assert first.messages
        assert same(run(odd, iterations=2, checkpoint=tmp_path / how), first)


@pytest.mark.parametrize(
    ("estimators", "settings", "message"),
    [
        (LEARNERS, {"X": X + 1}, "data: [0-9a-f]{16} there, [0-9a-f]{16} here"),
        (LEARNERS, {"random_seed": 1}, "seed: 0 there, 1 here"),
        (LEARNERS, {"folds": 5}, "folds: 3 there, 5 here"),
        (LEARNERS, {"scoring": "accuracy"}, "scoring: roc_auc there, accuracy here"),
        ({**LEARNERS, "b": GaussianNB()}, {}, "learners: .nb, tree. there, .nb, tree, b. here"),
        (dict(reversed(LEARNERS.items())), {}, "learners: .nb, tree. there, .tree, nb. here"),
        (
            {"nb": GaussianNB(), "tree": DecisionTreeClassifier(max_features=4)}, {},
            "learners tree max_features: 3 there, 4 here",
        ),
        (
            {"nb": GaussianNB(), "tree": GaussianNB()}, {},
            "learners tree class: .*DecisionTreeClassifier there, .*GaussianNB here",
        ),
    ],
)  # fmt: skip
def test_a_checkpoint_of_another_run_is_refused(
    estimators: Any, settings: dict[str, Any], message: str, folder: Path
) -> None:
    with pytest.raises(InputError, match=f"is of another run: {message}.*; name another folder"):
        run(estimators, iterations=4, checkpoint=folder, **settings)


def test_other_versions_are_another_run(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["versions"]["scikit-learn"] = "0.1"
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(InputError, match=r"versions scikit-learn: 0\.1 there"):
        run(checkpoint=folder)


def bytes_of(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(change(path.read_bytes()))

    return damage


def rewritten(**changes: Any) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with np.load(path) as stored:
            arrays = dict(stored)
        np.savez(path, **{**arrays, **changes})

    return damage


@pytest.mark.parametrize(
    "damage",
    [
        bytes_of(lambda content: content[:-200]),
        bytes_of(lambda content: content[:2000] + bytes([content[2000] ^ 1]) + content[2001:]),
        bytes_of(lambda _: b"PK\x03\x04"),
        lambda path: shutil.copy(path.with_name("iteration-00000.npz"), path),
        rewritten(scores=np.array([{}], dtype=object)),
        rewritten(scores=np.zeros((9, 9))),
        rewritten(probabilities=np.zeros((2, 400_000))),
        rewritten(run=np.zeros(16, np.uint8)),
        rewritten(messages=np.frombuffer(b'[{"kind": 1}]', np.uint8)),
    ],
)
def test_a_damaged_iteration_is_named(damage: Callable[[Path], Any], folder: Path) -> None:
    damage(folder / "iteration-00001.npz")
    with pytest.raises(InputError, match=r"iteration-00001\.npz is no finished iteration .*delete"):
        run(iterations=4, checkpoint=folder)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seed": 1}', "\x00"])
def test_a_damaged_manifest_is_named(text: str, folder: Path) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        run(checkpoint=folder)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="is no checkpoint: it has other files"):
        run(checkpoint=tmp_path)
    with pytest.raises(InputError, match="cannot write"):
        run(checkpoint=tmp_path / "thesis.tex")


def test_a_checkpoint_belongs_to_one_run_at_a_time(folder: Path) -> None:
    with (
        locked_folder(folder),
        pytest.raises(InputError, match=r"another run is writing to .*: wait until it has ended"),
    ):
        run(iterations=4, checkpoint=folder)


KILLED = """
import sys
sys.path.insert(0, {tests!r})
from crossval_runs import run
if __name__ == "__main__":
    run(iterations=400, cores={cores}, checkpoint={folder!r})
"""


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2])
def test_a_killed_run_goes_on_to_the_same_bits(cores: int, tmp_path: Path) -> None:
    folder, tests = tmp_path / "run", Path(__file__).parents[1]
    script = tmp_path / "script.py"
    script.write_text(KILLED.format(tests=str(tests), cores=cores, folder=str(folder)))
    for _ in range(3):
        kept = len(list(folder.glob("iteration-*.npz")))
        process = subprocess.Popen([sys.executable, script], start_new_session=True)
        while len(list(folder.glob("iteration-*.npz"))) < kept + 5:
            assert process.poll() is None
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    finished = len(list(folder.glob("iteration-*.npz")))
    assert finished < 400
    assert same(run(iterations=finished + 3, checkpoint=folder), run(iterations=finished + 3))
