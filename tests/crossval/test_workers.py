"""The number and kind of workers change no bit; a cluster may lose one in the middle."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from crossval_runs import Countdown, Odd, X, run, same
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.tree import DecisionTreeClassifier

from bayes_sota.core.errors import InputError

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]
LEARNERS = {
    "nb": GaussianNB(), "tree": DecisionTreeClassifier(max_features=3),
    "logistic": LogisticRegression(max_iter=50), "odd": Odd("fail", float(X[0, 0])),
    "mlp": MLPClassifier((20, 20), max_iter=20),
}  # fmt: skip
CLUSTER: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "processes": True}


def test_the_number_of_workers_changes_nothing() -> None:
    alone = run(LEARNERS, iterations=4)
    assert alone.messages
    assert same(run(LEARNERS, iterations=4, cores=2), alone)
    assert same(run(LEARNERS, iterations=4, cores=3), alone)
    early = run(LEARNERS, iterations=4, rule=Countdown(2))
    assert same(run(LEARNERS, iterations=4, rule=Countdown(2), cores=2), early)


def test_a_cluster_that_loses_a_worker_loses_nothing(tmp_path: Path) -> None:
    from distributed import Client, LocalCluster

    alone = run(LEARNERS, iterations=20)
    kept = tmp_path / "kept"

    def kill_one(client: Client) -> None:
        while len(list(kept.glob("iteration-*"))) < 3:
            time.sleep(0.01)
        process = next(iter(client.run(os.getpid).values()))
        killed.append((process, len(list(kept.glob("iteration-*")))))
        os.kill(process, signal.SIGKILL)

    killed: list[tuple[int, int]] = []
    with LocalCluster(n_workers=2, local_directory=tmp_path / "dask", **CLUSTER) as cluster:
        with Client(cluster.scheduler_address, set_as_default=False) as client:
            thread = threading.Thread(target=kill_one, args=(client,))
            thread.start()
            found = run(LEARNERS, iterations=20, dask=client, checkpoint=kept)
            thread.join()
        assert killed[0][1] < 20
        assert same(found, alone)
        assert len(list(kept.glob("iteration-*"))) == 20
        by_address = run(LEARNERS, iterations=2, dask=cluster.scheduler_address)
        assert same(by_address, run(LEARNERS, iterations=2))


def test_an_address_that_does_not_answer_is_said_soon() -> None:
    start = time.monotonic()
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        run(dask="tcp://127.0.0.1:9")
    assert time.monotonic() - start < 10


def test_a_cluster_without_workers_is_refused(tmp_path: Path) -> None:
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=0, local_directory=tmp_path, **CLUSTER) as cluster,
        pytest.raises(InputError, match="has no workers: start some with dask worker"),
    ):
        run(dask=cluster.scheduler_address)
