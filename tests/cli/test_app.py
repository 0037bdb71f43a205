"""The local page: the same numbers and the same errors as the shell, and nothing for strangers."""

import errno
import io
import json
import os
import re
import socket
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("flask", reason="needs the library Flask (extra app)")

from data.files import run
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

import bayes_sota.cli.app.command as app_command
from bayes_sota.cli.app import jobs as app_jobs
from bayes_sota.cli.app import pages, worker
from bayes_sota.cli.app.forms import FORMS, arguments_of, command_of
from bayes_sota.cli.app.jobs import Jobs
from bayes_sota.cli.commands import cli
from bayes_sota.data.examples import write_examples

PORT = 8463
ADDRESS = f"http://127.0.0.1:{PORT}"
CLAIM = {"accuracy": ["0.90", "0.88"], "n_test": "500"}
HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "\U0001f600",
    "\u202eright to left", "a" * 10_000,
]  # fmt: skip


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jobs]:
    with Jobs(cli, tmp_path_factory.mktemp("page")) as jobs:
        yield jobs


@pytest.fixture
def client(jobs: Jobs) -> FlaskClient:
    return pages.create_app(jobs, PORT).test_client()


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    write_examples(folder / "examples")
    return folder / "examples"


def get(client: FlaskClient, address: str, **headers: str) -> TestResponse:
    return client.get(address, base_url=ADDRESS, headers=headers)


def token(client: FlaskClient) -> str:
    found = re.search(r'name="token" value="([^"]+)"', get(client, "/accuracies").text)
    assert found is not None
    return found[1]


def ask(client: FlaskClient, form: str, data: dict, **headers: str) -> TestResponse:
    """Answer to a filled-in form, when it is there."""
    sent = {"Origin": ADDRESS, **headers}
    data = {"token": token(client), **data}
    found = client.post(f"/{form}", base_url=ADDRESS, headers=sent, data=data)
    while found.status_code == 303 or 'http-equiv="refresh"' in found.text:
        found = get(client, found.headers.get("Location", found.request.path))
    return found


def alert(response: TestResponse) -> str:
    found = re.search(r'role="alert">.*?<p dir="auto">(.*?)</p>', response.text, re.DOTALL)
    assert found is not None
    return unescape(found[1])


def file_of(client: FlaskClient, response: TestResponse, name: str) -> bytes:
    """A file of a result, when it is there."""
    while True:
        with get(client, f"{response.request.path}/{name}") as found:
            if found.headers.get("Content-Disposition") or found.status_code != 200:
                return found.data


@pytest.mark.slow
def test_a_claim_has_the_numbers_of_the_command(client, capsys) -> None:
    response = ask(client, "accuracies", CLAIM)
    assert response.status_code == 200
    line = "claim classification --accuracy 0.90 0.88 --n-test 500"
    assert f"<code>bayes-sota {line}</code>" in response.text
    _, out, _ = run(capsys, *line.split(), "--json")
    assert json.loads(file_of(client, response, "result.json")) == json.loads(out)
    report = file_of(client, response, "report.html").decode()
    nav = re.search(r"<nav.*?</nav>\s*", response.text, re.DOTALL)
    assert nav is not None
    assert response.text.replace(nav[0], "").split() == report.split()
    assert file_of(client, response, "table.csv").count(b"\n") > 3
    assert file_of(client, response, "figure.svg").startswith(b"<?xml")
    assert get(client, f"{response.request.path}/other.svg").status_code == 404


@pytest.mark.parametrize(
    "values",
    [
        {"accuracy": ["0.90", "--json"]}, {"accuracy": ["0.90", ""]}, {"n_test": "--independent"},
        {"n_test": "--output=x.nc"}, {"congruence": "--help"}, {"n_test": ""}, {"rope": "2"},
    ],
)  # fmt: skip
def test_a_value_is_never_an_option_and_its_error_is_the_shell_s(client, capsys, values) -> None:
    typed = CLAIM | values
    response = ask(client, "accuracies", typed)
    assert response.status_code == 422
    line = ["claim", "classification", "--accuracy", *typed["accuracy"]]
    for name in ("n_test", "congruence", "rope"):
        if typed.get(name):
            line += [f"--{name.replace('_', '-')}", typed[name]]
    code, _, err = run(capsys, *line)
    assert (code, err) == (2, f"error: {alert(response)}\n")
    for name, texts in typed.items():
        for text in [texts] if isinstance(texts, str) else texts:
            assert not text or f'name="{name}" value="{text}"' in response.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""), ("archive.zip", b"PK\x03\x04wrong"), ("data.parquet", b"PAR1wrong"),
        ("text.csv", b"\xff\xfe\x00"), ("words.csv", b"name,score\na,b\n"), ("../up.csv", b""),
    ],
)  # fmt: skip
def test_a_wrong_file_gets_the_line_of_the_shell(
    client, capsys, tmp_path, monkeypatch, name, content
) -> None:
    data = {"file": (io.BytesIO(content), name), "n_test": "500"}
    response = ask(client, "board", data)
    assert response.status_code == 422
    monkeypatch.chdir(tmp_path)
    last = Path(name).name
    Path(last).write_bytes(content)
    _, _, err = run(capsys, "board", last, "--n-test", "500")
    assert err == f"error: {alert(response)}\n"


