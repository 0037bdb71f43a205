from .summary import Comparison as Comparison
from .summary import comparisons_to_frame as comparisons_to_frame
from .summary import item_names as item_names
from .summary import report_comparisons as report_comparisons
from .summary import reproduce as reproduce
