from .models import build_paired_boards as build_paired_boards
