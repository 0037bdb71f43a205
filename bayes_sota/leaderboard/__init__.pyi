from .models import build_leaderboard as build_leaderboard
from .models_responses import build_responses as build_responses
