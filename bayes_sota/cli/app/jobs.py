"""Questions of the local page, answered one after the other by the commands themselves.

A command prints to the standard output of the process, and not every library is safe in threads:
so there is one worker. The folder of the results is private, belongs to this process, and holds
the last few results.
"""

import io
import itertools
import secrets
import shutil
import threading
import time
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from queue import PriorityQueue

import click

from bayes_sota.cli.app.forms import Form, Values
from bayes_sota.cli.exit_codes import exit_code
from bayes_sota.core.errors import InputError

_KEPT = 10  # results; a whole board's netCDF file can have 100 MB
_WAITING = 5  # questions, and files that are asked for, at a time
_SOONER, _LATER = 0, 1

FURTHER = {
    "table.csv": "--table", "figure.svg": "--figure", "figure.pdf": "--figure",
    "result.nc": "--output",
}  # fmt: skip
"""Files that the command of a result writes when somebody asks for them, and their options."""


@dataclass(eq=False)
class Run:
    """One run of a command.

    Attributes
    ----------
    arguments, shown : sequence of str
        As they are run, and as a report shows them.
    printed : Path or None
        File of what the command prints.
    problem : str
        After the run, why it gave nothing, in one line.
    """

    arguments: Sequence[str]
    shown: Sequence[str] = ()
    printed: Path | None = None
    problem: str = ""
    began: float = field(default_factory=time.monotonic)
    done: threading.Event = field(default_factory=threading.Event)

    def carry_out(self, group: click.Group) -> None:
        """Run the command as the shell would; keep what it prints, or why it failed."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = exit_code(
                lambda: group.main(
                    args=list(self.arguments), prog_name="bayes-sota", standalone_mode=False,
                    obj=list(self.shown),
                )
            )  # fmt: skip
        if code > 1:  # 1 is an answer not to be trusted, as its report says
            self.problem = err.getvalue().strip().removeprefix("error: ")
        elif self.printed is not None:
            self.printed.write_text(out.getvalue(), encoding="utf-8")


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

    def told(self, run: Run) -> str:
        """Why a run gave nothing, with the names of files that their owner knows."""
        said = run.problem
        for path, name in self.names.items():
            said = said.replace(str(path), name)
        return said


class Jobs:
    """The worker, and the last results."""

    def __init__(self, group: click.Group, folder: Path) -> None:
        """Start the worker; ``folder`` is there and private."""
        self.group = group
        self._folder = folder
        self._jobs: dict[str, Job] = {}
        self._turn = threading.Lock()
        self._count = itertools.count()
        self._queue: PriorityQueue[tuple[int, int, Run]] = PriorityQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def new(self, form: Form, values: Values) -> Job:
        """A job with an empty folder; the oldest makes room.

        Raises
        ------
        InputError
            Too many are waiting.
        """
        job = Job(form, values, self._folder / secrets.token_urlsafe(12))
        with self._turn:
            asked = {run for known in self._jobs.values() for run in list(known.runs.values())}
            if sum(not run.done.is_set() for run in asked) >= _WAITING:
                raise InputError("too many questions wait for their answer: try again in a minute")
            while len(self._jobs) >= _KEPT:
                oldest = self._jobs.pop(next(iter(self._jobs)))
                shutil.rmtree(oldest.folder, ignore_errors=True)
            self._jobs[job.key] = job
            job.folder.mkdir(mode=0o700)
        return job

    def find(self, key: str) -> Job | None:
        """The job of an address, if it is still there."""
        return self._jobs.get(key)

    def ask(self, job: Job, arguments: Sequence[str], shown: Sequence[str]) -> Run:
        """Let the command write its report and its JSON."""
        with_page = [*arguments, "--json", "--report", str(job.folder / "report.html")]
        run = Run(with_page, shown, job.folder / "result.json")
        job.runs["report.html"] = job.runs["result.json"] = run
        return self._put(_SOONER, run)

    def further(self, job: Job, name: str) -> Run:
        """Let the command, which gives the same numbers again, write one of ``FURTHER``."""
        with self._turn:
            if name not in job.runs:
                asked = job.answer.arguments[:-3]  # without report and JSON
                arguments = [*asked, "--quiet", FURTHER[name], str(job.folder / name)]
                job.runs[name] = self._put(_SOONER, Run(arguments))
        return job.runs[name]

    def warm_up(self, *commands: Sequence[str]) -> None:
        """Run commands while nobody asks anything: libraries are loaded, functions compiled."""
        for arguments in commands:
            page = self._folder / "warm-up.html"
            self._put(_LATER, Run([*arguments, "--json", "--report", str(page)]))

    def _put(self, when: int, run: Run) -> Run:
        self._queue.put((when, next(self._count), run))
        return run

    def _work(self) -> None:
        while True:
            _, _, run = self._queue.get()
            try:
                run.carry_out(self.group)
            except Exception as error:  # the folder was dropped
                run.problem = str(error)
            finally:
                run.done.set()
