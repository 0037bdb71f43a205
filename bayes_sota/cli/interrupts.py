"""Ctrl-C, SIGTERM and SIGHUP end the command, also where a library swallows them.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be. In a destructor or in
the callback of a weak reference it is printed and forgotten, a bare ``except`` drops it, and nutpie
returns the draws that it has. So the first signal is remembered, and repeated until the command
ends. A process that is still there after five seconds, or at a second signal, is ended at once. In
each case every file is whole or absent, and no child process stays behind.
"""

import _thread
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

# Number of a signal -> message, and 128 + number as shells have it.
ENDINGS = {
    number: (f"{how}; no file is left half-written", 128 + number)
    for number, how in ((1, "hung up"), (2, "interrupted"), (15, "terminated"))
}

_PAUSE = 1.0  # seconds
_REPETITIONS = 4
_SAME = 0.5  # seconds in which signals count as one: timeout(1) sends two, runners pass theirs on


def run_until_interrupted[T](command: Callable[[], T]) -> T:
    """Result of what this process is for; after a signal ``KeyboardInterrupt`` with its number.

    From then on the signals end the process at once and in silence. Nothing is changed where a
    signal belongs to another: outside the main thread, where it is ignored (``nohup``, background
    jobs) and where it has another handler.
    """
    if threading.current_thread() is not threading.main_thread():
        return command()
    free = (signal.default_int_handler, signal.SIG_DFL)
    known = [number for number in ENDINGS if number in set(signal.Signals)]
    numbers = [number for number in known if signal.getsignal(number) in free]
    watch = _Watch()
    try:
        for number in numbers:
            signal.signal(number, watch.on_signal)
        return command()
    finally:
        try:
            watch.end(numbers)
        except KeyboardInterrupt:  # came at this very moment
            watch.end(numbers)
        if watch.number is not None:
            _remove_drafts()
            raise KeyboardInterrupt(watch.number)


class _Watch:
    """Handler of signals, and the thread that repeats the first one."""

    def __init__(self) -> None:
        self.number: int | None = None
        self.first = 0.0  # when it came
        self.repeated = False
        self.ended = False
        self.turn = threading.Lock()
        self.process = os.getpid()

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Raise ``KeyboardInterrupt``, as without this handler, and see to it that it acts."""
        if os.getpid() != self.process:  # a fork, which its parent ends
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if self.number is None:
            self.number, self.first = number, time.monotonic()
            # threading.Thread would take locks that the interrupted code may hold.
            _thread.start_new_thread(self._insist, (number,))
        elif self.repeated:
            self.repeated = False
        elif time.monotonic() > self.first + _SAME:
            self._leave(self.number)
        if not self.ended:
            raise KeyboardInterrupt(number)

    def end(self, numbers: list[int]) -> None:
        """Repeat nothing any more; without a signal, let the next one end the process."""
        with self.turn:
            self.ended = True
        if self.number is None:
            for number in numbers:
                signal.signal(number, signal.SIG_DFL)

    def _insist(self, number: int) -> None:
        for _ in range(_REPETITIONS):
            time.sleep(_PAUSE)
            with self.turn:
                if not self.ended:
                    self.repeated = True
                    _signal_main_thread(number)
        time.sleep(_PAUSE)
        self._leave(number)

    def _leave(self, number: int) -> None:
        """End the process from any thread and in any state; ``sys.stderr`` could be locked."""
        message, code = ENDINGS[number]
        try:
            _kill_children()
            _remove_drafts()
            show_cursor = b"\x1b[?25h" if os.isatty(2) else b""  # a progress bar hides it
            complaint = b"" if self.ended else f"\nerror: {message}\n".encode()
            os.write(2, show_cursor + complaint)
        finally:
            os._exit(code)


def _signal_main_thread(number: int) -> None:
    if sys.platform == "win32":
        signal.raise_signal(number)
    else:  # wakes the main thread if it waits in a system call
        signal.pthread_kill(threading.main_thread().ident or 0, number)


def _remove_drafts() -> None:
    """Remove half-written files; there are none before the module that writes them is imported."""
    files = sys.modules.get("bayes_sota.core.files")
    if files is not None:
        files.remove_drafts()


def _kill_children() -> None:
    """Kill those of multiprocessing and joblib; one may just be starting."""
    processes = sys.modules.get("multiprocessing.process")
    with suppress(Exception):
        for child in processes.active_children() if processes else ():
            child.kill()
