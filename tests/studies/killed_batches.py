"""Runs of ``batch`` that are killed, or started several at once into one folder: nothing is lost.

Each run is a process of its own: a fork of one that has the libraries loaded, which starts at once.
One to three begin within a moment of each other, most with ``--resume``, and most get SIGKILL or
SIGTERM at a random time. Nothing says which seed is to be taken: the first run that gets the folder
draws it. After each such wave all results in the folder must be those of an undisturbed run of that
seed, byte for byte, and none of those that were there may have gone; in the end the folder must be
the same as a whole.

    python tests/studies/killed_batches.py --runs 200
"""

import os

os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}

import argparse
import itertools
import json
import random
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import bayes_sota as bs
from bayes_sota.cli import main

BOARDS, WAVES = 8, 3  # boards of a manifest; waves of runs into one folder
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, None)
REFUSALS = ("another run is writing to ", "has results already: --resume goes on with them")


def written_manifest(folder: Path) -> Path:
    """Boards of which one fails, and a third have a file."""
    (folder / "board.csv").write_text(
        "name,score\n" + "".join(f"t{i},{(180 - 2 * i) / 200}\n" for i in range(12))
    )
    rows = [
        f"file-{i},board.csv,200,,,50,2"
        if i % 3 == 2
        else f"best-{i},,200,0.{90 + i % 9},{40 + i},50,2"
        for i in range(BOARDS - 1)
    ]
    path = folder / "manifest.csv"
    header = "identifier,file,n_test,maximum,classifiers,draws,chains"
    path.write_text("\n".join([header, *rows, "fails,nowhere.csv,200,,,50,2"]) + "\n")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Files of a folder with results, by their names; what is hidden is no result."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.name[0] != "."]
    if not any(path.match("boards/*.json") for path in paths):
        return {}  # a run without a result may be begun anew
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def start(manifest: Path, folder: Path, said: Path, *more: str) -> int:
    """Number of a new process that runs the command."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a process with threads should not fork
        number = os.fork()
    if number:
        return number
    code = 70
    try:
        out = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        main(["batch", str(manifest), "--output-dir", str(folder), "--quiet", "--text", *more])
    except SystemExit as stop:
        code = int(stop.code or 0)
    finally:
        sys.stderr.flush()
        os._exit(code)


def wave(manifest: Path, folder: Path, drawn: random.Random, most: int, long: float) -> Counter:
    """Start some runs, send signals to most of them, and say how each ended."""
    logs = [folder.with_name(f"{folder.name}-{i}.txt") for i in range(drawn.randint(1, most))]
    running: dict[int, tuple[float, signal.Signals | None, Path]] = {}
    for log in logs:
        more = ["--cores", "2"] * (drawn.random() < 0.1) + ["--resume"] * (drawn.random() < 0.6)
        number = start(manifest, folder, log, *more)
        running[number] = (
            time.monotonic() + drawn.uniform(0, 0.6 * long),
            drawn.choice(SIGNALS),
            log,
        )
        time.sleep(drawn.choice((0, 0, drawn.uniform(0, 0.2))))
    ended: Counter = Counter()
    while running:
        for number, (moment, how, log) in list(running.items()):
            done, status = os.waitpid(number, os.WNOHANG)
            if done:
                del running[number]
                ended[how_it_ended(os.waitstatus_to_exitcode(status), log)] += 1
            elif how is not None and time.monotonic() > moment:
                os.kill(number, how)
                running[number] = (float("inf"), how, log)
        time.sleep(0.005)
    return ended


def how_it_ended(code: int, log: Path) -> str:
    text = log.read_text()
    if code == 1 and f"1 of {BOARDS} boards failed" in text:
        return "finished"
    if code == 2 and text.startswith("error: ") and text.count("\n") == 1:
        for reason in REFUSALS:
            if reason in text:
                return f"refused: {reason.split(':')[0].strip()}"
    if code in (-signal.SIGKILL, -signal.SIGTERM, 128 + signal.SIGTERM):
        return "killed" if code == -signal.SIGKILL else "terminated"
    return f"exit code {code}: {text[-300:]}"


def undisturbed(manifest: Path, run: Path, folder: Path) -> dict[str, bytes]:
    """Files of a folder in which one run of the same seed and start ends without a signal."""
    folder.mkdir()
    shutil.copy(run / "batch.json", folder)
    bs.estimate_many(manifest, folder, resume=True)
    return contents(folder)


def study(runs: int, seed: int) -> dict:
    """Figures of so many runs."""
    drawn, ended, problems = random.Random(seed), Counter(), []
    compared = waves = folders = 0
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        manifest = written_manifest(place)
        bs.estimate_many(manifest, place / "first")  # loads what the forks need
        begun = time.monotonic()
        bs.estimate_many(manifest, place / "second")
        long = time.monotonic() - begun
        while ended.total() < runs:
            folder, seen = place / f"run-{folders}", []
            folder.mkdir()
            for _ in range(WAVES):
                if ended.total() < runs:
                    most = min(3, runs - ended.total())
                    ended += wave(manifest, folder, drawn, most, long)
                    seen.append(contents(folder))
            log = place / "last.txt"
            _, status = os.waitpid(start(manifest, folder, log, "--resume"), 0)
            last = how_it_ended(os.waitstatus_to_exitcode(status), log)
            if last != "finished":
                problems.append(f"{folder.name}: the last run did not finish: {last}")
            seen.append(contents(folder))
            wanted = undisturbed(manifest, folder, place / f"whole-{folders}")
            if seen[-1] != wanted:
                problems.append(f"{folder.name}: is not the undisturbed folder in the end")
            for before, after in itertools.pairwise([{}, *seen]):
                problems += [f"{folder.name}: {n} lost" for n in before if n not in after]
                mixed = [n for n, content in after.items() if wanted.get(n) != content]
                problems += [f"{folder.name}: {n} differs" for n in mixed]
                compared += len(after)
            problems += [f"{folder.name}: {p.name} is left" for p in folder.rglob(".bayes-sota-*")]
            folders, waves = folders + 1, waves + len(seen) - 1
    problems += [how for how in ended if how.startswith("exit code")]
    return {
        "runs": ended.total(), "waves": waves, "folders": folders, "ended": dict(ended),
        "files_compared": compared, "seconds_of_a_run": round(long, 2), "problems": problems,
    }  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    found = study(**vars(parser.parse_args()))
    print(json.dumps(found, indent=2))
    sys.exit(bool(found["problems"]))
