"""The pages of the local page, and who may have them.

Only a browser on this machine that was sent to this address gets anything: the name of the host is
checked (a stranger's name could lead here), and a question must come from one of these pages with
the token that they carry. Nothing is cached, framed or fetched from elsewhere.
"""

import hmac
import html
import re
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources
from pathlib import Path
from typing import IO, Any, cast
from urllib.parse import urlsplit

from flask import Flask, Response, redirect, render_template, request, send_file
from werkzeug.exceptions import (
    ClientDisconnected,
    HTTPException,
    InternalServerError,
    NotFound,
    RequestEntityTooLarge,
)
from werkzeug.serving import WSGIRequestHandler
from werkzeug.wsgi import LimitedStream, get_content_length

from bayes_sota.cli.app.forms import FORMS, Form, arguments_of, check_size, command_of, fields_of
from bayes_sota.cli.app.jobs import FURTHER, Busy, Job, Jobs, Run
from bayes_sota.core.errors import InputError
from bayes_sota.core.text import plain_text

_LARGEST = 50_000_000  # bytes of a question with its files
_MOST_TEXT, _MOST_PARTS = 200_000, 50
_PATIENCE = 1.0  # seconds until a page says that an answer takes longer
_SILENCE = 3.0  # seconds until a client that sends nothing is left
_DRAINED = 40 * _LARGEST
_ENDINGS = (
    ".csv",
    ".tsv",
    ".txt",
    ".json",
    ".jsonl",
    ".parquet",
    ".xlsx",
    ".xlsm",
    ".zip",
    ".gz",
    ".nc",
)
_POLICY = (
    "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_REFUSED: dict[type[HTTPException], str] = {
    NotFound: "there is no such page",
    InternalServerError: "this is a bug: please report it",
    RequestEntityTooLarge: f"a question may have {_LARGEST // 10**6} MB with its files, "
    f"{_MOST_PARTS} values and {_MOST_TEXT:,} characters in each, this one has more; the shell has "
    "no such limit: bayes-sota --help",
}
_POLICY_OF_REPORT = re.compile(r'http-equiv="Content-Security-Policy" content="([^"]*)"')


class Quiet(WSGIRequestHandler):
    """Requests are not listed, end where they say, and the server does not say what it is."""

    timeout = _SILENCE

    def make_environ(self) -> Any:
        """The request, of which nothing is awaited after its end."""
        environ = super().make_environ()
        environ["wsgi.input"] = LimitedStream(
            cast("IO[bytes]", self.rfile), get_content_length(environ) or 0
        )
        return environ

    def parse_request(self) -> bool:
        """Whether a request can be read; its address is refused here, where it comes in."""
        if not super().parse_request():
            return False
        with suppress(ValueError):
            urlsplit(self.path)
            return True
        self.send_error(400)
        return False

    def log(self, *_: object) -> None: ...

    def log_request(self, *_: object) -> None: ...

    def version_string(self) -> str:
        return "bayes-sota"


def create_app(jobs: Jobs, port: int) -> Flask:
    """The application, for one address.

    Parameters
    ----------
    jobs : Jobs
    port : int
        Of this machine; any other address is refused.

    Returns
    -------
    Flask
    """
    app = Flask(__name__, template_folder="page", static_folder=None)
    app.config.update(
        MAX_CONTENT_LENGTH=_LARGEST, MAX_FORM_MEMORY_SIZE=_MOST_TEXT, MAX_FORM_PARTS=_MOST_PARTS
    )
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    pages = _Pages(jobs, secrets.token_urlsafe(32))
    hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
    app.before_request(lambda: _check_sender(hosts))
    app.after_request(_protect)
    app.register_error_handler(HTTPException, pages.refuse)
    app.add_url_rule("/", view_func=pages.start)
    app.add_url_rule("/style.css", view_func=pages.style)
    app.add_url_rule("/<name>", view_func=pages.form, methods=["GET", "POST"])
    app.add_url_rule("/result/<key>", view_func=pages.result)
    app.add_url_rule("/result/<key>/<name>", view_func=pages.file)
    app.add_url_rule("/result/<key>/cancel", view_func=pages.cancel, methods=["POST"])
    return app


def _check_sender(hosts: set[str]) -> None:
    """Refuse other names of this machine, and questions from other pages."""
    if request.headers.get("Host", "") not in hosts:
        raise _Refused(421, "this page is at 127.0.0.1 only")
    origins = {f"http://{host}" for host in hosts}
    if request.method == "POST" and (
        request.headers.get("Origin") not in origins
        or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin"
    ):
        raise _Refused(403, "this question comes from another page")


def _protect(response: Response) -> Response:
    _drain()
    for name, value in _HEADERS.items():
        response.headers[name] = value
    response.headers.setdefault("Content-Security-Policy", _POLICY)
    return response


class _Refused(HTTPException):
    """An answer that is an error and one line."""

    def __init__(self, code: int, description: str) -> None:
        super().__init__(description)
        self.code = code


