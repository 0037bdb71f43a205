from .models import build_leaderboard as build_leaderboard
from .models import build_responses as build_responses
