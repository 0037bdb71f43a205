"""Questions of the local page, answered one after the other by the commands themselves.

The page answers at any moment: commands run in a process of their own, which is ended when one of
them takes too long or is cancelled. There is one queue, and one lock for it. The folder of the
results is private, belongs to the page, and holds the last few results.
"""

import secrets
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

import click

from bayes_sota.cli.app.forms import Form, Values, shell_command
from bayes_sota.cli.app.worker import Worker
from bayes_sota.core.errors import InputError

_KEPT = 10  # results; a whole board's netCDF file can have 100 MB
_WAITING = 5  # questions, and files that are asked for, at a time
_LIMIT = 120.0  # seconds of a command

FURTHER = {
    "table.csv": "--table",
    "figure.svg": "--figure",
    "figure.pdf": "--figure",
    "result.nc": "--output",
}
"""Files that the command of a result writes when somebody asks for them, and their options."""


class Busy(InputError):
    """Too many questions wait already."""


@dataclass(eq=False)
class Run:
    """One run of a command.

    Attributes
    ----------
    arguments, shown : sequence of str
        As they are run, and as a report shows them.
    folder : Path
        Of the files that it writes, which no other run uses.
    printed : Path or None
        File of what the command prints.
    problem : str
        After the run, why it gave nothing, in one line.
    began : float or None
        None while it waits for its turn.
    """

    arguments: Sequence[str]
    shown: Sequence[str]
    folder: Path
    printed: Path | None = None
    problem: str = ""
    began: float | None = None
    done: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True)
