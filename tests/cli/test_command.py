"""Every command: its files do not destroy each other, its errors are one line about its options."""

import os
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bayes_sota.cli import main
from bayes_sota.cli.commands import cli
from bayes_sota.cli.options import Command, InputFile, hidden
from bayes_sota.core.errors import InputError


def commands(group: click.Group = cli) -> Iterator[tuple[str, click.Command]]:
    for name in group.list_commands(click.Context(group)):
        found = group.get_command(click.Context(group), name)
        if isinstance(found, click.Group):
            yield from ((f"{name} {inner}", command) for inner, command in commands(found))
        elif found is not None:
            yield name, found


def complaint(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """Exit code and the one line of a command that fails."""
    with pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return int(stop.value.code or 0), err


@pytest.mark.parametrize(("name", "found"), list(commands()))
def test_every_command_checks_its_files_and_its_numbers(name: str, found: click.Command) -> None:
    assert isinstance(found, Command)
    assert len(set(found.endings)) == len(found.endings) >= 6
    for param in found.params:
        is_file = param.name in ("file", "files", "private_file", "pilot", "truth")
        assert is_file == isinstance(param.type, InputFile), param.name
        bare = isinstance(param.type, click.types.IntParamType | click.types.FloatParamType)
        assert not bare, param.name


def test_options_are_few() -> None:
    """What people can type is the contract: at most 22 for a command (``sota`` 24), 90 names."""
    names = set()
    for name, found in commands():
        shown = [p for p in found.params if isinstance(p, click.Option) and not hidden(p)]
        shown = [p for p in shown if p.name != "help_all"]
        names |= {option for p in shown for option in (*p.opts, *p.secondary_opts)}
        assert len(shown) <= (24 if name == "sota" else 22), name
    assert len(names) <= 90


def test_help_has_what_everyone_needs_and_help_all_the_rest(capsys) -> None:
    texts = []
    for word in ("--help", "--help-all"):
        with pytest.raises(SystemExit) as stop:
            main(["sota", word])
        assert not stop.value.code
        texts.append(capsys.readouterr().out)
    assert "--help-all shows" in texts[0]
    assert [("--n-classes" in text, "--maximum" in text) for text in texts] == [
        (False, True),
        (True, True),
    ]


def test_any_command_takes_what_all_share_and_notes_what_changes_nothing(capsys) -> None:
    shared = ("--use", "a", "--seed", "1", "--top", "3", "--prob", "0.9", "--higher-is-better")
    with pytest.raises(SystemExit) as stop:
        main(["score", "--right", "48", "--n-test", "50", *shared])
    assert not stop.value.code
    error = capsys.readouterr().err
    assert "note: no effect on score: --seed\n" in error
    assert "note: no effect on --right: --use, --higher-is-better\n" in error


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("board x.csv --save x.nc", ".html, .csv, .md, .tex, .json, .txt, .svg, .png, .pdf, got"),
        ("claim plan --accuracy 0.9 0.8 --save x.png", "--save takes a name that ends with"),
        ("sota x.csv --save no/x.csv", "does not exist"),
    ],
)
def test_what_cannot_be_written_is_refused_first(capsys, tmp_path, monkeypatch, line, told) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.csv").write_text("nothing that could be read")
    code, error = complaint(capsys, *line.split())
    assert (code, told in error) == (2, True)


@pytest.mark.parametrize("link", [None, os.symlink, os.link])
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("board INPUT --n-test 10 --save OUTPUT", "b.csv"),
        ("sota INPUT --n-test 10 --save OUTPUT", "b.nc"),
        ("sota --model INPUT --save OUTPUT", "m.nc"),
        ("paired INPUT --save OUTPUT", "b.nc"),
        ("paired other.csv --private-file INPUT --save OUTPUT", "b.nc"),
        ("claim responses INPUT --save OUTPUT", "b.png"),
        ("claim responses INPUT other.csv --save OUTPUT", "b.nc"),
        ("claim batch INPUT --save OUTPUT", "b.csv"),
        ("epp INPUT --save OUTPUT", "b.csv"),
    ],
)
def test_what_is_read_is_not_written_over(
    capsys, tmp_path: Path, monkeypatch, line, name, link
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("other.csv").touch()
    source = tmp_path / name
    source.write_text("as it was")
    target = source if link is None else tmp_path / f"link-{name}"
    if link is not None:
        link(source, target)
    code, error = complaint(
        capsys, *line.replace("INPUT", str(source)).replace("OUTPUT", str(target)).split()
    )
    assert (code, source.read_text()) == (2, "as it was")
    assert "would overwrite the input" in error


LAW = ["maximum", "--n-test", "300", "--classifiers", "10", "--theta", "0.9"]


@pytest.mark.parametrize(
    ("line", "told", "hidden"),
    [
        ("sota board.csv --n-test 10 --classifiers 1", "--classifiers must be", "n_classifiers"),
        ("board board.csv --metric score", "need --standard-error,", "standard_error"),
        ("claim classification --accuracy 0.9 0.8 --n-test 1", "--n-test must", "n_test"),
        ("claim batch board.csv --group-by x", "", "group_by"),
    ],
)
def test_errors_of_commands_name_options(capsys, tmp_path, monkeypatch, line, told, hidden) -> None:
    monkeypatch.chdir(tmp_path)
    Path("board.csv").write_text("team,score\na,0.9\nb,0.8\n")
    code, error = complaint(capsys, *line.split())
    assert code == 2
    assert told in error
    assert hidden not in error


@pytest.mark.parametrize(
    "name", [n for n, c in commands() if any(p.name == "seed" for p in c.params)]
)
@pytest.mark.parametrize("seed", ["-1", str(2**63), "1" * 400])
def test_a_seed_out_of_range(capsys: pytest.CaptureFixture[str], name: str, seed: str) -> None:
    code, error = complaint(capsys, *name.split(), "--seed", seed)
    assert code == 2
    assert "--seed" in error or "Missing argument" in error


@pytest.mark.parametrize(
    ("problem", "code", "told"),
    [
        (InputError("x" * 5000 + " and what would be right"), 2, "and what would be right"),
        (InputError("two\nlines \x1b[31m \u202e \x00"), 2, r"two lines \x1b[31m \u202e \x00"),
        (RuntimeError("odd\nthing"), 70, "RuntimeError: odd thing; this is a bug"),
        (EOFError(), 70, "end of a file"),
        (MemoryError(), 70, "memory"),
        (OverflowError("too\x07large"), 70, r"OverflowError: too\x07large"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
    ],
)
def test_whatever_happens_is_one_line(capsys, monkeypatch, problem, code, told) -> None:
    def fail(**_: object) -> None:
        raise problem

    monkeypatch.setattr("bayes_sota.maximum.law.maximum_law", fail)
    found, error = complaint(capsys, *LAW)
    assert found == code
    assert error.startswith("error: ")
    assert told in error
    assert len(error) < 1000
    assert error[:-1].isprintable()


def test_the_traceback_of_a_bug_is_shown_on_request(capsys, monkeypatch) -> None:
    monkeypatch.setenv("BAYES_SOTA_DEBUG", "1")
    monkeypatch.setattr("bayes_sota.maximum.law.maximum_law", lambda **_: 1 / 0)
    with pytest.raises(SystemExit):
        main(LAW)
    assert "Traceback" in capsys.readouterr().err
