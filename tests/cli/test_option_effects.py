"""No option without effect: it changes the result, is refused, or a note says that it has none.

Of the commands in ``BASES``, which take no time. Each of their options has values in ``VALUES``
(choices, flags and files have theirs by themselves), so that a new option fails here until it is in
the table. What cannot show in a result is named in ``SILENT`` with the reason.
"""

import json

import click
import pytest
from cli.test_command import COMMANDS, shown_options
from data.files import run

from bayes_sota.cli.options import FOLDER

SILENT = {
    "--help-all": "it shows the help",
    "--json": "another form of the same result",
    "--higher-is-better": "what is true without it: tests/data/test_reading.py",
    "--quiet": "every command can be asked to be quiet, and some have nothing to leave out",
}
# {x} is a file of the fixture option_inputs
BASES = (
    "maximum --n-test 300 --classifiers 10 --theta 0.9",
    "maximum --n-test 300 --classifiers 10 --theta 0.9 --correlation 0.5",
    "inspect {board.csv}",
    "score --right 40 --n-test 50",
    "score {exam.csv}",
    "claim classification --accuracy 0.90 0.88 --n-test 500",
    "claim segmentation --mean 0.81 0.80 --sd 0.1 0.1 --n-test 100",
    "claim plan --accuracy 0.9 0.85 --n-test 300",
    "claim plan --gap 0.02 --sd 0.1 0.1 --pairwise-correlation 0.5 --n-test 50",
    "claim plan --gap 0.02 --pilot {exam.csv} --cost-per-item 2",
    "claim batch {claims.csv}",
)
# values that are tried on every input, or for one command; several where one could be what is taken
# anyway
VALUES = dict(line.split(": ") for line in """
--accuracy: 0.91 0.87
--anchors: 2
--average: items
--best-of: 3
--classifiers: 25
--column: unit=item|entry=item|task=fold|task=topic
--congruence: 0.85
--correlation: 0.4
--cost-per-item: 3
--cost-per-run: 2
--gap: 0.03
--known: forest=0.7
--known-offset: 0.01
--leave-out: x|a
--level: 0.2
--mean: 0.82 0.8
--metric: accuracy|auc|score
--n-positive: 60|22
--names: x y
--n-test: 70|400
--pair: y z
--pairwise-correlation: 0.3|0.35
--pilot: {exam.csv}
--power: 0.9
--prob: 0.5
--right: 9
--rope: 0.01
--save: OUT/x.csv
--sd: 0.2 0.1
--sd-difference: 0.2
--seed: 2
--spread-ratio: 1.5|0.4
--theta: 0.85
--top: 2|0.9
--uniform: 0.7 0.9
--use: x|b,c|x,z
score --metric: pass@2
""".strip().splitlines())  # fmt: skip


def flag_of(option):
    return max(option.opts, key=len)


def given_values(name, option):
    """Arguments that give an option to a command, one list for each value."""
    flag = flag_of(option)
    if option.is_flag:
        return [[flag]]
    if isinstance(option.type, click.Choice):
        return [[flag, str(choice)] for choice in option.type.choices]
    if option.type is FOLDER:
        return [[flag, "OUT/made"]]
    values = VALUES.get(f"{name} {flag}") or VALUES[flag]
    return [[flag, *value.split()] for value in values.split("|")]


def without(words, flag):
    """The words without an option and its values."""
    if flag not in words:
        return words
    start = words.index(flag)
    ends = (k for k, word in enumerate(words) if k > start and word.startswith("--"))
    return words[:start] + words[next(ends, len(words)) :]


@pytest.mark.slow
@pytest.mark.parametrize("base", BASES)
def test_options_change_something(base, capsys, option_inputs, tmp_path):
    def answer(words):
        """JSON and text without the seed; or that it was refused, wrote files, or has a note."""
        words = [str(option_inputs / w[1:-1]) if w[0] == "{" else w for w in words]
        words = [w.replace("OUT", str(tmp_path)) for w in words]
        code, out, error = run(capsys, *words, "--json")
        made = sorted(tmp_path.rglob("*"), reverse=True)
        for path in made:
            path.unlink() if path.is_file() else path.rmdir()
        if code == 2 or made or "note: no effect " in error:
            return "refused, written, or noted"
        found = json.loads(out) | {"seed": None, "text": None}  # which names the seed
        return found, run(capsys, *words)[1].split("Seed ")[0]

    words, silent = base.split(), []
    name = max((name for name in COMMANDS if f"{base} ".startswith(f"{name} ")), key=len)
    plain = answer(words)
    for option in shown_options(COMMANDS[name]):
        if (flag := flag_of(option)) not in SILENT:
            values = given_values(name, option) + [[]] * (flag in words)
            if all(answer([*without(words, flag), *given]) == plain for given in values):
                silent.append(flag)
    assert silent == []
