"""Runs command lines in one process, as a shell would see them: exit code, output, memory, time.

Started by ``judge.py``. A request is one line of JSON, ``{"directory", "arguments"}``; the answer
is another. Standard output and error are caught at the level of file descriptors, so that what C
libraries print is seen.
"""

import json
import os
import resource
import sys
import tempfile
import time
import traceback
import warnings


def serve() -> None:
    """Answer requests until standard input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    for line in sys.stdin:
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()


def answer(request: dict) -> dict:
    """Run one command line in its directory."""
    os.chdir(request["directory"])
    start = time.process_time()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        with warnings.catch_warnings():  # each command's warnings are shown anew
            code = run(request["arguments"])
        sys.stdout.flush()
        sys.stderr.flush()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return {
        "code": code,
        "out": texts[0],
        "err": texts[1],
        "seconds": time.process_time() - start,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def run(arguments: list[str]) -> int:
    """Exit code of one command; 70 with a traceback where an exception escapes."""
    try:
        if arguments[0] == "read_result":
            return read_back(arguments[1])
        from bayes_sota.cli import main

        main(arguments)
    except SystemExit as end:
        return int(end.code or 0)
    except BaseException:
        traceback.print_exc()
        return 70
    return 0


def read_back(path: str) -> int:
    """Read a result file as a script would."""
    import bayes_sota as bs
    from bayes_sota.core.errors import BayesSotaError

    try:
        tree = bs.read_result(path)
        bs.summarize(tree)
    except BayesSotaError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("{}")
    return 0


if __name__ == "__main__":
    serve()
