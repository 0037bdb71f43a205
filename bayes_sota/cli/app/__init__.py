"""The local page: forms that run the commands, and show their reports."""
