from .comparison import compare_methods as compare_methods
