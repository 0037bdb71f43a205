"""Ctrl-C ends the command, also where a library swallows it.

Python raises ``KeyboardInterrupt`` wherever the main thread happens to be. In a destructor or in
the callback of a weak reference it is printed and forgotten, a bare ``except`` drops it, and nutpie
returns the draws that it has. So the first Ctrl-C is remembered, and repeated until the command
ends. A process that is still there after five seconds, or at a second Ctrl-C, is ended at once. In
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

from bayes_sota.whole_files import remove_drafts

__all__ = ["INTERRUPTED", "run_until_interrupted"]

INTERRUPTED = ("interrupted; no file is left half-written", 130)  # message and exit code

_PAUSE = 1.0  # seconds
_REPETITIONS = 4
_SAME = 0.5  # seconds in which signals count as one: timeout(1) sends two, runners pass theirs on


def run_until_interrupted[T](command: Callable[[], T]) -> T:
    """Result of what this process is for; after Ctrl-C ``KeyboardInterrupt``, and then its end.

    Nothing is changed where Ctrl-C belongs to another: outside the main thread, where it is
    ignored (``nohup``, background jobs) and where it has another handler.
    """
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return command()
    watch = _Watch()
    try:
        signal.signal(signal.SIGINT, watch.on_signal)
        return command()
    finally:
        try:
            watch.end()
        except KeyboardInterrupt:  # came at this very moment
            watch.end()
        if watch.first is not None:
            remove_drafts()
            raise KeyboardInterrupt


class _Watch:
    """Handler of SIGINT, and the thread that repeats the signal."""

    def __init__(self) -> None:
        self.first: float | None = None  # when Ctrl-C was pressed
        self.repeated = False
        self.ended = False
        self.turn = threading.Lock()
        self.process = os.getpid()

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Raise ``KeyboardInterrupt``, as without this handler, and see to it that it acts."""
        if os.getpid() != self.process:  # a fork, which its parent ends
            raise KeyboardInterrupt
        if self.first is None:
            self.first = time.monotonic()
            # threading.Thread would take locks that the interrupted code may hold.
            _thread.start_new_thread(self._insist, ())
        elif self.repeated:
            self.repeated = False
        elif time.monotonic() > self.first + _SAME:
            self._leave()
        if not self.ended:
            raise KeyboardInterrupt

    def end(self) -> None:
        """Repeat nothing any more; without Ctrl-C, give the signal back."""
        with self.turn:
            self.ended = True
        if self.first is None:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _insist(self) -> None:
        for _ in range(_REPETITIONS):
            time.sleep(_PAUSE)
            with self.turn:
                if not self.ended:
                    self.repeated = True
                    _interrupt_main_thread()
        time.sleep(_PAUSE)
        self._leave()

    def _leave(self) -> None:
        """End the process from any thread and in any state; ``sys.stderr`` could be locked."""
        message, code = INTERRUPTED
        try:
            _kill_children()
            remove_drafts()
            show_cursor = b"\x1b[?25h" if os.isatty(2) else b""  # a progress bar hides it
            complaint = b"" if self.ended else f"\nerror: {message}\n".encode()
            os.write(2, show_cursor + complaint)
        finally:
            os._exit(code)


def _interrupt_main_thread() -> None:
    if sys.platform == "win32":
        signal.raise_signal(signal.SIGINT)
    else:  # wakes the main thread if it waits in a system call
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _kill_children() -> None:
    """Kill those of multiprocessing and joblib; one may just be starting."""
    processes = sys.modules.get("multiprocessing.process")
    with suppress(Exception):
        for child in processes.active_children() if processes else ():
            child.kill()