class Job:
    """A question with what was typed, its folder, names of the files that came, and its runs."""

    form: Form
    values: Values
    folder: Path
    names: dict[Path, str] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Its address, which nobody can guess."""
        return self.folder.name

    @property
    def answer(self) -> Run:
        """The run that wrote the report, or will."""
        return self.runs["report.html"]

    @property
    def unfinished(self) -> Run | None:
        """A run that is not done yet."""
        return next((run for run in list(self.runs.values()) if not run.done.is_set()), None)

    def told(self, run: Run) -> str:
        """Why a run gave nothing, with the names of files that their owner knows."""
        said = run.problem
        for path, name in self.names.items():
            said = said.replace(str(path), name)
        return said


type Prepare = Callable[[Job, Path], tuple[Sequence[str], Sequence[str]]]
"""Puts the files of a question into a folder; arguments as they are run, and as they are shown."""


class Jobs:
    """The queue, the worker, and the last results."""

    def __init__(
        self, group: click.Group, folder: Path, warm_up: Sequence[Sequence[str]] = ()
    ) -> None:
        """Start the worker.

        Parameters
        ----------
        group : click.Group
            All commands.
        folder : Path
            It is there and private.
        warm_up : sequence
            Commands to run while nobody asks anything, for whose sake libraries are loaded.
        """
        self.group = group
        self._folder = folder
        self._warm_up = warm_up
        self._jobs: dict[str, Job] = {}
        self._turn = threading.Condition()
        self._queue: list[Run] = []  # the first is being computed, or is next
        self._later: list[Run] = []
        self._worker: Worker | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker, and what it is doing."""
        with self._turn:
            self._closed = True
            self._turn.notify()
            if self._worker is not None:
                self._worker.kill()
        self._thread.join()

    def ask(self, form: Form, values: Values, prepare: Prepare) -> Job:
        """A job whose command will write its report and its JSON; the oldest makes room.

        Raises
        ------
        Busy
            Too many are waiting.
        InputError
            Whatever is wrong with the question.
        """
        job = Job(form, values, self._folder / secrets.token_urlsafe(12))
        folder = job.folder / "answer"
        with self._turn:
            self._check_room()
            folder.mkdir(mode=0o700, parents=True)
            try:
                arguments, shown = prepare(job, folder)
            except BaseException:
                shutil.rmtree(job.folder)
                raise
            with_page = [*arguments, "--json", "--report", str(folder / "report.html")]
            run = Run(with_page, shown, folder, folder / "result.json")
            job.runs["report.html"] = job.runs["result.json"] = run
            self._make_room()
            self._jobs[job.key] = job
            self._put(run)
        return job

    def _check_room(self) -> None:
        if len(self._queue) >= _WAITING:
            raise Busy("too many questions wait for their answer: try again in a minute")

    def _make_room(self) -> None:
        """Drop the oldest results; what is not done stays, and there are few of these."""
        done = [job for job in self._jobs.values() if job.unfinished is None]
        for job in done[: max(0, len(self._jobs) + 1 - _KEPT)]:
            del self._jobs[job.key]
            shutil.rmtree(job.folder, ignore_errors=True)

    def _put(self, run: Run) -> None:
        self._queue.append(run)
        self._turn.notify()

    def find(self, key: str) -> Job | None:
        """The job of an address, if it is still there."""
        return self._jobs.get(key)

    def further(self, job: Job, name: str) -> Run:
        """Let the command, which gives the same numbers again, write one of ``FURTHER``."""
        with self._turn:
            if name not in job.runs:
                self._check_room()
                folder, answer = job.folder / secrets.token_hex(4), job.answer
                folder.mkdir(mode=0o700)
                asked = answer.arguments[:-3]  # without JSON and report
                arguments = [*asked, "--quiet", FURTHER[name], str(folder / name)]
                job.runs[name] = Run(arguments, answer.shown, folder)
                self._put(job.runs[name])
            return job.runs[name]

    def cancel(self, job: Job) -> None:
        """End what is not done yet of a job; its other files can be asked for again."""
        with self._turn:
            for name, run in list(job.runs.items()):
                if not run.done.is_set():
                    self._stop(run, "this question was cancelled")
                    if run is not job.answer:
                        del job.runs[name]

    def _stop(self, run: Run, why: str) -> None:
        """Give a run up; a worker that is at it is killed, which its thread sees and tidies up."""
        run.problem = why
        if run.began is None:
            self._settle(run)
        elif self._worker is not None:
            self._worker.kill()

    def _settle(self, run: Run) -> None:
        """A run is done; files of one that gave nothing go."""
        if run in self._queue:
            self._queue.remove(run)
        if run.problem:
            shutil.rmtree(run.folder, ignore_errors=True)
        run.done.set()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            self._carry_out(*job)
        if self._worker is not None:
            self._worker.close()

    def _next(self) -> tuple[Run, Worker] | None:
        """What is asked for or, while nothing is, what warms a new worker up; None at the end."""
        with self._turn:
            while not self._closed:
                if self._worker is None:
                    self._start()
                self._turn.wait_for(lambda: self._closed or self._queue or self._later)
                if self._worker is not None and not self._closed:
                    run = self._queue[0] if self._queue else self._later.pop(0)
                    run.began = time.monotonic()
                    return run, self._worker
            return None

    def _start(self) -> None:
        """A new worker; where the system refuses one, those who wait are told."""
        scratch = self._folder / "work"
        try:
            self._worker = Worker(scratch)
        except OSError as error:
            shutil.rmtree(scratch, ignore_errors=True)
            for run in self._queue.copy():
                why = error.strerror or error
                run.problem = f"the system starts no computation ({why}); {_again(run)}"
                self._settle(run)
            return
        report = ("--json", "--report", str(scratch / "warm-up.html"))
        self._later = [Run([*line, *report], (), scratch / "none") for line in self._warm_up]

    def _carry_out(self, run: Run, worker: Worker) -> None:
        """Let the worker run a command for as long as it may."""
        limit = threading.Timer(_LIMIT, self._stop_late, (run,))
        limit.start()
        said = worker.run(run.arguments, run.shown, run.printed)
        limit.cancel()
        with self._turn:
            if said is None and not run.problem:
                run.problem = (
                    f"the system ended the computation, perhaps to save memory; {_again(run)}"
                )
                self._warm_up = ()  # they could be what it cannot do
            if run.problem:
                worker.close()
                self._worker = None
            run.problem = run.problem or said or ""
            self._settle(run)

    def _stop_late(self, run: Run) -> None:
        with self._turn:
            if not run.done.is_set():
                late = f"the answer takes longer than the {_LIMIT:g} seconds of this page"
                self._stop(run, f"{late}; {_again(run)}")


def _again(run: Run) -> str:
    return f"the shell has no such limit: {shell_command(run.shown)}"
