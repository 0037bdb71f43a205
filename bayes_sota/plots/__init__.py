"""One figure per file, drawn from a result's DataTree."""
