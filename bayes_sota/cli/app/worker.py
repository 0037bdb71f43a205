"""A process in which the local page runs commands, one after the other.

It can be ended at any moment without harm to the page: because a command takes too long, because
nobody waits for it any more, or by the system, which needs its memory.
"""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import click

from bayes_sota.cli.main import exit_code

_PROGRAM = "from bayes_sota.cli import main; main()"


class Worker:
    """The process as the page sees it."""

    def __init__(self, folder: Path) -> None:
        """Start it; ``folder`` becomes the one of its temporary files."""
        self._folder = folder
        folder.mkdir(mode=0o700)
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", _PROGRAM, "app", "--worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "MPLBACKEND": "agg", "TMPDIR": str(folder)},
            start_new_session=True,  # Ctrl-C is for the page
        )

    def run(
        self, arguments: Sequence[str], shown: Sequence[str], printed: Path | None
    ) -> str | None:
        """Run a command as the shell would; its report shows other arguments.

        Returns
        -------
        str or None
            Why it gave nothing, in one line; nothing if it gave something, and None if the process
            has ended.
        """
        task = {"arguments": list(arguments), "shown": list(shown), "printed": str(printed or "")}
        try:
            print(json.dumps(task), file=self._process.stdin, flush=True)
        except OSError:
            return None
        line = self._process.stdout.readline() if self._process.stdout else ""
        return str(json.loads(line)) if line else None

    def kill(self) -> None:
        """End the process, and those that it started, whatever they do."""
        if self._process.poll() is not None:
            return
        if sys.platform == "win32":
            self._process.kill()
        else:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process and remove its temporary files."""
        self.kill()
        with suppress(OSError), self._process:  # closes its pipes, of which one may be broken
            pass
        self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def work(group: click.Group) -> None:
    """What the process does: a line of JSON for a command, a line for what became of it."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # of what libraries print
    tasks: SimpleQueue[Mapping[str, Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(tasks,), daemon=True).start()
    while True:
        print(json.dumps(_carry_out(group, **tasks.get())), file=answers, flush=True)


def _receive(tasks: "SimpleQueue[Mapping[str, Any]]") -> None:
    """Pass commands on; without a page to send them, the process ends."""
    for line in sys.stdin:
        tasks.put(json.loads(line))
    os._exit(0)


def _carry_out(
    group: click.Group, arguments: Sequence[str], shown: Sequence[str], printed: str
) -> str:
    """Run a command and keep what it prints, or say why it failed."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = exit_code(
            lambda: group.main(
                args=list(arguments), prog_name="bayes-sota", standalone_mode=False, obj=list(shown)
            )
        )
    if code > 1:  # 1 is an answer not to be trusted, as its report says
        return err.getvalue().strip().removeprefix("error: ")
    if printed:
        Path(printed).write_text(out.getvalue(), encoding="utf-8")
    return ""
