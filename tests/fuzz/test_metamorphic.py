"""Numbers move the right way with what they depend on.

Orders, formats, names and units are those of ``test_rewritten.py`` and of ``tests/data``.
"""

import json

import numpy as np
import pytest
from data.files import run

_MAXIMUM = "sota --json --seed 1 --quiet"
_LAW = "maximum --json"
_CLAIM = "claim classification --json --accuracy 0.9 0.88"
# command, option with its values | number and the way it moves
MOVED = f"""
{_MAXIMUM} --n-test 500 --classifiers 100 --maximum: 0.85 0.91 | theta_sota up
{_MAXIMUM} --n-test 500 --maximum 0.91 --classifiers: 2 100 | winner_skill down
{_MAXIMUM} --classifiers 100 --maximum 0.91 --n-test: 500 30000 | winner_skill up
{_LAW} --n-test 500 --theta 0.9 --classifiers: 1 2 10 100 10000 | expected_maximum up
{_LAW} --n-test 500 --theta 0.9 --classifiers 100 --correlation: 0 0.3 0.6 0.9 0.99 | bias down
{_LAW} --theta 0.9 --classifiers 100 --n-test: 50 200 1000 5000 100000 | bias down
{_CLAIM} --n-test: 100 500 1000 5000 20000 | p_false down
{_CLAIM} --n-test 500 --congruence: 0.78 0.8 0.82 0.85 0.88 | p_false down
"""


@pytest.mark.slow
@pytest.mark.parametrize("line", MOVED.strip().splitlines())
def test_numbers_move_the_right_way(line, capsys):
    asked, _, wanted = line.partition(" | ")
    command, _, values = asked.partition(": ")
    key, _, way = wanted.partition(" ")
    printed = (run(capsys, *command.split(), value)[1] for value in values.split())
    results = [json.loads(out)[key] for out in printed]
    found = [r["mean"] if isinstance(r, dict) else r for r in results]
    assert np.all(np.diff(found if way == "up" else found[::-1]) > 0), found
