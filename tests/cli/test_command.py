"""Every command: its options, seeds and files, and one line for whatever goes wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from data.files import run

from bayes_sota.cli.main import cli
from bayes_sota.cli.options import Command, Input
from bayes_sota.core.arguments import DEFAULT_SEED
from bayes_sota.core.errors import InputError


def leaves(group, *words):
    """Commands by their names, those in groups too."""
    for name in group.list_commands():
        found = group.get_command(None, name)
        if isinstance(found, click.Group):
            yield from leaves(found, *words, name)
        else:
            yield " ".join((*words, name)), found


COMMANDS = dict(leaves(cli))


def shown_options(command):
    return [p for p in command.params if isinstance(p, click.Option) and not p.hidden]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_checks_its_files_and_its_numbers(name):
    found = COMMANDS[name]
    assert isinstance(found, Command)
    assert len(set(found.endings)) == len(found.endings) >= 6
    for param in found.params:
        is_file = param.name in ("file", "files", "private_file", "pilot", "truth")
        assert is_file == isinstance(param.type, Input), param.name
        bare = isinstance(param.type, click.types.IntParamType | click.types.FloatParamType)
        assert not bare, param.name


def test_options_are_few():
    """Options are a contract: at most 22 for a command (``sota`` 24), 80 names."""
    names = set()
    for name, found in COMMANDS.items():
        shown = [p for p in shown_options(found) if p.name != "help_all"]
        names |= {option for p in shown for option in (*p.opts, *p.secondary_opts)}
        assert len(shown) <= (24 if name == "sota" else 22), name
    assert len(names) <= 80


def test_help_has_what_everyone_needs_and_help_all_the_rest(capsys):
    few, whole = (run(capsys, "sota", word)[1] for word in ("--help", "--help-all"))
    assert "--help-all" in few
    shown = [("--n-classes" in text, "--maximum" in text) for text in (few, whole)]
    assert shown == [(False, True), (True, True)]


def test_any_command_takes_what_all_share_and_notes_what_changes_nothing(capsys):
    shared = ("--use", "a", "--seed", 1, "--top", 3, "--prob", "0.9", "--higher-is-better")
    code, _, error = run(capsys, "score", "--right", 48, "--n-test", 50, *shared)
    assert code == 0
    assert "note: no effect on bayes-sota score: --seed\n" in error
    assert "note: no effect with --right: --use, --higher-is-better\n" in error
    assert run(capsys, "score", "--right", 48, "--n-test", 50, *shared, "--quiet")[2] == ""
    known = ("score", "--right", 48, "--n-test", 50, "--known-apart")
    assert "no effect without --known: --known-apart\n" in run(capsys, *known)[2]


# {x} is a file of the fixture option_inputs; every command that draws
DRAWN = (
    "sota --maximum 0.9 --n-test 300 --classifiers 20",
    "sota {board.csv} --n-test 500",
    "sota {answers.csv}",
    "board {board.csv} --n-test 500",
    "board {answers.csv}",
    "paired {public.csv} --private-file {private.csv}",
    "claim responses {answers.csv}",
    "epp {rounds.csv}",
    "cv judge {repeats.csv}",
    "cv run {numbers.csv} --column target=label --learners nb,tree --folds 2 --iterations 2",
    "batch {board.csv} --n-test 500 --output-dir {OUT}",
)


@pytest.mark.slow
@pytest.mark.parametrize("base", DRAWN)
def test_the_next_person_gets_the_same_without_a_seed(base, capsys, option_inputs, tmp_path):
    def answered(folder, *more):
        places = {"{OUT}": str(tmp_path / folder)}
        words = [places.get(word, word) for word in base.split()]
        words = [str(option_inputs / word[1:-1]) if word[0] == "{" else word for word in words]
        return run(capsys, *words, *more)[1].replace(str(tmp_path / folder), "")

    page = tmp_path / "page.html"
    first = answered("first", "--save", page)
    assert f"--seed {DEFAULT_SEED}" in page.read_text(encoding="utf-8")
    assert first == answered("typed", "--seed", DEFAULT_SEED)
    assert f"Seed {DEFAULT_SEED}; --seed N draws others." in first
    one, other = (
        json.loads(answered(str(seed), "--json", "--seed", seed)) for seed in (DEFAULT_SEED, 1)
    )
    assert (one["seed"], other["seed"]) == (DEFAULT_SEED, 1)
    assert one != other | {"seed": DEFAULT_SEED}


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("board INPUT --n-test 10", "b.csv"),
        ("paired other.csv --private-file INPUT", "b.nc"),
        ("claim responses INPUT other.csv", "b.png"),
    ],
)
def test_an_input_is_not_written_over(capsys, tmp_path, monkeypatch, line, name, link):
    monkeypatch.chdir(tmp_path)
    Path("other.csv").touch()
    Path(name).write_text("as it was")
    target = name if link is None else f"link-{name}"
    if link is not None:
        link(name, target)
    code, _, error = run(capsys, *line.replace("INPUT", name).split(), "--save", target)
    assert (code, error.count("\n"), Path(name).read_text()) == (2, 1, "as it was")
    assert "would overwrite the input" in error


LAW = ("maximum", "--n-test", 300, "--classifiers", 10, "--theta", "0.9")


@pytest.mark.parametrize(
    ("problem", "code", "told"),
    [
        (InputError("x" * 5000 + " and what would be right"), 2, "and what would be right"),
        (InputError("two\nlines \x1b[31m \u202e \x00"), 2, r"two lines \x1b[31m \u202e \x00"),
        (RuntimeError("odd\nthing"), 70, "RuntimeError: odd thing; this is a bug"),
        (MemoryError(), 70, "memory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
    ],
)
def test_whatever_happens_is_one_line(capsys, monkeypatch, problem, code, told):
    def fail(**_):
        raise problem

    monkeypatch.setattr("bayes_sota.maximum.maximum_law", fail)
    found, out, error = run(capsys, *LAW)
    assert (found, out, error[:7]) == (code, "", "error: ")
    assert told in error
    assert len(error) < 1000
    assert error[:-1].isprintable()
    monkeypatch.setenv("BAYES_SOTA_DEBUG", "1")
    assert ("Traceback" in run(capsys, *LAW)[2]) == ("this is a bug" in error)


def test_an_old_numpy_gets_advice_whatever_fails(capsys, monkeypatch):
    def fail(**_):
        raise AttributeError("module 'numpy' has no attribute 'long'")

    monkeypatch.setattr("bayes_sota.maximum.maximum_law", fail)
    assert run(capsys, *LAW)[0] == 70
    monkeypatch.setattr("numpy.__version__", "1.26.4")
    code, _, error = run(capsys, *LAW)
    assert (code, error.count("\n")) == (2, 1)
    assert "pip install --upgrade bayes-sota" in error


def test_without_numpy_one_line_says_what_to_install():
    code = (
        "import sys; sys.modules['numpy'] = None; from bayes_sota.cli import main; main(['sota'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "pip install --upgrade bayes-sota" in done.stderr


def test_an_anchor_that_contradicts_makes_every_command_exit_1(capsys, tmp_path):
    """``score`` too, whose classifiers are judged alone."""
    path, rng = tmp_path / "answers.csv", np.random.default_rng(0)
    answers = (rng.random((300, 2)) < [0.70, 0.60]).astype(int)
    np.savetxt(path, answers, delimiter=",", header="ref,model", comments="", fmt="%d")
    for command in ("score", "board"):
        code, out, error = run(capsys, command, path, "--known", "ref=0.95/14000")
        assert (code, "known skills are far from the scores" in error) == (1, True)
        assert out.startswith("Do not trust this result: known skills")
