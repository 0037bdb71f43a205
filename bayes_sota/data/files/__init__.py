"""Any file that people have to one table of cells, or to the value of a JSON text.

Files are not trusted: nothing in them is executed, only regular files are opened, and bytes, rows,
columns and cells are bounded (``tables``) before memory is spent. Text stays text, so that printed
digits are kept; what is neither text nor a number never becomes one. Whatever is wrong is an
``InputError`` of one line with its place (``tests/data/test_files.py``).
"""
