from .models import build_paired_boards as build_paired_boards
from .sample import estimate_paired as estimate_paired
from .summary import describe_paired as describe_paired