def test_a_file_that_is_not_there_is_missed(client) -> None:
    assert alert(ask(client, "board", {"n_test": "5"})) == "Missing argument 'FILE'."


def test_uploads_never_choose_their_path(client, jobs, tmp_path) -> None:
    for name in ("../../evil.sh", "/etc/evil.csv", "..\\evil.exe", "--json", "evil.csv\0.sh"):
        ask(client, "board", {"file": (io.BytesIO(b""), name), "n_test": "5"})
    written = [p.name for p in jobs._folder.parent.rglob("*") if p.is_file()]
    assert not [name for name in written if "evil" in name or name.startswith("-")]
    run, shown = arguments_of(
        next(f for f in FORMS if f.name == "board"), cli, {"n_test": ["5"]},
        {"file": (tmp_path / "board.csv", "--json")}, 1,
    )  # fmt: skip
    assert run == ["board", "--n-test", "5", "--seed", "1", str(tmp_path / "board.csv")]
    assert shown[-1] == "./--json"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text(client, name) -> None:
    """Of files, and in every field."""
    values = {"accuracy": [name, name], "n_test": name, "rope": name}
    for form, data in (
        ("accuracies", values),
        ("board", {"file": (io.BytesIO(b""), f"{name}.csv"), "n_test": name}),
    ):
        response = ask(client, form, data)
        assert response.status_code == 422
        assert "<script" not in response.text
        assert "<img" not in response.text
        assert "\u202e" not in alert(response)
        assert len(alert(response)) < 1000


def test_every_page_has_the_headers(client) -> None:
    answer = ask(client, "accuracies", CLAIM)
    wrong = [get(client, "/nothing"), get(client, "/result/none"), get(client, "/", Host="evil")]
    good = [get(client, "/"), get(client, "/style.css"), get(client, "/board"), answer]
    for response in (*wrong, *good):
        headers = response.headers
        assert headers["Cache-Control"] == "no-store"
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["X-Frame-Options"] == "DENY"
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'")
        assert "frame-ancestors 'none'" in policy
        assert "script-src" not in policy or response is answer
    assert [r.status_code for r in (*wrong, *good)] == [404, 404, 421, 200, 200, 200, 200]
    assert "script-src 'sha256-" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"0.0.0.0:{PORT}"]
)
def test_another_host_gets_nothing(client, host) -> None:
    """A stranger's name that leads to this machine, as in DNS rebinding."""
    response = get(client, "/", Host=host)
    assert response.status_code == 421
    assert "<form" not in response.text


@pytest.mark.parametrize(
    ("headers", "data", "code"),
    [
        ({"Origin": "http://evil.example"}, {}, 403),
        ({"Origin": "null"}, {}, 403),
        ({"Origin": f"https://127.0.0.1:{PORT}"}, {}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, {}, 403),
        ({}, {"token": "wrong"}, 403),
        ({}, {"token": "\xe9"}, 403),
        ({}, {"token": ""}, 403),
        ({"Origin": f"http://localhost:{PORT}"}, {}, 200),
    ],
)
def test_a_question_comes_from_these_pages(client, headers, data, code) -> None:
    response = ask(client, "accuracies", CLAIM | data, **headers)
    assert response.status_code == code


def test_a_question_without_origin_is_refused(client) -> None:
    data = CLAIM | {"token": token(client)}
    assert client.post("/accuracies", base_url=ADDRESS, data=data).status_code == 403


def test_an_upload_that_is_too_large_gets_one_line(client, monkeypatch) -> None:
    client.application.config["MAX_CONTENT_LENGTH"] = 1000
    data = {"file": (io.BytesIO(b"0" * 2000), "board.csv")}
    response = ask(client, "board", data)
    assert response.status_code == 413
    assert alert(response) == (
        "a question may have 50 MB with its files, 50 values and 200,000 characters in each, this "
        "one has more; the shell has no such limit: bayes-sota --help"
    )


