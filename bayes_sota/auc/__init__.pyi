from .estimate import auc_estimate_correlation as auc_estimate_correlation
from .laws import auc_law as auc_law
from .laws import auc_maximum_law as auc_maximum_law