class _Pages:
    """What the addresses show."""

    def __init__(self, jobs: Jobs, token: str) -> None:
        self._jobs = jobs
        self._token = token

    def start(self) -> str:
        """All forms."""
        return render_template("start.html", forms=FORMS)

    def style(self) -> Response:
        """The style of the reports, and of forms."""
        core = resources.files("bayes_sota.core").joinpath("page", "report.css")
        own = resources.files("bayes_sota.cli.app").joinpath("page", "app.css")
        text = "".join(part.read_text(encoding="utf-8") for part in (core, own))
        return Response(text, mimetype="text/css")

    def form(self, name: str) -> Any:
        """An empty form; a question is answered at an address of its own."""
        form = next((form for form in FORMS if form.name == name), None)
        if form is None:
            raise NotFound
        if request.method != "POST":
            return self._shown(form)
        self._check_token()
        values = {key: request.form.getlist(key) for key in request.form if key != "token"}
        try:
            job = self._jobs.ask(form, values, self._prepare)
        except InputError as error:
            code = 503 if isinstance(error, Busy) else 422
            return self._shown(form, values, str(error)), code
        job.answer.done.wait(_PATIENCE)
        return redirect(f"/result/{job.key}", 303)

    def _check_token(self) -> None:
        if not hmac.compare_digest(request.form.get("token", "").encode(), self._token.encode()):
            raise _Refused(403, "this form is from an earlier start: open it again")

    def _prepare(self, job: Job, folder: Path) -> tuple[Sequence[str], Sequence[str]]:
        group = self._jobs.group
        names = {f["name"] for f in fields_of(job.form, group) if f["kind"] == "file"}
        seed = secrets.randbelow(2**31)
        run, shown = arguments_of(job.form, group, job.values, _stored(job, folder, names), seed)
        check_size(job.form, group, job.values, shown)
        return run, shown

    def _shown(self, form: Form, values: Any = None, problem: str = "") -> str:
        return render_template(
            "form.html",
            form=form,
            fields=list(fields_of(form, self._jobs.group)),
            values=values or {},
            problem=problem,
            token=self._token,
        )

    def result(self, key: str) -> Any:
        """The report, that it is being computed, or the form again with what was wrong."""
        job = self._found(key)
        if not job.answer.done.wait(_PATIENCE):
            return self._waiting(job, job.answer)
        if job.answer.problem:
            return self._shown(job.form, job.values, job.told(job.answer)), 422
        return self._report(job)

    def _waiting(self, job: Job, run: Run, name: str = "") -> str:
        """A page that asks again by itself."""
        seconds = None if run.began is None else round(time.monotonic() - run.began)
        return render_template(
            "waiting.html", job=job, seconds=seconds, name=name, token=self._token
        )

    def cancel(self, key: str) -> Any:
        """The result without what nobody waits for any more."""
        self._check_token()
        job = self._found(key)
        self._jobs.cancel(job)
        return redirect(f"/result/{job.key}", 303)

    def _report(self, job: Job) -> Response:
        """The report as it is in its file, with links to its files above it."""
        page = (job.answer.folder / "report.html").read_text(encoding="utf-8")
        names = [name for name in self._further(job) if "<figure>" in page or "figure" not in name]
        links = render_template(
            "links.html", form=job.form, key=job.key, names=["report.html", *names, "result.json"]
        )
        policy = _POLICY_OF_REPORT.search(page)
        response = Response(page.replace("<main>", f"<main>\n{links}", 1), mimetype="text/html")
        if policy is not None:
            allowed = f"{html.unescape(policy[1])}; frame-ancestors 'none'"
            response.headers["Content-Security-Policy"] = allowed
        return response

    def _further(self, job: Job) -> list[str]:
        """Files that the command can write."""
        params = command_of(job.form, self._jobs.group).params
        options = {option for param in params for option in param.opts}
        return [name for name, option in FURTHER.items() if option in options]

    def file(self, key: str, name: str) -> Any:
        """A file of a result, which is written when it is asked for first."""
        job = self._found(key)
        run = job.runs.get(name)
        if run is None:
            if name not in self._further(job):
                raise NotFound
            run = self._jobs.further(job, name)
        if not run.done.wait(_PATIENCE):
            return self._waiting(job, run, name)
        if run.problem:
            raise _Refused(422, job.told(run))
        return send_file(run.folder / name, as_attachment=True, download_name=name)

    def _found(self, key: str) -> Job:
        job = self._jobs.find(key)
        if job is None:
            raise _Refused(404, "this result is no longer there: only the last ones are kept")
        return job

    def refuse(self, error: HTTPException) -> Any:
        """One line for anything that is wrong."""
        said = _REFUSED.get(type(error), error.description or "this cannot be done")
        return render_template("refused.html", said=said), error.code or 500


def _stored(job: Job, folder: Path, names: set[str]) -> dict[str, tuple[Path, str]]:
    """Uploads in files whose names the page chooses, and what their owners call them."""
    stored = {}
    for name in sorted(names):
        upload = request.files.get(name)
        if upload is None or not upload.filename:
            continue
        called = re.split(r"[/\\]", upload.filename)[-1]
        ending = Path(called).suffix.lower()
        stem = "private" if name.startswith("private") else job.form.name
        path = folder / (stem + (ending if ending in _ENDINGS else ""))
        upload.save(path)
        job.names[path] = plain_text(called, 200)
        stored[name] = path, job.names[path]
    return stored


def _drain() -> None:
    """Read what came to its end: a browser shows no answer before it has sent all."""
    with suppress(ClientDisconnected):
        for _ in range(0, _DRAINED, 1 << 20):
            if not request.environ["wsgi.input"].read(1 << 20):
                return
