"""What version 0.5 had and 1.0 has not, with what to use instead; kept until 1.0.

A key is a command, an option (``--option``, or ``command --option`` where other commands still have
it) or a value of an option (``command --option value``). ``tests/cli/test_removed.py`` types each.
"""

REMOVED = {
    "app": "--report FILE.html writes the same pages, as in bayes-sota claim classification",
    "batch --dask": 'in Python, with joblib.parallel_config("dask"): bs.estimate_many(boards)',
    "batch --groups": "every result has all groups",
    "batch --resume": "type the command again: it leaves results alone that are there",
    "doctor": "bayes-sota --version prints the versions that a report of a bug needs",
    "--decimals": "scores count with the digits that they are written with",
    "--format": "what FILE holds is told by its content and its columns",
    "--run-separator": "a column of runs: a row for each model, item and run (--run-column)",
    "--scorer": "--metric NAME",
    "infer-n": "--n-test infer, in Python bs.infer_n_test(scores)",
    "models": "the files of models/ have their names; in Python bs.load_model(NAME)",
}