def test_old_results_go_and_too_many_questions_wait(client, jobs, monkeypatch) -> None:
    first = ask(client, "accuracies", CLAIM)
    monkeypatch.setattr(app_jobs, "_KEPT", 2)
    for _ in range(2):
        ask(client, "accuracies", CLAIM)
    assert len([p for p in jobs._folder.iterdir() if p.name != "work"]) == 2
    gone = get(client, first.request.path)
    assert (gone.status_code, alert(gone)) == (
        404, "this result is no longer there: only the last ones are kept",
    )  # fmt: skip
    monkeypatch.setattr(app_jobs, "_WAITING", 0)
    response = ask(client, "accuracies", CLAIM)
    assert response.status_code == 503
    assert "too many questions" in alert(response)
    assert 'value="0.90"' in response.text


def test_a_page_says_that_an_answer_takes_longer(client, jobs, monkeypatch) -> None:
    monkeypatch.setattr(pages, "_PATIENCE", 0.0)
    monkeypatch.setattr(Jobs, "_put", lambda _, run: None)  # nobody works
    data = CLAIM | {"token": token(client)}
    sent = client.post("/accuracies", base_url=ADDRESS, headers={"Origin": ADDRESS}, data=data)
    waiting = get(client, sent.headers["Location"])
    assert 'role="status">Waiting for its turn. The answer appears' in waiting.text
    assert '<meta http-equiv="refresh" content="1">' in waiting.text


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("n_test", "1000000000", "100,000"),
        ("n_test", "1e300", "100,000"),
        ("classifiers", "1000000000", "1,000,000"),
        ("classifiers", "2:2000000", "1,000,000"),
    ],
)
def test_a_question_of_hours_is_refused_before_work_begins(
    client, jobs, monkeypatch, name, value, shown
) -> None:
    monkeypatch.setattr(Jobs, "_put", lambda *_: pytest.fail("it is asked"))
    typed = {"maximum": "0.9", "n_test": "500", "classifiers": "10", name: value}
    response = ask(client, "maximum", typed)
    assert response.status_code == 422
    said, _, line = alert(response).partition("; the shell has no such limit: bayes-sota sota ")
    option = name.replace("_", "-")
    assert said == f"--{option} may be {shown} at most on this page, got {value}"
    assert f"--{option} {value}" in line
    assert f'name="{name}" value="{value}"' in response.text
    assert not [p for p in jobs._folder.iterdir() if p.name != "work" and p.name not in jobs._jobs]


@pytest.mark.slow
def test_a_question_that_takes_too_long_is_ended(client, monkeypatch) -> None:
    monkeypatch.setattr(app_jobs, "_LIMIT", 0.2)
    response = ask(client, "maximum", {"maximum": ".9", "n_test": "1000", "classifiers": "1000000"})
    assert response.status_code == 422
    assert re.fullmatch(
        r"the answer takes longer than the 0.2 seconds of this page; the shell has no such limit: "
        r"bayes-sota sota --maximum .9 --n-test 1000 --classifiers 1000000 --seed \d+",
        alert(response),
    )
    monkeypatch.undo()
    assert ask(client, "accuracies", CLAIM).status_code == 200


