"""No argument without effect: on some input it changes the result, or it is refused.

The table has a small call for every public function, and another value for every argument of it:
a new argument fails until it has one. Commands: ``tests/cli/test_option_effects.py``.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from argument_calls import calls

import bayes_sota as bs
from bayes_sota.core.errors import InputError
from bayes_sota.core.tables import Report

LEFT_OUT = {
    "sample_claim": "a sampler: minutes", "sample_epp": "a sampler: minutes",
    "sample_methods": "a sampler: minutes", "sample_review": "a sampler: minutes",
    "sample_comparison": "a sampler: minutes",
    "check_epp": "reads draws of a sampler", "epp_rope": "reads draws of a sampler",
    "epp_win_probability": "reads draws of a sampler", "summarize_epp": "reads draws of a sampler",
    "complete": "reads draws of a sampler", **{
        name: "a function of tensors" for name in (
            "counts_logp", "flat_log_odds_ratio_logp", "outcome_cells", "second_accuracy_logp",
            "case_difference_logp", "paired_log_likelihood",
        )
    },
    "save_result": "writes a file", "write_fold_scores": "writes a file",
    "save_report": "writes a file: test_report.py",
    "write_items": "writes a file",
    "read_result": "reads what save_result wrote",
    "list_examples": "no argument", "model_names": "no argument",
    "load_example": "the name alone", "load_model": "the name alone",
    "read_evaluations": "files alone: options of claim responses",
    "read_means": "files alone: --sds of epp", "read_tournaments": "files: options of epp",
    "write_examples": "a directory alone",
    "tournaments_table": "what epp prints",
    "maximum_logp": "a tensor: test_complete.py",
    "observe_maximum": "adds to a model: test_complete.py",
    "plan_claim": "what claim plan prints", "assured_size": "what claim plan prints",
    "powered_size": "what claim plan prints",
    "start_values": "a fit alone",
    "fit_shape": "a fit for models", "field_log_density": "tensors: test_models",
    "score_log_probability": "tensors: test_models", "observe_scores": "tensors: test_models",
}  # fmt: skip
SILENT = {
    "cores": "the same draws, sooner", "jobs": "the same numbers, sooner",
    "progressbar": "shows the progress", "on_progress": "is told the progress",
}  # fmt: skip
SLOW = (
    "auc_law",
    "auc_maximum_law",
    "bias_table",
    "judge_rules",
    "judge_runs",
    "board_table",
    "estimate_many",
    "claim_of_best_entry",
    "estimate_paired",
    "estimate_sota",
    "shrink_aucs",
    "sota_sensitivity",
)


def seen(value: Any) -> Any:
    """All of a result that a user sees, as text and numbers."""
    if isinstance(value, xr.DataTree):
        nodes = [(node.path, node.to_dataset().to_dict()) for node in value.subtree]
        return [(path, {**found, "attrs": kept(found["attrs"])}) for path, found in nodes]
    if isinstance(value, pd.DataFrame):
        return value.to_csv()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): seen(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [seen(part) for part in value]
    if isinstance(value, Report):
        return [value.to_csv(), value.to_markdown(), value.to_json()]
    if is_dataclass(value):
        found = [seen(getattr(value, part.name)) for part in fields(value)]
        return [*found, value.mean(), value.std()] if callable(getattr(value, "mean", 0)) else found
    return repr(value)


def kept(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes but the moment at which the result was made."""
    return {key: value for key, value in attributes.items() if key != "created_at"}


ROOMS = (
    "auc",
    "claims",
    "core",
    "crossval",
    "data",
    "epp",
    "items",
    "leaderboard",
    "maximum",
    "paired",
)
PUBLIC: dict[str, Callable[..., Any]] = {
    name: getattr(place, name)
    for place in (bs, *(getattr(bs, room) for room in ROOMS))
    for name in place.__all__
    if inspect.isfunction(getattr(place, name))
}


def functions() -> Iterator[str]:
    """Figures, models and what commands call and print have tests of their own."""
    others = ("plot_", "build_", "report_", "describe_")
    yield from (name for name in PUBLIC if not name.startswith(others))


def call(name: str, arguments: dict[str, Any]) -> str | None:
    """Text of a result, None where the call is refused."""
    try:
        return str(seen(PUBLIC[name](**arguments)))
    except InputError:
        return None


@pytest.mark.slow
def test_every_function_has_a_call(option_inputs: Path) -> None:
    assert set(functions()) == {*calls(option_inputs), *LEFT_OUT}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(n, marks=[pytest.mark.slow] * (n in SLOW))
        for n in functions()
        if n not in LEFT_OUT
    ],
)
def test_every_argument_has_an_effect(name: str, option_inputs: Path) -> None:
    case = calls(option_inputs)[name]
    plain, lacking = call(name, case.base), []
    assert plain is not None
    assert call(name, case.base) == plain
    for argument in inspect.signature(PUBLIC[name]).parameters:
        if argument in SILENT:
            continue
        base, other = case.on.get(argument) or ({}, case.others[argument])
        before = {**case.base, **base}
        if call(name, {**before, argument: other}) == (call(name, before) if base else plain):
            lacking.append(argument)
    assert lacking == []
