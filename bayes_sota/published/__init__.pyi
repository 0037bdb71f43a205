from .summary import Comparison as Comparison
from .summary import comparisons_to_frame as comparisons_to_frame
from .summary import item_names as item_names
from .summary import reproduce as reproduce
