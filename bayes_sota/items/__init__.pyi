from .comparison import compare_methods as compare_methods
from .models import build_model as build_model
