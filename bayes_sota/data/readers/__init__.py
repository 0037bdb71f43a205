"""Tables and logs to data: one file for each kind of data, and what all of them read tables by."""