@pytest.mark.slow
def test_a_computation_that_cannot_be_started_is_told_and_the_next_is(
    client, jobs, monkeypatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    assert ask(client, "accuracies", CLAIM).status_code == 200  # so that there is a worker
    monkeypatch.setattr(worker.subprocess, "Popen", refuse)
    jobs._worker.kill()
    found = ask(client, "accuracies", CLAIM)  # it sees that its worker has gone
    assert found.status_code == 422
    response = ask(client, "accuracies", CLAIM)
    assert response.status_code == 422
    assert "starts no computation (Cannot allocate memory); the shell has no" in alert(response)
    monkeypatch.undo()
    assert ask(client, "accuracies", CLAIM).status_code == 200


def test_a_file_that_takes_longer_comes_by_itself(client, monkeypatch) -> None:
    answer = ask(client, "accuracies", CLAIM).request.path
    monkeypatch.setattr(pages, "_PATIENCE", 0.0)
    asked = get(client, f"{answer}/figure.pdf")
    assert '<meta http-equiv="refresh" content="1">' in asked.text
    assert "figure.pdf is downloaded here once it is written" in asked.text
    assert f'<a href="{answer}">Back to the result</a>' in asked.text
    assert "<blockquote" in get(client, answer).text
    assert file_of(client, get(client, answer), "figure.pdf").startswith(b"%PDF")


@pytest.mark.slow
def test_a_file_can_be_cancelled_and_asked_for_again(client, jobs, monkeypatch) -> None:
    answer = ask(client, "accuracies", CLAIM).request.path
    monkeypatch.setattr(pages, "_PATIENCE", 0.0)
    get(client, f"{answer}/figure.svg")
    sent = {"base_url": ADDRESS, "headers": {"Origin": ADDRESS}}
    client.post(f"{answer}/cancel", data={"token": token(client)}, **sent)
    assert "figure.svg" not in jobs.find(answer[8:]).runs
    assert file_of(client, get(client, answer), "figure.svg").startswith(b"<?xml")
    assert "<blockquote" in get(client, answer).text


def test_every_form_asks_for_parameters_of_its_command(client) -> None:
    for form in FORMS:
        params = {param.name: param for param in command_of(form, cli).params}
        page = get(client, f"/{form.name}").text
        for name, labels in form.labels.items():
            assert params[name].nargs in (len(labels), -1)
        ids = re.findall(r'<(?:input type="(?:text|file|checkbox)"|select) id="([^"]+)"', page)
        assert len(ids) == sum(len(labels) for labels in form.labels.values())
        assert sorted(ids) == sorted(re.findall(r'<label for="([^"]+)"', page))


def test_a_busy_port_gets_one_line(capsys) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        code, out, err = run(capsys, "app", "--no-browser", "--port", port)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"port {port} cannot be used" in err
    assert "--port 0" in err


def test_without_the_library_one_line_says_what_to_install(capsys, monkeypatch) -> None:
    monkeypatch.setattr(app_command, "find_spec", lambda name: None)
    code, _, err = run(capsys, "app")
    assert code == 2
    assert err == "error: the local page needs the library Flask: pip install 'bayes-sota[app]'\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "file", "line"),
    [
        ("means", "", "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100"),
        ("maximum", "", "sota --maximum 0.9 --n-test 300 --classifiers 20"),
        ("leaderboard", "leaderboard.csv", "sota --n-test 250"),
        ("board", "leaderboard.csv", "board --n-test 250"),
        ("board", "answers.csv", "board"),
        ("answers", "answers.csv", "claim responses --rope 0.01"),
        ("epp", "rounds.csv", "epp --penalty 0.5"),
        ("cross-validation", "cross_validation.csv", "cv judge --rule fixed --threshold 5"),
        ("paired", "public_private.csv", "paired --n-test-public 250 --n-test-private 1000"),
    ],
)
def test_every_form_has_the_numbers_of_its_command(
    client, examples, capsys, monkeypatch, form, file, line
) -> None:
    chosen = next(f for f in FORMS if f.name == form)
    command = command_of(chosen, cli)
    data: dict = {}
    words = line.split()[len(chosen.command) :]
    for param in command.params:
        for option in param.opts:
            if option in words:
                place = words.index(option) + 1
                data[param.name] = words[place : place + param.nargs]
    if file:
        name = next(str(p.name) for p in command.params if p.param_type_name == "argument")
        data[name] = (io.BytesIO((examples / file).read_bytes()), file)
    response = ask(client, form, data)
    assert response.status_code == 200
    typed = re.search(r"<pre><code>bayes-sota (.*?)</code>", response.text)
    assert typed is not None
    monkeypatch.chdir(examples)
    stored = form + ".csv"  # under the name that the page gave it: reports say it
    if file:
        Path(stored).write_bytes((examples / file).read_bytes())
    _, out, _ = run(capsys, *[stored if w == file else w for w in typed[1].split()], "--json")
    assert json.loads(file_of(client, response, "result.json")) == json.loads(out)
    assert "<figure>" in response.text
    if form in ("answers", "epp"):
        assert file_of(client, response, "figure.pdf").startswith(b"%PDF")
        assert file_of(client, response, "result.nc")[1:4] == b"HDF"


@pytest.mark.parametrize(
    ("form", "formulas"),
    [
        ("accuracies", ["x1=n(A−c)", "x2=n(B−c)", "n−x1−x2+2", "P(p1≤p2)=I1/2(x1+1,x2+1)"]),
        ("means", ["s=sA2+sB2−2rsAsB", "Tn−1(n(B−A)s)"]),
    ],
)
def test_the_forms_of_claims_explain_question_formula_and_reading(client, form, formulas) -> None:
    page = get(client, f"/{form}").text
    for part in ("What is asked", "How it is computed", "How to read the answer", "At most 0.05"):
        assert part in page
    shown = [re.sub("<[^>]+>", "", math) for math in re.findall("<math.*?</math>", page)]
    for formula in formulas:
        assert any(formula in text for text in shown), formula
    assert "<script" not in page


def test_other_forms_have_no_formula(client) -> None:
    assert "<math" not in get(client, "/epp").text
