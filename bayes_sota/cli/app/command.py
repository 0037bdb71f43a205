"""``bayes-sota app``: a page on this machine with forms for the everyday questions."""

import os
import socket
import threading
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from bayes_sota.core.arguments import Range
from bayes_sota.core.command import command, number_option
from bayes_sota.core.errors import InputError

_HOST = "127.0.0.1"
_PORT = 8463


@command(epilog="Example: bayes-sota app")
@number_option(
    Range(0, 65535, whole=True), "--port", default=_PORT, help="Of this machine; 0 takes any."
)
@click.option("--no-browser", is_flag=True, help="Only print the address.")
@click.option("--worker", is_flag=True, hidden=True, help="Run commands for a page.")
def app(port: int, no_browser: bool, worker: bool) -> int:
    """Open a page with forms: claims, leaderboards, answers, EPP, cross-validation.

    The page runs the same commands on this machine, and shows their reports. Nobody else can reach
    it, nothing leaves this machine, and nothing is kept when it ends (Ctrl-C).
    """
    group: Any = click.get_current_context().find_root().command
    if worker:
        from bayes_sota.cli.app.worker import work

        work(group)
    _check_library()
    from werkzeug.serving import make_server

    from bayes_sota.cli.app.jobs import Jobs
    from bayes_sota.cli.app.pages import Quiet, create_app

    with (
        _listening(port) as listener,
        TemporaryDirectory(prefix="bayes-sota-") as folder,
        Jobs(group, Path(folder), _first_questions(Path(folder))) as jobs,
    ):
        port = listener.getsockname()[1]
        server = make_server(
            _HOST,
            port,
            create_app(jobs, port),
            threaded=True,
            request_handler=Quiet,
            fd=listener.fileno(),
        )
        _announce(f"http://{_HOST}:{port}/", browse=not no_browser)
        server.serve_forever()
    return 0


def _check_library() -> None:
    if find_spec("flask") is None:
        raise InputError("the local page needs the library Flask: pip install 'bayes-sota[app]'")


def _listening(port: int) -> socket.socket:
    """A socket that only this machine reaches."""
    try:
        return socket.create_server((_HOST, port), backlog=32)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise InputError(
            f"port {port} cannot be used ({why}): --port 0 takes any that is free"
        ) from None


def _first_questions(folder: Path) -> list[list[str]]:
    """Small questions that load what the real ones need, and compile it."""
    from bayes_sota.data.examples import write_examples

    examples = folder / "examples"
    write_examples(examples)
    board = [str(examples / "leaderboard.csv"), "--n-test", "250", "--seed", "1"]
    means = ["--mean", "0.81", "0.80", "--sd", "0.1", "0.1", "--n-test", "100"]
    return [
        ["claim", "classification", "--accuracy", "0.90", "0.88", "--n-test", "500"],
        ["claim", "segmentation", *means],
        ["board", *board],
        ["sota", *board],
    ]


def _announce(address: str, *, browse: bool) -> None:
    click.echo(f"The page is at {address} (Ctrl-C ends it).")
    if browse:
        threading.Thread(target=_open, args=(address,), daemon=True).start()


def _open(address: str) -> None:
    import webbrowser

    try:
        opened = webbrowser.open(address)
    except (OSError, webbrowser.Error):
        opened = False
    if not opened:
        click.echo("Note: no browser was found; open the address in one on this machine.", err=True)
