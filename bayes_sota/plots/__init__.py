"""One figure per file, drawn from a result's DataTree, a law or a table; nothing is recomputed.

Every function returns an ArviZ ``PlotCollection`` and takes ``backend``. Libraries that draw are
imported when a figure is asked for.
"""
