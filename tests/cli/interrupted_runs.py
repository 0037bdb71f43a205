"""Runs that meet a signal at a bad moment; ``test_interrupts.py`` starts a process for each."""

import atexit
import multiprocessing
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from bayes_sota.cli import interrupts
from bayes_sota.cli.main import main
from bayes_sota.core.files import whole_file

SIGNAL = signal.SIGINT


def press() -> None:
    signal.raise_signal(SIGNAL)


def press_in_a_destructor() -> None:
    class Dying:
        def __del__(self) -> None:
            press()

    Dying()


def swallow(action: Callable[[], None]) -> None:
    with suppress(BaseException):
        action()


class BeforeImport:
    """Act when a module is about to be imported."""

    def __init__(self, module: str, action: Callable[[], None]) -> None:
        self.module, self.action = module, action
        sys.meta_path.insert(0, self)

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == self.module:
            sys.meta_path.remove(self)
            self.action()


def press_while_compiling() -> None:
    import nutpie

    compile_model = nutpie.compile_pymc_model

    def compile_and_press(*arguments: object, **options: object) -> object:
        threading.Timer(0.5, press).start()
        return compile_model(*arguments, **options)

    nutpie.compile_pymc_model = compile_and_press


def swallowed_once(path: Path) -> None:
    press_in_a_destructor()
    time.sleep(60)


def swallowed_then_failed(path: Path) -> None:
    swallow(press)
    raise ValueError("fewer draws than asked for")


def swallowed_then_finished(path: Path) -> None:
    swallow(press)


def writing(path: Path) -> None:
    with whole_file(path) as draft:
        draft.write_text("half")
        press()


def always_swallowed(path: Path) -> None:
    """Goes on with half a file, and with a process that holds standard output."""
    multiprocessing.Process(target=deaf).start()
    with whole_file(path) as draft:
        draft.write_text("half")
        swallow(press)
        deaf()


def deaf() -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        swallow(lambda: time.sleep(1))


def pressed_twice(path: Path) -> None:
    interrupts._PAUSE = 60
    swallow(press)
    time.sleep(interrupts._SAME)
    swallow(press)
    deaf()


def hanging_exit(path: Path) -> None:
    atexit.register(deaf)
    press()


def odd_output(path: Path) -> None:
    """Names that no code page has, a warning of a library, and more than a pipe takes."""
    warnings.warn("one\ntwo", stacklevel=1)
    print("Zoë 北京 \udc80")
    for _ in range(int(path.name)):
        print("x" * 100)


def pressed_at_the_end(path: Path) -> None:
    atexit.register(press)


MOMENTS = {
    "importing": lambda: BeforeImport("pymc", press),
    "swallowed by a destructor": lambda: BeforeImport("pymc", press_in_a_destructor),
    "compiling": press_while_compiling,
}

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    interrupts._PAUSE = 0.2
    moment = sys.argv.pop(1)
    if "=" in moment:
        moment, _, number = moment.partition("=")
        SIGNAL = signal.Signals(int(number))
    if moment == "starting":
        BeforeImport("click", press)
        main()
    import click

    from bayes_sota.cli.commands import cli

    for function in (
        swallowed_once, swallowed_then_failed, swallowed_then_finished, writing,
        always_swallowed, pressed_twice, hanging_exit, odd_output, pressed_at_the_end,
    ):  # fmt: skip
        cli.command()(click.argument("path", type=Path)(function))
    MOMENTS.get(moment, lambda: None)()
    main()
