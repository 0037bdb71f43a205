from .models import build_paired_boards as build_paired_boards
from .summary import describe_paired as describe_paired
