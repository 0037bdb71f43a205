"""Names in results are public: a change here is a change for every reader of saved files."""

from bayes_sota.core import schema


def test_schema_version() -> None:
    assert schema.SCHEMA_VERSION == "2"


def test_names_are_identifiers() -> None:
    names = [*schema.GROUPS, *schema.DIMENSIONS, *schema.VARIABLES, *schema.ATTRIBUTES]
    assert len(names) == len(set(names))
    assert all(name.isidentifier() for name in names)
