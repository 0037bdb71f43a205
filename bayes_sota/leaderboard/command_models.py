"""``bayes-sota models``: the named specifications."""

from bayes_sota.core.command_options import echo_json, output_options
from bayes_sota.core.command_tables import echo_table
from bayes_sota.core.command_types import command

__all__ = ["models"]


@command(epilog="Example: bayes-sota models --json")
@output_options
def models(as_json: bool, quiet: bool) -> None:
    """List the named model specifications that --model takes."""
    from bayes_sota.leaderboard.specification import load_model, model_names

    specs = [load_model(name) for name in model_names()]
    if as_json:
        content = [
            {"name": s.name, "description": s.description, "hash": s.specification_hash}
            for s in specs
        ]
        echo_json({"models": content})
        return
    echo_table(["name", "what it is"], [[s.name, s.description] for s in specs])
