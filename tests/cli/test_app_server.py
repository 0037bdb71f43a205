"""The local page as a server: whatever is sent to it, it answers within seconds and goes on."""

import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest

pytest.importorskip("flask", reason="needs the library Flask (extra app)")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc")

PATIENCE = 5.0  # seconds
PROGRAM = "from bayes_sota.cli import main; main()"
HUGE = {"maximum": "0.9", "classifiers": "1000000", "n_test": "100000"}  # takes ten seconds
CLAIM = {"accuracy": ["0.90", "0.88"], "n_test": "500"}


@dataclass
class Server:
    """A page that runs as users run it."""

    process: subprocess.Popen
    port: int
    folder: Path

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def send(self, raw: bytes, *, pause: float = 0.0, finish: bool = False) -> bytes:
        """What comes back; ``pause`` seconds lie between pieces, ``finish`` says that it is all."""
        with self.connect() as link:
            try:
                for start in range(0, len(raw), 16 if pause else len(raw) + 1):
                    link.sendall(raw[start : start + 16] if pause else raw)
                    time.sleep(pause)
                if finish:
                    link.shutdown(socket.SHUT_WR)
            except OSError:  # closed while it sends too much
                pass
            return read_answer(link)

    def request(self, method: str, path: str, body: bytes = b"", **headers: object) -> bytes:
        return self.send(self.raw(method, path, body, **headers))

    def raw(self, method: str, path: str, body: bytes = b"", **headers: object) -> bytes:
        here = f"127.0.0.1:{self.port}"
        given = {"Host": here, "Origin": f"http://{here}", "Content-Length": len(body), **headers}
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in given.items()]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode() + body

    def token(self) -> str:
        found = re.search(rb'name="token" value="([^"]+)"', self.request("GET", "/accuracies"))
        assert found is not None
        return found[1].decode()

    def ask(self, form: str, values: dict) -> bytes:
        """The answer to a form, which is an address or a refusal."""
        kind = "application/x-www-form-urlencoded"
        body = urlencode({"token": self.token(), **values}, doseq=True).encode()
        return self.request("POST", f"/{form}", body, Content_Type=kind)

    def wait_for_work(self, place: str) -> int:
        """Number of the process that works at a question."""
        wait_for(lambda: b"Computing for" in self.request("GET", place))
        (found,) = workers(self)
        return found

    def cancel(self, place: str, token: str) -> bytes:
        kind = "application/x-www-form-urlencoded"
        body = urlencode({"token": token}).encode()
        return self.request("POST", f"{place}/cancel", body, Content_Type=kind)

    def shown(self, place: str) -> bytes:
        """The page of a result, when it is there."""
        while b'http-equiv="refresh"' in (page := self.request("GET", place)):
            time.sleep(0.1)
        return page


def read_answer(link: socket.socket) -> bytes:
    """All that a server sends; of a whole answer it need not close the connection."""
    found = b""
    try:
        while part := link.recv(1 << 16):
            found += part
            head, _, body = found.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            if length and len(body) >= int(length[1]):
                break
    except ConnectionError:
        pass
    return found


def place_of(answer: bytes) -> str:
    found = re.search(rb"(?i)\r\nlocation: (\S+)", answer)
    assert found is not None, answer[:300]
    return found[1].decode()


def alert(answer: bytes) -> str:
    found = re.search(r'role="alert">.*?<p dir="auto">(.*?)</p>', answer.decode(), re.DOTALL)
    assert found is not None
    return found[1]


@contextmanager
def started(folder: Path, *options: str, **settings: str) -> Iterator[Server]:
    command = [sys.executable, "-c", PROGRAM, "app", "--port", "0", *options]
    place = {**os.environ, "TMPDIR": str(folder), **settings}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=place) as process:
        assert process.stdout is not None
        port = int(re.findall(r":(\d+)/", process.stdout.readline())[0])
        try:
            yield Server(process, port, folder)
        finally:
            process.kill()


