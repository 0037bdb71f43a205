from . import errors as errors
from . import priors as priors
from . import schema as schema
from . import skills as skills
