from .models import build_model as build_model
from .models import paired_log_likelihood as paired_log_likelihood
from .sample import complete as complete
from .sample import estimate_paired as estimate_paired
from .sample import estimate_sota as estimate_sota
from .summary import describe_paired as describe_paired