def tidily_ended(folder: Path) -> Iterator[Server]:
    """A page that is there in the end, has said nothing, and leaves nothing behind."""
    with started(folder, "--no-browser") as server:
        yield server
        assert server.process.poll() is None
        server.process.terminate()
        _, said = server.process.communicate(timeout=60)
    assert (server.process.returncode, said.count("\n")) == (143, 1)
    assert "terminated" in said
    assert list(folder.iterdir()) == []


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    yield from tidily_ended(tmp_path)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that is asked nothing that would matter to the next test."""
    yield from tidily_ended(tmp_path_factory.mktemp("page"))


def workers(server: Server) -> list[int]:
    """Processes that a page started."""
    found: list[int] = []
    for task in Path(f"/proc/{server.process.pid}/task").glob("*/children"):
        with suppress(FileNotFoundError):  # a thread that has just ended
            found += map(int, task.read_text().split())
    return found


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 120  # of a busy machine
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def multipart(parts: list[tuple[str, bytes]], boundary: bytes = b"xYzZY") -> bytes:
    heads = (b'Content-Disposition: form-data; name="%s"' % name.encode() for name, _ in parts)
    bodies = (b"\r\n".join((head, b"", text)) for head, (_, text) in zip(heads, parts, strict=True))
    return (
        b"".join(b"--%s\r\n%s\r\n" % (boundary, body) for body in bodies) + b"--%s--\r\n" % boundary
    )


MULTIPART = "multipart/form-data; boundary=xYzZY"
FORMS = ("accuracies", "means", "maximum", "leaderboard", "board", "answers", "epp", "paired")
PATHS = (
    "/", "/style.css", "/accuracies", "/board", "/nothing", "/result/none", "/result/none/x.csv",
    "/result/none/cancel", "/result/../../etc/passwd", "/%00", "/%ff%fe", "//", "/" + "a" * 5000,
    "*", "http://127.0.0.1/", "http://[::1", "/{{7*7}}", "/accuracies/", "/result//report.html",
)  # fmt: skip
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "CONNECT", "BREW")
NUMBERS = (
    "1000000000",
    "9" * 400,
    "1e300",
    "-1",
    "inf",
    "nan",
    "0x10",
    "1:1000000000",
    "\u0663",
    "",
)
JUNK = (
    b"", b"\r\n\r\n", b"GET /\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x00" * 5000, b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    b"GET  /  HTTP/1.1\r\n\r\n", b"GET /", b"a" * 100_000, b"POST / HTTP/1.1\r\n\r\n",
)  # fmt: skip


def odd_request(server: Server, token: str, rng: random.Random) -> Callable[[], bytes]:
    """One of every odd kind."""
    form, path, value = rng.choice(FORMS), rng.choice(PATHS), rng.choice(NUMBERS)
    text = urlencode({"token": token, "n_test": value, "accuracy": value}).encode()
    plain = {"Content_Type": "application/x-www-form-urlencoded"}
    many = [
        ("token", token.encode()),
        *(("accuracy", b".9") for _ in range(rng.choice((51, 9999)))),
    ]
    large = [("token", token.encode()), ("n_test", b"9" * rng.choice((200_001, 3_000_000)))]
    nested = multipart([("n_test", multipart([("a", b"b" * 1000)] * 9))])
    any_body = rng.choice((text, multipart(many), multipart(large), nested, b"\r\n" * 300_000))
    kind = {"Content_Type": rng.choice((MULTIPART, "multipart/form-data", *plain.values(), "a/b;"))}
    length = rng.choice((10**30, -5, "many", len(any_body) + 9, 3, 60_000_000, "1, 2"))
    host = rng.choice(("evil.example", "", "127.0.0.1", "a" * 60_000, "\xff"))
    chunks = rng.choice((b"5\r\nhello\r\n0\r\n\r\n", b"zz\r\n", b"-1\r\n", b"ffffffff\r\nx", b""))
    filled = {"token": token, "maximum": ".9", "accuracy": [".9", ".8"], "mean": [".9", ".8"]}
    sizes = {"n_test": value, "classifiers": value, "submissions": value, "best_of": value}
    question = urlencode({**filled, **sizes}, doseq=True).encode()
    send, raw = server.send, server.raw
    place = f"/{form}"
    return rng.choice((
        lambda: send(raw(rng.choice(METHODS), path, any_body, **kind)),
        lambda: send(raw(rng.choice(METHODS), path)),
        lambda: send(raw("POST", place, any_body, **kind)),
        lambda: send(raw("POST", place, multipart(many), Content_Type=MULTIPART)),
        lambda: send(raw("POST", place, multipart(large), Content_Type=MULTIPART)),
        lambda: send(raw("POST", path, any_body, **kind, Content_Length=length)),
        lambda: send(raw("POST", path, any_body, **kind, Content_Length=length), finish=True),
        lambda: send(raw("POST", place, text, **plain, Host=host)),
        lambda: send(raw("POST", place, text, **plain, Origin=f"http://{host[:99]}")),
        lambda: send(raw("POST", place, b"token=wrong", **plain)),
        lambda: send(raw("POST", place, chunks, **kind, Transfer_Encoding="chunked")),
        lambda: send(raw("POST", place, text, **plain, Expect="100-continue")),
        lambda: send(raw("GET", path, b"", X_Huge="h" * rng.choice((60_000, 70_000)))),
        lambda: send(raw("GET", path, b"", **{f"X{i}": i for i in range(rng.choice((90, 300)))})),
        lambda: send(raw("POST", place, text, **plain)[:-40], pause=0.01),
        lambda: send(raw("POST", place, text, **plain), pause=0.02),
        lambda: send(raw("GET", "/")[: rng.randrange(60)], finish=True),
        lambda: send(rng.choice(JUNK)),
        lambda: send(raw("POST", place, question, **plain)),
        lambda: send(raw("POST", place, question, **plain)),
        lambda: server.cancel(f"/result/{value or 'none'}"[:50], token),
    ))  # fmt: skip


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_odd_requests_are_answered_within_seconds(server, count) -> None:
    """Or the connection is closed, where they break the protocol; nothing is left of them."""
    rng, token = random.Random(count), server.token()
    took: list[float] = []

    def timed(send: Callable[[], bytes]) -> None:
        began = time.monotonic()
        send()
        took.append(time.monotonic() - began)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(timed, [odd_request(server, token, rng) for _ in range(count)]))
    print(f"{count} requests, the slowest {max(took):.2f} s")
    assert len(took) == count
    assert max(took) < PATIENCE
    assert b"200 OK" in server.request("GET", "/")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
@pytest.mark.parametrize("place", ["/", "/accuracies", "/nothing", "/result/none/cancel"])
@pytest.mark.parametrize(
    "parts", [[("a", b"9" * 200_001)], [("a", b"9")] * 51], ids=["long", "many"]
)
def test_a_field_too_long_and_too_many_fields_get_an_answer(page, method, place, parts) -> None:
    began = time.monotonic()
    answer = page.request(method, place, multipart(parts), Content_Type=MULTIPART)
    assert time.monotonic() - began < PATIENCE
    assert answer.startswith(b"HTTP/1.1 ")
    if (method, place) == ("POST", "/accuracies"):
        assert answer.startswith(b"HTTP/1.1 413")
        assert "50 MB with its files, 50 values and 200,000 characters in each" in alert(answer)


@pytest.mark.parametrize("place", ["/", "/accuracies", "/board", "/style.css", "/nothing"])
def test_the_head_of_a_page_is_that_of_the_page(page, place) -> None:
    head, page = page.request("HEAD", place), page.request("GET", place)
    fixed = re.compile(rb"(?m)^Date:.*$")
    assert fixed.sub(b"", head) == fixed.sub(b"", page.partition(b"\r\n\r\n")[0]) + b"\r\n\r\n"


@pytest.mark.slow
def test_a_question_is_cancelled(server) -> None:
    """Its process goes and its files go; the next question is answered."""
    token = server.token()
    place = place_of(server.ask("maximum", HUGE))
    before = server.wait_for_work(place)
    assert f'action="{place}/cancel"' in server.request("GET", place).decode()
    assert b" 403 " in server.cancel(place, "wrong")
    assert place_of(server.cancel(place, token)) == place
    assert alert(server.shown(place)) == "this question was cancelled"
    assert b'value="1000000"' in server.request("GET", place)
    assert before not in workers(server)
    (folder,) = server.folder.iterdir()
    wait_for(lambda: (folder / "work").exists())  # of the next process
    assert {p.name for p in folder.iterdir()} == {"examples", place[8:], "work"}
    assert list((folder / place[8:]).iterdir()) == []
    found = place_of(server.ask("accuracies", CLAIM))
    assert b"<blockquote" in server.shown(found)
    assert place_of(server.cancel(found, token)) == found  # it is done
    assert b"<blockquote" in server.shown(found)


@pytest.mark.slow
def test_a_process_that_dies_ends_one_question_alone(server) -> None:
    place = place_of(server.ask("maximum", HUGE))
    os.kill(server.wait_for_work(place), signal.SIGKILL)  # as a system without memory does
    told = alert(server.shown(place))
    assert told.startswith("the system ended the computation")
    assert "bayes-sota sota --maximum 0.9 --n-test 100000 --classifiers 1000000" in told
    assert b"<blockquote" in server.shown(place_of(server.ask("accuracies", CLAIM)))


@pytest.mark.slow
def test_many_questions_at_once_are_counted(server) -> None:
    """Each is answered or refused; none is lost."""
    token = server.token()
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: server.ask("maximum", HUGE), range(20)))
    places = [place_of(found) for found in answers if b" 303 " in found[:20]]
    assert sum(b" 503 " in found[:20] for found in answers) == 15
    assert len(places) == 5
    with ThreadPoolExecutor(5) as pool:  # at once, as each page of a question takes a second

        def count(said: bytes) -> int:
            return sum(said in found for found in pool.map(partial(server.request, "GET"), places))

        wait_for(lambda: count(b"Computing for"))
        assert count(b"Computing for") == 1
        assert count(b"Waiting for its turn") == 4
    for place in reversed(places):
        server.cancel(place, token)
    assert {alert(server.shown(place)) for place in places} == {"this question was cancelled"}


@pytest.mark.slow
def test_the_process_goes_with_its_page(tmp_path) -> None:
    """Even if the page has no time to end it."""
    with started(tmp_path) as server:
        place = place_of(server.ask("maximum", HUGE))
        worker = server.wait_for_work(place)
        server.process.kill()
    wait_for(lambda: not Path(f"/proc/{worker}").exists())


@pytest.mark.slow
def test_no_browser_is_a_note(tmp_path) -> None:
    with started(tmp_path, BROWSER="false") as server:
        assert server.process.stderr is not None
        said = server.process.stderr.readline()
    assert said == "Note: no browser was found; open the address in one on this machine.\n"
