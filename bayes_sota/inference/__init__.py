"""From a model or an exact law to a DataTree in the one schema."""
